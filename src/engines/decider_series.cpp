// What the Taylor series of the motion tell a decision that accelerations leave open: ties between modes, rows that nothing presses yet, loads and friction that
// begin with zero, and rows that drives pull apart in a higher order. A guard is judged by its first coefficient that is not zero (motion_series.hpp).
#include <algorithm>
#include <array>
#include <cmath>

#include "core/elementary.hpp"
#include "decider.hpp"

namespace judder::engines {
namespace {

using contact::RowStatus;

constexpr int kTieOrder = expr::kTaylorOrder;
constexpr int kNoOrder = 1000;  ///< later than any order
constexpr double kAhead =
    1e-3;  ///< share that what begins with zero has reached: small, and far above what counts as the same acceleration

}  // namespace

// The series of the trial, to the highest order that it has: the force of a contact with the exponent 1.5 has two at the touch.
bool Decider::follow_series(double size, std::span<const std::uint8_t> from_rest) {
  // Functions from outside may be known to any order.
  const bool all = !system_.graph().outside().empty();
  for (int order = kTieOrder; order >= 1; --order) {
    if (!all && order > kTieOrder / 2 && order < kTieOrder) continue;
    if (series_.compute(trial_, order, size, from_rest)) return true;
  }
  return false;
}

// The sign of the first coefficient from `from` to `to` that is more than rounding of `size`; 0: none.
int Decider::first_sign(const expr::Series& s, int from, int to, double size) const {
  double power = elementary::whole_pow(series_.time_scale(), from);
  for (int k = from; k <= to; ++k, power *= series_.time_scale()) {
    if (std::abs(s.c[k]) * power > kTieTolerance * size) return s.c[k] > 0 ? 1 : -1;
  }
  return 0;
}

// Largest term of the series.
double Decider::series_size(const expr::Series& s, int from, int to) const {
  double size = 0;
  double power = elementary::whole_pow(series_.time_scale(), from);
  for (int k = from; k <= to; ++k, power *= series_.time_scale())
    size = std::max(size, std::abs(s.c[k]) * power);
  return size;
}

// Where a row at rest that nothing presses would slip to, with the statuses of the others as in `mode`.
TangentStatus Decider::direction_unloaded(const Mode& mode, const RowAssembly::Row& row) {
  for (const TangentStatus status : {TangentStatus::slip_plus, TangentStatus::slip_minus}) {
    trial_ = mode;
    trial_.tangent[row.number] = status;
    if (!follow_series()) continue;
    const expr::Series slip = series_.slip(row.relation, row.tangent);
    const int sign = first_sign(slip, 1, series_.order(), series_size(slip, 1, series_.order()));
    if (sign != 0 && sign == direction(status)) return status;
    // It may slip all the same where functions from outside do not give the derivative that would tell.
    if (sign == 0 && !system_.graph().outside().empty() &&
        (series_.order() < kTieOrder || std::isnan(slip.c[series_.order()])))
      ++undecided_;
  }
  return TangentStatus::stick;
}

// Whether every row that nothing presses moves as its status in `mode` says, from the first derivative on that tells.
bool Decider::unloaded_agree(const Mode& mode) {
  trial_ = mode;
  if (!follow_series()) return true;
  const int order = series_.order();
  for (const RowAssembly::Row& row : unloaded_) {
    const TangentStatus status = mode.tangent[row.number];
    if (direction(status) != 0) {
      const expr::Series slip = series_.slip(row.relation, row.tangent);
      if (direction(status) * first_sign(slip, 1, order, series_size(slip, 1, order)) < 0) return false;
    } else if (status == TangentStatus::stick && series_.unique(row.relation, row.tangent)) {
      const expr::Series above = series_.cone(row.relation, row.tangent, 1);
      const expr::Series below = series_.cone(row.relation, row.tangent, -1);
      const double size = std::max(series_size(above, 0, order - 1), series_size(below, 0, order - 1));
      if (first_sign(above, 0, order - 1, size) < 0 || first_sign(below, 0, order - 1, size) < 0)
        return false;
    }
  }
  return shared_loads_hold(order);
}

// Rows at rest that share what they hold: some share must do, and where nothing presses any of them there is none.
bool Decider::shared_loads_hold(int order) {
  if (!series_.redundant()) return true;
  std::fill(chosen_.begin(), chosen_.end(), std::uint8_t{0});
  bool shares = false;
  for (const RowAssembly::Row& row : unloaded_) {
    if (trial_.tangent[row.number] != TangentStatus::stick || series_.unique(row.relation, row.tangent))
      continue;
    chosen_[row.relation] = 1;
    shares = true;
  }
  if (!shares) return true;
  if (!series_.list_conditions(chosen_, conditions_)) {
    // No conditions while belts move: but what nothing presses holds nothing, unless something that is pressed shares it.
    for (const RowAssembly::Row& row : rows_) {
      const bool pressed =
          std::none_of(unloaded_.begin(), unloaded_.end(), [&row](const RowAssembly::Row& other) {
            return other.relation == row.relation && other.tangent == row.tangent;
          });
      const bool holds = row.tangent < 0 ? trial_.normal[row.relation] != NormalStatus::open
                                         : trial_.tangent[row.number] == TangentStatus::stick;
      if (pressed && holds && !series_.unique(row.relation, row.tangent)) return true;
    }
    for (const RowAssembly::Row& row : unloaded_) {
      if (trial_.tangent[row.number] != TangentStatus::stick) continue;
      for (const int side : {1, -1}) {
        const expr::Series margin = series_.cone(row.relation, row.tangent, side);
        if (first_sign(margin, 0, 0, series_size(margin, 0, 0)) < 0) return false;
      }
    }
    return true;
  }
  for (int c = 0; c < conditions_.size(); ++c) {
    const expr::Series margin = series_.condition(conditions_[c]);
    if (first_sign(margin, 0, order - 1, series_size(margin, 0, order - 1)) < 0) return false;
  }
  return true;
}

// Rows at rest that nothing presses hold nothing: they slip to where the motion goes without them, from the first derivative on that tells. Only if
// neither direction is confirmed, because the load grows with the motion, they stay at rest. Where load and limits grow from zero together, the
// rows depend on each other, and all statuses are tried.
void Decider::direct_unloaded(Mode& mode, const Exclusions& exclusions) {
  constexpr std::size_t kMostTried = 6;
  constexpr int kSlips = contact::bit(RowStatus::slip_plus) | contact::bit(RowStatus::slip_minus);
  std::erase_if(unloaded_, [&](const RowAssembly::Row& row) {
    const bool stays = (exclusions.tangent[row.number] & kSlips) == kSlips;  // its load only touches zero
    return stays || mode.tangent[row.number] != TangentStatus::stick;        // or its contact has opened
  });
  if (unloaded_.empty()) return;
  directed_ = mode;
  for (const RowAssembly::Row& row : unloaded_)
    directed_.tangent[row.number] = direction_unloaded(directed_, row);
  if (unloaded_.size() == 1 || unloaded_agree(directed_) || unloaded_.size() > kMostTried) {
    mode = directed_;
    return;
  }
  constexpr std::array<TangentStatus, 3> kStatuses = {TangentStatus::stick, TangentStatus::slip_plus,
                                                      TangentStatus::slip_minus};
  int combinations = 1;
  for (std::size_t k = 0; k < unloaded_.size(); ++k) combinations *= 3;
  // Rest is kept wherever it can be: combinations with most rows at rest first.
  for (int slipping = 0; slipping <= static_cast<int>(unloaded_.size()); ++slipping) {
    for (int c = 0; c < combinations; ++c) {
      int slips = 0;
      int rest = c;
      attempt_ = mode;
      for (const RowAssembly::Row& row : unloaded_) {
        attempt_.tangent[row.number] = kStatuses[rest % 3];
        slips += rest % 3 != 0 ? 1 : 0;
        rest /= 3;
      }
      if (slips != slipping || !unloaded_agree(attempt_)) continue;
      mode = attempt_;
      return;
    }
  }
  mode = directed_;
}

// The guards of these rows, in the series last computed.
Decider::Judgement Decider::judge(const Mode& mode, const Tie& tie) {
  const std::span<const int> rows = blocks_.rows(tie.block);
  const std::span<const RowStatus> statuses = choice(tie);
  negative_.clear();
  const double tau = series_.time_scale();
  Judgement worst;
  // First coefficient from `from` on that is not zero relative to `scale`.
  const auto take = [&](const expr::Series& s, int from, int to, double scale, double sign) {
    double power = elementary::whole_pow(tau, from);
    for (int k = from; k <= to; ++k, power *= tau) {
      const double value = sign * s.c[k] * power;
      if (!(std::abs(value) > kTieTolerance * scale)) continue;
      if (value > 0) return;
      if (worst.sign != Sign::negative || k - from < worst.order) negative_.clear();
      if (worst.sign == Sign::negative && k - from > worst.order) return;
      worst = {Sign::negative, k - from};
      for (const int i : judged_) {
        if (std::find(negative_.begin(), negative_.end(), i) == negative_.end()) negative_.push_back(i);
      }
      return;
    }
    if (worst.sign != Sign::negative) worst = {Sign::undecided, kNoOrder};
  };
  const int order = series_.order();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const int i = rows[k];
    judged_.assign(1, i);
    const RowAssembly::Row& row = assembly_[i];
    // What nothing presses neither rests nor slips yet: it is directed when all others are decided.
    if (statuses[k] == RowStatus::free) continue;
    const double force = force_scale_[i];
    const double acceleration = acceleration_scale_[i];
    if (row.tangent < 0) {
      if (mode.normal[row.relation] == NormalStatus::open) {
        take(series_.gap(row.relation), 2, order, acceleration * tau * tau, 1);
      } else if (!series_.unique(row.relation, -1)) {
        continue;  // some reaction will do: the conditions below
      } else if (mode.normal[row.relation] == NormalStatus::closed) {
        take(series_.normal(row.relation), 0, order - 1, force, 1);
      } else if (mode.pressed[row.relation] != 0) {
        take(series_.normal(row.relation), 0, order - 1, force, mode.pressed[row.relation]);
      }
      continue;
    }
    switch (mode.tangent[row.number]) {
      case TangentStatus::stick:
        if (!series_.unique(row.relation, row.tangent)) break;
        take(cone(row, i, 1), 0, order - 1, force, 1);
        take(cone(row, i, -1), 0, order - 1, force, 1);
        break;
      case TangentStatus::slip_plus:
      case TangentStatus::slip_minus:
        if (state_[i - assembly_.normals()] != contact::TangentState::rest) break;
        take(series_.slip(row.relation, row.tangent), 1, order, acceleration * tau,
             direction(mode.tangent[row.number]));
        break;
      default:
        break;
    }
  }
  if (!series_.redundant()) return worst;
  // Reactions that are not unique: some of them must do.
  std::fill(chosen_.begin(), chosen_.end(), std::uint8_t{0});
  bool shares = false;
  for (const int i : rows) {
    const RowAssembly::Row& row = assembly_[i];
    chosen_[row.relation] = 1;
    shares = shares || !series_.unique(row.relation, row.tangent);
  }
  if (!shares || !series_.list_conditions(chosen_, conditions_)) return worst;
  for (int c = 0; c < conditions_.size(); ++c) {
    const std::span<const ReactionConditions::Part> parts = conditions_[c];
    if (parts.size() == 1 && series_.unique(parts[0].relation, parts[0].tangent)) continue;  // judged above
    double scale = 0;
    judged_.clear();
    for (const ReactionConditions::Part& part : parts) {
      for (const int i : rows) {
        if (assembly_[i].relation != part.relation || assembly_[i].tangent != part.tangent) continue;
        scale += part.weight * force_scale_[i];
        judged_.push_back(i);
      }
    }
    take(series_.condition(parts), 0, order - 1, scale, 1);
  }
  return worst;
}

