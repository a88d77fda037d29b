// Texts of the spec: parsed once, lowered with a scope, problems turned into diagnostics at their place.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "model/builder.hpp"

namespace judder::model {

std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? std::string() : "did you mean " + quoted(best) + "?";
}

std::string suggestion_or_list(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMost = 20;
  std::string out = suggestion(word, candidates);
  if (!out.empty()) return out;
  for (std::size_t i = 0; i < std::min(kMost, candidates.size()); ++i)
    out += (i == 0 ? "there are: " : ", ") + candidates[i];
  return candidates.size() > kMost ? out + ", …" : out;
}

void Builder::report(const Text& text, const std::string& where, const std::vector<expr::Problem>& problems) {
  for (const expr::Problem& p : problems) report_error(text.locate(p.begin, p.end), where, p.message, p.help);
}

void Builder::report_error(Span span, std::string where, std::string message, std::string help) {
  result.diagnostics.error(span, std::move(where), std::move(message), std::move(help));
  if (result.diagnostics.errors() > budget.limits().errors) throw WorkStopped{WorkStopped::Reason::errors};
}

void Builder::error(const Value& value, const std::string& where, std::string message, std::string help) {
  error(value.text, where, std::move(message), std::move(help));
}

void Builder::error(const Text& text, const std::string& where, std::string message, std::string help) {
  report_error(text.span, where, std::move(message), std::move(help));
}

void Builder::note(Span span, const std::string& where, std::string message) {
  result.diagnostics.add({Severity::note, span, where, std::move(message), "", ""});
}

void Builder::warning(Span span, const std::string& where, std::string message, std::string help) {
  result.diagnostics.warning(span, where, std::move(message), std::move(help));
}

void Builder::note_names(const Tree& tree) {
  std::vector<const Tree*> open{&tree};
  while (!open.empty()) {
    const Tree& node = *open.back();
    open.pop_back();
    if (node.kind == expr::Kind::name || node.kind == expr::Kind::call) mentioned[node.text] = true;
    for (const Tree& child : node.children) open.push_back(&child);
  }
}

void Builder::refuse_primed_parameters(const Tree& tree, const Value& value, const std::string& where) {
  std::vector<const Tree*> open{&tree};
  while (!open.empty()) {
    const Tree& node = *open.back();
    open.pop_back();
    for (const Tree& child : node.children) open.push_back(&child);
    if (node.kind != expr::Kind::prime || node.children.front().kind != expr::Kind::name) continue;
    const auto found = names.find(node.children.front().text);
    if (found == names.end() || found->second.kind != EntityKind::parameter) continue;
    report_error(value.text.locate(node.begin, node.end), where,
                 "a prime belongs to no parameter: " + quoted(found->first) + " does not change");
  }
}

const Tree* Builder::tree(const Value& value, const std::string& where) {
  const auto found = trees.find(&value);
  if (found != trees.end()) return found->second.get();
  if (broken_trees.contains(&value)) return nullptr;
  std::optional<Tree> parsed;
  if (value.number) {
    parsed.emplace();
    parsed->value = *value.number;
    parsed->end = static_cast<std::uint32_t>(value.text.text.size());
  } else {
    std::vector<expr::Problem> problems;
    parsed = expr::parse(value.text.text, problems);
    if (!parsed) {
      report(value.text, where, problems);
      broken_trees[&value] = true;
      return nullptr;
    }
  }
  note_names(*parsed);
  refuse_primed_parameters(*parsed, value, where);
  return trees.emplace(&value, std::make_unique<Tree>(std::move(*parsed))).first->second.get();
}

