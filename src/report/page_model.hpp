// What a page takes from the model of a run, compiled again from its text: equations, drawing, names of works, friction cones.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::report {

struct PageModel {
  bool compiled = false;
  nlohmann::ordered_json equations = nlohmann::ordered_json::array();   ///< { name, math }
  nlohmann::ordered_json reactions = nlohmann::ordered_json::array();   ///< { contact, normal, tangent, mu }
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();  ///< { name, value, unit }
  nlohmann::ordered_json scene;                                         ///< null: no drawing
  std::vector<std::string> works;                                       ///< names of audit elements
  std::vector<std::string> coordinates, states;
};

/// `run` has the rows for the drawing.
[[nodiscard]] PageModel page_model(const std::string& model_text, const io::RunData& run,
                                   const std::atomic<bool>* cancel);

}  // namespace judder::report
