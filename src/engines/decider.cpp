#include "decider.hpp"

#include <algorithm>
#include <cmath>

#include "judder/contact/painleve.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

using contact::RowStatus;

constexpr double kTieTolerance =
    1e-9;  ///< a Taylor coefficient below this share of its row's scale counts as zero
constexpr int kTieOrder = expr::kTaylorOrder;

TangentStatus tangent_status(RowStatus status) {
  switch (status) {
    case RowStatus::stick:
      return TangentStatus::stick;
    case RowStatus::slip_plus:
      return TangentStatus::slip_plus;
    case RowStatus::slip_minus:
      return TangentStatus::slip_minus;
    case RowStatus::follows:
      return TangentStatus::smooth;
    default:
      return TangentStatus::free;
  }
}

}  // namespace

void Decider::Exclusions::clear() {
  std::fill(normal.begin(), normal.end(), std::uint16_t{0});
  std::fill(tangent.begin(), tangent.end(), std::uint16_t{0});
}

Decider::Decider(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), assembly_(system, work), known_(system, work), series_(system, work) {
  const model::Layout& layout = system.layout();
  workspace_.expect(layout.relations, layout.tangents);
  part_.resize(layout.relations);
  state_.resize(layout.tangents);
  excluded_.resize(layout.relations + layout.tangents);
  force_floor.resize(layout.relations + layout.tangents);
}

Decider::Exclusions Decider::no_exclusions() const {
  return {std::vector<std::uint16_t>(system_.layout().relations, 0),
          std::vector<std::uint16_t>(system_.layout().tangents, 0)};
}

void Decider::apply(std::span<const RowAssembly::Row> rows, std::span<const RowStatus> statuses,
                    Mode& mode) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowAssembly::Row& row = rows[i];
    if (row.tangent >= 0) {
      // Without normal force a row is free to move; its slip is kept, unless its own contact opens (below).
      if (statuses[i] != RowStatus::free) mode.tangent[row.number] = tangent_status(statuses[i]);
      continue;
    }
    const model::Relation& relation = system_.relations()[row.relation];
    mode.pressed[row.relation] = statuses[i] == RowStatus::held_plus    ? 1
                                 : statuses[i] == RowStatus::held_minus ? -1
                                                                        : 0;
    mode.normal[row.relation] = statuses[i] == RowStatus::open     ? NormalStatus::open
                                : statuses[i] == RowStatus::closed ? NormalStatus::closed
                                                                   : NormalStatus::held;
    if (statuses[i] == RowStatus::open) {
      for (int j = 0; j < relation.tangents; ++j)
        mode.tangent[relation.first_tangent + j] = TangentStatus::free;
    }
  }
  for (const RowAssembly::Row& row : rows) {
    if (row.tangent < 0) continue;
    const model::Relation& relation = system_.relations()[row.relation];
    if (relation.has_normal && mode.normal[row.relation] == NormalStatus::open)
      mode.tangent[row.number] = TangentStatus::free;
  }
}

Decider::Sign Decider::judge(const Mode& mode) {
  if (!series_.compute(mode, kTieOrder)) return Sign::undecided;
  const double tau = series_.time_scale();
  // First coefficient from `from` on that is not zero relative to `scale`.
  const auto first = [tau](const expr::Series& s, int from, int to, double scale, double sign) {
    double power = std::pow(tau, from);
    for (int k = from; k <= to; ++k, power *= tau) {
      const double value = sign * s.c[k] * power;
      if (std::abs(value) > kTieTolerance * scale) return value > 0 ? Sign::positive : Sign::negative;
    }
    return Sign::undecided;
  };
  Sign worst = Sign::positive;
  const auto take = [&worst](Sign sign) {
    if (sign == Sign::negative || worst == Sign::negative) {
      worst = Sign::negative;
    } else if (sign == Sign::undecided) {
      worst = Sign::undecided;
    }
  };
  const int order = series_.order();
  for (int i = 0; i < assembly_.size() && worst != Sign::negative; ++i) {
    const RowAssembly::Row& row = assembly_[i];
    const double force = assembly_.force_scale[i];
    const double acceleration = assembly_.acceleration_scale[i];
    if (row.tangent < 0) {
      if (mode.normal[row.relation] == NormalStatus::open) {
        take(first(series_.gap(row.relation), 2, order, acceleration * tau * tau, 1));
      } else if (!series_.unique(row.relation, -1)) {
        continue;  // some reaction will do: the margin of all of them guards it
      } else if (mode.normal[row.relation] == NormalStatus::closed) {
        take(first(series_.normal(row.relation), 0, order - 1, force, 1));
      } else if (mode.pressed[row.relation] != 0) {
        take(first(series_.normal(row.relation), 0, order - 1, force, mode.pressed[row.relation]));
      }
      continue;
    }
    switch (mode.tangent[row.number]) {
      case TangentStatus::stick:
        if (!series_.unique(row.relation, row.tangent)) break;
        take(first(series_.cone(row.relation, row.tangent, 1), 0, order - 1, force, 1));
        take(first(series_.cone(row.relation, row.tangent, -1), 0, order - 1, force, 1));
        break;
      case TangentStatus::slip_plus:
      case TangentStatus::slip_minus:
        if (state_[i - assembly_.normals()] != contact::TangentState::rest) break;
        take(first(series_.slip(row.relation, row.tangent), 1, order, acceleration * tau,
                   direction(mode.tangent[row.number])));
        break;
      default:
        break;
    }
  }
  return worst;
}

