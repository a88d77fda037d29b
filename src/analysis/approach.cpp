#include "judder/analysis/approach.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/dense/matrix.hpp"
#include "judder/analysis/ensemble.hpp"

namespace judder::analysis {
namespace {

using engines::Mode;
using engines::NormalStatus;
using engines::TangentStatus;
using Row = std::vector<double>;

constexpr double kSmall = 1e-5;       ///< of the reach of a component: how far it is moved to differentiate
constexpr double kConverged = 1e-12;  ///< of the reach: Newton's last step
constexpr double kSingular = 1e-7;    ///< of the largest row: the derivatives are by differences
constexpr double kAlong =
    1e-2;  ///< of the reach: how far a family of rests is followed to see that it is one
constexpr double kCertain = 1e-9;  ///< of the largest eigenvalue: a smaller real part decides nothing
constexpr std::size_t kMostUnknowns = 200;
constexpr std::size_t kDirections = 48;
constexpr double kShells[] = {1.0, 0.6, 0.25, 0.05};

dense::RealMatrix product(const dense::RealMatrix& a, const dense::RealMatrix& b, bool transposed = false) {
  dense::RealMatrix out(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t k = 0; k < a.n; ++k) {
      const double factor = transposed ? a.a[k * a.n + i] : a.a[i * a.n + k];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < a.n; ++j) out.a[i * a.n + j] += factor * b.a[k * a.n + j];
    }
  }
  return out;
}

/// P of Aᵀ P + P A = −I for a stable A. False: it has none in numbers.
bool lyapunov(const dense::RealMatrix& a, double c, dense::RealMatrix& p) {
  const std::size_t n = a.n;
  dense::RealMatrix minus = a, inverse(n);
  for (std::size_t i = 0; i < n; ++i) {
    minus(i, i) -= c;
    inverse(i, i) = 1;
  }
  if (!dense::solve(minus, inverse.a, n)) return false;
  dense::RealMatrix plus = a;
  for (std::size_t i = 0; i < n; ++i) plus(i, i) += c;
  dense::RealMatrix d = product(plus, inverse);
  p = product(inverse, inverse, true);
  for (double& x : p.a) x *= 2 * c;
  constexpr int kMost = 60;
  for (int k = 0; k < kMost; ++k) {
    const dense::RealMatrix more = product(d, product(p, d), true);
    double change = 0, size = 0;
    for (std::size_t i = 0; i < p.a.size(); ++i) {
      p.a[i] += more.a[i];
      change = std::max(change, std::abs(more.a[i]));
      size = std::max(size, std::abs(p.a[i]));
    }
    if (!std::isfinite(size)) return false;
    if (change <= 1e-14 * size) return true;
    d = product(d, d);
  }
  return false;
}

/// Orthonormal vectors x with a x = 0. What is left of a row beside others counts as zero below kSingular of the largest row.
std::vector<Row> null_vectors(const dense::RealMatrix& a) {
  std::vector<Row> rows;
  double largest = 0;
  for (std::size_t i = 0; i < a.n; ++i) {
    const auto from = a.a.begin() + static_cast<std::ptrdiff_t>(i * a.n);
    rows.emplace_back(from, from + static_cast<std::ptrdiff_t>(a.n));
    largest = std::max(largest, dense::norm(rows.back()));
  }
  return dense::orthogonal_to(dense::independent(std::move(rows), kSingular * largest), a.n);
}

/// Rests beside a rest: the null space of the derivative A, and the projector Π = along · onto on it with Π A = A Π = 0. It is there if zero is a simple
/// eigenvalue for each of them.
struct Family {
  std::vector<Row> along;
  std::vector<Row> onto;

