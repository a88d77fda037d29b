// Friction laws, compliance and impact laws against their formulas.
#include "model_support.hpp"

namespace judder::model {
namespace {

FrictionLaw law_of(const char* type) {
  FrictionLaw law = coulomb(0.4);
  law.type = type;
  return law;
}

FrictionLaw stribeck(const char* type) {
  FrictionLaw law;
  law.given = true;
  law.type = type;
  law.static_coefficient = 0.5;
  law.dynamic = 0.3;
  law.velocity = 0.2;
  law.exponent = 1.5;
  return law;
}

double stribeck_value(double speed) { return 0.3 + 0.2 * std::exp(-std::pow(speed / 0.2, 1.5)); }

TEST(FrictionLaw, CoulombOfTheSpeedUsesTheFrozenDirection) {
  const System system = compiled_system(padded_mass(coulomb("0.1/(1 + 3*speed)"), "2 + x^2", "x' - 0.2"));
  const Relation& pad = system.relations()[0];
  EXPECT_FALSE(pad.law_constant);
  EXPECT_FALSE(pad.smooth_friction);
  Workspace work(system);
  const auto direction = static_cast<std::size_t>(system.layout().direction());
  for (const double v : {-1.0, 0.1, 0.2, 0.9}) {
    for (const double sigma : {-1.0, 0.0, 1.0}) {
      work.in[1] = 0.5;
      work.in[2] = v;
      work.in[direction] = sigma;
      const RelationRows& rows = system.rows(work, 0);
      expect_close(rows.tangent[0].mu, 0.1 / (1 + 3 * sigma * (v - 0.2)), 1e-15, "slip");
      EXPECT_EQ(rows.tangent[0].mu_static, 0.1);
      expect_close(rows.base, 2.25, 1e-15, "normal force");
    }
  }
}

TEST(FrictionLaw, StaticAndDynamicJumpOrFollowStribeck) {
  FrictionLaw jump;
  jump.given = true;
  jump.static_coefficient = 0.3;
  jump.dynamic = 0.2;
  const System jumping = compiled_system(padded_mass(jump));
  Workspace work(jumping);
  EXPECT_TRUE(jumping.relations()[0].law_constant);
  EXPECT_EQ(jumping.rows(work, 0).tangent[0].mu, 0.2);
  EXPECT_EQ(jumping.rows(work, 0).tangent[0].mu_static, 0.3);

  const System curve = compiled_system(padded_mass(stribeck("coulomb")));
  Workspace other(curve);
  for (const double v : {-0.7, -0.1, 0.05, 0.6}) {
    other.in[2] = v;
    other.in[static_cast<std::size_t>(curve.layout().direction())] = v > 0 ? 1 : -1;
    expect_close(curve.rows(other, 0).tangent[0].mu, stribeck_value(std::abs(v)), 1e-14, "Stribeck");
    EXPECT_EQ(curve.rows(other, 0).tangent[0].mu_static, 0.5);
  }
}

TEST(FrictionLaw, ViscousPartIsADamperThatDoesNotScaleWithTheNormalForce) {
  FrictionLaw law = coulomb(0.4);
  law.viscous = 0.7;
  const System system = compiled_system(padded_mass(law, 2, "3*x' - 0.2"));
  Workspace work(system);
  work.in[2] = 0.9;
  ASSERT_TRUE(system.motion(work));
  expect_close(work.force[0], -0.7 * (3 * 0.9 - 0.2) * 3, 1e-15, "−c γ W");
}

TEST(FrictionLaw, ViscousFrictionOfARigidContactActsWhileItIsClosed) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .velocity = 2});
  spec.coordinates.push_back({.name = "y", .start = 1});
  spec.energy.kinetic = "(x'^2 + y'^2)/2";
  Contact floor;
  floor.name = "floor";
  floor.gap = "y";
  floor.slip = {"x'"};
  floor.friction = coulomb(0.1);
  floor.friction.viscous = 0.5;
  spec.contacts.push_back(floor);
  const System system = compiled_system(spec);
  EXPECT_TRUE(system.relations()[0].reads_closed);
  Workspace work(system);
  EXPECT_EQ(work.in[static_cast<std::size_t>(system.layout().closed())], 0) << "the gap is open at the start";
  ASSERT_TRUE(system.motion(work));
  EXPECT_EQ(work.force[0], 0);
  work.in[static_cast<std::size_t>(system.layout().closed())] = 1;
  ASSERT_TRUE(system.motion(work));
  EXPECT_EQ(work.force[0], -1);
  spec.coordinates[1].start = 0;
  EXPECT_EQ(compiled_system(spec).start()[static_cast<std::size_t>(system.layout().closed())], 1);
}

