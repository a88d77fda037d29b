// judder equilibria from outside: families, verdicts, files, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class EquilibriaVerb : public ProgramTest {
 protected:
  const std::string table_ = gallery_ + "klarbring-equilibria/model.toml";
};

TEST_F(EquilibriaVerb, ListsFamiliesWithVerdictsAndMargins) {
  const Outcome outcome = run("equilibria " + table_ + " --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_TRUE(found["complete"].get<bool>());
  EXPECT_EQ(found["klarbring"]["A"], -1);
  ASSERT_EQ(found["families"].size(), 2U);
  const json& stuck = found["families"][1];
  EXPECT_EQ(stuck["dimension"], 1);
  EXPECT_EQ(stuck["rays"].size(), 1U);
  ASSERT_EQ(stuck["states"].size(), 2U);
  EXPECT_EQ(stuck["states"][0]["stability"], "stable");
  EXPECT_EQ(stuck["states"][1]["where"], "imminent slip+ of wall");
  EXPECT_EQ(stuck["states"][1]["stability"], "unstable");
  EXPECT_EQ(stuck["states"][1]["basis"], "theorem");
  EXPECT_EQ(stuck["states"][1]["margin"], 0);
  EXPECT_NEAR(stuck["states"][1]["x"]["UT"].get<double>(), -3, 1e-12);
  const Outcome words = run("equilibria " + table_);
  EXPECT_NE(words.out.find("UT up to -3"), std::string::npos) << words.out;
  EXPECT_EQ(words.out.find("-0 "), std::string::npos) << "no minus zero\n" << words.out;
}

TEST_F(EquilibriaVerb, WritesAFigureAndATable) {
  EXPECT_EQ(run("equilibria " + table_ + " -o rests.svg --perturb").code, 0);
  const std::string svg = contents(folder_ / "rests.svg");
  EXPECT_NE(svg.find("cone of friction"), std::string::npos);
  EXPECT_NE(svg.find("balance of forces"), std::string::npos);
  EXPECT_NE(svg.find("offset from wall stuck"), std::string::npos);
  EXPECT_EQ(run("equilibria " + table_ + " -o rests.csv").code, 0);
  const std::string csv = contents(folder_ / "rests.csv");
  EXPECT_EQ(csv.rfind("family,point,UN,UT,status(wall),normal(wall),tangent(wall),gap(wall)\n", 0), 0U)
      << csv;
  EXPECT_NE(csv.find("2,vertex,"), std::string::npos);
  EXPECT_NE(csv.find("2,ray,"), std::string::npos);
  EXPECT_EQ(run("equilibria " + table_ + " -o rests.txt").code, 2);
  EXPECT_EQ(run("equilibria " + gallery_ + "two-stops/model.toml -o none.svg").code, 3)
      << "no friction to draw";
  EXPECT_FALSE(fs::exists(folder_ / "none.svg"));
}

TEST_F(EquilibriaVerb, FindsWhereFamiliesChange) {
  const Outcome outcome = run("equilibria " + table_ + " --sweep mu=0.5:1.7:8 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  ASSERT_EQ(found["changes"].size(), 1U);
  EXPECT_NEAR(found["changes"][0]["value"].get<double>(), 1, 1e-6) << "KT/W";
  EXPECT_EQ(found["changes"][0]["before"].size(), 1U);
  EXPECT_EQ(found["changes"][0]["behind"][1],
            "wall stuck, dimension 1, unbounded, stable, to imminent slip+ of wall");
  // A change of the verdict alone: flutter.
  const Outcome flutter = run("equilibria " + gallery_ + "mode-coupling/model.toml --sweep mu=0.5:1.7:8");
  EXPECT_NE(flutter.out.find("at mu = 1\n"), std::string::npos) << flutter.out;
  EXPECT_NE(flutter.out.find("behind  belt slides-, dimension 0, unstable"), std::string::npos)
      << flutter.out;
  EXPECT_EQ(run("equilibria " + table_ + " --sweep nu=1:2:3").code, 3);
  EXPECT_EQ(run("equilibria " + table_ + " --sweep mu=1").code, 2);
  EXPECT_EQ(run("equilibria " + table_ + " --sweep mu=1:2:3 --perturb").code, 2);
  EXPECT_EQ(run("equilibria " + gallery_ + "relay/model.toml --sweep a=1:2:3").code, 3);
}

TEST_F(EquilibriaVerb, BristlesAreRefused) {
  const Outcome outcome = run("equilibria " + gallery_ + "elastoplastic/model.toml");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("give it the law 'coulomb'"), std::string::npos) << outcome.err;
}

TEST_F(EquilibriaVerb, AListThatWasCutSaysSo) {
  const Outcome cut = run("equilibria " + gallery_ + "tilting-plank/model.toml --limit 2");
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_NE(cut.out.find("(the list was cut)"), std::string::npos) << cut.out;
  for (const std::string limit : {"0", "1.5", "1e7", "x"})
    EXPECT_EQ(run("equilibria " + table_ + " --limit " + limit).code, 2) << limit;
}

TEST_F(EquilibriaVerb, LoadsMustBecomeConstant) {
  const Outcome early = run("equilibria " + gallery_ + "sdnd106/model.toml");
  EXPECT_EQ(early.code, 3);
  EXPECT_NE(early.err.find("is not constant after t = 0"), std::string::npos) << early.err;
  EXPECT_NE(early.err.find("--at 0.2"), std::string::npos) << early.err;
  EXPECT_EQ(run("equilibria " + gallery_ + "sdnd106/model.toml --at 0.2").code, 0);
  EXPECT_EQ(run("equilibria " + gallery_ + "impact-oscillator/model.toml").code, 3) << "never constant";
  const Outcome massless = run("equilibria " + gallery_ + "pilger-mill/model.toml");
  EXPECT_EQ(massless.code, 3);
  EXPECT_NE(massless.err.find("massless"), std::string::npos) << massless.err;
}

TEST_F(EquilibriaVerb, ASearchSaysWhatItDoesNotGuarantee) {
  const Outcome outcome = run("equilibria " + gallery_ + "belt/model-first-order.toml");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("a search proves nothing"), std::string::npos) << outcome.out;
  const json found = json::parse(run("equilibria " + gallery_ + "belt/model-first-order.toml --json").out);
  EXPECT_FALSE(found["complete"].get<bool>());
  EXPECT_NEAR(found["rests"][0]["x"]["x"].get<double>(), 0.625, 1e-9);
  EXPECT_EQ(found["rests"][0]["stability"], "unstable");
}

TEST_F(EquilibriaVerb, AFloatingDirectionIsNamed) {
  write("free.toml",
        "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nname = \"pull\"\nalong "
        "= \"x'\"\n"
        "value = 1\n[run]\nuntil = 1\n");
  const Outcome outcome = run("equilibria free.toml");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("no rest states"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("holds the direction x"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace judder
