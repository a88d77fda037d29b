// The first zero of several affine functions along the motion of a linear system, with nothing overlooked
// that rounding lets one see.
//
//     ẋ = A x,   f(t) = cᵀ x(t)         (x augmented with the load's states, see linear.hpp)
//
// Window by window, [a, a + h] with h = 2^p, f is enclosed by its Taylor polynomial at a with a bound of all
// that is left out:
//
//     f(a + θh) = Σ_{k<8} α_k θ^k ± (ρ + σ),     α_k = (cᵀAᵏ) x(a) h^k/k!
//     ρ = |cᵀA⁸| e^{|A|h} |x| h⁸/8!              remainder: e^{|A|h}|x(a)| bounds |x| on the window
//     σ = Σ_k |cᵀAᵏ| (8 ε |x| + e) h^k/k!        rounding here, and e, what x(a) has inherited on its way
//
// S = σ/8ε is the sum of the absolute terms of f in their largest form so far. σ_0, the term of k = 0, is the rounding of f at a alone: the
// sign at the start of a window is judged by it, and a window that σ leaves open is halved until σ is little more than σ_0. So what is seen at
// a time depends on the state there and on nothing later.
//
// One product of a table of 8 N numbers with x gives all α_k. In Bernstein form the coefficients enclose the
// polynomial, and its differences enclose the slope. A window is discarded only when the enclosure excludes
// zero. A window with a slope of one sign and values of certain and opposite sign at its ends holds exactly
// one zero. Any other is halved, its right half starting from exp(A h/2) x, until the polynomial varies less
// than its rounding: there f is zero as far as can be known, and the signs before and after tell a crossing
// from a graze. So two zeros are told apart down to δ = √(8 ε S/|f̈|), and closer ones are one graze. A sign
// at the end of a window that the bound leaves open is never guessed: the next window continues with the
// question.
//
// Known zeros. Where f is known to vanish at t = 0 with order z (1 after an impact, 2 or 3 at lift-off), α_0
// … α_{z−1} are left out and f/θ^z is enclosed instead, so the search begins at t = 0 itself. Where f(0) is
// zero to rounding and no order is given, the zero is taken as known but the sign after it is the one found
// first.
//
// Landing. A zero that is alone in its window is solved on a longer polynomial, of 20 terms: over a natural time it is as exact as f itself,
// and only where its rounding is larger than that of f at the zero does Newton's method on the motion correct it.
//
// Windows do not depend on the horizon. They last a natural time each; polynomial motion, which has none, is searched in windows that double,
// the first of about the time in which some f could change its sign by the terms that it has at the start.
//
// Wrong from the start. A function that has to be positive (CrossingOptions::positive), is zero to rounding at the start and then certainly
// negative has its crossing where it leaves the rounding: nothing passes through a zero that a phase happens to begin on.
//
// Long phases. The state at the m-th window comes from the one 2^k windows before, 2^k the largest power that
// divides m, so it has passed through at most log₂ m products; times are multiples of powers of two and
// exact. The bound e of its error is the smaller of two: carried from product to product by |exp(A h)|, which is sharp for motion that dies
// out, but doubles each time for undamped motion of many states; and all roundings so far, each carried to here at once by the largest that
// |exp(A τ)| has been (DyadicExponentials::envelope).
//
// Cost: 16 products per function, state that it depends on, and window of one natural time 1/ρ(|A|); for stiff systems that is the fast time. build() allocates, find() does not (but the exponentials compute a matrix at first use).
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "engines/numeric/exponential.hpp"

