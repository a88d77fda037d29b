#include "quasi_statics.hpp"

#include "core/dense/elimination.hpp"
#include "judder/model/large_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

double product(const model::Row& row, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t k = 0; k < row.values().size(); ++k)
    sum += row.values()[k] * x[static_cast<std::size_t>(row.places()[k])];
  return sum;
}

void add(const model::Row& row, double factor, std::vector<double>& out) {
  for (std::size_t k = 0; k < row.values().size(); ++k)
    out[static_cast<std::size_t>(row.places()[k])] += factor * row.values()[k];
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kConverged = 1e-13;  ///< a correction this small relative to what there is has converged
constexpr int kMostCorrections = 12;
constexpr double kCritical = 0x1p-36;  ///< γ below this share of the stiffness is zero

std::string quoted(const std::string& name) { return "'" + name + "'"; }

double length(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

std::string friction_problem(const model::System& system, std::size_t r) {
  const model::Relation& relation = system.relations()[r];
  if (relation.tangents == 0 && !relation.smooth_friction) return {};
  if (relation.tangents > 1) return "it has more than one slip component";
  if (relation.smooth_friction) return "its friction law is smooth and knows the speed";
  if (relation.compliant) return "its friction is fed by a compliant contact";
  if (relation.kind == model::RelationKind::constraint) return "it is a constraint with friction";
  for (const int feed : relation.feeds) {
    if (feed != static_cast<int>(r)) return "its friction is fed by another reaction";
  }
  if (!relation.law_constant) return "its friction coefficient or normal force is not constant";
  const model::Symbols::TangentRow& row =
      system.symbols().tangent[static_cast<std::size_t>(relation.first_tangent)];
  bool constant = system.graph().is_constant(row.drive);
  for (const expr::Node node : row.w) constant = constant && system.graph().is_constant(node);
  for (const expr::Node node : row.drag) constant = constant && system.graph().is_constant(node);
  return constant ? std::string() : "its slip row varies with position or time";
}

}  // namespace

QuasiStatics::QuasiStatics(const model::System& system, model::Workspace& work)
    : system_(system),
      work_(work),
      layout_(system.layout()),
      n_(static_cast<std::size_t>(layout_.coordinates)) {
  reference_.resize(static_cast<std::size_t>(layout_.tangents));
  force_.resize(n_);
  gaps_.resize(static_cast<std::size_t>(layout_.relations));
  rows_.resize(static_cast<std::size_t>(layout_.relations));
  stiffness_matrix_.resize(n_ * n_);
  force_time_.resize(n_);
  in_.resize(work.in.size());
  std::size_t outputs = static_cast<std::size_t>(system.motion_program().outputs());
  std::size_t registers = static_cast<std::size_t>(system.motion_program().registers());
  for (const model::Relation& relation : system.relations()) {
    outputs = std::max(outputs, static_cast<std::size_t>(relation.rows.outputs()));
    registers = std::max(registers, static_cast<std::size_t>(relation.rows.registers()));
  }
  out_.resize(outputs);
  registers_.resize(registers);
  const std::size_t most = n_ + static_cast<std::size_t>(layout_.relations + layout_.tangents) + 1;
  matrix_.reserve(most * most);
  for (std::vector<double>* values : {&right_, &row_size_, &power_}) values->reserve(most);
  active_.reserve(most);
  jacobian_.resize(n_ * (2 * n_ + static_cast<std::size_t>(layout_.free_parameters)));
}

std::string QuasiStatics::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  const model::Layout& layout = system.layout();
  if (layout.states > 0)
    return "the state " + quoted(system.state_names().front()) +
           " has a rate of its own; quasi-static evolution knows no time but that of the load";
  for (const model::SwitchInfo& info : system.switches()) {
    if (!info.time_only && (info.in_motion || info.in_relations))
      return info.place +
             " has a switch that depends on the state; quasi-static evolution follows smooth forces";
  }
  if (layout.observed > 0) return "a watch has a switch of its own";
  const std::vector<model::Relation>& relations = system.relations();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const std::string problem =
        !relations[r].holonomic ? "it is a constraint on velocities" : friction_problem(system, r);
    if (!problem.empty()) return relations[r].place + ": " + problem;
  }
  model::Workspace work(system);
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  std::fill_n(work.in.begin() + layout.v(), layout.coordinates, 0.0);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    if (relations[r].tangents == 0) continue;
    const model::RelationRows& rows = system.rows(work, static_cast<int>(r));
    if (rows.tangent[0].mu_static != rows.tangent[0].mu)
      return relations[r].place + ": its static coefficient differs from the dynamic one";
  }
  const auto n = static_cast<std::size_t>(layout.coordinates);
  const std::size_t width = 2 * n + static_cast<std::size_t>(layout.free_parameters);
  std::vector<double> jacobian((n + static_cast<std::size_t>(layout.states)) * width);
  system.jacobian(work, jacobian.data());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (jacobian[i * width + n + j] != 0)
        return "the force on " + quoted(system.coordinate_names()[i]) + " depends on the speed of " +
               quoted(system.coordinate_names()[j]) + "; quasi-static evolution has no dampers";
    }
  }
  return {};
}

