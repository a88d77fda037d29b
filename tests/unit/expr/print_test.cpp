#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

TEST(Print, TextParsesBackToTheSameValue) {
  for (int seed = 0; seed < count(20'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    const std::string text = formulas.make(4);
    Room r;
    Node node = r.read(text);
    for (int order = 0; order < 2; ++order) {
      const std::string printed = r.graph.text(node);
      if (printed.size() > 60000 || printed.find("…") != std::string::npos) break;
      std::vector<Problem> problems;
      const std::optional<Tree> tree = parse(printed, problems);
      if (!tree) {
        // Derivatives may nest deeper than the language allows.
        EXPECT_NE(problems[0].message.find("200 levels"), std::string::npos)
            << "seed " << seed << ": " << printed << "\n"
            << problems[0].message;
        break;
      }
      const Node back = r.read(printed);
      const std::vector<double> at = formulas.point();
      const double a = r.graph.evaluate(node, at), b = r.graph.evaluate(back, at);
      EXPECT_TRUE(near_relative(a, b, 1e-10)) << "seed " << seed << ": " << text << "\n"
                                              << printed << "\n"
                                              << a << " against " << b;
      node = r.graph.derivative(node, 1);
    }
  }
}

TEST(Print, FormulasLookAsWritten) {
  Room r;
  for (const char* text : {"x - y",
                           "1.5*cos(2*t + 0.1) - 0.3*x^3 + 0.01*t*x",
                           "x/3",
                           "2/y",
                           "x/(y*z)",
                           "-x",
                           "-x^2",
                           "z*(x + y)",
                           "abs(x)",
                           "max(x, y)",
                           "if(x > 0, y, z)",
                           "if(x >= 0 and y > 0, 1, 2)",
                           "if(x > 0 or y > 0, 1, 2)",
                           "sign(x)",
                           "step(x - 1)",
                           "floor(2*x)",
                           "mod(x, 3)",
                           "atan2(y, x)",
                           "bump(t)",
                           "2^x",
                           "x^y",
                           "(x + 1)^0.5",
                           "1 - x",
                           "x^(-y)",
                           "hypot(x, y, z)",
                           "100*(x - y)",
                           "min(x, 1)",
                           "1e-20*x"}) {
    EXPECT_EQ(r.graph.text(r.read(text)), text);
  }
}

TEST(Print, NonSmoothDerivativesParseBack) {
  Room r;
  const TableId id = r.graph.add_table("f", {0, 1, 3}, {2, 4, 0}, TableShape::linear, TableOutside::hold);
  r.meanings["f"] = Lookup{id};
  for (const char* text :
       {"f(x)*x", "bump(x)", "atan2(x, y)*x", "mod(x^2, 3)", "if(not (x > 0 and y > 0), x^2, y*x)",
        "abs(x*y)^2", "if(x > 0, abs(x - y), max(x, y))", "floor(x)*x^2"}) {
    Node node = r.read(text);
    for (int order = 0; order < 3; ++order) {
      const Node back = r.read(r.graph.text(node));
      for (const double x : {-0.7, 0.2, 0.6, 2.5}) {
        const std::vector<double> at{0.1, x, 0.4, 1};
        EXPECT_TRUE(near_relative(r.graph.evaluate(node, at), r.graph.evaluate(back, at), 1e-12))
            << r.graph.text(node) << " at " << x;
      }
      node = r.graph.derivative(node, 1);
    }
  }
}

/// Braces, \left and \right, \begin and \end in pairs; no double exponents.
void expect_well_formed(const std::string& s) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto starts = [&](const char* word) { return s.compare(i, std::string(word).size(), word) == 0; };
    const auto close = [&](const std::string& wanted) {
      ASSERT_FALSE(open.empty()) << s;
      EXPECT_EQ(open.back(), wanted) << s;
      open.pop_back();
    };
    if (s[i] == '{' && (i == 0 || s[i - 1] != '\\')) open.emplace_back("{");
    if (s[i] == '}' && (i == 0 || s[i - 1] != '\\')) close("{");
    if (starts("\\left") && !starts("\\leftarrow")) open.emplace_back("left");
    if (starts("\\right")) close("left");
    if (starts("\\begin{cases}")) open.emplace_back("begin");
    if (starts("\\end{cases}")) close("begin");
    EXPECT_FALSE(starts("^^")) << s;
  }
  EXPECT_TRUE(open.empty()) << s;
}

