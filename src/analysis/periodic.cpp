#include "judder/analysis/periodic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/elementary.hpp"
#include "judder/core/number.hpp"
#include "judder/expr/through.hpp"

namespace judder::analysis {
namespace {

using engines::EventKind;
using engines::RowKind;

constexpr std::string_view kPrefix = "judder_section_";
constexpr std::size_t kMostSections = 8, kMostAngles = 4;
constexpr std::size_t kWords = 8;  ///< numbers of simulate::mode_word
constexpr std::size_t kMostKinds = 256;
constexpr std::uint64_t kStrobeKey = 1, kSampleKey = 2;
constexpr int kPatience = 200;                 ///< returns that a motion found to the accuracy is followed on
constexpr std::size_t kPoints = 10;            ///< states of which the limit of a sequence is found
constexpr std::size_t kWeights = 4;            ///< two pairs of complex multipliers, or four real ones
constexpr double kPhase = 0.3819660112501051;  ///< of the sections within a period of the forces
constexpr double kErrors =
    30;  ///< tolerances that a motion may be apart from itself after a period of its own
constexpr std::uint64_t kBase = 0x100000001b3ULL;  // odd, so that powers do not vanish

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * kBase; }

std::uint64_t hash_of(const engines::Event& event) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  hash = mixed(hash, static_cast<std::uint64_t>(event.kind));
  hash = mixed(hash, static_cast<std::uint64_t>(event.place));
  hash = mixed(hash, event.on_switch ? 1 : 0);
  hash = mixed(hash, static_cast<std::uint64_t>(event.words[0]));
  return mixed(hash, static_cast<std::uint64_t>(event.words[1]));
}

}  // namespace

model::Spec with_sections(const model::Spec& spec, const model::System& system, double forcing_period) {
  model::Spec out = spec;
  std::size_t count = 0;
  const auto add = [&](const std::string& zero) {
    model::Watch watch;
    watch.name = std::string(kPrefix) + std::to_string(++count);
    watch.zero = zero;
    out.watches.push_back(std::move(watch));
  };
  if (forcing_period > 0) return out;
  for (std::size_t i = 0; i < system.coordinate_names().size() && count < kMostSections; ++i) {
    if (!system.massless()[i]) add(system.coordinate_names()[i] + "'");
  }
  for (std::size_t i = 0; i < system.state_names().size() && count < kMostSections; ++i) {
    // A bristle has no name in the language; a rate that jumps has no zero to be found.
    const std::string& name = system.state_names()[i];
    const std::vector<expr::SwitchId> switches = system.graph().switches(system.symbols().rate[i]);
    const bool jumps = std::any_of(switches.begin(), switches.end(), [&](expr::SwitchId id) {
      return system.graph().switches()[id].kind == expr::SwitchKind::jump;
    });
    if (name.find('.') == std::string::npos && !jumps) add(name + "'");
  }
  // What only turns has no extreme: an angle is met once in each turn. Where the turn is one of floor or mod, that switch is met already.
  if (system.linear().linear()) return out;
  const std::vector<double> turn = turns(system);
  std::size_t angles = 0;
  for (std::size_t i = 0; i < turn.size() && angles < kMostAngles; ++i) {
    if (turn[i] == 0) continue;
    ++angles;
    const double at = system.start()[static_cast<std::size_t>(system.layout().q()) + i] + kPhase * turn[i];
    add("sin(" + to_text(2 * std::numbers::pi / turn[i]) + "*(" + system.coordinate_names()[i] + " - (" +
        to_text(at) + ")))");
  }
  return out;
}

double PeriodMonitor::Stride::largest(bool before) const {
  const std::size_t window = recent.size() / 2;
  const auto all = static_cast<std::size_t>(count);
  double most = 0;
  for (std::size_t i = before ? window : 0; i < std::min(before ? 2 * window : window, all); ++i)
    most = std::max(most, recent[(all - 1 - i) % recent.size()]);
  return most;
}

/// It neither grows nor shrinks: what is repeated after more returns is not repeated after these.
bool PeriodMonitor::Stride::steady() const {
  const double now = largest();
  return static_cast<std::size_t>(count) >= recent.size() && std::abs(now - largest(true)) <= 1e-3 * now;
}

void PeriodMonitor::Stride::add(double distance) {
  recent[static_cast<std::size_t>(count) % recent.size()] = distance;
  ++count;
  const double most = largest();
  double level = 1;
  for (long& at : reached) {
    if (!(most <= level))
      at = 0;
    else if (at == 0)
      at = count;
    level *= 0.1;
  }
}

