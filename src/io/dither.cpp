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

using analysis::DitherAxis;
using analysis::DitherSurvey;
using Json = nlohmann::ordered_json;

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
  for (const std::string& part : split_list(text)) {
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
  const std::vector<std::string> parts = split_list(text);
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

std::string dither_text(const DitherSurvey& survey) {
  using analysis::Wave;
  std::string out = "friction of " + in_line(survey.law) + " (" + survey.friction + "), ";
  const analysis::Dither& dither = survey.dither;
  out += dither.wave == Wave::none
             ? "no dither\n"
             : std::string(dither.wave == Wave::other ? "periodic" : analysis::name(dither.wave)) +
                   " dither of the slip velocity: amplitude " + to_text(dither.amplitude, 6) +
                   ", frequency " + to_text(dither.frequency, 6) + "\n";
  TextTable table({"slip", "averaged", "slope", "without dither", "without memory", "at its frequency"},
                  {0, 1, 2, 3, 4, 5});
  const std::size_t step = std::max<std::size_t>(1, (survey.curve.size() - 1) / 20);
  for (std::size_t i = 0; i < survey.curve.size(); i += step) {
    const DitherSurvey::Row& row = survey.curve[i];
    // Without dither all of these are one.
    const auto mean = [&](double value) { return dither.wave == Wave::none ? "" : to_text(value, 7); };
    table.add({to_text(row.slip, 4), mean(row.resistance), to_text(row.slope, 5), to_text(row.undithered, 7),
               mean(row.still), mean(row.held)});
  }
  table.drop_empty_columns();
  out += table.text();
  out += std::isinf(survey.slope_at_rest) ? "at rest the resistance jumps\n"
                                          : "slope at rest: " + to_text(survey.slope_at_rest, 8) + "\n";
  out += survey.falling.empty() ? "the resistance never falls in this range\n"
                                : "the resistance falls for slip from " + range_list(survey.falling) + "\n";
  out += survey.unstable.empty()
             ? "steady sliding is stable in this range\n"
             : "steady sliding is unstable for slip from " + range_list(survey.unstable) + "\n";
  if (survey.speed && !survey.eigenvalues.empty()) {
    out += "eigenvalues at slip " + to_text(*survey.speed, 6) + ":";
    for (const auto& lambda : survey.eigenvalues) {
      if (lambda.imag() < 0) continue;
      out += " " + to_text(lambda.real(), 6) +
             (lambda.imag() > 1e-12 ? " ± " + to_text(lambda.imag(), 6) + "i" : "");
    }
    out += survey.eigenvalues.front().real() > 0 ? "  (unstable)\n" : "  (stable)\n";
  }
  if (survey.harmonics) {
    TextTable harmonics({"n", "X", "Y"}, {0, 1, 2});
    for (std::size_t n = 0; n < std::min<std::size_t>(survey.harmonics->cosine.size(), 9); ++n)
      harmonics.add({std::to_string(n), to_text(survey.harmonics->cosine[n], 10),
                     to_text(survey.harmonics->sine[n], 10)});
    out += "bristle at slip " + to_text(*survey.speed, 6) + ", " +
           std::to_string(survey.harmonics->cosine.size() - 1) +
           " harmonics, z = X0 + sum X cos - sum Y sin:\n" + harmonics.text();
    out += "mean resistance " + to_text(survey.harmonics->mean, 10) + ", by integration " +
           to_text(survey.held_at_speed, 10) + "; last harmonic " + to_text(survey.harmonics->last, 2) +
           " of the mean\n";
  }
  if (survey.map) {
    const DitherSurvey::Map& map = *survey.map;
    const auto bad = std::count_if(map.growth.begin(), map.growth.end(), [](double x) { return x > 0; });
    out += "map over " + in_line(map.x.name) + " (" + to_text(*map.x.from, 4) + " to " +
           to_text(*map.x.to, 4) + ") and " + in_line(map.y.name) + " (" + to_text(*map.y.from, 4) + " to " +
           to_text(*map.y.to, 4) + "): " + std::to_string(bad) + " of " + std::to_string(map.growth.size()) +
           " points are unstable\n";
  }
  if (survey.run) {
    const analysis::FilteredRun& run = *survey.run;
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

std::string dither_json(const DitherSurvey& survey, const std::string& model) {
  const auto ranges = [&](const std::vector<std::pair<double, double>>& from) {
    Json out = Json::array();
    for (const auto& [a, b] : from) out.push_back({json_number(a), json_number(b)});
    return out;
  };
  Json curve = Json::array();
  for (const DitherSurvey::Row& row : survey.curve) {
    curve.push_back({{"slip", json_number(row.slip)},
                     {"resistance", json_number(row.resistance)},
                     {"slope", json_number(row.slope)},
                     {"bristle", json_number(row.bristle)},
                     {"undithered", json_number(row.undithered)},
                     {"static", json_number(row.still)},
                     {"held", json_number(row.held)}});
  }
  Json out{{"model", model},
           {"law", survey.law},
           {"friction", survey.friction},
           {"dither",
            {{"wave", analysis::name(survey.dither.wave)},
             {"amplitude", json_number(survey.dither.amplitude)},
             {"frequency", json_number(survey.dither.frequency)}}},
           {"dissipation",
            {{"ratio", json_number(survey.dissipation.ratio)},
             {"reachable_below", json_number(survey.dissipation.reachable_below)},
             {"ok", survey.dissipation.ok()}}},
           {"slope_at_rest", json_number(survey.slope_at_rest)},
           {"falling", ranges(survey.falling)},
           {"unstable", ranges(survey.unstable)},
           {"curve", curve}};
  if (survey.speed) {
    Json values = Json::array();
    for (const auto& lambda : survey.eigenvalues)
      values.push_back({json_number(lambda.real()), json_number(lambda.imag())});
    out["speed"] = json_number(*survey.speed);
    out["eigenvalues"] = values;
  }
  if (survey.harmonics) {
    out["harmonics"] = {{"cosine", survey.harmonics->cosine},
                        {"sine", survey.harmonics->sine},
                        {"mean", json_number(survey.harmonics->mean)},
                        {"integrated", json_number(survey.held_at_speed)}};
  }
  if (survey.map) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < survey.map->xs.size(); ++i) {
      Json row = Json::array();
      for (std::size_t j = 0; j < survey.map->ys.size(); ++j)
        row.push_back(json_number(survey.map->growth[i * survey.map->ys.size() + j]));
      rows.push_back(row);
    }
    out["map"] = {{"x", survey.map->x.name},
                  {"y", survey.map->y.name},
                  {"xs", survey.map->xs},
                  {"ys", survey.map->ys},
                  {"growth", rows}};
  }
  if (survey.run) {
    const analysis::FilteredRun& run = *survey.run;
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

FileStatus write_dither(const DitherSurvey& survey, const std::filesystem::path& folder,
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
    for (const DitherSurvey::Row& row : survey.curve) {
      for (const double x :
           {row.slip, row.resistance, row.slope, row.bristle, row.undithered, row.still, row.held})
        csv.number(x);
      csv.end_record();
    }
    write("curve.csv", text, "slip,resistance,slope,bristle,undithered,");
  }
  if (survey.map) {
    text.clear();
    CsvWriter csv(text);
    csv.text(survey.map->x.name).text(survey.map->y.name).text("growth").text("stable");
    csv.end_record();
    for (std::size_t i = 0; i < survey.map->xs.size(); ++i) {
      for (std::size_t j = 0; j < survey.map->ys.size(); ++j) {
        const double rate = survey.map->growth[i * survey.map->ys.size() + j];
        csv.number(survey.map->xs[i]).number(survey.map->ys[j]).number(rate).number(rate <= 0 ? 1 : 0);
        csv.end_record();
      }
    }
    write("map.csv", text, ",growth,stable\n");
  }
  if (survey.run) {
    text.clear();
    CsvWriter csv(text);
    csv.text("t").text("slip").text("resistance");
    csv.end_record();
    for (const auto& point : survey.run->points) {
      csv.number(point.time).number(point.slip).number(point.resistance);
      csv.end_record();
    }
    write("filtered.csv", text, "t,slip,resistance\n");
  }
  return status;
}

}  // namespace judder::io
