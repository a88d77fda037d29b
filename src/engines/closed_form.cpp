#include "closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "closed_form_parts.hpp"
#include "core/double_double.hpp"

namespace judder::engines {
namespace {

using model::AffineFunction;
using model::LinearStructure;

template <class Visit>
void for_each_function(const LinearStructure& structure, const Visit& visit) {
  for (const AffineFunction& f : structure.force) visit(f);
  for (const AffineFunction& f : structure.rate) visit(f);
  for (const LinearStructure::Normal& row : structure.normal) {
    for (const AffineFunction* f : {&row.gap, &row.gap_time, &row.zeta}) visit(*f);
  }
  for (const LinearStructure::Tangent& row : structure.tangent) {
    for (const AffineFunction* f : {&row.slip, &row.drive, &row.zeta, &row.known, &row.at_rest}) visit(*f);
  }
  for (const AffineFunction& f : structure.base) visit(f);
  for (const AffineFunction& f : structure.surface) visit(f);
  for (const AffineFunction& f : structure.watch) visit(f);
  for (const model::QuadraticFunction& power : structure.power) {
    for (const auto& product : power.products) visit(product.other);
  }
}

}  // namespace

int ClosedForm::load_index(int power, double rate, double frequency) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i].power == power && kinds_[i].rate == rate && kinds_[i].frequency == frequency)
      return static_cast<int>(i);
  }
  kinds_.push_back({power, rate, frequency});
  load_states_ += frequency == 0 ? 1 : 2;
  return static_cast<int>(kinds_.size()) - 1;
}

/// Every load that occurs with a coefficient, and the lower powers that its derivative brings.
bool ClosedForm::collect_loads(const LinearStructure& structure) {
  const auto fits = [this] { return bytes_with(states_so_far(), 0, 0) <= kMostBytes; };
  static_cast<void>(load_index(0, 0, 0));  // the constant 1
  for_each_function(structure, [&](const AffineFunction& f) {
    for (const AffineFunction::Load& load : f.loads) {
      if (!fits()) return;
      const double frequency = values_[load.frequency];
      if (values_[load.cosine] == 0 && (values_[load.sine] == 0 || frequency == 0)) continue;
      for (int power = 0; power <= load.power && fits(); ++power)
        static_cast<void>(load_index(power, values_[load.rate], std::abs(frequency)));
    }
  });
  return fits();
}

namespace {

/// The most states that a form may have.
constexpr std::size_t most_states() {
  std::size_t states = 0;
  while (ClosedForm::bytes(states + 1, 0, 0) <= ClosedForm::kMostBytes) ++states;
  return states;
}

std::string too_many_states() {
  constexpr std::size_t kMost = most_states();
  return "positions, velocities, states and loads are more than " + std::to_string(kMost) +
         ", the most that closed forms are kept of";
}

std::string too_much_memory(std::size_t bytes) {
  constexpr std::size_t kMega = std::size_t{1} << 20U;
  return "a closed form of what can happen would take " + std::to_string(bytes / kMega) +
         " MiB, and the most is " + std::to_string(ClosedForm::kMostBytes / kMega) + " MiB";
}

}  // namespace

bool ClosedForm::only_powers(const model::System& system) {
  const LinearStructure& structure = system.linear();
  const auto bare = [](const AffineFunction& f) { return f.slopes.empty(); };
  const auto none = [&](const std::vector<AffineFunction>& list) {
    return std::all_of(list.begin(), list.end(), bare);
  };
  if (!none(structure.force) || !none(structure.rate) || !none(structure.base) || !structure.surface.empty())
    return false;
  for (const LinearStructure::Tangent& row : structure.tangent) {
    if (!bare(row.known) || !bare(row.at_rest)) return false;
  }
  std::vector<double> registers(static_cast<std::size_t>(structure.coefficients.registers()));
  std::vector<double> values(static_cast<std::size_t>(structure.coefficients.outputs()));
  structure.coefficients.evaluate(system.start().data(), values.data(), registers.data());
  bool powers = true;
  for_each_function(structure, [&](const AffineFunction& f) {
    for (const AffineFunction::Load& load : f.loads)
      powers = powers && values[load.rate] == 0 && values[load.frequency] == 0;
  });
  return powers;
}