// What friction at rest leaves of its limit, on one side, along the series of the motion.
expr::Series Decider::cone(const RowAssembly::Row& row, int assembled, int side) const {
  expr::Series margin = series_.cone(row.relation, row.tangent, side);
  if (!directed_any_) return margin;
  const int t = assembled - assembly_.normals();
  const double mu = side < 0 ? mu_static_below_[t] : assembly_.mu_static[t];
  const double base = side < 0 ? base_below_[t] : assembly_.base[t];
  if (mu == mu_told_[t] && base == base_told_[t]) return margin;
  margin.c[0] += mu * base - mu_told_[t] * base_told_[t];
  for (int k = 0; k < assembly_.normals(); ++k) {
    const double factor = (mu - mu_told_[t]) * assembly_.coupling[t * assembly_.normals() + k];
    if (factor == 0) continue;
    const expr::Series load = series_.normal(assembly_[k].relation);
    for (int o = 0; o < series_.order(); ++o) margin.c[o] += (load.c[0] < 0 ? -factor : factor) * load.c[o];
  }
  return margin;
}

// The accelerations leave several modes, and each has a derivative that refutes it.
Status Decider::refuted(const Tie& tie) {
  Status status;
  status.time = work_.in[0];
  failed_ = assembly_[blocks_.rows(tie.block)[0]].relation;
  status.reason = Reason::inconsistent;
  status.where = system_.relations()[failed_].place;
  status.message = "no finite reaction satisfies contact and friction here (" +
                   (tie.count > 0 ? std::to_string(tie.count) : std::string("several")) +
                   " modes have the accelerations, and none the derivatives)";
  return status;
}

