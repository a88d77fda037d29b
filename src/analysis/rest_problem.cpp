// What a model is at v = 0, and whether it is affine there.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/rest_layout.hpp"
#include "judder/analysis/equilibria.hpp"
#include "judder/core/number.hpp"
#include "judder/model/friction.hpp"

namespace judder::analysis {
namespace {

using model::Relation;
using model::RelationKind;
using model::RelationRows;
using model::System;
using model::Workspace;

/// Reproducible numbers in (−1, 1): the probes must be the same on every machine.
class Probes {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(static_cast<std::int64_t>(state_ >> 11U) - (std::int64_t{1} << 52U)) * 0x1p-52;
  }

 private:
  std::uint64_t state_ = 20040416;
};

class Reading {
 public:
  Reading(const System& system, double time, EquilibriaProblem& problem)
      : system_(system), layout_(system.layout()), work_(system), problem_(problem) {
    n_ = static_cast<std::size_t>(layout_.coordinates);
    m_ = static_cast<std::size_t>(layout_.states);
    work_.in[0] = time;
    for (std::size_t i = 0; i < n_; ++i) {
      work_.in[static_cast<std::size_t>(layout_.v()) + i] = 0;
      scale_.push_back(scale_of(work_.in[static_cast<std::size_t>(layout_.q()) + i]));
    }
    for (std::size_t i = 0; i < m_; ++i)
      scale_.push_back(scale_of(work_.in[static_cast<std::size_t>(layout_.z()) + i]));
    for (std::size_t k = 0; k < system.relations().size(); ++k)
      work_.in[static_cast<std::size_t>(layout_.closed()) + k] = 1;
  }

  bool read(RestProblem& out, double horizon);

 private:
  static double scale_of(double start) { return start == 0 ? 1 : std::abs(start); }
  bool refuse(std::string message, std::string help = {}, bool not_affine = false) {
    problem_ = {std::move(message), std::move(help), not_affine};
    return false;
  }
  bool bend(const std::string& what) { return refuse("the model is not affine at rest: " + what, {}, true); }
  void place(const std::vector<double>& x) {
    for (std::size_t i = 0; i < n_; ++i) work_.in[static_cast<std::size_t>(layout_.q()) + i] = x[i];
    for (std::size_t i = 0; i < m_; ++i) work_.in[static_cast<std::size_t>(layout_.z()) + i] = x[n_ + i];
    // At an instant of a timetable what comes after it counts.
    const double time = work_.in[0];
    work_.in[0] = std::nextafter(time, std::numeric_limits<double>::infinity());
    system_.sides_by_value(work_.in, work_);
    work_.in[0] = time;
  }
  bool suits();
  bool switches_stand(const std::vector<double>& x);
  bool forces(RestProblem& out);
  bool relations(RestProblem& out);
  bool tangents(RestProblem::Relation& made, std::size_t k, const RelationRows& rows);
  void take_viscous(RestProblem& out);
  bool affine(const RestProblem& out);
  bool constant(const RestProblem& out, double horizon);
  std::vector<double> numbers_at(double time, const std::vector<double>& x);

