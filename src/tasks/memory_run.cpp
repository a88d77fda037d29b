#include "judder/tasks/memory_run.hpp"

#include <algorithm>
#include <chrono>

#include "judder/core/number.hpp"
#include "judder/simulate/curve.hpp"
#include "judder/simulate/simulate.hpp"
#include "judder/simulate/sinks.hpp"
#include "judder/tasks/sinks.hpp"
#include "tasks/run_setup.hpp"
#include "tasks/run_summary.hpp"

namespace judder::tasks {
namespace {

/// Rows by columns, as they are read from a folder.
class TableSink final : public simulate::NullSink {
 public:
  /// `expected`: about how many rows will come.
  TableSink(const Readout& readout, std::vector<io::Column>& columns, std::size_t expected)
      : readout_(readout), columns_(columns) {
    for (const io::ColumnName& column : readout.columns()) {
      columns_.push_back({column.name, {}, {}});
      if (!column.words) columns_.back().numbers.reserve(expected);
    }
  }
  void row(engines::RowKind, const engines::Mode&, model::Workspace&) override {
    std::size_t number = 0, word = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (readout_.columns()[c].words)
        columns_[c].words.emplace_back(readout_.words()[word++]);
      else
        columns_[c].numbers.push_back(readout_.numbers()[number++]);
    }
  }
  void event(const engines::Event&, std::span<const double>) override { ++events_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::size_t rows() const { return columns_.front().size(); }

 private:
  const Readout& readout_;
  std::vector<io::Column>& columns_;
  std::uint64_t events_ = 0;
};

}  // namespace

MemoryRun run_in_memory(const MemoryRunRequest& request, io::LoadedModel& model) {
  MemoryRun out;
  RunRequest asked;
  asked.model = request.model;
  asked.until = request.until;
  override_options(asked, model);
  if (!model.ok()) return out;
  const model::System& system = *model.compiled.system;
  const model::RunOptions& used = model.compiled.run;
  engines::EngineOptions options = engines::options_of(used);
  options.cancel = request.cancel;
  options.abandon = request.cancel;
  options.referee = request.referee;

  Readout readout(system, request.coordinates || model.file.spec.output.coordinates);
  constexpr long kMostExpected = 100'000;
  const auto expected = static_cast<std::size_t>(std::clamp(options.samples, 0L, kMostExpected) + 256);
  TableSink table(readout, out.data.columns, expected);
  ContactRecord contacts(system, readout, kMostIntervals);
  EventRecord events(readout, request.most_events);
  ColumnRecord columns(readout);
  simulate::ManySinks all;
  using Steps = simulate::ManySinks::Steps;
  all.add(readout, Steps::leave_out);  // the others read there
  all.add(table, Steps::leave_out);
  all.add(contacts, Steps::leave_out);
  all.add(events, Steps::leave_out);
  all.add(columns, Steps::leave_out);
  std::optional<ProgressSink> progress;
  if (request.progress) all.add(progress.emplace(request.progress, options));

  io::RunSummary& summary = out.summary;
  summary.model = model.file.name;
  summary.title = model.compiled.title;
  summary.variants = request.model.variants;
  summary.parameters = model.compiled.parameters;
  summary.options = used;
  summary.engine = simulate::engine_used(system, used.engine);
  std::optional<simulate::Curve> curve;
  if (request.curve) options.observer = &curve.emplace(system, options);
  const auto begin = std::chrono::steady_clock::now();
  engines::EngineResult result = simulate::run(system, used.engine, options, all);
  summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (result.status.reason == Reason::not_finite)
    result.status.message += left_tables(model, system, result.end);

  io::RunPast past;
  past.verdict = result.verdict;
  past.reactions_not_unique = result.reactions_not_unique;
  past.uniqueness_unchecked = result.uniqueness_unchecked;
  past.worst_gap = result.worst_gap;
  past.gains = contacts.loads().gains;
  past.intervals = contacts.loads().interval_count;
  summary.intervals = contacts.loads().intervals;
  summarise(system, result, past, {}, table.events(), summary);
  summary.notes.insert(summary.notes.end(), columns.undefined().begin(), columns.undefined().end());
  if (!result.gave_way.ok())
    summary.notes.push_back("engine auto: event from t = " + to_text(result.gave_way.time) + " on, since " +
                            result.gave_way.message);
  summary.counts.emplace_back("rows", static_cast<double>(table.rows()));
  if (curve) summary.curve = curve->take();
  out.data.events = events.events();
  out.end = std::move(result.end);
  out.ran = true;
  return out;
}

}  // namespace judder::tasks
