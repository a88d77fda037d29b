#include "judder/io/dither.hpp"

#include <algorithm>
#include <cmath>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/core/number.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/files.hpp"
#include "judder/io/ranges.hpp"

namespace judder::io {
namespace {

using analysis::Averaged;
using analysis::DitherStudy;
using Json = nlohmann::ordered_json;

double value(const DitherAxis& axis, int i) {
  return *axis.from + (*axis.to - *axis.from) * i / (axis.count - 1);
}

void set_parameter(model::CompileOptions& options, const std::string& name, double number) {
  std::erase_if(options.set, [&](const model::Named& named) { return named.name.text == name; });
  options.set.push_back({name, number});
}

double growth(const DitherStudy& study, model::FrictionCurve& curve, double speed,
              const std::atomic<bool>* cancel) {
  const auto values = analysis::sliding_eigenvalues(study.structure, curve, study.dither, speed, cancel);
  return values.empty() ? std::nan("") : values.front().real();
}

/// False, with a message, if an axis cannot be had.
bool complete_axis(DitherAxis& axis, const DitherReport& report, const DitherAxis& speeds,
                   analysis::DitherProblem& problem) {
  if (axis.name == "speed") {
    if (!axis.from) axis.from = *speeds.to / axis.count;
    if (!axis.to) axis.to = speeds.to;
    return true;
  }
  const auto& parameters = report.model.compiled.parameters;
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
std::vector<DitherReport::Jump> jumps_of(const std::vector<DitherReport::Row>& rows,
                                         double DitherReport::Row::*column, const Function& function) {
  std::vector<DitherReport::Jump> jumps;
  if (rows.size() < 2) return jumps;
  double least = INFINITY, greatest = -INFINITY;
  for (const DitherReport::Row& row : rows) {
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
      const double there = function(middle);
      const bool first = std::abs(there - before) > std::abs(after - there);
      (first ? right : left) = middle;
      (first ? after : before) = there;
    }
    if (std::abs(after - before) > kKept * whole) jumps.push_back({i, left, before, after});
  }
  return jumps;
}

DitherReport::Map make_map(const DitherRequest& request, const DitherReport& report, const DitherAxis& x,
                           const DitherAxis& y) {
  DitherReport::Map map{x, y, {}, {}, {}};
  for (int i = 0; i < x.count; ++i) map.xs.push_back(value(x, i));
  for (int j = 0; j < y.count; ++j) map.ys.push_back(value(y, j));
  map.growth.assign(map.xs.size() * map.ys.size(), std::nan(""));
  // The outer loop is over what needs a new model.
  const bool speed_is_x = x.name == "speed";
  const DitherAxis& outer = speed_is_x ? y : x;
  const DitherAxis& inner = speed_is_x ? x : y;
  const auto cancelled = [&] { return request.model.cancel != nullptr && *request.model.cancel; };
  for (int a = 0; a < outer.count && !cancelled(); ++a) {
    model::CompileOptions options = compile_options(request.model);
    set_parameter(options, outer.name, value(outer, a));
    std::optional<DitherStudy> study;
    std::optional<model::FrictionCurve> curve;
    for (int b = 0; b < inner.count && !cancelled(); ++b) {
      const bool by_speed = inner.name == "speed";
      if (!by_speed) set_parameter(options, inner.name, value(inner, b));
      if (b == 0 || !by_speed) {
        analysis::DitherProblem ignored;
        study = analysis::dither_study(report.model.file.spec, options, report.law, ignored);
        curve.reset();
        if (study) curve.emplace(study->system, study->relation);
      }
      if (!study) continue;
      map.amplitude_varies = map.amplitude_varies || study->dither.amplitude != report.dither.amplitude;
      map.frequency_varies = map.frequency_varies || (study->dither.amplitude > 0 &&
                                                      study->dither.frequency != report.dither.frequency);
      const double speed = by_speed ? value(inner, b) : *report.speed;
      const auto place = static_cast<std::size_t>(speed_is_x ? b * y.count + a : a * y.count + b);
      map.growth[place] = growth(*study, *curve, speed, request.model.cancel);
    }
  }
  return map;
}

std::string range_list(const std::vector<std::pair<double, double>>& ranges) {
  std::string out;
  for (const auto& [from, to] : ranges)
    out += (out.empty() ? "" : ", ") + to_text(from, 4) + " to " + to_text(to, 4);
  return out;
}

}  // namespace

std::optional<DitherAxis> parse_dither_range(const std::string& text) {
  const auto range = parse_range(text, kMostDitherValues);
  if (!range) return std::nullopt;
  DitherAxis axis;
  axis.from = range->from;
  axis.to = range->to;
  if (range->count) axis.count = *range->count;
  return axis;
}

std::optional<std::vector<DitherAxis>> parse_dither_map(const std::string& text) {
  std::vector<DitherAxis> axes;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    DitherAxis axis;
    if (equals != std::string::npos) {
      const auto range = parse_dither_range(part.substr(equals + 1));
      if (!range) return std::nullopt;
      axis = *range;
    }
    axis.name = part.substr(0, equals);
    if (axis.name.empty()) return std::nullopt;
    axes.push_back(std::move(axis));
  }
  if (axes.size() != 2 || axes[0].name == axes[1].name) return std::nullopt;
  return axes;
}

