// What the search along a trial step has found (scan.hpp): the first zero, touches, and the samples and polynomials of all guards.
#pragma once

#include <vector>

namespace judder::engines {

struct StepFindings {
  StepFindings() { together.reserve(16); }

  int blamed_guard = -1;  ///< guard that shortened the last trial; −1: the error did
  std::vector<double> samples;
  std::vector<double> bernstein;
  int first_guard = -1;  ///< guard whose zero ends the step
  int late_kink = -1;    ///< a kink that has been on the other side since before the step
  double first_theta = 0;
  double share_of_error = 0;       ///< error of the trial step, as a share of what is allowed
  bool dips_beyond = false;        ///< that zero may be one of a touch whose lowest point is behind the step
  double first_slope = 0;          ///< per unit of θ
  std::vector<double> root_theta;  ///< by guard: its first zero in the trial step
  std::vector<double> root_slope;  ///< per unit of θ, there
  std::vector<double>
      root_from;  ///< by guard: from where on it has the side that it leaves there; a watch may have had the other
  int degree = 8;  ///< of the polynomials of the last trial step
  int graze_guard = -1;
  double graze_theta = 0;
  double graze_depth = 0;
  double landing_h = 0;
  bool missed = false;             ///< the zero that was to be landed on is none
  std::vector<int> together;       ///< guards with a zero at the same instant
  std::vector<double> fit_errors;  ///< by guard: of its polynomial in the last trial step
};

}  // namespace judder::engines
