// Friction on nodes without mass: Jenkins' and Iwan's elements, sliders in series, dampers. Oracles: closed forms, and small steps of the laws written as they
// are used in constitutive models (a slider takes what its spring has beyond the limit; a damped node moves by the force beyond it).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

simulate::Result run(const std::string& text, double tolerance = 1e-10) {
  const TestModel model = text_model(text);
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  return simulate::simulate(model.system, options);
}

double at_end(const simulate::Result& result, const std::string& name) {
  return result.data.cell(result.data.rows() - 1, static_cast<std::size_t>(result.data.column(name)));
}

// x'' = −20 (x − u) with |20 (x − u)| ≤ 2: it slips from x = 0.1 on, decelerated by 2, stops at 2.3, and swings about u = 2.2 with an amplitude of exactly
// the limit.
TEST(MasslessFriction, JenkinsElementFollowsItsClosedForm) {
  for (const std::string extra : {"", "[[contact]]\nname = \"far\"\ngap = \"9 - x\"\nimpact = 0.5\n"}) {
    const simulate::Result result = run(R"toml(
[coordinates]
x = { start = 0, velocity = 3 }
u = { massless = true }
[energy]
kinetic   = "x'^2/2"
potential = "20*(x - u)^2/2"
[[friction]]
name   = "f"
slip   = "u'"
normal = 1
law    = 2
)toml" + extra + R"toml(
[run]
until = 5
[output]
samples = 6
columns = { T = "tangent(f)", B = "balance()", D = "dissipated(f)" }
)toml");
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    const double w = std::sqrt(20.0), begins = std::asin(0.1 * w / 3) / w, ends = begins + std::sqrt(8.8) / 2;
    ASSERT_GE(result.data.events.size(), 2U);
    EXPECT_EQ(result.data.events[0].kind, engines::EventKind::slip);
    EXPECT_NEAR(result.data.events[0].time, begins, 1e-9);
    EXPECT_EQ(result.data.events[1].kind, engines::EventKind::stick);
    EXPECT_NEAR(result.data.events[1].time, ends, 1e-9);
    EXPECT_NEAR(at_end(result, "u"), 2.2, 1e-8);
    EXPECT_NEAR(at_end(result, "x"), 2.2 + 0.1 * std::cos(w * (5 - ends)), 1e-7);
    EXPECT_NEAR(at_end(result, "T"), 20 * (at_end(result, "u") - at_end(result, "x")), 1e-9);
    EXPECT_NEAR(at_end(result, "D"), 2 * 2.2, 1e-8);
    EXPECT_NEAR(at_end(result, "B"), 0, 1e-8);
  }
}

// Three elements in parallel under a harmonic load.
TEST(MasslessFriction, IwansElementsInParallel) {
  const simulate::Result result = run(R"toml(
[coordinates]
x  = 0
u1 = { massless = true }
u2 = { massless = true }
u3 = { massless = true }
[energy]
kinetic   = "x'^2/2"
potential = "x^2/2 + 8*(x - u1)^2/2 + 5*(x - u2)^2/2 + 3*(x - u3)^2/2"
[[force]]
along = "x'"
value = "3*sin(1.3*t)"
[[friction]]
name   = "f1"
slip   = "u1'"
normal = 1
law    = 0.3
[[friction]]
name   = "f2"
slip   = "u2'"
normal = 2
law    = 0.3
[[friction]]
name   = "f3"
slip   = "2*u3'"
normal = 1
law    = 0.55
[run]
until = 20
)toml");
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const std::array<double, 3> stiffness{8, 5, 3}, limit{0.3, 0.6, 1.1};
  std::array<double, 3> u{};
  double x = 0, v = 0;
  constexpr int kSteps = 4000000;
  const double h = 20.0 / kSteps;
  for (int i = 0; i < kSteps; ++i) {  // leapfrog
    x += 0.5 * h * v;
    double force = 3 * std::sin(1.3 * (i + 0.5) * h) - x;
    for (std::size_t e = 0; e < 3; ++e) {
      const double reach = limit[e] / stiffness[e];
      u[e] = std::clamp(u[e], x - reach, x + reach);
      force -= stiffness[e] * (x - u[e]);
    }
    v += h * force;
    x += 0.5 * h * v;
  }
  for (std::size_t e = 0; e < 3; ++e)
    u[e] = std::clamp(u[e], x - limit[e] / stiffness[e], x + limit[e] / stiffness[e]);
  EXPECT_NEAR(at_end(result, "x"), x, 1e-6);
  EXPECT_NEAR(at_end(result, "x'"), v, 1e-6);
  for (std::size_t e = 0; e < 3; ++e)
    EXPECT_NEAR(at_end(result, "u" + std::to_string(e + 1)), u[e], 1e-6) << e;
  EXPECT_GT(result.data.events.size(), 30U);
}

