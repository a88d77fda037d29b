#include "judder/simulate/repeats.hpp"

#include <optional>
#include <utility>

#include "calls.hpp"
#include "judder/engines/registry.hpp"
#include "judder/simulate/simulate.hpp"
#include "witness.hpp"

namespace judder::simulate {

struct Repeats::Parts {
  explicit Parts(const model::System& of) : system(of) {}
  const model::System& system;
  std::string problem;
  std::unique_ptr<engines::Engine> engine;
  std::unique_ptr<engines::Engine> other;  ///< 'auto': goes on where the first cannot
  bool may_change = false;
  std::optional<Witness> witness;
};

Repeats::Repeats(const model::System& system, std::string_view engine)
    : parts_(std::make_unique<Parts>(system)) {
  parts_->problem = engine_problem(system, engine);
  if (!parts_->problem.empty()) return;
  const std::string used = engine_used(system, engine);
  parts_->engine = engines::find_engine(used)->make(system);
  parts_->may_change = engine == "auto" && used != engines::all_engines().front().words.name;
}

Repeats::~Repeats() = default;
Repeats::Repeats(Repeats&&) noexcept = default;
Repeats& Repeats::operator=(Repeats&&) noexcept = default;

const std::string& Repeats::problem() const { return parts_->problem; }

engines::EngineResult Repeats::run(const engines::EngineOptions& options, engines::Sink& sink) {
  Parts& p = *parts_;
  std::string problem = p.problem;
  if (problem.empty()) problem = engines::options_problem(options);
  if (!problem.empty()) {
    engines::EngineResult result;
    result.status = {Reason::unsupported, options.from, {}, problem};
    return result;
  }
  engines::EngineOptions watched = options;
  watched.another_goes_on = p.may_change;
  if (options.referee) {
    if (p.witness)
      p.witness->restart(options);
    else
      p.witness.emplace(p.system, options, nullptr);
    watched.observer = &*p.witness;
  }
  engines::EngineResult result = heed_calls(p.system, watched, sink, [&](engines::Sink& into) {
    engines::EngineResult made = p.engine->run(watched, into);
    if (p.may_change && engines::engine_ends(made.status.reason)) {
      if (!p.other) p.other = engines::all_engines().front().make(p.system);
      const engines::EngineResult first = std::move(made);
      watched.another_goes_on = false;
      made = p.other->run(watched, into, &first.end);
      add_earlier(first, made);
      made.gave_way = first.status;
    }
    return made;
  });
  if (options.referee && !p.witness->silent()) {
    result.verdict = p.witness->verdict();
    condemn(result.verdict, result.status);
  }
  return result;
}

}  // namespace judder::simulate
