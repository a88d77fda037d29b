// Canonical forms: equal formulas are one node.
#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

TEST(Graph, EqualFormulasAreOneNode) {
  Room r;
  const char* const pairs[][2] = {
      {"x + y", "y + x"},
      {"x*y*z", "z*(y*x)"},
      {"x + x", "2*x"},
      {"x*x", "x^2"},
      {"x - x", "0"},
      {"x/x", "1"},
      {"(x + y) - (x + y)", "0"},
      {"x - (y - z)", "x + z - y"},
      {"(x*y)^2", "x^2*y^2"},
      {"x^2*x^-2", "1"},
      {"(x^2)^3", "x^6"},
      {"(x - y)^2", "(y - x)^2"},
      {"(x - y)*z", "-(y - x)*z"},
      {"sin(-x)", "-sin(x)"},
      {"cos(y - x)", "cos(x - y)"},
      {"2*(x + y) - 2*(x + y)", "0"},
      {"0*sin(x)", "0"},
      {"sqrt(x)^2", "x"},
      {"sqrt(x)*sqrt(x)", "x"},
      {"cbrt(x)^3", "x"},
      {"x/(2*y)", "0.5*x/y"},
      {"0.1*x + 0.2*x - 0.3*x", "0"},
      {"(cos(x)^2 + sin(x)^2)*y", "y"},
      {"3*y*cos(x)^2 + z + 3*sin(x)^2*y", "3*y + z"},
      {"sin(x)^4 + cos(x)^2*sin(x)^2 + cos(x)^2", "1"},
      {"hypot(x - y, z)", "hypot(y - x, -z)"},
      {"1/(1/x)", "x"},
      {"exp(x)/exp(x)", "1"},
  };
  for (const auto& [a, b] : pairs)
    EXPECT_EQ(r.read(a), r.read(b)) << a << " and " << b << ": " << r.graph.text(r.read(a));
}

TEST(Graph, DifferentFormulasStayApart) {
  Room r;
  const char* const pairs[][2] = {{"2*sin(x)^2 + cos(x)^2", "2"},  {"sqrt(x^2)", "x"},   {"(x^2)^0.5", "x"},
                                  {"sin(x)^2 + cos(y)^2", "1"},    {"x^0.5", "sqrt(y)"}, {"log(exp(x))", "y"},
                                  {"sin(x)^2*y + cos(x)^2*z", "y"}};
  for (const auto& [a, b] : pairs) EXPECT_NE(r.read(a), r.read(b)) << a << " and " << b;
}

TEST(Graph, ConstantsAreFolded) {
  Room r;
  for (const char* text :
       {"2*3 + 4/8 - sin(1)^2", "hypot(3, 4, 12)", "max(1, 2, -3)", "mod(-1, 3)", "atan2(1, -1)",
        "if(2 > 1, exp(1), 0)", "floor(-1.5)", "bump(0.5)", "step(0) + sign(0)"}) {
    EXPECT_TRUE(r.graph.is_constant(r.read(text))) << text;
  }
  EXPECT_EQ(r.value("hypot(3, 4, 12)"), 13);
  EXPECT_EQ(r.value("mod(-1, 3)"), 2);
  EXPECT_EQ(r.value("mod(7, 3)"), 1);
  EXPECT_EQ(r.value("8/3/(1 + 1)"), 8.0 / 3 / 2);
}

TEST(Graph, KnowsItsVariables) {
  Room r;
  const Node a = r.read("x^2 + sin(z) - x*y/x");
  EXPECT_EQ(r.graph.variables(a), (std::vector<Variable>{1, 2, 3}));
  EXPECT_FALSE(r.graph.depends_on(a, 0));
  EXPECT_TRUE(r.graph.depends_on(a, 2));
  EXPECT_FALSE(r.graph.depends_on(r.read("x + y - x"), 1));
  for (int i = 0; i < 100; ++i) r.declare("v" + std::to_string(i));
  const Node many = r.read("v0 + v99");  // beyond the width of the mask
  EXPECT_TRUE(r.graph.depends_on(many, r.variables["v99"]));
  EXPECT_FALSE(r.graph.depends_on(many, r.variables["v99"] - 64));
}

TEST(Graph, SubstitutionIsSimultaneousAndFolds) {
  Room r;
  const Node a = r.read("x*y + sin(x) + abs(y - 1)");
  const std::vector<Variable> which{1, 2};
  const std::vector<Node> swapped{r.graph.variable(2), r.graph.variable(1)};
  EXPECT_EQ(r.graph.substitute(a, which, swapped), r.read("y*x + sin(y) + abs(x - 1)"));
  const std::vector<Node> numbers{r.graph.constant(2), r.graph.constant(-3)};
  EXPECT_EQ(r.graph.value(r.graph.substitute(a, which, numbers)), -6 + std::sin(2.0) + 4);
}

TEST(Graph, SubstitutionReachesTheSurfacesOfSwitches) {
  Room r;
  const Node a = r.read("sign(x - y) + floor(3*x) + if(x < 0, 1, 2)");
  const Node b = r.graph.substitute(a, std::vector<Variable>{1}, std::vector<Node>{r.read("z^2")});
  EXPECT_EQ(b, r.read("sign(z^2 - y) + floor(3*z^2) + if(z^2 < 0, 1, 2)"));
}

TEST(Graph, DegreesOfPolynomials) {
  Room r;
  const std::vector<Variable> xy{1, 2};
  const auto degree = [&](const char* text, int n) {
    return r.graph.polynomial_degree_at_most(r.read(text), xy, n);
  };
  EXPECT_TRUE(degree("3*x + sin(z)*y + t", 1));
  EXPECT_FALSE(degree("x*y", 1));
  EXPECT_TRUE(degree("x*y", 2));
  EXPECT_FALSE(degree("x*y", 0));
  EXPECT_TRUE(degree("(x + y)^2 - x^2 - 2*x*y - y^2 + x", 1));  // only the derivatives tell
  EXPECT_TRUE(degree("(x + z)*(y - z) - x*y", 1));
  EXPECT_TRUE(degree("(cos(z)^2 + sin(z)^2)*y", 1));
  EXPECT_TRUE(degree("x^3/x", 2));
  EXPECT_FALSE(degree("sin(x)", 5));
  EXPECT_FALSE(degree("1/(1 + x)", 5));
  EXPECT_TRUE(degree("x*sign(z) + if(z > 0, y, x)", 1));
  EXPECT_TRUE(degree("x*sign(x)", 1));  // sides are coefficients
  EXPECT_TRUE(degree("5", 0));
  EXPECT_TRUE(degree("z^7", 0));
}

// x/3 is one rounding, and so are x/6144 and x/(3·2³⁰): a change of units by a power of two changes no bit.
TEST(Graph, AWholeDivisorTimesAPowerOfTwoIsDividedBy) {
  for (const double whole : {3.0, 7.0, 4095.0}) {
    for (int power = -40; power <= 40; ++power) {
      Room r;
      const double w = std::ldexp(whole, power);
      const Program p = r.program({r.graph.divide(r.graph.variable(1), r.graph.constant(w))});
      for (const double x : {0.1, 0.7, 1.9, 123.456})
        EXPECT_EQ(run(p, {0, x, 0, 0})[0], x / w) << whole << ' ' << power;
    }
  }
}

}  // namespace
}  // namespace judder::expr::test
