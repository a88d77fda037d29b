// What a run gives, without any engine: sample times, loads of contacts, residuals, and all of it together in the hands of an engine with fixed steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "count.hpp"
#include "engines/contact_loads.hpp"
#include "engines/numeric/roots.hpp"
#include "engines/recorder.hpp"
#include "engines/residuals.hpp"
#include "engines/sample_times.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- sample times ---

std::vector<double> one_by_one(SampleTimes times, double until = kInfinity) {
  std::vector<double> out;
  for (; times.next() < until; times.advance()) out.push_back(times.next());
  return out;
}

TEST(SampleTimes, HaveBothEndsOfTheRun) {
  EngineOptions options;
  options.from = 1;
  options.until = 3;
  options.samples = 5;
  SampleTimes times;
  times.start(options);
  EXPECT_EQ(one_by_one(times), (std::vector<double>{1, 1.5, 2, 2.5, 3}));
}

TEST(SampleTimes, EndAtUntilWhateverTheirDistance) {
  EngineOptions options;
  options.until = 1;
  options.every = 0.3;
  SampleTimes times;
  times.start(options);
  EXPECT_EQ(one_by_one(times), (std::vector<double>{0, 0.3, 2 * 0.3, 3 * 0.3, 1}));
}

TEST(SampleTimes, GiveOneRowWhereAnInstantFallsOntoARegularTime) {
  EngineOptions options;
  options.until = 1;
  options.samples = 3;
  options.instants = {0.25, 0.5, 0.5, 0.75};
  SampleTimes times;
  times.start(options);
  EXPECT_EQ(one_by_one(times), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_FALSE(times.only_regular());
  times.pass(0.75);
  EXPECT_TRUE(times.only_regular());
  EXPECT_EQ(times.next(), 1);
}

// The times of a block are those that come one by one, to the last bit, wherever the block begins and ends.
TEST(SampleTimes, AreTheSameInBlocks) {
  std::mt19937_64 random(20170303);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int test = 0; test < count(2000); ++test) {
    EngineOptions options;
    options.from = 100 * (uniform(random) - 0.5);
    options.until = options.from + std::exp(20 * (uniform(random) - 0.5));
    options.samples = 2 + static_cast<long>(60 * uniform(random));
    if (uniform(random) < 0.5) options.every = (options.until - options.from) * uniform(random) + 1e-3;
    SampleTimes blocks;
    blocks.start(options);
    const std::vector<double> single = one_by_one(blocks);
    std::vector<double> taken;
    for (int step = 0; blocks.next() < kInfinity && step < 1000; ++step) {
      // Often just at a sample, which is then not before the end of the block.
      const double to = uniform(random) < 0.5
                            ? single[std::min(single.size() - 1, taken.size() + step % 4)]
                            : options.from + (options.until - options.from) * 1.1 * uniform(random);
      const std::size_t number = blocks.count_before(std::max(to, std::nextafter(blocks.next(), kInfinity)));
      std::vector<double> out(2 * number + 1, -1.0);
      blocks.take(number, out.data(), 2);
      for (std::size_t i = 0; i < number; ++i) taken.push_back(out[2 * i]);
    }
    ASSERT_EQ(taken, single) << "from " << options.from << " until " << options.until << " every "
                             << options.every << " samples " << options.samples;
  }
}

TEST(SampleTimes, CountWhatIsBeforeATimeAndNotAtIt) {
  EngineOptions options;
  options.until = 1;
  options.samples = 11;
  SampleTimes times;
  times.start(options);
  for (const double time : one_by_one(times)) {
    EXPECT_EQ(times.count_before(time), one_by_one(times, time).size()) << time;
    const double behind = std::nextafter(time, kInfinity);
    EXPECT_EQ(times.count_before(behind), one_by_one(times, behind).size()) << time;
  }
}

TEST(SampleTimes, TurnAtTheSameNumbersWhereverTheyAreLookedAt) {
  EngineOptions options;
  options.until = 10;
  options.samples = 11;
  SampleTimes times;
  times.start(options);
  EXPECT_EQ(times.turn(4), 4);
  times.pass(3);
  EXPECT_EQ(times.turn(4), 8);  // the row at 4 is due, and belongs to the next turn
  times.pass(9);
  EXPECT_EQ(times.turn(4), kInfinity);
}

