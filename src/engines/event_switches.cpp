// Switches at an instant: sides by value, surfaces that the motion decides, sliding, and switchings that accumulate.
//
// mechanics: docs/theory.md, "An instant". E is the set of surfaces whose status is carried or decided, never read from a value: those whose zero
// brought us here, those that the motion slides or rests on, and those that are zero to rounding. All others have the side of their value.
#include <algorithm>
#include <cmath>
#include <limits>

#include "event_run.hpp"

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmall = 1e-9;       ///< a derivative below this share of its terms is a zero of some order
constexpr double kRoundingUnits = 8;  ///< a surface within this many rounding bounds is at zero
constexpr std::size_t kMostEnumerated = 7;  ///< surfaces of one block: 3⁷ combinations
constexpr double kNothing = 1e-20;          ///< share of its running scale below which a component is zero
constexpr int kMostFlips = 50;              ///< rounds of the iteration for larger blocks

}  // namespace

// s minus the level nearest to it, and the side below that level.
double distance_from_level(const model::SwitchInfo& info, double s, double& lower) {
  if (info.two_sided()) {
    lower = 0;
    return s;
  }
  if (info.whole) {
    const double level = std::round(s);
    lower = level - 1;
    return s - level;
  }
  const auto above = std::lower_bound(info.levels.begin(), info.levels.end(), s);
  auto nearest = above;
  if (above == info.levels.end() || (above != info.levels.begin() && s - *(above - 1) < *above - s))
    --nearest;
  lower = static_cast<double>(nearest - info.levels.begin()) - 1;
  return s - *nearest;
}

// Evaluates the motion in the mode that ends, as far as its guards need it, and takes over the coefficients with which it slides now: a
// decision about something else must not see those of the beginning.
bool EventEngine::Run::evaluate_coefficients() {
  bool slides = false;
  for (int k = 0; k < layout_.switches; ++k) slides = slides || mode_.slides(k);
  if (!slides && !guards_.needs_motion()) return true;
  if (!motion_.evaluate()) return false;
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) mode_.side[k] = motion_.mode().side[k];
  }
  return true;
}

// What the present instant starts from: a jump is seen against it.
void EventEngine::Run::note_instant() {
  for (int i = 0; i < layout_.coordinates; ++i) speed_before_[i] = std::abs(work_.in[layout_.v() + i]);
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (!info.time_only) info.value.evaluate(work_.in.data(), &surface_before_[k], work_.registers.data());
  }
}

// Rounding of the surface of switch k: interval arithmetic with every number known to its last bit. What has moved is known to the last bit of
// its running scale only, and velocities to that of what they have been at this instant.
double EventEngine::Run::surface_rounding(int k) { return rounding_of(system_.switches()[k].value); }

// The same for the first output of any program, at the state and sides in work_.in.
double EventEngine::Run::rounding_of(const expr::Program& program) {
  enclose(program);
  const double width = interval_out_[0].high - interval_out_[0].low;
  return std::isfinite(width) ? 0.5 * width : 0;
}

// All outputs of a program as intervals, with the state known to the last bits of what it has been.
void EventEngine::Run::enclose(const expr::Program& program) {
  interval_in_.resize(work_.in.size());
  interval_out_.resize(std::max<std::size_t>(interval_out_.size(), program.outputs()));
  interval_registers_.resize(std::max<std::size_t>(interval_registers_.size(), program.registers()));
  const int state_end = 1 + layout_.integrated();
  for (std::size_t i = 0; i < interval_in_.size(); ++i) {
    const double x = work_.in[i];
    double size = static_cast<int>(i) < state_end ? std::abs(x) : 0;
    if (i > 0 && static_cast<int>(i) < state_end) size = std::max(size, scale_[i - 1]);
    const int v = static_cast<int>(i) - layout_.v();
    if (v >= 0 && v < layout_.coordinates) size = std::max(size, speed_before_[v]);
    interval_in_[i] = {x - kEpsilon * size, x + kEpsilon * size};
  }
  program.evaluate_interval(interval_in_.data(), interval_out_.data(), interval_registers_.data());
}

// Whether the surface contains the side of a switch that slides: it is judged on each side of that one (ModeMotion).
bool EventEngine::Run::contains_sliding(int k) const {
  for (const int inner : system_.switches()[k].inner) {
    if (mode_.slides(inner) || contains_sliding(inner)) return true;
  }
  return false;
}

void EventEngine::Run::load_statuses() {
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = mode_.side[k];
  for (int j = 0; j < layout_.tangents; ++j) work_.in[layout_.direction() + j] = direction(mode_.tangent[j]);
  for (int r = 0; r < layout_.relations; ++r)
    work_.in[layout_.closed() + r] = mode_.normal[r] == NormalStatus::open ? 0 : 1;
}

// The direction in which a surface of positions and time is left, where the velocities tell it beyond rounding; 0: the motion decides. Speeds of
// massless coordinates and rates of states are no more known than accelerations.
int EventEngine::Run::direction_by_speed(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.rate.outputs() == 0) return 0;
  const int n = layout_.coordinates;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double rate = surface_memory_[1];
  double terms = std::abs(rate);
  for (int i = 0; i < n; ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (system_.massless()[i]) return 0;
    rate += surface_memory_[2 + i] * work_.in[layout_.v() + i];
    terms += std::abs(surface_memory_[2 + i] * work_.in[layout_.v() + i]);
  }
  for (int i = 0; i < layout_.states; ++i) {
    if (surface_memory_[2 + 2 * n + i] != 0) return 0;  // sees rates, which the sides decide
  }
  if (!(std::abs(rate) > std::max(kSmall * terms, surface_rate_rounding(k)))) return 0;
  return rate > 0 ? 1 : -1;
}

