#include "engines/numeric/roots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/double_double.hpp"

namespace judder::engines::numeric {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxCoefficients = kMaxRootDegree + 1;
constexpr int kMaxRows =
    24;  ///< Bernstein coefficients and last Chebyshev coefficients of the highest degree
constexpr int kMaxDepth = 30;  ///< below 2⁻³⁰ curvature drowns in the rounding of the coefficients

using Coefficients = std::array<double, kMaxCoefficients>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

int sign_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// C(n, k) exactly; n is at most 32, so that no product on the way has more than 36 bits.
double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;  // C(n − k + i, i), whole at every step
  return value;
}

/// cos(π m/(2 q)) with 106 bits: by symmetry to at most π/4, there by its series or by that of the sine.
DoubleDouble cosine_of_share(int m, int q) {
  m = ((m % (4 * q)) + 4 * q) % (4 * q);
  if (m > 2 * q) m = 4 * q - m;
  if (m > q) return -cosine_of_share(2 * q - m, q);
  const bool by_sine = 2 * m > q;
  const DoubleDouble angle = kPiExact * static_cast<double>(by_sine ? q - m : m) / (2.0 * q);
  const DoubleDouble square = -(angle * angle);
  DoubleDouble term = by_sine ? angle : DoubleDouble{1, 0}, sum = term;
  for (int n = by_sine ? 2 : 1; n < 32; n += 2) {
    term = term * square / static_cast<double>(n * (n + 1));
    sum = sum + term;
  }
  return sum;
}

/// out = A x by columns, so that the rows fill vector registers; each sum runs over ascending columns all the
/// same.
template <int Columns, int Rows>
void multiply(const double* a, const double* x, double* out) {
  std::array<double, Rows> sum{};
  for (int j = 0; j < Columns; ++j) {
    for (int m = 0; m < Rows; ++m) sum[at(m)] += a[j * Rows + m] * x[j];
  }
  for (int m = 0; m < Rows; ++m) out[m] = sum[at(m)];
}

/// The root of a polynomial that changes sign exactly once in (lower, upper): Newton kept inside the
/// shrinking bracket.
double bracketed_root(const double* bernstein, int degree, double lower, double upper, double at_lower,
                      double at_upper) {
  double u = lower + (upper - lower) * (at_lower / (at_lower - at_upper));
  const bool rising = at_lower < at_upper;
  double last_step = 1;
  for (int iteration = 0; iteration < 80; ++iteration) {
    double slope = 0;
    const double value = bernstein_value(bernstein, degree, u, &slope);
    if (value == 0) return u;
    ((value < 0) == rising ? lower : upper) = u;
    double next = u - value / slope;
    const double step = std::abs(next - u);
    // Newton converges quadratically: small steps that do not shrink any more are the rounding of the
    // coefficients.
    if (step <= 0.5 * kEpsilon * u || (last_step < 1e-8 && step > 0.25 * last_step)) {
      return std::clamp(next, lower, upper);
    }
    last_step = step;
    if (!(next > lower && next < upper)) {
      next = 0.5 * (lower + upper);
      last_step = 1;
      if (!(next > lower && next < upper)) return next;
    }
    u = next;
  }
  return u;
}

/// Walks through the pieces of [0, 1] from left to right and writes down what happens to the sign.
class Walk {
 public:
  Walk(int degree, double band, double floor, double start, RootList& roots)
      : degree_(degree), band_(band), floor_(floor), sign_(sign_of(start)), roots_(roots) {}

  /// A piece on which the polynomial stays outside the band.
  void outside(int sign) {
    resolve(sign);
    direction_ = 0;
  }

  /// A piece that is zero to rounding.
  void flat(double a, double b) {
    if (!pending_) zero_begin_ = a;
    pending_ = true;
    zero_end_ = b;
    direction_ = 0;
  }

  /// The part u ∈ [lower, upper] of the piece [a, b] with coefficients c, monotone.
  void monotone(const double* c, double a, double b, double lower, double upper, double at_lower,
                double at_upper) {
    const int direction = sign_of(at_upper - at_lower);
    const double begin = a + (b - a) * lower;
    const double end = a + (b - a) * upper;
    const bool turned = direction_ != 0 && direction == -direction_;
    if (turned && !pending_ && std::abs(at_lower) <= band_) {
      roots_.push({.theta = begin, .kind = RootKind::graze, .value = at_lower});
    }
    direction_ = direction;
    if (std::abs(at_upper) <= floor_) {
      if (!pending_) zero_begin_ = end;
      pending_ = true;
      zero_end_ = end;
      zero_slope_ = slope_at(c, upper) / (b - a);
      return;
    }
    const int sign = sign_of(at_upper);
    if (!pending_ && sign_ == -sign) {
      const double u = bracketed_root(c, degree_, lower, upper, at_lower, at_upper);
      const double theta = std::min(a + (b - a) * u, 1.0);
      roots_.push({.theta = theta, .kind = kind(sign), .value = 0, .slope = slope_at(c, u) / (b - a)});
      sign_ = sign;
      return;
    }
    resolve(sign);
  }

