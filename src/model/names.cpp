// The first set of names: parameters, definitions, tables, coordinates, states; and what variants and `set`
// change in them.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {

bool Builder::add_name(const Text& name, EntityKind kind, int index, const std::string& where) {
  if (!is_name(name, where)) return false;
  static constexpr const char* kWord[] = {"a parameter",  "a definition", "a table",
                                          "a coordinate", "a state",      "a function from outside"};
  const auto [at, fresh] = names.emplace(name.text, Entity{kind, index});
  if (!fresh) {
    error(name, where, quoted(name.text) + " is already " + kWord[static_cast<int>(at->second.kind)],
          "parameters, definitions, tables, coordinates and states share one set of names");
  }
  return fresh;
}

void Builder::declare_functions() {
  for (const expr::OutsideFunction& function : spec.functions) {
    const std::string where = "function " + quoted(function.name);
    if (const std::string problem = expr::outside_problem(function); !problem.empty()) {
      report_error({}, where, problem);
      continue;
    }
    if (is_function_of_language(function.name)) {
      report_error({}, where, quoted(function.name) + " is a function of the language",
                   "choose another name");
      continue;
    }
    if (!add_name(Text(function.name), EntityKind::function, static_cast<int>(graph.outside().size()), where))
      continue;
    graph.add_outside(function);
  }
}

void Builder::declare_names() {
  declare_functions();
  for (const Parameter& p : spec.parameters) {
    ParameterDraft draft;
    draft.spec = &p;
    const std::string where = draft.place();
    draft.list = !p.rows.empty() || p.is_matrix || !p.file.empty();
    draft.matrix = p.is_matrix;
    if (draft.list) {
      draft.rows = static_cast<int>(p.rows.size());
      draft.columns = p.rows.empty() ? 0 : static_cast<int>(p.rows.front().size());
      for (const auto& row : p.rows) {
        if (static_cast<int>(row.size()) != draft.columns) {
          error(p.name, where, "the rows of the matrix have different lengths");
          break;
        }
        for (const Value& value : row) draft.items.push_back({&value, {}, {}});
      }
      if (draft.items.size() != static_cast<std::size_t>(draft.rows * draft.columns)) continue;
    } else {
      draft.items.push_back({&p.value, {}, {}});
    }
    if (add_name(p.name, EntityKind::parameter, static_cast<int>(parameters.size()), where))
      parameters.push_back(std::move(draft));
  }

  for (const Definition& d : spec.definitions) {
    const std::string where = "definition '" + d.signature.text + "'";
    std::vector<expr::Problem> problems;
    auto signature = expr::parse_signature(d.signature.text, problems);
    if (!signature) {
      report(d.signature, where, problems);
      continue;
    }
    Text name = d.signature;
    name.text = signature->name;
    if (!add_name(name, EntityKind::definition, static_cast<int>(definitions.size()), where)) continue;
    DefinitionDraft draft{&d, std::move(*signature), nullptr, false};
    draft.tree = tree(d.body, where);
    draft.broken = draft.tree == nullptr;
    definitions.push_back(std::move(draft));
  }

  for (const Table& table : spec.tables) {
    const std::string where = "table '" + table.name.text + "'";
    if (!add_name(table.name, EntityKind::table, static_cast<int>(tables.size()), where)) continue;
    expr::TableShape shape = expr::TableShape::linear;
    expr::TableOutside outside = expr::TableOutside::error;
    const auto choose = [&](const Text& word, const char* key, std::vector<std::string> words) {
      if (word.empty()) return 0;
      const auto at = std::find(words.begin(), words.end(), word.text);
      if (at != words.end()) return static_cast<int>(at - words.begin());
      error(word, where + ", " + key, quoted(word.text) + " is not a choice for " + quoted(key),
            suggestion(word.text, words));
      return 0;
    };
    constexpr expr::TableShape kShapes[] = {expr::TableShape::linear, expr::TableShape::step,
                                            expr::TableShape::cubic};
    constexpr expr::TableOutside kOutsides[] = {expr::TableOutside::error, expr::TableOutside::hold,
                                                expr::TableOutside::zero};
    shape = kShapes[choose(table.between, "between", {"linear", "step", "cubic"})];
    outside = kOutsides[choose(table.outside, "outside", {"error", "hold", "zero"})];
    bool good = true;
    const auto refuse = [&](std::string message) {
      error(table.name, where, std::move(message));
      good = false;
    };
    if (table.x.size() != table.y.size()) {
      refuse("x has " + std::to_string(table.x.size()) + " values and y has " +
             std::to_string(table.y.size()));
    } else if (table.x.size() < 2) {
      refuse("a table needs at least two points");
    } else {
      for (std::size_t i = 0; i < table.x.size(); ++i) {
        if (!std::isfinite(table.x[i]) || !std::isfinite(table.y[i]))
          refuse("value " + std::to_string(i + 1) + " is not finite");
        if (good && i > 0 && !(table.x[i] > table.x[i - 1]))
          refuse("x must increase; value " + std::to_string(i + 1) + " does not");
        if (!good) break;
      }
    }
    const std::vector<double> zero_one{0, 1};
    tables.push_back(graph.add_table(table.name.text, good ? table.x : zero_one, good ? table.y : zero_one,
                                     shape, outside));
  }

  // Coordinates and states get their members after the parameters; their names must be known before.
  for (const Coordinate& c : spec.coordinates) {
    if (add_name(c.name, EntityKind::coordinate, static_cast<int>(families.size()),
                 "coordinate '" + c.name.text + "'")) {
      families.emplace_back();
    }
  }
  for (const StateVariable& s : spec.states) {
    if (add_name(s.name, EntityKind::state, static_cast<int>(families.size()), "state '" + s.name.text + "'"))
      families.emplace_back();
  }
}

