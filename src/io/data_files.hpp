// Numbers from files beside a model: comma-separated values and Matrix Market.
//
// A model may name only files inside its own folder: a relative path without "..", which also after following symbolic
// links stays inside. Files above `kMaxDataBytes`, matrices above `kMaxEntries` and files that are not regular are refused.
//
// Matrix Market: coordinate or array; real or integer; general, symmetric or skew-symmetric (math.nist.gov/MatrixMarket).
// CSV: numbers, with an optional first row of names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace judder::io {

inline constexpr std::size_t kMaxDataBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxEntries = 250'000;

struct NumberTable {
  std::vector<std::vector<double>> rows;  ///< of equal length
  std::string problem;                    ///< empty, or "data.csv, line 3: …"
};

/// Reads `name` in `folder`; the form is known by the first line. An empty folder means that there is none.
[[nodiscard]] NumberTable read_number_file(const std::filesystem::path& folder, const std::string& name);

}  // namespace judder::io
