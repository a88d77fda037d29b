#include "exact_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/numeric/power_of_two.hpp"
#include "judder/core/number.hpp"
#include "judder/model/large_matrices.hpp"
#include "law_numbers.hpp"

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

bool ClosedForms::same(const Mode& a, const Mode& b) {
  if (a.normal != b.normal || a.pressed != b.pressed || a.tangent != b.tangent || a.surface != b.surface)
    return false;
  for (std::size_t k = 0; k < a.side.size(); ++k) {
    if (!a.slides(k) && a.side[k] != b.side[k]) return false;
  }
  return true;
}

/// Lets forms go until another one of this size may be kept.
void ClosedForms::make_room(std::size_t bytes) {
  const auto all = [this] {
    std::size_t sum = 0;
    for (const Kept& kept : kept_) sum += kept.form->bytes();
    return sum;
  };
  while (!kept_.empty() && (kept_.size() >= kMost || all() + bytes > kMostBytes)) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                 [](const Kept& a, const Kept& b) { return a.used < b.used; }));
  }
}

ClosedForm* ClosedForms::of(const model::System& system, model::Workspace& work, ModeMotion& motion,
                            const Guards& guards, Patience* patience, std::string& problem) {
  const Mode& mode = motion.mode();
  const std::uint64_t key = mode.key();
  const std::vector<double> corners = motion.corner_sides();
  ++clock_;
  for (Kept& kept : kept_) {
    if (kept.key != key || !same(kept.mode, mode) || kept.corners != corners) continue;
    kept.used = clock_;
    return kept.form.get();
  }
  // Before it is built, so that there are never more: it will be about as large as the largest so far.
  std::size_t largest = 0;
  for (const Kept& kept : kept_) largest = std::max(largest, kept.form->bytes());
  make_room(largest);
  auto form = std::make_unique<ClosedForm>();
  form->use(patience);
  problem = form->build(system, work, motion, guards);
  if (!problem.empty()) return nullptr;
  make_room(form->bytes());
  kept_.push_back({mode, key, corners, clock_, std::move(form)});
  return kept_.back().form.get();
}

/// Closed forms carry nothing but rounding from event to event.
double ExactEngine::Run::state_tolerance() const { return 64 * kEpsilon; }

/// The closed form of the mode, and x̂ at the present state.
bool ExactEngine::Run::take_form() {
  motion_.load(t_, y_.data());
  std::string problem;
  form_ = forms_.of(system_, work_, motion_, guards_, &patience_, problem);
  if (form_ == nullptr)
    return fail({Reason::unsupported, t_, {}, "the exact engine cannot go on: " + problem});
  const auto size = static_cast<std::size_t>(form_->size());
  if (start_.size() < size) {
    for (std::vector<double>* memory : {&start_, &end_, &sample_, &window_start_, &window_next_})
      memory->resize(size);
  }
  form_->start(t_, y_.data(), start_.data());
  return true;
}

bool ExactEngine::Run::next_derivative_clear(const Guard& guard, int order) {
  if (!take_form()) return false;
  for (std::size_t i = 0; i < form_->functions().size(); ++i) {
    if (&guards_.list()[form_->functions()[i].guard] == &guard)
      return form_->search.derivative_clear(static_cast<int>(i), start_.data(), order + 1);
  }
  return false;
}

bool ExactEngine::Run::begin_phase() {
  if (!take_form()) return false;
  phase_time_ = integrated_ = t_;
  std::copy_n(start_.begin(), form_->size(), window_start_.begin());
  zeros_.clear();
  for (const ClosedForm::Function& function : form_->functions()) {
    const int order = guards_.list()[function.guard].zeros;
    zeros_.push_back(std::min(order, 3));
  }
  positive_.clear();
  for (std::size_t i = 0; i < zeros_.size(); ++i) {
    if (zeros_[i] < 0) zeros_[i] = form_->search.order_of_zero(static_cast<int>(i), start_.data(), 1);
    positive_.push_back(stays_positive(guards_.list()[form_->functions()[i].guard], zeros_[i]) ? 1 : 0);
  }
  return true;
}

