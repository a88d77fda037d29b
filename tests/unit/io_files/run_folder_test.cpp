// What a run folder holds, from its first commit to its end.
#include "run_folder_fixture.hpp"

namespace judder::io {
namespace {

TEST_F(RunFolder, HasTheHeadersAndCellsOfTheContract) {
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_ / "deep" / "run", kBall).ok());
  const std::string_view open = "open";
  writer.row(std::array{0.0, 0.1, 1.0 / 3.0, -0.0}, {&open, 1});
  writer.event({.time = 0.25,
                .kind = "impact",
                .where = "pair[1,2]",
                .detail = "rest stick",
                .normal_impulse = 1.5,
                .tangential_impulse = {-0.5, 7, 8},
                .energy_before = 2,
                .energy_after = 1,
                .mode = 0xABCDEF});
  ASSERT_TRUE(writer.finish("{}\n", "{\"t\":0}\n").ok()) << writer.status().text();
  EXPECT_EQ(text(root_ / "deep/run/trajectory.csv"),
            "t,y,y',mode(plane),\"force, total\"\n0,0.1,0.3333333333333333,open,-0\n");
  EXPECT_EQ(text(root_ / "deep/run/events.csv"),
            "time,kind,where,detail,normal_impulse,tangential_impulse,energy_before,energy_after,mode\n"
            "0.25,impact,\"pair[1,2]\",rest stick,1.5,-0.5,2,1,0000000000abcdef\n");
  EXPECT_EQ(text(root_ / "deep/run/run.json"), "{}\n");
  // The state lists the bytes of the files that belong to it.
  const std::string state = text(root_ / "deep/run/state.json");
  EXPECT_EQ(state.rfind("{\n \"check\": \"", 0), 0U) << state;
  EXPECT_NE(state.find("\",\n \"files\": {\"trajectory.csv\":{\"bytes\":67,\"check\":\""), std::string::npos)
      << state;
  EXPECT_NE(state.find("\"records\":1}"), std::string::npos) << state;
  EXPECT_NE(state.find(",\"t\":0}\n"), std::string::npos) << state;
}

TEST_F(RunFolder, NamesFurtherSlipComponentsAfterTheMode) {
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall, {3}).ok());
  writer.event(
      {.time = 1, .kind = "impact", .where = "ball", .tangential_impulse = {1, 2, 3}, .mode = ~0ULL});
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  EXPECT_EQ(text(root_ / "events.csv"),
            "time,kind,where,detail,normal_impulse,tangential_impulse,energy_before,energy_after,mode,"
            "tangential_impulse_2,tangential_impulse_3\n1,impact,ball,,0,1,0,0,ffffffffffffffff,2,3\n");
  RunData back;
  ASSERT_TRUE(read_run(root_, back).ok());
  EXPECT_EQ(back.events.at(0).tangential_impulse, (std::array<double, 3>{1, 2, 3}));
}

TEST_F(RunFolder, HasTheStateBehindAnEventInItsLastColumns) {
  const std::vector<ColumnName> columns = {{"t"}, {"y"}, {"y'"}, {"force, total"}};
  const std::string header =
      "time,kind,where,detail,normal_impulse,tangential_impulse,energy_before,energy_after,mode";
  for (const int slips : {1, 2}) {
    const fs::path folder = root_ / std::to_string(slips);
    RunWriter writer;
    ASSERT_TRUE(writer.open(folder, columns, {.slip_components = slips, .state = 2}).ok());
    const std::array state = {0.1, -1.0 / 3.0};
    writer.event({.time = 1, .kind = "impact", .where = "ball", .state = state});
    ASSERT_TRUE(writer.finish("{}", "{}").ok());
    EXPECT_EQ(text(folder / "events.csv"), header + (slips == 2 ? ",tangential_impulse_2" : "") +
                                               ",y,y'\n1,impact,ball,,0,0,0,0,0000000000000000" +
                                               (slips == 2 ? ",0" : "") + ",0.1,-0.3333333333333333\n");
    RunData back;
    ASSERT_TRUE(read_run(folder, back).ok());
    EXPECT_EQ(back.event_columns, (std::vector<std::string>{"y", "y'"}));
    EXPECT_EQ(back.events.at(0).state, (std::vector<double>{0.1, -1.0 / 3.0}));
  }
}

