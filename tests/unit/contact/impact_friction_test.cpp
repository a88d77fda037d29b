// Friction in impacts beyond one constant coefficient: coefficients that follow the slip, static ones, circular cones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "impact_support.hpp"
#include "judder/contact/decision.hpp"
#include "judder/contact/impact.hpp"
#include "judder/contact/impact_path.hpp"

namespace judder::contact {
namespace {

template <class Law>
class Curve : public PathFriction {
 public:
  explicit Curve(Law law) : law_(law) {}
  double coefficient(double speed, int direction, double P, double Q) override {
    return law_(speed, direction, P, Q);
  }

 private:
  Law law_;
};

PathProblem path(double A_NN, double A_NT, double A_TT, double approach, double slip) {
  PathProblem p;
  p.A_NN = A_NN;
  p.A_NT = p.A_TN = A_NT;
  p.A_TT = A_TT;
  p.normal_before = -approach;
  p.tangent_before = slip;
  return p;
}

ImpactLaw law(ImpactType type, double e) {
  ImpactLaw out;
  out.type = type;
  out.restitution = e;
  return out;
}

double stribeck(double speed) { return 0.3 + 0.5 * std::exp(-(speed / 0.2) * (speed / 0.2)); }
double arctan(double speed) { return 0.4 * 2 / 3.141592653589793 * std::atan(50 * speed); }

struct Published {
  double P, Q, normal, tangent, work;
};

void expect(const PathResult& r, const Published& p) {
  EXPECT_EQ(r.status, ImpactStatus::solved);
  EXPECT_NEAR(r.normal_impulse, p.P, 2e-11);
  EXPECT_NEAR(r.tangential_impulse, p.Q, 2e-11);
  EXPECT_NEAR(r.normal_after, p.normal, 2e-11);
  EXPECT_NEAR(r.tangent_after, p.tangent, 2e-11);
  EXPECT_NEAR(r.normal_work, p.work, 2e-11);
}

// The numbers are quadratures over the slip velocity, dP = dγ/(A_TN − s μ A_TT), with 22 digits.
struct Case {
  const char* name;
  double A_NN, A_NT, A_TT, slip;
  double (*mu)(double);
  double mu_static, restitution;
  Published newton, poisson, stronge;
};

TEST(CurvedPath, IsTheQuadratureOverTheSlip) {
  const Case cases[] = {
      {"stops and sticks",
       1.3,
       0.2,
       0.9,
       0.15,
       stribeck,
       0.8,
       0.6,
       {1.300884955752212, -0.4557522123893805, 0.6, 0, -0.2757122629776891},
       {1.316814159292035, -0.4592920353982301, 0.62, 0, -0.2659954488183971},
       {1.313232440817809, -0.4584960979595132, 0.6155029534712494, 0, -0.2682080606951016}},
      {"reverses",
       1.5,
       -0.8,
       0.8,
       0.4,
       stribeck,
       0.8,
       0.7,
       {1.410950851626659, 0.5205328467999855, 0.7, -0.3123344038613388, -0.09105294342990853},
       {1.277987702134934, 0.4708198958499454, 0.5403256365224443, -0.2457342450279907, -0.1734328187220672},
       {1.306129848337185, 0.4821254617303406, 0.5734944031215043, -0.2592035092854751, -0.1577610878920945}},
      {"arctan through zero",
       1.2,
       -0.5,
       1,
       0.3,
       arctan,
       0,
       0.5,
       {1.332629039676185, 0.1983096952228441, 0.5, -0.1680048246152484, -0.2680605200346973},
       {1.26302886823831, 0.1726280532959492, 0.4293206152379969, -0.1588863808232055, -0.3004013029270122},
       {1.279526948766541, 0.1787047504415054, 0.446079963299096, -0.1610587239417649, -0.2931800834797715}},
      {"arctan from minus",
       1.2,
       0.5,
       1,
       -0.3,
       arctan,
       0,
       0.5,
       {1.332629039676185, -0.1983096952228441, 0.5, 0.1680048246152484, -0.2680605200346973},
       {1.26302886823831, -0.1726280532959492, 0.4293206152379969, 0.1588863808232055, -0.3004013029270122},
       {1.279526948766541, -0.1787047504415054, 0.446079963299096, 0.1610587239417649, -0.2931800834797715}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Curve followed([&c](double speed, int, double, double) { return c.mu(speed); });
    PathProblem p = path(c.A_NN, c.A_NT, c.A_TT, 1, c.slip);
    p.mu_static = c.mu_static;
    p.friction = &followed;
    expect(path_impact(p, law(ImpactType::newton, c.restitution)), c.newton);
    expect(path_impact(p, law(ImpactType::poisson, c.restitution)), c.poisson);
    expect(path_impact(p, law(ImpactType::stronge, c.restitution)), c.stronge);
  }
}

// Without a pull of the normal impulse the slip decays by dγ/dP = −μ(γ): it stops at P = ∫ dγ/μ.
TEST(CurvedPath, StopsWhereTheQuadratureSays) {
  Curve followed(
      [](double speed, int, double, double) { return 0.3 + 0.6 * std::exp(-(speed / 0.2) * (speed / 0.2)); });
  PathProblem p = path(1, 0, 1, 1, 0.5);
  p.mu_static = 0.9;
  p.friction = &followed;
  const PathResult r = path_impact(p, law(ImpactType::poisson, 0.5));
  EXPECT_EQ(r.tangent_after, 0);
  EXPECT_NEAR(r.tangential_impulse, -0.5, 1e-15);
  ASSERT_EQ(r.pieces, 3);
  EXPECT_EQ(r.piece[1].status, RowStatus::slip_plus);
  EXPECT_NEAR(r.piece[1].normal_impulse, 1.14055721054262866, 1e-11);
  EXPECT_EQ(r.piece[2].status, RowStatus::stick);
}

// μ jumps from 0.1 to 0.5 at speed 0.2; the pull needs 0.3. From both sides the slip comes to 0.2 and stays there.
TEST(CurvedPath, StaysOnAJumpThatBothSidesPushTo) {
  Curve followed([](double speed, int, double, double) { return speed > 0.2 ? 0.5 : 0.1; });
  for (const double slip : {0.5, 0.05}) {
    PathProblem p = path(1, 0.3, 1, 4, slip);
    p.mu_static = 0.1;
    p.friction = &followed;
    const PathResult r = path_impact(p, law(ImpactType::newton, 0.5));
    ASSERT_EQ(r.status, ImpactStatus::solved);
    EXPECT_NEAR(r.tangent_after, 0.2, 1e-11);
    EXPECT_NEAR(r.normal_after, 2, 1e-11);
    // Two straight pieces.
    const double mu = slip > 0.2 ? 0.5 : 0.1;
    const double first = (0.2 - slip) / (0.3 - mu);
    const double normal = -4 + (1 - 0.3 * mu) * first;
    EXPECT_NEAR(r.normal_impulse, first + (2 - normal) / (1 - 0.3 * 0.3), 1e-10);
  }
}

// A coefficient of steps in the speed gives straight pieces; a step may come at any part of the integrator's.
TEST(CurvedPath, MeetsEveryJumpOfTheCoefficient) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int draw = 0; draw < 1500; ++draw) {
    std::array<double, 4> speed{}, mu{};  // from speed[i] up it is mu[i]
    for (int i = 1; i < 4; ++i) speed[i] = speed[i - 1] + 0.05 + 0.2 * unit(random);
    for (double& m : mu) m = 0.25 + 0.5 * unit(random);
    Curve followed([&](double s, int, double, double) {
      return s >= speed[3] ? mu[3] : s >= speed[2] ? mu[2] : s >= speed[1] ? mu[1] : mu[0];
    });
    const double slip = speed[3] + unit(random);
    PathProblem p = path(1.2, 0.4 * (unit(random) - 0.5), 0.9, 0.5 + unit(random), slip);
    p.mu_static = mu[0];
    p.friction = &followed;
    const PathResult r = path_impact(p, law(ImpactType::newton, 0.7));
    ASSERT_EQ(r.status, ImpactStatus::solved);
    double P = 0, Q = 0, normal = p.normal_before, gamma = slip;
    for (int i = 3; i >= -1 && normal < -0.7 * p.normal_before; --i) {
      const double tau = i < 0 ? -p.A_TN / p.A_TT : -mu[i];
      const double k = p.A_NN + p.A_NT * tau, rate = p.A_TN + p.A_TT * tau;
      double length = (-0.7 * p.normal_before - normal) / k;
      if (i >= 0) length = std::min(length, (speed[i] - gamma) / rate);
      P += length;
      Q += tau * length;
      normal += k * length;
      gamma += rate * length;
    }
    EXPECT_NEAR(r.normal_impulse, P, 1e-10) << draw;
    EXPECT_NEAR(r.tangential_impulse, Q, 1e-10) << draw;
  }
}

// A very steep arctan is Coulomb's law, also where the slip stops, sticks or reverses.
TEST(CurvedPath, SteepArctanIsCoulomb) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  Curve followed(
      [](double speed, int, double, double) { return 0.5 * 2 / 3.141592653589793 * std::atan(1e8 * speed); });
  for (int draw = 0; draw < 50; ++draw) {
    const double a = 1 + std::abs(unit(random)), c = 1 + std::abs(unit(random));
    const double slip = unit(random);  // one after the other: compilers order arguments as they like
    const double coupling = unit(random);
    PathProblem p = path(a, 0.9 * std::sqrt(a * c) * coupling, c, 1, slip);
    p.mu = 0.5;
    // Where the pull is just what friction can bear, the smooth law creeps.
    if (std::abs(std::abs(p.A_TN) / (0.5 * c) - 1) < 0.02) continue;
    const ImpactType type =
        std::array{ImpactType::newton, ImpactType::poisson, ImpactType::stronge}[draw % 3];
    const PathResult plain = path_impact(p, law(type, 0.6));
    p.friction = &followed;
    p.mu_static = 0;
    const PathResult r = path_impact(p, law(type, 0.6));
    ASSERT_EQ(r.status, ImpactStatus::solved) << draw;
    EXPECT_NEAR(r.normal_impulse, plain.normal_impulse, 1e-6) << draw;
    EXPECT_NEAR(r.tangential_impulse, plain.tangential_impulse, 1e-6) << draw;
  }
}

