// The plain evaluator.
#include <cmath>
#include <span>

#include "expr/graph_data.hpp"
#include "expr/run.hpp"

namespace judder::expr {

// One loop of its own for doubles: they are the numbers of every step, and with an algebra this cheap the way from one instruction to the
// next is most of the work. Each instruction jumps straight to the next (labels as values: g++ and clang), so that the processor
// learns what follows what.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
void Program::evaluate(const double* in, double* out, double* registers) const {
  static const void* const labels[] = {&&add,
                                       &&subtract,
                                       &&multiply,
                                       &&divide,
                                       &&multiply_add,
                                       &&multiply_subtract,
                                       &&subtract_multiple,
                                       &&negate,
                                       &&reciprocal,
                                       &&square,
                                       &&cube,
                                       &&power_whole,
                                       &&power,
                                       &&atan2,
                                       &&hypot,
                                       &&absolute,
                                       &&select,
                                       &&side_to_sign,
                                       &&side_open,
                                       &&side_closed,
                                       &&sign,
                                       &&floor,
                                       &&level,
                                       &&lookup,
                                       &&turn,
                                       &&flat,
                                       &&sin,
                                       &&cos,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&function,
                                       &&exp,
                                       &&log,
                                       &&sqrt,
                                       &&function,
                                       &&stop};
  static_assert(sizeof labels / sizeof labels[0] == static_cast<std::size_t>(Operation::stop) + 1);
  static_assert(Operation::sin == static_cast<Operation>(26) && Operation::exp == static_cast<Operation>(38));
  if (code_.empty()) return;  // a program that was never compiled
  double* const r = registers;
  {
    double* to = r;
    for (const double c : constants_) *to++ = c;
    for (const std::uint32_t input : loads_) *to++ = in[input];
  }
  const Instruction* i = code_.data();
#define JUDDER_NEXT goto* labels[i->operation]
#define JUDDER_DO(label, value) \
  label:                        \
  r[i->target] = (value);       \
  ++i;                          \
  JUDDER_NEXT
#define JUDDER_A r[i->first]
#define JUDDER_B r[i->second]
#define JUDDER_C r[i->third]
  JUDDER_NEXT;
  JUDDER_DO(add, JUDDER_A + JUDDER_B);
  JUDDER_DO(subtract, JUDDER_A - JUDDER_B);
  JUDDER_DO(multiply, JUDDER_A * JUDDER_B);
  JUDDER_DO(divide, JUDDER_A / JUDDER_B);
  JUDDER_DO(multiply_add, JUDDER_A * JUDDER_B + JUDDER_C);
  JUDDER_DO(multiply_subtract, JUDDER_A * JUDDER_B - JUDDER_C);
  JUDDER_DO(subtract_multiple, JUDDER_C - JUDDER_A * JUDDER_B);
  JUDDER_DO(negate, -JUDDER_A);
  JUDDER_DO(reciprocal, 1 / JUDDER_A);
  JUDDER_DO(square, JUDDER_A * JUDDER_A);
  JUDDER_DO(cube, JUDDER_A * JUDDER_A * JUDDER_A);
  JUDDER_DO(power_whole, power_by_squaring(JUDDER_A, i->extra, [](double x, double y) { return x * y; }));
  JUDDER_DO(power, std::pow(JUDDER_A, JUDDER_B));
  JUDDER_DO(atan2, std::atan2(JUDDER_A, JUDDER_B));
  JUDDER_DO(hypot, std::hypot(JUDDER_A, JUDDER_B));
  JUDDER_DO(absolute, std::abs(JUDDER_A));
  JUDDER_DO(select, select_value(JUDDER_A, JUDDER_B, JUDDER_C));
  JUDDER_DO(side_to_sign, 2 * JUDDER_A - 1);
  JUDDER_DO(side_open, side_value(JUDDER_A, 0));
  JUDDER_DO(side_closed, side_value(JUDDER_A, 1));
  JUDDER_DO(sign, sign_value(JUDDER_A));
  JUDDER_DO(floor, std::floor(JUDDER_A));
  JUDDER_DO(level, level_of(std::span(tables_).subspan(i->second, i->third), JUDDER_A));
  JUDDER_DO(lookup, lookup_value(std::span(tables_).subspan(i->second, i->third), JUDDER_A));
  JUDDER_DO(turn, turn_value(JUDDER_A, JUDDER_B));
  JUDDER_DO(flat, flat_value(JUDDER_A, i->extra));
  JUDDER_DO(sin, std::sin(JUDDER_A));
  JUDDER_DO(cos, std::cos(JUDDER_A));
  JUDDER_DO(exp, std::exp(JUDDER_A));
  JUDDER_DO(log, std::log(JUDDER_A));
  JUDDER_DO(sqrt, std::sqrt(JUDDER_A));
  JUDDER_DO(function, apply(function_of(i->operation), JUDDER_A));
stop:
  for (const std::uint32_t o : outputs_) *out++ = r[o];
#undef JUDDER_C
#undef JUDDER_B
#undef JUDDER_A
#undef JUDDER_DO
#undef JUDDER_NEXT
}
#pragma GCC diagnostic pop

}  // namespace judder::expr
