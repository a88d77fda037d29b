// What a mode fixes: found once when the mode is set, kept for when it comes back.
//
// In a mode of constant structure (mass matrix, rows, laws) everything here depends on the mode alone, not on the state in which it is
// entered: a run that meets it again, or resumes in it, has the same bits whether it was kept or is made anew. A few modes return
// thousands of times in most runs; KeptModes holds the ones used last, within a bound of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "active_rows.hpp"
#include "judder/engines/mode.hpp"
#include "judder/model/system.hpp"
#include "mode_table.hpp"

namespace judder::engines {

struct ModeSetting {
  ModeSetting(const model::System& system, model::Workspace& work) : rows(system, work) {}

  /// A coordinate that a single row holds, and the velocity that it holds it at.
  struct Pin {
    int coordinate = 0;
    double velocity = 0;
    bool by_gap = false;  ///< a contact or constraint holds it, not friction
  };

  Mode mode;
  std::uint64_t key = 0;
  long used = 0;               ///< the last time, in calls
  std::vector<double> frozen;  ///< sides, directions, statuses, free parameters: a block of the inputs

  std::vector<int> touched;  ///< relations with an active or slipping row
  std::vector<int> sliding;  ///< switches that slide
  std::vector<Pin> pins;
  bool constant = false;  ///< columns and factor are those of the mode
  bool everything_pinned = false;
  bool works = true;     ///< some element does work
  bool uniform = false;  ///< accelerations and reactions are constant
  ActiveRows rows;
  ModeTable table;
};

class KeptModes {
 public:
  KeptModes(const model::System& system, model::Workspace& work);

  /// The setting of the mode, or null. Sides, directions and statuses are given by `frozen`.
  [[nodiscard]] ModeSetting* find(std::uint64_t key, const Mode& mode, const double* parameters);
  /// A setting to write a mode into; valid until keep().
  [[nodiscard]] ModeSetting& fresh() { return *fresh_; }
  /// Keeps what fresh() is; the setting used longest ago makes room.
  void keep();

 private:
  const model::System& system_;
  model::Workspace& work_;
  std::size_t most_ = 0;
  long clock_ = 0;
  std::vector<std::unique_ptr<ModeSetting>> kept_;
  std::unique_ptr<ModeSetting> fresh_;
};

}  // namespace judder::engines
