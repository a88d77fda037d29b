// Functions of the caller in the formulas of a model, against the same formulas in the language.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "judder/expr/outside.hpp"
#include "judder/io/load.hpp"
#include "judder/judder.hpp"

namespace judder {
namespace {

using Arguments = std::span<const double>;

/// a sin(b u + c v) + d u², all derivatives up to `order`.
Function wave(const std::string& name, double a, double b, double c, double d, int arguments, int order) {
  Function out{.name = name, .arguments = arguments};
  out.order = order;
  out.partials = [=](Arguments u, int upto, std::span<double> partials) {
    const double angle = b * u[0] + (arguments > 1 ? c * u[1] : 0);
    std::size_t place = 0;
    for (int k = 0; k <= upto; ++k) {
      for (int second = 0; second <= (arguments > 1 ? k : 0); ++second, ++place) {
        const int first = k - second;
        double value =
            a * std::pow(b, first) * std::pow(c, second) * std::sin(angle + k * std::numbers::pi / 2);
        if (second == 0 && first <= 2)
          value += first == 0 ? d * u[0] * u[0] : first == 1 ? 2 * d * u[0] : 2 * d;
        partials[place] = value;
      }
    }
  };
  return out;
}

std::string number(double x) { return std::to_string(x); }

std::string wave_text(double a, double b, double c, double d, const std::string& u, const std::string& v) {
  const std::string angle =
      number(b) + "*(" + u + ")" + (v.empty() ? "" : " + " + number(c) + "*(" + v + ")");
  return "(" + number(a) + "*sin(" + angle + ") + " + number(d) + "*(" + u + ")^2)";
}

/// Replaces % by the text, or by the call.
std::string with(std::string model, const std::string& formula) {
  for (std::size_t at = model.find('%'); at != std::string::npos; at = model.find('%'))
    model.replace(at, 1, formula);
  return model;
}

/// The largest distance of two runs, relative to the size of each column; and of their events.
struct Distance {
  double rows = 0, times = 0;
  bool same_events = true;
};
Distance distance(const judder::Run& a, const judder::Run& b) {
  Distance out;
  EXPECT_TRUE(a.ok()) << a.status().message;
  EXPECT_TRUE(b.ok()) << b.status().message;
  out.same_events = a.events().size() == b.events().size() && a.rows() == b.rows();
  if (!out.same_events) return out;
  for (const std::string& name : a.columns()) {
    const std::vector<double> x = a.column(name), y = b.column(name);
    double size = 0, most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      size = std::max(size, std::abs(x[i]));
      most = std::max(most, std::abs(x[i] - y[i]));
    }
    out.rows = std::max(out.rows, most / std::max(size, 1e-3));
  }
  for (std::size_t i = 0; i < a.events().size(); ++i) {
    out.same_events = out.same_events && a.events()[i].kind == b.events()[i].kind &&
                      a.events()[i].where == b.events()[i].where;
    out.times = std::max(out.times, std::abs(a.events()[i].time - b.events()[i].time));
  }
  return out;
}

struct Case {
  const char* name;
  const char* model;  ///< with % in the place of the function
  double a, b, c, d;
  const char *first, *second;  ///< arguments
};

constexpr const char* kBall = R"toml(
format = 1
[coordinates]
x = { velocity = 0.3 }
y = 0.5
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "ground"
gap = "y - %"
slip = "x'"
friction = 0.2
impact = 0.5
[run]
until = 0.7
[output]
event_rows = false
samples = 71
)toml";

constexpr const char* kPress = R"toml(
format = 1
[coordinates]
xi = { velocity = 2 }
eta = 0.04
y = 0.1
[energy]
kinetic = "0.1/2*(xi'^2 + eta'^2) + 1/2*(xi'^2 + (eta' + y')^2)"
potential = "0.1*9.81*eta + 9.81*(eta + y) + %"
dissipation = "y'^2"
[[friction]]
name = "piston"
slip = "y'"
normal = 0.5
law = 1
[[contact]]
name = "plane"
gap = "eta"
slip = "xi'"
friction = 0.4
impact = 0
[run]
until = 0.6
[output]
event_rows = false
samples = 61
columns = { N = "normal(plane)" }
)toml";

constexpr const char* kPendulum = R"toml(
format = 1
[coordinates]
q = 1
[energy]
kinetic = "(1 + %)/2*q'^2"
potential = "-9.81*cos(q)"
[[friction]]
name = "pivot"
slip = "q'"
normal = 0.3
law = 1
[run]
until = 6
[output]
event_rows = false
samples = 61
)toml";

