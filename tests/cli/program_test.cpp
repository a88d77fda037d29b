// The program from outside: exit codes, what goes where, help that fits a screen, completion scripts that shells accept.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Program : public ProgramTest {
 protected:
  const std::string press_ = gallery_ + "press/model.toml";
  const std::string bad_ = JUDDER_SOURCE_DIR "/tests/cli/bad/";
};

const std::vector<std::string> kVerbs{"run",    "check",  "explain", "compare",    "impact",  "gallery",
                                      "verify", "plot",   "report",  "web",        "dither",  "equilibria",
                                      "new",    "doctor", "schema",  "completion", "version", "help"};

TEST_F(Program, EveryHelpFitsAScreenAndShowsTwoExamples) {
  std::vector<std::string> helps{"--help"};
  for (const std::string& verb : kVerbs) helps.push_back(verb + " --help");
  for (const std::string& help : helps) {
    const Outcome outcome = run(help);
    EXPECT_EQ(outcome.code, 0) << help << outcome.err;
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 24) << help << "\n" << outcome.out;
    std::istringstream lines(outcome.out);
    int examples = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << help << ": " << line;
      examples += line.rfind("  judder ", 0) == 0 ? 1 : 0;
    }
    EXPECT_EQ(examples, help == "--help" ? 0 : 2) << help;
    if (help == "--help") {
      for (const std::string& verb : kVerbs)
        EXPECT_NE(outcome.out.find("\n  " + verb + " "), std::string::npos) << verb;
    }
  }
}

// What a verb would write stands in the place of something that it did not write: that stays, and the message says what to do.
TEST_F(Program, FilesOfOthersAreNotReplaced) {
  const std::string ball = JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml";
  const std::string rod = JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml";
  const std::string lugre = JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml";
  ASSERT_EQ(run("run '" + ball + "' --until 1 -o b").code, 0);
  const std::vector<std::pair<std::string, std::vector<std::string>>> commands = {
      {"compare '" + ball + "' --until 1 -o made/table.csv", {"table.csv"}},
      {"impact '" + rod + "' -o made/rod.svg", {"rod.svg"}},
      {"impact '" + rod + "' --sweep mu=0:1:3 -o made/rod.csv", {"rod.csv"}},
      {"plot b -o made", {}},
      {"plot --law '" + lugre + "' -o made", {}},
      {"dither '" + lugre + "' -o made", {"curve.csv", "dither.svg"}}};
  for (const auto& [command, names] : commands) {
    fs::remove_all(folder_ / "made");
    const Outcome first = run(command);
    ASSERT_EQ(first.code, 0) << command << first.err;
    EXPECT_EQ(run(command).code, 0) << "its own files may be written again: " << command;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "made"))
      files.push_back(entry.path());
    for (const std::string& name : names) EXPECT_TRUE(fs::exists(folder_ / "made" / name)) << name;
    ASSERT_FALSE(files.empty()) << command;
    for (const fs::path& file : files) {
      const std::string shown = "made/" + file.filename().string();
      write(shown, "precious\n");
      const Outcome refused = run(command);
      EXPECT_EQ(refused.code, 5) << command;
      EXPECT_NE(refused.err.find(shown + ": exists and is none of the files"), std::string::npos)
          << refused.err;
      EXPECT_NE(refused.err.find("-o"), std::string::npos) << refused.err;
      EXPECT_EQ(contents(file), "precious\n") << command;
      // What is empty was never written by this program, and may be meant to be there.
      write(shown, "");
      EXPECT_EQ(run(command).code, 5) << command;
      EXPECT_EQ(fs::file_size(file), 0U) << command;
      // A link is not followed, and stays a link.
      fs::remove(file);
      write("outside", "precious\n");
      fs::create_symlink(folder_ / "outside", file);
      EXPECT_EQ(run(command).code, 5) << command;
      EXPECT_TRUE(fs::is_symlink(file)) << command;
      EXPECT_EQ(contents(folder_ / "outside"), "precious\n");
      fs::remove(file);
      EXPECT_EQ(run(command).code, 0) << command;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "made"))
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
  EXPECT_EQ(run("compare '" + ball + "' --until 1 -o /dev/null").code, 5) << "a device is no file of ours";
}

// No room for a table or a figure: what was written before stays, and no draft is left.
TEST_F(Program, WhatCannotBeWrittenLeavesTheLastOne) {
  const std::string ball = JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml";
  const std::string rod = JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml";
  for (const auto& [command, name] :
       {std::pair("compare '" + ball + "' --until 1 -o made/table.csv", "table.csv"),
        std::pair("impact '" + rod + "' -o made/rod.svg", "rod.svg")}) {
    fs::remove_all(folder_ / "made");
    ASSERT_EQ(run(command).code, 0) << command;
    const std::string before = contents(folder_ / "made" / name);
    ASSERT_FALSE(before.empty());
    // What the command prints goes nowhere, so that only its file is too large.
    const Outcome refused = run(command + " >/dev/null 2>/dev/null", "ulimit -f 0;");
    EXPECT_EQ(refused.code, 5) << command;
    EXPECT_EQ(contents(folder_ / "made" / name), before) << command;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "made"), fs::directory_iterator()), 1)
        << command;
  }
}

