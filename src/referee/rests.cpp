// Rest that the values at equality keep.
//
// At its surface a switch of a place has the value that the language gives there. Where that, dry forces and friction hold what stands
// still, it stays, whatever the values beside the surface would do (docs/theory.md, "An instant"). So behind every instant each block of
// coordinates that stands still and accelerates all the same is asked: could it rest, with room to spare? The answer is given where it
// needs no decision: without closed contacts, with dry forces and joints on single coordinates. Then the forces at rest fill an interval
// for each coordinate, and zero lies in it or not.
#include <algorithm>
#include <cmath>

#include "bench.hpp"

namespace judder::referee {
namespace {

bool has(const std::vector<int>& list, int item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int i) { return has(b, i); });
}

}  // namespace

void Referee::Bench::judge_rests(const Reading& after) {
  if (!after.resolved) return;
  const double* v = after.in.data() + layout.v();
  int asked = -1;
  for (int i = 0; i < n; ++i) {
    if (v[i] != 0 || block[i] == asked) continue;
    const double amount = std::abs(after.acceleration[i]);
    const double allowance = allowed * acceleration[i];
    if (!(amount > allowance)) {
      check(Law::rest, i, after.time, 0, allowance);
      continue;
    }
    asked = block[i];
    resting.clear();
    for (int j = 0; j < n; ++j) {
      if (block[j] == asked) resting.push_back(j);
    }
    const bool still =
        std::all_of(resting.begin(), resting.end(), [&](int j) { return v[j] == 0 && massless[j] == 0; });
    check(Law::rest, i, after.time, still && could_rest(after) ? amount : 0, allowance);
    load(after);
  }
}

// Whether the coordinates in `resting` have forces that hold them, with the values of equality. False also where nothing can be said.
bool Referee::Bench::could_rest(const Reading& after) {
  load(after);
  dry.clear();
  rest_low.assign(n, 0);
  rest_high.assign(n, 0);
  int sign = -1;  // a switch of a place whose value at equality is that of neither side
  for (int k = 0; k < layout.switches; ++k) {
    if (!sets_rest(k, sign)) return false;
  }
  for (int r = 0; r < layout.relations; ++r) {
    if (!friction_at_rest(after, r)) return false;
  }
  if (!forces_at_rest()) return false;
  for (const int i : resting) {
    const double room = std::max(allowed * force[i], kRestRoom * (rest_high[i] - rest_low[i])) +
                        rounding(system.motion_program(), i);
    if (!(rest_high[i] > room && rest_low[i] < -room)) return false;
  }
  return sign < 0 || attracts(sign);
}

// Takes the side of a switch at rest into the inputs. False: it needs a decision.
bool Referee::Bench::sets_rest(int k, int& sign) {
  const model::SwitchInfo& info = system.switches()[k];
  const auto acts = [&](const model::SwitchInfo& of) {
    return meet(of.moves, resting) || std::any_of(of.relations.begin(), of.relations.end(),
                                                  [&](int r) { return meet(relations[r].touches, resting); });
  };
  const auto in_another = [&] {
    for (int j = k + 1; j < layout.switches; ++j) {
      const model::SwitchInfo& other_one = system.switches()[j];
      if (has(other_one.inner, k) && acts(other_one)) return true;
    }
    return false;
  };
  if (info.time_only || info.kind == expr::SwitchKind::smooth || (!acts(info) && !in_another())) return true;
  double value = 0;
  double distance = 0;
  info.value.evaluate(work.in.data(), &value, work.registers.data());
  const double lower = lower_side(k, value, distance);
  const double slack = rounding(info.value, 0);
  if (distance > allowed * surface[k] + slack) return true;
  if (distance > slack) return false;  // a place that the tolerance does not tell from its surface
  if (info.kind != expr::SwitchKind::jump || !info.inner.empty() || in_another() ||
      info.only_side(lower) != 0 || !info.sees_states.empty() ||
      !std::all_of(info.sees.begin(), info.sees.end(), [&](int i) { return has(resting, i); }))
    return false;
  // It stays where it is while they rest.
  double later = 0;
  displaced = work.in;
  displaced[0] += 1;
  info.value.evaluate(displaced.data(), &later, work.registers.data());
  info.surface.evaluate(work.in.data(), other.data(), work.registers.data());
  if (later != value || other[1] != 0) return false;
  const double* by_place = other.data() + 2;
  const double* by_speed = by_place + n;
  for (int i = 0; i < n; ++i) {
    if ((by_place[i] != 0 || by_speed[i] != 0) && !has(resting, i)) return false;
  }
  for (int z = 0; z < layout.states; ++z) {
    if (by_speed[n + z] != 0) return false;
  }
  double& side = work.in[layout.side() + k];
  if (info.rate.outputs() > 0) {
    side = lower + info.at_zero;
    if (info.at_zero == std::floor(info.at_zero)) return true;
    if (sign >= 0 || resting.size() != 1 || info.differ_at_zero) return false;
    sign = k;
    return true;
  }
  // A dry force: between its sides it may be anything.
  int along = -1;
  for (const int i : resting) {
    if (by_place[i] != 0) return false;
    if (by_speed[i] == 0) continue;
    if (along >= 0) return false;
    along = i;
  }
  if (along < 0 || !info.relations.empty()) return false;
  dry.push_back({k, along, lower, by_speed[along] > 0});
  side = lower;
  return true;
}

