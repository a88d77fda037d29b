// Nothing is lost: what a run leaves when it is killed, when the disk is full, when a call fails, when another one wants its folder.
//
// Every case ends in the same way: the folder is whole, the run is taken up in it, and at the end every byte of its tables is that of a run that nobody
// disturbed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "judder/io/run_folder.hpp"
#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// `full` cases when JUDDER_FULL is set, else a tenth.
int cases(int full) {
  const char* wish = std::getenv("JUDDER_FULL");
  return wish != nullptr && *wish != '\0' ? full : std::max(full / 10, 3);
}

using Settings = std::map<std::string, long>;

class Faults : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    // Rows of the length of a buffer and more, so that tables are written between the commits, too.
    std::string model = contents(gallery_ + "impact-oscillator/model.toml");
    write("model.toml", model);
    long code = 0;
    const pid_t child = start(arguments("whole"), {});
    code = wait_for(child);
    ASSERT_EQ(code, 0) << contents(folder_ / "err-whole");
    trajectory_ = contents(folder_ / "whole/trajectory.csv");
    events_ = contents(folder_ / "whole/events.csv");
    ASSERT_GT(events_.size(), 1000U);
  }

  [[nodiscard]] static std::vector<std::string> arguments(const std::string& folder,
                                                          const std::string& until = "3000") {
    return {"run", "model.toml", "--until", until, "-o", folder};
  }
  [[nodiscard]] static std::vector<std::string> going_on(const std::string& folder) {
    std::vector<std::string> out = arguments(folder);
    out.insert(out.end(), {"--resume", folder});
    return out;
  }

  /// The program with these faults; the settings are those of the shim. `file_size` limits its files as `ulimit -f` does, in bytes.
  [[nodiscard]] pid_t start(const std::vector<std::string>& words, const Settings& faults, long file_size = 0,
                            const std::string& name = "err") const {
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(folder_.c_str()) != 0) _exit(126);
    const int null = open("/dev/null", O_RDWR);
    const int err = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      signal(number, SIG_DFL);  // whoever tests in the background
    if (!faults.empty()) {
      setenv("LD_PRELOAD", JUDDER_FAULT_SHIM, 1);
      for (const auto& [key, value] : faults)
        setenv(("JUDDER_FAULT_" + key).c_str(), key == "COUNT" ? "count" : std::to_string(value).c_str(), 1);
    }
    if (file_size > 0) {
      const rlimit limit{static_cast<rlim_t>(file_size), static_cast<rlim_t>(file_size)};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> list{const_cast<char*>("judder")};
    for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    execv(JUDDER_PROGRAM, list.data());
    _exit(127);
  }
  /// The exit code, or minus the signal.
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] int run_with(const std::vector<std::string>& words, const Settings& faults = {},
                             long file_size = 0) const {
    return wait_for(start(words, faults, file_size));
  }

  /// Waits until one of these is there, however slow the machine; not for ever, and not for a program that has ended.
  void await(pid_t child, std::initializer_list<const char*> paths) const {
    const auto there = [this](const char* path) { return fs::exists(folder_ / path); };
    for (int i = 0; i < 120'000; ++i) {
      if (std::any_of(paths.begin(), paths.end(), there)) return;
      siginfo_t about{};
      if (waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          about.si_pid == child)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << *paths.begin() << " did not appear within two minutes";
  }

  /// The numbers of calls and of writes of a whole run.
  [[nodiscard]] std::pair<long, long> count_calls() const {
    Settings faults = kFast;
    faults["COUNT"] = 1;
    EXPECT_EQ(run_with(arguments("counted"), faults), 0) << contents(folder_ / "err");
    std::istringstream in(contents(folder_ / "count"));
    std::pair<long, long> out;
    in >> out.first >> out.second;
    return out;
  }

  /// What a kill has left under the name that nobody can guess; empty: nothing.
  [[nodiscard]] std::string draft(const std::string& name, const std::string& file) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / name)) {
      const std::string found = entry.path().filename().string();
      if (found.size() > file.size() + 5 && found.rfind(file + ".", 0) == 0) return contents(entry.path());
    }
    return {};
  }

  /// One set: readable, its parts of one commit, its tables the beginning of those of the undisturbed run or those of `before`.
  void expect_whole(const std::string& name, const std::string& what, const std::string& before = {}) const {
    io::RunData data;
    const io::FileStatus status = io::read_run(folder_ / name, data);
    ASSERT_TRUE(status.ok()) << what << ": " << status.text();
    const json run = json::parse(data.run_json);
    const json state = json::parse(data.state_json);
    EXPECT_EQ(run["counts"]["rows"], data.columns.at(0).size()) << what;
    EXPECT_EQ(run["end"]["time"], state["time"]) << what;
    EXPECT_EQ(state["files"]["events.csv"]["records"], data.events.size()) << what;
    if (!before.empty() && run == json::parse(contents(folder_ / before / "run.json"))) {
      EXPECT_EQ(data.state_json, contents(folder_ / before / "state.json")) << what;
      return;
    }
    const auto begins = [&](const char* file, const std::string& whole) {
      const auto bytes = state["files"][file]["bytes"].get<std::size_t>();
      std::string text = contents(folder_ / name / file);
      if (text.compare(0, bytes, whole, 0, bytes) != 0) text = draft(name, file);
      EXPECT_EQ(text.compare(0, bytes, whole, 0, bytes), 0) << what << ": " << file;
    };
    begins("trajectory.csv", trajectory_);
    begins("events.csv", events_);
  }

  /// The run is taken up, or begun where nothing is left of it, without faults, and ends with the bytes of the undisturbed one.
  void expect_goes_on(const std::string& name, const std::string& what,
                      const std::string& before = {}) const {
    bool old = false;
    if (!before.empty())
      old = contents(folder_ / name / "state.json") == contents(folder_ / before / "state.json");
    const bool begun = fs::exists(folder_ / name / "state.json") && !old;
    EXPECT_EQ(run_with(begun ? going_on(name) : arguments(name)), 0)
        << what << ": " << contents(folder_ / "err");
    EXPECT_TRUE(contents(folder_ / name / "trajectory.csv") == trajectory_) << what;  // too long to be shown
    EXPECT_TRUE(contents(folder_ / name / "events.csv") == events_) << what;
    EXPECT_FALSE(fs::exists(folder_ / ("." + name + ".tmp"))) << what;
    std::set<std::string> files;
    for (const fs::directory_entry& file : fs::directory_iterator(folder_ / name))
      files.insert(file.path().filename().string());
    EXPECT_EQ(files, (std::set<std::string>{"trajectory.csv", "events.csv", "run.json", "state.json"}))
        << what;
    const json run = json::parse(contents(folder_ / name / "run.json"));
    EXPECT_EQ(run["end"]["reason"], "done") << what;
  }

  void clean(const std::string& name) const {
    fs::remove_all(folder_ / name);
    fs::remove_all(folder_ / ("." + name + ".tmp"));
  }

  /// Commits come after a few steps, at the same ones in every run.
  const Settings kFast{{"TICK", 20000}};
  std::string trajectory_, events_;
};

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

