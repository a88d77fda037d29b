// Loads of contacts that are closed: the largest normal force and the impulse of each closed phase. Both come from polynomials of the force along
// the step. Those of the guards are at hand, but need not be good far from zero, where nothing ends: a force whose polynomial is too coarse is
// sampled anew, in halves, until it is not. The largest value is that of the force itself, at the place where its polynomial is largest: an error
// of the place counts squared.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kMostHalvings = 6;
constexpr int kRounds =
    40;  // of the golden section: the place to the root of the rounding, which is all that values tell

}  // namespace

// Where nothing is known between: after an event, and at rest.
void EventEngine::Run::note_reactions(double h) {
  if (motion_.redundant()) guards_.sharing.share(motion_);
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::closed) continue;
    Interval& interval = open_intervals_[r];
    const double force = motion_.normal()[r];
    if (std::isnan(interval.from)) interval = {r, t_, t_, force, 0};
    interval.peak = std::max(interval.peak, force);
    interval.impulse += 0.5 * h * (force + last_reaction_[r]);
    last_reaction_[r] = force;
  }
}

// The forces that were evaluated last: no row shows more than the peak.
void EventEngine::Run::note_peaks() {
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::closed || std::isnan(open_intervals_[r].from)) continue;
    open_intervals_[r].peak = std::max(open_intervals_[r].peak, motion_.normal()[r]);
  }
}

// False: no contact is closed.
bool EventEngine::Run::follow_closed() {
  bool closed = false;
  for (int r = 0; r < layout_.relations; ++r) {
    follows_[r] = mode_.normal[r] == NormalStatus::closed ? 1 : 0;
    if (follows_[r] == 0) continue;
    closed = true;
    if (std::isnan(open_intervals_[r].from)) open_intervals_[r] = {r, t_, t_, 0, 0};
  }
  return closed;
}

// The step of this length was made, the polynomials of the guards are those of the trial, which may have been longer.
void EventEngine::Run::note_step(double trial, double length) {
  if (!follow_closed()) return;
  const long counted =
      motion_.evaluations;  // what is looked at is no part of the motion, whoever else looks at it
  if (!prepare_dense()) return;
  const std::vector<Guard>& list = guards_.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != GuardKind::reaction || follows_[list[i].place] == 0) continue;
    if (add_polynomial(static_cast<int>(i), trial, length)) follows_[list[i].place] = 0;
  }
  if (std::any_of(follows_.begin(), follows_.end(), [](std::uint8_t follows) { return follows != 0; }))
    add_pieces(0, 1, length, 0);
  motion_.evaluations = counted;
}

// From the polynomial of the guard. False: it has none that is the force, or it is too coarse.
bool EventEngine::Run::add_polynomial(int guard, double trial, double length) {
  const Guard& own = guards_.list()[guard];
  if (own.zeros != 0) return false;
  const double* coefficients = bernstein_.data() + guard * (degree_ + 1);
  const double* sample = samples_.data() + guard * (degree_ + 2);
  double largest = 0;
  for (int j = 0; j <= degree_ + 1; ++j) largest = std::max(largest, std::abs(sample[j]));
  // Bodies that move together press each other with rounding: there is nothing to follow.
  if (largest <= own.noise) {
    Interval& interval = open_intervals_[own.place];
    interval.peak = std::max(interval.peak, largest);
    last_reaction_[own.place] = sample[degree_ + 1];
    return true;
  }
  const double share = std::sqrt(options_.tolerance);
  if (!(fit_errors_[guard] <= share * largest)) return false;
  // The guard after a reduced one is its determinant.
  const double* divisor = own.reduced ? coefficients + degree_ + 1 : nullptr;
  if (own.reduced) {
    const double* below = sample + degree_ + 2;
    const double least = *std::min_element(below, below + degree_ + 2);
    if (!(fit_errors_[guard + 1] <= share * least)) return false;
  }
  take_polynomial(coefficients, divisor, degree_, length / trial, fit_errors_[guard], 0, trial / length,
                  length, open_intervals_[own.place]);
  return true;
}

