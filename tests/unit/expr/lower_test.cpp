#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

class Lower : public ::testing::Test {
 protected:
  void define(const std::string& signature, const std::string& body) {
    std::vector<Problem> problems;
    const auto s = parse_signature(signature, problems);
    bodies_.push_back(std::make_unique<Tree>(*parse(body, problems)));
    room.meanings[s->name] = Macro{bodies_.back().get(), s->arguments, "definitions." + s->name};
  }
  void expect_problem(const std::string& text, std::uint32_t begin, std::uint32_t end,
                      const std::string& message, const std::string& help = "") {
    const std::vector<Problem> problems = room.refuse(text);
    ASSERT_FALSE(problems.empty()) << text;
    EXPECT_EQ(problems[0].begin, begin) << text << ": " << problems[0].message;
    EXPECT_EQ(problems[0].end, end) << text << ": " << problems[0].message;
    EXPECT_NE(problems[0].message.find(message), std::string::npos) << text << ": " << problems[0].message;
    EXPECT_NE(problems[0].help.find(help), std::string::npos) << text << ": " << problems[0].help;
  }
  Room room;

 private:
  std::vector<std::unique_ptr<Tree>> bodies_;
};

TEST_F(Lower, DefinitionsAreReplacedByTheirBodies) {
  define("ground", "0.02*sin(10*t)");
  define("px(s)", "x + s*cos(t)");
  EXPECT_EQ(room.read("px(2) - ground"), room.read("x + 2*cos(t) - 0.02*sin(10*t)"));
  EXPECT_EQ(room.read("ground'"), room.read("0.2*cos(10*t)"));
  EXPECT_EQ(room.read("px(1)'"), room.read("y - sin(t)"));
}

TEST_F(Lower, ArgumentsMayBeIndicesAndHideOtherNames) {
  room.meanings["a"] = Family{{3}, [this](std::span<const int> i) -> std::optional<Node> {
                                if (i[0] < 1 || i[0] > 3) return std::nullopt;
                                return room.graph.constant(10.0 * i[0]);
                              }};
  define("pick(i)", "a[i] + a[i + 1]");
  define("f(x)", "x^2 + y");
  EXPECT_EQ(room.value("pick(2)"), 50);
  EXPECT_EQ(room.value("f(3)"), 9 - 1.2);
  EXPECT_EQ(room.value("sum(i = 1 to 3, a[i])"), 60);
  EXPECT_EQ(room.value("sum(i = 1 to 0, a[i])"), 0);
  expect_problem("pick(3)", 0, 7, "in definition 'pick': there is no a[4]", "1 to 3");
  expect_problem("a[1.5]", 2, 5, "must be a whole number, but is 1.5");
  expect_problem("a[x]", 2, 3, "must be known before the run");
  expect_problem("a", 0, 1, "is a list and needs an index");
  expect_problem("a[1, 2]", 0, 7, "there is no a[1, 2]");
}

TEST_F(Lower, NamesAreCheckedWithSuggestions) {
  room.declare("ground_speed");
  expect_problem("2*grond_speed", 2, 13, "unknown name 'grond_speed'", "did you mean 'ground_speed'?");
  expect_problem("x + sinn(y)", 4, 11, "unknown function 'sinn'", "did you mean 'sin'?");
  expect_problem("x(3)", 0, 4, "'x' is a value, not a function", "x*(");
  expect_problem("2*sin", 2, 5, "unknown name 'sin'", "sin(");
  expect_problem("sin(1, 2)", 0, 9, "sin needs 1 argument, not 2");
  expect_problem("min(1)", 0, 6, "min needs 2 or more arguments, not 1");
  define("f(a, b)", "a + b");
  expect_problem("f(1)", 0, 4, "f needs 2 arguments, not 1");
  expect_problem("f", 0, 1, "is a function and needs its arguments", "f(a, b)");
  room.meanings["u"] = Forbidden{"velocities are not allowed in a gap", "use positions"};
  expect_problem("1 + u", 4, 5, "velocities are not allowed in a gap", "use positions");
}

TEST_F(Lower, AllProblemsOfOneTextAreReported) {
  EXPECT_EQ(room.refuse("unknown1 + sin(unknown2)*unknown3 - max(unknown4, 1/0)").size(), 5U);
}

