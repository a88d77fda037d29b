#include "engines/event/closed_form_advance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/event/event_parts.hpp"
#include "engines/event/pressing.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/scan.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/watching.hpp"
#include "engines/law_numbers.hpp"
#include "engines/numeric/power_of_two.hpp"
#include "judder/core/number.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kRounding = 8 * kEpsilon;
constexpr double kWindowsPerAdvance =
    65536;                               ///< natural times after which cancelling and progress get their turn
constexpr double kMostWindows = 0x1p44;  ///< natural times up to the next known instant: years of computing
constexpr double kPenetration = 256;     ///< roundings of a gap that count as penetration
constexpr double kLongPhase = 32;        ///< natural times after which roundings of the way count
constexpr double kInsidePhase = 1e-6;    ///< of a natural time: a place inside of a phase
constexpr int kMostStandstills = 64;     ///< events one after the other between which time does not move

}  // namespace

std::unique_ptr<Advance> by_closed_forms(EventParts& parts) {
  return std::make_unique<ClosedFormAdvance>(parts.now, parts.found, parts.rounding, parts.rows,
                                             parts.pressed, parts.record, parts.watching, parts.sliding,
                                             parts.scan);
}

/// Closed forms carry nothing but rounding from event to event.
double ClosedFormAdvance::state_tolerance() const { return 64 * kEpsilon; }

void ClosedFormAdvance::load_inside(double theta, double length) { load_at(now_.t + theta * length); }

ClosedFormAdvance::ClosedFormAdvance(Phase& now, StepFindings& found, Roundings& rounding, Rows& rows,
                                     Pressing& pressed, StepRecord& record, Watching& watching,
                                     Sliding& sliding, Scan& scan)
    : now_(now),
      found_(found),
      rounding_(rounding),
      rows_(rows),
      pressed_(pressed),
      record_(record),
      watching_(watching),
      sliding_(sliding),
      scan_(scan) {
  node_y_.resize(now_.motion.all_components());
}

StepEnd ClosedFormAdvance::advance(double limit) {
  now_.time_bound = kRounding * std::max(std::abs(now_.t), std::abs(limit));
  if (record_.hold(limit)) {
    record_.finish_step();
    return StepEnd::limit;
  }
  if (!begin_phase() || penetrates(start_.data(), now_.t)) return StepEnd::failed;
  // Laws that vary do so from mode to mode only: beside its beginning, where a switch may stand at zero, one place of the phase tells.
  if (laws_vary(now_.system)) {
    load_at(now_.t + std::min(limit - now_.t, form_->window()) * kInsidePhase);
    if (const LawDefect defect = defect_of_laws(now_.system, now_.work, now_.mode)) {
      static_cast<void>(now_.fail(
          {Reason::inconsistent, now_.t, now_.system.relations()[defect.relation].place, describe(defect)}));
      return StepEnd::failed;
    }
  }
  if (const std::string problem = beyond_resolution(limit); !problem.empty()) {
    static_cast<void>(now_.fail({Reason::step_too_small, now_.t, {}, problem}));
    return StepEnd::failed;
  }
  double horizon = limit - now_.t;
  bool to_limit = true;
  if (horizon > kWindowsPerAdvance * form_->window()) {
    horizon = kWindowsPerAdvance * form_->window();
    to_limit = false;
  }
  const numeric::CrossingOptions search{.positive = positive_, .cancel = now_.options.cancel};
  numeric::Crossing crossing =
      form_->search.find(form_->exponentials, start_.data(), horizon, zeros_, search);
  now_.result.windows += static_cast<long>(form_->search.windows());
  ++now_.result.steps;
  if (crossing.outcome == numeric::SearchOutcome::cancelled) return interrupted();
  if (crossing.outcome == numeric::SearchOutcome::overflow) {
    static_cast<void>(now_.fail({Reason::not_finite,
                                 now_.t + crossing.time,
                                 {},
                                 "the motion of this mode leaves the range of numbers"}));
    return StepEnd::failed;
  }
  if (crossing.outcome == numeric::SearchOutcome::undecided) {
    static_cast<void>(now_.fail({Reason::step_too_small,
                                 now_.t + crossing.time,
                                 {},
                                 "zeros of event functions lie too close to be told apart"}));
    return StepEnd::failed;
  }
  for (Guard& guard : now_.guards.list()) guard.zeros = 0;
  if (crossing.outcome == numeric::SearchOutcome::none) {
    standstills_ = 0;
    form_->exponentials.advance_exactly(start_.data(), horizon, end_.data());
    const double end = to_limit ? limit : now_.t + horizon;
    if (!finite(end_)) {
      static_cast<void>(
          now_.fail({Reason::not_finite, now_.t, {}, "the motion of this mode leaves the range of numbers"}));
      return StepEnd::failed;
    }
    if (penetrates(end_.data(), end)) return StepEnd::failed;
    end_phase_at(end, horizon);
    record_.finish_step();
    return to_limit ? StepEnd::limit : StepEnd::plain;
  }
  std::copy_n(form_->search.state(), form_->size(), end_.begin());
  if (crossing.time > kLongPhase * form_->window()) land_exactly(crossing);
  gather(crossing);
  const double time = std::min(phase_time_ + crossing.time, limit);
  now_.time_bound = kRounding * std::abs(time) + crossing.error;
  standstills_ = time > phase_time_ ? 0 : standstills_ + 1;
  if (standstills_ > kMostStandstills) {
    static_cast<void>(
        now_.fail({Reason::step_too_small, now_.t, {}, "events follow each other and time does not move"}));
    return StepEnd::failed;
  }
  end_phase_at(time, crossing.time);
  now_.load();
  now_.recorder.residuals.note_energy(now_.work);
  return StepEnd::guard;
}

