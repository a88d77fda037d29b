#include "core/elementary.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/double_double.hpp"
#include "core/kernels.hpp"

namespace judder::elementary {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = 0x1p-54;                  ///< f(x) = x to rounding where f(x) = x + O(x²)
constexpr double kSmall = 0x1p-28;                 ///< the same where f(x) = x + O(x³)
constexpr double kOverflow = 709.782712893384;     ///< e^x is infinite beyond
constexpr double kUnderflow = -745.1332191019412;  ///< and zero below
constexpr DoubleDouble kHalfPi{kPiExact.high / 2, kPiExact.low / 2};

/// The nearest whole number; |x| < 2⁵¹.
double nearest(double x) { return (x + kernel::kRound) - kernel::kRound; }

// --- tables ---

constexpr int kPlaces = 64;  ///< of 2^(j/64) and of atan(i/64)

constexpr std::array<DoubleDouble, kPlaces> roots_of_two() {
  std::array<DoubleDouble, kPlaces> out{};
  for (int j = 0; j < kPlaces; ++j) {
    const DoubleDouble x = kLn2Exact * (j / 64.0);
    DoubleDouble term{1, 0}, sum{1, 0};
    for (int n = 1; n < 30; ++n) {
      term = term * x / n;
      sum = sum + term;
    }
    out[static_cast<std::size_t>(j)] = sum;
  }
  return out;
}

/// atan(i/64) as a sum of angles between neighbours: tan of one is (1/64)/(1 + i(i−1)/64²).
constexpr std::array<DoubleDouble, kPlaces + 1> arcs() {
  std::array<DoubleDouble, kPlaces + 1> out{};
  for (int i = 1; i <= kPlaces; ++i) {
    const DoubleDouble u = DoubleDouble{64, 0} / (4096.0 + i * (i - 1));
    const DoubleDouble square = -(u * u);
    DoubleDouble power = u, sum = u;
    for (int n = 3; n < 21; n += 2) {
      power = power * square;
      sum = sum + power / n;
    }
    out[static_cast<std::size_t>(i)] = out[static_cast<std::size_t>(i) - 1] + sum;
  }
  return out;
}

/// By the first seven bits of a mantissa in [1, 2): c near its inverse, and −ln c in two parts, the first a multiple of 2⁻⁴² so that its sum with
/// multiples of ln 2 is exact. Above √2 the mantissa is taken as m/2: next to 1 both sides have c = 1, and ln has no cancellation there.
struct InversePlace {
  double inverse = 1;
  double high = 0;
  double low = 0;
};
constexpr int kMantissas = 128;
constexpr int kBeyondRoot = 53;  ///< first place above √2
constexpr std::array<InversePlace, kMantissas> inverses() {
  std::array<InversePlace, kMantissas> out{};
  for (int i = 1; i < kMantissas - 1; ++i) {
    const double middle = (1 + (i + 0.5) / kMantissas) * (i < kBeyondRoot ? 1.0 : 0.5);
    const double c = static_cast<double>(static_cast<int>(512 / middle + 0.5)) / 512;
    // −ln c = 2 artanh(s), s = (1 − c)/(1 + c), |s| < 0.18.
    const DoubleDouble s = DoubleDouble{1 - c, 0} / (1 + c);
    const DoubleDouble square = s * s;
    DoubleDouble power = s, sum = s;
    for (int n = 3; n < 47; n += 2) {
      power = power * square;
      sum = sum + power / n;
    }
    sum = sum + sum;
    const double high = static_cast<double>(static_cast<std::int64_t>(sum.high * 0x1p42)) * 0x1p-42;
    const DoubleDouble rest = sum + -high;
    out[static_cast<std::size_t>(i)] = {c, high, rest.high};
  }
  return out;
}

constexpr std::array<double, 21> inverse_factorials() {
  std::array<double, 21> out{1};
  double factorial = 1;  // 20! has 62 bits of which the last 18 are zero: exact
  for (int n = 1; n <= 20; ++n) {
    factorial *= n;
    out[static_cast<std::size_t>(n)] = 1 / factorial;
  }
  return out;
}

constexpr std::array<double, 21> kInverseFactorial = inverse_factorials();
constexpr std::array<DoubleDouble, kPlaces> kRoots = roots_of_two();
constexpr std::array<DoubleDouble, kPlaces + 1> kArcs = arcs();
constexpr std::array<InversePlace, kMantissas> kInverses = inverses();

// --- exponentials ---

/// e^x = 2^exponent · root · (1 + q).
struct Exponential {
  DoubleDouble root, q;
  int exponent = 0;
};

/// |x| < 1100.
Exponential exponential(const DoubleDouble& x) {
  // ln2/64 in three parts; the first two have 36 bits, so that their products with n are exact.
  constexpr double first = 0x1.62e42fefa0000p-7, second = 0x1.cf79abc900000p-46,
                   third = 0x1.c7673007e5ed6p-79;
  const double n = nearest(x.high * 92.33248261689366);
  const DoubleDouble r0 = two_sum(x.high - n * first, -(n * second));
  const DoubleDouble r = quick_two_sum(r0.high, r0.low + (x.low - n * third));
  const double a = r.high, y = a * a;
  const double p =
      y * ((0.5 + a * (1.0 / 6)) + y * ((1.0 / 24 + a * (1.0 / 120)) + y * (1.0 / 720 + a * (1.0 / 5040))));
  const int whole = static_cast<int>(n);
  return {kRoots[static_cast<std::size_t>(whole & (kPlaces - 1))], quick_two_sum(a, (r.low + a * r.low) + p),
          whole >> 6};
}

/// value · 2^exponent.
double scaled(double value, int exponent) {
  if (exponent < -1020 || exponent > 1022) return std::ldexp(value, exponent);
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The last rounding of e^x: q is so small that its product with the root needs no more than a double.
double rounded(const Exponential& e) {
  return scaled(e.root.high + (e.root.low + e.root.high * (e.q.high + e.q.low)), e.exponent);
}

/// e^x of |x| < 100.
DoubleDouble unscaled(const Exponential& e) {
  const DoubleDouble value = e.root + e.root * e.q;
  return {scaled(value.high, e.exponent), scaled(value.low, e.exponent)};
}

/// e^x − 1 of |x| < 100.
DoubleDouble exponential_less_one(double x) {
  const Exponential e = exponential({x, 0});
  const DoubleDouble root{scaled(e.root.high, e.exponent), scaled(e.root.low, e.exponent)};
  return (root + -1.0) + root * e.q;
}

// --- logarithms ---

/// ln x; x normal and positive.
DoubleDouble logarithm(const DoubleDouble& x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.high);
  const auto place = static_cast<int>((bits >> 45) & 127);
  const bool beyond = place >= kBeyondRoot;
  const int k = static_cast<int>(bits >> 52) - 1023 + (beyond ? 1 : 0);
  const InversePlace& c = kInverses[static_cast<std::size_t>(place)];
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) |
                                         (beyond ? 0x3fe0000000000000ULL : 0x3ff0000000000000ULL));
  // m c − 1 exactly: c has ten bits, and half of m has 26.
  const double half = std::bit_cast<double>(std::bit_cast<std::uint64_t>(m) & ~std::uint64_t{0x7ffffff});
  const DoubleDouble r0 = two_sum(half * c.inverse - 1, (m - half) * c.inverse);
  const DoubleDouble r = quick_two_sum(r0.high, r0.low + (x.low == 0 ? 0 : scaled(x.low, -k) * c.inverse));
  const double a = r.high, y = a * a;
  const double even = 1.0 / 3 + y * (1.0 / 5 + y * (1.0 / 7 + y * (1.0 / 9 + y * (1.0 / 11))));
  const double odd = 1.0 / 4 + y * (1.0 / 6 + y * (1.0 / 8 + y * (1.0 / 10)));
  const DoubleDouble square = two_product(a, a);
  constexpr double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
  const DoubleDouble sum = two_sum(k * ln2_high + c.high, a);
  const DoubleDouble less = two_sum(sum.high, -0.5 * square.high);
  const double small =
      (k * ln2_low + c.low) + ((r.low - a * r.low) - 0.5 * square.low) + (a * y) * (even - a * odd);
  return quick_two_sum(less.high, (sum.low + less.low) + small);
}

