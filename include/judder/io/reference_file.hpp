// Reads gallery/NAME/reference.toml (docs/reference-file.md) into the values that `analysis::verify` compares with.
//
// Strict: unknown keys, wrong types, two quantities in one value, or none, are errors with their place. Expressions are checked when they are
// evaluated, with the parameters of the run.
#pragma once

#include <filesystem>
#include <string>

#include "judder/analysis/verify.hpp"
#include "judder/core/diagnostics.hpp"

namespace judder::io {

struct ReferenceFile {
  std::string name;  ///< the file as it was named
  std::string text;
  analysis::Reference reference;
  Diagnostics diagnostics;
};

/// The reference.toml of the folder in which a model stands, be it there or not.
[[nodiscard]] std::filesystem::path reference_beside(const std::filesystem::path& model);
[[nodiscard]] ReferenceFile read_reference(const std::filesystem::path& file);
[[nodiscard]] ReferenceFile read_reference_text(std::string text, std::string name = "reference");

}  // namespace judder::io
