#include "judder/analysis/sections.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "judder/analysis/attractors.hpp"

namespace judder::analysis {
namespace {

/// Points of a map x → f(x) as section points with one component.
template <class Map>
std::vector<double> orbit(double x, int skip, int keep, const Map& f) {
  std::vector<double> out;
  for (int k = 0; k < skip + keep; ++k, x = f(x)) {
    if (k >= skip) out.insert(out.end(), {static_cast<double>(k), x});
  }
  return out;
}

std::size_t logistic(double r, int skip, int keep) {
  return points_per_period(orbit(0.4, skip, keep, [r](double x) { return r * x * (1 - x); }), 2, {false});
}

// Windows of the logistic map, whose ends are known: 3, 1 + √6, 1 + √8.
TEST(Sections, CountThePointsOfAPeriod) {
  EXPECT_EQ(logistic(2.8, 200, 100), 1U);
  EXPECT_EQ(logistic(3.2, 200, 100), 2U);
  EXPECT_EQ(logistic(3.5, 200, 100), 4U);
  EXPECT_EQ(logistic(3.55, 300, 100), 8U);
  EXPECT_EQ(logistic(1 + std::sqrt(8) + 0.005, 2000, 120), 3U);
  EXPECT_EQ(logistic(3.7, 200, 200), 0U);
  EXPECT_EQ(logistic(4.0, 200, 200), 0U);
}

// A turn further on at every point, a period of two: by the velocity alone it would be one as well, by the angle it is two.
TEST(Sections, AreComparedWithoutWholeTurns) {
  std::vector<double> points;
  for (int k = 0; k < 60; ++k) {
    const double angle = 2.5 * k + (k % 2 == 0 ? 0.1 : -0.1);
    points.insert(points.end(), {0.5 * k, angle, 1.0});
  }
  const std::vector<bool> no{false, false};
  EXPECT_EQ(points_per_period(points, 3, no, 1), 0U);
  EXPECT_EQ(points_per_period(points, 3, no, 1, 1e-8, {}, std::vector<double>{2.5}), 2U);
}

// Where the transient lasts longer than anybody waits, its course still tells which side of the flip this is.
TEST(Sections, TellTheSideOfAFlipWhileTheMotionStillConverges) {
  for (const double distance : {3e-3, 1e-3, 3e-4}) {
    EXPECT_EQ(logistic(3 - distance, 3000, 300), 1U) << distance;
    EXPECT_EQ(logistic(3 + distance, 3000, 300), 2U) << distance;
    EXPECT_EQ(logistic(1 + std::sqrt(6) - distance, 3000, 300), 2U) << distance;
    EXPECT_EQ(logistic(1 + std::sqrt(6) + distance, 3000, 300), 4U) << distance;
  }
}

/// Strobes of a driven linear oscillator that has settled, with errors of the size that steps leave: one point, wherever resonance is.
std::vector<double> swing(double frequency, double damping, double error) {
  std::vector<double> out;
  std::uint64_t random = 7;
  const auto noise = [&] {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return error * (static_cast<double>(random >> 11U) * 0x1p-53 - 0.5);
  };
  const double re = 1 - frequency * frequency, im = damping * frequency, size = re * re + im * im;
  for (int k = 0; k < 100; ++k) {
    // x = Re(e^{iwt}/(re + i im)) and its rate at t = 2πk/w
    const double x = re / size + noise(), v = frequency * im / size + noise();
    out.insert(out.end(), {k * 2 * 3.14159265358979 / frequency, x, v});
  }
  return out;
}

TEST(Sections, AreOnePointAtResonanceWhateverTheStepsLeave) {
  for (const double damping : {0.3, 0.1, 0.03}) {
    for (int i = 0; i <= 40; ++i) {
      const double frequency = 0.8 + 0.01 * i;
      for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
        const std::vector<double> points = swing(frequency, damping, 20 * tolerance / damping);
        EXPECT_EQ(points_per_period(points, 3, {false, false}, 1, std::max(1e-8, 1e3 * tolerance)), 1U)
            << damping << " " << frequency << " " << tolerance;
      }
    }
  }
  // What has died out before anybody looks is errors alone: one point.
  std::vector<double> dead;
  for (int k = 0; k < 100; ++k)
    dead.insert(dead.end(), {k * 1.0, 1e-8 * std::sin(1.7 * k * k), 1e-8 * std::cos(2.3 * k * k)});
  const std::vector<double> reach{1, 1};
  EXPECT_EQ(points_per_period(dead, 3, {false, false}, 1, 1e-6, reach), 1U);
  EXPECT_NE(points_per_period(dead, 3, {false, false}, 1, 1e-6), 1U);
  // A motion that has left one point and gets away from it is not that point, however near it still is.
  EXPECT_NE(points_per_period(orbit(1e-10, 0, 100, [](double x) { return 1.12 * x; }), 2, {false}, 0, 1e-6),
            1U);
}

// Towards a focus points go round: multipliers 0.97 e^{±iφ}. Every return falls as fast, and the smallest is the period.
TEST(Sections, TowardsAFocusThereIsOnePoint) {
  int told = 0;
  for (int i = 1; i < 60; ++i) {
    const double angle = 0.05 * i;
    std::vector<double> points;
    for (int k = 0; k < 100; ++k) {
      const double size = 0.3 * std::pow(0.97, k);
      points.insert(points.end(),
                    {3.0 * k, 1 + size * std::cos(angle * k), 0.5 + size * std::sin(angle * k)});
    }
    const std::size_t found = points_per_period(points, 3, {false, false}, 1);
    EXPECT_LE(found, 1U) << angle;  // or nothing is told
    told += found == 1 ? 1 : 0;
  }
  EXPECT_GT(told, 40);
}

// A ball that comes to rest: flights and speeds fall by e each, and nothing has a period.
TEST(Sections, ImpactsThatComeEverSoonerHaveNoPeriod) {
  for (const double e : {0.5, 0.9, 0.97, 0.98, 0.99, 0.995}) {
    for (const int skip : {0, 200}) {
      std::vector<double> points;
      double time = 0, speed = 4.5;
      for (int k = 0; k < skip + 100; ++k) {
        if (k >= skip) points.insert(points.end(), {time, 0, e * speed});
        speed *= e;
        time += 2 * speed / 10;
      }
      const std::vector<double> reach{1.0, 4.5};
      EXPECT_EQ(points_per_period(points, 3, {false, false}, 1, 1e-6, reach), 0U) << e << " " << skip;
    }
  }
}

TEST(Sections, ReadTheirNames) {
  SectionKind kind;
  EXPECT_TRUE(parse_section("strobe", kind) && kind.strobe);
  EXPECT_TRUE(parse_section("impact:wall", kind));
  EXPECT_EQ(kind.event, engines::EventKind::impact);
  EXPECT_EQ(kind.where, "wall");
  EXPECT_TRUE(parse_section("stick", kind));
  EXPECT_FALSE(parse_section("bang:wall", kind));
}

MotionEnd periodic(double period, double most) {
  MotionEnd end;
  end.kind = EndKind::periodic;
  end.period = period;
  end.mode = 7;
  end.least = {-most, -1};
  end.most = {most, 1};
  end.drift = {0, 0};
  return end;
}

TEST(Attractors, PutTogetherWhatIsOneMotion) {
  Attractors all;
  EXPECT_EQ(all.add(periodic(6.28, 2)), 0U);
  EXPECT_EQ(all.add(periodic(6.2800001, 2.00001)), 0U);
  EXPECT_EQ(all.add(periodic(12.56, 2)), 1U);
  EXPECT_EQ(all.add(periodic(6.28, 2.1)), 2U);
  MotionEnd rest;
  rest.kind = EndKind::rest;
  rest.set = true;
  rest.least = rest.most = {0.3, 0};
  rest.drift = {0, 0};
  EXPECT_EQ(all.add(rest), 3U);
  rest.least = rest.most = {-0.5, 0};
  EXPECT_EQ(all.add(rest), 3U);  // friction holds it anywhere
  EXPECT_EQ(all.all()[3].least[0], -0.5);
  EXPECT_EQ(all.all()[3].most[0], 0.3);
  rest.set = false;
  EXPECT_EQ(all.add(rest), 4U);
  rest.least = rest.most = {-0.6, 0};
  EXPECT_EQ(all.add(rest), 5U);  // without friction another place is another end
}

TEST(Attractors, AreWrittenAndReadAsNumbers) {
  const MotionEnd end = periodic(3, 0.25);
  std::vector<double> numbers(MotionEnd::size(2));
  end.put(numbers);
  const MotionEnd read = MotionEnd::get(numbers, "impact wall");
  EXPECT_EQ(read.period, 3);
  EXPECT_EQ(read.least, end.least);
  EXPECT_EQ(read.most, end.most);
  EXPECT_EQ(read.events, "impact wall");
}

// A straight boundary has the exponent 1; in cells that end at random any neighbour is another one.
TEST(Attractors, MeasureTheirBoundary) {
  constexpr std::size_t kSide = 200;
  std::vector<int> straight(kSide * kSide), noise(kSide * kSide);
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    straight[i] = 3 * (i / kSide) + (i % kSide) > 400 ? 1 : 0;
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    noise[i] = static_cast<int>(random >> 63U);
  }
  const Boundary line = boundary_of(straight, kSide, kSide), dust = boundary_of(noise, kSide, kSide);
  EXPECT_NEAR(line.exponent, 1, 0.1);
  EXPECT_NEAR(dust.exponent, 0, 0.05);
  EXPECT_GT(dust.boundary_entropy, std::log(2.0) - 0.05);
  EXPECT_LT(line.boundary_entropy, std::log(2.0));
  EXPECT_LT(line.entropy, 0.1);
}

}  // namespace
}  // namespace judder::analysis
