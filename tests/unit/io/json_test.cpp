#include "judder/io/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "judder/io/load.hpp"

namespace judder::io {
namespace {

using nlohmann::json;

TEST(Json, ProblemsHaveLinesAndColumns) {
  const std::string text = "a = 1\nb = é x\n";
  Diagnostics diagnostics;
  diagnostics.warning({13, 14}, "here", "second");
  diagnostics.error({0, 1}, "there", "first", "do");
  diagnostics.error({}, "nowhere", "none");
  const json out = json::parse(diagnostics_json(diagnostics, "m.toml", text));
  EXPECT_EQ(out["file"], "m.toml");
  EXPECT_EQ(out["errors"], 2);
  EXPECT_EQ(out["warnings"], 1);
  const json& last = out["problems"][2];
  EXPECT_EQ(last["line"], 2);
  EXPECT_EQ(last["column"], 7);
  EXPECT_EQ(last["end_column"], 8);
  EXPECT_EQ(last["severity"], "warning");
  EXPECT_FALSE(out["problems"][1].contains("line") && out["problems"][0].contains("line"));
}

TEST(Json, NamesThatAreNotUtf8DoNotThrow) {
  Diagnostics diagnostics;
  diagnostics.error({}, "", "\xFF\xFE");
  const json out = json::parse(diagnostics_json(diagnostics, "\xFF.toml", ""));
  EXPECT_EQ(out["errors"], 1);
}

// The press of Zabuga 2017, chapter 3: M couples the cylinder's height and the piston.
TEST(Json, ExplainsThePress) {
  const LoadedModel loaded = load_model({.file = JUDDER_SOURCE_DIR "/gallery/press/model.toml"});
  ASSERT_TRUE(loaded.ok()) << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  const json out = json::parse(explain_json(loaded.compiled));
  ASSERT_EQ(out["coordinates"].size(), 3U);
  EXPECT_EQ(out["coordinates"][0]["name"], "xi");
  EXPECT_EQ(out["coordinates"][0]["velocity"], 6.0);
  EXPECT_EQ(out["mass_matrix"][1][2], "1");
  EXPECT_EQ(out["mass_matrix"][0][1], "0");
  bool plane = false;
  for (const json& relation : out["relations"]) {
    if (relation["name"] != "plane") continue;
    plane = true;
    EXPECT_EQ(relation["kind"], "contact");
    EXPECT_EQ(relation["gap"], "eta");
    EXPECT_EQ(relation["normal_row"], json::array({"0", "1", "0"}));
    EXPECT_EQ(relation["tangential"][0]["slip"], "xi'");
  }
  EXPECT_TRUE(plane);
  EXPECT_EQ(out["rows_left_out"], false);
}

// Rows of many coordinates hold what is not zero, and there is an end to them.
TEST(Json, ExplainsManyCoordinatesInTheLengthOfWhatIsNotZero) {
  const auto explained = [](int n, const std::string& gap) {
    model::Spec spec;
    const std::string count = std::to_string(n);
    model::Coordinate coordinate{.name = "x"};
    coordinate.each = "i = 1 to " + count;
    spec.coordinates.push_back(coordinate);
    spec.energy.kinetic = "sum(i = 1 to " + count + ", x[i]'^2/2)";
    model::Contact contact;
    contact.name = "c";
    contact.each = "i = 1 to " + count;
    contact.gap = gap;
    spec.contacts.push_back(contact);
    const model::Compiled compiled = compile(spec);
    EXPECT_TRUE(compiled.system.has_value());
    return compiled.system ? explain_json(compiled) : std::string();
  };
  const json rows = json::parse(explained(101, "1 + x[i] - x[mod(i, 101) + 1]"));
  EXPECT_EQ(rows["mass_matrix"][7], (json{{"x[8]", "1"}}));
  EXPECT_EQ(rows["relations"][1]["normal_row"], (json{{"x[2]", "1"}, {"x[3]", "-1"}}));
  EXPECT_EQ(rows["rows_left_out"], false);
  const std::string few = explained(200, "1 + x[i]"), many = explained(400, "1 + x[i]");
  EXPECT_LT(many.size(), 2.2 * static_cast<double>(few.size()));
  const json cut = json::parse(explained(500, "1 + sum(j = 1 to 500, x[j])"));
  EXPECT_EQ(cut["rows_left_out"], true);
  EXPECT_EQ(cut["relations"][0]["normal_row"].size(), 500U);
  EXPECT_TRUE(cut["relations"][499]["normal_row"].is_null());
}

TEST(Json, ARunIsSummarisedWithoutNumbersThatJsonLacks) {
  RunSummary summary;
  summary.model = "press.toml";
  summary.engine = "newmark";
  summary.options.until = std::nan("");
  summary.options.engine_options = {{"newmark", "beta", 0.25, ""}, {"moreau", "theta", 0.5, ""}};
  summary.status = {Reason::watch, 1.5, "top", "third passage"};
  summary.intervals = {{"plane", 0.1, 0.2, 30, 4}};
  summary.residuals = {{"gap", HUGE_VAL}};
  const json out = json::parse(run_json(summary));
  EXPECT_EQ(out["end"]["reason"], "watch");
  EXPECT_EQ(out["end"]["time"], 1.5);
  EXPECT_TRUE(out["options"]["until"].is_null());
  EXPECT_TRUE(out["residuals"]["gap"].is_null());
  EXPECT_EQ(out["options"]["newmark"]["beta"], 0.25);
  EXPECT_FALSE(out["options"].contains("moreau"));
  EXPECT_EQ(out["intervals"][0]["peak"], 30.0);
}

}  // namespace
}  // namespace judder::io
