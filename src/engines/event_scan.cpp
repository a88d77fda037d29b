// Zeros of event functions along a step: found on polynomials through samples, and landed on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

#include "core/elementary.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kSteep =
    100;  ///< errors per step: a watch as steep as this has passed its zero, however near the end of the step
constexpr double kLandingError =
    1.1;  ///< share of what is allowed that a step may have when it is made to end on a zero
constexpr double kLeastNumber = 0x1p-1000;  ///< near the end of the range of numbers a kink has no sides
constexpr int kMostProjected = 3;           ///< landings once more, behind the projection onto constraints
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

/// Whether the polynomial that falls through this zero turns round behind the end of the step, less than `band` below zero.
bool dip_beyond_end(const double* coefficients, int degree, const numeric::Root& root, double band) {
  double slope = 0;
  double before = 0;
  const double earlier = 0.9 * root.theta;
  static_cast<void>(numeric::bernstein_value(coefficients, degree, root.theta, &slope));
  static_cast<void>(numeric::bernstein_value(coefficients, degree, earlier, &before));
  const double curvature = (slope - before) / (root.theta - earlier);
  return slope < 0 && curvature > 0 && slope * slope <= 2 * curvature * band &&
         root.theta - slope / curvature > 1;
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

// Gaps that are parabolas in time, at the start of the step: their values and their slopes per step.
void EventEngine::Run::start_parabolas(double h) {
  motion_.load(t_, y_.data());
  const int count = guards_.size();
  slopes_.resize(std::max<std::size_t>(slopes_.size(), count));
  if (guards_.many_gaps()) {
    system_.gaps(work_);
    for (int i = 0; i < count; ++i) {
      samples_[4 * i] = work_.gap_value[guards_.list()[i].place];
      slopes_[i] = h * work_.gap_rate[guards_.list()[i].place];
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    double rate = 0;
    system_.gap(work_, guards_.list()[i].place, samples_[4 * i], rate);
    slopes_[i] = h * rate;
  }
}

// Whether an open gap closes with a speed that is more than the rounding of the velocities, as large as they have been. At the loaded state.
bool EventEngine::Run::approaches(int relation) {
  const model::RelationRows& rows = system_.rows(work_, relation);
  double terms = std::abs(rows.gap_time);
  for (const int i : system_.relations()[relation].touches)
    terms += std::abs(rows.w[i]) *
             std::max(std::abs(work_.in[layout_.v() + i]), scales_.sizes()[layout_.coordinates + i]);
  return rows.gap_rate < -1e3 * kEpsilon * terms;
}

// What a surface may be off by because its coordinates have hardly moved: their errors are controlled to the tolerance of what the energy seen
// would move (running_scales.hpp), and below that a value has no digits and no sign. At the loaded state, for a step of length h.
double EventEngine::Run::unmoved(int k, double h) {
  const expr::Program& program = system_.switches()[k].surface;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
  program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  const int n = layout_.coordinates;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += scales_.speed_floor(i) *
           (std::abs(surface_memory_[2 + i]) * h + std::abs(surface_memory_[2 + n + i]));
  return std::isfinite(sum) ? sum : 0;
}

// Reactions and limits that begin a phase at zero and are negative from there on, and kinks that are held and left at once, where no Taylor
// series could tell (a force like √t or t^2.5 has none): their zero is the start itself, and the instant is decided again without them. In
// together_.
bool EventEngine::Run::gives_way_at_once(double h) {
  constexpr int kPlaces = 12;
  constexpr int kClear = 3;      // of the places, the last ones: more than rounding
  constexpr int kClearHeld = 2;  // near its beginning the polynomial of a step like t^2.5 has no sign
  together_.clear();
  const std::vector<Guard>& list = guards_.list();
  const auto of_a_force = [](const Guard& guard) {
    return guard.kind != GuardKind::pressed && is_reaction(guard);
  };
  // What friction leaves of its limit is as exact as the forces along its own row; joints and compliant contacts have no other.
  const auto rounding = [](const Guard& guard) { return std::max(guard.noise, guard.flat); };
  const auto held = [this](const Guard& guard) {
    return (guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below) &&
           system_.switches()[guard.place].kind == expr::SwitchKind::kink;
  };
  if (std::none_of(list.begin(), list.end(), [&](const Guard& g) { return of_a_force(g) || held(g); }))
    return false;
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (held(list[i]) || (of_a_force(list[i]) && std::abs(guards_.value(list[i])) <= rounding(list[i])))
      together_.push_back(static_cast<int>(i));
  }
  double theta = elementary::whole_pow(0.25, kPlaces - 1);
  for (int place = 0; place < kPlaces && !together_.empty(); ++place, theta *= 4) {
    dense(theta, node_y_.data());
    motion_.load(t_ + theta * h, node_y_.data());
    if (!motion_.evaluate()) {
      together_.clear();
      break;
    }
    std::erase_if(together_, [&](int i) {
      const Guard& guard = list[i];
      const double value = guards_.value(guard);
      const double small = rounding(guard);
      if (!held(guard)) return !(place >= kPlaces - kClear ? value < -small : value <= small);
      return place >= kPlaces - kClearHeld &&
             !(value < -std::max(unmoved(guard.place, h), kRoundingUnits * surface_rounding(guard.place)));
    });
  }
  // The forces that balance may have faded at the start alone. The last place is the end of the step.
  std::erase_if(together_, [&](int i) {
    Guard& guard = guards_.list()[i];
    return guard.kind == GuardKind::reaction && guards_.renew_noise(guard, scales_.sizes()) &&
           std::abs(guards_.value(guard)) <= guard.noise;
  });
  if (!together_.empty()) have_f0_ = false;
  return !together_.empty();
}

// Where the equations end at a surface, as √h at h = 0, no step goes over it, and its zero is only approached. It is reached where it is within
// `rounding` of the time: in together_.
bool EventEngine::Run::reaches_surface(double rounding) {
  together_.clear();
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return false;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::side) continue;
    const double value = guards_.value(list[i]);
    const double rate = list[i].sign * motion_.surface_rate(list[i].place);
    if (value >= 0 && value <= options_.tolerance * list[i].scale && rate * rounding <= -value)
      together_.push_back(static_cast<int>(i));
  }
  if (!together_.empty()) have_f0_ = false;
  return !together_.empty();
}