TEST(Print, LatexIsWellFormed) {
  for (int seed = 0; seed < count(10'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    Room r;
    expect_well_formed(r.graph.latex(r.read(formulas.make(4))));
  }
  Room r;
  r.declare("phi1'");
  r.declare("x[3]'");
  r.declare("mu_s");
  const auto latex = [&](const char* name) { return r.graph.latex(r.graph.variable(r.variables[name])); };
  EXPECT_EQ(latex("phi1'"), "\\dot{\\varphi_{\\mathrm{1}}}");
  EXPECT_EQ(latex("x[3]'"), "{\\dot{x}}_{3}");
  EXPECT_EQ(latex("mu_s"), "\\mu_{\\mathrm{s}}");
  for (const char* text : {"x/(y + 1)", "sqrt(x^2 + 1)", "if(x > 0, 1, 2)", "abs(x)^2", "floor(x)", "1e-5*x",
                           "(x^2)^0.5", "exp(-x)^3"}) {
    expect_well_formed(r.graph.latex(r.read(text)));
  }
  EXPECT_EQ(r.graph.latex(r.read("x/(y + 1)")), "\\frac{x}{y + 1}");
}

/// Elements in pairs, no bare text outside them, no stray markup.
void expect_markup(const std::string& s) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < s.size();) {
    if (s[i] != '<') {
      ASSERT_FALSE(open.empty()) << s;
      EXPECT_TRUE(open.back().size() <= 3 || open.back() == "mtext")
          << "text in <" << open.back() << ">: " << s;
      EXPECT_NE(s[i], '>') << s;
      ++i;
      continue;
    }
    const std::size_t end = s.find('>', i);
    ASSERT_NE(end, std::string::npos) << s;
    std::string tag = s.substr(i + 1, end - i - 1);
    i = end + 1;
    if (!tag.empty() && tag.back() == '/') continue;
    if (!tag.empty() && tag.front() == '/') {
      ASSERT_FALSE(open.empty()) << s;
      EXPECT_EQ(open.back(), tag.substr(1)) << s;
      open.pop_back();
      continue;
    }
    open.push_back(tag.substr(0, tag.find(' ')));
  }
  EXPECT_TRUE(open.empty()) << s;
}

TEST(Print, MathmlIsWellFormed) {
  for (int seed = 0; seed < count(10'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    Room r;
    const Node node = r.read(formulas.make(4));
    expect_markup(Texts(r.graph, 1 << 16, Notation::mathml)(node));
  }
  Room r;
  const auto mathml = [&](const char* text) {
    return Texts(r.graph, 1 << 16, Notation::mathml)(r.read(text));
  };
  EXPECT_EQ(mathml("x/(y + 1)"),
            "<mfrac><mrow><mi>x</mi></mrow><mrow><mi>y</mi><mo>+</mo><mn>1</mn></mrow></mfrac>");
  EXPECT_EQ(mathml("x^2 - 3"),
            "<msup><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></msup><mo>−</mo><mn>3</mn>");
  for (const char* text :
       {"if(x > 0 and y < 1, 1, 2)", "hypot(x, y, z)", "cbrt(x)", "floor(x)", "1e-5*x", "-(x*y)"})
    expect_markup(mathml(text));
  EXPECT_EQ(variable_in(Notation::mathml, "x[3]'"),
            "<msub><mover><mi>x</mi><mo>˙</mo></mover><mi>3</mi></msub>");
  EXPECT_EQ(variable_in(Notation::mathml, "mu_s"), "<msub><mi>μ</mi><mi>s</mi></msub>");
  EXPECT_EQ(variable_in(Notation::mathml, "a<b"), "<mtext>a&lt;b</mtext>");
}

}  // namespace
}  // namespace judder::expr::test
