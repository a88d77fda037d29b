#include "active_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/double_double.hpp"

namespace judder::engines {
ActiveRows::ActiveRows(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), n_(system.layout().coordinates) {}

const model::Row& ActiveRows::row(int k) const {
  const model::RelationRows& rows = work_.relation[rows_[k].relation];
  return rows_[k].tangent < 0 ? rows.w : rows.tangent[rows_[k].tangent].w;
}

double ActiveRows::zeta(int k) const {
  const model::RelationRows& rows = work_.relation[rows_[k].relation];
  return rows_[k].tangent < 0 ? rows.zeta_n : rows.tangent[rows_[k].tangent].zeta;
}

double ActiveRows::drive(int k) const {
  const model::RelationRows& rows = work_.relation[rows_[k].relation];
  return rows_[k].tangent < 0 ? rows.gap_time : rows.tangent[rows_[k].tangent].drive;
}

void ActiveRows::build_columns(const Mode& mode, std::span<const int> touched) {
  const int many = count();
  columns_.resize(many * n_);
  response_.resize(many * n_);
  for (int k = 0; k < many; ++k) {
    const Row& a = rows_[k];
    const model::RelationRows& rows = work_.relation[a.relation];
    (a.tangent < 0 ? rows.push : rows.tangent[a.tangent].drag).write(columns_.data() + k * n_, n_);
  }
  for (const int r : touched) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      const double coefficient =
          status == TangentStatus::smooth ? rows.tangent[j].mu : direction(status) * rows.tangent[j].mu;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int fed = relation.feeds[f];
        for (int k = 0; k < many; ++k) {
          const Row& a = rows_[k];
          if (a.relation != fed || a.tangent >= 0) continue;
          const int pressed = mode.pressed[fed];
          const double factor = coefficient * rows.factors[f] * (pressed == 0 ? 1 : pressed);
          double* column = columns_.data() + k * n_;
          const model::Row& drag = rows.tangent[j].drag;
          for (std::size_t e = 0; e < drag.values().size(); ++e)
            column[drag.places()[e]] -= factor * drag.values()[e];
        }
      }
    }
  }
  std::copy(columns_.begin(), columns_.end(), response_.begin());
  response_first_.resize(many);
  response_end_.resize(many);
  for (int k = 0; k < many; ++k) {
    look();
    const double* response = response_.data() + k * n_;
    system_.solve_mass(work_, response_.data() + k * n_);
    int first = 0;
    int end = n_;
    while (first < end && response[first] == 0) ++first;
    while (end > first && response[end - 1] == 0) --end;
    response_first_[k] = first;
    response_end_[k] = end;
  }
}

// Entries are compared relative to the diagonal of G M⁻¹ Gᵀ, so units do not matter.
void ActiveRows::find_order(numeric::RankedLu& ranking) {
  const int many = count();
  ranking.resize(many);
  std::copy_n(matrix_.begin(), many * many, ranking.matrix());
  forward_.resize(std::max(many, n_));
  sizes_.resize(many);
  double* size = sizes_.data();
  determinant_scale_ = 1;
  for (int a = 0; a < many; ++a) {
    look();
    const model::Row& g = row(a);
    g.write(forward_.data(), n_);
    system_.solve_mass(work_, forward_.data());
    size[a] = std::abs(dot(g, forward_.data()));
    if (size[a] == 0) size[a] = 1;
    determinant_scale_ *= size[a];
  }
  rank_ = ranking.factor(size) ? ranking.rank() : -1;
  for (int p = 0; p < many; ++p) {
    first_rows_[p] = row_order_[p] = ranking.row(p);
    column_order_[p] = ranking.column(p);
  }
  find_held();
}

bool ActiveRows::direction_constant(int k) const {
  const model::Relation& relation = system_.relations()[rows_[k].relation];
  if (relation.rows_constant) return true;
  const model::Symbols& symbols = system_.symbols();
  const std::vector<expr::Node>& w = rows_[k].tangent < 0
                                         ? symbols.normal[rows_[k].relation].w
                                         : symbols.tangent[relation.first_tangent + rows_[k].tangent].w;
  return std::all_of(w.begin(), w.end(),
                     [this](expr::Node node) { return system_.graph().is_constant(node); });
}

