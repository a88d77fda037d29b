#include "hidden_change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

constexpr int kParts = 8;                ///< of the step, between its points
constexpr std::size_t kMostPieces = 64;  ///< looked at for one formula
constexpr double kShare = 0.1;  ///< of what the points have seen: by so much a value between may lie outside
constexpr double kNegligible =
    1e-6;  ///< of what the formula may be on the step: smaller changes are the tolerance's

}  // namespace

HiddenChange::HiddenChange(const model::System& system) {
  std::size_t outputs = 1;
  std::size_t registers = 1;
  const auto add = [&](const expr::Program& program, std::size_t count) {
    if (count == 0) return;
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
  in_.resize(layout.size() + 1);
  out_.resize(outputs);
  low_.resize(outputs);
  high_.resize(outputs);
  slack_.resize(outputs);
  registers_.resize(registers);
  pieces_.reserve(2 * kMostPieces + kParts);
}

bool HiddenChange::between(double t0, double t1, const std::vector<double>& in) {
  if (in_.size() < in.size()) in_.resize(in.size());
  std::copy(in.begin(), in.end(), in_.begin());
  enclosure_.take(in_);
  for (const Formula& formula : formulas_) {
    if (hidden(formula, t0, t1)) return true;
  }
  return false;
}

void HiddenChange::evaluate(const Formula& formula, double time) {
  in_[0] = time;
  formula.program->evaluate(in_.data(), out_.data(), registers_.data());
}

void HiddenChange::enclose(const Formula& formula, Piece piece) {
  enclosure_.set(0, piece.from, piece.to);
  enclosure_.evaluate(*formula.program);
}

bool HiddenChange::within(const Formula& formula) const {
  for (int o = 0; o < formula.outputs; ++o) {
    if (!(enclosure_.low(o) >= low_[o] - slack_[o] && enclosure_.high(o) <= high_[o] + slack_[o]))
      return false;
  }
  return true;
}

bool HiddenChange::hidden(const Formula& formula, double t0, double t1) {
  const auto time = [&](int part) { return part == kParts ? t1 : t0 + part * ((t1 - t0) / kParts); };
  std::fill(low_.begin(), low_.end(), std::numeric_limits<double>::infinity());
  std::fill(high_.begin(), high_.end(), -std::numeric_limits<double>::infinity());
  for (int j = 0; j <= kParts; ++j) {
    evaluate(formula, time(j));
    for (int o = 0; o < formula.outputs; ++o) {
      low_[o] = std::min(low_[o], out_[o]);
      high_[o] = std::max(high_[o], out_[o]);
    }
  }
  enclose(formula, {t0, t1});
  for (int o = 0; o < formula.outputs; ++o) {
    double most = std::max(std::abs(low_[o]), std::abs(high_[o]));
    const double reach = std::max(std::abs(enclosure_.low(o)), std::abs(enclosure_.high(o)));
    if (std::isfinite(reach)) most = std::max(most, reach);
    slack_[o] = kShare * (high_[o] - low_[o]) + kNegligible * most;
  }
  if (within(formula)) return false;
  pieces_.clear();
  for (int j = 0; j < kParts; ++j) pieces_.push_back({time(j), time(j + 1)});
  for (std::size_t p = 0; p < std::min(pieces_.size(), kMostPieces); ++p) {
    const Piece piece = pieces_[p];
    enclose(formula, piece);
    if (within(formula)) continue;
    const double middle = piece.from + 0.5 * (piece.to - piece.from);
    evaluate(formula, middle);
    for (int o = 0; o < formula.outputs; ++o) {
      if (out_[o] < low_[o] - slack_[o] || out_[o] > high_[o] + slack_[o]) return true;
    }
    pieces_.push_back({piece.from, middle});
    pieces_.push_back({middle, piece.to});
  }
  return false;
}

}  // namespace judder::engines
