// What names, primes and functions mean inside one expression, and who may use what.
#include <algorithm>

#include "model/builder.hpp"

namespace judder::model {

expr::Forbidden Scope::forbidden(const std::string& subject) const {
  return {subject + " must not be used in " + what_, what_ + " may use " + allowed_.may_use};
}

expr::Meaning Scope::meaning(std::string_view name) {
  if (name == "t") {
    if (!allowed_.time) return forbidden("the time t");
    return expr::Scalar{b_.graph.variable(b_.t)};
  }
  if (name == "speed") {
    if (!speed) return forbidden("speed");
    return expr::Scalar{*speed};
  }
  const auto found = b_.names.find(name);
  if (found == b_.names.end()) return {};
  const int index = found->second.index;
  switch (found->second.kind) {
    case EntityKind::parameter: {
      ParameterDraft& parameter = b_.parameters[static_cast<std::size_t>(index)];
      if (!parameter.list) return expr::Scalar{b_.parameter_node(index, 0)};
      expr::Family family;
      family.sizes = parameter.matrix ? std::vector<int>{parameter.rows, parameter.columns}
                                      : std::vector<int>{parameter.columns};
      Builder* builder = &b_;
      family.find = [builder, index](std::span<const int> at) -> std::optional<Node> {
        const ParameterDraft& p = builder->parameters[static_cast<std::size_t>(index)];
        const int row = p.matrix && at.size() == 2 ? at[0] : 1;
        const int column = at.empty() ? 0 : at.back();
        if (at.size() != (p.matrix ? 2U : 1U) || row < 1 || row > p.rows || column < 1 || column > p.columns)
          return std::nullopt;
        return builder->parameter_node(index, static_cast<std::size_t>((row - 1) * p.columns + column - 1));
      };
      return family;
    }
    case EntityKind::definition:
      return *definition(name);
    case EntityKind::table:
      return expr::Lookup{b_.tables[static_cast<std::size_t>(index)]};
    case EntityKind::function: {
      const auto function = static_cast<expr::OutsideId>(index);
      return expr::Callable{function, b_.graph.outside()[function].arguments};
    }
    case EntityKind::coordinate:
    case EntityKind::state: {
      const bool coordinate = found->second.kind == EntityKind::coordinate;
      const std::string subject = (coordinate ? "the coordinate " : "the state ") + quoted(name);
      if (!(coordinate ? allowed_.coordinates : allowed_.states)) return forbidden(subject);
      const FamilyDraft& draft = b_.families[static_cast<std::size_t>(index)];
      Builder* builder = &b_;
      const auto node = [builder, coordinate](int member) {
        const auto at = static_cast<std::size_t>(member);
        return builder->graph.variable(coordinate ? builder->coordinates[at].q : builder->states[at].z);
      };
      if (draft.broken) return expr::Scalar{b_.graph.constant(1), true};
      if (draft.arity == 0) {
        if (draft.members.empty()) return expr::Scalar{b_.graph.constant(1)};
        return expr::Scalar{node(draft.members.begin()->second)};
      }
      expr::Family family;
      family.find = [builder, index, node](std::span<const int> at) -> std::optional<Node> {
        const auto& members = builder->families[static_cast<std::size_t>(index)].members;
        const auto member = members.find(std::vector<int>(at.begin(), at.end()));
        if (member == members.end()) return std::nullopt;
        return node(member->second);
      };
      return family;
    }
  }
  return {};
}

std::optional<expr::Macro> Scope::definition(std::string_view name) {
  const auto found = b_.names.find(name);
  if (found == b_.names.end() || found->second.kind != EntityKind::definition) return std::nullopt;
  const DefinitionDraft& draft = b_.definitions[static_cast<std::size_t>(found->second.index)];
  if (draft.broken) {  // reported where it stands; here it means 1, or false
    const Tree& one = draft.condition ? b_.stand_in_condition : b_.stand_in_number;
    return expr::Macro{&one, draft.signature.arguments, ""};
  }
  return expr::Macro{draft.tree, draft.signature.arguments, "definitions." + draft.signature.name};
}

expr::KnownDefinitions* Scope::known_definitions() {
  // Parameters and states are not all known from the start; reactions and accelerations are noted at each use.
  if (!b_.names_settled || allowed_.outputs || allowed_.reactions) return nullptr;
  return &b_.known_definitions[{allowed_.may_use, speed ? speed->index : ~std::uint32_t{0}}];
}

std::vector<std::string> Scope::names() {
  std::vector<std::string> out;
  for (const auto& [name, entity] : b_.names) out.push_back(name);
  if (allowed_.time) out.emplace_back("t");
  if (allowed_.speed) out.emplace_back("speed");
  return out;
}

std::variant<Node, expr::Forbidden> Scope::prime(Node node) {
  for (const Variable x : b_.graph.variables(node)) {
    const std::optional<std::size_t> state = b_.state_of(x);
    if (!state) continue;
    if (!allowed_.rates) return forbidden("the rate of a state");
    std::optional<expr::Forbidden> cycle;
    b_.state_rate(static_cast<int>(*state), cycle);
    if (cycle) return *cycle;
  }
  const auto has_velocity = [this](Node a) {
    const std::vector<Variable> used = b_.graph.variables(a);
    return std::any_of(used.begin(), used.end(),
                       [this](Variable x) { return b_.coordinate_moving(x).has_value(); });
  };
  if (has_velocity(node)) {
    if (!allowed_.accelerations) {
      return expr::Forbidden{"this prime would give an acceleration",
                             "accelerations are known in output columns only"};
    }
    used_reactions = true;
  }
  const Node derivative = b_.total_derivative(node, allowed_.outputs);
  if (!allowed_.velocities && has_velocity(derivative)) return forbidden("a velocity");
  return derivative;
}

namespace {

bool is_function_of_outputs(std::string_view name) {
  static constexpr std::string_view kKnown[] = {"normal",     "tangent",  "gap",       "slip",
                                                "bristle",    "kinetic",  "potential", "energy",
                                                "dissipated", "supplied", "balance",   "mode"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

}  // namespace

bool is_function_of_language(std::string_view name) {
  return expr::is_builtin(name) || is_function_of_outputs(name);
}

std::optional<std::variant<Node, expr::Forbidden>> Scope::function(std::string_view name,
                                                                   std::span<const Tree> arguments) {
  if (allowed_.reactions && (name == "normal" || name == "|normal|")) return load_of_joint(name, arguments);
  if (!is_function_of_outputs(name)) return std::nullopt;
  if (allowed_.outputs) return output_function(name, arguments);
  return expr::Forbidden{
      std::string(name) + "() must not be used in " + what_,
      name == "normal" ? "reactions are known in output columns, watches and the normal force of a joint only"
                       : "it is known in output columns and watches only"};
}

std::variant<std::pair<std::string, std::vector<int>>, expr::Forbidden> Scope::element(const Tree& tree) {
  if (tree.kind != expr::Kind::name)
    return expr::Forbidden{"the name of an element is expected here",
                           "write it as in normal(wall) or normal(pair[1,2])"};
  const auto found = b_.elements.find(tree.text);
  if (found == b_.elements.end()) {
    const auto removed = b_.left_out.find(tree.text);
    if (removed != b_.left_out.end()) {
      return expr::Forbidden{
          "the " + removed->second + " " + quoted(tree.text) + " is left out by its 'when'", ""};
    }
    std::vector<std::string> candidates;
    for (const auto& [name, element] : b_.elements) candidates.push_back(name);
    return expr::Forbidden{"there is no element called " + quoted(tree.text),
                           suggestion(tree.text, candidates)};
  }
  std::vector<int> at;
  for (const Tree& child : tree.children) {
    Scope inner(b_, kParameters, "an index");
    std::vector<expr::Problem> problems;
    const auto value = expr::lower_integer(child, b_.graph, inner,
                                           {.place = "", .indices = indices, .condition = false}, problems);
    if (!value)
      return expr::Forbidden{problems.empty() ? "an index is a whole number" : problems.front().message, ""};
    at.push_back(static_cast<int>(*value));
  }
  const int whole = found->second.least ? 1 : 0;  // without the number of a part: all of them
  if (static_cast<int>(at.size()) != found->second.arity &&
      static_cast<int>(at.size()) + whole != found->second.arity) {
    return expr::Forbidden{quoted(tree.text) + " has " + std::to_string(found->second.arity) + " indices, " +
                               std::to_string(at.size()) + " given",
                           ""};
  }
  return std::pair{tree.text, at};
}

std::variant<int, expr::Forbidden> Scope::relation(const Tree& tree) {
  auto named = element(tree);
  if (auto* no = std::get_if<expr::Forbidden>(&named)) return *no;
  const auto& [name, at] = std::get<0>(named);
  const ElementName& entry = b_.elements.find(name)->second;
  const auto member = entry.relations.find(at);
  if (member != entry.relations.end()) return member->second;
  if (entry.kind == "force" || entry.kind == "watch") {
    return expr::Forbidden{quoted(name) + " is a " + entry.kind,
                           "a contact, constraint or friction joint is expected"};
  }
  if (static_cast<int>(at.size()) != entry.arity) {
    std::string first = name + "[";
    for (const int index : at) first += std::to_string(index) + ",";
    return expr::Forbidden{"the gap of " + expr::to_text(tree) + " is the smallest of several",
                           "each of them is a contact: write " + first + "1] for the first"};
  }
  return expr::Forbidden{expr::to_text(tree) + " is out of range", ""};
}

std::variant<std::vector<int>, expr::Forbidden> Scope::parts(const Tree& tree) {
  auto named = element(tree);
  if (auto* no = std::get_if<expr::Forbidden>(&named)) return *no;
  const auto& [name, at] = std::get<0>(named);
  const ElementName& entry = b_.elements.find(name)->second;
  if (static_cast<int>(at.size()) == entry.arity) {
    const auto one = relation(tree);
    if (const auto* no = std::get_if<expr::Forbidden>(&one)) return *no;
    return std::vector<int>{std::get<int>(one)};
  }
  std::vector<int> all;
  for (auto member = entry.relations.lower_bound(at);
       member != entry.relations.end() && std::equal(at.begin(), at.end(), member->first.begin()); ++member)
    all.push_back(member->second);
  if (all.empty()) return expr::Forbidden{expr::to_text(tree) + " is out of range", ""};
  return all;
}

std::variant<int, expr::Forbidden> Scope::mode_of(const Tree& call) {
  if (call.children.size() != 1)
    return expr::Forbidden{"mode() takes the name of a contact, joint or constraint", ""};
  return relation(call.children.front());
}

Scope::Answer Scope::load_of_joint(std::string_view name, std::span<const Tree> arguments) {
  if (arguments.size() != 1) return expr::Forbidden{"normal() takes the name of a contact", ""};
  const auto found = parts(arguments[0]);
  if (const auto* no = std::get_if<expr::Forbidden>(&found)) return *no;
  const std::vector<int>& all = std::get<0>(found);
  const RelationDraft& draft = b_.relations[static_cast<std::size_t>(all.front())];
  if (draft.kind == RelationKind::joint) {
    return expr::Forbidden{"the normal force of a joint must not use another joint's",
                           "write its expression, or use a definition"};
  }
  if (draft.kind == RelationKind::constraint && name == "normal") {
    return expr::Forbidden{"the multiplier of a constraint may have any sign",
                           "write abs(normal(" + draft.name + "))"};
  }
  if (draft.compliant) return draft.normal_force;
  Node load = b_.graph.constant(0);
  for (const int part : all)
    load = b_.graph.add(load, b_.graph.variable(b_.relations[static_cast<std::size_t>(part)].lambda));
  return load;
}

Node Scope::normal_output(int number) {
  const RelationDraft& draft = b_.relations[static_cast<std::size_t>(number)];
  Graph& g = b_.graph;
  if (draft.compliant) return draft.normal_force;
  if (draft.kind != RelationKind::joint) {
    used_reactions = true;
    return g.variable(draft.lambda);
  }
  Node load = draft.base;
  for (std::size_t k = 0; k < draft.feeds.size(); ++k) {
    const RelationDraft& feed = b_.relations[static_cast<std::size_t>(draft.feeds[k])];
    const Node lambda = g.variable(feed.lambda);
    const Node size =
        feed.kind == RelationKind::contact ? lambda : g.absolute(lambda, draft.place + ".normal");
    load = g.add(load, g.multiply(draft.factors[k], size));
    used_reactions = true;
  }
  return load;
}

Scope::Answer Scope::component(std::string_view name, std::span<const Tree> arguments) {
  if (arguments.empty() || arguments.size() > 2) {
    return expr::Forbidden{
        std::string(name) + "() takes an element and, for several slip components, a number", ""};
  }
  const auto found = parts(arguments[0]);
  if (const auto* no = std::get_if<expr::Forbidden>(&found)) return *no;
  const std::vector<int>& all = std::get<0>(found);
  const RelationDraft& draft = b_.relations[static_cast<std::size_t>(all.front())];
  const auto components = static_cast<long>(draft.slip.size());
  if (components == 0) return expr::Forbidden{draft.where + " has no slip", "give it the key 'slip'"};
  long k = 1;
  if (arguments.size() == 2) {
    Scope inner(b_, kParameters, "a component");
    std::vector<expr::Problem> problems;
    const auto value = expr::lower_integer(arguments[1], b_.graph, inner,
                                           {.place = "", .indices = indices, .condition = false}, problems);
    if (!value) return expr::Forbidden{"the component is a whole number", ""};
    k = *value;
  } else if (components > 1) {
    return expr::Forbidden{draft.where + " has " + std::to_string(components) + " slip components",
                           "write " + std::string(name) + "(" + draft.name + ", 1)"};
  }
  if (k < 1 || k > components) {
    return expr::Forbidden{
        draft.where + " has " + std::to_string(components) + " slip component" + (components > 1 ? "s" : ""),
        ""};
  }
  const TangentDraft& row = draft.slip[static_cast<std::size_t>(k - 1)];
  if (name == "slip") return row.slip;
  const bool set_valued = draft.friction && !(draft.smooth && draft.known_load);
  if (!set_valued && all.size() == 1) return row.added;
  used_reactions = true;
  Node force = b_.graph.constant(0);
  for (const int part : all) {
    const TangentDraft& own =
        b_.relations[static_cast<std::size_t>(part)].slip[static_cast<std::size_t>(k - 1)];
    force = b_.graph.add(force, b_.graph.add(b_.graph.variable(own.lambda), own.added));
  }
  return force;
}

Scope::Answer Scope::audited(std::string_view name, const Tree& tree) {
  Graph& g = b_.graph;
  std::string wanted = tree.text;
  std::vector<std::string> parts_of_it;
  bool builtin = true;
  if (b_.elements.contains(tree.text) || !tree.children.empty()) {
    auto named = element(tree);
    if (auto* no = std::get_if<expr::Forbidden>(&named)) return *no;
    const auto& at = std::get<0>(named).second;
    for (std::size_t i = 0; i < at.size(); ++i) wanted += (i == 0 ? "[" : ",") + std::to_string(at[i]);
    if (!at.empty()) wanted += "]";
    builtin = false;
    const auto all = parts(tree);  // a force has none
    if (const auto* several = std::get_if<std::vector<int>>(&all)) {
      for (const int part : *several)
        parts_of_it.push_back(b_.relations[static_cast<std::size_t>(part)].name);
    }
  }
  static constexpr std::string_view kBuiltin[] = {"dissipation", "drive", "damping",
                                                  "stiffness",   "load",  "jump"};
  if (builtin && std::find(std::begin(kBuiltin), std::end(kBuiltin), wanted) == std::end(kBuiltin)) {
    auto named = element(tree);
    if (auto* no = std::get_if<expr::Forbidden>(&named)) return *no;
  }
  Node total = g.constant(0);
  for (const AuditDraft& audit : b_.audits) {
    const bool part = std::find(parts_of_it.begin(), parts_of_it.end(), audit.name) != parts_of_it.end();
    if ((audit.name != wanted && !part) || audit.builtin != builtin) continue;
    total = g.add(total, g.variable(name == "dissipated" ? audit.dissipated : audit.supplied));
  }
  return total;
}

Scope::Answer Scope::output_function(std::string_view name, std::span<const Tree> arguments) {
  Graph& g = b_.graph;
  const auto none = [&](Node node) -> Answer {
    if (!arguments.empty()) return expr::Forbidden{std::string(name) + "() takes no argument", ""};
    return node;
  };
  if (name == "kinetic") return none(b_.kinetic);
  if (name == "potential") return none(b_.potential);
  if (name == "energy") return none(b_.energy);
  if (name == "balance") {
    Node total = g.subtract(b_.energy, g.variable(b_.energy_start));
    for (const AuditDraft& audit : b_.audits) {
      total = g.add(g.subtract(total, g.variable(audit.supplied)), g.variable(audit.dissipated));
    }
    return none(total);
  }
  if (name == "tangent" || name == "slip") return component(name, arguments);
  if (arguments.size() != 1)
    return expr::Forbidden{std::string(name) + "() takes the name of an element", ""};
  if (name == "dissipated" || name == "supplied") return audited(name, arguments[0]);
  if (name == "mode")
    return expr::Forbidden{"mode() is a word, not a number", "it must stand alone in a column"};
  const auto found = parts(arguments[0]);
  if (const auto* no = std::get_if<expr::Forbidden>(&found)) return *no;
  const std::vector<int>& all = std::get<0>(found);
  const RelationDraft& draft = b_.relations[static_cast<std::size_t>(all.front())];
  if (name == "normal") {
    Node load = g.constant(0);
    for (const int part : all) load = g.add(load, normal_output(part));
    return load;
  }
  if (name == "gap") {
    if (!draft.has_gap)
      return expr::Forbidden{draft.where + " has no gap", "contacts and constraints have one"};
    Node least = draft.gap;
    for (const int part : all)
      least = g.minimum(least, b_.relations[static_cast<std::size_t>(part)].gap, draft.place + ".gap");
    return least;
  }
  if (all.size() > 1) {
    return expr::Forbidden{"each part of " + expr::to_text(arguments[0]) + " has a bristle of its own",
                           "write the number of one: bristle(" + draft.name + ")"};
  }
  if (draft.bristles.empty())
    return expr::Forbidden{draft.where + " has no bristle",
                           "only the laws lugre, elastoplastic and penalty have one"};
  return g.variable(b_.states[static_cast<std::size_t>(draft.bristles.front())].z);
}

}  // namespace judder::model
