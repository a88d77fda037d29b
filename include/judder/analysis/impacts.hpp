// The collision of the start state by every impact law, side by side.
//
// Contacts whose gap is zero and shrinks collide; closed contacts, contacts that touch and separate, and constraints take part
// (engines/collision.hpp). Contacts that nothing connects are impacts of their own (blocks); those in whose block nothing is struck are left out. Each
// problem is solved four times, with `moreau`, `newton`, `poisson` and `stronge` for all contacts and everything else
// (restitution, tangential restitution, friction, stiffness) as the model says. For one planar contact the last three are
// the impulse path, and the path itself is part of the result.
//
// A closed contact that slips without approach is classified (contact/painleve.hpp): k, free normal acceleration a, and what
// follows. Where no finite reaction can hold it, the collision is the tangential impact that stops its slip. With further
// closed contacts the class depends on whether they stay closed: all combinations are listed, up to kMostCombinations.
//
// A sweep repeats this over one or two parameters and finds the values at which the class changes: k and a are continuous
// functions of the parameter, their zeros between neighbouring values of the sweep are found to rounding. With two
// parameters, the threshold is the value of the first at which the smallest k over the second becomes zero.
//
// Nothing is printed; a state that is no collision is a status of the result.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judder/contact/impact_path.hpp"
#include "judder/contact/painleve.hpp"
#include "judder/core/status.hpp"
#include "judder/model/compile.hpp"

namespace judder::analysis {

inline constexpr int kMostCombinations = 64;

/// One contact or constraint of the collision, before it.
struct CollidingContact {
  int relation = 0;
  std::string name;
  bool constraint = false;
  bool approaches = false;
  bool separates = false;           ///< touches and moves away; neither: closed already
  double normal_before = 0;         ///< γ_N⁻
  std::vector<double> slip_before;  ///< γ_T⁻ by component; empty without friction
  double restitution = 0;
  double mu = 0;         ///< coefficient for impulses, at the slip before
  double mu_static = 0;  ///< coefficient that holds a slip at rest
};

/// What one law gives one contact.
struct ContactImpulse {
  double normal_impulse = 0;
  std::vector<double> tangential_impulse;
  double normal_after = 0;
  std::vector<double> slip_after;
  double normal_work = 0;
  double tangential_work = 0;
  contact::ImpactForm form = contact::ImpactForm::moreau;  ///< of its block
};

struct LawImpact {
  std::string law;  ///< "moreau", "newton", "poisson", "stronge", "tangential impact"
  contact::ImpactForm form = contact::ImpactForm::moreau;  ///< of the last block
  contact::ImpactStatus status = contact::ImpactStatus::solved;
  bool several_velocities = false;
  bool impulses_unique = true;
  std::vector<ContactImpulse> contacts;  ///< in the order of Impacts::contacts
  std::vector<double> velocity;          ///< after, by coordinate
  double energy_after = 0;               ///< kinetic
  double energy_change = 0;
  double energy_gain = 0;                ///< > 0: the law created this much
  std::vector<contact::PathPiece> path;  ///< only for form `path`
  double compression_impulse = 0;        ///< only for form `path`

  [[nodiscard]] bool ok() const {
    return status == contact::ImpactStatus::solved || status == contact::ImpactStatus::solved_unchecked;
  }
};

/// Class of a slipping closed contact or constraint, seen alone.
struct SlidingClass {
  int relation = 0;
  std::string name;
  contact::SlidingContact contact;
  std::vector<std::string> opened;  ///< closed contacts that were taken as open for it
};

enum class ImpactsOutcome {
  collision,     ///< at least one contact approaches
  tangential,    ///< nothing approaches, but a slipping contact jams: tangential impact
  no_collision,  ///< nothing collides; `sliding` may have something to say
  failed         ///< `status` says why
};

struct Impacts {
  ImpactsOutcome outcome = ImpactsOutcome::no_collision;
  Status status;       ///< of `failed`
  std::string reason;  ///< of `no_collision`: one sentence with the smallest gap and its rate
  double time = 0;
  std::vector<std::string> coordinates;
  std::vector<double> velocity_before;  ///< by coordinate
  double energy_before = 0;             ///< kinetic
  std::vector<CollidingContact> contacts;
  std::vector<LawImpact> laws;
  std::optional<contact::PathProblem> path;  ///< one planar contact: the numbers behind the (I_N, I_T) plane
  int path_contact = -1;                     ///< its place in `contacts`
  std::vector<SlidingClass> sliding;
};

/// At the start state of the system. `cancel`: set from outside to end within a moment, as failed and interrupted.
[[nodiscard]] Impacts impacts(const model::System& system, const std::atomic<bool>* cancel = nullptr);

/// A collision that a run has met. Its gaps are zero to the rounding of a run, which is more than that of a state that somebody wrote; so what touches is
/// told and not read from the gaps.
struct MetCollision {
  double time = 0;
  std::vector<double> state;  ///< coordinates, velocities and states before it (Layout::integrated() numbers)
  std::vector<std::string> struck;  ///< contacts that approach
  std::vector<std::string> closed;  ///< contacts that were closed before; all others stand open
};
/// The same at such a state.
[[nodiscard]] Impacts impacts(const model::System& system, const MetCollision& met,
                              const std::atomic<bool>* cancel = nullptr);

/// n values of a parameter or start value from `from` to `to`, both included.
struct Sweep {
  std::string name;
  double from = 0, to = 0;
  int count = 2;  ///< ≥ 2
  [[nodiscard]] double value(int i) const;
};

/// The class of a contact changes at `value` of the last swept parameter.
struct ClassChange {
  std::string contact;
  double outer = 0;  ///< value of the first of two parameters
  double value = 0;
  contact::SlidingCase below = contact::SlidingCase::slides, above = contact::SlidingCase::slides;
};

/// The smallest k of a contact over the second parameter becomes zero.
struct PainleveThreshold {
  std::string contact;
  double outer = 0;  ///< value of the first parameter
  double inner = 0;  ///< where over the second
};

struct SweepPoint {
  std::vector<double> values;  ///< one per parameter
  std::string problem;         ///< why the model has no system here; empty: none
  Impacts impacts;
};

struct ImpactSweep {
  std::vector<Sweep> parameters;   ///< one or two
  std::vector<SweepPoint> points;  ///< the last parameter runs fastest
  std::vector<ClassChange> changes;
  std::vector<PainleveThreshold> thresholds;
  std::size_t states = 0, collisions = 0, sliding = 0, gains = 0,
              invalid = 0;  ///< of all points, kept or not
  [[nodiscard]] bool any_collision() const { return collisions > 0; }
  [[nodiscard]] bool any_sliding() const { return sliding > 0; }
};

/// `options.set` is applied before the swept values.
[[nodiscard]] ImpactSweep sweep_impacts(const model::Spec& spec, const model::CompileOptions& options,
                                        const std::vector<Sweep>& parameters);
/// The same for any number of points: each is handed over as it is found and then forgotten. False ends the sweep.
using TakePoint = std::function<bool(const SweepPoint& point)>;
[[nodiscard]] ImpactSweep sweep_impacts(const model::Spec& spec, const model::CompileOptions& options,
                                        const std::vector<Sweep>& parameters, const TakePoint& take);

}  // namespace judder::analysis
