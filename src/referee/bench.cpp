#include "bench.hpp"

#include "core/dense/reduction.hpp"
#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace judder::referee {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Weights of the rule through five points that is exact to degree four, from `begin` to `end`.
std::array<double, 5> weights_of(const std::array<double, 5>& node, double begin, double end) {
  constexpr int kWidth = 6;
  std::array<double, 5 * kWidth> a{};
  for (int k = 0; k < 5; ++k) {
    for (int j = 0; j < 5; ++j) a[k * kWidth + j] = elementary::whole_pow(node[j], k);
    a[k * kWidth + 5] = (elementary::whole_pow(end, k + 1) - elementary::whole_pow(begin, k + 1)) / (k + 1);
  }
  dense::reduce(a.data(), 5, kWidth);
  std::array<double, 5> out{};
  for (int j = 0; j < 5; ++j) out[j] = a[j * kWidth + 5] / a[j * kWidth + j];
  return out;
}

}  // namespace

const char* name(Law law) {
  switch (law) {
    case Law::story:
      return "story";
    case Law::side:
      return "side";
    case Law::sliding:
      return "sliding";
    case Law::coefficient:
      return "coefficient";
    case Law::direction:
      return "direction";
    case Law::gap:
      return "gap";
    case Law::constraint:
      return "constraint";
    case Law::normal_speed:
      return "normal-speed";
    case Law::no_approach:
      return "no-approach";
    case Law::pressure:
      return "pressure";
    case Law::open_force:
      return "open-force";
    case Law::stick:
      return "stick";
    case Law::cone:
      return "cone";
    case Law::release:
      return "release";
    case Law::rest:
      return "rest";
    case Law::friction:
      return "friction";
    case Law::load:
      return "load";
    case Law::motion:
      return "motion";
    case Law::rate:
      return "rate";
    case Law::row:
      return "row";
    case Law::position:
      return "position";
    case Law::velocity:
      return "velocity";
    case Law::state:
      return "state";
    case Law::continuity:
      return "continuity";
    case Law::momentum:
      return "momentum";
    case Law::impulse:
      return "impulse";
    case Law::impulse_cone:
      return "impulse-cone";
    case Law::impulse_slip:
      return "impulse-slip";
    case Law::rebound:
      return "rebound";
    case Law::energy:
      return "energy";
    case Law::work:
      return "work";
    case Law::count:
      break;
  }
  return "";
}

