#include "engines/numeric/enclose.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engines/numeric/pair.hpp"
#include "engines/numeric/pattern.hpp"
#include "engines/numeric/power_of_two.hpp"
#include "engines/numeric/roots.hpp"

namespace judder::engines::numeric {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kRounding = 8 * kEpsilon;
constexpr double kShortWindow =
    2;  ///< times the rounding of its start that a window may have which rounding rules

std::size_t offset(int i) { return static_cast<std::size_t>(i); }

constexpr auto kInverseFactorial = [] {
  std::array<double, 21> table{};
  double factorial = 1;
  for (int k = 0; k < 21; ++k) {
    if (k > 0) factorial *= k;
    table[static_cast<std::size_t>(k)] = 1 / factorial;
  }
  return table;
}();

/// 1/C(n, k), n ≤ 15.
constexpr auto kInverseBinomial = [] {
  std::array<std::array<double, 16>, 16> table{};
  for (int n = 0; n < 16; ++n) {
    double binomial = 1;
    for (int k = 0; k <= n; ++k) {
      table[static_cast<std::size_t>(n)][static_cast<std::size_t>(k)] = 1 / binomial;
      binomial = binomial * (n - k) / (k + 1);
    }
  }
  return table;
}();

int sign_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

}  // namespace

bool CrossingSearch::build(const DyadicExponentials& exponentials, int functions, const double* rows,
                           Patience* patience) {
  n_ = exponentials.size();
  functions_ = functions;
  const double* a = exponentials.matrix();
  // Rows cᵀAᵏ, in 106 bits: later ones are differences of large products.
  std::vector<DoubleDouble> row(offset(n_)), next(offset(n_));
  const Pattern entries(n_, a);
  const auto advance_row = [&] {
    std::fill(next.begin(), next.end(), DoubleDouble{});
    for (int i = 0; i < n_; ++i) {
      if (row[offset(i)].high == 0) continue;
      for (const int j : entries.row(i))
        next[offset(j)] = next[offset(j)] + row[offset(i)] * DoubleDouble{a[i * n_ + j], 0};
    }
    std::swap(row, next);
  };
  // Polynomial motion has few terms; at least five, so that a known triple zero leaves a polynomial.
  const auto terms_needed = [&] {
    int needed = 5;
    for (int f = 0; f < functions; ++f) {
      if (patience != nullptr) patience->look();
      for (int j = 0; j < n_; ++j) row[offset(j)] = {rows[f * n_ + j], 0};
      for (int k = 0; k <= kMaxTerms; ++k) {
        for (int j = 0; j < n_; ++j) {
          if (row[offset(j)].high != 0) needed = std::max(needed, k + 1);
        }
        advance_row();
      }
    }
    return needed;
  };
  terms_ = exponentials.nilpotent() ? terms_needed() : 8;
  if (terms_ > kMaxTerms) return false;
  stride_ = terms_ <= 8 ? 8 : 16;

  const double* growth = exponentials.nilpotent() ? nullptr : exponentials.natural_envelope();
  const int most = growth == nullptr ? terms_ : kFineTerms;
  std::vector<double> remainders(offset(n_));
  const auto set_remainders = [&] {
    std::fill(remainders.begin(), remainders.end(), 0.0);
    for (int i = 0; i < n_; ++i) {
      const double size = std::abs(row[offset(i)].high);
      if (size == 0) continue;
      for (int j = 0; j < n_; ++j) remainders[offset(j)] += size * growth[i * n_ + j];
    }
    for (double& sum : remainders) sum *= 1.001;  // for the roundings on the way
  };
  for (std::vector<double>* list : {&table_, &remainder_, &fine_, &fine_remainder_}) list->clear();
  first_.assign(1, 0);
  column_.clear();
  std::vector<double> terms(offset(n_ * most)), rest(offset(2 * n_));
  for (int f = 0; f < functions; ++f) {
    if (patience != nullptr) patience->look();
    for (int j = 0; j < n_; ++j) row[offset(j)] = {rows[f * n_ + j], 0};
    for (int k = 0; k < most; ++k) {
      if (k == terms_) {
        set_remainders();
        std::copy(remainders.begin(), remainders.end(), rest.begin());
      }
      for (int j = 0; j < n_; ++j) terms[offset(j * most + k)] = row[offset(j)].high;
      advance_row();
    }
    if (growth != nullptr) {
      set_remainders();
      std::copy(remainders.begin(), remainders.end(), rest.begin() + n_);
    }
    for (int j = 0; j < n_; ++j) {
      const double* entry = terms.data() + j * most;
      if (rest[offset(j)] == 0 && rest[offset(n_ + j)] == 0 &&
          std::all_of(entry, entry + most, [](double x) { return x == 0; }))
        continue;
      column_.push_back(j);
      table_.insert(table_.end(), entry, entry + terms_);
      table_.resize(column_.size() * offset(stride_), 0.0);
      remainder_.push_back(rest[offset(j)]);
      fine_remainder_.push_back(rest[offset(n_ + j)]);
      if (growth != nullptr) fine_.insert(fine_.end(), entry, entry + most);
    }
    first_.push_back(static_cast<int>(column_.size()));
  }

  tracks_.assign(offset(functions), {});
  frames_.assign(offset(kMaxDepth + 4), {});
  frame_states_.assign(offset((kMaxDepth + 4) * 2 * n_), 0.0);
  active_.assign(offset((kMaxDepth + 4) * (functions + 1)), 0);
  current_.assign(offset(2 * n_), 0.0);
  scratch_.assign(offset(2 * n_), 0.0);
  refine_from_.assign(offset(2 * n_), 0.0);
  refine_to_.assign(offset(2 * n_), 0.0);
  tree_.assign(offset((kTreeLevels + 1) * 3 * n_), 0.0);
  roundings_.assign(offset(2 * n_), 0.0);
  from_.assign(offset(3 * n_), 0.0);
  enclosures_.assign(offset(functions), {});
  verdicts_.assign(offset(functions), Verdict::undecided);
  state_.assign(offset(n_), 0.0);
  landing_.assign(offset(n_), 0.0);
  return true;
}

