#include "report/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "count.hpp"
#include "judder/core/number.hpp"

namespace judder::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// What a reader makes of a tick label.
double reading(const Ticks& ticks, std::size_t index) {
  std::string text = ticks.labels[index];
  const std::string minus = "−";
  const bool negative = text.starts_with(minus);
  if (negative) text.erase(0, minus.size());
  const double value = parse_number(text).value_or(kNone);
  return ticks.powers ? std::pow(10.0, negative ? -value : value)
                      : (negative ? -value : value) * std::pow(10.0, ticks.exponent) + ticks.offset;
}

TEST(Axis, TicksAscendInsideTheRangeAndTheirLabelsSayTheirValues) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int run = 0; run < count(100'000); ++run) {
    const double span = std::pow(10.0, -9 + 18 * uniform(random));
    const double centre = (uniform(random) - 0.5) * span * std::pow(10.0, 6 * uniform(random));
    const Range range = {centre - 0.5 * span, centre + 0.5 * span};
    const int most = 2 + static_cast<int>(10 * uniform(random));
    const Ticks ticks = ticks_of(range, {}, most);
    const std::string what = "run " + std::to_string(run) + ": " + to_text(range.from) + " to " +
                             to_text(range.to) + ", " + std::to_string(most);
    ASSERT_GE(ticks.values.size(), 2U) << what;
    ASSERT_LE(ticks.values.size(), static_cast<std::size_t>(std::max(most + 1, 8))) << what;
    ASSERT_EQ(ticks.values.size(), ticks.labels.size());
    const double step = ticks.values[1] - ticks.values[0];
    for (std::size_t i = 0; i < ticks.values.size(); ++i) {
      ASSERT_GE(ticks.values[i], range.from - 1e-6 * span) << what;
      ASSERT_LE(ticks.values[i], range.to + 1e-6 * span) << what;
      if (i > 0) {
        ASSERT_NEAR(ticks.values[i] - ticks.values[i - 1], step, 1e-6 * step) << what;
      }
      ASSERT_NEAR(reading(ticks, i), ticks.values[i], 1e-3 * step) << what << " label " << ticks.labels[i];
      ASSERT_LE(ticks.labels[i].size(), 12U) << what << " label " << ticks.labels[i];
    }
    const double leading = step / std::pow(10.0, std::floor(std::log10(step) + 1e-6));
    ASSERT_TRUE(std::abs(leading - 1) < 1e-4 || std::abs(leading - 2) < 1e-4 || std::abs(leading - 5) < 1e-4)
        << what << " step " << step;
  }
}

TEST(Axis, ZeroIsWrittenWithoutSign) {
  const Ticks ticks = ticks_of({-0.3, 0.3}, {}, 6);
  ASSERT_EQ(ticks.labels.size(), 7U);
  EXPECT_EQ(ticks.labels[3], "0.0");
  EXPECT_EQ(ticks.labels[0], "−0.3");
}

TEST(Axis, FactorsOutPowersOfTenAndOffsets) {
  EXPECT_EQ(ticks_of({0, 3e-5}, {}, 4).exponent, -5);
  EXPECT_EQ(ticks_of({0, 4e7}, {}, 4).exponent, 7);
  EXPECT_EQ(ticks_of({0, 400}, {}, 4).exponent, 0);
  const Ticks close = ticks_of({1.5293, 1.5293 + 1e-7}, {}, 4);
  EXPECT_NEAR(close.offset, 1.5293, 1e-6);
  EXPECT_LE(close.labels[0].size(), 4U);
}

TEST(Axis, LogarithmicTicksArePowersOfTen) {
  Axis axis;
  axis.logarithmic = true;
  for (const Range& range : {Range{1e-12, 1e-3}, Range{0.5, 200}, Range{3e-300, 1e300}}) {
    const Ticks ticks = ticks_of(range, axis, 6);
    ASSERT_TRUE(ticks.powers);
    ASSERT_GE(ticks.values.size(), 2U);
    ASSERT_LE(ticks.values.size(), 7U);
    for (std::size_t i = 0; i < ticks.values.size(); ++i)
      EXPECT_NEAR(reading(ticks, i) / ticks.values[i], 1, 1e-12);
  }
  EXPECT_FALSE(ticks_of({2, 7}, axis, 6).powers) << "within a decade powers of ten would leave the axis bare";
}

TEST(Axis, RangeHoldsTheDataWithAMarginUnlessTight) {
  Extent extent;
  for (const double value : {3.0, -1.0, kNone, std::nan("")}) extent.add(value, false);
  const Range loose = range_of(extent, {});
  EXPECT_LT(loose.from, -1);
  EXPECT_GT(loose.to, 3);
  Axis tight;
  tight.tight = true;
  EXPECT_EQ(range_of(extent, tight).from, -1);
  EXPECT_EQ(range_of(extent, tight).to, 3);
  tight.to = 2;
  EXPECT_EQ(range_of(extent, tight).to, 2);
}

TEST(Axis, RoundingNoiseLooksConstantAndASmallSignalDoesNot) {
  Extent noise;
  noise.add(9.81, false);
  noise.add(9.81 * (1 + 4e-16), false);
  EXPECT_GT(range_of(noise, {}).to - range_of(noise, {}).from, 1);
  Extent signal;
  signal.add(9.81, false);
  signal.add(9.81 * (1 + 1e-10), false);
  EXPECT_LT(range_of(signal, {}).to - range_of(signal, {}).from, 1e-8);
}

TEST(Axis, EveryExtentGivesAUsableRange) {
  for (const bool logarithmic : {false, true}) {
    Axis axis;
    axis.logarithmic = logarithmic;
    for (const auto& values :
         std::vector<std::vector<double>>{{}, {0}, {5}, {-5}, {1e-310}, {1e299, -1e299}, {-1, 1}}) {
      Extent extent;
      for (const double value : values) extent.add(value, logarithmic);
      const Range range = range_of(extent, axis);
      ASSERT_LT(range.from, range.to);
      ASSERT_TRUE(std::isfinite(range.to - range.from));
      ASSERT_TRUE(range.from > 0 || !logarithmic);
      for (const double value : values) {
        const double pixel = Scale(range, logarithmic, 0, 100)(value);
        EXPECT_TRUE(std::isnan(pixel) || (pixel >= 0 && pixel <= 100)) << value;
      }
    }
  }
}

}  // namespace
}  // namespace judder::report
