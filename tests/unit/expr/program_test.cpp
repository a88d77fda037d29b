// The four evaluators run the same program.
#include <bit>
#include <set>

#include "expr/functions.hpp"
#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

template <int Lanes>
std::vector<double> batch(const Program& p, const std::vector<double>& in) {
  std::vector<double> out(static_cast<std::size_t>(p.outputs()) * Lanes),
      registers(static_cast<std::size_t>(p.registers()) * Lanes);
  p.evaluate_batch<Lanes>(in.data(), out.data(), registers.data());
  return out;
}

// One output of several formulas that share parts: the bits of all of them together, by no more instructions.
TEST(Program, OneOutputAloneHasTheBitsOfAllTogether) {
  std::size_t shorter = 0;
  for (int seed = 0; seed < count(2000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    Room r;
    std::vector<Node> nodes;
    for (int k = 0; k < 4; ++k) nodes.push_back(r.read(formulas.make(3)));
    nodes.push_back(r.graph.add(nodes[0], r.graph.multiply(nodes[1], nodes[2])));
    nodes.push_back(nodes[1]);
    nodes.push_back(r.graph.constant(1.5));
    const Program all = r.program(nodes);
    const std::vector<double> point = formulas.point();
    const std::vector<double> values = run(all, point);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Program one = all.only(static_cast<int>(k));
      ASSERT_EQ(one.outputs(), 1);
      ASSERT_EQ(one.inputs(), all.inputs());
      EXPECT_LE(one.length(), all.length());
      if (one.length() < all.length()) ++shorter;
      const double value = run(one, point)[0];
      EXPECT_EQ(std::isnan(value) ? 0 : std::bit_cast<std::uint64_t>(value),
                std::isnan(values[k]) ? 0 : std::bit_cast<std::uint64_t>(values[k]))
          << "seed " << seed << ", output " << k;
    }
  }
  EXPECT_GT(shorter, 0U);
}

TEST(Program, AllEvaluatorsAgreeOnRandomFormulas) {
  for (int seed = 0; seed < count(20'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    const std::string text = formulas.make(4);
    Room r;
    const Node node = r.read(text);
    const Program p = r.program({node});
    const auto registers = static_cast<std::size_t>(p.registers());
    std::vector<std::vector<double>> points;
    for (int lane = 0; lane < 8; ++lane) points.push_back(formulas.point());
    std::vector<double> in8(32), in4(16);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        in8[i * 8 + lane] = points[lane][i];
        if (lane < 4) in4[i * 4 + lane] = points[lane][i];
      }
    }
    const std::vector<double> out8 = batch<8>(p, in8), out4 = batch<4>(p, in4);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const double value = run(p, points[lane])[0];
      // A lane has the bits of the plain evaluator.
      const auto bits = [](double x) { return std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x); };
      EXPECT_EQ(bits(out8[lane]), bits(value)) << "seed " << seed << ", lane " << lane << ": " << text;
      if (lane < 4) {
        EXPECT_EQ(bits(out4[lane]), bits(value)) << "seed " << seed << ", lane " << lane << ": " << text;
      }
      if (!std::isfinite(value) || std::abs(value) > 1e12) continue;
      const std::string where =
          "seed " + std::to_string(seed) + ", lane " + std::to_string(lane) + ": " + text;
      EXPECT_TRUE(near_relative(r.graph.evaluate(node, points[lane]), value, 1e-9)) << where;
      std::vector<Series> series(registers);
      Series series_in[4], series_out;
      for (std::size_t i = 0; i < 4; ++i) series_in[i].c[0] = points[lane][i];
      p.evaluate_series(series_in, &series_out, series.data(), 0);
      EXPECT_EQ(bits(series_out.c[0]), bits(value)) << where;
      std::vector<Interval> intervals(registers);
      Interval interval_in[4], interval_out;
      for (std::size_t i = 0; i < 4; ++i) interval_in[i] = {points[lane][i], points[lane][i]};
      p.evaluate_interval(interval_in, &interval_out, intervals.data());
      EXPECT_TRUE(interval_out.low <= value && value <= interval_out.high)
          << where << ": [" << interval_out.low << ", " << interval_out.high << "] and " << value;
    }
  }
}

TEST(Program, BatchFunctionsAreWithinAFewUnitsOfTheLibrary) {
  Room r;
  const Program p = r.program({r.read("sin(x)"), r.read("cos(x)"), r.read("exp(x)"), r.read("log(y)"),
                               r.read("sqrt(y)"), r.read("hypot(x, y)")});
  std::mt19937_64 random(7);
  const auto ulps = [](double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0;
    return std::abs(a - b) / (std::nextafter(std::abs(b), INFINITY) - std::abs(b));
  };
  for (int trial = 0; trial < count(200'000); ++trial) {
    // All sizes: 10^-8 to 10^6, both signs, and now and then something special.
    std::vector<double> in(32);
    std::uniform_real_distribution<double> exponent(-8, 6), unit(-1, 1);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      in[8 + lane] = std::copysign(std::pow(10, exponent(random)), unit(random));
      in[16 + lane] = std::pow(10, 3 * exponent(random));
    }
    if (trial % 10 == 0) {
      const double special[] = {0, INFINITY, -INFINITY, NAN, 1e300, 5e-324, M_PI, 1};
      for (std::size_t lane = 0; lane < 8; ++lane) in[8 + lane] = in[16 + lane] = special[lane];
    }
    if (trial % 10 == 1) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        in[8 + lane] = M_PI / 2 * static_cast<double>(random() % 1000);  // where sin or cos almost vanish
        in[16 + lane] = 1 + 1e-7 * unit(random);
      }
    }
    const std::vector<double> out = batch<8>(p, in);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const double x = in[8 + lane], y = in[16 + lane];
      const std::vector<double> alone = run(p, {0, x, y, 0});
      for (std::size_t k = 0; k < 6; ++k) {
        if (std::isnan(alone[k]) && std::isnan(out[k * 8 + lane])) continue;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(out[k * 8 + lane]), std::bit_cast<std::uint64_t>(alone[k]))
            << "function " << k << " at x = " << x << ", y = " << y;
      }
      const double wanted[] = {std::sin(x), std::cos(x),  std::exp(x),
                               std::log(y), std::sqrt(y), std::hypot(x, y)};
      const double allowed[] = {2, 2, 2, 2, 0, 2};
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_LE(ulps(out[k * 8 + lane], wanted[k]), allowed[k])
            << "function " << k << " at x = " << x << ", y = " << y << ": " << out[k * 8 + lane]
            << " against " << wanted[k];
      }
    }
  }
}

