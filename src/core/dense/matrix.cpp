#include "core/dense/matrix.hpp"

#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace judder::dense {
namespace {

void look(Patience* patience) {
  if (patience != nullptr) patience->look();
}

/// A similar matrix with zeros below the first subdiagonal.
void to_hessenberg(ComplexMatrix& a, Patience* patience) {
  const std::size_t n = a.n;
  std::vector<Complex> v(n);
  for (std::size_t k = 0; k + 2 < n; ++k) {
    look(patience);
    double norm = 0;
    for (std::size_t i = k + 1; i < n; ++i) norm += std::norm(a(i, k));
    norm = std::sqrt(norm);
    if (norm == 0) continue;
    const Complex first = a(k + 1, k);
    const Complex turn = first == 0.0 ? Complex(1) : first / std::abs(first);
    double square = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      v[i] = a(i, k) + (i == k + 1 ? turn * norm : Complex(0));
      square += std::norm(v[i]);
    }
    for (std::size_t j = 0; j < n; ++j) {
      Complex sum = 0;
      for (std::size_t i = k + 1; i < n; ++i) sum += std::conj(v[i]) * a(i, j);
      for (std::size_t i = k + 1; i < n; ++i) a(i, j) -= 2.0 * v[i] * sum / square;
    }
    for (std::size_t i = 0; i < n; ++i) {
      Complex sum = 0;
      for (std::size_t j = k + 1; j < n; ++j) sum += a(i, j) * v[j];
      for (std::size_t j = k + 1; j < n; ++j) a(i, j) -= 2.0 * sum * std::conj(v[j]) / square;
    }
  }
}

/// The eigenvalue of the 2×2 block at (k−1, k) that is nearer to its last entry.
Complex wilkinson_shift(ComplexMatrix& a, std::size_t k) {
  const Complex p = a(k - 1, k - 1), s = a(k, k), cross = a(k - 1, k) * a(k, k - 1);
  const Complex half = 0.5 * (p - s), root = std::sqrt(half * half + cross);
  const Complex far = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return far == 0.0 ? s : s - cross / far;
}

/// One QR step with a shift on rows and columns low … high.
void qr_step(ComplexMatrix& a, std::size_t low, std::size_t high, Complex shift) {
  std::vector<std::pair<Complex, Complex>> turns;
  for (std::size_t i = low; i <= high; ++i) a(i, i) -= shift;
  for (std::size_t k = low; k < high; ++k) {
    const double size = elementary::hypot(std::abs(a(k, k)), std::abs(a(k + 1, k)));
    const Complex c = size == 0 ? Complex(1) : a(k, k) / size,
                  s = size == 0 ? Complex(0) : a(k + 1, k) / size;
    turns.emplace_back(c, s);
    for (std::size_t j = k; j <= high; ++j) {
      const Complex x = a(k, j), y = a(k + 1, j);
      a(k, j) = std::conj(c) * x + std::conj(s) * y;
      a(k + 1, j) = c * y - s * x;
    }
  }
  for (std::size_t k = low; k < high; ++k) {
    const auto& [c, s] = turns[k - low];
    for (std::size_t i = low; i <= std::min(k + 1, high); ++i) {
      const Complex x = a(i, k), y = a(i, k + 1);
      a(i, k) = x * c + y * s;
      a(i, k + 1) = y * std::conj(c) - x * std::conj(s);
    }
  }
  for (std::size_t i = low; i <= high; ++i) a(i, i) += shift;
}

