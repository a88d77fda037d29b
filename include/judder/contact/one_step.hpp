// One step of a time-stepping scheme: unilateral contacts with friction, friction joints and bilateral rows.
//
// Unknown are the impulses r and the velocities u = W r + q of n rows. The rows belong to blocks that follow each other:
//
//     contact      one normal row, then 0 to 3 slip components:  0 ≤ u_N ⟂ r_N ≥ 0,  −r_T ∈ L ∂|u_T|
//     friction     1 to 3 slip components:                       −r_T ∈ L ∂|u_T|
//     bilateral    one row:                                      u = 0, r of any sign
//
// |·| is the length of the vector of all slip components of a block: one component is planar friction, two the circular cone of
// contacts in space, three a ball |(r_x, r_y, r_s)| ≤ L, in which a spin may be the third component when its row is
// scaled by its lever. The limit is
//
//     L = μ (load + r_N + Σ_k weight_k |r_k|)
//
// with the block's own normal impulse (contacts only), a known normal impulse and those of further rows ("feeds").
// μ = infinity means a slip that is tied while something presses.
//
// Restitution, prestress, drifts and given velocities are part of q: the caller shifts the free velocities and takes the shift out
// of u afterwards. W need not be symmetric and may be singular; then r is not unique and any solution is returned, and u is what
// theory says (unique without friction and for friction with known limits, not in general otherwise).
//
// `solve_one_step` tries methods in turn until the residual is below the tolerance and keeps the best point it has seen.
// Failure is a status with the residual of that point. The residual is computed from the data alone (`one_step_residual`).
//
// Scales. With d_i = √W_ii (one d for all slip components of a block) r_i d_i and u_i / d_i have one unit whatever the units of
// the rows. All residuals are in this unit, each row's relative to its own size: the largest of |q_i| / d_i and of the sizes of the rows that
// couple to it, times |W_ij| / (d_i d_j). Contacts that are open by far more than what couples to them say nothing about the size of others.
// So rows that have nothing to do with one another are solved each as if they were alone.
//
// Nothing allocates in a solve of up to 128 rows after OneStepWorkspace::resize to its size; larger problems take the matrix of Newton's
// method at its first use. Views of the result are valid until the next use of the workspace.
//
// docs/contact-solvers.md. M. Jean, The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Eng. 177 (1999); P. Alart,
// A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods, ibid. 92 (1991); V. Acary,
// M. Brémond, O. Huber, On solving contact problems with Coulomb friction, Inria RR-9118 (2018).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::contact {

enum class StepBlockKind : std::uint8_t { contact, friction, bilateral };

/// One block of rows. Blocks are given in the order of their rows, without gaps between them.
struct StepBlock {
  StepBlockKind kind = StepBlockKind::contact;
  int slips = 1;      ///< slip components: contact 0 to 3, friction 1 to 3, bilateral 0
  double mu = 0;      ///< friction coefficient, ≥ 0; infinity: tied while something presses
  double load = 0;    ///< known normal impulse of L, ≥ 0
  int feed = 0;       ///< first of its entries in `feeds`
  int feed_size = 0;  ///< number of its entries there

  [[nodiscard]] int rows() const { return (kind == StepBlockKind::friction ? 0 : 1) + slips; }
};

/// weight |r_row| in the limit of a block.
struct StepFeed {
  int row = 0;        ///< a normal row of a contact or a bilateral row
  double weight = 1;  ///< ≥ 0
};

/// Plain views of the caller's numbers. W is given either dense or by blocks.
struct OneStepProblem {
  std::span<const StepBlock> blocks;
  std::span<const StepFeed> feeds;
  const double* q = nullptr;  ///< n

  const double* W = nullptr;  ///< n × n by rows; null: by blocks
  int stride = 0;             ///< distance between rows of W; 0: n

  /// By blocks: of block row i the entries begin[i] … begin[i+1]−1; `column` is the block column, `value` the offset into
  /// `values` of a dense matrix by rows of the size rows_i × rows_j. Blocks that are not listed are zero; the
  /// diagonal blocks must be listed.
  std::span<const int> begin, column, value;
  const double* values = nullptr;

  const double* guess = nullptr;  ///< n, impulses to start from, e.g. those of the last step; null: zero

  [[nodiscard]] int rows() const {
    int n = 0;
    for (const StepBlock& block : blocks) n += block.rows();
    return n;
  }
};

enum class OneStepMethod : std::uint8_t {
  guess,         ///< the start was a solution
  gauss_seidel,  ///< block by block with exact local solutions
  newton,        ///< semismooth Newton of Alart and Curnier with line search
  proximal,      ///< Newton on problems with W + α, α → 0
  enumeration,   ///< all modes (planar and small), or pivoting and Lemke (planar)
};
[[nodiscard]] const char* name(OneStepMethod method);

