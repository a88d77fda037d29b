#include "judder/io/run.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "io/disk.hpp"
#include "io/manifest.hpp"
#include "judder/analysis/periodic.hpp"
#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/reference_file.hpp"
#include "judder/io/run_head.hpp"
#include "judder/io/state_file.hpp"
#include "judder/io/writer.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kResumed = "resumed at t = ";
using Clock = std::chrono::steady_clock;

/// Every contact, joint, constraint and two-sided switch with the word of its state.
std::vector<std::pair<std::string, std::string>> modes_in_words(const model::System& system,
                                                                const engines::Mode& mode) {
  std::vector<std::pair<std::string, std::string>> out;
  if (mode.normal.empty() && mode.side.empty()) return out;
  for (std::size_t r = 0; r < system.relations().size(); ++r) {
    const int number = simulate::mode_number(system, mode, static_cast<int>(r));
    out.emplace_back(system.relations()[r].name, std::string(simulate::mode_word(number)));
  }
  std::map<std::string, int> uses;
  for (std::size_t k = 0; k < system.switches().size(); ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!info.two_sided() || info.kind != expr::SwitchKind::jump) continue;
    const int use = ++uses[info.place];
    const std::string name = use == 1 ? info.place : info.place + " (" + std::to_string(use) + ")";
    out.emplace_back(name, mode.slides(k) ? "slide" : mode.side[k] > 0.5 ? info.above : info.below);
  }
  return out;
}

/// Rows and events to disk; what the summary needs is gathered on the way.
class FolderSink : public engines::Sink {
 public:
  /// `commit`: to the disk; otherwise as a mark to go back to. The length of what was written beside the tables.
  using Save = std::function<std::size_t(const engines::EngineResult& so_far, bool commit)>;

