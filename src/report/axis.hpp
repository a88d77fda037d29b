// Ranges, ticks and tick labels of one axis.
#pragma once

#include <string>
#include <vector>

#include "judder/report/figure.hpp"

namespace judder::report {

/// from < to, both finite; for a logarithmic axis both positive.
struct Range {
  double from = 0;
  double to = 1;
};

/// Whether a value has a place on an axis: finite, not beyond what differences of doubles can span, and, on a logarithmic
/// axis, positive.
[[nodiscard]] bool drawable(double value, bool logarithmic);

/// Collects the finite values that will be drawn.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  void add(double value, bool logarithmic);
};

/// The range that shows the extent, with a margin unless the axis is tight. A constant, or a spread within rounding of
/// its value, gets a range in which it looks constant: the noise of the last digit is not a signal.
[[nodiscard]] Range range_of(const Extent& extent, const Axis& axis);

/// Ticks strictly ascending inside the range. A label stands for (value − offset) / 10^exponent; both are 0 where the
/// numbers are short enough to be written out. Logarithmic labels are powers of ten where `powers` is set: the label is
/// the exponent.
struct Ticks {
  std::vector<double> values{};
  std::vector<std::string> labels{};
  int exponent = 0;
  double offset = 0;
  bool powers = false;
};

/// At most about `most` ticks (at least 2 where the range allows).
[[nodiscard]] Ticks ticks_of(const Range& range, const Axis& axis, int most);

/// Maps values of the range to pixels, linearly or logarithmically.
class Scale {
 public:
  Scale(const Range& range, bool logarithmic, double pixel_from, double pixel_to);
  [[nodiscard]] double operator()(double value) const;

 private:
  bool logarithmic_;
  double from_;
  double span_;
  double pixel_from_;
  double pixel_span_;
};

}  // namespace judder::report
