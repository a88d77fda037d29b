#include "judder/io/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "io/base64.hpp"
#include "io/json_values.hpp"
#include "io/run_document.hpp"
#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/version.hpp"

namespace judder::io {
namespace {

using Json = nlohmann::ordered_json;

const char* word(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

template <class Value>
Json table(const std::vector<std::pair<std::string, Value>>& pairs) {
  return object_of(pairs, [](const Value& value) -> Json {
    if constexpr (std::is_same_v<Value, double>)
      return json_number(value);
    else
      return value;
  });
}

/// Rows of a model as texts. Up to kAll coordinates they are lists. Beyond that most entries are zero, and all of them together would grow with the square of the
/// model: then a row is an object of what is not zero by coordinate. After kMost entries further rows are null, and the document says so.
class RowTexts {
 public:
  RowTexts(const model::System& system, expr::Texts& text) : system_(system), text_(text) {}
  Json operator()(std::span<const expr::Node> nodes) {
    if (nodes.size() <= kAll) {
      Json out = Json::array();
      for (const expr::Node node : nodes) out.push_back(text_(node));
      return out;
    }
    const expr::Graph& graph = system_.graph();
    Json out = Json::object();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (graph.is_constant(nodes[i]) && graph.value(nodes[i]) == 0) continue;
      if (++entries_ > kMost) return nullptr;
      // Names of coordinates are different: no need to look for each among those before.
      out.get_ref<Json::object_t&>().push_back({system_.coordinate_names()[i], text_(nodes[i])});
    }
    return out;
  }
  [[nodiscard]] bool cut() const { return entries_ > kMost; }

 private:
  static constexpr std::size_t kAll = 100;
  static constexpr std::size_t kMost = 200000;
  const model::System& system_;
  expr::Texts& text_;
  std::size_t entries_ = 0;
};

const char* word(model::RelationKind kind) {
  return kind == model::RelationKind::contact      ? "contact"
         : kind == model::RelationKind::constraint ? "constraint"
                                                   : "friction";
}

Json relation_json(const model::System& system, expr::Texts& text, RowTexts& row_texts, std::size_t index) {
  const model::Relation& relation = system.relations()[index];
  const model::Symbols& symbols = system.symbols();
  Json out{{"kind", word(relation.kind)}, {"name", relation.name}};
  if (relation.has_normal) {
    const model::Symbols::Row& row = symbols.normal[index];
    out[relation.kind == model::RelationKind::contact ? "gap"
        : relation.holonomic                          ? "zero"
                                                      : "velocity"] = text(row.gap);
    out["rate"] = text(row.gap_rate);
    out["normal_row"] = row_texts(row.w);
    if (relation.own_push) out["push"] = row_texts(row.push);
    out["second_order_terms"] = text(row.zeta);
  } else {
    out["normal_force"] = text(symbols.base[index]);
  }
  if (relation.kind == model::RelationKind::contact) out["impact"] = name(relation.impact);
  Json tangents = Json::array();
  for (int k = 0; k < relation.tangents; ++k) {
    const model::Symbols::TangentRow& row =
        symbols.tangent[static_cast<std::size_t>(relation.first_tangent + k)];
    Json tangent{{"slip", text(row.slip)}, {"row", row_texts(row.w)}};
    if (relation.own_push) tangent["drag"] = row_texts(row.drag);
    tangent["coefficient"] = text(row.mu);
    tangent["coefficient_at_rest"] = text(row.mu_static);
    tangents.push_back(std::move(tangent));
  }
  if (!tangents.empty()) out["tangential"] = std::move(tangents);
  return out;
}

}  // namespace

std::string diagnostics_json(const Diagnostics& diagnostics, std::string_view file, std::string_view text) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& message : diagnostics.all()) order.push_back(&message);
  std::stable_sort(order.begin(), order.end(),
                   [](const Diagnostic* a, const Diagnostic* b) { return a->span.begin < b->span.begin; });
  Json problems = Json::array();
  int warnings = 0;
  for (const Diagnostic* message : order) {
    Json problem{{"severity", word(message->severity)}};
    if (!message->span.empty() && message->file.empty()) {
      const Position begin = position(text, message->span.begin);
      const Position end = position(text, message->span.end);
      problem["line"] = begin.line;
      problem["column"] = begin.column;
      problem["end_line"] = end.line;
      problem["end_column"] = end.column;
    }
    // Names of any length stand in them; cut as they are for people.
    constexpr std::size_t kLongest = 400, kLongestPlace = 200;
    problem["message"] = printable_name(message->message, kLongest);
    if (!message->help.empty()) problem["help"] = printable_name(message->help, kLongest);
    if (!message->where.empty()) problem["where"] = printable_name(message->where, kLongestPlace);
    if (!message->file.empty()) problem["file"] = message->file;
    warnings += message->severity == Severity::warning ? 1 : 0;
    problems.push_back(std::move(problem));
  }
  return json_text({{"file", std::string(file)},
                    {"errors", diagnostics.errors()},
                    {"warnings", warnings},
                    {"problems", problems}});
}