// --- loads of contacts ---

struct Force final : ForcesAlongStep {
  explicit Force(std::function<double(double)> function) : force(std::move(function)) {}
  std::span<const double> at(double theta) override {
    ++asked;
    value = force(theta);
    return {&value, 1};
  }
  std::function<double(double)> force;
  double value = 0;
  int asked = 0;
};

Mode with_contact(NormalStatus status) {
  Mode mode;
  mode.normal = {status};
  mode.pressed = {0};
  return mode;
}

// λ = sin over half a period in steps of unequal length: impulse 2, peak 1.
TEST(ContactLoads, FollowAForceByItsOwnSamples) {
  ContactLoads loads(1);
  loads.start(1e-9);
  const Mode closed = with_contact(NormalStatus::closed);
  const double pi = std::acos(-1.0);
  const std::vector<double> ends{0, 0.7, 1.9, 2.0, pi};
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double length = ends[i + 1] - ends[i];
    Force force([&](double theta) { return std::sin(ends[i] + theta * length); });
    ASSERT_TRUE(loads.follow(closed, ends[i]));
    loads.take_rest(length, force);
  }
  const std::optional<Interval> interval = loads.close(0, pi);
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->from, 0);
  EXPECT_EQ(interval->to, pi);
  EXPECT_NEAR(interval->impulse, 2, 1e-9);
  EXPECT_NEAR(interval->peak, 1, 1e-12);
  EXPECT_FALSE(loads.close(0, 4).has_value());
}

// A narrow hill of width 1/40 is found in the halves of the step: ∫ exp(−(θ − c)²/w²) dθ = w √π.
TEST(ContactLoads, HalveTheStepWhereAPolynomialIsTooCoarse) {
  ContactLoads loads(1);
  loads.start(1e-9);
  Force hill([](double theta) { return std::exp(-std::pow((theta - 0.3) * 40, 2)); });
  ASSERT_TRUE(loads.follow(with_contact(NormalStatus::closed), 0));
  loads.take_rest(1, hill);
  const std::optional<Interval> interval = loads.close(0, 1);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->impulse, std::sqrt(std::acos(-1.0)) / 40, 1e-6);
  EXPECT_NEAR(interval->peak, 1, 1e-9);
}

// 1 + θ − θ² on a trial step, of which the first part was made: ∫₀^a = a + a²/2 − a³/3, its largest value is at the end before θ = 1/2 and 5/4 from there on.
TEST(ContactLoads, TakeThePartOfAPolynomialThatWasMade) {
  const numeric::SamplingGrid& grid = numeric::SamplingGrid::of_degree(4);
  std::vector<double> samples, coefficients(5);
  for (int j = 0; j < grid.points(); ++j)
    samples.push_back(1 + grid.theta(j) - grid.theta(j) * grid.theta(j));
  const numeric::Interpolation fit = grid.interpolate(samples.data(), 1, 0, coefficients.data());
  ForcePolynomial force;
  force.degree = 4;
  force.coefficients = coefficients.data();
  force.samples = samples;
  force.error = fit.error;
  for (const double a : {0.25, 0.5, 0.8, 1.0}) {
    const double trial = 3;
    ContactLoads loads(1);
    loads.start(1e-9);
    Force made([a](double theta) { return 1 + a * theta - a * a * theta * theta; });
    ASSERT_TRUE(loads.follow(with_contact(NormalStatus::closed), 0));
    loads.take(0, force, trial, a * trial, made);
    EXPECT_FALSE(loads.follows(0));
    loads.take_rest(a * trial, made);
    const std::optional<Interval> interval = loads.close(0, a * trial);
    ASSERT_TRUE(interval.has_value());
    EXPECT_NEAR(interval->impulse, trial * (a + a * a / 2 - a * a * a / 3), 1e-12) << a;
    EXPECT_NEAR(interval->peak, a < 0.5 ? 1 + a - a * a : 1.25, 1e-12) << a;
    EXPECT_EQ(made.asked, 1) << a;  // the largest value is the force's own
  }
}

