// A function of this program in the formulas of a model: a ball that bounces on a road, which could as well come from a measurement or a map.
//
// The road gives its slope and its curvature too. Without them they would be found by differences: the same motion to nine digits or so, at several
// calls for each that is made here.
#include <cmath>
#include <cstdio>
#include <span>

#include "judder/judder.hpp"

namespace {

constexpr double kHeight = 0.05, kLength = 0.8;  // of the waves, m
constexpr double kPi = 3.141592653589793;

judder::Function road() {
  constexpr double k = 2 * kPi / kLength;
  return {
      .name = "road",
      .arguments = 1,
      .value = [](std::span<const double> u) { return kHeight * std::sin(k * u[0]); },
      .gradient = [](std::span<const double> u,
                     std::span<double> slope) { slope[0] = k * kHeight * std::cos(k * u[0]); },
      .hessian = [](std::span<const double> u,
                    std::span<double> curvature) { curvature[0] = -k * k * kHeight * std::sin(k * u[0]); }};
}

constexpr const char* kBall = R"toml(
format = 1
[coordinates]
x = { velocity = 1 }
y = 0.5
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "road"
gap = "y - road(x)"
impact = 0.8
[run]
until = 2
)toml";

}  // namespace

int main() {
  const judder::Model ball = judder::Model::from_text(kBall, {.functions = {road()}});
  if (!ball.ok()) {
    std::fputs(ball.problems().c_str(), stderr);
    return 3;
  }
  const judder::Run run = ball.run();
  for (const double t : run.times("impact", "road")) std::printf("hits the road at t = %.9f\n", t);
  if (!run.ok()) std::fprintf(stderr, "%s\n", run.status().message.c_str());
  return run.ok() ? 0 : 4;
}
