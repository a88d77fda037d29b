#include "judder/tasks/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "judder/analysis/attractors.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/registry.hpp"
#include "judder/io/state_file.hpp"
#include "judder/io/version.hpp"
#include "judder/io/writer.hpp"
#include "judder/tasks/run.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using analysis::Ensemble;
using analysis::Plan;
using analysis::Reducer;
using analysis::Reduction;
using Clock = std::chrono::steady_clock;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoEquations = -1;

bool asks_period(const std::vector<Reduction>& reductions) {
  return std::any_of(reductions.begin(), reductions.end(),
                     [](const Reduction& one) { return one.kind == Reduction::Kind::period; });
}

/// What all threads of a sweep read.
struct Study {
  const RunsRequest& request;
  std::vector<Reduction> reductions{};
  std::optional<Ensemble> ensemble{};
  std::optional<Ensemble> sectioned{};  ///< for periods of what does not depend on time
  bool by_rows = false;  ///< the engine has fixed steps: what is collected is read at their ends
};

const engines::EngineEntry* engine_of(const ManyRequest& request, const model::RunOptions& run) {
  return engines::find_engine(request.model.engine.empty() ? run.engine : request.model.engine);
}

/// Its rows are those of a grid of steps, and there is nothing between them.
bool steps_are_fixed(const ManyRequest& request, const model::RunOptions& run) {
  const engines::EngineEntry* const entry = engine_of(request, run);
  return entry != nullptr && !entry->judged && entry->words.name != "quasi-static";
}

/// A row for each step of the grid, and the two limits at impacts.
void ask_for_rows(engines::EngineOptions& options) {
  constexpr double kDefaultSteps = 1e4;  // of the engines (docs/stepping.md)
  if (!(options.step > 0)) options.step = (options.until - options.from) / kDefaultSteps;
  if (options.max_step > 0) options.step = std::min(options.step, options.max_step);
  options.every = options.step;
  options.event_rows = true;
}

class SweepWorker final : public MemberWorker {
 public:
  explicit SweepWorker(const Study& study) : study_(study), runner_(*study.ensemble) {
    if (study.sectioned) sections_.emplace(*study.sectioned);
  }

  bool make(std::size_t member, std::span<double> numbers, std::string& message) override {
    const Plan& plan = study_.ensemble->plan();
    std::size_t at = 0;
    if (!plan.variants().empty()) numbers[at++] = static_cast<double>(plan.variant(member));
    plan.values(member, numbers.subspan(at, plan.names().size()));
    at += plan.names().size();
    const std::span<double> collected = numbers.subspan(at, study_.reductions.size());
    double& time = numbers[numbers.size() - 2];
    double& reason = numbers[numbers.size() - 1];
    if (!runner_.take(member)) {
      reason = kNoEquations;
      message = runner_.problem();
      return true;
    }
    if (runner_.changed() || !reducer_)
      reducer_.emplace(runner_.system(), study_.reductions, study_.request.after,
                       study_.by_rows ? Reducer::From::rows : Reducer::From::steps);
    engines::EngineOptions options = member_options(study_.request.many, runner_.options());
    reducer_->restart(study_.request.after);
    if (study_.by_rows)
      ask_for_rows(options);
    else
      options.observer = &*reducer_;
    const engines::EngineResult result = runner_.engine().run(options, *reducer_);
    if (result.status.reason == Reason::interrupted) return false;
    time = result.status.time;
    reason = static_cast<double>(result.status.reason);
    message = result.status.ok() ? reducer_->unfollowed_text() : result.status.message;
    reducer_->values(collected);
    if (asks_period(study_.reductions) && !find_period(member, collected)) return false;
    return study_.request.folders.empty() || make_folder(member);
  }

 private:
  /// In a run of its own, which ends when the motion has become periodic.
  bool find_period(std::size_t member, std::span<double> collected) {
    analysis::Runner& runner = sections_ ? *sections_ : runner_;
    if (sections_ && !runner.take(member)) return true;
    if (runner.changed() || !ends_) {
      const std::optional<double> forcing = analysis::forcing_period(runner.system());
      ends_.reset();
      if (forcing) ends_.emplace(runner.system(), *forcing, std::numeric_limits<double>::infinity());
    }
    double period = kNone;
    if (ends_) {
      analysis::MotionEnd end;
      const engines::EngineOptions options = member_options(study_.request.many, runner.options());
      if (!ends_->find(runner.options().engine, options, study_.request.many.model.cancel, end)) return false;
      if (end.kind != analysis::EndKind::not_settled && end.kind != analysis::EndKind::failed)
        period = end.period;
    }
    for (std::size_t i = 0; i < study_.reductions.size(); ++i) {
      if (study_.reductions[i].kind == Reduction::Kind::period) collected[i] = period;
    }
    return true;
  }