// Whether a reaction, a limit or a load is positive where the trial step begins and negative at its end, by more than it may be off. Asked where no polynomial
// follows the guards: limits that read |λ| have a kink where λ passes zero.
bool EventEngine::Run::load_passes_zero() const {
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    if (!is_reaction(guard) && guard.kind != GuardKind::joint_normal) continue;
    const double* sample = samples_.data() + i * (degree_ + 2);
    const double slack = std::max({guard.noise, guard.flat, options_.tolerance * guard.scale});
    if (sample[0] >= 0 && sample[degree_ + 1] < -slack) return true;
  }
  return false;
}

// Samples every guard along the trial step, replaces it by a polynomial and finds the first zero of all. `accurate` is false when a polynomial
// does not represent its guard to the tolerance: the step is too long for events to be trusted.
bool EventEngine::Run::find_first_guard(double h, bool& accurate) {
  std::vector<Guard>& list = guards_.list();
  const int count = static_cast<int>(list.size());
  first_guard_ = -1;
  together_.clear();
  accurate = true;
  if (count == 0) return false;
  const double* y1 = methods_.y1();
  const double time_rounding = kSampleRounding * kEpsilon * std::max(std::abs(t_), std::abs(t_ + h)) / h;

  // What is held is held within the error of what has hardly moved, and within the rounding of its terms: they may cancel for good. Where it has left by
  // more than that, the rounding of what it is then tells nothing about where it left: exp(-1/t) is far more by the end of a step than it was.
  for (Guard& guard : list) {
    if (guard.kind != GuardKind::held_above && guard.kind != GuardKind::held_below) continue;
    motion_.load(t_, y_.data());
    const double little = unmoved(guard.place, h);
    guard.band = std::max({guard.band, little, kRoundingUnits * surface_rounding(guard.place)});
    motion_.load(t_ + h, y1);
    const double later = kRoundingUnits * surface_rounding(guard.place);
    if (later > guard.band && guards_.value(guard) >= guard.band - later) guard.band = later;
    guard.noise = 0;  // that of samples is measured in each trial
  }

  const bool first_of_phase = t_ == phase_start_ || t_ == resumed_at_;
  if (first_of_phase) {
    start_values_.resize(std::max<std::size_t>(start_values_.size(), count));
    motion_.load(t_, y_.data());
    if (guards_.needs_motion() && !motion_.evaluate()) {
      accurate = false;
      return false;
    }
    guards_.values(start_values_.data());
  }
  // Parabolas are known by both ends and a slope if they are gaps, otherwise by the five points of the first grid.
  const bool parabolas = !methods_.stiff() && motion_.uniform() && guards_.quadratic();
  bool closed_form = parabolas && guards_.only_gaps();
  for (std::size_t g = parabolas ? 0 : 1; g < grids_.size(); closed_form ? closed_form = false : ++g) {
    const numeric::SamplingGrid& grid = *grids_[g];
    const int points = closed_form ? 3 : grid.points();
    samples_.resize(std::max<std::size_t>(samples_.size(), (points + 1) * count));
    bernstein_.resize(std::max<std::size_t>(bernstein_.size(), points * count));
    const int width = motion_.sampled();
    bool finite = true;
    if (closed_form) start_parabolas(h);
    for (int j = 0; j < points && finite && !closed_form; ++j) {
      methods_.dense(grid.theta(j), width, node_y_.data());
      motion_.load(t_ + grid.theta(j) * h, node_y_.data());
      if (guards_.needs_motion()) finite = motion_.evaluate();
      guards_.values(samples_.data() + j, points + 1);
    }
    if (finite) {
      motion_.load(t_ + h, y1);
      if (guards_.needs_motion()) finite = motion_.evaluate();
      guards_.values(samples_.data() + points, points + 1);
    }
    if (!finite) {
      accurate = false;
      return false;
    }
    if (!closed_form && !note_residues()) {
      accurate = false;
      return false;
    }
    degree_ = points - 1;
    first_guard_ = late_kink_ = -1;
    first_theta_ = 2;
    dips_beyond_ = false;
    graze_guard_ = -1;
    root_theta_.assign(count, std::numeric_limits<double>::infinity());
    root_slope_.resize(count);
    fit_errors_.assign(count, std::numeric_limits<double>::infinity());
    bool good = true;
    for (int i = 0; i < count; ++i) {
      Guard& guard = list[i];
      double* coefficients = bernstein_.data() + i * points;
      double* sample = samples_.data() + i * (points + 1);
      const bool watch = guard.kind == GuardKind::watch || guard.kind == GuardKind::observed;
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
      fit_errors_[i] = fit.error;
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
      const bool kink = surface && system_.switches()[guard.place].kind == expr::SwitchKind::kink;
      const bool level = guard.kind == GuardKind::level_below || guard.kind == GuardKind::level_above;
      const bool held = guard.kind == GuardKind::held_above || guard.kind == GuardKind::held_below;
      const bool by_value = surface || level || held;
      if (largest <= (kink       ? kLeastNumber
                      : by_value ? 0
                                 : std::max(noise, guard.flat)) &&
          (guard.kind != GuardKind::gap || (std::abs(guards_.gap_rate(guard)) * h <= noise &&
                                            !(sample[points] < 0 && approaches(guard.place)))))
        continue;
      // It may begin where the forces that balance have faded, and be as large as the rounding of what they are by the end of the step.
      if (lowest < 0 && guard.kind == GuardKind::reaction) {
        motion_.load(t_ + h, y1);
        if (motion_.evaluate() && guards_.renew_noise(guard, scales_.sizes()) && largest <= guard.noise)
          continue;
      }
      // What is held stays within its rounding wherever it was asked for, and has no other form than that.
      if (held && lowest >= 0 && largest <= 2 * guard.band) continue;
      const double scale = std::max(guard.scale, largest);
      const double band = std::max(options_.tolerance * scale, surface ? guard.noise : 0);
      // Far from zero the polynomial need not be good: an error smaller than half the distance cannot hide a zero.
      double least = std::numeric_limits<double>::infinity();
      for (int j = 0; j < points; ++j) least = std::min(least, coefficients[j]);
      if (!watch && least > 2 * fit.error && least > band) continue;
      if (surface && largest <= unmoved(guard.place, h)) continue;
      // What leaves its level by less than the last bits of its terms goes up by steps of these: a polynomial through them has zeros, it has none.
      if ((surface || level) && lowest >= 0 && largest <= kRoundingUnits * surface_rounding(guard.place))
        continue;
      if (watch && watch_hides(guard, h, 0, 1, grid)) {
        scan_watch(i, h, band, time_noise);
        continue;
      }
      bool rounded = false;  // the polynomial is no better than the rounding of its samples
      if (!(fit.error <= std::max(band, 64 * kEpsilon * fit.magnitude))) {
        if (guards_.renew_noise(guard) && guard.kind != GuardKind::gap &&
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
          if (guard.zeros > 0 && g + 1 == grids_.size() && follows_power(grid, clean)) continue;
          if (guard.zeros > 3 && sample[points] > 0 && rises_softly(grid, clean, band)) continue;
          blamed_guard_ = i;
          good = false;
          break;
        }
        rounded = true;
      }
      // A force that is positive wherever it was asked for, and dips by less than the tolerance between, presses on: fading loads have no zero.
      const bool force = is_reaction(guard) || guard.kind == GuardKind::joint_normal ||
                         guard.kind == GuardKind::slide_above || guard.kind == GuardKind::slide_below;
      if (force && lowest >= 0 && (guard.zeros > 0 || least >= -(rounded ? fit.error : band))) continue;
      if (!numeric::isolate(coefficients, degree_, rounded ? fit.error : band, roots_)) {
        good = false;
        break;
      }
      // Nor has a slip, or such a force, that fades to less than that at the end of the step.
      if ((force || guard.kind == GuardKind::slip) && lowest >= 0 &&
          coefficients[degree_] >= -(rounded ? fit.error : band))
        roots_.drop_last_fall();
      if (watch) {
        take_watch_zero(i, sample, points, noise, band);
        continue;
      }
      const bool below = roots_.empty();  // from the start, if at all
      numeric::close_at_end(sample[points], 1, roots_);
      // At a kink either side will do while its function is rounding; once it is more than that, the side is that of its value.
      // The same with a load that has stayed at its limit, within the error of the steps, and now passes it.
      const bool leaves = guard.stays && below && sample[0] < 0 && sample[points] < -guard.flat;
      const bool late = (kink && below && sample[0] < 0) || leaves;
      if (late && kink) {
        motion_.load(t_ + h, y1);
        if (largest <= kRoundingUnits * surface_rounding(guard.place)) continue;
        late_kink_ = i;
      }
      const double touch_band = guard.zeros != 0 ? 0
                                : guard.kind == GuardKind::gap
                                    ? std::max({share_of_error_ * band, noise, fit.error})
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
          if (graze_guard_ < 0 && reports_graze(guard)) {
            graze_guard_ = i;
            graze_theta_ = roots_[r + 1].theta;
            graze_depth_ = roots_[r + 1].value;
          }
          r += 2;
          continue;
        }
        if (root.kind == numeric::RootKind::graze) {
          // A touch deeper than the band would have been two zeros; report the first of this step, without consequence.
          if (graze_guard_ < 0 && reports_graze(guard) && !(guard.zeros > 0)) {
            graze_guard_ = i;
            graze_theta_ = root.theta;
            graze_depth_ = root.value;
          }
          continue;
        }
        if (root.kind == numeric::RootKind::rising) continue;
        if (kink && depth_behind(grid, sample, root.theta, 1) <= guard.noise) {
          // No sample lies behind the zero, but the polynomial may: a window that opens and closes between two of them.
          const double next = r + 1 < roots_.size() ? roots_[r + 1].theta : 1;
          const double middle = 0.5 * (root.theta + next);
          const double depth = -numeric::bernstein_value(coefficients, degree_, middle, nullptr);
          if (!(depth > std::max({guard.noise, band, 2 * fit.error}))) continue;
        }
        // Behind a zero that was divided out the first values are rounding, and so is their sign; unless what follows is more than that.
        const bool stays = (guard.zeros > 0 || guard.noise_rate > 0) && lowest >= -noise;
        if (stays && elementary::whole_pow(root.theta, guard.zeros + 1) * std::abs(root.slope) <= noise)
          continue;
        const double theta = late ? std::min(root.theta, kLateRoot) : root.theta;
        if (theta < first_theta_) {
          first_guard_ = i;
          dips_beyond_ = touch_band > 0 && dip_beyond_end(coefficients, degree_, root, touch_band);
          first_theta_ = theta;
          first_slope_ = late ? sample[points] - sample[0] : root.slope;
        }
        root_theta_[i] = theta;
        root_slope_[i] =
            guard.zeros > 0 ? root.slope * elementary::whole_pow(root.theta, guard.zeros) : root.slope;
        break;
      }
      if (first_of_phase && passes_at_once(i, grid.theta(0), sample[0])) continue;
      // Below zero at the end without a zero on the way: it began within the band. A shorter step tells where.
      if (of_the_state(guard) && sample[points] < -band && !(root_theta_[i] <= 1)) {
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
  return first_guard_ >= 0;
}

// Slips and surfaces that are zero here, to rounding of the state and of the time, and on their way to the other side.
bool EventEngine::Run::meets_at_once() {
  // A run that is not cut does not look: what it remembers stays what it was.
  const std::vector<double> terms(motion_.acceleration_terms().begin(), motion_.acceleration_terms().end());
  const std::vector<double> side = motion_.mode().side;
  find_at_once();
  motion_.recall(terms, side);
  return !together_.empty();
}

void EventEngine::Run::find_at_once() {
  constexpr double kBits = 64 * kEpsilon;
  together_.clear();
  if (!(t_ > phase_start_)) return;  // the mode has just been decided
  motion_.load(t_, y_.data());
  if (!motion_.evaluate()) return;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Guard& guard = list[i];
    double rate = 0;
    double terms = 0;
    double rounding = 0;
    if (guard.kind == GuardKind::slip) {
      const model::RelationRows::Tangent& row = system_.rows(work_, guard.place).tangent[guard.tangent];
      rate = row.zeta;
      terms = std::abs(row.zeta);
      for (const int k : system_.relations()[guard.place].touches) {
        rate += row.w[k] * motion_.acceleration()[k];
        terms += std::abs(row.w[k] * motion_.acceleration()[k]);
      }
      rate *= guard.sign;
      rounding = std::max(guard.noise, slip_rounding(guard.place, guard.tangent));
      load_statuses();
    } else if (guard.kind == GuardKind::side || guard.kind == GuardKind::level_below ||
               guard.kind == GuardKind::level_above) {
      rate = (guard.kind == GuardKind::level_above ? -1 : guard.sign) * motion_.surface_rate(guard.place);
      terms = surface_rate_scale(guard.place);
      rounding = kRoundingUnits * surface_rounding(guard.place);
    } else {
      continue;
    }
    if (!(rate < -kSmallRate * terms)) continue;
    const double value = guards_.value(guard);
    if (value <= rounding - rate * kBits * std::abs(t_)) together_.push_back(static_cast<int>(i));
  }
}

