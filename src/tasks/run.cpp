#include "judder/tasks/run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "judder/analysis/periodic.hpp"
#include "judder/analysis/reductions.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reference_file.hpp"
#include "judder/io/run_place.hpp"
#include "judder/io/state_file.hpp"
#include "judder/simulate/curve.hpp"
#include "judder/simulate/simulate.hpp"
#include "judder/simulate/sinks.hpp"
#include "judder/tasks/sinks.hpp"
#include "tasks/run_setup.hpp"
#include "tasks/run_summary.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using io::EarlierPart;
using io::RunEnd;
using io::RunPast;
using io::RunSummary;
using io::RunWriter;
using io::StateOwner;
constexpr std::string_view kResumed = "resumed at t = ";
using Clock = std::chrono::steady_clock;

/// The names that a reference gives to modes. A file that cannot be read gives none: `verify` says what is wrong with it.
std::vector<analysis::Structure> structures_of(const fs::path& reference) {
  std::error_code error;
  if (!fs::is_regular_file(reference, error)) return {};
  return io::read_reference(reference).reference.structures;
}

/// What an engine finds wrong with a moment when it takes it up, before a folder is touched; empty: nothing.
std::string take_up_problem(const model::System& system, const engines::EngineOptions& options,
                            const std::string& engine, const engines::Moment& moment) {
  engines::EngineOptions here = options;
  here.until = moment.time;
  here.referee = false;
  simulate::NullSink nobody;
  const Status status = simulate::run(system, engine, here, nobody, &moment).status;
  return status.reason == Reason::unsupported ? status.message : std::string();
}

/// What a user can do after a write has failed.
std::string failure_text(const fs::path& folder, const RunWriter& writer, double until) {
  using Disturbed = RunWriter::Disturbed;
  const Disturbed disturbed = writer.disturbed();
  if (disturbed == Disturbed::gone) return "; the run has stopped";
  if (writer.over_earlier())
    return "; the run has stopped; the earlier one in " + folder.string() + " is as it was";
  if (const fs::path nameless = writer.nameless(); !nameless.empty())
    return "; the run has stopped, saved up to t = " + to_text(until) + " in " + nameless.string() +
           ": rename that, and --resume with its name goes on" +
           (writer.no_room() ? " once there is room" : "");
  if (!writer.committed()) return "; nothing of the run could be saved";
  const std::string saved = "; the run has stopped, saved up to t = " + to_text(until) + ": ";
  const std::string resume = "--resume " + folder.string();
  if (disturbed == Disturbed::longer)
    return saved + resume + " goes on once what is not of the run is taken out";
  if (disturbed == Disturbed::below_save)
    return saved + "what was saved of that table is lost, and " + resume + " -o another folder goes on there";
  return saved + resume + (writer.no_room() ? " goes on once there is room" : " goes on from there");
}

/// Of a run that was interrupted before it had anything to put in the place of an earlier one.
std::string earlier_kept(const fs::path& folder) {
  return "interrupted before its first save; the earlier run in " + folder.string() + " is as it was";
}

/// A moment of the same model with more or fewer watches at the end of its list; what the phase remembers belongs to the old list.
void take_watches(engines::Moment& moment, std::size_t count) {
  moment.watch_counts.resize(count);
  moment.phase = {};
  moment.scales.resize(moment.y.size());
}

/// Everything that listens to a run.
struct Sinks {
  Sinks(const model::System& system, bool coordinates, std::atomic<bool>& stop)
      : readout(system, coordinates),
        columns(readout),
        contacts(system, readout, kMostIntervals),
        events(readout, kMostEventsShown),
        folder(readout, stop) {
    using Steps = simulate::ManySinks::Steps;
    all.add(readout, Steps::leave_out);  // the others read there
    all.add(columns, Steps::leave_out);
    all.add(contacts, Steps::leave_out);
    all.add(events, Steps::leave_out);
    all.add(folder);
  }
  Sinks(const Sinks&) = delete;
  Sinks& operator=(const Sinks&) = delete;