  [[nodiscard]] bool find(const dense::RealMatrix& a) {
    const std::size_t n = a.n;
    along = null_vectors(a);
    onto.clear();
    if (along.empty()) return true;
    dense::RealMatrix turned(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) turned.a[i * n + j] = a.a[j * n + i];
    }
    const std::vector<Row> left = null_vectors(turned);
    const std::size_t k = along.size();
    if (left.size() != k) return false;
    dense::RealMatrix between(k);
    Row right(k * n);
    for (std::size_t r = 0; r < k; ++r) {
      std::copy(left[r].begin(), left[r].end(), right.begin() + static_cast<std::ptrdiff_t>(r * n));
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < n; ++i) between(r, c) += left[r][i] * along[c][i];
      }
    }
    if (!dense::solve(between, right, n)) return false;
    for (std::size_t r = 0; r < k; ++r) {
      const auto from = right.begin() + static_cast<std::ptrdiff_t>(r * n);
      onto.emplace_back(from, from + static_cast<std::ptrdiff_t>(n));
    }
    return true;
  }
  /// x − Π x.
  void take_out(Row& x) const {
    Row shares(along.size(), 0.0);
    for (std::size_t k = 0; k < along.size(); ++k) {
      for (std::size_t i = 0; i < x.size(); ++i) shares[k] += onto[k][i] * x[i];
    }
    for (std::size_t k = 0; k < along.size(); ++k) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= shares[k] * along[k][i];
    }
  }
  /// A − c Π.
  void shift(dense::RealMatrix& a, double c) const {
    for (std::size_t k = 0; k < along.size(); ++k) {
      for (std::size_t i = 0; i < a.n; ++i) {
        for (std::size_t j = 0; j < a.n; ++j) a(i, j) -= c * along[k][i] * onto[k][j];
      }
    }
  }
};

double largest_of(const std::vector<double>& numbers) {
  double out = 0;
  for (const double each : numbers) out = std::max(out, std::abs(each));
  return out;
}

}  // namespace

struct ApproachFinder::Parts {
  explicit Parts(const model::System& of) : system(of), layout(of.layout()), work(of) {}

  const model::System& system;
  const model::Layout& layout;
  model::Workspace work;
  const Mode* mode = nullptr;
  std::vector<std::size_t> used;    ///< components of y that are not left out
  std::vector<std::size_t> normal;  ///< relations whose normal row holds
  struct Tangential {
    std::size_t relation;
    int row;
    int direction;  ///< of the slip; 0: sticks
  };
  std::vector<Tangential> tangential;
  std::size_t sticking = 0;
  double alpha = 1;
  Row held_q;  ///< where what sticks is held
  bool freely = false;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(layout.integrated()); }
  [[nodiscard]] bool suits(const engines::Moment& now);
  void set_up(const engines::Moment& now, std::span<const double> reach);
  bool field(const Row& y, Row& rate, bool* holds);
  bool mode_holds(const Row& y, const Row& forces);
  bool jacobian(const Row& y, const Row& scale, dense::RealMatrix& a);
  bool newton(Row& y, const Row& scale, dense::RealMatrix& a, Family* family);
  bool step(Row& y, const Row& scale, dense::RealMatrix& a, Family* family, double& length);
  bool is_family(const Row& y, const Row& scale, const Family& family);
};

bool ApproachFinder::Parts::suits(const engines::Moment& now) {
  mode = &now.mode;
  if (!system.autonomous() || now.y.size() != size() || mode->normal.size() != system.relations().size())
    return false;
  for (const bool massless : system.massless()) {
    if (massless) return false;
  }
  for (std::size_t k = 0; k < mode->surface.size(); ++k) {
    if (mode->surface[k] != engines::AtSurface::away) return false;
  }
  normal.clear();
  tangential.clear();
  sticking = 0;
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    const model::Relation& relation = system.relations()[k];
    if (mode->normal[k] == NormalStatus::open) continue;
    if (relation.has_normal && !relation.holonomic) return false;
    if (relation.has_normal) normal.push_back(k);
    if (relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode->tangent[static_cast<std::size_t>(relation.first_tangent + j)];
      if (status == TangentStatus::free || status == TangentStatus::smooth) continue;
      if (status != TangentStatus::stick && relation.tangents > 1) return false;
      tangential.push_back({k, j, engines::direction(status)});
      if (status == TangentStatus::stick) ++sticking;
    }
  }
  return true;
}