/// ln(1 + u), u > −1.
DoubleDouble logarithm_of_more(const DoubleDouble& u) {
  const DoubleDouble sum = two_sum(1, u.high);
  return logarithm(quick_two_sum(sum.high, sum.low + u.low));
}

// --- angles ---

/// atan t, 0 ≤ t ≤ 1.
DoubleDouble arc(const DoubleDouble& t) {
  const double i = nearest(t.high * kPlaces);
  DoubleDouble u = t;
  if (i != 0) {
    const double c = i / kPlaces;
    const DoubleDouble above = two_sum(t.high - c, t.low);
    // 1 + t c exactly: c has seven bits, so that the product with all but the last 27 bits of t is exact, and with these, too.
    const double most =
        std::bit_cast<double>(std::bit_cast<std::uint64_t>(t.high) & ~std::uint64_t{0x7ffffff});
    const DoubleDouble below = quick_two_sum(1, most * c);
    const double rest = below.low + ((t.high - most) * c + t.low * c);
    const double first = above.high / below.high;
    const DoubleDouble back = two_product(first, below.high);
    u = quick_two_sum(first,
                      (((above.high - back.high) - back.low) + (above.low - first * rest)) / below.high);
  }
  const double a = u.high, y = a * a;
  const double p = (a * y) * (-1.0 / 3 + y * (1.0 / 5 + y * (-1.0 / 7 + y * (1.0 / 9))));
  const DoubleDouble& from = kArcs[static_cast<std::size_t>(i)];
  const DoubleDouble sum = two_sum(from.high, a);
  return quick_two_sum(sum.high, sum.low + (from.low + (u.low + p)));
}

