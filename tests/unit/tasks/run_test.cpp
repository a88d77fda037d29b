// A run into a folder: complete files, the same numbers as in memory, interruption and resumption.
#include "judder/tasks/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "io/manifest.hpp"
#include "judder/io/reference_file.hpp"
#include "judder/io/run_head.hpp"
#include "judder/io/run_place.hpp"
#include "judder/io/state_file.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using namespace io;
using nlohmann::json;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Run : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-run-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] RunRequest request(const std::string& name) const {
    RunRequest out;
    out.model.file = fs::path(JUDDER_SOURCE_DIR "/gallery") / name / "model.toml";
    out.reference = reference_beside(out.model.file);
    out.output = folder_ / "out";
    return out;
  }

  fs::path folder_;
};

// Nobody waits for a run that was stopped before anything moved; in a new folder it leaves a start to go on from.
TEST_F(Run, InterruptedAtItsStartItLeavesAnEarlierOne) {
  ASSERT_EQ(run_model(request("press")).stage, RunStage::ended);
  std::map<std::string, std::string> before;
  for (const auto& file : fs::directory_iterator(folder_ / "out"))
    before[file.path().filename().string()] = contents(file.path());
  ASSERT_EQ(before.size(), 4U);
  std::atomic<bool> cancel{true};
  RunRequest again = request("press");
  again.cancel = &cancel;
  RunReport report = run_model(again);
  EXPECT_EQ(report.stage, RunStage::ended) << report.files.text();
  EXPECT_EQ(report.summary.status.reason, Reason::interrupted);
  EXPECT_NE(run_text(report).find("the earlier run in"), std::string::npos) << run_text(report);
  std::map<std::string, std::string> after;
  for (const auto& file : fs::directory_iterator(folder_ / "out"))
    after[file.path().filename().string()] = contents(file.path());
  EXPECT_EQ(after, before);
  again.output = folder_ / "new";
  report = run_model(again);
  EXPECT_EQ(report.stage, RunStage::ended) << report.files.text();
  EXPECT_TRUE(fs::exists(folder_ / "new/state.json"));
}

TEST_F(Run, TheFolderHoldsWhatTheRunGaveInMemory) {
  const RunReport report = run_model(request("press"));
  ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
  RunData data;
  ASSERT_TRUE(read_run(report.folder, data).ok());
  const model::System& system = *report.model.compiled.system;
  const simulate::Result result = simulate::simulate(system, engines::options_of(report.model.compiled.run));
  ASSERT_EQ(data.columns.size(), result.data.width);
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    ASSERT_EQ(data.columns[c].name, result.data.names[c]);
    ASSERT_EQ(data.columns[c].size(), result.data.rows());
    if (!data.columns[c].words.empty()) continue;
    for (std::size_t i = 0; i < result.data.rows(); ++i)
      ASSERT_EQ(data.columns[c].numbers[i], result.data.cell(i, c)) << data.columns[c].name << ", row " << i;
  }
  ASSERT_EQ(data.events.size(), result.data.events.size());
  for (std::size_t i = 0; i < data.events.size(); ++i) {
    EXPECT_EQ(data.events[i].time, result.data.events[i].time);
    EXPECT_EQ(data.events[i].kind, engines::name(result.data.events[i].kind));
    EXPECT_EQ(data.events[i].normal_impulse, result.data.events[i].normal_impulse);
  }
  EXPECT_EQ(report.event_count, data.events.size());
  EXPECT_EQ(report.row_count, result.data.rows());
}

// Where reactions are not unique those with the largest margin are shown: the feet of a block in the middle share its weight equally, though any
// division between neighbours would hold it.
TEST_F(Run, SaysWhichReactionsAreShownWhereTheyAreNotUnique) {
  RunRequest wanted = request("two-feet");
  wanted.model.file = fs::path(JUDDER_SOURCE_DIR "/gallery/two-feet/model-four.toml");
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended) << report.files.text();
  const auto notes = [](const RunReport& from) {
    std::string out;
    for (const std::string& note : from.summary.notes) out += note + "\n";
    return out;
  };
  EXPECT_NE(notes(report).find("not unique (redundant contacts); those with the largest margin are shown"),
            std::string::npos)
      << notes(report);
  EXPECT_EQ(notes(run_model(request("press"))).find("not unique"), std::string::npos);
}

TEST_F(Run, RunJsonSaysWhatWasRunAndHowItEnded) {
  RunRequest wanted = request("press");
  wanted.model.variants = {"high"};
  wanted.model.set = {{"mu", 0.25}};
  wanted.until = 1.5;
  wanted.tolerance = 1e-10;
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended);
  const json run = json::parse(contents(report.folder / "run.json"));
  EXPECT_EQ(run["program"]["name"], "judder");
  EXPECT_EQ(run["model"]["variants"], json({"high"}));
  EXPECT_EQ(run["model"]["set"]["mu"], "0.25");
  EXPECT_EQ(run["model"]["parameters"]["c"], 20000);
  EXPECT_EQ(run["model"]["parameters"]["mu"], 0.25);
  EXPECT_EQ(run["engine"], "event");
  EXPECT_EQ(run["options"]["tolerance"], 1e-10);
  EXPECT_EQ(run["options"]["until"], 1.5);
  EXPECT_EQ(run["modes_at_start"], json({{"piston", "stick"}, {"plane", "open"}}));
  EXPECT_EQ(run["end"]["reason"], "done");
  EXPECT_EQ(run["end"]["time"], 1.5);
  EXPECT_EQ(run["counts"]["events"], report.event_count);
  EXPECT_GT(run["counts"]["steps"], 10);
  EXPECT_LT(run["residuals"]["energy"], 1e-8);
  const json& energy = run["energy"];
  EXPECT_NEAR(
      energy["initial"].get<double>() + energy["supplied"].get<double>() - energy["dissipated"].get<double>(),
      energy["final"].get<double>(), 1e-7);
  ASSERT_GT(run["intervals"].size(), 2U);
  EXPECT_EQ(run["intervals"][0]["contact"], "plane");
  EXPECT_LE(run["intervals"][0]["from"], run["intervals"][0]["to"]);
  EXPECT_GT(run["intervals"][0]["peak"], 0);
  EXPECT_GT(run["wall_seconds"], 0);

  // The text alone repeats the run.
  std::ofstream(folder_ / "again.toml") << run["model"]["text"].get<std::string>();
  RunRequest again;
  again.model.file = folder_ / "again.toml";
  again.output = folder_ / "again";
  const RunReport repeated = run_model(again);
  ASSERT_EQ(repeated.stage, RunStage::ended)
      << render(repeated.model.diagnostics, "again.toml", repeated.model.file.text);
  EXPECT_EQ(contents(repeated.folder / "trajectory.csv"), contents(report.folder / "trajectory.csv"));
  EXPECT_EQ(contents(repeated.folder / "events.csv"), contents(report.folder / "events.csv"));
}