void ApproachFinder::Parts::set_up(const engines::Moment& now, std::span<const double> reach) {
  const auto n = static_cast<std::size_t>(layout.coordinates);
  work.in = system.start();
  work.in.resize(static_cast<std::size_t>(layout.size()) + 1);
  work.in[0] = now.time;
  for (std::size_t k = 0; k < mode->side.size(); ++k)
    work.in[static_cast<std::size_t>(layout.side()) + k] = mode->side[k];
  for (std::size_t k = 0; k < system.relations().size(); ++k)
    work.in[static_cast<std::size_t>(layout.closed()) + k] = mode->normal[k] == NormalStatus::open ? 0 : 1;
  for (std::size_t j = 0; j < mode->tangent.size(); ++j)
    work.in[static_cast<std::size_t>(layout.direction()) + j] = engines::direction(mode->tangent[j]);
  used.clear();
  freely = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool position = i < n, state = i >= 2 * n;
    const bool drifts = (position && system.cyclic()[i]) || (state && system.cyclic()[i - n]);
    if (drifts)
      freely = true;
    else
      used.push_back(i);
  }
  alpha = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (reach[i] > 0) alpha = std::max(alpha, reach[n + i] / reach[i]);
  }
  if (!(alpha > 0) || !std::isfinite(alpha)) alpha = 1;
  held_q.assign(now.y.begin(), now.y.begin() + static_cast<std::ptrdiff_t>(n));
}

/// ẏ in the mode. `holds`: where not null, whether the mode is one that this state can be in.
bool ApproachFinder::Parts::field(const Row& y, Row& rate, bool* holds) {
  const auto n = static_cast<std::size_t>(layout.coordinates);
  std::copy(y.begin(), y.end(), work.in.begin() + layout.q());
  if (!system.motion(work)) return false;
  const std::size_t all = n + normal.size() + sticking;
  dense::RealMatrix a(all);
  // Twice: with what brings a state that is off the constraints back to them, and without it, for the reactions of a state on them.
  Row right(2 * all, 0.0);
  const Row mass = system.full_mass(work);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a(i, j) = mass[i * n + j];
    right[2 * i] = right[2 * i + 1] = work.force[i];
  }
  for (std::size_t c = 0; c < normal.size(); ++c) {
    const std::size_t at = n + c;
    const model::RelationRows& rows = system.rows(work, static_cast<int>(normal[c]));
    for (std::size_t e = 0; e < rows.w.values().size(); ++e)
      a(at, static_cast<std::size_t>(rows.w.places()[e])) += rows.w.values()[e];
    for (std::size_t e = 0; e < rows.push.values().size(); ++e)
      a(static_cast<std::size_t>(rows.push.places()[e]), at) -= rows.push.values()[e];
    right[2 * at] = -rows.zeta_n - 2 * alpha * rows.gap_rate - alpha * alpha * rows.gap;
    right[2 * at + 1] = -rows.zeta_n;
  }
  std::size_t stuck = n + normal.size();
  for (const Tangential& one : tangential) {
    const model::Relation& relation = system.relations()[one.relation];
    const model::RelationRows& rows = system.rows(work, static_cast<int>(one.relation));
    const model::RelationRows::Tangent& row = rows.tangent[one.row];
    if (one.direction == 0) {
      double way = 0;
      for (std::size_t e = 0; e < row.w.values().size(); ++e) {
        const auto i = static_cast<std::size_t>(row.w.places()[e]);
        a(stuck, i) += row.w.values()[e];
        way += row.w.values()[e] * (y[i] - held_q[i]);
      }
      for (std::size_t e = 0; e < row.drag.values().size(); ++e)
        a(static_cast<std::size_t>(row.drag.places()[e]), stuck) -= row.drag.values()[e];
      right[2 * stuck] = -row.zeta - 2 * alpha * row.slip - alpha * alpha * way;
      right[2 * stuck + 1] = -row.zeta;
      ++stuck;
      continue;
    }
    for (std::size_t e = 0; e < row.drag.values().size(); ++e) {
      const auto i = static_cast<std::size_t>(row.drag.places()[e]);
      const double force = one.direction * row.mu * row.drag.values()[e];
      right[2 * i] -= force * rows.base;
      right[2 * i + 1] -= force * rows.base;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const auto fed = static_cast<std::size_t>(relation.feeds[f]);
        const auto where =
            static_cast<std::size_t>(std::find(normal.begin(), normal.end(), fed) - normal.begin());
        if (where == normal.size()) continue;
        const bool pulled = fed < mode->pressed.size() && mode->pressed[fed] < 0;
        a(i, n + where) += force * rows.factors[f] * (pulled ? -1 : 1);
      }
    }
  }
  if (!dense::solve(a, right, 2)) return false;
  rate.assign(size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    rate[i] = y[n + i];
    rate[n + i] = right[2 * i];
  }
  std::copy(work.rate.begin(), work.rate.end(), rate.begin() + static_cast<std::ptrdiff_t>(2 * n));
  for (const double x : rate) {
    if (!std::isfinite(x)) return false;
  }
  if (holds != nullptr) {
    Row forces(all);
    for (std::size_t i = 0; i < all; ++i) forces[i] = right[2 * i + 1];
    *holds = mode_holds(y, forces);
  }
  return true;
}

