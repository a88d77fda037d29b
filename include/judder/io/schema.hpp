// The model file described for machines and for people, generated from the fields that also read it (src/io/fields.hpp).
//
// `model_schema` is committed as schema/model.schema.json (JSON Schema, draft 7) and `model_reference` as
// docs/model-file.md; a test keeps them equal. The schema knows keys, types, words and which keys belong together; names,
// scopes and mechanics are the compiler's.
#pragma once

#include <string>
#include <vector>

namespace judder::io {

[[nodiscard]] std::string model_schema();
[[nodiscard]] std::string model_reference();

/// Names of the engines that [run] accepts, in the order of the reference page.
[[nodiscard]] std::vector<std::string> model_engines();

}  // namespace judder::io
