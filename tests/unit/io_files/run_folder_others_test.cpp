// Run folders that somebody else changes, removes, links or holds.
#include "run_folder_fixture.hpp"

namespace judder::io {
namespace {

// Names that look like drafts are no licence: a file is ours if the lock of a killed run names it.
TEST_F(RunFolder, DraftsOfOthersStay) {
  const std::string_view open = "open";
  const auto run_once = [&] {
    RunWriter writer;
    EXPECT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
    writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
    EXPECT_TRUE(writer.commit("{}", "{}").ok()) << writer.status().text();
    EXPECT_TRUE(writer.finish("{}", "{}").ok()) << writer.status().text();
  };
  run_once();
  const std::vector<std::string> mine = {"events.csv.tmp", "run.json.tmp", "state.json.tmp",
                                         "trajectory.csv.tmp", "run.json.00112233445566ff.tmp"};
  for (const std::string& name : mine) std::ofstream(root_ / name) << "precious " << name;
  fs::copy_file(root_ / "trajectory.csv", root_ / "trajectory.csv.0123456789abcdef.tmp");
  std::ofstream(root_ / "state.json.0123456789abcdef.tmp") << "{";
  for (const bool killed : {false, true}) {
    if (killed)
      std::ofstream(root_ / "lock")
          << "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n";
    run_once();
    for (const std::string& name : mine) EXPECT_EQ(text(root_ / name), "precious " + name);
    for (const char* name : {"trajectory.csv.0123456789abcdef.tmp", "state.json.0123456789abcdef.tmp"})
      EXPECT_EQ(fs::exists(root_ / name), !killed) << name;
  }
}

// Whoever writes a state can write its check: how many records there are is counted, and a name stands once.
TEST_F(RunFolder, AListThatIsNotTrueIsNotTakenUp) {
  const std::string_view open = "open";
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok());
    writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
    writer.event({.time = 1, .kind = "impact", .where = "plane"});
    ASSERT_TRUE(writer.finish("1", "{}").ok());
  }
  const std::string good = text(root_ / "state.json");
  const std::optional<Manifest> list = read_manifest(good);
  ASSERT_TRUE(list);
  const auto refused = [&](const std::string& state) {
    std::ofstream(root_ / "state.json", std::ios::binary) << state;
    RunWriter writer;
    return !writer.open(root_, kBall, {}, state).ok();
  };
  EXPECT_FALSE(refused(with_manifest("{}", *list))) << "the list as it was";
  for (const std::uint64_t records : {0, 2, 1000000000}) {
    Manifest other = *list;
    other.trajectory.records = records;
    EXPECT_TRUE(refused(with_manifest("{}", other))) << records << " rows";
    other = *list;
    other.events.records = records;
    EXPECT_TRUE(refused(with_manifest("{}", other))) << records << " events";
  }
  const std::string twice = with_manifest("{ \"files\": {} }", *list);
  EXPECT_TRUE(refused(twice));
  EXPECT_NE(damage_of(twice), "");
  RunWriter over;
  EXPECT_FALSE(over.open(root_, kBall).ok()) << "nor is the run that it belongs to replaced";
}

TEST_F(RunFolder, AHiddenFolderOfOthersStays) {
  const fs::path hidden = root_.parent_path() / ("." + root_.filename().string() + ".tmp");
  for (const char* name : {"trajectory.csv", "run.json", "notes"}) {
    for (const bool killed : {false, true}) {
      fs::remove_all(root_);
      fs::create_directories(hidden);
      std::ofstream(hidden / name) << "precious";
      if (killed) std::ofstream(hidden / "lock") << "judder process 1 since 2020-01-01 00:00:00 UTC\n";
      RunWriter writer;
      const FileStatus status = writer.open(root_, kBall);
      const bool taken = killed && std::string(name) != "notes";
      EXPECT_EQ(status.ok(), taken) << name << status.text();
      if (!taken) {
        EXPECT_EQ(status.file, (hidden / name).string());
        EXPECT_EQ(text(hidden / name), "precious");
        EXPECT_EQ(fs::exists(hidden / "lock"), killed);
      } else {
        EXPECT_TRUE(writer.finish("{}", "{}").ok());
      }
      fs::remove_all(hidden);
    }
  }
}