  /// `stop` is set when the folder cannot be written, `save` called from time to time.
  FolderSink(const model::System& system, const RunRequest& request, const engines::EngineOptions& options,
             RunReport& report, std::string_view go_on_from, std::atomic<bool>& stop)
      : system_(system), request_(request), options_(options), report_(report), stop_(stop), memory_(system) {
    const std::vector<std::string> names = simulate::column_names(system);
    cells_.resize(names.size());
    const auto own = static_cast<std::size_t>(1 + system.layout().integrated());
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool words = c >= own && system.columns()[c - own].mode_of >= 0;
      columns_.push_back({names[c], words});
      if (!words) report_.extremes.push_back({names[c], INFINITY, 0, -INFINITY, 0});
    }
    numbers_.reserve(names.size());
    words_.reserve(names.size());
    int slips = 1;
    for (const model::Relation& relation : system.relations()) slips = std::max(slips, relation.tangents);
    report_.files = writer_.open(report_.folder, columns_, std::min(slips, 3), go_on_from);
  }

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override {
    if (!structures_.empty() && kind != engines::RowKind::before) note_structure(kind, mode);
    simulate::fill_row(system_, mode, work, cells_.data());
    numbers_.clear();
    words_.clear();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (columns_[c].words) {
        words_.push_back(simulate::mode_word(static_cast<int>(cells_[c])));
        continue;
      }
      Extremes& extremes = report_.extremes[numbers_.size()];
      numbers_.push_back(cells_[c]);
      if (cells_[c] < extremes.least) {
        extremes.least = cells_[c];
        extremes.least_time = cells_[0];
      }
      if (cells_[c] > extremes.most) {
        extremes.most = cells_[c];
        extremes.most_time = cells_[0];
      }
    }
    writer_.row(numbers_, words_);
    stop_if_failed();
    if (request_.estimate) memory_.row(kind, mode, work);
  }

  void event(const engines::Event& event) override {
    const std::string where = engines::where(system_, event);
    const std::string detail = engines::detail(system_, event);
    if (event.energy_gain > 0) {
      if (past_.gains.count++ == 0) past_.gains.first = "'" + where + "' at t = " + to_text(event.time, 9);
      past_.gains.sum += event.energy_gain;
    }
    if (event.normal_impulse > 0) {
      const auto known = std::find_if(report_.hardest.begin(), report_.hardest.end(),
                                      [&](const auto& each) { return each.first == where; });
      if (known == report_.hardest.end())
        report_.hardest.emplace_back(where, event.normal_impulse);
      else
        known->second = std::max(known->second, event.normal_impulse);
    }
    writer_.event({event.time, engines::name(event.kind), where, detail, event.normal_impulse,
                   event.tangential_impulse, event.energy_before, event.energy_after, event.mode});
    stop_if_failed();
    if (report_.events.size() < kMostEventsShown) {
      if (!structures_.empty()) report_.structures.resize(report_.events.size() + 1);
      report_.events.push_back({event.time, engines::name(event.kind), where, detail, event.normal_impulse,
                                event.tangential_impulse, event.energy_before, event.energy_after, event.mode,
                                event.bound});
    }
    if (request_.estimate) memory_.event(event);
  }

  void interval(const engines::Interval& interval) override {
    ++past_.intervals;
    if (report_.summary.intervals.size() >= kMostIntervals) return;
    report_.summary.intervals.push_back(
        {system_.relations()[static_cast<std::size_t>(interval.relation)].name, interval.from, interval.to,
         interval.peak, interval.impulse});
  }

  void progress(double time) override {
    // Looking at the clock costs more than a step of a small model: after so many steps that some thousandths of a second have passed.
    if (--steps_ > 0) return;
    const Clock::time_point now = Clock::now();
    const bool soon = now - looked_ < std::chrono::milliseconds(4);
    looked_ = now;
    stride_ = soon ? std::min(2 * stride_, kLongestStride) : std::max(stride_ / 4, 1L);
    steps_ = stride_;
    due_ = now >= commit_at_;
    if (!request_.progress || now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const double length = options_.until - options_.from;
    request_.progress(length > 0 ? (time - options_.from) / length : 1, static_cast<long>(writer_.events()));
  }

  bool wants_state() override { return due_ || writer_.unmarked() >= mark_distance_; }
  void state(const engines::EngineResult& so_far) override {
    const Clock::time_point begin = Clock::now();
    const std::size_t texts = save_(so_far, due_);
    stop_if_failed();
    // After more rows than the texts of a mark are long, so that most of what is written are rows.
    mark_distance_ = std::max(std::min(mark_distance_ + mark_distance_ / 2, kLongestMark), 2 * texts);
    if (!std::exchange(due_, false)) return;
    const Clock::time_point end = Clock::now();
    distance_ = std::min(2 * distance_, kLongestDistance);
    // Saving takes a small share of the time, even on a slow disk, but is never put off for longer than promised.
    commit_at_ = end + std::clamp(100 * (end - begin), distance_, kLongestWait);
  }
  /// Before the run.
  void use_save(Save save) { save_ = std::move(save); }

  [[nodiscard]] RunWriter& writer() { return writer_; }
  [[nodiscard]] const simulate::MemorySink& memory() const { return memory_; }
  /// Nothing of this part of the run is kept.
  void forget(const RunPast& past, bool in_place) {
    for (Extremes& column : report_.extremes) column = {column.name, INFINITY, 0, -INFINITY, 0};
    report_.hardest.clear();
    use_past(past, in_place);
  }
  /// Before the run: what was said before it was taken up; that of its rows and events if it goes on in their folder.
  void use_past(const RunPast& past, bool in_place) {
    past_ = past;
    past_.ended.reset();
    if (!in_place) {
      past_.intervals = 0;
      return;
    }
    for (Extremes& column : report_.extremes) {
      const auto known = std::find_if(past.extremes.begin(), past.extremes.end(),
                                      [&](const Extremes& each) { return each.name == column.name; });
      if (known != past.extremes.end()) column = *known;
    }
    report_.hardest = past.hardest;
  }
  /// Everything up to here.
  [[nodiscard]] RunPast past(const engines::EngineResult& result) const {
    RunPast out = past_;
    out.verdict = joined(past_.verdict, result.verdict);
    out.reactions_not_unique = past_.reactions_not_unique || result.reactions_not_unique;
    out.uniqueness_unchecked = past_.uniqueness_unchecked || result.uniqueness_unchecked;
    out.worst_gap = std::max(past_.worst_gap, result.worst_gap);
    out.extremes = report_.extremes;
    out.hardest = report_.hardest;
    return out;
  }

  /// Names for modes; before the run.
  void use_structures(std::vector<analysis::Structure> structures) { structures_ = std::move(structures); }

 private:
  static constexpr long kLongestStride = 4096;
  static constexpr std::uint64_t kFirstMark = std::uint64_t{1} << 14U;
  static constexpr std::uint64_t kLongestMark = std::uint64_t{1} << 20U;
  static constexpr Clock::duration kFirstDistance = std::chrono::seconds(1);
  static constexpr Clock::duration kLongestDistance = std::chrono::seconds(30);
  static constexpr Clock::duration kLongestWait = std::chrono::seconds(50);

  void stop_if_failed() {
    if (!writer_.status().ok()) stop_ = true;
  }

  void note_structure(engines::RowKind kind, const engines::Mode& mode) {
    const bool start = report_.events.empty() && report_.first_structure.empty();
    const bool after =
        kind == engines::RowKind::after && !report_.structures.empty() && report_.structures.back().empty();
    if (!start && !after) return;
    const auto modes = modes_in_words(system_, mode);
    for (const analysis::Structure& structure : structures_) {
      if (!structure.fits(modes)) continue;
      (after ? report_.structures.back() : report_.first_structure) = structure.name;
      return;
    }
  }

  const model::System& system_;
  const RunRequest& request_;
  const engines::EngineOptions& options_;
  RunReport& report_;
  std::atomic<bool>& stop_;
  simulate::MemorySink memory_;
  RunWriter writer_;
  std::vector<analysis::Structure> structures_;
  std::vector<ColumnName> columns_;
  std::vector<double> cells_, numbers_;
  std::vector<std::string_view> words_;
  RunPast past_;     // before this part; gains and intervals are counted on
  long steps_ = 0;   // to the next look at the clock
  long stride_ = 1;  // from one to the next
  Clock::time_point looked_ = Clock::now();
  Clock::time_point shown_ = looked_;
  Clock::duration distance_ = kFirstDistance;
  Clock::time_point commit_at_ = looked_ + kFirstDistance;
  bool due_ = false;
  std::uint64_t mark_distance_ = kFirstMark;  // in bytes of rows and events
  Save save_;
};

