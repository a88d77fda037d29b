#include "judder/tasks/impacts.hpp"

#include <algorithm>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/io/impacts.hpp"

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

}  // namespace judder::tasks