TEST_F(RunFolder, ReadsBackEveryBitOfManyBuffers) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int rows = std::max(count(100'000), 40'000);  // more than the buffer of one mebibyte
  std::vector<std::array<double, 4>> numbers;
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall, {2}).ok());
  const std::array<std::string_view, 3> modes = {"open", "stick", "slip-"};
  for (int i = 0; i < rows; ++i) {
    numbers.push_back(
        {0.001 * i, uniform(random), std::ldexp(uniform(random), -300), uniform(random) * 1e200});
    if (i % 1000 == 0) numbers.back()[3] = std::numeric_limits<double>::quiet_NaN();
    writer.row(numbers.back(), {&modes[static_cast<std::size_t>(i) % 3], 1});
    writer.event({.time = 0.001 * i,
                  .kind = "watch",
                  .where = "a",
                  .energy_after = uniform(random),
                  .mode = random()});
  }
  EXPECT_EQ(writer.rows(), static_cast<std::uint64_t>(rows));
  EXPECT_EQ(writer.events(), static_cast<std::uint64_t>(rows));
  ASSERT_TRUE(writer.finish("{\"a\":1}", "{\"b\":2}").ok()) << writer.status().text();

  RunData back;
  const FileStatus status = read_run(root_, back);
  ASSERT_TRUE(status.ok()) << status.text();
  ASSERT_EQ(back.columns.size(), kBall.size());
  for (std::size_t c = 0; c < kBall.size(); ++c) EXPECT_EQ(back.columns[c].name, kBall[c].name);
  ASSERT_EQ(back.columns[0].numbers.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(back.columns[0].numbers[i], numbers[i][0]);
    ASSERT_EQ(back.columns[1].numbers[i], numbers[i][1]);
    ASSERT_EQ(back.columns[2].numbers[i], numbers[i][2]);
    ASSERT_EQ(back.columns[3].words[i], modes[i % 3]);
    ASSERT_TRUE(back.columns[4].numbers[i] == numbers[i][3] || i % 1000 == 0);
  }
  EXPECT_TRUE(std::isnan(back.find("force, total")->numbers[0]));
  EXPECT_EQ(back.events.size(), numbers.size());
  EXPECT_EQ(back.run_json, "{\"a\":1}");
  EXPECT_NE(back.state_json.find("\"b\":2}"), std::string::npos);
  EXPECT_EQ(back.find("no such column"), nullptr);
}

TEST_F(RunFolder, ANewFolderAppearsWholeWithItsFirstCommit) {
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall).ok());
  EXPECT_FALSE(fs::exists(root_));
  const fs::path hidden = root_.parent_path() / ("." + root_.filename().string() + ".tmp");
  EXPECT_TRUE(fs::exists(hidden / "trajectory.csv"));
  ASSERT_TRUE(writer.commit("{}", "{}").ok());
  EXPECT_FALSE(fs::exists(hidden));
  EXPECT_EQ(listing(),
            (std::vector<std::string>{"events.csv", "lock", "run.json", "state.json", "trajectory.csv"}));
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  EXPECT_EQ(listing(), complete_);
}

TEST_F(RunFolder, BelongsToOneWriterAtATime) {
  for (const bool exists : {false, true}) {
    RunWriter first, second, third;
    ASSERT_TRUE(first.open(root_, kBall).ok()) << exists;
    const FileStatus refused = second.open(root_, kBall);
    EXPECT_FALSE(refused.ok()) << "before it has its name";
    EXPECT_NE(refused.text().find("process " + std::to_string(getpid()) + " since 20"), std::string::npos)
        << refused.text();
    ASSERT_TRUE(first.commit("{}", "{}").ok());
    EXPECT_FALSE(second.open(root_, kBall).ok()) << "when it has its name";
    ASSERT_TRUE(first.finish("{}", "{}").ok());
    ASSERT_TRUE(third.open(root_, kBall).ok()) << "free again";
    ASSERT_TRUE(third.finish("{}", "{}").ok());
    EXPECT_EQ(listing(), complete_);
  }
}

