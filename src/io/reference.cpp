// docs/model-file.md from the fields.
#include "io/outline.hpp"
#include "judder/io/schema.hpp"

namespace judder::io {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string list(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + code(word);
  return out;
}

std::string count(const Field& field) {
  if (field.least == field.most) return std::to_string(field.least);
  if (field.most >= 1000) return std::to_string(field.least) + " or more";
  return std::to_string(field.least) + " to " + std::to_string(field.most);
}

std::string type(const Key& key) {
  const Field& field = key.field;
  switch (key.shape) {
    case Shape::text:
      return !field.words.empty() ? list(field.words) : field.is_name ? "name" : "text";
    case Shape::value:
      return "value";
    case Shape::boolean:
      return "`true`, `false`";
    case Shape::stop:
      return "`true`, `false`, whole number";
    case Shape::values:
      return field.bare ? "value, or list of " + count(field) : "list of " + count(field) + " values";
    case Shape::points:
      return "list of " + count(field) + " points";
    case Shape::numbers:
      return "list of numbers";
    case Shape::matrix:
      return field.bare ? "list of values, or file" : "list of rows, or file";
    case Shape::friction_law:
      return "value, or [friction law](#friction-law)";
    case Shape::impact_law:
      return "value, or [impact law](#impact-law)";
    case Shape::compliance:
      return "[compliance](#compliance)";
    case Shape::columns:
      return "table of values";
    case Shape::plots:
      return "list of lists of names";
    case Shape::engines:
      break;
  }
  return "table";
}

std::string meaning(const Field& field) {
  std::string out = field.doc;
  if (!field.applies.empty()) out += " Only for " + list(field.applies) + ".";
  if (!field.fallback.empty())
    out += " Default: " + (field.words.empty() ? field.fallback : code(field.fallback)) + ".";
  return out;
}

std::string need(const Field& field) {
  if (field.required) return "yes";
  return field.needed.empty() ? "" : "for " + list(field.needed);
}

std::string row(const Key& key) {
  return "| " + code(key.field.name) + " | " + type(key) + " | " + need(key.field) + " | " +
         meaning(key.field) + " |\n";
}

std::string table(const std::vector<Key>& keys) {
  std::string out = "\n| key | what may stand there | required | meaning |\n|---|---|---|---|\n";
  for (const Key& key : keys) {
    if (key.shape == Shape::engines) {
      for (const EngineFields& engine : engine_fields()) {
        if (engine.table) out += "| " + code(engine.name) + " | table, below | | " + key.field.doc + " |\n";
      }
    } else {
      out += row(key);
    }
  }
  return out;
}

std::string engine_options() {
  std::string out =
      "\n### Options of engines\n\n| engine | key | what may stand there | meaning |\n|---|---|---|---|\n";
  bool any = false;
  for (const EngineFields& engine : engine_fields()) {
    for (const Field& option : engine.options) {
      any = true;
      const Key key{option, option.words.empty() ? Shape::value : Shape::text};
      out += "| " + code(engine.name) + " | " + code(option.name) + " | " + type(key) + " | " +
             meaning(option) + " |\n";
    }
  }
  return any ? out : std::string();
}

std::string heading(const Section& section) {
  return section.form == Form::list ? "[[" + section.field.name + "]]" : "[" + section.field.name + "]";
}

}  // namespace

std::string model_reference() {
  std::string out =
      "# The model file\n\n"
      "<!-- Generated from src/io/fields.hpp by `judder schema --reference`; a test keeps it so. -->\n\n"
      "A model is one TOML 1.0 file. A *value* is a number or an expression in double quotes "
      "([the language](language.md)); units are the author's. Unknown keys are errors. Coordinates, states, "
      "elements and "
      "columns keep the order of the file. Data files are named relative to the model file and lie in its "
      "folder or below. "
      "For editors there is a JSON schema, schema/model.schema.json (`judder schema`).\n\n"
      "## At the top\n\n| key | what may stand there | required | meaning |\n|---|---|---|---|\n"
      "| `format` | `1` | yes | Version of the model format. |\n";
  const std::vector<Section> all = outline();
  for (const Section& section : all) {
    if (section.form == Form::key) out += row({section.field, Shape::text});
  }
  for (const Section& section : all) {
    if (section.form == Form::key) continue;
    out += "\n## " + heading(section) + "\n\n" + section.field.doc + "\n";
    if (section.form == Form::map && !section.keys.empty()) out += "\nKeys of a member, `name = { … }`:\n";
    if (!section.keys.empty()) out += table(section.keys);
    if (section.field.name == "run") out += engine_options();
  }
  out +=
      "\n## Friction law\n\nA bare value is Coulomb's coefficient. Either `mu`, or `static` and `dynamic`. "
      "As a table of its "
      "own it stands below its element: `[friction.law]`, `[contact.friction]`.\n" +
      table(keys_of<model::FrictionLaw>());
  out += "\n## Impact law\n\nA bare value is the restitution.\n" + table(keys_of<model::ImpactLaw>());
  out += "\n## Compliance\n" + table(keys_of<model::Compliance>());
  return out;
}

}  // namespace judder::io
