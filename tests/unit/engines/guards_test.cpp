// The functions that end a mode: which are watched in which mode, and that they have the values they are named after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engines/guards.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

const TestModel& block() {
  static const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = 2 }
y = 0
[energy]
kinetic   = "3/2*(x'^2 + y'^2)"
potential = "3*10*y"
[[force]]
along = "x'"
value = "1 + 2*t - sign(x - 4)"
[[contact]]
name     = "floor"
gap      = "y"
slip     = "x'"
friction = { static = 0.5, dynamic = 0.25 }
[[friction]]
name   = "pad"
slip   = "x'"
normal = "2 - t"
law    = 0.1
[[watch]]
name = "far"
zero = "x - 3"
[run]
until = 1
)toml");
  return model;
}

struct Bench {
  explicit Bench(const TestModel& model)
      : work(model.system), motion(model.system, work), guards(model.system, work, motion) {
    work.in = model.system.start();
  }
  bool set(const Mode& mode) {
    if (!motion.set_mode(mode) || !motion.evaluate()) return false;
    guards.build();
    return true;
  }
  [[nodiscard]] double value(GuardKind kind, int place) {
    for (const Guard& guard : guards.list()) {
      if (guard.kind == kind && guard.place == place) return guards.value(guard);
    }
    ADD_FAILURE() << "no such guard";
    return 0;
  }
  [[nodiscard]] std::vector<GuardKind> kinds() {
    std::vector<GuardKind> out;
    for (const Guard& guard : guards.list()) out.push_back(guard.kind);
    return out;
  }
  model::Workspace work;
  ModeMotion motion;
  Guards guards;
};

Mode mode_of(NormalStatus normal, TangentStatus contact, TangentStatus joint) {
  Mode mode;
  mode.normal = {NormalStatus::none, NormalStatus::none};
  mode.pressed = {0, 0};
  mode.tangent = {TangentStatus::free, TangentStatus::free};
  mode.side = {0};
  mode.surface = {AtSurface::away};
  for (std::size_t r = 0; r < 2; ++r) {
    const model::Relation& relation = block().system.relations()[r];
    mode.normal[r] = relation.kind == model::RelationKind::joint ? NormalStatus::none : normal;
    mode.tangent[static_cast<std::size_t>(relation.first_tangent)] =
        relation.kind == model::RelationKind::joint ? joint : contact;
  }
  return mode;
}

int relation(model::RelationKind kind) { return block().system.relations()[0].kind == kind ? 0 : 1; }

TEST(Guards, AnOpenContactWatchesItsGap) {
  Bench bench(block());
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::open, TangentStatus::free, TangentStatus::slip_plus)));
  const std::vector<GuardKind> kinds = bench.kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::gap), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::reaction), 0);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::slip), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::joint_normal), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::side), 1);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), GuardKind::watch), 1);
  bench.work.in[static_cast<std::size_t>(block().system.layout().q() + 1)] = 0.125;
  EXPECT_EQ(bench.value(GuardKind::gap, relation(model::RelationKind::contact)), 0.125);
}

TEST(Guards, AStickingContactWatchesBothSidesOfItsCone) {
  Bench bench(block());
  const int contact = relation(model::RelationKind::contact);
  bench.work.in[static_cast<std::size_t>(block().system.layout().v())] = 0;
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::closed, TangentStatus::stick, TangentStatus::slip_plus)));
  // N = 30; the pull 1 + 1 (x < 4) less the pad's 0.2 is held.
  EXPECT_NEAR(bench.value(GuardKind::reaction, contact), 30, 1e-12);
  EXPECT_NEAR(bench.value(GuardKind::cone_plus, contact), 15 + 1.8, 1e-12);
  EXPECT_NEAR(bench.value(GuardKind::cone_minus, contact), 15 - 1.8, 1e-12);
}

TEST(Guards, ASlippingContactWatchesItsSlipAndItsReaction) {
  Bench bench(block());
  const int contact = relation(model::RelationKind::contact);
  const int joint = relation(model::RelationKind::joint);
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::closed, TangentStatus::slip_plus, TangentStatus::slip_plus)));
  EXPECT_EQ(bench.value(GuardKind::slip, contact), 2);
  EXPECT_EQ(bench.value(GuardKind::slip, joint), 2);
  EXPECT_NEAR(bench.value(GuardKind::reaction, contact), 30, 1e-12);
  EXPECT_EQ(bench.value(GuardKind::joint_normal, joint), 2);
  EXPECT_EQ(bench.value(GuardKind::watch, 0), -3);
  EXPECT_EQ(bench.value(GuardKind::side, 0), 4) << "positive on the side the mode is on";
}

// The same guard in both directions of slip: positive in the mode.
TEST(Guards, AreOrientedByTheMode) {
  Bench bench(block());
  const int contact = relation(model::RelationKind::contact);
  bench.work.in[static_cast<std::size_t>(block().system.layout().v())] = -2;
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::closed, TangentStatus::slip_minus, TangentStatus::slip_minus)));
  EXPECT_EQ(bench.value(GuardKind::slip, contact), 2);
}

TEST(Guards, RunningScalesGrowAndAreKeptForTheMode) {
  Bench bench(block());
  const Mode open = mode_of(NormalStatus::open, TangentStatus::free, TangentStatus::slip_plus);
  const auto y = static_cast<std::size_t>(block().system.layout().q() + 1);
  const int contact = relation(model::RelationKind::contact);
  ASSERT_TRUE(bench.set(open));
  for (const double height : {0.5, 2.0, 1.0}) {
    bench.work.in[y] = height;
    bench.guards.note_scales();
  }
  EXPECT_EQ(bench.guards.gap_scale(contact), 2);
  bench.work.in[y] = 0;
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::closed, TangentStatus::slip_plus, TangentStatus::slip_plus)));
  ASSERT_TRUE(bench.set(open));
  for (const Guard& guard : bench.guards.list()) {
    if (guard.kind == GuardKind::gap) {
      EXPECT_EQ(guard.scale, 2) << "a contact that opens again remembers how far it was open";
    }
  }
  const std::vector<double> saved = bench.guards.scales();
  bench.guards.load_scales({});
  EXPECT_EQ(bench.guards.gap_scale(contact), 0);
  bench.guards.load_scales(saved);
  EXPECT_EQ(bench.guards.gap_scale(contact), 2);
}

TEST(Guards, ListAndSingleValuesAgree) {
  Bench bench(block());
  ASSERT_TRUE(bench.set(mode_of(NormalStatus::closed, TangentStatus::slip_plus, TangentStatus::slip_plus)));
  std::vector<double> values(static_cast<std::size_t>(3 * bench.guards.size()), -7.0);
  bench.guards.values(values.data(), 3);
  for (int i = 0; i < bench.guards.size(); ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(3 * i)],
              bench.guards.value(bench.guards.list()[static_cast<std::size_t>(i)]));
    EXPECT_EQ(values[static_cast<std::size_t>(3 * i + 1)], -7.0) << "nothing is written between them";
  }
}

}  // namespace
}  // namespace judder::engines
