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

// Dry friction at rest, and at the speed at which one half of a square wave stands still: the resistance jumps, and a quotient of differences is any
// number, as its step has it.
TEST(Averages, AJumpHasNoFiniteSlope) {
  model::FrictionLaw dry;
  dry.given = true;
  dry.mu = 0.3;
  model::FrictionLaw bristle = lugre();
  for (const model::FrictionLaw& law : {dry, bristle}) {
    const model::System system = compiled(block(law));
    model::FrictionCurve curve(system, 0);
    EXPECT_EQ(averaged(curve, {}, 0).slope, INFINITY) << law.type.text;
    EXPECT_TRUE(std::isfinite(averaged(curve, {}, 0.2).slope));
    EXPECT_TRUE(std::isfinite(averaged(curve, wave_of(Wave::sine, 0.5, 1000), 0).slope));
  }
  const model::System system = compiled(block(dry));
  model::FrictionCurve curve(system, 0);
  EXPECT_EQ(averaged(curve, wave_of(Wave::square, 0.5, 1000), 0.5).slope, INFINITY);
  EXPECT_EQ(averaged(curve, wave_of(Wave::square, 0.5, 1000), 0.4).slope, 0);
  EXPECT_NEAR(averaged(curve, wave_of(Wave::sine, 0.5, 1000), 0).slope, 2 * 0.3 / (kPi * 0.5), 1e-6)
      << "<mu sign(v + W cos)> = 2 mu asin(v/W)/pi";
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
  EXPECT_NEAR(study->dither.frequency, 50, 1e-9) << "a wave with a harmonic has the period of both";
  EXPECT_FALSE(dither_study(block(lugre(), "x' + 0.3*(sin(50*t) + sin(sqrt(7)*50*t)/2)"), {}, "", problem));
  EXPECT_NE(problem.message.find("no period"), std::string::npos);
}

/// ⟨R(v + w(phase))⟩ by brute force.
template <class Law, class Shape>
double brute_mean(const Law& law, const Shape& shape, double v) {
  constexpr int kMany = 2000000;
  double sum = 0;
  for (int i = 0; i < kMany; ++i) {
    const double u = v + shape((i + 0.5) / kMany);
    sum += u > 0 ? law(u) : u < 0 ? -law(-u) : 0;
  }
  return sum / kMany;
}

// A triangle spends equal times at equal speeds: between −W and W the slope is (R(v + W) + R(W − v))/2W, and jumps count.
TEST(Study, ATriangleHasTheSlopeOfItsEnds) {
  DitherProblem problem;
  for (const bool coulomb : {false, true}) {
    model::FrictionLaw law;
    law.given = true;
    law.dynamic = 0.3;
    law.static_coefficient = coulomb ? 0.3 : 0.6;
    law.velocity = 0.1;
    if (!coulomb) law.viscous = 0.05;
    model::Spec spec = block(law, "x' + 0.5*2/pi*asin(sin(200*t))");
    spec.joints[0].normal = 2;
    const auto study = dither_study(spec, {}, "", problem);
    ASSERT_TRUE(study) << problem.message;
    model::FrictionCurve curve(study->system, study->relation);
    const auto resists = [&](double u) {
      return 2 * (0.3 + (coulomb ? 0 : 0.3 * std::exp(-u * u / 0.01))) + (coulomb ? 0 : 0.05 * u);
    };
    for (const double v : {0.0, 0.1, 0.2, 0.37}) {
      const Averaged found = averaged(curve, study->dither, v);
      EXPECT_NEAR(found.slope, resists(0.5 + v) + resists(0.5 - v), 1e-3) << v;
      const auto wave = [](double phase) { return 0.5 * (4 * std::abs(phase - 0.5) - 1); };
      EXPECT_NEAR(found.resistance, brute_mean(resists, wave, v), 1e-5) << v;
    }
    EXPECT_NEAR(averaged(curve, study->dither, 0).slope, coulomb ? 1.2 : 1.25, 1e-6);
    EXPECT_TRUE(unstable_speeds(study->structure, curve, study->dither, 1e-6, 0.3).empty());
  }
}