void Builder::apply_override(const Named& named, const std::string& where) {
  std::vector<expr::Problem> problems;
  const auto parsed = expr::parse(named.name.text, problems);
  const Tree* target = parsed ? &*parsed : nullptr;
  const bool primed = target != nullptr && target->kind == expr::Kind::prime;
  if (primed) target = &target->children.front();
  if (target == nullptr || target->kind != expr::Kind::name) {
    error(named.name, where, quoted(named.name.text) + " is not a parameter or start value",
          "write x, x' or z");
    return;
  }
  const auto found = names.find(target->text);
  if (found == names.end()) {
    std::vector<std::string> candidates;
    for (const auto& [name, entity] : names) {
      if (entity.kind != EntityKind::definition && entity.kind != EntityKind::table &&
          entity.kind != EntityKind::function)
        candidates.push_back(name);
    }
    std::string help = suggestion(target->text, candidates);
    if (help.empty() && !candidates.empty()) {
      constexpr std::size_t kShown = 12;
      for (std::size_t i = 0; i < std::min(kShown, candidates.size()); ++i)
        help += (i == 0 ? "there are: " : ", ") + candidates[i];
      if (candidates.size() > kShown) help += ", …";
    }
    error(named.name, where, "there is no parameter or start value " + quoted(named.name.text), help);
    return;
  }
  tree(named.value, where);
  std::optional<std::vector<int>> at;
  if (!target->children.empty()) {
    at.emplace();
    Scope scope(*this, kParameters, "an index");
    for (const Tree& child : target->children) {
      const auto value = expr::lower_integer(child, graph, scope,
                                             {.place = "", .indices = {}, .condition = false}, problems);
      if (!value) {
        report(named.name, where, problems);
        return;
      }
      at->push_back(static_cast<int>(*value));
    }
  }
  switch (found->second.kind) {
    case EntityKind::parameter: {
      ParameterDraft& parameter = parameters[static_cast<std::size_t>(found->second.index)];
      if (primed) {
        error(named.name, where, "a prime belongs to no parameter");
        return;
      }
      if (!parameter.list && !at) {
        parameter.items[0].value = &named.value;
        return;
      }
      const std::size_t wanted = parameter.matrix ? 2 : 1;
      const int row = at && parameter.matrix && at->size() == 2 ? (*at)[0] : 1;
      const int column = at && !at->empty() ? at->back() : 0;
      if (!parameter.list || !at || at->size() != wanted || row < 1 || row > parameter.rows || column < 1 ||
          column > parameter.columns) {
        error(named.name, where,
              parameter.list ? quoted(target->text) + " is a list; one entry of it may be set"
                             : quoted(target->text) + " is no list",
              parameter.list ? "write " + target->text + (parameter.matrix ? "[1,1]" : "[1]") : "");
        return;
      }
      parameter.items[static_cast<std::size_t>((row - 1) * parameter.columns + column - 1)].value =
          &named.value;
      return;
    }
    case EntityKind::coordinate:
    case EntityKind::state:
      if (primed && found->second.kind == EntityKind::state) {
        error(named.name, where, "a state has no start velocity", "its rate follows from 'rate'");
        return;
      }
      start_overrides.push_back({target->text, primed, at, &named.value, named.name.span, where});
      return;
    case EntityKind::definition:
    case EntityKind::table:
    case EntityKind::function:
      error(named.name, where,
            quoted(target->text) + " is a " +
                (found->second.kind == EntityKind::table        ? "table"
                 : found->second.kind == EntityKind::definition ? "definition"
                                                                : "function"),
            "variants and --set change parameters and start values only");
      return;
  }
}

