// Evaluation of a System: no allocation, constant parts, switches, known instants, sides by value.
#include <array>
#include <cmath>

#include "allocations.hpp"
#include "model_support.hpp"

namespace judder::model {
namespace {

Spec busy() {
  Spec spec = press();
  spec.energy.kinetic = "mc/2*(xi'^2 + eta'^2) + mp/2*(xi'^2 + (eta' + y')^2) + 0.01*cos(y)*xi'^2";
  spec.contacts[0].gap = "eta - 0.01*cos(xi)";
  spec.contacts[0].slip = {"xi' + eta'*sin(xi)"};
  spec.contacts[0].friction = coulomb("mu/(1 + speed)");
  spec.coordinates.push_back({.name = "u", .massless = true});
  spec.energy.potential = "mc*g*eta + mp*g*(eta + y) + c/2*(y - l)^2 + u^2 + u^4 - xi*u + abs(y)";
  spec.output.columns = {{"N", "normal(plane)"}, {"E", "energy()"}};
  return spec;
}

TEST(Evaluation, AllocatesNothingAfterTheWorkspaceIsMade) {
  const System system = compiled_system(busy());
  Workspace work(system);
  std::array<double, 64> out{};
  std::vector<double> jacobian(static_cast<std::size_t>(
      (system.layout().coordinates + system.layout().states) * system.layout().integrated()));
  const auto everything = [&] {
    EXPECT_TRUE(system.motion(work));
    for (int k = 0; k < system.layout().relations; ++k) system.rows(work, k);
    double a, b, c;
    system.gap(work, 0, a, b);
    system.restitution(work, 0, 1, a, b);
    system.energies(work, a, b, c);
    system.powers(work, out.data());
    system.column_values(work, out.data());
    system.solve_mass(work, out.data());
    system.jacobian(work, jacobian.data());
    system.sides_by_value(work.in, work);
  };
  everything();
  const long before = allocations();
  for (int i = 0; i < 10; ++i) everything();
  EXPECT_EQ(allocations(), before);
  const std::vector<double> something(3);  // the counter counts
  EXPECT_GT(allocations(), before);
}

// Gaps between two places, between a place and a number, and others, all at once and one by one: the same bits.
TEST(Evaluation, AllGapsAtOnceHaveTheBitsOfEach) {
  Spec spec = press();
  spec.contacts.clear();
  spec.joints.clear();
  for (int i = 0; i < 3; ++i) spec.coordinates[i].start = 3.0 - i;
  const char* const gaps[] = {
      "xi - eta",   "eta - y",        "y",           "4 - xi",    "3 - eta",    "xi + 0.1",
      "2*xi - eta", "xi - eta + 0.1", "xi + y",      "xi*xi - y", "9 - xi - y", "xi - 0.3*t",
      "-y + xi",    "eta - xi/3",     "abs(xi) - y", "-eta + xi", "-y + 2",     "xi*eta"};
  for (const char* gap : gaps) {
    Contact contact;
    contact.name = "c" + std::to_string(spec.contacts.size());
    contact.gap = gap;
    spec.contacts.push_back(contact);
  }
  const Compiled compiled = compile(spec);
  ASSERT_TRUE(compiled.system) << render(compiled.diagnostics, "gaps", "");
  const System& system = *compiled.system;
  Workspace work(system);
  const Layout& layout = system.layout();
  std::uint64_t state = 7;
  for (int test = 0; test < 1000; ++test) {
    for (int i = 0; i < layout.integrated() + 1; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      // Zeros of both signs among them.
      const auto top = static_cast<double>(static_cast<std::int64_t>(state) >> 11);
      work.in[i] = (state >> 3U) % 7 == 0 ? std::copysign(0.0, top) : top * 0x1p-50;
    }
    system.gaps(work);
    for (int r = 0; r < layout.relations; ++r) {
      double value = 0, rate = 0;
      system.gap(work, r, value, rate);
      ASSERT_EQ(value, work.gap_value[r]) << gaps[r] << ", state " << test;
      ASSERT_EQ(rate, work.gap_rate[r]) << gaps[r] << ", state " << test;
    }
  }
}

TEST(Evaluation, ConstantPartsAreFoundAndVaryingOnesAreNot) {
  const System constant = compiled_system(press());
  EXPECT_TRUE(constant.mass_constant());
  for (const Relation& r : constant.relations()) EXPECT_TRUE(r.rows_constant && r.law_constant) << r.name;
  const System varying = compiled_system(busy());
  EXPECT_FALSE(varying.mass_constant());
  EXPECT_FALSE(varying.relations()[0].rows_constant);
  EXPECT_FALSE(varying.relations()[0].law_constant);
}

// The programs behind the constant parts are complete: evaluated as they stand they give the same numbers.
TEST(Evaluation, ConstantRowsAgreeWithTheirPrograms) {
  Spec spec = press();
  spec.contacts[0].slip = {"xi' + 0.3*y' - 0.7"};
  const System system = compiled_system(spec);
  ASSERT_TRUE(system.relations()[0].rows_constant);
  Workspace work(system);
  RandomState random(5);
  random.draw(system, work, 2);
  const RelationRows& rows = system.rows(work, 0);
  const expr::Program& program = system.relations()[0].rows;
  std::vector<double> out(static_cast<std::size_t>(program.outputs()));
  program.evaluate(work.in.data(), out.data(), work.registers.data());
  EXPECT_EQ(out[0], rows.gap_time);
  EXPECT_EQ(out[1], rows.zeta_n);
  // Of the rows, the entries at the coordinates that the contact touches.
  const std::vector<int>& touches = system.relations()[0].touches;
  const std::size_t n = touches.size();
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[2 + i], rows.w[touches[i]]);
  expect_close(out[2 + n], rows.tangent[0].slip, 1e-15, "slip");
  EXPECT_EQ(out[3 + n], rows.tangent[0].drive);
  EXPECT_EQ(out[3 + n], -0.7);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[5 + n + i], rows.tangent[0].w[touches[i]]);
  EXPECT_EQ(system.motion_program().outputs(), 3 + 0 + static_cast<int>(system.mass_pattern().at.size()));
}

