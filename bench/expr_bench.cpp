// Costs of one evaluation, beside muParser and beside the same formula compiled by the C++ compiler.
#include <cmath>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "judder/expr/program.hpp"
#include "judder/expr/syntax.hpp"
#include "measure.hpp"

#ifdef JUDDER_WITH_MUPARSER
#include <muParser.h>
#endif

namespace {

using namespace judder::expr;
using namespace judder::bench;

constexpr const char* kFormula = "1.5*cos(2.0*t+0.1) - 0.3*x^3 + 0.01*t*x";
// Many short rounds: the clock of a shared machine changes within milliseconds, and the two sides of a ratio must fall on the same.
constexpr int kRounds = 801;
constexpr double kRoundSeconds = 2.5e-4;
constexpr double kStep = 1e-6;  ///< of t between two evaluations: no result can be used twice

template <class T>
struct Aligned {
  using value_type = T;
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
};

class Names : public Environment {
 public:
  explicit Names(Graph& graph) : graph_(graph) {}
  Meaning meaning(std::string_view name) override {
    const std::string key(name);
    if (!variables_.contains(key)) variables_[key] = graph_.declare(key);
    return Scalar{graph_.variable(variables_[key])};
  }
  std::vector<std::string> names() override { return {}; }
  std::variant<Node, Forbidden> prime(Node) override { return Forbidden{}; }

 private:
  Graph& graph_;
  std::map<std::string, Variable> variables_;
};

Node read(Graph& graph, const std::string& text) {
  std::vector<Problem> problems;
  Names names(graph);
  return lower(*parse(text, problems), graph, names, {}, problems).value();
}

InputMap all_variables(const Graph& graph) {
  InputMap map;
  for (std::size_t i = 0; i < graph.variable_count(); ++i) map.variable.push_back(static_cast<int>(i));
  return map;
}

Program value_program(const std::string& text) {
  Graph graph;
  const Node node = read(graph, text);
  const std::vector<Node> outputs{node};
  return compile(graph, outputs, all_variables(graph), static_cast<int>(graph.variable_count()),
                 Sides::by_value);
}

[[gnu::noinline]] double compiled(const double* in) {
  const double t = in[0], x = in[1];
  return 1.5 * std::cos(2.0 * t + 0.1) - 0.3 * x * x * x + 0.01 * t * x;
}

void one_formula() {
  const Program program = value_program(kFormula);
  std::vector<double> registers(static_cast<std::size_t>(program.registers()));
  double in[2] = {0.3, 0.7}, out = 0;
  const Repeat ours = [&](long n) {
    in[0] = 0.3;
    for (long i = 0; i < n; ++i, in[0] += kStep) {
      program.evaluate(in, &out, registers.data());
      keep(out);
    }
  };
  const Repeat cpp = [&](long n) {
    in[0] = 0.3;
    for (long i = 0; i < n; ++i, in[0] += kStep) {
      out = compiled(in);
      keep(out);
    }
  };
  constexpr int kLanes = 8;
  // Rows of lanes that fill cache lines: a batch need not be aligned, but loads that straddle two lines cost twice.
  std::vector<double, Aligned<double>> wide_registers(registers.size() * kLanes), wide_in(2 * kLanes),
      wide_out(kLanes);
  const Repeat batch = [&](long n) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      wide_in[lane] = 0.3 + 0.01 * static_cast<double>(lane);
      wide_in[kLanes + lane] = 0.7 - 0.02 * static_cast<double>(lane);
    }
    for (long i = 0; i < n; ++i) {
      program.evaluate_batch<kLanes>(wide_in.data(), wide_out.data(), wide_registers.data());
      keep(wide_out[0]);
    }
  };
#ifdef JUDDER_WITH_MUPARSER
  mu::Parser parser;
  parser.DefineVar("t", &in[0]);
  parser.DefineVar("x", &in[1]);
  parser.SetExpr(kFormula);
  const Repeat peer = [&](long n) {
    in[0] = 0.3;
    for (long i = 0; i < n; ++i, in[0] += kStep) {
      out = parser.Eval();
      keep(out);
    }
  };
  const Rounds rounds({ours, cpp, batch, peer}, kRounds, kRoundSeconds);
  line("one value", rounds.seconds(0), "muParser", rounds.seconds(3), rounds.ratio(0, 3), 0.6, true);
  line("batch of 8, one lane", rounds.seconds(2) / kLanes, "muParser", rounds.seconds(3),
       rounds.ratio(2, 3) / kLanes, 0.1, true);
#else
  std::printf("  muParser is not installed (libmuparser-dev): its two lines are left out\n");
  const Rounds rounds({ours, cpp, batch}, kRounds, kRoundSeconds);
  figure("batch of 8, one lane", rounds.seconds(2) / kLanes, "");
#endif
  line("one value", rounds.seconds(0), "C++", rounds.seconds(1), rounds.ratio(0, 1), 4, true);
}

/// Formulas of n variables whose gradients are large: a chain of springs, a product of all, one function inside the other.
std::string long_formula(int kind, int n) {
  std::ostringstream text;
  if (kind == 0) {
    for (int i = 1; i < n; ++i)
      text << (i > 1 ? " + " : "") << "(hypot(x" << i << " - x" << i - 1 << ", 0.1) - 0.3)^2";
  } else if (kind == 1) {
    for (int i = 0; i < n; ++i) text << (i > 0 ? "*" : "") << "(1 + x" << i << ")";
  } else {
    for (int i = 1; i < n; ++i) text << "sin(";
    text << "x0";
    for (int i = 1; i < n; ++i) text << " + x" << i << ")";
  }
  return text.str();
}

void gradient(const char* name, int kind, int n) {
  Graph graph;
  std::vector<Node> outputs{read(graph, long_formula(kind, n))};
  const Program value = compile(graph, outputs, all_variables(graph), n, Sides::by_value);
  for (Variable v = 0; v < graph.variable_count(); ++v) outputs.push_back(graph.derivative(outputs[0], v));
  const Program whole = compile(graph, outputs, all_variables(graph), n, Sides::by_value);
  std::vector<double> in(static_cast<std::size_t>(n)), out(outputs.size());
  std::vector<double> registers(static_cast<std::size_t>(std::max(value.registers(), whole.registers())));
  const auto work = [&](const Program& program) {
    return [&](long calls) {
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.1 * static_cast<double>(i);
      for (long i = 0; i < calls; ++i, in[0] += kStep) {
        program.evaluate(in.data(), out.data(), registers.data());
        keep(out[0]);
      }
    };
  };
  const Rounds rounds({work(whole), work(value)}, kRounds, kRoundSeconds);
  line("gradient, " + std::to_string(n) + " variables, " + name, rounds.seconds(0), "its value",
       rounds.seconds(1), rounds.ratio(0, 1), 5, true);
}

}  // namespace

int main() {
  std::printf("  expression: %s\n", kFormula);
  heading();
  one_formula();
  for (const int n : {5, 30}) {
    gradient("chain of springs", 0, n);
    gradient("product", 1, n);
    gradient("nested sines", 2, n);
  }
}
