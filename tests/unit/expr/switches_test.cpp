#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

std::vector<double> with_sides(const Program& p, std::vector<double> in) { return run(p, in); }

TEST(Switches, SurfacesEqualUpToAFactorAreOne) {
  Room r;
  r.read("sign(x - y)");
  for (const char* text : {"abs(y - x)", "step(2*x - 2*y)", "max(x, y)", "min(3*x, 3*y)", "if(x < y, 1, 2)",
                           "sign(-0.3*(x - y))", "if(y/7 >= x/7, 1, 2)", "sign(0.1*x - 0.1*y)"}) {
    r.read(text);
    EXPECT_EQ(r.graph.switches().size(), 1U) << text;
  }
  r.read("sign(0.3*x - 0.1)");
  r.read("sign(3*x - 1)");  // 0.3/0.1 is 3 up to rounding
  EXPECT_EQ(r.graph.switches().size(), 2U);
  r.read("sign(x - 2*y)");
  EXPECT_EQ(r.graph.switches().size(), 3U);
  r.read("sign((x - y)*z) + abs((y - x)*z*2)");
  EXPECT_EQ(r.graph.switches().size(), 4U);
}

TEST(Switches, WhatHasOneSignByItsFormIsNoneWhereItsValueDoesNotTell) {
  Room r;
  r.read("x + y");
  for (const char* text : {"abs(x^2)", "step(x^2)", "if(-x^2 > 0, 1, 2)", "max(exp(x), -1)", "min(cos(x), 1)",
                           "if(1 - cos(x) < 0, 1, 2)", "max(sin(x)^2, -y^2)"}) {
    r.read(text);
    EXPECT_TRUE(r.graph.switches().empty()) << text;
  }
  r.read("mod(x, 0.3)");
  EXPECT_EQ(r.graph.switches().size(), 1U);
  for (const char* text : {"abs(mod(x, 0.3))", "if(mod(x, 0.3) < 0, 1, 2)",
                           "if(0.5*mod(x, 0.3) >= 0.15, 1, 2)", "max(0.3, mod(x, 0.3))"}) {
    r.read(text);
    EXPECT_EQ(r.graph.switches().size(), 1U) << text;
  }
  r.read("mod(x + y - 1, 0.3) + mod(x, 0.3)");
  EXPECT_EQ(r.graph.switches().size(), 2U);
  r.read("abs(mod(x + y - 1, 0.3) + mod(x, 0.3))");
  EXPECT_EQ(r.graph.switches().size(), 2U);
}

TEST(Switches, KnowTheSideThatTheyAreNeverLeftTo) {
  const auto only = [](const char* text) {
    Room r;
    r.read(text);
    return r.graph.switches().back().one_sided;
  };
  EXPECT_EQ(only("sign(x^2)"), 1);
  EXPECT_EQ(only("step(-x^2)"), -1);
  EXPECT_EQ(only("sign(-2*mod(x, 3))"), -1);
  EXPECT_EQ(only("if(3*cos(x) >= 3, 1, 2)"), -1);
  EXPECT_EQ(only("sign(x)"), 0);
  EXPECT_EQ(only("sign(1.01 - cos(x) - 0.02)"), 0);
  EXPECT_EQ(only("sign(mod(x, 3) - 1)"), 0);
  const auto top = [](const char* text) {
    Room r;
    r.read(text);
    return r.graph.switches().back().top;
  };
  EXPECT_EQ(top("floor(cos(x))"), 1);
  EXPECT_EQ(top("floor(-6*sqrt(1 + x^2))"), -6);
  EXPECT_EQ(top("floor(2/(1 + x^2))"), 2);
  EXPECT_EQ(top("floor(1.5*cos(x))"), 2);
  EXPECT_EQ(top("floor(x)"), std::numeric_limits<double>::infinity());
}