TEST(CurvedPath, OfAConstantCoefficientIsTheStraightOne) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  double mu = 0;
  Curve followed([&mu](double, int, double, double) { return mu; });
  int stuck = 0, reversed = 0;
  for (int draw = 0; draw < 3000; ++draw) {
    const double a = 0.1 + std::abs(unit(random)), c = 0.1 + std::abs(unit(random));
    PathProblem p =
        path(a, 0.95 * std::sqrt(a * c) * unit(random), c, 0.1 + std::abs(unit(random)), unit(random));
    if (draw % 10 == 0) p.tangent_before = 0;
    p.mu = mu = std::abs(unit(random));
    p.mu_static = draw % 2 == 0 ? 1.5 * mu : mu;
    const ImpactType type =
        std::array{ImpactType::newton, ImpactType::poisson, ImpactType::stronge}[draw % 3];
    const PathResult plain = path_impact(p, law(type, 0.6));
    p.friction = &followed;
    const PathResult r = path_impact(p, law(type, 0.6));
    ASSERT_EQ(r.status, plain.status) << draw;
    const double size = plain.normal_impulse;
    EXPECT_NEAR(r.normal_impulse, plain.normal_impulse, 2e-10 * size) << draw;
    EXPECT_NEAR(r.tangential_impulse, plain.tangential_impulse, 2e-10 * size) << draw;
    EXPECT_NEAR(r.normal_work, plain.normal_work, 2e-10) << draw;
    EXPECT_NEAR(r.tangential_work, plain.tangential_work, 2e-10) << draw;
    EXPECT_NEAR(r.area, plain.area, 2e-10 * size * size) << draw;
    EXPECT_EQ(r.slip, plain.slip) << draw;
    stuck += plain.slip == RowStatus::stick ? 1 : 0;
    reversed += plain.tangent_after * p.tangent_before < 0 ? 1 : 0;
  }
  EXPECT_GT(stuck, 300);
  EXPECT_GT(reversed, 100);
}

