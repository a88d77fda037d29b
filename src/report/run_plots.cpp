#include "judder/report/run_plots.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "report/axis_label.hpp"

namespace judder::report {
namespace {

using io::Column;
using io::Event;
using io::RunData;

constexpr std::size_t kMostPanels = 6;   // more quantities than this share one panel
constexpr std::size_t kMostLevels = 60;  // of a column of words; the last one stands for all others
constexpr std::size_t kLongestLabel = 60;
constexpr std::size_t kMostLines = 12;  // in a shared panel
constexpr double kLeastHeight = 130;    // of a panel in a narrow figure, in pixels

struct KindOfEvent {
  std::string_view name;
  Symbol symbol;
};

// In the order of their lanes: what changes contact, what changes slip, what is special.
constexpr std::array<KindOfEvent, 14> kKinds = {{{"impact", Symbol::triangle_down},
                                                 {"contact", Symbol::square},
                                                 {"lift-off", Symbol::triangle_up},
                                                 {"stick", Symbol::disc},
                                                 {"slip", Symbol::circle},
                                                 {"reversal", Symbol::diamond},
                                                 {"tangential-impact", Symbol::triangle_down},
                                                 {"accumulation", Symbol::plus},
                                                 {"painleve", Symbol::cross},
                                                 {"switch", Symbol::bar},
                                                 {"slide-begin", Symbol::disc},
                                                 {"slide-end", Symbol::circle},
                                                 {"graze", Symbol::cross},
                                                 {"watch", Symbol::diamond}}};

// Of the runs in a panel where colours tell columns apart.
constexpr double kMeasuredRadius = 2.4, kPointRadius = 1.5;  // pixels
constexpr std::array<Stroke, 6> kStrokes = {Stroke::solid,       Stroke::dashed,
                                            Stroke::dotted,      Stroke::dash_dotted,
                                            Stroke::long_dashed, Stroke::dash_dot_dotted};

// At these velocities jump.
constexpr std::array<std::string_view, 4> kJumps = {"impact", "tangential-impact", "accumulation",
                                                    "painleve"};

bool is_numbers(const Column& column) { return column.words.empty(); }

std::string tip_of(const Event& event, const std::string& run) {
  std::string tip = run.empty() ? "" : printable_name(run, kLongestLabel) + ": ";
  tip += printable_name(event.kind + ' ' + event.where);
  if (!event.detail.empty()) tip += ": " + printable_name(event.detail);
  return tip + "\nt = " + to_text(event.time, 9);
}

// Indices of the rows that follow a row with the same time: the limits after an event.
std::vector<std::size_t> rows_after_events(const RunData& run) {
  std::vector<std::size_t> rows;
  const Column* time = run.find("t");
  if (time == nullptr || !is_numbers(*time)) return rows;
  for (std::size_t i = 1; i < time->numbers.size(); ++i) {
    if (time->numbers[i] == time->numbers[i - 1]) rows.push_back(i);
  }
  return rows;
}

// The value of a column at a time: the limit after it where a row has that time, else between two rows. There is none between rows between which the
// motion jumps: nothing on the line from the one to the other is a state of it.
double value_at(const std::vector<double>& times, const std::vector<double>& values, double time,
                const std::vector<double>& jumps) {
  const auto after = std::upper_bound(times.begin(), times.end(), time);
  if (after == times.begin() || times.size() != values.size())
    return std::numeric_limits<double>::quiet_NaN();
  const auto i = static_cast<std::size_t>(after - times.begin());
  if (times[i - 1] == time) return values[i - 1];
  if (after == times.end()) return std::numeric_limits<double>::quiet_NaN();
  const auto jump = std::upper_bound(jumps.begin(), jumps.end(), times[i - 1]);
  if (jump != jumps.end() && *jump < times[i]) return std::numeric_limits<double>::quiet_NaN();
  const double share = (time - times[i - 1]) / (times[i] - times[i - 1]);
  return values[i - 1] + share * (values[i] - values[i - 1]);
}

// The value of a column at an event: that of the state which comes with it, where the column is part of that; else by the rows around it.
class AtEvents {
 public:
  AtEvents(const RunData& run, const Column& column, const std::vector<double>& jumps)
      : time_(run.find("t")), column_(column), jumps_(jumps) {
    const auto found = std::find(run.event_columns.begin(), run.event_columns.end(), column.name);
    place_ = static_cast<std::size_t>(found - run.event_columns.begin());
  }
  [[nodiscard]] double operator()(const Event& event) const {
    if (column_.name == "t") return event.time;
    if (place_ < event.state.size()) return event.state[place_];
    if (time_ == nullptr) return std::numeric_limits<double>::quiet_NaN();
    return value_at(time_->numbers, column_.numbers, event.time, jumps_);
  }

