// Gaps that are products.
//
// f = f₁ f₂ … ≥ 0 is the same as f_j ≥ 0 for every factor, in the part of space in which the motion starts; a factor φ > 0 and an odd
// power change nothing about the impact either, because a restitution compares velocities of one gap (Petcoviciu 2010, 1.5 and 1.6).
// They do change the reaction, which is conjugate to the gap as it is written. So without friction the gap is taken apart and
// reduced; with friction the factor is reported and the author decides. An even power is no unilateral constraint.
//
// A constant factor of a simple gap stays where it is.
//
// min(f, g) ≥ 0 is the same as f ≥ 0 and g ≥ 0, and where one of them is zero it is the gap, to the last factor: reaction, friction and impact of the whole are
// those of the parts. Only in the corner, where both are zero, the whole has no normal, and the parts have two. So every kink at which the gap is the
// smaller one of its two forms is taken apart, with friction too.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {
namespace {

/// The factors of a product as they stand in the text, signs and denominators left aside.
void collect_factors(const Tree& tree, std::vector<const Tree*>& out) {
  switch (tree.kind) {
    case expr::Kind::multiply:
      for (const Tree& child : tree.children) collect_factors(child, out);
      break;
    case expr::Kind::negate:
    case expr::Kind::divide:
    case expr::Kind::power:
      collect_factors(tree.children.front(), out);
      break;
    default:
      out.push_back(&tree);
  }
}

}  // namespace

std::vector<Node> Builder::simple_gaps(const Contact& contact, const std::string& name,
                                       const std::vector<Index>& indices) {
  const std::string where = "contact '" + name + "', gap";
  Scope scope(*this, kPosition, where);
  const auto whole = lower(contact.gap, scope, where, "contact." + contact.name.text + ".gap", indices);
  if (!whole) return {};
  const expr::Factored factored = graph.factored(*whole);
  const auto moves = [&](Node node) {
    const std::vector<Variable> used = all_variables(node);
    for (const CoordinateDraft& c : coordinates) {
      if (std::binary_search(used.begin(), used.end(), c.q)) return true;
    }
    return false;
  };
  std::vector<expr::Factor> gaps;
  std::vector<Node> others;  // positive factors, and those that only time can change
  bool powers = false;
  for (const expr::Factor& factor : factored.factors) {
    if (factor.exponent < 0 || graph.is_positive(factor.base) || !moves(factor.base)) {
      others.push_back(factor.base);
      continue;
    }
    if (is_whole(factor.exponent) && std::fmod(factor.exponent.fixed("the form of a gap"), 2) == 0) {
      error(contact.gap, where,
            "the gap contains the even power (" + graph.text(factor.base) + ")^" +
                to_text(factor.exponent.raw()) + ", which is no constraint",
            "it never becomes negative; write the gap itself");
      return {};
    }
    powers = powers || factor.exponent != 1;
    gaps.push_back(factor);
  }
  if (gaps.empty() || (gaps.size() == 1 && !powers && others.empty())) return {*whole};

  // In the order of the text, as far as the text shows its factors.
  std::vector<const Tree*> written;
  collect_factors(*tree(contact.gap, where), written);
  std::unordered_map<std::uint32_t, std::size_t> order;  // by node
  for (const Tree* part : written) {
    std::vector<expr::Problem> ignored;
    const auto node =
        expr::lower(*part, graph, scope, {.place = {}, .indices = indices, .condition = false}, ignored);
    if (!node) continue;
    for (const expr::Factor& factor : graph.factored(*node).factors)
      order.try_emplace(factor.base.index, order.size());
  }
  const auto place_of = [&](Node base) {  // products keep a factor or its negative, whichever is canonical
    const auto as_it_is = order.find(base.index), negative = order.find(graph.negate(base).index);
    return std::min(as_it_is == order.end() ? order.size() : as_it_is->second,
                    negative == order.end() ? order.size() : negative->second);
  };
  std::vector<std::pair<std::size_t, expr::Factor>> placed;
  for (const expr::Factor& gap : gaps) placed.emplace_back(place_of(gap.base), gap);
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < gaps.size(); ++k) gaps[k] = placed[k].second;

  // Time alone may change the sign of a factor; such a gap is not one of Petcoviciu's and stays as it is.
  double sign = factored.coefficient < 0 ? -1 : factored.coefficient == 0 ? 0 : 1;
  if (start_values.size() < graph.variable_count()) start_values.resize(graph.variable_count(), 0.0);
  for (const expr::Factor& factor : factored.factors) {
    if (moves(factor.base) || graph.is_positive(factor.base)) continue;
    if (gaps.size() == 1 && !powers) return {*whole};
    if (!all_variables(factor.base).empty()) {
      error(
          contact.gap, where,
          "the factor " + graph.text(factor.base) + " of the gap moves with time only; its sign is not known",
          "write one contact for each gap");
      return {};
    }
  }
  const auto list_of = [&](const auto& factors, const auto& node_of) {
    constexpr std::size_t kShown = 1000;  // bytes, about
    expr::Texts text(graph, kShown);
    std::string list;
    for (const auto& factor : factors) {
      if (list.size() > kShown) return list + ", …";
      list += (list.empty() ? "" : ", ") + quoted(text(node_of(factor)));
    }
    return list;
  };
  const std::string list = list_of(gaps, [](const expr::Factor& gap) { return gap.base; });
  if (contact.friction.stated()) {
    if (gaps.size() == 1 && !powers) {
      const std::string words = list_of(others, [](Node factor) { return factor; });
      warning(contact.gap.text.span, where, "the gap contains the factor " + words,
              "with friction the reaction is the one that does work on the gap as written; leave the factor "
              "out if the gap is a length");
      return {*whole};
    }
    error(contact.gap, where,
          gaps.size() > 1
              ? "the gap of a contact with friction is a product: " + list
              : "the gap of a contact with friction is a power: its normal vanishes where it closes",
          gaps.size() > 1 ? "write one contact for each factor; friction refers to the gap as it is written"
                          : "write the gap " + list);
    return {};
  }

  // Each gap is positive where the motion starts; one that starts at zero takes the sign that makes the product positive.
  int zeros = 0;
  std::size_t zero = 0;
  std::vector<double> signs(gaps.size(), 1);
  for (const expr::Factor& factor : factored.factors) {
    if (factor.exponent < 0 && !graph.is_positive(factor.base)) {
      const double value = graph.evaluate(factor.base, start_values);
      for_form.signs.push_back({factor.base, value < 0 ? -1.0 : value > 0 ? 1.0 : 0.0});
      sign *= value < 0 ? -1 : 1;
    }
  }
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    const double value = graph.evaluate(gaps[k].base, start_values);
    if (value == 0) {
      ++zeros;
      zero = k;
    }
    for_form.signs.push_back({gaps[k].base, value < 0 ? -1.0 : value > 0 ? 1.0 : 0.0});
    signs[k] = value < 0 ? -1 : 1;
    sign *= signs[k];
  }
  if (zeros > 1 && sign < 0) {
    error(contact.gap, where,
          "several factors of the gap are zero at the start and it is not clear which side is meant: " + list,
          "write one contact for each factor");
    return {};
  }
  if (zeros == 1 && sign < 0) signs[zero] = -1;
  // A product that is negative at the start is reported as such, at its first gap.
  if (zeros == 0 && sign < 0) signs[0] = -signs[0];
  std::vector<Node> out;
  for (std::size_t k = 0; k < gaps.size(); ++k)
    out.push_back(signs[k] < 0 ? graph.negate(gaps[k].base) : gaps[k].base);
  return out;
}

