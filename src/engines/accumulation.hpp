// Infinitely many impacts or switchings in finite time, finished in finite work.
//
// The same cyclic pattern of contacts (at most 8 long) has occurred four times, its durations shrink by a steady factor r < 1, and the remaining
// time R = Δ r/(1 − r) is so short that the motion cannot change in it and the tail's largest gap is below the tolerance. Then the tail is
// replaced by an inelastic impact of the pattern's contacts and closed contact for R, if the mean of everything that moves is the same there as at
// rest, so that momentum is exact (event/impact_tails.cpp). Hops of equal length that shrink geometrically do not accumulate; they end by their size.
// mechanics: docs/theory.md, "Accumulation".
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace judder::engines {

/// Relations or switches, ascending, each once: of any number.
using Members = std::vector<int>;

/// Whether `member` is one of them.
[[nodiscard]] bool contains(const Members& members, int member);

/// Impacts or switchings of one block, in the order of time.
class Accumulation {
 public:
  static constexpr double kSteady = 0.01;  ///< by which ratios of one rhythm may differ

  struct Entry {
    double time = 0;
    Members members;                  ///< that took part at this instant
    double size = 0;                  ///< largest approach speed, or 0
    double acceleration = 0;          ///< normal acceleration of that contact, just before
    std::vector<double> smooth = {};  ///< what moves, before it, without the jumps of all impacts so far
    std::vector<double> jump = {};    ///< of the velocities
  };
  struct Change {
    std::vector<double> all;    ///< of what moves, impacts of other blocks left out
    std::vector<double> jump;   ///< of the velocities by impacts
    std::vector<double> terms;  ///< sizes of the numbers that `all` is the difference of

    void clear() {
      all.clear();
      jump.clear();
      terms.clear();
    }
  };
  struct Pattern {
    int length = 0;           ///< 0: none
    double ratio = 0;         ///< r
    double duration = 0;      ///< Δ of its last occurrence
    double remaining = 0;     ///< R
    double doubt = 0;         ///< by which R may be wrong, as far as the durations tell
    bool equal_time = false;  ///< durations are equal, sizes shrink
    Members members;
    double jerk = 0;    ///< rate at which the normal acceleration changes from one occurrence to the next
    long count = 0;     ///< impacts seen in the pattern so far
    double height = 0;  ///< largest gap that its last occurrence can have reached
    double size = 0;    ///< of the last impact
    double time = 0;    ///< of that
    double since = 0;   ///< time of the impact before
    Members around;     ///< that took part in any impact that is remembered, whatever patterns they belong to
    double pushed = 0;  ///< speed that the acceleration gives within an occurrence and all that follow
    Change change;      ///< in its last occurrence; empty: unknown
    Change earlier;     ///< in the one before

    /// No pattern; the memory is kept.
    void clear();
  };

  void clear();
  /// The pattern is over; what comes next may form another one.
  void finish_pattern();
  void push(const Entry& entry);
  /// The jump of the velocities at the last entry.
  void jumped(std::span<const double> jump);
  /// The pattern that the recent entries form; false: none.
  bool pattern(Pattern& out) const;
  /// R and its doubt for hops that shrink ever more slowly; times are known to `instant`. Nothing changes where they do not, or where it is known better.
  void slow_end(Pattern& out, double instant) const;
  /// The pattern that has occurred twice, its last impact weaker than the one before: for hops so small that their rounding is no longer
  /// steady.
  bool early_pattern(Pattern& out) const;
  /// Sixteen impacts in any order, the later eight weaker than the earlier: contacts that hand each other ever smaller motions. Nothing remains
  /// of it (R = 0) where its height is below notice.
  bool cluster(Pattern& out) const;

  /// Whether b took part when a did the last time.
  [[nodiscard]] bool together(int a, int b) const;
  [[nodiscard]] bool empty() const { return entries_.size() == 0 && recent_.size() == 0; }
  [[nodiscard]] std::vector<double> save() const;
  /// What is no memory of members below `places` is left out from there on.
  void load(std::span<const double> memory, int places = std::numeric_limits<int>::max());
  /// Whether `memory` is one that save() can have given, of members below `places`, and of so many numbers that move and velocities.
  [[nodiscard]] static bool readable(std::span<const double> memory, int places, std::size_t moving = 0,
                                     std::size_t velocities = 0);

 private:
  static constexpr std::size_t kLongest = 8;  ///< pattern length
  static constexpr std::size_t kTimes = 4;    ///< occurrences asked for
  static constexpr std::size_t kHalf = 8;     ///< of a cluster

  /// The last entries, oldest first. Their memory is used again.
  class Recent {
   public:
    explicit Recent(std::size_t most) : most_(most) {}
    void push(const Entry& entry);
    void clear() { size_ = 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const Entry& operator[](std::size_t i) const { return slots_[i]; }
    [[nodiscard]] Entry& at(std::size_t i) { return slots_[i]; }

   private:
    std::size_t most_;
    std::size_t size_ = 0;
    std::vector<Entry> slots_;
  };
  /// Of the last `count` of them.
  static double largest_acceleration(const Recent& list, std::size_t count);
  void look_around(Pattern& out) const;
  bool look_back(std::size_t first, std::size_t last, Change& out) const;
  void look_back(Pattern& out) const;
  void forget_old();

  Recent entries_{kLongest * kTimes + 1};
  Recent recent_{2 * kHalf};  ///< whatever patterns they belong to
  long count_ = 0;
};

/// Impacts of a whole system. Blocks that are not connected accumulate each by itself, whatever the others do in between.
class Accumulations {
 public:
  /// `blocks` of them; block_of[r] is the block of relation r.
  Accumulations(int blocks, std::span<const int> block_of);

  void clear();
  /// An instant with impacts: its time, the contacts that approach, in the order of their numbers, and its end.
  void begin(double time);
  void add(int relation, double speed, double acceleration);
  /// `moving`: all that moves, before the impact; velocities first.
  void end(std::span<const double> moving = {});
  /// The velocities before and after the impact.
  void jumped(std::span<const double> before, std::span<const double> after);
  /// The pattern of the blocks that took part in the last instant: false unless each of them has one, of the same kind.
  bool pattern(Accumulation::Pattern& out);
  void slow_end(Accumulation::Pattern& out, double instant) const;
  /// The patterns of these blocks are over.
  void finish_pattern();
  [[nodiscard]] bool together(int a, int b) const { return block_[block_of_[a]].together(a, b); }
  /// Whether two relations belong to the same block.
  [[nodiscard]] bool connected(int a, int b) const { return block_of_[a] == block_of_[b]; }

  [[nodiscard]] std::vector<double> save() const;
  void load(std::span<const double> memory);
  /// Whether `memory` is one that save() can have given, of a system of so many relations, of so many numbers that move and velocities.
  [[nodiscard]] static bool readable(std::span<const double> memory, int relations, std::size_t moving,
                                     std::size_t velocities);

 private:
  std::vector<int> block_of_;
  std::vector<Accumulation> block_;
  std::vector<Accumulation::Entry> entry_;  ///< of the present instant, by block
  std::vector<int> present_;                ///< blocks that take part in it
  double time_ = 0;
  std::vector<double> jumps_;  ///< of the velocities in all impacts so far
  std::vector<double> jump_;   ///< in the last one
  Accumulation::Pattern one_;
};

}  // namespace judder::engines
