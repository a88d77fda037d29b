#include "mode_motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engines/numeric/double_double.hpp"

namespace judder::engines {
namespace {

double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// The only non-zero entry of a row, or −1.
int single_entry(const double* row, int n) {
  int found = -1;
  for (int i = 0; i < n; ++i) {
    if (row[i] == 0) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

constexpr double kCancelled = 8 * 2.220446049250313e-16;
constexpr double kRankTolerance = 1e-10;  ///< of the scaled matrix, as in contact::DecisionOptions

}  // namespace

ModeMotion::ModeMotion(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), layout_(system.layout()), n_(layout_.coordinates) {
  const auto n = n_;
  const auto relations = (layout_.relations);
  const auto tangents = (layout_.tangents);
  const auto switches = (layout_.switches);
  const std::size_t rows = relations + tangents;
  components_ = layout_.integrated() + 2 * layout_.audits;
  active_.reserve(rows);
  touched_.reserve(relations);
  pins_.reserve(n);
  sliding_.reserve(switches);
  columns_.resize(rows * n);
  response_.resize(rows * n);
  matrix_.resize(rows * rows);
  row_order_.resize(rows);
  column_order_.resize(rows);
  first_rows_.resize(rows);
  trial_matrix_.resize(rows * rows);
  row_size_.resize(rows);
  forward_.resize(rows);
  residual_.resize(rows);
  lambda_.resize(rows);
  acceleration_.resize(n);
  normal_.resize(relations);
  tangent_.resize(tangents);
  powers_.resize(layout_.audits);
  terms_.resize(n);
  rest_.resize(n);
  drag_response_.resize(n);
  sliding_rates_.resize(2 * switches);
  parallel_.resize(switches);
  surface_.resize(2 + 2 * n + (layout_.states));
}

const double* ModeMotion::row(const Active& a) const {
  const model::RelationRows& rows = work_.relation[a.relation];
  return a.tangent < 0 ? rows.w : rows.tangent[a.tangent].w;
}

double ModeMotion::zeta(const Active& a) const {
  const model::RelationRows& rows = work_.relation[a.relation];
  return a.tangent < 0 ? rows.zeta_n : rows.tangent[a.tangent].zeta;
}

bool ModeMotion::set_mode(const Mode& mode) {
  mode_ = mode;
  active_.clear();
  touched_.clear();
  pins_.clear();
  sliding_.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    work_.in[layout_.side() + k] = mode.side[k];
    if (mode.sliding[k] != 0) sliding_.push_back(k);
  }
  for (int j = 0; j < layout_.tangents; ++j) {
    work_.in[layout_.direction() + j] = direction(mode.tangent[j]);
  }
  for (int r = 0; r < layout_.relations; ++r)
    work_.in[layout_.closed() + r] = mode.normal[r] == NormalStatus::open ? 0 : 1;

  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  constant_ = system_.mass_constant() && sliding_.empty();
  const auto& relations = system_.relations();
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = relations[r];
    const NormalStatus status = mode.normal[r];
    if (status == NormalStatus::open) continue;
    bool used = false;
    if (relation.has_normal) {
      active_.push_back({r, -1});
      used = true;
    }
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus tangent = mode.tangent[relation.first_tangent + j];
      if (tangent == TangentStatus::free) continue;
      used = true;
      if (tangent == TangentStatus::stick) active_.push_back({r, j});
    }
    if (!used) continue;
    touched_.push_back(r);
    constant_ = constant_ && relation.rows_constant && relation.law_constant;
  }

  for (const int r : touched_) static_cast<void>(system_.rows(work_, r));
  const double t = work_.in[0];
  for (const Active& a : active_) {
    const model::Relation& relation = relations[a.relation];
    if (!relation.rows_constant || (a.tangent < 0 && !relation.holonomic)) continue;
    const double* w = row(a);
    const int i = single_entry(w, n_);
    if (i < 0) continue;
    const bool already =
        std::any_of(pins_.begin(), pins_.end(), [i](const Pin& pin) { return pin.coordinate == i; });
    if (already) continue;
    const model::RelationRows& rows = work_.relation[a.relation];
    const double drive = a.tangent < 0 ? rows.gap_time : rows.tangent[a.tangent].drive;
    if (zeta(a) != 0) continue;
    pins_.push_back({i, work_.in[layout_.q() + i], drive == 0 ? 0 : -drive / w[i], t});
  }
  everything_pinned_ = static_cast<int>(pins_.size()) == n_ && layout_.states == 0;

