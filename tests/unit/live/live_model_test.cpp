// What a live page asks for, and what it is told: the numbers of a run folder, problems with their places, nothing that stops.
#include "judder/live/live_model.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "judder/report/live_page.hpp"
#include "judder/tasks/run.hpp"
#include "report/base128.hpp"
#include "report/deflate.hpp"

namespace judder::live {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

fs::path gallery(const std::string& name) { return fs::path(JUDDER_SOURCE_DIR "/gallery") / name; }

constexpr const char* kBall = R"(format = 1
[parameters]
e = { value = 0.5, range = [0, 0.9], unit = "1" }
h = "2*e"
[coordinates]
y = { start = "h" }
[energy]
kinetic   = "y'^2/2"
potential = "9.81*y"
[[contact]]
name   = "floor"
gap    = "y"
impact = "e"
[variants]
bounce = { e = 0.8, title = "Bounces more" }
[run]
until = 0.6
[output]
samples = 11
)";

TEST(LiveModel, TellsWhatCanBeMoved) {
  LiveModel live;
  const json told = json::parse(live.load(kBall));
  ASSERT_TRUE(told["ok"]);
  EXPECT_EQ(told["parameters"][0]["name"], "e");
  EXPECT_EQ(told["parameters"][0]["range"], json({0.0, 0.9}));
  EXPECT_FALSE(told["parameters"][0].contains("formula"));
  EXPECT_EQ(told["parameters"][1]["formula"], "2*e");
  EXPECT_EQ(told["start"][0], json({{"name", "y"}, {"value", 1.0}}));
  EXPECT_EQ(told["start"][1], json({{"name", "y'"}, {"value", 0.0}}));
  EXPECT_EQ(told["variants"][0]["title"], "Bounces more");
  const auto problem = [](const json& model, const char* name) {
    for (const json& engine : model["engines"]) {
      if (engine["name"] == name) return engine.value("problem", std::string());
    }
    return std::string("no such engine");
  };
  EXPECT_EQ(problem(told, "exact"), "");
  std::string nonlinear = kBall;
  nonlinear.replace(nonlinear.find("9.81*y"), 6, "9.81*y^3");
  EXPECT_NE(problem(json::parse(live.load(nonlinear)), "exact"), "");
}

// The first impact of a ball that falls from h is at sqrt(2 h/g), whatever was moved to get there.
TEST(LiveModel, FollowsEveryValueThatIsMoved) {
  LiveModel live;
  static_cast<void>(live.load(kBall));
  const auto first = [&live](const std::string& request) {
    const json answer = json::parse(live.run(request));
    return answer["run"]["events"]["time"][0].get<double>();
  };
  EXPECT_NEAR(first("{}"), std::sqrt(2 / 9.81), 1e-12);
  EXPECT_NEAR(first(R"({"set": [["e", 0.25]]})"), std::sqrt(1 / 9.81), 1e-12) << "h follows e";
  EXPECT_NEAR(first(R"({"set": [["h", 0.5]]})"), std::sqrt(1 / 9.81), 1e-12);
  EXPECT_NEAR(first(R"({"set": [["y", 0.25]]})"), std::sqrt(0.5 / 9.81), 1e-12);
  EXPECT_NEAR(first(R"({"variant": "bounce", "until": 1, "engine": "exact"})"), std::sqrt(3.2 / 9.81), 1e-12);
  const json moved = json::parse(live.run(R"({"set": [["e", 0.25]]})"));
  EXPECT_EQ(moved["run"]["values"][0], json({{"name", "y"}, {"value", 0.5}}));
  EXPECT_EQ(live.numbers().times.size(), moved["run"]["rows"].get<std::size_t>());
  EXPECT_EQ(live.numbers().columns.size(), 2 * live.numbers().times.size());
  EXPECT_DOUBLE_EQ(live.numbers().end[0], 0.6);
}