 private:
  const Column* time_;
  const Column& column_;
  const std::vector<double>& jumps_;
  std::size_t place_ = 0;  ///< in the state; behind its end: not part of it
};

// As `like`, of which colour and row are taken, and the run's name as its tip. Returns how many events of the run could not be marked.
std::size_t mark_events(Panel& panel, const RunData& run, const Column& abscissa, const Column* ordinate,
                        const Mark& like) {
  std::vector<std::string> names;
  if (panel.mark_kinds.empty()) {
    for (const KindOfEvent& kind : kKinds) panel.mark_kinds.push_back({std::string(kind.name), kind.symbol});
  }
  for (const MarkKind& kind : panel.mark_kinds) names.push_back(kind.label);
  std::size_t left_out = 0;
  std::vector<double> jumps;
  for (const Event& event : run.events) {
    if (std::find(kJumps.begin(), kJumps.end(), event.kind) != kJumps.end()) jumps.push_back(event.time);
  }
  std::sort(jumps.begin(), jumps.end());
  const AtEvents x(run, abscissa, jumps);
  const AtEvents y(run, ordinate != nullptr ? *ordinate : abscissa, jumps);
  for (const Event& event : run.events) {
    auto kind = std::find(names.begin(), names.end(), event.kind);
    if (kind == names.end()) {
      names.push_back(event.kind);
      panel.mark_kinds.push_back({event.kind, Symbol::circle});
      kind = std::prev(names.end());
    }
    Mark mark = like;
    mark.kind = static_cast<std::size_t>(kind - names.begin());
    mark.tip = tip_of(event, like.tip);
    mark.x = event.time;
    if (ordinate != nullptr) {
      mark.x = x(event);
      mark.y = y(event);
      if (!std::isfinite(mark.x) || !std::isfinite(mark.y)) {
        ++left_out;
        continue;
      }
    }
    panel.marks.push_back(std::move(mark));
  }
  return left_out;
}

// "plot-x-xdot": letters and digits of the columns; what another list of columns gave stays where it is.
std::string name_by_columns(const std::vector<std::string>& columns) {
  constexpr std::size_t kLongest = 80;
  std::string out = "plot";
  for (const std::string& column : columns) {
    out += '-';
    for (const char c : column) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        out += c;
      else if (c == '\'')
        out += "dot";
      else if (out.back() != '-')
        out += '-';
    }
    while (out.back() == '-') out.pop_back();
  }
  return out.substr(0, kLongest);
}

class Builder {
 public:
  Builder(std::span<const RunData> runs, const RunPlotOptions& options) : runs_(runs), options_(options) {
    for (const RunData& run : runs) jumps_.push_back(rows_after_events(run));
    shares_.resize(runs.size());
  }