// Gauss-Jordan on the independent rows of constant direction, with the combination of rows beside each: what is left with a single entry
// determines its coordinate. Small whole numbers, which most rows consist of, stay exact. Entries of different coordinates are compared by
// the mobility that they have, g²/m: they have different units.
void ActiveRows::find_held() {
  constexpr double kDependent = 1e-10;  ///< share of its size that is left of a row
  constexpr double kRounding = 16 * 2.220446049250313e-16;
  held_.clear();
  shares_.clear();
  pivots_.clear();
  const int many = count();
  const int width = n_ + many;
  echelon_.resize(static_cast<std::size_t>(many) * width);
  // target -= factor · source, and no entry that is nothing but rounding
  const auto subtract = [width](double* target, const double* source, double factor) {
    for (int i = 0; i < width; ++i) {
      if (source[i] == 0) continue;
      const double term = factor * source[i];
      const double rest = target[i] - term;
      target[i] = std::abs(rest) <= kRounding * (std::abs(target[i]) + std::abs(term)) ? 0 : rest;
    }
  };
  const auto mobility = [&](const double* entries, int i) {
    return entries[i] != 0 ? entries[i] / work_.inertia[i] * entries[i] : 0;
  };
  for (int p = 0; p < rank_; ++p) {
    look();
    const int k = first_rows_[p];
    if (!direction_constant(k)) continue;
    const auto found = static_cast<int>(pivots_.size());
    double* entries = echelon_.data() + static_cast<std::size_t>(found) * width;
    row(k).write(entries, n_);
    bool massive = true;
    double size = 0;
    for (int i = 0; i < n_; ++i) {
      massive = massive && (entries[i] == 0 || !system_.massless()[i]);
      if (massive) size = std::max(size, mobility(entries, i));
    }
    if (!massive || !(size > 0) || !std::isfinite(size)) continue;
    std::fill_n(entries + n_, many, 0.0);
    entries[n_ + k] = 1;
    for (int e = 0; e < found; ++e) {
      if (entries[pivots_[e]] != 0)
        subtract(entries, echelon_.data() + static_cast<std::size_t>(e) * width, entries[pivots_[e]]);
    }
    int pivot = 0;
    for (int i = 1; i < n_; ++i) {
      if (mobility(entries, i) > mobility(entries, pivot)) pivot = i;
    }
    if (!(mobility(entries, pivot) > kDependent * kDependent * size)) continue;
    const double divisor = entries[pivot];
    for (int i = 0; i < width; ++i) entries[i] /= divisor;
    for (int e = 0; e < found; ++e) {
      double* above = echelon_.data() + static_cast<std::size_t>(e) * width;
      if (above[pivot] != 0) subtract(above, entries, above[pivot]);
    }
    pivots_.push_back(pivot);
  }
  for (std::size_t e = 0; e < pivots_.size(); ++e) {
    const double* entries = echelon_.data() + e * width;
    if (std::count_if(entries, entries + n_, [](double x) { return x != 0; }) != 1) continue;
    for (int k = 0; k < many; ++k) {
      if (entries[n_ + k] != 0) shares_.push_back({k, entries[n_ + k]});
    }
    held_.push_back({pivots_[e], static_cast<int>(shares_.size())});
  }
}

template <class Given>
void ActiveRows::hold(const Given& given, double* target) const {
  int s = 0;
  for (const Held& held : held_) {
    double sum = 0;
    for (; s < held.end; ++s) sum -= shares_[s].weight * given(shares_[s].row);
    target[held.coordinate] = sum;
  }
}

void ActiveRows::hold_accelerations(const double* zeta, double* acceleration) const {
  hold([zeta](int k) { return zeta[k]; }, acceleration);
}

void ActiveRows::hold_accelerations(double* acceleration) const {
  hold([this](int k) { return zeta(k); }, acceleration);
}

void ActiveRows::hold_velocities(double* velocity) const {
  hold([this](int k) { return drive(k); }, velocity);
}