// Whichever allocation fails: a message and the code for that, no signal, and a folder to go on from.
TEST_F(Faults, WithoutMemoryTheProgramSaysSoAndTheRunGoesOn) {
  Settings faults = kFast;
  faults["COUNT"] = 1;
  ASSERT_EQ(run_with(arguments("counted"), faults), 0);
  std::istringstream in(contents(folder_ / "count"));
  long calls = 0, writes = 0, allocations = 0;
  in >> calls >> writes >> allocations;
  ASSERT_GT(allocations, 10'000);
  const int all = cases(200);
  int told = 0;
  for (int i = 0; i < all; ++i) {
    clean("k");
    Settings one = kFast;
    one["MEMORY"] = 32 + allocations * i / all;  // the first come before main
    const std::string what = "allocation " + std::to_string(one["MEMORY"]) + " failed";
    const int code = run_with(arguments("k"), one);
    // The TOML library reads numbers from a stream, which takes a lack of memory for a number that is none.
    const bool misread = code == 3 && contents(folder_ / "err").find("could not be interpreted as a value") !=
                                          std::string::npos;
    EXPECT_TRUE(code == 70 || code == 0 || code == 5 || misread)
        << what << ": " << code << contents(folder_ / "err");
    if (code == 70) {
      EXPECT_NE(contents(folder_ / "err").find("out of memory"), std::string::npos) << what;
      ++told;
    }
    if (fs::exists(folder_ / "k")) expect_whole("k", what);
    if (i % 4 == 0) expect_goes_on("k", what);
    if (HasFailure()) return;
  }
  EXPECT_GT(told, all * 9 / 10);
}

// The same between any two calls that write, of which some have given a file its name and others not yet.
TEST_F(Faults, WithoutMemoryBetweenTwoCallsTheFolderIsWholeAndTheRunGoesOn) {
  const long calls = count_calls().first;
  ASSERT_EQ(run_with(arguments("earlier", "20")), 0);
  int told = 0, all = 0;
  // Each of the first forty, which hold the first two commits, and some of the others.
  for (long n = 1; n < calls; n += n < 40 ? 1 : 100 / cases(100)) {
    for (const std::string before : {"", "earlier"}) {
      clean("k");
      if (!before.empty()) fs::copy(folder_ / before, folder_ / "k");
      const std::string what = "no memory behind call " + std::to_string(n) + " over '" + before + "'";
      Settings faults = kFast;
      faults["STARVE"] = n;
      const int code = run_with(arguments("k"), faults);
      // The C library needs memory as well, to list a folder.
      const std::string said = contents(folder_ / "err");
      const bool list = code == 5 && said.find("Cannot allocate memory") != std::string::npos;
      EXPECT_TRUE(code == 70 || code == 0 || list) << what << ": " << code << said;
      told += code != 0 ? 1 : 0;
      ++all;
      if (fs::exists(folder_ / "k")) expect_whole("k", what, before);
      expect_goes_on("k", what, before);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(told, all * 3 / 4);
}

// What somebody puts into the folder while a save waits for the disk, or between two of its renames, is there afterwards, and the run says so.
TEST_F(Faults, WhatSomebodyPutsThereDuringASaveStays) {
  const std::string mine = "{ \"mine\": true }";
  int stopped = 0, told = 0;
  for (const std::string when : {"STOP", "STEP", "STOP without exchange"}) {
    const int last = when == "STEP" ? 7 : 24;
    for (int n = when == "STEP" ? 2 : 8; n <= last; n += when == "STEP" || cases(10) == 10 ? 1 : 3) {
      for (const std::string how : {"run.json", "state.json", "run.json edited", "state.json edited",
                                    "trajectory.csv", "events.csv"}) {
        const std::string what = how + " at " + when + " " + std::to_string(n);
        clean("k");
        Settings faults = kFast;
        faults[when.substr(0, 4)] = n;
        if (when.size() > 4) faults["PLAIN"] = 1;
        const pid_t child = start(arguments("k"), faults);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
        if (!WIFSTOPPED(status)) break;
        const bool edited = how.find(' ') != std::string::npos;
        const std::string name = how.substr(0, how.find(' '));
        const fs::path file = folder_ / "k" / name;
        const bool text = name.find("json") != std::string::npos;
        std::string left = mine;
        if (!fs::exists(file)) {
          kill(child, SIGKILL);
          wait_for(child);
          continue;
        }
        if (edited) {
          left = contents(file);
          left[left.size() / 2] = '#';
          std::fstream(file) << left;
        } else if (text) {
          write("k/mine", mine);
          fs::rename(folder_ / "k/mine", file);
        } else {
          std::ofstream(file, std::ios::app) << mine << "\n";
        }
        ++stopped;
        kill(child, SIGCONT);
        const int code = wait_for(child);
        const std::string said = contents(folder_ / "err");
        EXPECT_EQ(code, 5) << what;
        EXPECT_NE(said.find("during the run"), std::string::npos) << what << said;
        const std::string now = contents(file);
        EXPECT_TRUE(text ? now == left : now.find(mine) != std::string::npos) << what << said;
        told += code == 5 ? 1 : 0;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(stopped, 60);
  EXPECT_EQ(told, stopped);
}

// The same with the folder in which a run begins.
TEST_F(Faults, OnlyTheFolderOfTheRunGetsItsName) {
  for (const char* when : {"STOP", "STEP"}) {
    for (const std::string how : {"link", "folder"}) {
      clean("k");
      fs::remove_all(folder_ / "elsewhere");
      Settings faults = kFast;
      // The first waits come before the first row.
      faults[when] = std::string(when) == "STOP" ? 5 : 1;
      const pid_t child = start(arguments("k"), faults);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
      ASSERT_TRUE(WIFSTOPPED(status));
      ASSERT_TRUE(fs::exists(folder_ / ".k.tmp/state.json"));
      fs::rename(folder_ / ".k.tmp", folder_ / "elsewhere");
      if (how == "link")
        fs::create_symlink("elsewhere", folder_ / ".k.tmp");
      else
        fs::create_directory(folder_ / ".k.tmp"), write(".k.tmp/notes", "mine");
      kill(child, SIGCONT);
      EXPECT_EQ(wait_for(child), 5) << when << how;
      const std::string said = contents(folder_ / "err");
      EXPECT_NE(said.find("was moved, removed or replaced during the run"), std::string::npos) << said;
      EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ / "k"))) << when << how;
      EXPECT_TRUE(how == "link" ? fs::is_symlink(folder_ / ".k.tmp")
                                : contents(folder_ / ".k.tmp/notes") == "mine");
    }
  }
}

// A killed run has rows behind its last save. Who comes over it and ends before his own first save leaves it as it can be taken up.
TEST_F(Faults, WhoEndsBeforeHisFirstSaveLeavesAKilledRunToGoOnFrom) {
  const long calls = count_calls().first;
  bool found = false;
  for (long n = 20; n < calls && !found; ++n) {
    Settings faults = kFast;
    faults["KILL"] = n;
    clean("half");
    ASSERT_EQ(run_with(arguments("half"), faults), -SIGKILL);
    if (!fs::exists(folder_ / "half/lock")) continue;
    const json files = json::parse(contents(folder_ / "half/state.json"))["files"];
    found =
        fs::file_size(folder_ / "half/trajectory.csv") > files["trajectory.csv"]["bytes"].get<std::size_t>();
  }
  ASSERT_TRUE(found);
  int refused = 0;
  for (const char* fault : {"ONCE", "FULL"}) {
    for (long n = 1; n <= 16; ++n) {
      const std::string what = std::string(fault) + " " + std::to_string(n);
      clean("k");
      fs::copy(folder_ / "half", folder_ / "k");
      const int code = run_with(arguments("k"), {{fault, n}});
      const bool replaced = contents(folder_ / "k/state.json") != contents(folder_ / "half/state.json");
      if (code == 0 || replaced) continue;
      ++refused;
      expect_goes_on("k", what);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(refused, 6);
}

// Two at once: one runs, the other is told who it is.
TEST_F(Faults, OfTwoRunsIntoOneFolderOneIsRefused) {
  for (int i = 0; i < cases(50); ++i) {
    clean("k");
    if (i % 2 == 1) fs::copy(folder_ / "whole", folder_ / "k");
    // Endless, so that neither ends before the other begins.
    const std::vector<std::string> words = arguments("k", "1e12");
    const pid_t both[2] = {start(words, kFast, 0, "err-0"), start(words, kFast, 0, "err-1")};
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    const int refused = ended == both[1] ? 1 : 0;
    const pid_t running = both[1 - refused];
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << i << ": " << status;
    const std::string message = contents(folder_ / ("err-" + std::to_string(refused)));
    EXPECT_NE(
        message.find("another run is writing this folder: process " + std::to_string(running) + " since 20"),
        std::string::npos)
        << message;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(running, SIGTERM);
    EXPECT_EQ(wait_for(running), 130) << i << contents(folder_ / ("err-" + std::to_string(1 - refused)));
    io::RunData data;
    const io::FileStatus readable = io::read_run(folder_ / "k", data);
    EXPECT_TRUE(readable.ok()) << readable.text();
    EXPECT_EQ(json::parse(data.run_json)["counts"]["rows"], data.columns.at(0).size());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "k"), fs::directory_iterator()), 4)
        << "no lock, no drafts";
    if (HasFailure()) return;
  }
}

TEST_F(Faults, SignalsThatEndASessionSaveTheRun) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    clean("k");
    const pid_t child = start(arguments("k", "1e12"), {});
    await(child, {".k.tmp/trajectory.csv", "k"});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(child, number);
    EXPECT_EQ(wait_for(child), 130) << number;
    const json run = json::parse(contents(folder_ / "k/run.json"));
    EXPECT_EQ(run["end"]["reason"], "interrupted");
    std::vector<std::string> more = arguments("k", std::to_string(run["end"]["time"].get<double>() + 10));
    more.insert(more.end(), {"--resume", "k"});
    EXPECT_EQ(run_with(more), 0) << contents(folder_ / "err");
  }
  // A signal that is not caught loses only what came after the last commit.
  clean("k");
  const pid_t child = start(arguments("k", "1e12"), kFast);
  await(child, {"k"});
  kill(child, SIGQUIT);
  EXPECT_EQ(wait_for(child), -SIGQUIT);
  io::RunData data;
  EXPECT_TRUE(io::read_run(folder_ / "k", data).ok());
}