  std::fill(sliding_rates_.begin(), sliding_rates_.end(), 0.0);
  std::fill(parallel_.begin(), parallel_.end(), std::uint8_t{0});
  const std::size_t corners = std::size_t{1} << sliding_.size();
  const std::size_t width = (n_ + layout_.states + layout_.relations + layout_.tangents);
  if (!sliding_.empty()) {
    corner_.resize(std::max(corner_.size(), corners * width));
    corner_rate_.resize(std::max(corner_rate_.size(), corners * sliding_.size()));
    alpha_.assign(sliding_.size(), 0.5);
    newton_.resize(std::max(newton_.size(), sliding_.size() * (sliding_.size() + 1)));
  }

  // Constant forces and rows: constant accelerations, computed once.
  uniform_ = constant_ && system_.motion_program().constant() && layout_.states == 0;
  uniform_known_ = false;
  works_ = false;
  for (const model::AuditInfo& element : system_.audits()) {
    if (element.power >= 0) works_ = true;
    if (element.relation < 0 ||
        std::find(touched_.begin(), touched_.end(), element.relation) == touched_.end())
      continue;
    const model::Relation& relation = relations[element.relation];
    const bool idle = relation.rows_constant && !relation.own_push && relation.tangents == 0 &&
                      work_.relation[element.relation].gap_time == 0;
    if (!idle) works_ = true;
  }

  if (!system_.motion(work_)) return false;
  build_columns();
  if (!factorise(true)) return false;
  pin_if_immobile();
  return true;
}

// As many independent rows as coordinates, none of them driven: nothing can move, and nothing shall move by rounding.
void ModeMotion::pin_if_immobile() {
  const int massless =
      static_cast<int>(std::count(system_.massless().begin(), system_.massless().end(), true));
  if (rank_ < n_ || massless > 0 || everything_pinned_ || n_ == 0) return;
  for (const Active& a : active_) {
    const model::RelationRows& rows = work_.relation[a.relation];
    if ((a.tangent < 0 ? rows.gap_time : rows.tangent[a.tangent].drive) != 0) return;
    if (a.tangent < 0 && !system_.relations()[a.relation].holonomic) return;
  }
  pins_.clear();
  for (int i = 0; i < n_; ++i) pins_.push_back({i, work_.in[layout_.q() + i], 0, work_.in[0]});
  everything_pinned_ = layout_.states == 0;
}

void ModeMotion::note_terms() {
  std::copy(acceleration_.begin(), acceleration_.end(), rest_.begin());
  std::fill(terms_.begin(), terms_.end(), 0.0);
  const auto take = [this](double lambda, const double* response) {
    for (int i = 0; i < n_; ++i) {
      rest_[i] -= lambda * response[i];
      terms_[i] += std::abs(lambda * response[i]);
    }
  };
  for (int k = 0; k < active(); ++k) {
    const Active& a = active_[k];
    const model::Relation& relation = system_.relations()[a.relation];
    take(a.tangent < 0 ? normal_[a.relation] : tangent_[relation.first_tangent + a.tangent],
         response_.data() + k * n_);
  }
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode_.tangent[relation.first_tangent + j];
      if (rows.base == 0 || status == TangentStatus::stick || status == TangentStatus::free) continue;
      std::copy_n(rows.tangent[j].drag, n_, drag_response_.begin());
      system_.solve_mass(work_, drag_response_.data());
      take(tangent_[relation.first_tangent + j], drag_response_.data());
    }
  }
  for (int i = 0; i < n_; ++i) terms_[i] += std::abs(rest_[i]);
}

void ModeMotion::note_all_terms() {
  note_terms();
  const expr::Program& program = system_.motion_program();
  interval_in_.resize(work_.in.size());
  interval_out_.resize(program.outputs());
  interval_registers_.resize(program.registers());
  const int state_end = 1 + layout_.integrated();
  for (std::size_t i = 0; i < interval_in_.size(); ++i) {
    const double x = work_.in[i];
    const double bit =
        static_cast<int>(i) < state_end ? std::numeric_limits<double>::epsilon() * std::abs(x) : 0;
    interval_in_[i] = {x - bit, x + bit};
  }
  program.evaluate_interval(interval_in_.data(), interval_out_.data(), interval_registers_.data());
  for (int i = 0; i < n_; ++i) {
    const double width = interval_out_[i].high - interval_out_[i].low;
    rest_[i] = std::isfinite(width) ? width : 0;
  }
  system_.solve_mass(work_, rest_.data());
  // Each term adds its own rounding and that of the state, on both sides.
  for (int i = 0; i < n_; ++i) terms_[i] += std::abs(rest_[i]) / (4 * std::numeric_limits<double>::epsilon());
}

