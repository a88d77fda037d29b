#include "analysis/rest_equations.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/rest_layout.hpp"

namespace judder::analysis {

using model::RelationKind;
using Row = std::vector<double>;
using Side = RestChoice::Side;

RestEquations::RestEquations(const model::System& system, const RestSearchOptions& options,
                             Patience& patience)
    : system_(system), layout_(system.layout()), work_(system), patience_(patience) {
  n_ = static_cast<std::size_t>(layout_.coordinates);
  m_ = static_cast<std::size_t>(layout_.states);
  work_.in[0] = options.at.value_or(system.start()[0]);
  for (std::size_t i = 0; i < n_ + m_; ++i) {
    const double start = work_.in[place(i)];
    start_.push_back(start);
    const double floor = i < n_ ? system.scale_floor()[i] : 0;
    const double size = std::max(std::abs(start), floor);
    scale_.push_back(size > 0 ? size : 1);
  }
  for (std::size_t i = 0; i < n_; ++i) work_.in[static_cast<std::size_t>(layout_.v()) + i] = 0;
  for (std::size_t k = 0; k < system.relations().size(); ++k)
    work_.in[static_cast<std::size_t>(layout_.closed()) + k] = 1;
  classify_switches();
  measure_forces();
}

std::size_t RestEquations::place(std::size_t i) const {
  return i < n_ ? static_cast<std::size_t>(layout_.q()) + i : static_cast<std::size_t>(layout_.z()) + i - n_;
}

void RestEquations::load(const Row& x) {
  for (std::size_t i = 0; i < n_ + m_; ++i) work_.in[place(i)] = x[i];
}

std::string RestEquations::unsuited() const {
  for (const model::Relation& relation : system_.relations()) {
    if (relation.has_normal && !relation.holonomic)
      return relation.place + " is a constraint of velocities; the search takes those of positions";
  }
  return {};
}

double RestEquations::surface(std::size_t k) {
  double s = 0;
  system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
  return s;
}

void RestEquations::classify_switches() {
  kind_.assign(system_.switches().size(), Switch::fixed);
  std::mt19937_64 random(7);
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || (!info.in_motion && !info.in_relations)) continue;
    Row parts(static_cast<std::size_t>(info.surface.outputs()));
    bool moves = false, zero = true;
    for (int probe = 0; probe < 5; ++probe) {
      Row x = start_;
      for (std::size_t i = 0; i < x.size() && probe > 0; ++i)
        x[i] += scale_[i] * (static_cast<double>(random() >> 11U) * 0x1p-52 - 1);
      load(x);
      info.surface.evaluate(work_.in.data(), parts.data(), work_.registers.data());
      for (std::size_t i = 0; i < n_; ++i) moves = moves || parts[2 + i] != 0;
      for (std::size_t i = 0; i < m_; ++i) moves = moves || parts[2 + 2 * n_ + i] != 0;
      zero = zero && parts[0] == 0;
    }
    if (moves)
      kind_[k] = Switch::moves;
    else if (zero && info.two_sided())
      kind_[k] = Switch::idle;
  }
}

void RestEquations::measure_forces() {
  std::mt19937_64 random(11);
  Row sizes;
  choice_.side.assign(kind_.size(), Side::by_value);
  for (int probe = 0; probe < 9; ++probe) {
    Row x = start_;
    for (std::size_t i = 0; i < x.size() && probe > 0; ++i)
      x[i] += scale_[i] * (static_cast<double>(random() >> 11U) * 0x1p-52 - 1);
    load(x);
    set_sides(0);
    if (!system_.motion(work_)) continue;
    double most = 0;
    for (const double each : work_.force) most = std::max(most, std::abs(each));
    for (const double each : work_.rate) most = std::max(most, std::abs(each));
    if (std::isfinite(most)) sizes.push_back(most);
  }
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty() && sizes.back() > 0)
    force_ = sizes[sizes.size() / 2] > 0 ? sizes[sizes.size() / 2] : sizes.back();
}