void Builder::parse_all() {
  const auto one = [this](const Value& value, const std::string& where) {
    if (value.given) tree(value, where);
  };
  const auto list = [&](const std::vector<Value>& values, const std::string& where) {
    for (const Value& value : values) one(value, where);
  };
  const auto law = [&](const FrictionLaw& l, const std::string& where) {
    for (const Value* value : {&l.mu, &l.static_coefficient, &l.dynamic, &l.velocity, &l.exponent, &l.viscous,
                               &l.stiffness, &l.damping, &l.breakaway, &l.beta}) {
      one(*value, where);
    }
  };
  for (const Coordinate& c : spec.coordinates) {
    for (const Value* value : {&c.start, &c.velocity, &c.scale})
      one(*value, "coordinate '" + c.name.text + "'");
  }
  for (const StateVariable& s : spec.states) {
    for (const Value* value : {&s.start, &s.rate}) one(*value, "state '" + s.name.text + "'");
  }
  for (const Force& f : spec.forces) {
    const std::string where = f.name.empty() ? "force" : "force '" + f.name.text + "'";
    one(f.along, where + ", along");
    one(f.value, where + ", value");
    one(f.when, where + ", when");
  }
  for (const Joint& j : spec.joints) {
    const std::string where = "friction joint '" + j.name.text + "'";
    list(j.slip, where + ", slip");
    one(j.normal, where + ", normal");
    one(j.when, where + ", when");
    law(j.law, where + ", law");
  }
  for (const Contact& c : spec.contacts) {
    const std::string where = "contact '" + c.name.text + "'";
    one(c.gap, where + ", gap");
    list(c.slip, where + ", slip");
    list(c.drag, where + ", drag");
    one(c.push, where + ", push");
    one(c.when, where + ", when");
    law(c.friction, where + ", friction");
    for (const Value* value :
         {&c.impact.restitution, &c.impact.tangential, &c.impact.stiffness, &c.impact.exponent}) {
      one(*value, where + ", impact");
    }
    for (const Value* value : {&c.compliant.stiffness, &c.compliant.damping, &c.compliant.exponent})
      one(*value, where + ", compliant");
  }
  for (const Constraint& c : spec.constraints) {
    const std::string where = "constraint '" + c.name.text + "'";
    one(c.zero, where + ", zero");
    one(c.velocity, where + ", velocity");
    list(c.slip, where + ", slip");
    one(c.when, where + ", when");
    law(c.friction, where + ", friction");
  }
  for (const Watch& w : spec.watches) {
    one(w.zero, "watch '" + w.name.text + "', zero");
    one(w.when, "watch '" + w.name.text + "', when");
  }
  for (const Variant& variant : spec.variants) {
    for (const Named& named : variant.values) tree(named.value, "variant '" + variant.name.text + "'");
  }
}

std::optional<Node> Builder::lower(const Value& value, Scope& scope, const std::string& where,
                                   const std::string& place, const std::vector<Index>& indices,
                                   bool condition) {
  const Tree* parsed = tree(value, where);
  if (parsed == nullptr) return std::nullopt;
  scope.indices = indices;
  std::vector<expr::Problem> problems;
  const void* outer = reading;
  reading = &value;
  if (expr::Tape* tape = graph.tape(); tape != nullptr) tape->reading(where, value.text.span);
  const double before = budget.spent();
  costs.try_emplace(&value, Cost{value.text.span, where, 0});
  const std::optional<Node> node = expr::lower(
      *parsed, graph, scope,
      {.place = place, .indices = indices, .condition = condition, .known = scope.known_definitions()},
      problems);
  costs[&value].spent += budget.spent() - before;
  reading = outer;
  if (!node || !problems.empty()) {
    report(value.text, where, problems);
    return std::nullopt;
  }
  if (static_cast<double>(graph.size()) > options.limit) {
    error(value, where,
          "the model expands to more than " + std::to_string(static_cast<long>(options.limit)) + " terms",
          "make it smaller, give large linear parts as [matrices], or allow more with --work 10");
    return std::nullopt;
  }
  if (graph.is_constant(*node) && !isfinite(graph.value(*node))) {
    error(value, where, "the value is not a finite number");
    return std::nullopt;
  }
  return node;
}

Node Builder::lower_or_one(const Value& value, const Allowed& allowed, const std::string& where,
                           const std::string& place, const std::vector<Index>& indices) {
  Scope scope(*this, allowed, where);
  return lower(value, scope, where, place, indices).value_or(graph.constant(1));
}

