#include "judder/analysis/klarbring.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/elementary.hpp"

namespace judder::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-9;  ///< relative: values this close are equal

/// A flight about the detached rest: U = Σ_j (a_j cos α_j t + b_j sin α_j t) (1, φ_j).
struct Flight {
  double alpha[2], phi[2], a[2], b[2];

  Flight(const KlarbringNumbers& k, double y, double vy) {
    // From the wall, U_N = U_N′ = 0.
    const double root = std::sqrt((k.KN - k.KT) * (k.KN - k.KT) + 4 * k.W * k.W);
    for (int j = 0; j < 2; ++j) {
      const double sign = j == 0 ? 1 : -1;
      alpha[j] = std::sqrt((k.KN + k.KT + sign * root) / (2 * k.m));
      phi[j] = (k.KT - k.KN + sign * root) / (2 * k.W);
    }
    const double apart = phi[0] - phi[1];
    a[0] = y / apart;
    a[1] = -y / apart;
    b[0] = vy / (alpha[0] * apart);
    b[1] = -vy / (alpha[1] * apart);
  }
  void at(double t, double& x, double& y, double& vx, double& vy) const {
    x = y = vx = vy = 0;
    for (int j = 0; j < 2; ++j) {
      const double c = elementary::cos(alpha[j] * t), s = elementary::sin(alpha[j] * t);
      const double u = a[j] * c + b[j] * s, v = alpha[j] * (b[j] * c - a[j] * s);
      x += u;
      y += u * phi[j];
      vx += v;
      vy += v * phi[j];
    }
  }
  /// The first return to the wall.
  [[nodiscard]] double landing() const {
    double x = 0, y = 0, vx = 0, vy = 0, before = 0;
    const double step = 3.141592653589793 / alpha[0] / 64;
    bool away = false;
    for (int i = 1; i < 1000000; ++i) {
      at(i * step, x, y, vx, vy);
      if (!(x < 0)) {
        if (away) {
          double low = before, high = i * step;
          for (int n = 0; n < 100; ++n) {
            const double middle = (low + high) / 2;
            at(middle, x, y, vx, vy);
            (x < 0 ? low : high) = middle;
          }
          return high;
        }
        continue;
      }
      away = true;
      before = i * step;
    }
    return kInfinity;
  }
};

}  // namespace

std::optional<KlarbringNumbers> klarbring_numbers(const RestProblem& rest) {
  if (rest.n != 2 || rest.m != 0 || rest.relations.size() != 1) return std::nullopt;
  const RestProblem::Relation& contact = rest.relations[0];
  if (!contact.unilateral || contact.tangents.empty() || contact.push != contact.w) return std::nullopt;
  const RestProblem::Tangent& tangent = contact.tangents[0];
  if (tangent.drive != 0 || tangent.viscous != 0 || tangent.mu != tangent.mu_slip ||
      tangent.drag != tangent.w || contact.base != 0 || contact.factors != std::vector<double>{1} ||
      contact.feeds != std::vector<int>{0})
    return std::nullopt;
  if (std::any_of(rest.damping.begin(), rest.damping.end(), [](double c) { return c != 0; }))
    return std::nullopt;
  if (std::any_of(contact.base_slope.begin(), contact.base_slope.end(), [](double c) { return c != 0; }))
    return std::nullopt;
  // u = S q − (gap, 0):  U_N = −g, U_T along the slip;  q = B u + q0
  const double a = -contact.w[0], b = -contact.w[1], c = tangent.w[0], d = tangent.w[1];
  const double det = a * d - b * c;
  if (det == 0) return std::nullopt;
  const double B[4] = {d / det, -b / det, -c / det, a / det};
  const double q0[2] = {B[0] * contact.gap, B[2] * contact.gap};
  const auto turned = [&](const std::vector<double>& A, double* out) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        out[2 * i + j] = 0;
        for (int k = 0; k < 2; ++k) {
          for (int l = 0; l < 2; ++l)
            out[2 * i + j] += B[2 * k + i] * A[static_cast<std::size_t>(2 * k + l)] * B[2 * l + j];
        }
      }
    }
  };
  double M[4], K[4], F[2];
  turned(rest.mass, M);
  turned(rest.stiffness, K);
  for (int i = 0; i < 2; ++i) {
    F[i] = 0;
    for (int k = 0; k < 2; ++k) {
      double force = rest.load[static_cast<std::size_t>(k)];
      for (int l = 0; l < 2; ++l) force -= rest.stiffness[static_cast<std::size_t>(2 * k + l)] * q0[l];
      F[i] += B[2 * k + i] * force;
    }
  }
  const double same = kTie * M[0];
  if (std::abs(M[1]) > same || std::abs(M[0] - M[3]) > same) return std::nullopt;
  if (std::abs(K[1] - K[2]) > kTie * (std::abs(K[0]) + std::abs(K[3])) || !(K[3] > 0) ||
      !(K[0] * K[3] - K[1] * K[1] > 0))
    return std::nullopt;
  KlarbringNumbers out{M[0], K[0], K[1], K[3], F[0], F[1], tangent.mu, false};
  if (std::abs(out.W) <= kTie * std::sqrt(K[0] * K[3]))
    return std::nullopt;  // the theorems need the coupling
  if (out.W < 0) {
    out.W = -out.W;
    out.FT = -out.FT;
    out.mirrored = true;
  }
  return out;
}