std::span<const RowStatus> Decider::choice(const Tie& tie) const {
  const std::size_t size = blocks_.rows(tie.block).size();
  const std::size_t number = tie.count > 0 ? tie.at : 0;
  return std::span(candidates_).subspan(tie.first + number * size, size);
}

// The next candidate, or, of a block with too many of them, its rows with the negative signs turned.
void Decider::turn(Tie& tie) {
  const std::span<const int> rows = blocks_.rows(tie.block);
  const int size = static_cast<int>(rows.size());
  if (tie.count > 0) {
    if (tie.judgement.sign == Sign::undecided && tie.fallback < 0) tie.fallback = tie.at;
    if (++tie.at < tie.count) return;
    tie.refuted = tie.fallback < 0;
    tie.at = std::max(tie.fallback, 0);
    tie.final = true;
    return;
  }
  // All at once, and one at a time if that does not come to an end.
  RowStatus* const now = candidates_.data() + tie.first;
  RowStatus* const other = now + size;
  int ties = 0;
  bool turned = false;
  for (int i = size - 1; i >= 0; --i) {
    if (now[i] == other[i]) continue;
    ++ties;
    if (std::find(negative_.begin(), negative_.end(), rows[i]) == negative_.end()) continue;
    if (turned && tie.at > 8) continue;
    std::swap(now[i], other[i]);
    turned = true;
  }
  tie.final = !turned || ++tie.at > 16 + 4 * ties;
  // Rows that turn back and forth have no status among those that are left to them.
  tie.refuted = tie.final && tie.judgement.sign == Sign::negative;
}