  // One panel with the columns of `plot` over its first, and one more for each column of words.
  void listed(const std::vector<std::string>& plot, std::string name) {
    if (plot.size() < 2) {
      problems_.push_back("a plot needs an abscissa and at least one ordinate");
      return;
    }
    std::vector<std::string> numbers;
    Figure figure = blank();
    for (std::size_t i = 1; i < plot.size(); ++i) {
      const Column* column = any(plot[i]);
      if (column == nullptr) {
        problems_.push_back("there is no column '" + plot[i] + "'" + there_are());
      } else if (is_numbers(*column)) {
        numbers.push_back(plot[i]);
      }
    }
    const Column* abscissa = any(plot[0]);
    if (abscissa == nullptr || !is_numbers(*abscissa)) {
      problems_.push_back("there is no column of numbers '" + plot[0] + "'" + there_are());
      return;
    }
    const bool over_time = plot[0] == "t";
    if (!numbers.empty()) figure.panels.push_back(panel(plot[0], numbers, fitted(over_time ? 260 : 420)));
    for (std::size_t i = 1; i < plot.size(); ++i) {
      const Column* column = any(plot[i]);
      if (column != nullptr && !is_numbers(*column)) figure.panels.push_back(words(plot[0], plot[i]));
    }
    if (figure.panels.empty()) return;
    figure.shared_x = true;
    if (options_.events) {
      const std::size_t left_out = mark(figure.panels.front(), plot[0], numbers, !over_time);
      std::size_t all = 0;
      for (const RunData& run : runs_) all += run.events.size();
      if (left_out > 0)
        problems_.push_back(name + ": " + std::to_string(left_out) + " of " + std::to_string(all) +
                            " events are not marked: the motion jumps there, and no row stands at the time");
    }
    share_hairlines(figure);
    add(std::move(name), std::move(figure));
  }

  // Each column in its own panel over t, or all in one where there are many.
  void stacked(const std::vector<std::string>& columns, std::string name) {
    if (columns.empty() || any("t") == nullptr) return;
    Figure figure = blank();
    figure.shared_x = true;
    if (columns.size() <= kMostPanels) {
      const double height = columns.size() == 1 ? 260 : columns.size() <= 3 ? 170 : 120;
      for (const std::string& column : columns) figure.panels.push_back(panel("t", {column}, fitted(height)));
    } else {
      const std::vector<std::string> first(
          columns.begin(),
          columns.begin() + static_cast<std::ptrdiff_t>(std::min(columns.size(), kMostLines)));
      figure.panels.push_back(panel("t", first, fitted(320)));
      if (first.size() < columns.size()) {
        figure.subtitle += (figure.subtitle.empty() ? "the first " : "; the first ") +
                           std::to_string(first.size()) + " of " + std::to_string(columns.size()) +
                           " columns";
      }
    }
    const bool one_each = columns.size() <= kMostPanels;
    if (options_.events)
      static_cast<void>(
          mark(figure.panels.front(), "t", one_each ? std::vector{columns.front()} : columns, false));
    share_hairlines(figure);
    add(std::move(name), std::move(figure));
  }

  RunPlots take() { return {std::move(figures_), std::move(problems_), std::move(shares_)}; }

 private:
  [[nodiscard]] Figure blank() const {
    Figure figure;
    figure.title = options_.title;
    figure.subtitle = options_.subtitle;
    if (options_.width) figure.width = *options_.width;
    return figure;
  }

  /// A narrow figure is no tower: its panels keep their shape, as long as something is seen in them.
  [[nodiscard]] double fitted(double height) const {
    if (!options_.width) return height;
    return std::min(height, std::max(height * *options_.width / Figure().width, kLeastHeight));
  }

  /// "; there are: t, x, x'", of the first run.
  [[nodiscard]] std::string there_are() const {
    constexpr std::size_t kMost = 20;
    std::string out;
    if (runs_.empty() || runs_.front().columns.empty()) return out;
    const std::vector<Column>& columns = runs_.front().columns;
    for (std::size_t i = 0; i < std::min(kMost, columns.size()); ++i)
      out += (i == 0 ? "; there are: " : ", ") + printable_name(columns[i].name);
    return columns.size() > kMost ? out + ", …" : out;
  }

  [[nodiscard]] const Column* any(std::string_view name) const {
    for (const RunData& run : runs_) {
      if (const Column* column = run.find(name)) return column;
    }
    return nullptr;
  }

  void note(std::size_t run, const Column* column, const std::string& name) {
    std::vector<std::string>& absent = shares_[run].absent;
    if (column == nullptr && std::find(absent.begin(), absent.end(), name) == absent.end())
      absent.push_back(name);
  }

  // Events of a run belong to its curves: without one in the panel they would be those of nothing.
  [[nodiscard]] bool marked(const RunData& run, const std::string& abscissa,
                            const std::vector<std::string>& ordinates) const {
    if (run.events.empty() || run.find(abscissa) == nullptr) return false;
    return ordinates.empty() ||
           std::any_of(ordinates.begin(), ordinates.end(),
                       [&run](const std::string& name) { return run.find(name) != nullptr; });
  }

