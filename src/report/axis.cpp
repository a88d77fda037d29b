#include "axis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/convert.hpp"

namespace judder::report {
namespace {

constexpr double kMargin = 0.04;      // of the range, on each side
constexpr double kLargest = 1e300;    // beyond it differences overflow; nothing we draw is so large
constexpr double kSmallest = 1e-300;  // below it quotients underflow
constexpr double kRounding = 1e-12;   // a relative spread below this is rounding
constexpr double kSamePoint = 1e-9;   // slack of a tick at the end of the range, in steps

// The smallest of 1, 2, 5 times a power of ten that is not less than `rough`.
double round_up(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - kSamePoint)) return factor * power;
  }
  return 10 * power;
}

// With a proper minus sign.
std::string fixed(double value, int decimals) {
  const std::string digits = fixed_text(std::abs(value), std::clamp(decimals, 0, 17));
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !zero ? "−" : "") + digits;
}

int order_of(double value) { return static_cast<int>(std::floor(std::log10(value) + kSamePoint)); }

void label(Ticks& ticks, double step) {
  double largest = 0;
  for (const double value : ticks.values) largest = std::max(largest, std::abs(value));
  constexpr int kDigits = 5;  // a label longer than this is shortened by an offset
  if (largest > 0 && order_of(largest) - order_of(step) >= kDigits) {
    const double coarse = std::pow(10.0, order_of(step) + 2);
    ticks.offset = std::round(ticks.values.front() / coarse) * coarse;
    largest = 0;
    for (const double value : ticks.values) largest = std::max(largest, std::abs(value - ticks.offset));
  }
  const int order = largest > 0 ? order_of(largest) : 0;
  if (order >= 5 || order < -2) ticks.exponent = order;
  const double unit = std::pow(10.0, ticks.exponent);
  const int decimals = std::max(0, ticks.exponent - order_of(step));
  for (const double value : ticks.values)
    ticks.labels.push_back(fixed((value - ticks.offset) / unit, decimals));
}

// 5, 2, 1 and again, from a step to the next smaller one.
double finer(double step) {
  const double leading = step / std::pow(10.0, order_of(step));
  return leading > 3 ? step * 0.4 : step * 0.5;
}

Ticks linear_ticks(const Range& range, int most) {
  double step = round_up((range.to - range.from) / std::max(most, 1));
  double first = 0;
  double last = -1;
  constexpr int kFewest = 3;  // two would leave the reader to guess where the range ends
  for (int attempt = 0; attempt < 3 && last - first + 1 < kFewest; ++attempt) {
    if (attempt > 0) step = finer(step);
    first = std::ceil(range.from / step - kSamePoint);
    last = std::floor(range.to / step + kSamePoint);
  }
  Ticks ticks;
  const int steps = static_cast<int>(last - first);
  for (int i = 0; i <= steps; ++i) {
    const double k = first + i;
    ticks.values.push_back(k == 0 ? 0.0 : k * step);
  }
  // Beyond 2^53 steps from zero consecutive ticks are one number.
  ticks.values.erase(std::unique(ticks.values.begin(), ticks.values.end()), ticks.values.end());
  label(ticks, step);
  return ticks;
}

Ticks logarithmic_ticks(const Range& range, int most) {
  const int first = static_cast<int>(std::ceil(std::log10(range.from) - kSamePoint));
  const int last = static_cast<int>(std::floor(std::log10(range.to) + kSamePoint));
  if (last - first < 1) return linear_ticks(range, most);
  Ticks ticks;
  ticks.powers = true;
  const int stride = std::max(1, (last - first + most) / std::max(most, 1));
  for (int k = first; k <= last; k += stride) {
    ticks.values.push_back(std::pow(10.0, k));
    ticks.labels.push_back((k < 0 ? "−" : "") + std::to_string(std::abs(k)));
  }
  return ticks;
}

}  // namespace

bool drawable(double value, bool logarithmic) {
  return std::abs(value) <= kLargest && (!logarithmic || value >= kSmallest);
}

void Extent::add(double value, bool logarithmic) {
  if (!drawable(value, logarithmic)) return;
  least = std::min(least, value);
  greatest = std::max(greatest, value);
}

Range range_of(const Extent& extent, const Axis& axis) {
  if (!axis.categories.empty()) return {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
  Extent seen = extent;
  if (axis.from && drawable(*axis.from, axis.logarithmic)) seen.least = *axis.from;
  if (axis.to && drawable(*axis.to, axis.logarithmic)) seen.greatest = *axis.to;
  if (!std::isfinite(seen.least) && !std::isfinite(seen.greatest))
    return axis.logarithmic ? Range{1, 10} : Range{0, 1};
  if (!std::isfinite(seen.least)) seen.least = seen.greatest;
  if (!std::isfinite(seen.greatest)) seen.greatest = seen.least;
  if (seen.greatest < seen.least) std::swap(seen.least, seen.greatest);

  if (axis.logarithmic) {
    double from = std::log10(seen.least);
    double to = std::log10(seen.greatest);
    const double margin = axis.tight ? 0 : kMargin * (to - from);
    if (to - from < 1e-6) return {seen.least / 3, seen.least * 3};
    if (!axis.from) from -= margin;
    if (!axis.to) to += margin;
    constexpr double kFarthest = 305;  // powers of ten that stay normal numbers
    return {std::pow(10.0, std::max(from, -kFarthest)), std::pow(10.0, std::min(to, kFarthest))};
  }
  const double size = std::max(std::abs(seen.least), std::abs(seen.greatest));
  const double span = seen.greatest - seen.least;
  if (span <= std::max(kRounding * size, kSmallest)) {
    const double half = size > kSmallest ? 0.1 * size : 1;
    return {seen.least - half, seen.least + half};
  }
  const double margin = axis.tight ? 0 : kMargin * span;
  return {axis.from ? seen.least : seen.least - margin, axis.to ? seen.greatest : seen.greatest + margin};
}

Ticks ticks_of(const Range& range, const Axis& axis, int most) {
  if (!axis.categories.empty()) {
    Ticks ticks;
    for (std::size_t i = 0; i < axis.categories.size(); ++i) {
      ticks.values.push_back(static_cast<double>(i));
      ticks.labels.push_back(axis.categories[i]);
    }
    return ticks;
  }
  return axis.logarithmic ? logarithmic_ticks(range, most) : linear_ticks(range, most);
}

Scale::Scale(const Range& range, bool logarithmic, double pixel_from, double pixel_to)
    : logarithmic_(logarithmic),
      from_(logarithmic ? std::log10(range.from) : range.from),
      span_((logarithmic ? std::log10(range.to) : range.to) - from_),
      pixel_from_(pixel_from),
      pixel_span_(pixel_to - pixel_from) {}

double Scale::operator()(double value) const {
  if (!drawable(value, logarithmic_)) return std::numeric_limits<double>::quiet_NaN();
  return pixel_from_ + ((logarithmic_ ? std::log10(value) : value) - from_) / span_ * pixel_span_;
}

}  // namespace judder::report
