// Tells an Observer what a run does (observer.hpp says in which order).
//
// Accelerations and reactions at the points that it tells are evaluated in memory of its own: a run has the same bits with and without an
// observer. Where nobody listens nothing is evaluated, and that memory is never made.
#pragma once

#include <array>
#include <memory>
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

  /// A run begins, and this is who listens; null: nobody.
  void listen(Observer* observer);
  [[nodiscard]] bool heard() const { return observer_ != nullptr; }
  /// The inside of the coming step is to be told.
  [[nodiscard]] bool asked_inside() const { return observer_ != nullptr && observer_->asks_inside(); }

  /// A phase begins in this mode: at the start and after every instant. `y` has the works behind the state.
  void after(const Mode& mode, double t, const double* y);
  /// A point of the present phase; `y` is moved onto its constraints, as rows of a run are.
  void inside(double t, const double* y);
  [[nodiscard]] bool asked_along() const { return observer_ != nullptr && observer_->asks_along(); }
  /// Somebody who asks for it looks at the step as long as they like; `state(t, y)` puts the state at a time of it into y.
  template <class State>
  void along(double from, double to, double* y, const State& state) {
    struct Points final : Along {
      Points(Testimony& of, double* memory, const State& by) : testimony(of), y(memory), state(by) {}
      const ToldPoint* at(double time) override {
        state(time, y);
        return testimony.point_at(time, y);
      }
      Testimony& testimony;
      double* y;
      const State& state;
    };
    if (!asked_along() || !(to > from)) return;
    Points points(*this, y, state);
    observer_->along(from, to, points);
  }
  /// The end of a step. `works` is false where y has none behind the state.
  void end(double t, const double* y, bool works = true, bool resolved = true);
  /// The end of a step that the run itself has evaluated.
  void end(const ModeMotion& motion, const model::Workspace& work, const double* y);
  /// A time of rest, as a step from one time to the other in which the state stays.
  void rest(double from, double to, const double* y);
  void impulses(const ToldImpulses& impulses);
  void event(const Event& event);
  /// Right-hand side of the present phase, for dense output that is not ready yet; somebody must listen.
  [[nodiscard]] ModeMotion& motion() { return memory_->motion; }

 private:
  struct Memory {
    explicit Memory(const model::System& system);
    model::Workspace work;
    ModeMotion motion;
    ReactionSharing sharing;
    std::vector<double> y, still;
  };
  void hand_over(Telling kind, const ModeMotion& motion, const model::Workspace& work, const double* y,
                 bool resolved);
  void fill(ToldPoint& point, Telling kind, const ModeMotion& motion, const model::Workspace& work) const;
  [[nodiscard]] const ToldPoint* point_at(double t, const double* y);
  /// A state of the present phase, moved onto its constraints.
  [[nodiscard]] const double* projected(double t, const double* y);
  void tell(Telling kind, double t, const double* y, bool works, bool resolved);

  const model::System& system_;
  Patience* patience_ = nullptr;
  Observer* observer_ = nullptr;
  std::unique_ptr<Memory> memory_;  ///< from the first time on that somebody listens
  bool ready_ = false;              ///< the mode could be set
  ToldPoint along_;                 ///< the last one asked for along a step
};

}  // namespace judder::engines