TEST_F(Faults, AFolderOrATableThatIsTakenAwayStopsTheRun) {
  for (const std::string what : {"folder", "moved", "trajectory.csv", "events.csv"}) {
    clean("k");
    clean("elsewhere");
    const pid_t child = start(arguments("k", "1e12"), kFast);
    await(child, {"k/run.json"});
    std::error_code ignored;
    if (what == "folder")
      for (int i = 0; i < 100 && fs::exists(folder_ / "k"); ++i) fs::remove_all(folder_ / "k", ignored);
    else if (what == "moved")
      fs::rename(folder_ / "k", folder_ / "elsewhere");
    else
      fs::remove(folder_ / "k" / what);
    EXPECT_EQ(wait_for(child), 5) << what;
    const std::string said = contents(folder_ / "err");
    EXPECT_TRUE(said.find("was moved, removed or replaced during the run; the run has stopped") !=
                std::string::npos)
        << what << said;
    EXPECT_EQ(said.find("goes on"), std::string::npos) << what << said;
    if (what != "moved") continue;
    io::RunData data;
    const io::FileStatus status = io::read_run(folder_ / "elsewhere", data);
    EXPECT_TRUE(status.ok()) << status.text();
  }
}

// At any moment, most often inside a commit; one that comes again ends the program at once, which is a kill.
TEST_F(Faults, InterruptedAtAnyTimeTheRunGoesOn) {
  std::mt19937_64 random(5);
  for (const auto& [number, twice] :
       {std::pair(SIGINT, false), std::pair(SIGHUP, false), std::pair(SIGTERM, true)}) {
    int heard = 0;
    unsigned range = 100'000;  // microseconds
    for (int i = 0; i < cases(100); ++i) {
      clean("k");
      const pid_t child = start(arguments("k"), kFast);
      // Not before the program has begun to listen.
      await(child, {".k.tmp", "k"});
      std::this_thread::sleep_for(std::chrono::microseconds(random() % range));
      kill(child, number);
      if (twice) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000));
        kill(child, number);
      }
      const int code = wait_for(child);
      const std::string what = "signal " + std::to_string(number) + ", number " + std::to_string(i);
      EXPECT_TRUE(code == 130 || code == 0 || (twice && code == -number)) << what << ": " << code;
      heard += code == 0 ? 0 : 1;
      // As fast as this machine runs: half of the signals come before the end.
      range = code == 0 ? std::max(range / 2, 1U) : std::min(2 * range, 400'000U);
      if (fs::exists(folder_ / "k")) expect_whole("k", what);
      if (code == 130) {
        // With time as fast as here a step may be given up inside: then the folder ends with what was saved before it.
        const json end = json::parse(contents(folder_ / "k/run.json"))["end"];
        EXPECT_EQ(end["reason"], "interrupted") << what;
        EXPECT_TRUE(end["message"] == "interrupted" ||
                    end["message"] == "not finished: as far as it was saved")
            << what << ": " << end["message"];
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "k"), fs::directory_iterator()), 4) << what;
      }
      expect_goes_on("k", what);
      if (HasFailure()) return;
    }
    EXPECT_GT(heard, 0) << number;
  }
}

