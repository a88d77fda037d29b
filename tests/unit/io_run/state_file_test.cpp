#include "judder/io/state_file.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "judder/io/load.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::io {
namespace {

LoadedModel press() { return load_model({.file = JUDDER_SOURCE_DIR "/gallery/press/model.toml"}); }

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> out;
  for (const double x : values) out.push_back(std::bit_cast<std::uint64_t>(x));
  return out;
}

void expect_same(const engines::Moment& a, const engines::Moment& b) {
  EXPECT_EQ(bits({a.time, a.initial_energy, a.step}), bits({b.time, b.initial_energy, b.step}));
  EXPECT_EQ(bits(a.y), bits(b.y));
  EXPECT_EQ(bits(a.dissipated), bits(b.dissipated));
  EXPECT_EQ(bits(a.supplied), bits(b.supplied));
  EXPECT_EQ(bits(a.scales), bits(b.scales));
  EXPECT_EQ(bits(a.history), bits(b.history));
  EXPECT_EQ(bits(a.mode.side), bits(b.mode.side));
  EXPECT_EQ(a.mode.normal, b.mode.normal);
  EXPECT_EQ(a.mode.pressed, b.mode.pressed);
  EXPECT_EQ(a.mode.tangent, b.mode.tangent);
  EXPECT_EQ(a.mode.surface, b.mode.surface);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.watch_counts, b.watch_counts);
  EXPECT_EQ(a.started, b.started);
  const engines::PhaseMemory& p = a.phase;
  const engines::PhaseMemory& q = b.phase;
  EXPECT_EQ(bits({p.time, p.start, p.last_flight, p.largest_energy, p.tail_end}),
            bits({q.time, q.start, q.last_flight, q.largest_energy, q.tail_end}));
  EXPECT_EQ(p.mode, q.mode);
  EXPECT_EQ(p.grow, q.grow);
  EXPECT_EQ(p.stiff, q.stiff);
  for (const auto member :
       {&engines::PhaseMemory::y, &engines::PhaseMemory::side, &engines::PhaseMemory::guards,
        &engines::PhaseMemory::watch_sides, &engines::PhaseMemory::rate, &engines::PhaseMemory::noise,
        &engines::PhaseMemory::stepper, &engines::PhaseMemory::switchings, &engines::PhaseMemory::tail,
        &engines::PhaseMemory::intervals, &engines::PhaseMemory::timetable}) {
    EXPECT_EQ(bits(p.*member), bits(q.*member));
  }
}

TEST(StateFile, GivesEveryBitBack) {
  const LoadedModel model = press();
  ASSERT_TRUE(model.ok());
  const model::System& system = *model.compiled.system;
  engines::EngineOptions options = engines::options_of(model.compiled.run);
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) {
    options.until = std::uniform_real_distribution<double>(0, 2)(random);
    simulate::NullSink sink;
    engines::Moment moment = simulate::run(system, "event", options, sink).end;
    // Numbers of every size, subnormal ones, minus zero.
    for (double& x : moment.scales)
      x = std::ldexp(std::uniform_real_distribution<double>(0, 1)(random),
                     static_cast<int>(random() % 2100) - 1080);
    moment.dissipated.front() = -0.0;
    moment.supplied.front() = std::numeric_limits<double>::denorm_min();
    moment.supplied.back() = -std::numeric_limits<double>::max();
    engines::Moment read;
    ASSERT_EQ(read_state(state_json(system, moment), system, read), "") << "until " << options.until;
    expect_same(moment, read);
  }
}

