#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "event_run.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSmall = 1e-9;  ///< relative size below which a guard at the start of a phase counts as a zero of some order

constexpr double kDecisionTolerance = 1e-10;  ///< inequalities hold to this times the scale of their row
constexpr int kMostTangentialImpacts = 100;  ///< at one instant
constexpr int kUnknownOrder = -1;  ///< of a watch: found from its samples

std::uint64_t member_bit(int index) { return std::uint64_t{1} << (static_cast<unsigned>(index) % 64U); }

}  // namespace

// The end of a step on a guard: find out what happened, do what it asks for, decide the next mode.
bool EventEngine::Run::handle_guards() {
  reference_ = mode_;
  exclusions_.clear();
  pending_.clear();
  at_surface_.clear();
  std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});
  std::fill(fresh_watch_.begin(), fresh_watch_.end(), std::uint8_t{0});
  quiet_rows_ = true;
  for (const int index : together_) {
    const Guard& guard = guards_.list()[index];
    const bool silent = (guard.kind == GuardKind::side || guard.kind == GuardKind::level_above || guard.kind == GuardKind::level_below) &&
                        (system_.switches()[guard.place].kind != expr::SwitchKind::jump || !options_.list_switches);
    if (!silent) quiet_rows_ = false;
  }
  if (!quiet_rows_) rows_before_event();
  motion_.load(t_, y_.data());

  bool only_watches = true;
  bool touched = false;
  if (!evaluate_coefficients()) return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  for (const int index : together_) {
    const Guard guard = guards_.list()[index];
    if (guard.kind != GuardKind::watch) only_watches = false;
    const auto place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap:
        touching_[place] = 1;
        touched = true;
        break;
      case GuardKind::reaction: {
        // At the tip of the cone a sticking contact may also go on slipping; a slipping one can only leave.
        const model::Relation& relation = system_.relations()[place];
        bool sticks = false;
        for (int j = 0; j < relation.tangents; ++j) {
          const int number = relation.first_tangent + j;
          if (mode_.tangent[number] != TangentStatus::stick) continue;
          sticks = true;
          exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
          fresh_tangent_[number] = 1;
        }
        if (!sticks) exclusions_.normal[place] |= contact::bit(contact::RowStatus::closed);
        fresh_relation_[place] = 1;
        break;
      }
      case GuardKind::margin: exclude_exhausted_rows(); break;
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
        fresh_tangent_[number] = 1;
        break;
      }
      case GuardKind::slip: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        exclusions_.tangent[number] |=
            contact::bit(mode_.tangent[number] == TangentStatus::slip_plus ? contact::RowStatus::slip_plus : contact::RowStatus::slip_minus);
        mode_.tangent[number] = TangentStatus::stick;
        fresh_tangent_[number] = 1;
        break;
      }
      case GuardKind::jam:
        return paradox({Reason::inconsistent, t_, system_.relations()[place].place,
                        "the slipping contact jams: its reaction grows without bound (w_N M⁻¹ (w_N − μ s w_T) falls to zero)"});
      case GuardKind::joint_normal:
        if (turns_at_kink()) break;  // abs() turns it around here
        return fail({Reason::negative_normal, t_, system_.relations()[place].place,
                     "the normal force of the joint becomes negative; write abs() or max() where its sign may change"});
      case GuardKind::pressed:
        exclusions_.normal[place] |= contact::bit(guard.sign > 0 ? contact::RowStatus::held_plus : contact::RowStatus::held_minus);
        fresh_relation_[place] = 1;
        break;
      case GuardKind::side:
        if (std::find(at_surface_.begin(), at_surface_.end(), place) == at_surface_.end()) at_surface_.push_back(place);
        break;
      case GuardKind::level_below:
      case GuardKind::level_above: {
        mode_.side[place] += guard.kind == GuardKind::level_above ? 1 : -1;
        fresh_switch_[place] = 1;
        Event event;
        event.kind = EventKind::switch_side;
        event.place = place;
        event.numbers[0] = mode_.side[place];
        if (system_.switches()[place].kind == expr::SwitchKind::jump && options_.list_switches) pending_.push_back(event);
        break;
      }
      case GuardKind::slide_above:
      case GuardKind::slide_below: {
        const bool above = guard.kind == GuardKind::slide_above;
        mode_.sliding[place] = 0;
        mode_.side[place] = above ? 1 : 0;
        fresh_switch_[place] = 1;
        Event event;
        event.kind = EventKind::slide_end;
        event.place = place;
        event.words[0] = above ? Word::above : Word::below;
        pending_.push_back(event);
        break;
      }
      case GuardKind::watch: {
        fresh_watch_[place] = 1;
        Event event;
        event.kind = EventKind::watch;
        event.place = place;
        event.words[0] = watch_rising_[place] != 0 ? Word::up : Word::down;
        pending_.push_back(event);
        watch_side_[place] = watch_rising_[place] != 0 ? 1 : -1;
        const model::WatchInfo& watch = system_.watches()[place];
        if (watch.stop > 0 && ++watch_counts_[place] >= watch.stop) stop_by_watch_ = true;
        break;
      }
    }
  }
  if (only_watches) {
    for (Event& event : pending_) report(event);
    pending_.clear();
    for (Guard& guard : guards_.list()) guard.zeros = guard.kind == GuardKind::watch && fresh_watch_[guard.place] != 0 ? 1 : 0;
    rows_after_event();
    end_phase();
    return true;
  }
  find_resting();
  motion_.release_pins();
  // An impact elsewhere, before the time of a tail is over, may open its contacts again.
  if (touched && !std::isnan(accumulation_end_) && !end_tail()) return false;
  if (touched && !touch()) return false;
  if (!at_surface_.empty() && finish_switching()) return true;
  return settle();
}

