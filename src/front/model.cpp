#include <array>
#include <stdexcept>
#include <utility>

#include "front/parts.hpp"
#include "judder/engines/registry.hpp"
#include "judder/io/load.hpp"
#include "judder/io/writer.hpp"

namespace judder {

Model::Model() : parts_(std::make_unique<Parts>()) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

model::CompileOptions Model::Parts::how() const {
  model::CompileOptions how;
  how.engines = engines::engine_words();
  how.variants = options.variants;
  for (const Setting& setting : options.set) how.set.push_back({setting.first, setting.second});
  return how;
}

const model::Form* Model::Parts::form() const {
  std::call_once(once_, [this] { form_ = model::compile_form(spec, options.open, how()); });
  return form_.form ? &*form_.form : nullptr;
}

void Model::Parts::open() {
  if (options.open.empty() || !compiled.system || form() != nullptr) return;
  problems += render(form_.diagnostics, name, text);
  compiled.system.reset();
}

Chosen::Chosen(const Model& model, const Model::Parts& parts, const RunOptions& options)
    : system(&model.system()), run(parts.compiled.run) {
  if (options.parameters.empty() && options.start.empty()) return;
  if (const model::Form* form = parts.form(); form != nullptr) {
    model::Bound made = form->bind(options.parameters, options.start);
    if (made.system) {
      bound_ = std::move(made.system);
      system = &*bound_;
      run = std::move(made.run);
      return;
    }
  }
  compiled = true;
  std::vector<Setting> all = options.parameters;
  all.insert(all.end(), options.start.begin(), options.start.end());
  other_ = std::make_unique<Model>(model.folded(all));
  system = other_->ok() ? &other_->system() : nullptr;
  run = other_->parts_->compiled.run;
  problem = other_->problems();
}

void Model::Parts::compile() {
  compiled = model::compile(spec, how());
  problems = render(compiled.diagnostics, name, text);
  columns.clear();
  if (compiled.system) columns = simulate::column_names(*compiled.system);
}

expr::OutsideFunction Called::entry() const {
  const int order = function_.partials    ? function_.order
                    : !function_.gradient ? 0
                    : function_.hessian   ? 2
                                          : 1;
  const bool callable = function_.partials || function_.value;
  return {function_.name, function_.arguments, order, function_.sizes, callable ? this : nullptr};
}

void Called::compute(std::span<const double> u, int order, std::span<double> out) const {
  if (function_.partials) return function_.partials(u, order, out);
  out[0] = function_.value(u);
  const std::size_t n = u.size();
  if (order > 0) function_.gradient(u, out.subspan(1, n));
  if (order < 2) return;
  std::array<double, expr::kMostArguments * expr::kMostArguments> hessian{};
  function_.hessian(u, {hessian.data(), n * n});
  std::size_t next = 1 + n;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) out[next++] = hessian[i * n + j];
  }
}

std::vector<expr::OutsideFunction> Model::Parts::call_functions() {
  called.clear();
  for (const Function& function : options.functions) called.emplace_back(function);
  std::vector<expr::OutsideFunction> out;
  for (const Called& each : called) out.push_back(each.entry());
  return out;
}

void Model::Parts::take(io::LoadedModel loaded) {
  problems = render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  opened = loaded.file.opened;
  if (loaded.file.diagnostics.has_errors()) reader_problems = problems;
  spec = std::move(loaded.file.spec);
  name = std::move(loaded.file.name);
  text = std::move(loaded.file.text);
  if (!loaded.ok()) return;
  compiled = std::move(loaded.compiled);
  columns = simulate::column_names(*compiled.system);
}

const Model::Parts& Model::parts() const {
  if (!parts_) throw std::logic_error("this model was moved away: there is nothing left in it");
  return *parts_;
}

namespace {

io::ModelRequest request_of(const ModelOptions& options, std::vector<expr::OutsideFunction> functions) {
  io::ModelRequest request;
  request.functions = std::move(functions);
  request.variants = options.variants;
  for (const Setting& setting : options.set) request.set.push_back({setting.first, setting.second});
  return request;
}

}  // namespace

