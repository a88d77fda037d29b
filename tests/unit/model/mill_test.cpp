// The cold pilger mill KhPT-75 (Zabuga 2017, chapter 5): equations (5.2) to (5.13*) with closure A, written
// by hand.
#include "model_support.hpp"

namespace judder::model {
namespace {

Spec mill() {
  Spec spec;
  const std::vector<std::pair<const char*, Value>> numbers{
      {"m", 7800},
      {"GK", 2770},
      {"dlK", 0.864},
      {"dh", 1.5},
      {"dL", 0.0025},
      {"mu", 0.05},
      {"l", 2.45},
      {"dl", 0.0012},
      {"l1", "l + dl"},
      {"l2", "l - dl"},
      {"k", 9.4e7},
      {"H", 188000},
      {"r", 0.35},
      {"dr", 0.001},
      {"ra", "r - dr/2"},
      {"rb", "r + dr/2"},
      {"h", 0.28},
      {"r1", 0.21},
      {"r2", 0.21},
      {"r3", 0.546},
      {"G", 130},
      {"c2", 8.6e6},
      {"HC2", 17200},
      {"c3", 6.9e6},
      {"HC3", 13800},
      {"k3", 3.44e9},
      {"Hk3", 68800},
      {"F0", 29400},
      {"xP", 2.2},
      {"cK", 1e8},
      {"HK", 2e5},
      {"w0", 6.28},
      {"t1", 1},
      {"g", 9.81},
      {"link", 0},
      {"slot", "dlK + dL"},
      {"delta", "asin((dh*slot - dlK*sqrt(dlK^2 + dh^2 - slot^2))/(dlK^2 + dh^2))"},
      {"phi0", "-asin(h/(l - r))"},
      {"S", 0.3},
      {"muG", "4*mu/S*(J(dh/2, dlK/2) - J(dh/2, dlK/2 - 0.1))"}};
  for (const auto& [name, value] : numbers) spec.parameters.push_back(parameter(name, value));
  spec.coordinates.push_back({.name = "phi31", .start = "phi0"});
  spec.coordinates.push_back({.name = "phi32", .start = "phi0"});
  spec.coordinates.push_back({.name = "phi22", .massless = true});
  spec.coordinates.push_back({.name = "x", .start = "sqrt((l - r)^2 - h^2)"});
  spec.coordinates.push_back({.name = "alpha"});
  const std::vector<std::pair<const char*, const char*>> shorthands{
      {"J(a, b)", "a*b*hypot(a, b)/3 + a^3/6*asinh(b/a) + b^3/6*asinh(a/b)"},
      {"phi1", "if(t < t1, w0*(2*t^3/t1^2 - 2*t^4/t1^3 + 3/5*t^5/t1^4), w0*(t - 2/5*t1))"},
      {"phi21", "-phi1*r1/r2"},
      {"s1", "(h - ra*sin(phi31))/l1"},
      {"s2", "(h - rb*sin(phi32))/l2"},
      {"q1", "sqrt(1 - s1^2)"},
      {"q2", "sqrt(1 - s2^2)"},
      {"same", "(2*x + ra*cos(phi31) + rb*cos(phi32) - l1*q1 - l2*q2)/(1/q1 + 1/q2)"},
      {"dl1", "if(link == 1, same, (x + dlK/2*sin(alpha) + ra*cos(phi31))*q1 + l1*s1^2 - l1)"},
      {"dl2", "if(link == 1, same, (x - dlK/2*sin(alpha) + rb*cos(phi32))*q2 + l2*s2^2 - l2)"},
      {"phi41", "asin((h - ra*sin(phi31))/(l1 + dl1))"},
      {"phi42", "asin((h - rb*sin(phi32))/(l2 + dl2))"},
      {"R1", "k*dl1 + H*dl1'"},
      {"R2", "k*dl2 + H*dl2'"},
      {"NV", "m*g + R1*sin(phi41) + R2*sin(phi42)"},
      {"out", "step(abs(alpha) - delta)"},
      {"side", "abs(R2*cos(phi42) - R1*cos(phi41))*dlK/(dh - dlK*tan(abs(alpha)))*out"}};
  for (const auto& [name, body] : shorthands) spec.definitions.push_back({name, body});
  spec.energy.kinetic = "G/2*(phi31'^2 + phi32'^2) + m/2*x'^2 + GK/2*alpha'^2";
  spec.energy.potential =
      "c3/2*(phi32 - phi31)^2 + k3/2*((phi31 - phi0)*r3 + phi21*r2)^2 + k3/2*((phi32 - phi0)*r3 + "
      "phi22*r2)^2 + c2/2*(phi21 - phi22)^2";
  spec.energy.dissipation =
      "HC3/2*(phi32' - phi31')^2 + Hk3/2*(phi31'*r3 + phi21'*r2)^2 + Hk3/2*(phi32'*r3 + phi22'*r2)^2 + "
      "HC2/2*(phi21' - phi22')^2";
  const std::vector<std::vector<const char*>> forces{
      {"crank3", "phi31'", "R1*ra*sin(phi31 + phi41)"},
      {"crank4", "phi32'", "R2*rb*sin(phi32 + phi42)"},
      {"rods", "x'", "-R1*cos(phi41) - R2*cos(phi42)"},
      {"twist", "alpha'", "(R2*cos(phi42) - R1*cos(phi41))*dlK/2*cos(alpha)"},
      {"yaw_stop", "alpha'", "-(cK*(alpha - delta*sign(alpha)) + HK*alpha')*out"},
      {"rolling", "x'", "-F0*step(x - xP)*step(x')"}};
  for (const auto& f : forces) {
    Force force;
    force.name = f[0];
    force.along = f[1];
    force.value = f[2];
    spec.forces.push_back(force);
  }
  spec.forces[3].when = "link == 0";
  Constraint link;
  link.name = "link";
  link.when = "link == 1";
  link.zero = "alpha";
  spec.constraints.push_back(link);
  Joint guide;
  guide.name = "guide";
  guide.slip = {"x'"};
  guide.normal = "NV + side";
  guide.law = coulomb("mu");
  spec.joints.push_back(guide);
  Joint spin;
  spin.name = "spin";
  spin.when = "link == 0";
  spin.slip = {"alpha'"};
  spin.normal = "NV";
  spin.law = coulomb("muG");
  spec.joints.push_back(spin);
  spec.run.until = 4;
  return spec;
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

class Mill : public testing::TestWithParam<bool> {};

TEST_P(Mill, AgreesWithTheEquationsOfTheThesis) {
  const bool equalised = GetParam();
  CompileOptions options;
  options.set.push_back({"link", equalised ? 1 : 0});
  const Compiled compiled = compile(mill(), options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  const System& system = *compiled.system;
  const double m = 7800, GK = 2770, dlK = 0.864, dh = 1.5, l1 = 2.4512, l2 = 2.4488, k = 9.4e7, H = 188000,
               ra = 0.3495, rb = 0.3505, h = 0.28, r2 = 0.21, r3 = 0.546, G = 130, c2 = 8.6e6, HC2 = 17200,
               c3 = 6.9e6, HC3 = 13800, k3 = 3.44e9, Hk3 = 68800, F0 = 29400, cK = 1e8, HK = 2e5, w0 = 6.28,
               g = 9.81;
  double delta = 0, muG = 0, phi0 = 0;
  for (const auto& [name, value] : compiled.parameters) {
    if (name == "delta") delta = value;
    if (name == "muG") muG = value;
    if (name == "phi0") phi0 = value;
  }
  EXPECT_NEAR(delta, 0.0016675, 5e-8);  // Zabuga 2017, 5.2
  EXPECT_NEAR(muG, 0.0279986, 5e-8);    // (5.10)
  EXPECT_NEAR(phi0, -0.1337316, 5e-8);  // start of 5.2
  EXPECT_NEAR(system.start()[4], 2.0812496, 5e-8);
  EXPECT_EQ(system.relations().size(), 2U);

  Workspace work(system);
  for (int i = 0; i < count(5000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    work.in = system.start();
    const double t = work.in[0] = random.uniform(0, 2);
    const double f31 = work.in[1] = random.uniform(-3, 3),
                 f32 = work.in[2] = f31 + random.uniform(-1e-3, 1e-3);
    const double f22 = work.in[3] = random.uniform(-1, 1);
    const double x = work.in[4] = random.uniform(2.08, 2.78),
                 alpha = work.in[5] = random.uniform(-0.003, 0.003);
    for (std::size_t k0 = 6; k0 < 11; ++k0) work.in[k0] = random.uniform(-2, 2);
    RandomState::settle(system, work);
    ASSERT_TRUE(system.motion(work));
    const double u31 = work.in[6], u32 = work.in[7], u22 = work.in[8], vx = work.in[9], va = work.in[10];
    const std::string seed = "seed " + std::to_string(i);

    const double phi1 =
        t < 1 ? w0 * (2 * t * t * t - 2 * std::pow(t, 4) + 0.6 * std::pow(t, 5)) : w0 * (t - 0.4);
    const double dphi1 = t < 1 ? w0 * (6 * t * t - 8 * t * t * t + 3 * std::pow(t, 4)) : w0;
    const double f21 = -phi1, u21 = -dphi1;  // r1 = r2
    const double s1 = (h - ra * std::sin(f31)) / l1, s2 = (h - rb * std::sin(f32)) / l2;
    const double ds1 = -ra * std::cos(f31) * u31 / l1, ds2 = -rb * std::cos(f32) * u32 / l2;
    const double q1 = std::sqrt(1 - s1 * s1), q2 = std::sqrt(1 - s2 * s2), dq1 = -s1 * ds1 / q1,
                 dq2 = -s2 * ds2 / q2;
    double e1, e2, de1, de2;
    if (equalised) {
      const double above = 2 * x + ra * std::cos(f31) + rb * std::cos(f32) - l1 * q1 - l2 * q2,
                   below = 1 / q1 + 1 / q2;
      const double dabove =
          2 * vx - ra * std::sin(f31) * u31 - rb * std::sin(f32) * u32 - l1 * dq1 - l2 * dq2;
      const double dbelow = -dq1 / (q1 * q1) - dq2 / (q2 * q2);
      e1 = e2 = above / below;
      de1 = de2 = dabove / below - above * dbelow / (below * below);
    } else {
      const double a1 = x + dlK / 2 * std::sin(alpha) + ra * std::cos(f31),
                   a2 = x - dlK / 2 * std::sin(alpha) + rb * std::cos(f32);
      e1 = a1 * q1 + l1 * s1 * s1 - l1;
      e2 = a2 * q2 + l2 * s2 * s2 - l2;
      de1 = (vx + dlK / 2 * std::cos(alpha) * va - ra * std::sin(f31) * u31) * q1 + a1 * dq1 +
            2 * l1 * s1 * ds1;
      de2 = (vx - dlK / 2 * std::cos(alpha) * va - rb * std::sin(f32) * u32) * q2 + a2 * dq2 +
            2 * l2 * s2 * ds2;
    }
    const double f41 = std::asin((h - ra * std::sin(f31)) / (l1 + e1)),
                 f42 = std::asin((h - rb * std::sin(f32)) / (l2 + e2));
    const double R1 = k * e1 + H * de1, R2 = k * e2 + H * de2;
    const double p1 = ra * std::sin(f31 + f41), p2 = rb * std::sin(f32 + f42);
    const double outside = std::abs(alpha) > delta ? 1 : 0;
    const double NV = m * g + R1 * std::sin(f41) + R2 * std::sin(f42);
    const double side = std::abs(R2 * std::cos(f42) - R1 * std::cos(f41)) * dlK /
                        (dh - dlK * std::tan(std::abs(alpha))) * outside;
    const double FP = F0 / 4 * (1 + sign(x - 2.2)) * (1 + sign(vx));
    const double ME = (cK * (alpha - delta * sign(alpha)) + HK * va) * outside;
    const double m31 = f31 - phi0, m32 = f32 - phi0;

    // pinion 11 without inertia, closure A
    const double balance = c2 * (f21 - f22) + HC2 * (u21 - u22) -
                           (k3 * (m32 * r3 + f22 * r2) + Hk3 * (u32 * r3 + u22 * r2)) * r2;
    const double stiff = k3 * std::abs(m32 * r3 + f22 * r2) * r2 + c2 * std::abs(f21 - f22) + 1;
    EXPECT_LE(std::abs(balance), 1e-11 * stiff) << seed;
    const auto near = [&](double found, double expected, double size, const char* what) {
      EXPECT_LE(std::abs(found - expected), 1e-12 * size)
          << seed << ", " << what << ": " << found << " instead of " << expected;
    };
    const double size31 =
        std::abs(k3 * (m31 * r3 + f21 * r2) * r3) + std::abs(k * l1 * ra) + std::abs(R1) + 1e6;
    const double size32 =
        std::abs(k3 * (m32 * r3 + f22 * r2) * r3) + std::abs(k * l2 * rb) + std::abs(R2) + 1e6;
    near(work.force[0],
         c3 * (f32 - f31) - k3 * (m31 * r3 + f21 * r2) * r3 + HC3 * (u32 - u31) -
             Hk3 * (u31 * r3 + u21 * r2) * r3 + R1 * p1,
         size31, "wheel 7");
    near(work.force[1],
         c3 * (f31 - f32) - k3 * (m32 * r3 + f22 * r2) * r3 + HC3 * (u31 - u32) -
             Hk3 * (u32 * r3 + u22 * r2) * r3 + R2 * p2,
         size32, "wheel 8");
    const double rods = k * (l1 + l2) + std::abs(R1) + std::abs(R2);
    near(work.force[3], -R1 * std::cos(f41) - R2 * std::cos(f42) - FP, rods, "stand");
    const double twist =
        equalised ? 0 : (R2 * std::cos(f42) - R1 * std::cos(f41)) * dlK / 2 * std::cos(alpha);
    near(work.force[4], twist - ME, rods + cK, "yaw");
    EXPECT_EQ(system.full_mass(work)[0], G);
    EXPECT_EQ(system.full_mass(work)[3 * 5 + 3], m);
    EXPECT_EQ(system.full_mass(work)[4 * 5 + 4], GK);
    const int guide = equalised ? 1 : 0;
    EXPECT_EQ(system.relations()[static_cast<std::size_t>(guide)].name, "guide");
    near(system.rows(work, guide).base, NV + side, rods, "normal force of the guide");
    if (!equalised) {
      near(system.rows(work, 1).base, NV, rods, "normal force of the spin");
      EXPECT_NEAR(system.rows(work, 1).tangent[0].mu, muG, 1e-16);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OrdinaryAndEqualised, Mill, testing::Values(false, true),
                         [](const auto& mill_kind) { return mill_kind.param ? "Equalised" : "Ordinary"; });

}  // namespace
}  // namespace judder::model
