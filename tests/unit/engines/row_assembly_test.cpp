// Rows for the contact layer against the matrices the system was written from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "count.hpp"
#include "engines/row_assembly.hpp"
#include "random_system.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

/// Solves a x = b by elimination with full row exchange; an oracle that shares nothing with the library.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p; r < n; ++r) {
      if (std::abs(a[r * n + p]) > std::abs(a[best * n + p])) best = r;
    }
    for (std::size_t c = 0; c < n; ++c) std::swap(a[p * n + c], a[best * n + c]);
    std::swap(b[p], b[best]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == p) continue;
      const double f = a[r * n + p] / a[p * n + p];
      for (std::size_t c = 0; c < n; ++c) a[r * n + c] -= f * a[p * n + c];
      b[r] -= f * b[p];
    }
  }
  for (std::size_t p = 0; p < n; ++p) b[p] /= a[p * n + p];
  return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(RowAssembly, IsTheDelassusMatrixOfTheWrittenSystem) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count(2000)); ++seed) {
    const RandomSystem s = random_system(seed);
    const TestModel model = spec_model(s.spec({.columns = false}));
    model::Workspace work(model.system);
    work.in = model.system.start();
    RowAssembly assembly(model.system, work);
    ASSERT_TRUE(model.system.motion(work));
    const std::size_t relations = model.system.relations().size();
    ASSERT_EQ(relations, s.contacts.size() + s.joints.size());
    const std::vector<std::uint8_t> all(relations, 1);
    assembly.assemble(all, false);

    // Expected rows by name: contacts c…, joints j…; normals first.
    const auto rows_of = [&](int i) {
      const RowAssembly::Row& row = assembly[i];
      const model::Relation& relation = model.system.relations()[static_cast<std::size_t>(row.relation)];
      const auto number = static_cast<std::size_t>(std::stoi(relation.name.substr(1)));
      if (relation.name[0] == 'j') return s.joints[number].slip;
      return row.tangent < 0 ? s.contacts[number].normal : s.contacts[number].tangent;
    };
    EXPECT_EQ(assembly.normals(), static_cast<int>(s.contacts.size()));
    std::vector<double> force(static_cast<std::size_t>(s.n));
    for (std::size_t i = 0; i < force.size(); ++i) {
      force[i] = s.load[i] + s.amplitude[i] * std::cos(s.phase[i]);
      for (std::size_t j = 0; j < force.size(); ++j) {
        force[i] -=
            s.damping[i * force.size() + j] * s.velocity[j] + s.stiffness[i * force.size() + j] * s.start[j];
      }
    }
    const std::vector<double> free = solve(s.mass, force);
    for (int i = 0; i < assembly.size(); ++i) {
      const std::vector<double> row = rows_of(i);
      EXPECT_NEAR(assembly.b[static_cast<std::size_t>(i)], dot(row, free), 1e-12) << "seed " << seed;
      EXPECT_NEAR(assembly.velocity[static_cast<std::size_t>(i)], dot(row, s.velocity), 1e-14)
          << "seed " << seed;
      EXPECT_EQ(assembly.drive[static_cast<std::size_t>(i)], 0);
      for (int j = 0; j < assembly.size(); ++j) {
        EXPECT_NEAR(assembly.A[static_cast<std::size_t>(i * assembly.size() + j)],
                    dot(row, solve(s.mass, rows_of(j))), 1e-12)
            << "seed " << seed << ", rows " << i << ", " << j;
      }
    }
    for (int t = 0; t < assembly.tangents(); ++t) {
      const RowAssembly::Row& row = assembly[assembly.normals() + t];
      const std::string& name = model.system.relations()[static_cast<std::size_t>(row.relation)].name;
      const auto number = static_cast<std::size_t>(std::stoi(name.substr(1)));
      const auto at = static_cast<std::size_t>(t);
      if (name[0] == 'j') {
        EXPECT_EQ(assembly.base[at], s.joints[number].normal);
        EXPECT_EQ(assembly.mu_slip[at], s.joints[number].coefficient);
        EXPECT_EQ(assembly.contact_of[at], -1);
      } else {
        EXPECT_EQ(assembly.base[at], 0);
        EXPECT_EQ(assembly.mu_static[at], s.contacts[number].friction);
        ASSERT_GE(assembly.contact_of[at], 0);
        EXPECT_EQ(assembly[assembly.contact_of[at]].relation, row.relation);
        for (int k = 0; k < assembly.normals(); ++k) {
          EXPECT_EQ(
              assembly
                  .coupling[at * static_cast<std::size_t>(assembly.normals()) + static_cast<std::size_t>(k)],
              k == assembly.contact_of[at] ? 1 : 0);
        }
      }
    }
  }
}

// Joints carry no impulse unless a contact feeds them; contacts outside the part are left out.
TEST(RowAssembly, TakesPartAndImpulsesOnly) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic   = "x'^2/2 + y'^2"
potential = "y"
[[contact]]
name     = "a"
gap      = "y"
slip     = "x'"
friction = 0.5
[[contact]]
name = "b"
gap  = "1 + x"
[[friction]]
name   = "given"
slip   = "x'"
normal = "3"
law    = 0.2
[[friction]]
name   = "fed"
slip   = "x' + y'"
normal = "1 + 2*normal(a)"
law    = 0.2
[[constraint]]
name = "tie"
zero = "x - y"
[run]
until = 1
)toml");
  model::Workspace work(model.system);
  work.in = model.system.start();
  RowAssembly assembly(model.system, work);
  ASSERT_TRUE(model.system.motion(work));
  const auto part = [&](const std::vector<std::string>& names) {
    std::vector<std::uint8_t> out;
    for (const model::Relation& relation : model.system.relations()) {
      out.push_back(std::find(names.begin(), names.end(), relation.name) != names.end() ? 1 : 0);
    }
    return out;
  };
  const auto name = [&](int i) {
    return model.system.relations()[static_cast<std::size_t>(assembly[i].relation)].name;
  };

  assembly.assemble(part({"a", "b", "given", "fed", "tie"}), false);
  EXPECT_EQ(assembly.normals(), 3);
  EXPECT_EQ(assembly.tangents(), 3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(assembly.kind[static_cast<std::size_t>(k)],
              name(k) == "tie" ? contact::NormalKind::bilateral : contact::NormalKind::unilateral);
  }
  assembly.assemble(part({"a", "b", "given", "fed", "tie"}), true);
  ASSERT_EQ(assembly.tangents(), 2);
  for (int t = 0; t < 2; ++t) {
    EXPECT_NE(name(assembly.normals() + t), "given");
    EXPECT_EQ(assembly.base[static_cast<std::size_t>(t)], 0) << "a given force is finite: no impulse";
  }
  assembly.assemble(part({"a", "fed"}), true);
  EXPECT_EQ(assembly.normals(), 1);
  ASSERT_EQ(assembly.tangents(), 2);
  for (int t = 0; t < 2; ++t) {
    EXPECT_EQ(assembly.coupling[static_cast<std::size_t>(t)], name(1 + t) == "fed" ? 2 : 1);
  }
  assembly.assemble(part({"b", "fed"}), true);
  EXPECT_EQ(assembly.tangents(), 0) << "nothing feeds the joint";
}

}  // namespace
}  // namespace judder::engines
