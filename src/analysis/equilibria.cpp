#include "judder/analysis/equilibria.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/rest_layout.hpp"
#include "core/dense/matrix.hpp"
#include "judder/core/number.hpp"
#include "judder/core/patience.hpp"

namespace judder::analysis {
namespace {

using Choice = std::vector<std::uint8_t>;
using contact::PolyhedronSolver;
using Meaning = RestLayout::Meaning;

std::string face_meaning(const RestProblem& rest, const RestLayout::Side& side, const RestState& state) {
  const std::string& who = rest.relations[side.relation].name;
  const bool unloaded = state.status[side.relation] == RestStatus::grazing;
  switch (side.meaning) {
    case Meaning::apart:
      return "touch of " + who;
    case Meaning::presses:
      return "lift-off of " + who;
    case Meaning::sign:
      return "reversal of " + who;
    case Meaning::slip_plus:
    case Meaning::slip_minus:
      break;
  }
  if (unloaded) return (rest.relations[side.relation].unilateral ? "lift-off of " : "no load on ") + who;
  return std::string("imminent slip") + (side.meaning == Meaning::slip_plus ? "+" : "-") + " of " + who;
}

class Search {
 public:
  Search(const RestProblem& rest, const EquilibriaOptions& options)
      : rest_(rest), options_(options), chosen_(chosen_relations(rest)) {
    patience_.start(options.cancel);
    how_ = {.tolerance = options.tolerance, .patience = &patience_};
  }

  Equilibria find() {
    const std::size_t bits = chosen_.size();
    out_.choices = bits < 63 ? std::size_t{1} << bits : std::numeric_limits<std::size_t>::max();
    std::vector<Choice> found;
    if (static_cast<int>(bits) <= options_.all_statuses_up_to) {
      for (std::size_t mask = 0; mask < out_.choices; ++mask) {
        Choice choice(bits);
        for (std::size_t i = 0; i < bits; ++i) choice[i] = static_cast<std::uint8_t>(mask >> i & 1U);
        if (possible(choice)) found.push_back(std::move(choice));
      }
    } else {
      Choice choice(bits, 2);
      prune(choice, 0, found);
    }
    out_.feasible = found.size();
    floating();
    for (const Choice& choice : found) {
      if (told_elsewhere(choice, found)) continue;
      add(choice);
    }
    return std::move(out_);
  }

 private:
  bool possible(const Choice& choice) {
    ++out_.looked_at;
    RestLayout layout;
    return PolyhedronSolver(make_polyhedron(rest_, choice, layout), how_).feasible();
  }

  /// Contacts are decided one after another; what has no rest with the others undecided has none.
  void prune(Choice& choice, std::size_t depth, std::vector<Choice>& found) {
    if (out_.looked_at >= options_.most_parts) {
      ++out_.left_out;
      return;
    }
    if (!possible(choice)) return;
    if (depth == choice.size()) {
      found.push_back(choice);
      return;
    }
    for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
      choice[depth] = side;
      prune(choice, depth + 1, found);
    }
    choice[depth] = 2;
  }

  /// Whether all of its states are part of a family on the other side of one contact.
  bool told_elsewhere(const Choice& choice, const std::vector<Choice>& found) {
    RestLayout layout;
    PolyhedronSolver solver(make_polyhedron(rest_, choice, layout), how_);
    const std::vector<std::uint8_t>& implicit = solver.implicit();
    for (std::size_t i = 0; i < layout.sides.size(); ++i) {
      if (implicit[i] == 0) continue;
      const auto [meaning, k] = layout.sides[i];
      const auto bit =
          static_cast<std::size_t>(std::find(chosen_.begin(), chosen_.end(), k) - chosen_.begin());
      if (bit == chosen_.size()) continue;
      Choice other = choice;
      other[bit] = other[bit] == 0 ? 1 : 0;
      if (std::find(found.begin(), found.end(), other) == found.end()) continue;
      if (meaning == Meaning::apart) return true;  // with g = 0 it is the closed one without reaction
      const bool zero = meaning == Meaning::presses || meaning == Meaning::sign;
      if (!zero) continue;
      // The other one is kept unless it is of the same kind itself.
      RestLayout other_layout;
      PolyhedronSolver other_solver(make_polyhedron(rest_, other, other_layout), how_);
      const std::vector<std::uint8_t>& held = other_solver.implicit();
      bool flat = false;
      for (std::size_t s = 0; s < other_layout.sides.size(); ++s)
        flat = flat ||
               (held[s] != 0 && other_layout.sides[s].relation == k &&
                other_layout.sides[s].meaning == (meaning == Meaning::sign ? Meaning::sign : Meaning::apart));
      if (meaning == Meaning::presses ? !flat : (!flat || choice[bit] == 0)) return true;
    }
    return false;
  }

