// Contacts, constraints and joints: gaps, slip velocities, force directions, normal loads, impact laws.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {
namespace {

/// abs(normal(c)) becomes one call, because a multiplier of any sign is known to a joint by its size only.
void mark_sizes(Tree& tree) {
  for (Tree& child : tree.children) mark_sizes(child);
  if (tree.kind != expr::Kind::call || tree.text != "abs" || tree.children.size() != 1) return;
  const Tree& inner = tree.children.front();
  if (inner.kind != expr::Kind::call || inner.text != "normal") return;
  Tree marked = inner;
  marked.text = "|normal|";
  tree = std::move(marked);
}

}  // namespace

void Builder::read_relations() {
  struct Item {
    RelationKind kind;
    const Contact* contact = nullptr;
    const Constraint* constraint = nullptr;
    const Joint* joint = nullptr;
    Span span;
  };
  std::vector<Item> items;
  for (const Contact& c : spec.contacts)
    items.push_back({RelationKind::contact, &c, nullptr, nullptr, c.span});
  for (const Constraint& c : spec.constraints)
    items.push_back({RelationKind::constraint, nullptr, &c, nullptr, c.span});
  for (const Joint& j : spec.joints) items.push_back({RelationKind::joint, nullptr, nullptr, &j, j.span});
  // in the order of the file; a Spec made in C++ has no places and keeps this order
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.span.begin < b.span.begin; });

  static constexpr const char* kWord[] = {"contact", "constraint", "friction joint"};
  static constexpr const char* kTable[] = {"contact", "constraint", "friction"};
  for (const Item& item : items) {
    const Text& name = item.contact      ? item.contact->name
                       : item.constraint ? item.constraint->name
                                         : item.joint->name;
    const Text& each = item.contact      ? item.contact->each
                       : item.constraint ? item.constraint->each
                                         : item.joint->each;
    const Value& when = item.contact      ? item.contact->when
                        : item.constraint ? item.constraint->when
                                          : item.joint->when;
    const std::string word = kWord[static_cast<int>(item.kind)];
    if (name.empty()) {
      report_error(item.span, word, "the " + word + " has no name", "add the key 'name'");
      continue;
    }
    const int errors_before = result.diagnostics.errors();
    const std::vector<Instance> all = instances(name.text, each, &when, word + " '" + name.text + "'");
    if (result.diagnostics.errors() > errors_before) continue;
    // A gap that is a product makes several contacts: stop[1], stop[2], …
    std::vector<std::vector<Node>> gaps(all.size());
    std::size_t parts = 1;
    bool least = false;
    if (item.contact != nullptr && item.contact->gap.given) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        gaps[k] = simple_gaps(*item.contact, all[k].name, all[k].indices);
        parts = std::max(parts, gaps[k].size());
      }
      const auto uneven = std::find_if(gaps.begin(), gaps.end(),
                                       [&](const auto& g) { return !g.empty() && g.size() != parts; });
      if (uneven != gaps.end()) {
        error(item.contact->gap, word + " '" + name.text + "', gap",
              "the gap is a product of " + std::to_string(parts) + " gaps in some instances and of " +
                  std::to_string(uneven->size()) + " in others",
              "write one contact for each factor");
        continue;
      }
      least = parts == 1 && take_corners_apart(*item.contact, gaps, parts);
    }
    std::vector<Instance> split;
    for (const Instance& instance : all) {
      for (std::size_t k = 0; k < parts; ++k) {
        if (k > 0) budget.keep_letters(instance.name.size());
        split.push_back(instance);
        if (parts == 1) continue;
        Instance& part = split.back();
        part.values.push_back(static_cast<int>(k) + 1);
        part.name = instance.values.empty() ? instance.name + "["
                                            : instance.name.substr(0, instance.name.size() - 1) + ",";
        part.name += std::to_string(k + 1) + "]";
      }
    }
    const auto entry = add_element(word, name, split.size(),
                                   split.empty() ? 0 : static_cast<int>(split.front().values.size()));
    if (!entry) continue;
    (*entry)->least = least;
    for (std::size_t number = 0; number < split.size(); ++number) {
      const Instance& instance = split[number];
      RelationDraft draft;
      draft.kind = item.kind;
      draft.contact = item.contact;
      draft.constraint = item.constraint;
      draft.joint = item.joint;
      draft.name = instance.name;
      draft.where = word + " '" + instance.name + "'";
      draft.place = std::string(kTable[static_cast<int>(item.kind)]) + "." + name.text;
      draft.indices = instance.indices;
      draft.span = item.span.empty() ? name.span : item.span;
      draft.lambda = graph.declare("normal(" + instance.name + ")");
      draft.closed = graph.declare("closed(" + instance.name + ")");
      draft.base = draft.normal_force = draft.gap = draft.gap_rate = draft.gap_time = draft.zeta =
          graph.constant(0);
      draft.restitution = draft.tangential = draft.stored = draft.stored_force = graph.constant(0);
      draft.touching = graph.constant(1);
      if (const std::vector<Node>& own = gaps[number / parts]; !own.empty()) {
        draft.gap = own[number % parts];
        draft.gap_known = true;
      }
      (*entry)->relations[instance.values] = static_cast<int>(relations.size());
      relations.push_back(std::move(draft));
    }
  }

  for (RelationDraft& draft : relations) {
    if (draft.contact != nullptr) read_contact(draft);
    if (draft.constraint != nullptr) read_constraint(draft);
    if (draft.joint != nullptr) {
      if (draft.joint->slip.empty()) {
        report_error(draft.span, draft.where, "the joint has no 'slip'");
        continue;
      }
      read_slip(draft, draft.joint->slip, {}, 3);
    }
  }
  std::vector<Reaction> reactions;
  for (std::size_t r = 0; r < relations.size(); ++r) reactions.emplace_back(relations[r].lambda, r);
  std::sort(reactions.begin(), reactions.end());
  for (RelationDraft& draft : relations) {
    if (draft.joint != nullptr) read_joint_normal(draft, reactions);
  }
  for (RelationDraft& draft : relations) {
    const FrictionLaw& law = draft.contact      ? draft.contact->friction
                             : draft.constraint ? draft.constraint->friction
                                                : draft.joint->law;
    read_law(draft, law);
  }
}