// The first Taylor coefficient of each guard that is not zero decides. A choice in one block acts on another through springs, two orders later than
// on itself: the lowest order goes first, and what fails there together is changed together.
void Decider::break_ties() {
  // Reactions of their usual size, and what they move: ties are often where both vanish, and then what is left of them is no measure.
  double size = 0;
  for (const Tie& tie : ties_) {
    for (const int i : blocks_.rows(tie.block)) {
      const int n = system_.layout().coordinates;
      for (int k = 0; k < n; ++k) {
        const double a = force_scale_[i] * assembly_.response(i)[k];
        size = std::max(size, a * work_.inertia[k] * a);
      }
    }
  }
  std::fill(from_rest_.begin(), from_rest_.end(), std::uint8_t{0});
  for (const Tie& tie : ties_) {
    for (const int i : blocks_.rows(tie.block)) {
      const int j = i - assembly_.normals();
      if (j < 0 || state_[j] != contact::TangentState::rest) continue;
      const int number = assembly_[i].number;
      from_rest_[number] = (excluding_.tangent[number] & contact::bit(RowStatus::stick)) == 0 ? 1 : 0;
    }
  }
  while (true) {
    trial_ = next_;
    for (const RowAssembly::Row& row : unloaded_) {
      if (holds_nothing(row.relation, trial_)) trial_.tangent[row.number] = TangentStatus::free;
    }
    for (const Tie& tie : ties_) {
      take_block_rows(blocks_.rows(tie.block));
      apply(choice(tie), trial_);
    }
    const bool known = follow_series(size, from_rest_);
    int lowest = kNoOrder + 1;
    for (Tie& tie : ties_) {
      tie.judgement = known ? judge(trial_, tie) : Judgement{Sign::undecided, kNoOrder};
      if (tie.judgement.sign == Sign::positive || tie.final) continue;
      lowest = std::min(lowest, tie.judgement.order);
    }
    if (lowest > kNoOrder) break;
    for (Tie& tie : ties_) {
      if (tie.final || tie.judgement.sign == Sign::positive || tie.judgement.order != lowest) continue;
      // Rest is kept wherever the static coefficient can: only a guard of its own that fails ends it.
      if (tie.judgement.sign == Sign::undecided && (tie.count == 0 || rests_by_static_friction(tie))) {
        tie.final = true;
        continue;
      }
      if (tie.count == 0) static_cast<void>(judge(trial_, tie));  // its rows
      turn(tie);
    }
  }
  for (const Tie& tie : ties_) undecided_ += tie.judgement.sign != Sign::positive ? 1 : 0;
}

