#include "judder/model/equations.hpp"

#include "judder/core/patience.hpp"
#include "judder/model/large_matrices.hpp"
#include "model/system_data.hpp"

namespace judder::model {
namespace {

/// The signs of a notation.
struct Signs {
  const char *equals, *plus, *minus, *at_most, *at_least, *beside, *zero;
};
constexpr Signs kLatex{" = ", " + ", "-", " \\le ", " \\ge ", " \\perp ", "0"};
constexpr Signs kMathml{"<mo>=</mo>", "<mo>+</mo>", "<mo>−</mo>", "<mo>≤</mo>",
                        "<mo>≥</mo>", "<mo>⟂</mo>", "<mn>0</mn>"};

/// With the dots of a derivative over a label.
std::string dotted(expr::Notation notation, const std::string& label, std::size_t primes) {
  if (notation == expr::Notation::latex) return std::string(primes == 1 ? "\\dot{" : "\\ddot{") + label + "}";
  return "<mover>" + label + "<mo>" + (primes == 1 ? "˙" : "¨") + "</mo></mover>";
}

expr::Looks looks_of(expr::Notation notation, const std::map<std::string, std::string>& labels) {
  expr::Looks out;
  for (const auto& [name, label] : labels) {
    out.by_name[name] = label;
    for (std::size_t primes = 1; primes < 3; ++primes)
      out.by_name[name + std::string(primes, '\'')] = dotted(notation, label, primes);
  }
  return out;
}

class Writer {
 public:
  Writer(const System& system, expr::Notation notation, Patience& patience,
         const std::map<std::string, std::string>& labels)
      : system_(system),
        notation_(notation),
        signs_(notation == expr::Notation::latex ? kLatex : kMathml),
        patience_(patience),
        looks_(looks_of(notation, labels)),
        text_(system.graph(), kLongest, notation, looks_) {
    text_.use(&patience);
  }

  [[nodiscard]] bool latex() const { return notation_ == expr::Notation::latex; }
  [[nodiscard]] const Signs& signs() const { return signs_; }
  std::string formula(expr::Node node) { return text_(node); }
  std::string factor(expr::Node node) { return text_.factor(node); }
  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto look = looks_.by_name.find(name);
    return look != looks_.by_name.end() ? look->second : expr::variable_in(notation_, name);
  }
  /// A factor in which the speed of slip or approach has this letter.
  [[nodiscard]] std::string factor_at(expr::Node node, const std::string& speed) {
    const expr::Variable variable = system_.data().speed;
    if (!system_.graph().depends_on(node, variable)) return text_.factor(node);
    expr::Looks looks = looks_;
    looks.by_variable[variable] = speed;
    expr::NamedTexts text(system_.graph(), kLongest, notation_, looks);
    text.use(&patience_);
    return text.factor(node);
  }
  [[nodiscard]] std::string product(const std::string& a, const std::string& b) const {
    return expr::product_in(notation_, a, b);
  }
  [[nodiscard]] std::string bracketed(const std::string& inside) const {
    return latex() ? "\\left(" + inside + "\\right)"
                   : "<mrow><mo stretchy=\"false\">(</mo>" + inside + "<mo stretchy=\"false\">)</mo></mrow>";
  }
  [[nodiscard]] std::string fraction(const std::string& a, const std::string& b) const {
    return latex() ? "\\frac{" + a + "}{" + b + "}"
                   : "<mfrac><mrow>" + a + "</mrow><mrow>" + b + "</mrow></mfrac>";
  }