  void name_structures(const model::System& system, std::vector<analysis::Structure> names) {
    if (names.empty()) return;
    structures.emplace(system, std::move(names), kMostEventsShown);
    all.add(*structures, simulate::ManySinks::Steps::leave_out);
  }
  void tell_progress(const RunRequest& request, const engines::EngineOptions& options) {
    if (!request.progress) return;
    progress.emplace(request.progress, options, static_cast<long>(folder.writer().events()));
    all.add(*progress);
  }
  void tell(engines::Sink* listener) {
    if (listener != nullptr) all.add(*listener);
  }
  /// What the summary tells of a part of the run.
  void look_at(double from, double to) {
    window.emplace(readout);
    window->use_window(from, to);
    all.add(*window, simulate::ManySinks::Steps::leave_out);
    contacts.use_window(from, to);
  }
  void remember(const model::System& system) {
    memory.emplace(system);
    all.add(*memory, simulate::ManySinks::Steps::leave_out);
  }

  Readout readout;
  ColumnRecord columns;
  ContactRecord contacts;
  EventRecord events;
  FolderSink folder;
  std::optional<ColumnRecord> window;
  std::optional<StructureRecord> structures;
  std::optional<ProgressSink> progress;
  std::optional<simulate::MemorySink> memory;
  simulate::ManySinks all;
};

/// A run into a folder, in the steps of run_model. Those that return false have said in the report why it ends there.
class FolderRun {
 public:
  FolderRun(const RunRequest& request, RunReport& report)
      : request_(request), report_(report), stop_(request.cancel != nullptr ? *request.cancel : own_stop_) {}

  bool load();
  bool read_state();
  bool choose_folder();
  void begin_summary();
  bool try_state();
  bool open_folder();
  bool join_earlier_part();
  void look_for_pictures();
  void set_up_sinks();
  void move();
  bool save_end();
  void estimate();

 private:
  [[nodiscard]] bool resumed() const { return !request_.resume.empty(); }
  [[nodiscard]] const model::RunOptions& used() const { return report_.model.compiled.run; }
  [[nodiscard]] const model::System& written() const { return *report_.model.compiled.system; }
  /// The one that is run.
  [[nodiscard]] const model::System& system() const { return sectioned_ ? *sectioned_ : written(); }
  [[nodiscard]] const engines::Moment* resume() const { return resumed() ? &start_ : nullptr; }
  [[nodiscard]] RunWriter& writer() { return sinks_->folder.writer(); }
  bool fail(RunStage stage, io::FileStatus files);

  [[nodiscard]] RunPast past(const engines::EngineResult& result) const;
  [[nodiscard]] bool windowed() const { return std::isfinite(report_.from) || std::isfinite(report_.to); }
  [[nodiscard]] std::vector<io::Extremes> extremes() const;
  void put_between_rows(std::vector<io::Extremes>& columns, const std::vector<io::Extremes>& before) const;
  [[nodiscard]] RunSummary summary_of(const engines::EngineResult& result);
  [[nodiscard]] std::string unfinished_json(const engines::EngineResult& so_far);
  [[nodiscard]] std::string state_of(const engines::EngineResult& so_far,
                                     const std::optional<RunEnd>& ended = std::nullopt) const;
  std::size_t save(const engines::EngineResult& so_far, bool commit);
  engines::EngineResult give_up_everything();
  void go_back();
  void say_how_it_ended();
  [[nodiscard]] simulate::CurvePoints whole_curve();
  [[nodiscard]] bool leaves_earlier();
  void finish();
  void hand_over();

  const RunRequest& request_;
  RunReport& report_;
  std::atomic<bool> own_stop_{false};
  std::atomic<bool>& stop_;

  std::optional<model::System> sectioned_;  // with the sections at which a period is looked for
  double forcing_period_ = 0;
  StateOwner owner_;
  engines::EngineOptions options_;

