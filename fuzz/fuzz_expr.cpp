// Any bytes as an expression: parse, lower, differentiate, print, read again, compile, and run all evaluators.
//
// Besides crashes and sanitizer reports it looks for broken promises: offsets outside the text, refusals without a message, printed
// text that does not parse, intervals with NaN or without the value.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "judder/expr/program.hpp"
#include "judder/expr/syntax.hpp"

namespace {

using namespace judder::expr;

void require(bool promise) {
  if (!promise) std::abort();
}

class Names : public Environment {
 public:
  explicit Names(Graph& graph) : graph_(graph) {
    for (const char* name : {"t", "x", "y"}) variables_.push_back(graph.declare(name));
    std::vector<Problem> none;
    body_ = *parse("a*x + if(a > y, a, floor(y))", none);
    table_ = graph.add_table("f", {0, 1, 3}, {2, 4, 0}, TableShape::cubic, TableOutside::hold);
  }
  Meaning meaning(std::string_view name) override {
    if (name == "t" || name == "x" || name == "y")
      return Scalar{graph_.variable(variables_[name == "t" ? 0 : name == "x" ? 1 : 2])};
    if (name == "g") return Macro{&body_, {"a"}, "definitions.g"};
    if (name == "f") return Lookup{table_};
    if (name == "q") {
      return Family{{2}, [this](std::span<const int> i) -> std::optional<Node> {
                      if (i[0] < 1 || i[0] > 2) return std::nullopt;
                      return graph_.variable(variables_[static_cast<std::size_t>(i[0])]);
                    }};
    }
    return {};
  }
  std::vector<std::string> names() override { return {"t", "x", "y", "g", "f", "q"}; }
  std::variant<Node, Forbidden> prime(Node node) override {
    return graph_.add(graph_.derivative(node, 0),
                      graph_.multiply(graph_.derivative(node, 1), graph_.variable(2)));
  }

 private:
  Graph& graph_;
  std::vector<Variable> variables_;
  Tree body_;
  TableId table_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Problem> problems;
  (void)parse_ranges(text, problems);
  (void)parse_signature(text, problems);
  problems.clear();
  const std::optional<Tree> tree = parse(text, problems);
  const auto check_problems = [&] {
    require(!problems.empty());
    for (const Problem& p : problems)
      require(p.begin <= p.end && p.begin <= size && p.end <= size + 1 && !p.message.empty());
  };
  if (!tree) {
    check_problems();
    return 0;
  }
  // Printed text has brackets that the original did without: only the limits of the language may stand in its way.
  const auto only_limits = [](const std::vector<Problem>& found) {
    const std::string& why = found.at(0).message;
    return why.find("200 levels") != std::string::npos || why.find("1000 operations") != std::string::npos ||
           why.find("64 KiB") != std::string::npos;
  };
  std::vector<Problem> again;
  require(parse(to_text(*tree), again).has_value() || only_limits(again));

  Graph graph;
  Names names(graph);
  const std::optional<Node> node = lower(*tree, graph, names, {}, problems);
  if (!node) {
    check_problems();
    return 0;
  }
  if (graph.size() > 20'000) return 0;  // slow, not wrong
  std::vector<Node> outputs{*node, graph.derivative(*node, 1)};
  const std::string printed = graph.text(*node);
  (void)graph.latex(outputs[1]);
  again.clear();
  if (!parse(printed, again)) require(only_limits(again) || printed.find("…") != std::string::npos);

  InputMap map;
  map.variable = {0, 1, 2};
  for (std::size_t i = 0; i < graph.switches().size(); ++i) map.side.push_back(static_cast<int>(3 + i));
  const auto inputs = static_cast<int>(3 + graph.switches().size());
  const Program p = compile(graph, outputs, map, inputs, Sides::by_value);
  const auto n = static_cast<std::size_t>(p.registers());
  const std::vector<double> at{0.3, 0.7, -1.2};
  std::vector<double> in = at, registers(n), out(2);
  in.resize(static_cast<std::size_t>(inputs), 1.0);
  p.evaluate(in.data(), out.data(), registers.data());
  (void)graph.evaluate(*node, at);

  std::vector<double> in8(in.size() * 8), out8(16), registers8(n * 8);
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t lane = 0; lane < 8; ++lane) in8[i * 8 + lane] = in[i];
  }
  p.evaluate_batch<8>(in8.data(), out8.data(), registers8.data());
  std::vector<Series> series_in(in.size()), series_out(2), series(n);
  for (std::size_t i = 0; i < in.size(); ++i) series_in[i].c[0] = in[i];
  series_in[1].c[1] = 1;
  p.evaluate_series(series_in.data(), series_out.data(), series.data(), kTaylorOrder);
  std::vector<Interval> interval_in(in.size()), interval_out(2), intervals(n);
  for (std::size_t i = 0; i < in.size(); ++i) interval_in[i] = {in[i], in[i] + 0.1};
  p.evaluate_interval(interval_in.data(), interval_out.data(), intervals.data());
  for (const Interval& i : interval_out) require(i.low <= i.high);
  if (std::isfinite(out[0])) require(interval_out[0].low <= out[0] && out[0] <= interval_out[0].high);

  const Program given = compile(graph, outputs, map, inputs, Sides::given);
  registers.resize(static_cast<std::size_t>(given.registers()));
  given.evaluate(in.data(), out.data(), registers.data());
  return 0;
}