/// Whether a guard that begins at zero must not go on to negative values. What the last event has left at a known order of zero may, a slip
/// that has just begun among them, except a gap, which nothing may pass.
bool ExactEngine::Run::stays_positive(const Guard& guard, int zeros) {
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
std::string ExactEngine::Run::beyond_resolution(double limit) const {
  const double natural = form_->window();
  if (std::isinf(natural)) return {};
  if (natural <= 4 * kEpsilon * std::abs(t_)) {
    return "the fastest motion of this mode lasts " + to_text(natural) +
           " s, which time cannot resolve here: its last bit is " + to_text(kEpsilon * std::abs(t_)) + " s";
  }
  if (limit - t_ > kMostWindows * natural) {
    return "the fastest motion of this mode lasts " + to_text(natural) + " s: up to " + to_text(limit) +
           " s it would be followed through " + to_text(std::ceil((limit - t_) / natural)) +
           " such times, more than this engine can do; the engine 'event' has a method for stiff motion";
  }
  return {};
}

/// A gap that is negative at the start or at the end of a phase by more than its rounding: the bodies are inside each other, and what follows would
/// be worthless.
bool ExactEngine::Run::penetrates(const double* x, double time) {
  for (std::size_t i = 0; i < form_->functions().size(); ++i) {
    const Guard& guard = guards_.list()[form_->functions()[i].guard];
    if (guard.kind != GuardKind::gap) continue;
    const double gap = form_->search.value(static_cast<int>(i), x);
    if (gap >= -kPenetration * form_->search.rounding(static_cast<int>(i), x)) continue;
    // A contact that was closed until now has no scale of its own: what its coordinates have moved counts too.
    const model::Row& w = system_.rows(work_, guard.place).w;
    double seen = guards_.gap_scale(guard.place);
    for (int k = 0; k < layout_.coordinates; ++k) seen = std::max(seen, std::abs(w[k]) * scales_.sizes()[k]);
    if (gap >= -kRounding * seen) continue;
    // What another contact is closed by, in its own rounding, moves this one too.
    double moved = 0;
    for (int r = 0; r < layout_.relations; ++r) {
      const model::Relation& other = system_.relations()[r];
      if (r == guard.place || !other.has_normal || !other.holonomic) continue;
      const model::Row& direction = system_.rows(work_, r).w;
      for (const int k : other.touches) {
        if (w[k] == 0 || direction[k] == 0) continue;
        moved = std::max(moved, kRoundingUnits * rounding_of(other.gap) * std::abs(w[k] / direction[k]));
      }
    }
    if (gap >= -moved) continue;
    static_cast<void>(fail({Reason::discontinuous, time, system_.relations()[guard.place].place,
                            "the open contact penetrates by " + to_text(-gap) +
                                ", more than the rounding of its gap: an impact was missed"}));
    return true;
  }
  return false;
}

EventEngine::Run::StepEnd ExactEngine::Run::advance(double limit) {
  time_bound_ = kRounding * std::max(std::abs(t_), std::abs(limit));
  if (hold(limit)) {
    finish_step();
    return StepEnd::limit;
  }
  if (!begin_phase() || penetrates(start_.data(), t_)) return StepEnd::failed;
  // Laws that vary do so from mode to mode only: beside its beginning, where a switch may stand at zero, one place of the phase tells.
  if (laws_vary(system_)) {
    load_at(t_ + std::min(limit - t_, form_->window()) * kInsidePhase);
    if (const LawDefect defect = defect_of_laws(system_, work_, mode_)) {
      static_cast<void>(
          fail({Reason::inconsistent, t_, system_.relations()[defect.relation].place, describe(defect)}));
      return StepEnd::failed;
    }
  }
  if (const std::string problem = beyond_resolution(limit); !problem.empty()) {
    static_cast<void>(fail({Reason::step_too_small, t_, {}, problem}));
    return StepEnd::failed;
  }
  double horizon = limit - t_;
  bool to_limit = true;
  if (horizon > kWindowsPerAdvance * form_->window()) {
    horizon = kWindowsPerAdvance * form_->window();
    to_limit = false;
  }
  const numeric::CrossingOptions search{.positive = positive_, .cancel = options_.cancel};
  numeric::Crossing crossing =
      form_->search.find(form_->exponentials, start_.data(), horizon, zeros_, search);
  result_.windows += static_cast<long>(form_->search.windows());
  ++result_.steps;
  if (crossing.outcome == numeric::SearchOutcome::cancelled) return interrupted();
  if (crossing.outcome == numeric::SearchOutcome::overflow) {
    static_cast<void>(fail(
        {Reason::not_finite, t_ + crossing.time, {}, "the motion of this mode leaves the range of numbers"}));
    return StepEnd::failed;
  }
  if (crossing.outcome == numeric::SearchOutcome::undecided) {
    static_cast<void>(fail({Reason::step_too_small,
                            t_ + crossing.time,
                            {},
                            "zeros of event functions lie too close to be told apart"}));
    return StepEnd::failed;
  }
  for (Guard& guard : guards_.list()) guard.zeros = 0;
  if (crossing.outcome == numeric::SearchOutcome::none) {
    standstills_ = 0;
    form_->exponentials.advance_exactly(start_.data(), horizon, end_.data());
    const double end = to_limit ? limit : t_ + horizon;
    if (!finite(end_)) {
      static_cast<void>(
          fail({Reason::not_finite, t_, {}, "the motion of this mode leaves the range of numbers"}));
      return StepEnd::failed;
    }
    if (penetrates(end_.data(), end)) return StepEnd::failed;
    end_phase_at(end, horizon);
    finish_step();
    return to_limit ? StepEnd::limit : StepEnd::plain;
  }
  std::copy_n(form_->search.state(), form_->size(), end_.begin());
  if (crossing.time > kLongPhase * form_->window()) land_exactly(crossing);
  gather(crossing);
  const double time = std::min(phase_time_ + crossing.time, limit);
  time_bound_ = kRounding * std::abs(time) + crossing.error;
  standstills_ = time > phase_time_ ? 0 : standstills_ + 1;
  if (standstills_ > kMostStandstills) {
    static_cast<void>(
        fail({Reason::step_too_small, t_, {}, "events follow each other and time does not move"}));
    return StepEnd::failed;
  }
  end_phase_at(time, crossing.time);
  motion_.load(t_, y_.data());
  recorder_.residuals.note_energy(work_);
  return StepEnd::guard;
}

/// The state at a crossing after many natural times, without the roundings of the way, and the time that it has its zero at.
void ExactEngine::Run::land_exactly(numeric::Crossing& crossing) {
  form_->exponentials.advance_exactly(start_.data(), crossing.time, sample_.data());
  const double slope = form_->search.slope(crossing.function, sample_.data());
  const double step = -form_->search.value(crossing.function, sample_.data()) / slope;
  // What the bound of the crossing does not allow is no correction: a multiple zero.
  if (!(std::abs(step) <= crossing.error && crossing.time + step > 0)) return;
  crossing.time += step;
  form_->exponentials.series(sample_.data(), step, end_.data());
}

/// The run is cancelled: it ends where it is.
EventEngine::Run::StepEnd ExactEngine::Run::interrupted() {
  static_cast<void>(fail({Reason::interrupted, t_, {}, "interrupted"}));
  return StepEnd::failed;
}

bool ExactEngine::Run::finite(const std::vector<double>& x) const {
  return std::all_of(x.begin(), x.begin() + form_->size(), [](double value) { return std::isfinite(value); });
}

/// Everything up to the end of the phase: grazes, rows, work, reactions, scales; then the state there.
void ExactEngine::Run::end_phase_at(double time, double tau) {
  phase_end_ = time;
  emit_grazes(time);
  emit_rows(time);
  integrate_to(time);
  // What is shared is no linear function of the state.
  if (motion_.redundant() && recorder_.loads.follow(mode_, t_)) {
    ForcesInside forces(*this, time - t_);
    recorder_.loads.take_rest(time - t_, forces);
  }
  if (!compliant_.empty()) note_pressing_along(time - t_);
  note_scales_along(tau);
  const bool resolved = tell_phase(time);
  t_ = time;
  std::copy_n(end_.begin(), layout_.integrated(), y_.begin());
  motion_.pin(t_, y_.data());
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), true));
  project_sliding();
  recorder_.testimony.end(t_, y_.data(), true, resolved);
  have_f0_ = false;
}

