// Functions from outside against the same formula in the language.
#include "judder/expr/outside.hpp"

#include <array>
#include <bit>
#include <stdexcept>
#include <thread>

#include "expr_support.hpp"
#include "judder/expr/through.hpp"

namespace judder::expr::test {
namespace {

/// sin(0.7 u + 0.2) exp(v/2), all derivatives.
class Wave final : public Outside {
 public:
  mutable std::atomic<int> calls{0};

 private:
  void compute(std::span<const double> u, int order, std::span<double> out) const override {
    ++calls;
    ASSERT_EQ(out.size(), partial_count(2, order));
    for (int k = 0, place = 0; k <= order; ++k) {
      for (int second = 0; second <= k; ++second, ++place) {
        const int first = k - second;
        out[static_cast<std::size_t>(place)] = std::pow(0.7, first) * std::pow(0.5, second) *
                                               std::sin(0.7 * u[0] + 0.2 + first * std::acos(0.0)) *
                                               std::exp(u[1] / 2);
      }
    }
  }
};
constexpr const char* kWave = "sin(0.7*%+0.2)*exp(@/2)";

/// The same text with the wave in the language.
std::string in_language(std::string text, const std::string& u, const std::string& v) {
  const std::string call = "f(" + u + ", " + v + ")";
  std::string wave = kWave;
  wave.replace(wave.find('%'), 1, "(" + u + ")");
  wave.replace(wave.find('@'), 1, "(" + v + ")");
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call))
    text.replace(at, call.size(), "(" + wave + ")");
  return text;
}

struct WithWave : Room {
  explicit WithWave(int order, std::vector<double> sizes = {}) {
    const OutsideId f = graph.add_outside({"f", 2, order, std::move(sizes), &wave});
    meanings["f"] = Callable{f, 2};
  }
  Wave wave;
};

constexpr const char* kU = "x*y";
constexpr const char* kV = "t - z";
constexpr const char* kText = "3*f(x*y, t - z)^2 - z*f(x*y, t - z) + x";

/// The formula and all its first and second derivatives by t, x, y, z.
std::vector<Node> with_derivatives(Graph& graph, Node node) {
  std::vector<Node> out{node};
  for (Variable a = 0; a < 4; ++a) {
    out.push_back(graph.derivative(node, a));
    for (Variable b = 0; b <= a; ++b) out.push_back(graph.derivative(out[out.size() - 1 - b], b));
  }
  return out;
}

double bits(double x) { return std::isnan(x) ? 0 : x; }

TEST(Outside, EveryDerivativeHasAPlaceOfItsOwn) {
  for (int n = 1; n <= kMostArguments; ++n) {
    for (int order = 0; partial_count(n, order) <= kMostPartials && order <= 8; ++order) {
      // Enumerated by the order that is promised: tuples of arguments that do not decrease, shorter ones first.
      std::size_t place = 0;
      std::vector<int> tuple;
      const auto visit = [&](const auto& self, int length, int from) -> void {
        if (static_cast<int>(tuple.size()) == length) {
          Orders orders{};
          for (const int i : tuple) ++orders[static_cast<std::size_t>(i)];
          ASSERT_EQ(partial_place(orders, n), place) << n << " arguments, order " << length;
          ++place;
          return;
        }
        for (int i = from; i < n; ++i) {
          tuple.push_back(i);
          self(self, length, i);
          tuple.pop_back();
        }
      };
      for (int length = 0; length <= order; ++length) visit(visit, length, 0);
      EXPECT_EQ(partial_count(n, order), place);
    }
  }
}

TEST(Outside, DerivativesAreThoseOfTheFormulaInTheLanguage) {
  Room language;
  const Program expected =
      language.program(with_derivatives(language.graph, language.read(in_language(kText, kU, kV))));
  // Two orders are found by differences: what is left of them is 1e-10, and 1e-12 of one.
  const std::array<double, 3> kNear{1e-9, 1e-11, 1e-13};
  for (const int order : {0, 1, 2, 5}) {
    WithWave r(order);
    const Program p = r.program(with_derivatives(r.graph, r.read(kText)));
    for (unsigned seed = 0; seed < 40; ++seed) {
      Formulas random(seed, false);
      const std::vector<double> at = random.point();
      const std::vector<double> found = run(p, at), right = run(expected, at);
      double size = 0;
      for (const double x : right) size = std::max(size, std::abs(x));
      for (std::size_t i = 0; i < right.size(); ++i)
        EXPECT_NEAR(found[i], right[i], kNear[static_cast<std::size_t>(std::min(order, 2))] * size)
            << "order " << order << ", output " << i << ", seed " << seed;
    }
  }
}