  const System& system_;
  const model::Layout& layout_;
  Workspace work_;
  EquilibriaProblem& problem_;
  std::size_t n_ = 0, m_ = 0;
  std::vector<double> scale_;
};

bool Reading::suits() {
  for (std::size_t i = 0; i < n_; ++i) {
    if (system_.massless()[i])
      return refuse("coordinate '" + system_.coordinate_names()[i] + "' is massless",
                    "rest states are found for models whose coordinates all have inertia");
  }
  for (const Relation& relation : system_.relations()) {
    if (relation.tangents > 1)
      return refuse(relation.place + " has " + std::to_string(relation.tangents) + " slip components",
                    "rest states are found for planar friction, one slip component each");
    const FrictionType law = relation.friction;
    if (law == FrictionType::lugre || law == FrictionType::elastoplastic || law == FrictionType::penalty)
      return refuse(
          relation.place + " has the law '" + name(law) +
              "': it rests wherever its bristle can hold it, and each bend of the bristle is another rest",
          "give it the law 'coulomb' with the same coefficient at rest: it rests at the same places");
    if (relation.smooth_friction)
      return refuse(relation.place + " has the smooth friction law '" + name(relation.friction) +
                        "', under which nothing rests exactly",
                    "give it the law 'coulomb'");
  }
  return true;
}

/// Switches whose surface a position moves make pieces of the model; those at zero at v = 0 can be slid on.
bool Reading::switches_stand(const std::vector<double>& x) {
  place(x);
  std::vector<double> row;
  for (std::size_t k = 0; k < system_.switches().size(); ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (info.time_only || (!info.in_motion && !info.in_relations)) continue;
    row.assign(static_cast<std::size_t>(info.surface.outputs()), 0);
    info.surface.evaluate(work_.in.data(), row.data(), work_.registers.data());
    bool moves = row[0] == 0 && info.two_sided();
    for (std::size_t i = 0; i < n_; ++i) moves = moves || row[2 + i] != 0;
    for (std::size_t i = 0; i < m_; ++i) moves = moves || row[2 + 2 * n_ + i] != 0;
    if (moves) return bend("it switches in " + info.place);
  }
  return true;
}

bool Reading::forces(RestProblem& out) {
  if (!system_.motion(work_)) return bend("its forces are not finite at the origin");
  out.load = work_.force;
  out.rate = work_.rate;
  out.mass = system_.full_mass(work_);
  const std::size_t columns = 2 * n_ + m_ + static_cast<std::size_t>(layout_.free_parameters);
  std::vector<double> jacobian((n_ + m_) * columns);
  system_.jacobian(work_, jacobian.data());
  for (std::size_t i = 0; i < n_ + m_; ++i) {
    for (std::size_t j = 0; j < n_ + m_; ++j) {
      const double slope = jacobian[i * columns + (j < n_ ? j : n_ + j)];
      if (i < n_)
        out.stiffness.push_back(slope == 0 ? 0 : -slope);
      else
        out.rate_slope.push_back(slope);
    }
    for (std::size_t j = 0; j < n_ && i < n_; ++j) {
      const double slope = jacobian[i * columns + n_ + j];
      out.damping.push_back(slope == 0 ? 0 : -slope);
    }
  }
  for (const std::vector<double>* all :
       {&out.load, &out.rate, &out.stiffness, &out.rate_slope, &out.damping}) {
    for (const double each : *all) {
      if (!std::isfinite(each)) return bend("its forces are not finite at the origin");
    }
  }
  return true;
}

bool Reading::tangents(RestProblem::Relation& made, std::size_t k, const RelationRows& rows) {
  const Relation& relation = system_.relations()[k];
  RestProblem::Tangent tangent;
  tangent.number = relation.first_tangent;
  const RelationRows::Tangent& row = rows.tangent[0];
  tangent.w = row.w.dense(n_);
  tangent.drag = row.drag.dense(n_);
  tangent.drive = row.drive;
  // The direction is known where the other side moves; the coefficient is read with it.
  double& direction = work_.in[static_cast<std::size_t>(layout_.direction() + relation.first_tangent)];
  direction = row.drive > 0 ? 1 : row.drive < 0 ? -1 : 0;
  const RelationRows& driven = system_.rows(work_, static_cast<int>(k));
  tangent.mu_slip = driven.tangent[0].mu;
  tangent.mu = row.drive == 0 ? driven.tangent[0].mu_static : tangent.mu_slip;
  if (row.drive == 0) {
    // As soon as it slips.
    tangent.mu_slip = system_.impulse_coefficient(work_, static_cast<int>(k), 0);
  } else {
    const double speed = std::abs(row.drive), h = 1e-4 * speed;
    tangent.mu_slope = (system_.impulse_coefficient(work_, static_cast<int>(k), speed + h) -
                        system_.impulse_coefficient(work_, static_cast<int>(k), speed - h)) /
                       (2 * h);
    if (std::abs(tangent.mu_slope) * speed < 1e-9 * tangent.mu) tangent.mu_slope = 0;
  }
  std::tie(tangent.viscous, tangent.viscous_slope) = viscous_friction(system_, work_, k, std::abs(row.drive));
  made.tangents.push_back(std::move(tangent));
  return true;
}

/// Viscous friction is part of h, whether a contact is closed or not. Here it belongs to its contact, which may open.
void Reading::take_viscous(RestProblem& out) {
  constexpr double kRounding = 1e-15;
  const auto take = [](double& from, double part) {
    const double size = std::max(std::abs(from), std::abs(part));
    from -= part;
    if (std::abs(from) <= kRounding * size) from = 0;
  };
  for (const RestProblem::Relation& relation : out.relations) {
    if (relation.tangents.empty() || relation.tangents[0].viscous == 0) continue;
    const RestProblem::Tangent& tangent = relation.tangents[0];
    for (std::size_t i = 0; i < n_; ++i) {
      if (tangent.drag[i] == 0) continue;
      take(out.load[i], -(tangent.drag[i] * tangent.drive) * tangent.viscous);
      for (std::size_t j = 0; j < n_; ++j)
        take(out.damping[i * n_ + j], (tangent.drag[i] * tangent.w[j]) * tangent.damper());
    }
  }
}

bool Reading::relations(RestProblem& out) {
  const std::vector<double> origin(n_ + m_, 0);
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const Relation& relation = system_.relations()[k];
    place(origin);
    const RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    RestProblem::Relation made;
    made.name = relation.name;
    made.kind = relation.kind;
    made.has_normal = relation.has_normal;
    made.unilateral = relation.kind == RelationKind::contact && relation.has_normal;
    if (relation.has_normal) {
      if (rows.gap_time != 0)
        return refuse(relation.place + " moves by itself, so nothing that it holds is at rest",
                      "give --at T, an instant from which it stands still");
      if (!relation.holonomic && rows.gap != 0)
        return refuse(relation.place + " asks for a motion, so there is no rest");
      made.gap = relation.holonomic ? rows.gap : 0;
      made.w = rows.w.dense(n_);
      made.push = rows.push.dense(n_);
      if (!relation.holonomic) made.w.assign(n_, 0);
    }
    made.base = rows.base;
    made.feeds = relation.feeds;
    made.factors.assign(rows.factors, rows.factors + relation.feeds.size());
    made.base_slope.assign(n_ + m_, 0);
    if (relation.tangents == 1) {
      if (!tangents(made, k, rows)) return false;
      if (!relation.law_constant) {
        for (std::size_t i = 0; i < n_ + m_; ++i) {
          std::vector<double> x = origin;
          x[i] = scale_[i];
          place(x);
          made.base_slope[i] = (system_.rows(work_, static_cast<int>(k)).base - made.base) / scale_[i];
        }
      }
      const RestProblem::Tangent& tangent = made.tangents.front();
      model::FrictionCurve curve(system_, static_cast<int>(k));
      const bool no_slope =
          std::all_of(made.base_slope.begin(), made.base_slope.end(), [](double s) { return s == 0; });
      made.constant_law = curve.constant() && made.feeds.empty() && no_slope && tangent.mu_slip == tangent.mu;
    }
    // A rod, whose length has no slope where it is zero: no linear problem, and nothing that could be compared with one.
    bool finite = std::isfinite(made.gap) && std::isfinite(made.base);
    const auto look = [&finite](const std::vector<double>& row) {
      for (const double each : row) finite = finite && std::isfinite(each);
    };
    look(made.w);
    look(made.push);
    look(made.base_slope);
    for (const RestProblem::Tangent& tangent : made.tangents) {
      look(tangent.w);
      look(tangent.drag);
      look({tangent.drive, tangent.mu, tangent.mu_slip, tangent.viscous});
    }
    if (!finite) return bend("'" + made.name + "' has no direction at the origin");
    out.relations.push_back(std::move(made));
  }
  take_viscous(out);
  return true;
}

