// Watches, the switches that they alone read, and tails of accumulations, without any engine: what the motion does next is written down by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engines/tails.hpp"
#include "engines/watches.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

TestModel watched(const std::string& watches) {
  return text_model(R"toml(
[coordinates]
x = { start = -1, velocity = 1 }
[energy]
kinetic = "x'^2/2"
[run]
until = 10
)toml" + watches);
}

/// A motion that takes every function the same way.
struct Going final : MotionAhead {
  explicit Going(int where, double bits = 1e-16) : way(where), rounding_(bits) {}
  int direction(const expr::Program& /*value*/, double /*level*/, double /*bound*/) override {
    ++asked;
    return way;
  }
  double rounding(const expr::Program& /*value*/) override { return rounding_; }
  int way;
  int asked = 0;

 private:
  double rounding_;
};

/// An instant at which a watch on x has one value before and another behind.
struct Instant {
  explicit Instant(const TestModel& model) : work(model.system), watches(model.system) {
    std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
    watches.start();
    guard.kind = GuardKind::watch;
    guard.place = 0;
    guard.scale = 1;
  }
  std::optional<Word> jump(double before, double after, MotionAhead& ahead) {
    watches.begin_instant();
    work.in[1] = before;
    watches.note_before(work);
    return watches.jumped(guard, after, ahead);
  }
  model::Workspace work;
  Watches watches;
  Guard guard;
};

const char* const kEither = R"toml(
[[watch]]
name = "w"
zero = "x"
)toml";

TEST(Watches, AreListedWhereTheyJumpThroughZero) {
  const TestModel model = watched(kEither);
  Instant instant(model);
  Going nowhere(0);
  EXPECT_EQ(instant.jump(-1, 2, nowhere), Word::up);
  EXPECT_EQ(instant.watches.side(0), 1);
  EXPECT_EQ(instant.jump(2, -0.5, nowhere), Word::down);
  EXPECT_EQ(instant.watches.side(0), -1);
  EXPECT_FALSE(instant.jump(-0.5, -3, nowhere).has_value());
  EXPECT_EQ(nowhere.asked, 0);
}

TEST(Watches, AreListedInTheDirectionThatIsAskedFor) {
  const TestModel model = watched(std::string(kEither) + "direction = \"down\"\n");
  Instant instant(model);
  Going nowhere(0);
  EXPECT_FALSE(instant.jump(-1, 1, nowhere).has_value());
  EXPECT_EQ(instant.watches.side(0), 1);  // the sign is carried all the same
  EXPECT_EQ(instant.jump(1, -1, nowhere), Word::down);
  EXPECT_TRUE(instant.watches.counts(0, false));
  EXPECT_FALSE(instant.watches.counts(0, true));
}

// What is rounding has no sign of its own: before the instant it has the one that was carried, behind it the one that the motion gives it.
TEST(Watches, TakeTheSignOfAZeroFromTheMotion) {
  const TestModel model = watched(kEither);
  Instant instant(model);
  Going up(1);
  instant.watches.carry(0, -1);
  EXPECT_EQ(instant.jump(1e-17, -1e-17, up), Word::up);
  EXPECT_TRUE(instant.watches.fresh(0));  // the next phase begins at its zero
  Going nowhere(0);
  EXPECT_FALSE(instant.jump(1e-17, -1e-17, nowhere).has_value());
  EXPECT_EQ(instant.watches.side(0), 1);
  EXPECT_EQ(nowhere.asked, 1);
}

// Its own zero brought the instant about, and the landing has left it a little on the far side: it comes from where it rose.
TEST(Watches, ComeFromWhereTheirZeroWasMet) {
  const TestModel model = watched(kEither);
  Instant instant(model);
  Going up(1);
  instant.watches.begin_instant();
  instant.watches.meet(0, true);
  instant.watches.reach(0);
  instant.work.in[1] = 1e-12;
  instant.watches.note_before(instant.work);
  EXPECT_EQ(instant.watches.jumped(instant.guard, 1e-12, up), Word::up);
  EXPECT_EQ(up.asked, 1);
}

TEST(Watches, EndTheRunWhenTheyHaveBeenCrossedOftenEnough) {
  const TestModel model = watched(std::string(kEither) + "stop = 3\n");
  Instant instant(model);
  Going nowhere(0);
  instant.watches.meet(0, true);
  EXPECT_EQ(instant.watches.cross(0), Word::up);
  EXPECT_EQ(instant.watches.side(0), 1);
  EXPECT_TRUE(instant.watches.fresh(0));
  EXPECT_EQ(instant.jump(1, -1, nowhere), Word::down);
  EXPECT_FALSE(instant.watches.stopped());
  // Another run goes on from here.
  Watches other(model.system);
  other.start();
  std::vector<double> sides;
  instant.watches.save_sides(sides);
  other.load_crossings(instant.watches.crossings());
  other.load_sides(sides);
  EXPECT_EQ(other.side(0), -1);
  EXPECT_FALSE(other.fresh(0));
  other.meet(0, true);
  other.cross(0);
  EXPECT_TRUE(other.stopped());
  other.start();
  EXPECT_FALSE(other.stopped());
}

// --- switches that watches alone read ---

