// Parts of a run from event to event, each alone: no run stands around them, and what would lead to the next event is told by the test.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engines/event/event_parts.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

/// Goes nowhere; the parts ask it what an engine promises.
class Nowhere final : public Advance {
 public:
  [[nodiscard]] StepEnd advance(double /*limit*/) override { return StepEnd::failed; }
  [[nodiscard]] double state_tolerance() const override { return 1e-9; }
  [[nodiscard]] bool can_rest() const override { return true; }
  [[nodiscard]] bool next_derivative_clear(const Guard& /*guard*/, int /*order*/) override { return false; }
  void load_inside(double /*theta*/, double /*length*/) override {}
};

/// The parts of a run that stands at the start of a model, with every contact and row in the status that is given.
struct Bench {
  Bench(const TestModel& model, const Mode& mode) : parts(model.system) {
    Phase& now = parts.now;
    now.way = &way;
    now.options = model.options;
    now.recorder.begin(model.options, sink);
    now.limit = model.options.until;
    now.work.in = model.system.start();
    std::copy_n(now.work.in.begin() + 1, now.layout.integrated(), now.y.begin());
    now.scales.start(0, now.work.in.data() + 1);
    now.guards.load_scales({});
    now.timetable.restart();
    now.motion.release_pins();
    parts.trial.methods().start(false, numeric::Method::order5);
    parts.watching.watches().start();
    now.mode = mode;
    now.load();
    parts.instant.begin_instant();
    parts.sides.load_statuses();
    parts.sides.note_instant();
    parts.here.reference = now.mode;
    parts.here.listed_side = now.mode.side;
  }

  simulate::NullSink sink;
  Nowhere way;
  EventParts parts;
};

/// A block on a floor, pushed by F; friction holds up to 5 and slides with 2.5.
TestModel block(double push) {
  return text_model(R"toml(
[parameters]
F = 1
[coordinates]
x = 0
y = 0
[energy]
kinetic   = "x'^2/2 + y'^2/2"
potential = "10*y"
[[force]]
along = "x'"
value = "F"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = { static = 0.5, dynamic = 0.25 }
[run]
until = 1
)toml",
                    {{"F", push}});
}

/// Two masses on joints that bear 1, each pushed by 2: neither can stay.
TestModel pushed_pair() {
  return text_model(R"toml(
[coordinates]
a = 0
b = 0
[energy]
kinetic = "a'^2/2 + b'^2/2"
[[force]]
along = "a'"
value = "2"
[[force]]
along = "b'"
value = "2"
[[friction]]
name = "fa"
slip = "a'"
normal = 1
law = 1
[[friction]]
name = "fb"
slip = "b'"
normal = 1
law = 1
[run]
until = 1
)toml");
}

// What does not take part keeps what the mode says of it, also what a decision would not leave it.
TEST(EventParts, ADecisionChangesWhatTakesPartInIt) {
  const TestModel model = pushed_pair();
  Mode mode;
  mode.normal = {NormalStatus::closed, NormalStatus::closed};
  mode.pressed = {0, 0};
  mode.tangent = {TangentStatus::stick, TangentStatus::stick};
  Bench bench(model, mode);
  Decider& decider = bench.parts.now.decider;
  for (const int part : {0, 1}) {
    decider.among = {static_cast<std::uint8_t>(part == 0), static_cast<std::uint8_t>(part == 1)};
    Mode decided = mode;
    bench.parts.now.load();
    ASSERT_TRUE(decider.decide(decided, decider.no_exclusions()).ok());
    EXPECT_EQ(decided.tangent[part], TangentStatus::slip_plus);
    EXPECT_EQ(decided.tangent[1 - part], TangentStatus::stick);
  }
  decider.among.clear();
  Mode decided = mode;
  bench.parts.now.load();
  ASSERT_TRUE(decider.decide(decided, decider.no_exclusions()).ok());
  EXPECT_EQ(decided.tangent[0], TangentStatus::slip_plus);
  EXPECT_EQ(decided.tangent[1], TangentStatus::slip_plus);
}

Mode closed_and_stuck() {
  Mode mode;
  mode.normal = {NormalStatus::closed};
  mode.pressed = {0};
  mode.tangent = {TangentStatus::stick};
  return mode;
}

// An instant is a function of what is known to the next mode. The answers are Coulomb's: 4.9 is below 5, 5.1 is above.
TEST(EventParts, SettlingGivesTheModeThatFrictionAllows) {
  for (const double push : {-5.1, -4.9, 0.0, 4.9, 5.1}) {
    const TestModel model = block(push);
    Bench bench(model, closed_and_stuck());
    ASSERT_TRUE(bench.parts.settling.settle()) << push;
    const Mode& mode = bench.parts.now.mode;
    EXPECT_EQ(mode.normal[0], NormalStatus::closed);
    const TangentStatus right = push > 5    ? TangentStatus::slip_plus
                                : push < -5 ? TangentStatus::slip_minus
                                            : TangentStatus::stick;
    EXPECT_EQ(mode.tangent[0], right) << push;
    const double acceleration = bench.parts.now.motion.acceleration()[0];
    EXPECT_NEAR(acceleration, push > 5 ? push - 2.5 : push < -5 ? push + 2.5 : 0, 1e-14) << push;
  }
}

