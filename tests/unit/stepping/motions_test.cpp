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

// A ball that bounces beside a block is none of its business, and neither is what rests.
TEST(Beside, BouncesLeaveAFrictionAlone) {
  const double place = 3 - 0.2 * 9 + 0.8 / 3 * (3 - std::sin(9.0) / 3);
  const TestModel sliding = driven("y = 0.05\n", " + y'^2/2\"\npotential = \"9.81*y",
                                   "[[contact]]\nname = \"w\"\ngap = \"y\"\nimpact = 0.95\n");
  const TestModel resting = text_model(R"toml(
[coordinates]
x = 0
y = 0.05
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y - 0.3*x"
[[friction]]
name = "f"
slip = "x'"
normal = 1
law = 0.4
[[contact]]
name = "w"
gap = "y"
impact = 0.95
[run]
until = 3
)toml");
  for (const char* engine : {"moreau", "paoli-schatzman", "rk4"}) {
    for (const double h : {1e-2, 1e-3}) {
      const simulate::Result slides = step_to(sliding, engine, h, 3), rests = step_to(resting, engine, h, 3);
      ASSERT_TRUE(slides.end.status.ok()) << slides.end.status.message;
      EXPECT_NEAR(last(slides, "x"), place, 2 * h * h) << engine << h;
      ASSERT_TRUE(rests.end.status.ok()) << rests.end.status.message;
      EXPECT_EQ(last(rests, "x"), 0) << engine << h;
      EXPECT_GT(rests.data.events.size(), 5u);
    }
  }
}

// A belt that starts at once leaves the block on it behind: friction takes it along, and so it is where a belt turns.
TEST(Belts, ThatBeginSmoothlyTakeAlongWhatRestsOnThem) {
  // x' = (t − 1/2)² from t = 1/2 on, which friction of 0.2 g follows
  const TestModel model = text_model(
      "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = \"belt\"\n"
      "slip = \"x' - step(t-0.5)*(t-0.5)^2\"\nnormal = 9.81\nlaw = 0.2\n[run]\nuntil = 1.4\n");
  for (const char* engine : {"rk4", "rk4-zabuga"}) {
    for (const long steps : {200L, 211L, 1000L, 1013L}) {
      const double h = 1.4 / static_cast<double>(steps);
      const simulate::Result run = step_run(model, engine, h, steps);
      ASSERT_TRUE(run.end.status.ok()) << engine << run.end.status.message;
      EXPECT_NEAR(last(run, "x'"), 0.81, 0.1 * h * h) << engine << steps;
      EXPECT_NEAR(last(run, "x"), 0.9 * 0.9 * 0.9 / 3, 0.1 * h * h) << engine << steps;
      for (const engines::Event& event : run.data.events)
        EXPECT_NE(event.kind, engines::EventKind::slip) << engine << steps << " " << event.time;
    }
  }
}

// The wall is a million away; at rest nothing is larger than the rounding of weights.
TEST(Beside, AFarWallLeavesAStackAtRest) {
  for (const double far : {1e3, 1e6, 1e9}) {
    const TestModel model = text_model(
        "[coordinates]\ny0 = 0.001\ny1 = 0.002\n[energy]\nkinetic = \"0.5*y0'^2 + 50.0*y1'^2\"\n"
        "potential = \"10*y0 + 1000*y1\"\n[[contact]]\nname = \"c0\"\ngap = \"y0\"\n[[contact]]\nname = "
        "\"c1\"\n"
        "gap = \"y1 - y0\"\n[[contact]]\nname = \"w\"\ngap = \"" +
        std::to_string(far) + " - y1\"\n[run]\nuntil = 0.2\n");
    for (const char* engine : kImplicit) {
      for (const double h : {1e-3, 1e-4}) {
        const simulate::Result run = step_to(model, engine, h, 0.2);
        ASSERT_TRUE(run.end.status.ok()) << engine << h << run.end.status.message;
        for (const char* each : {"y0", "y1", "y0'", "y1'"})
          EXPECT_NEAR(last(run, each), 0, 0.02 * h / 1e-3) << engine << h << each;
      }
    }
  }
}

TEST(Belts, ThatJumpLeaveBehindWhatRestsOnThem) {
  const TestModel starts = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[friction]]