// Whether a surface is the same number for every state and time, with the sides as they are: sign(floor(x)) between two whole numbers.
bool EventEngine::Run::never_moves(int k, double rounding) {
  const expr::Program& program = system_.switches()[k].value;
  interval_in_.resize(work_.in.size());
  interval_out_.resize(std::max<std::size_t>(interval_out_.size(), program.outputs()));
  interval_registers_.resize(std::max<std::size_t>(interval_registers_.size(), program.registers()));
  constexpr double kAnywhere = 1e100;
  const int state_end = 1 + layout_.integrated();
  for (std::size_t i = 0; i < interval_in_.size(); ++i) {
    interval_in_[i] = {work_.in[i], work_.in[i]};
    if (static_cast<int>(i) < state_end) interval_in_[i] = {-kAnywhere, kAnywhere};
  }
  program.evaluate_interval(interval_in_.data(), interval_out_.data(), interval_registers_.data());
  return interval_out_[0].high - interval_out_[0].low <= rounding;
}

// Every switch that is not in E takes the side of its value, inner ones before those that contain them. Collects E in open_, and in later_ what
// contains members of it. True: a side has changed.
bool EventEngine::Run::sides_by_value() {
  load_statuses();
  open_.clear();
  later_.clear();
  bool changed = false;
  for (int k = 0; k < layout_.switches; ++k) changed = side_by_value(k) || changed;
  return changed;
}

// The same for one of them. True: its side has changed.
bool EventEngine::Run::side_by_value(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.time_only || contains_sliding(k)) return false;
  if (!system_.live(work_, k)) {  // it stands in a branch that is not taken
    mode_.surface[k] = AtSurface::away;
    landed_[k] = carried_[k] = 0;
    listed_side_[k] = mode_.side[k];
    dead_[k] = 1;
    return false;
  }
  double s = 0;
  info.value.evaluate(work_.in.data(), &s, work_.registers.data());
  const double distance = distance_from_level(info, s, lower_[k]);
  if (std::abs(exit_side_[k]) == 2) {  // the motion has shown where it goes from here
    const double left = lower_[k] + (exit_side_[k] > 0 ? 1 : 0);
    const bool changed = mode_.surface[k] != AtSurface::away || mode_.side[k] != left;
    mode_.surface[k] = AtSurface::away;
    mode_.side[k] = work_.in[layout_.side() + k] = left;
    landed_[k] = carried_[k] = dead_[k] = 0;
    return changed;
  }
  const bool carried = carried_[k] != 0 || mode_.surface[k] != AtSurface::away;
  const double bound = kRoundingUnits * surface_rounding(k);
  double side = distance > 0 ? lower_[k] + 1 : lower_[k];
  AtSurface status = AtSurface::away;
  if (std::abs(distance) <= bound || (carried && std::abs(s - surface_before_[k]) <= bound)) {
    if (strikes_) {  // velocities jump before anything is decided
      open_.push_back(k);
      return false;
    }
    for (const int inner : info.inner) {
      if (!contains(open_, inner) && !contains(later_, inner)) continue;
      later_.push_back(k);
      return false;
    }
    // Where speeds alone tell to which side it is left, it has that side before the switches that contain it are looked at; where nothing but sides
    // stands in it, it stays.
    const int leaves = direction_by_speed(k);
    if (leaves == 0 && !never_moves(k, bound)) {
      open_.push_back(k);
      return false;
    }
    carried_[k] = fresh_switch_[k] = 1;
    if (leaves == 0) status = AtSurface::held;
    side = lower_[k] + (leaves == 0 ? info.at_zero : leaves > 0 ? 1 : 0);
  } else {
    landed_[k] = carried_[k] = 0;
  }
  const bool was_dead = dead_[k] != 0;
  dead_[k] = 0;
  if (mode_.surface[k] == status && side == mode_.side[k]) return false;
  mode_.surface[k] = status;
  mode_.side[k] = work_.in[layout_.side() + k] = side;
  fresh_switch_[k] = 1;
  if (was_dead) listed_side_[k] = side;  // it had no side before
  return true;
}

// Rounding of a slip at this instant, with the sides before it and after it: where a belt comes to rest at a kink, what is left of its speed is the
// last bit of the time.
double EventEngine::Run::slip_rounding(int r, int j) {
  const model::Relation& relation = system_.relations()[r];
  const int push = relation.own_push ? layout_.coordinates : 0;
  const int first = relation.has_normal ? 2 + layout_.coordinates + push : 0;
  const int output = first + j * (3 + layout_.coordinates + push);
  double most = 0;
  for (const std::vector<double>* sides : {&reference_.side, &mode_.side}) {
    std::copy(sides->begin(), sides->end(), work_.in.begin() + layout_.side());
    enclose(relation.rows);
    const double width = interval_out_[output].high - interval_out_[output].low;
    if (std::isfinite(width)) most = std::max(most, 0.5 * width);
  }
  return kRoundingUnits * most;
}

