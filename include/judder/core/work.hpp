// How much one task may cost, counted in operations and not in seconds, so that a text is accepted or refused the same way on every machine.
//
// A text of a hundred bytes can ask for more derivatives, index tuples or messages than any machine has room for. Whoever works on such a
// text spends from one Work as it goes. When the limit is passed, or the task is cancelled from outside, `spend` throws a WorkStopped, which
// the entry point of the task (model::compile) turns into a message with its place. It never leaves the library.
#pragma once

#include <atomic>
#include <cstddef>

namespace judder {

struct WorkLimits {
  double operations = 5e7;  ///< steps of compilation; about a second
  double nodes = 7e5;       ///< formulas kept in memory, counted with their operands; about 300 MB
  double letters = 1e7;     ///< of names that `each` makes, and of what is written beside them; about 200 MB
  double tuples = 200000;   ///< index tuples that one `each` may look at
  int errors = 100;         ///< messages before the rest of the model is left unread
  /// All of them larger by a factor.
  [[nodiscard]] WorkLimits times(double factor) const {
    return {operations * factor, nodes * factor, letters * factor, tuples * factor, errors};
  }
};

struct WorkStopped {
  enum class Reason { operations, nodes, letters, errors, cancelled } reason = Reason::operations;
};

class Work {
 public:
  explicit Work(const WorkLimits& limits = {}, const std::atomic<bool>* cancel = nullptr)
      : limits_(limits), cancel_(cancel) {}

  void spend(std::size_t operations) {
    spent_ += static_cast<double>(operations);
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed))
      throw WorkStopped{WorkStopped::Reason::cancelled};
    if (spent_ > limits_.operations) throw WorkStopped{WorkStopped::Reason::operations};
  }
  /// Memory for `count` formulas.
  void keep(std::size_t count) {
    kept_ += static_cast<double>(count);
    if (kept_ > limits_.nodes) throw WorkStopped{WorkStopped::Reason::nodes};
  }
  /// Memory for texts of `count` letters. They are copied several times on their way, and so cost operations too.
  void keep_letters(std::size_t count) {
    constexpr std::size_t kPerOperation = 16;
    letters_ += static_cast<double>(count);
    if (letters_ > limits_.letters) throw WorkStopped{WorkStopped::Reason::letters};
    spend(count / kPerOperation);
  }
  [[nodiscard]] double spent() const { return spent_; }
  [[nodiscard]] const WorkLimits& limits() const { return limits_; }

 private:
  WorkLimits limits_;
  const std::atomic<bool>* cancel_ = nullptr;
  double spent_ = 0, kept_ = 0, letters_ = 0;
};

}  // namespace judder
