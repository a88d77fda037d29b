// The sinks of a run, each alone: rows and events are told by hand.
#include "judder/tasks/sinks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "allocations.hpp"
#include "judder/simulate/sinks.hpp"
#include "told_run.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using engines::RowKind;

/// A run told to one sink, with the readout that it reads before it.
class Told : public ::testing::Test {
 protected:
  void listen(engines::Sink& sink) {
    all_.add(readout_);
    all_.add(sink);
  }

  ToldRun run_;
  Readout readout_{run_.system()};
  simulate::ManySinks all_;
};

TEST_F(Told, TheReadoutHasNumbersWordsAndNames) {
  ASSERT_EQ(readout_.columns().size(), 5U);
  EXPECT_EQ(readout_.columns()[3].name, "root");
  EXPECT_FALSE(readout_.columns()[3].words);
  EXPECT_TRUE(readout_.columns()[4].words);
  run_.row(readout_, 0.25, 0.81);
  EXPECT_EQ(readout_.time(), 0.25);
  ASSERT_EQ(readout_.numbers().size(), 4U);
  EXPECT_EQ(readout_.numbers()[1], 0.81);
  EXPECT_EQ(readout_.numbers()[3], 0.9);
  ASSERT_EQ(readout_.words().size(), 1U);
  EXPECT_EQ(readout_.words()[0], "open");
  run_.row(readout_, 0.5, 0, true);
  EXPECT_EQ(readout_.words()[0], "closed");
  run_.impact(readout_, 0.5, 2);
  EXPECT_EQ(readout_.where(), "floor");
}

TEST_F(Told, CoordinatesAndVelocitiesCanBeLeftOut) {
  Readout brief(run_.system(), false);
  EXPECT_FALSE(brief.complete());
  ASSERT_EQ(brief.columns().size(), 3U);
  EXPECT_EQ(brief.columns()[0].name, "t");
  EXPECT_EQ(brief.columns()[1].name, "root");
  run_.row(brief, 0.25, 0.81);
  EXPECT_EQ(brief.time(), 0.25);
  ASSERT_EQ(brief.numbers().size(), 2U);
  EXPECT_EQ(brief.numbers()[1], 0.9);
  EXPECT_EQ(brief.words()[0], "open");
}

TEST_F(Told, ColumnsKeepTheirExtremesWithTheFirstTime) {
  ColumnRecord columns(readout_);
  listen(columns);
  run_.row(all_, 0, 1);
  run_.row(all_, 1, 4);
  run_.row(all_, 2, 4);
  run_.row(all_, 3, 0.25);
  ASSERT_EQ(columns.extremes().size(), 4U) << "words have none";
  const io::Extremes& root = columns.extremes()[3];
  EXPECT_EQ(root.name, "root");
  EXPECT_EQ(root.least, 0.5);
  EXPECT_EQ(root.least_time, 3);
  EXPECT_EQ(root.most, 2);
  EXPECT_EQ(root.most_time, 1);
  EXPECT_TRUE(columns.undefined().empty());
}

TEST_F(Told, AColumnWithoutAValueIsNamedOnce) {
  ColumnRecord columns(readout_);
  listen(columns);
  run_.row(all_, 0, 1);
  run_.row(all_, 0.5, -1);
  run_.row(all_, 0.75, -2);
  ASSERT_EQ(columns.undefined().size(), 1U);
  EXPECT_EQ(
      columns.undefined()[0],
      "the column 'root' is nan at t = 0.5, for the first time: its expression has no finite value there");
  EXPECT_EQ(columns.extremes()[3].least, 1) << "what is no number is no extreme";
}

TEST_F(Told, ColumnsGoOnFromWhatWasKnownAndCanForget) {
  ColumnRecord columns(readout_);
  listen(columns);
  columns.take_up({{"y", -3, 0.1, 7, 0.2}, {"gone", 0, 0, 0, 0}}, {"the column 'root' is nan at t = 0.1"});
  run_.row(all_, 1, -5);
  EXPECT_EQ(columns.extremes()[1].least, -5);
  EXPECT_EQ(columns.extremes()[1].most, 7);
  EXPECT_EQ(columns.undefined().size(), 1U) << "said before";
  columns.forget();
  EXPECT_EQ(columns.extremes()[1].least, -3);
  EXPECT_EQ(columns.extremes()[1].least_time, 0.1);
  EXPECT_EQ(columns.extremes()[3].least, INFINITY) << "nothing was known of it";
}