// Somebody cuts a table, or writes to it, while the run does.
TEST_F(RunFolder, ATableThatSomebodyElseChangesStopsTheRun) {
  const std::string_view open = "open";
  const std::string note = "# seen on Monday\n";
  for (const std::string file : {"trajectory.csv", "events.csv"}) {
    for (const std::string how : {"longer", "shorter", "below"}) {
      const std::string what = file + " " + how;
      fs::remove_all(root_);
      std::uintmax_t saved = 0;
      {
        RunWriter writer;
        ASSERT_TRUE(writer.open(root_, kBall).ok());
        const auto rows = [&](int from) {
          for (int i = from; i < from + 50; ++i) {
            writer.row(std::array{i / 3.0, 0.0, 0.0, 0.0}, {&open, 1});
            writer.event({.time = i / 3.0, .kind = "impact"});
          }
        };
        rows(0);
        ASSERT_TRUE(writer.commit("saved", "{}").ok());
        saved = fs::file_size(root_ / file);
        rows(50);
        writer.mark(33, "marked", "{}");
        ASSERT_GT(fs::file_size(root_ / file), saved);
        if (how == "longer")
          std::ofstream(root_ / file, std::ios::app) << note;
        else
          fs::resize_file(root_ / file, how == "below" ? saved - 5 : saved + 7);
        rows(100);
        const FileStatus status = writer.commit("later", "{}");
        EXPECT_EQ(status.file, (root_ / file).string()) << what;
        EXPECT_NE(status.message.find(how == "longer" ? "was written to by somebody else" : "was cut by"),
                  std::string::npos)
            << status.text();
        using Disturbed = RunWriter::Disturbed;
        EXPECT_EQ(writer.disturbed(), how == "longer"    ? Disturbed::longer
                                      : how == "shorter" ? Disturbed::shorter
                                                         : Disturbed::below_save);
        EXPECT_FALSE(writer.commit_mark()) << "nothing more is written";
        EXPECT_FALSE(writer.give_up_records());
      }
      RunData data;
      const FileStatus readable = read_run(root_, data);
      EXPECT_EQ(readable.ok(), how != "below") << what << readable.text();
      RunWriter next;
      const FileStatus again = next.open(root_, kBall, {}, text(root_ / "state.json"));
      if (how == "below") {
        EXPECT_EQ(fs::file_size(root_ / file), saved - 5) << "not filled up with zeros";
        EXPECT_FALSE(again.ok());
        continue;
      }
      EXPECT_EQ(data.run_json, "saved") << what;
      EXPECT_EQ(data.columns.at(0).size(), 50U) << what;
      EXPECT_EQ(again.ok(), how == "shorter") << again.text();
      if (how == "shorter") continue;
      const std::string whole = text(root_ / file);
      ASSERT_NE(whole.find(note), std::string::npos) << what;
      EXPECT_EQ(again.line, 1 + static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n')) - 1);
      fs::resize_file(root_ / file, whole.find(note));
      RunWriter last;
      EXPECT_TRUE(last.open(root_, kBall, {}, text(root_ / "state.json")).ok()) << last.status().text();
    }
  }
}

TEST_F(RunFolder, TextsThatSomebodyElseReplacesStopTheRun) {
  for (const std::string file : {"run.json", "state.json"}) {
    for (const bool earlier : {false, true}) {
      fs::remove_all(root_);
      if (earlier) {
        RunWriter before;
        ASSERT_TRUE(before.open(root_, kBall).ok());
        ASSERT_TRUE(before.finish("{}", "{}").ok());
      }
      RunWriter writer;
      ASSERT_TRUE(writer.open(root_, kBall).ok());
      if (!earlier) {
        ASSERT_TRUE(writer.commit("{}", "{}").ok());
        ASSERT_TRUE(writer.commit("{}", "{}").ok());
      }
      std::ofstream(root_ / file, std::ios::app) << "my notes\n";
      const FileStatus status = writer.commit("{}", "{}");
      EXPECT_EQ(status.file, (root_ / file).string());
      EXPECT_EQ(writer.disturbed(), RunWriter::Disturbed::gone);
      EXPECT_NE(text(root_ / file).find("my notes"), std::string::npos) << file;
    }
  }
}

// The lock is on the folder: who takes its file away lets nobody in.
TEST_F(RunFolder, ALockWhoseFileIsRemovedHolds) {
  RunWriter first, second;
  ASSERT_TRUE(first.open(root_, kBall).ok());
  ASSERT_TRUE(first.commit("{}", "{}").ok());
  fs::remove(root_ / "lock");
  const FileStatus refused = second.open(root_, kBall);
  EXPECT_NE(refused.message.find("another run is writing this folder"), std::string::npos) << refused.text();
  EXPECT_FALSE(fs::exists(root_ / "lock")) << "not that of the second";
  EXPECT_TRUE(first.commit("{}", "{}").ok()) << first.status().text();
  EXPECT_NE(text(root_ / "lock").find("process " + std::to_string(getpid())), std::string::npos)
      << "put back";
  fs::remove(root_ / "lock");
  std::ofstream(root_ / "lock") << "mine";
  const FileStatus stopped = first.commit("{}", "{}");
  EXPECT_EQ(stopped.file, (root_ / "lock").string());
  first = RunWriter();
  EXPECT_EQ(text(root_ / "lock"), "mine");
}

// Of a note that was just being written a power cut leaves its beginning, or zeros in it, or nothing. Beside a run that is known for the lock of one.
TEST_F(RunFolder, ALockThatAPowerCutHasTornIsTakenOver) {
  const std::string note = "judder process 4711 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n";
  std::vector<std::string> torn = {"", std::string(note.size(), '\0'), std::string(1, '\0')};
  for (std::size_t cut = 1; cut < note.size(); cut += cut < 8 ? 1 : 5) {
    torn.push_back(note.substr(0, cut));
    torn.push_back(note.substr(0, cut) + std::string(note.size() - cut, '\0'));
    torn.push_back(std::string(cut, '\0') + note.substr(cut));
  }
  const std::string_view open = "open";
  for (const std::string& text : torn) {
    const std::string what = "'" + text + "'";
    fs::remove_all(root_);
    {
      RunWriter writer;
      ASSERT_TRUE(writer.open(root_, kBall).ok());
      writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
      ASSERT_TRUE(writer.finish("{}", "{}").ok());
    }
    const std::string saved = this->text(root_ / "trajectory.csv");
    const std::string state = this->text(root_ / "state.json");
    std::ofstream(root_ / "trajectory.csv", std::ios::app) << "2,0,0,open,0\n3,0";
    std::ofstream(root_ / "lock") << text;
    {
      RunWriter writer;
      EXPECT_TRUE(writer.open(root_, kBall, {}, state).ok()) << what << writer.status().text();
      EXPECT_TRUE(writer.finish("{}", "{}").ok()) << what;
    }
    EXPECT_EQ(this->text(root_ / "trajectory.csv"), saved) << what;
    EXPECT_EQ(listing(), complete_) << what;

    // Before its first save a new run has nothing else there.
    fs::remove_all(root_);
    const fs::path hidden = hidden_folder(root_);
    fs::create_directories(hidden);
    std::ofstream(hidden / "lock") << text;
    RunWriter writer;
    EXPECT_TRUE(writer.open(root_, kBall).ok()) << what << writer.status().text();
    EXPECT_TRUE(writer.finish("{}", "{}").ok()) << what;
    EXPECT_FALSE(fs::exists(hidden)) << what;
    if (HasFailure()) return;
  }
}

TEST_F(RunFolder, ALockOfSomebodyElseStays) {
  const std::vector<std::string> foreign = {"mine",
                                            "justice",
                                            "judder",
                                            "j",
                                            "Judder process 1\n",
                                            std::string(3, '\0') + "mine",
                                            std::string(9000, '\0')};
  for (const std::string& text : foreign) {
    for (const bool beside : {false, true}) {
      // The beginning of a note is one beside a run only.
      if (beside && (text == "judder" || text == "j")) continue;
      fs::remove_all(root_);
      fs::create_directories(root_);
      if (beside) {
        RunWriter before;
        ASSERT_TRUE(before.open(root_, kBall).ok());
        ASSERT_TRUE(before.finish("{}", "{}").ok());
      }
      std::ofstream(root_ / "lock") << text;
      RunWriter writer;
      EXPECT_EQ(writer.open(root_, kBall).file, (root_ / "lock").string()) << text;
      writer = RunWriter();
      EXPECT_EQ(this->text(root_ / "lock"), text);
    }
  }
  // What holds not a word is nobody's.
  for (const std::string& text : {std::string(), std::string(75, '\0')}) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    std::ofstream(root_ / "lock") << text;
    RunWriter writer;
    EXPECT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
    EXPECT_TRUE(writer.finish("{}", "{}").ok());
    EXPECT_EQ(listing(), complete_);
  }
}

