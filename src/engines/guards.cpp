#include "guards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {
namespace {

constexpr double kNoise =
    256 * 2.220446049250313e-16;  ///< share of the sum of absolute terms that rounding may take

constexpr double kTimeNoise = 4 * 2.220446049250313e-16;  ///< of the time: what a sample may miss
constexpr double kVelocityNoise =
    32 *
    2.220446049250313e-16;  ///< share of the terms of a slip that the polynomials of a step may miss by rounding

}  // namespace

bool is_reaction(const Guard& guard) {
  return guard.kind == GuardKind::reaction || guard.kind == GuardKind::cone_plus ||
         guard.kind == GuardKind::cone_minus || guard.kind == GuardKind::pressed ||
         (guard.kind == GuardKind::margin && guard.tangent >= 0);
}

std::size_t Guards::scale_count(const model::System& system) {
  const model::Layout& layout = system.layout();
  return 3 * layout.relations + 2 * layout.tangents + 2 * layout.switches + system.watches().size() +
         layout.observed;
}

Guards::Guards(const model::System& system, model::Workspace& work, ModeMotion& motion)
    : sharing(system, work), rest(system, work), system_(system), work_(work), motion_(motion) {
  const model::Layout& layout = system.layout();
  has_massless_ =
      std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end();
  memory_.resize(scale_count(system));
  const int slips = 2 * layout.relations;
  const int limits = slips + layout.tangents;
  const int surfaces = limits + layout.tangents;
  const int rates = surfaces + layout.switches;
  const int watches = rates + layout.switches;
  const auto place = [this](GuardKind kind, int first, bool by_row = false) {
    slots_[static_cast<std::size_t>(kind)] = {first, by_row};
  };
  place(GuardKind::gap, 0);
  for (const GuardKind kind :
       {GuardKind::reaction, GuardKind::joint_normal, GuardKind::margin, GuardKind::pressed})
    place(kind, layout.relations);
  place(GuardKind::slip, slips, true);
  for (const GuardKind kind : {GuardKind::cone_plus, GuardKind::cone_minus}) place(kind, limits, true);
  for (const GuardKind kind : {GuardKind::side, GuardKind::level_below, GuardKind::level_above,
                               GuardKind::held_above, GuardKind::held_below, GuardKind::corner})
    place(kind, surfaces);
  for (const GuardKind kind : {GuardKind::slide_above, GuardKind::slide_below}) place(kind, rates);
  place(GuardKind::watch, watches);
  place(GuardKind::jam, watches + static_cast<int>(system.watches().size()));
  place(GuardKind::observed, watches + static_cast<int>(system.watches().size()) + layout.relations);
  for (const model::WatchInfo& watch : system.watches())
    watches_reactions_ = watches_reactions_ || watch.needs_reactions;
  surface_.resize(2 + layout.integrated());
  list_.reserve(3 * layout.relations + 3 * layout.tangents + 2 * layout.switches + system.watches().size() +
                2 * layout.observed);
}

