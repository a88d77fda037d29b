#include <pybind11/stl.h>

#include "bindings.hpp"
#include "judder/engines/event.hpp"
#include "judder/io/version.hpp"
#include "judder/simulate/simulate.hpp"

namespace {
constexpr int kModeWords = 8;  // simulate::mode_word
}

PYBIND11_MODULE(_core, module) {
  using namespace judder::python;
  module.doc() = "What of Judder is written in C++. Use the package judder.";

  static py::exception<std::runtime_error> error(module, "Error");
  const auto derived = [&](PyObject* also) { return py::make_tuple(error, py::handle(also)); };
  py::register_exception<ModelProblem>(module, "ModelError", derived(PyExc_ValueError));
  py::register_exception<Misuse>(module, "UsageError", derived(PyExc_ValueError));
  py::register_exception<Failure>(module, "RunError", derived(PyExc_RuntimeError));
  py::register_exception<FileProblem>(module, "FileError", derived(PyExc_OSError));

  module.attr("version") = judder::io::version();
  module.attr("engines") = judder::simulate::engine_names();
  py::list words;
  for (int number = 0; number < kModeWords; ++number) words.append(judder::simulate::mode_word(number));
  module.attr("mode_words") = words;
  py::list kinds;
  for (int kind = 0; kind <= static_cast<int>(judder::engines::EventKind::watch); ++kind)
    kinds.append(judder::engines::name(static_cast<judder::engines::EventKind>(kind)));
  module.attr("event_kinds") = kinds;
  bind_functions(module);
  bind_runs(module);
  bind_figures(module);
  bind_tasks(module);
}