// x – spring 6 – u1 – slider 1 – u2, which has a spring 4 and slider 2 to the ground. In small steps of x the nodes go where
// 3 (x − u1)² + 2 u2² + 1.0 |Δ(u1 − u2)| + 0.7 |Δu2| is least.
TEST(MasslessFriction, SlidersInSeries) {
  const simulate::Result result = run(R"toml(
[coordinates]
x  = { start = 0, velocity = 0 }
u1 = { massless = true }
u2 = { massless = true }
[energy]
kinetic   = "x'^2/2"
potential = "x^2/4 + 6*(x - u1)^2/2 + 4*u2^2/2"
[[force]]
along = "x'"
value = "2.5*sin(0.9*t)"
[[friction]]
name   = "between"
slip   = "u1' - u2'"
normal = 1
law    = 1
[[friction]]
name   = "ground"
slip   = "u2'"
normal = 1
law    = 0.7
[run]
until = 15
)toml");
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  double x = 0, v = 0, u1 = 0, u2 = 0;
  constexpr int kSteps = 1500000;
  const double h = 15.0 / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    x += 0.5 * h * v;
    // The least of a convex function: the smallest of its values at the least of each of its pieces, and where pieces meet.
    const double before1 = u1, before2 = u2;
    const auto cost = [&](double a, double b) {
      return 3 * (x - a) * (x - a) + 2 * b * b + std::abs(a - b - before1 + before2) +
             0.7 * std::abs(b - before2);
    };
    double best = std::numeric_limits<double>::infinity(), best1 = u1, best2 = u2;
    const auto take = [&](double a, double b) {
      if (cost(a, b) < best) {
        best = cost(a, b);
        best1 = a;
        best2 = b;
      }
    };
    for (const int s : {-1, 0, 1}) {
      for (const int g : {-1, 0, 1}) {
        if (s == 0 && g == 0) {
          take(before1, before2);
        } else if (s == 0) {  // both move: 6 (a − x) + 4 b + 0.7 g = 0, a = b + before1 − before2
          const double b = (6 * (x - before1 + before2) - 0.7 * g) / 10;
          take(b + before1 - before2, b);
        } else {  // 6 (a − x) + s = 0; 4 b − s + 0.7 g = 0
          take(x - s / 6.0, g == 0 ? before2 : (s - 0.7 * g) / 4);
        }
      }
    }
    u1 = best1;
    u2 = best2;
    v += h * (2.5 * std::sin(0.9 * (i + 0.5) * h) - 0.5 * x - 6 * (x - u1));
    x += 0.5 * h * v;
  }
  EXPECT_NEAR(at_end(result, "x"), x, 2e-5);
  EXPECT_NEAR(at_end(result, "u1"), u1, 2e-5);
  EXPECT_NEAR(at_end(result, "u2"), u2, 2e-5);
  EXPECT_GT(result.data.events.size(), 8U);
}

// 0.4 u' = (force beyond the limit); the slip is against a belt that moves.
TEST(MasslessFriction, ADampedNodeMovesByTheForceBeyondTheLimit) {
  for (const double belt : {0.0, 0.25}) {
    const simulate::Result result = run(R"toml(
[coordinates]
x = { start = 0, velocity = 2 }
u = { massless = true }
[energy]
kinetic     = "x'^2/2"
potential   = "x^2/2 + 5*(x - u)^2/2"
dissipation = "0.4*u'^2/2"
[[friction]]
name   = "f"
slip   = "u' - )toml" + std::to_string(belt) +
                                        R"toml("
normal = 1
law    = 0.8
[run]
until = 12
)toml");
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    std::array<double, 3> y{0, 2, 0};  // x, x', u
    const auto rate = [belt](const std::array<double, 3>& s) {
      const double force = 5 * (s[0] - s[2]) - 0.4 * belt;  // what is left at the speed of the belt
      const double beyond = force > 0.8 ? force - 0.8 : force < -0.8 ? force + 0.8 : 0;
      return std::array<double, 3>{s[1], -s[0] - 5 * (s[0] - s[2]), belt + beyond / 0.4};
    };
    constexpr int kSteps = 400000;
    const double h = 12.0 / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const auto a = rate(y);
      std::array<double, 3> half{};
      for (std::size_t k = 0; k < 3; ++k) half[k] = y[k] + 0.5 * h * a[k];
      const auto b = rate(half);
      for (std::size_t k = 0; k < 3; ++k) y[k] += h * b[k];
    }
    EXPECT_NEAR(at_end(result, "x"), y[0], 1e-7) << belt;
    EXPECT_NEAR(at_end(result, "u"), y[2], 1e-7) << belt;
    EXPECT_GE(result.data.events.size(), 4U) << belt;
  }
}

