// Numbers from files beside a model: comma-separated values and Matrix Market.
//
// A model may name only files inside its own folder: a relative path without "..", which also after following symbolic
// links stays inside. Files above `kMaxDataBytes`, matrices above `kMaxEntries` and files that are not regular are refused.
//
// Matrix Market: coordinate or array; real or integer; general, symmetric or skew-symmetric (math.nist.gov/MatrixMarket).
// CSV: numbers, with an optional first row of names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judder/model/spec.hpp"

namespace judder::io {

inline constexpr std::size_t kMaxDataBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxEntries = 250'000;
/// Listed entries of a sparse matrix, both triangles counted.
inline constexpr std::size_t kMaxNonzeros = 1'000'000;
/// Rows and columns of a sparse matrix.
inline constexpr std::size_t kMaxSparseSize = 100'000;
/// Of all data of one model together. A file that is named twice counts twice: each name is a list, table or matrix of its own.
inline constexpr std::size_t kMaxEntriesOfModel = 4 * kMaxEntries;

struct NumberTable {
  std::vector<std::vector<double>> rows;  ///< of equal length
  std::string problem;                    ///< empty, or "data.csv, line 3: …"
  // A matrix in coordinate form, where it may stay sparse: `rows` is empty then.
  bool sparse = false;
  int row_count = 0, column_count = 0;
  std::vector<model::MatrixEntry> entries;  ///< by rows, each place once
};

/// Reads `name` in `folder`; the form is known by the first line. An empty folder means that there is none. With `keep_sparse` a matrix in
/// coordinate form keeps its listed entries, of which there may be kMaxNonzeros; else it is filled up with zeros.
[[nodiscard]] NumberTable read_number_file(const std::filesystem::path& folder, const std::string& name,
                                           bool keep_sparse = false);

/// The data files of one model, each read once however often it is named.
class DataFiles {
 public:
  explicit DataFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// What read_number_file gives; a problem as well when the model has come to more than kMaxEntriesOfModel.
  [[nodiscard]] NumberTable read(const std::string& name, bool keep_sparse = false);

 private:
  std::filesystem::path folder_;
  std::map<std::pair<std::filesystem::path, bool>, NumberTable>
      known_{};  ///< by the path without links; problems without the name
  std::size_t entries_ = 0;
};

}  // namespace judder::io