struct Sides {
  explicit Sides(const TestModel& model)
      : work(model.system), observed(model.system), at(model.system.layout().observed_side()) {
    std::copy(model.system.start().begin(), model.system.start().end(), work.in.begin());
    mode.side.assign(model.system.layout().switches, 0);
  }
  double& side(int k) { return work.in[at + k]; }
  model::Workspace work;
  ObservedSwitches observed;
  Mode mode;
  int at;
};

const char* const kStep = R"toml(
[[watch]]
name = "w"
zero = "step(x) - 0.5"
)toml";

TEST(ObservedSwitches, HaveTheirSideByValueAwayFromTheirSurface) {
  const TestModel model = watched(kStep);
  ASSERT_EQ(model.system.layout().observed, 1);
  Sides sides(model);
  Going never(0);
  sides.work.in[1] = 2;
  EXPECT_TRUE(sides.observed.take(sides.mode, sides.mode, sides.work, never));
  EXPECT_EQ(sides.side(0), 1);
  EXPECT_FALSE(sides.observed.take(sides.mode, sides.mode, sides.work, never));
  sides.work.in[1] = -2;
  EXPECT_TRUE(sides.observed.take(sides.mode, sides.mode, sides.work, never));
  EXPECT_EQ(sides.side(0), 0);
  EXPECT_EQ(never.asked, 0);
}

TEST(ObservedSwitches, GoWhereTheMotionGoesFromTheirSurface) {
  const TestModel model = watched(kStep);
  for (const int way : {-1, 1}) {
    Sides sides(model);
    sides.work.in[1] = 0;
    Going going(way);
    static_cast<void>(sides.observed.take(sides.mode, sides.mode, sides.work, going));
    EXPECT_EQ(sides.side(0), way > 0 ? 1 : 0);
    EXPECT_EQ(going.asked, 1);
  }
}

// A zero that was met on the way down is left downwards, whatever rounding has made of the value; once only.
TEST(ObservedSwitches, GoWhereTheyWereCrossed) {
  const TestModel model = watched(kStep);
  Sides sides(model);
  sides.side(0) = 1;
  sides.work.in[1] = 1e-17;
  Guard guard;
  guard.kind = GuardKind::observed;
  guard.place = 0;
  guard.sign = 1;
  sides.observed.cross(guard, sides.work);
  Going up(1);
  EXPECT_TRUE(sides.observed.take(sides.mode, sides.mode, sides.work, up));
  EXPECT_EQ(sides.side(0), 0);
  EXPECT_EQ(up.asked, 0);
  EXPECT_TRUE(sides.observed.take(sides.mode, sides.mode, sides.work, up));
  EXPECT_EQ(sides.side(0), 1);
  // What an earlier run has crossed is nothing to the next one.
  sides.observed.cross(guard, sides.work);
  sides.observed.start();
  EXPECT_FALSE(sides.observed.take(sides.mode, sides.mode, sides.work, up));
}

// --- tails ---

TEST(Tails, EndInTheOrderOfTheirTimes) {
  Tails tails(3);
  EXPECT_FALSE(tails.any());
  EXPECT_TRUE(std::isnan(tails.first_end()));
  tails.begin(2, 5, 40, 0.5);
  tails.begin(0, 3, 10, 0.25);
  EXPECT_EQ(tails.first_end(), 3);
  EXPECT_TRUE(tails.runs(0));
  EXPECT_FALSE(tails.runs(1));
  EXPECT_FALSE(tails.take(0, 2.9).has_value());
  const std::optional<Tail> first = tails.take(0, 3);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->count, 10);
  EXPECT_EQ(first->remaining, 0.25);
  EXPECT_EQ(tails.first_end(), 5);
  tails.cut(2, 4);
  EXPECT_EQ(tails.first_end(), 4);
  EXPECT_TRUE(tails.take(2, 4).has_value());
  EXPECT_FALSE(tails.any());
}

TEST(Tails, CollectTheImpulsesThatCloseThem) {
  Tails tails(1);
  const std::vector<double> along{0.5, 0, 0};
  tails.add_impulse(0, 100, along);  // of nobody: there is no tail yet
  tails.begin(0, 1, 4, 0.5);
  tails.add_impulse(0, 2, along);
  tails.add_impulse(0, -1, along);  // what stops a contact on its way out is none
  const std::optional<Tail> tail = tails.take(0, 1);
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->impulse, 2);
  EXPECT_EQ(tail->tangential[0], 1);
}

TEST(Tails, GoOnWhereTheyWereSaved) {
  Tails tails(2);
  std::vector<double> saved;
  tails.save(saved);
  EXPECT_TRUE(saved.empty());
  tails.begin(1, 7, 3, 0.125);
  tails.add_impulse(1, 2, std::vector<double>{1, 2, 3});
  tails.save(saved);
  Tails other(2);
  other.load(saved);
  EXPECT_EQ(other.first_end(), 7);
  const std::optional<Tail> tail = other.take(1, 7);
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->impulse, 2);
  EXPECT_EQ(tail->tangential[2], 3);
  other.begin(0, 1, 1, 1);
  other.load({});
  EXPECT_FALSE(other.any());
}

}  // namespace
}  // namespace judder::engines