void Guards::add(GuardKind kind, int place, int tangent, double sign) {
  Guard guard;
  guard.kind = kind;
  guard.place = place;
  guard.tangent = tangent;
  guard.sign = sign;
  list_.push_back(guard);
  if (is_reaction(list_.back())) {
    list_.back().noise = force_noise(list_.back());
    if (kind == GuardKind::cone_plus || kind == GuardKind::cone_minus)
      list_.back().flat = kNoise * motion_.natural_force(place, tangent);
  } else if (kind == GuardKind::gap) {
    ++gaps_;
    list_.back().noise = gap_noise(place);
  } else if (kind == GuardKind::watch) {
    list_.back().noise = watch_noise(place);
  } else if (kind == GuardKind::observed) {
    list_.back().noise = interval_noise(system_.observed()[place].value);
  } else if (kind == GuardKind::held_above || kind == GuardKind::held_below) {
    // Where the surface is exactly zero whatever the state, anything else is more than rounding.
    list_.back().band = std::max(64 * surface_noise(place), std::numeric_limits<double>::min());
    find_row(list_.back());
    list_.back().level = held_value(list_.back());
  }
  const Slots& slots = slots_[static_cast<std::size_t>(kind)];
  list_.back().slot =
      kind == GuardKind::margin && tangent >= 0
          ? slot_of(condition(list_.back()).front())
          : slots.first + (slots.by_row ? system_.relations()[place].first_tangent + tangent : place);
  list_.back().scale = scale_in_memory(list_.back());
  only_gaps_ = only_gaps_ && kind == GuardKind::gap;
  // With constant rows a gap is affine in q and t, a slip in v; a reaction is constant with the accelerations.
  switch (kind) {
    case GuardKind::gap:
    case GuardKind::slip:
      quadratic_ = quadratic_ && system_.relations()[place].rows_constant;
      break;
    case GuardKind::reaction:
    case GuardKind::pressed:
      break;
    case GuardKind::cone_plus:
    case GuardKind::cone_minus:
      quadratic_ = quadratic_ && system_.relations()[place].law_constant;
      break;
    default:
      quadratic_ = false;
  }
  switch (kind) {
    case GuardKind::gap:
    case GuardKind::side:
    case GuardKind::level_above:
    case GuardKind::level_below:
    case GuardKind::held_above:
    case GuardKind::held_below:
    case GuardKind::corner:
      break;
    case GuardKind::watch:
    case GuardKind::observed:
      needs_motion_ = needs_motion_ || watches_reactions_;
      break;
    default:
      needs_motion_ = true;
  }
}

double Guards::force_noise(const Guard& guard) const {
  if (guard.kind != GuardKind::margin) return kNoise * motion_.natural_force(guard.place);
  double sum = 0;
  for (const ReactionConditions::Part& part : condition(guard))
    sum += part.weight * motion_.natural_force(part.relation, part.tangent);
  return kNoise * sum;
}

// The conditions of a block whose reactions are not unique, or, where they change with the state or are too many, its largest margin.
void Guards::add_margins(int block) {
  const int before = conditions_.size();
  for (std::size_t r = 0; r < chosen_.size(); ++r)
    chosen_[r] = sharing.block(static_cast<int>(r)) == block ? 1 : 0;
  if (!ReactionConditions::constant(system_, motion_.mode()) ||
      !conditions_.list(system_, work_, motion_.mode(), active_, ways_, chosen_)) {
    add(GuardKind::margin, block, -1);
    return;
  }
  for (int c = before; c < conditions_.size(); ++c) add(GuardKind::margin, block, c);
}