// With --json there is one JSON document on standard output, however the command ends; the exit code is the same as without.
TEST_F(Program, ErrorsAreJsonWhereJsonWasAskedFor) {
  const std::string ball = "'" JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml'";
  write("wrong.toml", "format = 1\n[coordinates]\nx = \"y\"\n");
  ASSERT_EQ(run("gallery press -o there").code, 0);
  for (const std::string command : {"gallery press -o there",
                                    "gallery nope",
                                    "run",
                                    "run none.toml",
                                    "run wrong.toml",
                                    "check wrong.toml",
                                    "check none.toml",
                                    "explain wrong.toml",
                                    "explain",
                                    "compare wrong.toml",
                                    "impact wrong.toml",
                                    "verify nope",
                                    "dither wrong.toml",
                                    "dither",
                                    "equilibria wrong.toml",
                                    "equilibria",
                                    "equilibria BALL --limit 0",
                                    "equilibria BALL -o there",
                                    "run BALL --until",
                                    "run BALL --until x",
                                    "run BALL --until 1 --until 2",
                                    "run BALL --tolerance 5 -o r",
                                    "run BALL --step -1 -o r",
                                    "run BALL --resume none",
                                    "run BALL --engine nope",
                                    "run BALL --variant nope",
                                    "run BALL --nope",
                                    "run BALL one-more",
                                    "compare BALL --engines nope",
                                    "compare BALL -o there",
                                    "impact BALL",
                                    "impact BALL --sweep g=1:2:3",
                                    "dither BALL",
                                    "version x",
                                    "check BALL --names nope",
                                    "run BALL -o there/model.toml",
                                    "run BALL --set nope=1",
                                    "run BALL --work 0"}) {
    std::string words = command;
    if (const std::size_t at = words.find("BALL"); at != std::string::npos) words.replace(at, 4, ball);
    const Outcome plain = run(words);
    const std::size_t space = words.find(' ');
    const Outcome outcome =
        run(words.substr(0, space) + " --json" + (space == std::string::npos ? "" : words.substr(space)));
    EXPECT_NE(outcome.code, 0) << command;
    EXPECT_EQ(outcome.code, plain.code) << command;
    const nlohmann::json document = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << command << ": " << outcome.out;
    ASSERT_TRUE(document.contains("error")) << command << ": " << outcome.out;
    EXPECT_EQ(document["error"]["exit_code"], outcome.code) << command;
    EXPECT_GT(document["error"]["message"].get<std::string>().size(), 10U) << command;
    if (words.find("wrong.toml") != std::string::npos) {
      EXPECT_EQ(document["problems"][0]["line"], 3) << command << outcome.out;
    }
  }
  const nlohmann::json copied =
      nlohmann::json::parse(run("gallery press -o fresh --json").out, nullptr, false);
  EXPECT_EQ(copied["model"], "fresh/model.toml");
  const nlohmann::json names =
      nlohmann::json::parse(run("check " + ball + " --json --names parameters").out, nullptr, false);
  EXPECT_TRUE(names["parameters"].is_array());
}

// Messages speak of what the user wrote: the option, its range, and in our words.
TEST_F(Program, MessagesNameTheOptionAndItsRange) {
  const std::string ball = "'" JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml'";
  const std::vector<std::tuple<std::string, int, std::string>> commands = {
      {"dither", 2, "FILE is missing"},
      {"run " + ball + " --tolerance 5 -o r", 2,
       "--tolerance: the tolerance is 5; it must lie between 1e-14 and 0.01"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --simulate --until -1", 2,
       "--until is -1, and the run begins at 0"},
      {"run " + ball + " --resume nowhere", 5, "nowhere: is not there; --resume names the folder of a run"},
      {"run " + ball + " --resume " + ball, 5, "name the folder, not a file in it"},
      {"run " + ball + " --step 0 -o r", 2, "--step: the step is 0; it must be positive"},
      {"run " + ball + " --until 1e400 -o r", 2, "--until needs a finite number"},
      {"run " + ball + " --tolerance 1e-400 -o r", 2, "not '1e-400': the number 1e-400 is too small"},
      {"run " + ball + " --set g=1e-400 -o r", 3, "the number 1e-400 is too small"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --map speed", 2,
       "two axes with a comma"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --map speed=0:1:1,s0", 2,
       "--map: '1' is no count, which is a whole number from 2 to 100000"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --map speed=0:1:90000,s0=1:2:90000",
       2, "the map has 8.1e+09 points, more than 1e+06"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --map speed,speed", 2,
       "--map names one axis twice"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --speeds 0:1:1", 2,
       "'1' is no count"},
      {"run " + ball + " --until", 2, "--until needs T, and nothing follows it"},
      {"run " + ball + " --json=yes", 2, "--json takes no value"},
      {"run " + ball + " -o a -o b", 2, "--output is given twice"},
      {"run " + ball + " -o \"$(printf 'a\\nb')\"", 2, "control character"},
      {"compare " + ball + " -o \"$(printf 'a\\033[31mb')\"", 2, "control character"},
      {"run " + ball + " --set g=1e-320 -o r", 3, "the number 1e-320 is too small"},
      {"run " + ball + " --set g=1e-200*1e-200 -o r", 3, "the result is too small for a number"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --speeds 0:5e-324:5", 2,
       "'5e-324' is too small for a number"},
      {"compare " + ball + " --until 1e-300", 2, "the run lasts 1e-300, which is too short"},
      {"dither '" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml' --simulate --until 1e-300", 2,
       "the run lasts 1e-300, which is too short"},
      {"run " + ball + " --set g=1e308 -o r", 3, "squares of such numbers overflow"},
      {"run " + ball + " --set g=1e400 -o r", 3, "the number 1e400 is too large"}};
  for (const auto& [command, code, message] : commands) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, code) << command << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << command << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << command;
  }
  EXPECT_FALSE(fs::exists(folder_ / "r"));
}

// An option that a command would pass over is a mistake of who wrote it.
TEST_F(Program, OptionsWithoutEffectAreRefused) {
  const std::string ball = "'" JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml'";
  const std::string lugre = "'" JUDDER_SOURCE_DIR "/gallery/dither-square/model.toml'";
  ASSERT_EQ(run("run " + ball + " --until 0.1 -o b").code, 0);
  for (const std::string& command : std::vector<std::string>{
           "run " + ball + " --accept-changes -o r", "run " + ball + " --summary --json -o r",
           "check " + ball + " --names variants --set g=1", "check " + ball + " --names variants --variant a",
           "check " + ball + " --names variants --engine event",
           "check " + ball + " --names variants --work 2", "plot b --set g=1", "plot b --variant a",
           "plot --law " + lugre + " --from 1", "plot --law " + lugre + " --overlay x.csv",
           "dither " + lugre + " --until 1", "dither " + lugre + " --filter mean", "gallery -o x",
           "verify --quiet --json"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 2) << command << outcome.err;
    const bool says = outcome.err.find("says nothing without") != std::string::npos ||
                      outcome.err.find("exclude one another") != std::string::npos;
    EXPECT_TRUE(says) << command << ": " << outcome.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "r"));
}

TEST_F(Program, JsonErrorsComeFromEveryVerbAndFromNone) {
  for (const std::string& verb :
       std::vector<std::string>{"nosuchverb", "plot", "schema", "completion", "run", "help nosuchverb", ""}) {
    const Outcome outcome = run(verb + " --json");
    EXPECT_EQ(outcome.code, 2) << verb;
    const json document = json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << verb << ": " << outcome.out;
    EXPECT_EQ(document["error"]["exit_code"], 2) << verb;
    EXPECT_NE(document["error"]["message"], "") << verb;
  }
}