void QuasiStatics::set_mode(const Mode& mode) {
  mode_ = mode;
  active_.clear();
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode.normal[r] == NormalStatus::closed || mode.normal[r] == NormalStatus::held)
      active_.push_back({r, -1});
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      if (mode.tangent[relation.first_tangent + j] == TangentStatus::stick)
        active_.push_back({r, relation.first_tangent + j});
    }
  }
}

bool QuasiStatics::place(double t, const std::vector<double>& q) {
  ++evaluations_;
  std::vector<double>& in = work_.in;
  in[layout_.time()] = t;
  std::copy(q.begin(), q.end(), in.begin() + layout_.q());
  std::fill_n(in.begin() + layout_.v(), n_, 0.0);
  for (int k = 0; k < layout_.switches; ++k) in[layout_.side() + k] = mode_.side[k];
  for (int j = 0; j < layout_.tangents; ++j) in[layout_.direction() + j] = direction(mode_.tangent[j]);
  for (int r = 0; r < layout_.relations; ++r)
    in[layout_.closed() + r] = mode_.normal[r] == NormalStatus::open ? 0 : 1;
  system_.motion_program().evaluate(in.data(), work_.output.data(), work_.registers.data());
  std::copy_n(work_.output.begin(), n_, force_.begin());
  force_size_ = length(force_);
  bool finite = std::isfinite(force_size_);
  for (int r = 0; r < layout_.relations; ++r) {
    double rate = 0;
    if (system_.relations()[r].has_normal) {
      system_.gap(work_, r, gaps_[r], rate);
      finite = finite && std::isfinite(gaps_[r]);
    }
    rows_[r] = &system_.rows(work_, r);
  }
  return finite;
}

bool QuasiStatics::differentiate(const std::vector<double>& normal) {
  for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = expr::Series{{work_.in[i]}};
  stiffness_ = 0;
  bool finite = true;
  for (std::size_t direction = 0; direction <= n_; ++direction) {
    const std::size_t input = direction == n_ ? static_cast<std::size_t>(layout_.time())
                                              : static_cast<std::size_t>(layout_.q()) + direction;
    in_[input].c[1] = 1;
    system_.motion_program().evaluate_series(in_.data(), out_.data(), registers_.data(), 1);
    for (std::size_t i = 0; i < n_; ++i)
      (direction == n_ ? force_time_[i] : stiffness_matrix_[i * n_ + direction]) = out_[i].c[1];
    for (int r = 0; r < layout_.relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (relation.rows_constant || mode_.normal[r] == NormalStatus::open || !relation.has_normal) continue;
      relation.rows.evaluate_series(in_.data(), out_.data(), registers_.data(), 1);
      const std::size_t push = 2 + (relation.own_push ? n_ : 0);
      for (std::size_t i = 0; i < n_; ++i)
        (direction == n_ ? force_time_[i] : stiffness_matrix_[i * n_ + direction]) +=
            normal[r] * out_[push + i].c[1];
    }
    in_[input].c[1] = 0;
  }
  for (const double value : stiffness_matrix_) stiffness_ = std::max(stiffness_, std::abs(value));
  for (const double value : force_time_) finite = finite && std::isfinite(value);
  // A damper that was silent at the start.
  const std::size_t width = 2 * n_ + static_cast<std::size_t>(layout_.free_parameters);
  system_.jacobian(work_, jacobian_.data());
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j)
      sees_velocity_ = sees_velocity_ || jacobian_[i * width + n_ + j] != 0;
  }
  return finite && std::isfinite(stiffness_) && !sees_velocity_;
}

double QuasiStatics::limit(int relation, int tangent, const std::vector<double>& normal) const {
  const model::RelationRows& rows = *rows_[relation];
  const bool fed = !system_.relations()[relation].feeds.empty();
  const double load = rows.base + (fed ? rows.factors[0] * normal[relation] : 0);
  return rows.tangent[tangent - system_.relations()[relation].first_tangent].mu * load;
}

