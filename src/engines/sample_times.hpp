// The times at which a run gives rows.
//
// Regular ones lie at equal distances, both ends of the run included: t_k = from + (until − from)·k/last, or from + k·every, the last of them at
// `until` whatever the distance. Further instants may stand between them, in ascending order. Every time is made from its number alone: roundings do
// not add up, and a run that was cut has the same times as one that was not.
//
// An engine asks for next() while it is before the end of its step, gives the row, and goes on with advance(). Where two rows of an instant stand in
// place of the samples there, it goes on with pass().
#pragma once

#include <cstddef>
#include <vector>

#include "judder/engines/engine.hpp"

namespace judder::engines {

class SampleTimes {
 public:
  /// A run with these options begins: next() is its first time.
  void start(const EngineOptions& options);

  /// The next time of a row; infinity behind the last.
  [[nodiscard]] double next() const { return next_; }
  /// next() has its row. Times that fall together have one.
  void advance();
  /// So have all times up to and including t.
  void pass(double t) {
    while (next_ <= t) advance();
  }

  /// The first regular time whose number is a multiple of `rows` and that is not due yet; infinity behind the last. The same in every run, cut or not.
  [[nodiscard]] double turn(long rows) const { return regular((index_ / rows + 1) * rows); }

  /// No further instants are left: all times are regular from here on, and may be taken in blocks.
  [[nodiscard]] bool only_regular() const { return instant_ >= instants_.size(); }
  /// Number of regular times from next() on that are before t.
  [[nodiscard]] std::size_t count_before(double t) const;
  /// Writes that many of them, `stride` numbers apart, and advances behind them.
  void take(std::size_t count, double* out, std::size_t stride);

 private:
  [[nodiscard]] double regular(long k) const;
  void find_next();

  double from_ = 0, until_ = 0;
  double every_ = 0;  ///< 0: equal parts
  long last_ = 0;     ///< number of the last regular time
  std::vector<double> instants_;
  long index_ = 0;           ///< of the regular time that is not due yet
  std::size_t instant_ = 0;  ///< of the further instant that is not due yet
  double next_ = 0;
};

}  // namespace judder::engines
