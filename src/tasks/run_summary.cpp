#include "tasks/run_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "judder/core/number.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::tasks {
namespace {

using io::EarlierPart;
using io::LoadedModel;
using io::RunPast;
using io::RunSummary;

/// Total energy of a moment.
double energy_of(const model::System& system, const engines::Moment& moment) {
  model::Workspace work(system);
  const model::Layout& layout = system.layout();
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  work.in[0] = moment.time;
  std::copy(moment.y.begin(), moment.y.end(), work.in.begin() + layout.q());
  std::copy(moment.mode.side.begin(), moment.mode.side.end(), work.in.begin() + layout.side());
  double kinetic = 0;
  double potential = 0;
  double total = 0;
  system.energies(work, kinetic, potential, total);
  return total;
}

double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out += x;
  return out;
}

/// Energy that impact laws created, in one line; empty: none.
std::string gains_text(const RunPast::Gains& gains) {
  if (gains.count == 0) return {};
  return "an impact law created energy in " + std::to_string(gains.count) +
         (gains.count == 1 ? " impact, " : " impacts, ") + to_text(gains.sum, 9) +
         (gains.count == 1 ? ": " : " in all, first ") + gains.first;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> modes_in_words(const model::System& system,
                                                                const engines::Mode& mode) {
  std::vector<std::pair<std::string, std::string>> out;
  if (mode.normal.empty() && mode.side.empty()) return out;
  for (std::size_t r = 0; r < system.relations().size(); ++r) {
    const int number = simulate::mode_number(system, mode, static_cast<int>(r));
    out.emplace_back(system.relations()[r].name, std::string(simulate::mode_word(number)));
  }
  std::map<std::string, int> uses;
  for (std::size_t k = 0; k < system.switches().size(); ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!info.two_sided() || info.kind != expr::SwitchKind::jump) continue;
    const int use = ++uses[info.place];
    const std::string name = use == 1 ? info.place : info.place + " (" + std::to_string(use) + ")";
    out.emplace_back(name, mode.slides(k) ? "slide" : mode.side[k] > 0.5 ? info.above : info.below);
  }
  return out;
}

