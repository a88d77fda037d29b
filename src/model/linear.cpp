// Recognition of models that are linear in each mode.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "judder/expr/affine.hpp"
#include "model/builder.hpp"

namespace judder::model {
namespace {

using expr::Obstacle;

/// Collects coefficient nodes as outputs of one program, equal ones once.
class Coefficients {
 public:
  int output(Node node) {
    const auto [place, fresh] = number_.emplace(node.index, static_cast<int>(nodes_.size()));
    if (fresh) nodes_.push_back(node);
    return place->second;
  }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::unordered_map<std::uint32_t, int> number_;
  std::vector<Node> nodes_;
};

AffineFunction function_of(const expr::AffineForm& form, Coefficients& coefficients) {
  AffineFunction out;
  for (const auto& [variable, slope] : form.slopes)
    out.slopes.push_back({static_cast<int>(variable), coefficients.output(slope)});
  for (const expr::TimeTerm& term : form.load) {
    out.loads.push_back({term.power, coefficients.output(term.rate), coefficients.output(term.frequency),
                         coefficients.output(term.cosine), coefficients.output(term.sine)});
  }
  return out;
}

/// What is said of the part that is in the way.
const char* in_words(const Obstacle& obstacle) {
  switch (obstacle.kind) {
    case Obstacle::Kind::not_affine:
      return "";
    case Obstacle::Kind::varying_slope:
      return " has a factor that varies with time";
    case Obstacle::Kind::load:
      return " is not a sum of polynomials, exponentials and harmonics of t";
  }
  return "";
}

}  // namespace

/// The work of one call: finds all parts affine, or stops at the first that is not.
struct LinearRecognition {
  Builder& b;
  LinearStructure& out;
  Coefficients coefficients;
  std::vector<Variable> state;     ///< q, v, z
  std::vector<Variable> extended;  ///< with accelerations and reactions
  bool good = true;

  Graph& graph() { return b.graph; }

  /// The reason is around a formula, whose numbers may be those of open parameters.
  void refuse(const std::string& before, Node part, const std::string& after, std::string where = {},
              Span span = {}) {
    if (!good) return;
    b.for_form.reason_before = before;
    b.for_form.reason_after = after;
    b.for_form.reason = part;
    refuse(before + graph().text(part) + after, std::move(where), span);
  }
  void refuse(std::string reason, std::string where = {}, Span span = {}) {
    if (!good) return;
    good = false;
    out.reason = std::move(reason);
    out.where = std::move(where);
    out.span = span;
  }

  /// Affine in the variables, with a load; otherwise refused with the words of `what` in front.
  AffineFunction affine(Node node, const std::vector<Variable>& variables, const std::string& what,
                        const std::string& where = {}, Span span = {}) {
    if (!good) return {};
    Obstacle obstacle;
    const auto form = expr::affine_form(graph(), node, variables, b.t, obstacle);
    if (form) return function_of(*form, coefficients);
    refuse(what + ": ", obstacle.part, in_words(obstacle), where, span);
    return {};
  }

  /// Free of the state: a load.
  AffineFunction load(Node node, const std::string& what, const std::string& where = {}, Span span = {}) {
    AffineFunction made = affine(node, state, what, where, span);
    if (good && !made.slopes.empty()) refuse(what + ": ", node, " varies with the state", where, span);
    return made;
  }

  /// Free of the state and of time: a coefficient.
  int constant(Node node, const std::string& what, const std::string& where = {}, Span span = {}) {
    if (!good) return 0;
    bool varies = !graph().is_constant(node) && graph().depends_on(node, b.t);
    for (std::size_t i = 0; i < state.size() && !varies && !graph().is_constant(node); ++i)
      varies = graph().depends_on(node, state[i]);
    if (varies) refuse(what + ": ", node, " is not constant", where, span);
    return coefficients.output(node);
  }

  std::vector<int> constants(const std::vector<Node>& nodes, const std::string& what,
                             const std::string& where, Span span) {
    std::vector<int> made;
    for (std::size_t i = 0; i < nodes.size(); ++i)  // of many entries most are the same zero
      made.push_back(i > 0 && nodes[i] == nodes[i - 1] ? made.back() : constant(nodes[i], what, where, span));
    return made;
  }