/// Sides of switches; those with a weight stand on the corner's side.
void RestEquations::set_sides(unsigned corner) {
  system_.sides_by_value(work_.in, work_);
  unsigned bit = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    double& side = work_.in[static_cast<std::size_t>(layout_.side()) + k];
    switch (choice_.side[k]) {
      case Side::below:
        side = 0;
        break;
      case Side::above:
        side = 1;
        break;
      case Side::on:
        side = corner >> bit & 1U ? 1 : 0;
        ++bit;
        break;
      case Side::by_value:
        break;
    }
  }
}

bool RestEquations::active(std::size_t k) const {
  const model::Relation& relation = system_.relations()[k];
  return relation.kind != RelationKind::contact || !relation.has_normal || choice_.closed[k] != 0;
}

bool RestEquations::rubs(std::size_t k) {
  const model::Relation& relation = system_.relations()[k];
  if (relation.tangents == 0 || relation.smooth_friction || !active(k)) return false;
  load(start_);
  set_sides(0);
  return system_.rows(work_, static_cast<int>(k)).tangent[0].drive == 0;
}

void RestEquations::choose(const RestChoice& choice) {
  choice_ = choice;
  for (std::vector<std::size_t>* each : {&normal_, &slid_, &stuck_, &idle_}) each->clear();
  weights_ = 0;
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    work_.in[static_cast<std::size_t>(layout_.closed()) + k] = active(k) ? 1 : 0;
    if (system_.relations()[k].has_normal && active(k)) normal_.push_back(k);
    if (choice.stuck[k] != 0 && active(k)) stuck_.push_back(k);
  }
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (choice.side[k] != Side::on) continue;
    slid_.push_back(k);
    if (kind_[k] != Switch::idle)
      ++weights_;
    else if (choice.share_free[k] != 0)
      idle_.push_back(k);
  }
  equations_ = n_ + m_ + normal_.size() + weights_;
  scale_of_.assign(scale_.begin(), scale_.end());
  scale_of_.resize(first_weight(), force_);
  scale_of_.resize(first_tangent(), 1);
  scale_of_.resize(first_share(), force_);
  scale_of_.resize(first_share() + idle_.size(), 1);
}

std::string RestEquations::unknown_name(std::size_t i) const {
  if (i < n_) return system_.coordinate_names()[i];
  if (i < n_ + m_) return system_.state_names()[i - n_];
  if (i < first_weight()) return "normal(" + system_.relations()[normal_[i - n_ - m_]].name + ")";
  if (i < first_tangent()) return "share";
  if (i < first_share()) return "tangent(" + system_.relations()[stuck_[i - first_tangent()]].name + ")";
  return "share of " + system_.switches()[idle_[i - first_share()]].place;
}

Row RestEquations::at(const Row& x) const {
  Row u = x;
  u.resize(first_weight(), force_);
  u.resize(first_tangent(), 0.5);
  u.resize(first_share(), 0);
  u.resize(unknowns(), 0.5);
  return u;
}

void RestEquations::mixed_shares(const Row& u, Row& share) const {
  share.clear();
  std::size_t weight = first_weight(), idle = first_share();
  for (const std::size_t k : slid_) {
    if (kind_[k] != Switch::idle)
      share.push_back(u[weight++]);
    else
      share.push_back(choice_.share_free[k] != 0 ? u[idle++] : choice_.share[k]);
  }
}

double RestEquations::load_of(std::size_t k, const model::RelationRows& rows, const Row& u) const {
  double load = rows.base;
  const model::Relation& relation = system_.relations()[k];
  for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
    const auto fed = static_cast<std::size_t>(relation.feeds[f]);
    const auto where =
        static_cast<std::size_t>(std::find(normal_.begin(), normal_.end(), fed) - normal_.begin());
    if (where < normal_.size()) load += rows.factors[f] * std::abs(u[n_ + m_ + where]);
  }
  return load;
}