/// 1/a for a double a.
DoubleDouble inverse(double a) {
  const double first = 1 / a;
  const DoubleDouble back = two_product(first, a);
  return {first, ((1 - back.high) - back.low) / a};
}

/// The angle of (x, y), y ≥ 0, not both zero.
DoubleDouble angle(const DoubleDouble& y, const DoubleDouble& x) {
  const bool left = x.high < 0;
  const DoubleDouble across = left ? -x : x;
  if (y.high <= across.high) {
    const DoubleDouble a = arc(y / across);
    return left ? kPiExact + -a : a;
  }
  const DoubleDouble a = arc(across / y);
  return left ? kHalfPi + a : kHalfPi + -a;
}

/// x = n π/2 + r, |r| ≤ π/4, n modulo 4.
struct Reduced {
  int quarter = 0;
  DoubleDouble r;
};

/// 2/π, 32 bits a word: enough for the largest double.
constexpr std::array<std::uint32_t, 40> kTwoOverPi = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

/// Any finite x ≥ 2¹⁶. Bits of 2/π whose product with x is a multiple of four are left out; of the rest seven words are enough: 53 of their 224
/// bits are lost to the bits of x and at most 62 to cancellation, which is the closest that a double comes to a multiple of π/2.
Reduced reduce_large(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52) - 1075;  // x = mantissa · 2^exponent
  const std::uint64_t mantissa = (bits & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
  // Bit i of 2/π (weight 2^-i, i from 1) counts with 2^(exponent − i): the first that does not give a multiple of four is i = exponent − 1.
  const int skipped = exponent > 2 ? exponent - 2 : 0;
  constexpr int words = 7;
  std::array<std::uint32_t, words> part{};  // the most significant first
  for (int w = 0; w < words; ++w) {
    const int first = skipped + 32 * w;
    const auto at = static_cast<std::size_t>(first / 32);
    const int shift = first % 32;
    const std::uint64_t two = (static_cast<std::uint64_t>(kTwoOverPi[at]) << 32) | kTwoOverPi[at + 1];
    part[static_cast<std::size_t>(w)] = static_cast<std::uint32_t>(two >> (32 - shift));
  }
  // product = mantissa · part, nine words, the least significant first.
  std::array<std::uint32_t, words + 2> product{};
  for (int half = 0; half < 2; ++half) {
    const std::uint64_t factor = half == 0 ? mantissa & 0xffffffffU : mantissa >> 32;
    std::uint64_t carry = 0;
    for (int w = 0; w < words; ++w) {
      const auto to = static_cast<std::size_t>(w + half);
      carry += factor * part[static_cast<std::size_t>(words - 1 - w)] + product[to];
      product[to] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    product[static_cast<std::size_t>(words + half)] = static_cast<std::uint32_t>(carry);
  }
  // Its last bit has the weight 2^-point.
  const int point = skipped + 32 * words - exponent;
  const auto bit = [&](int weight) {  // of 2^weight
    const int at = weight + point;
    return at >= 0 && at < 32 * (words + 2) ? (product[static_cast<std::size_t>(at / 32)] >> (at % 32)) & 1U
                                            : 0U;
  };
  Reduced out;
  out.quarter = static_cast<int>(bit(0) + 2 * bit(1));
  const bool up = bit(-1) != 0;  // beyond a half: counted back from the next quarter
  DoubleDouble fraction;
  for (int w = 0; w < 4; ++w) {
    // Words of 32 bits below the point; what is counted back is one less its value, in complement.
    std::uint32_t word = 0;
    for (int b = 1; b <= 32; ++b) word = (word << 1) | (bit(-32 * w - b) ^ (up ? 1U : 0U));
    fraction = fraction + DoubleDouble{std::ldexp(static_cast<double>(word), -32 * (w + 1)), 0};
  }
  if (up) {
    out.quarter = (out.quarter + 1) & 3;
    fraction = -fraction;
  }
  out.r = fraction * kHalfPi;
  return out;
}

/// Any finite x.
Reduced reduce(double x) {
  const double size = std::abs(x);
  if (kernel::trigonometric_range<double, std::int64_t>(x) != 0) {
    const kernel::Angle<double> a = kernel::reduce(x);
    return {static_cast<int>(std::bit_cast<std::int64_t>(a.turns) & 3), quick_two_sum(a.r, a.rest)};
  }
  Reduced out = reduce_large(size);
  if (x < 0) out = {(4 - out.quarter) & 3, -out.r};
  return out;
}

/// sin r and cos r, |r| ≤ π/4, with what their last bits leave out.
struct SineCosine {
  DoubleDouble sine, cosine;
};
SineCosine sine_and_cosine(const DoubleDouble& r) {
  const double a = r.high, z = a * a;
  const DoubleDouble square = two_product(a, a);
  const double s = kInverseFactorial[5] -
                   z * (kInverseFactorial[7] -
                        z * (kInverseFactorial[9] -
                             z * (kInverseFactorial[11] -
                                  z * (kInverseFactorial[13] -
                                       z * (kInverseFactorial[15] -
                                            z * (kInverseFactorial[17] - z * kInverseFactorial[19]))))));
  const double c = -kInverseFactorial[6] +
                   z * (kInverseFactorial[8] -
                        z * (kInverseFactorial[10] -
                             z * (kInverseFactorial[12] -
                                  z * (kInverseFactorial[14] -
                                       z * (kInverseFactorial[16] -
                                            z * (kInverseFactorial[18] - z * kInverseFactorial[20]))))));
  // sin r = r − r³/6 + r⁵ s; cos r = 1 − r²/2 + r⁴/24 + r⁶ c; the first two terms of each with 106 bits.
  const DoubleDouble cube = square * a;
  const DoubleDouble sine = DoubleDouble{a, 0} + -(cube / 6.0) + (z * z * a * s + r.low * (1 - 0.5 * z));
  const DoubleDouble fourth = square * square / 24.0;
  const DoubleDouble cosine = DoubleDouble{1, 0} + -(square * 0.5) + fourth + (z * z * z * c - a * r.low);
  return {sine, cosine};
}

/// sin(x + quarter π/2) where the kernel does not reach.
double far_sine(double x, int quarter) {
  if (!std::isfinite(x)) return kNaN;
  const Reduced at = reduce(x);
  const SineCosine both = sine_and_cosine(at.r);
  const int k = (at.quarter + quarter) & 3;
  const double value = (k & 1) != 0 ? both.cosine.high : both.sine.high;
  return (k & 2) != 0 ? -value : value;
}

// The kernels' sine and cosine before their last rounding.
DoubleDouble sine_parts(const kernel::Angle<double>& a) {
  const double rest = kernel::sine_beside(a);
  return quick_two_sum(a.r, rest);
}
DoubleDouble cosine_parts(const kernel::Angle<double>& a) {
  const double w = 1.0 - a.z * 0.5;
  return quick_two_sum(w, kernel::cosine_beside(a, w));
}

/// asin x = x (1 + z p(z)), z = x² ≤ 1/4: z p. The polynomial is the one through Chebyshev's points, found with 50 digits; it is off by 1e-18.
double arc_sine_rest(double z) {
  const double y = z * z, w = y * y;
  const double first =
      (0.16666666666666666 + z * 0.07500000000000118) + y * (0.044642857142551895 + z * 0.03038194447553234);
  const double second =
      (0.02237215744350722 + z * 0.017352816540325496) + y * (0.01396378001220357 + z * 0.011566459612121669);
  const double third = (0.009621842970100282 + z * 0.009319560794767446) +
                       y * (0.0030448799094556773 + z * 0.019554513336123378);
  return z * (first + w * (second + w * (third + w * (-0.01924167174674304 + z * 0.02961201126495512))));
}

/// √((1 − x)/2), 1/2 < x ≤ 1, with what its last bits leave out.
struct HalfAngle {
  explicit HalfAngle(double x) : square(0.5 * (1 - x)), root(std::sqrt(square)) {
    if (root == 0) return;
    const DoubleDouble back = two_product(root, root);
    low = ((square - back.high) - back.low) / (2 * root);
  }
  double square;  ///< exact
  double root;
  double low = 0;
};

bool is_whole(double y) { return std::floor(y) == y; }
bool is_odd(double y) { return std::abs(y) < 0x1p53 && is_whole(y) && !is_whole(0.5 * y); }

}  // namespace