// A slip, a load or a gap that begins the phase with next to nothing, and is used up before the first sample: no polynomial of the step sees where.
bool EventEngine::Run::passes_at_once(int i, double theta, double first) {
  const Guard& guard = guards_.list()[i];
  if (guard.zeros != 0 || !(guard.kind == GuardKind::slip || is_reaction(guard))) return false;
  const double start = start_values_[i];
  if (!(start > guard.noise) || !(first < -std::max({guard.noise, guard.flat, start})) ||
      root_theta_[i] < theta)
    return false;
  numeric::Root root;
  root.kind = numeric::RootKind::falling;
  root.theta = theta * (start / (start - first));
  root.slope = (first - start) / theta;
  take_zero(i, root);
  return true;
}

// What is left at the start of a step of the functions that begin with a zero: the last bit of the time of the event just handled. It is
// taken away before the zero is divided out. False: the equations give no number there.
bool EventEngine::Run::note_residues() {
  const std::vector<Guard>& list = guards_.list();
  if (std::none_of(list.begin(), list.end(), [](const Guard& guard) { return guard.zeros != 0; }))
    return true;
  residues_.resize(std::max(residues_.size(), list.size()));
  motion_.load(t_, y_.data());
  if (guards_.needs_motion() && !motion_.evaluate()) return false;
  guards_.values(residues_.data());
  return true;
}

