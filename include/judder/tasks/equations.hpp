// The equations of a model in LaTeX, for a paper: with numbers, or with the names of the parameters.
#pragma once

#include <string>
#include <vector>

#include "judder/io/load.hpp"

namespace judder::tasks {

struct EquationsReport {
  io::LoadedModel model;
  std::string latex;               ///< a displayed formula for each equation, with its name as a comment
  std::vector<std::string> notes;  ///< parameters whose names could not be kept, and why
};

/// `symbolic`: parameters keep their names, except those that say how many elements there are or which form the equations have.
[[nodiscard]] EquationsReport model_equations(const io::ModelRequest& request, bool symbolic);

}  // namespace judder::tasks