// Whatever μ does with the slip, friction takes energy away, and under Stronge's and Poisson's laws the impact does.
TEST(CurvedPath, NeverGainsEnergyByFriction) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> unit(-1, 1);
  double low = 0, high = 0, speed = 1;
  Curve followed([&](double s, int, double, double) { return low + (high - low) * s / (s + speed); });
  for (int draw = 0; draw < 2000; ++draw) {
    const double a = 0.1 + std::abs(unit(random)), c = 0.1 + std::abs(unit(random));
    PathProblem p =
        path(a, 0.95 * std::sqrt(a * c) * unit(random), c, 0.1 + std::abs(unit(random)), unit(random));
    low = std::abs(unit(random));
    high = std::abs(unit(random));
    speed = 0.01 + std::abs(unit(random));
    p.mu = low;
    p.mu_static = low;
    p.friction = &followed;
    const PathResult r = path_impact(p, law(draw % 2 == 0 ? ImpactType::poisson : ImpactType::stronge, 0.9));
    ASSERT_EQ(r.status, ImpactStatus::solved) << draw;
    EXPECT_LE(r.tangential_work, 1e-11) << draw;
    EXPECT_LE(r.energy_change, 1e-11) << draw;
    const double P = r.normal_impulse, Q = r.tangential_impulse;
    const double change = P * p.normal_before + Q * p.tangent_before +
                          0.5 * (p.A_NN * P * P + 2 * p.A_NT * P * Q + p.A_TT * Q * Q);
    EXPECT_NEAR(r.energy_change, change, 1e-11) << draw;
  }
}