double CrossingSearch::value(int function, const double* x) const {
  double sum = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e)
    sum += table_[offset(e * stride_)] * x[column_[offset(e)]];
  return sum;
}

double CrossingSearch::rounding(int function, const double* x) const {
  double sum = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e)
    sum += std::abs(table_[offset(e * stride_)] * x[column_[offset(e)]]);
  return kRounding * sum;
}

double CrossingSearch::slope(int function, const double* x) const {
  double sum = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e)
    sum += table_[offset(e * stride_ + 1)] * x[column_[offset(e)]];
  return sum;
}

double CrossingSearch::slope_rounding(int function, const double* x) const {
  double sum = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e)
    sum += std::abs(table_[offset(e * stride_ + 1)] * x[column_[offset(e)]]);
  return kRounding * sum;
}

int CrossingSearch::order_of_zero(int function, const double* x, int least) const {
  for (int k = least; k < 3; ++k) {
    double sum = 0;
    double terms = 0;
    for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e) {
      const double term = table_[offset(e * stride_ + k)] * x[column_[offset(e)]];
      sum += term;
      terms += std::abs(term);
    }
    if (std::abs(sum) > kRounding * terms) return k;
  }
  return 3;
}

bool CrossingSearch::derivative_clear(int function, const double* x, int order) const {
  constexpr double kClear = 1e-6;
  double sum = 0;
  double terms = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e) {
    const double term = table_[offset(e * stride_ + order)] * x[column_[offset(e)]];
    sum += term;
    terms += std::abs(term);
  }
  return std::abs(sum) > kClear * terms;
}

/// Rounding of f at x, and what x has inherited.
double CrossingSearch::uncertainty(int function, const double* x) const {
  double sum = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e) {
    const int j = column_[offset(e)];
    sum += std::abs(table_[offset(e * stride_)]) * (kRounding * std::abs(x[j]) + x[n_ + j]);
  }
  return sum;
}

CrossingSearch::Window::Window(int exponent_of_width)
    : exponent(exponent_of_width), width(power_of_two(exponent)) {
  double power = 1;
  for (std::size_t k = 0; k < factor.size(); ++k) {
    factor[k] = power * kInverseFactorial[k];
    power *= width;
  }
}