bool ActiveRows::factorise(bool find_rank, numeric::RankedLu& ranking) {
  const int many = count();
  if (many == 0) {
    rank_ = 0;
    held_.clear();
    return true;
  }
  matrix_.resize(many * many);
  row_order_.resize(many);
  column_order_.resize(many);
  first_rows_.resize(many);
  for (int a = 0; a < many; ++a) {
    look();
    for (int k = 0; k < many; ++k) matrix_[a * many + k] = dot(row(a), response(k));
  }
  if (find_rank) {
    find_order(ranking);
    if (rank_ < 0) return false;
  } else {
    std::copy_n(first_rows_.begin(), many, row_order_.begin());
  }
  // In-place LU in the order found, on the leading rank rows and columns. Rows may have different units: their entries are compared by their
  // square over what the row would have with the inertias of the coordinates alone.
  pivot_sizes_.resize(many);
  for (int a = 0; a < many; ++a) {
    const model::Row& g = row(a);
    double sum = 0;
    for (std::size_t e = 0; e < g.values().size(); ++e) {
      const double entry = g.values()[e];
      const double inertia = work_.inertia[g.places()[e]];
      if (entry != 0 && inertia > 0) sum += entry / inertia * entry;
    }
    pivot_sizes_[a] = sum > 0 ? sum : 1;
  }
  for (int p = 0; p < rank_; ++p) {
    look();
    int best = p;
    double largest = -1;
    const int pc = column_order_[p];
    for (int a = p; a < rank_; ++a) {
      const double entry = matrix_[row_order_[a] * many + pc];
      const double share = entry / pivot_sizes_[row_order_[a]] * entry;
      if (share > largest) {
        largest = share;
        best = a;
      }
    }
    std::swap(row_order_[p], row_order_[best]);
    const int pr = row_order_[p];
    const double pivot = matrix_[pr * many + pc];
    if (pivot == 0 || !std::isfinite(pivot)) return false;
    for (int a = p + 1; a < rank_; ++a) {
      const int ar = row_order_[a];
      const double ratio = matrix_[ar * many + pc] / pivot;
      matrix_[ar * many + pc] = ratio;
      if (ratio == 0) continue;
      for (int k = p + 1; k < rank_; ++k) {
        const int kc = column_order_[k];
        matrix_[ar * many + kc] -= ratio * matrix_[pr * many + kc];
      }
    }
  }
  lower_first_.resize(many);
  upper_end_.resize(many);
  for (int p = 0; p < rank_; ++p) {
    const double* entries = matrix_.data() + row_order_[p] * many;
    int first = 0;
    int end = rank_;
    while (first < p && entries[column_order_[first]] == 0) ++first;
    while (end > p + 1 && entries[column_order_[end - 1]] == 0) --end;
    lower_first_[p] = first;
    upper_end_[p] = end;
  }
  return true;
}

double ActiveRows::determinant() const {
  const int many = count();
  double value = 1 / determinant_scale_;
  for (int p = 0; p < rank_; ++p) value *= matrix_[row_order_[p] * many + column_order_[p]];
  // Each exchange of two rows or columns changes the sign; count inversions of both orders.
  int inversions = 0;
  for (int a = 0; a < rank_; ++a) {
    for (int b = a + 1; b < rank_; ++b) {
      inversions += (row_order_[a] > row_order_[b] ? 1 : 0) + (column_order_[a] > column_order_[b] ? 1 : 0);
    }
  }
  return inversions % 2 == 0 ? value : -value;
}

void ActiveRows::solve(double* x) {
  const int many = count();
  double* y = forward_.data();
  for (int p = 0; p < rank_; ++p) {
    const int pr = row_order_[p];
    double value = x[pr];
    for (int k = lower_first_[p]; k < p; ++k) value -= matrix_[pr * many + column_order_[k]] * y[k];
    y[p] = value;
  }
  std::fill_n(x, many, 0.0);
  for (int p = rank_ - 1; p >= 0; --p) {
    const int pr = row_order_[p];
    double value = y[p];
    for (int k = p + 1; k < upper_end_[p]; ++k) {
      const int kc = column_order_[k];
      value -= matrix_[pr * many + kc] * x[kc];
    }
    const int pc = column_order_[p];
    x[pc] = value / matrix_[pr * many + pc];
  }
}

