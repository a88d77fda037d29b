// Loads of compliant contacts, whose normal force is a function of the state: a phase lasts while the gap is negative.
//
// Such a contact has no row and no status. Its phases begin and end where its gap passes zero, at the end of a step or inside. Impulses are integrated along
// each step by the rule of Gauss and Legendre with five points, in halves where the force bends (a damper that would pull), until the halves agree.
#pragma once

#include "engines/event/phase.hpp"

namespace judder::engines {

class Trial;

class Pressing {
 public:
  Pressing(Phase& now, Trial& trial);
  /// Contacts without a row.
  [[nodiscard]] const std::vector<int>& contacts() const { return compliant_; }

  [[nodiscard]] double compliant_gap(int r);
  void follow_pressing(int r, double from, double to, double length);
  /// Along the step of this length that begins at t_.
  void note_pressing(double length);
  void note_pressing_at_rest(double h);

 private:
  [[nodiscard]] double compliant_force(int r);
  void add_pressing(int r, double from, double to, double length, int halvings);

  Phase& now_;
  Trial& trial_;
  std::vector<int> compliant_;    ///< contacts without a row
  std::vector<double> pressing_;  ///< what their programs give
};

}  // namespace judder::engines
