#include "engines/event/step_advance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/elementary.hpp"
#include "engines/event/at_once.hpp"
#include "engines/event/event_parts.hpp"
#include "engines/event/first_steps.hpp"
#include "engines/event/landing.hpp"
#include "engines/event/parting.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/scan.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_record.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"
#include "engines/law_numbers.hpp"

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
/// The first place between one where no number of a law is out of its range and one where some is, which is `defect`.
template <class Look>
double first_defect(double good, double bad, const Look& look, LawDefect& defect) {
  constexpr int kHalvings = 50;
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

/// Where the parabola through three places of a step has its lowest point, if that is within the places and those before the first, and so low that what it stands for may fall
/// below zero there; negative: nowhere.
double low_point(std::span<const double, 3> theta, std::span<const double, 3> value) {
  constexpr double kLow = 0.25;  ///< of what the number changes by along the step
  const double left = (value[1] - value[0]) / (theta[1] - theta[0]);
  const double right = (value[2] - value[1]) / (theta[2] - theta[1]);
  const double bend = (right - left) / (theta[2] - theta[0]);
  if (!(bend > 0)) return -1;
  const double at = 0.5 * (theta[0] + theta[1]) - 0.5 * left / bend;
  if (!(at > 0 && at < theta[2])) return -1;
  const double lowest = value[0] + (at - theta[0]) * (left + bend * (at - theta[1]));
  const auto [least, most] = std::minmax({value[0], value[1], value[2]});
  return lowest < kLow * (most - std::min(least, lowest)) ? at : -1;
}

}  // namespace

std::unique_ptr<Advance> by_steps(EventParts& parts) {
  return std::make_unique<StepAdvance>(parts.now, parts.found, parts.rounding, parts.rows, parts.trial,
                                       parts.record, parts.impacts, parts.parting, parts.watching,
                                       parts.sliding, parts.scan, parts.at_once, parts.first, parts.landing);
}

void StepAdvance::load_inside(double theta, double length) {
  const double time = now_.t + theta * length;
  trial_.dense(theta, inside_y_.data());
  if (now_.motion.active() > 0) static_cast<void>(now_.motion.project(time, inside_y_.data(), true));
  now_.motion.load(time, inside_y_.data());
}

StepAdvance::StepAdvance(Phase& now, StepFindings& found, Roundings& rounding, Rows& rows, Trial& trial,
                         StepRecord& record, Strikes& impacts, Parting& parting, Watching& watching,
                         Sliding& sliding, Scan& scan, AtOnce& at_once, FirstSteps& first, Landing& landing)
    : now_(now),
      found_(found),
      rounding_(rounding),
      rows_(rows),
      trial_(trial),
      record_(record),
      impacts_(impacts),
      parting_(parting),
      watching_(watching),
      sliding_(sliding),
      scan_(scan),
      at_once_(at_once),
      first_(first),
      landing_(landing) {
  inside_y_.resize(now_.motion.all_components());
  if (laws_vary(now_.system))
    law_numbers_.resize((kLawPlaces.size() + 1) * kNumbersOfLaw * now_.layout.relations);
  node_y_.resize(now_.motion.all_components());
  landing_y_.resize(now_.motion.all_components());
}