// The slider sits between the mass and the node: its force moves both. The same with a node of little mass.
TEST(MasslessFriction, ASliderOnTheMassItself) {
  const auto model = [](const std::string& node, const std::string& inertia) {
    return R"toml(
[coordinates]
x = { start = 0, velocity = 2 }
u = )toml" +
           node + R"toml(
[energy]
kinetic   = "x'^2/2)toml" +
           inertia + R"toml("
potential = "x^2/4 + 10*u^2/2"
[[friction]]
name   = "f"
slip   = "x' - u'"
normal = 1
law    = 0.5
[run]
until = 6
)toml";
  };
  const simulate::Result exact = run(model("{ massless = true }", ""));
  ASSERT_TRUE(exact.end.status.ok()) << exact.end.status.message;
  double before = 1;
  for (const std::string mass : {"1e-3", "1e-4"}) {
    const simulate::Result light = run(model("0", " + " + mass + "*u'^2/2"), 1e-9);
    ASSERT_TRUE(light.end.status.ok()) << light.end.status.message;
    const double apart = std::abs(at_end(light, "x") - at_end(exact, "x"));
    EXPECT_LT(apart, 0.02);
    EXPECT_LT(apart, before);
    before = apart;
  }
  EXPECT_LT(before, 2e-3);
}

// Limits and forces that jump while a node slips or stands. The constitutive law in small steps: the spring's force on the slider beyond the limit is taken by the slider at once, so a limit that
// rises or a force that turns leaves it where it is.
TEST(MasslessFriction, ANodeJumpsInTheDirectionOfItsSlipOnly) {
  std::mt19937_64 random(7);
  const auto draw = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int held = 0, jumped = 0;
  for (int k = 0; k < 24; ++k) {
    const double speed = draw(-1.5, 1.5);
    const std::array<double, 3> limit{draw(0.05, 0.6), draw(0.05, 0.6), draw(0.05, 0.6)};
    const std::array<double, 3> force{0, draw(-0.4, 0.4), draw(-0.4, 0.4)};
    const auto in_thirds = [](const std::array<double, 3>& values) {
      return "if(t < 0.7, " + to_text(values[0]) + ", if(t < 1.3, " + to_text(values[1]) + ", " +
             to_text(values[2]) + "))";
    };
    const simulate::Result result =
        run("[coordinates]\nx = { velocity = " + to_text(speed) +
            " }\ny = { massless = true }\n[energy]\nkinetic = \"x'^2/2\"\n"
            "potential = \"2*(x - y)^2\"\n[[force]]\nalong = \"y'\"\nvalue = \"" +
            in_thirds(force) + "\"\n[[friction]]\nname = \"f\"\nslip = \"y'\"\nlaw = 1\nnormal = \"" +
            in_thirds(limit) + "\"\n[run]\nuntil = 2\n");
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    constexpr int kSteps = 400'000;
    const double h = 2.0 / kSteps;
    double x = 0, v = speed, y = 0, slid = 0;
    for (int i = 0; i < kSteps; ++i) {
      const double t = (i + 0.5) * h;
      const std::size_t at = t < 0.7 ? 0 : t < 1.3 ? 1 : 2;
      x += h / 2 * v;
      const double load = 4 * (x - y) + force[at];
      const double beyond = std::max(std::abs(load) - limit[at], 0.0);
      const double way = std::copysign(beyond / 4, load);
      const bool jumps = i > 0 && (t < 0.7) != (t - h < 0.7);
      if (jumps && slid != 0) (beyond == 0 ? held : jumped) += 1;
      y += way;
      slid = way;
      v -= h * 4 * (x - y);
      x += h / 2 * v;
    }
    EXPECT_NEAR(at_end(result, "x"), x, 2e-5) << "speed " << speed;
    EXPECT_NEAR(at_end(result, "y"), y, 2e-5) << "speed " << speed;
  }
  EXPECT_GE(held, 3);
  EXPECT_GE(jumped, 3);
}

