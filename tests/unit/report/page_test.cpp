// The page of a run: what is put into it, and that nothing in a run folder can become markup. How it looks and moves is tested in a
// browser (tests/web).
#include "judder/report/page.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "judder/tasks/run.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::json;

constexpr const char* kBall = R"toml(format = 1
title = "A ball & a <floor>"
[parameters]
g = 9.81
[coordinates]
y = 1
x = { velocity = 0.5 }
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "g*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.2
impact = 0.5
[[draw]]
shape = "circle"
at = ["x", "y"]
radius = 0.1
of = "floor"
[[draw]]
shape = "arrow"
at = ["x", "y"]
force = ["F", "N"]
[run]
until = 2
[output.columns]
N = "normal(floor)"
F = "tangent(floor)"
status = "mode(floor)"
)toml";

class Page : public ::testing::Test {
 protected:
  std::filesystem::path run(const std::string& model, const std::string& name) {
    const std::filesystem::path file = folder_.path() / (name + ".toml");
    std::ofstream(file) << model;
    tasks::RunRequest request;
    request.model.file = file;
    request.output = folder_.path() / name;
    EXPECT_EQ(tasks::run_model(request).stage, tasks::RunStage::ended);
    return request.output;
  }
  static std::string text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The document inside a page.
  static Json data(const std::string& page) {
    const std::string open = "<script id=\"data\" type=\"application/json\">";
    const std::size_t begin = page.find(open) + open.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
  template <class Number>
  static std::vector<Number> numbers(const std::string& base64) {
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t block = 0;
    int bits = 0;
    for (const char c : base64) {
      if (c == '=') break;
      block = block << 6U | static_cast<std::uint32_t>(digits.find(c));
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      bytes += static_cast<char>(block >> bits & 255U);
    }
    std::vector<Number> out(bytes.size() / sizeof(Number));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(Number));
    return out;
  }

