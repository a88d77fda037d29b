#include "judder/report/plot_runs.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/json.hpp"
#include "judder/io/run_head.hpp"
#include "judder/report/run_plots.hpp"
#include "judder/report/svg.hpp"
#include "report/put_curve.hpp"
#include "report/read_thinned.hpp"

namespace judder::report {
namespace fs = std::filesystem;
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i) out += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMost ? out + ", …" : out;
}

std::string names_of(const io::RunData& run) {
  std::vector<std::string> names;
  for (const io::Column& column : run.columns) names.push_back(column.name);
  return listed(names);
}

/// What the figures do not show of a run that is not the first. Empty: nothing is missing.
std::string left_out(const RunShare& share, const io::RunData& run) {
  if (share.curves > 0 && share.absent.empty()) return {};
  if (share.curves > 0)
    return "it has no column " + listed(share.absent) + "; only what is called alike is drawn";
  const bool empty =
      run.columns.empty() || (run.columns.front().numbers.empty() && run.columns.front().words.empty());
  if (empty) return {};  // said before
  return "no column is called as one that is drawn, so nothing of it is drawn; it has: " + names_of(run);
}

/// Axes over a time that has no length would show nothing. Empty: time goes on in the run.
std::string ends_at_its_start(const io::RunData& run) {
  const io::Column* time = run.find("t");
  if (time == nullptr || time->numbers.empty()) return {};
  const double begin = time->numbers.front();
  if (std::any_of(time->numbers.begin(), time->numbers.end(), [begin](double t) { return t != begin; }))
    return {};
  return "the run ends at its start, t = " + to_text(begin, 9) +
         ", so there is nothing to draw; run.json says why it ended";
}

/// "; they go from t = 0 to t = 2"
std::string range_of(const io::RunData& run) {
  const io::Column* time = run.find("t");
  if (time == nullptr || time->numbers.empty()) return {};
  const auto [least, most] = std::minmax_element(time->numbers.begin(), time->numbers.end());
  return "; they go from t = " + to_text(*least, 9) + " to t = " + to_text(*most, 9);
}

/// A table of measurements may call the time otherwise: then its first column is the time, if it is none that the run has. What was done, or why nothing of it
/// can be drawn over the time; empty: it has a time.
std::string take_time(io::RunData& table, const io::RunData& run, bool over_time) {
  if (table.find("t") != nullptr || !over_time || table.columns.empty()) return {};
  io::Column& first = table.columns.front();
  if (first.words.empty() && !first.numbers.empty() && run.find(first.name) == nullptr) {
    std::string said = "there is no column 't'; its first column '" + first.name + "' is taken as the time";
    first.name = "t";
    return said;
  }
  return "there is no column 't', and its first column '" + first.name +
         "' cannot be the time, so nothing of it is drawn over the time; call the time t";
}

/// Rows and events outside a stretch of time are left out.
void cut(io::RunData& run, std::optional<double> from, std::optional<double> to) {
  const io::Column* time = run.find("t");
  if ((!from && !to) || time == nullptr || !time->words.empty()) return;
  const auto inside = [&](double t) { return (!from || t >= *from) && (!to || t <= *to); };
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < time->numbers.size(); ++row) {
    if (inside(time->numbers[row])) kept.push_back(row);
  }
  for (io::Column& column : run.columns) {
    const bool words = !column.words.empty();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (words)
        std::swap(column.words[i], column.words[kept[i]]);
      else
        column.numbers[i] = column.numbers[kept[i]];
    }
    words ? column.words.resize(kept.size()) : column.numbers.resize(kept.size());
  }
  std::erase_if(run.events, [&](const io::Event& event) { return !inside(event.time); });
}

}  // namespace

