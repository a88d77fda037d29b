// Linear structures on a rigid foundation with friction, sparse: at rest, and moved by the schemes for elastodynamic contact.
//
//     M ü + K u = L + Bᵀλ,    gap = g + B_N u ≥ 0  ⟂  λ_N ≥ 0,    −λ_T ∈ μ λ_N ∂|B_T u̇|
//
// M and K are symmetric and positive definite, each contact has one normal and one tangential coordinate. At rest M ü is absent
// and B_T u stands in place of B_T u̇ (Signorini's problem with static Coulomb friction). Each step solves (Mc + K k) u = … + Bᵀλ with a matrix that is factorised once,
// and the contacts by contact::solve_one_step with W = B (…)⁻¹ Bᵀ, which is formed once; memory and work grow with the number of
// coordinates, not with its square.
//
// Schemes, with the step h:
//     theta            u¹ = u⁰ + h((1−θ)v⁰ + θv¹),  v¹ = v⁰ + h((1−θ)a⁰ + θa¹);  gap and friction at the end of the step
//     newmark          the same with β and γ
//     paoli_schatzman  M(u¹ − 2u⁰ + u⁻¹)/h² + K u⁰ = L + Bᵀλ;  gap of (u¹ + R u⁻¹)/(1 + R); explicit, h below 2/ω_max
//     modified         the same with K (u¹ + 2u⁰ + u⁻¹)/4
// with friction at (u¹ − u⁻¹)/2h in both of the last. Velocities of these are central, (u¹ − u⁻¹)/2h.
//
// Systems of a model file are moved by the engines of the same names; this is for what is larger than a System can be, and a second way to
// the same numbers. docs/contact-solvers.md. O. Petcoviciu, thesis (2010), 1.7.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "judder/contact/one_step.hpp"

namespace judder::engines {

/// By rows, columns ascending. Symmetric ones hold both triangles.
struct SparseMatrix {
  int size = 0;
  std::vector<int> begin, column;
  std::vector<double> value;

  /// y = A x
  void apply(const double* x, double* y) const;
};

/// From entries in any order; those at the same place are added.
struct SparseEntry {
  int row = 0, column = 0;
  double value = 0;
};
[[nodiscard]] SparseMatrix make_sparse(int size, std::vector<SparseEntry> entries);

/// A = L D Lᵀ of symmetric positive definite matrices, inside the envelope that remains after renumbering (reverse Cuthill-McKee).
class SparseFactor {
 public:
  /// False: a pivot is not positive.
  [[nodiscard]] bool factor(const SparseMatrix& matrix);
  /// x = A⁻¹ x
  void solve(double* x);
  [[nodiscard]] std::size_t entries() const { return value_.size(); }

 private:
  int n_ = 0;
  std::vector<int> place_;        ///< new number of each coordinate
  std::vector<int> first_;        ///< first column of each row of L
  std::vector<std::size_t> row_;  ///< where a row begins in value_
  std::vector<double> value_, diagonal_, work_;
};

struct StructureContact {
  int normal = 0;  ///< coordinate u_N with gap = g + u_N
  int slip = -1;   ///< tangential coordinate; −1: no friction
  double gap = 0;  ///< g
  double mu = 0;   ///< ≥ 0
};

struct Structure {
  SparseMatrix mass, stiffness;
  std::vector<double> load;
  std::vector<StructureContact> contacts;
};

enum class StructureScheme : std::uint8_t { theta, newmark, paoli_schatzman, modified };

struct StructureOptions {
  StructureScheme scheme = StructureScheme::theta;
  double step = 1e-3;      ///< h > 0
  double theta = 0.5;      ///< (0, 1]
  double beta = 0.25;      ///< > 0
  double gamma = 0.5;      ///< > 0
  double restitution = 0;  ///< R of the last two schemes, [0, 1]
  contact::OneStepOptions contact;
};

enum class StructureStatus : std::uint8_t { ok, not_definite, contact_not_solved };

/// Signorini's problem with Coulomb's law for displacements. Views are valid while the object lives.
struct StructureRest {
  StructureStatus status = StructureStatus::ok;
  std::vector<double> u;
  std::vector<double> normal, tangent;  ///< λ by contact
  std::vector<contact::StepContact> contacts;
  double residual = 0;  ///< of the contact problem, relative to its q
};
[[nodiscard]] StructureRest structure_at_rest(const Structure& structure,
                                              const contact::OneStepOptions& options = {});

/// A motion, step by step. The structure must live as long.
class StructureRun {
 public:
  StructureRun(const Structure& structure, const StructureOptions& options, std::span<const double> u,
               std::span<const double> v);
  /// Before the first step of a scheme of two steps: u one step before the start, instead of u − h v + h² a/2.
  void begin_from(std::span<const double> before) { before_.assign(before.begin(), before.end()); }
  [[nodiscard]] StructureStatus status() const { return status_; }
  /// One step; false when the contact problem was not solved (status).
  bool step();

  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::span<const double> u() const { return u_; }
  [[nodiscard]] std::span<const double> v() const { return v_; }
  [[nodiscard]] std::span<const double> a() const { return a_; }
  [[nodiscard]] std::span<const double> normal() const { return normal_; }    ///< λ_N of the last step
  [[nodiscard]] std::span<const double> tangent() const { return tangent_; }  ///< λ_T
  /// ½ vᵀMv + ½ uᵀKu − Lᵀu; of `modified` at the middle of the last step, u = (u¹ + u⁰)/2, v = (u¹ − u⁰)/h.
  [[nodiscard]] double energy();
  /// Bᵀλ of the last step, by coordinate.
  [[nodiscard]] std::span<const double> contact_force() const { return force_; }
  [[nodiscard]] long iterations() const { return iterations_; }

 private:
  [[nodiscard]] bool two_steps() const {
    return options_.scheme == StructureScheme::paoli_schatzman ||
           options_.scheme == StructureScheme::modified;
  }
  void start_acceleration();
  void free_step();
  bool contacts();
  void finish();

  const Structure& structure_;
  StructureOptions options_;
  StructureStatus status_ = StructureStatus::ok;
  SparseFactor factor_;
  double time_ = 0;
  double mass_weight_ = 0, stiffness_weight_ = 1;
  bool first_ = true;
  std::vector<double> u_, v_, a_, before_, next_, right_, product_;
  std::vector<double> normal_, tangent_, force_;
  // the contact problem; rows: of each contact normal, then slip
  std::vector<contact::StepBlock> blocks_;
  std::vector<int> row_coordinate_;
  std::vector<double> response_;  ///< A⁻¹Bᵀ, a row per contact row
  std::vector<double> W_, q_, guess_;
  contact::OneStepWorkspace workspace_;
  long iterations_ = 0;
};

}  // namespace judder::engines