// x – k0 – u1 – k1 – u2 – k2 – u3 – k3 – ground, a slider at each node, with limits that jump and change: what one node jumps loads its neighbours, and at a limit the rates decide. In each
// small step the nodes go where the energy of the springs plus Σ limit |Δu| is least, one after the other until none moves.
TEST(MasslessFriction, NodesInSeriesJumpTogether) {
  std::mt19937_64 random(11);
  const auto draw = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int together = 0;
  for (int k = 0; k < 12; ++k) {
    const double speed = draw(0.8, 1.6);
    std::array<double, 4> stiffness{};
    std::array<std::array<double, 3>, 3> limit{};
    for (double& each : stiffness) each = draw(1, 5);
    for (auto& node : limit) node = {draw(0.1, 0.5), draw(0.05, 0.5), draw(0, 0.6)};
    const auto limit_at = [&](std::size_t node, double t) {
      return (t < 0.9 ? limit[node][0] : limit[node][1]) + limit[node][2] * std::fmod(t, 0.6);
    };
    std::string text = "[coordinates]\nx = { velocity = " + to_text(speed) + " }\n";
    std::string potential = "x^2/2", joints;
    const std::array<std::string, 5> chain{"x", "u1", "u2", "u3", "0"};
    for (std::size_t i = 0; i < 4; ++i)
      potential += " + " + to_text(stiffness[i]) + "*(" + chain[i] + " - " + chain[i + 1] + ")^2/2";
    for (std::size_t i = 0; i < 3; ++i) {
      text += chain[i + 1] + " = { massless = true }\n";
      joints += "[[friction]]\nname = \"f" + std::to_string(i) + "\"\nslip = \"" + chain[i + 1] +
                "'\"\nlaw = 1\nnormal = \"if(t < 0.9, " + to_text(limit[i][0]) + ", " + to_text(limit[i][1]) +
                ") + " + to_text(limit[i][2]) + "*mod(t, 0.6)\"\n";
    }
    const simulate::Result result = run(text + "[energy]\nkinetic = \"x'^2/2\"\npotential = \"" + potential +
                                        "\"\n" + joints + "[run]\nuntil = 2.9\n");
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    constexpr int kSteps = 290'000;
    const double h = 2.9 / kSteps;
    double x = 0, v = speed;
    std::array<double, 3> u{};
    for (int i = 0; i < kSteps; ++i) {
      const double t = (i + 0.5) * h;
      x += h / 2 * v;
      const std::array<double, 3> old = u;
      for (int round = 0; round < 200; ++round) {
        double moved = 0;
        for (std::size_t n = 0; n < 3; ++n) {
          const double left = n == 0 ? x : u[n - 1], right = n == 2 ? 0 : u[n + 1];
          const double sum = stiffness[n] + stiffness[n + 1];
          const double free = (stiffness[n] * left + stiffness[n + 1] * right) / sum;
          const double reach = limit_at(n, t) / sum;
          const double next = std::clamp(old[n], free - reach, free + reach);
          moved = std::max(moved, std::abs(next - u[n]));
          u[n] = next;
        }
        if (moved < 1e-13) break;
      }
      int jumps = 0;
      for (std::size_t n = 0; n < 3; ++n) jumps += std::abs(u[n] - old[n]) > 1e-3 ? 1 : 0;
      together += jumps > 1 ? 1 : 0;
      v -= h * (x + stiffness[0] * (x - u[0]));
      x += h / 2 * v;
    }
    EXPECT_NEAR(at_end(result, "x"), x, 3e-5) << k;
    for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(at_end(result, chain[n + 1]), u[n], 3e-5) << k;
  }
  EXPECT_GE(together, 5);
}

