// The functions with kernels: how exact they are, and that a number has the same bits alone and in a lane.
#include "expr/functions.hpp"

#include <bit>

#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

typedef double Two __attribute__((vector_size(16)));
typedef long long TwoWhole __attribute__((vector_size(16)));

/// In units of the last place of the exact value; the C library's long double has eleven more bits.
double error(double value, long double exact) {
  const double size = std::abs(static_cast<double>(exact));
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) /
                             static_cast<long double>(std::nextafter(size, INFINITY) - size));
}

TEST(Functions, AreWithinOneUnitInTheLastPlace) {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> unit(-1, 1), decade(-9, 5), far(-300, 300);
  for (int trial = 0; trial < count(1'000'000); ++trial) {
    // One turn, all sizes, and next to multiples of π/2, where sin or cos almost vanishes.
    const double multiple = M_PI / 2 * static_cast<double>(static_cast<int>(random() % 60'000));
    const double angles[] = {4 * unit(random), std::copysign(std::pow(10, decade(random)), unit(random)),
                             multiple, std::nextafter(multiple, 1e9)};
    for (const double x : angles) {
      EXPECT_LT(error(apply(Function::sin, x), sinl(x)), 1) << x;
      EXPECT_LT(error(apply(Function::cos, x), cosl(x)), 1) << x;
    }
    for (const double x : {unit(random), 700 * unit(random)})
      EXPECT_LT(error(apply(Function::exp, x), expl(x)), 1) << x;
    for (const double x : {1 + 0.4 * unit(random), 1 + 1e-6 * unit(random), std::pow(10, far(random))})
      EXPECT_LT(error(apply(Function::log, x), logl(x)), 1) << x;
    const double a = std::pow(10, far(random) / 3), b = a * std::pow(10, unit(random));
    EXPECT_LT(error(hypotenuse(a, b), hypotl(a, b)), 1.25) << a << ", " << b;
    EXPECT_EQ(hypotenuse(-a, 0), a);
  }
}

TEST(Functions, FollowTheLibraryWhereKernelsDoNotReach) {
  const double odd[] = {0.0,     -0.0,   INFINITY, -INFINITY, NAN, 1e5,    -1e5,   1e300,  5e-324,
                        -5e-324, 2e-308, -1,       700,       710, -745.0, -800.0, 1.7e308};
  const auto same = [](double a, double b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  for (const double x : odd) {
    EXPECT_TRUE(same(apply(Function::sin, x), std::sin(x))) << x;
    EXPECT_TRUE(same(apply(Function::cos, x), std::cos(x))) << x;
    EXPECT_TRUE(same(apply(Function::exp, x), std::exp(x))) << x;
    EXPECT_TRUE(same(apply(Function::log, x), std::log(x))) << x;
    for (const double y : odd) {
      const double wanted = std::hypot(x, y), got = hypotenuse(x, y);
      EXPECT_TRUE(same(got, wanted) || error(got, wanted) <= 1) << x << ", " << y;
    }
  }
}

TEST(Functions, KernelsHaveTheSameBitsInALane) {
  std::mt19937_64 random(29);
  std::uniform_real_distribution<double> decade(-9, 5), unit(-1, 1);
  for (int trial = 0; trial < count(1'000'000); ++trial) {
    Two x{}, y{};
    for (int i = 0; i < 2; ++i) {
      x[i] = std::copysign(std::pow(10, decade(random)), unit(random));
      y[i] = 600 * unit(random);
    }
    if (trial == 0) x[0] = -0.0;
    const Two size = (Two)((TwoWhole)x & 0x7fffffffffffffffLL);
    const Two s = kernel::sine<Two, TwoWhole>(x, 0), c = kernel::sine<Two, TwoWhole>(x, 1),
              e = kernel::exponential<Two, TwoWhole>(y), l = kernel::logarithm<Two, TwoWhole>(size);
    for (int i = 0; i < 2; ++i) {
      const auto same = [&](double lane, double alone) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(lane), std::bit_cast<std::uint64_t>(alone))
            << "trial " << trial << ", x = " << x[i] << ", y = " << y[i];
      };
      same(s[i], apply(Function::sin, x[i]));
      same(c[i], apply(Function::cos, x[i]));
      same(e[i], apply(Function::exp, y[i]));
      if (size[i] > 0) same(l[i], apply(Function::log, size[i]));
    }
  }
}

}  // namespace
}  // namespace judder::expr::test
