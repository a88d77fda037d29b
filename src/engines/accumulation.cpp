#include "accumulation.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

void Accumulation::push(const Entry& entry) {
  const auto keep = [&entry](std::vector<Entry>& list, std::size_t most) {
    if (list.capacity() == 0) list.reserve(most);
    if (list.size() == most) list.erase(list.begin());
    list.push_back(entry);
  };
  keep(entries_, kLongest * kTimes + 1);
  keep(recent_, 2 * kHalf);
  ++count_;
}

void Accumulation::clear() {
  finish_pattern();
  recent_.clear();
}

void Accumulation::finish_pattern() {
  entries_.clear();
  count_ = 0;
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
    out.jerk = std::abs(entries_[size - 1].acceleration - entries_[size - 1 - p].acceleration) /
               duration[kTimes - 1];
    out.height = entries_[size - 1].size * duration[kTimes - 1] / 4;
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
    for (std::size_t i = size - p; i < size && repeats; ++i)
      repeats = entries_[i].members == entries_[i - p].members;
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
    out.height = now.size * (now.time - before.time) / 4;
    return out;
  }
  return {};
}

Accumulation::Pattern Accumulation::cluster() const {
  if (recent_.size() < 2 * kHalf) return {};
  const Entry* entry = recent_.data();
  double earlier = 0;
  double later = 0;
  Pattern out;
  for (std::size_t i = 0; i < 2 * kHalf; ++i) {
    double& half = i < kHalf ? earlier : later;
    half = std::max(half, entry[i].size);
    out.members |= entry[i].members;
  }
  if (!(later < 0.7 * earlier)) return {};
  out.length = static_cast<int>(2 * kHalf);
  out.ratio = later / earlier;
  out.count = count_;
  out.height = earlier * (entry[2 * kHalf - 1].time - entry[0].time) / 4;
  return out;
}

// Every number is exact as a decimal: the members in two halves of 32 bits.
std::vector<double> Accumulation::save() const {
  std::vector<double> out{static_cast<double>(count_), static_cast<double>(entries_.size())};
  for (const std::vector<Entry>* list : {&entries_, &recent_}) {
    for (const Entry& entry : *list) {
      out.push_back(entry.time);
      out.push_back(static_cast<double>(entry.members >> 32U));
      out.push_back(static_cast<double>(entry.members & 0xFFFFFFFFULL));
      out.push_back(entry.size);
      out.push_back(entry.acceleration);
    }
  }
  return out;
}

void Accumulation::load(const std::vector<double>& memory) {
  clear();
  if (memory.size() < 2) return;
  count_ = static_cast<long>(memory[0]);
  const auto first = static_cast<std::size_t>(memory[1]);
  for (std::size_t i = 2; i + 4 < memory.size(); i += 5) {
    const auto members =
        (static_cast<std::uint64_t>(memory[i + 1]) << 32U) | static_cast<std::uint64_t>(memory[i + 2]);
    (entries_.size() < first ? entries_ : recent_)
        .push_back({memory[i], members, memory[i + 3], memory[i + 4]});
  }
}

}  // namespace judder::engines