template <class Scalar>
bool eliminate(SquareMatrix<Scalar>& a, std::vector<Scalar>& b, std::size_t columns, Patience* patience) {
  const std::size_t n = a.n;
  for (std::size_t k = 0; k < n; ++k) {
    look(patience);
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    if (!(std::abs(a(pivot, k)) > 0)) return false;
    if (pivot != k) {
      for (std::size_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
      for (std::size_t j = 0; j < columns; ++j) std::swap(b[k * columns + j], b[pivot * columns + j]);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const Scalar factor = a(i, k) / a(k, k);
      if (factor == 0.0) continue;
      for (std::size_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
      for (std::size_t j = 0; j < columns; ++j) b[i * columns + j] -= factor * b[k * columns + j];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    look(patience);
    for (std::size_t j = 0; j < columns; ++j) {
      Scalar sum = b[k * columns + j];
      for (std::size_t i = k + 1; i < n; ++i) sum -= a(k, i) * b[i * columns + j];
      b[k * columns + j] = sum / a(k, k);
    }
  }
  return true;
}

}  // namespace

bool solve(ComplexMatrix& a, std::vector<Complex>& b, std::size_t columns, Patience* patience) {
  return eliminate(a, b, columns, patience);
}
bool solve(RealMatrix& a, std::vector<double>& b, std::size_t columns, Patience* patience) {
  return eliminate(a, b, columns, patience);
}

std::vector<Complex> eigenvalues(ComplexMatrix a, Patience* patience) {
  for (const Complex& x : a.a) {
    if (!std::isfinite(x.real()) || !std::isfinite(x.imag())) return {};
  }
  if (a.n == 0) return {};
  to_hessenberg(a, patience);
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  std::vector<Complex> out;
  std::size_t high = a.n - 1;
  int steps = 0;
  for (;;) {
    look(patience);
    std::size_t low = high;
    while (low > 0) {
      const double size = std::abs(a(low, low)) + std::abs(a(low - 1, low - 1));
      if (std::abs(a(low, low - 1)) <= kEpsilon * size) {
        a(low, low - 1) = 0;
        break;
      }
      --low;
    }
    if (low == high) {
      out.push_back(a(high, high));
      if (high == 0) break;
      --high;
      steps = 0;
      continue;
    }
    if (++steps > 200) return {};
    // A shift out of the ordinary now and then breaks cycles.
    const Complex shift = steps % 30 == 0 ? Complex(std::abs(a(high, high - 1)) + std::abs(a(high, high)))
                                          : wilkinson_shift(a, high);
    qr_step(a, low, high, shift);
  }
  std::sort(out.begin(), out.end(), [](const Complex& x, const Complex& y) {
    return x.real() != y.real() ? x.real() > y.real() : x.imag() > y.imag();
  });
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

std::vector<std::vector<double>> independent(std::vector<std::vector<double>> rows, double least) {
  std::vector<std::vector<double>> out;
  while (!rows.empty()) {
    const auto longest = std::max_element(rows.begin(), rows.end(),
                                          [](const auto& p, const auto& q) { return dot(p, p) < dot(q, q); });
    const double size = norm(*longest);
    if (!(size > least)) break;
    std::vector<double> unit = *longest;
    for (double& each : unit) each /= size;
    rows.erase(longest);
    for (std::vector<double>& row : rows) {
      for (int twice = 0; twice < 2; ++twice) {
        const double along = dot(row, unit);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] -= along * unit[j];
      }
    }
    out.push_back(std::move(unit));
  }
  return out;
}

std::vector<std::vector<double>> orthogonal_to(const std::vector<std::vector<double>>& basis,
                                               std::size_t width) {
  std::vector<std::vector<double>> rest;
  for (std::size_t j = 0; j < width; ++j) {
    std::vector<double> unit(width, 0);
    unit[j] = 1;
    for (int twice = 0; twice < 2; ++twice) {
      for (const std::vector<double>& q : basis) {
        const double along = dot(unit, q);
        for (std::size_t i = 0; i < width; ++i) unit[i] -= along * q[i];
      }
    }
    rest.push_back(std::move(unit));
  }
  constexpr double kLeft = 1e-6;  // below it a direction is the rounding of those before it
  std::vector<std::vector<double>> out = independent(std::move(rest), kLeft);
  out.resize(std::min(out.size(), width - std::min(width, basis.size())));
  return out;
}

}  // namespace judder::dense