// The field of the end time shows what the file computes from the values of the run, whatever end was asked for.
TEST(LiveModel, TheEndTimeFollowsTheValuesItIsComputedFrom) {
  LiveModel live;
  std::string text = kBall;
  text.replace(text.find("until = 0.6"), 11, "until = \"0.3 + 0.5*e\"");
  EXPECT_DOUBLE_EQ(json::parse(live.load(text))["until"], 0.55);
  const auto ended = [&live](const std::string& request) {
    const json answer = json::parse(live.run(request));
    return std::pair(answer["run"]["until"].get<double>(), live.numbers().end[0]);
  };
  EXPECT_EQ(ended("{}"), std::pair(0.55, 0.55));
  EXPECT_EQ(ended(R"({"set": [["e", 0.25]]})"), std::pair(0.425, 0.425));
  EXPECT_EQ(ended(R"({"set": [["e", 0.25]], "until": 0.2})"), std::pair(0.425, 0.2));
}

TEST(LiveModel, SaysWhereATextIsWrongAndKeepsTheOneBefore) {
  LiveModel live;
  static_cast<void>(live.load(kBall));
  std::string broken = kBall;
  broken.replace(broken.find("9.81*y"), 6, "9.81*w");
  const json told = json::parse(live.load(broken));
  EXPECT_FALSE(told["ok"]);
  ASSERT_FALSE(told["problems"].empty());
  EXPECT_EQ(told["problems"][0]["line"], 9);
  EXPECT_EQ(told["problems"][0]["severity"], "error");
  EXPECT_TRUE(json::parse(live.run("{}")).contains("run"));
  EXPECT_FALSE(json::parse(live.load("= [")).value("ok", true));
}

TEST(LiveModel, WhatCannotBeRunIsSaidAndNothingStops) {
  LiveModel live;
  EXPECT_FALSE(json::parse(live.run("{}")).contains("run")) << "no model yet";
  EXPECT_TRUE(json::parse(live.equations())["equations"].empty());
  static_cast<void>(live.load(kBall));
  for (const char* request : {R"({"set": [["nobody", 1]]})", R"({"engine": "warp"})", R"({"until": -1})",
                              R"({"set": [["y", -1]]})"}) {
    const json answer = json::parse(live.run(request));
    EXPECT_FALSE(answer.contains("run")) << request;
    EXPECT_FALSE(answer["problems"].empty()) << request;
  }
  for (const char* request :
       {"", "[]", "{", R"({"set": 3, "until": "x", "engine": []})", R"({"set": [["y"], 4, [1, 2]]})"})
    EXPECT_TRUE(json::parse(live.run(request)).contains("run")) << request;
}

// The run of a page and that of a folder are one run.
TEST(LiveModel, HasTheBitsOfARunFolder) {
  const fs::path folder = fs::temp_directory_path() / ("judder-live-" + std::to_string(getpid()));
  for (const std::string name : {"press", "rocking-block", "woodpecker", "spinning-disc", "elastic-block"}) {
    tasks::RunRequest request;
    request.model.file = gallery(name) / "model.toml";
    request.output = folder / name;
    const tasks::RunReport report = tasks::run_model(request);
    ASSERT_EQ(report.stage, tasks::RunStage::ended) << name;
    LiveModel live;
    const json told = json::parse(live.load(text_of(gallery(name) / "model.toml"), gallery(name)));
    ASSERT_TRUE(told["ok"]) << name << told["problems"];
    const json answer = json::parse(live.run("{}"));
    ASSERT_TRUE(answer.contains("run")) << name << answer;
    const json& events = answer["run"]["events"];
    ASSERT_EQ(events["total"], report.event_count) << name;
    for (std::size_t i = 0; i < report.events.size(); ++i) {
      EXPECT_EQ(events["time"][i].get<double>(), report.events[i].time) << name << " " << i;
      EXPECT_EQ(events["kind"][i], report.events[i].kind) << name << " " << i;
      EXPECT_EQ(events["where"][i], report.events[i].where) << name << " " << i;
      EXPECT_EQ(events["normal"][i].get<double>(), report.events[i].normal_impulse) << name << " " << i;
    }
    EXPECT_EQ(answer["run"]["allRows"], report.row_count) << name;
    EXPECT_GT(live.numbers().scene.size(), 0U) << name << " has a drawing";
  }
  fs::remove_all(folder);
}