constexpr const char* kBelt = R"toml(
format = 1
[coordinates]
x = 0.4
[energy]
kinetic = "x'^2/2"
potential = "2*x^2"
[[friction]]
name = "belt"
slip = "x' - %"
normal = 1
law = { static = 0.6, dynamic = 0.4 }
[run]
until = 12
[output]
event_rows = false
samples = 61
)toml";

constexpr const char* kRelay = R"toml(
format = 1
[coordinates]
x = 1
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[force]]
along = "x'"
value = "0.3*sign(%)"
[run]
until = 10
[output]
event_rows = false
samples = 61
)toml";

constexpr const char* kKlarbring = R"toml(
format = 1
[coordinates]
UN = 0
UT = { start = -0.5, velocity = 0.1 }
[energy]
kinetic = "(UN'^2 + UT'^2)/2"
potential = "UN^2 + UN*UT + UT^2/2"
[[force]]
along = "UN'"
value = 1
[[force]]
along = "UT'"
value = "0.6 + %"
[[contact]]
name = "wall"
gap = "-UN"
slip = "UT'"
friction = 1.25
impact = 0
[run]
until = 3
[output]
event_rows = false
samples = 61
)toml";

constexpr Case kCases[] = {
    {"ball on a moving ground", kBall, 0.05, 3, 2, 0, "x", "t"},
    {"spring of the press", kPress, 0.5, 2, 0, 1000, "y - 0.1", ""},
    {"inertia of a pendulum", kPendulum, 0.3, 1.5, 0, 0.02, "q", ""},
    {"belt with a changing speed", kBelt, 0.5, 1.3, 0, 0, "t + 0.2", ""},
    {"relay switched by a function", kRelay, 1, 0.9, 0.4, 0, "t", "x"},
    {"relay switched by the time", kRelay, 1, 0.9, 0, 0, "t + 0.1", ""},
    {"pressed particle", kKlarbring, 0.2, 1.1, 0, 0, "t", ""},
};

Model language(const Case& c) {
  return Model::from_text(with(c.model, wave_text(c.a, c.b, c.c, c.d, c.first, c.second)));
}
Model outside(const Case& c, int order) {
  const int arguments = *c.second == '\0' ? 1 : 2;
  const std::string call =
      std::string("f(") + c.first + (arguments > 1 ? std::string(", ") + c.second : "") + ")";
  return Model::from_text(with(c.model, call),
                          {.functions = {wave("f", c.a, c.b, c.c, c.d, arguments, order)}});
}

TEST(Functions, ARunIsThatOfTheFormulaInTheLanguage) {
  for (const Case& c : kCases) {
    const Model written = language(c);
    ASSERT_TRUE(written.ok()) << c.name << ": " << written.problems();
    const judder::Run expected = written.run({.tolerance = 1e-11});
    EXPECT_GT(expected.events().size(), 0U) << c.name;
    for (const int order : {8, 2, 1, 0}) {
      const Model model = outside(c, order);
      ASSERT_TRUE(model.ok()) << c.name << ": " << model.problems();
      const judder::Run run = model.run({.tolerance = 1e-11});
      const Distance far = distance(run, expected);
      EXPECT_TRUE(far.same_events) << c.name << ", order " << order;
      EXPECT_LT(far.rows, 1e-8) << c.name << ", order " << order;
      EXPECT_LT(far.times, 1e-8) << c.name << ", order " << order;
      EXPECT_TRUE(run.verdict().silent());
    }
  }
}

TEST(Functions, EnginesWithFixedStepsAgreeToRounding) {
  for (const Case& c : kCases) {
    const Model written = language(c);
    const Model model = outside(c, 2);
    for (const char* engine : {"moreau", "theta"}) {
      const judder::Run expected = written.run({.until = 0.5, .step = 1e-3, .engine = engine});
      const judder::Run run = model.run({.until = 0.5, .step = 1e-3, .engine = engine});
      if (expected.status().reason == Reason::unsupported) {
        EXPECT_EQ(run.status().reason, Reason::unsupported) << c.name << ": " << expected.status().message;
        continue;
      }
      const Distance far = distance(run, expected);
      EXPECT_TRUE(far.same_events) << c.name << ", " << engine;
      EXPECT_LT(far.rows, 1e-11) << c.name << ", " << engine;
    }
  }
}