std::string dither_map_problem(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2)
    return "--map needs two axes with a comma between them, not " + std::to_string(parts.size());
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (part.empty() || equals == 0) return "--map has an axis without a name: '" + text + "'";
    if (equals != std::string::npos && !parse_dither_range(part.substr(equals + 1)))
      return "--map: " + range_problem(part.substr(equals + 1), kMostDitherValues, false);
  }
  return "--map names one axis twice: '" + parts[0] + "', '" + parts[1] + "'";
}

DitherReport dither_model(const DitherRequest& request) {
  DitherReport report;
  report.model = load_model(request.model);
  if (!report.model.ok()) return report;
  const model::CompileOptions options = compile_options(request.model);
  std::optional<DitherStudy> study =
      analysis::dither_study(report.model.file.spec, options, request.law, report.problem);
  if (!study) return report;
  report.law = study->law;
  report.dither = study->dither;
  // A law that nothing shakes has no average. What can be asked of it all the same: whether it slides steadily at a speed or over a map (an axis of which
  // may be the amplitude), and how it moves.
  if (study->dither.wave == analysis::Wave::none && !request.speed && request.map.empty() &&
      !request.simulate) {
    report.problem = {
        "there is no dither: nothing fast and periodic moves the slip of '" + report.law + "'",
        "a slip such as \"x' + W*sin(Om*t)\" has one, and so has a force of a period that is short "
        "for the model; without it --speed v and --map tell whether sliding is steady",
        true};
    return report;
  }
  model::FrictionCurve curve(study->system, study->relation);
  report.friction = name(curve.type());
  report.dissipation = model::dissipation(curve);

  DitherAxis speeds;
  speeds.count = 201;
  if (request.speeds) speeds = *request.speeds;
  if (!speeds.from) speeds.from = 0;
  if (!speeds.to)
    speeds.to = study->dither.amplitude > 0 ? 2 * study->dither.amplitude : 5 * model::typical_speed(curve);
  const std::atomic<bool>* const cancel = request.model.cancel;
  const auto cancelled = [cancel, &report] {
    report.cancelled = report.cancelled || (cancel != nullptr && *cancel);
    return report.cancelled;
  };
  for (int i = 0; i < speeds.count && !cancelled(); ++i) {
    const double v = value(speeds, i);
    const Averaged mean = analysis::averaged(curve, study->dither, v);
    DitherReport::Row row;
    row.slip = v;
    row.resistance = mean.resistance;
    row.slope = mean.slope;
    row.bristle = mean.bristle;
    row.undithered = model::steady_resistance(curve.type(), curve.at(v), v);
    row.still = analysis::memoryless_mean(curve, study->dither, v);
    row.held = analysis::held_mean(curve, study->dither, v, 2000);
    report.curve.push_back(row);
  }
  report.resistance_jumps = jumps_of(report.curve, &DitherReport::Row::resistance, [&](double v) {
    return analysis::averaged(curve, study->dither, v).resistance;
  });
  report.undithered_jumps = jumps_of(report.curve, &DitherReport::Row::undithered, [&](double v) {
    return model::steady_resistance(curve.type(), curve.at(v), v);
  });
  report.still_jumps = jumps_of(report.curve, &DitherReport::Row::still,
                                [&](double v) { return analysis::memoryless_mean(curve, study->dither, v); });
  report.slope_at_rest = analysis::averaged(curve, study->dither, 0).slope;
  const double low = std::max(*speeds.from, 1e-6 * *speeds.to);
  constexpr int kFallingPoints = 4000, kUnstablePoints = 1000;
  report.falling = analysis::falling_zones(curve, study->dither, low, *speeds.to, kFallingPoints, cancel);
  report.unstable = analysis::unstable_speeds(study->structure, curve, study->dither, low, *speeds.to,
                                              kUnstablePoints, cancel);
  if (cancelled()) return report;

  report.speed = request.speed;
  if (report.speed) {
    report.eigenvalues =
        analysis::sliding_eigenvalues(study->structure, curve, study->dither, *report.speed, cancel);
    if (cancelled()) return report;
    report.held_at_speed = analysis::held_mean(curve, study->dither, *report.speed);
  }
  if (request.harmonics > 0) {
    if (!report.speed) {
      report.problem = {"the harmonics need a mean slip speed", "give it with --speed"};
      return report;
    }
    report.harmonics = analysis::harmonic_balance(curve, study->dither, *report.speed, request.harmonics);
    if (!report.harmonics) {
      report.problem = {"harmonics are for the law 'lugre' under dither; '" + report.law + "' is '" +
                            report.friction + "'" +
                            (study->dither.wave == analysis::Wave::none ? " without dither" : ""),
                        ""};
      return report;
    }
  }
  if (request.map.size() == 2) {
    DitherAxis x = request.map[0], y = request.map[1];
    if (!complete_axis(x, report, speeds, report.problem) ||
        !complete_axis(y, report, speeds, report.problem))
      return report;
    if (x.name != "speed" && y.name != "speed" && !report.speed) {
      report.problem = {"a map without 'speed' needs a mean slip speed",
                        "give it with --speed, or let one axis be speed"};
      return report;
    }
    constexpr double kMostPoints = 1e6;
    const double points = static_cast<double>(x.count) * y.count;
    if (points > kMostPoints) {
      report.problem = {"the map has " + to_text(points, 9) + " points, more than " + to_text(kMostPoints),
                        "write fewer: " + x.name + "=FROM:TO:COUNT"};
      return report;
    }
    report.map = make_map(request, report, x, y);
    if (cancelled()) return report;
  }
  if (request.simulate) {
    const double from = report.model.compiled.run.from;
    if (request.until && !(*request.until > from)) {
      report.problem = {"--until is " + to_text(*request.until) + ", and the run begins at " + to_text(from),
                        {}};
      return report;
    }
    analysis::FilteredRunOptions run;
    run.filter = request.filter;
    run.until = request.until;
    report.run = analysis::filtered_run(report.model.file.spec, options, *study, run);
    static_cast<void>(cancelled());
  }
  return report;
}

