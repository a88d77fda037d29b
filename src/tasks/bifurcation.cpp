#include "judder/tasks/bifurcation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/files.hpp"

namespace judder::tasks {
namespace {

/// Why a section at a place that the model does not have is none. Empty: it is there.
std::string section_problem(const model::System& system, const analysis::SectionKind& section) {
  if (section.strobe || section.where.empty()) return {};
  std::string names;
  const auto is_it = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
    return name == section.where;
  };
  for (const model::Relation& r : system.relations()) {
    if (is_it(r.name)) return {};
  }
  for (const model::WatchInfo& w : system.watches()) {
    if (is_it(w.name)) return {};
  }
  for (const model::SwitchInfo& sw : system.switches()) {
    if (is_it(sw.place)) return {};
  }
  return "--section: there is no place '" + section.where + "'" +
         (names.empty() ? "" : "; there are: " + names);
}

namespace fs = std::filesystem;
using analysis::Ensemble;
using analysis::Plan;
using analysis::SectionTaker;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// In the first lines of both tables.
constexpr std::string_view kPointsMark = ",point,t,";
constexpr std::string_view kWordsMark = ",points per period,period,events,status";

/// An end of the runs was asked for, beside that of the model.
bool ends_itself(const ManyRequest& request) { return request.until || !request.model.until.empty(); }

/// Takes the section points of a run with the values that a Runner stands at.
class DiagramRun {
 public:
  DiagramRun(const DiagramRequest& request, analysis::Runner& runner) : request_(request), runner_(runner) {}

  /// False: interrupted.
  bool make(DiagramValue& out) {
    const model::System& system = runner_.system();
    if (runner_.changed() || !taker_) {
      // Where few points are kept, some of those passed by serve to tell the period.
      constexpr std::size_t kEnough = 20;
      more_ = request_.keep < kEnough ? std::min(request_.skip, kEnough - request_.keep) : 0;
      taker_.emplace(system, request_.section, request_.skip - more_, request_.keep + more_);
      forcing_ = analysis::forcing_period(system);
      turns_ = analysis::turns(system);
      const auto n = static_cast<std::size_t>(system.layout().coordinates);
      drifts_.assign(static_cast<std::size_t>(system.layout().integrated()), false);
      for (std::size_t i = 0; i < system.cyclic().size(); ++i)
        drifts_[i < n ? i : n + i] = system.cyclic()[i];
    }
    engines::EngineOptions options = member_options(request_.many, runner_.options());
    const double forcing = out.forcing_period = forcing_.value_or(0);
    const auto wanted = static_cast<double>(request_.skip + request_.keep);
    if (!ends_itself(request_.many) && forcing > 0) {
      // Long enough for a section that is met once in ten periods; strobes know their end.
      constexpr double kPatience = 10;
      options.until = options.from + (request_.section.strobe ? wanted : kPatience * wanted) * forcing;
    }
    if (forcing > 0) options.every = forcing;
    if (request_.section.strobe && !(forcing > 0)) {
      out.ok = false;
      out.status = "nothing in the model repeats with a period: there are no strobes";
      return true;
    }
    taker_->restart(request_.many.model.cancel);
    options.cancel = &taker_->stop();
    const engines::EngineResult result = runner_.engine().run(options, *taker_);
    if (cancelled()) return false;
    out.points = taker_->points();
    const bool all = taker_->count() >= request_.keep + more_;
    out.ok = all || result.status.ok();
    out.status = all ? "done"
                     : std::string(name(result.status.reason)) +
                           (result.status.ok() ? ", only " + std::to_string(taker_->met()) + " section points"
                                               : ": " + result.status.message);
    // What steps leave of one motion may be apart by a thousand times their tolerance.
    constexpr double kErrors = 1e3, kLeast = 1e-8;
    if (out.ok) {  // a motion that has failed has no period, whatever it looked like
      out.period_points = analysis::points_per_period(
          out.points, taker_->width(), drifts_, static_cast<std::size_t>(system.layout().coordinates),
          std::max(kLeast, kErrors * options.tolerance), taker_->reach(), turns_);
    }
    if (out.period_points > 0) {
      const std::size_t last = taker_->count() - 1, first = last - out.period_points;
      out.period = out.points[last * taker_->width()] - out.points[first * taker_->width()];
      out.word = taker_->word(first, last);
    }
    const std::size_t passed = std::min(more_, taker_->count()) * taker_->width();
    out.points.erase(out.points.begin(), out.points.begin() + static_cast<std::ptrdiff_t>(passed));
    return true;
  }
  [[nodiscard]] const std::vector<double>& carried() const { return taker_->carried(); }

