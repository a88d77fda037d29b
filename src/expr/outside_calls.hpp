// Calls of functions from outside with numbers other than double.
#pragma once

#include "judder/expr/outside.hpp"
#include "judder/expr/program.hpp"

namespace judder::expr {

[[nodiscard]] OutsideCall outside_call(const OutsideFunction& function, std::vector<Orders> wanted);
/// The ends of all that the wanted derivatives may be; the whole line where the arguments are not narrow: nothing is known of the function there.
void evaluate_interval(const OutsideCall& call, const Interval* u, Interval* out);
/// Taylor coefficients along a motion; from the first on that needs a derivative that is not known they are NaN.
void evaluate_series(const OutsideCall& call, const Series* u, Series* out, int order);

}  // namespace judder::expr
