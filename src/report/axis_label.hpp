// What stands at an axis: the label of a column, or its name, and its unit.
//
// Labels are LaTeX in the model. Pictures set them as plain text, so this understands what labels are made of: Greek letters, dots, indices and exponents of
// digits, \mathrm and \text; of anything else the words stay and the commands go.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "judder/io/run_head.hpp"

namespace judder::report {

[[nodiscard]] std::string plain_label(std::string_view latex);

/// "ξ̇ [m/s]". A velocity whose coordinate has a label or a unit has that label with a dot and that unit per second; names of Greek letters stand as
/// the letters.
[[nodiscard]] std::string axis_label(std::span<const io::ColumnLabel> labels, const std::string& column);

}  // namespace judder::report
