// A Spec as a list of "path = value" lines, places in the file left out: two Specs say the same if their lists are equal.
#pragma once

#include <string>
#include <vector>

#include "io/fields.hpp"
#include "judder/core/number.hpp"

namespace judder::io::testing {

/// Every text of a Spec, for properties of places.
using Texts = std::vector<const model::Text*>;

class Flattener {
 public:
  std::vector<std::string> lines;
  Texts texts;

  template <class Member>
  void operator()(const Field& field, Member& member) {
    add(path_ + field.name, member);
  }
  template <class Member>
  void map(const Field& field, std::vector<Member>& members) {
    each(field.name, members);
  }
  template <class Element>
  void list(const Field& field, std::vector<Element>& elements) {
    each(field.name, elements);
  }
  template <class Struct>
  void table(const Field& field, Struct& object) {
    inside(field.name, object);
  }

 private:
  template <class Element>
  void each(const std::string& name, std::vector<Element>& elements) {
    put(path_ + name, std::to_string(elements.size()));
    for (std::size_t k = 0; k < elements.size(); ++k)
      inside(name + "[" + std::to_string(k) + "]", elements[k]);
  }
  template <class Struct>
  void inside(const std::string& name, Struct& object) {
    const std::string outer = path_;
    path_ += name + ".";
    named(object);
    if constexpr (requires { fields(*this, object); }) fields(*this, object);
    path_ = outer;
  }

  template <class Struct>
  void named(Struct&) {}
  void named(model::Parameter& p) {
    add(path_ + "name", p.name);
    add(path_ + "rows", p.rows);
    add(path_ + "file", p.file);
    put(path_ + "is_matrix", p.is_matrix ? "true" : "false");
  }
  void named(model::Definition& d) {
    add(path_ + "signature", d.signature);
    add(path_ + "body", d.body);
  }
  void named(model::Table& t) { add(path_ + "name", t.name); }
  void named(model::Coordinate& c) { add(path_ + "name", c.name); }
  void named(model::StateVariable& s) { add(path_ + "name", s.name); }
  void named(model::Variant& v) {
    add(path_ + "name", v.name);
    add(path_ + "title", v.title);
    add(path_ + "values", v.values);
  }

  void put(const std::string& path, const std::string& value) { lines.push_back(path + " = " + value); }
  void add(const std::string& path, model::Text& text) {
    put(path, text.text);
    texts.push_back(&text);
  }
  void add(const std::string& path, model::Value& value) {
    put(path, !value.given   ? "-"
              : value.number ? "number " + to_text(*value.number)
                             : "text " + value.text.text);
    if (value.given) texts.push_back(&value.text);
  }
  void add(const std::string& path, bool& value) { put(path, value ? "true" : "false"); }
  void add(const std::string& path, int& value) { put(path, std::to_string(value)); }
  void add(const std::string& path, double& value) { put(path, to_text(value)); }
  template <class Element>
  void add(const std::string& path, std::vector<Element>& elements) {
    put(path, std::to_string(elements.size()));
    for (Element& element : elements) add(path, element);
  }
  void add(const std::string& path, model::Named& named) {
    add(path + ".name", named.name);
    add(path + ".value", named.value);
  }
  void add(const std::string& path, model::OutputColumn& column) {
    add(path + ".name", column.name);
    nested(path, column);
  }
  void add(const std::string& path, model::EngineTable& table) {
    add(path + ".engine", table.name);
    add(path + ".values", table.values);
  }
  void add(const std::string& path, model::Matrix& matrix) {
    put(path, matrix.given ? "given" : "-");
    add(path + ".rows", matrix.rows);
    put(path + ".sparse", matrix.sparse ? "true" : "false");
    for (const model::MatrixEntry& entry : matrix.entries)
      put(path + ".entry",
          std::to_string(entry.row) + " " + std::to_string(entry.column) + " " + to_text(entry.value));
    add(path + ".file", matrix.file);
  }
  void add(const std::string& path, model::FrictionLaw& law) {
    put(path, law.given ? "given" : "-");
    nested(path, law);
  }
  void add(const std::string& path, model::ImpactLaw& law) { nested(path, law); }
  void add(const std::string& path, model::Compliance& compliance) {
    put(path, compliance.given ? "given" : "-");
    nested(path, compliance);
  }
  template <class Struct>
  void nested(const std::string& path, Struct& object) {
    const std::string outer = path_;
    path_ = path + ".";
    fields(*this, object);
    path_ = outer;
  }

  std::string path_;
};

inline std::vector<std::string> flatten(model::Spec spec) {
  Flattener flattener;
  sections(flattener, spec);
  return flattener.lines;
}

}  // namespace judder::io::testing
