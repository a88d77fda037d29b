// The state on the surfaces that it slides on, and switchings that accumulate there.
#include <algorithm>
#include <cmath>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kNothing = 1e-20;  ///< share of its running scale below which a component is zero
/// Share of the square of its slopes below which a surface is one of the others: slopes that are parallel to 1e-6 tell their surfaces apart no better
/// than the rounding of what was projected.
constexpr double kDependent = 1e-12;

}  // namespace

// Moves the state onto the surfaces that it slides on; steps leave them by their error only.
void EventEngine::Run::project_sliding() {
  std::vector<int>& sliding = search_.rows;
  sliding.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) sliding.push_back(k);
  }
  if (!sliding.empty()) project_onto(sliding);
}

// A slide whose sides both push nothing yet is one of friction that begins with zero, or of a surface that something else holds. The first derivative that is not zero tells: it is
// the order of the zero from which the push grows.
void EventEngine::Run::note_pushes() {
  bool any = false;
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.surface[k] != AtSurface::slides || !motion_.parallel(k) || push_zeros_[2 * k] != 0 ||
        push_zeros_[2 * k + 1] != 0)
      continue;
    any = true;
    const double lower = motion_.lower_side(k);
    int orders[2] = {0, 0};
    for (const int upper : {0, 1}) {
      Mode& trial = search_.trial;
      trial = mode_;
      trial.surface[k] = AtSurface::away;
      trial.side[k] = lower + upper;
      if (!series_.compute(trial, expr::kTaylorOrder)) continue;
      const expr::Series s = series_.surface(k);
      double size = 0;
      double power = 1;
      for (int o = 1; o <= series_.order(); ++o)
        size = std::max(size, std::abs(s.c[o] * (power *= series_.time_scale())));
      power = series_.time_scale();
      for (int o = 2; o <= series_.order() && orders[upper] == 0; ++o) {
        power *= series_.time_scale();
        if (std::abs(s.c[o] * power) <= kSmallRate * size) continue;
        if ((s.c[o] > 0) != (upper != 0)) orders[upper] = o - 1;  // back to the surface
        break;
      }
    }
    if (orders[0] == 0 || orders[1] == 0) continue;
    for (const int upper : {0, 1}) push_zeros_[2 * k + upper] = static_cast<std::int8_t>(orders[upper]);
  }
  if (!any) return;
  motion_.load(t_, y_.data());
  static_cast<void>(motion_.evaluate());
}

// The surface of a single quantity at which it would rest (h in `-sqrt(abs(h))`) is met exactly: what a landing leaves would count in the rate,
// which has no slope there, and carry it on.
void EventEngine::Run::meet_surface(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (!info.two_sided()) return;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  if (surface_memory_[0] == 0 || surface_memory_[1] != 0) return;
  int only = -1;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (only >= 0) return;
    only = i;
  }
  if (only < 0) return;
  const double change = surface_memory_[0] / surface_memory_[2 + only];
  if (!(std::abs(change) <= options_.tolerance * scales_.sizes()[only])) return;
  const double before = y_[only];
  y_[only] -= change;
  have_f0_ = false;
  if (!motion_(t_, y_.data(), landing_y_.data()) || landing_y_[only] != 0) y_[only] = before;
  motion_.load(t_, y_.data());
}

// A surface that both sides push back to, though its rate does not tell, is met together with the kinks in it that are at zero: x + x'*abs(x')/2
// at the origin. What a landing leaves of them would take the motion on.
void EventEngine::Run::meet_kinks(int k) {
  search_.rows.clear();
  for (const int inner : system_.switches()[k].inner) {
    if (kink_inside(inner) && system_.switches()[inner].two_sided()) search_.rows.push_back(inner);
  }
  if (search_.rows.empty()) return;
  if (system_.switches()[k].two_sided()) search_.rows.push_back(k);
  project_onto(search_.rows);
}