// Sticking needs |A_TN|/A_TT = 0.45: between the coefficients 0.3 and 0.6 a slip at rest is held, under every law.
TEST(StaticCoefficient, HoldsASlipAtRest) {
  for (const ImpactType type :
       {ImpactType::moreau, ImpactType::newton, ImpactType::poisson, ImpactType::stronge}) {
    test::Collision c = test::planar(1, 1, -0.45, 0.3, 1, 0, law(type, 0.5));
    const double held = 0.6;
    ImpactProblem problem = c.problem();
    problem.mu_static = &held;
    ImpactWorkspace workspace(1, 1);
    const ImpactResult r = impact(problem, {}, workspace);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(r.after[1], 0);
    EXPECT_NEAR(r.impulse[1], -0.45 * r.impulse[0], 1e-14);
    EXPECT_NEAR(r.impulse[0], 1.5 / (1 - 0.45 * 0.45), 1e-13);
    // One that slips is not.
    c.before[1] = 1e-3;
    const ImpactResult slipping = impact(problem, {}, workspace);
    ASSERT_TRUE(slipping.ok());
    EXPECT_GT(slipping.after[1], 0);
    EXPECT_NEAR(slipping.impulse[1], -0.3 * slipping.impulse[0], 1e-13);
  }
}

// γ_N⁺ + e min(γ_N⁻, 0) ≥ 0: a contact that separates may be brought back to zero, not beyond.
TEST(SeparatingContact, IsStoppedAndDoesNotPenetrate) {
  test::Collision c;
  c.normals = 2;
  const double d = 1 - 0.25;
  c.A = {1 / d, -0.5 / d, -0.5 / d, 1 / d};
  c.before = {-1, 0.1};
  c.kind = {NormalKind::unilateral, NormalKind::unilateral};
  c.law = {law(ImpactType::moreau, 0.5), law(ImpactType::moreau, 0.5)};
  ImpactWorkspace workspace(2, 0);
  for (const ImpactType type :
       {ImpactType::moreau, ImpactType::newton, ImpactType::poisson, ImpactType::stronge}) {
    for (ImpactLaw& each : c.law) each.type = type;
    const ImpactResult r = impact(c.problem(), {}, workspace);
    ASSERT_TRUE(r.ok());
    EXPECT_GE(r.after[0], -1e-12);
    EXPECT_GE(r.after[1], -1e-12);
    if (type == ImpactType::moreau) {
      EXPECT_NEAR(r.after[0], 0.5, 1e-14);
      EXPECT_EQ(r.after[1], 0);
      EXPECT_NEAR(r.impulse[0], 1.5 - 0.05, 1e-14);  // M Δv
      EXPECT_NEAR(r.impulse[1], 0.5 * 1.5 - 0.1, 1e-14);
    }
  }
}