  void add(const Choice& closed) {
    RestLayout layout;
    const contact::Polyhedron polyhedron = make_polyhedron(rest_, closed, layout);
    PolyhedronSolver solver(polyhedron, how_);
    const Choice choice = choice_by_relation(rest_, closed);
    RestFamily family;
    family.closed = closed;
    family.dimension = solver.dimension();
    const std::vector<std::uint8_t> implicit = solver.implicit();
    family.inside = state_of(rest_, layout, choice, solver.interior(), implicit);
    ranges(solver, layout, choice, polyhedron, family);
    for (const std::uint32_t side : solver.facets()) {
      contact::Polyhedron face = polyhedron;
      face.add_equation({polyhedron.inequalities.data() + side * polyhedron.variables, polyhedron.variables},
                        polyhedron.bounds[side]);
      PolyhedronSolver face_solver(face, how_);
      if (!face_solver.feasible()) continue;
      RestFace made;
      made.state = state_of(rest_, layout, choice, face_solver.interior(), face_solver.implicit());
      made.meaning = face_meaning(rest_, layout.sides[side], made.state);
      family.faces.push_back(std::move(made));
    }
    const contact::Extremes extremes = solver.extremes(options_.limit);
    family.complete = extremes.complete;
    const auto flags = [&](const std::vector<std::uint32_t>& tight, bool ray) {
      std::vector<std::uint8_t> out(layout.sides.size(), 0);
      for (const std::uint32_t i : tight) out[i] = 1;
      for (std::size_t i = 0; i < out.size() && ray; ++i) out[i] = out[i] != 0 && implicit[i] != 0 ? 1 : 0;
      return out;
    };
    for (const auto& vertex : extremes.vertices)
      family.vertices.push_back(state_of(rest_, layout, choice, vertex.x, flags(vertex.tight, false)));
    for (const auto& ray : extremes.rays)
      family.rays.push_back(state_of(rest_, layout, choice, ray.x, flags(ray.tight, true), true));
    for (const auto& line : extremes.lines) family.lines.push_back(line);
    out_.families.push_back(std::move(family));
  }