// Switches whose surface is the slip of a row that stops sticking: those that acted in parallel with it, and those that the state rested on.
// Their sides, or their share in holding the row, are decided with it.
void EventEngine::Run::find_resting() {
  std::fill(resting_.begin(), resting_.end(), std::uint8_t{0});
  const bool any = std::any_of(exclusions_.tangent.begin(), exclusions_.tangent.end(), [](std::uint16_t bits) { return bits != 0; });
  for (int k = 0; any && k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || !info.two_sided() || std::find(at_surface_.begin(), at_surface_.end(), k) != at_surface_.end()) continue;
    if (mode_.sliding[k] != 0) {
      if (motion_.parallel(k)) at_surface_.push_back(k);
      continue;
    }
    if (info.kind != expr::SwitchKind::jump) continue;
    surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
    info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
    if (surface_memory_[0] != 0 || !moved_by_released_row(surface_memory_.data() + 2 + layout_.coordinates)) continue;
    resting_[k] = 1;
    at_surface_.push_back(k);
  }
}

// Whether a gradient with respect to the velocities sees the slip of a row that stops sticking.
bool EventEngine::Run::moved_by_released_row(const double* gradient) const {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      if ((exclusions_.tangent[relation.first_tangent + j] & contact::bit(contact::RowStatus::stick)) == 0) continue;
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
  const bool slides = std::any_of(mode_.sliding.begin(), mode_.sliding.end(), [](std::uint8_t sliding) { return sliding != 0; });
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
      for (int i = 0; i < width; ++i) gradient[a * width + i] = surface_memory_[2 + i] * (scale_[i] > 0 ? scale_[i] : 1);
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
    if ((pattern.members & member_bit(k)) == 0 || !info.two_sided() || info.time_only || info.kind != expr::SwitchKind::jump) continue;
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
    if (guard.kind != GuardKind::side || system_.switches()[guard.place].kind == expr::SwitchKind::jump) continue;
    if (std::abs(guards_.value(guard)) > kSmall * guard.scale) continue;
    found = true;
    if (std::find(at_surface_.begin(), at_surface_.end(), guard.place) == at_surface_.end()) at_surface_.push_back(guard.place);
  }
  return found;
}

// Rows whose share of the reactions is used up, at the margin of a redundant mode.
void EventEngine::Run::exclude_exhausted_rows() {
  static_cast<void>(guards_.sharing.share(motion_));
  // Forces that vanish together leave no scale of their own: what they have been counts too.
  double scale = guards_.sharing.force_scale();
  for (const Guard& guard : guards_.list()) {
    if (guard.kind == GuardKind::margin) scale = std::max(scale, guard.scale);
  }
  const double threshold = 1e-6 * scale;
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    double limit = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) limit += rows.factors[f] * std::abs(motion_.normal()[relation.feeds[f]]);
    bool sticks = false;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (mode_.tangent[number] != TangentStatus::stick) continue;
      sticks = true;
      if (rows.tangent[j].mu_static * limit - std::abs(motion_.tangent()[number]) > threshold) continue;
      exclusions_.tangent[number] |= contact::bit(contact::RowStatus::stick);
      fresh_tangent_[number] = 1;
    }
    if (mode_.normal[r] == NormalStatus::closed && !sticks && motion_.normal()[r] <= threshold) {
      exclusions_.normal[r] |= contact::bit(contact::RowStatus::closed);
      fresh_relation_[r] = 1;
    }
  }
}