double QuasiStatics::slip(int relation, int tangent, const std::vector<double>& rate, double t_rate) const {
  const auto& row = rows_[relation]->tangent[tangent - system_.relations()[relation].first_tangent];
  return row.drive * t_rate + product(row.w, rate);
}

void QuasiStatics::stick_here(double t, const std::vector<double>& q) {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j)
      reference_[j] = slip(r, j, q, t);
  }
}

/// Force direction of the reaction of a row; a slipping row belongs to its normal force.
double QuasiStatics::column(const Row& row, std::size_t place) const {
  const int i = static_cast<int>(place);
  const model::RelationRows& rows = *rows_[row.relation];
  const model::Relation& relation = system_.relations()[row.relation];
  if (row.tangent >= 0) return rows.tangent[row.tangent - relation.first_tangent].drag[i];
  double sum = rows.push[i];
  if (relation.feeds.empty()) return sum;
  for (int j = 0; j < relation.tangents; ++j) {
    const int sigma = direction(mode_.tangent[relation.first_tangent + j]);
    sum -= sigma * rows.tangent[j].mu * rows.factors[0] * rows.tangent[j].drag[i];
  }
  return sum;
}

double QuasiStatics::row(const Row& row, std::size_t place) const {
  const int i = static_cast<int>(place);
  const model::RelationRows& rows = *rows_[row.relation];
  return row.tangent < 0 ? rows.w[i]
                         : rows.tangent[row.tangent - system_.relations()[row.relation].first_tangent].w[i];
}

double QuasiStatics::time_rate(const Row& row) const {
  const model::RelationRows& rows = *rows_[row.relation];
  return row.tangent < 0 ? rows.gap_time
                         : rows.tangent[row.tangent - system_.relations()[row.relation].first_tangent].drive;
}

/// [D − γ, C; W, 0], or [−1, C; W, 0], into a matrix of rows of this width.
void QuasiStatics::fill(std::vector<double>& matrix, std::size_t width, double gamma,
                        bool with_stiffness) const {
  const std::size_t size = unknowns();
  matrix.assign(width * width, 0.0);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j)
      matrix[i * width + j] = with_stiffness ? stiffness_matrix_[i * n_ + j] : 0;
    matrix[i * width + i] -= with_stiffness ? gamma : 1;
    for (std::size_t a = n_; a < size; ++a) {
      matrix[i * width + a] = column(active_[a - n_], i);
      matrix[a * width + i] = row(active_[a - n_], i);
    }
  }
}

void QuasiStatics::residual(const QuasiStaticPoint& point, std::vector<double>& out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t i = 0; i < n_; ++i) out[i] = force_[i];
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const Row& row = active_[a];
    const double force = row.tangent < 0 ? point.normal[row.relation] : point.tangent[row.tangent];
    for (std::size_t i = 0; i < n_; ++i) out[i] += column(row, i) * force;
    out[n_ + a] = row.tangent < 0
                      ? gaps_[row.relation]
                      : slip(row.relation, row.tangent, point.q, point.t) - reference_[row.tangent];
  }
  // Of what slips under a known load.
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[relation.first_tangent + j]);
      const auto& row_of = rows_[r]->tangent[j];
      add(row_of.drag, -sigma * row_of.mu * rows_[r]->base, out);
    }
  }
}

/// Adds factor · x to coordinates and reactions; friction of what slips follows its load.
void QuasiStatics::take(const std::vector<double>& x, double factor, std::vector<double>& q,
                        std::vector<double>& normal, std::vector<double>& tangent) const {
  for (std::size_t i = 0; i < n_; ++i) q[i] += factor * x[i];
  for (std::size_t a = 0; a < active_.size(); ++a)
    (active_[a].tangent < 0 ? normal[active_[a].relation] : tangent[active_[a].tangent]) +=
        factor * x[n_ + a];
}

/// Solves matrix_ x = right_; both are used up, right_ becomes x. As dense::solve_scaled.
int QuasiStatics::solve(std::size_t n, double least_pivot) {
  row_size_.resize(n);
  return dense::solve_scaled(matrix_.data(), right_.data(), row_size_.data(), n, least_pivot);
}

