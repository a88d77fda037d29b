// Dimension, sides, corners and rays of a polyhedron.
#include <set>

#include "contact/polyhedron_data.hpp"

namespace judder::contact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rank of rows of width d, by complete pivoting; used up.
std::size_t rank_of(std::vector<double>& rows, std::size_t d) {
  const std::size_t k = d == 0 ? 0 : rows.size() / d;
  std::vector<std::uint8_t> used(k, 0);
  std::size_t rank = 0;
  for (;;) {
    std::size_t r = k, c = 0;
    double most = 1e-9;
    for (std::size_t i = 0; i < k; ++i) {
      if (used[i] != 0) continue;
      for (std::size_t j = 0; j < d; ++j) {
        if (std::abs(rows[i * d + j]) > most) {
          most = std::abs(rows[i * d + j]);
          r = i;
          c = j;
        }
      }
    }
    if (r == k) return rank;
    used[r] = 1;
    ++rank;
    for (std::size_t i = 0; i < k; ++i) {
      if (used[i] != 0) continue;
      const double factor = rows[i * d + c] / rows[r * d + c];
      for (std::size_t j = 0; j < d; ++j) rows[i * d + j] -= factor * rows[r * d + j];
      rows[i * d + c] = 0;
    }
  }
}

}  // namespace

/// Finds which inequalities hold as equations everywhere, and a point where no other does.
void PolyhedronSolver::Data::explore() {
  if (known) return;
  known = true;
  implicit.assign(m, 0);
  std::vector<double> y, sum(d(), 0), direction;
  std::size_t points = 0;
  std::vector<std::uint8_t> positive(m, 0);
  const auto reduced_slack = [&](std::size_t i, const std::vector<double>& at) {
    double s = g[i];
    for (std::size_t j = 0; j < d(); ++j) s -= G[i * d() + j] * at[j];
    return s;
  };
  const double enough = 10 * options.tolerance;
  const auto take = [&](const std::vector<double>& at) {
    for (std::size_t i = 0; i < m; ++i) {
      if (reduced_slack(i, at) > enough) positive[i] = 1;
    }
    for (std::size_t j = 0; j < d(); ++j) sum[j] += at[j];
    ++points;
  };
  start->point(y);
  take(y);
  Dictionary walked = *start;
  std::vector<double> weights(d()), multipliers;
  for (std::size_t i = 0; i < m; ++i) {
    if (positive[i] != 0) continue;
    for (std::size_t j = 0; j < d(); ++j) weights[j] = -G[i * d() + j];
    if (largest(weights.data(), d()) == 0) {
      implicit[i] = g[i] <= enough ? 1 : 0;
      continue;
    }
    std::size_t ray_column = 0;
    const Dictionary::Answer answer = walked.maximise(weights, ray_column, multipliers);
    walked.point(y);
    if (answer == Dictionary::Answer::unbounded) {
      walked.direction(ray_column, direction);
      // As far as the sets are large, so that the point inside is not near its border.
      double size = 1;
      for (const double each : y) size = std::max(size, std::abs(each));
      const double length = size / std::max(largest(direction.data(), d()), 1e-300);
      double gain = 0;
      for (std::size_t j = 0; j < d(); ++j) gain += weights[j] * direction[j];
      for (std::size_t j = 0; j < d(); ++j) y[j] += (gain < 0 ? -length : length) * direction[j];
    }
    if (reduced_slack(i, y) <= enough) {
      implicit[i] = 1;
    } else {
      take(y);
    }
  }
  // The other end of each direction, so that the point lies in the middle of small sets.
  for (std::size_t i = 0; i < m; ++i) {
    if (implicit[i] != 0 || largest(G.data() + i * d(), d()) == 0) continue;
    for (std::size_t j = 0; j < d(); ++j) weights[j] = G[i * d() + j];
    std::size_t ray_column = 0;
    if (walked.maximise(weights, ray_column, multipliers) != Dictionary::Answer::optimal) continue;
    walked.point(y);
    take(y);
  }
  for (double& each : sum) each /= static_cast<double>(points);
  interior = point_of(sum, false);
  std::vector<double> held;
  for (std::size_t i = 0; i < m; ++i) {
    if (implicit[i] != 0)
      held.insert(held.end(), G.begin() + static_cast<std::ptrdiff_t>(i * d()),
                  G.begin() + static_cast<std::ptrdiff_t>((i + 1) * d()));
  }
  dimension = d() - rank_of(held, d());
}

const std::vector<std::uint8_t>& PolyhedronSolver::implicit() {
  data_->explore();
  return data_->implicit;
}
std::size_t PolyhedronSolver::dimension() {
  data_->explore();
  return data_->dimension;
}
const std::vector<double>& PolyhedronSolver::interior() {
  data_->explore();
  return data_->interior;
}

