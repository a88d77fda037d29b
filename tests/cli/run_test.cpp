// run, verify and plot from outside: exit codes, complete files, interrupts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class RunVerbs : public ProgramTest {
 protected:
  void expect_complete(const fs::path& folder) const {
    for (const char* file : {"run.json", "state.json", "trajectory.csv", "events.csv"})
      EXPECT_TRUE(fs::exists(folder_ / folder / file)) << file;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / folder))
      EXPECT_NE(entry.path().extension(), ".tmp");
    EXPECT_FALSE(json::parse(contents(folder_ / folder / "run.json"), nullptr, false).is_discarded());
    EXPECT_FALSE(json::parse(contents(folder_ / folder / "state.json"), nullptr, false).is_discarded());
    EXPECT_EQ(contents(folder_ / folder / "trajectory.csv").back(), '\n');
  }

  const std::string press_ = gallery_ + "press/model.toml";
  const std::string ball_ = gallery_ + "bouncing-ball/model.toml";
};

TEST_F(RunVerbs, ARunPrintsItsEventsAndWritesItsFolder) {
  const Outcome outcome = run("run '" + press_ + "' -o out-press");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress unless on a terminal";
  EXPECT_NE(outcome.out.find("impact"), std::string::npos);
  EXPECT_NE(outcome.out.find("done at t = 3\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nout-press\n"), std::string::npos) << outcome.out;
  expect_complete("out-press");
  EXPECT_EQ(contents(folder_ / "out-press/events.csv").rfind("time,kind,where,detail,normal_impulse", 0), 0U);

  EXPECT_EQ(run("run '" + ball_ + "'").code, 0);
  expect_complete("runs/bouncing-ball");
}

// sqrt(x) of x = cos(√2 t)/2 has no value from t = π/(2 √2) = 1.1107 on.
TEST_F(RunVerbs, AColumnWithoutAValueIsToldOnceByItsName) {
  write("root.toml",
        "format = 1\n[coordinates]\nx = 0.5\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2\"\n"
        "[run]\nuntil = 2\n[output]\nsamples = 2001\n[output.columns]\nroot = \"sqrt(x)\"\nfine = \"x^2\"\n");
  const std::string note = "the column 'root' is nan at t = 1.111, for the first time";
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = text.find("the column '"); at != std::string::npos;
         at = text.find("the column '", at + 1))
      ++found;
    return found;
  };
  for (const char* how : {"", "--json", "--summary"}) {
    const Outcome outcome = run(std::string("run root.toml -o r ") + how);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(note), std::string::npos) << outcome.err;
    EXPECT_EQ(count(outcome.err), 1U) << outcome.err;
    EXPECT_EQ(json::parse(contents(folder_ / "r/run.json"))["notes"].size(), 1U);
  }
  // A run that goes on says it again, with the place where it began.
  const Outcome outcome = run("run root.toml --until 3 --resume r -o r");
  EXPECT_NE(outcome.err.find(note), std::string::npos) << outcome.err;
  EXPECT_EQ(count(contents(folder_ / "r/run.json")), 1U);
  EXPECT_NE(contents(folder_ / "r/run.json").find(note), std::string::npos);
}

TEST_F(RunVerbs, JsonIsTheRunJsonWithTheEvents) {
  for (const char* engine : {"event", "exact"}) {
    const Outcome outcome = run("run '" + ball_ + "' --until 1 --json -o b --engine " + engine);
    EXPECT_EQ(outcome.code, 0);
    json printed = json::parse(outcome.out);
    ASSERT_EQ(printed["events"].size(), 1U);
    const json event = printed["events"][0];
    EXPECT_EQ(event["kind"], "impact");
    EXPECT_NEAR(event["time"].get<double>(), 0.4515236409857309, 1e-12);
    // Only the exact engine knows a bound.
    EXPECT_EQ(event.contains("time_bound"), std::string(engine) == "exact");
    if (event.contains("time_bound")) {
      EXPECT_LT(event["time_bound"].get<double>(), 1e-14);
    }
    printed.erase("events");
    EXPECT_EQ(printed, json::parse(contents(folder_ / "b/run.json")));
  }
}

