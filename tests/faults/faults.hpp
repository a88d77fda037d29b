// Nothing is lost: what a run leaves when it is killed, when the disk is full, when a call fails, when another one wants its folder.
//
// Every case ends in the same way: the folder is whole, the run is taken up in it, and at the end every byte of its tables is that of a run that nobody
// disturbed.
#pragma once

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
namespace fs = std::filesystem;
using nlohmann::json;

/// `full` cases when JUDDER_FULL is set, else a tenth.
inline int cases(int full) {
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

}  // namespace judder