// k and a of the contact that failed, seen alone, where it slips: ": k = -0.85, a = -9.8".
std::string Decider::paradox_words(const contact::DecisionProblem& problem, const Mode& mode) {
  int normal = -1;
  int tangent = -1;
  for (int i = 0; i < assembly_.size(); ++i) {
    if (assembly_[i].relation == failed_) (assembly_[i].tangent < 0 ? normal : tangent) = i;
  }
  const model::Relation& relation = system_.relations()[failed_];
  if (normal < 0 || tangent < 0 || relation.tangents != 1 ||
      direction(mode.tangent[relation.first_tangent]) == 0)
    return {};
  std::vector<RowStatus> statuses;
  assembly_.statuses(mode, statuses);
  const contact::SlidingContact alone =
      contact::sliding_contact(problem, statuses, normal, tangent - assembly_.normals());
  if (contact::regular(alone.sliding)) return {};
  std::string words =
      alone.kind == contact::NormalKind::bilateral
          ? ": friction of a constraint with mu*|b| = " + to_text(alone.mu * std::abs(alone.A_NT), 6) +
                " >= k = " + to_text(alone.A_NN, 6)
          : ": k = " + to_text(alone.k, 6);
  return words + ", a = " + to_text(alone.b_N, 6);
}

Status Decider::decide(Mode& mode, const Exclusions& exclusions, double tolerance) {
  const model::Layout& layout = system_.layout();
  Status status;
  status.time = work_.in[0];
  failed_ = -1;
  undecided_ = 0;
  reactions_unique_ = true;
  unchecked_ = false;
  for (int k = 0; k < layout.switches; ++k) work_.in[layout.side() + k] = mode.side[k];
  for (int j = 0; j < layout.tangents; ++j) work_.in[layout.direction() + j] = direction(mode.tangent[j]);
  int rows = 0;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    work_.in[layout.closed() + r] = mode.normal[r] == NormalStatus::open ? 0 : 1;
    part_[r] = mode.normal[r] != NormalStatus::open && (relation.has_normal || relation.tangents > 0) ? 1 : 0;
    rows += part_[r];
  }
  if (rows == 0) return status;
  if (!system_.motion(work_)) {
    status.reason = work_.mass_failed ? Reason::singular_mass : Reason::not_finite;
    status.message =
        work_.mass_failed ? "the mass matrix is not positive definite" : "the forces are not finite numbers";
    return status;
  }

  const bool constant = tolerance == contact::DecisionOptions{}.tolerance &&
                        known_.look_up(part_, mode.tangent, exclusions.normal, exclusions.tangent);
  if (constant) {
    const std::span<const RowStatus> statuses = known_.find(force_floor);
    if (!statuses.empty()) {
      apply(known_.rows(), statuses, mode);
      return status;
    }
  }

  Exclusions& excluded = excluding_;
  excluded.normal.assign(exclusions.normal.begin(), exclusions.normal.end());
  excluded.tangent.assign(exclusions.tangent.begin(), exclusions.tangent.end());
  for (int round = 0; round <= layout.tangents + 1; ++round) {
    assembly_.assemble(part_, false);
    const int normals = assembly_.normals();
    for (int i = 0; i < assembly_.size(); ++i) {
      const RowAssembly::Row& row = assembly_[i];
      const double floor = force_floor[row.tangent < 0 ? row.relation : layout.relations + row.number];
      assembly_.force_scale[i] = std::max(assembly_.force_scale[i], floor);
      // A force of its usual size moves every row: what it leaves behind when it vanishes is rounding of that size.
      for (int k = 0; k < assembly_.size(); ++k) {
        const double moved = floor * std::abs(assembly_.A[k * assembly_.size() + i]);
        assembly_.acceleration_scale[k] = std::max(assembly_.acceleration_scale[k], moved);
      }
      if (row.tangent < 0) {
        excluded_[i] = excluded.normal[row.relation];
        continue;
      }
      excluded_[i] = excluded.tangent[row.number];
      const model::Relation& relation = system_.relations()[row.relation];
      const TangentStatus known = mode.tangent[row.number];
      state_[i - normals] = relation.smooth_friction             ? contact::TangentState::follows
                            : known == TangentStatus::slip_plus  ? contact::TangentState::slip_plus
                            : known == TangentStatus::slip_minus ? contact::TangentState::slip_minus
                                                                 : contact::TangentState::rest;
    }
    contact::DecisionProblem problem;
    problem.normals = normals;
    problem.tangents = assembly_.tangents();
    problem.A = assembly_.A.data();
    problem.b = assembly_.b.data();
    problem.kind = assembly_.kind.data();
    problem.state = state_.data();
    problem.mu_static = assembly_.mu_static.data();
    problem.mu_slip = assembly_.mu_slip.data();
    problem.base = assembly_.base.data();
    problem.coupling = assembly_.coupling.data();
    problem.excluded = excluded_.data();
    problem.force_scale = assembly_.force_scale.data();
    problem.acceleration_scale = assembly_.acceleration_scale.data();
    contact::DecisionOptions options;
    options.tolerance = tolerance;
    if (constant && round == 0) known_.learn(problem, options, assembly_, workspace_);
    const contact::Decision decision = contact::decide(problem, options, workspace_);
    reactions_unique_ = decision.reactions_unique;
    unchecked_ = decision.verdict == contact::Verdict::found_unchecked;
    if (!decision.found()) {
      failed_ = decision.row >= 0 ? assembly_[decision.row].relation : assembly_[0].relation;
      status.reason =
          decision.verdict == contact::Verdict::indeterminate ? Reason::indeterminate : Reason::inconsistent;
      status.where = system_.relations()[failed_].place;
      status.message = decision.verdict == contact::Verdict::indeterminate
                           ? "several motions satisfy contact and friction here (" +
                                 std::to_string(decision.candidates) + " modes)"
                       : decision.verdict == contact::Verdict::inconsistent
                           ? "no finite reaction satisfies contact and friction here (all " +
                                 std::to_string(decision.modes_tried) + " modes tried)"
                           : "no reaction was found; absence is not proved";
      if (decision.verdict != contact::Verdict::not_found) status.message += paradox_words(problem, mode);
      return status;
    }
    if (decision.candidates <= 1) {
      apply(assembly_.rows(), decision.mode, mode);
      return status;
    }

    candidates_.assign(decision.candidate_modes.begin(), decision.candidate_modes.end());
    const int size = assembly_.size();
    Mode& chosen = chosen_;
    chosen = mode;
    bool found = false;
    bool undecided = false;
    int pick = 0;
    for (int c = 0; c < decision.candidates && !found; ++c) {
      Mode& trial = trial_;
      trial = mode;
      apply(assembly_.rows(), std::span(candidates_).subspan(c * size, size), trial);
      const Sign sign = judge(trial);
      if (sign == Sign::positive || (sign == Sign::undecided && !undecided)) {
        chosen = trial;
        pick = c;
        found = sign == Sign::positive;
        undecided = true;
      }
    }
    if (!found) {
      ++undecided_;
      if (!undecided) apply(assembly_.rows(), std::span(candidates_).first(size), chosen);
    }
    // A row that the tie releases from rest slips with its own coefficient: decide the others again.
    bool again = false;
    for (int i = normals; i < size; ++i) {
      const RowStatus row_status = candidates_[pick * size + i];
      const bool released = state_[i - normals] == contact::TangentState::rest &&
                            (row_status == RowStatus::slip_plus || row_status == RowStatus::slip_minus) &&
                            assembly_.mu_static[i - normals] != assembly_.mu_slip[i - normals] &&
                            (excluded.tangent[assembly_[i].number] & contact::bit(RowStatus::stick)) == 0;
      if (!released) continue;
      excluded.tangent[assembly_[i].number] |= contact::bit(RowStatus::stick);
      again = true;
    }
    if (!again) {
      mode = chosen;
      return status;
    }
  }
  status.reason = Reason::inconsistent;
  status.message = "the decision between stick and slip did not settle";
  return status;
}

}  // namespace judder::engines