  /// `letter` with two indices; the second is the name of an element.
  /// `high`: +, − or a letter above the index, or nothing.
  [[nodiscard]] std::string letter(const char* latex_letter, const char* letter, const char* index,
                                   const std::string& element, const char* high = "") const {
    const std::string above = high;
    if (latex()) {
      std::string out = std::string(latex_letter) + "_{" + index + ",\\mathrm{";
      for (const char c : element) out += c == '_' ? std::string("\\_") : std::string(1, c);
      return out + "}}" + (above.empty() ? "" : "^{" + above + "}");
    }
    const std::string head = above.empty() ? "<msub>" : "<msubsup>";
    const bool letters = above == "E" || above == "C";
    const std::string tail = above.empty() ? "</msub>"
                             : letters     ? "<mi>" + above + "</mi></msubsup>"
                                           : "<mo>" + (above == "-" ? "−" : above) + "</mo></msubsup>";
    return head + "<mi>" + letter + "</mi><mrow><mi>" + index + "</mi><mo>,</mo><mi mathvariant=\"normal\">" +
           element + "</mi></mrow>" + tail;
  }
  [[nodiscard]] std::string load(const Relation& r) const { return letter("\\lambda", "λ", "N", r.name); }
  [[nodiscard]] std::string friction(const Relation& r, int component) const {
    const std::string index = r.tangents > 1 ? "T" + std::to_string(component + 1) : "T";
    return letter("\\lambda", "λ", index.c_str(), r.name);
  }
  [[nodiscard]] std::string slip(const Relation& r, int component, const char* high = "") const {
    const std::string index = r.tangents > 1 ? "T" + std::to_string(component + 1) : "T";
    return letter("\\gamma", "γ", index.c_str(), r.name, high);
  }
  /// The length of what has a component for each tangential row.
  template <class Component>
  [[nodiscard]] std::string length(const Relation& r, const Component& component) const {
    if (r.tangents <= 1) return size(component(0));
    std::string sum;
    for (int c = 0; c < r.tangents; ++c) {
      if (c > 0) sum += signs_.plus;
      sum +=
          latex() ? "{" + component(c) + "}^{2}" : "<msup><mrow>" + component(c) + "</mrow><mn>2</mn></msup>";
    }
    return latex() ? "\\sqrt{" + sum + "}" : "<msqrt>" + sum + "</msqrt>";
  }
  [[nodiscard]] std::string size(const std::string& inside) const {
    return latex() ? "\\left|" + inside + "\\right|" : "<mrow><mo>|</mo>" + inside + "<mo>|</mo></mrow>";
  }

  [[nodiscard]] bool is(expr::Node node, double value) const {
    return system_.graph().is_constant(node) && system_.graph().value(node) == value;
  }
  /// Adds factor · symbol to a sum; nothing where the factor is zero.
  void add(std::string& sum, expr::Node factor, const std::string& symbol) {
    if (is(factor, 0)) return;
    if (is(factor, -1)) {
      sum += std::string(latex() ? " - " : "<mo>−</mo>") + symbol;
      return;
    }
    std::string text = is(factor, 1) ? symbol : product(text_.factor(factor), symbol);
    // A factor is a product: a sign in front of it is that of the whole term.
    const std::string_view minus = latex() ? "-" : "<mo>−</mo>";
    if (!sum.empty() && text.starts_with(minus)) {
      text.erase(0, minus.size());
      sum += latex() ? " - " : std::string(minus);
    } else if (!sum.empty()) {
      sum += signs_.plus;
    }
    sum += text;
  }

 private:
  const System& system_;
  expr::Notation notation_;
  static constexpr std::size_t kLongest = std::size_t{1} << 14;

  const Signs& signs_;
  Patience& patience_;
  expr::Looks looks_;
  expr::NamedTexts text_;
};

std::string motion_of(const System& system, Writer& write, std::size_t i) {
  const Symbols& s = system.symbols();
  const auto& names = system.coordinate_names();
  const std::size_t n = names.size();
  std::string left;
  for (std::size_t j = 0; j < n; ++j) write.add(left, s.mass[i * n + j], write.variable(names[j] + "''"));
  std::string right;
  if (!write.is(s.force[i], 0)) right = write.formula(s.force[i]);
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    const Relation& r = system.relations()[k];
    if (r.has_normal) write.add(right, s.normal[k].push[i], write.load(r));
    if (r.smooth_friction) continue;
    for (int c = 0; c < r.tangents; ++c)
      write.add(right, s.tangent[static_cast<std::size_t>(r.first_tangent + c)].drag[i],
                write.friction(r, c));
  }
  return (left.empty() ? write.signs().zero : left) + std::string(write.signs().equals) +
         (right.empty() ? write.signs().zero : right);
}

