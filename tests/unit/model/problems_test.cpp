// Every class of problem that a model can have is found, said in words, and tied to its place.
#include <atomic>
#include <functional>

#include "model_support.hpp"

namespace judder::model {
namespace {

CompileOptions two_engines() {
  CompileOptions options;
  options.engines = {{.name = "event"}, {.name = "exact"}};
  return options;
}

/// Two masses with a contact, a joint and a force: correct, and spoiled in one place by each case below.
Spec sound() {
  Spec spec;
  spec.parameters.push_back(parameter("m", 2));
  Parameter list;
  list.name = "a";
  list.rows = {{1, 2, 3}};
  spec.parameters.push_back(list);
  spec.coordinates.push_back({.name = "x"});
  spec.coordinates.push_back({.name = "y", .start = 1});
  spec.states.push_back({.name = "z", .start = 0, .rate = "-z"});
  spec.energy.kinetic = "m/2*(x'^2 + y'^2)";
  spec.energy.potential = "9.81*y + a[2]*x^2";
  Force f;
  f.name = "pull";
  f.along = "x'";
  f.value = "sin(t)";
  spec.forces.push_back(f);
  Contact c;
  c.name = "floor";
  c.gap = "y";
  c.slip = {"x'"};
  c.friction = coulomb(0.3);
  spec.contacts.push_back(c);
  Joint j;
  j.name = "pad";
  j.slip = {"x'"};
  j.normal = 2;
  j.law = coulomb(0.1);
  spec.joints.push_back(j);
  spec.run.until = 1;
  return spec;
}

struct Case {
  const char* name;
  std::function<void(Spec&)> spoil;
  const char* expected;  ///< part of the message or help
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"SyntaxError", [](Spec& s) { s.contacts[0].gap = "y +"; }, "contact 'floor', gap"},
      {"UnknownName", [](Spec& s) { s.contacts[0].gap = "yy"; }, "unknown name 'yy'"},
      {"UnknownFunction", [](Spec& s) { s.forces[0].value = "sine(t)"; }, "did you mean 'sin'"},
      {"VelocityInGap", [](Spec& s) { s.contacts[0].gap = "y + y'"; },
       "a velocity must not be used in contact 'floor', gap"},
      {"StateInGap", [](Spec& s) { s.contacts[0].gap = "y + z"; }, "may use coordinates and t"},
      {"CoordinateInParameter", [](Spec& s) { s.parameters[0].value = "x"; },
       "must not be used in parameter 'm'"},
      {"TimeInParameter", [](Spec& s) { s.parameters[0].value = "2 + t"; }, "the time t must not be used"},
      {"StateInKinetic", [](Spec& s) { s.energy.kinetic = "z*x'^2 + y'^2"; },
       "the state 'z' must not be used in energy, kinetic"},
      {"VelocityInPotential", [](Spec& s) { s.energy.potential = "x'"; }, "a velocity must not be used"},
      {"SpeedInForce", [](Spec& s) { s.forces[0].value = "speed"; }, "speed must not be used"},
      {"ReactionInForce", [](Spec& s) { s.forces[0].value = "normal(floor)"; },
       "normal() must not be used in force 'pull', value"},
      {"AccelerationInForce", [](Spec& s) { s.forces[0].value = "x''"; },
       "accelerations are known in output columns only"},
      {"PrimedParameter", [](Spec& s) { s.forces[0].value = "m'"; }, "a prime belongs to no parameter"},
      {"SlipNotAffine", [](Spec& s) { s.contacts[0].slip = {"x'^2"}; },
       "'slip' is not affine in the velocities"},
      {"SlipSwitchingWithVelocity", [](Spec& s) { s.contacts[0].slip = {"abs(x')"}; },
       "switches with a velocity"},
      {"AlongNotAffine", [](Spec& s) { s.forces[0].along = "sin(x')"; }, "'along' is not affine"},
      {"StiffnessThatChanges",
       [](Spec& s) {
         s.contacts[0].friction = {};
         s.contacts[0].slip.clear();
         s.contacts[0].compliant.stiffness = "if(t < 1, 40, 20)";
       },
       "the time t must not be used in contact 'floor', compliant, stiffness"},
      {"TangentialRestitutionThatChanges", [](Spec& s) { s.contacts[0].impact.tangential = "x"; },
       "must not be used in contact 'floor', impact, tangential"},
      {"AlongWithoutVelocity", [](Spec& s) { s.forces[0].along = "x"; },
       "'along' does not depend on any velocity"},
      {"PushWithoutVelocity", [](Spec& s) { s.contacts[0].push = "y"; },
       "'push' does not depend on any velocity"},
      {"DragWithoutVelocity", [](Spec& s) { s.contacts[0].drag = {"x"}; },
       "'drag' does not depend on any velocity"},
      {"SlipWithoutVelocity", [](Spec& s) { s.contacts[0].slip = {"x"}; }, "does not depend on any velocity"},
      {"KineticCubic", [](Spec& s) { s.energy.kinetic = "m*x'^3 + y'^2"; }, "not a polynomial of degree two"},
      {"SwitchInKinetic", [](Spec& s) { s.energy.kinetic = "if(x > 0, 1, 2)*x'^2 + y'^2"; },
       "the kinetic energy switches at"},
      {"NoInertia", [](Spec& s) { s.energy.kinetic = "x'^2/2"; }, "the coordinate 'y' has no inertia"},
      {"DependentInertia", [](Spec& s) { s.energy.kinetic = "(x' + y')^2/2"; }, "massless = true"},
      {"NegativeGap", [](Spec& s) { s.coordinates[1].start = -0.25; },
       "the gap is negative at the start: -0.25"},
      {"GapOfNothing", [](Spec& s) { s.contacts[0].gap = "3 + t"; }, "does not depend on any coordinate"},
      {"ConstraintNotSatisfied",
       [](Spec& s) { s.constraints.push_back({.name = "rail", .zero = "x - 0.5"}); },
       "not satisfied at the start: it is -0.5"},
      {"ConstraintVelocity", [](Spec& s) { s.constraints.push_back({.name = "rail", .zero = "x - 3*t"}); },
       "its rate is -3"},
      {"ContradictingConstraints",
       [](Spec& s) {
         s.constraints.push_back({.name = "rail", .zero = "x"});
         s.constraints.push_back({.name = "drive", .zero = "2*x - t^2"});
       },
       "contradicts the other constraints"},
      {"ConstraintOfTwoKinds",
       [](Spec& s) { s.constraints.push_back({.name = "rail", .zero = "x", .velocity = "x'"}); }, "not both"},
      {"NegativeCoefficient", [](Spec& s) { s.contacts[0].friction = coulomb(-0.3); }, "'mu' is negative"},
      {"NegativeCoefficientAtTheStart", [](Spec& s) { s.contacts[0].friction = coulomb("0.1 - y"); },
       "negative at the start"},
      {"NegativeNormalForce", [](Spec& s) { s.joints[0].normal = -2; }, "the normal force is negative"},
      {"NegativeNormalForceAtTheStart", [](Spec& s) { s.joints[0].normal = "-y"; },
       "the normal force is negative at the start: -1"},
      {"Restitution", [](Spec& s) { s.contacts[0].impact.restitution = 1.2; }, "the restitution is 1.2"},
      {"RestitutionAtTheStart", [](Spec& s) { s.contacts[0].impact.restitution = "2*y"; },
       "the restitution is 2 at the start"},
      {"ForceNotFinite", [](Spec& s) { s.forces[0].value = "log(x)"; },
       "the force on 'x' is not a finite number"},
      {"RateNotFinite", [](Spec& s) { s.states[0].rate = "1/x"; }, "the rate of 'z' is not a finite number"},
      {"ParameterCycle",
       [](Spec& s) {
         s.parameters[0].value = "b + 1";
         s.parameters.push_back(parameter("b", "2*m"));
       },
       "in a cycle: m → b → m"},
      {"StartCycle",
       [](Spec& s) {
         s.coordinates[0].start = "y";
         s.coordinates[1].start = "x";
       },
       "in a cycle: x → y → x"},
      {"RateCycle", [](Spec& s) { s.states[0].rate = "z' + 1"; },
       "rates of states depend on each other in a cycle"},
      {"RecursiveDefinition",
       [](Spec& s) {
         s.definitions.push_back({"d", "d + x"});
       },
       "uses itself"},
      {"IndexOutOfRange", [](Spec& s) { s.forces[0].value = "a[4]"; }, "there is no a[4]"},
      {"MemberOutOfRange",
       [](Spec& s) {
         s.coordinates.push_back({.name = "u", .each = "i = 1 to 2"});
         s.energy.kinetic = "x'^2 + y'^2 + u[1]'^2 + u[3]'^2";
       },
       "there is no u[3]"},
      {"IndexHidesAName", [](Spec& s) { s.coordinates.push_back({.name = "u", .each = "m = 1 to 2"}); },
       "the index 'm'"},
      {"JointNotLinear", [](Spec& s) { s.joints[0].normal = "normal(floor)^2"; },
       "not linear in the reactions"},
      {"JointSwitching", [](Spec& s) { s.joints[0].normal = "max(normal(floor), 1)"; },
       "not linear in the reactions"},
      {"JointNegativeFactor", [](Spec& s) { s.joints[0].normal = "5 - normal(floor)"; }, "factor -1"},
      {"JointNegativeFactorAtTheStart", [](Spec& s) { s.joints[0].normal = "5 - y*normal(floor)"; },
       "factor -1"},
      {"JointOfAJoint", [](Spec& s) { s.joints[0].normal = "normal(pad)"; }, "must not use another joint's"},
      {"MultiplierWithoutAbs",
       [](Spec& s) {
         s.constraints.push_back({.name = "rail", .zero = "x"});
         s.joints[0].normal = "normal(rail)";
       },
       "write abs(normal(rail))"},
      {"MasslessWithInertia",
       [](Spec& s) {
         s.coordinates.push_back({.name = "w", .massless = true});
         s.energy.kinetic = "m/2*(x'^2 + y'^2 + w'^2)";
       },
       "the massless coordinate 'w' has inertia"},
      {"MasslessInARow",
       [](Spec& s) {
         s.coordinates[0].massless = true;
         s.energy.kinetic = "m/2*y'^2";
         s.joints.clear();
       },
       "moves the massless coordinate 'x'"},
      {"MasslessUndetermined",
       [](Spec& s) {
         s.coordinates.push_back({.name = "w", .massless = true});
         s.forces[0].value = "w";
       },
       "does not determine the massless coordinate 'w'"},
      {"MasslessWithVelocity",
       [](Spec& s) {
         s.coordinates.push_back({.name = "w", .velocity = 1, .massless = true});
         s.energy.potential = "w^2";
       },
       "has no start velocity"},
      {"MasslessSeesVelocity",
       [](Spec& s) {
         s.coordinates.push_back({.name = "w", .massless = true});
         s.energy.potential = "w^2";
         s.forces[0].along = "w'";
         s.forces[0].value = "x'";
       },
       "depends on the velocity of 'x'"},
      {"MatrixRows",
       [](Spec& s) {
         s.matrices.mass = {true, {{1, 0}}, {}, {}};
       },
       "the matrix has 1 rows"},
      {"MatrixColumns",
       [](Spec& s) {
         s.matrices.damping = {true, {{1, 0}, {1}}, {}, {}};
       },
       "row 2 has 1 values"},
      {"MassNotSymmetric",
       [](Spec& s) {
         s.matrices.mass = {true, {{1, 0}, {1, 1}}, {}, {}};
       },
       "not symmetric: entries (2, 1) and (1, 2)"},
      {"LoadLength",
       [](Spec& s) {
         s.matrices.load = {true, {{1}}, {}, {}};
       },
       "the load has 1 values"},
      {"LoadOfACoordinate",
       [](Spec& s) {
         s.matrices.load = {true, {{"x", 1}}, {}, {}};
       },
       "must not be used in matrices, load"},
      {"NameTwice", [](Spec& s) { s.states.push_back({.name = "x", .start = 0, .rate = 0}); },
       "'x' is already a coordinate"},
      {"ElementTwice", [](Spec& s) { s.joints[0].name = "floor"; },
       "'floor' is already the name of a contact"},
      {"NotAName", [](Spec& s) { s.contacts[0].name = "2nd"; }, "is not a name"},
      {"ReservedName", [](Spec& s) { s.states.push_back({.name = "t", .start = 0, .rate = 0}); },
       "is a reserved word"},
      {"FrictionWithoutSlip", [](Spec& s) { s.contacts[0].slip.clear(); }, "friction needs a slip velocity"},
      {"UnknownLaw", [](Spec& s) { s.contacts[0].friction.type = "lugri"; }, "did you mean 'lugre'"},
      {"KeyOfAnotherLaw", [](Spec& s) { s.contacts[0].friction.beta = 3; },
       "the law 'coulomb' has no key 'beta'"},
      {"MissingKeyOfALaw", [](Spec& s) { s.contacts[0].friction.type = "arctan"; },
       "the law 'arctan' needs the key 'beta'"},
      {"TwoCoefficients", [](Spec& s) { s.contacts[0].friction.dynamic = 3; }, "not both"},
      {"NoCoefficient", [](Spec& s) { s.contacts[0].friction.mu = Value(); },
       "the friction law has no coefficient"},
      {"StaticBelowDynamic",
       [](Spec& s) {
         s.contacts[0].friction.mu = Value();
         s.contacts[0].friction.static_coefficient = 0.1;
         s.contacts[0].friction.dynamic = 0.2;
       },
       "is smaller than 'dynamic' ("},
      {"PenaltyOnARigidContact",
       [](Spec& s) {
         s.contacts[0].friction.type = "penalty";
         s.contacts[0].friction.stiffness = 1;
         s.contacts[0].friction.damping = 1;
       },
       "needs a normal force that is known"},
      {"BreakawayTooLarge",
       [](Spec& s) {
         FrictionLaw& law = s.joints[0].law;
         law.type = "elastoplastic";
         law.stiffness = 10;
         law.damping = 1;
         law.breakaway = 0.02;
       },
       "'breakaway' must be less than the steady deflection 0.01"},
      {"SmoothLawInSpace",
       [](Spec& s) {
         s.joints[0].slip = {"x'", "y'"};
         s.joints[0].law.type = "arctan";
         s.joints[0].law.beta = 1;
       },
       "takes one slip component"},
      {"UnknownImpactLaw", [](Spec& s) { s.contacts[0].impact.type = "newtn"; }, "did you mean 'newton'"},
      {"PathImpactInSpace",
       [](Spec& s) {
         s.contacts[0].slip = {"x'", "x' + y'"};
         s.contacts[0].impact.type = "poisson";
       },
       "only the impact law 'moreau' is defined"},
      {"NegativeStiffness",
       [](Spec& s) {
         s.contacts[0].compliant.given = true;
         s.contacts[0].compliant.stiffness = -1;
       },
       "'stiffness' is -1; it must be positive"},
      {"EndBeforeBegin", [](Spec& s) { s.run.from = 2; }, "before it begins at 2"},
      {"UnknownEngine", [](Spec& s) { s.run.engine = "evnt"; }, "did you mean 'event'"},
      {"StepNotPositive", [](Spec& s) { s.run.step = 0; }, "'step' is 0; it must be positive"},
      {"CoordinateInRun", [](Spec& s) { s.run.until = "x"; }, "must not be used in run, until"},
      {"SamplesNotWhole", [](Spec& s) { s.output.samples = 2.5; }, "whole number"},
      {"UnknownPlotColumn",
       [](Spec& s) {
         s.output.plots = {{"t", "q"}};
       },
       "there is no column 'q'"},
      {"ColumnTwice",
       [](Spec& s) {
         s.output.columns.push_back({"x'", "y"});
       },
       "there is already a column 'x''"},
      {"ColumnName",
       [](Spec& s) {
         s.output.columns.push_back({"a,b", "y"});
       },
       "no comma"},
      {"ModeNotAlone",
       [](Spec& s) {
         s.output.columns.push_back({"c", "1 + mode(floor)"});
       },
       "must stand alone"},
      {"UnknownElement",
       [](Spec& s) {
         s.output.columns.push_back({"c", "normal(flor)"});
       },
       "did you mean 'floor'"},
      {"NormalOfAForce",
       [](Spec& s) {
         s.output.columns.push_back({"c", "normal(pull)"});
       },
       "'pull' is a force"},
      {"ComponentOutOfRange",
       [](Spec& s) {
         s.output.columns.push_back({"c", "slip(floor, 2)"});
       },
       "has 1 slip component"},
      {"BristleOfCoulomb",
       [](Spec& s) {
         s.output.columns.push_back({"c", "bristle(floor)"});
       },
       "has no bristle"},
      {"GapOfAJoint",
       [](Spec& s) {
         s.output.columns.push_back({"c", "gap(pad)"});
       },
       "has no gap"},
      {"WatchDirection",
       [](Spec& s) { s.watches.push_back({.name = "w", .zero = "x", .direction = "left"}); },
       "is not a direction"},
      {"WatchWithoutZero", [](Spec& s) { s.watches.push_back({.name = "w"}); }, "the watch has no 'zero'"},
      {"UnknownShape", [](Spec& s) { s.drawings.push_back({.shape = "sphere"}); },
       "there is no shape 'sphere'"},
      {"CircleWithoutRadius",
       [](Spec& s) {
         s.drawings.push_back({.shape = "circle", .at = {"x", "y"}});
       },
       "a circle needs a 'radius'"},
      {"VelocityInADrawing",
       [](Spec& s) {
         s.drawings.push_back({.shape = "line", .from = {0, 0}, .to = {"x'", 0}});
       },
       "a velocity must not be used in draw 1"},
      {"TableNotIncreasing",
       [](Spec& s) {
         s.tables.push_back({.name = "w", .x = {0, 1, 1}, .y = {0, 1, 2}});
       },
       "x must increase; value 3"},
      {"TableLengths",
       [](Spec& s) {
         s.tables.push_back({.name = "w", .x = {0, 1}, .y = {0}});
       },
       "x has 2 values and y has 1"},
      {"ScaleNotPositive", [](Spec& s) { s.coordinates[0].scale = 0; }, "a scale must be positive"},
      {"StateWithoutRate", [](Spec& s) { s.states[0].rate = Value(); }, "the state has no rate"},
      {"StateWithoutStart", [](Spec& s) { s.states[0].start = Value(); }, "the state has no start value"},
      {"JointWithoutNormal", [](Spec& s) { s.joints[0].normal = Value(); }, "the joint has no 'normal'"},
      {"ForceWithoutValue", [](Spec& s) { s.forces[0].value = Value(); }, "the force has no 'value'"},
      {"EmptyModel", [](Spec& s) { s = Spec(); }, "the model has no coordinates and no states"},
      {"BrokenDefinitionIsSaidOnce",
       [](Spec& s) {
         s.definitions.push_back({"d", "yy + 1"});
         s.contacts[0].gap = "d*y";
         s.forces[0].value = "d";
       },
       "unknown name 'yy'"},
  };
  return all;
}

