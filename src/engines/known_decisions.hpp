// Decisions that return: the same rows, slip states and exclusions of a block, in a system whose masses, rows and laws do not change.
//
// Only the forces h differ from one such decision to the next:
//
//     b_i = row_i · M⁻¹ h + ζ_i
//
// From its second time on a decision is looked up in a contact::DecisionTable, made at its first; where the table does not see clearly, nothing is
// known and the decision is made as ever. Only so many are kept for each relation, the first ones met.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "judder/contact/decision_table.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "row_assembly.hpp"
#include "row_coupling.hpp"

namespace judder::engines {

class KnownDecisions {
 public:
  KnownDecisions(const model::System& system, model::Workspace& work, const RowCoupling& coupling);

  /// The number of the decision of these rows, a block, with these slips and exclusions; −1: its numbers are not constant, or there is no room for
  /// another one.
  [[nodiscard]] int look_up(std::span<const RowAssembly::Row> rows, std::span<const TangentStatus> tangent,
                            std::span<const std::uint16_t> excluded_normal,
                            std::span<const std::uint16_t> excluded_tangent);
  /// Statuses of its rows at `free` = M⁻¹ h, or nothing. `force_floor` as in Decider.
  [[nodiscard]] std::span<const contact::RowStatus> find(int number, std::span<const double> force_floor,
                                                         std::span<const double> free) const;
  /// Makes the table when the decision is met for the first time; `problem` is that of its rows. Allocates then.
  void learn(int number, std::span<const RowAssembly::Row> rows, const contact::DecisionProblem& problem,
             const contact::DecisionOptions& options, contact::DecisionWorkspace& workspace);

 private:
  struct Kept {
    std::vector<std::uint32_t> key;
    bool tried = false;
    bool usable = false;
    std::vector<std::vector<double>> row;           ///< its entries there
    std::vector<std::span<const int>> coordinates;  ///< of the row
    std::vector<double> zeta;
    std::vector<double> matrix;         ///< A
    std::vector<std::uint32_t> floors;  ///< by row: place in force_floor
    contact::DecisionTable table;
  };
  static constexpr std::size_t kMost = 64;  ///< kept in any case
  static constexpr std::size_t kMostPerRelation = 8;

  const model::System& system_;
  model::Workspace& work_;
  const RowCoupling& coupling_;
  std::vector<std::uint8_t> varies_;  ///< by relation: its rows or its law
  std::vector<Kept> kept_;
  std::unordered_map<std::uint64_t, int> number_of_;  ///< by the hash of the key
  std::vector<std::uint32_t> key_;
};

}  // namespace judder::engines