  bool make_folder(std::size_t member) {
    const Plan& plan = study_.ensemble->plan();
    RunRequest request;
    request.model = study_.request.many.model;
    request.until = study_.request.many.until;
    request.tolerance = study_.request.many.tolerance;
    request.referee = study_.request.many.referee;
    request.output = study_.request.folders / std::to_string(member);
    if (!plan.variants().empty()) request.model.variants.push_back(plan.variants()[plan.variant(member)]);
    std::vector<double> values(plan.names().size());
    plan.values(member, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      model::Named named;
      named.name = plan.names()[i];
      named.value = model::Value(values[i]);
      request.model.set.push_back(std::move(named));
    }
    return run_model(request).summary.status.reason != Reason::interrupted;
  }

  const Study& study_;
  analysis::Runner runner_;
  std::optional<analysis::Runner> sections_;
  std::optional<Reducer> reducer_;
  std::optional<analysis::EndFinder> ends_;
};

io::MemberTable table_of(const Study& study) {
  io::MemberTable table;
  table.names = study.ensemble->plan().names();
  table.variants = study.ensemble->plan().variants();
  table.shape = study.ensemble->plan().shape();
  for (const Reduction& one : study.reductions) table.collected.push_back(one.text);
  return table;
}

/// Messages about what was asked for name it as it was written.
Diagnostics in_words(const Diagnostics& said, const std::vector<Reduction>& reductions) {
  Diagnostics out;
  for (Diagnostic each : said.all()) {
    for (const Reduction& one : reductions) {
      if (!one.column.empty() && one.column != one.expression &&
          each.where.find(one.column) != std::string::npos)
        each.where = "--collect " + one.text;
    }
    out.add(std::move(each));
  }
  return out;
}

/// The model for the members, and for their periods. False: the report says why not.
bool prepare(Study& study, RunsReport& report) {
  const RunsRequest& request = study.request;
  io::ModelFile file = io::read_model(request.many.model);
  file.spec = analysis::with_reductions(file.spec, study.reductions);
  const Clock::time_point begin = Clock::now();
  report.model = load_some_member(request.many.model, file, request.plan);
  if (report.model.compiled.system) io::check_engine(request.many.model, report.model);
  report.model.diagnostics = in_words(report.model.diagnostics, study.reductions);
  if (!report.model.ok()) return false;
  report.stage = RunsStage::misused;
  study.by_rows = steps_are_fixed(request.many, report.model.compiled.run);
  if (!study.by_rows || asks_period(study.reductions))
    report.problem = engine_problem(request.many, report.model.compiled.run);
  if (!report.problem.empty()) return false;
  report.problem = analysis::reductions_problem(*report.model.compiled.system, study.reductions);
  if (!report.problem.empty()) return false;
  const engines::EngineOptions options = member_options(request.many, report.model.compiled.run);
  report.problem = engines::options_problem(options);
  if (report.problem.empty() && request.after >= options.until)
    report.problem = "--after " + to_text(request.after) + " is not before the end of the run at " +
                     to_text(options.until);
  if (!report.problem.empty()) return false;
  const model::CompileOptions how = io::compile_options(request.many.model);
  report.stage = RunsStage::model_invalid;
  study.ensemble.emplace(report.model.file.spec, how, request.plan, report.model.diagnostics);
  if (!study.ensemble->ok()) return false;
  if (asks_period(study.reductions) && study.ensemble->system().autonomous()) {
    Diagnostics said;
    study.sectioned.emplace(analysis::with_sections(report.model.file.spec, study.ensemble->system(), 0), how,
                            request.plan, said);
    if (!study.sectioned->ok()) study.sectioned.reset();
  }
  report.compile_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return true;
}

