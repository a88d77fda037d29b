// Instants known before they come: every zero of a switch of time alone, in order, none twice, none missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "engines/timetable.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<double> instants(const model::System& system, double from, double until) {
  model::Workspace work(system);
  Timetable timetable(system, work);
  std::vector<double> out;
  for (double t = from;;) {
    const double next = timetable.next(t, until);
    if (next >= until) return out;
    out.push_back(next);
    t = next;
  }
}

TEST(Timetable, FindsEveryZeroOfASine) {
  const TestModel model = mass_under("sign(sin(3*t))");
  const std::vector<double> found = instants(model.system, 0, 10);
  ASSERT_EQ(found.size(), 9u);
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(found[k], static_cast<double>(k + 1) * kPi / 3, 4e-15 * found[k] + 1e-15) << k;
  }
}

TEST(Timetable, StartsAnywhere) {
  const TestModel model = mass_under("sign(sin(3*t))");
  for (double from = -5; from < 5; from += 0.37) {
    const std::vector<double> found = instants(model.system, from, 10);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found.front(), (std::floor(from * 3 / kPi) + 1) * kPi / 3, 1e-14);
  }
}

TEST(Timetable, ATouchChangesNoSide) {
  const TestModel model = mass_under("sign(1 + cos(t)) + step(t - 7)");
  const std::vector<double> found = instants(model.system, 0, 10);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], 7);
}

TEST(Timetable, LevelsOfFloorAndModAreMetExactly) {
  const TestModel model = mass_under("floor(t/0.75)");
  const std::vector<double> found = instants(model.system, 0.1, 10);
  ASSERT_EQ(found.size(), 13u);
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_DOUBLE_EQ(found[k], 0.75 * static_cast<double>(k + 1));
}

// A zero without a rate is left to the side that the function goes to, however soon it turns again, in any unit of time.
TEST(Timetable, AZeroWithoutARateIsLeftToTheSideItMovesTo) {
  const auto side = [](const std::string& value, double t) {
    const TestModel model = mass_under(value);
    model::Workspace work(model.system);
    Timetable timetable(model.system, work);
    std::vector<double> sides(model.system.switches().size());
    timetable.sides_after(t, sides);
    return sides.at(0);
  };
  for (const char* turn : {"1e-90", "1e-9", "1", "1e6"}) {
    EXPECT_EQ(side("sign(t^2*(t - " + std::string(turn) + "))", 0), 0) << turn;
    EXPECT_EQ(side("sign(t^2*(" + std::string(turn) + " - t))", 0), 1) << turn;
  }
  EXPECT_EQ(side("sign((t - 3)^2*(t - 3 - 1e-9))", 3), 0);
  EXPECT_EQ(side("sign((t - 3)^3)", 3), 1);
  EXPECT_EQ(side("floor(1 - t^2)", 0), 0);
  EXPECT_EQ(side("floor(1 + t^2)", 0), 1);
  EXPECT_EQ(instants(mass_under("sign(t^2*(t - 1e-9))").system, 0, 2e-9), std::vector<double>{1e-9});
}

TEST(Timetable, KnotsOfTablesAreInstants) {
  const TestModel model = mass_under("load(t)", R"toml([tables]
load = { x = [0, 1.5, 2.25, 12], y = [0, 1, -1, 0] }
)toml");
  const std::vector<double> found = instants(model.system, 0, 10);
  EXPECT_EQ(found, (std::vector<double>{1.5, 2.25}));
}

TEST(Timetable, PairsOfZerosCloserThanAMillionthAreBothFound) {
  // 1 − cos has double zeros; lowered by d they split into pairs 2 sqrt(2 d) apart.
  const double d = 1e-13;
  const TestModel model = mass_under("sign(1 - cos(t) - 1e-13)");
  const std::vector<double> found = instants(model.system, 1, 20);
  ASSERT_EQ(found.size(), 6u);
  for (int k = 1; k <= 3; ++k) {
    // Rounding of 1 − cos is of the order of the depth divided by a thousand: times to a tenth of a per cent of their distance.
    EXPECT_NEAR(found[static_cast<std::size_t>(2 * k - 2)], 2 * kPi * k - std::sqrt(2 * d), 2e-9);
    EXPECT_NEAR(found[static_cast<std::size_t>(2 * k - 1)], 2 * kPi * k + std::sqrt(2 * d), 2e-9);
  }
}

// Passing every instant in turn must give the sides that the values have between them.
TEST(Timetable, PassingAllInstantsKeepsTheSidesRight) {
  const TestModel model = mass_under("sign(sin(3*t)) + step(cos(5*t) - 0.3) + floor(2*sin(t)) + mod(t, 0.7)");
  model::Workspace work(model.system);
  Timetable timetable(model.system, work);
  const std::size_t switches = model.system.switches().size();
  ASSERT_GE(switches, 4u);
  std::vector<double> side(switches, 0);
  std::vector<double> expected(switches, 0);
  std::vector<int> changed;
  timetable.sides_after(0, side);
  int passed = 0;
  for (double t = 0; t < 10;) {
    const double next = timetable.next(t, 10);
    ASSERT_GT(next, t);
    std::vector<double> in = model.system.start();
    in[0] = 0.5 * (t + next);
    model.system.sides_by_value(in, work);
    const bool between = in[0] > t && in[0] < next;  // two instants may be neighbours among the doubles
    for (std::size_t k = 0; between && k < switches; ++k) {
      EXPECT_EQ(side[k], in[static_cast<std::size_t>(model.system.layout().side()) + k])
          << model.system.switches()[k].place << " between " << t << " and " << next;
    }
    const std::vector<double> before = side;
    timetable.pass(next, side, changed);
    for (std::size_t k = 0; k < switches; ++k) {
      const bool listed = std::find(changed.begin(), changed.end(), static_cast<int>(k)) != changed.end();
      EXPECT_EQ(listed, side[k] != before[k]) << k;
    }
    passed += changed.empty() ? 0 : 1;
    t = next;
  }
  EXPECT_GT(passed, 40);
}

TEST(Timetable, ALongerHorizonIsSearchedWhenItIsAskedFor) {
  const TestModel model = mass_under("step(t - 7)");
  model::Workspace work(model.system);
  Timetable timetable(model.system, work);
  EXPECT_EQ(timetable.next(0, 5), 5);
  EXPECT_EQ(timetable.next(0, 6), 6);
  EXPECT_EQ(timetable.next(0, 8), 7);
  EXPECT_EQ(timetable.next(7, 8), 8);
}

}  // namespace
}  // namespace judder::engines
