// What a page knows of one run, as the JSON that web/src/data.ts reads.
#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"
#include "judder/io/run_head.hpp"
#include "report/page_model.hpp"

namespace judder::report {

/// How much of a run a page takes; the rest is thinned.
inline constexpr std::size_t kMostPageNumbers = 400'000;
inline constexpr std::size_t kMostPageRows = 40'000;
[[nodiscard]] std::size_t most_page_rows(const io::RunData& run);

/// The numbers of its plots, which a page carries as bytes: times, and the other columns one after the other.
struct RowNumbers {
  std::vector<double> times;
  std::vector<float> columns;
};

/// Extremes of the columns over all rows, to be found before any row is left out.
[[nodiscard]] nlohmann::ordered_json page_extremes(const io::RunData& run);

/// How it ended, verdict, events, loads, energies, columns: what follows from rows, events and run.json. `head` is the latter, `rows` how many the run has.
[[nodiscard]] nlohmann::ordered_json describe_run(const io::RunData& run, const nlohmann::ordered_json& head,
                                                  const io::RunHead& names, const ModelFacts& facts,
                                                  std::size_t rows, RowNumbers& numbers);

/// { name, dissipated, supplied } by element.
[[nodiscard]] nlohmann::ordered_json page_works(const ModelFacts& facts,
                                                const std::vector<double>& dissipated,
                                                const std::vector<double>& supplied);

struct PageRun {
  nlohmann::ordered_json json;
  std::string model_title;
  std::vector<std::vector<std::string>> plots;  ///< that the model asks for
  std::vector<std::string> problems;
};

/// Of a run folder.
[[nodiscard]] io::FileStatus page_run(const std::filesystem::path& folder, const std::atomic<bool>* cancel,
                                      PageRun& out);

}  // namespace judder::report
