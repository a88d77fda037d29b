#include "law_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "enclosure.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

/// By output of Relation::curve; the load and the slopes are no numbers of the law.
constexpr std::array<const char*, 8> kNumbers = {"",
                                                 "the coefficient of friction ('mu' or 'dynamic')",
                                                 "the coefficient of friction at rest ('mu' or 'static')",
                                                 "'viscous'",
                                                 "'stiffness'",
                                                 "'damping'",
                                                 "'breakaway'",
                                                 "'beta'"};
constexpr std::size_t kCurveOutputs = 11;
constexpr double kRoundings = 8;

bool varies(const model::Relation& relation) {
  return relation.friction != FrictionType::none && !relation.curve_constant &&
         relation.curve.outputs() == static_cast<int>(kCurveOutputs);
}

/// The slip speed at the state in work.in.
double slip_speed(const model::System& system, model::Workspace& work, int r) {
  const model::Relation& relation = system.relations()[r];
  if (relation.tangents > 0) {
    const model::RelationRows& rows = system.rows(work, r);
    if (relation.tangents == 1) return std::abs(rows.tangent[0].slip);
    double square = 0;
    for (int j = 0; j < relation.tangents; ++j) square += rows.tangent[j].slip * rows.tangent[j].slip;
    return std::sqrt(square);
  }
  // Its force is part of the others, and so are its rows.
  if (relation.sliding.outputs() == 0) return 0;
  constexpr int kFew = 64;
  std::array<double, kFew> few{};
  if (relation.sliding.outputs() <= kFew) {
    relation.sliding.evaluate(work.in.data(), few.data(), work.registers.data());
    return std::abs(few[0]);
  }
  std::vector<double> many(relation.sliding.outputs());
  relation.sliding.evaluate(work.in.data(), many.data(), work.registers.data());
  return std::abs(many[0]);
}

/// Whether the law of a relation acts in the mode, as far as that tells.
bool acts(const model::Relation& relation, const Mode& mode, int r) {
  return varies(relation) && (relation.kind != model::RelationKind::contact || relation.compliant ||
                              mode.normal[r] != NormalStatus::open);
}

/// The outputs of its curve. False: a compliant contact does not touch.
bool evaluate_curve(const model::System& system, model::Workspace& work, int r,
                    std::array<double, kCurveOutputs>& out) {
  const model::Relation& relation = system.relations()[r];
  work.in[system.layout().approach_speed()] = slip_speed(system, work, r);
  relation.curve.evaluate(work.in.data(), out.data(), work.registers.data());
  return !relation.compliant || out[0] > 0;
}

}  // namespace

bool laws_vary(const model::System& system) {
  return std::any_of(system.relations().begin(), system.relations().end(), varies);
}

LawDefect defect_of_law(const model::System& system, model::Workspace& work, int r) {
  const model::Relation& relation = system.relations()[r];
  if (!varies(relation)) return {};
  std::array<double, kCurveOutputs> out{};
  if (!evaluate_curve(system, work, r, out)) return {};
  for (std::size_t k = 1; k < kNumbers.size(); ++k) {
    if (!(out[k] < 0)) continue;
    Enclosure enclosure;
    enclosure.take(work.in);
    enclosure.blur(0, 1 + system.layout().integrated());
    enclosure.evaluate(relation.curve);
    const auto number = static_cast<int>(k);
    if (out[k] < -kRoundings * enclosure.width(number)) return {r, kNumbers[k], out[k]};
  }
  return {};
}

LawDefect defect_of_laws(const model::System& system, model::Workspace& work, const Mode& mode) {
  for (int r = 0; r < system.layout().relations; ++r) {
    if (!acts(system.relations()[r], mode, r)) continue;
    if (const LawDefect defect = defect_of_law(system, work, r)) return defect;
  }
  return {};
}

void numbers_of_laws(const model::System& system, model::Workspace& work, const Mode& mode,
                     std::span<double> out) {
  static_assert(kNumbers.size() == kNumbersOfLaw + 1);
  std::array<double, kCurveOutputs> curve{};
  for (int r = 0; r < system.layout().relations; ++r) {
    const std::span<double> numbers = out.subspan(static_cast<std::size_t>(r) * kNumbersOfLaw, kNumbersOfLaw);
    if (acts(system.relations()[r], mode, r) && evaluate_curve(system, work, r, curve))
      std::copy_n(curve.begin() + 1, kNumbersOfLaw, numbers.begin());
    else
      std::fill(numbers.begin(), numbers.end(), 0.0);
  }
}

LawDefect defect_of_restitution(const model::System& system, model::Workspace& work, int relation,
                                double approach_speed) {
  constexpr double kRounding = 1e-12;
  double e = 0, tangential = 0;
  system.restitution(work, relation, approach_speed, e, tangential);
  if (e >= -kRounding && e <= 1 + kRounding) return {};
  return {relation, "the restitution", e};
}

std::string describe(const LawDefect& defect) {
  const bool restitution = std::string_view(defect.number) == "the restitution";
  return std::string(defect.number) + " is " + to_text(defect.value, 6) +
         (restitution ? "; it must lie between 0 and 1"
                      : "; it must not be negative: write max(0, …) where it ends, or another formula");
}

}  // namespace judder::engines