  // Colours tell runs apart if there is one column, else columns; then dashes tell runs apart, and where these are used up the next colours.
  [[nodiscard]] Panel panel(const std::string& abscissa, const std::vector<std::string>& ordinates,
                            double height) {
    Panel out;
    out.height = height;
    out.x.label = axis_label(options_.labels, abscissa);
    out.x.tight = abscissa == "t";
    const bool one_column = ordinates.size() == 1;
    if (one_column) out.y.label = axis_label(options_.labels, ordinates.front());
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (std::size_t c = 0; c < ordinates.size(); ++c) {
        const Column* x = runs_[r].find(abscissa);
        const Column* y = runs_[r].find(ordinates[c]);
        note(r, x, abscissa);
        note(r, y, ordinates[c]);
        if (x == nullptr || y == nullptr || !is_numbers(*x) || !is_numbers(*y)) continue;
        if (!x->numbers.empty()) ++shares_[r].curves;
        Series series;
        series.x = x->numbers;
        series.y = y->numbers;
        series.jumps = jumps_[r];
        series.colour = colour_of(r, c, ordinates.size());
        series.stroke = kStrokes[r % kStrokes.size()];
        if (options_.points || r >= options_.measured) {
          series.stroke = Stroke::none;
          series.symbol = r >= options_.measured ? Symbol::circle : Symbol::disc;
          series.radius = r >= options_.measured ? kMeasuredRadius : kPointRadius;
        }
        if (runs_.size() > 1 && one_column) series.label = runs_[r].name;
        if (runs_.size() > 1 && !one_column)
          series.label = axis_label(options_.labels, ordinates[c]) + " (" + runs_[r].name + ")";
        if (runs_.size() == 1 && !one_column) series.label = axis_label(options_.labels, ordinates[c]);
        series.label = printable_name(series.label, kLongestLabel);
        out.series.push_back(std::move(series));
      }
    }
    return out;
  }