StopBeforeTip stop_before_tip(const KlarbringNumbers& k, double normal) {
  StopBeforeTip out;
  const double A = k.A(), r = normal / k.W, soft = k.KT - k.mu * k.W, hard = k.KT + k.mu * k.W;
  const bool middle = std::abs(soft) <= kTie * k.KT;
  double square = 0;
  if (middle)
    square = 2 * A * r / (k.m * k.W);
  else if (soft < 0 && A < 0)
    square = r * (1 - kTie) > -A / (k.W * -soft)
                 ? -soft / k.m * (r + A / (k.W * -soft)) * (r + A / (k.W * -soft))
                 : 0;
  else
    square = soft > 0 ? soft / k.m * r * (2 * A / (k.W * soft) - r)
                      : -soft / k.m * r * (r + 2 * A / (k.W * -soft));
  out.forward = std::sqrt(std::max(square, 0.0));
  out.backward = kInfinity;
  if (!middle && soft > 0 && A > 0) {
    // The turning point of the negative swing must not lie farther than 2 c₊ from the tip.
    const double centre = A / (k.W * hard), reach = 2 * A / (k.W * soft) - centre, from = centre - r;
    const double room = reach * reach - from * from;
    out.backward = room > 0 ? std::sqrt(hard / k.m * room) : 0;
  }
  return out;
}

TypeChange type_change(const KlarbringNumbers& k) {
  return {k.KT / k.W, (k.mirrored ? -1 : 1) * k.KT * k.FN / k.W};
}

TipReturn tip_return(const KlarbringNumbers& k) {
  TipReturn out;
  const double soft = k.KT - k.mu * k.W, hard = k.KT + k.mu * k.W;
  const bool middle = std::abs(soft) <= kTie * k.KT;
  double y = 0, w = 1;  // from the tip, with speed one
  int hops = 0;
  for (int round = 0; round < 10000; ++round) {
    if (y > 0 || (y == 0 && w > 0)) {
      const bool from_rest = w == 0;
      const Flight flight(k, y, w);
      const double t = flight.landing();
      double x = 0, vx = 0, before = y;
      if (!std::isfinite(t)) return out;
      flight.at(t, x, y, vx, w);
      w = w > k.mu * vx ? w - k.mu * vx : w < -k.mu * vx ? w + k.mu * vx : 0;
      ++out.landings;
      out.farthest = std::max(out.farthest, std::abs(y));
      hops = from_rest && w == 0 && y > 0 ? hops + 1 : 0;
      if (hops == 3) {
        out.kind = TipReturn::Kind::hops;
        out.ratio = y / before;
        out.duration = t;
        out.landings -= hops;
        return out;
      }
      out.duration += t;
      continue;
    }
    if (w < 0) {
      const double rate = std::sqrt(hard / k.m), size = elementary::hypot(y, w / rate);
      out.duration += elementary::atan2(-w / rate, -y) / rate;
      y = -size;
      w = 0;
      out.farthest = std::max(out.farthest, size);
    }
    // At y < 0 with w ≥ 0: slip towards the tip, or rest.
    if (w == 0 && (middle || soft < 0)) return out;
    if (middle) {
      out.duration += -y / w;
    } else if (soft > 0) {
      const double rate = std::sqrt(soft / k.m);
      out.duration += elementary::atan2(-y * rate, w) / rate;
      w = elementary::hypot(w, rate * y);
    } else {
      const double rate = std::sqrt(-soft / k.m);
      if (w <= -rate * y) {
        out.duration += elementary::atanh(std::min(w / (-rate * y), 1 - 1e-16)) / rate;
        return out;
      }
      out.duration += elementary::atanh(-rate * y / w) / rate;
      w = std::sqrt(w * w - rate * rate * y * y);
    }
    out.kind = TipReturn::Kind::returns;
    out.ratio = w;
    return out;
  }
  return out;
}

}  // namespace judder::analysis