// Who takes over a lock that names drafts writes behind that: a write that a power cut tears takes no name away.
TEST_F(RunFolder, TheNamesOfDraftsAreNotWrittenOver) {
  const fs::path next = killed_between_renames(".0123456789abcdef.tmp");
  const std::string before = text(root_ / "lock");
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok()) << writer.status().text();
    EXPECT_EQ(text(root_ / "lock").compare(0, before.size(), before), 0) << text(root_ / "lock");
    EXPECT_NE(text(root_ / "lock").find("process " + std::to_string(getpid())), std::string::npos);
  }
  fs::remove_all(next);
}

// A run over a killed one that ends before it has saved anything leaves the way to go on that it found.
TEST_F(RunFolder, WhoNeverSavedLeavesTheRecordsOfAKilledRunExplained) {
  const std::string_view open = "open";
  {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok());
    writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
    ASSERT_TRUE(writer.finish("{}", "{}").ok());
  }
  const std::string state = text(root_ / "state.json");
  const std::string saved = text(root_ / "trajectory.csv");
  std::ofstream(root_ / "trajectory.csv", std::ios::app) << "2,0,0,open,0\n3,0";
  std::ofstream(root_ / "lock")
      << "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n";
  for (int i = 0; i < 3; ++i) {
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok()) << i << writer.status().text();
    writer.row(std::array{9.0, 0.0, 0.0, 0.0}, {&open, 1});
  }
  RunWriter writer;
  ASSERT_TRUE(writer.open(root_, kBall, {}, state).ok()) << writer.status().text();
  ASSERT_TRUE(writer.finish("{}", "{}").ok());
  EXPECT_EQ(text(root_ / "trajectory.csv"), saved);
  EXPECT_EQ(listing(), complete_);
}

