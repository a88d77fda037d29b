// Impacts that follow each other ever faster, and what is left of them: closed contacts until the accumulation would end (docs/theory.md, "Accumulation").
//
// A pattern of impacts (accumulation.hpp) is replaced by rest only where a trial shows that the hops left move the system as closed contacts do.
#pragma once

#include "engines/accumulation.hpp"
#include "engines/event/instant_state.hpp"
#include "engines/event/phase.hpp"
#include "engines/tails.hpp"

namespace judder::engines {

class Roundings;
class Rows;
class Sides;
class StepRecord;

class ImpactTails {
 public:
  ImpactTails(Phase& now, InstantState& here, Roundings& rounding, Rows& rows, StepRecord& record,
              Sides& sides);
  [[nodiscard]] Accumulations& accumulation() { return accumulation_; }
  [[nodiscard]] Tails& tails() { return tails_; }
  /// What the last impacts form.
  [[nodiscard]] Accumulation::Pattern& pattern() { return pattern_; }

  void close_gap(int relation);
  [[nodiscard]] double rounding_of_places(int relation) const;
  [[nodiscard]] bool handed(const Accumulation::Pattern& pattern) const;
  [[nodiscard]] bool begin_tail();
  [[nodiscard]] bool strike_tails();
  [[nodiscard]] bool finish_accumulation();
  [[nodiscard]] bool end_tail();

 private:
  struct TailTrial {  ///< contacts that are closed instead of the hops that remain
    Mode mode;
    std::vector<std::uint8_t> touching;
    std::vector<double> inputs;   ///< before the present impact
    std::vector<double> jump;     ///< of the velocities where all contacts come to rest
    std::vector<double> y, rest;  ///< behind it, and its rates
    std::vector<double> missing;  ///< what the hops change beyond that
  } tail_trial_;
  [[nodiscard]] bool hops_move_as_rest(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool closes_for_trial(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool same_change(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool hop_counts_as_closed(const Accumulation::Pattern& pattern, int r);
  [[nodiscard]] bool next_hop_is_seen(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool end_is_known(Accumulation::Pattern& pattern);
  void take_sides_of_rest(Mode& mode);
  void keep_on_surfaces(double* displacement);

  Phase& now_;
  InstantState& here_;
  Roundings& rounding_;
  Rows& rows_;
  StepRecord& record_;
  Sides& sides_;
  Accumulations accumulation_;  ///< of impacts
  Tails tails_;
  std::vector<double> node_y_;
  std::vector<double> surface_memory_;
  Accumulation::Pattern pattern_;  ///< that the last impacts form
};

}  // namespace judder::engines