double ModeMotion::natural_force(int relation) const {
  for (int k = 0; k < active(); ++k) {
    const Active& a = active_[k];
    if (a.relation != relation || a.tangent >= 0) continue;
    const double* w = row(a);
    double sum = std::abs(zeta(a));
    double inverse = 0;
    for (int i = 0; i < n_; ++i) {
      sum += std::abs(w[i]) * terms_[i];
      inverse += w[i] * response_[k * n_ + i];
    }
    return inverse != 0 ? sum / std::abs(inverse) : 0;
  }
  return 0;
}

void ModeMotion::recall(std::span<const double> terms, std::span<const double> side) {
  std::copy(terms.begin(), terms.end(), terms_.begin());
  for (std::size_t k = 0; k < sliding_.size(); ++k) {
    alpha_[k] = side[sliding_[k]];
    mode_.side[sliding_[k]] = alpha_[k];
  }
}

bool ModeMotion::refresh_rows() {
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.rows_constant && relation.law_constant) continue;
    static_cast<void>(system_.rows(work_, r));
  }
  return true;
}

// Columns C_k of the active rows, with the friction that slipping rows draw from λ_N; response M⁻¹ C.
void ModeMotion::build_columns() {
  const int count = active();
  for (int k = 0; k < count; ++k) {
    const Active& a = active_[k];
    const model::RelationRows& rows = work_.relation[a.relation];
    double* column = columns_.data() + k * n_;
    std::memcpy(column, a.tangent < 0 ? rows.push : rows.tangent[a.tangent].drag, sizeof(double) * n_);
  }
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode_.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      const double coefficient =
          status == TangentStatus::smooth ? rows.tangent[j].mu : direction(status) * rows.tangent[j].mu;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int fed = relation.feeds[f];
        for (int k = 0; k < count; ++k) {
          const Active& a = active_[k];
          if (a.relation != fed || a.tangent >= 0) continue;
          const int pressed = mode_.pressed[fed];
          const double factor = coefficient * rows.factors[f] * (pressed == 0 ? 1 : pressed);
          double* column = columns_.data() + k * n_;
          for (int i = 0; i < n_; ++i) column[i] -= factor * rows.tangent[j].drag[i];
        }
      }
    }
  }
  std::copy_n(columns_.begin(), (count * n_), response_.begin());
  for (int k = 0; k < count; ++k) system_.solve_mass(work_, response_.data() + k * n_);
}

// Rank and order of the mode, by complete pivoting. Entries are compared relative to the diagonal of G M⁻¹ Gᵀ, so units do not matter, and as
// squares: a root would round differently in units that differ by a power of two.
void ModeMotion::find_order() {
  const int count = active();
  std::copy_n(matrix_.begin(), count * count, trial_matrix_.begin());
  determinant_scale_ = 1;
  for (int a = 0; a < count; ++a) {
    const double* g = row(active_[a]);
    std::copy_n(g, n_, drag_response_.begin());
    system_.solve_mass(work_, drag_response_.data());
    row_size_[a] = std::abs(dot(g, drag_response_.data(), n_));
    if (row_size_[a] == 0) row_size_[a] = 1;
    determinant_scale_ *= row_size_[a];
    row_order_[a] = column_order_[a] = a;
  }
  double largest = 0;
  rank_ = 0;
  for (int p = 0; p < count; ++p) {
    int best_row = p;
    int best_column = p;
    double best = -1;
    for (int a = p; a < count; ++a) {
      for (int k = p; k < count; ++k) {
        const int r = row_order_[a];
        const int c = column_order_[k];
        const double entry = trial_matrix_[r * count + c];
        const double value = entry / row_size_[r] * (entry / row_size_[c]);
        if (value > best) {
          best = value;
          best_row = a;
          best_column = k;
        }
      }
    }
    if (p == 0) largest = best;
    if (!(best > kRankTolerance * kRankTolerance * largest)) break;
    std::swap(row_order_[p], row_order_[best_row]);
    std::swap(column_order_[p], column_order_[best_column]);
    const int pr = row_order_[p];
    const int pc = column_order_[p];
    for (int a = p + 1; a < count; ++a) {
      const int ar = row_order_[a];
      const double ratio = trial_matrix_[ar * count + pc] / trial_matrix_[pr * count + pc];
      for (int k = p; k < count; ++k) {
        const int kc = column_order_[k];
        trial_matrix_[ar * count + kc] -= ratio * trial_matrix_[pr * count + kc];
      }
    }
    ++rank_;
  }
  std::copy_n(row_order_.begin(), count, first_rows_.begin());
}

