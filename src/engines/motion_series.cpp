#include "motion_series.hpp"

#include "core/dense/elimination.hpp"
#include "core/dense/reduction.hpp"
#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

using expr::Series;

constexpr double kRounding = 1e-14;  ///< of a sum, relative to its terms
constexpr double kLanding = 64;      ///< last bits by which a state at an event may miss what vanishes there

double product(const Series& a, const Series& b, int k) {
  double sum = 0;
  for (int j = 0; j <= k; ++j) sum += a.c[j] * b.c[k - j];
  return sum;
}

Series product_series(const Series& a, const Series& b, int order) {
  Series out;
  for (int k = 0; k <= order; ++k) out.c[k] = product(a, b, k);
  return out;
}

}  // namespace

MotionSeries::MotionSeries(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), n_(system.layout().coordinates), m_(system.layout().states) {}

void MotionSeries::provide() {
  if (!in_.empty()) return;
  const model::Layout& layout = system_.layout();
  in_.resize(layout.size() + 1);
  int registers = system_.motion_program().registers();
  int outputs = system_.motion_program().outputs();
  for (const model::Relation& relation : system_.relations()) {
    registers =
        std::max({registers, relation.rows.registers(), relation.law.registers(), relation.gap.registers()});
    outputs = std::max({outputs, relation.rows.outputs(), relation.law.outputs(), 2});
    rows_.emplace_back(relation.rows.outputs());
    laws_.emplace_back(relation.law.outputs());
  }
  for (const model::SwitchInfo& info : system_.switches()) {
    registers = std::max({registers, info.value.registers(), info.rate.registers()});
    outputs = std::max(outputs, info.rate.outputs());
  }
  balance_ = system_.massless_balance();
  if (!balance_.unknown.empty()) {
    registers = std::max(registers, balance_.program->registers());
    balance_series_.resize(balance_.program->outputs());
    if (!balance_.joints.empty()) {
      registers = std::max(registers, balance_.friction->registers());
      friction_series_.resize(balance_.friction->outputs());
    }
    resting_.reserve(balance_.joints.size());
    holding_.reserve(balance_.joints.size());
  }
  registers_.resize(std::max(registers, 1));
  scratch_.resize(std::max(outputs, 2));
  motion_.resize(system_.motion_program().outputs());
  acceleration_.resize(n_);
  rounding_.resize((expr::kTaylorOrder + 1) * (n_ + m_));
  massless_ = massless_joints(system_);
  normal_.resize(layout.relations);
  tangent_.resize(layout.tangents);
  slips_known_.resize(layout.relations);
}

const Series* MotionSeries::row(const Active& a) const {
  return rows_[a.relation].data() + system_.relations()[a.relation].row_begin(a.tangent) +
         (a.tangent < 0 ? 2 : 3);
}

const Series* MotionSeries::column(const Active& a) const {
  const model::Relation& relation = system_.relations()[a.relation];
  return row(a) + (relation.own_push ? relation.touches.size() : 0);
}

const Series& MotionSeries::zeta(const Active& a) const {
  return rows_[a.relation][system_.relations()[a.relation].row_begin(a.tangent) + (a.tangent < 0 ? 1 : 2)];
}

// Rows and laws that never change are found once, to all orders; their slips when somebody asks.
void MotionSeries::evaluate_rows(int order) {
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    const bool constant = relation.rows_constant && relation.law_constant;
    slips_known_[r] = constant ? 0 : 1;
    if (constant && order > 0) continue;
    const int up_to = constant ? expr::kTaylorOrder : order;
    relation.rows.evaluate_series(in_.data(), rows_[r].data(), registers_.data(), up_to);
    if (relation.law.outputs() > 0)
      relation.law.evaluate_series(in_.data(), laws_[r].data(), registers_.data(), up_to);
  }
}

// What a right-hand side of order k loses to the masses that vary, in row i.
double MotionSeries::without_inertia(int i, int k, double right) const {
  const model::MassPattern& pattern = system_.mass_pattern();
  const auto take = [&](int j, int entry) {
    const Series& mass = motion_[n_ + m_ + entry];
    for (int l = 1; l <= k; ++l) right -= mass.c[l] * acceleration_[j].c[k - l];
  };
  for (int e = pattern.begin[i]; e < pattern.begin[i + 1]; ++e) take(pattern.at[e], e);
  for (int e = pattern.below_begin[i]; e < pattern.below_begin[i + 1]; ++e)
    take(pattern.below_row[e], pattern.below_entry[e]);
  return right;
}

// x ← M⁻¹ x, of what is zero beside these places.
void MotionSeries::solve_mass(double* x, std::span<const int> places) const {
  if (!work_.mass_diagonal) return system_.solve_mass(work_, x);
  for (const int i : places) x[i] = system_.massless()[i] ? 0 : x[i] / work_.inertia[i];
}

