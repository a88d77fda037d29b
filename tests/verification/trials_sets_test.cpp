// Sets of any size: contacts and switches beyond 64, decisions by blocks, large coupled blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::EventKind;

/// Balls over a floor, which they strike with restitution 0.5; `start` is the height of ball i.
TestModel balls(int n, const std::string& start, double until) {
  TestModel model = text_model(R"toml(
[parameters]
n = )toml" + std::to_string(n) +
                               R"toml(
g = 9.81
[coordinates]
x = { each = "i = 1 to n", start = ")toml" +
                               start + R"toml(" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2/2)"
potential = "sum(i = 1 to n, g*x[i])"
[[contact]]
name = "floor"
each = "i = 1 to n"
gap = "x[i]"
impact = 0.5
[run]
until = 2
[output]
samples = 5
)toml");
  model.options.until = until;
  return model;
}

/// When a ball from height `h` with restitution 0.5 has come to rest.
double rest(double h) { return 3 * std::sqrt(2 * h / 9.81); }

TEST(Sets, ABallThatComesToRestMovesNoOther) {
  for (const int n : {1, 2, 64, 65, 66, 130}) {
    const TestModel model = balls(n, "if(i == 1, 1, 1000 + i)", 2);
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    const std::vector<double> ends = event_times(model.system, result.data.events, "accumulation floor[1]");
    ASSERT_EQ(ends.size(), 1u) << n;
    EXPECT_NEAR(ends[0], rest(1), 1e-8) << n;
    for (const engines::Event& event : result.data.events) {
      EXPECT_EQ(event.place, 0) << n << " balls, at " << event.time;
      if (event.kind == EventKind::accumulation) {
        EXPECT_EQ(event.numbers[0], 16) << "impacts of ball 1";
      }
    }
    EXPECT_EQ(result.end.end.y[0], 0) << n;
    for (int i = 2; i <= n; ++i)
      EXPECT_NEAR(result.end.end.y[i - 1], 1000 + i - 9.81 * 2, 1e-9 * 1000) << "ball " << i << " of " << n;
  }
}

// Two patterns at once, whose numbers are equal modulo 64; and all balls together.
TEST(Sets, PatternsOfSeveralBlocksEndEachByItself) {
  const TestModel pair = balls(66, "if(i == 1, 1, if(i == 65, 1.07, 1000 + i))", 2);
  const simulate::Result both = run(pair);
  ASSERT_TRUE(both.end.status.ok()) << both.end.status.message;
  for (const auto& [ball, height] : {std::pair(1, 1.0), std::pair(65, 1.07)}) {
    const std::vector<double> ends =
        event_times(pair.system, both.data.events, "accumulation floor[" + std::to_string(ball) + "]");
    ASSERT_EQ(ends.size(), 1u) << ball;
    EXPECT_NEAR(ends[0], rest(height), 1e-8);
    EXPECT_EQ(both.end.end.y[ball - 1], 0);
    EXPECT_EQ(both.end.end.mode.normal[ball - 1], engines::NormalStatus::closed);
  }
  EXPECT_NEAR(both.end.end.y[1], 1002 - 19.62, 1e-6);

  const TestModel all = balls(70, "1 + 0.01*i", 2.5);
  const simulate::Result result = run(all);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  for (int i = 1; i <= 70; ++i) {
    const std::vector<double> ends =
        event_times(all.system, result.data.events, "accumulation floor[" + std::to_string(i) + "]");
    ASSERT_EQ(ends.size(), 1u) << i;
    EXPECT_NEAR(ends[0], rest(1 + 0.01 * i), 1e-8) << i;
    EXPECT_EQ(result.end.end.y[i - 1], 0) << i;
  }
}

// Tails that overlap are listed each at its own end; equal balls end together.
TEST(Sets, TailsThatOverlapEndEachAtItsTime) {
  for (const double higher : {0.0, 1e-9, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 1e-3}) {
    const TestModel model = balls(2, "1 + (i - 1)*" + to_text(higher), 2);
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << higher << ": " << result.end.status.message;
    for (int i = 0; i < 2; ++i) {
      const std::vector<double> ends =
          event_times(model.system, result.data.events, "accumulation floor[" + std::to_string(i + 1) + "]");
      ASSERT_EQ(ends.size(), 1u) << higher;
      EXPECT_NEAR(ends[0], rest(1 + i * higher), 1e-8) << "ball " << i + 1 << " higher by " << higher;
      EXPECT_EQ(result.end.end.y[i], 0) << higher;
    }
  }
}