class Problem : public testing::TestWithParam<std::size_t> {};

TEST_P(Problem, IsFoundAndSaid) {
  const Case& one = cases()[GetParam()];
  Spec spec = sound();
  one.spoil(spec);
  const Compiled compiled = compile(spec, two_engines());
  EXPECT_FALSE(compiled.system);
  EXPECT_EQ(compiled.diagnostics.errors(), 1) << messages(compiled);
  EXPECT_NE(messages(compiled).find(one.expected), std::string::npos) << messages(compiled);
}

INSTANTIATE_TEST_SUITE_P(Each, Problem, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& number) { return cases()[number.param].name; });

TEST(Problems, TheSoundModelHasNone) {
  const Compiled compiled = compile(sound());
  EXPECT_TRUE(compiled.system);
  EXPECT_TRUE(compiled.diagnostics.all().empty()) << messages(compiled);
}

TEST(Problems, AllAreReportedInOneGo) {
  Spec spec = sound();
  spec.parameters[0].value = "q";
  spec.forces[0].value = "speed";
  spec.contacts[0].slip = {"x'^2"};
  spec.output.columns.push_back({"c", "normal(flor)"});
  spec.run.engine = "evnt";
  const Compiled compiled = compile(spec, two_engines());
  EXPECT_EQ(compiled.diagnostics.errors(), 5) << messages(compiled);
}