namespace {

Json explained(const model::Compiled& compiled, Patience& patience) {
  const model::System& system = *compiled.system;
  const model::Symbols& symbols = system.symbols();
  expr::Texts text(system.graph());
  text.use(&patience);
  const model::Layout& layout = system.layout();
  const auto n = static_cast<std::size_t>(layout.coordinates);
  RowTexts row_texts(system, text);

  Json coordinates = Json::array();
  for (std::size_t i = 0; i < n; ++i) {
    coordinates.push_back(
        {{"name", system.coordinate_names()[i]},
         {"start", json_number(system.start()[static_cast<std::size_t>(layout.q()) + i])},
         {"velocity", json_number(system.start()[static_cast<std::size_t>(layout.v()) + i])},
         {"massless", static_cast<bool>(system.massless()[i])},
         {"force", text(symbols.force[i])}});
  }
  Json states = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.states); ++i) {
    states.push_back({{"name", system.state_names()[i]},
                      {"start", json_number(system.start()[static_cast<std::size_t>(layout.z()) + i])},
                      {"rate", text(symbols.rate[i])}});
  }
  Json mass = Json::array();
  for (std::size_t i = 0; i < n && !symbols.mass.empty(); ++i) {
    patience.look();
    mass.push_back(row_texts(std::span(symbols.mass).subspan(i * n, n)));
  }
  Json relations = Json::array();
  for (std::size_t r = 0; r < system.relations().size(); ++r) {
    patience.look();
    relations.push_back(relation_json(system, text, row_texts, r));
  }
  Json switches = Json::array();
  for (std::size_t k = 0; k < system.switches().size(); ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    switches.push_back({{"place", info.place},
                        {"surface", text(symbols.surface[k])},
                        {"above", info.above},
                        {"below", info.below},
                        {"timetable", info.time_only}});
  }
  return object("title", compiled.title, "parameters", table(compiled.parameters), "coordinates",
                std::move(coordinates), "states", std::move(states), "mass_matrix", std::move(mass),
                "kinetic", text(symbols.kinetic), "potential", text(symbols.potential), "relations",
                std::move(relations), "switches", std::move(switches), "rows_left_out", row_texts.cut());
}

}  // namespace

std::string explain_json(const model::Compiled& compiled, const std::atomic<bool>* cancel) {
  Patience patience;
  patience.start(cancel);
  try {
    return json_text(explained(compiled, patience));
  } catch (const Abandoned&) {
    return {};
  }
}

std::string gallery_json(const std::vector<GalleryModel>& models) {
  Json out = Json::array();
  for (const GalleryModel& model : models) {
    out.push_back(
        {{"name", model.name}, {"title", model.title}, {"source", model.source}, {"models", model.models}});
  }
  return json_text({{"models", out}});
}

