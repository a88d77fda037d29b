#include "judder/analysis/periodic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "judder/core/number.hpp"

namespace judder::analysis {
namespace {

using engines::EventKind;
using engines::RowKind;

constexpr std::string_view kPrefix = "judder_section_";
constexpr std::size_t kMostSections = 8;
constexpr std::size_t kWords = 8;  ///< numbers of simulate::mode_word
constexpr std::size_t kMostKinds = 256;
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

/// Smallest whole a ≤ limit with a·p/q whole to 1e-9 relative; 0: none. By the convergents of p/q.
long multiplier(double p, double q, long limit) {
  double x = p / q;
  long h0 = 0, h1 = 1, k0 = 1, k1 = 0;  // convergents h/k of p/q: k p = h q
  for (int i = 0; i < 40; ++i) {
    const double whole = std::floor(x);
    if (!(whole < 1e9)) return 0;
    const long a = static_cast<long>(whole);
    const long h = a * h1 + h0, k = a * k1 + k0;
    if (k > limit || h > 1000000000L) return 0;
    if (h > 0 && std::abs(static_cast<double>(k) * p - static_cast<double>(h) * q) <=
                     1e-9 * static_cast<double>(h) * q)
      return k;
    h0 = h1;
    h1 = h;
    k0 = k1;
    k1 = k;
    if (x - whole < 1e-12) return 0;
    x = 1 / (x - whole);
  }
  return 0;
}

/// Everything of the motion that may depend on t, at the start state.
void time_values(const model::System& system, model::Workspace& work, double t, std::vector<double>& out) {
  out.clear();
  work.in[0] = t;
  system.sides_by_value(work.in, work);
  static_cast<void>(system.motion(work));
  out.insert(out.end(), work.force.begin(), work.force.end());
  out.insert(out.end(), work.rate.begin(), work.rate.end());
  const int n = system.layout().coordinates;
  for (int r = 0; r < system.layout().relations; ++r) {
    const model::RelationRows& rows = system.rows(work, r);
    const model::Relation& relation = system.relations()[static_cast<std::size_t>(r)];
    out.insert(out.end(), {rows.gap, rows.gap_rate, rows.base});
    if (relation.has_normal) out.insert(out.end(), rows.w, rows.w + n);
    for (int j = 0; j < relation.tangents; ++j)
      out.insert(out.end(), {rows.tangent[j].drive, rows.tangent[j].mu, rows.tangent[j].mu_static});
  }
}

}  // namespace

std::optional<double> forcing_period(const model::System& system) {
  if (system.autonomous()) return 0.0;
  if (system.periods().empty()) return std::nullopt;
  double period = system.periods().front();
  for (const double other : system.periods()) {
    const long times = multiplier(period, other, 1000);
    if (times == 0) return std::nullopt;
    period *= static_cast<double>(times);
  }
  model::Workspace work(system);
  std::vector<double> now, later;
  const double from = system.start()[0];
  for (int i = 0; i < 64; ++i) {
    const double t = from + period * std::fmod(0.6180339887498949 * (i + 1), 1.0);
    time_values(system, work, t, now);
    time_values(system, work, t + period, later);
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (!(std::abs(now[k] - later[k]) <= 1e-7 * std::max({std::abs(now[k]), std::abs(later[k]), 1e-300}))) {
        // Values near zero of something large elsewhere: compared with its size over the period.
        double size = 0;
        for (int j = 0; j < 16; ++j) {
          std::vector<double> other;
          time_values(system, work, from + period * j / 16, other);
          size = std::max(size, std::abs(other[k]));
        }
        if (!(std::abs(now[k] - later[k]) <= 1e-7 * size)) return std::nullopt;
      }
    }
  }
  return period;
}

