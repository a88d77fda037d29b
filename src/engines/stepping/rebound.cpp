#include "rebound.hpp"

#include <cmath>

#include "core/elementary.hpp"

namespace judder::engines {
namespace {

constexpr double kMost = 1e3;
constexpr int kHalvings = 60;

}  // namespace

double rebound_of(double ratio) {
  const double square = 1 - ratio * ratio;
  // Beside 1 both forms are 0/0; what they come to is exact to the square of the distance.
  constexpr double kBeside = 1e-6;
  if (std::abs(square) < kBeside) return elementary::exp(-2 * (1 - square / 3));
  const double beta = std::sqrt(std::abs(square));
  const double phase = 2 * (square > 0 ? elementary::acos(ratio) : elementary::acosh(ratio));
  return elementary::exp(-ratio / beta * phase);
}

double damping_ratio_of(double restitution) {
  double low = 0, high = kMost;
  if (!(restitution > rebound_of(high))) return high;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (rebound_of(middle) > restitution ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace judder::engines