TEST(Outside, AThirdDerivativeBeyondTheGivenIsNotKnown) {
  WithWave r(0);
  const Node node = r.read("f(x, y)");
  const Node third = r.graph.derivative(r.graph.derivative(r.graph.derivative(node, 1), 2), 1);
  EXPECT_TRUE(std::isnan(run(r.program({third}), {0.3, 0.7, -1.2, 2})[0]));
  WithWave one(1);
  const Node known = one.read("f(x, y)");
  const Node of_one = one.graph.derivative(one.graph.derivative(one.graph.derivative(known, 1), 2), 1);
  EXPECT_NEAR(run(one.program({of_one}), {0.3, 0.7, -1.2, 2})[0],
              -0.49 * 0.5 * std::sin(0.7 * 0.7 + 0.2) * std::exp(-0.6), 1e-10);
}

// One call of the function gives all that a program needs of it at the same arguments.
TEST(Outside, IsCalledOnceForAllThatIsGiven) {
  WithWave r(2);
  const Program p = r.program(with_derivatives(r.graph, r.read(kText)));
  r.wave.calls = 0;
  static_cast<void>(run(p, {0.3, 0.7, -1.2, 2}));
  EXPECT_EQ(r.wave.calls, 1);
}

TEST(Outside, LanesHaveTheBitsOfThePlainEvaluator) {
  WithWave r(1);
  const Program p = r.program(with_derivatives(r.graph, r.read(kText)));
  const auto outputs = static_cast<std::size_t>(p.outputs());
  const auto registers = static_cast<std::size_t>(p.registers());
  std::vector<std::vector<double>> points;
  std::vector<double> in(32), out(8 * outputs), memory(8 * registers);
  Formulas random(7, false);
  for (std::size_t lane = 0; lane < 8; ++lane) {
    points.push_back(random.point());
    for (std::size_t i = 0; i < 4; ++i) in[i * 8 + lane] = points[lane][i];
  }
  p.evaluate_batch<8>(in.data(), out.data(), memory.data());
  for (std::size_t lane = 0; lane < 8; ++lane) {
    const std::vector<double> plain = run(p, points[lane]);
    for (std::size_t o = 0; o < outputs; ++o) EXPECT_EQ(bits(out[o * 8 + lane]), bits(plain[o]));
  }
  // One output alone needs no other.
  for (int o = 0; o < p.outputs(); ++o)
    EXPECT_EQ(run(p.only(o), points[0])[0], run(p, points[0])[static_cast<std::size_t>(o)]);
}

std::vector<Series> along(const Program& p, int order, const Series (&in)[4]) {
  std::vector<Series> out(static_cast<std::size_t>(p.outputs())),
      registers(static_cast<std::size_t>(p.registers()));
  p.evaluate_series(in, out.data(), registers.data(), order);
  return out;
}

TEST(Outside, SeriesGoAsFarAsDerivativesAreKnown) {
  Room language;
  const Program expected = language.program({language.read(in_language(kText, kU, kV))});
  Series in[4];
  for (int k = 0; k <= kTaylorOrder; ++k) {
    in[0].c[k] = k == 1 ? 1 : k == 0 ? 0.4 : 0;
    in[1].c[k] = 0.3 / (1 + k);
    in[2].c[k] = -0.5 + 0.1 * k;
    in[3].c[k] = k % 2 == 0 ? 0.2 : -0.1;
  }
  const Series right = along(expected, kTaylorOrder, in)[0];
  for (const int order : {0, 1, 2, 3, kTaylorOrder}) {
    WithWave r(order);
    const Series found = along(r.program({r.read(kText)}), kTaylorOrder, in)[0];
    for (int k = 0; k <= kTaylorOrder; ++k) {
      if (k > order + kByDifferences)
        EXPECT_TRUE(std::isnan(found.c[k])) << order << ", " << k;
      else
        EXPECT_NEAR(found.c[k], right.c[k], (k > order ? 1e-9 : 1e-12)) << order << ", " << k;
    }
  }
}

// What moves late needs few derivatives; what comes after a coefficient that is not known is not known either, although it could be computed.
TEST(Outside, NothingIsKnownBehindACoefficientThatIsNot) {
  WithWave r(0);
  const Program p = r.program({r.read("f(x, y)")});
  Series in[4];
  in[1].c[0] = 0.3;
  in[1].c[3] = 1;  // three of its powers up to τ⁸: the third is not there
  const Series late = along(p, kTaylorOrder, in)[0];
  for (int k = 0; k <= kTaylorOrder; ++k) EXPECT_FALSE(std::isnan(late.c[k])) << k;
  EXPECT_NEAR(late.c[6], -0.49 / 2 * std::sin(0.7 * 0.3 + 0.2), 1e-10);
  in[1].c[3] = 0;
  in[1].c[2] = 1;  // τ⁶ needs the third derivative, τ⁷ none
  const Series soon = along(p, kTaylorOrder, in)[0];
  EXPECT_FALSE(std::isnan(soon.c[5]));
  for (int k = 6; k <= kTaylorOrder; ++k) EXPECT_TRUE(std::isnan(soon.c[k])) << k;
  // At rest all is known.
  in[1].c[2] = 0;
  const Series rest = along(p, kTaylorOrder, in)[0];
  for (int k = 1; k <= kTaylorOrder; ++k) EXPECT_EQ(rest.c[k], 0);
}