/// The normal load of friction as one factor; empty: there is none.
std::string load_of(const System& system, Writer& write, std::size_t k) {
  const Relation& r = system.relations()[k];
  const Symbols& s = system.symbols();
  std::string load;
  const bool own = !write.is(s.base[k], 0);
  std::size_t parts = own ? 1 : 0;
  if (own) load = write.formula(s.base[k]);
  for (std::size_t f = 0; f < r.feeds.size(); ++f) {
    const Relation& fed = system.relations()[static_cast<std::size_t>(r.feeds[f])];
    const std::string reaction = write.load(fed);
    const std::size_t before = load.size();
    write.add(load, s.factors[k][f], fed.kind == RelationKind::constraint ? write.size(reaction) : reaction);
    if (load.size() > before) ++parts;
  }
  if (parts == 1 && own) return write.factor(s.base[k]);
  return parts > 1 ? write.bracketed(load) : load;
}

/// Slips; |λ_T| ≤ μ_s λ_N; and the force while it slips, where the bound does not say it.
void friction_of(const System& system, Writer& write, std::size_t k, const std::string& name,
                 std::vector<Equation>& out) {
  const Relation& r = system.relations()[k];
  const Symbols& s = system.symbols();
  const Signs& sign = write.signs();
  const WrittenLaw& law = system.data().written[k];
  for (int c = 0; c < r.tangents; ++c) {
    const auto& row = s.tangent[static_cast<std::size_t>(r.first_tangent + c)];
    out.push_back({name + ", slip", write.slip(r, c) + sign.equals + write.formula(row.slip)});
  }
  if (r.tangents == 0 || law.friction == FrictionType::none) return;
  const auto& row = s.tangent[static_cast<std::size_t>(r.first_tangent)];
  const std::string load = load_of(system, write, k);
  if (load.empty()) return;
  if (r.smooth_friction) {
    std::string force;
    write.add(force, row.mu, load);
    out.push_back({name + ", friction",
                   write.friction(r, 0) + sign.equals + (force.empty() ? sign.zero : sign.minus + force)});
    return;
  }
  const auto slip = [&](int c) { return write.slip(r, c); };
  std::string bound;
  write.add(bound, row.mu_static, load);
  out.push_back({name + ", friction", write.length(r, [&](int c) { return write.friction(r, c); }) +
                                          sign.at_most + (bound.empty() ? sign.zero : bound)});
  if (row.mu == row.mu_static && r.tangents == 1) return;
  const std::string speed = write.length(r, slip);
  for (int c = 0; c < r.tangents; ++c) {
    std::string force = sign.zero;
    if (!write.is(law.mu, 0)) {
      const std::string share = write.fraction(write.slip(r, c), speed);
      force = sign.minus +
              write.product(write.is(law.mu, 1) ? load : write.product(write.factor_at(law.mu, speed), load),
                            share);
    }
    out.push_back({name + ", while it slips", write.friction(r, c) + sign.equals + force});
  }
}

/// Friction that is no unknown but a part of the forces: viscous, and smooth laws whose load is a formula.
void friction_in_forces(const System& system, Writer& write, std::size_t k, const std::string& name,
                        std::vector<Equation>& out) {
  const Relation& r = system.relations()[k];
  int component = 0;
  for (const Symbols::KnownFriction& known : system.symbols().known_friction) {
    if (known.relation != static_cast<int>(k)) continue;
    const std::string index = component == 0 ? "T" : "T" + std::to_string(component + 1);
    ++component;
    if (r.tangents == 0)
      out.push_back({name + ", slip", write.letter("\\gamma", "γ", index.c_str(), r.name) +
                                          write.signs().equals + write.formula(known.slip)});
    out.push_back({name + ", friction within the forces", write.letter("F", "F", index.c_str(), r.name) +
                                                              write.signs().equals +
                                                              write.formula(known.tangent)});
  }
}

