// dither, plot --law and run --until-periodic from outside: exit codes, files, JSON.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class FrictionVerbs : public ProgramTest {};

TEST_F(FrictionVerbs, ARunEndsWhenItsMotionIsPeriodicAndSaysWithWhichPeriod) {
  const Outcome outcome = run("run " + gallery_ + "belt/model.toml --until-periodic -o belt --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json summary = json::parse(outcome.out);
  EXPECT_EQ(summary["end"]["reason"], "periodic");
  EXPECT_NEAR(summary["periodic"]["period"].get<double>(), 12.0010312948, 1e-6);
  EXPECT_EQ(summary["periodic"]["shares"][0]["mode"], "stick");
  EXPECT_NEAR(summary["periodic"]["shares"][0]["share"].get<double>(), 0.642031, 1e-5);
  EXPECT_EQ(json::parse(contents(folder_ / "belt/run.json"))["periodic"], summary["periodic"])
      << "the same in the run folder";
  EXPECT_EQ(contents(folder_ / "belt/events.csv").find("judder_section"), std::string::npos);
  // The folder goes on when it is asked to: with other steps than a run that was never cut.
  EXPECT_EQ(run("run " + gallery_ + "belt/model.toml --resume belt --until 60 -o on").code, 5);
  EXPECT_EQ(run("run " + gallery_ + "belt/model.toml --resume belt --accept-changes --until 60 -o on").code,
            0);
  const Outcome again =
      run("run " + gallery_ +
          "belt/model.toml --resume belt --accept-changes --until 90 --until-periodic -o again --json");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NEAR(json::parse(again.out)["periodic"]["period"].get<double>(), 12.0010312948, 1e-6);
}

TEST_F(FrictionVerbs, AForceWithoutPeriodIsRefusedWithTheReason) {
  write("ramp.toml",
        "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n"
        "[[force]]\nalong = \"x'\"\nvalue = \"0.1*t\"\n[run]\nuntil = 5\n");
  const Outcome ramp = run("run ramp.toml --until-periodic");
  EXPECT_EQ(ramp.code, 3);
  EXPECT_NE(ramp.err.find("without a period"), std::string::npos) << ramp.err;
  EXPECT_EQ(run("run ramp.toml --until-periodic --estimate").code, 2);
}

TEST_F(FrictionVerbs, DitherWritesItsTablesAndFigures) {
  const Outcome outcome =
      run("dither " + gallery_ +
          "dither-square/model.toml --speed 0.4 --map speed=0.2:0.6:5,W=0:0.6:7 --harmonics 8 --json -o d");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["dither"]["wave"], "square");
  EXPECT_NEAR(found["slope_at_rest"].get<double>(), 2.0107379, 1e-6);
  EXPECT_NEAR(found["falling"][0][0].get<double>(), 0.3268, 5e-4);
  EXPECT_GT(found["eigenvalues"][0][0].get<double>(), 0) << "0.4 is in the second zone";
  EXPECT_EQ(found["map"]["growth"].size(), 5U);
  EXPECT_EQ(found["map"]["growth"][0].size(), 7U);
  for (const char* file : {"curve.csv", "map.csv", "dither.svg", "map.svg"})
    EXPECT_TRUE(fs::exists(folder_ / "d" / file)) << file;
  EXPECT_EQ(contents(folder_ / "d/curve.csv").substr(0, 21), "slip,resistance,slope");
}

TEST_F(FrictionVerbs, DitherSaysWhatItNeeds) {
  const std::string model = gallery_ + "dither-square/model.toml";
  EXPECT_EQ(run("dither " + model + " --map speed").code, 2);
  EXPECT_EQ(run("dither " + model + " --harmonics 5").code, 2) << "no speed";
  EXPECT_NE(run("dither " + model + " --map speed,Q").err.find("no parameter 'Q'"), std::string::npos);
  EXPECT_NE(run("dither " + model + " --map vd,W").err.find("--speed"), std::string::npos);
  EXPECT_NE(run("dither " + gallery_ + "press/model.toml").err.find("several friction laws"),
            std::string::npos);
  EXPECT_EQ(run("dither nowhere.toml").code, 5);
}

// A slope of 1e18 is no answer. Steady sliding can be asked for without dither.
TEST_F(FrictionVerbs, WithoutDitherThereIsNothingToAverage) {
  for (const std::string model : {"belt/model.toml", "dither-square/model.toml --set W=0"}) {
    const Outcome outcome = run("dither " + gallery_ + model + " -o d");
    EXPECT_EQ(outcome.code, 3) << model;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_NE(outcome.err.find("there is no dither"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "d"));
    const Outcome steady = run("dither " + gallery_ + model + " --speed 0.5");
    EXPECT_EQ(steady.code, 0) << steady.err;
    EXPECT_NE(steady.out.find("at rest the resistance jumps"), std::string::npos) << steady.out;
    EXPECT_NE(steady.out.find("(unstable)"), std::string::npos) << steady.out;
    EXPECT_EQ(steady.out.find("averaged"), std::string::npos) << steady.out;
    EXPECT_EQ(steady.out.find("e+1"), std::string::npos) << steady.out;
  }
  EXPECT_EQ(
      run("dither " + gallery_ + "dither-square/model.toml --set W=0 --map speed=0.1:0.2:3,W=0:1:3").code, 0);
  for (const std::string verb : {"dither ", "plot --law "}) {
    const Outcome none = run(verb + gallery_ + "newton-cradle/model.toml");
    EXPECT_EQ(none.code, 3) << verb;
    EXPECT_NE(none.err.find("the model has no friction law\n  help: "), std::string::npos) << none.err;
  }
}

TEST_F(FrictionVerbs, ASimulationUnderDitherIsComparedWithTheAverage) {
  const Outcome outcome = run("dither " + gallery_ +
                              "elastoplastic/model.toml --variant dither --simulate --until 10 --json -o e");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  const json shares = found["simulated"]["shares"];
  EXPECT_NEAR(
      shares["stick"].get<double>() + shares["presliding"].get<double>() + shares["slip"].get<double>(), 1,
      1e-9);
  EXPECT_GT(shares["sticks"].get<int>(), 100) << "many short sticks";
  EXPECT_TRUE(fs::exists(folder_ / "e/filtered.csv"));
}

TEST_F(FrictionVerbs, PlotDrawsALaw) {
  const Outcome outcome = run("plot --law " + gallery_ + "press/model.toml plane -o figures --to 3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "figures/law-plane.svg\n");
  EXPECT_NE(contents(folder_ / "figures/law-plane.svg").find("slip velocity"), std::string::npos);
  EXPECT_EQ(run("plot --law " + gallery_ + "press/model.toml nobody").code, 2);
  EXPECT_EQ(run("plot --law " + gallery_ + "press/model.toml plane --to fast").code, 2);
  EXPECT_EQ(run("plot --law nowhere.toml").code, 5);
}

}  // namespace
}  // namespace judder