// --- circular cones ---

struct Cones {
  test::Collision c;
  std::vector<int> cone;
  [[nodiscard]] ImpactProblem problem() const {
    ImpactProblem p = c.problem();
    p.cone = cone.data();
    return p;
  }
};

Cones random_cones(std::mt19937_64& random, int contacts, int components, double mu, double e) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Cones out;
  test::Collision& c = out.c;
  c.normals = contacts;
  c.tangents = contacts * components;
  const int n = c.rows();
  const int freedom = n + 2;
  std::vector<double> W(static_cast<std::size_t>(n * freedom));
  for (double& x : W) x = unit(random);
  // Mostly along axes of their own, as contacts of bodies are.
  for (int i = 0; i < n; ++i) W[i * freedom + i] += 1.5;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int d = 0; d < freedom; ++d) sum += W[i * freedom + d] * W[k * freedom + d];
      c.A.push_back(sum);
    }
    c.before.push_back(i < contacts ? -std::abs(unit(random)) : unit(random));
  }
  c.kind.assign(contacts, NormalKind::unilateral);
  c.law.assign(contacts, law(ImpactType::moreau, e));
  for (int k = 0; k < contacts; ++k) {
    for (int j = 0; j < components; ++j) {
      out.cone.push_back(k * components);
      c.mu.push_back(mu);
    }
  }
  for (int j = 0; j < c.tangents; ++j) {
    for (int k = 0; k < contacts; ++k) c.coupling.push_back(j / components == k ? 1 : 0);
  }
  return out;
}

// Every condition of the law, read off the numbers.
void expect_law(const Cones& x, int components, const ImpactResult& r) {
  const test::Collision& c = x.c;
  const int n = c.rows();
  for (int i = 0; i < n; ++i) {
    double after = c.before[i];
    for (int k = 0; k < n; ++k) after += c.A[i * n + k] * r.impulse[k];
    EXPECT_NEAR(after, r.after[i], 1e-11);
  }
  for (int k = 0; k < c.normals; ++k) {
    const double free = r.after[k] + c.law[k].restitution * c.before[k];
    EXPECT_GE(r.impulse[k], 0);
    EXPECT_GE(free, -1e-11);
    EXPECT_NEAR(r.impulse[k] * free, 0, 1e-11);
    double square = 0, slip = 0, power = 0;
    for (int j = 0; j < components; ++j) {
      const int i = c.normals + k * components + j;
      square += r.impulse[i] * r.impulse[i];
      slip += r.after[i] * r.after[i];
      power += r.impulse[i] * r.after[i];
    }
    const double limit = c.mu[k * components] * r.impulse[k];
    EXPECT_LE(std::sqrt(square), limit + 1e-11);
    // Against the slip with all that it has: −Λ·γ = μ Λ_N |γ|.
    EXPECT_NEAR(-power, limit * std::sqrt(slip), 1e-11);
  }
}

