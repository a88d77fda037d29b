#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/rest_finder.hpp"
#include "analysis/rest_layout.hpp"

namespace judder::analysis {

using model::RelationKind;
using model::System;
using Row = std::vector<double>;
using Choice = RestChoice;
using Finder = RestFinder;

bool Finder::suits(EquilibriaProblem& problem) const {
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const model::Relation& relation = system_.relations()[k];
    if (relation.has_normal && !relation.holonomic) {
      problem = {
          relation.place + " is a constraint of velocities; the search takes those of positions", {}, false};
      return false;
    }
  }
  return true;
}

double Finder::surface(std::size_t k) {
  double s = 0;
  system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
  return s;
}

void Finder::classify_switches() {
  kind_.assign(system_.switches().size(), Kind::fixed);
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
      kind_[k] = Kind::moves;
    else if (zero && info.two_sided())
      kind_[k] = Kind::idle;
  }
}

/// Sides of switches; those with a weight stand on the corner's side.
void Finder::set_sides(const Choice& choice, unsigned corner) {
  system_.sides_by_value(work_.in, work_);
  unsigned bit = 0;
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    double& side = work_.in[static_cast<std::size_t>(layout_.side()) + k];
    switch (choice.side[k]) {
      case Choice::Side::below:
        side = 0;
        break;
      case Choice::Side::above:
        side = 1;
        break;
      case Choice::Side::on:
        side = corner >> bit & 1U ? 1 : 0;
        ++bit;
        break;
      case Choice::Side::by_value:
        break;
    }
  }
}

void Finder::all_choices(std::vector<Choice>& out) {
  Choice base;
  const std::size_t relations = system_.relations().size();
  base.closed.assign(relations, 1);
  base.theta.assign(relations, 0);
  base.side.assign(kind_.size(), Choice::Side::by_value);
  base.free_share.assign(kind_.size(), 0.5);
  out = {base};
  const auto multiply = [&](const auto& change, int options) {
    const std::size_t before = out.size();
    if (before * static_cast<std::size_t>(options) > options_.most_choices) {
      ++out_.left_out;
      return;
    }
    std::vector<Choice> all;
    for (const Choice& each : out) {
      for (int i = 0; i < options; ++i) {
        Choice made = each;
        if (change(made, i)) all.push_back(std::move(made));
      }
    }
    out = std::move(all);
  };
  for (std::size_t k = 0; k < relations; ++k) {
    const model::Relation& relation = system_.relations()[k];
    if (relation.kind == RelationKind::contact && relation.has_normal)
      multiply(
          [k](Choice& c, int i) {
            c.closed[k] = static_cast<std::uint8_t>(i);
            return true;
          },
          2);
  }
  for (std::size_t k = 0; k < relations; ++k) {
    if (system_.relations()[k].tangents == 0) continue;
    load(start_);
    set_sides(base, 0);
    if (system_.rows(work_, static_cast<int>(k)).tangent[0].drive != 0) continue;
    multiply(
        [&, k](Choice& c, int i) {
          c.theta[k] = i - 1;
          return active(c, k) || i == 1;
        },
        3);
  }
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!info.two_sided()) continue;
    if (kind_[k] == Kind::moves)
      multiply(
          [k](Choice& c, int i) {
            c.side[k] = i == 0 ? Choice::Side::below : i == 1 ? Choice::Side::above : Choice::Side::on;
            return true;
          },
          info.kind == expr::SwitchKind::jump ? 3 : 2);
    if (kind_[k] == Kind::idle)
      multiply(
          [k](Choice& c, int i) {
            c.side[k] = Choice::Side::on;
            c.free_share[k] = i / 2.0;
            return true;
          },
          3);
  }
}

void Finder::layout_of(const Choice& choice) {
  normal_.clear();
  slid_.clear();
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    if (system_.relations()[k].has_normal && active(choice, k)) normal_.push_back(k);
    work_.in[static_cast<std::size_t>(layout_.closed()) + k] = active(choice, k) ? 1 : 0;
  }
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (choice.side[k] == Choice::Side::on) slid_.push_back(k);
  }
}