/// The closed form of the mode, and x̂ at the present state.
bool ClosedFormAdvance::take_form() {
  now_.load();
  std::string problem;
  form_ = forms_.of(now_.system, now_.work, now_.motion, now_.guards, &now_.patience, problem);
  if (form_ == nullptr)
    return now_.fail({Reason::unsupported, now_.t, {}, "the exact engine cannot go on: " + problem});
  const auto size = static_cast<std::size_t>(form_->size());
  if (start_.size() < size) {
    for (std::vector<double>* memory : {&start_, &end_, &sample_, &window_start_, &window_next_})
      memory->resize(size);
  }
  form_->start(now_.t, now_.y.data(), start_.data());
  return true;
}

bool ClosedFormAdvance::next_derivative_clear(const Guard& guard, int order) {
  if (!take_form()) return false;
  for (std::size_t i = 0; i < form_->functions().size(); ++i) {
    if (&now_.guards.list()[form_->functions()[i].guard] == &guard)
      return form_->search.derivative_clear(static_cast<int>(i), start_.data(), order + 1);
  }
  return false;
}

bool ClosedFormAdvance::begin_phase() {
  if (!take_form()) return false;
  phase_time_ = integrated_ = now_.t;
  std::copy_n(start_.begin(), form_->size(), window_start_.begin());
  zeros_.clear();
  for (const ClosedForm::Function& function : form_->functions()) {
    const int order = now_.guards.list()[function.guard].zeros;
    zeros_.push_back(std::min(order, 3));
  }
  positive_.clear();
  for (std::size_t i = 0; i < zeros_.size(); ++i) {
    if (zeros_[i] < 0) zeros_[i] = form_->search.order_of_zero(static_cast<int>(i), start_.data(), 1);
    positive_.push_back(stays_positive(now_.guards.list()[form_->functions()[i].guard], zeros_[i]) ? 1 : 0);
  }
  return true;
}

/// Whether a guard that begins at zero must not go on to negative values. What the last event has left at a known order of zero may, a slip
/// that has just begun among them, except a gap, which nothing may pass.
bool ClosedFormAdvance::stays_positive(const Guard& guard, int zeros) {
  switch (guard.kind) {
    case GuardKind::gap:
      return true;
    case GuardKind::side:
    case GuardKind::level_below:
    case GuardKind::level_above:
    case GuardKind::corner:
    case GuardKind::reaction:
    case GuardKind::pressed:
    case GuardKind::cone_plus:
    case GuardKind::cone_minus:
    case GuardKind::margin:
    case GuardKind::slip:
      return zeros == 0;
    default:
      return false;
  }
}