  // Words as levels, in the order in which they appear; constant until the next row says otherwise.
  [[nodiscard]] Panel words(const std::string& abscissa, const std::string& name) {
    Panel out;
    out.x.label = axis_label(options_.labels, abscissa);
    out.x.tight = abscissa == "t";
    out.y.label = axis_label(options_.labels, name);
    std::vector<std::string>& levels = out.y.categories;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Column* x = runs_[r].find(abscissa);
      const Column* y = runs_[r].find(name);
      note(r, x, abscissa);
      note(r, y, name);
      if (x == nullptr || y == nullptr || !is_numbers(*x) || is_numbers(*y)) continue;
      if (!x->numbers.empty()) ++shares_[r].curves;
      Series series;
      series.colour = static_cast<int>(r);
      series.width = 2.5;
      if (runs_.size() > 1) series.label = printable_name(runs_[r].name, kLongestLabel);
      for (std::size_t i = 0; i < std::min(x->numbers.size(), y->words.size()); ++i) {
        auto level = std::find(levels.begin(), levels.end(), y->words[i]);
        if (level == levels.end() && levels.size() == kMostLevels) level = std::prev(level);
        if (level == levels.end())
          level = levels.insert(level, levels.size() + 1 == kMostLevels ? "…" : y->words[i]);
        const auto height = static_cast<double>(level - levels.begin());
        if (!series.y.empty() && series.y.back() != height) {
          series.x.push_back(x->numbers[i]);
          series.y.push_back(series.y.back());
          series.jumps.push_back(series.x.size());
        }
        series.x.push_back(x->numbers[i]);
        series.y.push_back(height);
      }
      out.series.push_back(std::move(series));
    }
    out.height = std::max(40.0, 22.0 * static_cast<double>(levels.size()));
    for (std::string& level : levels) level = printable_name(level, kLongestLabel);
    return out;
  }

  // Lanes above a time series, or marks on the curve of the first ordinate. Several runs with events have a row each in every lane, in their colour where
  // colours tell runs apart; on curves in that of the curve.
  std::size_t mark(Panel& panel, const std::string& abscissa, const std::vector<std::string>& ordinates,
                   bool on_curve) const {
    const auto with_events = static_cast<std::size_t>(std::count_if(
        runs_.begin(), runs_.end(), [&](const RunData& run) { return marked(run, abscissa, ordinates); }));
    panel.mark_rows = std::max<std::size_t>(with_events, 1);
    std::size_t left_out = 0, row = 0;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (!marked(runs_[r], abscissa, ordinates)) continue;
      const Column* x = runs_[r].find(abscissa);
      const Column* y = on_curve && !ordinates.empty() ? runs_[r].find(ordinates.front()) : nullptr;
      Mark like;
      like.row = row++;
      if (with_events > 1) {
        like.tip = runs_[r].name;
        if (ordinates.size() < 2 || on_curve)
          like.colour = colour_of(r, 0, std::max<std::size_t>(ordinates.size(), 1));
      }
      if (x != nullptr && (abscissa == "t" || y != nullptr))
        left_out += mark_events(panel, runs_[r], *x, y, like);
    }
    return left_out;
  }

  static int colour_of(std::size_t run, std::size_t column, std::size_t columns) {
    return static_cast<int>(columns == 1 ? run : column + run / kStrokes.size() * columns);
  }

  // The panels below the first get the same thin lines, without lanes of their own.
  static void share_hairlines(Figure& figure) {
    if (figure.panels.front().mark_rows > 1) return;
    for (std::size_t i = 1; i < figure.panels.size(); ++i) {
      for (const Mark& mark : figure.panels.front().marks) {
        if (!std::isfinite(mark.y)) figure.panels[i].guides.push_back(mark.x);
      }
    }
  }

  void add(std::string name, Figure figure) { figures_.push_back({std::move(name), std::move(figure)}); }

  std::span<const RunData> runs_;
  const RunPlotOptions& options_;
  std::vector<std::vector<std::size_t>> jumps_;
  std::vector<NamedFigure> figures_;
  std::vector<std::string> problems_;
  std::vector<RunShare> shares_;
};

}  // namespace

RunPlots plots_of_run(std::span<const RunData> runs, const std::vector<std::vector<std::string>>& plots,
                      const RunPlotOptions& options) {
  Builder builder(runs, options);
  if (!plots.empty()) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < plots.size(); ++i) {
      std::string name = "plot-" + std::to_string(i + 1);
      if (options.named_by_columns) {
        name = name_by_columns(plots[i]);
        const std::string first = name;
        for (int k = 2; !names.insert(name).second; ++k) name = first + '-' + std::to_string(k);
      }
      builder.listed(plots[i], name);
    }
    return builder.take();
  }
  if (runs.empty()) return builder.take();

  // A coordinate is a column of numbers whose name with a prime is one too; a file may hold either without the other.
  const auto has_numbers = [&run = runs.front()](std::string_view name) {
    const Column* column = run.find(name);
    return column != nullptr && is_numbers(*column);
  };
  std::vector<std::string> coordinates;
  std::vector<std::string> velocities;
  std::vector<std::string> others;
  for (const Column& column : runs.front().columns) {
    const std::string_view name = column.name;
    if (name == "t" || !is_numbers(column)) continue;
    if (has_numbers(column.name + "'")) {
      coordinates.push_back(column.name);
    } else if (name.ends_with('\'') && has_numbers(name.substr(0, name.size() - 1))) {
      velocities.push_back(column.name);
    } else {
      others.push_back(column.name);
    }
  }
  if (coordinates.size() == 1 && velocities.size() == 1) {
    builder.stacked({coordinates[0], velocities[0]}, "motion");
    builder.listed({coordinates[0], velocities[0]}, "phase-portrait");
  } else {
    builder.stacked(coordinates, "coordinates");
    builder.stacked(velocities, "velocities");
  }
  if (coordinates.empty() && others.size() == 2) builder.listed({others[0], others[1]}, "phase-portrait");
  builder.stacked(others, coordinates.empty() ? "states" : "outputs");
  return builder.take();
}

}  // namespace judder::report