Referee::Bench::Bench(const model::System& given, const Options& asked)
    : system(given),
      layout(given.layout()),
      relations(given.relations()),
      options(asked),
      allowed(kMargin * asked.tolerance),
      work(given),
      n(layout.coordinates) {
  const int m = layout.states;
  const int count = layout.relations;
  for (std::size_t i = 0; i < laws.size(); ++i) laws[i].law = name(static_cast<Law>(i));
  massless.resize(n);
  follows.resize(n);
  for (int i = 0; i < n; ++i) {
    massless[i] = system.massless()[i] ? 1 : 0;
    any_massless = any_massless || massless[i] != 0;
  }
  const int columns = 2 * n + m + layout.free_parameters;
  if (any_massless) {
    // A massless coordinate without a damper of its own follows the forces, also where they jump.
    jacobian.resize(static_cast<std::size_t>(n + m) * columns);
    system.jacobian(work, jacobian.data());
    for (int i = 0; i < n; ++i) {
      if (massless[i] == 0) continue;
      follows[i] = 1;
      for (int j = 0; j < n; ++j) {
        if (massless[j] != 0 && jacobian[static_cast<std::size_t>(i) * columns + n + j] != 0) follows[i] = 0;
      }
    }
  }
  for (const model::Relation& relation : relations) rubs.push_back(relation.tangents > 0 ? 1 : 0);
  every.resize(n);
  std::iota(every.begin(), every.end(), 0);
  mass = work.mass;
  inertia = work.inertia;
  list_mass();
  h.resize(n);
  rates.resize(m);
  for (Reading& reading : readings) {
    reading.in = system.start();
    reading.in.resize(static_cast<std::size_t>(layout.size()) + 1);
    reading.surface.resize(layout.switches);
    reading.normal.resize(count);
    reading.tangent.resize(layout.tangents);
    reading.acceleration.resize(n);
    reading.rate.resize(m);
    reading.normal_force.resize(count);
    reading.tangential_force.resize(layout.tangents);
  }
  start.resize(layout.integrated());
  for (std::vector<double>* scale :
       {&row_rounding, &position, &velocity, &slow, &acceleration, &force, &h, &mass_row, &mass_terms, &push,
        &push_terms, &push_rounding, &impulse_push, &impulse_terms, &speed_before, &first_speed})
    scale->resize(n);
  for (std::vector<double>* scale : {&state, &rate, &rates}) scale->resize(m);
  for (std::vector<double>* scale :
       {&gap, &normal_force, &load_scale, &impulse_normal, &normal_impulse_scale})
    scale->resize(count);
  tangential_force.resize(layout.tangents);
  surface.resize(layout.switches);
  slid_from.assign(layout.switches, -kInfinity);
  slid_to.assign(layout.switches, -kInfinity);
  powers.resize(system.audits().size());
  begin_scales();
  int most = std::max(system.motion_program().outputs(), 16);
  for (const model::SwitchInfo& info : system.switches()) most = std::max(most, info.surface.outputs());
  for (const model::Relation& r : relations)
    most = std::max({most, r.rows.outputs(), r.law.outputs(), r.curve.outputs()});
  other.resize(most);
  interval_in.resize(static_cast<std::size_t>(layout.size()) + 1);
  interval_out.resize(most);
  interval_registers.resize(work.registers.size());
  if (!system.mass_constant()) static_cast<void>(evaluate_motion());
  find_blocks();
  constexpr std::size_t kShort = 100;  // additions: about as long as the other work of a step lasts
  std::size_t cost = system.motion_program().cost();
  for (const model::SwitchInfo& info : system.switches()) cost += info.value.cost();
  for (const model::Relation& r : relations) cost += r.rows.cost() + r.law.cost();
  long_equations = cost > kShort;
  stiff_weights = weights_of({0, 0.15505102572168219, 0.4, 0.6449489742783178, 1}, 0, 1);
  const std::array<double, 5> lobatto{0, 0.17267316464601143, 0.5, 0.8273268353539886, 1};
  for (std::size_t k = 0; k < 2; ++k) inner_weights[k] = weights_of(lobatto, lobatto[k + 1], lobatto[k + 2]);
}

void Referee::Bench::begin_scales() {
  const int m = layout.states;
  for (int i = 0; i < n; ++i) position[i] = system.scale_floor()[i];
  if (options.scales.size() >= static_cast<std::size_t>(layout.integrated())) {
    for (int i = 0; i < n; ++i) {
      position[i] = std::max(position[i], options.scales[i]);
      velocity[i] = options.scales[n + i];
    }
    for (int i = 0; i < m; ++i) state[i] = options.scales[2 * n + i];
  }
  options.scales = {};
}

void Referee::Bench::restart(const Options& asked) {
  options = asked;
  allowed = kMargin * asked.tolerance;
  for (Reading& reading : readings) {
    reading.in.assign(system.start().begin(), system.start().end());
    reading.in.resize(static_cast<std::size_t>(layout.size()) + 1);
    reading.judged = reading.slides = reading.works_told = false;
  }
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  order = {0, 1, 2, 3, 4};
  held = pieces = impacts = 0;
  phase = phase_before = 0;
  started = energy_known = works_known = jacobian_ready = tail = powers_combined = false;
  own_sure = own_unique = true;
  doubts = 0;
  energy_before = largest_energy = energy_scale = flow = kinetic = first_energy = 0;
  works_net = works_dissipated = works_energy = own_net = own_dissipated = own_slack = 0;
  for (std::vector<double>* values :
       {&start, &row_rounding, &position, &velocity, &state, &acceleration, &force, &rate, &surface, &gap,
        &normal_force, &tangential_force, &load_scale, &normal_impulse_scale, &impulse_normal, &impulse_push,
        &impulse_terms, &speed_before, &first_speed})
    std::fill(values->begin(), values->end(), 0.0);
  for (std::vector<double>* before : {&position_before, &velocity_before, &state_before}) before->clear();
  std::fill(slid_from.begin(), slid_from.end(), -kInfinity);
  std::fill(slid_to.begin(), slid_to.end(), -kInfinity);
  sliding.clear();
  lower_sides.clear();
  around.clear();
  begin_scales();
  for (LawRecord& law : laws) law.checks = 0, law.worst = 0;
  findings.clear();
  index.clear();
  not_kept = 0;
}

