#include "stepping_engines.hpp"

#include <memory>
#include <string>
#include <utility>

#include "engines/stepping/dry_forces.hpp"
#include "engines/stepping/implicit_scheme.hpp"
#include "engines/stepping/regularised_scheme.hpp"
#include "engines/stepping/runge_kutta_scheme.hpp"
#include "engines/stepping/step_options.hpp"
#include "engines/stepping/stepping_run.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
namespace {

using Fields = std::vector<model::OptionField>;

constexpr const char* kMoreau = "moreau";
constexpr const char* kTheta = "theta";
constexpr const char* kNewmark = "newmark";
constexpr const char* kCentral = "paoli-schatzman";
constexpr const char* kZabuga = "rk4-zabuga";
constexpr const char* kOrdinary = "rk4";
constexpr const char* kPenalty = "penalty";
constexpr const char* kArctan = "arctan";

const Fields& moreau_fields() {
  static const Fields fields{
      {.name = "theta",
       .doc = "Weight of the end of the step: 0 explicit, 0.5 second order in flight, 1 implicit.",
       .fallback = "0.5",
       .least = 0,
       .most = 1},
      {.name = "form",
       .doc = "`standard` moves places by the weighted velocity; `printed` by the velocity of the end, as "
              "Basseville and Petcoviciu do.",
       .fallback = "standard",
       .words = {"standard", "printed"}}};
  return fields;
}

const Fields& theta_fields() {
  static const Fields fields{
      {.name = "theta",
       .doc = "Weight of the end of the step: 0.5 Crank-Nicolson, 1 implicit Euler.",
       .fallback = "0.5",
       .least = 0.01,
       .most = 1},
      {.name = "form",
       .doc = "`standard` makes velocities, reactions and accelerations consistent at the end of "
              "each step; `printed` does not, as in Petcoviciu 1.7: reactions ring, energy may grow.",
       .fallback = "standard",
       .words = {"standard", "printed"}}};
  return fields;
}

const Fields& newmark_fields() {
  static const Fields fields{
      {.name = "beta",
       .doc = "Newmark's β; 2β ≥ γ ≥ 1/2 is stable.",
       .fallback = "0.25",
       .least = 0.01,
       .most = 1},
      {.name = "gamma",
       .doc = "Newmark's γ; 1/2 is second order.",
       .fallback = "0.5",
       .least = 0.01,
       .most = 1},
      {.name = "form",
       .doc = "`standard` makes velocities, reactions and accelerations consistent at the end of "
              "each step; `printed` does not, as in Petcoviciu 1.7: reactions ring, energy may grow.",
       .fallback = "standard",
       .words = {"standard", "printed"}}};
  return fields;
}

const Fields& central_fields() {
  static const Fields fields{
      {.name = "form",
       .doc = "`modified` takes elastic forces in the middle of two steps and has "
              "friction; `explicit` takes them at the step, as Paoli and "
              "Schatzman do.",
       .fallback = "modified",
       .words = {"modified", "explicit"}},
      {.name = "friction",
       .doc = "`end`: Coulomb's law is about the velocity behind a step, and what it "
              "stops stands still; `mean`: about the mean of those before and behind, as "
              "Petcoviciu prints it (1.48), and what it stops goes to and fro.",
       .fallback = "end",
       .words = {"end", "mean"}}};
  return fields;
}

const Fields& zabuga_fields() {
  static const Fields fields{
      {.name = "cut",
       .doc = "`chord` ends a step where the chord of a slip velocity or of a gap is zero; `none` goes on to "
              "its end with the old directions.",
       .fallback = "chord",
       .words = {"chord", "none"}},
      {.name = "chords", .doc = "Chords by which a zero is sought.", .fallback = "1", .least = 1, .most = 20},
      {.name = "slip",
       .doc = "At a cut: `zero` sets the slip velocity to zero, `kept` leaves it where slip goes on.",
       .fallback = "zero",
       .words = {"zero", "kept"}},
      {.name = "breakaway",
       .doc = "Rest ends at the first `grid` time at which it cannot go on, or where that is `located` by a "
              "chord.",
       .fallback = "grid",
       .words = {"grid", "located"}}};
  return fields;
}

const Fields& ordinary_fields() {
  static const Fields fields{{.name = "stop",
                              .doc = "A body whose slip has turned in a step is stopped if friction holds it "
                                     "(`test`), or never (`none`).",
                              .fallback = "test",
                              .words = {"test", "none"}}};
  return fields;
}

RungeKuttaNumbers zabuga_numbers(const EngineOptions& options) {
  const StepOptions own(options, kZabuga, zabuga_fields());
  RungeKuttaNumbers numbers;
  numbers.cut = own.word("cut") == "chord";
  numbers.stop_test = numbers.cut;  // without cuts nothing looks at slips that turn
  numbers.chords = static_cast<int>(own.number("chords"));
  numbers.zero_slip = own.word("slip") == "zero";
  numbers.locate_start = own.word("breakaway") == "located";
  return numbers;
}

RungeKuttaNumbers ordinary_numbers(const EngineOptions& options) {
  RungeKuttaNumbers numbers;
  numbers.stage_signs = true;
  numbers.cut = false;
  numbers.stop_test = StepOptions(options, kOrdinary, ordinary_fields()).word("stop") == "test";
  return numbers;
}

std::string planar_unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  if (std::string problem = stepping_unsupported(system); !problem.empty()) return problem;
  if (std::string problem = DryForces::problem(system); !problem.empty()) return problem;
  return EventEngine::unsupported(system);
}

