// Averages of friction under dither: against sums over fine samples, against the periodic motion of the bristle, against published harmonics.
#include "judder/analysis/dither.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "judder/analysis/dither_run.hpp"

namespace judder::analysis {
namespace {

constexpr double kPi = 3.141592653589793;

model::Spec block(model::FrictionLaw law, const char* slip = "x'") {
  model::Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "x^2/2";
  model::Joint pad;
  pad.name = "pad";
  pad.slip = {slip};
  pad.normal = 1;
  pad.law = std::move(law);
  spec.joints.push_back(pad);
  spec.run.until = 1;
  return spec;
}

model::FrictionLaw lugre(double exponent = 1) {
  model::FrictionLaw law;
  law.given = true;
  law.type = "lugre";
  law.static_coefficient = 1.5;
  law.dynamic = 1;
  law.velocity = 0.1;
  law.exponent = exponent;
  law.stiffness = 100;
  law.damping = "10*exp(-(speed/0.1)^2)";
  law.viscous = 0.004;
  return law;
}

model::System compiled(const model::Spec& spec) {
  model::Compiled out = model::compile(spec);
  if (!out.system) throw std::runtime_error(render(out.diagnostics, "model", ""));
  return std::move(*out.system);
}

Dither wave_of(Wave wave, double amplitude, double frequency) { return {wave, amplitude, frequency, {}}; }

// Petcoviciu 2010, 2.8 to 2.10; regression values of the second reading.
TEST(HarmonicBalance, GivesThePublishedHarmonics) {
  model::FrictionLaw law = lugre();
  law.damping = 0;
  law.viscous = {};
  const model::System system = compiled(block(law));
  model::FrictionCurve curve(system, 0);
  const Dither dither = wave_of(Wave::sine, 0.2, 10);
  const auto found = harmonic_balance(curve, dither, 0.3, 40);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->cosine[0], 0.01048457195, 1e-11);
  EXPECT_NEAR(found->cosine[1], -5.594134217e-4, 1e-12);
  EXPECT_NEAR(found->sine[1], 2.516597821e-4, 1e-12);
  EXPECT_NEAR(found->mean, held_mean(curve, dither, 0.3), 1e-8) << "against integration";
  EXPECT_LT(found->last, 1e-12);
  EXPECT_FALSE(harmonic_balance(curve, {}, 0.3, 40)) << "without dither";
}

TEST(HarmonicBalance, AgreesWithIntegrationAlsoWithBristleDamping) {
  const model::System system = compiled(block(lugre(2)));
  model::FrictionCurve curve(system, 0);
  for (const double v : {0.25, 0.4, 1.0}) {
    const Dither dither = wave_of(Wave::sine, 0.2, 30);
    EXPECT_NEAR(harmonic_balance(curve, dither, v, 60)->mean, held_mean(curve, dither, v), 1e-8) << v;
  }
}

// The average over a sine by quadrature against a plain sum over many samples.
TEST(Averages, OfASineAreThoseOfManySamples) {
  const model::System system = compiled(block(lugre(2)));
  model::FrictionCurve curve(system, 0);
  Dither sampled = wave_of(Wave::other, 0.5, 1000);
  for (int i = 0; i < 200000; ++i) sampled.samples.push_back(std::cos(2 * kPi * (i + 0.5) / 200000));
  for (const double v : {0.01, 0.2, 0.45, 0.5, 0.7}) {
    const Averaged exact = averaged(curve, wave_of(Wave::sine, 0.5, 1000), v),
                   sum = averaged(curve, sampled, v);
    EXPECT_NEAR(exact.resistance, sum.resistance, 1e-7) << v;
    EXPECT_NEAR(exact.bristle, sum.bristle, 1e-9) << v;
  }
}

TEST(Averages, SlopesAreDerivatives) {
  const model::System system = compiled(block(lugre(1)));
  model::FrictionCurve curve(system, 0);
  for (const Wave wave : {Wave::none, Wave::square, Wave::sine}) {
    const Dither dither = wave_of(wave, wave == Wave::none ? 0 : 0.5, 1000);
    for (const double v : {0.05, 0.3, 0.47, 0.6, 1.2}) {
      const double h = 1e-5;
      const double slope =
          (averaged(curve, dither, v + h).resistance - averaged(curve, dither, v - h).resistance) / (2 * h);
      EXPECT_NEAR(averaged(curve, dither, v).slope, slope, 2e-5 * std::max(1.0, std::abs(slope)))
          << name(wave) << ", " << v;
    }
  }
}

// Faster dither: the mean at its frequency tends to the average, with the inverse of the frequency.
TEST(Averages, AreTheLimitOfFastDither) {
  for (const std::string type : {"lugre", "elastoplastic", "penalty"}) {
    model::FrictionLaw law = lugre(2);
    law.type = type;
    law.damping = type == "penalty" ? model::Value(1) : model::Value(0.1);
    if (type == "elastoplastic") law.breakaway = 0.004;
    const model::System system = compiled(block(law));
    model::FrictionCurve curve(system, 0);
    for (const Wave wave : {Wave::square, Wave::sine}) {
      double before = 0;
      for (const double frequency : {1e3, 1e4}) {
        const Dither dither = wave_of(wave, 0.5, frequency);
        const double off = std::abs(held_mean(curve, dither, 0.2) - averaged(curve, dither, 0.2).resistance);
        if (before > 0) {
          EXPECT_LT(off, 0.3 * before + 2e-7) << type << ", " << name(wave) << ", " << frequency;
        }
        before = off;
      }
      EXPECT_LT(before, 5e-3) << type << ", " << name(wave);
    }
  }
}

// Coulomb's law under a sine, in closed form: (2/π) asin(v/W).
TEST(Averages, OfCoulombFrictionAreElementary) {
  model::FrictionLaw law;
  law.given = true;
  law.mu = 0.4;
  const model::System system = compiled(block(law));
  model::FrictionCurve curve(system, 0);
  const Dither dither = wave_of(Wave::sine, 2, 100);
  for (const double v : {0.1, 1.0, 1.9}) {
    EXPECT_NEAR(averaged(curve, dither, v).resistance, 0.4 * 2 / kPi * std::asin(v / 2), 1e-12) << v;
    EXPECT_NEAR(averaged(curve, dither, v).slope, 0.4 * 2 / kPi / std::sqrt(4 - v * v), 1e-6) << v;
  }
  EXPECT_NEAR(averaged(curve, dither, 2.5).resistance, 0.4, 1e-14);
}

// Two masses, friction on the second: eigenvalues against the characteristic polynomial.
TEST(Stability, EigenvaluesAnnulTheCharacteristicPolynomial) {
  model::Spec spec = block(lugre(1), "y'");
  spec.coordinates.push_back({.name = "y"});
  spec.energy.kinetic = "x'^2/2 + y'^2";
  spec.energy.potential = "x^2 + 3*(y - x)^2/2";
  spec.energy.dissipation = "0.05*x'^2";
  DitherProblem problem;
  const auto study = dither_study(spec, {}, "pad", problem);
  ASSERT_TRUE(study) << problem.message;
  model::FrictionCurve curve(study->system, study->relation);
  const Dither dither = wave_of(Wave::square, 0.5, 1000);
  const Averaged law = averaged(curve, dither, 0.4);
  const auto values = sliding_eigenvalues(study->structure, curve, dither, 0.4);
  ASSERT_EQ(values.size(), 5U);
  for (const std::complex<double> s : values) {
    // (s² + 0.1 s + 5)(2 s² + 3 + s F) − 9 = 0, F = force_v + force_z rate_v/(s − rate_z)
    const std::complex<double> felt = law.force_v + law.force_z * law.rate_v / (s - law.rate_z);
    const std::complex<double> left = (s * s + 0.1 * s + 5.0) * (2.0 * s * s + 3.0 + s * felt) - 9.0;
    const double size = std::pow(1 + std::abs(s), 4);
    EXPECT_LT(std::abs(left), 1e-10 * size * (1 + std::abs(felt))) << s.real() << " + " << s.imag() << "i";
  }
}

TEST(Study, NamesWhatIsMissing) {
  DitherProblem problem;
  model::Spec none;
  none.coordinates.push_back({.name = "x"});
  none.energy.kinetic = "x'^2/2";
  EXPECT_FALSE(dither_study(none, {}, "", problem));
  EXPECT_NE(problem.message.find("no friction law"), std::string::npos);
  EXPECT_FALSE(dither_study(block(lugre()), {}, "pat", problem));
  EXPECT_NE(problem.help.find("pad"), std::string::npos);
  const auto still = dither_study(block(lugre()), {}, "", problem);
  ASSERT_TRUE(still);
  EXPECT_EQ(still->dither.wave, Wave::none);
  EXPECT_EQ(still->structure.stiffness, std::vector<double>{1});
}

TEST(Study, SeesOtherWaves) {
  DitherProblem problem;
  const auto study = dither_study(block(lugre(), "x' + 0.3*(sin(50*t) + sin(100*t)/2)"), {}, "", problem);
  ASSERT_TRUE(study) << problem.message;
  EXPECT_EQ(study->dither.wave, Wave::other);
  EXPECT_NEAR(study->dither.frequency, 100, 1e-9) << "the shortest period is the dither's";
}

TEST(LowPassFilter, PassesSlowAndStopsFast) {
  const double cutoff = 500, sampling = 64000;
  for (const double frequency : {50.0, 500.0, 1000.0, 2000.0}) {
    Butterworth filter(cutoff, sampling);
    double most = 0;
    for (int i = 0; i < 64000; ++i) {
      const double y = filter.step(std::sin(2 * kPi * frequency * i / sampling));
      if (i > 32000) most = std::max(most, std::abs(y));
    }
    EXPECT_NEAR(
        most,
        1 / std::sqrt(1 +
                      std::pow(std::tan(kPi * frequency / sampling) / std::tan(kPi * cutoff / sampling), 16)),
        2e-3)
        << frequency;
  }
}

}  // namespace
}  // namespace judder::analysis