// Where all instances have as many corners. True: each gap is now the list of those of which it is the smallest.
bool Builder::take_corners_apart(const Contact& contact, std::vector<std::vector<Node>>& gaps,
                                 std::size_t& parts) {
  std::vector<std::vector<Node>> taken;
  for (const std::vector<Node>& gap : gaps) {
    if (gap.empty()) return false;  // an error has been reported
    taken.push_back(least_gaps(contact, gap.front()));
    if (taken.back().size() != taken.front().size()) return false;
  }
  if (taken.empty() || taken.front().size() == 1) return false;
  parts = taken.front().size();
  gaps = std::move(taken);
  return true;
}

void Builder::read_contact(RelationDraft& draft) {
  const Contact& c = *draft.contact;
  if (!c.gap.given) {
    report_error(draft.span, draft.where, "the contact has no 'gap'");
    return;
  }
  draft.has_gap = true;
  const int errors_before = result.diagnostics.errors();
  if (!draft.gap_known) draft.gap = graph.constant(1);  // an error has been reported
  draft.gap_rate = partial_time_and_position(draft.gap);
  draft.gap_time = graph.derivative(draft.gap, t);
  draft.zeta = partial_time_and_position(draft.gap_rate);
  draft.w = velocity_gradient(draft.gap_rate);
  draft.push = draft.w;
  draft.has_normal = true;
  if (result.diagnostics.errors() == errors_before && draft.gap_known && all_zero(draft.w)) {
    error(c.gap, draft.where + ", gap", "the gap does not depend on any coordinate");
  }
  if (c.push.given) {
    if (auto push =
            acting_direction(c.push, draft.where + ", push", draft.place + ".push", "push", draft.indices))
      draft.push = *std::move(push);
    draft.own_push = true;
  }
  if (!c.drag.empty()) draft.own_push = true;
  if (draft.own_push) {
    const Span span = c.push.given ? c.push.text.span : c.drag.front().text.span;
    warning(span, draft.where, "with 'push' or 'drag' the reactions do work on the constraint",
            "leave them out unless the model is a small-angle model of the literature");
  }
  read_slip(draft, c.slip, c.drag, 3);
  read_impact(draft);
  if (c.compliant.stated()) read_compliance(draft);
}

