// What a quasi-static run tells: rows, events with the rows of their instant, and the works of the elements along the path.
//
// Works are integrals over a step of the path from a to b, in the share x of Hermite's cubic between them, not over the time, which nearly
// stands still
// before a fold:
//
//     ∫ λ·dq = ∫ λ(x) q'(x) dx ,      with λ at x = 0, 1/2, 1 on the path itself and q'(x) of the cubic
//
// By the parabola through the three, so at the end of the step it is Simpson's rule, and each sample within has its own value.
#pragma once

#include <array>
#include <vector>

#include "quasi_static_scene.hpp"
#include "recorder.hpp"

namespace judder::engines {

/// Hermite's cubic at the share x of a step, from values and slopes (times the step) at its ends.
[[nodiscard]] double hermite(double x, double a, double slope_a, double b, double slope_b);

class QuasiStaticRecords {
 public:
  QuasiStaticRecords(QuasiStaticScene& scene, Recorder& recorder);
  void restart();

  /// The point into the inputs, with the rates of the path as velocities.
  void publish(const QuasiStaticPoint& point);
  void row(RowKind kind, const QuasiStaticPoint& point);
  [[nodiscard]] double energy_of(const std::vector<double>& q);

  /// An instant with events begins; `before` is the mode up to it.
  void open_instant(const Mode& before);
  void close_instant();
  [[nodiscard]] bool instant_open() const { return instant_open_; }
  /// A gap has closed without reaction: whatever follows is told from open.
  void note_closing(int relation) { before_instant_.normal[relation] = NormalStatus::open; }
  /// Events for statuses that differ from those of `before`.
  void list_changes(const Mode& before);
  void add_event(EventKind kind, int place, Word word);
  void add_jump(double arc, double energy_before, double energy_after);

  /// Powers along a step of this arc length, whose middle is on the path.
  void measure_step(const QuasiStaticPoint& from, const QuasiStaticPoint& middle, const QuasiStaticPoint& to,
                    double arc);
  /// Adds the works of elements over a short way at a frozen time, where the equations stand, by audit element: dissipated, then supplied.
  void add_works_over(const std::vector<double>& way, double factor, std::vector<double>& works);
  /// From here on works are those at this share of the step.
  void work_up_to(double share);
  /// The step is over.
  void take_step();

  [[nodiscard]] double* dissipated() { return works_.data() + scene_.layout.integrated(); }
  [[nodiscard]] const double* dissipated() const { return works_.data() + scene_.layout.integrated(); }
  [[nodiscard]] double* supplied() { return dissipated() + scene_.layout.audits; }
  [[nodiscard]] const double* supplied() const { return dissipated() + scene_.layout.audits; }
  [[nodiscard]] double imbalance() { return recorder_.residuals.imbalance(scene_.work, works_.data()); }

 private:
  void powers_at(const QuasiStaticPoint& point, std::vector<double>& out);

  QuasiStaticScene& scene_;
  Recorder& recorder_;
  std::vector<double> works_;  ///< as Recorder::load_works reads it: state, dissipated, supplied
  std::vector<double> begun_;  ///< works at the beginning of the step: dissipated, supplied
  std::array<std::vector<double>, 3> powers_;
  std::vector<double> element_powers_;
  QuasiStaticPoint node_;
  Mode before_instant_;  ///< statuses that the events of the present instant have told
  bool instant_open_ = false;
};

}  // namespace judder::engines
