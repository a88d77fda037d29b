#include "judder/io/state_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

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

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double x : values) out.push_back(number(x));
  return out;
}

/// Throws Json exceptions, which read_state turns into words.
double to_number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto word = json.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::invalid_argument("'" + word + "' is no number");
}

std::vector<double> to_numbers(const Json& json) {
  std::vector<double> out;
  for (const Json& element : json) out.push_back(to_number(element));
  return out;
}

template <class Status, std::size_t n>
Json words(const std::vector<Status>& values, const std::array<const char*, n>& names) {
  Json out = Json::array();
  for (const Status value : values) out.push_back(names[static_cast<std::size_t>(value)]);
  return out;
}

template <class Status, std::size_t n>
std::vector<Status> to_statuses(const Json& json, const std::array<const char*, n>& names) {
  std::vector<Status> out;
  for (const Json& element : json) {
    const auto word = element.get<std::string>();
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) throw std::invalid_argument("'" + word + "' is no status");
    out.push_back(static_cast<Status>(found - names.begin()));
  }
  return out;
}

Json mode_json(const engines::Mode& mode) {
  return {{"normal", words(mode.normal, kNormal)},
          {"pressed", mode.pressed},
          {"tangent", words(mode.tangent, kTangent)},
          {"side", numbers(mode.side)},
          {"surface", words(mode.surface, kSurface)}};
}

engines::Mode to_mode(const Json& in) {
  engines::Mode mode;
  mode.normal = to_statuses<NormalStatus>(in.at("normal"), kNormal);
  mode.pressed = in.at("pressed").get<std::vector<std::int8_t>>();
  mode.tangent = to_statuses<TangentStatus>(in.at("tangent"), kTangent);
  mode.side = to_numbers(in.at("side"));
  mode.surface = to_statuses<engines::AtSurface>(in.at("surface"), kSurface);
  return mode;
}

/// The lists of numbers of a phase, with their names in the file.
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
                                     {"timetable", &PhaseMemory::timetable}};

Json phase_json(const PhaseMemory& phase) {
  Json out{{"time", number(phase.time)},   {"mode", mode_json(phase.mode)},
           {"start", number(phase.start)}, {"last_flight", number(phase.last_flight)},
           {"grow", phase.grow},           {"largest_energy", number(phase.largest_energy)},
           {"stiff", phase.stiff},         {"tail_end", number(phase.tail_end)}};
  for (const PhaseList& list : kPhaseLists) out[list.name] = numbers(phase.*list.member);
  return out;
}

PhaseMemory to_phase(const Json& in) {
  PhaseMemory phase;
  phase.time = to_number(in.at("time"));
  phase.mode = to_mode(in.at("mode"));
  phase.start = to_number(in.at("start"));
  phase.last_flight = to_number(in.at("last_flight"));
  phase.grow = in.at("grow").get<bool>();
  phase.largest_energy = to_number(in.at("largest_energy"));
  phase.stiff = in.at("stiff").get<bool>();
  phase.tail_end = to_number(in.at("tail_end"));
  for (const PhaseList& list : kPhaseLists) phase.*list.member = to_numbers(in.at(list.name));
  return phase;
}

/// What must be the same in the model that takes up the state.
Json identity(const model::System& system) {
  Json relations = Json::array();
  for (const model::Relation& relation : system.relations()) relations.push_back(relation.name);
  Json watches = Json::array();
  for (const model::WatchInfo& watch : system.watches()) watches.push_back(watch.name);
  Json switches = Json::array();
  for (const model::SwitchInfo& info : system.switches()) switches.push_back(info.place);
  return {{"coordinates", system.coordinate_names()},
          {"states", system.state_names()},
          {"relations", relations},
          {"watches", watches},
          {"switches", switches}};
}

}  // namespace

std::string state_json(const model::System& system, const Moment& moment) {
  const Json out{{"format", 1},
                 {"time", number(moment.time)},
                 {"model", identity(system)},
                 {"y", numbers(moment.y)},
                 {"mode", mode_json(moment.mode)},
                 {"dissipated", numbers(moment.dissipated)},
                 {"supplied", numbers(moment.supplied)},
                 {"initial_energy", number(moment.initial_energy)},
                 {"step", number(moment.step)},
                 {"scales", numbers(moment.scales)},
                 {"events", moment.events},
                 {"watch_counts", moment.watch_counts},
                 {"started", moment.started},
                 {"history", numbers(moment.history)},
                 {"phase", phase_json(moment.phase)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string read_state(std::string_view text, const model::System& system, Moment& moment) {
  try {
    const Json in = Json::parse(text);
    if (in.at("format") != 1) return "the state has another format than 1";
    const Json expected = identity(system);
    for (const auto& [key, names] : expected.items()) {
      if (in.at("model").at(key) != names)
        return "the state is of another model: its " + key + " are not those of this one";
    }
    Moment read;
    read.time = to_number(in.at("time"));
    read.y = to_numbers(in.at("y"));
    read.mode = to_mode(in.at("mode"));
    read.dissipated = to_numbers(in.at("dissipated"));
    read.supplied = to_numbers(in.at("supplied"));
    read.initial_energy = to_number(in.at("initial_energy"));
    read.step = to_number(in.at("step"));
    read.scales = to_numbers(in.at("scales"));
    read.events = in.at("events").get<long>();
    read.watch_counts = in.at("watch_counts").get<std::vector<long>>();
    read.started = in.at("started").get<bool>();
    read.history = to_numbers(in.at("history"));
    read.phase = to_phase(in.at("phase"));

    const model::Layout& layout = system.layout();
    const auto fits = [](std::size_t size, int wanted) { return size == static_cast<std::size_t>(wanted); };
    const auto mode_fits = [&](const engines::Mode& mode) {
      return fits(mode.normal.size(), layout.relations) && fits(mode.pressed.size(), layout.relations) &&
             fits(mode.tangent.size(), layout.tangents) && fits(mode.side.size(), layout.switches) &&
             fits(mode.surface.size(), layout.switches);
    };
    const bool complete = fits(read.y.size(), layout.integrated()) && mode_fits(read.mode) &&
                          (read.phase.y.empty() ||
                           (fits(read.phase.y.size(), layout.integrated()) && mode_fits(read.phase.mode))) &&
                          fits(read.dissipated.size(), layout.audits) &&
                          fits(read.supplied.size(), layout.audits) && read.scales.size() >= read.y.size() &&
                          read.watch_counts.size() == system.watches().size();
    if (!complete) return "the state does not have the sizes of this model";
    moment = std::move(read);
  } catch (const std::exception& error) {
    return std::string("this is no state of a run: ") + error.what();
  }
  return {};
}

}  // namespace judder::io
