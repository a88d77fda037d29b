// The path of equilibria in one mode: steps of arc length, each corrected by Newton's method across the tangent of its beginning.
//
// A step is as long as its middle, taken from Hermite's cubic through both ends, needs no correction beyond the tolerance. A contact, a
// reaction, a cone, a
// slip or a watch that changes sign is found by halving the time of the step with points of the path itself, to the last bit. Where dt/ds
// vanishes the
// path folds back in time: there time stops, and a jump begins.
#pragma once

#include <vector>

#include "quasi_static_records.hpp"
#include "quasi_static_scene.hpp"

namespace judder::engines {

class QuasiStaticPath {
 public:
  QuasiStaticPath(QuasiStaticScene& scene, QuasiStaticRecords& records);

  enum class End : std::uint8_t { plain, limit, event, fold, failed };
  /// One step from where the scene stands, not beyond the time `limit`; end() is where it ended. What ended it is in the scene.
  [[nodiscard]] End advance(double limit);
  [[nodiscard]] const QuasiStaticPoint& end() const { return next_; }
  /// The middle of the step by arc length and its length, after an advance() that moved. False: it is not found.
  [[nodiscard]] bool middle(QuasiStaticPoint& out, double& arc);
  /// The point of the path at a time within the last step, and its share of the step. False: Newton's method does not find it.
  [[nodiscard]] bool at_time(double t, QuasiStaticPoint& out, double& share);

  /// The next step to try; 0: not known.
  void set_step(double arc) { arc_step_ = arc; }
  [[nodiscard]] double step() const { return arc_step_; }
  /// Watches are compared with their values here.
  void look_at_watches();
  void set_watch(int watch, double value) { watch_values_[watch] = value; }

 private:
  [[nodiscard]] bool between(const QuasiStaticPoint& from, const QuasiStaticPoint& to, double t,
                             QuasiStaticPoint& out, double& share);
  void blend(const QuasiStaticPoint& a, const QuasiStaticPoint& b, double arc, double share,
             QuasiStaticPoint& out) const;
  [[nodiscard]] double arc_between(const QuasiStaticPoint& a, const QuasiStaticPoint& b) const;
  void predict(double arc, double limit, bool to_limit);
  [[nodiscard]] double worst_guard(const QuasiStaticPoint& point, std::vector<QuasiStaticFired>* fired);
  [[nodiscard]] double curve_error(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                   const QuasiStaticPoint& to, double arc) const;
  /// The first time in the step to `to` at which a guard is violated: next_ is the point there. plain: rounding; failed: it is not found.
  [[nodiscard]] End locate(const QuasiStaticPoint& to);
  [[nodiscard]] End fails(const char* message, Reason reason);

  QuasiStaticScene& scene_;
  QuasiStaticRecords& records_;
  QuasiStaticPoint next_, middle_, trial_, last_;
  std::vector<double> watch_values_;
  double arc_step_ = 0;
};

}  // namespace judder::engines