// Whether a watch takes values on a part of the step that it has at none of the points of the grid.
bool EventEngine::Run::watch_hides(const Guard& guard, double h, double from, double length,
                                   const numeric::SamplingGrid& grid) {
  constexpr int kManyPoints = 8;
  const expr::Program& value = guard.kind == GuardKind::watch ? system_.watches()[guard.place].value
                                                              : system_.observed()[guard.place].value;
  if (options_.step > 0 || !value.has_peaks() || system_.watches_read_works() ||
      (guard.kind == GuardKind::watch && system_.watches()[guard.place].needs_reactions))
    return false;
  motion_.load(t_, y_.data());
  struct Part {
    Run* run;
    double from, length;
  } const part{this, from, length};
  const double share = grid.points() < kManyPoints ? kShareOfFewPoints : kShareOfPoints;
  const HiddenChange::Step step{t_ + from * h, t_ + (from + length) * h, grid.thetas(), share};
  return hidden_change_.hides(value, step, work_.in, [&part](double theta, double* y) {
    part.run->dense(part.from + theta * part.length, part.run->node_y_.data());
    std::copy_n(part.run->node_y_.begin(), part.run->layout_.integrated(), y);
  });
}

// The first zero of a watch that one polynomial does not follow over the whole step (a pole, a kink, an oscillation, a narrow place): by polynomials on parts of
// it. The motion is the same with and without a watch, so its step is not shortened for it.
void EventEngine::Run::scan_watch(int i, double h, double band, double time_noise) {
  constexpr double kShortestPart = 0x1p-12;
  constexpr double kNarrowestPart = 0x1p-40;
  constexpr int kMostParts = 2000;
  const Guard& guard = guards_.list()[i];
  const numeric::SamplingGrid& grid = *grids_.back();
  const int points = grid.points();
  const double error = watch_error(guard, band, guard.noise);
  const auto value_at = [&](double theta) {
    dense(theta, node_y_.data());
    motion_.load(t_ + theta * h, node_y_.data());
    if (guards_.watches_reactions()) {
      if (!motion_.evaluate()) return std::numeric_limits<double>::quiet_NaN();
      publish_reactions();
    }
    return guards_.value(guard);
  };
  std::array<double, numeric::kMaxRootDegree + 2> sample{};
  std::array<double, numeric::kMaxRootDegree + 1> coefficients{};
  int side = side_before(guard);
  bool open = false;  // it has passed to the other side, and it is not known yet by how much
  numeric::Root candidate;
  // True: the watch has passed zero by more than its error, in the direction asked for.
  const auto passes = [&](double depth) {
    if (!open || depth <= error) return false;
    open = false;
    side = -side;
    return crossing_counts(guard, side > 0);
  };
  const auto see = [&](double value) {  // a value on the way, in order
    if (!std::isfinite(value) || value == 0) return false;
    if (side == 0) {
      if (std::abs(value) > error) side = value > 0 ? 1 : -1;
      return false;
    }
    if (side * value > 0) {
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
  bool found = false;
  double from = 0;
  double length = 0.5;
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
    double before = 0;
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
          found = see(numeric::bernstein_value(coefficients.data(), grid.degree(), middle) *
                      elementary::whole_pow(middle, zeros));
          if (found) break;
        }
      }
      if (found) break;
      // Without a polynomial a zero is between two samples, unless they grow towards it: a pole.
      if (!follows && side != 0 && !open && before * sample[j] < 0) {
        const double last = from + length * (j > 0 ? grid.theta(j - 1) : 0.0);
        const double middle = value_at(0.5 * (last + from + theta * length));
        if (!(std::abs(middle) <= std::max(std::abs(before), std::abs(sample[j])))) {
          side = -side;
        } else {
          open = true;
          candidate = {.theta = from + theta * length,
                       .kind = side > 0 ? numeric::RootKind::falling : numeric::RootKind::rising,
                       .value = 0,
                       .slope = (sample[j] - before) / length};
        }
      }
      before = sample[j];
      found = see(sample[j]);
    }
    from += length;
    length *= 2;
  }
  if (!found && open && std::abs(candidate.slope) > kSteep * error) found = passes(2 * error);
  if (found) take_zero(i, candidate);
}

