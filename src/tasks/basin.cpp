#include "judder/tasks/basin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/io/files.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using analysis::Attractors;
using analysis::EndKind;
using analysis::Ensemble;
using analysis::MotionEnd;
using analysis::Plan;

constexpr std::string_view kArrayMark = "judder_labels.npy";

/// Finds where one member ends up, in one thread.
class BasinWorker final : public MemberWorker {
 public:
  BasinWorker(const BasinRequest& request, const Ensemble& ensemble, double bound)
      : request_(request), runner_(ensemble), bound_(bound) {}

  bool make(std::size_t member, std::span<double> numbers, std::string& message) override {
    MotionEnd end;
    if (!find(member, end)) return false;
    end.put(numbers);
    message = end.events;
    return true;
  }

  bool find(std::size_t member, MotionEnd& end) {
    end = {};
    if (!runner_.take(member)) {
      end.events = "no equations: " + runner_.problem();
      end.mode = -1;
      return true;
    }
    if (runner_.changed() || !finder_) {
      const std::optional<double> forcing = analysis::forcing_period(runner_.system());
      finder_.emplace(runner_.system(), forcing.value_or(0), bound_);
      period_known_ = forcing.has_value();
    }
    if (!period_known_) {
      end.events = "time enters without a period";
      end.mode = -2;
      return true;
    }
    const engines::EngineOptions options = member_options(request_.many, runner_.options());
    return finder_->find(runner_.options().engine, options, request_.many.model.cancel, end);
  }

 private:
  const BasinRequest& request_;
  analysis::Runner runner_;
  std::optional<analysis::EndFinder> finder_;
  double bound_;
  bool period_known_ = true;
};

/// Members of a list, in memory, by all threads. False: interrupted.
bool find_listed(const BasinRequest& request, const Ensemble& ensemble, double bound,
                 const std::vector<std::size_t>& members, std::vector<MotionEnd>& out, std::size_t done) {
  out.assign(members.size(), {});
  std::atomic<std::size_t> next{0}, made{0};
  std::atomic<bool> whole{true};
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads =
      request.many.threads > 0 ? static_cast<std::size_t>(request.many.threads) : cores;
  std::atomic<std::size_t> running{threads};
  std::vector<std::jthread> crew;
  for (std::size_t i = 0; i < threads; ++i) {
    crew.emplace_back([&] {
      BasinWorker worker(request, ensemble, bound);
      for (std::size_t k = next.fetch_add(1); k < members.size() && whole; k = next.fetch_add(1)) {
        if (!worker.find(members[k], out[k])) whole = false;
        ++made;
      }
      --running;
    });
  }
  while (running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (request.many.progress)
      request.many.progress(done + made, 0, std::numeric_limits<double>::quiet_NaN());
  }
  return whole;
}