model::Spec with_sections(const model::Spec& spec, const model::System& system, double forcing_period) {
  model::Spec out = spec;
  std::size_t count = 0;
  const auto add = [&](const std::string& zero) {
    model::Watch watch;
    watch.name = std::string(kPrefix) + std::to_string(++count);
    watch.zero = zero;
    out.watches.push_back(std::move(watch));
  };
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
  if (forcing_period > 0) {
    model::Watch watch;
    watch.name = std::string(kPrefix) + "strobe";
    watch.zero = "sin(pi*(t - (" + to_text(system.start()[0]) + "))/" + to_text(forcing_period) + ")";
    out.watches.push_back(std::move(watch));
  }
  return out;
}

PeriodMonitor::PeriodMonitor(const model::System& system, const engines::EngineOptions& options,
                             double forcing_period, engines::Sink& inner, const PeriodicOptions& periodic)
    : system_(system),
      options_(options),
      forcing_(forcing_period),
      inner_(inner),
      periodic_(periodic),
      user_(options.cancel) {
  for (std::size_t k = 0; k < system.watches().size(); ++k) {
    const std::string& name = system.watches()[k].name;
    hidden_.push_back(name.compare(0, kPrefix.size(), kPrefix) == 0);
    if (name == std::string(kPrefix) + "strobe") strobe_ = static_cast<int>(k);
  }
  const auto size = static_cast<std::size_t>(system.layout().integrated());
  least_.assign(size, std::numeric_limits<double>::infinity());
  most_.assign(size, -std::numeric_limits<double>::infinity());
  cells_.resize(simulate::column_names(system).size());
}

bool PeriodMonitor::sample_time(double time) const {
  const double span = options_.until - options_.from;
  const double spacing =
      options_.every > 0 ? options_.every : span / static_cast<double>(std::max(options_.samples - 1, 1L));
  const double k = std::round((time - options_.from) / spacing);
  return std::abs(options_.from + k * spacing - time) <= 1e-12 * std::abs(span);
}

void PeriodMonitor::note_state(const model::Workspace& work) {
  const double* y = work.in.data() + system_.layout().q();
  for (std::size_t i = 0; i < least_.size(); ++i) {
    least_[i] = std::min(least_[i], y[i]);
    most_[i] = std::max(most_[i], y[i]);
  }
}

void PeriodMonitor::row(RowKind kind, const engines::Mode& mode, model::Workspace& work) {
  if (found_) {
    if (kind == RowKind::sample) inner_.row(kind, mode, work);
    return;
  }
  note_state(work);
  if (measuring_) measure_row(mode, work);
  if (kind == RowKind::sample) {
    inner_.row(kind, mode, work);
    return;
  }
  if (kind == RowKind::before) {
    // Whether anybody else is to see this instant is known with its events.
    held_in_ = work.in;
    held_mode_ = mode;
    held_work_ = &work;
    visible_ = false;
    strobed_ = false;
    instant_ = 0;
    return;
  }
  if (visible_ && options_.event_rows)
    inner_.row(kind, mode, work);
  else if (sample_time(work.in[0]))
    inner_.row(RowKind::sample, mode, work);
  held_work_ = nullptr;
  section(mode, work);
}

void PeriodMonitor::event(const engines::Event& event) {
  const bool hidden = event.kind == EventKind::watch && hidden_[static_cast<std::size_t>(event.place)];
  instant_ = mixed(instant_, hash_of(event));
  if (hidden) {
    strobed_ = strobed_ || event.place == strobe_;
    return;
  }
  if (!visible_ && held_work_ != nullptr && options_.event_rows) {
    held_work_->in.swap(held_in_);
    inner_.row(RowKind::before, held_mode_, *held_work_);
    held_work_->in.swap(held_in_);
  }
  visible_ = true;
  hash_ = hash_ * kBase + hash_of(event);
  ++count_;
  inner_.event(event);
  if (!measuring_) return;
  if (motion_.events.size() >= PeriodicMotion::kMostEvents) {
    motion_.events_cut = true;
    return;
  }
  const std::string detail = engines::detail(system_, event);
  motion_.events.push_back(std::string(engines::name(event.kind)) + " " + engines::where(system_, event) +
                           (detail.empty() ? "" : " " + detail));
}