// At t = 0.3 the force on the node jumps to 0.7, and the node by 0.2, where its spring leaves the limit of 0.3. The body at the other end is at rest then, and leaves it: the load stays
// at its limit, and grows with t^2 beyond it. So the node goes on, with the body pulled by 0.4. If the body comes nearer instead, the node rests, and the body swings on its spring.
TEST(MasslessFriction, ANodeThatHasJumpedGoesOnWhereItsLoadGrows) {
  for (const double pull : {0.0, 0.8}) {
    for (const char* const second : {"", "u = 0\n"}) {
      const std::string inertia = *second == 0 ? "w'^2/2" : "w'^2/2 + u'^2/2";
      const simulate::Result result =
          run("[parameters]\npull = " + std::to_string(pull) +
              "\n[coordinates]\ny = { massless = true }\nw = 0\n" + second + "[energy]\nkinetic = \"" +
              inertia + "\"\n" + R"toml(potential = "(y + w)^2"
[[force]]
along = "y'"
value = "if(t < 0.3, 0.3, 0.7)"
[[force]]
along = "w'"
value = "if(t < 0.3, 0, pull)"
[[friction]]
name = "node"
slip = "y'"
normal = 1
law = 0.3
[run]
until = 1.1
)toml");
      EXPECT_EQ(result.end.status.reason, Reason::done) << result.end.status.message;
      const double y = pull == 0 ? 0.2 + 0.2 * 0.64 : 0.2;
      const double w = pull == 0 ? -0.2 * 0.64 : 0.2 * (1 - std::cos(std::sqrt(2) * 0.8));
      EXPECT_NEAR(at_end(result, "y"), y, 1e-8) << pull;
      EXPECT_NEAR(at_end(result, "w"), w, 1e-8) << pull;
    }
  }
}

// A surface that reads the speed of a node is slid on: the balance gives w' = −5/6 y', and 0.2 x' − w' = 0.3 holds y' where x' = 0.07 + 0.12 exp(−t) puts it, over any
// number of steps.
TEST(MasslessFriction, ASlideOnTheSpeedOfANodeStaysOnItsSurface) {
  for (const std::string more : {"", "[run]\nuntil = 2.4\nmax_step = 0.01\n"}) {
    const simulate::Result result = run(R"toml(
[coordinates]
x = { velocity = 0.19 }
y = { start = 1.264, velocity = 0.315 }
w = { massless = true, start = -1.22 }
[energy]
kinetic = "0.5*x'^2 + 0.5*y'^2"
potential = "10*(y + w)^2 + 2*(w + 1)^2"
[[force]]
name = "held"
along = "y'"
value = "if(-w' + 0.2*x' - 0.3 >= 0, -5*t - 1, 3*y + 1)"
[[force]]
name = "slows"
along = "x'"
value = "0.07 - x'"
)toml" + (more.empty() ? std::string("[run]\nuntil = 2.4\n") : more));
    ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
    EXPECT_TRUE(result.end.verdict.silent());
    const double speed = 0.07 + 0.12 * std::exp(-2.4);
    EXPECT_NEAR(at_end(result, "x'"), speed, 1e-9);
    EXPECT_NEAR(at_end(result, "y'"), 1.2 * (0.3 - 0.2 * speed), 1e-9);
    EXPECT_NEAR(at_end(result, "w'"), 0.2 * speed - 0.3, 1e-9);
  }
}

TEST(MasslessFriction, WhatHasNoBalanceIsRefusedWithTheReason) {
  const auto message = [](const std::string& rest) {
    const io::ModelFile file = io::read_model_text(
        "format = 1\n[coordinates]\nx = 1\nu = { massless = true }\n[energy]\nkinetic = "
        "\"x'^2/2\"\npotential "
        "= \"(x - u)^2/2\"\n" +
        rest + "[run]\nuntil = 1\n");
    const model::Compiled compiled = model::compile(file.spec);
    return compiled.system ? std::string() : render(compiled.diagnostics, "model", "");
  };
  const std::string contact = message("[[contact]]\nname = \"c\"\ngap = \"1 - u\"\n");
  EXPECT_NE(contact.find("without inertia its reaction is not determined"), std::string::npos) << contact;
  EXPECT_EQ(contact.find("quasi-static"), std::string::npos);
  const std::string jumps = message(
      "[[friction]]\nname = \"f\"\nslip = \"u'\"\nnormal = 1\nlaw = { static = 0.5, dynamic = 0.3 }\n");
  EXPECT_NE(jumps.find("jump"), std::string::npos) << jumps;
  const std::string speed =
      message("[[friction]]\nname = \"f\"\nslip = \"u'\"\nnormal = 1\nlaw = \"1/(1 + speed)\"\n");
  EXPECT_NE(speed.find("depends on its speed"), std::string::npos) << speed;
  const std::string twice = message(
      "[[friction]]\nname = \"f\"\nslip = \"u'\"\nnormal = 1\nlaw = 0.5\n"
      "[[friction]]\nname = \"g\"\nslip = \"x' - u'\"\nnormal = 1\nlaw = 0.5\n");
  EXPECT_NE(twice.find("is not determined"), std::string::npos) << twice;
  EXPECT_NE(twice.find("joints hold"), std::string::npos) << twice;
}

}  // namespace
}  // namespace judder