// LU of G M⁻¹ C. With `find_rank` the rank and the order of rows are found first and kept for the mode; then by partial pivoting within the
// independent rows.
bool ModeMotion::factorise(bool find_rank) {
  const int count = active();
  if (count == 0) {
    rank_ = 0;
    return true;
  }
  for (int a = 0; a < count; ++a) {
    const double* g = row(active_[a]);
    for (int k = 0; k < count; ++k) matrix_[a * count + k] = dot(g, response_.data() + k * n_, n_);
  }
  if (find_rank) {
    find_order();
  } else {
    std::copy_n(first_rows_.begin(), count, row_order_.begin());
  }
  // In-place LU in the order found, on the leading rank_ rows and columns.
  for (int p = 0; p < rank_; ++p) {
    int best = p;
    const int pc = column_order_[p];
    for (int a = p + 1; a < rank_; ++a) {
      if (std::abs(matrix_[row_order_[a] * count + pc]) > std::abs(matrix_[row_order_[best] * count + pc])) {
        best = a;
      }
    }
    std::swap(row_order_[p], row_order_[best]);
    const int pr = row_order_[p];
    const double pivot = matrix_[pr * count + pc];
    if (pivot == 0 || !std::isfinite(pivot)) return false;
    for (int a = p + 1; a < rank_; ++a) {
      const int ar = row_order_[a];
      const double ratio = matrix_[ar * count + pc] / pivot;
      matrix_[ar * count + pc] = ratio;
      for (int k = p + 1; k < rank_; ++k) {
        const int kc = column_order_[k];
        matrix_[ar * count + kc] -= ratio * matrix_[pr * count + kc];
      }
    }
  }
  return true;
}

double ModeMotion::determinant() const {
  const int count = active();
  double value = 1 / determinant_scale_;
  for (int p = 0; p < rank_; ++p) value *= matrix_[row_order_[p] * count + column_order_[p]];
  // Each exchange of two rows or columns changes the sign; count inversions of both orders.
  int inversions = 0;
  for (int a = 0; a < rank_; ++a) {
    for (int b = a + 1; b < rank_; ++b) {
      inversions += (row_order_[a] > row_order_[b] ? 1 : 0) + (column_order_[a] > column_order_[b] ? 1 : 0);
    }
  }
  return inversions % 2 == 0 ? value : -value;
}

// x (by active row) → solution (by active column); dependent columns get zero.
void ModeMotion::solve_active(double* x) {
  const int count = active();
  double* y = forward_.data();
  for (int p = 0; p < rank_; ++p) {
    const int pr = row_order_[p];
    double value = x[pr];
    for (int k = 0; k < p; ++k) value -= matrix_[pr * count + column_order_[k]] * y[k];
    y[p] = value;
  }
  std::fill_n(x, count, 0.0);
  for (int p = rank_ - 1; p >= 0; --p) {
    const int pr = row_order_[p];
    double value = y[p];
    for (int k = p + 1; k < rank_; ++k) {
      const int kc = column_order_[k];
      value -= matrix_[pr * count + kc] * x[kc];
    }
    const int pc = column_order_[p];
    x[pc] = value / matrix_[pr * count + pc];
  }
}