constexpr double kStiffest = 1e300;

const Fields& penalty_fields() {
  static const Fields fields{
      {.name = "normal_stiffness",
       .doc = "Of contacts and constraints, N/m; 0: as stiff as the step allows.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest},
      {.name = "normal_damping",
       .doc = "Of contacts and constraints, N s/m; 0: what leaves the restitution.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest},
      {.name = "tangent_stiffness",
       .doc = "Of the spring that holds what sticks, N/m; 0: as stiff as the step allows.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest},
      {.name = "tangent_damping",
       .doc = "Beside that spring, N s/m.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest}};
  return fields;
}

const Fields& arctan_fields() {
  static const Fields fields{
      {.name = "beta",
       .doc = "Steepness: friction is -L mu (2/pi) atan(beta slip), s/m; 0: as steep as the step allows.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest},
      {.name = "normal_stiffness",
       .doc = "Of contacts and constraints, N/m; 0: as stiff as the step allows.",
       .fallback = "0",
       .least = 0,
       .most = kStiffest}};
  return fields;
}

RegularisedNumbers penalty_numbers(const EngineOptions& options) {
  const StepOptions own(options, kPenalty, penalty_fields());
  RegularisedNumbers numbers;
  numbers.stiffness = own.number("normal_stiffness");
  numbers.normal_damping = own.number("normal_damping");
  numbers.tangential = own.number("tangent_stiffness");
  numbers.damping = own.number("tangent_damping");
  return numbers;
}

RegularisedNumbers arctan_numbers(const EngineOptions& options) {
  const StepOptions own(options, kArctan, arctan_fields());
  RegularisedNumbers numbers;
  numbers.arctan = true;
  numbers.stiffness = own.number("normal_stiffness");
  numbers.beta = own.number("beta");
  return numbers;
}

StepNumbers moreau_numbers(const EngineOptions& options) {
  const StepOptions own(options, kMoreau, moreau_fields());
  StepNumbers numbers;
  numbers.theta = own.number("theta");
  numbers.formula = own.word("form") == "printed" ? StepFormula::printed : StepFormula::moreau;
  return numbers;
}

StepNumbers theta_numbers(const EngineOptions& options) {
  StepNumbers numbers;
  numbers.formula = StepFormula::theta;
  const StepOptions own(options, kTheta, theta_fields());
  numbers.theta = own.number("theta");
  numbers.as_printed = own.word("form") == "printed";
  return numbers;
}

StepNumbers newmark_numbers(const EngineOptions& options) {
  const StepOptions own(options, kNewmark, newmark_fields());
  StepNumbers numbers;
  numbers.formula = StepFormula::newmark;
  numbers.beta = own.number("beta");
  numbers.gamma = own.number("gamma");
  numbers.as_printed = own.word("form") == "printed";
  return numbers;
}

StepNumbers central_numbers(const EngineOptions& options) {
  StepNumbers numbers;
  const StepOptions own(options, kCentral, central_fields());
  numbers.formula = own.word("form") == "explicit" ? StepFormula::explicit_central : StepFormula::central;
  numbers.mean_friction = own.word("friction") == "mean";
  return numbers;
}

/// Its restitution is not the number zero.
bool may_restore(const model::Relation& relation) {
  if (relation.restitution.outputs() != 2) return false;
  if (!relation.restitution.constant()) return true;
  double out[2] = {0, 0};
  std::vector<double> registers(static_cast<std::size_t>(relation.restitution.registers()) + 1);
  const std::vector<double> in(static_cast<std::size_t>(relation.restitution.inputs()) + 1);
  relation.restitution.evaluate(in.data(), out, registers.data());
  return out[0] != 0;
}

/// Impact laws of the model that are not of the scheme.
std::string impact_problem(const model::System& system, bool restitution, const std::string& scheme) {
  bool any_restores = false;
  for (const model::Relation& relation : system.relations())
    any_restores = any_restores || (relation.kind == model::RelationKind::contact && may_restore(relation));
  for (const model::Relation& relation : system.relations()) {
    if (relation.smooth_friction && relation.kind != model::RelationKind::contact && !relation.feeds.empty())
      return relation.place + " has the smooth law '" + name(relation.friction) +
             "' on a load that is a reaction; " + scheme + " has smooth laws on known loads and on contacts";
    if (relation.kind != model::RelationKind::contact || !relation.has_normal) continue;
    const bool restores = may_restore(relation);
    if (relation.has_tangential_restitution)
      return relation.place + " has tangential restitution, which " + scheme + " has no place for";
    // Without restitution the laws differ still, by what friction does on their paths and by what others give back in the same impact.
    const bool differs = relation.impact != ImpactType::moreau && (any_restores || relation.tangents > 0);
    if (!restores && !differs) continue;
    if (!restitution && restores)
      return relation.place + " may rebound: " + scheme + " has no restitution; contacts come to rest by it";
    if (differs)
      return relation.place + " has the impact law '" + name(relation.impact) + "'; " + scheme +
             " has Moreau's";
  }
  return {};
}

/// Beside large matrices only loads: there are no slopes of anything else.
std::string implicit_unsupported(const model::System& system) {
  const model::LargeMatrices* const large = model::large_matrices(system);
  if (large != nullptr && !large->only_matrices)
    return "the model has matrices with " + std::to_string(large->mass.size) +
           " rows, which stay numbers, and beside them forces or states that depend on the motion; give "
           "these as entries of the "
           "matrices";
  return stepping_unsupported(system);
}

std::string moreau_unsupported(const model::System& system) {
  if (std::string problem = implicit_unsupported(system); !problem.empty()) return problem;
  return impact_problem(system, true, "Moreau's scheme");
}

std::string rest_unsupported(const model::System& system) {
  if (std::string problem = implicit_unsupported(system); !problem.empty()) return problem;
  return impact_problem(system, false, "this scheme");
}

std::string central_unsupported(const model::System& system) {
  if (std::string problem = implicit_unsupported(system); !problem.empty()) return problem;
  if (system.layout().states > 0)
    return "the model has states: Paoli and Schatzman's scheme moves coordinates of masses alone";
  return impact_problem(system, true, "Paoli and Schatzman's scheme");
}

std::string regularised_unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  for (const model::Relation& relation : system.relations()) {
    if (relation.has_tangential_restitution)
      return relation.place + " has tangential restitution, which springs and smooth laws have no place for";
  }
  if (std::string problem = stepping_unsupported(system); !problem.empty()) return problem;
  return DryForces::problem(system);
}

/// The row of an engine whose scheme reads its numbers by `Read`.
template <class Kind, typename Kind::ReadNumbers Read, const Fields& (*OwnFields)(), const char* const& Name>
EngineEntry entry(std::string (*unsupported)(const model::System&)) {
  const auto make = [](const model::System& system) -> std::unique_ptr<Engine> {
    return std::make_unique<SteppingEngine>(
        system, Name, OwnFields(),
        [](const model::System& of) -> std::unique_ptr<Scheme> { return std::make_unique<Kind>(of, Read); });
  };
  return {{Name, OwnFields()}, 0, unsupported, make, false};
}

}  // namespace

std::vector<EngineEntry> stepping_engines() {
  return {entry<ImplicitScheme, moreau_numbers, moreau_fields, kMoreau>(moreau_unsupported),
          entry<ImplicitScheme, theta_numbers, theta_fields, kTheta>(rest_unsupported),
          entry<ImplicitScheme, newmark_numbers, newmark_fields, kNewmark>(rest_unsupported),
          entry<ImplicitScheme, central_numbers, central_fields, kCentral>(central_unsupported),
          entry<RungeKuttaScheme, zabuga_numbers, zabuga_fields, kZabuga>(planar_unsupported),
          entry<RungeKuttaScheme, ordinary_numbers, ordinary_fields, kOrdinary>(planar_unsupported),
          entry<RegularisedScheme, penalty_numbers, penalty_fields, kPenalty>(regularised_unsupported),
          entry<RegularisedScheme, arctan_numbers, arctan_fields, kArctan>(regularised_unsupported)};
}

}  // namespace judder::engines
