// Runs of models whose formulas call functions from outside (expr/outside.hpp).
//
// A run in which such a function throws ends at that step with the reason call_failed, whatever the engine makes of the numbers that it gets then.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/expr/outside.hpp"

namespace judder::simulate {

/// Hands everything on until a function has thrown, and asks the engine to stop then, or when the caller does.
class Listening final : public engines::Sink {
 public:
  Listening(engines::Sink& inner, const expr::OutsideWatch& watch, const std::atomic<bool>* cancel)
      : inner_(inner), watch_(watch), cancel_(cancel) {}
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override {
    if (watch_.failed() < 0) inner_.row(kind, mode, work);
    look();
  }
  double* state_rows(std::size_t count) override { return inner_.state_rows(count); }
  void event(const engines::Event& event, std::span<const double> state) override {
    if (watch_.failed() < 0) inner_.event(event, state);
    look();
  }
  void interval(const engines::Interval& interval) override {
    if (watch_.failed() < 0) inner_.interval(interval);
  }
  void progress(double time) override {
    inner_.progress(time);
    look();
  }
  bool wants_state() override { return watch_.failed() < 0 && inner_.wants_state(); }
  void state(const engines::EngineResult& so_far) override { inner_.state(so_far); }

 private:
  void look() {
    if (watch_.failed() >= 0 || (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)))
      stop_.store(true, std::memory_order_relaxed);
  }

  engines::Sink& inner_;
  const expr::OutsideWatch& watch_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> stop_{false};
};

/// What has gone wrong in the functions, as the status of the run.
inline void tell_calls(const expr::OutsideWatch& watch, const std::vector<expr::OutsideFunction>& functions,
                       Status& status) {
  if (const int failed = watch.failed(); failed >= 0) {
    const std::string& name = functions[static_cast<std::size_t>(failed)].name;
    status = {Reason::call_failed, status.time, "function '" + name + "'", watch.words(failed)};
  } else if (const int nan = watch.not_a_number();
             nan >= 0 && (status.reason == Reason::not_finite || status.reason == Reason::step_too_small)) {
    status.message += "; " + watch.words(nan);
  }
}

/// `go(sink)` makes the run with `options`, whose `cancel` may be changed here.
template <class Go>
engines::EngineResult heed_calls(const model::System& system, engines::EngineOptions& options,
                                 engines::Sink& sink, const Go& go) {
  const std::vector<expr::OutsideFunction>& functions = system.graph().outside();
  if (functions.empty()) return go(sink);
  const expr::OutsideWatch watch(functions);
  Listening listening(sink, watch, options.cancel);
  options.cancel = &listening.stop();
  engines::EngineResult result = go(listening);
  tell_calls(watch, functions, result.status);
  return result;
}

}  // namespace judder::simulate
