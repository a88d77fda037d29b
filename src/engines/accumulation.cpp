#include "accumulation.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::engines {

namespace {

// Both are ascending.
void unite(Members& into, const Members& others) {
  for (const int member : others) {
    const auto place = std::lower_bound(into.begin(), into.end(), member);
    if (place == into.end() || *place != member) into.insert(place, member);
  }
}

constexpr long kMostCount = 1L << 53;  // that a double counts

// Saved members: how many, then each. Every number is exact as a decimal.
void append(std::vector<double>& out, const Members& members) {
  out.push_back(static_cast<double>(members.size()));
  for (const int member : members) out.push_back(member);
}

}  // namespace

bool contains(const Members& members, int member) {
  return std::binary_search(members.begin(), members.end(), member);
}

void Accumulation::Pattern::clear() {
  length = 0;
  ratio = remaining = jerk = height = size = 0;
  equal_time = false;
  members.clear();
  count = 0;
}

void Accumulation::Recent::push(const Entry& entry) {
  if (size_ == most_) {
    std::rotate(slots_.begin(), slots_.begin() + 1, slots_.end());
  } else {
    ++size_;
    if (slots_.size() < size_) slots_.emplace_back();
  }
  slots_[size_ - 1] = entry;
}

void Accumulation::push(const Entry& entry) {
  entries_.push(entry);
  recent_.push(entry);
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

bool Accumulation::pattern(Pattern& out) const {
  out.clear();
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
    double ratio = 0;
    if (!steady(duration, 0.01, ratio)) continue;
    out.length = static_cast<int>(p);
    out.ratio = ratio;
    out.count = count_;
    for (std::size_t i = size - p; i < size; ++i) unite(out.members, entries_[i].members);
    out.jerk = std::abs(entries_[size - 1].acceleration - entries_[size - 1 - p].acceleration) /
               duration[kTimes - 1];
    out.size = entries_[size - 1].size;
    out.height = out.size * duration[kTimes - 1] / 4;
    if (ratio < 1 - 1e-3) {
      out.remaining = duration[kTimes - 1] * ratio / (1 - ratio);
      return true;
    }
    double shrink = 0;
    if (std::abs(ratio - 1) < 0.01 && steady(measure, 0.2, shrink) && shrink < 0.9) {
      out.equal_time = true;
      out.ratio = shrink;
      return true;
    }
    out.clear();
  }
  return false;
}

bool Accumulation::early_pattern(Pattern& out) const {
  out.clear();
  const std::size_t size = entries_.size();
  for (std::size_t p = 1; p <= kLongest && 2 * p <= size; ++p) {
    bool repeats = true;
    for (std::size_t i = size - p; i < size && repeats; ++i)
      repeats = entries_[i].members == entries_[i - p].members;
    if (!repeats) continue;
    const Entry& now = entries_[size - 1];
    const Entry& before = entries_[size - 1 - p];
    const double ratio = now.size / before.size;
    if (!(ratio < 0.99)) return false;
    out.length = static_cast<int>(p);
    out.ratio = ratio;
    out.count = count_;
    out.remaining = (now.time - before.time) * ratio / (1 - ratio);
    for (std::size_t i = size - p; i < size; ++i) unite(out.members, entries_[i].members);
    out.jerk = std::abs(now.acceleration - before.acceleration) / (now.time - before.time);
    out.height = now.size * (now.time - before.time) / 4;
    out.size = now.size;
    return true;
  }
  return false;
}

bool Accumulation::cluster(Pattern& out) const {
  out.clear();
  if (recent_.size() < 2 * kHalf) return false;
  double earlier = 0;
  double later = 0;
  for (std::size_t i = 0; i < 2 * kHalf; ++i) {
    double& half = i < kHalf ? earlier : later;
    half = std::max(half, recent_[i].size);
    unite(out.members, recent_[i].members);
  }
  if (!(later < 0.7 * earlier)) {
    out.clear();
    return false;
  }
  out.length = static_cast<int>(2 * kHalf);
  out.ratio = later / earlier;
  out.count = count_;
  out.size = recent_[2 * kHalf - 1].size;
  out.height = earlier * (recent_[2 * kHalf - 1].time - recent_[0].time) / 4;
  return true;
}