// The letters of a page, read back bit by bit.
TEST(LivePage, BytesComeBackFromTheirLetters) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i % 5 == 0 ? 0U : random());
    const std::string text = report::base128(bytes);
    const std::size_t begin = text.find(' ') + 1;
    EXPECT_EQ(text.substr(0, begin), std::to_string(size) + " ");
    EXPECT_EQ(text.find_first_of("<>&\\\"\n\r\x1a"), std::string::npos);
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_LE(7 * (text.size() - begin), 8 * size + 14) << "no letter takes more than its bits";
    std::string bits;
    const auto add = [&bits](unsigned number) {
      for (unsigned k = 7; k-- > 0;) bits += (number >> k & 1U) != 0 ? '1' : '0';
    };
    for (std::size_t at = begin; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte < 0x80) {
        add(byte);
        continue;
      }
      // Two bytes of UTF-8.
      ASSERT_EQ(byte >> 5U, 6U);
      const unsigned code = (byte & 31U) << 6U | (static_cast<unsigned char>(text[++at]) & 63U);
      add(report::kNoLetters.at((code - 128) / 128));
      add((code - 128) % 128);
    }
    std::string back;
    for (std::size_t bit = 0; bit + 8 <= bits.size() && back.size() < size; bit += 8)
      back += static_cast<char>(std::stoi(bits.substr(bit, 8), nullptr, 2));
    EXPECT_EQ(back, bytes);
  }
}

// What gzip makes of them is the text.
TEST(LivePage, PackedTextsComeBack) {
  std::mt19937 random(7);
  std::string noise, long_text;
  for (int i = 0; i < 3000; ++i) noise += static_cast<char>(random());
  for (int i = 0; i < 4000; ++i) long_text += "key" + std::to_string(i % 700) + " = \"value\"\n";
  const fs::path file = fs::temp_directory_path() / ("judder-packed-" + std::to_string(getpid()));
  for (const std::string& text : {std::string(), std::string("a"), std::string(40000, 'x'), noise, long_text,
                                  text_of(gallery("press") / "model.toml")}) {
    std::ofstream(file.string() + ".gz", std::ios::binary) << report::gzip(text);
    ASSERT_EQ(std::system(("gzip -dc '" + file.string() + ".gz' > '" + file.string() + "'").c_str()), 0);
    EXPECT_TRUE(text_of(file) == text) << text.substr(0, 40);
  }
  EXPECT_LT(report::gzip(long_text).size(), long_text.size() / 8);
  fs::remove(file);
  fs::remove(file.string() + ".gz");
}

TEST(LivePage, TakesDataFilesAlong) {
  report::LivePageModel model;
  const io::ModelFile file = io::read_model(gallery("elastic-block") / "model.toml");
  ASSERT_TRUE(report::live_page_model(file, "block", gallery("elastic-block"), model).ok());
  EXPECT_EQ(model.files.size(), 3U);
  EXPECT_EQ(model.files["load.csv"], text_of(gallery("elastic-block") / "load.csv"));
}

TEST(LivePage, ASolverIsBothOfItsFiles) {
  const fs::path folder = fs::temp_directory_path() / ("judder-solver-" + std::to_string(getpid()));
  fs::create_directories(folder);
  EXPECT_TRUE(report::find_solver(folder, {}).empty());
  std::ofstream(folder / "solver.js.gz") << "</script><!--";
  EXPECT_TRUE(report::find_solver(folder, {}).empty());
  std::ofstream(folder / "solver.wasm.gz") << "abc";
  EXPECT_EQ(report::find_solver(folder, {}), folder);
  report::LivePageRequest request;
  request.title = "</title><script>";
  request.models.push_back({"one", "</script>", "title = '</script><script>alert(1)</script>'"});
  request.solver = folder;
  request.output = folder / "page.html";
  ASSERT_TRUE(report::write_live_page(request).ok());
  const std::string page = text_of(request.output);
  EXPECT_NE(page.find(">3 "), std::string::npos) << "the module, with its length";
  // Data, glue, worker, module, page and the script that unpacks them, and nothing else.
  std::size_t closed = 0;
  for (std::size_t at = page.find("</script"); at != std::string::npos; at = page.find("</script", at + 1))
    ++closed;
  EXPECT_EQ(closed, 6U);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace judder::live
