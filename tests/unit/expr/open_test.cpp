// Parameters that are left open: numbers that remember what they were made from.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "judder/expr/graph.hpp"
#include "judder/expr/program.hpp"

namespace judder::expr {
namespace {

struct Spring {
  Graph graph;
  Variable x = graph.declare("x");
  Node k = graph.open("k", 3.0000031, 3.0);

  /// k (x − 1) + sqrt(k) x + 2: a factor, a function of it, and a constant that is folded.
  Node force(Node stiffness) {
    const Node offset = graph.subtract(graph.variable(x), graph.constant(1));
    const Node root = graph.call(Function::sqrt, std::array{stiffness});
    return graph.add(graph.add(graph.multiply(stiffness, offset), graph.multiply(root, graph.variable(x))),
                     graph.constant(2));
  }
};

double value_of(const Program& program, double x) {
  std::vector<double> registers(static_cast<std::size_t>(program.registers()) + 1);
  double out = 0;
  program.evaluate(&x, &out, registers.data());
  return out;
}

TEST(Open, BoundToAValueAProgramHasTheBitsOfTheFoldedOne) {
  Spring spring;
  const InputMap map{{0}, {}};
  const std::array open{spring.force(spring.k)};
  const Program program = compile(spring.graph, open, map, 1, Sides::given);
  for (const double k : {0.3, 2.7, 11.1, 1e7}) {
    std::vector<double> values;
    std::size_t parameter = 0;
    ASSERT_TRUE(spring.graph.tape()->run(std::array{k}, values, parameter)) << k;
    Program bound = program;
    bound.bind(values);
    Spring other;
    const std::array folded{other.force(other.graph.constant(k))};
    const Program expected = compile(other.graph, folded, map, 1, Sides::given);
    for (const double x : {-3.3, 0.0, 0.7, 1e5}) EXPECT_EQ(value_of(bound, x), value_of(expected, x)) << k;
  }
}

TEST(Open, WhatIsNotGivenHasTheValueOfTheFile) {
  Spring spring;
  std::vector<double> values;
  std::size_t parameter = 0;
  const double nothing = std::nan("");
  ASSERT_TRUE(spring.graph.tape()->run(std::array{nothing}, values, parameter));
  EXPECT_EQ(values.front(), 3.0);
}

// A factor of 0 or 1 vanishes, and a negative one is subtracted: these are other formulas.
TEST(Open, ValuesThatGiveAnotherFormAreRefused) {
  Spring spring;
  const std::array open{spring.force(spring.k)};
  static_cast<void>(compile(spring.graph, open, {{0}, {}}, 1, Sides::given));
  std::vector<double> values;
  for (const double k : {0.0, 1.0, -2.0}) {
    std::size_t parameter = 7;
    EXPECT_FALSE(spring.graph.tape()->run(std::array{k}, values, parameter)) << k;
    EXPECT_EQ(parameter, 0U);
  }
}

TEST(Open, WhoNeedsThePlainNumberIsNamed) {
  Spring spring;
  spring.graph.tape()->reading("contact 'floor', gap", {3, 5});
  EXPECT_TRUE(spring.graph.tape()->fixed().empty());
  EXPECT_EQ((spring.graph.value(spring.k) * 2).fixed("an index"), 2 * 3.0000031);
  const std::vector<Tape::Fixed> fixed = spring.graph.tape()->fixed();
  ASSERT_EQ(fixed.size(), 1U);
  EXPECT_EQ(fixed[0].parameter, 0U);
  EXPECT_EQ(fixed[0].why, "an index");
  EXPECT_EQ(fixed[0].where, "contact 'floor', gap");
  std::vector<double> values;
  std::size_t parameter = 0;
  EXPECT_FALSE(spring.graph.tape()->run(std::array{3.0}, values, parameter));
}

// x + k and x + 5 are two formulas, and one where k is 5.
TEST(Open, FormulasThatBecomeOneAreSeen) {
  Spring spring;
  Graph& graph = spring.graph;
  static_cast<void>(graph.add(graph.variable(spring.x), spring.k));
  static_cast<void>(graph.add(graph.variable(spring.x), graph.constant(5)));
  const auto alike = graph.alike({});
  std::vector<double> values;
  std::size_t parameter = 0;
  ASSERT_TRUE(graph.tape()->run(std::array{4.0}, values, parameter));
  EXPECT_FALSE(graph.coincide(alike, values));
  ASSERT_TRUE(graph.tape()->run(std::array{5.0}, values, parameter));
  EXPECT_TRUE(graph.coincide(alike, values));
}

}  // namespace
}  // namespace judder::expr
