// Loads of contacts that are closed: the largest normal force and the impulse of each closed phase.
//
// A phase of contact r opens where r closes and ends where it opens: an Interval [from, to] with peak max λ_N and impulse ∫ λ_N dt + Σ Λ_N, Λ_N the
// impulses of impacts meanwhile. Both come from polynomials of λ_N along each step. Those that an engine has made anyway (of its guards) are at hand, but
// need not be good far from zero, where nothing ends: a force whose polynomial is too coarse is sampled anew, in halves of the step, until it is not.
// The largest value is that of the force itself, at the place where its polynomial is largest: an error of the place counts squared. Where nothing is known
// between two instants (rest, engines with fixed steps) the trapezoidal rule stands for the integral.
//
// Compliant contacts have neither row nor status: their phases are found by the engine where the gap passes zero (event/pressing.cpp), and kept here.
//
// For each step that it accepts, an engine calls follow(), then take() for the forces that it has polynomials of, then take_rest(); or note() alone. What the
// forces are, it is asked through ForcesAlongStep. Nothing here moves the state; nothing is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/engines/mode.hpp"

namespace judder::engines {

/// Normal forces along the step that is noted.
class ForcesAlongStep {
 public:
  virtual ~ForcesAlongStep() = default;
  /// λ_N by relation at the share θ of the step; empty: they cannot be evaluated there.
  [[nodiscard]] virtual std::span<const double> at(double theta) = 0;
};

/// A normal force along a trial step, in Bernstein form, or the quotient of two such. The step that was made may be shorter.
struct ForcePolynomial {
  int degree = 0;
  const double* coefficients = nullptr;
  std::span<const double> samples;   ///< values that it was made of, the last at the end of the trial step
  double error = 0;                  ///< by which it may miss the force
  const double* divisor = nullptr;   ///< coefficients; null: the force is the polynomial
  std::span<const double> divisors;  ///< values of the divisor
  double divisor_error = 0;
  double noise = 0;  ///< a force below this is rounding
};

class ContactLoads {
 public:
  explicit ContactLoads(int relations);

  /// A run begins: no phase is open. `tolerance` is that of its options.
  void start(double tolerance);

  /// Forces at time t, of the closed contacts; they have grown straight over the time h that lies before. Phases of contacts that have just closed open.
  void note(const Mode& mode, double t, double h, std::span<const double> normal);
  /// Forces that are shown to somebody: no row shows more than the peak.
  void note_peaks(const Mode& mode, std::span<const double> normal);

  /// A step from time t on was made in this mode. False: no contact is closed.
  [[nodiscard]] bool follow(const Mode& mode, double t);
  /// The force of this contact has not been taken yet.
  [[nodiscard]] bool follows(int relation) const { return follows_[relation] != 0; }
  /// The force of a contact that is followed. The polynomial is that of a step of length `trial`, the first `length` of which was made. Too coarse: it is
  /// followed on.
  void take(int relation, const ForcePolynomial& polynomial, double trial, double length,
            ForcesAlongStep& forces);
  /// All that is followed still, by samples of its own.
  void take_rest(double length, ForcesAlongStep& forces);

  /// Peak and impulse of a part of the phase that an engine knows in closed form.
  void add(int relation, double impulse, double peak);
  /// The impulse of an impact at time t during a phase, or opening one.
  void strike(int relation, double t, double impulse);
  /// A phase of a contact that has no status of its own, a compliant one, begins at time t, unless one is open.
  void press(int relation, double t) { open(relation, t, 0); }
  [[nodiscard]] bool is_open(int relation) const { return open_[relation].from == open_[relation].from; }
  /// Of the phase that is open.
  [[nodiscard]] double peak(int relation) const { return open_[relation].peak; }
  [[nodiscard]] double impulse(int relation) const { return open_[relation].impulse; }
  /// The phase ends at time t; empty: none was open.
  [[nodiscard]] std::optional<Interval> close(int relation, double t);

  /// From, peak, impulse, last force of each contact (phase_lists::kInterval numbers), for a run that goes on.
  void save(std::vector<double>& out) const;
  /// False: these are not the numbers of as many contacts; nothing is taken.
  bool load(std::span<const double> saved);

 private:
  /// A polynomial (or quotient) whose θ is `from` + θ·`width` of the step, up to θ = end.
  struct Piece {
    const double* coefficients;
    const double* divisor;
    int degree;
    double end;
    double allowance;  ///< by which it may miss the force
    double from, width;
    [[nodiscard]] double value(double theta) const;
  };
  static constexpr int kPoints = 9;  ///< at which a force is sampled for its peak

  void take_pieces(double from, double to, double length, int halvings, ForcesAlongStep& forces);
  void integrate(const Piece& piece, double length, Interval& interval, ForcesAlongStep& forces);
  void open(int relation, double t, double peak) {
    if (!is_open(relation)) open_[relation] = {relation, t, t, peak, 0};
  }

  double tolerance_ = 0;
  std::vector<Interval> open_;         ///< by relation; from = NaN: none
  std::vector<double> last_;           ///< by relation: the force known last
  std::vector<std::uint8_t> follows_;  ///< by relation: its force along the present step is not known yet
  std::vector<double> samples_;        ///< kPoints by relation
};

}  // namespace judder::engines