// G M⁻¹ C of order zero.
bool MotionSeries::factorise() {
  const int count = static_cast<int>(active_.size());
  for (int a = 0; a < count; ++a) {
    double* response = response_.data() + a * n_;
    const Series* g = row(active_[a]);
    const std::vector<int>& touches = system_.relations()[active_[a].relation].touches;
    std::fill_n(response, n_, 0.0);
    for (std::size_t e = 0; e < touches.size(); ++e) response[touches[e]] = g[e].c[0];
    solve_mass(response, touches);
    double size = 0;
    for (std::size_t e = 0; e < touches.size(); ++e) size += g[e].c[0] * response[touches[e]];
    size_[a] = size != 0 ? std::abs(size) : 1;
    pushed_.clear();
    for (int i = 0; i < n_; ++i) {
      response[i] = columns_[a * n_ + i].c[0];
      if (response[i] != 0) pushed_.push_back(i);
    }
    solve_mass(response, pushed_);
    int first = 0;
    int end = n_;
    while (first < end && response[first] == 0) ++first;
    while (end > first && response[end - 1] == 0) --end;
    response_first_[a] = first;
    response_end_[a] = end;
  }
  double* matrix = solver_.matrix();
  std::fill_n(matrix, static_cast<std::size_t>(count) * count, 0.0);
  for (int a = 0; a < count; ++a) {
    const Series* g = row(active_[a]);
    const std::vector<int>& touches = system_.relations()[active_[a].relation].touches;
    for (int b = 0; b < count; ++b) {
      // Of many rows few meet.
      if (touches.empty() || touches.back() < response_first_[b] || touches.front() >= response_end_[b])
        continue;
      double sum = 0;
      for (std::size_t e = 0; e < touches.size(); ++e) sum += g[e].c[0] * response_[b * n_ + touches[e]];
      matrix[a * count + b] = sum;
    }
  }
  return solver_.factor(size_.data());
}

// What accelerations may be where all loads balance: forces that cancel inside one expression leave its rounding, and reactions carry it to other
// coordinates. Interval arithmetic on the state known to its last bit tells.
void MotionSeries::add_rounding_of_forces() {
  const model::Layout& layout = system_.layout();
  std::vector<double>& width = rounding_terms_;
  width.assign(n_ + m_, 0.0);
  // A combination of two sides is no interval between them: each has its own.
  bool blends = true;
  for (int upper = 0; upper < 2 && blends; ++upper) {
    blends = false;
    enclosure_.take(work_.in);
    for (std::size_t i = 0; i < in_.size(); ++i)
      enclosure_.set(static_cast<int>(i), in_[i].c[0], in_[i].c[0]);
    for (int j = layout.side(); j < layout.side() + layout.switches; ++j) {
      const double lower = std::floor(in_[j].c[0]);
      if (in_[j].c[0] == lower) continue;
      blends = true;
      enclosure_.set(j, lower + upper, lower + upper);
    }
    enclosure_.blur(0, 1 + layout.integrated());
    enclosure_.evaluate(system_.motion_program());
    for (int i = 0; i < n_ + m_; ++i) width[i] = std::max(width[i], enclosure_.width(i));
  }
  system_.solve_mass(work_, width.data());
  const auto add = [this](int component, double value) {
    rounding_[component] = std::max(rounding_[component], kLanding * value);
  };
  for (int i = 0; i < n_; ++i) add(i, std::abs(width[i]));
  for (int i = 0; i < m_; ++i) add(n_ + i, width[n_ + i]);
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const Series* g = row(active_[a]);
    double reaction = 0;
    for (const int i : system_.relations()[active_[a].relation].touches)
      reaction += std::abs((g++)->c[0] * width[i]);
    reaction /= size_[a];
    for (int i = response_first_[a]; i < response_end_[a]; ++i)
      add(i, reaction * std::abs(response_[a * n_ + i]));
  }
}

bool MotionSeries::unique(int relation, int tangent) const {
  for (std::size_t a = 0; a < active_.size(); ++a) {
    if (active_[a].relation == relation && active_[a].tangent == tangent)
      return solver_.unique(static_cast<int>(a));
  }
  return true;
}

// μ of a row that slips. Where it jumps from the static one, a row that has only been found to slip has not left rest yet.
Series MotionSeries::slip_coefficient(int relation, int tangent) const {
  const model::Relation& r = system_.relations()[relation];
  const Series* mu = laws_[relation].data() + 1 + r.feeds.size() + 2 * tangent;
  const int number = r.first_tangent + tangent;
  const bool rests = !from_rest_.empty() && from_rest_[number] != 0 && direction(mode_.tangent[number]) != 0;
  return rests && mu[0].c[0] != mu[1].c[0] ? mu[1] : mu[0];
}

