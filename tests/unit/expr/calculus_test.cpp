// Derivatives against an evaluator with complex numbers (complex step), against differences, and against Taylor coefficients.
#include <complex>

#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

using Complex = std::complex<double>;

/// Evaluates a syntax tree in complex numbers; shares nothing with the graph.
Complex evaluate(const Tree& tree, const std::map<std::string, Complex>& at) {
  const auto child = [&](std::size_t i) { return evaluate(tree.children[i], at); };
  const Complex one(1);
  switch (tree.kind) {
    case Kind::number:
      return tree.value;
    case Kind::name:
      return at.at(tree.text);
    case Kind::negate:
      return -child(0);
    case Kind::add:
      return child(0) + child(1);
    case Kind::subtract:
      return child(0) - child(1);
    case Kind::multiply:
      return child(0) * child(1);
    case Kind::divide:
      return child(0) / child(1);
    case Kind::power:
      return std::pow(child(0), static_cast<int>(std::lround(tree.children[1].value)));
    case Kind::call: {
      const Complex a = child(0);
      const std::string& f = tree.text;
      if (f == "sin") return std::sin(a);
      if (f == "cos") return std::cos(a);
      if (f == "tan") return std::sin(a) / std::cos(a);
      if (f == "asin") return Complex(std::asin(a.real()), a.imag() / std::sqrt(1 - a.real() * a.real()));
      if (f == "acos") return Complex(std::acos(a.real()), -a.imag() / std::sqrt(1 - a.real() * a.real()));
      if (f == "atan") return Complex(std::atan(a.real()), a.imag() / (1 + a.real() * a.real()));
      if (f == "sinh") return std::sinh(a);
      if (f == "cosh") return std::cosh(a);
      if (f == "tanh") return Complex(std::tanh(a.real()), a.imag() / std::pow(std::cosh(a.real()), 2));
      if (f == "asinh") return Complex(std::asinh(a.real()), a.imag() / std::hypot(1, a.real()));
      if (f == "atanh") return Complex(std::atanh(a.real()), a.imag() / (1 - a.real() * a.real()));
      if (f == "exp") return std::exp(a);
      if (f == "log") return std::log(a);
      if (f == "sqrt") return std::sqrt(a);
      ADD_FAILURE() << "no complex " << f;
      return one;
    }
    default:
      ADD_FAILURE() << "no complex operator";
      return one;
  }
}