TEST(Switches, KeepTheirFirstPlaceAndTheirStrongestKind) {
  Room r;
  r.options.place = "force.a.value";
  r.read("abs(x)");
  EXPECT_EQ(r.graph.switches()[0].kind, SwitchKind::kink);
  r.options.place = "force.b.value";
  r.read("sign(2*x)");
  EXPECT_EQ(r.graph.switches()[0].kind, SwitchKind::jump);
  EXPECT_EQ(r.graph.switches()[0].place, "force.a.value");
  r.read("max(x, 0)");
  EXPECT_EQ(r.graph.switches()[0].kind, SwitchKind::jump);
  r.read("bump(t)");
  EXPECT_EQ(r.graph.switches()[1].kind, SwitchKind::smooth);
  EXPECT_EQ(r.graph.switches()[1].levels, (std::vector<double>{0, 1}));
}

TEST(Switches, SidesAreNamedInTheAuthorsWords) {
  Room r;
  r.read("if(x > 2*y, 1, 0)");
  EXPECT_EQ(r.graph.switches()[0].above, "x > 2*y");
  EXPECT_EQ(r.graph.switches()[0].below, "x <= 2*y");
  r.read("if(t <= sin(z), 1, 0)");
  const Switch& s = r.graph.switches()[1];
  const bool above_is_written = r.graph.text(s.surface) == "sin(z) - t";
  EXPECT_EQ(above_is_written ? s.above : s.below, "t <= sin(z)");
  EXPECT_EQ(above_is_written ? s.below : s.above, "t > sin(z)");
}

TEST(Switches, ValuesOnTheSurfaceFollowTheRules) {
  Room r;
  const std::vector<double> zero{0, 0, 0, 0};
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"sign(x)", 0},          {"step(x)", 1},         {"step(-x)", 1},         {"if(x < 0, 1, 2)", 2},
      {"if(x <= 0, 1, 2)", 1}, {"if(x > 0, 1, 2)", 2}, {"if(x >= 0, 1, 2)", 1}, {"if(not x < 0, 1, 2)", 1},
      {"abs(x)", 0},           {"floor(x)", 0},        {"mod(x, 1)", 0},        {"atan2(x, -1)", M_PI},
      {"bump(x)", 0},          {"sign(-x)", 0},        {"if(0 < x, 1, 2)", 2},  {"if(0 >= x, 1, 2)", 1}};
  for (const auto& c : cases) {
    const Node node = r.read(c.text);
    EXPECT_EQ(r.graph.evaluate(node, zero), c.value) << c.text;
    EXPECT_EQ(run(r.program({node}), zero)[0], c.value) << c.text;
  }
}

TEST(Switches, FrozenSidesContinueTheFormulaBeyondTheSurface) {
  Room r;
  const Node node = r.read("abs(x)");
  const Program p = r.program({node, r.graph.derivative(node, 1)}, Sides::given);
  // Inputs: t, x, y, z, side.
  EXPECT_EQ(with_sides(p, {0, -0.5, 0, 0, 1}), (std::vector<double>{-0.5, 1}));
  EXPECT_EQ(with_sides(p, {0, 0.5, 0, 0, 0}), (std::vector<double>{-0.5, -1}));
  EXPECT_EQ(with_sides(p, {0, 0.5, 0, 0, 0.5}), (std::vector<double>{0, 0}));
}

TEST(Switches, SelectIgnoresTheOtherBranchAndBlendsBetween) {
  Room r;
  const Program p = r.program({r.read("if(x > 0, log(x), 1/x)")}, Sides::given);
  EXPECT_EQ(with_sides(p, {0, 1, 0, 0, 1})[0], 0);
  EXPECT_EQ(with_sides(p, {0, -2, 0, 0, 0})[0], -0.5);
  EXPECT_TRUE(std::isnan(with_sides(p, {0, -2, 0, 0, 1})[0]));
  EXPECT_EQ(with_sides(p, {0, 1, 0, 0, 0.25})[0], 0.75);
}

