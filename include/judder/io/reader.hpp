// Reads a model file (TOML, docs/model-file.md) into a Spec.
//
// All problems of the file are reported, each with its bytes; what could be read is in the Spec nevertheless, so that
// `compile` can find the problems of the equations in the same go. Keys that do not exist are errors with a suggestion.
// Coordinates, elements and columns keep the order of the file. Nothing is evaluated here: a value is a number or the text
// of an expression, with a map from its characters to the bytes of the file.
//
// Data files are read from the folder of the model file and below, never from elsewhere. Limits: 4 MiB of text, 100 000
// values, 64 levels of nesting, 16 MiB per data file, 250 000 numbers per matrix, 100 messages.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/model/spec.hpp"

namespace judder::io {

struct ModelFile {
  std::string name;  ///< the file as it was named, for messages
  std::string text;  ///< its bytes; spans of the diagnostics refer to them
  model::Spec spec;  ///< what could be read
  Diagnostics diagnostics;
  bool opened = true;  ///< false: the file could not be read at all (one diagnostic says why)
  bool parsed = true;  ///< false: not TOML, or too large; `spec` is empty

  // What is missing from `spec` because of an error, so that nobody complains about it again.
  std::vector<std::string> refused;  ///< names of parameters, coordinates, … that could not be read
  std::vector<Span> damaged;         ///< elements that lack something which could not be read
  bool lost_table = false;           ///< a table at the top that nobody knows: what it says is missing
};

[[nodiscard]] ModelFile read_model(const std::filesystem::path& file);

/// The same from a text. `folder` is where its data files are; without one they are errors.
[[nodiscard]] ModelFile read_model_text(std::string text, std::string name = "model",
                                        const std::filesystem::path& folder = {});

}  // namespace judder::io