/// The model as it was run: variants and settings taken into the values that they replace, so that the text alone repeats the run. What has
/// no place of its own (the start value of one member of a family) stays in a variant called `used`.
std::string resolved_text(const model::Spec& spec, const RunRequest& request, const model::RunOptions& used) {
  model::Spec out = spec;
  model::Variant rest;
  rest.name = "used";
  const auto put = [&](const model::Named& named) {
    const std::string& name = named.name.text;
    for (model::Parameter& parameter : out.parameters) {
      if (parameter.name.text == name) {
        parameter.value = named.value;
        return;
      }
    }
    for (model::Coordinate& coordinate : out.coordinates) {
      if (!coordinate.each.empty()) continue;
      if (coordinate.name.text == name) {
        coordinate.start = named.value;
        return;
      }
      if (coordinate.name.text + "'" == name) {
        coordinate.velocity = named.value;
        return;
      }
    }
    for (model::StateVariable& state : out.states) {
      if (state.each.empty() && state.name.text == name) {
        state.start = named.value;
        return;
      }
    }
    rest.values.push_back(named);
  };
  for (const std::string& wanted : request.model.variants) {
    for (const model::Variant& variant : spec.variants) {
      if (variant.name.text != wanted) continue;
      for (const model::Named& named : variant.values) put(named);
    }
  }
  for (const model::Named& named : request.model.set) put(named);
  out.variants.clear();
  if (!rest.values.empty()) out.variants.push_back(std::move(rest));
  out.run.engine = used.engine;
  if (request.until) out.run.until = *request.until;
  if (request.tolerance) out.run.tolerance = *request.tolerance;
  if (request.step) out.run.step = *request.step;
  return write_model(out);
}

/// Total energy of a moment.
double energy_of(const model::System& system, const engines::Moment& moment) {
  model::Workspace work(system);
  const model::Layout& layout = system.layout();
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  work.in[0] = moment.time;
  std::copy(moment.y.begin(), moment.y.end(), work.in.begin() + layout.q());
  std::copy(moment.mode.side.begin(), moment.mode.side.end(), work.in.begin() + layout.side());
  double kinetic = 0;
  double potential = 0;
  double total = 0;
  system.energies(work, kinetic, potential, total);
  return total;
}

double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out += x;
  return out;
}

/// Energy that impact laws created, in one line; empty: none.
std::string gains_text(const RunPast::Gains& gains) {
  if (gains.count == 0) return {};
  return "an impact law created energy in " + std::to_string(gains.count) +
         (gains.count == 1 ? " impact, " : " impacts, ") + to_text(gains.sum, 9) +
         (gains.count == 1 ? ": " : " in all, first ") + gains.first;
}

void summarise(const model::System& system, const engines::EngineResult& result, const RunPast& past,
               const EarlierPart& earlier, std::uint64_t events, RunSummary& out) {
  out.status = result.status;
  out.verdict = past.verdict;
  simulate::condemn(out.verdict, out.status);
  const bool begun = !result.start_mode.normal.empty() || !result.start_mode.side.empty();
  // Before the start nothing has decided which contacts are closed.
  out.modes.clear();
  if (begun || result.end.started)
    out.modes = modes_in_words(system, begun ? result.start_mode : result.end.mode);
  const std::map<std::string, std::string> modes(earlier.modes.begin(), earlier.modes.end());
  for (auto& [name, word] : out.modes) {
    if (const auto before = modes.find(name); before != modes.end()) word = before->second;
  }
  const auto count = [&](const char* name, long value) {
    double sum = static_cast<double>(value);
    for (const auto& [known, before] : earlier.counts) sum += known == name ? before : 0;
    out.counts.emplace_back(name, sum);
  };
  count("steps", result.steps);
  count("rejected", result.rejected);
  count("evaluations", result.evaluations);
  count("windows", result.windows);
  // Of the table that stands in the folder, as rows are: a run that goes on elsewhere begins it anew.
  out.counts.emplace_back("events", static_cast<double>(events));
  count("impacts", result.impacts);
  count("undecided_ties", result.undecided_ties);
  const double initial = result.end.initial_energy;
  const double largest = std::max(result.largest_energy, std::abs(initial));
  out.residuals.emplace_back("gap", past.worst_gap);
  out.residuals.emplace_back("energy", largest > 0 ? std::abs(result.energy_imbalance) / largest
                                                   : std::abs(result.energy_imbalance));
  if (result.end.started && !result.end.y.empty()) {
    out.energy = {initial, energy_of(system, result.end), sum(result.end.supplied),
                  sum(result.end.dissipated), result.energy_imbalance};
  }
  if (past.reactions_not_unique)
    out.notes.emplace_back(
        "some reactions were not unique (redundant contacts); those with the largest margin are shown");
  if (past.uniqueness_unchecked)
    out.notes.emplace_back("some decisions had too many candidate modes to check that the motion is unique");
  if (const std::string gains = gains_text(past.gains); !gains.empty()) out.notes.push_back(gains);
  if (past.intervals > out.intervals.size()) {
    out.notes.push_back("of " + std::to_string(past.intervals) + " intervals of contacts only the first " +
                        std::to_string(out.intervals.size()) + " are listed");
  }
}

