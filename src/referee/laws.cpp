// The laws that hold at every point of a motion.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bench.hpp"

#include "core/elementary.hpp"

namespace judder::referee {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCoefficient = 1e-9;  ///< of friction: less below zero is rounding
constexpr double kParallel = 1e-6;          ///< share of its length by which a slope may leave the others

double norm_of(const double* x, int n) {
  double norm = 0;
  for (int i = 0; i < n; ++i) norm = elementary::hypot(norm, x[i]);
  return norm;
}

/// Takes out of x what points along `direction`.
void take_out(const double* direction, double* x, int n) {
  double product = 0;
  double square = 0;
  for (int i = 0; i < n; ++i) {
    product += direction[i] * x[i];
    square += direction[i] * direction[i];
  }
  if (!(square > 0)) return;
  for (int i = 0; i < n; ++i) x[i] -= product / square * direction[i];
}

}  // namespace

void Referee::Bench::judge(Reading& reading) {
  reading.judged = true;
  load(reading);
  judge_sides(reading);
  std::fill(push.begin(), push.end(), 0.0);
  std::fill(push_terms.begin(), push_terms.end(), 0.0);
  std::fill(push_rounding.begin(), push_rounding.end(), 0.0);
  reading.power = reading.dissipation = reading.power_terms = reading.exchange = 0;
  if (!evaluate_motion()) {
    for (int i = 0; i < n; ++i) check(Law::motion, i, reading.time, 1, 0);
    return;
  }
  // Forces that balance are as exact as the largest of them, at the first point too.
  for (int i = 0; i < n; ++i) force[i] = std::max(force[i], std::abs(h[i]));
  // Evaluating all gaps at once pays where most of several are to be read.
  constexpr int kSeveral = 4;
  const auto open = std::count(reading.normal.begin(), reading.normal.end(), Normal::open);
  gaps_known = layout.relations >= kSeveral && 2 * open >= layout.relations;
  if (gaps_known) system.gaps(work);
  std::uint64_t far = 0;
  const double* const value = work.gap_value.data();
  double* const largest = gap.data();
  for (int r = 0; r < layout.relations; ++r) {
    // Most of many open contacts are far away and carry nothing: they have obeyed the two laws that judge_relation() would ask of them.
    const bool is_far = gaps_known && reading.normal[r] == Normal::open && reading.normal_force[r] == 0 &&
                        rubs[r] == 0 && value[r] > allowed * std::max(largest[r], value[r]) && value[r] > 0;
    if (is_far) {
      largest[r] = std::max(largest[r], value[r]);
      ++far;
    } else {
      judge_relation(reading, r);
    }
  }
  laws[static_cast<std::size_t>(Law::gap)].checks += far;
  laws[static_cast<std::size_t>(Law::open_force)].checks += far;
  judge_motion(reading);
  read_energy(reading);
}

// --- switches ---

void Referee::Bench::judge_sides(const Reading& reading) {
  for (int k = 0; k < layout.switches; ++k) judge_switch(reading, k);
}

// How far a value lies outside the part of the line that a side stands for.
double Referee::Bench::outside(int k, double side, double value) const {
  const model::SwitchInfo& info = system.switches()[k];
  if (info.two_sided()) return side > 0.5 ? -value : value;
  if (side != std::floor(side)) return kInfinity;
  double lower = side;
  double upper = side + 1;
  if (!info.whole) {
    const auto count = static_cast<double>(info.levels.size());
    if (side < -1 || side >= count) return kInfinity;
    lower = side >= 0 ? info.levels[static_cast<std::size_t>(side)] : -kInfinity;
    upper = side + 1 < count ? info.levels[static_cast<std::size_t>(side + 1)] : kInfinity;
  }
  return std::max(lower - value, value - upper);
}

double Referee::Bench::lower_side(int k, double value, double& distance) const {
  const model::SwitchInfo& info = system.switches()[k];
  if (info.two_sided()) {
    distance = std::abs(value);
    return 0;
  }
  if (info.whole) {
    const double level = info.never_negative ? std::max(std::round(value), 1.0) : std::round(value);
    distance = std::abs(value - level);
    return level - 1;
  }
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < info.levels.size(); ++i) {
    if (std::abs(value - info.levels[i]) < std::abs(value - info.levels[nearest])) nearest = i;
  }
  distance = std::abs(value - info.levels[nearest]);
  return static_cast<double>(nearest) - 1;
}

double Referee::Bench::side_by_value(int k, double value) const {
  const model::SwitchInfo& info = system.switches()[k];
  if (info.two_sided()) return value >= 0 ? 1 : 0;
  if (info.whole) return info.never_negative ? std::max(std::floor(value), 0.0) : std::floor(value);
  return static_cast<double>(std::upper_bound(info.levels.begin(), info.levels.end(), value) -
                             info.levels.begin()) -
         1;
}

