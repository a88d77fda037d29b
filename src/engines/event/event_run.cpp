#include "engines/event/event_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engines/event/at_once.hpp"
#include "engines/event/impact_tails.hpp"
#include "engines/event/instant.hpp"
#include "engines/event/memory.hpp"
#include "engines/event/parting.hpp"
#include "engines/event/rows.hpp"
#include "engines/event/settling.hpp"
#include "engines/event/sides.hpp"
#include "engines/event/sliding.hpp"
#include "engines/event/step_advance.hpp"
#include "engines/event/strikes.hpp"
#include "engines/event/trial.hpp"
#include "engines/event/watching.hpp"
#include "judder/engines/collision.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

EventRun::EventRun(const model::System& system, Maker make) : parts_(system), way_(make(parts_)) {
  parts_.now.way = way_.get();
}

EngineResult EventRun::go(const EngineOptions& options, Sink& sink, const Moment* resume) {
  parts_.now.options = options;
  parts_.now.result = {};
  parts_.now.recorder.begin(options, sink);
  parts_.now.motion.evaluations = 0;
  parts_.now.patience.start(options.abandon);
  try {
    follow(resume);
  } catch (const Abandoned&) {
    return give_up(resume);
  }
  finish();
  return std::move(parts_.now.result);
}

// Inside a step or an instant there is no state to go on from: the last one that was handed over is.
EngineResult EventRun::give_up(const Moment* resume) {
  static_cast<void>(parts_.now.fail({Reason::interrupted, parts_.now.t, {}, "interrupted"}));
  parts_.now.result.whole = false;
  if (!handed_) parts_.now.result.end = resume != nullptr ? *resume : Moment{};
  parts_.now.result.evaluations = parts_.now.motion.evaluations;
  parts_.now.load();
  parts_.now.recorder.tell(parts_.now.work);
  parts_.now.recorder.fill(parts_.now.result);
  return std::move(parts_.now.result);
}

void EventRun::follow(const Moment* resume) {
  handed_ = false;
  begin(resume);
  if (parts_.now.result.status.reason == Reason::done) {
    parts_.now.recorder.testimony.after(parts_.now.mode, parts_.now.t, parts_.now.y.data());
    // The run before may have ended just where something happens, without having seen what it does behind its end.
    if (resume != nullptr && parts_.now.t < parts_.now.options.until && parts_.at_once.meets_at_once()) {
      parts_.now.limit = parts_.now.timetable.next(parts_.now.t, parts_.now.options.until);
      if (parts_.instant.handle_guards())
        parts_.now.recorder.testimony.after(parts_.now.mode, parts_.now.t, parts_.now.y.data());
    }
    constexpr long kMostInstants = 1000;  ///< at one time, and more where much can happen together
    long instants_here = 0;
    double handled_at = parts_.now.t;
    while (parts_.now.t < parts_.now.options.until && !parts_.watching.watches().stopped() &&
           parts_.now.result.status.reason == Reason::done) {
      if (parts_.now.options.cancel != nullptr &&
          parts_.now.options.cancel->load(std::memory_order_relaxed)) {
        static_cast<void>(parts_.now.fail({Reason::interrupted, parts_.now.t, {}, "interrupted"}));
        break;
      }
      double limit = parts_.now.timetable.next(parts_.now.t, parts_.now.options.until);
      if (parts_.tails.tails().first_end() > parts_.now.t)
        limit = std::min(limit, parts_.tails.tails().first_end());
      // A step may hold millions of rows: after so many of them, few enough for a slow machine to write in a moment, saving, progress and cancelling have their
      // turn. The same in every run, cut or not.
      constexpr long kRowsPerTurn = 1L << 13;
      const double turn = parts_.now.recorder.samples.turn(kRowsPerTurn);
      if (turn > parts_.now.t) limit = std::min(limit, turn);
      parts_.now.limit = limit;
      const StepEnd end = way_->advance(limit);
      if (end == StepEnd::failed) break;
      if (end == StepEnd::guard && !parts_.instant.handle_guards()) break;
      if (end == StepEnd::limit) {
        if (parts_.now.t == parts_.tails.tails().first_end() && !parts_.tails.finish_accumulation()) break;
        if (!parts_.instant.handle_timetable(parts_.now.t)) break;
        if (parts_.now.t >= parts_.now.options.until && parts_.impacts.meets_at_end() &&
            !parts_.instant.handle_guards())
          break;
      }
      const bool parted = (end == StepEnd::plain || end == StepEnd::limit) && parts_.parting.rows_part();
      if (parted && !parts_.instant.handle_parting()) break;
      const bool handled = end != StepEnd::plain || parted;
      if (handled) parts_.now.recorder.testimony.after(parts_.now.mode, parts_.now.t, parts_.now.y.data());
      // What is handled again and again at one time need not be listed: then nothing else would end it.
      instants_here = !handled || parts_.now.t > handled_at ? 0 : instants_here + 1;
      handled_at = parts_.now.t;
      if (instants_here > kMostInstants + 10L * (parts_.now.layout.relations + parts_.now.layout.switches)) {
        static_cast<void>(parts_.now.fail(
            {Reason::too_many_events, parts_.now.t, {}, "one event follows the other at this time"}));
        break;
      }
      if (parts_.now.recorder.events() > parts_.now.options.max_events) {
        static_cast<void>(
            parts_.now.fail({Reason::too_many_events,
                             parts_.now.t,
                             {},
                             "more than " + std::to_string(parts_.now.options.max_events) + " events"}));
        break;
      }
      if (parts_.now.recorder.samples.next() <= parts_.now.t) {
        parts_.rows.row_here(RowKind::sample);
        parts_.now.recorder.samples.advance();
      }
      if (parts_.now.recorder.wants_state(parts_.now.t)) hand_state();
    }
  }
}