void Referee::Bench::take(const Point& from, Reading& out) const {
  out.kind = from.kind;
  out.resolved = from.resolved;
  out.unique = from.unique;
  out.judged = false;
  out.power_sure = true;
  out.time = from.time;
  double* in = out.in.data();
  in[0] = from.time;
  std::copy(from.q.begin(), from.q.end(), in + layout.q());
  std::copy(from.v.begin(), from.v.end(), in + layout.v());
  std::copy(from.z.begin(), from.z.end(), in + layout.z());
  std::copy(from.side.begin(), from.side.end(), in + layout.side());
  std::copy(from.surface.begin(), from.surface.end(), out.surface.begin());
  out.slides = std::find(out.surface.begin(), out.surface.end(), Surface::slides) != out.surface.end();
  for (int r = 0; r < layout.relations; ++r) {
    out.normal[r] = from.normal[r];
    in[layout.closed() + r] = from.normal[r] == Normal::open ? 0 : 1;
  }
  for (int j = 0; j < layout.tangents; ++j) {
    out.tangent[j] = from.tangent[j];
    in[layout.direction() + j] = from.tangent[j] == Tangent::plus    ? 1
                                 : from.tangent[j] == Tangent::minus ? -1
                                                                     : 0;
  }
  std::copy(from.acceleration.begin(), from.acceleration.end(), out.acceleration.begin());
  std::copy(from.rate.begin(), from.rate.end(), out.rate.begin());
  std::copy(from.normal_force.begin(), from.normal_force.end(), out.normal_force.begin());
  std::copy(from.tangential_force.begin(), from.tangential_force.end(), out.tangential_force.begin());
  out.works_told = from.dissipated.size() == system.audits().size() && from.kind != Kind::inside;
  out.dissipated = out.supplied = 0;
  for (const double x : from.dissipated) out.dissipated += x;
  for (const double x : from.supplied) out.supplied += x;
}

void Referee::Bench::point(const Point& given) {
  const bool first = !started;
  if (first) {
    started = true;
    phase = phase_before = given.time;
    std::copy(given.q.begin(), given.q.end(), start.begin());
    std::copy(given.v.begin(), given.v.end(), start.begin() + n);
    std::copy(given.z.begin(), given.z.end(), start.begin() + 2 * n);
  }
  if (given.kind == Kind::after) {
    if (phase < given.time) phase_before = phase;
    phase = given.time;
    pieces = 0;
    if (held > 1) check(Law::story, 0, given.time, 1, 0);  // a piece without its end
    Reading& next = readings[order[held > 0 ? 1 : 0]];
    take(given, next);
    note_scales(next, 0);
    if (held > 0) {
      Reading& last = readings[order[0]];
      if (!last.judged) judge(last);
      judge(next);
      judge_instant(last, next);
      std::swap(order[0], order[1]);
    } else if (impacts > 0) {  // at the start
      judge(next);
      judge_momentum(first_speed.data(), nullptr, next);
    }
    judge_rests(next);
    impacts = 0;
    tail = false;
    std::fill(impulse_normal.begin(), impulse_normal.end(), 0.0);
    std::fill(impulse_push.begin(), impulse_push.end(), 0.0);
    std::fill(impulse_terms.begin(), impulse_terms.end(), 0.0);
    held = 1;
    return;
  }
  if (held == 0 || (held == 5) != (held >= 5)) {
    check(Law::story, 0, given.time, 1, 0);  // motion without a beginning
    return;
  }
  if (impacts > 0) check(Law::story, 0, given.time, 1, 0);  // an impact whose end was not told
  if (held == 4 && given.kind == Kind::inside) return;      // three are enough
  Reading& next = readings[order[held]];
  take(given, next);
  check(Law::story, 0, given.time, next.time < readings[order[held - 1]].time ? 1 : 0, 0);
  ++held;
  if (given.kind == Kind::inside) return;
  const double length = next.time - readings[order[0]].time;
  position_before = position;
  velocity_before = velocity;
  state_before = state;
  energy_before = energy_scale;
  for (int i = 0; i < held; ++i) note_scales(readings[order[i]], length);
  for (int i = 0; i < held; ++i) {
    Reading& reading = readings[order[i]];
    if (!reading.judged) judge(reading);
  }
  judge_piece();
  ++pieces;
  std::swap(order[0], order[held - 1]);
  held = 1;
}

