#include "accumulation.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

void Accumulation::push(const Entry& entry) {
  if (entries_.capacity() == 0) entries_.reserve(kLongest * kTimes + 2);
  if (entries_.size() == kLongest * kTimes + 1) entries_.erase(entries_.begin());
  entries_.push_back(entry);
  ++count_;
}

Accumulation::Pattern Accumulation::pattern() const {
  const std::size_t size = entries_.size();
  for (std::size_t p = 1; p <= kLongest && p * kTimes + 1 <= size; ++p) {
    bool repeats = true;
    for (std::size_t i = size - p * (kTimes - 1); i < size && repeats; ++i) {
      repeats = entries_[i].members == entries_[i - p].members;
    }
    if (!repeats) continue;
    double duration[kTimes];
    double measure[kTimes];
    for (std::size_t k = 0; k < kTimes; ++k) {
      const std::size_t end = size - 1 - (kTimes - 1 - k) * p;
      duration[k] = entries_[end].time - entries_[end - p].time;
      measure[k] = entries_[end].size;
    }
    const auto steady = [](const double* value, double slack, double& ratio) {
      if (!(value[kTimes - 1] > 0)) return false;
      ratio = value[kTimes - 1] / value[kTimes - 2];
      for (std::size_t k = 1; k + 1 < kTimes; ++k) {
        if (!(std::abs(value[k] / value[k - 1] - ratio) <= slack * ratio)) return false;
      }
      return true;
    };
    Pattern out;
    double ratio = 0;
    if (!steady(duration, 0.01, ratio)) continue;
    out.length = static_cast<int>(p);
    out.ratio = ratio;
    out.count = count_;
    for (std::size_t i = size - p; i < size; ++i) out.members |= entries_[i].members;
    out.jerk = std::abs(entries_[size - 1].acceleration - entries_[size - 1 - p].acceleration) / duration[kTimes - 1];
    if (ratio < 1 - 1e-3) {
      out.remaining = duration[kTimes - 1] * ratio / (1 - ratio);
      return out;
    }
    double shrink = 0;
    if (std::abs(ratio - 1) < 0.01 && steady(measure, 0.2, shrink) && shrink < 0.9) {
      out.equal_time = true;
      out.ratio = shrink;
      return out;
    }
  }
  return {};
}

Accumulation::Pattern Accumulation::early_pattern() const {
  const std::size_t size = entries_.size();
  for (std::size_t p = 1; p <= kLongest && 2 * p <= size; ++p) {
    bool repeats = true;
    for (std::size_t i = size - p; i < size && repeats; ++i) repeats = entries_[i].members == entries_[i - p].members;
    if (!repeats) continue;
    const Entry& now = entries_[size - 1];
    const Entry& before = entries_[size - 1 - p];
    const double ratio = now.size / before.size;
    if (!(ratio < 0.99)) return {};
    Pattern out;
    out.length = static_cast<int>(p);
    out.ratio = ratio;
    out.count = count_;
    out.remaining = (now.time - before.time) * ratio / (1 - ratio);
    for (std::size_t i = size - p; i < size; ++i) out.members |= entries_[i].members;
    out.jerk = std::abs(now.acceleration - before.acceleration) / (now.time - before.time);
    return out;
  }
  return {};
}

// Every number is exact as a decimal: the members in two halves of 32 bits.
std::vector<double> Accumulation::save() const {
  std::vector<double> out{static_cast<double>(count_)};
  for (const Entry& entry : entries_) {
    out.push_back(entry.time);
    out.push_back(static_cast<double>(entry.members >> 32U));
    out.push_back(static_cast<double>(entry.members & 0xFFFFFFFFULL));
    out.push_back(entry.size);
    out.push_back(entry.acceleration);
  }
  return out;
}

void Accumulation::load(const std::vector<double>& memory) {
  clear();
  if (memory.empty()) return;
  count_ = static_cast<long>(memory[0]);
  for (std::size_t i = 1; i + 4 < memory.size(); i += 5) {
    const auto members = (static_cast<std::uint64_t>(memory[i + 1]) << 32U) | static_cast<std::uint64_t>(memory[i + 2]);
    entries_.push_back({memory[i], members, memory[i + 3], memory[i + 4]});
  }
}

}  // namespace judder::engines
