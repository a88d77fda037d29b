// Checks of the numbers at the start, once the structure is sound: equations of motion, inertia, relations. Each finds its own place in the text.
#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "model/builder.hpp"
#include "model/continuity.hpp"
#include "model/held_rows.hpp"

namespace judder::model {
namespace {

class StartCheck {
 public:
  explicit StartCheck(Builder& builder) : b_(builder), work_(builder.system) {}
  void run();

 private:
  double value(Node node);
  bool asked_outside_of_table();
  bool named_what_is_not_finite();
  void refuse_node_without_balance();
  void refuse_large(const Text& name, const std::string& where, const std::string& what, double x);
  void check_sizes();
  bool inertia_is_positive();
  void refuse_inertia(const std::vector<double>& l, std::size_t i, std::size_t first, double diagonal,
                      double left);
  bool check_relation(std::size_t k);
  void check_contact(std::size_t k, const RelationRows& rows, double reach);
  void check_constraint(std::size_t k, const RelationRows& rows, double reach, double pace);
  void check_friction(std::size_t k, const RelationRows& rows);
  void compare_scales(std::size_t k, const RelationRows& rows);
  void check_redundant();
  void keep_start();

  Builder& b_;
  System::Data& d_ = b_.data();
  const Layout& layout_ = d_.layout;
  const std::size_t n_ = b_.coordinates.size();
  Workspace work_;
  std::vector<double> solved_;
  std::vector<HeldRow> held_;  ///< rows of constraints
};

/// Registers of a program made here may exceed those of the System.
double StartCheck::value(Node node) {
  const expr::Program p = b_.program(std::span<const Node>(&node, 1));
  if (static_cast<int>(work_.registers.size()) < p.registers())
    work_.registers.resize(static_cast<std::size_t>(p.registers()));
  double out = 0;
  p.evaluate(work_.in.data(), &out, work_.registers.data());
  return out;
}

/// What is not finite may come from a table that is asked outside of its points.
bool StartCheck::asked_outside_of_table() {
  for (const expr::TableUse& use : b_.graph.table_uses()) {
    const double at = value(use.argument);
    if (!(at < use.from || at > use.to)) continue;
    const auto table = std::find_if(b_.spec.tables.begin(), b_.spec.tables.end(),
                                    [&](const Table& each) { return each.name.text == use.table; });
    if (table == b_.spec.tables.end()) continue;
    b_.error(table->name, "table " + quoted(use.table),
             "the table " + quoted(use.table) + " reaches from " + to_text(use.from, 9) + " to " +
                 to_text(use.to, 9) + " and is asked at " + to_text(at, 9) + " at the start",
             "start inside of it, or say what it gives outside: outside = \"hold\" or \"zero\"");
    return true;
  }
  return false;
}

bool StartCheck::named_what_is_not_finite() {
  bool named = false;
  for (std::size_t i = 0; i < n_; ++i) {
    if (std::isfinite(value(b_.force[i]))) continue;
    b_.error(b_.coordinates[i].spec->name, "coordinate '" + b_.coordinates[i].name + "'",
             "the force on " + quoted(b_.coordinates[i].name) + " is not a finite number at the start");
    named = true;
  }
  for (const StateDraft& s : b_.states) {
    if (std::isfinite(value(s.rate))) continue;
    b_.report_error(s.spec ? s.spec->rate.text.span : Span{}, "state '" + s.name + "', rate",
                    "the rate of " + quoted(s.name) + " is not a finite number at the start");
    named = true;
  }
  return named;
}

void StartCheck::refuse_node_without_balance() {
  // With every joint slipping there is a balance: it is their rest that holds the node twice.
  for (const MasslessSystem::Slider& slider : d_.follow.sliders)
    work_.in[static_cast<std::size_t>(slider.direction)] = 1;
  const bool held_twice = !d_.follow.sliders.empty() && b_.system.motion(work_);
  for (std::size_t i = 0; i < n_; ++i) {
    if (!d_.massless[i]) continue;
    const std::string name = quoted(b_.coordinates[i].name);
    if (held_twice)
      b_.error(b_.coordinates[i].spec->name, "coordinate '" + b_.coordinates[i].name + "'",
               "more friction joints hold massless coordinates, such as " + name +
                   ", than there are: what each of them carries at rest is not determined",
               "give each joint a node of its own, or the node inertia");
    else
      b_.error(b_.coordinates[i].spec->name, "coordinate '" + b_.coordinates[i].name + "'",
               "the balance of forces does not determine the massless coordinate " + name,
               "it needs a spring or a damper of its own, or inertia");
    break;
  }
}

/// Energies and error measures are squares of these: beyond the root of the largest number there is nothing to compute with.
void StartCheck::refuse_large(const Text& name, const std::string& where, const std::string& what, double x) {
  if (!(std::abs(x) > kLargest)) return;
  b_.error(name, where,
           what + " is " + to_text(x, 3) +
               " at the start, and squares of such numbers overflow; the most is " + to_text(kLargest),
           "write the model in other units");
}

void StartCheck::check_sizes() {
  for (std::size_t i = 0; i < n_; ++i) {
    const CoordinateDraft& c = b_.coordinates[i];
    const std::string where = "coordinate '" + c.name + "'";
    refuse_large(c.spec->name, where, "the force on " + quoted(c.name), work_.force[i]);
    refuse_large(c.spec->name, where, "the coordinate " + quoted(c.name),
                 work_.in[static_cast<std::size_t>(layout_.q()) + i]);
    refuse_large(c.spec->name, where, "the velocity of " + quoted(c.name),
                 work_.in[static_cast<std::size_t>(layout_.v()) + i]);
  }
  for (std::size_t i = 0; i < b_.states.size(); ++i) {
    const Text name = b_.states[i].spec != nullptr ? b_.states[i].spec->name : Text{};
    refuse_large(name, "state '" + b_.states[i].name + "'", "the state " + quoted(b_.states[i].name),
                 work_.in[static_cast<std::size_t>(layout_.z()) + i]);
    refuse_large(name, "state '" + b_.states[i].name + "'", "the rate of " + quoted(b_.states[i].name),
                 work_.rate[i]);
  }
}

/// The Cholesky factor row by row: the first row that adds nothing names the coordinate.
bool StartCheck::inertia_is_positive() {
  const std::size_t k = d_.massive.size();
  std::vector<double> l(k * k, 0.0);
  constexpr std::size_t kPerOperation = 16;
  for (std::size_t i = 0; i < k; ++i) {
    const auto row = static_cast<std::size_t>(d_.massive[i]);
    std::size_t first = 0;  // what is zero before the first entry of a row stays zero
    while (first < i && b_.is_zero(b_.mass[row * n_ + static_cast<std::size_t>(d_.massive[first])])) ++first;
    for (std::size_t j = first; j <= i; ++j) {
      double sum = value(b_.mass[row * n_ + static_cast<std::size_t>(d_.massive[j])]);
      const double diagonal = sum;
      for (std::size_t c = first; c < j; ++c) sum -= l[i * k + c] * l[j * k + c];
      b_.budget.spend(1 + (j - first) / kPerOperation);
      if (j < i) {
        l[i * k + j] = sum / l[j * k + j];
        continue;
      }
      if (!(sum > 4 * static_cast<double>(k) * 2.220446049250313e-16 * std::abs(diagonal))) {
        refuse_inertia(l, i, first, diagonal, sum);
        return false;
      }
      l[i * k + i] = std::sqrt(sum);
    }
  }
  return true;
}

/// Row i of the mass matrix adds the pivot `left`, which is no inertia. `l`: the Cholesky factor of the rows before it and, from `first` on, its row.
void StartCheck::refuse_inertia(const std::vector<double>& l, std::size_t i, std::size_t first,
                                double diagonal, double left) {
  const std::vector<int>& massive = d_.massive;
  const std::size_t k = massive.size();
  const CoordinateDraft& c = b_.coordinates[static_cast<std::size_t>(massive[i])];
  const std::string where = "coordinate '" + c.name + "'";
  const double rounding = 4 * static_cast<double>(k) * 2.220446049250313e-16 * std::abs(diagonal);
  const std::string indefinite = "the mass matrix is not positive definite at the start: ";
  if (diagonal == 0 && left == 0) {
    b_.error(c.spec->name, where, "the coordinate " + quoted(c.name) + " has no inertia",
             "give it kinetic energy, or write massless = true");
    return;
  }
  if (std::abs(left) <= rounding) {
    b_.error(c.spec->name, where, indefinite + quoted(c.name) + " has no inertia of its own",
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
    motion += b_.coordinates[static_cast<std::size_t>(massive[j])].name + "' = " + to_text(v[j], 4) + ", ";
  }
  if (named > kMost) motion += "…, ";
  b_.error(c.spec->name, where,
           indefinite + motion + c.name + "' = 1 has the kinetic energy " + to_text(0.5 * left, 4),
           "every motion has positive kinetic energy: look for a sign, or for a coupling that is too large");
}

void StartCheck::check_contact(std::size_t k, const RelationRows& rows, double reach) {
  const RelationDraft& r = b_.relations[k];
  double* closed = &d_.start[static_cast<std::size_t>(layout_.closed()) + k];
  const Value& written = r.contact->gap;
  *closed = rows.gap <= kRoundOff * reach ? 1 : 0;
  if (rows.gap < -kRoundOff * reach) {
    b_.error(written, r.where + ", gap", "the gap is negative at the start: " + to_text(rows.gap, 6),
             "move the start, or make the contact compliant");
  }
  if (*closed != 0 && rows.w.vanishes()) {
    b_.error(written, r.where + ", gap", "the normal of the closed contact vanishes at the start",
             "a gap must change with its coordinates where it is zero; write it as a distance");
  }
  double e = 0, tangential = 0;
  b_.system.restitution(work_, static_cast<int>(k), std::max(0.0, -rows.gap_rate), e, tangential);
  if (std::isfinite(e) && !(e >= 0 && e <= 1)) {
    b_.error(r.contact->impact.restitution, r.where + ", impact",
             "the restitution is " + to_text(e, 6) + " at the start; it must lie between 0 and 1");
  }
}

void StartCheck::check_constraint(std::size_t k, const RelationRows& rows, double reach, double pace) {
  const RelationDraft& r = b_.relations[k];
  const Value& written = r.constraint->zero.given ? r.constraint->zero : r.constraint->velocity;
  if (r.holonomic && std::abs(rows.gap) > kRoundOff * reach) {
    b_.error(written, r.where + ", zero",
             "the constraint is not satisfied at the start: it is " + to_text(rows.gap, 6),
             "correct the start values by this amount");
  } else if (!b_.quasi_static() && std::abs(rows.gap_rate) > kRoundOff * pace) {
    // Without inertia a start has no velocities: the path has those that its constraints ask for.
    b_.error(written, r.where,
             "the start velocities do not satisfy the constraint: its rate is " + to_text(rows.gap_rate, 6),
             "correct the start velocities");
  }
  held_.push_back({k, rows.w.dense(n_), rows.zeta_n});
}

void StartCheck::check_friction(std::size_t k, const RelationRows& rows) {
  const RelationDraft& r = b_.relations[k];
  const Relation& compiled = d_.relations[k];
  for (int j = 0; j < compiled.tangents && !compiled.smooth_friction; ++j) {
    const auto& row = rows.tangent[j];
    if (row.mu < 0 || row.mu_static < 0) {
      b_.report_error(r.span, r.where,
                      "the coefficient of friction is negative at the start: " +
                          to_text(std::min(row.mu, row.mu_static), 6));
    }
  }
  if (r.kind == RelationKind::joint) {
    if (r.feeds.empty() && rows.base < 0) {
      b_.error(r.joint->normal, r.where + ", normal",
               "the normal force is negative at the start: " + to_text(rows.base, 6),
               "write abs() or max() where the sign may change");
    }
    for (std::size_t f = 0; f < r.feeds.size(); ++f) {
      if (rows.factors[f] < 0) {
        b_.error(r.joint->normal, r.where + ", normal",
                 "the normal force falls when a reaction grows: factor " + to_text(rows.factors[f], 6),
                 "reactions may enter with factors ≥ 0 only");
      }
    }
  }
}

/// With large matrices each of these solves is work; the first contacts stand for the others.
void StartCheck::compare_scales(std::size_t k, const RelationRows& rows) {
  constexpr int kFirst = 4;
  const RelationDraft& r = b_.relations[k];
  const Relation& compiled = d_.relations[k];
  if (r.kind != RelationKind::contact || !r.has_normal || compiled.tangents == 0 || b_.quasi_static() ||
      (b_.large != nullptr && static_cast<int>(k) >= kFirst))
    return;
  const auto compliance = [&](const Row& w) {
    constexpr std::size_t kPerOperation = 16;
    b_.budget.spend(1 + (b_.large != nullptr ? work_.factor.size() : n_ * (work_.mass_diagonal ? 1 : n_)) /
                            kPerOperation);
    solved_.resize(n_);
    w.write(solved_.data(), n_);
    b_.system.solve_mass(work_, solved_.data());
    double sum = 0;
    for (std::size_t e = 0; e < w.values().size(); ++e)
      sum += w.values()[e] * solved_[static_cast<std::size_t>(w.places()[e])];
    return sum;
  };
  const double normal = compliance(rows.w);
  for (int j = 0; j < compiled.tangents; ++j) {
    const double tangential = compliance(rows.tangent[j].w);
    if (tangential <= 100 * normal && normal <= 100 * tangential) continue;
    b_.warning(r.span, r.where,
               "the gap and the slip of a contact with friction differ in scale: w·M⁻¹w is " +
                   to_text(normal, 3) + " and " + to_text(tangential, 3),
               "with friction, the gap is a length along the normal and the slip the velocity of the same "
               "point");
    break;
  }
}

/// False: what is left need not be looked at.
bool StartCheck::check_relation(std::size_t k) {
  const RelationDraft& r = b_.relations[k];
  const RelationRows& rows = b_.system.rows(work_, static_cast<int>(k));
  const Relation& compiled = d_.relations[k];
  bool finite = std::isfinite(rows.gap) && std::isfinite(rows.gap_rate) && std::isfinite(rows.base) &&
                std::isfinite(rows.zeta_n);
  for (const double x : work_.row_memory[k]) finite = finite && std::isfinite(x);
  if (!finite && asked_outside_of_table()) return false;
  if (!finite) {
    b_.report_error(r.span, r.where, "a value of the " + r.where + " is not a finite number at the start");
    return true;
  }
  if (r.has_normal) {
    const double* q = work_.in.data() + layout_.q();
    const double* v = work_.in.data() + layout_.v();
    const double time = work_.in[0];
    double reach = std::abs(rows.gap_time * time), pace = std::abs(rows.gap_time);
    for (const int i : compiled.touches) {
      reach += std::abs(rows.w[i] * q[i]);
      pace += std::abs(rows.w[i] * v[i]);
    }
    if (r.kind == RelationKind::contact) {
      check_contact(k, rows, reach);
    } else {
      check_constraint(k, rows, reach, pace);
    }
  }
  check_friction(k, rows);
  compare_scales(k, rows);
  return true;
}

/// What redundant constraints demand of the accelerations must agree.
void StartCheck::check_redundant() {
  for (const Contradiction& found : contradictions(held_, n_, b_.budget)) {
    const RelationDraft& r = b_.relations[found.relation];
    b_.report_error(r.span, r.where,
                    "the " + r.where + " contradicts the other constraints: their accelerations differ by " +
                        to_text(found.difference, 6),
                    "remove it, or make it agree with the others");
  }
}

void StartCheck::keep_start() {
  std::copy(d_.start.begin() + layout_.closed(), d_.start.begin() + layout_.closed() + layout_.relations,
            work_.in.begin() + layout_.closed());
  double kinetic_value = 0, potential_value = 0, total = 0;
  b_.system.energies(work_, kinetic_value, potential_value, total);
  for (const PotentialStep& step : potential_steps(b_.system, work_)) {
    const SwitchInfo& info = d_.switches[static_cast<std::size_t>(step.number)];
    b_.warning(b_.spec.energy.potential.text.span, info.place,
               "the potential energy jumps from " + to_text(step.below, 6) + " to " + to_text(step.above, 6) +
                   " at " + step.at + "; a run that comes there ends",
               "write branches that meet, or a contact where a body is to be stopped");
  }
  d_.start = work_.in;
  d_.start[static_cast<std::size_t>(layout_.initial_energy())] = total;
  d_.start[static_cast<std::size_t>(layout_.approach_speed())] = 0;
}

void StartCheck::run() {
  const bool moving = b_.system.motion(work_);
  if (!moving) {
    if (asked_outside_of_table() || named_what_is_not_finite()) return;
    if (!d_.follow.unknown.empty() && !work_.mass_failed) {
      refuse_node_without_balance();
      return;
    }
  }
  check_sizes();
  if (b_.large != nullptr && work_.mass_failed) {
    b_.report_error(b_.spec.matrices.mass.span, "matrices, mass", "the mass matrix is not positive definite");
    return;
  }
  if (!b_.quasi_static() && b_.large == nullptr && !inertia_is_positive()) return;
  if (!moving) {
    b_.report_error({}, "", "the equations of motion give no finite numbers at the start");
    return;
  }
  for (std::size_t k = 0; k < b_.relations.size(); ++k) {
    if (!check_relation(k)) return;
  }
  check_redundant();
  if (!b_.result.diagnostics.has_errors()) keep_start();
}

}  // namespace

void check_start(Builder& builder) { StartCheck(builder).run(); }

}  // namespace judder::model