TEST(CircularCone, OfAPointMassIsExact) {
  Cones x;
  x.c.normals = 1;
  x.c.tangents = 2;
  x.c.A = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  x.c.before = {-1, 1, 0.5};
  x.c.mu = {0.3, 0.3};
  x.c.coupling = {1, 1};
  x.c.kind = {NormalKind::unilateral};
  x.c.law = {law(ImpactType::moreau, 0.5)};
  x.cone = {0, 0};
  ImpactWorkspace workspace(1, 2);
  const double length = std::sqrt(1.25);
  for (const ImpactType type : {ImpactType::moreau, ImpactType::newton, ImpactType::poisson}) {
    x.c.law[0].type = type;
    const ImpactResult r = impact(x.problem(), {}, workspace);
    ASSERT_EQ(r.status, ImpactStatus::solved);
    EXPECT_NEAR(r.impulse[0], 1.5, 1e-14);
    EXPECT_NEAR(r.impulse[1], -0.45 / length, 1e-14);
    EXPECT_NEAR(r.impulse[2], -0.45 * 0.5 / length, 1e-14);
  }
  x.c.law[0].type = ImpactType::stronge;
  EXPECT_EQ(impact(x.problem(), {}, workspace).status, ImpactStatus::no_form);
}

TEST(CircularCone, SatisfiesTheLawOfRandomImpacts) {
  std::mt19937_64 random(3);
  int stuck = 0, slipped = 0, opened = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const int components = 2 + draw % 2, contacts = 1 + draw % 4;
    const Cones x =
        random_cones(random, contacts, components, draw % 3 == 0 ? 0.8 : 0.3, draw % 2 == 0 ? 0 : 0.6);
    ImpactWorkspace workspace(x.c.normals, x.c.tangents);
    const ImpactResult r = impact(x.problem(), {}, workspace);
    ASSERT_TRUE(r.ok()) << draw << '\n' << x.c.text();
    expect_law(x, components, r);
    if (::testing::Test::HasFailure()) FAIL() << draw << '\n' << x.c.text();
    for (int k = 0; k < contacts; ++k) {
      opened += r.impulse[k] == 0 ? 1 : 0;
      stuck += r.mode[x.c.normals + k * components] == RowStatus::stick ? 1 : 0;
      slipped += r.impulse[k] > 0 && r.mode[x.c.normals + k * components] != RowStatus::stick ? 1 : 0;
    }
    if (x.c.law[0].restitution == 0) {
      EXPECT_LE(r.energy_change, 1e-12);
      EXPECT_EQ(r.energy_gain, 0);
    }
  }
  EXPECT_GT(stuck, 300);
  EXPECT_GT(slipped, 300);
  EXPECT_GT(opened, 30);
}

// Turning the axes of the slip turns its impulse and nothing else; a box would not.
TEST(CircularCone, DoesNotKnowItsAxes) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> angle(0, 6.283185307179586);
  for (int draw = 0; draw < 300; ++draw) {
    const Cones x = random_cones(random, 2, 2, 0.3, 0.5);
    Cones y = x;
    const double phi = angle(random);
    const int n = x.c.rows();
    std::vector<double> R(static_cast<std::size_t>(n * n), 0.0);
    for (int i = 0; i < n; ++i) R[i * n + i] = 1;
    const double co = std::cos(phi), si = std::sin(phi);
    R[2 * n + 2] = co, R[2 * n + 3] = si, R[3 * n + 2] = -si, R[3 * n + 3] = co;
    for (int i = 0; i < n; ++i) {
      y.c.before[i] = 0;
      for (int k = 0; k < n; ++k) y.c.before[i] += R[i * n + k] * x.c.before[k];
      for (int k = 0; k < n; ++k) {
        double sum = 0;
        for (int a = 0; a < n; ++a) {
          for (int b = 0; b < n; ++b) sum += R[i * n + a] * x.c.A[a * n + b] * R[k * n + b];
        }
        y.c.A[i * n + k] = sum;
      }
    }
    ImpactWorkspace one(2, 4), other(2, 4);
    const ImpactResult r = impact(x.problem(), {}, one), s = impact(y.problem(), {}, other);
    ASSERT_TRUE(r.ok() && s.ok());
    EXPECT_NEAR(r.impulse[0], s.impulse[0], 1e-10) << draw;
    EXPECT_NEAR(r.impulse[1], s.impulse[1], 1e-10) << draw;
    EXPECT_NEAR(s.impulse[2], co * r.impulse[2] + si * r.impulse[3], 1e-10) << draw;
    EXPECT_NEAR(s.impulse[3], -si * r.impulse[2] + co * r.impulse[3], 1e-10) << draw;
  }
}

