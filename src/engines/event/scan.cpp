#include "engines/event/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.hpp"
#include "engines/event/roundings.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"
#include "engines/law_numbers.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSteep =
    100;  ///< errors per step: a watch as steep as this has passed its zero, however near the end of the step
constexpr double kLeastNumber = 0x1p-1000;  ///< near the end of the range of numbers a kink has no sides
constexpr double kSampleRounding = 8;       ///< last bits of the time that samples may disagree by
/// The parabola g with g(0), g(1) in sample[0], sample[3] and g'(0) = slope: its values in between, and the Bernstein coefficients of g, or of
/// g/θ, g/θ² where g(0), g'(0) are known zeros.
numeric::Interpolation parabola(double* sample, double slope, int zeros, double* coefficients) {
  const double start = sample[0];
  const double end = sample[3];
  const double middle = start + 0.5 * slope;
  sample[1] = 0.5625 * start + 0.375 * middle + 0.0625 * end;
  sample[2] = 0.25 * start + 0.5 * middle + 0.25 * end;
  coefficients[0] = zeros == 0 ? start : zeros == 1 ? slope : end;
  coefficients[1] = zeros == 0 ? middle : zeros == 1 ? 0.5 * (slope + end) : end;
  coefficients[2] = end;
  numeric::Interpolation out;
  out.magnitude = std::max({std::abs(coefficients[0]), std::abs(coefficients[1]), std::abs(end)});
  out.error =
      std::isfinite(out.magnitude) ? 4 * kEpsilon * out.magnitude : std::numeric_limits<double>::infinity();
  return out;
}
/// Whether the polynomial that falls through this zero turns round behind the end of the step, less than `band` below zero, and where the next step may see it: what
/// turns farther away turns by its rounding.
bool dip_beyond_end(const double* coefficients, int degree, const numeric::Root& root, double band) {
  constexpr double kSight = 8;  // of steps
  double slope = 0;
  double before = 0;
  const double earlier = 0.9 * root.theta;
  static_cast<void>(numeric::bernstein_value(coefficients, degree, root.theta, &slope));
  static_cast<void>(numeric::bernstein_value(coefficients, degree, earlier, &before));
  const double curvature = (slope - before) / (root.theta - earlier);
  const double turn = root.theta - slope / curvature;
  return slope < 0 && curvature > 0 && slope * slope <= 2 * curvature * band && turn > 1 && turn <= kSight;
}
/// Whether the samples grow from zero like a power of θ, which need not be a whole one: then the function has no other zero in the step. The
/// power that neighbours tell may change slowly.
bool follows_power(const numeric::SamplingGrid& grid, const double* sample) {
  constexpr double kSteady = 0.5;  // of the power: the largest change from pair to pair
  double last = 0;
  for (int j = 0; j + 1 < grid.points(); ++j) {
    if (!(sample[j] > 0) || !(sample[j + 1] > sample[j])) return false;
    const double power =
        elementary::log(sample[j + 1] / sample[j]) / elementary::log(grid.theta(j + 1) / grid.theta(j));
    if (!(power > 0) || (j > 0 && std::abs(power - last) > kSteady * last)) return false;
    last = power;
  }
  return true;
}
/// Whether a function that leaves its zero by a power that no dense output carries (t⁵) rises throughout: its own polynomial, without that zero
/// divided out, does not dip by more than `band`.
bool rises_softly(const numeric::SamplingGrid& grid, const double* sample, double band) {
  for (int j = 0; j < grid.points(); ++j) {
    if (!(sample[j] > 0) || (j > 0 && !(sample[j] > sample[j - 1]))) return false;
  }
  std::array<double, numeric::kMaxRootDegree + 1> coefficients{};
  if (!(grid.interpolate(sample, 1, 0, coefficients.data()).error <= band)) return false;
  return std::all_of(coefficients.begin(), coefficients.begin() + grid.points(),
                     [band](double c) { return c >= -band; });
}
/// The highest power of time that the dense output of the methods carries.
int carried_order(const numeric::TwoMethods& methods) {
  return methods.stiff() ? 3 : methods.order() == numeric::Method::order5 ? 4 : 7;
}
/// How far a function gets to the other side of zero than `side`, behind θ, by its samples and its value at the end of the step.
double depth_behind(const numeric::SamplingGrid& grid, const double* sample, double theta, int side) {
  const int points = grid.points();
  double depth = -side * sample[points];
  for (int j = 0; j < points; ++j) {
    if (grid.theta(j) > theta) depth = std::max(depth, -side * sample[j]);
  }
  return depth;
}

}  // namespace

Scan::Scan(Phase& now, StepFindings& found, Roundings& rounding, Trial& trial, Watching& watching)
    : now_(now),
      found_(found),
      rounding_(rounding),
      trial_(trial),
      watching_(watching),
      hidden_change_(now.system) {
  node_y_.resize(now_.motion.all_components());
}