TEST_F(RunFolder, TakesOverTheLockOfADeadProcess) {
  fs::create_directories(root_);
  std::ofstream(root_ / "lock") << "judder process 1 since 2020-01-01 00:00:00 UTC\n";
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
  EXPECT_NE(text(root_ / "lock").find("process " + std::to_string(getpid())), std::string::npos);
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  EXPECT_EQ(listing(), complete_);
}

TEST_F(RunFolder, FollowsNoLinkAndReplacesNoForeignFile) {
  fs::create_directories(root_);
  const fs::path outside = fs::path(::testing::TempDir()) / ("judder-outside-" + std::to_string(getpid()));
  std::ofstream(outside) << "precious";
  // Links under every name that a writer uses.
  for (const char* name : {"lock", "trajectory.csv", "events.csv", "run.json", "state.json"}) {
    fs::create_symlink(outside, root_ / name);
    RunWriter writer;
    EXPECT_FALSE(writer.open(root_, kBall).ok()) << name;
    EXPECT_TRUE(fs::is_symlink(root_ / name)) << name;
    fs::remove(root_ / name);
  }
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
    ASSERT_TRUE(writer.finish("{}", "{}").ok()) << writer.status().text();
  }
  EXPECT_EQ(listing(), complete_);
  EXPECT_FALSE(fs::is_symlink(root_ / "trajectory.csv"));
  EXPECT_EQ(text(outside), "precious");
  // What was changed after the run is not ours any more, nor what never was.
  std::ofstream(root_ / "trajectory.csv") << "t,mine\n1,2\n";
  RunWriter changed;
  EXPECT_NE(changed.open(root_, kBall).message.find("changed since"), std::string::npos);
  fs::remove_all(root_);
  fs::create_directories(root_);
  std::ofstream(root_ / "trajectory.csv") << "t,mine\n1,2\n";
  RunWriter foreign;
  EXPECT_NE(foreign.open(root_, kBall).message.find("not written by a run"), std::string::npos);
  EXPECT_EQ(text(root_ / "trajectory.csv"), "t,mine\n1,2\n");
  EXPECT_EQ(listing(), std::vector<std::string>{"trajectory.csv"});
  fs::create_symlink(outside, root_.parent_path() / ("." + root_.filename().string() + "x.tmp"));
  fs::path other = root_;
  other += "x";
  RunWriter beside;
  EXPECT_FALSE(beside.open(other, kBall).ok());
  fs::remove(root_.parent_path() / ("." + root_.filename().string() + "x.tmp"));
  EXPECT_EQ(text(outside), "precious");
  fs::remove(outside);
}

TEST_F(RunFolder, GoesOnBehindWhatWasCommitted) {
  const std::string_view open = "open";
  std::string state;
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok());
    writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
    writer.event({.time = 1, .kind = "impact", .where = "plane"});
    ASSERT_TRUE(writer.finish("1", "{}").ok());
    state = text(root_ / "state.json");
  }
  // Records of a run that was killed before their commit, with its lock.
  std::ofstream(root_ / "trajectory.csv", std::ios::app) << "7,7,7,open,7\n7,7";
  std::ofstream(root_ / "lock") << "judder process 1\n";
  RunData data;
  ASSERT_TRUE(read_run(root_, data).ok());
  EXPECT_EQ(data.columns[0].numbers, std::vector<double>{1.0});
  {
    RunWriter other;
    EXPECT_FALSE(other.open(root_, kBall, {}, "{\"another\":1}").ok());
    EXPECT_FALSE(other.open(root_, std::vector<ColumnName>{{"t"}, {"z"}}, {}, state).ok()) << "other columns";
  }
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall, {}, state).ok()) << writer.status().text();
  EXPECT_EQ(writer.rows(), 1U);
  writer.row(std::array{2.0, 0.0, 0.0, 0.0}, {&open, 1});
  ASSERT_TRUE(writer.finish("2", "{}").ok());
  ASSERT_TRUE(read_run(root_, data).ok());
  EXPECT_EQ(data.columns[0].numbers, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(data.events.size(), 1U);
  EXPECT_EQ(data.run_json, "2");
}