  void ranges(const PolyhedronSolver& solver, const RestLayout& layout, const Choice& choice,
              const contact::Polyhedron& polyhedron, RestFamily& family) {
    std::vector<double> row(layout.size, 0);
    const auto unit = [&](const std::string& name, std::size_t place) {
      std::fill(row.begin(), row.end(), 0.0);
      row[place] = 1;
      const contact::Range range = solver.range(row);
      family.ranges.push_back({name, range.low, range.high});
    };
    for (std::size_t i = 0; i < rest_.n; ++i) unit(rest_.coordinates[i], i);
    for (std::size_t i = 0; i < rest_.m; ++i) unit(rest_.states[i], rest_.n + i);
    for (std::size_t k = 0; k < rest_.relations.size(); ++k) {
      const RestProblem::Relation& relation = rest_.relations[k];
      if (layout.normal[k] != RestLayout::kNone) unit("normal(" + relation.name + ")", layout.normal[k]);
      if (layout.tangent[k] != RestLayout::kNone) unit("tangent(" + relation.name + ")", layout.tangent[k]);
      if (relation.unilateral && choice[k] == 0) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::size_t j = 0; j < rest_.n; ++j) row[j] = relation.w[j];
        const contact::Range range = solver.range(row);
        family.ranges.push_back(
            {"gap(" + relation.name + ")", range.low + relation.gap, range.high + relation.gap});
      }
      if (layout.tangent[k] != RestLayout::kNone && relation.tangents[0].drive == 0)
        reserve(layout, choice, polyhedron, k, solver, family);
    }
  }

  /// μ L − |λ_T|: the smaller of two slacks, so its largest value needs one more unknown.
  void reserve(const RestLayout& layout, const Choice& choice, const contact::Polyhedron& polyhedron,
               std::size_t k, const PolyhedronSolver& solver, RestFamily& family) {
    const RestProblem::Tangent& tangent = rest_.relations[k].tangents[0];
    std::vector<double> load;
    const double base = load_row(rest_, layout, choice, k, load);
    for (double& a : load) a *= tangent.mu;
    double low = std::numeric_limits<double>::infinity();
    contact::Polyhedron lifted;
    lifted.variables = layout.size + 1;
    std::vector<double> wide(lifted.variables, 0);
    const auto lift = [&](const std::vector<double>& from, std::size_t i) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * layout.size), layout.size, wide.begin());
      wide.back() = 0;
    };
    for (std::size_t i = 0; i < polyhedron.equation_count(); ++i) {
      lift(polyhedron.equations, i);
      lifted.add_equation(wide, polyhedron.equation_values[i]);
    }
    for (std::size_t i = 0; i < polyhedron.inequality_count(); ++i) {
      lift(polyhedron.inequalities, i);
      lifted.add_inequality(wide, polyhedron.bounds[i]);
    }
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> slack = load;
      slack[layout.tangent[k]] += sign;
      low = std::min(low, solver.range(slack).low + tangent.mu * base);
      for (std::size_t j = 0; j < layout.size; ++j) wide[j] = slack[j] == 0 ? 0 : -slack[j];
      wide.back() = 1;
      lifted.add_inequality(wide, tangent.mu * base);
    }
    std::fill(wide.begin(), wide.end(), 0.0);
    wide.back() = 1;
    const contact::LinearResult most = PolyhedronSolver(lifted, how_).maximise(wide);
    family.ranges.push_back({"reserve(" + rest_.relations[k].name + ")", low, most.value});
  }

  /// Directions that neither a spring nor a contact, constraint or joint holds.
  void floating() {
    contact::Polyhedron free;
    free.variables = rest_.n;
    const std::size_t width = rest_.n + rest_.m;
    for (std::size_t i = 0; i < rest_.n; ++i)
      free.add_equation({rest_.stiffness.data() + i * width, rest_.n}, 0);
    for (const RestProblem::Relation& relation : rest_.relations) {
      if (relation.has_normal) free.add_equation(relation.w, 0);
      if (!relation.tangents.empty() && relation.tangents[0].drive == 0 && relation.tangents[0].mu > 0)
        free.add_equation(relation.tangents[0].w, 0);
    }
    for (const std::vector<double>& line : PolyhedronSolver(free, how_).extremes(1).lines) {
      double most = 0;
      for (const double each : line) most = std::max(most, std::abs(each));
      std::string text;
      for (std::size_t i = 0; i < rest_.n; ++i) {
        const double part = line[i] / most;
        if (std::abs(part) < 1e-12) continue;
        const std::string factor =
            std::abs(std::abs(part) - 1) < 1e-12 ? "" : to_text(std::abs(part), 4) + " ";
        text += (text.empty() ? (part < 0 ? "-" : "") : (part < 0 ? " - " : " + ")) + factor +
                rest_.coordinates[i];
      }
      out_.floating.push_back(text);
    }
  }

  const RestProblem& rest_;
  const EquilibriaOptions& options_;
  std::vector<std::size_t> chosen_;
  Patience patience_;
  contact::PolyhedronOptions how_;
  Equilibria out_;
};

}  // namespace

const char* name(RestStatus status) {
  switch (status) {
    case RestStatus::detached:
      return "detached";
    case RestStatus::grazing:
      return "grazing";
    case RestStatus::pressed:
      return "pressed";
    case RestStatus::stuck:
      return "stuck";
    case RestStatus::slip_plus:
      return "imminent slip+";
    case RestStatus::slip_minus:
      return "imminent slip-";
    case RestStatus::sliding_plus:
      return "slides+";
    case RestStatus::sliding_minus:
      return "slides-";
    case RestStatus::held:
      break;
  }
  return "held";
}

Equilibria equilibria(const RestProblem& rest, const EquilibriaOptions& options) {
  return Search(rest, options).find();
}

}  // namespace judder::analysis
