#include "judder/report/dither_plot.hpp"

#include <algorithm>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/report/svg.hpp"

namespace judder::report {
namespace {

using analysis::DitherSurvey;

/// `amplitude`, `frequency`: whether the figure has one of each.
std::string words(const DitherSurvey& survey, bool amplitude = true, bool frequency = true) {
  const std::string law = survey.law + ", " + survey.friction;
  if (survey.dither.wave == analysis::Wave::none) return amplitude ? law + ", no dither" : law;
  return law + ", " + analysis::name(survey.dither.wave) + " dither" +
         (amplitude ? ", amplitude " + to_text(survey.dither.amplitude, 4) : "") +
         (frequency ? ", frequency " + to_text(survey.dither.frequency, 4) : "");
}

Series curve_of(const DitherSurvey& survey, const char* label, double DitherSurvey::Row::*value,
                const std::vector<DitherSurvey::Jump>& jumps) {
  Series out;
  out.label = label;
  auto jump = jumps.begin();
  for (std::size_t i = 0; i < survey.curve.size(); ++i) {
    const DitherSurvey::Row& row = survey.curve[i];
    // The two sides of a jump stand between the rows around it.
    if (jump != jumps.end() && jump->row == i) {
      out.x.insert(out.x.end(), {jump->slip, jump->slip});
      out.y.insert(out.y.end(), {jump->before, jump->after});
      out.jumps.push_back(out.x.size() - 1);
      ++jump;
    }
    out.x.push_back(row.slip);
    out.y.push_back(row.*value);
  }
  return out;
}

}  // namespace

Figure dither_figure(const DitherSurvey& survey, const std::string& title) {
  Figure figure;
  figure.title = title;
  figure.subtitle = words(survey);
  Panel panel;
  panel.x.label = "slow slip velocity";
  panel.y.label = "mean resistance";
  panel.height = 320;
  panel.series.push_back(
      curve_of(survey, "averaged", &DitherSurvey::Row::resistance, survey.resistance_jumps));
  panel.series.back().width = 2.2;
  panel.series.push_back(
      curve_of(survey, "without dither", &DitherSurvey::Row::undithered, survey.undithered_jumps));
  panel.series.back().stroke = Stroke::dashed;
  panel.series.push_back(curve_of(survey, "without memory", &DitherSurvey::Row::still, survey.still_jumps));
  panel.series.back().stroke = Stroke::dotted;
  if (survey.dither.wave != analysis::Wave::none) {
    Series held = curve_of(survey, "at its frequency", &DitherSurvey::Row::held, {});
    Series points;
    points.label = held.label;
    for (std::size_t i = 0; i < held.x.size(); i += 5) {
      points.x.push_back(held.x[i]);
      points.y.push_back(held.y[i]);
    }
    points.stroke = Stroke::none;
    points.symbol = Symbol::circle;
    points.radius = 2.4;
    panel.series.push_back(points);
  }
  if (survey.run) {
    Series simulated;
    simulated.label = "simulated, filtered";
    for (const auto& point : survey.run->points) {
      if (point.time < survey.run->settled) continue;
      simulated.x.push_back(point.slip);
      simulated.y.push_back(point.resistance);
    }
    simulated.width = 0.8;
    panel.series.push_back(simulated);
  }
  figure.panels.push_back(panel);
  if (survey.run && survey.run->shares.slip < 1) {
    Panel shares;
    shares.x.label = "α: 0 sticks, 1 slides";
    shares.y.label = "share of time";
    shares.height = 120;
    shares.y.from = 0;
    Series bars;
    for (std::size_t i = 0; i < survey.run->shares.alpha.size(); ++i) {
      const double left = static_cast<double>(i) / 10, right = static_cast<double>(i + 1) / 10;
      bars.x.insert(bars.x.end(), {left, left, right, right});
      bars.y.insert(bars.y.end(), {0, survey.run->shares.alpha[i], survey.run->shares.alpha[i], 0});
    }
    bars.filled = true;
    shares.series.push_back(bars);
    figure.panels.push_back(shares);
  }
  return figure;
}

Figure dither_map_figure(const DitherSurvey& survey, const std::string& title) {
  const DitherSurvey::Map& map = *survey.map;
  Figure figure;
  figure.title = title;
  figure.subtitle = words(survey, !map.amplitude_varies, !map.frequency_varies);
  if (survey.map->x.name != "speed" && survey.map->y.name != "speed" && survey.speed)
    figure.subtitle += ", slip " + to_text(*survey.speed, 4);
  Panel panel;
  panel.x.label = map.x.name;
  panel.y.label = map.y.name;
  panel.height = 360;
  panel.x.from = map.xs.front();
  panel.x.to = map.xs.back();
  panel.y.from = map.ys.front();
  panel.y.to = map.ys.back();
  panel.x.tight = panel.y.tight = true;
  // Each unstable run of cells of a column is a rectangle.
  const double dx = (map.xs.back() - map.xs.front()) / static_cast<double>(map.xs.size() - 1);
  const double dy = (map.ys.back() - map.ys.front()) / static_cast<double>(map.ys.size() - 1);
  Series unstable;
  unstable.label = "steady sliding is unstable";
  unstable.stroke = Stroke::none;
  unstable.symbol = Symbol::none;
  unstable.filled = true;
  unstable.colour = 1;
  bool labelled = false;
  for (std::size_t i = 0; i < map.xs.size(); ++i) {
    const auto bad = [&](std::size_t j) { return map.growth[i * map.ys.size() + j] > 0; };
    for (std::size_t j = 0; j < map.ys.size(); ++j) {
      if (!bad(j) || (j > 0 && bad(j - 1))) continue;
      std::size_t last = j;
      while (last + 1 < map.ys.size() && bad(last + 1)) ++last;
      Series cell = unstable;
      if (labelled) cell.label.clear();
      labelled = true;
      const double left = std::max(map.xs[i] - dx / 2, map.xs.front()),
                   right = std::min(map.xs[i] + dx / 2, map.xs.back());
      const double low = std::max(map.ys[j] - dy / 2, map.ys.front()),
                   high = std::min(map.ys[last] + dy / 2, map.ys.back());
      cell.x = {left, right, right, left};
      cell.y = {low, low, high, high};
      panel.series.push_back(std::move(cell));
    }
  }
  figure.panels.push_back(panel);
  return figure;
}

io::FileStatus plot_dither(const DitherSurvey& survey, const std::string& title,
                           const std::filesystem::path& folder, std::vector<std::filesystem::path>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  io::FileStatus status =
      io::write_text_file(folder / "dither.svg", to_svg(dither_figure(survey, title)), io::kFigureMark);
  if (!status.ok()) return status;
  files.push_back(folder / "dither.svg");
  if (!survey.map) return status;
  status = io::write_text_file(folder / "map.svg", to_svg(dither_map_figure(survey, title)), io::kFigureMark);
  if (status.ok()) files.push_back(folder / "map.svg");
  return status;
}

}  // namespace judder::report