TEST(Functions, TheEngineForLinearModelsRefusesThem) {
  const Model model = outside(kCases[1], 2);
  const judder::Run run = model.run({.engine = "exact"});
  EXPECT_EQ(run.status().reason, Reason::unsupported);
  EXPECT_EQ(model.run({.until = 0.01, .engine = "auto"}).engine(), "event");
}

TEST(Functions, GradientAndHessianMayBeGivenOneByOne) {
  const std::string text = with(kBall, "f(x, t)");
  const auto value = [](Arguments u) { return 0.05 * std::sin(3 * u[0] + 2 * u[1]); };
  const auto gradient = [](Arguments u, std::span<double> g) {
    g[0] = 0.15 * std::cos(3 * u[0] + 2 * u[1]);
    g[1] = 0.1 * std::cos(3 * u[0] + 2 * u[1]);
  };
  const auto hessian = [](Arguments u, std::span<double> h) {
    const double s = -0.05 * std::sin(3 * u[0] + 2 * u[1]);
    h[0] = 9 * s;
    h[1] = h[2] = 6 * s;
    h[3] = 4 * s;
  };
  const judder::Run expected = language(kCases[0]).run();
  for (const Function& f : {Function{"f", 2, value}, Function{"f", 2, value, gradient},
                            Function{"f", 2, value, gradient, hessian}}) {
    const Distance far = distance(Model::from_text(text, {.functions = {f}}).run(), expected);
    EXPECT_TRUE(far.same_events);
    EXPECT_LT(far.rows, 1e-8);
  }
}

// The body rests on the floor and its weight is balanced to the last bit; the force that lifts it grows like t⁴. Whether it rests or leaves is told by
// the fourth derivative of the force alone.
constexpr const char* kLifted = R"toml(
format = 1
[coordinates]
y = 0
[energy]
kinetic = "y'^2/2"
potential = "8*y"
[[force]]
along = "y'"
value = "8 + lift(t)"
[[contact]]
name = "floor"
gap = "y"
impact = 0
[run]
until = 1
)toml";

Function lift(double size, int order) {
  Function out{.name = "lift", .arguments = 1};
  out.order = order;
  out.partials = [size](Arguments u, int upto, std::span<double> partials) {
    double factor = size;
    for (int k = 0; k <= upto; ++k, factor *= 5 - k)
      partials[static_cast<std::size_t>(k)] = k > 4 ? 0 : factor * std::pow(u[0], 4 - k);
  };
  return out;
}

TEST(Functions, ATieThatNeedsMoreDerivativesThanThereAreIsReported) {
  for (const double size : {1.0, -1.0}) {
    const Model known = Model::from_text(kLifted, {.functions = {lift(size, 4)}});
    ASSERT_TRUE(known.ok()) << known.problems();
    const judder::Run told = known.run();
    EXPECT_TRUE(told.ok()) << told.status().message;
    EXPECT_EQ(told.undecided_ties(), 0) << size;
    EXPECT_NEAR(told.last("y"), size > 0 ? 1.0 / 30 : 0, 1e-9);  // ÿ = t⁴
    for (const int order : {0, 1}) {
      const judder::Run run = Model::from_text(kLifted, {.functions = {lift(size, order)}}).run();
      EXPECT_GT(run.undecided_ties(), 0) << size << ", order " << order;
    }
    // Two orders more are found by differences.
    EXPECT_NEAR(Model::from_text(kLifted, {.functions = {lift(size, 2)}}).run().last("y"), told.last("y"),
                1e-9);
  }
}

Function failing(double from, bool nan = false) {
  return {"f", 1, [from, nan](Arguments u) {
            if (u[0] < from) return 0.0;
            if (nan) return std::nan("");
            throw std::runtime_error("no road beyond\nand a second line");
          }};
}

TEST(Functions, AnExceptionEndsTheRunWithItsWords) {
  for (const char* engine : {"event", "moreau", "theta", "auto"}) {
    // The scheme `theta` has no restitution.
    const Case& c = kCases[engine[0] == 't' ? 3 : 0];
    const Model model = Model::from_text(with(c.model, "f(t)"), {.functions = {failing(0.2)}});
    ASSERT_TRUE(model.ok()) << model.problems();
    for (int again = 0; again < 2; ++again) {
      const judder::Run run =
          model.run({.step = engine[0] == 'm' || engine[0] == 't' ? std::optional(1e-3) : std::nullopt,
                     .engine = engine});
      EXPECT_EQ(run.status().reason, Reason::call_failed) << engine;
      EXPECT_EQ(std::string(name(run.status().reason)), "call-failed");
      EXPECT_EQ(run.status().where, "function 'f'");
      EXPECT_NE(run.status().message.find("has failed: no road beyond"), std::string::npos)
          << run.status().message;
      EXPECT_EQ(run.status().message.find("second"), std::string::npos) << run.status().message;
      EXPECT_LE(run.status().time, 0.2);
      EXPECT_TRUE(model.run({.until = 0.1}).ok());
    }
  }
}

