// A jump: the body follows the force that is left over while time stands still, q' = V/|V| by arc length.
//
// V is the velocity that a body without inertia would have in a uniform viscous medium of vanishing viscosity; the contacts share in it by
// their laws. Each leg
// between two changes of status is integrated by Dormand and Prince's pair of order 5, with the arc length as independent variable. Near
// its end V fades in proportion
// to the distance that is left: there Newton's method takes the last stretch, which is straight to the square of its length. Where V fades
// faster than that the steps
// shrink onto the end.
//
// A jump that begins in balance, at a fold or where a slip is unstable, has no V there. It begins a little off, on the curve of places
// where all that is left over points
// along the unstable direction u: h + C λ = γ u, u·(q − q0) = L. Beside that curve stiff springs would pull V any way, and a joint that
// slides with it would seem to stop.
#pragma once

#include <vector>

#include "quasi_static_decide.hpp"
#include "quasi_static_records.hpp"
#include "quasi_static_scene.hpp"

namespace judder::engines {

class QuasiStaticJump {
 public:
  QuasiStaticJump(QuasiStaticScene& scene, QuasiStaticDecision& decision, QuasiStaticRecords& records);

  enum class Outcome : std::uint8_t {
    balanced,  ///< it has ended where forces balance
    held,      ///< forces point back on the direction: no jump begins
    failed     ///< the run has ended
  };
  /// Along the force that is left over; or from balance along a direction, which must be unstable for it to begin.
  [[nodiscard]] Outcome from_imbalance();
  /// The instant is opened, with the mode `before` it, once it is certain that the jump begins.
  [[nodiscard]] Outcome along(const QuasiStaticPoint& direction, const Mode& before);

 private:
  enum class Kick : std::uint8_t { gone, back, neutral, failed };
  void begin();
  [[nodiscard]] Outcome follow(double arc);
  [[nodiscard]] Kick kick(const QuasiStaticPoint& direction, const Mode& before, double& arc);
  [[nodiscard]] Kick try_kick(const std::vector<double>& direction, double length, double& along);
  [[nodiscard]] bool end_of_status(const std::vector<double>& direction, double length);
  [[nodiscard]] bool flow_direction(const std::vector<double>& q, std::vector<double>& out, double& speed);
  [[nodiscard]] bool flow_step(double arc, double& error);
  [[nodiscard]] double flow_guards(std::vector<QuasiStaticFired>* fired);
  [[nodiscard]] bool land(double speed, double& arc);
  [[nodiscard]] bool leads_on(double away);
  [[nodiscard]] bool next_leg(bool& moves);
  enum class Step : std::uint8_t { done, arrived, failed };
  [[nodiscard]] Step flow_on(bool faded, double& step, double& arc);
  Outcome lose(const char* message);
  void rub(double length);
  void rub_straight(const std::vector<double>& from, const std::vector<double>& to);
  void end_leg(double arc);
  [[nodiscard]] QuasiStaticDecision::Flow& flow() { return decision_.flow(); }

  QuasiStaticScene& scene_;
  QuasiStaticDecision& decision_;
  QuasiStaticRecords& records_;
  Mode undecided_;                  ///< of the leg that is followed
  double size_ = 1;                 ///< reach where the jump began
  double fastest_ = 0;              ///< largest V of the leg
  double leg_energy_ = 0;           ///< where the present leg began
  std::vector<double> leg_work_;    ///< friction work at the contacts in it, by relation
  std::vector<double> leg_powers_;  ///< works of the elements in it, by audit element: dissipated, supplied
  std::vector<std::vector<double>> stages_;
  std::vector<double> from_, to_, half_, way_, place_, straight_;
  QuasiStaticPoint point_;
};

}  // namespace judder::engines