namespace {

Json periodic_json(const analysis::PeriodicMotion& motion) {
  Json ranges = Json::object(), drifts = Json::object();
  for (const auto& range : motion.ranges)
    ranges[range.name] =
        list_of(std::array{range.least, range.most}, [](double x) { return json_number(x); });
  for (const auto& drift : motion.drifts) drifts[drift.name] = json_number(drift.change);
  const auto share = [](const auto& part) {
    return object("element", part.element, "mode", part.mode, "share", json_number(part.share));
  };
  return object("equilibrium", motion.equilibrium, "at_rest", motion.at_rest, "period",
                json_number(motion.period), "forcing_period",
                motion.forcing_period > 0 ? json_number(motion.forcing_period) : Json(nullptr), "from",
                json_number(motion.from), "to", json_number(motion.to), "distance",
                json_number(motion.distance), "contraction", json_number(motion.contraction), "ranges",
                std::move(ranges), "shares", list_of(motion.shares, share), "events", motion.events,
                "events_cut", motion.events_cut, "drifts", std::move(drifts));
}

Json referee_json(const Verdict& verdict) {
  Json laws = Json::object();
  for (const LawRecord& record : verdict.laws)
    laws[record.law] = object("checks", record.checks, "worst", json_number(record.worst));
  const auto finding = [](const Finding& found) {
    return object("law", found.law, "place", found.place, "time", json_number(found.time), "ratio",
                  json_number(found.ratio), "worst_time", json_number(found.worst_time), "worst_ratio",
                  json_number(found.worst_ratio), "worst_amount", json_number(found.worst_amount), "count",
                  found.count);
  };
  return object("laws", std::move(laws), "findings", list_of(verdict.findings, finding), "not_listed",
                verdict.not_kept);
}

Json monitors_json(const std::vector<engines::Monitor>& monitors) {
  Json out = Json::object();
  for (const engines::Monitor& monitor : monitors)
    out[monitor.name] = object("worst", json_number(monitor.worst), "time", json_number(monitor.time),
                               "checks", monitor.checks, "broken", monitor.broken);
  return out;
}

Json document_of(const RunSummary& summary) {
  const model::RunOptions& used = summary.options;
  Json options = object("from", json_number(used.from), "until", json_number(used.until), "tolerance",
                        json_number(used.tolerance), "step", json_number(used.step), "max_step",
                        json_number(used.max_step), "method", used.method, "max_events", used.max_events,
                        "on_accumulation", used.on_accumulation, "on_painleve", used.on_painleve,
                        "on_indeterminate", used.on_indeterminate, "solver", used.solver, "solver_tolerance",
                        json_number(used.solver_tolerance), "plots", used.plots);
  for (const model::RunOptions::EngineOption& option : used.engine_options) {
    if (option.engine != summary.engine) continue;
    options[option.engine][option.key] = option.text.empty() ? json_number(option.number) : Json(option.text);
  }
  Json counts = Json::object();
  for (const auto& [name, value] : summary.counts) counts[name] = std::llround(value);
  Json out = object(
      "program", object("name", "judder", "version", version()), "model",
      object("file", summary.model, "title", summary.title, "variants", summary.variants, "set",
             table(summary.set), "parameters", table(summary.parameters), "text", summary.model_text),
      "engine", summary.engine, "options", std::move(options), "modes_at_start", table(summary.modes), "end",
      object("reason", name(summary.status.reason), "time", json_number(summary.status.time), "where",
             summary.status.where, "message", summary.status.message),
      "counts", std::move(counts), "residuals", table(summary.residuals), "energy",
      object("initial", json_number(summary.energy.initial), "final", json_number(summary.energy.final),
             "supplied", json_number(summary.energy.supplied), "dissipated",
             json_number(summary.energy.dissipated), "balance", json_number(summary.energy.balance)),
      "intervals", Json::array(),  // filled in by with_intervals
      "notes", summary.notes, "wall_seconds", json_number(summary.wall_seconds));
  if (summary.periodic) out["periodic"] = periodic_json(*summary.periodic);
  if (!summary.monitors.empty()) out["monitors"] = monitors_json(summary.monitors);
  if (summary.verdict.judged) out["referee"] = referee_json(summary.verdict);
  return out;
}

/// The text of the document with the intervals in it. There may be a hundred thousand, and a run is saved on the way: their text is made directly.
std::string with_intervals(std::string text, const RunSummary& summary) {
  if (summary.intervals.empty()) return text;
  constexpr std::string_view kEmpty =
      "\n  \"intervals\": []";  // inside a string the line end would be escaped
  const std::size_t at = text.find(kEmpty);
  if (at == std::string::npos) return text;
  std::string list;
  list.reserve(160 * summary.intervals.size());
  std::string name, quoted;
  const auto add = [&list](const char* key, double value) {
    list += key;
    if (std::isfinite(value))
      append_number(list, value);
    else
      list += "null";
  };
  for (const RunSummary::Interval& interval : summary.intervals) {
    if (quoted.empty() || interval.contact != name) {
      name = interval.contact;
      quoted = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    list += list.empty() ? "\n    {\n      \"contact\": " : ",\n    {\n      \"contact\": ";
    list += quoted;
    add(",\n      \"from\": ", interval.from);
    add(",\n      \"to\": ", interval.to);
    add(",\n      \"peak\": ", interval.peak);
    add(",\n      \"impulse\": ", interval.impulse);
    list += "\n    }";
  }
  text.insert(at + kEmpty.size() - 1, list + "\n  ");
  return text;
}

}  // namespace

Json run_document(const RunSummary& summary) {
  Json out = document_of(summary);
  out["intervals"] = list_of(summary.intervals, [](const RunSummary::Interval& interval) {
    return object("contact", interval.contact, "from", json_number(interval.from), "to",
                  json_number(interval.to), "peak", json_number(interval.peak), "impulse",
                  json_number(interval.impulse));
  });
  return out;
}

std::string run_json(const RunSummary& summary) {
  Json out = document_of(summary);
  const simulate::CurvePoints& curve = summary.curve;
  if (!curve.times.empty())
    out["curve"] = object("columns", curve.columns, "points", curve.times.size(), "times",
                          base64_of(std::span<const double>(curve.times)), "values",
                          base64_of(std::span<const double>(curve.values)));
  return with_intervals(json_text(std::move(out)), summary);
}

std::string names_json(const std::string& which, const std::vector<std::string>& names) {
  return json_text(object(which.c_str(), names));
}

std::string gallery_copy_json(const std::string& name, const std::string& folder, const std::string& model) {
  return json_text(object("name", name, "folder", folder, "model", model));
}

namespace {

Json error_member(int exit_code, std::string_view message) {
  while (!message.empty() && message.back() == '\n') message.remove_suffix(1);
  return object("exit_code", exit_code, "message", std::string(message));
}

}  // namespace

std::string with_error(const std::string& document, int exit_code, std::string_view message) {
  const Json in = Json::parse(document, nullptr, false);
  if (!in.is_object() || in.contains("error")) return document;
  Json out = object("error", error_member(exit_code, message));
  out.update(in);
  return json_text(std::move(out));
}

std::string error_json(int exit_code, std::string_view message, std::string_view problems) {
  Json out = object("error", error_member(exit_code, message));
  const Json more = Json::parse(problems, nullptr, false);
  if (more.is_object()) out.update(more);
  return json_text(std::move(out));
}

namespace {

/// Nothing if it is not what run_json() writes.
simulate::CurvePoints curve_of(const ReadJson& json) {
  simulate::CurvePoints out;
  if (!json.is_object()) return out;
  const auto numbers = [&json](const char* name) -> std::vector<double> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) return {};
    return doubles_of_base64(found->get_ref<const std::string&>()).value_or(std::vector<double>());
  };
  const auto columns = json.find("columns");
  if (columns == json.end() || !columns->is_array()) return out;
  for (const ReadJson& name : *columns)
    out.columns.push_back(name.is_string() ? name.get<std::string>() : "");
  out.times = numbers("times");
  out.values = numbers("values");
  const auto later = [](double a, double b) { return !(b > a); };
  const bool ascending = std::adjacent_find(out.times.begin(), out.times.end(), later) == out.times.end();
  if (out.values.size() != out.times.size() * out.columns.size() || !ascending) return {};
  return out;
}

}  // namespace