template <int Stride>
void CrossingSearch::enclose_fixed(int function, const double* x, const Window& window, int zeros,
                                   Enclosure& out) const {
  constexpr std::size_t kPairs = Stride / 2;
  std::array<Pair, kPairs> alpha{};
  std::array<Pair, kPairs> size{};
  double rho = 0;
  const int last = first_[offset(function + 1)];
  for (int e = first_[offset(function)]; e < last; ++e) {
    const double* column = table_.data() + e * Stride;
    const int j = column_[offset(e)];
    const double xj = x[j];
    const Pair factor = both(xj);
    const Pair weight = both(kRounding * std::abs(xj) + x[n_ + j]);
    for (std::size_t k = 0; k < kPairs; ++k) {
      const Pair entry = load_pair(column + 2 * k);
      alpha[k] += entry * factor;
      size[k] += magnitude(entry) * weight;
    }
    rho += remainder_[offset(e)] * std::abs(xj);
  }
  std::array<double, Stride> terms;
  std::array<double, Stride> roundings;
  for (std::size_t k = 0; k < kPairs; ++k) {
    const Pair factor = load_pair(window.factor.data() + 2 * k);
    store_pair(alpha[k] * factor, terms.data() + 2 * k);
    store_pair(size[k] * factor, roundings.data() + 2 * k);
  }
  double sigma = 0;
  for (int k = zeros; k < terms_; ++k) {
    sigma += roundings[offset(k)];
    out.power[offset(k - zeros)] = terms[offset(k)];
  }
  out.degree = terms_ - 1 - zeros;
  out.zeros = zeros;
  out.sigma = sigma;
  out.sigma_start = roundings[offset(zeros)];
  out.rho = rho * window.factor[offset(terms_)];
}

void CrossingSearch::expand(int function, const double* x, const Window& window, int zeros,
                            FinePolynomial& out) const {
  constexpr std::size_t kPairs = kFineTerms / 2;
  std::array<Pair, kPairs> alpha{};
  double rho = 0;
  const int last = first_[offset(function + 1)];
  for (int e = first_[offset(function)]; e < last; ++e) {
    const double* column = fine_.data() + e * kFineTerms;
    const double xj = x[column_[offset(e)]];
    const Pair factor = both(xj);
    for (std::size_t k = 0; k < kPairs; ++k) alpha[k] += load_pair(column + 2 * k) * factor;
    rho += fine_remainder_[offset(e)] * std::abs(xj);
  }
  std::array<double, kFineTerms> terms;
  for (std::size_t k = 0; k < kPairs; ++k)
    store_pair(alpha[k] * load_pair(window.factor.data() + 2 * k), terms.data() + 2 * k);
  std::copy(terms.begin() + zeros, terms.end(), out.power.begin());
  out.degree = kFineTerms - 1 - zeros;
  out.rho = rho * window.factor[kFineTerms];
}

void CrossingSearch::enclose(int function, const double* x, const Window& window, int zeros,
                             Enclosure& out) const {
  if (stride_ == 8) {
    enclose_fixed<8>(function, x, window, zeros, out);
  } else {
    enclose_fixed<16>(function, x, window, zeros, out);
  }
}

CrossingSearch::Verdict CrossingSearch::judge(Enclosure& enclosure) {
  const int degree = enclosure.degree;
  const double bound = enclosure.rho + enclosure.sigma;
  const auto& power = enclosure.power;
  double rest = bound;
  for (int k = 1; k <= degree; ++k) rest += std::abs(power[offset(k)]);
  if (power[0] > rest) return Verdict::positive;
  if (power[0] < -rest) return Verdict::negative;
  // Power to Bernstein form: c_k = power_k/C(n, k), then b_i = Σ_k C(i, k) c_k by repeated sums.
  auto& b = enclosure.bernstein;
  for (int k = 0; k <= degree; ++k)
    b[offset(k)] = power[offset(k)] * kInverseBinomial[offset(degree)][offset(k)];
  for (int level = 1; level <= degree; ++level) {
    for (int i = degree; i >= level; --i) b[offset(i)] += b[offset(i - 1)];
  }
  double lowest = b[0];
  double highest = b[0];
  for (int i = 1; i <= degree; ++i) {
    lowest = std::min(lowest, b[offset(i)]);
    highest = std::max(highest, b[offset(i)]);
  }
  if (lowest > bound) return Verdict::positive;
  if (highest < -bound) return Verdict::negative;
  // What rounding hides is known only where the window is so short that its rounding is that of its start.
  const bool rounding_rules =
      enclosure.rho <= enclosure.sigma && enclosure.sigma <= kShortWindow * enclosure.sigma_start;
  if (rounding_rules && highest - lowest <= enclosure.sigma) return Verdict::flat;
  double steepest = b[1] - b[0];
  double shallowest = steepest;
  for (int i = 1; i < degree; ++i) {
    steepest = std::max(steepest, b[offset(i + 1)] - b[offset(i)]);
    shallowest = std::min(shallowest, b[offset(i + 1)] - b[offset(i)]);
  }
  // Slope of the polynomial: degree times these; of what it leaves out: (8 + zeros) ρ; of its rounding: at
  // most 8 σ and more for 16 terms.
  const double slack =
      ((degree + 1 + 2 * enclosure.zeros) * enclosure.rho + (degree + 1) * enclosure.sigma) / degree;
  if (!(shallowest > slack || steepest < -slack)) return Verdict::undecided;
  const int start = std::abs(b[0]) > enclosure.sigma_start ? sign_of(b[0]) : 0;
  const double last = b[offset(degree)];
  const int end = std::abs(last) > bound ? sign_of(last) : 0;
  if (end == 0) return rounding_rules ? Verdict::open_end : Verdict::undecided;
  if (start == 0) return Verdict::closed_start;
  if (start != end) return Verdict::crossing;
  return end > 0 ? Verdict::positive : Verdict::negative;
}

