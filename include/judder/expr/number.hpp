// Numbers that remember what they were made from.
//
// A model is compiled by folding: parameters are numbers, numbers are added, multiplied and compared, and what comes of it decides how a
// formula is written (0 x vanishes, 1 x is x, −k x is subtracted, x^2 is a product). To compute with another value of a parameter one would have to
// do all of it again. A parameter that is left *open* is followed through that work instead. A Number made from open parameters has an origin, a step
// on a tape; whoever compares such a Number leaves a *guard*, the comparison with its outcome. For other values the tape is run once:
//
//     all guards hold       every comparison would go the same way, so folding would give the same formulas with the numbers of the tape
//     one of them does not  the formulas would be others, and the model must be compiled for these values
//
// So what is bound to values has the bits of what is folded with them, or it is refused; there is nothing between. The steps of the tape are the
// operations of folding, done by the same functions in the same order. Who needs the plain number of a Number with an origin has to say so with
// fixed(): then no other value will do, and the parameters behind it cannot be left open.
//
// A Number without origin is a double, and costs no more than one test.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "judder/core/diagnostics.hpp"

namespace judder::expr {

class Tape;

/// A step of a tape; Numbers point to it.
struct Origin {
  Tape* tape = nullptr;
  std::uint32_t step = 0;
};

class Number {
 public:
  Number() = default;
  Number(double value) : value_(value) {}  // NOLINT: a double is a Number without origin
  Number(double value, const Origin* origin) : value_(value), origin_(origin) {}

  /// The value that the model is being compiled with: for texts, and for what is computed again when values are bound. Not for decisions.
  [[nodiscard]] double raw() const { return value_; }
  /// The same for good: no other value of the parameters behind it will do. `why` completes "its value decides …".
  [[nodiscard]] double fixed(const char* why) const;
  [[nodiscard]] bool open() const { return origin_ != nullptr; }
  [[nodiscard]] const Origin* origin() const { return origin_; }

  Number& operator+=(const Number& b);
  Number& operator-=(const Number& b);
  Number& operator*=(const Number& b);

 private:
  double value_ = 0;
  const Origin* origin_ = nullptr;
};

enum class Step : std::uint8_t {
  parameter,  ///< what is given for it, or else its first operand
  add,
  multiply,
  divide,
  power,  ///< constant_power
  pow,    ///< elementary::pow
  call,   ///< a Function of one argument
  atan2,
  hypot,
  rounded,  ///< to what a key of a switch keeps
};
enum class Test : std::uint8_t { equal, less, less_equal, whole, finite, divisor, fixed };

/// What open parameters were used for, while a model is compiled; never changed afterwards.
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A parameter that is left open: compiled with `value`, and bound to `otherwise` where nothing else is given.
  Number open(std::string name, double value, Number otherwise);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The value of every step for these parameters, by names(); NaN: not given. False: a guard does not hold, and `parameter` is one behind it.
  [[nodiscard]] bool run(std::span<const double> given, std::vector<double>& values,
                         std::size_t& parameter) const;

  /// Why a parameter cannot be left open, and where that was found.
  struct Fixed {
    std::size_t parameter = 0;
    std::string why, where;
    Span span;
  };
  [[nodiscard]] std::vector<Fixed> fixed() const;
  /// What is being read from now on, for fixed().
  void reading(std::string where, Span span);

  // for Number and the functions below
  Number make(Step step, const Number& a, const Number& b, double value, std::uint32_t extra = 0);
  bool test(Test test, const Number& a, const Number& b, bool outcome);
  void fix(const Number& a, const char* why);

  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  [[nodiscard]] std::size_t guards() const { return guards_.size(); }

