// What one trial step of an integrator gave. Accuracy is not judged here: the caller weighs the error with
// its own scales.
#pragma once

namespace judder::engines::numeric {

enum class StepOutcome {
  done,           ///< y₁ and its error estimate exist
  not_finite,     ///< a right-hand side was not a number: try a shorter step
  not_converged,  ///< implicit methods: Newton's iteration failed with a fresh Jacobian: try a shorter step
};

}  // namespace judder::engines::numeric