std::vector<std::uint32_t> PolyhedronSolver::facets() {
  Data& data = *data_;
  data.explore();
  const std::size_t d = data.d(), m = data.m;
  std::vector<std::uint32_t> out;
  if (data.dimension == 0) return out;
  // Without its inequality the polyhedron reaches beyond it. Implicit ones hold from both sides.
  std::vector<std::uint8_t> dropped = data.implicit;
  for (std::size_t i = 0; i < m; ++i) {
    if (dropped[i] != 0 || largest(data.G.data() + i * d, d) == 0) continue;
    std::vector<double> rows, bounds;
    for (std::size_t other = 0; other < m; ++other) {
      if (other == i || (dropped[other] != 0 && data.implicit[other] == 0)) continue;
      rows.insert(rows.end(), data.G.begin() + static_cast<std::ptrdiff_t>(other * d),
                  data.G.begin() + static_cast<std::ptrdiff_t>((other + 1) * d));
      bounds.push_back(data.g[other]);
      if (data.implicit[other] == 0) continue;
      for (std::size_t j = 0; j < d; ++j) rows.push_back(-data.G[other * d + j]);
      bounds.push_back(-data.g[other]);
    }
    Dictionary dictionary(rows, bounds, d, data.options.tolerance, data.options.patience);
    std::vector<double> multipliers, y, weights(d);
    if (dictionary.find_feasible(multipliers) != Dictionary::Outcome::found) continue;
    for (std::size_t j = 0; j < d; ++j) weights[j] = data.G[i * d + j];
    std::size_t ray_column = 0;
    const Dictionary::Answer answer = dictionary.maximise(weights, ray_column, multipliers);
    dictionary.point(y);
    double reach = -data.g[i];
    for (std::size_t j = 0; j < d; ++j) reach += weights[j] * y[j];
    if (answer == Dictionary::Answer::unbounded || reach > 10 * data.options.tolerance)
      out.push_back(static_cast<std::uint32_t>(i));
    else
      dropped[i] = 1;  // of two that bound the same face one is enough
  }
  return out;
}

Extremes PolyhedronSolver::extremes(std::size_t limit) const {
  const Data& data = *data_;
  Extremes out;
  if (!data.start) return out;
  const std::size_t d = data.d(), m = data.m;
  std::vector<double> y;
  for (std::size_t j = 0; j < data.start->columns(); ++j) {
    if (!data.start->is_line(j)) continue;
    data.start->direction(j, y);
    out.lines.push_back(data.point_of(y, true));
  }
  const auto tight_at = [&](const std::vector<double>& at, bool ray) {
    std::vector<std::uint32_t> tight;
    const double size = ray ? std::max(largest(at.data(), d), 1e-300) : std::max(largest(at.data(), d), 1.0);
    for (std::size_t i = 0; i < m; ++i) {
      double s = ray ? 0 : data.g[i];
      for (std::size_t j = 0; j < d; ++j) s -= data.G[i * d + j] * at[j];
      if (std::abs(s) <= 10 * data.options.tolerance * size) tight.push_back(static_cast<std::uint32_t>(i));
    }
    return tight;
  };
  // All feasible dictionaries, each by its columns; degenerate vertices have several.
  const auto key_of = [](const Dictionary& dictionary) {
    std::vector<int> key;
    for (std::size_t j = 0; j < dictionary.columns(); ++j) key.push_back(dictionary.column(j));
    std::sort(key.begin(), key.end());
    return key;
  };
  std::set<std::vector<int>> seen;
  std::set<std::vector<std::uint32_t>> vertices, rays;
  std::vector<Dictionary> waiting{*data.start};
  seen.insert(key_of(waiting.back()));
  const std::size_t most_dictionaries = 20 * limit + 1000;
  while (!waiting.empty()) {
    Dictionary here = std::move(waiting.back());
    waiting.pop_back();
    here.point(y);
    std::vector<std::uint32_t> tight = tight_at(y, false);
    if (vertices.insert(tight).second) {
      if (out.vertices.size() + out.rays.size() >= limit) {
        out.complete = false;
        return out;
      }
      out.vertices.push_back({data.point_of(y, false), std::move(tight)});
    }
    for (std::size_t j = 0; j < here.columns(); ++j) {
      if (here.is_line(j)) continue;
      if (here.leaving(j, false, false) == here.rows()) {
        here.direction(j, y);
        tight = tight_at(y, true);
        if (!rays.insert(tight).second) continue;
        if (out.vertices.size() + out.rays.size() >= limit) {
          out.complete = false;
          return out;
        }
        std::vector<double> direction = data.point_of(y, true);
        const double size = largest(direction.data(), direction.size());
        for (double& each : direction) each /= size > 0 ? size : 1;
        out.rays.push_back({std::move(direction), std::move(tight)});
        continue;
      }
      // Every slack that reaches zero first leads to a dictionary.
      double least = kInfinity;
      for (std::size_t i = 0; i < here.rows(); ++i) {
        if (here.is_slack(here.row(i)) && here.cell(i, j) < -Dictionary::kPivot)
          least = std::min(least, std::max(here.constant_of(i), 0.0) / -here.cell(i, j));
      }
      for (std::size_t i = 0; i < here.rows(); ++i) {
        if (!here.is_slack(here.row(i)) || here.cell(i, j) >= -1e-7) continue;
        if (std::max(here.constant_of(i), 0.0) / -here.cell(i, j) > least + 10 * data.options.tolerance)
          continue;
        std::vector<int> key = key_of(here);
        std::replace(key.begin(), key.end(), here.column(j), here.row(i));
        std::sort(key.begin(), key.end());
        if (!seen.insert(std::move(key)).second) continue;
        if (seen.size() > most_dictionaries) {
          out.complete = false;
          continue;
        }
        waiting.push_back(here);
        waiting.back().pivot(i, j);
      }
    }
  }
  return out;
}

}  // namespace judder::contact