TEST_F(RunFolder, AFolderThatIsRefusedKeepsItsTime) {
  for (const std::string name : {"notes", "state.json", "run.json"}) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    std::ofstream(root_ / name) << "mine";
    fs::last_write_time(root_, fs::file_time_type::clock::now() - std::chrono::hours(3));
    const auto before = fs::last_write_time(root_);
    RunWriter writer;
    EXPECT_FALSE(writer.open(root_, kBall).ok());
    EXPECT_EQ(fs::last_write_time(root_), before) << name;
    EXPECT_EQ(listing(), std::vector<std::string>{name});
  }
}

// A text that is changed within its length has another time, and is looked at then; one that has only another time is the same.
TEST_F(RunFolder, ATextThatIsChangedWithinItsLengthIsNotReplaced) {
  for (const std::string file : {"run.json", "state.json"}) {
    for (const bool earlier : {false, true}) {
      fs::remove_all(root_);
      if (earlier) {
        RunWriter before;
        ASSERT_TRUE(before.open(root_, kBall).ok());
        ASSERT_TRUE(before.finish("{ }", "{}").ok());
      }
      RunWriter writer;
      ASSERT_TRUE(writer.open(root_, kBall).ok());
      if (!earlier) {
        ASSERT_TRUE(writer.commit("{ }", "{}").ok());
        fs::last_write_time(root_ / file, fs::file_time_type::clock::now() - std::chrono::hours(3));
        ASSERT_TRUE(writer.commit("{ }", "{}").ok()) << writer.status().text();
      }
      std::fstream(root_ / file) << "[";
      EXPECT_EQ(writer.commit("{ }", "{}").file, (root_ / file).string());
      EXPECT_EQ(text(root_ / file).front(), '[') << file;
    }
  }
}