/// The guards that vanish at the crossing: the one that was found, and those whose own zero cannot be told from it.
void ExactEngine::Run::gather(const numeric::Crossing& crossing) {
  const auto& functions = form_->functions();
  const numeric::CrossingSearch& search = form_->search;
  const double slack =
      64 * kEpsilon * std::max(std::abs(t_), std::abs(t_ + crossing.time)) + 2 * crossing.error;
  together_.clear();
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
    const Guard& guard = guards_.list()[function.guard];
    if (guard.kind == GuardKind::watch) watches_.meet(guard.place, function.rising);
    if (std::find(together_.begin(), together_.end(), function.guard) == together_.end())
      together_.push_back(function.guard);
  }
}

/// The state at a time of the phase into work_.in.
void ExactEngine::Run::load_at(double time) {
  form_->exponentials.advance(start_.data(), time - phase_time_, sample_.data());
  std::copy_n(sample_.begin(), layout_.integrated(), node_y_.begin());
  motion_.load(time, node_y_.data());
  recorder_.load_works(y_.data(), work_);
}

void ExactEngine::Run::load_inside(double theta, double length) { load_at(t_ + theta * length); }

/// Touches without consequence, each with its bound and, in place of a sample row, two equal rows.
void ExactEngine::Run::emit_grazes(double until) {
  for (const numeric::Graze& graze : form_->search.grazes()) {
    const Guard& guard = guards_.list()[form_->functions()[graze.function].guard];
    const double time = phase_time_ + graze.time;
    // A touch that cannot be told from the end of the phase is part of that event.
    if (!reports_graze(guard) || !(time > t_) || !(time + graze.error < until - time_bound_)) continue;
    emit_rows(time);
    integrate_to(time);
    load_at(time);
    report_graze(time, guard.place, graze.bound, kRounding * std::abs(time) + graze.error);
  }
}