  // of the run that is taken up
  engines::Moment start_;
  RunPast past_;
  std::string state_text_, state_file_;
  bool in_place_ = false;  // goes on in its own folder
  bool finished_ = false;  // nothing is left to do there
  EarlierPart earlier_;
  std::vector<std::string> undefined_before_;

  std::optional<Sinks> sinks_;
  std::optional<analysis::Reducer> between_;  // extremes between rows
  std::optional<simulate::Curve> curve_;      // of pictures
  simulate::ManyObservers observers_;
  RunSummary begun_;  // as it was before the run
  Clock::time_point begin_;
  double saved_until_ = 0;
  std::optional<engines::EngineResult> kept_;  // what was saved or marked last
  engines::EngineResult result_;
};

bool FolderRun::fail(RunStage stage, io::FileStatus files) {
  report_.stage = stage;
  report_.files = std::move(files);
  return false;
}

/// The model with its options, and what a state of it is known by.
bool FolderRun::load() {
  report_.from = request_.summary_from.value_or(-INFINITY);
  report_.to = request_.summary_to.value_or(INFINITY);
  report_.periodic_asked = request_.until_periodic;
  report_.model = io::load_model(request_.model);
  if (!report_.model.ok()) return false;
  override_options(request_, report_.model);
  if (!report_.model.ok()) return false;
  if (request_.until_periodic) {
    sectioned_ = with_sections(request_, report_.model, forcing_period_);
    if (!sectioned_) return false;
  }
  report_.summary.engine = simulate::engine_used(system(), used().engine);
  owner_ = io::state_owner(report_.model, request_.model, report_.summary.engine);
  owner_.until_periodic = request_.until_periodic;
  owner_.limits = {used().until, used().tolerance, used().step, used().max_step, used().max_events};
  options_ = engines::options_of(used());
  options_.cancel = &stop_;
  options_.abandon = request_.cancel;
  options_.referee = request_.referee;
  return true;
}

/// Of the run that is to go on, and whether there is anything left of it.
bool FolderRun::read_state() {
  report_.folder = request_.output;
  if (!resumed()) return true;
  io::FileStatus status = io::read_state_file(request_.resume, written(), owner_, request_.accept_changes,
                                              state_text_, start_, past_);
  if (!status.ok()) return fail(RunStage::cannot_resume, status);
  state_file_ = status.file;
  if (sectioned_) take_watches(start_, system().watches().size());
  if (status = io::find_place(request_.resume, request_.output, in_place_); !status.ok())
    return fail(RunStage::cannot_resume, status);
  const auto refuse = [&](const std::string& why) {
    return fail(RunStage::cannot_resume, {request_.resume.string(), why, 0});
  };
  // A run that has ended is finished unless more is asked for: in its own folder it may have been killed after its last save, before it could say so.
  const bool ended = past_.ended && !past_.ended->goes_on(owner_.limits);
  const double from = used().from, until = used().until;
  finished_ = in_place_ && (ended || start_.time == until);
  if (start_.time < from || start_.time > until || (start_.time == until && !finished_)) {
    return refuse("that run has reached " + to_text(start_.time) + "; this one is to go from " +
                  to_text(from) + " to " + to_text(until) +
                  (start_.time >= until ? "; choose a later end with --until" : ""));
  }
  if (!ended) return true;
  report_.more = past_.ended->more();
  if (in_place_) return true;
  const Status& end = past_.ended->status;
  return refuse(std::string(end.ok() ? "that run is complete: " : "that run has ended: ") + name(end.reason) +
                " at t = " + to_text(end.time) + (end.where.empty() ? "" : ", " + end.where) +
                (end.message.empty() ? "" : ": " + end.message) + "; ask for " + past_.ended->more());
}

bool FolderRun::choose_folder() {
  if (!report_.folder.empty() || !request_.write) return true;
  const io::FileStatus status =
      io::choose_run_folder(request_.model, request_.resume, owner_, report_.folder);
  return status.ok() || fail(RunStage::files_failed, status);
}

