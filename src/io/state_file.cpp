#include "judder/io/state_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "core/convert.hpp"
#include "io/disk.hpp"
#include "io/json_values.hpp"
#include "io/manifest.hpp"
#include "judder/core/number.hpp"
#include "judder/io/writer.hpp"

namespace judder::io {
namespace {

using Json = nlohmann::ordered_json;
using engines::Moment;
using engines::NormalStatus;
using engines::TangentStatus;

constexpr std::array<const char*, 4> kNormal{"none", "open", "closed", "held"};
constexpr std::array<const char*, 5> kTangent{"free", "stick", "slip+", "slip-", "smooth"};
constexpr std::array<const char*, 4> kSurface{"away", "slides", "rests", "held"};

Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json numbers(const std::vector<double>& values) { return list_of(values, number); }

/// The functions that read throw; read_state turns that into words.
[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

const ReadJson& member(const ReadJson& in, const char* name) {
  if (!in.is_object()) refuse("a table is missing");
  const auto found = in.find(name);
  if (found == in.end()) refuse(std::string("'") + name + "' is missing");
  return *found;
}

const ReadJson& list(const ReadJson& in, const char* name) {
  const ReadJson& out = member(in, name);
  if (!out.is_array()) refuse(std::string("'") + name + "' is no list");
  return out;
}

double any_number(const ReadJson& json, const char* name) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& word = json.get_ref<const std::string&>();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
  }
  refuse(std::string("'") + name + "' is no number");
}

double finite(const ReadJson& json, const char* name) {
  const double out = any_number(json, name);
  if (!std::isfinite(out)) refuse(std::string("'") + name + "' is not finite");
  return out;
}

double number_in(const ReadJson& in, const char* name) { return finite(member(in, name), name); }

bool truth_in(const ReadJson& in, const char* name) {
  const ReadJson& out = member(in, name);
  if (!out.is_boolean()) refuse(std::string("'") + name + "' is neither true nor false");
  return out.get<bool>();
}

/// A whole number that an integer can hold.
long whole(const ReadJson& json, const char* name, long least, long most) {
  if (!json.is_number_integer()) refuse(std::string("'") + name + "' is no whole number");
  const bool large =
      json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (large || json.get<std::int64_t>() < least || json.get<std::int64_t>() > most)
    refuse(std::string("'") + name + "' is out of range");
  return static_cast<long>(json.get<std::int64_t>());
}

enum class Allowed { finite, any };

std::vector<double> numbers_in(const ReadJson& in, const char* name, Allowed allowed = Allowed::finite) {
  std::vector<double> out;
  const ReadJson& values = list(in, name);
  out.reserve(values.size());
  for (const ReadJson& element : values)
    out.push_back(allowed == Allowed::any ? any_number(element, name) : finite(element, name));
  return out;
}

template <class Status, std::size_t n>
Json words(const std::vector<Status>& values, const std::array<const char*, n>& names) {
  return list_of(values, [&names](Status value) { return names[static_cast<std::size_t>(value)]; });
}

template <class Status, std::size_t n>
std::vector<Status> statuses_in(const ReadJson& in, const char* name,
                                const std::array<const char*, n>& names) {
  std::vector<Status> out;
  for (const ReadJson& element : list(in, name)) {
    const auto found = element.is_string()
                           ? std::find(names.begin(), names.end(), element.get_ref<const std::string&>())
                           : names.end();
    if (found == names.end()) refuse(std::string("'") + name + "' holds a word that is no status");
    out.push_back(static_cast<Status>(found - names.begin()));
  }
  return out;
}

Json mode_json(const engines::Mode& mode) {
  return object("normal", words(mode.normal, kNormal), "pressed", mode.pressed, "tangent",
                words(mode.tangent, kTangent), "side", numbers(mode.side), "surface",
                words(mode.surface, kSurface));
}

engines::Mode to_mode(const ReadJson& in) {
  engines::Mode mode;
  mode.normal = statuses_in<NormalStatus>(in, "normal", kNormal);
  for (const ReadJson& element : list(in, "pressed"))
    mode.pressed.push_back(static_cast<std::int8_t>(whole(element, "pressed", -1, 1)));
  mode.tangent = statuses_in<TangentStatus>(in, "tangent", kTangent);
  mode.side = numbers_in(in, "side");
  mode.surface = statuses_in<engines::AtSurface>(in, "surface", kSurface);
  return mode;
}

/// The lists of numbers of a phase, with their names in the file. How long they are and what they may hold is asked of engines::moment_problem.
struct PhaseList {
  const char* name;
  std::vector<double> engines::PhaseMemory::*member;
};
using engines::PhaseMemory;
constexpr PhaseList kPhaseLists[] = {{"y", &PhaseMemory::y},
                                     {"side", &PhaseMemory::side},
                                     {"listed_sides", &PhaseMemory::listed_sides},
                                     {"guards", &PhaseMemory::guards},
                                     {"watch_sides", &PhaseMemory::watch_sides},
                                     {"rate", &PhaseMemory::rate},
                                     {"noise", &PhaseMemory::noise},
                                     {"stepper", &PhaseMemory::stepper},
                                     {"switchings", &PhaseMemory::switchings},
                                     {"tail", &PhaseMemory::tail},
                                     {"intervals", &PhaseMemory::intervals},
                                     {"timetable", &PhaseMemory::timetable},
                                     {"scheme", &PhaseMemory::scheme}};

Json phase_json(const PhaseMemory& phase) {
  Json out = object("time", number(phase.time), "mode", mode_json(phase.mode), "start", number(phase.start),
                    "last_flight", number(phase.last_flight), "grow", phase.grow, "largest_energy",
                    number(phase.largest_energy), "stiff", phase.stiff, "tail_end", number(phase.tail_end));
  for (const PhaseList& each : kPhaseLists) out[each.name] = numbers(phase.*each.member);
  return out;
}

PhaseMemory to_phase(const ReadJson& in) {
  PhaseMemory phase;
  phase.time = number_in(in, "time");
  phase.mode = to_mode(member(in, "mode"));
  phase.start = number_in(in, "start");
  phase.last_flight = number_in(in, "last_flight");
  phase.grow = truth_in(in, "grow");
  phase.largest_energy = number_in(in, "largest_energy");
  phase.stiff = truth_in(in, "stiff");
  phase.tail_end = any_number(member(in, "tail_end"), "tail_end");
  for (const PhaseList& each : kPhaseLists) {
    // States that were saved before there were engines with fixed steps have no list of theirs.
    if (each.member == &PhaseMemory::scheme && !in.contains(each.name)) continue;
    phase.*each.member = numbers_in(in, each.name, Allowed::any);
  }
  return phase;
}

Json past_json(const RunPast& past) {
  const auto law = [](const LawRecord& record) {
    return object("law", record.law, "checks", record.checks, "worst", number(record.worst));
  };
  const auto finding = [](const Finding& found) {
    return object("law", found.law, "place", found.place, "time", number(found.time), "ratio",
                  number(found.ratio), "worst_time", number(found.worst_time), "worst_ratio",
                  number(found.worst_ratio), "worst_amount", number(found.worst_amount), "count",
                  found.count);
  };
  const auto extreme = [](const Extremes& column) {
    return object("column", column.name, "least", number(column.least), "least_time",
                  number(column.least_time), "most", number(column.most), "most_time",
                  number(column.most_time));
  };
  const auto impact = [](const auto& largest) {
    return object("contact", largest.first, "impulse", number(largest.second));
  };
  Json out =
      object("judged", past.verdict.judged, "laws", list_of(past.verdict.laws, law), "findings",
             list_of(past.verdict.findings, finding), "not_listed", past.verdict.not_kept,
             "reactions_not_unique", past.reactions_not_unique, "uniqueness_unchecked",
             past.uniqueness_unchecked, "worst_gap", number(past.worst_gap), "gains",
             object("count", past.gains.count, "sum", number(past.gains.sum), "first", past.gains.first),
             "intervals", past.intervals, "extremes", list_of(past.extremes, extreme), "hardest",
             list_of(past.hardest, impact));
  if (past.ended) {
    const Status& status = past.ended->status;
    const RunLimits& asked = past.ended->asked;
    out["ended"] =
        object("reason", name(status.reason), "time", number(status.time), "where", status.where, "message",
               status.message, "until", number(asked.until), "tolerance", number(asked.tolerance), "step",
               number(asked.step), "max_step", number(asked.max_step), "max_events", asked.max_events);
  }
  return out;
}

std::string text_in(const ReadJson& in, const char* name) {
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  const ReadJson& out = member(in, name);
  if (!out.is_string()) refuse(std::string("'") + name + "' is no text");
  if (out.get_ref<const std::string&>().size() > kLongest) refuse(std::string("'") + name + "' is too long");
  return out.get<std::string>();
}

std::uint64_t count_in(const ReadJson& in, const char* name) {
  return static_cast<std::uint64_t>(whole(member(in, name), name, 0, kMostCount));
}

const ReadJson& short_list(const ReadJson& in, const char* name, std::size_t most) {
  const ReadJson& out = list(in, name);
  if (out.size() > most) refuse(std::string("'") + name + "' is too long");
  return out;
}

/// A size relative to what is allowed: it may be infinite, but neither negative nor no number.
double ratio_in(const ReadJson& in, const char* name) {
  const double out = any_number(member(in, name), name);
  if (!(out >= 0)) refuse(std::string("'") + name + "' is out of range");
  return out;
}

/// The same, and finite.
double size_in(const ReadJson& in, const char* name) {
  const double out = number_in(in, name);
  if (!(out >= 0)) refuse(std::string("'") + name + "' is out of range");
  return out;
}

/// A time that a run which has come to `now` can have seen.
double time_in(const ReadJson& in, const char* name, double now) {
  const double out = number_in(in, name);
  if (out > now) refuse(std::string("'") + name + "' is later than the state");
  return out;
}

/// Of the values of a column: there may be none, and infinite ones among them.
Extremes extremes_in(const ReadJson& in, double now) {
  const auto value = [&in](const char* name) {
    const double out = any_number(member(in, name), name);
    if (std::isnan(out)) refuse(std::string("'") + name + "' is no number");
    return out;
  };
  Extremes out{text_in(in, "column"), value("least"), 0, value("most"), 0};
  const bool none = out.least == std::numeric_limits<double>::infinity() && out.most == -out.least;
  if (!none && out.least > out.most) refuse("'least' is more than 'most'");
  // Where no value has come yet the times are those of none.
  out.least_time = none ? number_in(in, "least_time") : time_in(in, "least_time", now);
  out.most_time = none ? number_in(in, "most_time") : time_in(in, "most_time", now);
  return out;
}

Finding finding_in(const ReadJson& in) {
  Finding out{text_in(in, "law"),
              text_in(in, "place"),
              number_in(in, "time"),
              ratio_in(in, "ratio"),
              number_in(in, "worst_time"),
              ratio_in(in, "worst_ratio"),
              any_number(member(in, "worst_amount"), "worst_amount"),
              count_in(in, "count")};
  if (!(out.ratio > 1) || out.worst_ratio < out.ratio) refuse("'worst_ratio' of a finding is out of range");
  // What is no number, or more than any, is beyond every allowance.
  if (!std::isfinite(out.worst_amount) && !std::isinf(out.worst_ratio))
    refuse("'worst_amount' is not finite");
  return out;
}

std::optional<RunEnd> ended_in(const ReadJson& past) {
  const auto found = past.find("ended");
  if (found == past.end()) return std::nullopt;
  const ReadJson& in = *found;
  const std::optional<Reason> reason = reason_named(text_in(in, "reason"));
  if (!reason) refuse("'reason' is none of the ends of a run");
  return RunEnd{
      {*reason, number_in(in, "time"), text_in(in, "where"), text_in(in, "message")},
      {number_in(in, "until"), size_in(in, "tolerance"), ratio_in(in, "step"), ratio_in(in, "max_step"),
       whole(member(in, "max_events"), "max_events", 0, std::numeric_limits<long>::max())}};
}

/// `now` is the time of the state.
RunPast to_past(const ReadJson& in, double now) {
  constexpr std::size_t kMostFindings = 256, kMostLaws = 256, kMostColumns = 1'000'000;
  RunPast past;
  Verdict& verdict = past.verdict;
  verdict.judged = truth_in(in, "judged");
  for (const ReadJson& each : short_list(in, "findings", kMostFindings))
    verdict.findings.push_back(finding_in(each));
  verdict.not_kept = count_in(in, "not_listed");
  for (const ReadJson& each : short_list(in, "laws", kMostLaws)) {
    const LawRecord& record = verdict.laws.emplace_back(
        LawRecord{text_in(each, "law"), count_in(each, "checks"), ratio_in(each, "worst")});
    // What is more than allowed has been found.
    const auto found = std::find_if(verdict.findings.begin(), verdict.findings.end(),
                                    [&](const Finding& finding) { return finding.law == record.law; });
    if (record.worst > 1 && found == verdict.findings.end() && verdict.not_kept == 0)
      refuse("'worst' of the law '" + record.law + "' is more than allowed, and nothing was found");
  }
  past.reactions_not_unique = truth_in(in, "reactions_not_unique");
  past.uniqueness_unchecked = truth_in(in, "uniqueness_unchecked");
  past.worst_gap = size_in(in, "worst_gap");
  const ReadJson& gains = member(in, "gains");
  past.gains = {count_in(gains, "count"), size_in(gains, "sum"), text_in(gains, "first")};
  past.intervals = count_in(in, "intervals");
  for (const ReadJson& each : short_list(in, "extremes", kMostColumns))
    past.extremes.push_back(extremes_in(each, now));
  for (const ReadJson& each : short_list(in, "hardest", kMostColumns))
    past.hardest.emplace_back(text_in(each, "contact"), size_in(each, "impulse"));
  past.ended = ended_in(in);
  return past;
}

/// What must be the same in the model that takes up the state.
Json identity(const model::System& system) {
  const auto name = [](const auto& named) { return named.name; };
  const auto place = [](const model::SwitchInfo& info) { return info.place; };
  return object("coordinates", system.coordinate_names(), "states", system.state_names(), "relations",
                list_of(system.relations(), name), "watches", list_of(system.watches(), name), "switches",
                list_of(system.switches(), place));
}

Json owner_json(const StateOwner& owner) {
  const auto text = [](const std::string& value) { return Json(value); };
  Json data = object_of(owner.data, text), set = object_of(owner.set, text);
  Json parameters = object_of(owner.parameters, number);
  return object("equations", owner.equations, "data", std::move(data), "parameters", std::move(parameters),
                "variants", owner.variants, "set", std::move(set), "engine", owner.engine, "until_periodic",
                owner.until_periodic);
}

/// The first line that the two texts do not share.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  std::string x, y;
  while (true) {
    const bool more = static_cast<bool>(std::getline(first, x));
    if (!more) x.clear();
    const bool other = static_cast<bool>(std::getline(second, y));
    if (!other) y.clear();
    if (x != y || (!more && !other)) return {x, y};
  }
}

