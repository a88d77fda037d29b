// Points between rows against closed forms of the motion: the polygon of rows and points passes by every place of the curve.
#include "judder/simulate/curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "run_model.hpp"

namespace judder::simulate {
namespace {

struct Drawn {
  CurvePoints points;
  std::vector<double> times;                ///< of rows and points, in order
  std::vector<std::vector<double>> values;  ///< by column of the points
};

Drawn draw(const std::string& text, const std::string& engine, const CurveOptions& how = {}) {
  const TestModel model = text_model(text);
  engines::EngineOptions options = model.options;
  Curve curve(model.system, options, how);
  options.observer = &curve;
  MemorySink rows(model.system);
  const engines::EngineResult end = run(model.system, engine, options, rows);
  EXPECT_TRUE(end.status.ok()) << end.status.message;
  Drawn out;
  out.points = curve.take();
  out.values.resize(out.points.columns.size());
  std::size_t next = 0;
  const auto put_point = [&] {
    out.times.push_back(out.points.times[next]);
    for (std::size_t c = 0; c < out.values.size(); ++c)
      out.values[c].push_back(out.points.values[next * out.values.size() + c]);
    ++next;
  };
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    while (next < out.points.times.size() && out.points.times[next] < rows.cell(row, 0)) put_point();
    out.times.push_back(rows.cell(row, 0));
    for (std::size_t c = 0; c < out.values.size(); ++c)
      out.values[c].push_back(rows.cell(row, static_cast<std::size_t>(rows.column(out.points.columns[c]))));
  }
  return out;
}

/// The largest distance of the polygon from a function, upwards, looked at in many places.
double miss(const Drawn& drawn, std::size_t column, const std::function<double(double)>& truth) {
  double worst = 0;
  const std::vector<double>& y = drawn.values[column];
  for (std::size_t i = 0; i + 1 < drawn.times.size(); ++i) {
    const double length = drawn.times[i + 1] - drawn.times[i];
    for (double share = 0; share < 1 && length > 0; share += 1.0 / 64)
      worst = std::max(worst,
                       std::abs(y[i] + share * (y[i + 1] - y[i]) - truth(drawn.times[i] + share * length)));
  }
  return worst;
}

const std::string kSine = R"toml([coordinates]
x = { velocity = 62.83185307179586 }
[energy]
kinetic = "x'^2/2"
potential = "62.83185307179586^2*x^2/2"
[run]
until = 1
tolerance = 1e-10
[output]
samples = 11
columns = { cube = "x^3", hat = "abs(mod(t, 0.1) - 0.05)" }
)toml";

// x = sin(20 pi t), of which all rows are zeros: a picture of them is a straight line.
TEST(Curve, ASineWithOneRowForEachPeriodIsASine) {
  constexpr double kTwoPi = 20 * std::numbers::pi;
  for (const char* engine : {"event", "exact"}) {
    const Drawn drawn = draw(kSine, engine);
    ASSERT_EQ(drawn.points.columns, (std::vector<std::string>{"x", "x'", "cube", "hat"})) << engine;
    EXPECT_LT(miss(drawn, 0, [](double t) { return std::sin(kTwoPi * t); }), 2.0 / 2000) << engine;
    EXPECT_LT(miss(drawn, 1, [](double t) { return kTwoPi * std::cos(kTwoPi * t); }), 2 * kTwoPi / 2000)
        << engine;
    EXPECT_LT(miss(drawn, 2, [](double t) { return std::pow(std::sin(kTwoPi * t), 3); }), 2.0 / 2000);
    EXPECT_LT(miss(drawn, 3, [](double t) { return std::abs(std::fmod(t, 0.1) - 0.05); }), 0.05 / 2000);
    EXPECT_LT(drawn.points.times.size(), 4000U);
  }
}

// Where rows stand close enough they do alone: chords of 1e-3 pi radians miss by 1.3e-6.
TEST(Curve, CloseRowsNeedNoPoints) {
  std::string text = kSine;
  text.replace(text.find("samples = 11"), 12, "samples = 20001");
  text.erase(text.find("columns"));
  EXPECT_TRUE(draw(text, "event").points.times.empty());
}

// Between impacts a ball is on parabolas; points stand inside of them and not across an impact.
TEST(Curve, PointsStandBetweenEventsOnTheirParabolas) {
  const Drawn drawn = draw(R"toml([coordinates]
h = { start = 1.25 }
[energy]
kinetic = "h'^2/2"
potential = "10*h"
[[contact]]
name = "floor"
gap = "h"
impact = 1
[run]
until = 3
tolerance = 1e-11
[output]
samples = 2
)toml",
                           "event");
  EXPECT_GT(drawn.points.times.size(), 40U);
  const auto height = [](double t) {
    const double since = std::fmod(t + 0.5, 1.0);
    return 5 * since * (1 - since);
  };
  EXPECT_LT(miss(drawn, 0, height), 1.25 / 2000);
  for (const double t : drawn.points.times) EXPECT_GT(std::abs(t + 0.5 - std::round(t + 0.5)), 1e-9) << t;
}

// Of two hundred oscillations in the memory for four thousand points the miss grows, and the memory does not.
TEST(Curve, MemoryIsBoundedAndPicturesThatNeedMoreHaveNoPoints) {
  std::string text = kSine;
  text.erase(text.find("columns"));
  text.replace(text.find("until = 1"), 9, "until = 20");
  CurveOptions narrow;
  narrow.most_numbers = 2 * 4000;  // two columns
  const Drawn drawn = draw(text, "exact", narrow);
  EXPECT_GT(drawn.points.times.size(), 1000U);
  EXPECT_LE(drawn.points.times.size(), 4000U);
  const double off = miss(drawn, 0, [](double t) { return std::sin(20 * std::numbers::pi * t); });
  EXPECT_LT(off, 2.0 / 20);
  EXPECT_GT(off, 2.0 / 2000);
  narrow.most_numbers = 2 * 400;
  EXPECT_TRUE(draw(text, "exact", narrow).points.times.empty());
}

// What is not known between rows is no column of the points.
TEST(Curve, WorksAndModesHaveNoPoints) {
  const Drawn drawn = draw(R"toml([coordinates]
x = { velocity = 3 }
[energy]
kinetic = "x'^2/2"
potential = "200*x^2"
[[friction]]
name = "floor"
slip = "x'"
normal = "1"
law = 0.2
[run]
until = 1
[output]
samples = 3
columns = { lost = "dissipated(floor)", m = "mode(floor)", F = "tangent(floor)" }
)toml",
                           "event");
  EXPECT_EQ(drawn.points.columns, (std::vector<std::string>{"x", "x'", "F"}));
  EXPECT_FALSE(drawn.points.times.empty());
}

}  // namespace
}  // namespace judder::simulate