double sin(double x) {
  return kernel::trigonometric_range<double, std::int64_t>(x) != 0 ? kernel::sine<double, std::int64_t>(x, 0)
                                                                   : far_sine(x, 0);
}

double cos(double x) {
  return kernel::trigonometric_range<double, std::int64_t>(x) != 0 ? kernel::sine<double, std::int64_t>(x, 1)
                                                                   : far_sine(x, 1);
}

double tan(double x) {
  if (!std::isfinite(x)) return kNaN;
  if (std::abs(x) < kSmall) return x;
  if (kernel::trigonometric_range<double, std::int64_t>(x) == 0) {
    const Reduced at = reduce(x);
    const SineCosine both = sine_and_cosine(at.r);
    return ((at.quarter & 1) != 0 ? -(both.cosine / both.sine) : both.sine / both.cosine).high;
  }
  const kernel::Angle<double> a = kernel::reduce(x);
  const DoubleDouble sine = sine_parts(a), cosine = cosine_parts(a);
  const bool odd = (std::bit_cast<std::int64_t>(a.turns) & 1) != 0;
  const DoubleDouble above = odd ? -cosine : sine, below = odd ? sine : cosine;
  const double first = above.high / below.high;
  const DoubleDouble back = two_product(first, below.high);
  return first + (((above.high - back.high) - back.low) + (above.low - first * below.low)) / below.high;
}

