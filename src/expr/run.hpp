// The loop that all evaluators but that of plain doubles share. An Algebra says what a Value is and what the operations do to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "judder/expr/program.hpp"

namespace judder::expr {

enum class Operation : std::uint16_t {
  add,                ///< first + second
  subtract,           ///< first − second
  multiply,           ///< first · second
  divide,             ///< first / second
  multiply_add,       ///< first · second + third, two roundings
  multiply_subtract,  ///< first · second − third
  subtract_multiple,  ///< third − first · second
  negate,
  reciprocal,
  square,
  cube,
  power_whole,  ///< first ^ extra by repeated squaring
  power,        ///< first ^ second
  atan2,
  hypot,
  absolute,
  select,        ///< first is the condition, second the value where it holds, third the other
  side_to_sign,  ///< 2 first − 1
  side_open,     ///< of the surface `first`: 1 above, 0 below and on it
  side_closed,   ///< the same, 1 on it
  sign,
  floor,
  level,   ///< of `first` among `third` levels at tables[second]
  lookup,  ///< entry `first` + 1 of `third` numbers at tables[second]
  turn,    ///< the angle `second` on the side `first` of the cut of atan2
  flat,    ///< exp(−1/u) u^−extra
  // Functions of one argument, in the order of Function.
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  sqrt,
  cbrt,
  stop  ///< the end of every program
};

constexpr Operation operation_of(Function f) {
  return static_cast<Operation>(static_cast<int>(Operation::sin) + static_cast<int>(f));
}
constexpr Function function_of(std::uint16_t operation) {
  return static_cast<Function>(operation - static_cast<int>(Operation::sin));
}
static_assert(operation_of(Function::cbrt) == Operation::cbrt);

// Inlined, so that a caller compiled for wider instructions gets a loop of its own.
template <class Algebra>
[[gnu::always_inline]] inline void Program::run(const typename Algebra::Value* in,
                                                typename Algebra::Value* out,
                                                typename Algebra::Value* registers,
                                                const Algebra& algebra) const {
  using Value = typename Algebra::Value;
  Value* const r = registers;
  if (code_.empty()) return;  // a program that was never compiled
  {
    Value* to = r;
    for (const double c : constants_) algebra.set(*to++, c);
    for (const std::uint32_t input : loads_) *to++ = in[input];
  }
  for (const Instruction* next = code_.data();; ++next) {
    const Instruction& i = *next;
    const Value& a = r[i.first];
    Value& to = r[i.target];
    switch (static_cast<Operation>(i.operation)) {
      case Operation::stop: {
        for (const std::uint32_t o : outputs_) *out++ = r[o];
        return;
      }
      case Operation::sin:
        to = algebra.function(Function::sin, a);
        break;
      case Operation::cos:
        to = algebra.function(Function::cos, a);
        break;
      case Operation::exp:
        to = algebra.function(Function::exp, a);
        break;
      case Operation::log:
        to = algebra.function(Function::log, a);
        break;
      case Operation::sqrt:
        to = algebra.function(Function::sqrt, a);
        break;
      case Operation::add:
        to = algebra.add(a, r[i.second]);
        break;
      case Operation::subtract:
        to = algebra.subtract(a, r[i.second]);
        break;
      case Operation::multiply:
        to = algebra.multiply(a, r[i.second]);
        break;
      case Operation::divide:
        to = algebra.divide(a, r[i.second]);
        break;
      case Operation::multiply_add:
        to = algebra.add(algebra.multiply(a, r[i.second]), r[i.third]);
        break;
      case Operation::multiply_subtract:
        to = algebra.subtract(algebra.multiply(a, r[i.second]), r[i.third]);
        break;
      case Operation::subtract_multiple:
        to = algebra.subtract(r[i.third], algebra.multiply(a, r[i.second]));
        break;
      case Operation::negate:
        to = algebra.negate(a);
        break;
      case Operation::reciprocal:
        to = algebra.reciprocal(a);
        break;
      case Operation::square:
        to = algebra.square(a);
        break;
      case Operation::cube:
        to = algebra.cube(a);
        break;
      case Operation::power_whole:
        to = algebra.power_whole(a, i.extra);
        break;
      case Operation::power:
        to = algebra.power(a, r[i.second]);
        break;
      case Operation::atan2:
        to = algebra.atan2(a, r[i.second]);
        break;
      case Operation::hypot:
        to = algebra.hypot(a, r[i.second]);
        break;
      case Operation::absolute:
        to = algebra.absolute(a);
        break;
      case Operation::select:
        to = algebra.select(a, r[i.second], r[i.third]);
        break;
      case Operation::side_to_sign:
        to = algebra.side_to_sign(a);
        break;
      case Operation::side_open:
        to = algebra.side(a, 0.0);
        break;
      case Operation::side_closed:
        to = algebra.side(a, 1.0);
        break;
      case Operation::sign:
        to = algebra.sign(a);
        break;
      case Operation::floor:
        to = algebra.floor(a);
        break;
      case Operation::level:
        to = algebra.level(std::span(tables_).subspan(i.second, i.third), a);
        break;
      case Operation::lookup:
        to = algebra.lookup(std::span(tables_).subspan(i.second, i.third), a);
        break;
      case Operation::turn:
        to = algebra.turn(a, r[i.second]);
        break;
      case Operation::flat:
        to = algebra.flat(a, i.extra);
        break;
      case Operation::tan:
      case Operation::asin:
      case Operation::acos:
      case Operation::atan:
      case Operation::sinh:
      case Operation::cosh:
      case Operation::tanh:
      case Operation::asinh:
      case Operation::acosh:
      case Operation::atanh:
      case Operation::cbrt:
        to = algebra.function(function_of(i.operation), a);
        break;
      default:
        __builtin_unreachable();  // saves the check of the range at every instruction
    }
  }
}

/// Integer power of any kind of number with the same order of multiplications.
template <class Value, class Multiply>
Value power_by_squaring(Value square, std::uint32_t n, const Multiply& multiply) {
  while ((n & 1) == 0) {
    square = multiply(square, square);
    n >>= 1;
  }
  Value result = square;
  for (n >>= 1; n != 0; n >>= 1) {
    square = multiply(square, square);
    if ((n & 1) != 0) result = multiply(result, square);
  }
  return result;
}

}  // namespace judder::expr
