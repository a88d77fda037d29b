#include "active_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/double_double.hpp"

namespace judder::engines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFew = 8;  ///< rows or coordinates: to look for what meets is dearer than to take all

}  // namespace

ActiveRows::ActiveRows(const model::System& system, model::Workspace& work)
    : system_(system),
      work_(work),
      n_(system.layout().coordinates),
      first_of_(static_cast<std::size_t>(system.layout().relations), -1) {}

void ActiveRows::clear() {
  for (const Row& row : rows_) first_of_[row.relation] = -1;
  rows_.clear();
}

void ActiveRows::add(Row row) {
  if (first_of_[row.relation] < 0) first_of_[row.relation] = count();
  rows_.push_back(row);
}

int ActiveRows::find(Row row) const {
  for (int k = first_of_[row.relation]; k >= 0 && k < count(); ++k) {
    if (rows_[k].relation == row.relation && rows_[k].tangent == row.tangent) return k;
  }
  return -1;
}

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
  // Outside of what was written for the mode before, all is zero.
  for (std::size_t k = 0; k < written_.size() && n_ >= kFew; ++k) {
    const auto [first, end] = written_[k];
    std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(k) * n_ + first, end - first, 0.0);
    std::fill_n(response_.begin() + static_cast<std::ptrdiff_t>(k) * n_ + first, end - first, 0.0);
  }
  columns_.resize(std::max(columns_.size(), static_cast<std::size_t>(many) * n_));
  response_.resize(columns_.size());
  if (n_ < kFew) std::fill_n(columns_.begin(), many * n_, 0.0);
  written_.assign(many, n_ < kFew ? std::pair(0, n_) : std::pair(n_, 0));
  const auto write = [this](int k, const model::Row& row, double factor) {
    double* column = columns_.data() + k * n_;
    auto& [first, end] = written_[k];
    for (std::size_t e = 0; e < row.values().size(); ++e) {
      const int i = row.places()[e];
      column[i] += factor * row.values()[e];
      first = std::min(first, i);
      end = std::max(end, i + 1);
    }
  };
  for (int k = 0; k < many; ++k) {
    const Row& a = rows_[k];
    const model::RelationRows& rows = work_.relation[a.relation];
    write(k, a.tangent < 0 ? rows.push : rows.tangent[a.tangent].drag, 1);
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
        const int k = find({fed, -1});
        if (k < 0) continue;
        const int pressed = mode.pressed[fed];
        const double factor = coefficient * rows.factors[f] * (pressed == 0 ? 1 : pressed);
        write(k, rows.tangent[j].drag, -factor);
      }
    }
  }
  response_first_.resize(many);
  response_end_.resize(many);
  for (int k = 0; k < many; ++k) {
    look();
    double* response = response_.data() + k * n_;
    auto& [from, to] = written_[k];
    std::copy(columns_.data() + k * n_ + std::min(from, to), columns_.data() + k * n_ + to,
              response + std::min(from, to));
    if (from < to) solve_mass(response, from, to);
    int first = from;
    int end = to;
    while (first < end && response[first] == 0) ++first;
    while (end > first && response[end - 1] == 0) --end;
    response_first_[k] = first < end ? first : 0;
    response_end_[k] = first < end ? end : 0;
  }
}

// x ← M⁻¹ x, of what is zero outside `from` … `to`; these are widened where M couples.
void ActiveRows::solve_mass(double* x, int& from, int& to) const {
  if (!work_.mass_diagonal || n_ < kFew) {
    system_.solve_mass(work_, x);
    from = 0;
    to = n_;
    return;
  }
  for (int i = from; i < to; ++i) x[i] = system_.massless()[i] ? 0 : x[i] / work_.inertia[i];
}

