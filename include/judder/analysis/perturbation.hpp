// What becomes of a rest that is pushed: experiments with the engines.
//
// The rest is started with a small velocity or displacement of decreasing size, in the directions of all coordinates and in mixed ones, and
// with a small force on each coordinate as a constant, a square wave, a sine and a decaying exponential. A velocity into a closed contact is turned around; what is
// held by constraints stays so. Measured over a time of many swings: the largest and the last distance from the rest, relative to the
// size of the push. The verdict of velocities and displacements:
//
//     unstable      the smallest push takes it more than `far` times its size away, and larger ones relatively less far, or it still moves
//     asymptotic    no push goes so far, and all end within a hundredth of their size
//     stable        no push goes so far, or all end at rest at a distance that is the same times the push for every size
//     open          a push of the smallest size could not be followed: the engine ended, or the referee found that the motion breaks a law
//
// An experiment proves nothing: pushes in other directions, of smaller size or seen for a longer time may do otherwise.
//
// S. Basseville, thesis, Aix-Marseille II 2004, IV.4.3 and IV.5.4.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "judder/analysis/equilibria.hpp"
#include "judder/analysis/rest_stability.hpp"
#include "judder/model/compile.hpp"

namespace judder::analysis {

struct ExperimentOptions {
  std::vector<double> sizes{1e-2, 1e-3, 1e-4};  ///< relative to the scale of the rest, falling
  double swings = 60;                           ///< time of a run, in times of the slowest swing
  double far = 40;                              ///< times the push: no stable rest is known that goes farther
  int mixed = 4;       ///< pushes in mixed directions, beside those along coordinates
  bool forces = true;  ///< disturbances of the load, too
  bool displacements =
      true;  ///< beside velocities; where walls or constraints bend a displaced start would not satisfy them
  bool curves = false;  ///< keep the motions after a push along each coordinate
  const std::atomic<bool>* cancel = nullptr;
};

struct Push {
  enum class Kind : std::uint8_t {
    velocity,
    displacement,
    constant,
    square,
    sine,
    exponential
  } kind = Kind::velocity;
  std::string what;  ///< "UT' + 0.01"
  double size =
      0;  ///< of the velocity over the frequency, of the displacement, or of the force over the stiffness
  double largest = 0;    ///< distance from the rest over the run, over the size
  double last = 0;       ///< at its end
  bool at_rest = false;  ///< nothing moves at the end
  std::string problem;   ///< the run did not reach its end: why
};
[[nodiscard]] const char* name(Push::Kind kind);

struct Experiment {
  Stability stability = Stability::open;  ///< open: no run reached its end
  std::string why;
  std::vector<Push> pushes;
  /// The beginning of the motion after one push (ExperimentOptions::curves): rows of t, coordinates, then λ_N, λ_T by relation.
  struct Curve {
    std::string what;
    std::vector<std::vector<double>> rows;
  };
  std::vector<Curve> curves;
};

/// `spec` and `options` are those that the rest problem was made of.
[[nodiscard]] Experiment experiment(const model::Spec& spec, const model::CompileOptions& options,
                                    const RestProblem& rest, const RestState& state,
                                    const ExperimentOptions& how = {});

}  // namespace judder::analysis