EarlierPart read_earlier_part(std::string_view run_json, std::size_t most_intervals) {
  EarlierPart out;
  const ReadJson in = ReadJson::parse(run_json, nullptr, false);
  if (!in.is_object()) return out;
  const ReadJson none;
  const auto part = [&](const char* name) -> const ReadJson& {
    const auto found = in.find(name);
    return found == in.end() ? none : *found;
  };
  const auto number = [](const ReadJson& json) {
    return json.is_number() ? json.get<double>() : std::nan("");
  };
  if (const ReadJson& counts = part("counts"); counts.is_object()) {
    for (const auto& [name, value] : counts.items()) {
      if (value.is_number_unsigned()) out.counts.emplace_back(name, value.get<double>());
    }
  }
  if (const ReadJson& modes = part("modes_at_start"); modes.is_object()) {
    for (const auto& [name, value] : modes.items()) {
      if (value.is_string()) out.modes.emplace_back(name, value.get<std::string>());
    }
  }
  for (const ReadJson& interval : part("intervals")) {
    if (out.intervals.size() >= most_intervals) break;
    if (!interval.is_object()) continue;
    const auto value = [&](const char* name) {
      return interval.contains(name) ? number(interval[name]) : std::nan("");
    };
    if (!interval.contains("contact") || !interval["contact"].is_string()) continue;
    out.intervals.push_back({interval["contact"].get<std::string>(), value("from"), value("to"),
                             value("peak"), value("impulse")});
  }
  for (const ReadJson& note : part("notes")) {
    if (note.is_string()) out.notes.push_back(note.get<std::string>());
  }
  if (const ReadJson& end = part("end"); end.is_object()) {
    const auto text = [&end](const char* name) {
      const auto found = end.find(name);
      return found != end.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto reached = end.find("time");
    out.status = {reason_named(text("reason")).value_or(Reason::interrupted),
                  reached == end.end() ? std::nan("") : number(*reached), text("where"), text("message")};
  }
  if (const double seconds = number(part("wall_seconds")); seconds >= 0) out.wall_seconds = seconds;
  out.curve = curve_of(part("curve"));
  return out;
}

simulate::CurvePoints read_curve(std::string_view run_json) {
  const ReadJson in = ReadJson::parse(run_json, nullptr, false);
  return in.is_object() && in.contains("curve") ? curve_of(in["curve"]) : simulate::CurvePoints();
}

std::string run_json(const RunSummary& summary, const std::vector<Event>& events) {
  Json out = document_of(summary);
  Json list = Json::array();
  for (const Event& event : events) {
    Json item{{"time", json_number(event.time)}};
    if (event.bound > 0) item["time_bound"] = json_number(event.bound);
    item["kind"] = event.kind;
    item["where"] = event.where;
    item["detail"] = event.detail;
    item["normal_impulse"] = json_number(event.normal_impulse);
    item["tangential_impulse"] = json_number(event.tangential_impulse[0]);
    item["energy_before"] = json_number(event.energy_before);
    item["energy_after"] = json_number(event.energy_after);
    char mode[17];
    std::snprintf(mode, sizeof mode, "%016llx", static_cast<unsigned long long>(event.mode));
    item["mode"] = mode;
    list.push_back(std::move(item));
  }
  out["events"] = std::move(list);
  // Long lists are cut; the whole one is events.csv.
  for (const auto& [name, count] : summary.counts) {
    if (name == "events" && count > static_cast<double>(events.size())) {
      out["events_cut"] = true;
      out["events_total"] = json_number(count);
    }
  }
  return with_intervals(json_text(std::move(out)), summary);
}

}  // namespace judder::io