// Entries are compared relative to the diagonal of G M⁻¹ Gᵀ, so units do not matter.
void ActiveRows::find_order(dense::RankedLu& ranking) {
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
    const bool all = n_ < kFew || !work_.mass_diagonal;
    int from = all || g.places().empty() ? 0 : g.places().front();
    int to = all ? n_ : g.places().empty() ? 0 : g.places().back() + 1;
    std::fill(forward_.data() + from, forward_.data() + to, 0.0);
    for (std::size_t e = 0; e < g.values().size(); ++e) forward_[g.places()[e]] = g.values()[e];
    solve_mass(forward_.data(), from, to);
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
  held_.clear();
  shares_.clear();
  pivots_.clear();
  const int many = count();
  const int width = n_ + many;
  echelon_.resize(std::max<std::size_t>(echelon_.size(), many));
  above_.resize(n_);
  for (std::vector<int>& rows : above_) rows.clear();
  pivot_of_.assign(n_, -1);
  dense_.assign(width, 0.0);
  const auto mobility = [&](double entry, int i) {
    return entry != 0 ? entry / work_.inertia[i] * entry : 0;
  };
  for (int p = 0; p < rank_; ++p) {
    look();
    const int k = first_rows_[p];
    if (!direction_constant(k)) continue;
    const model::Row& g = row(k);
    bool massive = true;
    double size = 0;
    for (std::size_t e = 0; e < g.values().size(); ++e) {
      const int i = g.places()[e];
      massive = massive && (g.values()[e] == 0 || !system_.massless()[i]);
      if (massive) size = std::max(size, mobility(g.values()[e], i));
    }
    if (!massive || !(size > 0) || !std::isfinite(size)) continue;
    places_.clear();
    for (std::size_t e = 0; e < g.values().size(); ++e) {
      if (g.values()[e] == 0) continue;
      dense_[g.places()[e]] = g.values()[e];
      places_.push_back(g.places()[e]);
    }
    dense_[n_ + k] = 1;
    places_.push_back(n_ + k);
    // Rows found before have a 1 at their own pivot and nothing at those of others, so this brings in no further ones.
    meeting_.clear();
    for (const int i : places_) {
      if (i < n_ && pivot_of_[i] >= 0) meeting_.push_back(pivot_of_[i]);
    }
    std::sort(meeting_.begin(), meeting_.end());
    for (const int e : meeting_) subtract(echelon_[e], dense_[pivots_[e]]);
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    int pivot = 0;
    for (const int i : places_) {
      if (i < n_ && mobility(dense_[i], i) > mobility(dense_[pivot], pivot)) pivot = i;
    }
    if (mobility(dense_[pivot], pivot) > kDependent * kDependent * size) {
      const auto found = static_cast<int>(pivots_.size());
      Entries& entries = echelon_[found];
      const double divisor = dense_[pivot];
      entries.clear();
      for (const int i : places_) {
        const double entry = dense_[i] / divisor;
        if (entry != 0) entries.emplace_back(i, entry);
      }
      for (const int i : places_) dense_[i] = 0;
      for (const int e : above_[pivot]) {
        Entries& above = echelon_[e];
        const auto at = std::lower_bound(above.begin(), above.end(), std::pair(pivot, -kInfinity));
        if (at == above.end() || at->first != pivot) continue;
        places_.clear();
        for (const auto& [i, entry] : above) {
          dense_[i] = entry;
          places_.push_back(i);
        }
        const double factor = at->second;
        subtract(entries, factor);
        std::sort(places_.begin(), places_.end());
        places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
        above.clear();
        for (const int i : places_) {
          if (dense_[i] != 0) above.emplace_back(i, dense_[i]);
          dense_[i] = 0;
        }
        for (const auto& [i, entry] : entries) {
          if (i < n_ && i != pivot) above_[i].push_back(e);
        }
      }
      for (const auto& [i, entry] : entries) {
        if (i < n_) above_[i].push_back(found);
      }
      pivots_.push_back(pivot);
      pivot_of_[pivot] = found;
    } else {
      for (const int i : places_) dense_[i] = 0;
    }
  }
  for (std::size_t e = 0; e < pivots_.size(); ++e) {
    const Entries& entries = echelon_[e];
    if (std::count_if(entries.begin(), entries.end(), [this](const auto& x) { return x.first < n_; }) != 1)
      continue;
    for (const auto& [i, entry] : entries) {
      if (i >= n_) shares_.push_back({i - n_, entry});
    }
    held_.push_back({pivots_[e], static_cast<int>(shares_.size())});
  }
}