void RestEquations::add_reactions(const Row& u, Row& r, Row& terms) {
  std::size_t normal = n_ + m_, tangent = first_tangent();
  const auto act = [&](const model::Row& column, double force) {
    for (std::size_t entry = 0; entry < column.values().size(); ++entry) {
      const auto i = static_cast<std::size_t>(column.places()[entry]);
      r[i] += column.values()[entry] * force;
      terms[i] += std::abs(column.values()[entry] * force);
    }
  };
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    if (!active(k)) continue;
    const model::Relation& relation = system_.relations()[k];
    const model::RelationRows* rows = &system_.rows(work_, static_cast<int>(k));
    if (relation.has_normal) act(rows->push, u[normal++]);
    if (relation.tangents == 0 || relation.smooth_friction) continue;
    const double drive = rows->tangent[0].drive;
    if (drive != 0) {
      work_.in[static_cast<std::size_t>(layout_.direction() + relation.first_tangent)] = drive > 0 ? 1 : -1;
      rows = &system_.rows(work_, static_cast<int>(k));
      act(rows->tangent[0].drag, (drive > 0 ? -1 : 1) * rows->tangent[0].mu * load_of(k, *rows, u));
    } else if (choice_.stuck[k] != 0) {
      act(rows->tangent[0].drag, u[tangent++]);
    } else if (choice_.theta[k] != 0) {
      act(rows->tangent[0].drag, choice_.theta[k] * rows->tangent[0].mu_static * load_of(k, *rows, u));
    }
  }
}

bool RestEquations::residual(const Row& u, Row& r, Row& terms) {
  patience_.look();
  const std::size_t width = n_ + m_;
  load(u);
  r.assign(equations_, 0);
  terms.assign(equations_, 0);
  Row share;
  mixed_shares(u, share);
  for (unsigned corner = 0; corner < 1U << slid_.size(); ++corner) {
    double weight = 1;
    for (std::size_t s = 0; s < slid_.size(); ++s) weight *= corner >> s & 1U ? share[s] : 1 - share[s];
    if (weight == 0 && corner > 0) continue;
    set_sides(corner);
    if (!system_.motion(work_)) return false;
    for (std::size_t i = 0; i < width; ++i) {
      const double part = weight * (i < n_ ? work_.force[i] : work_.rate[i - n_]);
      r[i] += part;
      terms[i] += std::abs(part);
    }
  }
  add_reactions(u, r, terms);
  std::size_t row = width;
  for (const std::size_t k : normal_) {
    r[row] = system_.rows(work_, static_cast<int>(k)).gap;
    ++row;
  }
  for (const std::size_t k : slid_) {
    if (kind_[k] == Switch::idle) continue;
    r[row] = surface(k);
    ++row;
  }
  return std::all_of(r.begin(), r.end(), [](double each) { return std::isfinite(each); });
}

