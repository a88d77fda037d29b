// Which models the exact engine takes, and what it says of the others.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

/// A mass on a spring with one more line in the model.
std::string oscillator(const std::string& more) {
  return "[coordinates]\nx = 1\ny = { start = 2, velocity = 1 }\n[energy]\nkinetic = \"x'^2/2 + "
         "y'^2\"\npotential = \"x^2/2\"\n[run]\nuntil = 1\n" +
         more;
}

std::string force(const std::string& value) {
  return oscillator("[[force]]\nalong = \"y'\"\nvalue = \"" + value + "\"\n");
}

std::string reason(const std::string& text) { return text_model(text).system.linear().reason; }

TEST(LinearModels, AreRecognised) {
  const std::vector<std::string> values{
      "-3*y + 2*x - 0.1*y'", "(cos(x)^2 + sin(x)^2)*y",   "(cos(x)^2 + sin(x)^2)*y - x'",
      "abs(y - x)",          "max(0, y - 1) + min(x, y)", "-sign(y')",
      "if(x > 0, 2*y, -y)",  "sin(3*t)*exp(-t)",          "t^2*step(0.5 - t)",
      "sin(2*mod(t, 0.25))"};
  for (const std::string& value : values) EXPECT_EQ(reason(force(value)), "") << value;
  EXPECT_EQ(
      reason(oscillator(
          "[tables]\nf = { x = [-3, 0, 3], y = [1, 2, -1] }\n[[force]]\nalong = \"y'\"\nvalue = \"f(x)\"\n")),
      "");
  EXPECT_EQ(reason(oscillator(
                "[[contact]]\nname = \"c\"\ngap = \"y + 0.2*sin(t)\"\nslip = \"x' - 2\"\nfriction = 0.3\n")),
            "");
  EXPECT_EQ(
      reason(oscillator(
          "[[contact]]\nname = \"c\"\ngap = \"y - 1\"\ncompliant = { stiffness = 100, damping = 1 }\n")),
      "");
  EXPECT_EQ(reason(oscillator("[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = \"3 + y\"\nlaw = 0.2\n")),
            "");
  // With a known normal force a coefficient that grows with the speed is a damper.
  EXPECT_EQ(reason(oscillator(
                "[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 2\nlaw = \"0.3 + 0.1*speed\"\n")),
            "");
  // A moving frame is a load.
  EXPECT_EQ(reason("[coordinates]\nx = 0\n[energy]\nkinetic = \"(x' + cos(t))^2/2\"\npotential = \"(x - "
                   "0.1*sin(3*t))^2\"\n[run]\nuntil = 1\n"),
            "");
}

TEST(LinearModels, OthersAreRefusedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {force("-y^3"), "force on y: y^3"},
      {force("sqrt(x^2 + 1)"), "force on y: sqrt(x^2 + 1)"},
      {force("x*y"), "force on y: x*y"},
      {force("abs(x)*y'"), "force on y: x*y'*sign(x)"},
      {force("-(1 + 0.1*cos(t))*y"), "force on y: y*(0.1*cos(t) + 1) has a factor that varies with time"},
      {force("sin(t^2)"),
       "force on y: sin(t^2) is not a sum of polynomials, exponentials and harmonics of t"},
      {force("sign(x^2 - 1)"), "switch in force.force1.value: x^2"},
      {oscillator("[[contact]]\nname = \"c\"\ngap = \"y - x^2\"\n"), "gap of 'c': x^2"},
      {oscillator("[[contact]]\nname = \"c\"\ngap = \"y\"\nslip = \"x'\"\nfriction = \"0.3 + 0.1*speed\"\n"),
       "friction of 'c': 0.1*x'*direction(c) + 0.3 is not constant"},
      {oscillator("[[contact]]\nname = \"c\"\ngap = \"y\"\nslip = \"cos(x)*x'\"\nfriction = 0.3\n"),
       "slip of 'c': x'*cos(x)"},
      {oscillator("[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = \"1 + y^2\"\nlaw = 0.2\n"),
       "normal force of 'j': y^2"},
      {oscillator(
           "[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = \"3 + y\"\nlaw = \"0.3 + 0.1*speed\"\n"),
       "friction of 'j': (y + 3)*(0.1*x'*direction(j) + 0.3)"},
      {oscillator("[[constraint]]\nname = \"rod\"\nvelocity = \"y*x'\"\n"), "constraint of 'rod': "},
      {oscillator("[[watch]]\nname = \"w\"\nzero = \"x^2 - 1\"\n"), "watch 'w': x^2"},
      // The sum of the forces is linear here, but the work of one of them is no quadratic function.
      {"[coordinates]\nx = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^4/4\"\n[[force]]\nalong = "
       "\"x'\"\nvalue = \"x^3\"\n[run]\nuntil = 1\n",
       "work of 'force1': x^2*x'"},
      {oscillator("[tables]\nf = { x = [-3, 0, 3], y = [1, 2, -1], between = \"cubic\" }\n[[force]]\nalong = "
                  "\"y'\"\nvalue = \"f(x)\"\n"),
       "force on y: "},
      {"[coordinates]\nx = 1\n[energy]\nkinetic = \"(1 + x^2)*x'^2\"\n[run]\nuntil = 1\n",
       "the mass matrix varies: 2*(x^2 + 1)"},
      {"[state]\nu = { start = 1, rate = \"-u^2\" }\n[run]\nuntil = 1\n", "rate of u: u^2"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string found = reason(text);
    EXPECT_EQ(found.substr(0, expected.size()), expected) << text << "\nsays: " << found;
  }
}