TEST_F(Told, ContactsKeepTheHardestImpactAndTheEnergyThatLawsCreate) {
  ContactRecord contacts(run_.system(), readout_, 2);
  listen(contacts);
  run_.impact(all_, 0.5, 2);
  run_.impact(all_, 0.75, 3, 0.25);
  run_.impact(all_, 1, 1, 0.5);
  run_.impact(all_, 1.25, 0);
  EXPECT_EQ(contacts.loads().hardest, (std::vector<std::pair<std::string, double>>{{"floor", 3}}));
  EXPECT_EQ(contacts.loads().gains.count, 2U);
  EXPECT_EQ(contacts.loads().gains.sum, 0.75);
  EXPECT_EQ(contacts.loads().gains.first, "'floor' at t = 0.75");
}

TEST_F(Told, IntervalsAreCountedBeyondThoseThatAreListed) {
  ContactRecord contacts(run_.system(), readout_, 2);
  listen(contacts);
  Loads before;
  before.interval_count = 5;
  before.intervals = {{"floor", 0, 0.25, 1, 2}};
  contacts.take_up(before);
  all_.interval({0, 1, 2, 3, 4});
  all_.interval({0, 5, 6, 7, 8});
  EXPECT_EQ(contacts.loads().interval_count, 7U);
  ASSERT_EQ(contacts.loads().intervals.size(), 2U);
  EXPECT_EQ(contacts.loads().intervals[1].contact, "floor");
  EXPECT_EQ(contacts.loads().intervals[1].from, 1);
  EXPECT_EQ(contacts.loads().intervals[1].impulse, 4);
  contacts.forget();
  EXPECT_EQ(contacts.loads().interval_count, 5U);
  EXPECT_EQ(contacts.loads().intervals.size(), 1U);
}

TEST_F(Told, TheFirstEventsAreKeptWithTheirStates) {
  EventRecord events(readout_, 2);
  listen(events);
  for (const double time : {0.25, 0.5, 0.75}) run_.impact(all_, time, 8 * time);
  ASSERT_EQ(events.events().size(), 2U);
  EXPECT_EQ(events.events()[1].time, 0.5);
  EXPECT_EQ(events.events()[1].kind, "impact");
  EXPECT_EQ(events.events()[1].where, "floor");
  EXPECT_EQ(events.events()[1].state, (std::vector<double>{0, 4}));
}

// The mode is that of the row after an instant, and belongs to its last event.
TEST_F(Told, StructuresAreNamedAtTheStartAndAfterAnInstant) {
  StructureRecord structures(run_.system(),
                             {{"flight", {{"floor", "open"}}}, {"rest", {{"floor", "closed"}}}}, 3);
  listen(structures);
  EXPECT_EQ(structures.first(), "");
  run_.row(all_, 0, 1);
  run_.row(all_, 0.25, 0.5, true);
  EXPECT_EQ(structures.first(), "flight");
  run_.impact(all_, 0.5, 1);
  run_.impact(all_, 0.5, 1);
  run_.row(all_, 0.5, 0, false, RowKind::before);
  run_.row(all_, 0.5, 0, true, RowKind::after);
  run_.row(all_, 0.75, 0, false);
  run_.impact(all_, 1, 1);
  run_.row(all_, 1, 0, false, RowKind::after);
  run_.impact(all_, 2, 1);
  run_.row(all_, 2, 0, true, RowKind::after);
  EXPECT_EQ(structures.names(), (std::vector<std::string>{"", "rest", "flight"}));
}

TEST_F(Told, ProgressIsToldFromTimeToTime) {
  engines::EngineOptions options;
  options.from = 1;
  options.until = 5;
  std::vector<std::pair<double, long>> told;
  ProgressSink progress([&](double share, long events) { told.emplace_back(share, events); }, options, 10);
  listen(progress);
  run_.impact(all_, 1.5, 1);
  const auto begin = std::chrono::steady_clock::now();
  long steps = 0;
  for (; told.size() < 2; ++steps) all_.progress(2);
  // At most every fifth of a second, whatever the machine does meanwhile.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
  EXPECT_GE(steps, 2);
  EXPECT_EQ(told, (std::vector<std::pair<double, long>>{{0.25, 11}, {0.25, 11}}));
}

