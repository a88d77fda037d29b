#include "judder/io/schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "io/outline.hpp"

namespace judder::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "^[A-Za-z][A-Za-z0-9_]*$";

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json list_of(Json items, int least, int most) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", least}, {"maxItems", most}};
}

/// What may stand at a key, without its documentation.
Json allowed(const Key& key) {
  const Field& field = key.field;
  switch (key.shape) {
    case Shape::text:
      if (!field.words.empty()) return {{"enum", field.words}};
      if (field.is_name) return {{"type", "string"}, {"pattern", kName}};
      return {{"type", "string"}};
    case Shape::value:
      return reference("value");
    case Shape::boolean:
      return {{"type", "boolean"}};
    case Shape::stop:
      return {{"anyOf", {{{"type", "boolean"}}, {{"type", "integer"}, {"minimum", 1}}}}};
    case Shape::values: {
      Json list = list_of(reference("value"), field.least, field.most);
      return field.bare ? Json{{"anyOf", {reference("value"), std::move(list)}}} : list;
    }
    case Shape::points:
      return list_of(list_of(reference("value"), 2, 2), field.least, field.most);
    case Shape::numbers:
      return list_of({{"type", "number"}}, field.least, field.most);
    case Shape::matrix:
      return reference(field.bare ? "vector" : "matrix");
    case Shape::friction_law:
      return reference("friction_law");
    case Shape::impact_law:
      return reference("impact_law");
    case Shape::compliance:
      return reference("compliance");
    case Shape::columns:
      return {{"type", "object"},
              {"propertyNames", {{"pattern", "^[^,\"\\r\\n]+$"}}},
              {"additionalProperties", reference("column")}};
    case Shape::plots:
      return list_of(list_of({{"type", "string"}}, 2, 1000), 0, 1000);
    case Shape::engines:
      break;
  }
  return {};
}

Json property(const Key& key) {
  Json out = allowed(key);
  std::string doc = key.field.doc;
  if (!key.field.applies.empty()) {
    doc += " Only for";
    for (const std::string& word : key.field.applies)
      doc += (word == key.field.applies.front() ? " " : ", ") + word;
    doc += ".";
  }
  if (!key.field.fallback.empty()) doc += " Default: " + key.field.fallback + ".";
  // In draft 7 nothing may stand beside a reference.
  if (out.contains("$ref")) out = Json{{"allOf", Json::array({out})}};
  if (!doc.empty()) out["description"] = doc;
  return out;
}

Json engine_table(const EngineFields& engine, const std::string& doc) {
  Json properties = Json::object();
  for (const Field& option : engine.options) {
    properties[option.name] = property({option, option.words.empty() ? Shape::value : Shape::text});
  }
  return {
      {"type", "object"}, {"description", doc}, {"properties", properties}, {"additionalProperties", false}};
}

