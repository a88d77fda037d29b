#include "judder/tasks/dither.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/core/patience.hpp"

namespace judder::tasks {
namespace {

using analysis::Averaged;
using analysis::DitherAxis;
using analysis::DitherProblem;
using analysis::DitherStudy;
using analysis::DitherSurvey;

double value(const DitherAxis& axis, int i) {
  return *axis.from + (*axis.to - *axis.from) * i / (axis.count - 1);
}

void set_parameter(model::CompileOptions& options, const std::string& name, double number) {
  std::erase_if(options.set, [&](const model::Named& named) { return named.name.text == name; });
  options.set.push_back({name, number});
}

double growth(const DitherStudy& study, model::FrictionCurve& curve, double speed) {
  const auto values = analysis::sliding_eigenvalues(study.structure, curve, study.dither, speed);
  return values.empty() ? std::nan("") : values.front().real();
}

/// False, with a message, if an axis cannot be had.
bool complete_axis(DitherAxis& axis, const model::Compiled& compiled, const DitherAxis& speeds,
                   DitherProblem& problem) {
  if (axis.name == "speed") {
    if (!axis.from) axis.from = *speeds.to / axis.count;
    if (!axis.to) axis.to = speeds.to;
    return true;
  }
  const auto& parameters = compiled.parameters;
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == axis.name; });
  if (found == parameters.end()) {
    std::vector<std::string> names{"speed"};
    for (const auto& [name, number] : parameters) names.push_back(name);
    const std::string near = nearest(axis.name, names);
    problem = {
        "there is no parameter '" + axis.name + "' for the map",
        near.empty() ? "an axis is 'speed' or a parameter of the model" : "did you mean '" + near + "'?"};
    return false;
  }
  if (!axis.from) axis.from = 0;
  if (!axis.to) axis.to = 2 * found->second;
  if (!(*axis.to != *axis.from)) {
    problem = {"the map needs a range for '" + axis.name + "'", "write it as " + axis.name + "=0:1:41"};
    return false;
  }
  return true;
}

/// Jumps of `function`, whose values at the rows are known: between two rows with a large difference the half with the larger part of it is taken again
/// and again. A slope loses half of the difference each time, a jump keeps it.
template <class Function>
std::vector<DitherSurvey::Jump> jumps_of(const std::vector<DitherSurvey::Row>& rows,
                                         double DitherSurvey::Row::*column, const Function& function) {
  std::vector<DitherSurvey::Jump> jumps;
  if (rows.size() < 2) return jumps;
  double least = INFINITY, greatest = -INFINITY;
  for (const DitherSurvey::Row& row : rows) {
    least = std::min(least, row.*column);
    greatest = std::max(greatest, row.*column);
  }
  constexpr double kLarge = 0.01;   // of the range of the column
  constexpr double kKept = 0.5;     // of the difference
  constexpr double kNarrow = 1e-9;  // of the range of the slip
  const double width = kNarrow * std::abs(rows.back().slip - rows.front().slip);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    double left = rows[i - 1].slip, right = rows[i].slip;
    double before = rows[i - 1].*column, after = rows[i].*column;
    const double whole = std::abs(after - before);
    if (!(whole > kLarge * (greatest - least))) continue;
    while (std::abs(right - left) > width && std::abs(after - before) > kKept * whole) {
      const double middle = left + (right - left) / 2;
      if (middle == left || middle == right) break;  // neighbours: the whole range may be a few bits wide
      const double there = function(middle);
      const bool first = std::abs(there - before) > std::abs(after - there);
      (first ? right : left) = middle;
      (first ? after : before) = there;
    }
    if (std::abs(after - before) > kKept * whole) jumps.push_back({i, left, before, after});
  }
  return jumps;
}

