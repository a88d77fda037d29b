#include "closed_form.hpp"
#include "engines/event/closed_form_advance.hpp"
#include "engines/event/event_run.hpp"
#include "judder/engines/engine.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {

ExactEngine::ExactEngine(const model::System& system)
    : run_(std::make_unique<EventRun>(system, by_closed_forms)) {}
ExactEngine::~ExactEngine() = default;
ExactEngine::ExactEngine(ExactEngine&&) noexcept = default;

std::string ExactEngine::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  const std::string problem = EventEngine::unsupported(system);
  if (!problem.empty()) return problem;
  if (system.linear().linear()) {
    if (std::string reason = ClosedForm::size_problem(system); !reason.empty())
      return "the model is too large for closed forms: " + reason;
  }
  std::string reason =
      system.linear().linear() ? ClosedForm::sliding_problem(system) : system.linear().reason;
  return reason.empty() ? reason : "the model is not linear between events: " + reason;
}

EngineResult ExactEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

}  // namespace judder::engines