double PeriodMonitor::Stride::per_decade() const {
  std::size_t last = 0;
  while (last + 1 < reached.size() && reached[last + 1] != 0) ++last;
  if (reached[last] == 0) return std::numeric_limits<double>::infinity();
  long most = count - reached[last];
  for (std::size_t j = last; j > 0 && j + 3 > last; --j) most = std::max(most, reached[j] - reached[j - 1]);
  return static_cast<double>(most);
}

bool PeriodMonitor::Stride::shrank() const {
  std::size_t last = 0;
  while (last + 1 < reached.size() && reached[last + 1] != 0) ++last;
  return reached[last] > 1;
}

double PeriodMonitor::Stride::bound() const {
  const double returns = per_decade();
  return largest() / (returns > 0 ? -elementary::expm1(-elementary::log(10.0) / returns) : 1);
}

PeriodMonitor::PeriodMonitor(const model::System& system, const engines::EngineOptions& options,
                             double forcing_period, engines::Sink& inner, const PeriodicOptions& periodic)
    : system_(system),
      options_(options),
      forcing_(forcing_period),
      inner_(inner),
      periodic_(periodic),
      user_(options.cancel),
      steps_(*this, options.observer) {
  // What the tolerance leaves uncertain cannot be asked for.
  periodic_.accuracy = std::max(periodic_.accuracy, std::min(kErrors * options.tolerance, 1e-2));
  same_ = std::max(3 * periodic_.accuracy, 100 * options.tolerance);
  for (std::size_t k = 0; k < system.watches().size(); ++k) {
    const std::string& name = system.watches()[k].name;
    hidden_.push_back(name.compare(0, kPrefix.size(), kPrefix) == 0);
  }
  turn_ = periodic.turns != nullptr ? *periodic.turns : turns(system);
  turn_.resize(static_cast<std::size_t>(system.layout().integrated()), 0.0);
  for (std::size_t k = 0; k < system.switches().size(); ++k) counts_.push_back(counts_turns(k));
  const auto size = static_cast<std::size_t>(system.layout().integrated());
  least_.assign(size, std::numeric_limits<double>::infinity());
  most_.assign(size, -std::numeric_limits<double>::infinity());
  since_least_ = least_;
  since_most_ = most_;
  own_.assign(size, 0.0);
  cells_.resize(simulate::column_names(system).size());
}

bool PeriodMonitor::next_leg(double time) {
  if (found_ || time >= options_.until || (user_ != nullptr && user_->load(std::memory_order_relaxed)))
    return false;
  cancel_ = false;
  instants_.clear();
  instants_met_ = 0;
  leg_over_ = false;
  leg_until_ = options_.until;
  cut_.clear();
  if (forcing_ > 0) {
    // The next whole number of T that is not the present one, from a phase at which formulas are not likely to switch.
    const double from = system_.start()[0] + kPhase * forcing_;
    leg_until_ = std::min(from + forcing_ * std::floor((time - from) / forcing_ + 1 + 1e-6), options_.until);
  }
  const auto add = [&](double start, double length, int places) {
    for (int i = 0; i < places; ++i) {
      const double instant = start + length * (i + 0.5) / places;
      if (instant > time && (forcing_ == 0 || instant < leg_until_)) instants_.push_back(instant);
    }
  };
  if (measuring_) add(first_.time, motion_.period, PeriodicMotion::kMeasured);
  const auto own = static_cast<std::ptrdiff_t>(instants_.size());
  const auto later = std::upper_bound(options_.instants.begin(), options_.instants.end(), time);
  instants_.insert(instants_.end(), later, options_.instants.end());
  std::inplace_merge(instants_.begin(), instants_.begin() + own, instants_.end());
  return true;
}

void PeriodMonitor::interval(const engines::Interval& interval) {
  // What is closed at the end of a leg goes on in the next.
  if (leg_over_)
    cut_.push_back(interval);
  else
    inner_.interval(interval);
}

void PeriodMonitor::end_intervals() {
  for (const engines::Interval& interval : cut_) inner_.interval(interval);
  cut_.clear();
}

bool PeriodMonitor::sample_time(double time) const {
  if (time >= options_.until || std::binary_search(options_.instants.begin(), options_.instants.end(), time))
    return true;
  const double span = options_.until - options_.from;
  const double spacing =
      options_.every > 0 ? options_.every : span / static_cast<double>(std::max(options_.samples - 1, 1L));
  const double k = std::round((time - options_.from) / spacing);
  return std::abs(options_.from + k * spacing - time) <= 1e-12 * std::abs(span);
}

/// Nothing depends on it: a position or a state, y being q, v, z.
bool PeriodMonitor::drifts(std::size_t component) const {
  const auto n = static_cast<std::size_t>(system_.layout().coordinates);
  if (component < n) return system_.cyclic()[component];
  return component >= 2 * n && system_.cyclic()[component - n];
}