name = "belt"
slip = "x' - 1.5*step(t-0.5) + 2*step(t-1)"
normal = 9.81
law = 0.2
[run]
until = 2
)toml");
  // 1.962 t from 0.5 to 1, then -1.962 t until it has the speed of the belt, -0.5
  const double a = 0.2 * 9.81, speed = 0.5 * a, slows = (speed + 0.5) / a;
  const double place = a * 0.125 + speed * slows - 0.5 * a * slows * slows - 0.5 * (1 - slows);
  for (const char* engine : {"rk4", "rk4-zabuga", "moreau"}) {
    for (const long steps : {200L, 1999L, 20000L}) {
      const double h = 2.0 / static_cast<double>(steps);
      const simulate::Result run = step_run(starts, engine, h, steps);
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      EXPECT_NEAR(last(run, "x"), place, 4 * h) << engine << h;
      EXPECT_EQ(last(run, "x'"), -0.5) << engine << h;
    }
  }
  // A belt whose speed has a kink, and one that is continuous where its side changes, carry on what rests on them.
  for (const char* drive : {"abs(t-0.5)", "step(t-0.5)*(t-0.5)"}) {
    const TestModel follows =
        text_model(std::string("[coordinates]\nx = { velocity = ") + (drive[0] == 'a' ? "0.5" : "0") +
                   " }\n[energy]\nkinetic = \"x'^2/2\"\n[[friction]]\nname = \"belt\"\nslip = \"x' - " +
                   drive + "\"\nnormal = 9.81\nlaw = 0.2\n[run]\nuntil = 2\n");
    for (const char* engine : {"rk4", "rk4-zabuga"}) {
      for (const long steps : {200L, 1999L}) {
        const double h = 2.0 / static_cast<double>(steps);
        const simulate::Result run = step_run(follows, engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x'"), 1.5, h) << engine << drive << h;
        for (const engines::Event& event : run.data.events)
          EXPECT_EQ(event.kind, engines::EventKind::switch_side) << engine << drive << h;
      }
    }
  }
}

// A plank that falls on both its ends rebounds as it fell, by Moreau's law of both contacts together.
TEST(Planks, FallOnBothEndsAtOnce) {
  const TestModel plank = text_model(R"toml(
[coordinates]
y = { start = 1 }
a = 0
x = { velocity = 1 }
[energy]
kinetic = "(y'^2 + 0.3*a'^2 + x'^2)/2"
potential = "9.81*y"
[[contact]]
name = "left"
gap = "y - sin(a)"
slip = "x'"
friction = 0.02
impact = 0.5
[[contact]]
name = "right"
gap = "y + sin(a)"
slip = "x'"
friction = 0.02
impact = 0.5
[run]
until = 1.1
)toml");
  const double falls = std::sqrt(2 / 9.81), speed = 9.81 * falls, hop = speed / 9.81,
               rest = 1.1 - falls - hop;
  const double place = 0.25 * speed * rest - 0.5 * 9.81 * rest * rest;
  const double slides = 1 - 0.02 * 1.5 * speed - 0.02 * 0.75 * speed;
  for (const char* engine : {"rk4", "rk4-zabuga", "moreau"}) {
    for (const long steps : {121L, 1200L, 9001L}) {
      const double h = 1.1 / static_cast<double>(steps);
      const simulate::Result run = step_run(plank, engine, h, steps);
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      EXPECT_NEAR(last(run, "y"), place, 12 * h) << engine << h;
      EXPECT_NEAR(last(run, "a"), 0, 1e-12) << engine << h;
      EXPECT_NEAR(last(run, "a'"), 0, 1e-12) << engine << h;
      EXPECT_NEAR(last(run, "x'"), slides, h) << engine << h;
    }
  }
}

// A ball that hardly touches a ceiling strikes nobody else: the other one is half a length from its wall.
TEST(Planks, ATouchStrikesNothingInTheAir) {
  const TestModel model = text_model(
      "[coordinates]\ny = { velocity = 1.08 }\nz = { start = 1, velocity = -1 }\n[energy]\nkinetic = \"(y'^2 "
      "+ z'^2)/2\"\n"
      "potential = \"10*y\"\n[[contact]]\nname = \"ceiling\"\ngap = \"0.0582397 - y\"\nimpact = "
      "1\n[[contact]]\n"
      "name = \"wall\"\ngap = \"z\"\nimpact = 1\n[run]\nuntil = 0.5\n");
  const simulate::Result run = step_run(model, "rk4-zabuga", 0.01, 50);
  ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
  EXPECT_NEAR(last(run, "z"), 0.5, 1e-12);
  EXPECT_NEAR(last(run, "z'"), -1, 1e-12);
}