void EventRun::begin(const Moment* resume) {
  parts_.tails.accumulation().clear();
  parts_.sliding.switching().clear();
  parts_.now.timetable.restart();
  parts_.now.motion.release_pins();  // where the last run ended is not where this one starts
  parts_.now.entry = {};
  parts_.now.resumed_at = kNone;
  parts_.tails.tails().clear();
  parts_.now.time_bound = 0;
  parts_.now.have_f0 = false;
  parts_.trial.methods().start(
      parts_.now.options.integrator == Integrator::stiff,
      parts_.now.options.tolerance < 1e-8 ? numeric::Method::order8 : numeric::Method::order5);
  parts_.now.motion.always_audit(parts_.trial.methods().stiff());
  parts_.now.grow_allowed = true;
  parts_.trial.choice().start();
  parts_.now.leaving_rest = false;
  parts_.watching.watches().start();
  parts_.watching.observed().start();
  load_start(parts_.now.system, resume, parts_.now.work);
  parts_.now.scales.start(parts_.now.options.from, parts_.now.work.in.data() + 1);
  parts_.now.last_flight = 0;
  if (resume != nullptr && resume->started) {
    static_cast<void>(parts_.memory.take_up(*resume));
    return;
  }
  start_from_model();
}

void EventRun::start_from_model() {
  parts_.now.t = parts_.now.options.from;
  parts_.now.work.in[0] = parts_.now.t;
  std::fill(parts_.now.y.begin(), parts_.now.y.end(), 0.0);
  std::copy_n(parts_.now.work.in.begin() + 1, parts_.now.layout.integrated(), parts_.now.y.begin());
  parts_.now.guards.load_scales({});
  parts_.now.h = 0;
  parts_.now.phase_start = parts_.now.t;
  parts_.now.mode = {};
  parts_.now.mode.normal.assign(parts_.now.layout.relations, NormalStatus::none);
  parts_.now.mode.pressed.assign(parts_.now.layout.relations, 0);
  parts_.now.mode.tangent.assign(parts_.now.layout.tangents, TangentStatus::free);
  parts_.now.mode.side.assign(parts_.now.layout.switches, 0);
  parts_.now.mode.surface.assign(parts_.now.layout.switches, AtSurface::away);
  parts_.instant.begin_instant();
  // Sides, and the directions of slips that they may read or move, until they agree. What touches at the start: gaps that are zero to
  // rounding. Slips that are zero are at rest.
  bool closing = false;
  for (int round = 0; round <= parts_.now.layout.switches; ++round) {
    parts_.now.timetable.sides_after(parts_.now.t, parts_.now.mode.side);
    parts_.sides.load_statuses();
    for (int k = 0; k < parts_.now.layout.switches; ++k) {
      if (!parts_.now.system.switches()[k].time_only) parts_.now.mode.side[k] = parts_.sides.start_side(k);
      parts_.now.work.in[parts_.now.layout.side() + k] = parts_.now.mode.side[k];
    }
    const Mode before = parts_.now.mode;
    closing = observe(parts_.now.system, parts_.now.work, parts_.now.mode, parts_.here.touching);
    if (parts_.now.mode == before && round > 0) break;
  }
  parts_.sides.load_statuses();
  parts_.sides.note_instant();

  double kinetic = 0;
  double potential = 0;
  double total = 0;
  if (!parts_.now.system.motion(parts_.now.work)) {
    static_cast<void>(
        parts_.now.fail({parts_.now.work.mass_failed ? Reason::singular_mass : Reason::not_finite,
                         parts_.now.t,
                         {},
                         "the equations cannot be evaluated at the start"}));
    return;
  }
  parts_.now.system.energies(parts_.now.work, kinetic, potential, total);
  parts_.now.work.in[parts_.now.layout.initial_energy()] = total;

  std::fill(parts_.here.fresh_relation.begin(), parts_.here.fresh_relation.end(), std::uint8_t{1});
  std::fill(parts_.here.fresh_tangent.begin(), parts_.here.fresh_tangent.end(), std::uint8_t{1});
  std::fill(parts_.here.fresh_switch.begin(), parts_.here.fresh_switch.end(), std::uint8_t{1});
  parts_.here.listed_side = parts_.now.mode.side;
  parts_.here.reference = parts_.now.mode;
  if (closing) {
    parts_.here.quiet_rows = false;
    parts_.rows.rows_before_event();
    parts_.now.result.start_mode = parts_.now.mode;
    parts_.here.strikes = true;
    static_cast<void>(parts_.settling.settle());
    return;
  }
  // The modes at the start are no events.
  parts_.here.reference = parts_.now.mode;
  parts_.here.quiet = true;
  const bool settled = parts_.settling.settle();
  parts_.here.quiet = false;
  parts_.now.result.start_mode = parts_.now.mode;
  if (!settled) return;
  parts_.now.recorder.residuals.note_energy(parts_.now.work);
  if (parts_.now.recorder.samples.next() <= parts_.now.t) {
    parts_.rows.emit_row(RowKind::sample);
    parts_.now.recorder.samples.advance();
  }
}