void summarise(const model::System& system, const engines::EngineResult& result, const RunPast& past,
               const EarlierPart& earlier, std::uint64_t events, RunSummary& out) {
  out.status = result.status;
  out.verdict = past.verdict;
  simulate::condemn(out.verdict, out.status);
  const bool begun = !result.start_mode.normal.empty() || !result.start_mode.side.empty();
  // Before the start nothing has decided which contacts are closed.
  out.modes.clear();
  if (begun || result.end.started)
    out.modes = modes_in_words(system, begun ? result.start_mode : result.end.mode);
  const std::map<std::string, std::string> modes(earlier.modes.begin(), earlier.modes.end());
  for (auto& [name, word] : out.modes) {
    if (const auto before = modes.find(name); before != modes.end()) word = before->second;
  }
  const auto count = [&](const char* name, long value) {
    double sum = static_cast<double>(value);
    for (const auto& [known, before] : earlier.counts) sum += known == name ? before : 0;
    out.counts.emplace_back(name, sum);
  };
  count("steps", result.steps);
  count("rejected", result.rejected);
  count("evaluations", result.evaluations);
  count("windows", result.windows);
  // Of the table that stands in the folder, as rows are: a run that goes on elsewhere begins it anew.
  out.counts.emplace_back("events", static_cast<double>(events));
  count("impacts", result.impacts);
  count("undecided_ties", result.undecided_ties);
  out.monitors = result.monitors;
  const double initial = result.end.initial_energy;
  const double largest = std::max(result.largest_energy, std::abs(initial));
  out.residuals.emplace_back("gap", past.worst_gap);
  out.residuals.emplace_back("energy", largest > 0 ? std::abs(result.energy_imbalance) / largest
                                                   : std::abs(result.energy_imbalance));
  if (result.end.started && !result.end.y.empty()) {
    out.energy = {initial, energy_of(system, result.end), sum(result.end.supplied),
                  sum(result.end.dissipated), result.energy_imbalance};
  }
  if (past.reactions_not_unique)
    out.notes.emplace_back(
        "some reactions were not unique (redundant contacts); those with the largest margin are shown");
  if (past.uniqueness_unchecked)
    out.notes.emplace_back("some decisions had too many candidate modes to check that the motion is unique");
  if (const std::string gains = gains_text(past.gains); !gains.empty()) out.notes.push_back(gains);
  for (const engines::Monitor& monitor : result.monitors) {
    if (monitor.name == "energy_gain" && monitor.broken > 0)
      out.notes.push_back("the steps made up to " + to_text(100 * monitor.worst, 2) +
                          " % of the energies of the motion out of nothing (at t = " +
                          to_text(monitor.time, 6) + "); a shorter step makes less");
    if (monitor.name == "impacts" && monitor.broken > 0)
      out.notes.push_back(
          "the springs left velocities behind an impact that differ from those of its law by up to " +
          to_text(100 * monitor.worst, 2) + " % of the approach (at t = " + to_text(monitor.time, 6) + ")");
    if (monitor.name == "printed_impacts")
      out.notes.push_back(std::to_string(monitor.broken) +
                          " impacts with friction were solved about mean velocities, as the scheme is "
                          "printed: they may turn slips round "
                          "(friction = \"end\" does not)");
    if (monitor.name == "overlaps" && monitor.broken > 0)
      out.notes.push_back(
          std::to_string(monitor.broken) +
          " impacts began while the springs of another one were at work; a shorter step separates them");
    constexpr double kDeep = 0.05;  // of how far a gap has been open
    if (monitor.name == "penetration" && past.worst_gap > kDeep)
      out.notes.push_back("contacts were entered by up to " + to_text(100 * past.worst_gap, 2) +
                          " % of how far they had opened; a shorter step enters less");
  }
  if (past.intervals > out.intervals.size()) {
    out.notes.push_back("of " + std::to_string(past.intervals) + " intervals of contacts only the first " +
                        std::to_string(out.intervals.size()) + " are listed");
  }
}

std::string left_tables(const LoadedModel& model, const model::System& system, const engines::Moment& end) {
  std::string out;
  if (end.mode.side.size() != system.switches().size() || end.y.empty()) return out;
  model::Workspace work(system);
  const model::Layout& layout = system.layout();
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  work.in[0] = end.time;
  std::copy(end.y.begin(), end.y.end(), work.in.begin() + layout.q());
  std::copy(end.mode.side.begin(), end.mode.side.end(), work.in.begin() + layout.side());
  for (const model::Table& table : model.file.spec.tables) {
    if (table.x.empty() || (!table.outside.empty() && table.outside.text != "error")) continue;
    for (const model::SwitchInfo& info : system.switches()) {
      // Its levels are the knots; the last one is some rounding further out, since the end belongs to the table.
      // Those that its argument cannot come below are −∞.
      const auto same = [](double knot, double level) { return level == knot || std::isinf(level); };
      if (info.levels.size() != table.x.size() ||
          !std::equal(table.x.begin(), table.x.end() - 1, info.levels.begin(), same))
        continue;
      double x = 0;
      info.value.evaluate(work.in.data(), &x, work.registers.data());
      // The run ends where the next step would leave it.
      const double close = 1e-6 * (table.x.back() - table.x.front());
      if (x > table.x.front() + close && x < table.x.back() - close) continue;
      const int line = static_cast<int>(position(model.file.text, table.name.span.begin).line);
      out += "; the table '" + table.name.text + "' (line " + std::to_string(line) + ") holds from " +
             to_text(table.x.front()) + " to " + to_text(table.x.back()) +
             " and was left at t = " + to_text(end.time, 9) + " in " + info.place +
             ": 'outside' says what holds beyond";
      break;
    }
  }
  return out;
}

}  // namespace judder::tasks
