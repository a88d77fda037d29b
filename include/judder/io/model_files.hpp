// The files that a model consists of, besides its text.
#pragma once

#include <set>
#include <string>

#include "judder/model/spec.hpp"

namespace judder::io {

/// Data files that the model names, as they stand in its text: relative to its folder.
[[nodiscard]] std::set<std::string> data_files(const model::Spec& spec);

}  // namespace judder::io