// A side that changed may make the drive of a slip jump: rows whose slip is no longer what their status says are known anew. So are closed
// contacts and constraints whose rate has jumped: one that opens is opened here, one that approaches strikes (true).
bool EventEngine::Run::rates_by_value() {
  load_statuses();
  bool struck = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.rows_constant || mode_.normal[r] == NormalStatus::open) continue;
    const model::RelationRows& rows = system_.rows(work_, r);
    const auto size_of = [this](const double* w, double own) {
      double terms = std::abs(own);
      for (int i = 0; i < layout_.coordinates; ++i)
        terms += std::abs(w[i]) * std::max(speed_before_[i], std::abs(work_.in[layout_.v() + i]));
      return terms;
    };
    if (relation.has_normal) {
      const double bound = 1e3 * kEpsilon * size_of(rows.w, rows.gap_time);
      if (mode_.normal[r] == NormalStatus::held) {
        if (std::abs(rows.gap_rate) > bound) struck = true;
      } else if (rows.gap_rate < -bound) {
        touching_[r] = 1;
        struck = true;
      } else if (rows.gap_rate > bound) {
        mode_.normal[r] = NormalStatus::open;
        for (int j = 0; j < relation.tangents; ++j)
          mode_.tangent[relation.first_tangent + j] = TangentStatus::free;
        fresh_relation_[r] = 1;
        continue;
      }
    }
    if (relation.smooth_friction) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const double slip = rows.tangent[j].slip;
      const double size = size_of(rows.tangent[j].w, rows.tangent[j].drive);
      const bool zero = std::abs(slip) <= std::max(1e3 * kEpsilon * size, slip_rounding(r, j));
      const int now = zero ? 0 : slip > 0 ? 1 : -1;
      if (now == direction(mode_.tangent[number])) continue;
      mode_.tangent[number] = now == 0  ? TangentStatus::stick
                              : now > 0 ? TangentStatus::slip_plus
                                        : TangentStatus::slip_minus;
      fresh_tangent_[number] = 1;
    }
  }
  return struck;
}

// Contacts and motion with the sides of `trial`. Switches that contain those of E follow them by value; one that is zero itself takes the side
// that it is left to.
bool EventEngine::Run::try_sides(Mode& trial, Status& status) {
  for (const int k : open_) {
    if (trial.slides(k)) return try_sliding(trial, status);
  }
  // Other sides, other forces: what has just stopped sticking may stick again with them.
  bool other = false;
  for (const int k : open_) other = other || trial.side[k] != reference_.side[k];
  for (int round = 0; round < 3; ++round) {
    motion_.load(t_, y_.data());
    for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = trial.side[k];
    std::vector<int>& zero = search_.zero;
    zero.clear();
    if (nested_) {
      for (int k = 0; k < layout_.switches; ++k) {
        const model::SwitchInfo& info = system_.switches()[k];
        // Those in a branch that is taken again had no side for a while.
        const bool wakes = dead_[k] != 0 && system_.live(work_, k);
        if ((info.inner.empty() && !wakes) || info.time_only || trial.surface[k] != AtSurface::away ||
            contains(open_, k))
          continue;
        double s = 0;
        info.value.evaluate(work_.in.data(), &s, work_.registers.data());
        double lower = 0;
        const double distance = distance_from_level(info, s, lower);
        if (std::abs(distance) <= kRoundingUnits * surface_rounding(k)) {
          zero.push_back(k);
          continue;
        }
        trial.side[k] = distance > 0 ? lower + 1 : lower;
        work_.in[layout_.side() + k] = trial.side[k];
      }
    }
    if (other) std::swap(exclusions_, no_exclusions_);
    const bool decided = decide_with(trial, status);
    if (other) std::swap(exclusions_, no_exclusions_);
    if (!decided) return false;
    motion_.load(t_, y_.data());
    if (!motion_.set_mode(trial) || !motion_.evaluate()) {
      status = {Reason::not_finite,
                t_,
                {},
                "the equations of motion give no finite number on one side of a switch"};
      return false;
    }
    bool again = false;
    for (const int k : zero) {
      const int leaves = leaving_direction(k, trial).sign;
      double s = 0;
      double lower = 0;
      system_.switches()[k].value.evaluate(work_.in.data(), &s, work_.registers.data());
      static_cast<void>(distance_from_level(system_.switches()[k], s, lower));
      const double side = leaves > 0 ? lower + 1 : leaves < 0 ? lower : lower + system_.switches()[k].at_zero;
      if (side == trial.side[k]) continue;
      trial.side[k] = side;
      again = true;
    }
    if (!again) return true;
  }
  return true;
}