// The coefficients of a slide change with the motion: those of order k are such that the surfaces stay at zero in the next order, in which they
// enter linearly. `advance` computes that order. A surface that none of them moves is held by something else.
template <class Advance>
bool MotionSeries::hold_surfaces(int k, const Advance& advance) {
  const int side = system_.layout().side();
  const int count = static_cast<int>(sliding_.size());
  const auto surfaces = [&](int column) {
    for (int a = 0; a < count; ++a) {
      const model::SwitchInfo& info = system_.switches()[sliding_[a]];
      const expr::Program& program = mode_.surface[sliding_[a]] == AtSurface::rests ? info.rate : info.value;
      program.evaluate_series(in_.data(), scratch_.data(), registers_.data(), k + 1);
      held_[a * (count + 1) + column] = scratch_[0].c[k + 1];
    }
  };
  const auto reach = [&](int column) {
    if (follows_ && !follow_massless(k + 1)) return false;
    surfaces(column);
    return true;
  };
  // What the surfaces bear of this order: where the coefficients take it away, no more is left of it than rounding.
  held_.resize(count * (count + 1) + n_ + m_);
  double* const borne = held_.data() + count * (count + 1);
  for (int i = 0; i < n_; ++i) borne[i] = std::abs(acceleration_[i].c[k]);
  for (int i = 0; i < m_; ++i) borne[n_ + i] = std::abs(motion_[n_ + i].c[k]);
  if (!reach(count)) return false;
  for (int b = 0; b < count; ++b) {
    in_[side + sliding_[b]].c[k] = 1;
    if (!advance(k) || !reach(b)) return false;
    in_[side + sliding_[b]].c[k] = 0;
    for (int a = 0; a < count; ++a) held_[a * (count + 1) + b] -= held_[a * (count + 1) + count];
  }
  double largest = 0;
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) largest = std::max(largest, std::abs(held_[a * (count + 1) + b]));
  }
  const double nothing = kRounding * largest;
  dense::reduce(held_.data(), count, count + 1,
                nothing);  // what a surface without a pivot asks stays unanswered
  for (int b = 0; b < count; ++b) {
    const double pivot = held_[b * (count + 1) + b];
    in_[side + sliding_[b]].c[k] = std::abs(pivot) > nothing ? -held_[b * (count + 1) + count] / pivot : 0;
  }
  if (!advance(k)) return false;
  for (int i = 0; i < n_ + m_; ++i) {
    double& rounding = rounding_[k * (n_ + m_) + i];
    rounding = std::max(rounding, kRounding * borne[i]);
  }
  return true;
}

// The coefficients of this order of the massless unknowns from number `first` on: F stays zero, in which they enter by the slopes of order zero. So does the
// slip of a joint at rest, whose force is an unknown, too.
bool MotionSeries::balance_massless(int order, int first) {
  const int all = static_cast<int>(balance_.unknown.size());
  const int size = all - first;
  holding_.clear();
  for (const int j : resting_) {
    if (first == 0 || !balance_.joints[j].damped) holding_.push_back(j);
  }
  const int width = size + static_cast<int>(holding_.size());
  const auto friction = [&](int j) {
    return friction_series_.data() + static_cast<std::size_t>(j) * (2 * all + 2);
  };
  // An undamped joint holds positions: in this order they are where the velocities of the last one have brought them, if these are known.
  unknown_.assign(width, 0.0);
  for (int b = 0; b < width - size && first == 0; ++b) {
    if (balance_.joints[holding_[b]].damped) continue;
    for (int i = 0; i < all; ++i)
      unknown_[size + b] += friction(holding_[b])[all + i].c[0] * in_[balance_.unknown[i]].c[order];
  }
  for (int i = first; i < all; ++i) in_[balance_.unknown[i]].c[order] = 0;
  for (const int j : holding_) in_[balance_.joints[j].tangent].c[order] = 0;
  balance_.program->evaluate_series(in_.data(), balance_series_.data(), registers_.data(), order);
  if (!holding_.empty())
    balance_.friction->evaluate_series(in_.data(), friction_series_.data(), registers_.data(), order);
  slopes_.assign(static_cast<std::size_t>(width) * width, 0.0);
  unknown_size_.resize(width);
  double* matrix = slopes_.data();
  for (int i = 0; i < size; ++i) {
    unknown_[i] = -balance_series_[first + i].c[order];
    for (int j = 0; j < size; ++j)
      matrix[i * width + j] = balance_series_[all + (first + i) * all + first + j].c[0];
  }
  for (int b = 0; b < width - size; ++b) {
    const model::System::MasslessBalance::Joint& joint = balance_.joints[holding_[b]];
    const Series* of = friction(holding_[b]);
    for (int i = 0; i < size; ++i) {
      matrix[i * width + size + b] = of[first + i].c[0];
      matrix[(size + b) * width + i] = of[all + first + i].c[0];
    }
    if (joint.damped) {
      unknown_[size + b] = -of[2 * all].c[order];
    } else if (first > 0) {
      unknown_[size + b] = -of[2 * all].c[order - 1] / order;
    }
  }
  // What the row of a joint holds alone is known at once, to the last bit: a node at rest has no rounding that could tell a side of a surface.
  for (int b = size; b < width; ++b) {
    const double* row = matrix + b * width;
    if (std::count_if(row, row + size, [](double entry) { return entry != 0; }) != 1) continue;
    const auto i =
        static_cast<int>(std::find_if(row, row + size, [](double entry) { return entry != 0; }) - row);
    const double value = unknown_[b] / row[i];
    for (int r = 0; r < width; ++r) {
      if (r == b || matrix[r * width + i] == 0) continue;
      unknown_[r] -= matrix[r * width + i] * value;
      matrix[r * width + i] = 0;
    }
  }
  if (!dense::eliminate(matrix, unknown_.data(), unknown_size_.data(), static_cast<std::size_t>(width)))
    return false;
  for (int i = 0; i < width; ++i) {
    if (!std::isfinite(unknown_[i])) return false;
    const int place = i < size ? balance_.unknown[first + i] : balance_.joints[holding_[i - size]].tangent;
    in_[place].c[order] = unknown_[i];
  }
  return true;
}