// A table or a figure is the old one or the new one, and no draft of it stays.
TEST_F(Faults, ATableIsTheOldOneOrTheNewOne) {
  const auto compare = [](const char* until) {
    return std::vector<std::string>{"compare", "model.toml", "--until", until, "-o", "table.csv"};
  };
  int failed = 0, killed = 0;
  for (const char* fault : {"FULL", "KILL", "ONCE"}) {
    for (long i = 1; i <= 12; ++i) {
      ASSERT_EQ(run_with(compare("5")), 0) << contents(folder_ / "err");
      const std::string before = contents(folder_ / "table.csv");
      const int code = run_with(compare("10"), {{fault, i}});
      failed += code == 5 ? 1 : 0;
      killed += code == -SIGKILL ? 1 : 0;
      const std::string after = contents(folder_ / "table.csv");
      EXPECT_EQ(after.rfind("engine,tolerance,", 0), 0U) << fault << i;
      EXPECT_EQ(after.back(), '\n') << fault << i;
      if (code == 5 && after != before) {
        EXPECT_STREQ(fault, "ONCE") << "only the last wait for the disk may fail";
      }
      if (code == -SIGKILL) continue;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
        EXPECT_NE(entry.path().extension(), ".tmp") << fault << i << entry.path();
    }
  }
  EXPECT_GT(failed, 2);
  EXPECT_GT(killed, 2);
  EXPECT_EQ(run_with(compare("5")), 0);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path() << ": what a kill left goes";
}