// A comparison with nothing is no success, and a folder that is not there is not a folder of another kind.
TEST_F(Program, VerifyNeedsSomethingToCompareWith) {
  fs::create_directories(folder_ / "own/m");
  fs::copy_file(press_, folder_ / "own/m/model.toml");
  for (const char* text : {"", "source = \"nobody\"\n"}) {
    std::ofstream(folder_ / "own/m/reference.toml") << text;
    for (const char* command : {"verify --gallery own", "verify own/m"}) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.code, 5) << command;
      EXPECT_NE(outcome.out.find("there is no [[value]] in it"), std::string::npos) << outcome.out;
    }
  }
  Outcome outcome = run("verify press --gallery nodir");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.err.find("nodir: there is no such folder"), std::string::npos) << outcome.err;
  outcome = run("verify press --gallery own");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("there is no model 'press' with a reference.toml in own"), std::string::npos)
      << outcome.err;
}

// A model that is invalid, or of which the reference asks what it does not have, is of no use; no value of it is off.
TEST_F(Program, VerifyOfAModelThatDoesNotCompileEndsWithFive) {
  fs::create_directories(folder_ / "own/m");
  const std::string head = "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n";
  const std::string value = "[[value]]\nlabel = \"a\"\ncolumn = \"x\"\nat = 1\nexact = 1\n";
  const auto verified = [&](const std::string& model, const std::string& reference) {
    std::ofstream(folder_ / "own/m/model.toml") << model << "[run]\nuntil = 2\n";
    std::ofstream(folder_ / "own/m/reference.toml") << reference;
    return run("verify own/m");
  };
  EXPECT_EQ(verified(head, value).code, 0);
  EXPECT_EQ(
      verified(head, value + "tolerance = 0.1\n[[value]]\nlabel = \"b\"\ncolumn = \"x\"\nat = 1\nexact = 2\n")
          .code,
      1);
  Outcome outcome = verified(head + "potential = \"x*unknown\"\n", value);
  EXPECT_EQ(outcome.code, 5) << outcome.out;
  EXPECT_NE(outcome.out.find("own/m/model.toml:6:16: error: unknown name 'unknown'"), std::string::npos)
      << outcome.out;
  outcome = verified(head, value + "variant = \"none\"\n");
  EXPECT_EQ(outcome.code, 5) << outcome.out;
  EXPECT_NE(outcome.out.find("reference.toml: error: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("there is no variant 'none'"), std::string::npos) << outcome.out;
}

// x = t: the number that a reference computes from lists and matrices of the model is the time at which the value is read.
TEST_F(Program, ReferencesReadListsAndMatricesOfTheModel) {
  fs::create_directories(folder_ / "own/m");
  std::ofstream(folder_ / "own/m/model.toml")
      << "format = 1\n[parameters]\na = 2\ne = [1, \"a\", 3]\nB = [[1, 2, 3], [4, 5, "
         "6]]\n[variants.other]\na = 1.5\n"
         "[coordinates]\nx = { velocity = 1 }\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 10\n";
  const auto verified = [&](const std::string& at, const std::string& exact, const std::string& more = "") {
    std::ofstream(folder_ / "own/m/reference.toml") << "[[value]]\nlabel = \"a\"\ncolumn = \"x\"\nat = " << at
                                                    << "\nexact = " << exact << "\ntolerance = 1e-9\n"
                                                    << more;
    return run("verify own/m");
  };
  EXPECT_EQ(verified("\"e[2]\"", "2").code, 0);
  EXPECT_EQ(verified("\"e[2]\"", "1.5", "variant = \"other\"\n").code, 0) << "those of the run";
  EXPECT_EQ(verified("6", "\"sum(i = 1 to 3, e[i])\"").code, 0);
  EXPECT_EQ(verified("\"B[2, 1]\"", "4").code, 0);
  EXPECT_EQ(verified("\"B[2, 1]\"", "2").code, 1);
  const Outcome beyond = verified("1", "\"e[4]\"");
  EXPECT_EQ(beyond.code, 5);
  EXPECT_NE(beyond.out.find("reference.toml:5:9: error: 'e[4]': there is no e[4]"), std::string::npos)
      << beyond.out;
  EXPECT_EQ(verified("1", "\"B[2]\"").code, 5) << "two indices are needed";
}

// What no run can have is a mistake in the reference, told at its place; only what a run could have is off.
TEST_F(Program, VerifyTellsMistakesInTheReferenceFromValuesThatAreOff) {
  fs::create_directories(folder_ / "own/m");
  std::ofstream(folder_ / "own/m/model.toml")
      << "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n[run]\nuntil = 2\n";
  const auto verified = [&](const std::string& keys) {
    std::ofstream(folder_ / "own/m/reference.toml") << "[[value]]\nlabel = \"a\"\n" << keys;
    return run("verify own/m");
  };
  const std::string column = "column = \"x\"\nat = 1\n";
  EXPECT_EQ(verified(column + "exact = 1\n").code, 0);
  EXPECT_EQ(verified(column + "exact = 2\n").code, 1);
  for (const auto& [keys, message] : std::vector<std::pair<std::string, std::string>>{
           {"column = \"x\"\nat = nan\nexact = 1\n",
            "reference.toml:4:6: error: 'at' must be a finite number"},
           {"column = \"x\"\nat = inf\nexact = 1\n",
            "reference.toml:4:6: error: 'at' must be a finite number"},
           {column + "exact = nan\n", "reference.toml:5:9: error: 'exact' must be a finite number"},
           {column + "exact = 1e308\nrelative = 1e308\n", "reference.toml:6:12: error: 'relative' allows"},
           {column + "exact = \"sqrt(-1)\"\n", "reference.toml:5:9: error: 'sqrt(-1)'"},
           {"mean = \"x\"\nfrom = nan\nexact = 1\n",
            "reference.toml:4:8: error: 'from' must be a finite number"},
           {"column = \"xx\"\nat = 1\nexact = 1\n", "reference.toml:3:10: error: there is no column 'xx'"},
           {"event = \"impact\"\nfield = \"tmie\"\nexact = 1\n",
            "reference.toml:4:9: error: an event has no field 'tmie'"},
           {"count = \"impact wall\"\nexact = 0\n", "reference.toml:3:9: error: the model has no contact"},
           {column + "exact = 1\nrun = { tolerence = 1e-6 }\n",
            "reference.toml:6:9: error: [run] has no key 'tolerence'"},
           {column + "exact = 1\nrun = { engine = \"evnet\" }\n", "did you mean 'event'?"}}) {
    const Outcome outcome = verified(keys);
    EXPECT_EQ(outcome.code, 5) << keys << outcome.out;
    EXPECT_NE(outcome.out.find(message), std::string::npos) << keys << outcome.out;
  }
}

// Folders on the way to -o are made, but not those that its name only passes through; names are shown as they are or not taken.
TEST_F(Program, NamesOfOutputsLeadStraightAndReadAsTheyAre) {
  const std::string ball = "'" JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml'";
  ASSERT_EQ(run("run " + ball + " --until 0.1 -o b").code, 0);
  for (const std::string& command : std::vector<std::string>{
           "run " + ball + " --until 0.1 -o none/../r", "plot b -o none/../r",
           "compare " + ball + " --until 0.1 -o none/../r.csv", "gallery press -o none/deeper/../../r"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 5) << command << outcome.err;
    EXPECT_NE(outcome.err.find("to go up from"), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "none"));
  EXPECT_FALSE(fs::exists(folder_ / "r"));
  EXPECT_EQ(run("run " + ball + " --until 0.1 -o b/../c").code, 0);
  // C1 controls, marks of direction, separators of lines, a byte that is no text.
  for (const char* name : {"a\302\233b", "a\342\200\256b", "a\342\200\250b", "a\377b", "a\rb"}) {
    const Outcome outcome = run("run " + ball + " --until 0.1 -o \"$(printf '" + name + "')\"");
    EXPECT_EQ(outcome.code, 2) << name << outcome.err;
    EXPECT_NE(outcome.err.find("control character"), std::string::npos) << outcome.err;
  }
}

// What does not exist is offered nowhere: not in the help, the completion, the reference or the schema.
TEST_F(Program, VerbsAndEnginesThatDoNotExistAreOfferedNowhere) {
  const std::string offered = run("--help").out + run("completion bash").out + run("completion zsh").out +
                              run("completion fish").out + run("schema --reference").out + run("schema").out;
  for (const char* word : {"not yet", "judder solve"}) {
    EXPECT_EQ(offered.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(run("solve x").code, 2);
  for (const char* verb : {"run", "check", "verify"}) {
    const Outcome outcome = run(std::string(verb) + " '" + press_ + "' --engine siconos");
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_NE(outcome.err.find("there are: event, exact, moreau"), std::string::npos) << outcome.err;
  }
}

// Part of the model file, but without effect: `check` says so, and a run does not say it again.
TEST_F(Program, CheckNotesKeysThatNothingUsesYet) {
  write(
      "drawn.toml",
      "format = 1\n[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\n[[draw]]\nshape = \"circle\"\nat = "
      "[\"x\", \"0\"]\nradius = 1\n[run]\nuntil = 1\nsolver_tolerance = 1e-9\n");
  const Outcome checked = run("check drawn.toml");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.err.find("no engine uses it yet"), std::string::npos) << checked.err;
  EXPECT_NE(run("check drawn.toml --json").out.find("no engine uses it yet"), std::string::npos);
  const Outcome ran = run("run drawn.toml -o drawn");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("note"), std::string::npos) << ran.err;
}

// The message of an engine names no other one that there is not.
TEST_F(Program, SpatialFrictionIsRefusedAndImpactTakesIt) {
  write("spatial.toml",
        "format = 1\n[coordinates]\nx = { velocity = 1 }\ny = { velocity = 1 }\nz = { velocity = -1 "
        "}\n[energy]\nkinetic = "
        "\"(x'^2 + y'^2 + z'^2)/2\"\n[[contact]]\nname = \"floor\"\ngap = \"z\"\nslip = [\"x'\", "
        "\"y'\"]\nfriction = { mu = "
        "0.3 }\n[run]\nuntil = 1\n");
  for (const char* verb : {"run", "check"}) {
    const Outcome refused = run(std::string(verb) + " spatial.toml");
    EXPECT_NE(refused.err.find("engines that find events do not simulate it; '--engine moreau' moves it with "
                               "fixed steps, 'judder impact' solves its collisions"),
              std::string::npos)
        << verb << refused.err;
  }
  EXPECT_NE(run("impact spatial.toml").out.find("moreau   floor"), std::string::npos);
}

TEST_F(Program, ExitCodesAreThoseOfTheTable) {
  EXPECT_EQ(run("help nope").code, 2);
  EXPECT_EQ(run("help run").code, 0);
  EXPECT_EQ(run("verify --engine nope").code, 2);
  EXPECT_EQ(run("verify --gallery nowhere").code, 5);
  fs::create_directories(folder_ / "mine");
  for (const char* command : {"verify mine", "verify ./mine/", "verify mine --gallery ."}) {
    const Outcome bare = run(command);
    EXPECT_EQ(bare.code, 5) << command;
    EXPECT_NE(bare.err.find("mine: there is no reference.toml in this folder"), std::string::npos)
        << bare.err;
  }
  EXPECT_EQ(run("verify --gallery .").code, 5) << "a folder without models proves nothing";
  EXPECT_EQ(run("plot nowhere").code, 5);
  EXPECT_EQ(run("plot '" + press_ + "'").code, 2) << "a model is no run";
  EXPECT_EQ(run("run nowhere.toml").code, 5);
  EXPECT_EQ(run("run '" + press_ + "' --until 1e-320 -o tiny").code, 2) << "too short for steps";
  EXPECT_EQ(run("run '" + press_ + "' -o /dev/null/run").code, 5);
  EXPECT_EQ(run("compare '" + gallery_ + "rocking-block/model.toml' --until 0.5 --engines exact").code, 4)
      << "the engine that was asked for cannot run it";
  EXPECT_EQ(run("compare '" + press_ + "' --until 0.5").code, 0);
#ifndef JUDDER_SLOW_BUILD
  // With less and less memory: first it is enough, then the program says that it is not, then it is not even loaded.
  bool said = false;
  for (int kilobytes = 40'000; kilobytes >= 9'000; kilobytes -= 1000) {
    const std::string limit = "ulimit -v " + std::to_string(kilobytes) + ";";
    if (run("version", limit).code != 0) break;  // it is not even loaded
    const Outcome starved = run("check '" + press_ + "'", limit);
    said = said || starved.code == 70;
    EXPECT_TRUE(starved.code == 0 || starved.code == 70 || starved.code == 127)
        << kilobytes << ": " << starved.code;
  }
  EXPECT_TRUE(said);
#endif
}

TEST_F(Program, NumbersOfTheCommandLineMayBeExpressions) {
  ASSERT_EQ(run("run '" + press_ + "' --until 'pi/10' -o a").code, 0);
  ASSERT_EQ(run("run '" + press_ + "' --until 0.3141592653589793 -o b").code, 0);
  EXPECT_EQ(contents(folder_ / "a/trajectory.csv"), contents(folder_ / "b/trajectory.csv"));
  const Outcome refused = run("run '" + press_ + "' --until 2*x");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--until 2*x: unknown name 'x'"), std::string::npos) << refused.err;
}

TEST_F(Program, AWrongNameOfASettingIsAnsweredWithTheNames) {
  EXPECT_NE(run("check '" + press_ + "' --set foo=1").err.find("there are: c, eta,"), std::string::npos);
  EXPECT_NE(run("check '" + press_ + "' --set etaa=1").err.find("did you mean 'eta'?"), std::string::npos);
}

TEST_F(Program, PlotSaysWhatItCannotDraw) {
  ASSERT_EQ(run("run '" + press_ + "' --until 0.2 -o p").code, 0);
  const Outcome figure = run("plot p -o fig.pdf");
  EXPECT_EQ(figure.code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "fig.pdf"));
  write("other.csv", "time,pressure\n0,1\n1,2\n");
  const Outcome overlay = run("plot p --overlay other.csv");
  EXPECT_NE(overlay.err.find("no column is called as one of the run"), std::string::npos) << overlay.err;
  write("same.csv", "t,xi\n0,1\n1,2\n");
  EXPECT_EQ(run("plot p --overlay same.csv").err, "");
}

TEST_F(Program, PlotDrawsChosenColumnsOverAStretchOfTime) {
  ASSERT_EQ(run("run '" + press_ + "' --until 1 -o p").code, 0);
  const Outcome done = run("plot p --xy \"xi,xi'\" --xy t,N --from 0.2 --to 0.4 --width 84mm -o figures");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "figures/plot-xi-xidot.svg\nfigures/plot-t-N.svg\n");
  const std::string narrow = contents(folder_ / "figures/plot-xi-xidot.svg");
  EXPECT_NE(narrow.find("width=\"317"), std::string::npos) << "84 mm are 317 pixels";
  // A figure for a column of a paper is no tower: 148 mm before, now at most as high as wide and a third.
  const std::size_t height = narrow.find("height=\"");
  ASSERT_NE(height, std::string::npos);
  EXPECT_LT(std::stod(narrow.substr(height + 8)), 317 * 4 / 3);
  // The impact at 0.0903 is outside, the one at 0.3156 inside.
  EXPECT_EQ(contents(folder_ / "figures/plot-t-N.svg").find("0.0903"), std::string::npos);
  EXPECT_NE(contents(folder_ / "figures/plot-t-N.svg").find("0.3156"), std::string::npos);
  for (const char* wrong :
       {"--xy x", "--xy ,x", "--from 1 --to 0", "--width 3", "--width wide", "--from soon"})
    EXPECT_EQ(run(std::string("plot p ") + wrong).code, 2) << wrong;
  const Outcome nothing = run("plot p --xy t,nothing");
  EXPECT_NE(nothing.err.find("there is no column 'nothing'; there are: t, xi, "), std::string::npos)
      << nothing.err;
  // Another choice of columns leaves the figure of the first one alone.
  EXPECT_EQ(run("plot p --xy t,xi -o figures").out, "figures/plot-t-xi.svg\n");
  EXPECT_EQ(contents(folder_ / "figures/plot-xi-xidot.svg"), narrow);
}

