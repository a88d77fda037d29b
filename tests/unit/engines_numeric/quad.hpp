// Numbers of 113 bits and exp(A) with them: the oracle for the matrix exponentials. Only sums, products and
// quotients are used, so no library beyond the compiler's own is needed.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace judder {

__extension__ using Quad = __float128;

inline Quad magnitude(Quad value) { return value < 0 ? -value : value; }

/// exp(A t), A n × n row-major, by a series of A t/2^s and s squarings.
inline std::vector<Quad> quad_exponential(int n, const std::vector<double>& a, Quad t) {
  const auto size = static_cast<std::size_t>(n * n);
  std::vector<Quad> scaled(size);
  Quad norm = 0;
  for (int i = 0; i < n; ++i) {
    Quad sum = 0;
    for (int j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      scaled[at] = static_cast<Quad>(a[at]) * t;
      sum += magnitude(scaled[at]);
    }
    if (sum > norm) norm = sum;
  }
  int squarings = 0;
  for (; norm > static_cast<Quad>(0.25); norm /= 2) ++squarings;
  for (Quad& entry : scaled) {
    for (int s = 0; s < squarings; ++s) entry /= 2;
  }
  const auto product = [n, size](const std::vector<Quad>& left, const std::vector<Quad>& right) {
    std::vector<Quad> result(size);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        Quad sum = 0;
        for (int k = 0; k < n; ++k) {
          sum += left[static_cast<std::size_t>(i * n + k)] * right[static_cast<std::size_t>(k * n + j)];
        }
        result[static_cast<std::size_t>(i * n + j)] = sum;
      }
    }
    return result;
  };
  std::vector<Quad> term(size, 0), sum(size, 0);
  for (int i = 0; i < n; ++i)
    term[static_cast<std::size_t>(i * n + i)] = sum[static_cast<std::size_t>(i * n + i)] = 1;
  for (int k = 1; k < 40; ++k) {
    term = product(term, scaled);
    for (std::size_t i = 0; i < size; ++i) {
      term[i] /= k;
      sum[i] += term[i];
    }
  }
  for (int s = 0; s < squarings; ++s) sum = product(sum, sum);
  return sum;
}

}  // namespace judder