bool QuasiStatics::correct(QuasiStaticPoint& point, const std::vector<double>& border_q, double border_t,
                           double* moved, int most) {
  const std::size_t size = unknowns(), width = size + 1;
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] == NormalStatus::open) point.normal[r] = 0;
  }
  right_.assign(width, 0.0);
  double way = 0;
  for (int k = 0; k < most; ++k) {
    if (!place(point.t, point.q) || !differentiate(point.normal)) return false;
    residual(point, right_);
    right_[size] = 0;
    fill(matrix_, width, 0, true);
    for (std::size_t i = 0; i < n_; ++i) {
      matrix_[i * width + size] = force_time_[i];
      matrix_[size * width + i] = border_q[i];
    }
    for (std::size_t a = 0; a < active_.size(); ++a) matrix_[(n_ + a) * width + size] = time_rate(active_[a]);
    matrix_[size * width + size] = border_t;
    if (solve(width) == 0) return false;
    take(right_, -1, point.q, point.normal, point.tangent);
    point.t -= right_[size];
    double change = right_[size] * right_[size];
    for (std::size_t i = 0; i < n_; ++i) change += right_[i] * right_[i];
    change = std::sqrt(change);
    if (!std::isfinite(change)) return false;
    way += change;
    // Measured by the place and by the way to it, not by forces over stiffness: near a fold there is none.
    const double present = length(point.q) + std::abs(point.t) + way;
    // Reactions converge with the coordinates; what is left of them after the last linear step is of second order.
    if (change <= kConverged * present || (k > 2 && change <= 1e3 * kConverged * present) || change == 0) {
      if (moved != nullptr) *moved = way;
      if (!place(point.t, point.q)) return false;
      for (int r = 0; r < layout_.relations; ++r) {
        const model::Relation& relation = system_.relations()[r];
        for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
          const TangentStatus status = mode_.tangent[j];
          if (status == TangentStatus::stick) continue;
          point.tangent[j] =
              status == TangentStatus::free ? 0 : -direction(status) * limit(r, j, point.normal);
        }
      }
      return true;
    }
  }
  return false;
}

bool QuasiStatics::hold_along(QuasiStaticPoint& point, const std::vector<double>& from,
                              const std::vector<double>& direction, double length_of) {
  const std::size_t size = unknowns(), width = size + 1;
  double gamma = 0;
  for (int k = 0; k < kMostCorrections; ++k) {
    if (!place(point.t, point.q) || !differentiate(point.normal)) return false;
    right_.assign(width, 0.0);
    residual(point, right_);
    fill(matrix_, width, 0, true);
    right_[size] = -length_of;
    for (std::size_t i = 0; i < n_; ++i) {
      right_[i] -= gamma * direction[i];
      right_[size] += direction[i] * (point.q[i] - from[i]);
      matrix_[i * width + size] = -direction[i];
      matrix_[size * width + i] = direction[i];
    }
    if (solve(width) == 0) return false;
    take(right_, -1, point.q, point.normal, point.tangent);
    gamma -= right_[size];
    double change = 0;
    for (std::size_t i = 0; i < n_; ++i) change += right_[i] * right_[i];
    change = std::sqrt(change);
    if (!(change <= length_of)) return false;  // another branch
    if (change <= 1e-10 * length_of) return true;
  }
  return false;
}

bool QuasiStatics::tangent(QuasiStaticPoint& point, const std::vector<double>& border_q, double border_t) {
  if (!differentiate(point.normal)) return false;
  const std::size_t size = unknowns(), width = size + 1;
  right_.assign(width, 0.0);
  fill(matrix_, width, 0, true);
  for (std::size_t i = 0; i < n_; ++i) {
    matrix_[i * width + size] = force_time_[i];
    matrix_[size * width + i] = border_q[i];
  }
  for (std::size_t a = 0; a < active_.size(); ++a) matrix_[(n_ + a) * width + size] = time_rate(active_[a]);
  matrix_[size * width + size] = border_t;
  right_[size] = 1;
  if (solve(width) == 0) return false;
  double arc = 0;
  for (std::size_t i = 0; i < n_; ++i) arc += right_[i] * right_[i];
  arc = std::sqrt(arc) + std::abs(right_[size]);
  if (!std::isfinite(arc) || !(arc > 0)) return false;
  point.t_rate = right_[size] / arc;
  for (std::vector<double>* rate : {&point.q_rate, &point.normal_rate, &point.tangent_rate})
    std::fill(rate->begin(), rate->end(), 0.0);
  take(right_, 1 / arc, point.q_rate, point.normal_rate, point.tangent_rate);
  point.gap = gaps_;
  point.gap_rate.assign(gaps_.size(), 0.0);
  for (int r = 0; r < layout_.relations; ++r) {
    if (!system_.relations()[r].has_normal) continue;
    point.gap_rate[r] = rows_[r]->gap_time * point.t_rate;
    point.gap_rate[r] += product(rows_[r]->w, point.q_rate);
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.feeds.empty()) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[relation.first_tangent + j]);
      if (sigma != 0)
        point.tangent_rate[relation.first_tangent + j] =
            -sigma * rows_[r]->tangent[j].mu * rows_[r]->factors[0] * point.normal_rate[r];
    }
  }
  return true;
}

