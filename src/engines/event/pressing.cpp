#include "engines/event/pressing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engines/event/trial.hpp"

namespace judder::engines {
namespace {

constexpr int kBisections = 60;  ///< down to the last bits of a step
constexpr int kMostHalvings = 6;
constexpr int kRounds = 40;  ///< of the golden section: the place to the root of the rounding
constexpr int kPoints = 5;
// On [0, 1], exact for degree 9.
constexpr double kNode[kPoints] = {0.046910077030668004, 0.23076534494715845, 0.5, 0.76923465505284155,
                                   0.95308992296933200};
constexpr double kWeight[kPoints] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                     0.23931433524968324, 0.11846344252809454};

}  // namespace

Pressing::Pressing(Phase& now, Trial& trial) : now_(now), trial_(trial) {
  int outputs = 0;
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (!relation.compliant) continue;
    compliant_.push_back(r);
    outputs = std::max({outputs, relation.gap.outputs(), relation.law.outputs()});
  }
  pressing_.resize(static_cast<std::size_t>(outputs));
}

/// Gap and force at the state in work_.in.
double Pressing::compliant_gap(int r) {
  now_.system.relations()[r].gap.evaluate(now_.work.in.data(), pressing_.data(), now_.work.registers.data());
  return pressing_[0];
}

double Pressing::compliant_force(int r) {
  now_.system.relations()[r].law.evaluate(now_.work.in.data(), pressing_.data(), now_.work.registers.data());
  return pressing_[0];
}

/// The part from θ = `from` to `to` of the step, along which the contact is pressed.
void Pressing::add_pressing(int r, double from, double to, double length, int halvings) {
  double peak = 0;
  double place = from;
  const auto force_at = [&](double theta) {
    now_.way->load_inside(theta, length);
    const double force = compliant_force(r);
    if (force > peak) {
      peak = force;
      place = theta;
    }
    return force;
  };
  const auto rule = [&](double a, double b) {
    double sum = 0;
    for (int g = 0; g < kPoints; ++g) sum += kWeight[g] * force_at(a + kNode[g] * (b - a));
    return sum * (b - a) * length;
  };
  const double middle = 0.5 * (from + to);
  const double whole = rule(from, to);
  const double impulse = rule(from, middle) + rule(middle, to);
  // What is small beside what the contact has borne already does not change it.
  const double enough = now_.options.tolerance * std::max(std::abs(impulse), now_.recorder.loads.impulse(r));
  if (halvings < kMostHalvings && !(std::abs(whole - impulse) <= enough)) {
    add_pressing(r, from, middle, length, halvings + 1);
    add_pressing(r, middle, to, length, halvings + 1);
    return;
  }
  static_cast<void>(force_at(from));
  static_cast<void>(force_at(to));
  if (peak > now_.recorder.loads.peak(r)) {
    // Values are all that is at hand: golden section around the largest.
    constexpr double kGolden = 0.6180339887498949;
    double low = std::max(from, place - 0.25 * (to - from));
    double high = std::min(to, place + 0.25 * (to - from));
    for (int round = 0; round < kRounds; ++round) {
      const double left = high - kGolden * (high - low);
      const double right = low + kGolden * (high - low);
      if (force_at(left) > force_at(right))
        high = right;
      else
        low = left;
    }
  }
  now_.recorder.loads.add(r, impulse, peak);
}

/// The phases of this contact in the part from θ = `from` to `to` of the step of this length that begins at t_.
void Pressing::follow_pressing(int r, double from, double to, double length) {
  constexpr std::size_t kLooks = 6;
  static constexpr std::array<double, kLooks> kShare{0, 0.125, 0.375, 0.625, 0.875, 1};
  std::array<double, kLooks> at{};
  std::array<bool, kLooks> below{};
  const auto negative = [&](double theta) {
    now_.way->load_inside(theta, length);
    return compliant_gap(r) < 0;
  };
  for (std::size_t k = 0; k < kLooks; ++k) {
    at[k] = from + kShare[k] * (to - from);
    below[k] = negative(at[k]);
  }
  bool pressed = now_.recorder.loads.is_open(r);
  double begin = from;
  const auto change = [&](double theta) {
    if (pressed) {
      if (theta > begin) add_pressing(r, begin, theta, length, 0);
      now_.recorder.close(r, now_.t + theta * length);
    } else {
      now_.recorder.loads.press(r, now_.t + theta * length);
    }
    begin = theta;
    pressed = !pressed;
  };
  const auto zero_between = [&](std::size_t k) {
    double low = at[k];
    double high = at[k + 1];
    for (int i = 0; i < kBisections && low < high; ++i) {
      const double middle = 0.5 * (low + high);
      (negative(middle) == below[k] ? low : high) = middle;
    }
    return high;
  };
  // On the surface itself, where steps end, the side is rounding: what comes behind it decides.
  if (pressed != below[1]) change(below[0] != below[1] ? zero_between(0) : from);
  for (std::size_t k = 1; k + 1 < kLooks; ++k) {
    if (below[k] != below[k + 1]) change(zero_between(k));
  }
  if (pressed && to > begin) add_pressing(r, begin, to, length, 0);
}

void Pressing::note_pressing(double length) {
  if (compliant_.empty() || !(length > 0)) return;
  const long counted = now_.motion.evaluations;  // what is looked at is no part of the motion
  if (trial_.prepare_dense()) {
    for (const int r : compliant_) follow_pressing(r, 0, 1, length);
  }
  now_.motion.evaluations = counted;
}

/// At rest up to t_, for the time h.
void Pressing::note_pressing_at_rest(double h) {
  for (const int r : compliant_) {
    now_.motion.load(now_.t - h, now_.y.data());
    const bool pressed = compliant_gap(r) < 0;
    if (!pressed) now_.recorder.close(r, now_.t - h);
    const double before = compliant_force(r);
    now_.load();
    if (!pressed) continue;
    const double force = compliant_force(r);
    now_.recorder.loads.press(r, now_.t - h);
    now_.recorder.loads.add(r, 0.5 * h * (before + force), std::max(before, force));
  }
}

}  // namespace judder::engines