TEST_F(Program, PlotRefusesAStretchOfTimeWithoutRows) {
  ASSERT_EQ(run("run '" + press_ + "' --until 1 -o p").code, 0);
  for (const char* stretch : {"--from 5", "--to -1", "--from 5 --to 6"}) {
    const Outcome out = run(std::string("plot p -o none ") + stretch);
    EXPECT_EQ(out.code, 5) << stretch;
    EXPECT_EQ(out.out, "") << stretch;
    EXPECT_NE(out.err.find("no rows in that stretch of time; they go from t = 0 to t = 1"), std::string::npos)
        << out.err;
    EXPECT_FALSE(fs::exists(folder_ / "none")) << stretch;
  }
  EXPECT_EQ(run("plot p -o some --from 0.5 --to 6").code, 0);
}

TEST_F(Program, PlotSaysWhichColumnOfMeasurementsIsTheTime) {
  ASSERT_EQ(run("run '" + press_ + "' --until 1 -o p").code, 0);
  const auto circles = [&](const std::string& table, const std::string& more = "") {
    write("m.csv", table);
    const Outcome out = run("plot p --overlay m.csv -o figures --xy t,xi" + more);
    const std::string figure = contents(folder_ / "figures/plot-t-xi.svg");
    // Each point of a measurement is an outline of its own.
    const std::size_t at = figure.find("class=\"points\"");
    std::size_t count = 0;
    if (at != std::string::npos) {
      const std::string path = figure.substr(at, figure.find("/>", at) - at);
      for (std::size_t i = path.find('M'); i != std::string::npos; i = path.find('M', i + 1)) ++count;
    }
    return std::pair(count, out);
  };
  const auto [three, plain] = circles("t,xi\n0,0.1\n0.5,0.2\n0.9,0.3\n");
  EXPECT_EQ(three, 3U);
  EXPECT_EQ(plain.err, "");
  const auto [renamed, said] = circles("time [s],xi\n0,0.1\n0.5,0.2\n0.9,0.3\n");
  EXPECT_EQ(renamed, 3U);
  EXPECT_NE(said.err.find("its first column 'time [s]' is taken as the time"), std::string::npos) << said.err;
  const auto [none, why] = circles("N,xi\n0,0.1\n0.5,0.2\n");
  EXPECT_EQ(none, 0U);
  EXPECT_NE(why.err.find("its first column 'N' cannot be the time"), std::string::npos) << why.err;
  // An empty cell is a gap.
  const auto [gap, quiet] = circles("t,xi\n0,0.1\n0.5,\n0.9,0.3\n");
  EXPECT_EQ(gap, 2U);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.code, 0);
  const auto [first, also] = circles("t,xi\n0,\n0.5,0.2\n0.9,0.3\n");
  EXPECT_EQ(first, 2U);
  EXPECT_EQ(also.code, 0) << also.err;
}