bool ApproachFinder::Parts::mode_holds(const Row& y, const Row& forces) {
  const auto n = static_cast<std::size_t>(layout.coordinates);
  for (std::size_t c = 0; c < normal.size(); ++c) {
    const model::Relation& relation = system.relations()[normal[c]];
    if (relation.kind == model::RelationKind::contact && !(forces[n + c] > 0)) return false;
    const bool sign_counts = normal[c] < mode->pressed.size() && mode->pressed[normal[c]] != 0;
    if (sign_counts && !(forces[n + c] * mode->pressed[normal[c]] > 0)) return false;
  }
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    if (mode->normal[k] != NormalStatus::open) continue;
    double gap = 0, rate = 0;
    system.gap(work, static_cast<int>(k), gap, rate);
    if (!(gap > 0)) return false;
  }
  std::size_t stuck = n + normal.size();
  std::size_t relation_before = system.relations().size();
  double pulled = 0;
  for (const Tangential& one : tangential) {
    const model::Relation& relation = system.relations()[one.relation];
    const model::RelationRows& rows = system.rows(work, static_cast<int>(one.relation));
    const model::RelationRows::Tangent& row = rows.tangent[one.row];
    if (one.direction != 0) {
      if (!(one.direction * row.slip > 0)) return false;
      continue;
    }
    double load = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const auto where = static_cast<std::size_t>(
          std::find(normal.begin(), normal.end(), static_cast<std::size_t>(relation.feeds[f])) -
          normal.begin());
      if (where < normal.size()) load += rows.factors[f] * std::abs(forces[n + where]);
    }
    pulled = one.relation == relation_before ? std::hypot(pulled, forces[stuck]) : std::abs(forces[stuck]);
    relation_before = one.relation;
    ++stuck;
    if (!(pulled < row.mu_static * load)) return false;
  }
  for (std::size_t k = 0; k < system.switches().size(); ++k) {
    if (!system.live(work, static_cast<int>(k))) continue;
    if (system.side_of_value(work, static_cast<int>(k)) != mode->side[k]) return false;
  }
  static_cast<void>(y);
  return true;
}

bool ApproachFinder::Parts::jacobian(const Row& y, const Row& scale, dense::RealMatrix& a) {
  Row moved = y, plus, minus;
  for (std::size_t j = 0; j < used.size(); ++j) {
    const double h = kSmall * scale[used[j]];
    moved[used[j]] = y[used[j]] + h;
    if (!field(moved, plus, nullptr)) return false;
    moved[used[j]] = y[used[j]] - h;
    if (!field(moved, minus, nullptr)) return false;
    moved[used[j]] = y[used[j]];
    // In units of the reach of each component.
    for (std::size_t i = 0; i < used.size(); ++i)
      a(i, j) = (plus[used[i]] - minus[used[i]]) / (2 * h) * scale[used[j]] / scale[used[i]];
  }
  return true;
}