void CrossingSearch::add_graze(const Graze& graze) {
  if (graze.time > horizon_ || graze_count_ >= kMaxGrazes) return;
  int place = graze_count_++;
  for (; place > 0 && grazes_[offset(place - 1)].time > graze.time; --place) {
    grazes_[offset(place)] = grazes_[offset(place - 1)];
  }
  grazes_[offset(place)] = graze;
}

/// Keeps the earliest wanted crossing; true if this is now it.
bool CrossingSearch::offer(const Crossing& candidate) {
  if (candidate.direction > 0 && !options_.rising) return false;
  if (best_.outcome == SearchOutcome::crossing && best_.time <= candidate.time) return false;
  best_ = candidate;
  best_.outcome = SearchOutcome::crossing;
  have_state_ = false;
  return true;
}

/// A sign for the first time: where f has to be positive and comes out of its zero at the start negative, this is its crossing.
void CrossingSearch::note_first_sign(int function, int sign, double time, const double* x) {
  Track& track = tracks_[offset(function)];
  if (track.sign == 0 && sign < 0 && !options_.positive.empty() && options_.positive[offset(function)] != 0)
    offer({SearchOutcome::crossing, function, time, time, slope(function, x), -1});
  track.sign = sign;
}

void CrossingSearch::end_zone(int function, int sign, double time, const double* x) {
  Track& track = tracks_[offset(function)];
  const double begin = track.zone_begin;
  const double half_width = 0.5 * (time - begin);
  if (track.sign == 0) {
    note_first_sign(function, sign, time, x);
  } else if (track.sign == sign) {
    add_graze({function, begin + half_width, half_width + kRounding * time, track.zone_bound});
  } else {
    // Newton from the end of the zone, unless the zero is multiple and has no slope to speak of.
    const double slope_there = slope(function, x);
    double where = begin + half_width;
    double error = half_width + kRounding * time;
    if (sign_of(slope_there) == sign) {
      const double reach = track.zone_bound / std::abs(slope_there);
      const double newton = time - value(function, x) / slope_there;
      error += reach;
      if (newton >= begin - reach && newton <= time + reach) where = newton;
    }
    offer({SearchOutcome::crossing, function, where, error, slope_there, sign});
  }
  track.in_zone = false;
  track.sign = sign;
}

void CrossingSearch::commit(DyadicExponentials& exponentials, int function, Verdict verdict,
                            const Enclosure& enclosure, const double* x, const Frame& frame) {
  Track& track = tracks_[offset(function)];
  const double h = power_of_two(frame.exponent);
  const auto enter_zone = [&](double begin) {
    if (!track.in_zone) {
      track.zone_begin = begin;
      track.zone_bound = 0;
    }
    track.in_zone = true;
    track.zone_bound = std::max(track.zone_bound, 2 * enclosure.sigma + enclosure.rho);
  };
  const double first = enclosure.bernstein[0];
  const int end_sign = sign_of(enclosure.bernstein[offset(enclosure.degree)]);
  switch (verdict) {
    case Verdict::positive:
    case Verdict::negative: {
      const int sign = verdict == Verdict::positive ? 1 : -1;
      if (track.in_zone) end_zone(function, sign, frame.begin, x);
      note_first_sign(function, sign, frame.begin, x);
      break;
    }
    case Verdict::crossing:
      if (track.in_zone) end_zone(function, sign_of(first), frame.begin, x);
      note_first_sign(function, sign_of(first), frame.begin, x);
      refine(exponentials, function, enclosure, x, frame);
      track.sign = end_sign;
      break;
    case Verdict::closed_start:
      if (track.in_zone || track.sign != -end_sign) {
        if (track.in_zone) end_zone(function, end_sign, frame.begin, x);
        note_first_sign(function, end_sign, frame.begin, x);
      } else {
        // The window before ended just on the other side.
        const double slope_there = slope(function, x);
        const double time = frame.begin - value(function, x) / slope_there;
        const double error = kRounding * time + enclosure.sigma / std::abs(slope_there);
        offer({SearchOutcome::crossing, function, time, error, slope_there, end_sign});
      }
      track.sign = end_sign;
      break;
    case Verdict::open_end:
      if (track.sign == 0 && !track.in_zone && std::abs(first) > enclosure.sigma) track.sign = sign_of(first);
      enter_zone(std::abs(first) > enclosure.sigma ? frame.begin + h : frame.begin);
      break;
    case Verdict::flat:
    case Verdict::undecided:
      enter_zone(frame.begin);
      break;
  }
}

