// Impact problems that own their numbers, and random ones.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "judder/contact/impact.hpp"

namespace judder::contact::test {

struct Collision {
  int normals = 0, tangents = 0;
  std::vector<double> A, before, mu, coupling;
  std::vector<NormalKind> kind;
  std::vector<ImpactLaw> law;

  [[nodiscard]] int rows() const { return normals + tangents; }
  [[nodiscard]] ImpactProblem problem() const {
    ImpactProblem p;
    p.normals = normals;
    p.tangents = tangents;
    p.A = A.data();
    p.before = before.data();
    p.kind = kind.data();
    p.law = law.data();
    p.mu = mu.data();
    p.coupling = coupling.data();
    return p;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out.precision(17);
    const auto list = [&](const char* label, const std::vector<double>& values) {
      out << label << " =";
      for (const double v : values) out << ' ' << v;
      out << '\n';
    };
    out << normals << " normals, " << tangents << " tangents\n";
    list("A", A);
    list("before", before);
    list("mu", mu);
    list("coupling", coupling);
    out << "restitution =";
    for (const auto& l : law) out << ' ' << l.restitution;
    out << "\nkind =";
    for (const auto k : kind) out << ' ' << static_cast<int>(k);
    out << '\n';
    return out.str();
  }
};

/// Normal and slip of one contact between planar bodies. Zabuga 2017, 2.1, in our signs: a = A_NN, ã =
/// A_TT, b = −A_NT, v_N⁻ = −γ_N, v_T = γ_T, I_N = Λ_N, I_T = −Λ_T.
inline Collision planar(double a, double tangent, double b, double mu, double approach, double slip,
                        ImpactLaw law) {
  Collision c;
  c.normals = c.tangents = 1;
  c.A = {a, -b, -b, tangent};
  // With v_N = v_N0 − a I_N − b I_T and v_T = v_T0 − b I_N − ã I_T: γ_N = −v_N, γ_T = v_T, Λ_T = −I_T.
  c.A = {a, -b, -b, tangent};
  c.before = {-approach, slip};
  c.mu = {mu};
  c.coupling = {1};
  c.kind = {NormalKind::unilateral};
  c.law = {law};
  return c;
}

/// A rod under the equations of Zabuga 2017, 2.1: mass 1, length 1, centre at (x1, √3/4) from the contact.
inline Collision rod(double x1, double mu, double slip, ImpactLaw law) {
  const double y1 = std::sqrt(3.0) / 4;
  return planar(1 + 12 * x1 * x1, 1 + 12 * y1 * y1, 12 * x1 * y1, mu, 1, slip, law);
}

struct DrawOptions {
  int max_contacts = 4;
  bool bilateral = false, friction = true;
  double restitution = 0;  // of all contacts; negative: each contact its own
  bool dependent = true;
};

/// A random mechanism with random velocities; every contact approaches or rests.
inline Collision random_collision(std::mt19937_64& random, const DrawOptions& options) {
  std::uniform_real_distribution<double> unit(-1, 1);
  std::uniform_real_distribution<double> positive(0, 1);
  Collision c;
  c.normals = std::uniform_int_distribution<int>(1, options.max_contacts)(random);
  for (int k = 0; k < c.normals; ++k) {
    c.kind.push_back(options.bilateral && positive(random) < 0.25 ? NormalKind::bilateral
                                                                  : NormalKind::unilateral);
    c.law.push_back({});
    c.law.back().restitution = options.restitution >= 0 ? options.restitution : positive(random);
  }
  c.tangents = options.friction ? c.normals : 0;
  for (int j = 0; j < c.tangents; ++j) {
    c.mu.push_back(1.2 * positive(random));
    for (int k = 0; k < c.normals; ++k) c.coupling.push_back(j == k ? 1 : 0);
  }
  const int n = c.rows();
  const int freedom =
      std::max(1, options.dependent ? n + std::uniform_int_distribution<int>(-2, 2)(random) : n + 1);
  std::vector<double> W(n * freedom), v(freedom), mass(freedom);
  for (double& x : W) x = unit(random);
  for (double& x : v) x = unit(random);
  for (double& x : mass) x = 0.2 + 2 * positive(random);
  // Bilateral rows hold before the impact: project the velocity (rows are few; repeated projection
  // converges slowly, so eliminate one after the other by Gram-Schmidt in the kinetic metric).
  std::vector<std::vector<double>> basis;
  for (int k = 0; k < c.normals; ++k) {
    if (c.kind[k] != NormalKind::bilateral) continue;
    std::vector<double> direction(freedom);
    for (int d = 0; d < freedom; ++d) direction[d] = W[k * freedom + d] / mass[d];
    for (const auto& u : basis) {
      double dot = 0;
      for (int d = 0; d < freedom; ++d) dot += direction[d] * mass[d] * u[d];
      for (int d = 0; d < freedom; ++d) direction[d] -= dot * u[d];
    }
    double norm = 0;
    for (int d = 0; d < freedom; ++d) norm += direction[d] * mass[d] * direction[d];
    if (norm < 1e-8) continue;
    for (double& x : direction) x /= std::sqrt(norm);
    basis.push_back(direction);
    double dot = 0;
    for (int d = 0; d < freedom; ++d) dot += direction[d] * mass[d] * v[d];
    for (int d = 0; d < freedom; ++d) v[d] -= dot * direction[d];
  }
  for (int i = 0; i < n; ++i) {
    double velocity = 0;
    for (int d = 0; d < freedom; ++d) velocity += W[i * freedom + d] * v[d];
    if (i < c.normals && c.kind[i] == NormalKind::unilateral && velocity > 0) {
      for (int d = 0; d < freedom; ++d) W[i * freedom + d] *= -1;
      velocity = -velocity;
    }
    c.before.push_back(velocity);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int d = 0; d < freedom; ++d) sum += W[i * freedom + d] / mass[d] * W[j * freedom + d];
      c.A.push_back(sum);
    }
  }
  return c;
}

}  // namespace judder::contact::test