// Several surfaces at once: the smallest change relative to the running scales.
void EventEngine::Run::project_onto(std::vector<int>& sliding) {
  // A surface that is rested on has two conditions: s = 0 and ṡ = 0. Where the motion cannot be followed then, nothing is moved for it.
  const int surfaces = static_cast<int>(sliding.size());
  for (int a = 0; a < surfaces && can_rest(); ++a) {
    if (mode_.surface[sliding[a]] == AtSurface::rests) sliding.push_back(sliding[a]);
  }
  const int count = static_cast<int>(sliding.size());
  const int width = layout_.integrated();
  projection_.resize(count * (width + count + 2));
  double* gradient = projection_.data();
  double* gram = gradient + count * width;
  double* right = gram + count * count;
  double* size = right + count;
  std::copy_n(y_.begin(), width, node_y_.begin());
  for (int iteration = 0; iteration < 3; ++iteration) {
    motion_.load(t_, y_.data());
    for (int a = 0; a < count; ++a) {
      const model::SwitchInfo& info = system_.switches()[sliding[a]];
      const expr::Program& program = a < surfaces ? info.surface : info.rate;
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
      program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
      right[a] = surface_memory_[0];
      if (a < surfaces && !info.two_sided()) {
        double lower = 0;
        right[a] = distance_from_level(info, surface_memory_[0], lower);
      }
      for (int i = 0; i < width; ++i)
        gradient[a * width + i] = surface_memory_[2 + i] * (scales_.sizes()[i] > 0 ? scales_.sizes()[i] : 1);
    }
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        double sum = 0;
        for (int i = 0; i < width; ++i) sum += gradient[a * width + i] * gradient[b * width + i];
        gram[a * count + b] = sum;
      }
    }
    // A surface that the others hold (floor(3*w) beside sign(w)) asks for nothing more: what elimination leaves of its row is rounding.
    const auto depends = [&](int p) { return !(gram[p * count + p] > kDependent * size[p]); };
    for (int p = 0; p < count; ++p) size[p] = gram[p * count + p];
    for (int p = 0; p < count; ++p) {
      if (size[p] == 0) return;
      if (depends(p)) continue;
      for (int r = p + 1; r < count; ++r) {
        const double ratio = gram[r * count + p] / gram[p * count + p];
        for (int c = p; c < count; ++c) gram[r * count + c] -= ratio * gram[p * count + c];
        right[r] -= ratio * right[p];
      }
    }
    for (int p = count - 1; p >= 0; --p) {
      if (depends(p)) {
        right[p] = 0;
        continue;
      }
      for (int c = p + 1; c < count; ++c) right[p] -= gram[p * count + c] * right[c];
      right[p] /= gram[p * count + p];
    }
    for (int i = 0; i < width; ++i) {
      double change = 0;
      for (int a = 0; a < count; ++a) change += right[a] * gradient[a * width + i];
      if (change != 0) y_[i] -= change * (scales_.sizes()[i] > 0 ? scales_.sizes()[i] : 1);
    }
  }
  // What is left of a component that the surfaces hold at zero is less than rounding of anything it has been.
  for (int i = 0; i < width; ++i) {
    if (std::abs(y_[i]) < kNothing * std::max(scales_.sizes()[i], std::abs(node_y_[i]))) y_[i] = 0;
  }
  motion_.pin(t_, y_.data());
  motion_.load(t_, y_.data());
  have_f0_ = false;
}

// Switchings that accumulate: when the state cannot move any more in the remaining time, it is on all surfaces of the pattern, and the instant
// decides how it goes on.
void EventEngine::Run::finish_switching() {
  Accumulation::Entry& entry = switched_now_;
  entry.time = t_;
  entry.members.clear();
  for (const int k : at_surface_) {
    if (system_.switches()[k].kind == expr::SwitchKind::jump) entry.members.push_back(k);
  }
  if (entry.members.empty()) return;
  std::sort(entry.members.begin(), entry.members.end());
  entry.members.erase(std::unique(entry.members.begin(), entry.members.end()), entry.members.end());
  switching_.push(entry);
  Accumulation::Pattern& pattern = switching_pattern_;
  if (!switching_.pattern(pattern) || pattern.equal_time) return;
  if (!have_f0_ && !motion_(t_, y_.data(), f0_.data())) return;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (std::abs(f0_[i]) * pattern.remaining > options_.tolerance * scales_.sizes()[i]) return;
  }
  std::vector<int>& members = search_.members;
  members.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (contains(pattern.members, k) && info.two_sided() && !info.time_only &&
        info.kind == expr::SwitchKind::jump)
      members.push_back(k);
  }
  // The list is consumed: project_onto appends to it.
  search_.rows.assign(members.begin(), members.end());
  project_onto(search_.rows);
  switching_.clear();
  for (const int k : members) {
    landed_[k] = 0;
    carried_[k] = 1;
    Event event = event_here(EventKind::accumulation, k);
    event.on_switch = true;
    event.numbers = {static_cast<double>(pattern.count), pattern.remaining};
    recorder_.pending().push_back(event);
  }
  note_instant();
}

}  // namespace judder::engines