TEST_F(Run, PeaksAreTheExtremesOfTheRows) {
  const RunReport report = run_model(request("bouncing-ball"));
  ASSERT_EQ(report.stage, RunStage::ended);
  RunData data;
  ASSERT_TRUE(read_run(report.folder, data).ok());
  for (const Extremes& extremes : report.extremes) {
    const std::vector<double>& numbers = data.find(extremes.name)->numbers;
    EXPECT_EQ(extremes.least, *std::min_element(numbers.begin(), numbers.end())) << extremes.name;
    EXPECT_EQ(extremes.most, *std::max_element(numbers.begin(), numbers.end())) << extremes.name;
  }
}

TEST_F(Run, AModelThatCannotBeRunLeavesNoFolder) {
  RunRequest wanted = request("press");
  wanted.model.engine = "quasi-static";
  const RunReport report = run_model(wanted);
  EXPECT_EQ(report.stage, RunStage::model_invalid);
  EXPECT_TRUE(report.model.diagnostics.has_errors());
  EXPECT_FALSE(fs::exists(wanted.output));
  wanted = request("press");
  wanted.until = -1;
  EXPECT_EQ(run_model(wanted).stage, RunStage::model_invalid);
  wanted = request("press");
  wanted.tolerance = 0.5;
  EXPECT_EQ(run_model(wanted).stage, RunStage::model_invalid);
  wanted = request("press");
  wanted.model.file = folder_ / "none.toml";
  EXPECT_EQ(run_model(wanted).stage, RunStage::model_invalid);
  EXPECT_FALSE(fs::exists(wanted.output));
}

TEST_F(Run, ResumingNeedsAStateThatFitsAndALaterEnd) {
  RunRequest first = request("bouncing-ball");
  first.until = 2;
  ASSERT_EQ(run_model(first).stage, RunStage::ended);
  RunRequest next = request("bouncing-ball");
  next.resume = first.output;
  next.output = folder_ / "next";
  next.until = 1;
  EXPECT_EQ(run_model(next).stage, RunStage::cannot_resume);
  next = request("press");
  next.resume = first.output;
  EXPECT_EQ(run_model(next).stage, RunStage::cannot_resume);
  next = request("bouncing-ball");
  next.resume = folder_ / "nowhere";
  EXPECT_EQ(run_model(next).stage, RunStage::cannot_resume);
}

TEST_F(Run, AResumedRunGoesOnWhereTheFirstEnded) {
  for (const char* name : {"bouncing-ball", "press", "friction-oscillator"}) {
    const RunReport whole = run_model(request(name));
    ASSERT_EQ(whole.stage, RunStage::ended);
    const double end = whole.summary.status.time;
    RunRequest first = request(name);
    first.until = 0.37 * end;
    first.output = folder_ / "first";
    ASSERT_EQ(run_model(first).stage, RunStage::ended);
    RunRequest second = request(name);
    second.resume = first.output;
    second.output = folder_ / "second";
    const RunReport rest = run_model(second);
    ASSERT_EQ(rest.stage, RunStage::ended);

    RunData all, one, two;
    ASSERT_TRUE(read_run(whole.folder, all).ok() && read_run(first.output, one).ok() &&
                read_run(second.output, two).ok());
    ASSERT_EQ(one.events.size() + two.events.size(), all.events.size()) << name;
    for (std::size_t i = 0; i < all.events.size(); ++i) {
      const Event& event = i < one.events.size() ? one.events[i] : two.events[i - one.events.size()];
      EXPECT_EQ(event.kind, all.events[i].kind) << name << ", event " << i;
      EXPECT_NEAR(event.time, all.events[i].time, 1e-7) << name << ", event " << i;
    }
    EXPECT_GT(two.columns[0].numbers.front(), first.until.value()) << "rows of the second part only";
    for (const Column& column : all.columns) {
      if (!column.words.empty()) continue;
      EXPECT_NEAR(two.find(column.name)->numbers.back(), column.numbers.back(), 1e-6)
          << name << ", " << column.name;
    }
    EXPECT_NEAR(rest.summary.energy.dissipated, whole.summary.energy.dissipated, 1e-6)
        << "the audit goes on, too";
  }
}

/// Cancels after so many events.
class Canceller : public simulate::NullSink {
 public:
  explicit Canceller(long at) : at_(at) {}
  void event(const engines::Event&, std::span<const double> /*state*/) override {
    if (++events_ >= at_) cancel = true;
  }
  std::atomic<bool> cancel{false};

 private:
  long at_;
  long events_ = 0;
};

// An interrupted run stops at the end of a step; going on from its file must not be seen in any bit.
TEST_F(Run, InterruptedAndResumedTheBitsAreTheSame) {
  for (const char* name : {"bouncing-ball", "press", "friction-oscillator", "relay", "pilger-mill"}) {
    const LoadedModel model = load_model(request(name).model);
    ASSERT_TRUE(model.ok());
    const model::System& system = *model.compiled.system;
    engines::EngineOptions options = engines::options_of(model.compiled.run);
    if (std::string(name) == "pilger-mill")
      options.until = 0.5;  // long enough for the change to the implicit method
    simulate::NullSink none;
    const engines::Moment whole = simulate::run(system, "event", options, none).end;
    for (const long at : {1L, 2L, 5L, 25L}) {
      Canceller canceller(at);
      options.cancel = &canceller.cancel;
      const engines::EngineResult part = simulate::run(system, "event", options, canceller);
      options.cancel = nullptr;
      if (part.status.reason != Reason::interrupted) continue;  // fewer events than that
      engines::Moment moment;
      ASSERT_EQ(read_state(state_json(system, part.end), system, moment), "");
      const engines::Moment resumed = simulate::run(system, "event", options, none, &moment).end;
      EXPECT_EQ(resumed.events, whole.events) << name << ", stopped after event " << at;
      EXPECT_EQ(resumed.mode, whole.mode) << name << ", stopped after event " << at;
      for (std::size_t i = 0; i < whole.y.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(resumed.y[i]), std::bit_cast<std::uint64_t>(whole.y[i]))
            << name << ", stopped after event " << at << ": y[" << i << "] = " << resumed.y[i] << " and "
            << whole.y[i];
      }
    }
  }
}

