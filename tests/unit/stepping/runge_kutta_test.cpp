// Zabuga's scheme and the ordinary one on the oscillator with dry friction that he compares them on (4.4): mean squares of the errors at 250 steps.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "step_support.hpp"

namespace judder {
namespace {

struct Squares {
  double place = 0, velocity = 0;
};

/// The states at the ends of all steps.
struct StepEnds final : engines::Sink {
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override {}
  void event(const engines::Event&, std::span<const double>) override {}
  bool wants_state() override { return true; }
  void state(const engines::EngineResult& so_far) override {
    times.push_back(so_far.end.time);
    states.push_back({so_far.end.y[0], so_far.end.y[1]});
  }
  std::vector<double> times;
  std::vector<std::array<double, 2>> states;
};

/// Δx = 1/L Σ (x(t_n) − x_n)² over the ends of all L steps; the exact motion by the exact engine.
Squares mean_squares(long L, const std::string& engine, const std::vector<StepOption>& own) {
  const TestModel model = gallery_model("zabuga-oscillator");
  engines::EngineOptions options = model.options;
  options.step = options.until / static_cast<double>(L);
  for (const StepOption& option : own)
    options.own.push_back({engine, option.key, option.number, option.text});
  StepEnds ends;
  const engines::EngineResult run = simulate::run(model.system, engine, options, ends);
  EXPECT_TRUE(run.status.ok()) << run.status.message;
  engines::EngineOptions exact_options = model.options;
  exact_options.event_rows = false;
  exact_options.samples = 2;
  exact_options.instants = ends.times;
  const simulate::Result exact = simulate::simulate(model.system, exact_options, "exact");
  Squares out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < ends.times.size(); ++i) {
    while (exact.data.cell(at, 0) < ends.times[i]) ++at;
    EXPECT_EQ(exact.data.cell(at, 0), ends.times[i]);
    out.place += std::pow(exact.data.cell(at, 1) - ends.states[i][0], 2);
    out.velocity += std::pow(exact.data.cell(at, 2) - ends.states[i][1], 2);
  }
  out.place /= static_cast<double>(L);
  out.velocity /= static_cast<double>(L);
  return out;
}

TEST(Zabuga, HasTheMeanSquaresOfItsVariants) {
  struct Case {
    const char* what;
    const char* engine;
    std::vector<StepOption> own;
    double place, velocity;
  };
  const std::vector<Case> cases{{"ordinary", "rk4", {{"stop", 0, "test"}}, 1.904e-3, 2.925e-3},
                                {"ordinary without stop", "rk4", {{"stop", 0, "none"}}, 2.385e-2, 2.792e-2},
                                {"no cut", "rk4-zabuga", {{"cut", 0, "none"}}, 4.508e-1, 5.650e-1},
                                {"literal", "rk4-zabuga", {}, 4.560e-4, 6.850e-4},
                                {"two chords", "rk4-zabuga", {{"chords", 2, ""}}, 7.209e-5, 1.068e-4},
                                {"two chords, located",
                                 "rk4-zabuga",
                                 {{"chords", 2, ""}, {"breakaway", 0, "located"}},
                                 1.145e-7,
                                 1.645e-7},
                                {"kept", "rk4-zabuga", {{"slip", 0, "kept"}}, 7.442e-5, 1.105e-4}};
  for (const Case& each : cases) {
    const Squares found = mean_squares(250, each.engine, each.own);
    EXPECT_NEAR(found.place, each.place, 1e-3 * each.place) << each.what;
    EXPECT_NEAR(found.velocity, each.velocity, 1e-3 * each.velocity) << each.what;
  }
}

// Hops that accumulate are more than this scheme can take: it says so where they do.
TEST(Zabuga, EndsWhereImpactsAccumulate) {
  const TestModel ball = text_model(R"toml(
[coordinates]
h = 1
[energy]
kinetic = "h'^2/2"
potential = "9.81*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.5
[run]
until = 3
)toml");
  const simulate::Result run = step_to(ball, "rk4-zabuga", 1e-3, 3);
  EXPECT_EQ(run.end.status.reason, Reason::step_too_small);
  EXPECT_NEAR(run.end.status.time, 3 * std::sqrt(2 / 9.81), 0.01);
  EXPECT_NE(run.end.status.message.find("accumulate"), std::string::npos);
}

}  // namespace
}  // namespace judder
