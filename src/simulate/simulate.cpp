#include "judder/simulate/simulate.hpp"

#include <algorithm>
#include <array>

#include "calls.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/registry.hpp"
#include "witness.hpp"

namespace judder::simulate {
namespace {

constexpr std::array<std::string_view, 8> kWords{"open",  "closed", "stick", "slip+",
                                                 "slip-", "slip",   "held",  "slide"};

int number_of(std::string_view word) {
  return static_cast<int>(std::find(kWords.begin(), kWords.end(), word) - kWords.begin());
}

}  // namespace

std::string_view mode_word(int number) { return kWords[static_cast<std::size_t>(number)]; }

int mode_number(const model::System& system, const engines::Mode& mode, int index) {
  const model::Relation& relation = system.relations()[index];
  if (mode.normal[index] == engines::NormalStatus::open) return number_of("open");
  bool sticks = relation.tangents > 0;
  engines::TangentStatus last = engines::TangentStatus::free;
  for (int j = 0; j < relation.tangents; ++j) {
    last = mode.tangent[relation.first_tangent + j];
    sticks = sticks && last == engines::TangentStatus::stick;
  }
  if (sticks) return number_of("stick");
  if (relation.tangents > 1) return number_of("slip");
  if (last == engines::TangentStatus::slip_plus) return number_of("slip+");
  if (last == engines::TangentStatus::slip_minus) return number_of("slip-");
  if (last == engines::TangentStatus::smooth) return number_of("slip");
  return number_of(relation.kind == model::RelationKind::constraint ? "held" : "closed");
}

std::vector<std::string> column_names(const model::System& system) {
  std::vector<std::string> names{"t"};
  for (const std::string& name : system.coordinate_names()) names.push_back(name);
  for (const std::string& name : system.coordinate_names()) names.push_back(name + "'");
  for (const std::string& name : system.state_names()) names.push_back(name);
  for (const model::ColumnInfo& column : system.columns()) names.push_back(column.name);
  return names;
}

void fill_row(const model::System& system, const engines::Mode& mode, model::Workspace& work, double* cells) {
  const model::Layout& layout = system.layout();
  const int own = 1 + layout.integrated();
  const double* in = work.in.data();
  for (int i = 0; i < own; ++i) cells[i] = in[i];
  const std::vector<model::ColumnInfo>& columns = system.columns();
  if (columns.empty()) return;
  system.column_values(work, work.output.data());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    cells[own + c] = columns[c].mode_of >= 0 ? mode_number(system, mode, columns[c].mode_of)
                                             : work.output[columns[c].value];
  }
}

MemorySink::MemorySink(const model::System& system)
    : names(column_names(system)), width(names.size()), system_(&system), plain_(system.columns().empty()) {}

void MemorySink::row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) {
  const std::size_t at = cells.size();
  if (cells.capacity() < at + width) {
    cells.reserve(std::max<std::size_t>(2 * cells.capacity(), 1024 * width));
    kinds.reserve(cells.capacity() / width);
  }
  kinds.push_back(kind);
  if (plain_) {
    const double* in = work.in.data();
    for (std::size_t i = 0; i < width; ++i) cells.push_back(in[i]);
    return;
  }
  cells.resize(at + width);
  fill_row(*system_, mode, work, cells.data() + at);
}

double* MemorySink::state_rows(std::size_t count) {
  if (!plain_) return nullptr;
  const std::size_t at = cells.size();
  cells.resize(at + count * width);
  kinds.resize(kinds.size() + count, engines::RowKind::sample);
  return cells.data() + at;
}

void MemorySink::reserve(std::size_t rows) {
  cells.reserve(rows * width);
  kinds.reserve(rows);
  constexpr std::size_t kFirstEvents = 64;
  events.reserve(kFirstEvents);
  intervals.reserve(kFirstEvents);
}

void MemorySink::clear() {
  cells.clear();
  kinds.clear();
  events.clear();
  event_states.clear();
  intervals.clear();
}

int MemorySink::column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const model::EngineWords& words : engines::engine_words()) out.push_back(words.name);
    return out;
  }();
  return names;
}

std::string engine_problem(const model::System& system, std::string_view name) {
  const engines::EngineEntry* const engine = engines::find_engine(engine_used(system, name));
  if (engine != nullptr) return engine->unsupported(system);
  std::string known;
  for (const std::string& word : engine_names()) known += (known.empty() ? "" : ", ") + word;
  return "there is no engine '" + std::string(name) + "'; there are: " + known;
}

std::string engine_used(const model::System& system, std::string_view name) {
  if (name != "auto") return std::string(name);
  const engines::EngineEntry* const best = engines::best_engine(system);
  return best == nullptr ? engines::all_engines().front().words.name : best->words.name;
}

namespace {

/// Passes everything on; what is saved on the way has the verdict so far.
class Judged final : public engines::Sink {
 public:
  Judged(engines::Sink& inner, Witness& witness) : inner_(inner), witness_(witness) {}
  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override {
    inner_.row(kind, mode, work);
  }
  double* state_rows(std::size_t count) override { return inner_.state_rows(count); }
  void event(const engines::Event& event, std::span<const double> state) override {
    inner_.event(event, state);
  }
  void interval(const engines::Interval& interval) override { inner_.interval(interval); }
  void progress(double time) override { inner_.progress(time); }
  bool wants_state() override { return inner_.wants_state(); }
  void state(const engines::EngineResult& so_far) override {
    engines::EngineResult judged = so_far;
    judged.verdict = witness_.verdict();
    inner_.state(judged);
  }

