#include <algorithm>
#include <cmath>
#include <numeric>

#include "judder/analysis/periodic.hpp"
#include "judder/expr/through.hpp"

namespace judder::analysis {
namespace {

/// Smallest whole a ≤ limit with a·p/q whole to 1e-9 relative; 0: none. By the convergents of p/q.
long multiplier(double p, double q, long limit) {
  double x = p / q;
  long h0 = 0, h1 = 1, k0 = 1, k1 = 0;  // convergents h/k of p/q: k p = h q
  for (int i = 0; i < 40; ++i) {
    const double whole = std::floor(x);
    if (!(whole < 1e9)) return 0;
    const long a = static_cast<long>(whole);
    const long h = a * h1 + h0, k = a * k1 + k0;
    if (k > limit || h > 1000000000L) return 0;
    if (h > 0 && std::abs(static_cast<double>(k) * p - static_cast<double>(h) * q) <=
                     1e-9 * static_cast<double>(h) * q)
      return k;
    h0 = h1;
    h1 = h;
    k0 = k1;
    k1 = k;
    if (x - whole < 1e-12) return 0;
    x = 1 / (x - whole);
  }
  return 0;
}

/// The smallest common multiple of them, each up to a thousand times; 0: there is none.
double common_multiple(const std::vector<double>& periods) {
  double out = periods.front();
  for (const double other : periods) {
    const long times = multiplier(out, other, 1000);
    if (times == 0) return 0;
    out *= static_cast<double>(times);
  }
  return out;
}

/// Everything of the motion at the time, coordinates, velocities and states in `work`.
void values_of(const model::System& system, model::Workspace& work, std::vector<double>& out) {
  out.clear();
  system.sides_by_value(work.in, work);
  static_cast<void>(system.motion(work));
  out.insert(out.end(), work.force.begin(), work.force.end());
  out.insert(out.end(), work.rate.begin(), work.rate.end());
  if (!system.mass_constant()) {
    const std::vector<double> mass = system.full_mass(work);
    out.insert(out.end(), mass.begin(), mass.end());
  }
  for (int r = 0; r < system.layout().relations; ++r) {
    const model::RelationRows& rows = system.rows(work, r);
    const model::Relation& relation = system.relations()[static_cast<std::size_t>(r)];
    out.insert(out.end(), {rows.gap, rows.gap_rate, rows.base});
    out.insert(out.end(), rows.w.values().begin(), rows.w.values().end());
    for (int j = 0; j < relation.tangents; ++j)
      out.insert(out.end(), {rows.tangent[j].drive, rows.tangent[j].mu, rows.tangent[j].mu_static});
    double restitution = 0, tangential = 0;
    system.restitution(work, r, 1, restitution, tangential);
    out.insert(out.end(), {restitution, tangential});
  }
}

/// Whether all of it is the same where the input at `place` is larger by `shift`. `put(i)` sets the inputs of sample i.
template <class Put>
bool repeats(const model::System& system, model::Workspace& work, int place, double shift, const Put& put) {
  constexpr int kSamples = 64;
  constexpr double kSame = 1e-7;
  std::vector<double> now, later, apart, size;
  int seen = 0;
  for (int i = 0; i < kSamples; ++i) {
    put(i);
    values_of(system, work, now);
    work.in[static_cast<std::size_t>(place)] += shift;
    values_of(system, work, later);
    apart.resize(now.size());
    size.resize(now.size());
    bool whole = true;
    for (std::size_t k = 0; k < now.size(); ++k) whole = whole && std::isfinite(now[k]);
    if (!whole) continue;  // outside of what the formulas know
    ++seen;
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (!std::isfinite(later[k])) return false;
      apart[k] = std::max(apart[k], std::abs(now[k] - later[k]));
      size[k] = std::max({size[k], std::abs(now[k]), std::abs(later[k])});
    }
  }
  for (std::size_t k = 0; k < apart.size(); ++k) {
    if (apart[k] > kSame * size[k]) return false;
  }
  return seen > kSamples / 4;
}

/// Formulas of everything that moves the system.
std::vector<expr::Node> moving_formulas(const model::System& system) {
  const model::Symbols& symbols = system.symbols();
  std::vector<expr::Node> out(symbols.mass);
  const auto add = [&out](const std::vector<expr::Node>& nodes) {
    out.insert(out.end(), nodes.begin(), nodes.end());
  };
  add(symbols.force);
  add(symbols.rate);
  for (const model::Symbols::Row& row : symbols.normal) {
    if (row.w.empty()) continue;
    add({row.gap, row.gap_rate});
    add(row.w);
    add(row.push);
  }
  for (const model::Symbols::TangentRow& row : symbols.tangent) {
    add({row.slip, row.drive, row.mu, row.mu_static});
    add(row.w);
    add(row.drag);
  }
  add(symbols.base);
  for (const std::vector<expr::Node>& factors : symbols.factors) add(factors);
  return out;
}

/// A number in [0, 1) for sample i and component k, without a pattern that a formula could share.
double spread(int i, int k) {
  constexpr double kGolden = 0.6180339887498949, kOther = 0.7548776662466927;
  return std::fmod(kGolden * (i + 1) + kOther * (k + 1) * (i + 3), 1.0);
}

}  // namespace