bool RestEquations::jacobian(const Row& u, Row& a) {
  const std::size_t width = n_ + m_, size = unknowns();
  a.assign(equations_ * size, 0);
  const auto entry = [&](std::size_t i, std::size_t j) -> double& { return a[i * size + j]; };
  load(u);
  // Forces, exactly; corners of switches that are slid on are mixed, and their weights are multilinear.
  Row share;
  mixed_shares(u, share);
  const std::size_t columns = 2 * n_ + m_ + static_cast<std::size_t>(layout_.free_parameters);
  slope_.resize(width * columns);
  for (unsigned corner = 0; corner < 1U << slid_.size(); ++corner) {
    double weight = 1;
    for (std::size_t s = 0; s < slid_.size(); ++s) weight *= corner >> s & 1U ? share[s] : 1 - share[s];
    set_sides(corner);
    if (!system_.motion(work_)) return false;
    if (weight != 0) {
      system_.jacobian(work_, slope_.data());
      for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j < width; ++j)
          entry(i, j) += weight * slope_[i * columns + (j < n_ ? j : n_ + j)];
      }
    }
    std::size_t moving = first_weight(), idle = first_share();
    for (std::size_t s = 0; s < slid_.size(); ++s) {
      const std::size_t k = slid_[s];
      const bool free = kind_[k] != Switch::idle || choice_.share_free[k] != 0;
      const std::size_t j = kind_[k] != Switch::idle ? moving++ : free ? idle++ : 0;
      if (!free) continue;
      double slope = corner >> s & 1U ? 1 : -1;
      for (std::size_t o = 0; o < slid_.size(); ++o)
        slope *= o == s ? 1 : corner >> o & 1U ? share[o] : 1 - share[o];
      for (std::size_t i = 0; i < width; ++i)
        entry(i, j) += slope * (i < n_ ? work_.force[i] : work_.rate[i - n_]);
    }
  }
  // Reactions: linear in themselves but for |λ_N|; what of them varies with the position by differences.
  part_.resize(width);
  ones_.resize(width);
  const auto reactions = [&](const Row& at, Row& out) {
    out.assign(width, 0);
    ones_.assign(width, 0);
    add_reactions(at, out, ones_);
  };
  Row plus, minus, moved = u;
  bool turns = false;
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const model::Relation& relation = system_.relations()[k];
    turns = turns ||
            (active(k) && !(relation.rows_constant && (relation.tangents == 0 || relation.law_constant)));
  }
  const auto difference = [&](std::size_t j, double h) {
    moved[j] = u[j] + h;
    load(moved);
    reactions(moved, plus);
    moved[j] = u[j] - h;
    load(moved);
    reactions(moved, minus);
    moved[j] = u[j];
    for (std::size_t i = 0; i < n_; ++i) entry(i, j) += (plus[i] - minus[i]) / (2 * h);
  };
  for (std::size_t j = 0; j < width && turns; ++j) difference(j, 1e-6 * std::max(scale_[j], std::abs(u[j])));
  for (std::size_t j = width; j < first_weight(); ++j)
    difference(j, 1e-6 * std::max(std::abs(u[j]), 1e-3 * force_));
  for (std::size_t j = first_tangent(); j < first_share(); ++j) difference(j, force_);
  load(u);
  std::size_t row = width;
  for (const std::size_t k : normal_) {
    const model::Row& w = system_.rows(work_, static_cast<int>(k)).w;
    for (std::size_t e = 0; e < w.values().size(); ++e)
      entry(row, static_cast<std::size_t>(w.places()[e])) = w.values()[e];
    ++row;
  }
  for (const std::size_t k : slid_) {
    if (kind_[k] == Switch::idle) continue;
    const model::SwitchInfo& info = system_.switches()[k];
    part_.resize(static_cast<std::size_t>(info.surface.outputs()));
    info.surface.evaluate(work_.in.data(), part_.data(), work_.registers.data());
    for (std::size_t i = 0; i < n_; ++i) entry(row, i) = part_[2 + i];
    for (std::size_t i = 0; i < m_; ++i) entry(row, n_ + i) = part_[2 + 2 * n_ + i];
    ++row;
  }
  for (std::size_t i = 0; i < equations_; ++i) {
    for (std::size_t j = 0; j < size; ++j) entry(i, j) *= scale_of_[j];
  }
  return std::all_of(a.begin(), a.end(), [](double each) { return std::isfinite(each); });
}