/// One step of Newton's method. With a family the step is that of A − c Π across it, which keeps the place along it, and `a` becomes this matrix.
bool ApproachFinder::Parts::step(Row& y, const Row& scale, dense::RealMatrix& a, Family* family,
                                 double& length) {
  Row rate;
  if (!field(y, rate, nullptr) || !jacobian(y, scale, a)) return false;
  Row change(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) change[i] = rate[used[i]] / scale[used[i]];
  if (family != nullptr) {
    const double size = largest_of(a.a);
    if (!family->find(a)) return false;
    family->take_out(change);
    family->shift(a, size);
  }
  dense::RealMatrix matrix = a;
  if (!dense::solve(matrix, change)) return false;
  length = largest_of(change);
  if (!std::isfinite(length)) return false;
  for (std::size_t i = 0; i < used.size(); ++i) y[used[i]] -= change[i] * scale[used[i]];
  return true;
}

bool ApproachFinder::Parts::newton(Row& y, const Row& scale, dense::RealMatrix& a, Family* family) {
  constexpr int kMost = 30;
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMost; ++round) {
    double length = 0;
    if (!step(y, scale, a, family, length)) return false;
    if (length > 1) return false;  // farther than the motion has ever been: this is not where it goes
    if (length <= kConverged || (round > 3 && length >= before && length < 1e3 * kConverged))
      return step(y, scale, a, family, length);
    before = length;
  }
  return false;
}

/// Whether the places beside a rest, along what its derivative does not see, are rests too. x⁴ has none beside 0.
bool ApproachFinder::Parts::is_family(const Row& y, const Row& scale, const Family& family) {
  for (const Row& direction : family.along) {
    Row beside = y, rate;
    for (std::size_t i = 0; i < used.size(); ++i) beside[used[i]] += kAlong * direction[i] * scale[used[i]];
    const Row from = beside;
    dense::RealMatrix a(used.size());
    Family there;
    double length = 0;
    constexpr int kRounds = 6;
    for (int round = 0; round < kRounds; ++round) {
      if (!step(beside, scale, a, &there, length) || length > kAlong) return false;
    }
    bool holds = false;
    if (there.along.size() != family.along.size() || !field(beside, rate, &holds) || !holds) return false;
    double moved = 0, left = 0;
    for (const std::size_t i : used) {
      moved = std::max(moved, std::abs(beside[i] - from[i]) / scale[i]);
      left = std::max(left, std::abs(rate[i]) / scale[i]);
    }
    constexpr double kZero = 1e-9;
    if (moved > kAlong / 2 || left > kZero * kAlong * largest_of(a.a)) return false;
  }
  return true;
}

ApproachFinder::ApproachFinder(const model::System& system) : parts_(std::make_unique<Parts>(system)) {}
ApproachFinder::~ApproachFinder() = default;
ApproachFinder::ApproachFinder(ApproachFinder&&) noexcept = default;

