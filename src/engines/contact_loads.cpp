#include "contact_loads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engines/numeric/roots.hpp"
#include "phase_lists.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kMostHalvings = 6;
constexpr int kRounds =
    40;  // of the golden section: the place to the root of the rounding, which is all that values tell

}  // namespace

ContactLoads::ContactLoads(int relations)
    : open_(relations),
      last_(relations),
      follows_(relations),
      samples_(static_cast<std::size_t>(relations) * kPoints) {
  start(0);
}

void ContactLoads::start(double tolerance) {
  tolerance_ = tolerance;
  for (Interval& interval : open_) interval.from = kNone;
  std::fill(last_.begin(), last_.end(), 0.0);
}

void ContactLoads::note(const Mode& mode, double t, double h, std::span<const double> normal) {
  for (std::size_t r = 0; r < open_.size(); ++r) {
    if (mode.normal[r] != NormalStatus::closed) continue;
    const double force = normal[r];
    open(static_cast<int>(r), t, force);
    Interval& interval = open_[r];
    interval.peak = std::max(interval.peak, force);
    interval.impulse += 0.5 * h * (force + last_[r]);
    last_[r] = force;
  }
}

void ContactLoads::note_peaks(const Mode& mode, std::span<const double> normal) {
  for (std::size_t r = 0; r < open_.size(); ++r) {
    if (mode.normal[r] != NormalStatus::closed || !is_open(static_cast<int>(r))) continue;
    open_[r].peak = std::max(open_[r].peak, normal[r]);
  }
}

bool ContactLoads::follow(const Mode& mode, double t) {
  bool closed = false;
  for (std::size_t r = 0; r < open_.size(); ++r) {
    follows_[r] = mode.normal[r] == NormalStatus::closed ? 1 : 0;
    if (follows_[r] == 0) continue;
    closed = true;
    open(static_cast<int>(r), t, 0);
  }
  return closed;
}

void ContactLoads::take(int relation, const ForcePolynomial& polynomial, double trial, double length,
                        ForcesAlongStep& forces) {
  double largest = 0;
  for (const double sample : polynomial.samples) largest = std::max(largest, std::abs(sample));
  // Bodies that move together press each other with rounding: there is nothing to follow.
  if (largest <= polynomial.noise) {
    Interval& interval = open_[relation];
    interval.peak = std::max(interval.peak, largest);
    last_[relation] = polynomial.samples.back();
    follows_[relation] = 0;
    return;
  }
  const double share = std::sqrt(tolerance_);
  if (!(polynomial.error <= share * largest)) return;
  if (polynomial.divisor != nullptr) {
    const double least = *std::min_element(polynomial.divisors.begin(), polynomial.divisors.end());
    if (!(polynomial.divisor_error <= share * least)) return;
  }
  const Piece piece{polynomial.coefficients, polynomial.divisor, polynomial.degree,
                    length / trial,          polynomial.error,   0,
                    trial / length};
  integrate(piece, length, open_[relation], forces);
  follows_[relation] = 0;
}

void ContactLoads::take_rest(double length, ForcesAlongStep& forces) {
  if (std::any_of(follows_.begin(), follows_.end(), [](std::uint8_t follows) { return follows != 0; }))
    take_pieces(0, 1, length, 0, forces);
}

// The forces that are followed, over this part of the step, in halves where a polynomial through its points is too coarse.
void ContactLoads::take_pieces(double from, double to, double length, int halvings, ForcesAlongStep& forces) {
  const numeric::SamplingGrid& grid = numeric::SamplingGrid::of_degree(kPoints - 1);
  const double width = to - from;
  for (int j = 0; j < kPoints; ++j) {
    const std::span<const double> normal = forces.at(from + grid.theta(j) * width);
    if (normal.empty()) return;
    for (std::size_t r = 0; r < open_.size(); ++r) samples_[r * kPoints + j] = normal[r];
  }
  std::array<double, kPoints> coefficients{};
  const double share = std::sqrt(tolerance_);
  bool fine = true;
  for (std::size_t r = 0; r < open_.size() && fine && halvings < kMostHalvings; ++r) {
    if (follows_[r] == 0) continue;
    const numeric::Interpolation fit =
        grid.interpolate(samples_.data() + r * kPoints, 1, 0, coefficients.data());
    // What is small beside what the contact has carried already changes neither its peak nor its impulse.
    fine = fit.error <= share * std::max(fit.magnitude, open_[r].peak);
  }
  if (!fine) {
    const double middle = 0.5 * (from + to);
    take_pieces(from, middle, length, halvings + 1, forces);
    take_pieces(middle, to, length, halvings + 1, forces);
    return;
  }
  for (std::size_t r = 0; r < open_.size(); ++r) {
    if (follows_[r] == 0) continue;
    const numeric::Interpolation fit =
        grid.interpolate(samples_.data() + r * kPoints, 1, 0, coefficients.data());
    const Piece piece{coefficients.data(), nullptr, grid.degree(), 1, fit.error, from, width};
    integrate(piece, length, open_[r], forces);
  }
}