// Velocities of order k of massless coordinates, with all positions and the velocities of the others known to that order. Damped ones follow from the
// balance of that order; the others are where they are to be in the next one, which sees no velocity but through positions and states.
bool MotionSeries::follow_massless(int k) {
  const model::Layout& layout = system_.layout();
  if (k > 0 && !balance_massless(k, 0)) return false;
  const int undamped = static_cast<int>(balance_.velocity.size());
  if (k == 0 || k == expr::kTaylorOrder || undamped == 0) return true;
  for (const int place : balance_.velocity) in_[place].c[k] = 0;
  if (m_ > 0) system_.motion_program().evaluate_series(in_.data(), motion_.data(), registers_.data(), k);
  for (int i = 0; i < n_; ++i) in_[layout.q() + i].c[k + 1] = in_[layout.v() + i].c[k] / (k + 1);
  for (int i = 0; i < m_; ++i) in_[layout.z() + i].c[k + 1] = motion_[n_ + i].c[k] / (k + 1);
  const int damped = static_cast<int>(balance_.unknown.size()) - undamped;
  if (!balance_massless(k + 1, damped)) return false;
  for (int i = 0; i < undamped; ++i)
    in_[balance_.velocity[i]].c[k] = (k + 1) * in_[balance_.unknown[damped + i]].c[k + 1];
  return true;
}

// Whether G v̇ + ζ is more than rounding in this order: no reactions hold rows that depend on each other and are driven apart.
bool MotionSeries::rows_part(int k) const {
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const Series* g = row(active_[a]);
    double moves = zeta(active_[a]).c[k];
    double terms = std::abs(moves);
    for (const int j : system_.relations()[active_[a].relation].touches) {
      moves += product(*g, acceleration_[j], k);
      for (int l = 0; l < k; ++l) terms += std::abs(g->c[k - l] * acceleration_[j].c[l]);
      terms += std::abs(g->c[0]) * terms_[j];
      ++g;
    }
    if (std::abs(moves) > kLanding * kRounding * terms) return true;
  }
  return false;
}

double MotionSeries::drive(int relation, int tangent) const {
  for (std::size_t a = 0; a < active_.size(); ++a) {
    if (active_[a].relation == relation && active_[a].tangent == tangent &&
        !solver_.unique(static_cast<int>(a)))
      return drives_[a].c[parted_];
  }
  return 0;
}

