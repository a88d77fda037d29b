// Checks of the whole model: its structure, and its numbers at the start.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/model/friction.hpp"
#include "model/builder.hpp"
#include "model/continuity.hpp"
#include "model/held_rows.hpp"

namespace judder::model {
/// Constraints that are combinations of those before them, but ask for other accelerations than these. Elimination row by row, in which only entries that are
/// not zero cost anything: constraints of large models mostly have few. An entry that is nothing but the rounding of the terms that cancel in it is zero.
std::vector<Contradiction> contradictions(const std::vector<HeldRow>& held, std::size_t n, Work& budget) {
  constexpr double kCancelled = 1e-10, kAgree = 1e-9;
  constexpr std::size_t kPerOperation = 8;
  std::vector<Contradiction> out;
  double largest = 0;
  for (const HeldRow& row : held) largest = std::max(largest, std::abs(row.zeta));
  if (largest == 0) return out;  // nothing is asked for that could differ
  struct Entry {
    std::size_t column;
    double value;
  };
  struct Pivot {
    std::size_t column;
    double value, zeta;
    std::vector<Entry> entries;  ///< the others
  };
  std::vector<Pivot> pivots;
  std::vector<std::size_t> uses(n, 0);
  std::vector<double> reach(n, 0.0), value(n), terms(n);
  for (const HeldRow& row : held) {
    budget.spend(1 + n / kPerOperation);
    for (std::size_t i = 0; i < n; ++i) {
      uses[i] += row.w[i] != 0 ? 1 : 0;
      reach[i] = std::max(reach[i], std::abs(row.w[i]));
    }
  }
  for (const HeldRow& row : held) {
    budget.spend(1 + (n + pivots.size()) / kPerOperation);
    value = row.w;
    for (std::size_t i = 0; i < n; ++i) terms[i] = std::abs(value[i]);
    double zeta = row.zeta, zeta_terms = std::abs(zeta);
    for (const Pivot& pivot : pivots) {
      const double entry = value[pivot.column];
      value[pivot.column] = 0;
      if (!(std::abs(entry) > kCancelled * terms[pivot.column])) continue;
      const double factor = entry / pivot.value;
      budget.spend(1 + pivot.entries.size() / kPerOperation);
      for (const Entry& other : pivot.entries) {
        value[other.column] -= factor * other.value;
        terms[other.column] += std::abs(factor * other.value);
      }
      zeta -= factor * pivot.zeta;
      zeta_terms += std::abs(factor * pivot.zeta);
    }
    // Of the entries that are large as their columns go, the one whose column is needed least often: the rows that follow stay sparse.
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(std::abs(value[i]) > kCancelled * terms[i])) value[i] = 0;
      if (value[i] != 0) most = std::max(most, std::abs(value[i]) / reach[i]);
    }
    if (most == 0) {
      if (std::abs(zeta) > kAgree * std::max(largest, zeta_terms)) out.push_back({row.relation, zeta});
      continue;
    }
    Pivot pivot{n, 0, zeta, {}};
    for (std::size_t i = 0; i < n; ++i) {
      constexpr double kLarge = 0.1;
      if (value[i] == 0 || std::abs(value[i]) < kLarge * most * reach[i]) continue;
      if (pivot.column == n || uses[i] < uses[pivot.column]) pivot.column = i;
    }
    pivot.value = value[pivot.column];
    for (std::size_t i = 0; i < n; ++i) {
      if (value[i] != 0 && i != pivot.column) pivot.entries.push_back({i, value[i]});
    }
    pivots.push_back(std::move(pivot));
  }
  return out;
}

void Builder::warn_unused() {
  for (const ParameterDraft& p : parameters) {
    if (mentioned.contains(p.spec->name.text)) continue;
    warning(p.spec->name.span, p.place(), "the parameter " + quoted(p.spec->name.text) + " is not used");
  }
}

