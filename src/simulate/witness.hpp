// Hands on to the referee what an engine tells, in the referee's own words.
#pragma once

#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/referee/referee.hpp"

namespace judder::simulate {

class Witness final : public engines::Observer {
 public:
  Witness(const model::System& system, const engines::EngineOptions& options, const engines::Moment* resume);
  /// Another run of the same system begins.
  void restart(const engines::EngineOptions& options);
  void point(const engines::ToldPoint& told) override;
  void impulses(const engines::ToldImpulses& told) override;
  void event(const engines::Event& event) override;
  [[nodiscard]] bool asks_inside() const override;
  [[nodiscard]] bool asks_along() const override { return next_ != nullptr && next_->asks_along(); }
  void along(double from, double to, engines::Along& motion) override { next_->along(from, to, motion); }
  [[nodiscard]] bool silent() { return referee_.silent(); }
  [[nodiscard]] Verdict verdict() { return referee_.verdict(); }

 private:
  const model::Layout& layout_;
  engines::Observer* next_;  ///< somebody else who listens
  referee::Referee referee_;
  std::vector<referee::Normal> normal_;
  std::vector<referee::Tangent> tangent_;
  std::vector<referee::Surface> surface_;
};

}  // namespace judder::simulate
