// Functions of Python that formulas of a model call.
#pragma once

#include <vector>

#include "judder/judder.hpp"
#include "support.hpp"

namespace judder::python {

/// As judder/_function.py describes it: `functions` are one that gives value and derivatives together, or one for each of them.
struct CalledFromPython {
  int arguments = 1;
  int order = 0;
  bool together = false;
  std::vector<py::object> functions;
  std::vector<double> sizes;
};

[[nodiscard]] Function function_of(const std::string& name, const CalledFromPython& called);
void bind_functions(py::module_& module);

}  // namespace judder::python