std::string quoted(const std::string& line) {
  if (line.empty()) return "nothing";
  return "'" + (line.size() > 80 ? line.substr(0, 80) + "…" : line) + "'";
}

/// What of the owner has changed, in words; `fatal` if the equations are others. A run that is `complete` has no steps to come.
std::string changes(const ReadJson& then, const StateOwner& now, bool complete, bool& fatal) {
  const ReadJson& equations = member(then, "equations");
  if (!equations.is_string()) refuse("'equations' is no text");
  if (equations.get_ref<const std::string&>() != now.equations) {
    fatal = true;
    const auto [was, is] = first_difference(equations.get_ref<const std::string&>(), now.equations);
    return "the state is of another model: it has " + quoted(was) + " where this one has " + quoted(is);
  }
  std::string out;
  int more = 0;
  const auto say = [&out, &more](const std::string& text) {
    constexpr std::size_t kLongest = 600;
    if (out.size() < kLongest)
      out += (out.empty() ? "" : ", ") + text;
    else
      ++more;
  };
  const auto texts = [](const std::vector<std::string>& words) {
    std::string joined;
    for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
    return joined.empty() ? std::string("none") : joined;
  };
  const ReadJson wanted = owner_json(now);
  if (list(then, "variants") != wanted["variants"]) {
    std::vector<std::string> variants;
    for (const ReadJson& variant : list(then, "variants"))
      variants.push_back(variant.is_string() ? variant.get<std::string>() : "?");
    say("the variants were " + texts(variants) + " and are " + texts(now.variants));
  }
  for (const char* key : {"parameters", "set", "data"}) {
    const ReadJson& was = member(then, key);
    if (!was.is_object()) refuse(std::string("'") + key + "' is no table");
    const std::string word = std::string(key) == "set" ? "--set " : "";
    const auto value = [](const ReadJson& json) {
      return json.is_string()   ? json.get<std::string>()
             : json.is_number() ? to_text(json.get<double>())
                                : std::string("?");
    };
    for (const auto& [name, is] : wanted[key].items()) {
      const auto found = was.find(name);
      if (found != was.end() && *found == is) continue;
      if (std::string(key) == "data")
        say("the numbers of " + name + " are others");
      else
        say(word + name + " was " + (found == was.end() ? "not given" : value(*found)) + " and is " +
            value(is));
    }
    for (const auto& [name, old] : was.items()) {
      if (wanted[key].contains(name)) continue;
      say(std::string(key) == "data" ? name + " is gone"
                                     : word + name + " was " + value(old) + " and is not given");
    }
  }
  const ReadJson& engine = member(then, "engine");
  if (engine != wanted["engine"])
    say("the engine was " + (engine.is_string() ? engine.get<std::string>() : std::string("?")) + " and is " +
        now.engine);
  const bool searched = truth_in(then, "until_periodic");
  if (!complete && (searched || now.until_periodic))
    say(std::string(searched ? "it was" : "this one is") +
        " to end when periodic, and what is learnt on the way to that is not saved, so that other steps "
        "follow");
  if (more > 0) out += ", and " + std::to_string(more) + " more";
  return out;
}

