#include "runge_kutta_scheme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/stepping/step_inputs.hpp"

namespace judder::engines {

RungeKuttaScheme::RungeKuttaScheme(const model::System& system, ReadNumbers read)
    : system_(system),
      layout_(system.layout()),
      read_(read),
      work_(system),
      motion_(system, work_),
      decider_(system, work_),
      collider_(system, work_),
      rest_laws_(system, work_),
      exclusions_(decider_.no_exclusions()) {
  const auto size = static_cast<std::size_t>(motion_.all_components());
  for (std::vector<double>* each : {&y_, &next_, &stage_, &k_[0], &k_[1], &k_[2], &k_[3]}) each->resize(size);
  slip_before_.resize(layout_.tangents);
  margin_before_.resize(layout_.tangents);
  gap_before_.resize(layout_.relations);
  fresh_.resize(layout_.tangents);
  passed_zero_.resize(layout_.tangents);
  jumped_.resize(layout_.tangents);
  touching_.resize(layout_.relations);
  placed_.resize(layout_.coordinates);
  kept_.resize(layout_.integrated());
  between_.resize(layout_.integrated());
  motion_.always_audit(true);
}

void RungeKuttaScheme::use(Patience* patience) {
  motion_.use(patience);
  decider_.use(patience);
  collider_.use(patience);
}

std::string RungeKuttaScheme::begin(const EngineOptions& options, double /*step*/) {
  numbers_ = read_(options);
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  motion_.release_pins();
  std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
  cuts_.start();
  cuts_in_step_ = 0;
  motion_.evaluations = 0;
  return {};
}

Status RungeKuttaScheme::failed(const StepState& state) const {
  return {Reason::not_finite,
          state.t,
          {},
          "the forces of the step have no finite value; a shorter step may help"};
}

void RungeKuttaScheme::load(double t, const double* y, const Mode& mode) {
  write_state(layout_, t, y, work_.in.data());
  write_statuses(layout_, mode, work_.in.data());
}

void RungeKuttaScheme::load(const StepState& state) { load(state.t, state.y.data(), state.mode); }

bool RungeKuttaScheme::rests(const Mode& mode) const {
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode.normal[r] == NormalStatus::closed) return true;
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      if (mode.tangent[relation.first_tangent + j] == TangentStatus::stick) return true;
    }
  }
  return false;
}

Status RungeKuttaScheme::start(StepState& state) {
  if (state.mode.pressed.size() != static_cast<std::size_t>(layout_.relations))
    state.mode.pressed.assign(layout_.relations, 0);
  load(state);
  put_on_gaps(state);
  return decide(state);
}

// A coordinate that a closed gap holds alone is pinned where it is when the mode begins: it must be on the gap by then, and not where the step has met it.
void RungeKuttaScheme::put_on_gaps(StepState& state) {
  constexpr int kRounds = 4;
  constexpr double kRounding = 1e-15;
  std::fill(placed_.begin(), placed_.end(), std::uint8_t{0});
  bool moved = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (!relation.has_normal || !relation.holonomic || !relation.rows_constant ||
        state.mode.normal[r] == NormalStatus::open)
      continue;
    const model::Row& w = system_.rows(work_, r).w;
    int own = -1, entries = 0;
    for (int i = 0; i < layout_.coordinates; ++i) {
      if (w[i] == 0) continue;
      own = i;
      ++entries;
    }
    if (entries != 1 || placed_[own] != 0) continue;
    placed_[own] = 1;
    double& place = work_.in[layout_.q() + own];
    const double before = place;
    for (int round = 0; round < kRounds; ++round) {
      double gap = 0, rate = 0;
      system_.gap(work_, r, gap, rate);
      if (gap == 0) break;
      place -= gap / w[own];
      if (std::abs(place) <= kRounding * std::abs(before)) place = 0;
    }
    moved = moved || place != before;
    state.y[own] = place;
  }
  if (moved) load(state);
}

