#include <pybind11/stl.h>

#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "figures.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/registry.hpp"
#include "judder/io/compare.hpp"
#include "judder/io/dither.hpp"
#include "judder/io/equilibria.hpp"
#include "judder/io/gallery.hpp"
#include "judder/io/impacts.hpp"
#include "judder/io/json.hpp"
#include "judder/io/sweep_json.hpp"
#include "judder/judder.hpp"
#include "judder/report/basin_figure.hpp"
#include "judder/report/compare_figure.hpp"
#include "judder/report/diagram.hpp"
#include "judder/report/dither_plot.hpp"
#include "judder/report/equilibria_figure.hpp"
#include "judder/report/impact_figure.hpp"
#include "judder/report/page.hpp"
#include "judder/tasks/basin.hpp"
#include "judder/tasks/bifurcation.hpp"
#include "judder/tasks/compare.hpp"
#include "judder/tasks/dither.hpp"
#include "judder/tasks/equilibria.hpp"
#include "judder/tasks/impacts.hpp"
#include "judder/tasks/run.hpp"
#include "judder/tasks/sweep.hpp"
#include "judder/tasks/verify.hpp"

namespace judder::python {
namespace {

using Cancel = std::atomic<bool>&;

/// What a verb of the program would print, as JSON and as text, with its figures.
struct Told {
  std::string json, text;
  std::vector<Drawing> figures;
};

io::ModelRequest request_of(const Model& model, Cancel cancel, const std::string& engine = {}) {
  io::ModelRequest request = model.request();
  request.engine = engine;
  request.cancel = &cancel;
  return request;
}

void need(const io::LoadedModel& loaded) {
  if (!loaded.ok()) throw ModelProblem(render(loaded.diagnostics, loaded.file.name, loaded.file.text));
}

void need(const io::FileStatus& status) {
  if (!status.ok()) throw FileProblem(status.text());
}

template <class Problem>
void need_no(const Problem& problem) {
  if (!problem.message.empty())
    throw Misuse(problem.message + (problem.help.empty() ? "" : "\n  help: " + problem.help));
}

Told impacts(const Model& model, const std::vector<analysis::Sweep>& sweeps) {
  return without_lock([&](Cancel cancel) {
    tasks::ImpactRequest request;
    request.model = request_of(model, cancel);
    request.parameters = sweeps;
    request.keep_points = true;
    const io::LoadedModel loaded = tasks::load_impact_model(request);
    if (!cancel) need(loaded);
    Told told;
    if (cancel) return told;
    const std::string& title = loaded.compiled.title;
    if (sweeps.empty()) {
      const analysis::Impacts found = analysis::impacts(*loaded.compiled.system, &cancel);
      if (found.outcome == analysis::ImpactsOutcome::failed) throw Failure(found.status.message);
      told.json = io::impacts_json(found, title);
      told.text = found.outcome == analysis::ImpactsOutcome::no_collision
                      ? io::sliding_text(found) + "no collision: " + found.reason + "\n"
                      : io::impacts_text(found, title);
      if (auto figure = report::impact_figure(found, title))
        told.figures.push_back({"impact", std::move(*figure)});
      return told;
    }
    const tasks::SweepReport swept = tasks::sweep_model(request, loaded);
    switch (swept.stage) {
      case tasks::SweepStage::files_failed:
        need(swept.files);
        break;
      case tasks::SweepStage::interrupted:
        return told;
      case tasks::SweepStage::point_invalid:
        throw ModelProblem(swept.problem);
      case tasks::SweepStage::nothing_collides:
        throw Misuse("nothing collides at any value of the sweep; at the first, " + swept.problem);
      case tasks::SweepStage::ended:
        break;
    }
    told.json = io::impact_sweep_json(swept.sweep, title);
    told.text = io::impact_sweep_text(swept.sweep);
    return told;
  });
}

Told equilibria(const Model& model, std::optional<double> at, std::size_t limit, bool perturb) {
  return without_lock([&](Cancel cancel) {
    tasks::EquilibriaRequest request;
    request.model = request_of(model, cancel);
    request.at = at;
    request.limit = limit;
    request.perturb = request.curves = perturb;
    const tasks::EquilibriaReport found = tasks::find_equilibria(request);
    Told told;
    if (cancel) return told;
    need(found.model);
    need_no(found.problem);
    told.json = io::equilibria_json(found.survey, found.model.file.name);
    told.text = io::equilibria_text(found.survey);
    report::Figure figure = report::equilibria_figure(found.survey, found.model.compiled.title);
    if (!figure.panels.empty()) told.figures.push_back({"equilibria", std::move(figure)});
    return told;
  });
}

Told compare(const Model& model, const std::vector<std::string>& engines,
             const std::vector<double>& tolerances, const std::vector<double>& steps,
             std::optional<double> until) {
  for (const std::string& engine : engines) {
    if (engine != "auto" && engines::find_engine(engine) == nullptr)
      throw Misuse("there is no engine '" + engine + "'");
  }
  return without_lock([&](Cancel cancel) {
    tasks::CompareRequest request;
    request.model = request_of(model, cancel);
    if (!engines.empty()) request.options.engines = engines;
    request.options.tolerances = tolerances;
    request.options.steps = steps;
    request.until = until;
    const tasks::CompareReport compared = tasks::compare_engines(request);
    Told told;
    if (cancel) return told;
    need(compared.model);
    if (!compared.done)
      throw Misuse(render(compared.model.diagnostics, compared.model.file.name, compared.model.file.text));
    told.json = io::compare_json(compared.comparison, compared.model.file.name);
    told.text = io::compare_text(compared.comparison);
    told.figures.push_back(
        {"compare", report::compare_figure(compared.comparison, compared.model.compiled.title)});
    return told;
  });
}

analysis::DitherAxis dither_axis(const std::tuple<std::string, double, double, int>& range) {
  const auto& [name, from, to, count] = range;
  return {name, from, to, count};
}

Told dither(const Model& model, const std::string& law,
            const std::optional<std::tuple<std::string, double, double, int>>& speeds,
            std::optional<double> speed, const std::vector<std::tuple<std::string, double, double, int>>& map,
            int harmonics, bool simulate, const std::string& filter, std::optional<double> until) {
  if (filter != "mean" && filter != "butterworth")
    throw Misuse("there is no filter '" + filter + "'; there are: mean, butterworth");
  return without_lock([&](Cancel cancel) {
    tasks::DitherRequest request;
    request.model = request_of(model, cancel);
    request.law = law;
    if (speeds) request.speeds = dither_axis(*speeds);
    request.speed = speed;
    for (const auto& axis : map) request.map.push_back(dither_axis(axis));
    request.harmonics = harmonics;
    request.simulate = simulate;
    request.filter = filter == "mean" ? analysis::LowPass::mean : analysis::LowPass::butterworth;
    request.until = until;
    const tasks::DitherReport found = tasks::dither_model(request);
    Told told;
    if (cancel) return told;
    need(found.model);
    need_no(found.problem);
    told.json = io::dither_json(found.survey, found.model.file.name);
    told.text = io::dither_text(found.survey);
    const std::string& title = found.model.compiled.title;
    told.figures.push_back({"dither", report::dither_figure(found.survey, title)});
    if (found.survey.map) told.figures.push_back({"map", report::dither_map_figure(found.survey, title)});
    return told;
  });
}

using Axes = std::vector<std::pair<std::string, std::vector<double>>>;

std::vector<analysis::Plan::Axis> axes_of(const Axes& axes) {
  std::vector<analysis::Plan::Axis> out;
  for (const auto& [name, values] : axes) out.push_back({name, values});
  return out;
}

tasks::ManyRequest many_of(const Model& model, Cancel cancel, const std::string& engine,
                           std::optional<double> until, std::optional<double> tolerance, bool referee,
                           int threads, bool resume) {
  tasks::ManyRequest many;
  many.model = request_of(model, cancel, engine);
  many.until = until;
  many.tolerance = tolerance;
  many.referee = referee;
  many.threads = threads;
  many.resume = resume;
  return many;
}

/// False: it was interrupted.
bool ended(const tasks::RunsReport& runs) {
  switch (runs.stage) {
    case tasks::RunsStage::model_invalid:
      need(runs.model);
      throw ModelProblem("the model has no equations at these values");
    case tasks::RunsStage::misused:
      throw Misuse(runs.problem);
    case tasks::RunsStage::files_failed:
      throw FileProblem(runs.files.text());
    case tasks::RunsStage::interrupted:
      return false;
    default:
      return true;
  }
}

/// `plan`: "grid", "rows" or "random"; `rows` holds the table of "rows", by rows.
Told sweep(const Model& model, const std::string& plan, const Axes& axes, const std::vector<double>& rows,
           std::size_t random, std::uint64_t seed, const std::vector<std::string>& variants,
           const std::string& collect, std::optional<double> after, const std::string& output,
           const std::string& folders, const std::string& engine, std::optional<double> until,
           std::optional<double> tolerance, bool referee, int threads, bool resume) {
  return without_lock([&](Cancel cancel) {
    tasks::RunsRequest request;
    request.many = many_of(model, cancel, engine, until, tolerance, referee, threads, resume);
    if (plan == "rows") {
      std::vector<std::string> names;
      for (const auto& axis : axes) names.push_back(axis.first);
      request.plan = analysis::Plan::rows(std::move(names), rows, variants);
    } else if (plan == "random") {
      request.plan = analysis::Plan::random(axes_of(axes), random, seed, variants);
    } else {
      request.plan = analysis::Plan::grid(axes_of(axes), variants);
    }
    request.collect = collect;
    request.after = after.value_or(-std::numeric_limits<double>::infinity());
    request.output = output;
    request.folders = folders;
    const tasks::RunsReport swept = tasks::sweep_runs(request);
    Told told;
    if (!ended(swept)) return told;
    told.json = io::sweep_json({output, swept.members, swept.made.made, swept.failed, swept.first_failure,
                                swept.made.seconds, swept.compile_seconds});
    return told;
  });
}

std::string legend_of(const analysis::Attractor& attractor) {
  std::string out = name(attractor.first.kind);
  if (attractor.first.set) out += " (a set)";
  if (attractor.first.period > 0) out += ", period " + to_text(attractor.first.period, 5);
  return out;
}

struct Basin {
  Told told;
  std::vector<int> labels;
  std::vector<std::size_t> shape;
};

Basin basin(const Model& model, const Axes& axes, std::size_t random, std::uint64_t seed, bool refine,
            double bound, const std::string& output, const std::string& engine, std::optional<double> until,
            std::optional<double> tolerance, bool referee, int threads, bool resume) {
  return without_lock([&](Cancel cancel) {
    tasks::BasinRequest request;
    request.many = many_of(model, cancel, engine, until, tolerance, referee, threads, resume);
    request.axes = axes_of(axes);
    request.random = random;
    request.seed = seed;
    request.refine = refine;
    request.bound = bound;
    request.output = output;
    const tasks::BasinReport found = tasks::basin(request);
    Basin out;
    if (!ended(found.runs)) return out;
    out.told.json = tasks::basin_json(found);
    out.told.text = tasks::basin_text(found);
    out.labels = found.labels;
    out.shape = found.shape;
    if (!found.random && axes.size() == 2 && axes[0].second.size() > 1 && axes[1].second.size() > 1) {
      report::BasinData data;
      data.title = found.runs.model.compiled.title;
      data.across = axes[0].first;
      data.upwards = axes[1].first;
      data.x = axes[0].second;
      data.y = axes[1].second;
      data.labels = found.labels;
      for (const analysis::Attractor& attractor : found.attractors)
        data.attractors.push_back(legend_of(attractor));
      out.told.figures.push_back({"basin", report::basin_figure(data)});
    }
    return out;
  });
}

struct Diagram {
  Told told;
  std::vector<std::string> columns;
  std::vector<tasks::DiagramValue> values;
  double forcing_period = 0;
};

report::Figure diagram_drawing(const tasks::DiagramReport& made, const tasks::DiagramRequest& request,
                               const std::string& section) {
  report::DiagramData data;
  data.title = made.runs.model.compiled.title;
  data.subtitle = "section " + section + ", " + std::to_string(request.keep) + " points after " +
                  std::to_string(request.skip);
  data.parameter = request.axis.name;
  data.quantity = tasks::shown_column(made, request.section);
  data.names = io::labels_of(made.runs.model.file.spec);
  data.from = request.axis.values.front();
  data.to = request.axis.values.back();
  for (const bool down : {false, true}) {
    tasks::DiagramPoints points = tasks::diagram_points(made, data.quantity, down);
    const std::string name = request.carry != tasks::Carry::both ? "" : down ? "downwards" : "upwards";
    if (!points.x.empty()) data.groups.push_back({name, std::move(points.x), std::move(points.y)});
  }
  return report::diagram_figure(data);
}

Diagram bifurcation(const Model& model, const std::string& name, std::vector<double> values,
                    const std::string& section, std::size_t skip, std::size_t keep, const std::string& carry,
                    const std::string& output, const std::string& engine, std::optional<double> until,
                    std::optional<double> tolerance, bool referee, int threads) {
  tasks::DiagramRequest request;
  if (!analysis::parse_section(section, request.section))
    throw Misuse("there is no section '" + section +
                 "'; there are: strobe, impact:CONTACT, watch:NAME, and every other kind of event");
  request.carry = carry == "up"     ? tasks::Carry::up
                  : carry == "down" ? tasks::Carry::down
                  : carry == "both" ? tasks::Carry::both
                                    : tasks::Carry::no;
  if (!carry.empty() && request.carry == tasks::Carry::no)
    throw Misuse("carry is 'up', 'down' or 'both', not '" + carry + "'");
  std::sort(values.begin(), values.end());
  request.axis = {name, std::move(values)};
  request.skip = skip;
  request.keep = keep;
  request.output = output;
  return without_lock([&](Cancel cancel) {
    request.many = many_of(model, cancel, engine, until, tolerance, referee, threads, false);
    tasks::DiagramReport made = tasks::bifurcation(request);
    Diagram out;
    if (!ended(made.runs)) return out;
    out.told.text = tasks::diagram_text(made, name);
    out.told.figures.push_back({"bifurcation", diagram_drawing(made, request, section)});
    out.columns = std::move(made.columns);
    out.values = std::move(made.values);
    out.forcing_period = made.forcing_period;
    return out;
  });
}

/// A run into a folder: its report, the folder, and how it ended.
std::tuple<Told, std::string, Status> record(const Model& model, const std::string& folder,
                                             const std::string& engine, std::optional<double> until,
                                             std::optional<double> tolerance, std::optional<double> step,
                                             bool estimate, bool until_periodic, bool referee, bool page,
                                             bool resume) {
  if (estimate && until_periodic)
    throw Misuse("estimate compares runs of equal length; until_periodic ends them when it likes");
  return without_lock([&](Cancel cancel) {
    tasks::RunRequest request;
    request.model = request_of(model, cancel, engine);
    request.output = folder;
    if (resume) request.resume = folder;
    request.until = until;
    request.tolerance = tolerance;
    request.step = step;
    request.estimate = estimate;
    request.until_periodic = until_periodic;
    request.referee = referee;
    request.cancel = &cancel;
    const tasks::RunReport run = tasks::run_model(request);
    std::tuple<Told, std::string, Status> out;
    auto& [told, place, status] = out;
    switch (run.stage) {
      case tasks::RunStage::model_invalid:
        if (!cancel) need(run.model);
        return out;
      case tasks::RunStage::cannot_resume:
      case tasks::RunStage::files_failed:
        throw FileProblem(run.files.text());
      case tasks::RunStage::finished:
        told = {run.run_json, tasks::finished_text(run), {}};
        break;
      case tasks::RunStage::ended:
        told = {io::run_json(run.summary, run.events), tasks::run_text(run) + tasks::estimate_text(run), {}};
        break;
    }
    place = run.folder.string();
    status = run.summary.status;
    if (page && !cancel) {
      const report::WrittenPage written = report::write_page({.folders = {run.folder}, .cancel = &cancel});
      if (!cancel) need(written.status);
    }
    return out;
  });
}

/// Values that are off among those of the folders, and what the verb prints of them.
std::tuple<Told, std::size_t, std::size_t> verify(const std::vector<std::string>& folders,
                                                  const std::string& engine) {
  return without_lock([&](Cancel cancel) {
    std::vector<tasks::ModelVerification> models;
    tasks::VerifyRequest request;
    request.options.engine = engine;
    request.options.cancel = &cancel;
    std::tuple<Told, std::size_t, std::size_t> out;
    auto& [told, passed, failed] = out;
    for (const std::string& folder : folders) {
      request.folder = folder;
      request.reference = io::reference_beside(request.folder / "model.toml");
      models.push_back(tasks::verify_model(request));
      if (cancel) return out;
      const tasks::ModelVerification& model = models.back();
      if (!model.problem.empty()) throw ModelProblem(model.problem);
      told.text += tasks::verification_text(model);
      passed += static_cast<std::size_t>(model.verification.passed());
      failed += static_cast<std::size_t>(model.verification.failed());
    }
    told.text += tasks::verification_summary(models);
    told.json = tasks::verification_json(models);
    return out;
  });
}

std::vector<std::pair<std::string, std::string>> gallery_models(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> out;
  io::FileStatus status;
  for (const io::GalleryModel& model : io::list_gallery(folder, &status))
    out.emplace_back(model.name, model.title);
  need(status);
  return out;
}

}  // namespace

void bind_tasks(py::module_& module) {
  py::class_<Told>(module, "Told")
      .def_readonly("json", &Told::json)
      .def_readonly("text", &Told::text)
      .def_readonly("figures", &Told::figures);
  py::class_<Basin>(module, "Basin")
      .def_readonly("told", &Basin::told)
      .def_readonly("labels", &Basin::labels)
      .def_readonly("shape", &Basin::shape);

  module.def(
      "impacts",
      [](const Model& model, const std::vector<std::tuple<std::string, double, double, int>>& sweeps) {
        std::vector<analysis::Sweep> parameters;
        for (const auto& [name, from, to, count] : sweeps) parameters.push_back({name, from, to, count});
        return impacts(model, parameters);
      },
      py::arg("model"), py::arg("sweeps"));
  module.def("equilibria", &equilibria, py::arg("model"), py::arg("at"), py::arg("limit"),
             py::arg("perturb"));
  module.def("compare", &compare, py::arg("model"), py::arg("engines"), py::arg("tolerances"),
             py::arg("steps"), py::arg("until"));
  module.def("dither", &dither, py::arg("model"), py::arg("law"), py::arg("speeds"), py::arg("speed"),
             py::arg("map"), py::arg("harmonics"), py::arg("simulate"), py::arg("filter"), py::arg("until"));
  module.def("sweep", &sweep, py::arg("model"), py::arg("plan"), py::arg("axes"), py::arg("rows"),
             py::arg("random"), py::arg("seed"), py::arg("variants"), py::arg("collect"), py::arg("after"),
             py::arg("output"), py::arg("folders"), py::arg("engine"), py::arg("until"), py::arg("tolerance"),
             py::arg("referee"), py::arg("threads"), py::arg("resume"));
  module.def("basin", &basin, py::arg("model"), py::arg("axes"), py::arg("random"), py::arg("seed"),
             py::arg("refine"), py::arg("bound"), py::arg("output"), py::arg("engine"), py::arg("until"),
             py::arg("tolerance"), py::arg("referee"), py::arg("threads"), py::arg("resume"));
  py::class_<tasks::DiagramValue>(module, "DiagramValue")
      .def_readonly("value", &tasks::DiagramValue::value)
      .def_readonly("down", &tasks::DiagramValue::down)
      .def_readonly("points", &tasks::DiagramValue::points)
      .def_readonly("period_points", &tasks::DiagramValue::period_points)
      .def_readonly("period", &tasks::DiagramValue::period)
      .def_readonly("word", &tasks::DiagramValue::word)
      .def_readonly("status", &tasks::DiagramValue::status)
      .def_readonly("ok", &tasks::DiagramValue::ok);
  py::class_<Diagram>(module, "Diagram")
      .def_readonly("told", &Diagram::told)
      .def_readonly("columns", &Diagram::columns)
      .def_readonly("values", &Diagram::values)
      .def_readonly("forcing_period", &Diagram::forcing_period);
  module.def("bifurcation", &bifurcation, py::arg("model"), py::arg("name"), py::arg("values"),
             py::arg("section"), py::arg("skip"), py::arg("keep"), py::arg("carry"), py::arg("output"),
             py::arg("engine"), py::arg("until"), py::arg("tolerance"), py::arg("referee"),
             py::arg("threads"));
  module.def("record", &record, py::arg("model"), py::arg("folder"), py::arg("engine"), py::arg("until"),
             py::arg("tolerance"), py::arg("step"), py::arg("estimate"), py::arg("until_periodic"),
             py::arg("referee"), py::arg("page"), py::arg("resume"));
  module.def("verify", &verify, py::arg("folders"), py::arg("engine"));
  module.def(
      "find_gallery",
      [](const std::string& chosen, const std::string& program) {
        return io::find_gallery(chosen, program).string();
      },
      py::arg("chosen"), py::arg("program"));
  module.def("gallery_models", &gallery_models, py::arg("folder"));
}

}  // namespace judder::python