std::string dither_text(const DitherReport& report) {
  using analysis::Wave;
  std::string out = "friction of " + in_line(report.law) + " (" + report.friction + "), ";
  const analysis::Dither& dither = report.dither;
  out += dither.wave == Wave::none
             ? "no dither\n"
             : std::string(dither.wave == Wave::other ? "periodic" : analysis::name(dither.wave)) +
                   " dither of the slip velocity: amplitude " + to_text(dither.amplitude, 6) +
                   ", frequency " + to_text(dither.frequency, 6) + "\n";
  TextTable table({"slip", "averaged", "slope", "without dither", "without memory", "at its frequency"},
                  {0, 1, 2, 3, 4, 5});
  const std::size_t step = std::max<std::size_t>(1, (report.curve.size() - 1) / 20);
  for (std::size_t i = 0; i < report.curve.size(); i += step) {
    const DitherReport::Row& row = report.curve[i];
    // Without dither all of these are one.
    const auto mean = [&](double value) { return dither.wave == Wave::none ? "" : to_text(value, 7); };
    table.add({to_text(row.slip, 4), mean(row.resistance), to_text(row.slope, 5), to_text(row.undithered, 7),
               mean(row.still), mean(row.held)});
  }
  table.drop_empty_columns();
  out += table.text();
  out += std::isinf(report.slope_at_rest) ? "at rest the resistance jumps\n"
                                          : "slope at rest: " + to_text(report.slope_at_rest, 8) + "\n";
  out += report.falling.empty() ? "the resistance never falls in this range\n"
                                : "the resistance falls for slip from " + range_list(report.falling) + "\n";
  out += report.unstable.empty()
             ? "steady sliding is stable in this range\n"
             : "steady sliding is unstable for slip from " + range_list(report.unstable) + "\n";
  if (report.speed && !report.eigenvalues.empty()) {
    out += "eigenvalues at slip " + to_text(*report.speed, 6) + ":";
    for (const auto& lambda : report.eigenvalues) {
      if (lambda.imag() < 0) continue;
      out += " " + to_text(lambda.real(), 6) +
             (lambda.imag() > 1e-12 ? " ± " + to_text(lambda.imag(), 6) + "i" : "");
    }
    out += report.eigenvalues.front().real() > 0 ? "  (unstable)\n" : "  (stable)\n";
  }
  if (report.harmonics) {
    TextTable harmonics({"n", "X", "Y"}, {0, 1, 2});
    for (std::size_t n = 0; n < std::min<std::size_t>(report.harmonics->cosine.size(), 9); ++n)
      harmonics.add({std::to_string(n), to_text(report.harmonics->cosine[n], 10),
                     to_text(report.harmonics->sine[n], 10)});
    out += "bristle at slip " + to_text(*report.speed, 6) + ", " +
           std::to_string(report.harmonics->cosine.size() - 1) +
           " harmonics, z = X0 + sum X cos - sum Y sin:\n" + harmonics.text();
    out += "mean resistance " + to_text(report.harmonics->mean, 10) + ", by integration " +
           to_text(report.held_at_speed, 10) + "; last harmonic " + to_text(report.harmonics->last, 2) +
           " of the mean\n";
  }
  if (report.map) {
    const DitherReport::Map& map = *report.map;
    const auto bad = std::count_if(map.growth.begin(), map.growth.end(), [](double x) { return x > 0; });
    out += "map over " + in_line(map.x.name) + " (" + to_text(*map.x.from, 4) + " to " +
           to_text(*map.x.to, 4) + ") and " + in_line(map.y.name) + " (" + to_text(*map.y.from, 4) + " to " +
           to_text(*map.y.to, 4) + "): " + std::to_string(bad) + " of " + std::to_string(map.growth.size()) +
           " points are unstable\n";
  }
  if (report.run) {
    const analysis::FilteredRun& run = *report.run;
    if (!run.status.ok()) out += "the simulation ended early: " + in_line(run.status.message) + "\n";
    out += "simulated: mean slip " + to_text(run.least_slip, 4) + " to " + to_text(run.most_slip, 4) +
           "; off the averaged law by at most " + to_text(run.largest_deviation, 3) + " (at slip " +
           to_text(run.deviation_slip, 3) + "), rms " + to_text(run.rms_deviation, 2) + "\n";
    out += "shares of time: stick " + to_text(100 * run.shares.stick, 4) + " %, pre-sliding " +
           to_text(100 * run.shares.presliding, 4) + " %, slip " + to_text(100 * run.shares.slip, 4) +
           " %; " + std::to_string(run.shares.sticks) + " sticks, the longest " +
           to_text(run.shares.longest_stick, 4) + "\n";
  }
  return out;
}

