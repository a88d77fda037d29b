// Products of small square matrices with vectors, eight rows at a time.
//
//     out_i = Σ_j M_ij x_j ,      bound_i = Σ_j |M_ij| w_j
//
// The matrix is kept by blocks of eight rows (the last block has the next even number of rows), each block column by column: eight sums grow
// side by side in registers, and each of them runs over j = 0, 1, … in order, so that the bits are those of the plain double loop.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "engines/numeric/pair.hpp"

namespace judder::engines::numeric {

constexpr int kPackedRows = 8;

/// Numbers that a packed n × n matrix takes.
[[nodiscard]] constexpr std::size_t packed_size(int n) {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n + n % 2);
}

/// rows: n × n, row-major.
inline void pack(int n, const double* rows, double* out) {
  for (int first = 0; first < n; first += kPackedRows) {
    const int height = n - first >= kPackedRows ? kPackedRows : n - first + (n - first) % 2;
    for (int j = 0; j < n; ++j) {
      for (int i = first; i < first + height; ++i) *out++ = i < n ? rows[i * n + j] : 0;
    }
  }
}

namespace packed {

/// The first `rows` numbers of a row of pairs.
template <std::size_t Pairs>
inline void store(const std::array<Pair, Pairs>& values, double* out, int rows) {
  std::size_t i = 0;
  for (; 2 * i + 1 < static_cast<std::size_t>(rows); ++i) store_pair(values[i], out + 2 * i);
  if (rows % 2 != 0) out[2 * i] = values[i][0];
}

template <int Height>
inline void block(const double* columns, int n, const double* x, double* out, int rows) {
  std::array<Pair, Height / 2> sum{};
  for (int j = 0; j < n; ++j, columns += Height) {
    const Pair factor = both(x[j]);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += load_pair(columns + 2 * i) * factor;
  }
  store(sum, out, rows);
}

template <int Height>
inline void block_bounded(const double* columns, int n, const double* x, const double* weight, double* out,
                          double* bound, int rows) {
  std::array<Pair, Height / 2> sum{};
  std::array<Pair, Height / 2> error{};
  for (int j = 0; j < n; ++j, columns += Height) {
    const Pair factor = both(x[j]);
    const Pair share = both(weight[j]);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const Pair entry = load_pair(columns + 2 * i);
      sum[i] += entry * factor;
      error[i] += magnitude(entry) * share;
    }
  }
  store(sum, out, rows);
  store(error, bound, rows);
}

/// Calls work(height as a constant, offset of the block in the matrix, first row, rows) for every block.
template <class Work>
inline void for_blocks(int n, const Work& work) {
  int first = 0;
  for (; n - first >= kPackedRows; first += kPackedRows)
    work(std::integral_constant<int, kPackedRows>{}, first * n, first, kPackedRows);
  const int rows = n - first;
  switch ((rows + 1) / 2) {
    case 1:
      work(std::integral_constant<int, 2>{}, first * n, first, rows);
      break;
    case 2:
      work(std::integral_constant<int, 4>{}, first * n, first, rows);
      break;
    case 3:
      work(std::integral_constant<int, 6>{}, first * n, first, rows);
      break;
    case 4:
      work(std::integral_constant<int, 8>{}, first * n, first, rows);
      break;
    default:
      break;
  }
}

}  // namespace packed

/// out = M x; x and out must not overlap.
inline void multiply(int n, const double* matrix, const double* x, double* out) {
  packed::for_blocks(n, [&](auto height, int at, int first, int rows) {
    packed::block<height>(matrix + at, n, x, out + first, rows);
  });
}

/// out = M x and bound = |M| weight.
inline void multiply_bounded(int n, const double* matrix, const double* x, const double* weight, double* out,
                             double* bound) {
  packed::for_blocks(n, [&](auto height, int at, int first, int rows) {
    packed::block_bounded<height>(matrix + at, n, x, weight, out + first, bound + first, rows);
  });
}

/// out = x + Σ_{k=1…terms} (M τ)^k x/k!, from the last term to the first (Horner); x and out must not overlap, `memory` has n numbers.
inline void exponential_series(int n, const double* matrix, const double* x, double tau, int terms,
                               double* out, double* memory) {
  if (n <= kPackedRows) {
    packed::for_blocks(n, [&](auto height, int, int, int rows) {
      constexpr std::size_t kPairs = height / 2;
      std::array<double, height> start{}, value;
      for (int i = 0; i < rows; ++i) start[static_cast<std::size_t>(i)] = x[i];
      value = start;
      for (int k = terms; k >= 1; --k) {
        std::array<Pair, kPairs> sum{};
        for (int j = 0; j < n; ++j) {
          const Pair factor = both(value[static_cast<std::size_t>(j)]);
          for (std::size_t i = 0; i < kPairs; ++i)
            sum[i] += load_pair(matrix + static_cast<std::size_t>(j) * height + 2 * i) * factor;
        }
        const Pair step = both(tau / k);
        for (std::size_t i = 0; i < kPairs; ++i)
          store_pair(load_pair(start.data() + 2 * i) + step * sum[i], value.data() + 2 * i);
      }
      for (int i = 0; i < rows; ++i) out[i] = value[static_cast<std::size_t>(i)];
    });
    return;
  }
  for (int i = 0; i < n; ++i) out[i] = x[i];
  for (int k = terms; k >= 1; --k) {
    multiply(n, matrix, out, memory);
    const double step = tau / k;
    for (int i = 0; i < n; ++i) out[i] = x[i] + step * memory[i];
  }
}

/// xᵀ M x, the sum over i of x_i (M x)_i; `terms` is |x|ᵀ |M| |x|.
inline double quadratic_form(int n, const double* matrix, const double* x, double& terms) {
  double sum = 0;
  double size = 0;
  packed::for_blocks(n, [&](auto height, int at, int first, int rows) {
    std::array<Pair, height / 2> product{};
    std::array<Pair, height / 2> absolute{};
    const double* columns = matrix + at;
    for (int j = 0; j < n; ++j, columns += height) {
      const Pair factor = both(x[j]);
      for (std::size_t i = 0; i < product.size(); ++i) {
        const Pair term = load_pair(columns + 2 * i) * factor;
        product[i] += term;
        absolute[i] += magnitude(term);
      }
    }
    std::array<double, kPackedRows> values{}, sizes{};
    packed::store(product, values.data(), rows);
    packed::store(absolute, sizes.data(), rows);
    for (int i = 0; i < rows; ++i) {
      sum += x[first + i] * values[static_cast<std::size_t>(i)];
      size += (x[first + i] < 0 ? -x[first + i] : x[first + i]) * sizes[static_cast<std::size_t>(i)];
    }
  });
  terms = size;
  return sum;
}

}  // namespace judder::engines::numeric