void Builder::read_constraint(RelationDraft& draft) {
  const Constraint& c = *draft.constraint;
  if (c.zero.given == c.velocity.given) {
    report_error(draft.span, draft.where,
                 c.zero.given ? "a constraint has 'zero' or 'velocity', not both"
                              : "the constraint has no 'zero' and no 'velocity'");
    return;
  }
  draft.has_gap = draft.has_normal = true;
  draft.holonomic = c.zero.given;
  const Value& value = c.zero.given ? c.zero : c.velocity;
  const char* key = c.zero.given ? "zero" : "velocity";
  const std::string where = draft.where + ", " + key;
  const int errors_before = result.diagnostics.errors();
  draft.gap = lower_or_one(value, c.zero.given ? kPosition : kVelocity, where, draft.place + "." + key,
                           draft.indices);
  if (draft.holonomic) {
    draft.gap_rate = partial_time_and_position(draft.gap);
    draft.gap_time = graph.derivative(draft.gap, t);
  } else {
    if (!affine_in_velocities(draft.gap, value, where, key)) draft.gap = graph.constant(0);
    draft.gap_rate = draft.gap;
    draft.gap_time = at_rest(draft.gap);
  }
  draft.zeta = partial_time_and_position(draft.gap_rate);
  draft.w = velocity_gradient(draft.gap_rate);
  draft.push = draft.w;
  if (result.diagnostics.errors() == errors_before && tree(value, where) != nullptr && all_zero(draft.w)) {
    error(value, where,
          draft.holonomic ? "the constraint does not depend on any coordinate"
                          : "the constraint does not depend on any velocity");
  }
  read_slip(draft, c.slip, {}, 3);
}

void Builder::read_slip(RelationDraft& draft, const std::vector<Value>& slip, const std::vector<Value>& drag,
                        int most) {
  if (static_cast<int>(slip.size()) > most) {
    error(slip.back(), draft.where + ", slip",
          "a slip velocity has at most " + std::to_string(most) + " components");
    return;
  }
  if (!drag.empty() && drag.size() != slip.size()) {
    error(drag.front(), draft.where + ", drag", "'drag' needs as many components as 'slip'");
    return;
  }
  for (std::size_t k = 0; k < slip.size(); ++k) {
    const std::string where = draft.where + ", slip";
    TangentDraft row;
    const int errors_before = result.diagnostics.errors();
    row.slip = lower_or_one(slip[k], kVelocity, where, draft.place + ".slip", draft.indices);
    if (!affine_in_velocities(row.slip, slip[k], where, "slip")) row.slip = graph.constant(0);
    row.drive = at_rest(row.slip);
    row.zeta = partial_time_and_position(row.slip);
    row.w = velocity_gradient(row.slip);
    row.drag = row.w;
    if (result.diagnostics.errors() == errors_before && tree(slip[k], where) != nullptr && all_zero(row.w)) {
      error(slip[k], where, "the slip velocity does not depend on any velocity");
    }
    if (!drag.empty()) {
      if (auto along =
              acting_direction(drag[k], draft.where + ", drag", draft.place + ".drag", "drag", draft.indices))
        row.drag = *std::move(along);
    }
    const std::string label = slip.size() > 1 ? draft.name + ", " + std::to_string(k + 1) : draft.name;
    row.direction = graph.declare("direction(" + label + ")");
    row.lambda = graph.declare("tangent(" + label + ")");
    row.mu = row.mu_static = row.added = graph.constant(0);
    draft.slip.push_back(std::move(row));
  }
}

