// Decisions of the engine against a separate enumeration, and crossings hidden inside a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::NormalStatus;
using engines::TangentStatus;

// --- two contacts at rest under random loads ---
//
// Four coordinates at zero, two closed contacts with friction. Mass matrix, normals, slip directions and loads are all slow functions of time, so
// that every start time is another problem while the model is compiled once. At rest at q = 0 gaps and slips are zero at all times.

struct TwoContacts {
  std::array<double, 16> mass{};
  std::array<double, 4> load{};
  std::array<std::array<double, 4>, 2> normal{}, tangent{};
  std::array<double, 2> mu{0.3, 0.9};
};

/// One number of the problem: centre + amplitude · sin(frequency · t + phase), in C++ and as an expression.
class Wave {
 public:
  Wave(std::mt19937_64& random, double centre, double amplitude)
      : centre_(centre),
        amplitude_(amplitude),
        frequency_(std::uniform_real_distribution<double>(0.5, 5)(random)),
        phase_(std::uniform_real_distribution<double>(0, 6)(random)) {}
  [[nodiscard]] double at(double t) const { return centre_ + amplitude_ * std::sin(frequency_ * t + phase_); }
  [[nodiscard]] std::string text() const {
    return "(" + to_text(centre_) + " + " + to_text(amplitude_) + "*sin(" + to_text(frequency_) + "*t + " +
           to_text(phase_) + "))";
  }

 private:
  double centre_, amplitude_, frequency_, phase_;
};

class DecisionProblems {
 public:
  explicit DecisionProblems(std::uint64_t seed) : random_(seed), model_(make()) {}
  [[nodiscard]] const TestModel& model() const { return model_; }
  [[nodiscard]] TwoContacts at(double t) const {
    TwoContacts out;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) out.mass[i * 4 + j] = mass_[place(i, j)].at(t);
      out.load[i] = load_[i].at(t);
      for (std::size_t c = 0; c < 2; ++c) {
        out.normal[c][i] = rows_[8 * c + i].at(t);
        out.tangent[c][i] = rows_[8 * c + 4 + i].at(t);
      }
    }
    return out;
  }

 private:
  static std::size_t place(std::size_t i, std::size_t j) {
    return std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j);
  }

  TestModel make() {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) mass_.emplace_back(random_, i == j ? 2 : 0, i == j ? 0.6 : 0.4);
      load_.emplace_back(random_, 0, 3);
    }
    for (int i = 0; i < 16; ++i) rows_.emplace_back(random_, 0, 1);
    const std::string names[4] = {"a", "b", "c", "d"};
    std::string kinetic = "0";
    std::string text = "[coordinates]\na = 0\nb = 0\nc = 0\nd = 0\n";
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        kinetic +=
            " + " + mass_[place(i, j)].text() + (i == j ? "/2*" : "*") + names[i] + "'*" + names[j] + "'";
      }
    }
    text += "[energy]\nkinetic = \"" + kinetic + "\"\n";
    for (std::size_t i = 0; i < 4; ++i) {
      text += "[[force]]\nalong = \"" + names[i] + "'\"\nvalue = \"" + load_[i].text() + "\"\n";
    }
    for (std::size_t c = 0; c < 2; ++c) {
      std::string gap = "0";
      std::string slip = "0";
      for (std::size_t i = 0; i < 4; ++i) {
        gap += " + " + rows_[8 * c + i].text() + "*" + names[i];
        slip += " + " + rows_[8 * c + 4 + i].text() + "*" + names[i] + "'";
      }
      text += "[[contact]]\nname = \"c" + std::to_string(c) + "\"\ngap = \"" + gap + "\"\nslip = \"" + slip +
              "\"\nfriction = " + to_text(TwoContacts{}.mu[c]) + "\n";
    }
    return text_model(text + "[run]\nuntil = 1\n");
  }

  std::mt19937_64 random_;
  std::vector<Wave> mass_, load_, rows_;
  TestModel model_;
};

/// Gaussian elimination; false if nearly singular.
bool eliminate(std::vector<double> a, std::vector<double> b, std::vector<double>& x) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p; r < n; ++r) {
      if (std::abs(a[r * n + p]) > std::abs(a[best * n + p])) best = r;
    }
    if (std::abs(a[best * n + p]) < 1e-9) return false;
    for (std::size_t c = 0; c < n; ++c) std::swap(a[p * n + c], a[best * n + c]);
    std::swap(b[p], b[best]);
    for (std::size_t r = p + 1; r < n; ++r) {
      const double f = a[r * n + p] / a[p * n + p];
      for (std::size_t c = p; c < n; ++c) a[r * n + c] -= f * a[p * n + c];
      b[r] -= f * b[p];
    }
  }
  x.assign(n, 0);
  for (std::size_t p = n; p-- > 0;) {
    double sum = b[p];
    for (std::size_t c = p + 1; c < n; ++c) sum -= a[p * n + c] * x[c];
    x[p] = sum / a[p * n + p];
  }
  return true;
}