TEST(FrictionLaw, LuGreBristleAndForceFollowTheirFormulas) {
  FrictionLaw law = stribeck("lugre");
  law.stiffness = 100;
  law.damping = "10*exp(-(speed/0.1)^2)";
  law.viscous = 0.004;
  const System system = compiled_system(padded_mass(law, "2 + x^2"));
  ASSERT_EQ(system.state_names(), std::vector<std::string>{"pad.bristle"});
  EXPECT_EQ(system.relations()[0].tangents, 0) << "the normal force is known: friction is part of h";
  EXPECT_EQ(system.relations()[0].bristles, std::vector<int>{0});
  Workspace work(system);
  for (int i = 0; i < count(5000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 0.5);
    ASSERT_TRUE(system.motion(work));
    const double x = work.in[1], v = work.in[2], z = work.in[3];
    const double rate = v - 100 * std::abs(v) * z / stribeck_value(std::abs(v));
    const double kappa = 100 * z + 10 * std::exp(-v * v / 0.01) * rate;
    expect_close(work.rate[0], rate, 1e-12, "ż, seed " + std::to_string(i));
    expect_close(work.force[0], -(2 + x * x) * kappa - 0.004 * v, 1e-12, "force, seed " + std::to_string(i));
  }
}

// Dupont, Hayward, Armstrong, Altpeter 2002: α = 0 below breakaway and against the slip, 1 from the steady
// bristle on.
TEST(FrictionLaw, ElastoplasticBristleKeepsItsElasticRange) {
  FrictionLaw law = law_of("elastoplastic");
  law.stiffness = 10;
  law.damping = 0;
  law.breakaway = 0.01;
  const System system = compiled_system(padded_mass(law));
  Workspace work(system);
  for (int i = 0; i < count(20000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    const double v = work.in[2] = random.uniform(-1, 1), z = work.in[3] = random.uniform(-0.06, 0.06);
    RandomState::settle(system, work);
    ASSERT_TRUE(system.motion(work));
    const double steady = 0.04, size = std::abs(z);
    double alpha = 0;
    if (z * v > 0 && size > 0.01)
      alpha = size >= steady ? 1 : 0.5 * std::sin(M_PI * (size - 0.025) / 0.03) + 0.5;
    expect_close(work.rate[0], v - alpha * std::abs(v) * z / steady, 1e-12, "seed " + std::to_string(i));
    expect_close(work.force[0], -2 * 10 * z, 1e-12, "force");
  }
  for (const SwitchInfo& s : system.switches()) EXPECT_EQ(s.kind, expr::SwitchKind::kink) << s.place;
}

TEST(FrictionLaw, ArctanIsSmoothAndBounded) {
  FrictionLaw law = law_of("arctan");
  law.beta = 50;
  const System system = compiled_system(padded_mass(law));
  Workspace work(system);
  EXPECT_EQ(system.layout().states, 0);
  for (const double v : {-1.0, -0.01, 0.0, 0.3}) {
    work.in[2] = v;
    RandomState::settle(system, work);
    ASSERT_TRUE(system.motion(work));
    expect_close(work.force[0], -2 * 0.4 * 2 / M_PI * std::atan(50 * v), 1e-14, "force");
  }
}

// A slider in series with a spring and damper: bounded by μN, continuous, exact spring and damper below the
// limit.
TEST(FrictionLaw, PenaltyIsCutAtTheLimitAndContinuous) {
  for (const double damping : {0.0, 3.0}) {
    FrictionLaw law = law_of("penalty");
    law.stiffness = 20;
    law.damping = damping;
    const System system = compiled_system(padded_mass(law));
    Workspace work(system);
    for (int i = 0; i < count(20000); ++i) {
      RandomState random(static_cast<unsigned>(i));
      const double v = work.in[2] = random.uniform(-0.3, 0.3), s = work.in[3] = random.uniform(-0.06, 0.06);
      RandomState::settle(system, work);
      ASSERT_TRUE(system.motion(work));
      const double trial = 20 * s + damping * v, limit = 0.8;
      const std::string seed = "seed " + std::to_string(i);
      expect_close(work.force[0], -std::clamp(trial, -limit, limit), 1e-13, seed);
      if (std::abs(trial) < limit && std::abs(20 * s) < limit)
        expect_close(work.rate[0], v, 1e-12, "sticks, " + seed);
      if (std::abs(20 * s) > limit) {
        EXPECT_LT(work.rate[0] * s, 0) << "relaxes to the limit, " << seed;
      }
    }
  }
}

TEST(FrictionLaw, RigidContactWithBristlesGivesKappaForTheEngine) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .velocity = 0.3});
  spec.coordinates.push_back({.name = "y"});
  spec.energy.kinetic = "(x'^2 + y'^2)/2";
  Contact floor;
  floor.name = "floor";
  floor.gap = "y";
  floor.slip = {"x'"};
  floor.friction = law_of("lugre");
  floor.friction.stiffness = 30;
  floor.friction.damping = 0.2;
  spec.contacts.push_back(floor);
  const System system = compiled_system(spec);
  const Relation& r = system.relations()[0];
  EXPECT_TRUE(r.smooth_friction);
  EXPECT_EQ(r.tangents, 1);
  Workspace work(system);
  work.in[static_cast<std::size_t>(system.layout().z())] = 0.004;
  RandomState::settle(system, work);
  const double rate = 0.3 - 30 * 0.3 * 0.004 / 0.4;
  expect_close(system.rows(work, 0).tangent[0].mu, 30 * 0.004 + 0.2 * rate, 1e-14, "κ");
  ASSERT_TRUE(system.motion(work));
  expect_close(work.rate[0], rate, 1e-14, "ż");
  EXPECT_EQ(work.force[0], 0);
  work.in[static_cast<std::size_t>(system.layout().closed())] = 0;
  ASSERT_TRUE(system.motion(work));
  EXPECT_EQ(work.rate[0], 0) << "an open contact does not bend its bristles";
}