std::string format_problem(const ReadJson& in) {
  const ReadJson& format = member(in, "format");
  if (format == 3) return {};
  if (format == 1 || format == 2)
    return "the state was written by an older version, which did not keep everything that is needed: it "
           "cannot be taken up; run the model anew";
  return "the state has a format that this version does not know; it may be of a newer one";
}

void add_values(disk::Check& check, const std::vector<std::vector<model::Value>>& rows) {
  for (const auto& row : rows) {
    for (const model::Value& value : row)
      check.add((value.number ? to_text(*value.number) : value.text.text) + ",");
    check.add("\n");
  }
}

}  // namespace

StateOwner state_owner(const LoadedModel& model, const ModelRequest& request, const std::string& engine) {
  StateOwner out;
  out.parameters = model.compiled.parameters;
  out.variants = request.variants;
  for (const model::Named& named : request.set)
    out.set.emplace_back(named.name.text,
                         named.value.number ? to_text(*named.value.number) : named.value.text.text);
  out.engine = engine;
  // Values leave the text and are compared by themselves; what only shows the motion leaves it altogether.
  model::Spec spec = model.file.spec;
  spec.title = spec.description = spec.source = {};
  for (model::Parameter& parameter : spec.parameters) {
    if (!parameter.rows.empty()) {
      disk::Check check;
      add_values(check, parameter.rows);
      out.data.emplace_back("parameter " + parameter.name.text, check.text());
    }
    parameter.rows.clear();
    parameter.is_matrix = false;
    parameter.file = {};
    parameter.value = 0;
    parameter.range.clear();
    parameter.unit = parameter.label = {};
  }
  for (model::Table& table : spec.tables) {
    disk::Check check;
    for (std::size_t i = 0; i < std::min(table.x.size(), table.y.size()); ++i)
      check.add(to_text(table.x[i]) + "," + to_text(table.y[i]) + "\n");
    out.data.emplace_back("table " + table.name.text, check.text());
    table.x = table.y = {0};
    table.file = {};
  }
  const std::pair<const char*, model::Matrix*> matrices[] = {{"mass", &spec.matrices.mass},
                                                             {"damping", &spec.matrices.damping},
                                                             {"stiffness", &spec.matrices.stiffness},
                                                             {"load", &spec.matrices.load}};
  for (const auto& [name, matrix] : matrices) {
    if (!matrix->given) continue;
    disk::Check check;
    add_values(check, matrix->rows);
    for (const model::MatrixEntry& entry : matrix->entries)
      check.add(std::to_string(entry.row) + "," + std::to_string(entry.column) + "," + to_text(entry.value) +
                "\n");
    matrix->entries.clear();
    matrix->sparse = false;
    out.data.emplace_back(std::string("matrix ") + name, check.text());
    matrix->rows = {{model::Value(0)}};
    matrix->file = {};
  }
  for (model::Coordinate& coordinate : spec.coordinates) {
    coordinate.start = coordinate.velocity = {};
    coordinate.unit = coordinate.label = {};
  }
  for (model::StateVariable& state : spec.states) state.start = 0;
  spec.drawings.clear();
  spec.variants.clear();
  spec.run = {};
  spec.output = {};
  out.equations = write_model(spec);
  return out;
}

