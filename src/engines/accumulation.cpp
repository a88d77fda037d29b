#include "accumulation.hpp"

#include <algorithm>
#include <cmath>

#include "core/convert.hpp"
#include "core/elementary.hpp"
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

constexpr double kPresent =
    -1;  // in a memory, where the number of a block stands: the blocks of the last instant

// Saved members: how many, then each. Every number is exact as a decimal.
void append(std::vector<double>& out, const Members& members) {
  out.push_back(static_cast<double>(members.size()));
  for (const int member : members) out.push_back(member);
}

bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

}  // namespace

bool contains(const Members& members, int member) {
  return std::binary_search(members.begin(), members.end(), member);
}

void Accumulation::Pattern::clear() {
  length = 0;
  ratio = duration = remaining = doubt = jerk = height = size = time = since = pushed = 0;
  equal_time = false;
  members.clear();
  around.clear();
  change.clear();
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
  forget_old();
  recent_.push(entry);
  recent_.at(recent_.size() - 1).smooth.clear();
  ++count_;
}

// What moved farther back than a pattern reaches.
void Accumulation::forget_old() {
  if (entries_.size() < kLongest + 2) return;
  Entry& old = entries_.at(entries_.size() - kLongest - 2);
  old.smooth.clear();
  old.jump.clear();
}

void Accumulation::jumped(std::span<const double> jump) {
  if (entries_.size() > 0) entries_.at(entries_.size() - 1).jump.assign(jump.begin(), jump.end());
}

void Accumulation::clear() {
  finish_pattern();
  recent_.clear();
}

void Accumulation::finish_pattern() {
  entries_.clear();
  count_ = 0;
}

void Accumulation::look_around(Pattern& out) const {
  const std::size_t size = recent_.size();
  out.time = recent_[size - 1].time;
  for (std::size_t i = 0; i < size; ++i) unite(out.around, recent_[i].members);
}

// What happened from before the impact `first` to before the impact `last`. False: that is not remembered.
bool Accumulation::look_back(std::size_t first, std::size_t last, Change& out) const {
  const std::vector<double>& from = entries_[first].smooth;
  const std::vector<double>& to = entries_[last].smooth;
  out.clear();
  if (from.empty() || from.size() != to.size() || entries_[first].jump.empty()) return false;
  out.all.resize(to.size());
  out.terms.resize(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    out.all[i] = to[i] - from[i];
    out.terms[i] = std::abs(to[i]) + std::abs(from[i]);
  }
  for (std::size_t k = first; k < last; ++k) {
    const std::vector<double>& jump = entries_[k].jump;
    out.jump.resize(jump.size(), 0.0);
    for (std::size_t i = 0; i < jump.size(); ++i) {
      out.all[i] += jump[i];
      out.terms[i] += std::abs(jump[i]);
      out.jump[i] += jump[i];
    }
  }
  return true;
}

// What the last occurrence has changed, at the mean rates that it has at its end: those of the last two are in their middles.
void Accumulation::look_back(Pattern& out) const {
  const std::size_t last = entries_.size() - 1;
  const auto p = static_cast<std::size_t>(out.length);
  out.since = entries_[last - 1].time;
  if (!look_back(last - p, last, out.change) || last < 2 * p) return;
  for (std::size_t i = last - p; i < last; ++i) {
    if (entries_[i].members != entries_[i - p].members) return;
  }
  if (!look_back(last - 2 * p, last - p, out.earlier)) return;
  const double now = entries_[last].time - entries_[last - p].time;
  const double before = entries_[last - p].time - entries_[last - 2 * p].time;
  const double share = now / (now + before);
  for (std::size_t i = 0; i < out.change.all.size(); ++i) {
    out.change.all[i] += share * (out.change.all[i] - now / before * out.earlier.all[i]);
    out.change.terms[i] += share * (out.change.terms[i] + now / before * out.earlier.terms[i]);
  }
}

double Accumulation::largest_acceleration(const Recent& list, std::size_t count) {
  double most = 0;
  for (std::size_t i = list.size() - count; i < list.size(); ++i)
    most = std::max(most, std::abs(list[i].acceleration));
  return most;
}

