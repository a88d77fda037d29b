// Dry forces that are written with a switch, beside a row of friction: `-sign(x')` where a joint or contact slips with x'.
//
// While the row rests the switch stands at its zero, and its force may have any value between those of its sides: the row and the force hold
// together. With f₊ and f₋ the forces along the friction of the row while it slips forwards or backwards, and f those that stand in the equations, the row at
// rest has the limits
//
//     −(μ₊ L + f − f₊) ≤ λ_T ≤ μ₋ L + f₋ − f .
//
// Schemes that take the values of switches as they are would see f alone, and let the row go before its time.
#pragma once

#include <string>
#include <vector>

#include "judder/model/system.hpp"

namespace judder::engines {

class DryForces {
 public:
  DryForces(const model::System& system, model::Workspace& work);
  /// Some switch acts on forces and sees velocities.
  [[nodiscard]] bool any() const { return !candidates_.empty(); }
  /// f − f₊ and f₋ − f of the planar friction of a relation that rests, at the inputs in `work`; its rows are known there. False: no force jumps with this slip.
  [[nodiscard]] bool find(int relation, double& forwards, double& backwards);
  /// Why a scheme without these limits does not run this model, at its start; or empty.
  [[nodiscard]] static std::string problem(const model::System& system);

 private:
  [[nodiscard]] bool along(const model::Row& drag, double& share) const;

  const model::System& system_;
  model::Workspace& work_;
  std::vector<int> candidates_;
  std::vector<int> found_;     ///< of the row that is asked for
  std::vector<double> ratio_;  ///< of their surfaces to the slip
  std::vector<double> surface_, force_, kept_, change_;
};

}  // namespace judder::engines