/// Why the mode cannot be followed from here to the limit; empty: it can.
std::string ClosedFormAdvance::beyond_resolution(double limit) const {
  const double natural = form_->window();
  if (std::isinf(natural)) return {};
  if (natural <= 4 * kEpsilon * std::abs(now_.t)) {
    return "the fastest motion of this mode lasts " + to_text(natural) +
           " s, which time cannot resolve here: its last bit is " + to_text(kEpsilon * std::abs(now_.t)) +
           " s";
  }
  if (limit - now_.t > kMostWindows * natural) {
    return "the fastest motion of this mode lasts " + to_text(natural) + " s: up to " + to_text(limit) +
           " s it would be followed through " + to_text(std::ceil((limit - now_.t) / natural)) +
           " such times, more than this engine can do; the engine 'event' has a method for stiff motion";
  }
  return {};
}

/// A gap that is negative at the start or at the end of a phase by more than its rounding: the bodies are inside each other, and what follows would
/// be worthless.
bool ClosedFormAdvance::penetrates(const double* x, double time) {
  for (std::size_t i = 0; i < form_->functions().size(); ++i) {
    const Guard& guard = now_.guards.list()[form_->functions()[i].guard];
    if (guard.kind != GuardKind::gap) continue;
    const double gap = form_->search.value(static_cast<int>(i), x);
    if (gap >= -kPenetration * form_->search.rounding(static_cast<int>(i), x)) continue;
    // A contact that was closed until now has no scale of its own: what its coordinates have moved counts too.
    const model::Row& w = now_.system.rows(now_.work, guard.place).w;
    double seen = now_.guards.gap_scale(guard.place);
    for (int k = 0; k < now_.layout.coordinates; ++k)
      seen = std::max(seen, std::abs(w[k]) * now_.scales.sizes()[k]);
    if (gap >= -kRounding * seen) continue;
    // What another contact is closed by, in its own rounding, moves this one too.
    double moved = 0;
    for (int r = 0; r < now_.layout.relations; ++r) {
      const model::Relation& other = now_.system.relations()[r];
      if (r == guard.place || !other.has_normal || !other.holonomic) continue;
      const model::Row& direction = now_.system.rows(now_.work, r).w;
      for (const int k : other.touches) {
        if (w[k] == 0 || direction[k] == 0) continue;
        moved = std::max(moved,
                         kRoundingUnits * rounding_.rounding_of(other.gap) * std::abs(w[k] / direction[k]));
      }
    }
    if (gap >= -moved) continue;
    static_cast<void>(now_.fail({Reason::discontinuous, time, now_.system.relations()[guard.place].place,
                                 "the open contact penetrates by " + to_text(-gap) +
                                     ", more than the rounding of its gap: an impact was missed"}));
    return true;
  }
  return false;
}

/// The state at a crossing after many natural times, without the roundings of the way, and the time that it has its zero at.
void ClosedFormAdvance::land_exactly(numeric::Crossing& crossing) {
  form_->exponentials.advance_exactly(start_.data(), crossing.time, sample_.data());
  const double slope = form_->search.slope(crossing.function, sample_.data());
  const double step = -form_->search.value(crossing.function, sample_.data()) / slope;
  // What the bound of the crossing does not allow is no correction: a multiple zero.
  if (!(std::abs(step) <= crossing.error && crossing.time + step > 0)) return;
  crossing.time += step;
  form_->exponentials.series(sample_.data(), step, end_.data());
}

/// The run is cancelled: it ends where it is.
StepEnd ClosedFormAdvance::interrupted() {
  static_cast<void>(now_.fail({Reason::interrupted, now_.t, {}, "interrupted"}));
  return StepEnd::failed;
}

bool ClosedFormAdvance::finite(const std::vector<double>& x) const {
  return std::all_of(x.begin(), x.begin() + form_->size(), [](double value) { return std::isfinite(value); });
}

