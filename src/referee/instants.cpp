// Instants: nothing jumps but velocities, and they by impulses alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bench.hpp"

namespace judder::referee {

// The largest coefficient that the law of a relation has at speeds up to `speed`, with the velocities that an impact leads through: a law may
// read them (another coefficient in each direction), and most impact laws take it before the impact. A slip that stops is held from either direction.
double Referee::Bench::largest_coefficient(int r, double speed, const double* v0, const double* v1,
                                           const Stop& stop) {
  const model::Relation& relation = relations[r];
  if (relation.curve.outputs() < 3) return 0;
  constexpr int kSamples = 16;
  constexpr int kWay = 4;
  double& asked = work.in[layout.approach_speed()];
  double* v = work.in.data() + layout.v();
  double least = 0;
  double most = 0;
  double mobility = 0;
  for (int i = 0; i < n; ++i) mobility += inertia[i] > 0 ? stop.w[i] * stop.w[i] / inertia[i] : 0;
  const int last = mobility > 0 ? kWay + 2 : kWay;
  for (int k = 0; k <= last; ++k) {
    for (int i = 0; i < n; ++i) {
      v[i] = k >= kWay ? v1[i] : v0[i] + (v1[i] - v0[i]) * k / kWay;
      if (k > kWay && inertia[i] > 0)
        v[i] -= (stop.slip + (k == last ? stop.beside : -stop.beside)) * stop.w[i] / inertia[i] / mobility;
    }
    for (int i = 0; i <= kSamples; ++i) {
      asked = speed * i / kSamples;
      relation.curve.evaluate(work.in.data(), other.data(), work.registers.data());
      const double here = std::max(std::abs(other[1]), std::abs(other[2]));
      most = std::max(most, here);
      least = i + k == 0 ? here : std::min(least, here);
    }
  }
  std::copy_n(v1, n, v);
  // Between the samples a law that varies may be a little larger.
  return most + 0.1 * (most - least);
}

// Whether the impulse of a constraint, of either sign, loads the friction of a relation.
bool Referee::Bench::held_load(const model::Relation& relation) const {
  return relation.kind == model::RelationKind::constraint ||
         std::any_of(relation.feeds.begin(), relation.feeds.end(),
                     [this](int fed) { return relations[fed].kind == model::RelationKind::constraint; });
}

// Whether the impact law of a relation gives its impulse by the velocities afterwards alone. Joints and constraints have none of their own: joints take
// part in those of the contacts that load them, constraints in those of all that are struck, and in the compression and expansion of `poisson` their
// friction may have turned on the way.
bool Referee::Bench::impulses_at_once(const model::Relation& relation, const Impulse& given) {
  // One contact that touches, struck or not, makes a problem of compression and expansion of the impact of all.
  bool phases = false;
  for (int r = 0; r < layout.relations && !phases; ++r) {
    const model::Relation& other_one = relations[r];
    if (other_one.kind != model::RelationKind::contact || !other_one.has_normal ||
        (other_one.impact != ImpactType::poisson && other_one.impact != ImpactType::stronge))
      continue;
    double value = 0;
    double speed = 0;
    system.gap(work, r, value, speed);
    phases = given.normal[r] != 0 || value <= allowed * gap[r] + rounding(other_one.gap, 0);
  }
  const auto at_once = [&](int r) {
    const model::Relation& struck = relations[r];
    return struck.kind != model::RelationKind::contact || (struck.impact == ImpactType::moreau && !phases);
  };
  if (relation.kind == model::RelationKind::contact && relation.has_normal)
    return relation.impact == ImpactType::moreau && !phases;
  bool all = true;
  for (const int fed : relation.feeds) all = all && at_once(fed);
  if (!held_load(relation)) return all;
  for (int r = 0; r < layout.relations; ++r) all = all && (given.normal[r] == 0 || at_once(r));
  return all;
}

void Referee::Bench::impulse(const Impulse& given) {
  double* in = work.in.data();
  if (held > 0 && impacts == 0) {
    const Reading& last = readings[order[0]];
    std::copy_n(last.in.begin() + layout.v(), n, speed_before.begin());
    std::copy_n(last.in.begin(), layout.free_parameter(), in);
  }
  if (held == 0 && impacts == 0) std::copy(given.before.begin(), given.before.end(), speed_before.begin());
  if (held == 0 && impacts == 0) std::copy(given.before.begin(), given.before.end(), first_speed.begin());
  ++impacts;
  tail = tail || given.tail;
  in[0] = given.time;
  std::copy(given.q.begin(), given.q.end(), in + layout.q());
  std::copy(given.v.begin(), given.v.end(), in + layout.v());
  std::copy(given.z.begin(), given.z.end(), in + layout.z());
  std::copy(given.side.begin(), given.side.end(), in + layout.side());
  int struck = 0;
  for (int r = 0; r < layout.relations; ++r) {
    impulse_normal[r] += given.normal[r];
    if (given.normal[r] != 0 && relations[r].kind == model::RelationKind::contact) ++struck;
  }
  for (int i = 0; i < n; ++i)
    velocity[i] = std::max({velocity[i], std::abs(given.v[i]), std::abs(speed_before[i])});

  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = relations[r];
    const double normal = given.normal[r];
    bool part = normal != 0;
    for (int j = 0; j < relation.tangents; ++j)
      part = part || given.tangential[relation.first_tangent + j] != 0;
    if (!part) continue;
    const model::RelationRows& rows = system.rows(work, r);
    // The rows at the impact: a kink of the gap may have another side afterwards.
    for (std::size_t e = 0; e < relation.touches.size(); ++e) {
      const int i = relation.touches[e];
      const auto add = [&](double part_of) {
        impulse_push[i] += part_of;
        impulse_terms[i] += std::abs(part_of);
      };
      if (relation.has_normal) add(rows.push.values()[e] * normal);
      for (int j = 0; j < relation.tangents; ++j)
        add(rows.tangent[j].drag.values()[e] * given.tangential[relation.first_tangent + j]);
    }
    normal_impulse_scale[r] = std::max(normal_impulse_scale[r], std::abs(normal));
    // The impulse that would change the largest velocities seen.
    const auto momentum = [&](const model::Row& w) {
      double inverse = 0;
      for (std::size_t e = 0; e < w.values().size(); ++e) {
        const double own_inertia = inertia[w.places()[e]];
        if (own_inertia > 0) inverse += w.values()[e] * w.values()[e] / own_inertia;
      }
      return inverse > 0 ? row_scale(w, velocity) / inverse : 0;
    };
    if (relation.kind == model::RelationKind::contact && relation.has_normal) {
      // What a tail stops has no more energy than the tolerance of the positions leaves it.
      const double share = given.tail ? std::sqrt(allowed) : allowed;
      check(Law::impulse, r, given.time, -normal,
            share * std::max(normal_impulse_scale[r], momentum(rows.w)));
      if (normal > 0) {
        check(Law::rebound, r, given.time, -rows.gap_rate,
              allowed * (row_scale(rows.w, velocity) + std::abs(rows.gap_time)) + rounding(relation.gap, 1));
      }
    }
    double load_impulse = 0;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      load_impulse += rows.factors[f] * std::abs(given.normal[relation.feeds[f]]);
    for (int j = 0; j < relation.tangents; ++j) {
      const double friction = given.tangential[relation.first_tangent + j];
      if (friction == 0) continue;
      const model::RelationRows::Tangent& row = rows.tangent[j];
      const double after = row.slip;
      double before = after;
      for (std::size_t e = 0; e < row.w.values().size(); ++e) {
        const int i = row.w.places()[e];
        before += row.w.values()[e] * (speed_before[i] - given.v[i]);
      }
      const double scale = row_scale(row.w, velocity) + std::abs(row.drive);
      if (relation.has_tangential_restitution) {
        // It replaces Coulomb's law: no cone, but a slip afterwards.
        double out[2];
        work.in[layout.approach_speed()] = 0;
        relation.restitution.evaluate(work.in.data(), out, work.registers.data());
        // A tail is infinitely many of them.
        const double kept = given.tail && std::abs(out[1]) < 1 ? 0 : out[1] * before;
        if (normal > 0) check(Law::impulse_slip, r, given.time, std::abs(after - kept), allowed * scale);
        continue;
      }
      constexpr double kBeside = 1e-9;  // of the largest slip: on one side of rest
      const double most =
          largest_coefficient(r, 2 * std::max({std::abs(before), std::abs(after)}), speed_before.data(),
                              given.v.data(), {row.w, after, kBeside * scale});
      // Where impulses grow one after the other, what a constraint presses this way and then that way is more than its impulse, and so is its friction.
      const bool at_once = impulses_at_once(relation, given);
      if (at_once || !held_load(relation))
        check(Law::impulse_cone, r, given.time, std::abs(friction) - most * load_impulse,
              allowed * std::max(most * load_impulse, momentum(row.w)));
      const double quiet = allowed * scale;
      const double sign = after > quiet ? 1 : after < -quiet ? -1 : 0;
      const bool kept = before * sign > quiet;
      const bool certain = at_once ? sign != 0 : kept && struck == 1;
      if (certain)
        check(Law::impulse_slip, r, given.time, sign * friction,
              allowed * std::max(most * load_impulse, momentum(row.w)));
    }
  }
  std::copy(given.v.begin(), given.v.end(), speed_before.begin());
}