enum class Way { open, stick, plus, minus };

struct Answer {
  std::vector<std::array<Way, 2>> modes;
  bool close = false;  ///< some inequality is decided by less than a millionth: left out
};

/// All modes of the two contacts that satisfy the laws. Unknown: accelerations, λ_N and λ_T of each contact.
Answer enumerate(const TwoContacts& p) {
  Answer out;
  for (int code = 0; code < 16; ++code) {
    const std::array<Way, 2> way{static_cast<Way>(code % 4), static_cast<Way>(code / 4)};
    constexpr std::size_t kSize = 8;
    std::vector<double> a(kSize * kSize, 0);
    std::vector<double> b(kSize, 0);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) a[i * kSize + j] = p.mass[i * 4 + j];
      for (std::size_t c = 0; c < 2; ++c) {
        a[i * kSize + 4 + c] = -p.normal[c][i];
        a[i * kSize + 6 + c] = -p.tangent[c][i];
      }
      b[i] = p.load[i];
    }
    for (std::size_t c = 0; c < 2; ++c) {
      // Normal: λ = 0 or acceleration 0. Tangential: acceleration 0, or λ_T = ∓ μ λ_N.
      double* normal = &a[(4 + c) * kSize];
      double* tangent = &a[(6 + c) * kSize];
      if (way[c] == Way::open) {
        normal[4 + c] = 1;
        tangent[6 + c] = 1;
        continue;
      }
      for (std::size_t i = 0; i < 4; ++i) normal[i] = p.normal[c][i];
      if (way[c] == Way::stick) {
        for (std::size_t i = 0; i < 4; ++i) tangent[i] = p.tangent[c][i];
      } else {
        tangent[6 + c] = 1;
        tangent[4 + c] = way[c] == Way::plus ? p.mu[c] : -p.mu[c];
      }
    }
    std::vector<double> x;
    if (!eliminate(a, b, x)) {
      out.close = true;
      continue;
    }
    bool good = true;
    bool near = false;
    const auto ask = [&](double value) {
      good = good && value > 0;
      near = near || std::abs(value) < 1e-6;
    };
    for (std::size_t c = 0; c < 2; ++c) {
      double gap = 0;
      double slip = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        gap += p.normal[c][i] * x[i];
        slip += p.tangent[c][i] * x[i];
      }
      if (way[c] == Way::open) {
        ask(gap);
        continue;
      }
      ask(x[4 + c]);
      if (way[c] == Way::stick) ask(p.mu[c] * x[4 + c] - std::abs(x[6 + c]));
      if (way[c] == Way::plus) ask(slip);
      if (way[c] == Way::minus) ask(-slip);
    }
    out.close = out.close || near;
    if (good) out.modes.push_back(way);
  }
  return out;
}

