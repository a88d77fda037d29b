// The formulas of output columns, for those who ask more of them than their values: bounds over a stretch of the motion, for instance.
#pragma once

#include "judder/expr/program.hpp"
#include "judder/model/system.hpp"

namespace judder::model {

/// What System::column_values evaluates: outputs by ColumnInfo::value.
[[nodiscard]] const expr::Program& column_program(const System& system);

}  // namespace judder::model
