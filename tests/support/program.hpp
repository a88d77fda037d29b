// The program from outside: a fixture that runs it through the shell in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace judder {

/// What a process left behind.
struct Outcome {
  int code = -1;  ///< exit code; −1 if a signal ended it
  std::string out;
  std::string err;
};

/// All bytes of a file; empty if there is none.
std::string contents(const std::filesystem::path& path);

/// Each test has an empty folder, which is gone afterwards.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// `judder ARGUMENTS` in the folder, with nothing on its input; `before` is what the shell reads in front of it.
  [[nodiscard]] Outcome run(const std::string& arguments, const std::string& before = {}) const;
  /// A file in the folder.
  void write(const std::string& name, const std::string& text) const;

  std::filesystem::path folder_;
  const std::string gallery_ = JUDDER_SOURCE_DIR "/gallery/";
};

}  // namespace judder
