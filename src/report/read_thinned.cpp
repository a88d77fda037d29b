#include "read_thinned.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "judder/io/csv.hpp"

namespace judder::report {
namespace {

namespace fs = std::filesystem;
using io::Column;
using io::FileStatus;

constexpr std::size_t kWanted = 60000;    // rows that stay in memory, about
constexpr std::size_t kMostParts = 3000;  // a picture is a thousand pixels wide
constexpr std::size_t kMostEvents = 20000;
constexpr std::size_t kLongestHead = std::size_t{1} << 26;  // bytes of run.json

/// Numbers of rows to keep, ascending.
std::vector<std::size_t> rows_to_keep(const std::vector<Column>& columns, std::size_t rows,
                                      const Column* time, std::size_t parts) {
  std::vector<std::size_t> kept;
  const auto at = [&](std::size_t row) {
    return time != nullptr ? time->numbers[row] : static_cast<double>(row);
  };
  const double begin = at(0), length = at(rows - 1) - at(0);
  const auto part_of = [&](std::size_t row) {
    const double share = length > 0 ? (at(row) - begin) / length : 0;
    return std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(parts));
  };
  for (std::size_t first = 0; first < rows;) {
    std::size_t end = first;
    while (end < rows && part_of(end) == part_of(first)) ++end;
    end = std::max(end, first + 1);  // times that are no numbers
    std::set<std::size_t> stay{first, end - 1};
    for (const Column& column : columns) {
      if (!column.words.empty()) {
        // Where the word changes, a few times.
        int changes = 0;
        for (std::size_t row = first + 1; row < end && changes < 4; ++row) {
          if (column.words[row] == column.words[row - 1]) continue;
          stay.insert({row - 1, row});
          ++changes;
        }
        continue;
      }
      std::size_t least = first, most = first;
      for (std::size_t row = first; row < end; ++row) {
        if (std::isnan(column.numbers[row])) continue;
        if (!(column.numbers[row] >= column.numbers[least])) least = row;
        if (!(column.numbers[row] <= column.numbers[most])) most = row;
      }
      stay.insert({least, most});
    }
    kept.insert(kept.end(), stay.begin(), stay.end());
    first = end;
  }
  return kept;
}

class Thinning {
 public:
  explicit Thinning(std::vector<Column>& columns) : columns_(columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == "t") time_ = static_cast<int>(i);
    }
    const std::size_t per_part = 2 + 2 * columns.size();
    parts_ = std::clamp<std::size_t>(kWanted / per_part, 200, kMostParts);
    most_ = 2 * std::max(kWanted, parts_ * per_part);
  }
  void row_added() {
    if (++rows_ >= most_) thin();
  }
  [[nodiscard]] bool thinned() const { return thinned_; }

 private:
  void thin() {
    const Column* time = time_ >= 0 ? &columns_[static_cast<std::size_t>(time_)] : nullptr;
    if (time != nullptr && !time->words.empty()) time = nullptr;
    const std::vector<std::size_t> kept = rows_to_keep(columns_, rows_, time, parts_);
    for (Column& column : columns_) {
      const bool words = !column.words.empty();
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (words)
          std::swap(column.words[i], column.words[kept[i]]);
        else
          column.numbers[i] = column.numbers[kept[i]];
      }
      if (words)
        column.words.resize(kept.size());
      else
        column.numbers.resize(kept.size());
    }
    rows_ = kept.size();
    thinned_ = true;
    most_ = std::max(most_, 2 * rows_);
  }

  std::vector<Column>& columns_;
  int time_ = -1;
  std::size_t rows_ = 0, parts_ = 0, most_ = 0;
  bool thinned_ = false;
};

/// One event of a kind and place in each part of the time.
void thin_events(std::vector<io::Event>& events, double begin, double end) {
  std::set<std::tuple<double, std::string, std::string>> seen;
  const double width = (end - begin) / static_cast<double>(kMostParts);
  std::erase_if(events, [&](const io::Event& event) {
    const double part = width > 0 ? std::floor((event.time - begin) / width) : 0;
    return !seen.insert({part, event.kind, event.where}).second;
  });
}