std::string ClosedForm::size_problem(const model::System& system) {
  const LinearStructure& structure = system.linear();
  ClosedForm form;
  form.y_ = system.layout().integrated();
  form.polynomial_ = only_powers(system);
  if (form.bytes_with(form.states_so_far(), 0, 0) > kMostBytes) return too_many_states();
  std::vector<double> registers(static_cast<std::size_t>(structure.coefficients.registers()));
  form.values_.resize(static_cast<std::size_t>(structure.coefficients.outputs()));
  structure.coefficients.evaluate(system.start().data(), form.values_.data(), registers.data());
  if (!form.collect_loads(structure)) return too_many_states();
  // A gap or a reaction of each relation, a side of each switch, and the watches; contacts with friction have more while they are closed.
  const std::size_t states = form.states_so_far(), switches = system.switches().size();
  const std::size_t functions = system.relations().size() + switches + system.watches().size();
  if (const std::size_t all = form.bytes_with(states, functions, 0); all > kMostBytes)
    return too_much_memory(all);
  // Of every switch both sides are looked at before the run (sliding_problem): by all coefficients, and by all entries of the equations of motion.
  constexpr std::size_t kMostEntries = 100'000'000;  // about half a second
  const std::size_t entries = form.values_.size() + states * states;
  if (switches > kMostEntries / entries)
    return std::to_string(switches) + " switches and " + std::to_string(states) +
           " states are too many to look for places where the motion slides";
  return {};
}

ClosedForm::Row ClosedForm::row(const AffineFunction& function) const {
  Row out(y_ + 2 * kinds_.size());
  for (const AffineFunction::Slope& slope : function.slopes) {
    if (slope.variable < y_) out[slope.variable] += values_[slope.output];
  }
  for (const AffineFunction::Load& load : function.loads) {
    const double frequency = values_[load.frequency];
    const double cosine = values_[load.cosine];
    const double sine = frequency == 0 ? 0 : frequency < 0 ? -values_[load.sine] : values_[load.sine];
    if (cosine == 0 && sine == 0) continue;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i].power != load.power || kinds_[i].rate != values_[load.rate] ||
          kinds_[i].frequency != std::abs(frequency))
        continue;
      out[y_ + 2 * i] += cosine;
      out[y_ + 2 * i + 1] += sine;
    }
  }
  return out;
}

void ClosedForm::add(Row& to, const Row& from, double factor) const {
  if (factor == 0) return;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

/// Accelerations, rates and reactions at the present coefficients.
void ClosedForm::field(Context& c, Stack& out) {
  const LinearStructure& s = c.structure;
  const int basis = y_ + 2 * static_cast<int>(kinds_.size());
  std::vector<Row> force;
  for (const AffineFunction& f : s.force) force.push_back(row(f));
  const std::vector<Row> stiffness = force;
  out.rate.clear();
  for (const AffineFunction& f : s.rate) out.rate.push_back(row(f));
  for (int r = 0; r < c.layout.relations; ++r) {
    if (!c.touched(r)) continue;
    look();
    const model::Relation& relation = c.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const TangentStatus status = c.mode.tangent[number];
      if (!slips(status)) continue;
      const Row known = row(s.tangent[number].known);
      const double direction_of_slip = status == TangentStatus::smooth ? 1 : direction(status);
      for (int i = 0; i < n_; ++i)
        add(force[i], known, -direction_of_slip * values_[s.tangent[number].drag[i]]);
    }
  }
  look();
  const int active = c.motion.active();
  std::vector<Row> zeta;
  for (int k = 0; k < active; ++k) {
    const int r = c.motion.active_relation(k);
    const int j = c.motion.active_tangent(k);
    zeta.push_back(row(j < 0 ? s.normal[r].zeta : s.tangent[c.system.relations()[r].first_tangent + j].zeta));
  }
  const Row nothing(basis);
  out.acceleration.assign(n_, nothing);
  out.acceleration_low.assign(n_, nothing);
  out.normal.assign(c.layout.relations, nothing);
  out.tangent.assign(c.layout.tangents, nothing);
  std::vector<double> push(n_), term(active), acceleration(n_), low(n_), lambda(active);
  for (int b = 0; b < basis; ++b) {
    bool any = false;
    for (int i = 0; i < n_; ++i) {
      push[i] = force[i][b];
      any = any || push[i] != 0;
    }
    for (int k = 0; k < active; ++k) {
      term[k] = zeta[k][b];
      any = any || term[k] != 0;
    }
    if (!any) continue;
    look();
    c.motion.respond(push.data(), term.data(), acceleration.data(), lambda.data(), low.data());
    for (int i = 0; i < n_; ++i) {
      out.acceleration[i][b] = acceleration[i];
      out.acceleration_low[i][b] = low[i];
    }
    for (int k = 0; k < active; ++k) {
      const int r = c.motion.active_relation(k);
      const int j = c.motion.active_tangent(k);
      (j < 0 ? out.normal[r] : out.tangent[c.system.relations()[r].first_tangent + j])[b] = lambda[k];
    }
  }
  add_lost_stiffness(c, stiffness, out);
  for (int r = 0; r < c.layout.relations; ++r) {
    if (!c.touched(r)) continue;
    const model::Relation& relation = c.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const TangentStatus status = c.mode.tangent[number];
      if (!slips(status)) continue;
      const double direction_of_slip = status == TangentStatus::smooth ? 1 : direction(status);
      const LinearStructure::Tangent& tangent = s.tangent[number];
      add(out.tangent[number], row(tangent.known), -direction_of_slip);
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int fed = relation.feeds[f];
        add(out.tangent[number], out.normal[fed],
            -direction_of_slip * values_[tangent.fed[f]] * c.pressed(fed));
      }
    }
  }
}

