#include "judder/analysis/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace judder::analysis {
namespace {

using engines::Event;
using simulate::MemorySink;

bool same(const Event& a, const Event& b) {
  return a.kind == b.kind && a.place == b.place && a.on_switch == b.on_switch;
}

/// Tells whether a time lies between the two times of one of the first `count` events; asked with ascending times.
class Jumps {
 public:
  Jumps(const MemorySink& a, const MemorySink& b, std::size_t count) : a_(a), b_(b), count_(count) {}
  bool contain(double time) {
    while (next_ < count_ && std::max(a_.events[next_].time, b_.events[next_].time) < time) ++next_;
    return next_ < count_ && std::min(a_.events[next_].time, b_.events[next_].time) <= time;
  }

 private:
  const MemorySink& a_;
  const MemorySink& b_;
  std::size_t count_;
  std::size_t next_ = 0;
};

}  // namespace

RunDifference difference(const model::System& system, const MemorySink& a, const MemorySink& b) {
  RunDifference out;
  const std::size_t events = std::min(a.events.size(), b.events.size());
  while (out.events < events && same(a.events[out.events], b.events[out.events])) {
    const double apart = std::abs(a.events[out.events].time - b.events[out.events].time);
    if (apart > out.largest_time) {
      out.largest_time = apart;
      out.event = out.events;
    }
    ++out.events;
  }
  out.events_agree = out.events == a.events.size() && out.events == b.events.size();

  const int own = 1 + system.layout().integrated();
  std::vector<std::size_t> columns;
  std::vector<double> least, most;
  for (std::size_t c = 1; c < a.width; ++c) {
    const bool words =
        static_cast<int>(c) >= own && system.columns()[c - static_cast<std::size_t>(own)].mode_of >= 0;
    if (words) continue;
    columns.push_back(c);
    out.columns.push_back({a.names[c]});
    least.push_back(INFINITY);
    most.push_back(-INFINITY);
  }
  Jumps jumps(a, b, out.events);
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    if (a.kinds[i] != engines::RowKind::sample) continue;
    const double time = a.cell(i, 0);
    while (j < b.rows() && b.cell(j, 0) < time) ++j;
    if (j == b.rows()) break;
    if (b.cell(j, 0) != time || b.kinds[j] != engines::RowKind::sample || jumps.contain(time)) continue;
    ++out.samples;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double x = a.cell(i, columns[k]);
      const double apart = std::abs(x - b.cell(j, columns[k]));
      least[k] = std::min(least[k], x);
      most[k] = std::max(most[k], x);
      if (apart > out.columns[k].largest) {
        out.columns[k].largest = apart;
        out.columns[k].time = time;
      }
    }
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    out.columns[k].range = out.samples > 0 ? most[k] - least[k] : 0;
    out.columns[k].size = out.samples > 0 ? std::max(std::abs(most[k]), std::abs(least[k])) : 0;
  }
  return out;
}

}  // namespace judder::analysis
