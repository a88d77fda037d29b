// Forces and rates as links, constants and the rest.
#include "judder/model/linked.hpp"

#include <algorithm>

#include "judder/expr/linked.hpp"
#include "model/builder.hpp"

namespace judder::model {

void Builder::link_forces() {
  System::Data& d = *system.data_;
  if (d.massive.size() < coordinates.size() || large != nullptr) return;
  std::vector<Variable> state;
  for (const CoordinateDraft& c : coordinates) state.push_back(c.q);
  for (const CoordinateDraft& c : coordinates) state.push_back(c.v);
  for (const StateDraft& s : states) state.push_back(s.z);
  std::vector<Node> rows(force);
  for (const StateDraft& s : states) rows.push_back(s.rate);

  std::vector<Node> coefficients, varying;
  // Numbers stand once for each use: that two of them are equal may be so for some values of a parameter only, and the places would be others then.
  const auto output = [this](std::vector<Node>& nodes, Node node) {
    const auto place = graph.is_constant(node) ? nodes.end() : std::find(nodes.begin(), nodes.end(), node);
    if (place != nodes.end()) return static_cast<int>(place - nodes.begin());
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  };
  std::vector<expr::Link> links;
  const auto number = [&](const expr::Link& link) {
    const auto place = std::find(links.begin(), links.end(), link);
    if (place != links.end()) return static_cast<int>(place - links.begin());
    links.push_back(link);
    LinkedForces::Link& made = d.linked.links.emplace_back();
    for (const auto& [variable, factor] : link.terms)
      made.terms.emplace_back(static_cast<int>(variable), factor);
    made.offset = output(coefficients, link.offset);
    return static_cast<int>(links.size()) - 1;
  };
  for (const Node node : rows) {
    LinkedForces::Row& row = d.linked.rows.emplace_back();
    const auto form = expr::linked_form(graph, node, state, t);
    if (!form) {
      row.varying = output(varying, node);
      continue;
    }
    for (const auto& [link, factor] : form->parts) {
      if (!is_zero(factor)) row.shares.push_back({number(link), output(coefficients, factor)});
    }
    if (is_zero(form->rest)) continue;
    if (graph.depends_on(form->rest, t)) {
      row.varying = output(varying, form->rest);
    } else {
      row.constant = output(coefficients, form->rest);
    }
  }
  d.linked.coefficients = program(coefficients);
  d.linked.varying = program(varying);
  if (!powers_with_motion) return;
  varying.insert(varying.end(), power_nodes.begin(), power_nodes.end());
  d.linked.varying_and_powers = program(varying);
}

}  // namespace judder::model