namespace {

/// Where the line through both ends vanishes.
double first_guess(const double* power, int degree) {
  double end = 0;
  for (int k = degree; k >= 0; --k) end += power[k];
  return std::clamp(power[0] / (power[0] - end), 0.0, 1.0);
}

/// The zero in [0, 1] of a polynomial with one sign change there, by Newton from `theta`, kept inside the shrinking bracket, until a step is
/// shorter than `share` of θ.
double polynomial_zero(const double* power, int degree, int start_sign, double theta, double share,
                       double& slope) {
  double lower = 0;
  double upper = 1;
  for (int iteration = 0; iteration < 60; ++iteration) {
    double value = power[degree];
    slope = 0;
    for (int k = degree - 1; k >= 0; --k) {
      slope = slope * theta + value;
      value = value * theta + power[k];
    }
    if (value == 0) break;
    (sign_of(value) == start_sign ? lower : upper) = theta;
    double next = theta - value / slope;
    if (!(next >= lower && next <= upper)) next = 0.5 * (lower + upper);
    const double step = std::abs(next - theta);
    theta = next;
    if (step <= share * theta) break;
  }
  return theta;
}

}  // namespace

/// Ends the search for a crossing inside a window: solves the polynomial, and where that is not as exact as f
/// itself, goes there and corrects with Newton's method on the motion. False: the guess was too far off.
bool CrossingSearch::land(DyadicExponentials& exponentials, int function, const Enclosure& enclosure,
                          const Window& window, const double* x, double begin, int sign) {
  double polynomial_slope = 0;
  double theta = polynomial_zero(enclosure.power.data(), enclosure.degree, sign,
                                 first_guess(enclosure.power.data(), enclosure.degree),
                                 fine_.empty() ? 1e-12 : 1e-4, polynomial_slope);
  double left_out = enclosure.rho;
  if (!fine_.empty()) {
    FinePolynomial fine;
    expand(function, x, window, enclosure.zeros, fine);
    theta = polynomial_zero(fine.power.data(), fine.degree, sign, theta, 1e-12, polynomial_slope);
    left_out = fine.rho;
  }
  double tau = theta * window.width;
  // ∂time of the zero by an error of the polynomial, and that error.
  double sensitivity = window.width / std::abs(polynomial_slope);
  double sigma = enclosure.sigma;
  if (enclosure.zeros > 0 && theta > 0 && theta < 0.5) {
    // From a known zero the expansion sees more the nearer the root is: its rounding in the window that just holds it.
    const Window shorter(exponent_of(tau) + 1);
    Enclosure inside;
    enclose(function, x, shorter, enclosure.zeros, inside);
    sigma = inside.sigma;
    for (int k = 0; k < enclosure.zeros; ++k) {
      sensitivity *= window.width / shorter.width;
      left_out *= shorter.width / window.width;
    }
  }
  exponentials.advance(x, tau, landing_.data());
  double slope_there = slope(function, landing_.data());
  if (sign_of(slope_there) != -sign && enclosure.zeros == 0) return false;
  double inherited = 0;
  for (int e = first_[offset(function)]; e < first_[offset(function + 1)]; ++e)
    inherited += std::abs(table_[offset(e * stride_)]) * x[n_ + column_[offset(e)]];
  double least = (rounding(function, landing_.data()) + inherited) / std::abs(slope_there);
  const double by_polynomial = sensitivity * (left_out + sigma);
  double error = by_polynomial;
  if (by_polynomial > 2 * (least + kRounding * (begin + tau))) {
    bool converged = false;
    for (int iteration = 0; iteration < 6 && !converged; ++iteration) {
      const double step = -value(function, landing_.data()) / slope_there;
      if (!(tau + step >= 0 && tau + step <= window.width)) return false;
      converged = std::abs(step) <= std::max(least, kEpsilon * (begin + tau));
      tau += step;
      exponentials.series(landing_.data(), step, scratch_.data());
      std::copy(scratch_.begin(), scratch_.begin() + n_, landing_.begin());
      slope_there = slope(function, landing_.data());
      if (sign_of(slope_there) != -sign) return false;
      least = (rounding(function, landing_.data()) + inherited) / std::abs(slope_there);
    }
    if (!converged) return false;
    error = least;
  }
  const double time = begin + tau;
  if (offer({SearchOutcome::crossing, function, time, error + kRounding * time, slope_there, -sign})) {
    std::copy(landing_.begin(), landing_.end(), state_.begin());
    have_state_ = true;
  }
  return true;
}