/// u = (q, z, λ_N, weights). Rows: balance, rates, gaps, surfaces.
bool Finder::residual(const Choice& choice, const Row& u, Row& r, Row& terms) {
  patience_.look();
  const std::size_t width = n_ + m_, first_share = width + normal_.size();
  load(u);
  r.assign(u.size(), 0);
  terms.assign(u.size(), 0);
  Row share(slid_.size());
  std::size_t unknown = first_share;
  for (std::size_t s = 0; s < slid_.size(); ++s)
    share[s] = kind_[slid_[s]] == Kind::idle ? choice.free_share[slid_[s]] : u[unknown++];
  for (unsigned corner = 0; corner < 1U << slid_.size(); ++corner) {
    double weight = 1;
    for (std::size_t s = 0; s < slid_.size(); ++s) weight *= corner >> s & 1U ? share[s] : 1 - share[s];
    if (weight == 0 && corner > 0) continue;
    set_sides(choice, corner);
    if (!system_.motion(work_)) return false;
    for (std::size_t i = 0; i < width; ++i) {
      const double part = weight * (i < n_ ? work_.force[i] : work_.rate[i - n_]);
      r[i] += part;
      terms[i] += std::abs(part);
    }
  }
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    if (!active(choice, k)) continue;
    const model::Relation& relation = system_.relations()[k];
    const auto at = static_cast<std::size_t>(std::find(normal_.begin(), normal_.end(), k) - normal_.begin());
    const model::RelationRows* rows = &system_.rows(work_, static_cast<int>(k));
    const auto act = [&](const model::Row& column, double force) {
      for (std::size_t entry = 0; entry < column.values().size(); ++entry) {
        const auto i = static_cast<std::size_t>(column.places()[entry]);
        r[i] += column.values()[entry] * force;
        terms[i] += std::abs(column.values()[entry] * force);
      }
    };
    if (relation.has_normal) {
      act(rows->push, u[width + at]);
      r[width + at] = rows->gap;
      terms[width + at] = 1;
    }
    if (relation.tangents == 0 || relation.smooth_friction) continue;
    double load = rows->base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const auto fed = static_cast<std::size_t>(relation.feeds[f]);
      const auto where =
          static_cast<std::size_t>(std::find(normal_.begin(), normal_.end(), fed) - normal_.begin());
      if (where < normal_.size()) load += rows->factors[f] * std::abs(u[width + where]);
    }
    const double drive = rows->tangent[0].drive;
    if (drive != 0) {
      work_.in[static_cast<std::size_t>(layout_.direction() + relation.first_tangent)] = drive > 0 ? 1 : -1;
      rows = &system_.rows(work_, static_cast<int>(k));
      act(rows->tangent[0].drag, (drive > 0 ? -1 : 1) * rows->tangent[0].mu * load);
    } else {
      act(rows->tangent[0].drag, choice.theta[k] * rows->tangent[0].mu_static * load);
    }
  }
  std::size_t row = first_share;
  for (const std::size_t k : slid_) {
    if (kind_[k] == Kind::idle) continue;
    r[row] = surface(k);
    terms[row++] = 1;
  }
  return std::all_of(r.begin(), r.end(), [](double each) { return std::isfinite(each); });
}

bool Finder::newton(const Choice& choice, Row& u, double& error) {
  Row r, terms, plus, minus, unused;
  const std::size_t size = u.size();
  // A force that is one formula has no terms left where it is zero: what its unknowns can change in it is the measure.
  Row reach(size, 0);
  const auto size_of = [&](const Row& residual, const Row& relative) {
    double worst = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double measure = std::max(relative[i], reach[i]);
      if (residual[i] != 0) worst = std::max(worst, measure > 0 ? std::abs(residual[i]) / measure : INFINITY);
    }
    return worst;
  };
  for (int step = 0; step < 40; ++step) {
    if (!residual(choice, u, r, terms)) return false;
    error = size_of(r, terms);
    if (error <= options_.tolerance && step > 0) return true;
    RealMatrix a(size);
    for (std::size_t j = 0; j < size; ++j) {
      Row moved = u;
      const double h = 1e-6 * std::max(j < n_ + m_ ? scale_[j] : 0.0, std::max(std::abs(u[j]), 1e-3));
      moved[j] = u[j] + h;
      if (!residual(choice, moved, plus, unused)) return false;
      moved[j] = u[j] - h;
      if (!residual(choice, moved, minus, unused)) return false;
      for (std::size_t i = 0; i < size; ++i) a(i, j) = (plus[i] - minus[i]) / (2 * h);
    }
    for (std::size_t i = 0; i < size; ++i) {
      reach[i] = 0;
      for (std::size_t j = 0; j < size; ++j)
        reach[i] += std::abs(a(i, j)) * std::max(std::abs(u[j]), j < n_ + m_ ? scale_[j] : 0.0);
    }
    Row change;
    if (!step_of(a, r, change)) return false;
    double longest = 0;
    for (std::size_t j = 0; j < n_ + m_; ++j)
      longest = std::max(longest, std::abs(change[j]) / (10 * scale_[j] + std::abs(u[j])));
    const double damp = longest > 1 ? 1 / longest : 1;
    bool still = true;
    for (std::size_t j = 0; j < size; ++j) {
      if (!std::isfinite(change[j])) return false;
      still = still && std::abs(change[j]) <= 1e-14 * std::max(std::abs(u[j]), j < n_ + m_ ? scale_[j] : 0.0);
      u[j] -= damp * change[j];
    }
    if (still) break;
  }
  if (!residual(choice, u, r, terms)) return false;
  error = size_of(r, terms);
  return error <= 100 * options_.tolerance;
}