bool ModeMotion::evaluate_plain() {
  if (!system_.motion(work_)) return false;
  double* a = acceleration_.data();
  std::memcpy(a, work_.force.data(), sizeof(double) * n_);
  if (touched_.empty()) {
    system_.solve_mass(work_, a);
    return true;
  }
  if (!constant_) {
    refresh_rows();
    build_columns();
    if (!factorise(false)) return false;
  }
  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    if (rows.base == 0) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode_.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      const double mu =
          status == TangentStatus::smooth ? rows.tangent[j].mu : direction(status) * rows.tangent[j].mu;
      const double known = -mu * rows.base;
      tangent_[relation.first_tangent + j] = known;
      for (int i = 0; i < n_; ++i) a[i] += known * rows.tangent[j].drag[i];
    }
  }
  system_.solve_mass(work_, a);

  const int count = active();
  if (count > 0) {
    for (int k = 0; k < count; ++k) {
      const Active& row_k = active_[k];
      residual_[k] = -(dot(row(row_k), a, n_) + zeta(row_k));
    }
    solve_active(residual_.data());
    for (int i = 0; i < n_; ++i) {
      // What is left of an acceleration when reactions cancel forces up to rounding is zero: held coordinates do not creep.
      double sum = a[i];
      double terms = std::abs(sum);
      for (int k = 0; k < count; ++k) {
        const double term = residual_[k] * response_[k * n_ + i];
        sum += term;
        terms += std::abs(term);
      }
      a[i] = std::abs(sum) <= kCancelled * terms ? 0 : sum;
    }
    for (int k = 0; k < count; ++k) {
      const double lambda = residual_[k];
      const Active& row_k = active_[k];
      const model::Relation& relation = system_.relations()[row_k.relation];
      if (row_k.tangent < 0) {
        normal_[row_k.relation] = lambda;
      } else {
        tangent_[relation.first_tangent + row_k.tangent] = lambda;
      }
    }
  }
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode_.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      const double mu =
          status == TangentStatus::smooth ? rows.tangent[j].mu : direction(status) * rows.tangent[j].mu;
      double limit = rows.base;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        limit += rows.factors[f] * std::abs(normal_[relation.feeds[f]]);
      }
      tangent_[relation.first_tangent + j] = -mu * limit;
    }
  }
  for (const Pin& pin : pins_) a[pin.coordinate] = 0;
  return true;
}

// Every combination of sides gives a vector field; the coefficients α keep all sliding surfaces at zero. The surface rates are
// multilinear in α: solved by Newton from the last α.
bool ModeMotion::evaluate_sliding() {
  const int count = static_cast<int>(sliding_.size());
  const int corners = 1 << count;
  const int states = layout_.states;
  const int width = n_ + states + layout_.relations + layout_.tangents;
  for (int c = 0; c < corners; ++c) {
    for (int k = 0; k < count; ++k) {
      work_.in[layout_.side() + sliding_[k]] = (c >> k) & 1;
    }
    if (!evaluate_plain()) return false;
    for (int k = 0; k < count; ++k) {
      corner_rate_[c * count + k] = surface_rate(sliding_[k]);
    }
    double* out = corner_.data() + c * width;
    std::copy_n(acceleration_.data(), n_, out);
    std::copy_n(work_.rate.data(), states, out + n_);
    std::copy_n(normal_.data(), layout_.relations, out + n_ + states);
    std::copy_n(tangent_.data(), layout_.tangents, out + n_ + states + layout_.relations);
  }
  const auto weight = [this, count](int c, int without) {
    double w = 1;
    for (int k = 0; k < count; ++k) {
      if (k == without) continue;
      w *= ((c >> k) & 1) != 0 ? alpha_[k] : 1 - alpha_[k];
    }
    return w;
  };
  const auto rate = [this, count](int c, int k) { return corner_rate_[c * count + k]; };
  int free = 0;  // coefficients that the surfaces determine
  for (int k = 0; k < count; ++k) {
    bool still = true;
    for (int c = 0; c < corners; ++c) still = still && rate(c, k) == 0;
    parallel_[sliding_[k]] = still ? 1 : 0;
    if (still) {
      alpha_[k] = parallel_coefficient(k, corners, width);
    } else {
      ++free;
    }
  }
  if (count == 1) {
    const double difference = rate(0, 0) - rate(1, 0);
    if (free == 1) {
      if (difference == 0) return false;
      alpha_[0] = rate(0, 0) / difference;
    }
  } else if (free > 0) {
    const int stride = count + 1;
    for (int iteration = 0; iteration < 50; ++iteration) {
      double worst = 0;
      double scale = 0;
      for (int k = 0; k < count; ++k) {
        double value = 0;
        for (int c = 0; c < corners; ++c) {
          value += weight(c, -1) * rate(c, k);
          scale = std::max(scale, std::abs(rate(c, k)));
        }
        newton_[k * stride + count] = -value;
        worst = std::max(worst, std::abs(value));
        const bool fixed = parallel_[sliding_[k]] != 0;
        for (int l = 0; l < count; ++l) {
          double slope = 0;
          for (int c = 0; c < corners; ++c) slope += ((c >> l) & 1 ? 1.0 : -1.0) * weight(c, l) * rate(c, k);
          newton_[k * stride + l] = fixed ? (k == l ? 1 : 0) : slope;
        }
      }
      if (worst <= 4e-16 * scale) break;
      // Gauss-Jordan with row pivoting on the small system.
      for (int p = 0; p < count; ++p) {
        int best = p;
        for (int r = p + 1; r < count; ++r) {
          if (std::abs(newton_[r * stride + p]) > std::abs(newton_[best * stride + p])) best = r;
        }
        for (int c = 0; c <= count; ++c) {
          std::swap(newton_[p * stride + c], newton_[best * stride + c]);
        }
        const double pivot = newton_[p * stride + p];
        if (pivot == 0 || !std::isfinite(pivot)) return false;
        for (int r = 0; r < count; ++r) {
          if (r == p) continue;
          const double ratio = newton_[r * stride + p] / pivot;
          for (int c = p; c <= count; ++c) {
            newton_[r * stride + c] -= ratio * newton_[p * stride + c];
          }
        }
      }
      for (int k = 0; k < count; ++k) {
        alpha_[k] += newton_[k * stride + count] / newton_[k * stride + k];
      }
      if (iteration == 49) return false;
    }
  }
  std::fill(acceleration_.begin(), acceleration_.end(), 0.0);
  std::fill(work_.rate.begin(), work_.rate.end(), 0.0);
  std::fill(normal_.begin(), normal_.end(), 0.0);
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  for (int c = 0; c < corners; ++c) {
    const double w = weight(c, -1);
    const double* in = corner_.data() + c * width;
    for (int i = 0; i < n_; ++i) acceleration_[i] += w * in[i];
    for (int i = 0; i < states; ++i) work_.rate[i] += w * in[n_ + i];
    for (int r = 0; r < layout_.relations; ++r) normal_[r] += w * in[n_ + states + r];
    for (int j = 0; j < layout_.tangents; ++j) tangent_[j] += w * in[n_ + states + layout_.relations + j];
  }
  // The rate towards the surface from each side, with the other sliding switches at their coefficients.
  for (int k = 0; k < count; ++k) {
    const int id = sliding_[k];
    double side_rate[2] = {0, 0};
    for (int c = 0; c < corners; ++c) side_rate[(c >> k) & 1] += weight(c, k) * rate(c, k);
    sliding_rates_[2 * id] = side_rate[0];
    sliding_rates_[2 * id + 1] = side_rate[1];
    mode_.side[id] = alpha_[k];
    work_.in[layout_.side() + id] = alpha_[k];
  }
  return true;
}