// Samples every guard along the trial step, replaces it by a polynomial and finds the first zero of all. `accurate` is false when a polynomial
// does not represent its guard to the tolerance: the step is too long for events to be trusted.
bool Scan::find_first_guard(double h, bool& accurate) {
  std::vector<Guard>& list = now_.guards.list();
  const int count = static_cast<int>(list.size());
  found_.first_guard = -1;
  found_.together.clear();
  accurate = true;
  if (count == 0) return false;
  const double* y1 = trial_.methods().y1();
  const double time_rounding =
      kSampleRounding * kEpsilon * std::max(std::abs(now_.t), std::abs(now_.t + h)) / h;

  // What is held is held within the error of what has hardly moved, and within the rounding of its terms: they may cancel for good. Where it has left by
  // more than that, the rounding of what it is then tells nothing about where it left: exp(-1/t) is far more by the end of a step than it was.
  for (Guard& guard : list) {
    if (guard.kind != GuardKind::held_above && guard.kind != GuardKind::held_below) continue;
    now_.load();
    const double little = unmoved(guard.place, h, true);
    guard.band = std::max({guard.band, little, kRoundingUnits * rounding_.surface_rounding(guard.place)});
    now_.motion.load(now_.t + h, y1);
    const double later = kRoundingUnits * rounding_.surface_rounding(guard.place);
    if (later > guard.band && now_.guards.value(guard) >= guard.band - later) guard.band = later;
    guard.noise = 0;  // that of samples is measured in each trial
  }

  const bool first_of_phase = now_.t == now_.phase_start || now_.t == now_.resumed_at;
  if (first_of_phase) {
    start_values_.resize(std::max<std::size_t>(start_values_.size(), count));
    now_.load();
    if (now_.guards.needs_motion() && !now_.motion.evaluate()) {
      accurate = false;
      return false;
    }
    now_.guards.values(start_values_.data());
  }
  // Parabolas are known by both ends and a slope if they are gaps, otherwise by the five points of the first grid.
  const bool parabolas = !trial_.methods().stiff() && now_.motion.uniform() && now_.guards.quadratic();
  bool closed_form = parabolas && now_.guards.only_gaps();
  for (std::size_t g = parabolas ? 0 : 1; g < grids_.size(); closed_form ? closed_form = false : ++g) {
    const numeric::SamplingGrid& grid = *grids_[g];
    const int points = closed_form ? 3 : grid.points();
    found_.samples.resize(std::max<std::size_t>(found_.samples.size(), (points + 1) * count));
    found_.bernstein.resize(std::max<std::size_t>(found_.bernstein.size(), points * count));
    const int width = now_.motion.sampled();
    bool finite = true;
    if (closed_form) start_parabolas(h);
    for (int j = 0; j < points && finite && !closed_form; ++j) {
      trial_.methods().dense(grid.theta(j), width, node_y_.data());
      now_.motion.load(now_.t + grid.theta(j) * h, node_y_.data());
      if (now_.guards.needs_motion()) finite = now_.motion.evaluate();
      now_.guards.values(found_.samples.data() + j, points + 1);
    }
    if (finite) {
      now_.motion.load(now_.t + h, y1);
      if (now_.guards.needs_motion()) finite = now_.motion.evaluate();
      now_.guards.values(found_.samples.data() + points, points + 1);
    }
    if (!finite) {
      accurate = false;
      return false;
    }
    if (!closed_form && !note_residues()) {
      accurate = false;
      return false;
    }
    found_.degree = points - 1;
    found_.first_guard = found_.late_kink = -1;
    found_.first_theta = 2;
    found_.dips_beyond = false;
    found_.graze_guard = -1;
    found_.root_theta.assign(count, std::numeric_limits<double>::infinity());
    found_.root_slope.resize(count);
    found_.root_from.assign(count, 0.0);
    found_.fit_errors.assign(count, std::numeric_limits<double>::infinity());
    bool good = true;
    for (int i = 0; i < count; ++i) {
      Guard& guard = list[i];
      double* coefficients = found_.bernstein.data() + i * points;
      double* sample = found_.samples.data() + i * (points + 1);
      const bool watch = guard.kind == GuardKind::watch || guard.kind == GuardKind::observed;
      // Of a zero beyond its order the polynomial of the step carries nothing, be it in the samples or between them.
      if (first_of_phase && guard.zeros > carried_order(trial_.methods())) {
        const Start start = start_by_series(guard, h, sample[points]);
        if (start == Start::leaves) continue;
        if (start == Start::too_long) {
          found_.blamed_guard = i;
          accurate = false;
          return false;
        }
      }
      const double* clean = sample;
      if (guard.zeros != 0 && !closed_form && residues_[i] != 0) {
        for (int j = 0; j < points; ++j) clean_[j] = sample[j] - residues_[i];
        clean = clean_.data();
      }
      if (guard.zeros < 0) {
        // A watch that starts at zero: the order of that zero from its first two samples.
        const double ratio = std::abs(clean[1] / clean[0]);
        const double order = elementary::log(ratio) / elementary::log(grid.theta(1) / grid.theta(0));
        guard.zeros = std::isfinite(order) ? std::clamp(static_cast<int>(std::lround(order)), 1, 3) : 1;
      }
      if (closed_form && guard.zeros > 2) {
        good = false;
        break;
      }
      const numeric::Interpolation fit =
          closed_form ? parabola(sample, slopes_[i], guard.zeros, coefficients)
                      : grid.interpolate(clean, 1, std::min(guard.zeros, 3), coefficients);
      found_.fit_errors[i] = fit.error;
      // Most of many gaps stay far from zero, which both ends and the slope tell.
      if (closed_form && guard.zeros == 0 && guard.kind == GuardKind::gap) {
        const double least = std::min(std::min(coefficients[0], coefficients[1]), coefficients[2]);
        const double largest = std::max(fit.magnitude, std::abs(sample[2]));
        if (least > 2 * fit.error && least > now_.options.tolerance * std::max(guard.scale, largest))
          continue;
      }
      // What stays within a quarter of what the event has left of its zero has no other: it has not moved from there yet.
      if (guard.zeros > 0 && !closed_form && std::all_of(sample, sample + points + 1, [&](double value) {
            return std::abs(value - residues_[i]) < 0.25 * std::abs(residues_[i]);
          }))
        continue;
      double largest = 0;
      double lowest = sample[points];
      double highest = sample[points];
      for (int j = 0; j <= points; ++j) {
        largest = std::max(largest, std::abs(sample[j]));
        lowest = std::min(lowest, sample[j]);
        highest = std::max(highest, sample[j]);
      }
      // The time of a sample is rounded, and so is what is computed from it.
      const double time_noise = time_rounding * (highest - lowest);
      const double noise = guard.noise + guard.noise_rate * h;
      // A function that is nothing but rounding throughout does not cross: a reaction where no force presses keeps its contact,
      // bodies that move together keep their gap of zero. A surface is crossed even so: its side must be that of its value.
      const bool surface = guard.kind == GuardKind::side;
      const bool kink = surface && now_.system.switches()[guard.place].kind == expr::SwitchKind::kink;
      const bool level = guard.kind == GuardKind::level_below || guard.kind == GuardKind::level_above;
      const bool held = guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below;
      const bool by_value = surface || level || held;
      if (largest <= (kink       ? kLeastNumber
                      : by_value ? 0
                                 : std::max(noise, guard.flat)) &&
          (guard.kind != GuardKind::gap || (std::abs(now_.guards.gap_rate(guard)) * h <= noise &&
                                            !(sample[points] < 0 && approaches(guard.place)))))
        continue;
      // It may begin where the forces that balance have faded, and be as large as the rounding of what they are by the end of the step.
      if (lowest < 0 && guard.kind == GuardKind::reaction) {
        now_.motion.load(now_.t + h, y1);
        if (now_.motion.evaluate() && now_.guards.renew_noise(guard, now_.scales.sizes()) &&
            largest <= guard.noise)
          continue;
      }
      // What is held stays within its rounding wherever it was asked for, and has no other form than that.
      if (held && lowest >= 0 && largest <= 2 * guard.band) continue;
      const double scale = std::max(guard.scale, largest);
      const double band = std::max(now_.options.tolerance * scale, surface ? guard.noise : 0);
      // Far from zero the polynomial need not be good: an error smaller than half the distance cannot hide a zero.
      double least = std::numeric_limits<double>::infinity();
      for (int j = 0; j < points; ++j) least = std::min(least, coefficients[j]);
      if (!watch && least > 2 * fit.error && least > band) continue;
      if (surface && largest <= unmoved(guard.place, h)) {
        now_.motion.load(now_.t + h, y1);
        if (largest <= unmoved(guard.place, h, true)) continue;
      }
      // What leaves its level by less than the last bits of its terms goes up by steps of these: a polynomial through them has zeros, it has none.
      if ((surface || level) && lowest >= 0 &&
          largest <= kRoundingUnits * rounding_.surface_rounding(guard.place))
        continue;
      if (watch && watch_hides(guard, h, 0, 1, grid)) {
        scan_watch(i, h, band, time_noise);
        continue;
      }
      bool rounded = false;  // the polynomial is no better than the rounding of its samples
      if (!(fit.error <= std::max(band, 64 * kEpsilon * fit.magnitude))) {
        if (now_.guards.renew_noise(guard) && guard.kind != GuardKind::gap &&
            largest <= (by_value ? 0 : guard.noise))
          continue;
        // Rounding of the samples, magnified where a zero is divided out, is no fault of the polynomial.
        if (!std::isfinite(fit.error) ||
            fit.error >
                (guard.noise + time_noise) / elementary::whole_pow(grid.theta(0), std::min(guard.zeros, 3))) {
          if (watch && g + 1 == grids_.size()) {
            scan_watch(i, h, band, time_noise);
            continue;
          }
          // A zero at the start that no series knows the order of (a load like |x|^1.5) is one as well.
          const bool starts_at_zero = guard.zeros > 0 || (first_of_phase && start_values_[i] == 0);
          if (starts_at_zero && g + 1 == grids_.size() && follows_power(grid, clean)) continue;
          if (guard.zeros > 3 && sample[points] > 0 && rises_softly(grid, clean, band)) continue;
          found_.blamed_guard = i;
          good = false;
          break;
        }
        rounded = true;
      }
      // A force that is positive wherever it was asked for, and dips by less than the tolerance between, presses on: fading loads have no zero.
      const bool force = is_reaction(guard) || guard.kind == GuardKind::joint_normal ||
                         guard.kind == GuardKind::slide_above || guard.kind == GuardKind::slide_below;
      if (force && lowest >= 0 && (guard.zeros > 0 || least >= -(rounded ? fit.error : band))) continue;
      if (!numeric::isolate(coefficients, found_.degree, rounded ? fit.error : band, roots_)) {
        good = false;
        break;
      }
      // Nor has a slip, or such a force, that fades to less than that at the end of the step.
      if ((force || guard.kind == GuardKind::slip) && lowest >= 0 &&
          coefficients[found_.degree] >= -(rounded ? fit.error : band))
        roots_.drop_last_fall();
      if (watch) {
        take_watch_zero(i, sample, points, noise, band);
        continue;
      }
      // From the start, if at all: a touch there is none of its zeros.
      bool below = true;
      for (int r = 0; r < roots_.size(); ++r) below = below && roots_[r].kind == numeric::RootKind::graze;
      numeric::close_at_end(sample[points], 1, roots_);
      // At a kink either side will do while its function is rounding; once it is more than that, the side is that of its value.
      // The same with a load that has stayed at its limit, within the error of the steps, and now passes it.
      const bool leaves = guard.stays && below && sample[0] < 0 && sample[points] < -guard.flat;
      const bool late = (kink && below && sample[0] < 0) || leaves;
      if (late && kink) {
        now_.motion.load(now_.t + h, y1);
        if (largest <= kRoundingUnits * rounding_.surface_rounding(guard.place)) continue;
        found_.late_kink = i;
      }
      const double touch_band = guard.zeros != 0 ? 0
                                : guard.kind == GuardKind::gap
                                    ? std::max({found_.share_of_error * band, noise, fit.error})
                                : guard.kind == GuardKind::slip || force ? band
                                                                         : 0;
      for (int r = 0; r < roots_.size(); ++r) {
        const numeric::Root& root = roots_[r];
        const bool returns = r + 2 < roots_.size() && root.kind != numeric::RootKind::graze &&
                             roots_[r + 1].kind == numeric::RootKind::graze &&
                             roots_[r + 2].kind != numeric::RootKind::graze;
        if (returns && rounded) {
          r += 2;  // there and back within that rounding
          continue;
        }
        // A gap that dips by less than the error of the step, of its polynomial or of rounding touches: the graze between the two zeros. So does a
        // slip or a load that dips by less than the tolerance.
        if (returns && touch_band > 0 && root.kind == numeric::RootKind::falling &&
            std::abs(roots_[r + 1].value) <= touch_band) {
          if (found_.graze_guard < 0 && reports_graze(guard)) {
            found_.graze_guard = i;
            found_.graze_theta = roots_[r + 1].theta;
            found_.graze_depth = roots_[r + 1].value;
          }
          r += 2;
          continue;
        }
        if (root.kind == numeric::RootKind::graze) {
          // A touch deeper than the band would have been two zeros; report the first of this step, without consequence.
          if (found_.graze_guard < 0 && reports_graze(guard) && !(guard.zeros > 0)) {
            found_.graze_guard = i;
            found_.graze_theta = root.theta;
            found_.graze_depth = root.value;
          }
          continue;
        }
        if (root.kind == numeric::RootKind::rising) continue;
        if (kink && depth_behind(grid, sample, root.theta, 1) <= guard.noise) {
          // No sample lies behind the zero, but the polynomial may: a window that opens and closes between two of them.
          const double next = r + 1 < roots_.size() ? roots_[r + 1].theta : 1;
          const double middle = 0.5 * (root.theta + next);
          const double depth = -numeric::bernstein_value(coefficients, found_.degree, middle, nullptr);
          if (!(depth > std::max({guard.noise, band, 2 * fit.error}))) continue;
        }
        // Behind a zero that was divided out the first values are rounding, and so is their sign; unless what follows is more than that.
        const bool stays = (guard.zeros > 0 || guard.noise_rate > 0) && lowest >= -noise;
        if (stays && elementary::whole_pow(root.theta, guard.zeros + 1) * std::abs(root.slope) <= noise)
          continue;
        const double theta = late ? std::min(root.theta, kLateRoot) : root.theta;
        if (theta < found_.first_theta) {
          found_.first_guard = i;
          found_.dips_beyond =
              touch_band > 0 && dip_beyond_end(coefficients, found_.degree, root, touch_band);
          found_.first_theta = theta;
          found_.first_slope = late ? sample[points] - sample[0] : root.slope;
        }
        found_.root_theta[i] = theta;
        found_.root_slope[i] =
            guard.zeros > 0 ? root.slope * elementary::whole_pow(root.theta, guard.zeros) : root.slope;
        break;
      }
      if (first_of_phase && passes_at_once(i, grid.theta(0), sample[0])) continue;
      // Below zero at the end without a zero on the way: it began within the band. A shorter step tells where.
      if (of_the_state(guard) && sample[points] < -band && !(found_.root_theta[i] <= 1)) {
        good = false;
        break;
      }
    }
    if (good) break;
    if (!closed_form && g + 1 == grids_.size()) {
      accurate = false;
      return false;
    }
  }
  return found_.first_guard >= 0;
}

