// Polyhedra and linear programs: against bodies that are known, against all corners tried one by one, and by certificates.
#include "judder/contact/polyhedron.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "count.hpp"

namespace judder::contact {
namespace {

using Row = std::vector<double>;

Polyhedron box(std::size_t n) {
  Polyhedron p;
  p.variables = n;
  for (std::size_t j = 0; j < n; ++j) {
    Row row(n, 0);
    row[j] = 1;
    p.add_inequality(row, 1);
    row[j] = -1;
    p.add_inequality(row, 1);
  }
  return p;
}

Polyhedron random_polyhedron(std::mt19937_64& random, std::size_t n, std::size_t k, std::size_t m) {
  std::normal_distribution<double> normal;
  Polyhedron p;
  p.variables = n;
  for (std::size_t i = 0; i < k + m; ++i) {
    Row row(n);
    for (double& a : row) a = random() % 4 == 0 ? 0 : normal(random);
    if (i < k)
      p.add_equation(row, normal(random));
    else
      p.add_inequality(row, normal(random) + 0.5);
  }
  return p;
}

/// Solves a square system; false where it is nearly singular.
bool solve(std::vector<Row> a, Row b, Row& x) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t best = c;
    for (std::size_t r = c; r < n; ++r) best = std::abs(a[r][c]) > std::abs(a[best][c]) ? r : best;
    if (std::abs(a[best][c]) < 1e-9) return false;
    std::swap(a[c], a[best]);
    std::swap(b[c], b[best]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double f = a[r][c] / a[c][c];
      for (std::size_t j = c; j < n; ++j) a[r][j] -= f * a[c][j];
      b[r] -= f * b[c];
    }
  }
  x.resize(n);
  for (std::size_t c = 0; c < n; ++c) x[c] = b[c] / a[c][c];
  return true;
}

/// Corners of a polyhedron by trying all choices of tight inequalities.
std::vector<Row> corners_of(const Polyhedron& p) {
  const std::size_t n = p.variables, k = p.equation_count(), m = p.inequality_count();
  std::vector<Row> out;
  for (std::uint32_t mask = 0; mask < 1U << m; ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) + k != n) continue;
    std::vector<Row> a;
    Row b, x;
    for (std::size_t i = 0; i < k + m; ++i) {
      if (i >= k && (mask >> (i - k) & 1U) == 0) continue;
      const double* row = i < k ? &p.equations[i * n] : &p.inequalities[(i - k) * n];
      a.emplace_back(row, row + n);
      b.push_back(i < k ? p.equation_values[i] : p.bounds[i - k]);
    }
    if (!solve(a, b, x)) continue;
    bool inside = true;
    for (std::size_t i = 0; i < m && inside; ++i) {
      double s = p.bounds[i];
      for (std::size_t j = 0; j < n; ++j) s -= p.inequalities[i * n + j] * x[j];
      inside = s > -1e-8;
    }
    const auto same = [&](const Row& other) {
      double d = 0;
      for (std::size_t j = 0; j < n; ++j) d = std::max(d, std::abs(other[j] - x[j]));
      return d < 1e-6;
    };
    if (inside && std::none_of(out.begin(), out.end(), same)) out.push_back(x);
  }
  return out;
}

TEST(Polyhedron, ABoxHasItsCornersAndSides) {
  for (std::size_t n = 1; n <= 12; ++n) {
    PolyhedronSolver solver(box(n));
    ASSERT_TRUE(solver.feasible());
    EXPECT_EQ(solver.dimension(), n);
    EXPECT_EQ(solver.facets().size(), 2 * n);
    const Extremes extremes = solver.extremes(10000);
    EXPECT_TRUE(extremes.complete);
    EXPECT_EQ(extremes.vertices.size(), std::size_t{1} << n);
    EXPECT_TRUE(extremes.rays.empty() && extremes.lines.empty());
    for (const double x : solver.interior()) EXPECT_LT(std::abs(x), 0.9);
  }
  PolyhedronSolver solver(box(12));
  const Extremes cut = solver.extremes(100);
  EXPECT_FALSE(cut.complete) << "a list that was cut says so";
  EXPECT_EQ(cut.vertices.size(), 100U);
}

TEST(Polyhedron, ConesHaveRaysAndSlabsHaveLines) {
  Polyhedron cone;  // |x| ≤ 2 y, z free, x + y + z = 1
  cone.variables = 3;
  cone.add_inequality(Row{1, -2, 0}, 0);
  cone.add_inequality(Row{-1, -2, 0}, 0);
  cone.add_equation(Row{1, 1, 1}, 1);
  PolyhedronSolver solver(cone);
  EXPECT_EQ(solver.dimension(), 2U);
  const Extremes extremes = solver.extremes(10);
  ASSERT_EQ(extremes.vertices.size(), 1U);
  EXPECT_NEAR(extremes.vertices[0].x[2], 1, 1e-12);
  ASSERT_EQ(extremes.rays.size(), 2U);
  for (const auto& ray : extremes.rays) EXPECT_NEAR(std::abs(ray.x[0]), 2 * ray.x[1], 1e-12);
  EXPECT_EQ(solver.range(Row{0, 1, 0}).low, 0);
  EXPECT_EQ(solver.range(Row{0, 1, 0}).high, INFINITY);

  Polyhedron slab;
  slab.variables = 2;
  slab.add_inequality(Row{1, 1}, 1);
  slab.add_inequality(Row{-1, -1}, 1);
  PolyhedronSolver between(slab);
  EXPECT_EQ(between.dimension(), 2U);
  EXPECT_EQ(between.extremes(10).lines.size(), 1U);
  EXPECT_EQ(between.facets().size(), 2U);
  EXPECT_EQ(between.range(Row{1, 0}).high, INFINITY);
  EXPECT_NEAR(between.range(Row{2, 2}).high, 2, 1e-14);
}

