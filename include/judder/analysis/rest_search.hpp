// Rest states of models that are not affine at rest, and of first-order models: what a search finds.
//
// The unknowns of a rest and its statuses are those of equilibria.hpp; forces, gaps and rates may be any smooth function on each side of
// the switches. For every choice of
//
//     open or closed contacts,   stuck, slipping forwards or backwards friction,   the side of each switch, or sliding on its surface
//
// the equations are solved by Newton's method from many starting points: the start of the model, and points around it. On a surface of a
// switch a rest is Filippov's: the fields of both sides, mixed with a weight α in [0, 1], balance there. A *pseudo-equilibrium* is one that
// lies on a surface without being a rest of either side.
//
// Stuck friction makes families, and so do forces that vanish on a stretch. They are the sets F(u) = 0 in coordinates, states and reactions, within all
// inequalities. Their dimension is told by the directions in which there are rests near by; curves are followed by their arc length from end to end, larger families are
// stretched along each coordinate and reaction by linear programs in their tangent space, so that their ranges are local extremes.
//
// Nothing guarantees that all rests are found: a basin may be smaller than the distance of the starting points. The number of starts is part of the result.
// Starts are the start of the model, places around it, zeros of single equations along the coordinate lines, and rests of other statuses; isolated
// rests that are known are deflated.
//
// Stability: eigenvalues where the model is smooth around the rest; at a pseudo-equilibrium those of the sliding motion on the surface, if
// the surface attracts; where energy is conserved a minimum of the potential is stable (Lagrange and Dirichlet). Anything else is left to experiments
// (analysis/perturbation.hpp). A. F. Filippov, Differential equations with discontinuous righthand sides (1988), chapter 4.
#pragma once

#include <atomic>
#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judder/analysis/equilibria.hpp"
#include "judder/analysis/perturbation.hpp"
#include "judder/analysis/rest_stability.hpp"

namespace judder::analysis {

struct RestSearchOptions {
  int starts = 60;    ///< of Newton's method, per choice of statuses
  double spread = 3;  ///< starting points lie within this times the scale of each coordinate
  std::size_t most_choices = 4096;
  double tolerance = 1e-11;  ///< of the residual, relative to its terms
  std::optional<double> at;  ///< as in EquilibriaOptions
  bool near = false;         ///< the linear problem around each rest, for experiments
  const std::atomic<bool>* cancel = nullptr;
};

struct FoundRest {
  RestState state;  ///< x is (q, z)
  std::vector<std::pair<std::string, std::string>>
      words;                  ///< place and word, for contacts, joints and switches
  bool pseudo = false;        ///< on a surface, balanced by a mixture of both sides
  std::vector<double> share;  ///< weight of the upper side, by switch that is slid on
  double residual = 0;
  Stability stability = Stability::open;
  std::string why;
  std::vector<std::complex<double>> eigenvalues;
  std::size_t dimension = 0;      ///< of the family that it is a state of; 0: isolated
  std::vector<RestRange> family;  ///< ranges of coordinates, states and reactions over it; empty: isolated
  struct End {
    std::string meaning;  ///< "imminent slip+ of pad", "touch of wall", "switch of force.spring.value"
    RestState state;      ///< of a family of more dimensions: one of them
  };
  std::vector<End> ends;
  std::optional<RestProblem> near;       ///< the linear problem around it
  std::optional<Experiment> experiment;  ///< what pushes make of it
  bool whole = true;                     ///< false: the family was lost on the way, and may be larger
};

struct RestSearch {
  std::vector<std::string> names;  ///< coordinates, then states
  std::vector<FoundRest> rests;
  std::size_t choices = 0, left_out = 0;
  int starts = 0;
};

[[nodiscard]] std::optional<RestSearch> search_rests(const model::System& system,
                                                     const RestSearchOptions& options,
                                                     EquilibriaProblem& problem);

}  // namespace judder::analysis
