// A run into a folder: complete files, the same numbers as in memory, interruption and resumption.
#include "judder/io/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "judder/io/run_head.hpp"
#include "judder/io/state_file.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;
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
    out.output = folder_ / "out";
    return out;
  }

  fs::path folder_;
};

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
  wanted.model.engine = "moreau";
  const RunReport report = run_model(wanted);
  if (!simulate::engine_problem(*report.model.compiled.system, "moreau").empty()) {
    EXPECT_EQ(report.stage, RunStage::model_invalid);
    EXPECT_TRUE(report.model.diagnostics.has_errors());
    EXPECT_FALSE(fs::exists(wanted.output));
  }
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
  void event(const engines::Event&) override {
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
  EXPECT_EQ(default_run_folder(wanted), "runs/press");
  wanted.model.variants = {"high", "wet"};
  EXPECT_EQ(default_run_folder(wanted), "runs/press-high-wet");
  wanted.model.file = "gallery/rocking-block/model.toml";
  wanted.model.variants.clear();
  EXPECT_EQ(default_run_folder(wanted), "runs/rocking-block");
  wanted.resume = "runs/press/";
  EXPECT_EQ(default_run_folder(wanted), "runs/press-resumed");
}

// Zabuga 2017, T-6.2: the structures of the roller table in the published order.
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
  report.event_count += 7;
  EXPECT_NE(run_text(report).find("… 7 more in events.csv"), std::string::npos);
  EXPECT_NE(run_markdown(report).find("| plane "), std::string::npos);
}

}  // namespace
}  // namespace judder::io
