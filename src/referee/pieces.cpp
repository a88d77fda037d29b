// From the beginning of a piece of motion to its end: positions are the integral of velocities, velocities of accelerations, and energy
// changes by the work that is done.
#include <algorithm>
#include <array>
#include <cmath>

#include "bench.hpp"

namespace judder::referee {

// The change of a quantity y against the integral of its rate f at the five points: Lobatto's rule, of order 8. How far it may be trusted tells
// Simpson's rule on three of the points, of order 4. Where y is known inside as well, the polynomial through the rates is held against its
// changes between the inner points: that finds what five points do not resolve (a corner), and is finer for what they do. The ends of the
// piece take no part in it, so a wrong end does not excuse itself.
Referee::Bench::Integral Referee::Bench::integrate(const double* f, const double* y, double change,
                                                   double length, bool stiff) const {
  Integral out;
  if (stiff) {
    // The points are those of a collocation method: its own rule must hold, or a better one.
    const double root = std::sqrt(6.0);
    const double own = length * ((16 - root) / 36 * f[1] + (16 + root) / 36 * f[3] + f[4] / 9);
    double all = 0;
    for (int i = 0; i < 5; ++i) all += stiff_weights[i] * f[i];
    all *= length;
    out.residual = std::min(std::abs(change - own), std::abs(change - all));
    out.allowance = std::abs(own - all);
    return out;
  }
  const double lobatto = length * ((f[0] + f[4]) / 20 + 49 * (f[1] + f[3]) / 180 + 16 * f[2] / 45);
  const double simpson = length * ((f[0] + f[4]) / 6 + 2 * f[2] / 3);
  out.residual = std::abs(change - lobatto);
  out.allowance = std::abs(lobatto - simpson);
  if (y == nullptr) return out;
  if (f[0] == f[1] && f[1] == f[2] && f[2] == f[3] && f[3] == f[4] && std::isfinite(f[0])) {
    out.allowance = 0;  // as below, where a rate that does not vary excuses nothing
    return out;
  }
  double inner = 0;
  for (int k = 0; k < 2; ++k) {
    double sum = 0;
    for (int i = 0; i < 5; ++i) sum += inner_weights[k][i] * f[i];
    inner = std::max(inner, std::abs(y[k + 2] - y[k + 1] - length * sum));
  }
  // What the points do not resolve is no more than what the rate varies by: changes that no rate explains, at the inner points too, excuse nothing.
  const auto [least, most] = std::minmax_element(f, f + 5);
  inner = std::min(inner, length * (*most - *least));
  // For a smooth rate that the points resolve, this is a small part of the difference of the two rules.
  constexpr double kSmooth = 0.1;
  out.allowance =
      inner > kSmooth * out.allowance ? out.allowance + 3 * inner : std::min(out.allowance, 3 * inner);
  return out;
}

void Referee::Bench::judge_piece() {
  const Reading& first = readings[order[0]];
  const Reading& last = readings[order[held - 1]];
  const double length = last.time - first.time;
  check(Law::story, 0, last.time, length >= 0 ? 0 : 1, 0);
  for (int i = 1; i < held; ++i) {
    // Within a piece the mode is one.
    const Reading& reading = readings[order[i]];
    const bool same = reading.normal == first.normal && reading.tangent == first.tangent &&
                      reading.surface == first.surface;
    check(Law::story, 0, reading.time, same ? 0 : 1, 0);
  }
  if (!works_known && first.works_told) note_works(first);
  // Where the points lie.
  bool stiff = false;
  bool whole = held == 5 && length > 0;
  if (whole) {
    const double slack = 1e-6 + 64 * kEpsilon * std::abs(last.time) / length;
    const auto at = [&](double a, double b, double c) {
      return std::abs((readings[order[1]].time - first.time) / length - a) <= slack &&
             std::abs((readings[order[2]].time - first.time) / length - b) <= slack &&
             std::abs((readings[order[3]].time - first.time) / length - c) <= slack;
    };
    stiff = at(0.15505102572168219, 0.4, 0.6449489742783178);
    const bool known = stiff || at(0.17267316464601143, 0.5, 0.8273268353539886);
    check(Law::story, 0, last.time, known ? 0 : 1, 0);
    whole = known;
  }
  const bool follow = whole && last.resolved && options.integrals;
  jacobian_ready = false;
  double flows = 0;
  double exchange = 0;
  for (int i = 0; i < held; ++i) {
    const Reading& reading = readings[order[i]];
    flows = std::max(flows, reading.power_terms);
    exchange = std::max(exchange, reading.power_terms + reading.exchange);
  }
  double begun = 0;
  // Times are rounded, and what changes with them is off by its rate.
  const double clock = 16 * kEpsilon * std::max(std::abs(first.time), std::abs(last.time));
  if (follow) {
    double f[5];
    double y[5];
    const auto gather = [&](const auto& value) {
      double largest = 0;
      for (int i = 0; i < 5; ++i) {
        f[i] = value(readings[order[i]]);
        largest = std::max(largest, std::abs(f[i]));
      }
      return largest;
    };
    std::array<const double*, 5> places{};
    std::array<const double*, 5> speeds{};
    std::array<const double*, 5> pushes{};
    for (int k = 0; k < 5; ++k) {
      const Reading& reading = readings[order[k]];
      places[k] = reading.in.data() + layout.q();
      speeds[k] = reading.in.data() + layout.v();
      pushes[k] = reading.acceleration.data();
    }
    const auto gather_at = [&](const std::array<const double*, 5>& from, int i) {
      double largest = 0;
      for (int k = 0; k < 5; ++k) {
        f[k] = from[k][i];
        largest = std::max(largest, std::abs(f[k]));
      }
      return largest;
    };
    for (int i = 0; i < n; ++i) {
      const int at = layout.q() + i;
      double largest = gather_at(speeds, i);
      for (int k = 0; k < 5; ++k) y[k] = places[k][i];
      Integral integral = integrate(f, y, y[4] - y[0], length, stiff);
      double allowance = integral.allowance + allowed * position[i] + clock * largest +
                         first_movement(largest * length, position_before[i]) +
                         16 * kEpsilon * (std::abs(last.in[at]) + std::abs(first.in[at]));
      if (integral.residual > allowance && massless[i] != 0) allowance += massless_rounding(last, i, length);
      if (integral.residual > allowance && massless[i] == 0) {
        allowance += tied_rounding(last, i);  // loads the reading
        if (inertia[i] > 0) allowance += kStages * length * length * driven_rounding(i) / inertia[i];
      }
      check(Law::position, i, last.time, integral.residual, allowance);
      if (massless[i] != 0) continue;
      largest = gather_at(pushes, i);
      const double v0 = speeds[0][i];
      const double v1 = speeds[4][i];
      if (largest == 0 && v1 == v0) {
        check(Law::velocity, i, last.time, 0, 0);  // nothing pushes it, nothing has changed
        continue;
      }
      for (int k = 0; k < 5; ++k) y[k] = speeds[k][i];
      integral = integrate(f, y, v1 - v0, length, stiff);
      allowance = integral.allowance + allowed * velocity[i] + clock * largest +
                  first_movement(largest * length, velocity_before[i]) +
                  16 * kEpsilon * (std::abs(v0) + std::abs(v1));
      if (integral.residual > allowance && inertia[i] > 0) {
        // Rounding of the forces, over the inertia.
        load(last);
        allowance += kStages * length * driven_rounding(i) / inertia[i] + carried_error(last, i, length);
      }
      check(Law::velocity, i, last.time, integral.residual, allowance);
    }
    for (int i = 0; i < layout.states; ++i) {
      const int at = layout.z() + i;
      const double largest = gather([&](const Reading& r) { return r.rate[i]; });
      for (int k = 0; k < 5; ++k) y[k] = readings[order[k]].in[at];
      const Integral integral = integrate(f, y, y[4] - y[0], length, stiff);
      double allowance = integral.allowance + allowed * state[i] + clock * largest +
                         first_movement(largest * length, state_before[i]) +
                         16 * kEpsilon * (std::abs(last.in[at]) + std::abs(first.in[at]));
      if (integral.residual > allowance) {
        // Rounding of the rate, where it is largest: it may die out within the piece. And what the error of the dense output does to the rates.
        double noise = 0;
        for (int k = 0; k < held; ++k) {
          load(readings[order[k]]);
          noise = std::max(noise, rounding(system.motion_program(), n + i));
        }
        load(last);
        allowance += kStages * length * noise + carried_error(last, n + i, length);
      }
      check(Law::state, i, last.time, integral.residual, allowance);
    }
    bool sure = true;
    for (int i = 0; i < 5; ++i) sure = sure && readings[order[i]].power_sure;
    begun = first_movement(flows * length, std::max(flow, energy_before));
    flow = std::max(flow, flows * length);
    energy_scale = std::max(energy_scale, flow);
    gather([](const Reading& r) { return r.power; });
    const Integral net = integrate(f, nullptr, last.energy - first.energy, length, stiff);
    double slack = net.allowance + clock * flows + begun +
                   64 * kEpsilon * (last.energy_terms + first.energy_terms + flows * length);
    if (net.residual > allowed * energy_scale + slack) slack += energy_error(last, length, flows);
    if (sure) check(Law::energy, 0, last.time, net.residual, allowed * energy_scale + slack);
    own_slack += slack;
    const auto sum = [&] {
      if (stiff) {
        double all = 0;
        for (int i = 0; i < 5; ++i) all += stiff_weights[i] * f[i];
        return length * all;
      }
      return length * ((f[0] + f[4]) / 20 + 49 * (f[1] + f[3]) / 180 + 16 * f[2] / 45);
    };
    own_net += sum();
    gather([](const Reading& r) { return r.dissipation; });
    own_slack += integrate(f, nullptr, sum(), length, stiff).allowance;
    own_dissipated += sum();
    own_sure = own_sure && sure;
    own_unique = own_unique && last.unique;
  } else if (length > 0) {
    own_sure = false;
  }
  if (!last.works_told) return;
  if (works_known && options.integrals) {
    const double net = last.supplied - last.dissipated;
    const double rounded =
        64 * kEpsilon * (last.energy_terms + std::abs(last.supplied) + std::abs(last.dissipated));
    // Engines weigh works by the largest energy, whatever its zero is, and by what has been done in all: what a belt brings and friction takes may be far more than
    // what is left of both.
    const double done =
        std::max({energy_scale, largest_energy, std::abs(last.supplied), std::abs(last.dissipated)});
    double slack = allowed * done + rounded + begun + clock * exchange;
    const double recorded = std::abs((last.energy - works_energy) - (net - works_net));
    // Where reactions are not unique, what they do together is, but not how much of it rows that slip dissipate.
    const double own_apart = own_unique ? std::abs(last.dissipated - works_dissipated - own_dissipated) : 0;
    if (recorded > slack ||
        (own_sure && std::max(std::abs(net - works_net - own_net), own_apart) > slack + own_slack))
      slack += energy_error(last, length, flows);
    check(Law::work, 0, last.time, recorded, slack);
    if (own_sure) {
      check(Law::work, 0, last.time, std::abs(net - works_net - own_net), slack + own_slack);
      check(Law::work, 0, last.time, own_apart, slack + own_slack);
    }
  }
  note_works(last);
}

double Referee::Bench::carried_error(const Reading& reading, int i, double length) {
  const int columns = 2 * n + layout.states + layout.free_parameters;
  if (!jacobian_ready) {
    // The largest slopes that the piece has: those of bristles come and go within it.
    const std::size_t size = static_cast<std::size_t>(n + layout.states) * columns;
    jacobian.assign(size, 0.0);
    jacobian_here.resize(size);
    for (int k = 0; k < held; ++k) {
      load(readings[order[k]]);
      system.jacobian(work, jacobian_here.data());
      for (std::size_t e = 0; e < size; ++e) jacobian[e] = std::max(jacobian[e], std::abs(jacobian_here[e]));
    }
    load(reading);
    jacobian_ready = true;
  }
  const double* row = jacobian.data() + static_cast<std::size_t>(i) * columns;
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += std::abs(row[j]) * position[j] + std::abs(row[n + j]) * velocity[j];
  for (int j = 0; j < layout.states; ++j) sum += std::abs(row[2 * n + j]) * state[j];
  const double own_inertia = i < n ? inertia[i] : 1;
  return own_inertia > 0 ? allowed * length * sum / own_inertia : 0;
}

// Rounding of the forces that drive coordinate i, at the loaded state: their own, and what the solution of rows at rest leaves of those of others.
double Referee::Bench::driven_rounding(int i) {
  return rounding(system.motion_program(), i) + std::max(256 * kEpsilon * force[i], solved_rounding(i));
}

// How far coordinate i may be put so that rows which are held fit together to the last bits of all coordinates in them: a little one that is tied to a large one has no
// more digits than that.
double Referee::Bench::tied_rounding(const Reading& reading, int i) {
  load(reading);
  double sum = 0;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (!relation.has_normal || !relation.holonomic || reading.normal[r] == Normal::open) continue;
    const model::Row& w = system.rows(work, r).w;
    double terms = 0;
    for (const int j : relation.touches) terms += std::abs(w[j] * reading.in[layout.q() + j]);
    if (w[i] != 0) sum += 16 * kEpsilon * terms / std::abs(w[i]);
  }
  return sum;
}

