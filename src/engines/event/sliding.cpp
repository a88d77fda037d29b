#include "engines/event/sliding.hpp"

#include <algorithm>
#include <cmath>

#include "engines/event/rows.hpp"
#include "engines/event/sides.hpp"

namespace judder::engines {
namespace {

constexpr double kNothing = 1e-20;  ///< share of its running scale below which a component is zero
/// Share of the square of its slopes below which a surface is one of the others: slopes that are parallel to 1e-6 tell their surfaces apart no better
/// than the rounding of what was projected.
constexpr double kDependent = 1e-12;

}  // namespace

Sliding::Sliding(Phase& now, InstantState& here, Rows& rows, Sides& sides)
    : now_(now), here_(here), rows_(rows), sides_(sides) {
  node_y_.resize(now_.motion.all_components());
  landing_y_.resize(now_.motion.all_components());
}

// The same at the end of a step: massless coordinates in the state are as old as the last instant, and follow from the others.
void Sliding::project_step() {
  bool slides = false;
  for (int k = 0; k < now_.layout.switches; ++k) slides = slides || now_.mode.slides(k);
  if (!slides) return;
  if (!now_.has_massless) {
    project_sliding();
    return;
  }
  if (!follow_nodes()) return;
  const double before = off_surfaces();
  stepped_y_.assign(now_.y.begin(), now_.y.end());
  project_sliding();
  // What moves takes the nodes along, and they the surfaces that read them: not always nearer to zero.
  if (follow_nodes() && off_surfaces() <= before) return;
  std::copy(stepped_y_.begin(), stepped_y_.end(), now_.y.begin());
  now_.load();
  now_.have_f0 = false;
}

// False: the equations cannot be evaluated.
bool Sliding::follow_nodes() {
  if (!now_.motion(now_.t, now_.y.data(), landing_y_.data())) return false;
  now_.motion.take_massless(now_.y.data());
  now_.load();
  return true;
}

// How far the state is from the surfaces that it slides on, together.
double Sliding::off_surfaces() {
  double sum = 0;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (!now_.mode.slides(k)) continue;
    const model::SwitchInfo& info = now_.system.switches()[k];
    double s = 0;
    double lower = 0;
    info.value.evaluate(now_.work.in.data(), &s, now_.work.registers.data());
    sum += std::abs(distance_from_level(info, s, lower));
  }
  return sum;
}

// Moves the state onto the surfaces that it slides on; steps leave them by their error only.
void Sliding::project_sliding() {
  std::vector<int>& sliding = onto_;
  sliding.clear();
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.mode.slides(k)) sliding.push_back(k);
  }
  if (!sliding.empty()) project_onto(sliding);
}

// The surface of a single quantity at which it would rest (h in `-sqrt(abs(h))`) is met exactly: what a landing leaves would count in the rate,
// which has no slope there, and carry it on.
void Sliding::meet_surface(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (!info.two_sided()) return;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  if (surface_memory_[0] == 0 || surface_memory_[1] != 0) return;
  int only = -1;
  for (int i = 0; i < now_.layout.integrated(); ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (only >= 0) return;
    only = i;
  }
  if (only < 0) return;
  const double change = surface_memory_[0] / surface_memory_[2 + only];
  if (!(std::abs(change) <= now_.options.tolerance * now_.scales.sizes()[only])) return;
  const double before = now_.y[only];
  now_.y[only] -= change;
  now_.have_f0 = false;
  if (!now_.motion(now_.t, now_.y.data(), landing_y_.data()) || landing_y_[only] != 0) now_.y[only] = before;
  now_.load();
}

// A surface that both sides push back to, though its rate does not tell, is met together with the kinks in it that are at zero: x + x'*abs(x')/2
// at the origin. What a landing leaves of them would take the motion on.
void Sliding::meet_kinks(int k) {
  onto_.clear();
  for (const int inner : now_.system.switches()[k].inner) {
    if (sides_.kink_inside(inner) && now_.system.switches()[inner].two_sided()) onto_.push_back(inner);
  }
  if (onto_.empty()) return;
  if (now_.system.switches()[k].two_sided()) onto_.push_back(k);
  project_onto(onto_);
}