void PeriodMonitor::progress(double time) {
  inner_.progress(time);
  if (user_ != nullptr && user_->load(std::memory_order_relaxed)) cancel_ = true;
}

void PeriodMonitor::section(const engines::Mode& mode, const model::Workspace& work) {
  if (forcing_ > 0 && !strobed_) return;
  const std::uint64_t key = forcing_ > 0 ? 1 : instant_;
  auto found = returns_.find(key);
  if (found == returns_.end()) {
    if (returns_.size() >= kMostKinds) return;
    found = returns_.emplace(key, Returns{}).first;
    found->second.ring.resize(static_cast<std::size_t>(2 * periodic_.most_returns + 1));
  }
  Returns& returns = found->second;
  Return& now = returns.ring[returns.next];
  now.time = work.in[0];
  now.mode = mode.key();
  now.hash = hash_;
  now.count = count_;
  const auto q = work.in.begin() + system_.layout().q();
  now.y.assign(q, q + static_cast<std::ptrdiff_t>(least_.size()));
  returns.next = (returns.next + 1) % returns.ring.size();
  returns.size = std::min(returns.size + 1, returns.ring.size());
  if (!measuring_) {
    look_for_period(key, returns);
  } else if (key == key_ && --returns_left_ == 0) {
    finish(now);
  }
  if (measuring_) take_modes(mode);
}

double PeriodMonitor::distance(const Return& a, const Return& b) const {
  double worst = 0;
  const auto n = static_cast<std::size_t>(system_.layout().coordinates);
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    // q, v, z; of q and z those that nothing depends on may drift
    const bool drifts = i < n ? system_.cyclic()[i] : i >= 2 * n && system_.cyclic()[i - n];
    const double range = most_[i] - least_[i];
    if (drifts || !(range > 0)) continue;
    worst = std::max(worst, std::abs(a.y[i] - b.y[i]) / range);
  }
  return worst;
}

/// The events between a and b are those between b and c.
bool PeriodMonitor::same_events(const Return& a, const Return& b, const Return& c) const {
  const long length = b.count - a.count;
  if (length != c.count - b.count) return false;
  std::uint64_t power = 1;
  for (long i = 0; i < length; ++i) power *= kBase;
  return b.hash - a.hash * power == c.hash - b.hash * power;
}

/// A motion that turns while it converges is near to itself after p returns before it is after a divisor of p: as long as the distance
/// after the divisor is small and still shrinks, it is waited for.
bool PeriodMonitor::shorter_is_coming(const Returns& returns, std::size_t p) const {
  for (std::size_t q = 1; q < p; ++q) {
    if (p % q != 0 || p + q >= returns.size) continue;
    const double now = distance(returns.back(0), returns.back(q));
    if (now < std::sqrt(periodic_.accuracy) && now < 0.99 * distance(returns.back(p), returns.back(p + q)))
      return true;
  }
  return false;
}

void PeriodMonitor::look_for_period(std::uint64_t key, const Returns& returns) {
  const Return& now = returns.back(0);
  for (std::size_t p = 1; 2 * p < returns.size; ++p) {
    const Return &before = returns.back(p), &first = returns.back(2 * p);
    if (now.mode != before.mode || before.mode != first.mode || !same_events(first, before, now)) continue;
    const double last = distance(now, before);
    if (last > periodic_.accuracy) continue;
    const double earlier = distance(before, first);
    const bool rounding = std::max(last, earlier) <= 1e-2 * periodic_.accuracy;
    const double shrinks = earlier > 0 ? last / earlier : 0;
    const double remaining = rounding      ? std::max(last, earlier)
                             : shrinks < 1 ? last * shrinks / (1 - shrinks)
                                           : std::numeric_limits<double>::infinity();
    if (remaining > periodic_.accuracy || shorter_is_coming(returns, p)) continue;
    motion_ = {};
    motion_.distance = remaining;
    motion_.contraction = rounding ? std::numeric_limits<double>::quiet_NaN() : shrinks;
    first_ = now;
    begin_measuring(key, p);
    return;
  }
}