 private:
  [[nodiscard]] bool cancelled() const {
    return request_.many.model.cancel != nullptr && *request_.many.model.cancel;
  }
  const DiagramRequest& request_;
  analysis::Runner& runner_;
  std::optional<SectionTaker> taker_;
  std::optional<double> forcing_;
  std::size_t more_ = 0;      ///< points before those that are kept
  std::vector<bool> drifts_;  ///< by component of the state
  std::vector<double> turns_;
};

/// Record: points, then how many there are, points per period, period, whether it went well, and the period of the forces; the word and the status as text.
constexpr std::size_t kBeside = 5;
class DiagramWorker final : public MemberWorker {
 public:
  DiagramWorker(const DiagramRequest& request, const Ensemble& ensemble)
      : runner_(ensemble), run_(request, runner_) {}
  bool make(std::size_t member, std::span<double> numbers, std::string& message) override {
    DiagramValue value;
    if (!runner_.take(member)) {
      value.ok = false;
      value.status = "no equations: " + runner_.problem();
    } else if (!run_.make(value)) {
      return false;
    }
    std::copy(value.points.begin(), value.points.end(), numbers.begin());
    double* const more = &numbers[numbers.size() - kBeside];
    more[0] = static_cast<double>(value.points.size());
    more[1] = static_cast<double>(value.period_points);
    more[2] = value.period;
    more[3] = value.ok ? 1 : 0;
    more[4] = value.forcing_period;
    message = value.status == "done" ? "|" + value.word : value.status + "|" + value.word;
    return true;
  }

 private:
  analysis::Runner runner_;
  DiagramRun run_;
};

/// The names whose values a carried start needs.
std::vector<std::string> state_names(const model::System& system) {
  std::vector<std::string> out;
  for (const std::string& name : system.coordinate_names()) out.push_back(name);
  for (std::size_t i = 0; i < system.coordinate_names().size(); ++i) {
    if (!system.massless()[i]) out.push_back(system.coordinate_names()[i] + "'");
  }
  for (const std::string& name : system.state_names()) {
    if (name.find('.') == std::string::npos) out.push_back(name);
  }
  return out;
}

/// The same numbers out of q, v, z.
std::vector<double> state_values(const model::System& system, const std::vector<double>& y) {
  std::vector<double> out;
  const std::size_t n = system.coordinate_names().size();
  for (std::size_t i = 0; i < n; ++i) out.push_back(y[i]);
  for (std::size_t i = 0; i < n; ++i) {
    if (!system.massless()[i]) out.push_back(y[n + i]);
  }
  for (std::size_t i = 0; i < system.state_names().size(); ++i) {
    if (system.state_names()[i].find('.') == std::string::npos) out.push_back(y[2 * n + i]);
  }
  return out;
}

/// One direction of a carried diagram. The first value starts as the model says.
bool carry(const DiagramRequest& request, const Ensemble& fresh, const Ensemble& carried, bool down,
           std::vector<DiagramValue>& out, std::atomic<std::size_t>& made) {
  analysis::Runner first(fresh), next(carried);
  DiagramRun of_first(request, first), of_next(request, next);
  const std::size_t count = request.axis.values.size();
  std::vector<double> state;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = down ? count - 1 - i : i;
    DiagramValue value;
    value.value = request.axis.values[at];
    value.down = down;
    std::vector<double> values{value.value};
    values.insert(values.end(), state.begin(), state.end());
    const bool goes_on = !state.empty() && next.take(0, values);
    if (!goes_on && !first.take(at)) {
      value.ok = false;
      value.status = "no equations: " + first.problem();
    } else {
      DiagramRun& run = goes_on ? of_next : of_first;
      if (!run.make(value)) return false;
      if (!goes_on && i > 0) value.status += ", from the start of the model";
      if (!run.carried().empty() && value.ok)
        state = state_values((goes_on ? next : first).system(), run.carried());
    }
    out.push_back(std::move(value));
    ++made;
  }
  return true;
}

