// Cost of one impact: a planar one along its path, and ten contacts at once by each law for several contacts.
//
// Draws are the same in every run. Planar: bodies of random masses and lever arms, slip that goes on, stops, reverses or jams. Ten
// contacts: a row of eleven balls without friction, and ten feet of one mechanism with friction.
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "judder/contact/impact_multi.hpp"
#include "judder/contact/impact_path.hpp"
#include "measure.hpp"

namespace {

using namespace judder::contact;
using judder::ImpactType;
using namespace judder::bench;

constexpr int kRounds = 51;
constexpr int kPlanar = 1024;

std::vector<PathProblem> planar_draws() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(-1, 1), positive(0, 1);
  std::vector<PathProblem> out;
  for (int i = 0; i < kPlanar; ++i) {
    const double m = 0.2 + positive(random), g = m * (0.02 + 0.5 * positive(random)), x = unit(random),
                 y = unit(random);
    PathProblem p;
    p.A_NN = 1 / m + x * x / g;
    p.A_TT = 1 / m + y * y / g;
    p.A_NT = p.A_TN = x * y / g;
    p.normal_before = -0.05 - positive(random);
    p.tangent_before = 2 * unit(random);
    p.mu = positive(random);
    out.push_back(p);
  }
  return out;
}

struct Collision {
  int normals = 0, tangents = 0;
  std::vector<double> A, before, mu, coupling;
  std::vector<ImpactLaw> law;

  [[nodiscard]] ImpactProblem problem() const {
    ImpactProblem p;
    p.normals = normals;
    p.tangents = tangents;
    p.A = A.data();
    p.before = before.data();
    p.law = law.data();
    p.mu = mu.data();
    p.coupling = coupling.data();
    return p;
  }
};

Collision row_of_balls(int contacts, ImpactType type) {
  Collision c;
  c.normals = contacts;
  for (int i = 0; i < contacts; ++i) {
    c.before.push_back(i == 0 ? -1 : 0);
    for (int j = 0; j < contacts; ++j) c.A.push_back(i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0);
    ImpactLaw law{type, 0.8};
    c.law.push_back(law);
  }
  return c;
}

/// Rows of a mechanism with more freedoms than rows; every contact approaches.
Collision feet(int contacts, ImpactType type) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1, 1);
  Collision c;
  c.normals = c.tangents = contacts;
  const int n = 2 * contacts, freedom = n + 5;
  std::vector<double> W(static_cast<std::size_t>(n * freedom)), v(static_cast<std::size_t>(freedom));
  for (double& x : W) x = unit(random);
  for (double& x : v) x = unit(random);
  for (int i = 0; i < n; ++i) {
    double velocity = 0;
    for (int k = 0; k < freedom; ++k)
      velocity += W[static_cast<std::size_t>(i * freedom + k)] * v[static_cast<std::size_t>(k)];
    if (i < contacts && velocity > 0) {
      for (int k = 0; k < freedom; ++k) W[static_cast<std::size_t>(i * freedom + k)] *= -1;
      velocity = -velocity;
    }
    c.before.push_back(velocity);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < freedom; ++k)
        sum += W[static_cast<std::size_t>(i * freedom + k)] * W[static_cast<std::size_t>(j * freedom + k)];
      c.A.push_back(sum);
    }
  }
  for (int j = 0; j < contacts; ++j) {
    c.mu.push_back(0.3);
    for (int k = 0; k < contacts; ++k) c.coupling.push_back(j == k ? 1 : 0);
    c.law.push_back({type, 0.5});
  }
  return c;
}

void many(const std::string& name, const Collision& c, ImpactWorkspace& workspace, double goal) {
  const ImpactResult first = impact(c.problem(), {}, workspace);
  if (!first.ok()) {
    std::printf("  %-44s %s\n", name.c_str(), judder::contact::name(first.status));
    return;
  }
  const Repeat work = [&](long n) {
    for (long i = 0; i < n; ++i) keep(impact(c.problem(), {}, workspace).energy_change);
  };
  limit(name, Rounds({work}, kRounds, 5e-3).seconds(0), goal);
}

}  // namespace

int main() {
  const std::vector<PathProblem> draws = planar_draws();
  const std::array<const char*, 3> names = {"newton", "poisson", "stronge"};
  const std::array<ImpactType, 3> types = {ImpactType::newton, ImpactType::poisson, ImpactType::stronge};
  std::printf("  %-44s %12s   %s\n", "work", "ours", "goal");
  for (std::size_t t = 0; t < types.size(); ++t) {
    const Repeat work = [&](long n) {
      for (long i = 0; i < n; ++i) {
        const PathResult r = path_impact(draws[static_cast<std::size_t>(i % kPlanar)], {types[t], 0.6});
        keep(r);
      }
    };
    limit(std::string("one planar impact, ") + names[t], Rounds({work}, kRounds).seconds(0), 0.2e-6);
  }
  ImpactWorkspace workspace(10, 10);
  struct Named {
    const char* name;
    ImpactType type;
    double goal;
  };
  for (const Named& named :
       {Named{"moreau", ImpactType::moreau, 100e-6}, Named{"poisson", ImpactType::poisson, 100e-6},
        Named{"stronge", ImpactType::stronge, 2e-3}}) {
    many(std::string("ten contacts of eleven balls, ") + named.name, row_of_balls(10, named.type), workspace,
         named.goal);
    many(std::string("ten contacts with friction, ") + named.name, feet(10, named.type), workspace,
         named.goal);
  }
  return 0;
}
