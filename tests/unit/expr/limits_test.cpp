// No text, however large or deep, may do worse than a message.
#include "expr_support.hpp"
#include "judder/core/work.hpp"

namespace judder::expr::test {
namespace {

std::string repeat(const std::string& s, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += s;
  return out;
}

TEST(Limits, LongTextsAreRefused) {
  Room r;
  EXPECT_NE(r.refuse(std::string(65537, ' ') + "x")[0].message.find("64 KiB"), std::string::npos);
}

TEST(Limits, DeepNestingIsRefused) {
  Room r;
  for (const std::string& text : {repeat("(", 30000) + "x" + repeat(")", 30000), repeat("-", 60000) + "x",
                                  repeat("sin(", 12000) + "x" + repeat(")", 12000), repeat("2^", 30000) + "x",
                                  repeat("not ", 15000) + "x < 1", repeat("x[", 30000)}) {
    EXPECT_NE(r.refuse(text)[0].message.find("200 levels"), std::string::npos) << text.substr(0, 20);
  }
  r.read(repeat("(", 190) + "x" + repeat(")", 190));
}

TEST(Limits, LongChainsAreRefusedAndModerateOnesAreNot) {
  Room r;
  EXPECT_EQ(r.value(repeat("1+", 900) + "1"), 901);
  EXPECT_NE(r.refuse(repeat("1+", 30000) + "1")[0].message.find("1000 operations"), std::string::npos);
  EXPECT_NE(r.refuse("x" + repeat("'", 60000))[0].message.find("1000 operations"), std::string::npos);
}

TEST(Limits, LargeExpansionsAreRefusedOnce) {
  Room r;
  const auto problems = r.refuse("sum(i = 1 to 1000000, sum(j = 1 to 1000000, x*i*j))");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].message.find("200 000"), std::string::npos);
}

// Each derivative of a root is longer than the one before by a factor.
TEST(Limits, DerivativesThatGrowAreRefused) {
  Room r;
  const auto problems = r.refuse("hypot(x, y, t)" + repeat("'", 60));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].message.find("200 000"), std::string::npos);
}

TEST(Limits, ASumOfManyTermsIsQuick) {
  Room r;
  EXPECT_EQ(r.value("sum(i = 1 to 40000, i)"), 800020000.0);
}

TEST(Limits, ChainsOfDefinitionsThatDoubleAreLinearWork) {
  Room r;
  std::vector<std::unique_ptr<Tree>> bodies;
  std::vector<Problem> problems;
  for (int i = 0; i < 60; ++i) {
    const std::string before = i == 0 ? "x" : "d" + std::to_string(i - 1);
    bodies.push_back(std::make_unique<Tree>(*parse("sin(" + before + ") + cos(" + before + ")", problems)));
    r.meanings["d" + std::to_string(i)] = Macro{bodies.back().get(), {}, ""};
  }
  const Node node = r.read("d59");
  EXPECT_LT(r.graph.size(), 1000U);
  EXPECT_LT(r.program({node, r.graph.derivative(node, 1)}).length(), 1000U);
  EXPECT_FALSE(r.graph.text(node).empty());  // would have 2^60 characters in full
}

TEST(Limits, ManyTextsOfOneGraphAreMadeOnce) {
  Room r;
  Work work;
  r.graph.limit(&work);
  Node node = r.graph.add(r.graph.variable(1), r.graph.variable(2));
  std::vector<Node> all{node};
  for (int i = 0; i < 300; ++i) {
    node = r.graph.multiply(r.graph.step(node, ""), node);
    all.push_back(node);
  }
  Texts text(r.graph);
  const double before = work.spent();
  for (const Node each : all) EXPECT_FALSE(text(each).empty());
  EXPECT_LT(work.spent() - before, 2e6);  // one after the other they are 300 times as many
  r.graph.limit(nullptr);
}

// Each level doubles the conditions below it.
TEST(Limits, ConditionsThatDoubleAreLinearWork) {
  Room r;
  const Node x = r.graph.variable(1);
  const auto above = [&](double level) { return r.graph.less(r.graph.constant(level), x, false, "", ""); };
  Node condition = above(0);
  for (int i = 1; i < 60; ++i) {
    condition = r.graph.either(r.graph.both(condition, above(i)),
                               r.graph.negation(r.graph.both(condition, above(-i))));
  }
  EXPECT_FALSE(r.graph.text(r.graph.select(condition, x, r.graph.constant(1))).empty());
}

// Nested squares: the number of factors doubles with each, and looking for equal ones must not be as much work as their square.
TEST(Limits, FactorsThatDoubleAreCounted) {
  Room r;
  Work work;
  r.graph.limit(&work);
  Node node = r.graph.variable(1);
  for (int i = 1; i < 60; ++i) {
    const Node square = r.graph.multiply(node, node);
    node = r.graph.subtract(square, r.graph.constant(i * i));
  }
  EXPECT_THROW(static_cast<void>(r.graph.factored(node)), WorkStopped);
  r.graph.limit(nullptr);
}

TEST(Limits, DeepGraphsNeedNoStack) {
  Room r;
  Node node = r.graph.variable(1);
  for (int i = 0; i < 100'000; ++i) {
    const Node shifted = r.graph.add(node, r.graph.constant(0.001));
    const std::vector<Node> argument{shifted};
    node = r.graph.call(Function::sin, argument);
  }
  const Node at_half =
      r.graph.substitute(node, std::vector<Variable>{1}, std::vector<Node>{r.graph.constant(0.5)});
  EXPECT_TRUE(r.graph.is_constant(at_half));
  EXPECT_EQ(r.graph.value(at_half), r.graph.evaluate(node, std::vector<double>{0, 0.5, 0, 0}));
  EXPECT_FALSE(r.graph.latex(node).empty());
}

}  // namespace
}  // namespace judder::expr::test