TEST(Problems, PointAtTheBytesOfTheFile) {
  const std::string file = "gap = \"y + yyy\"\nname = \"floor\"\n";
  Spec spec = sound();
  spec.contacts[0].gap.text.text = "y + yyy";
  spec.contacts[0].gap.text.span = {6, 15};
  const Compiled compiled = compile(spec);
  ASSERT_EQ(compiled.diagnostics.all().size(), 1U) << messages(compiled);
  const Diagnostic& found = compiled.diagnostics.all()[0];
  EXPECT_EQ(file.substr(found.span.begin, found.span.end - found.span.begin), "yyy");
  const Position at = judder::position(file, found.span.begin);
  EXPECT_EQ(at.line, 1);
  EXPECT_EQ(at.column, 12);
}

TEST(Text, LocateFollowsEscapes) {
  Text text("x\ty");
  text.span = {10, 16};
  text.origin = {11, 12, 14};
  EXPECT_EQ(text.locate(1, 2).begin, 12U);
  EXPECT_EQ(text.locate(2, 3).begin, 14U);
  EXPECT_EQ(text.locate(2, 3).end, 15U);
  EXPECT_TRUE(Text("x").locate(0, 1).empty()) << "a spec made in C++ has no places";
}

TEST(Warnings, UnusedParameter) {
  Spec spec = sound();
  spec.parameters.push_back(parameter("idle", 3));
  const Compiled compiled = compile(spec);
  EXPECT_TRUE(compiled.system);
  EXPECT_NE(messages(compiled).find("'idle' is not used"), std::string::npos);
}