void PeriodMonitor::note_state(const double* y) {
  for (std::size_t i = 0; i < least_.size(); ++i) {
    since_least_[i] = std::min(since_least_[i], y[i]);
    since_most_[i] = std::max(since_most_[i], y[i]);
  }
}

void PeriodMonitor::Steps::point(const engines::ToldPoint& point) {
  monitor_.note_state(point.in.data() + monitor_.system_.layout().q());
  if (next_ != nullptr) next_->point(point);
}

void PeriodMonitor::Steps::impulses(const engines::ToldImpulses& impulses) {
  if (next_ != nullptr) next_->impulses(impulses);
}

void PeriodMonitor::Steps::event(const engines::Event& event) {
  if (next_ != nullptr) next_->event(event);
}

/// A floor or mod whose number counts periods or turns and says nothing else.
bool PeriodMonitor::counts_turns(std::size_t k) const {
  const model::SwitchInfo& info = system_.switches()[k];
  if (!info.whole || info.time_only) return info.whole;
  const std::vector<expr::Variable> reads =
      expr::variables_through(system_.graph(), std::array{system_.symbols().surface[k]});
  const std::vector<expr::Variable>& q = system_.symbols().q;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (turn_[i] > 0 && std::binary_search(reads.begin(), reads.end(), q[i])) return true;
  }
  return false;
}

/// The mode without the numbers of floor and mod that count periods or turns.
std::uint64_t PeriodMonitor::mode_of(const engines::Mode& mode) {
  repeated_ = mode;
  for (std::size_t k = 0; k < repeated_.side.size(); ++k) {
    if (counts_[k]) repeated_.side[k] = 0;
  }
  return repeated_.key();
}

/// Whether the state has been the same, to rounding and without speed, since another row.
bool PeriodMonitor::rests(const engines::Mode& mode, model::Workspace& work) {
  const auto n = static_cast<std::size_t>(system_.layout().coordinates);
  const double* y = work.in.data() + system_.layout().q();
  bool same = rest_y_.size() == least_.size() && rest_mode_ == mode_of(mode);
  bool moves = false;
  for (std::size_t i = 0; i < least_.size(); ++i) {
    moves = moves || (i >= n && i < 2 * n && y[i] != 0);
    same = same && std::abs(rest_y_[i] - y[i]) <= rounding(i);
  }
  if (same && !moves) return work.in[0] > rest_time_;
  rest_y_.assign(y, y + least_.size());
  rest_mode_ = mode_of(mode);
  rest_time_ = work.in[0];
  return false;
}

void PeriodMonitor::row(RowKind kind, const engines::Mode& mode, model::Workspace& work) {
  const bool sampled = kind == RowKind::sample && work.in[0] != passed_ && sample_time(work.in[0]);
  if (sampled) passed_ = work.in[0];
  if (found_) {
    if (sampled) inner_.row(kind, mode, work);
    return;
  }
  note_state(work.in.data() + system_.layout().q());
  if (kind == RowKind::after && visible_) rest_y_.clear();  // the tail of an accumulation ends with its event
  const bool rest = rests(mode, work);
  if (measuring_) measure_row(mode, work);
  const bool strobe = forcing_ > 0 && kind != RowKind::before && work.in[0] >= leg_until_ && !leg_over_;
  leg_over_ = leg_over_ || strobe;
  if (kind == RowKind::sample) {
    if (sampled) inner_.row(kind, mode, work);
    if (strobe) section(kStrobeKey, mode, work);
    if (forcing_ > 0 || measuring_) return;
    if (rest)
      settle(mode, work, rest_time_, true);
    else
      section(kSampleKey, mode, work);
    return;
  }
  if (kind == RowKind::before) {
    // Whether anybody else is to see this instant is known with its events.
    held_in_ = work.in;
    held_mode_ = mode;
    held_work_ = &work;
    visible_ = false;
    instant_ = 0;
    return;
  }
  if (visible_ && options_.event_rows)
    inner_.row(kind, mode, work);
  else if (sample_time(work.in[0]))
    inner_.row(RowKind::sample, mode, work);
  held_work_ = nullptr;
  if (forcing_ == 0)
    section(instant_, mode, work);
  else if (strobe)
    section(kStrobeKey, mode, work);
}

