// What makes the program handy, from outside: a first model, the doctor, runs without a folder, windows, other laws, recorded collisions, expressions, help.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Comforts : public ProgramTest {};

// A short help names what it leaves out, and --all explains it.
TEST_F(Comforts, HelpOfRareOptions) {
  const std::string brief = run("help run").out, all = run("help run --all").out;
  for (const std::string option : {"--work", "--law", "--from", "--to", "--estimate", "--accept-changes"}) {
    EXPECT_NE(brief.find(option), std::string::npos) << option << " is named\n" << brief;
    EXPECT_EQ(brief.find("\n  " + option + " "), std::string::npos) << brief;
    EXPECT_NE(all.find("\n  " + option + " "), std::string::npos) << all;
  }
  EXPECT_EQ(run("run --help").out, brief);
}

// The page of the command line is what the program says of itself.
TEST_F(Comforts, ThePageOfTheCommandLineIsTheOneOfTheProgram) {
  EXPECT_EQ(run("help --reference").out, contents(JUDDER_SOURCE_DIR "/docs/command-line.md"))
      << "judder help --reference > docs/command-line.md";
}

TEST_F(Comforts, NewWritesAModelThatRuns) {
  const Outcome made = run("new crate");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "crate.toml\n");
  EXPECT_EQ(run("check crate.toml").err, "");
  EXPECT_EQ(run("run crate.toml --no-output").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
  const Outcome again = run("new crate");
  EXPECT_EQ(again.code, 5);
  EXPECT_NE(again.err.find("is there already"), std::string::npos) << again.err;
  EXPECT_EQ(run("new crate -o models/other.toml").out, "models/other.toml\n");
  EXPECT_EQ(run("new crate.toml -o third").out, "third.toml\n");
}

TEST_F(Comforts, TheDoctorTellsWhatIsThere) {
  const Outcome well = run("doctor");
  EXPECT_EQ(well.code, 0) << well.out;
  EXPECT_NE(well.out.find("0 wrong"), std::string::npos) << well.out;
  EXPECT_NE(well.out.find("good     arithmetic"), std::string::npos) << well.out;
  const json told = json::parse(run("doctor --json").out);
  EXPECT_GT(told["findings"].size(), 5U);
}

TEST_F(Comforts, RunsWithoutAFolderInAWindowByAnotherLaw) {
  const std::string rod = "'" + gallery_ + "rod-impact/model.toml'";
  for (const auto& [command, code, message] : std::vector<std::tuple<std::string, int, std::string>>{
           {"run " + rod + " --no-output -o r", 2, "--no-output and --output exclude one another"},
           {"run " + rod + " --no-output --report", 2, "exclude one another"},
           {"run " + rod + " --from 0", 2, "--from says nothing without --summary"},
           {"run " + rod + " --summary --from 2 --to 1", 2, "--from must be smaller than --to"},
           {"run " + rod + " --law routh", 2, "there is no impact law 'routh'"},
           {"run '" + gallery_ + "sdnd100/model.toml' --law newton", 2, "no rigid contact"},
           {"impact nowhere --event 1", 5, "there is no run folder of that name"},
           {"impact " + rod + " --event 0", 2, "--event needs the number of an event"},
           {"impact nowhere --event 1 --set e=1", 2, "exclude one another"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, code) << command << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << command << ": " << outcome.err;
  }
  ASSERT_EQ(run("run " + rod + " --variant T22 --set \"e = sin(pi/2)\" --law poisson -o r").code, 0);
  const Outcome met = run("impact r --event 1");
  EXPECT_EQ(met.code, 0) << met.err;
  EXPECT_NE(met.out.find("event 1   point"), std::string::npos) << met.out;
  EXPECT_NE(met.out.find("1.30024047"), std::string::npos) << met.out;
  EXPECT_EQ(run("impact r --event 1 -o path.svg").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "path.svg"));
  EXPECT_EQ(run("impact r --event 1 -o path.csv").code, 2);
  // The default folder of another law is another one.
  EXPECT_NE(run("run " + rod + " --variant T22 --law stronge --until 1e-3")
                .out.find("runs/rod-impact-T22-law=stronge"),
            std::string::npos);
}

// Where a number is taken an expression will do, and says what is wrong with it.
TEST_F(Comforts, ExpressionsAreNumbers) {
  const std::string ball = "'" + gallery_ + "bouncing-ball/model.toml'",
                    rod = "'" + gallery_ + "painleve-rod/model.toml'";
  EXPECT_EQ(run("run " + ball + " --until pi/3 --tolerance 1e-6/10 --set \"e = 1/2\" -o a").code, 0);
  EXPECT_NEAR(json::parse(contents(folder_ / "a/run.json"))["end"]["time"].get<double>(), std::acos(-1.0) / 3,
              1e-15);
  EXPECT_EQ(run("compare " + ball + " --engines event --tolerances 1e-6,1e-6/10 --until 1").code, 0);
  EXPECT_EQ(run("impact " + rod + " --sweep \"theta0=pi/30:max(1.4, pi/2.2):2+3\" -o s.csv").code, 0);
  EXPECT_EQ(run("plot a --from 0 --to pi/6 --width 10*50").code, 0);
  const Outcome wrong = run("compare " + ball + " --tolerances 1e-6*x");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("1e-6*x"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace judder