/// What is known before anything moves.
void FolderRun::begin_summary() {
  RunSummary& summary = report_.summary;
  const io::LoadedModel& model = report_.model;
  summary.model = model.file.name;
  summary.title = model.compiled.title;
  summary.variants = request_.model.variants;
  summary.set = owner_.set;
  summary.parameters = model.compiled.parameters;
  summary.model_text = resolved_text(model.file.spec, request_, used());
  summary.options = used();
  if (!request_.model.impact_law.empty())
    summary.notes.push_back("impact law of every contact: " + request_.model.impact_law + ", by --law");
  if (used().engine == "auto" && summary.engine == "event")
    summary.notes.push_back("engine auto: event, since " + io::not_linear_text(model));
  if (used().engine == "auto" && summary.engine == "exact")
    summary.notes.push_back("engine auto: exact, since the model is linear between events");
}

/// Before a folder is touched.
bool FolderRun::try_state() {
  if (!resumed() || !start_.started || finished_) return true;
  const std::string problem = take_up_problem(system(), options_, used().engine, start_);
  return problem.empty() ||
         fail(RunStage::cannot_resume, {state_file_, "this is no state of a run: " + problem, 0});
}

bool FolderRun::open_folder() {
  sinks_.emplace(system(), report_.model.file.spec.output.coordinates, stop_);
  if (!request_.write) {
    sinks_->folder.keep_nothing();
    return true;
  }
  const io::FileStatus status = sinks_->folder.open(report_.folder, system(), in_place_ ? state_text_ : "");
  if (!status.ok()) return fail(RunStage::files_failed, status);
  // Under a name that nobody has chosen nothing of somebody else is replaced; it is still there.
  if (!request_.output.empty() || !writer().over_earlier()) return true;
  const std::string other = io::other_run(report_.folder, request_.model, owner_);
  return other.empty() ||
         fail(RunStage::files_failed,
              {report_.folder.string(), "holds " + other + "; choose another folder with -o", 0});
}

/// Without the first part the summary of the whole would be that of the rest.
bool FolderRun::join_earlier_part() {
  RunSummary& summary = report_.summary;
  if (in_place_) {
    std::string json;
    if (const io::FileStatus status = io::read_run_json(report_.folder, json); !status.ok())
      return fail(RunStage::files_failed, status);
    earlier_ = io::read_earlier_part(json, kMostIntervals);
    // What had not begun had no modes yet.
    if (!start_.started) earlier_.modes.clear();
    summary.curve = std::move(earlier_.curve);
    if (finished_ && earlier_.status.reason != Reason::interrupted) {
      report_.stage = RunStage::finished;
      summary.status = earlier_.status;
      summary.verdict = past_.verdict;
      report_.run_json = std::move(json);
      report_.row_count = writer().rows();
      report_.event_count = writer().events();
      return false;
    }
    // The other notes are made again, for the whole.
    for (const std::string& note : earlier_.notes) {
      if (note.rfind(kResumed, 0) == 0) summary.notes.push_back(note);
      if (note.rfind(ColumnRecord::kUndefined, 0) == 0) undefined_before_.push_back(note);
    }
  }
  if (resumed())
    summary.notes.push_back(std::string(kResumed) + to_text(start_.time) +
                            (in_place_ ? std::string() : " from " + request_.resume.string()));
  return true;
}