/// Coarse first; only cells whose corners differ are divided. Labels are those of the grid of the finest level.
bool refine(const BasinRequest& request, const Ensemble& ensemble, double bound, Attractors& attractors,
            BasinReport& report) {
  const std::size_t rows = report.shape[0], columns = report.shape[1];
  std::vector<int>& labels = report.labels;
  std::vector<char> made(labels.size(), 0);
  std::size_t step = 1;
  while (step * 16 < std::min(rows, columns)) step *= 2;
  const auto label = [&](std::size_t r, std::size_t c) -> int& { return labels[r * columns + c]; };
  // Cells of the level, by their corners; the last ones end at the last row and column.
  const auto ends = [](std::size_t n, std::size_t s) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i + 1 < n; i += s) out.push_back(i);
    out.push_back(n - 1);
    return out;
  };
  std::vector<std::size_t> wanted;
  for (const std::size_t r : ends(rows, step)) {
    for (const std::size_t c : ends(columns, step)) wanted.push_back(r * columns + c);
  }
  std::vector<MotionEnd> found;
  for (;;) {
    if (!find_listed(request, ensemble, bound, wanted, found, report.runs_made)) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      labels[wanted[i]] = static_cast<int>(attractors.add(found[i]));
      made[wanted[i]] = 1;
    }
    report.runs_made += wanted.size();
    wanted.clear();
    const std::vector<std::size_t> down = ends(rows, step), across = ends(columns, step);
    const std::size_t half = std::max<std::size_t>(step / 2, 1);
    for (std::size_t i = 0; i + 1 < down.size(); ++i) {
      for (std::size_t j = 0; j + 1 < across.size(); ++j) {
        const std::size_t r0 = down[i], r1 = down[i + 1], c0 = across[j], c1 = across[j + 1];
        // A boundary that enters the neighbours may cut a corner of this cell as well.
        bool differs = false;
        for (std::size_t a = i > 0 ? i - 1 : 0; a <= std::min(i + 2, down.size() - 1); ++a) {
          for (std::size_t b = j > 0 ? j - 1 : 0; b <= std::min(j + 2, across.size() - 1); ++b)
            differs = differs || label(down[a], across[b]) != label(r0, c0);
        }
        for (std::size_t r = r0; r <= r1; ++r) {
          for (std::size_t c = c0; c <= c1; ++c) {
            const std::size_t cell = r * columns + c;
            if (made[cell] != 0) continue;
            if (!differs)
              labels[cell] = label(r0, c0);
            else if (step > 1 && ((r - r0) % half == 0 || r == r1) && ((c - c0) % half == 0 || c == c1))
              wanted.push_back(cell);
          }
        }
      }
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    if (step == 1) return true;
    step = half;
    // Cells of a coarser level that were alike keep the label that they have, as if they had been made.
    for (std::size_t cell = 0; cell < labels.size(); ++cell) {
      if (labels[cell] >= 0 && made[cell] == 0 && !std::binary_search(wanted.begin(), wanted.end(), cell))
        made[cell] = 2;
    }
  }
}

bool make_all(const BasinRequest& request, const Ensemble& ensemble, double bound, Attractors& attractors,
              BasinReport& report) {
  RunsReport& runs = report.runs;
  MembersRequest members;
  members.file = runs.records =
      records_of(request.output.empty() ? fs::path("basin.npz") : request.output, 1, 1);
  members.head.members = ensemble.plan().size();
  members.head.numbers = MotionEnd::size(report.components.size());
  members.head.chunk = chunk_of(ensemble.plan().size());
  members.head.title = "basin";
  members.head.key =
      io::text_key(identity_of(request.many, runs.model) + identity_of(ensemble.plan()) + to_text(bound));
  members.threads = request.many.threads;
  members.resume = request.many.resume;
  members.machines = request.many.machines;
  members.cancel = request.many.model.cancel;
  members.progress = request.many.progress;
  members.worker = [&] { return std::make_unique<BasinWorker>(request, ensemble, bound); };
  runs.made = make_members(members);
  runs.files = runs.made.files;
  runs.stage = RunsStage::files_failed;
  if (!runs.files.ok()) return false;
  runs.stage = RunsStage::interrupted;
  if (runs.made.interrupted) return false;
  runs.stage = RunsStage::part_done;
  if (request.many.machines != nullptr && request.many.machines->rank() > 0) return false;
  io::MemberFile file;
  runs.stage = RunsStage::files_failed;
  runs.files = file.open(members.file, &members.head, false);
  if (!runs.files.ok()) return false;
  std::vector<double> memory;
  std::size_t member = 0;
  for (std::size_t c = 0; c < members.head.chunks(); ++c) {
    const std::vector<char> chunk = file.read_chunk(c);
    for (std::size_t i = 0; i < members.head.chunk && member < members.head.members; ++i, ++member) {
      const io::MemberRecord record = io::member_record(chunk, members.head.numbers, i, memory);
      report.labels[member] =
          static_cast<int>(attractors.add(MotionEnd::get(record.numbers, record.message)));
    }
  }
  report.runs_made = member;
  static_cast<void>(file.close());
  return true;
}