// What closed contacts and rows at rest do from here on.
Status RungeKuttaScheme::decide(StepState& state) {
  load(state);
  if (!rests(state.mode)) return {};
  if (!system_.motion(work_)) return failed(state);
  rested_ = state.mode;
  Status status = decider_.decide(state.mode, exclusions_);
  if (!status.ok()) return status;
  take_sides_ahead(state);
  load(state);
  // A row at rest rests exactly, and a closed gap is closed.
  if (!motion_.set_mode(state.mode)) return failed(state);
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  if (!motion_.project(state.t, y_.data(), true)) return failed(state);
  std::copy_n(y_.begin(), layout_.integrated(), state.y.begin());
  load(state);
  return {};
}

// A row that leaves its rest has the coefficient of its direction: the value of a slip that is zero still says nothing about that.
void RungeKuttaScheme::take_sides_ahead(StepState& state) {
  if (layout_.switches == 0) return;
  write_statuses(layout_, rested_, work_.in.data());
  rest_laws_.set_mode(rested_);
  for (int j = 0; j < layout_.tangents; ++j) {
    const double along = direction(state.mode.tangent[j]);
    if (rested_.tangent[j] != TangentStatus::stick || along == 0 || !rest_laws_.directed(j)) continue;
    rest_laws_.take_direction(j, along > 0 ? 1 : -1);
    for (int k = 0; k < layout_.switches; ++k) {
      const double side = work_.in[layout_.side() + k];
      if (side != rested_.side[k]) state.mode.side[k] = side;
    }
    rest_laws_.take_back();
  }
}

double RungeKuttaScheme::slip_of(int relation, int tangent) {
  const model::RelationRows& rows = system_.rows(work_, relation);
  double slip = rows.tangent[tangent].drive;
  for (int i = 0; i < layout_.coordinates; ++i)
    slip += rows.tangent[tangent].w[i] * work_.in[layout_.v() + i];
  return slip;
}

void RungeKuttaScheme::take_sides(Mode& mode) {
  for (int k = 0; k < layout_.switches; ++k) {
    mode.side[k] = side_by_value(system_.switches()[k], work_);
    work_.in[layout_.side() + k] = mode.side[k];
  }
}

// Directions of slipping rows as the velocities in work_ have them.
void RungeKuttaScheme::turn_by_slip(Mode& mode) {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (status != TangentStatus::slip_plus && status != TangentStatus::slip_minus) continue;
      const double slip = slip_of(r, j);
      if (slip != 0) status = slip > 0 ? TangentStatus::slip_plus : TangentStatus::slip_minus;
      work_.in[layout_.direction() + relation.first_tangent + j] = direction(status);
    }
  }
}

// What a change of sides since the beginning of the step does to a slip, at this state.
double RungeKuttaScheme::jump_of(int relation, int tangent, const Mode& mode, double t, const double* y) {
  load(t, y, start_mode_);
  const double before = slip_of(relation, tangent);
  load(t, y, mode);
  return slip_of(relation, tangent) - before;
}

// A drive that jumps leaves what rested on it behind: no finite force follows it. Rows whose slip jumps where a side changes get the direction of the slip behind
// it. A drive that is continuous there differs to either side of the instant with opposite signs.
bool RungeKuttaScheme::follow_jumps(Mode& mode, double t, const double* y) {
  constexpr double kJump = 1e-9, kSteady = 0.5;
  constexpr int kLooks = 8;
  if (mode.side == start_mode_.side) return false;
  bool any = false;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      TangentStatus& status = mode.tangent[number];
      if (status == TangentStatus::free || status == TangentStatus::smooth) continue;
      // A drive that only begins there differs by what it has done since: next to nothing somewhere between the two.
      double least = std::numeric_limits<double>::infinity(), most = 0, sum = 0;
      for (int k = 0; k <= kLooks; ++k) {
        const double share = static_cast<double>(k) / kLooks;
        for (std::size_t i = 0; i < between_.size(); ++i) between_[i] = y_[i] + share * (y[i] - y_[i]);
        const double jump = jump_of(r, j, mode, start_time_ + share * (t - start_time_), between_.data());
        least = std::min(least, std::abs(jump));
        most = std::max(most, std::abs(jump));
        sum += jump;
      }
      load(t, y, mode);
      const double slip = slip_of(r, j);
      const bool one_way = std::abs(sum) > kSteady * most * (kLooks + 1);
      if (!one_way || !(least > kSteady * most) || !(most > kJump * std::abs(slip))) continue;
      status = slip > 0   ? TangentStatus::slip_plus
               : slip < 0 ? TangentStatus::slip_minus
                          : TangentStatus::stick;
      jumped_[number] = 1;
      any = true;
    }
  }
  return any;
}