// Moves the state onto gap = 0: by rounding only, since the step ended there.
void EventEngine::Run::close_gap(int relation) {
  const int n = layout_.coordinates;
  for (int iteration = 0; iteration < 3; ++iteration) {
    double gap = 0;
    double rate = 0;
    system_.gap(work_, relation, gap, rate);
    if (gap == 0) return;
    const model::RelationRows& rows = system_.relations()[relation].rows_constant ? work_.relation[relation] : system_.rows(work_, relation);
    std::copy_n(rows.w, n, node_y_.begin());
    if (!system_.motion(work_)) return;
    system_.solve_mass(work_, node_y_.data());
    double slope = 0;
    for (int i = 0; i < n; ++i) slope += rows.w[i] * node_y_[i];
    if (slope == 0) return;
    for (int i = 0; i < n; ++i) work_.in[layout_.q() + i] -= node_y_[i] * gap / slope;
  }
}

// Contacts that have just closed: impact where they approach, plain contact where they do not. reference_ gets the statuses that later
// changes of this instant are compared with.
bool EventEngine::Run::touch() {
  const int n = layout_.coordinates;
  if (!motion_.evaluate()) return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an impact"});
  bool approaching = false;
  Accumulation::Entry entry;
  entry.time = t_;
  mark_touching();
  for (int r = 0; r < layout_.relations; ++r) {
    if (touching_[r] == 0) continue;
    close_gap(r);
    const model::RelationRows& rows = system_.rows(work_, r);
    const double rate = rows.gap_rate;
    double terms = std::abs(rows.gap_time);
    for (int i = 0; i < n; ++i) terms += std::abs(rows.w[i] * work_.in[layout_.v() + i]);
    fresh_relation_[r] = 1;
    if (rate < -16 * kEpsilon * terms) {
      approaching = true;
      entry.members |= member_bit(r);
      entry.size = std::max(entry.size, -rate);
      entry.acceleration = rows.zeta_n;
      for (int i = 0; i < n; ++i) entry.acceleration += rows.w[i] * motion_.acceleration()[i];
      continue;
    }
    // Touches with zero approach velocity.
    touching_[r] = 0;
    const model::Relation& relation = system_.relations()[r];
    mode_.normal[r] = NormalStatus::closed;
    Event event;
    event.kind = EventKind::contact;
    event.place = r;
    event.words[0] = Word::rest;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = rows.tangent[j].slip;
      TangentStatus& status = mode_.tangent[relation.first_tangent + j];
      status = relation.smooth_friction ? TangentStatus::smooth
               : slip > 0               ? TangentStatus::slip_plus
               : slip < 0               ? TangentStatus::slip_minus
                                        : TangentStatus::stick;
      event.words[1] = slip > 0 ? Word::slip_plus : slip < 0 ? Word::slip_minus : Word::stick;
      fresh_tangent_[relation.first_tangent + j] = 1;
    }
    event.energy_before = event.energy_after = total_energy();
    pending_.push_back(event);
  }
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  if (!approaching) {
    settle_reference();
    return true;
  }
  accumulation_.push(entry);
  const bool tail = begin_tail(entry);
  if (!impact(tail)) return false;
  settle_reference();
  return true;
}

// Open contacts whose gap is nothing but rounding take part in whatever happens at this instant.
bool EventEngine::Run::mark_touching() {
  bool any = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact || mode_.normal[r] != NormalStatus::open) continue;
    // A contact that was closed until now, or that the last impact left at rest, has no approach velocity.
    if (reference_.normal[r] == NormalStatus::closed) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    const double gap = rows.gap;
    const double rate = rows.gap_rate;
    double terms = 0;
    double speed = std::abs(rows.gap_time);
    for (int i = 0; i < layout_.coordinates; ++i) {
      terms += std::abs(rows.w[i] * work_.in[layout_.q() + i]);
      speed += std::abs(rows.w[i] * work_.in[layout_.v() + i]);
    }
    if (gap > 256 * kEpsilon * terms || rate > 64 * kEpsilon * speed) continue;
    touching_[r] = 1;
    any = any || rate < -64 * kEpsilon * speed;
  }
  return any;
}

// An impact tells itself how its contacts ended; joints are compared with what they were before it.
void EventEngine::Run::settle_reference() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal) continue;
    const bool told = std::any_of(pending_.begin(), pending_.end(), [r](const Event& event) { return event.place == r && !event.on_switch; });
    if (!told && reference_.normal[r] == NormalStatus::closed && mode_.normal[r] == NormalStatus::open) continue;  // it lifts off
    reference_.normal[r] = mode_.normal[r];
    for (int j = 0; j < relation.tangents; ++j) reference_.tangent[relation.first_tangent + j] = mode_.tangent[relation.first_tangent + j];
  }
}