void Builder::apply_overrides() {
  for (const std::string& wanted : options.variants) {
    const auto found = std::find_if(spec.variants.begin(), spec.variants.end(),
                                    [&](const Variant& v) { return v.name.text == wanted; });
    if (found == spec.variants.end()) {
      std::vector<std::string> candidates;
      for (const Variant& v : spec.variants) candidates.push_back(v.name.text);
      report_error({}, "variant " + quoted(wanted), "there is no variant " + quoted(wanted),
                   candidates.empty() ? "the model has no variants" : suggestion_or_list(wanted, candidates));
      continue;
    }
    if (!found->title.empty()) result.title = found->title.text;
    for (const Named& named : found->values)
      apply_override(named, "variant '" + wanted + "', " + named.name.text);
  }
  for (const Named& named : options.set) apply_override(named, "set " + named.name.text);
}

namespace {

/// Parameters evaluated inside one another.
constexpr std::size_t kMostNested = 40;

/// "a → b → c → a", shortened in the middle.
template <class Iterator>
std::string cycle_text(Iterator first, Iterator last, const std::string& end) {
  constexpr std::ptrdiff_t kShown = 6;
  const std::ptrdiff_t count = last - first;
  std::string out;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (count > kShown + 1 && i == kShown / 2) {
      out += "… → ";
      i = count - kShown / 2;
    }
    out += *(first + i) + " → ";
  }
  return out + end;
}

}  // namespace

Node Builder::parameter_node(int number, std::size_t item) {
  using Progress = ParameterItem::Progress;
  const auto at = [this](const Later& which) -> ParameterItem& {
    return parameters[static_cast<std::size_t>(which.number)].items[which.item];
  };
  if (!parameter_chain.empty()) return nested_parameter(number, item);
  // A chain of parameters may be as long as the file. What lies too deep is put off: evaluated first, then the others again.
  const void* outer = reading;
  std::vector<Later> roots{{number, item}};
  while (!roots.empty()) {
    const Later root = roots.back();
    if (at(root).progress == Progress::later) at(root).progress = Progress::waiting;
    try {
      nested_parameter(root.number, root.item);
      roots.pop_back();
    } catch (const Later& deeper) {
      parameter_chain.clear();
      reading = outer;
      at(root).progress = Progress::later;
      roots.push_back(deeper);
    }
  }
  return at({number, item}).node;
}