TEST(Derivative, AgreesWithTheComplexStep) {
  for (int seed = 0; seed < count(20'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), false);
    const std::string text = formulas.make(4);
    const std::vector<double> at = formulas.point();
    std::vector<Problem> problems;
    const Tree tree = *parse(text, problems);
    Room room;
    const Node node = room.read(text);
    const char* const names[] = {"t", "x", "y", "z"};
    for (Variable v = 0; v < 4; ++v) {
      std::map<std::string, Complex> shifted;
      for (std::size_t i = 0; i < 4; ++i) shifted[names[i]] = at[i];
      shifted[names[v]] += Complex(0, 1e-30);
      const double oracle = evaluate(tree, shifted).imag() / 1e-30;
      const double ours = room.graph.evaluate(room.graph.derivative(node, v), at);
      if (!std::isfinite(oracle) || std::abs(oracle) > 1e9) continue;
      EXPECT_TRUE(near_relative(ours, oracle, 1e-7))
          << "seed " << seed << ", d/d" << names[v] << " of " << text << "\n"
          << ours << " against " << oracle;
    }
  }
}

TEST(Derivative, AgreesWithCentralDifferencesForEveryFunction) {
  Room r;
  for (const char* text : {"sin(x)",
                           "cos(x)",
                           "tan(x)",
                           "asin(0.5*x)",
                           "acos(0.5*x)",
                           "atan(x)",
                           "sinh(x)",
                           "cosh(x)",
                           "tanh(x)",
                           "asinh(x)",
                           "acosh(x + 2)",
                           "atanh(0.5*x)",
                           "exp(x)",
                           "log(x)",
                           "sqrt(x)",
                           "cbrt(x)",
                           "atan2(x, y)",
                           "atan2(y, x)",
                           "hypot(x, y, z)",
                           "x^x",
                           "2^x",
                           "x^y",
                           "x^2.5",
                           "abs(x - 3)*x",
                           "min(x, y)*x",
                           "max(x, y)*x",
                           "mod(x, 0.3)*x",
                           "bump(x)",
                           "if(x > y, x^2, y)",
                           "floor(x)*x",
                           "bump(x)*bump(x/2)",
                           "sign(x)*x^3"}) {
    const Node node = r.read(text);
    for (double at : {0.21, 0.65, 0.93}) {
      const auto value = [&](double x) {
        return r.graph.evaluate(node, std::vector<double>{0.3, x, -1.2, 2.0});
      };
      const double h = 1e-5;
      const double difference =
          (8 * (value(at + h) - value(at - h)) - (value(at + 2 * h) - value(at - 2 * h))) / (12 * h);
      const double ours =
          r.graph.evaluate(r.graph.derivative(node, 1), std::vector<double>{0.3, at, -1.2, 2.0});
      EXPECT_TRUE(near_relative(ours, difference, 1e-8))
          << text << " at " << at << ": " << ours << " against " << difference;
    }
  }
}

TEST(Derivative, MixedDerivativesCommute) {
  for (int seed = 0; seed < count(5'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    const std::string text = formulas.make(3);
    Room r;
    const Node node = r.read(text);
    const Node xy = r.graph.derivative(r.graph.derivative(node, 1), 2);
    const Node yx = r.graph.derivative(r.graph.derivative(node, 2), 1);
    const std::vector<double> at = formulas.point();
    const double a = r.graph.evaluate(xy, at), b = r.graph.evaluate(yx, at);
    if (!std::isfinite(a) || std::abs(a) > 1e9) continue;
    EXPECT_TRUE(near_relative(a, b, 1e-6)) << "seed " << seed << ": " << text << ": " << a << " and " << b;
  }
}

TEST(Taylor, CoefficientsAreRepeatedDerivatives) {
  // Along x = x₀ + τ all other variables fixed, coefficient k is the k-th derivative over k!.
  for (int seed = 0; seed < count(10'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), false);
    const std::string text = formulas.make(3);
    Room r;
    const Node node = r.read(text);
    const std::vector<double> at = formulas.point();
    const Program p = r.program({node});
    std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
    Series in[4], out;
    for (std::size_t i = 0; i < 4; ++i) in[i].c[0] = at[i];
    in[1].c[1] = 1;
    p.evaluate_series(in, &out, registers.data(), 4);
    Node derivative = node;
    double factorial = 1;
    for (int k = 0; k <= 4; ++k) {
      if (k > 0) derivative = r.graph.derivative(derivative, 1), factorial *= k;
      const double wanted = r.graph.evaluate(derivative, at) / factorial;
      if (!std::isfinite(wanted) || std::abs(wanted) > 1e8) break;
      EXPECT_TRUE(near_relative(out.c[k], wanted, 1e-5)) << "seed " << seed << ", order " << k << " of "
                                                         << text << ": " << out.c[k] << " against " << wanted;
    }
  }
}

TEST(Taylor, EveryFunctionFollowsItsDerivativesToOrderEight) {
  Room r;
  for (const char* text : {"sin(x)",
                           "cos(x)",
                           "tan(x)",
                           "asin(0.5*x)",
                           "acos(0.5*x)",
                           "atan(x)",
                           "sinh(x)",
                           "cosh(x)",
                           "tanh(x)",
                           "asinh(x)",
                           "acosh(x + 2)",
                           "atanh(0.5*x)",
                           "exp(x)",
                           "log(x)",
                           "sqrt(x)",
                           "cbrt(x)",
                           "atan2(x, y)",
                           "atan2(y, x)",
                           "hypot(x, y, z)",
                           "x^x",
                           "2^x",
                           "x^2.5",
                           "1/x",
                           "x^7",
                           "x^20",
                           "z/x^3",
                           "bump(x)",
                           "abs(x)*x",
                           "if(x > 0, exp(x), 1)"}) {
    Node node = r.read(text);
    const Program p = r.program({node});
    std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
    const std::vector<double> at{0.3, 0.4, -1.2, 2.0};
    Series in[4], out;
    for (std::size_t i = 0; i < 4; ++i) in[i].c[0] = at[i];
    in[1].c[1] = 1;
    p.evaluate_series(in, &out, registers.data(), kTaylorOrder);
    double factorial = 1;
    for (int k = 0; k <= kTaylorOrder; ++k) {
      if (k > 0) node = r.graph.derivative(node, 1), factorial *= k;
      const double wanted = r.graph.evaluate(node, at) / factorial;
      EXPECT_TRUE(near_relative(out.c[k], wanted, 1e-8))
          << text << ", order " << k << ": " << out.c[k] << " against " << wanted;
    }
  }
}

TEST(Taylor, WholePowersAndMeetingsAtZero) {
  Room r;
  const Program p = r.program({r.read("x^3"), r.read("x^6*t"), r.read("hypot(x, z)"), r.read("bump(x)")});
  std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
  Series in[4], out[4];
  in[0].c[0] = 1;
  in[1].c[1] = 2;  // x = 2 τ
  in[3].c[0] = 3;
  p.evaluate_series(in, out, registers.data(), 8);
  EXPECT_EQ(out[0].c[3], 8);
  EXPECT_EQ(out[1].c[6], 64);
  EXPECT_DOUBLE_EQ(out[2].c[2], 2.0 / 3);
  // bump begins as 2^-100 x⁴.
  for (int k = 0; k <= 8; ++k) EXPECT_NEAR(out[3].c[k], k == 4 ? 0x1p-96 : 0, k <= 4 ? 0 : 1e-27);
}

TEST(Taylor, FractionalPowersFromZero) {
  Room r;
  const Program p = r.program({r.read("x^1.5"), r.read("z^1.5"), r.read("sqrt(y)"), r.read("-x^0.5")});
  std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
  Series in[4], out[4];
  in[1].c[1] = 4;  // x = 4 τ + τ²
  in[1].c[2] = 1;
  const double y[6] = {0, 0, 16, 72, 49, 12};  // x² + x³
  const double z[6] = {0, 0, 16, 8, 1, 0};     // x²
  std::copy_n(y, 6, in[2].c);
  std::copy_n(z, 6, in[3].c);
  p.evaluate_series(in, out, registers.data(), 5);
  EXPECT_EQ(out[0].c[1], 0);
  EXPECT_EQ(out[0].c[2], std::numeric_limits<double>::infinity()) << "8 τ^1.5";
  EXPECT_EQ(out[3].c[1], -std::numeric_limits<double>::infinity()) << "-2 τ^0.5";
  const double cube[6] = {0, 0, 0, 64, 48, 12};  // x³
  for (int k = 0; k <= 5; ++k) EXPECT_NEAR(out[1].c[k], cube[k], 1e-12) << k;
  // x √(1 + x) = x + x²/2 − x³/8 + x⁴/16 − …
  EXPECT_NEAR(out[2].c[1], 4, 1e-14);
  EXPECT_NEAR(out[2].c[2], 1 + 8, 1e-13);
  EXPECT_NEAR(out[2].c[3], 4 - 8, 1e-13);
}

TEST(Taylor, LowerOrdersAreTheSameBits) {
  Room r;
  const Program p = r.program({r.read("sin(x*t)/(1 + x^2) + exp(y)^0.3")});
  std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
  Series in[4], high, low;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k <= 8; ++k) in[i].c[k] = 0.3 + 0.1 * i - 0.05 * k;
  }
  p.evaluate_series(in, &high, registers.data(), 8);
  for (int order = 0; order < 8; ++order) {
    p.evaluate_series(in, &low, registers.data(), order);
    for (int k = 0; k <= order; ++k) EXPECT_EQ(low.c[k], high.c[k]) << order << ", " << k;
  }
}

// What becomes small because it stands below a line has a derivative that becomes small: no inf/inf.
TEST(Derivative, OfWhatOverflowsBelowALineIsSmall) {
  Room r;
  for (const std::string text : {"1/cosh(x)^2", "3/cosh(2*x)", "1/(1 + exp(x))", "1/(1 + exp(x^2 - 4))",
                                 "y/(2 + 0.5*exp(-3*x))^2", "1/(cosh(x)*(1 + exp(x)))"}) {
    const Node node = r.read(text);
    const Node slope = r.graph.derivative(node, 1);
    const Node bend = r.graph.derivative(slope, 1);
    for (const double x : {-5000.0, -900.0, 900.0, 5000.0}) {
      EXPECT_TRUE(std::isfinite(r.graph.evaluate(slope, std::vector{0.0, x, 0.7, 0.0})))
          << text << " at " << x;
      EXPECT_TRUE(std::isfinite(r.graph.evaluate(bend, std::vector{0.0, x, 0.7, 0.0})))
          << text << " at " << x;
    }
    constexpr double h = 1e-5;
    for (const double x : {-1.3, 0.0, 0.4, 2.2}) {
      const auto at = [&](Node f, double place) {
        return r.graph.evaluate(f, std::vector{0.0, place, 0.7, 0.0});
      };
      EXPECT_NEAR(at(slope, x), (at(node, x + h) - at(node, x - h)) / (2 * h), 1e-8) << text << " at " << x;
      EXPECT_NEAR(at(bend, x), (at(slope, x + h) - at(slope, x - h)) / (2 * h), 1e-8) << text << " at " << x;
    }
  }
}

}  // namespace
}  // namespace judder::expr::test