bool EventEngine::Run::impact(bool inelastic) {
  motion_.release_pins();
  const std::size_t first = pending_.size();
  before_impact_ = mode_;
  const Status status = collider_.collide(mode_, touching_, inelastic, pending_);
  if (!status.ok()) return fail(status);
  std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
  ++result_.impacts;
  add_impact_work();
  for (std::size_t i = first; i < pending_.size(); ++i) {
    const int r = pending_[i].place;
    fresh_relation_[r] = 1;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) fresh_tangent_[relation.first_tangent + j] = 1;
    if (mode_.normal[r] == NormalStatus::closed || before_impact_.normal[r] == NormalStatus::closed) {
      Interval& interval = open_intervals_[r];
      if (std::isnan(interval.from)) interval = {r, t_, t_, 0, 0};
      interval.impulse += pending_[i].normal_impulse;
    } else {
      sink_->interval({r, t_, t_, 0, pending_[i].normal_impulse});
    }
  }
  for (int j = 0; j < layout_.tangents; ++j) {
    if (before_impact_.tangent[j] != mode_.tangent[j]) fresh_tangent_[j] = 1;
  }
  if (inelastic) {
    // The tail's impulse is listed with its accumulation, not as an impact.
    // What stops a contact of the pattern on its way out is below the tolerance, and no impulse of a contact.
    for (std::size_t i = first; i < pending_.size(); ++i) tail_impulse_[pending_[i].place] += std::max(0.0, pending_[i].normal_impulse);
    pending_.resize(first);
  }
  return true;
}

void EventEngine::Run::add_impact_work() {
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0) continue;
    y_[layout_.integrated() + static_cast<int>(e)] += collider_.dissipated()[r];
    y_[layout_.integrated() + layout_.audits + static_cast<int>(e)] += collider_.supplied()[r];
  }
}

// Whether the impacts have become the tail of an accumulation. If so all contacts of the pattern touch now, and the tail's end is on the timetable.
bool EventEngine::Run::begin_tail(const Accumulation::Entry& entry) {
  if (!std::isnan(accumulation_end_)) return false;
  Accumulation::Pattern pattern = accumulation_.pattern();
  if (pattern.length == 0) pattern = accumulation_.early_pattern();
  if (pattern.length == 0) pattern = accumulation_.cluster();
  if (pattern.length == 0) return false;
  double speed_scale = 0;
  for (int i = 0; i < layout_.coordinates; ++i) speed_scale = std::max(speed_scale, scale_[layout_.coordinates + i]);
  for (int r = 0; r < layout_.relations; ++r) {
    if ((pattern.members & member_bit(r)) == 0 || !system_.relations()[r].has_normal) continue;
    const double gap_scale = guards_.gap_scale(r);
    if (pattern.equal_time) {
      if (entry.size > 10 * options_.tolerance * speed_scale) return false;  // smaller hops drown in the error of the steps
    } else if (pattern.height > std::max(options_.tolerance * gap_scale, 8 * guards_.gap_noise(r))) {
      return false;
    }
  }
  if (!pattern.equal_time) {
    // The acceleration must not change noticeably within the remaining time.
    if (pattern.jerk * pattern.remaining * pattern.remaining > options_.tolerance * speed_scale) return false;
  }
  std::fill(tail_impulse_.begin(), tail_impulse_.end(), 0.0);
  for (int r = 0; r < layout_.relations; ++r) {
    if ((pattern.members & member_bit(r)) == 0 || mode_.normal[r] != NormalStatus::open) continue;
    touching_[r] = 1;
    fresh_relation_[r] = 1;
    close_gap(r);
  }
  tail_ = pattern;
  accumulation_end_ = pattern.equal_time ? t_ : t_ + pattern.remaining;
  if (accumulation_end_ > options_.until) accumulation_end_ = std::nextafter(options_.until, t_);
  accumulation_.finish_pattern();
  return true;
}

bool EventEngine::Run::finish_accumulation() {
  rows_before_event();
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (!end_tail()) {
    rows_after_event();
    return false;
  }
  rows_after_event();
  return true;
}