// Stopped in the middle of two patterns and in a tail: the rest has the same events and, to the tolerance, the same end.
TEST(Sets, PatternsAreSavedWithTheRun) {
  const TestModel model = balls(66, "if(i == 1, 1, if(i == 65, 1.07, 1000 + i))", 2);
  const engines::EngineResult whole = run_to_end(model);
  ASSERT_TRUE(whole.status.ok());
  for (const double cut : {1.0, 1.3, 1.354, 1.3545, 1.354560, 1.4}) {
    TestModel half = balls(66, "if(i == 1, 1, if(i == 65, 1.07, 1000 + i))", cut);
    simulate::NullSink sink;
    const engines::EngineResult first = simulate::run(half.system, "event", half.options, sink);
    ASSERT_TRUE(first.status.ok());
    const engines::EngineResult rest_of =
        simulate::run(half.system, "event", model.options, sink, &first.end);
    ASSERT_TRUE(rest_of.status.ok());
    EXPECT_EQ(rest_of.events, whole.events) << "cut at " << cut;
    for (int i = 0; i < 66; ++i)
      EXPECT_NEAR(rest_of.end.y[i], whole.end.y[i], 1e-8) << i << ", cut at " << cut;
  }
}

// The relay that spirals into a point, its switches with numbers 70 and 71.
TEST(Sets, SwitchingsBeyondSixtyFourAccumulate) {
  const TestModel model = text_model(R"toml(
[parameters]
n = 70
[state]
z = { each = "i = 1 to n", start = 0, rate = "-0.1*i*sign(z[i] - 100)" }
x1 = { start = 3, rate = "-sign(x1) + 26*sign(x2)" }
x2 = { start = 3, rate = "-26*sign(x1) - sign(x2)" }
[run]
until = 4
)toml");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  int accumulations = 0;
  for (const engines::Event& event : result.data.events) {
    if (event.kind != EventKind::accumulation) continue;
    ++accumulations;
    EXPECT_NEAR(event.time + event.numbers[1], 3, 1e-8);
  }
  EXPECT_EQ(accumulations, 2);
  EXPECT_NEAR(result.end.end.y[70], 0, 1e-12);
  EXPECT_NEAR(result.end.end.y[71], 0, 1e-12);
  for (int i = 1; i <= 70; ++i) EXPECT_NEAR(result.end.end.y[i - 1], 0.1 * i * 4, 1e-9);
}

// Block i slips at t = 1/(1 + 0.1 i) and has gone ∫∫ (f t − 1) since.
TEST(Sets, UncoupledJointsSlipEachAtItsTime) {
  for (const int n : {7, 8, 10, 65, 200}) {
    const TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2/2)"
[[force]]
each  = "i = 1 to n"
along = "x[i]'"
value = "t*(1 + 0.1*i)"
[[friction]]
name   = "f"
each   = "i = 1 to n"
slip   = "x[i]'"
normal = 1
law    = 1
[run]
until = 2
[output]
samples = 3
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    EXPECT_FALSE(result.end.uniqueness_unchecked) << "each block has three modes";
    EXPECT_EQ(result.data.events.size(), static_cast<std::size_t>(n));
    for (int i = 1; i <= n; ++i) {
      const double rate = 1 + 0.1 * i;
      const std::vector<double> slips =
          event_times(model.system, result.data.events, "slip f[" + std::to_string(i) + "]");
      ASSERT_EQ(slips.size(), 1u) << i << " of " << n;
      EXPECT_NEAR(slips[0], 1 / rate, 1e-9) << i << " of " << n;
      const double s = 2 - 1 / rate;
      EXPECT_NEAR(result.end.end.y[i - 1], rate * s * s * s / 6, 1e-7) << i << " of " << n;
    }
  }
}

