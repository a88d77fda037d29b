// Which contacts open, stay closed, stick or slip: one planar decision problem, for accelerations and for
// impulses.
//
// Unknown are the reactions λ and the accelerations a (or impulses and velocities) of n = nN + nT rows,
// normal rows first, coupled by a = A λ + b. A need not be symmetric (push, drag).
//
//     unilateral        a_k ≥ 0 ⟂ λ_k ≥ 0                   statuses open, closed
//     bilateral         a_k = 0, λ_k free                   held; held_plus, held_minus (sign of λ_k)
//     limit             L_j = base_j + Σ_k coupling_jk |λ_k|
//     at rest           a_j = 0, |λ_j| ≤ μs_j L_j           stick
//                       λ_j = −s μd_j L_j, s a_j ≥ 0        slip, s = ±1
//     slips             λ_j = −s μd_j L_j                   direction s known, no condition on a_j
//     follows           λ_j = −κ_j L_j                      a smooth law, no condition
//     tied              a_j = 0, λ_j free                   while one of its normal rows is closed
//
// A tangential row whose limit is zero because its base is zero and all its normal rows are open (or because
// its coefficients are zero) has λ_j = 0 and status `free`. A *mode* is one status per row; in a given mode
// everything is linear. `decide` finds the mode:
//
// 1. Everything at rest is judged with its static coefficient. What comes out slipping gets its direction
//    and its slip coefficient, and the others are judged again; what slips is not put back to stick. The
//    result is checked as a whole; if it fails, all modes are enumerated (stick with static, slip with slip
//    coefficients) and the admissible mode with most sticking rows is taken. So rest is kept where static
//    coefficients allow it: hysteresis, not indeterminacy.
// 2. Up to `max_modes` candidate modes all of them are tried. None admissible: `inconsistent`; two with
//    different *accelerations*: `indeterminate`. Painlevé's paradoxes are these two verdicts. Different
//    reactions with the same accelerations are no indeterminacy; `reactions_unique` tells. Above `max_modes`:
//    where no friction depends on an unknown normal force the problem is convex; it always has a solution,
//    which is found at any size and unique. Otherwise a search from the first mode, Lemke's method, then a
//    semismooth Newton method, and the verdicts `found_unchecked` and `not_found` promise nothing about other
//    solutions. Problems that fall apart are decided block by block (blocks.hpp).
// 3. When the rows with a = 0 are dependent, a mode is admissible as long as *some* reaction of the affine
//    solution set satisfies all inequalities (a small linear program, `largest_margin`).
//
// Inequalities are relaxed by `tolerance` times the scale of their row. All modes that are admissible in this
// sense and share the accelerations of the answer are listed as candidates (λ = a = 0: open and closed; cone
// reached: stick and slip), unless every inequality of the answer holds strictly: then it lasts and there is
// no tie. The caller breaks ties with higher time derivatives. In a candidate, rows that the rounds of rule 1
// have not released are judged with static coefficients, also where the candidate lets them slip; a caller
// who takes such a candidate decides again with `stick` excluded for that row.
//
// Scales. With d_i = √|A_ii| all of b_i/d_i and λ_i d_i have one unit whatever the units of the rows; the
// largest known one, β, gives the scales β d_i of a_i and β/d_i of λ_i. Scales given by the caller are
// floors. A change of units by powers of two changes no bit of the result.
//
// Nothing allocates after DecisionWorkspace::resize. Results are views into the workspace, valid until its
// next use.
//
// docs/theory.md, "Deciding the mode". P. Lötstedt, Mechanical systems of rigid bodies subject to unilateral constraints,
// SIAM J. Appl. Math. 42 (1982); F. Génot, B. Brogliato, New results on Painlevé paradoxes, Eur. J. Mech.
// A/Solids 18 (1999).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::contact {

enum class NormalKind : std::uint8_t { unilateral, bilateral };

enum class TangentState : std::uint8_t {
  rest,        ///< no slip now: may stick or start to slip either way
  slip_plus,   ///< slips in the positive direction
  slip_minus,  ///< slips in the negative direction
  follows,     ///< λ = −κ L, a smooth law
  tied,        ///< a = 0 without a bound on λ, as long as one of its normal rows is closed
};

enum class RowStatus : std::uint8_t {
  open,        ///< normal row: λ = 0
  closed,      ///< normal row: a = 0, λ ≥ 0
  held,        ///< bilateral row that no friction depends on: a = 0
  held_plus,   ///< bilateral row, a = 0, λ ≥ 0
  held_minus,  ///< bilateral row, a = 0, λ ≤ 0
  free,        ///< tangential row without normal force: λ = 0
  stick,       ///< tangential row (at rest or tied): a = 0
  slip_plus,   ///< tangential row: λ = −μd L
  slip_minus,  ///< tangential row: λ = +μd L
  follows,     ///< tangential row: λ = −κ L
};