// Count, number of entries of the pattern; then each entry: time, size, acceleration, members.
std::vector<double> Accumulation::save() const {
  std::vector<double> out{static_cast<double>(count_), static_cast<double>(entries_.size())};
  for (const Recent* list : {&entries_, &recent_}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Entry& entry = (*list)[i];
      out.insert(out.end(), {entry.time, entry.size, entry.acceleration});
      append(out, entry.members);
    }
  }
  return out;
}

void Accumulation::load(std::span<const double> memory, int places) {
  clear();
  if (memory.size() < 2) return;
  const auto count = whole_number(memory[0], 0, kMostCount);
  const auto first = whole_number(memory[1], 0, kMostCount);
  if (!count || !first) return;
  count_ = *count;
  Entry entry;
  for (std::size_t i = 2; i + 3 < memory.size();) {
    entry.time = memory[i];
    entry.size = memory[i + 1];
    entry.acceleration = memory[i + 2];
    i += 4;
    const auto members = whole_number(memory[i - 1], 0, static_cast<long>(memory.size() - i));
    if (!members) return;
    entry.members.clear();
    for (long k = 0; k < *members; ++k) {
      const auto member = whole_number(memory[i++], 0, places - 1L);
      if (!member) return;
      entry.members.push_back(static_cast<int>(*member));
    }
    (entries_.size() < static_cast<std::size_t>(*first) ? entries_ : recent_).push(entry);
  }
}

Accumulations::Accumulations(int blocks, std::span<const int> block_of)
    : block_of_(block_of.begin(), block_of.end()),
      block_(static_cast<std::size_t>(blocks)),
      entry_(static_cast<std::size_t>(blocks)) {
  present_.reserve(static_cast<std::size_t>(blocks));
}

void Accumulations::clear() {
  for (Accumulation& block : block_) block.clear();
  present_.clear();
}

void Accumulations::begin(double time) {
  time_ = time;
  present_.clear();
}

void Accumulations::add(int relation, double speed, double acceleration) {
  const int block = block_of_[relation];
  Accumulation::Entry& entry = entry_[block];
  if (std::find(present_.begin(), present_.end(), block) == present_.end()) {
    present_.push_back(block);
    entry.time = time_;
    entry.size = 0;
    entry.members.clear();
  }
  entry.members.push_back(relation);
  entry.size = std::max(entry.size, speed);
  entry.acceleration = acceleration;
}

void Accumulations::end() {
  for (const int block : present_) block_[block].push(entry_[block]);
}

bool Accumulations::pattern(Accumulation::Pattern& out) {
  out.clear();
  for (const int number : present_) {
    const Accumulation& block = block_[number];
    if (!block.pattern(one_) && !block.early_pattern(one_) && !block.cluster(one_)) {
      out.clear();
      return false;
    }
    if (out.length > 0 && out.equal_time != one_.equal_time) {
      out.clear();
      return false;
    }
    out.length = std::max(out.length, one_.length);
    out.ratio = std::max(out.ratio, one_.ratio);
    out.remaining = std::max(out.remaining, one_.remaining);
    out.equal_time = one_.equal_time;
    unite(out.members, one_.members);
    out.jerk = std::max(out.jerk, one_.jerk);
    out.count = std::max(out.count, one_.count);
    out.height = std::max(out.height, one_.height);
    out.size = std::max(out.size, one_.size);
  }
  return out.length > 0;
}

void Accumulations::finish_pattern() {
  for (const int block : present_) block_[block].finish_pattern();
}

// For each block with a memory: its number, how many numbers follow, and these.
std::vector<double> Accumulations::save() const {
  std::vector<double> out;
  for (std::size_t block = 0; block < block_.size(); ++block) {
    if (block_[block].empty()) continue;
    const std::vector<double> memory = block_[block].save();
    out.push_back(static_cast<double>(block));
    out.push_back(static_cast<double>(memory.size()));
    out.insert(out.end(), memory.begin(), memory.end());
  }
  return out;
}

void Accumulations::load(std::span<const double> memory) {
  clear();
  while (memory.size() >= 2) {
    const auto block = whole_number(memory[0], 0, static_cast<long>(block_.size()) - 1);
    const auto length = whole_number(memory[1], 0, static_cast<long>(memory.size()) - 2);
    if (!block || !length) return;
    memory = memory.subspan(2);
    block_[*block].load(memory.first(*length), static_cast<int>(block_of_.size()));
    memory = memory.subspan(*length);
  }
}

}  // namespace judder::engines
