// Switches inside switches, of time, of positions and of velocities: square waves of square waves, periodic tables of a position, signs of floors.
//
// z' = f(t, y, y') while y moves by a law that is known in closed form, so z(T) is an integral of a known function of time. It is taken here by the
// midpoint rule with many points, with functions of the C++ library: nothing of the program's switches stands in it. A second coordinate is driven by the
// same f as a force, and its velocity must be z.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

double modulo(double a, double b) { return a - b * std::floor(a / b); }
double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
double profile(double a) {
  constexpr std::array<double, 5> kValues{0, 1, -1, 2, 0.5};
  const double place = std::clamp(2 * a, 0.0, 4.0);
  const auto left = static_cast<std::size_t>(std::min(std::floor(place), 3.0));
  return kValues[left] + (place - static_cast<double>(left)) * (kValues[left + 1] - kValues[left]);
}

enum class Way { uniform, falls, swings };

struct Case {
  const char* name;
  const char* written;
  double (*right)(double t, double y, double v);
  Way way = Way::uniform;
  double start = -0.3;
  double speed = 0.55;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class NestedSwitches : public testing::TestWithParam<Case> {};

TEST_P(NestedSwitches, GiveTheIntegralOfTheirValues) {
  const Case& c = GetParam();
  const double until = 4.1;
  const char* potential = c.way == Way::uniform ? "0" : c.way == Way::falls ? "0.8*y" : "2*y^2";
  TestModel model = text_model("[coordinates]\nx = 0\ny = { start = " + std::to_string(c.start) +
                               ", velocity = " + std::to_string(c.speed) +
                               " }\n"
                               "[tables]\nprofile = { x = [0, 0.5, 1, 1.5, 2], y = [0, 1, -1, 2, 0.5] }\n"
                               "[state]\nz = { start = 0, rate = \"" +
                               c.written +
                               "\" }\n"
                               "[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = \"" +
                               potential + "\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + c.written +
                               "\"\n"
                               "[run]\nuntil = 4.1\n");
  constexpr int kPoints = 500'000;
  const double h = until / kPoints;
  double right = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double t = (i + 0.5) * h;
    double y = c.start + c.speed * t;
    double v = c.speed;
    if (c.way == Way::falls) {
      y -= 0.4 * t * t;
      v -= 0.8 * t;
    } else if (c.way == Way::swings) {
      y = c.start * std::cos(2 * t) + 0.5 * c.speed * std::sin(2 * t);
      v = -2 * c.start * std::sin(2 * t) + c.speed * std::cos(2 * t);
    }
    right += c.right(t, y, v) * h;
  }
  std::vector<std::string> names{"event"};
  if (engines::ExactEngine::unsupported(model.system).empty()) names.emplace_back("exact");
  for (const double tolerance : {1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    for (const std::string& engine : names) {
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
      EXPECT_NEAR(last(result, "z"), right, 1e-4) << engine;
      EXPECT_NEAR(last(result, "x'"), last(result, "z"), 1e-8) << engine;
    }
  }
}

const Case kOfTime[] = {

    Case{"sign_of_floor", "sign(floor(3*t))",
         [](double t, double, double) { return sign(std::floor(3 * t)); }},
    Case{"sign_of_abs_of_sign", "sign(abs(sign(floor(t))))",
         [](double t, double, double) { return sign(std::abs(sign(std::floor(t)))); }},
    Case{"mod_of_mod", "mod(3*mod(t,0.71),1.32)",
         [](double t, double, double) { return modulo(3 * modulo(t, 0.71), 1.32); }},
    Case{"mod_of_floor_mod", "mod(floor(t)*mod(t,0.71),1.32)",
         [](double t, double, double) { return modulo(std::floor(t) * modulo(t, 0.71), 1.32); }},
    // abs(s) - s is zero on whole pieces, which no enclosure can prove.
    Case{"zero_on_a_piece", "if(abs(sin(2.5*t)) <= sin(2.5*t), 1, 2)",
         [](double t, double, double) { return std::sin(2.5 * t) >= 0 ? 1.0 : 2.0; }},
    Case{"sign_of_positive_part", "sign(abs(sin(2.5*t)) + sin(2.5*t))",
         [](double t, double, double) { return std::sin(2.5 * t) > 0 ? 1.0 : 0.0; }},
    // What is not chosen leaves no rounding behind.
    Case{"min_beside_a_large_one", "min(1e18*t, 1)", [](double, double, double) { return 1.0; }},
    Case{"min_of_min", "min(t, min(t + 1, floor(3*t)))",
         [](double t, double, double) { return std::min(t, std::min(t + 1, std::floor(3 * t))); }}};

INSTANTIATE_TEST_SUITE_P(OfTime, NestedSwitches, testing::ValuesIn(kOfTime));

const Case kOfState[] = {

    Case{"periodic_table", "profile(mod(y,2))",
         [](double, double y, double) { return profile(modulo(y, 2)); }},
    Case{"periodic_table_down", "profile(mod(y,2))",
         [](double, double y, double) { return profile(modulo(y, 2)); }, Way::uniform, 0.36, -0.687},
    Case{"table_at_its_knots", "profile(mod(floor(2*y),2))",
         [](double, double y, double) { return profile(modulo(std::floor(2 * y), 2)); }},
    Case{"periodic_table_of_speed", "profile(mod(y',2))",
         [](double, double, double v) { return profile(modulo(v, 2)); }, Way::swings},
    Case{"sign_of_floor", "sign(floor(2*y))",
         [](double, double y, double) { return sign(std::floor(2 * y)); }},
    Case{"mod_times_zero", "mod((sign(profile(mod(t,2))) + mod(y,1))*abs(sign(floor(2*y))), 0.41)",
         [](double t, double y, double) {
           return modulo((sign(profile(modulo(t, 2))) + modulo(y, 1)) * std::abs(sign(std::floor(2 * y))),
                         0.41);
         },
         Way::swings, 0.568, 0.398},
    Case{"table_below_speed",
         "if(profile(mod(mod(t,0.7),2)) < (y' - 0.37*floor(2*y)) + mod(y,2), mod(t,0.7), "
         "abs(profile(mod(y,2))))",
         [](double t, double y, double v) {
           return profile(modulo(t, 0.7)) < v - 0.37 * std::floor(2 * y) + modulo(y, 2)
                      ? modulo(t, 0.7)
                      : std::abs(profile(modulo(y, 2)));
         },
         Way::falls, 0.741, -0.618},
    Case{"sign_of_position_and_table", "max(sign(y - 0.37*profile(mod(y',2))), 0.1*t)",
         [](double t, double y, double v) {
           return std::max(sign(y - 0.37 * profile(modulo(v, 2))), 0.1 * t);
         },
         Way::swings}};

INSTANTIATE_TEST_SUITE_P(OfState, NestedSwitches, testing::ValuesIn(kOfState));

// A floor of what slides at zero is zero, whatever the landing leaves of it: w' = −w − 1.5 until u comes to rest at ln(1 + 1.7·0.7)/1.7, then −w − 3.
TEST(SwitchesAtRest, FloorOfWhatSlidesIsThatOfItsSurface) {
  TestModel model = text_model(R"toml(
[state]
u = { start = -0.7, rate = "-1.7*u - sign(u)" }
w = { start = -1, rate = "-w - 1.5*floor(1.4*u) - 3" }
[run]
until = 1
)toml");
  const double met = std::log(1 + 1.7 * 0.7) / 1.7;
  const double right = -3 + (1.5 + 0.5 * std::exp(-met)) * std::exp(-(1 - met));
  for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10, 1e-11}) {
    model.options.tolerance = tolerance;
    for (const char* engine : {"event", "exact"}) {
      const simulate::Result result = simulate::simulate(model.system, model.options, engine);
      ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
      EXPECT_NEAR(last(result, "w"), right, 100 * tolerance) << engine << ' ' << tolerance;
    }
  }
}

// A joint that sticks to a belt whose speed has a kink at zero has no slip there but that of rounding: 0.3 + π/2 stays below the static limit.
TEST(SwitchesAtRest, ABeltThatStopsAtAKinkKeepsWhatSticksToIt) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = -0.3
[[friction]]
name = "j"
slip = "x' - max(0, cos(pi/2*t))"
normal = 1
law = { static = 2, dynamic = 0.2 }
[run]
until = 2
)toml");
  for (const char* engine : {"event", "exact"}) {
    const simulate::Result result = simulate::simulate(model.system, model.options, engine);
    ASSERT_EQ(result.end.status.reason, Reason::done) << engine << ": " << result.end.status.message;
    EXPECT_NEAR(last(result, "x"), 2 / std::acos(-1.0), 1e-8) << engine;
    EXPECT_EQ(last(result, "x'"), 0) << engine;
  }
}

}  // namespace
}  // namespace judder
