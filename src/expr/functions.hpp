// The functions of the language for one number, the same in all evaluators.
//
// The common ones go by kernels.hpp, with the same bits everywhere, and to the C library where the kernels do not reach: huge angles,
// results near overflow or underflow, infinities, NaN.
#pragma once

#include "expr/kernels.hpp"
#include "judder/expr/graph.hpp"

namespace judder::expr {

#define JUDDER_SCALAR [[nodiscard, gnu::always_inline]] inline

/// Whether the function has a kernel that reaches x.
JUDDER_SCALAR bool within_kernel(Function function, double x) {
  switch (function) {
    case Function::sin:
    case Function::cos:
      return kernel::trigonometric_range<double, std::int64_t>(x) != 0;
    case Function::exp:
      return kernel::exponential_range<double, std::int64_t>(x) != 0;
    case Function::log:
      return kernel::logarithm_range<double, std::int64_t>(x) != 0;
    case Function::sqrt:
      return true;
    default:
      return false;
  }
}

/// Of a function that has a kernel, inside its reach.
JUDDER_SCALAR double kernel_value(Function function, double x) {
  switch (function) {
    case Function::sin:
      return kernel::sine<double, std::int64_t>(x, 0);
    case Function::cos:
      return kernel::sine<double, std::int64_t>(x, 1);
    case Function::exp:
      return kernel::exponential<double, std::int64_t>(x);
    case Function::log:
      return kernel::logarithm<double, std::int64_t>(x);
    default:
      return std::sqrt(x);
  }
}

/// A function of one argument.
[[nodiscard]] inline double apply(Function function, double x) {
  if (within_kernel(function, x)) return kernel_value(function, x);
  switch (function) {
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
    case Function::tan:
      return std::tan(x);
    case Function::asin:
      return std::asin(x);
    case Function::acos:
      return std::acos(x);
    case Function::atan:
      return std::atan(x);
    case Function::sinh:
      return std::sinh(x);
    case Function::cosh:
      return std::cosh(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::asinh:
      return std::asinh(x);
    case Function::acosh:
      return std::acosh(x);
    case Function::atanh:
      return std::atanh(x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::cbrt:
      return std::cbrt(x);
    case Function::sqrt:
    case Function::atan2:
    case Function::hypot:
      break;
  }
  return x;
}

/// √(a² + b²).
[[nodiscard]] inline double hypotenuse(double a, double b) {
  const double sum = a * a + b * b;
  return kernel::squares_range<double, std::int64_t>(sum) != 0 ? std::sqrt(sum) : std::hypot(a, b);
}

#undef JUDDER_SCALAR

}  // namespace judder::expr