// The coefficient of a switch that acts in parallel with sticking friction: the friction force that changes most with it is brought as
// near to zero as the coefficient allows.
double ModeMotion::parallel_coefficient(int k, int corners, int width) const {
  double best = 0.5;
  double largest = 0;
  for (int j = 0; j < layout_.tangents; ++j) {
    if (mode_.tangent[j] != TangentStatus::stick) continue;
    double force[2] = {0, 0};
    for (int c = 0; c < corners; ++c) {
      force[(c >> k) & 1] += corner_[c * width + n_ + layout_.states + layout_.relations + j] * 2 / corners;
    }
    const double change = force[1] - force[0];
    if (std::abs(change) <= largest) continue;
    largest = std::abs(change);
    best = std::clamp(-force[0] / change, 0.0, 1.0);
  }
  return best;
}

bool ModeMotion::evaluate() {
  ++evaluations;
  if (uniform_known_) return true;
  if (sliding_.empty() ? !evaluate_plain() : !evaluate_sliding()) return false;
  for (int i = 0; i < n_; ++i) {
    if (!std::isfinite(acceleration_[i])) return false;
  }
  uniform_known_ = uniform_;
  return true;
}

// A solution in 53 bits, corrected twice with residuals in 106: forces that large internal forces are taken away from keep their last bits.
void ModeMotion::respond(const double* force, const double* zeta, double* acceleration, double* lambda) {
  using numeric::DoubleDouble;
  const int count = active();
  std::vector<DoubleDouble> a(n_), l(count);
  std::vector<double> terms(n_), row_terms(count), change(n_);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n_; ++i) {
      DoubleDouble rest{force[i], 0};
      for (int k = 0; k < count; ++k) rest = rest + l[k] * DoubleDouble{columns_[k * n_ + i], 0};
      for (int j = 0; j < n_; ++j) rest = rest + a[j] * DoubleDouble{-work_.mass[i * n_ + j], 0};
      change[i] = rest.high;
    }
    system_.solve_mass(work_, change.data());
    for (int k = 0; k < count; ++k) {
      const double* g = row(active_[k]);
      DoubleDouble rest{zeta[k], 0};
      for (int i = 0; i < n_; ++i) rest = rest + (a[i] + DoubleDouble{change[i], 0}) * DoubleDouble{g[i], 0};
      residual_[k] = -rest.high;
      if (round > 0) continue;
      row_terms[k] = std::abs(zeta[k]);
      for (int i = 0; i < n_; ++i) row_terms[k] += std::abs(g[i] * change[i]);
    }
    solve_active(residual_.data());
    for (int i = 0; i < n_; ++i) {
      double sum = change[i];
      if (round == 0) terms[i] = std::abs(sum);
      for (int k = 0; k < count; ++k) {
        const double term = residual_[k] * response_[k * n_ + i];
        sum += term;
        if (round == 0) terms[i] += std::abs(term);
      }
      a[i] = a[i] + DoubleDouble{sum, 0};
    }
    for (int k = 0; k < count; ++k) l[k] = l[k] + DoubleDouble{residual_[k], 0};
  }
  for (int k = 0; k < count; ++k) {
    const double* g = row(active_[k]);
    for (int j = 0; j < count; ++j) {
      if (j != k) row_terms[k] += std::abs(l[j].high * dot(g, response_.data() + j * n_, n_));
    }
    const double own = std::abs(l[k].high * dot(g, response_.data() + k * n_, n_));
    lambda[k] = own <= kCancelled * row_terms[k] ? 0 : l[k].high;
  }
  for (int i = 0; i < n_; ++i) acceleration[i] = std::abs(a[i].high) <= kCancelled * terms[i] ? 0 : a[i].high;
  for (const Pin& pin : pins_) acceleration[pin.coordinate] = 0;
}