TEST(Warnings, ParameterOfAnElementLeftOutIsUsed) {
  Spec spec = sound();
  spec.parameters.push_back(parameter("big", 3));
  spec.parameters.push_back(parameter("on", 0));
  Force f;
  f.along = "y'";
  f.value = "big";
  f.when = "on == 1";
  spec.forces.push_back(f);
  const Compiled compiled = compile(spec);
  EXPECT_TRUE(compiled.system);
  EXPECT_TRUE(compiled.diagnostics.all().empty()) << messages(compiled);
}

// mechanics: the force conjugate to gap = 5 y has a fifth of the friction; a factor 10 in length is one of
// 100 in w·M⁻¹w.
TEST(Warnings, GapAndSlipOfDifferentScale) {
  Spec spec = sound();
  spec.contacts[0].gap = "9.9*y";
  EXPECT_TRUE(compile(spec).diagnostics.all().empty());
  spec.contacts[0].gap = "10.1*y";
  const Compiled compiled = compile(spec);
  EXPECT_TRUE(compiled.system);
  EXPECT_NE(messages(compiled).find("differ in scale"), std::string::npos);
  spec.contacts[0].friction = FrictionLaw();
  EXPECT_TRUE(compile(spec).diagnostics.all().empty()) << "without friction the scale of a gap is free";
}