// The states that a kill between the renames of a commit can leave over an earlier run.
TEST_F(RunFolder, AKillBetweenTwoRenamesIsSeenAndFinished) {
  const std::string draft = ".0123456789abcdef.tmp";
  const fs::path next = killed_between_renames(draft);
  // Without the lock nobody knows that the draft is ours.
  const std::string lock = text(root_ / "lock");
  fs::remove(root_ / "lock");
  {
    RunWriter refused;
    EXPECT_NE(refused.open(root_, kBall).message.find("trajectory.csv" + draft + " is"), std::string::npos)
        << refused.status().text();
  }
  std::ofstream(root_ / "lock") << lock;
  for (const char* moved : {"", "trajectory.csv", "run.json"}) {
    if (*moved != '\0') fs::rename(root_ / (std::string(moved) + draft), root_ / moved);
    RunData data;
    const FileStatus status = read_run(root_, data);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(data.columns[0].numbers, std::vector<double>{2.0}) << moved;
    EXPECT_EQ(data.run_json, "two") << moved;
  }
  {
    RunWriter abandoned;
    ASSERT_TRUE(abandoned.open(root_, kBall).ok());
  }
  EXPECT_EQ(listing(), complete_);
  RunData data;
  ASSERT_TRUE(read_run(root_, data).ok());
  EXPECT_EQ(data.run_json, "two");
  fs::remove_all(next);
}

// Behind a kill between two renames the draft is the only copy of what was saved.
TEST_F(RunFolder, ADraftThatStateListsIsNeverLost) {
  const std::string draft = ".0123456789abcdef.tmp";
  const fs::path next = killed_between_renames(draft);
  const auto everything = [&] {
    std::map<std::string, std::string> out;
    for (const std::string& name : listing()) out[name] = text(root_ / name);
    return out;
  };
  for (const char* name : {"trajectory.csv", "run.json"}) {
    const fs::path file = root_ / (name + draft);
    const std::string good = text(file);
    ASSERT_FALSE(good.empty());
    for (const bool cut : {false, true}) {
      std::string bad = good;
      bad.back() = '7';
      if (cut) bad.pop_back();
      std::ofstream(file) << bad;
      const auto before = everything();
      RunWriter writer;
      const FileStatus status = writer.open(root_, kBall);
      EXPECT_EQ(status.file, file.string()) << status.text();
      EXPECT_NE(status.message.find("it stays as it is"), std::string::npos) << status.text();
      EXPECT_EQ(everything(), before) << "nothing has changed";
    }
    std::ofstream(file) << good;
  }
  // Refused for another reason, the run has changed nothing, either.
  const auto before = everything();
  const std::vector<ColumnName> fewer(kBall.begin(), kBall.end() - 1);
  {
    RunWriter other;
    const FileStatus status = other.open(root_, fewer, {}, text(root_ / "state.json"));
    EXPECT_EQ(status.file, (root_ / "trajectory.csv").string());
    EXPECT_NE(status.message.find("ask for the same columns, or go on in another folder with -o"),
              std::string::npos)
        << status.text();
    EXPECT_EQ(everything(), before);
  }
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall, {}, text(root_ / "state.json")).ok()) << writer.status().text();
    ASSERT_TRUE(writer.finish("two", "{}").ok());
  }
  EXPECT_EQ(listing(), complete_);
  EXPECT_EQ(text(root_ / "trajectory.csv"), text(next / "trajectory.csv"));
  fs::remove_all(next);
}

// Four files among somebody's own would be hard to find again.
TEST_F(RunFolder, AFolderWithOtherThingsAndNoRunIsRefused) {
  fs::create_directories(root_ / "photos");
  {
    RunWriter writer;
    const FileStatus status = writer.open(root_, kBall);
    EXPECT_EQ(status.file, root_.string());
    EXPECT_EQ(status.message,
              "holds other things ('photos') and no run; choose a new or an empty folder with -o");
    EXPECT_EQ(listing(), std::vector<std::string>{"photos"});
    EXPECT_FALSE(writer.open("/", kBall).ok());
    EXPECT_FALSE(writer.open(root_ / "..", kBall).ok());
  }
  // Drafts of a run that was killed before its first save are none of them.
  fs::remove(root_ / "photos");
  std::ofstream(root_ / "lock")
      << "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n";
  std::ofstream(root_ / "trajectory.csv.0123456789abcdef.tmp") << "t";
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  EXPECT_EQ(listing(), complete_);
}