void EventEngine::Run::take_zero(int i, const numeric::Root& root) {
  const Guard& guard = guards_.list()[i];
  if (root.theta < first_theta_) {
    first_guard_ = i;
    first_theta_ = root.theta;
    first_slope_ = root.slope;
    dips_beyond_ = false;
  }
  root_theta_[i] = root.theta;
  root_slope_[i] = root.slope;
  if (guard.kind == GuardKind::watch) watches_.meet(guard.place, root.kind == numeric::RootKind::rising);
}

// Whether a watch that passes the zero with number r in roots_ returns within the step, after no more than `error`.
bool EventEngine::Run::comes_back(int i, int r, int points, int side, double error) const {
  const double* coefficients = bernstein_.data() + i * points;
  const int zeros = std::clamp(guards_.list()[i].zeros, 0, 3);
  for (int next = r + 1; next < roots_.size(); ++next) {
    const int to = roots_[next].kind == numeric::RootKind::rising ? 1 : -1;
    if (roots_[next].kind == numeric::RootKind::graze || to != side) continue;
    const double middle = 0.5 * (roots_[r].theta + roots_[next].theta);
    const double value =
        numeric::bernstein_value(coefficients, points - 1, middle) * elementary::whole_pow(middle, zeros);
    return -side * value <= error;
  }
  return false;
}