void RestEquations::conditions(const Row& u, std::vector<RestCondition>& out) {
  using Meaning = RestCondition::Meaning;
  out.clear();
  load(u);
  set_sides(0);
  const auto add = [&](Meaning meaning, std::size_t place, double value, double size) {
    out.push_back({meaning, place, value, size > 0 ? size : 1});
  };
  std::size_t normal = n_ + m_, tangent = first_tangent();
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const model::Relation& relation = system_.relations()[k];
    const bool unilateral = relation.kind == RelationKind::contact && relation.has_normal;
    const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    if (!active(k)) {
      double size = 0;
      for (std::size_t e = 0; e < rows.w.values().size(); ++e)
        size += std::abs(rows.w.values()[e]) * scale_[static_cast<std::size_t>(rows.w.places()[e])];
      add(Meaning::apart, k, rows.gap, size);
      continue;
    }
    if (relation.has_normal) {
      if (unilateral) add(Meaning::presses, k, u[normal], force_);
      ++normal;
    }
    if (relation.tangents == 0 || relation.smooth_friction) continue;
    const double load = load_of(k, rows, u);
    if (!relation.has_normal || relation.feeds.empty() || !unilateral) add(Meaning::load, k, load, force_);
    if (choice_.stuck[k] == 0) continue;
    const double limit = rows.tangent[0].mu_static * load;
    add(Meaning::slip_plus, k, limit + u[tangent], force_);
    add(Meaning::slip_minus, k, limit - u[tangent], force_);
    ++tangent;
  }
  std::size_t weight = first_weight(), idle = first_share();
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (choice_.side[k] == Side::on) {
      const bool free = kind_[k] != Switch::idle || choice_.share_free[k] != 0;
      if (!free) continue;
      const double share = kind_[k] != Switch::idle ? u[weight++] : u[idle++];
      add(Meaning::weight, k, share, 1);
      add(Meaning::weight, k, 1 - share, 1);
      continue;
    }
    if (kind_[k] != Switch::moves || !system_.switches()[k].two_sided()) continue;
    const model::SwitchInfo& info = system_.switches()[k];
    part_.resize(static_cast<std::size_t>(info.surface.outputs()));
    info.surface.evaluate(work_.in.data(), part_.data(), work_.registers.data());
    double size = 0;
    for (std::size_t i = 0; i < n_; ++i) size += std::abs(part_[2 + i]) * scale_[i];
    for (std::size_t i = 0; i < m_; ++i) size += std::abs(part_[2 + 2 * n_ + i]) * scale_[n_ + i];
    add(Meaning::side, k, choice_.side[k] == Side::above ? part_[0] : -part_[0], size);
  }
}

double RestEquations::worst(const Row& u, RestCondition* which) {
  std::vector<RestCondition> all;
  conditions(u, all);
  double out = 1;
  for (const RestCondition& each : all) {
    if (!(each.relative() < out)) {
      if (!std::isnan(each.relative())) continue;
      return -1;
    }
    out = each.relative();
    if (which != nullptr) *which = each;
  }
  return out;
}

RestProblem RestEquations::linearised(const Row& u) {
  RestProblem out;
  const std::size_t width = n_ + m_;
  const std::size_t columns = 2 * n_ + m_ + static_cast<std::size_t>(layout_.free_parameters);
  out.n = n_;
  out.m = m_;
  out.time = work_.in[0];
  out.coordinates = system_.coordinate_names();
  out.states = system_.state_names();
  load(u);
  set_sides(0);
  if (!system_.motion(work_)) return out;
  out.load = work_.force;
  out.rate = work_.rate;
  out.mass = system_.full_mass(work_);
  slope_.resize(width * columns);
  system_.jacobian(work_, slope_.data());
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      const double slope = slope_[i * columns + (j < n_ ? j : n_ + j)];
      (i < n_ ? out.stiffness : out.rate_slope).push_back(i < n_ ? -slope : slope);
      (i < n_ ? out.load[i] : out.rate[i - n_]) -= slope * u[j];
    }
    for (std::size_t j = 0; j < n_ && i < n_; ++j) out.damping.push_back(-slope_[i * columns + n_ + j]);
  }
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const model::Relation& relation = system_.relations()[k];
    const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    RestProblem::Relation made;
    made.name = relation.name;
    made.kind = relation.kind;
    made.has_normal = relation.has_normal;
    made.unilateral = relation.kind == RelationKind::contact && relation.has_normal;
    if (relation.has_normal) {
      made.w = rows.w.dense(n_);
      made.push = rows.push.dense(n_);
      made.gap = rows.gap;
      for (std::size_t j = 0; j < n_; ++j) made.gap -= made.w[j] * u[j];
    }
    if (relation.tangents > 0) {
      RestProblem::Tangent tangent;
      tangent.number = relation.first_tangent;
      made.tangents.push_back(std::move(tangent));
    }
    out.relations.push_back(std::move(made));
  }
  return out;
}

bool RestEquations::only_shares(const Row& low, const Row& high) const {
  if (weights_ == 0) return false;
  for (std::size_t j = 0; j < low.size(); ++j) {
    if (j >= first_weight() && j < first_tangent()) continue;
    if (!(std::abs(high[j] - low[j]) <= 1e-8 * scale_of_[j])) return false;
  }
  return true;
}

