// Runs in words: the table on a terminal and the Markdown summary.
#include <algorithm>
#include <cmath>
#include <map>

#include "io/text_table.hpp"
#include "judder/core/number.hpp"
#include "judder/tasks/run.hpp"

namespace judder::tasks {
namespace {

using io::Event;
using io::Extremes;
using io::in_line;
using io::markdown_text;
using io::RunSummary;
using io::TextTable;

constexpr int kDigits = 9;

std::string show(double value) { return to_text(value, kDigits); }

bool has_impulse(const Event& event) { return event.normal_impulse != 0 || event.tangential_impulse[0] != 0; }

TextTable event_table(const RunReport& report) {
  TextTable table(
      {"time", "event", "where", "detail", "structure", "normal impulse", "tangential", "energy lost"},
      {0, 5, 6, 7});
  std::string structure = report.first_structure;
  for (std::size_t i = 0; i < report.events.size(); ++i) {
    const Event& event = report.events[i];
    const bool jump = has_impulse(event);
    std::string change;
    if (i < report.structures.size() && !report.structures[i].empty()) {
      if (report.structures[i] != structure) change = structure + " → " + report.structures[i];
      structure = report.structures[i];
    }
    table.add({show(event.time), event.kind, event.where, event.detail, change,
               jump ? show(event.normal_impulse) : "", jump ? show(event.tangential_impulse[0]) : "",
               jump ? to_text(event.energy_before - event.energy_after, 6) : ""});
  }
  table.drop_empty_columns();
  return table;
}

/// What the heads of the table do not say.
std::vector<std::string> table_hints(const RunReport& report) {
  std::vector<std::string> out;
  const auto any = [&report](const auto& is) {
    return std::any_of(report.events.begin(), report.events.end(), is);
  };
  if (any([](const Event& event) { return event.kind == "accumulation"; }))
    out.emplace_back(
        "detail of 'accumulation': how many events its end stands for, and the time they would have taken");
  // Of what a law has made there is a note of its own.
  const bool law =
      std::any_of(report.summary.notes.begin(), report.summary.notes.end(),
                  [](const std::string& note) { return note.starts_with("an impact law created energy"); });
  if (!law && any([](const Event& event) {
        return has_impulse(event) &&
               event.energy_after - event.energy_before > 1e-9 * std::abs(event.energy_after);
      }))
    out.emplace_back("energy lost below zero: energy that came in, from a wall that moves");
  return out;
}

std::string more_events(const RunReport& report) {
  const std::uint64_t more = report.events_in_window - report.events.size();
  return more == 0 ? "" : "… " + std::to_string(more) + " more in events.csv\n";
}

double count_of(const RunReport& report, const std::string& name) {
  for (const auto& [known, value] : report.summary.counts) {
    if (known == name) return value;
  }
  return 0;
}

std::string end_line(const RunReport& report) {
  const Status& status = report.summary.status;
  std::string out = std::string(name(status.reason)) + " at t = " + show(status.time);
  if (!status.where.empty()) out += ", " + status.where;
  if (!status.message.empty()) out += ": " + status.message;
  return in_line(out);
}

std::string effort_line(const RunReport& report) {
  return std::to_string(report.event_count) + " events, " + std::to_string(report.row_count) + " rows, " +
         to_text(count_of(report, "steps")) + " steps, " + to_text(report.summary.wall_seconds, 2) +
         " s, engine " + report.summary.engine + (report.summary.options.engine == "auto" ? " (auto)" : "");
}

std::string percent(double share) { return to_text(100 * share, 6) + " %"; }

/// The periodic motion that a run has reached: "" where none was looked for.
std::string periodic_lines(const RunReport& report) {
  if (!report.summary.periodic) {
    return report.summary.status.reason == Reason::done && report.periodic_asked
               ? "no period was found up to here\n"
               : "";
  }
  const analysis::PeriodicMotion& motion = *report.summary.periodic;
  std::string out;
  if (motion.equilibrium) {
    out += motion.at_rest ? "at rest since t = " + to_text(motion.from, 12) + "\n" : "the motion settles:\n";
  } else {
    out += "period " + to_text(motion.period, 12);
    if (motion.forcing_period > 0) {
      const long times = std::lround(motion.period / motion.forcing_period);
      const long parts = std::lround(motion.forcing_period / motion.period);
      if (times > 1)
        out += ", " + std::to_string(times) + " times that of the force";
      else
        out += parts == 1 ? ", that of the force"
                          : ", one of " + std::to_string(parts) + " in that of the force";
    }
    out += "; to the periodic motion still at most " + to_text(motion.distance, 2) + " of the range";
    if (motion.contraction > 0) out += ", shrinking by " + to_text(motion.contraction, 3) + " per period";
    out += "\n";
  }
  TextTable ranges({motion.equilibrium ? "there" : "over one period", "smallest", "largest"}, {1, 2});
  for (const auto& range : motion.ranges) ranges.add({range.name, show(range.least), show(range.most)});
  out += ranges.text();
  for (const auto& share : motion.shares)
    out += in_line(share.element) + ": " + share.mode + " " + percent(share.share) + "\n";
  for (const auto& drift : motion.drifts)
    out += in_line(drift.name) + " drifts by " + show(drift.change) +
           (motion.equilibrium ? " per unit of time\n" : " per period\n");
  if (!motion.events.empty()) {
    out += "events:";
    constexpr std::size_t kShown = 12;
    for (std::size_t i = 0; i < std::min(motion.events.size(), kShown); ++i)
      out += (i == 0 ? " " : ", ") + in_line(motion.events[i]);
    if (motion.events.size() > kShown)
      out += ", … " + std::to_string(motion.events.size() - kShown) + " more";
    out += "\n";
  }
  return out;
}

}  // namespace

std::string finished_text(const RunReport& report) {
  return end_line(report) + "\n" + std::to_string(report.event_count) + " events, " +
         std::to_string(report.row_count) +
         " rows; the run had been finished before, nothing was left to do\n" +
         (report.more.empty() ? "" : "it goes on if you ask for " + in_line(report.more) + "\n") +
         in_line(report.folder.string()) + "\n";
}

std::string run_text(const RunReport& report) {
  std::string out = event_table(report).text() + more_events(report);
  if (!out.empty()) out += "\n";
  out += end_line(report) + "\n" + periodic_lines(report) + effort_line(report) + "\n";
  // Those of columns without a value go to who reads messages.
  const auto& apart = report.undefined;
  for (const std::string& note : report.summary.notes) {
    if (std::find(apart.begin(), apart.end(), note) == apart.end()) out += "note: " + in_line(note) + "\n";
  }
  for (const std::string& hint : table_hints(report)) out += "note: " + hint + "\n";
  return report.folder.empty() ? out : out + in_line(report.folder.string()) + "\n";
}

std::string progress_text(double share, long events, double seconds) {
  std::string out =
      std::to_string(static_cast<int>(100 * share)) + " %, " + std::to_string(events) + " events";
  constexpr double kKnown = 0.01;  // of the way: before that a guess would be off by more than it tells
  if (!(share > kKnown) || !(share < 1) || !(seconds > 1)) return out;
  const double left = seconds * (1 - share) / share;
  if (left < 100) return out + ", " + to_text(std::ceil(left)) + " s left";
  if (left < 6000) return out + ", " + to_text(std::ceil(left / 60)) + " min left";
  return out + ", " + to_text(std::ceil(left / 360) / 10, 3) + " h left";
}

std::string old_pictures_text(const RunReport& report, bool page) {
  std::string names;
  for (const std::string& name : report.old_pictures) {
    if (!page || name != "report.html") names += (names.empty() ? "" : ", ") + printable_name(name, 100);
  }
  if (names.empty()) return {};
  return in_line(report.folder.string()) +
         " still holds pictures of the run that was there before: " + names +
         "; draw them again with judder plot or judder report, or remove them";
}

std::string run_markdown(const RunReport& report) {
  const RunSummary& summary = report.summary;
  std::string out = "# " + markdown_text(summary.title.empty() ? summary.model : summary.title) + "\n\n";
  std::string settings;
  for (const std::string& variant : summary.variants) settings += " --variant " + variant;
  for (const auto& [name, value] : summary.set) settings += " --set " + name + "=" + value;
  std::string command = printable_name(summary.model + settings, 400);
  std::replace(command.begin(), command.end(), '`', '\'');  // it would end the quotation
  out += "`" + command + "`, engine " + summary.engine + ", tolerance " + to_text(summary.options.tolerance) +
         "\n\n";
  out += "Ended: " + markdown_text(end_line(report)) + "\n\n";
  const bool windowed = std::isfinite(report.from) || std::isfinite(report.to);
  if (windowed)
    out += "Events, phases and extremes " +
           (std::isfinite(report.from) ? "from t = " + show(report.from) : std::string()) +
           (std::isfinite(report.from) && std::isfinite(report.to) ? " " : "") +
           (std::isfinite(report.to) ? "to t = " + show(report.to) : std::string()) +
           "; a phase of a contact counts as a whole if any of it lies there. Energies are those of the "
           "whole run.\n\n";

  if (const std::string periodic = periodic_lines(report); !periodic.empty())
    out += "## Period\n\n```\n" + periodic + "```\n\n";

  out += "## Events\n\n";
  const TextTable events = event_table(report);
  out += events.empty() ? "none\n" : events.markdown();
  if (const std::string more = more_events(report); !more.empty()) out += "\n" + more;

  std::vector<RunSummary::Interval> intervals;
  for (const RunSummary::Interval& interval : summary.intervals) {
    if (interval.to >= report.from && interval.from <= report.to) intervals.push_back(interval);
  }
  if (!intervals.empty()) {
    struct Load {
      std::size_t phases = 0;
      double closed = 0, peak = 0, impulse = 0, hardest = 0;
    };
    std::vector<std::string> order;
    std::map<std::string, Load> loads;
    for (const RunSummary::Interval& interval : intervals) {
      if (loads.count(interval.contact) == 0) order.push_back(interval.contact);
      Load& load = loads[interval.contact];
      ++load.phases;
      load.closed += interval.to - interval.from;
      load.peak = std::max(load.peak, interval.peak);
      load.impulse += interval.impulse;
    }
    for (const auto& [contact, impulse] : report.hardest) {
      if (loads.count(contact) > 0) loads[contact].hardest = impulse;
    }
    out += "\n## Loads\n\n";
    TextTable table({"contact", "phases", "time closed", "largest force", "impulse, all", "largest impact"},
                    {1, 2, 3, 4, 5});
    for (const std::string& name : order) {
      const Load& load = loads[name];
      table.add({name, std::to_string(load.phases), show(load.closed), show(load.peak), show(load.impulse),
                 show(load.hardest)});
    }
    out += table.markdown();
    out += "\n## Contact phases\n\n";
    TextTable phases({"contact", "from", "to", "largest force", "impulse"}, {1, 2, 3, 4});
    for (std::size_t i = 0; i < std::min(intervals.size(), kMostEventsShown); ++i) {
      const RunSummary::Interval& interval = intervals[i];
      phases.add({interval.contact, show(interval.from), show(interval.to), show(interval.peak),
                  show(interval.impulse)});
    }
    out += phases.markdown();
    if (intervals.size() > kMostEventsShown)
      out += "\n… " + std::to_string(intervals.size() - kMostEventsShown) + " more in run.json\n";
  }

  out += "\n## Extremes\n\nOf the " +
         (windowed ? "part of the run"
                   : "run, of which " + std::to_string(report.row_count) + " rows are in trajectory.csv") +
         ": also between rows, where the engine tells the motion there; engines with fixed steps tell it at "
         "rows alone.\n\n";
  TextTable extremes({"column", "smallest", "at t", "largest", "at t"}, {1, 2, 3, 4});
  for (const Extremes& column : report.extremes) {
    if (column.name == "t" || !(column.least <= column.most)) continue;
    extremes.add({column.name, show(column.least), show(column.least_time), show(column.most),
                  show(column.most_time)});
  }
  out += extremes.markdown();
  for (const std::string& name : report.unfollowed)
    out += "\nNote: the extremes of " + markdown_text(name) +
           " may be off: it is faster than can be followed in a step\n";

  const RunSummary::Energy& energy = summary.energy;
  out += "\n## Energy\n\n";
  TextTable energies({"at the start", "supplied", "dissipated", "at the end", "unaccounted"},
                     {0, 1, 2, 3, 4});
  energies.add({show(energy.initial), show(energy.supplied), show(energy.dissipated), show(energy.final),
                to_text(energy.balance, 2)});
  out += energies.markdown();
  for (const std::string& note : summary.notes) out += "\nNote: " + markdown_text(note) + "\n";
  return out;
}

std::string estimate_text(const RunReport& report) {
  if (!report.difference) return {};
  const analysis::RunDifference& difference = *report.difference;
  std::string out = "\nagainst a second run, " +
                    (report.summary.options.step > 0
                         ? std::string("half the step")
                         : "tolerance " + to_text(std::max(report.summary.options.tolerance / 10, 1e-14))) +
                    ":\n";
  if (!report.second.ok()) out += "that run ended early: " + in_line(report.second.message) + "\n";
  TextTable table({"column", "largest difference", "at t", "range of the column"}, {1, 2, 3});
  for (const analysis::ColumnDifference& column : difference.columns)
    table.add({column.name, to_text(column.largest, 3), show(column.time), to_text(column.range, 6)});
  out += table.text();
  if (!difference.events_agree) {
    out += "the events agree up to number " + std::to_string(difference.events) + " only\n";
  }
  if (difference.events > 0) {
    out += "event times: largest difference " + to_text(difference.largest_time, 3) + ", event " +
           std::to_string(difference.event + 1) + "\n";
  }
  return out;
}

}  // namespace judder::tasks
