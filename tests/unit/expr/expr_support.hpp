// What the tests of expressions share: a small environment, random formulas, and numbers compared by their scale.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/expr/program.hpp"
#include "judder/expr/syntax.hpp"

namespace judder::expr::test {

/// Variables t, x, y, z; more can be added. A prime on a variable v gives the variable dv if there is one.
class Room : public Environment {
 public:
  Room() {
    for (const char* name : {"t", "x", "y", "z"}) declare(name);
  }
  Variable declare(const std::string& name) {
    const Variable v = graph.declare(name);
    variables[name] = v;
    return v;
  }
  Meaning meaning(std::string_view name) override {
    const std::string key(name);
    if (const auto it = meanings.find(key); it != meanings.end()) return it->second;
    if (const auto it = variables.find(key); it != variables.end()) return Scalar{graph.variable(it->second)};
    return {};
  }
  std::vector<std::string> names() override {
    std::vector<std::string> all;
    for (const auto& [name, v] : variables) all.push_back(name);
    for (const auto& [name, m] : meanings) all.push_back(name);
    return all;
  }
  std::variant<Node, Forbidden> prime(Node node) override {
    // The total derivative along x' = y, y' = z, t' = 1.
    const Node rates[] = {graph.constant(1), graph.variable(2), graph.variable(3)};
    std::vector<Node> terms;
    for (Variable v = 0; v < 3; ++v) terms.push_back(graph.multiply(graph.derivative(node, v), rates[v]));
    return graph.sum(terms);
  }

  /// The node of a text; a test failure and the constant 0 if it has problems.
  Node read(const std::string& text) {
    problems.clear();
    const std::optional<Tree> tree = parse(text, problems);
    std::optional<Node> node;
    if (tree) node = lower(*tree, graph, *this, options, problems);
    if (!node) {
      ADD_FAILURE() << text << ": " << (problems.empty() ? "no problem" : problems[0].message);
      return graph.constant(0);
    }
    return *node;
  }
  /// The problems of a text that must not be accepted.
  std::vector<Problem> refuse(const std::string& text) {
    std::vector<Problem> found;
    const std::optional<Tree> tree = parse(text, found);
    if (tree) {
      const std::optional<Node> node = lower(*tree, graph, *this, options, found);
      EXPECT_FALSE(node.has_value()) << text;
    }
    EXPECT_FALSE(found.empty()) << text;
    return found;
  }
  double value(const std::string& text, const std::vector<double>& at = {0.3, 0.7, -1.2, 2.0}) {
    return graph.evaluate(read(text), at);
  }
  InputMap map() const {
    InputMap m;
    for (std::size_t i = 0; i < graph.variable_count(); ++i) m.variable.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < graph.switches().size(); ++i)
      m.side.push_back(static_cast<int>(graph.variable_count() + i));
    return m;
  }
  Program program(const std::vector<Node>& outputs, Sides sides = Sides::by_value) const {
    const std::size_t n = graph.variable_count() + (sides == Sides::given ? graph.switches().size() : 0);
    return compile(graph, outputs, map(), static_cast<int>(n), sides);
  }

  Graph graph;
  std::map<std::string, Variable> variables;
  std::map<std::string, Meaning> meanings;
  LowerOptions options;
  std::vector<Problem> problems;
};

inline std::vector<double> run(const Program& p, const std::vector<double>& in) {
  std::vector<double> out(static_cast<std::size_t>(p.outputs())),
      registers(static_cast<std::size_t>(p.registers()));
  p.evaluate(in.data(), out.data(), registers.data());
  return out;
}

inline bool near_relative(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

/// Random formulas as text, in a syntax that other programs read too. `wild` also uses functions that are not smooth.
class Formulas {
 public:
  Formulas(unsigned seed, bool wild) : random_(seed), wild_(wild) {}

  std::string make(int depth) {
    if (depth == 0 || pick(6) == 0) return leaf();
    switch (pick(wild_ ? 12 : 9)) {
      case 0:
        return "(" + make(depth - 1) + " + " + make(depth - 1) + ")";
      case 1:
        return "(" + make(depth - 1) + " - " + make(depth - 1) + ")";
      case 2:
        return make(depth - 1) + "*" + make(depth - 1);
      case 3:
        return "(" + make(depth - 1) + ")/(" + bounded_below(depth - 1) + ")";
      case 4:
        return "(" + make(depth - 1) + ")^" + std::to_string(2 + pick(3));
      case 5:
        return "-(" + make(depth - 1) + ")";
      case 6:
        return tame(depth - 1);
      case 7:
        return tame(depth - 1);
      case 8:
        return "sqrt(" + bounded_below(depth - 1) + ")";
      case 9:
        return "abs(" + make(depth - 1) + ")";
      case 10:
        return "min(" + make(depth - 1) + ", " + make(depth - 1) + ")";
      default:
        return "max(" + make(depth - 1) + ", " + make(depth - 1) + ")";
    }
  }
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::vector<double> point() { return {uniform(-2, 2), uniform(-2, 2), uniform(-2, 2), uniform(-2, 2)}; }

 private:
  std::string leaf() {
    static const char* const kLeaves[] = {"t", "x", "y", "z", "0.5", "2", "3", "1.25", "0.1"};
    return kLeaves[pick(9)];
  }
  std::string bounded_below(int depth) { return "(" + make(depth) + ")^2 + 0.5"; }
  /// A function whose argument is kept inside its domain, with values of moderate size.
  std::string tame(int depth) {
    static const char* const kAny[] = {"sin", "cos", "atan", "tanh", "asinh"};
    static const char* const kInside[] = {"asin", "acos", "atanh", "tan", "exp", "sinh", "cosh"};
    static const char* const kPositive[] = {"log", "sqrt"};
    switch (pick(3)) {
      case 0:
        return std::string(kAny[pick(5)]) + "(" + make(depth) + ")";
      case 1:
        return std::string(kInside[pick(7)]) + "(0.9*sin(" + make(depth) + "))";
      default:
        return std::string(kPositive[pick(2)]) + "(" + bounded_below(depth) + ")";
    }
  }
  std::mt19937 random_;
  bool wild_;
};

}  // namespace judder::expr::test