// Contacts with friction on bodies of their own: block i slips at 5/(1 + 0.1 i).
TEST(Sets, UncoupledContactsSlipEachAtItsTime) {
  for (const int n : {6, 7, 9, 66}) {
    const TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n" }
y = { each = "i = 1 to n" }
[energy]
kinetic = "sum(i = 1 to n, (x[i]'^2 + y[i]'^2)/2)"
potential = "sum(i = 1 to n, 10*y[i])"
[[force]]
each  = "i = 1 to n"
along = "x[i]'"
value = "t*(1 + 0.1*i)"
[[contact]]
name = "floor"
each = "i = 1 to n"
gap  = "y[i]"
slip = "x[i]'"
friction = 0.5
[run]
until = 5
[output]
samples = 3
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    EXPECT_FALSE(result.end.uniqueness_unchecked);
    for (int i = 1; i <= n; ++i) {
      const std::vector<double> slips =
          event_times(model.system, result.data.events, "slip floor[" + std::to_string(i) + "]");
      ASSERT_EQ(slips.size(), 1u) << i << " of " << n;
      EXPECT_NEAR(slips[0], 5 / (1 + 0.1 * i), 1e-8) << i << " of " << n;
    }
  }
}

// Many feet under one body: 2ⁿ 3ⁿ modes and reactions that are not unique; statics holds it until the push is mu m g.
TEST(Sets, ABlockOnManyFeetRestsUntilStaticsLetsGo) {
  for (const int n : {5, 7, 9}) {
    const TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = {}
y = {}
phi = {}
[energy]
kinetic = "(x'^2 + y'^2 + phi'^2)/2"
potential = "10*y"
[[force]]
along = "x'"
value = "t"
[[contact]]
name = "foot"
each = "i = 1 to n"
gap  = "y + (i - (n + 1)/2)*phi"
slip = "x'"
friction = 0.5
[run]
until = 6
[output]
samples = 3
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    ASSERT_FALSE(result.data.events.empty()) << n;
    EXPECT_EQ(result.data.events.front().kind, EventKind::slip);
    EXPECT_NEAR(result.data.events.front().time, 5, 1e-8) << n;
    EXPECT_NEAR(result.end.end.y[0], 1.0 / 6, 1e-7) << n;
    EXPECT_NEAR(result.end.end.y[1], 0, 1e-12) << n;
  }
}

// The reactions of largest margin of a body do not depend on bodies that it is not connected with.
TEST(Sets, RedundantReactionsAreSharedBlockByBlock) {
  std::vector<double> alone;
  for (const int n : {1, 2, 3}) {
    const TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n" }
y = { each = "i = 1 to n" }
phi = { each = "i = 1 to n" }
[energy]
kinetic = "sum(i = 1 to n, (x[i]'^2 + y[i]'^2 + phi[i]'^2)/2)"
potential = "sum(i = 1 to n, 10*y[i] + 3*phi[i])"
[[force]]
each = "i = 1 to n"
along = "x[i]'"
value = "t*i"
[[contact]]
name = "left"
each = "i = 1 to n"
gap  = "y[i] - phi[i]"
slip = "x[i]'"
friction = 0.5
[[contact]]
name = "right"
each = "i = 1 to n"
gap  = "y[i] + phi[i]"
slip = "x[i]'"
friction = 0.5
[run]
until = 6
[output]
samples = 7
columns = { left = "tangent(left[1])", right = "tangent(right[1])" }
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    for (int i = 1; i <= n; ++i) {
      for (const char* foot : {"slip left[", "slip right["}) {
        const std::vector<double> slips =
            event_times(model.system, result.data.events, foot + std::to_string(i) + "]");
        ASSERT_EQ(slips.size(), 1u);
        EXPECT_NEAR(slips[0], 5.0 / i, 1e-9) << i << " of " << n;
      }
    }
    std::vector<double> shares;
    for (std::size_t row = 0; row < result.data.rows(); ++row) {
      if (result.data.kinds[row] != engines::RowKind::sample) continue;
      for (const char* column : {"left", "right"})
        shares.push_back(result.data.cell(row, static_cast<std::size_t>(result.data.column(column))));
    }
    if (n == 1) alone = shares;
    ASSERT_EQ(shares.size(), alone.size()) << n;
    for (std::size_t k = 0; k < shares.size(); ++k)
      EXPECT_NEAR(shares[k], alone[k], 1e-9) << k << ", n = " << n;
  }
}

// --- chains, against time stepping ---