void Guards::build(std::span<const std::int8_t> pushes) {
  list_.clear();
  gaps_ = 0;
  conditions_.clear();
  // Speeds of massless coordinates, which any of the functions may read, follow from the balance of forces.
  needs_motion_ = has_massless_;
  quadratic_ = true;
  only_gaps_ = true;
  const Mode& mode = motion_.mode();
  rest.set_mode(mode);
  const bool redundant = motion_.redundant();
  if (redundant) {
    const int active = motion_.active();
    active_.clear();
    for (int k = 0; k < active; ++k)
      active_.push_back({motion_.active_relation(k), motion_.active_tangent(k)});
    ways_.resize(static_cast<std::size_t>(motion_.nullity()) * active);
    for (int w = 0; w < motion_.nullity(); ++w) motion_.null_reactions(w, ways_.data() + w * active);
    chosen_.resize(system_.layout().relations);
    listed_.assign(system_.layout().relations, 0);
  }
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const NormalStatus status = mode.normal[r];
    if (status == NormalStatus::open) {
      if (relation.has_normal) add(GuardKind::gap, r);
      continue;
    }
    const bool shared = redundant && sharing.block(r) >= 0;
    bool slips = false;
    bool holds = status == NormalStatus::closed;
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus tangent = mode.tangent[relation.first_tangent + j];
      if (tangent == TangentStatus::slip_plus || tangent == TangentStatus::slip_minus) {
        add(GuardKind::slip, r, j, direction(tangent));
        slips = true;
      } else if (tangent == TangentStatus::stick) {
        holds = true;
        if (!shared) {
          add(GuardKind::cone_plus, r, j);
          add(GuardKind::cone_minus, r, j);
        }
      }
    }
    if (status == NormalStatus::closed) {
      const bool may_jam = slips && !motion_.structure_constant() && !redundant;
      if (!shared) {
        add(GuardKind::reaction, r);
        list_.back().reduced = may_jam;
      }
      if (may_jam) add(GuardKind::jam, r);
    } else if (status == NormalStatus::held && mode.pressed[r] != 0) {
      if (!shared) add(GuardKind::pressed, r, 0, mode.pressed[r]);
      holds = true;
    }
    if (shared && holds && listed_[sharing.block(r)] == 0) {
      listed_[sharing.block(r)] = 1;
      add_margins(sharing.block(r));
    }
    const auto is_free = [](TangentStatus tangent) { return tangent == TangentStatus::free; };
    const auto first = mode.tangent.begin() + relation.first_tangent;
    // One that nothing can press has no load to be watched.
    if (relation.kind == model::RelationKind::joint && relation.tangents > 0 && !relation.law_constant &&
        !never_negative(r) && !std::all_of(first, first + relation.tangents, is_free)) {
      add(GuardKind::joint_normal, r);
    }
  }
  for (int k = 0; k < system_.layout().switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!system_.live(work_, k)) continue;
    if (!mode.slides(k) && motion_.on_corners(k)) continue;  // judged on each side of the inner one
    if (mode.surface[k] == AtSurface::held) {
      add(GuardKind::held_above, k, 0, 1);
      add(GuardKind::held_below, k, 0, -1);
      continue;
    }
    if (mode.slides(k)) {
      // What no side moves friction holds, and its guards end that; unless both sides only begin to push.
      if (motion_.parallel(k) && (pushes.empty() || (pushes[2 * k] == 0 && pushes[2 * k + 1] == 0))) continue;
      // A surface that repels is stayed on where the run is told to; then the rates have the other signs.
      const bool repels = motion_.sliding_rate(k, 0) < 0 && motion_.sliding_rate(k, 1) > 0;
      add(GuardKind::slide_above, k, 0, repels ? -1 : 1);
      add(GuardKind::slide_below, k, 0, repels ? -1 : 1);
    } else if (info.time_only) {
      continue;  // on the timetable
    } else if (info.two_sided()) {
      // What has one sign by its form is touched, with whatever is inside it, and not crossed.
      if (info.one_sided == 0 || mode.side[k] != (info.one_sided > 0 ? 1 : 0))
        add(GuardKind::side, k, 0, mode.side[k] > 0.5 ? 1 : -1);
    } else {
      if (std::isfinite(info.level_below(mode.side[k]))) add(GuardKind::level_below, k);
      if (info.level_above(mode.side[k]) < info.top) add(GuardKind::level_above, k);
    }
  }
  add_corners();
  for (std::size_t w = 0; w < system_.watches().size(); ++w) {
    if (system_.watches()[w].one_sided == 0) add(GuardKind::watch, static_cast<int>(w));
  }
  build_observed();
}

// Switches that contain a sliding one, at every combination of sides: those sides are part of the field that is slid on.
void Guards::add_corners() {
  const std::span<const int> outer = motion_.outer();
  for (int i = 0; i < static_cast<int>(outer.size()); ++i) {
    const model::SwitchInfo& info = system_.switches()[outer[i]];
    for (int c = 0; c < motion_.corners(i); ++c) {
      if (motion_.corner_fixed(i, c)) continue;
      const double side = motion_.corner_side(i, c);
      const auto add_at = [&](double sign, double bound) {
        add(GuardKind::corner, outer[i], c, sign);
        list_.back().outer = i;
        list_.back().level = bound;
      };
      if (info.two_sided()) {
        add_at(side > 0.5 ? 1 : -1, 0);
        continue;
      }
      if (const double below = info.level_below(side); std::isfinite(below)) add_at(1, below);
      if (const double above = info.level_above(side); above < info.top) add_at(-1, above);
    }
  }
}