void Builder::read_impact(RelationDraft& draft) {
  const ImpactLaw& law = draft.contact->impact;
  const std::string where = draft.where + ", impact";
  draft.impact_friction = law.friction;
  if (!law.type.empty()) {
    const ImpactEntry* const entry = find_impact(law.type.text);
    if (entry == nullptr) {
      error(law.type, where, "there is no impact law " + quoted(law.type.text),
            suggestion(law.type.text, impact_words()));
    } else {
      draft.impact = entry->type;
      if (draft.impact != ImpactType::moreau && draft.slip.size() > 1) {
        error(law.type, where, "with several slip components only the impact law 'moreau' is defined");
      }
    }
  }
  if (law.restitution.given) {
    Scope scope(*this, kRestitution, where + ", restitution");
    scope.speed = graph.variable(approach);
    const auto node = lower(law.restitution, scope, where, draft.place + ".impact", draft.indices);
    if (node) draft.restitution = *node;
    if (node && graph.is_constant(*node) && !(graph.value(*node) >= 0 && graph.value(*node) <= 1)) {
      error(law.restitution, where,
            "the restitution is " + to_text(graph.value(*node).raw()) + "; it must lie between 0 and 1");
    }
  }
  const auto read = [&](const Value& value, const char* key, expr::Number& target, bool positive) {
    if (!value.given) return false;
    const auto found =
        number(value, where + ", " + key, kParameters, draft.indices);  // one for the whole run
    if (found) target = *found;
    if (found && positive && !(*found > 0))
      error(value, where, std::string("'") + key + "' must be positive");
    return found.has_value();
  };
  read(law.stiffness, "stiffness", draft.impact_stiffness, true);
  read(law.exponent, "exponent", draft.impact_exponent, true);
  expr::Number tangential = 0;
  draft.has_tangential = read(law.tangential, "tangential", tangential, false);
  draft.tangential = graph.constant(tangential);
  if (draft.has_tangential && !(tangential >= -1 && tangential <= 1)) {
    error(law.tangential, where,
          "the tangential restitution is " + to_text(tangential.raw()) + "; it must lie between -1 and 1");
  }
  if (draft.has_tangential && draft.slip.empty()) {
    error(law.tangential, where, "tangential restitution needs a slip velocity",
          "give the contact the key 'slip'");
  }
  if (draft.contact->compliant.stated() && (law.restitution.given || !law.type.empty())) {
    warning(law.span, where, "a compliant contact has no impacts; its impact law has no effect");
  }
}

void Builder::read_compliance(RelationDraft& draft) {
  const Compliance& c = draft.contact->compliant;
  const std::string where = draft.where + ", compliant";
  const auto read = [&](const Value& value, const char* key, double standard, bool positive) {
    if (!value.given) return expr::Number(standard);
    const expr::Number found = number(value, where + ", " + key, kParameters, draft.indices).value_or(1);
    if (positive ? !(found > 0) : !(found >= 0)) {
      error(value, where,
            std::string("'") + key + "' is " + to_text(found.raw()) + "; it must " +
                (positive ? "be positive" : "not be negative"));
    }
    return found;
  };
  if (!c.stiffness.given) report_error(draft.span, where, "a compliant contact needs a 'stiffness'");
  const expr::Number stiffness = read(c.stiffness, "stiffness", 1, true);
  const expr::Number damping = read(c.damping, "damping", 0, false);
  const expr::Number exponent = read(c.exponent, "exponent", 1, true);

  const std::string place = draft.place + ".compliant";
  const Node zero = graph.constant(0), k = graph.constant(stiffness);
  const Node depth = graph.negate(draft.gap);
  const Node p = graph.constant(exponent), p1 = graph.constant(exponent + 1);
  const Node energy_factor = graph.constant(stiffness / (exponent + 1));
  draft.has_normal = false;
  draft.compliant = true;
  if (damping == 0) {
    const Node pressed = graph.maximum(depth, zero, place);  // continuous: no event to list
    draft.normal_force = draft.stored_force = graph.multiply(k, graph.power(pressed, p));
    draft.stored = graph.multiply(energy_factor, graph.power(pressed, p1));
  } else {
    draft.touching = graph.less(zero, depth, false, place, draft.name + " touches");
    // A fractional power ends at the surface: behind it the depth counts as zero.
    const Node pressed = is_whole(exponent) ? depth : graph.maximum(depth, zero, place);
    const Node elastic = graph.multiply(k, graph.power(pressed, p));
    const Node viscous = graph.multiply(graph.constant(damping), graph.negate(draft.gap_rate));
    draft.normal_force =
        graph.select(draft.touching, graph.maximum(zero, graph.add(elastic, viscous), place), zero);
    draft.stored_force = graph.select(draft.touching, elastic, zero);
    draft.stored =
        graph.select(draft.touching, graph.multiply(energy_factor, graph.power(pressed, p1)), zero);
  }
  draft.known_load = true;
  draft.base = draft.normal_force;
}