struct OneStepOptions {
  double tolerance = 1e-10;  ///< of the residual, relative to the size of each row; (0, 1e-3]
  int sweeps = 200;  ///< Gauss-Seidel sweeps before Newton is tried; more follow when Newton fails; ≥ 1
  int newton_steps = 60;     ///< Newton steps per attempt; ≥ 1
  int proximal_rounds = 60;  ///< proximal problems; ≥ 0
  int max_modes = 4096;      ///< planar problems with more modes are not enumerated; [0, 4096]
};

enum class OneStepStatus : std::uint8_t {
  solved,
  not_converged,  ///< every method stopped above the tolerance; the best point is returned
  no_solution,  ///< proved: all modes were tried and none is admissible, or a row without inertia cannot be satisfied
  bad_numbers,  ///< W, q or μ hold infinities, NaN or negative coefficients; the impulses are zero
};
[[nodiscard]] const char* name(OneStepStatus status);

enum class StepContact : std::uint8_t {
  open,   ///< r_N = 0, or a friction block without limit
  stick,  ///< closed; the slip is zero (or there is no slip component)
  slip,   ///< closed; |r_T| = L
  held,   ///< bilateral
};
[[nodiscard]] const char* name(StepContact status);

/// Views into the workspace, valid until its next use.
struct OneStepResult {
  OneStepStatus status = OneStepStatus::not_converged;
  OneStepMethod method = OneStepMethod::guess;  ///< the one that found the answer
  int iterations =
      0;  ///< Gauss-Seidel sweeps and Newton steps of all methods that were tried; 0: the start was a solution
  double residual = 1;              ///< relative to the sizes of the rows, their r and u and all terms of u
  double residual_of_q = 1;         ///< relative to the sizes of the rows; compared with the tolerance
  std::span<const double> impulse;  ///< n, r
  std::span<const double>
      velocity;  ///< n, u = W r + q as summed; not rounded to zero where the law says zero
  std::span<const StepContact> contacts;  ///< one per block
  std::span<const double> sizes;  ///< n, of the rows as velocities: d times what residual_of_q refers to

  [[nodiscard]] bool ok() const { return status == OneStepStatus::solved; }
};

/// Memory of all functions below.
class OneStepWorkspace {
 public:
  OneStepWorkspace();
  ~OneStepWorkspace();
  OneStepWorkspace(OneStepWorkspace&&) noexcept;
  OneStepWorkspace& operator=(OneStepWorkspace&&) noexcept;

  /// Memory for dense problems of up to `rows` rows in `blocks` blocks; grows, never shrinks.
  void resize(int rows, int blocks);
  /// Memory for problems like this one (sparse ones take less than dense ones).
  void resize(const OneStepProblem& problem);
  /// Asked inside long searches whether to go on; it must live as long. Null: nobody.
  void use(Patience* patience);

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

[[nodiscard]] OneStepResult solve_one_step(const OneStepProblem& problem, const OneStepOptions& options,
                                           OneStepWorkspace& workspace);

struct OneStepResidual {
  double of_all = 0;  ///< relative to the size of the row, |r_i| d_i, |u_i|/d_i and all terms of u_i/d_i
  double of_q =
      0;  ///< relative to the size of the row alone; infinity when that is zero and r is not a solution
  int block = -1;  ///< where it is largest
};

/// Largest natural-map error of r over all blocks, from the data alone:
///     |d (r_N − max(0, r_N − u_N/d²))|,   |d (r_T − P_L(r_T − u_T/d²))|,   |u|/d (bilateral),
/// P_L the projection to the ball of radius L. Infinite when r is not finite.
[[nodiscard]] OneStepResidual one_step_residual(const OneStepProblem& problem,
                                                std::span<const double> impulse);

/// A problem that owns its numbers.
struct OneStepData {
  std::vector<StepBlock> blocks;
  std::vector<double> q, W;  ///< W: dense by rows, or empty
  std::vector<int> begin, column, value;
  std::vector<double> values;
  std::string error;  ///< empty, or why the text could not be read
  [[nodiscard]] OneStepProblem problem() const;
};

/// Reads the text of a `.dat` file of contact problems: dimension (2 or 3), number of contacts, storage (0 dense, 1 by blocks,
/// 2 sparse by columns), the matrix (dense matrices and blocks by columns), q, μ.
[[nodiscard]] OneStepData read_one_step(std::string_view text);

}  // namespace judder::contact