void Referee::Bench::find_sliding(const Reading& reading) {
  sliding.clear();
  lower_sides.clear();
  around.clear();
  doubts = 0;
  for (int k = 0; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (reading.surface[k] != Surface::slides) {
      const auto in = [](const std::vector<int>& list, int item) {
        return std::find(list.begin(), list.end(), item) != list.end();
      };
      const bool contains = std::any_of(info.inner.begin(), info.inner.end(),
                                        [&](int j) { return in(sliding, j) || in(around, j); });
      if (contains && !info.time_only) around.push_back(k);
      continue;
    }
    double value = 0;
    double distance = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    sliding.push_back(k);
    lower_sides.push_back(lower_side(k, value, distance));
  }
}

double Referee::Bench::take_corner(const Reading& reading, int corner, unsigned turned) {
  double* sides = work.in.data() + layout.side();
  double weight = 1;
  for (std::size_t i = 0; i < sliding.size(); ++i) {
    const bool above = ((corner >> i) & 1) != 0;
    const double share = reading.in[layout.side() + sliding[i]] - lower_sides[i];
    weight *= above ? share : 1 - share;
    sides[sliding[i]] = lower_sides[i] + (above ? 1 : 0);
  }
  for (const int k : around) sides[k] = side_beside(k, corner, turned);
  return weight;
}

// The side of a switch around those that are slid on, at a corner: by value, and where it is zero there, by its value a little away from the
// surfaces, on the sides that the corner stands for.
double Referee::Bench::side_beside(int k, int corner, unsigned turned) {
  constexpr double kAway = 1e-4;  // share of what the state has been
  const model::SwitchInfo& info = system.switches()[k];
  double value = 0;
  double distance = 0;
  info.value.evaluate(work.in.data(), &value, work.registers.data());
  const double lower = lower_side(k, value, distance);
  if (distance > allowed * std::max(surface[k], std::abs(value))) {
    const double slack = rounding(info.value, 0);
    if (distance > slack) return side_by_value(k, value);
  }
  if (never_moves(k)) return lower + info.at_zero;
  const int width = layout.integrated();
  displaced = work.in;
  // Slopes by shares of what the state has been. Those of the surfaces, made orthogonal, and what of its own is left beside them.
  const auto slopes = [&](int of, double* out) {
    system.switches()[of].surface.evaluate(work.in.data(), other.data(), work.registers.data());
    for (int j = 0; j < width; ++j) out[j] = other[2 + j] * size_of(j);
    return norm_of(out, width);
  };
  directions.resize((sliding.size() + 1) * static_cast<std::size_t>(width));
  double* own = directions.data() + sliding.size() * static_cast<std::size_t>(width);
  const double steepness = slopes(k, own);
  for (std::size_t i = 0; i < sliding.size(); ++i) {
    double* direction = directions.data() + i * static_cast<std::size_t>(width);
    const double norm = slopes(sliding[i], direction);
    if (!(norm > 0)) continue;
    const double sign = ((corner >> i) & 1) != 0 ? kAway : -kAway;
    for (int j = 0; j < width; ++j) displaced[1 + j] += sign * direction[j] * (size_of(j) / norm);
    for (std::size_t l = 0; l < i; ++l)
      take_out(directions.data() + l * static_cast<std::size_t>(width), direction, width);
    if (norm_of(direction, width) <= kParallel * norm) std::fill_n(direction, width, 0.0);
    take_out(direction, own, width);
  }
  // What changes along the surfaces too is about to pass its zero there.
  const bool along = norm_of(own, width) <= kParallel * steepness;
  double beyond = 0;
  info.value.evaluate(displaced.data(), &beyond, work.registers.data());
  double margin = 0;
  const double lower_beyond = lower_side(k, beyond, margin);
  if (along && margin > 16 * distance && lower_beyond == lower) return side_by_value(k, beyond);
  // At zero for another reason: about to change there.
  const unsigned bit = doubts++;
  return lower + (bit < kMostDoubts && ((turned >> bit) & 1U) != 0 ? 1 : 0);
}

// What a component of the state has been, or is.
double Referee::Bench::size_of(int i) const {
  const double seen = i < n ? position[i] : i < 2 * n ? velocity[i - n] : state[i - 2 * n];
  const double size = std::max(seen, std::abs(work.in[1 + i]));
  return size > 0 ? size : 1;
}