TEST_F(RunFolder, WhatStandsInTheWayOfANewFolderIsNamed) {
  const fs::path hidden = root_.parent_path() / ("." + root_.filename().string() + ".tmp");
  for (const std::string kind : {"link", "file", "pipe", "lock"}) {
    if (kind == "link") fs::create_symlink("/nowhere", hidden);
    if (kind == "file") std::ofstream(hidden) << "mine";
    if (kind == "pipe") {
      ASSERT_EQ(mkfifo(hidden.c_str(), 0600), 0);
    }
    if (kind == "lock") {
      fs::create_directory(hidden);
      std::ofstream(hidden / "lock") << "mine";
    }
    RunWriter writer;
    const FileStatus status = writer.open(root_, kBall);
    EXPECT_EQ(status.file, (kind == "lock" ? hidden / "lock" : hidden).string());
    EXPECT_NE(status.message.find("is in the way"), std::string::npos) << status.text();
    EXPECT_NE(status.message.find("move it away, or choose another folder with -o"), std::string::npos)
        << status.text();
    fs::remove_all(hidden);
  }
}

TEST_F(RunFolder, AFileThatDoesNotFitItsStateIsNamed) {
  const std::string_view open = "open";
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall).ok());
  for (int i = 0; i < 100; ++i) writer.row(std::array{i / 3.0, 0.0, 0.0, 0.0}, {&open, 1});
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  const std::string good = text(root_ / "trajectory.csv");
  for (std::size_t at = 0; at < good.size(); at += 17) {
    std::string bad = good;
    bad[at] = bad[at] == '1' ? '2' : '1';
    std::ofstream(root_ / "trajectory.csv") << bad;
    RunData data;
    const FileStatus status = read_run(root_, data);
    EXPECT_NE(status.text().find("trajectory.csv: is not the file"), std::string::npos) << at;
  }
  std::ofstream(root_ / "trajectory.csv") << good.substr(0, good.size() - 1);
  RunData data;
  EXPECT_FALSE(read_run(root_, data).ok());
}

TEST_F(RunFolder, IsCompleteAfterEveryCommitAndGoesOn) {
  const std::string_view open = "open";
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall).ok());
  for (std::size_t i = 1; i <= 3; ++i) {
    writer.row(std::array{double(i), 0.0, 0.0, 0.0}, {&open, 1});
    writer.event({.time = double(i), .kind = "impact", .where = "plane"});
    ASSERT_TRUE(writer.commit(std::to_string(i), "{}").ok());
    RunData seen;  // what a reader would find if the process were killed here
    ASSERT_TRUE(read_run(root_, seen).ok());
    EXPECT_EQ(seen.columns[0].numbers.size(), i);
    EXPECT_EQ(seen.events.size(), i);
    EXPECT_EQ(seen.run_json, std::to_string(i));
  }
  ASSERT_TRUE(writer.finish("4", "{}").ok());
  EXPECT_EQ(listing(), complete_);
  EXPECT_FALSE(writer.commit("5", "{}").ok());
  EXPECT_EQ(text(root_ / "run.json"), "4");
}

TEST_F(RunFolder, KeepsTheEarlierRunUntilTheNewOneCommits) {
  const std::string_view open = "open";
  {
    RunWriter first;
    ASSERT_TRUE(first.open(root_, kBall).ok());
    first.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
    ASSERT_TRUE(first.finish("1", "{}").ok());
  }
  {
    RunWriter abandoned;
    ASSERT_TRUE(abandoned.open(root_, kBall).ok());
    abandoned.row(std::array{2.0, 0.0, 0.0, 0.0}, {&open, 1});
  }
  EXPECT_EQ(listing(), complete_) << "an abandoned writer leaves no temporary files";
  RunData back;
  ASSERT_TRUE(read_run(root_, back).ok());
  EXPECT_EQ(back.columns[0].numbers, std::vector<double>{1.0});
}

TEST_F(RunFolder, ReportsADirectoryThatCannotBeMade) {
  fs::create_directories(root_);
  std::ofstream(root_ / "file") << "x";
  RunWriter writer;
  const FileStatus status = writer.open(root_ / "file" / "run", kBall);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.text().find("Not a directory"), std::string::npos) << status.text();
  writer.row({}, {});  // dropped
  EXPECT_FALSE(writer.finish("{}", "{}").ok());
}

}  // namespace
}  // namespace judder::io
