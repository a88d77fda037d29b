// Derived equations of motion against equations written by hand, at random states.
#include "model_support.hpp"

namespace judder::model {
namespace {

constexpr double kTolerance = 1e-12;

Spec double_pendulum() {
  Spec spec;
  spec.parameters.push_back(parameter("m1", 1.3));
  spec.parameters.push_back(parameter("m2", 0.7));
  spec.parameters.push_back(parameter("a", 0.9));
  spec.parameters.push_back(parameter("b", 1.1));
  spec.parameters.push_back(parameter("g", 9.81));
  spec.coordinates.push_back({.name = "p"});
  spec.coordinates.push_back({.name = "r"});
  spec.definitions.push_back({"x1", "a*sin(p)"});
  spec.definitions.push_back({"y1", "-a*cos(p)"});
  spec.definitions.push_back({"x2", "x1 + b*sin(r)"});
  spec.definitions.push_back({"y2", "y1 - b*cos(r)"});
  spec.energy.kinetic = "m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)";
  spec.energy.potential = "m1*g*y1 + m2*g*y2";
  return spec;
}

TEST(EquationsOfMotion, DoublePendulumAgreesWithTheTextbook) {
  const double m1 = 1.3, m2 = 0.7, a = 0.9, b = 1.1, g = 9.81;
  const System system = compiled_system(double_pendulum());
  Workspace work(system);
  EXPECT_FALSE(system.mass_constant());
  EXPECT_TRUE(system.autonomous_forces());
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 3);
    ASSERT_TRUE(system.motion(work));
    const double p = position(system, work, 0), r = position(system, work, 1);
    const double vp = velocity(system, work, 0), vr = velocity(system, work, 1);
    const std::string seed = "seed " + std::to_string(i);
    expect_close(system.full_mass(work)[0], (m1 + m2) * a * a, kTolerance, seed);
    expect_close(system.full_mass(work)[1], m2 * a * b * std::cos(p - r), kTolerance, seed);
    expect_close(system.full_mass(work)[3], m2 * b * b, kTolerance, seed);
    expect_close(work.force[0], -m2 * a * b * vr * vr * std::sin(p - r) - (m1 + m2) * g * a * std::sin(p),
                 kTolerance, seed);
    expect_close(work.force[1], m2 * a * b * vp * vp * std::sin(p - r) - m2 * g * b * std::sin(r), kTolerance,
                 seed);
  }
}

TEST(EquationsOfMotion, PendulumOnACartAgreesWithTheTextbook) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "p"});
  spec.energy.kinetic = "2/2*x'^2 + 0.5/2*((x + 0.8*sin(p))'^2 + (0.8*cos(p))'^2)";
  spec.energy.potential = "-0.5*9.81*0.8*cos(p) + 30/2*x^2";
  spec.energy.dissipation = "0.4/2*x'^2";
  Force pull;
  pull.along = "x' + 0.8*p'*cos(p)";  // a force on the bob, along the rail
  pull.value = "3*cos(2*t)";
  spec.forces.push_back(pull);
  const System system = compiled_system(spec);
  Workspace work(system);
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 3);
    ASSERT_TRUE(system.motion(work));
    const double x = position(system, work, 0), p = position(system, work, 1), vx = velocity(system, work, 0),
                 vp = velocity(system, work, 1);
    const double f = 3 * std::cos(2 * work.in[0]);
    const std::string seed = "seed " + std::to_string(i);
    expect_close(system.full_mass(work)[0], 2.5, kTolerance, seed);
    expect_close(system.full_mass(work)[1], 0.4 * std::cos(p), kTolerance, seed);
    expect_close(system.full_mass(work)[3], 0.32, kTolerance, seed);
    expect_close(work.force[0], 0.4 * vp * vp * std::sin(p) - 30 * x - 0.4 * vx + f, kTolerance, seed);
    expect_close(work.force[1], -0.4 * 9.81 * std::sin(p) + 0.8 * std::cos(p) * f, kTolerance, seed);
    // M⁻¹ as the inverse of M: solve after apply is the identity.
    double vector[2] = {x, p}, image[2];
    system.apply_mass(work, vector, image);
    system.solve_mass(work, image);
    expect_close(image[0], vector[0], 1e-11, seed);
    expect_close(image[1], vector[1], 1e-11, seed);
  }
}

