#include <algorithm>
#include <stdexcept>

#include "front/parts.hpp"
#include "judder/io/run_folder.hpp"

namespace judder {

engines::EngineOptions engine_options(const model::RunOptions& model, const RunOptions& given) {
  engines::EngineOptions out = engines::options_of(model);
  if (given.from) out.from = *given.from;
  if (given.until) out.until = *given.until;
  if (given.tolerance) out.tolerance = *given.tolerance;
  if (given.step) out.step = *given.step;
  if (given.samples) {
    out.samples = *given.samples;
    out.every = 0;
  }
  if (given.every) out.every = *given.every;
  if (given.event_rows) out.event_rows = *given.event_rows;
  out.referee = given.referee;
  return out;
}

std::string engine_name(const model::RunOptions& model, const RunOptions& given) {
  return given.engine.empty() ? model.engine : given.engine;
}

RunEvent run_event(const model::System& system, const engines::Event& event, std::span<const double> state) {
  RunEvent out;
  out.time = event.time;
  out.kind = engines::name(event.kind);
  out.where = engines::where(system, event);
  out.detail = engines::detail(system, event);
  out.state.assign(state.begin(), state.end());
  const bool jump =
      event.kind == engines::EventKind::impact || event.kind == engines::EventKind::tangential_impact;
  if (!jump) return out;
  out.normal_impulse = event.normal_impulse;
  out.energy_lost = event.energy_before - event.energy_after;
  const int components = system.relations()[static_cast<std::size_t>(event.place)].tangents;
  out.tangential_impulse.assign(event.tangential_impulse.begin(),
                                event.tangential_impulse.begin() + components);
  return out;
}

std::size_t column_number(const std::vector<std::string>& columns, std::string_view name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) throw std::out_of_range("there is no column '" + std::string(name) + "'");
  return static_cast<std::size_t>(found - columns.begin());
}

Keeper::Keeper(const model::System& system, const RunOptions& options)
    : keep_rows(options.keep_rows),
      system_(system),
      options_(options),
      width_(simulate::column_names(system).size()) {}

void Keeper::answer(Going going, double time) {
  if (going == Going::on) return;
  stop_time_ = time;
  stop_ = true;
  by_observer_ = true;
}

void Keeper::row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) {
  if (late(work.in[0])) return;
  if (!keep_rows) cells.clear();
  const std::size_t at = cells.size();
  cells.resize(at + width_);
  simulate::fill_row(system_, mode, work, cells.data() + at);
  if (samples_only && kind != engines::RowKind::sample) return;
  if (options_.on_row && !by_observer_) answer(options_.on_row(Row(cells).subspan(at)), cells[at]);
}

void Keeper::event(const engines::Event& event, std::span<const double> state) {
  if (late(event.time)) return;
  events.push_back(run_event(system_, event, state));
  if (options_.on_event && !by_observer_) answer(options_.on_event(events.back()), event.time);
}

void Keeper::progress(double) {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) stop_ = true;
}

Run Model::run(const RunOptions& options) const {
  const Chosen chosen(*this, parts(), options);
  Run run;
  run.columns_ = columns();
  run.compiled_ = chosen.compiled;
  if (chosen.system == nullptr) {
    run.status_.reason = Reason::unsupported;
    run.status_.message = chosen.problem;
    return run;
  }
  const model::System& compiled = *chosen.system;
  run.state_ = static_cast<std::size_t>(compiled.layout().integrated());
  run.words_.assign(run.columns_.size(), false);
  for (std::size_t c = 0; c < compiled.columns().size(); ++c)
    run.words_[1 + run.state_ + c] = compiled.columns()[c].mode_of >= 0;
  const std::string asked = engine_name(chosen.run, options);
  run.engine_ = simulate::engine_used(compiled, asked);
  engines::EngineOptions how = engine_options(chosen.run, options);
  Keeper keeper(compiled, options);
  how.cancel = &keeper.stop();
  how.abandon = options.cancel;
  engines::EngineResult result = simulate::run(compiled, asked, how, keeper);
  run.status_ = std::move(result.status);
  run.verdict_ = std::move(result.verdict);
  run.undecided_ties_ = result.undecided_ties;
  run.stopped_ = keeper.stopped_by_observer();
  if (run.stopped_ && run.status_.reason == Reason::interrupted) run.status_.time = keeper.stop_time();
  run.cells_ = std::move(keeper.cells);
  run.events_ = std::move(keeper.events);
  return run;
}

std::size_t Run::number(std::string_view column) const { return column_number(columns_, column); }

Row Run::row(std::size_t i) const {
  if (i >= rows()) throw std::out_of_range("the run has " + std::to_string(rows()) + " rows");
  return Row(cells_).subspan(i * columns_.size(), columns_.size());
}

std::vector<double> Run::column(std::string_view name) const {
  const std::size_t c = number(name);
  std::vector<double> out(rows());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = cells_[i * columns_.size() + c];
  return out;
}

double Run::last(std::string_view name) const {
  const std::size_t c = number(name);
  if (rows() == 0) throw std::out_of_range("the run has no rows: " + status_.message);
  return cells_[cells_.size() - columns_.size() + c];
}

io::RunData Run::data() const {
  io::RunData out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    io::Column column;
    column.name = columns_[c];
    const bool words = !words_.empty() && words_[c];
    for (std::size_t i = c; i < cells_.size(); i += columns_.size()) {
      if (words)
        column.words.emplace_back(simulate::mode_word(static_cast<int>(cells_[i])));
      else
        column.numbers.push_back(cells_[i]);
    }
    out.columns.push_back(std::move(column));
  }
  for (std::size_t c = 1; c <= state_; ++c) out.event_columns.push_back(columns_[c]);
  for (const RunEvent& event : events_) {
    io::Event told;
    told.time = event.time;
    told.kind = event.kind;
    told.where = event.where;
    told.detail = event.detail;
    told.normal_impulse = event.normal_impulse;
    std::copy(event.tangential_impulse.begin(), event.tangential_impulse.end(),
              told.tangential_impulse.begin());
    told.energy_before = event.energy_lost;
    told.state = event.state;
    out.events.push_back(std::move(told));
  }
  return out;
}

std::vector<double> Run::times(std::string_view kind, std::string_view where) const {
  bool known = false;
  for (int k = 0; k <= static_cast<int>(engines::EventKind::watch); ++k)
    known = known || kind == engines::name(static_cast<engines::EventKind>(k));
  if (!known) throw std::out_of_range("there are no events of the kind '" + std::string(kind) + "'");
  std::vector<double> out;
  for (const RunEvent& event : events_) {
    if (event.kind == kind && (where.empty() || event.where == where)) out.push_back(event.time);
  }
  return out;
}

}  // namespace judder