bool RungeKuttaScheme::rate_at(double t, const double* y, double* rate) {
  if (numbers_.stage_signs) {
    load(t, y, stage_mode_);
    take_sides(stage_mode_);
    if (follow_jumps(stage_mode_, t, y)) load(t, y, stage_mode_);
    turn_by_slip(stage_mode_);
    // A slip that comes to zero and back within the step has stood still, too.
    for (int j = 0; j < layout_.tangents; ++j) {
      if (numbers_.stage_test && jumped_[j] == 0 && direction(stage_mode_.tangent[j]) * slip_before_[j] < 0)
        passed_zero_[j] = 1;
    }
    if (!(stage_mode_ == motion_.mode()) && !motion_.set_mode(stage_mode_)) return false;
  }
  return motion_(t, y, rate);
}

// The classical method; for q̇ = v it is the form of Nyström that Zabuga writes.
bool RungeKuttaScheme::run_step(const StepState& state, double h) {
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  std::fill(y_.begin() + layout_.integrated(), y_.end(), 0.0);
  const std::size_t size = y_.size();
  static constexpr double kNodes[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; ++s) {
    for (std::size_t i = 0; i < size; ++i) stage_[i] = s == 0 ? y_[i] : y_[i] + kNodes[s] * h * k_[s - 1][i];
    if (!rate_at(state.t + kNodes[s] * h, stage_.data(), k_[s].data())) return false;
  }
  for (std::size_t i = 0; i < size; ++i)
    next_[i] = y_[i] + h / 6 * (k_[0][i] + 2 * k_[1][i] + 2 * k_[2][i] + k_[3][i]);
  motion_.pin(state.t + h, next_.data());
  return finite(next_);
}

bool RungeKuttaScheme::finite(const std::vector<double>& y) const {
  return std::all_of(y.begin(), y.end(), [](double x) { return std::isfinite(x); });
}

double RungeKuttaScheme::value_at_start(const Found& what) const {
  return what.kind == Cut::slip  ? slip_before_[what.place]
         : what.kind == Cut::gap ? gap_before_[what.place]
                                 : margin_before_[what.place];
}

// Of the function whose zero ends the step, at a state of the present structure.
double RungeKuttaScheme::value_of(const Found& what, double t, const double* y) {
  load(t, y, motion_.mode());
  if (what.kind == Cut::gap) {
    double gap = 0, rate = 0;
    system_.gap(work_, what.place, gap, rate);
    return gap;
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const int j = what.place - relation.first_tangent;
    if (j < 0 || j >= relation.tangents) continue;
    if (what.kind == Cut::slip) return slip_of(r, j);
    // What friction may still carry at rest.
    if (!motion_.evaluate()) return INFINITY;
    motion_.publish();
    const model::RelationRows& rows = system_.rows(work_, r);
    double load = rows.base;
    for (std::size_t k = 0; k < relation.feeds.size(); ++k)
      load += rows.factors[k] * std::abs(work_.in[layout_.normal() + relation.feeds[k]]);
    return rows.tangent[j].mu_static * load - std::abs(work_.in[layout_.tangent() + what.place]);
  }
  return INFINITY;
}

// Where in the step to next_ something ends its structure, by one chord.
RungeKuttaScheme::Found RungeKuttaScheme::first_zero(const StepState& state, double h) {
  Found first;
  // Slips count in their direction. One that was set to zero begins on either side of it by rounding, and goes on from there: that is no second reversal.
  const auto look = [&](Cut kind, int place, double along = 1) {
    Found what{kind, place, 1};
    const double before = along * value_at_start(what);
    const double after = along * value_of(what, state.t + h, next_.data());
    if (!(before > 0 && after <= 0)) return;
    what.share = before / (before - after);
    if (first.kind == Cut::none || what.share < first.share) first = what;
  };
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (state.mode.normal[r] == NormalStatus::open) look(Cut::gap, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const TangentStatus status = state.mode.tangent[number];
      if (direction(status) != 0 && fresh_[number] == 0) look(Cut::slip, number, direction(status));
      if (status == TangentStatus::stick && numbers_.locate_start) look(Cut::rest, number);
    }
  }
  return first;
}

