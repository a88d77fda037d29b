// Start values: expressions of parameters, of t = from and of each other, in any order, without cycles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "judder/expr/through.hpp"
#include "model/builder.hpp"

namespace judder::model {

void Builder::set_start(Variable variable, double value) {
  if (start_values.size() < graph.variable_count()) start_values.resize(graph.variable_count(), 0.0);
  start_values[variable] = value;
}

std::vector<Variable> Builder::all_variables(Node node) const {
  return expr::variables_through(graph, std::span<const Node>(&node, 1));
}

void Builder::compute_start() {
  struct Item {
    std::string name, where;
    const Value* value = nullptr;
    double* target = nullptr;
    Variable variable = 0;
    Node node;
    int progress = 0;
  };
  std::vector<Item> items;
  std::map<Variable, std::size_t> item_of;
  const auto add = [&](std::string name, std::string where, const Value* value, double* target,
                       Variable variable, const std::vector<Index>& indices) {
    Item item{std::move(name), std::move(where), value, target, variable, graph.constant(0), 0};
    if (value->given) {
      Scope scope(*this, kStart, item.where);
      if (const auto node = lower(*value, scope, item.where, item.where, indices)) item.node = *node;
    }
    item_of[variable] = items.size();
    items.push_back(std::move(item));
  };
  for (CoordinateDraft& c : coordinates) {
    const std::string where = "coordinate '" + c.name + "'";
    add(c.name, where + ", start", c.start, &c.start_value, c.q, c.indices);
    add(c.name + "'", where + ", velocity", c.velocity, &c.velocity_value, c.v, c.indices);
    if (c.spec->massless && c.velocity->given) {
      error(*c.velocity, where + ", velocity", "a massless coordinate has no start velocity",
            "it follows from the balance of forces");
    }
  }
  for (StateDraft& s : states) {
    if (!s.start->given)
      error(s.spec->name, "state '" + s.name + "'", "the state has no start value", "add the key 'start'");
    add(s.name, "state '" + s.name + "', start", s.start, &s.start_value, s.z, s.indices);
  }
  set_start(t, result.run.from);

  // By a loop: start values may hang on one another in a chain as long as the file.
  struct Step {
    std::size_t item;
    std::vector<std::size_t> needs;
    std::size_t next = 0;
  };
  const auto needs_of = [&](std::size_t i) {
    std::vector<std::size_t> needs;
    for (const Variable x : all_variables(items[i].node)) {
      const auto needed = item_of.find(x);
      if (needed != item_of.end()) needs.push_back(needed->second);
    }
    return needs;
  };
  const auto visit = [&](std::size_t root) {
    std::vector<Step> path;
    const auto enter = [&](std::size_t i) {
      items[i].progress = 1;
      path.push_back({i, needs_of(i)});
    };
    if (items[root].progress == 0) enter(root);
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next < step.needs.size()) {
        const std::size_t needed = step.needs[step.next++];
        if (items[needed].progress == 0) {
          enter(needed);
        } else if (items[needed].progress == 1) {
          const auto first =
              std::find_if(path.begin(), path.end(), [&](const Step& s) { return s.item == needed; });
          std::string words;
          const std::ptrdiff_t count = path.end() - first;
          for (std::ptrdiff_t k = 0; k < count; ++k) {
            if (count > 7 && k == 3) {
              words += "… → ";
              k = count - 3;
            }
            words += items[(first + k)->item].name + " → ";
          }
          error(*items[needed].value, items[needed].where,
                "start values depend on each other in a cycle: " + words + items[needed].name);
        }
        continue;
      }
      Item& item = items[step.item];
      path.pop_back();
      item.progress = 2;
      const double value = graph.evaluate(item.node, start_values);
      if (!std::isfinite(value)) error(*item.value, item.where, "the start value is not a finite number");
      if (value != 0 && std::abs(value) < std::numeric_limits<double>::min())
        error(*item.value, item.where, "the start value is too small for a number",
              "write 0, or other units");
      *item.target = value;
      for_form.start.push_back({item.name, {}, item.node, item.variable, -1, false});
      set_start(item.variable, value);
    }
  };
  for (std::size_t i = 0; i < items.size(); ++i) visit(i);

  for (CoordinateDraft& c : coordinates) {
    if (!c.spec->scale.given) continue;
    const std::string where = "coordinate '" + c.name + "', scale";
    Scope scope(*this, kStart, where);
    const auto written = lower(c.spec->scale, scope, where, where, c.indices);
    c.scale = 1;
    if (written) {
      c.scale = graph.evaluate(*written, start_values);
      for_form.scales.push_back({static_cast<std::size_t>(&c - coordinates.data()), *written});
    }
    if (!std::isfinite(c.scale)) {
      error(c.spec->scale, where, "the value is not a finite number");
      c.scale = 1;
    }
    if (c.scale <= 0) error(c.spec->scale, where, "a scale must be positive");
  }
}

bool is_whole(const expr::Number& number) {
  if (!number.open()) return std::floor(number.raw()) == number.raw();
  const bool outcome = std::floor(number.raw()) == number.raw();
  return number.origin()->tape->test(expr::Test::whole, number, expr::Number(), outcome);
}

std::optional<expr::Number> Builder::number(const Value& value, const std::string& where,
                                            const Allowed& allowed, const std::vector<Index>& indices) {
  Scope scope(*this, allowed, where);
  const auto node = lower(value, scope, where, where, indices);
  if (!node) return std::nullopt;
  if (start_values.size() < graph.variable_count()) start_values.resize(graph.variable_count(), 0.0);
  if (graph.is_constant(*node)) return graph.value(*node);  // found to be finite where it was read
  const double result_value = graph.evaluate(*node, start_values);
  if (std::isfinite(result_value)) return result_value;
  error(value, where, "the value is not a finite number");
  return std::nullopt;
}

}  // namespace judder::model