/// Narrows a window around its one zero until the landing succeeds.
void CrossingSearch::refine(DyadicExponentials& exponentials, int function, const Enclosure& enclosure,
                            const double* x, const Frame& frame) {
  std::copy(x, x + 2 * n_, refine_from_.begin());
  Enclosure tight = enclosure;
  Window window(frame.exponent);
  double begin = frame.begin;
  const int sign = sign_of(enclosure.power[0]);
  for (int round = 0; round < 60; ++round) {
    if (land(exponentials, function, tight, window, refine_from_.data(), begin, sign)) return;
    const Window half(window.exponent - 1);
    exponentials.apply_bounded(half.exponent, refine_from_.data(), refine_to_.data());
    const double middle = value(function, refine_to_.data());
    const double uncertain = uncertainty(function, refine_to_.data());
    if (std::abs(middle) <= uncertain || round == 59) {
      const double slope_there = slope(function, refine_to_.data());
      const double time = begin + half.width - middle / slope_there;
      offer({SearchOutcome::crossing, function, time, kRounding * time + uncertain / std::abs(slope_there),
             slope_there, -sign});
      return;
    }
    window = half;
    if (sign_of(middle) == sign) {
      std::swap(refine_from_, refine_to_);
      begin += half.width;
      enclose(function, refine_from_.data(), window, 0, tight);
    } else {
      enclose(function, refine_from_.data(), window, tight.zeros, tight);
    }
  }
}

/// So close after a known zero that a fresh start could not see f: all zeros come from the expansion at the
/// start.
void CrossingSearch::isolate_start(int function, const Enclosure& enclosure, const Frame& frame) {
  const double h = power_of_two(frame.exponent);
  RootList roots;
  if (!isolate(enclosure.bernstein.data(), enclosure.degree, 0, roots)) return;
  Track& track = tracks_[offset(function)];
  note_first_sign(function, sign_of(enclosure.bernstein[0]), 0, current_.data());
  for (const Root& root : roots) {
    const double time = h * root.theta;
    if (root.kind == RootKind::graze) {
      add_graze({function, time, std::sqrt(kRounding) * time, enclosure.sigma + enclosure.rho});
      continue;
    }
    track.sign = root.kind == RootKind::rising ? 1 : -1;
    const double error = kRounding * time + h * (enclosure.rho + enclosure.sigma) / std::abs(root.slope);
    double slope_there = root.slope / h;
    for (int k = 0; k < enclosure.zeros; ++k) slope_there *= root.theta;
    offer({SearchOutcome::crossing, function, time, error, slope_there, track.sign});
  }
}

void CrossingSearch::push(const Frame& frame, const double* x) {
  ++top_;
  frames_[offset(top_)] = frame;
  for (int i = 0; i < 2 * n_; ++i) frame_states_[offset(top_ * 2 * n_ + i)] = x[i];
}