void Builder::read_joint_normal(RelationDraft& draft, const std::vector<Reaction>& reactions) {
  const Joint& joint = *draft.joint;
  const std::string where = draft.where + ", normal";
  draft.known_load = true;
  if (!joint.normal.given) {
    report_error(draft.span, draft.where, "the joint has no 'normal'",
                 "give the normal force that presses it");
    return;
  }
  const Tree* written = tree(joint.normal, where);
  if (written == nullptr) return;
  Tree marked = *written;
  mark_sizes(marked);
  Scope scope(*this, kJointNormal, where);
  scope.indices = draft.indices;
  std::vector<expr::Problem> problems;
  const auto node =
      expr::lower(marked, graph, scope,
                  {.place = draft.place + ".normal", .indices = draft.indices, .condition = false}, problems);
  if (!node || !problems.empty()) {
    report(joint.normal.text, where, problems);
    return;
  }
  draft.base = *node;
  const std::vector<Variable> used = all_variables(*node);
  const auto uses = [&](Variable x, const std::vector<Variable>& list) {
    return std::binary_search(list.begin(), list.end(), x);
  };
  std::vector<Variable> lambdas;
  std::vector<Node> zeros;
  std::vector<std::size_t> read;
  for (const Variable x : used) {
    const auto at = std::lower_bound(reactions.begin(), reactions.end(), Reaction{x, 0});
    if (at != reactions.end() && at->first == x) read.push_back(at->second);
  }
  std::sort(read.begin(), read.end());
  for (const std::size_t r : read) {
    lambdas.push_back(relations[r].lambda);
    zeros.push_back(graph.constant(0));
    draft.feeds.push_back(static_cast<int>(r));
    draft.factors.push_back(graph.derivative(*node, relations[r].lambda));
  }
  if (lambdas.empty()) {
    if (graph.is_constant(*node) && graph.value(*node) < 0) {
      error(joint.normal, where, "the normal force is negative: " + to_text(graph.value(*node).raw()),
            "write abs() or max() where the sign may change");
    }
    return;
  }
  draft.known_load = false;
  draft.base = graph.substitute(*node, lambdas, zeros);
  bool linear = true;
  for (const expr::SwitchId id : graph.switches(*node)) {
    const std::vector<Variable> inner = all_variables(graph.switches()[id].surface);
    for (const Variable lambda : lambdas) linear = linear && !uses(lambda, inner);
  }
  for (const Node factor : draft.factors) {
    const std::vector<Variable> inner = all_variables(factor);
    for (const Variable lambda : lambdas) linear = linear && !uses(lambda, inner);
    if (graph.is_constant(factor) && graph.value(factor) < 0) {
      error(joint.normal, where,
            "the normal force falls when a reaction grows: factor " + to_text(graph.value(factor).raw()),
            "reactions may enter with factors ≥ 0 only");
    }
  }
  if (!linear)
    error(joint.normal, where, "the normal force is not linear in the reactions",
          "write a sum of reactions, each times a factor");
}

}  // namespace judder::model
