#include "judder/tasks/sinks.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/simulate/simulate.hpp"
#include "tasks/run_summary.hpp"

namespace judder::tasks {

bool StrideClock::looks() {
  if (--steps_ > 0) return false;
  constexpr long kLongestStride = 4096;
  const Clock::time_point now = Clock::now();
  const bool soon = now - looked_ < std::chrono::milliseconds(4);
  looked_ = now;
  stride_ = soon ? std::min(2 * stride_, kLongestStride) : std::max(stride_ / 4, 1L);
  steps_ = stride_;
  return true;
}

Readout::Readout(const model::System& system, bool coordinates) : system_(system) {
  const std::vector<std::string> names = simulate::column_names(system);
  cells_.resize(names.size());
  const auto own = static_cast<std::size_t>(1 + system.layout().integrated());
  left_out_ = coordinates ? 0 : static_cast<std::size_t>(2 * system.layout().coordinates);
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (left_out(c)) continue;
    columns_.push_back({names[c], c >= own && system.columns()[c - own].mode_of >= 0});
  }
  numbers_.reserve(names.size());
  words_.reserve(names.size());
}

void Readout::row(engines::RowKind, const engines::Mode& mode, model::Workspace& work) {
  simulate::fill_row(system_, mode, work, cells_.data());
  numbers_.clear();
  words_.clear();
  std::size_t shown = 0;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    if (left_out(c)) continue;
    if (columns_[shown++].words)
      words_.push_back(simulate::mode_word(static_cast<int>(cells_[c])));
    else
      numbers_.push_back(cells_[c]);
  }
}

void Readout::event(const engines::Event& event, std::span<const double>) {
  where_ = engines::where(system_, event);
  detail_ = engines::detail(system_, event);
}

ColumnRecord::ColumnRecord(const Readout& readout) : readout_(readout) {
  for (const io::ColumnName& column : readout.columns()) {
    if (!column.words) extremes_.push_back({column.name, INFINITY, 0, -INFINITY, 0});
  }
  extremes_before_ = extremes_;
}

void ColumnRecord::take_up(const std::vector<io::Extremes>& extremes, std::vector<std::string> undefined) {
  for (io::Extremes& column : extremes_before_) {
    const auto known = std::find_if(extremes.begin(), extremes.end(),
                                    [&](const io::Extremes& each) { return each.name == column.name; });
    if (known != extremes.end()) column = *known;
  }
  undefined_before_ = std::move(undefined);
  forget();
}

void ColumnRecord::forget() {
  extremes_ = extremes_before_;
  undefined_ = undefined_before_;
}

void ColumnRecord::row(engines::RowKind, const engines::Mode&, model::Workspace&) {
  const double time = readout_.time();
  const std::span<const double> numbers = readout_.numbers();
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    const double value = numbers[c];
    io::Extremes& column = extremes_[c];
    if (!std::isfinite(value)) note_undefined(column.name, value);
    if (time < from_ || time > to_) continue;
    if (value < column.least) {
      column.least = value;
      column.least_time = time;
    }
    if (value > column.most) {
      column.most = value;
      column.most_time = time;
    }
  }
}

/// Once for each column: an expression that has no value there, the root of a negative number or a quotient by zero.
void ColumnRecord::note_undefined(const std::string& column, double value) {
  const std::string begin = std::string(kUndefined) + column + "'";
  for (const std::string& known : undefined_) {
    if (known.rfind(begin, 0) == 0) return;
  }
  undefined_.push_back(begin + " is " + to_text(value) + " at t = " + to_text(readout_.time(), 9) +
                       ", for the first time: its expression has no finite value there");
}

void ContactRecord::take_up(Loads before) {
  before_ = std::move(before);
  forget();
}

void ContactRecord::event(const engines::Event& event, std::span<const double>) {
  const std::string& where = readout_.where();
  if (event.energy_gain > 0) {
    if (loads_.gains.count++ == 0) loads_.gains.first = "'" + where + "' at t = " + to_text(event.time, 9);
    loads_.gains.sum += event.energy_gain;
  }
  if (!(event.normal_impulse > 0)) return;
  const auto note = [&](std::vector<std::pair<std::string, double>>& hardest) {
    const auto known =
        std::find_if(hardest.begin(), hardest.end(), [&](const auto& each) { return each.first == where; });
    if (known == hardest.end())
      hardest.emplace_back(where, event.normal_impulse);
    else
      known->second = std::max(known->second, event.normal_impulse);
  };
  note(loads_.hardest);
  if (event.time >= from_ && event.time <= to_) note(in_window_);
}

