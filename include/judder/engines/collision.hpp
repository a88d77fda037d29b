// A state seen as a collision: which rows take part in an impact, with which numbers, and what impulses do to the velocities.
//
//     γ⁺ = A Λ + γ⁻ ,   v⁺ = v⁻ + Σ Λ_i M⁻¹ column_i
//
// Takes part: every closed contact, every contact that touches (also one that separates: the impact of another may bring it back), every
// bilateral constraint, and joints fed by their normal forces. Everything with a finite force transmits nothing. The impact laws
// (contact/impact.hpp) work on the problems given here; the engine and `analysis` share them.
//
// There is one problem for each *block*: coordinates that the mass matrix, a row that takes part or a fed joint connects, as they are
// written (an entry that happens to be zero connects, one that cannot be anything but zero does not). Blocks in which nothing is struck
// are left out, so what rests elsewhere changes nothing, and cost grows with the number of blocks.
//
// Friction laws enter as Coulomb's law with the coefficient of steady sliding at the slip before the impact, and with the static one where
// the slip is at rest: by the mode, or zero to rounding. Laws that follow the impulse path ask for the coefficient along it, at the
// velocities they have reached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "judder/contact/impact.hpp"
#include "judder/contact/painleve.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

/// What an open contact without a gap does, in arrays by relation; 0: it has a gap, or is closed.
inline constexpr std::uint8_t strikes = 1;
inline constexpr std::uint8_t separates = 2;

/// The mode of a state as it is before anything has been decided: contacts whose gap is zero to rounding and does not change
/// are closed, slips that are zero to rounding are at rest. `touching[r]` is set for contacts whose gap is zero and changes: to `strikes`
/// where it shrinks, to `separates` where it grows; in the mode they are open. Reads work.in; sides of switches are not touched. `mode` and `touching` get their sizes.
/// True if something touches and approaches.
[[nodiscard]] bool observe(const model::System& system, model::Workspace& work, Mode& mode,
                           std::vector<std::uint8_t>& touching);

class Collision {
 public:
  /// Both must outlive the collision.
  Collision(const model::System& system, model::Workspace& work);
  ~Collision();
  Collision(Collision&&) noexcept;

  struct Row {
    int relation = 0;
    int tangent = -1;  ///< tangential row within the relation; −1: normal row
    int number = -1;   ///< number of the tangential row in the model; −1: normal row
  };

  /// Rows of one block, and those where friction takes part: memory grows with their squares.
  static constexpr int kMostRows = 1000;
  static constexpr int kMostWithFriction = 700;

  /// Looks at the state work.in: slips, and the blocks that are struck. Fails where the equations cannot be evaluated, and where there are too many rows.
  /// `inelastic`: contacts
  /// that strike or are closed become bilateral rows, so that all are brought to rest.
  [[nodiscard]] Status begin(const Mode& mode, std::span<const std::uint8_t> touching,
                             bool inelastic = false);
  [[nodiscard]] int blocks() const;
  /// Collects the rows of a block at the state work.in, in the order of the relations. Closed and held rows have exactly no velocity, sticking
  /// slips none either, by their status. `push_only`: inelastic contacts stay unilateral.
  void take(int block, bool push_only = false);

  [[nodiscard]] int size() const;
  [[nodiscard]] int normals() const;
  [[nodiscard]] Row row(int i) const;
  /// Views into this object, valid until the next `take`. Laws are those of the model.
  [[nodiscard]] contact::ImpactProblem problem();
  /// M⁻¹ column_i by coordinate.
  [[nodiscard]] const double* response(int i) const;
  /// Slip velocity before by number of the tangential row, for all rows of the model.
  [[nodiscard]] std::span<const double> slip_before() const;

  /// The slipping contact or constraint `relation` alone (contact/painleve.hpp); the mode says what the others do. Reactions:
  /// all rows at the level of accelerations. Impulses: joints with a known load transmit none and are left out. Collects rows
  /// of its own; what `take` gave is lost. Nothing where the relation is open or does not slip along one direction.
  [[nodiscard]] std::optional<contact::SlidingContact> sliding(const Mode& mode, int relation, bool impulses);
  /// The inelastic impulse path of a contact that jams: of what `sliding` has just given for impulses; its rows.
  /// `at_jam`: k is zero but for the error of the state.
  [[nodiscard]] contact::PathResult tangential_impact(const contact::SlidingContact& alone, int normal,
                                                      int tangent, bool at_jam);

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace judder::engines