// Lists the accumulation whose tail ends here. False: the run is to stop at it.
bool EventEngine::Run::end_tail() {
  const double energy = total_energy();
  for (int r = 0; r < layout_.relations; ++r) {
    if ((tail_.members & member_bit(r)) == 0 || !system_.relations()[r].has_normal) continue;
    Event event;
    event.kind = EventKind::accumulation;
    event.place = r;
    event.numbers = {static_cast<double>(tail_.count), tail_.remaining};
    event.normal_impulse = tail_impulse_[r] + std::max(0.0, motion_.normal()[r]) * tail_.remaining;
    event.energy_before = event.energy_after = energy;
    report(event);
  }
  accumulation_end_ = std::numeric_limits<double>::quiet_NaN();
  if (options_.on_accumulation == OnAccumulation::stop) {
    return fail({Reason::accumulation, t_, {}, "impacts accumulate here"});
  }
  return true;
}

// Switches of time alone change their side at an instant of the timetable.
bool EventEngine::Run::handle_timetable(double t) {
  std::fill(resting_.begin(), resting_.end(), std::uint8_t{0});
  next_side_ = mode_.side;
  timetable_.pass(t, next_side_, changed_);
  if (changed_.empty()) {
    have_f0_ = false;  // a knot: the formula changes, nothing else
    return true;
  }
  reference_ = mode_;
  exclusions_.clear();
  pending_.clear();
  at_surface_.clear();
  std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
  std::fill(fresh_relation_.begin(), fresh_relation_.end(), std::uint8_t{0});
  std::fill(fresh_tangent_.begin(), fresh_tangent_.end(), std::uint8_t{0});
  std::fill(fresh_switch_.begin(), fresh_switch_.end(), std::uint8_t{0});
  std::fill(fresh_watch_.begin(), fresh_watch_.end(), std::uint8_t{0});
  quiet_rows_ = true;
  for (const int k : changed_) {
    if (system_.switches()[k].kind == expr::SwitchKind::jump && options_.list_switches) quiet_rows_ = false;
  }
  if (!quiet_rows_) rows_before_event();
  motion_.load(t_, y_.data());
  if (!evaluate_coefficients()) return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  const double energy = total_energy();
  for (const int k : changed_) {
    mode_.side[k] = next_side_[k];
    if (system_.switches()[k].kind != expr::SwitchKind::jump || !options_.list_switches) continue;
    Event event;
    event.kind = EventKind::switch_side;
    event.place = k;
    event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
    event.numbers[0] = mode_.side[k];
    event.energy_before = event.energy_after = energy;
    pending_.push_back(event);
  }
  motion_.load(t_, y_.data());
  recheck_sides();
  recheck_slips();
  return settle();
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
      side = static_cast<double>(std::upper_bound(info.levels.begin(), info.levels.end(), s) - info.levels.begin()) - 1;
    }
    if (side == mode_.side[k]) continue;
    mode_.side[k] = side;
    work_.in[layout_.side() + k] = side;
    if (info.kind != expr::SwitchKind::jump || !options_.list_switches) continue;
    Event event;
    event.kind = EventKind::switch_side;
    event.place = k;
    event.words[0] = side > 0.5 ? Word::above : Word::below;
    event.numbers[0] = side;
    event.energy_before = event.energy_after = total_energy();
    pending_.push_back(event);
  }
}

// A switch of time may make the drive of a slip jump: rows whose slip is no longer what their status says are known anew.
void EventEngine::Run::recheck_slips() {
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.tangents == 0 || relation.rows_constant || mode_.normal[r] == NormalStatus::open || relation.smooth_friction) continue;
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
      mode_.tangent[number] = now == 0 ? TangentStatus::stick : now > 0 ? TangentStatus::slip_plus : TangentStatus::slip_minus;
      fresh_tangent_[number] = 1;
    }
  }
}

// Where a switch changes side no gap may jump: a closed contact would have to leap, an open one would find itself inside the other body.
bool EventEngine::Run::gaps_continue() {
  if (mode_.side == reference_.side) return true;
  motion_.load(t_, y_.data());
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || !relation.holonomic) continue;
    double before = 0;
    double after = 0;
    double rate = 0;
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = reference_.side[k];
    system_.gap(work_, r, before, rate);
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
    system_.gap(work_, r, after, rate);
    const double slack = options_.tolerance * guards_.gap_scale(r) + 8 * guards_.gap_noise(r);
    const bool open = mode_.normal[r] == NormalStatus::open;
    if (open ? after >= -slack : std::abs(after - before) <= slack) continue;
    return fail({Reason::discontinuous, t_, relation.place,
                 "the gap jumps from " + to_text(before) + " to " + to_text(after) +
                     " where a switch changes its side; write branches that meet there"});
  }
  return true;
}

