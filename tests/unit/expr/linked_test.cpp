// Affine expressions as they were written: what becomes a link, that the form has the value of the formula, and that brackets keep their bits.
#include "judder/expr/linked.hpp"

#include "expr_support.hpp"

namespace judder::expr {
namespace {

using test::Room;

const std::vector<Variable> kVariables{1, 2};  // x, y; z counts as a coefficient

std::optional<LinkedForm> form_of(Room& room, const std::string& text) {
  return linked_form(room.graph, room.read(text), kVariables, 0);
}

double link_value(const Graph& graph, const Link& link, const std::vector<double>& at) {
  double sum = 0;
  for (const auto& [variable, factor] : link.terms) sum += factor * at[variable + 1];
  return sum + graph.evaluate(link.offset, at);
}

TEST(LinkedForm, HasTheValueOfTheFormula) {
  const std::vector<std::string> texts{
      "3*x - 2*y + 5",
      "z*(x - y) + exp(z)*y - z^2",
      "2*(x - 3*(y - x/7)) + t",
      "-2000*(x - 0.1) - 2*y - 9.81",
      "5*(x - y - 0.3)*z + sin(t)*z",
      "abs(x - 1)",
      "max(x, 2*y) - min(t, 1)",
      "if(x > y, 3*(x - 2) - t, 2*y + sin(t))",
      "sign(x - 1)*(x + y) + step(t - 0.1)*t^2",
      "if(z > 0, log(z)*(x - log(z)), y)",
  };
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (const std::string& text : texts) {
    Room room;
    const auto form = form_of(room, text);
    ASSERT_TRUE(form.has_value()) << text;
    const Node node = room.read(text);
    for (int trial = 0; trial < 50; ++trial) {
      const std::vector<double> at{uniform(random), uniform(random), uniform(random),
                                   0.1 + std::abs(uniform(random))};
      double sum = room.graph.evaluate(form->rest, at);
      for (const auto& [link, factor] : form->parts)
        sum += room.graph.evaluate(factor, at) * link_value(room.graph, link, at);
      const double expected = room.graph.evaluate(node, at);
      EXPECT_NEAR(sum, expected, 1e-13 * (1 + std::abs(expected)) * 10)
          << text << " at t=" << at[0] << " x=" << at[1] << " y=" << at[2] << " z=" << at[3];
    }
  }
}

TEST(LinkedForm, ABracketKeepsItsOffset) {
  Room room;
  const auto form = form_of(room, "-2000*(x - 0.1) - 2*y - 9.81");
  ASSERT_TRUE(form.has_value());
  ASSERT_EQ(form->parts.size(), 2u);
  EXPECT_EQ(room.graph.text(form->rest), "-9.81");
  // Near the free length the difference is exact, so that two neighbouring numbers give forces that differ by exactly the stiffness.
  for (const auto& [link, factor] : form->parts) {
    if (link.terms[0].first != 0) continue;
    const double x = std::nextafter(0.1, 1.0);
    EXPECT_EQ(link_value(room.graph, link, {0, 0.1, 0, 0}), 0);
    EXPECT_EQ(link_value(room.graph, link, {0, x, 0, 0}), x - 0.1);
    EXPECT_EQ(room.graph.value(factor), -2000);
  }
}

TEST(LinkedForm, EqualBracketsAreOneLink) {
  Room room;
  const auto form = form_of(room, "3*(x - y) + z*(x - y)");
  ASSERT_TRUE(form.has_value());
  ASSERT_EQ(form->parts.size(), 1u);
  EXPECT_EQ(room.graph.evaluate(form->parts[0].second, std::vector<double>{0, 0, 0, 4}), 7);
}

// What stands in the branch that is not taken may have no value.
TEST(LinkedForm, BranchesThatAreNotTakenCountNothing) {
  Room room;
  const auto form = form_of(room, "if(z > 0, log(z)*x + log(z), y)");
  ASSERT_TRUE(form.has_value());
  const std::vector<double> at{0, 1, 2, -1};
  EXPECT_EQ(room.graph.evaluate(form->rest, at), 0);
  for (const auto& [link, factor] : form->parts)
    EXPECT_EQ(room.graph.evaluate(factor, at), link.terms[0].first == 1 ? 1 : 0);
}

TEST(LinkedForm, RefusesWhatIsNotAffineOrVariesWithTime) {
  for (const char* text :
       {"x*y", "x^2", "sin(x)", "t*x", "sin(t)*(x - 1)", "x/(1 + y)", "if(t*x > 0, x, x*y)"}) {
    Room room;
    EXPECT_FALSE(form_of(room, text).has_value()) << text;
  }
}

}  // namespace
}  // namespace judder::expr
