// judder impact from outside: what it prints, writes and refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ImpactVerb : public ProgramTest {
 protected:
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return ProgramTest::run("impact " + arguments);
  }

  const std::string rod_ = JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml --variant T22 --set e=1";
  const std::string painleve_ = JUDDER_SOURCE_DIR "/gallery/painleve-rod/model.toml";
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ImpactVerb, PrintsEveryLawAndFlagsCreatedEnergy) {
  const Outcome outcome = run(rod_);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  for (const char* law : {"moreau", "newton", "poisson", "stronge"})
    EXPECT_TRUE(has(outcome.out, law)) << law;
  EXPECT_TRUE(has(outcome.out, "creates energy: 0.107692263")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "slip+ in compression, stick in compression, stick in expansion"))
      << outcome.out;
}

TEST_F(ImpactVerb, WritesThePathAsSvg) {
  Outcome outcome = run(rod_ + " -o rod.svg");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(contents(folder_ / "rod.svg"), "<svg")) << outcome.err;
  EXPECT_TRUE(has(contents(folder_ / "rod.svg"), "maximum compression"));
  outcome = run(rod_ + " -o here/figures");
  EXPECT_TRUE(fs::exists(folder_ / "here/figures/impact.svg")) << outcome.err;
  EXPECT_EQ(run(rod_ + " -o /proc/none/rod.svg").code, 5);
}

// Without friction there is no path: no file, and no success.
TEST_F(ImpactVerb, NothingToDrawIsNoSuccess) {
  write("ball.toml", R"toml(
format = 1
[coordinates]
y = { start = 0, velocity = -1 }
[energy]
kinetic = "y'^2/2"
[[contact]]
name = "floor"
gap = "y"
impact = 0.5
)toml");
  const Outcome outcome = run("ball.toml -o path.svg");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(has(outcome.err, "there is no path to draw")) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "path.svg"));
  EXPECT_EQ(run("ball.toml").code, 0);
}

TEST_F(ImpactVerb, PrintsJson) {
  const Outcome outcome = run(rod_ + " --json");
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["outcome"], "collision");
  ASSERT_EQ(document["laws"].size(), 4U);
  EXPECT_NEAR(document["laws"][1]["energy_gain"].get<double>(), 0.10769226, 1e-8);
  EXPECT_EQ(document["laws"][3]["path"][0]["status"], "slip+");
  EXPECT_NEAR(document["laws"][3]["impulses"][0]["normal_impulse"].get<double>(), 1.32125560, 1e-8);
}

TEST_F(ImpactVerb, SaysWhatANonCollisionIsAndWhatToDo) {
  const Outcome outcome = run(JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_TRUE(has(
      outcome.err,
      "the start state is no collision: no contact touches and approaches: 'ground' has gap 1 and rate 0"))
      << outcome.err;
  EXPECT_TRUE(has(outcome.err, "help: start where a gap is zero and shrinks")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "of h), or run the model")) << "coordinates of this model: " << outcome.err;
  // Where nothing can collide no start helps.
  const Outcome joint = run(JUDDER_SOURCE_DIR "/gallery/belt/model.toml");
  EXPECT_EQ(joint.code, 3);
  EXPECT_TRUE(has(joint.err, "belt/model.toml: there is nothing to collide: the model has no rigid contact"))
      << joint.err;
  EXPECT_FALSE(has(joint.err, "--set")) << joint.err;
  // A contact that slides quietly has a class all the same.
  const Outcome sliding = run(painleve_ + " --variant forward");
  EXPECT_EQ(sliding.code, 3);
  EXPECT_TRUE(has(sliding.out, "slides")) << sliding.out;
}

TEST_F(ImpactVerb, ResolvesPainlevesRod) {
  const Outcome outcome = run(painleve_);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "Tangential impact")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "0.324759526")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "-0.848076211")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "inconsistent")) << outcome.out;
}

