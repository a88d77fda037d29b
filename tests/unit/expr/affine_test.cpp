// Affine forms with loads of time: what is one, what is not, and that the form has the value of the formula.
#include "judder/expr/affine.hpp"

#include "expr_support.hpp"

namespace judder::expr {
namespace {

using test::Room;

/// Value of the form at x, y and t, coefficients evaluated at the same point.
double form_value(const Graph& graph, const AffineForm& form, const std::vector<double>& at) {
  const auto number = [&](Node node) { return graph.evaluate(node, at); };
  const double t = at[0];
  double sum = 0;
  for (const auto& [variable, slope] : form.slopes) sum += number(slope) * at[variable + 1];
  for (const TimeTerm& term : form.load) {
    const double phase = number(term.frequency) * t;
    sum += std::pow(t, term.power) * std::exp(number(term.rate) * t) *
           (number(term.cosine) * std::cos(phase) + number(term.sine) * std::sin(phase));
  }
  return sum;
}

std::optional<AffineForm> form_of(Room& room, const std::string& text, Obstacle& obstacle) {
  const std::vector<Variable> variables{1, 2};  // x, y; z counts as a coefficient
  return affine_form(room.graph, room.read(text), variables, 0, obstacle);
}

TEST(AffineForm, HasTheValueOfTheFormula) {
  const std::vector<std::string> texts{
      "3*x - 2*y + 5",
      "z*x + exp(z)*y - z^2",
      "2*(x - 3*(y - x/7)) + t",
      "x + sin(3*t + 0.4)",
      "4*cos(2*t - z)*exp(-0.3*t) - y",
      "t^3*exp(-t)*sin(5*t) + x",
      "sin(t)*cos(2*t)*sin(3*t + 1)",
      "(t + sin(2*t))^3",
      "cosh(0.3*t + 0.1) - sinh(0.2*t)*t",
      "2^t + z^(0.5*t)",
      "sin(t)^4",
      "(cos(x)^2 + sin(x)^2)*y",
      "abs(x)",
      "max(x, 2*y) - min(t, 1)",
      "if(x > y, 3*x - t, 2*y + sin(t))",
      "sign(x - 1)*(x + y) + step(t - 0.1)*t^2",
      "mod(t, 0.25)",
      "sin(3*mod(t, 0.25))",
      "floor(x)*y + floor(t/0.2)",
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (const std::string& text : texts) {
    Room room;
    Obstacle obstacle;
    const auto form = form_of(room, text, obstacle);
    ASSERT_TRUE(form.has_value()) << text << ": " << room.graph.text(obstacle.part);
    const Node node = room.read(text);
    for (int trial = 0; trial < 50; ++trial) {
      const std::vector<double> at{std::abs(uniform(random)), uniform(random), uniform(random),
                                   1.5 + 0.5 * uniform(random)};
      const double expected = room.graph.evaluate(node, at);
      EXPECT_NEAR(form_value(room.graph, *form, at), expected, 1e-12 * (1 + std::abs(expected)) * 100)
          << text << " at t=" << at[0] << " x=" << at[1] << " y=" << at[2] << " z=" << at[3];
    }
  }
}

TEST(AffineForm, RefusesWhatIsNotAffineAndNamesTheTerm) {
  struct Case {
    std::string text, part;
    Obstacle::Kind kind;
  };
  const std::vector<Case> cases{
      {"2*x + y^3 - 1", "y^3", Obstacle::Kind::not_affine},
      {"x*y + x", "x*y", Obstacle::Kind::not_affine},
      {"sqrt(x^2 + 1)", "sqrt(x^2 + 1)", Obstacle::Kind::not_affine},
      {"1/x", "1/x", Obstacle::Kind::not_affine},
      {"abs(x)*x", "x^2*sign(x)", Obstacle::Kind::not_affine},
      {"sin(x)^2*y", "y*sin(x)^2", Obstacle::Kind::not_affine},
      {"hypot(x, 0.001)", "hypot(x, 0.001)", Obstacle::Kind::not_affine},
      {"if(x > 0, x^2, y)", "if(x > 0, x^2, y)", Obstacle::Kind::not_affine},
      {"exp(x - x^2/(1 + x^2))", "", Obstacle::Kind::not_affine},
      {"(1 + 0.1*cos(t))*x", "", Obstacle::Kind::varying_slope},
      {"t*y - 1", "t*y", Obstacle::Kind::varying_slope},
      {"x + sin(t^2)", "sin(t^2)", Obstacle::Kind::load},
      {"x + 1/(1 + t)", "1/(t + 1)", Obstacle::Kind::load},
      {"y + sqrt(t)", "sqrt(t)", Obstacle::Kind::load},
      {"y + tanh(t)", "tanh(t)", Obstacle::Kind::load},
      {"y + abs(t)^2.5", "", Obstacle::Kind::load},
      {"y + t^13", "t^13", Obstacle::Kind::load},
  };
  for (const Case& c : cases) {
    Room room;
    Obstacle obstacle;
    EXPECT_FALSE(form_of(room, c.text, obstacle).has_value()) << c.text;
    EXPECT_EQ(static_cast<int>(obstacle.kind), static_cast<int>(c.kind)) << c.text;
    if (!c.part.empty()) {
      EXPECT_EQ(room.graph.text(obstacle.part), c.part) << c.text;
    }
  }
}

// Random formulas of every kind: whatever is accepted is affine, judged by second differences along random lines at fixed sides and time.
TEST(AffineForm, NeverAcceptsWhatIsNotAffine) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-2, 2);
  int accepted = 0;
  for (int trial = 0; trial < count(20'000); ++trial) {
    Room room;
    std::function<std::string(int)> make = [&](int depth) -> std::string {
      const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
      if (depth == 0) {
        static const char* const kLeaves[] = {"x", "y", "z", "t", "2", "0.5", "x", "y"};
        return kLeaves[pick(8)];
      }
      const std::string a = make(depth - 1);
      const std::string b = make(depth - 1);
      switch (pick(12)) {
        case 0:
          return "(" + a + ")*(" + b + ")";
        case 1:
          return "sin(" + a + ")";
        case 2:
          return "(" + a + ")^2";
        case 3:
          return "abs(" + a + ")";
        case 4:
          return "max(" + a + ", " + b + ")";
        case 5:
          return "(" + a + ")/(1 + (" + b + ")^2)";
        case 6:
          return "exp(0.1*(" + a + "))";
        case 7:
          return "cos(" + a + ")^2*(" + b + ") + sin(" + a + ")^2*(" + b + ")";
        default:
          return "(" + a + ") " + (pick(2) == 0 ? "+" : "-") + " (" + b + ")";
      }
    };
    const std::string text = make(1 + static_cast<int>(random() % 3U));
    Obstacle obstacle;
    const auto form = form_of(room, text, obstacle);
    if (!form) continue;
    ++accepted;
    const Node node = room.read(text);
    const Program program =
        compile(room.graph, std::span(&node, 1), room.map(),
                static_cast<int>(room.graph.variable_count() + room.graph.switches().size()), Sides::given);
    std::vector<double> in(room.graph.variable_count() + room.graph.switches().size());
    for (std::size_t i = room.graph.variable_count(); i < in.size(); ++i)
      in[i] = static_cast<double>(random() % 2U);
    std::vector<double> registers(static_cast<std::size_t>(program.registers()) + 1);
    const double t = uniform(random), z = uniform(random), x = uniform(random), y = uniform(random),
                 dx = uniform(random), dy = uniform(random);
    double value[3];
    double size = 0;
    for (int k = 0; k < 3; ++k) {
      in[0] = t;
      in[1] = x + k * dx;
      in[2] = y + k * dy;
      in[3] = z;
      program.evaluate(in.data(), &value[k], registers.data());
      size = std::max(size, std::abs(value[k]));
    }
    EXPECT_NEAR(value[0] - 2 * value[1] + value[2], 0, 1e-11 * (1 + size)) << text;
  }
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace judder::expr
