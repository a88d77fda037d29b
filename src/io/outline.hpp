// The fields of the model file as a list, for the schema and the reference page.
#pragma once

#include <string>
#include <vector>

#include "io/fields.hpp"

namespace judder::io {

/// What may stand at a key.
enum class Shape {
  text,
  value,
  boolean,
  stop,
  values,
  points,
  numbers,
  matrix,
  friction_law,
  impact_law,
  compliance,
  columns,
  plots,
  engines
};

struct Key {
  Field field;
  Shape shape = Shape::text;
};

enum class Form { key, map, table, list };

struct Section {
  Field field;
  Form form = Form::key;
  std::vector<Key> keys;  ///< of the table, of an element, or of a member written as a table
};

/// Collects the keys of one struct.
class KeyCollector {
 public:
  template <class Member>
  void operator()(const Field& field, Member& member) {
    keys.push_back({field, shape(member)});
  }
  std::vector<Key> keys;

 private:
  static Shape shape(const model::Text&) { return Shape::text; }
  static Shape shape(const model::Value&) { return Shape::value; }
  static Shape shape(const bool&) { return Shape::boolean; }
  static Shape shape(const int&) { return Shape::stop; }
  static Shape shape(const std::vector<model::Value>&) { return Shape::values; }
  static Shape shape(const std::vector<std::vector<model::Value>>&) { return Shape::points; }
  static Shape shape(const std::vector<double>&) { return Shape::numbers; }
  static Shape shape(const model::Matrix&) { return Shape::matrix; }
  static Shape shape(const model::FrictionLaw&) { return Shape::friction_law; }
  static Shape shape(const model::ImpactLaw&) { return Shape::impact_law; }
  static Shape shape(const model::Compliance&) { return Shape::compliance; }
  static Shape shape(const std::vector<model::OutputColumn>&) { return Shape::columns; }
  static Shape shape(const std::vector<std::vector<model::Text>>&) { return Shape::plots; }
  static Shape shape(const std::vector<model::EngineTable>&) { return Shape::engines; }
};

template <class Struct>
std::vector<Key> keys_of() {
  Struct object;
  KeyCollector collector;
  fields(collector, object);
  return collector.keys;
}

class SectionCollector {
 public:
  void operator()(const Field& field, model::Text&) { sections.push_back({field, Form::key, {}}); }
  template <class Member>
  void map(const Field& field, std::vector<Member>&) {
    if constexpr (requires(KeyCollector & c, Member & m) { fields(c, m); }) {
      sections.push_back({field, Form::map, keys_of<Member>()});
    } else {
      sections.push_back({field, Form::map, {}});
    }
  }
  template <class Struct>
  void table(const Field& field, Struct&) {
    sections.push_back({field, Form::table, keys_of<Struct>()});
  }
  template <class Element>
  void list(const Field& field, std::vector<Element>&) {
    sections.push_back({field, Form::list, keys_of<Element>()});
  }
  std::vector<Section> sections;
};

inline std::vector<Section> outline() {
  model::Spec spec;
  SectionCollector collector;
  sections(collector, spec);
  return collector.sections;
}

}  // namespace judder::io
