#include "impact_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace judder::hunt {
namespace {

constexpr double kClosed = 1e-8;    ///< share of what makes up a gap: closed
constexpr double kRounding = 1e-9;  ///< share of the terms of a sum that rounding may leave of it
constexpr double kRank =
    1e-9;  ///< a pivot below this share of its row is none: what it divides hangs on the last digits
constexpr long kMostModes = 200'000;

struct Row {
  int relation = 0;
  bool tangent = false, bilateral = false;
  double before = 0, target = 0;  ///< γ⁻; γ⁺ where it is struck
  double mu = 0, rest = 0;
  std::vector<double> a;     ///< of A
  std::vector<double> feed;  ///< of a tangential row: factors of L by normal row
  int choices = 1;
};

/// c·x + c0, and what its terms add up to.
struct Form {
  std::vector<double> c;
  double c0 = 0;
};

/// Solutions x = p + Σ y_f d_f of equations (form = 0).
struct Solution {
  bool consistent = true;
  std::vector<double> p;
  std::vector<std::vector<double>> d;
};

Solution solve(std::vector<Form> equations) {
  const int n = static_cast<int>(equations.size());
  std::vector<int> column_of;  // of the pivot rows, in order
  std::vector<double> size(n);
  for (int i = 0; i < n; ++i) {
    for (const double c : equations[i].c) size[i] = std::max(size[i], std::abs(c));
  }
  std::vector<std::uint8_t> used(n, 0);
  double right = 0;
  for (const Form& e : equations) right = std::max(right, std::abs(e.c0));
  int rank = 0;
  for (; rank < n; ++rank) {
    int row = -1;
    int column = -1;
    double best = kRank;
    for (int i = rank; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        if (used[k] != 0 || !(size[i] > 0) || !(std::abs(equations[i].c[k]) > best * size[i])) continue;
        best = std::abs(equations[i].c[k]) / size[i];
        row = i;
        column = k;
      }
    }
    if (row < 0) break;
    std::swap(equations[row], equations[rank]);
    std::swap(size[row], size[rank]);
    used[column] = 1;
    column_of.push_back(column);
    for (int i = 0; i < n; ++i) {
      if (i == rank) continue;
      const double factor = equations[i].c[column] / equations[rank].c[column];
      if (factor == 0) continue;
      for (int k = 0; k < n; ++k) equations[i].c[k] -= factor * equations[rank].c[k];
      equations[i].c[column] = 0;
      equations[i].c0 -= factor * equations[rank].c0;
    }
  }
  Solution out;
  for (int i = rank; i < n; ++i)
    out.consistent = out.consistent && std::abs(equations[i].c0) <= kRounding * right;
  out.p.assign(n, 0.0);
  for (int r = 0; r < rank; ++r) out.p[column_of[r]] = -equations[r].c0 / equations[r].c[column_of[r]];
  for (int along = 0; along < n; ++along) {
    if (used[along] != 0) continue;
    std::vector<double>& d = out.d.emplace_back(n, 0.0);
    d[along] = 1;
    for (int r = 0; r < rank; ++r) d[column_of[r]] = -equations[r].c[along] / equations[r].c[column_of[r]];
  }
  return out;
}

/// Whether some x of the solutions has all forms ≥ 0, to rounding: the free y are eliminated one after the other (Fourier and Motzkin).
enum class Found : std::uint8_t { no, yes, unknown };
Found admissible(const Solution& s, const std::vector<Form>& forms) {
  constexpr std::size_t kMostForms = 20'000;
  const std::size_t free = s.d.size();
  std::vector<std::vector<double>> left;  // slopes, and the value at y = 0
  for (const Form& f : forms) {
    std::vector<double> row(free + 1, 0.0);
    double terms = std::abs(f.c0);
    row[free] = f.c0;
    for (std::size_t k = 0; k < f.c.size(); ++k) {
      row[free] += f.c[k] * s.p[k];
      terms += std::abs(f.c[k] * s.p[k]);
    }
    row[free] += kRounding * terms;
    for (std::size_t y = 0; y < free; ++y) {
      double slopes = 0;
      for (std::size_t k = 0; k < f.c.size(); ++k) {
        row[y] += f.c[k] * s.d[y][k];
        slopes += std::abs(f.c[k] * s.d[y][k]);
      }
      if (std::abs(row[y]) <= kRounding * slopes) row[y] = 0;
    }
    left.push_back(std::move(row));
  }
  for (std::size_t y = 0; y < free; ++y) {
    std::vector<std::vector<double>> next;
    for (const std::vector<double>& a : left) {
      if (a[y] == 0) next.push_back(a);
      if (!(a[y] > 0)) continue;
      for (const std::vector<double>& b : left) {
        if (!(b[y] < 0)) continue;
        std::vector<double> sum(free + 1, 0.0);
        for (std::size_t k = y + 1; k <= free; ++k) {
          const double one = a[k] / a[y];
          const double other = -b[k] / b[y];
          sum[k] = one + other;
          const double terms = std::abs(one) + std::abs(other);
          if (std::abs(sum[k]) <= kRounding * terms) sum[k] = k == free ? kRounding * terms : 0;
        }
        next.push_back(std::move(sum));
      }
      if (next.size() > kMostForms) return Found::unknown;
    }
    left = std::move(next);
  }
  const bool none = std::any_of(left.begin(), left.end(), [free](const auto& row) { return row[free] < 0; });
  return none ? Found::no : Found::yes;
}

