// The plain evaluator.
#include <cmath>
#include <span>

#include "core/elementary.hpp"
#include "expr/functions.hpp"
#include "expr/graph_data.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

#define JUDDER_PLAIN [[gnu::always_inline]] static inline
struct Plain {
  JUDDER_PLAIN void set(double& to, double c) { to = c; }
  JUDDER_PLAIN double add(double a, double b) { return a + b; }
  JUDDER_PLAIN double subtract(double a, double b) { return a - b; }
  JUDDER_PLAIN double multiply(double a, double b) { return a * b; }
  JUDDER_PLAIN double divide(double a, double b) { return a / b; }
  JUDDER_PLAIN double scale(double c, double a) { return c * a; }
  JUDDER_PLAIN double shift(double c, double a) { return a + c; }
  JUDDER_PLAIN double negate(double a) { return -a; }
  JUDDER_PLAIN double reciprocal(double a) { return 1 / a; }
  JUDDER_PLAIN double square(double a) { return a * a; }
  JUDDER_PLAIN double cube(double a) { return a * a * a; }
  JUDDER_PLAIN double power_whole(double a, std::uint32_t n) {
    return power_by_squaring(a, n, [](double x, double y) { return x * y; });
  }
  JUDDER_PLAIN double power(double a, double b) { return elementary::pow(a, b); }
  JUDDER_PLAIN double atan2(double a, double b) { return elementary::atan2(a, b); }
  JUDDER_PLAIN double hypot(double a, double b) { return hypotenuse(a, b); }
  JUDDER_PLAIN double absolute(double a) { return std::abs(a); }
  JUDDER_PLAIN double clip(double a) { return a < 0 ? 0 : a; }
  JUDDER_PLAIN double select(double c, double a, double b) { return select_value(c, a, b); }
  JUDDER_PLAIN double side_to_sign(double s) { return 2 * s - 1; }
  JUDDER_PLAIN double own_side(double s, double at_zero) { return expr::own_side(s, at_zero); }
  JUDDER_PLAIN double side(double s, double at_zero) { return side_value(s, at_zero); }
  JUDDER_PLAIN double sign(double s) { return sign_value(s); }
  JUDDER_PLAIN double floor(double a) { return std::floor(a); }
  JUDDER_PLAIN double level(std::span<const double> levels, double a) { return level_of(levels, a); }
  JUDDER_PLAIN double lookup(std::span<const double> list, double a) { return lookup_value(list, a); }
  JUDDER_PLAIN double turn(double side, double angle) { return turn_value(side, angle); }
  JUDDER_PLAIN double flat(double u, std::uint32_t order) { return flat_value(u, order); }
  JUDDER_PLAIN double outside(const OutsideCall& call, double* block) {
    expr::evaluate(call, block, block + call.arguments, nullptr);
    return *block;
  }
  JUDDER_PLAIN double function(Function f, double a) { return apply(f, a); }
};

/// Without what calls another function.
struct Leaf : Plain {
  JUDDER_PLAIN bool reaches(Function f, double a) { return within_kernel(f, a); }
  JUDDER_PLAIN double function(Function f, double a) { return kernel_value(f, a); }
  JUDDER_PLAIN bool reaches(double a, double b) {
    return kernel::squares_range<double, std::int64_t>(a * a + b * b) != 0;
  }
  JUDDER_PLAIN double hypot(double a, double b) { return std::sqrt(a * a + b * b); }
};
#undef JUDDER_PLAIN

}  // namespace

// Plain numbers are those of every step, and their programs are short: a loop that calls nothing has no registers to save when it begins
// and ends. Where it meets what needs a call, the second loop goes on.
void Program::evaluate(const double* in, double* out, double* registers) const {
  constexpr Leaf algebra;
#define JUDDER_LEAVE evaluate_from(i, out, registers)
#include "expr/loop.inc"
#undef JUDDER_LEAVE
}

void Program::evaluate_from(const Instruction* i, double* out, double* registers) const {
  constexpr Plain algebra;
#define JUDDER_RESUME
#include "expr/loop.inc"
#undef JUDDER_RESUME
}

}  // namespace judder::expr
