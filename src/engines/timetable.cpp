#include "timetable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Timetable::Timetable(const model::System& system, model::Workspace& work) : system_(system), work_(work) {
  const int moving = system.layout().switches;
  for (int k = 0; k < moving + system.layout().observed; ++k) {
    const model::SwitchInfo& info = switch_info(k);
    if (!info.time_only) continue;
    switches_.push_back(k);
    observes_ = observes_ || k >= moving;
  }
  restart();
  in_.resize(system.layout().size() + 1);
}

std::size_t Timetable::count(const model::System& system) {
  std::size_t out = 0;
  for (const auto* const list : {&system.switches(), &system.observed()}) {
    for (const model::SwitchInfo& info : *list) out += info.time_only ? 1 : 0;
  }
  return out;
}

const model::SwitchInfo& Timetable::switch_info(int k) const {
  const int moving = system_.layout().switches;
  return k < moving ? system_.switches()[k] : system_.observed()[k - moving];
}

// Where the side of a switch stands among the inputs.
int Timetable::place(int k) const {
  const model::Layout& layout = system_.layout();
  return k < layout.switches ? layout.side() + k : layout.observed_side() + k - layout.switches;
}

void Timetable::restart() {
  next_.assign(switches_.size(), -kNever);
  known_until_.assign(switches_.size(), -kNever);
  sides_known_ = false;
}

std::vector<double> Timetable::save() const {
  std::vector<double> out(next_);
  out.insert(out.end(), known_until_.begin(), known_until_.end());
  return out;
}

void Timetable::load(const std::vector<double>& memory) {
  if (memory.size() != 2 * switches_.size()) return restart();
  sides_known_ = false;
  std::copy_n(memory.begin(), switches_.size(), next_.begin());
  std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(switches_.size()), switches_.size(),
              known_until_.begin());
}

double Timetable::surface(int k, double t) {
  in_[0] = t;
  double value = 0;
  switch_info(k).value.evaluate(in_.data(), &value, work_.registers.data());
  return value;
}

numeric::TimeEnclosure Timetable::enclose(int k, double t0, double t1) {
  enclosure_.take(in_);
  enclosure_.set(0, t0, t1);
  enclosure_.evaluate(switch_info(k).surface);
  return {{enclosure_.low(0), enclosure_.high(0)}, {enclosure_.low(1), enclosure_.high(1)}};
}

// Sides of all switches of time just after t, inner ones before those whose surfaces contain them.
void Timetable::take_sides(double t) {
  for (const int k : switches_) in_[place(k)] = side_after(k, t);
  sides_known_ = true;
}

// The sign that a surface has just after a zero of it at t with no rate, less `offset`: the first one that is certain, at times that go away from t by
// doubling, from its last bit on. There is no time scale but that of the function, so none is assumed. 0: it stays zero as far as can be seen.
int Timetable::sign_after(int k, double t, double offset) {
  const double last_bit = std::nextafter(t, kNever) - t;
  const double farthest = 1e-3 * std::numeric_limits<double>::max();
  const numeric::Bounds ever = enclose(k, t, farthest).value;
  if (ever.lower == offset && ever.upper == offset) return 0;
  for (double away = last_bit; away < farthest; away *= 2) {
    const numeric::Bounds there = enclose(k, t + away, t + away).value;
    if (there.lower > offset) return 1;
    if (there.upper < offset) return -1;
  }
  return 0;
}

// Where a surface is just after t, against a level: 1 above, -1 below, 0 it stays there. The instant t is known to its last bit, so the value is
// looked at over its neighbours; where that does not tell, the rate does, and then the first value that is certain.
int Timetable::after(int k, double t, double level) {
  const numeric::TimeEnclosure near = enclose(k, std::nextafter(t, -kNever), std::nextafter(t, kNever));
  if (near.value.lower > level) return 1;
  if (near.value.upper < level) return -1;
  if (near.rate.lower > 0) return 1;
  if (near.rate.upper < 0) return -1;
  return sign_after(k, t, level);
}