std::string dither_json(const DitherReport& report) {
  const auto ranges = [&](const std::vector<std::pair<double, double>>& from) {
    Json out = Json::array();
    for (const auto& [a, b] : from) out.push_back({json_number(a), json_number(b)});
    return out;
  };
  Json curve = Json::array();
  for (const DitherReport::Row& row : report.curve) {
    curve.push_back({{"slip", json_number(row.slip)},
                     {"resistance", json_number(row.resistance)},
                     {"slope", json_number(row.slope)},
                     {"bristle", json_number(row.bristle)},
                     {"undithered", json_number(row.undithered)},
                     {"static", json_number(row.still)},
                     {"held", json_number(row.held)}});
  }
  Json out{{"model", report.model.file.name},
           {"law", report.law},
           {"friction", report.friction},
           {"dither",
            {{"wave", analysis::name(report.dither.wave)},
             {"amplitude", json_number(report.dither.amplitude)},
             {"frequency", json_number(report.dither.frequency)}}},
           {"dissipation",
            {{"ratio", json_number(report.dissipation.ratio)},
             {"reachable_below", json_number(report.dissipation.reachable_below)},
             {"ok", report.dissipation.ok()}}},
           {"slope_at_rest", json_number(report.slope_at_rest)},
           {"falling", ranges(report.falling)},
           {"unstable", ranges(report.unstable)},
           {"curve", curve}};
  if (report.speed) {
    Json values = Json::array();
    for (const auto& lambda : report.eigenvalues)
      values.push_back({json_number(lambda.real()), json_number(lambda.imag())});
    out["speed"] = json_number(*report.speed);
    out["eigenvalues"] = values;
  }
  if (report.harmonics) {
    out["harmonics"] = {{"cosine", report.harmonics->cosine},
                        {"sine", report.harmonics->sine},
                        {"mean", json_number(report.harmonics->mean)},
                        {"integrated", json_number(report.held_at_speed)}};
  }
  if (report.map) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < report.map->xs.size(); ++i) {
      Json row = Json::array();
      for (std::size_t j = 0; j < report.map->ys.size(); ++j)
        row.push_back(json_number(report.map->growth[i * report.map->ys.size() + j]));
      rows.push_back(row);
    }
    out["map"] = {{"x", report.map->x.name},
                  {"y", report.map->y.name},
                  {"xs", report.map->xs},
                  {"ys", report.map->ys},
                  {"growth", rows}};
  }
  if (report.run) {
    const analysis::FilteredRun& run = *report.run;
    out["simulated"] = {{"end", judder::name(run.status.reason)},
                        {"largest_deviation", json_number(run.largest_deviation)},
                        {"at_slip", json_number(run.deviation_slip)},
                        {"rms_deviation", json_number(run.rms_deviation)},
                        {"slip", {json_number(run.least_slip), json_number(run.most_slip)}},
                        {"shares",
                         {{"stick", run.shares.stick},
                          {"presliding", run.shares.presliding},
                          {"slip", run.shares.slip},
                          {"alpha", run.shares.alpha},
                          {"sticks", run.shares.sticks},
                          {"longest_stick", json_number(run.shares.longest_stick)}}}};
  }
  return json_text(std::move(out));
}