void Builder::check_structure() {
  const std::size_t n = coordinates.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (!coordinates[i].spec->massless) continue;
    if (large != nullptr) {
      error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
            "a model with matrices of more than " + std::to_string(kLargestFormula) +
                " rows has no massless coordinates",
            "give every coordinate inertia in the mass matrix");
      return;
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (is_zero(mass[i * n + j])) continue;
      error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
            "the massless coordinate " + quoted(coordinates[i].name) +
                " has inertia: its velocity stands in the kinetic energy");
      break;
    }
  }
  if (quasi_static()) return;
  for (const RelationDraft& r : relations) {
    const auto refuse = [&](const std::vector<Node>& w, const char* what) {
      for (std::size_t i = 0; i < w.size(); ++i) {
        if (!coordinates[i].spec->massless || is_zero(w[i])) continue;
        report_error(r.span, r.where,
                     std::string("the ") + what + " moves the massless coordinate " +
                         quoted(coordinates[i].name) + ": without inertia its reaction is not determined",
                     "give the coordinate inertia, or make the contact compliant");
        return true;
      }
      return false;
    };
    if (r.has_normal && (refuse(r.w, "gap") || refuse(r.push, "push"))) continue;
    if (!r.friction || (r.smooth && r.known_load) || on_massless(r)) continue;
    for (const TangentDraft& row : r.slip) {
      if (refuse(row.w, "slip") || refuse(row.drag, "drag")) break;
    }
  }
}

/// Laws that can create energy. A constant coefficient cannot, and is not looked at.
void Builder::check_dissipation() {
  const expr::OutsideWatch not_heard(graph.outside());  // speeds that no motion may ever have
  std::optional<FrictionCurve> curve;                   // one workspace for all of them
  for (std::size_t k = 0; k < relations.size(); ++k) {
    const Relation& relation = system.data_->relations[k];
    const bool bristle =
        relation.friction == FrictionType::lugre || relation.friction == FrictionType::elastoplastic;
    if (relation.friction == FrictionType::none || (!bristle && relation.law_constant)) continue;
    // The curve is read at some thousand speeds.
    constexpr std::size_t kSpeeds = 2000;
    constexpr std::size_t kPerOperation = 8;
    budget.spend(kSpeeds * (2 + relation.curve.length() / kPerOperation));
    if (curve) {
      curve->take(static_cast<int>(k));
    } else {
      curve.emplace(system, static_cast<int>(k));
    }
    const Dissipation found = model::dissipation(*curve);
    if (found.ok()) continue;
    const RelationDraft& draft = relations[k];
    const FrictionLaw& law = draft.contact      ? draft.contact->friction
                             : draft.constraint ? draft.constraint->friction
                                                : draft.joint->law;
    const Span span = law.span.empty() ? draft.span : law.span;
    const std::string where = draft.where + (draft.joint != nullptr ? ", law" : ", friction");
    if (!std::isnan(found.negative_at)) {
      warning(span, where,
              "friction pushes instead of resisting at the slip velocity " + to_text(found.negative_at, 3),
              "the coefficient is negative there; keep it positive at every speed, for example with max()");
    } else {
      warning(
          span, where,
          "above the slip speed " + to_text(found.reachable_below, 4) + " a bent bristle can create energy",
          "let 'damping' fall with the speed: at most " + to_text(found.allowed_damping, 3) +
              " there, for example \"" + to_text(found.allowed_damping, 3) + "*exp(-(speed/" +
              to_text(found.reachable_below, 3) + ")^2)\"");
    }
  }
}

/// Row i of the mass matrix adds the pivot `left`, which is no inertia. `l`: the Cholesky factor of the rows before it and, from `first` on, its row.
void Builder::refuse_inertia(const std::vector<double>& l, std::size_t i, std::size_t first, double diagonal,
                             double left) {
  const std::vector<int>& massive = system.data_->massive;
  const std::size_t k = massive.size();
  const CoordinateDraft& c = coordinates[static_cast<std::size_t>(massive[i])];
  const std::string where = "coordinate '" + c.name + "'";
  const double rounding = 4 * static_cast<double>(k) * 2.220446049250313e-16 * std::abs(diagonal);
  const std::string indefinite = "the mass matrix is not positive definite at the start: ";
  if (diagonal == 0 && left == 0) {
    error(c.spec->name, where, "the coordinate " + quoted(c.name) + " has no inertia",
          "give it kinetic energy, or write massless = true");
    return;
  }
  if (std::abs(left) <= rounding) {
    error(c.spec->name, where, indefinite + quoted(c.name) + " has no inertia of its own",
          "give it kinetic energy, or write massless = true");
    return;
  }
  // The motion with the velocity 1 here that has the least energy: half of the pivot. Back through the transposed factor.
  std::vector<double> v(i, 0.0);
  for (std::size_t j = i; j-- > 0;) {
    double sum = j >= first ? l[i * k + j] : 0;
    for (std::size_t b = j + 1; b < i; ++b) sum += l[b * k + j] * v[b];
    v[j] = -sum / l[j * k + j];
    if (v[j] == 0) v[j] = 0;
  }
  constexpr std::size_t kMost = 6;
  std::string motion;
  std::size_t named = 0;
  for (std::size_t j = 0; j < i; ++j) {
    if (v[j] == 0 || ++named > kMost) continue;
    motion += coordinates[static_cast<std::size_t>(massive[j])].name + "' = " + to_text(v[j], 4) + ", ";
  }
  if (named > kMost) motion += "…, ";
  error(c.spec->name, where,
        indefinite + motion + c.name + "' = 1 has the kinetic energy " + to_text(0.5 * left, 4),
        "every motion has positive kinetic energy: look for a sign, or for a coupling that is too large");
}

