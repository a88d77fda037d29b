#include "curved_path.hpp"

#include "core/elementary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include "path_laws.hpp"

namespace judder::contact {

namespace {

constexpr int kColumns = 8;
constexpr double kLocalError = 1e-12;  // of a step, relative to the scales of the impact
constexpr double kShortest = 1e-14;    // a step across a jump of μ, relative to the impulse
constexpr double kJustBeside = 1e-9;  // how far to each side of its jump μ is looked at, relative to the slip
constexpr double kLocked = 1e-10;     // a slope of γ_N below this part of A_NN is none
constexpr int kMostSteps = 200000;    // of one leg
constexpr int kMostLegs = 1000;       // a slip stops, turns, and does not stop again, but for rounding
constexpr double kTiny = 1e-9;        // steps that only a jump of μ, or the start of a steep law, asks for
constexpr int kMostForced = 8;        // tiny steps at one slip before the slip is taken to stay on a jump
constexpr double kMostImpulse = 1e6;  // of the scale; an impact that needs more has no end

struct Point {
  double P = 0, Q = 0, area = 0;
};

class CurvedPath {
 public:
  explicit CurvedPath(const PathProblem& problem) : p_(problem) {
    // Roots of products and not of single numbers: a change of units by a power of two keeps all bits.
    const double normal = std::abs(p_.normal_before), tangent = std::abs(p_.tangent_before);
    const double both = std::sqrt(p_.A_NN * p_.A_TT);
    P_scale_ = std::max(normal / p_.A_NN, tangent / both);
    Q_scale_ = std::max(normal / both, tangent / p_.A_TT);
    direction_ = p_.tangent_before > 0 ? 1 : p_.tangent_before < 0 ? -1 : 0;
    step_ = (normal > 0 ? 0.25 : 0.01) * P_scale_;
    if (direction_ == 0) come_to_rest();
  }

  [[nodiscard]] double normal() const { return normal(at_); }
  [[nodiscard]] double impulse() const { return at_.P; }
  [[nodiscard]] double normal_work() const { return normal_work(at_); }

  /// Until the goal's value has risen by what is missing; false if it never does.
  bool follow(PathGoal goal, double target, bool compression, PathResult& r) {
    goal_ = goal;
    target_ = target;
    for (int leg = 0; leg < kMostLegs; ++leg) {
      const double before = at_.P;
      const RowStatus followed = status();
      bool ended = false;
      const bool moved = straight_ ? follow_straight(ended) : follow_slip(ended);
      if (at_.P != before) note(followed, compression, r);
      if (!moved) return false;
      if (ended) return true;
    }
    return false;
  }

  /// Stuck where sticking also holds the normal (one degree of freedom): no further impulse changes anything.
  [[nodiscard]] bool locked() const {
    return straight_ && direction_ == 0 && p_.A_NN + p_.A_NT * tau_ <= kLocked * p_.A_NN;
  }

  void finish(PathResult& r) const {
    r.normal_impulse = at_.P;
    r.tangential_impulse = at_.Q;
    r.normal_after = normal(at_);
    r.tangent_after = direction_ == 0 ? 0 : tangent(at_);
    r.normal_work = normal_work(at_);
    r.area = at_.area;
    r.tangential_work =
        p_.tangent_before * at_.Q + 0.5 * p_.A_TT * at_.Q * at_.Q + p_.A_TN * (at_.P * at_.Q - at_.area);
    r.energy_change = r.normal_work + r.tangential_work;
    r.slip = status();
  }

 private:
  [[nodiscard]] double normal(const Point& x) const {
    return p_.normal_before + p_.A_NN * x.P + p_.A_NT * x.Q;
  }
  [[nodiscard]] double tangent(const Point& x) const {
    return p_.tangent_before + p_.A_TN * x.P + p_.A_TT * x.Q;
  }
  [[nodiscard]] double normal_work(const Point& x) const {
    return p_.normal_before * x.P + 0.5 * p_.A_NN * x.P * x.P + p_.A_NT * x.area;
  }
  [[nodiscard]] double value(const Point& x) const {
    switch (goal_) {
      case PathGoal::normal_velocity:
        return normal(x) - target_;
      case PathGoal::impulse:
        return x.P - target_;
      case PathGoal::work:
        break;
    }
    return normal_work(x) - target_;
  }