// The side just after t. A surface that stays at zero, such as that of sign(floor(t)) before t = 1, has the value that the language gives there.
double Timetable::side_after(int k, double t) {
  const model::SwitchInfo& info = switch_info(k);
  if (info.two_sided()) {
    const int sign = after(k, t, 0);
    return sign > 0 ? 1 : sign < 0 ? 0 : info.at_zero;
  }
  const double value = surface(k, t);
  if (info.whole) {
    const double level = info.never_negative ? std::max(std::round(value), 1.0) : std::round(value);
    return after(k, t, level) < 0 ? level - 1 : level;
  }
  const auto above = std::lower_bound(info.levels.begin(), info.levels.end(), value);
  auto nearest = above;
  if (above == info.levels.end() || (above != info.levels.begin() && value - *(above - 1) < *above - value))
    --nearest;
  const auto level = static_cast<double>(nearest - info.levels.begin());
  return after(k, t, *nearest) < 0 ? level - 1 : level;
}

double Timetable::next_of(int k, double t, double until) {
  const model::SwitchInfo& info = switch_info(k);
  const auto search = [&](double offset) {
    const auto f = [&](double time) { return surface(k, time) - offset; };
    const auto shifted = [&](double t0, double t1) {
      if (patience_ != nullptr) patience_->look();  // a function may touch zero millions of times on its way
      numeric::TimeEnclosure out = enclose(k, t0, t1);
      out.value.lower -= offset;
      out.value.upper -= offset;
      return out;
    };
    for (double from = t;;) {
      const numeric::TimeRoot root = numeric::next_time_root(f, shifted, from, until);
      if (root.kind == numeric::TimeRootKind::none) return kNever;
      if (root.kind != numeric::TimeRootKind::touch) return root.time;
      if (root.time >= until) return kNever;
      from = root.time;  // a touch changes no side
    }
  };
  if (info.two_sided()) return search(0);
  const double level = side_after(k, t);
  double first = kNever;
  if (const double below = info.level_below(level); std::isfinite(below)) first = search(below);
  if (const double above = info.level_above(level); std::isfinite(above))
    first = std::min(first, search(above));
  return first;
}

void Timetable::sides_after(double t, std::vector<double>& side) {
  take_sides(t);
  for (const int k : switches_) {
    if (k < system_.layout().switches) side[k] = in_[place(k)];
  }
}

bool Timetable::observe(double t, double* in) {
  if (!observes_) return false;
  take_sides(t);
  bool changed = false;
  for (const int k : switches_) {
    if (k < system_.layout().switches) continue;
    changed = changed || in[place(k)] != in_[place(k)];
    in[place(k)] = in_[place(k)];
  }
  return changed;
}

double Timetable::next(double t, double until) {
  double first = until;
  const std::vector<double>& instants = system_.instants();
  const auto knot = std::upper_bound(instants.begin(), instants.end(), t);
  if (knot != instants.end()) first = std::min(first, *knot);
  if (!sides_known_) take_sides(t);
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    if (!(next_[i] > t) || (next_[i] == kNever && known_until_[i] < until)) {
      // The piece ends where an inner switch changes its side; then the search goes on from there.
      double end = until;
      for (const int inner : switch_info(switches_[i]).inner) {
        const auto at = std::lower_bound(switches_.begin(), switches_.end(), inner) - switches_.begin();
        end = std::min(end, next_[static_cast<std::size_t>(at)]);
      }
      next_[i] = next_of(switches_[i], t, end);
      if (next_[i] == kNever && end < until) next_[i] = end;
      known_until_[i] = end;
    }
    first = std::min(first, next_[i]);
  }
  return first;
}

void Timetable::pass(double t, std::vector<double>& side, std::vector<int>& changed) {
  changed.clear();
  take_sides(t);
  for (const int k : switches_) {
    if (k >= system_.layout().switches) break;  // those of watches come behind
    const double after = in_[place(k)];
    if (after == side[k]) continue;
    side[k] = after;
    changed.push_back(k);
  }
}

}  // namespace judder::engines