// A function of the state that leaves its zero by a power which the dense output does not carry (t⁶ with the method of order five): its Taylor series at the start of
// the step. While the first term that is not zero is twice all others together there is no zero in the step; its end, which is exact, must say the same.
Scan::Start Scan::start_by_series(const Guard& guard, double h, double end) {
  constexpr double kOthers = 0.5;  // of the first term
  constexpr double kUnits = 8;     // of rounding
  if (guard.kind != GuardKind::gap && guard.kind != GuardKind::slip && guard.kind != GuardKind::side)
    return Start::unknown;
  now_.load();
  if (!now_.series.compute(now_.mode, expr::kTaylorOrder) || now_.series.order() < guard.zeros)
    return Start::unknown;
  const expr::Series s = guard.kind == GuardKind::gap    ? now_.series.gap(guard.place)
                         : guard.kind == GuardKind::slip ? now_.series.slip(guard.place, guard.tangent)
                                                         : now_.series.surface(guard.place);
  const double sign = guard.kind == GuardKind::gap ? 1 : guard.sign;
  const double first = sign * s.c[guard.zeros];
  if (!(first > 0)) return Start::unknown;
  double others = 0;
  double power = 1;
  for (int k = guard.zeros + 1; k <= now_.series.order(); ++k) others += std::abs(s.c[k]) * (power *= h);
  if (others > kOthers * first) return Start::too_long;
  const double expected = first * elementary::whole_pow(h, guard.zeros);
  const double rounding =
      kUnits * (guard.kind == GuardKind::gap ? rounding_.rounding_of(now_.system.relations()[guard.place].gap)
                : guard.kind == GuardKind::side ? rounding_.surface_rounding(guard.place)
                                                : guard.noise + guard.noise_rate * h);
  if (std::abs(end - expected) <= 2 * kOthers * expected + rounding) return Start::leaves;
  return Start::unknown;
}

