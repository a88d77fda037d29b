// Zeros of a function along one step, none overlooked.
//
// An event function f is known only by its values at points of a step, θ ∈ [0, 1]. It is sampled at the N + 1
// interior Chebyshev points θ_j = (1 − cos((2j+1)π/(2N+2)))/2 and replaced by its interpolating polynomial in
// Bernstein form,
//
//     p(θ) = Σ b_i C(N,i) θ^i (1−θ)^(N−i),        min b_i ≤ p(θ) ≤ max b_i on [0, 1],
//
// so that a look at the coefficients decides that there is no zero, and subdivision finds all of them
// otherwise. The error of the replacement is estimated from the decay of the Chebyshev coefficients; a caller
// for whom it is too large shortens the step. The estimate was exceeded twofold in 1 of 10 000 random smooth
// functions for N ≥ 8; five samples (N = 4) are fooled by 1 of 100 that vary strongly over the step and are
// for nearly polynomial functions.
//
// Known zeros. After an event f vanishes at θ = 0 with a known order k (1 after an impact, 2 or 3 at
// lift-off). Then f(θ) = θ^k g(θ), and g is interpolated instead, from the samples f(θ_j)/θ_j^k: no interval
// after the event is skipped. Bands and errors are then those of g; |f| ≤ |g|, and the error of f at θ is θ^k
// times that of g. A k that is too small leaves g(0) = 0 up to rounding, whose sign means nothing: k must be
// the true order.
//
// Which zeros. All of (0, 1]: a zero at 0 belongs to the step before, a zero at 1 to this one. A polynomial
// that is positive at 1, by however little, has no zero there; the next step finds it. p(1) and the
// function's own value at the end of the step may differ in the last bits, and the caller that continues from
// the latter passes it to close_at_end().
//
// G. Farin, Curves and Surfaces for CAGD, 5th ed. 2002, ch. 5; L. N. Trefethen, Approximation Theory and
// Approximation Practice 2013.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace judder::engines::numeric {

inline constexpr int kMaxRootDegree = 16;

enum class RootKind {
  falling,  ///< from positive to negative
  rising,   ///< from negative to positive
  graze,    ///< an extremum within the band of zero, or a double zero to rounding
};

struct Root {
  double theta = 0;  ///< in (0, 1]
  RootKind kind = RootKind::falling;
  double value = 0;  ///< graze: the extremum (of the other sign: a double crossing of that depth); else 0
  double slope = 0;  ///< dp/dθ at the root; 0 for a graze
};

/// Sorted by θ. A polynomial has fewer entries than the capacity; should rounding produce more, the earliest
/// are kept.
class RootList {
 public:
  void clear() { size_ = 0; }
  void push(const Root& root) {
    if (size_ < static_cast<int>(roots_.size())) roots_[static_cast<std::size_t>(size_++)] = root;
  }
  /// Forgets a fall that is not followed by a rise, with what comes after it.
  void drop_last_fall() {
    int last = size_;
    while (last > 0 && (*this)[last - 1].kind == RootKind::graze) --last;
    if (last > 0 && (*this)[last - 1].kind == RootKind::falling) size_ = last - 1;
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Root& operator[](int i) const { return roots_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Root* begin() const { return roots_.data(); }
  [[nodiscard]] const Root* end() const { return roots_.data() + size_; }

 private:
  std::array<Root, 2 * kMaxRootDegree + 4> roots_{};
  int size_ = 0;
};

/// What is known about an interpolating polynomial.
struct Interpolation {
  double error = 0;      ///< estimate of max |g − p|, truncation and rounding together
  double magnitude = 0;  ///< largest |sample| of g
};

/// The points of one degree and the matrices that go with them. Several functions share the grid.
class SamplingGrid {
 public:
  /// degree: 4, 8, 12 or 16. Allocates.
  explicit SamplingGrid(int degree);
  /// The grid of this degree, made at the first request of the process and never changed: its matrices cost as much as a short run.
  [[nodiscard]] static const SamplingGrid& of_degree(int degree);

  [[nodiscard]] int degree() const { return degree_; }
  [[nodiscard]] int points() const { return degree_ + 1; }
  [[nodiscard]] std::span<const double> thetas() const { return theta_; }
  [[nodiscard]] double theta(int j) const { return theta_[static_cast<std::size_t>(j)]; }

  /// From f(θ_0) … f(θ_N), `stride` apart, with a known zero of order `zeros` (0 to 3) at θ = 0, to the N + 1
  /// Bernstein coefficients of g. Not a number in a sample gives an infinite error.
  Interpolation interpolate(const double* samples, int stride, int zeros, double* bernstein) const;

 private:
  int degree_;
  double rounding_ = 0;  ///< ε times the largest row sum of the Bernstein matrix
  std::vector<double> theta_;
  std::vector<double>
      matrix_;  ///< one column per sample: Bernstein coefficients, then c_N, c_{N−1}, … ; rows_ long
  int tail_rows_ = 0;  ///< Chebyshev coefficients used
  int rows_ = 0;       ///< even
};

namespace detail {
bool isolate_roots(const double* bernstein, int degree, double band, RootList& roots);
}

/// All zeros in (0, 1] of the polynomial with these degree + 1 Bernstein coefficients (degree ≤
/// kMaxRootDegree), and all its extrema in (0, 1) with |p| ≤ band. Zeros are exact to the rounding of the
/// coefficients, 8 ε max|b_i|/|p'|; zeros that rounding cannot separate are one graze (even number) or one
/// zero (odd). False: a coefficient is not finite, the list is empty.
inline bool isolate(const double* bernstein, int degree, double band, RootList& roots) {
  roots.clear();
  // No early exit: in the common case all comparisons are needed, and without branches they overlap.
  int above = 1;
  for (int i = 0; i <= degree; ++i) above &= static_cast<int>(bernstein[i] > band);
  if (above != 0) return true;
  int below = 1;
  for (int i = 0; i <= degree; ++i) below &= static_cast<int>(bernstein[i] < -band);
  if (below != 0) return true;
  return detail::isolate_roots(bernstein, degree, band, roots);
}

/// Completes the list with a zero at θ = 1 when the function's own value at the end of the step has left the
/// side on which the list leaves it. start_sign: +1 or −1, the side just after θ = 0.
void close_at_end(double end_value, int start_sign, RootList& roots);

/// p(θ) by de Casteljau's scheme; degree ≤ kMaxRootDegree. `slope`, if given, receives p'(θ).
[[nodiscard]] double bernstein_value(const double* bernstein, int degree, double theta,
                                     double* slope = nullptr);

}  // namespace judder::engines::numeric
