// Drawings follow the coordinates; equations are the ones that the System evaluates.
#include <map>

#include "judder/model/equations.hpp"
#include "model_support.hpp"

namespace judder::model {
namespace {

Spec sled() {
  Spec spec;
  spec.parameters = {{"m", 2}, {"v", 0.3}};
  spec.coordinates = {{"x"}, {"y"}};
  spec.energy.kinetic = "m/2*(x'^2 + y'^2)";
  spec.energy.potential = "9.81*m*y";
  Contact floor;
  floor.name = "floor";
  floor.gap = "y";
  floor.slip = {"x' - v"};
  floor.friction.mu = 0.4;
  spec.contacts = {floor};
  spec.run.until = 1;
  spec.output.columns = {{"F", "tangent(floor)"}, {"N", "normal(floor)"}};
  return spec;
}

Draw shape(const char* kind) {
  Draw out;
  out.shape = kind;
  return out;
}

std::vector<double> drawn(const System& system, double t, double x, double y) {
  Workspace work(system);
  work.in = system.start();
  work.in[0] = t;
  work.in[1] = x;
  work.in[2] = y;
  std::vector<double> out(static_cast<std::size_t>(system.drawing_numbers()));
  system.drawing_values(work, out.data());
  return out;
}

TEST(Drawings, EveryShapeHasItsNumbersInTheirOrder) {
  Spec spec = sled();
  Draw circle = shape("circle");
  circle.at = {"x", "y + 1"};
  circle.radius = "0.5*m";
  circle.turn = "-x";
  circle.of = "floor";
  Draw box = shape("box");
  box.at = {"x", 0};
  box.size = {1, "abs(x)"};
  Draw polygon = shape("polygon");
  polygon.points = {{0, 0}, {1, "y"}, {"t", 2}};
  Draw belt = shape("belt");
  belt.from = {-1, 0};
  belt.to = {1, 0};
  belt.shift = "v*t";
  Draw arrow = shape("arrow");
  arrow.at = {"x", "y"};
  arrow.force = {"-F", "N"};
  spec.drawings = {circle, box, polygon, belt, arrow};
  const System system = compiled_system(spec);
  ASSERT_EQ(system.drawings().size(), 5U);
  const std::vector<double> expected{-3, 3, 1, 3,                  // circle
                                     -3, 0, 1, 3, 0,               // box
                                     0,  0, 0, 0, 0, 1, 2, 10, 2,  // polygon
                                     -1, 0, 1, 0, 3,               // belt
                                     -3, 2};                       // arrow
  EXPECT_EQ(drawn(system, 10, -3, 2), expected);
  int first = 0;
  for (const DrawingInfo& d : system.drawings()) {
    EXPECT_EQ(d.first, first);
    first += d.numbers;
  }
  EXPECT_EQ(system.drawings()[0].relation, 0);
  EXPECT_EQ(system.drawings()[1].relation, -1);
  EXPECT_EQ(system.drawings()[4].column[0], 0);
  EXPECT_EQ(system.drawings()[4].sign[0], -1);
  EXPECT_EQ(system.drawings()[4].column[1], 1);
  EXPECT_EQ(system.drawings()[4].sign[1], 1);
}

TEST(Drawings, RepeatedShapesHaveTheColourOfTheirOwnContact) {
  Spec spec = sled();
  spec.coordinates = {{"x", 0, 0, false, {}, "i = 1 to 3"}, {"y"}};
  spec.energy.kinetic = "m/2*(sum(i = 1 to 3, x[i]'^2) + y'^2)";
  spec.contacts[0].slip = {"x[1]'"};
  Joint joint;
  joint.name = "rail";
  joint.each = "i = 1 to 3";
  joint.slip = {"x[i]'"};
  joint.normal = 1;
  joint.law.mu = 0.1;
  spec.joints = {joint};
  Draw box = shape("box");
  box.each = "i = 1 to 3";
  box.at = {"x[i]", 0};
  box.size = {1, 1};
  box.of = "rail[i]";
  spec.drawings = {box};
  const System system = compiled_system(spec);
  ASSERT_EQ(system.drawings().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(system.relations()[static_cast<std::size_t>(system.drawings()[i].relation)].name,
              "rail[" + std::to_string(i + 1) + "]");
}

TEST(Drawings, MistakesAreNamed) {
  const auto complaint = [](const Draw& draw) {
    Spec spec = sled();
    spec.drawings = {draw};
    return messages(compile(spec));
  };
  Draw arrow = shape("arrow");
  arrow.at = {"x", "y"};
  arrow.force = {"G", "N"};
  EXPECT_NE(complaint(arrow).find("there is no output column 'G'"), std::string::npos) << complaint(arrow);
  Draw box = shape("box");
  box.at = {"x", 0};
  box.size = {1, 1};
  box.of = "flor";
  EXPECT_NE(complaint(box).find("flor"), std::string::npos) << complaint(box);
  EXPECT_NE(complaint(box).find("error"), std::string::npos) << complaint(box);
  Draw speedy = shape("circle");
  speedy.at = {"x'", 0};
  speedy.radius = 1;
  EXPECT_NE(complaint(speedy).find("error"), std::string::npos) << complaint(speedy);
  EXPECT_NE(complaint(shape("ball")).find("there is no shape 'ball'"), std::string::npos);
}

// What a drawing asks for changes no bit of the motion: its switches are none of the model's.
TEST(Drawings, AddNoSwitchesToTheMotion) {
  Spec spec = sled();
  const System plain = compiled_system(spec);
  Draw box = shape("box");
  box.at = {"if(x > 1, 0, x)", "max(y, 0)"};
  box.size = {"floor(t)", 1};
  spec.drawings = {box};
  const System with = compiled_system(spec);
  EXPECT_EQ(plain.switches().size(), with.switches().size());
  EXPECT_EQ(plain.layout().size(), with.layout().size());
  EXPECT_EQ(drawn(with, 2.5, 3, -1), (std::vector<double>{0, 0, 2, 1, 0}));
}

// A factor below zero takes away; nothing is added that is less than nothing.
TEST(Equations, ANegativeFactorIsTakenAway) {
  Spec spec = sled();
  spec.energy.kinetic = Value("x'^2 + y'^2 - 0.04*x'*y'");
  for (const expr::Notation notation : {expr::Notation::latex, expr::Notation::mathml}) {
    const std::string text = equations(compile(spec, {}), notation).front().text;
    const bool latex = notation == expr::Notation::latex;
    EXPECT_NE(text.find(latex ? " - 0.04 \\, \\ddot{y}" : "<mo>−</mo><mn>0.04</mn>"), std::string::npos)
        << text;
    EXPECT_EQ(text.find(latex ? "+ -" : "<mo>+</mo><mo>−</mo>"), std::string::npos) << text;
  }
}

TEST(Equations, AreWrittenWithNumbersOrWithNames) {
  const auto lines = [](const CompileOptions& options, expr::Notation notation) {
    std::vector<std::string> out;
    for (const Equation& e : equations(compile(sled(), options), notation))
      out.push_back(e.name + ": " + e.text);
    return out;
  };
  const std::vector<std::string> numbers = lines({}, expr::Notation::latex);
  ASSERT_EQ(numbers.size(), 6U);
  EXPECT_EQ(numbers[0], "x: 2 \\, \\ddot{x} = \\lambda_{T,\\mathrm{floor}}");
  EXPECT_EQ(numbers[1], "y: 2 \\, \\ddot{y} = -19.62 + \\lambda_{N,\\mathrm{floor}}");
  EXPECT_EQ(numbers[2], "contact 'floor': 0 \\le y \\perp \\lambda_{N,\\mathrm{floor}} \\ge 0");
  EXPECT_EQ(numbers[4],
            "contact 'floor', friction: \\left|\\lambda_{T,\\mathrm{floor}}\\right| \\le 0.4 \\, "
            "\\lambda_{N,\\mathrm{floor}}");
  CompileOptions open;
  open.free = {"m", "v"};
  const std::vector<std::string> names = lines(open, expr::Notation::latex);
  EXPECT_EQ(names[0], "x: m \\, \\ddot{x} = \\lambda_{T,\\mathrm{floor}}");
  EXPECT_EQ(names[3], "contact 'floor', slip: \\gamma_{T,\\mathrm{floor}} = \\dot{x} - v");
  const std::vector<std::string> markup = lines(open, expr::Notation::mathml);
  EXPECT_EQ(markup[0],
            "x: <mi>m</mi><mo>&#x2062;</mo><mspace "
            "width=\"0.167em\"/><mover><mi>x</mi><mo>¨</mo></mover><mo>=</mo><msub><mi>λ</mi><mrow>"
            "<mi>T</mi><mo>,</mo><mi mathvariant=\"normal\">floor</mi></mrow></msub>");
}

/// All lines of a model, each with what it is about.
std::string all_equations(const Spec& spec, expr::Notation notation,
                          const std::map<std::string, std::string>& labels = {}) {
  const Compiled compiled = compile(spec, {});
  std::string out;
  for (const Equation& e : equations(compiled, notation, nullptr, labels))
    out += e.name + ": " + e.text + "\n";
  return out;
}

Joint joint(const char* name, const char* slip, const char* normal) {
  Joint out;
  out.name = name;
  out.slip = {slip};
  out.normal = normal;
  return out;
}

// What `explain` tells as a law must stand in the equations: friction at rest and in motion, as functions of the speed, and the impact law.
TEST(Equations, HaveTheLawsOfFrictionAndImpact) {
  const auto with = [](const std::string& law) {
    Spec spec;
    spec.coordinates = {{"x"}, {"y"}};
    spec.energy.kinetic = "x'^2/2 + y'^2/2";
    spec.energy.potential = "10*y";
    Joint belt = joint("belt", "x'", "10"), oil = joint("oil", "y'", "1");
    belt.law.static_coefficient = "0.4/(1+3*speed)";
    belt.law.dynamic = "0.2/(1+3*speed)";
    oil.law.type = "arctan";
    oil.law.mu = 0.5;
    oil.law.beta = 7;
    spec.joints = {belt, oil};
    Contact floor;
    floor.name = "floor";
    floor.gap = "y";
    floor.slip = {"x'"};
    floor.friction.mu = 0.3;
    floor.impact.type = law;
    floor.impact.restitution = "0.5/(1+speed)";
    spec.contacts = {floor};
    spec.run.until = 1;
    return spec;
  };
  const std::string lines = all_equations(with("newton"), expr::Notation::latex);
  const auto has = [&](const std::string& line) {
    EXPECT_NE(lines.find(line + "\n"), std::string::npos) << line << "\n" << lines;
  };
  has("friction joint 'belt', friction: \\left|\\lambda_{T,\\mathrm{belt}}\\right| \\le 0.4 \\cdot 10");
  has("friction joint 'belt', while it slips: \\lambda_{T,\\mathrm{belt}} = -\\frac{0.2}{3 \\, "
      "\\left|\\gamma_{T,\\mathrm{belt}}\\right| + 1} \\cdot 10 \\, "
      "\\frac{\\gamma_{T,\\mathrm{belt}}}{\\left|\\gamma_{T,\\mathrm{belt}}\\right|}");
  has("friction joint 'oil', slip: \\gamma_{T,\\mathrm{oil}} = \\dot{y}");
  EXPECT_NE(lines.find("friction joint 'oil', friction within the forces: F_{T,\\mathrm{oil}} = -"),
            std::string::npos)
      << lines;
  EXPECT_NE(lines.find("\\arctan\\left(7 \\, \\dot{y}\\right)"), std::string::npos) << lines;
  has("contact 'floor', impact (newton): \\gamma_{N,\\mathrm{floor}}^{+} = -\\frac{0.5}{"
      "\\left|\\gamma_{N,\\mathrm{floor}}^{-}\\right| + 1} \\, \\gamma_{N,\\mathrm{floor}}^{-}");
  EXPECT_EQ(lines.find("floor', while"), std::string::npos)
      << "one constant coefficient is told by the bound";
  for (const char* law : {"moreau", "poisson", "stronge"})
    EXPECT_NE(all_equations(with(law), expr::Notation::latex).find(std::string("impact (") + law + ")"),
              std::string::npos);
  const std::string markup = all_equations(with("poisson"), expr::Notation::mathml);
  EXPECT_NE(markup.find("<msubsup><mi>Λ</mi>"), std::string::npos) << markup;
  EXPECT_EQ(markup.find("speed"), std::string::npos) << markup;
}

// Factors beside one another are seen to be two: no "mUN", no "0.1 10".
TEST(Equations, KeepFactorsApart) {
  Spec spec;
  spec.coordinates = {{"x"}};
  spec.energy.kinetic = "x'^2/2";
  Joint a = joint("a", "x'", "10");
  a.law.mu = 0.1;
  spec.joints = {a};
  spec.run.until = 1;
  EXPECT_NE(all_equations(spec, expr::Notation::latex).find("0.1 \\cdot 10"), std::string::npos);
  EXPECT_NE(all_equations(spec, expr::Notation::mathml).find("<mn>0.1</mn><mo>·</mo><mn>10</mn>"),
            std::string::npos);
  EXPECT_EQ(expr::product_in(expr::Notation::latex, "m", "U"), "m \\, U");
  EXPECT_EQ(expr::product_in(expr::Notation::latex, "2", "{3}^{x}"), "2 \\cdot {3}^{x}");
  EXPECT_EQ(expr::product_in(expr::Notation::latex, "2", "\\frac{3}{x}"), "2 \\cdot \\frac{3}{x}");
  EXPECT_EQ(expr::product_in(expr::Notation::mathml, "<mi>m</mi>", "<mi>UN</mi>"),
            "<mi>m</mi><mo>&#x2062;</mo><mspace width=\"0.167em\"/><mi>UN</mi>");
  EXPECT_EQ(expr::product_in(expr::Notation::mathml, "<mn>2</mn>",
                             "<msup><mrow><mn>3</mn></mrow><mi>x</mi></msup>"),
            "<mn>2</mn><mo>·</mo><msup><mrow><mn>3</mn></mrow><mi>x</mi></msup>");
}

// A label stands for the name, and its dots over it.
TEST(Equations, HaveTheLabelsOfTheModel) {
  Spec spec;
  spec.coordinates = {{"pos"}};
  spec.energy.kinetic = "pos'^2/2";
  spec.energy.potential = "pos^2 + 3*pos";
  spec.run.until = 1;
  EXPECT_EQ(all_equations(spec, expr::Notation::latex, {{"pos", "\\xi"}}),
            "pos: \\ddot{\\xi} = -2 \\, \\xi - 3\n");
  EXPECT_NE(all_equations(spec, expr::Notation::mathml, {{"pos", "<mi>ξ</mi>"}})
                .find("<mover><mi>ξ</mi><mo>¨</mo></mover>"),
            std::string::npos);
}

}  // namespace
}  // namespace judder::model
