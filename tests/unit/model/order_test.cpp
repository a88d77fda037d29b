// The order of work: parameters, variants, set; each and when; free parameters; start values.
#include "model_support.hpp"

namespace judder::model {
namespace {

double resolved(const Compiled& compiled, const std::string& name) {
  for (const auto& [key, value] : compiled.parameters) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return NAN;
}

Spec mass_on_spring() {
  Spec spec;
  spec.parameters.push_back(parameter("k", "w^2*m"));  // uses what follows
  spec.parameters.push_back(parameter("w", "2*m"));
  spec.parameters.push_back(parameter("m", 3));
  spec.coordinates.push_back({.name = "x", .start = "2*m", .velocity = "x/w"});
  spec.states.push_back({.name = "z", .start = "x' + 1", .rate = 0});
  spec.energy.kinetic = "m/2*x'^2";
  spec.energy.potential = "k/2*x^2";
  spec.variants.push_back({"light", "Light mass", {{"m", 1}, {"x'", 7}}});
  spec.variants.push_back({"fast", {}, {{"w", 10}, {"x", "m + 1"}}});
  return spec;
}

TEST(OrderOfWork, ParametersMayStandInAnyOrder) {
  const Compiled compiled = compile(mass_on_spring());
  ASSERT_TRUE(compiled.system) << messages(compiled);
  EXPECT_EQ(resolved(compiled, "w"), 6);
  EXPECT_EQ(resolved(compiled, "k"), 108);
  EXPECT_EQ(compiled.parameters[0].first, "k") << "in the order of the file";
  EXPECT_EQ(compiled.system->start()[1], 6);
  EXPECT_EQ(compiled.system->start()[2], 1);
  EXPECT_EQ(compiled.system->start()[3], 2);
}

TEST(OrderOfWork, LaterVariantsWinAndSetWinsOverAll) {
  CompileOptions options;
  options.variants = {"light"};
  Compiled compiled = compile(mass_on_spring(), options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  EXPECT_EQ(compiled.title, "Light mass");
  EXPECT_EQ(resolved(compiled, "w"), 2) << "expressions follow the variant";
  EXPECT_EQ(resolved(compiled, "k"), 4);
  EXPECT_EQ(compiled.system->start()[1], 2);
  EXPECT_EQ(compiled.system->start()[2], 7);
  EXPECT_EQ(compiled.system->start()[3], 8);

  options.variants = {"light", "fast"};
  compiled = compile(mass_on_spring(), options);
  EXPECT_EQ(resolved(compiled, "w"), 10);
  EXPECT_EQ(resolved(compiled, "k"), 100);
  EXPECT_EQ(compiled.system->start()[1], 2);

  options.set = {{"k", 50}, {"x'", "k/10"}};
  compiled = compile(mass_on_spring(), options);
  EXPECT_EQ(resolved(compiled, "k"), 50) << "set takes the place of the expression";
  EXPECT_EQ(compiled.system->start()[2], 5);
}

TEST(OrderOfWork, UnknownNamesInVariantsAndSetAreErrors) {
  CompileOptions options;
  options.variants = {"ligt"};
  EXPECT_NE(messages(compile(mass_on_spring(), options)).find("did you mean 'light'"), std::string::npos);
  options.variants.clear();
  options.set = {{"y", 1}};
  EXPECT_NE(messages(compile(mass_on_spring(), options)).find("no parameter or start value 'y'"),
            std::string::npos);
  options.set = {{"m'", 1}};
  EXPECT_NE(messages(compile(mass_on_spring(), options)).find("a prime belongs to no parameter"),
            std::string::npos);
  options.set = {{"z'", 1}};
  EXPECT_NE(messages(compile(mass_on_spring(), options)).find("a state has no start velocity"),
            std::string::npos);
}

TEST(OrderOfWork, FreeParametersStayInputsAlsoThroughOtherParameters) {
  CompileOptions options;
  options.free = {"m"};
  const Compiled compiled = compile(mass_on_spring(), options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  const System& system = *compiled.system;
  EXPECT_EQ(resolved(compiled, "k"), 108);
  EXPECT_FALSE(system.mass_constant());
  Workspace work(system);
  const auto place = static_cast<std::size_t>(system.layout().free_parameter());
  EXPECT_EQ(work.in[place], 3);
  for (const double m : {1.0, 2.5}) {
    work.in[place] = m;
    ASSERT_TRUE(system.motion(work));
    expect_close(work.force[0], -4 * m * m * m * work.in[1], 1e-14, "k = (2m)² m");
    EXPECT_EQ(system.full_mass(work)[0], m);
  }
}

TEST(OrderOfWork, FreeParameterCannotDecideWhatTheModelIs) {
  Spec spec = mass_on_spring();
  Force f;
  f.along = "x'";
  f.value = 1;
  f.when = "m > 2";
  spec.forces.push_back(f);
  CompileOptions options;
  options.free = {"m"};
  EXPECT_NE(messages(compile(spec, options)).find("depends on a free parameter"), std::string::npos);
}

Spec chain() {
  Spec spec;
  spec.parameters.push_back(parameter("n", 4));
  Parameter masses;
  masses.name = "m";
  masses.rows = {{1, 2, "n", "n + m[2]"}};
  spec.parameters.push_back(masses);
  spec.coordinates.push_back(
      {.name = "x", .start = "i", .velocity = "if(i == 1, 1, 0)", .each = "i = 1 to n"});
  spec.energy.kinetic = "sum(i = 1 to n, m[i]/2*x[i]'^2)";
  Contact pair;
  pair.name = "pair";
  pair.each = "i = 1 to n - 1, j = i + 1 to n";
  pair.when = "j - i <= 2";
  pair.gap = "x[j] - x[i]";
  spec.contacts.push_back(pair);
  spec.output.columns.push_back({"g", "gap(pair[2,3])"});
  return spec;
}

TEST(Repetition, MakesOneElementPerIndex) {
  const Compiled compiled = compile(chain());
  ASSERT_TRUE(compiled.system) << messages(compiled);
  const System& system = *compiled.system;
  EXPECT_EQ(system.coordinate_names(), (std::vector<std::string>{"x[1]", "x[2]", "x[3]", "x[4]"}));
  std::vector<std::string> pairs;
  for (const Relation& r : system.relations()) pairs.push_back(r.name);
  EXPECT_EQ(pairs,
            (std::vector<std::string>{"pair[1,2]", "pair[1,3]", "pair[2,3]", "pair[2,4]", "pair[3,4]"}));
  Workspace work(system);
  EXPECT_EQ(work.in[3], 3);
  EXPECT_EQ(system.full_mass(work)[15], 6);
  EXPECT_EQ(system.start()[5], 1);
  double column = 0;
  system.column_values(work, &column);
  EXPECT_EQ(column, 1);
}

TEST(Repetition, OneMemberOfAListOrFamilyCanBeSet) {
  CompileOptions options;
  options.set = {{"m[1]", 9}, {"x[2]", 2.5}, {"x[2]'", 0.25}};
  const Compiled compiled = compile(chain(), options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  Workspace work(*compiled.system);
  EXPECT_EQ(compiled.system->full_mass(work)[0], 9);
  EXPECT_EQ(work.in[2], 2.5);
  EXPECT_EQ(work.in[6], 0.25);
  options.set = {{"m", 9}};
  EXPECT_NE(messages(compile(chain(), options)).find("is a list"), std::string::npos);
  options.set = {{"x[9]", 9}};
  EXPECT_NE(messages(compile(chain(), options)).find("out of range"), std::string::npos);
}

TEST(When, ElementsMayShareANameIfOneRemains) {
  Spec spec = bouncing_ball();
  spec.parameters.push_back(parameter("soft", 0));
  Contact second = spec.contacts[0];
  second.impact = ImpactLaw();
  second.compliant.given = true;
  second.compliant.stiffness = 100;
  second.when = "soft == 1";
  spec.contacts[0].when = "soft == 0";
  spec.contacts.push_back(second);
  EXPECT_FALSE(compiled_system(spec).relations()[0].compliant);
  CompileOptions options;
  options.set = {{"soft", 1}};
  const System soft = compiled_system(spec, options);
  ASSERT_EQ(soft.relations().size(), 1U);
  EXPECT_TRUE(soft.relations()[0].compliant);
}

TEST(Names, ElementsHaveTheirOwnSet) {
  Spec spec = bouncing_ball();
  spec.contacts[0].name = "h";
  spec.output.columns.push_back({"height", "gap(h) + h"});
  const System system = compiled_system(spec);
  Workspace work(system);
  double column = 0;
  system.column_values(work, &column);
  EXPECT_EQ(column, 2);
}

TEST(Names, RelationsKeepTheOrderOfTheFile) {
  Spec spec = press();
  spec.joints[0].span = {10, 20};
  spec.contacts[0].span = {30, 40};
  const System system = compiled_system(spec);
  EXPECT_EQ(system.relations()[0].name, "piston");
  EXPECT_EQ(system.relations()[1].name, "plane");
}

TEST(RunOptions, AreEvaluatedAndChecked) {
  Spec spec = mass_on_spring();
  spec.run.from = "m/3";
  spec.run.until = "from_to(2)";
  spec.definitions.push_back({"from_to(a)", "a*m"});
  spec.run.engine = "walker";
  spec.run.step = 1e-3;
  spec.run.engines.push_back({"walker", {{"pace", "m/6"}, {"form", "printed"}}});
  spec.output.samples = 11;
  spec.output.plots = {{"t", "x"}};
  CompileOptions options;
  options.engines = {{"walker",
                      {{.name = "pace", .doc = "", .least = 0, .most = 1},
                       {.name = "form", .doc = "", .words = {"standard", "printed"}}}}};
  const Compiled compiled = compile(spec, options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  EXPECT_EQ(compiled.run.engine, "walker");
  EXPECT_EQ(compiled.run.from, 1);
  EXPECT_EQ(compiled.run.until, 6);
  EXPECT_EQ(compiled.run.step, 1e-3);
  EXPECT_EQ(compiled.run.samples, 11);
  ASSERT_EQ(compiled.run.engine_options.size(), 2U);
  EXPECT_EQ(compiled.run.engine_options[0].number, 0.5);
  EXPECT_EQ(compiled.run.engine_options[1].text, "printed");
  EXPECT_EQ(compiled.system->start()[0], 1);
  const auto complaint = [&](const Named& option) {
    spec.run.engines = {{"walker", {option}}};
    return messages(compile(spec, options));
  };
  EXPECT_NE(complaint({"pace", 1.5}).find("'pace' is 1.5; it must be between 0 and 1"), std::string::npos);
  EXPECT_NE(complaint({"form", "prnted"}).find("did you mean 'printed'"), std::string::npos);
  EXPECT_NE(complaint({"pce", 0.5}).find("did you mean 'pace'"), std::string::npos);
  spec.run.engines = {{"runner", {{"pace", 0.5}}}};
  EXPECT_NE(messages(compile(spec, options)).find("no options for an engine 'runner'"), std::string::npos);
  Spec endless = mass_on_spring();
  EXPECT_TRUE(std::isnan(compile(endless).run.until));
}

TEST(Definitions, ArgumentsMayBeIndicesAndPrimesDifferentiate) {
  Spec spec;
  spec.parameters.push_back(parameter("b", 0.1));
  spec.coordinates.push_back({.name = "u", .start = "0.3*i", .velocity = "i", .each = "i = 1 to 2"});
  spec.definitions.push_back({"d(i, j)", "hypot(u[i] - u[j], b*t)"});
  spec.definitions.push_back({"far", "d(1, 2) > 1"});
  spec.energy.kinetic = "sum(i = 1 to 2, u[i]'^2/2)";
  Force f;
  f.along = "u[1]'";
  f.value = "if(far, 0, d(2, 1)')";
  spec.forces.push_back(f);
  spec.run.from = 2;
  const System system = compiled_system(spec);
  Workspace work(system);
  ASSERT_TRUE(system.motion(work));
  expect_close(work.force[0], (0.3 * 1 + 0.1 * 0.1 * 2) / std::hypot(0.3, 0.2), 1e-14, "d'");
  EXPECT_EQ(system.switches().size(), 1U);
  EXPECT_EQ(system.switches()[0].place, "definitions.far");
}

}  // namespace
}  // namespace judder::model
