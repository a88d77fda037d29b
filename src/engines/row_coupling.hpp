// Which rows act on each other at an instant.
//
// Reactions and accelerations are coupled through the mass matrix, through rows that stand on several coordinates, and through normal forces that
// feed friction. Coupling is a matter of form: an entry that is not identically zero counts, however small its value is; one that is
// identically zero does not. Springs couple nothing at an instant. What is not coupled falls into blocks that are decided each by itself.
#pragma once

#include <span>
#include <vector>

#include "judder/contact/blocks.hpp"
#include "judder/model/system.hpp"
#include "row_assembly.hpp"

namespace judder::engines {

class RowCoupling {
 public:
  explicit RowCoupling(const model::System& system);

  /// Coordinates that a row can move or be moved by, ascending. tangent −1: the normal row; otherwise the number of the tangential row in the model.
  [[nodiscard]] std::span<const int> coordinates(int relation, int tangent) const {
    return coordinates_[place(relation, tangent)];
  }
  /// Blocks of the listed rows.
  void find_blocks(std::span<const RowAssembly::Row> rows, contact::Blocks& blocks) const;

  /// Blocks of relations, if all of them took part.
  [[nodiscard]] int blocks() const { return blocks_; }
  [[nodiscard]] std::span<const int> block_of() const { return block_of_; }
  /// Rows of the largest of these blocks.
  [[nodiscard]] int most_normals() const { return most_normals_; }
  [[nodiscard]] int most_tangents() const { return most_tangents_; }

 private:
  [[nodiscard]] std::size_t place(int relation, int tangent) const {
    return static_cast<std::size_t>(tangent < 0 ? relation : relations_ + tangent);
  }

  const model::System& system_;
  int relations_ = 0;
  int groups_ = 0;                             ///< of coordinates tied together by the mass matrix
  std::vector<std::vector<int>> coordinates_;  ///< by relation, then by tangential row
  std::vector<std::vector<int>> group_;        ///< the same: groups of these coordinates
  mutable std::vector<int> first_;   ///< memory of find_blocks: by group, the first row that touches it
  mutable std::vector<int> normal_;  ///< by relation: its normal row
  int blocks_ = 0;
  int most_normals_ = 0;
  int most_tangents_ = 0;
  std::vector<int> block_of_;
};

}  // namespace judder::engines