Moment start_moment(const model::System& system, double from) {
  const model::Layout& layout = system.layout();
  Moment out;
  out.time = from;
  out.y.assign(system.start().begin() + layout.q(),
               system.start().begin() + layout.q() + layout.integrated());
  out.dissipated.assign(static_cast<std::size_t>(layout.audits), 0.0);
  out.supplied = out.dissipated;
  out.scales.assign(out.y.size(), 0.0);
  out.watch_counts.assign(system.watches().size(), 0);
  const auto relations = static_cast<std::size_t>(layout.relations);
  const auto switches = static_cast<std::size_t>(layout.switches);
  out.mode.normal.assign(relations, NormalStatus::none);
  out.mode.pressed.assign(relations, 0);
  out.mode.tangent.assign(static_cast<std::size_t>(layout.tangents), TangentStatus::free);
  out.mode.side.assign(switches, 0.0);
  out.mode.surface.assign(switches, engines::AtSurface::away);
  return out;
}

std::string state_json(const model::System& system, const Moment& moment, const StateOwner& owner,
                       const RunPast& past) {
  return json_text(
      object("format", 3, "time", number(moment.time), "model", identity(system), "owner", owner_json(owner),
             "y", numbers(moment.y), "mode", mode_json(moment.mode), "dissipated", numbers(moment.dissipated),
             "supplied", numbers(moment.supplied), "initial_energy", number(moment.initial_energy), "step",
             number(moment.step), "scales", numbers(moment.scales), "events", moment.events, "watch_counts",
             moment.watch_counts, "started", moment.started, "history", numbers(moment.history), "phase",
             phase_json(moment.phase), "past", past_json(past)),
      1);
}