/// Keeps every row, and cancels at the end of one step.
class Cutter : public simulate::MemorySink {
 public:
  Cutter(const model::System& system, long at) : MemorySink(system), at_(at) {}
  double* state_rows(std::size_t) override { return nullptr; }
  void progress(double) override {
    if (++steps == at_) cancel = true;
  }
  /// The state that is handed out on the way is the one of an interrupt at the same place.
  bool wants_state() override { return true; }
  void state(const engines::EngineResult& so_far) override { handed = so_far.end; }
  long steps = 0;
  std::atomic<bool> cancel{false};
  engines::Moment handed;

 private:
  long at_;
};

TEST_F(Run, CutAtAnyStepEveryRowKeepsItsBits) {
  struct Case {
    const char* name;
    const char* engine;
  };
  for (const Case& each :
       {Case{"press", "event"}, Case{"press", "exact"}, Case{"impact-oscillator", "exact"},
        Case{"relay", "exact"}, Case{"rocking-block", "event"}, Case{"roller-table", "event"}}) {
    const char* const name = each.name;
    const char* const engine = each.engine;
    const LoadedModel model = load_model(request(name).model);
    ASSERT_TRUE(model.ok());
    const model::System& system = *model.compiled.system;
    engines::EngineOptions options = engines::options_of(model.compiled.run);
    const auto run = [&](Cutter& cutter, const engines::Moment* resume) {
      options.cancel = &cutter.cancel;
      return simulate::run(system, engine, options, cutter, resume);
    };
    Cutter whole(system, 0);
    static_cast<void>(run(whole, nullptr));
    const long stride = std::max(1L, whole.steps / 20);
    for (long at = 1; at < whole.steps; at += stride) {
      Cutter first(system, at), second(system, 0);
      const engines::EngineResult part = run(first, nullptr);
      ASSERT_EQ(part.status.reason, Reason::interrupted);
      const std::string state = state_json(system, part.end);
      EXPECT_EQ(state_json(system, first.handed), state) << name;
      engines::Moment moment;
      ASSERT_EQ(read_state(state, system, moment), "");
      static_cast<void>(run(second, &moment));
      std::vector<double> rows = first.cells;
      rows.insert(rows.end(), second.cells.begin(), second.cells.end());
      ASSERT_EQ(rows.size(), whole.cells.size()) << name << " by " << engine << ", step " << at;
      EXPECT_EQ(std::memcmp(rows.data(), whole.cells.data(), rows.size() * sizeof(double)), 0)
          << name << " by " << engine << ", step " << at;
    }
  }
}

TEST_F(Run, AnInterruptedRunLeavesCompleteFiles) {
  std::atomic<bool> cancel{true};
  RunRequest wanted = request("press");
  wanted.cancel = &cancel;
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended);
  EXPECT_EQ(report.summary.status.reason, Reason::interrupted);
  RunData data;
  EXPECT_TRUE(read_run(report.folder, data).ok());
  EXPECT_EQ(json::parse(data.run_json)["end"]["reason"], "interrupted");
  EXPECT_FALSE(data.state_json.empty());
  for (const fs::directory_entry& entry : fs::directory_iterator(report.folder))
    EXPECT_NE(entry.path().extension(), ".tmp");
}

TEST_F(Run, DefaultFoldersAreNamedAfterTheModel) {
  RunRequest wanted;
  wanted.model.file = "press.toml";
  EXPECT_EQ(default_run_folder(wanted.model, wanted.resume), "runs/press");
  wanted.model.variants = {"high", "wet"};
  EXPECT_EQ(default_run_folder(wanted.model, wanted.resume), "runs/press-high-wet");
  wanted.model.file = "gallery/rocking-block/model.toml";
  wanted.model.variants.clear();
  EXPECT_EQ(default_run_folder(wanted.model, wanted.resume), "runs/rocking-block");
  wanted.resume = "runs/press/";
  EXPECT_EQ(default_run_folder(wanted.model, wanted.resume), "runs/press-resumed");
}

TEST_F(Run, SettingsAreInTheNameAndNoNameLeadsOut) {
  RunRequest wanted;
  wanted.model.file = "press.toml";
  wanted.model.set = {*parse_setting("mu=0.30"), *parse_setting("x'=2")};
  EXPECT_EQ(default_run_folder(wanted.model, wanted.resume), "runs/press-mu=0.3-x'=2");
  // What cannot stand in a name is replaced, and two that are replaced alike stay apart.
  wanted.model.set = {*parse_setting("a=pi/4")};
  const fs::path one = default_run_folder(wanted.model, wanted.resume);
  wanted.model.set = {*parse_setting("a=pi*4")};
  EXPECT_NE(default_run_folder(wanted.model, wanted.resume), one);
  EXPECT_EQ(one.string().rfind("runs/press-a=pi_4-", 0), 0U) << one;
  for (const char* name : {"/../../../escaped", "..", "a/b", "\x1b[2J", ".hidden"}) {
    wanted = {};
    wanted.model.file = "press.toml";
    wanted.model.variants = {name};
    const fs::path folder = default_run_folder(wanted.model, wanted.resume);
    EXPECT_EQ(folder.parent_path(), "runs") << folder;
    EXPECT_EQ(std::distance(folder.begin(), folder.end()), 2) << folder;
    EXPECT_EQ(folder.lexically_normal(), folder);
  }
  wanted.model.variants.assign(100, "a-long-name");
  EXPECT_LT(default_run_folder(wanted.model, wanted.resume).filename().string().size(), 150U);
}

// A variant whose name would lead out is refused where the name is used, and runs where the user says.
TEST_F(Run, AVariantWhoseNameIsNoFolderNeedsOne) {
  std::ofstream(folder_ / "g.toml")
      << "format = 1\n[parameters]\na = 1\n[coordinates]\nx = { start = 1, velocity = -1 }\n"
         "[energy]\nkinetic = \"x'^2/2*a\"\n[variants]\n\"/../../../escaped\" = { a = 2 }\n"
         "[run]\nuntil = 1\n";
  RunRequest wanted;
  wanted.model.file = folder_ / "g.toml";
  wanted.model.variants = {"/../../../escaped"};
  const RunReport refused = run_model(wanted);
  EXPECT_EQ(refused.stage, RunStage::files_failed);
  EXPECT_NE(refused.files.text().find("choose one with -o"), std::string::npos) << refused.files.text();
  wanted.output = folder_ / "here";
  EXPECT_EQ(run_model(wanted).stage, RunStage::ended);
}