// Painlevé's rod (Zabuga 2017, 1.2): one end touches the plane.
TEST(EquationsOfMotion, RodTouchingWithItsEndHasTheRowsOfTheThesis) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "y", .start = 5});
  spec.coordinates.push_back({.name = "th", .start = 1});
  spec.energy.kinetic = "(x'^2 + y'^2)/2 + th'^2/24";
  spec.energy.potential = "9.81*y";
  Contact end;
  end.name = "end";
  end.gap = "y - sin(th)/2";
  end.slip = {"(x - cos(th)/2)' - 0.3*sin(t)"};
  end.friction = coulomb(0.5);
  spec.contacts.push_back(end);
  const System system = compiled_system(spec);
  Workspace work(system);
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 2);
    const double t = work.in[0], y = position(system, work, 1), th = position(system, work, 2);
    const double vx = velocity(system, work, 0), vy = velocity(system, work, 1),
                 w = velocity(system, work, 2);
    const RelationRows& rows = system.rows(work, 0);
    const std::string seed = "seed " + std::to_string(i);
    expect_close(rows.gap, y - std::sin(th) / 2, kTolerance, seed);
    expect_close(rows.gap_rate, vy - w * std::cos(th) / 2, kTolerance, seed);
    expect_close(rows.gap_time, 0, kTolerance, seed);
    expect_close(rows.zeta_n, w * w * std::sin(th) / 2, kTolerance, seed);
    expect_close(rows.w[0], 0, kTolerance, seed);
    expect_close(rows.w[1], 1, kTolerance, seed);
    expect_close(rows.w[2], -std::cos(th) / 2, kTolerance, seed);
    EXPECT_EQ(rows.push.values().data(), rows.w.values().data());
    expect_close(rows.tangent[0].slip, vx + w * std::sin(th) / 2 - 0.3 * std::sin(t), kTolerance, seed);
    expect_close(rows.tangent[0].drive, -0.3 * std::sin(t), kTolerance, seed);
    expect_close(rows.tangent[0].zeta, w * w * std::cos(th) / 2 - 0.3 * std::cos(t), kTolerance, seed);
    expect_close(rows.tangent[0].w[0], 1, kTolerance, seed);
    expect_close(rows.tangent[0].w[2], std::sin(th) / 2, kTolerance, seed);
    EXPECT_EQ(rows.tangent[0].mu, 0.5);
    EXPECT_EQ(rows.tangent[0].mu_static, 0.5);
  }
}

// Zabuga 2017, (3.3): with the reactions put in, accelerations are those of the thesis.
TEST(EquationsOfMotion, PressAgreesWithEquation3_3) {
  const double mc = 0.1, mp = 1, l = 0.1, c = 2000, n = 1, g = 9.81;
  const System system = compiled_system(press());
  Workspace work(system);
  EXPECT_TRUE(system.mass_constant());
  ASSERT_EQ(system.relations().size(), 2U);
  const int plane = 0, piston = 1;  // no places in a file: contacts, constraints, joints
  EXPECT_EQ(system.relations()[plane].name, "plane");
  EXPECT_TRUE(system.relations()[plane].rows_constant);
  EXPECT_TRUE(system.relations()[plane].law_constant);
  EXPECT_EQ(system.relations()[piston].kind, RelationKind::joint);
  EXPECT_FALSE(system.relations()[piston].has_normal);
  EXPECT_EQ(system.relations()[plane].feeds, std::vector<int>{plane}) << "its own normal row presses it";
  EXPECT_EQ(system.rows(work, plane).factors[0], 1);
  EXPECT_TRUE(system.relations()[piston].feeds.empty());
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 0.5);
    ASSERT_TRUE(system.motion(work));
    const double reaction = random.uniform(0, 30), rubbing = random.uniform(-0.5, 0.5),
                 sliding = random.uniform(-5, 5);
    double a[3];
    for (int k = 0; k < 3; ++k) {
      a[k] = work.force[static_cast<std::size_t>(k)] + system.rows(work, plane).push[k] * reaction +
             system.rows(work, plane).tangent[0].drag[k] * sliding +
             system.rows(work, piston).tangent[0].drag[k] * rubbing;
    }
    system.solve_mass(work, a);
    const double y = position(system, work, 2), vy = velocity(system, work, 2);
    const std::string seed = "seed " + std::to_string(i);
    expect_close((mc + mp) * a[0], sliding, kTolerance, seed);
    expect_close(mc * a[1], -mc * g + c * (y - l) + 2 * n * vy - rubbing + reaction, kTolerance * 100, seed);
    expect_close(mp * (a[1] + a[2]), -mp * g - c * (y - l) - 2 * n * vy + rubbing, kTolerance * 100, seed);
    EXPECT_EQ(system.rows(work, piston).base, 0.5);
  }
}