bool MotionSeries::compute(const Mode& mode, int order, double size,
                           std::span<const std::uint8_t> from_rest) {
  provide();
  from_rest_ = from_rest;
  const model::Layout& layout = system_.layout();
  if (!system_.mass_constant() && !system_.motion(work_)) return false;
  mode_ = mode;
  order_ = 0;
  active_.clear();
  touched_.clear();
  for (Series& s : in_) s = Series{};
  for (int i = 0; i < layout.acceleration(); ++i) in_[i].c[0] = work_.in[i];
  for (int k = 0; k < layout.switches; ++k) in_[layout.side() + k].c[0] = mode.side[k];
  for (int j = 0; j < layout.tangents; ++j) in_[layout.direction() + j].c[0] = direction(mode.tangent[j]);
  for (int r = 0; r < layout.relations; ++r)
    in_[layout.closed() + r].c[0] = mode.normal[r] == NormalStatus::open ? 0 : 1;
  in_[0].c[1] = 1;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    touched_.push_back(r);  // open contacts too: their slip and gap are asked for
    if (mode.normal[r] == NormalStatus::open) continue;
    if (relation.has_normal) active_.push_back({r, -1});
    for (int j = 0; j < relation.tangents && massless_[r] == 0; ++j) {
      if (mode.tangent[relation.first_tangent + j] == TangentStatus::stick) active_.push_back({r, j});
    }
  }
  const int count = static_cast<int>(active_.size());
  columns_.resize(count * n_);
  lambda_.resize(count);
  for (Series& s : acceleration_) s = Series{};
  for (Series& s : normal_) s = Series{};
  for (Series& s : tangent_) s = Series{};
  for (Series& s : lambda_) s = Series{};
  drives_.assign(count, Series{});
  std::fill(rounding_.begin(), rounding_.end(), 0.0);
  parted_ = -1;
  right_.resize(n_);
  solver_.resize(count);
  response_.resize(count * n_);
  response_first_.resize(count);
  response_end_.resize(count);
  size_.resize(count);
  load_.resize(count);
  // Columns that keep their numbers: constant rows whose reaction feeds no friction that slips.
  constant_.resize(count);
  for (int a = 0; a < count; ++a)
    constant_[a] = system_.relations()[active_[a].relation].rows_constant ? 1 : 0;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      for (const int fed : relation.feeds) {
        for (int a = 0; a < count; ++a) {
          if (active_[a].relation == fed && active_[a].tangent < 0) constant_[a] = 0;
        }
      }
    }
  }

  resting_.clear();
  follows_ = !balance_.unknown.empty();
  for (std::size_t j = 0; j < balance_.joints.size(); ++j) {
    const model::System::MasslessBalance::Joint& joint = balance_.joints[j];
    in_[joint.tangent].c[0] = work_.in[joint.tangent];
    if (in_[joint.direction].c[0] != 0) continue;
    resting_.push_back(static_cast<int>(j));
    follows_ = follows_ && joint.constant;
  }
  if (follows_ && !resting_.empty())
    balance_.friction->evaluate_series(in_.data(), friction_series_.data(), registers_.data(), 0);
  int reached = 0;  // order of the state
  const auto advance = [&](int k) {
    if (follows_ && !follow_massless(k)) return false;
    system_.motion_program().evaluate_series(in_.data(), motion_.data(), registers_.data(), k);
    evaluate_rows(k);
    // Columns of the active rows with the friction of slipping rows, and the known friction of given normal forces.
    for (int a = 0; a < count; ++a) {
      if (k > 0 && constant_[a] != 0) continue;
      const Series* c = column(active_[a]);
      std::fill_n(columns_.begin() + a * n_, n_,
                  Series{});  // what lies beyond the order k has not been computed
      const std::vector<int>& touches = system_.relations()[active_[a].relation].touches;
      for (std::size_t e = 0; e < touches.size(); ++e)
        std::copy_n(c[e].c, k + 1, columns_[a * n_ + touches[e]].c);
    }
    std::fill(right_.begin(), right_.end(), 0.0);
    for (const int r : touched_) {
      const model::Relation& relation = system_.relations()[r];
      for (int j = 0; j < relation.tangents; ++j) {
        const TangentStatus status = mode.tangent[relation.first_tangent + j];
        if (status == TangentStatus::stick && massless_[r] != 0) {  // a force like any other
          const Series* drag = column({r, j});
          for (std::size_t e = 0; e < relation.touches.size(); ++e)
            right_[relation.touches[e]] +=
                product(in_[layout.tangent() + relation.first_tangent + j], drag[e], k);
        }
        if (status == TangentStatus::stick || status == TangentStatus::free) continue;
        const std::vector<Series>& law = laws_[r];
        const int feeds = static_cast<int>(relation.feeds.size());
        Series mu = slip_coefficient(r, j);
        if (status != TangentStatus::smooth) {
          for (double& c : mu.c) c *= direction(status);
        }
        const Series* drag = column({r, j});
        const Series known = product_series(mu, law[0], k);
        for (std::size_t e = 0; e < relation.touches.size(); ++e)
          right_[relation.touches[e]] -= product(known, drag[e], k);
        for (int f = 0; f < feeds; ++f) {
          Series factor = product_series(mu, law[1 + f], k);
          const int pressed = mode.pressed[relation.feeds[f]];
          if (pressed < 0) {
            for (double& c : factor.c) c = -c;
          }
          for (int a = 0; a < count; ++a) {
            if (active_[a].relation != relation.feeds[f] || active_[a].tangent >= 0) continue;
            for (std::size_t e = 0; e < relation.touches.size(); ++e) {
              for (int l = 0; l <= k; ++l)
                columns_[a * n_ + relation.touches[e]].c[l] -= product(factor, drag[e], l);
            }
          }
        }
      }
    }
    for (int i = 0; i < n_; ++i) {
      right_[i] += motion_[i].c[k];
      if (!system_.mass_constant()) right_[i] = without_inertia(i, k, right_[i]);
    }
    for (int a = 0; a < count; ++a) {
      if (constant_[a] != 0) continue;
      for (int i = 0; i < n_; ++i) {
        for (int l = 1; l <= k; ++l) right_[i] += columns_[a * n_ + i].c[l] * lambda_[a].c[k - l];
      }
    }
    // a = M⁻¹ (right + C λ) and G a = given: a problem in λ alone, with the same matrix for every order.
    if (k == 0 && !factorise()) return false;
    system_.solve_mass(work_, right_.data());
    for (int a = 0; a < count; ++a) {
      const Series* g = row(active_[a]);
      double value = -zeta(active_[a]).c[k];
      const model::Relation& relation = system_.relations()[active_[a].relation];
      const bool varies = !relation.rows_constant;
      for (std::size_t e = 0; e < relation.touches.size(); ++e) {
        const int j = relation.touches[e];
        for (int l = 1; l <= k && varies; ++l) value -= g[e].c[l] * acceleration_[j].c[k - l];
        value -= g[e].c[0] * right_[j];
      }
      load_[a] = value;
      drives_[a].c[k] = -value;
    }
    solver_.solve(load_.data());
    terms_.resize(n_);
    for (int i = 0; i < n_; ++i) terms_[i] = std::abs(right_[i]);
    for (int a = 0; a < count; ++a) {
      const double* response = response_.data() + a * n_;
      for (int i = response_first_[a]; i < response_end_[a]; ++i) {
        right_[i] += response[i] * load_[a];
        terms_[i] += std::abs(response[i] * load_[a]);
      }
    }
    bool finite = true;
    for (int i = 0; i < n_; ++i) {
      rounding_[k * (n_ + m_) + i] = std::isfinite(terms_[i]) ? kRounding * terms_[i] : 0;
      acceleration_[i].c[k] = right_[i];
      // Forces that balance on more rows than hold the body leave rounding; let in, it would turn the rows, and part them in a later order.
      if (redundant() && std::abs(right_[i]) <= kRounding * terms_[i]) acceleration_[i].c[k] = 0;
      finite = finite && std::isfinite(right_[i]);
    }
    // What a row determines alone goes exactly as that row does, as in a step: rounding of the forces that balance on it would move what hangs on it, in a later order.
    for (int a = 0; a < count && !redundant(); ++a) {
      const model::Relation& relation = system_.relations()[active_[a].relation];
      if (!relation.rows_constant) continue;
      const Series* g = row(active_[a]);
      int only = -1;
      int entries = 0;
      for (std::size_t e = 0; e < relation.touches.size(); ++e) {
        if (g[e].c[0] == 0) continue;
        only = static_cast<int>(e);
        ++entries;
      }
      if (entries != 1 || system_.massless()[relation.touches[only]]) continue;
      acceleration_[relation.touches[only]].c[k] = 0 - zeta(active_[a]).c[k] / g[only].c[0];
    }
    if (k == 0) add_rounding_of_forces();
    for (int a = 0; a < count; ++a) lambda_[a].c[k] = load_[a];
    if (parted_ < 0 && redundant() && finite && rows_part(k)) parted_ = k;
    for (int i = 0; i < n_; ++i) {
      if (!follows_ || !system_.massless()[i]) in_[layout.v() + i].c[k + 1] = acceleration_[i].c[k] / (k + 1);
      in_[layout.q() + i].c[k + 1] = in_[layout.v() + i].c[k] / (k + 1);
    }
    for (int i = 0; i < m_; ++i) {
      in_[layout.z() + i].c[k + 1] = motion_[n_ + i].c[k] / (k + 1);
      finite = finite && std::isfinite(motion_[n_ + i].c[k]);
    }
    reached = k + 1;
    return finite;
  };
  sliding_.clear();
  for (int j = 0; j < layout.switches; ++j) {
    if (mode.slides(j)) sliding_.push_back(j);
  }
  for (int k = 0; k < order; ++k) {
    if (patience_ != nullptr) patience_->look();
    const bool advanced = advance(k);
    if (!advanced || (k > 0 && !sliding_.empty() && !hold_surfaces(k, advance))) {
      order_ = k == 0 ? 0 : advanced ? k : reached;  // what is infinite has a sign all the same
      find_time_scale(k, size);
      return false;
    }
  }
  order_ = order;
  if (follows_) {
    if (!follow_massless(order)) return false;
    // What is undamped has its velocity from the next order.
    if (order == expr::kTaylorOrder && !balance_.velocity.empty()) --order_;
  }
  evaluate_rows(order);
  for (int a = 0; a < count; ++a) {
    const model::Relation& relation = system_.relations()[active_[a].relation];
    (active_[a].tangent < 0 ? normal_[active_[a].relation]
                            : tangent_[relation.first_tangent + active_[a].tangent]) = lambda_[a];
  }
  for (const int r : touched_) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = mode.tangent[relation.first_tangent + j];
      if (status == TangentStatus::stick && massless_[r] != 0)
        tangent_[relation.first_tangent + j] = in_[layout.tangent() + relation.first_tangent + j];
      if (status == TangentStatus::stick || status == TangentStatus::free) continue;
      const Series mu = slip_coefficient(r, j);
      const Series force = product_series(mu, limit(r), order);
      const double sign = status == TangentStatus::smooth ? -1.0 : -static_cast<double>(direction(status));
      for (int k = 0; k <= order; ++k) tangent_[relation.first_tangent + j].c[k] = sign * force.c[k];
    }
  }

  find_time_scale(order, size);
  return true;
}

