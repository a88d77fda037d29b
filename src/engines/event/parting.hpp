// Rows that depend on each other, and cease to: redundant rows are held by those that they depend on, until these no longer say the same.
#pragma once

#include "engines/event/phase.hpp"

namespace judder::engines {

class Trial;

class Parting {
 public:
  Parting(Phase& now, Trial& trial);

  [[nodiscard]] bool rows_part();
  void note_parting();
  [[nodiscard]] bool parts_within(double h, double& shorter);

 private:
  [[nodiscard]] bool may_part() const;
  [[nodiscard]] double rates_parted();
  [[nodiscard]] double accelerations_parted();

  Phase& now_;
  Trial& trial_;
  std::vector<double> row_accelerations_;  ///< of dependent rows that part
  std::vector<double> node_y_;
};

}  // namespace judder::engines