double asin(double x) {
  const double size = std::abs(x);
  if (!(size <= 1)) return kNaN;
  if (size < kSmall) return x;
  if (size <= 0.5) return x + x * arc_sine_rest(x * x);
  // asin x = π/2 − 2 asin √((1 − x)/2)
  const HalfAngle half(size);
  const double rest = half.root * arc_sine_rest(half.square) + half.low;
  const DoubleDouble value = two_sum(kHalfPi.high, -2 * half.root);
  return std::copysign(value.high + (value.low + (kHalfPi.low - 2 * rest)), x);
}

double acos(double x) {
  const double size = std::abs(x);
  if (!(size <= 1)) return kNaN;
  if (size <= 0.5) {
    const DoubleDouble value = two_sum(kHalfPi.high, -x);
    return value.high + (value.low + (kHalfPi.low - x * arc_sine_rest(x * x)));
  }
  const HalfAngle half(size);
  const double rest = half.root * arc_sine_rest(half.square) + half.low;
  if (x > 0) return 2 * (half.root + rest);
  const DoubleDouble value = two_sum(kPiExact.high, -2 * half.root);
  return value.high + (value.low + (kPiExact.low - 2 * rest));
}

double atan(double x) {
  const double size = std::abs(x);
  if (std::isnan(x) || size < kSmall) return x;
  if (size > 0x1p60) return std::copysign(kHalfPi.high, x);
  const DoubleDouble value = size <= 1 ? arc({size, 0}) : kHalfPi + -arc(inverse(size));
  return std::copysign(value.high, x);
}

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  const bool left = std::signbit(x);
  if (y == 0) return std::copysign(left ? kPiExact.high : 0.0, y);
  if (x == 0) return std::copysign(kHalfPi.high, y);
  if (std::isinf(x)) {
    const double quarter = kHalfPi.high / 2;
    if (std::isinf(y)) return std::copysign(left ? 3 * quarter : quarter, y);
    return std::copysign(left ? kPiExact.high : 0.0, y);
  }
  if (std::isinf(y)) return std::copysign(kHalfPi.high, y);
  int up = 0, across = 0;
  const double high = std::frexp(std::abs(y), &up), wide = std::frexp(x, &across);
  const int difference = up - across;
  if (difference > 70) return std::copysign(kHalfPi.high, y);
  if (difference < -70) return left ? std::copysign(kPiExact.high, y) : y / x;
  return std::copysign(angle({std::ldexp(high, difference), 0}, {wide, 0}).high, y);
}

