// Linear structures in contact: the factorisation, Signorini's problem with friction, and the schemes against what is proved of them.
#include "judder/engines/structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>

#include "elastic_block.hpp"

namespace judder::engines {
namespace {

using contact::StepContact;

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> times(const SparseMatrix& matrix, std::span<const double> x) {
  std::vector<double> y(x.size());
  matrix.apply(x.data(), y.data());
  return y;
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> out(a.begin(), a.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= b[i];
  return out;
}

double largest(std::span<const double> x) {
  double out = 0;
  for (const double each : x) out = std::max(out, std::abs(each));
  return out;
}

TEST(SparseFactor, SolvesWhatItHasFactorisedInAnyNumbering) {
  std::mt19937_64 generator(3);
  for (int n : {1, 2, 7, 60}) {
    std::vector<int> number(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) number[i] = i;
    std::shuffle(number.begin(), number.end(), generator);
    std::vector<SparseEntry> entries;  // a chain with a few long links, numbered at random
    const auto link = [&](int i, int j, double k) {
      entries.push_back({number[i], number[i], k});
      entries.push_back({number[j], number[j], k});
      entries.push_back({number[i], number[j], -k});
      entries.push_back({number[j], number[i], -k});
    };
    for (int i = 0; i + 1 < n; ++i) link(i, i + 1, 1 + i % 3);
    for (int i = 0; i + 9 < n; i += 7) link(i, i + 9, 0.5);
    entries.push_back({number[0], number[0], 2});
    const SparseMatrix a = make_sparse(n, entries);
    SparseFactor factor;
    ASSERT_TRUE(factor.factor(a));
    std::vector<double> x(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) x[i] = std::sin(1.0 + i);
    std::vector<double> b = times(a, x);
    factor.solve(b.data());
    for (int i = 0; i < n; ++i) EXPECT_NEAR(b[i], x[i], 1e-11);
    if (n < 60) continue;
    EXPECT_LT(factor.entries(), 60u * 12u);  // renumbering found the chain
  }
  SparseFactor factor;
  EXPECT_FALSE(factor.factor(make_sparse(2, {{0, 0, 1}, {1, 1, 1}, {0, 1, 2}, {1, 0, 2}})));  // indefinite
  EXPECT_FALSE(factor.factor(make_sparse(2, {{0, 0, 1}, {1, 1, 1}, {0, 1, 1}, {1, 0, 1}})));  // singular
}

// Petcoviciu 2010, (1.37) to (1.40): equilibrium and both laws at every node, of displacements that the solver did not check itself.
void expect_rest(const Structure& block, const StructureRest& rest, int least_kinds) {
  ASSERT_EQ(rest.status, StructureStatus::ok);
  std::vector<double> force = times(block.stiffness, rest.u);
  for (std::size_t i = 0; i < force.size(); ++i) force[i] -= block.load[i];
  double u_size = largest(rest.u), f_size = largest(block.load);
  std::map<StepContact, int> kinds;
  for (std::size_t c = 0; c < block.contacts.size(); ++c) {
    const StructureContact& each = block.contacts[c];
    const double normal = force[each.normal], tangent = force[each.slip];
    const double gap = each.gap + rest.u[each.normal], slip = rest.u[each.slip];
    force[each.normal] = force[each.slip] = 0;
    EXPECT_GE(gap, -1e-9 * u_size);
    EXPECT_GE(normal, -1e-9 * f_size);
    EXPECT_LT(std::min(gap / u_size, normal / f_size), 1e-9);
    EXPECT_LE(std::abs(tangent), each.mu * normal + 1e-9 * f_size);
    if (std::abs(slip) > 1e-7 * u_size) {
      EXPECT_NEAR(tangent, -each.mu * normal * (slip > 0 ? 1 : -1), 1e-8 * f_size) << "contact " << c;
    }
    ++kinds[rest.contacts[c]];
  }
  EXPECT_LT(largest(force), 1e-9 * f_size);  // nothing pushes inside
  EXPECT_GE(static_cast<int>(kinds.size()), least_kinds);
}

TEST(ElasticBlock, RestsWithOpenStickingAndSlidingNodes) {
  test::BlockNumbers numbers;
  const Structure small = test::elastic_block(17, 8, numbers);
  EXPECT_EQ(small.stiffness.size, 306);
  expect_rest(small, structure_at_rest(small), 2);
  numbers.mu = 0.5;
  numbers.pull = 3e4;  // lifts the nodes beside the clamped side
  const Structure pulled = test::elastic_block(17, 8, numbers);
  expect_rest(pulled, structure_at_rest(pulled), 2);
}

TEST(ElasticBlock, RestsOnTenThousandCoordinatesToo) {
  const Structure block = test::elastic_block(100, 49);
  EXPECT_EQ(block.stiffness.size, 10'000);
  const StructureRest rest = structure_at_rest(block);
  expect_rest(block, rest, 2);
  // The meshes agree on the upper right corner: energies converge from one side, here by less than three per cent between the two.
  const StructureRest coarse = structure_at_rest(test::elastic_block(17, 8));
  const double fine_corner = rest.u.back(), coarse_corner = coarse.u.back();
  EXPECT_NEAR(coarse_corner, fine_corner, 0.03 * std::abs(fine_corner));
}

TEST(ElasticBlock, TheFilesOfTheGalleryHoldTheSameMatrices) {
  const Structure block = test::elastic_block(17, 8);
  for (const auto& [name, matrix] :
       {std::pair("mass.mtx", &block.mass), std::pair("stiffness.mtx", &block.stiffness)}) {
    std::ifstream in(std::string(JUDDER_SOURCE_DIR "/gallery/elastic-block/") + name);
    std::string line;
    std::getline(in, line);
    int rows = 0, columns = 0, entries = 0;
    ASSERT_TRUE(in >> rows >> columns >> entries);
    ASSERT_EQ(rows, matrix->size);
    std::map<std::pair<int, int>, double> listed;
    for (int k = 0; k < entries; ++k) {
      int i = 0, j = 0;
      double value = 0;
      in >> i >> j >> value;
      listed[{i - 1, j - 1}] = value;
    }
    const double size = largest(matrix->value);
    for (int i = 0; i < rows; ++i) {
      for (int e = matrix->begin[i]; e < matrix->begin[i + 1]; ++e) {
        const int j = matrix->column[e];
        if (j > i) continue;
        EXPECT_NEAR((listed[{i, j}]), matrix->value[e], 1e-13 * size) << name << ' ' << i << ' ' << j;
        listed.erase({i, j});
      }
    }
    for (const auto& [place, value] : listed) EXPECT_NEAR(value, 0, 1e-13 * size);
  }
}

struct Curve {
  std::vector<double> energy;
  double worst_identity = 0;  // relative to the energies that flow
  double worst_rise = 0, most_penetration = 0;
  bool touched = false;
};

// One run with what the energy identities say of every step: (1.50) and the one of Newmark in their right forms, and that of the modified scheme.
Curve run(const Structure& block, const StructureOptions& options, int steps) {
  const std::size_t n = block.load.size();
  std::vector<double> zero(n, 0.0);
  StructureRun run(block, options, zero, zero);
  Curve out;
  std::vector<double> u(n, 0.0), v(n, 0.0), before(n, 0.0), force(n, 0.0);
  double energy = run.energy(), scale = 0;
  out.energy.push_back(energy);
  for (int k = 0; k < steps; ++k) {
    if (!run.step()) break;
    const double now = run.energy();
    const std::vector<double> du = difference(run.u(), u), dv = difference(run.v(), v);
    std::vector<double> rho(n), jump(n);
    double expected = now - energy;
    if (options.scheme == StructureScheme::theta) {
      const double t = options.theta;
      for (std::size_t i = 0; i < n; ++i) rho[i] = (1 - t) * force[i] + t * run.contact_force()[i];
      expected = (0.5 - t) * (product(times(block.mass, dv), dv) + product(times(block.stiffness, du), du)) +
                 product(rho, du);
    } else if (options.scheme == StructureScheme::newmark) {
      const double b = options.beta, g = options.gamma, h = options.step;
      for (std::size_t i = 0; i < n; ++i) {
        rho[i] = (1 - g) * force[i] + g * run.contact_force()[i];
        jump[i] = run.contact_force()[i] - force[i];
      }
      const std::vector<double> kdu = times(block.stiffness, du);
      expected = (0.5 - g) * product(kdu, du) + h * (b - g / 2) * (product(kdu, dv) - product(jump, dv)) +
                 product(rho, du);
    } else if (options.scheme == StructureScheme::modified && k > 0) {
      const std::vector<double> two = difference(run.u(), before);
      expected = 0.5 * product(run.contact_force(), two);
    }
    scale = std::max({scale, std::abs(now), std::abs(product(times(block.stiffness, run.u()), run.u()))});
    out.worst_identity = std::max(out.worst_identity, std::abs(now - energy - expected) / scale);
    out.worst_rise = std::max(out.worst_rise, (now - energy) / scale);
    for (std::size_t c = 0; c < block.contacts.size(); ++c) {
      out.most_penetration =
          std::max(out.most_penetration, -(block.contacts[c].gap + run.u()[block.contacts[c].normal]));
      out.touched = out.touched || run.normal()[c] > 0;
    }
    before = u;
    u.assign(run.u().begin(), run.u().end());
    v.assign(run.v().begin(), run.v().end());
    force.assign(run.contact_force().begin(), run.contact_force().end());
    energy = now;
    out.energy.push_back(now);
  }
  EXPECT_EQ(run.status(), StructureStatus::ok);
  EXPECT_EQ(static_cast<int>(out.energy.size()), steps + 1);
  return out;
}

StructureOptions with(StructureScheme scheme, double step) {
  StructureOptions options;
  options.scheme = scheme;
  options.step = step;
  return options;
}

Structure falling_block(int columns, int rows) {
  test::BlockNumbers numbers;
  numbers.gap = 0.01;
  return test::elastic_block(columns, rows, numbers);
}

TEST(ElasticBlock, EnergyIdentitiesHoldInEveryStep) {
  const Structure block = falling_block(17, 8);
  for (const double theta : {0.5, 0.7, 1.0}) {
    StructureOptions options = with(StructureScheme::theta, 2e-3);
    options.theta = theta;
    const Curve curve = run(block, options, 200);
    EXPECT_LT(curve.worst_identity, 1e-12) << "theta " << theta;
    EXPECT_TRUE(curve.touched);
  }
  for (const auto& [beta, gamma] : {std::pair(0.25, 0.5), std::pair(0.3, 0.6), std::pair(0.4, 0.7)}) {
    StructureOptions options = with(StructureScheme::newmark, 2e-3);
    options.beta = beta;
    options.gamma = gamma;
    EXPECT_LT(run(block, options, 200).worst_identity, 1e-12) << "beta " << beta;
  }
  EXPECT_LT(run(block, with(StructureScheme::modified, 2e-3), 200).worst_identity, 1e-12);
}

// What the section says of the schemes. Implicit Euler never gains; the trapezoidal rule does, and with contact its energy grows beyond that of the start; the modified
// scheme of Paoli and Schatzman stays below it.
TEST(ElasticBlock, EnergyCurvesAreAsTheSectionDiscusses) {
  const Structure block = falling_block(17, 8);
  StructureOptions euler = with(StructureScheme::theta, 2e-3);
  euler.theta = 1;
  const Curve implicit = run(block, euler, 1000);
  EXPECT_LE(implicit.worst_rise, 1e-13);
  const Curve trapezoidal = run(block, with(StructureScheme::theta, 2e-3), 1000);
  EXPECT_GT(trapezoidal.worst_rise, 1e-3);
  const double size = std::abs(implicit.energy.back());
  EXPECT_GT(*std::max_element(trapezoidal.energy.begin(), trapezoidal.energy.end()), 0.1 * size);
  const Curve modified = run(block, with(StructureScheme::modified, 2e-3), 1000);
  EXPECT_LT(*std::max_element(modified.energy.begin(), modified.energy.end()), 0.01 * size);
  const Curve paoli = run(block, with(StructureScheme::paoli_schatzman, 5e-4), 4000);
  EXPECT_LT(*std::max_element(paoli.energy.begin(), paoli.energy.end()), 0.01 * size);
}

TEST(ElasticBlock, MovesWithTenThousandCoordinatesByEveryScheme) {
  const Structure block = falling_block(100, 49);
  for (const StructureScheme scheme : {StructureScheme::theta, StructureScheme::newmark,
                                       StructureScheme::modified, StructureScheme::paoli_schatzman}) {
    const bool is_explicit = scheme == StructureScheme::paoli_schatzman;
    const Curve curve = run(block, with(scheme, is_explicit ? 1e-4 : 1e-3), is_explicit ? 400 : 60);
    if (!is_explicit) {
      EXPECT_LT(curve.worst_identity, 1e-11);
    }
    EXPECT_TRUE(curve.touched);
    EXPECT_LT(curve.most_penetration, 5e-3);
  }
}

// A free particle against a wall: Petcoviciu 2010, the scheme (1.46) with h = 0.1 by hand.
TEST(PaoliSchatzman, AParticleReboundsWithTheRestitution) {
  Structure particle;
  particle.mass = make_sparse(1, {{0, 0, 1}});
  particle.stiffness = make_sparse(1, {});
  particle.load = {0};
  particle.contacts = {{0, -1, 0, 0}};
  const std::map<double, std::vector<double>> expected{
      {0.0, {0, 0, 0, 0}}, {0.5, {-0.05, 0, 0.05, 0.1}}, {1.0, {-0.1, 0, 0.1, 0.2}}};
  for (const StructureScheme scheme : {StructureScheme::paoli_schatzman, StructureScheme::modified}) {
    for (const auto& [restitution, places] : expected) {
      StructureOptions options = with(scheme, 0.1);
      options.restitution = restitution;
      StructureRun run(particle, options, std::vector<double>{1}, std::vector<double>{-1});
      for (int k = 0; k < 10; ++k) ASSERT_TRUE(run.step());
      EXPECT_NEAR(run.u()[0], 0, 1e-14);
      for (const double place : places) {
        ASSERT_TRUE(run.step());
        EXPECT_NEAR(run.u()[0], place, 1e-14) << "R = " << restitution;
      }
    }
  }
}

// Without contact: one spring and mass, order two of three schemes and one of implicit Euler.
TEST(Structure, SchemesHaveTheirOrderInFreeMotion) {
  Structure oscillator;
  oscillator.mass = make_sparse(1, {{0, 0, 2}});
  oscillator.stiffness = make_sparse(1, {{0, 0, 50}});
  oscillator.load = {0};
  const auto error = [&](StructureOptions options, double step) {
    options.step = step;
    StructureRun run(oscillator, options, std::vector<double>{0.3}, std::vector<double>{1});
    const int steps = static_cast<int>(std::lround(2 / step));
    for (int k = 0; k < steps; ++k) EXPECT_TRUE(run.step());
    return std::abs(run.u()[0] - (0.3 * std::cos(10.0) + 0.2 * std::sin(10.0)));
  };
  for (const StructureScheme scheme : {StructureScheme::theta, StructureScheme::newmark,
                                       StructureScheme::modified, StructureScheme::paoli_schatzman}) {
    const StructureOptions options = with(scheme, 0);
    EXPECT_NEAR(std::log2(error(options, 4e-3) / error(options, 2e-3)), 2, 0.05);
  }
  StructureOptions euler = with(StructureScheme::theta, 0);
  euler.theta = 1;
  EXPECT_NEAR(std::log2(error(euler, 2e-4) / error(euler, 1e-4)), 1, 0.05);
}

}  // namespace
}  // namespace judder::engines