/// True when the search is over: a crossing was found, or the limit of windows is reached.
bool CrossingSearch::search_window(DyadicExponentials& exponentials, double begin, int exponent,
                                   std::span<const int> zeros) {
  const int stride = functions_ + 1;
  top_ = -1;
  push({begin, exponent, false}, current_.data());
  for (int f = 0; f < functions_; ++f) active_[offset(f)] = f;
  active_[offset(functions_)] = functions_;
  while (top_ >= 0) {
    const Frame frame = frames_[offset(top_)];
    const double* kept = frame_states_.data() + top_ * 2 * n_;
    if (frame.pending) {
      exponentials.apply_bounded(frame.exponent, kept, current_.data());
    } else {
      std::copy(kept, kept + 2 * n_, current_.begin());
    }
    int* active = active_.data() + top_ * stride;
    const int count = active[functions_];
    if (frame.begin >= horizon_) return true;
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      best_ = {SearchOutcome::cancelled, -1, frame.begin, 0, 0, 0};
      return true;
    }
    if (++windows_ > options_.max_windows) {
      best_ = {SearchOutcome::undecided, -1, frame.begin, 0, 0, 0};
      return true;
    }
    const bool last_resort = top_ >= kMaxDepth || power_of_two(frame.exponent) <= kEpsilon * frame.begin;
    if (frame.exponent != window_.exponent) window_ = Window(frame.exponent);
    const Window& window = window_;
    int open = 0;
    bool halve = false;
    for (int i = 0; i < count; ++i) {
      const int f = active[i];
      const int order = frame.begin == 0 && !zeros.empty() ? zeros[offset(f)] : 0;
      Enclosure& enclosure = enclosures_[offset(f)];
      enclose(f, current_.data(), window, order, enclosure);
      Verdict verdict = judge(enclosure);
      if (verdict == Verdict::positive || verdict == Verdict::negative) {
        if (tracks_[offset(f)].in_zone) {
          commit(exponentials, f, verdict, enclosure, current_.data(), frame);
        } else {
          note_first_sign(f, verdict == Verdict::positive ? 1 : -1, frame.begin, current_.data());
        }
        continue;
      }
      if (!enclosure.finite()) {
        best_ = {SearchOutcome::overflow, -1, frame.begin, 0, 0, 0};
        return true;
      }
      if (verdict == Verdict::undecided && order > 0 && enclosure.rho <= enclosure.sigma) {
        exponentials.apply_bounded(frame.exponent - 1, current_.data(), scratch_.data());
        const double middle = value(f, scratch_.data());
        if (std::abs(middle) <= 4 * uncertainty(f, scratch_.data())) {
          isolate_start(f, enclosure, frame);
          continue;
        }
      }
      verdicts_[offset(f)] = verdict;
      halve = halve || verdict == Verdict::undecided;
      active[open++] = f;
    }
    active[functions_] = open;
    if (best_.outcome == SearchOutcome::crossing && best_.time <= frame.begin) return true;
    if (halve && !last_resort) {
      // Right half below, left half on top.
      const int half = frame.exponent - 1;
      --top_;
      push({frame.begin + power_of_two(half), half, true}, current_.data());
      push({frame.begin, half, false}, current_.data());
      std::copy(active, active + stride, active + stride);
      continue;
    }
    for (int i = 0; i < open; ++i) {
      const int f = active[i];
      commit(exponentials, f, verdicts_[offset(f)], enclosures_[offset(f)], current_.data(), frame);
    }
    // Another function may still cross before a zero found beyond this window.
    const double end = frame.begin + power_of_two(frame.exponent);
    if (best_.outcome == SearchOutcome::crossing && best_.time <= end) return true;
    --top_;
  }
  return best_.outcome == SearchOutcome::crossing;
}

/// Zones that reach the horizon are decided by the value there, however small.
void CrossingSearch::finish(DyadicExponentials& exponentials, const double* start, double horizon) {
  bool reached = false;
  for (int f = 0; f < functions_; ++f) {
    const Track& track = tracks_[offset(f)];
    if (!track.in_zone || track.sign == 0 || track.zone_begin > horizon) continue;
    if (!reached) exponentials.advance(start, horizon, current_.data());
    reached = true;
    const double there = value(f, current_.data());
    if (sign_of(there) == track.sign) continue;  // what it does next is not known yet
    end_zone(f, -track.sign, horizon, current_.data());
  }
}

/// The exponent of the first window of polynomial motion: about the time after which a later term of some function could have undone the
/// first one. What is zero at the start, by its order or by rounding, is left out.
int CrossingSearch::first_exponent(const double* start, std::span<const int> zeros, double horizon) const {
  constexpr int kNone = 2000;
  int least = kNone;
  for (int f = 0; f < functions_; ++f) {
    double first = 0;
    double factorial = 1;
    int order = -1;
    for (int k = 0; k < terms_; ++k) {
      if (k > 1) factorial *= k;
      double sum = 0;
      double terms = 0;
      for (int e = first_[offset(f)]; e < first_[offset(f + 1)]; ++e) {
        const double term = table_[offset(e * stride_ + k)] * start[column_[offset(e)]];
        sum += term;
        terms += std::abs(term);
      }
      if (order < 0) {
        const bool known_zero = !zeros.empty() && k < zeros[offset(f)];
        if (known_zero || !(std::abs(sum) > kRounding * terms)) continue;
        order = k;
        first = std::abs(sum) / factorial;
      } else if (terms > 0) {
        // 2 (first/later)^(1/(k − order)), rounded up to a power of two.
        const int ratio = exponent_of(first) - exponent_of(terms / factorial);
        const int steps = k - order;
        const int share = ratio >= 0 ? ratio / steps : -((steps - 1 - ratio) / steps);
        least = std::min(least, std::max(share + 2, -1000));
      }
    }
  }
  // Constants have no scale; and a window longer than the longest run has powers that are no numbers.
  return least == kNone ? exponent_of(horizon) + 1 : std::min(least, 1000 / kMaxTerms);
}