TEST(Functions, OneThatGivesNoNumberIsNamed) {
  const Model model = Model::from_text(with(kCases[0].model, "f(t)"), {.functions = {failing(0.2, true)}});
  for (const char* engine : {"event", "moreau"}) {
    const judder::Run run = model.run({.engine = engine});
    EXPECT_FALSE(run.ok()) << engine;
    EXPECT_NE(run.status().message.find("; f(0.2"), std::string::npos) << run.status().message;
    EXPECT_LE(run.status().time, 0.21);
  }
}

// A long step looks far beyond the motion: what has no value there is not wrong.
TEST(Functions, WhereItHasNoValueAShorterStepIsTaken) {
  constexpr const char* kDrop = R"toml(
format = 1
[coordinates]
y = 1
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[[force]]
along = "y'"
value = "-0.1*root(y)*y'"
[[contact]]
name = "ground"
gap = "y"
impact = 0
[run]
until = 1
)toml";
  const auto root = [](Arguments u) {
    if (u[0] < -1e-6) throw std::domain_error("below the ground");
    return std::sqrt(std::max(u[0], 0.0));
  };
  const Model model = Model::from_text(kDrop, {.functions = {{"root", 1, root}}});
  ASSERT_TRUE(model.ok()) << model.problems();
  const judder::Run run = model.run();
  EXPECT_TRUE(run.ok()) << run.status().message;
  EXPECT_EQ(run.times("impact").size(), 1U);
  // One that has none anywhere further on ends the run, with its words.
  const auto end = [](Arguments u) {
    if (u[0] < 0.5) throw std::overflow_error("too low");
    return u[0];
  };
  const judder::Run ended = Model::from_text(kDrop, {.functions = {{"root", 1, end}}}).run();
  EXPECT_FALSE(ended.ok());
  EXPECT_NE(ended.status().reason, Reason::call_failed);
  EXPECT_NE(ended.status().message.find(" has no value: too low"), std::string::npos)
      << ended.status().message;
}

TEST(Functions, AnExceptionInAColumnIsNotSilent) {
  const std::string text = with(kRelay, "x") + "columns = { c = \"f(t)\" }\n";
  const Model model = Model::from_text(text, {.functions = {failing(2)}});
  ASSERT_TRUE(model.ok()) << model.problems();
  EXPECT_EQ(model.run().status().reason, Reason::call_failed);
}

TEST(Functions, AnExceptionAtTheStartIsAProblemOfTheModel) {
  const Model model = Model::from_text(with(kCases[3].model, "f(t)"), {.functions = {failing(0)}});
  EXPECT_FALSE(model.ok());
  EXPECT_NE(model.problems().find("has failed: no road beyond"), std::string::npos) << model.problems();
  const Model nan = Model::from_text(with(kCases[3].model, "f(t)"), {.functions = {failing(0, true)}});
  EXPECT_NE(nan.problems().find("is nan"), std::string::npos) << nan.problems();
  const Model constant = Model::from_text(with(kCases[3].model, "f(2)*t"), {.functions = {failing(1)}});
  EXPECT_NE(constant.problems().find("f(2) has failed: no road beyond"), std::string::npos)
      << constant.problems();
}

TEST(Functions, AStepperTellsItTooAndGoesNoFurther) {
  const Model model = Model::from_text(with(kCases[3].model, "0.1 + f(t)"), {.functions = {failing(0.5)}});
  ASSERT_TRUE(model.ok()) << model.problems();
  Stepper stepper(model);
  EXPECT_TRUE(stepper.advance_to(0.3));
  EXPECT_FALSE(stepper.advance_to(0.9));
  EXPECT_EQ(stepper.status().reason, Reason::call_failed);
  EXPECT_TRUE(stepper.over());
}