TEST(Program, DifferencesAndQuotientsAreSingleOperations) {
  Room r;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(-10, 10);
  for (int i = 0; i < count(2'000); ++i) {
    const double x = any(random), y = any(random), z = any(random), t = any(random);
    const std::vector<double> at{t, x, y, z};
    const auto value = [&](const char* text) { return run(r.program({r.read(text)}), at)[0]; };
    EXPECT_EQ(value("x - y"), x - y);
    EXPECT_EQ(value("y - x"), y - x);
    EXPECT_EQ(value("2 - x"), 2 - x);
    EXPECT_EQ(value("x/y"), x / y);
    EXPECT_EQ(value("2/y"), 2 / y);
    EXPECT_EQ(value("x/3"), x / 3);
    EXPECT_EQ(value("x^3"), x * x * x);
    EXPECT_EQ(value("x^2"), x * x);
    EXPECT_EQ(value("100*(x - y)"), 100 * (x - y));
    EXPECT_EQ(value("1.5*cos(2.0*t+0.1) - 0.3*x^3 + 0.01*t*x"),
              1.5 * apply(Function::cos, 2.0 * t + 0.1) - 0.3 * (x * x * x) + 0.01 * (t * x));
  }
}

TEST(Program, CommonPartsAreComputedOnceAndRegistersAreReused) {
  Room r;
  const Node a = r.read("sin(x*y)*cos(z)"), b = r.read("sin(x*y) + cos(z)");
  EXPECT_EQ(r.program({a, b}).length(), 5U);  // x*y, sin, cos, product, sum
  // Each term dies in the sum: the number of registers must not grow with the length.
  std::string text = "x";
  for (int i = 2; i < 200; ++i) text += " + sin(" + std::to_string(i) + "*x)^" + std::to_string(2 + i % 3);
  const Program p = r.program({r.read(text)});
  EXPECT_GT(p.length(), 500U);
  EXPECT_LT(p.registers(), 198 + 6);  // the constants, and a handful
}

TEST(Program, OutputsMayBeInputsAndConstants) {
  Room r;
  const Program p = r.program({r.read("x"), r.read("3"), r.read("x"), r.read("x + 0")});
  EXPECT_EQ(run(p, {0, 7, 0, 0}), (std::vector<double>{7, 3, 7, 7}));
  EXPECT_FALSE(p.constant());
  EXPECT_TRUE(r.program({r.read("2*3"), r.read("x - x")}).constant());
  EXPECT_EQ(run(r.program({}), {0, 0, 0, 0}).size(), 0U);
}

TEST(Program, InputsMayStandAnywhere) {
  Room r;
  InputMap map;
  map.variable = {-1, 5, 2, -1};
  const std::vector<Node> outputs{r.read("x - y")};
  const Program p = compile(r.graph, outputs, map, 6, Sides::by_value);
  EXPECT_EQ(run(p, {0, 0, 3, 0, 0, 10})[0], 7);
}

TEST(Program, SidesAreInputsOfEveryEvaluator) {
  Room r;
  const Node node = r.read("x*sign(y) + floor(z) + if(t > 0, x, 2)");
  const Program p = r.program({node}, Sides::given);
  ASSERT_EQ(p.inputs(), 7);
  const std::vector<double> in{9, 5, 9, 9, 0, 4, 1};  // sides: sign → −1, floor → 4, if → x
  EXPECT_EQ(run(p, in)[0], -5 + 4 + 5);
  const auto registers = static_cast<std::size_t>(p.registers());
  std::vector<double> in4;
  for (const double v : in) in4.insert(in4.end(), 4, v);
  EXPECT_EQ(batch<4>(p, in4)[2], 4);
  std::vector<Series> series(registers), series_in(7);
  for (std::size_t i = 0; i < 7; ++i) series_in[i].c[0] = in[i];
  series_in[1].c[1] = 1;
  Series out;
  p.evaluate_series(series_in.data(), &out, series.data(), 2);
  EXPECT_EQ(out.c[0], 4);
  EXPECT_EQ(out.c[1], 0);  // −x + x
  std::vector<Interval> intervals(registers), interval_in(7);
  for (std::size_t i = 0; i < 7; ++i) interval_in[i] = {in[i], in[i]};
  interval_in[4] = {0, 1};
  Interval range;
  p.evaluate_interval(interval_in.data(), &range, intervals.data());
  EXPECT_NEAR(range.low, 4, 1e-13);
  EXPECT_NEAR(range.high, 14, 1e-13);
}

}  // namespace
}  // namespace judder::expr::test
