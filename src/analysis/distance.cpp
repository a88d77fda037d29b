#include "judder/analysis/distance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "judder/simulate/simulate.hpp"

namespace judder::analysis {
namespace {

/// M and K of a system at its start, n × n each; the reason why there is no norm, or empty.
std::string norm_of(const model::System& system, std::vector<double>& mass, std::vector<double>& stiffness) {
  const model::Layout& layout = system.layout();
  if (layout.states > 0) return "the model has states of first order";
  if (!system.mass_constant()) return "the mass matrix is not constant";
  for (const model::Relation& relation : system.relations()) {
    if (relation.kind != model::RelationKind::joint) return relation.place + " is not a friction joint";
  }
  const auto n = static_cast<std::size_t>(layout.coordinates);
  model::Workspace work(system);
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  if (!system.motion(work)) return "the equations cannot be evaluated at the start";
  mass = system.full_mass(work);
  const std::size_t width = 2 * n + static_cast<std::size_t>(layout.free_parameters);
  std::vector<double> jacobian(n * width);
  system.jacobian(work, jacobian.data());
  stiffness.resize(n * n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      stiffness[i * n + j] = -jacobian[i * width + j];
      largest = std::max(largest, std::abs(stiffness[i * n + j]));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(stiffness[i * n + j] - stiffness[j * n + i]) > 1e-12 * largest)
        return "the stiffness is not symmetric";
    }
  }
  return {};
}

}  // namespace

Distances distance_of_motions(const model::System& one, const model::System& other, const std::string& engine,
                              const engines::EngineOptions& options) {
  Distances out;
  std::vector<double> mass, stiffness, mass_there, stiffness_there;
  std::string problem = norm_of(one, mass, stiffness);
  if (problem.empty()) problem = norm_of(other, mass_there, stiffness_there);
  if (problem.empty() && mass.size() != mass_there.size()) problem = "the two systems are not of one model";
  const auto differ = [](const std::vector<double>& a, const std::vector<double>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference = std::max(difference, std::abs(a[i] - b[i]));
      size = std::max(size, std::abs(a[i]));
    }
    return difference > 1e-12 * size;
  };
  if (problem.empty() && (differ(mass, mass_there) || differ(stiffness, stiffness_there)))
    problem = "mass or stiffness depends on the state";
  if (!problem.empty()) {
    out.status = {Reason::unsupported, options.from, {}, problem};
    return out;
  }
  engines::EngineOptions quiet = options;
  quiet.event_rows = false;
  const simulate::Result a = simulate::simulate(one, quiet, engine),
                         b = simulate::simulate(other, quiet, engine);
  for (const simulate::Result* run : {&a, &b}) {
    if (!run->end.status.ok()) {
      out.status = run->end.status;
      return out;
    }
  }
  const auto n = static_cast<std::size_t>(one.layout().coordinates);
  double least = 0;
  for (std::size_t row = 0; row < std::min(a.data.rows(), b.data.rows()); ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const auto apart = [&](std::size_t column) {
          return a.data.cell(row, column) - b.data.cell(row, column);
        };
        sum += apart(1 + n + i) * mass[i * n + j] * apart(1 + n + j) +
               apart(1 + i) * stiffness[i * n + j] * apart(1 + j);
      }
    }
    const double distance = std::sqrt(std::max(0.0, sum));
    least = row == 0 ? distance : std::min(least, distance);
    out.time.push_back(a.data.cell(row, 0));
    out.distance.push_back(distance);
    out.largest_rise = std::max(out.largest_rise, distance - least);
  }
  return out;
}

}  // namespace judder::analysis
