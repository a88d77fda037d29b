// What a judge of a finished run has to say: plain numbers and names, so that every layer can hand it on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace judder {

/// One law: how often it was checked, and the largest departure seen relative to what is allowed.
struct LawRecord {
  std::string law;
  std::uint64_t checks = 0;
  double worst = 0;
};

/// A law that a run breaks at one place (an element, a coordinate, a switch).
struct Finding {
  std::string law;
  std::string place;
  double time = 0;   ///< of the first departure
  double ratio = 0;  ///< its size relative to what is allowed
  double worst_time = 0;
  double worst_ratio = 0;
  double worst_amount = 0;  ///< in the unit of the law
  std::uint64_t count = 0;
};

struct Verdict {
  bool judged = false;
  std::vector<LawRecord> laws;    ///< those that were checked at least once
  std::vector<Finding> findings;  ///< in the order in which they were met
  std::uint64_t not_kept = 0;     ///< findings beyond those listed

  [[nodiscard]] bool silent() const { return findings.empty(); }
};

}  // namespace judder