// The time in which the highest coefficients of the accelerations become as large as the lowest, or as large as what is known of them. Coordinates are
// compared by m a², as they have different units; states, which have no inertia, count where no coordinate tells, and laws where nothing else does. Loads that balance leave
// rounding, and its size tells nothing about time.
void MotionSeries::find_time_scale(int order, double size) {
  const auto rounding = [&](int k, int i) { return rounding_[k * (n_ + m_) + i]; };
  time_scale_ = 0;
  const auto compare = [&](double known, double power, const auto& size_of) {
    double reference = known;
    int lowest = known > 0 ? 0 : -1;
    for (int k = 0; k < order; ++k) {
      const double norm = size_of(k);
      if (!(norm > 0)) continue;
      if (lowest < 0 || k == 0) {
        lowest = k;
        reference = std::max(reference, norm);
      } else {
        const double time = elementary::rough_pow(reference / norm, power / (k - lowest));
        time_scale_ = time_scale_ == 0 ? time : std::min(time_scale_, time);
      }
    }
  };
  compare(size, 0.5, [&](int k) {
    double norm = 0;
    for (int i = 0; i < n_; ++i) {
      const double a = acceleration_[i].c[k];
      if (std::abs(a) > rounding(k, i)) norm = std::max(norm, a * work_.inertia[i] * a);
    }
    return norm;
  });
  if (time_scale_ == 0) {
    compare(0, 1, [&](int k) {
      double norm = 0;
      for (int i = 0; i < m_; ++i) {
        const double rate = std::abs(in_[system_.layout().z() + i].c[k + 1]);
        if (rate > rounding(k, n_ + i)) norm = std::max(norm, rate);
      }
      // Massless coordinates that follow their balance have no inertia either.
      for (int i = 0; i < n_ && follows_; ++i) {
        const double rate = std::abs((k + 1) * in_[system_.layout().v() + i].c[k + 1]);
        if (system_.massless()[i] && rate > rounding(k, i)) norm = std::max(norm, rate);
      }
      return norm;
    });
  }
  // A motion of constant accelerations has no time of its own. The reactions that keep them constant have one,
  if (time_scale_ == 0 && order_ > 0) {
    compare(size, 0.5, [&](int k) {
      double noise = 0;
      for (int i = 0; i < n_; ++i)
        noise = std::max(noise, rounding(k, i) * work_.inertia[i] * rounding(k, i));
      double norm = 0;
      for (std::size_t a = 0; a < active_.size(); ++a) {
        const std::vector<int>& touches = system_.relations()[active_[a].relation].touches;
        const Series* g = row(active_[a]);
        double weight = 0;
        for (std::size_t e = 0; e < touches.size(); ++e)
          weight += std::abs(g[e].c[0] * response_[a * n_ + touches[e]]);
        norm = std::max(norm, lambda_[a].c[k] * weight * lambda_[a].c[k]);
      }
      return norm > noise ? norm : 0;
    });
  }
  // and so have the laws that it passes through: the terms of a coefficient, or that it becomes one.
  if (time_scale_ == 0) {
    for (const int r : touched_) {
      for (int j = 0; j < system_.relations()[r].tangents && !laws_[r].empty(); ++j) {
        const Series mu = slip_coefficient(r, j);
        compare(0, 1, [&](int k) { return std::abs(mu.c[k]); });
        for (int k = 1; k < order && time_scale_ == 0; ++k) {
          if (mu.c[k] != 0) time_scale_ = elementary::rough_pow(std::abs(mu.c[k]), -1.0 / k);
        }
      }
    }
  }
  if (time_scale_ == 0 || !std::isfinite(time_scale_)) time_scale_ = 1;
}

