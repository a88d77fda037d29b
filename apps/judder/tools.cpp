#include "tools.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "command.hpp"

extern char** environ;

namespace judder::app {
namespace {

namespace fs = std::filesystem;

/// Both ends of a pipe, closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }
  [[nodiscard]] bool ok() const { return ends[0] >= 0; }
};

/// Feeds and drinks until the program has closed its output. False: interrupted.
bool exchange(Pipe& in, Pipe& out, const std::string& input, std::string& output) {
  fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
  std::size_t written = 0;
  if (input.empty()) in.close_end(1);
  std::array<char, 65536> block;
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{out.ends[0], POLLIN, 0}, pollfd{in.ends[1], POLLOUT, 0}};
    if (poll(wait.data(), in.ends[1] >= 0 ? 2 : 1, 200) < 0 && errno != EINTR) return true;
    if (interrupted()) return false;
    if (in.ends[1] >= 0 && (wait[1].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t count = write(in.ends[1], input.data() + written, input.size() - written);
      if (count > 0) written += static_cast<std::size_t>(count);
      if (written == input.size() || (count < 0 && errno != EAGAIN && errno != EINTR)) in.close_end(1);
    }
    if ((wait[0].revents & (POLLIN | POLLHUP)) != 0) {
      const ssize_t count = read(out.ends[0], block.data(), block.size());
      if (count > 0) output.append(block.data(), static_cast<std::size_t>(count));
      if (count == 0) return true;
      if (count < 0 && errno != EINTR) return true;
    }
  }
}

}  // namespace

std::optional<fs::path> find_tool(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view() : std::string_view(path);
  while (!rest.empty()) {
    const std::string_view place = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), place.size() + 1));
    if (place.empty()) continue;
    for (const std::string& name : names) {
      const fs::path file = fs::path(place) / name;
      std::error_code error;
      if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return std::nullopt;
}

std::optional<std::string> run_tool(const fs::path& program, const std::vector<std::string>& arguments,
                                    const std::string& input) {
  Pipe in, out;
  if (!in.ok() || !out.ok()) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // A program that ends before it has read everything must not end this one.
  void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  in.close_end(0);
  out.close_end(1);
  std::string output;
  bool done = false;
  int status = 1;
  if (failed == 0) {
    done = exchange(in, out, input, output);
    if (!done) kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  signal(SIGPIPE, before);
  if (failed != 0 || !done || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return output;
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "judder-XXXXXX").string();
  if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::optional<fs::path> find_browser() {
  return find_tool({"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"});
}

std::optional<std::string> run_browser(const fs::path& browser, const fs::path& scratch,
                                       std::vector<std::string> words, const fs::path& page) {
  std::vector<std::string> all{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                               "--user-data-dir=" + (scratch / "browser").string()};
  // Its own sandbox cannot be had as root; the pages are ours and open nothing.
  if (geteuid() == 0) all.emplace_back("--no-sandbox");
  all.insert(all.end(), words.begin(), words.end());
  all.push_back("file://" + page.string());
  return run_tool(browser, all);
}

}  // namespace judder::app