// Decides the mode, lists what changed, and starts the next phase.
bool EventEngine::Run::settle() {
  tangential_impacts_ = 0;
  motion_.load(t_, y_.data());
  if (!decide_sides(at_surface_)) return false;
  if (!leave_surfaces(at_surface_)) return false;
  if (!quiet_ && !gaps_continue()) return false;
  // A contact that opened or was open with a gap of zero may approach now: that is an impact of the same instant.
  for (int round = 0; round < 100; ++round) {
    std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
    motion_.load(t_, y_.data());
    if (!mark_touching()) break;
    exclusions_.clear();
    if (!touch()) return false;
    motion_.load(t_, y_.data());
    Status status;
    if (!decide_with(mode_, status)) return paradox(status);
  }
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != reference_.normal[r]) fresh_relation_[r] = 1;
  }
  for (int j = 0; j < layout_.tangents; ++j) {
    if (mode_.tangent[j] != reference_.tangent[j]) fresh_tangent_[j] = 1;
  }
  if (!restart()) return false;
  if (accumulation_end_ == t_ && !end_tail()) return false;
  const bool listed = !quiet_;
  if (listed) {
    list_changes();
    for (Event& event : pending_) report(event);
    if (!pending_.empty() && quiet_rows_) quiet_rows_ = false;
    if (!quiet_rows_) rows_after_event();
  }
  pending_.clear();
  return true;
}

bool EventEngine::Run::decide_with(Mode& mode, Status& status) {
  for (int r = 0; r < layout_.relations; ++r) decider_.force_floor[r] = guards_.normal_scale(r);
  for (int j = 0; j < layout_.tangents; ++j) decider_.force_floor[layout_.relations + j] = guards_.tangent_scale(j);
  status = decider_.decide(mode, exclusions_, kDecisionTolerance);
  if (status.reason == Reason::inconsistent) {
    // The state is known to the error of the steps only: a slip that ends on the edge of the cone may miss it by that much.
    const Status again = decider_.decide(mode, exclusions_, std::clamp(1e3 * state_tolerance(), 1e-9, 1e-5));
    if (again.ok()) status = again;
  }
  result_.undecided_ties += decider_.undecided_ties();
  if (!decider_.reactions_unique()) result_.reactions_not_unique = true;
  if (decider_.unchecked()) result_.uniqueness_unchecked = true;
  return status.ok();
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
      const double old_side = before.sliding[k] != 0 ? 1 : resting_[k] != 0 ? 1 - before.side[k] : before.side[k];
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
    for (const int k : open) other = other || (resting_[k] != 0 && (trial.sliding[k] != 0 || trial.side[k] != before.side[k]));
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
            if (std::abs(s.c[o] * power) > kSmall * surface_rate_scale(k) * series_.time_scale()) rate = s.c[o];
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
      return fail({Reason::indeterminate, t_, info.place, "the two sides of a switch push away from its surface: the motion is not unique"});
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
        Event event;
        event.kind = EventKind::switch_side;
        event.place = k;
        event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
        event.energy_before = event.energy_after = total_energy();
        pending_.push_back(event);
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

// No reaction, or several. True: the run goes on, with mode_ decided.
bool EventEngine::Run::paradox(Status status) {
  const int relation = decider_.failed_relation();
  if ((status.reason != Reason::inconsistent && status.reason != Reason::indeterminate) || relation < 0) return fail(std::move(status));
  const bool inconsistent = status.reason == Reason::inconsistent;
  if (quiet_) {  // at the start: from here on there is something to list
    quiet_ = false;
    quiet_rows_ = false;
    rows_before_event();
  }
  Event event;
  event.kind = EventKind::painleve;
  event.place = relation;
  event.words[0] = inconsistent ? Word::inconsistent : Word::indeterminate;
  event.energy_before = event.energy_after = total_energy();
  pending_.push_back(event);

  if (!inconsistent && options_.on_painleve != OnPainleve::stop && mode_.normal[relation] == NormalStatus::closed) {
    // The branch with sliding contact is unstable under any compliance of the contact; the contact opens.
    exclusions_.normal[relation] |= contact::bit(contact::RowStatus::closed);
    fresh_relation_[relation] = 1;
    Status next;
    if (decide_with(mode_, next)) return true;
  }
  if (inconsistent && options_.on_painleve == OnPainleve::tangential_impact && tangential_impacts_ < kMostTangentialImpacts) {
    ++tangential_impacts_;
    motion_.load(t_, y_.data());
    for (int j = 0; j < layout_.tangents; ++j) work_.in[layout_.direction() + j] = direction(mode_.tangent[j]);
    if (collider_.tangential_impact(mode_, relation, pending_)) {
      std::copy_n(work_.in.begin() + 1, layout_.integrated(), y_.begin());
      add_impact_work();
      settle_reference();
      exclusions_.clear();
      fresh_relation_[relation] = 1;
      fresh_tangent_[system_.relations()[relation].first_tangent] = 1;
      ++result_.impacts;
      Status next;
      return decide_with(mode_, next) || paradox(next);
    }
  }
  for (Event& listed : pending_) report(listed);
  pending_.clear();
  return fail(std::move(status));
}

// Sets the decided mode in motion.
bool EventEngine::Run::restart() {
  reset_bristles();
  phase_.time = t_;
  phase_.y.assign(y_.begin(), y_.begin() + layout_.integrated());
  phase_.mode = mode_;
  motion_.load(t_, y_.data());
  if (!motion_.set_mode(mode_)) {
    return fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite, t_, {}, "the equations of motion cannot be evaluated in the new mode"});
  }
  explicit_.use(motion_.components());
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), false));
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number in the new mode"});
  if (motion_.slides()) mode_ = motion_.mode();  // with the coefficients of the sliding switches
  motion_.note_terms();
  project_sliding();
  if (motion_.redundant()) guards_.sharing.set_mode(mode_);
  guards_.build();
  set_guard_zeros();
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open) {
      close_interval(r);
      last_reaction_[r] = 0;
    }
  }
  note_reactions(0, false);
  have_f0_ = false;
  end_phase();
  return true;
}

