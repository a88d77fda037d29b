#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"
#include "functions.hpp"
#include "judder/core/number.hpp"
#include "judder/io/load.hpp"
#include "judder/judder.hpp"
#include "judder/model/describe.hpp"
#include "judder/model/system.hpp"
#include "judder/tasks/equations.hpp"

namespace judder::python {
namespace {

using Numbers = py::array_t<double, py::array::c_style>;

using Functions = std::vector<std::pair<std::string, CalledFromPython>>;

ModelOptions model_options(std::vector<std::string> variants, std::vector<Setting> set,
                           std::vector<std::string> open, const Functions& functions) {
  ModelOptions out{.variants = std::move(variants), .set = std::move(set), .open = std::move(open)};
  for (const auto& [name, called] : functions) out.functions.push_back(function_of(name, called));
  return out;
}

std::unique_ptr<Model> sound(Model model) {
  if (!model.opened()) throw FileProblem(model.problems());
  if (!model.ok()) throw ModelProblem(model.problems());
  return std::make_unique<Model>(std::move(model));
}

/// What of a run is asked in Python.
struct Asked {
  std::vector<Setting> parameters, start;
  std::optional<double> from, until, tolerance, step;
  std::optional<long> samples;
  std::optional<double> every;
  std::optional<bool> event_rows;
  std::string engine;
  bool referee = true, keep_rows = true;
};

RunOptions run_options(const Asked& asked) {
  RunOptions out;
  out.parameters = asked.parameters;
  out.start = asked.start;
  out.from = asked.from;
  out.until = asked.until;
  out.tolerance = asked.tolerance;
  out.step = asked.step;
  out.samples = asked.samples;
  out.every = asked.every;
  out.event_rows = asked.event_rows;
  out.engine = asked.engine;
  out.referee = asked.referee;
  out.keep_rows = asked.keep_rows;
  return out;
}

/// Functions of Python as observers. The first exception that one of them raises ends the run.
class Observers {
 public:
  Observers(const py::object& on_row, const py::object& on_event) : on_row_(on_row), on_event_(on_event) {}

  void watch(RunOptions& options) {
    if (!on_row_.is_none()) {
      options.on_row = [this](Row row) {
        return ask([&] { return on_row_(Numbers(static_cast<py::ssize_t>(row.size()), row.data())); });
      };
    }
    if (!on_event_.is_none())
      options.on_event = [this](const RunEvent& event) { return ask([&] { return on_event_(event); }); };
  }

  /// With the lock, after the run.
  void raise() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  template <class Call>
  Going ask(Call call) {
    const py::gil_scoped_acquire acquire;
    try {
      return call().is(py::bool_(false)) ? Going::stop : Going::on;
    } catch (...) {
      thrown_ = std::current_exception();
      return Going::stop;
    }
  }

