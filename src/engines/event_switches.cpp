// Switches at their surfaces: crossing, sliding, resting, and switchings that accumulate.
#include <algorithm>
#include <cmath>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSmall =
    1e-9;  ///< relative size below which a guard at the start of a phase counts as a zero of some order

}  // namespace

// Switches whose surface is the slip of a row that stops sticking: those that acted in parallel with it, and those that the state rested on.
// Their sides, or their share in holding the row, are decided with it.
void EventEngine::Run::find_resting() {
  std::fill(resting_.begin(), resting_.end(), std::uint8_t{0});
  const bool any = std::any_of(exclusions_.tangent.begin(), exclusions_.tangent.end(),
                               [](std::uint16_t bits) { return bits != 0; });
  for (int k = 0; any && k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || !info.two_sided() ||
        std::find(at_surface_.begin(), at_surface_.end(), k) != at_surface_.end())
      continue;
    if (mode_.sliding[k] != 0) {
      if (motion_.parallel(k)) at_surface_.push_back(k);
      continue;
    }
    if (info.kind != expr::SwitchKind::jump) continue;
    surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
    info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
    if (surface_memory_[0] != 0 || !moved_by_released_row(surface_memory_.data() + 2 + layout_.coordinates))
      continue;
    resting_[k] = 1;
    at_surface_.push_back(k);
  }
}

// Whether a gradient with respect to the velocities sees the slip of a row that stops sticking.
bool EventEngine::Run::moved_by_released_row(const double* gradient) const {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      if ((exclusions_.tangent[relation.first_tangent + j] & contact::bit(contact::RowStatus::stick)) == 0)
        continue;
      const double* w = work_.relation[r].tangent[j].w;
      double along = 0;
      for (int i = 0; i < layout_.coordinates; ++i) along += gradient[i] * w[i];
      if (along != 0) return true;
    }
  }
  return false;
}

// Evaluates the motion in the mode that ends, as far as its guards need it, and takes over the coefficients with which it slides now: a
// decision about something else must not see those of the beginning.
bool EventEngine::Run::evaluate_coefficients() {
  const bool slides = std::any_of(mode_.sliding.begin(), mode_.sliding.end(),
                                  [](std::uint8_t sliding) { return sliding != 0; });
  if (!slides && !guards_.needs_motion()) return true;
  if (!motion_.evaluate()) return false;
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.sliding[k] != 0) mode_.side[k] = motion_.mode().side[k];
  }
  return true;
}

// Moves the state onto the surfaces that it slides on; steps leave them by their error only. Several surfaces at once: the smallest change
// relative to the running scales.
void EventEngine::Run::project_sliding() {
  std::vector<int>& sliding = changed_;
  sliding.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.sliding[k] != 0) sliding.push_back(k);
  }
  if (sliding.empty()) return;
  const int count = static_cast<int>(sliding.size());
  const int width = layout_.integrated();
  projection_.resize(count * (width + count + 2));
  double* gradient = projection_.data();
  double* gram = gradient + count * width;
  double* right = gram + count * count;
  for (int iteration = 0; iteration < 3; ++iteration) {
    motion_.load(t_, y_.data());
    for (int a = 0; a < count; ++a) {
      const model::SwitchInfo& info = system_.switches()[sliding[a]];
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
      info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
      right[a] = surface_memory_[0];
      for (int i = 0; i < width; ++i)
        gradient[a * width + i] = surface_memory_[2 + i] * (scale_[i] > 0 ? scale_[i] : 1);
    }
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        double sum = 0;
        for (int i = 0; i < width; ++i) sum += gradient[a * width + i] * gradient[b * width + i];
        gram[a * count + b] = sum;
      }
    }
    for (int p = 0; p < count; ++p) {
      if (!(gram[p * count + p] > 0)) return;
      for (int r = p + 1; r < count; ++r) {
        const double ratio = gram[r * count + p] / gram[p * count + p];
        for (int c = p; c < count; ++c) gram[r * count + c] -= ratio * gram[p * count + c];
        right[r] -= ratio * right[p];
      }
    }
    for (int p = count - 1; p >= 0; --p) {
      for (int c = p + 1; c < count; ++c) right[p] -= gram[p * count + c] * right[c];
      right[p] /= gram[p * count + p];
    }
    for (int i = 0; i < width; ++i) {
      double change = 0;
      for (int a = 0; a < count; ++a) change += right[a] * gradient[a * width + i];
      if (change != 0) y_[i] -= change * (scale_[i] > 0 ? scale_[i] : 1);
    }
  }
  motion_.pin(t_, y_.data());
  motion_.load(t_, y_.data());
  have_f0_ = false;
}

