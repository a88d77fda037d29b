// Graphs of models with open parameters, and what becomes of them for given values.
#include <algorithm>
#include <map>

#include "expr/graph_data.hpp"

namespace judder::expr {
namespace {

/// What a formula is apart from its numbers. An operand that is a constant counts as one of the numbers.
std::vector<std::uint64_t> skeleton(const Graph::Data& d, std::uint32_t index) {
  const Entry& e = d.entries[index];
  const auto terms = d.terms(Node{index});
  std::vector<std::uint64_t> out{static_cast<std::uint64_t>(e.kind), static_cast<std::uint64_t>(e.function),
                                 e.extra, terms.size()};
  if (terms.empty() && e.kind != NodeKind::constant) out.push_back(e.first);
  constexpr std::uint64_t kNumber = ~std::uint64_t{0};
  for (const Term& term : terms) out.push_back(d.is_constant(term.node) ? kNumber : term.node.index);
  return out;
}

template <class Take>
void each_number(const Graph::Data& d, Node node, const Take& take) {
  take(d.at(node).value);
  for (const Term& term : d.terms(node)) {
    take(term.coefficient);
    if (d.is_constant(term.node)) take(d.at(term.node).value);
  }
}

bool has_open(const Graph::Data& d, Node node) {
  bool open = false;
  each_number(d, node, [&](const Number& number) { open = open || number.open(); });
  return open;
}

double bound_value(const Number& number, std::span<const double> values) {
  return number.open() ? values[number.origin()->step] : number.raw();
}

}  // namespace

Node Graph::open(std::string name, double value, Number otherwise) {
  if (!data_->tape) data_->tape = std::make_unique<Tape>();
  return constant(data_->tape->open(std::move(name), value, otherwise));
}

Tape* Graph::tape() const { return data_->tape.get(); }

std::vector<std::vector<Node>> Graph::alike(std::span<const Node> compared) const {
  const Data& d = *data_;
  std::map<std::vector<std::uint64_t>, std::vector<Node>> groups;
  std::vector<Node> constants;
  for (const Node node : compared) {
    if (d.is_constant(node)) constants.push_back(node);
  }
  for (std::uint32_t i = 0; i < d.entries.size(); ++i) {
    const Entry& e = d.entries[i];
    if (e.kind == NodeKind::constant || e.kind == NodeKind::variable) continue;
    groups[skeleton(d, i)].push_back(Node{i});
    // Branches are compared with each other.
    if (e.kind != NodeKind::select) continue;
    for (const Term& term : d.terms(Node{i})) {
      if (d.is_constant(term.node)) constants.push_back(term.node);
    }
  }
  std::sort(constants.begin(), constants.end());
  constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
  std::vector<std::vector<Node>> out;
  const auto add = [&](std::vector<Node>& group) {
    const auto open = [&](Node node) { return has_open(d, node); };
    if (group.size() > 1 && std::any_of(group.begin(), group.end(), open)) out.push_back(std::move(group));
  };
  for (auto& [key, group] : groups) add(group);
  add(constants);
  return out;
}

bool Graph::coincide(std::span<const std::vector<Node>> alike, std::span<const double> values) const {
  std::vector<double> numbers;
  std::vector<std::size_t> order;
  for (const std::vector<Node>& group : alike) {
    numbers.clear();
    for (const Node node : group) {
      each_number(*data_, node,
                  [&](const Number& number) { numbers.push_back(bound_value(number, values)); });
    }
    const std::size_t width = numbers.size() / group.size();
    const auto row = [&](std::size_t i) {
      return std::span<const double>(numbers).subspan(i * width, width);
    };
    order.resize(group.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (std::equal(row(order[i]).begin(), row(order[i]).end(), row(order[i - 1]).begin())) return true;
    }
  }
  return false;
}

Graph Graph::bound(std::span<const double> values) const {
  Graph out;
  Data& to = *out.data_;
  const Data& from = *data_;
  to.entries = from.entries;
  to.pool = from.pool;
  for (Entry& entry : to.entries) entry.value = bound_value(entry.value, values);
  for (Term& term : to.pool) term.coefficient = bound_value(term.coefficient, values);
  to.names = from.names;
  to.variable_nodes = from.variable_nodes;
  to.switches = from.switches;
  to.lists = from.lists;
  to.tables = from.tables;
  to.table_uses = from.table_uses;
  to.outside = from.outside;
  to.outside_uses = from.outside_uses;
  to.aliases = from.aliases;
  to.sizes = from.sizes;
  return out;
}

}  // namespace judder::expr