DitherSurvey::Map make_map(const DitherRequest& request, const DitherReport& report, const DitherAxis& x,
                           const DitherAxis& y, Patience& patience) {
  DitherSurvey::Map map{x, y, {}, {}, {}};
  for (int i = 0; i < x.count; ++i) map.xs.push_back(value(x, i));
  for (int j = 0; j < y.count; ++j) map.ys.push_back(value(y, j));
  map.growth.assign(map.xs.size() * map.ys.size(), std::nan(""));
  // The outer loop is over what needs a new model.
  const bool speed_is_x = x.name == "speed";
  const DitherAxis& outer = speed_is_x ? y : x;
  const DitherAxis& inner = speed_is_x ? x : y;
  for (int a = 0; a < outer.count; ++a) {
    model::CompileOptions options = io::compile_options(request.model);
    set_parameter(options, outer.name, value(outer, a));
    std::optional<DitherStudy> study;
    std::optional<model::FrictionCurve> curve;
    for (int b = 0; b < inner.count; ++b) {
      patience.look();
      const bool by_speed = inner.name == "speed";
      if (!by_speed) set_parameter(options, inner.name, value(inner, b));
      if (b == 0 || !by_speed) {
        DitherProblem ignored;
        study = analysis::dither_study(report.model.file.spec, options, report.survey.law, ignored);
        curve.reset();
        if (study) {
          curve.emplace(study->system, study->relation);
          curve->use(&patience);
        }
      }
      if (!study) continue;
      map.amplitude_varies =
          map.amplitude_varies || study->dither.amplitude != report.survey.dither.amplitude;
      map.frequency_varies =
          map.frequency_varies ||
          (study->dither.amplitude > 0 && study->dither.frequency != report.survey.dither.frequency);
      const double speed = by_speed ? value(inner, b) : *report.survey.speed;
      const auto place = static_cast<std::size_t>(speed_is_x ? b * y.count + a : a * y.count + b);
      map.growth[place] = growth(*study, *curve, speed);
    }
  }
  return map;
}