TEST(LinearModels, TheReasonHasItsPlaceInTheFile) {
  const std::string text =
      "format = 1\n[coordinates]\nx = 1\ny = 2\n[energy]\nkinetic = \"x'^2/2 + y'^2\"\npotential = "
      "\"x^2/2\"\n[run]\nuntil = 1\n"
      "[[force]]\nalong = \"x'\"\nvalue = \"y\"\n[[force]]\nalong = \"y'\"\nvalue = \"-y^3\"\n";
  const io::ModelFile file = io::read_model_text(text);
  const model::Compiled compiled = model::compile(file.spec);
  ASSERT_TRUE(compiled.system.has_value());
  const model::LinearStructure& linear = compiled.system->linear();
  EXPECT_EQ(linear.reason, "force on y: y^3");
  EXPECT_EQ(linear.where, "force 'force2'");
  EXPECT_EQ(position(text, linear.span.begin).line, 15);
}

// Sliding is linear where the force jumps in one direction, and refused before the run where it does not or where friction is in parallel.
TEST(LinearModels, SlidingIsLinearWhereTheJumpHasOneDirection) {
  const auto problem = [](const std::string& rates) {
    return engines::ExactEngine::unsupported(text_model("[state]\n" + rates + "[run]\nuntil = 1\n").system);
  };
  EXPECT_EQ(
      problem(
          "x = { start = 1, rate = \"-sign(x + y)\" }\ny = { start = 0, rate = \"x - 2*sign(x + y)\" }\n"),
      "");
  EXPECT_EQ(problem("x = { start = 1, rate = \"-sign(x)*(3 + y)\" }\ny = { start = 0, rate = \"x + "
                    "sign(x)*(3 + y)/2\" }\n"),
            "");
  EXPECT_EQ(
      problem("x = { start = 1, rate = \"if(x > 0, -1 - y, 1 + x)\" }\ny = { start = 0, rate = \"if(x "
              "> 0, 1, -y)\" }\n"),
      "the model is not linear between events: switch in state.x.rate: the force jumps in a direction that "
      "varies, so sliding on it would not be linear");
  // A force switched by a position is crossed: nothing slides.
  EXPECT_EQ(engines::ExactEngine::unsupported(text_model(force("if(y > 0, -2*y - x, -y)")).system), "");
  EXPECT_EQ(
      engines::ExactEngine::unsupported(
          text_model(oscillator("[[force]]\nalong = \"y'\"\nvalue = \"-sign(y')\"\n[[friction]]\nname "
                                "= \"j\"\nslip = \"y'\"\nnormal = 1\nlaw = 0.2\n"))
              .system),
      "the model is not linear between events: switch in force.force1.value: it acts in parallel with the "
      "friction of 'j'");
}

TEST(LinearModels, EnginesAreChosenByIt) {
  const TestModel yes = text_model(force("-y"));
  const TestModel no = text_model(force("-y^3"));
  EXPECT_EQ(simulate::engine_problem(yes.system, "exact"), "");
  EXPECT_EQ(simulate::engine_problem(no.system, "exact"),
            "the model is not linear between events: force on y: y^3");
  EXPECT_EQ(simulate::engine_used(yes.system, "auto"), "exact");
  EXPECT_EQ(simulate::engine_used(no.system, "auto"), "event");
  const simulate::Result refused = simulate::simulate(no.system, no.options, "exact");
  EXPECT_EQ(refused.end.status.reason, Reason::unsupported);
  EXPECT_EQ(simulate::simulate(no.system, no.options, "auto").engine, "event");
  EXPECT_EQ(simulate::simulate(yes.system, yes.options, "auto").engine, "exact");
}

}  // namespace
}  // namespace judder