/// Newton's step, or where unknowns are not determined (reactions of too many contacts, a direction that floats) the shortest one.
bool Finder::step_of(const RealMatrix& a, const Row& r, Row& change) const {
  const std::size_t size = r.size();
  RealMatrix direct = a;
  change = r;
  const auto sensible = [&] {
    for (std::size_t j = 0; j < size; ++j) {
      if (!(std::abs(change[j]) < 1e8)) return false;
    }
    return true;
  };
  if (solve(direct, change) && sensible()) return true;
  RealMatrix normal(size);
  double trace = 0;
  change.assign(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) normal(i, j) += a.a[k * size + i] * a.a[k * size + j];
    }
    for (std::size_t k = 0; k < size; ++k) change[i] += a.a[k * size + i] * r[k];
    trace = std::max(trace, normal(i, i));
  }
  for (std::size_t i = 0; i < size; ++i) normal(i, i) += 1e-10 * trace;
  return trace > 0 && solve(normal, change) && sensible();
}

/// Signs of gaps, reactions, sides and weights; fills in the state.
bool Finder::admissible(const Choice& choice, const Row& u, FoundRest& out) {
  const std::size_t width = n_ + m_, relations = system_.relations().size();
  constexpr double kSlack = 1e-9;
  load(u);
  set_sides(choice, 0);
  RestState& state = out.state;
  state.x.assign(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(width));
  for (double& each : state.x) each = each == 0 ? 0 : each;  // no minus zero
  state.normal.assign(relations, 0);
  state.tangent.assign(relations, 0);
  state.gap.assign(relations, 0);
  state.reserve.assign(relations, 0);
  state.status.assign(relations, RestStatus::held);
  for (std::size_t i = 0; i < normal_.size(); ++i) state.normal[normal_[i]] = u[width + i];
  double force = 0;
  for (std::size_t i = 0; i < normal_.size(); ++i) force = std::max(force, std::abs(u[width + i]));
  for (std::size_t k = 0; k < relations; ++k) {
    const model::Relation& relation = system_.relations()[k];
    const model::RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    const bool unilateral = relation.kind == RelationKind::contact && relation.has_normal;
    if (unilateral && choice.closed[k] == 0) {
      state.gap[k] = rows.gap;
      state.status[k] = RestStatus::detached;
      if (rows.gap < kSlack) return false;  // at zero it is told as closed
      out.words.emplace_back(relation.name, name(state.status[k]));
      continue;
    }
    if (unilateral) {
      if (state.normal[k] < -kSlack * force) return false;
      state.status[k] = RestStatus::pressed;
    }
    if (relation.tangents == 0 || relation.smooth_friction) {
      if (unilateral) out.words.emplace_back(relation.name, name(state.status[k]));
      continue;
    }
    double load_now = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      load_now += rows.factors[f] * std::abs(state.normal[static_cast<std::size_t>(relation.feeds[f])]);
    if (load_now < 0) return false;
    const double drive = rows.tangent[0].drive;
    if (drive != 0) {
      state.tangent[k] = (drive > 0 ? -1 : 1) * rows.tangent[0].mu * load_now -
                         viscous_friction(system_, work_, k, std::abs(drive)).first * drive;
      state.status[k] = drive > 0 ? RestStatus::sliding_plus : RestStatus::sliding_minus;
    } else {
      state.tangent[k] = choice.theta[k] * rows.tangent[0].mu_static * load_now;
      state.reserve[k] = rows.tangent[0].mu_static * load_now - std::abs(state.tangent[k]);
      state.status[k] = choice.theta[k] <= -1  ? RestStatus::slip_plus
                        : choice.theta[k] >= 1 ? RestStatus::slip_minus
                                               : RestStatus::stuck;
    }
    out.words.emplace_back(relation.name, name(state.status[k]));
  }
  std::size_t unknown = width + normal_.size();
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (kind_[k] != Kind::moves || !system_.switches()[k].two_sided()) continue;
    const model::SwitchInfo& info = system_.switches()[k];
    if (choice.side[k] == Choice::Side::on) {
      const double share = u[unknown++];
      if (share < -kSlack || share > 1 + kSlack) return false;
      out.share.push_back(share);
      if (share > 1e-9 && share < 1 - 1e-9) out.pseudo = true;
      out.words.emplace_back(info.place, "slides on its surface");
      continue;
    }
    const double s = surface(k);
    if (choice.side[k] == Choice::Side::above ? s < 0 : s > 0) return false;
    if (s == 0 && info.kind == expr::SwitchKind::jump) return false;
    out.words.emplace_back(info.place, choice.side[k] == Choice::Side::above ? info.above : info.below);
  }
  return true;
}