 private:
  engines::Sink& inner_;
  Witness& witness_;
};

}  // namespace

void add_earlier(const engines::EngineResult& earlier, engines::EngineResult& result) {
  result.steps += earlier.steps;
  result.rejected += earlier.rejected;
  result.evaluations += earlier.evaluations;
  result.impacts += earlier.impacts;
  result.windows += earlier.windows;
  result.undecided_ties += earlier.undecided_ties;
  result.reactions_not_unique = result.reactions_not_unique || earlier.reactions_not_unique;
  result.uniqueness_unchecked = result.uniqueness_unchecked || earlier.uniqueness_unchecked;
  result.largest_energy = std::max(result.largest_energy, earlier.largest_energy);
  result.worst_gap = std::max(result.worst_gap, earlier.worst_gap);
  // A run that is taken up carries its monitors on; where another engine has gone on they are those of the part before.
  if (result.monitors.empty()) result.monitors = earlier.monitors;
  result.start_mode = earlier.start_mode;
}

struct Legs::Parts {
  explicit Parts(const model::System& asked) : system(asked) {}
  const model::System& system;
  engines::EngineOptions options;
  std::string problem;
  std::unique_ptr<engines::Engine> engine;
  std::optional<Witness> witness;
  bool may_change = false;  ///< 'auto': where this engine cannot go on another one does
  Status gave_way;
};

Legs::Legs(const model::System& system, std::string_view name, const engines::EngineOptions& options,
           const engines::Moment* resume)
    : parts_(std::make_unique<Parts>(system)) {
  parts_->options = options;
  parts_->problem = engine_problem(system, name);
  if (parts_->problem.empty()) parts_->problem = engines::options_problem(options);
  if (parts_->problem.empty() && resume != nullptr)
    parts_->problem = engines::moment_problem(system, *resume);
  if (!parts_->problem.empty()) return;
  const std::string used = engine_used(system, name);
  parts_->engine = engines::find_engine(used)->make(system);
  parts_->may_change = name == "auto" && used != engines::all_engines().front().words.name;
  if (options.referee && engines::find_engine(used)->judged) parts_->witness.emplace(system, options, resume);
}

Legs::~Legs() = default;
Legs::Legs(Legs&&) noexcept = default;

engines::EngineResult Legs::run(const engines::EngineOptions& options, engines::Sink& sink,
                                const engines::Moment* resume) {
  std::string problem = parts_->problem;
  if (problem.empty() && resume != nullptr) problem = engines::moment_problem(parts_->system, *resume);
  if (problem.empty() && resume != nullptr && !resume->started && resume->time != options.from)
    problem = "the state that the run is to begin with is of another time than its start";
  if (!problem.empty()) {
    engines::EngineResult result;
    result.status = {Reason::unsupported, options.from, {}, problem};
    return result;
  }
  engines::EngineOptions watched = options;
  watched.observer = parts_->options.observer;
  const auto go = [&](engines::Sink& into) {
    watched.another_goes_on = parts_->may_change;
    engines::EngineResult result = parts_->engine->run(watched, into, resume);
    if (parts_->may_change && engines::engine_ends(result.status.reason)) {
      // What has been done so far stands; the rest, and the legs that follow, are done by the engine that takes every model.
      const engines::EngineResult first = std::move(result);
      parts_->gave_way = first.status;
      parts_->engine = engines::all_engines().front().make(parts_->system);
      parts_->may_change = watched.another_goes_on = false;
      result = parts_->engine->run(watched, into, &first.end);
      add_earlier(first, result);
    }
    result.gave_way = parts_->gave_way;
    return result;
  };
  return heed_calls(parts_->system, watched, sink, [&](engines::Sink& into) {
    if (!parts_->witness) return go(into);
    watched.observer = &*parts_->witness;
    Judged judged(into, *parts_->witness);
    return go(judged);
  });
}

void Legs::judge(engines::EngineResult& result) {
  if (!parts_->witness) return;
  result.verdict = parts_->witness->verdict();
  condemn(result.verdict, result.status);
}

void condemn(const Verdict& verdict, Status& status) {
  if (verdict.silent() || (!status.ok() && status.reason != Reason::interrupted)) return;
  const Finding& first = verdict.findings.front();
  status = {Reason::laws_violated, status.time, first.place, finding_text(first)};
}

engines::EngineResult run(const model::System& system, std::string_view name,
                          const engines::EngineOptions& options, engines::Sink& sink,
                          const engines::Moment* resume) {
  Legs legs(system, name, options, resume);
  engines::EngineResult result = legs.run(options, sink, resume);
  legs.judge(result);
  return result;
}

std::string finding_text(const Finding& finding) {
  return "the law '" + finding.law + "' is broken at t = " + to_text(finding.time) + ", " +
         to_text(finding.ratio, 3) + " times what is allowed" +
         (finding.count > 1 ? ", and " + std::to_string(finding.count - 1) + " times more" : std::string());
}

Result simulate(const model::System& system, const engines::EngineOptions& options, std::string_view name) {
  Result result{{}, MemorySink(system), engine_used(system, name)};
  constexpr double kMostRows = 1e6;  // beyond this the memory grows with what comes
  const double rows = options.every > 0 ? (options.until - options.from) / options.every
                                        : static_cast<double>(options.samples);
  if (rows > 0) result.data.reserve(static_cast<std::size_t>(std::min(1.1 * rows, kMostRows)) + 16);
  result.end = run(system, name, options, result.data);
  return result;
}

}  // namespace judder::simulate