// The first of the zeros in roots_ that ends the step: the side that the watch has is left for good, which is by more than its error, and in
// the direction asked for.
void EventEngine::Run::take_watch_zero(int i, const double* sample, int points, double noise, double band) {
  const Guard& guard = guards_.list()[i];
  const numeric::SamplingGrid& grid = *grids_[points == 5 ? 0 : points == 9 ? 1 : 2];
  const double error = watch_error(guard, band, noise);
  int side = side_before(guard);
  if (side == 0) {
    for (int j = 0; j <= points && side == 0; ++j) side = sample[j] > error ? 1 : sample[j] < -error ? -1 : 0;
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
    if (depth_behind(grid, sample, root.theta, side) <= error &&
        (slope <= kSteep * error || comes_back(i, r, points, side, error)))
      continue;
    if (crossing_counts(guard, to > 0)) {
      found = root;
    } else {
      side = to;
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
}

bool EventEngine::Run::reports_graze(const Guard& guard) {
  return guard.kind == GuardKind::gap || guard.kind == GuardKind::slip;
}

// A switch of a watch is on the positive side of its guard, and leaves it downwards.
int EventEngine::Run::side_before(const Guard& guard) const {
  return guard.kind == GuardKind::observed ? 1 : watches_.side(guard.place);
}

bool EventEngine::Run::crossing_counts(const Guard& guard, bool rising) {
  return guard.kind == GuardKind::observed ? !rising : watches_.counts(guard.place, rising);
}

// What else happens at the instant of the landing: guards whose own zero lies within rounding of it, or that the landing has just passed.
// The polynomials name the candidates, the state at the landing decides.
bool EventEngine::Run::gather_events(double h, double length) {
  together_.clear();
  const int count = guards_.size();
  if (count > 1) {
    const double* y1 = methods_.y1();
    motion_.load(t_ + length, y1);
    if (guards_.needs_motion() && !motion_.evaluate()) return false;
    landing_values_.resize(std::max<std::size_t>(landing_values_.size(), count));
    guards_.values(landing_values_.data());
  }
  const double window = 64 * kEpsilon * std::max({std::abs(t_), std::abs(t_ + length), length});
  for (int i = 0; i < count; ++i) {
    if (i == first_guard_) {
      together_.push_back(i);
      continue;
    }
    if (!(root_theta_[i] < std::numeric_limits<double>::infinity())) continue;
    // Seen from the side that the function comes from.
    const double value = root_slope_[i] > 0 ? -landing_values_[i] : landing_values_[i];
    if (value <= std::abs(root_slope_[i]) / h * window) together_.push_back(i);
  }
  return true;
}

// The function of the state with the first zero in the step that the end of a landing is behind by more than rounding, other than the one that was landed on; −1:
// there is none. The trial step ends at the landing.
int EventEngine::Run::passed_first(double h, double length) {
  const double window = 64 * kEpsilon * std::max({std::abs(t_), std::abs(t_ + length), length});
  int first = -1;
  bool loaded = false;
  for (int i = 0; i < guards_.size(); ++i) {
    const Guard& guard = guards_.list()[i];
    if (i == first_guard_ || !of_the_state(guard) || !(root_theta_[i] * h < length - window)) continue;
    if (first >= 0 && root_theta_[i] >= root_theta_[first]) continue;
    if (!loaded) motion_.load(t_ + length, methods_.y1());
    loaded = true;
    Guard rounded = guard;
    static_cast<void>(guards_.renew_noise(rounded));
    const double past = std::max(std::abs(root_slope_[i]) / h * window, kRoundingUnits * rounded.noise);
    if (guards_.value(guard) < -past) first = i;
  }
  return first;
}

// Newton's iteration may look beyond the place where a step is to end, and there may be nothing: √h below h = 0. Explicit steps come from before.
bool EventEngine::Run::try_to_land(double length) {
  if (try_step(length)) return true;
  if (!methods_.stiff() || options_.integrator != Integrator::automatic) return false;
  change_method();
  return motion_(t_, y_.data(), f0_.data()) && try_step(length);
}

// Repeats the step so that it ends on the zero: the state at an event comes from a full step, never from the polynomial.
bool EventEngine::Run::land(double h, bool may_miss) {
  Guard guard = guards_.list()[first_guard_];
  missed_ = false;
  double length = first_theta_ * h;
  double slope = first_slope_ / h;
  double previous_length = 0;
  double previous_value = 0;
  bool have_previous = false;
  double best_length = length;
  double best_value = std::numeric_limits<double>::infinity();
  double nearest = 0;  // the same with its sign
  const double resolution = 4 * kEpsilon * std::max(std::abs(t_ + length), std::abs(t_));
  int next = -1;  // the gap or slip with the first zero behind
  for (int i = 0; i < guards_.size(); ++i) {
    const GuardKind kind = guards_.list()[i].kind;
    if (i == first_guard_ || !(root_theta_[i] <= 1) || (kind != GuardKind::gap && kind != GuardKind::slip))
      continue;
    if (next < 0 || root_theta_[i] < root_theta_[next]) next = i;
  }
  for (int iteration = 0; iteration < 12; ++iteration) {
    // A zero that rounding has made moves away from its landing: it must not take it over that of another guard.
    if (next >= 0 && length > (root_theta_[next] + kLateRoot) * h) {
      first_guard_ = next;
      guard = guards_.list()[next];
      length = root_theta_[next] * h;
      slope = root_slope_[next] / h;
      have_previous = false;
      best_value = std::numeric_limits<double>::infinity();
      next = -1;
      iteration = 0;
    }
    if (!(length > 0)) length = 0.5 * resolution;
    if (!try_to_land(length)) {
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
    }
    const double* y1 = methods_.y1();
    motion_.load(t_ + length, y1);
    if (guards_.needs_motion() && !motion_.evaluate()) {
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
    }
    if (guards_.watches_reactions()) publish_reactions();
    if (guard.kind == GuardKind::margin && guard.tangent < 0) guards_.sharing.share(motion_);
    const double value = guards_.value(guard);
    if (std::abs(value) < best_value) {
      best_value = std::abs(value);
      nearest = value;
      best_length = length;
    }
    if (value == 0) break;
    if (have_previous && length != previous_length && value != previous_value) {
      slope = (value - previous_value) / (length - previous_length);
    }
    if (slope == 0 || !std::isfinite(slope)) break;
    const double change = -value / slope;
    if (std::abs(change) <= resolution) break;
    if (iteration > 2 && std::abs(value) > 0.5 * std::abs(previous_value))
      break;  // rounding of the guard itself
    previous_length = length;
    previous_value = value;
    have_previous = true;
    length = std::clamp(length + change, 0.25 * length, std::min(h, 4 * length));
  }
  // The polynomial went through zero, the motion only comes near: there is no event, and a shorter step will say so.
  missed_ = may_miss && of_the_state(guard) && length > kLateRoot * h &&
            nearest > std::max({guard.noise, 0x1p-40 * guard.scale, std::abs(slope) * resolution});
  if (missed_) return true;
  if (best_length != length) {
    length = best_length;
    if (!try_to_land(length))
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  }
  // Where a zero is only touched, its landing may lie anywhere around it, also behind the zero of another function: that one comes first.
  if (const int passed = passed_first(h, length); passed >= 0 && may_miss) {
    first_guard_ = passed;
    first_theta_ = root_theta_[passed];
    first_slope_ = root_slope_[passed];
    return land(h, false);
  }
  // The state is put onto its constraints, which moves the zeros of gaps and kinks beside them.
  const bool kink =
      guard.kind == GuardKind::side && system_.switches()[guard.place].kind == expr::SwitchKind::kink;
  const bool beside = (guard.kind == GuardKind::gap || kink) && motion_.holds();
  for (int i = 0; i < kMostProjected && beside; ++i) {
    std::copy_n(methods_.y1(), motion_.components(), landing_y_.begin());
    if (!motion_.project(t_ + length, landing_y_.data(), true)) break;
    motion_.load(t_ + length, landing_y_.data());
    if (guards_.needs_motion() && !motion_.evaluate()) break;
    const double change = -guards_.value(guard) / slope;
    if (!(std::abs(change) > resolution) || !(length + change > 0 && length + change <= h)) break;
    length += change;
    if (!try_to_land(length))
      return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  }
  // A step that ends where a force has no slope, as √q at q = 0, is less exact than the one that went before it was cut.
  if (may_miss && options_.step == 0 && (methods_.stiff() || !motion_.uniform()) && length > kLateRoot * h) {
    set_weights(length);
    missed_ = step_error() > kLandingError;
    if (missed_) return true;
  }
  landing_h_ = length;
  if (!gather_events(h, length))
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  if (methods_.stiff() || !motion_.uniform()) set_weights(length);
  scales_.update(trial_step(length));
  if (recorder_.samples.next() < t_ + length && !prepare_dense()) {
    return fail({Reason::not_finite, t_, {}, "the equations of motion give no finite number at an event"});
  }
  const double* y1 = methods_.y1();
  const int width = motion_.components();
  std::copy_n(y1, width, landing_y_.begin());
  const double t1 = t_ + length;
  tell_inside(t1);
  note_step(h, length);
  emit_samples(t1);
  methods_.begin(motion_.components());
  t_ = t1;
  std::copy_n(landing_y_.begin(), width, y_.begin());
  have_f0_ = false;
  if (motion_.active() > 0) static_cast<void>(motion_.project(t_, y_.data(), true));
  project_sliding();
  recorder_.testimony.end(t_, y_.data());
  motion_.load(t_, y_.data());
  return true;
}

}  // namespace judder::engines