// What is left at the start of a step of the functions that begin with a zero: the last bit of the time of the event just handled. It is
// taken away before the zero is divided out. False: the equations give no number there.
bool Scan::note_residues() {
  const std::vector<Guard>& list = now_.guards.list();
  if (std::none_of(list.begin(), list.end(), [](const Guard& guard) { return guard.zeros != 0; }))
    return true;
  residues_.resize(std::max(residues_.size(), list.size()));
  now_.load();
  if (now_.guards.needs_motion() && !now_.motion.evaluate()) return false;
  now_.guards.values(residues_.data());
  return true;
}

// A slip, a load or a gap that begins the phase with next to nothing, and is used up before the first sample: no polynomial of the step sees where.
bool Scan::passes_at_once(int i, double theta, double first) {
  const Guard& guard = now_.guards.list()[i];
  if (guard.zeros != 0 || !(guard.kind == GuardKind::slip || is_reaction(guard))) return false;
  const double start = start_values_[i];
  if (!(start > guard.noise) || !(first < -std::max({guard.noise, guard.flat, start})) ||
      found_.root_theta[i] < theta)
    return false;
  numeric::Root root;
  root.kind = numeric::RootKind::falling;
  root.theta = theta * (start / (start - first));
  root.slope = (first - start) / theta;
  take_zero(i, root);
  return true;
}

