// What the parts of a quasi-static run share: where it stands, in which mode, what has just ended, and what is large here.
//
// Who changes what: the path and jumps move `here`, decisions set `mode`, the run notes what has ended in `excluded`. Nobody keeps a copy
// across an instant.
#pragma once

#include <string>
#include <vector>

#include "judder/core/patience.hpp"
#include "judder/engines/engine.hpp"
#include "quasi_statics.hpp"

namespace judder::engines {

/// What one relation may do next; several of them make a mode.
struct QuasiStaticOption {
  NormalStatus normal = NormalStatus::none;
  TangentStatus tangent = TangentStatus::free;
};

/// What ended a phase: a guard of a relation, or of a watch.
struct QuasiStaticFired {
  enum class What : std::uint8_t { gap, reaction, cone, slip, watch } what = What::gap;
  int place = 0;  ///< relation, or watch
};

struct QuasiStaticScene {
  explicit QuasiStaticScene(const model::System& model);
  /// Of a run that begins: from the start of the model, in no mode.
  void restart(const EngineOptions& how);
  /// The places of a Moment that has not begun to move, in place of those of the model; velocities mean nothing here.
  void start_at(const Moment& moment);
  /// A point with places for everything.
  [[nodiscard]] QuasiStaticPoint point() const;

  /// A length of the present problem: what the coordinates are, have moved, or would move under the present forces.
  [[nodiscard]] double reach() const;
  /// A force of the present problem: what acts, or what springs must carry that cancel each other.
  [[nodiscard]] double force_scale() const;
  /// How far coordinates have come from the start, with those of a point.
  [[nodiscard]] double moved(const QuasiStaticPoint& point) const;
  /// The end of the run, unless it has ended already; false, so that it can be returned.
  bool fail(Reason reason, const std::string& message);
  [[nodiscard]] bool ended() const { return status.reason != Reason::done; }
  [[nodiscard]] bool cancelled();
  /// `here`, the mode and the equations at them. False: a force is not finite.
  [[nodiscard]] bool place() { return statics.place(here.t, here.q); }
  void set_mode(const Mode& next);
  void forget_excluded();
  [[nodiscard]] bool excludes(int relation, const QuasiStaticOption& option) const;

  const model::System& system;
  const model::Layout& layout;
  model::Workspace work;
  QuasiStatics statics;
  Patience patience;
  EngineOptions options;
  Status status;

  std::size_t n = 0;
  Mode mode;
  QuasiStaticPoint here;
  std::vector<double> start, largest;  ///< by coordinate: at the start, and how far it has moved since
  std::vector<QuasiStaticFired> fired;
  std::vector<QuasiStaticOption> excluded;  ///< by relation: the status that has just ended
  std::vector<double> no_border;            ///< zeros: the time is what is held
};

}  // namespace judder::engines
