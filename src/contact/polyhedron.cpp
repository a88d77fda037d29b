#include "contact/polyhedron_data.hpp"
#include "core/dense/reduction.hpp"

namespace judder::contact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRank = 1e-11;  ///< of pivots among entries of size one

double power_of_two(double x) { return x > 0 && std::isfinite(x) ? std::ldexp(1.0, -std::ilogb(x)) : 1; }

}  // namespace

const char* name(LinearStatus status) {
  switch (status) {
    case LinearStatus::optimal:
      return "optimal";
    case LinearStatus::empty:
      return "empty";
    case LinearStatus::unbounded:
      return "unbounded";
    case LinearStatus::not_solved:
      break;
  }
  return "not solved";
}

void Polyhedron::add_equation(std::span<const double> row, double value) {
  equations.insert(equations.end(), row.begin(), row.end());
  equation_values.push_back(value);
}

void Polyhedron::add_inequality(std::span<const double> row, double bound) {
  inequalities.insert(inequalities.end(), row.begin(), row.end());
  bounds.push_back(bound);
}

/// Rows and columns are brought near one by their least and largest entries in turn; then rows get size one. Right-hand sides have no part
/// in it: one that has nearly
/// vanished says nothing about the unknowns. They tell the size of a part, by their largest: parts that share no unknown may differ by any
/// factor.
void PolyhedronSolver::Data::scale() {
  column.assign(n, 1);
  equation_scale.assign(k, 1);
  inequality_scale.assign(m, 1);
  const auto entry = [&](std::size_t i, std::size_t j) {
    return std::abs(i < k ? p.equations[i * n + j] : p.inequalities[(i - k) * n + j]);
  };
  const auto right_of = [&](std::size_t i) {
    return std::abs(i < k ? p.equation_values[i] : p.bounds[i - k]);
  };
  const auto row_scale = [&](std::size_t i) -> double& {
    return i < k ? equation_scale[i] : inequality_scale[i - k];
  };
  const auto middle = [](double least, double most) {
    return most > 0 ? power_of_two(std::sqrt(least) * std::sqrt(most)) : 1;
  };
  for (int pass = 0; pass < 6; ++pass) {
    for (std::size_t i = 0; i < k + m; ++i) {
      double least = kInfinity, most = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double a = entry(i, j) * column[j];
        if (a > 0) least = std::min(least, a);
        most = std::max(most, a);
      }
      row_scale(i) = middle(least, most);
    }
    for (std::size_t j = 0; j < n; ++j) {
      double least = kInfinity, most = 0;
      for (std::size_t i = 0; i < k + m; ++i) {
        const double a = entry(i, j) * row_scale(i);
        if (a > 0) least = std::min(least, a);
        most = std::max(most, a);
      }
      column[j] = middle(least, most);
    }
  }
  const auto size_one = [&](std::size_t i) {
    double most = 0;
    for (std::size_t j = 0; j < n; ++j) most = std::max(most, entry(i, j) * column[j]);
    row_scale(i) = most > 0 ? power_of_two(most) : power_of_two(right_of(i));
    return most > 0;
  };
  // Parts: unknowns that rows join, each with the size of its right-hand sides.
  std::vector<std::size_t> joined(n);
  for (std::size_t j = 0; j < n; ++j) joined[j] = j;
  const auto top = [&](std::size_t j) {
    while (joined[j] != j) j = joined[j] = joined[joined[j]];
    return j;
  };
  std::vector<double> size(n, 0);
  std::vector<std::size_t> first(k + m, n);
  for (std::size_t i = 0; i < k + m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (entry(i, j) == 0) continue;
      if (first[i] == n) first[i] = j;
      joined[top(j)] = top(first[i]);
    }
  }
  for (std::size_t i = 0; i < k + m; ++i) {
    if (!size_one(i)) continue;
    double& own = size[top(first[i])];
    own = std::max(own, right_of(i) * row_scale(i));
  }
  for (std::size_t j = 0; j < n; ++j) column[j] /= power_of_two(size[top(j)]);
  // A row without variables is true or false by itself, whatever the size of the others.
  for (std::size_t i = 0; i < k + m; ++i) static_cast<void>(size_one(i));
}

