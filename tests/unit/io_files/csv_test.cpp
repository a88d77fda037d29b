#include "judder/io/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "count.hpp"

namespace judder::io {
namespace {

using Record = std::vector<std::string>;

struct Outcome {
  std::vector<Record> records;
  std::optional<CsvError> error;
};

Outcome read(const std::string& text, CsvLimits limits = {}) {
  std::istringstream in(text);
  CsvReader csv(in, limits);
  Outcome out;
  while (csv.next()) {
    Record record;
    for (std::size_t i = 0; i < csv.size(); ++i) record.emplace_back(csv.field(i));
    out.records.push_back(record);
  }
  out.error = csv.error();
  EXPECT_FALSE(csv.next()) << "the end is the end";
  return out;
}

std::string write(const std::vector<Record>& records) {
  std::string out;
  CsvWriter csv(out);
  for (const Record& record : records) {
    for (const std::string& field : record) csv.text(field);
    csv.end_record();
  }
  return out;
}

void expect_error(const std::string& text, std::size_t line, const std::string& part, CsvLimits limits = {}) {
  const Outcome outcome = read(text, limits);
  ASSERT_TRUE(outcome.error.has_value()) << text;
  EXPECT_EQ(outcome.error->line, line) << text;
  EXPECT_NE(outcome.error->message.find(part), std::string::npos) << outcome.error->message;
}

TEST(CsvReader, TakesBothLineEndsAndALastLineWithoutOne) {
  const std::vector<Record> expected = {{"a", "b"}, {"1", "2"}, {"", "3"}};
  EXPECT_EQ(read("a,b\n1,2\n,3\n").records, expected);
  EXPECT_EQ(read("a,b\r\n1,2\r\n,3\r\n").records, expected);
  EXPECT_EQ(read("a,b\r\n1,2\n,3").records, expected);
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a,b\n1,2\n,3")
                .records,
            expected);
}

TEST(CsvReader, ReadsQuotedFieldsAsTheStandardSays) {
  EXPECT_EQ(read("\"x, y\",\"say \"\"no\"\"\",\"two\r\nlines\",\"\"\n").records,
            (std::vector<Record>{{"x, y", "say \"no\"", "two\r\nlines", ""}}));
}

TEST(CsvReader, SkipsBlankLinesButNotAnEmptyQuotedField) {
  EXPECT_EQ(read("\n\na\n\n1\r\n\r\n").records, (std::vector<Record>{{"a"}, {"1"}}));
  EXPECT_EQ(read("a\n\"\"\n").records, (std::vector<Record>{{"a"}, {""}}));
  EXPECT_TRUE(read("").records.empty());
  EXPECT_FALSE(read("").error.has_value());
}

TEST(CsvReader, KeepsTextThatOnlyBeginsLikeAByteOrderMark) {
  EXPECT_EQ(read("\xEF\xBD\x9E,b\n").records, (std::vector<Record>{{"\xEF\xBD\x9E", "b"}}));
}

TEST(CsvReader, NamesTheLineOfEveryFault) {
  expect_error("a,b\n1,2\n1,2,3\n", 3, "3 fields, the first has 2");
  expect_error("a,b\n1\n", 2, "1 fields");
  expect_error("a,b\n1,x\"y\n", 2, "quote inside a field");
  expect_error("a,b\n1,\"x\"y\n", 2, "after the closing quote");
  expect_error("a\n1\n\"never\nends\n", 3, "does not end");
  expect_error("a\rb\n", 1, "carriage return");
  expect_error("a,b\n\"two\nlines\",1\n3\n", 4, "1 fields");
}

TEST(CsvReader, RefusesWhatIsTooLarge) {
  expect_error("a\n" + std::string(101, 'x') + "\n", 2, "too long", {.record_bytes = 100});
  expect_error("a\n\"" + std::string(101, 'x') + "\"\n", 2, "too long", {.record_bytes = 100});
  expect_error("a,b,c\n", 1, "too many fields", {.fields = 2});
  EXPECT_FALSE(read(std::string(100, 'x') + "\n", {.record_bytes = 100}).error.has_value());
}

TEST(Csv, WhatIsWrittenReadsBackAsTheSameFields) {
  std::mt19937_64 random(4180);
  const std::vector<std::string> bits = {",", "\"",           "\n", "\r", "\r\n", "a",
                                         " ", "\xEF\xBB\xBF", "é",  "",   "x'"};
  for (int run = 0; run < count(50'000); ++run) {
    const std::size_t width = 1 + random() % 4;
    std::vector<Record> records(random() % 5);
    for (Record& record : records) {
      record.resize(width);
      for (std::string& field : record) {
        for (std::size_t i = random() % 5; i > 0; --i) field += bits[random() % bits.size()];
      }
    }
    const std::string text = write(records);
    const Outcome outcome = read(text);
    ASSERT_FALSE(outcome.error.has_value()) << "run " << run << ": " << outcome.error->message << "\n"
                                            << text;
    ASSERT_EQ(outcome.records, records) << "run " << run << "\n" << text;
  }
}

// Fields longer than the reader's block, so that every state of the reader meets a block's end.
TEST(Csv, RecordsMayBeLongerThanABlockOfTheStream) {
  for (std::size_t length = (1U << 16U) - 3; length < (1U << 16U) + 3; ++length) {
    const std::vector<Record> records = {{std::string(length, 'x'), "\""},
                                         {std::string(length, '"'), "\r\n"}};
    EXPECT_EQ(read(write(records)).records, records) << length;
  }
}

TEST(Csv, NumbersKeepEveryBit) {
  std::mt19937_64 random(754);
  std::string text;
  for (int run = 0; run < count(200'000); ++run) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    text.clear();
    CsvWriter(text).number(value);
    const auto back = csv_number(text);
    ASSERT_TRUE(back.has_value()) << text;
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(*back));
    } else {
      ASSERT_EQ(std::memcmp(&value, &*back, sizeof value), 0) << text;
    }
  }
}

TEST(Csv, NumbersAreOnlyNumbers) {
  for (const char* text : {"", " 1", "1 ", "1,0", "0x10", "stick", "1e999", "infinity", "NaN", "+1"}) {
    EXPECT_FALSE(csv_number(text).has_value()) << text;
  }
  EXPECT_EQ(csv_number("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(csv_number("1e-3"), 1e-3);
}

}  // namespace
}  // namespace judder::io
