// The equations of quasi-static evolution in one mode, and the linear problems that decide the next one.
//
// With D = ∂(h + Σ push λ_N)/∂q, the force that changes with position, and C, W the force directions and rows of what is active (closed
// contacts,
// constraints, rows that stick; a row that slips adds −σ μ drag to the direction of its normal force):
//
//     path, per unit of time:   D q̇ + C λ̇ = −∂h/∂t ,   W q̇ = −∂g/∂t or −b
//     jump, at a frozen time:   V = h + C λ ,            W V = 0                 γ q' = V
//     loss of stability:        D u + C ℓ = γ u ,         W u = 0 ,   γ ≥ 0
//
// The third: in the direction u the forces that are left over grow with u itself. Its real γ are the changes of sign of the determinant.
// Reactions are named λ_N by relation and λ_T by tangential row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judder/engines/mode.hpp"
#include "judder/expr/program.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

/// A point of the path: state, reactions, and the tangent there (per unit of arc length).
struct QuasiStaticPoint {
  double t = 0;
  std::vector<double> q, normal, tangent;
  double t_rate = 1;
  std::vector<double> q_rate, normal_rate, tangent_rate;
  std::vector<double> gap, gap_rate;  ///< by relation; known with the tangent
};

class QuasiStatics {
 public:
  QuasiStatics(const model::System& system, model::Workspace& work);

  /// Why a system cannot be followed, or an empty string.
  [[nodiscard]] static std::string unsupported(const model::System& system);

  void set_mode(const Mode& mode);

  /// Puts t, q, zero velocities and the sides of the mode into the inputs; then force() and the rows are those there. False: not finite.
  [[nodiscard]] bool place(double t, const std::vector<double>& q);
  /// D and ∂h/∂t at the place, with these normal forces. False: not finite.
  [[nodiscard]] bool differentiate(const std::vector<double>& normal);

  /// Newton's method for the equations of the path from the guess in `point`. Along the border (c_q·Δq + c_t Δt = 0); a border of zeros in
  /// q fixes the time. False: it does not
  /// converge. `moved`: how far the coordinates and the time went.
  [[nodiscard]] bool correct(QuasiStaticPoint& point, const std::vector<double>& border_q, double border_t,
                             double* moved = nullptr, int most = 12);
  /// The place whose forces are left over along `direction` alone, by a length of it away from `from`, at a frozen time. False: it is not
  /// found.
  [[nodiscard]] bool hold_along(QuasiStaticPoint& point, const std::vector<double>& from,
                                const std::vector<double>& direction, double length);
  /// The tangent at a point, of arc length one, in the direction of the border. False: there is none.
  [[nodiscard]] bool tangent(QuasiStaticPoint& point, const std::vector<double>& border_q, double border_t);
  /// Active rows of the mode depend on each other at the place: their reactions are not determined.
  [[nodiscard]] bool rows_depend();
  /// V and the reactions of a jump at the place. False: reactions are not determined.
  [[nodiscard]] bool flow(std::vector<double>& velocity, std::vector<double>& normal,
                          std::vector<double>& tangent);
  /// The largest γ ≥ 0 (up to rounding) with its u of length one, and ℓ: normal_rate, tangent_rate. After differentiate(). False: none.
  [[nodiscard]] bool unstable(double& gamma, QuasiStaticPoint& direction);

  [[nodiscard]] const std::vector<double>& force() const { return force_; }
  [[nodiscard]] const model::RelationRows& rows(int relation) const { return *rows_[relation]; }
  [[nodiscard]] double gap(int relation) const { return gaps_[relation]; }
  /// Largest force and stiffness of the present place, for comparisons with zero.
  [[nodiscard]] double force_size() const { return force_size_; }
  [[nodiscard]] double stiffness() const { return stiffness_; }
  /// μ L of a tangential row, with these normal forces.
  [[nodiscard]] double limit(int relation, int tangent, const std::vector<double>& normal) const;
  /// Slip of a row for a rate of the coordinates and of time.
  [[nodiscard]] double slip(int relation, int tangent, const std::vector<double>& rate, double t_rate) const;
  /// Positions from which rows that stick are measured.
  void stick_here(double t, const std::vector<double>& q);
  [[nodiscard]] long evaluations() const { return evaluations_; }
  [[nodiscard]] bool sees_velocity() const { return sees_velocity_; }

 private:
  struct Row {
    int relation = 0;
    int tangent = -1;  ///< −1: the normal row
  };
  [[nodiscard]] std::size_t unknowns() const { return n_ + active_.size(); }
  void fill(std::vector<double>& matrix, std::size_t width, double gamma, bool with_stiffness) const;
  [[nodiscard]] double column(const Row& row, std::size_t i) const;
  [[nodiscard]] double row(const Row& row, std::size_t i) const;
  [[nodiscard]] double time_rate(const Row& row) const;
  void residual(const QuasiStaticPoint& point, std::vector<double>& out) const;
  void take(const std::vector<double>& x, double factor, std::vector<double>& q, std::vector<double>& normal,
            std::vector<double>& tangent) const;
  [[nodiscard]] int determinant_sign(double gamma);
  [[nodiscard]] int solve(std::size_t size, double least_pivot = 0);
  [[nodiscard]] bool null_vector(double gamma, QuasiStaticPoint& direction);

  const model::System& system_;
  model::Workspace& work_;
  const model::Layout& layout_;
  std::size_t n_ = 0;
  Mode mode_;
  std::vector<Row> active_;
  std::vector<double> reference_;     ///< by tangential row: W·q + b t where it began to stick
  std::vector<double> force_, gaps_;  ///< h; g by relation
  std::vector<const model::RelationRows*> rows_;
  std::vector<double> stiffness_matrix_, force_time_;  ///< D (n × n), ∂h/∂t
  double force_size_ = 0, stiffness_ = 0;
  bool sees_velocity_ = false;
  long evaluations_ = 0;
  std::vector<expr::Series> in_, out_, registers_;
  std::vector<double> matrix_, right_, jacobian_, row_size_, power_;
};

}  // namespace judder::engines
