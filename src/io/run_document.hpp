// run.json as a document, for who reads on in it: its text is long, and reading numbers back costs more than a short run.
#pragma once

#include <nlohmann/json.hpp>

#include "judder/io/json.hpp"

namespace judder::io {

/// As the text of run_json(), without the points of the curve.
[[nodiscard]] nlohmann::ordered_json run_document(const RunSummary& summary);

}  // namespace judder::io
