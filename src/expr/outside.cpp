#include "judder/expr/outside.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>

#include "expr/outside_calls.hpp"
#include "judder/core/number.hpp"

namespace judder::expr {

namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Number of ways to choose `count` of `kinds` things, each as often as one likes.
std::size_t multisets(int kinds, int count) {
  std::size_t ways = 1;
  for (int k = 1; k <= count; ++k)
    ways = ways * static_cast<std::size_t>(kinds + k - 1) / static_cast<std::size_t>(k);
  return ways;
}

std::string first_line(std::string text) {
  constexpr std::size_t kLongest = 300;
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

std::string point(std::span<const double> u) {
  std::string out;
  for (const double x : u) out += (out.empty() ? "(" : ", ") + to_text(x, 6);
  return out + ")";
}

/// A power of two not above `fraction` of the size, and not below 2^-17 of the argument.
double step_for(double u, double size, double fraction) {
  const double wanted = std::max(size * fraction, std::abs(u) * 0x1p-17);
  int exponent = 0;
  static_cast<void>(std::frexp(wanted, &exponent));
  return std::ldexp(1.0, exponent - 1);
}

/// Differences of the highest derivatives that the function gives, along one direction or two.
class Differences {
 public:
  Differences(const OutsideCall& call, const double* u) : call_(call), u_(u) {}

  /// The derivative with these orders, which are one or two more than the function gives.
  double derivative(const Orders& orders, double* noise) {
    int missing = total(orders) - call_.order;
    Orders base = orders;
    std::array<int, kByDifferences> along{-1, -1};
    // Twice along one argument, where that can be: it takes fewer calls than two of them.
    for (int i = 0; missing == 2 && i < call_.arguments; ++i) {
      if (base[at(i)] < 2) continue;
      base[at(i)] = static_cast<std::uint8_t>(base[at(i)] - 2);
      along = {i, i};
      missing = 0;
    }
    for (int i = 0, k = 0; missing > 0; ++i) {
      if (base[at(i)] == 0) continue;
      --base[at(i)];
      along[at(k++)] = i;
      --missing;
    }
    place_ = partial_place(base, call_.arguments);
    sum_ = size_ = 0;
    double divisor = 0;
    const int i = along[0], j = along[1];
    if (j < 0) {
      const double h = step(i, 0x1p-10);
      for (const int k : {1, 2}) {
        const double weight = k == 1 ? 8 : -1;
        add(weight, i, k * h, i, 0);
        add(-weight, i, -k * h, i, 0);
      }
      divisor = 12 * h;
    } else {
      static constexpr double kWeights[] = {-490, 270, -27, 2};
      const double h = step(i, 0x1p-7), g = step(j, 0x1p-7);
      if (i == j) add(kWeights[0], i, 0, i, 0);
      for (int k = 1; k <= 3; ++k) {
        for (const int sign : {1, -1}) {
          add(kWeights[k], i, sign * k * h, j, i == j ? 0 : sign * k * g);
          if (i != j) add(-kWeights[k], i, sign * k * h, j, -sign * k * g);
        }
      }
      divisor = i == j ? 180 * h * h : 720 * h * g;
    }
    const double rounding = 2 * kEpsilon * size_ / divisor;
    if (noise != nullptr) *noise = rounding;
    const double value = sum_ / divisor;
    return std::abs(value) <= rounding ? 0 : value;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] double step(int i, double fraction) const {
    return step_for(u_[i], call_.size[at(i)], fraction);
  }
  void add(double weight, int i, double by, int j, double also) {
    std::array<double, kMostArguments> there{};
    std::copy_n(u_, call_.arguments, there.begin());
    there[at(i)] += by;
    there[at(j)] += also;
    std::array<double, kMostPartials> values;  // NOLINT: all that are read are written first
    const std::size_t count = partial_count(call_.arguments, call_.order);
    call_.call->evaluate({there.data(), at(call_.arguments)}, call_.order, {values.data(), count});
    sum_ += weight * values[place_];
    size_ += std::abs(weight * values[place_]);
  }

  const OutsideCall& call_;
  const double* u_;
  std::size_t place_ = 0;
  double sum_ = 0, size_ = 0;
};

double derivative_by_differences(const OutsideCall& call, const double* u, const Orders& orders,
                                 double* noise) {
  if (total(orders) > call.order + kByDifferences) return kNotKnown;
  return Differences(call, u).derivative(orders, noise);
}

/// The highest order of what is wanted that the function gives; −1: none.
int exact_order(const OutsideCall& call) {
  int most = -1;
  for (const Orders& orders : call.wanted) {
    const int order = total(orders);
    if (order <= call.order) most = std::max(most, order);
  }
  return most;
}

}  // namespace

int total(const Orders& orders) {
  int sum = 0;
  for (const std::uint8_t order : orders) sum += order;
  return sum;
}

std::size_t partial_count(int arguments, int order) { return multisets(arguments + 1, order); }

std::size_t partial_place(const Orders& orders, int arguments) {
  const int order = total(orders);
  std::size_t place = order == 0 ? 0 : partial_count(arguments, order - 1);
  int left = order;
  for (int i = 0; i < arguments && left > 0; ++i) {
    // Those that begin with a later argument come after all that go on with this one.
    for (int k = 0; k < orders[static_cast<std::size_t>(i)]; ++k) --left;
    if (left > 0) place += multisets(arguments - i, left) - multisets(arguments - i - 1, left);
  }
  return place;
}

std::string outside_problem(const OutsideFunction& function) {
  if (function.call == nullptr) return "there is nothing to call";
  if (function.arguments < 1 || function.arguments > kMostArguments)
    return "it has " + std::to_string(function.arguments) + " arguments; 1 to " +
           std::to_string(kMostArguments) + " can be";
  constexpr int kHighest = 100;
  if (function.order < 0 || function.order > kHighest ||
      partial_count(function.arguments, function.order) > kMostPartials)
    return "it gives derivatives up to order " + std::to_string(function.order) + ", " +
           (function.order < 0 || function.order > kHighest
                ? std::string("which is none")
                : std::to_string(partial_count(function.arguments, function.order)) + " numbers; at most " +
                      std::to_string(kMostPartials) + " can be");
  if (!function.sizes.empty() && function.sizes.size() != static_cast<std::size_t>(function.arguments))
    return "it has " + std::to_string(function.arguments) + " arguments and " +
           std::to_string(function.sizes.size()) + " sizes";
  for (const double size : function.sizes) {
    if (!std::isfinite(size) || !(size > 0)) return "the size of an argument is " + to_text(size, 6);
  }
  return {};
}

OutsideCall outside_call(const OutsideFunction& function, std::vector<Orders> wanted) {
  OutsideCall call{function.call, function.arguments, function.order, {}, std::move(wanted)};
  call.size.fill(1);
  std::copy(function.sizes.begin(), function.sizes.end(), call.size.begin());
  return call;
}

bool Outside::given_up() const {
  if (failures_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(std::this_thread::get_id());
  return found != records_.end() && found->second->failed;
}

void Outside::note(std::span<const double> u, bool failed, const std::string& words) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(std::this_thread::get_id());
  if (found == records_.end() || found->second->failed) return;
  found->second->words = point(u) + words;
  found->second->failed = failed;
  if (failed) failures_.fetch_add(1, std::memory_order_relaxed);
}

void Outside::evaluate(std::span<const double> u, int order, std::span<double> out) const {
  if (given_up()) {
    std::fill(out.begin(), out.end(), kNotKnown);
    return;
  }
  const auto no_value = [&](const std::exception& thrown) {
    note(u, false, " has no value: " + first_line(thrown.what()));
    std::fill(out.begin(), out.end(), kNotKnown);
  };
  try {
    compute(u, order, out);
  } catch (const std::domain_error& thrown) {
    return no_value(thrown);
  } catch (const std::range_error& thrown) {
    return no_value(thrown);
  } catch (const std::overflow_error& thrown) {
    return no_value(thrown);
  } catch (const std::exception& thrown) {
    note(u, true, " has failed: " + first_line(thrown.what()));
    std::fill(out.begin(), out.end(), kNotKnown);
    return;
  } catch (...) {
    note(u, true, " has failed");
    std::fill(out.begin(), out.end(), kNotKnown);
    return;
  }
  for (const double& x : out) {
    if (std::isfinite(x)) continue;
    const std::string what = &x == out.data() ? " is " : " has a derivative that is ";
    note(u, false, what + (std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf"));
    return;
  }
}

OutsideWatch::OutsideWatch(std::span<const OutsideFunction> functions)
    : functions_(functions), records_(functions.size()) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Outside& outside = *functions[i].call;
    const std::lock_guard lock(outside.mutex_);
    Outside::Record*& now = outside.records_[std::this_thread::get_id()];
    records_[i].before = now;
    now = &records_[i];
  }
}

OutsideWatch::~OutsideWatch() {
  for (std::size_t i = functions_.size(); i-- > 0;) {
    const Outside& outside = *functions_[i].call;
    const std::lock_guard lock(outside.mutex_);
    if (records_[i].failed) outside.failures_.fetch_sub(1, std::memory_order_relaxed);
    if (records_[i].before != nullptr)
      outside.records_[std::this_thread::get_id()] = records_[i].before;
    else
      outside.records_.erase(std::this_thread::get_id());
  }
}

int OutsideWatch::failed() const {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].failed) return static_cast<int>(i);
  }
  return -1;
}

