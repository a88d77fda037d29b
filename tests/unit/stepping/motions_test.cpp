// Motions in closed form at which a scheme with fixed steps may go wrong by an amount that no step makes small.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "step_support.hpp"

namespace judder {
namespace {

/// A block of mass 1 that is driven along x, beside `others`.
TestModel driven(const std::string& coordinates, const std::string& energy, const std::string& others) {
  return text_model("[coordinates]\nx = { velocity = 1 }\n" + coordinates + "[energy]\nkinetic = \"x'^2/2" +
                    energy +
                    "\"\n[[force]]\nalong = \"x'\"\nvalue = \"0.8*sin(3*t)\"\n[[friction]]\nname = \"f\"\n"
                    "slip = \"x'\"\nnormal = 1\nlaw = 0.4\n" +
                    others + "[run]\nuntil = 3\n");
}

const std::array<const char*, 4> kImplicit{"moreau", "theta", "newmark", "paoli-schatzman"};

// It never stops: v(t) = 1 − 0.4 t + (0.8/3)(1 − cos 3t). A wall that it never sees and a heavy body do not change that.
TEST(Beside, AFarContactAndAHeavyBodyLeaveAFrictionAlone) {
  const double place = 3 - 0.2 * 9 + 0.8 / 3 * (3 - std::sin(9.0) / 3);
  const TestModel alone = driven("", "", "");
  const std::array<TestModel, 3> beside{
      driven("y = 1e5\n", " + y'^2/2", "[[contact]]\nname = \"w\"\ngap = \"y\"\n"),
      driven("", "", "[[contact]]\nname = \"w\"\ngap = \"1e5 - x\"\n"),
      driven("z = { velocity = 30 }\n", " + 5e10*z'^2",
             "[[friction]]\nname = \"g\"\nslip = \"z'\"\nnormal = 1e12\nlaw = 0.05\n")};
  for (const char* engine : kImplicit) {
    for (const double h : {1e-3, 1e-4}) {
      const simulate::Result right = step_to(alone, engine, h, 3);
      EXPECT_NEAR(last(right, "x"), place, 2 * h * h + (engine == kImplicit[3] ? h * h : 0) + 1e-9)
          << engine << h;
      for (const TestModel& model : beside) {
        const simulate::Result run = step_to(model, engine, h, 3);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), last(right, "x"), 1e-9) << engine << h;
        EXPECT_NEAR(last(run, "x'"), last(right, "x'"), 1e-9) << engine << h;
      }
    }
  }
}

// Dynamic friction brings a block to rest against a load that static friction holds: it stands where it has stopped, wherever in a step that was.
TEST(Stops, HoldBetweenDynamicAndStaticFriction) {
  const auto model = [](const std::string& slip, const std::string& law) {
    return text_model(
        "[coordinates]\nx = { velocity = 1.5 }\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = "
        "\"x'\"\nvalue = -0.25\n"
        "[[friction]]\nname = \"f\"\nslip = \"" +
        slip + "\"\nnormal = 1\nlaw = " + law + "\n[run]\nuntil = 4\n");
  };
  // v = 1.5 − 0.45 t until it is the speed of the belt
  const double meets = 1.5 / 0.95;
  struct Case {
    TestModel model;
    double place, velocity;
  };
  const std::array<Case, 2> cases{Case{model("x'", "{ static = 0.3, dynamic = 0.2 }"), 1.5 * 1.5 / 0.9, 0},
                                  Case{model("x' - 0.5*t", "{ static = 1, dynamic = 0.2 }"),
                                       1.5 * meets - 0.225 * meets * meets + 0.25 * (16 - meets * meets), 2}};
  for (const Case& each : cases) {
    for (const char* engine : kImplicit) {
      for (const long steps : {400L, 1333L, 1481L, 4000L, 5711L}) {
        const double h = 4.0 / static_cast<double>(steps);
        const simulate::Result run = step_run(each.model, engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), each.place, 2 * h) << engine << h;
        EXPECT_NEAR(last(run, "x'"), each.velocity, engine == kImplicit[3] ? h : 1e-12) << engine << h;
      }
    }
  }
}

// A body on a spring that turns: r² a' and the energy stay what they were, to the square of the step.
TEST(Orders, AreTwoWhereTheInertiaDependsOnThePlace) {
  const TestModel polar = text_model(R"toml(
[coordinates]
r = { start = 1, velocity = 0.2 }
a = { velocity = 1 }
[energy]
kinetic = "(r'^2 + r^2*a'^2)/2"
potential = "(r-1)^2"
[run]
until = 3
)toml");
  for (const char* engine : {"moreau", "theta", "newmark"}) {
    double before = 0;
    for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
      const simulate::Result run = step_to(polar, engine, h, 3);
      const double r = last(run, "r"), turn = last(run, "a'"), speed = last(run, "r'");
      const double error = std::hypot(
          r * r * turn - 1, 0.5 * (speed * speed + r * r * turn * turn) + (r - 1) * (r - 1) - 0.5 * 1.04);
      if (before > 0) {
        EXPECT_GT(std::log2(before / error), 1.9) << engine << h;
      }
      before = error;
    }
  }
}

}  // namespace
}  // namespace judder