/// Rows at the sample times before `until`.
void ExactEngine::Run::emit_rows(double until) {
  while (recorder_.samples.next() < until) {
    patience_.look();
    if (recorder_.reads_works()) integrate_to(recorder_.samples.next());
    load_at(recorder_.samples.next());
    emit_row(RowKind::sample);
    recorder_.samples.advance();
  }
}

/// Work and impulses from integrated_ to `time`, piece by piece.
void ExactEngine::Run::integrate_to(double time) {
  const double from = integrated_;
  integrated_ = time;
  if (!form_->work_by_products()) integrate_power(from, time);
  if (!form_->has_integrals()) return;
  double rest = time - from;
  double* work = y_.data() + layout_.integrated();
  double scale = recorder_.residuals.largest_energy();
  for (int e = 0; e < 2 * layout_.audits; ++e) scale = std::max(scale, std::abs(work[e]));
  const auto note = [&] {
    for (const ClosedForm::Reaction& reaction : reactions_)
      recorder_.loads.add(reaction.relation, reaction.impulse, reaction.peak);
  };
  const auto go_on = [&](int p) {
    patience_.look();
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
void ExactEngine::Run::integrate_power(double from, double to) {
  static constexpr double kNode[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                      0.9602898564975363};
  static constexpr double kWeight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                        0.1012285362903763};
  const int width = layout_.integrated();
  const double pieces =
      std::isinf(form_->window()) ? 1 : std::max(1.0, std::ceil((to - from) / form_->window()));
  const double half = 0.5 * (to - from) / pieces;
  for (double piece = 0; piece < pieces; ++piece) {
    patience_.look();
    const double middle = from + (2 * piece + 1) * half;
    for (int g = 0; g < 4; ++g) {
      for (const double sign : {-1.0, 1.0}) {
        const double time = middle + sign * kNode[g] * half;
        form_->exponentials.advance(start_.data(), time - phase_time_, sample_.data());
        std::copy_n(sample_.begin(), width, node_y_.begin());
        if (!motion_(time, node_y_.data(), f0_.data())) continue;
        for (int i = width; i < motion_.components(); ++i) y_[i] += half * kWeight[g] * f0_[i];
      }
    }
  }
}

/// The phase for an observer, in pieces within the natural time. Of very long phases the later part is told in longer pieces, as points only:
/// then false.
bool ExactEngine::Run::tell_phase(double time) {
  if (!recorder_.testimony.heard()) return true;
  constexpr double kFollowed = 1024;  ///< pieces that are followed
  constexpr int kFurther = 256;
  const double natural = form_->window();
  const double pieces = std::isfinite(natural) ? std::max(1.0, std::ceil((time - t_) / natural)) : 1;
  const int followed = static_cast<int>(std::min(pieces, kFollowed));
  const int all = pieces > kFollowed ? followed + kFurther : followed;
  const double near = pieces > kFollowed ? t_ + kFollowed * natural : time;
  const auto boundary = [&](int k) {
    if (k >= all) return time;
    return k <= followed ? t_ + (near - t_) * (k / static_cast<double>(followed))
                         : near + (time - near) * ((k - followed) / static_cast<double>(kFurther));
  };
  const auto state_at = [&](double t) {
    form_->exponentials.advance(start_.data(), t - phase_time_, sample_.data());
    std::copy_n(sample_.begin(), layout_.integrated(), node_y_.begin());
  };
  for (int k = 0; k < all; ++k) {
    patience_.look();
    const double from = boundary(k);
    const double to = boundary(k + 1);
    for (const double theta : Testimony::kSmooth) {
      const double t = from + theta * (to - from);
      state_at(t);
      recorder_.testimony.inside(t, node_y_.data());
    }
    if (recorder_.testimony.asked_along()) {
      recorder_.testimony.along(from, to, node_y_.data(), [&](double t, double* y) {
        form_->exponentials.advance(start_.data(), t - phase_time_, sample_.data());
        std::copy_n(sample_.begin(), layout_.integrated(), y);
      });
    }
    if (k + 1 == all) break;  // its end is the end of the phase
    state_at(to);
    recorder_.testimony.end(to, node_y_.data(), false, k < followed);
  }
  return all == followed;
}

/// Loads of compliant contacts, in pieces within the natural time: no gap changes its side inside a phase.
void ExactEngine::Run::note_pressing_along(double length) {
  if (!(length > 0)) return;
  const double natural = form_->window();
  const double pieces = std::isfinite(natural) ? std::max(1.0, std::ceil(length / natural)) : 1;
  for (const int r : compliant_) {
    load_inside(0.5, length);
    const bool pressed = compliant_gap(r) < 0;
    if (!pressed && !recorder_.loads.is_open(r)) continue;
    for (double k = 0; k < (pressed ? pieces : 1); ++k) {
      patience_.look();
      follow_pressing(r, k / pieces, (k + 1) / pieces, length);
    }
  }
}

/// A function in the middle of a phase, by its values and slopes at both ends; for scales and phases within the natural time.
double ExactEngine::Run::middle_value(int function, double tau) const {
  const numeric::CrossingSearch& search = form_->search;
  return 0.5 * (search.value(function, start_.data()) + search.value(function, end_.data())) +
         0.125 * tau * (search.slope(function, start_.data()) - search.slope(function, end_.data()));
}

/// Running scales see the ends of a phase and a point between.
void ExactEngine::Run::note_scales_along(double tau) {
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
    guards_.note_scale(guards_.list()[functions[i].guard], value);
  }
  const int n = layout_.coordinates;
  for (int i = 0; i < n; ++i) {
    const double position = curved ? sample_[i] : middle(start_[i], end_[i], start_[n + i], end_[n + i]);
    scales_.note(i, std::abs(position - scales_.start_of(i)));
    scales_.note(i, std::abs(end_[i] - scales_.start_of(i)));
    scales_.note(n + i, std::abs(start_[n + i]));
    scales_.note(n + i, std::abs(end_[n + i]));
    if (curved) scales_.note(n + i, std::abs(sample_[n + i]));
  }
  for (int i = 2 * n; i < layout_.integrated(); ++i) scales_.note(i, std::abs(end_[i] - scales_.start_of(i)));
}

ExactEngine::ExactEngine(const model::System& system) : run_(std::make_unique<Run>(system)) {}
ExactEngine::~ExactEngine() = default;
ExactEngine::ExactEngine(ExactEngine&&) noexcept = default;

std::string ExactEngine::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  const std::string problem = EventEngine::unsupported(system);
  if (!problem.empty()) return problem;
  if (system.linear().linear()) {
    if (std::string reason = ClosedForm::size_problem(system); !reason.empty())
      return "the model is too large for closed forms: " + reason;
  }
  std::string reason =
      system.linear().linear() ? ClosedForm::sliding_problem(system) : system.linear().reason;
  return reason.empty() ? reason : "the model is not linear between events: " + reason;
}

EngineResult ExactEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

}  // namespace judder::engines
