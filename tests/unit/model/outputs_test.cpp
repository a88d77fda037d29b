// Output columns and watches: every function of the language, and what they read.
#include "judder/model/describe.hpp"
#include "model_support.hpp"

namespace judder::model {
namespace {

double column(const System& system, Workspace& work, const std::string& name) {
  std::vector<double> values(system.columns().size() + 1);
  system.sides_by_value(work.in, work);
  system.column_values(work, values.data());
  for (const ColumnInfo& c : system.columns()) {
    if (c.name == name) return values[static_cast<std::size_t>(c.value)];
  }
  ADD_FAILURE() << "no column " << name;
  return NAN;
}

const ColumnInfo& info(const System& system, const std::string& name) {
  for (const ColumnInfo& c : system.columns()) {
    if (c.name == name) return c;
  }
  throw std::runtime_error(name);
}

TEST(Outputs, FunctionsReadReactionsEnergiesAndAudits) {
  Spec spec = press();
  spec.joints[0].law.viscous = 0.25;
  for (const auto& [name, text] :
       std::vector<std::pair<const char*, const char*>>{{"N", "normal(plane)"},
                                                        {"F", "-tangent(plane)"},
                                                        {"Q", "tangent(piston)"},
                                                        {"press", "normal(piston)"},
                                                        {"gap", "gap(plane)"},
                                                        {"slip", "slip(piston)"},
                                                        {"T", "kinetic()"},
                                                        {"V", "potential()"},
                                                        {"E", "energy()"},
                                                        {"lost", "dissipated(plane)"},
                                                        {"damper", "dissipated(dissipation)"},
                                                        {"given", "supplied(plane)"},
                                                        {"balance", "balance()"},
                                                        {"a", "eta''"},
                                                        {"up", "(eta' + y')'"},
                                                        {"falls", "if(eta' < 0, 1, 0)"},
                                                        {"turn", "sign(eta')"}}) {
    spec.output.columns.push_back({name, text});
  }
  spec.output.columns.push_back({"status", "mode(plane)"});
  const System system = compiled_system(spec);
  const Layout& layout = system.layout();
  Workspace work(system);
  const auto set = [&](int place, double value) { work.in[static_cast<std::size_t>(place)] = value; };
  set(layout.normal() + 0, 12);
  set(layout.tangent() + 0, -4);
  set(layout.tangent() + 1, 0.3);
  set(layout.acceleration() + 1, 2.5);
  set(layout.acceleration() + 2, -1);
  velocity(system, work, 2) = 0.8;
  for (int a = 0; a < layout.audits; ++a) {
    set(layout.dissipated() + a, 10 + a);
    set(layout.supplied() + a, 0.5 * a);
  }
  EXPECT_EQ(column(system, work, "N"), 12);
  EXPECT_EQ(column(system, work, "F"), 4);
  expect_close(column(system, work, "Q"), 0.3 - 0.25 * 0.8, 1e-15, "set-valued and viscous part");
  EXPECT_EQ(column(system, work, "press"), 0.5);
  EXPECT_EQ(column(system, work, "gap"), 0.04);
  EXPECT_EQ(column(system, work, "slip"), 0.8);
  double t, v, e;
  system.energies(work, t, v, e);
  EXPECT_EQ(column(system, work, "T"), t);
  EXPECT_EQ(column(system, work, "V"), v);
  EXPECT_EQ(column(system, work, "E"), e);
  EXPECT_EQ(column(system, work, "a"), 2.5);
  EXPECT_EQ(column(system, work, "up"), 1.5);
  EXPECT_EQ(column(system, work, "turn"), 0) << "sign(0) = 0 in an output";
  EXPECT_EQ(column(system, work, "falls"), 0);

  double lost = 0, damper = 0, given = 0, all = 0;
  for (int a = 0; a < layout.audits; ++a) {
    const std::string& name = system.audits()[static_cast<std::size_t>(a)].name;
    if (name == "plane") lost += 10 + a, given += 0.5 * a;
    if (name == "dissipation") damper += 10 + a;
    all += 10 + a - 0.5 * a;
  }
  EXPECT_EQ(column(system, work, "lost"), lost);
  EXPECT_EQ(column(system, work, "damper"), damper);
  EXPECT_EQ(column(system, work, "given"), given);
  expect_close(column(system, work, "balance"),
               e - system.start()[static_cast<std::size_t>(layout.initial_energy())] + all, 1e-14, "balance");
  EXPECT_TRUE(info(system, "N").needs_reactions);
  EXPECT_TRUE(info(system, "a").needs_reactions);
  EXPECT_FALSE(info(system, "E").needs_reactions);
  EXPECT_FALSE(info(system, "press").needs_reactions);
  EXPECT_EQ(info(system, "status").mode_of, 0);
  EXPECT_EQ(info(system, "status").value, -1);
}

TEST(Outputs, SmoothFrictionAndCompliantContactsAreFormulas) {
  FrictionLaw law = coulomb(0.4);
  law.type = "lugre";
  law.stiffness = 100;
  law.damping = 0;
  Spec spec = padded_mass(law);
  Contact stop;
  stop.name = "stop";
  stop.gap = "0.2 - x";
  stop.compliant.given = true;
  stop.compliant.stiffness = 50;
  spec.contacts.push_back(stop);
  spec.output.columns = {{"F", "tangent(pad)"}, {"z", "bristle(pad)"}, {"N", "normal(stop)"}};
  const System system = compiled_system(spec);
  Workspace work(system);
  position(system, work, 0) = 0.5;
  state(system, work, 0) = 0.003;
  expect_close(column(system, work, "F"), -2 * 0.3, 1e-15, "friction");
  EXPECT_EQ(column(system, work, "z"), 0.003);
  expect_close(column(system, work, "N"), 15, 1e-14, "contact force");
  for (const ColumnInfo& c : system.columns()) EXPECT_FALSE(c.needs_reactions);
}

TEST(Outputs, NormalOfAFedJointUsesTheSizeOfMultipliers) {
  Spec spec = padded_mass(coulomb(0.1), "1 + 2*abs(normal(rail))");
  spec.coordinates.push_back({.name = "y"});
  spec.energy.kinetic = "(x'^2 + y'^2)/2";
  spec.constraints.push_back({.name = "rail", .zero = "y"});
  spec.output.columns = {{"N", "normal(pad)"}};
  const System system = compiled_system(spec);
  Workspace work(system);
  work.in[static_cast<std::size_t>(system.layout().normal())] = -3;
  EXPECT_EQ(column(system, work, "N"), 7);
  EXPECT_TRUE(system.switches().empty()) << "switches of outputs are no switches of the motion";
}

TEST(Outputs, WatchesKnowWhetherTheyNeedReactions) {
  Spec spec = press();
  spec.watches.push_back({.name = "turn", .zero = "y'", .direction = "down", .stop = 2});
  spec.watches.push_back({.name = "load", .zero = "normal(plane) - 20"});
  const System system = compiled_system(spec);
  ASSERT_EQ(system.watches().size(), 2U);
  EXPECT_EQ(system.watches()[0].direction, -1);
  EXPECT_EQ(system.watches()[0].stop, 2);
  EXPECT_FALSE(system.watches()[0].needs_reactions);
  EXPECT_TRUE(system.watches()[1].needs_reactions);
}

// Zabuga 2017, chapter 3: what a reader compares with (3.3).
TEST(Describe, ShowsTheDerivedEquationsOfThePress) {
  Compiled compiled = compile(press());
  const std::string text = describe(compiled);
  for (const char* expected : {"Mass matrix M (constant)", "h[y]", "-2*y' - 2000*(y - 0.1) - 9.81",
                               "Contact 'plane'", "w_N·M⁻¹w_N    10", "w_T·M⁻¹w_T    0.909091",
                               "coefficient 0.4", "Friction joint 'piston'", "stick, slip+, slip-"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nin\n" << text;
  }
  compiled.system.reset();
  EXPECT_TRUE(describe(compiled).empty());
}

}  // namespace
}  // namespace judder::model