Node Builder::nested_parameter(int number, std::size_t item) {
  using Progress = ParameterItem::Progress;
  ParameterDraft& parameter = parameters[static_cast<std::size_t>(number)];
  if (parameter.items[item].progress == Progress::done) return parameter.items[item].node;
  const std::string& name = parameter.spec->name.text;
  if (parameter.items[item].progress != Progress::waiting) {
    const auto first = std::find(parameter_chain.begin(), parameter_chain.end(), name);
    const bool whole = first != parameter_chain.end();
    error(*parameter.items[item].value, parameter.place(),
          "parameters depend on each other in a cycle: " + std::string(whole ? "" : name + " → … → ") +
              cycle_text(whole ? first : parameter_chain.begin(), parameter_chain.end(), name));
    parameter.items[item].progress = Progress::done;
    parameter.items[item].node = graph.constant(1);
    return parameter.items[item].node;
  }
  if (parameter_chain.size() >= kMostNested) throw Later{number, item};
  parameter.items[item].progress = Progress::running;
  parameter_chain.push_back(name);
  const Value& value = *parameter.items[item].value;
  const std::string where = parameter.place();
  Node node = graph.constant(1);
  if (!value.given) {
    error(parameter.spec->name, where, "the parameter has no value");
  } else {
    Scope scope(*this, kParameters, where);
    try {
      if (const auto lowered = lower(value, scope, where, "parameters." + name, {})) node = *lowered;
    } catch (const Later&) {
      parameters[static_cast<std::size_t>(number)].items[item].progress = Progress::waiting;
      throw;
    }
  }
  ParameterItem& done = parameters[static_cast<std::size_t>(number)].items[item];
  parameter_chain.pop_back();
  if (done.progress == Progress::done) return done.node;  // found to be part of a cycle
  if (parameter.open && graph.is_constant(node)) {
    // Beside its value by a part in 2^20 and some more, no two parameters by the same, in steps that no simple ratio has (the golden one): nothing is then
    // zero, one or equal by chance. Towards zero first, where most ranges go on; zero itself is left upwards.
    constexpr double kGolden = 0.6180339887498949;
    const double share = std::fmod(kGolden * static_cast<double>(number + 1), 1.0);
    const double part = 0x1p-20 * (options.attempt < 2 ? 1 + share : 2 - share);
    const double file = graph.value(node).raw();
    const double side = options.attempt % 2 == 0 ? -1 : 1;
    node = graph.open(name, file == 0 ? part : file * (1 + side * part), graph.value(node));
  } else if (parameter.free) {
    set_start(parameter.variable, graph.evaluate(node, start_values));
    node = graph.variable(parameter.variable);
  }
  done.progress = Progress::done;
  done.node = node;
  return node;
}

void Builder::evaluate_parameters() {
  for (const std::string& name : options.open) {
    const auto found = names.find(name);
    if (found == names.end() || found->second.kind != EntityKind::parameter ||
        parameters[static_cast<std::size_t>(found->second.index)].list) {
      report_error({}, "open " + quoted(name), quoted(name) + " is not a scalar parameter");
      continue;
    }
    parameters[static_cast<std::size_t>(found->second.index)].open = true;
  }
  for (const std::string& name : options.free) {
    const auto found = names.find(name);
    if (found == names.end() || found->second.kind != EntityKind::parameter ||
        parameters[static_cast<std::size_t>(found->second.index)].list) {
      report_error({}, "free " + quoted(name), quoted(name) + " is not a scalar parameter");
      continue;
    }
    ParameterDraft& parameter = parameters[static_cast<std::size_t>(found->second.index)];
    if (parameter.free) continue;
    parameter.free = true;
    parameter.variable = graph.declare(name);
    mentioned[name] = true;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (std::size_t item = 0; item < parameters[i].items.size(); ++item)
      parameter_node(static_cast<int>(i), item);
    const ParameterDraft& parameter = parameters[i];
    const auto number = [&](std::size_t item) {
      return graph.evaluate(parameter.items[item].node, start_values);
    };
    if (!parameter.list) {
      result.parameters.emplace_back(parameter.spec->name.text, number(0));
      continue;
    }
    ListValue& list = result.lists.emplace_back();
    list = {parameter.spec->name.text, parameter.rows, parameter.columns, parameter.matrix, {}};
    list.numbers.resize(parameter.items.size());
    for (std::size_t item = 0; item < list.numbers.size(); ++item) list.numbers[item] = number(item);
  }
}

