#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

std::string again(const std::string& text) {
  std::vector<Problem> problems;
  const std::optional<Tree> tree = parse(text, problems);
  return tree ? to_text(*tree) : "problem: " + problems.at(0).message;
}

TEST(Parse, OperatorsBindAsDocumented) {
  Room r;
  EXPECT_EQ(r.value("-2^2"), -4);
  EXPECT_EQ(r.value("2^3^2"), 512);
  EXPECT_EQ(r.value("2^-1"), 0.5);
  EXPECT_EQ(r.value("8/4/2"), 1);
  EXPECT_EQ(r.value("8 - 4 - 2"), 2);
  EXPECT_EQ(r.value("2*-3"), -6);
  EXPECT_EQ(r.value("if(not 1 < 2 or 3 < 4 and 5 < 6, 1, 0)"), 1);
  EXPECT_EQ(r.value("if(not (1 < 2 or 3 < 4) and 5 < 6, 1, 0)"), 0);
  EXPECT_EQ(r.value("1 + 2*3 - 4/2^2"), 6);
}

TEST(Parse, NumbersAreReadAsWritten) {
  Room r;
  EXPECT_EQ(r.value("1e3"), 1000);
  EXPECT_EQ(r.value("1.5E-2"), 0.015);
  EXPECT_EQ(r.value(".5"), 0.5);
  EXPECT_EQ(r.value("0.1"), 0.1);
}

TEST(Parse, TreesPrintInCanonicalSpacingAndParseBack) {
  for (const char* text :
       {"a + b*c", "(a + b)*c", "-a^2", "(-a)^2", "a^b^c", "(a^b)^c", "a - (b - c)", "a/(b*c)",
        "x[i, j + 1]'", "px(2*i - 3)' - ground'", "(x - r*cos(phi))'", "sum(i = 1 to n - 1, x[i]^2)",
        "if(a < b and not (c >= d or e != f), 1, 2)", "2^-x", "x''", "normal(pair[1, 2])", "energy()"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("a+b *c"), "a + b*c");
  EXPECT_EQ(again("sin (x)"), "sin(x)");
  EXPECT_EQ(again("((a))"), "a");
}

struct Case {
  const char* text;
  std::uint32_t begin, end;
  const char* message;
  const char* help;
};

TEST(Parse, SaysWhatIsWrongAndWhere) {
  const Case cases[] = {
      {"", 0, 1, "the expression is empty", ""},
      {"2x", 1, 2, "an operator is missing before 'x'", "2*x"},
      {"x y", 2, 3, "an operator is missing before 'y'", "multiplication"},
      {"(x)(y)", 3, 4, "an operator is missing before '('", "multiplication"},
      {"sin x", 4, 5, "an operator is missing before 'x'", "sin(x)"},
      {"a < b < c", 6, 7, "comparisons cannot be chained", "a < b and b < c"},
      {"1e400", 0, 5, "the number 1e400 is too large", ""},
      {"x ** 2", 2, 4, "'**' is not an operator", "x^2"},
      {"a && b", 2, 4, "'&&' is not an operator", "and"},
      {"t = 5", 2, 3, "'=' is not an operator", "=="},
      {"x % 2", 2, 3, "'%' is not an operator", "mod(a, b)"},
      {"1 +", 3, 4, "the expression ends too early", ""},
      {"(x", 2, 3, "')' is missing at the end", ""},
      {"x)", 1, 2, "')' does not fit here", "no opening bracket"},
      {"+x", 0, 1, "'+' needs something on its left", ""},
      {"x − y", 2, 5, "'−' is not an operator", "ASCII minus"},
      {"größe", 2, 4, "'ö' cannot stand in an expression", "ASCII"},
      {"1, 2", 1, 2, "',' does not fit here", ""},
      {"sum(i, 2)", 5, 6, "sum needs a range", "sum(i = 1 to n"},
      {"sum(i = 1, 2)", 9, 10, "'to' is missing", ""},
      {"and", 0, 3, "'and' stands where a value is needed", ""},
      {"x[1", 3, 4, "']' is missing at the end", ""},
      {"sin(1;2)", 5, 6, "';' does not fit here", ""},
  };
  for (const Case& c : cases) {
    std::vector<Problem> problems;
    EXPECT_FALSE(parse(c.text, problems).has_value()) << c.text;
    ASSERT_EQ(problems.size(), 1U) << c.text;
    EXPECT_EQ(problems[0].begin, c.begin) << c.text;
    EXPECT_EQ(problems[0].end, c.end) << c.text;
    EXPECT_NE(problems[0].message.find(c.message), std::string::npos)
        << c.text << ": " << problems[0].message;
    EXPECT_NE(problems[0].help.find(c.help), std::string::npos) << c.text << ": " << problems[0].help;
  }
}

TEST(Parse, RangesAndSignatures) {
  std::vector<Problem> problems;
  const auto ranges = parse_ranges("i = 1 to n, j = i + 1 to n", problems);
  ASSERT_TRUE(ranges.has_value());
  ASSERT_EQ(ranges->size(), 2U);
  EXPECT_EQ((*ranges)[1].index, "j");
  EXPECT_EQ(to_text((*ranges)[1].from), "i + 1");
  EXPECT_FALSE(parse_ranges("i = 1", problems).has_value());
  EXPECT_FALSE(parse_ranges("1 to 2", problems).has_value());

  const auto plain = parse_signature("edge", problems);
  ASSERT_TRUE(plain.has_value());
  EXPECT_FALSE(plain->is_function);
  const auto function = parse_signature("d(i, j)", problems);
  ASSERT_TRUE(function.has_value());
  EXPECT_EQ(function->name, "d");
  EXPECT_EQ(function->arguments, (std::vector<std::string>{"i", "j"}));
  EXPECT_FALSE(parse_signature("d(i, i)", problems).has_value());
  EXPECT_FALSE(parse_signature("d(1)", problems).has_value());
}

}  // namespace
}  // namespace judder::expr::test