/// Coefficients of springs that meet at a body are sums, and rounding them leaves a force on bodies that move together, where the formula gives none.
/// What the formula gives for a displacement of one unit by all coordinates is known without that rounding; the difference goes to the diagonal.
void ClosedForm::add_lost_stiffness(Context& c, const std::vector<Row>& force, Stack& out) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  double* q = c.work.in.data() + c.layout.q();
  // At rest and at the start of time: a form must not depend on the state in which its mode is met first, or a run that is taken up would have others.
  const std::vector<double> kept(c.work.in.begin(), c.work.in.begin() + c.layout.q() + y_);
  c.work.in[0] = c.system.start()[0];
  std::fill(q + n_, q + y_, 0.0);
  std::vector<double> displaced(n_), push(n_), nothing(c.motion.active()), acceleration(n_), low(n_),
      lambda(c.motion.active());
  std::fill(q, q + n_, 1.0);
  bool known = c.system.motion(c.work);
  for (int i = 0; i < n_; ++i) displaced[i] = c.work.force[i];
  std::fill(q, q + n_, 0.0);
  known = c.system.motion(c.work) && known;
  for (int i = 0; i < n_; ++i) displaced[i] -= c.work.force[i];
  std::copy(kept.begin(), kept.end(), c.work.in.begin());
  known = c.system.motion(c.work) && known;
  if (!known) return;
  for (int i = 0; i < n_; ++i) {
    DoubleDouble rest{displaced[i], 0};
    double terms = std::abs(displaced[i]);
    for (int j = 0; j < n_; ++j) {
      rest = rest + DoubleDouble{-force[i][j], 0};
      terms += std::abs(force[i][j]);
    }
    if (rest.high == 0 || !(std::abs(rest.high) <= kRounding * terms)) continue;  // more is no rounding
    look();
    std::fill(push.begin(), push.end(), 0.0);
    push[i] = rest.high;
    c.motion.respond(push.data(), nothing.data(), acceleration.data(), lambda.data(), low.data());
    for (int k = 0; k < n_; ++k) out.acceleration_low[k][i] += acceleration[k];
  }
}

/// Â from the accelerations and rates.
void ClosedForm::assemble(const Stack& stack) {
  std::vector<double> a(y_ * y_);
  for (int i = 0; i < n_; ++i) {
    a[i * y_ + n_ + i] = 1;
    for (int j = 0; j < y_; ++j) a[(n_ + i) * y_ + j] = stack.acceleration[i][j];
  }
  for (int i = 0; i < states_; ++i) {
    for (int j = 0; j < y_; ++j) a[(2 * n_ + i) * y_ + j] = stack.rate[i][j];
  }
  std::vector<numeric::LoadTerm> loads;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    numeric::LoadTerm term{kinds_[k].power, kinds_[k].rate, kinds_[k].frequency};
    term.cosine.assign(y_, 0.0);
    term.sine.assign(y_, 0.0);
    for (int i = 0; i < n_; ++i) {
      term.cosine[n_ + i] = stack.acceleration[i][y_ + 2 * k];
      term.sine[n_ + i] = stack.acceleration[i][y_ + 2 * k + 1];
    }
    for (int i = 0; i < states_; ++i) {
      term.cosine[2 * n_ + i] = stack.rate[i][y_ + 2 * k];
      term.sine[2 * n_ + i] = stack.rate[i][y_ + 2 * k + 1];
    }
    loads.push_back(std::move(term));
  }
  linear_.build(y_, a.data(), loads);
  place_.clear();
  for (const LoadKind& kind : kinds_) {
    const int at = linear_.load_state(kind.power, kind.rate, kind.frequency);
    place_.push_back(at);
    place_.push_back(kind.frequency == 0 ? -1 : at + 1);
  }
  const int size = linear_.size();
  std::vector<double> low;
  if (!stack.acceleration_low.empty()) low.resize(static_cast<std::size_t>(size * size));
  for (int i = 0; i < n_ && !low.empty(); ++i) {
    const Row wide = augmented(stack.acceleration_low[i]);
    std::copy(wide.begin(), wide.end(), low.begin() + (n_ + i) * size);
  }
  exponentials.build(size, linear_.matrix(), low.empty() ? nullptr : low.data());
  window_ = exponentials.nilpotent() ? std::numeric_limits<double>::infinity()
                                     : std::ldexp(1.0, exponentials.natural_exponent());
}