// Whether the argument of a switch is the same number wherever the state is, with the sides as they are. Its slopes tell where the values do not: what
// has hardly moved is lost beside the 1 of floor(w + 1).
bool Referee::Bench::never_moves(int k) {
  const expr::Program& program = system.switches()[k].surface;
  program.evaluate(work.in.data(), other.data(), work.registers.data());
  const double here = other[0];
  for (int probe = 0; probe <= 3; ++probe) {
    displaced = work.in;
    for (int i = 0; i <= layout.integrated() && probe > 0; ++i) {
      const double size = i == 0 ? std::max(1.0, std::abs(work.in[0])) : size_of(i - 1);
      displaced[i] +=
          size * (0.3819660112501051 * probe + 0.1180339887498949 * i) * ((i + probe) % 2 != 0 ? 1 : -1);
    }
    program.evaluate(displaced.data(), other.data(), work.registers.data());
    if (other[0] != here) return false;
    for (int i = 0; i <= layout.integrated(); ++i) {
      if (other[1 + i] != 0) return false;
    }
  }
  return true;
}

// A surface that is exactly zero whatever the state has the side that the language gives at equality.
void Referee::Bench::judge_equality(const Reading& reading, int k, double value) {
  const model::SwitchInfo& info = system.switches()[k];
  double distance = 0;
  const double lower = lower_side(k, value, distance);
  double* sides = work.in.data() + layout.side();
  const double right = lower + info.at_zero;
  if (distance != 0 || info.time_only || sides[k] == right || !never_moves(k)) return;
  if (reading.slides) {
    find_sliding(reading);
    if (std::find(around.begin(), around.end(), k) != around.end()) return;
  }
  kept_sides.assign(sides, sides + layout.switches);
  all_outputs(outputs);
  sides[k] = right;
  all_outputs(outputs_other);
  std::copy(kept_sides.begin(), kept_sides.end(), sides);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::isnan(outputs[i]) || outputs[i] == outputs_other[i]) continue;
    check(Law::side, k, reading.time, 1, 0);
    return;
  }
}

void Referee::Bench::judge_switch(const Reading& reading, int k) {
  const model::SwitchInfo& info = system.switches()[k];
  double value = 0;
  info.value.evaluate(work.in.data(), &value, work.registers.data());
  surface[k] = std::max(surface[k], std::abs(value));
  const double side = reading.in[layout.side() + k];
  const bool slides = reading.surface[k] != Surface::away;
  if (reading.surface[k] != Surface::slides) judge_equality(reading, k, value);
  double amount = outside(k, side, value);
  // A table that is left in a branch that is not taken has no value there.
  if (std::isnan(amount)) amount = std::numeric_limits<double>::infinity();
  const Law law = slides ? Law::sliding : Law::side;
  if (slides) {
    if (slid_to[k] < phase) slid_from[k] = phase;
    slid_to[k] = reading.time;
    const double below = lower_side(k, value, amount);
    const double excess = std::max(below - side, side - below - 1);
    check(Law::coefficient, k, reading.time, excess, std::max(allowed, 1e-6));
  }
  double allowance = info.time_only ? 0 : allowed * surface[k];
  if (!(amount > allowance)) {
    check(law, k, reading.time, amount, allowance);
    return;
  }
  if (!info.time_only) {
    info.surface.evaluate(work.in.data(), other.data(), work.registers.data());
    const double* gradient = other.data() + 2;
    double moved = row_scale(along_all(gradient), position) + row_scale(along_all(gradient + n), velocity);
    for (int i = 0; i < layout.states; ++i) moved += std::abs(gradient[2 * n + i]) * state[i];
    allowance += allowed * moved;
    // Forces that balance on the surface leave their rounding in what has never moved; it is still there when the surface is left.
    const double since = slides ? reading.time - phase : slid_to[k] == phase ? phase - slid_from[k] : 0;
    if (since > 0) {
      const double drift = acceleration_rounding(along_all(gradient + n)) + state_rounding(gradient + 2 * n);
      allowance += drift * since + 0.5 * acceleration_rounding(along_all(gradient)) * since * since;
    }
  }
  allowance += rounding(info.value, 0);
  // A switch in a branch that is not taken, or that stands right beside a neighbour in doubt, says nothing.
  if (!slides && !(amount <= allowance) && (right_by_neighbours(reading, k, allowance) || !matters(k))) {
    check(law, k, reading.time, 0, allowance);
    return;
  }
  check(law, k, reading.time, amount, allowance);
}

