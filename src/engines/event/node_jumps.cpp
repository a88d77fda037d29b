#include "engines/event/node_jumps.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {
namespace {

constexpr double kRounding = 1e-12;  ///< of a position: no jump
constexpr int kPanels = 16;          ///< of the way; forces may have kinks on it
// Gauss-Legendre with four points.
constexpr double kNode[2] = {0.33998104358485626, 0.86113631159405258};
constexpr double kWeight[2] = {0.65214515486254614, 0.34785484513745386};

}  // namespace

NodeJumps::NodeJumps(Phase& now, InstantState& here) : now_(now), here_(here) {
  landing_y_.resize(now_.motion.all_components());
  ahead_.resize(now_.work.in.size());
}

// The energy with the sides as they were before the instant.
void NodeJumps::note_before_jump() {
  jump_from_.assign(now_.y.begin(), now_.y.begin() + now_.layout.coordinates);
  now_.load();
  std::copy_n(here_.reference.side.begin(), now_.layout.switches, now_.work.in.begin() + now_.layout.side());
  energy_before_jump_ = now_.recorder.residuals.energy(now_.work);
}

// Adds the works of the jump that has led from jump_from_ to the present state, evaluated in its mode. True: there was one.
bool NodeJumps::add_jump_work() {
  const int n = now_.layout.coordinates;
  const std::span<const int> speeds = now_.system.massless_balance().velocity;
  const double* q = now_.work.in.data() + now_.layout.q();
  if (std::none_of(speeds.begin(), speeds.end(), [&](int place) {
        const int i = place - now_.layout.v();
        return std::abs(q[i] - jump_from_[i]) > kRounding * (std::abs(q[i]) + std::abs(jump_from_[i]));
      }))
    return false;
  ahead_ = now_.work.in;
  const double energy_after = now_.recorder.residuals.energy(now_.work);
  std::vector<double>& way = landing_y_;
  std::fill_n(way.begin(), n, 0.0);
  for (const int place : speeds)
    way[place - now_.layout.v()] = q[place - now_.layout.v()] - jump_from_[place - now_.layout.v()];
  const auto go_to = [&](double share) {
    for (const int place : speeds) {
      const int i = place - now_.layout.v();
      now_.work.in[now_.layout.q() + i] = jump_from_[i] + share * way[i];
    }
    sides_along_jump();
  };
  double* dissipated = now_.y.data() + now_.layout.integrated();
  double* supplied = dissipated + now_.layout.audits;
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
  const double lost = net - (energy_after - now_.recorder.residuals.energy(now_.work));
  for (std::size_t e = 0; e < now_.system.audits().size(); ++e) {
    if (now_.system.audits()[e].of_jumps) dissipated[e] += lost;
  }
  std::copy(ahead_.begin(), ahead_.end(), now_.work.in.begin());
  now_.recorder.load_works(now_.y.data(), now_.work);
  // Laws and rows are those of the end again.
  static_cast<void>(now_.motion.evaluate());
  return true;
}

// Switches that the jump moves have the sides of their values along the way; others have those behind the instant.
void NodeJumps::sides_along_jump() {
  for (int k = 0; k < now_.layout.switches; ++k) {
    if (now_.system.switches()[k].time_only || now_.mode.slides(k)) continue;
    double now = 0;
    double behind = 0;
    const expr::Program& value = now_.system.switches()[k].value;
    value.evaluate(now_.work.in.data(), &now, now_.work.registers.data());
    value.evaluate(ahead_.data(), &behind, now_.work.registers.data());
    now_.work.in[now_.layout.side() + k] =
        now == behind ? ahead_[now_.layout.side() + k] : now_.system.side_of_value(now_.work, k);
  }
}

// Works of the forces at a place of the way, whose powers are linear in the speeds of what jumps. Gives their sum.
double NodeJumps::add_jump_powers(const double* way, double weight, double* dissipated, double* supplied) {
  if (now_.system.audits().empty()) return 0;
  jump_powers_.resize(2 * static_cast<std::size_t>(now_.layout.audits));
  double* const with = jump_powers_.data();
  double* const without = with + now_.layout.audits;
  const std::span<const int> speeds = now_.system.massless_balance().velocity;
  for (const int place : speeds) now_.work.in[place] = way[place - now_.layout.v()];
  now_.system.powers(now_.work, with);
  for (const int place : speeds) now_.work.in[place] = 0;
  now_.system.powers(now_.work, without);
  double net = 0;
  for (std::size_t e = 0; e < now_.system.audits().size(); ++e) {
    const model::AuditInfo& element = now_.system.audits()[e];
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
double NodeJumps::add_jump_friction(const double* way, double weight, double* dissipated, double* supplied) {
  double net = 0;
  for (std::size_t e = 0; e < now_.system.audits().size(); ++e) {
    const int r = now_.system.audits()[e].relation;
    if (r < 0 || !now_.decider.on_massless(r)) continue;
    const model::Relation& relation = now_.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const auto along = [&](const model::Row& row) {
        double sum = 0;
        for (const int i : relation.touches) sum += row[i] * way[i];
        return sum;
      };
      const double slip = along(now_.system.rows(now_.work, r).tangent[j].w);
      if (slip == 0) continue;
      now_.work.in[now_.layout.direction() + relation.first_tangent + j] = slip > 0 ? 1 : -1;
      const model::RelationRows& rows = now_.system.rows(now_.work, r);
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