  [[nodiscard]] RowStatus status() const {
    return direction_ > 0 ? RowStatus::slip_plus : direction_ < 0 ? RowStatus::slip_minus : RowStatus::stick;
  }

  [[nodiscard]] double mu(double P, double Q, double speed) const {
    return std::max(0.0, p_.friction->coefficient(std::max(speed, 0.0), direction_, P, Q));
  }

  // dγ_T/dP in the present direction; beyond the stop of the slip as at the stop.
  [[nodiscard]] double rate(double P, double slip) const {
    const double Q = (slip - p_.tangent_before - p_.A_TN * P) / p_.A_TT;
    return p_.A_TN - p_.A_TT * direction_ * mu(P, Q, direction_ * slip);
  }

  // The slip is zero: it stays so if the static coefficient allows it, otherwise it goes where it is pushed to.
  void come_to_rest() {
    const double pushed = p_.A_TN > 0 ? 1 : p_.A_TN < 0 ? -1 : 0;
    const double needed = std::abs(p_.A_TN) / p_.A_TT;
    direction_ = static_cast<int>(pushed);
    double holds = std::isnan(p_.mu_static) ? 0 : p_.mu_static;
    if (pushed != 0) holds = std::max(holds, mu(at_.P, at_.Q, 0));
    if (needed <= holds) hold();
  }

  void hold() {
    straight_ = true;
    direction_ = 0;
    tau_ = -p_.A_TN / p_.A_TT;
  }

  // One extrapolated step from `at_`; returns its error relative to what is allowed. The unknown is the slip: where it is steady any step is.
  double step(double h, Point& to) const {
    std::array<double, kColumns> slips{}, areas{};
    const double start = tangent(at_);
    // μ that rises with the slip makes the slip decay, perhaps fast; the step takes that implicitly.
    const double beside = direction_ * 1e-7 * std::max(std::abs(start), 1e-6 * p_.A_TT * Q_scale_);
    const auto slope = [&](double d) { return (rate(at_.P, start + d) - rate(at_.P, start)) / d; };
    // Across a jump the two differ; then the step is explicit.
    const double far = slope(beside), near = slope(beside / 8);
    const double decay = std::abs(far - near) <= 0.5 * std::abs(far) ? std::min(0.0, far) : 0;
    double error = 0;
    for (int column = 0; column < kColumns; ++column) {
      const int count = column + 1;
      const double part = h / count;
      double change = 0, sum = 0;
      for (int i = 0; i < count; ++i) {
        change += part * rate(at_.P + i * part, start + change) / (1 - part * decay);
        sum += part * (change - p_.A_TN * (i + 1) * part) / p_.A_TT;
      }
      // Aitken and Neville in h; entry k is the present row's.
      for (auto [table, found, scale] : {std::tuple{slips.data(), change, Q_scale_ * p_.A_TT},
                                         std::tuple{areas.data(), sum, Q_scale_ * P_scale_}}) {
        double correction = 0;
        for (int back = 0; back < column; ++back) {
          const double ratio = static_cast<double>(count) / (column - back);
          correction = (found - table[back]) / (ratio - 1);
          table[back] = found;
          found += correction;
        }
        table[column] = found;
        if (column == kColumns - 1) error = std::max(error, std::abs(correction) / (kLocalError * scale));
      }
    }
    to.P = at_.P + h;
    to.Q = at_.Q + (slips[kColumns - 1] - p_.A_TN * h) / p_.A_TT;
    to.area = at_.area + at_.Q * h + areas[kColumns - 1];
    return error;
  }