Status RungeKuttaScheme::advance(StepState& state, double to, StepReport& report) {
  const double h = to - state.t;
  std::fill(report.normal.begin(), report.normal.end(), 0.0);
  std::fill(report.tangent.begin(), report.tangent.end(), 0.0);
  load(state);
  if (!motion_.set_mode(state.mode)) return failed(state);
  stage_mode_ = start_mode_ = state.mode;
  start_time_ = state.t;
  std::fill(jumped_.begin(), jumped_.end(), std::uint8_t{0});
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    double rate = 0;
    if (relation.has_normal) system_.gap(work_, r, gap_before_[r], rate);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      slip_before_[number] = slip_of(r, j);
      passed_zero_[number] = 0;
      if (state.mode.tangent[number] == TangentStatus::stick && numbers_.locate_start)
        margin_before_[number] = value_of({Cut::rest, number, 1}, state.t, state.y.data());
    }
  }
  if (!run_step(state, h)) return failed(state);
  Found found;
  double length = h;
  if (numbers_.cut) {
    found = first_zero(state, h);
    if (found.kind != Cut::none) {
      double from = 0, to_share = 1, before = value_at_start(found);
      double after = value_of(found, state.t + h, next_.data());
      for (int chord = 0; chord < numbers_.chords; ++chord) {
        const double share = from + (to_share - from) * before / (before - after);
        length = share * h;
        if (!run_step(state, length)) return failed(state);
        if (chord + 1 == numbers_.chords) break;
        const double value = value_of(found, state.t + length, next_.data());
        if (value == 0) break;
        if ((value > 0) == (before > 0)) {
          from = share;
          before = value;
        } else {
          to_share = share;
          after = value;
        }
        if (before == after) break;
      }
    }
  }
  cuts_.note(found.kind != Cut::none ? 1 : 0, 0, state.t + length);
  // Each cut leads towards the next time of the grid; cuts that accumulate never reach it.
  constexpr long kAccumulates = 1000;
  cuts_in_step_ = found.kind != Cut::none ? cuts_in_step_ + 1 : 0;
  if (cuts_in_step_ > kAccumulates)
    return {
        Reason::step_too_small,
        state.t,
        {},
        "impacts or reversals accumulate here, and this scheme takes every one of them; the engine 'event' "
        "finishes them, 'moreau' passes over them"};
  state.t = found.kind != Cut::none ? state.t + length : to;
  std::copy_n(next_.begin(), layout_.integrated(), state.y.begin());
  for (int e = 0; e < layout_.audits; ++e) {
    report.dissipated[e] = next_[layout_.integrated() + e];
    report.supplied[e] = next_[layout_.integrated() + layout_.audits + e];
  }
  Status status = settle(state, found, report);
  if (!status.ok()) return status;
  load(state);
  if (!motion_.set_mode(state.mode) || !motion_.evaluate()) return failed(state);
  motion_.publish();
  const double* in = work_.in.data();
  std::copy_n(in + layout_.acceleration(), layout_.coordinates, report.acceleration.begin());
  for (int r = 0; r < layout_.relations; ++r) {
    if (report.struck[r] == 0) report.normal[r] = length * in[layout_.normal() + r];
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = relation.first_tangent; j < relation.first_tangent + relation.tangents; ++j) {
      if (report.struck[r] == 0) report.tangent[j] = length * in[layout_.tangent() + j];
    }
  }
  evaluations = motion_.evaluations;
  return {};
}

// A slip that has turned during a step without cut stands still, for the decision to tell whether it stays so.
void RungeKuttaScheme::stop_turned(Mode& mode) {
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(mode.tangent[number]) == 0) continue;
      const double slip = slip_of(r, j);
      if (slip_before_[number] * slip > 0 && passed_zero_[number] == 0) continue;
      if (numbers_.stop_test && slip_before_[number] != 0) {
        mode.tangent[number] = TangentStatus::stick;
        fresh_[number] = 1;
      } else if (slip != 0) {
        mode.tangent[number] = slip > 0 ? TangentStatus::slip_plus : TangentStatus::slip_minus;
      }
    }
  }
}