void Referee::Bench::finish() {
  if (held > 0 && !readings[order[0]].judged) judge(readings[order[0]]);
}

Verdict Referee::Bench::verdict() const {
  Verdict out;
  out.judged = true;
  for (const LawRecord& record : laws) {
    if (record.checks > 0) out.laws.push_back(record);
  }
  out.findings = findings;
  out.not_kept = not_kept;
  return out;
}

// The rows of M, both sides of the diagonal.
void Referee::Bench::list_mass() {
  const model::MassPattern& pattern = system.mass_pattern();
  for (int i = 0; i < n; ++i) {
    mass_begin.push_back(static_cast<int>(mass_column.size()));
    const auto add = [this](int column, int entry) {
      mass_column.push_back(column);
      mass_entry.push_back(entry);
    };
    for (int e = pattern.begin[i]; e < pattern.begin[i + 1]; ++e) add(pattern.at[e], e);
    for (int e = pattern.below_begin[i]; e < pattern.below_begin[i + 1]; ++e)
      add(pattern.below_row[e], pattern.below_entry[e]);
  }
  mass_begin.push_back(static_cast<int>(mass_column.size()));
  for (int i = 0; i < n; ++i)
    mass_diagonal = mass_diagonal && mass_begin[i + 1] == i + 1 && mass_column[i] == i;
}

void Referee::Bench::take_mass(const double* entries) {
  std::copy_n(entries, mass.size(), mass.begin());
  const std::vector<int>& begin = system.mass_pattern().begin;
  for (int i = 0; i < n; ++i) inertia[i] = mass[begin[i + 1] - 1];
}

void Referee::Bench::note_finding(Law law, int place, double time, double amount, double allowance) {
  LawRecord& record = laws[static_cast<std::size_t>(law)];
  double ratio = amount / allowance;
  if (!(allowance > 0) || std::isnan(amount)) ratio = kInfinity;
  if (std::isinf(allowance)) ratio = 0;
  record.worst = std::max(record.worst, ratio);
  if (ratio <= 1) return;
  const auto [found, fresh] = index.emplace(std::pair(static_cast<int>(law), place), findings.size());
  if (fresh) {
    if (findings.size() == kMostFindings) {
      index.erase(found);
      ++not_kept;
      return;
    }
    findings.push_back({name(law), place_name(law, place), time, ratio, time, ratio, amount, 0});
  }
  Finding& finding = findings[found->second];
  ++finding.count;
  if (ratio > finding.worst_ratio) {
    finding.worst_ratio = ratio;
    finding.worst_time = time;
    finding.worst_amount = amount;
  }
}

std::string Referee::Bench::place_name(Law law, int place) const {
  switch (law) {
    case Law::story:
      return "the run";
    case Law::side:
    case Law::sliding:
    case Law::coefficient: {
      const model::SwitchInfo& info = system.switches()[place];
      return "switch " + std::to_string(place + 1) + " (" + info.place + ")";
    }
    case Law::rest:
    case Law::motion:
    case Law::position:
    case Law::velocity:
    case Law::momentum:
      return "coordinate " + system.coordinate_names()[place];
    case Law::rate:
    case Law::state:
      return "state " + system.state_names()[place];
    case Law::continuity:
      return place < n ? "coordinate " + system.coordinate_names()[place]
                       : "state " + system.state_names()[place - n];
    case Law::energy:
    case Law::work:
      return "the system";
    default:
      return relations[place].place;
  }
}

