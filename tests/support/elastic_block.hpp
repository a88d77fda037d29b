// The elastic block of gallery/elastic-block for any mesh, assembled here on its own: closed forms of the matrices of a rectangle instead of integration points.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "judder/engines/structure.hpp"

namespace judder::test {

struct BlockNumbers {
  double length = 2, height = 1, young = 1e6, poisson = 0.3, density = 1000;
  double pressure = 2e4, pull = 1e4, mu = 0.3, gap = 0;
};

inline engines::Structure elastic_block(int columns, int rows, const BlockNumbers& number = {}) {
  const double w = number.length / columns, h = number.height / rows;
  const double factor = number.young / ((1 + number.poisson) * (1 - 2 * number.poisson));
  const double direct = factor * (1 - number.poisson), cross = factor * number.poisson;
  const double shear = factor * (1 - 2 * number.poisson) / 2;
  // Counter-clockwise from the lower left; each shape function is a product of (1 ± s)/2 in both directions.
  constexpr std::array<int, 4> kX{0, 1, 1, 0}, kY{0, 0, 1, 1};
  const auto slopes = [](int a, int b) { return a == b ? 1.0 : -1.0; };         // ∫ f' g' times the length
  const auto values = [](int a, int b) { return a == b ? 1.0 / 3 : 1.0 / 6; };  // ∫ f g per length
  const auto mixed = [](int a) { return a == 1 ? 0.5 : -0.5; };                 // ∫ f'_a g, of any g
  std::vector<engines::SparseEntry> stiffness, mass;
  const int per_column = 2 * (rows + 1);
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < rows; ++j) {
      for (int m = 0; m < 4; ++m) {
        for (int n = 0; n < 4; ++n) {
          if (i + kX[m] == 0 || i + kX[n] == 0) continue;  // clamped
          const int r = (i + kX[m] - 1) * per_column + 2 * (j + kY[m]);
          const int c = (i + kX[n] - 1) * per_column + 2 * (j + kY[n]);
          const double xx = slopes(kX[m], kX[n]) * values(kY[m], kY[n]) * h / w;
          const double yy = slopes(kY[m], kY[n]) * values(kX[m], kX[n]) * w / h;
          const double xy = mixed(kX[m]) * mixed(kY[n]), yx = mixed(kY[m]) * mixed(kX[n]);
          stiffness.push_back({r, c, direct * xx + shear * yy});
          stiffness.push_back({r, c + 1, cross * xy + shear * yx});
          stiffness.push_back({r + 1, c, cross * yx + shear * xy});
          stiffness.push_back({r + 1, c + 1, direct * yy + shear * xx});
          const double inertia = number.density * values(kX[m], kX[n]) * values(kY[m], kY[n]) * w * h;
          mass.push_back({r, c, inertia});
          mass.push_back({r + 1, c + 1, inertia});
        }
      }
    }
  }
  engines::Structure out;
  const int size = columns * per_column;
  out.stiffness = engines::make_sparse(size, std::move(stiffness));
  out.mass = engines::make_sparse(size, std::move(mass));
  out.load.assign(static_cast<std::size_t>(size), 0.0);
  for (int i = 1; i <= columns; ++i) {
    out.load[(i - 1) * per_column + 2 * rows + 1] -= number.pressure * (i < columns ? w : w / 2);
    out.contacts.push_back({(i - 1) * per_column + 1, (i - 1) * per_column, number.gap, number.mu});
  }
  for (int j = 0; j <= rows; ++j)
    out.load[(columns - 1) * per_column + 2 * j] += number.pull * (j > 0 && j < rows ? h : h / 2);
  return out;
}

}  // namespace judder::test
