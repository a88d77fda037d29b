#include "judder/io/gallery.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace judder::io {
namespace {

namespace fs = std::filesystem;

TEST(Gallery, IsFoundInItsThreePlaces) {
  const fs::path place = fs::temp_directory_path() / ("judder-gallery-" + std::to_string(getpid()));
  fs::create_directories(place / "prefix/bin");
  fs::create_directories(place / "prefix/share/judder/gallery");
  fs::create_directories(place / "mine");
  EXPECT_EQ(find_gallery(place / "mine", place / "prefix/bin/judder"), place / "mine");
  EXPECT_TRUE(
      fs::equivalent(find_gallery("", place / "prefix/bin/judder"), place / "prefix/share/judder/gallery"));
  EXPECT_TRUE(fs::equivalent(find_gallery("", place / "elsewhere/judder"), JUDDER_SOURCE_DIR "/gallery"));
  fs::remove_all(place);
}

TEST(Gallery, ListsModelsByNameAndCopiesOne) {
  const fs::path place = fs::temp_directory_path() / ("judder-gallery-copy-" + std::to_string(getpid()));
  fs::create_directories(place / "gallery/b-ball");
  fs::create_directories(place / "gallery/a-arm");
  fs::create_directories(place / "gallery/not-a-model");
  std::ofstream(place / "gallery/b-ball/model.toml") << "format = 1\ntitle = \"Ball\"\n";
  std::ofstream(place / "gallery/b-ball/model-two.toml") << "format = 1\n";
  std::ofstream(place / "gallery/a-arm/model.toml") << "format = 1\ntitle = \"Arm\"\nsource = \"A book\"\n";
  const auto models = list_gallery(place / "gallery");
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "a-arm");
  EXPECT_EQ(models[0].source, "A book");
  EXPECT_EQ(models[1].title, "Ball");
  EXPECT_EQ(models[1].models, (std::vector<std::string>{"model.toml", "model-two.toml"}));
  EXPECT_TRUE(copy_gallery_model(place / "gallery", "b-ball", place / "copy").ok());
  EXPECT_TRUE(fs::exists(place / "copy/model-two.toml"));
  EXPECT_FALSE(copy_gallery_model(place / "gallery", "b-ball", place / "copy").ok())
      << "an existing folder is never overwritten";
  fs::remove_all(place);
}

}  // namespace
}  // namespace judder::io
