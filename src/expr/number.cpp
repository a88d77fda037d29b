#include "judder/expr/number.hpp"

#include <algorithm>
#include <bit>

#include "core/elementary.hpp"
#include "expr/functions.hpp"
#include "expr/graph_data.hpp"

namespace judder::expr {

double Number::fixed(const char* why) const {
  if (open()) origin_->tape->fix(*this, why);
  return value_;
}

Tape::Key Tape::key(int kind, std::uint32_t extra, const Operand& a, const Operand& b) {
  return {kind,   extra,
          a.step, std::bit_cast<std::uint64_t>(a.value),
          b.step, std::bit_cast<std::uint64_t>(b.value)};
}

Number Tape::open(std::string name, double value, Number otherwise) {
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(std::move(name));
  return make(Step::parameter, otherwise, Number(), value, number);
}

Number Tape::make(Step step, const Number& a, const Number& b, double value, std::uint32_t extra) {
  Operand first = operand(a), second = operand(b);
  // Sums and products have the same bits in both orders: k x and x k are one number, as they are when they are folded.
  if ((step == Step::add || step == Step::multiply) && second < first) std::swap(first, second);
  // 1 k, k + 0 and k/1 are k. A zero that loses its sign here never had one: there is one zero in a graph.
  const auto is = [](const Operand& o, double x) { return o.step == kNone && o.value == x; };
  const auto itself = [&](const Operand& o) { return Number(value, &origins_[o.step]); };
  if (step == Step::multiply && is(second, 1)) return itself(first);
  if (step == Step::add && is(second, 0)) return itself(first);
  if (step == Step::divide && is(second, 1)) return itself(first);
  if (step == Step::power && is(second, 1)) return itself(first);
  const auto [at, fresh] = known_steps_.emplace(key(static_cast<int>(step), extra, first, second),
                                                std::pair(static_cast<std::uint32_t>(steps_.size()), value));
  if (fresh) {
    steps_.push_back({step, extra, first, second});
    origins_.push_back({this, at->second.first});
  }
  return {at->second.second, &origins_[at->second.first]};
}

bool Tape::test(Test test, const Number& a, const Number& b, bool outcome) {
  Operand first = operand(a), second = operand(b);
  if (first.step == second.step && first.step != kNone && test != Test::whole && test != Test::finite &&
      test != Test::divisor)
    return outcome;  // a number beside itself
  if (test == Test::equal && second < first) std::swap(first, second);
  const auto [at, fresh] = known_guards_.emplace(key(static_cast<int>(test), 0, first, second), outcome);
  if (fresh) guards_.push_back({test, first, second, outcome});
  return at->second;
}

void Tape::fix(const Number& a, const char* why) {
  test(Test::fixed, a, Number(a.raw()), true);
  const std::uint32_t step = a.origin()->step;
  for (const Place& place : fixed_) {
    if (place.step == step) return;
  }
  fixed_.push_back({step, why, where_, span_});
}

void Tape::reading(std::string where, Span span) {
  where_ = std::move(where);
  span_ = span;
}

std::vector<std::size_t> Tape::parameters_of(std::uint32_t step) const {
  std::vector<std::size_t> found;
  std::vector<bool> seen(steps_.size());
  std::vector<std::uint32_t> open;
  const auto visit = [&](const Operand& o) {
    if (o.step == kNone || seen[o.step]) return;
    seen[o.step] = true;
    open.push_back(o.step);
  };
  visit({step, 0});
  while (!open.empty()) {
    const Made& made = steps_[open.back()];
    open.pop_back();
    if (made.step == Step::parameter) {
      found.push_back(made.extra);
      continue;
    }
    visit(made.a);
    visit(made.b);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::size_t Tape::parameter_of(const Guard& guard) const {
  return parameters_of(guard.a.step != kNone ? guard.a.step : guard.b.step).front();
}

std::vector<Tape::Fixed> Tape::fixed() const {
  std::vector<Fixed> out;
  for (const Place& place : fixed_) {
    for (const std::size_t parameter : parameters_of(place.step)) {
      const bool known =
          std::any_of(out.begin(), out.end(), [&](const Fixed& each) { return each.parameter == parameter; });
      if (!known) out.push_back({parameter, place.why, place.where, place.span});
    }
  }
  return out;
}

bool Tape::run(std::span<const double> given, std::vector<double>& values, std::size_t& parameter) const {
  values.resize(steps_.size());
  const auto of = [&](const Operand& o) { return o.step == kNone ? o.value : values[o.step]; };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Made& made = steps_[i];
    const double a = of(made.a), b = of(made.b);
    double r = 0;
    switch (made.step) {
      case Step::parameter:
        r = made.extra < given.size() && !std::isnan(given[made.extra]) ? given[made.extra] : a;
        break;
      case Step::add:
        r = a + b;
        break;
      case Step::multiply:
        r = a * b;
        break;
      case Step::divide:
        r = a / b;
        break;
      case Step::power:
        r = constant_power(a, b);
        break;
      case Step::pow:
        r = elementary::pow(a, b);
        break;
      case Step::call:
        r = apply(static_cast<Function>(made.extra), a);
        break;
      case Step::atan2:
        r = elementary::atan2(a, b);
        break;
      case Step::hypot:
        r = hypotenuse(a, b);
        break;
      case Step::rounded:
        r = rounded(a);
        break;
    }
    values[i] = r;
  }
  for (const Guard& guard : guards_) {
    const double a = of(guard.a), b = of(guard.b);
    bool outcome = false;
    switch (guard.test) {
      case Test::equal:
      case Test::fixed:
        outcome = a == b;
        break;
      case Test::less:
        outcome = a < b;
        break;
      case Test::less_equal:
        outcome = a <= b;
        break;
      case Test::whole:
        outcome = is_whole(a);
        break;
      case Test::finite:
        outcome = std::isfinite(a);
        break;
      case Test::divisor:
        outcome = divisor(a) == 0;
        break;
    }
    if (outcome == guard.outcome) continue;
    parameter = parameter_of(guard);
    return false;
  }
  return true;
}

}  // namespace judder::expr
