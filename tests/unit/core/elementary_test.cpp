// The elementary functions against the C library's long double, which has eleven more bits.
#include "core/elementary.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "count.hpp"

namespace judder::elementary {
namespace {

/// In units of the last place of the exact value.
double error(double value, long double exact) {
  const double size = std::abs(static_cast<double>(exact));
  if (size < 2.3e-308) return value == static_cast<double>(exact) ? 0 : 1;
  if (std::isinf(size)) return value == static_cast<double>(exact) ? 0 : INFINITY;
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) /
                             static_cast<long double>(std::nextafter(size, INFINITY) - size));
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Half a unit for the last rounding; what is added to the leading part, at most a two hundredth of it, is summed with 53 bits in some three
// roundings, each at most a unit of the result where that stands at the low end of its binade.
constexpr double kOnce = 0.53;
// The same with a part of a three hundredth and six roundings.
constexpr double kAngle = 0.55;

class Draw {
 public:
  double unit() { return unit_(random_); }
  /// Of either sign, its size between 10^from and 10^to.
  double decades(double from, double to) {
    const double size = std::pow(10.0, from + (to - from) * 0.5 * (unit() + 1));
    return unit() < 0 ? -size : size;
  }

 private:
  std::mt19937_64 random_{31};
  std::uniform_real_distribution<double> unit_{-1, 1};
};

TEST(Elementary, FunctionsOfOneArgumentAreRoundedOnce) {
  Draw draw;
  for (int trial = 0; trial < count(300'000); ++trial) {
    for (const double x : {draw.unit(), 1 - 1e-7 * std::abs(draw.unit()), draw.decades(-12, 0)}) {
      EXPECT_LT(error(asin(x), asinl(x)), 1) << x;
      EXPECT_LT(error(acos(x), acosl(x)), 1) << x;
      EXPECT_LT(error(atanh(x), atanhl(x)), kOnce) << x;
    }
    for (const double x : {4 * draw.unit(), draw.decades(-12, 12)}) {
      EXPECT_LT(error(atan(x), atanl(x)), kOnce) << x;
      EXPECT_LT(error(asinh(x), asinhl(x)), kOnce) << x;
      EXPECT_LT(error(cbrt(x), cbrtl(x)), kOnce) << x;
      EXPECT_LT(error(tanh(x), tanhl(x)), kOnce) << x;
      const double above = 1 + std::abs(x);
      EXPECT_LT(error(acosh(above), acoshl(above)), kOnce) << above;
      EXPECT_LT(error(log1p(std::abs(x)), log1pl(std::abs(x))), kOnce) << x;
    }
    for (const double x : {draw.unit(), 30 * draw.unit(), 700 * draw.unit(), draw.decades(-12, 0)}) {
      EXPECT_LT(error(sinh(x), sinhl(x)), kOnce) << x;
      EXPECT_LT(error(cosh(x), coshl(x)), kOnce) << x;
      EXPECT_LT(error(expm1(x), expm1l(x)), kOnce) << x;
    }
    const double part = 0.99 * draw.unit();
    EXPECT_LT(error(log1p(part), log1pl(part)), kOnce) << part;
    const double cube = std::abs(std::round(1e5 * draw.unit()));
    EXPECT_EQ(cbrt(cube * cube * cube), cube);
  }
}

TEST(Elementary, AnglesOfAnySizeAreReduced) {
  Draw draw;
  for (int trial = 0; trial < count(300'000); ++trial) {
    const double multiple = std::round(1e9 * draw.unit()) * 1.5707963267948966;
    // The C library's long double knows the argument exactly, too.
    for (const double x : {4 * draw.unit(), draw.decades(-9, 5), draw.decades(5, 300), multiple}) {
      // A quotient of two numbers, each off by less than a half before its rounding.
      EXPECT_LT(error(tan(x), tanl(x)), std::abs(x) < 1e5 ? 1.25 : kAngle) << x;
      EXPECT_LT(error(sin(x), sinl(x)), std::abs(x) < 1e5 ? 1 : kAngle) << x;
      EXPECT_LT(error(cos(x), cosl(x)), std::abs(x) < 1e5 ? 1 : kAngle) << x;
    }
  }
  // The double that comes closest to a multiple of π/2 (J.-M. Muller, Elementary Functions, 2016, table 11.1).
  const double close = std::ldexp(6381956970095103.0, 797);
  EXPECT_LT(error(cos(close), cosl(close)), kOnce);
  EXPECT_NEAR(cos(close), -4.68716592425462761112e-19, 1e-34);
}

TEST(Elementary, PowersAreRoundedOnce) {
  Draw draw;
  for (int trial = 0; trial < count(300'000); ++trial) {
    const double x = std::abs(draw.decades(-300, 300)), near = 1 + 1e-3 * draw.unit();
    const double most = 700 / std::abs(std::log(x));
    for (const auto& [base, power] :
         {std::pair{x, most * draw.unit()}, std::pair{std::abs(draw.decades(-3, 3)), 10 * draw.unit()},
          std::pair{near, 1e5 * draw.unit()}, std::pair{near, draw.decades(-300, 0)}}) {
      // powl itself errs by the rounding of its logarithm times the power: less than half a unit of its own 64 bits times 700.
      EXPECT_LT(error(pow(base, power), powl(base, power)), kOnce) << base << " ^ " << power;
    }
    const double whole = std::abs(std::round(1000 * draw.unit()));
    EXPECT_EQ(pow(whole, 2), whole * whole);
    EXPECT_EQ(pow(whole * whole, 0.5), whole);
    EXPECT_EQ(pow(-whole, 3), -whole * whole * whole);
  }
  for (int k = -22; k <= 22; ++k)
    EXPECT_EQ(pow(10, k), k < 0 ? 1 / pow(10, -k) : std::round(pow(10, k))) << k;
}

TEST(Elementary, AnglesOfTwoArgumentsAreRoundedOnce) {
  Draw draw;
  for (int trial = 0; trial < count(300'000); ++trial) {
    const double x = draw.decades(-300, 300);
    for (const double y : {x * draw.decades(-3, 3), draw.decades(-300, 300)}) {
      EXPECT_LT(error(atan2(y, x), atan2l(y, x)), kOnce) << y << ", " << x;
    }
  }
}

TEST(Elementary, OddArgumentsAreWhatTheStandardSays) {
  const double odd[] = {
      0.0,    -0.0, INFINITY, -INFINITY, NAN,  1,      -1,      0.5,    -0.5,   2,
      -2,     3,    -3,       1e5,       -1e5, 1e15,   1e300,   -1e300, 5e-324, -5e-324,
      2e-308, 710,  709.9,    -745,      -746, -800.0, 1.7e308, 1.5,    1e-200, 9007199254740993.0};
  for (const double x : odd) {
    EXPECT_TRUE(same(sin(x), std::sin(x)) || error(sin(x), sinl(x)) < 1) << x;
    EXPECT_TRUE(same(cos(x), std::cos(x)) || error(cos(x), cosl(x)) < 1) << x;
    const auto like = [&](const char* name, double value, double wanted) {
      EXPECT_TRUE(same(value, wanted) || error(value, wanted) <= 1)
          << name << " of " << x << ": " << value << ", not " << wanted;
    };
    like("tan", tan(x), std::tan(x));
    like("asin", asin(x), std::asin(x));
    like("acos", acos(x), std::acos(x));
    like("atan", atan(x), std::atan(x));
    like("sinh", sinh(x), std::sinh(x));
    like("cosh", cosh(x), std::cosh(x));
    like("tanh", tanh(x), std::tanh(x));
    like("asinh", asinh(x), std::asinh(x));
    like("acosh", acosh(x), std::acosh(x));
    like("atanh", atanh(x), std::atanh(x));
    like("exp", exp(x), std::exp(x));
    like("expm1", expm1(x), std::expm1(x));
    like("log", log(x), std::log(x));
    like("log1p", log1p(x), std::log1p(x));
    like("cbrt", cbrt(x), static_cast<double>(cbrtl(x)));  // the library's own has errors of several units
    for (const double y : odd) {
      like("pow", pow(x, y), std::pow(x, y));
      like("pow", pow(y, x), std::pow(y, x));
      like("atan2", atan2(x, y), std::atan2(x, y));
      like("hypot", hypot(x, y), std::hypot(x, y));
    }
  }
}

}  // namespace
}  // namespace judder::elementary