void EventEngine::Run::end_phase() {
  if (t_ > phase_start_) last_flight_ = t_ - phase_start_;
  phase_start_ = t_;
  if (noise_measured_) std::fill(rate_noise_.begin(), rate_noise_.end(), 0.0);
  noise_measured_ = false;
  if (last_flight_ > 0 && h_ > 1.05 * last_flight_) h_ = 1.05 * last_flight_;
  have_f0_ = false;
}

void EventEngine::Run::reset_bristles() {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.bristles.empty() || mode_.normal[r] != NormalStatus::open || fresh_relation_[r] == 0) continue;
    for (const int state : relation.bristles) y_[2 * layout_.coordinates + state] = 0;
  }
}

// Guards that start at zero because of the event just handled, with the order of that zero.
void EventEngine::Run::set_guard_zeros() {
  bool have_series = false;
  const auto order_of = [&](const auto& series_of, int from, double scale) {
    if (!have_series) have_series = series_.compute(mode_, expr::kTaylorOrder);
    if (!have_series) return from;
    const expr::Series s = series_of();
    const double tau = series_.time_scale();
    double power = std::pow(tau, from);
    for (int k = from; k <= series_.order(); ++k, power *= tau) {
      if (std::abs(s.c[k]) * power > kSmall * scale) return k;
    }
    return from;
  };
  const int n = layout_.coordinates;
  for (Guard& guard : guards_.list()) {
    guard.zeros = 0;
    const int place = guard.place;
    switch (guard.kind) {
      case GuardKind::gap: {
        if (fresh_relation_[place] == 0) break;
        const model::RelationRows& rows = system_.rows(work_, place);
        const double gap = rows.gap;
        const double rate = rows.gap_rate;
        double terms = 0;
        double speed = std::abs(rows.gap_time);
        double acceleration = std::abs(rows.zeta_n);
        double normal_acceleration = rows.zeta_n;
        for (int i = 0; i < n; ++i) {
          terms += std::abs(rows.w[i] * work_.in[layout_.q() + i]);
          speed += std::abs(rows.w[i] * work_.in[layout_.v() + i]);
          acceleration += std::abs(rows.w[i]) * motion_.acceleration_terms()[i];
          normal_acceleration += rows.w[i] * motion_.acceleration()[i];
        }
        if (std::abs(gap) > 64 * kEpsilon * terms) break;  // at the start of a run all are fresh, also those far away
        if (rate > kSmall * speed) {
          guard.zeros = 1;
        } else if (normal_acceleration > kSmall * acceleration) {
          guard.zeros = 2;
        } else {
          guard.zeros = order_of([&] { return series_.gap(place); }, 2, acceleration * series_.time_scale() * series_.time_scale());
        }
        break;
      }
      case GuardKind::slip: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        if (fresh_tangent_[number] == 0) break;
        const model::RelationRows::Tangent& row = work_.relation[place].tangent[guard.tangent];
        double slip = row.drive;
        double speed = std::abs(row.drive);
        double rate = row.zeta;
        double terms = std::abs(row.zeta);
        for (int i = 0; i < n; ++i) {
          slip += row.w[i] * work_.in[layout_.v() + i];
          speed += std::abs(row.w[i] * work_.in[layout_.v() + i]);
          rate += row.w[i] * motion_.acceleration()[i];
          terms += std::abs(row.w[i]) * motion_.acceleration_terms()[i];
        }
        if (std::abs(slip) > std::max(64 * kEpsilon * speed, 1e-13 * guard.scale)) break;
        guard.zeros = std::abs(rate) > kSmall * terms
                          ? 1
                          : order_of([&] { return series_.slip(place, guard.tangent); }, 1, terms * series_.time_scale());
        guard.noise_rate = 8 * kEpsilon * terms;
        break;
      }
      case GuardKind::reaction:
      case GuardKind::pressed: {
        if (fresh_relation_[place] == 0) break;
        if (std::abs(motion_.normal()[place]) > kSmall * guard.scale && guard.scale > 0) break;
        if (motion_.normal()[place] * guard.sign > 0 && guard.scale == 0) break;
        guard.zeros = order_of([&] { return series_.normal(place); }, 0, guard.scale > 0 ? guard.scale : reaction_scale(place));
        break;
      }
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int number = system_.relations()[place].first_tangent + guard.tangent;
        if (fresh_tangent_[number] == 0) break;
        const double value = guards_.value(guard);
        const double scale = std::max(guard.scale, std::abs(motion_.tangent()[number]));
        if (std::abs(value) > kSmall * scale && scale > 0) break;
        if (value > 0 && scale == 0) break;
        guard.zeros = order_of([&] { return series_.cone(place, guard.tangent, guard.kind == GuardKind::cone_plus ? 1 : -1); }, 0,
                               scale > 0 ? scale : reaction_scale(place));
        break;
      }
      case GuardKind::side:
      case GuardKind::level_below:
      case GuardKind::level_above: {
        // Also a surface on which the state rested until now, with the side that it is left to.
        if (fresh_switch_[place] == 0 && guards_.value(guard) != 0) break;
        if (std::abs(guards_.value(guard)) > 1e-12 * guard.scale && guard.scale > 0) break;
        if (t_ <= options_.from && guards_.value(guard) != 0) break;
        const double rate = motion_.surface_rate(place);
        const double terms = surface_rate_scale(place);
        guard.zeros = std::abs(rate) > kSmall * terms ? 1 : order_of([&] { return series_.surface(place); }, 1, terms * series_.time_scale());
        break;
      }
      case GuardKind::watch:
        if (fresh_watch_[place] != 0 && t_ > options_.from) {
          guard.zeros = 1;  // it crossed; behind a zero of higher odd order what is left has no other sign
        } else if (std::abs(guards_.value(guard)) <= 1e-13 * guard.scale) {
          guard.zeros = kUnknownOrder;
        }
        break;
      default: break;
    }
  }
  guards_.note_scales();
}

