#include "judder/io/sweep_json.hpp"

#include "io/json_values.hpp"

namespace judder::io {

std::string sweep_json(const SweepSummary& summary) {
  nlohmann::ordered_json out;
  out["table"] = summary.table;
  out["members"] = summary.members;
  out["made"] = summary.made;
  out["failed"] = summary.failed;
  if (!summary.first_failure.empty()) out["first_failure"] = summary.first_failure;
  out["seconds"] = json_number(summary.seconds);
  out["compile_seconds"] = json_number(summary.compile_seconds);
  out["per_second"] =
      json_number(summary.seconds > 0 ? static_cast<double>(summary.made) / summary.seconds : 0);
  return out.dump(2) + "\n";
}

}  // namespace judder::io