/// Tables that a run without finite numbers has left: "the table 'F' (line 12) was asked for x = 2.5 at t = 2.1, outside 0 to 2".
std::string left_tables(const LoadedModel& model, const model::System& system, const engines::Moment& end) {
  std::string out;
  if (end.mode.side.size() != system.switches().size() || end.y.empty()) return out;
  model::Workspace work(system);
  const model::Layout& layout = system.layout();
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  work.in[0] = end.time;
  std::copy(end.y.begin(), end.y.end(), work.in.begin() + layout.q());
  std::copy(end.mode.side.begin(), end.mode.side.end(), work.in.begin() + layout.side());
  for (const model::Table& table : model.file.spec.tables) {
    if (table.x.empty() || (!table.outside.empty() && table.outside.text != "error")) continue;
    for (const model::SwitchInfo& info : system.switches()) {
      // Its levels are the knots; the last one is some rounding further out, since the end belongs to the table.
      // Those that its argument cannot come below are −∞.
      const auto same = [](double knot, double level) { return level == knot || std::isinf(level); };
      if (info.levels.size() != table.x.size() ||
          !std::equal(table.x.begin(), table.x.end() - 1, info.levels.begin(), same))
        continue;
      double x = 0;
      info.value.evaluate(work.in.data(), &x, work.registers.data());
      // The run ends where the next step would leave it.
      const double close = 1e-6 * (table.x.back() - table.x.front());
      if (x > table.x.front() + close && x < table.x.back() - close) continue;
      const int line = static_cast<int>(position(model.file.text, table.name.span.begin).line);
      out += "; the table '" + table.name.text + "' (line " + std::to_string(line) + ") holds from " +
             to_text(table.x.front()) + " to " + to_text(table.x.back()) +
             " and was left at t = " + to_text(end.time, 9) + " in " + info.place +
             ": 'outside' says what holds beyond";
      break;
    }
  }
  return out;
}

/// Takes the options of the command line into those of the model; complains as the compiler would.
void override_options(const RunRequest& request, LoadedModel& model) {
  model::RunOptions& run = model.compiled.run;
  const model::Run& written = model.file.spec.run;
  Diagnostics& out = model.diagnostics;
  // Named as the user has given them: by an option, or in the file at their place.
  const auto refuse = [&](bool option, const char* key, const model::Value& value, const std::string& problem,
                          const std::string& help = {}) {
    out.error(option ? Span{} : value.text.span, (option ? "--" : "run, ") + std::string(key), problem, help);
    model.misused = model.misused || option;
  };
  if (request.until) run.until = *request.until;
  if (request.tolerance) run.tolerance = *request.tolerance;
  if (request.step) run.step = *request.step;
  const bool until = request.until.has_value(), step = request.step.has_value();
  if (!std::isfinite(run.until)) {
    refuse(until, "until", written.until,
           until ? "the end time is not a finite number" : "the run has no end time",
           "write 'until' in [run], or give --until");
  } else if (run.until < run.from) {
    refuse(until, "until", written.until,
           "the run ends at " + to_text(run.until) + " before it begins at " + to_text(run.from));
  } else if (const std::string problem = model::length_problem(run.from, run.until); !problem.empty()) {
    refuse(until, "until", written.until, problem);
  }
  if (const std::string problem = model::tolerance_problem(run.tolerance); !problem.empty())
    refuse(request.tolerance.has_value(), "tolerance", written.tolerance, problem);
  if (step && !(run.step > 0 && std::isfinite(run.step)))
    refuse(true, "step", written.step,
           "the step is " + to_text(run.step) + "; it must be positive and finite");
  if (step || until) {
    if (const std::string problem = model::step_problem(run.step, run.from, run.until); !problem.empty())
      refuse(step || until, "step", written.step, problem);
    if (const std::string problem = model::step_problem(run.max_step, run.from, run.until); !problem.empty())
      refuse(until, "max_step", written.max_step, problem);
  }
  check_engine(request.model, model);
}