/// Everything up to the end of the phase: grazes, rows, work, reactions, scales; then the state there.
void ClosedFormAdvance::end_phase_at(double time, double tau) {
  phase_end_ = time;
  emit_grazes(time);
  emit_rows(time);
  integrate_to(time);
  // What is shared is no linear function of the state.
  if (now_.motion.redundant() && now_.recorder.loads.follow(now_.mode, now_.t)) {
    ForcesInside forces(now_, time - now_.t);
    now_.recorder.loads.take_rest(time - now_.t, forces);
  }
  if (!pressed_.contacts().empty()) note_pressing_along(time - now_.t);
  note_scales_along(tau);
  const bool resolved = tell_phase(time);
  now_.t = time;
  std::copy_n(end_.begin(), now_.layout.integrated(), now_.y.begin());
  now_.motion.pin(now_.t, now_.y.data());
  if (now_.motion.active() > 0) static_cast<void>(now_.motion.project(now_.t, now_.y.data(), true));
  sliding_.project_step();
  now_.recorder.testimony.end(now_.t, now_.y.data(), true, resolved);
  now_.have_f0 = false;
}

/// The guards that vanish at the crossing: the one that was found, and those whose own zero cannot be told from it.
void ClosedFormAdvance::gather(const numeric::Crossing& crossing) {
  const auto& functions = form_->functions();
  const numeric::CrossingSearch& search = form_->search;
  const double slack =
      64 * kEpsilon * std::max(std::abs(now_.t), std::abs(now_.t + crossing.time)) + 2 * crossing.error;
  found_.together.clear();
  for (int i = 0; i < static_cast<int>(functions.size()); ++i) {
    if (i != crossing.function) {
      const double slope = search.slope(i, end_.data());
      if (!(slope < -search.slope_rounding(i, end_.data()))) continue;
      if (std::abs(search.value(i, end_.data())) > -slope * slack + 2 * search.rounding(i, end_.data()))
        continue;
      // What was never more than rounding does not cross: a contact that nothing presses keeps its reaction of zero.
      const double middle = middle_value(i, crossing.time);
      const double rounding = std::max(search.rounding(i, start_.data()), search.rounding(i, end_.data()));
      if (search.value(i, start_.data()) <= 4 * rounding && middle <= 4 * rounding) continue;
    }
    const ClosedForm::Function& function = functions[i];
    const Guard& guard = now_.guards.list()[function.guard];
    if (guard.kind == GuardKind::watch) watching_.watches().meet(guard.place, function.rising);
    if (std::find(found_.together.begin(), found_.together.end(), function.guard) == found_.together.end())
      found_.together.push_back(function.guard);
  }
}

/// The state at a time of the phase into work_.in.
void ClosedFormAdvance::load_at(double time) {
  form_->exponentials.advance(start_.data(), time - phase_time_, sample_.data());
  std::copy_n(sample_.begin(), now_.layout.integrated(), node_y_.begin());
  now_.motion.load(time, node_y_.data());
  now_.recorder.load_works(now_.y.data(), now_.work);
}

/// Touches without consequence, each with its bound and, in place of a sample row, two equal rows.
void ClosedFormAdvance::emit_grazes(double until) {
  for (const numeric::Graze& graze : form_->search.grazes()) {
    const Guard& guard = now_.guards.list()[form_->functions()[graze.function].guard];
    const double time = phase_time_ + graze.time;
    // A touch that cannot be told from the end of the phase is part of that event.
    if (!scan_.reports_graze(guard) || !(time > now_.t) || !(time + graze.error < until - now_.time_bound))
      continue;
    emit_rows(time);
    integrate_to(time);
    load_at(time);
    rows_.report_graze(time, guard.place, graze.bound, kRounding * std::abs(time) + graze.error);
  }
}

/// Rows at the sample times before `until`.
void ClosedFormAdvance::emit_rows(double until) {
  while (now_.recorder.samples.next() < until) {
    now_.patience.look();
    if (now_.recorder.reads_works()) integrate_to(now_.recorder.samples.next());
    load_at(now_.recorder.samples.next());
    rows_.emit_row(RowKind::sample);
    now_.recorder.samples.advance();
  }
}

