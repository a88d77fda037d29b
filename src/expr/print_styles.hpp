// How formulas look: as text of the language, as LaTeX, as MathML. A style gives the building stones; print.cpp puts them together.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "judder/core/number.hpp"

namespace judder::expr {

/// How tightly the outermost operation of a text binds.
enum Strength : int { kOr = 1, kAnd, kNot, kCompare, kAdd, kMultiply, kMinus, kPower, kAtom };

struct Piece {
  std::string text;
  int strength = kAtom;
};

/// The style says how the building stones look; the structure is the same for text and LaTeX.
class Text {
 public:
  static constexpr const char* kPlusSign = " + ";
  static constexpr const char* kMinusSign = " - ";
  static constexpr const char* kNegativeSign = "-";
  static Piece number(double x) { return {to_text(x), x < 0 ? kMinus : kAtom}; }
  static Piece variable(const std::string& name) { return {name, kAtom}; }
  static std::string bracketed(const std::string& s) { return "(" + s + ")"; }
  static std::string times(const std::string& a, const std::string& b) { return a + "*" + b; }
  static Piece fraction(const Piece& a, const Piece& b) {
    return {fit(a, kMultiply) + "/" + fit(b, kMinus), kMultiply};
  }
  static Piece raised(const Piece& a, const Piece& exponent) {
    return {fit(a, kAtom) + "^" + fit(exponent, kPower + 1), kPower};
  }
  static Piece call(const std::string& name, std::span<const Piece> arguments) {
    std::string out = name + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i) out += (i > 0 ? ", " : "") + arguments[i].text;
    return {out + ")", kAtom};
  }
  static Piece compare(const Piece& a, const char* relation) {
    return {fit(a, kCompare + 1) + " " + relation + " 0", kCompare};
  }
  static Piece logical(const Piece& a, const char* word, const Piece& b, int strength) {
    return {fit(a, strength) + " " + word + " " + fit(b, strength + 1), strength};
  }
  static Piece negated(const Piece& a) { return {"not " + fit(a, kNot), kNot}; }
  static Piece select(const Piece& c, const Piece& a, const Piece& b) {
    const std::array arguments{c, a, b};
    return call("if", arguments);
  }
  static std::string fit(const Piece& p, int least) {
    return p.strength < least ? bracketed(p.text) : p.text;
  }
};

inline constexpr std::array<std::string_view, 24> kGreek{
    "alpha", "beta",  "gamma",   "delta", "epsilon", "zeta", "eta",   "theta",
    "iota",  "kappa", "lambda",  "mu",    "nu",      "xi",   "pi",    "rho",
    "sigma", "tau",   "upsilon", "phi",   "chi",     "psi",  "omega", "Omega"};

/// One word of a name: Greek letters by name, trailing digits and what follows an underscore as index.
inline std::string latex_word(std::string_view word) {
  std::size_t stem = word.find('_');
  std::string index;
  if (stem != std::string_view::npos) {
    index = word.substr(stem + 1);
  } else {
    stem = word.size();
    while (stem > 1 && std::isdigit(static_cast<unsigned char>(word[stem - 1])) != 0) --stem;
    index = word.substr(stem);
  }
  std::string escaped;
  for (const char c : index) escaped += c == '_' ? std::string("\\_") : std::string(1, c);
  const std::string_view root = word.substr(0, stem);
  std::string out;
  if (std::find(kGreek.begin(), kGreek.end(), root) != kGreek.end()) {
    out = root == "phi" ? "\\varphi" : root == "epsilon" ? "\\varepsilon" : "\\" + std::string(root);
  } else {
    out = root.size() == 1 ? std::string(root) : "\\mathrm{" + std::string(root) + "}";
  }
  return escaped.empty() ? out : out + "_{\\mathrm{" + escaped + "}}";
}

/// The parts of the name of a variable: x[3]' is x, 3, and one prime.
struct NameParts {
  std::string_view core, index;
  std::size_t primes = 0;
  bool plain = false;  ///< the core is a word
};