bool Accumulation::together(int a, int b) const {
  for (std::size_t i = recent_.size(); i-- > 0;) {
    if (contains(recent_[i].members, a)) return contains(recent_[i].members, b);
  }
  return false;
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
    if (!steady(duration, kSteady, ratio)) continue;
    out.length = static_cast<int>(p);
    out.ratio = ratio;
    out.count = count_;
    for (std::size_t i = size - p; i < size; ++i) unite(out.members, entries_[i].members);
    out.jerk = std::abs(entries_[size - 1].acceleration - entries_[size - 1 - p].acceleration) /
               duration[kTimes - 1];
    out.size = entries_[size - 1].size;
    look_around(out);
    out.height = out.size * duration[kTimes - 1] / 4;
    out.duration = duration[kTimes - 1];
    look_back(out);
    if (ratio < 1 - 1e-3) {
      out.remaining = duration[kTimes - 1] * ratio / (1 - ratio);
      // How far the end comes that the occurrence before foretold, if it goes on moving as in the last one.
      const double before = duration[kTimes - 2] / duration[kTimes - 3];
      const double foretold = duration[kTimes - 2] * before / (1 - before);
      out.doubt = std::abs(duration[kTimes - 1] + out.remaining - foretold) / (1 - ratio);
      out.pushed = (duration[kTimes - 1] + out.remaining) * largest_acceleration(entries_, p);
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

// Hops that shrink ever more slowly, 1 − r = c Δᵅ: a restitution that grows to 1 with decreasing speed. By Euler's sum formula
// R = Δ/((1 − α)(1 − r)) − Δ (1 + α/2), where r is the next ratio. What α is to be is told by all ratios that are remembered and by the older half of them.
void Accumulation::slow_end(Pattern& out, double instant) const {
  const std::size_t size = entries_.size();
  const auto length = static_cast<std::size_t>(out.length);
  std::size_t first = size - 1 - length;
  while (first >= length && entries_[first].members == entries_[first - length].members) first -= length;
  const std::size_t count = (size - 1 - first) / length;
  if (count < kLongest) return;
  const auto duration = [&](std::size_t k) {
    return entries_[first + (k + 1) * length].time - entries_[first + k * length].time;
  };
  const auto lack = [&](std::size_t k) { return 1 - duration(k + 1) / duration(k); };
  const auto exponent = [&](std::size_t to) {
    return elementary::log(lack(to) / lack(0)) / elementary::log(duration(to) / duration(0));
  };
  const double last = duration(count - 1);
  const auto rest = [&](double alpha) {
    const double next = lack(count - 2) * elementary::pow(last / duration(count - 2), alpha);
    return last / ((1 - alpha) * next) - last * (1 + alpha / 2);
  };
  const double alpha = exponent(count - 2);
  const double other = exponent(count / 2);
  if (!(alpha > 0 && alpha < 1 && other > 0 && other < 1)) return;
  // A duration is known to two instants, so is 1 − r in relation to it at both ends, and α by what that is of the logarithm of the durations.
  const double blur =
      4 * instant / (last * lack(count - 2)) / -elementary::log(duration(count / 2) / duration(0));
  const double remaining = rest(alpha);
  const double doubt = std::max(0.0, std::abs(remaining - rest(other)) - blur * remaining / (1 - alpha));
  if (!(doubt < out.doubt)) return;
  out.remaining = remaining;
  out.doubt = doubt;
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
    out.duration = now.time - before.time;
    for (std::size_t i = size - p; i < size; ++i) unite(out.members, entries_[i].members);
    out.jerk = std::abs(now.acceleration - before.acceleration) / (now.time - before.time);
    out.height = now.size * (now.time - before.time) / 4;
    out.size = now.size;
    look_around(out);
    out.pushed = (now.time - before.time + out.remaining) * largest_acceleration(entries_, p);
    look_back(out);
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
  look_around(out);
  out.height = earlier * (recent_[2 * kHalf - 1].time - recent_[0].time) / 4;
  out.duration = recent_[2 * kHalf - 1].time - recent_[kHalf - 1].time;
  out.pushed = (recent_[2 * kHalf - 1].time - recent_[0].time) * largest_acceleration(recent_, 2 * kHalf);
  return true;
}

// Count, number of entries of the pattern; then each entry: time, size, acceleration, members, what moved and jumped.
std::vector<double> Accumulation::save() const {
  std::vector<double> out{static_cast<double>(count_), static_cast<double>(entries_.size())};
  for (const Recent* list : {&entries_, &recent_}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Entry& entry = (*list)[i];
      out.insert(out.end(), {entry.time, entry.size, entry.acceleration});
      append(out, entry.members);
      for (const std::vector<double>* numbers : {&entry.smooth, &entry.jump}) {
        out.push_back(static_cast<double>(numbers->size()));
        out.insert(out.end(), numbers->begin(), numbers->end());
      }
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
    for (std::vector<double>* numbers : {&entry.smooth, &entry.jump}) {
      if (i >= memory.size()) return;
      const auto many = whole_number(memory[i], 0, static_cast<long>(memory.size() - i) - 1);
      if (!many) return;
      const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      numbers->assign(begin, begin + *many);
      i += static_cast<std::size_t>(*many) + 1;
    }
    (entries_.size() < static_cast<std::size_t>(*first) ? entries_ : recent_).push(entry);
  }
}

bool Accumulation::readable(std::span<const double> memory, int places, std::size_t moving,
                            std::size_t velocities) {
  const auto whole = [](double value, long least, long most) {
    return value == std::floor(value) ? whole_number(value, least, most) : std::nullopt;
  };
  constexpr long kMostEntries = kLongest * kTimes + 1 + 2 * kHalf;
  if (memory.size() < 2 || !whole(memory[0], 0, kMostCount)) return false;
  const auto first = whole(memory[1], 0, kLongest * kTimes + 1);
  if (!first) return false;
  memory = memory.subspan(2);
  long entries = 0;
  while (!memory.empty()) {
    if (memory.size() < 4 || !std::isfinite(memory[0]) || !(memory[1] >= 0) || !std::isfinite(memory[1]) ||
        !std::isfinite(memory[2]))
      return false;
    const auto members = whole(memory[3], 0, static_cast<long>(memory.size()) - 4);
    if (!members) return false;
    for (const double member : memory.subspan(4, *members)) {
      if (!whole(member, 0, places - 1L)) return false;
    }
    memory = memory.subspan(4 + *members);
    for (const std::size_t size : {moving, velocities}) {
      if (memory.empty() || (memory[0] != 0 && memory[0] != static_cast<double>(size))) return false;
      const std::size_t count = memory[0] == 0 ? 0 : size;
      if (memory.size() <= count || !all_finite(memory.subspan(1, count))) return false;
      memory = memory.subspan(1 + count);
    }
    ++entries;
  }
  return entries >= *first && entries <= kMostEntries;
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
  jumps_.clear();
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
  if (speed < entry.size) return;
  entry.size = speed;
  entry.acceleration = acceleration;
}

void Accumulations::end(std::span<const double> moving) {
  jumps_.resize(moving.size(), 0.0);
  for (const int block : present_) {
    std::vector<double>& smooth = entry_[block].smooth;
    smooth.assign(moving.begin(), moving.end());
    for (std::size_t i = 0; i < smooth.size(); ++i) smooth[i] -= jumps_[i];
    block_[block].push(entry_[block]);
  }
}

void Accumulations::jumped(std::span<const double> before, std::span<const double> after) {
  jump_.resize(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    jump_[i] = after[i] - before[i];
    jumps_[i] += jump_[i];
  }
  for (const int block : present_) block_[block].jumped(jump_);
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
    out.doubt = std::max(out.doubt, one_.doubt);
    out.equal_time = one_.equal_time;
    unite(out.members, one_.members);
    out.jerk = std::max(out.jerk, one_.jerk);
    out.count = std::max(out.count, one_.count);
    out.height = std::max(out.height, one_.height);
    out.size = std::max(out.size, one_.size);
    out.pushed = std::max(out.pushed, one_.pushed);
    out.time = one_.time;
    unite(out.around, one_.around);
    out.since = std::max(out.since, one_.since);
    out.duration = std::max(out.duration, one_.duration);
    // Where several blocks strike together each has the jumps of all; their rhythms need not be the same.
    if (out.change.all.empty()) out.change = one_.change;
  }
  return out.length > 0;
}

void Accumulations::slow_end(Accumulation::Pattern& out, double instant) const {
  if (present_.size() == 1) block_[present_[0]].slow_end(out, instant);
}

void Accumulations::finish_pattern() {
  for (const int block : present_) block_[block].finish_pattern();
}

// The jumps so far; for each block with a memory its number, how many numbers follow, and these; and in the same form, as kPresent, the blocks that took
// part in the last instant.
std::vector<double> Accumulations::save() const {
  if (std::all_of(block_.begin(), block_.end(), [](const Accumulation& block) { return block.empty(); }))
    return {};
  std::vector<double> out{static_cast<double>(jumps_.size())};
  out.insert(out.end(), jumps_.begin(), jumps_.end());
  for (std::size_t block = 0; block < block_.size(); ++block) {
    if (block_[block].empty()) continue;
    const std::vector<double> memory = block_[block].save();
    out.push_back(static_cast<double>(block));
    out.push_back(static_cast<double>(memory.size()));
    out.insert(out.end(), memory.begin(), memory.end());
  }
  if (present_.empty()) return out;
  out.insert(out.end(), {kPresent, static_cast<double>(present_.size())});
  out.insert(out.end(), present_.begin(), present_.end());
  return out;
}

void Accumulations::load(std::span<const double> memory) {
  clear();
  if (memory.empty()) return;
  const auto jumps = whole_number(memory[0], 0, static_cast<long>(memory.size()) - 1);
  if (!jumps) return;
  const std::span<const double> sums = memory.subspan(1, *jumps);
  jumps_.assign(sums.begin(), sums.end());
  memory = memory.subspan(1 + *jumps);
  const long last = static_cast<long>(block_.size()) - 1;
  while (memory.size() >= 2) {
    const auto length = whole_number(memory[1], 0, static_cast<long>(memory.size()) - 2);
    if (memory[0] == kPresent && length) {
      for (const double number : memory.subspan(2, *length)) {
        const auto block = whole_number(number, 0, last);
        if (block && !block_[*block].empty()) present_.push_back(static_cast<int>(*block));
      }
      return;
    }
    const auto block = whole_number(memory[0], 0, last);
    if (!block || !length) return;
    block_[*block].load(memory.subspan(2, *length), static_cast<int>(block_of_.size()));
    memory = memory.subspan(2 + *length);
  }
}

bool Accumulations::readable(std::span<const double> memory, int relations, std::size_t moving,
                             std::size_t velocities) {
  if (memory.empty()) return true;
  // The sums of jumps have been made with the first entry.
  if (memory[0] != static_cast<double>(moving) || memory.size() <= moving ||
      !all_finite(memory.subspan(1, moving)))
    return false;
  memory = memory.subspan(1 + moving);
  double last = -1;
  while (!memory.empty()) {
    if (memory.size() < 2) return false;
    const auto length = whole_number(memory[1], 0, static_cast<long>(memory.size()) - 2);
    if (memory[0] == kPresent) {
      const std::span<const double> present = memory.subspan(2);
      return length == static_cast<long>(present.size()) &&
             std::all_of(present.begin(), present.end(), [relations](double block) {
               return block >= 0 && block < relations && block == std::floor(block);
             });
    }
    if (!(memory[0] > last) || !(memory[0] < relations) || memory[0] != std::floor(memory[0])) return false;
    last = memory[0];
    if (!length || !Accumulation::readable(memory.subspan(2, *length), relations, moving, velocities))
      return false;
    memory = memory.subspan(2 + *length);
  }
  return true;
}

}  // namespace judder::engines
