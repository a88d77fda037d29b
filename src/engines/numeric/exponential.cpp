#include "engines/numeric/exponential.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "core/elementary.hpp"
#include "engines/numeric/packed_matrix.hpp"
#include "engines/numeric/power_of_two.hpp"

namespace judder::engines::numeric {

namespace {

std::size_t offset(int i) { return static_cast<std::size_t>(i); }

using Matrix = std::vector<double>;

void look(Patience* patience) {
  if (patience != nullptr) patience->look();
}

Matrix product(int n, const Matrix& left, const Matrix& right, Patience* patience) {
  Matrix out(left.size(), 0.0);
  const Pattern entries(n, right.data());
  for (int i = 0; i < n; ++i) {
    look(patience);
    double* const row = out.data() + offset(i * n);
    for (int k = 0; k < n; ++k) {
      const double factor = left[offset(i * n + k)];
      if (factor == 0) continue;
      for (const int j : entries.row(k)) row[j] += factor * right[offset(k * n + j)];
    }
  }
  return out;
}

double trace(int n, const Matrix& a) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[offset(i * n + i)];
  return sum;
}

/// log₂ of the spectral radius of B = |A|, nearly: (tr Bᵐ)^(1/m) weighs the closed walks of length m, is the
/// same in all units, and for large m is the radius from above, for every m that is a multiple of the period
/// of B. −∞: no closed walk, nilpotent.
double log2_radius(int n, const Matrix& a, Patience* patience) {
  double largest = 0;
  for (double entry : a) largest = std::max(largest, std::abs(entry));
  const double none = -std::numeric_limits<double>::infinity();
  if (largest == 0) return none;
  const auto scaled = [&a](int exponent) {
    Matrix b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = std::ldexp(std::abs(a[i]), -exponent);
    return b;
  };
  const auto largest_root = [n, none, patience](Matrix power, int first, int last, const Matrix& b) {
    double best = none;
    for (int m = first;; ++m) {
      const double walks = trace(n, power);
      if (walks > 0) best = std::max(best, elementary::log(walks) / (m * std::numbers::ln2));
      const bool ends = std::all_of(power.begin(), power.end(), [](double entry) { return entry == 0; });
      if (m == last || ends) return best;
      power = product(n, power, b, patience);
    }
  };
  // Walks up to length n decide whether there is any, and give the scale at which high powers stay within the
  // numbers.
  int exponent = std::ilogb(largest);
  Matrix b = scaled(exponent);
  const double rough = largest_root(b, 1, n, b);
  if (rough == none) return none;
  const int shift = static_cast<int>(std::lround(rough));
  exponent += shift;
  b = scaled(exponent);
  Matrix power = product(n, product(n, b, b, patience), b, patience);
  for (int i = 0; i < 4; ++i) power = product(n, power, power, patience);
  const double fine = largest_root(product(n, power, b, patience), 49, 64, b);
  return exponent + (std::isfinite(fine) ? fine : rough - shift);
}

/// Steps of the longest of the shortest ways from one state to another through the entries of A.
int longest_shortest_way(int n, const Matrix& a, Patience* patience) {
  int longest = 0;
  const Pattern entries(n, a.data());
  std::vector<int> distance(offset(n)), queue;
  // Ways are followed against their direction, which leaves their lengths as they are.
  for (int from = 0; from < n; ++from) {
    look(patience);
    std::fill(distance.begin(), distance.end(), -1);
    distance[offset(from)] = 0;
    queue.assign(1, from);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const int to : entries.row(queue[at])) {
        if (distance[offset(to)] >= 0) continue;
        distance[offset(to)] = distance[offset(queue[at])] + 1;
        longest = std::max(longest, distance[offset(to)]);
        queue.push_back(to);
      }
    }
  }
  return longest;
}

