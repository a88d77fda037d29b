#include "judder/analysis/attractors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/elementary.hpp"

namespace judder::analysis {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kBase = 0x100000001B3ULL;
constexpr std::uint64_t kNoEvents = 0xCBF29CE484222325ULL;

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kBase;
  return (hash ^ 0xFFU) * kBase;
}

/// As many bits as a double holds.
double as_number(std::uint64_t hash) {
  return static_cast<double>((hash ^ hash >> 17U) & ((std::uint64_t{1} << 53U) - 1));
}

/// A period has no first event: that of all turns which comes first in the alphabet stands for all.
std::vector<std::string> turned(const std::vector<std::string>& events) {
  std::vector<std::string> best = events, turn = events;
  for (std::size_t i = 1; i < events.size(); ++i) {
    std::rotate(turn.begin(), turn.begin() + 1, turn.end());
    best = std::min(best, turn);
  }
  return best;
}

std::string word_of(const std::vector<std::string>& events) {
  std::string out;
  for (std::size_t i = 0; i < events.size();) {
    std::size_t j = i;
    while (j < events.size() && events[j] == events[i]) ++j;
    out += (out.empty() ? "" : ", ") + (j - i > 1 ? std::to_string(j - i) + " " : std::string()) + events[i];
    i = j;
  }
  return out;
}

/// Ends a run whose motion has left the bound.
class Fence final : public engines::Observer {
 public:
  Fence(const model::System& system, const std::vector<double>& turns, double bound, std::atomic<bool>& stop)
      : system_(system),
        turns_(turns),
        bound_(bound),
        stop_(stop),
        least_(static_cast<std::size_t>(system.layout().integrated()),
               std::numeric_limits<double>::infinity()),
        most_(least_.size(), -std::numeric_limits<double>::infinity()) {}
  void point(const engines::ToldPoint& told) override {
    if (told.kind == engines::Telling::inside) return;
    const model::Layout& layout = system_.layout();
    for (std::size_t i = 0; i < least_.size(); ++i) {
      const double value = told.in[static_cast<std::size_t>(layout.q()) + i];
      least_[i] = std::min(least_[i], value);
      most_[i] = std::max(most_[i], value);
    }
    for (int i = 0; i < layout.integrated(); ++i) {
      // A way that nothing depends on, or that is one of turns, may become long.
      const auto k = static_cast<std::size_t>(i);
      if (i < layout.coordinates && (system_.cyclic()[k] || turns_[k] > 0)) continue;
      if (std::abs(told.in[static_cast<std::size_t>(layout.q() + i)]) <= bound_) continue;
      left_ = true;
      stop_ = true;
      return;
    }
  }
  void impulses(const engines::ToldImpulses&) override {}
  [[nodiscard]] bool asks_inside() const override { return false; }
  [[nodiscard]] bool left() const { return left_; }
  /// How far each component has gone.
  [[nodiscard]] std::vector<double> reach() const {
    std::vector<double> out(least_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(most_[i] - least_[i], 0.0);
    return out;
  }

 private:
  const model::System& system_;
  const std::vector<double>& turns_;
  double bound_;
  std::atomic<bool>& stop_;
  std::vector<double> least_, most_;
  bool left_ = false;
};

/// Hands on somebody's wish to stop.
class Stopper final : public simulate::NullSink {
 public:
  Stopper(const std::atomic<bool>* cancel, std::atomic<bool>& stop) : cancel_(cancel), stop_(stop) {}
  void progress(double) override {
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) stop_ = true;
  }

 private:
  const std::atomic<bool>* cancel_;
  std::atomic<bool>& stop_;
};

}  // namespace

const char* name(EndKind kind) {
  switch (kind) {
    case EndKind::rest:
      return "at rest";
    case EndKind::equilibrium:
      return "equilibrium";
    case EndKind::periodic:
      return "periodic";
    case EndKind::drifting:
      return "drifting";
    case EndKind::unbounded:
      return "unbounded";
    case EndKind::not_settled:
      return "not settled";
    case EndKind::failed:
      return "failed";
  }
  return "";
}

