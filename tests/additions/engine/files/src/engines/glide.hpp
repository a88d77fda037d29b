// Bodies that nothing touches, by fixed steps from the state at their beginning (order 1) or in their middle (order 2):
//
//     q₊ = q + h v*    v₊ = v + h v̇(t*, q*, v*) ,    * at the beginning, or half an order-1 step later
#pragma once

#include <vector>

#include "engines/recorder.hpp"
#include "judder/engines/engine.hpp"

namespace judder::engines {

class GlideEngine final : public Engine {
 public:
  explicit GlideEngine(const model::System& system);

  [[nodiscard]] static std::string unsupported(const model::System& system);
  [[nodiscard]] EngineResult run(const EngineOptions& options, Sink& sink, const Moment* resume) override;

 private:
  /// From the state in work_ by h; `from` is the state at the beginning. False: the mass matrix cannot be factored.
  [[nodiscard]] bool step(const std::vector<double>& from, double h);

  const model::System& system_;
  model::Workspace work_;
  Recorder recorder_;
};

}  // namespace judder::engines