// The same while some surfaces are slid on. The coefficients of the combination and the statuses of the rows at rest depend on each other: every
// guess of these statuses gives coefficients, and must come out of the decision that is made with them.
bool EventEngine::Run::try_sliding(Mode& trial, Status& status) {
  constexpr std::size_t kMostRows = 4;
  static constexpr TangentStatus kGuess[] = {TangentStatus::stick, TangentStatus::slip_plus,
                                             TangentStatus::slip_minus};
  std::vector<int>& rows = search_.rows;
  rows.clear();
  for (int j = 0; j < layout_.tangents; ++j) {
    if (trial.tangent[j] == TangentStatus::stick && rows.size() < kMostRows) rows.push_back(j);
  }
  int guesses = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) guesses *= 3;
  Mode& known = search_.known;
  known = trial;
  status = {};
  for (int code = 0; code < guesses; ++code) {
    Mode& guess = search_.guess;
    guess = known;
    int rest = code;
    for (const int j : rows) {
      guess.tangent[j] = kGuess[rest % 3];
      rest /= 3;
    }
    // Statuses of contacts that the coefficients change are taken over until they agree.
    for (int round = 0; round < 4; ++round) {
      motion_.load(t_, y_.data());
      if (!motion_.set_mode(guess) || !motion_.evaluate()) break;
      trial = known;
      bool within = true;
      for (int k = 0; k < layout_.switches; ++k) {
        if (!known.slides(k)) continue;
        trial.side[k] = motion_.mode().side[k];
        const double coefficient = trial.side[k] - std::floor(known.side[k]);
        within = within && coefficient >= 0 && coefficient <= 1;
      }
      if (!within && options_.on_indeterminate != OnIndeterminate::stay) break;
      motion_.load(t_, y_.data());
      std::swap(exclusions_, no_exclusions_);
      Status decided;
      const bool found = decide_with(trial, decided);
      std::swap(exclusions_, no_exclusions_);
      if (!found) {
        status = decided;
        break;
      }
      if (trial.tangent == guess.tangent && trial.normal == guess.normal && trial.pressed == guess.pressed) {
        motion_.load(t_, y_.data());
        if (!motion_.set_mode(trial) || !motion_.evaluate()) break;
        // What neither side moves must be held by something else.
        bool holds = true;
        for (int k = 0; k < layout_.switches; ++k) {
          if (trial.slides(k) && motion_.parallel(k))
            holds = holds && std::abs(motion_.surface_rate(k)) <=
                                 std::max(kSmall * surface_rate_scale(k), surface_rate_rounding(k));
        }
        if (holds) return true;
        break;
      }
      bool same_rows = true;
      for (const int j : rows) same_rows = same_rows && trial.tangent[j] == guess.tangent[j];
      if (!same_rows) break;
      guess.tangent = trial.tangent;
      guess.normal = trial.normal;
      guess.pressed = trial.pressed;
    }
  }
  if (status.ok()) {
    status = {Reason::inconsistent,
              t_,
              {},
              "no combination of the two sides of a switch holds the motion on its surface"};
  }
  trial = known;
  return false;
}

// In which direction the motion of the mode that is set leaves the surface of switch k: the sign of the first derivative that is not zero, and its
// order. Zero: the motion stays on it, as far as order 8 tells.
EventEngine::Run::Leaving EventEngine::Run::leaving_direction(int k, const Mode& trial) {
  const double rate = motion_.surface_rate(k);
  const double scale = surface_rate_scale(k);
  const double rounding = surface_rate_rounding(k);
  if (std::abs(rate) > std::max(kSmall * scale, rounding)) return {rate > 0 ? 1 : -1, 1};
  if (!series_.compute(trial, expr::kTaylorOrder)) return {0, 0};
  const expr::Series s = series_.surface(k);
  const int from = rounding > 0 ? 2 : 1;
  double power = from == 2 ? series_.time_scale() * series_.time_scale() : series_.time_scale();
  for (int o = from; o <= series_.order(); ++o, power *= series_.time_scale()) {
    if (std::abs(s.c[o] * power) > kSmall * scale * series_.time_scale()) return {s.c[o] > 0 ? 1 : -1, o};
  }
  return {0, 0};
}

// Decides the surfaces of E and, with their sides, which contacts open, stick and slip. Those that contain others of E come after them, by value
// where these have moved them away from zero.
bool EventEngine::Run::decide_surfaces() {
  if (!decide_open_surfaces()) return false;
  while (!later_.empty()) {
    std::vector<int>& waiting = search_.waiting;
    waiting.assign(later_.begin(), later_.end());
    later_.clear();
    open_.clear();
    motion_.load(t_, y_.data());
    load_statuses();
    for (const int k : waiting) static_cast<void>(side_by_value(k));
    if (!decide_open_surfaces()) return false;
  }
  return true;
}

// The surfaces in open_, block by block.
bool EventEngine::Run::decide_open_surfaces() {
  Status status;
  for (const int k : open_) carried_[k] = 1;  // decided once, it is not read from its value again
  if (open_.empty()) return decide_with(mode_, status) || paradox(status);
  const int blocks = open_.size() == 1 ? 1 : static_cast<int>(coupling_.group(mode_, open_));
  search_.block.assign(open_.size(), 0);
  if (blocks > 1) std::copy(coupling_.block().begin(), coupling_.block().end(), search_.block.begin());
  for (int b = 0; b < blocks; ++b) {
    std::vector<int>& members = search_.members;
    members.clear();
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (search_.block[i] == b) members.push_back(open_[i]);
    }
    const bool decided = members.size() == 1                 ? decide_surface(members.front())
                         : members.size() <= kMostEnumerated ? decide_several(members)
                                                             : decide_many(members);
    if (!decided) return false;
  }
  if (blocks == 1) return true;
  motion_.load(t_, y_.data());
  return decide_with(mode_, status) || paradox(status);
}

void EventEngine::Run::take_side(Mode& trial, int k, int upper) {
  trial.surface[k] = AtSurface::away;
  trial.side[k] = lower_[k] + upper;
}