void MotionEnd::put(std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  out[0] = static_cast<double>(kind);
  out[1] = set ? 1 : 0;
  out[2] = period;
  out[3] = mode;
  const std::size_t n = (out.size() - 4) / 4;
  std::copy_n(least.begin(), std::min(n, least.size()), out.begin() + 4);
  std::copy_n(most.begin(), std::min(n, most.size()), out.begin() + static_cast<std::ptrdiff_t>(4 + n));
  std::copy_n(drift.begin(), std::min(n, drift.size()), out.begin() + static_cast<std::ptrdiff_t>(4 + 2 * n));
  std::copy_n(reach.begin(), std::min(n, reach.size()), out.begin() + static_cast<std::ptrdiff_t>(4 + 3 * n));
}

MotionEnd MotionEnd::get(std::span<const double> numbers, std::string_view events) {
  MotionEnd out;
  const std::size_t n = (numbers.size() - 4) / 4;
  out.kind = numbers[0] >= 0 && numbers[0] <= 6 ? static_cast<EndKind>(static_cast<int>(numbers[0]))
                                                : EndKind::failed;
  out.set = numbers[1] == 1;
  out.period = numbers[2];
  out.mode = numbers[3];
  const auto part = [&](std::size_t k) {
    const std::span<const double> values = numbers.subspan(4 + k * n, n);
    return std::vector<double>(values.begin(), values.end());
  };
  out.least = part(0);
  out.most = part(1);
  out.drift = part(2);
  out.reach = part(3);
  out.events = events;
  return out;
}

EndFinder::EndFinder(const model::System& system, double forcing_period, double bound)
    : system_(system), approach_(system), turns_(turns(system)), forcing_(forcing_period), bound_(bound) {}

bool EndFinder::find(std::string_view engine, engines::EngineOptions options, const std::atomic<bool>* cancel,
                     MotionEnd& out) {
  std::atomic<bool> stop{false};
  Fence fence(system_, turns_, bound_, stop);
  Stopper nobody(cancel, stop);
  options.cancel = &stop;
  options.abandon = cancel;
  options.observer = &fence;
  // What settles without an event is seen at rows.
  constexpr long kRows = 65;
  if (forcing_ == 0) options.samples = std::max(options.samples, kRows);
  std::optional<PeriodicMotion> found;
  const engines::EngineResult result =
      run_until_periodic(system_, engine, options, forcing_, nobody, found, {.turns = &turns_});
  if (cancel != nullptr && *cancel) return false;
  out = {};
  const auto n = static_cast<std::size_t>(system_.layout().integrated());
  out.least.assign(n, 0.0);
  out.most = out.drift = out.least;
  const std::vector<double> reach = fence.reach();
  std::optional<ApproachedRest> rest;
  if (!fence.left() && result.status.ok() && forcing_ == 0 && (!found || found->equilibrium))
    rest = approach_.find(result.end, reach);
  if (fence.left()) {
    out.kind = EndKind::unbounded;
  } else if (rest && (!found || !found->at_rest)) {
    describe(*rest, result.end, out);
  } else if (found) {
    out = describe(*found, result.end);
    out.set = out.set || (rest && rest->held);
  } else if (result.status.ok()) {
    out.kind = EndKind::not_settled;
  } else {
    out.kind = EndKind::failed;
    out.events = std::string(judder::name(result.status.reason)) + ": " + result.status.message;
    // Why, and not where: the numbers of a message would make each failure its own.
    out.mode = static_cast<double>(result.status.reason);
  }
  out.reach = reach;
  return true;
}