/// A joint between masses: slip v[to] − v[from] (from −1: the ground), bound mu N.
struct Joint {
  int from, to;
  double bound;
};

/// Moreau's scheme in its plain form for unit masses: positions at half steps, impulses of all joints by coordinate descent. Error of order h.
std::vector<double> moreau(
    std::vector<double> q, std::vector<double> v, const std::vector<Joint>& joints,
    const std::function<void(double, const std::vector<double>&, std::vector<double>&)>& force, double until,
    int steps) {
  const double h = until / steps;
  std::vector<double> f(q.size());
  std::vector<double> impulse(joints.size(), 0.0);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += h / 2 * v[i];
    force((step + 0.5) * h, q, f);
    for (std::size_t i = 0; i < q.size(); ++i) v[i] += h * f[i];
    for (std::size_t j = 0; j < joints.size(); ++j) {
      v[joints[j].to] += impulse[j];
      if (joints[j].from >= 0) v[joints[j].from] -= impulse[j];
    }
    for (int sweep = 0; sweep < 10'000; ++sweep) {
      double moved = 0;
      for (std::size_t j = 0; j < joints.size(); ++j) {
        const Joint& joint = joints[j];
        const double inverse = joint.from >= 0 ? 2 : 1;
        const double slip = v[joint.to] - (joint.from >= 0 ? v[joint.from] : 0);
        const double next = std::clamp(impulse[j] - slip / inverse, -h * joint.bound, h * joint.bound);
        const double change = next - impulse[j];
        impulse[j] = next;
        v[joint.to] += change;
        if (joint.from >= 0) v[joint.from] -= change;
        moved = std::max(moved, std::abs(change));
      }
      if (moved < 1e-9 * h) break;
    }
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += h / 2 * v[i];
  }
  return q;
}

TEST(Sets, ChainsOfGroundedMassesFollowTimeStepping) {
  for (const int n : {8, 9, 20, 70}) {
    const TestModel model = text_model("[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n", start = "i", velocity = "if(i < 2, 1, 0)" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2/2)"
potential = "sum(i = 1 to n - 1, 50*(x[i+1] - x[i] - 1)^2)"
[[friction]]
name = "f"
each = "i = 1 to n"
slip = "x[i]'"
normal = 1
law = 0.1
[run]
until = 1
[output]
samples = 3
)toml");
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    EXPECT_FALSE(result.end.uniqueness_unchecked);
    std::vector<double> q(n);
    std::vector<double> v(n, 0.0);
    std::vector<Joint> joints;
    v[0] = 1;
    for (int i = 0; i < n; ++i) {
      q[i] = i + 1;
      joints.push_back({-1, i, 0.1});
    }
    q = moreau(
        q, v, joints,
        [n](double, const std::vector<double>& x, std::vector<double>& f) {
          std::fill(f.begin(), f.end(), 0.0);
          for (int i = 0; i + 1 < n; ++i) {
            const double pull = 100 * (x[i + 1] - x[i] - 1);
            f[i] += pull;
            f[i + 1] -= pull;
          }
        },
        1, 100'000);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(result.end.end.y[i], q[i], 2e-5) << i << " of " << n;
  }
}

/// Friction between neighbours, one block of n − 1 rows, pulled at its first mass.
std::string linked_chain(int n, const std::string& law, const std::string& force) {
  return "[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n", start = "i" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2/2)"
potential = "sum(i = 1 to n - 1, 5*(x[i+1] - x[i] - 1)^2)"
[[force]]
each = "i = 1 to n"
along = "x[i]'"
value = ")toml" +
         force + R"toml("
[[friction]]
name = "f"
each = "i = 1 to n - 1"
slip = "x[i+1]' - x[i]'"
normal = "1 + i/8"
law = )toml" +
         law + R"toml(
[run]
until = 3
[output]
samples = 3
)toml";
}