// Basseville 2004, chapter IV: m Ü + K U = F + R, wall at U_N ≤ 0.
TEST(EquationsOfMotion, BassevillesParticleByEnergyAndByMatricesAgree) {
  Spec energies;
  energies.coordinates.push_back({.name = "UN"});
  energies.coordinates.push_back({.name = "UT", .start = -3, .velocity = 0.1});
  Contact wall;
  wall.name = "wall";
  wall.gap = "-UN";
  wall.slip = {"UT'"};
  wall.friction = coulomb(1.25);
  energies.contacts.push_back(wall);
  Spec matrices = energies;
  energies.energy.kinetic = "(UN'^2 + UT'^2)/2";
  energies.energy.potential = "UN^2 + UN*UT + UT^2/2";
  for (const auto& [along, value] :
       std::vector<std::pair<const char*, const char*>>{{"UN'", "1"}, {"UT'", "2*cos(t)"}}) {
    Force f;
    f.along = along;
    f.value = value;
    energies.forces.push_back(f);
  }
  matrices.matrices.mass = {true, {{1, 0}, {0, 1}}, {}, {}};
  matrices.matrices.stiffness = {true, {{2, 1}, {1, 1}}, {}, {}};
  matrices.matrices.load = {true, {{1, "2*cos(t)"}}, {}, {}};
  const System first = compiled_system(energies), second = compiled_system(matrices);
  Workspace one(first), two(second);
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(first, one, 3);
    std::copy(one.in.begin(), one.in.begin() + 5, two.in.begin());
    ASSERT_TRUE(first.motion(one));
    ASSERT_TRUE(second.motion(two));
    const double un = one.in[1], ut = one.in[2];
    const std::string seed = "seed " + std::to_string(i);
    expect_close(one.force[0], 1 - 2 * un - ut, kTolerance, seed);
    expect_close(one.force[1], 2 * std::cos(one.in[0]) - un - ut, kTolerance, seed);
    for (std::size_t k = 0; k < 2; ++k) expect_close(two.force[k], one.force[k], kTolerance, seed);
    double t1, v1, e1, t2, v2, e2;
    first.energies(one, t1, v1, e1);
    second.energies(two, t2, v2, e2);
    expect_close(t2, t1, kTolerance, seed);
    expect_close(v2, v1, kTolerance, seed);
    expect_close(e2, t1 + v1, kTolerance, seed);
  }
}

TEST(EquationsOfMotion, UnsymmetricStiffnessHasTheEnergyOfItsSymmetricPart) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "y"});
  spec.matrices.mass = {true, {{2, 0.5}, {0.5, 1}}, {}, {}};
  spec.matrices.stiffness = {true, {{3, 2}, {0, 1}}, {}, {}};
  spec.matrices.damping = {true, {{0.2, 0.1}, {-0.1, 0.3}}, {}, {}};
  const System system = compiled_system(spec);
  Workspace work(system);
  RandomState random(7);
  random.draw(system, work, 2);
  ASSERT_TRUE(system.motion(work));
  const double x = work.in[1], y = work.in[2], u = work.in[3], w = work.in[4];
  expect_close(work.force[0], -3 * x - 2 * y - 0.2 * u - 0.1 * w, kTolerance, "x");
  expect_close(work.force[1], -y + 0.1 * u - 0.3 * w, kTolerance, "y");
  double kinetic, potential, energy;
  system.energies(work, kinetic, potential, energy);
  expect_close(kinetic, u * u + 0.5 * u * w + 0.5 * w * w, kTolerance, "kinetic");
  expect_close(potential, 1.5 * x * x + x * y + 0.5 * y * y, kTolerance, "potential");
}