// Between taking the lock of a killed run and signing it there is a moment in which its note names a process that is gone.
TEST_F(RunFolder, AProcessThatIsGoneIsNotNamedAsTheHolder) {
  fs::create_directory(root_);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const int folder = open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(folder, LOCK_EX), 0);
  for (const pid_t process : {child, getpid()}) {
    std::ofstream(root_ / "lock") << "judder process " << process << " since 2020-01-01 00:00:00 UTC\n";
    RunWriter writer;
    const FileStatus refused = writer.open(root_, kBall);
    EXPECT_NE(refused.message.find("another run is writing this folder"), std::string::npos);
    EXPECT_EQ(refused.message.find("process") != std::string::npos, process == getpid()) << refused.text();
  }
  close(folder);
}

// Who keeps a copy by hard links does not want it to grow.
TEST_F(RunFolder, ATableWithASecondNameIsNotGoneOnIn) {
  const fs::path copy = root_.string() + "-copy";
  for (const char* file : {"trajectory.csv", "events.csv"}) {
    fs::remove_all(root_);
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok());
    ASSERT_TRUE(writer.finish("{}", "{}").ok());
    fs::create_hard_link(root_ / file, copy);
    RunWriter next;
    const FileStatus status = next.open(root_, kBall, {}, text(root_ / "state.json"));
    EXPECT_EQ(status.file, (root_ / file).string());
    EXPECT_NE(status.message.find("hard link"), std::string::npos) << status.text();
    // A new run replaces the names.
    const std::string before = text(copy);
    RunWriter other;
    ASSERT_TRUE(other.open(root_, kBall).ok()) << other.status().text();
    other.event({.time = 1, .kind = "impact"});
    EXPECT_TRUE(other.finish("{}", "{}").ok());
    EXPECT_EQ(text(copy), before);
    fs::remove(copy);
  }
}

// Whatever cannot be read as a state of ours protects the folder.
TEST_F(RunFolder, AStateThatIsTooLongOrNoFileProtectsItsFolder) {
  for (const std::string how : {"long", "folder", "link"}) {
    fs::remove_all(root_);
    RunWriter writer;
    ASSERT_TRUE(writer.open(root_, kBall).ok());
    ASSERT_TRUE(writer.finish(R"({"program": {"name": "judder"}})", "{}").ok());
    const fs::path state = root_ / "state.json";
    if (how == "long") {
      fs::resize_file(state, 600U << 20U);  // a hole: it takes no room
    } else {
      fs::remove(state);
      if (how == "folder") fs::create_directories(state);
      if (how == "link") fs::create_symlink("elsewhere", state);
    }
    RunWriter next;
    const FileStatus status = next.open(root_, kBall);
    EXPECT_FALSE(status.ok()) << how;
    EXPECT_EQ(status.file, state.string()) << how;
    EXPECT_TRUE(fs::exists(root_ / "trajectory.csv"));
    std::string ignored;
    EXPECT_FALSE(read_state_text(root_, ignored).ok()) << how;
    RunData data;
    EXPECT_FALSE(read_run(root_, data).ok()) << how;
  }
}

