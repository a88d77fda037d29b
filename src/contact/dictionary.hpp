// The dictionary of the simplex method: slacks of inequalities as affine functions of some of them (Chvátal 1983, chapter 2).
//
//     s_i = g_i − Σ_j G_ij y_j ≥ 0 ,   y free
//
// Free variables are pivoted into the basis at once and never leave it. Columns that no slack depends on are lines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "judder/core/patience.hpp"

namespace judder::contact {

class Dictionary {
 public:
  static constexpr double kPivot = 1e-10;  ///< of entries of size one
  /// `inequalities` (m × d) and `bounds` have rows of size one.
  Dictionary(const std::vector<double>& inequalities, const std::vector<double>& bounds, std::size_t d,
             double tolerance, Patience* patience)
      : slacks_(bounds.size()), free_(d), tolerance_(tolerance), patience_(patience) {
    row_.resize(slacks_);
    column_.resize(free_);
    cells_.resize(slacks_ * width());
    for (std::size_t i = 0; i < slacks_; ++i) {
      row_[i] = static_cast<int>(i);
      for (std::size_t j = 0; j < free_; ++j) at(i, j) = -inequalities[i * free_ + j];
      constant(i) = bounds[i];
    }
    for (std::size_t j = 0; j < free_; ++j) column_[j] = static_cast<int>(slacks_ + j);
    free_variables_first();
  }

  [[nodiscard]] std::size_t width() const { return column_.size() + 1; }
  [[nodiscard]] std::size_t columns() const { return column_.size(); }
  [[nodiscard]] std::size_t rows() const { return row_.size(); }
  [[nodiscard]] int row(std::size_t i) const { return row_[i]; }
  [[nodiscard]] int column(std::size_t j) const { return column_[j]; }
  [[nodiscard]] double cell(std::size_t i, std::size_t j) const { return cells_[i * width() + j]; }
  [[nodiscard]] double constant_of(std::size_t i) const { return cells_[i * width() + columns()]; }
  /// Numbers below `slacks` are slacks, those from there on free variables.
  [[nodiscard]] bool is_slack(int number) const { return number >= 0 && number < static_cast<int>(slacks_); }
  [[nodiscard]] bool is_line(std::size_t j) const { return !is_slack(column_[j]); }

  /// The basic variable of row r and the other of column c change places.
  void pivot(std::size_t r, std::size_t c) {
    if (patience_ != nullptr) patience_->look();
    const std::size_t w = width();
    double* const pr = cells_.data() + r * w;
    const double inverse = 1 / pr[c];
    for (std::size_t j = 0; j < w; ++j) pr[j] = j == c ? inverse : -pr[j] * inverse;
    for (std::size_t i = 0; i < rows(); ++i) {
      if (i == r) continue;
      double* const pi = cells_.data() + i * w;
      const double factor = pi[c];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < w; ++j) pi[j] = j == c ? factor * inverse : pi[j] + factor * pr[j];
    }
    std::swap(row_[r], column_[c]);
  }

  /// Walks to a dictionary without negative constants of slacks; false: there is none, and `multipliers` by slack prove it (Farkas).
  enum class Outcome : std::uint8_t { found, none, gave_up };
  Outcome find_feasible(std::vector<double>& multipliers) {
    std::size_t worst = rows();
    double most = tolerance_;
    for (std::size_t i = 0; i < rows(); ++i) {
      if (is_slack(row_[i]) && -constant(i) > most) {
        most = -constant(i);
        worst = i;
      }
    }
    if (worst == rows()) return Outcome::found;
    add_artificial();
    pivot(worst, artificial_column());
    // Now the artificial variable is basic in row `worst`; it is made small.
    Outcome outcome = Outcome::gave_up;
    const std::size_t most_pivots = 200 + 20 * (rows() + columns());
    for (std::size_t n = 0; n < most_pivots; ++n) {
      const std::size_t t = row_of(kArtificial);
      if (t == rows()) {
        outcome = Outcome::found;
        break;
      }
      if (constant(t) <= tolerance_) {
        leave_artificial(t);
        outcome = Outcome::found;
        break;
      }
      std::size_t enter = columns();
      double best = -kPivot;
      for (std::size_t j = 0; j < columns(); ++j) {
        if (is_line(j)) continue;
        const double slope = at(t, j);
        if (n > most_pivots / 2 ? slope < -kPivot && (enter == columns() || column_[j] < column_[enter])
                                : slope < best) {
          best = slope;
          enter = j;
        }
      }
      if (enter == columns()) {
        multipliers.assign(slacks_, 0);
        for (std::size_t j = 0; j < columns(); ++j) {
          if (is_slack(column_[j]))
            multipliers[static_cast<std::size_t>(column_[j])] = std::max(at(t, j), 0.0);
        }
        outcome = Outcome::none;
        break;
      }
      const std::size_t leave = leaving(enter, n > most_pivots / 2, true);
      if (leave == rows()) break;  // cannot be: the artificial variable is bounded below
      pivot(leave, enter);
    }
    if (outcome == Outcome::found) drop_artificial();
    return outcome;
  }