TEST(EngineDecisions, AgreeWithAnEnumerationOfAllModes) {
  const std::uint64_t seed = 4711;
  const DecisionProblems problems(seed);
  const model::System& system = problems.model().system;
  engines::EventEngine engine(system);
  simulate::NullSink sink;
  engines::EngineOptions options = problems.model().options;
  std::mt19937_64 random(seed + 1);
  std::uniform_real_distribution<double> time(0, 1e4);
  std::array<long, 4> seen{};
  long judged = 0;
  long none = 0;
  long several = 0;
  for (int i = 0; i < count(100'000); ++i) {
    options.from = time(random);
    options.until = options.from;
    const Answer answer = enumerate(problems.at(options.from));
    if (answer.close) continue;
    ++judged;
    const engines::EngineResult result = engine.run(options, sink);
    const std::string place = "seed " + std::to_string(seed) + ", t = " + to_text(options.from);
    if (answer.modes.empty()) {
      ++none;
      ASSERT_EQ(result.status.reason, Reason::inconsistent) << place << ": " << result.status.message;
      continue;
    }
    if (answer.modes.size() > 1) {
      ++several;
      ASSERT_EQ(result.status.reason, Reason::indeterminate) << place << ": " << result.status.message;
      continue;
    }
    ASSERT_TRUE(result.status.ok()) << place << ": " << result.status.message;
    for (std::size_t c = 0; c < 2; ++c) {
      const Way way = answer.modes[0][c];
      ++seen[static_cast<std::size_t>(way)];
      const TangentStatus expected = way == Way::open    ? TangentStatus::free
                                     : way == Way::stick ? TangentStatus::stick
                                     : way == Way::plus  ? TangentStatus::slip_plus
                                                         : TangentStatus::slip_minus;
      ASSERT_EQ(result.end.mode.normal[c], way == Way::open ? NormalStatus::open : NormalStatus::closed)
          << place << ", contact " << c;
      ASSERT_EQ(result.end.mode.tangent[c], expected) << place << ", contact " << c;
    }
  }
  EXPECT_GT(judged, count(100'000) * 9 / 10);
  for (const long k : seen) EXPECT_GT(k, judged / 50) << "every status occurs";
  EXPECT_GT(none + several, 0) << "Painlevé's paradoxes occur among them";
}

// m = 1, N = 1, static 0.3, dynamic 0.2 (docs/theory.md, "Deciding the mode", 1): rest is kept whenever the static coefficient allows it.
TEST(EngineDecisions, RestIsKeptWhereBothWouldDo) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = "t"
[[friction]]
name   = "pad"
slip   = "x'"
normal = "1"
law    = { static = 0.3, dynamic = 0.2 }
[run]
until = 1
)toml");
  engines::EventEngine engine(model.system);
  simulate::NullSink sink;
  engines::EngineOptions options = model.options;
  for (double pull = -0.5; pull < 0.5; pull += 0.0099) {
    options.from = options.until = pull;
    const engines::EngineResult result = engine.run(options, sink);
    ASSERT_TRUE(result.status.ok());
    EXPECT_EQ(result.end.mode.tangent[0], std::abs(pull) <= 0.3 ? TangentStatus::stick
                                          : pull > 0            ? TangentStatus::slip_plus
                                                                : TangentStatus::slip_minus)
        << pull;
  }
}

// --- dips that lie inside one step ---
//
// f = 1 − cos(2π t) − d(t) falls below zero for a short time around every whole t: as deep as d, which lies between 100 and 300 times the tolerance
// times the scale of f. The two zeros are about 1e-4 of a period apart, steps are thousands of times longer.

constexpr double kDepth = 2e-7;  // 100 · 1e-9 · 2

// The same as a gap: a light body, pulled back to zero before the next dip, is touched by the floor in every one.
TEST(EngineDecisions, NoDipOfAGapIsMissed) {
  const int dips = count(20'000);
  TestModel model = text_model(R"toml(
[coordinates]
x = 0
[energy]
kinetic     = "x'^2/2"
potential   = "400*x^2"
dissipation = "20*x'^2"
[[contact]]
name = "floor"
gap  = "x + 1 - cos(2*pi*t) - 2e-7*(2 + sin(1.234*t))"
[run]
from = 0.5
until = 1
)toml");
  model.options.until = dips + 0.5;
  model.options.samples = 2;
  model.options.event_rows = false;
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  const std::vector<double> impacts = event_times(model.system, result.data.events, "impact floor");
  ASSERT_EQ(impacts.size(), static_cast<std::size_t>(dips));
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    const double whole = static_cast<double>(k + 1);
    const double half = std::acos(1 - kDepth * (2 + std::sin(1.234 * whole))) / (2 * std::numbers::pi);
    ASSERT_NEAR(impacts[k], whole - half, 0.01 * half) << k;
  }
}

// A switch crossed twice within a step changes the motion in between.
TEST(EngineDecisions, NoDipOfASwitchIsMissed) {
  const int dips = count(20'000);
  TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[state]
inside = { start = 0, rate = "step(2e-7 - 1 + cos(2*pi*x))" }
[energy]
kinetic = "x'^2/2"
[run]
until = 1
)toml",
                               {{"x", 0.5}});
  model.options.until = dips;
  model.options.samples = 2;
  model.options.event_rows = false;
  const simulate::Result result = run(model);
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_EQ(result.data.events.size(), 2u * static_cast<std::size_t>(dips));
  const double width = 2 * std::acos(1 - 2e-7) / (2 * std::numbers::pi);
  EXPECT_NEAR(last(result, "inside"), dips * width, 1e-3 * dips * width);
}

// Dips that stay above zero are no events, however near they come.
TEST(EngineDecisions, ANearMissIsNoCrossing) {
  TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 1 }
[energy]
kinetic = "x'^2/2"
[[watch]]
name = "dip"
zero = "1 - cos(2*pi*t) + 2e-7"
[run]
from  = 0.5
until = 200
)toml");
  EXPECT_EQ(run_to_end(model).events, 0);
}

}  // namespace
}  // namespace judder