  /// After the last piece, with p(1).
  void finish(double end_value) {
    if (!pending_ || sign_ == 0) return;
    const int sign = sign_of(end_value);
    if (zero_begin_ < zero_end_) {
      // A zone of zero width to rounding that reaches the end: a touch, wherever the last bits point.
      roots_.push({.theta = 0.5 * (zero_begin_ + zero_end_), .kind = RootKind::graze, .value = 0});
    }
    if (sign != sign_) roots_.push({.theta = 1, .kind = kind(-sign_), .value = 0, .slope = zero_slope_});
  }

 private:
  [[nodiscard]] static RootKind kind(int sign_after) {
    return sign_after > 0 ? RootKind::rising : RootKind::falling;
  }

  [[nodiscard]] double slope_at(const double* c, double u) const {
    double slope = 0;
    (void)bernstein_value(c, degree_, u, &slope);
    return slope;
  }

  /// The sign is known again after a zone where rounding hid it.
  void resolve(int sign) {
    if (pending_ && sign_ != 0) {
      const double theta = 0.5 * (zero_begin_ + zero_end_);
      if (sign == sign_) {
        roots_.push({.theta = theta, .kind = RootKind::graze, .value = 0});
      } else {
        roots_.push({.theta = theta, .kind = kind(sign), .value = 0, .slope = zero_slope_});
      }
    }
    pending_ = false;
    sign_ = sign;
  }

  int degree_;
  double band_;
  double floor_;
  int sign_;           ///< before the current zone of zeros; 0: the polynomial starts with a zero
  int direction_ = 0;  ///< of the last monotone piece; 0: unknown or of no interest
  bool pending_ = false;
  double zero_begin_ = 0;
  double zero_end_ = 0;
  double zero_slope_ = 0;
  RootList& roots_;
};

/// Not initialised: there is a stack of them, of which few are used.
struct Piece {
  double a, b;
  int depth;
  Coefficients c;
};

/// Splits at the middle: `piece` becomes the left half, `right` the right half.
void halve(Piece& piece, Piece& right, int degree) {
  const double middle = 0.5 * (piece.a + piece.b);
  right.a = middle;
  right.b = piece.b;
  right.depth = ++piece.depth;
  piece.b = middle;
  Coefficients work;
  std::copy_n(piece.c.begin(), degree + 1, work.begin());
  for (int level = 0; level < degree; ++level) {
    right.c[at(degree - level)] = work[at(degree - level)];
    piece.c[at(level)] = work[0];
    for (int i = 0; i < degree - level; ++i) work[at(i)] = 0.5 * (work[at(i)] + work[at(i + 1)]);
  }
  piece.c[at(degree)] = work[0];
  right.c[0] = work[0];
}

enum class Shape { outside_above, outside_below, flat, monotone, one_extremum, unclear };

Shape classify(const Piece& piece, int degree, double band, double floor) {
  bool above = true;
  bool below = true;
  double largest = 0;
  for (int i = 0; i <= degree; ++i) {
    const double value = piece.c[at(i)];
    above = above && value > band && value > floor;
    below = below && value < -band && value < -floor;
    largest = std::max(largest, std::abs(value));
  }
  if (above) return Shape::outside_above;
  if (below) return Shape::outside_below;
  if (largest <= floor) return Shape::flat;
  bool rising = true;
  bool falling = true;
  for (int i = 0; i < degree; ++i) {
    const double difference = piece.c[at(i + 1)] - piece.c[at(i)];
    rising = rising && difference >= 0;
    falling = falling && difference <= 0;
  }
  if (rising || falling || piece.depth >= kMaxDepth) return Shape::monotone;
  bool convex = true;
  bool concave = true;
  for (int i = 0; i + 1 < degree; ++i) {
    const double bend = (piece.c[at(i + 2)] - piece.c[at(i + 1)]) - (piece.c[at(i + 1)] - piece.c[at(i)]);
    convex = convex && bend >= 0;
    concave = concave && bend <= 0;
  }
  return convex || concave ? Shape::one_extremum : Shape::unclear;
}

