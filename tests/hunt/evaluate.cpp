#include "evaluate.hpp"

#include <algorithm>
#include <cmath>

namespace judder::hunt {

int Slots::find(const std::string& word) const {
  const auto found = std::find(names.begin(), names.end(), word);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

void Surfaces::see(int surface, double distance) {
  const auto k = static_cast<std::size_t>(surface);
  distance = std::abs(distance);
  largest[k] = std::max(largest[k], distance);
  present[k] = present[k] < 0 ? distance : std::min(present[k], distance);
}

bool Surfaces::near(double share, double distance) const {
  for (std::size_t k = 0; k < largest.size(); ++k) {
    if (present[k] >= 0 && present[k] <= share * largest[k] + distance) return true;
  }
  return false;
}

namespace {

/// Arguments of a definition put in place of their names.
Expr substituted(const Expr& e, const std::string& argument, const Expr& value) {
  if (e.op == Op::name && e.word == argument) return value;
  Expr out = e;
  for (Expr& a : out.args) a = substituted(a, argument, value);
  return out;
}

bool is_switch(const Expr& e) {
  if (e.op == Op::less || e.op == Op::at_least) return true;
  if (e.op != Op::call) return false;
  for (const char* word : {"abs", "min", "max", "sign", "step", "floor", "mod", "table"}) {
    if (e.word == word) return true;
  }
  return false;
}

double table_value(const Expr& e, double x, double& distance) {
  // args: the argument, then x and y of the knots in turn; number: 1 step, +2 zero outside.
  const std::size_t knots = (e.args.size() - 1) / 2;
  const auto at = [&](std::size_t k) { return e.args[1 + 2 * k].number; };
  const auto value = [&](std::size_t k) { return e.args[2 + 2 * k].number; };
  const int form = static_cast<int>(e.number);
  distance = std::abs(x - at(0));
  for (std::size_t k = 1; k < knots; ++k) distance = std::min(distance, std::abs(x - at(k)));
  if (x < at(0)) return form >= 2 ? 0 : value(0);
  if (x > at(knots - 1)) return form >= 2 ? 0 : value(knots - 1);
  std::size_t k = 0;
  while (k + 2 < knots && x >= at(k + 1)) ++k;
  if (form % 2 == 1) return x >= at(knots - 1) ? value(knots - 1) : value(k);
  return value(k) + (value(k + 1) - value(k)) * (x - at(k)) / (at(k + 1) - at(k));
}

}  // namespace

Expr prepared(const Draft& draft, const Expr& e, const Slots& slots, int& surfaces, bool& known) {
  Expr out = e;
  if (e.op == Op::name) {
    out.slot = slots.find(e.word);
    if (out.slot >= 0) return out;
    if (const Element* p = draft.find("parameters", e.word)) {
      Expr value = p->fields[0].values[0];
      const Element* v = draft.variant.empty() ? nullptr : draft.find("variants", draft.variant);
      if (v != nullptr && v->find(e.word) != nullptr) value = v->find(e.word)->values[0];
      return prepared(draft, value, slots, surfaces, known);
    }
    if (const Element* d = draft.find("definitions", e.word))
      return prepared(draft, d->fields[0].values[0], slots, surfaces, known);
    known = false;
    return number(0, e.dimension);
  }
  if (e.op == Op::text || e.op == Op::prime || (e.op == Op::call && e.word == "bump")) {
    known = false;
    return number(0, e.dimension);
  }
  if (e.op == Op::call) {
    if (const Element* d = draft.find("definitions", e.word + "(a)"))
      return prepared(draft, substituted(d->fields[0].values[0], "a", e.args[0]), slots, surfaces, known);
    if (e.word == "normal") {
      Expr reaction = name("normal(" + e.args[0].word + ")", e.dimension);
      return prepared(draft, reaction, slots, surfaces, known);
    }
    if (const Element* t = draft.find("tables", e.word)) {
      Expr table = call("table", {prepared(draft, e.args[0], slots, surfaces, known)}, e.dimension);
      const Field* between = t->find("between");
      if (between != nullptr && between->word == "cubic") known = false;
      const Field* outside = t->find("outside");
      table.number = (between != nullptr && between->word == "step" ? 1 : 0) +
                     (outside != nullptr && outside->word == "zero" ? 2 : 0);
      const Field* x = t->find("x");
      const Field* y = t->find("y");
      if (x == nullptr || y == nullptr || x->values.size() != y->values.size() || x->values.size() < 2) {
        known = false;
        return number(0, e.dimension);
      }
      for (std::size_t k = 0; k < x->values.size(); ++k) {
        table.args.push_back(x->values[k]);
        table.args.push_back(y->values[k]);
      }
      table.surface = surfaces++;
      return table;
    }
  }
  for (Expr& a : out.args) a = prepared(draft, a, slots, surfaces, known);
  if (is_switch(out)) out.surface = surfaces++;
  return out;
}

double evaluate(const Expr& e, const double* values, Surfaces* surfaces) {
  const auto arg = [&](std::size_t k) { return evaluate(e.args[k], values, surfaces); };
  const auto see = [&](double distance) {
    if (surfaces != nullptr && e.surface >= 0) surfaces->see(e.surface, distance);
  };
  switch (e.op) {
    case Op::number:
      return e.number;
    case Op::name:
      return values[e.slot];
    case Op::add: {
      double sum = 0;
      for (std::size_t k = 0; k < e.args.size(); ++k) sum += arg(k);
      return sum;
    }
    case Op::multiply: {
      double product = 1;
      for (std::size_t k = 0; k < e.args.size(); ++k) product *= arg(k);
      return product;
    }
    case Op::divide:
      return arg(0) / arg(1);
    case Op::power:
      return std::pow(arg(0), arg(1));
    case Op::negate:
      return -arg(0);
    case Op::less: {
      const double a = arg(0);
      const double b = arg(1);
      see(a - b);
      return a < b ? 1 : 0;
    }
    case Op::at_least: {
      const double a = arg(0);
      const double b = arg(1);
      see(a - b);
      return a >= b ? 1 : 0;
    }
    case Op::text:
    case Op::prime:
      return 0;
    case Op::call:
      break;
  }
  const std::string& f = e.word;
  if (f == "if") return arg(0) != 0 ? arg(1) : arg(2);
  const double a = arg(0);
  if (f == "sin") return std::sin(a);
  if (f == "cos") return std::cos(a);
  if (f == "tanh") return std::tanh(a);
  if (f == "atan") return std::atan(a);
  if (f == "exp") return std::exp(a);
  if (f == "sqrt") return std::sqrt(a);
  if (f == "abs") {
    see(a);
    return std::abs(a);
  }
  if (f == "sign") {
    see(a);
    return a > 0 ? 1 : a < 0 ? -1 : 0;
  }
  if (f == "step") {
    see(a);
    return a >= 0 ? 1 : 0;
  }
  if (f == "floor") {
    see(std::min(a - std::floor(a), std::floor(a) + 1 - a));
    return std::floor(a);
  }
  if (f == "table") {
    double distance = 0;
    const double value = table_value(e, a, distance);
    see(distance);
    return value;
  }
  if (e.args.size() < 2) return 0;
  const double b = arg(1);
  if (f == "min") {
    see(a - b);
    return std::min(a, b);
  }
  if (f == "max") {
    see(a - b);
    return std::max(a, b);
  }
  if (f == "mod") {
    const double rest = a - b * std::floor(a / b);
    see(std::min(rest, b - rest));
    return rest;
  }
  return 0;
}

double evaluate_once(const Draft& draft, const Expr& e, const Slots& slots) {
  int surfaces = 0;
  bool known = true;
  const Expr ready = prepared(draft, e, slots, surfaces, known);
  return evaluate(ready, slots.values.data());
}

}  // namespace judder::hunt