void PeriodMonitor::event(const engines::Event& event, std::span<const double> state) {
  const bool hidden = event.kind == EventKind::watch && hidden_[static_cast<std::size_t>(event.place)];
  instant_ = mixed(instant_, hash_of(event));
  if (hidden) return;
  if (!visible_ && held_work_ != nullptr && options_.event_rows) {
    held_work_->in.swap(held_in_);
    inner_.row(RowKind::before, held_mode_, *held_work_);
    held_work_->in.swap(held_in_);
  }
  visible_ = true;
  hash_ = hash_ * kBase + hash_of(event);
  ++count_;
  inner_.event(event, state);
  if (!measuring_) return;
  if (motion_.events.size() >= PeriodicMotion::kMostEvents) {
    motion_.events_cut = true;
    return;
  }
  const auto place = static_cast<std::size_t>(event.place);
  const bool turn =
      event.kind == EventKind::switch_side && counts_[place] && !system_.switches()[place].time_only;
  const std::string detail = turn ? std::string() : engines::detail(system_, event);
  motion_.events.push_back(std::string(engines::name(event.kind)) + " " + engines::where(system_, event) +
                           (detail.empty() ? "" : " " + detail));
}

void PeriodMonitor::progress(double time) {
  inner_.progress(time);
  if (user_ != nullptr && user_->load(std::memory_order_relaxed)) cancel_ = true;
}

PeriodMonitor::Returns* PeriodMonitor::returns_of(std::uint64_t key) {
  const auto found = returns_.find(key);
  if (found != returns_.end()) return &found->second;
  if (returns_.size() >= kMostKinds) return nullptr;
  Returns& returns = returns_[key];
  const auto most = static_cast<std::size_t>(periodic_.most_returns);
  returns.ring.resize((forcing_ > 0 ? 2 * kPoints : 2) * most + 1);
  returns.stride.resize(most);
  // Over a few returns a transient that turns shows its size.
  for (std::size_t p = 1; p <= most; ++p)
    returns.stride[p - 1].recent.assign(2 * std::max<std::size_t>(p + 1, 8), 0.0);
  returns.least = least_;
  returns.most = most_;
  return &returns;
}

void PeriodMonitor::section(std::uint64_t key, const engines::Mode& mode, model::Workspace& work) {
  Returns* const of_key = returns_of(key);
  if (of_key == nullptr) return;
  Returns& returns = *of_key;
  const auto widen = [&](std::vector<double>& least, std::vector<double>& most) {
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], since_least_[i]);
      most[i] = std::max(most[i], since_most_[i]);
    }
  };
  widen(least_, most_);
  for (auto& [of, others] : returns_) widen(others.least, others.most);
  Return& now = returns.ring[returns.next];
  now.time = work.in[0];
  now.mode = mode_of(mode);
  now.hash = hash_;
  now.count = count_;
  const auto q = work.in.begin() + system_.layout().q();
  now.y.assign(q, q + static_cast<std::ptrdiff_t>(least_.size()));
  now.least = returns.least;
  now.most = returns.most;
  returns.least = returns.most = now.y;
  since_least_ = since_most_ = now.y;
  returns.next = (returns.next + 1) % returns.ring.size();
  returns.size = std::min(returns.size + 1, returns.ring.size());
  if (measuring_) {
    if (key == key_ && --returns_left_ == 0) finish(now);
  } else {
    look_for_period(key, returns, mode, work);
  }
  if (measuring_) take_modes(mode);
}

double PeriodMonitor::scale(std::size_t component) const {
  const double range = most_[component] - least_[component];
  return still(component) ? range : own_[component];
}

double PeriodMonitor::rounding(std::size_t component) const {
  return std::numeric_limits<double>::epsilon() * (most_[component] - least_[component]);
}

bool PeriodMonitor::still(std::size_t component) const {
  return !(own_[component] > periodic_.accuracy * (most_[component] - least_[component]));
}

double PeriodMonitor::distance(const Return& a, const Return& b) const {
  double worst = 0;
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    if (drifts(i) || !(scale(i) > 0)) continue;
    worst = std::max(worst, std::abs(moved(a.y[i], b.y[i], i)) / scale(i));
  }
  return worst;
}

/// From `from` to `to` without whole turns.
double PeriodMonitor::moved(double to, double from, std::size_t component) const {
  const double turn = turn_[component], all = to - from;
  return turn > 0 ? all - turn * std::round(all / turn) : all;
}

/// The events between a and b are those between b and c.
bool PeriodMonitor::same_events(const Return& a, const Return& b, const Return& c) const {
  const long length = b.count - a.count;
  if (length != c.count - b.count) return false;
  std::uint64_t power = 1;
  for (long i = 0; i < length; ++i) power *= kBase;
  return b.hash - a.hash * power == c.hash - b.hash * power;
}