TEST(FrictionLaw, SeveralComponentsShareTheLengthOfTheSlip) {
  Spec spec;
  for (const char* name : {"x", "y", "z"}) spec.coordinates.push_back({.name = name, .velocity = 1});
  spec.energy.kinetic = "(x'^2 + y'^2 + z'^2)/2";
  Contact floor;
  floor.name = "floor";
  floor.gap = "z";
  floor.slip = {"x'", "y'"};
  floor.friction = coulomb("0.3 + 0.1*speed");
  spec.contacts.push_back(floor);
  const System system = compiled_system(spec);
  EXPECT_EQ(system.layout().tangents, 2);
  Workspace work(system);
  for (int j = 0; j < 2; ++j) {
    expect_close(system.rows(work, 0).tangent[j].mu, 0.3 + 0.1 * std::sqrt(2.0), 1e-15, "μ");
    EXPECT_EQ(system.rows(work, 0).tangent[j].mu_static, 0.3);
  }
  spec.contacts[0].slip = {"x'", "y'", "0*z' + x' + y'"};
  EXPECT_EQ(compiled_system(spec).layout().tangents, 3);
}

TEST(FrictionLaw, ZeroCoefficientMakesNoRows) {
  Spec spec = padded_mass(coulomb(0));
  EXPECT_EQ(compiled_system(spec).layout().tangents, 0);
  spec.joints[0].law.viscous = "0.1*speed";  // its direction is still needed
  EXPECT_EQ(compiled_system(spec).layout().tangents, 1);
}