// A mass on a shaken, turning table: T has terms of degree 1 and 0 in the velocity. s is the place on the
// table, which turns with angle p(t) and whose centre moves with c(t).
TEST(EquationsOfMotion, ShakenFrameHasItsInertiaForces) {
  Spec spec;
  spec.coordinates.push_back({.name = "s", .start = 0.5});
  spec.definitions.push_back({"p", "0.4*sin(2*t)"});
  spec.definitions.push_back({"c", "0.3*t^2"});
  spec.energy.kinetic = "2/2*((c + s*cos(p))'^2 + (s*sin(p))'^2)";
  spec.energy.potential = "10/2*s^2";
  const System system = compiled_system(spec);
  Workspace work(system);
  EXPECT_FALSE(system.autonomous_forces());
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 2);
    ASSERT_TRUE(system.motion(work));
    const double t = work.in[0], s = work.in[1], v = work.in[2];
    const double p = 0.4 * std::sin(2 * t), dp = 0.8 * std::cos(2 * t), dc = 0.6 * t, ddc = 0.6;
    const std::string seed = "seed " + std::to_string(i);
    expect_close(system.full_mass(work)[0], 2, kTolerance, seed);
    expect_close(work.force[0], 2 * s * dp * dp - 2 * ddc * std::cos(p) - 10 * s, kTolerance, seed);
    double kinetic, potential, energy;
    system.energies(work, kinetic, potential, energy);
    const double t1 = 2 * v * dc * std::cos(p),
                 t0 = dc * dc + s * s * dp * dp - 2 * dc * s * dp * std::sin(p);
    expect_close(kinetic, v * v + t1 + t0, kTolerance, seed);
    expect_close(energy, v * v - t0 + 5 * s * s, kTolerance, seed);
  }
}

// A damped massless node between two springs, against the same node with a vanishing mass: the velocity from
// the balance is the limit.
TEST(MasslessCoordinate, DampedNodeMovesByTheBalanceOfForces) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 0.3, .velocity = 1});
  Coordinate node;
  node.name = "z";
  node.start = 0.1;
  node.massless = true;
  spec.coordinates.push_back(node);
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "100/2*(x - z)^2 + 50/2*z^2";
  spec.energy.dissipation = "3/2*(x' - z')^2 + 2/2*z'^2";
  const System system = compiled_system(spec);
  Workspace work(system);
  for (int i = 0; i < count(10000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 1);
    ASSERT_TRUE(system.motion(work));
    const double x = work.in[1], z = work.in[2], vx = work.in[3], vz = work.in[4];
    const std::string seed = "seed " + std::to_string(i);
    expect_close(vz, (100 * (x - z) + 3 * vx - 50 * z) / 5, kTolerance, seed);
    expect_close(work.force[0], -100 * (x - z) - 3 * (vx - vz), kTolerance, seed);
    expect_close(work.force[1], 0, kTolerance * 100, seed);
    double a[2] = {work.force[0], work.force[1]};
    system.solve_mass(work, a);
    expect_close(a[0], work.force[0], kTolerance, seed);
    EXPECT_EQ(a[1], 0) << seed;
  }
  // limit: with inertia m the node's velocity relaxes to the same value within m/5
  Spec light = spec;
  light.coordinates[1].massless = false;
  light.energy.kinetic = "x'^2/2 + 1e-9/2*z'^2";
  const System heavy = compiled_system(light);
  Workspace slow(heavy);
  slow.in[1] = work.in[1], slow.in[2] = work.in[2], slow.in[3] = work.in[3], slow.in[4] = work.in[4];
  ASSERT_TRUE(heavy.motion(slow));
  EXPECT_LT(std::abs(slow.force[1]), 1e-9) << "the balance is the rest point of the fast motion";
  slow.in[4] += 0.01;
  ASSERT_TRUE(heavy.motion(slow));
  expect_close(slow.force[1], -0.05, 1e-9, "and attracts it");
}