// How far a massless coordinate follows the rounding of its forces and what the others may be off: through its damper over the length, or
// through its spring at once.
double Referee::Bench::massless_rounding(const Reading& reading, int i, double length) {
  load(reading);
  double width = rounding(system.motion_program(), i) + 256 * kEpsilon * force[i];
  static_cast<void>(carried_error(reading, i, length));
  const int columns = 2 * n + layout.states + layout.free_parameters;
  const double* row = jacobian.data() + static_cast<std::size_t>(i) * columns;
  for (int j = 0; j < n; ++j) {
    if (massless[j] == 0)
      width += allowed * (std::abs(row[j]) * position[j] + std::abs(row[n + j]) * velocity[j]);
  }
  const double slope = std::abs(follows[i] != 0 ? row[i] : row[n + i]);
  if (!(slope > 0)) return 0;
  return follows[i] != 0 ? 2 * width / slope : length * width / slope;
}

// How exact the speed of damped massless coordinates along w is at the loaded state: it follows from forces that nearly balance where a node
// has just begun to slip.
double Referee::Bench::massless_speed(const model::Row& w) {
  if (!any_massless) return 0;
  const int columns = 2 * n + layout.states + layout.free_parameters;
  jacobian_here.resize(static_cast<std::size_t>(n + layout.states) * columns);
  system.jacobian(work, jacobian_here.data());
  double along = 0;
  for (int i = 0; i < n; ++i) {
    if (massless[i] == 0 || follows[i] != 0 || w[i] == 0) continue;
    const double* row = jacobian_here.data() + static_cast<std::size_t>(i) * columns;
    double width = rounding(system.motion_program(), i) + 256 * kEpsilon * force[i];
    for (int j = 0; j < n; ++j) {
      width += allowed * std::abs(row[j]) * position[j];
      if (massless[j] == 0) width += allowed * std::abs(row[n + j]) * velocity[j];
    }
    for (int j = 0; j < layout.states; ++j) width += allowed * std::abs(row[2 * n + j]) * state[j];
    if (row[n + i] != 0) along += std::abs(w[i]) * width / std::abs(row[n + i]);
  }
  return along;
}