// Whether another side of an inner switch that slides or is at its surface would make the side of k right.
bool Referee::Bench::right_by_neighbours(const Reading& reading, int k, double allowance) {
  constexpr int kMost = 8;
  std::array<int, kMost> open{};
  std::array<double, kMost> first{}, second{};
  int count = 0;
  double* sides = work.in.data() + layout.side();
  for (int j = 0; j < k && count < kMost; ++j) {
    const model::SwitchInfo& info = system.switches()[j];
    double value = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    if (reading.surface[j] == Surface::away) {
      const double bound = (info.time_only ? 0 : allowed * surface[j]) + rounding(info.value, 0);
      const double above = outside(j, sides[j] + 1, value);
      const double below = outside(j, sides[j] - 1, value);
      if (info.two_sided() ? std::abs(value) > bound : std::min(above, below) > bound) continue;
      first[count] = sides[j];
      second[count] = info.two_sided() ? 1 - sides[j] : above < below ? sides[j] + 1 : sides[j] - 1;
    } else {
      double distance = 0;
      first[count] = lower_side(j, value, distance);
      second[count] = first[count] + 1;
    }
    open[count++] = j;
  }
  if (count == 0) return false;
  kept_sides.assign(sides, sides + layout.switches);
  bool right = false;
  for (int c = 0; c < (1 << count) && !right; ++c) {
    for (int j = 0; j < count; ++j) sides[open[j]] = ((c >> j) & 1) != 0 ? second[j] : first[j];
    double value = 0;
    system.switches()[k].value.evaluate(work.in.data(), &value, work.registers.data());
    right = outside(k, kept_sides[k], value) <= allowance;
  }
  std::copy(kept_sides.begin(), kept_sides.end(), sides);
  return right;
}

// Everything that a side can change: forces, rates, inertia; gaps; rows and laws of what is closed; energies.
void Referee::Bench::all_outputs(std::vector<double>& out) {
  out.clear();
  const auto add = [&](const expr::Program& program) {
    if (program.outputs() == 0) return;
    program.evaluate(work.in.data(), other.data(), work.registers.data());
    out.insert(out.end(), other.begin(), other.begin() + program.outputs());
  };
  add(system.motion_program());
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = relations[r];
    add(relation.gap);
    if (work.in[layout.closed() + r] == 0) continue;
    add(relation.rows);
    add(relation.law);
  }
  double parts[3];
  system.energies(work, parts[0], parts[1], parts[2]);
  out.insert(out.end(), parts, parts + 3);
}

// Whether anything would be different with switch k on the side of its value.
bool Referee::Bench::matters(int k) {
  double* sides = work.in.data() + layout.side();
  kept_sides.assign(sides, sides + layout.switches);
  all_outputs(outputs);
  for (int j = k; j < layout.switches; ++j) {
    const model::SwitchInfo& info = system.switches()[j];
    double now = 0;
    info.value.evaluate(work.in.data(), &now, work.registers.data());
    if (j > k) {
      // Outer switches follow where their argument changed.
      double before = 0;
      std::swap_ranges(kept_sides.begin(), kept_sides.end(), sides);
      info.value.evaluate(work.in.data(), &before, work.registers.data());
      std::swap_ranges(kept_sides.begin(), kept_sides.end(), sides);
      if (now == before) continue;
      double distance = 0;
      const double lower = lower_side(j, now, distance);
      if (distance == 0 && !info.time_only && never_moves(j)) {
        sides[j] = lower + info.at_zero;
        continue;
      }
      if (outside(j, sides[j], now) <= 0) continue;
    }
    sides[j] = side_by_value(j, now);
  }
  all_outputs(outputs_other);
  std::copy(kept_sides.begin(), kept_sides.end(), sides);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool same =
        outputs[i] == outputs_other[i] || (std::isnan(outputs[i]) && std::isnan(outputs_other[i]));
    if (!same) return true;
  }
  return false;
}

// --- contacts, constraints, joints ---

// Whether a surface that is at zero now only goes through it while the row rests, by the accelerations that are told: then it has a side of its own.
bool Referee::Bench::passes(const Reading& reading, int k) {
  constexpr double kMoves = 1e-6;  // of its terms
  const model::SwitchInfo& info = system.switches()[k];
  if (info.surface.outputs() == 0) return false;
  info.surface.evaluate(work.in.data(), other.data(), work.registers.data());
  double moves = other[1];
  double terms = std::abs(moves);
  const auto add = [&](double slope, double by) {
    moves += slope * by;
    terms += std::abs(slope * by);
  };
  for (int i = 0; i < n; ++i) {
    add(other[2 + i], work.in[layout.v() + i]);
    add(other[2 + n + i], reading.acceleration[i]);
  }
  for (int i = 0; i < layout.states; ++i) add(other[2 + 2 * n + i], reading.rate[i]);
  return std::abs(moves) > kMoves * terms;
}

