#include "report/axis_label.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "judder/core/printable.hpp"

namespace judder::report {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 47> kCommands{{
    {"alpha", "α"},      {"beta", "β"},    {"gamma", "γ"},  {"delta", "δ"},    {"epsilon", "ε"},
    {"varepsilon", "ε"}, {"zeta", "ζ"},    {"eta", "η"},    {"theta", "θ"},    {"vartheta", "ϑ"},
    {"iota", "ι"},       {"kappa", "κ"},   {"lambda", "λ"}, {"mu", "μ"},       {"nu", "ν"},
    {"xi", "ξ"},         {"pi", "π"},      {"rho", "ρ"},    {"sigma", "σ"},    {"tau", "τ"},
    {"upsilon", "υ"},    {"phi", "φ"},     {"varphi", "φ"}, {"chi", "χ"},      {"psi", "ψ"},
    {"omega", "ω"},      {"Gamma", "Γ"},   {"Delta", "Δ"},  {"Theta", "Θ"},    {"Lambda", "Λ"},
    {"Xi", "Ξ"},         {"Pi", "Π"},      {"Sigma", "Σ"},  {"Phi", "Φ"},      {"Psi", "Ψ"},
    {"Omega", "Ω"},      {"cdot", "·"},    {"times", "×"},  {"pm", "±"},       {"circ", "°"},
    {"infty", "∞"},      {"partial", "∂"}, {"perp", "⟂"},   {"parallel", "∥"}, {"rightarrow", "→"},
    {"le", "≤"},         {"ge", "≥"},
}};
constexpr std::array<std::string_view, 10> kLow{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
constexpr std::array<std::string_view, 10> kHigh{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

constexpr std::ptrdiff_t kLetters = 36;  ///< the first of the commands: Greek letters

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// A dot over its letter. Over a word there is no place for one: that has a prime.
std::string with_dot(const std::string& label) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::size_t first = label.empty() ? 0 : 1;
  while (first < label.size() && continues(label[first])) ++first;
  const std::string_view rest = std::string_view(label).substr(first);
  const bool index = rest.empty() || rest.front() == '_' ||
                     std::any_of(kLow.begin(), kLow.end(), [&](auto low) { return rest.starts_with(low); });
  return index ? label.substr(0, first) + "\u0307" + std::string(rest) : label + '\'';
}

/// Of a coordinate: the unit of its velocity.
std::string per_second(const std::string& unit) {
  if (unit.empty()) return {};
  const bool one = unit.find_first_of("/ *·") == std::string::npos;
  return one ? unit + "/s" : "(" + unit + ")/s";
}

/// xi' as ξ̇, phi1 as φ₁; what does not begin with the name of a Greek letter stays as it is.
std::string dressed(std::string_view column) {
  std::string_view stem = column;
  const bool velocity = stem.size() > 1 && stem.back() == '\'';
  if (velocity) stem.remove_suffix(1);
  std::size_t end = 0;
  while (end < stem.size() && is_letter(stem[end])) ++end;
  const std::string_view digits = stem.substr(end);
  const auto known = std::find_if(kCommands.begin(), kCommands.begin() + kLetters,
                                  [&](const auto& c) { return c.first == stem.substr(0, end); });
  if (known == kCommands.begin() + kLetters || !std::all_of(digits.begin(), digits.end(), is_digit))
    return std::string(column);
  std::string out(known->second);
  for (const char c : digits) out += kLow[static_cast<std::size_t>(c - '0')];
  return velocity ? with_dot(out) : out;
}

/// One level of braces at a time; braces inside braces are as many as labels have, and bounded by the depth.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string all() {
    std::string out;
    while (at_ < text_.size()) out += one(0);
    return out;
  }

 private:
  static constexpr int kDeepest = 20;

  std::string one(int depth) {
    if (at_ >= text_.size()) return {};
    const char c = text_[at_++];
    if (c == '$' || c == '}') return {};
    if (c == '{') return group(depth);
    if (c == '_' || c == '^') return index(c == '_', depth);
    if (c == '\\') return command(depth);
    return std::string(1, c);
  }
  std::string group(int depth) {
    std::string out;
    while (at_ < text_.size() && text_[at_] != '}') {
      if (depth >= kDeepest) {
        ++at_;
        continue;
      }
      out += one(depth + 1);
    }
    if (at_ < text_.size()) ++at_;
    return out;
  }
  std::string index(bool low, int depth) {
    const std::string inside = one(depth);
    std::string out;
    for (const char c : inside) {
      if (!is_digit(c)) return (low ? "_" : "^") + inside;
      out += (low ? kLow : kHigh)[static_cast<std::size_t>(c - '0')];
    }
    return out;
  }
  std::string command(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {  // an escaped sign, or a space
      const char c = at_ < text_.size() ? text_[at_++] : ' ';
      return c == ',' || c == ';' || c == '!' ? " " : std::string(1, c);
    }
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (word == "dot") return with_dot(one(depth));
    if (word == "ddot") return one(depth) + "\u0308";
    const auto known =
        std::find_if(kCommands.begin(), kCommands.end(), [&](const auto& c) { return c.first == word; });
    return known == kCommands.end() ? std::string() : std::string(known->second);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string plain_label(std::string_view latex) {
  // A Greek letter may be called by its name, as in formulas.
  if (std::all_of(latex.begin(), latex.end(), [](char c) { return is_letter(c); })) {
    const auto end = kCommands.begin() + kLetters;
    const auto known = std::find_if(kCommands.begin(), end, [&](const auto& c) { return c.first == latex; });
    if (known != end) return std::string(known->second);
  }
  return Reader(latex).all();
}

std::string axis_label(std::span<const io::ColumnLabel> labels, const std::string& column) {
  const auto found = [labels](std::string_view name) {
    return std::find_if(labels.begin(), labels.end(),
                        [name](const io::ColumnLabel& l) { return l.column == name; });
  };
  std::string name = dressed(column), unit;
  if (const auto own = found(column); own != labels.end()) {
    if (!own->label.empty()) name = plain_label(own->label);
    unit = own->unit;
  } else if (column.size() > 1 && column.back() == '\'') {
    const auto position = found(std::string_view(column).substr(0, column.size() - 1));
    if (position != labels.end()) {
      if (!position->label.empty()) name = with_dot(plain_label(position->label));
      unit = per_second(position->unit);
    }
  }
  return printable_name(unit.empty() ? name : name + " [" + unit + "]");
}

}  // namespace judder::report