TEST(Problems, LimitOfTheExpansion) {
  CompileOptions options;
  options.limit = 20;
  const Compiled compiled = compile(sound(), options);
  EXPECT_FALSE(compiled.system);
  EXPECT_NE(messages(compiled).find("expands to more than 20"), std::string::npos) << messages(compiled);
}

TEST(Problems, QuasiStaticEngineTakesMasslessContacts) {
  Spec spec;
  spec.coordinates.push_back({.name = "u1", .massless = true});
  spec.coordinates.push_back({.name = "u2", .massless = true});
  spec.energy.potential = "(u1^2 + 2*u1*u2 + 2*u2^2)/2 - (1.25 + t)*u1 - u2";
  Contact wall;
  wall.name = "wall";
  wall.gap = "-u2";
  wall.slip = {"u1'"};
  wall.friction = coulomb(1.25);
  spec.contacts.push_back(wall);
  EXPECT_FALSE(compile(spec).system);
  CompileOptions options;
  options.engine = "quasi-static";
  const Compiled compiled = compile(spec, options);
  ASSERT_TRUE(compiled.system) << messages(compiled);
  Workspace work(*compiled.system);
  work.in[1] = 0.3;
  work.in[2] = -0.1;
  ASSERT_TRUE(compiled.system->motion(work));
  EXPECT_EQ(work.in[1], 0.3) << "not followed: the engine solves for them";
  expect_close(work.force[0], 1.25 - 0.3 + 0.1, 1e-15, "force");
}

