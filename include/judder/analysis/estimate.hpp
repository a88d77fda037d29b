// How far two runs of one model lie apart: the run and a second one with a tolerance ten times smaller give an estimate of the error.
//
// Columns are compared at the sample times that both runs have; a sample that lies between the two times of the same event is left out, because
// there one run has jumped and the other not yet. Events are compared in order, as long as kind and place agree.
#pragma once

#include <string>
#include <vector>

#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

struct ColumnDifference {
  std::string name;
  double largest = 0;  ///< of |a − b|
  double time = 0;     ///< where
  double range = 0;    ///< largest − smallest value of the column, to compare with
  double size = 0;     ///< largest |a|
};

struct RunDifference {
  std::vector<ColumnDifference> columns;  ///< numbers only, without t
  std::size_t samples = 0;                ///< compared
  std::size_t events = 0;                 ///< compared: the first so many agree in kind and place
  bool events_agree = true;               ///< same number of events, all of the same kind and place
  double largest_time = 0;                ///< of |t_a − t_b| over those events
  std::size_t event = 0;                  ///< number of that event, from 0
};

[[nodiscard]] RunDifference difference(const model::System& system, const simulate::MemorySink& a,
                                       const simulate::MemorySink& b);

}  // namespace judder::analysis