Model Model::load(const std::filesystem::path& file, const ModelOptions& options) {
  Model model;
  model.parts_->options = options;
  io::ModelRequest request = request_of(options, model.parts_->call_functions());
  request.file = file;
  model.parts_->take(io::load_model(request));
  model.parts_->folder = file.has_parent_path() ? file.parent_path() : ".";
  model.parts_->open();
  return model;
}

Model Model::from_text(std::string text, const ModelOptions& options) {
  Model model;
  model.parts_->options = options;
  const io::ModelRequest request = request_of(options, model.parts_->call_functions());
  model.parts_->take(io::load_model(io::read_model_text(std::move(text)), request));
  model.parts_->open();
  return model;
}

Model Model::from_spec(model::Spec spec, const ModelOptions& options) {
  Model model;
  model.parts_->name = "model";
  model.parts_->written = true;
  // Whoever fills a matrix means it; the flag is for files, where an empty one is an error.
  for (model::Matrix* matrix :
       {&spec.matrices.mass, &spec.matrices.damping, &spec.matrices.stiffness, &spec.matrices.load})
    matrix->given = matrix->given || !matrix->rows.empty() || !matrix->file.empty();
  model.parts_->spec = std::move(spec);
  model.parts_->options = options;
  for (expr::OutsideFunction& function : model.parts_->call_functions())
    model.parts_->spec.functions.push_back(std::move(function));
  model.parts_->compile();
  model.parts_->open();
  return model;
}

Model Model::with(const std::vector<Setting>& settings) const {
  Model model = folded(settings);
  Parts& parts = *model.parts_;
  parts.options.open = this->parts().options.open;
  for (const Setting& setting : settings)
    std::erase(parts.options.open, setting.first);  // from now on it has this value
  parts.open();
  return model;
}

Model Model::folded(const std::vector<Setting>& settings) const {
  Model model;
  Parts& parts = *model.parts_;
  const Parts& own = this->parts();
  parts.spec = own.spec;
  parts.name = own.name;
  parts.text = own.text;
  parts.folder = own.folder;
  parts.written = own.written;
  parts.options = own.options;
  parts.options.open.clear();
  for (const Setting& setting : settings) {
    std::erase_if(parts.options.set, [&](const Setting& old) { return old.first == setting.first; });
    parts.options.set.push_back(setting);
  }
  // The functions are copied with the options: this model may live longer than that one.
  std::vector<expr::OutsideFunction>& functions = parts.spec.functions;
  functions.erase(functions.end() - static_cast<std::ptrdiff_t>(parts.options.functions.size()),
                  functions.end());
  for (expr::OutsideFunction& function : parts.call_functions()) functions.push_back(std::move(function));
  parts.problems = parts.reader_problems = own.reader_problems;
  if (parts.reader_problems.empty()) parts.compile();
  return model;
}

bool Model::ok() const { return parts_ && parts_->compiled.system.has_value(); }
bool Model::opened() const { return parts().opened; }
const std::string& Model::problems() const { return parts().problems; }
const std::string& Model::title() const { return parts().compiled.title; }
const std::vector<std::string>& Model::columns() const { return parts().columns; }
const std::vector<Setting>& Model::parameters() const { return parts().compiled.parameters; }

double Model::parameter(std::string_view name) const {
  for (const Setting& parameter : parameters()) {
    if (parameter.first == name) return parameter.second;
  }
  throw std::out_of_range("the model has no parameter '" + std::string(name) + "'");
}

const model::Spec& Model::spec() const { return parts().spec; }

io::ModelRequest Model::request() const {
  io::ModelRequest request = request_of(parts().options, parts().spec.functions);
  request.file = parts().name;
  request.text = parts().written ? io::write_model(parts().spec) : parts().text;
  request.folder = parts().folder;
  return request;
}

const model::System& Model::system() const {
  if (!parts().compiled.system)
    throw std::logic_error("a model that is not ok() has no equations:\n" + problems());
  return *parts().compiled.system;
}

}  // namespace judder