  /// max Σ weight_j y_j from a feasible dictionary. `ray_column`: along which it grows without bound.
  enum class Answer : std::uint8_t { optimal, unbounded, gave_up };
  Answer maximise(const std::vector<double>& weights, std::size_t& ray_column,
                  std::vector<double>& multipliers) {
    std::vector<double> slope(columns());
    const std::size_t most_pivots = 200 + 20 * (rows() + columns());
    double size = 0;
    for (const double w : weights) size = std::max(size, std::abs(w));
    for (std::size_t n = 0; n < most_pivots; ++n) {
      objective(weights, slope);
      std::size_t enter = columns();
      double best = kPivot * size;
      for (std::size_t j = 0; j < columns(); ++j) {
        if (is_line(j)) {
          if (std::abs(slope[j]) > kPivot * size) {
            ray_column = j;
            return Answer::unbounded;
          }
          continue;
        }
        if (n > most_pivots / 2
                ? slope[j] > kPivot * size && (enter == columns() || column_[j] < column_[enter])
                : slope[j] > best) {
          best = slope[j];
          enter = j;
        }
      }
      if (enter == columns()) {
        multipliers.assign(slacks_, 0);
        for (std::size_t j = 0; j < columns(); ++j) {
          if (is_slack(column_[j]))
            multipliers[static_cast<std::size_t>(column_[j])] = std::max(-slope[j], 0.0);
        }
        return Answer::optimal;
      }
      const std::size_t leave = leaving(enter, n > most_pivots / 2, false);
      if (leave == rows()) {
        ray_column = enter;
        return Answer::unbounded;
      }
      pivot(leave, enter);
    }
    return Answer::gave_up;
  }