TEST(Sets, CoupledChainsFollowTimeStepping) {
  for (const int n : {6, 9, 10, 16, 30}) {
    const TestModel model = text_model(linked_chain(n, "0.3", "if(i == 1, 3*sin(2*t), 0)"));
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    EXPECT_FALSE(result.end.uniqueness_unchecked) << "a convex problem has one motion";
    std::vector<double> q(n);
    std::vector<Joint> joints;
    for (int i = 0; i < n; ++i) q[i] = i + 1;
    for (int i = 0; i + 1 < n; ++i) joints.push_back({i, i + 1, 0.3 * (1 + (i + 1) / 8.0)});
    q = moreau(
        q, std::vector<double>(n, 0.0), joints,
        [n](double t, const std::vector<double>& x, std::vector<double>& f) {
          std::fill(f.begin(), f.end(), 0.0);
          f[0] = 3 * std::sin(2 * t);
          for (int i = 0; i + 1 < n; ++i) {
            const double pull = 10 * (x[i + 1] - x[i] - 1);
            f[i] += pull;
            f[i + 1] -= pull;
          }
        },
        3, 30'000);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(result.end.end.y[i], q[i], 1e-3) << i << " of " << n;
  }
}

// At the start every joint is on its cone, and the loads begin to change: the first derivative tells which ones slip.
TEST(Sets, ManyTiesAtOnceAreDecidedByTheNextDerivative) {
  for (const int n : {5, 10, 14, 24}) {
    const TestModel model =
        text_model(linked_chain(n, "1", "if(i == 1, -9/8, if(i == n, 1 + (n - 1)/8, -1/8)) + t*sin(3*i)"));
    const simulate::Result result = run(model);
    ASSERT_TRUE(result.end.status.ok()) << n << ": " << result.end.status.message;
    std::vector<double> q(n);
    std::vector<Joint> joints;
    for (int i = 0; i < n; ++i) q[i] = i + 1;
    for (int i = 0; i + 1 < n; ++i) joints.push_back({i, i + 1, 1 + (i + 1) / 8.0});
    q = moreau(
        q, std::vector<double>(n, 0.0), joints,
        [n](double t, const std::vector<double>& x, std::vector<double>& f) {
          for (int i = 0; i < n; ++i) {
            f[i] = (i == 0       ? -9.0 / 8
                    : i == n - 1 ? 1 + (n - 1) / 8.0
                                 : -1.0 / 8) +
                   t * std::sin(3.0 * (i + 1));
          }
          for (int i = 0; i + 1 < n; ++i) {
            const double pull = 10 * (x[i + 1] - x[i] - 1);
            f[i] += pull;
            f[i + 1] -= pull;
          }
        },
        3, 30'000);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(result.end.end.y[i], q[i], 3e-3) << i << " of " << n;
  }
}

// A hundred blocks on their cones at the start: those whose pull grows slip at once, the others stay, in any order.
TEST(Sets, TiesOfUncoupledBlocksAreDecidedEachByItself) {
  const TestModel model = text_model(R"toml(
[parameters]
n = 100
[coordinates]
x = { each = "i = 1 to n" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2/2)"
[[force]]
each  = "i = 1 to n"
along = "x[i]'"
value = "1 + if(mod(i, 3) < 1, -t, t^(1 + mod(i, 3)))"
[[friction]]
name   = "f"
each   = "i = 1 to n"
slip   = "x[i]'"
normal = 1
law    = 1
[run]
until = 1
[output]
samples = 3
)toml");
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  for (int i = 1; i <= 100; ++i) {
    const double expected = i % 3 == 0 ? 0 : i % 3 == 1 ? 1.0 / 12 : 1.0 / 20;
    EXPECT_NEAR(result.end.end.y[i - 1], expected, 1e-8) << i;
  }
}

// Static above dynamic coefficient in a block with 3¹¹ modes: rest until the static bound, then the smaller friction, and no joint ever refused.
TEST(Sets, StaticCoefficientsInLargeBlocksKeepRestAsLongAsPossible) {
  const TestModel model = text_model(
      linked_chain(12, "{ type = \"coulomb\", dynamic = 0.2, static = 0.3 }", "if(i == 1, -t, 0)"));
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  // Everything moves together with −t/12 until the first joint, which carries 11/12 of the pull, has its 0.3 · 9/8.
  ASSERT_FALSE(result.data.events.empty());
  EXPECT_EQ(event_words(model.system, result.data.events).front(), "slip f[1]");
  EXPECT_NEAR(result.data.events.front().time, 0.3 * 9 / 8 * 12 / 11, 1e-9);
}

}  // namespace
}  // namespace judder