void Referee::Bench::note_scales(const Reading& reading, double length) {
  const double* q = reading.in.data() + layout.q();
  const double* v = reading.in.data() + layout.v();
  const double* z = reading.in.data() + layout.z();
  // Plain loops over plain arrays, one result each: the compiler takes several coordinates at once.
  const auto larger = [](double x, double y) { return x < y ? y : x; };
  const double* const pushed = reading.acceleration.data();
  const double* const from = start.data();
  double* const place = position.data();
  double* const speed = velocity.data();
  double* const push_seen = acceleration.data();
  for (int i = 0; i < n; ++i) place[i] = larger(place[i], std::abs(q[i] - from[i]));
  if (length != 0) {
    for (int i = 0; i < n; ++i)
      place[i] = larger(place[i], larger(std::abs(v[i]) * length, std::abs(pushed[i]) * length * length));
  }
  for (int i = 0; i < n; ++i)
    speed[i] = larger(larger(speed[i], std::abs(v[i])), std::abs(pushed[i]) * length);
  for (int i = 0; i < n; ++i) push_seen[i] = larger(push_seen[i], std::abs(pushed[i]));
  for (int i = 0; i < layout.states; ++i) {
    state[i] = std::max({state[i], std::abs(z[i] - start[2 * n + i]), std::abs(reading.rate[i]) * length});
    rate[i] = std::max(rate[i], std::abs(reading.rate[i]));
  }
  for (int r = 0; r < layout.relations; ++r) {
    if (reading.normal[r] != Normal::open)
      normal_force[r] = std::max(normal_force[r], std::abs(reading.normal_force[r]));
  }
  for (int j = 0; j < layout.tangents; ++j) {
    if (reading.tangent[j] != Tangent::free)
      tangential_force[j] = std::max(tangential_force[j], std::abs(reading.tangential_force[j]));
  }
  // What has hardly moved is as exact as the energy that flows allows: to the tolerance once more, and to rounding.
  double moving = 0;
  for (int i = 0; i < n; ++i) moving += 0.5 * inertia[i] * v[i] * v[i];
  kinetic = std::max(kinetic, moving);
  // All of these scales grow only: what this energy has given once need not be given again.
  if (kinetic > slow_energy) {
    slow_energy = kinetic;
    const double share = std::max(options.tolerance, 64 * kEpsilon / allowed);
    for (int i = 0; i < n; ++i) {
      if (!(inertia[i] > 0)) continue;
      slow[i] = share * std::sqrt(2 * kinetic / inertia[i]);
      velocity[i] = std::max(velocity[i], slow[i]);
    }
  }
  for (int i = 0; i < n; ++i) position[i] = std::max(position[i], slow[i] * length);
}

void Referee::Bench::load(const Reading& reading) {
  std::copy_n(reading.in.begin(), layout.free_parameter(), work.in.begin());
}

double Referee::Bench::rounding(const expr::Program& program, int output) {
  const int last = 1 + layout.integrated();
  for (std::size_t i = 0; i < interval_in.size(); ++i) {
    const double x = work.in[i];
    const double bit = static_cast<int>(i) < last ? kEpsilon * std::abs(x) : 0;
    interval_in[i] = {x - bit, x + bit};
  }
  // The time is rounded too, and an instant lies between two numbers: the state moves on by that much.
  const double clock = kEpsilon * std::abs(work.in[0]);
  const auto widen = [&](int at, double by) {
    interval_in[at].low -= by;
    interval_in[at].high += by;
  };
  for (int i = 0; i < n; ++i) {
    widen(layout.q() + i, clock * std::abs(work.in[layout.v() + i]));
    widen(layout.v() + i, clock * acceleration[i]);
  }
  for (int i = 0; i < layout.states; ++i) widen(layout.z() + i, clock * rate[i]);
  // Between two sides there is no interval: a branch would take in the other one. Each side has its rounding, and the coefficient of a switch that
  // slides is a rounded number.
  const auto width_at = [&](bool upper, double& middle) {
    bool blended = false;
    for (int k = 0; k < layout.switches; ++k) {
      const double side = work.in[layout.side() + k];
      if (side == std::floor(side)) continue;
      blended = true;
      const double whole = std::floor(side) + (upper ? 1 : 0);
      interval_in[layout.side() + k] = {whole, whole};
    }
    if (upper && !blended) return 0.0;
    program.evaluate_interval(interval_in.data(), interval_out.data(), interval_registers.data());
    middle = 0.5 * (interval_out[output].low + interval_out[output].high);
    return interval_out[output].high - interval_out[output].low;
  };
  double below = 0;
  double above = 0;
  double width = width_at(false, below);
  above = below;
  width = std::max(width, width_at(true, above)) + 2 * kEpsilon * std::abs(above - below);
  return std::isfinite(width) ? 8 * width : kInfinity;
}

double Referee::Bench::row_scale(const model::Row& w, const std::vector<double>& scale) const {
  double sum = 0;
  for (std::size_t e = 0; e < w.values().size(); ++e) sum += std::abs(w.values()[e]) * scale[w.places()[e]];
  return sum;
}

