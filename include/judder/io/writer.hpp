// Writes a Spec as a model file. Reading the text again gives the same Spec (places in the file apart): values keep their
// spelling, numbers are the shortest that read back, data files stay named and are not copied. Comments of a file that was
// read are not kept.
#pragma once

#include <string>

#include "judder/model/spec.hpp"

namespace judder::io {

[[nodiscard]] std::string write_model(const model::Spec& spec);

/// A text as a TOML string: "…" with escapes, or """…""" if it has several lines.
[[nodiscard]] std::string toml_string(const std::string& text);

}  // namespace judder::io