// Two masses at rest make a joint between them rest as well: what it holds then is not what it had in slip. Nothing moves any more at 4.
TEST(Joints, ComeToRestTogether) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = { velocity = 1 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[force]]
along = "x'"
value = "-0.25*step(t-4)"
[[friction]]
name = "a"
slip = "x'"
normal = 1
law = 0.2
[[friction]]
name = "b"
slip = "y'"
normal = 1
law = 0.25
[[friction]]
name = "c"
slip = "x' + y'"
normal = 1
law = 0.1
[run]
until = 5
)toml");
  for (const char* engine : {"rk4", "rk4-zabuga", "moreau"}) {
    for (const long steps : {500L, 1777L, 5000L}) {
      const double h = 5.0 / static_cast<double>(steps);
      const simulate::Result run = step_run(model, engine, h, steps);
      ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
      EXPECT_NEAR(last(run, "x"), 0, 1e-12) << engine << h;
      EXPECT_NEAR(last(run, "y"), 1 / 0.7, h) << engine << h;
      EXPECT_EQ(last(run, "x'"), 0) << engine << h;
      EXPECT_EQ(last(run, "y'"), 0) << engine << h;
    }
  }
}

// Two bodies that slide together, held by `top`, until both turn round: the friction of the floor turns with them, and what holds them
// together jumps from 4 + w to 4 2/3 + w, below 5 + w.
// Without w the place after 1 s is 0.05 − (11/6) 0.8²/2.
TEST(Joints, HoldWhereTheFrictionOfAnotherOneTurns) {
  const auto model = [](const std::string& others, const std::string& energy, const std::string& top) {
    return text_model("[coordinates]\nx = { velocity = 0.5 }\ny = { velocity = 0.5 }\n" + others +
                      "[energy]\nkinetic = \"x'^2 + y'^2/2" + energy +
                      "\"\n[[force]]\nalong = \"y'\"\nvalue = -6.5\n[[friction]]\nname = \"floor\"\n"
                      "slip = \"x'\"\nnormal = 10\nlaw = 0.1\n" +
                      top + "[run]\nuntil = 1\n");
  };
  const std::string law = "normal = 10\nlaw = { static = 0.5, dynamic = 0.3 }\n";
  const std::array<TestModel, 3> models{
      model("", "", "[[friction]]\nname = \"top\"\nslip = \"y' - x'\"\n" + law),
      // of two components
      model("u = 0\n", " + u'^2/2", "[[friction]]\nname = \"top\"\nslip = [\"y' - x'\", \"u'\"]\n" + law),
      // of two slips in a row
      model("u = { velocity = 0.5 }\n", " + 0.005*u'^2",
            "[[friction]]\nname = \"top\"\nslip = \"u' - x'\"\n" + law +
                "[[friction]]\nname = \"glue\"\nslip = \"y' - u'\"\n" + law)};
  const double mass[] = {3, 3, 3.01};
  for (const char* engine : {"moreau", "theta", "newmark"}) {
    for (std::size_t k = 0; k < models.size(); ++k) {
      const double stops = 0.5 * mass[k] / 7.5;
      const double place = 0.25 * stops - 0.5 * 5.5 / mass[k] * (1 - stops) * (1 - stops);
      for (const long steps : {97L, 250L, 333L, 1000L, 1777L, 4001L}) {
        const double h = 1.0 / static_cast<double>(steps);
        const simulate::Result run = step_run(models[k], engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), place, h) << engine << k << ' ' << h;
        EXPECT_NEAR(last(run, "y"), place, h) << engine << k << ' ' << h;
      }
    }
  }
}

