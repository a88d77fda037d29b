#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "count.hpp"
#include "expr_support.hpp"
#include "judder/expr/graph.hpp"

namespace judder::expr {
namespace {

/// "2 * (x)^1 * (y)^3": coefficient and factors in the order they come.
std::string words(Graph& graph, Node node) {
  const Factored factored = graph.factored(node);
  std::string out = graph.text(graph.constant(factored.coefficient));
  for (const Factor& f : factored.factors)
    out += " * (" + graph.text(f.base) + ")" +
           (f.exponent == 1 ? "" : "^" + graph.text(graph.constant(f.exponent)));
  return out;
}

class Factors : public ::testing::Test {
 protected:
  Graph graph;
  Node x = graph.variable(graph.declare("x"));
  Node y = graph.variable(graph.declare("y"));
  Node number(double value) { return graph.constant(value); }
  Node square(Node a) { return graph.power(a, graph.constant(2)); }
};

TEST_F(Factors, OfProductsAndPowers) {
  EXPECT_EQ(words(graph, x), "1 * (x)");
  EXPECT_EQ(words(graph, number(3)), "3");
  EXPECT_EQ(words(graph, graph.multiply(number(5), x)), "5 * (x)");
  EXPECT_EQ(words(graph, graph.multiply(graph.multiply(x, y), number(-2))), "-2 * (x) * (y)");
  EXPECT_EQ(words(graph, graph.power(x, number(3))), "1 * (x)^3");
  EXPECT_EQ(words(graph, graph.divide(x, graph.add(number(1), y))), "1 * (x) * (y + 1)^-1");
  EXPECT_EQ(words(graph, graph.add(x, y)), "1 * (x + y)");
}

TEST_F(Factors, OfDifferencesOfSquares) {
  EXPECT_EQ(words(graph, graph.subtract(number(4), square(x))), "1 * (2 - x) * (x + 2)");
  EXPECT_EQ(words(graph, graph.subtract(square(x), number(4))), "1 * (x - 2) * (x + 2)");
  EXPECT_EQ(words(graph, graph.subtract(square(x), square(y))), "1 * (x - y) * (x + y)");
  EXPECT_EQ(words(graph, graph.multiply(number(5), graph.subtract(number(1), square(x)))),
            "-5 * (x - 1) * (x + 1)");
  // Sums of squares and three terms have none.
  EXPECT_EQ(words(graph, graph.add(number(4), square(x))), "1 * (x^2 + 4)");
  EXPECT_EQ(words(graph, graph.subtract(graph.subtract(number(1), square(x)), square(y))),
            "1 * (1 - x^2 - y^2)");
  // x⁴ − 1 twice: (x − 1)(x + 1)(x² + 1).
  EXPECT_EQ(words(graph, graph.subtract(graph.power(x, number(4)), number(1))),
            "1 * (x - 1) * (x + 1) * (x^2 + 1)");
}

TEST_F(Factors, MultiplyBackToTheFormula) {
  std::mt19937_64 random(71);
  std::uniform_int_distribution<int> pick(0, 5);
  std::uniform_real_distribution<double> unit(-2, 2);
  for (int i = 0; i < count(10'000); ++i) {
    Node node = graph.constant(unit(random));
    for (int k = 0; k < 4; ++k) {
      const Node base = pick(random) < 3 ? graph.add(x, number(pick(random)))
                                         : graph.subtract(square(y), number(pick(random)));
      node = pick(random) == 0 ? graph.divide(node, graph.add(base, number(0.5)))
                               : graph.multiply(node, graph.power(base, number(1 + pick(random) % 3)));
    }
    const double values[] = {unit(random), unit(random)};
    const Factored factored = graph.factored(node);
    double product = factored.coefficient.raw();
    for (const Factor& f : factored.factors)
      product *= std::pow(graph.evaluate(f.base, values), f.exponent.raw());
    const double expected = graph.evaluate(node, values);
    EXPECT_NEAR(product, expected, 1e-9 * (1 + std::abs(expected)))
        << "seed 71, case " << i << ": " << graph.text(node);
    if (HasFailure()) break;
  }
}

TEST_F(Factors, KnowWhatIsPositiveEverywhere) {
  const auto call = [&](Function function, Node a) { return graph.call(function, std::span(&a, 1)); };
  EXPECT_TRUE(graph.is_positive(call(Function::exp, x)));
  EXPECT_TRUE(graph.is_positive(graph.add(number(1), square(x))));
  EXPECT_TRUE(graph.is_positive(graph.add(number(2), call(Function::cos, x))));
  EXPECT_TRUE(graph.is_positive(graph.divide(number(3), graph.add(number(1), square(y)))));
  EXPECT_FALSE(graph.is_positive(x));
  EXPECT_FALSE(graph.is_positive(square(x)));                                     // zero at zero
  EXPECT_FALSE(graph.is_positive(graph.add(number(1), call(Function::cos, x))));  // zero at π
  EXPECT_FALSE(graph.is_positive(graph.subtract(square(x), number(1))));
  EXPECT_FALSE(graph.is_positive(number(-1)));
}

}  // namespace
}  // namespace judder::expr