StepEnd StepAdvance::advance(double limit) {
  if (!now_.have_f0) {
    if (!now_.motion(now_.t, now_.y.data(), now_.f0.data())) {
      static_cast<void>(now_.fail({now_.work.mass_failed ? Reason::singular_mass : Reason::not_finite,
                                   now_.t,
                                   {},
                                   "the equations of motion give no finite number here"}));
      return StepEnd::failed;
    }
    now_.have_f0 = true;
  }
  if (record_.hold(limit)) {
    record_.finish_step();
    return StepEnd::limit;
  }
  // No step goes over the pole that a reaction has at a jam.
  int jammed = -1;
  const double to_jam = impacts_.time_to_jam(jammed);
  if (to_jam <= kNothingLeft * (now_.t - now_.phase_start)) {
    found_.together.assign(1, jammed);
    return StepEnd::guard;
  }
  const bool rest = now_.options.step == 0 && first_.rests();
  bool guarded = now_.leaving_rest;  // a guard within sight of rest shortens its first step only
  if (!rest) now_.leaving_rest = false;
  if (rest) now_.scales.begin_look();
  if (jammed >= 0 && now_.h > 0)
    now_.h = std::min(now_.h, 0.125 * to_jam);  // so far from the pole a method keeps its order
  // Near a pole explicit steps are short, but not for stability.
  if (jammed < 0 || trial_.methods().stiff()) trial_.choose_method(limit);
  if (rest) {
    now_.h = first_.step_from_rest(limit);
  } else if (!(now_.h > 0)) {
    now_.h = first_.first_step();
  }
  double h = now_.options.step > 0 ? now_.options.step : now_.h;
  if (now_.options.max_step > 0) h = std::min(h, now_.options.max_step);
  // Steps are as short as rounding of the time allows, whatever comes later.
  double smallest =
      std::max({16 * kEpsilon * std::abs(now_.t), kLeastShare * std::min(h, limit - now_.t), kLeastStep});
  // Two events within rounding of each other leave a step behind that is no measure of the motion after them.
  if (now_.options.step == 0) h = std::max(h, kFirstLength * smallest);
  const double crumb = 2 * kEpsilon * std::max(std::abs(now_.t), std::abs(limit));
  bool to_limit = false;
  bool finite = true;
  bool singular = false;
  int misses = 0;
  int trials = 0;
  int unsolved = 0;      // trials that Newton's iteration ended
  bool looked = false;   // the size out of rest is known
  bool shifted = false;  // the step ends before a touch that would have straddled its end
  const bool laws = laws_vary(now_.system);
  LawDefect defect;  // behind the end of the step
  for (;;) {
    to_limit = now_.t + h >= limit || limit - (now_.t + h) < crumb;
    if (!to_limit && now_.options.step == 0 && limit - (now_.t + h) < 0.2 * h)
      h = 0.5 * (limit - now_.t);  // no crumb of a step before the limit
    if (to_limit) h = limit - now_.t;
    if (trial_.methods().stiff() && !now_.noise.measured() && !to_limit) trial_.measure_noise(h, false);
    ++trials;
    if (trials > 1 && limit - now_.t < crumb) {
      record_.pass_crumb(limit);
      return StepEnd::limit;
    }
    if (h < smallest && !to_limit) {
      singular = singular || mass_nearly_singular();
      if (!singular && at_once_.reaches_surface(kFirstLength * smallest)) return StepEnd::guard;
      fail_small(singular, finite);
      return StepEnd::failed;
    }
    if (rest && !looked) {
      if (!first_.look_ahead(std::min(kAheadAtRest * h, limit - now_.t), guarded, finite)) {
        guarded = guarded || (finite && h <= now_.rest_step);
        h = !finite ? 0.25 * h : h > now_.rest_step ? now_.rest_step : h / kAheadAtRest;
        continue;
      }
      looked = true;  // the size stays while the step is made short enough for it
    }
    if (!trial_.try_step(h)) {
      finite = trial_.methods().newton_failed();
      // Newton's iteration, or the differences that it needs, may fail where explicit steps are possible.
      if (trial_.methods().stiff() && ++unsolved == kTrialsUntilNoise &&
          now_.options.integrator == Integrator::automatic) {
        trial_.change_method();
        now_.have_f0 = now_.motion(now_.t, now_.y.data(), now_.f0.data());
        if (!now_.have_f0) finite = false;
      }
      singular = singular || now_.work.mass_failed;
      ++now_.result.rejected;
      h *= 0.25;
      now_.grow_allowed = false;
      continue;
    }
    const bool exact = !trial_.methods().stiff() && now_.motion.uniform();
    if (!exact) trial_.set_weights(h);
    double error = exact || now_.options.step > 0 ? 0 : trial_.step_error();
    // After an event or a rejection the estimate may be that of a transient which the method damps.
    if (error > 1 && (!now_.grow_allowed || now_.t == now_.phase_start) &&
        trial_.methods().filter_error(now_.motion))
      error = trial_.step_error();
    // Two trials too long: perhaps it is rounding, which may have grown since it was measured.
    const bool old = now_.scales.rounding_rules() && now_.noise.aged(h);
    // At last all of it is taken, whatever is damped.
    if (error > 1 ? trials == 2 || trials == kTrialsUntilNoise : !exact && old) {
      trial_.measure_noise(h, trials >= kTrialsUntilNoise);
      trial_.set_weights(h);
      if (now_.options.step == 0) error = trial_.step_error();
    }
    if (!(error <= 1)) {
      ++now_.result.rejected;
      if (!rest) now_.scales.note_rejected(trial_.trial_step(h));
      h *= std::isfinite(error)
               ? std::clamp(0.9 * elementary::rough_pow(error, -1 / trial_.methods().power()), 0.1, 0.9)
               : 0.1;
      now_.grow_allowed = false;
      finite = true;
      found_.blamed_guard = -1;
      continue;
    }
    if (!trial_.prepare_dense()) {
      h *= 0.25;
      finite = false;
      continue;
    }
    // At the limit of stability the estimate may see nothing while the polynomial of the step is far off.
    if (!rest && now_.options.step == 0) {
      const double share = trial_.methods().suspected_dense_error(now_.motion, now_.scales.weights().data(),
                                                                  now_.layout.integrated()) /
                           kDenseError;
      if (share > 1) {
        ++now_.result.rejected;
        h *= std::clamp(0.9 * elementary::rough_pow(share, -1 / trial_.methods().power()), 0.1, 0.9);
        now_.grow_allowed = false;
        finite = true;
        found_.blamed_guard = -1;
        continue;
      }
      error = std::max(error, share);
    }
    if (now_.t == now_.phase_start && now_.options.step == 0 && at_once_.gives_way_at_once(h))
      return StepEnd::guard;
    // A step may have gone over something between its points.
    if (now_.options.step == 0 && h > smallest && !scan_.hidden_change().impossible() &&
        scan_.hides_change(h)) {
      ++now_.result.rejected;
      h *= 0.5;
      now_.grow_allowed = false;
      continue;
    }
    if (double shorter = 1; now_.options.step == 0 && h > smallest && parting_.parts_within(h, shorter)) {
      ++now_.result.rejected;
      h = std::max(h * shorter, smallest);
      now_.grow_allowed = false;
      continue;
    }
    bool accurate = true;
    found_.share_of_error = error;
    const bool ended = scan_.find_first_guard(h, accurate);
    // Out of rest a guard that follows the motion is as little known as the motion itself; the look ahead has seen that none vanishes. Rest that
    // lasts lengthens the steps: then it is the guards that time moves, and they must be known. So must those that time has taken through zero.
    if (!accurate && (!rest || h > now_.rest_step || scan_.load_passes_zero()) && now_.options.step == 0) {
      ++now_.result.rejected;
      h *= 0.5;
      now_.grow_allowed = false;
      continue;
    }
    if (ended && found_.first_theta < kLateRoot && now_.options.step == 0 &&
        found_.first_theta * h > smallest) {
      // Values before the zero are small beside those after it, and so is what rounding leaves of them.
      h *= 4 * found_.first_theta;
      continue;
    }
    // What the phase has begun with may be used up in a time that only the time itself can resolve.
    if (ended && found_.first_theta < kLateRoot && now_.options.step == 0 && now_.t == now_.phase_start &&
        found_.first_theta * h > 16 * kEpsilon * std::abs(now_.t)) {
      h *= 4 * found_.first_theta;
      smallest = std::max(16 * kEpsilon * std::abs(now_.t), std::min(smallest, kLeastShare * h));
      continue;
    }
    if (ended && found_.dips_beyond && !shifted && now_.options.step == 0 &&
        0.7 * found_.first_theta * h > smallest) {
      h *= 0.7 * found_.first_theta;  // the next step sees the whole touch
      shifted = true;
      continue;
    }
    if (laws && !defect) {
      const double place = place_of_defect(h, ended ? found_.first_theta : 1, defect);
      // The run ends where the number leaves its range, with a step of its own.
      if (place < 1 && now_.options.step == 0 && place * h > smallest) {
        h *= place;
        continue;
      }
    }
    // Accepted.
    const double factor = error > 0
                              ? std::clamp(0.9 * elementary::rough_pow(error, -1 / trial_.methods().power()),
                                           0.2, now_.grow_allowed ? 6.0 : 1.0)
                              : (now_.grow_allowed ? 6.0 : 1.0);
    now_.grow_allowed = true;
    ++now_.result.steps;
    const double trial = h;
    if (ended) {
      if (!landing_.land(h, ++misses < kMostMisses)) return StepEnd::failed;
      if (found_.missed) {
        ++now_.result.rejected;
        h *= 0.5;
        now_.grow_allowed = false;
        continue;
      }
      now_.h = std::max(trial * std::min(factor, 1.0), found_.landing_h);
      return StepEnd::guard;
    }
    now_.scales.update(trial_.trial_step(h));
    now_.noise.age();
    if (!to_limit || factor < 1) now_.h = h * factor;
    trial_.watch_stability();
    commit_step(to_limit ? limit : now_.t + h);
    if (to_limit) now_.leaving_rest = false;  // a force may begin here
    if (defect) {
      static_cast<void>(now_.fail(
          {Reason::inconsistent, now_.t, now_.system.relations()[defect.relation].place, describe(defect)}));
      return StepEnd::failed;
    }
    if (contradicted()) return StepEnd::guard;
    return to_limit ? StepEnd::limit : StepEnd::plain;
  }
}

