// The parts of the module judder._core, by source.
#pragma once

#include "support.hpp"

namespace judder::python {

void bind_functions(py::module_& module);  ///< Function
void bind_runs(py::module_& module);       ///< Model, Run, Stepper
void bind_figures(py::module_& module);    ///< figures of runs and laws, as SVG and as data
void bind_tasks(py::module_& module);      ///< what the verbs of the program do

}  // namespace judder::python
