#include "judder/io/run_past.hpp"

#include <algorithm>

namespace judder::io {

// A list stays of bounded length, however often a run is taken up.
constexpr std::size_t kMostFindings = 256;

Verdict joined(const Verdict& earlier, const Verdict& later) {
  Verdict out = earlier;
  out.judged = earlier.judged || later.judged;
  for (const LawRecord& record : later.laws) {
    const auto known = std::find_if(out.laws.begin(), out.laws.end(),
                                    [&](const LawRecord& each) { return each.law == record.law; });
    if (known == out.laws.end()) {
      out.laws.push_back(record);
      continue;
    }
    known->checks += record.checks;
    known->worst = std::max(known->worst, record.worst);
  }
  for (const Finding& finding : later.findings) {
    const auto known = std::find_if(out.findings.begin(), out.findings.end(), [&](const Finding& each) {
      return each.law == finding.law && each.place == finding.place;
    });
    if (known == out.findings.end()) {
      if (out.findings.size() < kMostFindings)
        out.findings.push_back(finding);
      else
        ++out.not_kept;
      continue;
    }
    known->count += finding.count;
    if (finding.worst_ratio > known->worst_ratio) {
      known->worst_ratio = finding.worst_ratio;
      known->worst_time = finding.worst_time;
      known->worst_amount = finding.worst_amount;
    }
  }
  out.not_kept += later.not_kept;
  return out;
}

}  // namespace judder::io
