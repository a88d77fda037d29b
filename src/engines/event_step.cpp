// One step: its trials, its length, its method, and what is noted when it is taken.
#include <algorithm>
#include <cmath>

#include "event_run.hpp"

#include "core/elementary.hpp"
#include "law_numbers.hpp"

namespace judder::engines {
namespace {

constexpr double kNothingLeft = 1e-9;  ///< of the time that a phase has lasted: a jam is reached
constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kDenseError =
    200;  ///< tolerances that the polynomial of a step may miss by its defect, which is six times its error
constexpr int kTrialsUntilNoise = 6;        ///< trial steps in a row before rounding is suspected
constexpr int kMostMisses = 40;             ///< of a zero that the motion does not have
constexpr double kFirstLength = 1024;       ///< smallest steps: the least that is tried first
constexpr double kLeastNumber = 0x1p-1000;  ///< near the end of the range of numbers nothing has digits
constexpr double kLeastShare =
    0x1p-100;  ///< of the first trial: the smallest step where time itself has no rounding yet
constexpr std::array<double, 4> kLawPlaces = {0.25, 0.5, 0.75,
                                              1};  ///< of a step, where numbers of laws are looked at
constexpr double kLeastStep =
    0x1p-960;  ///< shorter ones, and their shares, are no numbers any more; of the shortest run that is made a billionth of a billionth

/// The first place of the step up to `end` at which `look` finds a number of a law out of its range, and that number; beyond `end`: there is none.
template <class Look>
double first_defect(double end, const Look& look, LawDefect& defect) {
  constexpr int kHalvings = 50;
  double good = 0;
  for (const double place : kLawPlaces) {
    defect = look(place * end);
    if (!defect) {
      good = place * end;
      continue;
    }
    double bad = place * end;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (good + bad);
      if (!(middle > good && middle < bad)) break;
      if (const LawDefect found = look(middle)) {
        bad = middle;
        defect = found;
      } else {
        good = middle;
      }
    }
    return bad;
  }
  return 2;
}

}  // namespace

bool EventEngine::Run::hides_change(double h) {
  motion_.load(t_, y_.data());
  const double share =
      methods_.stiff() || methods_.order() == numeric::Method::order5 ? kShareOfFewPoints : kShareOfPoints;
  const HiddenChange::Step step{t_, t_ + h, methods_.nodes(), share};
  return hidden_change_.between(step, work_.in, [this](double theta, double* y) {
    dense(theta, node_y_.data());
    std::copy_n(node_y_.begin(), layout_.integrated(), y);
  });
}

bool EventEngine::Run::try_step(double h) {
  if (!methods_.stiff() && motion_.uniform()) {
    methods_.step_uniform(t_, y_.data(), f0_.data(), h);
    return true;
  }
  numeric::RadauScales scales;
  if (methods_.stiff())
    scales = scales_.foresee(trial_step(h), motion_, work_.inertia.data(), noise_, options_.tolerance);
  return methods_.step(motion_, t_, y_.data(), f0_.data(), h, scales);
}

double EventEngine::Run::step_error() {
  return methods_.error(scales_.weights().data(), motion_.components());
}

bool EventEngine::Run::prepare_dense() { return methods_.prepare_dense(motion_); }

void EventEngine::Run::dense(double theta, double* y) { methods_.dense(theta, motion_.components(), y); }

// Whether a pivot of the mass matrix is so small that rounding of the accelerations drowns them.
bool EventEngine::Run::mass_nearly_singular() {
  if (system_.mass_constant()) return false;
  int at = 0;
  for (int i = 0; i < layout_.coordinates; ++i) {
    if (system_.massless()[i]) continue;
    if (work_.pivots[at] <= 1e-8 * work_.inertia[i]) return true;
    ++at;
  }
  return false;
}

