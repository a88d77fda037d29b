#include "judder/io/run_past.hpp"

#include <algorithm>

#include "judder/core/number.hpp"

namespace judder::io {

// A list stays of bounded length, however often a run is taken up.
constexpr std::size_t kMostFindings = 256;

namespace {

enum class Kind { as_asked, too_many, motion };

Kind kind(Reason reason) {
  switch (reason) {
    case Reason::done:
    case Reason::watch:
    case Reason::periodic:
    case Reason::accumulation:
    case Reason::laws_violated:  // told at the end of a run that came to it
      return Kind::as_asked;
    case Reason::too_many_events:
      return Kind::too_many;
    default:
      return Kind::motion;
  }
}

}  // namespace

bool RunEnd::goes_on(const RunLimits& now) const {
  switch (kind(status.reason)) {
    case Kind::as_asked:
      return now.until > asked.until;
    case Kind::too_many:
      return now.max_events > asked.max_events;
    case Kind::motion:
      break;
  }
  return now.tolerance != asked.tolerance || now.step != asked.step || now.max_step != asked.max_step;
}

std::string RunEnd::more() const {
  switch (kind(status.reason)) {
    case Kind::as_asked:
      return "a later end than t = " + to_text(asked.until) + " (--until)" +
             (status.reason == Reason::periodic ? ", or no --until-periodic, with --accept-changes" : "");
    case Kind::too_many:
      return "a higher 'max_events' than " + std::to_string(asked.max_events) + " in [run]";
    case Kind::motion:
      break;
  }
  return "another tolerance or step, or other parameters (--accept-changes)";
}

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
