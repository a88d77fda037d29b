// What a page takes from the model of a run: names, drawing, works, friction cones; and of a model text, compiled again, its equations.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::report {

/// What every run of a model shares.
struct ModelFacts {
  nlohmann::ordered_json reactions = nlohmann::ordered_json::array();  ///< { contact, normal, tangent, mu }
  nlohmann::ordered_json shapes = nlohmann::ordered_json::array();     ///< of the drawing, in its order
  std::vector<std::string> works;                                      ///< names of audit elements
  std::vector<std::string> coordinates, states;
};
[[nodiscard]] ModelFacts model_facts(const model::Spec& spec, const model::System& system);

/// The drawing at rows of a run: `numbers` for each of `times`.
struct SceneRows {
  std::size_t numbers = 0;
  std::vector<double> times;
  std::vector<float> values;
};
/// Empty where the rows do not tell the state.
[[nodiscard]] SceneRows scene_rows(const model::System& system, const io::RunData& run,
                                   const std::atomic<bool>* cancel);

/// { name, math }: equations as MathML, with the names of the parameters where they can be kept.
[[nodiscard]] nlohmann::ordered_json page_equations(const io::LoadedModel& model,
                                                    const io::ModelRequest& request);

struct PageModel {
  bool compiled = false;
  ModelFacts facts;
  SceneRows scene;
  nlohmann::ordered_json equations = nlohmann::ordered_json::array();
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();  ///< { name, value, unit }
};

/// Of the text in a run folder; `run` has the rows for the drawing.
[[nodiscard]] PageModel page_model(const std::string& model_text, const io::RunData& run,
                                   const std::atomic<bool>* cancel);

}  // namespace judder::report
