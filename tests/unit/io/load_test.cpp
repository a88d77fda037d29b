#include "judder/io/load.hpp"

#include <gtest/gtest.h>

#include "models.hpp"

namespace judder::io {
namespace {

TEST(Load, SettingsAreNamesAndValues) {
  EXPECT_EQ(parse_setting("mu=0.3")->value.number, 0.3);
  EXPECT_EQ(parse_setting("x' = -1")->name.text, "x'");
  EXPECT_EQ(parse_setting("k=2*m")->value.text.text, "2*m");
  for (const char* bad : {"mu", "=3", "mu=", "", " = "}) EXPECT_FALSE(parse_setting(bad)) << bad;
}

TEST(Load, SettingsWinOverVariants) {
  const std::filesystem::path press = JUDDER_SOURCE_DIR "/gallery/press/model.toml";
  const auto stiffness = [&press](std::vector<std::string> variants, std::vector<model::Named> set) {
    const LoadedModel loaded =
        load_model({.file = press, .variants = std::move(variants), .set = std::move(set)});
    EXPECT_TRUE(loaded.ok()) << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
    for (const auto& [name, value] : loaded.compiled.parameters) {
      if (name == "c") return value;
    }
    return -1.0;
  };
  EXPECT_EQ(stiffness({}, {}), 2000);
  EXPECT_EQ(stiffness({"high"}, {}), 20000);
  EXPECT_EQ(stiffness({"high"}, {*parse_setting("c=5")}), 5);
}

// Every bundled model, in each of its variants.
TEST(Load, AllBundledModelsAreWithoutErrors) {
  int models = 0;
  for (const auto& path : testing::all_models()) {
    if (path.string().find("/gallery/") == std::string::npos) continue;
    const LoadedModel loaded = check_model({.file = path});
    EXPECT_FALSE(loaded.diagnostics.has_errors())
        << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
    ++models;
  }
  EXPECT_GT(models, 0);
}

TEST(Load, AnotherEngineIsAskedForByName) {
  LoadedModel loaded =
      load_model({.file = JUDDER_SOURCE_DIR "/gallery/belt/model-sign.toml", .engine = "moreau"});
  EXPECT_EQ(loaded.compiled.run.engine, "moreau");
  int warnings = 0;
  for (const Diagnostic& message : loaded.diagnostics.all())
    warnings += message.message.find("fixed step") != std::string::npos ? 1 : 0;
  EXPECT_EQ(warnings, 1) << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  loaded = load_model({.file = JUDDER_SOURCE_DIR "/gallery/belt/model-sign.toml"});
  EXPECT_TRUE(loaded.diagnostics.all().empty())
      << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
}

}  // namespace
}  // namespace judder::io