int OutsideWatch::not_a_number() const {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].words.empty()) return static_cast<int>(i);
  }
  return -1;
}

std::string OutsideWatch::words(int function) const {
  const auto i = static_cast<std::size_t>(function);
  return functions_[i].name + records_[i].words;
}

void evaluate(const OutsideCall& call, const double* u, double* out, double* noise) {
  std::array<double, kMostPartials> exact;  // NOLINT: all that are read are written first
  const int order = exact_order(call);
  if (order >= 0) {
    call.call->evaluate({u, static_cast<std::size_t>(call.arguments)}, order,
                        {exact.data(), partial_count(call.arguments, order)});
  }
  for (std::size_t w = 0; w < call.wanted.size(); ++w) {
    const Orders& orders = call.wanted[w];
    if (noise != nullptr) noise[w] = 0;
    out[w] = total(orders) <= call.order
                 ? exact[partial_place(orders, call.arguments)]
                 : derivative_by_differences(call, u, orders, noise != nullptr ? noise + w : nullptr);
  }
}

// Every number known to its last bits: values there and beside it. Nothing is known of what lies between far ends.
void evaluate_interval(const OutsideCall& call, const Interval* u, Interval* out) {
  constexpr double kNarrow = 0x1p-26;
  constexpr double kOwnRounding = 4;  // last bits of the value that the function itself may lose
  constexpr double kSlack = 2;        // between the ends a slope changes by little
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::size_t count = call.wanted.size();
  std::array<double, kMostArguments> middle{}, half{};
  bool narrow = count <= kMostPartials;
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.arguments); ++i) {
    middle[i] = u[i].low + 0.5 * (u[i].high - u[i].low);
    half[i] = std::max(u[i].high - middle[i], middle[i] - u[i].low);
    narrow = narrow && half[i] <= kNarrow * std::max(std::abs(middle[i]), call.size[i]);
  }
  for (std::size_t w = 0; w < count; ++w) out[w] = {-kInfinity, kInfinity};
  if (!narrow) return;
  std::array<double, kMostPartials> value, noise, beside;  // NOLINT: all that are read are written first
  evaluate(call, middle.data(), value.data(), noise.data());
  for (std::size_t w = 0; w < count; ++w) noise[w] += kOwnRounding * kEpsilon * std::abs(value[w]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.arguments); ++i) {
    if (half[i] == 0) continue;
    const double at = middle[i];
    middle[i] = at + half[i];
    evaluate(call, middle.data(), beside.data(), nullptr);
    middle[i] = at;
    for (std::size_t w = 0; w < count; ++w) noise[w] += kSlack * std::abs(beside[w] - value[w]);
  }
  for (std::size_t w = 0; w < count; ++w) {
    if (std::isfinite(value[w]) && std::isfinite(noise[w]))
      out[w] = {value[w] - noise[w], value[w] + noise[w]};
  }
}