void MotionSeries::state(double later, double* y) const {
  for (int i = 0; i < system_.layout().integrated(); ++i) {
    double sum = in_[1 + i].c[order_];
    for (int k = order_ - 1; k >= 0; --k) sum = sum * later + in_[1 + i].c[k];
    y[i] = sum;
  }
}

Series MotionSeries::gap(int relation) {
  system_.relations()[relation].gap.evaluate_series(in_.data(), scratch_.data(), registers_.data(), order_);
  return scratch_[0];
}

Series MotionSeries::gap_rate(int relation) {
  system_.relations()[relation].gap.evaluate_series(in_.data(), scratch_.data(), registers_.data(), order_);
  return scratch_[1];
}

Series MotionSeries::limit(int relation) const {
  const model::Relation& r = system_.relations()[relation];
  Series out = laws_[relation][0];
  for (std::size_t f = 0; f < r.feeds.size(); ++f) {
    const int fed = r.feeds[f];
    const Series part = product_series(laws_[relation][1 + f], normal_[fed], order_);
    const double sign = mode_.pressed[fed] < 0 ? -1 : 1;
    for (int k = 0; k <= order_; ++k) out.c[k] += sign * part.c[k];
  }
  return out;
}

Series MotionSeries::cone(int relation, int tangent, int side) const {
  const model::Relation& r = system_.relations()[relation];
  const Series& mu = laws_[relation][1 + r.feeds.size() + 2 * tangent + 1];
  Series out = product_series(mu, limit(relation), order_);
  const Series& force = tangent_[r.first_tangent + tangent];
  for (int k = 0; k <= order_; ++k) out.c[k] -= side * force.c[k];
  return out;
}

