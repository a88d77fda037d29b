// Decisions that return: the same relations, slip states and exclusions, in a system whose masses, rows and laws do not change.
//
// Only the forces h differ from one such decision to the next:
//
//     b_i = row_i · M⁻¹ h + ζ_i
//
// From its second time on a decision is looked up in a contact::DecisionTable, made at its first; where the table does not see clearly, nothing is
// known and the decision is made as ever. At most kMost of them are kept, the first ones met.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/contact/decision_table.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "row_assembly.hpp"

namespace judder::engines {

class KnownDecisions {
 public:
  KnownDecisions(const model::System& system, model::Workspace& work);

  /// Goes to the decision of these relations (part[r] != 0), slips and exclusions. False: its numbers are not constant, or there is no room for
  /// another one. Then the functions below must not be called.
  [[nodiscard]] bool look_up(std::span<const std::uint8_t> part, std::span<const TangentStatus> tangent,
                             std::span<const std::uint16_t> excluded_normal,
                             std::span<const std::uint16_t> excluded_tangent);
  /// Statuses of rows() at the force in the workspace (System::motion), or nothing. `force_floor` as in Decider.
  [[nodiscard]] std::span<const contact::RowStatus> find(std::span<const double> force_floor);
  [[nodiscard]] std::span<const RowAssembly::Row> rows() const { return kept_[at_].rows; }
  /// Makes the table when the decision is met for the first time; `problem` and `assembly` are those of the decision looked up. Allocates then.
  void learn(const contact::DecisionProblem& problem, const contact::DecisionOptions& options,
             const RowAssembly& assembly, contact::DecisionWorkspace& workspace);

 private:
  struct Kept {
    std::vector<std::uint32_t> key;
    std::uint64_t hash = 0;
    bool tried = false;
    bool usable = false;
    std::vector<RowAssembly::Row> rows;
    std::vector<const double*> row;  ///< in the workspace, constant
    std::vector<double> zeta;
    std::vector<double> matrix;         ///< A
    std::vector<std::uint32_t> floors;  ///< by row: place in force_floor
    contact::DecisionTable table;
  };
  static constexpr std::size_t kMost = 64;

  const model::System& system_;
  model::Workspace& work_;
  int n_ = 0;
  std::vector<std::uint8_t> varies_;  ///< by relation: its rows or its law
  std::vector<Kept> kept_;
  std::size_t at_ = 0;
  std::vector<std::uint32_t> key_;
  std::vector<double> free_;
};

}  // namespace judder::engines