  struct Folder {
    Folder() {
      std::string name = (std::filesystem::temp_directory_path() / "judder-page-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
      place = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(place); }
    [[nodiscard]] const std::filesystem::path& path() const { return place; }
    std::filesystem::path place;
  } folder_;
};

TEST_F(Page, HoldsTheRunAndItsModel) {
  const std::filesystem::path folder = run(kBall, "ball");
  const WrittenPage page = write_page({.folders = {folder}});
  ASSERT_TRUE(page.status.ok()) << page.status.text();
  EXPECT_TRUE(page.problems.empty());
  EXPECT_EQ(page.file, folder / "report.html");
  const std::string html = text(page.file);
  EXPECT_NE(html.find("<title>A ball &amp; a &lt;floor&gt;</title>"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  const Json json = data(html);
  const Json& one = json["runs"][0];
  EXPECT_TRUE(one["ok"]);
  EXPECT_TRUE(one["referee"]["ok"]);
  // A ball from 1 m: it lands at sqrt(2/g), with sqrt(2 g), and rebounds with half of it.
  const std::vector<double> t = numbers<double>(one["time"].get<std::string>());
  const std::vector<float> values = numbers<float>(one["data"].get<std::string>());
  ASSERT_EQ(t.size(), one["rows"].get<std::size_t>());
  ASSERT_EQ(values.size(), t.size() * one["columns"].size());
  EXPECT_EQ(t.front(), 0);
  EXPECT_EQ(t.back(), 2);
  EXPECT_EQ(values[0], 1.0F);
  std::size_t landing = 1;
  while (t[landing] != t[landing - 1]) ++landing;
  EXPECT_NEAR(t[landing], std::sqrt(2 / 9.81), 1e-12);
  std::size_t rate = 0;
  while (one["columns"][rate]["name"] != "y'") ++rate;
  EXPECT_EQ(one["columns"][rate]["kind"], "velocity");
  EXPECT_NEAR(values[rate * t.size() + landing - 1], -std::sqrt(2 * 9.81), 1e-6);
  EXPECT_NEAR(values[rate * t.size() + landing], std::sqrt(2 * 9.81) / 2, 1e-6);
  EXPECT_NEAR(one["events"]["normal"][0].get<double>(), 1.5 * std::sqrt(2 * 9.81), 1e-9);
  EXPECT_NEAR(one["events"]["tangential"][0].get<double>(), -0.5,
              1e-9);  // 0.2 of it would be more than stops the slip
  EXPECT_EQ(one["reactions"][0]["mu"], 0.2);
  EXPECT_EQ(one["start"]["floor"], "open");
  // The drawing is where the coordinates are.
  const Json& scene = one["scene"];
  const std::vector<double> st = numbers<double>(scene["time"].get<std::string>());
  const std::vector<float> drawn = numbers<float>(scene["data"].get<std::string>());
  const auto width = scene["numbers"].get<std::size_t>();
  ASSERT_EQ(drawn.size(), st.size() * width);
  EXPECT_EQ(scene["shapes"][0]["relation"], "floor");
  EXPECT_EQ(scene["shapes"][1]["force"], Json({"F", "N"}));
  for (std::size_t i = 0; i < st.size(); ++i) {
    if (st[i] > 0.45) break;
    EXPECT_NEAR(drawn[i * width + 1], 1 - 9.81 / 2 * st[i] * st[i], 1e-6);
  }
  // Parameters keep their names in the equations.
  EXPECT_NE(one["equations"][0]["math"].get<std::string>().find("<mi>g</mi>"), std::string::npos);
}

TEST_F(Page, NothingInAFolderBecomesMarkup) {
  const std::filesystem::path folder = run(kBall, "ball");
  std::string head = text(folder / "run.json");
  Json json = Json::parse(head);
  json["model"]["title"] = "</script><script>alert(1)</script><!--";
  json["notes"] = {"<img src=x onerror=alert(1)>"};
  json["end"]["where"] = "</script>";
  json["modes_at_start"] = {{"<b>", "<i>"}};
  std::filesystem::remove(folder / "state.json");
  std::ofstream(folder / "run.json") << json.dump();
  const WrittenPage page = write_page({.folders = {folder}, .output = folder_.path() / "page.html"});
  ASSERT_TRUE(page.status.ok()) << page.status.text();
  const std::string html = text(page.file);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2U);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(data(html)["runs"][0]["notes"][0], "<img src=x onerror=alert(1)>");
}

TEST_F(Page, ARunJsonOfAnotherProgramLeavesPartsOut) {
  const std::filesystem::path folder = run(kBall, "ball");
  std::filesystem::remove(folder / "state.json");
  for (
      const char* head :
      {"{}", "[]", "", "no json",
       R"({"model":5,"end":[],"referee":{"laws":3,"findings":{}},"intervals":7,"notes":{"a":1}})",
       R"json({"model":{"text":"format = 1\n[coordinates]"},"counts":{"events":-1},"modes_at_start":[1]})json"}) {
    std::ofstream(folder / "run.json") << head;
    const WrittenPage page = write_page({.folders = {folder}, .output = folder_.path() / "page.html"});
    ASSERT_TRUE(page.status.ok()) << head << page.status.text();
    EXPECT_EQ(page.problems.size(), 1U) << head;
    EXPECT_EQ(data(text(page.file))["runs"][0]["columns"].size(), 7U) << head;
  }
}

TEST_F(Page, LongRunsAreThinnedAndKeepTheirPeaks) {
  std::string model = kBall;
  model.replace(model.find("until = 2"), 9, "until = 40");
  model.insert(model.find("[output.columns]"), "[output]\nsamples = 80001\n");
  model += "tick = \"bump((t - 31.25)/1e-3)*1e-3\"\n";
  const std::filesystem::path folder = run(model, "long");
  const WrittenPage page = write_page({.folders = {folder}});
  ASSERT_TRUE(page.status.ok());
  const Json one = data(text(page.file))["runs"][0];
  EXPECT_GT(one["allRows"].get<std::size_t>(), 80000U);
  EXPECT_LT(one["rows"].get<std::size_t>(), 45000U);
  for (const Json& extreme : one["extremes"]) {
    if (extreme["name"] != "tick") continue;
    EXPECT_GT(extreme["most"].get<double>(), 1e-3);
    EXPECT_NEAR(extreme["mostTime"].get<double>(), 31.2505, 1e-3);
  }
  EXPECT_LT(std::filesystem::file_size(page.file), 4'000'000U);
}

}  // namespace
}  // namespace judder::report
