// The same mechanics written or run in another way gives the same motion (docs/theory.md, "What must not matter").
//
// Non-smooth motions can be sensitive, so runs are compared up to the horizon where runs at the tolerance and at a tenth of it still agree to 1e-6.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "random_system.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

constexpr long kSamples = 81;

struct Motion {
  simulate::Result result;
  std::vector<std::vector<double>> rows;  ///< q, v at the samples, in the order q0 …, in the original units
};

Motion motion(const RandomSystem& s, const Writing& writing, double tolerance = 1e-9) {
  TestModel model = spec_model(s.spec(writing));
  model.options.samples = kSamples;
  model.options.event_rows = false;
  model.options.tolerance = tolerance;
  Motion out{run(model), {}};
  for (std::size_t r = 0; r < out.result.data.rows(); ++r) {
    std::vector<double> row;
    for (const char* prime : {"", "'"}) {
      for (int i = 0; i < s.n; ++i) {
        const int c = out.result.data.column("q" + std::to_string(i) + prime);
        const double unit = *prime == '\0' ? writing.length : writing.length / writing.time;
        const double value = out.result.data.cell(r, static_cast<std::size_t>(c)) / unit;
        row.push_back(std::abs(value) < 1e-290
                          ? 0
                          : value);  // numbers that small lose bits in one unit and not in another
      }
    }
    out.rows.push_back(row);
  }
  return out;
}

std::vector<double> scales(const Motion& m) {
  std::vector<double> out(m.rows[0].size(), 0);
  for (const std::vector<double>& row : m.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], std::abs(row[i]));
  }
  return out;
}

/// Largest difference of two rows relative to the scales.
double distance(const std::vector<double>& a, const std::vector<double>& b,
                const std::vector<double>& scale) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (scale[i] > 0) out = std::max(out, std::abs(a[i] - b[i]) / scale[i]);
  }
  return out;
}

struct Reference {
  RandomSystem system;
  Motion base;
  std::vector<double> scale;
  std::vector<double> error;  ///< by row: distance to the run at a tenth of the tolerance
  std::size_t horizon = 0;    ///< rows before it are comparable
};

Reference reference(std::uint64_t seed) {
  RandomSystem system = random_system(seed);
  Motion base = motion(system, {});
  Reference out{std::move(system), std::move(base), {}, {}, 0};
  const Motion fine = motion(out.system, {}, 1e-10);
  out.scale = scales(out.base);
  const std::size_t rows = std::min(out.base.rows.size(), fine.rows.size());
  double worst = 0;
  while (out.horizon < rows) {
    worst = std::max(worst, distance(out.base.rows[out.horizon], fine.rows[out.horizon], out.scale));
    if (worst > 1e-6) break;
    out.error.push_back(worst);
    ++out.horizon;
  }
  return out;
}

/// Another writing agrees to ten times the tolerance, or to what the tolerance itself is seen to do to this motion.
void expect_same(const Reference& r, const Motion& other, const std::string& what) {
  ASSERT_GE(other.rows.size(), r.horizon) << what << ": " << other.result.end.status.message;
  for (std::size_t k = 0; k < r.horizon; ++k) {
    ASSERT_LE(distance(r.base.rows[k], other.rows[k], r.scale), std::max(1e-8, 20 * r.error[k]))
        << what << ", sample " << k;
  }
}

