// A run that is killed, that finds no room, or whose calls fail.
#include "faults.hpp"

namespace judder {
namespace {

// Before every system call that touches a file, in new folders and over an earlier run.
TEST_F(Faults, KilledAtAnyCallTheFolderIsWholeAndTheRunGoesOn) {
  const auto [calls, writes] = count_calls();
  ASSERT_GT(calls, 40) << "several commits";
  ASSERT_EQ(run_with(arguments("earlier", "20")), 0);
  const int all = cases(140);
  int killed = 0;
  for (int i = 0; i < all; ++i) {
    // Halves: each call once, from the first to the last that a run has.
    const long at = 1 + (calls + 5) * (i / 2) / std::max(all / 2, 1);
    const bool over = i % 2 == 1;
    const std::string what = "killed at call " + std::to_string(at) + (over ? " over an earlier run" : "");
    clean("k");
    if (over) fs::copy(folder_ / "earlier", folder_ / "k");
    Settings faults = kFast;
    faults["KILL"] = at;
    if (i % 8 >= 6) faults["PLAIN"] = 1;
    const int code = run_with(arguments("k"), faults);
    EXPECT_TRUE(code == -SIGKILL || code == 0) << what << ": " << code << contents(folder_ / "err");
    killed += code == -SIGKILL ? 1 : 0;
    if (fs::exists(folder_ / "k")) {
      expect_whole("k", what, over ? "earlier" : "");
      EXPECT_EQ(run_with({"plot", "k", "-o", "figures"}), 0) << what << contents(folder_ / "err");
    }
    expect_goes_on("k", what, over ? "earlier" : "");
    if (HasFailure()) return;
  }
  EXPECT_GT(killed, all / 2);
}

// The same where the power fails: what was written and not brought to the disk is lost, and nothing that is left is in the way of the next run.
TEST_F(Faults, WithoutPowerAtAnyCallTheRunGoesOn) {
  const auto calls = static_cast<int>(count_calls().first);
  ASSERT_GT(calls, 40);
  ASSERT_EQ(run_with({"run", "model.toml", "--until", "3", "-o", "earlier"}), 0);
  // A run that was killed some calls after its first save.
  for (int n = 20; n < calls; ++n) {
    Settings faults = kFast;
    faults["KILL"] = n + 6;
    clean("half");
    ASSERT_EQ(run_with(arguments("half"), faults), -SIGKILL);
    if (fs::exists(folder_ / "half" / "state.json")) break;
  }
  ASSERT_TRUE(fs::exists(folder_ / "half" / "state.json"));
  int stopped = 0;
  // Each of the first calls, which come before the first save, and some of the others.
  for (int n = 1; n <= calls; n += n < 40 ? 1 : 100 / cases(100)) {
    const std::string what = "no power at call " + std::to_string(n);
    Settings faults = kFast;
    faults["POWER"] = n;
    clean("cut");
    stopped += run_with(arguments("cut"), faults) == -SIGKILL ? 1 : 0;
    expect_goes_on("cut", what);
    clean("cut");
    fs::copy(folder_ / "earlier", folder_ / "cut", fs::copy_options::recursive);
    stopped += run_with(arguments("cut"), faults) == -SIGKILL ? 1 : 0;
    expect_goes_on("cut", what + ", over an earlier run", "earlier");
    clean("cut");
    fs::copy(folder_ / "half", folder_ / "cut", fs::copy_options::recursive);
    stopped += run_with(going_on("cut"), faults) == -SIGKILL ? 1 : 0;
    expect_goes_on("cut", what + ", going on");
    if (HasFailure()) return;
  }
  EXPECT_GT(stopped, 100);
}

// After the last save everything is there, and the program only has to give the files their names and to say so.
TEST_F(Faults, KilledAtTheEndTheRunIsFinishedWithoutAnotherWord) {
  const long calls = count_calls().first;
  int killed = 0, finished = 0;
  for (long at = calls - 16; at <= calls; ++at) {
    const std::string what = "killed at call " + std::to_string(at) + " of " + std::to_string(calls);
    clean("k");
    Settings faults = kFast;
    faults["KILL"] = at;
    killed += run_with(arguments("k"), faults) == -SIGKILL ? 1 : 0;
    expect_whole("k", what);
    const json state = json::parse(contents(folder_ / "k/state.json"));
    finished += state["time"] == 3000 ? 1 : 0;
    // By the list: a draft may be the new file or the old one.
    io::RunData data;
    ASSERT_TRUE(io::read_run(folder_ / "k", data).ok()) << what;
    const std::string run = data.run_json;
    expect_goes_on("k", what);
    if (state["time"] == 3000) {
      EXPECT_EQ(contents(folder_ / "k/run.json"), run) << what << ": nothing is run again";
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(killed, 17);
  EXPECT_GT(finished, 3);
}

TEST_F(Faults, KilledAtAnyTimeTheFolderIsWholeAndTheRunGoesOn) {
  std::mt19937_64 random(9);
  unsigned range = 150'000;  // microseconds
  for (int i = 0; i < cases(60); ++i) {
    clean("k");
    const pid_t child = start(arguments("k"), kFast);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % range));
    kill(child, SIGKILL);
    const int code = wait_for(child);
    // As fast as this machine runs: half of the kills come before the end.
    range = code == 0 ? std::max(range / 2, 1U) : std::min(2 * range, 400'000U);
    const std::string what = "killed at random, number " + std::to_string(i);
    EXPECT_TRUE(code == -SIGKILL || code == 0) << what;
    if (fs::exists(folder_ / "k")) expect_whole("k", what);
    expect_goes_on("k", what);
    if (HasFailure()) return;
  }
}

// A run that is killed again and again, and goes on each time.
TEST_F(Faults, KilledManyTimesInARow) {
  std::mt19937_64 random(3);
  int killed = 0;
  for (int i = 0; i < cases(100) && !(i > 0 && contents(folder_ / "k/trajectory.csv") == trajectory_); ++i) {
    Settings faults = kFast;
    faults["KILL"] = static_cast<long>(20 + random() % 60);
    const bool begun = fs::exists(folder_ / "k/state.json");
    const int code = run_with(begun ? going_on("k") : arguments("k"), faults);
    killed += code == -SIGKILL ? 1 : 0;
    if (fs::exists(folder_ / "k")) expect_whole("k", "kill number " + std::to_string(i));
    if (HasFailure()) return;
  }
  EXPECT_GT(killed, 1);
  expect_goes_on("k", "after all kills");
}

TEST_F(Faults, OnAFullDiskTheRunStopsAndGoesOnWhenThereIsRoom) {
  const auto [calls, writes] = count_calls();
  const int all = cases(20);
  for (int i = 0; i < all; ++i) {
    clean("k");
    Settings faults = kFast;
    faults["FULL"] = 1 + writes * i / all;
    const std::string what = "disk full at write " + std::to_string(faults["FULL"]);
    const int code = run_with(arguments("k"), faults);
    EXPECT_TRUE(code == 5) << what << ": " << code;
    EXPECT_NE(contents(folder_ / "err").find("No space left on device"), std::string::npos)
        << contents(folder_ / "err");
    EXPECT_FALSE(fs::exists(folder_ / ".k.tmp")) << what;
    if (fs::exists(folder_ / "k")) {
      EXPECT_NE(contents(folder_ / "err").find("--resume k goes on"), std::string::npos)
          << contents(folder_ / "err");
      expect_whole("k", what);
    }
    expect_goes_on("k", what);
    if (HasFailure()) return;
  }
}

// A disk with room for a part of the run: what fits is kept, although no commit has come before the disk was full, and an earlier run is left as it
// was until this one can replace it.
TEST_F(Faults, OfARunThatDoesNotFitEverythingIsKeptThatFits) {
  const long whole = static_cast<long>(trajectory_.size() + events_.size());
  ASSERT_EQ(run_with(arguments("earlier", "20")), 0);
  std::map<std::string, std::string> before;
  for (const char* file : {"trajectory.csv", "events.csv", "run.json", "state.json"})
    before[file] = contents(folder_ / "earlier" / file);
  const int all = cases(20);
  for (int i = 1; i <= all; ++i) {
    for (const bool often : {false, true}) {
      const long room = 100'000 + (whole - 100'000) * i / (all + 1);
      const std::string what = "room for " + std::to_string(room) + " of " + std::to_string(whole) +
                               " bytes" + (often ? ", often saved" : "");
      Settings faults = often ? kFast : Settings{};
      faults["ROOM"] = room;
      clean("k");
      EXPECT_EQ(run_with(arguments("k"), faults), 5) << what;
      ASSERT_TRUE(fs::exists(folder_ / "k/state.json")) << what << contents(folder_ / "err");
      expect_whole("k", what);
      // Between the moments that it can go back to lie rows of about the length of what is there already.
      long kept = 0;
      for (const fs::directory_entry& file : fs::directory_iterator(folder_ / "k"))
        kept += static_cast<long>(file.file_size());
      EXPECT_GT(kept, room / 6) << what << contents(folder_ / "err");
      expect_goes_on("k", what);

      clean("k");
      fs::copy(folder_ / "earlier", folder_ / "k");
      if (often) continue;
      EXPECT_EQ(run_with(arguments("k"), faults), 5) << what;
      EXPECT_NE(contents(folder_ / "err").find("the earlier one in k is as it was"), std::string::npos)
          << contents(folder_ / "err");
      for (const auto& [file, text] : before) EXPECT_EQ(contents(folder_ / "k" / file), text) << what << file;
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "k"), fs::directory_iterator()), 4) << what;
      if (HasFailure()) return;
    }
  }
}