/// All numbers that a rest depends on, at one place and instant.
std::vector<double> Reading::numbers_at(double time, const std::vector<double>& x) {
  work_.in[0] = time;
  place(x);
  std::vector<double> out;
  if (!system_.motion(work_)) return {std::numeric_limits<double>::quiet_NaN()};
  out.insert(out.end(), work_.force.begin(), work_.force.end());
  out.insert(out.end(), work_.rate.begin(), work_.rate.end());
  const auto add = [&](const model::Row& row) {
    const std::vector<double> all = row.dense(n_);
    out.insert(out.end(), all.begin(), all.end());
  };
  for (std::size_t k = 0; k < system_.relations().size(); ++k) {
    const Relation& relation = system_.relations()[k];
    const RelationRows& rows = system_.rows(work_, static_cast<int>(k));
    if (relation.has_normal) {
      out.insert(out.end(), {rows.gap, rows.gap_time});
      add(rows.w);
    }
    if (relation.tangents == 0) continue;
    const RelationRows::Tangent& row = rows.tangent[0];
    out.insert(out.end(), {rows.base, row.drive, row.mu_static, row.mu});
    add(row.w);
  }
  return out;
}

/// Judged on probes where the formulas do not show it (model/linear.hpp): curvature would have to vanish at all of them.
bool Reading::affine(const RestProblem& out) {
  if (system_.linear().linear()) return true;
  constexpr int kProbes = 12;
  constexpr double kSame = 1e-10;
  Probes probes;
  std::vector<double> x(n_ + m_);
  for (int i = 0; i < kProbes; ++i) {
    for (std::size_t j = 0; j < x.size(); ++j)
      x[j] = scale_[j] * probes.next() * (i % 3 == 0 ? 0.1 : i % 3 == 1 ? 1 : 5);
    if (!switches_stand(x)) return false;
    if (!system_.motion(work_)) return bend("its forces are not finite everywhere");
    for (std::size_t r = 0; r < n_ + m_; ++r) {
      double sum = r < n_ ? out.load[r] : out.rate[r - n_], terms = std::abs(sum);
      for (const RestProblem::Relation& relation : out.relations) {
        if (r >= n_ || relation.tangents.empty()) continue;
        const RestProblem::Tangent& tangent = relation.tangents[0];
        const double part = tangent.drag[r] * tangent.drive * tangent.viscous;
        sum -= part;
        terms += std::abs(part);
      }
      for (std::size_t j = 0; j < x.size(); ++j) {
        const double term =
            r < n_ ? -out.stiffness[r * x.size() + j] * x[j] : out.rate_slope[(r - n_) * x.size() + j] * x[j];
        sum += term;
        terms += std::abs(term);
      }
      const double found = r < n_ ? work_.force[r] : work_.rate[r - n_];
      if (!(std::abs(found - sum) <= kSame * std::max(terms, std::abs(found))))
        return bend(r < n_ ? "the force on " + out.coordinates[r] + " bends"
                           : "the rate of " + out.states[r - n_] + " bends");
    }
    const std::vector<double> mass = system_.full_mass(work_);
    for (std::size_t j = 0; j < n_ * n_; ++j) {
      if (std::abs(mass[j] - out.mass[j]) > kSame * std::abs(out.mass[j] + mass[j]))
        return bend("the mass matrix varies");
    }
    for (std::size_t k = 0; k < out.relations.size(); ++k) {
      const RestProblem::Relation& made = out.relations[k];
      const RelationRows& rows = system_.rows(work_, static_cast<int>(k));
      double gap = made.gap, terms = std::abs(gap), base = made.base, base_terms = std::abs(base);
      for (std::size_t j = 0; j < n_ + m_; ++j) {
        if (j < n_ && made.has_normal) {
          gap += made.w[j] * x[j];
          terms += std::abs(made.w[j] * x[j]);
          const double push = rows.push[static_cast<int>(j)];
          if (std::abs(push - made.push[j]) > kSame * (std::abs(made.push[j]) + std::abs(push)))
            return bend("the direction of '" + made.name + "' turns");
        }
        base += made.base_slope[j] * x[j];
        base_terms += std::abs(made.base_slope[j] * x[j]);
      }
      if (made.has_normal && system_.relations()[k].holonomic &&
          std::abs(rows.gap - gap) > kSame * std::max(terms, std::abs(rows.gap)))
        return bend("the gap of '" + made.name + "' bends");
      if (made.tangents.empty()) continue;
      const RestProblem::Tangent& tangent = made.tangents.front();
      const RelationRows::Tangent& row = rows.tangent[0];
      for (std::size_t j = 0; j < n_; ++j) {
        if (std::abs(row.drag[static_cast<int>(j)] - tangent.drag[j]) >
            kSame * (std::abs(row.drag[static_cast<int>(j)]) + std::abs(tangent.drag[j])))
          return bend("the direction of slip of '" + made.name + "' turns");
      }
      if (std::abs(viscous_friction(system_, work_, k, std::abs(tangent.drive)).first - tangent.viscous) >
          kSame * std::abs(tangent.viscous))
        return bend("the viscous friction of '" + made.name + "' varies");
      const double mu = tangent.drive == 0 ? row.mu_static : row.mu;
      if (std::abs(rows.base - base) > kSame * std::max(base_terms, std::abs(rows.base)) ||
          std::abs(mu - tangent.mu) > kSame * tangent.mu ||
          std::abs(row.drive - tangent.drive) > kSame * std::abs(tangent.drive))
        return bend("the friction of '" + made.name + "' bends");
    }
  }
  return true;
}