/// Steps of the longest way: the last power of a nilpotent A that is not zero.
int longest_way(int n, const Matrix& a) {
  const Pattern entries(n, a.data());
  std::vector<int> length(offset(n), 0);
  bool grows = true;
  for (int round = 0; round < n && grows; ++round) {
    grows = false;
    for (int to = 0; to < n; ++to) {
      for (const int from : entries.row(to)) {
        if (length[offset(from)] < length[offset(to)]) continue;
        length[offset(to)] = length[offset(from)] + 1;
        grows = true;
      }
    }
  }
  return *std::max_element(length.begin(), length.end());
}

}  // namespace

int exponential_terms(double share, int most) {
  // By number of terms: the share up to which the next, share^k/k!, is below rounding.
  static const std::array<double, 32> reach = [] {
    std::array<double, 32> table{};
    double factorial = 1;
    for (std::size_t k = 1; k < table.size(); ++k) {
      factorial *= static_cast<double>(k);
      table[k] = elementary::pow(0x1p-58 * factorial, 1 / static_cast<double>(k));
    }
    return table;
  }();
  int terms = 1;
  while (terms < most && reach[offset(terms)] < share) ++terms;
  return terms;
}

// No cancellation: a plain series.
std::vector<double> absolute_exponential(int n, const double* a, double h, Patience* patience) {
  const auto size = offset(n * n);
  std::vector<double> b(size), sum(size, 0.0), term(size, 0.0), next(size);
  for (std::size_t i = 0; i < size; ++i) b[i] = std::abs(a[i]) * h;
  for (int i = 0; i < n; ++i) sum[offset(i * n + i)] = term[offset(i * n + i)] = 1;
  for (int k = 1; k < 200; ++k) {
    bool matters = false;
    next = product(n, term, b, patience);
    for (std::size_t i = 0; i < size; ++i) {
      next[i] /= k;
      sum[i] += next[i];
      matters = matters || next[i] > 1e-3 * std::numeric_limits<double>::epsilon() * sum[i];
    }
    std::swap(term, next);
    if (!matters) break;
  }
  return sum;
}

void DyadicExponentials::build(int n, const double* a, const double* low) {
  n_ = n;
  a_.assign(a, a + n * n);
  low_.assign(offset(n * n), 0.0);
  if (low != nullptr) std::copy_n(low, n * n, low_.begin());
  fine_state_.assign(offset(n), {});
  fine_next_.assign(offset(n), {});
  const double radius = log2_radius(n, a_, patience_);
  nilpotent_ = std::isinf(radius);
  natural_exponent_ = nilpotent_ ? 0 : std::min(static_cast<int>(std::floor(-radius)), kLongest);
  longest_ = n == 0 ? 0 : nilpotent_ ? longest_way(n, a_) : longest_shortest_way(n, a_, patience_);
  slot_of_.fill(-1);
  used_ = 0;
  entries_ = Pattern(n, a);
  term_.assign(offset(n), {});
  for (std::vector<DoubleDouble>* list : {&exact_, &scaled_, &next_}) list->clear();
  for (std::vector<double>* list : {&rounded_, &packed_, &packed_a_}) list->clear();
  if (!nilpotent_) provide();
  work_.assign(offset(2 * n), 0.0);
  term_vector_.assign(offset(n), 0.0);
  next_vector_.assign(offset(n), 0.0);
  weight_.assign(offset(n), 0.0);
  envelopes_known_ = 0;
  envelopes_end_ = nilpotent_;
  envelopes_.clear();
  if (!nilpotent_) envelopes_ = absolute_exponential(n, a, power_of_two(natural_exponent_), patience_);
  envelopes_.resize(nilpotent_ ? 0 : offset(kEnvelopes * n * n), 0.0);
  scattered_.assign(nilpotent_ ? 0 : (kScattered + 1) * offset(n * n), 0.0);
}