// The limit of friction at rest against a slip in one direction: the law of that slip, with the sides that switches of the velocity have as soon as
// it moves. `told`: that with the sides told.
double Referee::Bench::limit_at_rest(const Reading& reading, int r, int j, int direction, double told) {
  constexpr double kAway = 1e-4;  // share of what the velocities have been
  const model::Relation& relation = relations[r];
  const model::Row& w = work.relation[r].tangent[j].w;
  double* sides = work.in.data() + layout.side();
  double norm = 0;
  for (int i = 0; i < n; ++i) norm = elementary::hypot(norm, w[i] * size_of(n + i));
  if (!(norm > 0)) return told;
  set_off = work.in;
  for (int i = 0; i < n; ++i)
    set_off[layout.v() + i] += direction * kAway * w[i] * size_of(n + i) * (size_of(n + i) / norm);
  std::vector<int>& turned = sliding;
  turned.clear();
  kept_sides.assign(sides, sides + layout.switches);
  for (int k = 0; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (info.time_only || reading.surface[k] == Surface::slides) continue;
    double value = 0;
    double distance = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    const double lower = lower_side(k, value, distance);
    const bool around_turned = std::any_of(info.inner.begin(), info.inner.end(), [&](int inner) {
      return std::find(turned.begin(), turned.end(), inner) != turned.end();
    });
    double side = sides[k];
    if (distance > allowed * surface[k] + rounding(info.value, 0)) {
      if (around_turned) side = side_by_value(k, value);
    } else if (!passes(reading, k)) {
      double there = 0;
      double margin = 0;
      info.value.evaluate(set_off.data(), &there, work.registers.data());
      const double lower_there = lower_side(k, there, margin);
      if (margin > 16 * distance && lower_there == lower) side = side_by_value(k, there);
    }
    if (side == sides[k]) continue;
    sides[k] = set_off[layout.side() + k] = side;
    turned.push_back(k);
  }
  double limit = told;
  if (!turned.empty()) {
    const model::RelationRows& rows = system.rows(work, r);
    double load_there = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f)
      load_there += rows.factors[f] * std::abs(reading.normal_force[relation.feeds[f]]);
    limit = rows.tangent[j].mu_static * load_there;
  }
  std::copy(kept_sides.begin(), kept_sides.end(), sides);
  if (!turned.empty()) static_cast<void>(system.rows(work, r));
  return limit;
}

// What friction may be at rest in the direction in which it is loaded, by the reactions told.
double Referee::Bench::limit_of_rest(const Reading& reading, int r, int j) {
  const model::Relation& relation = relations[r];
  const model::RelationRows& rows = system.rows(work, r);
  double load_here = rows.base;
  for (std::size_t f = 0; f < relation.feeds.size(); ++f)
    load_here += rows.factors[f] * std::abs(reading.normal_force[relation.feeds[f]]);
  const double told = rows.tangent[j].mu_static * load_here;
  const double friction = reading.tangential_force[relation.first_tangent + j];
  if (relation.law_constant || friction == 0) return told;
  return limit_at_rest(reading, r, j, friction > 0 ? -1 : 1, told);
}

// What is not known of the load of r because reactions in it are zero as far as the law of pressure tells: which side a constraint is pressed on then,
// and whether that of a contact, told with the other sign, is to be added or taken away. Behind system.rows of r, and leaves these.
double Referee::Bench::load_in_doubt(const Reading& reading, int r) {
  const model::Relation& relation = relations[r];
  double doubt = 0;
  for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
    const int from = relation.feeds[f];
    const double reaction = reading.normal_force[from];
    if (relations[from].kind != model::RelationKind::constraint && reaction >= 0) continue;
    const double factor = work.relation[r].factors[f];
    const model::Row& w = from == r ? work.relation[r].w : system.rows(work, from).w;
    if (std::abs(reaction) <= allowed * normal_force[from] + force_rounding(w))
      doubt += 2 * std::abs(factor * reaction);
  }
  return doubt;
}