/// What finish() would give if the run were interrupted here. The motion does not notice.
void EventRun::hand_state() {
  parts_.memory.save(parts_.now.result.end);
  handed_ = true;
  parts_.now.result.evaluations = parts_.now.motion.evaluations;
  parts_.now.recorder.fill(parts_.now.result);
  parts_.now.recorder.state(parts_.now.result);
}

void EventRun::finish() {
  parts_.memory.save(parts_.now.result.end);
  parts_.now.load();
  parts_.now.recorder.tell(parts_.now.work);  // of an instant that the motion did not get over
  parts_.now.result.energy_imbalance =
      parts_.now.recorder.residuals.imbalance(parts_.now.work, parts_.now.y.data());
  parts_.now.result.evaluations = parts_.now.motion.evaluations;
  parts_.now.recorder.fill(parts_.now.result);
  // A closed phase that an interrupt cuts goes on when the run is taken up.
  const bool goes_on = parts_.now.result.status.reason == Reason::interrupted ||
                       (parts_.now.options.another_goes_on && engine_ends(parts_.now.result.status.reason));
  for (int r = 0; r < parts_.now.layout.relations && !goes_on; ++r)
    parts_.now.recorder.close(r, parts_.now.t);
  if (parts_.now.result.status.reason == Reason::done) {
    parts_.now.result.status.time = parts_.now.t;
    if (parts_.watching.watches().stopped()) parts_.now.result.status.reason = Reason::watch;
  }
}

}  // namespace judder::engines