double exp(double x) {
  if (kernel::exponential_range<double, std::int64_t>(x) != 0)
    return kernel::exponential<double, std::int64_t>(x);
  if (std::isnan(x)) return x;
  if (x > kOverflow) return kInfinity;
  if (x < kUnderflow) return 0;
  return rounded(exponential({x, 0}));
}

double expm1(double x) {
  if (std::isnan(x) || std::abs(x) < kTiny) return x;
  if (x > 60) return x > kOverflow ? kInfinity : rounded(exponential({x, 0}));  // the one is below 86 bits
  if (x < -60) return -1;
  return exponential_less_one(x).high;
}

double log(double x) {
  if (kernel::logarithm_range<double, std::int64_t>(x) != 0)
    return kernel::logarithm<double, std::int64_t>(x);
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNaN;
  if (x == kInfinity) return x;
  return (logarithm({x * 0x1p54, 0}) + -(kLn2Exact * 54.0)).high;
}

double log1p(double x) {
  if (x == -1) return -kInfinity;
  if (!(x > -1)) return kNaN;
  if (x == kInfinity || std::abs(x) < kTiny) return x;
  return logarithm_of_more({x, 0}).high;
}

double sinh(double x) {
  const double size = std::abs(x);
  if (!(size < kInfinity) || size < kSmall) return x;
  if (size > kOverflow + 1) return std::copysign(kInfinity, x);
  if (size > 40) {
    Exponential e = exponential({size, 0});
    --e.exponent;
    return std::copysign(rounded(e), x);
  }
  const DoubleDouble more = exponential_less_one(size);
  return std::copysign(0.5 * (more + more / (more + 1.0)).high, x);
}