TEST(Switches, ConditionsAreProductsOfSides) {
  Room r;
  const Node node = r.read("if(x > 0 and y > 0 or not z > 0, 1, 0)");
  const Program p = r.program({node}, Sides::given);
  for (int bits = 0; bits < 8; ++bits) {
    const double x = bits & 1, y = (bits >> 1) & 1, z = (bits >> 2) & 1;
    const double wanted = (x == 1 && y == 1) || z == 0 ? 1 : 0;
    EXPECT_EQ(with_sides(p, {0, 0, 0, 0, x, y, z})[0], wanted) << bits;
    EXPECT_EQ(r.graph.evaluate(node, std::vector<double>{0, x - 0.5, y - 0.5, z - 0.5}), wanted) << bits;
  }
}

TEST(Switches, FloorAndModHaveLevelSides) {
  Room r;
  const Node node = r.read("mod(x, 0.5)");
  ASSERT_EQ(r.graph.switches().size(), 1U);
  EXPECT_TRUE(r.graph.switches()[0].whole);
  const Program p = r.program({node}, Sides::given);
  EXPECT_DOUBLE_EQ(with_sides(p, {0, 1.3, 0, 0, 2})[0], 0.3);
  EXPECT_DOUBLE_EQ(with_sides(p, {0, 1.52, 0, 0, 2})[0], 0.52);  // a little beyond
  for (double x = -3; x < 3; x += 0.0625) {
    const double m = r.graph.evaluate(node, std::vector<double>{0, x, 0, 0});
    EXPECT_GE(m, 0);
    EXPECT_LT(m, 0.5);
  }
}

TEST(Switches, TheCutOfAtan2IsContinuedOnEachSide) {
  Room r;
  const Node node = r.read("atan2(y, x)");
  const Program p = r.program({node}, Sides::given);
  for (int k = -40; k <= 40; ++k) {
    const double angle = k * 0.1;
    if (std::abs(angle) > 3.1) continue;
    const double x = 2 * std::cos(angle), y = 2 * std::sin(angle);
    EXPECT_NEAR(r.graph.evaluate(node, std::vector<double>{0, x, y, 0}), angle, 1e-15);
  }
  const double beyond = M_PI + 0.01;
  EXPECT_NEAR(with_sides(p, {0, std::cos(beyond), std::sin(beyond), 0, 1})[0], beyond, 1e-14);
  EXPECT_NEAR(with_sides(p, {0, std::cos(beyond), std::sin(-beyond), 0, 0})[0], -beyond, 1e-14);
  EXPECT_EQ(with_sides(p, {0, 1, 1e-20, 0, 1})[0], 1e-20);
}

// However it is written, and whatever it is divided by: only where the argument itself is cancelled does a size become a sign.
TEST(Switches, AKinkStaysAKinkUnderDivision) {
  const auto kind = [](const std::string& text) {
    Room r;
    static_cast<void>(r.read(text));
    EXPECT_EQ(r.graph.switches().size(), 1U) << text;
    return r.graph.switches()[0].kind;
  };
  for (const char* text : {"abs(x - y)*t/(1 + t^2)", "abs(y - x)*t/(1 + t^2)", "abs(-2*x + y)/(1 + t^2)",
                           "abs(3 - 2*x)*y/(1 + t^2)", "(x - y)*abs(y - x)/(1 + t^2)", "abs(2*(y - x))/t"})
    EXPECT_EQ(kind(text), SwitchKind::kink) << text;
  for (const char* text :
       {"x/abs(x)", "(x - y)/abs(y - x)", "abs(3 - 2*x)/(2*x - 3)", "t*(y - x)/(abs(2*x - 2*y)*(1 + t^2))"})
    EXPECT_EQ(kind(text), SwitchKind::jump) << text;
}