TEST_F(ImpactVerb, SweepsIntoATable) {
  const Outcome outcome = run(rod_ + " --sweep mu=0:1:11 -o sweep.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "11 states, 11 collide")) << outcome.out;
  std::istringstream table(contents(folder_ / "sweep.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line.substr(0, 40), "mu,outcome,contact,law,form,status,norma") << line;
  int rows = 0;
  while (std::getline(table, line)) ++rows;
  EXPECT_EQ(rows, 44);  // four laws, one contact
  // Without a file the table goes to standard output, the rest to standard error.
  const Outcome direct = run(rod_ + " --sweep mu=0:1:11");
  EXPECT_EQ(direct.out, contents(folder_ / "sweep.csv"));
  EXPECT_TRUE(has(direct.err, "11 states"));
}

TEST_F(ImpactVerb, FindsAnglesAndThresholdOfTheParadox) {
  const Outcome angles = run(painleve_ + " --sweep theta0=0.1:1.5:8 --json");
  ASSERT_EQ(angles.code, 0) << angles.err;
  const json document = json::parse(angles.out);
  ASSERT_EQ(document["changes"].size(), 2U);
  const double degree = std::atan(1.0) / 45;
  EXPECT_NEAR(document["changes"][0]["value"].get<double>() / degree, 37.377, 1e-3);
  EXPECT_NEAR(document["changes"][1]["value"].get<double>() / degree, 79.188, 1e-3);
  const Outcome threshold = run(painleve_ + " --sweep mu=1:2:3 --sweep theta0=0.1:1.5:8 -o grid.csv");
  EXPECT_TRUE(has(threshold.out, "the least k over theta0 is zero at mu = 1.33333333333")) << threshold.out;
}

// A name that is meant as a file must not become a folder.
TEST_F(ImpactVerb, ANameOfTheWrongKindOfFileIsRefused) {
  for (const char* bad : {" -o x.csv", " -o x.json", " --sweep mu=0:1:3 -o x.svg"}) {
    const Outcome outcome = run(rod_ + bad);
    EXPECT_EQ(outcome.code, 2) << bad << outcome.err;
    EXPECT_TRUE(has(outcome.err, "-o names the ")) << outcome.err;
  }
}

TEST_F(ImpactVerb, RefusesBadSweeps) {
  const std::string form = "--sweep needs NAME=FROM:TO:COUNT", count = "a whole number from 2 to 1000000";
  for (const auto& [bad, words] : std::vector<std::pair<std::string, std::string>>{
           {"mu", form},
           {"=0:1:3", form},
           {"mu=1", "'1' is no range, which is FROM:TO:COUNT"},
           {"mu=0:1", "'0:1' is no range, which is FROM:TO:COUNT"},
           {"mu=0:1:1", "'1' is no count, which is " + count},
           {"mu=0:1:2.5", "'2.5' is no count, which is " + count},
           {"mu=0:1:2000000", "'2000000' is no count, which is " + count},
           {"mu=0:x:3", "'x' is not a finite number"},
           {"mu=0:1e400:3", "'1e400' is too large"},
           {"mu=1e-400:1:3", "'1e-400' is too small"}}) {
    const Outcome outcome = run(rod_ + " --sweep '" + bad + "'");
    EXPECT_EQ(outcome.code, 2) << bad;
    EXPECT_TRUE(has(outcome.err, words)) << outcome.err;
  }
  EXPECT_EQ(run(rod_ + " --sweep mu=0:1:2 --sweep mu=0:1:3").code, 2);
  EXPECT_EQ(run(rod_ + " --sweep mu=0:1:2 --sweep e=0:1:2 --sweep vT0=0:1:2").code, 2);
  EXPECT_EQ(run(rod_ + " --sweep nu=0:1:3").code, 3);  // no such parameter
  const Outcome outside = run(rod_ + " --sweep e=0.5:1.5:3");
  EXPECT_EQ(outside.code, 3);
  EXPECT_TRUE(has(outside.err, "at e = 1.5")) << outside.err;
}

}  // namespace
}  // namespace judder