TEST(Outside, IntervalsHoldTheLastBitsAndNothingIsKnownOfWideOnes) {
  WithWave r(1);
  const Program p = r.program(with_derivatives(r.graph, r.read(kText)));
  std::vector<Interval> out(static_cast<std::size_t>(p.outputs())),
      registers(static_cast<std::size_t>(p.registers()));
  const std::array<double, 4> at{0.3, 0.7, -1.2, 2};
  Interval in[4];
  for (std::size_t i = 0; i < 4; ++i) in[i] = {at[i] * (1 - 1e-15), at[i] * (1 + 1e-15)};
  for (Interval& i : in) i = {std::min(i.low, i.high), std::max(i.low, i.high)};
  p.evaluate_interval(in, out.data(), registers.data());
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> inside;
    for (const Interval& i : in) inside.push_back(std::uniform_real_distribution<>(i.low, i.high)(random));
    const std::vector<double> values = run(p, inside);
    for (std::size_t o = 0; o < values.size(); ++o) {
      EXPECT_LE(out[o].low, values[o]) << o;
      EXPECT_GE(out[o].high, values[o]) << o;
      EXPECT_LT(out[o].high - out[o].low, 1e-7) << o;
    }
  }
  in[1] = {0.6, 0.8};
  p.evaluate_interval(in, out.data(), registers.data());
  EXPECT_EQ(out[0].low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(out[0].high, std::numeric_limits<double>::infinity());
}

TEST(Outside, SizesSayHowFarDifferencesReach) {
  // In millimetres the function changes over a thousand times less than one.
  struct Fine final : Outside {
    void compute(std::span<const double> u, int, std::span<double> out) const override {
      out[0] = std::sin(1000 * u[0]);
    }
  } fine;
  for (const bool said : {false, true}) {
    Room r;
    r.meanings["f"] = Callable{
        r.graph.add_outside({"f", 1, 0, said ? std::vector<double>{1e-3} : std::vector<double>{}, &fine}), 1};
    const Node node = r.read("f(x)");
    const Node second = r.graph.derivative(r.graph.derivative(node, 1), 1);
    const std::vector<double> found = run(r.program({r.graph.derivative(node, 1), second}), {0, 3e-4, 0, 0});
    const bool right = std::abs(found[0] - 1000 * std::cos(0.3)) < 1e-8 * 1000 &&
                       std::abs(found[1] + 1e6 * std::sin(0.3)) < 1e-8 * 1e6;
    EXPECT_EQ(right, said) << found[0] << " " << found[1];
  }
}

TEST(Outside, DifferencesOfWhatDoesNotChangeAreZero) {
  struct Flat final : Outside {
    void compute(std::span<const double> u, int, std::span<double> out) const override {
      out[0] = 1e6 + u[0] * u[0];
    }
  } flat;
  Room r;
  r.meanings["f"] = Callable{r.graph.add_outside({"f", 2, 0, {}, &flat}), 2};
  const Node node = r.read("f(x, y)");
  const Node by_y = r.graph.derivative(node, 2);
  const std::vector<double> found = run(r.program({by_y, r.graph.derivative(by_y, 2),
                                                   r.graph.derivative(by_y, 1), r.graph.derivative(node, 1)}),
                                        {0, 0.1, 0.7, 0});
  EXPECT_EQ(found[0], 0);
  EXPECT_EQ(found[1], 0);
  EXPECT_EQ(found[2], 0);
  EXPECT_NEAR(found[3], 0.2, 1e-6);
}

struct Thrower final : Outside {
  void compute(std::span<const double> u, int order, std::span<double> out) const override {
    if (u[0] > 1) throw std::runtime_error("too far\nsecond line");
    if (u[0] < -1) throw 7;
    std::fill(out.begin(), out.end(), u[0] == 0 ? std::nan("") : order);
  }
};