// What a state belongs to: the same equations only, other values when that is asked for.
TEST_F(Run, AStateKnowsItsModel) {
  const auto write = [&](const std::string& gap, const std::string& m) {
    std::ofstream(folder_ / "ball.toml")
        << "format = 1\n[parameters]\nm = " << m
        << "\nroad = { file = \"road.csv\" }\n[coordinates]\ny = 1\n[energy]\nkinetic = \"m/2*y'^2\"\n"
           "potential = \"m*10*y\"\n[[contact]]\nname = \"floor\"\ngap = \""
        << gap << "\"\nimpact = \"0.5 + 0*road[1]\"\n[variants]\nheavy = { m = 3 }\n[run]\nuntil = 2\n";
  };
  std::ofstream(folder_ / "road.csv") << "1,2\n";
  write("y", "1");
  RunRequest first;
  first.model.file = folder_ / "ball.toml";
  first.output = folder_ / "first";
  first.until = 1;
  const RunReport ran = run_model(first);
  ASSERT_EQ(ran.stage, RunStage::ended) << render(ran.model.diagnostics, "ball", ran.model.file.text);

  RunRequest next = first;
  next.until = 2;
  next.resume = first.output;
  next.output = folder_ / "next";
  EXPECT_EQ(run_model(next).stage, RunStage::ended);

  const auto refused = [&](RunRequest wanted, const std::string& words, bool accepted) {
    wanted.accept_changes = false;
    const RunReport report = run_model(wanted);
    EXPECT_EQ(report.stage, RunStage::cannot_resume) << words;
    EXPECT_NE(report.files.text().find(words), std::string::npos) << report.files.text();
    wanted.accept_changes = true;
    EXPECT_EQ(run_model(wanted).stage, accepted ? RunStage::ended : RunStage::cannot_resume) << words;
  };
  RunRequest changed = next;
  changed.model.set = {*parse_setting("m=2")};
  refused(changed, "m was 1 and is 2", true);
  changed = next;
  changed.model.variants = {"heavy"};
  refused(changed, "the variants were none and are heavy", true);
  changed = next;
  changed.model.engine = "exact";
  refused(changed, "the engine was event and is exact", true);
  write("y", "1.5");
  refused(next, "m was 1 and is 1.5", true);
  write("y - 0.1", "1");
  refused(next, "another model: it has 'gap = \"y\"' where this one has 'gap = \"y - 0.1\"'", false);
  write("y", "1");
  std::ofstream(folder_ / "road.csv") << "1,3\n";
  refused(next, "the numbers of parameter road are others", true);
  std::ofstream(folder_ / "road.csv") << "1,2\n";

  // What only shows the motion, or says how long to look, is no other model.
  std::ofstream(folder_ / "ball.toml", std::ios::app) << "tolerance = 1e-8\n[output]\nsamples = 11\n";
  EXPECT_EQ(run_model(next).stage, RunStage::ended);
}

TEST_F(Run, StatesOfEarlierVersionsAreRefusedWithAdvice) {
  RunRequest first = request("bouncing-ball");
  first.until = 1;
  ASSERT_EQ(run_model(first).stage, RunStage::ended);
  for (const auto& [format, words] : {std::pair("1", "run the model anew"),
                                      std::pair("2", "run the model anew"), std::pair("4", "newer")}) {
    std::string text = contents(first.output / "state.json");
    text.replace(text.find("\"format\": 3"), 11, std::string("\"format\": ") + format);
    fs::create_directories(folder_ / "old");
    std::ofstream(folder_ / "old/state.json") << text;
    RunRequest next = request("bouncing-ball");
    next.resume = folder_ / "old";
    next.output = folder_ / "next";
    const RunReport report = run_model(next);
    EXPECT_EQ(report.stage, RunStage::cannot_resume);
    EXPECT_NE(report.files.text().find(words), std::string::npos) << report.files.text();
  }
}

/// Counts the rows, events and steps that a run tells of, and interrupts it behind so many. By them and not by a clock: every machine is cut at the same
/// places.
class Interrupter final : public simulate::NullSink {
 public:
  /// Into a request, for its next run.
  void listen(RunRequest& request, long after = std::numeric_limits<long>::max()) {
    after_ = after;
    told_ = 0;
    cancel_ = false;
    request.listener = this;
    request.cancel = &cancel_;
  }
  [[nodiscard]] long told() const { return told_; }

  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override { count(); }
  void event(const engines::Event&, std::span<const double>) override { count(); }
  void progress(double) override { count(); }

 private:
  void count() {
    if (++told_ >= after_) cancel_ = true;
  }
  long after_ = 0, told_ = 0;
  std::atomic<bool> cancel_{false};
};

/// Runs whole, into wanted.output, and counts what the run tells.
long whole_run(RunRequest wanted, RunReport& report) {
  Interrupter counter;
  counter.listen(wanted);
  report = run_model(wanted);
  return counter.told();
}

/// Runs until it is done, in about eight parts, each taken up in its folder; `told`: by whole_run. The number of parts in which it came further.
int run_in_parts(RunRequest wanted, long told, RunReport& last) {
  fs::remove_all(wanted.output);
  std::mt19937_64 random(11);
  Interrupter interrupt;
  int parts = 0;
  double reached = -1;
  for (int i = 0; i < 1000; ++i) {
    interrupt.listen(wanted, 1 + static_cast<long>(random() % static_cast<unsigned long>(told / 4 + 1)));
    last = run_model(wanted);
    if (last.stage != RunStage::ended) return parts;
    parts += last.summary.status.time > reached ? 1 : 0;
    reached = last.summary.status.time;
    if (last.summary.status.reason != Reason::interrupted) return parts;
    wanted.resume = wanted.output;
  }
  return parts;
}

/// The state of a folder with other numbers and a check that fits them, as somebody who means harm would write it.
void forge(const fs::path& folder, const std::function<void(nlohmann::ordered_json&)>& change) {
  const std::string text = contents(folder / "state.json");
  const auto manifest = read_manifest(text);
  ASSERT_TRUE(manifest.has_value());
  auto state = nlohmann::ordered_json::parse(text);
  state.erase("check");
  state.erase("files");
  change(state);
  std::ofstream(folder / "state.json") << with_manifest(state.dump(1), *manifest);
}

