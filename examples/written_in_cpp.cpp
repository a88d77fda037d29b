// A system and a friction law written in C++ instead of a model file: a mass on a spring and a belt, with a coefficient that falls
// as the slip grows (Stribeck). A Spec has one field for each key of a model file, and formulas are the same texts.
//
// The mass is carried by the belt until the spring wins, slips back, and is caught again: the stick-slip of brakes and violins.
#include <cstdio>

#include "judder/judder.hpp"

int main() {
  judder::model::Spec spec;
  spec.title = {"A mass on a belt"};
  spec.parameters = {{.name = {"k"}, .value = 4}, {.name = {"belt_speed"}, .value = 0.5}};
  spec.coordinates = {{.name = {"x"}}};
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "k*x^2/2";
  // A law is any formula of the slip speed: here 0.5 at rest, 0.3 at high speed.
  spec.joints = {{.name = {"belt"},
                  .slip = {"x' - belt_speed"},
                  .normal = 10,
                  .law = {.mu = "0.3 + 0.2*exp(-4*speed)"}}};
  spec.run.until = 20;

  const judder::Model model = judder::Model::from_spec(spec);
  if (!model.ok()) {
    std::fputs(model.problems().c_str(), stderr);
    return 3;
  }
  const judder::Run run = model.run();
  const std::vector<double> slips = run.times("slip", "belt");
  for (std::size_t i = 1; i < slips.size(); ++i)
    std::printf("slips at %.6f, %.6f after the last time\n", slips[i], slips[i] - slips[i - 1]);
  return run.ok() ? 0 : 4;
}