void Guards::build_observed() {
  while (!list_.empty() && list_.back().kind == GuardKind::observed) list_.pop_back();
  for (int k = 0; k < system_.layout().observed; ++k) {
    const model::SwitchInfo& info = system_.observed()[k];
    if (info.time_only) continue;  // on the timetable
    const double side = work_.in[system_.layout().observed_side() + k];
    if (info.two_sided()) {
      if (info.one_sided == 0 || side != (info.one_sided > 0 ? 1 : 0))
        add(GuardKind::observed, k, 0, side > 0.5 ? 1 : -1);
      continue;
    }
    const auto add_at = [&](double sign, double bound) {
      if (!std::isfinite(bound)) return;
      add(GuardKind::observed, k, 0, sign);
      list_.back().level = bound;
    };
    add_at(1, info.level_below(side));
    if (info.level_above(side) < info.top) add_at(-1, info.level_above(side));
  }
}

// Whether the load of a joint is made of the reactions of others, each with a factor of its own that is never negative. Their absolute values have kinks where they
// pass zero, which no polynomial of a step shows; their own guards see them.
bool Guards::never_negative(int relation) const {
  const model::Symbols& symbols = system_.symbols();
  const auto is_positive = [&](expr::Node node) {
    return system_.graph().is_constant(node) && system_.graph().value(node) >= 0;
  };
  return is_positive(symbols.base[relation]) &&
         std::all_of(symbols.factors[relation].begin(), symbols.factors[relation].end(), is_positive);
}

double Guards::limit(int relation) const {
  const std::vector<int>& feeds = system_.relations()[relation].feeds;
  const model::RelationRows& rows = work_.relation[relation];
  double sum = rows.base;
  for (std::size_t f = 0; f < feeds.size(); ++f)
    sum += rows.factors[f] * std::abs(motion_.normal()[feeds[f]]);
  return sum;
}

// What friction leaves of its limit, on one side.
double Guards::cone(int relation, int tangent, int side) {
  const int number = system_.relations()[relation].first_tangent + tangent;
  const double force = motion_.tangent()[number];
  if (!rest.directed(number))
    return work_.relation[relation].tangent[tangent].mu_static * limit(relation) - side * force;
  // Friction that pushes forward ends with a slip backwards.
  rest.take_direction(number, -side);
  static_cast<void>(system_.rows(work_, relation));
  const double most = work_.relation[relation].tangent[tangent].mu_static * limit(relation);
  rest.take_back();
  static_cast<void>(system_.rows(work_, relation));
  return most - side * force;
}

// The same for any reaction of those that are possible: also one that pulls, whose pressure counts with its sign.
double Guards::condition_value(const Guard& guard) {
  double sum = 0;
  for (const ReactionConditions::Part& part : condition(guard)) {
    if (part.tangent < 0) {
      sum += part.weight * (part.side * motion_.normal()[part.relation]);
      continue;
    }
    const model::Relation& relation = system_.relations()[part.relation];
    const int number = relation.first_tangent + part.tangent;
    const bool directed = rest.directed(number);
    if (directed) {
      rest.take_direction(number, part.side > 0 ? -1 : 1);
      static_cast<void>(system_.rows(work_, part.relation));
    }
    const model::RelationRows& rows = work_.relation[part.relation];
    double limit = rows.base;
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const int fed = relation.feeds[f];
      const double pressed = motion_.mode().pressed[fed] < 0 ? -1 : 1;
      limit += rows.factors[f] * (pressed * motion_.normal()[fed]);
    }
    sum +=
        part.weight * (rows.tangent[part.tangent].mu_static * limit - part.side * motion_.tangent()[number]);
    if (directed) {
      rest.take_back();
      static_cast<void>(system_.rows(work_, part.relation));
    }
  }
  return sum;
}