PlottedFiles plot_runs(const PlotRequest& request) {
  PlottedFiles out;
  std::vector<io::RunData> runs;
  bool any = false;
  for (const fs::path& folder : request.folders) {
    runs.emplace_back();
    std::size_t rows = 0;
    out.status = read_thinned_run(folder, runs.back(), rows, request.cancel);
    if (!out.status.ok()) return out;
    const std::string still = rows > 0 ? ends_at_its_start(runs.back()) : std::string();
    if (!still.empty()) out.problems.push_back(folder.string() + ": " + still);
    if (!request.points) put_curve(runs.back(), io::read_curve(runs.back().run_json));
    const std::string range = range_of(runs.back());
    cut(runs.back(), request.from, request.to);
    if (rows > 0 && runs.back().columns.front().size() == 0)
      out.problems.push_back(folder.string() + ": the run has no rows in that stretch of time" + range);
    else
      any = any || (rows > 0 && still.empty());
    // Tables of other programs have neither of the two.
    std::error_code unknown;
    if (!runs.back().run_json.empty() && !fs::exists(folder / "state.json", unknown) && !unknown)
      out.problems.push_back(folder.string() +
                             ": state.json is missing, so that the tables are drawn as they are, perhaps "
                             "changed or with rows behind the last save");
    if (rows == 0)
      out.problems.push_back(folder.string() + ": the run has no rows, there is nothing to draw");
  }
  if (!any) return out;
  io::RunHead head;
  if (!runs.empty()) head = io::read_run_head(runs.front().run_json);
  // Variants beside each other: none of their titles fits the picture.
  const bool variants = std::any_of(runs.begin(), runs.end(), [&head](const io::RunData& run) {
    return io::read_run_head(run.run_json).title != head.title;
  });
  if (variants && !head.model_title.empty()) head.title = head.model_title;
  const std::vector<std::vector<std::string>>& chosen = request.plots.empty() ? head.plots : request.plots;
  if (!request.overlay.empty()) {
    runs.emplace_back();
    std::size_t rows = 0;
    out.status = read_thinned_columns(request.overlay, runs.back(), rows, request.cancel);
    if (!out.status.ok()) return out;
    const bool over_time =
        chosen.empty() || std::any_of(chosen.begin(), chosen.end(), [](const std::vector<std::string>& plot) {
          return !plot.empty() && plot.front() == "t";
        });
    const std::string columns = names_of(runs.back());
    const std::string time = take_time(runs.back(), runs.front(), over_time);
    const bool known = std::any_of(
        runs.back().columns.begin(), runs.back().columns.end(),
        [&](const io::Column& c) { return c.name != "t" && runs.front().find(c.name) != nullptr; });
    if (!known) {
      out.problems.push_back(
          request.overlay.string() +
          ": no column is called as one of the run, so nothing of it is drawn; it has: " + columns);
    } else if (!time.empty()) {
      out.problems.push_back(request.overlay.string() + ": " + time);
    }
  }

  // Variants are known by their titles, if these tell them apart; other runs by their folders.
  if (variants) {
    std::set<std::string> titles;
    std::vector<std::string> by_run;
    for (std::size_t r = 0; r < request.folders.size(); ++r) {
      by_run.push_back(io::read_run_head(runs[r].run_json).title);
      if (!by_run.back().empty()) titles.insert(by_run.back());
    }
    for (std::size_t r = 0; r < by_run.size() && titles.size() == by_run.size(); ++r)
      runs[r].name = by_run[r];
  }

  RunPlotOptions options;
  options.points = request.points;
  if (!request.overlay.empty()) options.measured = runs.size() - 1;
  options.title = head.title;
  options.labels = head.labels;
  options.width = request.width;
  options.named_by_columns = !request.plots.empty();
  if (runs.size() == 1) {
    std::vector<std::string> parts = head.variants;
    parts.insert(parts.end(), head.settings.begin(), head.settings.end());
    for (const std::string& part : parts) options.subtitle += (options.subtitle.empty() ? "" : ", ") + part;
  }
  const RunPlots plots = plots_of_run(runs, chosen, options);
  for (std::size_t r = 1; r < request.folders.size(); ++r) {
    const std::string problem = left_out(plots.shares[r], runs[r]);
    if (!problem.empty()) out.problems.push_back(request.folders[r].string() + ": " + problem);
  }
  out.problems.insert(out.problems.end(), plots.problems.begin(), plots.problems.end());

  const fs::path folder = request.output.empty() ? request.folders.front() : request.output;
  for (const NamedFigure& figure : plots.figures) {
    const fs::path file = folder / (figure.name + ".svg");
    out.status = io::write_text_file(file, to_svg(figure.figure), io::kFigureMark);
    if (!out.status.ok()) return out;
    out.files.push_back(file);
  }
  return out;
}

}  // namespace judder::report
