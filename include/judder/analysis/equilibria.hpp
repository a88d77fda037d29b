// All rest states of a model, isolated ones and the families that friction makes of them.
//
// A rest has v = 0. A contact or joint whose slip is not zero there, a belt, slides steadily with its known friction; all others may hold
// as long as Coulomb's law lets them:
//
//     K (q, z) = F + Σ push λ_N + Σ drag λ_T ,     rates of z = 0
//     open:    g ≥ 0 , λ_N = λ_T = 0               closed:  g = 0 , λ_N ≥ 0
//     at rest: |λ_T| ≤ μ_s L ;   slipping with the drive b:  λ_T = −sign(b) μ(|b|) L − c(|b|) b ;   L = base + Σ factor |λ_N|
//
// Where forces, gaps and loads are affine in the position, each choice of open and closed contacts (and of the sign of bilateral reactions
// that friction depends on) is a polyhedron in (q, z, λ): empty or not, a point, or a family, possibly unbounded. So all rest states are
// found, with ranges by linear programs (contact/polyhedron.hpp). With more than `all_statuses_up_to` contacts the choices are made one after another,
// and a part that has no rest by itself is not looked into; what is left out in the end is counted.
//
// A rest at g = 0 with λ = 0 belongs to both sides of its contact. It is told once: as part of the open family if that has other states, and
// of the closed one otherwise.
//
// Loads may depend on time before `at`: what is asked is the rest under the loads that hold from there on. Whether they are constant is seen on a few hundred instants after it.
//
// Models that are not affine at rest: analysis/rest_search.hpp.
//
// S. Basseville, thesis, Aix-Marseille II 2004, IV.2, with its table corrected (docs/equilibria.md); O. Petcoviciu, thesis, Timișoara 2010, 4.1.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judder/contact/polyhedron.hpp"
#include "judder/model/system.hpp"

namespace judder::analysis {

struct EquilibriaOptions {
  std::size_t limit = 10000;       ///< vertices and rays listed per family
  std::optional<double> at;        ///< instant from which loads are constant; not given: the start of the run
  double horizon = 1;              ///< a time on which loads would be seen to change, > 0
  double tolerance = 1e-9;         ///< of inequalities, relative to their scale
  int all_statuses_up_to = 12;     ///< contacts; above it choices are pruned
  std::size_t most_parts = 20000;  ///< linear programs that pruning may take
  const std::atomic<bool>* cancel = nullptr;
};

/// What a contact or joint does at a rest.
enum class RestStatus : std::uint8_t {
  detached,   ///< open, with a gap
  grazing,    ///< touches without a reaction
  pressed,    ///< closed, without friction
  stuck,      ///< inside the cone
  slip_plus,  ///< on the edge of the cone: slip in the positive direction is imminent
  slip_minus,
  sliding_plus,  ///< slides steadily on what moves past it
  sliding_minus,
  held,  ///< a constraint
};
[[nodiscard]] const char* name(RestStatus status);

/// The model at v = 0, affine in x = (q, z).
struct RestProblem {
  struct Tangent {
    int number = 0;               ///< of the tangential row in the model
    std::vector<double> w, drag;  ///< n
    double drive = 0;             ///< slip at v = 0
    double mu = 0;                ///< μ_s, or μ at the drive
    double mu_slip = 0;           ///< as soon as it slips
    double mu_slope = 0;          ///< dμ/d|slip| at the drive
    double viscous = 0;           ///< c at the drive; what it does is in neither `load` nor `damping`
    double viscous_slope = 0;     ///< dc/d|slip| there
    /// What one unit of slip more adds to −λ_T by the viscous part.
    [[nodiscard]] double damper() const { return viscous + viscous_slope * std::abs(drive); }
  };
  struct Relation {
    std::string name;
    model::RelationKind kind = model::RelationKind::contact;
    bool unilateral = false;  ///< a rigid contact
    bool has_normal = false;
    double gap = 0;                  ///< at x = 0
    std::vector<double> w, push;     ///< n; the gap is gap + w·q
    double base = 0;                 ///< of L at x = 0
    std::vector<double> base_slope;  ///< n + m
    std::vector<int> feeds;
    std::vector<double> factors;
    bool constant_law = false;      ///< L and μ are plain numbers, the same at rest and in slip at any speed
    std::vector<Tangent> tangents;  ///< none or one
  };
  std::size_t n = 0, m = 0;
  double time = 0;
  std::vector<double> mass;              ///< n × n
  std::vector<double> stiffness;         ///< n × (n + m): −∂h/∂x
  std::vector<double> damping;           ///< n × n: −∂h/∂v, without the viscous parts of friction laws
  std::vector<double> load;              ///< h at x = 0, without these
  std::vector<double> rate_slope, rate;  ///< m × (n + m), m
  std::vector<Relation> relations;
  std::vector<std::string> coordinates, states;
};

/// A rest state. `tangent` and `reserve` have one number per relation (0 without friction).
struct RestState {
  std::vector<double> x;                ///< coordinates, then states
  std::vector<double> normal, tangent;  ///< λ_N, λ_T by relation
  std::vector<double> gap;              ///< by relation
  std::vector<double> reserve;          ///< L μ_s − |λ_T| by relation
  std::vector<RestStatus> status;       ///< by relation
};

struct RestRange {
  std::string name;  ///< "UT", "normal(wall)", "tangent(wall)", "gap(wall)", "reserve(wall)"
  double low = 0, high = 0;
};

/// A side of a family, of one dimension less.
struct RestFace {
  std::string meaning;  ///< "imminent slip+ of wall", "lift-off of wall", "touch of wall", "no load on pad"
  RestState state;      ///< inside it
};

struct RestFamily {
  std::vector<std::uint8_t>
      closed;  ///< by unilateral contact, then by signed bilateral row (1: not negative)
  std::size_t dimension = 0;
  RestState inside;               ///< in its relative interior
  std::vector<RestRange> ranges;  ///< coordinates, states, reactions, gaps and reserves
  std::vector<RestFace> faces;
  std::vector<RestState> vertices;
  std::vector<RestState> rays;             ///< directions; statuses are those far out
  std::vector<std::vector<double>> lines;  ///< directions of (q, z) and reactions without an end
  bool complete = true;                    ///< the lists of vertices and rays
};

struct Equilibria {
  std::vector<RestFamily> families;
  std::size_t choices =
      0;  ///< of statuses, 2ⁿ; all of them if `left_out` is 0 (the largest number where 2ⁿ is none)
  std::size_t looked_at = 0;          ///< linear programs for feasibility
  std::size_t feasible = 0;           ///< choices with a rest, before those told twice are left out
  std::size_t left_out = 0;           ///< parts that were not looked into
  std::vector<std::string> floating;  ///< directions that no force holds: "x + 0.5 y"
};

/// Why there is no answer. Empty message: there is one.
struct EquilibriaProblem {
  std::string message, help;
  bool not_affine = false;  ///< the model has rest states of another kind (rest_search.hpp)
};

/// The affine problem of a model, or why it has none.
[[nodiscard]] std::optional<RestProblem> rest_problem(const model::System& system,
                                                      const EquilibriaOptions& options,
                                                      EquilibriaProblem& problem);
/// All rest states. Throws Abandoned when cancelled.
[[nodiscard]] Equilibria equilibria(const RestProblem& rest, const EquilibriaOptions& options = {});

/// Whether a choice (as in RestFamily::closed; 2: open or closed) has a rest. For tests and for those who search on their own.
[[nodiscard]] contact::Polyhedron rest_polyhedron(const RestProblem& rest,
                                                  const std::vector<std::uint8_t>& closed);

}  // namespace judder::analysis