double EventEngine::Run::reaction_scale(int relation) {
  const model::RelationRows& rows = work_.relation[relation];
  double sum = std::abs(rows.zeta_n);
  if (rows.w == nullptr) return 1;
  double inverse = 0;
  std::copy_n(rows.w, layout_.coordinates, node_y_.begin());
  system_.solve_mass(work_, node_y_.data());
  for (int i = 0; i < layout_.coordinates; ++i) {
    inverse += rows.w[i] * node_y_[i];
    sum += std::abs(rows.w[i] * f0_[layout_.coordinates + i]);
  }
  return inverse > 0 ? sum / inverse : 1;
}

// What changed in this instant, besides impacts and switches: one event per row.
void EventEngine::Run::list_changes() {
  const Mode& before = reference_;
  const double energy = total_energy();
  const auto add = [&](EventKind kind, int relation, Word word) {
    Event event;
    event.kind = kind;
    event.place = relation;
    event.words[0] = word;
    event.energy_before = event.energy_after = energy;
    pending_.push_back(event);
  };
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (before.normal[r] == NormalStatus::closed && mode_.normal[r] == NormalStatus::open) {
      add(EventKind::lift_off, r, Word::none);
      continue;
    }
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus was = before.tangent[relation.first_tangent + j];
      const TangentStatus now = mode_.tangent[relation.first_tangent + j];
      if (was == now || was == TangentStatus::free || now == TangentStatus::free || now == TangentStatus::smooth) continue;
      if (now == TangentStatus::stick) {
        add(EventKind::stick, r, was == TangentStatus::slip_plus ? Word::plus : Word::minus);
      } else if (was == TangentStatus::stick) {
        add(EventKind::slip, r, now == TangentStatus::slip_plus ? Word::plus : Word::minus);
      } else {
        add(EventKind::reversal, r, now == TangentStatus::slip_plus ? Word::plus : Word::minus);
      }
    }
  }
}

}  // namespace judder::engines