std::optional<ApproachedRest> ApproachFinder::find(const engines::Moment& now,
                                                   std::span<const double> reach) {
  Parts& p = *parts_;
  if (!p.suits(now)) return std::nullopt;
  p.set_up(now, reach);
  const std::size_t count = p.used.size(), size = p.size();
  const auto n = static_cast<std::size_t>(p.layout.coordinates);
  if (count == 0 || count > kMostUnknowns) return std::nullopt;
  const double largest = largest_of({reach.begin(), reach.end()}), place = std::max(1.0, largest_of(now.y));
  Row scale(size);
  for (std::size_t i = 0; i < size; ++i) {
    // What has not moved at all has no reach of its own; differences need a hundredth of the place to be exact enough.
    scale[i] = largest > kConverged * place ? std::max({reach[i], 1e-6 * largest, 1e-2 * std::abs(now.y[i])})
                                            : place;
  }
  Row y = now.y;
  dense::RealMatrix a(count);
  Family family;
  if (!p.newton(y, scale, a, &family) || !p.is_family(y, scale, family)) {
    y = now.y;
    family = {};
    if (!p.newton(y, scale, a, nullptr)) return std::nullopt;
  }

  dense::ComplexMatrix complex(count);
  for (std::size_t i = 0; i < a.a.size(); ++i) complex.a[i] = a.a[i];
  const std::vector<dense::Complex> values = dense::eigenvalues(std::move(complex));
  if (values.empty()) return std::nullopt;
  double fastest = 0, slowest = std::numeric_limits<double>::infinity();
  for (const dense::Complex& each : values) {
    fastest = std::max(fastest, std::abs(each));
    slowest = std::min(slowest, std::abs(each));
  }
  ApproachedRest out;
  out.decay = values.front().real();
  if (!(out.decay < -kCertain * fastest)) return std::nullopt;
  dense::RealMatrix v(count);
  if (!lyapunov(a, std::sqrt(fastest * slowest), v)) return std::nullopt;

  const auto times = [&](const Row& x) {
    Row made(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) made[i] += v.a[i * count + j] * x[j];
    }
    return made;
  };
  Row away(count);
  for (std::size_t i = 0; i < count; ++i) away[i] = (now.y[p.used[i]] - y[p.used[i]]) / scale[p.used[i]];
  family.take_out(away);
  const double level = dense::dot(away, times(away));
  // A point of the set: V falls there, and the mode is what it is. Along a family V does not fall; it is looked at across.
  Row point = y, rate;
  const auto falls = [&](const Row& x) {
    for (std::size_t i = 0; i < count; ++i) point[p.used[i]] = y[p.used[i]] + scale[p.used[i]] * x[i];
    bool holds = false;
    if (!p.field(point, rate, &holds) || !holds) return false;
    Row speed(count);
    for (std::size_t i = 0; i < count; ++i) speed[i] = rate[p.used[i]] / scale[p.used[i]];
    return dense::dot(times(x), speed) < 0;
  };
  bool holds = false;
  if (!p.field(y, rate, &holds) || !holds) return std::nullopt;
  constexpr double kNear = 1e-9;  // of the reach: V is rounding
  if (std::sqrt(dense::dot(away, away)) > kNear) {
    if (!falls(away)) return std::nullopt;
    Row direction(count);
    for (std::size_t d = 0; d < kDirections + 2 * count; ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        if (d < 2 * count)
          direction[i] = i == d / 2 ? (d % 2 == 0 ? 1 : -1) : 0;
        else
          direction[i] = 2 * random_number(1, d, i) - 1;
      }
      family.take_out(direction);
      if (!(largest_of(direction) > kNear)) continue;
      const double own = dense::dot(direction, times(direction));
      if (!(own > 0)) return std::nullopt;
      for (const double shell : kShells) {
        Row x = direction;
        for (double& each : x) each *= shell * std::sqrt(level / own);
        if (!falls(x)) return std::nullopt;
      }
    }
  }
  out.y = y;
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(y[i]) <= kConverged * scale[i]) out.y[i] = 0;  // as far as Newton's method knows
  }
  out.drift.assign(size, 0.0);
  static_cast<void>(p.field(y, rate, nullptr));
  std::vector<bool> is_used(size, false);
  for (const std::size_t i : p.used) is_used[i] = true;
  for (std::size_t i = 0; i < size; ++i) {
    if (is_used[i]) continue;
    const double speed = i < n ? y[n + i] : rate[i];
    const double fast = i < n ? scale[n + i] : scale[i] * fastest;
    if (std::abs(speed) > kNear * fast) out.drift[i] = speed;
  }
  out.held = p.sticking > 0 || p.freely || !family.along.empty();
  for (const Parts::Tangential& one : p.tangential) out.slides = out.slides || one.direction != 0;
  return out;
}

}  // namespace judder::analysis
