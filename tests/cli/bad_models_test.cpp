// A corpus of wrong model files, each with its answer in its first lines:
//
//     # expect: 12:15: error: the message
//     # help: words that stand in the help of one of them
//
// Every message must be there with its place, and no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "judder/io/load.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(JUDDER_SOURCE_DIR "/tests/cli/bad")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> expected(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? text.substr(3) : text);
  const std::string mark = "# expect: ";
  for (std::string line; std::getline(in, line) && line.compare(0, mark.size(), mark) == 0;) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out.push_back(line.substr(mark.size()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> given(const LoadedModel& loaded) {
  std::vector<std::string> out;
  for (const Diagnostic& message : loaded.diagnostics.all()) {
    std::string line;
    if (!message.span.empty()) {
      const Position at = position(loaded.file.text, message.span.begin);
      line = std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
    }
    out.push_back(line + (message.severity == Severity::error ? "error: " : "warning: ") + message.message);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Of the lines behind those.
std::vector<std::string> expected_help(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  const std::string mark = "# help: ";
  for (std::string line; std::getline(in, line) && line.rfind("# ", 0) == 0;) {
    if (line.compare(0, mark.size(), mark) == 0) out.push_back(line.substr(mark.size()));
  }
  return out;
}

class BadModels : public ::testing::TestWithParam<fs::path> {};

TEST_P(BadModels, AreAnsweredAtTheirPlace) {
  const std::clock_t start = std::clock();
  const LoadedModel loaded = check_model({.file = GetParam()});
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(given(loaded), expected(loaded.file.text))
      << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  for (const std::string& words : expected_help(loaded.file.text)) {
    const std::vector<Diagnostic>& all = loaded.diagnostics.all();
    EXPECT_TRUE(std::any_of(
        all.begin(), all.end(),
        [&words](const Diagnostic& message) { return message.help.find(words) != std::string::npos; }))
        << words << "\n"
        << render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  }
  EXPECT_FALSE(expected(loaded.file.text).empty()) << "a wrong model needs its answer";
  EXPECT_LT(seconds, 10) << "a check must not take long";
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadModels, ::testing::ValuesIn(corpus()), [](const auto& model) {
  std::string name = model.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(BadModelCorpus, IsLarge) { EXPECT_GE(corpus().size(), 140U); }

}  // namespace
}  // namespace judder::io