TEST_F(Program, AnEndMayBeAnExpressionOfParameters) {
  const Outcome good = run("run '" + press_ + "' --until '2*l + 0.1' --set l=0.05 -o ended");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE((good.out + good.err).find("done at t = 0.2"), std::string::npos) << good.out << good.err;
  const Outcome unknown = run("run '" + press_ + "' --until '2*lenth' -o other");
  EXPECT_EQ(unknown.code, 2) << unknown.err;
  EXPECT_NE(unknown.err.find("--until 2*lenth: unknown name 'lenth'"), std::string::npos) << unknown.err;
  const Outcome early = run("run '" + press_ + "' --until '-l' -o third");
  EXPECT_EQ(early.code, 2) << early.err;
}

// What cannot be collected is refused before the first member, and so is a section at a place that there is not.
TEST_F(Program, ManyRunsRefuseWhatTheyCannotCollect) {
  const std::string ball = "'" + gallery_ + "bouncing-ball/model.toml'";
  for (const char* engine : {"moreau", "rk4", "quasi-static"}) {
    const Outcome refused =
        run("sweep " + ball + " e=0.5,0.9 --collect \"end(h), period\" -o t.csv --engine " + engine);
    EXPECT_NE(refused.code, 0) << engine;
    EXPECT_FALSE(fs::exists(folder_ / "t.csv")) << engine;
  }
  for (const char* asked : {"sweep %s e=0.5,0.9 --collect period -o t.csv",
                            "bifurcation %s e=0.5:0.9:2 --section impact:ground -o t.csv",
                            "basin %s h=0.5:1:3 \"h'=0:1:3\" -o t.npz"}) {
    std::string command = asked;
    command.replace(command.find("%s"), 2, ball);
    const Outcome refused = run(command + " --engine moreau");
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("tells nothing of what happens between its steps"), std::string::npos)
        << refused.err;
  }
  const Outcome carried =
      run("bifurcation " + ball + " e=0.5:0.9:2 --section impact:ground --carry up --resume -o t.csv");
  EXPECT_EQ(carried.code, 2) << carried.err;
  EXPECT_NE(carried.err.find("leave out --resume"), std::string::npos) << carried.err;
  const Outcome nowhere =
      run("bifurcation " + ball + " e=0.5:0.9:2 --section impact:flor --skip 1 --keep 2 -o t.csv");
  EXPECT_EQ(nowhere.code, 2) << nowhere.err;
  EXPECT_NE(nowhere.err.find("there is no place 'flor'; there are: ground"), std::string::npos)
      << nowhere.err;
}