std::vector<Node> Builder::least_gaps(const Contact& contact, Node gap) {
  constexpr std::size_t kMostParts = 16;
  if (contact.compliant.stated() || contact.push.given || !contact.drag.empty()) return {gap};
  const auto moves = [&](Node node) {
    const std::vector<Variable> used = all_variables(node);
    return std::any_of(coordinates.begin(), coordinates.end(), [&](const CoordinateDraft& c) {
      return std::binary_search(used.begin(), used.end(), c.q);
    });
  };
  // A side that another surface reads as well belongs to that one.
  const auto read_beside = [&](expr::SwitchId id, const std::vector<expr::SwitchId>& all) {
    return std::any_of(all.begin(), all.end(), [&](expr::SwitchId other) {
      const std::vector<expr::SwitchId> inner = graph.switches(graph.switches()[other].surface);
      return other != id && std::find(inner.begin(), inner.end(), id) != inner.end();
    });
  };
  std::vector<Node> out{gap};
  if (!any_side && !graph.switches(gap).empty()) any_side = graph.declare("a side");
  for (std::size_t k = 0; k < out.size();) {
    const std::vector<expr::SwitchId> all = graph.switches(out[k]);
    const auto corner = std::find_if(all.begin(), all.end(), [&](expr::SwitchId id) {
      return graph.switches()[id].two_sided() && moves(graph.switches()[id].surface) &&
             !read_beside(id, all) && graph.extreme(out[k], id, *any_side) < 0;
    });
    if (corner == all.end()) {
      ++k;
      continue;
    }
    if (out.size() == kMostParts) return {gap};
    const Node whole = out[k];
    out[k] = graph.on_side(whole, *corner, graph.constant(0));
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(k) + 1,
               graph.on_side(whole, *corner, graph.constant(1)));
  }
  return out;
}

}  // namespace judder::model