// Memory of the powers, and of what makes them. Polynomial motion is followed by its few terms and has none, unless somebody asks.
void DyadicExponentials::provide() {
  const std::size_t size = offset(n_ * n_);
  exact_.assign(kSlots * size, {});
  rounded_.assign(kSlots * size, 0.0);
  packed_.assign(kSlots * packed_size(n_), 0.0);
  packed_a_.assign(packed_size(n_), 0.0);
  pack(n_, a_.data(), packed_a_.data());
  scaled_.assign(size, {});
  term_.assign(size, {});
  next_.assign(size, {});
}

void DyadicExponentials::square(const DoubleDouble* in, DoubleDouble* out) const {
  std::fill_n(out, n_ * n_, DoubleDouble{});
  for (int i = 0; i < n_; ++i) {
    look();
    for (int k = 0; k < n_; ++k) {
      const DoubleDouble& left = in[i * n_ + k];
      if (left.high == 0) continue;
      for (int j = 0; j < n_; ++j) {
        const DoubleDouble& right = in[k * n_ + j];
        if (right.high != 0) out[i * n_ + j] = out[i * n_ + j] + left * right;
      }
    }
  }
}

void DyadicExponentials::taylor(int p, DoubleDouble* out) {
  const double negligible = 0x1p-112;
  for (int i = 0; i < n_ * n_; ++i) {
    scaled_[offset(i)] = {std::ldexp(a_[offset(i)], p), std::ldexp(low_[offset(i)], p)};
    out[i] = term_[offset(i)] = scaled_[offset(i)];
  }
  for (int i = 0; i < n_; ++i) out[i * n_ + i] = out[i * n_ + i] + DoubleDouble{1, 0};
  for (int k = 2; k <= 300; ++k) {
    bool matters = false;
    std::fill(next_.begin(), next_.end(), DoubleDouble{});
    for (int i = 0; i < n_; ++i) {
      look();
      DoubleDouble* const row = next_.data() + offset(i * n_);
      for (int m = 0; m < n_; ++m) {
        const DoubleDouble& left = term_[offset(i * n_ + m)];
        if (left.high == 0) continue;
        for (const int j : entries_.row(m)) row[j] = row[j] + left * scaled_[offset(m * n_ + j)];
      }
      for (int j = 0; j < n_; ++j) {
        if (row[j].high == 0) continue;
        row[j] = row[j] / k;
        DoubleDouble& entry = out[i * n_ + j];
        entry = entry + row[j];
        matters = matters || std::abs(row[j].high) > negligible * std::abs(entry.high);
      }
    }
    std::swap(term_, next_);
    if (!matters) break;
  }
}

/// The matrix of 2^p is complete in this slot, the next free one.
void DyadicExponentials::keep(int p, int slot) {
  bool finite = true;
  for (int i = slot * n_ * n_; i < (slot + 1) * n_ * n_; ++i) {
    rounded_[offset(i)] = exact_[offset(i)].high;
    finite = finite && std::isfinite(rounded_[offset(i)]);
  }
  finite_[offset(slot)] = finite;
  pack(n_, rounded_.data() + slot * n_ * n_, packed_.data() + offset(slot) * packed_size(n_));
  slot_of_[offset(p + kOffset)] = static_cast<short>(slot);
  used_ = slot + 1;
}

const double* DyadicExponentials::at(int p) {
  const int size = n_ * n_;
  if (exact_.empty()) provide();
  const int known = slot_of_[offset(p + kOffset)];
  if (known >= 0) return rounded_.data() + known * size;
  const int smallest = nilpotent_ ? p : std::min(p, natural_exponent_ - 1);
  if (used_ + (p - smallest) + 1 > kSlots) {
    // More exponents than a run meets: start again rather than grow.
    slot_of_.fill(-1);
    used_ = 0;
  }
  // The nearest power below that is known already, or the series.
  int from = p - 1;
  while (from > smallest && slot_of_[offset(from + kOffset)] < 0) --from;
  if (p == smallest || slot_of_[offset(from + kOffset)] < 0) {
    from = smallest;
    taylor(from, exact_.data() + used_ * size);
    keep(from, used_);
  }
  for (int q = from + 1; q <= p; ++q) {
    const DoubleDouble* below = exact_.data() + slot_of_[offset(q - 1 + kOffset)] * size;
    square(below, exact_.data() + used_ * size);
    keep(q, used_);
  }
  return rounded_.data() + slot_of_[offset(p + kOffset)] * size;
}

