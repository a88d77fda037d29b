// Tells an Observer what a run does.
//
// Accelerations and reactions at the points that it tells are evaluated in memory of its own: a run has the same bits with and without an
// observer.
#pragma once

#include <array>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/engines/observer.hpp"
#include "mode_motion.hpp"
#include "reaction_sharing.hpp"

namespace judder::engines {

class Testimony {
 public:
  explicit Testimony(const model::System& system, Patience* patience = nullptr);

  /// Where the three points of a step lie: the inner nodes of Lobatto's rule; for a collocation method its own nodes and one more.
  static constexpr std::array<double, 3> kSmooth{0.17267316464601143, 0.5, 0.8273268353539886};
  static constexpr std::array<double, 3> kStiff{0.15505102572168219, 0.4, 0.6449489742783178};

  /// A phase begins in this mode: at the start and after every instant. `y` has the works behind the state.
  void after(const Mode& mode, double t, const double* y, Observer& observer);
  /// A point of the present phase; `y` is moved onto its constraints, as rows of a run are.
  void inside(double t, const double* y, Observer& observer);
  /// The end of a step. `works` is false where y has none behind the state.
  void end(double t, const double* y, bool works, bool resolved, Observer& observer);
  /// The end of a step that the run itself has evaluated.
  static void end(const ModeMotion& motion, const model::Workspace& work, const model::Layout& layout,
                  const double* y, Observer& observer);
  /// Right-hand side of the present phase, for dense output that is not ready yet.
  [[nodiscard]] ModeMotion& motion() { return motion_; }

 private:
  static void hand_over(Telling kind, const ModeMotion& motion, const model::Workspace& work,
                        const model::Layout& layout, const double* y, bool resolved, Observer& observer);
  void tell(Telling kind, double t, const double* y, bool works, bool resolved, Observer& observer);

  const model::System& system_;
  model::Workspace work_;
  ModeMotion motion_;
  ReactionSharing sharing_;
  std::vector<double> y_;
  bool ready_ = false;
};

}  // namespace judder::engines
