// What a page knows of one run, as the JSON that web/src/data.ts reads.
#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::report {

struct PageRun {
  nlohmann::ordered_json json;
  std::string model_title;
  std::vector<std::vector<std::string>> plots;  ///< that the model asks for
  std::vector<std::string> problems;
};

[[nodiscard]] io::FileStatus page_run(const std::filesystem::path& folder, const std::atomic<bool>* cancel,
                                      PageRun& out);

}  // namespace judder::report