// Switchings that accumulate: when the state cannot move any more in the remaining time, it slides on all surfaces of the pattern.
bool EventEngine::Run::finish_switching() {
  Accumulation::Entry entry;
  entry.time = t_;
  for (const int k : at_surface_) {
    if (system_.switches()[k].kind == expr::SwitchKind::jump) entry.members |= member_bit(k);
  }
  if (entry.members == 0) return false;
  switching_.push(entry);
  const Accumulation::Pattern pattern = switching_.pattern();
  if (pattern.length == 0 || pattern.equal_time) return false;
  if (!have_f0_ && !motion_(t_, y_.data(), f0_.data())) return false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (std::abs(f0_[i]) * pattern.remaining > options_.tolerance * scale_[i]) return false;
  }
  search_.kept = mode_;
  std::vector<int>& members = search_.open;
  members.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if ((pattern.members & member_bit(k)) == 0 || !info.two_sided() || info.time_only ||
        info.kind != expr::SwitchKind::jump)
      continue;
    mode_.sliding[k] = 1;
    mode_.side[k] = 0.5;
    members.push_back(k);
  }
  project_sliding();
  Status status;
  bool slides = decide_with(mode_, status) && motion_.set_mode(mode_) && motion_.evaluate();
  for (const int k : members) {
    slides = slides && motion_.mode().side[k] >= 0 && motion_.mode().side[k] <= 1;
    fresh_switch_[k] = 1;
  }
  if (!slides) {
    mode_ = search_.kept;
    motion_.load(t_, y_.data());
    return false;
  }
  switching_.clear();
  if (!restart()) return true;
  const double energy = total_energy();
  for (const int k : members) {
    Event event;
    event.kind = EventKind::accumulation;
    event.place = k;
    event.on_switch = true;
    event.numbers = {static_cast<double>(pattern.count), pattern.remaining};
    event.energy_before = event.energy_after = energy;
    report(event);
  }
  list_changes();
  for (Event& event : pending_) report(event);
  pending_.clear();
  rows_after_event();
  return true;
}

// Whether a continuous switch (abs, min, max) has its surface here: it is met at this instant too, whatever rounding says.
bool EventEngine::Run::turns_at_kink() {
  bool found = false;
  for (const Guard& guard : guards_.list()) {
    if (guard.kind != GuardKind::side || system_.switches()[guard.place].kind == expr::SwitchKind::jump)
      continue;
    if (std::abs(guards_.value(guard)) > kSmall * guard.scale) continue;
    found = true;
    if (std::find(at_surface_.begin(), at_surface_.end(), guard.place) == at_surface_.end())
      at_surface_.push_back(guard.place);
  }
  return found;
}

// Switch k is on another side now.
Event EventEngine::Run::switched(int k) {
  Event event = event_here(EventKind::switch_side, k);
  event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
  event.numbers[0] = mode_.side[k];
  return event;
}

// A switch of time may make the surface of another switch jump: its side is known anew by its value.
void EventEngine::Run::recheck_sides() {
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || mode_.sliding[k] != 0) continue;
    double s = 0;
    info.value.evaluate(work_.in.data(), &s, work_.registers.data());
    double side = 0;
    if (info.two_sided()) {
      if (std::abs(s) <= 1e-12 * guards_.surface_scale(k)) continue;
      side = s > 0 ? 1 : 0;
    } else if (info.whole) {
      side = std::floor(s);
    } else {
      side = static_cast<double>(std::upper_bound(info.levels.begin(), info.levels.end(), s) -
                                 info.levels.begin()) -
             1;
    }
    if (side == mode_.side[k]) continue;
    mode_.side[k] = side;
    work_.in[layout_.side() + k] = side;
    if (info.kind != expr::SwitchKind::jump || !options_.list_switches) continue;
    pending_.push_back(switched(k));
  }
}

// A switch of time may make the drive of a slip jump: rows whose slip is no longer what their status says are known anew.
void EventEngine::Run::recheck_slips() {
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.rows_constant || mode_.normal[r] == NormalStatus::open ||
        relation.smooth_friction)
      continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double slip = rows.tangent[j].drive;
      double terms = std::abs(slip);
      for (int i = 0; i < layout_.coordinates; ++i) {
        slip += rows.tangent[j].w[i] * work_.in[layout_.v() + i];
        terms += std::abs(rows.tangent[j].w[i] * work_.in[layout_.v() + i]);
      }
      const int now = std::abs(slip) <= 1e3 * kEpsilon * terms ? 0 : slip > 0 ? 1 : -1;
      if (now == direction(mode_.tangent[number])) continue;
      mode_.tangent[number] = now == 0  ? TangentStatus::stick
                              : now > 0 ? TangentStatus::slip_plus
                                        : TangentStatus::slip_minus;
      fresh_tangent_[number] = 1;
    }
  }
}

