// The next mode: which contacts open, stay closed, stick or slip at the present instant.
//
// Rows that are coupled form blocks (row_coupling.hpp), and each block is decided by itself: what is not connected costs nothing.
//
// Known are the closed contacts (gap and its rate zero) and, for every closed contact and joint, whether it slips and in which direction or is at
// rest. The contact layer finds the modes that satisfy the laws at the level of accelerations; where several share the accelerations
// (a tie) the first non-zero Taylor coefficient of their guards decides. mechanics: docs/theory.md, "Deciding the mode".
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judder/contact/blocks.hpp"
#include "judder/contact/decision.hpp"
#include "judder/core/status.hpp"
#include "judder/engines/mode.hpp"
#include "known_decisions.hpp"
#include "massless_joints.hpp"
#include "motion_series.hpp"
#include "reaction_conditions.hpp"
#include "rest_laws.hpp"
#include "row_assembly.hpp"
#include "row_coupling.hpp"

namespace judder::engines {

class Decider {
 public:
  /// Rows that are decided at one instant, and those of them that act on each other: memory grows with the squares of these.
  static constexpr int kMostRows = 2500;
  static constexpr int kMostTogether = 1000;
  /// The latter where friction depends on reactions that are to be found: there are most of these squares.
  static constexpr int kMostWithFriction = 700;

  Decider(const model::System& system, model::Workspace& work);
  /// Asked inside long searches.
  void use(Patience* patience);

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
  /// By how much rows that depend on each other have parted, in the same order, relative to the largest; empty: none has. Where drives part so
  /// softly that their accelerations are nothing beside the forces, this tells which of the rows cannot go on together.
  std::vector<double> parting;
  /// Forces to decide with, by coordinate, instead of those that the sides in `mode` give; empty: these. The combination of fields that slides is not the
  /// field of any sides where switches stand around those that are slid on.
  std::vector<double> given_force;
  /// By relation: whether its rows are to be decided; empty: all are. The others keep what `mode` says of them. What is told here holds
  /// whole blocks of coupled rows, and joints that move massless coordinates always take part.
  std::vector<std::uint8_t> among;

  [[nodiscard]] bool takes_part(int relation) const { return among.empty() || among[relation] != 0; }
  [[nodiscard]] bool row_takes_part(int tangent) const { return takes_part(relation_of_[tangent]); }

  [[nodiscard]] const RowCoupling& coupling() const { return coupling_; }

  /// The laws of rows that were at rest when the last decision was asked for.
  [[nodiscard]] const RestLaws& rest_laws() const { return rest_; }
  /// Of the last decision.
  [[nodiscard]] bool reactions_unique() const { return reactions_unique_; }
  [[nodiscard]] bool unchecked() const { return unchecked_; }
  [[nodiscard]] int undecided_ties() const { return undecided_; }
  /// A friction joint that moves massless coordinates.
  [[nodiscard]] bool on_massless(int relation) const { return massless_[relation] != 0; }
  [[nodiscard]] bool any_on_massless() const {
    return std::find(massless_.begin(), massless_.end(), 1) != massless_.end();
  }
  /// engines::follow_massless on its workspace.
  [[nodiscard]] bool follow_massless(Mode& mode, const Exclusions& exclusions) {
    return engines::follow_massless(system_, work_, massless_, exclusions.tangent, positions_, mode);
  }

 private:
  /// A Taylor coefficient below this share of its row's scale counts as zero.
  static constexpr double kTieTolerance = 1e-9;

  enum class Sign { positive, undecided, negative };
  struct Judgement {
    Sign sign = Sign::positive;
    int order = 0;  ///< at which a negative sign was found, counted from the order of accelerations
  };
  /// A block for which accelerations leave several modes.
  struct Tie {
    int block = 0;
    int first = 0;  ///< place of its candidates in candidates_
    int count = 0;  ///< of candidates; 0: `first` is a mode and the next place an alternative for each row
    int at = 0;     ///< the candidate being judged, or the number of turns
    int fallback = -1;     ///< the first candidate that was undecided
    bool final = false;    ///< nothing left to try
    bool refuted = false;  ///< each candidate has a guard that fails
    Judgement judgement;
  };

