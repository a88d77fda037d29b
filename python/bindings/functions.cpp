// Formulas of a model are evaluated without the interpreter's lock; a call takes it, and what it raises goes on as an exception of C++ with its words.
#include "functions.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>

#include "bindings.hpp"
#include "judder/expr/outside.hpp"

namespace judder::python {
namespace {

/// What has been raised, as "ValueError: no road here". What arithmetic raises says that there is no number. With the lock.
[[noreturn]] void pass_on() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const auto kind = py::reinterpret_steal<py::object>(type);
  const auto what = py::reinterpret_steal<py::object>(value);
  const auto where = py::reinterpret_steal<py::object>(trace);
  // Ctrl-C is not for the function: the main thread hears of it when the run has ended.
  if (kind && PyErr_GivenExceptionMatches(kind.ptr(), PyExc_KeyboardInterrupt) != 0) PyErr_SetInterrupt();
  bool no_number = kind && PyErr_GivenExceptionMatches(kind.ptr(), PyExc_ArithmeticError) != 0;
  std::string words = "an exception";
  try {
    words = py::str(kind.attr("__name__"));
    const std::string said = py::str(what);
    if (!said.empty()) words += ": " + said;
    no_number = no_number || words == "ValueError: math domain error";
  } catch (py::error_already_set&) {  // its own words fail
  }
  if (no_number) throw std::domain_error(words);
  throw std::runtime_error(words);
}

/// Functions of Python that are copied and dropped by whatever thread has them, with or without the lock.
class Held {
 public:
  explicit Held(std::vector<py::object> functions) : functions_(std::move(functions)) {}
  Held(const Held& other) {
    const py::gil_scoped_acquire acquire;
    functions_ = other.functions_;
  }
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (Py_IsInitialized() == 0) {  // they went with the interpreter
      for (py::object& each : functions_) each.release();
      return;
    }
    const py::gil_scoped_acquire acquire;
    functions_.clear();
  }
  [[nodiscard]] PyObject* operator[](std::size_t i) const { return functions_[i].ptr(); }

 private:
  std::vector<py::object> functions_;
};

/// A thread of C++ gets what Python knows a thread by at its first call, and keeps it as long as it lives: to make it for each call would take fifty times as
/// long as the call.
class Known {
 public:
  Known() : own_(PyGILState_GetThisThreadState() == nullptr) {
    if (!own_) return;
    static_cast<void>(PyGILState_Ensure());
    static_cast<void>(PyEval_SaveThread());
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
  ~Known() {
    if (!own_ || Py_IsInitialized() == 0) return;
    PyEval_RestoreThread(PyGILState_GetThisThreadState());
    PyGILState_Release(PyGILState_UNLOCKED);
  }

 private:
  bool own_;
};

/// The lock for a call, in whatever thread.
class Locked {
  struct First {
    First() { static thread_local const Known known; }
  } first_;
  py::gil_scoped_acquire acquire_;
};

/// The arguments of a call, made once for several of them. With the lock.
class Arguments {
 public:
  explicit Arguments(std::span<const double> u) : count_(u.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      objects_[i] = py::reinterpret_steal<py::object>(PyFloat_FromDouble(u[i]));
      if (!objects_[i]) pass_on();
      pointers_[i] = objects_[i].ptr();
    }
  }
  [[nodiscard]] py::object call(PyObject* function) const {
    auto answer =
        py::reinterpret_steal<py::object>(PyObject_Vectorcall(function, pointers_.data(), count_, nullptr));
    if (!answer) pass_on();
    return answer;
  }

 private:
  std::size_t count_;
  std::array<py::object, expr::kMostArguments> objects_;
  std::array<PyObject*, expr::kMostArguments> pointers_{};
};

double number(const py::object& answer) {
  const double value = PyFloat_AsDouble(answer.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) pass_on();
  return value;
}

/// The derivatives of one order out of the array of all of them, which has as many dimensions as there are orders.
void take_order(const py::handle& given, std::size_t arguments, int order, std::span<double> out) {
  using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
  const Numbers all = Numbers::ensure(given);
  if (!all) pass_on();
  std::size_t size = 1;
  for (int k = 0; k < order; ++k) size *= arguments;
  if (static_cast<std::size_t>(all.size()) != size)
    throw std::runtime_error("ValueError: of order " + std::to_string(order) + " it gave " +
                             std::to_string(all.size()) + " derivatives instead of " + std::to_string(size));
  for (std::size_t at = 0; at < size; ++at) {
    expr::Orders orders{};
    for (std::size_t k = 0, rest = at; k < static_cast<std::size_t>(order); ++k, rest /= arguments)
      ++orders[rest % arguments];
    out[expr::partial_place(orders, static_cast<int>(arguments))] = all.data()[at];
  }
}

void call_together(const Held& held, std::span<const double> u, int order, std::span<double> out) {
  const Locked locked;
  const py::object answer = Arguments(u).call(held[0]);
  const auto fast = py::reinterpret_steal<py::object>(
      PySequence_Fast(answer.ptr(), "it must give its value and its derivatives, (value, gradient, …)"));
  if (!fast) pass_on();
  const py::ssize_t given = PySequence_Fast_GET_SIZE(fast.ptr());
  if (given < order + 1)
    throw std::runtime_error("ValueError: it gave " + std::to_string(given) +
                             " things instead of its value and derivatives up to order " +
                             std::to_string(order));
  for (int k = 0; k <= order; ++k) {
    const py::handle one = PySequence_Fast_GET_ITEM(fast.ptr(), k);
    if (k == 0)
      out[0] = number(py::reinterpret_borrow<py::object>(one));
    else
      take_order(one, u.size(), k, out);
  }
}

void call_each(const Held& held, std::span<const double> u, std::span<double> out) {
  const Locked locked;
  const Arguments arguments(u);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number(arguments.call(held[i]));
}

}  // namespace

Function function_of(const std::string& name, const CalledFromPython& called) {
  Function out{.name = name, .arguments = called.arguments, .order = called.order, .sizes = called.sizes};
  const Held held(called.functions);
  if (called.together) {
    out.partials = [held](std::span<const double> u, int order, std::span<double> partials) {
      call_together(held, u, order, partials);
    };
  } else {
    out.partials = [held](std::span<const double> u, int, std::span<double> partials) {
      call_each(held, u, partials);
    };
  }
  return out;
}

void bind_functions(py::module_& module) {
  py::class_<CalledFromPython>(module, "Function")
      .def(py::init([](int arguments, int order, bool together, std::vector<py::object> functions,
                       std::vector<double> sizes) {
             return CalledFromPython{arguments, order, together, std::move(functions), std::move(sizes)};
           }),
           py::arg("arguments"), py::arg("order"), py::arg("together"), py::arg("functions"),
           py::arg("sizes"));
}

}  // namespace judder::python