// No side, or two, of a surface that the motion is on.
bool EventEngine::Run::not_unique(const std::vector<int>& members) {
  if (options_.on_indeterminate == OnIndeterminate::stay) {
    Mode& trial = search_.trial;
    trial = mode_;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = lower_[k] + 0.5;
    }
    Status status;
    if (try_sides(trial, status)) {
      mode_ = trial;
      return true;
    }
  }
  return fail({Reason::indeterminate, t_, system_.switches()[members.front()].place,
               "the two sides of a switch push away from its surface: the motion is not unique"});
}

// One surface alone. Both sides point to it: it is slid on, or rested on where its rate does not see the forces. One points away: it is left to
// that side. Neither moves it: it is held, with the side that the language gives at equality.
bool EventEngine::Run::decide_surface(int k) {
  Mode& before = search_.before;
  before = mode_;
  fresh_switch_[k] = 1;
  const model::SwitchInfo& info = system_.switches()[k];
  const bool was_upper = before.surface[k] == AtSurface::away ? before.side[k] > lower_[k] : false;
  const bool crossing = landed_[k] != 0 && before.surface[k] == AtSurface::away;
  Status status[2];
  bool possible[2] = {false, false};
  Leaving leaves[2];
  const int first = crossing ? (was_upper ? 0 : 1) : 1;
  for (const int upper : {first, 1 - first}) {
    Mode& trial = search_.on_side[upper];
    trial = before;
    take_side(trial, k, upper);
    possible[upper] = try_sides(trial, status[upper]);
    if (possible[upper]) leaves[upper] = leaving_direction(k, trial);
    // It came from the other side, and goes on.
    if (upper == first && crossing && possible[upper] && leaves[upper].sign == (upper != 0 ? 1 : -1)) {
      mode_ = trial;
      return true;
    }
  }
  const bool up = possible[1] && leaves[1].sign > 0;
  const bool down = possible[0] && leaves[0].sign < 0;
  const bool stays[2] = {possible[0] && leaves[0].sign == 0, possible[1] && leaves[1].sign == 0};
  if (up && down) {
    if (exit_side_[k] != 0) {
      mode_ = search_.on_side[exit_side_[k] > 0 ? 1 : 0];
      return true;
    }
    mode_ = before;
    search_.members.assign(1, k);
    return not_unique(search_.members);
  }
  if (up || down) {
    mode_ = search_.on_side[up ? 1 : 0];
    return true;
  }
  if (stays[0] || stays[1]) {
    Mode& held = search_.trial;
    held = search_.on_side[stays[1] ? 1 : 0];
    held.surface[k] = AtSurface::held;
    if (stays[0] && stays[1]) {
      held.side[k] = lower_[k] + info.at_zero;
      Status next;
      Mode& equal = search_.chosen;
      equal = before;
      equal.surface[k] = AtSurface::held;
      equal.side[k] = held.side[k];
      if (try_sides(equal, next)) held = equal;
    }
    mode_ = held;
    return true;
  }
  if (exit_side_[k] != 0 && possible[exit_side_[k] > 0 ? 1 : 0]) {  // it has just stopped to slide
    mode_ = search_.on_side[exit_side_[k] > 0 ? 1 : 0];
    return true;
  }
  Mode& trial = search_.trial;
  trial = before;
  // Where neither rate tells, the surface does not see the forces in its first derivative.
  const bool second = std::min(leaves[0].order, leaves[1].order) > 1;
  if (second && (info.rate.outputs() == 0 || std::max(leaves[0].order, leaves[1].order) > 2)) {
    return fail(
        {Reason::indeterminate, t_, info.place,
         "the motion meets the surface of this switch to an order above two, and both sides push back"});
  }
  trial.surface[k] = second ? AtSurface::rests : AtSurface::slides;
  trial.side[k] = lower_[k] + 0.5;
  Status sliding;
  if (try_sides(trial, sliding) &&
      (motion_.parallel(k) || (motion_.sliding_rate(k, 0) >= 0 && motion_.sliding_rate(k, 1) <= 0))) {
    mode_ = trial;
    return true;
  }
  mode_ = before;
  motion_.load(t_, y_.data());
  for (const int upper : {0, 1}) {
    if (!possible[upper] && !status[upper].ok()) return paradox(status[upper]);
  }
  search_.members.assign(1, k);
  return not_unique(search_.members);
}

// Whether the motion that is set stands still, beside the rates with which the sides push to the surfaces.
bool EventEngine::Run::nothing_moves() {
  double most = 0;
  for (const int k : open_) {
    if (!motion_.mode().slides(k) || motion_.parallel(k)) continue;
    most = std::max({most, std::abs(motion_.sliding_rate(k, 0)), std::abs(motion_.sliding_rate(k, 1))});
  }
  std::vector<double>& rates = landing_y_;
  if (!motion_(t_, y_.data(), rates.data())) return false;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (std::abs(rates[i]) > kSmall * most) return false;
  }
  return true;
}

// As try_sides, but a surface that is slid on, though its rate sees the forces on neither side, is rested on where its second derivative sees
// them.
bool EventEngine::Run::try_resting(Mode& trial, Status& status) {
  if (!try_sides(trial, status)) return false;
  if (!can_rest()) return true;
  const auto blind = [&](int k, AtSurface surface) {
    return trial.surface[k] == surface && motion_.parallel(k) && system_.switches()[k].rate.outputs() > 0;
  };
  if (std::none_of(open_.begin(), open_.end(), [&](int k) { return blind(k, AtSurface::slides); }))
    return true;
  Mode& kept = search_.kept;
  kept = trial;
  for (const int k : open_) {
    if (!blind(k, AtSurface::slides)) continue;
    trial.surface[k] = AtSurface::rests;
    trial.side[k] = lower_[k] + 0.5;
  }
  Status resting;
  const bool rests = try_sides(trial, resting) && std::none_of(open_.begin(), open_.end(), [&](int k) {
                       return kept.surface[k] == AtSurface::slides && blind(k, AtSurface::rests);
                     });
  if (rests) return true;
  trial = kept;  // something else holds it
  return try_sides(trial, status);
}