bool carry_all(const DiagramRequest& request, const Ensemble& fresh, const io::LoadedModel& model,
               DiagramReport& report) {
  // The start of each value is one more list of numbers that is left open.
  std::vector<Plan::Axis> axes{request.axis};
  const model::System& system = fresh.system();
  const model::Layout& layout = system.layout();
  const std::vector<double> start(system.start().begin() + layout.q(),
                                  system.start().begin() + layout.q() + layout.integrated());
  const std::vector<double> values = state_values(system, start);
  const std::vector<std::string> names = state_names(system);
  for (std::size_t i = 0; i < names.size(); ++i) axes.push_back({names[i], {values[i]}});
  Diagnostics said;
  const Ensemble carried(model.file.spec, io::compile_options(request.many.model),
                         Plan::grid(std::move(axes)), said);
  if (!carried.ok()) {
    report.runs.problem = "the motion cannot be carried from one value to the next: " +
                          (said.all().empty() ? std::string() : said.all().front().message);
    report.runs.stage = RunsStage::misused;
    return false;
  }
  std::vector<DiagramValue> up, down;
  std::atomic<std::size_t> made{0};
  std::atomic<int> running{0};
  bool whole_up = true, whole_down = true;
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> crew;
    const auto go = [&](bool downwards, std::vector<DiagramValue>& out, bool& whole) {
      ++running;
      crew.emplace_back([&, downwards] {
        whole = carry(request, fresh, carried, downwards, out, made);
        --running;
      });
    };
    if (request.carry != Carry::down) go(false, up, whole_up);
    if (request.carry != Carry::up) {
      if (request.many.threads == 1 && !crew.empty()) crew.front().join();
      go(true, down, whole_down);
    }
    while (running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (request.many.progress) request.many.progress(made, 0, kNone);
    }
  }
  report.runs.made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.runs.made.made = made;
  report.values = std::move(up);
  for (auto value = down.rbegin(); value != down.rend(); ++value) report.values.push_back(std::move(*value));
  report.runs.stage = RunsStage::interrupted;
  return whole_up && whole_down;
}

bool make_all(const DiagramRequest& request, const Ensemble& ensemble, DiagramReport& report) {
  const std::size_t width = report.columns.size();
  MembersRequest members;
  members.file = report.runs.records = records_of(request.output, 1, 1);
  members.head.members = request.axis.values.size();
  members.head.numbers = width * request.keep + kBeside;
  members.head.title = "bifurcation";
  members.head.key = io::text_key(
      identity_of(request.many, report.runs.model) + identity_of(ensemble.plan()) +
      to_text(request.section.strobe ? -1 : static_cast<int>(request.section.event)) + request.section.where +
      " " + std::to_string(request.skip) + " " + std::to_string(request.keep));
  members.threads = request.many.threads;
  members.resume = request.many.resume;
  members.machines = request.many.machines;
  members.cancel = request.many.model.cancel;
  members.progress = request.many.progress;
  members.worker = [&] { return std::make_unique<DiagramWorker>(request, ensemble); };
  report.runs.made = make_members(members);
  report.runs.files = report.runs.made.files;
  report.runs.stage = RunsStage::files_failed;
  if (!report.runs.files.ok()) return false;
  report.runs.stage = RunsStage::interrupted;
  if (report.runs.made.interrupted) return false;
  report.runs.stage = RunsStage::part_done;
  if (request.many.machines != nullptr && request.many.machines->rank() > 0) return false;
  io::MemberFile file;
  report.runs.stage = RunsStage::files_failed;
  report.runs.files = file.open(members.file, &members.head, false);
  if (!report.runs.files.ok()) return false;
  std::vector<double> memory;
  for (std::size_t c = 0; c < members.head.chunks(); ++c) {
    const std::vector<char> chunk = file.read_chunk(c);
    for (std::size_t i = 0; i < members.head.chunk && report.values.size() < members.head.members; ++i) {
      const io::MemberRecord record = io::member_record(chunk, members.head.numbers, i, memory);
      DiagramValue value;
      value.value = request.axis.values[report.values.size()];
      const double* const more = &record.numbers[record.numbers.size() - kBeside];
      value.points.assign(
          record.numbers.begin(),
          record.numbers.begin() + static_cast<std::ptrdiff_t>(
                                       std::clamp(more[0], 0.0, static_cast<double>(width * request.keep))));
      value.period_points = static_cast<std::size_t>(std::max(more[1], 0.0));
      value.period = more[2];
      value.ok = more[3] == 1;
      value.forcing_period = more[4];
      const std::size_t bar = std::min(record.message.find('|'), record.message.size());
      value.status = bar == 0 ? "done" : std::string(record.message.substr(0, bar));
      if (bar < record.message.size()) value.word = record.message.substr(bar + 1);
      report.values.push_back(std::move(value));
    }
  }
  return true;
}