/// Members whose runs did not end well.
void count_failures(const io::MemberFile& records, RunsReport& report) {
  const io::MemberFileHead& head = records.head();
  std::vector<double> memory;
  std::size_t member = 0;
  for (std::size_t c = 0; c < head.chunks(); ++c) {
    const std::vector<char> chunk = records.read_chunk(c);
    for (std::size_t i = 0; i < head.chunk && member < head.members && !chunk.empty(); ++i, ++member) {
      const io::MemberRecord record = io::member_record(chunk, head.numbers, i, memory);
      const double reason = record.numbers.back();
      const bool ok = reason >= 0 && Status{static_cast<Reason>(static_cast<int>(reason)), 0, {}, {}}.ok();
      if (ok && !record.message.empty() && report.doubtful++ == 0)
        report.first_doubt = "member " + std::to_string(member) + ": " + std::string(record.message);
      if (ok) continue;
      if (report.failed++ == 0)
        report.first_failure = "member " + std::to_string(member) + ", " + io::member_status(reason) +
                               (record.message.empty() ? "" : ": " + std::string(record.message));
    }
  }
}

/// The table from its records, which then go.
void write_table(const fs::path& records, const io::MemberFileHead* head, const fs::path& output,
                 RunsReport& report) {
  io::MemberFile file;
  report.stage = RunsStage::files_failed;
  report.files = file.open(records, head, false);
  if (!report.files.ok()) return;
  io::MemberTable table;
  if (!io::read_member_title(file.head().title, table) || table.numbers() != file.head().numbers) {
    report.files = {records.string(), "is no file of members of a sweep", 0};
    return;
  }
  report.members = file.head().members;
  count_failures(file, report);
  report.files = io::write_member_table(file, table, output);
  if (!report.files.ok()) return;
  static_cast<void>(file.close());
  std::error_code code;
  fs::remove(records, code);
  report.stage = RunsStage::ended;
}

}  // namespace

std::string engine_problem(const ManyRequest& request, const model::RunOptions& run) {
  const engines::EngineEntry* const entry = engine_of(request, run);
  if (entry == nullptr || entry->judged) return {};
  if (!steps_are_fixed(request, run))
    return "the engine '" + entry->words.name +
           "' goes from rest to rest and tells nothing of the motion between; many runs are made by the "
           "others";
  return "the engine '" + entry->words.name +
         "' tells nothing of what happens between its steps, where sections, periods and ends of motions are "
         "found; "
         "take --engine event, exact or auto";
}

io::LoadedModel load_some_member(const io::ModelRequest& request, const io::ModelFile& file,
                                 const Plan& plan) {
  std::optional<io::LoadedModel> first;
  std::vector<double> values(plan.names().size());
  for (const std::size_t member : plan.probes()) {
    io::ModelRequest here = request;
    if (!plan.variants().empty()) here.variants.push_back(plan.variants()[plan.variant(member)]);
    plan.values(member, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      model::Named named;
      named.name = plan.names()[i];
      named.value = model::Value(values[i]);
      here.set.push_back(std::move(named));
    }
    io::LoadedModel made = io::load_model(io::ModelFile(file), here);
    if (made.ok()) return made;
    if (!first) first = std::move(made);
    if (!file.parsed) break;
  }
  return std::move(*first);
}

engines::EngineOptions member_options(const ManyRequest& request, const model::RunOptions& run) {
  engines::EngineOptions out = engines::options_of(run);
  if (request.until) out.until = *request.until;
  if (request.tolerance) out.tolerance = *request.tolerance;
  // No rows: what is asked along the motion is heard by observers.
  out.samples = 2;
  out.every = 0;
  out.instants.clear();
  out.event_rows = false;
  out.referee = request.referee;
  out.cancel = request.model.cancel;
  out.abandon = request.model.cancel;
  return out;
}

std::string identity_of(const ManyRequest& request, const io::LoadedModel& model) {
  const io::StateOwner owner = io::state_owner(model, request.model, model.compiled.run.engine);
  std::string out = std::string(io::version()) + "\n" + io::write_model(model.file.spec);
  for (const auto& [name, check] : owner.data) out += name + " " + check + "\n";
  for (const std::string& variant : request.model.variants) out += "variant " + variant + "\n";
  for (const model::Named& named : request.model.set)
    out += "set " + named.name.text + "=" + named.value.text.text + "\n";
  out += "engine " + request.model.engine + "\n";
  for (const std::optional<double>& number : {request.until, request.tolerance})
    out += (number ? to_text(*number) : "-") + "\n";
  return out + (request.referee ? "referee" : "alone") + "\n";
}

std::string identity_of(const analysis::Plan& plan) {
  std::string out;
  for (const std::string& name : plan.names()) out += name + "\n";
  for (const std::string& variant : plan.variants()) out += variant + "\n";
  // All values of a small plan, and those of some members of a large one; with its size these tell plans apart.
  constexpr std::size_t kLooks = 4096;
  const std::size_t step = std::max<std::size_t>(plan.size() / kLooks, 1);
  std::vector<double> values(plan.names().size());
  for (std::size_t member = 0; member < plan.size(); member += step) {
    plan.values(member, values);
    for (const double value : values) out += to_text(value) + " ";
  }
  plan.values(plan.size() - 1, values);
  for (const double value : values) out += to_text(value) + " ";
  return out + std::to_string(plan.size()) + "\n";
}

