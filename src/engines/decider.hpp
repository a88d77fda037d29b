// The next mode: which contacts open, stay closed, stick or slip at the present instant.
//
// Known are the closed contacts (gap and its rate zero) and, for every closed contact and joint, whether it slips and in which direction or is at
// rest. The contact layer finds the modes that satisfy the laws at the level of accelerations; where several share the accelerations
// (a tie) the first non-zero Taylor coefficient of their guards decides. mechanics: docs/theory.md, "Deciding the mode".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judder/contact/decision.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/mode.hpp"
#include "known_decisions.hpp"
#include "motion_series.hpp"
#include "row_assembly.hpp"

namespace judder::engines {

class Decider {
 public:
  Decider(const model::System& system, model::Workspace& work);

  /// Statuses that must not be returned, by relation (normal row) and by tangential row; bits of contact::RowStatus.
  struct Exclusions {
    std::vector<std::uint16_t> normal;
    std::vector<std::uint16_t> tangent;
    void clear();
  };
  [[nodiscard]] Exclusions no_exclusions() const;

  /// On entry `mode` holds what is known: closed contacts as closed, tangential rows at rest as stick, slipping ones with their direction;
  /// sides as they are to be. On success it holds the mode to go on with. The state is work.in.
  /// Inequalities are relaxed by `tolerance` times the scale of their row.
  [[nodiscard]] Status decide(Mode& mode, const Exclusions& exclusions, double tolerance = 1e-10);

  /// Sizes that reactions have had, by relation and then by tangential row: floors for what counts as zero.
  std::vector<double> force_floor;

  /// Of the last decision.
  [[nodiscard]] bool reactions_unique() const { return reactions_unique_; }
  [[nodiscard]] bool unchecked() const { return unchecked_; }
  [[nodiscard]] int undecided_ties() const { return undecided_; }
  /// The relation that the last failure is about, or −1.
  [[nodiscard]] int failed_relation() const { return failed_; }

 private:
  enum class Sign { positive, undecided, negative };
  void apply(std::span<const RowAssembly::Row> rows, std::span<const contact::RowStatus> statuses,
             Mode& mode) const;
  [[nodiscard]] Sign judge(const Mode& mode);
  [[nodiscard]] std::string paradox_words(const contact::DecisionProblem& problem, const Mode& mode);

  const model::System& system_;
  model::Workspace& work_;
  RowAssembly assembly_;
  KnownDecisions known_;
  MotionSeries series_;
  contact::DecisionWorkspace workspace_;
  std::vector<std::uint8_t> part_;
  std::vector<contact::TangentState> state_;
  std::vector<std::uint16_t> excluded_;
  Exclusions excluding_;
  std::vector<contact::RowStatus> candidates_;
  Mode chosen_, trial_;  ///< of a tie
  bool reactions_unique_ = true;
  bool unchecked_ = false;
  int undecided_ = 0;
  int failed_ = -1;
};

}  // namespace judder::engines
