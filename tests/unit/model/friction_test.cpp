// Friction laws taken out of their models: the second writing of their formulas against the first, and whether they create energy.
#include "judder/model/friction.hpp"

#include "model_support.hpp"

namespace judder::model {
namespace {

FrictionLaw bristle_law(const char* type) {
  FrictionLaw law;
  law.given = true;
  law.type = type;
  law.static_coefficient = 1.5;
  law.dynamic = 1;
  law.velocity = 0.1;
  law.exponent = 2;
  law.viscous = 0.004;
  if (std::string(type) == "lugre" || std::string(type) == "elastoplastic" ||
      std::string(type) == "penalty") {
    law.stiffness = 100;
    law.damping = "10*exp(-(speed/0.1)^2)";
  }
  if (std::string(type) == "penalty") law.damping = 10;  // ż is divided by it
  if (std::string(type) == "elastoplastic") law.breakaway = 0.007;
  if (std::string(type) == "arctan") law.beta = 50;
  return law;
}

// The equations of motion and the curve say the same for every slip velocity and bristle.
TEST(FrictionCurve, IsWhatTheEquationsOfMotionContain) {
  for (const char* type : {"lugre", "elastoplastic", "penalty", "arctan"}) {
    const System system = compiled_system(padded_mass(bristle_law(type), 2, "x' - 0.3"));
    FrictionCurve curve(system, 0);
    ASSERT_TRUE(curve.load_known());
    Workspace work(system);
    for (int i = 0; i < count(5000); ++i) {
      RandomState random(static_cast<unsigned>(i));
      random.draw(system, work, 0.5);
      velocity(system, work, 0) = random.uniform(-0.5, 1);
      double z = 0;
      if (curve.has_bristle()) z = state(system, work, 0) *= 0.05;
      RandomState::settle(system, work);
      ASSERT_TRUE(system.motion(work));
      const double slip = velocity(system, work, 0) - 0.3;
      const LawNumbers law = curve.at(slip);
      expect_close(-work.force[0], resistance(curve.type(), law, slip, z), 1e-12,
                   std::string(type) + ", seed " + std::to_string(i));
      if (curve.has_bristle())
        expect_close(work.rate[0], bristle_rate(curve.type(), law, slip, z), 1e-12,
                     std::string(type) + " rate, seed " + std::to_string(i));
    }
  }
}

TEST(FrictionCurve, SlopesAreDerivatives) {
  const System system = compiled_system(padded_mass(bristle_law("lugre")));
  FrictionCurve curve(system, 0);
  for (const double v : {0.02, 0.1, 0.25}) {
    const double h = 1e-6;
    EXPECT_NEAR(curve.at(v).mu_slope, (curve.at(v + h).mu - curve.at(v - h).mu) / (2 * h), 1e-7);
    EXPECT_NEAR(curve.at(v).damping_slope, (curve.at(v + h).damping - curve.at(v - h).damping) / (2 * h),
                1e-5);
  }
}

TEST(FrictionCurve, SetValuedLawsKeepTheirTwoCoefficientsAndDirections) {
  FrictionLaw law;
  law.given = true;
  law.static_coefficient = 0.3;
  law.dynamic = "if(x' > 0, 0.2, 0.1)";
  const System system = compiled_system(padded_mass(law, 5));
  FrictionCurve curve(system, 0);
  EXPECT_EQ(curve.type(), FrictionType::coulomb);
  EXPECT_EQ(curve.at(0.7).mu_static, 0.3);
  EXPECT_EQ(curve.at(0.7).mu, 0.2);
  EXPECT_EQ(curve.at(-0.7).mu, 0.1);
  EXPECT_EQ(steady_resistance(curve.type(), curve.at(-0.7), -0.7), -0.5);
}

// Petcoviciu 2010, 2.1, with the second reading: σ1 |v|/(4 g) is at most 0.0835 and 0.0072 (exponent 2), 0.0864 and 0.0073 (exponent 1).
TEST(Dissipation, OfThePublishedBristles) {
  const struct {
    double vd, exponent, ratio;
  } cases[]{{0.1, 2, 0.0835}, {0.01, 2, 0.0072}, {0.1, 1, 0.0864}, {0.01, 1, 0.0073}};
  for (const auto& c : cases) {
    FrictionLaw law = bristle_law("lugre");
    law.exponent = c.exponent;
    law.damping = c.vd == 0.1 ? "10*exp(-(speed/0.1)^2)" : "10*exp(-(speed/0.01)^2)";
    const System system = compiled_system(padded_mass(law, 1));
    FrictionCurve curve(system, 0);
    const Dissipation found = dissipation(curve);
    EXPECT_NEAR(found.ratio, c.ratio, 5e-5);
    EXPECT_TRUE(found.ok());
    EXPECT_TRUE(std::isinf(found.any_bristle_below));
  }
}

// Brute force over all bristles that the law can reach: no energy is created below the border, some is above.
TEST(Dissipation, TheBorderIsWhereEnergyCanBeCreated) {
  FrictionLaw law = bristle_law("lugre");
  law.damping = 10;
  law.viscous = 0.2;
  const double load = 2;
  const System system = compiled_system(padded_mass(law, load));
  FrictionCurve curve(system, 0);
  const Dissipation found = dissipation(curve);
  ASSERT_TRUE(std::isfinite(found.reachable_below));
  EXPECT_FALSE(found.ok());
  const auto least = [&](double v) {
    const LawNumbers numbers = curve.at(v);
    double worst = 1e300;
    for (int i = -4000; i <= 4000; ++i) {
      const double z = 1.5 / 100 * i / 4000;  // |z| ≤ largest μ/σ0
      const double rate = bristle_rate(curve.type(), numbers, v, z);
      worst = std::min(worst, resistance(curve.type(), numbers, v, z) * v - load * 100 * z * rate);
    }
    return worst;
  };
  EXPECT_GE(least(0.99 * found.reachable_below), 0);
  EXPECT_LT(least(1.01 * found.reachable_below), 0);
  // A constant coefficient never creates energy, however strong the damping.
  FrictionLaw constant;
  constant.given = true;
  constant.type = "lugre";
  constant.mu = 1;
  constant.stiffness = 100;
  constant.damping = 1000;
  const System other = compiled_system(padded_mass(constant, 1));
  FrictionCurve flat(other, 0);
  EXPECT_TRUE(dissipation(flat).ok());
  EXPECT_NEAR(dissipation(flat).any_bristle_below, 0.004, 1e-12) << "4 μ/σ1";
}

TEST(Dissipation, IsReportedByTheCompilerWithWhatToChange) {
  FrictionLaw law = bristle_law("lugre");
  law.damping = 10;
  const Compiled strong = compile(padded_mass(law, 1));
  ASSERT_TRUE(strong.system) << "a warning, no error";
  EXPECT_NE(messages(strong).find("a bent bristle can create energy"), std::string::npos);
  EXPECT_NE(messages(strong).find("let 'damping' fall with the speed"), std::string::npos);
  const Compiled falling = compile(padded_mass(coulomb("0.3 - speed"), 1));
  EXPECT_NE(messages(falling).find("friction pushes instead of resisting"), std::string::npos);
  EXPECT_EQ(messages(compile(padded_mass(bristle_law("lugre"), 1))), "");
  EXPECT_EQ(messages(compile(padded_mass(coulomb("0.1/(1 + 3*speed)"), 1))), "");
}

TEST(TypicalSpeed, LiesWhereTheLawChanges) {
  const auto speed = [](FrictionLaw law) {
    const System system = compiled_system(padded_mass(std::move(law), 1));
    FrictionCurve curve(system, 0);
    return typical_speed(curve);
  };
  EXPECT_NEAR(std::log10(speed(bristle_law("coulomb"))), -1, 0.5);
  EXPECT_EQ(speed(coulomb(0.3)), 1);
  EXPECT_NEAR(std::log10(speed(coulomb("0.1/(1 + 3*speed)"))), std::log10(1.0 / 3), 0.1);
}

TEST(Cyclic, CoordinatesThatOnlyEnterByTheirRatesAreKnown) {
  Spec spec = padded_mass(coulomb(0.3));
  spec.coordinates.push_back({.name = "y"});
  spec.energy.kinetic = "x'^2/2 + y'^2/2";
  spec.energy.potential = "y^2";
  const System system = compiled_system(spec);
  EXPECT_EQ(system.cyclic(), (std::vector<bool>{true, false}));
  EXPECT_TRUE(system.autonomous());
  EXPECT_TRUE(system.periods().empty());
  spec.joints[0].slip = {"x' - cos(3*t)"};
  const System driven = compiled_system(spec);
  EXPECT_FALSE(driven.autonomous());
  ASSERT_EQ(driven.periods().size(), 1U);
  EXPECT_NEAR(driven.periods()[0], 2 * 3.141592653589793 / 3, 1e-14);
}

}  // namespace
}  // namespace judder::model
