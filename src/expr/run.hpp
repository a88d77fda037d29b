// What compiler and evaluators share: the operations, and where operands are found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "judder/expr/program.hpp"

namespace judder::expr {

// Literals are constants at literals[…], not registers. All products and sums are rounded one by one.
#define JUDDER_OPERATIONS(_)                                                                                           \
  _(add)               /* first + second */                                                                            \
  _(subtract)          /* first − second */                                                                          \
  _(multiply)          /* first · second */                                                                           \
  _(divide)            /* first / second */                                                                            \
  _(multiply_add)      /* first · second + third */                                                                   \
  _(multiply_subtract) /* first · second − third */                                                                 \
  _(subtract_multiple) /* third − first · second */                                                                 \
  _(scale)             /* literal second · first */                                                                   \
  _(shift)             /* first + literal second */                                                                    \
  _(scale_add)         /* literal second · first + third */                                                           \
  _(scale_shift)       /* literal second · first + literal third */                                                   \
  _(scale_both)        /* literal second · first + literal extra · third */                                          \
  _(scale_product_add) /* literal extra · (first · second) + third */                                                \
  _(sin_linear)        /* sin(literal second · first + literal third) */                                              \
  _(cos_linear)        /* cos of the same */                                                                           \
  _(negate)                                                                                                            \
  _(reciprocal)                                                                                                        \
  _(square)                                                                                                            \
  _(cube)                                                                                                              \
  _(power_whole) /* first ^ extra by repeated squaring */                                                              \
  _(power)       /* first ^ second */                                                                                  \
  _(atan2)                                                                                                             \
  _(hypot)                                                                                                             \
  _(absolute)                                                                                                          \
  _(clip)         /* first, and 0 where it is negative */                                                              \
  _(select)       /* second where the condition first holds, third where it does not */                                \
  _(side_to_sign) /* 2 first − 1 */                                                                                  \
  _(own_open)     /* first, and 0 where that says that the surface is not left */                                      \
  _(own_closed)   /* the same with 1 */                                                                                \
  _(side_open)    /* of the surface first: 1 above, 0 below and on it */                                               \
  _(side_closed)  /* the same, 1 on it */                                                                              \
  _(sign)                                                                                                              \
  _(floor)                                                                                                             \
  _(level)  /* of first among `third` levels at tables[second] */                                                      \
  _(lookup) /* entry first + 1 of `third` numbers at tables[second] */                                                 \
  _(turn)   /* the angle second on the side first of the cut of atan2 */                                               \
  _(flat)   /* exp(−1/u) u^−extra */                                                                               \
  /* a function from outside: arguments are put into a block of registers, what is wanted of it is taken from there */ \
  _(put)     /* first, into the register third as well; second is what was put before */                               \
  _(outside) /* call number `second`, with the block that begins at the register third */                              \
  _(take)    /* the register third */                                                                                  \
  /* functions of one argument, in the order of Function */                                                            \
  _(sin)                                                                                                               \
  _(cos)                                                                                                               \
  _(tan)                                                                                                               \
  _(asin)                                                                                                              \
  _(acos)                                                                                                              \
  _(atan)                                                                                                              \
  _(sinh)                                                                                                              \
  _(cosh)                                                                                                              \
  _(tanh)                                                                                                              \
  _(asinh)                                                                                                             \
  _(acosh)                                                                                                             \
  _(atanh)                                                                                                             \
  _(exp)                                                                                                               \
  _(log)                                                                                                               \
  _(sqrt)                                                                                                              \
  _(cbrt)                                                                                                              \
  _(stop) /* the end of every program */

enum class Operation : std::uint16_t {
#define JUDDER_NAME(name) name,
  JUDDER_OPERATIONS(JUDDER_NAME)
#undef JUDDER_NAME
};

constexpr Operation operation_of(Function f) {
  return static_cast<Operation>(static_cast<int>(Operation::sin) + static_cast<int>(f));
}
static_assert(operation_of(Function::cbrt) == Operation::cbrt);

// Registers are named in instructions by the place of a double in bytes, which is an address for doubles, and for wider numbers after
// the one multiplication that an address may contain.
constexpr std::uint32_t register_name(std::uint32_t number) {
  return number * static_cast<std::uint32_t>(sizeof(double));
}
template <class Value>
[[gnu::always_inline]] inline Value& register_at(Value* registers, std::uint32_t name) {
  static_assert(sizeof(Value) % sizeof(double) == 0);
  return *reinterpret_cast<Value*>(reinterpret_cast<std::byte*>(registers) +
                                   std::size_t{name} * (sizeof(Value) / sizeof(double)));
}

/// Integer power of any kind of number with the same order of multiplications.
template <class Value, class Multiply>
[[gnu::always_inline]] inline Value power_by_squaring(Value square, std::uint32_t n,
                                                      const Multiply& multiply) {
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