// The first zero of a watch that one polynomial does not follow over the whole step (a pole, a kink, an oscillation, a narrow place): by polynomials on parts of
// it. The motion is the same with and without a watch, so its step is not shortened for it.
void Scan::scan_watch(int i, double h, double band, double time_noise) {
  constexpr double kShortestPart = 0x1p-12;
  constexpr double kNarrowestPart = 0x1p-40;
  constexpr int kMostParts = 2000;
  const Guard& guard = now_.guards.list()[i];
  const numeric::SamplingGrid& grid = *grids_.back();
  const int points = grid.points();
  const double error = watching_.watch_error(guard, band, guard.noise);
  const auto value_at = [&](double theta) {
    trial_.dense(theta, node_y_.data());
    now_.motion.load(now_.t + theta * h, node_y_.data());
    if (now_.guards.watches_reactions()) {
      if (!now_.motion.evaluate()) return std::numeric_limits<double>::quiet_NaN();
      watching_.publish_reactions();
    }
    return now_.guards.value(guard);
  };
  std::array<double, numeric::kMaxRootDegree + 2> sample{};
  std::array<double, numeric::kMaxRootDegree + 1> coefficients{};
  int side = side_before(guard);
  double side_from = 0;  // where that was seen
  double place = 0;      // of the value that is looked at
  bool open = false;     // it has passed to the other side, and it is not known yet by how much
  numeric::Root candidate;
  // True: the watch has passed zero by more than its error, in the direction asked for.
  const auto passes = [&](double depth) {
    if (!open || depth <= error) return false;
    open = false;
    side = -side;
    if (crossing_counts(guard, side > 0)) return true;
    side_from = std::min(candidate.theta, place);
    return false;
  };
  const auto see = [&](double value) {  // a value on the way, in order
    if (!std::isfinite(value) || value == 0) return false;
    if (side == 0) {
      if (std::abs(value) > error) {
        side = value > 0 ? 1 : -1;
        side_from = place;
      }
      return false;
    }
    if (side * value > 0) {
      if (open) side_from = place;  // there and back
      open = false;
      return false;
    }
    if (!open) {  // since before this step
      open = true;
      candidate = {.theta = kLateRoot,
                   .kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising,
                   .value = 0,
                   .slope = value};
    }
    return passes(-side * value);
  };
  // Whether the watch grows towards the place between a and b where it changes its sign, from both sides: a pole.
  const auto is_pole = [&](double a, double start, double b, double end) {
    constexpr int kHalvings = 40;
    double left = start;
    double right = end;
    for (int k = 0; k < kHalvings; ++k) {
      const double middle = 0.5 * (a + b);
      if (!(middle > a && middle < b)) break;
      const double value = value_at(middle);
      if (!std::isfinite(value)) return true;
      if (value == 0) return false;
      const bool first = (value > 0) == (start > 0);
      (first ? a : b) = middle;
      (first ? left : right) = value;
    }
    return std::abs(left) >= std::abs(start) && std::abs(right) >= std::abs(end) &&
           std::abs(left) + std::abs(right) > 2 * (std::abs(start) + std::abs(end));
  };
  bool found = false;
  double from = 0;
  double length = 0.5;
  double before = guard.zeros == 0 ? value_at(0) : 0;  // the last value, and where that was
  double last = 0;
  for (int parts = 0; from < 1 && !found; ++parts) {
    length = std::min(length, 1 - from);
    for (int j = 0; j < points; ++j) sample[j] = value_at(from + grid.theta(j) * length);
    sample[points] = value_at(from + length);
    const int zeros = from == 0 ? std::clamp(guard.zeros, 0, 3) : 0;
    if (zeros > 0) {
      for (int j = 0; j <= points; ++j) sample[j] -= residues_[i];
    }
    const numeric::Interpolation fit = grid.interpolate(sample.data(), 1, zeros, coefficients.data());
    const double allowed =
        std::max({band, 64 * kEpsilon * fit.magnitude,
                  (guard.noise + time_noise) / elementary::whole_pow(grid.theta(0), zeros)});
    const bool follows = fit.error <= allowed;
    const bool hides =
        follows && length > kNarrowestPart && parts < kMostParts && watch_hides(guard, h, from, length, grid);
    if ((hides || (!follows && length > kShortestPart)) && parts < kMostParts) {
      length *= 0.5;
      continue;
    }
    if (!follows || !numeric::isolate(coefficients.data(), grid.degree(), std::max(band, fit.error), roots_))
      roots_.clear();
    int next = 0;
    for (int j = 0; j <= points && !found; ++j) {
      const double theta = j < points ? grid.theta(j) : 1.0;
      for (; next < roots_.size() && roots_[next].theta <= theta; ++next) {
        const numeric::Root& root = roots_[next];
        const int to = root.kind == numeric::RootKind::rising ? 1 : -1;
        if (root.kind == numeric::RootKind::graze || side == 0 || to == side || open) continue;
        open = true;
        candidate = root;
        candidate.theta = from + root.theta * length;
        candidate.slope = root.slope * elementary::whole_pow(root.theta, zeros) / length;
        if (next + 1 < roots_.size()) {  // there and back between two samples
          const double middle = 0.5 * (root.theta + roots_[next + 1].theta);
          place = from + middle * length;
          found = see(numeric::bernstein_value(coefficients.data(), grid.degree(), middle) *
                      elementary::whole_pow(middle, zeros));
          if (found) break;
        }
      }
      if (found) break;
      // Without a polynomial a zero is between two samples, unless they grow towards it: a pole.
      if (side != 0 && !open && before * sample[j] < 0) {
        if (is_pole(last, before, from + theta * length, sample[j])) {
          side = -side;
          side_from = from + theta * length;
        } else {
          open = true;
          candidate = {.theta = from + theta * length,
                       .kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising,
                       .value = 0,
                       .slope = (sample[j] - before) / length};
        }
      }
      before = sample[j];
      last = place = from + theta * length;
      found = see(sample[j]);
    }
    from += length;
    length *= 2;
  }
  if (!found && open && std::abs(candidate.slope) > kSteep * error) found = passes(2 * error);
  if (!found) return;
  take_zero(i, candidate);
  found_.root_from[i] = std::min(side_from, candidate.theta);
}