// Everything rests and nothing can change before the limit: go there at once.
bool EventEngine::Run::hold(double limit) {
  if (!motion_.everything_pinned() || !system_.steady() || !system_.watches().empty()) return false;
  for (int i = 0; i < layout_.coordinates; ++i) {
    if (y_[layout_.coordinates + i] != 0) return false;
  }
  // Drives go on below what rests, and do work at a constant rate.
  const int all = motion_.components();
  const double since = t_;
  std::copy_n(y_.begin(), all, node_y_.begin());
  if (all > layout_.integrated() && !motion_(t_, y_.data(), landing_y_.data())) return false;
  const auto work_until = [&](double time) {
    for (int i = layout_.integrated(); i < all; ++i) y_[i] = node_y_[i] + landing_y_[i] * (time - since);
  };
  while (recorder_.samples.next() < limit) {
    if (recorder_.reads_works()) work_until(recorder_.samples.next());
    motion_.load(recorder_.samples.next(), y_.data());
    recorder_.load_works(y_.data(), work_);
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
  work_until(limit);
  motion_.load(limit, y_.data());
  if (!motion_.evaluate()) return false;
  recorder_.testimony.rest(t_, limit, y_.data());
  const double h = limit - t_;
  t_ = limit;
  note_reactions(h);
  have_f0_ = false;
  return true;
}

// The limit is within the last bits of the time, where a step cannot be made shorter, and something was seen in it that asks for that. Nothing moves
// in such a time: what is due there is decided at the limit.
void EventEngine::Run::pass_crumb(double limit) {
  while (recorder_.samples.next() < limit) {
    motion_.load(recorder_.samples.next(), y_.data());
    recorder_.load_works(y_.data(), work_);
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
  recorder_.testimony.rest(t_, limit, y_.data());
  t_ = limit;
  have_f0_ = false;
  finish_step();
}

EventEngine::Run::StepEnd EventEngine::Run::advance(double limit) {
  if (!have_f0_) {
    if (!motion_(t_, y_.data(), f0_.data())) {
      static_cast<void>(fail({work_.mass_failed ? Reason::singular_mass : Reason::not_finite,
                              t_,
                              {},
                              "the equations of motion give no finite number here"}));
      return StepEnd::failed;
    }
    have_f0_ = true;
  }
  if (hold(limit)) {
    finish_step();
    return StepEnd::limit;
  }
  // No step goes over the pole that a reaction has at a jam.
  int jammed = -1;
  const double to_jam = time_to_jam(jammed);
  if (to_jam <= kNothingLeft * (t_ - phase_start_)) {
    together_.assign(1, jammed);
    return StepEnd::guard;
  }
  const bool rest = options_.step == 0 && rests();
  bool guarded = leaving_rest_;  // a guard within sight of rest shortens its first step only
  if (!rest) leaving_rest_ = false;
  if (rest) scales_.begin_look();
  if (jammed >= 0 && h_ > 0)
    h_ = std::min(h_, 0.125 * to_jam);  // so far from the pole a method keeps its order
  // Near a pole explicit steps are short, but not for stability.
  if (jammed < 0 || methods_.stiff()) choose_method(limit);
  if (rest) {
    h_ = step_from_rest(limit);
  } else if (!(h_ > 0)) {
    h_ = first_step();
  }
  double h = options_.step > 0 ? options_.step : h_;
  if (options_.max_step > 0) h = std::min(h, options_.max_step);
  // Steps are as short as rounding of the time allows, whatever comes later.
  double smallest =
      std::max({16 * kEpsilon * std::abs(t_), kLeastShare * std::min(h, limit - t_), kLeastStep});
  // Two events within rounding of each other leave a step behind that is no measure of the motion after them.
  if (options_.step == 0) h = std::max(h, kFirstLength * smallest);
  const double crumb = 2 * kEpsilon * std::max(std::abs(t_), std::abs(limit));
  bool to_limit = false;
  bool finite = true;
  bool singular = false;
  int misses = 0;
  int trials = 0;
  int unsolved = 0;      // trials that Newton's iteration ended
  bool looked = false;   // the size out of rest is known
  bool shifted = false;  // the step ends before a touch that would have straddled its end
  const bool laws = laws_vary(system_);
  LawDefect defect;  // behind the end of the step
  for (;;) {
    to_limit = t_ + h >= limit || limit - (t_ + h) < crumb;
    if (!to_limit && options_.step == 0 && limit - (t_ + h) < 0.2 * h)
      h = 0.5 * (limit - t_);  // no crumb of a step before the limit
    if (to_limit) h = limit - t_;
    if (methods_.stiff() && !noise_.measured() && !to_limit) measure_noise(h, false);
    ++trials;
    if (trials > 1 && limit - t_ < crumb) {
      pass_crumb(limit);
      return StepEnd::limit;
    }
    if (h < smallest && !to_limit) {
      singular = singular || mass_nearly_singular();
      if (!singular && reaches_surface(kFirstLength * smallest)) return StepEnd::guard;
      fail_small(singular, finite);
      return StepEnd::failed;
    }
    if (rest && !looked) {
      if (!look_ahead(std::min(kAheadAtRest * h, limit - t_), guarded, finite)) {
        guarded = guarded || (finite && h <= rest_step_);
        h = !finite ? 0.25 * h : h > rest_step_ ? rest_step_ : h / kAheadAtRest;
        continue;
      }
      looked = true;  // the size stays while the step is made short enough for it
    }
    if (!try_step(h)) {
      finite = methods_.newton_failed();
      // Newton's iteration, or the differences that it needs, may fail where explicit steps are possible.
      if (methods_.stiff() && ++unsolved == kTrialsUntilNoise &&
          options_.integrator == Integrator::automatic) {
        change_method();
        have_f0_ = motion_(t_, y_.data(), f0_.data());
        if (!have_f0_) finite = false;
      }
      singular = singular || work_.mass_failed;
      ++result_.rejected;
      h *= 0.25;
      grow_allowed_ = false;
      continue;
    }
    const bool exact = !methods_.stiff() && motion_.uniform();
    if (!exact) set_weights(h);
    double error = exact || options_.step > 0 ? 0 : step_error();
    // After an event or a rejection the estimate may be that of a transient which the method damps.
    if (error > 1 && (!grow_allowed_ || t_ == phase_start_) && methods_.filter_error(motion_))
      error = step_error();
    // Two trials too long: perhaps it is rounding, which may have grown since it was measured.
    const bool old = scales_.rounding_rules() && noise_.aged(h);
    // At last all of it is taken, whatever is damped.
    if (error > 1 ? trials == 2 || trials == kTrialsUntilNoise : !exact && old) {
      measure_noise(h, trials >= kTrialsUntilNoise);
      set_weights(h);
      if (options_.step == 0) error = step_error();
    }
    if (!(error <= 1)) {
      ++result_.rejected;
      if (!rest) scales_.note_rejected(trial_step(h));
      h *= std::isfinite(error)
               ? std::clamp(0.9 * elementary::rough_pow(error, -1 / methods_.power()), 0.1, 0.9)
               : 0.1;
      grow_allowed_ = false;
      finite = true;
      blamed_guard_ = -1;
      continue;
    }
    if (!prepare_dense()) {
      h *= 0.25;
      finite = false;
      continue;
    }
    // At the limit of stability the estimate may see nothing while the polynomial of the step is far off.
    if (!rest && options_.step == 0) {
      const double share =
          methods_.suspected_dense_error(motion_, scales_.weights().data(), layout_.integrated()) /
          kDenseError;
      if (share > 1) {
        ++result_.rejected;
        h *= std::clamp(0.9 * elementary::rough_pow(share, -1 / methods_.power()), 0.1, 0.9);
        grow_allowed_ = false;
        finite = true;
        blamed_guard_ = -1;
        continue;
      }
      error = std::max(error, share);
    }
    if (t_ == phase_start_ && options_.step == 0 && gives_way_at_once(h)) return StepEnd::guard;
    // A step may have gone over something between its points.
    if (options_.step == 0 && h > smallest && !hidden_change_.impossible() && hides_change(h)) {
      ++result_.rejected;
      h *= 0.5;
      grow_allowed_ = false;
      continue;
    }
    if (double shorter = 1; options_.step == 0 && h > smallest && parts_within(h, shorter)) {
      ++result_.rejected;
      h = std::max(h * shorter, smallest);
      grow_allowed_ = false;
      continue;
    }
    bool accurate = true;
    share_of_error_ = error;
    const bool ended = find_first_guard(h, accurate);
    // Out of rest a guard that follows the motion is as little known as the motion itself; the look ahead has seen that none vanishes. Rest that
    // lasts lengthens the steps: then it is the guards that time moves, and they must be known. So must those that time has taken through zero.
    if (!accurate && (!rest || h > rest_step_ || load_passes_zero()) && options_.step == 0) {
      ++result_.rejected;
      h *= 0.5;
      grow_allowed_ = false;
      continue;
    }
    if (ended && first_theta_ < kLateRoot && options_.step == 0 && first_theta_ * h > smallest) {
      // Values before the zero are small beside those after it, and so is what rounding leaves of them.
      h *= 4 * first_theta_;
      continue;
    }
    // What the phase has begun with may be used up in a time that only the time itself can resolve.
    if (ended && first_theta_ < kLateRoot && options_.step == 0 && t_ == phase_start_ &&
        first_theta_ * h > 16 * kEpsilon * std::abs(t_)) {
      h *= 4 * first_theta_;
      smallest = std::max(16 * kEpsilon * std::abs(t_), std::min(smallest, kLeastShare * h));
      continue;
    }
    if (ended && dips_beyond_ && !shifted && options_.step == 0) {
      h *= 0.7 * first_theta_;  // the next step sees the whole touch
      shifted = true;
      continue;
    }
    if (laws && !defect) {
      const double place = first_defect(
          ended ? first_theta_ : 1,
          [&](double theta) {
            dense(theta, node_y_.data());
            motion_.load(t_ + theta * h, node_y_.data());
            return defect_of_laws(system_, work_, mode_);
          },
          defect);
      // The run ends where the number leaves its range, with a step of its own.
      if (place < 1 && options_.step == 0 && place * h > smallest) {
        h *= place;
        continue;
      }
    }
    // Accepted.
    const double factor = error > 0 ? std::clamp(0.9 * elementary::rough_pow(error, -1 / methods_.power()),
                                                 0.2, grow_allowed_ ? 6.0 : 1.0)
                                    : (grow_allowed_ ? 6.0 : 1.0);
    grow_allowed_ = true;
    ++result_.steps;
    const double trial = h;
    if (ended) {
      if (!land(h, ++misses < kMostMisses)) return StepEnd::failed;
      if (missed_) {
        ++result_.rejected;
        h *= 0.5;
        grow_allowed_ = false;
        continue;
      }
      h_ = std::max(trial * std::min(factor, 1.0), landing_h_);
      return StepEnd::guard;
    }
    scales_.update(trial_step(h));
    noise_.age();
    if (!to_limit || factor < 1) h_ = h * factor;
    watch_stability();
    commit_step(to_limit ? limit : t_ + h);
    if (to_limit) leaving_rest_ = false;  // a force may begin here
    if (defect) {
      static_cast<void>(
          fail({Reason::inconsistent, t_, system_.relations()[defect.relation].place, describe(defect)}));
      return StepEnd::failed;
    }
    if (contradicted()) return StepEnd::guard;
    return to_limit ? StepEnd::limit : StepEnd::plain;
  }
}

// The smallest step has not been short enough: which quantity asks for shorter ones, and what may help.
void EventEngine::Run::fail_small(bool singular, bool finite) {
  Status status;
  status.time = t_;
  status.reason = singular ? Reason::singular_mass : finite ? Reason::step_too_small : Reason::not_finite;
  if (singular) {
    status.message = "the mass matrix becomes singular here";
  } else if (!finite) {
    status.message = "the equations of motion give no finite number beyond this time";
  } else if (blamed_guard_ >= 0 && blamed_guard_ < guards_.size()) {
    status.where = guard_name(guards_.list()[blamed_guard_]);
    status.message =
        "this function, whose zero would be an event, is not smooth enough for the smallest step; look for a "
        "pole or an endless oscillation in it";
  } else {
    status.where = worst_component();
    status.message =
        "the error cannot be kept within the tolerance, even with the smallest step; if the motion does not "
        "end here, look at the forces on it for a pole or an unbounded derivative";
  }
  static_cast<void>(fail(std::move(status)));
}

std::string EventEngine::Run::guard_name(const Guard& guard) const {
  switch (guard.kind) {
    case GuardKind::observed:
      return "switch in " + system_.observed()[guard.place].place;
    case GuardKind::watch:
      return "watch '" + system_.watches()[guard.place].name + "'";
    case GuardKind::side:
    case GuardKind::level_below:
    case GuardKind::level_above:
    case GuardKind::slide_above:
    case GuardKind::slide_below:
    case GuardKind::held_above:
    case GuardKind::held_below:
    case GuardKind::corner:
      return "switch in " + system_.switches()[guard.place].place;
    case GuardKind::margin:
      return "the shared reactions";
    default:
      break;
  }
  const std::string& place = system_.relations()[guard.place].place;
  switch (guard.kind) {
    case GuardKind::gap:
      return place + ", gap";
    case GuardKind::slip:
      return place + ", slip velocity";
    case GuardKind::cone_plus:
    case GuardKind::cone_minus:
      return place + ", friction limit";
    case GuardKind::jam:
      return place + ", jam";
    default:
      return place + ", normal force";
  }
}

// The component whose error was the largest in the last trial.
std::string EventEngine::Run::worst_component() const {
  const int n = layout_.coordinates;
  int worst = 0;
  double largest = -1;
  for (int i = 0; i < motion_.components(); ++i) {
    const double error = std::abs(methods_.errors()[i]) * scales_.weights()[i];
    if (error <= largest || (i >= layout_.integrated() && largest > 1)) continue;
    largest = error;
    worst = i;
  }
  if (worst < n) return "coordinate '" + system_.coordinate_names()[worst] + "'";
  if (worst < 2 * n) return "velocity of '" + system_.coordinate_names()[worst - n] + "'";
  if (worst < layout_.integrated()) return "state '" + system_.state_names()[worst - 2 * n] + "'";
  const int element = (worst - layout_.integrated()) % std::max(layout_.audits, 1);
  return "work of '" + system_.audits()[element].name + "'";
}

// Explicit or implicit is a question of cost: right-hand sides per unit of time. Now and then the other method is given a trial step, as long as
// it must be to be worth the change; if its error allows that step, the run goes on with it. Steps at the limit of stability call for a
// trial at once; trials that fail become rarer, so that they cost no more than a few per cent. A trial moves nothing.
void EventEngine::Run::choose_method(double limit) {
  if (options_.integrator != Integrator::automatic || options_.step > 0 || layout_.integrated() == 0 ||
      !(h_ > 0))
    return;
  if (motion_.uniform()) {  // explicit steps are exact there, and as long as anyone likes
    if (!methods_.stiff()) return;
    change_method();
    have_f0_ = motion_(t_, y_.data(), f0_.data());
    return;
  }
  constexpr double kGain = 1.5;  ///< the other method must be cheaper by this factor
  constexpr int kShorterTrials = 6;
  if (!method_choice_.due()) return;
  // Samples for the guards, then stages, dense output and, for the implicit method, its Jacobian and Newton's iterations.
  const double guards = guards_.size() > 0 ? grids_.front()->points() : 0;
  const double explicit_cost = guards + (methods_.order() == numeric::Method::order8 ? 16 : 6);
  const double implicit_cost = guards + layout_.integrated() + 16;
  const double length =
      h_ * kGain * (methods_.stiff() ? explicit_cost / implicit_cost : implicit_cost / explicit_cost);
  if (t_ + length >= limit) return;  // soon
  method_choice_.begin_trial();
  change_method();
  if (motion_(t_, y_.data(), f0_.data())) {
    if (passes_trial(length)) {
      h_ = length;
      method_choice_.passed();
      return;
    }
    // Explicit steps that jump to and fro over a steep place leave Newton's iteration on the wrong side of it. Shorter steps find the way in, and
    // grow from there; if they do not, the next trial is for the way back.
    double shorter = length;
    for (int trial = 0; trial < kShorterTrials && methods_.newton_failed(); ++trial) {
      shorter *= 0.25;
      if (!passes_trial(shorter)) continue;
      h_ = shorter;
      return;
    }
  }
  change_method();
  have_f0_ = motion_(t_, y_.data(), f0_.data());
}

bool EventEngine::Run::passes_trial(double length) {
  if (!try_step(length)) return false;
  set_weights(length);
  double error = step_error();
  // What explicit steps at the limit of stability leave behind, within the tolerance, is a transient that the implicit method damps.
  if (error > 1 && methods_.filter_error(motion_)) error = step_error();
  return error <= 1;
}

void EventEngine::Run::change_method() {
  motion_.always_audit(!methods_.stiff());
  methods_.change(motion_.components());
}

// Whether explicit steps are kept short by stability alone.
void EventEngine::Run::watch_stability() {
  if (methods_.stiff() || options_.integrator != Integrator::automatic || options_.step > 0 ||
      layout_.integrated() == 0)
    return;
  if (!methods_.prepare_end_rate(motion_)) return;
  method_choice_.note(methods_.stiffness(scales_.weights().data(), layout_.integrated()));
}

void EventEngine::Run::commit_step(double t1) {
  const double before = t_;
  if (graze_guard_ >= 0) list_graze(t1 - t_);
  note_open_gaps();
  tell_inside(t1);
  note_step(t1 - t_, t1 - t_);
  emit_samples(t1);
  const double* y1 = methods_.y1();
  const int width = motion_.components();
  std::copy_n(y1, width, landing_y_.begin());
  const bool end_rate = methods_.prepare_end_rate(motion_);
  if (end_rate) std::copy_n(methods_.f1(), width, f0_.begin());
  methods_.accept();
  t_ = t1;
  std::copy_n(landing_y_.begin(), width, y_.begin());
  have_f0_ = end_rate && motion_.active() == 0;
  if (motion_.active() > 0 && !motion_.project(t_, y_.data(), true)) have_f0_ = false;
  project_sliding();
  carry_watches();
  arm_slips(t1 - before);
  for (Guard& guard : guards_.list()) guard.zeros = 0;
  finish_step();
  tell_evaluated_end();
}

// Functions of the state alone: gaps, slips, sides. What they are is seen from their value.
bool EventEngine::Run::of_the_state(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip || guard.kind == GuardKind::side ||
         guard.kind == GuardKind::level_above || guard.kind == GuardKind::level_below;
}

// Whether a gap, a slip or a surface has come to the wrong side within the tolerance, where no zero could be seen (a touch that the error of
// the steps makes a crossing and back): the instant is now, and the values tell.
bool EventEngine::Run::contradicted() {
  together_.clear();
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (!of_the_state(guard) || !(samples_[i * (degree_ + 2) + (degree_ + 1)] < 0)) continue;
    const double value = guards_.value(guard);
    double noise = std::max({guard.noise + guard.noise_rate * h_, 0x1p-43 * guard.scale, kLeastNumber});
    if (guard.kind == GuardKind::gap)
      noise = std::max(noise, 8 * rounding_of(system_.relations()[guard.place].gap));
    if (guard.kind != GuardKind::gap && guard.kind != GuardKind::slip)
      noise = std::max({noise, 8 * surface_rounding(guard.place), unmoved(guard.place, h_)});
    if (value < -noise) together_.push_back(static_cast<int>(i));
  }
  return !together_.empty();
}

void EventEngine::Run::note_gap(int relation, double gap, double seen) {
  recorder_.residuals.note_gap(work_, relation, gap, std::max(seen, guards_.gap_scale(relation)),
                               scales_.sizes());
}

// Gaps of open contacts at the samples of the step.
void EventEngine::Run::note_open_gaps() {
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::gap) continue;
    const double* sample = samples_.data() + i * (degree_ + 2);
    const auto [lowest, highest] = std::minmax_element(sample, sample + degree_ + 2);
    if (*lowest < 0) note_gap(list[i].place, *lowest, *highest);
  }
}