void ModeMotion::null_reactions(int number, double* lambda) {
  const int count = active();
  const int dependent = column_order_[rank_ + number];
  for (int k = 0; k < count; ++k) lambda[k] = -dot(row(active_[k]), response_.data() + dependent * n_, n_);
  solve_active(lambda);
  lambda[dependent] += 1;
}

double ModeMotion::surface_rate(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  info.surface.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
  const double* gradient = surface_.data() + 2;
  double rate = surface_[1];
  rate += dot(gradient, work_.in.data() + layout_.v(), n_);
  rate += dot(gradient + n_, acceleration_.data(), n_);
  rate += dot(gradient + 2 * n_, work_.rate.data(), layout_.states);
  return rate;
}

void ModeMotion::load(double t, const double* y) {
  double* in = work_.in.data();
  in[0] = t;
  const int width = layout_.integrated();
  for (int i = 0; i < width; ++i) in[1 + i] = y[i];
  for (const Pin& pin : pins_) {
    in[layout_.q() + pin.coordinate] =
        pin.velocity == 0 ? pin.position : pin.position + pin.velocity * (t - pin.time);
    in[layout_.v() + pin.coordinate] = pin.velocity;
  }
}

void ModeMotion::pin(double t, double* y) const {
  for (const Pin& pin : pins_) {
    y[pin.coordinate] = pin.velocity == 0 ? pin.position : pin.position + pin.velocity * (t - pin.time);
    y[n_ + pin.coordinate] = pin.velocity;
  }
}

bool ModeMotion::operator()(double t, const double* y, double* rate) {
  load(t, y);
  if (!evaluate()) return false;
  std::memcpy(rate, work_.in.data() + layout_.v(), sizeof(double) * n_);
  std::memcpy(rate + n_, acceleration_.data(), sizeof(double) * n_);
  for (int i = 0; i < layout_.states; ++i) {
    rate[2 * n_ + i] = work_.rate[i];
    if (!std::isfinite(rate[2 * n_ + i])) return false;
  }
  if (components() > layout_.integrated()) audit(rate + layout_.integrated());
  return true;
}