Spec one_mass() {
  Spec spec;
  spec.coordinates.push_back({"x"});
  spec.energy.kinetic = "x'^2/2";
  return spec;
}

std::string everything(const Compiled& compiled) { return render(compiled.diagnostics, "model", ""); }

TEST(Work, ACompilationIsCancelledFromOutside) {
  Spec spec = one_mass();
  std::atomic<bool> cancel{true};
  CompileOptions options;
  options.cancel = &cancel;
  const Compiled stopped = compile(spec, options);
  EXPECT_TRUE(stopped.cancelled);
  EXPECT_FALSE(stopped.system.has_value());
  cancel = false;
  EXPECT_TRUE(compile(spec, options).system.has_value());
}

// A ring of constraints x_i − x_(i+1) = p_i(t) is consistent if the p_i sum to zero; the last is a combination of the others. With few entries in each row a
// thousand of them cost little, and the one that does not agree is found.
TEST(Work, ManyConstraintsWithFewEntriesAreCompared) {
  const auto ring = [](int count, const char* last) {
    Spec spec;
    const std::string n = std::to_string(count);
    Coordinate coordinate{.name = "x"};
    coordinate.each = "i = 1 to " + n;
    spec.coordinates.push_back(coordinate);
    spec.energy.kinetic = "sum(i = 1 to " + n + ", x[i]'^2)";
    Constraint link;
    link.name = "link";
    link.each = "i = 1 to " + n;
    link.zero = "x[i] - x[mod(i, " + n + ") + 1] - if(i < " + n + ", t^2*i, " + last + "*t^2)";
    spec.constraints.push_back(link);
    spec.run.until = 1;
    return compile(spec);
  };
  const Compiled good = ring(1000, "-499500");
  EXPECT_TRUE(good.system.has_value()) << everything(good).substr(0, 300);
  const Compiled bad = ring(1000, "-499499");
  EXPECT_FALSE(bad.system.has_value());
  EXPECT_EQ(bad.diagnostics.errors(), 1);
  const std::string message = everything(bad);
  EXPECT_NE(message.find("'link[1000]' contradicts the other constraints"), std::string::npos) << message;
  EXPECT_NE(message.find("differ by -2"), std::string::npos) << message;
  // By about the square of their number, which is what the formulas of their rows are, and not by the cube.
  EXPECT_LT(ring(1000, "-499500").work, 5 * ring(500, "-124750").work);
}

