// Files that appear whole or not at all.
#include "judder/io/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "judder/io/dither.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// A folder in the place of the temporary file stops the writing before its end: what was there stays.
TEST(WholeFiles, ADitherStudyThatCannotBeWrittenLeavesTheLastOne) {
  const fs::path folder = fs::temp_directory_path() / ("judder-dither-" + std::to_string(getpid()));
  DitherReport report;
  report.curve.resize(2);
  std::vector<fs::path> files;
  ASSERT_TRUE(write_dither(report, folder, files).ok());
  ASSERT_EQ(files, std::vector<fs::path>{folder / "curve.csv"});
  const std::string before = contents(folder / "curve.csv");
  ASSERT_NE(before.find("slip,resistance"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "curve.csv.tmp"));
  fs::create_directories(folder / "curve.csv.tmp" / "in the way");
  files.clear();
  report.curve.resize(1000);
  const FileStatus status = write_dither(report, folder, files);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.file, (folder / "curve.csv").string());
  EXPECT_TRUE(files.empty());
  EXPECT_EQ(contents(folder / "curve.csv"), before);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace judder::io