// Behind the last save of a killed run stand records, and nothing else is cut off.
TEST_F(RunFolder, OnlyRecordsBehindTheLastSaveAreCutOff) {
  const std::string_view open = "open";
  using Tails = std::vector<std::string>;
  const Tails rows = {"2,0,0,open,1\n", "2,0,0,slip+,-1e-300\n2.5,nan,inf,closed,3\n2.6,1.5e", "2",
                      "2,0,0,op", "2,0,0,open,1\n3,0," + std::string(700, '\0')};
  const Tails no_rows = {"# seen on Monday\n", "# seen on Monday", "2 bolts broken",
                         "2 bolts broken\n",   "2,0,0,open,1\n\n", "2,0,0,open,1\nnote: 3,1",
                         "2,0,0,open\n",       "2,0,0,open,1,7\n", "2,0,0,open,1note\n",
                         "2,0,0,Open it,1\n",  "inf,0,0,open,1\n", "two" + std::string(700, '\0')};
  const Tails events = {"2,impact,plane,\"a, b\",1,0,3,2,00000000000000ff\n", "2,impact,pl",
                        "2,impact,\"a, b"};
  const Tails no_events = {"2,impact,plane,hard,1,0,3,2,ff\n",
                           "2,impact,plane,hard,1,0,3,zwei,00000000000000ff\n", "Monday", "2,impact\n"};
  const auto expect_tails = [&](const std::string& file, const Tails& tails, bool ours) {
    for (const std::string& tail : tails) {
      fs::remove_all(root_);
      {
        RunWriter writer;
        ASSERT_TRUE(writer.open(root_, kBall).ok());
        writer.row(std::array{1.0, 0.0, 0.0, 0.0}, {&open, 1});
        ASSERT_TRUE(writer.finish("{}", "{}").ok());
      }
      std::ofstream(root_ / "lock") << "judder process 1 since 2020-01-01 00:00:00 UTC\n";
      std::ofstream(root_ / file, std::ios::app) << tail;
      const std::string before = text(root_ / file);
      RunWriter next;
      const FileStatus status = next.open(root_, kBall, {}, text(root_ / "state.json"));
      EXPECT_EQ(status.ok(), ours) << tail << status.text();
      if (!ours) {
        EXPECT_GT(status.line, 1U) << tail;
        EXPECT_EQ(text(root_ / file), before);
      }
    }
  };
  expect_tails("trajectory.csv", rows, true);
  expect_tails("trajectory.csv", no_rows, false);
  expect_tails("events.csv", events, true);
  expect_tails("events.csv", no_events, false);
}

