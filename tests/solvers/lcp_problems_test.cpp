// Solvers × problems. Problem files are not part of the repository; where their folder is absent the cases
// are skipped.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "judder/contact/lcp.hpp"

namespace judder::contact {
namespace {

struct Expectation {
  const char* file;
  bool lemke;                    // Lemke's method finds a solution
  bool enumeration;              // enumeration can be tried and finds one
  std::vector<double> solution;  // if it is known and unique
};

std::string folder() { return JUDDER_SOURCE_DIR "/../shared/data/contact-problems"; }

void PrintTo(const Expectation& e, std::ostream* out) { *out << e.file; }

class LcpProblems : public testing::TestWithParam<Expectation> {};

LcpData load(const char* file) {
  std::ifstream in(folder() + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return read_lcp(text.str());
}

TEST_P(LcpProblems, AreSolvedToRounding) {
  if (!std::filesystem::exists(folder()))
    GTEST_SKIP() << "The problem files are not part of the repository, and there is no folder " << folder()
                 << ".";
  const LcpData data = load(GetParam().file);
  ASSERT_EQ(data.error, "");
  LcpWorkspace workspace;
  const LcpSolution lemke = solve_lemke(data.problem(), {}, workspace);
  EXPECT_EQ(lemke.status == LcpStatus::solved, GetParam().lemke) << name(lemke.status);
  if (GetParam().lemke) {
    EXPECT_LT(lcp_residual(data.problem(), lemke.z), 1e-10);
  }
  for (std::size_t i = 0; i < GetParam().solution.size(); ++i)
    EXPECT_NEAR(lemke.z[i], GetParam().solution[i], 1e-10);
  if (!GetParam().enumeration) return;
  const LcpSolution listed = solve_enumeration(data.problem(), {}, workspace);
  ASSERT_EQ(listed.status, LcpStatus::solved);
  EXPECT_LT(lcp_residual(data.problem(), listed.z), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Files, LcpProblems,
                         testing::Values(Expectation{"lcp_CPS_1.dat", true, true, {}},
                                         Expectation{"lcp_CPS_2.dat", true, true, {0, 1, 3}},
                                         Expectation{"lcp_CPS_3.dat", false, true, {}},
                                         Expectation{"lcp_Pang_isolated_sol.dat", true, true, {}},
                                         Expectation{"lcp_deudeu.dat", true, true, {}},
                                         Expectation{"lcp_enum_fails.dat", true, true, {}},
                                         Expectation{"lcp_exp_murty.dat", true, true, {0, 0, 0, 0, 0, 1}},
                                         Expectation{"lcp_mmc.dat", true, false, {}},
                                         Expectation{"lcp_ortiz.dat", true, true, {}},
                                         Expectation{"lcp_trivial.dat", true, true, {}}),
                         [](const auto& instance) {
                           std::string label = instance.param.file;
                           for (char& c : label) {
                             if (c == '.') c = '_';
                           }
                           return label;
                         });

}  // namespace
}  // namespace judder::contact