void Scan::take_zero(int i, const numeric::Root& root) {
  const Guard& guard = now_.guards.list()[i];
  if (root.theta < found_.first_theta) {
    found_.first_guard = i;
    found_.first_theta = root.theta;
    found_.first_slope = root.slope;
    found_.dips_beyond = false;
  }
  found_.root_theta[i] = root.theta;
  found_.root_slope[i] = root.slope;
  if (guard.kind == GuardKind::watch)
    watching_.watches().meet(guard.place, root.kind == numeric::RootKind::rising);
}

// Where a watch that passes the zero with number r in roots_ returns within the step, after no more than `error`; −1: it does not.
double Scan::comes_back(int i, int r, int points, int side, double error) const {
  const double* coefficients = found_.bernstein.data() + i * points;
  const int zeros = std::clamp(now_.guards.list()[i].zeros, 0, 3);
  for (int next = r + 1; next < roots_.size(); ++next) {
    const int to = roots_[next].kind == numeric::RootKind::rising ? 1 : -1;
    if (roots_[next].kind == numeric::RootKind::graze || to != side) continue;
    const double middle = 0.5 * (roots_[r].theta + roots_[next].theta);
    const double value =
        numeric::bernstein_value(coefficients, points - 1, middle) * elementary::whole_pow(middle, zeros);
    return -side * value <= error ? roots_[next].theta : -1;
  }
  return -1;
}

