#include "path_laws.hpp"

#include <array>

namespace judder::contact {
namespace {

constexpr auto kPathLaws = std::to_array<PathLaw>({
    {ImpactType::newton,
     [](double e, const Compressed& at) -> PathEnd {
       return {PathGoal::normal_velocity, 0, -e * at.normal_before};
     },
     ImpactForm::moreau},
    {ImpactType::poisson,
     [](double e, const Compressed& at) -> PathEnd {
       return {PathGoal::impulse, e * at.impulse, (1 + e) * at.impulse};
     },
     ImpactForm::two_phases},
    {ImpactType::stronge,
     [](double e, const Compressed& at) -> PathEnd {
       return {PathGoal::work, -e * e * at.normal_work, (1 - e * e) * at.normal_work};
     },
     ImpactForm::energetic},
});

}  // namespace

const PathLaw* find_path_law(ImpactType type) {
  for (const PathLaw& law : kPathLaws) {
    if (law.type == type) return &law;
  }
  return nullptr;
}

PathEnd end_of_path(ImpactType type, double e, const Compressed& compressed) {
  const PathLaw* law = find_path_law(type);
  return (law != nullptr ? *law : kPathLaws.front()).end(e, compressed);
}

}  // namespace judder::contact