// Sets that exist by a knife's edge: a point where cones meet, a line where two sides coincide.
TEST(Polyhedron, FlatSetsAreFound) {
  Polyhedron p;
  p.variables = 2;
  p.add_inequality(Row{1, 1}, 0);
  p.add_inequality(Row{-1, 1}, 0);
  p.add_equation(Row{1, 1}, 0);
  PolyhedronSolver line(p);
  EXPECT_EQ(line.dimension(), 1U) << "of the line x + y = 0 the half in y <= -|x|";
}

TEST(Polyhedron, APointHasNoDirections) {
  Polyhedron p;
  p.variables = 2;
  p.add_inequality(Row{1, 1}, 0);
  p.add_inequality(Row{-1, 1}, 0);
  p.add_inequality(Row{0, -1}, 0);
  PolyhedronSolver point(p);
  ASSERT_TRUE(point.feasible());
  EXPECT_EQ(point.dimension(), 0U);
  EXPECT_EQ(point.implicit(), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_TRUE(point.facets().empty());
  p.bounds[0] = -1e-6;
  EXPECT_FALSE(PolyhedronSolver(p).feasible());
}

// Every corner found by trying all choices is listed, and no other; ranges are those of the corners where there are no rays.
TEST(Polyhedron, CornersAreThoseOfAllChoices) {
  std::mt19937_64 random(16);
  int compared = 0, empty = 0, bounded = 0;
  for (int i = 0; i < count(20000); ++i) {
    const std::size_t n = 2 + random() % 3, k = random() % 2, m = n + 1 + random() % 4;
    const Polyhedron p = random_polyhedron(random, n, k, m);
    PolyhedronSolver solver(p);
    const std::vector<Row> corners = corners_of(p);
    ASSERT_NE(solver.feasibility().status, LinearStatus::not_solved);
    EXPECT_LT(solver.feasibility().certificate, 1e-8) << i;
    if (!solver.feasible()) {
      ++empty;
      EXPECT_TRUE(corners.empty()) << i;
      continue;
    }
    const Extremes extremes = solver.extremes(10000);
    ASSERT_TRUE(extremes.complete);
    if (!extremes.lines.empty()) continue;
    ++compared;
    EXPECT_EQ(extremes.vertices.size(), corners.size()) << i;
    for (const Row& corner : corners) {
      double size = 0;
      for (const double x : corner) size = std::max(size, std::abs(x));
      const auto near = [&](const Extremes::Point& vertex) {
        double d = 0;
        for (std::size_t j = 0; j < n; ++j) d = std::max(d, std::abs(vertex.x[j] - corner[j]));
        return d < 1e-6 * (1 + size);
      };
      EXPECT_TRUE(std::any_of(extremes.vertices.begin(), extremes.vertices.end(), near)) << i;
    }
    Row c(n);
    for (double& each : c) each = std::normal_distribution<double>()(random);
    const LinearResult best = solver.maximise(c);
    EXPECT_LT(best.certificate, 1e-7) << i << " " << name(best.status);
    if (!extremes.rays.empty()) continue;
    ++bounded;
    double most = -INFINITY;
    for (const Row& corner : corners) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += c[j] * corner[j];
      most = std::max(most, sum);
    }
    EXPECT_NEAR(best.value, most, 1e-6 * (1 + std::abs(most))) << i;
  }
  EXPECT_GT(compared, 50);
  EXPECT_GT(empty, 20);
  EXPECT_GT(bounded, 20);
}

// Units of variables and rows change nothing; a wrong multiplier would be seen by the certificate.
TEST(Polyhedron, UnitsChangeNothing) {
  std::mt19937_64 random(5);
  for (int i = 0; i < count(20000); ++i) {
    const std::size_t n = 3, k = 1, m = 6;
    const Polyhedron p = random_polyhedron(random, n, k, m);
    Polyhedron scaled = p;
    const double unit[] = {1e6, 1, 1e-5};
    for (std::size_t r = 0; r < k; ++r) {
      for (std::size_t j = 0; j < n; ++j) scaled.equations[r * n + j] *= unit[j] * 1e3;
      scaled.equation_values[r] *= 1e3;
    }
    for (std::size_t r = 0; r < m; ++r) {
      const double row = r % 2 == 0 ? 1e4 : 1e-4;
      for (std::size_t j = 0; j < n; ++j) scaled.inequalities[r * n + j] *= unit[j] * row;
      scaled.bounds[r] *= row;
    }
    PolyhedronSolver a(p), b(scaled);
    ASSERT_EQ(a.feasible(), b.feasible()) << i;
    if (!a.feasible()) continue;
    EXPECT_EQ(a.dimension(), b.dimension());
    EXPECT_EQ(a.facets(), b.facets()) << i;
    const Range first = a.range(Row{1, 0, 0}), second = b.range(Row{unit[0], 0, 0});
    if (std::isfinite(first.low)) {
      EXPECT_NEAR(first.low, second.low, 1e-7 * (1 + std::abs(first.low)));
    } else {
      EXPECT_EQ(first.low, second.low);
    }
  }
}

TEST(Polyhedron, ContradictingEquationsAreProved) {
  Polyhedron p;
  p.variables = 2;
  p.add_equation(Row{1, 2}, 1);
  p.add_equation(Row{2, 4}, 3);
  PolyhedronSolver solver(p);
  EXPECT_EQ(solver.feasibility().status, LinearStatus::empty);
  EXPECT_LT(solver.feasibility().certificate, 1e-12);
  EXPECT_EQ(solver.maximise(Row{1, 0}).status, LinearStatus::empty);
}

}  // namespace
}  // namespace judder::contact
