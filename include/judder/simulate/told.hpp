// Columns of a row at points that an engine tells an observer (engines/observer.hpp), where there is no row.
#pragma once

#include <vector>

#include "judder/engines/observer.hpp"
#include "judder/model/system.hpp"

namespace judder::simulate {

/// Puts what is told of a point to where output columns read it: System::column_values and fill_row may follow. Works of elements are those told last.
void load_told(const model::System& system, const engines::ToldPoint& told, model::Workspace& work);

/// By output column: whether it changes with the works that elements have done, which are known at the ends of steps only. Leaves zeros in the
/// places of these works.
[[nodiscard]] std::vector<char> columns_of_works(const model::System& system, model::Workspace& work);

}  // namespace judder::simulate