// What friction may give while all rest.
bool Referee::Bench::friction_at_rest(const Reading& after, int r) {
  const model::Relation& relation = relations[r];
  if (after.normal[r] == Normal::open || !meet(relation.touches, resting)) return true;
  if (relation.has_normal || !relation.feeds.empty() || relation.tangents != 1 || relation.smooth_friction ||
      relation.direction_in_force || relation.touches.size() != 1)
    return false;
  const int i = relation.touches.front();
  const model::RelationRows::Tangent& row = system.rows(work, r).tangent[0];
  const double base = work.relation[r].base;
  if (row.drive == 0 && row.zeta == 0) {
    const double limit = std::abs(row.drag[i]) * row.mu_static * base;
    if (!(limit >= 0)) return false;
    rest_low[i] -= limit;
    rest_high[i] += limit;
    return true;
  }
  // Something moves under it, and its direction is that of the drive.
  if (!(std::abs(row.slip) > allowed * (row_scale(row.w, velocity) + std::abs(row.drive)))) return false;
  const double given = row.drag[i] * after.tangential_force[relation.first_tangent];
  rest_low[i] += given;
  rest_high[i] += given;
  return true;
}

// Adds the forces, and what dry ones may be. False: they do not hold by themselves, or not by a sum.
bool Referee::Bench::forces_at_rest() {
  double* sides = work.in.data() + layout.side();
  for (const Dry& one : dry) sides[one.number] = one.lower + (one.rises ? 0 : 1);
  if (!evaluate_motion()) return false;
  rest_force = h;
  for (const int i : resting) {
    rest_low[i] += h[i];
    rest_high[i] += h[i];
  }
  rest_sum.assign(n, 0);
  for (const Dry& one : dry) {
    sides[one.number] = one.lower + (one.rises ? 1 : 0);
    if (!evaluate_motion()) return false;
    sides[one.number] = one.lower + (one.rises ? 0 : 1);
    for (const int i : resting) {
      const double change = h[i] - rest_force[i];
      if (i == one.along ? change > 0 : change != 0) return false;
      rest_low[i] += change;
      rest_sum[i] += change;
    }
  }
  if (dry.size() < 2) return true;
  for (const Dry& one : dry) sides[one.number] = one.lower + (one.rises ? 1 : 0);
  if (!evaluate_motion()) return false;
  for (const Dry& one : dry) sides[one.number] = one.lower + (one.rises ? 0 : 1);
  return std::all_of(resting.begin(), resting.end(), [&](int i) {
    const double size = std::abs(h[i]) + std::abs(rest_force[i]) + std::abs(rest_sum[i]);
    return std::abs(h[i] - rest_force[i] - rest_sum[i]) <= 64 * kEpsilon * size;
  });
}

// Whether rest on the surface of a sign is more than a point that the motion passes: not both sides leave it, and none takes the motion
// through. The interval of the one coordinate is known with the value 0; its forces on the sides are that far from it.
bool Referee::Bench::attracts(int k) {
  const int i = resting.front();
  const model::SwitchInfo& info = system.switches()[k];
  info.surface.evaluate(work.in.data(), other.data(), work.registers.data());
  const double slope = other[2 + i];
  double* sides = work.in.data() + layout.side();
  const double lower = std::floor(sides[k]);
  double low[2] = {0, 0};
  double high[2] = {0, 0};
  for (const int upper : {0, 1}) {
    sides[k] = lower + upper;
    if (!evaluate_motion()) return false;
    low[upper] = rest_low[i] + h[i] - rest_force[i];
    high[upper] = rest_high[i] + h[i] - rest_force[i];
    if (slope < 0) {
      std::swap(low[upper], high[upper]);
      low[upper] = -low[upper];
      high[upper] = -high[upper];
    }
  }
  const bool up = low[1] >= 0;
  const bool down = high[0] <= 0;
  const bool back_down = high[1] <= 0;
  const bool back_up = low[0] >= 0;
  return !(up && (down || back_up)) && !(down && back_down) && slope != 0;
}

}  // namespace judder::referee