  [[nodiscard]] Status decide_once(Mode& mode, const Exclusions& exclusions, double tolerance);
  [[nodiscard]] Status decide_without_opened(Mode& mode, const Exclusions& exclusions, double tolerance);
  void release_nodes(Mode& mode, const Exclusions& exclusions, double tolerance);
  [[nodiscard]] int node_beyond_limit(const Mode& mode, const Exclusions& exclusions);
  [[nodiscard]] bool driven_apart(const Mode& mode);
  [[nodiscard]] bool friction_begins(const Mode& mode);
  [[nodiscard]] bool loads_begin(const Mode& mode);
  [[nodiscard]] bool evaluate_forces();
  void list_rows();
  [[nodiscard]] Status too_many_rows();
  [[nodiscard]] bool decide_known(const Mode& mode, const Exclusions& exclusions, bool constant);
  [[nodiscard]] bool let_go_together(std::span<const RowAssembly::Row> rows, const Mode& mode,
                                     const Exclusions& exclusions) const;
  void set_problem(const Mode& mode);
  void find_directed_limits(const Mode& mode);
  [[nodiscard]] expr::Series cone(const RowAssembly::Row& row, int assembled, int side) const;
  [[nodiscard]] double jump_of_coefficient(int tangent, contact::RowStatus status) const;
  void pull_apart();
  [[nodiscard]] Status decide_block(int block, Mode& mode, const contact::DecisionOptions& options);
  [[nodiscard]] Status failure(const contact::Decision& decision, std::span<const int> rows,
                               const Mode& mode);
  [[nodiscard]] Status refuted(const Tie& tie);
  void break_ties();
  [[nodiscard]] bool follow_series(double size = 0, std::span<const std::uint8_t> from_rest = {});
  void turn(Tie& tie);
  [[nodiscard]] std::span<const contact::RowStatus> choice(const Tie& tie) const;
  [[nodiscard]] bool rests_by_static_friction(const Tie& tie) const;
  [[nodiscard]] bool released(const Tie& tie);
  void apply(std::span<const contact::RowStatus> statuses, Mode& mode);
  [[nodiscard]] bool holds_nothing(int relation, const Mode& mode) const;
  void direct_unloaded(Mode& mode, const Exclusions& exclusions);  ///< of unloaded_
  [[nodiscard]] TangentStatus direction_unloaded(const Mode& mode, const RowAssembly::Row& row);
  [[nodiscard]] bool unloaded_agree(const Mode& mode);
  [[nodiscard]] bool shared_loads_hold(int order);
  [[nodiscard]] int first_sign(const expr::Series& s, int from, int to, double size) const;
  [[nodiscard]] double series_size(const expr::Series& s, int from, int to) const;
  void take_block_rows(std::span<const int> rows);
  [[nodiscard]] Judgement judge(const Mode& mode, const Tie& tie);
  [[nodiscard]] std::string paradox_words(const Mode& mode);

  const model::System& system_;
  model::Workspace& work_;
  RowCoupling coupling_;
  RowAssembly assembly_;
  KnownDecisions known_;
  MotionSeries series_;
  RestLaws rest_;
  contact::DecisionWorkspace workspace_;
  Patience* patience_ = nullptr;
  contact::BlockProblem block_problem_;
  contact::DecisionProblem problem_;                ///< of all rows that are assembled
  std::vector<std::uint8_t> part_, listed_, open_;  ///< by relation: takes part; is in rows_; is not known
  std::vector<RowAssembly::Row> rows_;              ///< of all relations that take part
  contact::Blocks all_blocks_;                      ///< of rows_
  contact::Blocks blocks_;                          ///< of the rows that are assembled
  std::vector<int> relation_of_;                    ///< by tangential row
  std::vector<int> known_of_;                       ///< by relation: number of its block in known_, or −1
  std::vector<RowAssembly::Row> block_rows_;
  std::vector<RowAssembly::Row> unloaded_;  ///< rows at rest that nothing presses
  std::vector<double> free_;                ///< M⁻¹ h
  std::vector<std::uint8_t> massless_;      ///< joints that are decided by themselves
  std::vector<double> positions_;           ///< memory of follow_massless
  std::vector<contact::TangentState> state_;
  /// By assembled tangential row: forwards; of those whose law depends on the direction, the numbers with the sides of the mode.
  std::vector<double> mu_static_below_, mu_slip_below_, base_below_, mu_told_, base_told_;
  bool directed_any_ = false;
  std::vector<std::uint16_t> excluded_;
  Exclusions excluding_, released_;
  std::vector<double>
      ahead_;  ///< by tangential row: coefficients that begin with zero, a little later; empty: as they are
  /// The same where loads begin with zero: what rows without reactions accelerate by then, by relation and then by tangential row, and by how much the
  /// static coefficients have grown, by tangential row.
  std::vector<double> ahead_acceleration_, ahead_static_;
  std::vector<contact::RowStatus> candidates_;
  std::vector<double> force_scale_,
      acceleration_scale_;  ///< by assembled row of the blocks that were decided
  std::vector<Tie> ties_;
  std::vector<int> negative_;         ///< rows with the negative sign of lowest order, of the last judgement
  std::vector<int> judged_;           ///< rows of the function being judged
  std::vector<std::uint8_t> chosen_;  ///< by relation: of the block being judged
  ReactionConditions conditions_;
  std::vector<std::uint8_t> from_rest_;  ///< by tangential row: has not left rest in this decision
  std::vector<std::uint8_t> again_;      ///< by block: to be decided once more
  Mode next_, trial_, directed_, attempt_, known_mode_, held_mode_, opened_mode_;
  bool reactions_unique_ = true;
  bool unloaded_friction_ = false;  ///< a row has friction of reactions that are not unique, and zero now
  bool unchecked_ = false;
  int undecided_ = 0;
  int failed_ = -1;
};

}  // namespace judder::engines
