#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

Interval range(const Program& p, const std::vector<Interval>& in) {
  std::vector<Interval> registers(static_cast<std::size_t>(p.registers()));
  Interval out;
  p.evaluate_interval(in.data(), &out, registers.data());
  return out;
}

TEST(Intervals, ContainTheValuesOfRandomFormulasAtSampledPoints) {
  // About 1e5 points in the short run, fifty times as many in the full one.
  for (int seed = 0; seed < count(50'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    const std::string text = formulas.make(4);
    Room r;
    const Node node = r.read(text);
    const Program p = r.program({node});
    std::vector<Interval> box;
    for (int i = 0; i < 4; ++i) {
      const double a = formulas.uniform(-2, 2);
      box.push_back({a, a + std::pow(10, formulas.uniform(-6, 0.3))});
    }
    const Interval out = range(p, box);
    ASSERT_FALSE(std::isnan(out.low) || std::isnan(out.high)) << "seed " << seed << ": " << text;
    for (int sample = 0; sample < 100; ++sample) {
      std::vector<double> at;
      for (const Interval& i : box)
        at.push_back(sample == 0 ? i.low : sample == 1 ? i.high : formulas.uniform(i.low, i.high));
      const double value = run(p, at)[0];
      if (std::isnan(value)) continue;
      EXPECT_TRUE(out.low <= value && value <= out.high)
          << "seed " << seed << ": " << text << "\n"
          << value << " outside [" << out.low << ", " << out.high << "]";
    }
  }
}

TEST(Intervals, EveryFunctionIsEnclosedAndNotMuchTooWide) {
  Room r;
  const char* const texts[] = {"sin(x)",      "cos(x)",      "tan(x)",
                               "asin(x)",     "acos(x)",     "atan(x)",
                               "sinh(x)",     "cosh(x)",     "tanh(x)",
                               "asinh(x)",    "acosh(x)",    "atanh(x)",
                               "exp(x)",      "log(x)",      "sqrt(x)",
                               "cbrt(x)",     "x^2",         "x^3",
                               "x^6",         "x^0.7",       "1/x",
                               "abs(x)",      "floor(x)",    "step(x)",
                               "atan2(x, y)", "atan2(y, x)", "hypot(x, y)",
                               "bump(x)",     "2^x",         "x^x",
                               "mod(x, 1)",   "x^-3",        "if(x > 0, x, 2)",
                               "sign(x)*x",   "bump(x)*x^2"};
  std::mt19937 random(11);
  for (const char* text : texts) {
    const Node node = r.read(text);
    const Node slope = r.graph.derivative(node, 1);
    const Program p = r.program({node}), q = r.program({slope});
    for (int trial = 0; trial < count(20'000); ++trial) {
      const auto uniform = [&](double a, double b) {
        return std::uniform_real_distribution<double>(a, b)(random);
      };
      const double a = uniform(-4, 4), width = std::pow(10, uniform(-8, 1));
      const std::vector<Interval> box{{0, 0}, {a, a + width}, {-0.5, 0.4}, {0, 0}};
      const Interval out = range(p, box), tangent = range(q, box);
      for (int sample = 0; sample < 5; ++sample) {
        const std::vector<double> at{0, uniform(a, a + width), uniform(-0.5, 0.4), 0};
        const double value = run(p, at)[0], rise = run(q, at)[0];
        EXPECT_TRUE(std::isnan(value) || (out.low <= value && value <= out.high))
            << text << " at " << at[1] << ": " << value << " outside [" << out.low << ", " << out.high << "]";
        EXPECT_TRUE(std::isnan(rise) || (tangent.low <= rise && rise <= tangent.high))
            << "slope of " << text << " at " << at[1] << ": " << rise << " outside [" << tangent.low << ", "
            << tangent.high << "]";
      }
    }
  }
  // Sharp where they can be.
  const auto one = [&](const char* text, Interval x) {
    return range(r.program({r.read(text)}), {{0, 0}, x, {0, 0}, {0, 0}});
  };
  EXPECT_EQ(one("sin(x)", {0, 3}).high, 1);
  EXPECT_NEAR(one("sin(x)", {0, 3}).low, 0, 1e-15);
  EXPECT_EQ(one("cos(x)", {-1, 2}).high, 1);
  EXPECT_NEAR(one("cos(x)", {3, 4}).low, -1, 1e-15);
  EXPECT_EQ(one("x^2", {-1, 2}).low, 0);
  EXPECT_NEAR(one("exp(x)", {0, 1}).high, std::exp(1), 1e-14);
}

TEST(Intervals, WhatHasNoValueIsTheWholeLine) {
  Room r;
  for (const char* text : {"1/x", "log(x)", "sqrt(x)", "asin(2*x)", "tan(3*x)", "x^-2", "x^0.5",
                           "x/(x^2 - x)", "log(x)*(x + 2) - log(x)"}) {
    const Interval out = range(r.program({r.read(text)}), {{0, 0}, {-1, 1}, {0, 0}, {0, 0}});
    EXPECT_EQ(out.low, -INFINITY) << text;
    EXPECT_EQ(out.high, INFINITY) << text;
  }
}

// exp(u) beyond the range of numbers is large, not unknown: 1/(1 + exp(u)) is small there.
TEST(Intervals, AnOverflowIsALargeNumber) {
  Room r;
  const auto one = [&](const char* text, Interval x) {
    return range(r.program({r.read(text)}), {{0, 0}, x, {0, 0}, {0, 0}});
  };
  EXPECT_GT(one("exp(x)", {800, 900}).low, 1e300);
  EXPECT_LT(one("-exp(x)", {800, 900}).high, -1e300);
  EXPECT_LT(one("1/(1 + exp(x))", {800, 900}).high, 1e-300);
  EXPECT_GE(one("1/(1 + exp(x))", {800, 900}).low, -1e-300);
}

TEST(Intervals, TellWhetherAPeakMayLieBetweenAFewPoints) {
  Room r;
  const auto gentle = [&](const char* text, Interval x) {
    const Program p = r.program({r.read(text)});
    std::vector<Interval> registers(static_cast<std::size_t>(p.registers()));
    const std::vector<Interval> in{{0, 0}, x, {0, 0}, {0, 0}};
    Interval out;
    bool is = false;
    p.evaluate_gentle(in.data(), &out, registers.data(), is);
    const Interval plain = range(p, in);
    EXPECT_EQ(out.low, plain.low);
    EXPECT_EQ(out.high, plain.high);
    return is;
  };
  for (const char* text : {"exp(-x^2)", "1/(1 + x^2)", "tanh(x)", "atan(x)", "cosh(x)", "x^6", "x^2.5",
                           "bump(x)", "log(x)", "2/x", "atan2(x, 2)", "sinh(x)", "tan(0.1*x)"}) {
    EXPECT_TRUE(gentle(text, {1, 1.01})) << text;
    EXPECT_TRUE(gentle(text, {1, 1.2})) << text;
  }
  for (const char* text : {"exp(-x^2)", "1/(1 + x^2)", "tanh(x)", "atan(x)", "cosh(x)", "x^6", "x^2.5",
                           "bump(x)", "log(x)", "2/x", "atan2(x, 2)", "sinh(x)", "tan(0.1*x)"})
    EXPECT_FALSE(gentle(text, {-9, 12})) << text;
  EXPECT_TRUE(gentle("x^3 + sin(x)*x - sqrt(4 + x^2)", {-9, 12}));  // no peaks
  EXPECT_TRUE(gentle("tanh(x)", {20, 900}));                        // as good as constant
  EXPECT_TRUE(gentle("bump(x)", {-9, -1}));
}

}  // namespace
}  // namespace judder::expr::test