double Guards::value(const Guard& guard) {
  switch (guard.kind) {
    case GuardKind::gap: {
      double gap = 0;
      double rate = 0;
      system_.gap(work_, guard.place, gap, rate);
      return gap;
    }
    case GuardKind::reaction:
      return guard.reduced ? motion_.normal()[guard.place] * motion_.determinant()
                           : motion_.normal()[guard.place];
    case GuardKind::margin:
      if (guard.tangent >= 0) return condition_value(guard);
      // Without a limit it is as large as it has ever been: loads that pass zero take nothing of it away.
      return sharing.unlimited(guard.place) && guard.scale > 0 ? guard.scale : sharing.margin(guard.place);
    case GuardKind::cone_plus:
      return cone(guard.place, guard.tangent, 1);
    case GuardKind::cone_minus:
      return cone(guard.place, guard.tangent, -1);
    case GuardKind::slip: {
      const model::RelationRows::Tangent& row = work_.relation[guard.place].tangent[guard.tangent];
      double slip = row.drive;
      const double* v = work_.in.data() + system_.layout().v();
      for (const int i : system_.relations()[guard.place].touches) slip += row.w[i] * v[i];
      return guard.sign * slip;
    }
    case GuardKind::jam:
      return motion_.determinant();
    case GuardKind::joint_normal:
      return limit(guard.place);
    case GuardKind::pressed:
      return guard.sign * motion_.normal()[guard.place];
    case GuardKind::side:
    case GuardKind::level_below:
    case GuardKind::level_above: {
      const model::SwitchInfo& info = system_.switches()[guard.place];
      double s = 0;
      info.value.evaluate(work_.in.data(), &s, work_.registers.data());
      if (guard.kind == GuardKind::side) return guard.sign * s;
      const double side = motion_.mode().side[guard.place];
      return guard.kind == GuardKind::level_below ? s - info.level_below(side) : info.level_above(side) - s;
    }
    case GuardKind::held_above:
    case GuardKind::held_below:
      return guard.band - guard.sign * (held_value(guard) - guard.level);
    case GuardKind::corner:
      return guard.sign * (motion_.corner_value(guard.outer, guard.tangent) - guard.level);
    case GuardKind::slide_above:
      return -guard.sign * motion_.sliding_rate(guard.place, 1);
    case GuardKind::slide_below:
      return guard.sign * motion_.sliding_rate(guard.place, 0);
    case GuardKind::observed: {
      double s = 0;
      system_.observed()[guard.place].value.evaluate(work_.in.data(), &s, work_.registers.data());
      return guard.sign * (s - guard.level);
    }
    case GuardKind::watch: {
      double value = 0;
      system_.watches()[guard.place].value.evaluate(work_.in.data(), &value, work_.registers.data());
      return value;
    }
  }
  return 0;
}

void Guards::values(double* out, int stride) {
  if (!list_.empty() && motion_.redundant()) sharing.share(motion_);
  bool published = false;
  const bool many = many_gaps();
  if (many) system_.gaps(work_);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (many && list_[i].kind == GuardKind::gap) {
      out[i * stride] = work_.gap_value[list_[i].place];
      continue;
    }
    if (list_[i].kind == GuardKind::watch && !published) {
      if (watches_reactions_) motion_.publish();
      published = true;
    }
    out[i * stride] = value(list_[i]);
  }
}

double Guards::gap_noise(int relation) {
  // Only the direction is needed: where it is constant there is nothing to evaluate.
  const model::Relation& own = system_.relations()[relation];
  const model::RelationRows& rows =
      own.rows_constant ? work_.relation[relation] : system_.rows(work_, relation);
  double terms = 0;
  for (std::size_t e = 0; e < own.touches.size(); ++e)
    terms += std::abs(rows.w.values()[e] * work_.in[system_.layout().q() + own.touches[e]]);
  // Late in a run the last bit of the time counts: a wall has moved on by then.
  return kNoise * terms + kTimeNoise * std::abs(work_.in[0] * rows.gap_time);
}

