// The plain evaluator.
#include "expr/graph_data.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

struct Doubles {
  using Value = double;
  static void set(double& to, double c) { to = c; }
  static double add(double a, double b) { return a + b; }
  static double subtract(double a, double b) { return a - b; }
  static double multiply(double a, double b) { return a * b; }
  static double divide(double a, double b) { return a / b; }
  static double negate(double a) { return -a; }
  static double reciprocal(double a) { return 1 / a; }
  static double square(double a) { return a * a; }
  static double cube(double a) { return a * a * a; }
  static double power_whole(double a, std::uint32_t n) { return power_by_squaring(a, n, multiply); }
  static double power(double a, double b) { return std::pow(a, b); }
  static double atan2(double y, double x) { return std::atan2(y, x); }
  static double hypot(double a, double b) { return std::hypot(a, b); }
  static double absolute(double a) { return std::abs(a); }
  static double select(double c, double a, double b) { return select_value(c, a, b); }
  static double side_to_sign(double s) { return 2 * s - 1; }
  static double side(double s, double at_zero) { return side_value(s, at_zero); }
  static double sign(double s) { return sign_value(s); }
  static double floor(double x) { return std::floor(x); }
  static double level(std::span<const double> levels, double x) { return level_of(levels, x); }
  static double lookup(std::span<const double> list, double side) { return lookup_value(list, side); }
  static double turn(double side, double angle) { return turn_value(side, angle); }
  static double flat(double u, std::uint32_t order) { return flat_value(u, order); }
  static double function(Function f, double x) { return apply(f, x); }
};

}  // namespace

void Program::evaluate(const double* in, double* out, double* registers) const {
  run(in, out, registers, Doubles{});
}

}  // namespace judder::expr