TEST(Outside, WhatIsThrownIsKeptUntilTheWatchOfTheThreadEnds) {
  const Thrower thrower;
  const std::vector<OutsideFunction> functions{{"first", 1, 0, {}, &thrower}};
  const auto value = [&](double at) {
    double out = 0;
    thrower.evaluate({&at, 1}, 0, {&out, 1});
    return out;
  };
  EXPECT_TRUE(std::isnan(value(2)));  // nobody hears
  EXPECT_EQ(value(0.5), 0);
  {
    const OutsideWatch watch(functions);
    EXPECT_EQ(watch.failed(), -1);
    EXPECT_TRUE(std::isnan(value(0)));
    EXPECT_EQ(watch.failed(), -1);
    EXPECT_EQ(watch.not_a_number(), 0);
    EXPECT_EQ(watch.words(0), "first(0) is nan");
    EXPECT_EQ(value(0.5), 0);
    EXPECT_TRUE(std::isnan(value(2)));
    EXPECT_EQ(watch.failed(), 0);
    EXPECT_EQ(watch.words(0), "first(2) has failed: too far");
    EXPECT_TRUE(std::isnan(value(0.5))) << "the run has come to its end";
    EXPECT_EQ(watch.words(0), "first(2) has failed: too far");
    double elsewhere = 1;
    std::thread([&] { elsewhere = value(0.5); }).join();
    EXPECT_EQ(elsewhere, 0) << "other threads have runs of their own";
    {
      const OutsideWatch inner(functions);
      EXPECT_EQ(value(0.5), 0);
      EXPECT_TRUE(std::isnan(value(-2)));
      EXPECT_EQ(inner.words(inner.failed()), "first(-2) has failed");
    }
    EXPECT_TRUE(std::isnan(value(0.5)));
  }
  EXPECT_EQ(value(0.5), 0);
}

TEST(Outside, FormulasCallItWithTheRightArguments) {
  WithWave r(0);
  EXPECT_NE(r.refuse("f(x)")[0].message.find("f needs 2 arguments, not 1"), std::string::npos);
  EXPECT_NE(r.refuse("f + 1")[0].message.find("'f' is a function and needs its arguments"),
            std::string::npos);
  EXPECT_NE(r.refuse("g(x, y)")[0].message.find("unknown function 'g'"), std::string::npos);
  EXPECT_EQ(r.graph.text(r.read("f(x, 2) + 1")), "f(x, 2) + 1");
  EXPECT_EQ(r.graph.text(r.graph.derivative(r.graph.derivative(r.read("f(x, y)"), 2), 1)), "f_12(x, y)");
  EXPECT_TRUE(r.graph.is_constant(r.read("f(1, 2)")));
  EXPECT_NEAR(r.graph.value(r.read("f(1, 2)")).raw(), std::sin(0.9) * std::exp(1), 1e-15);
  EXPECT_NEAR(r.value("f(x, y)"), std::sin(0.7 * 0.7 + 0.2) * std::exp(-0.6), 1e-15);
  EXPECT_EQ(r.read("f(x + y, 1)"), r.read("f(y + x, 1)")) << "equal formulas are one";
  const Variable x[] = {1};
  const Node two[] = {r.graph.constant(2)};
  EXPECT_EQ(r.graph.substitute(r.read("f(x, y)"), x, two), r.read("f(2, y)"));

  const Thrower thrower;
  r.meanings["late"] = Callable{r.graph.add_outside({"late", 1, 0, {}, &thrower}), 1};
  EXPECT_EQ(r.refuse("late(3)*x")[0].message, "late(3) has failed: too far");
  EXPECT_EQ(r.refuse("late(0)*x")[0].message, "late(0) is nan");
}

TEST(Outside, AnEntryThatCannotBeOneSaysWhy) {
  const Wave wave;
  const auto problem = [](OutsideFunction f) { return outside_problem(f); };
  EXPECT_EQ(problem({"f", 2, 0, {}, &wave}), "");
  EXPECT_NE(problem({"f", 2, 0, {}, nullptr}), "");
  EXPECT_NE(problem({"f", 9, 0, {}, &wave}).find("9 arguments"), std::string::npos);
  EXPECT_NE(problem({"f", 0, 0, {}, &wave}), "");
  EXPECT_EQ(problem({"f", 8, 4, {}, &wave}), "");
  EXPECT_NE(problem({"f", 8, 5, {}, &wave}).find("at most 495"), std::string::npos);
  EXPECT_NE(problem({"f", 1, 2'000'000'000, {}, &wave}), "");
  EXPECT_NE(problem({"f", 2, 0, {1}, &wave}), "");
  EXPECT_NE(problem({"f", 2, 0, {1, 0}, &wave}), "");
}

// Zeros of functions of time are found ahead where they can be enclosed; those of a function from outside cannot.
TEST(Outside, ASurfaceOfTimeIsWatchedLikeAnyOther) {
  WithWave r(0);
  static_cast<void>(r.read("sign(t - 1)"));
  static_cast<void>(r.read("sign(f(t, 0))"));
  EXPECT_EQ(switches_of(r.graph, 0), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace judder::expr::test