bool Decider::rests_by_static_friction(const Tie& tie) const {
  const std::span<const int> rows = blocks_.rows(tie.block);
  const std::span<const RowStatus> statuses = choice(tie);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const int j = rows[k] - assembly_.normals();
    if (j >= 0 && statuses[k] == RowStatus::stick &&
        (jump_of_coefficient(j, RowStatus::slip_minus) > 0 ||
         jump_of_coefficient(j, RowStatus::slip_plus) > 0))
      return true;
  }
  return false;
}

// A row that the tie releases from rest slips with its own coefficient: the others are to be decided again.
bool Decider::released(const Tie& tie) {
  const std::span<const int> rows = blocks_.rows(tie.block);
  const std::span<const RowStatus> statuses = choice(tie);
  bool any = false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const int j = rows[k] - assembly_.normals();
    if (j < 0 || state_[j] != contact::TangentState::rest ||
        (statuses[k] != RowStatus::slip_plus && statuses[k] != RowStatus::slip_minus) ||
        jump_of_coefficient(j, statuses[k]) == 0)
      continue;
    std::uint16_t& excluded = excluding_.tangent[assembly_[rows[k]].number];
    if ((excluded & contact::bit(RowStatus::stick)) != 0) continue;
    // It slips in the direction that the tie has found.
    const bool forwards = statuses[k] == RowStatus::slip_plus;
    excluded |= contact::bit(RowStatus::stick);
    excluded |= contact::bit(forwards ? RowStatus::slip_minus : RowStatus::slip_plus);
    excluded_[rows[k]] = excluded;
    any = true;
  }
  return any;
}

// Whether no reactions hold the dependent rows of the mode in some higher order; `parting` then tells it.
bool Decider::driven_apart(const Mode& mode) {
  if (reactions_unique_) return false;
  bool driven = false;
  for (int i = 0; i < assembly_.size() && !driven; ++i)
    driven = !system_.relations()[assembly_[i].relation].rows_constant;
  if (!driven) return false;
  trial_ = mode;
  if (!follow_series() || series_.parted() < 0) return false;
  parting.assign(system_.layout().relations + system_.layout().tangents, 0);
  double most = 0;
  for (int i = 0; i < assembly_.size(); ++i) {
    const RowAssembly::Row& row = assembly_[i];
    const double drive = series_.drive(row.relation, row.tangent);
    parting[row.tangent < 0 ? row.relation : system_.layout().relations + row.number] = drive;
    most = std::max(most, std::abs(drive));
  }
  for (double& drive : parting) drive = most > 0 ? drive / most : 0;
  return most > 0;
}

/// The tangential row of such a node in `mode`, whose balance is in work_.in; −1: there is none.
int Decider::node_beyond_limit(const Mode& mode, const Exclusions& exclusions) {
  constexpr double kAtLimit = 1e-10;  ///< share of the limit within which a load is at it
  const model::Layout& layout = system_.layout();
  bool known = false;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents && massless_[r] != 0; ++j) {
      const int number = relation.first_tangent + j;
      if (mode.tangent[number] != TangentStatus::stick) continue;
      const double force = work_.in[layout.tangent() + number];
      const model::RelationRows& rows = system_.rows(work_, r);
      const double limit = rows.tangent[j].mu_static * rows.base;
      const RowStatus slip = force > 0 ? RowStatus::slip_minus : RowStatus::slip_plus;
      if (!(limit > 0) || !(std::abs(force) >= (1 - kAtLimit) * limit) ||
          (exclusions.tangent[number] & contact::bit(slip)) != 0)
        continue;
      if (!known) {
        trial_ = mode;
        if (!follow_series() || !series_.follows_nodes()) return -1;
        known = true;
      }
      const expr::Series margin = series_.cone(r, j, force > 0 ? 1 : -1);
      const int order = series_.order();
      if (first_sign(margin, 1, order - 1, std::max(limit, series_size(margin, 1, order - 1))) < 0)
        return number;
    }
  }
  return -1;
}