namespace judder::engines::numeric {

enum class SearchOutcome {
  none,       ///< no zero up to the horizon
  crossing,   ///< the first one
  undecided,  ///< limit of windows reached; nothing lies before `time`
  cancelled,  ///< from outside
  overflow,   ///< the motion leaves the numbers at `time`
};

struct Crossing {
  SearchOutcome outcome = SearchOutcome::none;
  int function = -1;
  double time = 0;    ///< since the start, (0, horizon]
  double error = 0;   ///< bound of its error: 8 ε time + (ρ + σ)/|slope|, or the width of a multiple zero
  double slope = 0;   ///< ḟ at the crossing
  int direction = 0;  ///< −1 falling, +1 rising
};

/// f touches zero, or crosses it twice, within rounding.
struct Graze {
  int function = -1;
  double time = 0;
  double error = 0;  ///< half width of the interval in which |f| ≤ bound
  double bound = 0;  ///< of |f| there
};

struct CrossingOptions {
  bool rising = false;  ///< also stop at zeros where f becomes positive
  std::span<const unsigned char>
      positive{};  ///< by function: 1 where it must not become negative after a zero at the start; may be empty
  const std::atomic<bool>* cancel = nullptr;  ///< set from outside: the search ends as cancelled
  long long max_windows = 100'000'000;        ///< windows looked at before giving up, ≥ 1
};

class CrossingSearch {
 public:
  /// rows: functions × N, row-major; the exponentials must be built for the same motion. False: A is
  /// nilpotent with more than 16 steps (loads of degree beyond 12), which is not treated.
  bool build(const DyadicExponentials& exponentials, int functions, const double* rows,
             Patience* patience = nullptr);

  /// The first zero of any function on (0, horizon], horizon finite. zeros[i]: order of the zero of f_i at
  /// the start, 0 to 3, or an empty span.
  Crossing find(DyadicExponentials& exponentials, const double* start, double horizon,
                std::span<const int> zeros, const CrossingOptions& options = {});

  /// The state at the crossing that find() returned.
  [[nodiscard]] const double* state() const { return state_.data(); }

  /// Grazes before that crossing, in order of time; only the first `kMaxGrazes` are kept.
  [[nodiscard]] std::span<const Graze> grazes() const {
    return {grazes_.data(), static_cast<std::size_t>(graze_count_)};
  }
  static constexpr int kMaxGrazes = 16;

  [[nodiscard]] long long windows() const { return windows_; }  ///< looked at by the last find()

  /// f_i(x), and the bound 8 ε |c||x| of its rounding at an exact x.
  [[nodiscard]] double value(int function, const double* x) const;
  [[nodiscard]] double rounding(int function, const double* x) const;
  /// ḟ_i(x), and the bound of its rounding.
  [[nodiscard]] double slope(int function, const double* x) const;
  [[nodiscard]] double slope_rounding(int function, const double* x) const;
  /// Order of the zero of f_i at an x that it is known to vanish at: the first derivative, from `least` on, that is more than rounding;
  /// at most 3.
  [[nodiscard]] int order_of_zero(int function, const double* x, int least) const;
  /// The derivative of f_i of this order, 0 to 7, is far more than rounding and what events leave behind: a millionth of its terms.
  [[nodiscard]] bool derivative_clear(int function, const double* x, int order) const;

 private:
  static constexpr int kMaxTerms = 16;
  static constexpr int kFineTerms = 20;  ///< of the polynomial to land by
  static constexpr int kMaxDepth = 100;
  static constexpr int kTreeLevels = 40;

  enum class Verdict { positive, negative, crossing, flat, open_end, closed_start, undecided };

  /// A window's width and h^k/k!, shared by all functions.
  struct Window {
    explicit Window(int exponent);
    int exponent;
    double width;
    std::array<double, kFineTerms + 1> factor;
  };

  /// f/θ^zeros on a window by all terms that matter: Σ power_k θ^k ± ρ, and its rounding.
  struct FinePolynomial {
    std::array<double, kFineTerms> power;
    int degree = 0;
    double rho = 0;
  };