Series MotionSeries::condition(std::span<const ReactionConditions::Part> parts) const {
  Series out;
  for (const ReactionConditions::Part& part : parts) {
    if (part.tangent < 0) {
      for (int k = 0; k <= order_; ++k) out.c[k] += part.weight * (part.side * normal_[part.relation].c[k]);
      continue;
    }
    const Series law = cone(part.relation, part.tangent, part.side);
    for (int k = 0; k <= order_; ++k) out.c[k] += part.weight * law.c[k];
  }
  return out;
}

bool MotionSeries::list_conditions(std::span<const std::uint8_t> chosen, ReactionConditions& out) {
  out.clear();
  // The weights must be those of the whole series. Masses have no part in them where each reaction pushes along its own row.
  const auto fixed = [this](const Series& s) {
    return std::all_of(s.c + 1, s.c + order_, [](double c) { return c == 0; });
  };
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const Series* g = row(active_[a]);
    const std::vector<int>& touches = system_.relations()[active_[a].relation].touches;
    std::size_t e = 0;
    for (int i = 0; i < n_; ++i) {
      const Series& c = columns_[a * n_ + i];
      const bool listed = e < touches.size() && touches[e] == i;
      const double entry = listed ? g[e].c[0] : 0;
      if (listed && !fixed(g[e++])) return false;
      if (!fixed(c) || (!system_.mass_constant() && c.c[0] != entry)) return false;
    }
    const auto feeds = static_cast<int>(system_.relations()[active_[a].relation].feeds.size());
    if (active_[a].tangent < 0 || feeds == 0) continue;
    const std::vector<Series>& law = laws_[active_[a].relation];
    if (!std::all_of(law.begin() + 1, law.begin() + 1 + feeds, fixed) ||
        !fixed(law[1 + feeds + 2 * active_[a].tangent + 1]))
      return false;
  }
  const int count = static_cast<int>(active_.size());
  const int free = count - solver_.rank();
  ways_.resize(static_cast<std::size_t>(free) * count);
  for (int w = 0; w < free; ++w) solver_.null_vector(w, ways_.data() + w * count);
  return out.list(system_, work_, mode_, active_, ways_, chosen);
}

Series MotionSeries::slip(int relation, int tangent) {
  if (slips_known_[relation] == 0) {
    system_.relations()[relation].rows.evaluate_series(in_.data(), rows_[relation].data(), registers_.data(),
                                                       order_);
    slips_known_[relation] = 1;
  }
  return rows_[relation][system_.relations()[relation].row_begin(tangent)];
}

Series MotionSeries::surface(int k) {
  system_.switches()[k].value.evaluate_series(in_.data(), scratch_.data(), registers_.data(), order_);
  return scratch_[0];
}

}  // namespace judder::engines