// A slip that a row brings to rest with itself, as two that stand make a third one stand, has come to its end, too.
void RungeKuttaScheme::stop_together(StepState& state) {
  constexpr double kStands = 1e-10;  // of the slip at the beginning of the step
  load(state);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (direction(state.mode.tangent[number]) * slip_before_[number] <= 0) continue;
      if (std::abs(slip_of(r, j)) > kStands * std::abs(slip_before_[number])) continue;
      state.mode.tangent[number] = TangentStatus::stick;
      fresh_[number] = 1;
    }
  }
}

// Slips that an impact has turned have not come to their end: the velocities behind it are those to compare with.
void RungeKuttaScheme::take_slips_behind(StepState& state) {
  load(state);
  turn_by_slip(state.mode);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      slip_before_[relation.first_tangent + j] = slip_of(r, j);
      passed_zero_[relation.first_tangent + j] = 0;
    }
  }
  load(state);
}

// What holds at the end of the step: impacts, slips that stand at zero, sides, and what rests.
Status RungeKuttaScheme::settle(StepState& state, const Found& found, StepReport& report) {
  std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
  bool struck = false;
  load(state);
  take_sides(state.mode);
  std::fill(jumped_.begin(), jumped_.end(), std::uint8_t{0});
  if (follow_jumps(state.mode, state.t, state.y.data())) note_jumps(state);
  load(state);
  if ((found.kind == Cut::gap || !numbers_.cut) && mark_touching(state, found)) {
    if (Status status = collide(state, report); !status.ok()) return status;
    struck = !numbers_.cut;
  }
  if (struck && !end_hops(state, report)) return failed(state);
  if (struck) take_slips_behind(state);
  load(state);
  put_on_gaps(state);
  if (found.kind == Cut::slip) {
    state.mode.tangent[found.place] = TangentStatus::stick;
    fresh_[found.place] = 1;
  }
  if (!numbers_.cut) {
    stop_turned(state.mode);
  }
  const bool keeps = (found.kind == Cut::slip && !numbers_.zero_slip) || !numbers_.cut;
  std::copy(state.y.begin(), state.y.end(), kept_.begin());
  if (found.kind == Cut::slip && numbers_.zero_slip) {
    load(state);
    if (!motion_.set_mode(state.mode)) return failed(state);
    std::copy(state.y.begin(), state.y.end(), y_.begin());
    if (!motion_.project(state.t, y_.data(), true)) return failed(state);
    std::copy_n(y_.begin(), layout_.integrated(), state.y.begin());
    stop_together(state);
  }
  if (Status status = decide(state); !status.ok()) return status;
  if (keeps) {
    // A slip that goes on keeps its velocity, whatever its sign; without a cut its direction is that of the velocity.
    bool stays = true;
    for (int j = 0; j < layout_.tangents; ++j)
      stays = stays && (fresh_[j] == 0 || state.mode.tangent[j] != TangentStatus::stick);
    if (stays) std::copy(kept_.begin(), kept_.end(), state.y.begin());
    load(state);
    if (!numbers_.cut) turn_by_slip(state.mode);
  } else {
    std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
  }
  if (!numbers_.cut) std::fill(fresh_.begin(), fresh_.end(), std::uint8_t{0});
  return {};
}

// Slips behind a jump of their drive have not turned by themselves.
void RungeKuttaScheme::note_jumps(const StepState& state) {
  load(state);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (jumped_[number] == 0) continue;
      slip_before_[number] = slip_of(r, j);
      passed_zero_[number] = 0;
    }
  }
}

// Contacts that are met at the end of the step collide together: without cuts all whose gap is closed, with cuts all whose gap closes at the same time as the first one,
// as well as the chord tells. False: none.
bool RungeKuttaScheme::mark_touching(const StepState& state, const Found& found) {
  constexpr double kRounding = 1e-12;
  std::fill(touching_.begin(), touching_.end(), std::uint8_t{0});
  bool any = false;
  double late = 0;
  if (found.kind == Cut::gap) {
    double gap = 0, rate = 0;
    system_.gap(work_, found.place, gap, rate);
    // A touch that hardly moves says nothing of the time: the chord is off by no more than its step.
    if (rate < 0) late = std::min(2 * std::abs(gap / rate), state.t - start_time_);
    touching_[found.place] = strikes;
    any = true;
  }
  for (int r = 0; r < layout_.relations; ++r) {
    double gap = 0, rate = 0;
    if (state.mode.normal[r] != NormalStatus::open || touching_[r] != 0) continue;
    system_.gap(work_, r, gap, rate);
    if (gap > late * std::abs(rate) + (numbers_.cut ? kRounding * gap_before_[r] : 0)) continue;
    touching_[r] = rate < 0 ? strikes : separates;
    any = any || rate < 0;
  }
  return any;
}

