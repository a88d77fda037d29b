#include "judder/live/live_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "io/run_document.hpp"
#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/json.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_head.hpp"
#include "judder/simulate/simulate.hpp"
#include "judder/tasks/memory_run.hpp"
#include "report/page_run.hpp"
#include "report/put_curve.hpp"
#include "report/read_thinned.hpp"

namespace judder::live {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// As `judder check --json` tells them.
Json problems_of(const Diagnostics& diagnostics, const io::ModelFile& file) {
  const Json all = Json::parse(io::diagnostics_json(diagnostics, file.name, file.text), nullptr, false);
  return all.is_object() && all.contains("problems") ? all["problems"] : Json::array();
}

Json parameters_of(const io::LoadedModel& model) {
  Json out = Json::array();
  for (const auto& [name, value] : model.compiled.parameters) {
    Json one{{"name", name}, {"value", value}};
    for (const model::Parameter& p : model.file.spec.parameters) {
      if (p.name.text != name) continue;
      if (!p.unit.empty()) one["unit"] = p.unit.text;
      if (p.range.size() == 2) one["range"] = p.range;
      // What the file computes from others follows them until it is set itself.
      if (!p.value.number) one["formula"] = p.value.text.text;
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json start_of(const model::System& system) {
  const model::Layout& layout = system.layout();
  Json out = Json::array();
  const auto add = [&](const std::string& name, int place) {
    out.push_back({{"name", name}, {"value", system.start()[static_cast<std::size_t>(place)]}});
  };
  for (std::size_t i = 0; i < system.coordinate_names().size(); ++i) {
    add(system.coordinate_names()[i], layout.q() + static_cast<int>(i));
    add(system.coordinate_names()[i] + "'", layout.v() + static_cast<int>(i));
  }
  for (std::size_t i = 0; i < system.state_names().size(); ++i)
    add(system.state_names()[i], layout.z() + static_cast<int>(i));
  return out;
}

/// Every engine, and why it cannot run this model where it cannot.
Json engines_of(const model::System& system) {
  Json out = Json::array();
  out.push_back({{"name", "auto"}, {"stands_for", simulate::engine_used(system, "auto")}});
  for (const std::string& name : simulate::engine_names()) {
    if (name == "auto") continue;
    Json one{{"name", name}};
    if (const std::string problem = simulate::engine_problem(system, name); !problem.empty())
      one["problem"] = problem;
    out.push_back(std::move(one));
  }
  return out;
}

Json variants_of(const model::Spec& spec) {
  Json out = Json::array();
  for (const model::Variant& variant : spec.variants)
    out.push_back({{"name", variant.name.text}, {"title", variant.title.text}});
  return out;
}

/// A request of the page. What is missing or of another kind is left out.
struct Request {
  io::ModelRequest model;
  std::optional<double> until;
};

Request read_request(std::string_view text) {
  Request out;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return out;
  const auto word = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (const std::string variant = word("variant"); !variant.empty()) out.model.variants.push_back(variant);
  out.model.engine = word("engine");
  if (const auto until = json.find("until"); until != json.end() && until->is_number())
    out.until = until->get<double>();
  if (const auto set = json.find("set"); set != json.end() && set->is_array()) {
    for (const Json& one : *set) {
      if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_number()) continue;
      model::Named named;
      named.name = one[0].get<std::string>();
      named.value = one[1].get<double>();
      out.model.set.push_back(std::move(named));
    }
  }
  return out;
}

}  // namespace

struct LiveModel::Data {
  std::optional<io::ModelFile> file;  // without errors
  Numbers numbers;

  [[nodiscard]] Json describe(const io::LoadedModel& model) const;
  [[nodiscard]] Json run_json(const io::LoadedModel& model, tasks::MemoryRun& run);
};

LiveModel::LiveModel() : data_(std::make_unique<Data>()) {}
LiveModel::~LiveModel() = default;

const Numbers& LiveModel::numbers() const { return data_->numbers; }

Json LiveModel::Data::describe(const io::LoadedModel& model) const {
  const model::System& system = *model.compiled.system;
  Json out;
  out["title"] = model.compiled.title;
  out["parameters"] = parameters_of(model);
  out["start"] = start_of(system);
  out["engines"] = engines_of(system);
  out["engine"] = model.compiled.run.engine;
  out["variants"] = variants_of(model.file.spec);
  out["plots"] = model.compiled.run.plots;
  out["from"] = model.compiled.run.from;
  if (std::isfinite(model.compiled.run.until)) out["until"] = model.compiled.run.until;
  return out;
}

std::string LiveModel::load(std::string text, const std::filesystem::path& folder) {
  const io::ModelRequest request;
  io::LoadedModel model = io::load_model(io::read_model_text(std::move(text), "model.toml", folder), request);
  Json out{{"problems", problems_of(model.diagnostics, model.file)}, {"ok", model.ok()}};
  if (model.ok()) {
    out.update(data_->describe(model));
    data_->file = std::move(model.file);
  }
  return text_of(out);
}

std::string LiveModel::equations() {
  Json out{{"equations", Json::array()}};
  if (!data_->file) return text_of(out);
  const io::ModelRequest request;
  const io::LoadedModel model = io::load_model(*data_->file, request);
  if (model.ok()) out["equations"] = report::page_equations(model, request);
  return text_of(out);
}

Json LiveModel::Data::run_json(const io::LoadedModel& model, tasks::MemoryRun& run) {
  const model::System& system = *model.compiled.system;
  const report::ModelFacts facts = report::model_facts(model.file.spec, system);
  const std::size_t rows = run.data.columns.empty() ? 0 : run.data.columns.front().size();
  const report::SceneRows scene = report::scene_rows(system, run.data, nullptr);
  // The drawing needs them; where the model leaves them out they are no columns of the page.
  if (!model.file.spec.output.coordinates) {
    const auto first = run.data.columns.begin() + 1;
    run.data.columns.erase(first, first + 2 * system.layout().coordinates);
  }
  report::put_curve(run.data, run.summary.curve);
  Json extremes = report::page_extremes(run.data);
  report::thin_rows(run.data, report::most_page_rows(run.data));
  io::RunHead names;
  names.title = model.compiled.title;
  names.engine = run.summary.engine;
  names.labels = io::labels_of(model.file.spec);
  const Json head = io::run_document(run.summary);
  report::RowNumbers plots;
  Json out = report::describe_run(run.data, head, names, facts, rows, plots);
  out["extremes"] = std::move(extremes);
  out["work"] = report::page_works(facts, run.end.dissipated, run.end.supplied);
  out["scene"] = {{"shapes", facts.shapes}, {"numbers", scene.numbers}, {"rows", scene.times.size()}};
  Json parameters = Json::array();
  for (const auto& [name, value] : model.compiled.parameters)
    parameters.push_back({{"name", name}, {"value", to_text(value)}});
  out["parameters"] = std::move(parameters);
  out["values"] = start_of(system);
  numbers.times = std::move(plots.times);
  numbers.columns = std::move(plots.columns);
  numbers.scene_times = scene.times;
  numbers.scene = scene.values;
  numbers.end.assign(1, run.end.time);
  numbers.end.insert(numbers.end.end(), run.end.y.begin(), run.end.y.end());
  return out;
}

std::string LiveModel::run(std::string_view request,
                           const std::function<void(double share, long events)>& progress) {
  Json out{{"problems", Json::array()}};
  if (!data_->file) return text_of(out);
  const Request asked = read_request(request);
  io::LoadedModel model = io::load_model(*data_->file, asked.model);
  if (model.ok()) {
    // What the file says with these values, also where the page asks for another end.
    const double until = model.compiled.run.until;
    tasks::MemoryRunRequest how;
    how.model = asked.model;
    how.until = asked.until;
    how.coordinates = true;
    how.curve = true;
    how.progress = progress;
    tasks::MemoryRun run = tasks::run_in_memory(how, model);
    if (run.ran) out["run"] = data_->run_json(model, run);
    if (run.ran && std::isfinite(until)) out["run"]["until"] = until;
  }
  out["problems"] = problems_of(model.diagnostics, model.file);
  return text_of(out);
}

}  // namespace judder::live