TEST(ContactLoads, LeaveAPolynomialThatMissesItsForce) {
  const std::vector<double> samples{1, 1, 1}, coefficients{1, 1};
  ForcePolynomial coarse;
  coarse.degree = 1;
  coarse.coefficients = coefficients.data();
  coarse.samples = samples;
  coarse.error = 0.01;
  ContactLoads loads(1);
  loads.start(1e-9);
  Force force([](double theta) { return 1 + 0.01 * theta; });
  ASSERT_TRUE(loads.follow(with_contact(NormalStatus::closed), 0));
  loads.take(0, coarse, 1, 1, force);
  EXPECT_TRUE(loads.follows(0));
  loads.take_rest(1, force);
  const std::optional<Interval> interval = loads.close(0, 1);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->impulse, 1.005, 1e-14);
  EXPECT_NEAR(interval->peak, 1.01, 1e-14);
}

TEST(ContactLoads, AddImpactsAndTheTrapezoidsOfFixedSteps) {
  ContactLoads loads(1);
  loads.start(1e-9);
  const Mode closed = with_contact(NormalStatus::closed);
  loads.strike(0, 1, 5);
  for (int step = 0; step <= 4; ++step) {
    const std::vector<double> force{2.0 * step};
    loads.note(closed, 1 + 0.5 * step, step == 0 ? 0 : 0.5, force);
  }
  const std::optional<Interval> interval = loads.close(0, 3);
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->from, 1);
  EXPECT_DOUBLE_EQ(interval->impulse, 5 + 8);
  EXPECT_EQ(interval->peak, 8);
}

TEST(ContactLoads, GoOnWhereTheyWereSaved) {
  const Mode closed = with_contact(NormalStatus::closed);
  ContactLoads whole(1);
  whole.start(1e-9);
  whole.note(closed, 0, 0, std::vector<double>{1});
  whole.note(closed, 1, 1, std::vector<double>{3});
  std::vector<double> saved;
  whole.save(saved);
  ContactLoads other(1);
  other.start(1e-9);
  ASSERT_TRUE(other.load(saved));
  saved.push_back(0);
  EXPECT_FALSE(other.load(saved));
  for (ContactLoads* loads : {&whole, &other}) {
    loads->note(closed, 2, 1, std::vector<double>{2});
    const std::optional<Interval> interval = loads->close(0, 2);
    ASSERT_TRUE(interval.has_value());
    EXPECT_EQ(interval->from, 0);
    EXPECT_EQ(interval->impulse, 4.5);
    EXPECT_EQ(interval->peak, 3);
  }
}

TEST(ContactLoads, AreThoseOfClosedContactsOnly) {
  ContactLoads loads(1);
  loads.start(1e-9);
  const Mode open = with_contact(NormalStatus::open);
  loads.note(open, 0, 1, std::vector<double>{1});
  EXPECT_FALSE(loads.follow(open, 0));
  EXPECT_FALSE(loads.close(0, 1).has_value());
}

// --- residuals ---

TestModel ball() {
  return text_model(R"toml(
[coordinates]
y = 1
[energy]
kinetic = "y'^2"
potential = "20*y"
[[contact]]
name = "floor"
gap = "y"
impact = 0
[run]
until = 1
)toml");
}

TEST(Residuals, MeasureTheEnergyByWhatFlows) {
  const TestModel model = ball();
  model::Workspace work(model.system);
  Residuals residuals(model.system);
  std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
  const model::Layout& layout = model.system.layout();
  work.in[layout.q()] = -2;
  work.in[layout.v()] = 7;
  ASSERT_TRUE(model.system.motion(work));
  EXPECT_EQ(residuals.energy(work), 49 - 40);
  residuals.note_energy(work);
  EXPECT_EQ(residuals.largest_energy(), 49);  // the sum is smaller than its parts
  work.in[layout.v()] = 0;
  ASSERT_TRUE(model.system.motion(work));
  EXPECT_EQ(residuals.energy(work), -40);
  residuals.start();
  EXPECT_EQ(residuals.largest_energy(), 0);
}

