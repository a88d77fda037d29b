#include "model/smooth_laws.hpp"

#include <array>

#include "core/elementary.hpp"

namespace judder::model {
namespace {

using expr::Graph;
using expr::Node;

constexpr double kTwoOverPi = 2 / 3.141592653589793;

constexpr auto kSmoothLaws = std::to_array<SmoothLaw>({
    {FrictionType::arctan,
     [](Graph& graph, Node mu, Node beta, Node gamma) {
       const Node angle[] = {graph.multiply(beta, gamma)};
       return graph.multiply(graph.constant(kTwoOverPi),
                             graph.multiply(mu, graph.call(expr::Function::atan, angle)));
     },
     [](double limit, const LawNumbers& law, double slip) {
       return limit * kTwoOverPi * elementary::atan(law.beta * slip);
     }},
});

}  // namespace

const SmoothLaw* find_smooth_law(FrictionType type) {
  for (const SmoothLaw& law : kSmoothLaws) {
    if (law.type == type) return &law;
  }
  return nullptr;
}

LawNumbers law_numbers(const double* curve) {
  LawNumbers law;
  law.load = curve[0];
  law.mu = curve[1];
  law.mu_static = curve[2];
  law.viscous = curve[3];
  law.stiffness = curve[4];
  law.damping = curve[5];
  law.breakaway = curve[6];
  law.beta = curve[7];
  law.mu_slope = curve[8];
  law.viscous_slope = curve[9];
  law.damping_slope = curve[10];
  return law;
}

}  // namespace judder::model