TEST(Switches, InverseFunctionsOfWavesAreTrianglesAndSaws) {
  using Function = double (*)(double);
  const auto expect_same = [](const std::string& text, auto&& wanted, bool jumps) {
    Room r;
    const Node node = r.read(text);
    ASSERT_FALSE(r.graph.switches().empty()) << text;
    for (const Switch& s : r.graph.switches())
      EXPECT_EQ(s.kind, jumps ? SwitchKind::jump : SwitchKind::kink) << text;
    for (double x = -20; x < 20; x += 0.0617) {
      // The inverse of a wave, as the C library computes it, loses digits where the wave is flat.
      const double flat = jumps ? 1 : std::min(std::abs(std::cos(wanted(x))), std::abs(std::sin(wanted(x))));
      EXPECT_NEAR(r.graph.evaluate(node, std::vector<double>{0, x, 0, 0}), wanted(x), 1e-14 + 1e-15 / flat)
          << text << " at " << x;
    }
  };
  for (const auto& entry : {std::pair<std::string, Function>{"sin", std::sin},
                            std::pair<std::string, Function>{"cos", std::cos}}) {
    const std::string& name = entry.first;
    const Function wave = entry.second;
    for (const double sign : {1.0, -1.0}) {
      const std::string inside = (sign > 0 ? "(" : "(-") + name + "(3*x + 1))";
      const auto with = [&](Function inverse) {
        return [=](double x) { return inverse(sign * wave(3 * x + 1)); };
      };
      expect_same("asin" + inside, with(std::asin), false);
      expect_same("acos" + inside, with(std::acos), false);
    }
  }
  expect_same(
      "atan(tan(x))", [](double x) { return std::atan(std::tan(x)); }, true);
  expect_same(
      "atan(-tan(2*x))", [](double x) { return std::atan(-std::tan(2 * x)); }, true);
  Room r;
  for (const char* smooth : {"asin(sin(x)/2)", "asin(x)", "atan(sin(x))", "acos(tan(x))", "asin(sin(1))"}) {
    static_cast<void>(r.read(smooth));
    EXPECT_TRUE(r.graph.switches().empty()) << smooth;
  }
  EXPECT_EQ(r.graph.text(r.read("asin(sin(x))")), "asin(sin(x))");
}

TEST(Switches, RootsOfSquaresAreSizes) {
  const auto expect_size = [](const std::string& text, const std::string& wanted) {
    Room r;
    const Node node = r.read(text);
    EXPECT_EQ(node, r.read(wanted)) << text << " is " << r.graph.text(node);
  };
  expect_size("sqrt(x^2)", "abs(x)");
  expect_size("(x^2)^0.5", "abs(x)");
  expect_size("sqrt((x - y)^2)", "abs(x - y)");
  expect_size("((x - 1)^2)^1.5", "abs(x - 1)^3");
  expect_size("sqrt(4*x^2*exp(y))", "abs(x)*sqrt(4*exp(y))");
  expect_size("sqrt(x^4*y^2)", "x^2*abs(y)");
  expect_size("hypot(x, 0)", "abs(x)");
  expect_size("sqrt(exp(2*x)^2)", "exp(2*x)");
  Room r;
  for (const char* smooth : {"sqrt(x)", "sqrt(x^2 + y^2)", "x^1.5", "sqrt(x^3)", "hypot(x, y)", "(x^2)^3"})
    static_cast<void>(r.read(smooth));
  EXPECT_TRUE(r.graph.switches().empty());
}

// x/abs(x) is a jump like sign(x), not a pole, also where it is divided by.
TEST(Switches, ANumberBySizeIsItsSign) {
  for (const char* text :
       {"x/abs(x)", "x/sqrt(x^2)", "1/sign(x)", "1/sign(x)^3", "abs(x)/x", "1/(x/abs(x))"}) {
    Room r;
    const Node node = r.read(text);
    ASSERT_EQ(r.graph.switches().size(), 1U) << text;
    EXPECT_EQ(r.graph.switches()[0].kind, SwitchKind::jump) << text;
    EXPECT_EQ(node, r.read("sign(x)")) << text << " is " << r.graph.text(node);
  }
  Room r;
  EXPECT_EQ(r.read("sign(x)/sign(x)"), r.graph.constant(1));
}