// A ball inside the ground: the referee says so, and whoever takes up the run hears it again, in the same folder or in another one.
TEST_F(Run, ALawThatWasBrokenIsBrokenForTheWholeRun) {
  RunRequest wanted = request("bouncing-ball");
  wanted.until = 1;
  ASSERT_EQ(run_model(wanted).summary.status.reason, Reason::done);
  forge(wanted.output, [](auto& state) { state["y"][0] = state["phase"]["y"][0] = -0.3; });
  wanted.resume = wanted.output;
  wanted.until = 1.1;
  const RunReport broken = run_model(wanted);
  ASSERT_EQ(broken.stage, RunStage::ended) << broken.files.text();
  ASSERT_EQ(broken.summary.status.reason, Reason::laws_violated);
  const Finding first = broken.summary.verdict.findings.at(0);

  // Back above the ground nothing new is found.
  forge(wanted.output, [](auto& state) {
    state["y"][0] = state["phase"]["y"][0] = 0.3;
    state["y"][1] = state["phase"]["y"][1] = 0;
    // Without what the run remembers of its phase.
    for (auto& [name, value] : state["phase"].items()) {
      if (value.is_array()) value = nlohmann::ordered_json::array();
    }
    while (state["scales"].size() > state["y"].size()) state["scales"].erase(state["scales"].size() - 1);
  });
  for (const bool in_place : {false, true}) {
    RunRequest next = wanted;
    next.until = 1.2;
    if (!in_place) next.output = folder_ / "elsewhere";
    const RunReport later = run_model(next);
    ASSERT_EQ(later.stage, RunStage::ended) << later.files.text();
    EXPECT_EQ(later.summary.status.reason, Reason::laws_violated);
    EXPECT_EQ(later.summary.status.where, broken.summary.status.where);
    const auto& found = later.summary.verdict.findings;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Finding& each) {
      return each.law == first.law && each.place == first.place && each.time == first.time;
    }));
    const json run = json::parse(contents(later.folder / "run.json"));
    EXPECT_EQ(run["end"]["reason"], "laws-violated");
    EXPECT_EQ(run["referee"]["findings"].size(), found.size());
  }
}