TEST_F(Program, ExplainWritesEquationsInLatex) {
  const Outcome letters = run("explain '" + press_ + "' --latex --symbolic");
  EXPECT_EQ(letters.code, 0) << letters.err;
  EXPECT_NE(letters.out.find("\\ddot{\\xi}"), std::string::npos) << letters.out;
  EXPECT_NE(letters.out.find("\\mathrm{mp}"), std::string::npos);
  EXPECT_NE(run("explain '" + press_ + "' --latex").out.find("1.1"), std::string::npos);
  EXPECT_EQ(run("explain '" + press_ + "' --symbolic").code, 2);
  EXPECT_EQ(run("explain '" + press_ + "' --latex --json").code, 2);
  // What counts elements cannot stay a letter, and is named.
  const Outcome cradle = run("explain '" + gallery_ + "newton-cradle/model.toml' --latex --symbolic");
  EXPECT_EQ(cradle.code, 0);
  EXPECT_NE(cradle.err.find("parameter 'n' stands as its number"), std::string::npos) << cradle.err;
}

TEST_F(Program, PlotTellsWhatItCannotDraw) {
  fs::create_directories(folder_ / "none");
  write("none/trajectory.csv", "t,x,x'\n");
  const Outcome nothing = run("plot none");
  EXPECT_EQ(nothing.code, 5);
  EXPECT_NE(nothing.err.find("has no rows"), std::string::npos) << nothing.err;
  EXPECT_FALSE(fs::exists(folder_ / "none/motion.svg"));
  for (const char* name : {"a", "b", "c"}) fs::create_directories(folder_ / name);
  write("a/trajectory.csv", "t,x,x'\n0,1,2\n1,2,3\n");
  write("b/trajectory.csv", "t,y,y'\n0,1,2\n1,2,3\n");
  write("c/trajectory.csv", "t,x,v\n0,1,2\n1,2,3\n");
  EXPECT_EQ(run("plot a a").err, "");
  const Outcome strangers = run("plot a b");
  EXPECT_EQ(strangers.code, 0);
  EXPECT_NE(strangers.err.find("b: no column is called as one that is drawn"), std::string::npos)
      << strangers.err;
  EXPECT_NE(run("plot a c").err.find("c: it has no column x'"), std::string::npos);
}

// An impact between two rows stands where it was: its state is in events.csv.
TEST_F(Program, EventsAreMarkedOnCurvesWithoutRowsAtEvents) {
  write("drop.toml",
        "format = 1\n[coordinates]\nh = 1\n[energy]\nkinetic = \"h'^2/2\"\npotential = "
        "\"10*h\"\n[[contact]]\nname = "
        "\"floor\"\ngap = \"h\"\nimpact = 0.5\n[run]\nuntil = 0.6\n[output]\nevent_rows = false\nsamples = "
        "7\nplots "
        "= [[\"h\", \"h'\"]]\n");
  ASSERT_EQ(run("run drop.toml -o drop").code, 0);
  const Outcome plot = run("plot drop");
  EXPECT_EQ(plot.code, 0);
  EXPECT_EQ(plot.err, "");
  EXPECT_NE(contents(folder_ / "drop/plot-1.svg").find("impact floor"), std::string::npos);
}

TEST_F(Program, AnUnknownVariantListsThoseThatThereAre) {
  const Outcome outcome = run("check '" + gallery_ + "dither-square/model.toml' --variant zz");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("there are: held, sharp, round"), std::string::npos) << outcome.err;
}

