// What comes next at an instant of a quasi-static evolution.
//
// First it is asked whether the forces are in balance with some admissible reaction: if not, a jump begins with the force that is left
// over. If they are,
// contacts on the edge of their cone or without reaction have several ways on. A direction in which the imbalance would grow with the
// motion itself
// (QuasiStatics::unstable) and that the contacts admit is a jump; otherwise the rates of the path decide.
#pragma once

#include <vector>

#include "quasi_static_scene.hpp"

namespace judder::engines {

class QuasiStaticDecision {
 public:
  explicit QuasiStaticDecision(QuasiStaticScene& scene);

  /// A motion at a frozen time: what is left over, and the reactions.
  struct Flow {
    std::vector<double> velocity, normal, tangent;
  };
  /// The motion of the last decide_flow(); a jump goes on with it.
  [[nodiscard]] Flow& flow() { return flow_; }
  /// Decides the motion at a frozen time and the mode. `moves`: forces are left over. False: the run has ended.
  [[nodiscard]] bool decide_flow(bool& moves);

  enum class Verdict : std::uint8_t { none, path, jump, failed };
  /// From a balanced point: the mode in which the path goes on, or the direction of a jump. `jumps`: there may be one.
  [[nodiscard]] Verdict decide_path(bool jumps);
  [[nodiscard]] const QuasiStaticPoint& direction() const { return direction_; }
  /// Ends the run: nothing goes on, and why.
  bool nothing_found(const char* message);

 private:
  using Options = std::vector<std::vector<QuasiStaticOption>>;  ///< by relation, in the order of preference
  [[nodiscard]] const Options& path_options();
  [[nodiscard]] const Options& flow_options();
  [[nodiscard]] bool flow_fits(const Mode& mode, double force) const;
  [[nodiscard]] bool admissible(const QuasiStaticPoint& rate, bool homogeneous) const;
  [[nodiscard]] bool find_jump(bool& jumps);
  template <class Action>
  [[nodiscard]] bool each_mode(const Options& options, const Action& action);
  [[nodiscard]] bool skip_redundant();
  void apply(int relation, const QuasiStaticOption& option, Mode& mode) const;

  QuasiStaticScene& scene_;
  Flow flow_, tried_;
  Options options_;
  Mode candidate_;  ///< the combination that is looked at
  Mode best_;
  QuasiStaticPoint rate_, turned_, found_, direction_;
  bool redundant_ = false;  ///< a combination was left out because its reactions are not determined
};

}  // namespace judder::engines
