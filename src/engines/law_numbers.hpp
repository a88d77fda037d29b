// Numbers of friction and impact laws that a model writes as expressions, and what they may not become while it runs.
//
// A coefficient of friction below zero would push along the slip: the cone |λ_T| ≤ μ λ_N is empty. A negative viscous coefficient, stiffness or damping of a
// law feeds energy in. A restitution lies between 0 and 1. What is a constant is refused before the run; what varies is looked at where it acts:
// laws of joints, constraints and closed contacts at points of every step, those of an impact at its velocities.
#pragma once

#include <span>
#include <string>

#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

/// A number of a law outside of its range.
struct LawDefect {
  int relation = -1;  ///< −1: there is none
  const char* number = "";
  double value = 0;
  [[nodiscard]] explicit operator bool() const { return relation >= 0; }
};

/// Whether some law that acts all the time has numbers that vary.
[[nodiscard]] bool laws_vary(const model::System& system);

/// The first friction law that acts at the state and in the mode, and has a number below zero by more than its rounding. Reads work.in; switches in laws
/// stand by value.
[[nodiscard]] LawDefect defect_of_laws(const model::System& system, model::Workspace& work, const Mode& mode);

/// The numbers of the laws that act, kNumbersOfLaw for each relation: coefficients, viscous friction and the like; those that do not vary or act stand as they cannot fall.
inline constexpr int kNumbersOfLaw = 7;
void numbers_of_laws(const model::System& system, model::Workspace& work, const Mode& mode,
                     std::span<double> out);

/// The same as defect_of_laws, of one relation, whatever its status.
[[nodiscard]] LawDefect defect_of_law(const model::System& system, model::Workspace& work, int relation);

/// The restitution of a contact that closes with this speed, where it is not between 0 and 1.
[[nodiscard]] LawDefect defect_of_restitution(const model::System& system, model::Workspace& work,
                                              int relation, double approach_speed);

/// "the coefficient 'mu' of the friction law is -0.1; …".
[[nodiscard]] std::string describe(const LawDefect& defect);

}  // namespace judder::engines