ClosedForm::Row ClosedForm::augmented(const Row& row) const {
  Row out(linear_.size());
  std::copy_n(row.begin(), y_, out.begin());
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    double factorial = 1;
    for (int i = 2; i <= kinds_[k].power; ++i) factorial *= i;
    for (std::size_t part = 0; part < 2; ++part) {
      const int at = place_[2 * k + part];
      if (at >= 0) out[at] += factorial * row[y_ + 2 * k + part];
    }
  }
  return out;
}

std::string ClosedForm::list_functions(Context& c, const Stack& stack) {
  const LinearStructure& s = c.structure;
  std::vector<Row> rows;
  functions_.clear();
  const auto take = [&](int guard, Row row, bool rising = false) {
    functions_.push_back({guard, rising});
    rows.push_back(std::move(row));
  };
  const auto scaled = [this](const Row& from, double factor) {
    Row out(from.size());
    add(out, from, factor);
    return out;
  };
  const auto limit = [&](int r, int number, bool at_rest) {
    Row out = row(at_rest ? s.tangent[number].at_rest : s.base[r]);
    const std::vector<int>& feeds = c.system.relations()[r].feeds;
    for (std::size_t f = 0; f < feeds.size(); ++f) {
      add(out, stack.normal[feeds[f]],
          values_[at_rest ? s.tangent[number].fed_rest[f] : s.factors[r][f]] * c.pressed(feeds[f]));
    }
    return out;
  };
  RestLaws rest(c.system, c.work);
  rest.set_mode(c.mode);
  // Of friction that pushes to one side, and ends with a slip to the other.
  const auto limit_towards = [&](int r, int number, int side) {
    if (!rest.directed(number)) return limit(r, number, true);
    std::vector<double> here;
    rest.take_direction(number, -side);
    c.evaluate(here);
    rest.take_back();
    std::swap(here, values_);
    Row out = limit(r, number, true);
    std::swap(here, values_);
    return out;
  };
  const auto condition = [&](const Guard& guard) {
    Row out;
    for (const ReactionConditions::Part& part : c.guards.condition(guard)) {
      Row law;
      if (part.tangent < 0) {
        law = scaled(stack.normal[part.relation], part.side);
      } else {
        const int number = c.system.relations()[part.relation].first_tangent + part.tangent;
        law = limit_towards(part.relation, number, part.side > 0 ? 1 : -1);
        add(law, stack.tangent[number], -part.side);
      }
      out.resize(law.size());
      add(out, law, part.weight);
    }
    return out;
  };
  const auto guards = static_cast<std::size_t>(c.guards.size());
  if (const std::size_t all = bytes_with(static_cast<std::size_t>(size()), guards, 0); all > kMostBytes)
    return too_much_memory(all);
  for (int g = 0; g < c.guards.size(); ++g) {
    look();
    const Guard& guard = c.guards.list()[g];
    const int index = g;
    const int place = guard.place;
    const auto number = [&] { return c.system.relations()[place].first_tangent + guard.tangent; };
    switch (guard.kind) {
      case GuardKind::gap:
        take(index, row(s.normal[place].gap));
        break;
      case GuardKind::reaction:
        take(index, stack.normal[place]);
        break;
      case GuardKind::pressed:
        take(index, scaled(stack.normal[place], guard.sign));
        break;
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        const int side = guard.kind == GuardKind::cone_plus ? 1 : -1;
        Row cone = limit_towards(place, number(), side);
        add(cone, stack.tangent[number()], -side);
        take(index, std::move(cone));
        break;
      }
      case GuardKind::slip:
        take(index, scaled(row(s.tangent[number()].slip), guard.sign));
        break;
      case GuardKind::joint_normal:
        take(index, limit(place, -1, false));
        break;
      case GuardKind::jam:
        break;  // constant in a linear system
      case GuardKind::margin:
        if (guard.tangent < 0) return "too many contacts share their reactions";
        take(index, condition(guard));
        break;
      case GuardKind::side:
        take(index, scaled(row(s.surface[place]), guard.sign));
        break;
      case GuardKind::level_below:
      case GuardKind::level_above: {
        const bool below = guard.kind == GuardKind::level_below;
        const model::SwitchInfo& info = c.system.switches()[place];
        const double side = c.mode.side[place];
        const double bound = below ? info.level_below(side) : info.level_above(side);
        Row distance = scaled(row(s.surface[place]), below ? 1 : -1);
        distance[y_] += below ? -bound : bound;  // the first load is the constant 1
        take(index, std::move(distance));
        break;
      }
      case GuardKind::corner: {
        c.motion.load_corner(guard.outer, guard.tangent);
        std::vector<double> here;
        c.evaluate(here);
        std::swap(here, values_);
        Row distance = scaled(row(s.surface[place]), guard.sign);
        distance[y_] -= guard.sign * guard.level;
        std::swap(here, values_);
        for (int k = 0; k < c.layout.switches; ++k) c.work.in[c.layout.side() + k] = c.mode.side[k];
        take(index, std::move(distance));
        break;
      }
      case GuardKind::held_above:
      case GuardKind::held_below:
        break;  // what a linear motion holds to order eight it holds
      case GuardKind::slide_above:
        // Neither side pushes at the start: no share is known, and no row.
        if (c.above.size() <= static_cast<std::size_t>(place) || c.above[place].empty()) break;
        take(index, scaled(c.above[place], -guard.sign));
        break;
      case GuardKind::slide_below:
        if (c.below.size() <= static_cast<std::size_t>(place) || c.below[place].empty()) break;
        take(index, scaled(c.below[place], guard.sign));
        break;
      case GuardKind::observed:  // watches with switches are refused
        break;
      case GuardKind::watch: {
        const AffineFunction& f = s.watch[place];
        Row watch = row(f);
        for (const AffineFunction::Slope& slope : f.slopes) {
          int at = slope.variable - y_;
          if (at < 0) continue;
          const double factor = values_[slope.output];
          if (at < n_) {
            add(watch, stack.acceleration[at], factor);
            continue;
          }
          at -= n_;
          add(watch, at < c.layout.relations ? stack.normal[at] : stack.tangent[at - c.layout.relations],
              factor);
        }
        const int wanted = c.system.watches()[place].direction;
        if (wanted <= 0) take(index, watch);
        if (wanted >= 0) take(index, scaled(watch, -1), true);
        break;
      }
    }
  }
  std::vector<double> all;
  for (const Row& r : rows) {
    const Row wide = augmented(r);
    if (!std::all_of(wide.begin(), wide.end(), [](double x) { return std::isfinite(x); }))
      return "a coefficient is not a finite number";
    all.insert(all.end(), wide.begin(), wide.end());
  }
  if (!search.build(exponentials, static_cast<int>(rows.size()), all.data(), patience_))
    return "a load is a polynomial of too high a degree";
  return {};
}