// The forces that are followed, over this part of the step, in halves where a polynomial through its points is too coarse.
void EventEngine::Run::add_pieces(double from, double to, double length, int halvings) {
  const numeric::SamplingGrid& grid = numeric::SamplingGrid::of_degree(kForcePoints - 1);
  const double width = to - from;
  for (int j = 0; j < kForcePoints; ++j) {
    if (!normal_forces(from + grid.theta(j) * width, length)) return;
    for (int r = 0; r < layout_.relations; ++r)
      force_samples_[static_cast<std::size_t>(r) * kForcePoints + j] = motion_.normal()[r];
  }
  std::array<double, kForcePoints> coefficients{};
  const double share = std::sqrt(options_.tolerance);
  bool fine = true;
  for (int r = 0; r < layout_.relations && fine && halvings < kMostHalvings; ++r) {
    if (follows_[r] == 0) continue;
    const numeric::Interpolation fit = grid.interpolate(
        force_samples_.data() + static_cast<std::size_t>(r) * kForcePoints, 1, 0, coefficients.data());
    // What is small beside what the contact has carried already changes neither its peak nor its impulse.
    fine = fit.error <= share * std::max(fit.magnitude, open_intervals_[r].peak);
  }
  if (!fine) {
    const double middle = 0.5 * (from + to);
    add_pieces(from, middle, length, halvings + 1);
    add_pieces(middle, to, length, halvings + 1);
    return;
  }
  for (int r = 0; r < layout_.relations; ++r) {
    if (follows_[r] == 0) continue;
    const numeric::Interpolation fit = grid.interpolate(
        force_samples_.data() + static_cast<std::size_t>(r) * kForcePoints, 1, 0, coefficients.data());
    take_polynomial(coefficients.data(), nullptr, grid.degree(), 1, fit.error, from, width, length,
                    open_intervals_[r]);
  }
}

// Integral and largest value over [0, end] of a polynomial, or of a quotient of two. Its θ is `from` + θ·`width` of the step.
void EventEngine::Run::take_polynomial(const double* coefficients, const double* divisor, int degree,
                                       double end, double allowance, double from, double width, double length,
                                       Interval& interval) {
  // Gauss-Legendre with 8 points is exact for degree 15.
  static constexpr double kNode[8] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290,
                                      -0.1834346424956498, 0.1834346424956498,  0.5255324099163290,
                                      0.7966664774136267,  0.9602898564975363};
  static constexpr double kWeight[8] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                        0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                        0.2223810344533745, 0.1012285362903763};
  const auto value = [&](double at) {
    const double number = numeric::bernstein_value(coefficients, degree, at);
    return divisor == nullptr ? number : number / numeric::bernstein_value(divisor, degree, at);
  };
  double place[10];
  double force[10];
  double sum = 0;
  place[0] = 0;
  place[9] = end;
  force[0] = value(0);
  force[9] = value(end);
  for (int g = 0; g < 8; ++g) {
    place[g + 1] = 0.5 * end * (1 + kNode[g]);
    force[g + 1] = value(place[g + 1]);
    sum += kWeight[g] * force[g + 1];
  }
  interval.impulse += 0.5 * end * width * length * sum;
  last_reaction_[interval.relation] = force[9];
  // Nothing here is larger than the largest coefficient. Most steps end here.
  const double enough = interval.peak + options_.tolerance * std::abs(interval.peak);
  if (divisor == nullptr && *std::max_element(coefficients, coefficients + degree + 1) + allowance <= enough)
    return;
  const auto best = static_cast<int>(std::max_element(force, force + 10) - force);
  double low = place[std::max(best - 1, 0)];
  double high = place[std::min(best + 1, 9)];
  // Golden section: values are all that a quotient has at hand.
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = value(left);
  double at_right = value(right);
  for (int round = 0; round < kRounds; ++round) {
    if (at_left > at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = value(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = value(right);
    }
  }
  double at = 0.5 * (low + high);
  double largest = value(at);
  if (force[best] >= largest) {
    at = place[best];
    largest = force[best];
  }
  if (divisor == nullptr && largest + allowance <= enough) return;
  if (normal_forces(from + at * width, length))
    interval.peak = std::max(interval.peak, motion_.normal()[interval.relation]);
}

void EventEngine::Run::load_inside(double theta, double length) {
  const double time = t_ + theta * length;
  dense(theta, node_y_.data());
  if (motion_.active() > 0) static_cast<void>(motion_.project(time, node_y_.data(), true));
  motion_.load(time, node_y_.data());
}

// Evaluates the motion at this place of the step, as for a row.
bool EventEngine::Run::normal_forces(double theta, double length) {
  load_inside(theta, length);
  if (!motion_.evaluate()) return false;
  if (motion_.redundant()) guards_.sharing.share(motion_);
  return true;
}

void EventEngine::Run::close_interval(int relation) {
  Interval& interval = open_intervals_[relation];
  if (std::isnan(interval.from)) return;
  interval.to = t_;
  sink_->interval(interval);
  interval.from = kNone;
}

}  // namespace judder::engines