// Switches whose surface is met: cross, or slide if both sides push towards it. All assignments of sides to the switches that are at their
// surface are tried; each must be confirmed by the motion that it gives.
bool EventEngine::Run::decide_sides(const std::vector<int>& at_surface) {
  Status status;
  std::vector<int>& open = search_.open;
  open.clear();
  for (const int k : at_surface) {
    fresh_switch_[k] = 1;
    if (system_.switches()[k].kind != expr::SwitchKind::jump && mode_.sliding[k] == 0 && t_ > options_.from) {
      mode_.side[k] = mode_.side[k] > 0.5 ? 0 : 1;  // continuous: it crosses
    } else {
      open.push_back(k);
    }
  }
  if (open.empty()) {
    if (!decide_with(mode_, status)) return paradox(status);
    return true;
  }
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.sliding[k] != 0 && std::find(open.begin(), open.end(), k) == open.end()) open.push_back(k);
  }
  search_.before = mode_;
  const Mode& before = search_.before;
  const int count = static_cast<int>(open.size());
  long combinations = 1;
  for (int i = 0; i < count; ++i) combinations *= 3;
  Mode& chosen = search_.chosen;
  int found = 0;
  bool ambiguous = false;  // two assignments leave a surface to different sides
  std::vector<int>& chosen_leaves = search_.chosen_leaves;
  bool chosen_slides = false;
  Status last;
  for (long c = 0; c < combinations; ++c) {
    Mode& trial = search_.trial;
    trial = before;
    long code = c;
    bool slides = false;
    for (const int k : open) {
      // First the natural continuation: cross; then stay; then slide.
      const int choice = static_cast<int>(code % 3);
      code /= 3;
      // What rested on the surface stays on its side first.
      const double old_side = before.sliding[k] != 0 ? 1
                              : resting_[k] != 0     ? 1 - before.side[k]
                                                     : before.side[k];
      trial.sliding[k] = choice == 2 ? 1 : 0;
      trial.side[k] = choice == 2 ? 0.5 : choice == 0 ? 1 - old_side : old_side;
      slides = slides || choice == 2;
    }
    if (slides && found > 0 && !chosen_slides) continue;  // a crossing that works needs no sliding
    if (slides) {
      // In parallel with sticking friction the coefficient is part of the decision.
      motion_.load(t_, y_.data());
      if (motion_.set_mode(trial) && motion_.evaluate()) {
        for (const int k : open) {
          if (trial.sliding[k] != 0 && motion_.parallel(k)) trial.side[k] = motion_.mode().side[k];
        }
      }
      motion_.load(t_, y_.data());
    }
    // Other sides, other forces: what has just stopped sticking may stick again with them.
    bool other = false;
    for (const int k : open)
      other = other || (resting_[k] != 0 && (trial.sliding[k] != 0 || trial.side[k] != before.side[k]));
    if (other) std::swap(exclusions_, no_exclusions_);
    const bool decided = decide_with(trial, status);
    if (other) std::swap(exclusions_, no_exclusions_);
    if (!decided) {
      last = status;
      continue;
    }
    motion_.load(t_, y_.data());
    if (!motion_.set_mode(trial) || !motion_.evaluate()) continue;
    bool consistent = true;
    std::vector<int>& leaves = search_.leaves;
    leaves.assign(open.size(), 0);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const int k = open[i];
      if (trial.sliding[k] != 0) {
        if (motion_.parallel(k)) continue;
        consistent = consistent && motion_.sliding_rate(k, 0) >= 0 && motion_.sliding_rate(k, 1) <= 0 &&
                     motion_.sliding_rate(k, 0) > motion_.sliding_rate(k, 1);
        continue;
      }
      double rate = motion_.surface_rate(k);
      if (std::abs(rate) <= kSmall * surface_rate_scale(k)) {
        rate = 0;
        if (series_.compute(trial, expr::kTaylorOrder)) {
          const expr::Series s = series_.surface(k);
          double power = series_.time_scale();
          for (int o = 1; o <= series_.order() && rate == 0; ++o, power *= series_.time_scale()) {
            if (std::abs(s.c[o] * power) > kSmall * surface_rate_scale(k) * series_.time_scale())
              rate = s.c[o];
          }
        }
      }
      consistent = consistent && (rate == 0 || (rate > 0) == (trial.side[k] > 0.5));
      leaves[i] = rate > 0 ? 1 : rate < 0 ? -1 : 0;
    }
    if (!consistent) continue;
    ++found;
    if (found == 1) {
      chosen = trial;
      chosen_slides = slides;
      chosen_leaves = leaves;
    }
    for (std::size_t i = 0; i < open.size(); ++i) ambiguous = ambiguous || leaves[i] * chosen_leaves[i] < 0;
    if (ambiguous && at_start()) break;
  }
  motion_.load(t_, y_.data());
  if (found == 0 || (ambiguous && at_start())) {
    if (found == 0 && !last.ok()) return paradox(last);
    if (options_.on_indeterminate == OnIndeterminate::stay && !open.empty()) {
      chosen = before;
      for (const int k : open) {
        chosen.sliding[k] = 1;
        chosen.side[k] = 0.5;
      }
      if (!decide_with(chosen, status)) return paradox(status);
    } else {
      const model::SwitchInfo& info = system_.switches()[open.front()];
      return fail({Reason::indeterminate, t_, info.place,
                   "the two sides of a switch push away from its surface: the motion is not unique"});
    }
  }
  mode_ = chosen;
  for (const int k : open) {
    fresh_switch_[k] = 1;
    if (quiet_) continue;
    Event event;
    event.place = k;
    if (mode_.sliding[k] != 0 && before.sliding[k] == 0) {
      event.kind = EventKind::slide_begin;
    } else if (mode_.sliding[k] == 0 && before.sliding[k] != 0) {
      event.kind = EventKind::slide_end;
      event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
    } else if (mode_.sliding[k] == 0 && mode_.side[k] != before.side[k]) {
      if (!options_.list_switches) continue;
      event.kind = EventKind::switch_side;
      event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
    } else {
      continue;
    }
    event.energy_before = event.energy_after = total_energy();
    pending_.push_back(event);
  }
  return true;
}