/// The rows of the impact; empty: not known.
std::vector<Row> rows_of(const model::System& system, const engines::Moment& moment) {
  const model::Layout& layout = system.layout();
  const int n = layout.coordinates;
  model::Workspace work(system);
  if (static_cast<int>(moment.y.size()) < layout.integrated()) return {};
  work.in[0] = moment.time;
  std::copy_n(moment.y.begin(), layout.integrated(), work.in.begin() + 1);
  for (int k = 0; k < layout.switches; ++k) work.in[layout.side() + k] = moment.mode.side[k];
  for (int j = 0; j < layout.tangents; ++j)
    work.in[layout.direction() + j] = engines::direction(moment.mode.tangent[j]);
  if (!system.motion(work)) return {};
  std::vector<Row> rows;
  std::vector<std::vector<double>> along, response;
  std::vector<int> normal(layout.relations, -1);
  const auto add = [&](Row row, const model::Row& w, const model::Row& column) {
    along.push_back(w.dense(n));
    response.push_back(column.dense(n));
    system.solve_mass(work, response.back().data());
    rows.push_back(std::move(row));
  };
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (!relation.has_normal) continue;
    const model::RelationRows& numbers = system.rows(work, r);
    Row row;
    row.relation = r;
    row.bilateral = relation.kind == model::RelationKind::constraint;
    row.before = numbers.gap_rate;
    if (!row.bilateral) {
      double terms = std::abs(moment.time * numbers.gap_time);
      for (const int i : relation.touches)
        terms += std::abs(numbers.w[i]) * std::max(1.0, std::abs(moment.y[i]));
      if (std::abs(numbers.gap) > kClosed * terms) continue;
      const bool known = relation.impact == ImpactType::moreau || relation.impact == ImpactType::newton;
      if (!known || relation.has_tangential_restitution) return {};
      double e = 0;
      double tangential = 0;
      system.restitution(work, r, std::max(0.0, -row.before), e, tangential);
      row.target = row.before < 0 ? -e * row.before : 0;
    }
    normal[r] = static_cast<int>(rows.size());
    row.choices = row.bilateral ? 1 : 2;
    add(std::move(row), numbers.w, numbers.push);
  }
  const int normals = static_cast<int>(rows.size());
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.tangents == 0 || (relation.has_normal && (normal[r] < 0 || !relation.impact_friction)))
      continue;
    const model::RelationRows& numbers = system.rows(work, r);
    Row row;
    row.relation = r;
    row.tangent = true;
    row.feed.assign(normals, 0.0);
    bool fed = false;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const int k = normal[relation.feeds[f]];
      if (k < 0) continue;
      row.feed[k] += numbers.factors[f];
      fed = true;
      if (rows[k].bilateral) rows[k].choices = 2;
    }
    if (!fed) continue;  // a finite force transmits nothing
    if (relation.tangents != 1) return {};
    row.before = numbers.tangent[0].slip;
    const model::System::ImpulseFriction friction = system.impulse_friction(work, r, std::abs(row.before));
    row.mu = friction.slipping;
    row.rest = std::max(friction.slipping, friction.resting);
    row.choices = 3;
    add(std::move(row), numbers.tangent[0].w, numbers.tangent[0].drag);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += along[i][k] * response[j][k];
      rows[i].a.push_back(sum);
    }
  }
  return rows;
}