const double* DyadicExponentials::packed_at(int p) {
  if (slot_of_[offset(p + kOffset)] < 0) (void)at(p);
  return packed_.data() + offset(slot_of_[offset(p + kOffset)]) * packed_size(n_);
}

bool DyadicExponentials::finite(int p) {
  if (nilpotent_ || p < natural_exponent_) return true;
  (void)at(p);
  return finite_[offset(slot_of_[offset(p + kOffset)])];
}

// The natural time first, known by the series of |A|, with times of an eighth, a quarter, … of it; then each time twice as far: every matrix goes
// on by 2^p, and half of them stay there.
bool DyadicExponentials::next_envelope() {
  const int size = n_ * n_;
  double* known = envelopes_.data() + envelopes_known_ * size;
  double* product_of = scattered_.data() + kScattered * offset(size);
  const auto times = [&](const double* left, const double* right) {
    for (int i = 0; i < n_; ++i) {
      look();
      for (int j = 0; j < n_; ++j) {
        double sum = 0;
        for (int k = 0; k < n_; ++k) sum += left[i * n_ + k] * right[k * n_ + j];
        product_of[i * n_ + j] = sum;
      }
    }
  };
  if (envelopes_known_ == 0) {
    for (std::size_t i = 0; i < kScattered; ++i) {
      double* matrix = scattered_.data() + i * offset(size);
      for (int k = 0; k < n_; ++k) matrix[k * n_ + k] = 1;
      for (int bit = 0; bit < 3; ++bit) {
        if (((i >> static_cast<unsigned>(bit)) & 1U) == 0) continue;
        times(at(natural_exponent_ - 3 + bit), matrix);
        std::copy_n(product_of, size, matrix);
      }
    }
  } else {
    const int p = natural_exponent_ + envelopes_known_ - 1;
    const double* before = known - size;
    const double* step = at(p);
    const double factor = 2;
    for (int k = 0; k < size; ++k) known[k] = std::max(before[k], factor * std::abs(step[k]));
    for (std::size_t i = 0; i < kScattered; ++i) {
      double* matrix = scattered_.data() + i * offset(size);
      times(step, matrix);
      for (int k = 0; k < size; ++k) known[k] = std::max(known[k], factor * std::abs(product_of[k]));
      // Which ones stay: bits of i·5 + p·3, mixed; any even spread will do.
      const auto mixed =
          (static_cast<unsigned>(i) * 5U + static_cast<unsigned>(envelopes_known_) * 3U) * 2654435761U;
      if (((mixed >> 13U) & 1U) != 0) std::copy_n(product_of, size, matrix);
    }
  }
  for (int k = 0; k < size; ++k) {
    if (!(std::abs(known[k]) < std::numeric_limits<double>::max())) return false;
  }
  ++envelopes_known_;
  return true;
}

const double* DyadicExponentials::envelope(int p) {
  const int place = p - natural_exponent_;
  if (place < 0 || place >= kEnvelopes) return nullptr;
  while (envelopes_known_ <= place && !envelopes_end_) envelopes_end_ = !next_envelope();
  return envelopes_known_ <= place ? nullptr : envelopes_.data() + place * n_ * n_;
}

void DyadicExponentials::apply(int p, const double* x, double* out) {
  if (nilpotent_ || p < natural_exponent_ - kFinest) {
    series(x, power_of_two(p), out);
  } else {
    multiply(n_, packed_at(p), x, out);
  }
}