/// A table with these keys and no others.
Json object(const std::vector<Key>& keys) {
  Json properties = Json::object();
  Json required = Json::array();
  const Field* selector = nullptr;
  for (const Key& key : keys) {
    if (key.shape == Shape::engines) {
      for (const EngineFields& engine : engine_fields()) {
        if (engine.table) properties[engine.name] = engine_table(engine, key.field.doc);
      }
      continue;
    }
    properties[key.field.name] = property(key);
    if (key.field.required) required.push_back(key.field.name);
    if (key.field.selects) selector = &key.field;
  }
  Json out{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  if (selector == nullptr) return out;

  Json rules = Json::array();
  for (const std::string& word : selector->words) {
    const auto has = [&word](const Words& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    Json needed = Json::array();
    Json refused = Json::array();
    for (const Key& key : keys) {
      if (has(key.field.needed)) needed.push_back(key.field.name);
      if (!key.field.applies.empty() && !has(key.field.applies)) refused.push_back(key.field.name);
    }
    Json condition{{"properties", {{selector->name, {{"const", word}}}}}};
    // Where the key is left out its default decides.
    if (word != selector->fallback) condition["required"] = Json::array({selector->name});
    Json consequence = Json::object();
    if (!needed.empty()) consequence["required"] = needed;
    if (!refused.empty()) consequence["propertyNames"] = {{"not", {{"enum", refused}}}};
    if (!consequence.empty()) rules.push_back({{"if", condition}, {"then", consequence}});
  }
  if (!rules.empty()) out["allOf"] = rules;
  return out;
}

Json file_table() {
  return {{"type", "object"},
          {"properties", {{"file", {{"type", "string"}, {"minLength", 1}}}}},
          {"required", {"file"}},
          {"additionalProperties", false}};
}

Json definitions() {
  Json out = Json::object();
  out["value"] = {{"description", "A number, or an expression in double quotes."},
                  {"anyOf", {{{"type", "number"}}, {{"type", "string"}, {"pattern", "\\S"}}}}};
  const Json row{{"type", "array"}, {"items", reference("value")}, {"minItems", 1}};
  const Json rows{{"type", "array"}, {"items", row}, {"minItems", 1}};
  const Json file{{"type", "string"}, {"minLength", 1}};
  out["parameter"] = {
      {"anyOf", {reference("value"), row, rows, file_table(), object(keys_of<model::Parameter>())}}};
  out["column"] = {{"anyOf", {reference("value"), object(keys_of<model::OutputColumn>())}}};
  out["matrix"] = {{"anyOf", {rows, file, file_table()}}};
  out["vector"] = {{"anyOf", {row, rows, file, file_table()}}};
  out["friction_law"] = {{"anyOf", {reference("value"), object(keys_of<model::FrictionLaw>())}}};
  out["impact_law"] = {{"anyOf", {reference("value"), object(keys_of<model::ImpactLaw>())}}};
  out["compliance"] = object(keys_of<model::Compliance>());
  return out;
}

/// A member of a section whose keys the author chooses.
Json member(const Section& section) {
  if (section.field.name == "parameters") return reference("parameter");
  if (section.field.name == "definitions") return reference("value");
  if (section.field.name == "variants") {
    return {{"type", "object"},
            {"properties", {{"title", {{"type", "string"}}}}},
            {"additionalProperties", reference("value")}};
  }
  Json out = object(section.keys);
  if (section.field.name == "tables") out["anyOf"] = {{{"required", {"x", "y"}}}, {{"required", {"file"}}}};
  if (section.field.name == "coordinates") return {{"anyOf", {reference("value"), std::move(out)}}};
  return out;
}

Json section_schema(const Section& section) {
  Json out;
  switch (section.form) {
    case Form::key:
      out = {{"type", "string"}};
      break;
    case Form::map:
      out = {{"type", "object"}, {"additionalProperties", member(section)}};
      if (section.field.name != "definitions" && section.field.name != "variants") {
        out["propertyNames"] = {{"pattern", kName}};
      }
      break;
    case Form::table:
      out = object(section.keys);
      break;
    case Form::list: {
      Json element = object(section.keys);
      if (section.field.name == "constraint") {
        element["oneOf"] = {{{"required", {"zero"}}}, {{"required", {"velocity"}}}};
      }
      out = {{"type", "array"}, {"items", std::move(element)}};
      break;
    }
  }
  out["description"] = section.field.doc;
  return out;
}

}  // namespace

std::string model_schema() {
  Json properties = Json::object();
  properties["format"] = {{"const", 1}, {"description", "Version of the model format."}};
  for (const Section& section : outline()) properties[section.field.name] = section_schema(section);
  const Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "Judder model file"},
                    {"type", "object"},
                    {"properties", properties},
                    {"required", {"format"}},
                    {"additionalProperties", false},
                    {"definitions", definitions()}};
  return schema.dump(2) + "\n";
}

std::vector<std::string> model_engines() { return engine_names(); }

}  // namespace judder::io