/// The modes that an equilibrium stands in, as words and in its key.
void EndFinder::note_modes(const engines::Mode& mode, std::uint64_t& hash, MotionEnd& out) const {
  for (std::size_t r = 0; r < system_.relations().size(); ++r) {
    const std::string_view word =
        simulate::mode_word(simulate::mode_number(system_, mode, static_cast<int>(r)));
    hash = mixed(hash, word);
    out.events += (out.events.empty() ? "" : ", ") + system_.relations()[r].name + " " + std::string(word);
  }
}

void EndFinder::describe(const ApproachedRest& rest, const engines::Moment& end, MotionEnd& out) const {
  const bool drifts =
      std::any_of(rest.drift.begin(), rest.drift.end(), [](double rate) { return rate != 0; });
  out.kind = drifts ? EndKind::drifting : rest.slides ? EndKind::equilibrium : EndKind::rest;
  out.set = rest.held && !drifts;
  out.least = out.most = rest.y;
  out.drift = rest.drift;
  for (std::size_t i = 0; i < rest.drift.size(); ++i) {
    if (rest.drift[i] != 0) out.least[i] = out.most[i] = 0;
  }
  std::uint64_t hash = kNoEvents;
  note_modes(end.mode, hash, out);
  out.mode = as_number(hash);
}

MotionEnd EndFinder::describe(const PeriodicMotion& motion, const engines::Moment& end) const {
  MotionEnd out;
  const auto n = static_cast<std::size_t>(system_.layout().integrated());
  for (std::size_t i = 0; i < n && i < motion.ranges.size(); ++i) {
    out.least.push_back(motion.ranges[i].least);
    out.most.push_back(motion.ranges[i].most);
  }
  out.drift.assign(n, 0.0);
  const std::vector<std::string> names = simulate::column_names(system_);
  for (const PeriodicMotion::Drift& drift : motion.drifts) {
    for (std::size_t i = 0; i < n; ++i) {
      if (names[1 + i] != drift.name) continue;
      out.drift[i] = drift.change;
      out.least[i] = out.most[i] = 0;  // where it is on its way says nothing
    }
  }
  const bool slips =
      std::any_of(end.mode.tangent.begin(), end.mode.tangent.end(),
                  [](engines::TangentStatus status) { return engines::direction(status) != 0; });
  out.kind = !motion.drifts.empty()     ? EndKind::drifting
             : !motion.equilibrium      ? EndKind::periodic
             : slips && !motion.at_rest ? EndKind::equilibrium
                                        : EndKind::rest;
  out.period = motion.period;
  const std::vector<std::string> events = turned(motion.events);
  out.events = word_of(events);
  std::uint64_t hash = kNoEvents;
  for (const std::string& event : events) hash = mixed(hash, event);
  if (motion.equilibrium) {
    note_modes(end.mode, hash, out);
    for (std::size_t r = 0; r < system_.relations().size(); ++r) {
      const std::string_view word =
          simulate::mode_word(simulate::mode_number(system_, end.mode, static_cast<int>(r)));
      if (word == "stick") out.set = true;
    }
    for (std::size_t k = 0; k < system_.switches().size() && k < end.mode.side.size(); ++k) {
      if (end.mode.slides(k)) {
        hash = mixed(hash, "slide");
        out.set = motion.at_rest;
      }
    }
  }
  out.mode = as_number(hash);
  return out;
}