// A body falls on a floor that holds it; two others slide on each other until both have the speed 0.5, at 1.25 s. Neither has anything to do with the other.
TEST(Beside, LandingsLeaveAJointOfTwoBodiesAlone) {
  const auto model = [](const std::string& falling, const std::string& energy, const std::string& contacts) {
    return text_model(
        "[coordinates]\nx = { velocity = 1 }\nu = 0\n" + falling +
        "[energy]\nkinetic = \"(x'^2 + u'^2)/2 + " + energy + "\"\n" + contacts +
        "[[friction]]\nname = \"j\"\nslip = \"x' - u'\"\nnormal = 2\nlaw = 0.2\n[run]\nuntil = 2\n");
  };
  struct Case {
    TestModel model;
    double floor;
  };
  const std::array<Case, 3> cases{
      Case{model("y = 0.05\n", "0.85*y'^2\"\npotential = \"17*y", "[[contact]]\nname = \"w\"\ngap = \"y\"\n"),
           0},
      Case{model("y = 0.35\n", "0.85*y'^2\"\npotential = \"17*y",
                 "[[contact]]\nname = \"w\"\ngap = \"3*y - 0.9\"\n"),
           0.3},
      // two on each other
      Case{model("y = 0.05\nz = 0.07\n", "0.85*y'^2 + 0.35*z'^2\"\npotential = \"17*y + 7*z",
                 "[[contact]]\nname = \"w\"\ngap = \"y\"\n[[contact]]\nname = \"v\"\ngap = \"z - y\"\n"),
           0}};
  for (const char* engine : {"rk4", "rk4-zabuga"}) {
    for (const Case& each : cases) {
      for (const long steps : {200L, 333L, 1000L, 2777L}) {
        const double h = 2.0 / static_cast<double>(steps);
        const simulate::Result run = step_run(each.model, engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << engine << each.floor << ' ' << h << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), 0.9375 + 0.375, h) << engine << h;
        EXPECT_NEAR(last(run, "u"), 0.3125 + 0.375, h) << engine << h;
        EXPECT_NEAR(last(run, "y"), each.floor, 1e-15) << engine << h;
      }
    }
  }
}

// Joints that hold the same slip hold together what their static limits make in all: 0.2·10 + 0.3·5 = 3.5 from the rest at 0.5 s on, until
// the force 1.2 t is there, however they share it.
TEST(Joints, InParallelHoldTogether) {
  const auto model = [](const std::string& coordinates, const std::string& energy,
                        const std::string& joints) {
    return text_model("[coordinates]\nx = { velocity = -1 }\n" + coordinates +
                      "[energy]\nkinetic = \"x'^2/2" + energy +
                      "\"\n[[force]]\nalong = \"x'\"\nvalue = \"1.2*t\"\n" + joints + "[run]\nuntil = 2.8\n");
  };
  const std::string a = "normal = 10\nlaw = { static = 0.2, dynamic = 0.1 }\n",
                    b = "normal = 5\nlaw = { static = 0.3, dynamic = 0.2 }\n";
  const auto joint = [](const std::string& name, const std::string& slip, const std::string& law) {
    return "[[friction]]\nname = \"" + name + "\"\nslip = \"" + slip + "\"\n" + law;
  };
  const std::array<TestModel, 3> models{
      model("", "", joint("a", "x'", a) + joint("b", "-x'", b)),
      model("", "", joint("b", "x'", b) + joint("a", "x'", a)),
      // a light body between: two joints in a row beside a third one
      model("y = { velocity = -1 }\n", " + 0.0005*y'^2",
            joint("c", "x' - y'", "normal = 100\nlaw = { static = 0.5, dynamic = 0.4 }\n") +
                joint("b", "y'", b) + joint("a", "x'", a))};
  // v = −1 + 2 t + 0.6 t² is zero here; the mass of the light body makes next to no difference
  const double stops = (-2 + std::sqrt(4 + 2.4)) / 1.2;
  const double place = -stops + stops * stops + 0.2 * stops * stops * stops;
  for (const char* engine : {"moreau", "theta", "newmark"}) {
    for (std::size_t k = 0; k < models.size(); ++k) {
      for (const long steps : {280L, 777L, 1000L, 2800L, 7001L}) {
        const double h = 2.8 / static_cast<double>(steps);
        const simulate::Result run = step_run(models[k], engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), place, h + 1e-3) << engine << k << ' ' << h;
        EXPECT_NEAR(last(run, "x'"), 0, 1e-9) << engine << k << ' ' << h;
      }
    }
  }
}