  /// Which slack leaves when column `enter` grows; rows(): none. Ties: the largest pivot, or with `lowest` the lowest number.
  [[nodiscard]] std::size_t leaving(std::size_t enter, bool lowest, bool artificial_too) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows(); ++i) {
      if (!bounds(i, artificial_too) || cell(i, enter) >= -kPivot) continue;
      least = std::min(least, std::max(constant_of(i), 0.0) / -cell(i, enter));
    }
    std::size_t out = rows();
    for (std::size_t i = 0; i < rows(); ++i) {
      if (!bounds(i, artificial_too) || cell(i, enter) >= -kPivot) continue;
      if (std::max(constant_of(i), 0.0) / -cell(i, enter) > least * (1 + 1e-12) + 1e-13) continue;
      const bool better =
          out == rows() || (row_[i] == kArtificial && artificial_too) ||
          (row_[out] != kArtificial && (lowest ? row_[i] < row_[out] : cell(i, enter) < cell(out, enter)));
      if (better) out = i;
    }
    return out;
  }

  /// y at the point of this dictionary.
  void point(std::vector<double>& y) const {
    y.assign(free_, 0);
    for (std::size_t i = 0; i < rows(); ++i) {
      if (row_[i] >= static_cast<int>(slacks_))
        y[static_cast<std::size_t>(row_[i]) - slacks_] = constant_of(i);
    }
  }
  /// How y changes as the variable of column c grows.
  void direction(std::size_t c, std::vector<double>& y) const {
    y.assign(free_, 0);
    if (column_[c] >= static_cast<int>(slacks_)) y[static_cast<std::size_t>(column_[c]) - slacks_] = 1;
    for (std::size_t i = 0; i < rows(); ++i) {
      if (row_[i] >= static_cast<int>(slacks_)) y[static_cast<std::size_t>(row_[i]) - slacks_] = cell(i, c);
    }
  }
  /// Slopes of Σ weight_j y_j along the columns.
  void objective(const std::vector<double>& weights, std::vector<double>& slope) const {
    std::fill(slope.begin(), slope.end(), 0.0);
    for (std::size_t j = 0; j < columns(); ++j) {
      if (column_[j] >= static_cast<int>(slacks_))
        slope[j] = weights[static_cast<std::size_t>(column_[j]) - slacks_];
    }
    for (std::size_t i = 0; i < rows(); ++i) {
      if (row_[i] < static_cast<int>(slacks_)) continue;
      const double w = weights[static_cast<std::size_t>(row_[i]) - slacks_];
      if (w == 0) continue;
      for (std::size_t j = 0; j < columns(); ++j) slope[j] += w * cell(i, j);
    }
  }

 private:
  static constexpr int kArtificial = -1;
  double& at(std::size_t i, std::size_t j) { return cells_[i * width() + j]; }
  double& constant(std::size_t i) { return cells_[i * width() + columns()]; }
  [[nodiscard]] bool bounds(std::size_t i, bool artificial_too) const {
    return is_slack(row_[i]) || (artificial_too && row_[i] == kArtificial);
  }
  [[nodiscard]] std::size_t row_of(int number) const {
    return static_cast<std::size_t>(std::find(row_.begin(), row_.end(), number) - row_.begin());
  }
  [[nodiscard]] std::size_t artificial_column() const {
    return static_cast<std::size_t>(std::find(column_.begin(), column_.end(), kArtificial) - column_.begin());
  }

  void free_variables_first() {
    for (;;) {
      std::size_t r = rows(), c = 0;
      double most = kPivot;
      for (std::size_t i = 0; i < rows(); ++i) {
        if (!is_slack(row_[i])) continue;
        for (std::size_t j = 0; j < columns(); ++j) {
          if (is_line(j) && std::abs(at(i, j)) > most) {
            most = std::abs(at(i, j));
            r = i;
            c = j;
          }
        }
      }
      if (r == rows()) return;
      pivot(r, c);
    }
  }

  /// Every slack that is basic now gets the same additional amount.
  void add_artificial() {
    const std::size_t old = width();
    std::vector<double> cells(rows() * (old + 1));
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t j = 0; j + 1 < old; ++j) cells[i * (old + 1) + j] = cells_[i * old + j];
      cells[i * (old + 1) + old - 1] = is_slack(row_[i]) ? 1 : 0;
      cells[i * (old + 1) + old] = cells_[i * old + old - 1];
    }
    cells_ = std::move(cells);
    column_.push_back(kArtificial);
  }
  /// The artificial variable, at zero, leaves for any column with a pivot, or with its row where there is none.
  void leave_artificial(std::size_t t) {
    std::size_t best = columns();
    double most = kPivot;
    for (std::size_t j = 0; j < columns(); ++j) {
      if (!is_line(j) && std::abs(at(t, j)) > most) {
        most = std::abs(at(t, j));
        best = j;
      }
    }
    if (best < columns()) {
      constant(t) = 0;
      pivot(t, best);
      return;
    }
    const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(t * width());
    cells_.erase(first, first + static_cast<std::ptrdiff_t>(width()));
    row_.erase(row_.begin() + static_cast<std::ptrdiff_t>(t));
  }
  void drop_artificial() {
    const std::size_t c = artificial_column(), old = width();
    if (c == columns()) return;
    std::vector<double> cells;
    cells.reserve(rows() * (old - 1));
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t j = 0; j < old; ++j) {
        if (j != c) cells.push_back(cells_[i * old + j]);
      }
    }
    column_.erase(column_.begin() + static_cast<std::ptrdiff_t>(c));
    cells_ = std::move(cells);
  }

  std::size_t slacks_, free_;
  double tolerance_;
  Patience* patience_;
  std::vector<int> row_, column_;
  std::vector<double> cells_;  ///< by rows, the constant last
};

}  // namespace judder::contact