double cosh(double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  if (size > kOverflow + 1) return kInfinity;
  Exponential e = exponential({size, 0});
  if (size > 40) {
    --e.exponent;
    return rounded(e);
  }
  const DoubleDouble value = unscaled(e);
  return 0.5 * (value + DoubleDouble{1, 0} / value).high;
}

double tanh(double x) {
  const double size = std::abs(x);
  if (std::isnan(x) || size < kSmall) return x;
  if (size > 22) return std::copysign(1.0, x);
  const DoubleDouble more = exponential_less_one(2 * size);
  return std::copysign((more / (more + 2.0)).high, x);
}

double asinh(double x) {
  const double size = std::abs(x);
  if (!(size < kInfinity) || size < kSmall) return x;
  if (size > 0x1p30) return std::copysign((logarithm({size, 0}) + kLn2Exact).high, x);
  const DoubleDouble square = two_product(size, size);
  const DoubleDouble more = square / (sqrt(square + 1.0) + 1.0) + size;
  return std::copysign(logarithm_of_more(more).high, x);
}

double acosh(double x) {
  if (!(x >= 1)) return kNaN;
  if (x == kInfinity) return x;
  if (x == 1) return 0;
  if (x > 0x1p30) return (logarithm({x, 0}) + kLn2Exact).high;
  const DoubleDouble above = two_sum(x, -1);
  return logarithm_of_more(above + sqrt(above * (above + 2.0))).high;
}

double atanh(double x) {
  const double size = std::abs(x);
  if (size == 1) return std::copysign(kInfinity, x);
  if (!(size < 1)) return kNaN;
  if (size < kSmall) return x;
  return std::copysign(0.5 * logarithm_of_more(DoubleDouble{2 * size, 0} / two_sum(1, -size)).high, x);
}

double cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  double m = std::frexp(std::abs(x), &exponent);  // in [1/2, 1)
  const int rest = ((exponent % 3) + 3) % 3;
  m = std::ldexp(m, rest);
  double root = m < 1 ? 0.9 : m < 2 ? 1.13 : 1.43;  // within 15 %: four steps of Newton reach rounding
  for (int step = 0; step < 5; ++step) root -= (root - m / (root * root)) / 3;
  const DoubleDouble cube = two_product(root, root) * root;
  root += (m + -cube.high - cube.low) / (3 * root * root);
  return std::copysign(std::ldexp(root, (exponent - rest) / 3), x);
}

double hypot(double a, double b) {
  a = std::abs(a);
  b = std::abs(b);
  if (a == kInfinity || b == kInfinity) return kInfinity;
  const double sum = a * a + b * b;
  if (kernel::squares_range<double, std::int64_t>(sum) != 0) return std::sqrt(sum);
  if (std::isnan(sum)) return sum;
  const double large = a < b ? b : a;
  if (large == 0) return 0;
  const double scale = large > 1 ? 0x1p-600 : 0x1p600;
  a *= scale;
  b *= scale;
  return std::sqrt(a * a + b * b) / scale;
}

double rough_pow(double x, double p) { return exp(p * log(x)); }

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  const bool odd = is_odd(y);
  double size = std::abs(x);
  if (std::isinf(y)) return size == 1 ? 1 : (size > 1) == (y > 0) ? kInfinity : 0;
  const double sign = std::signbit(x) && odd ? -1.0 : 1.0;
  if (size == 0 || size == kInfinity) return sign * ((size == 0) == (y > 0) ? 0 : kInfinity);
  if (x < 0 && !is_whole(y)) return kNaN;
  if (size == 1) return sign;
  DoubleDouble logarithm_of_size;
  if (size < std::numeric_limits<double>::min()) {
    logarithm_of_size = logarithm({size * 0x1p54, 0}) + -(kLn2Exact * 54.0);
  } else {
    logarithm_of_size = logarithm({size, 0});
  }
  const double power = y * logarithm_of_size.high;
  if (power > kOverflow + 1) return sign * kInfinity;
  if (power < kUnderflow - 1) return sign * 0.0;
  return sign * rounded(exponential(logarithm_of_size * y));
}

}  // namespace judder::elementary
