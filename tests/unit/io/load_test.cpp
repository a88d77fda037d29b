#include "judder/io/load.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

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
  const LoadedModel loaded =
      load_model({.file = JUDDER_SOURCE_DIR "/gallery/belt/model-sign.toml", .engine = "exact"});
  EXPECT_EQ(loaded.compiled.run.engine, "exact");
  EXPECT_TRUE(loaded.diagnostics.all().empty())
      << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
}

// A thousand variants of a model cost as much as the model may; what was left out is said, and more work does it.
TEST(Load, VariantsShareTheWorkOfOneModel) {
  const fs::path file = fs::temp_directory_path() / ("judder-variants-" + std::to_string(getpid()) + ".toml");
  std::string text =
      "format = 1\n[coordinates]\nx = { each = \"i = 1 to 60\" }\n[energy]\n"
      "kinetic = \"sum(i = 1 to 60, x[i]'^2/2)\"\n[variants]\n";
  for (int i = 0; i < 1000; ++i) text += "v" + std::to_string(i) + " = { x = " + std::to_string(i) + " }\n";
  std::ofstream(file) << text;
  const auto says = [&](double work) {
    const LoadedModel loaded = check_model({.file = file, .work = work});
    return render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  };
  EXPECT_NE(says(1).find("of 1000 variants were checked"), std::string::npos) << says(1);
  EXPECT_EQ(says(50), "");
  fs::remove(file);
}

}  // namespace
}  // namespace judder::io