double Guards::watch_noise(int watch) { return interval_noise(system_.watches()[watch].value); }

// Rounding of an expression.
double Guards::interval_noise(const expr::Program& program) {
  const model::Layout& layout = system_.layout();
  enclosure_.take(work_.in);
  enclosure_.blur(0, layout.side());  // sides, directions and statuses are exact
  enclosure_.blur(layout.free_parameter(), layout.observed_side());
  enclosure_.evaluate(program);
  return 2 * enclosure_.width(0);
}

// Rounding of the terms of a surface. Where it has no slope, as that of a fractional power at zero, interval arithmetic tells.
double Guards::surface_noise(int k) {
  const model::Layout& layout = system_.layout();
  system_.switches()[k].surface.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
  const double* gradient = surface_.data() + 2;
  const double* y = work_.in.data() + layout.q();
  double terms = std::abs(surface_[1] * work_.in[0]);
  for (int i = 0; i < layout.integrated(); ++i) terms += std::abs(gradient[i] * y[i]);
  return std::isfinite(terms) ? kNoise * terms : interval_noise(system_.switches()[k].value);
}

// Sum of the absolute terms of a slip velocity: that of two bodies, or of a body and its belt, is as exact as they are.
double Guards::slip_terms(const Guard& guard) const {
  const model::RelationRows::Tangent& row = work_.relation[guard.place].tangent[guard.tangent];
  const double* v = work_.in.data() + system_.layout().v();
  double sum = std::abs(row.drive);
  for (const int i : system_.relations()[guard.place].touches) sum += std::abs(row.w[i] * v[i]);
  return sum;
}

double Guards::surface_value(int k) {
  double s = 0;
  system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
  return s;
}

// The row at rest along which a surface is held, if there is one.
void Guards::find_row(Guard& guard) {
  const Mode& mode = motion_.mode();
  if (system_.switches()[guard.place].surface.outputs() == 0) return;
  for (int r = 0; r < system_.layout().relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (mode.normal[r] == NormalStatus::open) continue;
    guard.row = r;
    for (guard.tangent = relation.has_normal ? -1 : 0; guard.tangent < relation.tangents; ++guard.tangent) {
      const bool rests =
          guard.tangent < 0 || mode.tangent[relation.first_tangent + guard.tangent] == TangentStatus::stick;
      if (rests && ratio_to_row(guard) != 0) return;
    }
  }
  guard.row = -1;
  guard.tangent = 0;
}

double Guards::ratio_to_row(const Guard& guard) {
  const int n = system_.layout().coordinates;
  const expr::Program& program = system_.switches()[guard.place].surface;
  program.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
  const model::RelationRows& rows = system_.rows(work_, guard.row);
  return parallel_to(surface_.data() + 2 + n, guard.tangent < 0 ? rows.w : rows.tangent[guard.tangent].w, n);
}

// A row rests as exactly as it is followed, and what its velocity is off, the surface is off by its share: what is left is what parts them.
double Guards::held_value(const Guard& guard) {
  const double value = surface_value(guard.place);
  if (guard.row < 0) return value;
  const double ratio = ratio_to_row(guard);
  const model::RelationRows& rows = work_.relation[guard.row];
  return value - ratio * (guard.tangent < 0 ? rows.gap_rate : rows.tangent[guard.tangent].slip);
}

double Guards::gap_rate(const Guard& guard) {
  double gap = 0;
  double rate = 0;
  system_.gap(work_, guard.place, gap, rate);
  return rate;
}