void PolyhedronSolver::Data::eliminate() {
  // Gauss and Jordan on [E | e | 1].
  const std::size_t w = n + 1 + k;
  std::vector<double> a(k * w, 0);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i * w + j] = p.equations[i * n + j] * equation_scale[i] * column[j];
    a[i * w + n] = p.equation_values[i] * equation_scale[i];
    a[i * w + n + 1 + i] = 1;
  }
  std::vector<std::size_t> rows;
  std::vector<std::uint8_t> used_row(k, 0), used_column(n, 0);
  for (const dense::Pivot& at : dense::reduce_ranked(
           a.data(), k, n, w, kRank, [&](std::size_t i, std::size_t j) { return std::abs(a[i * w + j]); },
           options.patience)) {
    used_row[at.row] = used_column[at.column] = 1;
    rows.push_back(at.row);
    pivot.push_back(at.column);
  }
  for (std::size_t j = 0; j < n; ++j) {
    if (used_column[j] == 0) free.push_back(j);
  }
  for (std::size_t i = 0; i < k; ++i) {
    if (used_row[i] != 0) continue;
    const double size = std::max(1.0, largest(a.data() + i * w + n + 1, k));
    if (std::abs(a[i * w + n]) > options.tolerance * size) {
      contradiction = true;
      witness = rows.size();
      rows.push_back(i);
      break;
    }
  }
  for (const std::size_t i : rows) {
    for (std::size_t j = 0; j < k; ++j) change.push_back(a[i * w + n + 1 + j]);
    if (change.size() / std::max<std::size_t>(k, 1) > pivot.size()) break;  // the witness
    for (const std::size_t j : free) part.push_back(std::abs(a[i * w + j]) > kRank ? a[i * w + j] : 0);
    value.push_back(a[i * w + n]);
  }
}

void PolyhedronSolver::Data::reduce() {
  G.assign(m * d(), 0);
  g.assign(m, 0);
  reduced_scale.assign(m, 1);
  for (std::size_t i = 0; i < m; ++i) {
    const double* const row = p.inequalities.data() + i * n;
    const double s = inequality_scale[i];
    double terms = 0;
    double right = p.bounds[i] * s;
    for (std::size_t q = 0; q < pivot.size(); ++q) right -= row[pivot[q]] * s * column[pivot[q]] * value[q];
    for (std::size_t j = 0; j < d(); ++j) {
      double sum = row[free[j]] * s * column[free[j]];
      double size = std::abs(sum);
      for (std::size_t q = 0; q < pivot.size(); ++q) {
        const double term = row[pivot[q]] * s * column[pivot[q]] * part[q * d() + j];
        sum -= term;
        size = std::max(size, std::abs(term));
      }
      G[i * d() + j] = std::abs(sum) > 1e-12 * size ? sum : 0;
      terms = std::max(terms, size);
    }
    // A row that elimination has left without variables keeps its size; otherwise its largest entry becomes one.
    const double most = largest(G.data() + i * d(), d());
    const double factor = most > 1e-9 * std::max(terms, 1.0) ? power_of_two(most) : 1;
    for (std::size_t j = 0; j < d(); ++j) G[i * d() + j] *= factor;
    if (factor == 1 && most <= 1e-9 * std::max(terms, 1.0)) {
      for (std::size_t j = 0; j < d(); ++j) G[i * d() + j] = 0;
    }
    g[i] = right * factor;
    reduced_scale[i] = s * factor;
  }
}

std::vector<double> PolyhedronSolver::Data::point_of(const std::vector<double>& y, bool direction) const {
  std::vector<double> x(n, 0);
  for (std::size_t j = 0; j < d(); ++j) x[free[j]] = y[j];
  for (std::size_t q = 0; q < pivot.size(); ++q) {
    double sum = direction ? 0 : value[q];
    for (std::size_t j = 0; j < d(); ++j) sum -= part[q * d() + j] * y[j];
    x[pivot[q]] = sum;
  }
  for (std::size_t j = 0; j < n; ++j) x[j] *= column[j];
  return x;
}

/// From multipliers of the reduced inequalities to those of the data.
void PolyhedronSolver::Data::multipliers_of(const std::vector<double>& reduced,
                                            std::span<const double> objective, LinearResult& out) const {
  out.y.assign(m, 0);
  out.u.assign(k, 0);
  // In scaled variables: C = Eᵀ U + Gᵀ Y for the scaled objective C.
  for (std::size_t i = 0; i < m; ++i) out.y[i] = reduced[i] * reduced_scale[i];
  for (std::size_t q = 0; q < pivot.size(); ++q) {
    double c = objective.empty() ? 0 : objective[pivot[q]] * column[pivot[q]];
    for (std::size_t i = 0; i < m; ++i) c -= p.inequalities[i * n + pivot[q]] * column[pivot[q]] * out.y[i];
    for (std::size_t e = 0; e < k; ++e) out.u[e] += change[q * k + e] * c;
  }
  for (std::size_t e = 0; e < k; ++e) out.u[e] *= equation_scale[e];
}