// Several coupled surfaces: all assignments of sides are tried; each must be confirmed by the motion that it gives. Of those that leave as many
// surfaces as possible the first is taken, crossings before others; only if there is none some of them are slid on.
bool EventEngine::Run::decide_several(const std::vector<int>& members) {
  Mode& before = search_.before;
  before = mode_;
  const int count = static_cast<int>(members.size());
  for (const int k : members) fresh_switch_[k] = 1;
  Mode& chosen = search_.chosen;
  std::vector<int>& leaves = search_.leaves;
  std::vector<int>& chosen_leaves = search_.chosen_leaves;
  int best = -1;
  bool ambiguous = false;
  Status last;
  bool by_crossing = true;
  for (const int k : members)
    by_crossing = by_crossing && landed_[k] != 0 && before.surface[k] == AtSurface::away;
  const auto attempt = [&](long code, int base) {
    Mode& trial = search_.trial;
    trial = before;
    bool slides = false;
    for (const int k : members) {
      const int choice = static_cast<int>(code % base);
      code /= base;
      const bool was_upper = before.surface[k] == AtSurface::away && before.side[k] > lower_[k];
      // First the natural continuation: what was met is crossed, what was not keeps its side.
      const bool natural = landed_[k] != 0 ? !was_upper : was_upper || before.surface[k] != AtSurface::away;
      if (choice == 2) {
        // What it rested on it goes on resting on.
        trial.surface[k] = before.surface[k] == AtSurface::rests ? AtSurface::rests : AtSurface::slides;
        trial.side[k] = lower_[k] + 0.5;
        slides = true;
      } else {
        take_side(trial, k, (choice == 0) == natural ? 1 : 0);
      }
    }
    if (base == 3 && !slides) return;
    Status status;
    if (!try_resting(trial, status)) {
      last = status;
      return;
    }
    leaves.assign(members.size(), 0);
    int left = 0;
    for (int i = 0; i < count; ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (motion_.parallel(k)) continue;
        if (!(motion_.sliding_rate(k, 0) >= 0 && motion_.sliding_rate(k, 1) <= 0 &&
              motion_.sliding_rate(k, 0) > motion_.sliding_rate(k, 1)))
          return;
        continue;
      }
      leaves[i] = leaving_direction(k, trial).sign;
      if (leaves[i] == 0) continue;
      if ((leaves[i] > 0) != (trial.side[k] > lower_[k])) return;
      ++left;
    }
    if (left == best) {
      for (int i = 0; i < count; ++i) ambiguous = ambiguous || leaves[i] * chosen_leaves[i] < 0;
    }
    if (left <= best) return;
    best = left;
    ambiguous = false;
    chosen = trial;
    chosen_leaves = leaves;
  };
  long combinations = 1;
  for (int i = 0; i < count; ++i) combinations *= 2;
  for (long code = 0; code < combinations; ++code) {
    attempt(code, 2);
    if (best == count && by_crossing) break;  // all of them are crossed
  }
  if (best < 0) {
    combinations = 1;
    for (int i = 0; i < count; ++i) combinations *= 3;
    for (long code = 0; code < combinations && best < 0; ++code) attempt(code, 3);
  }
  if (best < 0) {
    // No side is confirmed, and no surface attracts by itself: they are slid on together where a combination holds all of them.
    Mode& trial = search_.trial;
    trial = before;
    for (const int k : members) {
      trial.surface[k] = AtSurface::slides;
      trial.side[k] = lower_[k] + 0.5;
    }
    Status status;
    if (try_resting(trial, status)) {
      best = 0;
      chosen = trial;
      chosen_leaves.assign(members.size(), 0);
    }
  }
  motion_.load(t_, y_.data());
  if (best < 0 || (ambiguous && !by_crossing)) {
    if (best < 0 && !last.ok()) return paradox(last);
    return not_unique(members);
  }
  mode_ = chosen;
  if (!can_rest() && motion_.set_mode(mode_) && motion_.evaluate() && !nothing_moves()) {
    for (const int k :
         members) {  // sliding would not stay on it: the engine has to say that it cannot follow
      if (mode_.surface[k] == AtSurface::slides && motion_.parallel(k) &&
          system_.switches()[k].rate.outputs() > 0)
        mode_.surface[k] = AtSurface::rests;
    }
    motion_.load(t_, y_.data());
  }
  // What nothing moves is held.
  for (int i = 0; i < count; ++i) {
    const int k = members[i];
    if (mode_.surface[k] != AtSurface::away || chosen_leaves[i] != 0) continue;
    mode_.surface[k] = AtSurface::held;
    Mode& trial = search_.trial;
    trial = mode_;
    take_side(trial, k, mode_.side[k] > lower_[k] ? 0 : 1);
    Status status;
    if (!try_sides(trial, status) || leaving_direction(k, trial).sign != 0) continue;
    trial = mode_;
    trial.side[k] = lower_[k] + system_.switches()[k].at_zero;
    if (try_sides(trial, status)) mode_ = trial;
  }
  motion_.load(t_, y_.data());
  return true;
}