// Of what a run says of itself nothing is forgotten where it goes on: extremes, marks, the largest impact, energy that a law created.
TEST_F(Run, TheSummaryOfARunThatWentOnIsThatOfTheWhole) {
  std::ofstream(folder_ / "stack.toml")
      << "format = 1\n[coordinates]\nx = 0\ny = 1\n"
         // A rod that Newton's law throws up with more energy than it had (Zabuga 2017, chapter 2).
         "u = { velocity = 0.5 }\nw = 0.49\np = \"pi/3\"\n"
         "[energy]\nkinetic = \"x'^2/2 + y'^2/2 + u'^2/2 + w'^2/2 + p'^2/24\"\n"
         "potential = \"10*x + 10*y + 10*w\"\n"
         "[[contact]]\nname = \"rod\"\ngap = \"w - sin(p)/2\"\nslip = \"(u - cos(p)/2)'\"\nfriction = 0.5\n"
         "impact = { type = \"newton\", restitution = 1 }\n"
         "[[contact]]\nname = \"table\"\ngap = \"x\"\n[[contact]]\nname = \"table_again\"\ngap = \"2*x\"\n"
         "[[contact]]\nname = \"floor\"\ngap = \"y\"\nimpact = 0.9\n"
         "[run]\nuntil = 3\nengine = \"event\"\ntolerance = 1e-13\nmax_step = 1e-3\n";
  RunRequest wanted;
  wanted.model.file = folder_ / "stack.toml";
  wanted.output = folder_ / "whole";
  RunReport whole;
  const long told = whole_run(wanted, whole);
  ASSERT_EQ(whole.stage, RunStage::ended) << render(whole.model.diagnostics, "stack", whole.model.file.text);
  const auto has = [](const RunReport& report, const std::string& words) {
    return std::any_of(report.summary.notes.begin(), report.summary.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  ASSERT_TRUE(has(whole, "not unique"));
  ASSERT_TRUE(has(whole, "created energy"));

  wanted.output = folder_ / "parts";
  RunReport part;
  EXPECT_GT(run_in_parts(wanted, told, part), 2);
  ASSERT_EQ(part.stage, RunStage::ended) << part.files.text();
  EXPECT_EQ(part.summary.status.reason, Reason::done);
  ASSERT_EQ(part.extremes.size(), whole.extremes.size());
  for (std::size_t i = 0; i < whole.extremes.size(); ++i) {
    EXPECT_EQ(part.extremes[i].least, whole.extremes[i].least) << whole.extremes[i].name;
    EXPECT_EQ(part.extremes[i].most_time, whole.extremes[i].most_time) << whole.extremes[i].name;
  }
  EXPECT_EQ(part.hardest, whole.hardest);
  for (const std::string& note : whole.summary.notes) EXPECT_TRUE(has(part, note)) << note;
  const auto of_energy = [](const std::string& note) {
    return note.find("created energy") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(part.summary.notes.begin(), part.summary.notes.end(), of_energy), 1);
  EXPECT_EQ(part.summary.residuals, whole.summary.residuals);
  EXPECT_EQ(part.summary.intervals.size(), whole.summary.intervals.size());
}

// A phase without events, or a rest, may have millions of rows: between them a run hears, saves and goes on with the same bits.
TEST_F(Run, ManyRowsOfOnePhaseAreSavedOnTheWay) {
  for (const char* engine : {"event", "exact"}) {
    std::ofstream(folder_ / "long.toml") << "format = 1\n[coordinates]\nx = 1\ny = { velocity = 0.1 "
                                            "}\n[energy]\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = \""
                                         << (std::string(engine) == "exact" ? "x^2/2" : "0*x")
                                         << "\"\n[run]\nuntil = 100\n[output]\nsamples = 200001\n";
    RunRequest wanted;
    wanted.model.file = folder_ / "long.toml";
    wanted.model.engine = engine;
    wanted.output = folder_ / "whole";
    RunReport whole, part;
    const long told = whole_run(wanted, whole);
    ASSERT_EQ(whole.stage, RunStage::ended);
    EXPECT_GT(told, 200'000) << engine;
    wanted.output = folder_ / "parts";
    EXPECT_GT(run_in_parts(wanted, told, part), 2) << engine;
    EXPECT_TRUE(contents(folder_ / "parts/trajectory.csv") == contents(folder_ / "whole/trajectory.csv"))
        << engine;
  }
}

// A ball of mass 1 on a spring k: y = −g/k (1 − cos ωt) − v/ω sin ωt from touch to parting, ω² = k. The largest force is g + k sqrt((g/k)² + (v/ω)²), the
// impulse 2 v + g T over the time T = 2 (π − atan(v ω/g))/ω. With a damper the damped motion and its momentum, and the force ends before the gap opens.
TEST_F(Run, CompliantContactsHaveTheirLoads) {
  constexpr double g = 9.81, k = 1000;
  const double w = std::sqrt(k), v = std::sqrt(2 * g), touch = std::sqrt(2 / g);
  const double peak = g + k * std::hypot(g / k, v / w), length = 2 * (M_PI - std::atan(v * w / g)) / w;
  const auto write = [this](const std::string& damping, const std::string& more = "") {
    std::ofstream(folder_ / "soft.toml")
        << "format = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n"
           "[[contact]]\nname = \"pad\"\ngap = \"y\"\ncompliant = { stiffness = 1000"
        << damping << " }\n"
        << more << "[run]\nuntil = 3\n[output]\nsamples = 2000\n";
  };
  RunRequest wanted;
  wanted.model.file = folder_ / "soft.toml";
  for (const char* engine : {"event", "exact"}) {
    write("");
    wanted.model.engine = engine;
    wanted.output = folder_ / "whole";
    wanted.resume.clear();
    RunReport whole, part;
    const long told = whole_run(wanted, whole);
    ASSERT_EQ(whole.stage, RunStage::ended) << whole.files.text();
    const double near = std::string(engine) == "exact" ? 1e-12 : 2e-9;
    ASSERT_EQ(whole.summary.intervals.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const io::RunSummary::Interval& phase = whole.summary.intervals[i];
      EXPECT_EQ(phase.contact, "pad");
      EXPECT_NEAR(phase.from, touch + static_cast<double>(i) * (2 * touch + length), near) << engine;
      EXPECT_NEAR(phase.to - phase.from, length, near) << engine;
      EXPECT_NEAR(phase.peak / peak, 1, near) << engine;
      EXPECT_NEAR(phase.impulse / (2 * v + g * length), 1, near) << engine;
    }
    EXPECT_NE(run_markdown(whole).find("| pad     |      3 |"), std::string::npos) << run_markdown(whole);
    // Cut anywhere the phases are those of the whole.
    wanted.output = folder_ / "parts";
    EXPECT_GT(run_in_parts(wanted, told, part), 2) << engine;
    ASSERT_EQ(part.summary.intervals.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(part.summary.intervals[i].from, whole.summary.intervals[i].from) << engine;
      EXPECT_EQ(part.summary.intervals[i].to, whole.summary.intervals[i].to) << engine;
      EXPECT_EQ(part.summary.intervals[i].peak, whole.summary.intervals[i].peak) << engine;
      EXPECT_EQ(part.summary.intervals[i].impulse, whole.summary.intervals[i].impulse) << engine;
    }
  }

  // y'' = −g − k y − c y': momentum says the impulse, the speeds at both ends of the phase being those of the rows there.
  write(", damping = 20");
  wanted.model.engine = "event";
  wanted.tolerance = 1e-11;
  wanted.output = folder_ / "damped";
  wanted.resume.clear();
  const RunReport damped = run_model(wanted);
  ASSERT_EQ(damped.stage, RunStage::ended);
  ASSERT_FALSE(damped.summary.intervals.empty());
  const io::RunSummary::Interval& first = damped.summary.intervals.front();
  const double d = 10, wd = std::sqrt(k - d * d);
  const auto at = [&](double t) {  // y + g/k and y'
    const double b = (-v + d * g / k) / wd, e = std::exp(-d * t);
    return std::pair(
        e * (g / k * std::cos(wd * t) + b * std::sin(wd * t)),
        e * ((-d * g / k + b * wd) * std::cos(wd * t) - (d * b + wd * g / k) * std::sin(wd * t)));
  };
  // While it is pressed; then the damper would pull, the force is zero and the ball flies until the gap opens.
  double low = 0.02, high = 2 * M_PI / wd;
  const auto force = [&](double t) { return -k * (at(t).first - g / k) - 2 * d * at(t).second; };
  for (double t = low; t < high; t += 1e-4) {
    if (force(t) < 0) {
      high = t;
      low = t - 1e-4;
      break;
    }
  }
  for (int i = 0; i < 60; ++i) ((force(0.5 * (low + high)) > 0) ? low : high) = 0.5 * (low + high);
  EXPECT_NEAR(first.impulse, at(low).second + v + g * low, 1e-8);
  double most = 0;
  for (double t = 0; t < low; t += 1e-6) most = std::max(most, force(t));
  EXPECT_NEAR(first.peak / most, 1, 1e-8);
  EXPECT_GT(first.to - first.from, low);
  const double u = at(low).second, depth = -(at(low).first - g / k);
  EXPECT_NEAR(first.to - first.from, low + (u - std::sqrt(u * u - 2 * g * depth)) / g, 1e-8);
}

// What has been learnt of a period is not saved, so that nobody is given other bits without a word.
TEST_F(Run, ASearchForAPeriodGoesOnOnlyWhenAsked) {
  RunRequest wanted = request("impact-oscillator");
  wanted.until = 20;
  wanted.until_periodic = true;
  ASSERT_EQ(run_model(wanted).stage, RunStage::ended);
  for (const bool still : {true, false}) {
    RunRequest next = wanted;
    next.resume = wanted.output;
    next.output = folder_ / "next";
    next.until = 40;
    next.until_periodic = still;
    const RunReport refused = run_model(next);
    EXPECT_EQ(refused.stage, RunStage::cannot_resume);
    EXPECT_NE(refused.files.text().find("to end when periodic"), std::string::npos) << refused.files.text();
    next.accept_changes = true;
    EXPECT_EQ(run_model(next).stage, RunStage::ended);
  }
}

// A run that has ended is taken up only to do more than it was asked for; asked for the same, it says its end again.
TEST_F(Run, ARunThatHasEndedGoesOnOnlyWhenMoreIsAskedFor) {
  const auto write = [this](const std::string& stop, const std::string& run) {
    std::ofstream(folder_ / "model.toml")
        << "format = 1\n[parameters]\nk = 1\n[coordinates]\nx = { start = 1 }\n"
           "[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n"
           "[[watch]]\nname = \"w\"\nzero = \"x\"\n"
        << stop << "\n[run]\n"
        << run;
  };
  struct Case {
    const char *stop, *run, *more;
    bool periodic, accept;
    Reason reason;
    double time;  // of the end: the zeros of cos t, and the starts of its periods
  };
  const double quarter = std::acos(-1.0) / 2;
  const Case cases[] = {
      {"stop = 2", "until = 10", "until = 11", false, false, Reason::watch, 3 * quarter},
      {"", "until = 10", "until = 11", false, false, Reason::done, 10},
      {"", "until = 100\nmax_events = 3", "until = 100\nmax_events = 5", false, false,
       Reason::too_many_events, 7 * quarter},
      {"", "until = 100", "until = 101", true, true, Reason::periodic, 0},
  };
  for (const Case& each : cases) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write(each.stop, each.run);
    RunRequest wanted;
    wanted.model.file = folder_ / "model.toml";
    wanted.output = folder_ / "out";
    wanted.until_periodic = each.periodic;
    const RunReport first = run_model(wanted);
    const std::string what = name(each.reason);
    ASSERT_EQ(first.stage, RunStage::ended) << what;
    ASSERT_EQ(first.summary.status.reason, each.reason) << first.summary.status.message;
    if (each.time > 0) {
      EXPECT_NEAR(first.summary.status.time, each.time, 1e-6) << what;
    }
    const std::string rows = contents(folder_ / "out/trajectory.csv"),
                      state = contents(folder_ / "out/state.json");

    RunRequest again = wanted;
    again.resume = wanted.output;
    for (const bool accept : {false, true}) {
      again.accept_changes = accept;
      const RunReport told = run_model(again);
      EXPECT_EQ(told.stage, RunStage::finished) << what << told.files.text();
      EXPECT_EQ(told.summary.status.reason, each.reason);
      EXPECT_EQ(told.summary.status.time, first.summary.status.time);
      EXPECT_NE(finished_text(told).find("it goes on if you ask for " + told.more), std::string::npos);
      EXPECT_EQ(contents(folder_ / "out/trajectory.csv"), rows) << what;
      EXPECT_EQ(contents(folder_ / "out/state.json"), state) << what;
    }
    RunRequest elsewhere = again;
    elsewhere.accept_changes = false;
    elsewhere.output = folder_ / "elsewhere";
    const RunReport refused = run_model(elsewhere);
    EXPECT_EQ(refused.stage, RunStage::cannot_resume) << what;
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere")) << what;

    write(each.stop, each.more);
    RunRequest more = again;
    more.until_periodic = false;
    more.accept_changes = each.accept;
    const RunReport longer = run_model(more);
    ASSERT_EQ(longer.stage, RunStage::ended) << what << longer.files.text();
    EXPECT_GT(longer.summary.status.time, first.summary.status.time) << what;
    EXPECT_EQ(contents(folder_ / "out/trajectory.csv").rfind(rows, 0), 0U)
        << what << ": behind what was there";
    // What it ends with now counts from now on.
    const RunReport last = run_model(more);
    EXPECT_EQ(last.stage, RunStage::finished) << what << last.files.text();
    EXPECT_EQ(last.summary.status.time, longer.summary.status.time) << what;
  }
}

// Where the motion could not be followed, the same steps end at the same place, or worse: go on without its reactions.
TEST_F(Run, ARunThatCouldNotGoOnDoesNotGoOnWithTheSameSteps) {
  RunRequest wanted = request("painleve-rod");
  ASSERT_EQ(run_model(wanted).summary.status.reason, Reason::inconsistent);
  RunRequest again = wanted;
  again.resume = wanted.output;
  for (const double until : {0.0, 1e3}) {
    if (until > 0) again.until = until;
    const RunReport told = run_model(again);
    EXPECT_EQ(told.stage, RunStage::finished) << told.files.text();
    EXPECT_EQ(told.summary.status.reason, Reason::inconsistent);
    EXPECT_TRUE(told.summary.verdict.findings.empty());
  }
  again.tolerance = 1e-6;
  EXPECT_EQ(run_model(again).stage, RunStage::ended);
}

// A check over state.json: any byte that has changed is seen, also where the number is one that a state could have.
TEST_F(Run, AStateThatWasDamagedIsRefused) {
  RunRequest wanted = request("bouncing-ball");
  wanted.until = 1;
  ASSERT_EQ(run_model(wanted).stage, RunStage::ended);
  const std::string good = contents(wanted.output / "state.json");
  RunRequest next = wanted;
  next.until = 1.5;
  next.resume = wanted.output;
  next.output = folder_ / "next";
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 200) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(wanted.output / "state.json") << bad;
    const RunReport report = run_model(next);
    EXPECT_EQ(report.stage, RunStage::cannot_resume) << "byte " << at;
    EXPECT_NE(report.files.text().find("state.json: "), std::string::npos);
  }
  const std::size_t step = good.find("\"step\": ");
  ASSERT_NE(step, std::string::npos);
  for (const std::string& bad : {std::string(good).insert(step + 8, "1"), good.substr(0, good.size() / 2),
                                 good + " ", json::parse(good).dump()}) {
    std::ofstream(wanted.output / "state.json") << bad;
    const RunReport report = run_model(next);
    EXPECT_EQ(report.stage, RunStage::cannot_resume);
    EXPECT_NE(report.files.text().find("is damaged"), std::string::npos) << report.files.text();
    EXPECT_NE(report.files.text().find("run the model anew"), std::string::npos) << report.files.text();
    RunData data;
    EXPECT_FALSE(read_run(wanted.output, data).ok());
    EXPECT_EQ(run_model(wanted).stage, RunStage::files_failed)
        << "nothing is replaced by a list that may be wrong";
  }
  std::ofstream(wanted.output / "state.json") << good;
  EXPECT_EQ(run_model(next).stage, RunStage::ended);
}