// Friction whose load begins with zero moves nothing yet. Where the reactions of that load are not unique the motion is not, as soon as there is a load:
// true, with the problem of that time in ahead_acceleration_ and ahead_static_.
bool Decider::loads_begin(const Mode& mode) {
  if (!unloaded_friction_) return false;
  trial_ = mode;
  if (!follow_series()) return false;
  const int size = assembly_.size();
  const int normals = assembly_.normals();
  // What a row carries, or may carry at rest, in this order of the time.
  const auto reaction = [&](int i, int order) {
    const RowAssembly::Row& row = assembly_[i];
    if (row.tangent < 0) return series_.normal(row.relation).c[order];
    if (mode.tangent[row.number] != TangentStatus::stick) return 0.0;
    return 0.5 * (series_.cone(row.relation, row.tangent, -1).c[order] -
                  series_.cone(row.relation, row.tangent, 1).c[order]);
  };
  const auto limit = [&](int i, int order) {
    const RowAssembly::Row& row = assembly_[i];
    if (row.tangent < 0 || mode.tangent[row.number] != TangentStatus::stick ||
        !(assembly_.base[i - normals] > 0) || !system_.relations()[row.relation].feeds.empty())
      return 0.0;
    return 0.5 * (series_.cone(row.relation, row.tangent, -1).c[order] +
                  series_.cone(row.relation, row.tangent, 1).c[order]);
  };
  const double tau = series_.time_scale();
  double power = tau;
  for (int order = 1; order < series_.order(); ++order, power *= tau) {
    // The time after which the largest change is a small share of what its row carries.
    double most = 0;
    for (int i = 0; i < size; ++i) {
      for (const double change : {reaction(i, order), limit(i, order)}) {
        // Where nothing presses or pulls yet, what begins is its own measure.
        const double scale = std::max(force_scale_[i], std::abs(change) * power);
        if (std::abs(change) * power > kTieTolerance * scale) most = std::max(most, std::abs(change) / scale);
      }
    }
    if (!(most > 0)) continue;
    const model::Layout& layout = system_.layout();
    ahead_acceleration_.assign(layout.relations + layout.tangents, 0);
    ahead_static_.assign(layout.tangents, 0);
    const double later = kAhead / most;
    for (int i = 0; i < size; ++i) {
      const RowAssembly::Row& row = assembly_[i];
      double& change = ahead_acceleration_[row.tangent < 0 ? row.relation : layout.relations + row.number];
      for (int k = 0; k < size; ++k) change -= assembly_.A[i * size + k] * later * reaction(k, order);
      if (const double grown = limit(i, order); grown != 0)
        ahead_static_[row.number] = later * grown / assembly_.base[i - normals];
    }
    return true;
  }
  return false;
}

// Smooth friction that begins with zero moves nothing yet, whatever presses it. Where that is not unique the motion is not, as soon as it slips: true, with
// coefficients of that time in ahead_.
bool Decider::friction_begins(const Mode& mode) {
  if (reactions_unique_) return false;
  const auto smooth = [&](const RowAssembly::Row& row) {
    return row.tangent >= 0 && mode.tangent[row.number] == TangentStatus::smooth &&
           !system_.relations()[row.relation].feeds.empty();
  };
  const std::span<const RowAssembly::Row> rows = assembly_.rows();
  if (std::none_of(rows.begin(), rows.end(), smooth)) return false;
  trial_ = mode;
  if (!follow_series()) return false;
  ahead_.assign(system_.layout().tangents, 0);
  bool begins = false;
  for (const RowAssembly::Row& row : rows) {
    if (!smooth(row)) continue;
    const expr::Series coefficient = series_.slip_coefficient(row.relation, row.tangent);
    const double later = series_size(coefficient, 1, series_.order() - 1);
    if (std::abs(coefficient.c[0]) > kTieTolerance * later) continue;
    ahead_[row.number] = kAhead * later;
    begins = begins || later > 0;
  }
  if (!begins) ahead_.clear();
  return begins;
}

}  // namespace judder::engines