// The same block with a speed downwards: the contact that touches is struck before anything is decided.
TEST(EventParts, SettlingStrikesWhatApproaches) {
  const TestModel model = block(0);
  Mode open;
  open.normal = {NormalStatus::open};
  open.pressed = {0};
  open.tangent = {TangentStatus::free};
  Bench bench(model, open);
  Phase& now = bench.parts.now;
  now.y[3] = -2;
  now.load();
  ASSERT_TRUE(bench.parts.settling.settle());
  EXPECT_EQ(now.mode.normal[0], NormalStatus::closed);
  EXPECT_EQ(now.y[3], 0) << "restitution 0";
  EXPECT_EQ(now.result.impacts, 1);
}

TEST(EventParts, APhaseEndsForTheFirstReasonOnly) {
  const TestModel model = block(0);
  Phase now(model.system);
  EXPECT_FALSE(now.fail({Reason::not_finite, 1, "first", {}}));
  EXPECT_FALSE(now.fail({Reason::unsupported, 2, "second", {}}));
  EXPECT_EQ(now.result.status.reason, Reason::not_finite);
  EXPECT_EQ(now.result.status.where, "first");
}

TEST(EventParts, APhaseIsLoadedFromItsOwnState) {
  const TestModel model = block(0);
  Phase now(model.system);
  now.t = 0.25;
  now.y[0] = 3;
  now.y[2] = -1;
  now.work.in.assign(now.work.in.size(), 7);
  now.load();
  EXPECT_EQ(now.work.in[0], 0.25);
  EXPECT_EQ(now.work.in[now.layout.q()], 3);
  EXPECT_EQ(now.work.in[now.layout.v()], -1);
}

// A ball in flight: the trial step goes through the floor, and the search finds the zero of h − g t²/2.
TEST(EventParts, TheScanFindsTheZeroOfAGap) {
  const TestModel model = text_model(R"toml(
[coordinates]
y = 0.2
[energy]
kinetic   = "y'^2/2"
potential = "10*y"
[[contact]]
name = "floor"
gap  = "y"
[run]
until = 1
)toml");
  Mode open;
  open.normal = {NormalStatus::open};
  open.pressed = {0};
  Bench bench(model, open);
  EventParts& parts = bench.parts;
  ASSERT_TRUE(parts.settling.settle());
  ASSERT_EQ(parts.now.mode.normal[0], NormalStatus::open);
  ASSERT_TRUE(parts.now.motion(0, parts.now.y.data(), parts.now.f0.data()));
  const double step = 0.3;
  ASSERT_TRUE(parts.trial.try_step(step));
  ASSERT_TRUE(parts.trial.prepare_dense());
  bool accurate = false;
  ASSERT_TRUE(parts.scan.find_first_guard(step, accurate));
  EXPECT_TRUE(accurate);
  EXPECT_NEAR(parts.found.first_theta * step, std::sqrt(2 * 0.2 / 10), 1e-12);
}

// The bound of a program holds what other roundings of its inputs give: here the last bits of x are turned both ways.
TEST(EventParts, RoundingIsAboveWhatLastBitsChange) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 1.7
[energy]
kinetic = "x'^2/2"
[[watch]]
name = "w"
zero = "x^5 - 14.19857 + sin(7*x) - sin(11.9)"
[run]
until = 1
)toml");
  Bench bench(model, {});
  Phase& now = bench.parts.now;
  const expr::Program& program = model.system.watches()[0].value;
  const double bound = bench.parts.rounding.rounding_of(program);
  double there = 0;
  double beside = 0;
  program.evaluate(now.work.in.data(), &there, now.work.registers.data());
  double& x = now.work.in[now.layout.q()];
  x = std::nextafter(x, 2);
  program.evaluate(now.work.in.data(), &beside, now.work.registers.data());
  EXPECT_GE(bound, 0.5 * std::abs(beside - there));
  EXPECT_LT(bound, 1e-12) << "and says something";
}

// What a run remembers is taken up by other parts and given back as it was.
TEST(EventParts, MemoryGivesBackWhatItTook) {
  TestModel press = gallery_model("press");
  press.options.until = press.options.from + 0.4 * (press.options.until - press.options.from);
  simulate::NullSink sink;
  const Moment end = simulate::run(press.system, "event", press.options, sink).end;

  EventParts parts(press.system);
  Nowhere way;
  parts.now.way = &way;
  parts.now.options = press.options;
  parts.now.recorder.begin(press.options, sink);
  parts.now.scales.start(0, press.system.start().data() + 1);
  parts.trial.methods().start(false, numeric::Method::order8);
  parts.watching.watches().start();
  ASSERT_TRUE(parts.memory.take_up(end)) << parts.now.result.status.message;
  Moment again;
  parts.memory.save(again);
  EXPECT_EQ(again.time, end.time);
  EXPECT_EQ(again.y, end.y);
  EXPECT_EQ(again.mode, end.mode);
  EXPECT_EQ(again.scales, end.scales);
  EXPECT_EQ(again.step, end.step);
  EXPECT_EQ(again.phase.rate, end.phase.rate);
  EXPECT_EQ(again.phase.guards, end.phase.guards);
  EXPECT_EQ(again.phase.stepper, end.phase.stepper);
  EXPECT_EQ(again.history, end.history);
}

}  // namespace
}  // namespace judder::engines