// In the folder itself the tables go on: every byte as if the run had never been cut, the summary of the whole.
TEST_F(Run, GoingOnInTheSameFolderGivesTheBytesOfOneRun) {
  for (const char* name : {"press", "impact-oscillator", "relay"}) {
    for (const char* engine : {"event", "auto"}) {
      RunRequest wanted = request(name);
      wanted.model.engine = engine;
      wanted.output = folder_ / "whole";
      RunReport whole, part;
      const long told = whole_run(wanted, whole);
      ASSERT_EQ(whole.stage, RunStage::ended);
      wanted.output = folder_ / "cut";
      const int parts = run_in_parts(wanted, told, part);
      EXPECT_GT(parts, 2) << name << " " << engine;
      ASSERT_EQ(part.stage, RunStage::ended) << part.files.text();
      EXPECT_TRUE(part.summary.status.ok());
      EXPECT_EQ(contents(folder_ / "cut/trajectory.csv"), contents(folder_ / "whole/trajectory.csv")) << name;
      EXPECT_EQ(contents(folder_ / "cut/events.csv"), contents(folder_ / "whole/events.csv")) << name;
      json a = json::parse(contents(folder_ / "cut/run.json"));
      json b = json::parse(contents(folder_ / "whole/run.json"));
      EXPECT_EQ(a["counts"]["rows"], b["counts"]["rows"]);
      EXPECT_EQ(a["counts"]["events"], b["counts"]["events"]);
      EXPECT_EQ(a["counts"]["impacts"], b["counts"]["impacts"]);
      EXPECT_EQ(a["intervals"], b["intervals"]) << name << " " << engine << ", parts: " << parts;
      EXPECT_EQ(a["modes_at_start"], b["modes_at_start"]);
      fs::remove_all(folder_ / "whole");
    }
  }
}

