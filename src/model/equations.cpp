#include "judder/model/equations.hpp"

#include "judder/core/patience.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::model {
namespace {

/// The signs of a notation.
struct Signs {
  const char *equals, *plus, *at_most, *at_least, *beside, *zero, *comma;
};
constexpr Signs kLatex{" = ", " + ", " \\le ", " \\ge ", " \\perp ", "0", ",\\quad "};
constexpr Signs kMathml{"<mo>=</mo>",
                        "<mo>+</mo>",
                        "<mo>≤</mo>",
                        "<mo>≥</mo>",
                        "<mo>⟂</mo>",
                        "<mn>0</mn>",
                        "<mo>,</mo><mspace width=\"1em\"/>"};

class Writer {
 public:
  Writer(const System& system, expr::Notation notation, Patience& patience)
      : system_(system),
        notation_(notation),
        signs_(notation == expr::Notation::latex ? kLatex : kMathml),
        text_(system.graph(), std::size_t{1} << 14, notation) {
    text_.use(&patience);
  }

  [[nodiscard]] bool latex() const { return notation_ == expr::Notation::latex; }
  [[nodiscard]] const Signs& signs() const { return signs_; }
  std::string formula(expr::Node node) { return text_(node); }
  [[nodiscard]] std::string variable(const std::string& name) const {
    return expr::variable_in(notation_, name);
  }

  /// `letter` with two indices; the second is the name of an element.
  [[nodiscard]] std::string letter(const char* latex_letter, const char* letter, const char* index,
                                   const std::string& element) const {
    if (latex()) {
      std::string out = std::string(latex_letter) + "_{" + index + ",\\mathrm{";
      for (const char c : element) out += c == '_' ? std::string("\\_") : std::string(1, c);
      return out + "}}";
    }
    return std::string("<msub><mi>") + letter + "</mi><mrow><mi>" + index +
           "</mi><mo>,</mo><mi mathvariant=\"normal\">" + element + "</mi></mrow></msub>";
  }
  [[nodiscard]] std::string load(const Relation& r) const { return letter("\\lambda", "λ", "N", r.name); }
  [[nodiscard]] std::string friction(const Relation& r, int component) const {
    const std::string index = r.tangents > 1 ? "T" + std::to_string(component + 1) : "T";
    return letter("\\lambda", "λ", index.c_str(), r.name);
  }
  [[nodiscard]] std::string slip(const Relation& r, int component) const {
    const std::string index = r.tangents > 1 ? "T" + std::to_string(component + 1) : "T";
    return letter("\\gamma", "γ", index.c_str(), r.name);
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
    std::string text =
        is(factor, 1) ? std::string() : text_.factor(factor) + (latex() ? "\\, " : "<mo>&#x2062;</mo>");
    // A factor is a product: a sign in front of it is that of the whole term.
    const std::string_view minus = latex() ? "-" : "<mo>−</mo>";
    if (!sum.empty() && text.starts_with(minus)) {
      text.erase(0, minus.size());
      sum += latex() ? " - " : std::string(minus);
    } else if (!sum.empty()) {
      sum += signs_.plus;
    }
    sum += text + symbol;
  }

 private:
  const System& system_;
  expr::Notation notation_;
  const Signs& signs_;
  expr::Texts text_;
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

/// |λ_T| ≤ μ λ_N, at rest with μ_s; slips.
void friction_of(const System& system, Writer& write, std::size_t k, const std::string& name,
                 std::vector<Equation>& out) {
  const Relation& r = system.relations()[k];
  const Symbols& s = system.symbols();
  for (int c = 0; c < r.tangents; ++c) {
    const auto& row = s.tangent[static_cast<std::size_t>(r.first_tangent + c)];
    out.push_back({name + ", slip", write.slip(r, c) + write.signs().equals + write.formula(row.slip)});
  }
  if (r.tangents != 1 || r.smooth_friction) return;
  const auto& row = s.tangent[static_cast<std::size_t>(r.first_tangent)];
  std::string load;
  if (!write.is(s.base[k], 0)) load = write.formula(s.base[k]);
  for (std::size_t f = 0; f < r.feeds.size(); ++f) {
    const Relation& fed = system.relations()[static_cast<std::size_t>(r.feeds[f])];
    const std::string reaction = write.load(fed);
    write.add(load, s.factors[k][f], fed.kind == RelationKind::constraint ? write.size(reaction) : reaction);
  }
  if (load.empty()) return;
  const bool sum = !write.is(s.base[k], 0) && !r.feeds.empty();
  if (sum)
    load = write.latex()
               ? "\\left(" + load + "\\right)"
               : "<mrow><mo stretchy=\"false\">(</mo>" + load + "<mo stretchy=\"false\">)</mo></mrow>";
  std::string bound;
  write.add(bound, row.mu_static, load);
  out.push_back({name + ", friction", write.size(write.friction(r, 0)) + write.signs().at_most +
                                          (bound.empty() ? write.signs().zero : bound)});
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
  friction_of(system, write, k, r.place, out);
}

}  // namespace

std::vector<Equation> equations(const Compiled& compiled, expr::Notation notation,
                                const std::atomic<bool>* cancel) {
  std::vector<Equation> out;
  if (!compiled.system) return out;
  const System& system = *compiled.system;
  Patience patience;
  patience.start(cancel);
  try {
    Writer write(system, notation, patience);
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