[[nodiscard]] inline NameParts parts_of(std::string_view name) {
  NameParts out;
  while (out.primes < name.size() && name[name.size() - 1 - out.primes] == '\'') ++out.primes;
  out.core = name.substr(0, name.size() - out.primes);
  if (const std::size_t open = out.core.find('['); open != std::string_view::npos && out.core.back() == ']') {
    out.index = out.core.substr(open + 1, out.core.size() - open - 2);
    out.core = out.core.substr(0, open);
  }
  out.plain = !out.core.empty() && std::all_of(out.core.begin(), out.core.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  return out;
}

/// x, x', x[3]', phi1: the name of a variable in mathematical dress. Anything else is set as plain text.
inline std::string latex_name(std::string_view name) {
  const auto [core, index, primes, plain] = parts_of(name);
  const bool plain_index = std::all_of(index.begin(), index.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ',' || c == ' ' || c == '-';
  });
  if (!plain || !plain_index) {
    std::string out = "\\text{";
    for (const char c : name) {
      if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) out += '\\';
      if (c == '\\' || c == '^' || c == '~') {
        out += ' ';
      } else {
        out += c;
      }
    }
    return out + "}";
  }
  std::string out = latex_word(core);
  if (primes > 0)
    out = std::string(primes == 1 ? "\\dot{" : primes == 2 ? "\\ddot{" : "\\dddot{") + out + "}";
  return index.empty() ? out : "{" + out + "}_{" + std::string(index) + "}";
}

class Latex {
 public:
  static constexpr const char* kPlusSign = " + ";
  static constexpr const char* kMinusSign = " - ";
  static constexpr const char* kNegativeSign = "-";
  static Piece number(double x) {
    std::string s = to_text(x);
    if (const std::size_t e = s.find('e'); e != std::string::npos) {
      const std::string exponent = s[e + 1] == '+' ? s.substr(e + 2) : s.substr(e + 1);
      const std::string mantissa = s.substr(0, e);
      return {mantissa + " \\cdot 10^{" + std::to_string(std::stol(exponent)) + "}",
              x < 0 ? kMinus : kMultiply};
    }
    return {s, x < 0 ? kMinus : kAtom};
  }
  static Piece variable(const std::string& name) { return {latex_name(name), kAtom}; }
  static std::string bracketed(const std::string& s) { return "\\left(" + s + "\\right)"; }
  /// Two numbers side by side would be another number: a dot stands before digits.
  static std::string times(const std::string& a, const std::string& b) {
    std::string_view rest = b;
    for (bool inside = true; inside;) {
      inside = false;
      for (const std::string_view opens : {"{", "\\frac"}) {
        if (!rest.starts_with(opens)) continue;
        rest.remove_prefix(opens.size());
        inside = true;
      }
    }
    const bool digits = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
    return a + (digits ? " \\cdot " : " \\, ") + b;
  }
  static Piece fraction(const Piece& a, const Piece& b) {
    return {"\\frac{" + a.text + "}{" + b.text + "}", kMultiply};
  }
  static Piece raised(const Piece& a, const Piece& exponent) {
    return {"{" + fit(a, kAtom) + "}^{" + exponent.text + "}", kPower};
  }
  static Piece call(const std::string& name, std::span<const Piece> arguments) {
    static constexpr std::array<std::array<std::string_view, 2>, 18> kCommands{{{"sin", "\\sin"},
                                                                                {"cos", "\\cos"},
                                                                                {"tan", "\\tan"},
                                                                                {"asin", "\\arcsin"},
                                                                                {"acos", "\\arccos"},
                                                                                {"atan", "\\arctan"},
                                                                                {"sinh", "\\sinh"},
                                                                                {"cosh", "\\cosh"},
                                                                                {"tanh", "\\tanh"},
                                                                                {"exp", "\\exp"},
                                                                                {"log", "\\ln"},
                                                                                {"min", "\\min"},
                                                                                {"max", "\\max"},
                                                                                {"abs", ""},
                                                                                {"sqrt", ""},
                                                                                {"cbrt", ""},
                                                                                {"floor", ""},
                                                                                {"hypot", ""}}};
    if (name == "abs") return {"\\left|" + arguments[0].text + "\\right|", kAtom};
    if (name == "sqrt") return {"\\sqrt{" + arguments[0].text + "}", kAtom};
    if (name == "cbrt") return {"\\sqrt[3]{" + arguments[0].text + "}", kAtom};
    if (name == "floor") return {"\\left\\lfloor " + arguments[0].text + "\\right\\rfloor ", kAtom};
    if (name == "hypot") {
      std::string inside;
      for (const Piece& a : arguments) inside += (inside.empty() ? "" : " + ") + raised(a, {"2", kAtom}).text;
      return {"\\sqrt{" + inside + "}", kAtom};
    }
    std::string list;
    for (const Piece& a : arguments) list += (list.empty() ? "" : ", ") + a.text;
    for (const auto& [known, command] : kCommands) {
      if (name == known) return {std::string(command) + bracketed(list), kPower};
    }
    std::string word;
    for (const char c : name) word += c == '_' ? std::string("\\_") : std::string(1, c);
    return {"\\operatorname{" + word + "}" + bracketed(list), kPower};
  }
  static Piece compare(const Piece& a, const char* relation) {
    const std::string_view r = relation;
    return {a.text +
                (r == "<="   ? " \\le "
                 : r == ">=" ? " \\ge "
                 : r == "<"  ? " < "
                             : " > ") +
                "0",
            kCompare};
  }
  static Piece logical(const Piece& a, const char* word, const Piece& b, int strength) {
    return {
        fit(a, strength) + (std::string_view(word) == "and" ? " \\wedge " : " \\vee ") + fit(b, strength + 1),
        strength};
  }
  static Piece negated(const Piece& a) { return {"\\neg " + fit(a, kAtom), kNot}; }
  static Piece select(const Piece& c, const Piece& a, const Piece& b) {
    return {
        "\\begin{cases}" + a.text + " & " + c.text + "\\\\ " + b.text + " & \\text{otherwise}\\end{cases}",
        kAtom};
  }
  static std::string fit(const Piece& p, int least) {
    return p.strength < least ? bracketed(p.text) : p.text;
  }
};