TEST_F(Faults, ACopyOfABundledModelIsThereOrNot) {
  for (int i = 1; i <= cases(60); ++i) {
    for (const char* fault : {"FULL", "KILL", "ONCE"}) {
      fs::remove_all(folder_ / "copy");
      const int code = run_with({"gallery", "press", "-o", "copy"}, {{fault, i}});
      if (fs::exists(folder_ / "copy")) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(gallery_ + "press")) {
          if (!entry.is_regular_file()) continue;
          EXPECT_EQ(contents(folder_ / "copy" / fs::relative(entry.path(), gallery_ + "press")),
                    contents(entry.path()));
        }
      } else {
        EXPECT_TRUE(code == 5 || code == -SIGKILL) << fault << " " << i << ": " << code;
      }
      // A kill leaves a hidden draft, every other end nothing; not even that of a kill before.
      const int drafts = static_cast<int>(std::count_if(
          fs::directory_iterator(folder_), fs::directory_iterator(), [](const fs::directory_entry& entry) {
            return entry.path().filename().string().rfind(".copy", 0) == 0;
          }));
      EXPECT_LE(drafts, code == -SIGKILL || std::string(fault) != "KILL" ? 1 : 0) << fault << " " << i;
    }
  }
  // What is somebody else's, or of a process that lives, stays.
  fs::remove_all(folder_ / "copy");
  const std::string alive = ".copy." + std::to_string(getpid()) + ".tmp";
  for (const std::string& name : {alive, std::string(".copy.x.tmp"), std::string(".copied.99999999.tmp")})
    fs::create_directories(folder_ / name / "inside");
  fs::create_directory_symlink(folder_ / ".copy.x.tmp", folder_ / ".copy.99999999.tmp");
  EXPECT_EQ(run_with({"gallery", "press", "-o", "copy"}), 0);
  for (const std::string& name : {alive, std::string(".copy.x.tmp"), std::string(".copied.99999999.tmp")})
    EXPECT_TRUE(fs::exists(folder_ / name / "inside")) << name;
  // The draft of a killed one goes.
  fs::remove(folder_ / ".copy.99999999.tmp");
  fs::create_directories(folder_ / ".copy.99999999.tmp");
  write(".copy.99999999.tmp/model.toml", "format");
  fs::create_directories(folder_ / ".copy.99999998.tmp");
  write(".copy.99999998.tmp/notes", "mine");
  fs::remove_all(folder_ / "copy");
  EXPECT_EQ(run_with({"gallery", "press", "-o", "copy"}), 0);
  EXPECT_FALSE(fs::exists(folder_ / ".copy.99999999.tmp"));
  EXPECT_EQ(contents(folder_ / ".copy.99999998.tmp/notes"), "mine");
}

}  // namespace
}  // namespace judder