// The first of the zeros in roots_ that ends the step: the side that the watch has is left for good, which is by more than its error, and in
// the direction asked for.
void Scan::take_watch_zero(int i, const double* sample, int points, double noise, double band) {
  const Guard& guard = now_.guards.list()[i];
  const numeric::SamplingGrid& grid = *grids_[points == 5 ? 0 : points == 9 ? 1 : 2];
  const double error = watching_.watch_error(guard, band, noise);
  int side = side_before(guard);
  double side_from = 0;  // where that is seen
  if (side == 0) {
    for (int j = 0; j <= points && side == 0; ++j) {
      side = sample[j] > error ? 1 : sample[j] < -error ? -1 : 0;
      side_from = j < points ? grid.theta(j) : 1;
    }
    if (side == 0) return;
  }
  numeric::Root found;
  found.theta = 2;
  for (int r = 0; r < roots_.size() && found.theta > 1; ++r) {
    const numeric::Root& root = roots_[r];
    const int to = root.kind == numeric::RootKind::rising ? 1 : -1;
    if (root.kind == numeric::RootKind::graze || to == side) continue;
    const double slope = std::abs(root.slope) * elementary::whole_pow(root.theta, std::max(guard.zeros, 0));
    // Behind a zero that was divided out the first values are rounding, and so is their sign.
    if (guard.zeros > 0 && root.theta * slope <= noise) continue;
    if (depth_behind(grid, sample, root.theta, side) <= error) {
      const double back = comes_back(i, r, points, side, error);
      if (back >= 0) side_from = back;
      if (back >= 0 || slope <= kSteep * error) continue;
    }
    if (crossing_counts(guard, to > 0)) {
      found = root;
    } else {
      side = to;
      side_from = root.theta;
    }
  }
  if (found.theta > 1 && side == side_before(guard) && depth_behind(grid, sample, 0, side) > error &&
      -side * sample[0] > 0) {
    // It had passed its zero by no more than its error before this step, and now it is clear that it did.
    bool back = false;
    for (int r = 0; r < roots_.size(); ++r)
      back = back || roots_[r].kind == (side > 0 ? numeric::RootKind::rising : numeric::RootKind::falling);
    if (!back && crossing_counts(guard, side < 0)) {
      found.theta = kLateRoot;
      found.kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising;
      found.slope = (sample[points] - sample[0]);
    }
  }
  if (found.theta > 1) return;
  if (guard.zeros > 0) found.slope *= elementary::whole_pow(found.theta, guard.zeros);
  take_zero(i, found);
  found_.root_from[i] = std::min(side_from, found.theta);
}

// Whether a watch takes values on a part of the step that it has at none of the points of the grid.
bool Scan::watch_hides(const Guard& guard, double h, double from, double length,
                       const numeric::SamplingGrid& grid) {
  constexpr int kManyPoints = 8;
  const expr::Program& value = guard.kind == GuardKind::watch ? now_.system.watches()[guard.place].value
                                                              : now_.system.observed()[guard.place].value;
  if (now_.options.step > 0 || !value.has_peaks() || now_.system.watches_read_works() ||
      (guard.kind == GuardKind::watch && now_.system.watches()[guard.place].needs_reactions))
    return false;
  now_.load();
  struct Part {
    Scan* scan;
    double from, length;
  } const part{this, from, length};
  const double share = grid.points() < kManyPoints ? kShareOfFewPoints : kShareOfPoints;
  const HiddenChange::Step step{now_.t + from * h, now_.t + (from + length) * h, grid.thetas(), share};
  return hidden_change_.hides(value, step, now_.work.in, [&part](double theta, double* y) {
    part.scan->trial_.dense(part.from + theta * part.length, part.scan->node_y_.data());
    std::copy_n(part.scan->node_y_.begin(), part.scan->now_.layout.integrated(), y);
  });
}