class ToldFolder : public Told {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-sinks-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(ToldFolder, TheFolderHoldsTheRowsAndEventsThatWereTold) {
  std::atomic<bool> stop{false};
  FolderSink sink(readout_, stop);
  ASSERT_TRUE(sink.open(folder_ / "run", run_.system(), {}).ok());
  listen(sink);
  run_.row(all_, 0, 1);
  run_.impact(all_, 0.5, 2);
  run_.row(all_, 0.5, 0, true, RowKind::after);
  ASSERT_TRUE(sink.writer().finish("{}", "{}").ok());
  EXPECT_FALSE(stop);
  io::RunData data;
  const io::FileStatus status = io::read_run(folder_ / "run", data);
  ASSERT_TRUE(status.ok()) << status.text();
  ASSERT_NE(data.find("y"), nullptr);
  EXPECT_EQ(data.find("y")->numbers, (std::vector<double>{1, 0}));
  EXPECT_EQ(data.find("foot")->words, (std::vector<std::string>{"open", "closed"}));
  ASSERT_EQ(data.events.size(), 1U);
  EXPECT_EQ(data.events[0].where, "floor");
  EXPECT_EQ(data.events[0].normal_impulse, 2);
  EXPECT_EQ(data.events[0].state, (std::vector<double>{0, 2}));
}

// After so many bytes of rows a state is wanted, and it is kept as a mark: a commit waits for the clock.
TEST_F(ToldFolder, ManyRowsAreMarkedOnTheWay) {
  std::atomic<bool> stop{false};
  FolderSink sink(readout_, stop);
  ASSERT_TRUE(sink.open(folder_ / "run", run_.system(), {}).ok());
  std::vector<bool> commits;
  sink.use_save([&](const engines::EngineResult& so_far, bool commit) {
    commits.push_back(commit);
    sink.writer().mark(so_far.end.time, "{}", "{}");
    return std::size_t{4};
  });
  listen(sink);
  EXPECT_FALSE(all_.wants_state());
  int rows = 0;
  while (!all_.wants_state() && rows < 100'000) run_.row(all_, ++rows * 1e-5, 0.123456789);
  EXPECT_GT(rows, 100);
  EXPECT_LT(rows, 100'000);
  all_.state({});
  EXPECT_EQ(commits, std::vector<bool>{false});
  EXPECT_FALSE(all_.wants_state()) << "the rows before it are marked";
}

TEST_F(ToldFolder, AFolderThatCannotBeWrittenStopsTheRun) {
  std::ofstream(folder_ / "file") << "mine";
  for (const bool by_row : {true, false}) {
    std::atomic<bool> stop{false};
    FolderSink sink(readout_, stop);
    EXPECT_FALSE(sink.open(folder_ / "file" / "run", run_.system(), {}).ok());
    run_.row(readout_, 1, 1);
    if (by_row)
      run_.row(sink, 1, 1);
    else
      run_.impact(sink, 1, 1);
    EXPECT_TRUE(stop);
  }
}

TEST_F(ToldFolder, ARowAllocatesNothing) {
  std::atomic<bool> stop{false};
  ColumnRecord columns(readout_);
  ContactRecord contacts(run_.system(), readout_, 10);
  EventRecord events(readout_, 10);
  StructureRecord structures(run_.system(), {{"flight", {{"floor", "open"}}}}, 10);
  FolderSink folder(readout_, stop);
  ASSERT_TRUE(folder.open(folder_ / "run", run_.system(), {}).ok());
  all_.add(readout_);
  for (engines::Sink* sink :
       std::initializer_list<engines::Sink*>{&columns, &contacts, &events, &structures, &folder})
    all_.add(*sink);
  run_.row(all_, 0, 1);
  const long before = allocations();
  for (int i = 1; i <= 100; ++i) {
    run_.row(all_, i * 0.01, 1);
    all_.progress(i * 0.01);
    static_cast<void>(all_.wants_state());
  }
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace judder::tasks