void Referee::Bench::judge_relation(Reading& reading, int r) {
  const model::Relation& relation = relations[r];
  const double t = reading.time;
  const double reaction = reading.normal_force[r];
  const double* v = work.in.data() + layout.v();
  const auto gap_allowance = [&](const model::Row& w) {
    return allowed * (gap[r] + row_scale(w, position)) + rounding(relation.gap, 0);
  };
  if (reading.normal[r] == Normal::open) {
    double value = work.gap_value[r];
    double speed = work.gap_rate[r];
    if (!gaps_known) system.gap(work, r, value, speed);
    gap[r] = std::max(gap[r], std::abs(value));
    double allowance = allowed * gap[r];
    if (-value > allowance) allowance = gap_allowance(system.rows(work, r).w);
    check(Law::gap, r, t, -value, allowance);
    double carried = std::abs(reaction);
    for (int j = 0; j < relation.tangents; ++j)
      carried = std::max(carried, std::abs(reading.tangential_force[relation.first_tangent + j]));
    check(Law::open_force, r, t, carried, allowed * normal_force[r]);
    // A gap is at zero within eight rounding bounds to either side; beyond them it may close a moment later. An interval can be far wider than what a function is
    // off by (that of a pulse): what the places in it cannot be off by either is no zero.
    const auto places = [&] {
      const model::Row& w = system.rows(work, r).w;
      double terms = 0;
      for (const int i : relation.touches) terms += std::abs(w[i] * work.in[layout.q() + i]);
      return 64 * kEpsilon * terms + 4 * kEpsilon * std::abs(work.relation[r].gap_time * t);
    };
    if (reading.kind == Kind::after && speed < 0 && value <= allowed * gap[r] &&
        value <= 0.5 * rounding(relation.gap, 0) && value <= places()) {
      const model::Row& w = system.rows(work, r).w;
      check(Law::no_approach, r, t, -speed, allowed * row_scale(w, velocity) + rounding(relation.gap, 1));
    }
    return;
  }
  const model::RelationRows& rows = system.rows(work, r);
  if (relation.has_normal) {
    const bool constraint = relation.kind == model::RelationKind::constraint;
    const Law law = constraint ? Law::constraint : Law::gap;
    double allowance = allowed * gap[r];
    const double speed_scale = row_scale(rows.w, velocity) + std::abs(rows.gap_time);
    if (relation.holonomic) {
      if (std::abs(rows.gap) > allowance) allowance = gap_allowance(rows.w);
      check(law, r, t, std::abs(rows.gap), allowance);
    }
    allowance = allowed * speed_scale;
    // Forces that balance leave their rounding in speeds that are nothing but that.
    if (std::abs(rows.gap_rate) > allowance)
      allowance += rounding(relation.gap, 1) + acceleration_rounding(rows.w) * (t - phase);
    check(relation.holonomic ? Law::normal_speed : Law::constraint, r, t, std::abs(rows.gap_rate), allowance);
    if (!constraint) {
      allowance = allowed * normal_force[r];
      if (-reaction > allowance) allowance += force_rounding(rows.w);
      check(Law::pressure, r, t, -reaction, allowance);
    }
    double fall = rows.zeta_n;
    double terms = std::abs(fall);
    double power = 0;
    for (const int i : relation.touches) {
      const double term = rows.w[i] * reading.acceleration[i];
      fall += term;
      terms += std::abs(term);
      const double pressed = rows.push[i] * reaction;
      push[i] += pressed;
      push_terms[i] += std::abs(pressed);
      force[i] = std::max(force[i], push_terms[i]);
      push_rounding[i] += 256 * kEpsilon * std::abs(rows.push[i]) * normal_force[r];
      power += pressed * v[i];
      reading.power_terms += std::abs(pressed * v[i]);
    }
    reading.power += power;
    reading.exchange += std::abs(reaction * rows.gap_time);
    allowance = allowed * terms;
    if (std::abs(fall) > allowance)
      allowance += allowed * row_scale(rows.w, acceleration) + acceleration_rounding(rows.w) +
                   rounding(relation.rows, 1);
    check(Law::row, r, t, std::abs(fall), allowance);
  }
  if (relation.tangents == 0) return;
  double load_here = rows.base;
  double load_terms = std::abs(rows.base);
  for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
    const double part = rows.factors[f] * std::abs(reading.normal_force[relation.feeds[f]]);
    load_here += part;
    load_terms += std::abs(part);
  }
  load_scale[r] = std::max(load_scale[r], load_terms);
  if (!relation.has_normal) {
    double allowance = allowed * load_scale[r];
    if (-load_here > allowance) allowance += rounding(relation.law, 0);
    check(Law::load, r, t, -load_here, allowance);
  }
  for (int j = 0; j < relation.tangents; ++j) {
    const int number = relation.first_tangent + j;
    const model::RelationRows::Tangent& row = rows.tangent[j];
    const double friction = reading.tangential_force[number];
    const Tangent status = reading.tangent[number];
    const int slip_output = relation.row_begin(j);
    const double carried = std::max(tangential_force[number], row.mu_static * std::abs(load_here));
    double dragged = 0;
    double sweep = row.zeta;
    double terms = std::abs(row.zeta);
    for (const int i : relation.touches) {
      const double term = row.drag[i] * friction;
      push[i] += term;
      push_terms[i] += std::abs(term);
      force[i] = std::max(force[i], push_terms[i]);
      push_rounding[i] += 256 * kEpsilon * std::abs(row.drag[i]) * carried;
      dragged += term * v[i];
      reading.power_terms += std::abs(term * v[i]);
      sweep += row.w[i] * reading.acceleration[i];
      terms += std::abs(row.w[i] * reading.acceleration[i]);
    }
    reading.power += dragged;
    reading.exchange += std::abs(friction) * (std::abs(row.slip) + std::abs(row.drive));
    if (status != Tangent::stick) reading.dissipation -= friction * row.slip;
    const double speed_scale = row_scale(row.w, velocity) + std::abs(row.drive);
    const double sigma = status == Tangent::plus ? 1 : status == Tangent::minus ? -1 : 0;
    if (status == Tangent::stick || sigma != 0) {
      const double amount = sigma == 0 ? std::abs(row.slip) : -sigma * row.slip;
      double allowance = allowed * speed_scale;
      // Forces that nearly balance leave a slip that begins to their rounding for a while.
      if (amount > allowance)
        allowance += rounding(relation.rows, slip_output) + acceleration_rounding(row.w) * (t - phase) +
                     massless_speed(row.w);
      // Friction that nothing presses has no direction.
      if (sigma == 0 || load_here != 0 || carried != 0)
        check(sigma == 0 ? Law::stick : Law::direction, r, t, amount, allowance);
    }
    if (status == Tangent::stick) {
      const double limit =
          !relation.law_constant && friction != 0
              ? limit_at_rest(reading, r, j, friction > 0 ? -1 : 1, row.mu_static * load_here)
              : row.mu_static * load_here;
      double allowance = allowed * std::max(tangential_force[number], row.mu_static * load_scale[r]);
      if (std::abs(friction) - limit > allowance)
        allowance += force_rounding(row.w) + rounding(relation.law, 0) * row.mu_static;
      check(Law::cone, r, t, std::abs(friction) - limit, allowance);
      allowance = allowed * terms;
      if (std::abs(sweep) > allowance)
        allowance += allowed * row_scale(row.w, acceleration) + acceleration_rounding(row.w) +
                     rounding(relation.rows, slip_output + 2);
      // Massless coordinates have a velocity by their balance or by what they stick to, and no acceleration that is told.
      bool told = true;
      for (const int i : relation.touches) told = told && (massless[i] == 0 || row.w[i] == 0);
      if (told) check(Law::row, r, t, std::abs(sweep), allowance);
    } else {
      const double factor = status == Tangent::free ? 0 : status == Tangent::smooth ? 1 : sigma;
      // Friction that pushes: a law whose coefficient has become negative.
      if (sigma != 0 && row.mu < 0)
        check(
            Law::load, r, t, -row.mu,
            kLeastCoefficient + rounding(relation.law, static_cast<int>(relation.feeds.size()) + 1 + 2 * j));
      const double wanted = -factor * row.mu * load_here;
      double amount = std::abs(friction - wanted);
      double allowance = allowed * std::max(std::abs(wanted), std::abs(row.mu) * load_terms);
      if (amount > allowance) {
        const int own = static_cast<int>(relation.feeds.size()) + 1 + 2 * j;
        allowance += rounding(relation.law, 0) * std::abs(row.mu) + rounding(relation.law, own) * load_terms +
                     64 * kEpsilon * tangential_force[number] + std::abs(row.mu) * load_in_doubt(reading, r);
      }
      if (reading.slides) find_sliding(reading);
      const bool few = sliding.size() <= kFewCorners;
      if (reading.slides && (amount > allowance || (few && relation.feeds.empty()))) {
        // A law that a sliding switch changes: the combination of its values on the two sides; with the reaction of a contact in it, between these.
        double low = kInfinity;
        double high = -kInfinity;
        double mean = 0;
        const int count = static_cast<int>(std::min<std::size_t>(sliding.size(), kMostCorners));
        for (int c = 0; c < (1 << count); ++c) {
          const double weight = take_corner(reading, c, 0);
          const model::RelationRows& corner = system.rows(work, r);
          double load_there = corner.base;
          for (std::size_t f = 0; f < relation.feeds.size(); ++f)
            load_there += corner.factors[f] * std::abs(reading.normal_force[relation.feeds[f]]);
          const double value = -factor * corner.tangent[j].mu * load_there;
          low = std::min(low, value);
          high = std::max(high, value);
          mean += weight * value;
        }
        load(reading);
        static_cast<void>(system.rows(work, r));
        amount = few && relation.feeds.empty() && doubts == 0 ? std::abs(friction - mean)
                                                              : std::max(low - friction, friction - high);
      }
      check(Law::friction, r, t, amount, allowance);
    }
  }
}