// More surfaces than can be enumerated: sides that the motion contradicts are changed, all at once; a surface that goes back and forth is slid on.
bool EventEngine::Run::decide_many(const std::vector<int>& members) {
  Mode trial = mode_;
  std::vector<int> flips(members.size(), 0);
  for (const int k : members) {
    fresh_switch_[k] = 1;
    const bool was_upper = mode_.surface[k] == AtSurface::away && mode_.side[k] > lower_[k];
    take_side(trial, k, landed_[k] != 0 ? !was_upper : was_upper);
  }
  Status status;
  for (int round = 0; round < kMostFlips; ++round) {
    if (!try_sides(trial, status)) return paradox(status);
    bool consistent = true;
    Mode next = trial;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int k = members[i];
      if (trial.slides(k)) {
        if (motion_.parallel(k) || (motion_.sliding_rate(k, 0) >= 0 && motion_.sliding_rate(k, 1) <= 0))
          continue;
        take_side(next, k, motion_.sliding_rate(k, 1) > 0 ? 1 : 0);
        consistent = false;
        continue;
      }
      const int leaves = leaving_direction(k, trial).sign;
      const bool upper = trial.side[k] > lower_[k];
      if (leaves == 0 || (leaves > 0) == upper) continue;
      consistent = false;
      if (++flips[i] > 2) {
        next.surface[k] = AtSurface::slides;
        next.side[k] = lower_[k] + 0.5;
      } else {
        take_side(next, k, upper ? 0 : 1);
      }
    }
    if (consistent) {
      mode_ = trial;
      return true;
    }
    trial = next;
  }
  return not_unique(members);
}

// Switches that have another side than the one listed last, or have begun or ceased to slide. Kinks are never listed.
void EventEngine::Run::list_switch_changes() {
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    const bool slid = std::isnan(listed_side_[k]);
    const bool slides = mode_.slides(k);
    if (slides ? slid : mode_.side[k] == listed_side_[k]) continue;
    if (!slides && info.two_sided() && mode_.side[k] == 0.5) {
      if (!slid) continue;  // held where sign is 0: neither side
    }
    listed_side_[k] = slides ? kNone : mode_.side[k];
    if (quiet_ || info.kind != expr::SwitchKind::jump) continue;
    const EventKind kind = slides ? EventKind::slide_begin
                           : slid ? EventKind::slide_end
                                  : EventKind::switch_side;
    if (kind == EventKind::switch_side &&
        (!options_.list_switches || contains_sliding(k) || !system_.live(work_, k)))
      continue;
    Event event = event_here(kind, k);
    event.words[0] = mode_.side[k] > 0.5 ? Word::above : Word::below;
    event.numbers[0] = mode_.side[k];
    pending_.push_back(event);
  }
}

// Moves the state onto the surfaces that it slides on; steps leave them by their error only.
void EventEngine::Run::project_sliding() {
  std::vector<int>& sliding = search_.rows;
  sliding.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    if (mode_.slides(k)) sliding.push_back(k);
  }
  if (!sliding.empty()) project_onto(sliding);
}

// The surface of a single quantity at which it would rest (h in `-sqrt(abs(h))`) is met exactly: what a landing leaves would count in the rate,
// which has no slope there, and carry it on.
void EventEngine::Run::meet_surface(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (!info.two_sided()) return;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  if (surface_memory_[0] == 0 || surface_memory_[1] != 0) return;
  int only = -1;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (surface_memory_[2 + i] == 0) continue;
    if (only >= 0) return;
    only = i;
  }
  if (only < 0) return;
  const double change = surface_memory_[0] / surface_memory_[2 + only];
  if (!(std::abs(change) <= options_.tolerance * scale_[only])) return;
  const double before = y_[only];
  y_[only] -= change;
  have_f0_ = false;
  if (!motion_(t_, y_.data(), landing_y_.data()) || landing_y_[only] != 0) y_[only] = before;
  motion_.load(t_, y_.data());
}