// A scheme that ends a step at each impact misses it by up to a step at each of its bounces. What bounces comes to rest: behind its last
// impact it slides by the whole of its weight, or is held by it. The impacts have no friction; they end at T = t₁ (1 + 2 e/(1 − e)), t₁ =
// √(2 y₀/g).
TEST(Bounces, ComeToRest) {
  constexpr double e = 0.3, g = 10, start = 0.2, mu = 0.3, end = 1.2;
  const double rests = std::sqrt(2 * start / g) * (1 + 2 * e / (1 - e));
  // without friction until then, and a = −μ g behind it
  const double slides = 1.4 / (mu * g), place = 1.4 * rests + 0.5 * 1.4 * slides;
  ASSERT_LT(rests + slides, end);
  const auto model = [](const std::string& gap, const std::string& friction) {
    return text_model(
        "[coordinates]\nx = { velocity = 1.4 }\ny = 0.2\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n"
        "potential = \"10*y\"\n[[contact]]\nname = \"f\"\ngap = \"" +
        gap + "\"\nslip = \"x'\"\nfriction = " + friction +
        "\nimpact = { restitution = 0.3, friction = false }\n[run]\nuntil = 1.2\n");
  };
  const std::array<TestModel, 2> models{model("y", "0.3"), model("y", "{ static = 0.4, dynamic = 0.3 }")};
  for (const char* engine : {"moreau", "rk4"}) {
    for (std::size_t k = 0; k < models.size(); ++k) {
      for (const long steps : {1200L, 3333L, 12000L}) {
        const double h = end / static_cast<double>(steps);
        const simulate::Result run = step_run(models[k], engine, h, steps);
        ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
        EXPECT_NEAR(last(run, "x"), place, 40 * h) << engine << k << ' ' << h;
        EXPECT_EQ(last(run, "x'"), 0) << engine << k << ' ' << h;
        EXPECT_NEAR(last(run, "y"), 0, engine == std::string("rk4") ? 1e-15 : 10 * h)
            << engine << k << ' ' << h;
      }
    }
  }
}

// Springs instead of stick. Two joints hold one slip until the force 1.2 t is that of both static limits, 3.5; a slip in the plane comes to
// rest as one on a line does.
TEST(Springs, HoldWhatTheyHoldTogetherAndInThePlane) {
  const TestModel parallel = text_model(R"toml(
[coordinates]
x = { velocity = -1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "1.2*t"
[[friction]]
name = "a"
slip = "x'"
normal = 10
law = { static = 0.2, dynamic = 0.1 }
[[friction]]
name = "b"
slip = "-x'"
normal = 5
law = { static = 0.3, dynamic = 0.2 }
[run]
until = 4
)toml");
  // The same two between three bodies of which one is the ground, and a third joint that bears far more.
  const TestModel ring = text_model(R"toml(
[coordinates]
x = { velocity = -1 }
y = { velocity = -1 }
[energy]
kinetic = "x'^2/2 + 0.05*y'^2"
[[force]]
along = "x'"
value = "1.2*t"
[[friction]]
name = "a"
slip = "x'"
normal = 10
law = { static = 0.2, dynamic = 0.1 }
[[friction]]
name = "b"
slip = "y'"
normal = 5
law = { static = 0.3, dynamic = 0.2 }
[[friction]]
name = "c"
slip = "x' - y'"
normal = 100
law = { static = 0.5, dynamic = 0.4 }
[run]
until = 2.8
)toml");
  const TestModel plane = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[force]]
along = "y'"
value = "t"
[[friction]]
name = "d"
slip = ["x'", "y'"]
normal = 10
law = { static = 0.4, dynamic = 0.2 }
[run]
until = 3.9
)toml");
  const double stops = (-2 + std::sqrt(4 + 2.4)) / 1.2;
  const double place = -stops + stops * stops + 0.2 * stops * stops * stops;
  // from 3.5 = 1.2 t on: a = 1.2 t − 2
  const double goes = 3.5 / 1.2, left = 4 - goes;
  const double speed = 1.5 * left + 0.6 * left * left;
  const double end = place + 0.75 * left * left + 0.2 * left * left * left;
  const double ring_stops = (-2 + std::sqrt(4 + 2.64)) / 1.2;
  const double ring_place =
      -ring_stops + (ring_stops * ring_stops + 0.2 * ring_stops * ring_stops * ring_stops) / 1.1;
  for (const double h : {2e-3, 1e-3, 2e-4}) {
    const simulate::Result three = step_to(ring, "penalty", h, 2.8);
    ASSERT_TRUE(three.end.status.ok()) << three.end.status.message;
    EXPECT_NEAR(last(three, "x"), ring_place, 8 * h) << h;
    EXPECT_NEAR(last(three, "x'"), 0, 8 * h) << h;
    const simulate::Result run = step_to(parallel, "penalty", h, 4);
    ASSERT_TRUE(run.end.status.ok()) << run.end.status.message;
    EXPECT_NEAR(last(run, "x'"), speed, 8 * h) << h;
    EXPECT_NEAR(last(run, "x"), end, 8 * h) << h;
    const simulate::Result flat = step_to(plane, "penalty", h, 3.9);
    ASSERT_TRUE(flat.end.status.ok()) << flat.end.status.message;
    // it stands from about t = 0.5 on: nowhere near the limit 4
    EXPECT_NEAR(last(flat, "y'"), 0, 8 * h) << h;
    EXPECT_NEAR(last(flat, "y"), last(step_to(plane, "moreau", h, 3.9), "y"), 8 * h) << h;
  }
}