// Whether a pivot of the mass matrix is so small that rounding of the accelerations drowns them.
/// The first place of a step up to `end` at which a number of a law is out of its range, and that number; beyond `end`: there is none. Between the places that are looked at
/// it may dip: where parabolas through them come near to zero, their lowest points are looked at.
double StepAdvance::place_of_defect(double h, double end, LawDefect& defect) {
  constexpr int kTimes = 4;  ///< that a lowest point is looked for again
  const std::size_t width = static_cast<std::size_t>(kNumbersOfLaw) * now_.layout.relations;
  const auto load = [&](double theta) {
    trial_.dense(theta, node_y_.data());
    now_.motion.load(now_.t + theta * h, node_y_.data());
  };
  const auto look = [&](double theta) {
    load(theta);
    return defect_of_laws(now_.system, now_.work, now_.mode);
  };
  const auto numbers_at = [&](std::size_t place) {
    return std::span(law_numbers_).subspan(place * width, width);
  };
  double good = 0;
  for (std::size_t p = 0; p < kLawPlaces.size(); ++p) {
    const double theta = kLawPlaces[p] * end;
    load(theta);
    const std::span<double> numbers = numbers_at(p);
    numbers_of_laws(now_.system, now_.work, now_.mode, numbers);
    if (std::any_of(numbers.begin(), numbers.end(), [](double number) { return number < 0; })) {
      defect = look(theta);
      if (defect) return first_defect(good, theta, look, defect);
    }
    good = theta;
  }
  const std::span<double> here = numbers_at(kLawPlaces.size());
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t p = 0; p + 2 < kLawPlaces.size(); ++p) {
      std::array<double, 3> theta{}, value{};
      for (std::size_t k = 0; k < 3; ++k) {
        theta[k] = kLawPlaces[p + k] * end;
        value[k] = numbers_at(p + k)[i];
      }
      double before = -1;
      for (int time = 0; time < kTimes; ++time) {
        const double at = low_point(theta, value);
        if (at < 0 || at == before) break;
        before = at;
        defect = look(at);
        if (defect) {
          double from = 0;  // the last place before it
          for (const double place : kLawPlaces) from = place * end < at ? place * end : from;
          return first_defect(from, at, look, defect);
        }
        numbers_of_laws(now_.system, now_.work, now_.mode, here);
        // The new place takes that of the one farthest from it.
        const std::size_t far = std::abs(theta[0] - at) > std::abs(theta[2] - at) ? 0 : 2;
        theta[far] = at;
        value[far] = here[i];
        if (theta[1] > theta[2] || theta[0] > theta[1]) {
          const std::size_t other = far == 0 ? 0 : 1;
          std::swap(theta[other], theta[other + 1]);
          std::swap(value[other], value[other + 1]);
        }
        if (!(theta[0] < theta[1] && theta[1] < theta[2])) break;
      }
    }
  }
  defect = {};
  return 2;
}