std::string read_state(std::string_view text, const model::System& system, Moment& moment,
                       const StateOwner& owner, bool accept_changes, RunPast* past) {
  try {
    std::string twice;
    const ReadJson in = parse_unique(text, twice);
    if (!twice.empty()) return "this is no state of a run: it has '" + twice + "' twice";
    if (in.is_discarded()) return "this is no state of a run: it is not JSON";
    if (std::string problem = format_problem(in); !problem.empty()) return problem;
    const ReadJson expected = identity(system);
    const ReadJson& known = member(in, "model");
    for (const auto& [key, names] : expected.items()) {
      if (member(known, key.c_str()) != names)
        return "the state is of another model: its " + key + " are not those of this one";
    }
    RunPast said = to_past(member(in, "past"), number_in(in, "time"));
    if (!owner.equations.empty()) {
      bool fatal = false;
      // A period that was looked for then and is not any more is another wish.
      const bool other_wish = said.ended && said.ended->status.reason == Reason::periodic &&
                              !owner.until_periodic && accept_changes;
      const bool complete = said.ended && !other_wish && !said.ended->goes_on(owner.limits);
      const std::string change = changes(member(in, "owner"), owner, complete, fatal);
      if (fatal) return change;
      if (!change.empty() && !accept_changes)
        return "the state is of another run: " + change + "; --accept-changes goes on nevertheless";
      // Other values are more than was asked for then, but not more events.
      const bool full = said.ended && said.ended->status.reason == Reason::too_many_events;
      if (!change.empty() && !full) said.ended.reset();
    }
    Moment read;
    read.time = number_in(in, "time");
    read.y = numbers_in(in, "y");
    read.mode = to_mode(member(in, "mode"));
    read.dissipated = numbers_in(in, "dissipated");
    read.supplied = numbers_in(in, "supplied");
    read.initial_energy = number_in(in, "initial_energy");
    read.step = number_in(in, "step");
    read.scales = numbers_in(in, "scales");
    read.events = whole(member(in, "events"), "events", 0, kMostCount);
    for (const ReadJson& element : list(in, "watch_counts"))
      read.watch_counts.push_back(whole(element, "watch_counts", 0, kMostCount));
    read.started = truth_in(in, "started");
    read.history = numbers_in(in, "history", Allowed::any);
    read.phase = to_phase(member(in, "phase"));
    if (std::string problem = engines::moment_problem(system, read); !problem.empty()) return problem;
    moment = std::move(read);
    if (past != nullptr) *past = std::move(said);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const ReadJson::exception&) {  // its words are those of a library
    return "this is no state of a run: a value is of another kind than it should be";
  } catch (const std::exception& error) {
    return std::string("this is no state of a run: ") + error.what();
  }
  return {};
}

std::string state_format_problem(std::string_view text) {
  const ReadJson in = ReadJson::parse(text, nullptr, false);
  return in.is_object() && in.contains("format") ? format_problem(in) : std::string();
}

FileStatus read_state_file(const std::filesystem::path& folder, const model::System& system,
                           const StateOwner& owner, bool accept_changes, std::string& text,
                           engines::Moment& moment, RunPast& past) {
  FileStatus status = read_state_text(folder, text);
  if (!status.ok()) return status;
  status.file = (folder / kState).string();
  status.message = state_format_problem(text);
  if (status.ok()) status.message = damage_of(text);
  if (status.ok()) status.message = read_state(text, system, moment, owner, accept_changes, &past);
  if (!status.ok()) return status;
  // Events are counted through all parts of a run; those of the folder are among them.
  const std::optional<Manifest> files = read_manifest(text);
  if (files && files->events.records > static_cast<std::uint64_t>(moment.events))
    status.message = "this is no state of a run: it counts fewer events than it lists records of them";
  return status;
}

}  // namespace judder::io