// Where nothing else changes, reactions are continuous: a row that begins to slip was at its limit. Of several that let go together, one.
void Referee::Bench::judge_release(const Reading& before, const Reading& after) {
  if (impacts > 0 || !before.unique || !before.resolved || before.normal != after.normal ||
      before.surface != after.surface)
    return;
  if (!std::equal(before.in.begin() + layout.side(), before.in.begin() + layout.side() + layout.switches,
                  after.in.begin() + layout.side()))
    return;
  int first = -1;
  double left = std::numeric_limits<double>::infinity();
  double allowance = 0;
  load(before);
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = relations[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (before.tangent[number] == after.tangent[number]) {
        // A slip that comes to zero and goes on is free to jump, too.
        const bool slid = before.tangent[number] == Tangent::plus || before.tangent[number] == Tangent::minus;
        const model::RelationRows::Tangent& row = system.rows(work, r).tangent[j];
        if (slid && std::abs(row.slip) <= allowed * (row_scale(row.w, velocity) + std::abs(row.drive)))
          return;
        continue;
      }
      const bool slips = after.tangent[number] == Tangent::plus || after.tangent[number] == Tangent::minus;
      if (before.tangent[number] != Tangent::stick || !slips || relation.tangents > 1) return;
      for (const int i : relation.touches) {
        if (massless[i] != 0) return;  // what has no inertia may jump
      }
      const double limit = limit_of_rest(before, r, j);
      const double remains = limit - std::abs(before.tangential_force[number]);
      if (!(remains < left)) continue;
      left = remains;
      first = r;
      allowance = allowed * std::max({tangential_force[number], std::abs(limit), load_scale[r]});
      if (left > allowance)
        allowance += force_rounding(system.rows(work, r).tangent[j].w) + rounding(relation.law, 0);
    }
  }
  if (first >= 0) check(Law::release, first, after.time, left, allowance);
}