// The same text costs the same on every machine, and the message names the expression that costs most.
TEST(Work, TheTextThatCostsMostIsNamed) {
  Spec spec = one_mass();
  spec.output.columns.push_back({"cheap", "x"});
  spec.output.columns.push_back({"dear", "(exp(sin(x)*cos(t)*x^7))" + std::string(12, '\'')});
  const Compiled first = compile(spec), second = compile(spec);
  EXPECT_EQ(first.work, second.work);
  EXPECT_FALSE(first.system.has_value());
  const std::string message = everything(first);
  EXPECT_NE(message.find("dear"), std::string::npos) << message;
  EXPECT_NE(message.find("50000000 operations"), std::string::npos) << message;
  EXPECT_NE(message.find("--work 10"), std::string::npos) << message;
}

// A name of twenty thousand letters, and as many elements: every element has its copies.
TEST(Work, NamesThatEachMakesAreCounted) {
  constexpr std::size_t kLength = 20000;
  const auto refused = [](const Spec& spec, const std::string& place) {
    const Compiled compiled = compile(spec);
    EXPECT_FALSE(compiled.system.has_value()) << place;
    const std::string message = everything(compiled);
    EXPECT_NE(message.find("10000000 letters"), std::string::npos) << place << ": " << message.substr(0, 300);
    EXPECT_NE(message.find(place), std::string::npos) << message.substr(0, 300);
  };
  Spec watches = one_mass();
  Watch watch;
  watch.name = std::string(kLength, 'w');
  watch.each = "i = 1 to 20000";
  watch.zero = "x - i";
  watches.watches.push_back(watch);
  refused(watches, "each");

  Spec indices = one_mass();  // the index is copied as the name is
  watch.name = "w";
  watch.each = std::string(kLength, 'k') + " = 1 to 20000";
  watch.zero = "x";
  indices.watches.push_back(watch);
  refused(indices, "each");

  Spec switches = one_mass();  // every switch says where it stands
  Contact contact;
  contact.name = std::string(kLength, 'c');
  contact.gap = "x + sum(i = 1 to 4000, abs(x - i))";
  switches.contacts.push_back(contact);
  refused(switches, "gap");

  Spec plots = one_mass();  // a family in a plot is all of its members
  Coordinate family;
  family.name = "y";
  family.each = "i = 1 to 300";
  family.massless = true;
  plots.coordinates.push_back(family);
  for (int i = 0; i < 3000; ++i) plots.output.plots.push_back({"t", "y"});
  refused(plots, "plots");

  Spec short_names = one_mass();
  watch.each = "i = 1 to 20000";
  watch.zero = "x - i";
  short_names.watches.push_back(watch);
  EXPECT_TRUE(compile(short_names).system.has_value()) << everything(compile(short_names)).substr(0, 300);
}

