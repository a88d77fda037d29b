// Files that appear whole or not at all, and lists and ranges as they are typed.
#include "judder/io/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "judder/io/dither.hpp"
#include "judder/io/impacts.hpp"
#include "judder/io/ranges.hpp"

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

TEST(WholeFiles, ALinkInTheWayIsReplacedAndNotFollowed) {
  const fs::path folder = fs::temp_directory_path() / ("judder-link-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "precious") << "precious";
  const std::string own = "table.csv." + std::to_string(getpid()) + ".tmp";
  for (const std::string& name : {std::string("table.csv"), std::string("table.csv.tmp"), own})
    fs::create_symlink("precious", folder / name);
  EXPECT_TRUE(write_text_file(folder / "table.csv", "t\n").ok());
  EXPECT_EQ(contents(folder / "precious"), "precious");
  EXPECT_EQ(contents(folder / "table.csv"), "t\n");
  EXPECT_FALSE(fs::is_symlink(folder / "table.csv"));
  fs::remove_all(folder);
}

TEST(Ranges, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
}

TEST(Ranges, HaveTwoEndsAndPerhapsACount) {
  const auto plain = parse_range("-1:2.5e-3", 10);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->from, -1);
  EXPECT_EQ(plain->to, 2.5e-3);
  EXPECT_FALSE(plain->count);
  EXPECT_EQ(parse_range("0:1:10", 10)->count, 10);
  for (const char* bad :
       {"", "1", ":", "0:", ":1", "0:x", "0:1:", "0:1:1", "0:1:11", "0:1:2.5", "0:1:2:3", "a=0:1"})
    EXPECT_FALSE(parse_range(bad, 10)) << bad;
}

TEST(Ranges, ASweepNamesItsParameterAndItsCount) {
  const auto sweep = parse_sweep("mu=0:0.5:11");
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->name, "mu");
  EXPECT_EQ(sweep->to, 0.5);
  EXPECT_EQ(sweep->count, 11);
  EXPECT_TRUE(parse_sweep("mu=0:1:1000000"));
  for (const char* bad : {"mu", "mu=0:1", "=0:1:5", "mu=0:1:1000001", "0:1:5"})
    EXPECT_FALSE(parse_sweep(bad)) << bad;
  EXPECT_EQ(parse_dither_range("0:1")->count, DitherAxis().count);
  EXPECT_EQ(parse_dither_range("0:1:100000")->count, 100000);
  EXPECT_FALSE(parse_dither_range("0:1:100001"));
}

}  // namespace
}  // namespace judder::io