/// Work and impulses from integrated_ to `time`, piece by piece.
void ClosedFormAdvance::integrate_to(double time) {
  const double from = integrated_;
  integrated_ = time;
  if (!form_->work_by_products()) integrate_power(from, time);
  if (!form_->has_integrals()) return;
  double rest = time - from;
  double* work = now_.y.data() + now_.layout.integrated();
  double scale = now_.recorder.residuals.largest_energy();
  for (int e = 0; e < 2 * now_.layout.audits; ++e) scale = std::max(scale, std::abs(work[e]));
  const auto note = [&] {
    for (const ClosedForm::Reaction& reaction : reactions_)
      now_.recorder.loads.add(reaction.relation, reaction.impulse, reaction.peak);
  };
  const auto go_on = [&](int p) {
    now_.patience.look();
    // Thousands of pieces follow each other: what a rounded matrix leaves of a motion together would add up.
    form_->exponentials.advance_exactly(window_start_.data(), numeric::power_of_two(p), window_next_.data());
    rest -= numeric::power_of_two(p);
  };
  if (form_->has_pieces()) {
    // Within the natural time where the peak of a reaction is to be followed.
    const int natural = form_->exponentials.natural_exponent();
    const int longest = form_->has_reactions() ? std::min(natural, form_->last_piece()) : form_->last_piece();
    while (rest >= numeric::power_of_two(form_->first_piece())) {
      const int p = std::min(numeric::exponent_of(rest), longest);
      go_on(p);
      if (form_->integrate_piece(p, window_start_.data(), window_next_.data(), scale, work, reactions_)) {
        note();
        std::swap(window_start_, window_next_);
        continue;
      }
      // Its terms cancel: the products themselves, within the natural time.
      rest += numeric::power_of_two(p);
      const int q = std::min(p, natural);
      for (int piece = 0; piece < 1 << (p - q); ++piece) {
        form_->integrate(window_start_.data(), numeric::power_of_two(q), work, reactions_);
        note();
        go_on(q);
        std::swap(window_start_, window_next_);
      }
    }
  } else {
    while (rest >= form_->window()) {
      form_->integrate(window_start_.data(), form_->window(), work, reactions_);
      note();
      go_on(form_->exponentials.natural_exponent());
      std::swap(window_start_, window_next_);
    }
  }
  if (!(rest > 0)) return;
  form_->integrate(window_start_.data(), rest, work, reactions_);
  note();
  // The next piece starts from here, unless the phase is over.
  if (time >= phase_end_) return;
  form_->exponentials.advance(window_start_.data(), rest, window_next_.data());
  std::swap(window_start_, window_next_);
}

/// The same where power is no sum of products: the power itself at the nodes of Gauss and Legendre.
void ClosedFormAdvance::integrate_power(double from, double to) {
  static constexpr double kNode[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                      0.9602898564975363};
  static constexpr double kWeight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                        0.1012285362903763};
  const int width = now_.layout.integrated();
  const double pieces =
      std::isinf(form_->window()) ? 1 : std::max(1.0, std::ceil((to - from) / form_->window()));
  const double half = 0.5 * (to - from) / pieces;
  for (double piece = 0; piece < pieces; ++piece) {
    now_.patience.look();
    const double middle = from + (2 * piece + 1) * half;
    for (int g = 0; g < 4; ++g) {
      for (const double sign : {-1.0, 1.0}) {
        const double time = middle + sign * kNode[g] * half;
        form_->exponentials.advance(start_.data(), time - phase_time_, sample_.data());
        std::copy_n(sample_.begin(), width, node_y_.begin());
        if (!now_.motion(time, node_y_.data(), now_.f0.data())) continue;
        for (int i = width; i < now_.motion.components(); ++i) now_.y[i] += half * kWeight[g] * now_.f0[i];
      }
    }
  }
}