io::FileStatus write_array(const BasinRequest& request, const BasinReport& report) {
  std::vector<double> labels(report.labels.begin(), report.labels.end());
  std::vector<std::pair<std::string, std::string>> arrays;
  arrays.emplace_back("judder_labels", io::npy(labels, report.shape));
  for (const Plan::Axis& axis : request.axes)
    arrays.emplace_back(axis.name, io::npy(axis.values, {axis.values.size()}));
  std::vector<double> shares;
  for (const analysis::Attractor& attractor : report.attractors)
    shares.push_back(static_cast<double>(attractor.members));
  arrays.emplace_back("members", io::npy(shares, {shares.size()}));
  return io::write_text_file(request.output, io::npz(arrays), kArrayMark);
}

double share_of(const BasinReport& report, const analysis::Attractor& attractor) {
  return static_cast<double>(attractor.members) /
         static_cast<double>(std::max<std::size_t>(report.labels.size(), 1));
}
double error_of(const BasinReport& report, double share) {
  return std::sqrt(share * (1 - share) / static_cast<double>(std::max<std::size_t>(report.labels.size(), 1)));
}

}  // namespace

BasinReport basin(const BasinRequest& request) {
  BasinReport report;
  RunsReport& runs = report.runs;
  runs.stage = RunsStage::misused;
  report.random = request.random > 0;
  if (!request.output.empty() && request.output.extension() != ".npz") {
    runs.problem = "the array '" + request.output.string() + "' must end in .npz";
    return report;
  }
  if (request.refine && (report.random || request.axes.size() != 2)) {
    runs.problem = "--refine divides a grid of two axes";
    return report;
  }
  runs.stage = RunsStage::files_failed;
  if (!request.output.empty()) {
    if (runs.files = io::refuse_foreign(request.output, kArrayMark); !runs.files.ok()) return report;
  }
  Plan plan =
      report.random ? Plan::random(request.axes, request.random, request.seed) : Plan::grid(request.axes);
  double largest = 0;
  for (const Plan::Axis& axis : request.axes) {
    for (const double value : axis.values) largest = std::max(largest, std::abs(value));
  }
  runs.model = load_some_member(request.many.model, io::read_model(request.many.model.file), plan);
  if (runs.model.compiled.system) io::check_engine(request.many.model, runs.model);
  runs.stage = RunsStage::model_invalid;
  if (!runs.model.ok()) return report;
  const model::System& system = *runs.model.compiled.system;
  const std::vector<std::string> names = simulate::column_names(system);
  report.components.assign(names.begin() + 1, names.begin() + 1 + system.layout().integrated());
  runs.stage = RunsStage::misused;
  const engines::EngineOptions options = member_options(request.many, runs.model.compiled.run);
  if (runs.problem = engine_problem(request.many, runs.model.compiled.run); !runs.problem.empty())
    return report;
  if (runs.problem = engines::options_problem(options); !runs.problem.empty()) return report;
  const std::optional<double> forcing = analysis::forcing_period(system);
  if (!forcing) {
    runs.problem =
        "what moves the system depends on time without a period that could be found; motions cannot settle";
    return report;
  }
  report.shape = plan.shape();
  runs.stage = RunsStage::model_invalid;
  const Ensemble ensemble(analysis::with_sections(runs.model.file.spec, system, *forcing),
                          io::compile_options(request.many.model), std::move(plan), runs.model.diagnostics);
  if (!ensemble.ok()) return report;
  constexpr double kFar = 1e6;
  const double bound = request.bound > 0 ? request.bound : kFar * std::max(1.0, largest);
  runs.members = ensemble.plan().size();
  report.labels.assign(runs.members, -1);
  Attractors attractors;
  const auto begin = std::chrono::steady_clock::now();
  if (request.refine) {
    runs.stage = RunsStage::interrupted;
    if (!refine(request, ensemble, bound, attractors, report)) return report;
  } else if (!make_all(request, ensemble, bound, attractors, report)) {
    return report;
  }
  runs.made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  runs.made.made = report.runs_made;
  report.attractors = attractors.all();
  // Shares are those of the labels, also of what was not made itself.
  for (analysis::Attractor& attractor : report.attractors) attractor.members = 0;
  for (const int label : report.labels) {
    if (label >= 0) ++report.attractors[static_cast<std::size_t>(label)].members;
  }
  for (const analysis::Attractor& attractor : report.attractors) {
    if (attractor.first.kind != EndKind::failed) continue;
    if (runs.failed == 0) runs.first_failure = attractor.first.events;
    runs.failed += attractor.members;
  }
  if (report.shape.size() == 2)
    report.boundary = analysis::boundary_of(report.labels, report.shape[0], report.shape[1]);
  runs.stage = RunsStage::files_failed;
  if (!request.output.empty()) {
    if (runs.files = write_array(request, report); !runs.files.ok()) return report;
  }
  std::error_code code;
  if (!request.refine) fs::remove(runs.records, code);
  runs.stage = RunsStage::ended;
  return report;
}