// Gaps that are parabolas in time, at the start of the step: their values and their slopes per step.
void Scan::start_parabolas(double h) {
  now_.load();
  const int count = now_.guards.size();
  slopes_.resize(std::max<std::size_t>(slopes_.size(), count));
  if (now_.guards.many_gaps()) {
    now_.system.gaps(now_.work);
    for (int i = 0; i < count; ++i) {
      found_.samples[4 * i] = now_.work.gap_value[now_.guards.list()[i].place];
      slopes_[i] = h * now_.work.gap_rate[now_.guards.list()[i].place];
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    double rate = 0;
    now_.system.gap(now_.work, now_.guards.list()[i].place, found_.samples[4 * i], rate);
    slopes_[i] = h * rate;
  }
}

// Whether an open gap closes with a speed that is more than the rounding of the velocities, as large as they have been. At the loaded state.
bool Scan::approaches(int relation) {
  const model::RelationRows& rows = now_.system.rows(now_.work, relation);
  double terms = std::abs(rows.gap_time);
  for (const int i : now_.system.relations()[relation].touches)
    terms += std::abs(rows.w[i]) * std::max(std::abs(now_.work.in[now_.layout.v() + i]),
                                            now_.scales.sizes()[now_.layout.coordinates + i]);
  return rows.gap_rate < -1e3 * kEpsilon * terms;
}

// What a surface may be off by because its coordinates have hardly moved: their errors are controlled to the tolerance of what the energy seen
// would move (running_scales.hpp), and below that a value has no digits and no sign. At the loaded state, for a step of length h. `free`: of coordinates that no
// row determines alone; a body on a floor is as fast as the floor, however slow that is.
double Scan::unmoved(int k, double h, bool free) {
  const expr::Program& program = now_.system.switches()[k].surface;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
  program.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  const int n = now_.layout.coordinates;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double slopes = std::abs(surface_memory_[2 + i]) * h + std::abs(surface_memory_[2 + n + i]);
    if (slopes != 0 && !(free && determined(i))) sum += now_.scales.speed_floor(i) * slopes;
  }
  return std::isfinite(sum) ? sum : 0;
}

// Whether a closed, held or sticking row has coordinate i and no other.
bool Scan::determined(int i) const {
  const auto alone = [i](const model::Row& w) {
    bool own = false;
    for (std::size_t e = 0; e < w.values().size(); ++e) {
      if (w.values()[e] == 0) continue;
      if (w.places()[e] != i) return false;
      own = true;
    }
    return own;
  };
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (now_.mode.normal[r] == NormalStatus::open) continue;
    const model::RelationRows& rows = now_.work.relation[r];
    if (relation.has_normal && alone(rows.w)) return true;
    for (int j = 0; j < relation.tangents; ++j) {
      if (now_.mode.tangent[relation.first_tangent + j] == TangentStatus::stick && alone(rows.tangent[j].w))
        return true;
    }
  }
  return false;
}

// Whether a reaction, a limit or a load is positive where the trial step begins and negative at its end, by more than it may be off. Asked where no polynomial
// follows the guards: limits that read |λ| have a kink where λ passes zero.
bool Scan::load_passes_zero() const {
  const std::vector<Guard>& list = now_.guards.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (!is_reaction(guard) && guard.kind != GuardKind::joint_normal) continue;
    const double* sample = found_.samples.data() + i * (found_.degree + 2);
    const double slack = std::max({guard.noise, guard.flat, now_.options.tolerance * guard.scale});
    if (sample[0] >= 0 && sample[found_.degree + 1] < -slack) return true;
  }
  return false;
}

// A switch of a watch is on the positive side of its guard, and leaves it downwards.
int Scan::side_before(const Guard& guard) const {
  return guard.kind == GuardKind::observed ? 1 : watching_.watches().side(guard.place);
}

bool Scan::crossing_counts(const Guard& guard, bool rising) {
  return guard.kind == GuardKind::observed ? !rising : watching_.watches().counts(guard.place, rising);
}

bool Scan::reports_graze(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip;
}

// Functions of the state alone: gaps, slips, sides. What they are is seen from their value.
bool Scan::of_the_state(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip || guard.kind == GuardKind::side ||
         guard.kind == GuardKind::level_above || guard.kind == GuardKind::level_below;
}

bool Scan::hides_change(double h) {
  now_.load();
  const double share = trial_.methods().stiff() || trial_.methods().order() == numeric::Method::order5
                           ? kShareOfFewPoints
                           : kShareOfPoints;
  const HiddenChange::Step step{now_.t, now_.t + h, trial_.methods().nodes(), share};
  return hidden_change_.between(step, now_.work.in, [this](double theta, double* y) {
    trial_.dense(theta, node_y_.data());
    std::copy_n(node_y_.begin(), now_.layout.integrated(), y);
  });
}

}  // namespace judder::engines
