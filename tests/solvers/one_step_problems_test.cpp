// Friction problems of others, solved by the default. The files are not part of the repository; where their folder is absent the cases are skipped.
//
// The answer is judged twice: by one_step_residual, and by the natural map of the second-order cone that the literature uses,
// ‖r − P_K(r − ũ)‖ / ‖q‖ with ũ = (u_N + μ|u_T|, u_T), written here.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "judder/contact/one_step.hpp"

namespace judder::contact {
namespace {

struct Expectation {
  const char* file;
  int contacts;
  bool quick;  // tried in every run; others when JUDDER_FULL is set
};

void PrintTo(const Expectation& e, std::ostream* out) { *out << e.file; }

std::string folder() { return JUDDER_SOURCE_DIR "/../shared/data/contact-problems"; }

double cone_error(const OneStepProblem& p, std::span<const double> r, std::span<const double> u) {
  double sum = 0, size = 0;
  int first = 0;
  for (const StepBlock& block : p.blocks) {
    double y[3], slip = 0, tangential = 0;
    for (int c = 1; c <= block.slips; ++c) slip += u[first + c] * u[first + c];
    for (int c = 0; c <= block.slips; ++c) {
      y[c] = r[first + c] - u[first + c] - (c == 0 ? block.mu * std::sqrt(slip) : 0);
      if (c > 0) tangential += y[c] * y[c];
      size += p.q[first + c] * p.q[first + c];
    }
    tangential = std::sqrt(tangential);
    double to[3] = {};
    if (tangential <= block.mu * y[0]) {
      std::copy_n(y, 3, to);
    } else if (block.mu * tangential > -y[0]) {
      to[0] = (block.mu * tangential + y[0]) / (1 + block.mu * block.mu);
      for (int c = 1; c <= block.slips; ++c) to[c] = block.mu * to[0] * y[c] / tangential;
    }
    for (int c = 0; c <= block.slips; ++c) sum += (r[first + c] - to[c]) * (r[first + c] - to[c]);
    first += block.rows();
  }
  return std::sqrt(sum / size);
}

class OneStepProblems : public testing::TestWithParam<Expectation> {};

TEST_P(OneStepProblems, AreSolvedByTheDefault) {
  if (!std::filesystem::exists(folder()))
    GTEST_SKIP() << "The problem files are not part of the repository, and there is no folder " << folder()
                 << ".";
  const char* full = std::getenv("JUDDER_FULL");
  if (!GetParam().quick && (full == nullptr || *full == '\0'))
    GTEST_SKIP() << "large: runs with JUDDER_FULL=1";
  std::ifstream in(folder() + "/" + GetParam().file);
  std::ostringstream text;
  text << in.rdbuf();
  const OneStepData data = read_one_step(text.str());
  ASSERT_EQ(data.error, "");
  ASSERT_EQ(data.blocks.size(), static_cast<std::size_t>(GetParam().contacts));
  const OneStepProblem problem = data.problem();
  OneStepWorkspace workspace;
  workspace.resize(problem);
  const OneStepResult result = solve_one_step(problem, {}, workspace);
  EXPECT_EQ(result.status, OneStepStatus::solved) << name(result.method) << ' ' << result.residual_of_q;
  EXPECT_LT(one_step_residual(problem, result.impulse).of_q, 1e-8);
  EXPECT_LT(cone_error(problem, result.impulse, result.velocity), 1e-8);
  for (const double r : result.impulse) EXPECT_LT(std::abs(r), 1e8);
  RecordProperty("method", name(result.method));
  RecordProperty("iterations", result.iterations);
}

INSTANTIATE_TEST_SUITE_P(Planar, OneStepProblems,
                         testing::Values(Expectation{"FC2D_SliderCrankLagrangian00000.dat", 2, true},
                                         Expectation{"FrictionContactProblem00031.dat", 11, true},
                                         Expectation{"FrictionContactProblem00374.dat", 28, true},
                                         Expectation{"FrictionContactProblem00071.dat", 89, true},
                                         Expectation{"FrictionContactProblem00727.dat", 367, true},
                                         Expectation{"FrictionContactProblem00237.dat", 376, true}));
INSTANTIATE_TEST_SUITE_P(InSpace, OneStepProblems,
                         testing::Values(Expectation{"FrictionContact3D_1c.dat", 1, true},
                                         Expectation{"FC3D_Example1_SBM.dat", 3, true},
                                         Expectation{"Rover1039.dat", 4, true},
                                         Expectation{"NESpheres_10_1.dat", 9, true},
                                         Expectation{"OneObject-i100000-499.hdf5.dat", 24, true},
                                         Expectation{"NESpheres_30_1.dat", 44, true},
                                         Expectation{"BoxesStack1-i100000-32.hdf5.dat", 52, true},
                                         Expectation{"Confeti-ex03-Fc3D-SBM.dat", 54, true},
                                         Expectation{"Confeti-ex13-Fc3D-SBM.dat", 107, true},
                                         Expectation{"Capsules-i100-1090.dat", 276, true},
                                         Expectation{"Capsules-i122-1617.dat", 296, true},
                                         Expectation{"KaplasTower-i1061-4.hdf5.dat", 570, false}));

}  // namespace
}  // namespace judder::contact
