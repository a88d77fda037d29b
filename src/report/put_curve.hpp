// Rows of a run for a picture, with the points between them at which the motion turns (simulate/curve.hpp).
#pragma once

#include "judder/io/run_folder.hpp"
#include "judder/simulate/curve.hpp"

namespace judder::report {

/// Puts the points between the rows. What a point does not know is taken from the rows around it: words stay, numbers lie on the straight line. Points at
/// the time of a row, before the first and behind the last are left out; so are all if the times of the rows are not in order.
void put_curve(io::RunData& run, const simulate::CurvePoints& curve);

}  // namespace judder::report
