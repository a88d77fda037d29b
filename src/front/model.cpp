#include <stdexcept>
#include <utility>

#include "front/parts.hpp"
#include "judder/engines/registry.hpp"
#include "judder/io/load.hpp"

namespace judder {

Model::Model() : parts_(std::make_unique<Parts>()) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

void Model::Parts::compile() {
  model::CompileOptions how;
  how.engines = engines::engine_words();
  how.variants = options.variants;
  for (const Setting& setting : options.set) how.set.push_back({setting.first, setting.second});
  compiled = model::compile(spec, how);
  problems = render(compiled.diagnostics, name, text);
  columns.clear();
  if (compiled.system) columns = simulate::column_names(*compiled.system);
}

Model Model::load(const std::filesystem::path& file, const ModelOptions& options) {
  io::ModelRequest request;
  request.file = file;
  request.variants = options.variants;
  for (const Setting& setting : options.set) request.set.push_back({setting.first, setting.second});
  io::LoadedModel loaded = io::load_model(request);
  Model model;
  Parts& parts = *model.parts_;
  parts.problems = render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  if (loaded.file.diagnostics.has_errors()) parts.reader_problems = parts.problems;
  parts.spec = std::move(loaded.file.spec);
  parts.name = std::move(loaded.file.name);
  parts.text = std::move(loaded.file.text);
  parts.options = options;
  if (loaded.ok()) {
    parts.compiled = std::move(loaded.compiled);
    parts.columns = simulate::column_names(*parts.compiled.system);
  }
  return model;
}

Model Model::from_text(std::string text, const ModelOptions& options) {
  io::ModelFile file = io::read_model_text(std::move(text));
  Model model;
  Parts& parts = *model.parts_;
  parts.name = std::move(file.name);
  parts.text = std::move(file.text);
  parts.options = options;
  if (file.diagnostics.has_errors()) {
    parts.problems = parts.reader_problems = render(file.diagnostics, parts.name, parts.text);
    return model;
  }
  parts.spec = std::move(file.spec);
  parts.compile();
  return model;
}

Model Model::from_spec(model::Spec spec, const ModelOptions& options) {
  Model model;
  model.parts_->name = "model";
  model.parts_->spec = std::move(spec);
  model.parts_->options = options;
  model.parts_->compile();
  return model;
}

Model Model::with(const std::vector<Setting>& settings) const {
  Model model;
  Parts& parts = *model.parts_;
  parts.spec = parts_->spec;
  parts.name = parts_->name;
  parts.text = parts_->text;
  parts.options = parts_->options;
  for (const Setting& setting : settings) {
    std::erase_if(parts.options.set, [&](const Setting& old) { return old.first == setting.first; });
    parts.options.set.push_back(setting);
  }
  parts.problems = parts.reader_problems = parts_->reader_problems;
  if (parts.reader_problems.empty()) parts.compile();
  return model;
}

bool Model::ok() const { return parts_->compiled.system.has_value(); }
const std::string& Model::problems() const { return parts_->problems; }
const std::string& Model::title() const { return parts_->compiled.title; }
const std::vector<std::string>& Model::columns() const { return parts_->columns; }
const std::vector<Setting>& Model::parameters() const { return parts_->compiled.parameters; }

double Model::parameter(std::string_view name) const {
  for (const Setting& parameter : parameters()) {
    if (parameter.first == name) return parameter.second;
  }
  throw std::out_of_range("the model has no parameter '" + std::string(name) + "'");
}

const model::System& Model::system() const {
  if (!ok()) throw std::logic_error("a model that is not ok() has no equations:\n" + problems());
  return *parts_->compiled.system;
}

}  // namespace judder