// The present row −= factor · source; no entry is nothing but rounding.
void ActiveRows::subtract(const Entries& source, double factor) {
  constexpr double kRounding = 16 * 2.220446049250313e-16;
  for (const auto& [i, entry] : source) {
    const double term = factor * entry;
    const double rest = dense_[i] - term;
    dense_[i] = std::abs(rest) <= kRounding * (std::abs(dense_[i]) + std::abs(term)) ? 0 : rest;
    places_.push_back(i);
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

// Of many rows few meet: by coordinate first the columns that push it, then the rows that it is part of.
void ActiveRows::build_matrix() {
  const int many = count();
  if (many < kFew) {
    matrix_.resize(static_cast<std::size_t>(many) * many);
    for (int a = 0; a < many; ++a) {
      const model::Row& g = row(a);
      for (int k = 0; k < many; ++k) matrix_[a * many + k] = dot(g, response(k));
    }
    return;
  }
  meets_begin_.assign(n_ + 1, 0);
  for (int k = 0; k < many; ++k) {
    for (int i = response_first_[k]; i < response_end_[k]; ++i)
      meets_begin_[i + 1] += response(k)[i] != 0 ? 1 : 0;
  }
  for (int i = 0; i < n_; ++i) meets_begin_[i + 1] += meets_begin_[i];
  meets_.resize(meets_begin_[n_]);
  for (int k = 0; k < many; ++k) {
    for (int i = response_first_[k]; i < response_end_[k]; ++i) {
      if (response(k)[i] != 0) meets_[meets_begin_[i]++] = k;
    }
  }
  for (int i = n_; i > 0; --i) meets_begin_[i] = meets_begin_[i - 1];
  meets_begin_[0] = 0;
  matrix_.assign(static_cast<std::size_t>(many) * many, 0.0);
  for (int a = 0; a < many; ++a) {
    look();
    const model::Row& g = row(a);
    double* entries = matrix_.data() + static_cast<std::ptrdiff_t>(a) * many;
    for (std::size_t e = 0; e < g.values().size(); ++e) {
      const int i = g.places()[e];
      for (int m = meets_begin_[i]; m < meets_begin_[i + 1]; ++m)
        entries[meets_[m]] += g.values()[e] * response(meets_[m])[i];
    }
  }
}

bool ActiveRows::factorise(bool find_rank, dense::RankedLu& ranking) {
  const int many = count();
  if (many == 0) {
    rank_ = 0;
    held_.clear();
    return true;
  }
  row_order_.resize(many);
  column_order_.resize(many);
  first_rows_.resize(many);
  build_matrix();
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
  row_at_.assign(many, many);
  column_at_.assign(many, many);
  for (int p = 0; p < rank_; ++p) row_at_[row_order_[p]] = column_at_[column_order_[p]] = p;
  blocks_.find(matrix_.data(), many);
  for (int p = 0; p < rank_; ++p) {
    look();
    int best = p;
    double largest = 0;
    const int pc = column_order_[p];
    for (const int r : blocks_.of(pc)) {
      const int a = row_at_[r];
      if (a < p || a >= rank_) continue;
      const double entry = matrix_[r * many + pc];
      const double share = entry / pivot_sizes_[r] * entry;
      // Of equal ones the first in their order.
      if (share > largest || (share == largest && share > 0 && a < best)) {
        largest = share;
        best = a;
      }
    }
    std::swap(row_order_[p], row_order_[best]);
    row_at_[row_order_[best]] = best;
    const int pr = row_order_[p];
    row_at_[pr] = p;
    const double pivot = matrix_[pr * many + pc];
    if (pivot == 0 || !std::isfinite(pivot)) return false;
    for (const int ar : blocks_.of(pr)) {
      if (row_at_[ar] <= p || row_at_[ar] >= rank_) continue;
      const double ratio = matrix_[ar * many + pc] / pivot;
      matrix_[ar * many + pc] = ratio;
      if (ratio == 0) continue;
      for (const int kc : blocks_.of(pr)) {
        if (column_at_[kc] > p && column_at_[kc] < rank_)
          matrix_[ar * many + kc] -= ratio * matrix_[pr * many + kc];
      }
    }
  }
  lower_first_.resize(many);
  upper_end_.resize(many);
  for (int p = 0; p < rank_; ++p) {
    const double* entries = matrix_.data() + row_order_[p] * many;
    lower_first_[p] = p;
    upper_end_[p] = p + 1;
    for (const int c : blocks_.of(row_order_[p])) {
      const int at = column_at_[c];
      if (at >= rank_ || entries[c] == 0) continue;
      lower_first_[p] = std::min(lower_first_[p], at);
      upper_end_[p] = std::max(upper_end_[p], at + 1);
    }
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