void PeriodMonitor::look_for_period(std::uint64_t key, Returns& returns, const engines::Mode& mode,
                                    model::Workspace& work) {
  const Return& now = returns.back(0);
  const std::size_t most = key == kSampleKey ? 1 : returns.stride.size();
  std::vector<double> least = now.least, largest = now.most;
  std::size_t found = 0;
  for (std::size_t p = 1; p <= most && p < returns.size; ++p) {
    const Return& part = returns.back(p - 1);
    bool settled = true;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      least[i] = std::min(least[i], part.least[i]);
      largest[i] = std::max(largest[i], part.most[i]);
      own_[i] = largest[i] - least[i];
      // What only drifts does so steadily, unless time drives it.
      settled = settled && (drifts(i) ? forcing_ == 0 || own_[i] <= rounding(i) : still(i));
    }
    Stride& stride = returns.stride[p - 1];
    stride.add(distance(now, returns.back(p)));
    if (found != 0 || 2 * p >= returns.size || (key == kSampleKey && !settled)) continue;
    if (!same_modes(returns, p) || stride.count <= static_cast<long>(p)) continue;
    double bound = stride.bound();
    // What never shrank says nothing of where it goes, unless it is a motion of its own period within the errors of the steps.
    if (!stride.shrank() && stride.largest() > kErrors * options_.tolerance)
      bound = std::numeric_limits<double>::infinity();
    bool by_limit = false;
    if (bound > periodic_.accuracy && stride.largest() <= periodic_.accuracy) {
      bound = distance_to_limit(returns, p);
      by_limit = true;
      for (std::size_t q = 1; q < p; ++q)
        by_limit = by_limit && (p % q != 0 || returns.stride[q - 1].largest() <= 3 * bound ||
                                returns.stride[q - 1].steady());
      if (!by_limit) bound = std::numeric_limits<double>::infinity();
    }
    if (!(bound <= periodic_.accuracy)) {
      stride.near = 0;
      continue;
    }
    // It is followed to what the tolerance allows, if that does not take long.
    if (++stride.near < kPatience && bound > 100 * options_.tolerance) continue;
    found = p;
    motion_ = {};
    motion_.distance = bound;
    const double decade = stride.per_decade();
    motion_.contraction = decade > 0 && stride.shrank()
                              ? elementary::pow(10.0, -static_cast<double>(p) / decade)
                              : std::numeric_limits<double>::quiet_NaN();
    if (settled) {
      const Return& before = returns.back(p);
      for (std::size_t i = 0; i < own_.size(); ++i) {
        const double change = now.y[i] - before.y[i];
        if (drifts(i) && std::abs(change) > rounding(i))
          motion_.drifts.push_back(
              {simulate::column_names(system_)[1 + i], change / (now.time - before.time)});
      }
      settle(mode, work, rest_time_ < returns.back(p).time ? rest_time_ : now.time,
             rest_time_ < returns.back(p).time);
      return;
    }
  }
  if (found == 0 || awaits_switch(work)) return;
  // Within this distance of the periodic motion, what is near to itself after a part of p repeats after it.
  for (std::size_t q = 1; q < found; ++q) {
    if (found % q != 0 || !same_modes(returns, q)) continue;
    if (returns.stride[q - 1].largest() > same_) continue;
    motion_.contraction =
        elementary::pow(motion_.contraction, static_cast<double>(q) / static_cast<double>(found));
    found = q;
  }
  first_ = now;
  begin_measuring(key, found, now.time - returns.back(found).time);
}

/// The limit of y_k, y_{k−p}, …, from `offset` returns ago on: if deviations obey a linear recurrence, the sum of states whose weights γ (with sum
/// one) make the same sum of their differences vanish, in the least squares over the window. False: there is none.
bool PeriodMonitor::limit_of(const Returns& returns, std::size_t p, std::size_t offset,
                             std::vector<double>& limit) const {
  const std::size_t size = own_.size();
  const std::vector<double>& near = returns.back(offset).y;
  const auto point = [&](std::size_t j, std::size_t i) {
    return near[i] + moved(returns.back(offset + j * p).y[i], near[i], i);
  };
  const auto step = [&](std::size_t j, std::size_t i) { return (point(j, i) - point(j + 1, i)) / scale(i); };
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < size; ++i) {
    if (!drifts(i) && scale(i) > 0) used.push_back(i);
  }
  const std::size_t weights = std::min(kWeights, used.size());
  // Columns γ_1 … γ_m, then the right-hand side; modified Gram-Schmidt.
  std::vector<std::vector<double>> column(weights + 1);
  for (std::size_t shift = 0; shift + weights + 1 < kPoints; ++shift) {
    for (const std::size_t i : used) {
      for (std::size_t j = 1; j <= weights; ++j) column[j - 1].push_back(step(shift + j, i) - step(shift, i));
      column[weights].push_back(-step(shift, i));
    }
  }
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
  };
  std::vector<double> upper((weights + 1) * (weights + 1), 0.0), gamma(weights, 0.0);
  for (std::size_t j = 0; j <= weights; ++j) {
    const double before = product(column[j], column[j]);
    for (std::size_t l = 0; l < j; ++l) {
      if (upper[l * (weights + 1) + l] == 0) continue;
      const double part = product(column[l], column[j]);
      upper[l * (weights + 1) + j] = part;
      for (std::size_t k = 0; k < column[j].size(); ++k) column[j][k] -= part * column[l][k];
    }
    const double norm = std::sqrt(product(column[j], column[j]));
    if (j == weights || !(norm > 1e-9 * std::sqrt(before))) continue;  // depends on those before it
    upper[j * (weights + 1) + j] = norm;
    for (double& x : column[j]) x /= norm;
  }
  double first = 1;
  for (std::size_t j = weights; j-- > 0;) {
    if (upper[j * (weights + 1) + j] == 0) continue;
    double sum = upper[j * (weights + 1) + weights];
    for (std::size_t l = j + 1; l < weights; ++l) sum -= upper[j * (weights + 1) + l] * gamma[l];
    gamma[j] = sum / upper[j * (weights + 1) + j];
    first -= gamma[j];
  }
  limit.resize(size);
  bool finite = true;
  for (std::size_t i = 0; i < size; ++i) {
    limit[i] = first * point(0, i);
    for (std::size_t j = 0; j < weights; ++j) limit[i] += gamma[j] * point(j + 1, i);
    finite = finite && std::isfinite(limit[i]);
  }
  return finite;
}

