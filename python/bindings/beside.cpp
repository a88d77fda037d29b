// The thread beside Python's main thread.
//
// It is started by the first work and never ends: starting one for each run would cost more than many runs. A process that was forked
// has no thread but the one that forked, so it starts its own.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support.hpp"

namespace judder::python {
namespace {

class Beside {
 public:
  Beside() : process_(getpid()) {
    std::thread([this] { serve(); }).detach();
  }
  [[nodiscard]] bool ours() const { return process_ == getpid(); }
  [[nodiscard]] bool busy() const { return busy_; }

  /// Without the interpreter's lock. `look` is called from time to time.
  template <class Look>
  void run(const std::function<void()>& work, const Look& look) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    busy_ = true;
    changed_.notify_one();
    while (!ended_.wait_for(lock, std::chrono::milliseconds(50), [this] { return work_ == nullptr; })) {
      lock.unlock();
      look();
      lock.lock();
    }
    busy_ = false;
  }

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      const std::function<void()>& work = *work_;
      lock.unlock();
      work();
      lock.lock();
      work_ = nullptr;
      ended_.notify_one();
    }
  }

  pid_t process_;
  bool busy_ = false;  ///< of the main thread alone
  std::mutex mutex_;
  std::condition_variable changed_, ended_;
  const std::function<void()>* work_ = nullptr;
};

}  // namespace

bool in_main_thread() {
  // Never freed: the interpreter may be gone when statics are.
  static const auto* const threading = new py::module_(py::module_::import("threading"));
  const py::object main = threading->attr("main_thread")().attr("ident");
  return !main.is_none() && main.cast<unsigned long>() == PyThread_get_thread_ident();
}

bool beside(const std::function<void()>& work, std::atomic<bool>& cancel) {
  static Beside* thread = nullptr;
  if (thread == nullptr || !thread->ours()) thread = new Beside;  // never freed, as its thread never ends
  if (thread->busy()) return false;
  std::exception_ptr signal;
  {
    const py::gil_scoped_release release;
    thread->run(work, [&] {
      const py::gil_scoped_acquire acquire;
      if (signal || PyErr_CheckSignals() == 0) return;
      signal = std::make_exception_ptr(py::error_already_set());
      cancel = true;
    });
  }
  if (signal) std::rethrow_exception(signal);
  return true;
}

}  // namespace judder::python