double ContactLoads::Piece::value(double theta) const {
  const double number = numeric::bernstein_value(coefficients, degree, theta);
  return divisor == nullptr ? number : number / numeric::bernstein_value(divisor, degree, theta);
}

// Integral and largest value of a piece.
void ContactLoads::integrate(const Piece& piece, double length, Interval& interval, ForcesAlongStep& forces) {
  // Gauss-Legendre with 8 points is exact for degree 15.
  static constexpr double kNode[8] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290,
                                      -0.1834346424956498, 0.1834346424956498,  0.5255324099163290,
                                      0.7966664774136267,  0.9602898564975363};
  static constexpr double kWeight[8] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                        0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                        0.2223810344533745, 0.1012285362903763};
  double place[10];
  double force[10];
  double sum = 0;
  place[0] = 0;
  place[9] = piece.end;
  force[0] = piece.value(0);
  force[9] = piece.value(piece.end);
  for (int g = 0; g < 8; ++g) {
    place[g + 1] = 0.5 * piece.end * (1 + kNode[g]);
    force[g + 1] = piece.value(place[g + 1]);
    sum += kWeight[g] * force[g + 1];
  }
  interval.impulse += 0.5 * piece.end * piece.width * length * sum;
  last_[interval.relation] = force[9];
  // Nothing here is larger than the largest coefficient. Most steps end here.
  const double enough = interval.peak + tolerance_ * std::abs(interval.peak);
  if (piece.divisor == nullptr &&
      *std::max_element(piece.coefficients, piece.coefficients + piece.degree + 1) + piece.allowance <=
          enough)
    return;
  const auto best = static_cast<int>(std::max_element(force, force + 10) - force);
  double low = place[std::max(best - 1, 0)];
  double high = place[std::min(best + 1, 9)];
  // Golden section: values are all that a quotient has at hand.
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = piece.value(left);
  double at_right = piece.value(right);
  for (int round = 0; round < kRounds; ++round) {
    if (at_left > at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = piece.value(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = piece.value(right);
    }
  }
  double at = 0.5 * (low + high);
  double largest = piece.value(at);
  if (force[best] >= largest) {
    at = place[best];
    largest = force[best];
  }
  if (piece.divisor == nullptr && largest + piece.allowance <= enough) return;
  const std::span<const double> normal = forces.at(piece.from + at * piece.width);
  if (!normal.empty()) interval.peak = std::max(interval.peak, normal[interval.relation]);
}

void ContactLoads::add(int relation, double impulse, double peak) {
  Interval& interval = open_[relation];
  interval.impulse += impulse;
  interval.peak = std::max(interval.peak, peak);
}

void ContactLoads::strike(int relation, double t, double impulse) {
  open(relation, t, 0);
  open_[relation].impulse += impulse;
}

std::optional<Interval> ContactLoads::close(int relation, double t) {
  last_[relation] = 0;
  if (!is_open(relation)) return std::nullopt;
  Interval closed = open_[relation];
  closed.to = t;
  open_[relation].from = kNone;
  return closed;
}

void ContactLoads::save(std::vector<double>& out) const {
  for (std::size_t r = 0; r < open_.size(); ++r)
    out.insert(out.end(), {open_[r].from, open_[r].peak, open_[r].impulse, last_[r]});
}

bool ContactLoads::load(std::span<const double> saved) {
  if (saved.size() != phase_lists::kInterval * open_.size()) return false;
  for (std::size_t r = 0; r < open_.size(); ++r) {
    const double* const own = saved.data() + phase_lists::kInterval * r;
    open_[r] = {static_cast<int>(r), own[0], own[0], own[1], own[2]};
    last_[r] = own[3];
  }
  return true;
}

}  // namespace judder::engines
