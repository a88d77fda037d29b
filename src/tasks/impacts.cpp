#include "judder/tasks/impacts.hpp"

#include <algorithm>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/impacts.hpp"
#include "judder/io/json.hpp"
#include "judder/io/run_head.hpp"
#include "judder/tasks/run.hpp"

namespace judder::tasks {
namespace {

/// In the names of the columns of every sweep.
constexpr std::string_view kSweepMark = "outcome,contact,law,form,status,normal_before,";

/// The table as text, in blocks: to a file, or to whoever asked for it.
class Table {
 public:
  Table(const ImpactRequest& request, std::string header) : request_(request), waiting_(std::move(header)) {}

  io::FileStatus open() { return to_file() ? file_.open(request_.table, kSweepMark) : io::FileStatus(); }
  /// `go`: somebody will want the table.
  void add(const std::string& rows, bool go) {
    waiting_ += rows;
    constexpr std::size_t kBlock = 1 << 16;
    if (go && waiting_.size() > kBlock) hand_over();
  }
  [[nodiscard]] bool ok() const { return !to_file() || file_.status().ok(); }
  io::FileStatus finish() {
    hand_over();
    return to_file() ? file_.finish() : io::FileStatus();
  }

 private:
  [[nodiscard]] bool to_file() const { return !request_.table.empty(); }
  void hand_over() {
    if (to_file())
      file_.add(waiting_);
    else if (request_.rows)
      request_.rows(waiting_);
    waiting_.clear();
  }

  const ImpactRequest& request_;
  io::TextFile file_;
  std::string waiting_;
};

/// As many tangential columns as some slip of the model has components.
std::size_t slip_components(const model::System& system) {
  std::size_t out = 1;
  for (const model::Relation& relation : system.relations())
    out = std::max(out, static_cast<std::size_t>(relation.tangents));
  return out;
}

}  // namespace

io::LoadedModel load_impact_model(const ImpactRequest& request) {
  io::ModelRequest first = request.model;
  for (const analysis::Sweep& sweep : request.parameters) {
    model::Named named;
    named.name = sweep.name;
    named.value = model::Value(sweep.from);
    first.set.push_back(std::move(named));
  }
  return io::load_model(first);
}

SweepReport sweep_model(const ImpactRequest& request, const io::LoadedModel& first) {
  SweepReport report;
  const std::size_t components = slip_components(*first.compiled.system);
  Table table(request, io::impact_sweep_header(request.parameters, components));
  if (report.files = table.open(); !report.files.ok()) return report;

  double total = 1;
  for (const analysis::Sweep& sweep : request.parameters) total *= sweep.count;
  const auto cancelled = [&] { return request.model.cancel != nullptr && *request.model.cancel; };
  std::vector<analysis::SweepPoint> kept;
  std::string first_reason;
  bool any = false;
  double done = 0;
  const auto take = [&](const analysis::SweepPoint& point) {
    if (cancelled()) return false;
    if (done == 0) first_reason = point.impacts.reason;
    if (!point.problem.empty()) {
      report.problem = "at " + request.parameters.back().name + " = " + to_text(point.values.back(), 9) +
                       ": " + point.problem;
      return false;
    }
    done += 1;
    any = any || !point.impacts.laws.empty() || !point.impacts.sliding.empty();
    if (request.keep_points) kept.push_back(point);
    table.add(io::impact_sweep_rows(point, components), any);
    constexpr long kPointsPerLook = 256;
    if (request.progress && static_cast<long>(done) % kPointsPerLook == 0) request.progress(done, total);
    return table.ok();
  };
  report.sweep =
      analysis::sweep_impacts(first.file.spec, io::compile_options(request.model), request.parameters, take);
  report.stage = SweepStage::interrupted;
  if (cancelled()) return report;
  report.stage = SweepStage::point_invalid;
  if (!report.problem.empty()) return report;
  report.stage = SweepStage::nothing_collides;
  report.problem = first_reason;
  if (!any) return report;
  report.stage = SweepStage::files_failed;
  report.problem.clear();
  if (report.files = table.finish(); !report.files.ok()) return report;
  report.sweep.points = std::move(kept);
  report.stage = SweepStage::ended;
  return report;
}

namespace {

bool is_impact(const io::Event& event) { return event.kind == "impact" || event.kind == "tangential-impact"; }

/// Rows of one collision: one instant, the energies of the whole.
bool same_collision(const io::Event& a, const io::Event& b) {
  return a.time == b.time && a.kind == b.kind && a.energy_before == b.energy_before &&
         a.energy_after == b.energy_after;
}

/// "1 to 5, 8": the events that are impacts, the first few.
std::string impacts_among(const std::vector<io::Event>& events) {
  constexpr std::size_t kMost = 12;
  std::string out;
  std::size_t listed = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_impact(events[i])) continue;
    if (listed++ == kMost) return out + ", …";
    out += (out.empty() ? "" : ", ") + std::to_string(i + 1);
  }
  return out;
}