void walk_through_extremum(const Piece& piece, int degree, Walk& walk) {
  Coefficients rate{};
  for (int i = 0; i < degree; ++i) rate[at(i)] = piece.c[at(i + 1)] - piece.c[at(i)];
  const double first = rate[0];
  const double last = rate[at(degree - 1)];
  const double begin = piece.c[0];
  const double end = piece.c[at(degree)];
  // Differences of one sign would have been monotone, so the ends of the monotone rate have opposite signs.
  const double u = bracketed_root(rate.data(), degree - 1, 0, 1, first, last);
  const double extremum = bernstein_value(piece.c.data(), degree, u);
  walk.monotone(piece.c.data(), piece.a, piece.b, 0, u, begin, extremum);
  walk.monotone(piece.c.data(), piece.a, piece.b, u, 1, extremum, end);
}

}  // namespace

double bernstein_value(const double* bernstein, int degree, double theta, double* slope) {
  Coefficients work;
  for (int i = 0; i <= degree; ++i) work[at(i)] = bernstein[i];
  const double rest = 1 - theta;
  for (int level = degree; level > 1; --level) {
    for (int i = 0; i < level; ++i) work[at(i)] = rest * work[at(i)] + theta * work[at(i + 1)];
  }
  if (degree == 0) {
    if (slope != nullptr) *slope = 0;
    return work[0];
  }
  if (slope != nullptr) *slope = degree * (work[1] - work[0]);
  return rest * work[0] + theta * work[1];
}

namespace detail {

bool isolate_roots(const double* bernstein, int degree, double band, RootList& roots) {
  std::array<Piece, kMaxDepth + 2> stack;
  Piece& whole = stack[0];
  whole.a = 0;
  whole.b = 1;
  whole.depth = 0;
  double largest = 0;
  for (int i = 0; i <= degree; ++i) {
    if (!std::isfinite(bernstein[i])) return false;
    whole.c[at(i)] = bernstein[i];
    largest = std::max(largest, std::abs(bernstein[i]));
  }
  const double floor = 8 * kEpsilon * largest;
  Walk walk(degree, band, floor, bernstein[0], roots);
  int top = 0;
  while (top >= 0) {
    Piece& piece = stack[at(top)];
    switch (classify(piece, degree, band, floor)) {
      case Shape::outside_above:
        walk.outside(1);
        --top;
        break;
      case Shape::outside_below:
        walk.outside(-1);
        --top;
        break;
      case Shape::flat:
        walk.flat(piece.a, piece.b);
        --top;
        break;
      case Shape::monotone:
        walk.monotone(piece.c.data(), piece.a, piece.b, 0, 1, piece.c[0], piece.c[at(degree)]);
        --top;
        break;
      case Shape::one_extremum:
        walk_through_extremum(piece, degree, walk);
        --top;
        break;
      case Shape::unclear: {
        Piece& left = stack[at(top + 1)];
        left.a = piece.a;
        left.b = piece.b;
        left.depth = piece.depth;
        std::copy_n(piece.c.begin(), degree + 1, left.c.begin());
        halve(left, piece, degree);
        ++top;
        break;
      }
    }
  }
  walk.finish(bernstein[degree]);
  return true;
}

}  // namespace detail

void close_at_end(double end_value, int start_sign, RootList& roots) {
  int sign = start_sign;
  for (const Root& root : roots) {
    if (root.kind == RootKind::falling) sign = -1;
    if (root.kind == RootKind::rising) sign = 1;
  }
  const bool ended_at_end = !roots.empty() && roots[roots.size() - 1].theta == 1;
  if (ended_at_end || sign_of(end_value) == sign) return;
  roots.push({.theta = 1, .kind = sign > 0 ? RootKind::falling : RootKind::rising});
}