// --- equations of motion ---

void Referee::Bench::judge_motion(Reading& reading) {
  powers_combined = false;
  share_rounding.assign(static_cast<std::size_t>(n) + layout.states, 0.0);
  if (reading.slides) {
    if (!evaluate_motion()) return;
    find_sliding(reading);
    // Sides between the two enter the equations linearly, as a rule: then the combination is that of the sides. It is made from the fields wherever
    // that costs little or something stands around.
    if (sliding.size() <= kFewCorners || !around.empty() || motion_residuals(reading, false) > 1)
      combine_corners(reading);
    reading.power_sure = !powers_combined || doubts == 0;
  }
  static_cast<void>(motion_residuals(reading, true));
}

// A balance without inertia holds as well as the places and speeds in it are known, at the loaded state: springs that cancel in it have no size of their own.
double Referee::Bench::balance_error(int i) {
  const int columns = 2 * n + layout.states + layout.free_parameters;
  jacobian_here.resize(static_cast<std::size_t>(n + layout.states) * columns);
  system.jacobian(work, jacobian_here.data());
  const double* row = jacobian_here.data() + static_cast<std::size_t>(i) * columns;
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += std::abs(row[j]) * position[j] + std::abs(row[n + j]) * velocity[j];
  return allowed * sum;
}