/// The word used in messages: "open", "slip+", …
[[nodiscard]] const char* name(RowStatus status);

/// One bit per status, for `DecisionProblem::excluded`.
[[nodiscard]] constexpr std::uint16_t bit(RowStatus status) {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(status));
}

/// Plain views of the caller's numbers; null pointers mean the default named beside them.
struct DecisionProblem {
  int normals = 0;                      ///< nN
  int tangents = 0;                     ///< nT
  const double* A = nullptr;            ///< n × n by rows
  const double* b = nullptr;            ///< n
  const NormalKind* kind = nullptr;     ///< nN; null: all unilateral
  const TangentState* state = nullptr;  ///< nT; null: all at rest
  const double* mu_static = nullptr;    ///< nT, ≥ 0, read for rows at rest; null: equal to mu_slip
  const double* mu_slip = nullptr;      ///< nT, ≥ 0; for rows that follow, κ of any sign
  const double* base = nullptr;         ///< nT, ≥ 0; null: zero
  /// The same for the reactions of rows at rest below zero, which slip forwards, where a law depends on the direction of slip. Where too many modes are
  /// to be tried all at once, the numbers above hold for both directions.
  const double* mu_static_below = nullptr;  ///< null: as mu_static
  const double* mu_slip_below = nullptr;    ///< null: as mu_slip
  const double* base_below = nullptr;       ///< null: as base
  const double* coupling = nullptr;         ///< nT × nN by rows, ≥ 0; null: zero (joints only)
  const std::uint16_t* excluded = nullptr;  ///< n bit masks of statuses that must not be returned; null: none
  const double* force_scale = nullptr;      ///< n, floor for the scale of λ; null: none
  const double* acceleration_scale = nullptr;  ///< n, floor for the scale of a; null: none

  [[nodiscard]] int rows() const { return normals + tangents; }
};

struct DecisionOptions {
  double tolerance = 1e-10;         ///< inequalities hold to this times the row's scale; [0, 1e-3]
  double same_acceleration = 1e-6;  ///< accelerations this close, relative to scale, are the same
  double rank_tolerance = 1e-10;  ///< pivots of the matrix with unit diagonal below this are zero; (0, 1e-3]
  int max_modes = 4096;           ///< above this many candidate modes uniqueness is not checked; [1, 4096]
  int max_iterations = 200;  ///< of the semismooth Newton method; Lemke may take 20 (n + 1) pivots; ≥ 1
};

enum class Verdict : std::uint8_t {
  unique,           ///< one set of accelerations: all modes tried, or the problem is convex
  inconsistent,     ///< all modes tried, none admissible
  indeterminate,    ///< admissible modes with different accelerations; all of them are listed
  found_unchecked,  ///< too many modes to try them all; one solution found
  not_found,        ///< too many modes to try them all; none found, absence not proved
};
[[nodiscard]] const char* name(Verdict verdict);

/// Numbers of one mode. All views have the size of their rows; `limit` one entry per tangential row.
struct ModeValues {
  std::span<double> force;         ///< λ
  std::span<double> acceleration;  ///< a; exactly 0 on rows held, closed, stuck
  std::span<double> limit;         ///< L
  /// ≥ 0 where the row's inequality holds: open a; closed λ; held± ±λ; stick μs L − |λ|; slip from rest s a;
  /// infinity where there is none.
  std::span<double> margin;
};

/// What to eliminate in which order for one mode, and its rank. Found once per mode by complete pivoting and
/// kept while the mode lasts, so that rank cannot flicker; evaluation at other numbers repeats the
/// elimination in the same order.
class ModeFactor {
 public:
  /// Memory for `rows` rows.
  void resize(int rows);
  [[nodiscard]] int active() const { return active_; }  ///< rows with a = 0
  [[nodiscard]] int rank() const { return rank_; }      ///< independent ones among them
  [[nodiscard]] bool reactions_unique() const { return rank_ == active_; }

 private:
  friend class ModeSolver;
  int active_ = 0;
  int rank_ = 0;
  std::vector<int> row_;     // active rows (equations), in pivot order
  std::vector<int> column_;  // active rows (unknowns), in pivot order
};

struct ModeResult {
  double inconsistency = 0;          ///< largest |a| left on dependent rows relative to scale; 0 at full rank
  double worst_margin = 0;           ///< smallest margin relative to the row's scale
  int worst_row = -1;                ///< where; −1 when no row has an inequality
  bool accelerations_unique = true;  ///< false: reactions of the null space change accelerations
};