SamplingGrid::SamplingGrid(int degree) : degree_(degree) {
  const int points = degree + 1;
  tail_rows_ = degree >= 8 ? 6 : 4;
  theta_.resize(at(points));
  rows_ = points + tail_rows_ + (points + tail_rows_) % 2;
  matrix_.assign(at(points * rows_), 0.0);
  std::vector<DoubleDouble> row(at(points));
  for (int j = 0; j < points; ++j) {
    // sin² of half the angle, for which the smallest point, which powers of θ divide, is exact to rounding: sin x = cos(π/2 − x).
    const DoubleDouble half = cosine_of_share(2 * points - (2 * j + 1), 2 * points);
    theta_[at(j)] = (half * half).high;
    // With x = 2θ − 1 = −cos(angle): T_k(x) = (−1)^k cos(k angle), c_k = (2 − δ_k0)/(N+1) Σ_j f_j T_k(x_j).
    std::fill(row.begin(), row.end(), DoubleDouble{});
    for (int k = 0; k < points; ++k) {
      const double weight = (k == 0 ? 1 : 2) * (k % 2 == 0 ? 1 : -1);
      const DoubleDouble entry =
          cosine_of_share(k * (2 * j + 1), points) * weight / static_cast<double>(points);
      const int tail_row = degree - k;
      if (tail_row < tail_rows_) matrix_[at(j * rows_ + points + tail_row)] = entry.high;
      // T_k in the Bernstein basis of degree k is (−1)^(k−i) C(2k, 2i)/C(k, i); raised to degree N by
      // b_m = Σ_i C(k, i) C(N−k, m−i)/C(N, m) b_i.
      for (int m = 0; m <= degree; ++m) {
        DoubleDouble raised;
        for (int i = std::max(0, m - (degree - k)); i <= std::min(k, m); ++i) {
          const double alternate = (k - i) % 2 == 0 ? 1 : -1;
          raised = raised + two_product(alternate * binomial(2 * k, 2 * i), binomial(degree - k, m - i));
        }
        row[at(m)] = row[at(m)] + entry * raised / binomial(degree, m);
      }
    }
    for (int m = 0; m <= degree; ++m) matrix_[at(j * rows_ + m)] = row[at(m)].high;
  }
  for (int m = 0; m <= degree; ++m) {
    double sum = 0;
    for (int j = 0; j < points; ++j) sum += std::abs(matrix_[at(j * rows_ + m)]);
    rounding_ = std::max(rounding_, kEpsilon * sum);
  }
}

const SamplingGrid& SamplingGrid::of_degree(int degree) {
  static const std::array<SamplingGrid, 4> grids{SamplingGrid(4), SamplingGrid(8), SamplingGrid(12),
                                                 SamplingGrid(16)};
  return grids[at(degree / 4 - 1)];
}

Interpolation SamplingGrid::interpolate(const double* samples, int stride, int zeros,
                                        double* bernstein) const {
  const int points = degree_ + 1;
  Coefficients g{};
  Interpolation result;
  double zero = 0;  // or not a number, when a sample is not finite
  for (int j = 0; j < points; ++j) {
    double value = samples[j * stride];
    for (int k = 0; k < zeros; ++k) value /= theta_[at(j)];
    g[at(j)] = value;
    zero += 0 * value;
    result.magnitude = std::max(result.magnitude, std::abs(value));
  }
  std::array<double, kMaxRows> product;
  switch (degree_) {
    case 4:
      multiply<5, 10>(matrix_.data(), g.data(), product.data());
      break;
    case 8:
      multiply<9, 16>(matrix_.data(), g.data(), product.data());
      break;
    case 12:
      multiply<13, 20>(matrix_.data(), g.data(), product.data());
      break;
    default:
      multiply<17, 24>(matrix_.data(), g.data(), product.data());
      break;
  }
  for (int m = 0; m < points; ++m) bernstein[m] = product[at(m)];
  // Pairs of coefficients, so that an even or odd function does not look like a decayed one.
  std::array<double, 3> pair{};
  for (int k = 0; k < tail_rows_; ++k) {
    pair[at(k / 2)] = std::max(pair[at(k / 2)], std::abs(product[at(points + k)]));
  }
  // The tail is taken as a geometric series with the slower decay seen, and only half as fast: where a fast
  // decay gives way to a slower one (a nearby singularity behind an entire function) the last coefficients do
  // not show it yet. A last pair that is small by accident is replaced by what the two before it foretell.
  // Without decay the last pair is the estimate.
  const bool three_pairs = tail_rows_ == 6 && pair[1] < pair[2];
  const double last = three_pairs ? std::max(pair[0], pair[1] * (pair[1] / pair[2])) : pair[0];
  const double decay = pair[1] > 0 ? last / pair[1] : (last > 0 ? 1.0 : 0.0);
  const double per_term = std::sqrt(std::min(decay, 1.0));
  const double truncation = per_term < 0.5 ? 2 * last * per_term / (1 - per_term) : 2 * last;
  const double error = truncation + rounding_ * result.magnitude + zero;
  result.error = std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace judder::engines::numeric