// A coordinate without inertia and damper jumps with its forces, but friction lets it jump in the direction of its slip only.
void Referee::Bench::judge_jumps(const Reading& before, const Reading& after) {
  load(after);
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = relations[r];
    if (relation.has_normal) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const Tangent status = after.tangent[relation.first_tangent + j];
      if (status != Tangent::plus && status != Tangent::minus) continue;
      const model::Row& w = system.rows(work, r).tangent[j].w;
      double way = 0;
      double allowance = 0;
      for (const int i : relation.touches) {
        if (follows[i] == 0) continue;
        const double a = before.in[layout.q() + i];
        const double b = after.in[layout.q() + i];
        way += w[i] * (b - a);
        allowance += std::abs(w[i]) * (allowed * position[i] + 64 * kEpsilon * (std::abs(a) + std::abs(b)));
      }
      const double back = status == Tangent::plus ? -way : way;
      for (const int i : relation.touches) {
        if (back > allowance && follows[i] != 0) allowance += std::abs(w[i]) * massless_rounding(after, i, 0);
      }
      check(Law::direction, r, after.time, back, allowance);
    }
  }
}

// Puts what jumps where it was, and the switches that this moves on the sides that they had there.
void Referee::Bench::load_before_jump(const Reading& before, const Reading& after) {
  for (int i = 0; i < n; ++i) {
    if (follows[i] != 0) work.in[layout.q() + i] = before.in[layout.q() + i];
  }
  for (int k = 0; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (info.time_only) continue;
    double now = 0;
    double behind = 0;
    info.value.evaluate(work.in.data(), &now, work.registers.data());
    info.value.evaluate(after.in.data(), &behind, work.registers.data());
    if (now != behind) work.in[layout.side() + k] = before.in[layout.side() + k];
  }
}