// Masses in another unit, a power of two: the same bits.
TEST(CircularCone, KeepsItsBitsInOtherUnits) {
  std::mt19937_64 random(8);
  for (int draw = 0; draw < 200; ++draw) {
    const Cones x = random_cones(random, 2, 2, 0.4, 0.5);
    Cones y = x;
    for (double& a : y.c.A) a *= 8;
    ImpactWorkspace one(2, 4), other(2, 4);
    const ImpactResult r = impact(x.problem(), {}, one), s = impact(y.problem(), {}, other);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(r.impulse[i], 8 * s.impulse[i]) << draw;
  }
}

TEST(CurvedPath, KeepsItsBitsInOtherUnits) {
  Curve followed([](double speed, int, double, double) { return stribeck(speed); });
  Curve faster([](double speed, int, double, double) { return stribeck(speed / 4); });
  for (const double slip : {0.3, -0.7, 1.4}) {
    PathProblem p = path(1.3, -0.4, 0.9, 1, slip), q = path(1.3 / 2, -0.4 / 2, 0.9 / 2, 4, 4 * slip);
    p.mu_static = q.mu_static = 0.8;
    p.friction = &followed;
    q.friction = &faster;
    const PathResult r = path_impact(p, law(ImpactType::stronge, 0.6)),
                     s = path_impact(q, law(ImpactType::stronge, 0.6));
    EXPECT_EQ(8 * r.normal_impulse, s.normal_impulse);
    EXPECT_EQ(8 * r.tangential_impulse, s.tangential_impulse);
    EXPECT_EQ(4 * r.tangent_after, s.tangent_after);
  }
}