/// Text that may hold anything, for markup.
inline std::string mathml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

/// One word of a name, as latex_word.
inline std::string mathml_word(std::string_view word) {
  static constexpr std::array<const char*, 24> kLetters{"α", "β", "γ", "δ", "ε", "ζ", "η", "θ",
                                                        "ι", "κ", "λ", "μ", "ν", "ξ", "π", "ρ",
                                                        "σ", "τ", "υ", "φ", "χ", "ψ", "ω", "Ω"};
  std::size_t stem = word.find('_');
  std::string_view index;
  if (stem != std::string_view::npos) {
    index = word.substr(stem + 1);
  } else {
    stem = word.size();
    while (stem > 1 && std::isdigit(static_cast<unsigned char>(word[stem - 1])) != 0) --stem;
    index = word.substr(stem);
  }
  const std::string_view root = word.substr(0, stem);
  const auto greek = std::find(kGreek.begin(), kGreek.end(), root);
  const std::string base =
      "<mi>" +
      (greek != kGreek.end() ? std::string(kLetters[static_cast<std::size_t>(greek - kGreek.begin())])
                             : mathml_text(root)) +
      "</mi>";
  return index.empty() ? base : "<msub>" + base + "<mi>" + mathml_text(index) + "</mi></msub>";
}

/// x, x', x[3]', phi1, as latex_name.
inline std::string mathml_name(std::string_view name) {
  const auto [core, index, primes, plain] = parts_of(name);
  if (!plain || primes > 3) return "<mtext>" + mathml_text(name) + "</mtext>";
  static constexpr std::array<const char*, 4> kDots{"", "˙", "¨", "⃛"};
  std::string out = mathml_word(core);
  if (primes > 0) out = "<mover>" + out + "<mo>" + kDots[primes] + "</mo></mover>";
  return index.empty() ? out : "<msub>" + out + "<mi>" + mathml_text(index) + "</mi></msub>";
}

