#include "hidden_change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

constexpr int kParts = 8;                ///< of the step, between its points
constexpr std::size_t kMostPieces = 32;  ///< looked at for one formula
constexpr std::size_t kMostSeen = 17;    ///< points of a method, or of a grid
constexpr double kNegligible =
    1e-3;  ///< of what the formula is at the points: smaller changes are the tolerance's

constexpr double kRoundings = 16;  ///< a difference is more than rounding beyond so many times its bound

}  // namespace

HiddenChange::HiddenChange(const model::System& system) {
  std::size_t outputs = 1;
  std::size_t registers = 1;
  const auto add = [&](const expr::Program& program, std::size_t count) {
    if (count == 0 || !program.has_peaks()) return;
    formulas_.push_back({&program, static_cast<int>(count)});
    outputs = std::max<std::size_t>(outputs, program.outputs());
    registers = std::max<std::size_t>(registers, program.registers());
  };
  const model::Layout& layout = system.layout();
  add(system.motion_program(), static_cast<std::size_t>(layout.coordinates + layout.states));
  for (const model::Relation& relation : system.relations()) {
    add(relation.gap, std::min<std::size_t>(1, relation.gap.outputs()));
    if (!relation.rows_constant) add(relation.rows, relation.rows.outputs());
    add(relation.law, relation.law.outputs());
  }
  for (const model::SwitchInfo& info : system.switches()) {
    if (!info.time_only) add(info.value, 1);
  }
  const auto keep_room = [&](const expr::Program& program) {
    outputs = std::max<std::size_t>(outputs, program.outputs());
    registers = std::max<std::size_t>(registers, program.registers());
  };
  for (const model::WatchInfo& watch : system.watches()) keep_room(watch.value);
  for (const model::SwitchInfo& info : system.observed()) keep_room(info.value);
  if (formulas_.empty() && system.watches().empty()) return;
  width_ = layout.integrated();
  const std::size_t points = kParts + 1 + kMostSeen + kMostPieces;
  theta_.reserve(points);
  states_.reserve(points * width_);
  bend_.resize(width_);
  in_.resize(layout.size() + 1);
  out_.resize(outputs);
  low_.resize(outputs);
  high_.resize(outputs);
  slack_.resize(outputs);
  registers_.resize(registers);
  pieces_.reserve(2 * kMostPieces + kParts);
}

int HiddenChange::add_point(double theta) {
  theta_.push_back(theta);
  states_.resize(theta_.size() * width_);
  (*path_)(theta, &states_[states_.size() - width_]);
  return static_cast<int>(theta_.size()) - 1;
}

void HiddenChange::begin(const Step& step, const std::vector<double>& in, const Path& path) {
  step_ = &step;
  path_ = &path;
  in_.assign(in.begin(), in.end());
  enclosure_.take(in_);
  theta_.clear();
  for (int j = 0; j <= kParts; ++j) add_point(static_cast<double>(j) / kParts);
  note_bends();
}

bool HiddenChange::between(const Step& step, const std::vector<double>& in, const Path& path) {
  begin(step, in, path);
  return std::any_of(formulas_.begin(), formulas_.end(),
                     [this](const Formula& formula) { return hidden(formula); });
}

bool HiddenChange::hides(const expr::Program& program, const Step& step, const std::vector<double>& in,
                         const Path& path) {
  begin(step, in, path);
  return hidden({&program, 1});
}

// Within a part a component leaves its chord by an eighth of its second difference; twice that, for what is not a parabola.
void HiddenChange::note_bends() {
  for (std::size_t i = 0; i < width_; ++i) {
    double most = 0;
    for (int j = 1; j < kParts; ++j)
      most = std::max(most, std::abs(state(j + 1)[i] - 2 * state(j)[i] + state(j - 1)[i]));
    bend_[i] = 0.25 * most;
  }
}

void HiddenChange::evaluate(const Formula& formula, int point) {
  in_[0] = theta_[point] < 1 ? step_->t0 + theta_[point] * (step_->t1 - step_->t0) : step_->t1;
  std::copy_n(state(point), width_, in_.begin() + 1);
  formula.program->evaluate(in_.data(), out_.data(), registers_.data());
}

