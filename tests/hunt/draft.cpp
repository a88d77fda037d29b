#include "draft.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::hunt {

double Units::factor(Dimension d) const {
  const auto raise = [](double base, double exponent) {
    return exponent == 0 ? 1.0 : std::pow(base, exponent);
  };
  return raise(length, d.length) * raise(mass, d.mass) * raise(time, d.time);
}

Expr number(double value, Dimension dimension) {
  Expr e;
  e.number = value;
  e.dimension = dimension;
  return e;
}

Expr name(std::string word, Dimension dimension) {
  Expr e;
  e.op = Op::name;
  e.word = std::move(word);
  e.dimension = dimension;
  return e;
}

Expr raw(std::string text) {
  Expr e;
  e.op = Op::text;
  e.word = std::move(text);
  return e;
}

namespace {

Expr compound(Op op, std::vector<Expr> args, Dimension dimension) {
  Expr e;
  e.op = op;
  e.args = std::move(args);
  e.dimension = dimension;
  return e;
}

Expr joined(Op op, Expr a, Expr b, Dimension dimension) {
  if (a.op == op) {
    a.args.push_back(std::move(b));
    a.dimension = dimension;
    return a;
  }
  std::vector<Expr> args;
  args.push_back(std::move(a));
  args.push_back(std::move(b));
  return compound(op, std::move(args), dimension);
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  const Dimension d = a.dimension;
  return joined(Op::add, std::move(a), std::move(b), d);
}
Expr operator-(Expr a) {
  if (a.op == Op::number) {
    a.number = -a.number;
    return a;
  }
  const Dimension d = a.dimension;
  return compound(Op::negate, {std::move(a)}, d);
}
Expr operator-(Expr a, Expr b) { return std::move(a) + (-std::move(b)); }
Expr operator*(Expr a, Expr b) {
  const Dimension d = a.dimension + b.dimension;
  return joined(Op::multiply, std::move(a), std::move(b), d);
}
Expr operator/(Expr a, Expr b) {
  const Dimension d = a.dimension - b.dimension;
  return compound(Op::divide, {std::move(a), std::move(b)}, d);
}
Expr power(Expr a, double exponent) {
  const Dimension d = exponent * a.dimension;
  return compound(Op::power, {std::move(a), number(exponent)}, d);
}
Expr call(std::string function, std::vector<Expr> args, Dimension dimension) {
  Expr e = compound(Op::call, std::move(args), dimension);
  e.word = std::move(function);
  return e;
}
Expr less(Expr a, Expr b) { return compound(Op::less, {std::move(a), std::move(b)}, {}); }
Expr at_least(Expr a, Expr b) { return compound(Op::at_least, {std::move(a), std::move(b)}, {}); }
Expr prime(Expr a) {
  const Dimension d = a.dimension - kTime;
  return compound(Op::prime, {std::move(a)}, d);
}

Field field(std::string key, Expr value) {
  Field f;
  f.key = std::move(key);
  f.values.push_back(std::move(value));
  return f;
}
Field field_list(std::string key, std::vector<Expr> values) {
  Field f;
  f.kind = Field::Kind::values;
  f.key = std::move(key);
  f.values = std::move(values);
  return f;
}
Field field_rows(std::string key, std::vector<Expr> values) {
  Field out;
  out.kind = Field::Kind::rows;
  out.key = std::move(key);
  out.values = std::move(values);
  return out;
}
Field field_word(std::string key, std::string word) {
  Field f;
  f.kind = Field::Kind::word;
  f.key = std::move(key);
  f.word = std::move(word);
  return f;
}
Field field_flag(std::string key) {
  Field f;
  f.kind = Field::Kind::flag;
  f.key = std::move(key);
  return f;
}
Field field_table(std::string key, std::vector<Field> fields) {
  Field f;
  f.kind = Field::Kind::table;
  f.key = std::move(key);
  f.fields = std::move(fields);
  return f;
}

const Field* Element::find(std::string_view key) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  return found == fields.end() ? nullptr : &*found;
}
Field* Element::find(std::string_view key) { return const_cast<Field*>(std::as_const(*this).find(key)); }

const Element* Draft::find(std::string_view section, std::string_view named) const {
  const auto found = std::find_if(elements.begin(), elements.end(),
                                  [&](const Element& e) { return e.section == section && e.name == named; });
  return found == elements.end() ? nullptr : &*found;
}