/// Presentation MathML. Every text is one or more elements, so that texts can stand beside one another.
class Mathml {
 public:
  static constexpr const char* kPlusSign = "<mo>+</mo>";
  static constexpr const char* kMinusSign = "<mo>−</mo>";
  static constexpr const char* kNegativeSign = "<mo>−</mo>";
  static std::string row(const std::string& s) { return "<mrow>" + s + "</mrow>"; }
  static Piece number(double x) {
    std::string s = to_text(std::abs(x));
    std::string out;
    int strength = kAtom;
    if (const std::size_t e = s.find('e'); e != std::string::npos) {
      const std::string exponent = s[e + 1] == '+' ? s.substr(e + 2) : s.substr(e + 1);
      out = "<mn>" + s.substr(0, e) + "</mn><mo>·</mo><msup><mn>10</mn><mn>" +
            std::to_string(std::stol(exponent)) + "</mn></msup>";
      strength = kMultiply;
    } else {
      out = "<mn>" + s + "</mn>";
    }
    if (x < 0) return {kNegativeSign + out, kMinus};
    return {out, strength};
  }
  static Piece variable(const std::string& name) { return {mathml_name(name), kAtom}; }
  static std::string bracketed(const std::string& s) {
    return row("<mo stretchy=\"false\">(</mo>" + s + "<mo stretchy=\"false\">)</mo>");
  }
  /// A dot before digits, as in LaTeX; else a thin space, without which mu and N would read as one name.
  static std::string times(const std::string& a, const std::string& b) {
    std::string_view rest = b;
    for (bool inside = true; inside;) {
      inside = false;
      for (const std::string_view opens : {"<mrow>", "<msup>", "<mfrac>"}) {
        if (!rest.starts_with(opens)) continue;
        rest.remove_prefix(opens.size());
        inside = true;
      }
    }
    const char* const sign =
        rest.starts_with("<mn>") ? "<mo>·</mo>" : "<mo>&#x2062;</mo><mspace width=\"0.167em\"/>";
    return a + sign + b;
  }
  static Piece fraction(const Piece& a, const Piece& b) {
    return {"<mfrac>" + row(a.text) + row(b.text) + "</mfrac>", kMultiply};
  }
  static Piece raised(const Piece& a, const Piece& exponent) {
    return {"<msup>" + row(fit(a, kAtom)) + row(exponent.text) + "</msup>", kPower};
  }
  static Piece call(const std::string& name, std::span<const Piece> arguments) {
    if (name == "abs") return {row("<mo>|</mo>" + arguments[0].text + "<mo>|</mo>"), kAtom};
    if (name == "sqrt") return {"<msqrt>" + arguments[0].text + "</msqrt>", kAtom};
    if (name == "cbrt") return {"<mroot>" + row(arguments[0].text) + "<mn>3</mn></mroot>", kAtom};
    if (name == "floor") return {row("<mo>⌊</mo>" + arguments[0].text + "<mo>⌋</mo>"), kAtom};
    if (name == "hypot") {
      std::string inside;
      for (const Piece& a : arguments)
        inside += (inside.empty() ? "" : kPlusSign) + raised(a, {"<mn>2</mn>", kAtom}).text;
      return {"<msqrt>" + inside + "</msqrt>", kAtom};
    }
    std::string list;
    for (const Piece& a : arguments) list += (list.empty() ? "" : "<mo>,</mo>") + a.text;
    const std::string word = name == "log"    ? "ln"
                             : name == "asin" ? "arcsin"
                             : name == "acos" ? "arccos"
                             : name == "atan" ? "arctan"
                                              : name;
    return {"<mi mathvariant=\"normal\">" + mathml_text(word) + "</mi><mo>&#x2061;</mo>" + bracketed(list),
            kPower};
  }
  static Piece compare(const Piece& a, const char* relation) {
    const std::string_view r = relation;
    return {a.text + "<mo>" +
                (r == "<="   ? "≤"
                 : r == ">=" ? "≥"
                 : r == "<"  ? "&lt;"
                             : "&gt;") +
                "</mo><mn>0</mn>",
            kCompare};
  }
  static Piece logical(const Piece& a, const char* word, const Piece& b, int strength) {
    return {fit(a, strength) + "<mo>" + (std::string_view(word) == "and" ? "∧" : "∨") + "</mo>" +
                fit(b, strength + 1),
            strength};
  }
  static Piece negated(const Piece& a) { return {"<mo>¬</mo>" + fit(a, kAtom), kNot}; }
  static Piece select(const Piece& c, const Piece& a, const Piece& b) {
    return {row("<mo>{</mo><mtable columnalign=\"left\"><mtr><mtd>" + a.text +
                "</mtd><mtd><mtext>if </mtext>" + c.text + "</mtd></mtr><mtr><mtd>" + b.text +
                "</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable>"),
            kAtom};
  }
  static std::string fit(const Piece& p, int least) {
    return p.strength < least ? bracketed(p.text) : p.text;
  }
};

}  // namespace judder::expr