TEST(MasslessCoordinate, UndampedNodeIsSolvedFromANonlinearBalance) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 0.3, .velocity = 1});
  Coordinate node;
  node.name = "z";
  node.start = 0.2;
  node.massless = true;
  spec.coordinates.push_back(node);
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "(x + 0.1*t - z)^2/2 + z^2/2 + z^4/4";
  const System system = compiled_system(spec);
  Workspace work(system);
  for (int i = 0; i < count(2000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 1);
    ASSERT_TRUE(system.motion(work));
    const double t = work.in[0], x = work.in[1], z = work.in[2], vx = work.in[3], vz = work.in[4];
    const std::string seed = "seed " + std::to_string(i);
    expect_close(x + 0.1 * t - 2 * z - z * z * z, 0, 1e-14, seed);
    expect_close(vz, (vx + 0.1) / (2 + 3 * z * z), kTolerance, seed);
    expect_close(work.force[0], -(x + 0.1 * t - z), kTolerance, seed);
  }
  // at the start `start` was only a guess
  const double z = system.start()[2];
  expect_close(0.3 - 2 * z - z * z * z, 0, 1e-15, "start");
}

TEST(Constraint, VelocityConstraintHasItsRowAndRate) {
  Spec spec;  // a skate: y' cos p = x' sin p, dragged sideways with 0.1 t
  for (const char* name : {"x", "y", "p"}) spec.coordinates.push_back({.name = name});
  spec.energy.kinetic = "(x'^2 + y'^2 + p'^2)/2";
  Constraint blade;
  blade.name = "blade";
  blade.velocity = "y'*cos(p) - x'*sin(p) - 0.1*t";
  spec.constraints.push_back(blade);
  const System system = compiled_system(spec);
  EXPECT_FALSE(system.relations()[0].holonomic);
  Workspace work(system);
  RandomState random(3);
  random.draw(system, work, 2);
  const RelationRows& rows = system.rows(work, 0);
  const double t = work.in[0], p = work.in[3], vx = work.in[4], vy = work.in[5], vp = work.in[6];
  expect_close(rows.gap_rate, vy * std::cos(p) - vx * std::sin(p) - 0.1 * t, kTolerance, "rate");
  EXPECT_EQ(rows.gap, rows.gap_rate);
  expect_close(rows.gap_time, -0.1 * t, kTolerance, "drive");
  expect_close(rows.zeta_n, -vp * (vy * std::sin(p) + vx * std::cos(p)) - 0.1, kTolerance, "ζ");
  expect_close(rows.w[0], -std::sin(p), kTolerance, "w");
  expect_close(rows.w[1], std::cos(p), kTolerance, "w");
}

TEST(Contact, PushAndDragReplaceTheForceDirectionsOnly) {
  Spec spec;
  for (const char* name : {"x", "y", "p"}) spec.coordinates.push_back({.name = name, .start = 1});
  spec.energy.kinetic = "(x'^2 + y'^2 + p'^2)/2";
  Contact c;
  c.name = "foot";
  c.gap = "y - 0.5*sin(p)";
  c.slip = {"x' + 0.5*p'"};
  c.push = "y' - 0.5*p'";
  c.drag = {"x' + 2*p'"};
  c.friction = coulomb(0.3);
  spec.contacts.push_back(c);
  const Compiled compiled = compile(spec);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  EXPECT_NE(messages(compiled).find("do work on the constraint"), std::string::npos);
  Workspace work(*compiled.system);
  const RelationRows& rows = compiled.system->rows(work, 0);
  EXPECT_TRUE(compiled.system->relations()[0].own_push);
  expect_close(rows.w[2], -0.5 * std::cos(1.0), kTolerance, "w");
  EXPECT_EQ(rows.push[2], -0.5);
  EXPECT_EQ(rows.tangent[0].w[2], 0.5);
  EXPECT_EQ(rows.tangent[0].drag[2], 2);
}

}  // namespace
}  // namespace judder::model
