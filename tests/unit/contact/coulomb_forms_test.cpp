// Coulomb's law in five forms: each is used to make data, which the other four must accept; data that break the law in one way each must be refused by all.
#include "judder/contact/coulomb_forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "count.hpp"

namespace judder::contact {
namespace {

struct Data {
  double normal = 0, mu = 0;
  std::vector<double> force, slip;
  [[nodiscard]] FrictionState state() const { return {normal, force, slip, mu, 0, 0}; }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double between(double low, double high) { return low + (high - low) * uniform_(random_); }
  std::vector<double> direction(std::size_t size) {
    std::vector<double> out(size);
    double length = 0;
    while (!(length > 0.1)) {
      length = 0;
      for (double& x : out) {
        x = between(-1, 1);
        length += x * x;
      }
    }
    for (double& x : out) x /= std::sqrt(length);
    return out;
  }
  /// Sizes over nine orders of magnitude.
  double size() { return std::exp(between(-10, 10)); }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

std::vector<double> times(double factor, std::vector<double> x) {
  for (double& value : x) value *= factor;
  return x;
}

/// Data that satisfy one form by how they are made.
Data lawful(CoulombForm form, Draw& draw, std::size_t size) {
  Data out;
  out.normal = draw.between(0, 1) < 0.1 ? 0 : draw.size();
  out.mu = draw.between(0, 1) < 0.1 ? 0 : draw.between(0, 3);
  const double radius = out.mu * out.normal;
  switch (form) {
    case CoulombForm::classical:  // one of the three cases
      out.force.assign(size, 0);
      out.slip.assign(size, 0);
      if (draw.between(0, 1) < 0.5) {
        out.slip = times(draw.size(), draw.direction(size));
        const std::vector<double> back = times(-1, out.slip);
        double length = 0;
        for (const double x : back) length += x * x;
        out.force = times(radius / std::sqrt(length), back);
      } else {
        out.force =
            times(radius * (draw.between(0, 1) < 0.3 ? 1.0 : draw.between(0, 1)), draw.direction(size));
      }
      break;
    case CoulombForm::variational: {
      // λ_T minimises ⟨λ_T, γ⟩ over the ball where γ is given: then the left side is ≥ 0 for all Y.
      out.slip = times(draw.size(), draw.direction(size));
      double length = 0;
      for (const double x : out.slip) length += x * x;
      out.force = times(-radius / std::sqrt(length), out.slip);
      break;
    }
    case CoulombForm::reaction: {
      // A subgradient of r |X| at X = −γ, by its definition at zero or away from it.
      const bool rests = draw.between(0, 1) < 0.5;
      const std::vector<double> direction = draw.direction(size);
      out.slip = rests ? std::vector<double>(size, 0) : times(draw.size(), direction);
      out.force = rests ? times(radius * draw.between(0, 1), direction) : times(-radius, direction);
      break;
    }
    case CoulombForm::velocity: {
      // The projection of any point z onto the ball, and the normal that leads back to it.
      const std::vector<double> direction = draw.direction(size);
      const double reach = draw.between(0, 2) * (radius > 0 ? radius : 1), rho = draw.size();
      out.force = times(std::min(reach, radius), direction);
      out.slip = times(-(reach - std::min(reach, radius)) / rho, direction);
      break;
    }
    case CoulombForm::cone: {
      // The X of the cone that makes ⟨X_T, γ⟩ least is the reaction itself.
      const std::vector<double> direction = draw.direction(size);
      out.slip = times(draw.size(), direction);
      out.force = times(-radius, direction);
      break;
    }
  }
  return out;
}

TEST(CoulombForms, AcceptWhatAnyOneOfThemMakes) {
  Draw draw(20041214);
  for (int test = 0; test < count(20000); ++test) {
    const std::size_t size = 1 + test % 3;
    const CoulombForm maker = kCoulombForms[static_cast<std::size_t>(test) % 5];
    const Data data = lawful(maker, draw, size);
    for (const CoulombForm form : kCoulombForms)
      ASSERT_LE(residual(form, data.state()), 1e-14)
          << name(maker) << " made, " << name(form) << " refused, case " << test;
  }
}

// The quantified forms at random Y and X: never below zero for lawful data.
TEST(CoulombForms, HoldForEveryTrialVelocityAndEveryTrialReaction) {
  Draw draw(17);
  for (int test = 0; test < count(20000); ++test) {
    const std::size_t size = 1 + test % 3;
    const Data data = lawful(kCoulombForms[static_cast<std::size_t>(test) % 5], draw, size);
    double slip = 0, force = 0;
    for (std::size_t i = 0; i < size; ++i) {
      slip += std::abs(data.slip[i]);
      force += std::abs(data.force[i]);
    }
    const std::vector<double> y = times(draw.size(), draw.direction(size));
    double reach = 0;
    for (const double x : y) reach += std::abs(x);
    EXPECT_GE(variational_value(data.state(), y), -1e-14 * (force + data.mu * data.normal) * (slip + reach));
    const double x_normal = draw.size();
    const std::vector<double> x = times(data.mu * x_normal * draw.between(0, 1), draw.direction(size));
    EXPECT_GE(cone_value(data.state(), x_normal, x),
              -1e-14 * x_normal * (force + data.mu * data.normal) * slip);
  }
}

/// Ways to break the law, one thing at a time.
enum class Breach { outside_at_rest, outside_in_slip, too_little, along_the_slip, askew, pulls };

Data unlawful(Breach breach, Draw& draw, std::size_t size) {
  Data out;
  out.normal = draw.size();
  out.mu = draw.between(0.1, 3);
  const double radius = out.mu * out.normal, much = draw.between(0.2, 0.9);
  const std::vector<double> direction = draw.direction(size);
  out.slip = times(draw.size(), direction);
  out.force = times(-radius, direction);
  switch (breach) {
    case Breach::outside_at_rest:
      out.slip.assign(size, 0);
      out.force = times(-(1 + much) * radius, direction);
      break;
    case Breach::outside_in_slip:
      out.force = times(-(1 + much) * radius, direction);
      break;
    case Breach::too_little:
      out.force = times(-(1 - much) * radius, direction);
      break;
    case Breach::along_the_slip:
      out.force = times(radius, direction);
      break;
    case Breach::askew: {  // on the edge, turned by 40 to 140 degrees
      std::vector<double> other = draw.direction(size);
      double along = 0;
      for (std::size_t i = 0; i < size; ++i) along += other[i] * direction[i];
      double rest = 0;
      for (std::size_t i = 0; i < size; ++i) {
        other[i] -= along * direction[i];
        rest += other[i] * other[i];
      }
      const double angle = draw.between(0.7, 2.4);
      for (std::size_t i = 0; i < size; ++i)
        out.force[i] =
            radius * (-std::cos(angle) * direction[i] + std::sin(angle) * other[i] / std::sqrt(rest));
      break;
    }
    case Breach::pulls:
      out.normal = -out.normal;
      out.force.assign(size, 0);
      break;
  }
  return out;
}

TEST(CoulombForms, RefuseWhatBreaksTheLawInOneWay) {
  Draw draw(6);
  for (const Breach breach : {Breach::outside_at_rest, Breach::outside_in_slip, Breach::too_little,
                              Breach::along_the_slip, Breach::askew, Breach::pulls}) {
    for (int test = 0; test < count(2000); ++test) {
      const std::size_t size = breach == Breach::askew ? 2 + test % 2 : 1 + test % 3;
      const Data data = unlawful(breach, draw, size);
      for (const CoulombForm form : kCoulombForms)
        ASSERT_GE(residual(form, data.state()), 0.05)
            << name(form) << " accepts breach " << static_cast<int>(breach) << ", case " << test;
    }
  }
}

// Trial velocities and reactions exist that show the breach where the reaction stays in its cone.
TEST(CoulombForms, AreRefutedByATrial) {
  Draw draw(8);
  for (const Breach breach : {Breach::too_little, Breach::along_the_slip, Breach::askew}) {
    for (int test = 0; test < count(500); ++test) {
      const Data data = unlawful(breach, draw, 2);
      const std::vector<double> rest(2, 0);
      EXPECT_LT(variational_value(data.state(), rest), 0);
      double length = 0;
      for (const double x : data.slip) length += x * x;
      const std::vector<double> against = times(-data.mu / std::sqrt(length), data.slip);
      EXPECT_LT(cone_value(data.state(), 1, against), 0);
    }
  }
}

// Basseville 2004, (I.6), and the other usual writing of the same line: the first has no rest on the edge of the cone (imminent slip), the second no slip without
// reaction (grazing). Everywhere else they are the law.
TEST(CoulombForms, TwoUsualWritingsOfTheClassicalOneLoseAStateEach) {
  const std::vector<double> none(1, 0), edge{-0.5}, fast{2.0};
  const FrictionState imminent{1, edge, none, 0.5, 0, 0}, grazing{0, none, fast, 0.5, 0, 0};
  for (const CoulombForm form : kCoulombForms) {
    EXPECT_EQ(residual(form, imminent), 0) << name(form);
    EXPECT_EQ(residual(form, grazing), 0) << name(form);
  }
  EXPECT_EQ(residual_force_along_slip(imminent), 1);
  EXPECT_EQ(residual_force_along_slip(grazing), 0);
  EXPECT_EQ(residual_slip_along_force(imminent), 0);
  EXPECT_EQ(residual_slip_along_force(grazing), 1);
  Draw draw(9);
  for (int test = 0; test < count(2000); ++test) {
    Data data = lawful(CoulombForm::classical, draw, 2);
    const double slip = std::abs(data.slip[0]) + std::abs(data.slip[1]);
    const double force = std::hypot(data.force[0], data.force[1]), radius = data.mu * data.normal;
    if (!(radius > 0) || (slip == 0 && force > 0.999 * radius)) continue;
    EXPECT_LE(residual_force_along_slip(data.state()), 1e-14);
    EXPECT_LE(residual_slip_along_force(data.state()), 1e-14);
  }
}

}  // namespace
}  // namespace judder::contact