  const py::object &on_row_, &on_event_;
  std::exception_ptr thrown_;
};

/// Ends runs from another thread.
struct Cancel {
  std::atomic<bool> flag{false};
};

std::unique_ptr<Run> run_model(const Model& model, const Asked& asked, const py::object& on_row,
                               const py::object& on_event, Cancel* cancelled) {
  Observers observers(on_row, on_event);
  const auto work = [&](std::atomic<bool>& cancel) {
    RunOptions options = run_options(asked);
    observers.watch(options);
    options.cancel = &cancel;
    return std::make_unique<Run>(model.run(options));
  };
  auto run = without_lock(work, cancelled != nullptr ? &cancelled->flag : nullptr);
  observers.raise();
  return run;
}

/// All rows, as they lie in memory: a view that cannot be written to and keeps the run alive.
py::array_t<double> rows_of(const py::object& self) {
  const Run& run = self.cast<const Run&>();
  const auto rows = static_cast<py::ssize_t>(run.rows()),
             columns = static_cast<py::ssize_t>(run.columns().size());
  py::array_t<double> out = rows == 0 ? py::array_t<double>({rows, columns})
                                      : py::array_t<double>({rows, columns}, run.row(0).data(), self);
  out.attr("setflags")(py::arg("write") = false);
  return out;
}

template <class Take>
Numbers numbers_of(const std::vector<RunEvent>& events, Take take) {
  Numbers out(static_cast<py::ssize_t>(events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) out.mutable_data()[i] = take(events[i]);
  return out;
}

template <class Take>
Numbers table_of(const std::vector<RunEvent>& events, std::size_t width, Take take) {
  Numbers out({events.size(), width});
  double* to = out.mutable_data();
  std::fill(to, to + events.size() * width, 0.0);
  for (const RunEvent& event : events) {
    const std::vector<double>& from = take(event);
    std::copy_n(from.begin(), std::min(width, from.size()), to);
    to += width;
  }
  return out;
}

/// By column; judder/_run.py makes the structured array of them.
py::dict event_columns(const std::vector<RunEvent>& events) {
  std::size_t slips = 1, state = 0;
  py::list kind, where, detail;
  for (const RunEvent& event : events) {
    slips = std::max(slips, event.tangential_impulse.size());
    state = std::max(state, event.state.size());
    kind.append(event.kind);
    where.append(event.where);
    detail.append(event.detail);
  }
  py::dict out;
  out["time"] = numbers_of(events, [](const RunEvent& event) { return event.time; });
  out["kind"] = kind;
  out["where"] = where;
  out["detail"] = detail;
  out["normal_impulse"] = numbers_of(events, [](const RunEvent& event) { return event.normal_impulse; });
  out["tangential_impulse"] = table_of(
      events, slips, [](const RunEvent& event) -> const auto& { return event.tangential_impulse; });
  out["energy_lost"] = numbers_of(events, [](const RunEvent& event) { return event.energy_lost; });
  out["state"] = table_of(
      events, state, [](const RunEvent& event) -> const auto& { return event.state; });
  return out;
}

py::dict verdict_of(const Verdict& verdict) {
  py::dict out;
  out["judged"] = verdict.judged;
  py::list laws, findings;
  for (const LawRecord& law : verdict.laws) {
    py::dict one;
    one["law"] = law.law;
    one["checks"] = law.checks;
    one["worst"] = law.worst;
    laws.append(one);
  }
  for (const Finding& finding : verdict.findings) {
    py::dict one;
    one["law"] = finding.law;
    one["place"] = finding.place;
    one["time"] = finding.time;
    one["ratio"] = finding.ratio;
    one["worst_time"] = finding.worst_time;
    one["worst_ratio"] = finding.worst_ratio;
    one["worst_amount"] = finding.worst_amount;
    one["count"] = finding.count;
    findings.append(one);
  }
  out["laws"] = laws;
  out["findings"] = findings;
  out["not_kept"] = verdict.not_kept;
  return out;
}

/// A Stepper with the functions that it calls.
struct Moved {
  Moved(const Model& model, const Asked& asked) : options(run_options(asked)) {
    stepper.emplace(model, options);
  }
  RunOptions options;
  std::optional<Stepper> stepper;
  bool busy = false;  // under the lock of the interpreter

  bool advance_to(double time) {
    if (busy) throw Misuse("another thread moves this stepper");
    busy = true;
    const auto moved = [&] {
      const py::gil_scoped_release release;
      return stepper->advance_to(time);
    };
    try {
      const bool on = moved();
      busy = false;
      return on;
    } catch (...) {
      busy = false;
      throw;
    }
  }
};

std::string explained(const Model& model) {
  const io::LoadedModel loaded = io::load_model(model.request());
  return model::describe(loaded.compiled);
}

}  // namespace

void bind_runs(py::module_& module) {
  py::class_<RunEvent>(module, "Event")
      .def_readonly("time", &RunEvent::time)
      .def_readonly("kind", &RunEvent::kind)
      .def_readonly("where", &RunEvent::where)
      .def_readonly("detail", &RunEvent::detail)
      .def_readonly("normal_impulse", &RunEvent::normal_impulse)
      .def_readonly("tangential_impulse", &RunEvent::tangential_impulse)
      .def_readonly("energy_lost", &RunEvent::energy_lost)
      .def_readonly("state", &RunEvent::state);

  py::class_<Cancel>(module, "Cancel", "Ends runs from another thread: Model.run(cancel=…).")
      .def(py::init<>())
      .def(
          "set", [](Cancel& cancel) { cancel.flag = true; }, "Every run that was given this ends.")
      .def_property_readonly("is_set", [](const Cancel& cancel) { return cancel.flag.load(); });

  py::class_<Status>(module, "Status")
      .def_property_readonly("reason", [](const Status& status) { return name(status.reason); })
      .def_readonly("time", &Status::time)
      .def_readonly("where", &Status::where)
      .def_readonly("message", &Status::message)
      .def_property_readonly("ok", &Status::ok)
      .def("__repr__", [](const Status& status) {
        const std::string place = status.where.empty() ? "" : " (" + status.where + ")";
        const std::string message = status.message.empty() ? "" : ": " + status.message;
        return "<judder.Status " + std::string(name(status.reason)) + " at t = " + to_text(status.time, 9) +
               place + message + ">";
      });

  py::class_<Run>(module, "Run")
      .def_property_readonly("ok", &Run::ok)
      .def_property_readonly("status", &Run::status)
      .def_property_readonly("stopped", &Run::stopped)
      .def_property_readonly("undecided_ties", &Run::undecided_ties)
      .def_property_readonly("engine", &Run::engine)
      .def_property_readonly("compiled", &Run::compiled)
      .def_property_readonly("columns", &Run::columns)
      .def_property_readonly("rows", &rows_of)
      .def_property_readonly("event_count", [](const Run& run) { return run.events().size(); })
      .def_property_readonly("events", [](const Run& run) { return event_columns(run.events()); })
      .def_property_readonly("verdict", [](const Run& run) { return verdict_of(run.verdict()); });

  py::class_<Asked>(module, "Asked")
      .def(
          py::init([](std::vector<Setting> parameters, std::vector<Setting> start, std::optional<double> from,
                      std::optional<double> until, std::optional<double> tolerance,
                      std::optional<double> step, std::optional<long> samples, std::optional<double> every,
                      std::optional<bool> event_rows, std::string engine, bool referee, bool keep_rows) {
            return Asked{std::move(parameters),
                         std::move(start),
                         from,
                         until,
                         tolerance,
                         step,
                         samples,
                         every,
                         event_rows,
                         std::move(engine),
                         referee,
                         keep_rows};
          }),
          py::arg("parameters"), py::arg("start"), py::arg("from_"), py::arg("until"), py::arg("tolerance"),
          py::arg("step"), py::arg("samples"), py::arg("every"), py::arg("event_rows"), py::arg("engine"),
          py::arg("referee"), py::arg("keep_rows"));

  py::class_<Model>(module, "Model")
      .def_static(
          "load",
          [](const std::string& file, std::vector<std::string> variants, std::vector<Setting> set,
             std::vector<std::string> open, const Functions& functions) {
            const ModelOptions options =
                model_options(std::move(variants), std::move(set), std::move(open), functions);
            const py::gil_scoped_release release;
            return sound(Model::load(file, options));
          },
          py::arg("file"), py::arg("variants"), py::arg("set"), py::arg("open"), py::arg("functions"))
      .def_static(
          "from_text",
          [](std::string text, std::vector<std::string> variants, std::vector<Setting> set,
             std::vector<std::string> open, const Functions& functions) {
            const ModelOptions options =
                model_options(std::move(variants), std::move(set), std::move(open), functions);
            const py::gil_scoped_release release;
            return sound(Model::from_text(std::move(text), options));
          },
          py::arg("text"), py::arg("variants"), py::arg("set"), py::arg("open"), py::arg("functions"))
      .def_property_readonly("problems", &Model::problems)
      .def_property_readonly("title", &Model::title)
      .def_property_readonly("columns", &Model::columns)
      .def_property_readonly("parameters", &Model::parameters)
      .def_property_readonly(
          "states", [](const Model& model) { return model.system().layout().integrated(); },
          "How many of the columns behind t are coordinates, velocities and states.")
      .def_property_readonly(
          "words",
          [](const Model& model) {
            std::vector<std::string> out;
            for (const auto& column : model.system().columns()) {
              if (column.mode_of >= 0) out.push_back(column.name);
            }
            return out;
          },
          "Columns whose numbers stand for words (mode_words).")
      .def_property_readonly("variants",
                             [](const Model& model) {
                               std::vector<std::string> out;
                               for (const model::Variant& each : model.spec().variants)
                                 out.push_back(each.name.text);
                               return out;
                             })
      .def_property_readonly(
          "places",
          [](const Model& model) {
            std::vector<std::string> out;
            const auto add = [&](const std::string& name) {
              if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
            };
            for (const auto& relation : model.system().relations()) add(relation.name);
            for (const auto& watch : model.system().watches()) add(watch.name);
            for (const auto& one : model.system().switches()) add(one.place);
            return out;
          },
          "Where an event can be.")
      .def_property_readonly("text", [](const Model& model) { return *model.request().text; })
      .def(
          "with_",
          [](const Model& model, const std::vector<Setting>& settings) {
            const py::gil_scoped_release release;
            return sound(model.with(settings));
          },
          py::arg("settings"))
      .def("run", &run_model, py::arg("asked"), py::arg("on_row") = py::none(),
           py::arg("on_event") = py::none(), py::arg("cancel") = py::none())
      .def("explain", &explained, py::call_guard<py::gil_scoped_release>())
      .def(
          "latex",
          [](const Model& model, bool symbolic) {
            return tasks::model_equations(model.request(), symbolic).latex;
          },
          py::arg("symbolic"), py::call_guard<py::gil_scoped_release>());

  py::class_<Moved>(module, "Stepper")
      .def(py::init<const Model&, const Asked&>(), py::arg("model"), py::arg("asked"), py::keep_alive<1, 2>())
      .def("advance_to", &Moved::advance_to, py::arg("time"))
      .def_property_readonly("time", [](const Moved& moved) { return moved.stepper->time(); })
      .def_property_readonly("over", [](const Moved& moved) { return moved.stepper->over(); })
      .def_property_readonly("status", [](const Moved& moved) { return moved.stepper->status(); })
      .def_property_readonly("row",
                             [](const Moved& moved) {
                               const Row row = moved.stepper->row();
                               return Numbers(static_cast<py::ssize_t>(row.size()), row.data());
                             })
      .def_property_readonly("events",
                             [](const Moved& moved) { return event_columns(moved.stepper->events()); })
      .def_property_readonly("verdict",
                             [](const Moved& moved) { return verdict_of(moved.stepper->verdict()); });
}

}  // namespace judder::python