// Power of every audited element: dissipated, then supplied.
void ModeMotion::audit(double* rate) {
  const auto& audits = system_.audits();
  double* dissipated = rate;
  double* supplied = rate + layout_.audits;
  std::fill_n(rate, 2 * layout_.audits, 0.0);
  system_.powers(work_, powers_.data());
  for (std::size_t e = 0; e < audits.size(); ++e) {
    const model::AuditInfo& element = audits[e];
    if (element.power >= 0) {
      const double power = powers_[element.power];
      (element.dissipative ? dissipated[e] : supplied[e]) = element.dissipative ? -power : power;
    }
    if (element.relation < 0) continue;
    const auto r = (element.relation);
    if (std::find(touched_.begin(), touched_.end(), element.relation) == touched_.end()) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    const double* v = work_.in.data() + layout_.v();
    const double normal = normal_[r];
    if (relation.has_normal)
      supplied[e] += relation.own_push ? normal * dot(rows.push, v, n_) : -normal * rows.gap_time;
    for (int j = 0; j < relation.tangents; ++j) {
      const double force = tangent_[relation.first_tangent + j];
      const TangentStatus status = mode_.tangent[relation.first_tangent + j];
      const double slip =
          status == TangentStatus::stick ? 0 : dot(rows.tangent[j].w, v, n_) + rows.tangent[j].drive;
      dissipated[e] -= force * slip;
      supplied[e] += relation.own_push ? force * (dot(rows.tangent[j].drag, v, n_) - slip)
                                       : -force * rows.tangent[j].drive;
    }
  }
}

void ModeMotion::publish() {
  double* in = work_.in.data();
  std::copy(acceleration_.begin(), acceleration_.end(), in + layout_.acceleration());
  std::copy(normal_.begin(), normal_.end(), in + layout_.normal());
  std::copy(tangent_.begin(), tangent_.end(), in + layout_.tangent());
}

bool ModeMotion::project(double t, double* y, bool positions) {
  pin(t, y);
  const int count = active();
  if (count == 0 || all_pinned()) return true;
  const auto rows_of = [this](int r) { static_cast<void>(system_.rows(work_, r)); };
  if (positions) {
    for (int iteration = 0; iteration < 8; ++iteration) {
      load(t, y);
      if (!constant_ && !system_.motion(work_)) return false;
      for (const int r : touched_) rows_of(r);
      if (!constant_) {
        build_columns();
        if (!factorise(false)) return false;
      }
      // Correct with the impulses of closed and held rows only; sticking rows keep their slip position.
      double worst = 0;
      double largest = 0;
      for (int k = 0; k < count; ++k) {
        const Active& a = active_[k];
        const model::Relation& relation = system_.relations()[a.relation];
        double value = 0;
        if (a.tangent < 0 && relation.holonomic) {
          double rate = 0;
          system_.gap(work_, a.relation, value, rate);
          const double* g = row(a);
          double terms = 0;
          for (int i = 0; i < n_; ++i) terms += std::abs(g[i] * y[i]);
          if (std::abs(value) > 4e-16 * terms) worst = std::max(worst, std::abs(value));
          largest = std::max(largest, terms);
        }
        residual_[k] = -value;
      }
      if (worst == 0) break;
      if (iteration == 7) return worst <= 1e-12 * largest;
      solve_active(residual_.data());
      for (int k = 0; k < count; ++k) {
        const double* response = response_.data() + k * n_;
        for (int i = 0; i < n_; ++i) y[i] += residual_[k] * response[i];
      }
      pin(t, y);
    }
  }
  for (int iteration = 0; iteration < 3; ++iteration) {
    load(t, y);
    if (!constant_ && !system_.motion(work_)) return false;
    for (const int r : touched_) rows_of(r);
    if (!constant_) {
      build_columns();
      if (!factorise(false)) return false;
    }
    bool done = true;
    for (int k = 0; k < count; ++k) {
      const Active& a = active_[k];
      const model::RelationRows& rows = work_.relation[a.relation];
      const double* g = row(a);
      double value = a.tangent < 0 ? rows.gap_time : rows.tangent[a.tangent].drive;
      double terms = std::abs(value);
      for (int i = 0; i < n_; ++i) {
        value += g[i] * y[n_ + i];
        terms += std::abs(g[i] * y[n_ + i]);
      }
      if (std::abs(value) > 4e-16 * terms) done = false;
      residual_[k] = -value;
    }
    if (done) break;
    solve_active(residual_.data());
    for (int k = 0; k < count; ++k) {
      const double* response = response_.data() + k * n_;
      for (int i = 0; i < n_; ++i) y[n_ + i] += residual_[k] * response[i];
    }
    pin(t, y);
  }
  return true;
}

}  // namespace judder::engines
