// One run into several sinks.
#include "judder/simulate/sinks.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "told_run.hpp"

namespace judder::simulate {
namespace {

/// Writes down what it hears, with its name, into one list for all.
class Scribe final : public engines::Sink {
 public:
  Scribe(std::string name, std::vector<std::string>& heard) : name_(std::move(name)), heard_(heard) {}
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override { say("row"); }
  void event(const engines::Event&, std::span<const double>) override { say("event"); }
  void interval(const engines::Interval&) override { say("interval"); }
  void progress(double) override { say("progress"); }
  bool wants_state() override {
    say("wants?");
    return wants;
  }
  void state(const engines::EngineResult&) override { say("state"); }

  bool wants = false;

 private:
  void say(const char* what) { heard_.push_back(name_ + " " + what); }

  std::string name_;
  std::vector<std::string>& heard_;
};

TEST(ManySinks, EachHearsEverythingInTheOrderOfTheList) {
  ToldRun told;
  std::vector<std::string> heard;
  Scribe first("a", heard), second("b", heard);
  ManySinks both;
  both.add(first);
  both.add(second);
  told.row(both, 0, 1);
  told.impact(both, 0.4, 1);
  both.interval({});
  both.progress(0.5);
  EXPECT_EQ(heard, (std::vector<std::string>{"a row", "b row", "a event", "b event", "a interval",
                                             "b interval", "a progress", "b progress"}));
}

TEST(ManySinks, StepsAreToldToThoseWhoHearThemAndStatesToThoseWhoWantThem) {
  std::vector<std::string> heard;
  Scribe rows_only("rows", heard), patient("patient", heard), saver("saver", heard);
  rows_only.wants = saver.wants = true;
  ManySinks all;
  all.add(rows_only, ManySinks::Steps::leave_out);
  all.add(patient);
  all.add(saver);
  all.progress(0.1);
  EXPECT_TRUE(all.wants_state());
  all.state({});
  EXPECT_EQ(heard, (std::vector<std::string>{"patient progress", "saver progress", "patient wants?",
                                             "saver wants?", "saver state"}));
  heard.clear();
  saver.wants = false;
  EXPECT_FALSE(all.wants_state());
  EXPECT_EQ(heard, (std::vector<std::string>{"patient wants?", "saver wants?"}));
}

// Memory for rows of the state can be had of one sink only.
TEST(ManySinks, RowsInOnePieceAreForOneSinkAlone) {
  const TestModel ball = text_model(
      "[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n[run]\nuntil = 1\n");
  MemorySink memory(ball.system), other(ball.system);
  ManySinks one, two;
  one.add(memory);
  EXPECT_NE(one.state_rows(3), nullptr);
  two.add(memory);
  two.add(other);
  EXPECT_EQ(two.state_rows(3), nullptr);
}

TEST(ManySinks, ARunGoesIntoBothAsIntoOne) {
  const ToldRun ball;
  MemorySink alone(ball.system()), left(ball.system()), right(ball.system());
  ASSERT_TRUE(run(ball.system(), "event", ball.options(), alone).status.ok());
  ManySinks both;
  both.add(left);
  both.add(right);
  ASSERT_TRUE(run(ball.system(), "event", ball.options(), both).status.ok());
  ASSERT_GT(alone.events.size(), 0U);
  for (const MemorySink* one : {&left, &right}) {
    ASSERT_EQ(one->cells.size(), alone.cells.size());
    // Bits: the root of a gap that rounding has made negative is no number.
    EXPECT_EQ(std::memcmp(one->cells.data(), alone.cells.data(), alone.cells.size() * sizeof(double)), 0);
    EXPECT_EQ(one->event_states, alone.event_states);
    EXPECT_EQ(one->intervals.size(), alone.intervals.size());
  }
}

}  // namespace
}  // namespace judder::simulate