// What the errors and the rounding of the states do to the energy: by the forces that act along positions, and by the powers. Where the
// motion is stiff for the length of the piece, velocities between its ends are less exact by that factor.
double Referee::Bench::energy_error(const Reading& reading, double length, double flows) {
  double sum = 0;
  double stiffness = 1;
  for (int i = 0; i < n; ++i) {
    const double moved = massless[i] != 0 ? massless_rounding(reading, i, length) : 0;
    sum += force[i] * (16 * kEpsilon * std::abs(reading.in[layout.q() + i]) + allowed * position[i] + moved);
    // Speeds may be off by the rounding of the forces over the length (as `velocity` allows), and forces do work along with them.
    if (massless[i] == 0 && inertia[i] > 0)
      sum += force[i] * length * (kStages * length * 256 * kEpsilon * force[i] / inertia[i]);
    if (massless[i] == 0 && velocity[i] > 0)
      stiffness = std::max(stiffness, carried_error(reading, i, length) / (allowed * velocity[i]));
  }
  // What the velocities may be off, the energy is off by: where (x' + c)² is small, that has little to do with its size.
  load(reading);
  double moving = 0;
  double stored = 0;
  double energy = 0;
  system.energies(work, moving, stored, energy);
  for (int i = 0; i < n; ++i) {
    double& speed = work.in[layout.v() + i];
    const double told = speed;
    double most = 0;
    for (const double sign : {1.0, -1.0}) {
      double there = 0;
      speed = told + sign * (allowed * velocity[i] + 16 * kEpsilon * std::abs(told));
      system.energies(work, moving, stored, there);
      most = std::max(most, std::abs(there - energy));
    }
    speed = told;
    sum += most;
  }
  // Rounding of the forces does work as they do.
  double rounded = 0;
  for (int k = 0; k < held; ++k) {
    const Reading& point = readings[order[k]];
    load(point);
    static_cast<void>(rounding(system.motion_program(), 0));
    double power = 0;
    for (int i = 0; i < n; ++i) {
      const double width = 8 * (interval_out[i].high - interval_out[i].low);
      power += std::abs(point.in[layout.v() + i]) * (256 * kEpsilon * force[i] + width);
    }
    // So does friction with the rounding of a drive: the speed of a belt may be a small difference.
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = relations[r];
      if (relation.rows_constant) continue;
      for (int j = 0; j < relation.tangents; ++j)
        power += std::abs(point.tangential_force[relation.first_tangent + j]) *
                 rounding(relation.rows, relation.row_begin(j));
    }
    if (std::isfinite(power)) rounded = std::max(rounded, power);
  }
  load(reading);
  // At the kink of a fractional power the stiffness has no bound, and where nothing flows it does nothing.
  const double carried = flows > 0 ? 2 * allowed * flows * length * stiffness : 0;
  return sum + carried + kStages * length * rounded;
}

void Referee::Bench::note_works(const Reading& reading) {
  works_known = true;
  works_net = reading.supplied - reading.dissipated;
  works_dissipated = reading.dissipated;
  works_energy = reading.energy;
  own_net = own_dissipated = own_slack = 0;
  own_sure = own_unique = true;
}

}  // namespace judder::referee