void EventEngine::Run::note_closed_gaps() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::closed) continue;
    double gap = 0;
    double rate = 0;
    system_.gap(work_, r, gap, rate);
    note_gap(r, gap, 0);
  }
}

// A slip that started from rest is armed once it is more than rounding.
void EventEngine::Run::arm_slips(double h) {
  std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].noise_rate == 0) continue;
    list[i].noise += list[i].noise_rate * h;
    if (samples_[i * (degree_ + 2) + (degree_ + 1)] > list[i].noise) list[i].noise = list[i].noise_rate = 0;
  }
}

// A watch has the sign of its last value that is more than its error.
void EventEngine::Run::carry_watches() {
  if (watches_.empty()) return;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::watch) continue;
    const double value = samples_[i * (degree_ + 2) + (degree_ + 1)];
    const int side = value > 0 ? 1 : -1;
    if (value == 0 || watches_.side(list[i].place) == side) continue;
    const double error = watch_error(list[i], options_.tolerance * list[i].scale, list[i].noise);
    if (std::abs(value) > error) watches_.carry(list[i].place, side);
  }
}

// A touch without consequence inside the step: an event with its depth, and two equal rows.
void EventEngine::Run::list_graze(double h) {
  const Guard& guard = guards_.list()[graze_guard_];
  const double time = t_ + graze_theta_ * h;
  // What is touched has come down. A function that rises by powers of ten within the step is only that of the polynomial that stands for it.
  motion_.load(t_, y_.data());
  const double before = guards_.value(guard);
  dense(graze_theta_, node_y_.data());
  motion_.load(time, node_y_.data());
  if (guards_.value(guard) > before) return;
  while (recorder_.samples.next() < time) {
    dense((recorder_.samples.next() - t_) / h, node_y_.data());
    motion_.load(recorder_.samples.next(), node_y_.data());
    recorder_.load_works(node_y_.data(), work_);
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
  dense(graze_theta_, node_y_.data());
  motion_.load(time, node_y_.data());
  recorder_.load_works(node_y_.data(), work_);
  report_graze(time, guard.place, graze_depth_, 0);
}

// The end of a step that is no event: scales of the guards and of the energy.
void EventEngine::Run::finish_step() {
  motion_.load(t_, y_.data());
  note_closed_gaps();
  if (guards_.needs_motion() || recorder_.reads_reactions()) {
    if (!motion_.evaluate()) return;
  }
  if (has_massless_) motion_.take_massless(y_.data());
  guards_.note_scales();
  recorder_.residuals.note_energy(work_);
}

}  // namespace judder::engines