double Referee::Bench::motion_residuals(const Reading& reading, bool record) {
  apply_mass(reading.acceleration.data(), mass_row.data(), mass_terms.data());
  double worst = 0;
  const auto note = [&](Law law, int place, double amount, double allowance) {
    if (record) check(law, place, reading.time, amount, allowance);
    if (amount > 0) worst = std::max(worst, allowance > 0 ? amount / allowance : kInfinity);
  };
  for (int i = 0; i < n; ++i) {
    const double amount = std::abs(mass_row[i] - h[i] - push[i]);
    const double terms = mass_terms[i] + std::abs(h[i]) + push_terms[i];
    force[i] = std::max(force[i], terms);
    if (amount == 0) {
      note(Law::motion, i, 0, 0);
      continue;
    }
    double allowance = allowed * terms;
    if (amount > allowance)
      allowance += 64 * kEpsilon * force[i] + push_rounding[i] + row_rounding[i] + share_rounding[i];
    if (amount > allowance) allowance += solved_rounding(i);
    if (amount > allowance) {
      // Kept, since a balance without inertia is nothing but rounding all the time.
      const double here = rounding(system.motion_program(), i);
      allowance += std::max(0.0, here - row_rounding[i]);
      row_rounding[i] = std::max(row_rounding[i], here);
    }
    if (amount > allowance && massless[i] != 0) allowance += balance_error(i);
    note(Law::motion, i, amount, allowance);
  }
  for (int i = 0; i < layout.states; ++i) {
    const double amount = std::abs(reading.rate[i] - rates[i]);
    double allowance = allowed * rate[i];
    if (amount > allowance) allowance += rounding(system.motion_program(), n + i) + share_rounding[n + i];
    note(Law::rate, i, amount, allowance);
  }
  return worst;
}

// Filippov: the fields on both sides of every surface that is slid on, with products of the coefficients.
void Referee::Bench::combine_corners(const Reading& reading) {
  const int count = static_cast<int>(sliding.size());
  if (count > kMostCorners) return;
  double best = kInfinity;
  unsigned chosen = 0;
  unsigned passes = 1;
  // Switches that are about to change at a corner may stand on either side: what fits best is taken. The last pass is that one again.
  for (unsigned turned = 0; turned <= passes; ++turned) {
    doubts = 0;
    combined.assign(static_cast<std::size_t>(n) + layout.states, 0.0);
    share_rounding.assign(combined.size(), 0.0);
    corner_powers.assign(powers.size(), 0.0);
    const unsigned pass = turned == passes ? chosen : turned;
    for (int c = 0; c < (1 << count); ++c) {
      const double weight = take_corner(reading, c, pass);
      if (!evaluate_motion()) break;
      // A share is told to the last bit of one: where one side only begins to push, that is all of the other.
      for (int i = 0; i < n + layout.states; ++i) {
        const double field = i < n ? h[i] : rates[i - n];
        combined[i] += weight * field;
        // What balances on a surface has the size of what pushes to it: the shares of others that are solved with it are known to the last
        // bits of that.
        if (i < n) force[i] = std::max(force[i], std::abs(weight * field));
        share_rounding[i] += count * kEpsilon * std::abs(field);
      }
      system.powers(work, powers.data());
      for (std::size_t e = 0; e < powers.size(); ++e) corner_powers[e] += weight * powers[e];
      load(reading);
    }
    load(reading);
    std::copy_n(combined.begin(), n, h.begin());
    std::copy_n(combined.begin() + n, layout.states, rates.begin());
    if (turned == 0 && doubts > 0) passes = 1U << std::min(doubts, kMostDoubts);
    if (passes == 1) break;
    if (turned == passes) break;
    const double worst = motion_residuals(reading, false);
    if (worst >= best) continue;
    best = worst;
    chosen = turned;
  }
  powers_combined = true;
}

void Referee::Bench::read_energy(Reading& reading) {
  if (powers_combined) {
    powers = corner_powers;
  } else {
    system.powers(work, powers.data());
  }
  const auto& audits = system.audits();
  for (const model::AuditInfo& element : audits) {
    if (element.power < 0) continue;
    const double power = powers[element.power];
    reading.power += power;
    reading.power_terms += std::abs(power);
    if (element.dissipative) reading.dissipation -= power;
  }
  if (reading.kind == Kind::inside) return;
  double moving = 0;
  double stored = 0;
  system.energies(work, moving, stored, reading.energy);
  reading.energy_terms = std::abs(moving) + std::abs(stored);
  if (!energy_known) first_energy = reading.energy;
  energy_known = true;
  largest_energy = std::max(largest_energy, std::abs(reading.energy));
  kinetic = std::max(kinetic, std::abs(moving));
  energy_scale = std::max({energy_scale, std::abs(moving), std::abs(reading.energy - first_energy)});
}

}  // namespace judder::referee