// A plate on four feet: impulses are not unique, velocities are.
TEST(CircularCone, TakesDependentContacts) {
  // Plate of unit mass and inertia about both axes, feet at (±1, ±1), rows by (z, a, b, x, y).
  const double feet[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  Cones x;
  x.c.normals = 4;
  x.c.tangents = 8;
  std::vector<std::array<double, 6>> rows;
  for (const auto& f : feet) rows.push_back({1, f[1], -f[0], 0, 0, 0});
  for (const auto& f : feet) {
    rows.push_back({0, 0, 0, 1, 0, -f[1]});
    rows.push_back({0, 0, 0, 0, 1, f[0]});
  }
  const std::array<double, 6> v = {-1, 0.2, 0.1, 0.4, -0.3, 0.2};
  for (const auto& a : rows) {
    double gamma = 0;
    for (const auto& b : rows) {
      double sum = 0;
      for (int d = 0; d < 6; ++d) sum += a[d] * b[d];
      x.c.A.push_back(sum);
    }
    for (int d = 0; d < 6; ++d) gamma += a[d] * v[d];
    x.c.before.push_back(gamma);
  }
  x.c.kind.assign(4, NormalKind::unilateral);
  x.c.law.assign(4, law(ImpactType::moreau, 0));
  x.c.mu.assign(8, 0.25);
  for (int j = 0; j < 8; ++j) {
    x.cone.push_back(j / 2 * 2);
    for (int k = 0; k < 4; ++k) x.c.coupling.push_back(j / 2 == k ? 1 : 0);
  }
  ImpactWorkspace workspace(4, 8);
  const ImpactResult r = impact(x.problem(), {}, workspace);
  ASSERT_TRUE(r.ok());
  expect_law(x, 2, r);
}

// With μ → ∞ the slip stops at once, and the impulse is that of sticking; or friction carries the contact off before that, without any normal impulse.
// All of it is right to rounding as soon as 1/μ is rounding.
TEST(HugeFriction, ImpactsAreThoseOfTheLimit) {
  for (const double x1 : {0.25, -0.25, 0.6}) {
    for (const double slip : {3.0, 0.2, 0.0, -0.2, -3.0}) {
      for (const ImpactType type :
           {ImpactType::moreau, ImpactType::newton, ImpactType::poisson, ImpactType::stronge}) {
        for (const double mu : {1e14, 1e18, 1e100, 1e154, 1e200, 1e300, 1.7e308}) {
          const test::Collision c = test::rod(x1, mu, slip, law(type, 0));
          const double NN = c.A[0], NT = c.A[1], TT = c.A[3], gamma_N = c.before[0], gamma_T = c.before[1];
          // Q alone stops the slip, or lifts the contact off earlier.
          const double stops = -gamma_T / TT, lifts = -gamma_N / NT;
          const bool lifted = stops * lifts > 0 && std::abs(lifts) < std::abs(stops);
          const double determinant = NN * TT - NT * NT;
          const double P = lifted ? 0 : (NT * gamma_T - TT * gamma_N) / determinant;
          const double Q = lifted ? lifts : (NT * gamma_N - NN * gamma_T) / determinant;
          ImpactWorkspace workspace(1, 1);
          const ImpactResult result = impact(c.problem(), {}, workspace);
          const std::string what = c.text() + name(result.status);
          ASSERT_EQ(result.status, ImpactStatus::solved) << what;
          EXPECT_FALSE(result.several_velocities) << what;
          EXPECT_NEAR(result.impulse[0], P, 1e-12) << what;
          EXPECT_NEAR(result.impulse[1], Q, 1e-12) << what;
          EXPECT_NEAR(result.after[0], gamma_N + NN * P + NT * Q, 1e-12) << what;
          EXPECT_NEAR(result.after[1], gamma_T + NT * P + TT * Q, 1e-12) << what;
        }
      }
    }
  }
}

// A block with friction that presses nothing (A_NT = 0) slips on a plane: the reaction is its weight, and friction μ times that.
TEST(HugeFriction, ASlipHasItsReaction) {
  const std::vector<double> A{1, 0, 0, 1}, b{-9.81, 4.7}, coupling{1};
  for (const double mu : {0.3, 1e6, 1e12, 1e100, 1e200, 1e280}) {
    DecisionProblem problem;
    problem.normals = problem.tangents = 1;
    problem.A = A.data();
    problem.b = b.data();
    const TangentState state = TangentState::slip_plus;
    problem.state = &state;
    problem.mu_slip = &mu;
    problem.coupling = coupling.data();
    DecisionWorkspace workspace(1, 1);
    const Decision decision = decide(problem, {}, workspace);
    ASSERT_TRUE(decision.found()) << mu;
    EXPECT_NEAR(decision.force[0], 9.81, 1e-12) << mu;
    EXPECT_NEAR(decision.force[1] / mu, -9.81, 1e-12) << mu;
  }
}

// Whatever the coefficient, a collision of two contacts that is called solved is an answer to its data.
TEST(HugeFriction, WhatIsSolvedAnswersItsData) {
  std::mt19937_64 random(7);
  int solved = 0;
  for (int i = 0; i < 400; ++i) {
    test::Collision c = test::random_collision(random, {.max_contacts = 3, .restitution = 0.4});
    const double mu = std::pow(10.0, static_cast<double>(i % 308));
    for (double& each : c.mu) each = mu;
    for (const ImpactType type :
         {ImpactType::moreau, ImpactType::newton, ImpactType::poisson, ImpactType::stronge}) {
      for (ImpactLaw& each : c.law) each.type = type;
      ImpactWorkspace workspace(c.normals, c.tangents);
      const ImpactResult result = impact(c.problem(), {}, workspace);
      if (!result.ok()) continue;
      ++solved;
      double size = 0;
      for (const double v : c.before) size = std::max(size, std::abs(v));
      for (int k = 0; k < c.rows(); ++k) {
        double after = c.before[k], scale = size;
        for (int m = 0; m < c.rows(); ++m) {
          after += c.A[k * c.rows() + m] * result.impulse[m];
          scale += std::abs(c.A[k * c.rows() + m] * result.impulse[m]);
        }
        EXPECT_LE(std::abs(after - result.after[k]), 2e-6 * scale) << c.text() << name(result.form);
      }
      EXPECT_TRUE(std::isfinite(result.energy_change)) << c.text();
    }
  }
  EXPECT_GT(solved, 400);
}

}  // namespace
}  // namespace judder::contact
