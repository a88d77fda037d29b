// One model, run in every way that must give the same motion.
//
// The event engine at two tolerances, the exact engine, another order of writing, other units, another end, other samples, a stop and a resume,
// rows at events or not: whatever differs beyond what the motion's own sensitivity explains is a finding. So is an end that names no mechanics
// (step too small, not finite, …), a run that takes too long, and rows that contradict the laws by value.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "draft.hpp"
#include "judder/engines/engine.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::hunt {

struct Outcome {
  std::string refused;     ///< the compiler's first message; empty: it took the model
  std::string ended;       ///< how the run at the fine tolerance ended
  std::string kind;        ///< what was found, in a word or two; empty: everything agrees
  std::string detail;      ///< the numbers behind it
  double time = 0;         ///< where it shows
  bool sensitive = false;  ///< tolerances disagree, and so do runs from slightly other numbers
  long rows_by_value = 0;  ///< rows judged against the laws
  bool exact = false;      ///< the exact engine takes it
  /// What Moreau-Jean's scheme says beside the event engine: "agrees", or why it need not ("refused", "horizon", "grazing", "not unique", "slow"), or "defect".
  std::string stepping;
  std::vector<std::pair<std::string, double>> last;  ///< coordinates, velocities and states at the end
  std::vector<std::string>
      in_other_units;  ///< the models that differ, where the units are what they differ in
};

/// What is done with a model. Left out at random, to try more models in a given time.
struct Checks {
  bool exact = true, permuted = true, units = true, bits = true, until = true, samples = true, resume = true,
       rows = true, by_value = true;
  bool stepping = false;  ///< Moreau-Jean's scheme with shrinking steps: asked for by itself (--stepping)
};

/// The limit of one run, in seconds of processor time.
class Limit {
 public:
  virtual ~Limit() = default;
  /// The flag is set when `times` the usual time has passed since this call.
  virtual const std::atomic<bool>* start(int times = 1) = 0;
  virtual void stop() = 0;
};

/// `seed` decides where runs are cut.
[[nodiscard]] Outcome judge(const Draft& draft, const Checks& checks, std::uint64_t seed, Limit& limit);

/// The same for the text of a model file, without other units.
[[nodiscard]] Outcome judge_text(const std::string& text, const std::string& variant, Checks checks,
                                 std::uint64_t seed, Limit& limit);

}  // namespace judder::hunt
