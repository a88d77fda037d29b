// All that a program can be while each of its inputs is known to an interval: interval arithmetic, with its memory.
//
// Rounding is found in the same way: with every number known to its last bit, the width of the result bounds what rounding does to it. Sides of
// switches are whole numbers and stay exact: one that is blurred would take in the branch beside it.
//
// R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM 2009.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "judder/expr/program.hpp"

namespace judder::engines {

class Enclosure {
 public:
  /// Near the end of the range of numbers nothing has digits: bounds of an exact zero are that far apart.
  static constexpr double kLeastNumber = 0x1p-1000;

  /// Every input is exactly its value.
  void take(std::span<const double> in);
  /// Inputs from `first` to before `end` are known to their last bit only.
  void blur(int first, int end);
  /// Input i is within `slack` of its value.
  void widen(int i, double slack) { in_[i] = {in_[i].low - slack, in_[i].high + slack}; }
  void set(int i, double low, double high) { in_[i] = {low, high}; }
  void evaluate(const expr::Program& program);
  /// The same, and whether what can have a peak has none that a few points would not show (expr::Program::evaluate_gentle).
  [[nodiscard]] bool evaluate_gentle(const expr::Program& program);

  // Of the program evaluated last, by output.
  [[nodiscard]] double low(int output) const { return out_[output].low; }
  [[nodiscard]] double high(int output) const { return out_[output].high; }
  /// 0 where it is not known, and where nothing but the bounds of exact zeros makes it.
  [[nodiscard]] double width(int output) const {
    const double width = out_[output].high - out_[output].low;
    return std::isfinite(width) && width > kLeastNumber ? width : 0;
  }

 private:
  void make_room(const expr::Program& program);

  std::vector<expr::Interval> in_, out_, registers_;
};

}  // namespace judder::engines
