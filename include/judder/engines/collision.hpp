// A state seen as a collision: which rows take part in an impact, with which numbers, and what impulses do to the velocities.
//
//     γ⁺ = A Λ + γ⁻ ,   v⁺ = v⁻ + Σ Λ_i M⁻¹ column_i
//
// Takes part: every closed contact, every contact that touches and approaches, every bilateral constraint, and joints fed by
// their normal forces. Everything with a finite force transmits nothing. The impact laws (contact/impact.hpp) work on the
// problem given here; the engine and `analysis` share it.
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

/// The mode of a state as it is before anything has been decided: contacts whose gap is zero to rounding and does not change
/// are closed, slips that are zero to rounding are at rest. `touching[r]` is set to 1 for contacts whose gap is zero and
/// shrinks; in the mode they are open. Reads work.in; sides of switches are not touched. `mode` and `touching` get their sizes.
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

  /// Collects the rows at the state work.in. Fails where the equations cannot be evaluated. Closed and held rows have exactly
  /// no velocity, sticking slips none either, by their status. `inelastic`: contacts become bilateral rows, so that all are
  /// brought to rest.
  [[nodiscard]] Status assemble(const Mode& mode, std::span<const std::uint8_t> touching,
                                bool inelastic = false);

  [[nodiscard]] int size() const;
  [[nodiscard]] int normals() const;
  [[nodiscard]] Row row(int i) const;
  /// Views into this object, valid until the next `assemble`. Laws are those of the model.
  [[nodiscard]] contact::ImpactProblem problem() const;
  /// M⁻¹ column_i by coordinate.
  [[nodiscard]] const double* response(int i) const;
  /// Slip velocity before by number of the tangential row, for all rows of the model.
  [[nodiscard]] std::span<const double> slip_before() const;

  /// The slipping contact or constraint `relation` alone (contact/painleve.hpp); the mode says what the others do. Reactions:
  /// all rows at the level of accelerations. Impulses: joints with a known load transmit none and are left out. Collects rows
  /// of its own; what `assemble` gave is lost. Nothing where the relation is open or does not slip along one direction.
  [[nodiscard]] std::optional<contact::SlidingContact> sliding(const Mode& mode, int relation, bool impulses);

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace judder::engines