// `ulimit -f`: the run has begun, so there must be something to go on from.
TEST_F(Faults, AFileThatMayNotGrowStopsTheRunWithAState) {
  for (const long limit : {60'000L, 150'000L, 300'000L}) {
    for (const bool fast : {false, true}) {
      clean("k");
      const int code = run_with(arguments("k"), fast ? kFast : Settings{}, limit);
      const std::string what = "files of at most " + std::to_string(limit) + " bytes";
      EXPECT_EQ(code, 5) << what;
      EXPECT_NE(contents(folder_ / "err").find("File too large"), std::string::npos)
          << contents(folder_ / "err");
      ASSERT_TRUE(fs::exists(folder_ / "k")) << what;
      expect_whole("k", what);
      EXPECT_TRUE(fs::exists(folder_ / "k/state.json")) << what;
      expect_goes_on("k", what);
    }
  }
}

TEST_F(Faults, ACallThatFailsIsReportedAndTheRunGoesOn) {
  const auto [calls, writes] = count_calls();
  const int all = cases(60);
  for (int i = 0; i < all; ++i) {
    clean("k");
    Settings faults = kFast;
    faults["ONCE"] = 1 + calls * i / all;
    const std::string what = "error at call " + std::to_string(faults["ONCE"]);
    const int code = run_with(arguments("k"), faults);
    EXPECT_TRUE(code == 5 || code == 0) << what << ": " << code << contents(folder_ / "err");
    if (code == 0) {
      EXPECT_EQ(contents(folder_ / "k/trajectory.csv"), trajectory_) << what;
    }
    if (fs::exists(folder_ / "k")) expect_whole("k", what);
    expect_goes_on("k", what);
    if (HasFailure()) return;
  }
}

// Over an earlier run: it stays whole until the new one has saved something, and what the message says of the time is true.
TEST_F(Faults, ACallThatFailsOverAnEarlierRunLeavesOneOfTheTwo) {
  ASSERT_EQ(run_with(arguments("earlier", "20")), 0);
  int first_saves = 0;
  // The first save is over within the first 40 calls.
  for (long i = 1; i <= 40; i += cases(10) == 10 ? 1 : 2) {
    const std::string what = "error at call " + std::to_string(i);
    clean("k");
    fs::copy(folder_ / "earlier", folder_ / "k");
    Settings faults = kFast;
    faults["ONCE"] = i;
    EXPECT_EQ(run_with(arguments("k"), faults), 5) << what;
    const std::string said = contents(folder_ / "err");
    EXPECT_NE(said.find("cannot be written: Input/output error (the disk"), std::string::npos) << said;
    EXPECT_EQ(said.find("room"), std::string::npos) << said;
    EXPECT_EQ(said.find(".tmp"), std::string::npos) << "a draft has no name for a user: " << said;
    const bool old = contents(folder_ / "k/state.json") == contents(folder_ / "earlier/state.json");
    const std::string saved = "saved up to t = ";
    if (old) {
      EXPECT_EQ(said.find(saved), std::string::npos) << said;
    } else {
      const std::size_t at = said.find(saved);
      ASSERT_NE(at, std::string::npos) << said;
      const double time = json::parse(contents(folder_ / "k/state.json"))["time"];
      EXPECT_EQ(std::atof(said.c_str() + at + saved.size()), time) << what << said;
      first_saves += i <= 37 ? 1 : 0;
    }
    expect_whole("k", what, "earlier");
    expect_goes_on("k", what, "earlier");
    if (HasFailure()) return;
  }
  EXPECT_GT(first_saves, 1);
}

// One call that reads fails, in folders as kills leave them. What a killed run had saved is there afterwards, whatever the call was, and is never taken
// for something that is not there or for something else.
TEST_F(Faults, AReadThatFailsCostsNothing) {
  ASSERT_EQ(run_with(arguments("earlier", "20")), 0);
  ASSERT_EQ(run_with(arguments("part"), {}, 300'000), 5);
  fs::copy(folder_ / "part", folder_ / "undisturbed");
  ASSERT_EQ(run_with(going_on("undisturbed")), 0) << contents(folder_ / "err");
  const json counts = json::parse(contents(folder_ / "undisturbed/run.json"))["counts"];
  const std::string word = ".0123456789abcdef.tmp";
  const auto prepare = [&](const std::string& how) {
    clean("k");
    if (how == "resumed") fs::copy(folder_ / "part", folder_ / "k");
    if (how == "between renames") {
      fs::copy(folder_ / "earlier", folder_ / "k");
      for (const std::string file : {"trajectory.csv", "events.csv", "run.json"})
        fs::copy(folder_ / "part" / file, folder_ / "k" / (file + word));
      fs::copy_file(folder_ / "part/state.json", folder_ / "k/state.json",
                    fs::copy_options::overwrite_existing);
      write("k/lock", "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n");
    }
    if (how == "before its name") {
      fs::copy(folder_ / "part", folder_ / ".k.tmp");
      write(".k.tmp/lock", "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts 0123456789abcdef\n");
    }
  };
  for (const std::string how : {"resumed", "between renames", "before its name"}) {
    const bool resumed = how != "before its name";
    const std::vector<std::string> words = resumed ? going_on("k") : arguments("k");
    prepare(how);
    ASSERT_EQ(run_with(words, {{"COUNT", 1}}), 0) << contents(folder_ / "err");
    std::istringstream in(contents(folder_ / "count"));
    long calls = 0, writes = 0, allocations = 0, reads = 0, refused = 0;
    in >> calls >> writes >> allocations >> reads;
    ASSERT_GT(reads, 30);
    for (long i = 1; i <= reads; i += cases(10) == 10 || i < 60 ? 1 : 3) {
      const std::string what = how + ", call " + std::to_string(i) + " of " + std::to_string(reads);
      prepare(how);
      const int code = run_with(words, {{"READ", i}});
      refused += code == 5 ? 1 : 0;
      EXPECT_TRUE(code == 5 || code == 3 || code == 0) << what << ": " << code << contents(folder_ / "err");
      if (code != 0) expect_goes_on("k", what + ": " + contents(folder_ / "err"));
      EXPECT_EQ(contents(folder_ / "k/trajectory.csv"), trajectory_) << what;
      EXPECT_EQ(contents(folder_ / "k/events.csv"), events_) << what;
      const json now = json::parse(contents(folder_ / "k/run.json"))["counts"];
      if (resumed && code == 0) {
        EXPECT_EQ(now, counts) << what;
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(refused, 10) << how;
  }
}

// The folder of a new run cannot get its name: everything else is there, and nobody takes it for something in the way.
TEST_F(Faults, ARunThatCannotGetItsNameIsWhole) {
  EXPECT_EQ(run_with(arguments("k"), {{"NAME", 1}}), 5);
  std::string said = contents(folder_ / "err");
  EXPECT_NE(said.find("k: cannot be written: No space left on device"), std::string::npos) << said;
  EXPECT_NE(said.find("saved up to t = 3000 in .k.tmp: rename that"), std::string::npos) << said;
  expect_whole(".k.tmp", "without its name");
  EXPECT_EQ(contents(folder_ / ".k.tmp/trajectory.csv"), trajectory_);
  // Who asks for it by the name that it should have is told where it is.
  for (const std::string from : {"k", ".k.tmp"}) {
    EXPECT_EQ(run_with({"run", "model.toml", "--until", "3010", "--resume", from, "-o", "k"}), 5);
    said = contents(folder_ / "err");
    EXPECT_NE(said.find("could not get"), std::string::npos) << said;
    EXPECT_NE(said.find("rename it"), std::string::npos) << said;
    expect_whole(".k.tmp", "still without its name");
  }
  // The next run gives it the name, and stops before it has replaced anything.
  EXPECT_EQ(run_with(arguments("k", "20"), {{"FULL", 2}}), 5);
  EXPECT_FALSE(fs::exists(folder_ / ".k.tmp"));
  expect_whole("k", "named by the next run");
  EXPECT_EQ(contents(folder_ / "k/trajectory.csv"), trajectory_);
  EXPECT_EQ(run_with(arguments("k", "20")), 0) << contents(folder_ / "err");
  EXPECT_NE(contents(folder_ / "k/trajectory.csv"), trajectory_);
}

// Stopped before its first rows, a run has no modes; what it has is decided when it begins.
TEST_F(Faults, ModesAtTheStartAreThoseOfTheStart) {
  const json whole = json::parse(contents(folder_ / "whole/run.json"))["modes_at_start"];
  ASSERT_FALSE(whole.empty());
  EXPECT_EQ(run_with(arguments("k"), {}, 10'240), 5);
  const json begun = json::parse(contents(folder_ / "k/run.json"));
  ASSERT_EQ(begun["end"]["time"], 0) << contents(folder_ / "err");
  EXPECT_TRUE(begun["modes_at_start"].empty()) << begun["modes_at_start"];
  expect_goes_on("k", "from the start");
  EXPECT_EQ(json::parse(contents(folder_ / "k/run.json"))["modes_at_start"], whole);
}

// A stream that was closed before the program began is not taken for a file of the run.
TEST_F(Faults, ClosedStreamsAreNotTheNumbersOfFiles) {
  const std::string command = "cd '" + folder_.string() +
                              "' && exec '" JUDDER_PROGRAM "' run model.toml --until 1e12 -o k <&- >&- 2>&-";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  await(child, {".k.tmp/trajectory.csv"});
  std::error_code error;
  for (const char* stream : {"0", "1", "2"}) {
    const fs::path link = fs::path("/proc") / std::to_string(child) / "fd" / stream;
    EXPECT_EQ(fs::read_symlink(link, error), "/dev/null") << stream << error.message();
  }
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 130);
}

// Where folders cannot be locked the file has to do, and a run without it stops before it shares its folder.
TEST_F(Faults, WithoutLocksOfFoldersTheFileKeepsOthersOut) {
  Settings flat = kFast;
  flat["FLAT"] = 1;
  const pid_t child = start(arguments("k", "1e12"), flat);
  await(child, {"k/run.json"});
  EXPECT_EQ(wait_for(start(arguments("k"), flat, 0, "err-2")), 5);
  EXPECT_NE(contents(folder_ / "err-2").find("another run is writing this folder: process"),
            std::string::npos)
      << contents(folder_ / "err-2");
  // Another one comes in while the first is asleep, and the first leaves what that has written.
  kill(child, SIGSTOP);
  siginfo_t about{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &about, WSTOPPED), 0);
  fs::remove(folder_ / "k/lock");
  const double time = json::parse(contents(folder_ / "k/state.json"))["time"];
  std::vector<std::string> more = arguments("k", std::to_string(time + 3000));
  more.insert(more.end(), {"--resume", "k"});
  const int second = wait_for(start(more, flat, 0, "err-2"));
  // What the first has written after its last save, or not yet renamed, is not known as its own without the lock.
  EXPECT_TRUE(second == 0 || second == 5) << contents(folder_ / "err-2");
  const std::string rows = contents(folder_ / "k/trajectory.csv");
  kill(child, SIGCONT);
  EXPECT_EQ(wait_for(child), 5);
  if (second == 0) {
    EXPECT_EQ(contents(folder_ / "k/trajectory.csv"), rows);
  }
  EXPECT_NE(contents(folder_ / "err").find("k/lock: was removed or replaced during the run"),
            std::string::npos)
      << contents(folder_ / "err");
  io::RunData data;
  EXPECT_TRUE(io::read_run(folder_ / "k", data).ok());
}

// The two things that users do to a folder that a run is writing.
TEST_F(Faults, ATableThatIsWrittenToOrCutStopsTheRun) {
  for (const std::string how : {"longer", "shorter", "unlocked"}) {
    clean("k");
    const pid_t child = start(arguments("k", "1e12"), kFast);
    await(child, {"k/run.json"});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (how == "unlocked") {
      fs::remove(folder_ / "k/lock");
      EXPECT_EQ(wait_for(start(arguments("k"), {}, 0, "err-2")), 5);
      EXPECT_NE(contents(folder_ / "err-2").find("another run is writing this folder"), std::string::npos);
      kill(child, SIGTERM);
      EXPECT_EQ(wait_for(child), 130) << contents(folder_ / "err");
      continue;
    }
    if (how == "longer")
      std::ofstream(folder_ / "k/trajectory.csv", std::ios::app) << "# seen on Monday\n";
    else
      fs::resize_file(folder_ / "k/trajectory.csv", 40);
    EXPECT_EQ(wait_for(child), 5) << how;
    const std::string said = contents(folder_ / "err");
    EXPECT_NE(said.find("k/trajectory.csv: was "), std::string::npos) << said;
    EXPECT_NE(said.find("by somebody else during the run"), std::string::npos) << said;
    io::RunData data;
    const io::FileStatus status = io::read_run(folder_ / "k", data);
    EXPECT_EQ(status.ok(), how == "longer") << status.text();
    // The state is that of the last save, and is enough to go on elsewhere.
    const double time = json::parse(contents(folder_ / "k/state.json"))["time"];
    EXPECT_NE(said.find("saved up to t = "), std::string::npos) << said;
    EXPECT_EQ(std::atof(said.c_str() + said.find("up to t = ") + 10), time) << said;
    clean("on");
    EXPECT_EQ(
        run_with({"run", "model.toml", "--resume", "k", "-o", "on", "--until", std::to_string(time + 1)}), 0)
        << contents(folder_ / "err");
  }
}

}  // namespace
}  // namespace judder
