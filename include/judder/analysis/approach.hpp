// The rest that a motion tends to and does not reach: a point to which it is damped smoothly.
//
//     ẏ = f(y) ,   f(y*) = 0 ,   A = f′(y*) ,   Aᵀ P + P A = −I ,   V = (y − y*)ᵀ P (y − y*)
//
// in the mode (open and closed contacts, stick and slip, sides of switches) in which the motion stands. y* is found by Newton's method
// from the present state. It is the end of the motion if all eigenvalues of A have negative real parts, and if the set V ≤ V(now), which
// a motion cannot leave while V falls, is one in which V falls and the mode holds: gaps stay open, reactions press, friction suffices,
// switches keep their sides. That is looked at on shells of the set in many directions; where one of these points fails the motion is not
// yet near enough, and nothing is said.
//
// In closed contacts ÿ obeys g̈ + 2 α ġ + α² g = 0 instead of g̈ = 0, which is the same motion on g = 0 and has y* as an isolated point.
// Places on which nothing depends (Coordinates that may drift) are left out. What friction holds stays where it is. Where rests form a line or a
// surface, A has a null space along it; V is that of the motion across, with Π the projector on the null space along the image and A − c Π in
// the place of A, and the places beside y* are looked at, whether they are rests.
//
// Not treated: massless coordinates, constraints of velocities, sliding on surfaces of switches, slip in several directions, and what
// depends on time.
//
// P by the squared iteration of R. A. Smith, SIAM J. Appl. Math. 16 (1968) 198.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/model/system.hpp"

namespace judder::analysis {

struct ApproachedRest {
  std::vector<double> y;      ///< q, v, z there; of what drifts: the present place
  double decay = 0;           ///< real part of the slowest eigenvalue, < 0
  bool held = false;          ///< by friction, or free to stand anywhere: one of a set of such rests
  bool slides = false;        ///< steadily on something that moves
  std::vector<double> drift;  ///< rate of what may drift, by component of y; otherwise 0
};

class ApproachFinder {
 public:
  explicit ApproachFinder(const model::System& system);
  ~ApproachFinder();
  ApproachFinder(ApproachFinder&&) noexcept;

  /// `reach`: how far the motion has gone so far, by component of y: largest less least value.
  [[nodiscard]] std::optional<ApproachedRest> find(const engines::Moment& now, std::span<const double> reach);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace judder::analysis