bool Builder::is_name(const Text& text, const std::string& where) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  const std::string& s = text.text;
  if (s.empty() || !letter(s[0]) || !std::all_of(s.begin(), s.end(), inside)) {
    error(text, where, quoted(s) + " is not a name", "a name is a letter followed by letters, digits and _");
    return false;
  }
  static constexpr std::string_view kReserved[] = {"t", "pi", "speed", "and", "or", "not", "to"};
  if (std::find(std::begin(kReserved), std::end(kReserved), s) != std::end(kReserved)) {
    error(text, where, quoted(s) + " is a reserved word", "choose another name");
    return false;
  }
  return true;
}

std::vector<Instance> Builder::instances(const std::string& name, const Text& each, const Value* when,
                                         const std::string& where) {
  std::vector<Instance> out;
  std::vector<expr::Range> ranges;
  if (!each.empty()) {
    std::vector<expr::Problem> problems;
    auto parsed = expr::parse_ranges(each.text, problems);
    if (!parsed) {
      report(each, where + ", each", problems);
      return out;
    }
    ranges = std::move(*parsed);
    for (const expr::Range& range : ranges) {
      note_names(range.from);
      note_names(range.to);
      if (names.contains(range.index)) {
        error(each, where + ", each",
              "the index " + quoted(range.index) + " is already the name of something else",
              "choose another letter for the index");
        return out;
      }
    }
  }
  constexpr std::size_t kMost = 100000;  // an `each` of that size is a slip of the pen, not a model
  constexpr std::size_t kMostIndices = 16;
  if (ranges.size() > kMostIndices) {
    error(each, where + ", each", "more than " + std::to_string(kMostIndices) + " indices");
    return out;
  }
  // Names are copied for each tuple and for each member: what they take is told by where they are made.
  std::size_t letters = name.size();
  for (const expr::Range& range : ranges) letters += range.index.size();
  const void* const outer = reading;
  if (!each.empty()) {
    costs.try_emplace(&each, Cost{each.span, where + ", each", 0});
    reading = &each;
  }
  double tuples = 0;
  const auto look = [&] {
    constexpr std::size_t kLettersPerOperation = 16;
    budget.spend(letters / kLettersPerOperation);
    if (++tuples <= budget.limits().tuples) return true;
    error(each, where + ", each",
          "more than " + std::to_string(static_cast<long>(budget.limits().tuples)) +
              " index tuples are looked at",
          "narrow the ranges: j = i + 1 to n instead of a condition in 'when'");
    return false;
  };
  std::vector<Index> indices;
  bool good = true;
  const auto visit = [&](const auto& self, std::size_t level) -> void {
    if (!good) return;
    if (level < ranges.size()) {
      Scope scope(*this, kParameters, where + ", each");
      std::vector<expr::Problem> problems;
      const expr::LowerOptions lowering{.place = where, .indices = indices, .condition = false};
      const auto from = expr::lower_integer(ranges[level].from, graph, scope, lowering, problems);
      const auto to = expr::lower_integer(ranges[level].to, graph, scope, lowering, problems);
      if (!from || !to) {
        report(each, where + ", each", problems);
        good = false;
        return;
      }
      for (long i = *from; i <= *to && good; ++i) {
        good = look();
        if (!good) return;
        indices.push_back({ranges[level].index, i});
        self(self, level + 1);
        indices.pop_back();
      }
      return;
    }
    if (when != nullptr && when->given) {
      Scope scope(*this, kParameters, where + ", when");
      const auto condition = lower(*when, scope, where + ", when", where, indices, true);
      if (!condition) {
        good = false;
        return;
      }
      if (!graph.is_constant(*condition)) {
        error(*when, where + ", when", "the condition depends on a free parameter",
              "a free parameter cannot decide what the model is");
        good = false;
        return;
      }
      if (graph.value(*condition) == 0) return;
    }
    budget.keep_letters(letters);
    Instance instance{name, indices, {}};
    for (const Index& index : indices) {
      instance.name += (instance.values.empty() ? "[" : ",") + std::to_string(index.value);
      instance.values.push_back(static_cast<int>(index.value));
    }
    if (!indices.empty()) instance.name += "]";
    out.push_back(std::move(instance));
    if (out.size() > kMost) {
      error(each, where + ", each", "more than " + std::to_string(kMost) + " elements");
      good = false;
    }
  };
  visit(visit, 0);
  reading = outer;
  if (!good) out.clear();
  return out;
}

}  // namespace judder::model
