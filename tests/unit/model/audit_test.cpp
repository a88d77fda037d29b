// dE/dt along the motion is the sum of the audited powers, at random states and with random reactions.
#include "model_support.hpp"

namespace judder::model {
namespace {

/// dE/dt from differences of the energy along (q̇, v̇, ż), against powers plus the work of given reactions.
void expect_balanced(const Spec& spec, int cases, double tolerance, double reach = 0.8) {
  const System system = compiled_system(spec);
  const Layout& layout = system.layout();
  Workspace work(system);
  std::vector<double> powers(system.audits().size() + 1);
  for (int c = 0; c < cases; ++c) {
    RandomState random(static_cast<unsigned>(c));
    random.draw(system, work, reach);
    ASSERT_TRUE(system.motion(work));
    const auto n = static_cast<std::size_t>(layout.coordinates);
    std::vector<double> a = work.force;
    double expected = 0;
    const double* v = work.in.data() + layout.v();
    for (int k = 0; k < layout.relations; ++k) {
      const Relation& r = system.relations()[static_cast<std::size_t>(k)];
      const RelationRows& rows = system.rows(work, k);
      const auto push = [&](const Row& w) {
        const double lambda = random.uniform(-2, 2);
        for (std::size_t i = 0; i < n; ++i) {
          const double pushed = w[static_cast<int>(i)] * lambda;
          a[i] += pushed, expected += pushed * v[i];
        }
      };
      if (r.has_normal) push(rows.push);
      for (int j = 0; j < r.tangents; ++j) push(rows.tangent[j].drag);
    }
    system.solve_mass(work, a.data());
    system.powers(work, powers.data());
    if (system.has_powers_with_motion()) {  // the same bits, evaluated together
      std::vector<double> together(powers.size());
      const std::vector<double> force = work.force, rates = work.rate;
      ASSERT_TRUE(system.motion(work, together.data()));
      EXPECT_EQ(work.force, force);
      EXPECT_EQ(work.rate, rates);
      for (const AuditInfo& audit : system.audits()) {
        if (audit.power < 0) continue;
        const auto place = static_cast<std::size_t>(audit.power);
        EXPECT_EQ(together[place], powers[place]);
      }
    }
    double size = std::abs(expected);
    for (const AuditInfo& audit : system.audits()) {
      if (audit.power < 0) continue;
      expected += powers[static_cast<std::size_t>(audit.power)];
      size += std::abs(powers[static_cast<std::size_t>(audit.power)]);
    }
    const std::vector<double> in = work.in, rate = work.rate;
    const auto energy = [&](double s) {
      work.in = in;
      work.in[0] += s;
      for (std::size_t i = 0; i < n; ++i) {
        work.in[static_cast<std::size_t>(layout.q()) + i] +=
            s * in[static_cast<std::size_t>(layout.v()) + i] + s * s / 2 * a[i];
        work.in[static_cast<std::size_t>(layout.v()) + i] += s * a[i];
      }
      for (std::size_t i = 0; i < rate.size(); ++i)
        work.in[static_cast<std::size_t>(layout.z()) + i] += s * rate[i];
      double t, u, e;
      system.energies(work, t, u, e);
      return e;
    };
    const double h = 1e-4;
    const double found = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
    EXPECT_LE(std::abs(found - expected), tolerance * (size + 1))
        << "seed " << c << ": " << found << " instead of " << expected;
  }
}

TEST(EnergyAudit, ForcesDampersFramesAndStatesAccountForEveryChange) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 0.4});
  spec.coordinates.push_back({.name = "y", .start = 1});
  spec.states.push_back({.name = "w", .start = 0.2, .rate = "x' - w"});
  spec.definitions.push_back({"frame", "0.5*sin(3*t)"});
  spec.energy.kinetic = "((x + frame)'^2 + y'^2)/2 + x^2*y'^2/2";
  spec.energy.potential = "5*(x - w)^2 + 3*y*cos(t)";
  spec.energy.dissipation = "0.7/2*(x' - frame')^2 + 0.2/2*y'^2";
  Force f;
  f.name = "pull";
  f.along = "y' + x*x' - 3";
  f.value = "sin(t) + y";
  spec.forces.push_back(f);
  expect_balanced(spec, count(10000), 1e-7);
}