/// Fills what was asked for into a report that has its model; throws Abandoned.
void answer(const DitherRequest& request, DitherReport& report, Patience& patience) {
  const model::CompileOptions options = io::compile_options(request.model);
  DitherSurvey& out = report.survey;
  DitherProblem& problem = report.problem;
  std::optional<DitherStudy> study =
      analysis::dither_study(report.model.file.spec, options, request.law, problem);
  if (!study) return;
  out.law = study->law;
  out.dither = study->dither;
  // A law that nothing shakes has no average. What can be asked of it all the same: whether it slides steadily at a speed or over a map (an axis of which
  // may be the amplitude), and how it moves.
  if (study->dither.wave == analysis::Wave::none && !request.speed && request.map.empty() &&
      !request.simulate) {
    problem = {"there is no dither: nothing fast and periodic moves the slip of '" + out.law + "'",
               "a slip such as \"x' + W*sin(Om*t)\" has one, and so has a force of a period that is short "
               "for the model; without it --speed v and --map tell whether sliding is steady",
               true};
    return;
  }
  model::FrictionCurve curve(study->system, study->relation);
  curve.use(&patience);
  out.friction = name(curve.type());
  out.dissipation = model::dissipation(curve);

  DitherAxis speeds;
  speeds.count = 201;
  if (request.speeds) speeds = *request.speeds;
  if (!speeds.from) speeds.from = 0;
  if (!speeds.to)
    speeds.to = study->dither.amplitude > 0 ? 2 * study->dither.amplitude : 5 * model::typical_speed(curve);
  for (int i = 0; i < speeds.count; ++i) {
    const double v = value(speeds, i);
    const Averaged mean = analysis::averaged(curve, study->dither, v);
    DitherSurvey::Row row;
    row.slip = v;
    row.resistance = mean.resistance;
    row.slope = mean.slope;
    row.bristle = mean.bristle;
    row.undithered = model::steady_resistance(curve.type(), curve.at(v), v);
    row.still = analysis::memoryless_mean(curve, study->dither, v);
    row.held = analysis::held_mean(curve, study->dither, v, 2000);
    out.curve.push_back(row);
  }
  out.resistance_jumps = jumps_of(out.curve, &DitherSurvey::Row::resistance, [&](double v) {
    return analysis::averaged(curve, study->dither, v).resistance;
  });
  out.undithered_jumps = jumps_of(out.curve, &DitherSurvey::Row::undithered, [&](double v) {
    return model::steady_resistance(curve.type(), curve.at(v), v);
  });
  out.still_jumps = jumps_of(out.curve, &DitherSurvey::Row::still,
                             [&](double v) { return analysis::memoryless_mean(curve, study->dither, v); });
  out.slope_at_rest = analysis::averaged(curve, study->dither, 0).slope;
  const double low = std::max(*speeds.from, 1e-6 * *speeds.to);
  constexpr int kFallingPoints = 4000, kUnstablePoints = 1000;
  out.falling = analysis::falling_zones(curve, study->dither, low, *speeds.to, kFallingPoints);
  out.unstable =
      analysis::unstable_speeds(study->structure, curve, study->dither, low, *speeds.to, kUnstablePoints);

  out.speed = request.speed;
  if (out.speed) {
    out.eigenvalues = analysis::sliding_eigenvalues(study->structure, curve, study->dither, *out.speed);
    out.held_at_speed = analysis::held_mean(curve, study->dither, *out.speed);
  }
  if (request.harmonics > 0) {
    if (!out.speed) {
      problem = {"the harmonics need a mean slip speed", "give it with --speed"};
      return;
    }
    out.harmonics = analysis::harmonic_balance(curve, study->dither, *out.speed, request.harmonics);
    if (!out.harmonics) {
      problem = {"harmonics are for the law 'lugre' under dither; '" + out.law + "' is '" + out.friction +
                     "'" + (study->dither.wave == analysis::Wave::none ? " without dither" : ""),
                 ""};
      return;
    }
  }
  if (request.map.size() == 2) {
    DitherAxis x = request.map[0], y = request.map[1];
    if (!complete_axis(x, report.model.compiled, speeds, problem) ||
        !complete_axis(y, report.model.compiled, speeds, problem))
      return;
    if (x.name != "speed" && y.name != "speed" && !out.speed) {
      problem = {"a map without 'speed' needs a mean slip speed",
                 "give it with --speed, or let one axis be speed"};
      return;
    }
    constexpr double kMostPoints = 1e6;
    const double points = static_cast<double>(x.count) * y.count;
    if (points > kMostPoints) {
      problem = {"the map has " + to_text(points, 9) + " points, more than " + to_text(kMostPoints),
                 "write fewer: " + x.name + "=FROM:TO:COUNT"};
      return;
    }
    out.map = make_map(request, report, x, y, patience);
  }
  if (request.simulate) {
    const double from = report.model.compiled.run.from;
    if (request.until && !(*request.until > from)) {
      problem = {"--until is " + to_text(*request.until) + ", and the run begins at " + to_text(from), {}};
      return;
    }
    const double until = request.until.value_or(report.model.compiled.run.until);
    if (const std::string short_run = model::length_problem(from, until); !short_run.empty()) {
      problem = {short_run, {}};
      return;
    }
    analysis::FilteredRunOptions run;
    run.filter = request.filter;
    run.until = request.until;
    out.run = analysis::filtered_run(report.model.file.spec, options, *study, run);
  }
}

}  // namespace

DitherReport dither_model(const DitherRequest& request) {
  DitherReport report;
  report.model = io::load_model(request.model);
  if (!report.model.ok()) return report;
  Patience patience;
  patience.start(request.model.cancel);
  const expr::OutsideWatch watch(report.model.compiled.system->graph().outside());
  try {
    answer(request, report, patience);
  } catch (const Abandoned&) {
  }
  if (watch.failed() >= 0) report.problem = {watch.words(watch.failed()), {}};
  report.cancelled = request.model.cancel != nullptr && *request.model.cancel;
  return report;
}

}  // namespace judder::tasks