 private:
  struct Operand {
    std::uint32_t step = kNone;
    double value = 0;
    friend auto operator<=>(const Operand&, const Operand&) = default;
  };
  struct Made {
    Step step = Step::add;
    std::uint32_t extra = 0;
    Operand a, b;
  };
  struct Guard {
    Test test = Test::equal;
    Operand a, b;
    bool outcome = false;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static Operand operand(const Number& a) {
    return a.open() ? Operand{a.origin()->step, 0} : Operand{kNone, a.raw()};
  }
  [[nodiscard]] std::vector<std::size_t> parameters_of(std::uint32_t step) const;
  [[nodiscard]] std::size_t parameter_of(const Guard& guard) const;

  std::deque<Origin> origins_;
  std::vector<Made> steps_;
  std::vector<Guard> guards_;
  std::vector<std::string> names_;
  using Key = std::tuple<int, std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>;
  static Key key(int kind, std::uint32_t extra, const Operand& a, const Operand& b);
  std::map<Key, std::pair<std::uint32_t, double>> known_steps_;
  std::map<Key, bool> known_guards_;
  struct Place {
    std::uint32_t step = 0;
    std::string why, where;
    Span span;
  };
  std::vector<Place> fixed_;
  std::string where_;
  Span span_;
};

[[nodiscard]] inline Tape* tape_of(const Number& a, const Number& b) {
  return a.open() ? a.origin()->tape : b.origin()->tape;
}

#define JUDDER_NUMBER_ARITHMETIC(symbol, step)                                    \
  [[nodiscard]] inline Number operator symbol(const Number& a, const Number& b) { \
    const double value = a.raw() symbol b.raw();                                  \
    if (!a.open() && !b.open()) return value;                                     \
    return tape_of(a, b)->make(step, a, b, value);                                \
  }
JUDDER_NUMBER_ARITHMETIC(+, Step::add)
JUDDER_NUMBER_ARITHMETIC(*, Step::multiply)
JUDDER_NUMBER_ARITHMETIC(/, Step::divide)
#undef JUDDER_NUMBER_ARITHMETIC

[[nodiscard]] inline Number operator-(const Number& a) {
  return a.open() ? Number(-1) * a : Number(-a.raw());
}
// a − b is a + (−b), to the bit.
[[nodiscard]] inline Number operator-(const Number& a, const Number& b) {
  return a.open() || b.open() ? a + -b : Number(a.raw() - b.raw());
}
inline Number& Number::operator+=(const Number& b) { return *this = *this + b; }
inline Number& Number::operator-=(const Number& b) { return *this = *this - b; }
inline Number& Number::operator*=(const Number& b) { return *this = *this * b; }

[[nodiscard]] inline bool operator==(const Number& a, const Number& b) {
  const bool outcome = a.raw() == b.raw();
  return !a.open() && !b.open() ? outcome : tape_of(a, b)->test(Test::equal, a, b, outcome);
}
[[nodiscard]] inline bool operator<(const Number& a, const Number& b) {
  const bool outcome = a.raw() < b.raw();
  return !a.open() && !b.open() ? outcome : tape_of(a, b)->test(Test::less, a, b, outcome);
}
[[nodiscard]] inline bool operator<=(const Number& a, const Number& b) {
  const bool outcome = a.raw() <= b.raw();
  return !a.open() && !b.open() ? outcome : tape_of(a, b)->test(Test::less_equal, a, b, outcome);
}
[[nodiscard]] inline bool operator>(const Number& a, const Number& b) { return b < a; }
[[nodiscard]] inline bool operator>=(const Number& a, const Number& b) { return b <= a; }

/// By its two-sided comparison, so that one guard says what is meant.
[[nodiscard]] inline Number abs(const Number& a) {
  if (!a.open()) return std::abs(a.raw());
  return a < Number(0) ? -a : a;
}
[[nodiscard]] inline bool isfinite(const Number& a) {
  const bool outcome = std::isfinite(a.raw());
  return a.open() ? a.origin()->tape->test(Test::finite, a, Number(), outcome) : outcome;
}
[[nodiscard]] inline Number max(const Number& a, const Number& b) { return a < b ? b : a; }
[[nodiscard]] inline Number min(const Number& a, const Number& b) { return b < a ? b : a; }

}  // namespace judder::expr
