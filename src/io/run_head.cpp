#include "judder/io/run_head.hpp"

#include <nlohmann/json.hpp>

#include "judder/io/reader.hpp"

namespace judder::io {

std::vector<ColumnLabel> labels_of(const model::Spec& spec) {
  std::vector<ColumnLabel> out;
  for (const model::Coordinate& c : spec.coordinates) {
    if (!c.label.empty() || !c.unit.empty()) out.push_back({c.name.text, c.label.text, c.unit.text});
  }
  for (const model::OutputColumn& c : spec.output.columns) {
    if (!c.label.empty() || !c.unit.empty()) out.push_back({c.name.text, c.label.text, c.unit.text});
  }
  return out;
}

RunHead read_run_head(std::string_view run_json) {
  using Json = nlohmann::ordered_json;
  RunHead head;
  const Json in = Json::parse(run_json, nullptr, false);
  if (!in.is_object()) return head;
  try {
    const Json model = in.value("model", Json::object());
    head.file = model.value("file", std::string());
    head.title = model.value("title", std::string());
    if (head.title.empty()) head.title = head.file;
    if (const std::string text = model.value("text", std::string()); !text.empty()) {
      const model::Spec spec = read_model_text(text).spec;
      head.model_title = spec.title.text;
      head.labels = labels_of(spec);
    }
    head.variants = model.value("variants", std::vector<std::string>());
    const Json settings = model.value("set", Json::object());
    for (const auto& [name, value] : settings.items())
      head.settings.push_back(name + "=" + value.get<std::string>());
    head.engine = in.value("engine", std::string());
    head.plots = in.value("options", Json::object()).value("plots", std::vector<std::vector<std::string>>());
  } catch (const Json::exception&) {
    // A run.json of another program: what was read so far is all there is.
  }
  return head;
}

}  // namespace judder::io