void Referee::Bench::judge_instant(const Reading& before, Reading& after) {
  const double t = after.time;
  // Two instants that rounding of the time cannot tell apart are one.
  check(Law::story, 0, t, std::abs(t - before.time), 64 * kEpsilon * std::abs(t));
  for (int i = 0; i < n; ++i) {
    if (follows[i] != 0) continue;
    const double a = before.in[layout.q() + i];
    const double b = after.in[layout.q() + i];
    double slack = allowed * position[i] + 64 * kEpsilon * (std::abs(a) + std::abs(b));
    // What closes is moved onto its contact, by rounding of the gap.
    for (int r = 0; r < layout.relations && std::abs(b - a) > slack; ++r) {
      const model::Relation& relation = relations[r];
      if (!relation.has_normal || (after.normal[r] == before.normal[r] && impulse_normal[r] == 0)) continue;
      const model::Row& w = system.rows(work, r).w;
      if (w[i] != 0) {
        slack += rounding(relation.gap, 0) / std::abs(w[i]);
        continue;
      }
      // What shares inertia with it is moved along, by M⁻¹w.
      if (relation.touches.empty() || block[i] != block[relation.touches[0]] || !system.motion(work))
        continue;
      w.write(mass_row.data(), n);
      system.solve_mass(work, mass_row.data());
      double along = 0;
      for (const int k : relation.touches) along += w[k] * mass_row[k];
      if (along > 0) slack += rounding(relation.gap, 0) * std::abs(mass_row[i]) / along;
    }
    check(Law::continuity, i, t, std::abs(b - a), slack);
  }
  if (any_massless) judge_jumps(before, after);
  for (int i = 0; i < layout.states; ++i) {
    const double a = before.in[layout.z() + i];
    const double b = after.in[layout.z() + i];
    bool reset = false;
    if (b == 0 && a != 0) {
      for (int r = 0; r < layout.relations; ++r) {
        const auto& bristles = relations[r].bristles;
        reset = reset || (after.normal[r] == Normal::open &&
                          std::find(bristles.begin(), bristles.end(), i) != bristles.end());
      }
    }
    double slack = allowed * state[i] + 64 * kEpsilon * (std::abs(a) + std::abs(b));
    if (!reset && std::abs(b - a) > slack) slack += surface_slack(after, i);
    check(Law::continuity, n + i, t, reset ? 0 : std::abs(b - a), slack);
  }
  const double* v0 = before.in.data() + layout.v();
  const double moved = judge_momentum(v0, &before, after);
  judge_release(before, after);
  load(after);
  // Energy: the same place and sides, the velocities before and after; but for what has jumped.
  if (before.works_told && after.works_told && options.integrals) {
    double moving = 0;
    double stored = 0;
    double with_new = 0;
    double with_old = 0;
    system.energies(work, moving, stored, with_new);
    std::copy_n(v0, n, work.in.begin() + layout.v());
    if (any_massless) load_before_jump(before, after);
    system.energies(work, moving, stored, with_old);
    load(after);
    const double net = (after.supplied - after.dissipated) - (before.supplied - before.dissipated);
    check(Law::energy, 0, t, std::abs(with_new - with_old - net),
          moved + allowed * energy_scale +
              256 * kEpsilon *
                  (after.energy_terms + before.energy_terms + std::abs(after.supplied) +
                   std::abs(after.dissipated)));
  }
  if (after.works_told) note_works(after);
}

// What a state may be moved by where it is put onto the surfaces that are slid or rested on: the rounding of these.
double Referee::Bench::surface_slack(const Reading& after, int i) {
  load(after);
  double slack = 0;
  for (int k = 0; k < layout.switches; ++k) {
    if (after.surface[k] == Surface::away) continue;
    const model::SwitchInfo& info = system.switches()[k];
    for (const expr::Program* program : {&info.surface, &info.rate}) {
      if (program->outputs() == 0) continue;
      program->evaluate(work.in.data(), other.data(), work.registers.data());
      const double slope = std::abs(other[2 + 2 * n + i]);
      if (slope > 0) slack += rounding(*program, 0) / slope;
    }
  }
  return slack;
}

// What velocities jump by, from v0 to those of `after`, is the sum of the impulses. An instant is known to rounding of the time only: what begins or ceases to go along with a drive
// there is moved by what it accelerates by within that. Gives the energy that belongs to it.
double Referee::Bench::judge_momentum(const double* v0, const Reading* before, const Reading& after) {
  load(after);
  if (!system.mass_constant() && !evaluate_motion()) return 0;
  const double t = after.time;
  const double* v1 = after.in.data() + layout.v();
  const double instant = 64 * kEpsilon * std::abs(t);
  double energy = 0;
  for (int i = 0; i < n; ++i) h[i] = v1[i] - v0[i];
  apply_mass(h.data(), mass_row.data(), mass_terms.data());
  apply_mass(velocity.data(), other.data(), mass_terms.data());
  for (int i = 0; i < n; ++i) {
    if (massless[i] != 0) continue;
    double moved = 0;
    for (int e = mass_begin[i]; e < mass_begin[i + 1] && before != nullptr; ++e) {
      const int k = mass_column[e];
      moved += std::abs(mass[mass_entry[e]]) *
               (std::abs(before->acceleration[k]) + std::abs(after.acceleration[k]));
    }
    moved *= instant;
    energy += moved * (std::abs(v0[i]) + std::abs(v1[i]));
    const double amount = std::abs(mass_row[i] - impulse_push[i]);
    double allowance = (allowed + 256 * kEpsilon) * mass_terms[i] + 256 * kEpsilon * impulse_terms[i] + moved;
    // Forces that balance leave their rounding in speeds, which an instant may take away.
    if (amount > allowance) allowance += driven_rounding(i) * std::max(t - phase_before, instant);
    check(Law::momentum, i, t, amount, allowance);
  }
  return energy;
}

}  // namespace judder::referee
