// What run.json says about a run, as far as pictures and pages need it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judder/model/spec.hpp"

namespace judder::io {

/// What the model says about a column for pictures.
struct ColumnLabel {
  std::string column;
  std::string label;  ///< LaTeX; may be empty
  std::string unit;   ///< may be empty
};

struct RunHead {
  std::string file;         ///< of the model, as it was given
  std::string title;        ///< of the run: the variant's, else the model's, else its file
  std::string model_title;  ///< of the model, whatever the variant; may be empty
  std::vector<std::string> variants;
  std::vector<std::string> settings;  ///< "mu=0.3"
  std::string engine;
  std::vector<std::vector<std::string>> plots;  ///< [output] plots of the model
  std::vector<ColumnLabel> labels;              ///< of columns that have a label or a unit
};

/// Of coordinates and output columns.
[[nodiscard]] std::vector<ColumnLabel> labels_of(const model::Spec& spec);

/// Reads the text of a run.json; what is missing there stays empty, also for a text that is no JSON.
[[nodiscard]] RunHead read_run_head(std::string_view run_json);

}  // namespace judder::io