/// The family that friction makes: along the force of each stuck place from limit to limit.
void Finder::follow(const Choice& choice, const Row& u, FoundRest& out) {
  const std::size_t width = n_ + m_;
  for (std::size_t i = 0; i < width; ++i)
    out.family.push_back(
        {i < n_ ? system_.coordinate_names()[i] : system_.state_names()[i - n_], u[i], u[i]});
  bool any = false;
  const auto along = [&](double& parameter, double low, double high, Choice& moved) {
    const double middle = parameter;
    constexpr int kSteps = 40;
    for (const double end : {low, high}) {
      Row there = u;
      for (int step = 1; step <= kSteps; ++step) {
        parameter = middle + (end - middle) * step / kSteps;
        double error = 0;
        FoundRest point;
        if (!newton(moved, there, error) || !admissible(moved, there, point)) break;
        for (std::size_t i = 0; i < width; ++i) {
          out.family[i].low = std::min(out.family[i].low, there[i]);
          out.family[i].high = std::max(out.family[i].high, there[i]);
        }
        any = true;
      }
    }
    parameter = middle;
  };
  for (std::size_t k = 0; k < choice.theta.size(); ++k) {
    if (out.state.status[k] != RestStatus::stuck) continue;
    Choice moved = choice;
    along(moved.theta[k], -1, 1, moved);
  }
  for (std::size_t k = 0; k < kind_.size(); ++k) {
    if (kind_[k] != Kind::idle) continue;
    Choice moved = choice;
    along(moved.free_share[k], 0, 1, moved);
  }
  if (!any) out.family.clear();
}

void Finder::add(const Choice& choice, const Row& u, double error) {
  FoundRest made;
  made.residual = error;
  if (!admissible(choice, u, made)) return;
  for (const FoundRest& other : out_.rests) {
    double far = 0;
    for (std::size_t i = 0; i < n_ + m_; ++i)
      far = std::max(far, std::abs(other.state.x[i] - u[i]) / scale_[i]);
    double apart = 0, size = 0;
    for (std::size_t k = 0; k < made.state.tangent.size(); ++k) {
      apart = std::max(apart, std::abs(made.state.tangent[k] - other.state.tangent[k]));
      size = std::max(size, std::abs(made.state.tangent[k]));
    }
    if (far < 1e-6 && apart <= 1e-6 * size) return;
  }
  judge(choice, u, made);
  follow(choice, u, made);
  out_.rests.push_back(std::move(made));
}

RestSearch Finder::find() {
  classify_switches();
  std::vector<Choice> choices;
  all_choices(choices);
  out_.choices = choices.size();
  out_.starts = options_.starts;
  out_.names = system_.coordinate_names();
  out_.names.insert(out_.names.end(), system_.state_names().begin(), system_.state_names().end());
  for (const Choice& choice : choices) {
    layout_of(choice);
    std::size_t weights = 0;
    for (const std::size_t k : slid_) weights += kind_[k] == Kind::idle ? 0 : 1;
    std::mt19937_64 random(1988);
    for (int start = 0; start < options_.starts; ++start) {
      Row u = start_;
      for (std::size_t i = 0; i < u.size() && start > 0; ++i)
        u[i] += options_.spread * scale_[i] * (static_cast<double>(random() >> 11U) * 0x1p-52 - 1);
      u.resize(n_ + m_ + normal_.size(), 1.0);
      u.resize(u.size() + weights, 0.5);
      double error = 0;
      if (newton(choice, u, error)) add(choice, u, error);
    }
  }
  return std::move(out_);
}

std::optional<RestSearch> search_rests(const System& system, const RestSearchOptions& options,
                                       EquilibriaProblem& problem) {
  Finder finder(system, options);
  if (!finder.suits(problem)) return std::nullopt;
  return finder.find();
}

}  // namespace judder::analysis