bool Guards::renew_noise(Guard& guard, std::span<const double> size) {
  if (guard.kind == GuardKind::side || guard.kind == GuardKind::level_below ||
      guard.kind == GuardKind::level_above || guard.kind == GuardKind::held_above ||
      guard.kind == GuardKind::held_below) {
    guard.noise = std::max(
        {guard.noise, surface_noise(guard.place), interval_noise(system_.switches()[guard.place].value)});
    return true;
  }
  if (guard.kind == GuardKind::slip) {
    guard.noise = std::max(guard.noise, kVelocityNoise * slip_terms(guard));
    const model::Relation& relation = system_.relations()[guard.place];
    if (relation.rows_constant) return true;
    // What cancels inside the drive, as in the speed 1 − cos t of a belt.
    enclosure_.take(work_.in);
    enclosure_.blur(0, 1 + system_.layout().integrated());
    enclosure_.evaluate(relation.rows);
    guard.noise = std::max(guard.noise, 2 * enclosure_.width(relation.row_begin(guard.tangent)));
    return true;
  }
  if (guard.kind == GuardKind::gap) {
    // What cancels inside it, as where a body leaves a wall at a place far from zero. After a rebound its values are measured by what it has grown to.
    if (guard.zeros != 0) return false;
    guard.noise = std::max(guard.noise, interval_noise(system_.relations()[guard.place].gap));
    return true;
  }
  if (!is_reaction(guard)) return false;
  motion_.note_all_terms(size);
  guard.noise = std::max(guard.noise, force_noise(guard));
  return true;
}

int Guards::slot_of(const ReactionConditions::Part& part) const {
  const model::Layout& layout = system_.layout();
  return part.tangent < 0 ? layout.relations + part.relation
                          : 2 * layout.relations + layout.tangents +
                                system_.relations()[part.relation].first_tangent + part.tangent;
}

// Laws of one condition may limit forces and moments: what each has been counts with its weight.
double Guards::scale_in_memory(const Guard& guard) const {
  if (guard.kind != GuardKind::margin || guard.tangent < 0) return memory_[guard.slot];
  double scale = 0;
  for (const ReactionConditions::Part& part : condition(guard))
    scale = std::max(scale, part.weight * memory_[slot_of(part)]);
  return scale;
}

void Guards::note_scales() {
  const bool many = many_gaps();
  if (many) system_.gaps(work_);
  for (Guard& guard : list_) {
    double& scale = memory_[guard.slot];
    if (many && guard.kind == GuardKind::gap) {
      guard.scale = scale = std::max(scale, std::abs(work_.gap_value[guard.place]));
      continue;
    }
    if (guard.kind == GuardKind::margin) {
      if (guard.tangent < 0) scale = std::max(scale, sharing.force_scale(guard.place));
      note_shared_forces();
    }
    if (guard.kind == GuardKind::jam) scale = std::max(scale, 1.0);
    scale = std::max(scale, std::abs(value(guard)));
    guard.scale = scale;
  }
  for (Guard& guard : list_) {
    if (guard.kind == GuardKind::margin && guard.tangent >= 0) guard.scale = scale_in_memory(guard);
  }
}

// Redundant rows have one guard for all; what they carry counts for later decisions as that of other rows does.
void Guards::note_shared_forces() {
  const model::Layout& layout = system_.layout();
  for (int r = 0; r < layout.relations; ++r) {
    double& normal = memory_[layout.relations + r];
    normal = std::max(normal, std::abs(motion_.normal()[r]));
  }
  for (int j = 0; j < layout.tangents; ++j) {
    double& tangent = memory_[2 * layout.relations + layout.tangents + j];
    tangent = std::max(tangent, std::abs(motion_.tangent()[j]));
  }
}

void Guards::note_scale(Guard& guard, double value) {
  double& scale = memory_[guard.slot];
  scale = std::max(scale, std::abs(value));
  guard.scale = scale_in_memory(guard);
}

void Guards::load_scales(const std::vector<double>& memory) {
  if (memory.size() == memory_.size())
    memory_ = memory;
  else
    std::fill(memory_.begin(), memory_.end(), 0.0);
  for (Guard& guard : list_) guard.scale = scale_in_memory(guard);
}

}  // namespace judder::engines