void DyadicExponentials::apply_bounded(int p, const double* x, double* out) {
  constexpr double rounding = 2 * std::numeric_limits<double>::epsilon();
  for (int i = 0; i < n_; ++i) weight_[offset(i)] = x[n_ + i] + rounding * std::abs(x[i]);
  double* bound = out + n_;
  if (!nilpotent_ && p >= natural_exponent_ - kFinest) {
    multiply_bounded(n_, packed_at(p), x, weight_.data(), out, bound);
    return;
  }
  const double tau = power_of_two(p);
  series(x, tau, out);
  for (int i = 0; i < n_; ++i) bound[i] = term_vector_[offset(i)] = weight_[offset(i)];
  for (int k = 1; k <= 60; ++k) {
    const double factor = tau / k;
    bool matters = false;
    for (int i = 0; i < n_; ++i) {
      double sum = 0;
      for (const int j : entries_.row(i)) sum += std::abs(a_[offset(i * n_ + j)]) * term_vector_[offset(j)];
      next_vector_[offset(i)] = sum * factor;
      bound[i] += sum * factor;
      matters = matters || sum * factor > 0.01 * bound[i];
    }
    std::swap(term_vector_, next_vector_);
    if (!matters) break;
  }
}

/// A state that acts on another by m steps at least does so from the m-th term on: m more terms than the share of time asks for keep what it
/// adds, however small, right to the last bit.
int DyadicExponentials::terms_for(double tau) const {
  if (nilpotent_) return longest_;
  return exponential_terms(std::abs(tau) * power_of_two(-natural_exponent_), 31) + longest_;
}

void DyadicExponentials::series(const double* x, double tau, double* out) {
  if (!nilpotent_) {
    exponential_series(n_, packed_a_.data(), x, tau, terms_for(tau), out, next_vector_.data());
    return;
  }
  // The same sums without what is zero.
  std::copy_n(x, n_, out);
  for (int k = terms_for(tau); k >= 1; --k) {
    for (int i = 0; i < n_; ++i) {
      double sum = 0;
      for (const int j : entries_.row(i)) sum += a_[offset(i * n_ + j)] * out[j];
      next_vector_[offset(i)] = sum;
    }
    const double step = tau / k;
    for (int i = 0; i < n_; ++i) out[i] = x[i] + step * next_vector_[offset(i)];
  }
}

void DyadicExponentials::advance(const double* x, double tau, double* out) {
  double* state = work_.data();
  double* next = work_.data() + n_;
  for (int i = 0; i < n_; ++i) state[i] = x[i];
  const int finest = natural_exponent_ - 4;
  while (tau > 0 && !nilpotent_) {
    const int p = exponent_of(tau);
    if (p < finest) break;
    multiply(n_, packed_at(p), state, next);
    std::swap(state, next);
    tau -= power_of_two(p);
  }
  series(state, tau, out);
}

namespace {

/// Two numbers of 106 bits side by side: lane by lane the operations of core/double_double.hpp, to the bit.
struct FinePair {
  Pair high, low;
};

FinePair quick_two_sum(Pair a, Pair b) {
  const Pair sum = a + b;
  return {sum, b - (sum - a)};
}

FinePair two_sum(Pair a, Pair b) {
  const Pair sum = a + b;
  const Pair part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

FinePair add(const FinePair& a, const FinePair& b) {
  FinePair sum = two_sum(a.high, b.high);
  const FinePair tail = two_sum(a.low, b.low);
  sum = quick_two_sum(sum.high, sum.low + tail.high);
  return quick_two_sum(sum.high, sum.low + tail.low);
}

constexpr double kSplitter = 134217729.0;  // 2²⁷ + 1

/// A component of the state, and the two halves of it that products need.
struct Halved {
  double high, low, upper, lower;
};

Halved halved(const DoubleDouble& b) {
  const double big = kSplitter * b.high;
  const double upper = big - (big - b.high);
  return {b.high, b.low, upper, b.high - upper};
}

FinePair multiply(Pair high, Pair low, const Halved& b) {
  const Pair product = high * both(b.high);
  const Pair big = both(kSplitter) * high;
  const Pair upper = big - (big - high);
  const Pair lower = high - upper;
  const Pair rest = ((upper * both(b.upper) - product) + upper * both(b.lower) + lower * both(b.upper)) +
                    lower * both(b.lower);
  return quick_two_sum(product, rest + (high * both(b.low) + low * both(b.high)));
}

template <int Pairs>
void multiply_rows(int n, const DoubleDouble* rows, const Halved* x, DoubleDouble* out) {
  std::array<FinePair, Pairs> sum{};
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < Pairs; ++k) {
      const DoubleDouble& first = rows[2 * k * n + j];
      const DoubleDouble& second = rows[(2 * k + 1) * n + j];
      if (first.high == 0 && second.high == 0) continue;
      sum[offset(k)] =
          add(sum[offset(k)], multiply(Pair{first.high, second.high}, Pair{first.low, second.low}, x[j]));
    }
  }
  for (int k = 0; k < Pairs; ++k) {
    out[2 * k] = {sum[offset(k)].high[0], sum[offset(k)].low[0]};
    out[2 * k + 1] = {sum[offset(k)].high[1], sum[offset(k)].low[1]};
  }
}