// A solution in 53 bits, corrected twice with residuals in 106: forces that large internal forces are taken away from keep their last bits.
void ActiveRows::respond(const double* force, const double* zeta, double* acceleration, double* lambda,
                         double* acceleration_low) {
  const int many = count();
  std::vector<DoubleDouble> a(n_), l(many);
  std::vector<double> terms(n_), row_terms(many), change(n_), residual(many);
  // Products with zero are left out: most entries are.
  const auto add = [](DoubleDouble& sum, const DoubleDouble& x, double factor) {
    if (factor != 0 && x.high != 0) sum = sum + x * DoubleDouble{factor, 0};
  };
  const model::MassPattern& mass = system_.mass_pattern();
  const auto add_inertia = [&](const std::vector<DoubleDouble>& x, int i, DoubleDouble& rest) {
    for (int e = mass.begin[i]; e < mass.begin[i + 1]; ++e) add(rest, x[mass.at[e]], -work_.mass[e]);
    for (int e = mass.below_begin[i]; e < mass.below_begin[i + 1]; ++e)
      add(rest, x[mass.below_row[e]], -work_.mass[mass.below_entry[e]]);
  };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n_; ++i) {
      DoubleDouble rest{force[i], 0};
      for (int k = 0; k < many; ++k) add(rest, l[k], columns_[k * n_ + i]);
      add_inertia(a, i, rest);
      change[i] = rest.high;
    }
    system_.solve_mass(work_, change.data());
    for (int k = 0; k < many; ++k) {
      const model::Row& g = row(k);
      DoubleDouble rest{zeta[k], 0};
      for (std::size_t e = 0; e < g.values().size(); ++e) {
        const int i = g.places()[e];
        add(rest, a[i] + DoubleDouble{change[i], 0}, g.values()[e]);
      }
      residual[k] = -rest.high;
      if (round > 0) continue;
      row_terms[k] = std::abs(zeta[k]);
      for (std::size_t e = 0; e < g.values().size(); ++e)
        row_terms[k] += std::abs(g.values()[e] * change[g.places()[e]]);
    }
    solve(residual.data());
    for (int i = 0; i < n_; ++i) {
      double sum = change[i];
      if (round == 0) terms[i] = std::abs(sum);
      for (int k = 0; k < many; ++k) {
        const double term = residual[k] * response_[k * n_ + i];
        sum += term;
        if (round == 0) terms[i] += std::abs(term);
      }
      a[i] = a[i] + DoubleDouble{sum, 0};
    }
    for (int k = 0; k < many; ++k) l[k] = l[k] + DoubleDouble{residual[k], 0};
  }
  for (int k = 0; k < many; ++k) {
    const model::Row& g = row(k);
    for (int j = 0; j < many; ++j) {
      if (j != k) row_terms[k] += std::abs(l[j].high * dot(g, response(j)));
    }
    const double own = std::abs(l[k].high * dot(g, response(k)));
    lambda[k] = own <= kCancelled * row_terms[k] ? 0 : l[k].high;
  }
  for (int i = 0; i < n_; ++i) {
    const bool nothing = std::abs(a[i].high) <= kCancelled * terms[i];
    acceleration[i] = nothing ? 0 : a[i].high;
    if (acceleration_low != nullptr) acceleration_low[i] = nothing ? 0 : a[i].low;
  }
  hold_accelerations(zeta, acceleration);
  if (acceleration_low != nullptr) {
    for (const Held& held : held_) acceleration_low[held.coordinate] = 0;
  }
}

void ActiveRows::null_reactions(int number, double* lambda) {
  const int dependent = column_order_[rank_ + number];
  for (int k = 0; k < count(); ++k) lambda[k] = -dot(row(k), response(dependent));
  solve(lambda);
  lambda[dependent] += 1;
}

}  // namespace judder::engines