// All that time and state are between two points that bound one part or less, or, with from = 0 and to = kParts, on the whole step.
void HiddenChange::set_box(int from, int to, double bend) {
  const bool whole = from == 0 && to == kParts;
  const double length = step_->t1 - step_->t0;
  enclosure_.set(0, step_->t0 + theta_[from] * length,
                 theta_[to] < 1 ? step_->t0 + theta_[to] * length : step_->t1);
  for (std::size_t i = 0; i < width_; ++i) {
    double low = std::min(state(from)[i], state(to)[i]);
    double high = std::max(state(from)[i], state(to)[i]);
    for (int j = 1; whole && j < kParts; ++j) {
      low = std::min(low, state(j)[i]);
      high = std::max(high, state(j)[i]);
    }
    enclosure_.set(static_cast<int>(i) + 1, low - bend * bend_[i], high + bend * bend_[i]);
  }
}

// By how much the enclosure evaluated last leaves [l, u] and its slack, in units of the slack; at most 0: it does not.
double HiddenChange::excess(const Formula& formula) const {
  double most = 0;
  for (int o = 0; o < formula.outputs; ++o) {
    const double beyond = std::max(low_[o] - enclosure_.low(o), enclosure_.high(o) - high_[o]);
    if (std::isnan(beyond)) return std::numeric_limits<double>::infinity();
    most = std::max(most, (beyond - slack_[o]) / slack_[o]);
  }
  return most;
}

void HiddenChange::add_piece(const Formula& formula, int from, int to, double bend) {
  set_box(from, to, bend);
  const bool gentle = enclosure_.evaluate_gentle(*formula.program);
  const double beyond = excess(formula);
  if (beyond > 0) pieces_.push_back({from, to, bend, beyond, gentle});
}

// [l, u], and by how much a value may lie outside.
void HiddenChange::note_values(const Formula& formula) {
  std::fill(low_.begin(), low_.end(), std::numeric_limits<double>::infinity());
  std::fill(high_.begin(), high_.end(), -std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < step_->seen.size(); ++k) {
    evaluate(formula, kParts + 1 + static_cast<int>(k));
    for (int o = 0; o < formula.outputs; ++o) {
      low_[o] = std::min(low_[o], out_[o]);
      high_[o] = std::max(high_[o], out_[o]);
    }
  }
  for (int o = 0; o < formula.outputs; ++o) {
    const double most = std::max(std::abs(low_[o]), std::abs(high_[o]));
    slack_[o] = step_->share * (high_[o] - low_[o]) + kNegligible * most + std::numeric_limits<double>::min();
  }
}

// Of the values at the point evaluated last, whether one lies outside by more than its rounding.
bool HiddenChange::outside(const Formula& formula) {
  bool rounding_known = false;
  for (int o = 0; o < formula.outputs; ++o) {
    const double excess = std::max(low_[o] - out_[o], out_[o] - high_[o]);
    if (!(excess > slack_[o])) continue;
    if (!rounding_known) {
      enclosure_.take(in_);
      enclosure_.blur(0, 1 + static_cast<int>(width_));
      enclosure_.evaluate(*formula.program);
      rounding_known = true;
    }
    if (excess > kRoundings * enclosure_.width(o)) return true;
  }
  return false;
}

bool HiddenChange::hidden(const Formula& formula) {
  set_box(0, kParts, 1);
  if (enclosure_.evaluate_gentle(*formula.program)) return false;
  if (theta_.size() == kParts + 1) {
    for (const double theta : step_->seen) add_point(theta);
  }
  theta_.resize(kParts + 1 + step_->seen.size());  // middles of the formula before are forgotten
  note_values(formula);
  if (excess(formula) <= 0) return false;
  for (int j = 0; j <= kParts; ++j) {
    evaluate(formula, j);
    if (outside(formula)) return true;
  }
  pieces_.clear();
  for (int j = 0; j < kParts; ++j) add_piece(formula, j, j + 1, 1);
  const auto less = [](const Piece& a, const Piece& b) { return a.excess < b.excess; };
  for (std::size_t looked_at = 0; looked_at < kMostPieces && !pieces_.empty(); ++looked_at) {
    const auto next = std::max_element(pieces_.begin(), pieces_.end(), less);
    const Piece piece = *next;
    *next = pieces_.back();
    pieces_.pop_back();
    const int middle = add_point(0.5 * (theta_[piece.from] + theta_[piece.to]));
    evaluate(formula, middle);
    if (outside(formula)) return true;
    if (piece.gentle) continue;  // its ends and its middle tell what it is
    add_piece(formula, piece.from, middle, 0.25 * piece.bend);
    add_piece(formula, middle, piece.to, 0.25 * piece.bend);
  }
  return false;
}

}  // namespace judder::engines