FileStatus write_dither(const DitherReport& report, const std::filesystem::path& folder,
                        std::vector<std::filesystem::path>& files) {
  FileStatus status;
  const auto write = [&](const char* name, const std::string& text, std::string_view mark) {
    if (!status.ok()) return;
    const std::filesystem::path file = folder / name;
    status = write_text_file(file, text, mark);
    if (status.ok()) files.push_back(file);
  };
  std::string text;
  {
    CsvWriter csv(text);
    for (const char* name : {"slip", "resistance", "slope", "bristle", "undithered", "static", "held"})
      csv.text(name);
    csv.end_record();
    for (const DitherReport::Row& row : report.curve) {
      for (const double x :
           {row.slip, row.resistance, row.slope, row.bristle, row.undithered, row.still, row.held})
        csv.number(x);
      csv.end_record();
    }
    write("curve.csv", text, "slip,resistance,slope,bristle,undithered,");
  }
  if (report.map) {
    text.clear();
    CsvWriter csv(text);
    csv.text(report.map->x.name).text(report.map->y.name).text("growth").text("stable");
    csv.end_record();
    for (std::size_t i = 0; i < report.map->xs.size(); ++i) {
      for (std::size_t j = 0; j < report.map->ys.size(); ++j) {
        const double rate = report.map->growth[i * report.map->ys.size() + j];
        csv.number(report.map->xs[i]).number(report.map->ys[j]).number(rate).number(rate <= 0 ? 1 : 0);
        csv.end_record();
      }
    }
    write("map.csv", text, ",growth,stable\n");
  }
  if (report.run) {
    text.clear();
    CsvWriter csv(text);
    csv.text("t").text("slip").text("resistance");
    csv.end_record();
    for (const auto& point : report.run->points) {
      csv.number(point.time).number(point.slip).number(point.resistance);
      csv.end_record();
    }
    write("filtered.csv", text, "t,slip,resistance\n");
  }
  return status;
}

}  // namespace judder::io