// Waves of any shape, with and without jumps, against plain sums.
TEST(Study, AveragesOverWavesOfAnyShape) {
  struct Case {
    const char* slip;
    double (*shape)(double);
  };
  const Case cases[] = {
      {"x' + 0.5*(sin(200*t) + 0.3*sin(400*t))",
       [](double phase) { return 0.5 * (std::sin(2 * kPi * phase) + 0.3 * std::sin(4 * kPi * phase)); }},
      {"x' + 0.3*sign(sin(200*t)) + 0.2*sign(sin(400*t))",
       [](double phase) { return (phase < 0.5 ? 0.3 : -0.3) + (std::fmod(phase, 0.5) < 0.25 ? 0.2 : -0.2); }},
      {"x' + mod(t, 0.01)*100 - 0.5", [](double phase) { return phase - 0.5; }},
      {"x' + max(0, sin(200*t))",
       [](double phase) { return std::max(0.0, std::sin(2 * kPi * phase)) - 1 / kPi; }}};
  DitherProblem problem;
  for (const Case& c : cases) {
    model::FrictionLaw law;
    law.given = true;
    law.dynamic = 0.3;
    law.static_coefficient = 0.3;
    model::Spec spec = block(law, c.slip);
    const auto study = dither_study(spec, {}, "", problem);
    ASSERT_TRUE(study) << c.slip << problem.message;
    model::FrictionCurve curve(study->system, study->relation);
    const auto resists = [](double) { return 0.3; };
    for (const double v : {-0.25, 0.07, 0.2, 0.33}) {
      const Averaged found = averaged(curve, study->dither, v);
      EXPECT_NEAR(found.resistance, brute_mean(resists, c.shape, v), 3e-5) << c.slip << ", v = " << v;
      const double h = 2e-3;
      const double slope =
          (brute_mean(resists, c.shape, v + h) - brute_mean(resists, c.shape, v - h)) / (2 * h);
      EXPECT_NEAR(found.slope, slope, 2e-3 * std::max(1.0, slope)) << c.slip << ", v = " << v;
    }
  }
}

// The structure swings with 1: a force with 0.5 moves it slowly and is no dither, one with 500 is.
TEST(Study, ASlowForceIsNoDither) {
  DitherProblem problem;
  model::Spec spec = block(lugre(1));
  spec.forces.push_back({.along = "x'", .value = "1.7*sin(0.5*t)"});
  const auto study = dither_study(spec, {}, "", problem);
  ASSERT_TRUE(study) << problem.message;
  EXPECT_EQ(study->dither.wave, Wave::none);
  model::FrictionCurve curve(study->system, study->relation);
  const auto values = sliding_eigenvalues(study->structure, curve, study->dither, 0.4);
  ASSERT_FALSE(values.empty());
  // x'' + R'(0.4) x' + x = 0 with R' = −5·exp(−4) + 0.004, the bristle being fast
  EXPECT_NEAR(values.front().real(), 0.0437, 2e-4);
  spec.forces[0].value = "1.7*sin(0.5*t) + 200*sin(500*t)";
  const auto shaken = dither_study(spec, {}, "", problem);
  ASSERT_TRUE(shaken) << problem.message;
  EXPECT_EQ(shaken->dither.wave, Wave::sine);
  EXPECT_NEAR(shaken->dither.amplitude, 0.4, 1e-6);
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

model::FrictionLaw elastoplastic() {
  model::FrictionLaw law = lugre();
  law.type = "elastoplastic";
  law.breakaway = 0.007;
  return law;
}

// A bristle that relaxes within a step is at its steady deflection all the time: with a dither that is large against every speed of the law, the slip is
// either +W or -W, and the mean of mu + viscous*(v + W) and -mu + viscous*(v - W) is viscous*v.
TEST(HeldMean, ABristleThatRelaxesWithinAStepIsAtItsSteadyDeflection) {
  for (const model::FrictionLaw& law : {lugre(), elastoplastic()}) {
    const model::System system = compiled(block(law));
    model::FrictionCurve curve(system, 0);
    for (const double size : {1e6, 1e9, 1e12}) {
      const double held = held_mean(curve, wave_of(Wave::square, size, 100), 0.5 * size, 2000);
      EXPECT_NEAR(held, 0.004 * 0.5 * size, 1e-3 * 0.004 * size) << size;
    }
  }
}

// Pre-sliding: the bristle bends by v T each period and gives nothing back until it breaks away, after hundreds of periods.
TEST(HeldMean, ABristleThatBendsForManyPeriodsIsFoundToo) {
  const model::System system = compiled(block(elastoplastic()));
  model::FrictionCurve curve(system, 0);
  const Dither dither = wave_of(Wave::sine, 1e-6, 1e5);
  const double v = 1e-3;  // 0.015 in 240000 periods
  EXPECT_NEAR(held_mean(curve, dither, v, 2000), averaged(curve, dither, v).resistance, 1e-4);
}

}  // namespace
}  // namespace judder::analysis