namespace {

/// f_α(u(τ)) = Σ_β f_{α+β}(u₀) (u(τ) − u₀)^β / β!, term by term in the order of |β|.
class Composition {
 public:
  Composition(const OutsideCall& call, const Series* u, int order) : call_(call), u_(u), order_(order) {
    for (int i = 0; i < call.arguments; ++i) at_[static_cast<std::size_t>(i)] = u[i].c[0];
    exact_up_to_ = exact_order(call);
    for (int i = 0; i < call.arguments; ++i) {
      for (int k = 1; k <= order; ++k) moves_ = moves_ || u[i].c[k] != 0;
    }
    if (moves_) exact_up_to_ = call.order;
    if (exact_up_to_ >= 0) {
      call.call->evaluate({at_.data(), static_cast<std::size_t>(call.arguments)}, exact_up_to_,
                          {exact_.data(), partial_count(call.arguments, exact_up_to_)});
    }
  }

  Series of(const Orders& orders) {
    sum_ = Series{};
    unknown_ = order_ + 1;
    Series one;
    one.c[0] = 1;
    orders_ = orders;
    add(one, 0, 0, 1);
    // What comes after a coefficient that is not known may be wrong.
    for (int k = unknown_; k <= order_; ++k) sum_.c[k] = kNotKnown;
    return sum_;
  }