namespace {

// How tightly a text binds: a sum, a product, a power, an atom.
enum Level { kSum, kProduct, kSign, kAtom };

struct Written {
  std::string text;
  Level level = kAtom;
};

Written write(const Expr& e, const Units& units);

std::string within(const Expr& e, const Units& units, Level level) {
  Written w = write(e, units);
  return w.level >= level ? w.text : "(" + w.text + ")";
}

Written write(const Expr& e, const Units& units) {
  switch (e.op) {
    case Op::number: {
      const std::string text = to_text(e.number * units.factor(e.dimension));
      return {text, text[0] == '-' ? kSign : kAtom};
    }
    case Op::name:
      return {e.word, kAtom};
    case Op::text:
      return {e.word, kSum};
    case Op::add: {
      std::string out;
      for (const Expr& term : e.args) {
        const std::string text = within(term, units, kProduct);
        if (out.empty())
          out = text;
        else if (text[0] == '-')
          out += " - " + text.substr(1);
        else
          out += " + " + text;
      }
      if (out.empty()) return {"0", kAtom};
      return {out, e.args.size() > 1 ? kSum : kProduct};
    }
    case Op::multiply: {
      std::string out;
      for (const Expr& factor : e.args) {
        if (factor.op == Op::number && factor.number == 1 && units.factor(factor.dimension) == 1) continue;
        const std::string text = within(factor, units, out.empty() ? kSign : kAtom);
        out += (out.empty() ? "" : "*") + text;
      }
      if (out.empty()) return {"1", kAtom};
      return {out, kProduct};
    }
    case Op::divide:
      return {within(e.args[0], units, kProduct) + "/" + within(e.args[1], units, kAtom), kProduct};
    case Op::power:
      return {within(e.args[0], units, kAtom) + "^" + within(e.args[1], units, kAtom), kSign};
    case Op::negate:
      return {"-" + within(e.args[0], units, kAtom), kSign};
    case Op::less:
      return {within(e.args[0], units, kSum) + " < " + within(e.args[1], units, kSum), kSum};
    case Op::at_least:
      return {within(e.args[0], units, kSum) + " >= " + within(e.args[1], units, kSum), kSum};
    case Op::call: {
      std::string out = e.word + "(";
      for (std::size_t i = 0; i < e.args.size(); ++i)
        out += (i > 0 ? ", " : "") + write(e.args[i], units).text;
      return {out + ")", kAtom};
    }
    case Op::prime:
      return {within(e.args[0], units, kAtom) + "'", kAtom};
  }
  return {};
}

/// A number stands alone, an expression in quotes.
std::string written_value(const Expr& e, const Units& units) {
  if (e.op == Op::number) return text(e, units);
  return "\"" + text(e, units) + "\"";
}

std::string written_fields(const std::vector<Field>& fields, const Units& units);

std::string written_field(const Field& f, const Units& units) {
  switch (f.kind) {
    case Field::Kind::value:
      return written_value(f.values[0], units);
    case Field::Kind::values: {
      std::string out = "[";
      for (std::size_t i = 0; i < f.values.size(); ++i)
        out += (i > 0 ? ", " : "") + written_value(f.values[i], units);
      return out + "]";
    }
    case Field::Kind::rows: {
      const auto width =
          static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(f.values.size()))));
      std::string out = "[";
      for (std::size_t i = 0; i < f.values.size(); ++i) {
        out += i % width == 0 ? (i > 0 ? ", [" : "[") : ", ";
        out += written_value(f.values[i], units) + (i % width == width - 1 ? "]" : "");
      }
      return out + "]";
    }
    case Field::Kind::word:
      return "\"" + f.word + "\"";
    case Field::Kind::flag:
      return f.word.empty() ? "true" : f.word;
    case Field::Kind::table:
      return written_fields(f.fields, units);
  }
  return {};
}

std::string quoted_key(const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0);
  });
  return plain ? key : "\"" + key + "\"";
}

std::string written_fields(const std::vector<Field>& fields, const Units& units) {
  std::string out = "{";
  for (std::size_t i = 0; i < fields.size(); ++i)
    out += (i > 0 ? ", " : " ") + quoted_key(fields[i].key) + " = " + written_field(fields[i], units);
  return out + (fields.empty() ? "}" : " }");
}

}  // namespace

std::string text(const Expr& expr, const Units& units) { return write(expr, units).text; }

std::string text(const Draft& draft, const Units& units) {
  std::string out = "format = 1\n";
  // Tables of names: one line per element.
  for (const char* section : {"parameters", "definitions", "tables", "coordinates", "state"}) {
    bool first = true;
    for (const Element& e : draft.elements) {
      if (e.section != section) continue;
      if (first) out += "[" + std::string(section) + "]\n";
      first = false;
      out += quoted_key(e.name) + " = ";
      const bool alone = e.fields.size() == 1 && (e.fields[0].key == "value" ||
                                                  (e.section == "coordinates" && e.fields[0].key == "start"));
      if (alone)
        out += written_field(e.fields[0], units);
      else if (e.section == "coordinates" && e.fields.empty())
        out += "0";
      else
        out += written_fields(e.fields, units);
      out += "\n";
    }
  }
  for (const char* section : {"energy", "matrices", "force", "friction", "contact", "constraint", "watch"}) {
    for (const Element& e : draft.elements) {
      if (e.section != section) continue;
      const bool once = e.section == "energy" || e.section == "matrices";
      out += once ? "[" + e.section + "]\n" : "[[" + e.section + "]]\n";
      if (!once) out += "name = \"" + e.name + "\"\n";
      for (const Field& f : e.fields) out += f.key + " = " + written_field(f, units) + "\n";
    }
  }
  bool first = true;
  for (const Element& e : draft.elements) {
    if (e.section != "variants") continue;
    if (first) out += "[variants]\n";
    first = false;
    out += e.name + " = " + written_fields(e.fields, units) + "\n";
  }
  out += "[run]\n";
  if (draft.from != 0) out += "from = " + to_text(draft.from * units.time) + "\n";
  out += "until = " + to_text(draft.until * units.time) + "\n";
  for (const Element& e : draft.elements) {
    if (e.section != "run") continue;
    for (const Field& f : e.fields) out += f.key + " = " + written_field(f, units) + "\n";
  }
  return out;
}

}  // namespace judder::hunt