  void mass();
  void forces();
  bool blames(const std::string& what, Node part, const Value& value, const std::string& where);
  void relations();
  void switches();
  void powers();
};

void LinearRecognition::mass() {
  const System::Data& d = b.system.data();
  for (std::size_t i = 0; i < b.coordinates.size(); ++i) {
    if (b.coordinates[i].spec->massless) {
      refuse("coordinate " + quoted(b.coordinates[i].name) + " is massless",
             "coordinate '" + b.coordinates[i].name + "'", b.coordinates[i].spec->name.span);
    }
  }
  if (d.mass_constant) return;
  for (const Node node : b.mass) {
    if (!graph().is_constant(node))
      refuse("the mass matrix varies: ", node, "", "energy, kinetic", b.spec.energy.kinetic.text.span);
  }
}

/// True if this part of a force is what is not affine; then it is the reason.
bool LinearRecognition::blames(const std::string& what, Node part, const Value& value,
                               const std::string& where) {
  Obstacle obstacle;
  if (expr::affine_form(graph(), part, state, b.t, obstacle)) return false;
  refuse(what + ": ", obstacle.part, in_words(obstacle), where, value.text.span);
  return true;
}

void LinearRecognition::forces() {
  for (std::size_t i = 0; i < b.force.size() && good; ++i) {
    Obstacle obstacle;
    const auto form = expr::affine_form(graph(), b.force[i], state, b.t, obstacle);
    if (form) {
      out.force.push_back(function_of(*form, coefficients));
      continue;
    }
    // The whole is not; which of its parts is it?
    const std::string what = "force on " + b.coordinates[i].name;
    const CoordinateDraft& c = b.coordinates[i];
    std::size_t count = 0;
    for (const Force& written : b.spec.forces) {
      const std::string name = written.name.empty() ? "force" + std::to_string(count + 1) : written.name.text;
      ++count;
      for (const ForceDraft& f : b.forces) {
        const bool same = f.name == name || f.name.starts_with(name + "[");
        if (same && !b.is_zero(f.w[i]) &&
            blames(what, graph().multiply(f.value, f.w[i]), written.value, f.where))
          return;
      }
    }
    if (blames(what, graph().derivative(b.potential, c.q), b.spec.energy.potential, "energy, potential"))
      return;
    if (blames(what, graph().derivative(b.dissipation, c.v), b.spec.energy.dissipation,
               "energy, dissipation"))
      return;
    for (const RelationDraft& r : b.relations) {
      if (r.compliant && blames(what, graph().multiply(r.normal_force, r.push[i]), r.contact->gap, r.where))
        return;
      for (const TangentDraft& row : r.slip) {
        const Value& place = r.contact != nullptr ? r.contact->slip.front()
                             : r.joint != nullptr ? r.joint->slip.front()
                                                  : r.constraint->slip.front();
        if (blames(what, graph().multiply(row.added, row.drag[i]), place, r.where)) return;
      }
    }
    refuse(what + ": ", obstacle.part, in_words(obstacle), "energy, kinetic",
           b.spec.energy.kinetic.text.span);
  }
  for (const StateDraft& s : b.states) {
    const Span span = s.spec != nullptr ? s.spec->rate.text.span : Span{};
    out.rate.push_back(affine(s.rate, state, "rate of " + s.name, "state '" + s.name + "', rate", span));
  }
}

void LinearRecognition::relations() {
  for (std::size_t k = 0; k < b.relations.size() && good; ++k) {
    const RelationDraft& r = b.relations[k];
    const Relation& made = b.system.data().relations[k];
    const std::string& where = r.where;
    LinearStructure::Normal normal;
    if (r.has_normal) {
      const Value& value = r.contact != nullptr       ? r.contact->gap
                           : r.constraint->zero.given ? r.constraint->zero
                                                      : r.constraint->velocity;
      const Span span = value.text.span;
      const std::string what =
          std::string(r.contact != nullptr ? "gap" : "constraint") + " of " + quoted(r.name);
      normal.gap = affine(r.gap, state, what, where, span);
      normal.w = constants(r.w, what, where, span);
      normal.gap_time = load(r.gap_time, what, where, span);
      normal.zeta = load(r.zeta, what, where, span);
      normal.push = constants(r.push, "push of " + quoted(r.name), where, span);
    }
    out.normal.push_back(std::move(normal));

    const Span law_span = r.contact != nullptr ? r.contact->friction.span
                          : r.joint != nullptr ? r.joint->law.span
                                               : r.constraint->friction.span;
    const Span place = law_span.empty() ? r.span : law_span;
    const std::vector<Node>& factors = b.system.data().symbols.factors[k];
    out.base.push_back(affine(r.base, state, "normal force of " + quoted(r.name), where, place));
    out.factors.push_back(constants(factors, "normal force of " + quoted(r.name), where, place));
    for (int j = 0; j < made.tangents && good; ++j) {
      const TangentDraft& row = r.slip[static_cast<std::size_t>(j)];
      LinearStructure::Tangent tangent;
      const std::string slip = "slip of " + quoted(r.name);
      tangent.slip = affine(row.slip, state, slip, where, place);
      tangent.w = constants(row.w, slip, where, place);
      tangent.drive = load(row.drive, slip, where, place);
      tangent.zeta = load(row.zeta, slip, where, place);
      tangent.drag = constants(row.drag, "drag of " + quoted(r.name), where, place);
      const std::string law = "friction of " + quoted(r.name);
      tangent.known = affine(graph().multiply(row.mu, r.base), state, law, where, place);
      tangent.at_rest = affine(graph().multiply(row.mu_static, r.base), state, law, where, place);
      for (const Node factor : factors) {
        tangent.fed.push_back(constant(graph().multiply(row.mu, factor), law, where, place));
        tangent.fed_rest.push_back(constant(graph().multiply(row.mu_static, factor), law, where, place));
      }
      out.tangent.push_back(std::move(tangent));
    }
  }
}

void LinearRecognition::switches() {
  const System::Data& d = b.system.data();
  for (std::size_t k = 0; k < d.switches.size() && good; ++k) {
    out.surface.emplace_back();
    if (d.switches[k].time_only) continue;
    out.surface.back() =
        affine(d.symbols.surface[k], state, "switch in " + d.switches[k].place, d.switches[k].place);
  }
  std::unordered_map<std::string_view, Span> places;
  for (const Watch& written : b.spec.watches) places[written.name.text] = written.zero.text.span;
  for (const auto& watch : b.watches) {
    const std::string_view name = watch.info.name;
    const auto place = places.find(name.substr(0, name.find('[')));
    const Span span = place == places.end() ? Span{} : place->second;
    const std::string what = "watch " + quoted(watch.info.name);
    for (const expr::SwitchId id : graph().switches(watch.value)) {
      refuse(what + ": it switches at ", graph().switches()[id].surface, " = 0", what, span);
    }
    if (b.reads_works(watch.value)) refuse(what + ": it reads a work, the integral of a product", what, span);
    out.watch.push_back(affine(watch.value, extended, what, what, span));
  }
}

/// P = P(0, t) + Σ_j y_j (∂P/∂y_j (0, t) + ½ Σ_k H_jk y_k)
void LinearRecognition::powers() {
  const Node zero = graph().constant(0);
  const Node half = graph().constant(0.5);
  const std::vector<Node> zeros(state.size(), zero);
  for (const AuditDraft& audit : b.audits) {
    if (!audit.has_power || !good) continue;
    const std::string what = "work of " + quoted(audit.name);
    QuadraticFunction power;
    const Node still = graph().substitute_frozen(audit.power, state, zeros);
    if (!b.is_zero(still)) power.products.push_back({-1, load(still, what)});
    for (std::size_t j = 0; j < state.size() && good; ++j) {
      if (!graph().depends_on(audit.power, state[j])) continue;
      const Node slope = graph().derivative(audit.power, state[j]);
      const Node first = graph().substitute_frozen(slope, state, zeros);
      // The quadratic part counts half; the linear part of the slope is the same for both of its factors.
      const Node other = graph().multiply(half, graph().add(slope, first));
      AffineFunction made = affine(other, state, what);
      power.products.push_back({static_cast<int>(j), std::move(made)});
    }
    out.power.push_back(std::move(power));
  }
}

void Builder::recognise_linear() {
  System::Data& d = *system.data_;
  if (large != nullptr) {
    d.linear.reason = "its matrices have " + std::to_string(coordinates.size()) + " rows and stay numbers";
    d.linear.where = "matrices";
    return;
  }
  LinearRecognition work{*this, d.linear, {}, {}, {}, true};
  for (const CoordinateDraft& c : coordinates) work.state.push_back(c.q);
  for (const CoordinateDraft& c : coordinates) work.state.push_back(c.v);
  for (const StateDraft& s : states) work.state.push_back(s.z);
  work.extended = work.state;
  for (const CoordinateDraft& c : coordinates) work.extended.push_back(c.a);
  for (const RelationDraft& r : relations) work.extended.push_back(r.lambda);
  for (std::size_t k = 0; k < relations.size(); ++k) {
    for (int j = 0; j < tangent_count[k]; ++j)
      work.extended.push_back(relations[k].slip[static_cast<std::size_t>(j)].lambda);
  }
  work.mass();
  if (work.good) work.forces();
  if (work.good) work.relations();
  if (work.good) work.switches();
  if (work.good) work.powers();
  if (work.good) d.linear.coefficients = program(work.coefficients.nodes());
}

}  // namespace judder::model