/// Whether a contact that strikes and gives something back is the other side of a clamp: γ of two closed contacts is zero together, and both are not negative afterwards. Then it
/// gives nothing back, whatever its law.
bool clamped(const model::System& system, const engines::Moment& moment) {
  const model::Layout& layout = system.layout();
  const int n = layout.coordinates;
  if (static_cast<int>(moment.y.size()) < layout.integrated()) return false;
  model::Workspace work(system);
  work.in[0] = moment.time;
  std::copy_n(moment.y.begin(), layout.integrated(), work.in.begin() + 1);
  for (int k = 0; k < layout.switches; ++k) work.in[layout.side() + k] = moment.mode.side[k];
  struct Jaw {
    std::vector<double> w;
    double rate = 0, size = 0, restitution = 0;
  };
  std::vector<Jaw> jaws;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (!relation.has_normal || relation.kind != model::RelationKind::contact) continue;
    const model::RelationRows& numbers = system.rows(work, r);
    double terms = std::abs(moment.time * numbers.gap_time);
    Jaw jaw;
    jaw.w = numbers.w.dense(n);
    for (int i = 0; i < n; ++i) {
      terms += std::abs(jaw.w[i]) * std::max(1.0, std::abs(moment.y[i]));
      jaw.size = std::max(jaw.size, std::abs(jaw.w[i]));
    }
    if (std::abs(numbers.gap) > kClosed * terms || !(jaw.size > 0)) continue;
    jaw.rate = numbers.gap_rate;
    double tangential = 0;
    system.restitution(work, r, std::max(0.0, -jaw.rate), jaw.restitution, tangential);
    jaws.push_back(std::move(jaw));
  }
  for (const Jaw& a : jaws) {
    for (const Jaw& b : jaws) {
      if (!(a.rate < 0 && a.restitution > 0)) continue;
      bool opposite = std::abs(a.rate / a.size + b.rate / b.size) <= kRounding * std::abs(a.rate / a.size);
      for (int i = 0; i < n; ++i)
        opposite = opposite && std::abs(a.w[i] / a.size + b.w[i] / b.size) <= kRounding;
      if (opposite) return true;
    }
  }
  return false;
}

}  // namespace

ImpactModes impact_modes(const model::System& system, const engines::Moment& moment) {
  if (clamped(system, moment)) return ImpactModes::none;
  const std::vector<Row> rows = rows_of(system, moment);
  const std::size_t n = rows.size();
  if (n == 0) return ImpactModes::unknown;
  long modes = 1;
  for (const Row& row : rows) {
    modes *= row.choices;
    if (modes > kMostModes) return ImpactModes::unknown;
  }
  bool open = false;  // some mode could not be judged
  for (long code = 0; code < modes; ++code) {
    std::vector<int> choice(n);
    long rest = code;
    for (std::size_t i = 0; i < n; ++i) {
      choice[i] = static_cast<int>(rest % rows[i].choices);
      rest /= rows[i].choices;
    }
    const auto unit = [n](std::size_t i, double by) {
      Form f{std::vector<double>(n, 0.0), 0};
      f.c[i] = by;
      return f;
    };
    const auto rate = [](const Row& row, double by, double minus) {  // by (γ⁺ − minus)
      Form f{row.a, by * (row.before - minus)};
      for (double& c : f.c) c *= by;
      return f;
    };
    // μ L + by Λ_T, with the signs of the normal impulses.
    const auto limit = [&](std::size_t i, double mu, double by) {
      Form f = unit(i, by);
      for (std::size_t k = 0; k < rows[i].feed.size(); ++k)
        f.c[k] += mu * rows[i].feed[k] * (rows[k].bilateral && choice[k] == 1 ? -1 : 1);
      return f;
    };
    std::vector<Form> zero, positive;
    for (std::size_t i = 0; i < n; ++i) {
      const Row& row = rows[i];
      if (!row.tangent && row.bilateral) {
        zero.push_back(rate(row, 1, 0));
        if (row.choices == 2) positive.push_back(unit(i, choice[i] == 0 ? 1 : -1));
      } else if (!row.tangent) {
        zero.push_back(choice[i] == 0 ? unit(i, 1) : rate(row, 1, row.target));
        positive.push_back(choice[i] == 0 ? rate(row, 1, row.target) : unit(i, 1));
      } else if (choice[i] == 0) {
        zero.push_back(rate(row, 1, 0));
        positive.push_back(limit(i, row.rest, 1));
        positive.push_back(limit(i, row.rest, -1));
      } else {
        const int side = choice[i] == 1 ? 1 : -1;
        zero.push_back(limit(i, row.mu, side));
        positive.push_back(rate(row, side, 0));
      }
    }
    const Solution solution = solve(zero);
    if (!solution.consistent) continue;
    const Found found = admissible(solution, positive);
    if (found == Found::yes) return ImpactModes::some;
    open = open || found == Found::unknown;
  }
  return open ? ImpactModes::unknown : ImpactModes::none;
}

}  // namespace judder::hunt
