// exp(A h) for h = 2^p, all p, kept for reuse: motion of a linear system over any time without a time step.
//
//     ẋ = A x   →   x(t + h) = exp(A h) x(t)
//
// Each matrix is computed once, with 106 bits: Taylor's series of A·2^(p−s), then s squarings. Its entries
// are right to the last bit or two of a double, for undamped, defective, stiff, singular and nilpotent A
// alike, since neither eigenvectors nor inverses occur. The series is summed until its terms are nothing to
// every single entry; s makes the spectral radius of |A|·2^(p−s) at most a half. For motion over τ the binary
// digits of τ pick matrices, and a short series does the rest; a product with a matrix costs N² and one
// rounding.
//
// Everything is invariant under a change of units by powers of two (similarity with a diagonal matrix): no
// norm of A is taken. Storage for all matrices is allocated by build(). at() fills it on first use and is
// therefore not for several threads at once.
//
// N. J. Higham, Functions of Matrices, SIAM 2008, ch. 10.
#pragma once

#include <array>
#include <vector>

#include "core/double_double.hpp"
#include "engines/numeric/pattern.hpp"
#include "judder/core/patience.hpp"

namespace judder::engines::numeric {

/// Terms of an exponential series that matter over this share of the natural time, 1 … most; most ≤ 31.
[[nodiscard]] int exponential_terms(double share, int most);

/// e^{|A|h}, n × n, which bounds |e^{As}| for 0 ≤ s ≤ h; for |A|h of moderate radius. Allocates.
std::vector<double> absolute_exponential(int n, const double* a, double h, Patience* patience = nullptr);

class DyadicExponentials {
 public:
  /// The twentieth power of a time of 2^50 is still a number, and series have twenty terms (enclose.hpp).
  static constexpr int kLongest = 50;

  /// a: n × n, row-major. Allocates 64 matrices, 2 kB · n². `low`, the same size: what the last bits of A leave out. Bodies on a stiff spring
  /// that move together have accelerations that are the difference of large terms: without it they would push each other along. May be null.
  void build(int n, const double* a, const double* low = nullptr);

  /// Looked at while matrices are computed, which for hundreds of states takes seconds; null: never. To be set before build().
  void use(Patience* patience) { patience_ = patience; }

  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] const double* matrix() const { return a_.data(); }

  /// True if |A| is nilpotent: motion is polynomial in time and no time scale exists.
  [[nodiscard]] bool nilpotent() const { return nilpotent_; }

  /// The largest p for which the spectral radius of |A| 2^p is about one or less: within 2^p nothing happens
  /// that a short series would not see. Not more than kLongest. Meaningless if nilpotent().
  [[nodiscard]] int natural_exponent() const { return natural_exponent_; }

  /// exp(A 2^p), row-major; valid until the next build(). Entries may be infinite where the motion leaves the
  /// numbers.
  const double* at(int p);

  /// False: exp(A 2^p) has entries beyond the numbers, apply(p) is of no use.
  bool finite(int p);

  /// out = exp(A τ) x, τ ≥ 0; x and out must not overlap.
  void advance(const double* x, double tau, double* out);

  /// The same with matrices and states in 106 bits: one rounding at the end instead of one per matrix. For the state that a long phase ends
  /// with; about ten times the cost.
  void advance_exactly(const double* x, double tau, double* out);

  /// out = exp(A 2^p) x; x and out must not overlap. Far below the natural scale, and for nilpotent A, by the
  /// series.
  void apply(int p, const double* x, double* out);

  /// The same with a bound of the error: x and out hold N values and then N error bounds e ≥ 0. The new bound
  /// is |exp(A 2^p)| (e + 2 ε |x|).
  void apply_bounded(int p, const double* x, double* out);

  /// |exp(A τ)|, entry by entry, at its largest over 0 ≤ τ ≤ 2^p, p from the natural exponent up: rigorous on the natural time, beyond it the
  /// largest of 8 (p − natural) matrices at scattered τ, doubled. nullptr: p is too far up, or the motion leaves the numbers, or is polynomial.
  const double* envelope(int p);
  /// The same over the natural time; not for polynomial motion.
  [[nodiscard]] const double* natural_envelope() const { return envelopes_.data(); }

  /// out = Σ_k (A τ)^k x/k!, by as many terms as matter; for |τ| within the natural scale, or nilpotent A.
  void series(const double* x, double tau, double* out);

 private:
  const double* packed_at(int p);
  [[nodiscard]] int terms_for(double tau) const;
  void look() const {
    if (patience_ != nullptr) patience_->look();
  }
  void provide();
  void square(const DoubleDouble* in, DoubleDouble* out) const;
  void taylor(int p, DoubleDouble* out);
  void keep(int p, int slot);
  [[nodiscard]] bool next_envelope();

  static constexpr int kSlots = 64;  ///< exponents kept; a run meets about twenty
  static constexpr int kFinest =
      12;  ///< powers of two below the natural scale at which the series takes over
  static constexpr int kExponents = 2200;
  static constexpr int kOffset = 1100;

  static constexpr int kEnvelopes = 20;         ///< exponents from the natural one up
  static constexpr std::size_t kScattered = 8;  ///< times at which an envelope is looked at, by exponent

  Patience* patience_ = nullptr;
  int n_ = 0;
  bool nilpotent_ = false;
  int natural_exponent_ = 0;
  int longest_ =
      0;  ///< steps of the longest of the shortest ways by which one state acts on another; for nilpotent A of all ways
  int used_ = 0;
  std::array<short, kExponents> slot_of_{};  ///< −1: not computed
  std::vector<double> a_, low_;
  std::vector<DoubleDouble> exact_;  ///< one matrix per slot
  std::vector<double> rounded_;
  std::vector<double> packed_, packed_a_;  ///< the same for products, and A
  std::array<bool, kSlots> finite_{};
  Pattern entries_{0, nullptr};
  std::vector<DoubleDouble> scaled_, term_, next_, fine_state_, fine_next_;
  std::vector<double> work_, term_vector_, next_vector_, weight_;
  int envelopes_known_ = 0;
  bool envelopes_end_ = false;  ///< the next one would not be finite
  std::vector<double> envelopes_,
      scattered_;  ///< one matrix per exponent; the matrices at the scattered times
};

}  // namespace judder::engines::numeric
