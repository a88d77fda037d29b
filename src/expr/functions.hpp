// The functions of the language for one number, the same in all evaluators.
//
// The common ones go by kernels.hpp where these reach, everything else by elementary.hpp: the same bits on every machine.
#pragma once

#include "core/elementary.hpp"
#include "core/kernels.hpp"
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
      return elementary::sin(x);
    case Function::cos:
      return elementary::cos(x);
    case Function::tan:
      return elementary::tan(x);
    case Function::asin:
      return elementary::asin(x);
    case Function::acos:
      return elementary::acos(x);
    case Function::atan:
      return elementary::atan(x);
    case Function::sinh:
      return elementary::sinh(x);
    case Function::cosh:
      return elementary::cosh(x);
    case Function::tanh:
      return elementary::tanh(x);
    case Function::asinh:
      return elementary::asinh(x);
    case Function::acosh:
      return elementary::acosh(x);
    case Function::atanh:
      return elementary::atanh(x);
    case Function::exp:
      return elementary::exp(x);
    case Function::log:
      return elementary::log(x);
    case Function::cbrt:
      return elementary::cbrt(x);
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
  return kernel::squares_range<double, std::int64_t>(sum) != 0 ? std::sqrt(sum) : elementary::hypot(a, b);
}

#undef JUDDER_SCALAR

}  // namespace judder::expr
