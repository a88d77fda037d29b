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

TEST(WholeFiles, ADitherStudyReplacesItsOwnTablesOnly) {
  const fs::path folder = fs::temp_directory_path() / ("judder-dither-" + std::to_string(getpid()));
  analysis::DitherSurvey survey;
  survey.curve.resize(2);
  std::vector<fs::path> files;
  ASSERT_TRUE(write_dither(survey, folder, files).ok());
  ASSERT_EQ(files, std::vector<fs::path>{folder / "curve.csv"});
  const std::string before = contents(folder / "curve.csv");
  ASSERT_NE(before.find("slip,resistance"), std::string::npos);
  survey.curve.resize(1000);
  ASSERT_TRUE(write_dither(survey, folder, files).ok());
  EXPECT_GT(contents(folder / "curve.csv").size(), before.size());
  std::ofstream(folder / "curve.csv") << "t,mine\n";
  files.clear();
  const FileStatus status = write_dither(survey, folder, files);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.file, (folder / "curve.csv").string());
  EXPECT_TRUE(files.empty());
  EXPECT_EQ(contents(folder / "curve.csv"), "t,mine\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "no draft is left";
  fs::remove_all(folder);
}

TEST(WholeFiles, LinksAreNotFollowed) {
  const fs::path folder = fs::temp_directory_path() / ("judder-link-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "precious") << "t,precious";
  const std::string own = ".table.csv." + std::to_string(getpid()) + ".tmp";
  fs::create_symlink("precious", folder / own);
  EXPECT_TRUE(write_text_file(folder / "table.csv", "t\n", "t").ok()) << "a link in the place of the draft";
  EXPECT_TRUE(fs::is_symlink(folder / own));
  EXPECT_EQ(contents(folder / "precious"), "t,precious");
  fs::remove(folder / own);
  EXPECT_TRUE(write_text_file(folder / "table.csv", "t\n", "t").ok());
  fs::remove(folder / "table.csv");
  fs::create_symlink("precious", folder / "table.csv");
  EXPECT_FALSE(write_text_file(folder / "table.csv", "t\n", "t").ok()) << "although the mark would be there";
  EXPECT_TRUE(fs::is_symlink(folder / "table.csv"));
  EXPECT_EQ(contents(folder / "precious"), "t,precious");
  fs::remove_all(folder);
}

TEST(WholeFiles, WhatIsNotFinishedLeavesNothing) {
  const fs::path folder = fs::temp_directory_path() / ("judder-draft-" + std::to_string(getpid()));
  {
    TextFile file;
    ASSERT_TRUE(file.open(folder / "table.csv", "t").ok());
    file.add("t\n");
    EXPECT_FALSE(fs::exists(folder / "table.csv"));
  }
  EXPECT_TRUE(fs::is_empty(folder));
  // Drafts of processes that are gone are taken away, others stay.
  std::ofstream(folder / ".table.csv.99999999.tmp") << "t";
  std::ofstream(folder / ".table.csv.mine.tmp") << "t";
  std::ofstream(folder / ".table.csv.99999998.tmp") << "mine";
  EXPECT_TRUE(write_text_file(folder / "table.csv", "t\n", "t").ok());
  EXPECT_FALSE(fs::exists(folder / ".table.csv.99999999.tmp"));
  EXPECT_TRUE(fs::exists(folder / ".table.csv.mine.tmp"));
  EXPECT_TRUE(fs::exists(folder / ".table.csv.99999998.tmp")) << "it does not begin like a table";
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
  EXPECT_EQ(parse_dither_range("0:1")->count, analysis::DitherAxis().count);
  EXPECT_EQ(parse_dither_range("0:1:100000")->count, 100000);
  EXPECT_FALSE(parse_dither_range("0:1:100001"));
}

}  // namespace
}  // namespace judder::io