TEST_F(Lower, WhatIsNoNumberIsAnErrorNotAValue) {
  expect_problem("x/0", 2, 3, "division by zero");
  expect_problem("1/(x - x)", 2, 9, "division by zero");
  expect_problem("x*1/(2 - 2)", 4, 11, "division by zero");
  expect_problem("0^-1", 0, 4, "division by zero");
  expect_problem("mod(x, 0)", 7, 8, "division by zero");
  expect_problem("log(-1)", 0, 7, "log(-1) is not a finite number");
  expect_problem("log(0)", 0, 6, "not a finite number");
  expect_problem("1 + sqrt(-2)", 4, 12, "sqrt(-2) is not a finite number");
  expect_problem("(-2)^0.5", 0, 8, "a negative number has no power 0.5");
  expect_problem("1e300*1e300", 0, 11, "too large");
  expect_problem("x*1e300*1e300", 0, 13, "too large");
  expect_problem("asin(2)", 0, 7, "not a finite number");
}

TEST_F(Lower, BranchesThatAreNotTakenNeedNotMakeSense) {
  EXPECT_EQ(room.value("if(1 == 1, 0, 0.2/(1 - 1))"), 0);
  EXPECT_EQ(room.value("if(1 > 1 and 1/(1 - 1) > 0, 1, 2)"), 2);
  EXPECT_EQ(room.value("if(1 == 1 or 1/0 > 0, 1, 2)"), 1);
}

TEST_F(Lower, ConditionsAndNumbersAreKeptApart) {
  expect_problem("1 + (x < y)", 4, 11, "a condition stands where a number is needed", "if(");
  expect_problem("if(x, 1, 2)", 3, 4, "a number stands where a condition is needed");
  expect_problem("x and y < 1", 0, 1, "a number stands where a condition is needed");
  expect_problem("if(x == y, 1, 2)", 3, 9, "== and != compare only what is known before the run");
  define("edge", "x > 2*y");
  EXPECT_EQ(room.value("if(edge and x > 0, 1, 2)"), 1);
  room.options.condition = true;
  room.read("x < 1 or edge");
  expect_problem("x + 1", 0, 5, "a number stands where a condition is needed");
}

TEST_F(Lower, DefinitionsThatUseThemselvesAreNamed) {
  define("f(a)", "a + g(a)");
  define("g(a)", "f(a - 1)");
  expect_problem("1 + f(2)", 4, 8, "definition 'f' uses itself");
}

TEST_F(Lower, IndicesMustNotHideNames) {
  expect_problem("sum(x = 1 to 3, x)", 0, 18, "the index 'x' is already the name of something else");
  expect_problem("sum(i = 1 to 3, sum(i = 1 to 2, i))", 16, 34, "the index 'i' is already");
}

TEST_F(Lower, TablesAreCalled) {
  const TableId id =
      room.graph.add_table("load", {0, 1, 3}, {2, 4, 0}, TableShape::linear, TableOutside::error);
  room.meanings["load"] = Lookup{id};
  EXPECT_EQ(room.value("load(0.5)"), 3);
  EXPECT_EQ(room.value("load(3)"), 0);
  EXPECT_EQ(room.value("load(z)"), 2);
  expect_problem("load(4)", 0, 7, "the argument 4 lies outside the table 'load'");
  expect_problem("load", 0, 4, "'load' is a table");
}

TEST_F(Lower, IntegersAreWholeNumbersKnownBeforeTheRun) {
  std::vector<Problem> problems;
  const auto whole = [&](const char* text) {
    return lower_integer(*parse(text, problems), room.graph, room, {}, problems);
  };
  EXPECT_EQ(whole("2*3 - 1"), 5);
  EXPECT_EQ(whole("0.1*30"), 3);  // 3.0000000000000004
  EXPECT_EQ(whole("7/2"), std::nullopt);
  EXPECT_EQ(whole("x"), std::nullopt);
  EXPECT_EQ(problems.size(), 2U);
}

TEST_F(Lower, SpecialFunctionsSeeNumbersForLocalIndices) {
  struct Elements : Room {
    std::optional<std::variant<Node, Forbidden>> function(std::string_view name,
                                                          std::span<const Tree> arguments) override {
      if (name != "normal") return std::nullopt;
      seen = to_text(arguments[0]);
      return graph.constant(7);
    }
    std::string seen;
  } elements;
  elements.options.indices = {{"k", 3}};
  EXPECT_EQ(elements.value("normal(pair[k, 2]) + 1"), 8);
  EXPECT_EQ(elements.seen, "pair[3, 2]");
}

}  // namespace
}  // namespace judder::expr::test
