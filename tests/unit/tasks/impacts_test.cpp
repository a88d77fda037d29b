// A sweep of collisions, from a request to its table.
#include "judder/tasks/impacts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <utility>

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;

class Sweep : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("judder-sweep-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    request_.model.file = JUDDER_SOURCE_DIR "/gallery/rod-impact/model.toml";
    request_.parameters = {{"mu", 0, 1, 11}};
    request_.rows = [this](const std::string& text) { told_ += text; };
  }
  void TearDown() override { fs::remove_all(folder_); }

  SweepReport sweep() {
    const io::LoadedModel first = load_impact_model(request_);
    EXPECT_TRUE(first.ok());
    return first.ok() ? sweep_model(request_, first) : SweepReport();
  }

  fs::path folder_;
  ImpactRequest request_;
  std::string told_;
};

TEST_F(Sweep, TheTableIsTheSameInAFileAndInBlocks) {
  const SweepReport told = sweep();
  ASSERT_EQ(told.stage, SweepStage::ended);
  EXPECT_EQ(told.sweep.states, 11U);
  EXPECT_TRUE(told.sweep.points.empty()) << "nobody has asked to keep them";
  EXPECT_EQ(told_.substr(0, 11), "mu,outcome,");
  const std::string as_told = std::exchange(told_, {});
  request_.table = folder_ / "sweep.csv";
  request_.keep_points = true;
  const SweepReport written = sweep();
  ASSERT_EQ(written.stage, SweepStage::ended) << written.files.text();
  EXPECT_EQ(written.sweep.points.size(), 11U);
  EXPECT_EQ(told_, "") << "it is in the file";
  std::ifstream in(request_.table, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), as_told);
}

TEST_F(Sweep, WhereNothingCollidesThereIsNoTable) {
  request_.model.file = JUDDER_SOURCE_DIR "/gallery/bouncing-ball/model.toml";
  request_.parameters = {{"h", 1, 2, 3}};
  request_.table = folder_ / "sweep.csv";
  const SweepReport report = sweep();
  EXPECT_EQ(report.stage, SweepStage::nothing_collides);
  EXPECT_NE(report.problem, "");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Sweep, APointWithoutASystemEndsIt) {
  request_.parameters = {{"mu", 1, -1, 3}};
  const SweepReport report = sweep();
  EXPECT_EQ(report.stage, SweepStage::point_invalid);
  EXPECT_EQ(report.problem.rfind("at mu = -1: ", 0), 0U) << report.problem;
  EXPECT_EQ(told_, "");
}

TEST_F(Sweep, SomebodyElsesFileStays) {
  request_.table = folder_ / "sweep.csv";
  std::ofstream(request_.table) << "mine\n";
  const SweepReport report = sweep();
  EXPECT_EQ(report.stage, SweepStage::files_failed);
  EXPECT_EQ(report.files.file, request_.table.string());
}

TEST_F(Sweep, ItEndsWhenItIsCancelled) {
  std::atomic<bool> cancel{false};
  request_.parameters = {{"mu", 0, 1, 100'000}};
  request_.model.cancel = &cancel;
  request_.progress = [&](double, double) { cancel = true; };
  EXPECT_EQ(sweep().stage, SweepStage::interrupted);
}

}  // namespace
}  // namespace judder::tasks