std::string ClosedForm::build(const model::System& system, model::Workspace& work, ModeMotion& motion,
                              const Guards& guards) {
  const model::Layout& layout = system.layout();
  const Mode mode = motion.mode();
  Context context{system, work, motion, guards, layout, system.linear(), mode, {}, {}};
  n_ = layout.coordinates;
  states_ = layout.states;
  y_ = layout.integrated();
  kinds_.clear();
  load_states_ = 0;
  polynomial_ = only_powers(system);
  Stack stack;
  bool sliding = false;
  for (int k = 0; k < layout.switches; ++k) sliding = sliding || mode.slides(k);
  if (sliding) {
    const std::string problem = slide(context, stack);
    stack.acceleration_low.clear();  // the fields have been combined
    for (int k = 0; k < layout.switches; ++k) work.in[layout.side() + k] = mode.side[k];
    if (!problem.empty()) return problem;
  } else {
    context.evaluate(values_);
    if (!collect_loads(context.structure)) return too_many_states();
    field(context, stack);
  }
  for (const Row* row : std::as_const(stack).all()) {
    if (!std::all_of(row->begin(), row->end(), [](double x) { return std::isfinite(x); }))
      return "a coefficient is not a finite number";
  }
  assemble(stack);
  std::string problem = list_functions(context, stack);
  if (problem.empty()) problem = list_work(context, stack);
  if (!problem.empty()) return problem;
  list_forms();
  return {};
}

}  // namespace judder::engines