double PolyhedronSolver::Data::slack(std::size_t i, const std::vector<double>& x) const {
  double sum = p.bounds[i];
  for (std::size_t j = 0; j < n; ++j) sum -= p.inequalities[i * n + j] * x[j];
  return sum;
}

/// Judges an answer by the data alone.
void PolyhedronSolver::Data::certify(std::span<const double> objective, LinearResult& out) const {
  double worst = 0;
  const auto judge = [&](double error, double terms) {
    if (error > 0) worst = std::max(worst, error / (terms > 0 ? terms : 1));
  };
  const auto rows = [&](const std::vector<double>& x, bool ray) {
    double size = ray ? 0 : 1;
    for (std::size_t j = 0; j < n && ray; ++j) size = std::max(size, std::abs(x[j]) / column[j]);
    for (std::size_t i = 0; i < k + m; ++i) {
      const bool equation = i < k;
      const double* const row = equation ? p.equations.data() + i * n : p.inequalities.data() + (i - k) * n;
      double sum = ray ? 0 : equation ? -p.equation_values[i] : -p.bounds[i - k];
      double terms = std::abs(sum);
      for (std::size_t j = 0; j < n; ++j) {
        sum += row[j] * x[j];
        terms += std::abs(row[j] * x[j]);
      }
      // Beside its own terms a row is judged by the size of all right-hand sides, as the tolerance is, or by that of the ray.
      const double unit = equation ? equation_scale[i] : inequality_scale[i - k];
      terms = std::max(terms, size / unit);
      judge(equation ? std::abs(sum) : sum, terms);
    }
  };
  const auto dual = [&](bool farkas) {
    double size = 0;
    for (std::size_t i = 0; i < k; ++i) size = std::max(size, std::abs(out.u[i]) / equation_scale[i]);
    for (std::size_t i = 0; i < m; ++i) size = std::max(size, std::abs(out.y[i]) / inequality_scale[i]);
    for (std::size_t j = 0; j < n; ++j) {
      double sum = farkas ? 0 : -objective[j], terms = std::abs(sum);
      for (std::size_t i = 0; i < k; ++i) {
        sum += p.equations[i * n + j] * out.u[i];
        terms += std::abs(p.equations[i * n + j] * out.u[i]);
      }
      for (std::size_t i = 0; i < m; ++i) {
        sum += p.inequalities[i * n + j] * out.y[i];
        terms += std::abs(p.inequalities[i * n + j] * out.y[i]);
      }
      judge(std::abs(sum), std::max(terms, size / column[j]));
    }
    for (const double y : out.y) judge(-y, std::abs(y));
  };
  const auto dual_value = [&](double& terms) {
    double sum = 0;
    terms = 0;
    for (std::size_t i = 0; i < k + m; ++i) {
      const double term = i < k ? out.u[i] * p.equation_values[i] : out.y[i - k] * p.bounds[i - k];
      sum += term;
      terms += std::abs(term);
    }
    return sum;
  };
  double terms = 0;
  switch (out.status) {
    case LinearStatus::optimal:
      rows(out.x, false);
      if (!objective.empty()) {
        dual(false);
        const double best = dual_value(terms);
        for (std::size_t j = 0; j < n; ++j) terms += std::abs(objective[j] * out.x[j]);
        double size = 0;
        for (std::size_t j = 0; j < n; ++j) size = std::max(size, std::abs(objective[j]) * column[j]);
        judge(std::abs(best - out.value), std::max(terms, size));
      }
      break;
    case LinearStatus::empty:
      dual(true);
      if (!(dual_value(terms) < 0)) worst = kInfinity;
      break;
    case LinearStatus::unbounded: {
      rows(out.x, false);
      rows(out.ray, true);
      double gain = 0;
      for (std::size_t j = 0; j < n; ++j) gain += objective[j] * out.ray[j];
      if (!(gain > 0)) worst = kInfinity;
      break;
    }
    case LinearStatus::not_solved:
      return;
  }
  out.certificate = worst;
}

