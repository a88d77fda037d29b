// What a scheme with fixed steps is to the run that drives it (stepping_run.hpp).
//
// A scheme moves a state over one step, decides by its own rules which contacts press and which rows stick, and says what impulses did it. It lists no events,
// gives no rows and knows no sample times. What it remembers from step to step beside the state (accelerations, the place before, impulses to start from) it
// saves and loads: a run that is taken up has the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judder/core/patience.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/engine.hpp"
#include "judder/engines/mode.hpp"

namespace judder::engines {

struct StepState {
  double t = 0;
  std::vector<double> y;  ///< q, v, z
  Mode mode;
};

/// What a step did beside moving the state.
struct StepReport {
  std::vector<double> through;          ///< springs(): what a contact has given in the step, by relation
  std::vector<double> normal, tangent;  ///< impulses over the step, by relation and by tangential row
  std::vector<std::uint8_t> struck;     ///< by relation: the contact was open before, and got an impulse
  std::vector<std::uint8_t>
      met;  ///< by relation: an impact began that the next step finishes; it is struck there
  std::vector<double> acceleration;          ///< by coordinate: (v₁ − v₀)/h, or the scheme's own
  std::vector<double> dissipated, supplied;  ///< work over the step by audit element
  bool unfinished = false;                   ///< some contact was met
  bool finishes = false;  ///< of an impact that began in the step before; impulses are those of both steps
  bool smooth = true;     ///< velocities did not jump: places inside the step follow by a cubic
};

class Scheme {
 public:
  Scheme() = default;
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  /// A run begins. Why its options make none, or an empty string.
  [[nodiscard]] virtual std::string begin(const EngineOptions& options, double step) = 0;
  /// From the start of the model: fills the mode.
  [[nodiscard]] virtual Status start(StepState& state) = 0;
  /// One step to `to`, or to a time before it at which the scheme has cut the step.
  [[nodiscard]] virtual Status advance(StepState& state, double to, StepReport& report) = 0;
  virtual void save(std::vector<double>& out) const = 0;
  /// False: these are not the numbers of this scheme.
  [[nodiscard]] virtual bool load(std::span<const double> saved, const StepState& state) = 0;
  virtual void monitors(std::vector<Monitor>& out) const = 0;
  /// Reactions are springs: they give back energy that they have taken.
  [[nodiscard]] virtual bool springs() const { return false; }
  /// How a run ends that has come to its end: not ok where the scheme knows that it went wrong.
  [[nodiscard]] virtual Status verdict(double /*time*/) const { return {}; }
  /// An impact with restitution takes more than one step.
  [[nodiscard]] virtual bool spreads_impacts() const { return false; }
  /// Looked at inside long solves.
  virtual void use(Patience* patience) = 0;

  long evaluations = 0;  ///< of forces
  long impacts = 0;
};

}  // namespace judder::engines