Status RungeKuttaScheme::collide(StepState& state, StepReport& report) {
  load(state);
  struck_.clear();
  Status status = collider_.collide(state.mode, touching_, false, struck_);
  if (!status.ok()) return status;
  std::copy_n(work_.in.begin() + layout_.v(), layout_.coordinates, state.y.begin() + layout_.coordinates);
  for (const Event& event : struck_) {
    report.struck[event.place] = 1;
    report.normal[event.place] += event.normal_impulse;
    const model::Relation& struck = system_.relations()[event.place];
    for (int j = 0; j < struck.tangents; ++j)
      report.tangent[struck.first_tangent + j] += event.tangential_impulse[j];
    ++impacts;
  }
  for (std::size_t e = 0; e < system_.audits().size(); ++e) {
    const int r = system_.audits()[e].relation;
    if (r < 0) continue;
    report.dissipated[e] += collider_.dissipated()[r];
    report.supplied[e] += collider_.supplied()[r];
  }
  report.smooth = false;
  motion_.release_pins();
  return {};
}

// A rebound whose hop ends within a step is none: the contact is met once per step from then on, and never comes to rest. It closes here, and with it ends what was left of
// its impacts, a time like h/(1 − e). False: no finite accelerations.
bool RungeKuttaScheme::end_hops(StepState& state, const StepReport& report) {
  const double h = state.t - start_time_;
  bool any = false;
  for (int round = 0; round < layout_.relations; ++round) {
    load(state);
    if (!motion_.set_mode(state.mode) || !motion_.evaluate()) return false;
    motion_.publish();
    bool more = false;
    for (int r = 0; r < layout_.relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (report.struck[r] == 0 || state.mode.normal[r] != NormalStatus::open) continue;
      const model::RelationRows& rows = system_.rows(work_, r);
      double gap = 0, rate = 0;
      system_.gap(work_, r, gap, rate);
      const double fall = -(rows.zeta_n + rows.w.dot(work_.in.data() + layout_.acceleration()));
      if (!(rate > 0 && fall > 0 && 2 * rate <= fall * h)) continue;
      state.mode.normal[r] = NormalStatus::closed;
      for (int j = 0; j < relation.tangents; ++j) {
        const double slip = slip_of(r, j);
        state.mode.tangent[relation.first_tangent + j] = relation.smooth_friction ? TangentStatus::smooth
                                                         : slip > 0               ? TangentStatus::slip_plus
                                                         : slip < 0               ? TangentStatus::slip_minus
                                                                                  : TangentStatus::stick;
      }
      more = true;
    }
    if (!more) break;
    any = true;
  }
  if (!any) return true;
  load(state);
  put_on_gaps(state);
  if (!motion_.set_mode(state.mode)) return false;
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  if (!motion_.project(state.t, y_.data(), true)) return false;
  std::copy_n(y_.begin(), layout_.integrated(), state.y.begin());
  motion_.release_pins();
  return true;
}

void RungeKuttaScheme::monitors(std::vector<Monitor>& out) const {
  if (cuts_.used()) out.push_back(cuts_.record());
}

void RungeKuttaScheme::save(std::vector<double>& out) const {
  out.insert(out.end(), fresh_.begin(), fresh_.end());
  cuts_.save(out);
}

bool RungeKuttaScheme::load(std::span<const double> saved, const StepState& /*state*/) {
  if (saved.size() != fresh_.size() + StepMonitor::kSaved) return false;
  for (std::size_t j = 0; j < fresh_.size(); ++j) fresh_[j] = saved[j] != 0 ? 1 : 0;
  cuts_.load(saved.subspan(fresh_.size(), StepMonitor::kSaved));
  return true;
}

}  // namespace judder::engines