// Friction laws that change with the speed are read at many speeds, and that counts.
TEST(Work, LawsThatAreLookedAtCount) {
  const auto work = [](const char* coefficient, int count) {
    Spec spec = one_mass();
    Joint joint;
    joint.name = "j";
    joint.each = "i = 1 to " + std::to_string(count);
    joint.slip = {"x'"};
    joint.normal = "1";
    joint.law.mu = coefficient;
    spec.joints.push_back(joint);
    return compile(spec).work;
  };
  const double constant = work("0.3", 200), falling = work("0.3 + 0.1*exp(-speed)", 200);
  EXPECT_GT(falling, constant + 200 * 4000);
  EXPECT_LT(constant, 200 * 4000);
}

TEST(Work, AfterManyErrorsTheRestIsLeftUnread) {
  Spec spec = one_mass();
  for (int i = 0; i < 5000; ++i) {
    Definition definition;
    definition.signature = "d" + std::to_string(i);
    definition.body = "unknown" + std::to_string(i);
    spec.definitions.push_back(definition);
  }
  const Compiled compiled = compile(spec);
  EXPECT_EQ(compiled.diagnostics.errors(), 101);
  EXPECT_NE(everything(compiled).find("more than 100 errors"), std::string::npos);
}

// A chain of any length, in the order that needs the last first.
TEST(Work, ChainsOfNamesNeedNoStack) {
  constexpr int kLength = 20000;
  Spec spec = one_mass();
  for (int i = kLength; i > 0; --i) {
    Parameter parameter;
    parameter.name = "p" + std::to_string(i);
    parameter.value = "p" + std::to_string(i - 1) + " + 1";
    spec.parameters.push_back(parameter);
    Definition definition;
    definition.signature = "d" + std::to_string(i);
    definition.body = "d" + std::to_string(i - 1) + " + x";
    spec.definitions.push_back(definition);
  }
  Parameter first;
  first.name = "p0";
  first.value = 1;
  spec.parameters.push_back(first);
  Definition zero;
  zero.signature = "d0";
  zero.body = "x";
  spec.definitions.push_back(zero);
  Force force;
  force.along = "x'";
  force.value = "-d20000 + p20000";
  spec.forces.push_back(force);
  Compiled compiled = compile(spec);
  ASSERT_TRUE(compiled.system.has_value()) << everything(compiled).substr(0, 500);
  Workspace work(*compiled.system);
  work.in[static_cast<std::size_t>(compiled.system->layout().q())] = 2;
  ASSERT_TRUE(compiled.system->motion(work));
  EXPECT_EQ(compiled.parameters.front().second, kLength + 1);
}

// A branch that is not taken may use what does not exist, also inside definitions that are expanded beforehand.
TEST(Work, BranchesThatAreNotTakenMayBeWrong) {
  Spec spec = one_mass();
  const auto define = [&spec](const char* name, const char* body) {
    Definition definition;
    definition.signature = name;
    definition.body = body;
    spec.definitions.push_back(definition);
  };
  Parameter n;
  n.name = "n";
  n.value = 1;
  spec.parameters.push_back(n);
  define("a", "if(n == 1, x, b)");
  define("b", "if(n == 1, 1, a)");
  Force force;
  force.along = "x'";
  force.value = "-a";
  spec.forces.push_back(force);
  const Compiled compiled = compile(spec);
  EXPECT_TRUE(compiled.system.has_value()) << everything(compiled);
}

}  // namespace
}  // namespace judder::model