/// How far y_k is from the limit of its sequence, or was in the window before it (a transient that turns passes near to it), with what two
/// separate windows differ about the limit.
double PeriodMonitor::distance_to_limit(const Returns& returns, std::size_t p) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (returns.size < 2 * kPoints * p) return kNone;
  Return now, before;
  if (!limit_of(returns, p, 0, now.y) || !limit_of(returns, p, kPoints * p, before.y)) return kNone;
  double far = 0;
  for (std::size_t j = 0; j < kPoints; ++j) far = std::max(far, distance(returns.back(j * p), now));
  return 2 * far + 4 * distance(now, before);
}

/// Modes and events have been the same over the last two times p returns.
bool PeriodMonitor::same_modes(const Returns& returns, std::size_t p) const {
  const Return &now = returns.back(0), &before = returns.back(p), &first = returns.back(2 * p);
  // Returns that come faster and faster end in a point, whatever is compared at them.
  const double last = now.time - before.time, earlier = before.time - first.time;
  const double steady = 10 * std::max(periodic_.accuracy, options_.tolerance);
  return now.mode == before.mode && before.mode == first.mode && same_events(first, before, now) &&
         std::abs(last - earlier) <= steady * last;
}

/// Whether a switch of time is still to come that comes once (step(t - 50)): until then nothing that repeats is the motion asked for.
bool PeriodMonitor::awaits_switch(model::Workspace& work) const {
  const double now = work.in[0];
  bool awaits = false;
  for (const model::SwitchInfo& info : system_.switches()) {
    if (!info.time_only || !info.two_sided() || !info.inner.empty()) continue;
    std::vector<double> out(static_cast<std::size_t>(info.surface.outputs()));
    info.surface.evaluate(work.in.data(), out.data(), work.registers.data());
    const double slope = out[1];
    const double value = out[0];
    if (!(value * slope < 0)) continue;
    // A straight line has its only zero there; what swings has none, or others.
    const double zero = now - value / slope;
    bool straight = true;
    for (const double time : {zero, 2 * zero - now}) {
      work.in[0] = time;
      info.surface.evaluate(work.in.data(), out.data(), work.registers.data());
      const double line = value + slope * (time - now);
      straight = straight && std::abs(out[0] - line) <= 1e-9 * std::abs(value);
    }
    work.in[0] = now;
    awaits = awaits || (straight && zero <= options_.until);
  }
  return awaits;
}

/// The motion has come to an equilibrium.
void PeriodMonitor::settle(const engines::Mode& mode, model::Workspace& work, double since, bool at_rest) {
  if (awaits_switch(work)) return;
  if (at_rest) motion_ = {};
  motion_.equilibrium = true;
  motion_.at_rest = at_rest;
  motion_.forcing_period = forcing_;
  motion_.from = since;
  motion_.to = work.in[0];
  begin_ranges();
  credited_ = since;
  take_modes(mode);
  simulate::fill_row(system_, mode, work, cells_.data());
  measure_cells();
  credit(motion_.to);
  gather_shares(motion_.to - since);
  found_ = std::move(motion_);
  cancel_ = true;
}