  /// f/θ^zeros on a window: Σ power_k θ^k ± (ρ + σ).
  struct Enclosure {
    std::array<double, kMaxTerms> power;
    std::array<double, kMaxTerms> bernstein;  ///< only after judge() had to look closely
    int degree = 0;
    int zeros = 0;
    double sigma = 0;
    double sigma_start = 0;  ///< the part of σ that stays when the window shrinks
    double rho = 0;
    [[nodiscard]] bool finite() const {
      double sum = sigma + rho;
      for (int k = 0; k <= degree; ++k) sum += std::abs(power[static_cast<std::size_t>(k)]);
      return std::isfinite(sum);
    }
  };

  /// What is known about a function up to the current window.
  struct Track {
    int sign = 0;  ///< 0: it started with a zero
    bool in_zone = false;
    double zone_begin = 0;
    double zone_bound = 0;
  };

  struct Frame {
    double begin = 0;
    int exponent = 0;
    bool pending = false;  ///< the state kept is that of the left neighbour
  };

  // States below are blocks of 2 N values: x, then a bound e of its error.
  [[nodiscard]] double uncertainty(int function, const double* x) const;
  template <int Stride>
  void enclose_fixed(int function, const double* x, const Window& window, int zeros, Enclosure& out) const;
  void enclose(int function, const double* x, const Window& window, int zeros, Enclosure& out) const;
  void expand(int function, const double* x, const Window& window, int zeros, FinePolynomial& out) const;
  [[nodiscard]] static Verdict judge(Enclosure& enclosure);
  bool offer(const Crossing& candidate);
  void end_zone(int function, int sign, double time, const double* x);
  void commit(DyadicExponentials& exponentials, int function, Verdict verdict, const Enclosure& enclosure,
              const double* x, const Frame& frame);
  void refine(DyadicExponentials& exponentials, int function, const Enclosure& enclosure, const double* x,
              const Frame& frame);
  bool land(DyadicExponentials& exponentials, int function, const Enclosure& enclosure, const Window& window,
            const double* x, double begin, int sign);
  void isolate_start(int function, const Enclosure& enclosure, const Frame& frame);
  bool search_window(DyadicExponentials& exponentials, double begin, int exponent,
                     std::span<const int> zeros);
  void push(const Frame& frame, const double* x);
  void add_graze(const Graze& graze);
  void finish(DyadicExponentials& exponentials, const double* start, double horizon);
  void note_first_sign(int function, int sign, double time, const double* x);
  [[nodiscard]] int first_exponent(const double* start, std::span<const int> zeros, double horizon) const;
  void bound_by_envelope(DyadicExponentials& exponentials, int exponent, int level, int reach,
                         const double* from, double* to);

  int n_ = 0;
  int functions_ = 0;
  int stride_ = 8;  ///< 8 or 16: terms kept in the table
  int terms_ = 8;   ///< terms used; fewer for polynomial motion
  // What a function depends on: entries first_[f] … first_[f + 1] of the following.
  std::vector<int> first_, column_;
  std::vector<double> table_;      ///< entry × term: cᵀAᵏ
  std::vector<double> remainder_;  ///< by entry: |cᵀA⁸| e^{|A|h}
  std::vector<double> fine_;       ///< entry × term; empty for polynomial motion
  std::vector<double> fine_remainder_;

  CrossingOptions options_;
  Window window_{0};  ///< the last one looked at
  double horizon_ = 0;
  long long windows_ = 0;
  std::vector<Track> tracks_;
  std::vector<Frame> frames_;
  std::vector<double> frame_states_;
  std::vector<int> active_;  ///< per frame: functions not yet discarded, then their number
  int top_ = -1;
  std::vector<double> current_, scratch_, refine_from_, refine_to_;
  std::vector<double>
      tree_;  ///< states at window numbers by trailing zeros: x, e, and the sum of all roundings on the way
  std::vector<double> roundings_, from_;
  std::vector<Enclosure> enclosures_;
  std::vector<Verdict> verdicts_;
  Crossing best_;
  std::vector<double> state_, landing_;
  bool have_state_ = false;  ///< state_ belongs to best_
  std::array<Graze, kMaxGrazes> grazes_{};
  int graze_count_ = 0;
};

}  // namespace judder::engines::numeric
