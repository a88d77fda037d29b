// Infinitely many impacts or switchings in finite time, finished in finite work.
//
// The same cyclic pattern of contacts (at most 8 long) has occurred four times, its durations shrink by a steady factor r < 1, and the remaining
// time R = Δ r/(1 − r) is so short that the motion cannot change in it and the tail's largest gap is below the tolerance. Then the tail is
// replaced by an inelastic impact of the pattern's contacts and closed contact for R; the mean force over the tail equals the resting
// force, so momentum is exact. Hops of equal length that shrink geometrically do not accumulate; they end by their size.
// mechanics: docs/theory.md, "Accumulation".
#pragma once

#include <cstdint>
#include <vector>

namespace judder::engines {

/// The bit of a relation or switch in a set of members.
[[nodiscard]] inline std::uint64_t member_bit(int index) {
  return std::uint64_t{1} << (static_cast<unsigned>(index) % 64U);
}

class Accumulation {
 public:
  struct Entry {
    double time = 0;
    std::uint64_t members = 0;  ///< bit per relation or switch (modulo 64) that took part at this instant
    double size = 0;            ///< largest approach speed, or 0
    double acceleration = 0;    ///< normal acceleration of a contact that touches, just before
  };
  struct Pattern {
    int length = 0;           ///< 0: none
    double ratio = 0;         ///< r
    double remaining = 0;     ///< R
    bool equal_time = false;  ///< durations are equal, sizes shrink
    std::uint64_t members = 0;
    double jerk = 0;    ///< rate at which the normal acceleration changes from one occurrence to the next
    long count = 0;     ///< impacts seen in the pattern so far
    double height = 0;  ///< largest gap that its last occurrence can have reached
  };

  void clear();
  /// The pattern is over; what comes next may form another one.
  void finish_pattern();
  void push(const Entry& entry);
  /// The pattern that the recent entries form, if any.
  [[nodiscard]] Pattern pattern() const;
  /// The pattern that has occurred twice, its last impact weaker than the one before: for hops so small that their rounding is no longer
  /// steady.
  [[nodiscard]] Pattern early_pattern() const;
  /// Sixteen impacts in any order, the later eight weaker than the earlier: contacts that hand each other ever smaller motions. Nothing remains
  /// of it (R = 0) where its height is below notice.
  [[nodiscard]] Pattern cluster() const;

  [[nodiscard]] std::vector<double> save() const;
  void load(const std::vector<double>& memory);

 private:
  static constexpr std::size_t kLongest = 8;  ///< pattern length
  static constexpr std::size_t kTimes = 4;    ///< occurrences asked for
  static constexpr std::size_t kHalf = 8;     ///< of a cluster
  std::vector<Entry> entries_;                ///< at most kLongest · kTimes + 1, oldest first
  std::vector<Entry> recent_;  ///< at most 2 kHalf, oldest first, whatever patterns they belong to
  long count_ = 0;
};

}  // namespace judder::engines
