#include "judder/analysis/non_uniqueness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "core/elementary.hpp"

namespace judder::analysis {
namespace {

constexpr double kNormal = 0.007029858406609669;  ///< ∫ exp(1/(s(s − 1))) over (0, 1)
constexpr int kPanels = 24;

// Gauss-Legendre with eight points.
constexpr std::array<double, 4> kPlaces{0.18343464249564981, 0.52553240991632899, 0.79666647741362674,
                                        0.96028985649753623};
constexpr std::array<double, 4> kWeights{0.36268378337836199, 0.31370664587788729, 0.22238103445337447,
                                         0.10122853629037626};

template <class Function>
double integral(double from, double to, const Function& f) {
  double sum = 0;
  for (int panel = 0; panel < kPanels; ++panel) {
    const double a = from + (to - from) * panel / kPanels, b = from + (to - from) * (panel + 1) / kPanels;
    const double half = 0.5 * (b - a), middle = 0.5 * (a + b);
    for (std::size_t k = 0; k < kPlaces.size(); ++k)
      sum += half * kWeights[k] * (f(middle - half * kPlaces[k]) + f(middle + half * kPlaces[k]));
  }
  return sum;
}

/// ∫₀¹ f(s) ϱ(s) ds
template <class Function>
double bump_mean(const Function& f) {
  return integral(0, 1, [&](double s) { return f(s) * bump(s); });
}

/// The smallest positive root of a function with f(0) < 0 in steps of `step`; 0: none up to `limit`.
template <class Function>
double first_root(double step, double limit, const Function& f) {
  double low = 0, high = step;
  while (f(high) < 0) {
    low = high;
    high += step;
    if (high > limit) return 0;
  }
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

using Member = CounterExample::Member;

Member elastic_member(int n) {
  const auto a = [](double k) { return 8.0 / 3 / (k + 1) - 11.0 / 6 / (k + 2) + 1.0 / 6 / (k + 3); };
  Member out;
  out.n = n;
  out.begin = a(n + 1);
  out.end = a(n);
  const double k = n;
  // (n + 5)²/((n+1)(n+2)(n+3)(n+4)) without the cancellation of a_n − a_{n+1}.
  const double length = (k + 5) * (k + 5) / ((k + 1) * (k + 2) * (k + 3) * (k + 4));
  const double quiet = (k + 3) / (k + 5) * length;
  out.second_begin = out.begin + quiet;
  out.second_length = 2.0 / (k + 5) * length;
  double factorial = 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  out.second_load = 0.5 / factorial;
  out.speed = 1 / (factorial * (k + 1) * (k + 2) * (k + 3));
  return out;
}

double fourth(double k) { return k * k * k * k; }

/// U_n
double deflection(int n) { return std::ldexp(1.0, -n) / fourth(n); }

Member plain_member(int n) {
  const double k = n, cube = k * k * k, share = 4 * cube / fourth(k + 1);
  Member out;
  out.n = n;
  out.begin = 1 / (k + 1);
  out.end = 1 / k;
  out.first_begin = out.begin;
  out.first_load = std::ldexp(cube, -n);
  // 1 − √(1 − x) = x/(1 + √(1 − x))
  out.first_length = share / (1 + std::sqrt(1 - share)) / (2 * cube);
  out.second_length =
      (2 * k * k / (k + 1) * out.first_length - cube * out.first_length * out.first_length - 2 / fourth(k)) /
      (1 + cube * out.first_length);
  out.speed = std::ldexp(1.0, -n);
  out.position = -deflection(n);
  if (!(out.second_length > 0)) return out;
  out.second_load = (out.first_load * out.first_length + out.speed) / out.second_length;
  out.second_begin = out.end - out.second_length;
  return out;
}

Member spring_member(int n) {
  Member out = plain_member(n);
  const double u = deflection(n), v = out.speed, u_before = deflection(n + 1), v_before = v / 2;
  const double load = out.first_load, gap = 1.0 / (static_cast<double>(n) * (n + 1));
  out.first_length = first_root(out.first_length / 16, gap / 2, [&](double x) {
    return -u_before * elementary::cos(x) + v_before * elementary::sin(x) -
           load * x * bump_mean([&](double s) { return elementary::sin(x * (1 - s)); });
  });
  const double d = out.first_length;
  const double sine = bump_mean([&](double s) { return elementary::sin(gap - d * s); });
  const double cosine = bump_mean([&](double s) { return elementary::cos(gap - d * s); });
  const auto rest = [&](double x) {
    return (u - load * d * sine) * bump_mean([&](double s) { return elementary::cos(x * (1 - s)); }) +
           (v + load * d * cosine) * bump_mean([&](double s) { return elementary::sin(x * (1 - s)); });
  };
  out.second_length = first_root(std::abs(out.second_length) / 16, gap / 2, rest);
  if (!(d > 0 && out.second_length > 0)) return out;
  out.second_load = (v + load * d * cosine) / out.second_length /
                    bump_mean([&](double s) { return elementary::cos(out.second_length * (1 - s)); });
  out.second_begin = out.end - out.second_length;
  return out;
}

/// A free motion under bumps from a state, of Ü + ω² U = F, ω 0 or 1. Times are those since `origin` of the member, so that what is short keeps its digits.
struct Flight {
  double position = 0, speed = 0;  ///< at the beginning
  bool spring = false;
  struct Push {
    double begin = 0, length = 0, load = 0;
  };
  std::array<Push, 2> pushes;

  [[nodiscard]] double u(double tau) const {
    double out =
        spring ? elementary::cos(tau) * position + elementary::sin(tau) * speed : position + speed * tau;
    for (const Push& push : pushes) out += response(push, tau, false);
    return out;
  }
  [[nodiscard]] double v(double tau) const {
    double out = spring ? elementary::cos(tau) * speed - elementary::sin(tau) * position : speed;
    for (const Push& push : pushes) out += response(push, tau, true);
    return out;
  }
  [[nodiscard]] double force(double tau) const {
    double out = 0;
    for (const Push& push : pushes) {
      if (push.length > 0) out += push.load * bump((tau - push.begin) / push.length);
    }
    return out;
  }

 private:
  [[nodiscard]] double response(const Push& push, double tau, bool rate) const {
    if (!(push.length > 0) || tau <= push.begin) return 0;
    const double x = (tau - push.begin) / push.length, top = std::min(x, 1.0);
    if (!spring) {
      if (rate) return push.load * push.length * bump_integral(top);
      const double inside = bump_second_integral(top) + (x > 1 ? x - 1 : 0);
      return push.load * push.length * push.length * inside;
    }
    return push.load * push.length * integral(0, top, [&](double s) {
             const double angle = push.length * (x - s);
             return (rate ? elementary::cos(angle) : elementary::sin(angle)) * bump(s);
           });
  }
};

/// A piece of a motion in n components, of which the tangential ones rest.
CandidatePiece piece_of(double begin, double from, double to, const std::shared_ptr<const Flight>& load,
                        const std::shared_ptr<const Flight>& flight, std::size_t n) {
  CandidatePiece out;
  out.begin = begin + from;
  out.length = to - from;
  const auto normal = [n](double value, double* x) {
    std::fill_n(x, n, 0.0);
    x[0] = value;
  };
  out.load = [=](double tau, double* x) { normal(load->force(from + tau), x); };
  if (flight != nullptr) {
    out.position = [=](double tau, double* x) { normal(flight->u(from + tau), x); };
    out.velocity = [=](double tau, double* x) { normal(flight->v(from + tau), x); };
  } else {
    out.position = out.velocity = [=](double, double* x) { normal(0, x); };
    out.density = [=](double tau, double* x) { normal(-load->force(from + tau), x); };
  }
  for (const Flight::Push& push : load->pushes) {
    if (!(push.length > 0)) continue;
    for (int k = 0; k <= 8; ++k) {
      const double cut = push.begin + push.length * k / 8 - from;
      if (cut > 0 && cut < out.length) out.cuts.push_back(cut);
    }
  }
  std::sort(out.cuts.begin(), out.cuts.end());
  return out;
}

/// In an interval of the inelastic examples one motion arrives at the wall and stays, the other leaves it.
void add_interval(CounterExample& out, const Member& m, std::vector<CandidatePiece>& arrives,
                  std::vector<CandidatePiece>& leaves, std::size_t n) {
  const bool spring = out.kind == CounterExampleKind::spring;
  auto load = std::make_shared<Flight>();
  load->spring = spring;
  load->pushes = {Flight::Push{0, m.first_length, -m.first_load},
                  Flight::Push{m.second_begin - m.begin, m.second_length, m.second_load}};
  auto coming = std::make_shared<Flight>(*load);
  coming->position = -deflection(m.n + 1);
  coming->speed = std::ldexp(1.0, -m.n - 1);
  const double length = 1.0 / (static_cast<double>(m.n) * (m.n + 1));
  arrives.push_back(piece_of(m.begin, 0, m.first_length, load, coming, n));
  arrives.push_back(piece_of(m.begin, m.first_length, length, load, nullptr, n));
  arrives.back().impulse.assign(n, 0.0);
  arrives.back().impulse[0] = -coming->v(m.first_length);
  leaves.push_back(piece_of(m.begin, 0, length, load, load, n));
}

}  // namespace

double bump(double s) { return s > 0 && s < 1 ? elementary::exp(1 / (s * (s - 1))) / kNormal : 0; }

double bump_integral(double s) {
  if (s <= 0) return 0;
  if (s >= 1) return 1;
  return s <= 0.5 ? integral(0, s, bump) : 1 - integral(0, 1 - s, bump);
}

// By parts: ∫₀ˢ (s − σ) ϱ(σ) dσ.
double bump_second_integral(double s) {
  if (s <= 0) return 0;
  if (s >= 1) return s - 0.5;
  return integral(0, s, [s](double sigma) { return (s - sigma) * bump(sigma); });
}

CounterExample counter_example(CounterExampleKind kind, int first, int last, std::size_t dimension,
                               double friction) {
  constexpr int kFirstMember = 4;
  CounterExample out;
  out.kind = kind;
  const bool elastic = kind == CounterExampleKind::elastic, spring = kind == CounterExampleKind::spring;
  const std::size_t n = spring ? std::max<std::size_t>(dimension, 1) : 1;
  out.problem.dimension = n;
  out.problem.restitution = elastic ? 1 : 0;
  out.problem.friction = friction;
  if (spring) {
    out.problem.stiffness.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) out.problem.stiffness[i * n + i] = 1;
  }
  first = std::max(first, elastic ? 0 : kFirstMember);
  for (int number = last - 1; number >= first; --number) {
    const Member m = elastic ? elastic_member(number) : spring ? spring_member(number) : plain_member(number);
    out.members.push_back(m);
    if (!elastic) {
      // At 1/n with n even the first motion is on the wall: it arrives in the intervals that begin with odd n + 1.
      const bool first_arrives = number % 2 == 0;
      add_interval(out, m, first_arrives ? out.one : out.other, first_arrives ? out.other : out.one, n);
      continue;
    }
    auto load = std::make_shared<Flight>();
    load->pushes[0] = {m.second_begin - m.begin, m.second_length, m.second_load};
    auto flight = std::make_shared<Flight>(*load);
    flight->speed = -m.speed / (number + 4);
    const double length = m.second_begin - m.begin + m.second_length;
    out.one.push_back(piece_of(m.begin, 0, length, load, nullptr, n));
    out.other.push_back(piece_of(m.begin, 0, length, load, flight, n));
    if (out.members.size() > 1) out.other.back().impulse = {2 * flight->speed};
  }
  return out;
}

}  // namespace judder::analysis
