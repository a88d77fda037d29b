#include <algorithm>
#include <string>
#include <vector>

#include "engines/event/event_run.hpp"
#include "engines/event/step_advance.hpp"
#include "judder/engines/engine.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {

EventEngine::EventEngine(const model::System& system) : run_(std::make_unique<EventRun>(system, by_steps)) {}
EventEngine::~EventEngine() = default;
EventEngine::EventEngine(EventEngine&&) noexcept = default;

std::string EventEngine::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  const std::vector<bool>& massless = system.massless();
  if (std::find(massless.begin(), massless.end(), true) != massless.end() &&
      system.massless_balance().unknown.empty())
    return "the model is made for 'quasi-static', which leaves out all inertia; without it the massless "
           "coordinates have no balance";
  for (const model::Relation& relation : system.relations()) {
    if (relation.tangents > 1) {
      return relation.place + " has " + std::to_string(relation.tangents) +
             " slip components: engines that find events do not simulate it; '--engine moreau' moves it with "
             "fixed steps, 'judder impact' solves its collisions";
    }
  }
  return {};
}

EngineResult EventEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

}  // namespace judder::engines