/// The limit from the left at an instant: of the two rows of that time the first. False: there are no such rows, or they have no state.
bool row_before(const io::RunData& run, double time, std::vector<double>& state) {
  const io::Column* const t = run.find("t");
  if (t == nullptr) return false;
  const auto [first, last] = std::equal_range(t->numbers.begin(), t->numbers.end(), time);
  if (last - first < 2) return false;
  state.clear();
  for (const std::string& name : run.event_columns) {
    const io::Column* const column = run.find(name);
    if (column == nullptr || column->numbers.size() != t->numbers.size()) return false;
    state.push_back(column->numbers[static_cast<std::size_t>(first - t->numbers.begin())]);
  }
  return true;
}

/// Contacts that were closed when the collision began: those with a phase around it, and those that have come to rest at the same instant before it.
std::vector<std::string> closed_before(const io::EarlierPart& run, const std::vector<io::Event>& events,
                                       std::size_t first) {
  const double time = events[first].time;
  std::vector<std::string> out;
  for (const io::RunSummary::Interval& interval : run.intervals) {
    if (interval.from < time && interval.to >= time) out.push_back(interval.contact);
  }
  for (std::size_t i = first; i-- > 0 && events[i].time == time;) {
    const bool closes = (events[i].kind == "impact" || events[i].kind == "contact") &&
                        events[i].detail.compare(0, 4, "rest") == 0;
    if (closes) out.push_back(events[i].where);
  }
  return out;
}

}  // namespace

MetImpact read_met_impact(const std::filesystem::path& folder, long number) {
  MetImpact out;
  const auto refuse = [&](const std::string& problem, const std::string& help = {}, bool in_files = false) {
    out.problem = problem;
    out.help = help;
    out.in_files = in_files;
    return std::move(out);
  };
  io::RunData run;
  if (const io::FileStatus status = io::read_run(folder, run); !status.ok())
    return refuse(status.text(), {}, true);
  const std::string all = impacts_among(run.events);
  const std::string listed = all.empty() ? "this run has no impact" : "impacts of this run: " + all;
  if (number < 1 || number > static_cast<long>(run.events.size()))
    return refuse(
        "there is no event " + std::to_string(number) + ": the run has " + std::to_string(run.events.size()),
        listed);
  const auto at = static_cast<std::size_t>(number - 1);
  const io::Event& event = run.events[at];
  if (!is_impact(event))
    return refuse(
        "event " + std::to_string(number) + " is no impact: " + event.kind + " of '" + event.where + "'",
        listed);
  std::size_t first = at, end = at + 1;
  while (first > 0 && same_collision(run.events[first - 1], event)) --first;
  while (end < run.events.size() && same_collision(run.events[end], event)) ++end;
  out.recorded.assign(run.events.begin() + static_cast<std::ptrdiff_t>(first),
                      run.events.begin() + static_cast<std::ptrdiff_t>(end));

  const io::EarlierPart said = io::read_earlier_part(run.run_json, kMostIntervals);
  if (said.intervals.size() >= kMostIntervals)
    return refuse("the run has too many contact phases to know which contacts were closed", {}, true);
  out.met.time = event.time;
  // Rows and events hold the state in front of an instant and behind it.
  for (std::size_t i = first; i-- > 0 && run.events[i].time == event.time;) {
    const std::string& kind = run.events[i].kind;
    if (is_impact(run.events[i]) || kind == "accumulation" || kind == "jump")
      return refuse("event " + std::to_string(number) + " follows event " + std::to_string(i + 1) +
                        " at the same instant, and the state between them is not recorded",
                    "event " + std::to_string(i + 1) + " can be looked at");
  }
  if (!row_before(run, event.time, out.met.state))
    return refuse("the folder does not hold the state before event " + std::to_string(number),
                  "run the model again with event_rows and coordinates in [output], which are the default",
                  true);
  out.met.closed = closed_before(said, run.events, first);
  for (const io::Event& struck : out.recorded) {
    if (std::find(out.met.closed.begin(), out.met.closed.end(), struck.where) == out.met.closed.end())
      out.met.struck.push_back(struck.where);
  }

  const io::RunHead head = io::read_run_head(run.run_json);
  const std::filesystem::path model = head.file;
  io::ModelFile file =
      io::read_model_text(head.model_text, (folder / "run.json").string() + ", model", model.parent_path());
  io::ModelRequest request;
  for (const model::Variant& variant : file.spec.variants) request.variants.push_back(variant.name.text);
  out.model = io::load_model(std::move(file), request);
  if (out.model.ok() &&
      out.met.state.size() != static_cast<std::size_t>(out.model.compiled.system->layout().integrated()))
    return refuse("the events of this folder have another number of coordinates than its model", {}, true);
  return out;
}

}  // namespace judder::tasks