TEST(Residuals, MeasureAGapByItsSizeOrByWhatMoved) {
  const TestModel model = ball();
  model::Workspace work(model.system);
  std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
  ASSERT_TRUE(model.system.motion(work));
  static_cast<void>(model.system.rows(work, 0));
  Residuals residuals(model.system);
  residuals.note_gap(work, 0, 0.5, 1, std::vector<double>{1});
  EXPECT_EQ(residuals.worst_gap(), 0);
  residuals.note_gap(work, 0, -0.25, 2, std::vector<double>{1});
  EXPECT_EQ(residuals.worst_gap(), 0.125);
  residuals.note_gap(work, 0, -0.25, 0, std::vector<double>{1});
  EXPECT_EQ(residuals.worst_gap(), 0.25);
}

// --- all of it, by an engine that knows no events ---

struct Kept final : Sink {
  void row(RowKind kind, const Mode& /*mode*/, model::Workspace& work) override {
    times.push_back(work.in[0]);
    kinds.push_back(kind);
    heights.push_back(work.in[1]);
  }
  void event(const Event& event, std::span<const double> behind) override {
    events.push_back(event);
    state.assign(behind.begin(), behind.end());
  }
  void interval(const Interval& interval) override { intervals.push_back(interval); }
  std::vector<double> times, heights;
  std::vector<RowKind> kinds;
  std::vector<Event> events;
  std::vector<double> state;  ///< behind the last event
  std::vector<Interval> intervals;
};

struct Listener final : Observer {
  void point(const ToldPoint& point) override {
    kinds.push_back(point.kind);
    times.push_back(point.in[0]);
    accelerations.push_back(point.acceleration[0]);
  }
  void impulses(const ToldImpulses& told) override { impulse += told.normal[0]; }
  std::vector<Telling> kinds;
  std::vector<double> times, accelerations;
  double impulse = 0;
};