/// The phase for an observer, in pieces within the natural time. Of very long phases the later part is told in longer pieces, as points only:
/// then false.
bool ClosedFormAdvance::tell_phase(double time) {
  if (!now_.recorder.testimony.heard()) return true;
  constexpr double kFollowed = 1024;  ///< pieces that are followed
  constexpr int kFurther = 256;
  const double natural = form_->window();
  const double pieces = std::isfinite(natural) ? std::max(1.0, std::ceil((time - now_.t) / natural)) : 1;
  const int followed = static_cast<int>(std::min(pieces, kFollowed));
  const int all = pieces > kFollowed ? followed + kFurther : followed;
  const double near = pieces > kFollowed ? now_.t + kFollowed * natural : time;
  const auto boundary = [&](int k) {
    if (k >= all) return time;
    return k <= followed ? now_.t + (near - now_.t) * (k / static_cast<double>(followed))
                         : near + (time - near) * ((k - followed) / static_cast<double>(kFurther));
  };
  const auto state_at = [&](double t) {
    form_->exponentials.advance(start_.data(), t - phase_time_, sample_.data());
    std::copy_n(sample_.begin(), now_.layout.integrated(), node_y_.begin());
  };
  for (int k = 0; k < all; ++k) {
    now_.patience.look();
    const double from = boundary(k);
    const double to = boundary(k + 1);
    for (const double theta : Testimony::kSmooth) {
      const double t = from + theta * (to - from);
      state_at(t);
      now_.recorder.testimony.inside(t, node_y_.data());
    }
    if (now_.recorder.testimony.asked_along()) {
      now_.recorder.testimony.along(from, to, node_y_.data(), [&](double t, double* y) {
        form_->exponentials.advance(start_.data(), t - phase_time_, sample_.data());
        std::copy_n(sample_.begin(), now_.layout.integrated(), y);
      });
    }
    if (k + 1 == all) break;  // its end is the end of the phase
    state_at(to);
    now_.recorder.testimony.end(to, node_y_.data(), false, k < followed);
  }
  return all == followed;
}

/// Loads of compliant contacts, in pieces within the natural time: no gap changes its side inside a phase.
void ClosedFormAdvance::note_pressing_along(double length) {
  if (!(length > 0)) return;
  const double natural = form_->window();
  const double pieces = std::isfinite(natural) ? std::max(1.0, std::ceil(length / natural)) : 1;
  for (const int r : pressed_.contacts()) {
    now_.way->load_inside(0.5, length);
    const bool pressed = pressed_.compliant_gap(r) < 0;
    if (!pressed && !now_.recorder.loads.is_open(r)) continue;
    for (double k = 0; k < (pressed ? pieces : 1); ++k) {
      now_.patience.look();
      pressed_.follow_pressing(r, k / pieces, (k + 1) / pieces, length);
    }
  }
}

/// A function in the middle of a phase, by its values and slopes at both ends; for scales and phases within the natural time.
double ClosedFormAdvance::middle_value(int function, double tau) const {
  const numeric::CrossingSearch& search = form_->search;
  return 0.5 * (search.value(function, start_.data()) + search.value(function, end_.data())) +
         0.125 * tau * (search.slope(function, start_.data()) - search.slope(function, end_.data()));
}

/// Running scales see the ends of a phase and a point between.
void ClosedFormAdvance::note_scales_along(double tau) {
  const auto& functions = form_->functions();
  const numeric::CrossingSearch& search = form_->search;
  const bool curved = tau > 2 * form_->window();
  if (curved)
    form_->exponentials.apply(std::ilogb(tau) - 1, start_.data(),
                              sample_.data());  // a quarter to a half of the way
  const auto middle = [tau](double a, double b, double rate_a, double rate_b) {
    return 0.5 * (a + b) + 0.125 * tau * (rate_a - rate_b);
  };
  for (int i = 0; i < static_cast<int>(functions.size()); ++i) {
    const double value = curved ? search.value(i, sample_.data()) : middle_value(i, tau);
    now_.guards.note_scale(now_.guards.list()[functions[i].guard], value);
  }
  const int n = now_.layout.coordinates;
  for (int i = 0; i < n; ++i) {
    const double position = curved ? sample_[i] : middle(start_[i], end_[i], start_[n + i], end_[n + i]);
    now_.scales.note(i, std::abs(position - now_.scales.start_of(i)));
    now_.scales.note(i, std::abs(end_[i] - now_.scales.start_of(i)));
    now_.scales.note(n + i, std::abs(start_[n + i]));
    now_.scales.note(n + i, std::abs(end_[n + i]));
    if (curved) now_.scales.note(n + i, std::abs(sample_[n + i]));
  }
  for (int i = 2 * n; i < now_.layout.integrated(); ++i)
    now_.scales.note(i, std::abs(end_[i] - now_.scales.start_of(i)));
}

}  // namespace judder::engines
