// Where the unknowns of a rest stand, and what its inequalities mean.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "judder/analysis/equilibria.hpp"

namespace judder::analysis {

/// Unknowns of one choice of statuses: (q, z), then the reactions of what is not open.
struct RestLayout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t size = 0;
  std::vector<std::size_t> normal, tangent;  ///< by relation: place of λ_N, λ_T; kNone: it is zero

  enum class Meaning : std::uint8_t { apart, presses, slip_plus, slip_minus, sign };
  struct Side {
    Meaning meaning = Meaning::apart;
    std::size_t relation = 0;
  };
  std::vector<Side> sides;  ///< by inequality
};

/// What a choice says of each relation: 0 open (or a negative bilateral reaction), 1 closed (not negative), 2 either.
std::vector<std::uint8_t> choice_by_relation(const RestProblem& rest,
                                             const std::vector<std::uint8_t>& closed);
/// Relations that a choice is about: unilateral contacts, then bilateral rows that some friction depends on.
std::vector<std::size_t> chosen_relations(const RestProblem& rest);
std::size_t unilateral_count(const RestProblem& rest);

/// The polyhedron of a choice with the meaning of its unknowns and inequalities.
contact::Polyhedron make_polyhedron(const RestProblem& rest, const std::vector<std::uint8_t>& closed,
                                    RestLayout& layout);

/// L of a relation as a row over the unknowns, and its constant.
double load_row(const RestProblem& rest, const RestLayout& layout, const std::vector<std::uint8_t>& choice,
                std::size_t relation, std::vector<double>& row);

/// A point of the polyhedron as a state. `tight` inequalities count as equations beside those that hold by value.
RestState state_of(const RestProblem& rest, const RestLayout& layout, const std::vector<std::uint8_t>& choice,
                   const std::vector<double>& x, const std::vector<std::uint8_t>& tight,
                   bool direction = false);

/// The viscous coefficient of a relation's friction law at a slip speed, and its slope, where the model stands in `work`.
std::pair<double, double> viscous_friction(const model::System& system, model::Workspace& work,
                                           std::size_t relation, double speed);

}  // namespace judder::analysis