// What rounding of the forces does to an acceleration along w.
double Referee::Bench::acceleration_rounding(const model::Row& w) {
  static_cast<void>(rounding(system.motion_program(), 0));
  double along = 0;
  for (std::size_t e = 0; e < w.values().size(); ++e) {
    const int i = w.places()[e];
    const double entry = w.values()[e];
    const double own_inertia = inertia[i];
    if (entry == 0 || !(own_inertia > 0)) continue;
    const double width = 8 * (interval_out[i].high - interval_out[i].low);
    along +=
        std::abs(entry) * (std::max(256 * kEpsilon * force[i], solved_rounding(i)) + width) / own_inertia;
  }
  return std::isfinite(along) ? along : kInfinity;
}

// The same for the rates of states.
double Referee::Bench::state_rounding(const double* w) {
  if (layout.states == 0) return 0;
  static_cast<void>(rounding(system.motion_program(), 0));
  double along = 0;
  for (int i = 0; i < layout.states; ++i) {
    const double width = 8 * (interval_out[n + i].high - interval_out[n + i].low);
    if (w[i] != 0) along += std::abs(w[i]) * width;
  }
  return std::isfinite(along) ? along : kInfinity;
}

// The same for a reaction along w, seen through its own inertia.
double Referee::Bench::force_rounding(const model::Row& w) {
  double inverse = 0;
  for (std::size_t e = 0; e < w.values().size(); ++e) {
    const double own_inertia = inertia[w.places()[e]];
    if (own_inertia > 0) inverse += w.values()[e] * w.values()[e] / own_inertia;
  }
  return inverse > 0 ? acceleration_rounding(w) / inverse : 0;
}

// Coordinates that share inertia or a relation: reactions and accelerations of all of them come from one set of equations.
void Referee::Bench::find_blocks() {
  block.resize(n);
  for (int i = 0; i < n; ++i) block[i] = i;
  const auto join = [this](int i, int j) {
    const int from = std::max(block[i], block[j]);
    const int to = std::min(block[i], block[j]);
    std::replace(block.begin(), block.end(), from, to);
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i && !system.mass_constant(); ++j) join(i, j);
    for (int e = mass_begin[i]; e < mass_begin[i + 1]; ++e) {
      if (mass[mass_entry[e]] != 0) join(i, mass_column[e]);
    }
  }
  for (const model::Relation& relation : relations) {
    for (const int i : relation.touches) join(i, relation.touches[0]);
  }
}

// What the solution of the equations of a block leaves in the balance of coordinate i: the last bits of the largest force in it, seen through
// the inertias.
double Referee::Bench::solved_rounding(int i) const {
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    const double own_inertia = inertia[j];
    if (block[j] == block[i] && own_inertia > 0)
      largest = std::max(largest, force[j] / std::sqrt(own_inertia));
  }
  const double own = inertia[i];
  return own > 0 ? 256 * kEpsilon * std::sqrt(own) * largest : 0;
}

bool Referee::Bench::evaluate_motion() {
  const int m = layout.states;
  if (system.mass_constant() && !any_massless) {
    if (!system.motion(work)) return false;
    std::copy_n(work.force.begin(), n, h.begin());
    std::copy_n(work.rate.begin(), m, rates.begin());
    return true;
  }
  system.motion_program().evaluate(work.in.data(), other.data(), work.registers.data());
  std::copy_n(other.begin(), n, h.begin());
  std::copy_n(other.begin() + n, m, rates.begin());
  if (!system.mass_constant()) take_mass(other.data() + n + m);
  return true;
}

void Referee::Bench::apply_mass(const double* x, double* y, double* terms) const {
  if (mass_diagonal) {
    for (int i = 0; i < n; ++i) {
      const double term = mass[mass_entry[i]] * x[i];
      y[i] = 0 + term;  // a sum of one: no zero has a sign
      terms[i] = std::abs(term);
    }
    return;
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    double size = 0;
    for (int e = mass_begin[i]; e < mass_begin[i + 1]; ++e) {
      const double term = mass[mass_entry[e]] * x[mass_column[e]];
      sum += term;
      size += std::abs(term);
    }
    y[i] = sum;
    terms[i] = size;
  }
}

}  // namespace judder::referee
