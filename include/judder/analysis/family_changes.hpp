// Values of a parameter at which families of rest states appear, vanish or change type.
//
// The type of a value is the list of its families (analysis/equilibria.hpp): statuses inside, dimension, with or without an end, verdict inside,
// and the sides. Types are compared at the given values and at four more between each two. Where neighbours differ, the value
// between them is found by bisection, and both parts that are left are looked at again until each has one type at its ends and in its middle.
//
// What comes and goes between two values of the same type is looked for where a number that types depend on comes nearer to zero and goes
// away again. These numbers are, for each choice of statuses (up to 2⁶ of them), the optimum of the linear program
//
//     max t ,   E x = e ,   G x + |G| t ≤ g                  below zero: the choice has no rest
//
// and for isolated rests with eigenvalues the largest real part and the least distance of two of them (frequencies that meet before they
// flutter). Each is minimised by golden section. That is no proof: what is narrower than the values lie apart, and in none of
// these numbers, is missed.
//
// Changes that lie nearer than 1e-7 of the value are one change, with the types that were met in between. So are those around a type that a
// thousandth of the tolerance takes away: sets that exist by a knife's edge last as long as inequalities may be missed.
#pragma once

#include <string>
#include <vector>

#include "judder/analysis/equilibria.hpp"
#include "judder/model/compile.hpp"

namespace judder::analysis {

struct FamilyChange {
  double value = 0;
  double first = 0, last = 0;  ///< values looked at on both sides, next to it
  /// "wall stuck, dimension 1, stable, to imminent slip+ of wall", …, in the order of the statuses
  std::vector<std::string> below;
  std::vector<std::vector<std::string>> together;  ///< types in between that could not be separated
  std::vector<std::string> above;
};

struct FamilyChanges {
  std::vector<FamilyChange> changes;
  std::size_t values = 0;  ///< that were looked at
  bool cut = false;        ///< there were too many: some of the rest was not looked at
};

/// From `points` values (≥ 2). Where the model does not compile or is not affine at rest, that is its type. Throws Abandoned when cancelled.
[[nodiscard]] FamilyChanges family_changes(const model::Spec& spec, const model::CompileOptions& compile,
                                           const std::string& parameter, double from, double to, int points,
                                           const EquilibriaOptions& options = {});

}  // namespace judder::analysis
