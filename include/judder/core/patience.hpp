// How a search that may be long hears that nobody waits for it any more.
//
// A run is cancelled between its steps: there it has a state that it can be taken up from. An instant with many contacts or switches can take longer than
// anybody wants to wait, and inside it there is no such state. So the loops in it look here, and once the end has been wanted for a moment they are
// left all at once by an exception, which the run turns into its status; it never leaves the library. What was done since the last whole state is lost.
// Where nobody wants the end nothing changes, not by one bit.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace judder {

struct Abandoned {};

class Patience {
 public:
  /// `flag` is set from outside; null: never.
  void start(const std::atomic<bool>* flag) {
    flag_ = flag;
    heard_.reset();
  }
  /// Throws Abandoned if the end has been wanted for longer than an ordinary instant takes.
  void look() {
    if (flag_ == nullptr || !flag_->load(std::memory_order_relaxed)) return;
    const auto now = std::chrono::steady_clock::now();
    if (!heard_) heard_ = now;
    if (now - *heard_ >= kOrdinary) throw Abandoned{};
  }

 private:
  static constexpr std::chrono::milliseconds kOrdinary{200};
  const std::atomic<bool>* flag_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> heard_;
};

}  // namespace judder
