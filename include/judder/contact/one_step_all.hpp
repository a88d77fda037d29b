// All solutions of a small planar one-step problem (one_step.hpp), by trying every mode.
//
// With strong friction and strong coupling a step may have several solutions: take-off, stick and slip of one contact at once. solve_one_step gives one of
// them. A block of one contact with one slip component has the modes open, stick and slip to both sides; a friction block stick and both slips; a bilateral row
// one. Each mode is a linear system; a regular one whose answer satisfies all laws is a solution. Modes whose velocities agree are counted once.
//
// A unilateral contact alone with rows N and T is unique for every q if W_NN > μ |W_NT|: `may_be_several` looks for blocks of which this is not true.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judder/contact/one_step.hpp"

namespace judder::contact {

/// Some block with friction does not have W_NN > μ |W_NT| and W_TT > 0. False does not prove uniqueness where several blocks are coupled.
[[nodiscard]] bool may_be_several(const OneStepProblem& problem);

enum class StepMode : std::uint8_t { open, stick, slip_plus, slip_minus, held };
[[nodiscard]] const char* name(StepMode mode);

struct OneStepSolution {
  std::vector<StepMode> modes;   ///< by block
  std::vector<double> impulse;   ///< by row
  std::vector<double> velocity;  ///< by row
};

/// Memory, and the answers: they are kept until the next call.
class OneStepModes {
 public:
  static constexpr int kMostModes = 4096;
  /// The number of modes that would have to be tried; 0: the problem is not planar, or there are too many.
  [[nodiscard]] static int count(const OneStepProblem& problem);
  /// All solutions with a regular mode. `tolerance` is relative to the terms of each condition.
  const std::vector<OneStepSolution>& find(const OneStepProblem& problem, double tolerance = 1e-10);

 private:
  [[nodiscard]] bool try_modes(const OneStepProblem& problem, double tolerance, OneStepSolution& out);
  std::vector<OneStepSolution> found_;
  std::vector<int> first_;  ///< row of each block
  std::vector<double> matrix_, right_;
};

}  // namespace judder::contact
