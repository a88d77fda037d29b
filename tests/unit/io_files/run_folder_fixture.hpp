// A run folder of a test, removed behind it.
#pragma once

#include "judder/io/run_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "count.hpp"
#include "io/manifest.hpp"

namespace judder::io {
namespace fs = std::filesystem;

inline const std::vector<ColumnName> kBall = {{"t"}, {"y"}, {"y'"}, {"mode(plane)", true}, {"force, total"}};

class RunFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / ("judder-run-folder-" + std::to_string(getpid()) + info->name());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::string text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  // Names in the folder, in order.
  [[nodiscard]] std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  // A run was killed over an earlier one: its state.json has its place, the other files still have the ending of drafts. Returns a folder with the whole of it.
  [[nodiscard]] fs::path killed_between_renames(const std::string& draft) const {
    const std::string_view open = "open";
    fs::path next = root_.string() + "-next";
    for (const auto& [folder, time] : {std::pair(root_, 1.0), std::pair(next, 2.0)}) {
      RunWriter writer;
      EXPECT_TRUE(writer.open(folder, kBall).ok());
      writer.row(std::array{time, 0.0, 0.0, 0.0}, {&open, 1});
      EXPECT_TRUE(writer.finish(time == 1 ? "one" : "two", "{}").ok());
    }
    for (const char* name : {"trajectory.csv", "events.csv", "run.json"})
      fs::copy_file(next / name, root_ / (name + draft));
    std::ofstream(root_ / "lock") << "judder process 1 since 2020-01-01 00:00:00 UTC\ndrafts " +
                                         draft.substr(1, 16) + "\n";
    fs::copy_file(next / "state.json", root_ / "state.json", fs::copy_options::overwrite_existing);
    return next;
  }

  fs::path root_;
  const std::vector<std::string> complete_ = {"events.csv", "run.json", "state.json", "trajectory.csv"};
};

}  // namespace judder::io
