#include "busy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace judder::hunt {
namespace {

enum class Function { gap, slip, surface, none };

Function function_of(engines::EventKind kind) {
  using engines::EventKind;
  switch (kind) {
    case EventKind::lift_off:
      return Function::gap;
    case EventKind::stick:
    case EventKind::slip:
    case EventKind::reversal:
      return Function::slip;
    case EventKind::switch_side:
      return Function::surface;
    default:
      return Function::none;
  }
}

/// Distance of the function of an event from what makes the event, at the state of a row.
double distance(const model::System& system, model::Workspace& work, Function function, int place) {
  if (function == Function::surface) {
    const model::SwitchInfo& info = system.switches()[static_cast<std::size_t>(place)];
    double value = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    if (info.whole) return std::abs(value - std::round(value));
    double least = std::abs(value);
    if (!info.levels.empty()) {
      least = std::abs(value - info.levels[0]);
      for (const double level : info.levels) least = std::min(least, std::abs(value - level));
    }
    return least;
  }
  const model::RelationRows& rows = system.rows(work, place);
  return std::abs(function == Function::gap ? rows.gap : rows.tangent[0].slip);
}

/// Looks at one function at each row of a list of times.
class Looks : public engines::Sink {
 public:
  struct Look {
    double time;
    Function function;
    int place;
  };
  Looks(const model::System& system, std::vector<Look> looks) : system_(system), looks_(std::move(looks)) {}
  void row(engines::RowKind, const engines::Mode&, model::Workspace& work) override {
    for (; next_ < looks_.size() && looks_[next_].time <= work.in[0]; ++next_) {
      const Look& look = looks_[next_];
      if (look.time < work.in[0]) continue;
      const double value = distance(system_, work, look.function, look.place);
      seen.emplace_back(std::pair{look.function, look.place}, value);
    }
  }
  void event(const engines::Event&, std::span<const double> /*state*/) override {}
  std::vector<std::pair<std::pair<Function, int>, double>> seen;

 private:
  const model::System& system_;
  std::vector<Look> looks_;
  std::size_t next_ = 0;
};

void count_periods(const Expr& e, const std::map<std::string, double>& ways, double& periods) {
  if (e.op == Op::call && (e.word == "sin" || e.word == "cos") && e.args.size() == 1) {
    const Expr& inside = e.args[0];
    double factor = 1;
    std::string word;
    if (inside.op == Op::name) word = inside.word;
    if (inside.op == Op::multiply) {
      for (const Expr& part : inside.args) {
        if (part.op == Op::number) factor *= part.number;
        if (part.op == Op::name) word = part.word;
      }
    }
    const auto way = ways.find(word);
    if (way != ways.end())
      periods = std::max(periods, std::abs(factor) * way->second / (2 * std::numbers::pi));
  }
  for (const Expr& part : e.args) count_periods(part, ways, periods);
}

void count_periods(const std::vector<Field>& fields, const std::map<std::string, double>& ways,
                   double& periods) {
  for (const Field& field : fields) {
    for (const Expr& value : field.values) count_periods(value, ways, periods);
    count_periods(field.fields, ways, periods);
  }
}

}  // namespace

bool events_are_real(const model::System& system, engines::EngineOptions options, double until,
                     std::span<const engines::Event> events) {
  constexpr std::size_t kLast = 400;     // that are looked at
  constexpr std::size_t kEarlier = 200;  // that say how large the functions have been
  constexpr double kClear = 100;         // tolerances
  constexpr double kMost = 0.9;          // of all
  if (events.size() < 2 * kLast) return false;
  std::vector<Looks::Look> looks;
  std::vector<double> earlier;
  std::map<std::pair<Function, int>, double> after;
  // From behind: the next event of the same function is known.
  const std::size_t step = std::max<std::size_t>(1, (events.size() - kLast) / kEarlier);
  for (std::size_t k = events.size(); k-- > 0;) {
    const engines::Event& event = events[k];
    const Function function = function_of(event.kind);
    if (function == Function::none) continue;
    const auto [next, first] = after.try_emplace({function, event.place}, event.time);
    const double later = next->second;
    next->second = event.time;
    if (first || !(later > event.time)) continue;
    const bool last = k + kLast >= events.size();
    if (!last && k % step != 0) continue;
    looks.push_back({0.5 * (event.time + later), function, event.place});
    if (last) earlier.push_back(looks.back().time);
  }
  // Of a blow its impulse says how fast the body came; gaps between two go with its square.
  std::map<int, double> hardest;
  for (const engines::Event& event : events) {
    if (event.kind == engines::EventKind::impact)
      hardest[event.place] = std::max(hardest[event.place], event.normal_impulse);
  }
  std::size_t clear = 0;
  std::size_t looked = 0;
  for (const engines::Event& event : events.last(kLast)) {
    if (event.kind != engines::EventKind::impact) continue;
    ++looked;
    if (event.normal_impulse > kClear * options.tolerance * hardest[event.place]) ++clear;
  }
  if (earlier.size() + looked < kLast / 4) return false;
  const double from = earlier.empty() ? until : earlier.back();
  std::sort(looks.begin(), looks.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  options.instants.clear();
  for (const Looks::Look& look : looks) options.instants.push_back(look.time);
  options.instants.erase(std::unique(options.instants.begin(), options.instants.end()),
                         options.instants.end());
  options.until = until;
  options.samples = 2;
  options.event_rows = false;
  options.referee = false;
  const std::size_t late = static_cast<std::size_t>(
      std::count_if(looks.begin(), looks.end(), [&](const auto& look) { return look.time >= from; }));
  const std::size_t all = looks.size();
  Looks sink(system, std::move(looks));
  static_cast<void>(simulate::run(system, "event", options, sink));
  if (sink.seen.size() < all - late / 10) return false;
  std::map<std::pair<Function, int>, double> largest;
  for (const auto& [of, value] : sink.seen) largest[of] = std::max(largest[of], value);
  for (std::size_t k = sink.seen.size() - std::min(late, sink.seen.size()); k < sink.seen.size(); ++k) {
    ++looked;
    if (sink.seen[k].second > kClear * options.tolerance * largest[sink.seen[k].first]) ++clear;
  }
  return looked > 0 && static_cast<double>(clear) >= kMost * static_cast<double>(looked);
}

double periods_of_formulas(const Draft& draft, const simulate::MemorySink& rows) {
  std::map<std::string, double> ways;
  for (const Element& e : draft.elements) {
    if (e.section != "coordinates") continue;
    const int column = rows.column(e.name);
    if (column < 0) continue;
    double way = 0;
    for (std::size_t r = 1; r < rows.rows(); ++r)
      way += std::abs(rows.cell(r, static_cast<std::size_t>(column)) -
                      rows.cell(r - 1, static_cast<std::size_t>(column)));
    ways[e.name] = way;
  }
  double periods = 0;
  for (const Element& e : draft.elements) count_periods(e.fields, ways, periods);
  return periods;
}

}  // namespace judder::hunt