io::FileStatus write_tables(const DiagramRequest& request, DiagramReport& report) {
  io::TextFile points, words;
  if (const io::FileStatus status = points.open(request.output, kPointsMark); !status.ok()) return status;
  const fs::path beside = words_file(request.output);
  if (const io::FileStatus status = words.open(beside, kWordsMark); !status.ok()) return status;
  std::string block, line;
  io::CsvWriter csv(block), of_words(line);
  csv.text(request.axis.name).text("direction").text("point");
  for (const std::string& column : report.columns) csv.text(column);
  csv.end_record();
  of_words.text(request.axis.name)
      .text("direction")
      .text("points per period")
      .text("period")
      .text("events")
      .text("status")
      .end_record();
  const std::size_t width = report.columns.size();
  for (const DiagramValue& value : report.values) {
    const char* const direction = request.carry == Carry::no ? "" : value.down ? "down" : "up";
    for (std::size_t k = 0; (k + 1) * width <= value.points.size(); ++k) {
      csv.number(value.value).text(direction).number(static_cast<double>(k));
      for (std::size_t i = 0; i < width; ++i) csv.number(value.points[k * width + i]);
      csv.end_record();
    }
    of_words.number(value.value).text(direction).number(static_cast<double>(value.period_points));
    of_words.number(value.period).text(value.word).text(value.status).end_record();
    points.add(block);
    words.add(line);
    block.clear();
    line.clear();
  }
  points.add(block);
  words.add(line);
  for (io::TextFile* file : {&points, &words}) {
    if (const io::FileStatus status = file->finish(); !status.ok()) return status;
  }
  report.files = {request.output, beside};
  return {request.output.string(), {}, 0};
}

}  // namespace

std::string shown_column(const DiagramReport& report, const analysis::SectionKind& section) {
  const auto velocity = std::find_if(report.columns.begin(), report.columns.end(),
                                     [](const std::string& name) { return name.back() == '\''; });
  const bool impact = !section.strobe && section.event == engines::EventKind::impact;
  return impact && velocity != report.columns.end() ? *velocity : report.columns[1];
}

std::string diagram_text(const DiagramReport& report, const std::string& parameter) {
  const auto alike = [](const DiagramValue& one, const DiagramValue& other) {
    return one.period_points == other.period_points && one.word == other.word && one.down == other.down &&
           one.points.empty() == other.points.empty();
  };
  const auto found = [](const DiagramValue& value) -> std::string {
    if (value.points.empty()) return "no section points";
    if (value.period_points == 0) return "no period";
    return std::to_string(value.period_points) + (value.period_points == 1 ? " point" : " points") +
           " per period" + (value.word.empty() ? "" : " (" + value.word + ")");
  };
  std::string out;
  constexpr std::size_t kMostLines = 40;
  std::size_t lines = 0;
  const std::vector<DiagramValue>& values = report.values;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t j = i;
    while (j + 1 < values.size() && alike(values[j + 1], values[i])) ++j;
    if (++lines <= kMostLines) {
      out += parameter + " = " + to_text(values[i].value, 9) +
             (j > i ? " to " + to_text(values[j].value, 9) : "") + (values[i].down ? ", downwards" : "") +
             ": " + found(values[i]) + "\n";
    }
    i = j + 1;
  }
  if (lines > kMostLines) out += "… and " + std::to_string(lines - kMostLines) + " more ranges\n";
  return out;
}