std::optional<double> forcing_period(const model::System& system) {
  if (system.autonomous()) return 0.0;
  if (system.periods().empty()) return std::nullopt;
  const double period = common_multiple(system.periods());
  if (!(period > 0)) return std::nullopt;
  model::Workspace work(system);
  const double from = system.start()[0];
  const auto put = [&](int i) { work.in[0] = from + period * std::fmod(0.6180339887498949 * (i + 1), 1.0); };
  if (!repeats(system, work, 0, period, put)) return std::nullopt;
  return period;
}

std::vector<double> turns(const model::System& system) {
  const model::Layout& layout = system.layout();
  const auto n = static_cast<std::size_t>(layout.coordinates);
  std::vector<double> out(n, 0.0);
  constexpr std::size_t kMost = 64;  // every coordinate takes a walk through all formulas
  if (n > kMost) return out;
  const std::vector<expr::Node> formulas = moving_formulas(system);
  for (std::size_t i = 0; i < n; ++i) {
    if (system.cyclic()[i] || system.massless()[i]) continue;
    const std::vector<double> periods =
        expr::periods_through(system.graph(), formulas, system.symbols().q[i]);
    if (!periods.empty()) out[i] = common_multiple(periods);
  }
  if (std::all_of(out.begin(), out.end(), [](double turn) { return turn == 0; })) return out;
  model::Workspace work(system);
  const std::vector<double>& start = system.start();
  const std::vector<double> asked = out;
  const auto put = [&](int i) {
    std::copy(start.begin(), start.end(), work.in.begin());
    for (int k = 0; k < layout.integrated(); ++k) {
      const bool angle = k < layout.coordinates && asked[static_cast<std::size_t>(k)] > 0;
      double& value = work.in[static_cast<std::size_t>(layout.q() + k)];
      const double around = 2 * spread(i, k) - 1;
      value += around * (angle                    ? asked[static_cast<std::size_t>(k)]
                         : k < layout.coordinates ? 0.1 * (1 + std::abs(value))
                                                  : 1 + std::abs(value));
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (out[i] == 0) continue;
    const int place = layout.q() + static_cast<int>(i);
    if (!repeats(system, work, place, out[i], put)) {
      out[i] = 0;
      continue;
    }
    // sin(x)^2 repeats after half of what its form says.
    for (const double part : {2.0, 3.0}) {
      while (repeats(system, work, place, out[i] / part, put)) out[i] /= part;
    }
  }
  return out;
}

}  // namespace judder::analysis