enum class MarginStatus : std::uint8_t {
  bounded,     ///< the margin is its largest value
  unbounded,   ///< reactions can be as safe as one likes (wedged, or no inequality); margin is infinity
  infeasible,  ///< the conditions a ≥ 0 of open and slipping rows, or dependent rows, contradict
};

struct MarginResult {
  MarginStatus status = MarginStatus::infeasible;
  double margin = -std::numeric_limits<double>::infinity();  ///< in the unit of λ
  int row = -1;  ///< a row where the margin is attained; −1 if none
};

struct Decision {
  Verdict verdict = Verdict::not_found;
  bool reactions_unique = true;  ///< the rows with a = 0 are independent
  bool static_rule = false;      ///< a row was released by its static coefficient in this decision
  int modes_tried = 0;           ///< modes evaluated
  int row = -1;                  ///< for a message: where answers differ, or what the least bad mode violates
  int candidates = 0;  ///< modes sharing the accelerations; for `indeterminate`, all admissible modes
  std::span<const RowStatus> mode;       ///< n; the answer, or the first of several, or the least bad mode
  std::span<const double> force;         ///< λ of `mode`; of largest margin where it is not unique
  std::span<const double> acceleration;  ///< a of `mode`
  std::span<const double> force_scale;   ///< n; what "zero" was relative to, with the caller's floors
  std::span<const double> acceleration_scale;
  std::span<const RowStatus> candidate_modes;  ///< candidates × n; the first is `mode`
  /// Where the modes were too many to try them all: n, what each row could as well be (cone reached, λ = a = 0), or
  /// its status in `mode`. Empty otherwise.
  std::span<const RowStatus> alternative;

  [[nodiscard]] bool found() const {
    return verdict == Verdict::unique || verdict == Verdict::found_unchecked;
  }
  [[nodiscard]] std::span<const RowStatus> candidate(int i) const {
    return candidate_modes.subspan(static_cast<std::size_t>(i) * mode.size(), mode.size());
  }
};

/// Memory of all functions below. `resize` allocates for problems up to the given sizes and is the only place
/// that does.
class DecisionWorkspace {
 public:
  DecisionWorkspace();
  DecisionWorkspace(int normals, int tangents) : DecisionWorkspace() { resize(normals, tangents); }
  ~DecisionWorkspace();
  DecisionWorkspace(DecisionWorkspace&&) noexcept;
  DecisionWorkspace& operator=(DecisionWorkspace&&) noexcept;

  /// Grows, never shrinks.
  void resize(int normals, int tangents);
  /// The same, but the memory is taken at the first use: who never decides pays nothing. Beyond kProvided rows, what only dependent rows and Lemke's method need is
  /// taken where they need it.
  void expect(int normals, int tangents);
  static constexpr int kProvided = 128;
  /// Asked inside long searches whether to go on; it must live as long. Null: nobody.
  void use(Patience* patience);

  struct Memory;
  [[nodiscard]] Memory& memory();

 private:
  int normals_ = 0;
  int tangents_ = 0;
  Patience* patience_ = nullptr;
  std::unique_ptr<Memory> memory_;
};

/// Finds the mode. The workspace must have been resized to at least the size of the problem.
[[nodiscard]] Decision decide(const DecisionProblem& problem, const DecisionOptions& options,
                              DecisionWorkspace& workspace);

/// Finds the order of elimination and the rank of `mode` (n statuses) at the numbers of `problem`.
void factor_mode(const DecisionProblem& problem, std::span<const RowStatus> mode, double rank_tolerance,
                 ModeFactor& factor, DecisionWorkspace& workspace);

/// λ, a, L and margins of a given mode; no inequality is enforced. With dependent rows λ is the solution that
/// leaves the dependent rows unloaded; accelerations do not depend on that choice unless the result says so.
ModeResult evaluate_mode(const DecisionProblem& problem, std::span<const RowStatus> mode,
                         const ModeFactor& factor, DecisionWorkspace& workspace, ModeValues values);

/// The reaction of `mode` that maximises the smallest of λ_k (closed rows), ±λ_k (held±) and μs L_j ± λ_j
/// (stick rows), of smallest norm among equals; where it can grow without bound, the admissible reaction of
/// smallest norm. Writes λ and the accelerations that belong to it. At full rank this is `evaluate_mode` with
/// its margin.
MarginResult largest_margin(const DecisionProblem& problem, std::span<const RowStatus> mode,
                            const ModeFactor& factor, DecisionWorkspace& workspace, std::span<double> force,
                            std::span<double> acceleration);

}  // namespace judder::contact