  // A jump or a bend of μ that lies between two samples of all columns leaves no trace in their differences: extrapolation takes it to the
  // next sample. Simpson's rule over the step and over its halves tells: on a smooth path its error falls by 32, across a jump by 2 at most.
  bool smooth(double h, const Point& to) const {
    std::array<double, 5> slip{}, speed{};
    slip[0] = tangent(at_);
    speed[0] = rate(at_.P, slip[0]);
    for (int i = 1; i <= 4; ++i) {
      Point there = to;
      if (i < 4 && !(step(0.25 * i * h, there) <= 1)) return false;  // shorter, and yet worse
      slip[i] = tangent(there);
      speed[i] = rate(there.P, slip[i]);
    }
    const auto miss = [&](int from, int by) {
      return std::abs(by * h / 12 * (speed[from] + 4 * speed[from + by] + speed[from + 2 * by]) -
                      (slip[from + 2 * by] - slip[from]));
    };
    const double whole = miss(0, 2);
    return whole <= 10 * kLocalError * Q_scale_ * p_.A_TT || std::max(miss(0, 1), miss(2, 1)) <= whole / 8;
  }

  // The length of the step at which `rising`, below zero at its start, comes to zero.
  template <class Rising>
  double locate(double h, const Rising& rising, Point& to) const {
    double low = 0, high = h;
    double at_low = rising(at_), at_high = rising(to);
    int side = 0;
    for (int i = 0; i < 100 && high - low > 2e-16 * (at_.P + high); ++i) {
      double x = at_high > at_low ? low - at_low * (high - low) / (at_high - at_low) : 0.5 * (low + high);
      if (!(x > low && x < high)) x = 0.5 * (low + high);
      if (!(x > low && x < high)) break;
      (void)step(x, to);
      const double found = rising(to);
      if (found == 0) return x;
      if (found < 0) {
        low = x;
        at_low = found;
        if (side < 0) at_high *= 0.5;
        side = -1;
      } else {
        high = x;
        at_high = found;
        if (side > 0) at_low *= 0.5;
        side = 1;
      }
    }
    (void)step(high, to);
    return high;
  }

  // Both sides push the slip to a jump of μ: there it stays, with a coefficient in between.
  bool stays_on_jump() {
    const double speed = std::abs(tangent(at_));
    const double needed = direction_ * p_.A_TN / p_.A_TT;
    if (!(mu(at_.P, at_.Q, speed * (1 - kJustBeside)) <= needed) ||
        !(mu(at_.P, at_.Q, speed * (1 + kJustBeside)) >= needed))
      return false;
    double low = speed * (1 - kJustBeside), high = speed * (1 + kJustBeside);
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      if (!(middle > low && middle < high)) break;
      (mu(at_.P, at_.Q, middle) <= needed ? low : high) = middle;
    }
    at_.Q += (direction_ * low - tangent(at_)) / p_.A_TT;
    straight_ = true;
    tau_ = -p_.A_TN / p_.A_TT;
    return true;
  }

