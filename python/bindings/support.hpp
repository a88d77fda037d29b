// What the sources of the binding share: errors, and long work that Ctrl-C ends.
//
// The binding holds no logic. It hands values to judder.hpp and judder/tasks/ and turns what comes back into Python's numbers, texts and
// arrays. Everything that needs no C++ is in the package (python/judder).
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace judder::python {

namespace py = pybind11;

/// The model cannot be run: its messages, with file, line and caret. judder.ModelError.
struct ModelProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// What was asked for makes no sense for this model. judder.UsageError.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The numbers could not be had. judder.RunError.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A file could not be read or written. OSError.
struct FileProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether Python's main thread calls: the only one in which it hears of Ctrl-C.
bool in_main_thread();

/// Does `work` in a thread that is kept for it. The one that calls waits for signals without the interpreter's lock. The first signal
/// that raises something sets `cancel`, and what it raised is raised when the work has ended. Called with the lock, by the main
/// thread. False: nothing was done, because the kept thread is at work already (a signal handler has called).
bool beside(const std::function<void()>& work, std::atomic<bool>& cancel);

/// Does `work(cancel)` without the interpreter's lock, so that Ctrl-C ends it, and so does whoever sets `flag`. Called with the lock.
template <class Work>
auto without_lock(Work work, std::atomic<bool>* flag = nullptr)
    -> decltype(work(std::declval<std::atomic<bool>&>())) {
  std::atomic<bool> own{false};
  std::atomic<bool>& cancel = flag != nullptr ? *flag : own;
  if (in_main_thread()) {
    std::optional<decltype(work(cancel))> result;
    std::exception_ptr thrown;
    const auto whole = [&] {
      try {
        result.emplace(work(cancel));
      } catch (...) {
        thrown = std::current_exception();
      }
    };
    if (beside(whole, cancel)) {
      if (thrown) std::rethrow_exception(thrown);
      return std::move(*result);
    }
  }
  const py::gil_scoped_release release;
  return work(cancel);
}

}  // namespace judder::python