bool StepAdvance::mass_nearly_singular() {
  if (now_.system.mass_constant()) return false;
  int at = 0;
  for (int i = 0; i < now_.layout.coordinates; ++i) {
    if (now_.system.massless()[i]) continue;
    if (now_.work.pivots[at] <= 1e-8 * now_.work.inertia[i]) return true;
    ++at;
  }
  return false;
}

// The smallest step has not been short enough: which quantity asks for shorter ones, and what may help.
void StepAdvance::fail_small(bool singular, bool finite) {
  Status status;
  status.time = now_.t;
  status.reason = singular ? Reason::singular_mass : finite ? Reason::step_too_small : Reason::not_finite;
  if (singular) {
    status.message = "the mass matrix becomes singular here";
  } else if (!finite) {
    status.message = "the equations of motion give no finite number beyond this time";
  } else if (found_.blamed_guard >= 0 && found_.blamed_guard < now_.guards.size()) {
    status.where = guard_name(now_.guards.list()[found_.blamed_guard]);
    status.message =
        "this function, whose zero would be an event, is not smooth enough for the smallest step; look for a "
        "pole or an endless oscillation in it";
  } else {
    status.where = trial_.worst_component();
    status.message =
        "the error cannot be kept within the tolerance, even with the smallest step; if the motion does not "
        "end here, look at the forces on it for a pole or an unbounded derivative";
  }
  static_cast<void>(now_.fail(std::move(status)));
}