TEST(EnergyAudit, DissipationThatIsNoQuadraticFormIsStillAccountedFor) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 0.4, .velocity = 1});
  spec.energy.kinetic = "x'^2/2";
  spec.energy.dissipation = "0.3*x'^4 + 0.2*abs(x')^3";
  expect_balanced(spec, count(10000), 1e-7);
}

TEST(EnergyAudit, MatricesAccountForEveryChange) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "y"});
  spec.matrices.mass = {true, {{2, 0.5}, {0.5, 1}}, {}, {}};
  spec.matrices.stiffness = {true, {{3, 2}, {0, 1}}, {}, {}};
  spec.matrices.damping = {true, {{0.2, 0.1}, {-0.1, 0.3}}, {}, {}};
  spec.matrices.load = {true, {{"sin(t)", 2}}, {}, {}};
  expect_balanced(spec, count(10000), 1e-7);
  const System system = compiled_system(spec);
  std::vector<std::string> names;
  for (const AuditInfo& a : system.audits()) names.push_back(a.name);
  EXPECT_EQ(names, (std::vector<std::string>{"damping", "stiffness", "load"}));
}

TEST(EnergyAudit, FrictionInTheForcesIsDissipatedAndTheBeltSupplies) {
  for (const char* type : {"coulomb", "lugre", "elastoplastic", "arctan", "penalty"}) {
    FrictionLaw law = coulomb("0.4 + 0.1*exp(-speed)");
    law.type = type;
    law.viscous = "0.3*(1 + x^2)";
    const std::string word = type;
    if (word == "arctan") law.beta = 30;
    if (word != "coulomb" && word != "arctan") {
      law.stiffness = word == "penalty" ? 50 : 20;
      law.damping = word == "penalty" ? "2" : "0.5*exp(-speed)";
    }
    if (word == "elastoplastic") law.breakaway = 0.01;
    SCOPED_TRACE(type);
    Spec spec = padded_mass(law, "2 + x^2", "x' - 0.7*cos(t)");
    expect_balanced(spec, count(5000), 1e-6);
    const System system = compiled_system(spec);
    int lost = 0, supplied = 0;
    for (const AuditInfo& a : system.audits()) {
      EXPECT_EQ(a.name, "pad");
      ASSERT_GE(a.power, 0);
      (a.dissipative ? lost : supplied) += 1;
    }
    EXPECT_EQ(lost, 1);
    EXPECT_EQ(supplied, 1);
  }
}

TEST(EnergyAudit, CompliantContactStoresAndDissipates) {
  for (const char* damping : {"0", "3"}) {
    Spec spec;
    spec.coordinates.push_back({.name = "x", .start = 0.1, .velocity = 1});
    spec.coordinates.push_back({.name = "y", .start = 0});
    spec.energy.kinetic = "(x'^2 + y'^2)/2";
    Contact c;
    c.name = "stop";
    c.gap = "0.2*sin(t) + 0.1*y^2 - x";
    c.slip = {"y' - 0.3"};
    c.friction = coulomb(0.3);
    c.friction.viscous = 0.2;
    c.compliant.given = true;
    c.compliant.stiffness = 40;
    c.compliant.damping = damping;
    c.compliant.exponent = 2;
    spec.contacts.push_back(c);
    SCOPED_TRACE(damping);
    expect_balanced(spec, count(10000), 1e-6);
  }
}

TEST(EnergyAudit, ElementsThatNeverDoWorkAreLeftOut) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .velocity = 1});
  spec.coordinates.push_back({.name = "y"});
  spec.energy.kinetic = "(x'^2 + y'^2)/2";
  Constraint fixed;
  fixed.name = "fixed";
  fixed.zero = "y";
  spec.constraints.push_back(fixed);
  Force nothing;
  nothing.along = "0*x'";
  nothing.value = 2;
  spec.forces.push_back(nothing);
  EXPECT_TRUE(compiled_system(spec).audits().empty());
  spec.constraints[0].zero = "y - 0.1*t^2";
  const System moved = compiled_system(spec);
  ASSERT_EQ(moved.audits().size(), 1U);
  EXPECT_EQ(moved.audits()[0].relation, 0);
  EXPECT_EQ(moved.relations()[0].audit, 0);
}

}  // namespace
}  // namespace judder::model
