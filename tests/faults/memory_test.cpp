// Memory that runs out: whichever allocation fails, the folder is whole or not there, and nothing is in the way of the next run.
//
// Each case is a process of its own, so that nothing of the last one is left.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "judder/io/reference_file.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/tasks/run.hpp"

namespace {

std::atomic<long> countdown{0};  // 0: never
std::atomic<long> made{0};

void* allocate(std::size_t size) {
  ++made;
  if (countdown.load(std::memory_order_relaxed) > 0 && --countdown == 0) throw std::bad_alloc();
  void* const out = std::malloc(size == 0 ? 1 : size);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;

enum Outcome { kEnded = 0, kOutOfMemory = 7, kReported = 8, kOther = 9 };

int run_once(const RunRequest& request, long failing) {
  const pid_t child = fork();
  if (child == 0) {
    int code = kOther;
    try {
      countdown = failing;
      const RunReport report = run_model(request);
      code = report.stage == RunStage::ended && report.summary.status.ok() ? kEnded : kReported;
    } catch (const std::bad_alloc&) {
      code = kOutOfMemory;
    } catch (...) {
      code = kOther;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Memory, ARunWithoutMemoryLeavesAWholeFolderOrNone) {
  const fs::path folder = fs::temp_directory_path() / ("judder-memory-" + std::to_string(getpid()));
  fs::create_directories(folder);
  RunRequest request;
  request.model.file = JUDDER_SOURCE_DIR "/gallery/press/model.toml";
  request.reference = io::reference_beside(request.model.file);
  request.output = folder / "run";
  request.until = 0.5;
  made = 0;
  ASSERT_EQ(run_model(request).stage, RunStage::ended);
  const long all = made;
  ASSERT_GT(all, 1000);
  fs::remove_all(request.output);
  const char* wish = std::getenv("JUDDER_FULL");
  const long cases = wish != nullptr && *wish != '\0' ? 500 : 60;
  long failed = 0, aborted = 0;
  for (long i = 0; i < cases; ++i) {
    const long at = 1 + all * i / cases;
    const int code = run_once(request, at);
    // The JSON library needs memory to give memory back, in a destructor: then the process is ended, and the folder is what a kill leaves.
    ASSERT_TRUE(code == kOutOfMemory || code == kEnded || code == kReported || code == -SIGABRT)
        << "allocation " << at << ": " << code;
    aborted += code == -SIGABRT ? 1 : 0;
    failed += code == kOutOfMemory ? 1 : 0;
    if (fs::exists(request.output)) {
      io::RunData data;
      const io::FileStatus status = io::read_run(request.output, data);
      ASSERT_TRUE(status.ok()) << "allocation " << at << ": " << status.text();
    }
    // Nothing is in the way of the next run.
    if (i % 10 == 0) {
      ASSERT_EQ(run_once(request, 0), kEnded) << "after allocation " << at;
    }
    fs::remove_all(request.output);
  }
  EXPECT_GT(failed, cases / 2);
  EXPECT_LT(aborted, cases / 10);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace judder::tasks
