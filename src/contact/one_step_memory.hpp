// Memory and shared parts of the solvers of one-step problems.
//
// The solvers see a scaled problem: r = s Q r̂, u = û Q / s with powers of two s near 1/√W_ii (one per block for slips) and Q near the size of the row: the
// largest of s |q| and of what comes from rows that couple to it. Its diagonal is near one, no entry and no q is much above it, and scaling is
// exact. A contact out of reach has a q of 16. W is kept by blocks, with the blocks that are zero left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/contact/one_step.hpp"

namespace judder::contact {

/// One block of the scaled problem.
struct ScaledBlock {
  StepBlockKind kind = StepBlockKind::contact;
  int first = 0;          ///< row of the normal impulse or, for a friction block, of the first slip
  int rows = 0;           ///< all of them
  int slip = 0;           ///< row of the first slip component
  int slips = 0;          ///< number of slip components
  bool tied = false;      ///< no bound while something presses
  bool massless = false;  ///< a row of it has no inertia
  bool far = false;       ///< open by more than anything that couples to it
  double base = 0;        ///< known part of the limit
  double mu = 0;          ///< limit per own normal impulse
  int feed = 0;           ///< entries of `feeds`
  int feed_end = 0;
  int diagonal = 0;       ///< offset of the own block in `values`
  double rho_normal = 1;  ///< 1/Ŵ of the normal row; 0 without inertia
  double rho_slip = 1;    ///< the same for the slips together
};

struct OneStepWorkspace::Memory {
  Patience* patience = nullptr;

  int n = 0;
  int count = 0;  // blocks
  std::vector<ScaledBlock> blocks;
  std::vector<StepFeed> feeds;
  std::vector<int> block_of;  // of a row
  std::vector<int> begin, column, value;
  std::vector<double> values;
  std::vector<double> q, s;
  std::vector<double> size;                         // Q
  std::vector<double> impulse_unit, velocity_unit;  // s Q and Q / s, as powers of two
  std::vector<double> velocity_size;                // Q / s
  std::vector<double> kept;                         // impulses of an answer, while a better one is sought
  bool any_far = false;                             // q of some contact is not its own

  std::vector<double> x;     // r̂, the point the methods work on
  std::vector<double> best;  // the best point seen
  double best_residual = 0;
  std::vector<double> u, trial, trial_u, error, step, center;
  std::vector<double> jacobian;  // n × n, taken by the first Newton step
  std::vector<int> pivot;
  std::vector<int>
      place;  // by row: its number in the Jacobian, where neighbours stand together in large problems
  std::vector<int> last_row;  // by column: the last row of the Jacobian that may have an entry there
  std::vector<int> row_end;   // by row of the Jacobian: one behind its last entry

  std::vector<double> impulse, velocity;
  std::vector<StepContact> contacts;

  // planar problems as decisions: normal rows first
  DecisionWorkspace decision;
  std::vector<double> mode_matrix, mode_b, mode_mu, mode_base, mode_coupling;
  std::vector<NormalKind> mode_kind;
  std::vector<int> mode_row;

  void resize(int rows, int block_count, std::size_t entries, std::size_t nonzeros, std::size_t feed_count);
  void look() const {
    if (patience != nullptr) patience->look();
  }
};

using StepMemory = OneStepWorkspace::Memory;

/// Units of the scaled problem: the own size of each row, or the largest of these for all.
enum class StepUnits : std::uint8_t { own, one };

/// Contacts so far open that nothing reaches them: at the end of the reach, where they are, or where they are and with the sizes that they make.
enum class FarContacts : std::uint8_t { near, there, counted };

/// Fills the scaled problem and x from the guess. False: numbers that are not finite, or negative coefficients.
[[nodiscard]] bool prepare_one_step(const OneStepProblem& problem, StepMemory& memory, StepUnits units,
                                    FarContacts far);

/// û = Ŵ x + q̂.
void scaled_velocity(const StepMemory& memory, const double* x, double* u);

/// The part of L̂ that does not come from the block's own normal impulse. For tied slips only its sign has a meaning.
[[nodiscard]] double known_limit(const StepMemory& memory, const ScaledBlock& block, const double* x);

/// L̂ at x; infinity for a tied slip that is pressed.
[[nodiscard]] double scaled_limit(const StepMemory& memory, const ScaledBlock& block, const double* x);

/// Natural-map error of x; `u` must hold its velocity. Writes the error of each row to `error` when it is not null. Returns the largest length over blocks.
double scaled_error(const StepMemory& memory, const double* x, const double* u, double* error);

/// Error of memory.x; keeps the point if it is the best so far.
double judge(StepMemory& memory);

/// Impulses of one block for which it satisfies its law exactly, the velocity at zero own impulse being `free` (its rows), others' impulses in x. False
/// where no exact solution exists; then `x` holds a projection step.
bool solve_block(const StepMemory& memory, const ScaledBlock& block, const double* free, double* x);

/// Up to `sweeps` Gauss-Seidel sweeps from memory.x; stops below `tolerance`. Returns the number done; `residual` is that of the end.
int gauss_seidel(StepMemory& memory, int sweeps, double tolerance, double& residual);

/// Semismooth Newton from memory.x. With alpha > 0: the problem with Ŵ + alpha and q̂ − alpha center.
int newton_steps(StepMemory& memory, int steps, double tolerance, double alpha, double& residual);

/// Proximal rounds from memory.x; returns Newton steps done.
int proximal_rounds(StepMemory& memory, const OneStepOptions& options, double& residual);

/// Planar problems: by modes, pivoting or Lemke's method. `proved` is set when there is no solution.
bool solve_by_modes(StepMemory& memory, const OneStepOptions& options, bool& proved);

}  // namespace judder::contact
