// Costs of one evaluation, beside muParser and beside the same formula compiled by the C++ compiler.
//
// Goals: value at most 0.6 of muParser and 4 times C++; a lane of a batch of 8 at most 0.1 of muParser; a whole gradient at most 5
// times its value for up to 30 variables. Compare figures of one run only.
#include <benchmark/benchmark.h>
#include <muParser.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "judder/expr/program.hpp"
#include "judder/expr/syntax.hpp"

namespace {

using namespace judder::expr;

constexpr const char* kFormula = "1.5*cos(2.0*t+0.1) - 0.3*x^3 + 0.01*t*x";

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

void judder_value(benchmark::State& state) {
  const Program p = value_program(kFormula);
  std::vector<double> registers(static_cast<std::size_t>(p.registers()));
  double in[2] = {0.3, 0.7}, out = 0;
  for (auto _ : state) {
    p.evaluate(in, &out, registers.data());
    benchmark::DoNotOptimize(out);
    in[0] += 1e-6;
  }
}
BENCHMARK(judder_value);

void muparser_value(benchmark::State& state) {
  double in[2] = {0.3, 0.7};
  mu::Parser parser;
  parser.DefineVar("t", &in[0]);
  parser.DefineVar("x", &in[1]);
  parser.SetExpr(kFormula);
  for (auto _ : state) {
    double out = parser.Eval();
    benchmark::DoNotOptimize(out);
    in[0] += 1e-6;
  }
}
BENCHMARK(muparser_value);

[[gnu::noinline]] double compiled(const double* in) {
  const double t = in[0], x = in[1];
  return 1.5 * std::cos(2.0 * t + 0.1) - 0.3 * x * x * x + 0.01 * t * x;
}

void cpp_value(benchmark::State& state) {
  double in[2] = {0.3, 0.7};
  for (auto _ : state) {
    double out = compiled(in);
    benchmark::DoNotOptimize(out);
    in[0] += 1e-6;
  }
}
BENCHMARK(cpp_value);

void judder_batch_of_8_per_lane(benchmark::State& state) {
  const Program p = value_program(kFormula);
  std::vector<double> registers(static_cast<std::size_t>(p.registers()) * 8), in(16), out(8);
  for (std::size_t i = 0; i < 16; ++i) in[i] = 0.3 + 0.01 * static_cast<double>(i);
  while (state.KeepRunningBatch(8)) {
    p.evaluate_batch<8>(in.data(), out.data(), registers.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(judder_batch_of_8_per_lane);

void judder_series_of_order_8(benchmark::State& state) {
  const Program p = value_program(kFormula);
  std::vector<Series> registers(static_cast<std::size_t>(p.registers()));
  Series in[2], out;
  in[0].c[0] = 0.3, in[0].c[1] = 1;
  in[1].c[0] = 0.7, in[1].c[1] = -0.2, in[1].c[2] = 0.05;
  for (auto _ : state) {
    p.evaluate_series(in, &out, registers.data(), kTaylorOrder);
    benchmark::DoNotOptimize(out);
    in[0].c[0] += 1e-6;
  }
}
BENCHMARK(judder_series_of_order_8);

void judder_interval(benchmark::State& state) {
  const Program p = value_program(kFormula);
  std::vector<Interval> registers(static_cast<std::size_t>(p.registers()));
  Interval in[2] = {{0.3, 0.31}, {0.7, 0.72}}, out;
  for (auto _ : state) {
    p.evaluate_interval(in, &out, registers.data());
    benchmark::DoNotOptimize(out);
    in[0].low += 1e-9;
  }
}
BENCHMARK(judder_interval);

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

void long_value(benchmark::State& state, bool with_gradient) {
  Graph graph;
  const auto n = static_cast<int>(state.range(1));
  std::vector<Node> outputs{read(graph, long_formula(static_cast<int>(state.range(0)), n))};
  if (with_gradient) {
    for (Variable v = 0; v < graph.variable_count(); ++v) outputs.push_back(graph.derivative(outputs[0], v));
  }
  const Program p = compile(graph, outputs, all_variables(graph), n, Sides::by_value);
  std::vector<double> registers(static_cast<std::size_t>(p.registers())), in(static_cast<std::size_t>(n)),
      out(outputs.size());
  for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = 0.1 * i;
  for (auto _ : state) {
    p.evaluate(in.data(), out.data(), registers.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
void value_of_many(benchmark::State& state) { long_value(state, false); }
void gradient_of_many(benchmark::State& state) { long_value(state, true); }
BENCHMARK(value_of_many)->ArgsProduct({{0, 1, 2}, {5, 30}});
BENCHMARK(gradient_of_many)->ArgsProduct({{0, 1, 2}, {5, 30}});

}  // namespace

BENCHMARK_MAIN();
