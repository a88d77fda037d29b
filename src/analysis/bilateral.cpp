#include "judder/analysis/bilateral.hpp"

#include <algorithm>
#include <cmath>

namespace judder::analysis {

BilateralMotion solve_bilateral(const BilateralProblem& p, const BilateralOptions& options) {
  const std::size_t n = p.dimension, steps = static_cast<std::size_t>(std::max(options.steps, 1));
  const double h = options.until / static_cast<double>(steps);
  BilateralMotion out;
  out.time.resize(steps + 1);
  std::vector<double> normal(steps + 1), load((steps + 1) * n);
  for (std::size_t i = 0; i <= steps; ++i) {
    out.time[i] = options.until * static_cast<double>(i) / static_cast<double>(steps);
    normal[i] = p.normal_load(out.time[i]);
    p.tangential_load(out.time[i], &load[i * n]);
  }
  out.position.resize((steps + 1) * n);
  out.velocity.resize((steps + 1) * n);
  out.reaction.assign((steps + 1) * n, 0.0);
  for (std::size_t i = 0; i <= steps; ++i) {
    std::copy_n(p.position.begin(), n, out.position.begin() + static_cast<std::ptrdiff_t>(i * n));
    std::copy_n(p.velocity.begin(), n, out.velocity.begin() + static_cast<std::ptrdiff_t>(i * n));
  }
  std::vector<double> position = out.position, velocity = out.velocity, aim(n);
  for (int round = 0; round < options.rounds; ++round) {
    double change = 0, largest = 0;
    for (std::size_t i = 1; i <= steps; ++i) {
      // Spring and radius by the motion of the round before.
      const double* const u = &out.position[i * n];
      double radius = normal[i], reach = 0;
      for (std::size_t a = 0; a < n; ++a) radius -= p.coupling[a] * u[a];
      radius = h / p.mass * p.friction * std::abs(radius);
      for (std::size_t a = 0; a < n; ++a) {
        double force = load[i * n + a];
        for (std::size_t b = 0; b < n; ++b) force -= p.stiffness[a * n + b] * u[b];
        aim[a] = velocity[(i - 1) * n + a] + h / p.mass * force;
        reach += aim[a] * aim[a];
      }
      reach = std::sqrt(reach);
      const double kept = reach > radius ? 1 - radius / reach : 0;
      for (std::size_t a = 0; a < n; ++a) {
        const std::size_t k = i * n + a;
        velocity[k] = kept * aim[a];
        position[k] = position[k - n] + h * velocity[k];
        out.reaction[k] = p.mass / h * (velocity[k] - aim[a]);
        change = std::max(change, std::abs(velocity[k] - out.velocity[k]));
        largest = std::max(largest, std::abs(velocity[k]));
      }
    }
    out.position = position;
    out.velocity = velocity;
    out.changes.push_back(change);
    if (change <= options.tolerance * largest) {
      out.converged = true;
      break;
    }
  }
  return out;
}

}  // namespace judder::analysis