// Switches that stood on their surface without being met there (x' of a body at rest) and are left now: they take the side that the motion
// goes to. While the motion stays on the surface the side means nothing and is kept.
bool EventEngine::Run::leave_surfaces(const std::vector<int>& at_surface) {
  for (int round = 0; round <= layout_.switches; ++round) {
    bool changed = false;
    for (int k = 0; k < layout_.switches && !changed; ++k) {
      const model::SwitchInfo& info = system_.switches()[k];
      if (info.time_only || !info.two_sided() || mode_.sliding[k] != 0) continue;
      if (std::find(at_surface.begin(), at_surface.end(), k) != at_surface.end()) continue;
      motion_.load(t_, y_.data());
      double s = 0;
      info.value.evaluate(work_.in.data(), &s, work_.registers.data());
      if (s != 0) continue;
      if (!motion_.set_mode(mode_) || !motion_.evaluate()) return true;
      double rate = motion_.surface_rate(k);
      const double scale = surface_rate_scale(k);
      if (std::abs(rate) <= kSmall * scale) {
        rate = 0;
        if (!series_.compute(mode_, expr::kTaylorOrder)) continue;
        const expr::Series surface = series_.surface(k);
        double power = series_.time_scale();
        for (int o = 1; o <= series_.order() && rate == 0; ++o, power *= series_.time_scale()) {
          if (std::abs(surface.c[o] * power) > kSmall * scale * series_.time_scale()) rate = surface.c[o];
        }
      }
      if (rate == 0 || (rate > 0) == (mode_.side[k] > 0.5)) continue;
      mode_.side[k] = rate > 0 ? 1 : 0;
      fresh_switch_[k] = 1;
      changed = true;
      if (!quiet_ && info.kind == expr::SwitchKind::jump && options_.list_switches) {
        pending_.push_back(switched(k));
      }
    }
    if (!changed) return true;
    motion_.load(t_, y_.data());
    Status status;
    if (!decide_with(mode_, status)) return paradox(status);
  }
  return true;
}

// Sum of the absolute terms of ds/dt: what "zero" means for it.
double EventEngine::Run::surface_rate_scale(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  const int n = layout_.coordinates;
  surface_memory_.resize(info.surface.outputs());
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double sum = std::abs(surface_memory_[1]);
  motion_.note_terms();
  for (int i = 0; i < n; ++i) {
    sum += std::abs(surface_memory_[2 + i] * work_.in[layout_.v() + i]);
    sum += std::abs(surface_memory_[2 + n + i]) * motion_.acceleration_terms()[i];
  }
  for (int i = 0; i < layout_.states; ++i) sum += std::abs(surface_memory_[2 + 2 * n + i] * work_.rate[i]);
  return sum;
}

}  // namespace judder::engines
