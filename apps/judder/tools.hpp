// Other programs that some verbs need: a browser that draws, a program that joins pictures. Looked for in PATH, called without a shell.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace judder::app {

/// The first of `names` that is in PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_tool(const std::vector<std::string>& names);

/// Runs a program to its end, with `input` on its standard input; what it says of errors goes nowhere. Nothing if it could not be run, or ended with another code
/// than 0, or was stopped by an interrupt; else its standard output.
[[nodiscard]] std::optional<std::string> run_tool(const std::filesystem::path& program,
                                                  const std::vector<std::string>& arguments,
                                                  const std::string& input = {});

/// A folder of its own for files that pass between programs; it goes with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  /// Empty: there is no room for one.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Chromium without a window: opens a page and hands back what the words ask for. Nothing as run_tool.
[[nodiscard]] std::optional<std::string> run_browser(const std::filesystem::path& browser,
                                                     const std::filesystem::path& scratch,
                                                     std::vector<std::string> words,
                                                     const std::filesystem::path& page);
[[nodiscard]] std::optional<std::filesystem::path> find_browser();

}  // namespace judder::app