/// Whether everything stays as it is from the instant on.
bool Reading::constant(const RestProblem& out, double horizon) {
  if (system_.autonomous()) return true;
  Probes probes;
  std::vector<double> x(n_ + m_);
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = scale_[j] * probes.next();
  const std::vector<double> first = numbers_at(out.time, x);
  double last = out.time;
  for (const double instant : system_.instants()) last = std::max(last, instant);
  constexpr int kInstants = 300;
  for (int i = 0; i < kInstants; ++i) {
    // Near it, over the run, and far away.
    const double share = 0.5 + 0.5 * probes.next();
    const double span = std::max(horizon, last - out.time) * (i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 1 : 100);
    const double time = out.time + share * span;
    const std::vector<double> there = numbers_at(time, x);
    if (there == first) continue;
    std::string what = "the model";
    for (std::size_t j = 0; j < n_ && j < there.size(); ++j) {
      if (there[j] != first[j]) {
        what = "the force on " + out.coordinates[j];
        break;
      }
    }
    const std::string known =
        last > out.time
            ? "the last instant of its tables is " + to_text(last, 6) + ": try --at " + to_text(last, 6)
            : std::string("give --at T, an instant from which every load is constant");
    return refuse(what + " is not constant after t = " + to_text(out.time, 6) +
                      ": it has changed at t = " + to_text(time, 6),
                  known);
  }
  work_.in[0] = out.time;
  return true;
}

bool Reading::read(RestProblem& out, double horizon) {
  out.n = n_;
  out.m = m_;
  out.time = work_.in[0];
  out.coordinates = system_.coordinate_names();
  out.states = system_.state_names();
  if (!suits() || !constant(out, horizon)) return false;
  const std::vector<double> origin(n_ + m_, 0);
  if (!switches_stand(origin)) return false;
  return forces(out) && relations(out) && affine(out);
}

}  // namespace

std::optional<RestProblem> rest_problem(const model::System& system, const EquilibriaOptions& options,
                                        EquilibriaProblem& problem) {
  problem = {};
  RestProblem out;
  Reading reading(system, options.at.value_or(system.start()[0]), problem);
  if (!reading.read(out, options.horizon)) return std::nullopt;
  return out;
}

}  // namespace judder::analysis