TEST(JointNormal, ReactionsAreTakenApartIntoFactors) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "y"});
  spec.coordinates.push_back({.name = "p"});
  spec.energy.kinetic = "(x'^2 + y'^2 + p'^2)/2";
  Contact floor;
  floor.name = "floor";
  floor.gap = "y";
  spec.contacts.push_back(floor);
  Constraint rail;
  rail.name = "rail";
  rail.zero = "x";
  spec.constraints.push_back(rail);
  Joint spin;
  spin.name = "spin";
  spin.slip = {"p'"};
  spin.normal = "1 + t + 2*normal(floor) + (0.5 + p^2)*(abs(normal(rail)) + normal(floor))";
  spin.law = coulomb(0.1);
  spec.joints.push_back(spin);
  const System system = compiled_system(spec);
  const Relation& r = system.relations()[2];
  EXPECT_EQ(r.feeds, (std::vector<int>{0, 1}));
  Workspace work(system);
  work.in[0] = 3;
  work.in[3] = 0.5;
  const RelationRows& rows = system.rows(work, 2);
  EXPECT_EQ(rows.base, 4);
  EXPECT_EQ(rows.factors[0], 2.75);
  EXPECT_EQ(rows.factors[1], 0.75);
}

TEST(Compliance, ForceIsThatOfSpringAndDamperAndNeverPulls) {
  for (const double damping : {0.0, 5.0}) {
    for (const double exponent : {1.0, 1.5}) {
      Spec spec;
      spec.coordinates.push_back({.name = "u", .start = 0.1, .velocity = 1});
      spec.energy.kinetic = "u'^2/2";
      Contact stop;
      stop.name = "stop";
      stop.gap = "-u";
      stop.compliant.given = true;
      stop.compliant.stiffness = 100;
      stop.compliant.damping = damping;
      stop.compliant.exponent = exponent;
      spec.contacts.push_back(stop);
      const System system = compiled_system(spec);
      EXPECT_TRUE(system.relations()[0].compliant);
      EXPECT_FALSE(system.relations()[0].has_normal);
      Workspace work(system);
      for (int i = 0; i < count(5000); ++i) {
        RandomState random(static_cast<unsigned>(i));
        random.draw(system, work, 2);
        ASSERT_TRUE(system.motion(work));
        const double d = work.in[1], rate = work.in[2];
        const double expected = d > 0 ? std::max(0.0, 100 * std::pow(d, exponent) + damping * rate) : 0;
        expect_close(work.force[0], -expected, 1e-13, "seed " + std::to_string(i));
        double t, v, e;
        system.energies(work, t, v, e);
        expect_close(v, d > 0 ? 100 * std::pow(d, exponent + 1) / (exponent + 1) : 0, 1e-13, "stored energy");
      }
    }
  }
}

TEST(ImpactLaw, NumbersReachTheRelation) {
  Spec spec = bouncing_ball();
  spec.contacts[0].slip = {"0.5*h'"};
  spec.contacts[0].impact.type = "stronge";
  spec.contacts[0].impact.restitution = "0.8*exp(-speed/10)";
  spec.contacts[0].impact.tangential = -0.2;
  spec.contacts[0].impact.stiffness = 3;
  spec.contacts[0].impact.exponent = 1.5;
  spec.contacts[0].impact.friction = false;
  const System system = compiled_system(spec);
  const Relation& r = system.relations()[0];
  EXPECT_EQ(r.impact, ImpactType::stronge);
  EXPECT_TRUE(r.has_tangential_restitution);
  EXPECT_FALSE(r.impact_friction);
  EXPECT_EQ(r.impact_stiffness, 3);
  EXPECT_EQ(r.impact_exponent, 1.5);
  EXPECT_EQ(r.tangents, 1) << "tangential restitution needs the row";
  Workspace work(system);
  double e = 0, tangential = 0;
  system.restitution(work, 0, 2, e, tangential);
  expect_close(e, 0.8 * std::exp(-0.2), 1e-15, "e");
  EXPECT_EQ(tangential, -0.2);
}

}  // namespace
}  // namespace judder::model
