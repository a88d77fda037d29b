// Impacts: velocities jump, positions do not.
//
// Who takes part says engines/collision.hpp. A joint that was stuck and transmits nothing is released if the impact moves it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/impact.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/collision.hpp"
#include "judder/engines/event.hpp"
#include "judder/engines/mode.hpp"

namespace judder::engines {

class Collider {
 public:
  Collider(const model::System& system, model::Workspace& work);
  /// Asked inside long searches.
  void use(Patience* patience) { workspace_.use(patience); }

  /// `touching[r]` marks the open contacts whose gap is zero (strikes, separates: collision.hpp). Velocities in work.in jump; `mode` gets the statuses after the impact: closed
  /// where a contact stays, open where it rebounds, stick or slip by the law. Appends one event per contact with an impulse.
  /// `tail`: the contacts that take part are all brought to rest, as the infinitely many impacts of an accumulation do.
  /// Relations that got no impulse keep their status unless their slip changed.
  [[nodiscard]] Status collide(Mode& mode, std::span<const std::uint8_t> touching, bool tail,
                               std::vector<Event>& events);

  /// Resolution of Painlevé's paradox at a slipping contact that no finite reaction can hold: the inelastic impulse path from γ_N = 0 stops
  /// its slip. Other closed contacts, constraints and sticking rows keep their velocities; closed contacts that slip go on slipping. False: the
  /// contact does not jam. `at_jam`: the state is where k falls to zero.
  [[nodiscard]] bool tangential_impact(Mode& mode, int relation, bool at_jam, std::vector<Event>& events);

  /// Work of the impulses of the last impact by relation: dissipated and supplied (drives).
  [[nodiscard]] std::span<const double> dissipated() const { return dissipated_; }
  [[nodiscard]] std::span<const double> supplied() const { return supplied_; }
  /// Impulses of the last impact: Λ_N by relation, Λ_T by tangential row, constraints included.
  [[nodiscard]] std::span<const double> normal_impulse() const { return normal_impulse_; }
  [[nodiscard]] std::span<const double> before() const { return before_; }  ///< velocities before it
  [[nodiscard]] std::span<const double> tangential_impulse() const { return tangential_impulse_; }

 private:
  [[nodiscard]] Status collide_block(int block, Mode& mode, std::span<const std::uint8_t> touching, bool tail,
                                     std::vector<Event>& events);
  [[nodiscard]] bool pulls(std::span<const double> impulses) const;
  [[nodiscard]] bool leaves(const contact::ImpactProblem& problem, std::span<const double> impulses,
                            std::span<const double> after, int row) const;
  [[nodiscard]] bool stops(const contact::ImpactProblem& problem, const contact::ImpactResult& result,
                           std::span<const std::uint8_t> touching) const;
  void take_impulses(const contact::ImpactProblem& problem, std::span<const double> impulses);
  void release_joints(Mode& mode);

  const model::System& system_;
  model::Workspace& work_;
  Collision collision_;
  contact::ImpactWorkspace workspace_;
  std::vector<std::uint8_t> settled_;  ///< by relation: its slips were part of the impact
  void note_impulse(int row, double impulse);
  [[nodiscard]] double mean_speed(const Collision::Row& row) const;
  void account_for_pushes(const contact::ImpactProblem& problem, std::span<const double> work);
  std::vector<double> before_;  ///< velocities before the impact
  std::vector<double> dissipated_, supplied_;
  std::vector<double> jump_, jump_terms_;  ///< of the velocities, and the sum of its absolute terms
  std::vector<double> impulse_;            ///< of the present block, by row
  std::vector<double> normal_impulse_, tangential_impulse_;
};

}  // namespace judder::engines
