#include "judder/io/member_file.hpp"

#include <gtest/gtest.h>

#include "judder/io/member_table.hpp"

namespace judder::io {
namespace {

std::string kept(const std::string& text) {
  std::vector<char> bytes;
  const std::vector<double> numbers{1.5, -2};
  put_member_record(numbers, text, bytes);
  std::vector<double> memory;
  const MemberRecord record = member_record(bytes, numbers.size(), 0, memory);
  EXPECT_EQ(memory, numbers);
  return std::string(record.message);
}

TEST(MemberFile, ATextThatIsCutSaysSoAndHasWholeCharacters) {
  constexpr std::size_t kRoom = MemberFile::kMessage - 1;
  const std::string dots = "…";
  for (std::size_t length = 0; length <= kRoom; ++length)
    EXPECT_EQ(kept(std::string(length, 'a')), std::string(length, 'a'));
  EXPECT_EQ(kept(std::string(kRoom + 1, 'a')), std::string(kRoom - dots.size(), 'a') + dots);
  // Characters of two bytes that begin at even and at odd places.
  for (const std::string start : {"", "a"}) {
    std::string text = start;
    while (text.size() <= kRoom) text += "ä";
    const std::string cut = kept(text);
    ASSERT_GT(cut.size(), dots.size());
    EXPECT_EQ(cut.substr(cut.size() - dots.size()), dots);
    const std::string before = cut.substr(0, cut.size() - dots.size());
    EXPECT_EQ(before, text.substr(0, before.size()));
    EXPECT_EQ((before.size() - start.size()) % 2, 0U);
    EXPECT_GE(cut.size() + 1, kRoom);
  }
}

// Eight bytes for each number of a member, and eight more for each of its nine others, up to 4e9 in an archive; other tables have no such end.
TEST(MemberTable, AnArchiveHasALargestSize) {
  MemberTable table;
  table.names = {"h"};
  table.collected = {"end(h)"};
  const auto per_member = static_cast<double>(8 * (table.numbers() + 9));
  const auto most = static_cast<std::size_t>(4e9 / per_member);
  EXPECT_TRUE(table_size_problem("a.npz", most, table).ok());
  const FileStatus refused = table_size_problem("a.npz", most + 1, table);
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.file, "a.npz");
  EXPECT_NE(refused.message.find(".npy or .csv"), std::string::npos) << refused.message;
  for (const char* other : {"a.npy", "a.csv"}) EXPECT_TRUE(table_size_problem(other, 100 * most, table).ok());
}

}  // namespace
}  // namespace judder::io