TEST(StateFile, RefusesOtherModelsAndOtherFiles) {
  const LoadedModel model = press();
  const LoadedModel other = load_model({.file = JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml"});
  ASSERT_TRUE(model.ok() && other.ok());
  simulate::NullSink sink;
  const std::string text = state_json(
      *model.compiled.system,
      simulate::run(*model.compiled.system, "event", engines::options_of(model.compiled.run), sink).end);
  engines::Moment moment;
  EXPECT_NE(read_state(text, *other.compiled.system, moment).find("another model"), std::string::npos);
  EXPECT_NE(read_state("", *model.compiled.system, moment), "");
  EXPECT_NE(read_state("[1]", *model.compiled.system, moment), "");
  for (std::size_t cut = 1; cut < text.size(); cut += 37) {
    std::string damaged = text;
    damaged.erase(cut, 11);
    static_cast<void>(
        read_state(damaged, *model.compiled.system, moment));  // says something, and does not crash
  }
}

TEST(StateFile, KeepsWhatTheRunHasSaid) {
  const LoadedModel model = press();
  ASSERT_TRUE(model.ok());
  RunPast past;
  past.verdict.judged = true;
  past.verdict.laws = {{"gap", 12, 0.5}};
  past.verdict.findings = {{"gap", "plane", 1.5, 2, 1.75, std::numeric_limits<double>::infinity(), 1e-3, 7}};
  past.verdict.not_kept = 3;
  past.reactions_not_unique = past.uniqueness_unchecked = true;
  past.worst_gap = 1e-9;
  past.gains = {2, 0.25, "'plane' at t = 1"};
  past.intervals = 100'001;
  past.extremes = {{"x", -1, 0.5, std::numeric_limits<double>::infinity(), 2}};
  past.hardest = {{"plane", 3.5}};
  const engines::Moment start = start_moment(*model.compiled.system, 2);
  const std::string text = state_json(*model.compiled.system, start, {}, past);
  engines::Moment moment;
  RunPast read;
  ASSERT_EQ(read_state(text, *model.compiled.system, moment, {}, false, &read), "");
  EXPECT_EQ(state_json(*model.compiled.system, start, {}, read), text);

  nlohmann::json many = nlohmann::json::parse(text);
  while (many["past"]["findings"].size() <= 256)
    many["past"]["findings"].push_back(many["past"]["findings"][0]);
  EXPECT_NE(read_state(many.dump(), *model.compiled.system, moment).find("'findings' is too long"),
            std::string::npos);
  for (const auto& [name, value] :
       {std::pair("ratio", nlohmann::json(-1)), std::pair("count", nlohmann::json(-1)),
        std::pair("law", nlohmann::json(5)), std::pair("time", nlohmann::json("inf"))}) {
    nlohmann::json bad = nlohmann::json::parse(text);
    bad["past"]["findings"][0][name] = value;
    EXPECT_NE(read_state(bad.dump(), *model.compiled.system, moment), "") << name;
  }
}

TEST(StateFile, TwoPartsAreJudgedAsOne) {
  Verdict first, second;
  first.judged = true;
  first.laws = {{"gap", 10, 0.5}};
  first.findings = {{"gap", "a", 1, 2, 1, 2, 0.1, 1}};
  second.laws = {{"gap", 5, 3}, {"energy", 1, 0}};
  second.findings = {{"gap", "b", 4, 2, 4, 2, 0.1, 1}, {"gap", "a", 5, 9, 6, 10, 0.7, 4}};
  second.not_kept = 2;
  const Verdict both = joined(first, second);
  EXPECT_TRUE(both.judged);
  ASSERT_EQ(both.laws.size(), 2U);
  EXPECT_EQ(both.laws[0].checks, 15U);
  EXPECT_EQ(both.laws[0].worst, 3);
  ASSERT_EQ(both.findings.size(), 2U);
  EXPECT_EQ(both.findings[0].time, 1);
  EXPECT_EQ(both.findings[0].worst_time, 6);
  EXPECT_EQ(both.findings[0].count, 5U);
  EXPECT_EQ(both.not_kept, 2U);
}

// Every number of a state is replaced by what no number of a state can be; nothing of it may be believed.
TEST(StateFile, BelievesNoNumber) {
  const LoadedModel model = press();
  ASSERT_TRUE(model.ok());
  const model::System& system = *model.compiled.system;
  simulate::NullSink sink;
  engines::EngineOptions options = engines::options_of(model.compiled.run);
  options.until = 0.5;
  const engines::Moment end = simulate::run(system, "event", options, sink).end;
  RunPast past;
  past.ended = RunEnd{{Reason::done, end.time, "", ""}, {0.5, 1e-8, 0, INFINITY, 1000}};
  const nlohmann::json good = nlohmann::json::parse(state_json(system, end, {}, past));
  for (const char* key : {"until", "tolerance", "step", "max_step", "max_events", "reason", "time"}) {
    nlohmann::json bad = good;
    bad["past"]["ended"][key] = "nan";
    engines::Moment moment;
    EXPECT_NE(read_state(bad.dump(), system, moment), "") << key;
  }
  const nlohmann::json flat = good.flatten();
  int refused = 0, taken = 0;
  options.until = end.time + 0.01;
  for (const auto& [path, value] : flat.items()) {
    for (const char* text : {"1e300", "-1e300", "9223372036854775808", "-1", "0.5", "\"nan\"", "\"inf\"",
                             "null", "true", "\"open\"", "[]", "{}"}) {
      nlohmann::json bad = good;
      bad[nlohmann::json::json_pointer(path)] = nlohmann::json::parse(text);
      engines::Moment moment;
      if (!read_state(bad.dump(), system, moment).empty()) {
        ++refused;
        continue;
      }
      // What passes must not harm: a run from it ends with some status.
      ++taken;
      class Stop : public simulate::NullSink {
       public:
        void progress(double) override { cancel = ++steps > 200; }
        long steps = 0;
        std::atomic<bool> cancel{false};
      } stop;
      options.cancel = &stop.cancel;
      static_cast<void>(simulate::run(system, "event", options, stop, &moment));
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(taken, 100);
}

/// A state of a run whose check fits what a stranger has made of it.
class ForgedState : public testing::Test {
 protected:
  void SetUp() override {
    model_ = press();
    ASSERT_TRUE(model_.ok());
    simulate::NullSink sink;
    engines::EngineOptions options = engines::options_of(model_.compiled.run);
    options.until = 0.5;
    const engines::EngineResult result = simulate::run(*model_.compiled.system, "event", options, sink);
    RunPast past;
    past.verdict = result.verdict;
    past.extremes = {{"x", -1, 0.25, 1, 0.5}};
    past.hardest = {{"plane", 3.5}};
    good_ = nlohmann::json::parse(state_json(*model_.compiled.system, result.end, {}, past));
    ASSERT_EQ(problem(good_.dump()), "");
  }
  [[nodiscard]] std::string problem(const std::string& text) const {
    engines::Moment moment;
    RunPast past;
    return read_state(text, *model_.compiled.system, moment, {}, false, &past);
  }
  [[nodiscard]] std::string with(const std::string& place, const char* value) const {
    nlohmann::json bad = good_;
    bad[nlohmann::json::json_pointer(place)] = nlohmann::json::parse(value);
    return problem(bad.dump());
  }
  LoadedModel model_;
  nlohmann::json good_;
};

TEST_F(ForgedState, EveryListHasItsLength) {
  int lists = 0;
  for (const char* name : {"/y", "/scales", "/dissipated", "/supplied", "/watch_counts", "/mode/normal",
                           "/mode/side", "/phase/y", "/phase/side", "/phase/listed_sides", "/phase/guards",
                           "/phase/watch_sides", "/phase/rate", "/phase/noise", "/phase/stepper",
                           "/phase/switchings", "/phase/intervals", "/phase/timetable"}) {
    const nlohmann::json::json_pointer place(name);
    if (good_[place].empty()) continue;
    ++lists;
    nlohmann::json bad = good_;
    bad[place].erase(0);
    EXPECT_NE(problem(bad.dump()), "") << name << " one short";
    bad = good_;
    bad[place].push_back(good_[place][0]);
    EXPECT_NE(problem(bad.dump()), "") << name << " one long";
    if (std::string(name) == "/phase/rate" || std::string(name) == "/phase/noise") continue;  // not known
    if (std::string(name) == "/phase/guards") continue;  // how many there are the engine knows
    bad = good_;
    bad[place] = nlohmann::json::array();
    EXPECT_NE(problem(bad.dump()), "") << name << " empty";
  }
  EXPECT_GE(lists, 10);
}

TEST_F(ForgedState, EveryNumberIsFiniteAndInItsRange) {
  for (const char* name : {"/y", "/scales", "/dissipated", "/supplied", "/phase/y", "/phase/rate",
                           "/phase/guards", "/phase/stepper", "/phase/switchings"}) {
    for (std::size_t i = 0; i < good_[nlohmann::json::json_pointer(name)].size(); ++i) {
      const std::string place = std::string(name) + "/" + std::to_string(i);
      for (const char* value : {"\"inf\"", "\"-inf\"", "\"nan\""})
        EXPECT_NE(with(place, value), "") << place << value;
    }
  }
  for (const auto& [place, value] :
       std::vector<std::pair<std::string, const char*>>{{"/scales/3", "-1"},
                                                        {"/step", "-1"},
                                                        {"/phase/last_flight", "-1"},
                                                        {"/phase/largest_energy", "\"inf\""},
                                                        {"/phase/largest_energy", "-1"},
                                                        {"/phase/guards/0", "0.5"},
                                                        {"/phase/guards/1", "-1"},
                                                        {"/phase/stepper/0", "0.5"},
                                                        {"/phase/stepper/4", "2"},
                                                        {"/phase/switchings/0", "1e300"},
                                                        {"/past/worst_gap", "\"nan\""},
                                                        {"/past/worst_gap", "\"-inf\""},
                                                        {"/past/worst_gap", "-1"},
                                                        {"/past/laws/0/worst", "\"inf\""},
                                                        {"/past/laws/0/worst", "1e22"},
                                                        {"/past/gains/sum", "\"-inf\""},
                                                        {"/past/extremes/0/most_time", "\"-inf\""},
                                                        {"/past/extremes/0/least_time", "1e308"},
                                                        {"/past/extremes/0/least", "\"nan\""},
                                                        {"/past/extremes/0/least", "2"},
                                                        {"/past/hardest/0/impulse", "-1"}})
    EXPECT_NE(with(place, value), "") << place << " " << value;
}

TEST_F(ForgedState, ANameStandsOnce) {
  const std::string text = good_.dump();
  EXPECT_NE(problem("{\"step\":1e-3," + text.substr(1)).find("'step' twice"), std::string::npos);
  const std::size_t inside = text.find("\"phase\":{") + 9;
  EXPECT_NE(problem(text.substr(0, inside) + "\"stiff\":true," + text.substr(inside)), "");
}

// A run that is cut and taken up remembers what one that was never cut remembers, to the last bit.
TEST(StateFile, ARunThatGoesOnEndsInTheSameState) {
  class Keep : public simulate::NullSink {
   public:
    explicit Keep(double time) : time_(time) {}
    void progress(double time) override { now_ = time; }
    bool wants_state() override { return now_ >= time_ && !kept; }
    void state(const engines::EngineResult& so_far) override { kept = so_far.end; }
    std::optional<engines::Moment> kept;

   private:
    double time_, now_ = -INFINITY;
  };
  for (const char* name : {"roller-table", "elastoplastic", "press", "belt"}) {
    const LoadedModel model =
        load_model({.file = std::string(JUDDER_SOURCE_DIR "/gallery/") + name + "/model.toml"});
    ASSERT_TRUE(model.ok());
    const model::System& system = *model.compiled.system;
    const engines::EngineOptions options = engines::options_of(model.compiled.run);
    simulate::NullSink sink;
    const engines::Moment whole = simulate::run(system, "event", options, sink).end;
    for (const double share : {0.1, 0.25, 0.36, 0.6, 0.8}) {
      Keep keep(options.from + share * (whole.time - options.from));
      static_cast<void>(simulate::run(system, "event", options, keep));
      ASSERT_TRUE(keep.kept) << name << share;
      const engines::EngineResult rest = simulate::run(system, "event", options, sink, &*keep.kept);
      SCOPED_TRACE(std::string(name) + " cut at " + std::to_string(keep.kept->time));
      expect_same(whole, rest.end);
    }
  }
}

}  // namespace
}  // namespace judder::io