/// The names that the reference file beside the model gives to modes. A file that cannot be read gives none: `verify` says what is wrong with it.
std::vector<analysis::Structure> structures_beside(const fs::path& model) {
  const fs::path file = model.parent_path() / "reference.toml";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  return read_reference(file).reference.structures;
}

/// The model with the sections at which its period is looked for, and the period of its forces. Nothing, with a message, where time enters
/// without a period.
std::optional<model::System> with_sections(const RunRequest& request, LoadedModel& model,
                                           double& forcing_period) {
  const std::optional<double> period = analysis::forcing_period(*model.compiled.system);
  if (!period) {
    model.diagnostics.error(
        {}, "run", "what moves the system depends on time without a period that could be found",
        "ramps, tables and incommensurable frequencies never repeat; leave out --until-periodic");
    return std::nullopt;
  }
  forcing_period = *period;
  model::Compiled compiled =
      model::compile(analysis::with_sections(model.file.spec, *model.compiled.system, *period),
                     compile_options(request.model));
  if (!compiled.system) {
    model.diagnostics.error(
        {}, "run", "the model does not compile with the sections at which its period is looked for",
        compiled.diagnostics.all().empty() ? "" : compiled.diagnostics.all().front().message);
  }
  return std::move(compiled.system);
}

FileStatus read_moment(const RunRequest& request, const model::System& system, const StateOwner& owner,
                       std::string& text, engines::Moment& moment, RunPast& past) {
  FileStatus status = read_state_text(request.resume, text);
  if (!status.ok()) return status;
  status.file = (request.resume / kState).string();
  status.message = state_format_problem(text);
  if (status.ok()) status.message = damage_of(text);
  if (status.ok()) status.message = read_state(text, system, moment, owner, request.accept_changes, &past);
  if (!status.ok()) return status;
  // Events are counted through all parts of a run; those of the folder are among them.
  const std::optional<Manifest> files = read_manifest(text);
  if (files && files->events.records > static_cast<std::uint64_t>(moment.events))
    status.message = "this is no state of a run: it counts fewer events than it lists records of them";
  return status;
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

/// Whether a run goes on in the folder that it is taken from. A guess would cost what is there.
FileStatus find_place(const RunRequest& request, bool& in_place) {
  in_place = false;
  if (request.output.empty()) return {};
  if (const int error = disk::same_place(request.resume, request.output, in_place); error != 0)
    return {request.output.string(), disk::not_read(error), 0};
  bool nameless = false;
  if (const int error = disk::same_place(request.resume, hidden_folder(request.output), nameless); error != 0)
    return {request.resume.string(), disk::not_read(error), 0};
  if (!in_place && nameless)
    return {
        request.resume.string(),
        "is the run that could not get the name " + request.output.string() + ": rename it, and go on there",
        0};
  return {};
}

/// What may stand in the name of a folder: no separators, nothing that a terminal or a shell takes for a command, no leading dot.
bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (std::isalnum(byte) != 0) ||
         std::string_view("_-.+=,' ").find(c) != std::string_view::npos;
}

std::string with_check(const std::string& name, const std::string& of) {
  disk::Check check;
  check.add(of);
  return name + "-" + check.text().substr(0, 8);
}

/// One name, of a length that every file system takes. What was changed is told apart by a check of the original, and so is what could be read in
/// two ways: `parts` tells them apart then.
std::string folder_name(const std::string& wanted, const std::string& parts) {
  constexpr std::size_t kLongest = 120;
  std::string out = printable_name(wanted, wanted.size() + 1);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !plain(c); }, '_');
  if (out.empty() || out.front() == '.') out.insert(out.begin(), '_');
  if (out.size() > kLongest) {
    out.resize(kLongest);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
  }
  if (!parts.empty()) return with_check(out, parts);
  return out == wanted ? out : with_check(out, wanted);
}

/// What tells the run of a model file with its variants and settings from every other, for a check.
std::string parts_of(const RunRequest& request, const std::string& model) {
  std::string out = model;
  for (const std::string& variant : request.model.variants) out += "\n--variant\n" + variant;
  for (const model::Named& named : request.model.set)
    out += "\n--set\n" + named.name.text + "=" +
           (named.value.number ? to_text(*named.value.number) : named.value.text.text);
  return out;
}

fs::path whole_path(const fs::path& file) {
  std::error_code error;
  return fs::absolute(file, error).lexically_normal();
}