void Builder::expand_coordinates() {
  std::map<std::string, bool> done;  // a name declared twice was reported; its second writing is ignored
  for (const Coordinate& c : spec.coordinates) {
    const auto found = names.find(c.name.text);
    if (found == names.end() || found->second.kind != EntityKind::coordinate || done[c.name.text]) continue;
    done[c.name.text] = true;
    FamilyDraft& family = families[static_cast<std::size_t>(found->second.index)];
    const int errors = result.diagnostics.errors();
    std::vector<Instance> all = instances(c.name.text, c.each, nullptr, "coordinate '" + c.name.text + "'");
    family.broken = result.diagnostics.errors() > errors;
    for (Instance& instance : all) {
      family.arity = static_cast<int>(instance.values.size());
      family.members[instance.values] = static_cast<int>(coordinates.size());
      CoordinateDraft draft;
      draft.spec = &c;
      draft.name = instance.name;
      draft.indices = instance.indices;
      draft.start = &c.start;
      draft.velocity = &c.velocity;
      draft.q = graph.declare(draft.name);
      draft.v = graph.declare(draft.name + "'");
      draft.a = graph.declare(draft.name + "''");
      coordinates.push_back(std::move(draft));
    }
  }
  for (const StateVariable& s : spec.states) {
    const auto found = names.find(s.name.text);
    if (found == names.end() || found->second.kind != EntityKind::state || done[s.name.text]) continue;
    done[s.name.text] = true;
    FamilyDraft& family = families[static_cast<std::size_t>(found->second.index)];
    const int errors = result.diagnostics.errors();
    std::vector<Instance> all = instances(s.name.text, s.each, nullptr, "state '" + s.name.text + "'");
    family.broken = result.diagnostics.errors() > errors;
    for (Instance& instance : all) {
      family.arity = static_cast<int>(instance.values.size());
      family.members[instance.values] = static_cast<int>(states.size());
      StateDraft draft;
      draft.spec = &s;
      draft.name = instance.name;
      draft.indices = instance.indices;
      draft.start = &s.start;
      draft.z = graph.declare(draft.name);
      states.push_back(std::move(draft));
    }
  }
  if (coordinates.empty() && states.empty() && !result.diagnostics.has_errors()) {
    report_error({}, "", "the model has no coordinates and no states", "add [coordinates] or [state]");
  }
  for (const StartOverride& change : start_overrides) {
    const Entity entity = names.find(change.name)->second;
    const FamilyDraft& family = families[static_cast<std::size_t>(entity.index)];
    bool any = false;
    for (const auto& [at, member] : family.members) {
      if (change.indices && *change.indices != at) continue;
      any = true;
      if (entity.kind == EntityKind::state) {
        states[static_cast<std::size_t>(member)].start = change.value;
      } else {
        CoordinateDraft& c = coordinates[static_cast<std::size_t>(member)];
        (change.velocity ? c.velocity : c.start) = change.value;
      }
    }
    if (!any && !family.members.empty()) {
      report_error(change.span, change.where, "the index of " + quoted(change.name) + " is out of range");
    }
  }
}

bool Builder::is_condition(const Tree& node, int depth) const {
  switch (node.kind) {
    case expr::Kind::less:
    case expr::Kind::less_equal:
    case expr::Kind::greater:
    case expr::Kind::greater_equal:
    case expr::Kind::equal:
    case expr::Kind::unequal:
    case expr::Kind::logical_and:
    case expr::Kind::logical_or:
    case expr::Kind::logical_not:
      return true;
    case expr::Kind::name:
    case expr::Kind::call: {
      const auto found = names.find(node.text);
      if (found == names.end() || found->second.kind != EntityKind::definition || depth > 50) return false;
      const Tree* body = definitions[static_cast<std::size_t>(found->second.index)].tree;
      return body != nullptr && is_condition(*body, depth + 1);
    }
    default:
      return false;
  }
}

void Builder::check_definitions() {
  for (DefinitionDraft& definition : definitions) {
    if (definition.broken || definition.signature.is_function)
      continue;  // a function is checked where it is called
    const std::string where = "definition '" + definition.signature.name + "'";
    Scope scope(*this, kVelocity, where);
    definition.condition = is_condition(*definition.tree);
    definition.broken = !lower(definition.spec->body, scope, where,
                               "definitions." + definition.signature.name, {}, definition.condition);
  }
}

}  // namespace judder::model