// Several surfaces at once: the smallest change relative to the running scales.
void EventEngine::Run::project_onto(std::vector<int>& sliding) {
  // A surface that is rested on has two conditions: s = 0 and ṡ = 0.
  const int surfaces = static_cast<int>(sliding.size());
  for (int a = 0; a < surfaces; ++a) {
    if (mode_.surface[sliding[a]] == AtSurface::rests) sliding.push_back(sliding[a]);
  }
  const int count = static_cast<int>(sliding.size());
  const int width = layout_.integrated();
  projection_.resize(count * (width + count + 2));
  double* gradient = projection_.data();
  double* gram = gradient + count * width;
  double* right = gram + count * count;
  std::copy_n(y_.begin(), width, node_y_.begin());
  for (int iteration = 0; iteration < 3; ++iteration) {
    motion_.load(t_, y_.data());
    for (int a = 0; a < count; ++a) {
      const model::SwitchInfo& info = system_.switches()[sliding[a]];
      const expr::Program& program = a < surfaces ? info.surface : info.rate;
      surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
      program.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
      right[a] = surface_memory_[0];
      if (a < surfaces && !info.two_sided()) {
        double lower = 0;
        right[a] = distance_from_level(info, surface_memory_[0], lower);
      }
      for (int i = 0; i < width; ++i)
        gradient[a * width + i] = surface_memory_[2 + i] * (scale_[i] > 0 ? scale_[i] : 1);
    }
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        double sum = 0;
        for (int i = 0; i < width; ++i) sum += gradient[a * width + i] * gradient[b * width + i];
        gram[a * count + b] = sum;
      }
    }
    for (int p = 0; p < count; ++p) {
      if (!(gram[p * count + p] > 0)) return;
      for (int r = p + 1; r < count; ++r) {
        const double ratio = gram[r * count + p] / gram[p * count + p];
        for (int c = p; c < count; ++c) gram[r * count + c] -= ratio * gram[p * count + c];
        right[r] -= ratio * right[p];
      }
    }
    for (int p = count - 1; p >= 0; --p) {
      for (int c = p + 1; c < count; ++c) right[p] -= gram[p * count + c] * right[c];
      right[p] /= gram[p * count + p];
    }
    for (int i = 0; i < width; ++i) {
      double change = 0;
      for (int a = 0; a < count; ++a) change += right[a] * gradient[a * width + i];
      if (change != 0) y_[i] -= change * (scale_[i] > 0 ? scale_[i] : 1);
    }
  }
  // What is left of a component that the surfaces hold at zero is less than rounding of anything it has been.
  for (int i = 0; i < width; ++i) {
    if (std::abs(y_[i]) < kNothing * std::max(scale_[i], std::abs(node_y_[i]))) y_[i] = 0;
  }
  motion_.pin(t_, y_.data());
  motion_.load(t_, y_.data());
  have_f0_ = false;
}

// Switchings that accumulate: when the state cannot move any more in the remaining time, it is on all surfaces of the pattern, and the instant
// decides how it goes on.
void EventEngine::Run::finish_switching() {
  Accumulation::Entry& entry = switched_now_;
  entry.time = t_;
  entry.members.clear();
  for (const int k : at_surface_) {
    if (system_.switches()[k].kind == expr::SwitchKind::jump) entry.members.push_back(k);
  }
  if (entry.members.empty()) return;
  std::sort(entry.members.begin(), entry.members.end());
  entry.members.erase(std::unique(entry.members.begin(), entry.members.end()), entry.members.end());
  switching_.push(entry);
  Accumulation::Pattern& pattern = switching_pattern_;
  if (!switching_.pattern(pattern) || pattern.equal_time) return;
  if (!have_f0_ && !motion_(t_, y_.data(), f0_.data())) return;
  for (int i = 0; i < layout_.integrated(); ++i) {
    if (std::abs(f0_[i]) * pattern.remaining > options_.tolerance * scale_[i]) return;
  }
  std::vector<int>& members = search_.members;
  members.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (contains(pattern.members, k) && info.two_sided() && !info.time_only &&
        info.kind == expr::SwitchKind::jump)
      members.push_back(k);
  }
  // The list is consumed: project_onto appends to it.
  search_.rows.assign(members.begin(), members.end());
  project_onto(search_.rows);
  switching_.clear();
  for (const int k : members) {
    landed_[k] = 0;
    carried_[k] = 1;
    Event event = event_here(EventKind::accumulation, k);
    event.on_switch = true;
    event.numbers = {static_cast<double>(pattern.count), pattern.remaining};
    pending_.push_back(event);
  }
  note_instant();
}

// What rounding of the state may do to ds/dt. A rate made of velocities and states alone is as exact as they are, whatever is left of them;
// otherwise the slopes are: those of y*abs(y) where y has just reached zero are nothing but rounding.
double EventEngine::Run::surface_rate_rounding(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  if (info.rate.outputs() > 0) return kRoundingUnits * rounding_of(info.rate);
  enclose(info.surface);
  const auto uncertain = [this](int output, double factor) {
    const double width = interval_out_[output].high - interval_out_[output].low;
    return std::isfinite(width) ? 0.5 * width * std::abs(factor) : 0;
  };
  const int n = layout_.coordinates;
  double sum = uncertain(1, 1);
  for (int i = 0; i < n; ++i) {
    sum += uncertain(2 + i, work_.in[layout_.v() + i]);
    sum += uncertain(2 + n + i, motion_.acceleration()[i]);
  }
  for (int i = 0; i < layout_.states; ++i) sum += uncertain(2 + 2 * n + i, work_.rate[i]);
  return kRoundingUnits * sum;
}

// Sum of the absolute terms of ds/dt: what "zero" means for it.
double EventEngine::Run::surface_rate_scale(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  const int n = layout_.coordinates;
  surface_memory_.resize(info.surface.outputs());
  info.surface.evaluate(work_.in.data(), surface_memory_.data(), work_.registers.data());
  double sum = std::abs(surface_memory_[1]);
  motion_.note_terms();
  for (int i = 0; i < n; ++i) {
    sum += std::abs(surface_memory_[2 + i] * work_.in[layout_.v() + i]);
    sum += std::abs(surface_memory_[2 + n + i]) * motion_.acceleration_terms()[i];
  }
  // Where sliding has made a rate zero, what it was at the start of the last step counts too.
  for (int i = 0; i < layout_.states; ++i) {
    const double rate = std::max(std::abs(work_.rate[i]), std::abs(f0_[2 * n + i]));
    sum += std::abs(surface_memory_[2 + 2 * n + i]) * rate;
  }
  return sum;
}

}  // namespace judder::engines