/// The error of the state `to`, reached from `from` by 2^level windows: not more than all roundings on the way, each carried to here at once.
void CrossingSearch::bound_by_envelope(DyadicExponentials& exponentials, int exponent, int level, int reach,
                                       const double* from, double* to) {
  double* total = to + 2 * n_;
  const double* envelope = reach < 3 ? nullptr : exponentials.envelope(exponent + reach);
  if (envelope == nullptr) {
    std::copy(to + n_, to + 2 * n_, total);
    return;
  }
  // This product's own rounding: its bound where nothing is inherited.
  double* alone = roundings_.data();
  std::copy(from, from + n_, scratch_.begin());
  std::fill(scratch_.begin() + n_, scratch_.end(), 0.0);
  exponentials.apply_bounded(exponent + level, scratch_.data(), alone);
  for (int i = 0; i < n_; ++i) total[i] = from[2 * n_ + i] + alone[n_ + i];
  for (int i = 0; i < n_; ++i) {
    double sum = 0;
    for (int j = 0; j < n_; ++j) sum += envelope[i * n_ + j] * total[j];
    to[n_ + i] = std::min(to[n_ + i], sum);
  }
}

Crossing CrossingSearch::find(DyadicExponentials& exponentials, const double* start, double horizon,
                              std::span<const int> zeros, const CrossingOptions& options) {
  options_ = options;
  horizon_ = horizon;
  windows_ = 0;
  graze_count_ = 0;
  best_ = {};
  have_state_ = false;
  if (!(horizon > 0) || functions_ == 0) return best_;
  double* first =
      tree_.data() + kTreeLevels * 3 * n_;  // window 0, from which every power of two may be reached
  std::copy(start, start + n_, first);
  std::fill(first + n_, first + 3 * n_, 0.0);
  for (int f = 0; f < functions_; ++f) {
    Track& track = tracks_[offset(f)];
    track = {};
    const double value_there = value(f, start);
    if ((zeros.empty() || zeros[offset(f)] == 0) && std::abs(value_there) > rounding(f, start))
      track.sign = sign_of(value_there);
  }
  bool over = false;
  const auto look = [&](double begin, int exponent) {
    for (int i = 0; i < n_; ++i) {
      if (std::isfinite(current_[offset(i)])) continue;
      best_ = {SearchOutcome::overflow, -1, begin, 0, 0, 0};
      return true;
    }
    return search_window(exponentials, begin, exponent, zeros);
  };
  if (exponentials.nilpotent()) {
    int exponent = first_exponent(start, zeros, horizon);
    std::copy(first, first + 2 * n_, current_.begin());
    over = look(0, exponent);
    for (; !over && power_of_two(exponent) < horizon; ++exponent) {
      exponentials.apply_bounded(exponent, first, current_.data());
      over = look(power_of_two(exponent), exponent);
    }
  } else {
    const int exponent = exponentials.natural_exponent();
    const double width = power_of_two(exponent);
    int highest = kTreeLevels - 1;
    for (unsigned long long m = 0; !over && static_cast<double>(m) * width < horizon; ++m) {
      if (m == 0) {
        std::copy(first, first + 2 * n_, current_.begin());
      } else {
        // A growing motion may have no finite matrix over the longer spans; window 2^level is the first to ask
        // for one.
        int level = std::min(std::countr_zero(m), highest);
        while (level > 0 && !exponentials.finite(exponent + level)) highest = --level;
        const unsigned long long from = m - (1ULL << level);
        const int from_level = from == 0 ? kTreeLevels : std::min(std::countr_zero(from), highest);
        const double* before = tree_.data() + from_level * 3 * n_;
        double* now = tree_.data() + level * 3 * n_;
        exponentials.apply_bounded(exponent + level, before, current_.data());
        // `before` may be `now`: highest levels follow one another.
        std::copy(before, before + 3 * n_, from_.begin());
        std::copy(current_.begin(), current_.end(), now);
        bound_by_envelope(exponentials, exponent, level, static_cast<int>(std::bit_width(m)), from_.data(),
                          now);
        std::copy(now, now + 2 * n_, current_.begin());
      }
      over = look(static_cast<double>(m) * width, exponent);
    }
  }
  if (best_.outcome == SearchOutcome::none) finish(exponentials, start, horizon);
  if (best_.outcome == SearchOutcome::crossing && best_.time > horizon) best_ = {};
  if (best_.outcome == SearchOutcome::crossing) {
    while (graze_count_ > 0 && grazes_[offset(graze_count_ - 1)].time > best_.time) --graze_count_;
    if (!have_state_) exponentials.advance(start, best_.time, state_.data());
  }
  return best_;
}

}  // namespace judder::engines::numeric