TEST(Switches, BumpIsSmoothHasUnitAreaAndItsKnownMaximum) {
  Room r;
  const Node node = r.read("bump(x)");
  const Node slope = r.graph.derivative(node, 1), curvature = r.graph.derivative(slope, 1);
  double area = 0, moment = 0;
  const int n = 2000;
  for (int i = 0; i <= n; ++i) {
    const double x = static_cast<double>(i) / n;
    const double b = r.graph.evaluate(node, std::vector<double>{0, x, 0, 0});
    area += b / n;
    moment += x * x * b / n;
    EXPECT_TRUE(std::isfinite(r.graph.evaluate(curvature, std::vector<double>{0, x, 0, 0}))) << x;
  }
  EXPECT_NEAR(area, 1, 1e-14);
  EXPECT_NEAR(moment, 0.2691242, 1e-7);  // Petcoviciu 2010, (3.26)
  EXPECT_NEAR(r.value("bump(0.5)"), 2.6054065, 1e-7);
  // With the side of the inside, at and a little beyond the knots: nothing but the power that it begins with.
  const Program p = r.program({node, slope, curvature}, Sides::given);
  for (const double x : {-1e-3, -1e-12, 0.0, 1e-12, 1.0, 1 + 1e-12, 1.001}) {
    for (const double value : with_sides(p, {0, x, 0, 0, 0}))
      EXPECT_NEAR(value, 0, 1e-29 * x * x * (1 - x) * (1 - x)) << x;
    EXPECT_GE(with_sides(p, {0, x, 0, 0, 0})[0], 0) << x;
  }
  // Outside it is zero, and inside it is above zero by its form and by its numbers, none of which is near the end of their range.
  for (const double x : {-1e-3, -1e-300, 0.0, 1.0, 1.001})
    EXPECT_EQ(r.graph.evaluate(node, std::vector<double>{0, x, 0, 0}), 0) << x;
  for (const double x : {1e-40, 1e-9, 0.0013, 0.0051, 0.01, 0.0125, 0.9999, 1 - 0x1p-40})
    EXPECT_GT(r.graph.evaluate(node, std::vector<double>{0, x, 0, 0}), 1e-200) << x;
  EXPECT_EQ(r.read("abs(bump(x))"), node);
  EXPECT_EQ(r.read("max(0, bump(x))"), node);
  EXPECT_EQ(r.read("if(bump(x) >= 0, 1, 2)"), r.graph.constant(1));
  EXPECT_EQ(r.read("if(bump(x) < 0, 1, 2)"), r.graph.constant(2));
  // What is added to it is nothing: the sum of both would have other digits only where neither counts.
  for (const double x : {0.02, 0.1, 0.37, 0.9})
    EXPECT_DOUBLE_EQ(r.graph.evaluate(node, std::vector<double>{0, x, 0, 0}),
                     std::exp(1 / (x * (x - 1))) / 0.0070298584066096562392)
        << x;
}

TEST(Switches, TablesInterpolate) {
  Room r;
  const std::vector<double> x{0, 1, 3, 4}, y{2, 4, 0, 1};
  const auto table = [&](TableShape shape, TableOutside outside) {
    const TableId id = r.graph.add_table("f", x, y, shape, outside);
    return r.graph.table(id, r.graph.variable(1), "here");
  };
  const auto at = [&](Node node, double where) {
    return r.graph.evaluate(node, std::vector<double>{0, where, 0, 0});
  };
  const Node steps = table(TableShape::step, TableOutside::hold);
  EXPECT_EQ(at(steps, -1), 2);
  EXPECT_EQ(at(steps, 0.99), 2);
  EXPECT_EQ(at(steps, 1), 4);
  EXPECT_EQ(at(steps, 9), 1);
  const Node linear = table(TableShape::linear, TableOutside::zero);
  EXPECT_EQ(at(linear, 0.25), 2.5);
  EXPECT_EQ(at(linear, 2), 2);
  EXPECT_EQ(at(linear, -0.1), 0);
  EXPECT_EQ(at(linear, 4), 0);
  EXPECT_EQ(at(r.graph.derivative(linear, 1), 2), -2);
  const Node strict = table(TableShape::linear, TableOutside::error);
  EXPECT_EQ(at(strict, 4), 1);
  EXPECT_TRUE(std::isnan(at(strict, 4.1)));
  EXPECT_TRUE(std::isnan(at(strict, -0.1)));
  EXPECT_EQ(r.graph.switches().size(), 2U) << "tables with the same knots share a switch";
}