std::string basin_text(const BasinReport& report) {
  io::TextTable table({"", "motion", "period", "share", "+-", "range", "events"}, {2, 3, 4});
  const auto show = [](double value) { return to_text(value == 0 ? 0 : value, 6); };
  for (std::size_t i = 0; i < report.attractors.size(); ++i) {
    const analysis::Attractor& attractor = report.attractors[i];
    const MotionEnd& end = attractor.first;
    const double share = share_of(report, attractor);
    std::string range;
    constexpr std::size_t kMost = 4;
    const bool told =
        end.kind != EndKind::unbounded && end.kind != EndKind::not_settled && end.kind != EndKind::failed;
    for (std::size_t k = 0; told && k < std::min(kMost, report.components.size()); ++k) {
      const double least = attractor.least[k], most = attractor.most[k];
      range += (range.empty() ? "" : "; ") + report.components[k] + " " + show(least) +
               (show(least) == show(most) ? "" : " to " + show(most));
      if (k < end.drift.size() && end.drift[k] != 0) range += " drifts by " + show(end.drift[k]);
    }
    table.add({std::to_string(i + 1), std::string(name(end.kind)) + (end.set ? ", a set" : ""),
               end.period > 0 ? show(end.period) : "", to_text(share, 6), to_text(error_of(report, share), 2),
               range, end.events});
  }
  std::string out = table.text();
  if (report.shape.size() == 2 && report.attractors.size() > 1) {
    out += "\nbasin entropy " + show(report.boundary.entropy) + ", of boxes at the boundary " +
           show(report.boundary.boundary_entropy);
    if (std::isfinite(report.boundary.exponent))
      out += "; uncertainty exponent " + to_text(report.boundary.exponent, 3);
    out += "\n";
  }
  return out;
}

std::string basin_json(const BasinReport& report) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["members"] = report.labels.size();
  out["made"] = report.runs_made;
  out["seconds"] = io::json_number(report.runs.made.seconds);
  out["attractors"] = Json::array();
  for (const analysis::Attractor& attractor : report.attractors) {
    Json one;
    const double share = share_of(report, attractor);
    one["motion"] = name(attractor.first.kind);
    one["set"] = attractor.first.set;
    one["period"] = io::json_number(attractor.first.period);
    one["members"] = attractor.members;
    one["share"] = io::json_number(share);
    one["standard_error"] = io::json_number(error_of(report, share));
    one["events"] = attractor.first.events;
    Json ranges = Json::object();
    for (std::size_t k = 0; k < report.components.size() && k < attractor.least.size(); ++k)
      ranges[report.components[k]] = {io::json_number(attractor.least[k]),
                                      io::json_number(attractor.most[k])};
    one["ranges"] = std::move(ranges);
    out["attractors"].push_back(std::move(one));
  }
  if (report.shape.size() == 2) {
    out["basin_entropy"] = io::json_number(report.boundary.entropy);
    out["boundary_entropy"] = io::json_number(report.boundary.boundary_entropy);
    out["uncertainty_exponent"] = io::json_number(report.boundary.exponent);
    Json shares = Json::array();
    for (const auto& [distance, share] : report.boundary.uncertain)
      shares.push_back({{"cells", distance}, {"share", io::json_number(share)}});
    out["uncertain"] = std::move(shares);
  }
  return out.dump(2) + "\n";
}

}  // namespace judder::tasks