// A peak of one row among three hundred thousand is seen, and the picture does not grow with the rows.
TEST_F(Program, LongRunsAreDrawnThinned) {
  fs::create_directories(folder_ / "long");
  std::string text = "t,x,x'\n";
  for (int i = 0; i < 300'000; ++i)
    text += std::to_string(i) + "," + (i == 123'457 ? "50" : i % 2 == 0 ? "1" : "-1") + ",0\n";
  write("long/trajectory.csv", text);
  ASSERT_EQ(run("plot long").code, 0);
  const std::string picture = contents(folder_ / "long/motion.svg");
  EXPECT_LT(picture.size(), 500'000U);
  EXPECT_NE(picture.find(">40<"), std::string::npos) << "the axis reaches the peak";
}

TEST_F(Program, LongListsInJsonAreMarkedAsCut) {
  const std::string ball = gallery_ + "impact-oscillator/model.toml";
  const json cut = json::parse(run("run '" + ball + "' --variant once --until 2000 --json -o cut").out);
  EXPECT_EQ(cut["events_cut"], true);
  EXPECT_GT(cut["events_total"].get<double>(), static_cast<double>(cut["events"].size()));
  const json whole = json::parse(run("run '" + ball + "' --until 10 --json -o whole").out);
  EXPECT_FALSE(whole.contains("events_cut"));
}

TEST_F(Program, VerifyTakesAFolder) {
  fs::create_directories(folder_ / "mine");
  ASSERT_EQ(run("gallery sdnd100 -o mine/sdnd100").code, 0);
  EXPECT_EQ(run("verify --gallery mine").code, 0);
  EXPECT_EQ(run("verify mine/sdnd100/").code, 0);
  EXPECT_NE(run("verify --help").out.find("--gallery DIR"), std::string::npos);
  EXPECT_EQ(run("verify mine").code, 5) << "no model of the gallery, and no reference.toml in it";
}

TEST_F(Program, UsageErrorsAreTwoAndSuggest) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "judder VERB --help"},
      {"chekc x.toml", "did you mean 'check'?"},
      {"xyzzy", "judder --help"},
      {"check", "FILE is missing"},
      {"check a.toml b.toml", "one argument too many: 'b.toml'"},
      {"check a.toml --varient x", "did you mean --variant?"},
      {"check a.toml --qqqqqqqq", "judder check --help"},
      {"check a.toml -x", "has no option -x"},
      {"check a.toml --variant", "--variant"},
      {"check a.toml --set mu", "NAME=VALUE"},
      {"check a.toml --set =3", "NAME=VALUE"},
      {"completion tcsh", "bash, zsh, fish"},
      {"gallery pres", "did you mean 'press'?"},
      {"version now", "one argument too many"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << "\n" << outcome.err;
  }
}

TEST_F(Program, CheckAnswersByExitCode) {
  EXPECT_EQ(run("check '" + press_ + "'").code, 0);
  EXPECT_EQ(run("check '" + press_ + "' --variant high --set mu=0.2 --set \"xi'=3\"").code, 0);
  EXPECT_EQ(run("check --set mu=0.2 -- '" + press_ + "'").code, 0);
  EXPECT_EQ(run("check '" + press_ + "' --variant hihg").code, 3);
  EXPECT_EQ(run("check '" + press_ + "' --set mu=-1").code, 3);
  EXPECT_EQ(run("check '" + press_ + "' --set nonsense=1").code, 3);
  EXPECT_EQ(run("check '" + press_ + "' --engine moreu").code, 2);
  EXPECT_EQ(run("check '" + bad_ + "gap-negative.toml'").code, 3);
  EXPECT_EQ(run("check '" + bad_ + "unused-parameter.toml'").code, 0) << "warnings are no errors";
  EXPECT_EQ(run("check none.toml").code, 5);
  EXPECT_EQ(run("check .").code, 5);
}

TEST_F(Program, MessagesGoToStandardErrorWithLineColumnAndCaret) {
  const Outcome outcome = run("check '" + bad_ + "gap-negative.toml'");
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("gap-negative.toml:9:7: error: the gap is negative at the start: -0.25\n  gap = "
                             "\"x\"\n        ^~~\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find('\033'), std::string::npos) << "no colours outside a terminal";
}

TEST_F(Program, SettingsAreNamedInTheirMessages) {
  const Outcome outcome = run("check '" + press_ + "' --set nonsense=1");
  EXPECT_NE(outcome.err.find("nonsense"), std::string::npos) << outcome.err;
}

TEST_F(Program, JsonIsOneDocument) {
  const json good = json::parse(run("check '" + press_ + "' --json").out);
  EXPECT_EQ(good["errors"], 0);
  const Outcome outcome = run("check '" + bad_ + "restitution-above-one.toml' --json");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "");
  const json bad = json::parse(outcome.out);
  EXPECT_EQ(bad["errors"], 1);
  EXPECT_EQ(bad["problems"][0]["line"], 10);
  EXPECT_EQ(bad["problems"][0]["column"], 10);
  EXPECT_EQ(json::parse(run("explain '" + press_ + "' --json").out)["coordinates"].size(), 3U);
  EXPECT_GT(json::parse(run("gallery --json").out)["models"].size(), 0U);
  EXPECT_EQ(json::parse(run("version --json").out)["name"], "judder");
  EXPECT_EQ(json::parse(run("schema").out)["title"], "Judder model file");
  EXPECT_EQ(json::parse(run("check none.toml --json").out)["errors"], 1);
}

TEST_F(Program, ExplainPrintsTheEquations) {
  const Outcome outcome = run("explain '" + press_ + "'");
  EXPECT_EQ(outcome.code, 0);
  for (const char* part :
       {"Mass matrix", "M[y, eta]", "h[eta]", "Contact 'plane'", "Friction joint 'piston'"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(run("explain '" + bad_ + "gap-negative.toml'").code, 3);
}

TEST_F(Program, FilesTooLargeOrStrangeAreRefused) {
  write("large.toml", "format = 1\n" + std::string(10'000'000, '#'));
  write("zeros.toml", std::string(1000, '\0'));
  write("deep.toml", "a = " + std::string(200'000, '['));
  write("empty.toml", "");
#ifdef JUDDER_SLOW_BUILD
  const char* limit = "";  // the sanitizer reserves terabytes of addresses; the release build has the limit
#else
  const char* limit = "ulimit -v 4000000 2> /dev/null;";
#endif
  for (const char* name : {"large.toml", "zeros.toml", "deep.toml", "empty.toml"}) {
    const Outcome outcome = run(std::string("check ") + name, limit);
    EXPECT_TRUE(outcome.code == 3) << name << " " << outcome.code << "\n" << outcome.err;
    EXPECT_LT(outcome.err.size(), 2000U) << name;
  }
  EXPECT_NE(run("check large.toml").err.find("larger than 4 MiB"), std::string::npos);
  EXPECT_NE(run("check empty.toml").err.find("the model has no coordinates"), std::string::npos);
}

TEST_F(Program, GalleryListsAndCopies) {
  const Outcome list = run("gallery");
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("press "), std::string::npos);
  EXPECT_EQ(run("gallery press -o mine").code, 0);
  EXPECT_EQ(contents(folder_ / "mine/model.toml"), contents(press_));
  EXPECT_EQ(run("check mine/model.toml").code, 0);
  EXPECT_EQ(run("gallery press -o mine").code, 5) << "nothing is overwritten";
  fs::create_directories(folder_ / "none");
  EXPECT_EQ(run("gallery", "JUDDER_GALLERY=none").out, "") << "another gallery, with no models";
}

TEST_F(Program, CompletionScriptsAreAccepted) {
  const Outcome bash = run("completion bash");
  write("judder.bash", bash.out);
  EXPECT_EQ(std::system(("bash -n '" + (folder_ / "judder.bash").string() + "'").c_str()), 0);
  // Completing a verb, an option and the word of an option.
  const auto complete = [this](const std::string& line) {
    const std::string script =
        "cd '" + folder_.string() + "'; PATH=.:$PATH; compopt() { :; }; source '" +
        (folder_ / "judder.bash").string() + "'; COMP_WORDS=(" + line +
        "); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _judder; echo \"${COMPREPLY[@]}\"";
    write("try.bash", script);
    static_cast<void>(std::system(
        ("bash '" + (folder_ / "try.bash").string() + "' > '" + (folder_ / "try").string() + "'").c_str()));
    return contents(folder_ / "try");
  };
  EXPECT_EQ(complete("judder expl"), "explain\n");
  EXPECT_EQ(complete("judder check --var"), "--variant\n");
  EXPECT_EQ(complete("judder check --engine ex"), "exact\n");
  // Variants and settings are those of the model on the line, wherever it stands. What stands in a name is not run.
  fs::create_symlink(JUDDER_PROGRAM, folder_ / "judder");
  write("names.toml",
        "format = 1\n[parameters]\nmu = 0.1\nmass = 1\n[coordinates]\nx = 0\n[state]\nz = { start = 0, rate "
        "= \"1\" }\n"
        "[energy]\nkinetic = \"mass*x'^2/2\"\n[variants]\nhigh = { mu = 1 }\nheavy = { mass = 3 }\n\"$(touch "
        "ran)\" = { mu = 2 }\n"
        "\"`touch ran`\" = { mu = 2 }\n\";touch ran\" = { mu = 2 }\n\"a b\" = { mu = 4 }\n\"-o\" = { mu = 4 "
        "}\n[run]\nuntil = 1\n");
  EXPECT_EQ(complete("judder run names.toml --variant ''"), "high heavy\n");
  EXPECT_EQ(complete("judder run --until 3 names.toml --variant hea"), "heavy\n");
  EXPECT_EQ(complete("judder check names.toml --set ''"), "mu= mass= x= x'= z=\n");
  EXPECT_EQ(complete("judder check names.toml --set m"), "mu= mass=\n");
  EXPECT_EQ(complete("judder run nowhere.toml --variant ''"), "\n");
  EXPECT_EQ(complete("judder gallery bouncing-b"), "bouncing-ball\n");
  EXPECT_EQ(complete("judder help expl"), "explain\n");
  EXPECT_EQ(complete("judder compare names.toml --engines ev"), "event\n");
  EXPECT_EQ(complete("judder compare names.toml --engines event,ex"), "event,exact\n");
  fs::create_directories(folder_ / "bouncing-mine");
  EXPECT_EQ(complete("judder verify bouncing-"), "bouncing-ball bouncing-table bouncing-mine\n");
  EXPECT_EQ(complete("judder plot bouncing-"), "bouncing-mine\n");
  EXPECT_EQ(complete("judder plot nam"), "\n");
  EXPECT_EQ(complete("judder plot --law nam"), "names.toml\n");
  EXPECT_EQ(complete("judder plot --law names.toml --variant hea"), "heavy\n");
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  for (const char* shell : {"zsh", "fish"}) {
    const Outcome script = run(std::string("completion ") + shell);
    EXPECT_EQ(script.code, 0);
    for (const std::string& verb : kVerbs)
      EXPECT_NE(script.out.find(verb), std::string::npos) << shell << " " << verb;
    if (std::system((std::string("command -v ") + shell + " > /dev/null 2>&1").c_str()) != 0) {
      std::cout << shell << " is not installed: its script was not tried\n";
      continue;
    }
    write("script", script.out);
    EXPECT_EQ(std::system((std::string(shell) + " -n '" + (folder_ / "script").string() + "'").c_str()), 0)
        << shell;
  }
}

TEST_F(Program, AFullDiskIsNotSuccess) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP() << "This system has no /dev/full, so a full disk cannot be tried.";
  const std::string ball = "'" + gallery_ + "bouncing-ball/model.toml'";
  const std::vector<std::string> verbs = {"schema",
                                          "version",
                                          "--help",
                                          "check " + ball,
                                          "explain " + ball,
                                          "gallery",
                                          "run " + ball + " --until 1 -o b",
                                          "run " + ball + " --until 1 --json -o b",
                                          "compare " + ball + " --until 1",
                                          "completion bash",
                                          "plot b -o figures",
                                          "verify bouncing-ball"};
  for (const std::string& verb : verbs) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" JUDDER_PROGRAM "' " + verb + " > /dev/full 2> said";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5) << verb;
    EXPECT_NE(contents(folder_ / "said").find("standard output cannot be written: No space left on device"),
              std::string::npos)
        << verb << contents(folder_ / "said");
  }
}

}  // namespace
}  // namespace judder
