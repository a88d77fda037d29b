// Event times with 113 bits: a run of a piecewise linear model repeated from its equations, written down by hand for each mode.
//
// The list of events of a run tells which event ends each phase; its time is found anew as the zero of that event's own function along the motion
// in 113 bits (Taylor's series on the state, Newton on the time). All functions of the mode are watched on the way, so a run that overlooked an
// event does not pass. Parameters and start values are arguments, and the state at every event can be moved: changes by a relative 1e-18 give the
// condition number of every time,
//
//     κ = Σ_p |∂t/∂p| |p|/t  +  the largest effect of random changes of all states at once ,
//
// the latter since whoever keeps states between events rounds them there.
//
// Only sums, products and quotients are used.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "judder/engines/event.hpp"

namespace judder {

__extension__ using Quad = __float128;
using QuadVector = std::vector<Quad>;

inline Quad size_of(Quad x) { return x < 0 ? -x : x; }

inline Quad dot(const QuadVector& a, const QuadVector& b) {
  Quad sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// One model, in one of its modes, with its state x: dx/dt = A x.
class QuadModel {
 public:
  virtual ~QuadModel() = default;
  QuadVector x;              ///< state, with the states of the loads behind
  std::size_t physical = 0;  ///< leading entries of x that are coordinates and velocities
  Quad time = 0;

  [[nodiscard]] std::size_t n() const { return x.size(); }
  /// A of the present mode, row-major.
  [[nodiscard]] virtual QuadVector matrix() const = 0;
  /// The function whose zero the event is; empty: the event has a time of its own.
  [[nodiscard]] virtual QuadVector function(const engines::Event& event) const = 0;
  [[nodiscard]] virtual Quad instant(const engines::Event&) const { return 0; }
  /// Everything that would end the present mode, positive in it.
  [[nodiscard]] virtual std::vector<QuadVector> guards() const = 0;
  /// The state and mode after the event.
  virtual void apply(const engines::Event& event) = 0;

  [[nodiscard]] QuadVector unit(std::size_t i, Quad value = 1) const {
    QuadVector row(n(), 0);
    row[i] = value;
    return row;
  }
};

/// x(τ) by series, in steps within which nothing grows by much.
inline QuadVector quad_advance(const QuadVector& a, QuadVector x, Quad tau) {
  const std::size_t n = x.size();
  Quad norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Quad sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += size_of(a[i * n + j]);
    norm = sum > norm ? sum : norm;
  }
  const int steps = 1 + static_cast<int>(static_cast<double>(norm * size_of(tau)) / 2);
  const Quad h = tau / steps;
  for (int s = 0; s < steps; ++s) {
    QuadVector term = x, next(n);
    for (int k = 1; k < 60; ++k) {
      Quad largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        Quad sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          if (a[i * n + j] != 0) sum += a[i * n + j] * term[j];
        }
        next[i] = sum * h / k;
        x[i] += next[i];
        largest = size_of(next[i]) > largest ? size_of(next[i]) : largest;
      }
      term = next;
      if (largest < static_cast<Quad>(1e-45)) break;
    }
  }
  return x;
}

inline QuadVector quad_rate(const QuadVector& a, const QuadVector& x) {
  const std::size_t n = x.size();
  QuadVector out(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) out[i] += a[i * n + j] * x[j];
  }
  return out;
}

struct QuadTimes {
  std::vector<Quad> times;  ///< one per event
  std::string overlooked;   ///< a function that changed its sign before the event that was listed
};

/// The times of `events`; `model` is at the start. With `watch` all functions are followed on the way; with `random` the state is changed by ± a
/// relative 1e-18 after every event.
inline QuadTimes quad_replay(QuadModel& model, const std::vector<engines::Event>& events, bool watch,
                             std::mt19937* random = nullptr) {
  QuadTimes out;
  double last = -1;
  for (const engines::Event& event : events) {
    if (event.time == last) {  // the same instant: a consequence
      model.apply(event);
      out.times.push_back(model.time);
      continue;
    }
    last = event.time;
    const QuadVector a = model.matrix();
    const QuadVector f = model.function(event);
    Quad end = f.empty() ? model.instant(event) : static_cast<Quad>(event.time);
    if (!f.empty()) {
      for (int round = 0; round < 5; ++round) {
        const QuadVector x = quad_advance(a, model.x, end - model.time);
        const Quad step = dot(f, x) / dot(f, quad_rate(a, x));
        end -= step;
        if (size_of(step) < static_cast<Quad>(1e-17) * size_of(end))
          break;  // the next step would be its square
      }
    }
    if (watch) {
      constexpr int kPoints = 24;
      const std::vector<QuadVector> guards = model.guards();
      QuadVector x = model.x;
      const Quad step = (end - model.time) / kPoints;
      for (int k = 1; k < kPoints; ++k) {
        x = quad_advance(a, x, step);
        for (std::size_t g = 0; g < guards.size(); ++g) {
          if (dot(guards[g], x) < static_cast<Quad>(-1e-24))
            out.overlooked +=
                "function " + std::to_string(g) + " before the event at " + std::to_string(event.time) + "\n";
        }
      }
    }
    model.x = quad_advance(a, model.x, end - model.time);
    model.time = end;
    model.apply(event);
    out.times.push_back(end);
    if (random == nullptr) continue;
    for (std::size_t i = 0; i < model.physical; ++i) {
      const Quad change = model.x[i] * static_cast<Quad>(1e-9) * static_cast<Quad>(1e-9);
      model.x[i] += (*random)() % 2U == 0 ? change : -change;
    }
  }
  return out;
}

}  // namespace judder