std::string StepAdvance::guard_name(const Guard& guard) const {
  switch (guard.kind) {
    case GuardKind::observed:
      return "switch in " + now_.system.observed()[guard.place].place;
    case GuardKind::watch:
      return "watch '" + now_.system.watches()[guard.place].name + "'";
    case GuardKind::side:
    case GuardKind::level_below:
    case GuardKind::level_above:
    case GuardKind::slide_above:
    case GuardKind::slide_below:
    case GuardKind::held_above:
    case GuardKind::held_below:
    case GuardKind::corner:
      return "switch in " + now_.system.switches()[guard.place].place;
    case GuardKind::margin:
      return "the shared reactions";
    default:
      break;
  }
  const std::string& place = now_.system.relations()[guard.place].place;
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

void StepAdvance::commit_step(double t1) {
  const double before = now_.t;
  if (found_.graze_guard >= 0) list_graze(t1 - now_.t);
  note_open_gaps();
  record_.tell_inside(t1);
  record_.note_step(t1 - now_.t, t1 - now_.t);
  record_.emit_samples(t1);
  const double* y1 = trial_.methods().y1();
  const int width = now_.motion.components();
  std::copy_n(y1, width, landing_y_.begin());
  const bool end_rate = trial_.methods().prepare_end_rate(now_.motion);
  if (end_rate) std::copy_n(trial_.methods().f1(), width, now_.f0.begin());
  trial_.methods().accept();
  now_.t = t1;
  std::copy_n(landing_y_.begin(), width, now_.y.begin());
  now_.have_f0 = end_rate && now_.motion.active() == 0;
  if (now_.motion.active() > 0 && !now_.motion.project(now_.t, now_.y.data(), true)) now_.have_f0 = false;
  now_.note_projected(landing_y_.data());
  sliding_.project_step();
  watching_.carry_watches();
  arm_slips(t1 - before);
  for (Guard& guard : now_.guards.list()) guard.zeros = 0;
  record_.finish_step();
  record_.tell_evaluated_end();
}

// Whether a gap, a slip or a surface has come to the wrong side within the tolerance, where no zero could be seen (a touch that the error of
// the steps makes a crossing and back): the instant is now, and the values tell.
bool StepAdvance::contradicted() {
  found_.together.clear();
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (!scan_.of_the_state(guard) || !(found_.samples[i * (found_.degree + 2) + (found_.degree + 1)] < 0))
      continue;
    const double value = now_.guards.value(guard);
    double noise = std::max({guard.noise + guard.noise_rate * now_.h, 0x1p-43 * guard.scale, kLeastNumber});
    if (guard.kind == GuardKind::gap)
      noise = std::max(noise, 8 * rounding_.rounding_of(now_.system.relations()[guard.place].gap));
    if (guard.kind != GuardKind::gap && guard.kind != GuardKind::slip)
      noise = std::max(
          {noise, 8 * rounding_.surface_rounding(guard.place), scan_.unmoved(guard.place, now_.h, true)});
    if (value < -noise) found_.together.push_back(static_cast<int>(i));
  }
  return !found_.together.empty();
}