/// What the impact law makes of the velocity before.
void impact_of(const System& system, Writer& write, std::size_t k, const std::string& name,
               std::vector<Equation>& out) {
  const Relation& r = system.relations()[k];
  const Signs& sign = write.signs();
  const WrittenLaw& law = system.data().written[k];
  const auto gap_rate = [&](const char* high) { return write.letter("\\gamma", "γ", "N", r.name, high); };
  const auto impulse = [&](const char* high) { return write.letter("\\Lambda", "Λ", "N", r.name, high); };
  const bool plastic = write.is(law.restitution, 0);
  const std::string e = write.factor_at(law.restitution, write.size(gap_rate("-")));
  const auto times_e = [&](const std::string& what) {
    return write.is(law.restitution, 1) ? what : write.product(e, what);
  };
  std::string text;
  switch (r.impact) {
    case ImpactType::moreau:
      text = sign.zero + std::string(sign.at_most) + gap_rate("+") +
             (plastic ? std::string() : sign.plus + times_e(gap_rate("-"))) + sign.beside + impulse("") +
             sign.at_least + sign.zero;
      break;
    case ImpactType::newton:
      text = gap_rate("+") + sign.equals + (plastic ? sign.zero : sign.minus + times_e(gap_rate("-")));
      break;
    case ImpactType::poisson:
      // The impulse of expansion by that of compression.
      text = impulse("E") + sign.equals + (plastic ? sign.zero : times_e(impulse("C")));
      break;
    case ImpactType::stronge: {
      const auto work = [&](const char* high) { return write.letter("W", "W", "N", r.name, high); };
      const std::string square =
          write.latex() ? "{" + e + "}^{2}" : "<msup><mrow>" + e + "</mrow><mn>2</mn></msup>";
      text = work("E") + sign.equals +
             (plastic ? sign.zero
                      : sign.minus +
                            (write.is(law.restitution, 1) ? work("C") : write.product(square, work("C"))));
      break;
    }
  }
  out.push_back(
      {name + ", impact (" + judder::name(r.impact) + (r.impact_friction ? ")" : ", without friction)"),
       text});
  if (!r.has_tangential_restitution) return;
  for (int c = 0; c < r.tangents; ++c) {
    std::string after;
    write.add(after, law.tangential, write.slip(r, c, "-"));
    out.push_back({name + ", impact, along it",
                   write.slip(r, c, "+") + sign.equals + (after.empty() ? sign.zero : after)});
  }
}

void relation_lines(const System& system, Writer& write, std::size_t k, std::vector<Equation>& out) {
  const Relation& r = system.relations()[k];
  const Symbols& s = system.symbols();
  const Signs& sign = write.signs();
  if (r.kind == RelationKind::contact && r.has_normal)
    out.push_back({r.place, std::string(sign.zero) + sign.at_most + write.formula(s.normal[k].gap) +
                                sign.beside + write.load(r) + sign.at_least + sign.zero});
  if (r.kind == RelationKind::constraint && r.has_normal)
    out.push_back({r.place, write.formula(s.normal[k].gap) + sign.equals + sign.zero});
  if (r.compliant) {
    const std::string gap = write.letter("g", "g", "N", r.name);
    out.push_back({r.place + ", gap", gap + sign.equals + write.formula(s.normal[k].gap)});
    out.push_back({r.place + ", normal force", write.load(r) + sign.equals + write.formula(s.base[k])});
  }
  friction_of(system, write, k, r.place, out);
  friction_in_forces(system, write, k, r.place, out);
  if (r.kind == RelationKind::contact && r.has_normal) impact_of(system, write, k, r.place, out);
}

}  // namespace

std::vector<Equation> equations(const Compiled& compiled, expr::Notation notation,
                                const std::atomic<bool>* cancel,
                                const std::map<std::string, std::string>& labels) {
  std::vector<Equation> out;
  if (!compiled.system) return out;
  const System& system = *compiled.system;
  Patience patience;
  patience.start(cancel);
  try {
    Writer write(system, notation, patience, labels);
    // Matrices that stay numbers are no formulas to be read.
    for (std::size_t i = 0; i < system.coordinate_names().size() && large_matrices(system) == nullptr; ++i)
      out.push_back({system.coordinate_names()[i], motion_of(system, write, i)});
    for (std::size_t i = 0; i < system.state_names().size(); ++i)
      out.push_back({system.state_names()[i], write.variable(system.state_names()[i] + "'") +
                                                  write.signs().equals +
                                                  write.formula(system.symbols().rate[i])});
    for (std::size_t k = 0; k < system.relations().size(); ++k) {
      patience.look();
      relation_lines(system, write, k, out);
    }
  } catch (const Abandoned&) {
    // What is there is what was asked for until then.
  }
  return out;
}

}  // namespace judder::model
