// The work of a jump. A massless coordinate without damper stands where its forces balance, and jumps where these do. The jump is the limit of a
// motion with a small damper: it lasts no time and moves nothing else, so forces and friction do the work that they do along its way, and what the
// springs lose beyond that is lost in the damper, however small that is (docs/theory.md, "Massless coordinates").
#include <algorithm>
#include <cmath>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 1e-12;  ///< of a position: no jump
constexpr int kPanels = 16;          ///< of the way; forces may have kinks on it
// Gauss-Legendre with four points.
constexpr double kNode[2] = {0.33998104358485626, 0.86113631159405258};
constexpr double kWeight[2] = {0.65214515486254614, 0.34785484513745386};

}  // namespace

// The energy with the sides as they were before the instant.
void EventEngine::Run::note_before_jump() {
  jump_from_.assign(y_.begin(), y_.begin() + layout_.coordinates);
  motion_.load(t_, y_.data());
  std::copy_n(reference_.side.begin(), layout_.switches, work_.in.begin() + layout_.side());
  energy_before_jump_ = recorder_.residuals.energy(work_);
}

// Switches that the jump moves have the sides of their values along the way; others have those behind the instant.
void EventEngine::Run::sides_along_jump() {
  for (int k = 0; k < layout_.switches; ++k) {
    if (system_.switches()[k].time_only || mode_.slides(k)) continue;
    double now = 0;
    double behind = 0;
    const expr::Program& value = system_.switches()[k].value;
    value.evaluate(work_.in.data(), &now, work_.registers.data());
    value.evaluate(ahead_.data(), &behind, work_.registers.data());
    work_.in[layout_.side() + k] =
        now == behind ? ahead_[layout_.side() + k] : system_.side_of_value(work_, k);
  }
}

// Adds the works of the jump that has led from jump_from_ to the present state, evaluated in its mode. True: there was one.
bool EventEngine::Run::add_jump_work() {
  const int n = layout_.coordinates;
  const std::span<const int> speeds = system_.massless_balance().velocity;
  const double* q = work_.in.data() + layout_.q();
  if (std::none_of(speeds.begin(), speeds.end(), [&](int place) {
        const int i = place - layout_.v();
        return std::abs(q[i] - jump_from_[i]) > kRounding * (std::abs(q[i]) + std::abs(jump_from_[i]));
      }))
    return false;
  ahead_ = work_.in;
  const double energy_after = recorder_.residuals.energy(work_);
  std::vector<double>& way = landing_y_;
  std::fill_n(way.begin(), n, 0.0);
  for (const int place : speeds)
    way[place - layout_.v()] = q[place - layout_.v()] - jump_from_[place - layout_.v()];
  const auto go_to = [&](double share) {
    for (const int place : speeds) {
      const int i = place - layout_.v();
      work_.in[layout_.q() + i] = jump_from_[i] + share * way[i];
    }
    sides_along_jump();
  };
  double* dissipated = y_.data() + layout_.integrated();
  double* supplied = dissipated + layout_.audits;
  double net = 0;
  for (int panel = 0; panel < kPanels; ++panel) {
    for (int g = 0; g < 4; ++g) {
      const double weight = 0.5 * kWeight[g / 2] / kPanels;
      go_to((panel + 0.5 * (1 + (g % 2 == 0 ? -1 : 1) * kNode[g / 2])) / kPanels);
      net += add_jump_powers(way.data(), weight, dissipated, supplied);
      net += add_jump_friction(way.data(), weight, dissipated, supplied);
    }
  }
  go_to(0);
  const double lost = net - (energy_after - recorder_.residuals.energy(work_));
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    if (system_.audits()[e].of_jumps) dissipated[e] += lost;
  }
  std::copy(ahead_.begin(), ahead_.end(), work_.in.begin());
  recorder_.load_works(y_.data(), work_);
  // Laws and rows are those of the end again.
  static_cast<void>(motion_.evaluate());
  return true;
}

// Works of the forces at a place of the way, whose powers are linear in the speeds of what jumps. Gives their sum.
double EventEngine::Run::add_jump_powers(const double* way, double weight, double* dissipated,
                                         double* supplied) {
  if (system_.audits().empty()) return 0;
  jump_powers_.resize(2 * static_cast<std::size_t>(layout_.audits));
  double* const with = jump_powers_.data();
  double* const without = with + layout_.audits;
  const std::span<const int> speeds = system_.massless_balance().velocity;
  for (const int place : speeds) work_.in[place] = way[place - layout_.v()];
  system_.powers(work_, with);
  for (const int place : speeds) work_.in[place] = 0;
  system_.powers(work_, without);
  double net = 0;
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const model::AuditInfo& element = system_.audits()[e];
    if (element.power < 0) continue;
    const double work = weight * (with[element.power] - without[element.power]);
    if (element.dissipative) {
      dissipated[e] -= work;
    } else {
      supplied[e] += work;
    }
    net += work;
  }
  return net;
}

// Work of the joints: whatever their status is before and behind, on the way their friction is at its limit.
double EventEngine::Run::add_jump_friction(const double* way, double weight, double* dissipated,
                                           double* supplied) {
  double net = 0;
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0 || !decider_.on_massless(r)) continue;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const auto along = [&](const model::Row& row) {
        double sum = 0;
        for (const int i : relation.touches) sum += row[i] * way[i];
        return sum;
      };
      const double slip = along(system_.rows(work_, r).tangent[j].w);
      if (slip == 0) continue;
      work_.in[layout_.direction() + relation.first_tangent + j] = slip > 0 ? 1 : -1;
      const model::RelationRows& rows = system_.rows(work_, r);
      const double force = -std::copysign(rows.tangent[j].mu * rows.base, slip);
      const double moved = relation.own_push ? along(rows.tangent[j].drag) : slip;
      dissipated[e] -= weight * force * slip;
      supplied[e] += weight * force * (moved - slip);
      net += weight * force * moved;
    }
  }
  return net;
}

}  // namespace judder::engines