// Two joints are loaded by a contact that is struck. By the law of impacts one slip stops, at v = 0, while the other goes on; springs let
// the first one through once it has stopped. The run says so.
TEST(Springs, SayWhereJointsShareAnImpactOtherwise) {
  const auto model = [](const std::string& joints) {
    return text_model(R"toml(
[coordinates]
x = { velocity = -0.6 }
y = { start = 0.05, velocity = -1 }
[energy]
kinetic = "x'^2/4 + y'^2/2"
potential = "10*y"
[[contact]]
name = "c"
gap = "y"
[[friction]]
name = "b"
slip = "x' - 0.5"
normal = "normal(c)"
law = 0.25
)toml" + joints + "[run]\nuntil = 0.3\n");
  };
  const TestModel one = model("");
  const TestModel two =
      model("[[friction]]\nname = \"a\"\nslip = \"x'\"\nnormal = \"0.5*normal(c)\"\nlaw = 0.3\n");
  for (const double h : {1e-4, 2e-5}) {
    EXPECT_GT(monitor(step_to(two, "penalty", h, 0.3), "impacts").worst, 0.03) << h;
    EXPECT_LT(monitor(step_to(one, "penalty", h, 0.3), "impacts").worst, 0.02) << h;
  }
}

// With friction 2 and this inertia the normal acceleration of the slipping contact is k λ + a, k = (1 - 2*0.9)/0.19, a = -1/0.19: no reaction keeps it on the floor.
TEST(Painleve, IsNoStepThatIsSilent) {
  const auto block = [](const std::string& friction, const std::string& way) {
    return text_model(
        "[coordinates]\nx = { velocity = -1 }\ny = 0\n[matrices]\nmass = [[1, 0.9], [0.9, 1]]\nload = [0, "
        "\"-1\"]\n"
        "[[contact]]\nname = \"c\"\ngap = \"y\"\nslip = \"x'\"\nfriction = " +
        friction + "\n[run]\nuntil = 0.5\non_painleve = \"" + way + "\"\n");
  };
  for (const double h : {1e-2, 1e-4}) {
    for (const char* form : {"standard", "printed"}) {
      const simulate::Result stops = step_to(block("2", "stop"), "moreau", h, 0.5, {{"form", 0, form}});
      EXPECT_EQ(stops.end.status.reason, Reason::inconsistent) << form;
      EXPECT_EQ(stops.end.status.time, 0);
      EXPECT_NE(stops.end.status.message.find("k = -4.21053, a = -5.26316"), std::string::npos)
          << stops.end.status.message;
      // An impulse that ends the slip: x' = 0 at once.
      const simulate::Result goes =
          step_to(block("2", "tangential-impact"), "moreau", h, 0.5, {{"form", 0, form}});
      EXPECT_TRUE(goes.end.status.ok()) << goes.end.status.message;
      EXPECT_NEAR(cell(goes, 1, "x'"), 0, 1e-12) << form;
      // k = 0 is at friction 1/0.9.
      EXPECT_TRUE(step_to(block("1.11", "stop"), "moreau", h, 0.5, {{"form", 0, form}}).end.status.ok());
      EXPECT_FALSE(step_to(block("1.12", "stop"), "moreau", h, 0.5, {{"form", 0, form}}).end.status.ok());
    }
  }
  // The rod of the gallery comes to its paradox, or misses it, where the event engine does.
  for (const char* variant : {"flat", "low", "high", "steep", "smooth", "rough", "forward"}) {
    const TestModel rod = gallery_model("painleve-rod", {variant});
    const simulate::Result steps = step_to(rod, "moreau", 1e-4, 0.3);
    const simulate::Result events = simulate::simulate(rod.system, rod.options, "event");
    EXPECT_EQ(steps.end.status.reason, events.end.status.reason) << variant << steps.end.status.message;
    EXPECT_NEAR(steps.end.status.time, events.end.status.time, 1e-3) << variant;
  }
}

}  // namespace
}  // namespace judder