void PeriodMonitor::begin_measuring(std::uint64_t key, std::size_t returns, double period) {
  measuring_ = true;
  cancel_ = true;  // to go on with rows at the places that are measured
  key_ = key;
  returns_left_ = returns;
  motion_.from = first_.time;
  motion_.period = period;
  motion_.forcing_period = forcing_;
  credited_ = first_.time;
  begin_ranges();
  for (std::size_t i = 0; i < first_.y.size(); ++i)
    motion_.ranges[i].least = motion_.ranges[i].most = first_.y[i];
  before_.assign(1, first_.time);
  before_.insert(before_.end(), first_.y.begin(), first_.y.end());
  track_.clear();
}

void PeriodMonitor::begin_ranges() {
  const std::vector<std::string> names = simulate::column_names(system_);
  const auto own = static_cast<std::size_t>(1 + system_.layout().integrated());
  for (std::size_t c = 1; c < names.size(); ++c) {
    if (c >= own && system_.columns()[c - own].mode_of >= 0) continue;
    motion_.ranges.push_back(
        {names[c], std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  }
  shares_.assign(system_.relations().size() * kWords + system_.switches().size(), 0.0);
  modes_.clear();
}

void PeriodMonitor::take_modes(const engines::Mode& mode) {
  modes_.clear();
  for (int r = 0; r < system_.layout().relations; ++r)
    modes_.push_back(simulate::mode_number(system_, mode, r));
  for (std::size_t k = 0; k < mode.surface.size(); ++k) modes_.push_back(mode.slides(k) ? 1 : 0);
}

void PeriodMonitor::credit(double time) {
  if (modes_.empty()) return;
  const std::size_t relations = system_.relations().size();
  for (std::size_t r = 0; r < relations; ++r)
    shares_[r * kWords + static_cast<std::size_t>(modes_[r])] += time - credited_;
  for (std::size_t k = 0; k < system_.switches().size(); ++k) {
    if (modes_[relations + k] != 0) shares_[relations * kWords + k] += time - credited_;
  }
  credited_ = time;
}

void PeriodMonitor::measure_row(const engines::Mode& mode, model::Workspace& work) {
  simulate::fill_row(system_, mode, work, cells_.data());
  credit(cells_[0]);
  take_modes(mode);
  measure_cells();
  locate_extremes();
  for (; instants_met_ < instants_.size() && instants_[instants_met_] <= cells_[0]; ++instants_met_) {
    if (!std::binary_search(options_.instants.begin(), options_.instants.end(), instants_[instants_met_]))
      track_.insert(track_.end(), cells_.begin() + 1,
                    cells_.begin() + 1 + static_cast<std::ptrdiff_t>(least_.size()));
  }
}

void PeriodMonitor::measure_cells() {
  const auto own = static_cast<std::size_t>(1 + system_.layout().integrated());
  std::size_t next = 0;
  for (std::size_t c = 1; c < cells_.size(); ++c) {
    if (c >= own && system_.columns()[c - own].mode_of >= 0) continue;
    PeriodicMotion::Range& range = motion_.ranges[next++];
    range.least = std::min(range.least, cells_[c]);
    range.most = std::max(range.most, cells_[c]);
  }
}

/// Extremes of positions between the row before and this one, by the cubic through positions and speeds: no event lies between them.
void PeriodMonitor::locate_extremes() {
  const auto n = static_cast<std::size_t>(system_.layout().coordinates);
  const double h = cells_[0] - before_[0];
  for (std::size_t i = 0; i < n && h > 0; ++i) {
    const double start = before_[1 + i], change = cells_[1 + i] - start;
    const double u = h * before_[1 + n + i], w = h * cells_[1 + n + i];
    if (u == 0 || w == 0 || (u > 0) == (w > 0)) continue;
    // start + u s + b s² + c s³ with slope u + 2 b s + 3 c s², which changes its sign once in (0, 1)
    const double b = 3 * change - 2 * u - w, c = u + w - 2 * change;
    double s = u / (u - w);
    for (int round = 0; round < 8; ++round) {
      const double slope = 2 * b + 6 * c * s;
      if (slope == 0) break;
      s = std::clamp(s - (u + s * (2 * b + 3 * c * s)) / slope, 0.0, 1.0);
    }
    const double value = start + s * (u + s * (b + c * s));
    motion_.ranges[i].least = std::min(motion_.ranges[i].least, value);
    motion_.ranges[i].most = std::max(motion_.ranges[i].most, value);
  }
  std::copy_n(cells_.begin(), before_.size(), before_.begin());
}

/// How often the measured period repeats a part of itself, all components and places alike.
int PeriodMonitor::repetitions(const Return& last) const {
  const std::size_t width = least_.size();
  const auto places = static_cast<std::size_t>(PeriodicMotion::kMeasured);
  if (track_.size() != places * width) return 1;
  for (std::size_t parts = 64; parts > 1; --parts) {
    if (places % parts != 0 || motion_.events.size() % parts != 0 || motion_.events_cut) continue;
    const std::size_t length = places / parts;
    std::size_t apart = 0;
    for (std::size_t k = 0; k + length < places; ++k) {
      bool same = true;
      for (std::size_t i = 0; i < width && same; ++i) {
        // What drifts advances by the same amount in every part.
        const double drift = drifts(i) ? (last.y[i] - first_.y[i]) / static_cast<double>(parts) : 0;
        const double off = moved(track_[(k + length) * width + i], track_[k * width + i] + drift, i);
        same = !(std::abs(off) > same_ * scale(i));
      }
      if (!same) ++apart;
    }
    // A place may lie between two impacts that are one.
    if (apart <= motion_.events.size() / parts) return static_cast<int>(parts);
  }
  return 1;
}

void PeriodMonitor::finish(const Return& last) {
  measuring_ = false;
  cancel_ = true;
  for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = motion_.ranges[i].most - motion_.ranges[i].least;
  if (distance(first_, last) > periodic_.accuracy || last.mode != first_.mode)
    return;  // a pause, not a period
  motion_.to = last.time;
  motion_.period = last.time - first_.time;
  for (std::size_t i = 0; i < last.y.size(); ++i) {
    const double change = last.y[i] - first_.y[i];
    if (drifts(i) && std::abs(change) > periodic_.accuracy * (most_[i] - least_[i]))
      motion_.drifts.push_back({motion_.ranges[i].name, change});
    if (const double turned = turn_[i] > 0 ? turn_[i] * std::round(change / turn_[i]) : 0; turned != 0)
      motion_.drifts.push_back({motion_.ranges[i].name, turned});
  }
  gather_shares(motion_.period);
  if (forcing_ > 0) {
    motion_.period = forcing_ * std::round(motion_.period / forcing_);
    const int parts = repetitions(last);
    motion_.period /= parts;
    motion_.events.resize(motion_.events.size() / static_cast<std::size_t>(parts));
    for (PeriodicMotion::Drift& drift : motion_.drifts) drift.change /= parts;
  }
  found_ = std::move(motion_);
}

void PeriodMonitor::gather_shares(double duration) {
  for (std::size_t r = 0; r < system_.relations().size(); ++r) {
    for (std::size_t word = 0; word < kWords; ++word) {
      const double time = shares_[r * kWords + word];
      if (time > 0)
        motion_.shares.push_back({system_.relations()[r].name,
                                  std::string(simulate::mode_word(static_cast<int>(word))), time / duration});
    }
  }
  for (std::size_t k = 0; k < system_.switches().size(); ++k) {
    const double time = shares_[system_.relations().size() * kWords + k];
    if (time > 0) motion_.shares.push_back({system_.switches()[k].place, "slide", time / duration});
  }
}

engines::EngineResult run_until_periodic(const model::System& system, std::string_view engine,
                                         engines::EngineOptions options, double forcing_period,
                                         engines::Sink& sink, std::optional<PeriodicMotion>& found,
                                         const PeriodicOptions& periodic, const engines::Moment* resume) {
  PeriodMonitor monitor(system, options, forcing_period, sink, periodic);
  options.event_rows = true;
  options.cancel = monitor.cancel();
  options.observer = monitor.observer();
  simulate::Legs legs(system, engine, options, resume);
  // Rows at equal times belong to the whole run, not to a leg.
  const double until = options.until;
  if (options.every == 0)
    options.every = (until - options.from) / static_cast<double>(std::max(options.samples - 1, 1L));
  engines::EngineResult total;
  engines::Moment moment;
  bool first = true, again = monitor.next_leg(resume != nullptr ? resume->time : options.from);
  do {
    options.instants = monitor.instants();
    options.until = again ? monitor.leg_until() : until;
    engines::EngineResult leg = legs.run(options, monitor, resume);
    if (!first) simulate::add_earlier(total, leg);
    first = false;
    total = std::move(leg);
    moment = total.end;
    resume = &moment;
    again = (total.status.reason == Reason::interrupted || total.status.reason == Reason::done) &&
            monitor.next_leg(moment.time);
  } while (again);
  found = monitor.found();
  if (!found) monitor.end_intervals();
  if (found && total.whole &&
      (total.status.reason == Reason::interrupted || total.status.reason == Reason::done)) {
    total.status = {Reason::periodic,
                    total.status.time,
                    {},
                    found->at_rest          ? "at rest since " + to_text(found->from, 12)
                    : !found->equilibrium   ? "period " + to_text(found->period, 12)
                    : found->drifts.empty() ? "an equilibrium"
                                            : "a steady drift"};
  }
  legs.judge(total);
  return total;
}

}  // namespace judder::analysis