/// In words, the run in a folder if it is of another model file, or of other variants or settings; empty: it is not, or nobody can tell.
std::string other_run(const fs::path& folder, const ModelRequest& request, const StateOwner& owner) {
  std::string text;
  if (!read_run_json(folder, text).ok()) return {};
  const RunHead head = read_run_head(text);
  if (head.file.empty()) return {};
  std::error_code error;
  const bool same_file =
      whole_path(head.file) == whole_path(request.file) || fs::equivalent(head.file, request.file, error);
  // Of two settings of one name the last counts.
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : owner.set) last[name] = value;
  std::set<std::string> now;
  for (const auto& [name, value] : last) now.insert(name + "=" + value);
  if (same_file && head.variants == request.variants &&
      std::set<std::string>(head.settings.begin(), head.settings.end()) == now)
    return {};
  std::string out = "a run of " + head.file;
  for (const std::string& variant : head.variants) out += " --variant " + variant;
  for (const std::string& setting : head.settings) out += " --set " + setting;
  return out;
}

/// Where a run without -o goes. The name of one model can be that of another with a variant (press-wet.toml; press.toml --variant wet), or of
/// one of the same name elsewhere: whoever finds the folder taken by the other goes beside it, always to the same place.
fs::path folder_of(const RunRequest& request, const StateOwner& owner) {
  fs::path folder = default_run_folder(request);
  if (!request.resume.empty() || other_run(folder, request.model, owner).empty()) return folder;
  return folder.parent_path() /
         with_check(folder.filename().string(), parts_of(request, whole_path(request.model.file).string()));
}

/// A variant is named by the author of the model, not by the user: where its name is no name of a folder, the user says where the run goes.
std::string variant_problem(const RunRequest& request) {
  for (const std::string& variant : request.model.variants) {
    const bool named = !variant.empty() && variant.front() != '.' &&
                       std::all_of(variant.begin(), variant.end(), plain) &&
                       printable_name(variant, variant.size() + 1) == variant;
    if (!named)
      return "the name of the variant '" + variant +
             "' cannot be part of the name of a folder; choose one with -o";
  }
  return {};
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

/// A moment of the same model with more or fewer watches at the end of its list; what the phase remembers belongs to the old list.
void take_watches(engines::Moment& moment, std::size_t count) {
  moment.watch_counts.resize(count);
  moment.phase = {};
  moment.scales.resize(moment.y.size());
}

}  // namespace

fs::path default_run_folder(const RunRequest& request) {
  if (!request.resume.empty()) {
    fs::path folder = request.resume;
    if (!folder.has_filename()) folder = folder.parent_path();  // "runs/press/"
    folder += "-resumed";
    return folder;
  }
  std::string name = request.model.file.stem().string();
  if (name == "model") {
    std::error_code error;
    const std::string parent =
        fs::absolute(request.model.file, error).lexically_normal().parent_path().filename().string();
    if (!parent.empty()) name = parent;
  }
  // A variant with a sign in its name that stands between the parts, or in a setting, could be two of them.
  const auto unclear = [](const std::string& variant) {
    return variant.find_first_of("-=") != std::string::npos;
  };
  const bool ambiguous = std::any_of(request.model.variants.begin(), request.model.variants.end(), unclear);
  const std::string parts = ambiguous ? parts_of(request, name) : std::string();
  for (const std::string& variant : request.model.variants) name += "-" + variant;
  for (const model::Named& named : request.model.set)
    name += "-" + named.name.text + "=" +
            (named.value.number ? to_text(*named.value.number) : named.value.text.text);
  return fs::path("runs") / folder_name(name, parts);
}

