// Rows of the relations that take part in a decision or an impact, in the form the contact layer works with.
//
//     a = A λ + b ,   A_ij = row_i · M⁻¹ column_j ,   b_i = row_i · M⁻¹ h + ζ_i ,   γ_i = row_i · v + drive_i
//
// Normal rows first, in the order of the relations, then tangential rows. Columns are push and drag.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/core/patience.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class RowCoupling;

class RowAssembly {
 public:
  RowAssembly(const model::System& system, model::Workspace& work);

  struct Row {
    int relation = 0;
    int tangent = -1;  ///< tangential row within the relation; −1: normal row
    int number = -1;   ///< number of the tangential row in the model; −1: normal row
  };

  /// Asked at each row.
  void use(Patience* patience) { patience_ = patience; }

  /// Takes the relations with part[r] != 0: their normal row, and their tangential rows. Expects work.in to be loaded and
  /// System::motion to have been called there. `impulsive`: only tangential rows that can carry an impulse (coupled to a normal row).
  void assemble(std::span<const std::uint8_t> part, bool impulsive);

  [[nodiscard]] int normals() const { return normals_; }
  [[nodiscard]] int tangents() const { return static_cast<int>(rows_.size()) - normals_; }
  [[nodiscard]] int size() const { return static_cast<int>(rows_.size()); }
  [[nodiscard]] const Row& operator[](int i) const { return rows_[i]; }
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] const double* response(int i) const { return response_.data() + i * n_; }  ///< M⁻¹ column_i

  std::vector<double> A, b, velocity, drive;               ///< by row
  std::vector<contact::NormalKind> kind;                   ///< by normal row
  std::vector<double> mu_static, mu_slip, base, coupling;  ///< by tangential row
  std::vector<int> contact_of;  ///< by tangential row: its own normal row, −1 for a joint
  std::vector<double>
      acceleration_scale;  ///< by row: sum of the absolute terms of b, what rounding and ties are relative to
  std::vector<double> force_scale;  ///< by row: the same over A_ii

  /// Statuses of a mode in the order of the rows, and back. Bilateral rows with friction get their pressed side.
  void statuses(const Mode& mode, std::vector<contact::RowStatus>& out) const;

 private:
  Patience* patience_ = nullptr;
  void provide();  ///< memory, at the first use
  void list_rows(std::span<const std::uint8_t> part, bool impulsive);
  void find_responses();
  void find_motion();
  [[nodiscard]] const model::Row& row_of(const Row& row) const;

  const model::System& system_;
  model::Workspace& work_;
  int n_ = 0;
  int normals_ = 0;
  std::vector<Row> rows_;
  std::vector<std::uint8_t> part_;  ///< relations whose rows are listed
  bool impulsive_ = false;
  bool kept_ = false;  ///< masses, rows and laws of what is listed never change
  std::vector<double> response_;
  std::vector<double> free_;
};

}  // namespace judder::engines