TEST(Evaluation, FailureIsToldApart) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 1});
  spec.energy.kinetic = "x*x'^2/2";
  spec.energy.potential = "x*log(2 + x)";
  const System system = compiled_system(spec);
  Workspace work(system);
  EXPECT_TRUE(system.motion(work));
  position(system, work, 0) = -1;
  EXPECT_FALSE(system.motion(work));
  EXPECT_TRUE(work.mass_failed);
  position(system, work, 0) = -3;
  EXPECT_FALSE(system.motion(work));
  EXPECT_FALSE(work.mass_failed) << "not a number, not a lack of inertia";
  position(system, work, 0) = 1;
  EXPECT_TRUE(system.motion(work));
}

Spec driven(const char* force) {
  Spec spec;
  spec.coordinates.push_back({.name = "x"});
  spec.energy.kinetic = "x'^2/2";
  Force f;
  f.along = "x'";
  f.value = force;
  spec.forces.push_back(f);
  spec.tables.push_back({.name = "quake", .x = {0, 0.1, 0.2, 0.3}, .y = {0, 1, -1, 0}, .outside = "zero"});
  spec.run.until = 2;
  return spec;
}

TEST(Instants, TimetablesAreKnownToTheLastBit) {
  const auto instants = [](const char* force) { return compiled_system(driven(force)).instants(); };
  EXPECT_EQ(instants("step(0.2 - t)"), std::vector<double>{0.2});
  EXPECT_EQ(instants("if(t < 1/3, 1, 2)"), std::vector<double>{1.0 / 3});
  EXPECT_EQ(instants("5*max(0, t - 1.6)"), std::vector<double>{1.6});
  EXPECT_EQ(instants("quake(t)"), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(instants("floor(2*t)"), (std::vector<double>{0.5, 1, 1.5, 2}));
  const std::vector<double> bump = instants("bump((t - 0.3)/0.7)");
  ASSERT_EQ(bump.size(), 2U);
  EXPECT_NEAR(bump[0], 0.3, 1e-16);
  EXPECT_NEAR(bump[1], 1.0, 2.3e-16);
  EXPECT_TRUE(instants("sin(t)*x").empty());
  EXPECT_TRUE(instants("step(x - t)").empty()) << "of time alone only";
}

// The surface is zero at the instant, or changes its sign there: an engine that stops there sees the switch.
TEST(Instants, AreZerosOfTheSurfaceAsItIsEvaluated) {
  for (int i = 0; i < count(5000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    const double a = random.uniform(0.1, 1), b = random.uniform(1, 50);
    Spec spec = driven("");
    spec.parameters.push_back(parameter("a", a));
    spec.parameters.push_back(parameter("b", b));
    spec.forces[0].value = "step((t - a)*b/3)";
    const System system = compiled_system(spec);
    ASSERT_EQ(system.instants().size(), 1U) << "seed " << i;
    Workspace work(system);
    const auto value = [&](double t) {
      work.in[0] = t;
      double s = 0;
      system.switches()[0].value.evaluate(work.in.data(), &s, work.registers.data());
      return s;
    };
    const double t = system.instants()[0];
    EXPECT_LE(value(std::nextafter(t, 0)) * value(std::nextafter(t, 9)), 0) << "seed " << i;
    EXPECT_LE(std::abs(t - a), 4e-16 * a) << "seed " << i;
  }
}

TEST(Switches, OnlyThoseOfTheMotionAreListedAndNestedOnesComeLast) {
  Spec spec = driven("step(abs(x) - 0.1*abs(x'))");
  spec.output.columns = {{"s", "sign(x - 3)"}};
  spec.watches.push_back({.name = "w", .zero = "abs(x - 4)"});
  const System system = compiled_system(spec);
  ASSERT_EQ(system.switches().size(), 3U);
  EXPECT_EQ(system.switches()[0].kind, expr::SwitchKind::kink);
  EXPECT_EQ(system.switches()[2].kind, expr::SwitchKind::jump);
  EXPECT_EQ(system.switches()[2].place, "force.force1.value");
  for (const SwitchInfo& s : system.switches()) EXPECT_TRUE(s.in_motion && !s.time_only);
  Workspace work(system);
  position(system, work, 0) = -0.5;
  velocity(system, work, 0) = 2;
  system.sides_by_value(work.in, work);
  const auto side = static_cast<std::size_t>(system.layout().side());
  EXPECT_EQ(work.in[side], 0);
  EXPECT_EQ(work.in[side + 1], 1);
  EXPECT_EQ(work.in[side + 2], 1);
  velocity(system, work, 0) = 8;
  system.sides_by_value(work.in, work);
  EXPECT_EQ(work.in[side + 2], 0);
}

TEST(Switches, OfAGapAreThoseOfRelations) {
  Spec spec = bouncing_ball();
  spec.contacts[0].gap = "h - max(0, sin(5*t))";
  const System system = compiled_system(spec);
  ASSERT_EQ(system.switches().size(), 1U);
  EXPECT_TRUE(system.switches()[0].in_relations);
  EXPECT_FALSE(system.switches()[0].in_motion);
  EXPECT_TRUE(system.switches()[0].time_only);
}

TEST(Evaluation, AWorkspaceCanBeMoved) {
  const System system = compiled_system(busy());
  Workspace first(system);
  const RelationRows before = system.rows(first, 0);
  Workspace second = std::move(first);
  const RelationRows& after = system.rows(second, 0);
  EXPECT_EQ(before.gap, after.gap);
  EXPECT_EQ(before.w.values().data(), after.w.values().data()) << "rows point to memory that moved along";
}

}  // namespace
}  // namespace judder::model