/// Figures and pages beside the run that is replaced: nobody else says that they do not show this one.
void FolderRun::look_for_pictures() {
  if (!request_.write || !(writer().over_earlier() || in_place_)) return;
  const std::array<std::string_view, 6> kinds{".svg", ".pdf", ".png", ".html", ".gif", ".mp4"};
  std::error_code error;
  for (std::filesystem::directory_iterator it(report_.folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string kind = it->path().extension().string();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
      report_.old_pictures.push_back(it->path().filename().string());
  }
  std::sort(report_.old_pictures.begin(), report_.old_pictures.end());
}

void FolderRun::set_up_sinks() {
  sinks_->events.use_window(report_.from, report_.to);
  if (windowed()) sinks_->look_at(report_.from, report_.to);
  Loads loads;
  loads.gains = past_.gains;
  // The rows and events of another folder stay there.
  if (in_place_) {
    loads.hardest = past_.hardest;
    loads.interval_count = past_.intervals;
    loads.intervals = earlier_.intervals;
    sinks_->columns.take_up(past_.extremes, undefined_before_);
  }
  sinks_->contacts.take_up(std::move(loads));
  sinks_->name_structures(system(), structures_of(request_.reference));
  if (sinks_->structures) sinks_->structures->use_window(report_.from, report_.to);
  sinks_->tell_progress(request_, options_);
  sinks_->tell(request_.listener);
  if (request_.estimate) sinks_->remember(system());
  if (request_.extremes_between_rows) {
    between_.emplace(system());
    between_->restart(report_.from, report_.to);
    observers_.add(*between_);
  }
  if (request_.write) observers_.add(curve_.emplace(system(), options_));
  if (between_ || curve_) options_.observer = &observers_;
  sinks_->folder.use_save(
      [this](const engines::EngineResult& so_far, bool commit) { return save(so_far, commit); });
}

void FolderRun::move() {
  saved_until_ = start_.time;
  begun_ = report_.summary;
  begin_ = Clock::now();
  result_ = sectioned_ ? analysis::run_until_periodic(system(), used().engine, options_, forcing_period_,
                                                      sinks_->all, report_.summary.periodic, {}, resume())
                       : simulate::run(system(), used().engine, options_, sinks_->all, resume());
}

/// Those between rows take the place of those of rows, which hang on where rows are. `before`: those of the part that was taken up.
void FolderRun::put_between_rows(std::vector<io::Extremes>& columns,
                                 const std::vector<io::Extremes>& before) const {
  if (!between_) return;
  const std::vector<analysis::Extreme>& found = between_->extremes();
  for (std::size_t c = 1; c < std::min(columns.size(), found.size()); ++c) {
    const analysis::Extreme& here = found[c];
    if (!std::isfinite(here.least) || !std::isfinite(here.most)) continue;
    columns[c] = before[c];
    if (here.least < columns[c].least) columns[c].least = here.least, columns[c].least_time = here.least_time;
    if (here.most > columns[c].most) columns[c].most = here.most, columns[c].most_time = here.most_time;
  }
}

/// Of the columns in the whole run, with those of the part that was taken up. Where the summary asks for a part of the run, between rows is looked there
/// only.
std::vector<io::Extremes> FolderRun::extremes() const {
  std::vector<io::Extremes> out = sinks_->columns.extremes();
  if (!windowed()) put_between_rows(out, sinks_->columns.extremes_before());
  return out;
}

/// What the run has said of itself up to here, with what was said before it was taken up.
RunPast FolderRun::past(const engines::EngineResult& result) const {
  const Loads& loads = sinks_->contacts.loads();
  RunPast out;
  out.verdict = io::joined(past_.verdict, result.verdict);
  out.reactions_not_unique = past_.reactions_not_unique || result.reactions_not_unique;
  out.uniqueness_unchecked = past_.uniqueness_unchecked || result.uniqueness_unchecked;
  out.worst_gap = std::max(past_.worst_gap, result.worst_gap);
  out.gains = loads.gains;
  out.intervals = loads.interval_count;
  out.extremes = extremes();
  out.hardest = loads.hardest;
  return out;
}

/// Of everything so far.
RunSummary FolderRun::summary_of(const engines::EngineResult& result) {
  RunSummary out = report_.summary;
  out.intervals = sinks_->contacts.loads().intervals;
  out.wall_seconds = earlier_.wall_seconds + std::chrono::duration<double>(Clock::now() - begin_).count();
  summarise(system(), result, past(result), earlier_, sinks_->folder.events(), out);
  const std::vector<std::string>& undefined = sinks_->columns.undefined();
  out.notes.insert(out.notes.end(), undefined.begin(), undefined.end());
  out.counts.emplace_back("rows", static_cast<double>(sinks_->folder.rows()));
  return out;
}

std::string FolderRun::unfinished_json(const engines::EngineResult& so_far) {
  RunSummary out = summary_of(so_far);
  out.status = {Reason::interrupted, so_far.end.time, {}, "not finished: as far as it was saved"};
  out.energy.balance = out.energy.final - out.energy.initial + out.energy.dissipated - out.energy.supplied;
  return io::run_json(out);
}

std::string FolderRun::state_of(const engines::EngineResult& so_far,
                                const std::optional<RunEnd>& ended) const {
  engines::Moment moment = so_far.end;
  if (sectioned_) take_watches(moment, written().watches().size());
  RunPast all = past(so_far);
  all.ended = ended;
  return io::state_json(written(), moment, owner_, all);
}

/// On the way. Returns the length of the texts.
std::size_t FolderRun::save(const engines::EngineResult& so_far, bool commit) {
  kept_ = so_far;
  std::string run = unfinished_json(so_far), state = state_of(so_far);
  const std::size_t length = run.size() + state.size();
  if (!commit) {
    writer().mark(so_far.end.time, std::move(run), std::move(state));
  } else {
    const std::uint64_t before = writer().commits();
    static_cast<void>(writer().commit(run, state));
    if (writer().commits() > before) saved_until_ = so_far.end.time;
  }
  return length;
}

/// Nothing of this part of the run is kept but what it began with, and that is saved.
engines::EngineResult FolderRun::give_up_everything() {
  engines::EngineResult nothing;
  nothing.end = resumed() ? start_ : io::start_moment(system(), used().from);
  if (!writer().give_up_records()) return nothing;
  saved_until_ = nothing.end.time;
  report_.summary = begun_;
  sinks_->columns.forget();
  sinks_->contacts.forget();
  static_cast<void>(writer().commit(unfinished_json(nothing), state_of(nothing)));
  return nothing;
}

/// Interrupted inside an instant: what it has written is cut off, and the run ends where it was whole.
void FolderRun::go_back() {
  Status status = result_.status;
  if (kept_) {
    result_ = std::move(*kept_);
    static_cast<void>(writer().commit_mark());
  } else {
    result_ = give_up_everything();
  }
  status.time = result_.end.time;
  result_.status = std::move(status);
  report_.summary = summary_of(result_);
  if (writer().over_earlier()) report_.summary.notes.push_back(earlier_kept(report_.folder));
}

void FolderRun::say_how_it_ended() {
  if (result_.status.reason == Reason::not_finite)
    result_.status.message += left_tables(report_.model, system(), result_.end);
  if (!result_.gave_way.ok())
    report_.summary.notes.push_back("engine auto: event from t = " + to_text(result_.gave_way.time) +
                                    " on, since " + result_.gave_way.message);
  report_.summary = summary_of(result_);
  report_.summary.curve = whole_curve();
}

/// Behind that of the part that was taken up in the same folder.
simulate::CurvePoints FolderRun::whole_curve() {
  if (!curve_) return {};
  simulate::CurvePoints here = curve_->take();
  simulate::CurvePoints out = report_.summary.curve;
  const auto end = std::lower_bound(out.times.begin(), out.times.end(), start_.time);
  out.times.erase(end, out.times.end());
  out.values.resize(out.times.size() * out.columns.size());
  if (out.times.empty() || out.columns != here.columns) return here;
  out.times.insert(out.times.end(), here.times.begin(), here.times.end());
  out.values.insert(out.values.end(), here.values.begin(), here.values.end());
  return out;
}

/// Nobody waits for a set in which nothing has moved, and the earlier run may be dear.
bool FolderRun::leaves_earlier() {
  const double begun_at = resumed() ? start_.time : used().from;
  if (result_.status.reason != Reason::interrupted || result_.end.time != begun_at) return false;
  if (!writer().over_earlier() || !writer().status().ok()) return false;
  report_.summary.notes.push_back(earlier_kept(report_.folder));
  return true;
}

/// The last commit. Where it fails, as much as there is room for is kept.
void FolderRun::finish() {
  if (leaves_earlier()) return;
  if (writer().status().ok()) {
    std::optional<RunEnd> ended;
    const Status& status = report_.summary.status;
    if (status.reason != Reason::interrupted) ended = RunEnd{status, owner_.limits};
    const std::uint64_t before = writer().commits();
    static_cast<void>(writer().finish(io::run_json(report_.summary), state_of(result_, ended)));
    if (writer().commits() > before) saved_until_ = result_.end.time;
  }
  report_.files = writer().status();
  if (report_.files.ok()) return;
  if (const std::optional<double> time = writer().commit_mark())
    saved_until_ = *time;
  else
    static_cast<void>(give_up_everything());
  report_.files.message += failure_text(report_.folder, writer(), saved_until_);
}

bool FolderRun::save_end() {
  report_.stage = RunStage::files_failed;
  // What is not written cannot be cut off: it ends where it stands.
  const bool cut = request_.write && !result_.whole && writer().status().ok();
  if (cut)
    go_back();
  else
    say_how_it_ended();
  report_.row_count = sinks_->folder.rows();
  report_.event_count = sinks_->folder.events();
  if (cut)
    report_.files = writer().status();
  else if (request_.write)
    finish();
  if (report_.files.ok()) report_.stage = RunStage::ended;
  hand_over();
  return report_.files.ok();
}

/// What the sinks have gathered, to the report.
void FolderRun::hand_over() {
  report_.events = sinks_->events.events();
  report_.events_in_window = sinks_->events.count();
  if (sinks_->structures) {
    report_.first_structure = sinks_->structures->first();
    report_.structures = sinks_->structures->names();
  }
  report_.hardest = windowed() ? sinks_->contacts.hardest_in_window() : sinks_->contacts.loads().hardest;
  report_.extremes = windowed() ? sinks_->window->extremes() : extremes();
  if (windowed()) put_between_rows(report_.extremes, sinks_->window->extremes_before());
  const std::size_t looked_at = between_ ? between_->extremes().size() : 0;
  for (std::size_t c = 1; c < std::min(report_.extremes.size(), looked_at); ++c) {
    if (!between_->followed(c)) report_.unfollowed.push_back(report_.extremes[c].name);
  }
  report_.undefined = sinks_->columns.undefined();
}

/// A second run tells how large the error is.
void FolderRun::estimate() {
  if (!request_.estimate || sectioned_ || !result_.status.ok()) return;
  engines::EngineOptions finer = options_;
  finer.observer = nullptr;
  finer.tolerance = std::max(options_.tolerance / 10, 1e-14);
  if (options_.step > 0) finer.step = options_.step / 2;
  simulate::MemorySink second(system());
  report_.second = simulate::run(system(), used().engine, finer, second, resume()).status;
  report_.difference = analysis::difference(system(), *sinks_->memory, second);
}

}  // namespace

RunReport run_model(const RunRequest& request) {
  RunReport report;
  FolderRun run(request, report);
  if (!run.load()) return report;
  if (!run.read_state()) return report;
  if (!run.choose_folder()) return report;
  run.begin_summary();
  if (!run.try_state()) return report;
  if (!run.open_folder()) return report;
  if (!run.join_earlier_part()) return report;
  run.look_for_pictures();
  run.set_up_sinks();
  run.move();
  if (!run.save_end()) return report;
  run.estimate();
  return report;
}

}  // namespace judder::tasks