/// out = M x, each sum in the order of its row. Small matrices, whose products wait for one another more than they compute, two rows at a time.
void multiply_exactly(int n, const DoubleDouble* matrix, const DoubleDouble* x, DoubleDouble* out) {
  constexpr int kMost = 32;
  std::array<Halved, kMost> state;
  bool finite = n <= kMost;  // a zero of the matrix keeps out what is infinite elsewhere
  for (int j = 0; finite && j < n; ++j) {
    state[offset(j)] = halved(x[j]);
    finite = std::isfinite(state[offset(j)].upper);
  }
  int i = 0;
  for (; finite && i + 3 < n; i += 4) multiply_rows<2>(n, matrix + i * n, state.data(), out + i);
  for (; finite && i + 1 < n; i += 2) multiply_rows<1>(n, matrix + i * n, state.data(), out + i);
  for (; i < n; ++i) {
    DoubleDouble sum;
    for (int j = 0; j < n; ++j) {
      if (matrix[i * n + j].high != 0) sum = sum + matrix[i * n + j] * x[j];
    }
    out[i] = sum;
  }
}

}  // namespace

void DyadicExponentials::advance_exactly(const double* x, double tau, double* out) {
  if (nilpotent_) {
    series(x, tau, out);
    return;
  }
  for (int i = 0; i < n_; ++i) fine_state_[offset(i)] = {x[i], 0};
  const int finest = natural_exponent_ - 4;
  while (tau > 0) {
    const int p = exponent_of(tau);
    if (p < finest) break;
    (void)at(p);
    const DoubleDouble* matrix = exact_.data() + slot_of_[offset(p + kOffset)] * n_ * n_;
    multiply_exactly(n_, matrix, fine_state_.data(), fine_next_.data());
    std::swap(fine_state_, fine_next_);
    tau -= power_of_two(p);
  }
  if (tau == 0) {
    for (int i = 0; i < n_; ++i) out[i] = fine_state_[offset(i)].high;
    return;
  }
  // Σ (A τ)^k x/k!, from the first term on.
  std::vector<DoubleDouble>& value = fine_next_;
  value = fine_state_;
  const int terms = terms_for(tau);
  for (int k = 1; k <= terms; ++k) {
    for (int i = 0; i < n_; ++i) {
      DoubleDouble sum;
      for (const int j : entries_.row(i))
        sum = sum + DoubleDouble{a_[offset(i * n_ + j)], low_[offset(i * n_ + j)]} * fine_state_[offset(j)];
      term_[offset(i)] = sum * DoubleDouble{tau, 0} / k;
    }
    for (int i = 0; i < n_; ++i) {
      fine_state_[offset(i)] = term_[offset(i)];
      value[offset(i)] = value[offset(i)] + term_[offset(i)];
    }
  }
  for (int i = 0; i < n_; ++i) out[i] = value[offset(i)].high;
}

}  // namespace judder::engines::numeric