// A ball of mass 2 falls from 1 under g = 10 onto the floor, where it stays: it lands at √0.2 with the speed √20, which takes the impulse 2√20; then the
// floor carries 20. The engine makes 64 steps, of which the first that ends below the floor is cut there by hand.
TEST(Recorder, ServesAnEngineWithFixedSteps) {
  const TestModel model = ball();
  model::Workspace work(model.system);
  Recorder recorder(model.system);
  EngineOptions options = model.options;
  options.samples = 11;
  Kept sink;
  Listener listener;
  options.observer = &listener;
  recorder.begin(options, sink);

  std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
  const double landing = std::sqrt(0.2);
  Mode mode = with_contact(NormalStatus::open);
  std::vector<double> y{1, 0};
  const auto height = [&](double t) { return t < landing ? 1 - 5 * t * t : 0; };
  const auto rows_before = [&](double to) {
    for (; recorder.samples.next() < to; recorder.samples.advance()) {
      work.in[0] = recorder.samples.next();
      work.in[1] = height(work.in[0]);
      recorder.row(RowKind::sample, mode, work);
    }
  };
  recorder.testimony.after(mode, 0, y.data());
  double t = 0;
  for (int step = 1; step <= 64; ++step) {
    double end = step / 64.0;
    if (t < landing && end >= landing) {
      rows_before(landing);
      work.in[0] = landing;
      work.in[1] = 0;
      ASSERT_TRUE(recorder.event_rows());
      recorder.row(RowKind::before, mode, work);
      mode = with_contact(NormalStatus::closed);
      Event event;
      event.kind = EventKind::impact;
      event.normal_impulse = 2 * std::sqrt(20.0);
      recorder.pending().push_back(event);
      recorder.strike(0, landing, event.normal_impulse, true);
      const std::vector<double> normal{event.normal_impulse}, speed{-std::sqrt(20.0)};
      recorder.testimony.impulses({speed, work.in, normal, {}, false});
      recorder.loads.note(mode, landing, 0, std::vector<double>{20});
      recorder.report_pending(landing, 1e-15, mode);
      EXPECT_TRUE(recorder.pending().empty());
      EXPECT_TRUE(recorder.untold());
      EXPECT_TRUE(sink.events.empty());
      work.in[2] = 0;
      recorder.tell(work);
      EXPECT_FALSE(recorder.untold());
      RowKind kind{};
      ASSERT_TRUE(recorder.row_after(landing, kind));
      recorder.row(kind, mode, work);
      recorder.samples.pass(landing);
      y = {0, 0};
      t = landing;
      recorder.testimony.after(mode, t, y.data());
    }
    rows_before(end);
    if (t >= landing) {
      recorder.testimony.rest(t, end, y.data());
      recorder.loads.note(mode, end, end - t, std::vector<double>{20});
    } else {
      y = {height(end), -10 * end};
      recorder.testimony.end(end, y.data());
    }
    t = end;
  }
  rows_before(kInfinity);
  recorder.close(0, 1);
  EngineResult result;
  recorder.fill(result);

  EXPECT_EQ(result.events, 1);
  ASSERT_EQ(sink.events.size(), 1u);
  EXPECT_EQ(sink.events[0].time, landing);
  EXPECT_EQ(sink.events[0].bound, 1e-15);
  EXPECT_EQ(sink.events[0].mode, mode.key());
  EXPECT_EQ(sink.state, (std::vector<double>{0, 0}));  // h, h' behind the landing
  ASSERT_EQ(sink.intervals.size(), 1u);
  EXPECT_EQ(sink.intervals[0].from, landing);
  EXPECT_EQ(sink.intervals[0].to, 1);
  EXPECT_EQ(sink.intervals[0].peak, 20);
  EXPECT_NEAR(sink.intervals[0].impulse, 2 * std::sqrt(20.0) + 20 * (1 - landing), 1e-12);
  ASSERT_EQ(sink.times.size(), 13u);  // eleven samples, and two rows of the instant
  for (std::size_t i = 0; i < sink.times.size(); ++i) {
    const bool of_event = sink.times[i] == landing;
    EXPECT_EQ(sink.kinds[i], !of_event ? RowKind::sample : i == 5 ? RowKind::before : RowKind::after);
    EXPECT_EQ(sink.heights[i], height(sink.times[i])) << sink.times[i];
  }
  // What is told has the accelerations of the model, whatever the engine makes of it: −10 in flight, none on the floor.
  EXPECT_EQ(listener.impulse, 2 * std::sqrt(20.0));
  ASSERT_FALSE(listener.times.empty());
  int after = 0;
  for (std::size_t i = 0; i < listener.times.size(); ++i) {
    after += listener.kinds[i] == Telling::after ? 1 : 0;
    EXPECT_EQ(listener.accelerations[i], after < 2 ? -10 : 0) << listener.times[i];
  }
  EXPECT_EQ(after, 2);
}

TEST(Recorder, GivesASampleWhereRowsOfInstantsAreNotAskedFor) {
  const TestModel model = ball();
  Recorder recorder(model.system);
  EngineOptions options = model.options;
  options.samples = 3;
  options.event_rows = false;
  Kept sink;
  recorder.begin(options, sink);
  recorder.samples.pass(0);
  RowKind kind{};
  EXPECT_FALSE(recorder.row_after(0.25, kind));
  ASSERT_TRUE(recorder.row_after(0.5, kind));
  EXPECT_EQ(kind, RowKind::sample);
}

TEST(Recorder, GivesAnImpactOfAnOpenContactAPhaseOfItsOwn) {
  const TestModel model = ball();
  Recorder recorder(model.system);
  Kept sink;
  recorder.begin(model.options, sink);
  recorder.strike(0, 0.5, 3, false);
  ASSERT_EQ(sink.intervals.size(), 1u);
  EXPECT_EQ(sink.intervals[0].from, sink.intervals[0].to);
  EXPECT_EQ(sink.intervals[0].impulse, 3);
  recorder.close(0, 1);
  EXPECT_EQ(sink.intervals.size(), 1u);
}

}  // namespace
}  // namespace judder::engines
