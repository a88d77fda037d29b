#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "figures.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_head.hpp"
#include "judder/judder.hpp"
#include "judder/model/friction.hpp"
#include "judder/report/law_plot.hpp"
#include "judder/report/run_plots.hpp"
#include "judder/report/svg.hpp"

namespace judder::python {
namespace {

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

const char* word(report::Stroke stroke) {
  switch (stroke) {
    case report::Stroke::solid:
      return "solid";
    case report::Stroke::dashed:
      return "dashed";
    case report::Stroke::dotted:
      return "dotted";
    case report::Stroke::dash_dotted:
      return "dash-dotted";
    case report::Stroke::long_dashed:
      return "long-dashed";
    case report::Stroke::dash_dot_dotted:
      return "dash-dot-dotted";
    case report::Stroke::none:
      break;
  }
  return "none";
}

const char* word(report::Symbol symbol) {
  switch (symbol) {
    case report::Symbol::circle:
      return "circle";
    case report::Symbol::disc:
      return "disc";
    case report::Symbol::square:
      return "square";
    case report::Symbol::diamond:
      return "diamond";
    case report::Symbol::triangle_up:
      return "triangle-up";
    case report::Symbol::triangle_down:
      return "triangle-down";
    case report::Symbol::cross:
      return "cross";
    case report::Symbol::plus:
      return "plus";
    case report::Symbol::bar:
      return "bar";
    case report::Symbol::none:
      break;
  }
  return "none";
}

py::dict axis_of(const report::Axis& axis) {
  py::dict out;
  out["label"] = axis.label;
  out["from"] = axis.from;
  out["to"] = axis.to;
  out["logarithmic"] = axis.logarithmic;
  out["tight"] = axis.tight;
  out["categories"] = axis.categories;
  return out;
}

py::dict series_of(const report::Series& series) {
  py::dict out;
  out["label"] = series.label;
  out["x"] = array_of(series.x);
  out["y"] = array_of(series.y);
  out["jumps"] = series.jumps;
  out["colour"] = series.colour;
  out["stroke"] = word(series.stroke);
  out["symbol"] = word(series.symbol);
  out["radius"] = series.radius;
  out["width"] = series.width;
  out["filled"] = series.filled;
  return out;
}

py::dict panel_of(const report::Panel& panel) {
  py::dict out;
  out["x"] = axis_of(panel.x);
  out["y"] = axis_of(panel.y);
  out["height"] = panel.height;
  out["same_scale"] = panel.same_scale;
  out["guides"] = panel.guides;
  py::list series, kinds, marks;
  for (const report::Series& each : panel.series) series.append(series_of(each));
  for (const report::MarkKind& kind : panel.mark_kinds)
    kinds.append(py::make_tuple(kind.label, word(kind.symbol)));
  for (const report::Mark& mark : panel.marks)
    marks.append(py::make_tuple(mark.kind, mark.x, mark.y, mark.tip, mark.colour, mark.row));
  out["series"] = series;
  out["mark_kinds"] = kinds;
  out["marks"] = marks;
  out["mark_rows"] = panel.mark_rows;
  if (!panel.raster) {
    out["raster"] = py::none();
    return out;
  }
  const report::Raster& from = *panel.raster;
  py::array_t<std::uint8_t> cells({from.rows, from.columns});
  std::copy(from.cells.begin(), from.cells.end(), cells.mutable_data());
  py::dict raster;
  raster["cells"] = cells;
  raster["extent"] = py::make_tuple(from.left, from.right, from.bottom, from.top);
  out["raster"] = raster;
  return out;
}

py::dict data_of(const Drawing& drawing) {
  py::dict out;
  out["title"] = drawing.figure.title;
  out["subtitle"] = drawing.figure.subtitle;
  out["shared_x"] = drawing.figure.shared_x;
  out["width"] = drawing.figure.width;
  py::list panels;
  for (const report::Panel& panel : drawing.figure.panels) panels.append(panel_of(panel));
  out["panels"] = panels;
  return out;
}

std::vector<std::vector<std::string>> plots_of(const model::Spec& spec) {
  std::vector<std::vector<std::string>> out;
  for (const std::vector<model::Text>& plot : spec.output.plots) {
    out.emplace_back();
    for (const model::Text& name : plot) out.back().push_back(name.text);
  }
  return out;
}

/// Figures of a run, and what could not be drawn.
std::pair<std::vector<Drawing>, std::vector<std::string>> run_figures(
    const Model& model, const Run& run, const std::vector<std::vector<std::string>>& plots, bool events,
    std::optional<double> width) {
  std::vector<io::RunData> runs;
  runs.push_back(run.data());
  report::RunPlotOptions options;
  options.title = model.title();
  options.subtitle = run.engine();
  options.events = events;
  options.width = width;
  options.labels = io::labels_of(model.spec());
  report::RunPlots drawn =
      report::plots_of_run(runs, plots.empty() ? plots_of(model.spec()) : plots, options);
  std::pair<std::vector<Drawing>, std::vector<std::string>> out;
  for (report::NamedFigure& each : drawn.figures)
    out.first.push_back({std::move(each.name), std::move(each.figure)});
  out.second = std::move(drawn.problems);
  return out;
}

Drawing law_drawing(const Model& model, const std::string& name, double to) {
  const model::System& system = model.system();
  const model::ChosenLaw chosen = model::choose_law(system, name);
  if (chosen.relation < 0)
    throw Misuse(chosen.problem + (chosen.help.empty() ? "" : "\n  help: " + chosen.help));
  return {"law", report::law_figure(system, chosen.relation, {model.title(), to})};
}

}  // namespace

void bind_figures(py::module_& module) {
  py::class_<Drawing>(module, "Figure")
      .def_readonly("name", &Drawing::name)
      .def(
          "svg", [](const Drawing& drawing) { return report::to_svg(drawing.figure); },
          py::call_guard<py::gil_scoped_release>())
      .def("data", &data_of);
  module.def("run_figures", &run_figures, py::arg("model"), py::arg("run"), py::arg("plots"),
             py::arg("events"), py::arg("width"), py::call_guard<py::gil_scoped_release>());
  module.def("law_figure", &law_drawing, py::arg("model"), py::arg("name"), py::arg("to"),
             py::call_guard<py::gil_scoped_release>());
}

}  // namespace judder::python