// A limit on the size of files stands for a full disk: write() fails in the middle of a buffer.
TEST_F(RunFolder, GoesBackToItsLastCommitWhenTheDiskIsFull) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const std::string_view open = "open";
  for (const int committed : {0, 100}) {
    fs::remove_all(root_);
    rlimit limit = old;
    limit.rlim_cur = (1U << 20U) + 777'777;  // the first buffer fits, the second does not
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FileStatus opened, ended, start;
    {
      RunWriter writer;
      opened = writer.open(root_, kBall);
      for (int i = 0; opened.ok() && i < 100'000; ++i) {
        if (i == committed && i > 0) static_cast<void>(writer.commit("saved", "{}"));
        writer.row(std::array{i / 3.0, i / 7.0, 0.0, 0.0}, {&open, 1});
      }
      ended = writer.finish("{}", "{}");
      EXPECT_EQ(writer.committed(), committed > 0);
      if (writer.give_up_records()) start = writer.commit("saved", "{}");
      EXPECT_TRUE(writer.committed());
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    ASSERT_TRUE(opened.ok());
    EXPECT_FALSE(ended.ok());
    EXPECT_TRUE(start.ok()) << "there is something to go on from: " << start.text();
    EXPECT_NE(ended.text().find("trajectory.csv"), std::string::npos) << ended.text();
    EXPECT_EQ(listing(), complete_);
    RunData kept;
    const FileStatus readable = read_run(root_, kept);
    EXPECT_TRUE(readable.ok()) << readable.text();
    EXPECT_EQ(kept.run_json, "saved");
    EXPECT_EQ(kept.columns.at(0).size(), static_cast<std::size_t>(committed));
    RunData whole;
    EXPECT_TRUE(read_columns(root_ / "trajectory.csv", whole).ok()) << "room was made";
    EXPECT_EQ(whole.columns.at(0).size(), static_cast<std::size_t>(committed));
  }
  std::signal(SIGXFSZ, handler);
}

TEST_F(RunFolder, OnlyRegularFilesAreRead) {
  fs::create_directories(root_);
  RunData data;
  std::string state;
  for (const char* name : {"trajectory.csv", "state.json", "run.json", "events.csv"}) {
    std::ofstream(root_ / "trajectory.csv") << "t\n1\n";
    fs::remove(root_ / name);
    ASSERT_EQ(mkfifo((root_ / name).c_str(), 0600), 0);
    EXPECT_FALSE(read_run(root_, data).ok()) << "a pipe as " << name;
    if (std::string(name) == "state.json") {
      EXPECT_FALSE(read_state_text(root_, state).ok());
    }
    fs::remove(root_ / name);
    fs::create_directories(root_ / name);
    EXPECT_FALSE(read_run(root_, data).ok()) << "a folder as " << name;
    fs::remove(root_ / name);
    fs::create_symlink("/dev/zero", root_ / name);
    EXPECT_FALSE(read_run(root_, data).ok()) << "an endless file as " << name;
    fs::remove(root_ / name);
  }
}

TEST_F(RunFolder, NamesFileAndLineOfATableThatCannotBeRead) {
  fs::create_directories(root_);
  const auto expect = [&](const std::string& trajectory, const std::string& events,
                          const std::string& message) {
    std::ofstream(root_ / "trajectory.csv") << trajectory;
    std::ofstream(root_ / "events.csv") << events;
    RunData data;
    const FileStatus status = read_run(root_, data);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.text().find(message), std::string::npos) << status.text();
  };
  const std::string header =
      "time,kind,where,detail,normal_impulse,tangential_impulse,energy_before,energy_after,mode\n";
  expect("", header, "trajectory.csv:1: no header row");
  expect("t,x\n0,1\n1,stick\n", header, "trajectory.csv:3: column 'x': 'stick' is not a number");
  expect("t,m\n0,stick\n1,2\n", header, "trajectory.csv:3: column 'm': '2' is a number");
  expect("t\n0\n", "time,kind\n", "events.csv:1: not a table of events");
  expect("t\n0\n", "t,kind,where,detail,a,b,c,d,mode\n", "events.csv:1: column 't' should be 'time'");
  expect("t\n0\n", header + "0,impact,a,,x,0,0,0,0000000000000000\n", "events.csv:2: a cell");
  expect("t\n0\n", header + "0,impact,a,,0,0,0,0,12\n", "events.csv:2: a cell");
  expect("t,y\n0,0\n", header.substr(0, header.size() - 1) + ",y\n0,impact,a,,0,0,0,0,0000000000000000,q\n",
         "events.csv:2: a cell");
  RunData data;
  EXPECT_FALSE(read_run(root_ / "nowhere", data).ok());
}

}  // namespace
}  // namespace judder::io