void PeriodMonitor::begin_measuring(std::uint64_t key, std::size_t returns) {
  measuring_ = true;
  key_ = key;
  returns_left_ = returns;
  motion_.from = first_.time;
  motion_.forcing_period = forcing_;
  credited_ = first_.time;
  const std::vector<std::string> names = simulate::column_names(system_);
  const auto own = static_cast<std::size_t>(1 + system_.layout().integrated());
  for (std::size_t c = 1; c < names.size(); ++c) {
    if (c >= own && system_.columns()[c - own].mode_of >= 0) continue;
    const bool state = c < own;
    motion_.ranges.push_back({names[c], state ? first_.y[c - 1] : std::numeric_limits<double>::infinity(),
                              state ? first_.y[c - 1] : -std::numeric_limits<double>::infinity()});
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
  const auto own = static_cast<std::size_t>(1 + system_.layout().integrated());
  std::size_t next = 0;
  for (std::size_t c = 1; c < cells_.size(); ++c) {
    if (c >= own && system_.columns()[c - own].mode_of >= 0) continue;
    PeriodicMotion::Range& range = motion_.ranges[next++];
    range.least = std::min(range.least, cells_[c]);
    range.most = std::max(range.most, cells_[c]);
  }
}

void PeriodMonitor::finish(const Return& last) {
  const double apart = distance(first_, last);
  if (apart > periodic_.accuracy || last.mode != first_.mode) {
    measuring_ = false;  // it was a pause, not a period
    return;
  }
  motion_.to = last.time;
  motion_.period = last.time - first_.time;
  if (forcing_ > 0) motion_.period = forcing_ * std::round(motion_.period / forcing_);
  const auto n = static_cast<std::size_t>(system_.layout().coordinates);
  bool still = true;
  for (std::size_t i = 0; i < last.y.size(); ++i) {
    const bool drifts = i < n ? system_.cyclic()[i] : i >= 2 * n && system_.cyclic()[i - n];
    if (drifts) {
      const double change = last.y[i] - first_.y[i];
      if (std::abs(change) > periodic_.accuracy * (most_[i] - least_[i]))
        motion_.drifts.push_back({motion_.ranges[i].name, change});
      continue;
    }
    still = still && motion_.ranges[i].most - motion_.ranges[i].least <=
                         10 * periodic_.accuracy * (most_[i] - least_[i]);
  }
  motion_.equilibrium = still && motion_.events.empty();
  for (std::size_t r = 0; r < system_.relations().size(); ++r) {
    for (std::size_t word = 0; word < kWords; ++word) {
      const double time = shares_[r * kWords + word];
      if (time > 0)
        motion_.shares.push_back({system_.relations()[r].name,
                                  std::string(simulate::mode_word(static_cast<int>(word))),
                                  time / motion_.period});
    }
  }
  for (std::size_t k = 0; k < system_.switches().size(); ++k) {
    const double time = shares_[system_.relations().size() * kWords + k];
    if (time > 0) motion_.shares.push_back({system_.switches()[k].place, "slide", time / motion_.period});
  }
  found_ = std::move(motion_);
  measuring_ = false;
  cancel_ = true;
}

engines::EngineResult run_until_periodic(const model::System& system, std::string_view engine,
                                         engines::EngineOptions options, double forcing_period,
                                         engines::Sink& sink, std::optional<PeriodicMotion>& found,
                                         const PeriodicOptions& periodic, const engines::Moment* resume) {
  PeriodMonitor monitor(system, options, forcing_period, sink, periodic);
  options.event_rows = true;
  options.cancel = monitor.cancel();
  engines::EngineResult result = simulate::run(system, engine, options, monitor, resume);
  found = monitor.found();
  if (found && result.status.reason == Reason::interrupted)
    result.status = {Reason::periodic,
                     result.status.time,
                     {},
                     found->equilibrium ? "an equilibrium" : "period " + to_text(found->period, 12)};
  return result;
}

}  // namespace judder::analysis
