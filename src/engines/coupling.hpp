// Which surfaces of switches must be decided together at one instant.
//
// At an instant only accelerations and rates couple: through the mass matrix, through closed contacts, joints and constraints with their feeds, and
// through switches that act on the rate of another surface. Springs and dampers couple nothing here, and neither do open contacts. Two surfaces that
// meet in none of these are decided one after the other: ten relays that meet their surfaces together cost ten decisions, not 3¹⁰.
//
// Coupling is read off the form of the equations, never off small numbers. mechanics: docs/theory.md, "An instant".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class Coupling {
 public:
  explicit Coupling(const model::System& system);

  /// Groups `switches` for a mode: block()[i] is the number, from 0 on, of the block of switches[i]. Blocks are numbered in the order of
  /// their first members. Returns how many there are.
  std::size_t group(const Mode& mode, std::span<const int> switches);
  [[nodiscard]] std::span<const int> block() const { return block_; }

  // After group(): blocks of what the surfaces act on; −1: none of them.
  [[nodiscard]] int block_of_coordinate(int i) { return number_of(i); }
  [[nodiscard]] int block_of_state(int i) { return number_of(coordinates_ + i); }
  [[nodiscard]] int block_of_switch(int k) { return number_of(coordinates_ + system_.layout().states + k); }

 private:
  void join_reach(int k);
  int find(int item);
  void join(int a, int b);
  [[nodiscard]] int number_of(int item) { return numbers_[find(item)]; }

  const model::System& system_;
  int coordinates_;
  std::vector<int> inertia_;  ///< partition of coordinates, states and switches by masses and nesting alone
  std::vector<int> parent_;
  std::vector<int> numbers_;  ///< of the block, by root; −1: none
  std::vector<int> block_;
  std::vector<std::uint8_t> reached_;  ///< by switch: contains one of those that are grouped
};

}  // namespace judder::engines