Row RestEquations::with_friction(const Row& u, const RestChoice& other) {
  Row out(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(first_tangent()));
  load(u);
  set_sides(0);
  std::size_t tangent = first_tangent();
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    if (!active(k)) continue;
    const bool known = choice_.stuck[k] != 0;
    if (other.stuck[k] != 0) {
      const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
      out.push_back(known ? u[tangent] : choice_.theta[k] * rows.tangent[0].mu_static * load_of(k, rows, u));
    }
    tangent += known ? 1 : 0;
  }
  std::size_t idle = first_share();
  for (const std::size_t k : slid_) {
    if (kind_[k] != Switch::idle) continue;
    const bool known = choice_.share_free[k] != 0;
    if (other.share_free[k] != 0) out.push_back(known ? u[idle] : choice_.share[k]);
    idle += known ? 1 : 0;
  }
  return out;
}

void RestEquations::describe(const Row& u, FoundRest& out) {
  const std::size_t width = n_ + m_, relations = system_.relations().size();
  load(u);
  set_sides(0);
  RestState& state = out.state;
  state.x.assign(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(width));
  for (double& each : state.x) each = each == 0 ? 0 : each;  // no minus zero
  state.normal.assign(relations, 0);
  state.tangent.assign(relations, 0);
  state.gap.assign(relations, 0);
  state.reserve.assign(relations, 0);
  state.status.assign(relations, RestStatus::held);
  out.words.clear();
  out.share.clear();
  for (std::size_t i = 0; i < normal_.size(); ++i) state.normal[normal_[i]] = u[width + i];
  std::size_t tangent = first_tangent();
  for (std::size_t k = 0; k < relations; ++k) {
    const model::Relation& relation = system_.relations()[k];
    const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    const bool unilateral = relation.kind == RelationKind::contact && relation.has_normal;
    if (!active(k)) {
      state.gap[k] = rows.gap;
      state.status[k] = RestStatus::detached;
      out.words.emplace_back(relation.name, name(state.status[k]));
      continue;
    }
    if (unilateral) state.status[k] = RestStatus::pressed;
    if (relation.tangents == 0 || relation.smooth_friction) {
      if (unilateral) out.words.emplace_back(relation.name, name(state.status[k]));
      continue;
    }
    const double load_now = load_of(k, rows, u), drive = rows.tangent[0].drive;
    if (drive != 0) {
      state.tangent[k] = (drive > 0 ? -1 : 1) * rows.tangent[0].mu * load_now -
                         viscous_friction(system_, work_, k, std::abs(drive)).first * drive;
      state.status[k] = drive > 0 ? RestStatus::sliding_plus : RestStatus::sliding_minus;
    } else {
      const double limit = rows.tangent[0].mu_static * load_now;
      const bool sticks = choice_.stuck[k] != 0;
      state.tangent[k] = sticks ? u[tangent++] : choice_.theta[k] * limit;
      state.reserve[k] = limit - std::abs(state.tangent[k]);
      state.status[k] = sticks || std::abs(choice_.theta[k]) < 1 ? RestStatus::stuck
                        : choice_.theta[k] < 0                   ? RestStatus::slip_plus
                                                                 : RestStatus::slip_minus;
    }
    out.words.emplace_back(relation.name, name(state.status[k]));
  }
  std::size_t weight = first_weight();
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (kind_[k] != Switch::moves || !system_.switches()[k].two_sided()) continue;
    const model::SwitchInfo& info = system_.switches()[k];
    if (choice_.side[k] == Side::on) {
      const double share = u[weight++];
      out.share.push_back(share);
      if (share > 1e-9 && share < 1 - 1e-9) out.pseudo = true;
      out.words.emplace_back(info.place, "slides on its surface");
      continue;
    }
    out.words.emplace_back(info.place, choice_.side[k] == Side::above ? info.above : info.below);
  }
}

}  // namespace judder::analysis