DiagramPoints diagram_points(const DiagramReport& report, const std::string& shown, bool down) {
  DiagramPoints out;
  const bool phase = shown == kPhase;  // of the period that the forces have at this value
  const auto column = static_cast<std::size_t>(
      std::find(report.columns.begin(), report.columns.end(), shown) - report.columns.begin());
  const std::size_t width = report.columns.size();
  if (!phase && column == width) return out;
  for (const DiagramValue& value : report.values) {
    if (value.down != down) continue;
    for (std::size_t k = 0; (k + 1) * width <= value.points.size(); ++k) {
      out.x.push_back(value.value);
      const double turns = value.points[k * width] / value.forcing_period;
      out.y.push_back(phase ? turns - std::floor(turns) : value.points[k * width + column]);
    }
  }
  return out;
}

fs::path words_file(const fs::path& table) {
  return table.parent_path() / (table.stem().string() + "-words" + table.extension().string());
}

DiagramReport bifurcation(const DiagramRequest& request) {
  DiagramReport report;
  RunsReport& runs = report.runs;
  runs.stage = RunsStage::misused;
  if (request.output.extension() != ".csv") {
    runs.problem = "the table '" + request.output.string() + "' must end in .csv";
    return report;
  }
  runs.stage = RunsStage::files_failed;
  if (runs.files = io::refuse_foreign(request.output, kPointsMark); !runs.files.ok()) return report;
  if (runs.files = io::refuse_foreign(words_file(request.output), kWordsMark); !runs.files.ok())
    return report;
  runs.model = load_some_member(request.many.model, io::read_model(request.many.model.file),
                                Plan::grid({request.axis}));
  runs.stage = RunsStage::model_invalid;
  if (runs.model.compiled.system) io::check_engine(request.many.model, runs.model);
  if (!runs.model.ok()) return report;
  const model::System& system = *runs.model.compiled.system;
  const std::vector<std::string> names = simulate::column_names(system);
  report.columns.assign(names.begin(), names.begin() + 1 + system.layout().integrated());
  runs.stage = RunsStage::misused;
  runs.problem = engine_problem(request.many, runs.model.compiled.run);
  if (runs.problem.empty()) runs.problem = section_problem(system, request.section);
  if (!runs.problem.empty()) return report;
  Diagnostics& said = runs.model.diagnostics;
  const Ensemble ensemble(runs.model.file.spec, io::compile_options(request.many.model),
                          Plan::grid({request.axis}), said);
  runs.stage = RunsStage::model_invalid;
  if (!ensemble.ok()) return report;
  // The first value that is looked at may be one without a force: an amplitude or a frequency of zero.
  report.forcing_period = analysis::forcing_period(system).value_or(0);
  analysis::Runner runner(ensemble);
  for (const std::size_t member : ensemble.plan().probes()) {
    if (report.forcing_period > 0) break;
    if (runner.take(member)) report.forcing_period = analysis::forcing_period(runner.system()).value_or(0);
  }
  runs.stage = RunsStage::misused;
  if (request.section.strobe && !(report.forcing_period > 0)) {
    runs.problem =
        "nothing in the model repeats with a period: there are no strobes; take --section impact:NAME or "
        "watch:NAME";
    return report;
  }
  const engines::EngineOptions options = member_options(request.many, runs.model.compiled.run);
  const bool endless = !ends_itself(request.many) && report.forcing_period > 0;
  if (runs.problem = endless ? std::string() : engines::options_problem(options); !runs.problem.empty())
    return report;
  const bool made = request.carry == Carry::no ? make_all(request, ensemble, report)
                                               : carry_all(request, ensemble, runs.model, report);
  if (!made) return report;
  runs.members = report.values.size();
  for (const DiagramValue& value : report.values) {
    if (value.ok) continue;
    if (runs.failed++ == 0)
      runs.first_failure = request.axis.name + " = " + to_text(value.value, 9) + ": " + value.status;
  }
  runs.stage = RunsStage::files_failed;
  runs.files = write_tables(request, report);
  if (!runs.files.ok()) return report;
  std::error_code code;
  if (request.carry == Carry::no) fs::remove(runs.records, code);
  runs.stage = RunsStage::ended;
  return report;
}

}  // namespace judder::tasks
