#include "judder/report/compare_figure.hpp"

#include <algorithm>

namespace judder::report {
namespace {

using analysis::CompareRow;

/// The curve of this label, made where there is none.
Series& curve(Panel& panel, const std::string& label, int colour, Stroke stroke) {
  const auto found = std::find_if(panel.series.begin(), panel.series.end(),
                                  [&](const Series& series) { return series.label == label; });
  if (found != panel.series.end()) return *found;
  Series series;
  series.label = label;
  series.colour = colour;
  series.stroke = stroke;
  series.symbol = Symbol::disc;
  panel.series.push_back(series);
  return panel.series.back();
}

void add(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

}  // namespace

Figure compare_figure(const analysis::Comparison& comparison, const std::string& title) {
  Figure figure;
  figure.title = title;
  figure.subtitle = "reference: " + comparison.reference;
  Panel steps, costs;
  steps.x = {.label = "step", .logarithmic = true};
  steps.y = {.label = "error", .logarithmic = true};
  costs.x = {.label = "seconds", .logarithmic = true};
  costs.y = {.label = "error", .logarithmic = true};
  std::vector<std::string> engines;
  for (const CompareRow& row : comparison.rows) {
    if (!row.ran) continue;
    auto place = std::find(engines.begin(), engines.end(), row.engine);
    if (place == engines.end()) place = engines.insert(engines.end(), row.engine);
    const int colour = static_cast<int>(place - engines.begin());
    if (row.step) add(curve(steps, row.engine, colour, Stroke::solid), *row.step, row.error);
    if (row.step && row.velocity_error)
      add(curve(steps, row.engine + ", velocity L1", colour, Stroke::dashed), *row.step, *row.velocity_error);
    add(curve(costs, row.engine, colour, Stroke::solid), row.seconds, row.error);
  }
  if (!steps.series.empty()) figure.panels.push_back(std::move(steps));
  figure.panels.push_back(std::move(costs));
  return figure;
}

}  // namespace judder::report