// x = cos(40 t), with rows at every second of it: the points between are on the cosine, in a run that was cut as in one that was not.
TEST_F(Run, PicturesKnowTheMotionBetweenRowsAlsoOfARunThatWentOn) {
  std::ofstream(folder_ / "fast.toml") << "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n"
                                          "potential = \"800*x^2\"\n[run]\nuntil = 2\ntolerance = 1e-11\n"
                                          "[output]\nevery = 1\n";
  RunRequest wanted;
  wanted.model.file = folder_ / "fast.toml";
  wanted.output = folder_ / "out";
  for (const double until : {1.0, 2.0}) {
    wanted.until = until;
    if (until == 2) wanted.resume = wanted.output;
    ASSERT_EQ(run_model(wanted).stage, RunStage::ended);
    const simulate::CurvePoints curve = read_curve(contents(folder_ / "out/run.json"));
    ASSERT_EQ(curve.columns, (std::vector<std::string>{"x", "x'"}));
    ASSERT_GT(curve.times.size(), 200 * until);
    EXPECT_GT(curve.times.back(), until - 0.05);
    EXPECT_LT(curve.times.front(), 0.05);
    double apart = 0;
    for (std::size_t i = 0; i < curve.times.size(); ++i) {
      EXPECT_NEAR(curve.values[2 * i], std::cos(40 * curve.times[i]), 1e-7);
      if (i > 0) apart = std::max(apart, curve.times[i] - curve.times[i - 1]);
    }
    EXPECT_LT(apart, 0.02) << "a piece of the curve is missing";
  }
  // Only whole lists in order are taken.
  json document = json::parse(contents(folder_ / "out/run.json"));
  document["curve"]["times"] = document["curve"]["values"];
  EXPECT_TRUE(read_curve(document.dump()).times.empty());
  document["curve"]["times"] = "no base64 at all";
  EXPECT_TRUE(read_curve(document.dump()).times.empty());
  EXPECT_TRUE(read_curve("{}").times.empty());
  EXPECT_TRUE(read_curve("").times.empty());
}

// Zabuga 2017, 6.3, h = 0.133 m: the structures of the roller table in the published order.
TEST_F(Run, TheSummaryTellsTheStructuresOfTheSource) {
  RunRequest wanted = request("roller-table");
  wanted.model.variants = {"thesis", "low"};
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended);
  EXPECT_EQ(report.first_structure, "I");
  std::string order = report.first_structure;
  std::string last = order;
  for (const std::string& structure : report.structures) {
    if (structure.empty() || structure == last) continue;
    order += " " + structure;
    last = structure;
  }
  EXPECT_EQ(order, "I II III II III I V IV V IV I IV V IV V IV V IV V");
  const std::string text = run_markdown(report);
  EXPECT_NE(text.find("| III → I "), std::string::npos) << "the limiter's jump lifts the slab\n" << text;
  EXPECT_NE(text.find("| I → V "), std::string::npos) << text;
  EXPECT_NE(text.find("## Contact phases"), std::string::npos);
}

TEST_F(Run, TheReferenceIsNamedAndNotLookedFor) {
  RunRequest wanted = request("roller-table");
  wanted.until = 0.2;
  EXPECT_FALSE(run_model(wanted).structures.empty());
  wanted.reference = folder_ / "nothing.toml";
  EXPECT_TRUE(run_model(wanted).structures.empty());
  wanted.reference.clear();
  const RunReport report = run_model(wanted);
  EXPECT_EQ(report.stage, RunStage::ended);
  EXPECT_TRUE(report.structures.empty());
}

TEST_F(Run, WithoutStructuresTheColumnIsLeftOut) {
  const RunReport report = run_model(request("press"));
  ASSERT_EQ(report.stage, RunStage::ended);
  EXPECT_TRUE(report.structures.empty());
  EXPECT_EQ(run_markdown(report).find("structure"), std::string::npos);
}

// A picture of several variants needs the model's own title, a single run that of its variant.
TEST_F(Run, TheHeadOfARunKeepsBothTitles) {
  RunRequest wanted = request("press");
  wanted.model.variants = {"high"};
  const RunReport report = run_model(wanted);
  ASSERT_EQ(report.stage, RunStage::ended);
  const RunHead head = read_run_head(run_json(report.summary));
  EXPECT_EQ(head.title, "Stiff spring, drop from 9 cm");
  EXPECT_EQ(head.model_title, "Two-mass vibro-impact system (press)");
}

TEST_F(Run, LongEventTablesAreCut) {
  RunReport report = run_model(request("press"));
  ASSERT_EQ(report.stage, RunStage::ended);
  report.events_in_window += 7;
  EXPECT_NE(run_text(report).find("… 7 more in events.csv"), std::string::npos);
  EXPECT_NE(run_markdown(report).find("| plane "), std::string::npos);
}

}  // namespace
}  // namespace judder::tasks