TEST_F(RunVerbs, TheExactEngineIsTakenOrRefusedWithTheReason) {
  write("cubic.toml",
        "format = 1\n[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\n[[force]]\nalong = \"y'\"\nvalue "
        "= \"-y^3\"\n[run]\nuntil = 1\n");
  const Outcome refused = run("run cubic.toml --engine exact -o c");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find(
                "cubic.toml:8:9: error: the model is not linear between events: force on y: y^3 at line 8"),
            std::string::npos)
      << refused.err;
  const Outcome event = run("run cubic.toml --engine auto -o c");
  EXPECT_EQ(event.code, 0) << event.err;
  EXPECT_NE(event.out.find("engine event (auto)"), std::string::npos) << event.out;
  EXPECT_NE(event.out.find("force on y: y^3 at line 8"), std::string::npos) << event.out;
  const Outcome exact = run("run '" + ball_ + "' --engine auto -o d");
  EXPECT_NE(exact.out.find("engine exact (auto)"), std::string::npos) << exact.out;
  EXPECT_EQ(json::parse(contents(folder_ / "d/run.json"))["engine"], "exact");
}

TEST_F(RunVerbs, CompareShowsErrorEventsAndCost) {
  const Outcome outcome =
      run("compare '" + ball_ + "' --engines event,exact --tolerances 1e-6,1e-9 --until 2 -o table.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("reference: exact"), std::string::npos) << outcome.out;
  const std::string table = contents(folder_ / "table.csv");
  EXPECT_EQ(
      table.rfind(
          "engine,tolerance,step,events,agree,error,time_error,order,steps,evaluations,windows,seconds\n", 0),
      0U)
      << table;
  EXPECT_NE(table.find("\nevent,1e-06,,"), std::string::npos) << table;
  EXPECT_NE(table.find("\nexact,,,"), std::string::npos) << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
  const json report =
      json::parse(run("compare '" + ball_ + "' --engines event --steps 0.05,0.025 --until 0.4 --json").out);
  ASSERT_EQ(report["rows"].size(), 2U);
  EXPECT_EQ(report["rows"][0]["step"], 0.05);
  EXPECT_EQ(run("compare '" + ball_ + "' --engines event,exactly").code, 2);
  EXPECT_EQ(run("compare '" + ball_ + "' --tolerances 3").code, 2);
}

TEST_F(RunVerbs, EveryEndHasItsExitCode) {
  write("stop.toml",
        "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
        "[[watch]]\nname = \"half\"\nzero = \"x - 0.5\"\nstop = true\n[run]\nuntil = 1\n");
  write("negative.toml",
        "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
        "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = \"0.2 - t\"\nlaw = 0.1\n[run]\nuntil = 1\n");
  write("endless.toml", "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n");
  EXPECT_EQ(run("run stop.toml").code, 0) << "a watch";
  EXPECT_EQ(run("run '" + ball_ + "' --set e=0.5 --until 9 -o a").code, 0);
  const Outcome early = run("run negative.toml -o negative");
  EXPECT_EQ(early.code, 4);
  EXPECT_NE(early.out.find("negative-normal at t = 0.2"), std::string::npos) << early.out;
  expect_complete("negative");
  EXPECT_EQ(run("run endless.toml").code, 3) << "no end time";
  EXPECT_EQ(run("run endless.toml --until 1").code, 0);
  EXPECT_EQ(run("run '" + press_ + "' --engine magic").code, 2);
  EXPECT_EQ(run("run '" + press_ + "' --until soon").code, 2);
  for (const char* option : {"--tolerance 1", "--tolerance 0", "--tolerance 1e-15", "--step 0", "--step -1",
                             "--step 1e-300", "--until -1"}) {
    const Outcome outcome = run("run '" + press_ + "' " + option);
    EXPECT_EQ(outcome.code, 2) << option << outcome.err;
    EXPECT_NE(outcome.err.find(option[2] == 'u'   ? "ends at -1 before"
                               : option[2] == 's' ? "the step is"
                                                  : "the tolerance is"),
              std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(run("compare '" + press_ + "' --until -1").code, 2);
  EXPECT_EQ(run("compare '" + press_ + "' --engines event --steps 1e-299").code, 2);
  write("small.toml",
        "format = 1\n[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = "
        "1\nmax_step = 1e-300\n");
  const Outcome small = run("run small.toml");
  EXPECT_EQ(small.code, 3);
  EXPECT_NE(small.err.find("lost in the rounding of times up to 1"), std::string::npos) << small.err;
  EXPECT_NE(small.err.find("small.toml:8:"), std::string::npos) << small.err;
  EXPECT_EQ(run("run").code, 2);
  EXPECT_EQ(run("run none.toml").code, 5);
  write("file", "");
  EXPECT_EQ(run("run '" + press_ + "' -o file/inside").code, 5);
  EXPECT_EQ(run("run '" + press_ + "' --resume nowhere").code, 5);
}

// What a shell makes of a variable that is not set is no name.
TEST_F(RunVerbs, AnEmptyNameIsAUsageError) {
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o a").code, 0);
  for (const std::string& words :
       {"run '" + ball_ + "' --until 1 -o ''", "run '" + ball_ + "' --until 2 --resume '' -o b",
        "run '" + ball_ + "' --variant ''", "run '" + ball_ + "' --engine ''", std::string("run ''"),
        "compare '" + ball_ + "' -o ''", "compare '" + ball_ + "' --tolerances ''",
        "impact '" + ball_ + "' -o ''", std::string("gallery press -o ''"),
        std::string("verify --gallery ''"), std::string("plot ''"), std::string("plot a ''"),
        std::string("plot a -o ''"), std::string("plot a --overlay ''"), "dither '" + ball_ + "' --law ''"}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_NE(outcome.err.find("empty"), std::string::npos) << words << ": " << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b"));
}

// Nothing waits for the other end of a pipe, and what was written after the last save is not drawn.
TEST_F(RunVerbs, PipesAreRefusedAndPlotsGoByTheLastSave) {
  ASSERT_EQ(std::system(("mkfifo '" + (folder_ / "pipe.toml").string() + "'").c_str()), 0);
  for (const char* verb : {"check", "run", "explain"}) {
    const Outcome outcome = run(std::string(verb) + " pipe.toml");
    EXPECT_EQ(outcome.code, 5) << verb;
    EXPECT_NE(outcome.err.find("not a regular file"), std::string::npos) << outcome.err;
  }
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o a").code, 0);
  ASSERT_EQ(run("plot a -o first").code, 0);
  std::ofstream(folder_ / "a/trajectory.csv", std::ios::app) << "2,3,torn";
  ASSERT_EQ(run("plot a -o second").code, 0);
  EXPECT_EQ(contents(folder_ / "first/motion.svg"), contents(folder_ / "second/motion.svg"));
  std::filesystem::remove(folder_ / "a/trajectory.csv");
  ASSERT_EQ(std::system(("mkfifo '" + (folder_ / "a/trajectory.csv").string() + "'").c_str()), 0);
  EXPECT_EQ(run("plot a").code, 5);
  std::filesystem::remove(folder_ / "a/state.json");
  EXPECT_EQ(run("plot a").code, 5);
}

TEST_F(RunVerbs, ATableThatIsLeftIsNamedWithTheTime) {
  for (const char* engine : {"event", "exact"}) {
    write("table.toml",
          "format = 1\n[coordinates]\nx = 0\n[tables]\nramp = { x = [0, 1, 2], y = [0, 1, 1] }\n[energy]\n"
          "kinetic = \"x'^2/2\"\n[[force]]\nname = \"push\"\nalong = \"x'\"\nvalue = "
          "\"ramp(t)\"\n[run]\nuntil = 3\n");
    const Outcome outcome = run(std::string("run table.toml -o t --engine ") + engine);
    EXPECT_EQ(outcome.code, 4);
    EXPECT_NE(outcome.out.find(
                  "the table 'ramp' (line 5) holds from 0 to 2 and was left at t = 2 in force.push.value"),
              std::string::npos)
        << outcome.out;
    EXPECT_EQ(run(std::string("run table.toml -o t --until 2 --engine ") + engine).code, 0)
        << "its end belongs to it";
  }
}

TEST_F(RunVerbs, TheSummaryIsMarkdownWithLoadsAndPeaks) {
  const Outcome outcome = run("run '" + press_ + "' --summary --estimate -o s");
  EXPECT_EQ(outcome.code, 0);
  for (const char* part : {"# Two-mass vibro-impact system (press)", "## Events", "## Loads", "| plane ",
                           "## Extremes", "## Energy", "largest difference", "event times"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
}

TEST_F(RunVerbs, ResumingContinues) {
  EXPECT_EQ(run("run '" + ball_ + "' --until 2 -o first").code, 0);
  const Outcome outcome = run("run '" + ball_ + "' --resume first");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_complete("first-resumed");
  const std::string rows = contents(folder_ / "first-resumed/trajectory.csv");
  EXPECT_GT(std::atof(rows.substr(rows.find('\n') + 1).c_str()), 2.0);
  EXPECT_EQ(run("run '" + press_ + "' --resume first -o x").code, 5) << "the state of another model";
}

TEST_F(RunVerbs, WhatSomebodyAddedToAFileOfARunIsNotCutOff) {
  const std::string again = "run '" + ball_ + "' --until 1 -o b",
                    on = "run '" + ball_ + "' --until 2 --resume b -o b";
  for (const std::string file : {"trajectory.csv", "events.csv", "run.json"}) {
    for (const std::string added : {"# seen on Monday\n", "9,9,9\n"}) {
      fs::remove_all(folder_ / "b");
      ASSERT_EQ(run(again).code, 0);
      const std::string text = contents(folder_ / "b" / file) + added;
      write("b/" + file, text);
      for (const std::string& command : {again, on}) {
        const Outcome refused = run(command);
        EXPECT_EQ(refused.code, 5) << file;
        EXPECT_NE(refused.err.find("bytes more than the run wrote"), std::string::npos) << refused.err;
        EXPECT_EQ(contents(folder_ / "b" / file), text);
      }
    }
  }
  // A killed run leaves its lock, and rows behind the last save; a note is none.
  fs::remove_all(folder_ / "b");
  ASSERT_EQ(run(again).code, 0);
  const std::string rows = contents(folder_ / "b/trajectory.csv");
  write("b/lock", "judder process 1 since 2026-01-01 00:00:00 UTC\n");
  write("b/trajectory.csv", rows + "# seen on Monday\n");
  EXPECT_EQ(run(on).code, 5);
  write("b/lock", "judder process 1 since 2026-01-01 00:00:00 UTC\n");
  write("b/trajectory.csv", rows + "1.1,2,3,4,5\n1.2,");
  EXPECT_EQ(run(on).code, 0);
}

TEST_F(RunVerbs, AStateThatWasEmptiedOrTakenAwayProtectsItsFolder) {
  for (const std::string state : {"", "\n", "{}", "mine", "gone"}) {
    fs::remove_all(folder_ / "b");
    ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o b").code, 0);
    const std::string rows = contents(folder_ / "b/trajectory.csv");
    if (state == "gone")
      fs::remove(folder_ / "b/state.json");
    else
      write("b/state.json", state);
    for (const std::string command :
         {"' --until 0.5 -o b", "' --until 2 --resume b -o b", "' --until 2 --resume b"}) {
      const Outcome refused = run("run '" + ball_ + command);
      EXPECT_EQ(refused.code, 5) << state << command;
      EXPECT_NE(refused.err.find("b/"), std::string::npos) << refused.err;
      EXPECT_EQ(refused.err.find("parse_error"), std::string::npos) << refused.err;
      EXPECT_EQ(contents(folder_ / "b/trajectory.csv"), rows);
    }
  }
  // To look at it harms nobody, but it may not be what the run has saved.
  const Outcome drawn = run("plot b -o figures");
  EXPECT_EQ(drawn.code, 0);
  EXPECT_NE(drawn.err.find("b: state.json is missing"), std::string::npos) << drawn.err;
}

TEST_F(RunVerbs, ARunGoesOnInItsFolderOnlyIfAllOfItIsThere) {
  for (const std::string file : {"trajectory.csv", "events.csv", "run.json"}) {
    fs::remove_all(folder_ / "b");
    fs::remove_all(folder_ / "c");
    ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o b").code, 0);
    fs::remove(folder_ / "b" / file);
    const Outcome refused = run("run '" + ball_ + "' --until 2 --resume b -o b");
    EXPECT_EQ(refused.code, 5);
    EXPECT_NE(refused.err.find("b/" + file + ": is missing"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("-o"), std::string::npos) << refused.err;
    // The state alone is enough to go on elsewhere.
    EXPECT_EQ(run("run '" + ball_ + "' --until 2 --resume b -o c").code, 0);
  }
}

TEST_F(RunVerbs, ALinkIsNoRunFolder) {
  fs::create_directories(folder_ / "real");
  fs::create_directory_symlink("real", folder_ / "link");
  fs::create_directory_symlink("nowhere", folder_ / "dangling");
  for (const std::string name : {"link", "link/", "link/.", "dangling"}) {
    const Outcome refused = run("run '" + ball_ + "' --until 1 -o " + name);
    EXPECT_EQ(refused.code, 5) << name;
    EXPECT_NE(refused.err.find("symbolic link"), std::string::npos) << refused.err;
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "real"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
  fs::create_directory_symlink("real", folder_ / "runs");
  EXPECT_EQ(run("run '" + ball_ + "' --until 1").code, 5);
  EXPECT_TRUE(fs::is_empty(folder_ / "real"));
  EXPECT_EQ(run("run '" + ball_ + "' --until 1 -o runs/b").code, 0) << "named by the user";
}

// Nor is a link in the place of one of its files, for those who read it.
TEST_F(RunVerbs, LinksInARunFolderAreNotRead) {
  for (const std::string name : {"state.json", "trajectory.csv", "events.csv", "run.json"}) {
    fs::remove_all(folder_ / "b");
    ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o b").code, 0);
    fs::rename(folder_ / "b" / name, folder_ / "elsewhere");
    fs::create_symlink("../elsewhere", folder_ / "b" / name);
    EXPECT_EQ(run("plot b -o figures").code, 5) << name;
    EXPECT_EQ(run("run '" + ball_ + "' --until 2 --resume b -o b").code, 5) << name;
  }
  const Outcome refused = run("run '" + ball_ + "' --until 2 --resume b -o c");
  EXPECT_EQ(refused.code, 0) << "state.json alone is enough elsewhere: " << refused.err;
}

TEST_F(RunVerbs, ASummarySaysThatItsExtremesAreThoseOfTheRows) {
  const Outcome outcome = run("run '" + ball_ + "' --until 1 --summary -o b");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json made = json::parse(contents(folder_ / "b/run.json"));
  EXPECT_NE(outcome.out.find("## Extremes\n\nOf the run, of which " + made["counts"]["rows"].dump() +
                             " rows are in trajectory.csv: also between rows"),
            std::string::npos)
      << outcome.out;
}

TEST_F(RunVerbs, AnInterruptLeavesCompleteFilesAndIs130) {
  // Long enough that only the interrupt can end it.
  const std::string out = (folder_ / "long").string();
  const std::string model = gallery_ + "impact-oscillator/model.toml";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    signal(SIGINT, SIG_DFL);  // who tests in the background may have passed it by
    execl(JUDDER_PROGRAM, "judder", "run", model.c_str(), "--until", "1e9", "-o", out.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  // The folder under its hidden name says that the run has begun.
  for (int i = 0;
       i < 600 && !fs::exists(folder_ / ".long.tmp/trajectory.csv") && !fs::exists(folder_ / "long"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  expect_complete("long");
  EXPECT_EQ(json::parse(contents(folder_ / "long/run.json"))["end"]["reason"], "interrupted");
}

// What was told to pass the program by before it began does so: a script that puts runs in the background, nohup.
TEST_F(RunVerbs, SignalsThatWereIgnoredAtTheStartStayIgnored) {
  const std::string model = gallery_ + "impact-oscillator/model.toml";
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = "i" + std::to_string(number), out = (folder_ / name).string();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      dup2(null, STDERR_FILENO);
      signal(number, SIG_IGN);
      execl(JUDDER_PROGRAM, "judder", "run", model.c_str(), "--until", "1e9", "-o", out.c_str(),
            static_cast<char*>(nullptr));
      _exit(127);
    }
    for (int i = 0; i < 600 && !fs::exists(folder_ / ("." + name + ".tmp/trajectory.csv")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(child, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, WNOHANG), 0) << "signal " << number;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
}

// Names that users know stay; what could be read in two ways is told apart, and no run of another model is replaced under a name that nobody chose.
TEST_F(RunVerbs, DefaultNamesTellRunsApart) {
  const std::string text =
      "format = 1\n[parameters]\nk = 4\n[coordinates]\nx = { start = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n"
      "potential = \"k*x^2/2\"\n[variants]\nwet = { k = 8 }\nsoft = { x = 2 }\n\"soft-wet\" = { k = 7 }\n"
      "\"wet-k=5\" = { k = 9 }\n[run]\nuntil = 1\n";
  write("v.toml", text);
  write("v-wet.toml", text);
  fs::create_directories(folder_ / "deep");
  write("deep/v.toml", text);
  const auto folder = [&](const std::string& words) {
    const Outcome outcome = run("run " + words);
    EXPECT_EQ(outcome.code, 0) << words << outcome.err;
    const std::size_t end = outcome.out.find_last_not_of('\n'), begin = outcome.out.rfind('\n', end) + 1;
    return outcome.out.substr(begin, end + 1 - begin);
  };
  EXPECT_EQ(folder("v.toml"), "runs/v");
  EXPECT_EQ(folder("v.toml --set k=5"), "runs/v-k=5");
  EXPECT_EQ(folder("v.toml --variant wet"), "runs/v-wet");
  const std::vector<std::string> commands{"v.toml",
                                          "v.toml --variant wet",
                                          "v-wet.toml",
                                          "deep/v.toml",
                                          "v.toml --variant soft --variant wet",
                                          "v.toml --variant soft-wet",
                                          "v-wet.toml --variant soft",
                                          "v.toml --variant wet --set k=5",
                                          "v.toml --variant wet-k=5",
                                          "v-wet.toml --set k=5"};
  std::vector<std::string> folders;
  for (const std::string& command : commands) {
    folders.push_back(folder(command));
    EXPECT_EQ(std::count(folders.begin(), folders.end(), folders.back()), 1) << command;
  }
  // The same command goes to the same place, in whatever way its file is named.
  for (std::size_t i = 0; i < commands.size(); ++i) EXPECT_EQ(folder(commands[i]), folders[i]) << commands[i];
  EXPECT_EQ(folder("./v-wet.toml"), folders[2]);
  EXPECT_EQ(folder("deep/../v.toml"), "runs/v");
  // Where nobody can go beside it: a run that goes on.
  ASSERT_EQ(run("run v.toml --until 0.5 -o a").code, 0);
  ASSERT_EQ(run("run v-wet.toml -o a-resumed").code, 0);
  const std::string before = contents(folder_ / "a-resumed/state.json");
  const Outcome refused = run("run v.toml --resume a");
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("holds a run of v-wet.toml; choose another folder with -o"), std::string::npos)
      << refused.err;
  EXPECT_EQ(contents(folder_ / "a-resumed/state.json"), before);
}

TEST_F(RunVerbs, TheNameInWhichAFolderBeginsIsNoName) {
  const Outcome refused = run("run '" + ball_ + "' --until 1 -o .x.tmp");
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("is the name in which the folder x begins"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(folder_ / ".x.tmp"));
  // A finished run that somebody has put there is his: no run has left it without its name.
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o y").code, 0);
  fs::rename(folder_ / "y", folder_ / ".x.tmp");
  const std::string before = contents(folder_ / ".x.tmp/state.json");
  EXPECT_EQ(run("run '" + ball_ + "' --until 0.5 -o x").code, 5);
  EXPECT_EQ(contents(folder_ / ".x.tmp/state.json"), before);
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(RunVerbs, CountsAreOfWhatStandsInTheFolder) {
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o a").code, 0);
  ASSERT_EQ(run("run '" + ball_ + "' --until 2 --resume a -o b").code, 0);
  const std::string events = contents(folder_ / "b/events.csv");
  const json counts = json::parse(contents(folder_ / "b/run.json"))["counts"];
  EXPECT_EQ(counts["events"], std::count(events.begin(), events.end(), '\n') - 1);
  EXPECT_GT(json::parse(contents(folder_ / "b/state.json"))["events"], counts["events"]) << "counted through";
}

TEST_F(RunVerbs, WhatIsMissingOfARunIsSaidAsItIs) {
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o a").code, 0);
  fs::remove(folder_ / "a/state.json");
  Outcome outcome = run("run '" + ball_ + "' --until 2 --resume a -o a");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.err.find("is missing, although trajectory.csv is there"), std::string::npos)
      << outcome.err;
  outcome = run("run '" + ball_ + "' --until 2 --resume nowhere");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.err.find("nowhere: is not there"), std::string::npos) << outcome.err;
  fs::create_directories(folder_ / "empty");
  outcome = run("run '" + ball_ + "' --until 2 --resume empty");
  EXPECT_NE(outcome.err.find("nothing of a run was saved"), std::string::npos) << outcome.err;
}

TEST_F(RunVerbs, AnEmptyFileOfSomebodyStays) {
  ASSERT_EQ(run("run '" + ball_ + "' --until 1 -o a").code, 0);
  write("a/.coordinates.svg.999999.tmp", "");
  EXPECT_EQ(run("plot a").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "a/.coordinates.svg.999999.tmp"));
}

// 5: what cannot be read, or is of no use; 2: the command line; 1: a value that is off.
TEST_F(RunVerbs, VerifyTellsAFileThatIsOfNoUseFromAValueThatIsOff) {
  const std::string good =
      "[[value]]\nlabel = \"t2\"\nevent = \"impact ground\"\nnumber = 2\nexact = 1\ntolerance = 1e-3\n";
  fs::create_directories(folder_ / "m");
  const auto code = [&](int expected, const char* what) {
    EXPECT_EQ(run("verify m").code, expected) << what;
    const Outcome outcome = run("verify m --json");
    EXPECT_EQ(outcome.code, expected) << what;
    const json document = json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << what << outcome.out;
    EXPECT_EQ(document["error"]["exit_code"], expected) << what << outcome.out;
    EXPECT_GT(document["error"]["message"].get<std::string>().size(), 10U) << what;
  };
  code(5, "no reference.toml");
  write("m/reference.toml", good);
  code(5, "no model.toml");
  fs::copy_file(ball_, folder_ / "m/model.toml");
  code(1, "a value that is off");
  write("m/reference.toml", "[[value]\n");
  code(5, "a broken one");
  write("m/reference.toml", "source = \"nobody\"\n");
  code(5, "one without values");
  fs::remove(folder_ / "m/reference.toml");
  ASSERT_EQ(mkfifo((folder_ / "m/reference.toml").c_str(), 0666), 0);
  code(5, "a pipe");
  EXPECT_EQ(run("verify nosuch").code, 2);
}

TEST_F(RunVerbs, AGalleryThatCannotBeReadIsAnError) {
  fs::create_directories(folder_ / "gallery/ball");
  fs::create_symlink("model.toml", folder_ / "gallery/ball/model.toml");  // leads to itself
  for (const char* words : {"gallery", "gallery ball -o copy", "verify ball", "verify"}) {
    const Outcome outcome = run(words, "JUDDER_GALLERY=gallery");
    EXPECT_EQ(outcome.code, 5) << words << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find("gallery/ball/model.toml: "), std::string::npos) << words << outcome.err;
  }
}

TEST_F(RunVerbs, VerifyPrintsEveryValueAndItsExitCodeIsTheVerdict) {
  const Outcome good = run("verify relay bouncing-ball");
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_NE(good.out.find("published"), std::string::npos);
  EXPECT_NE(good.out.find(" passed, 0 failed\n"), std::string::npos);
  // Linear between events: every value by both engines.
  EXPECT_EQ(run("verify relay --quiet").out, "20 passed, 0 failed\n");
  EXPECT_EQ(run("verify relay --quiet --engine event").out, "10 passed, 0 failed\n");
  EXPECT_EQ(run("verify rely").code, 2);
  EXPECT_NE(run("verify rely").err.find("did you mean 'relay'?"), std::string::npos);

  // A gallery with a model whose restitution is not the one of the reference.
  fs::create_directories(folder_ / "gallery/ball");
  std::string model = contents(ball_);
  model.replace(model.find("e = 0.9"), 7, "e = 0.8");
  write("gallery/ball/model.toml", model);
  write(
      "gallery/ball/reference.toml",
      "[[value]]\nlabel = \"t2\"\nevent = \"impact ground\"\nnumber = 2\nexact = 1.264\ntolerance = 1e-3\n");
  const Outcome bad = run("verify ball", "JUDDER_GALLERY=gallery");
  EXPECT_EQ(bad.code, 1) << bad.out << bad.err;
  EXPECT_NE(bad.out.find("instead of 1.264"), std::string::npos) << bad.out;
  EXPECT_NE(bad.out.find("0 passed, 2 failed\n"), std::string::npos) << bad.out;
  const json report = json::parse(run("verify ball --json", "JUDDER_GALLERY=gallery").out);
  EXPECT_EQ(report["failed"], 2);
  EXPECT_EQ(report["models"][0]["values"][0]["verdict"], "off");
  write("gallery/ball/reference.toml", "[[value]]\nlabel = 3\n");
  EXPECT_EQ(run("verify ball", "JUDDER_GALLERY=gallery").code, 5)
      << "a reference that cannot be read proves nothing";
}

TEST_F(RunVerbs, PlotsAreListedAsTheyAreWritten) {
  ASSERT_EQ(run("run '" + press_ + "' -o a").code, 0);
  ASSERT_EQ(run("run '" + press_ + "' --variant high -o b").code, 0);
  const Outcome one = run("plot a");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.rfind("a/plot-1.svg\n", 0), 0U) << one.out;
  std::istringstream files(one.out);
  for (std::string file; std::getline(files, file);)
    EXPECT_EQ(contents(folder_ / file).rfind("<svg", 0), 0U) << file;

  const Outcome two = run("plot a b -o figures");
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_TRUE(fs::exists(folder_ / "figures/plot-1.svg"));

  write("data.csv", "t,N\n0,1\n1,2\n");
  EXPECT_EQ(run("plot a --overlay data.csv -o with").code, 0);
  EXPECT_EQ(run("plot nowhere").code, 5);
  EXPECT_EQ(run("plot a --overlay none.csv").code, 5);
}

}  // namespace
}  // namespace judder