// Several surfaces at once: the smallest change relative to the running scales.
void Sliding::project_onto(std::vector<int>& sliding) {
  // A surface that is rested on has two conditions: s = 0 and ṡ = 0. Where the motion cannot be followed then, nothing is moved for it.
  const int surfaces = static_cast<int>(sliding.size());
  for (int a = 0; a < surfaces && now_.way->can_rest(); ++a) {
    if (now_.mode.surface[sliding[a]] == AtSurface::rests) sliding.push_back(sliding[a]);
  }
  const int count = static_cast<int>(sliding.size());
  const int width = now_.layout.integrated();
  projection_.resize(count * (width + count + 2));
  double* gradient = projection_.data();
  double* gram = gradient + count * width;
  double* right = gram + count * count;
  double* size = right + count;
  // What has no mass is where the balance puts it.
  const auto follows = [this](int i) {
    return i < 2 * now_.layout.coordinates && now_.system.massless()[i % now_.layout.coordinates];
  };
  std::copy_n(now_.y.begin(), width, node_y_.begin());
  for (int iteration = 0; iteration < 3; ++iteration) {
    now_.load();
    for (int a = 0; a < count; ++a) {
      const model::SwitchInfo& info = now_.system.switches()[sliding[a]];
      const expr::Program& program = a < surfaces ? info.surface : info.rate;
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
      program.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
      right[a] = surface_memory_[0];
      if (a < surfaces && !info.two_sided()) {
        double lower = 0;
        right[a] = distance_from_level(info, surface_memory_[0], lower);
      }
      for (int i = 0; i < width; ++i)
        gradient[a * width + i] =
            follows(i) ? 0
                       : surface_memory_[2 + i] * (now_.scales.sizes()[i] > 0 ? now_.scales.sizes()[i] : 1);
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
      if (size[p] == 0 && !now_.has_massless) return;
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
      if (change != 0) now_.y[i] -= change * (now_.scales.sizes()[i] > 0 ? now_.scales.sizes()[i] : 1);
    }
  }
  // What is left of a component that the surfaces hold at zero is less than rounding of anything it has been.
  for (int i = 0; i < width; ++i) {
    if (std::abs(now_.y[i]) < kNothing * std::max(now_.scales.sizes()[i], std::abs(node_y_[i])))
      now_.y[i] = 0;
  }
  now_.motion.pin(now_.t, now_.y.data());
  now_.load();
  now_.have_f0 = false;
}

// Switchings that accumulate: when the state cannot move any more in the remaining time, it is on all surfaces of the pattern, and the instant
// decides how it goes on.
void Sliding::finish_switching() {
  Accumulation::Entry& entry = switched_now_;
  entry.time = now_.t;
  entry.members.clear();
  for (const int k : here_.at_surface) {
    if (now_.system.switches()[k].kind == expr::SwitchKind::jump) entry.members.push_back(k);
  }
  if (entry.members.empty()) return;
  std::sort(entry.members.begin(), entry.members.end());
  entry.members.erase(std::unique(entry.members.begin(), entry.members.end()), entry.members.end());
  switching_.push(entry);
  Accumulation::Pattern& pattern = switching_pattern_;
  if (!switching_.pattern(pattern) || pattern.equal_time) return;
  if (!now_.have_f0 && !now_.motion(now_.t, now_.y.data(), now_.f0.data())) return;
  for (int i = 0; i < now_.layout.integrated(); ++i) {
    if (std::abs(now_.f0[i]) * pattern.remaining > now_.options.tolerance * now_.scales.sizes()[i]) return;
  }
  std::vector<int>& members = members_;
  members.clear();
  for (int k = 0; k < now_.layout.switches; ++k) {
    const model::SwitchInfo& info = now_.system.switches()[k];
    if (contains(pattern.members, k) && info.two_sided() && !info.time_only &&
        info.kind == expr::SwitchKind::jump)
      members.push_back(k);
  }
  // The list is consumed: project_onto appends to it.
  onto_.assign(members.begin(), members.end());
  project_onto(onto_);
  switching_.clear();
  for (const int k : members) {
    here_.landed[k] = 0;
    here_.carried[k] = 1;
    Event event = rows_.event_here(EventKind::accumulation, k);
    event.on_switch = true;
    event.numbers = {static_cast<double>(pattern.count), pattern.remaining};
    now_.recorder.pending().push_back(event);
  }
  sides_.note_instant();
}

// A slide whose sides both push nothing yet is one of friction that begins with zero, or of a surface that something else holds. The first derivative that is not zero tells: it is
// the order of the zero from which the push grows.
void Sliding::note_pushes() {
  bool any = false;
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.mode.surface[k] != AtSurface::slides || !now_.motion.parallel(k) ||
        here_.push_zeros[2 * k] != 0 || here_.push_zeros[2 * k + 1] != 0)
      continue;
    any = true;
    const double lower = now_.motion.lower_side(k);
    int orders[2] = {0, 0};
    for (const int upper : {0, 1}) {
      Mode& trial = beside_;
      trial = now_.mode;
      trial.surface[k] = AtSurface::away;
      trial.side[k] = lower + upper;
      if (!now_.series.compute(trial, expr::kTaylorOrder)) continue;
      const expr::Series s = now_.series.surface(k);
      double size = 0;
      double power = 1;
      for (int o = 1; o <= now_.series.order(); ++o)
        size = std::max(size, std::abs(s.c[o] * (power *= now_.series.time_scale())));
      power = now_.series.time_scale();
      for (int o = 2; o <= now_.series.order() && orders[upper] == 0; ++o) {
        power *= now_.series.time_scale();
        if (std::abs(s.c[o] * power) <= kSmallRate * size) continue;
        if ((s.c[o] > 0) != (upper != 0)) orders[upper] = o - 1;  // back to the surface
        break;
      }
    }
    if (orders[0] == 0 || orders[1] == 0) continue;
    for (const int upper : {0, 1}) here_.push_zeros[2 * k + upper] = static_cast<std::int8_t>(orders[upper]);
  }
  if (!any) return;
  now_.load();
  static_cast<void>(now_.motion.evaluate());
}

}  // namespace judder::engines