 private:
  /// The term with this power of the arguments, and all with higher powers of argument `first` and of those behind it.
  void add(const Series& power, int degree, int first, double factor) {
    int lowest = 0;
    while (lowest <= order_ && power.c[lowest] == 0) ++lowest;
    if (lowest > order_ || lowest >= unknown_) return;
    const double derivative = known(orders_);
    if (std::isnan(derivative)) {
      unknown_ = std::min(unknown_, lowest);
      return;
    }
    for (int k = lowest; k <= order_; ++k) sum_.c[k] += factor * derivative * power.c[k];
    if (degree == order_) return;
    for (int i = first; i < call_.arguments; ++i) {
      const auto a = static_cast<std::size_t>(i);
      Series next;
      for (int k = 1; k <= order_; ++k) {
        for (int j = 1; j <= k; ++j) next.c[k] += u_[i].c[j] * power.c[k - j];
      }
      ++orders_[a];
      ++repeats_[a];
      add(next, degree + 1, i, factor / repeats_[a]);
      --repeats_[a];
      --orders_[a];
    }
  }
  double known(const Orders& orders) {
    const int order = total(orders);
    if (order <= exact_up_to_) return exact_[partial_place(orders, call_.arguments)];
    return derivative_by_differences(call_, at_.data(), orders, nullptr);
  }

  const OutsideCall& call_;
  const Series* u_;
  int order_;
  bool moves_ = false;
  int exact_up_to_ = -1;
  int unknown_ = 0;  ///< the first coefficient that is not known
  Orders orders_{};
  std::array<int, kMostArguments> repeats_{};
  std::array<double, kMostArguments> at_{};
  std::array<double, kMostPartials> exact_{};
  Series sum_;
};

}  // namespace

void evaluate_series(const OutsideCall& call, const Series* u, Series* out, int order) {
  Composition composition(call, u, order);
  for (std::size_t w = 0; w < call.wanted.size(); ++w) out[w] = composition.of(call.wanted[w]);
}

}  // namespace judder::expr