void ContactRecord::interval(const engines::Interval& interval) {
  ++loads_.interval_count;
  if (loads_.intervals.size() >= most_intervals_) return;
  loads_.intervals.push_back({system_.relations()[static_cast<std::size_t>(interval.relation)].name,
                              interval.from, interval.to, interval.peak, interval.impulse});
}

void EventRecord::event(const engines::Event& event, std::span<const double> state) {
  if (event.time < from_ || event.time > to_) return;
  ++count_;
  if (events_.size() >= most_) return;
  events_.push_back({event.time,
                     engines::name(event.kind),
                     readout_.where(),
                     readout_.detail(),
                     event.normal_impulse,
                     event.tangential_impulse,
                     event.energy_before,
                     event.energy_after,
                     event.mode,
                     event.bound,
                     {state.begin(), state.end()}});
}

void StructureRecord::row(engines::RowKind kind, const engines::Mode& mode, model::Workspace&) {
  if (kind == engines::RowKind::before) return;
  // Of events in front of the window the last one tells how it begins.
  const bool before = kind == engines::RowKind::after && names_.empty() && !listed_;
  const bool start = (names_.empty() && first_.empty()) || before;
  const bool after = kind == engines::RowKind::after && listed_ && !names_.empty() && names_.back().empty();
  if (!start && !after) return;
  const auto modes = modes_in_words(system_, mode);
  for (const analysis::Structure& structure : structures_) {
    if (!structure.fits(modes)) continue;
    (after ? names_.back() : first_) = structure.name;
    return;
  }
}

void StructureRecord::event(const engines::Event& event, std::span<const double>) {
  listed_ = event.time >= from_ && event.time <= to_;
  if (!listed_) return;
  if (names_.size() < most_) names_.emplace_back();
}

void ProgressSink::progress(double time) {
  if (!clock_.looks() || clock_.now() - shown_ < std::chrono::milliseconds(200)) return;
  shown_ = clock_.now();
  const double length = until_ - from_;
  tell_(length > 0 ? (time - from_) / length : 1, events_);
}

io::FileStatus FolderSink::open(const std::filesystem::path& folder, const model::System& system,
                                std::string_view go_on_from) {
  int slips = 1;
  for (const model::Relation& relation : system.relations()) slips = std::max(slips, relation.tangents);
  event_state_ = readout_.complete() ? system.layout().integrated() : 0;
  return writer_.open(folder, readout_.columns(), {std::min(slips, 3), event_state_}, go_on_from);
}

void FolderSink::row(engines::RowKind, const engines::Mode&, model::Workspace&) {
  if (!keeps_) {
    ++rows_;
    return;
  }
  writer_.row(readout_.numbers(), readout_.words());
  stop_if_failed();
}

void FolderSink::event(const engines::Event& event, std::span<const double> state) {
  if (!keeps_) {
    ++events_;
    return;
  }
  writer_.event({event.time, engines::name(event.kind), readout_.where(), readout_.detail(),
                 event.normal_impulse, event.tangential_impulse, event.energy_before, event.energy_after,
                 event.mode, state.first(std::min(state.size(), static_cast<std::size_t>(event_state_)))});
  stop_if_failed();
}

void FolderSink::progress(double) {
  if (clock_.looks()) due_ = clock_.now() >= commit_at_;
}

void FolderSink::state(const engines::EngineResult& so_far) {
  const Clock::time_point begin = Clock::now();
  const std::size_t texts = save_(so_far, due_);
  stop_if_failed();
  // After more rows than the texts of a mark are long, so that most of what is written are rows.
  const bool saved = std::exchange(due_, false);
  // A save between two marks makes no mark come later than it would have.
  const std::uint64_t next = saved ? mark_distance_ : mark_distance_ + mark_distance_ / 2;
  mark_distance_ = std::max<std::uint64_t>(std::min(next, kLongestMark), 2 * texts);
  if (!saved) return;
  const Clock::time_point end = Clock::now();
  distance_ = std::min(2 * distance_, kLongestDistance);
  // Saving takes a small share of the time, even on a slow disk, but is never put off for longer than promised.
  commit_at_ = end + std::clamp(100 * (end - begin), distance_, kLongestWait);
}

}  // namespace judder::tasks
