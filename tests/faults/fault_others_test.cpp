// A run without memory, beside another one, or interrupted by signals.
#include "faults.hpp"

namespace judder {
namespace {

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