RunReport run_model(const RunRequest& request) {
  RunReport report;
  report.periodic_asked = request.until_periodic;
  report.model = load_model(request.model);
  if (!report.model.ok()) return report;
  override_options(request, report.model);
  if (!report.model.ok()) return report;
  const model::System& written = *report.model.compiled.system;
  std::optional<model::System> sectioned;
  double forcing_period = 0;
  if (request.until_periodic) {
    sectioned = with_sections(request, report.model, forcing_period);
    if (!sectioned) return report;
  }
  const model::System& system = sectioned ? *sectioned : written;
  const model::RunOptions& used = report.model.compiled.run;

  const std::string engine = simulate::engine_used(system, used.engine);
  StateOwner owner = state_owner(report.model, request.model, engine);
  owner.until_periodic = request.until_periodic;
  owner.limits = {used.until, used.tolerance, used.step, used.max_step, used.max_events};
  engines::Moment start;
  RunPast past;
  std::string resumed_state;
  bool in_place = false, finished = false;
  report.folder = request.output;
  if (!request.resume.empty()) {
    report.stage = RunStage::cannot_resume;
    report.files = read_moment(request, written, owner, resumed_state, start, past);
    if (!report.files.ok()) return report;
    if (sectioned) take_watches(start, system.watches().size());
    if (report.files = find_place(request, in_place); !report.files.ok()) return report;
    report.files.file = request.resume.string();  // whatever follows is about that run
    // A run that has ended is finished unless more is asked for: in its own folder it may have been killed after its last save, before it could say so.
    const bool ended = past.ended && !past.ended->goes_on(owner.limits);
    finished = in_place && (ended || start.time == used.until);
    if (start.time < used.from || start.time > used.until || (start.time == used.until && !finished)) {
      report.files.message = "that run has reached " + to_text(start.time) + "; this one is to go from " +
                             to_text(used.from) + " to " + to_text(used.until) +
                             (start.time >= used.until ? "; choose a later end with --until" : "");
      return report;
    }
    if (ended && !in_place) {
      const Status& end = past.ended->status;
      report.files.message =
          std::string(end.ok() ? "that run is complete: " : "that run has ended: ") + name(end.reason) +
          " at t = " + to_text(end.time) + (end.where.empty() ? "" : ", " + end.where) +
          (end.message.empty() ? "" : ": " + end.message) + "; ask for " + past.ended->more();
      return report;
    }
    if (ended) report.more = past.ended->more();
  }
  report.stage = RunStage::files_failed;
  if (report.folder.empty()) {
    if (const std::string problem = variant_problem(request); !problem.empty() && request.resume.empty()) {
      report.files = {"runs", problem, 0};
      return report;
    }
    report.folder = folder_of(request, owner);
    // A link that came with somebody's files would choose where the run goes; one's own is meant when it is named.
    std::error_code error;
    const fs::path above = report.folder.parent_path();
    const fs::file_type kind =
        request.resume.empty() ? fs::symlink_status(above, error).type() : fs::file_type::directory;
    if (kind == fs::file_type::none) {
      report.files = {above.string(), disk::not_read(error.value()), 0};
      return report;
    }
    if (kind == fs::file_type::symlink) {
      report.files = {
          above.string(),
          "is a symbolic link, which is followed only if you name it: -o " + report.folder.string(), 0};
      return report;
    }
  }

  RunSummary& summary = report.summary;
  summary.model = report.model.file.name;
  summary.title = report.model.compiled.title;
  summary.variants = request.model.variants;
  summary.set = owner.set;
  summary.parameters = report.model.compiled.parameters;
  summary.model_text = resolved_text(report.model.file.spec, request, used);
  summary.options = used;
  summary.engine = engine;
  if (used.engine == "auto" && summary.engine == "event")
    summary.notes.push_back("engine auto: event, since " + not_linear_text(report.model));
  if (used.engine == "auto" && summary.engine == "exact")
    summary.notes.push_back("engine auto: exact, since the model is linear between events");

  std::atomic<bool> own_stop{false};
  std::atomic<bool>& stop = request.cancel != nullptr ? *request.cancel : own_stop;
  engines::EngineOptions options = engines::options_of(used);
  options.cancel = &stop;
  options.abandon = request.cancel;
  options.referee = request.referee;
  if (!request.resume.empty() && start.started && !finished) {
    if (std::string problem = take_up_problem(system, options, used.engine, start); !problem.empty()) {
      report.stage = RunStage::cannot_resume;
      report.files = {(request.resume / kState).string(), "this is no state of a run: " + problem, 0};
      return report;
    }
  }
  FolderSink sink(system, request, options, report, in_place ? resumed_state : std::string(), stop);
  if (!report.files.ok()) return report;
  // Under a name that nobody has chosen nothing of somebody else is replaced; it is still there.
  if (request.output.empty() && sink.writer().over_earlier()) {
    if (const std::string other = other_run(report.folder, request.model, owner); !other.empty()) {
      report.files = {report.folder.string(), "holds " + other + "; choose another folder with -o", 0};
      return report;
    }
  }
  EarlierPart earlier;
  if (in_place) {
    RunData before;
    // Without the first part the summary of the whole would be that of the rest.
    report.files = read_run_json(report.folder, before.run_json);
    if (!report.files.ok()) return report;
    earlier = read_earlier_part(before.run_json, kMostIntervals);
    // What had not begun had no modes yet.
    if (!start.started) earlier.modes.clear();
    if (finished && earlier.status.reason != Reason::interrupted) {
      report.stage = RunStage::finished;
      summary.status = earlier.status;
      summary.verdict = past.verdict;
      report.run_json = std::move(before.run_json);
      report.row_count = sink.writer().rows();
      report.event_count = sink.writer().events();
      return report;
    }
    // The other notes are made again, for the whole.
    for (const std::string& note : earlier.notes) {
      if (note.rfind(kResumed, 0) == 0) summary.notes.push_back(note);
    }
    summary.intervals = earlier.intervals;
  }
  sink.use_past(past, in_place);
  if (!request.resume.empty())
    summary.notes.push_back(std::string(kResumed) + to_text(start.time) +
                            (in_place ? std::string() : " from " + request.resume.string()));

  sink.use_structures(structures_beside(request.model.file));
  const engines::Moment* resume = request.resume.empty() ? nullptr : &start;
  const Clock::time_point begin = Clock::now();
  double saved_until = start.time;
  // The summary of everything so far; the one in the report keeps growing.
  const auto summary_of = [&](const engines::EngineResult& result) {
    RunSummary out = summary;
    out.wall_seconds = earlier.wall_seconds + std::chrono::duration<double>(Clock::now() - begin).count();
    summarise(system, result, sink.past(result), earlier, sink.writer().events(), out);
    out.counts.emplace_back("rows", static_cast<double>(sink.writer().rows()));
    return out;
  };
  const auto state_of = [&](const engines::EngineResult& so_far,
                            const std::optional<RunEnd>& ended = std::nullopt) {
    engines::Moment moment = so_far.end;
    if (sectioned) take_watches(moment, written.watches().size());
    RunPast all = sink.past(so_far);
    all.ended = ended;
    return state_json(written, moment, owner, all);
  };
  const RunSummary as_begun = summary;
  const auto unfinished = [&](const engines::EngineResult& so_far) {
    RunSummary out = summary_of(so_far);
    out.status = {Reason::interrupted, so_far.end.time, {}, "not finished: as far as it was saved"};
    out.energy.balance = out.energy.final - out.energy.initial + out.energy.dissipated - out.energy.supplied;
    return run_json(out);
  };
  std::optional<engines::EngineResult> kept;  // what was saved or marked last
  sink.use_save([&](const engines::EngineResult& so_far, bool commit) {
    kept = so_far;
    std::string run = unfinished(so_far), state = state_of(so_far);
    const std::size_t length = run.size() + state.size();
    if (!commit) {
      sink.writer().mark(so_far.end.time, std::move(run), std::move(state));
    } else {
      const std::uint64_t before = sink.writer().commits();
      static_cast<void>(sink.writer().commit(run, state));
      if (sink.writer().commits() > before) saved_until = so_far.end.time;
    }
    return length;
  });
  engines::EngineResult result =
      sectioned ? analysis::run_until_periodic(system, used.engine, options, forcing_period, sink,
                                               summary.periodic, {}, resume)
                : simulate::run(system, used.engine, options, sink, resume);
  // Interrupted inside an instant: what it has written is cut off, and the run ends where it was whole.
  if (!result.whole && sink.writer().status().ok()) {
    Status status = result.status;
    if (kept) {
      result = std::move(*kept);
      static_cast<void>(sink.writer().commit_mark());
    } else {
      result = {};
      result.end = resume != nullptr ? start : start_moment(system, used.from);
      if (sink.writer().give_up_records()) {
        summary = as_begun;
        sink.forget(past, in_place);
        static_cast<void>(sink.writer().commit(unfinished(result), state_of(result)));
      }
    }
    status.time = result.end.time;
    result.status = std::move(status);
    summary = summary_of(result);
    report.row_count = sink.writer().rows();
    report.event_count = sink.writer().events();
    report.files = sink.writer().status();
    if (report.files.ok()) report.stage = RunStage::ended;
    return report;
  }
  if (result.status.reason == Reason::not_finite)
    result.status.message += left_tables(report.model, system, result.end);
  if (!result.gave_way.ok())
    summary.notes.push_back("engine auto: event from t = " + to_text(result.gave_way.time) + " on, since " +
                            result.gave_way.message);
  summary = summary_of(result);
  report.row_count = sink.writer().rows();
  report.event_count = sink.writer().events();
  RunWriter& writer = sink.writer();
  if (const std::uint64_t before = writer.commits(); writer.status().ok()) {
    std::optional<RunEnd> ended;
    if (summary.status.reason != Reason::interrupted) ended = RunEnd{summary.status, owner.limits};
    static_cast<void>(writer.finish(run_json(summary), state_of(result, ended)));
    if (writer.commits() > before) saved_until = result.end.time;
  }
  report.files = writer.status();
  if (!report.files.ok()) {
    if (const std::optional<double> time = writer.commit_mark()) {
      saved_until = *time;
    } else if (writer.give_up_records()) {
      engines::EngineResult nothing;
      nothing.end = resume != nullptr ? start : start_moment(system, used.from);
      saved_until = nothing.end.time;
      summary = as_begun;
      sink.forget(past, in_place);
      static_cast<void>(writer.commit(unfinished(nothing), state_of(nothing)));
    }
    report.files.message += failure_text(report.folder, writer, saved_until);
    return report;
  }
  report.stage = RunStage::ended;

  if (request.estimate && !sectioned && result.status.ok()) {
    engines::EngineOptions finer = options;
    finer.tolerance = std::max(options.tolerance / 10, 1e-14);
    if (options.step > 0) finer.step = options.step / 2;
    simulate::MemorySink second(system);
    report.second = simulate::run(system, used.engine, finer, second, resume).status;
    report.difference = analysis::difference(system, sink.memory(), second);
  }
  return report;
}

}  // namespace judder::io