TEST(EngineInvariance, NeitherOrderNorUnitsChangeTheMotion) {
  const int systems = count(2000);
  int long_enough = 0;
  for (int i = 1; i <= systems; ++i) {
    const auto seed = static_cast<std::uint64_t>(i + 100'000);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Reference r = reference(seed);
    const double time = r.base.rows.empty()
                            ? 0
                            : r.system.until * static_cast<double>(r.horizon) / static_cast<double>(kSamples);
    const auto events = std::count_if(r.base.result.data.events.begin(), r.base.result.data.events.end(),
                                      [&](const engines::Event& e) { return e.time < time; });
    if (r.horizon == r.base.rows.size() || events >= 10) ++long_enough;

    Writing permuted;
    permuted.coordinates.resize(static_cast<std::size_t>(r.system.n));
    std::iota(permuted.coordinates.begin(), permuted.coordinates.end(), 0);
    permuted.contacts.resize(r.system.contacts.size());
    std::iota(permuted.contacts.begin(), permuted.contacts.end(), 0);
    std::mt19937_64 random(seed);
    std::shuffle(permuted.coordinates.begin(), permuted.coordinates.end(), random);
    std::reverse(permuted.contacts.begin(), permuted.contacts.end());
    expect_same(r, motion(r.system, permuted), "permuted");

    Writing millimetres;
    millimetres.length = 1e3;
    expect_same(r, motion(r.system, millimetres), "lengths in millimetres");
    Writing tonnes;
    tonnes.mass = 1e-3;
    tonnes.time = 1e3;
    expect_same(r, motion(r.system, tonnes), "tonnes and milliseconds");
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GE(long_enough, systems * 95 / 100)
      << "the horizon holds ten events or the whole run in 95 % of the systems";
}

TEST(EngineInvariance, UnitsByPowersOfTwoGiveTheSameBits) {
  for (int i = 1; i <= count(2000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i + 200'000);
    const RandomSystem s = random_system(seed);
    const Motion base = motion(s, {});
    for (const Writing& writing : {Writing{.length = 1024}, Writing{.mass = 1.0 / 64}, Writing{.time = 4},
                                   Writing{.length = 0.5, .mass = 8, .time = 0.25}}) {
      const Motion other = motion(s, writing);
      ASSERT_EQ(other.rows, base.rows) << "seed " << seed << ", length " << writing.length << ", mass "
                                       << writing.mass << ", time " << writing.time;
      ASSERT_EQ(other.result.data.events.size(), base.result.data.events.size()) << "seed " << seed;
      for (std::size_t e = 0; e < base.result.data.events.size(); ++e) {
        ASSERT_EQ(other.result.data.events[e].time, base.result.data.events[e].time * writing.time)
            << "seed " << seed;
        ASSERT_EQ(other.result.data.events[e].kind, base.result.data.events[e].kind) << "seed " << seed;
        ASSERT_EQ(other.result.data.events[e].mode, base.result.data.events[e].mode) << "seed " << seed;
      }
    }
  }
}

TEST(EngineInvariance, RepeatedRunsGiveTheSameBits) {
  for (int i = 1; i <= count(2000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i + 300'000);
    const TestModel model = spec_model(random_system(seed).spec());
    engines::EventEngine engine(model.system);
    simulate::MemorySink first(model.system);
    simulate::MemorySink second(model.system);
    const engines::EngineResult a = engine.run(model.options, first);
    const engines::EngineResult b = engine.run(model.options, second);
    const simulate::Result fresh = run(model);
    ASSERT_EQ(first.cells, second.cells) << "seed " << seed;
    ASSERT_EQ(first.cells, fresh.data.cells) << "seed " << seed;
    ASSERT_EQ(a.end.y, b.end.y) << "seed " << seed;
    ASSERT_EQ(a.steps, b.steps) << "seed " << seed;
    ASSERT_EQ(a.evaluations, b.evaluations) << "seed " << seed;
  }
}

/// Sets the flag after so many steps.
class Stopper : public simulate::MemorySink {
 public:
  Stopper(const model::System& system, long steps) : MemorySink(system), left_(steps) {}
  void progress(double) override {
    if (--left_ == 0) stop = true;
  }
  std::atomic<bool> stop{false};

 private:
  long left_;
};

// Stopped at the end of a step and resumed: as if nothing had happened, to the last bit, wherever the stop is.
void expect_resumes(const TestModel& model, const std::string& what, int cuts) {
  const simulate::Result whole = run(model);
  std::mt19937_64 random(99);
  for (int k = 0; k < cuts; ++k) {
    const long steps = std::uniform_int_distribution<long>(1, std::max(1L, whole.end.steps - 1))(random);
    Stopper first(model.system, steps);
    engines::EngineOptions options = model.options;
    options.cancel = &first.stop;
    const engines::EngineResult half = simulate::run(model.system, "event", options, first);
    if (half.status.reason != Reason::interrupted) continue;  // the stop came with the last step
    simulate::MemorySink second(model.system);
    options.cancel = nullptr;
    const engines::EngineResult rest = simulate::run(model.system, "event", options, second, &half.end);
    std::vector<double> cells = first.cells;
    cells.insert(cells.end(), second.cells.begin(), second.cells.end());
    const std::string place =
        what + ", cut after " + std::to_string(steps) + " steps at t = " + to_text(half.end.time);
    ASSERT_EQ(rest.end.y, whole.end.end.y) << place;
    ASSERT_EQ(rest.end.dissipated, whole.end.end.dissipated) << place;
    ASSERT_EQ(rest.end.mode, whole.end.end.mode) << place;
    ASSERT_EQ(rest.end.scales, whole.end.end.scales) << place;
    ASSERT_EQ(rest.end.events, whole.end.end.events) << place;
    ASSERT_EQ(cells, whole.data.cells) << place;
    ASSERT_EQ(first.events.size() + second.events.size(), whole.data.events.size()) << place;
  }
}

TEST(EngineInvariance, ARunCutAtTheEndOfAStepGoesOnWithTheSameBits) {
  for (const char* name : {"press", "sdnd106", "zabuga-oscillator", "bouncing-ball", "rocking-block", "relay",
                           "order-test", "incline"}) {
    expect_resumes(gallery_model(name), name, 40);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(EngineInvariance, RandomRunsCutAtTheEndOfAStepGoOnWithTheSameBits) {
  for (int i = 1; i <= count(2000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i + 400'000);
    expect_resumes(spec_model(random_system(seed).spec()), "seed " + std::to_string(seed), 3);
    if (::testing::Test::HasFailure()) return;
  }
}

// A switch in a branch that is not taken has no side: where the branch is taken later it gets one, and that is no event, cut or not.
TEST(EngineInvariance, ARunThatIsCutWhileABranchIsNotTakenListsTheSameEvents) {
  expect_resumes(text_model(R"toml(
[coordinates]
x = 0
w = 0
[energy]
kinetic = "0.5*x'^2 + 0.25*w'^2"
potential = "w"
[[force]]
along = "x'"
value = "if(w + 0.1 < 0, floor(x'), -1)"
[run]
until = 1.1
)toml"),
                 "a branch", 40);
}

// Cut at an arbitrary time the steps are others, the motion is the same to the tolerance.
TEST(EngineInvariance, RunsCutAtArbitraryTimesAgreeToTheTolerance) {
  for (int i = 1; i <= count(2000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i + 500'000);
    const Reference r = reference(seed);
    if (r.horizon < r.base.rows.size() || r.base.rows.size() < kSamples) continue;
    const TestModel model = spec_model(r.system.spec());
    simulate::NullSink sink;
    engines::EngineOptions options = model.options;
    options.until = r.system.until * (0.1 + 0.8 * (i % 17) / 17.0);
    const engines::EngineResult half = simulate::run(model.system, "event", options, sink);
    ASSERT_TRUE(half.status.ok());
    options.until = r.system.until;
    const engines::EngineResult rest = simulate::run(model.system, "event", options, sink, &half.end);
    ASSERT_TRUE(rest.status.ok()) << "seed " << seed << ": " << rest.status.message;
    ASSERT_LE(distance(rest.end.y, r.base.rows.back(), r.scale), std::max(1e-8, 20 * r.error.back()))
        << "seed " << seed;
    ASSERT_EQ(rest.end.mode, r.base.result.end.end.mode) << "seed " << seed;
  }
}

}  // namespace
}  // namespace judder