void PolyhedronSolver::Data::find_start() {
  if (contradiction) {
    feasibility.status = LinearStatus::empty;
    feasibility.u.assign(k, 0);
    feasibility.y.assign(m, 0);
    double sum = 0;
    for (std::size_t e = 0; e < k; ++e) {
      feasibility.u[e] = change[witness * k + e] * equation_scale[e];
      sum += feasibility.u[e] * p.equation_values[e];
    }
    if (sum > 0) {
      for (double& u : feasibility.u) u = -u;
    }
    certify({}, feasibility);
    return;
  }
  Dictionary dictionary(G, g, d(), options.tolerance, options.patience);
  std::vector<double> multipliers;
  switch (dictionary.find_feasible(multipliers)) {
    case Dictionary::Outcome::found: {
      std::vector<double> y;
      dictionary.point(y);
      feasibility.status = LinearStatus::optimal;
      feasibility.x = point_of(y, false);
      start = std::move(dictionary);
      break;
    }
    case Dictionary::Outcome::none:
      feasibility.status = LinearStatus::empty;
      multipliers_of(multipliers, {}, feasibility);
      break;
    case Dictionary::Outcome::gave_up:
      break;
  }
  certify({}, feasibility);
}

std::vector<double> PolyhedronSolver::Data::weights_of(std::span<const double> objective) const {
  std::vector<double> weights(d());
  for (std::size_t j = 0; j < d(); ++j) {
    double sum = objective[free[j]] * column[free[j]], size = std::abs(sum);
    for (std::size_t q = 0; q < pivot.size(); ++q) {
      const double term = objective[pivot[q]] * column[pivot[q]] * part[q * d() + j];
      sum -= term;
      size = std::max(size, std::abs(term));
    }
    weights[j] = std::abs(sum) > 1e-12 * size ? sum : 0;
  }
  return weights;
}

LinearResult PolyhedronSolver::Data::maximise(std::span<const double> objective) const {
  LinearResult out;
  if (!start) {
    out = feasibility;
    return out;
  }
  Dictionary dictionary = *start;
  std::vector<double> multipliers, y;
  std::size_t ray_column = 0;
  const std::vector<double> weights = weights_of(objective);
  const Dictionary::Answer answer = dictionary.maximise(weights, ray_column, multipliers);
  dictionary.point(y);
  out.x = point_of(y, false);
  for (std::size_t j = 0; j < n; ++j) out.value += objective[j] * out.x[j];
  if (answer == Dictionary::Answer::optimal) {
    out.status = LinearStatus::optimal;
    multipliers_of(multipliers, objective, out);
  } else if (answer == Dictionary::Answer::unbounded) {
    out.status = LinearStatus::unbounded;
    out.value = kInfinity;
    dictionary.direction(ray_column, y);
    double gain = 0;
    for (std::size_t j = 0; j < d(); ++j) gain += weights[j] * y[j];
    if (gain < 0) {
      for (double& each : y) each = -each;  // along a line
    }
    out.ray = point_of(y, true);
  }
  certify(objective, out);
  return out;
}

PolyhedronSolver::PolyhedronSolver(const Polyhedron& polyhedron, const PolyhedronOptions& options)
    : data_(std::make_unique<Data>()) {
  Data& data = *data_;
  data.p = polyhedron;
  data.options = options;
  data.n = polyhedron.variables;
  data.k = polyhedron.equation_count();
  data.m = polyhedron.inequality_count();
  data.scale();
  data.eliminate();
  if (!data.contradiction) data.reduce();
  data.find_start();
}
PolyhedronSolver::~PolyhedronSolver() = default;
PolyhedronSolver::PolyhedronSolver(PolyhedronSolver&&) noexcept = default;

const LinearResult& PolyhedronSolver::feasibility() const { return data_->feasibility; }

LinearResult PolyhedronSolver::maximise(std::span<const double> objective) const {
  return data_->maximise(objective);
}

Range PolyhedronSolver::range(std::span<const double> objective) const {
  const auto end = [](const LinearResult& result) {
    return result.status == LinearStatus::optimal || result.status == LinearStatus::unbounded
               ? result.value
               : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<double> minus(objective.begin(), objective.end());
  for (double& each : minus) each = -each;
  const double low = -end(data_->maximise(minus)), high = end(data_->maximise(objective));
  return {low == 0 ? 0 : low, high == 0 ? 0 : high};
}

}  // namespace judder::contact