bool Attractors::one(const MotionEnd& a, const Attractor& of) const {
  const MotionEnd& b = of.first;
  if (a.kind != b.kind) return false;
  if (a.kind == EndKind::unbounded || a.kind == EndKind::not_settled) return true;
  if (a.mode != b.mode) return false;
  if (a.kind == EndKind::failed) return true;
  if (a.set && b.set) return true;
  const auto near = [this](double x, double y, double size) { return std::abs(x - y) <= same_ * size; };
  if (!near(a.period, b.period, std::max(a.period, b.period))) return false;
  double largest = 0;
  // Two points at rest are compared on the scale of the ways that have led to them: where one is zero, the other is nearly so.
  constexpr double kNearRest = 1e-3;
  const auto way = [&](std::size_t i) {
    const bool point = a.kind == EndKind::rest || a.kind == EndKind::equilibrium;
    return point && i < a.reach.size() && i < b.reach.size() ? kNearRest * std::max(a.reach[i], b.reach[i])
                                                             : 0.0;
  };
  for (std::size_t i = 0; i < b.least.size(); ++i)
    largest = std::max(
        {largest, std::abs(b.least[i]), std::abs(b.most[i]), std::abs(a.least[i]), std::abs(a.most[i])});
  for (std::size_t i = 0; i < b.least.size(); ++i) {
    // The size of a component is its range, or its value, or a thousandth of the largest of all.
    const double size = std::max({b.most[i] - b.least[i], a.most[i] - a.least[i], std::abs(b.least[i]),
                                  std::abs(b.most[i]), 1e-3 * largest, way(i)});
    if (!near(a.least[i], b.least[i], size) || !near(a.most[i], b.most[i], size)) return false;
    if (!near(a.drift[i], b.drift[i], std::max(std::abs(a.drift[i]), std::abs(b.drift[i])))) return false;
  }
  return true;
}

std::size_t Attractors::add(const MotionEnd& end) {
  std::size_t i = 0;
  while (i < all_.size() && !one(end, all_[i])) ++i;
  if (i == all_.size()) all_.push_back({end, end.least, end.most, 0});
  Attractor& attractor = all_[i];
  ++attractor.members;
  for (std::size_t k = 0; k < attractor.least.size() && k < end.least.size(); ++k) {
    attractor.least[k] = std::min(attractor.least[k], end.least[k]);
    attractor.most[k] = std::max(attractor.most[k], end.most[k]);
  }
  return i;
}

Boundary boundary_of(const std::vector<int>& labels, std::size_t rows, std::size_t columns) {
  Boundary out;
  const auto at = [&](std::size_t r, std::size_t c) { return labels[r * columns + c]; };
  const std::size_t shortest = std::min(rows, columns);
  for (std::size_t d = 1; d <= std::max<std::size_t>(shortest / 16, 1); d *= 2) {
    if (2 * d >= shortest) break;
    std::size_t uncertain = 0, all = 0;
    for (std::size_t r = d; r + d < rows; ++r) {
      for (std::size_t c = d; c + d < columns; ++c) {
        const int here = at(r, c);
        ++all;
        if (at(r - d, c) != here || at(r + d, c) != here || at(r, c - d) != here || at(r, c + d) != here)
          ++uncertain;
      }
    }
    if (all > 0)
      out.uncertain.emplace_back(static_cast<int>(d),
                                 static_cast<double>(uncertain) / static_cast<double>(all));
  }
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [distance, share] : out.uncertain) {
    if (!(share > 0)) continue;
    const double x = elementary::log(distance), y = elementary::log(share);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  out.exponent = n >= 2 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : kNone;
  constexpr std::size_t kBox = 5;
  std::size_t boxes = 0, mixed_boxes = 0;
  double sum = 0;
  for (std::size_t r = 0; r + kBox <= rows; r += kBox) {
    for (std::size_t c = 0; c + kBox <= columns; c += kBox) {
      std::map<int, int> counts;
      for (std::size_t i = 0; i < kBox * kBox; ++i) ++counts[at(r + i / kBox, c + i % kBox)];
      double entropy = 0;
      for (const auto& [label, count] : counts) {
        const double p = count / static_cast<double>(kBox * kBox);
        entropy -= p * elementary::log(p);
      }
      ++boxes;
      if (counts.size() > 1) ++mixed_boxes;
      sum += entropy;
    }
  }
  out.entropy = boxes > 0 ? sum / static_cast<double>(boxes) : kNone;
  out.boundary_entropy = mixed_boxes > 0 ? sum / static_cast<double>(mixed_boxes) : 0;
  return out;
}

}  // namespace judder::analysis
