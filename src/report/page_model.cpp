#include "report/page_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_head.hpp"
#include "judder/model/equations.hpp"
#include "report/axis_label.hpp"
#include "report/html.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostFrames = 4000;
constexpr std::size_t kMostSceneNumbers = 400'000;
constexpr std::size_t kMostEquations = 200;
constexpr std::size_t kLongestFormula = 20'000;

constexpr std::array<const char*, 8> kShapeWords{"circle", "box",    "polygon", "line",
                                                 "spring", "ground", "belt",    "arrow"};

/// Of the columns "normal(NAME)" and "tangent(NAME)" those that belong together.
Json reactions_of(const model::Spec& spec, const model::System& system) {
  Json out = Json::array();
  model::Workspace work(system);
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  const auto column_of = [&spec](const std::string& text) -> std::string {
    for (const model::OutputColumn& column : spec.output.columns) {
      if (column.value.text.text == text) return column.name.text;
    }
    return {};
  };
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    const model::Relation& r = system.relations()[k];
    const std::string normal = column_of("normal(" + r.name + ")"),
                      tangent = column_of("tangent(" + r.name + ")");
    if (normal.empty() || tangent.empty() || r.tangents != 1) continue;
    Json one{{"contact", r.name}, {"normal", normal}, {"tangent", tangent}};
    if (r.law_constant && !r.smooth_friction)
      one["mu"] = system.rows(work, static_cast<int>(k)).tangent[0].mu_static;
    out.push_back(std::move(one));
  }
  return out;
}

/// Labels of the model as the letters that they are made of.
std::map<std::string, std::string> mathml_labels(const model::Spec& spec) {
  std::map<std::string, std::string> out;
  for (const io::ColumnLabel& each : io::labels_of(spec)) {
    if (!each.label.empty())
      out[each.column] = "<mi>" + html_text(printable_name(plain_label(each.label), 60)) + "</mi>";
  }
  return out;
}

Json equations_of(const model::Compiled& compiled, const model::Spec& spec, const std::atomic<bool>* cancel) {
  Json out = Json::array();
  const std::string open = "<math display=\"inline\"><mrow>", close = "</mrow></math>";
  for (const model::Equation& e :
       model::equations(compiled, expr::Notation::mathml, cancel, mathml_labels(spec))) {
    if (out.size() == kMostEquations) {
      out.push_back({{"name", "…"}, {"math", open + "<mtext>and more</mtext>" + close}});
      break;
    }
    const bool long_one = e.text.size() > kLongestFormula;
    out.push_back(
        {{"name", e.name},
         {"math", open + (long_one ? std::string("<mtext>too long to be shown</mtext>") : e.text) + close}});
  }
  return out;
}

/// Rows at which the drawing is evaluated: all, or as many as there is room for, with both limits at jumps.
std::vector<std::size_t> frames(const io::Column& time, std::size_t numbers) {
  const std::size_t rows = time.numbers.size();
  const std::size_t most =
      std::clamp<std::size_t>(kMostSceneNumbers / std::max<std::size_t>(1, numbers), 200, kMostFrames);
  std::vector<std::size_t> out;
  if (rows == 0) return out;
  const std::size_t stride = (rows + most - 1) / most;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool jump = (row > 0 && time.numbers[row] == time.numbers[row - 1]) ||
                      (row + 1 < rows && time.numbers[row] == time.numbers[row + 1]);
    if (row % stride == 0 || row + 1 == rows || (jump && stride < 8)) out.push_back(row);
  }
  return out;
}

Json shapes_of(const model::System& system) {
  Json shapes = Json::array();
  for (const model::DrawingInfo& d : system.drawings()) {
    Json one{{"shape", kShapeWords[static_cast<std::size_t>(d.shape)]},
             {"first", d.first},
             {"numbers", d.numbers}};
    if (d.relation >= 0) one["relation"] = system.relations()[static_cast<std::size_t>(d.relation)].name;
    if (d.shape == model::Shape::arrow) {
      const auto name = [&](int k) {
        return d.column[k] < 0 ? std::string() : system.columns()[static_cast<std::size_t>(d.column[k])].name;
      };
      one["force"] = {name(0), name(1)};
      one["sign"] = {d.sign[0], d.sign[1]};
    }
    shapes.push_back(std::move(one));
  }
  return shapes;
}

}  // namespace

ModelFacts model_facts(const model::Spec& spec, const model::System& system) {
  ModelFacts out;
  out.coordinates = system.coordinate_names();
  out.states = system.state_names();
  for (const model::AuditInfo& audit : system.audits()) out.works.push_back(audit.name);
  out.reactions = reactions_of(spec, system);
  out.shapes = shapes_of(system);
  return out;
}

SceneRows scene_rows(const model::System& system, const io::RunData& run, const std::atomic<bool>* cancel) {
  SceneRows out;
  const auto numbers = static_cast<std::size_t>(system.drawing_numbers());
  const io::Column* time = run.find("t");
  if (system.drawings().empty() || time == nullptr || !time->words.empty()) return out;
  const model::Layout& layout = system.layout();
  // Places in the inputs and the columns that fill them.
  std::vector<std::pair<std::size_t, const io::Column*>> inputs;
  const auto take = [&](int place, const std::string& name) {
    const io::Column* column = run.find(name);
    if (column == nullptr || !column->words.empty()) return false;
    inputs.emplace_back(static_cast<std::size_t>(place), column);
    return true;
  };
  bool all = take(layout.time(), "t");
  for (std::size_t i = 0; i < system.coordinate_names().size(); ++i)
    all = take(layout.q() + static_cast<int>(i), system.coordinate_names()[i]) && all;
  for (std::size_t i = 0; i < system.state_names().size(); ++i)
    all = take(layout.z() + static_cast<int>(i), system.state_names()[i]) && all;
  if (!all) return out;

  model::Workspace work(system);
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  std::vector<double> values(numbers);
  out.numbers = numbers;
  for (const std::size_t row : frames(*time, numbers)) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) break;
    for (const auto& [place, column] : inputs) work.in[place] = column->numbers[row];
    system.drawing_values(work, values.data());
    out.times.push_back(time->numbers[row]);
    const std::size_t at = out.values.size();
    out.values.resize(at + numbers);
    for (std::size_t k = 0; k < numbers; ++k) out.values[at + k] = static_cast<float>(values[k]);
  }
  return out;
}

Json page_equations(const io::LoadedModel& model, const io::ModelRequest& request) {
  std::vector<std::string> numbers;
  const io::LoadedModel letters = io::load_with_names(model.file, request, model, numbers);
  return equations_of(letters.ok() ? letters.compiled : model.compiled, model.file.spec, request.cancel);
}

PageModel page_model(const std::string& model_text, const io::RunData& run, const std::atomic<bool>* cancel) {
  PageModel out;
  io::ModelRequest request;
  request.cancel = cancel;
  const io::LoadedModel loaded = io::load_model(io::read_model_text(model_text), request);
  if (!loaded.ok()) return out;
  const model::System& system = *loaded.compiled.system;
  out.compiled = true;
  out.facts = model_facts(loaded.file.spec, system);
  for (const auto& [name, value] : loaded.compiled.parameters) {
    Json one{{"name", name}, {"value", to_text(value)}};
    for (const model::Parameter& p : loaded.file.spec.parameters) {
      if (p.name.text == name && !p.unit.empty()) one["unit"] = p.unit.text;
    }
    out.parameters.push_back(std::move(one));
  }
  out.equations = page_equations(loaded, request);
  out.scene = scene_rows(system, run, cancel);
  return out;
}

}  // namespace judder::report