TEST(Functions, ThreadsRunAModelAtOnceWithTheSameBits) {
  const Model model = outside(kCases[0], 0);
  const judder::Run alone = model.run();
  std::vector<std::vector<double>> found(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] { found[i] = model.run().column("y"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& each : found) EXPECT_EQ(each, alone.column("y"));
}

TEST(Functions, AFailureEndsTheRunOfItsThreadAlone) {
  const Model model = Model::from_text(with(kCases[3].model, "v*f(v*t)") + "[parameters]\nv = 1\n",
                                       {.functions = {failing(1)}});
  ASSERT_TRUE(model.ok()) << model.problems();
  std::vector<Reason> reasons(8, Reason::done);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    threads.emplace_back([&, i] {
      const double v = i % 2 == 0 ? 0.01 : 0.5;
      reasons[i] = model.run({.parameters = {{"v", v}}}).status().reason;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < reasons.size(); ++i)
    EXPECT_EQ(reasons[i], i % 2 == 0 ? Reason::done : Reason::call_failed) << i;
}

TEST(Functions, OtherModelsMadeOfOneKeepThem) {
  std::optional<Model> model = outside(kCases[2], 1);
  const judder::Run expected = model->run({.start = {{"q", 0.7}}});
  const Model other = model->with({{"q", 0.7}});
  const Model moved = std::move(*model);
  EXPECT_TRUE(io::load_model(moved.request()).ok());
  EXPECT_EQ(moved.run({.start = {{"q", 0.7}}}).column("q"), expected.column("q"));
  model.reset();
  const judder::Run run = other.run();
  ASSERT_TRUE(run.ok()) << run.status().message;
  EXPECT_EQ(run.column("q"), expected.column("q"));
}

TEST(Functions, OpenParametersMayBeTheirArguments) {
  const std::string text = with(kCases[0].model, "size*f(x, om*t)") + "[parameters]\nom = 2\nsize = 1\n";
  const ModelOptions options{.open = {"om", "size"}, .functions = {wave("f", 0.05, 3, 1, 0, 2, 1)}};
  const Model model = Model::from_text(text, options);
  ASSERT_TRUE(model.ok()) << model.problems();
  const judder::Run open = model.run({.parameters = {{"om", 1.7}, {"size", 0.8}}});
  EXPECT_FALSE(open.compiled());
  EXPECT_EQ(open.column("y"), model.with({{"om", 1.7}, {"size", 0.8}}).run().column("y"));
}

TEST(Functions, TheirNamesAreThoseOfNothingElse) {
  const std::string text = with(kCases[3].model, "v") + "[parameters]\nv = 1\n";
  const auto problems = [&](Function f) {
    return std::string(Model::from_text(text, {.functions = {std::move(f)}}).problems());
  };
  const auto value = [](Arguments) { return 1.0; };
  EXPECT_EQ(problems({"g", 1, value}), "");
  EXPECT_NE(problems({"v", 1, value}).find("'v' is already a function from outside"), std::string::npos)
      << problems({"v", 1, value});
  for (const char* name : {"sin", "if", "sum", "normal", "gap", "energy"})
    EXPECT_NE(problems({name, 1, value}).find("is a function of the language"), std::string::npos) << name;
  for (const char* name : {"t", "pi", "speed"})
    EXPECT_NE(problems({name, 1, value}).find("is a reserved word"), std::string::npos) << name;
  EXPECT_NE(problems({"1st", 1, value}).find("is not a name"), std::string::npos);
  EXPECT_NE(problems({"g", 9, value}).find("9 arguments"), std::string::npos);
  EXPECT_NE(problems({"g", 1}).find("nothing to call"), std::string::npos);
}

TEST(Functions, WithoutThemANameIsUnknown) {
  EXPECT_NE(Model::from_text(with(kBall, "road(x)")).problems().find("unknown function 'road'"),
            std::string::npos);
  const Model near =
      Model::from_text(with(kBall, "rod(x)"), {.functions = {{"road", 1, [](Arguments) { return 0.0; }}}});
  EXPECT_NE(near.problems().find("did you mean 'road'?"), std::string::npos) << near.problems();
}

TEST(Functions, ASpecMayNameThem) {
  model::Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 1});
  spec.energy.kinetic = "x'^2/2";
  spec.energy.potential = "well(x)";
  spec.run.until = 2;
  const Model model =
      Model::from_spec(spec, {.functions = {{"well", 1, [](Arguments u) { return u[0] * u[0] / 2; }}}});
  ASSERT_TRUE(model.ok()) << model.problems();
  EXPECT_NEAR(model.run().last("x"), std::cos(2), 1e-9);
  EXPECT_NEAR(model.with({{"x", 2}}).run().last("x"), 2 * std::cos(2), 1e-9);
}

}  // namespace
}  // namespace judder