TEST(Switches, CubicTablesReproduceCubicsAndAreSmooth) {
  Room r;
  const auto f = [](double x) { return 1 - 2 * x + 0.5 * x * x + 0.25 * x * x * x; };
  std::vector<double> x, y;
  for (const double k : {-1.0, -0.3, 0.1, 0.9, 2.0, 2.2}) x.push_back(k), y.push_back(f(k));
  const Node node = r.graph.table(r.graph.add_table("f", x, y, TableShape::cubic, TableOutside::error),
                                  r.graph.variable(1), "");
  const Node third = r.graph.derivative(r.graph.derivative(r.graph.derivative(node, 1), 1), 1);
  for (double at = -1; at < 2.2; at += 0.05) {
    const std::vector<double> point{0, at, 0, 0};
    EXPECT_NEAR(r.graph.evaluate(node, point), f(at), 1e-13) << at;
    EXPECT_NEAR(r.graph.evaluate(third, point), 1.5, 1e-10) << at;
  }
  EXPECT_EQ(r.graph.switches()[0].kind, SwitchKind::smooth);
  // Any data: value, slope and curvature are the same on both sides of a knot.
  const std::vector<double> ky{0, 3, -1, 2, 2, -4};
  const Node any = r.graph.table(r.graph.add_table("g", x, ky, TableShape::cubic, TableOutside::error),
                                 r.graph.variable(1), "");
  Node derivative = any;
  for (int order = 0; order < 3; ++order) {
    const Program p = r.program({derivative}, Sides::given);
    for (std::size_t k = 1; k + 1 < x.size(); ++k) {
      const double left = with_sides(p, {0, x[k], 0, 0, static_cast<double>(k) - 1})[0];
      const double right = with_sides(p, {0, x[k], 0, 0, static_cast<double>(k)})[0];
      EXPECT_NEAR(left, right, 1e-10) << "order " << order << ", knot " << k;
    }
    derivative = r.graph.derivative(derivative, 1);
  }
}

// x over a power of its size between 0 and 1 is zero where x is.
TEST(Switches, ARootOfTheSizeBelowALineHasAValueAtZero) {
  for (const std::string text : {"x/sqrt(abs(x))", "x*abs(x)^(-0.5)", "y*x/abs(x)^0.3", "2*x/abs(x)^0.7/y"}) {
    Room r;
    const Program p = r.program({r.read(text)});
    EXPECT_EQ(run(p, {0, 0, 1.5, 0})[0], 0) << text;
    const double power = text.find("0.3") != std::string::npos   ? 0.7
                         : text.find("0.7") != std::string::npos ? 0.3
                                                                 : 0.5;
    const double factor = text[0] == 'y' ? 1.5 : text[0] == '2' ? 2 / 1.5 : 1;
    for (const double x : {-3.0, -1e-12, 1e-12, 0.4})
      EXPECT_NEAR(run(p, {0, x, 1.5, 0})[0] / (factor * std::copysign(std::pow(std::abs(x), power), x)), 1,
                  1e-14)
          << text << " at " << x;
  }
}

// Along its cut the angle is 0 or π, and a switch.
TEST(Switches, AnAngleAlongItsCutJumpsAtTheOrigin) {
  Room r;
  const Node node = r.read("atan2(0*t, x)");
  EXPECT_EQ(r.graph.switches().size(), 1U);
  const Program p = r.program({node});
  EXPECT_EQ(run(p, {0, 2, 0, 0})[0], 0);
  EXPECT_EQ(run(p, {0, 0, 0, 0})[0], 0);
  EXPECT_EQ(run(p, {0, -2, 0, 0})[0], std::acos(-1.0));
}

}  // namespace
}  // namespace judder::expr::test