bool QuasiStatics::rows_depend() {
  constexpr double kDependent = 1e-11;
  const std::size_t size = unknowns();
  fill(matrix_, size, 0, false);
  right_.assign(size, 0.0);
  return solve(size, kDependent) == 0;
}

bool QuasiStatics::flow(std::vector<double>& velocity, std::vector<double>& normal,
                        std::vector<double>& tangent) {
  const std::size_t size = unknowns();
  fill(matrix_, size, 0, false);
  right_.assign(size, 0.0);
  for (std::size_t i = 0; i < n_; ++i) right_[i] = -force_[i];
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[relation.first_tangent + j]);
      const auto& row_of = rows_[r]->tangent[j];
      add(row_of.drag, sigma * row_of.mu * rows_[r]->base, right_);
    }
  }
  if (solve(size) == 0) return false;
  for (std::vector<double>* values : {&velocity, &normal, &tangent})
    std::fill(values->begin(), values->end(), 0.0);
  take(right_, 1, velocity, normal, tangent);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      const int sigma = direction(mode_.tangent[j]);
      if (sigma != 0) tangent[j] = -sigma * limit(r, j, normal);
    }
  }
  return std::isfinite(length(velocity));
}

int QuasiStatics::determinant_sign(double gamma) {
  const std::size_t size = unknowns();
  fill(matrix_, size, gamma, true);
  right_.assign(size, 0.0);
  return solve(size);
}

bool QuasiStatics::null_vector(double gamma, QuasiStaticPoint& direction_out) {
  const std::size_t size = unknowns();
  std::vector<double>& x = power_;
  x.resize(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = 1 + 0.37 * static_cast<double>(i % 5);  // in general position
  for (int k = 0; k < 3; ++k) {
    fill(matrix_, size, gamma, true);
    right_ = x;
    if (solve(size) == 0) {
      fill(matrix_, size, gamma + 8 * kEpsilon * stiffness_, true);
      right_ = x;
      if (solve(size) == 0) return false;
    }
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += right_[i] * right_[i];
    if (!(sum > 0) || !std::isfinite(sum)) return false;
    for (std::size_t i = 0; i < size; ++i) x[i] = right_[i] / std::sqrt(sum);
  }
  for (std::vector<double>* rate :
       {&direction_out.q_rate, &direction_out.normal_rate, &direction_out.tangent_rate})
    std::fill(rate->begin(), rate->end(), 0.0);
  direction_out.t_rate = 0;
  take(x, 1, direction_out.q_rate, direction_out.normal_rate, direction_out.tangent_rate);
  return true;
}

bool QuasiStatics::unstable(double& gamma, QuasiStaticPoint& direction_out) {
  if (n_ == 0) return false;
  double friction = 1;
  for (int r = 0; r < layout_.relations; ++r) {
    for (int j = 0; j < system_.relations()[r].tangents; ++j)
      friction = std::max(friction, 1 + rows_[r]->tangent[j].mu);
  }
  const double small = kCritical * stiffness_;
  double high = 16 * friction * friction * static_cast<double>(n_) * stiffness_;
  if (!(high > 0)) high = 1;  // no stiffness at all: every direction that is free is critical
  int sign_high = determinant_sign(high);
  if (sign_high == 0) return false;  // rows that depend on each other: their reactions are not determined
  while (high > -small || high == 1) {
    double low = high > 2 * small && small > 0 ? high / 2 : -(small > 0 ? small : kEpsilon);
    const int sign_low = determinant_sign(low);
    if (sign_low != sign_high) {
      double a = low, b = high;
      for (int k = 0; k < 200 && b - a > 4 * kEpsilon * (std::abs(a) + std::abs(b)); ++k) {
        const double middle = 0.5 * (a + b);
        (determinant_sign(middle) == sign_high ? b : a) = middle;
      }
      gamma = 0.5 * (a + b);
      return null_vector(gamma, direction_out);
    }
    if (low < 0) break;
    high = low;
  }
  return false;
}

}  // namespace judder::engines