  bool follow_slip(bool& ended) {
    int forced = 0;  // tiny steps at one slip
    double forced_slip = 0;
    for (int i = 0; i < kMostSteps; ++i) {
      double h = step_;
      const bool last = goal_ == PathGoal::impulse && h >= target_ - at_.P;
      if (last) h = target_ - at_.P;
      Point to;
      const double error = step(h, to);
      const bool shortest = h <= kShortest * std::max(at_.P, P_scale_);
      if (!(error <= 1) && !shortest) {
        const double factor =
            std::isfinite(error) ? 0.8 * elementary::rough_pow(error, -1.0 / kColumns) : 0.1;
        step_ = std::max(h * std::clamp(factor, 0.05, 0.9), kShortest * std::max(at_.P, P_scale_));
        continue;
      }
      if (!shortest && !smooth(h, to)) {
        step_ = std::max(0.25 * h, kShortest * std::max(at_.P, P_scale_));
        continue;
      }
      if (h <= kTiny * std::max(at_.P, P_scale_)) {
        const double slip = tangent(at_);
        forced = std::abs(slip - forced_slip) <= kJustBeside * std::abs(slip) ? forced + 1 : 1;
        forced_slip = slip;
        if (forced > kMostForced && stays_on_jump()) return true;
      }
      const auto stop = [this](const Point& x) { return -direction_ * tangent(x); };
      const bool stops = stop(to) >= 0;
      const bool ends = last || (value(to) >= 0 && value(at_) < 0);
      double length = h;
      if (ends && !last)
        length = locate(
            h, [this](const Point& x) { return value(x); }, to);
      ended = ends;
      if (stops) {
        Point stopped;
        (void)step(h, stopped);
        const double until = locate(h, stop, stopped);
        if (until < length || (until == length && !ends)) {
          const double left = tangent(stopped);
          to = stopped;
          to.Q -= left / p_.A_TT;
          ended = false;
          at_ = to;
          const int came = direction_;
          come_to_rest();
          // A slip that its own start has brought back has not started.
          if (direction_ == came && until == 0) hold();
          return true;
        }
      }
      at_ = to;
      if (ended) {
        if (goal_ == PathGoal::impulse) at_.P = target_;
        return true;
      }
      if (at_.P > kMostImpulse * P_scale_) return false;
      const double factor = 0.8 * elementary::rough_pow(std::max(error, 1e-8), -1.0 / kColumns);
      step_ = h * std::clamp(factor, 0.2, 5.0);
    }
    return false;
  }

  // Stuck, or on a jump of μ: everything is linear in P.
  bool follow_straight(bool& ended) {
    const double k = p_.A_NN + p_.A_NT * tau_;
    const double gamma = normal(at_);
    double length = 0;
    switch (goal_) {
      case PathGoal::normal_velocity:
        if (locked()) {
          ended = target_ > 0 || gamma >= -kLocked * std::abs(p_.normal_before);
          return ended;
        }
        if (!(k > 0)) return false;
        length = (target_ - gamma) / k;
        break;
      case PathGoal::impulse:
        if (!locked()) length = target_ - at_.P;
        break;
      case PathGoal::work: {
        if (locked()) break;
        if (!(k > 0)) return false;
        const double work = target_ - normal_work(at_);
        length = 2 * work / (gamma + std::sqrt(gamma * gamma + 2 * k * work));
        break;
      }
    }
    length = std::max(length, 0.0);
    at_.area += (at_.Q + 0.5 * tau_ * length) * length;
    at_.P += length;
    at_.Q += tau_ * length;
    ended = true;
    return true;
  }

  void note(RowStatus followed, bool compression, PathResult& r) const {
    const bool same = r.pieces > 0 && r.piece[r.pieces - 1].status == followed &&
                      r.piece[r.pieces - 1].compression == compression;
    if (!same && r.pieces < static_cast<int>(r.piece.size())) ++r.pieces;
    r.piece[r.pieces - 1] = {followed,   at_.P, at_.Q, normal(at_), direction_ == 0 ? 0 : tangent(at_),
                             compression};
  }

  const PathProblem& p_;
  Point at_;
  double P_scale_ = 0, Q_scale_ = 0;
  double step_ = 0;
  int direction_ = 0;  // of the slip; 0: stuck
  bool straight_ = false;
  double tau_ = 0;
  PathGoal goal_ = PathGoal::normal_velocity;
  double target_ = 0;
};

}  // namespace

PathResult follow_curved_path(const PathProblem& problem, ImpactType type, double restitution) {
  CurvedPath path(problem);
  PathResult r;
  bool found = path.follow(PathGoal::normal_velocity, 0, true, r);
  r.compression_impulse = path.impulse();
  if (found && restitution > 0 && !path.locked()) {
    const PathEnd end =
        end_of_path(type, restitution, {problem.normal_before, path.impulse(), path.normal_work()});
    found = path.follow(end.goal, end.total, false, r);
  }
  if (found) {
    path.finish(r);
    if (restitution == 0) r.normal_after = 0;
    return r;
  }
  r = {};
  r.normal_after = problem.normal_before;
  r.tangent_after = problem.tangent_before;
  r.status = ImpactStatus::no_solution;
  return r;
}

}  // namespace judder::contact