bool stopped(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

FileStatus read_thinned_events(std::istream& in, const fs::path& file, io::RunData& out,
                               const std::atomic<bool>* cancel, std::size_t first_events) {
  std::vector<io::Event>& events = out.events;
  io::CsvReader csv(in);
  std::size_t most = kMostEvents;
  bool header = true, thinned = false;
  std::size_t first_state = 0;
  while (csv.next()) {
    if (stopped(cancel)) return {file.string(), "interrupted", csv.line()};
    if (csv.size() < 4) return {file.string(), "an event needs time, kind, where and detail", csv.line()};
    if (std::exchange(header, false)) {
      first_state = io::event_state_begin(csv);
      for (std::size_t i = first_state; i < csv.size(); ++i) out.event_columns.emplace_back(csv.field(i));
      continue;
    }
    const auto time = io::csv_number(csv.field(0));
    if (!time) return {file.string(), "the time of an event is no number", csv.line()};
    io::Event event;
    event.time = *time;
    event.kind = csv.field(1);
    event.where = csv.field(2);
    event.detail = csv.field(3);
    const auto number = [&csv](std::size_t i) {
      return i < csv.size() ? io::csv_number(csv.field(i)).value_or(0) : 0;
    };
    event.normal_impulse = number(4);
    event.tangential_impulse[0] = number(5);
    event.energy_before = number(6);
    event.energy_after = number(7);
    for (std::size_t i = first_state; i < csv.size(); ++i) {
      const auto value = io::csv_number(csv.field(i));
      if (!value) return {file.string(), "the state behind an event is no number", csv.line()};
      event.state.push_back(*value);
    }
    if (first_events > 0 && events.size() == first_events) continue;
    events.push_back(std::move(event));
    if (first_events > 0 || events.size() < most) continue;
    thin_events(events, events.front().time, events.back().time);
    most = std::max(most, 2 * events.size());
    thinned = true;
  }
  if (csv.error()) return {file.string(), csv.error()->message, csv.error()->line};
  if (thinned) thin_events(events, events.front().time, events.back().time);
  return {};
}

FileStatus read_thinned_table(std::istream& in, const fs::path& file, io::RunData& out, std::size_t& rows,
                              const std::atomic<bool>* cancel, bool gaps = false) {
  rows = 0;
  out.columns.clear();
  io::CsvReader csv(in);
  if (!csv.next()) {
    return csv.error() ? FileStatus{file.string(), csv.error()->message, csv.error()->line}
                       : FileStatus{file.string(), "no header row", 1};
  }
  for (std::size_t i = 0; i < csv.size(); ++i) out.columns.push_back({std::string(csv.field(i)), {}, {}});
  Thinning thinning(out.columns);
  while (csv.next()) {
    if (stopped(cancel)) return {file.string(), "interrupted", csv.line()};
    ++rows;
    for (std::size_t i = 0; i < csv.size(); ++i) {
      Column& column = out.columns[i];
      const std::string_view field = csv.field(i);
      auto value = io::csv_number(field);
      if (gaps && field.empty() && column.words.empty()) value = std::numeric_limits<double>::quiet_NaN();
      if (column.size() > 0 && value.has_value() != column.words.empty()) {
        return {file.string(),
                "column '" + column.name + "': '" + std::string(field.substr(0, 40)) +
                    (value ? "' is a number, the cells above are words" : "' is not a number"),
                csv.line()};
      }
      if (value)
        column.numbers.push_back(*value);
      else
        column.words.emplace_back(field);
    }
    thinning.row_added();
  }
  return csv.error() ? FileStatus{file.string(), csv.error()->message, csv.error()->line} : FileStatus{};
}

/// Rows of instants with events: both limits.
std::vector<std::size_t> rows_of_jumps(const Column& time) {
  std::vector<std::size_t> out;
  for (std::size_t row = 1; row < time.numbers.size(); ++row) {
    if (time.numbers[row] == time.numbers[row - 1]) out.insert(out.end(), {row - 1, row});
  }
  return out;
}

}  // namespace

void thin_rows(io::RunData& run, std::size_t most) {
  const Column* time = run.find("t");
  const std::size_t rows = run.columns.empty() ? 0 : run.columns.front().size();
  if (rows <= most || time == nullptr || !time->words.empty()) return;
  const std::size_t per_part = 2 + 2 * run.columns.size();
  std::vector<std::size_t> kept =
      rows_to_keep(run.columns, rows, time, std::max<std::size_t>(100, most / per_part));
  const std::vector<std::size_t> jumps = rows_of_jumps(*time);
  if (jumps.size() <= most) kept.insert(kept.end(), jumps.begin(), jumps.end());
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (Column& column : run.columns) {
    const bool words = !column.words.empty();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (words)
        std::swap(column.words[i], column.words[kept[i]]);
      else
        column.numbers[i] = column.numbers[kept[i]];
    }
    if (words)
      column.words.resize(kept.size());
    else
      column.numbers.resize(kept.size());
  }
}

FileStatus read_thinned_columns(const fs::path& file, io::RunData& out, std::size_t& rows,
                                const std::atomic<bool>* cancel) {
  std::unique_ptr<std::istream> in;
  if (FileStatus status = io::open_table(file, in); !status.ok()) return status;
  out.name = file.stem().string();
  return read_thinned_table(*in, file, out, rows, cancel, true);
}

FileStatus read_thinned_run(const fs::path& directory, io::RunData& out, std::size_t& rows,
                            const std::atomic<bool>* cancel, std::size_t first_events) {
  out = {};
  io::OpenRun run;
  if (FileStatus status = io::open_run(directory, kLongestHead, run); !status.ok()) return status;
  if (FileStatus status = read_thinned_table(*run.trajectory, run.trajectory_file, out, rows, cancel);
      !status.ok())
    return status;
  if (run.events) {
    if (FileStatus status = read_thinned_events(*run.events, run.events_file, out, cancel, first_events);
        !status.ok())
      return status;
  }
  out.run_json = std::move(run.run_json);
  out.name = (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  return {};
}

}  // namespace judder::report