// Gaps of open contacts at the samples of the step.
void StepAdvance::note_open_gaps() {
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::gap) continue;
    const double* sample = found_.samples.data() + i * (found_.degree + 2);
    const auto [lowest, highest] = std::minmax_element(sample, sample + found_.degree + 2);
    if (*lowest < 0) record_.note_gap(list[i].place, *lowest, *highest);
  }
}

// A slip that started from rest is armed once it is more than rounding.
void StepAdvance::arm_slips(double h) {
  std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].noise_rate == 0) continue;
    list[i].noise += list[i].noise_rate * h;
    if (found_.samples[i * (found_.degree + 2) + (found_.degree + 1)] > list[i].noise)
      list[i].noise = list[i].noise_rate = 0;
  }
}

// A touch without consequence inside the step: an event with its depth, and two equal rows.
void StepAdvance::list_graze(double h) {
  const Guard& guard = now_.guards.list()[found_.graze_guard];
  const double time = now_.t + found_.graze_theta * h;
  // What is touched has come down. A function that rises by powers of ten within the step is only that of the polynomial that stands for it.
  now_.load();
  const double before = now_.guards.value(guard);
  trial_.dense(found_.graze_theta, node_y_.data());
  now_.motion.load(time, node_y_.data());
  if (now_.guards.value(guard) > before) return;
  while (now_.recorder.samples.next() < time) {
    trial_.dense((now_.recorder.samples.next() - now_.t) / h, node_y_.data());
    now_.motion.load(now_.recorder.samples.next(), node_y_.data());
    now_.recorder.load_works(node_y_.data(), now_.work);
    rows_.emit_row(RowKind::sample);
    now_.recorder.samples.advance();
  }
  trial_.dense(found_.graze_theta, node_y_.data());
  now_.motion.load(time, node_y_.data());
  now_.recorder.load_works(node_y_.data(), now_.work);
  rows_.report_graze(time, guard.place, found_.graze_depth, 0);
}

}  // namespace judder::engines
