// A run with fixed steps, whatever the scheme: the grid of times, rows, events, watches, closed phases, works, and what another run needs to go on.
//
//     t_i = from + i h,   the last one at `until`
//
// Events are found by comparing the modes at both ends of a step and are dated at its end. Rows between two grid times stand on the cubic through both ends
// where the velocity did not jump, and on the straight line where it did. The grid is counted from the start of the run, so that a run that was interrupted and
// taken up has the same times.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/recorder.hpp"
#include "engines/stepping/scheme.hpp"
#include "judder/engines/engine.hpp"

namespace judder::engines {

class SteppingEngine final : public Engine {
 public:
  using MakeScheme = std::function<std::unique_ptr<Scheme>(const model::System&)>;
  /// `name` and `fields`: of its row in the registry.
  SteppingEngine(const model::System& system, std::string name, const std::vector<model::OptionField>& fields,
                 const MakeScheme& make);
  ~SteppingEngine() override;

  [[nodiscard]] EngineResult run(const EngineOptions& options, Sink& sink,
                                 const Moment* resume = nullptr) override;

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

/// What no engine with fixed steps can treat: massless coordinates. Empty: nothing of that kind.
[[nodiscard]] std::string stepping_unsupported(const model::System& system);

}  // namespace judder::engines