fs::path records_of(const fs::path& output, std::size_t part, std::size_t parts) {
  fs::path out = output;
  out += parts > 1 ? "." + std::to_string(part) + "-of-" + std::to_string(parts) : ".members";
  return out;
}

RunsReport sweep_runs(const RunsRequest& request) {
  RunsReport report;
  Study study{.request = request};
  report.stage = RunsStage::misused;
  if (!analysis::parse_reductions(request.collect, study.reductions, report.problem)) return report;
  if (request.plan.size() == 0) {
    report.problem = "there are no members";
    return report;
  }
  if (report.problem = io::table_name_problem(request.output); !report.problem.empty()) return report;
  report.stage = RunsStage::files_failed;
  if (report.files = io::refuse_foreign_table(request.output); !report.files.ok()) return report;
  report.stage = RunsStage::model_invalid;
  if (!prepare(study, report)) return report;

  const io::MemberTable table = table_of(study);
  report.stage = RunsStage::files_failed;
  report.files = io::table_size_problem(request.output, request.plan.size(), table);
  if (!report.files.ok()) return report;
  MembersRequest members;
  members.file = report.records = records_of(request.output, request.many.part, request.many.parts);
  members.head.members = report.members = request.plan.size();
  members.head.numbers = table.numbers();
  members.head.chunk = chunk_of(request.plan.size());
  members.head.title = io::member_title(table);
  members.head.key = io::text_key(identity_of(request.many, report.model) + identity_of(request.plan) +
                                  members.head.title + to_text(request.after));
  members.threads = request.many.threads;
  members.resume = request.many.resume;
  members.part = request.many.part;
  members.parts = request.many.parts;
  members.machines = request.many.machines;
  members.cancel = request.many.model.cancel;
  members.progress = request.many.progress;
  members.worker = [&study] { return std::make_unique<SweepWorker>(study); };
  report.made = make_members(members);
  report.files = report.made.files;
  report.stage = RunsStage::files_failed;
  if (!report.files.ok()) return report;
  report.stage = RunsStage::interrupted;
  if (report.made.interrupted) return report;
  report.stage = RunsStage::part_done;
  if (request.many.parts > 1) return report;
  if (request.many.machines != nullptr && request.many.machines->rank() > 0) return report;
  write_table(report.records, &members.head, request.output, report);
  return report;
}

RunsReport join_runs(const std::vector<fs::path>& parts, const fs::path& output) {
  RunsReport report;
  report.stage = RunsStage::misused;
  if (report.problem = io::table_name_problem(output); !report.problem.empty()) return report;
  report.stage = RunsStage::files_failed;
  if (report.files = io::refuse_foreign_table(output); !report.files.ok()) return report;
  std::vector<io::MemberFile> files(parts.size());
  std::vector<std::vector<bool>> done(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    report.files = files[i].open(parts[i], i == 0 ? nullptr : &files[0].head(), false);
    if (!report.files.ok()) return report;
    done[i] = files[i].done();
  }
  const io::MemberFileHead head = files.front().head();
  report.records = records_of(output, 1, 1);
  io::MemberFile all;
  if (report.files = all.create(report.records, head, true); !report.files.ok()) return report;
  std::size_t missing = 0, first = 0;
  for (std::size_t c = 0; c < head.chunks(); ++c) {
    std::size_t from = 0;
    while (from < files.size() && !done[from][c]) ++from;
    if (from == files.size()) {
      if (missing++ == 0) first = c;
      continue;
    }
    if (report.files = all.write_chunk(c, files[from].read_chunk(c)); !report.files.ok()) return report;
  }
  if (missing > 0) {
    static_cast<void>(all.close());
    std::error_code code;
    fs::remove(report.records, code);
    report.files = {output.string(),
                    "cannot be made yet: " + std::to_string(missing) + " of " +
                        std::to_string(head.chunks()) +
                        " chunks of members are in none of the parts, the first from member " +
                        std::to_string(first * head.chunk) + " on",
                    0};
    return report;
  }
  report.files = all.close();
  if (report.files.ok()) write_table(report.records, &head, output, report);
  return report;
}

}  // namespace judder::tasks