void Builder::check_start() {
  System::Data& d = *system.data_;
  const Layout& layout = d.layout;
  const std::size_t n = coordinates.size();
  Workspace work(system);
  const auto value = [&](Node node) {
    double out = 0;
    program(std::span<const Node>(&node, 1)).evaluate(work.in.data(), &out, work.registers.data());
    return out;
  };
  // Registers of a program made here may exceed those of the System.
  const auto safe_value = [&](Node node) {
    const expr::Program p = program(std::span<const Node>(&node, 1));
    if (static_cast<int>(work.registers.size()) < p.registers())
      work.registers.resize(static_cast<std::size_t>(p.registers()));
    return value(node);
  };

  // What is not finite may come from a table that is asked outside of its points.
  const auto table_left = [&] {
    for (const expr::TableUse& use : graph.table_uses()) {
      const double at = safe_value(use.argument);
      if (!(at < use.from || at > use.to)) continue;
      const auto table = std::find_if(spec.tables.begin(), spec.tables.end(),
                                      [&](const Table& each) { return each.name.text == use.table; });
      if (table == spec.tables.end()) continue;
      error(table->name, "table " + quoted(use.table),
            "the table " + quoted(use.table) + " reaches from " + to_text(use.from, 9) + " to " +
                to_text(use.to, 9) + " and is asked at " + to_text(at, 9) + " at the start",
            "start inside of it, or say what it gives outside: outside = \"hold\" or \"zero\"");
      return true;
    }
    return false;
  };

  // --- the equations of motion ---
  const bool moving = system.motion(work);
  if (!moving) {
    bool named = false;
    if (table_left()) return;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isfinite(safe_value(force[i]))) continue;
      error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
            "the force on " + quoted(coordinates[i].name) + " is not a finite number at the start");
      named = true;
    }
    for (const StateDraft& s : states) {
      if (std::isfinite(safe_value(s.rate))) continue;
      report_error(s.spec ? s.spec->rate.text.span : Span{}, "state '" + s.name + "', rate",
                   "the rate of " + quoted(s.name) + " is not a finite number at the start");
      named = true;
    }
    if (!named && !d.follow.unknown.empty() && !work.mass_failed) {
      // With every joint slipping there is a balance: it is their rest that holds the node twice.
      for (const MasslessSystem::Slider& slider : d.follow.sliders)
        work.in[static_cast<std::size_t>(slider.direction)] = 1;
      const bool held_twice = !d.follow.sliders.empty() && system.motion(work);
      for (std::size_t i = 0; i < n; ++i) {
        if (!d.massless[i]) continue;
        const std::string name = quoted(coordinates[i].name);
        if (held_twice)
          error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
                "more friction joints hold massless coordinates, such as " + name +
                    ", than there are: what each of them carries at rest is not determined",
                "give each joint a node of its own, or the node inertia");
        else
          error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
                "the balance of forces does not determine the massless coordinate " + name,
                "it needs a spring or a damper of its own, or inertia");
        break;
      }
      return;
    }
    if (named) return;
  }
  // Energies and error measures are squares of these: beyond the root of the largest number there is nothing to compute with.
  const auto refuse_large = [&](const Text& name, const std::string& where, const std::string& what,
                                double x) {
    if (!(std::abs(x) > kLargest)) return;
    error(name, where,
          what + " is " + to_text(x, 3) +
              " at the start, and squares of such numbers overflow; the most is " + to_text(kLargest),
          "write the model in other units");
  };
  for (std::size_t i = 0; i < n; ++i) {
    const CoordinateDraft& c = coordinates[i];
    const std::string where = "coordinate '" + c.name + "'";
    refuse_large(c.spec->name, where, "the force on " + quoted(c.name), work.force[i]);
    refuse_large(c.spec->name, where, "the coordinate " + quoted(c.name),
                 work.in[static_cast<std::size_t>(layout.q()) + i]);
    refuse_large(c.spec->name, where, "the velocity of " + quoted(c.name),
                 work.in[static_cast<std::size_t>(layout.v()) + i]);
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Text name = states[i].spec != nullptr ? states[i].spec->name : Text{};
    refuse_large(name, "state '" + states[i].name + "'", "the state " + quoted(states[i].name),
                 work.in[static_cast<std::size_t>(layout.z()) + i]);
    refuse_large(name, "state '" + states[i].name + "'", "the rate of " + quoted(states[i].name),
                 work.rate[i]);
  }
  if (large != nullptr && work.mass_failed) {
    report_error(spec.matrices.mass.span, "matrices, mass", "the mass matrix is not positive definite");
    return;
  }
  if (!quasi_static() && large == nullptr) {
    // The Cholesky factor row by row: the first row that adds nothing names the coordinate.
    const std::size_t k = d.massive.size();
    std::vector<double> l(k * k, 0.0);
    constexpr std::size_t kPerOperation = 16;
    for (std::size_t i = 0; i < k; ++i) {
      const auto row = static_cast<std::size_t>(d.massive[i]);
      std::size_t first = 0;  // what is zero before the first entry of a row stays zero
      while (first < i && is_zero(mass[row * n + static_cast<std::size_t>(d.massive[first])])) ++first;
      for (std::size_t j = first; j <= i; ++j) {
        double sum = safe_value(mass[row * n + static_cast<std::size_t>(d.massive[j])]);
        const double diagonal = sum;
        for (std::size_t c = first; c < j; ++c) sum -= l[i * k + c] * l[j * k + c];
        budget.spend(1 + (j - first) / kPerOperation);
        if (j < i) {
          l[i * k + j] = sum / l[j * k + j];
          continue;
        }
        if (!(sum > 4 * static_cast<double>(k) * 2.220446049250313e-16 * std::abs(diagonal))) {
          refuse_inertia(l, i, first, diagonal, sum);
          return;
        }
        l[i * k + i] = std::sqrt(sum);
      }
    }
  }
  if (!moving) {
    report_error({}, "", "the equations of motion give no finite numbers at the start");
    return;
  }

  // --- relations ---
  const double* q = work.in.data() + layout.q();
  const double* v = work.in.data() + layout.v();
  const double time = work.in[0];
  std::vector<double> solved(n);
  std::vector<HeldRow> held;
  for (std::size_t k = 0; k < relations.size(); ++k) {
    const RelationDraft& r = relations[k];
    const RelationRows& rows = system.rows(work, static_cast<int>(k));
    const Relation& compiled = d.relations[k];
    bool finite = std::isfinite(rows.gap) && std::isfinite(rows.gap_rate) && std::isfinite(rows.base) &&
                  std::isfinite(rows.zeta_n);
    for (const double x : work.row_memory[k]) finite = finite && std::isfinite(x);
    if (!finite && table_left()) return;
    if (!finite) {
      report_error(r.span, r.where, "a value of the " + r.where + " is not a finite number at the start");
      continue;
    }
    double* closed = &d.start[static_cast<std::size_t>(layout.closed()) + k];
    if (r.has_normal) {
      double reach = std::abs(rows.gap_time * time), pace = std::abs(rows.gap_time);
      for (const int i : compiled.touches) {
        reach += std::abs(rows.w[i] * q[i]);
        pace += std::abs(rows.w[i] * v[i]);
      }
      const Value& written = r.contact                  ? r.contact->gap
                             : r.constraint->zero.given ? r.constraint->zero
                                                        : r.constraint->velocity;
      if (r.kind == RelationKind::contact) {
        *closed = rows.gap <= kRoundOff * reach ? 1 : 0;
        if (rows.gap < -kRoundOff * reach) {
          error(written, r.where + ", gap", "the gap is negative at the start: " + to_text(rows.gap, 6),
                "move the start, or make the contact compliant");
        }
        if (*closed != 0 && rows.w.vanishes()) {
          error(written, r.where + ", gap", "the normal of the closed contact vanishes at the start",
                "a gap must change with its coordinates where it is zero; write it as a distance");
        }
      } else {
        if (r.holonomic && std::abs(rows.gap) > kRoundOff * reach) {
          error(written, r.where + ", zero",
                "the constraint is not satisfied at the start: it is " + to_text(rows.gap, 6),
                "correct the start values by this amount");
        } else if (!quasi_static() && std::abs(rows.gap_rate) > kRoundOff * pace) {
          // Without inertia a start has no velocities: the path has those that its constraints ask for.
          error(
              written, r.where,
              "the start velocities do not satisfy the constraint: its rate is " + to_text(rows.gap_rate, 6),
              "correct the start velocities");
        }
        held.push_back({k, rows.w.dense(n), rows.zeta_n});
      }
      if (r.kind == RelationKind::contact) {
        double e = 0, tangential = 0;
        system.restitution(work, static_cast<int>(k), std::max(0.0, -rows.gap_rate), e, tangential);
        if (std::isfinite(e) && !(e >= 0 && e <= 1)) {
          error(r.contact->impact.restitution, r.where + ", impact",
                "the restitution is " + to_text(e, 6) + " at the start; it must lie between 0 and 1");
        }
      }
    }
    for (int j = 0; j < compiled.tangents && !compiled.smooth_friction; ++j) {
      const auto& row = rows.tangent[j];
      if (row.mu < 0 || row.mu_static < 0) {
        report_error(r.span, r.where,
                     "the coefficient of friction is negative at the start: " +
                         to_text(std::min(row.mu, row.mu_static), 6));
      }
    }
    if (r.kind == RelationKind::joint) {
      if (r.feeds.empty() && rows.base < 0) {
        error(r.joint->normal, r.where + ", normal",
              "the normal force is negative at the start: " + to_text(rows.base, 6),
              "write abs() or max() where the sign may change");
      }
      for (std::size_t f = 0; f < r.feeds.size(); ++f) {
        if (rows.factors[f] < 0) {
          error(r.joint->normal, r.where + ", normal",
                "the normal force falls when a reaction grows: factor " + to_text(rows.factors[f], 6),
                "reactions may enter with factors ≥ 0 only");
        }
      }
    }
    // With large matrices each of these solves is work; the first contacts stand for the others.
    constexpr int kFirst = 4;
    if (r.kind == RelationKind::contact && r.has_normal && compiled.tangents > 0 && !quasi_static() &&
        (large == nullptr || static_cast<int>(k) < kFirst)) {
      const auto compliance = [&](const Row& w) {
        constexpr std::size_t kPerOperation = 16;
        budget.spend(1 + (large != nullptr ? work.factor.size() : n * (work.mass_diagonal ? 1 : n)) /
                             kPerOperation);
        solved.resize(n);
        w.write(solved.data(), n);
        system.solve_mass(work, solved.data());
        double sum = 0;
        for (std::size_t e = 0; e < w.values().size(); ++e)
          sum += w.values()[e] * solved[static_cast<std::size_t>(w.places()[e])];
        return sum;
      };
      const double normal = compliance(rows.w);
      for (int j = 0; j < compiled.tangents; ++j) {
        const double tangential = compliance(rows.tangent[j].w);
        if (tangential <= 100 * normal && normal <= 100 * tangential) continue;
        warning(r.span, r.where,
                "the gap and the slip of a contact with friction differ in scale: w·M⁻¹w is " +
                    to_text(normal, 3) + " and " + to_text(tangential, 3),
                "with friction, the gap is a length along the normal and the slip the velocity of the same "
                "point");
        break;
      }
    }
  }

  // --- redundant constraints: what they demand of the accelerations must agree ---
  for (const Contradiction& found : contradictions(held, n, budget)) {
    const RelationDraft& r = relations[found.relation];
    report_error(r.span, r.where,
                 "the " + r.where + " contradicts the other constraints: their accelerations differ by " +
                     to_text(found.difference, 6),
                 "remove it, or make it agree with the others");
  }

  if (!result.diagnostics.has_errors()) {
    std::copy(d.start.begin() + layout.closed(), d.start.begin() + layout.closed() + layout.relations,
              work.in.begin() + layout.closed());
    double kinetic_value = 0, potential_value = 0, total = 0;
    system.energies(work, kinetic_value, potential_value, total);
    for (const PotentialStep& step : potential_steps(system, work)) {
      const SwitchInfo& info = d.switches[static_cast<std::size_t>(step.number)];
      warning(spec.energy.potential.text.span, info.place,
              "the potential energy jumps from " + to_text(step.below, 6) + " to " + to_text(step.above, 6) +
                  " at " + step.at + "; a run that comes there ends",
              "write branches that meet, or a contact where a body is to be stopped");
    }
    d.start = work.in;
    d.start[static_cast<std::size_t>(layout.initial_energy())] = total;
    d.start[static_cast<std::size_t>(layout.approach_speed())] = 0;
  }
}

}  // namespace judder::model
