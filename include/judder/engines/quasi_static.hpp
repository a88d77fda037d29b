// Quasi-static evolution: all inertia is left out, and the system passes through equilibria as its load changes.
//
//     0 = h(q, 0, t) + Σ push λ_N + Σ drag λ_T ,    contact and Coulomb friction, the slip taken from the rate q̇ of the path
//
// No motion that is continuous in time need exist: where friction and stiffness work against each other (k_T < μ |w|, k_T the tangential stiffness,
// w its coupling to the normal) a body on the edge of its cone breaks loose. So the path is followed by its arc length s, with time as one of the unknowns:
//
//     θ' + |q'| = 1 ,   θ' ≥ 0 ,   γ q' = h + Σ push λ_N + Σ drag λ_T ,   γ ≥ 0 ,   γ θ' = 0
//
// Where θ' > 0 the forces are in balance (γ = 0). Where they cannot be, time stands still and the body follows the force that is left over, γ q', until
// it is balanced: a jump. It is one instant of the output, with the rows before and after it and one `jump` event for each part between
// changes of status, whose detail is the arc length. |q'| is Euclid's length in the coordinates as they are written.
//
// Of several continuations the one with the least time is taken (a jump, where there is one), after O. Petcoviciu, thesis, Timișoara 2010, 3.4.
// Statuses are decided by complementarity of rates, all combinations at one instant being tried (up to 4096). Columns of velocities hold q̇, of the rows of
// a jump the rates before and after it; accelerations are zero. Refused with the reason: first-order states, dampers, friction that knows
// speeds or rest from slip, switches of the state, slip rows that vary, friction fed by other reactions or by a constraint.
#pragma once

#include <memory>
#include <string>

#include "judder/engines/engine.hpp"

namespace judder::engines {

class QuasiStaticEngine final : public Engine {
 public:
  explicit QuasiStaticEngine(const model::System& system);
  ~QuasiStaticEngine() override;
  QuasiStaticEngine(QuasiStaticEngine&&) noexcept;

  /// Why the system cannot be run by this engine, or an empty string.
  [[nodiscard]] static std::string unsupported(const model::System& system);

  /// `tolerance`: error of the path between its points, relative to what the coordinates have moved; `max_step`: longest step of
  /// time. Nobody listens to EngineOptions::observer: laws with inertia have nothing to say about rows without it.
  [[nodiscard]] EngineResult run(const EngineOptions& options, Sink& sink,
                                 const Moment* resume = nullptr) override;

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

}  // namespace judder::engines
