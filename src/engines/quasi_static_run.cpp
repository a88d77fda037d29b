#include "quasi_static_run.hpp"
#include "judder/model/large_matrices.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

/// Normal forces along a step of the path.
class QuasiStaticEngine::Run::Forces final : public ForcesAlongStep {
 public:
  explicit Forces(Run& run) : run_(run) {}
  std::span<const double> at(double theta) override {
    const double from = run_.scene_.here.t, to = run_.path_.end().t;
    double share = 0;
    if (!run_.path_.at_time(from + theta * (to - from), run_.sample_, share)) return {};
    return run_.sample_.normal;
  }

 private:
  Run& run_;
};

QuasiStaticEngine::QuasiStaticEngine(const model::System& system) : run_(std::make_unique<Run>(system)) {}
QuasiStaticEngine::~QuasiStaticEngine() = default;
QuasiStaticEngine::QuasiStaticEngine(QuasiStaticEngine&&) noexcept = default;

std::string QuasiStaticEngine::unsupported(const model::System& system) {
  if (std::string problem = model::large_matrices_problem(system); !problem.empty()) return problem;
  return QuasiStatics::unsupported(system);
}

EngineResult QuasiStaticEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  return run_->go(options, sink, resume);
}

QuasiStaticEngine::Run::Run(const model::System& system)
    : scene_(system),
      recorder_(system, &scene_.patience),
      timetable_(system, scene_.work),
      records_(scene_, recorder_),
      decision_(scene_),
      path_(scene_, records_),
      jump_(scene_, decision_, records_),
      sample_(scene_.point()),
      middle_(scene_.point()) {
  timetable_.use(&scene_.patience);
}

EngineResult QuasiStaticEngine::Run::go(const EngineOptions& options, Sink& sink, const Moment* resume) {
  EngineOptions own = options;
  own.observer = nullptr;  // see run() of the engine
  scene_.restart(own);
  result_ = {};
  recorder_.begin(scene_.options, sink);
  scene_.patience.start(options.abandon);
  bool told = false;
  try {
    begin(resume);
    follow();
    told = true;
  } catch (const Abandoned&) {
    static_cast<void>(scene_.fail(Reason::interrupted, "interrupted"));
    result_.whole = false;
  }
  result_.status = scene_.status;
  if (told) finish();
  return std::move(result_);
}

void QuasiStaticEngine::Run::begin(const Moment* resume) {
  timetable_.restart();
  records_.restart();
  path_.set_step(0);
  watch_stops_ = false;
  watch_counts_.assign(scene_.system.watches().size(), 0);
  resumed_ = resume != nullptr && resume->started;
  if (resumed_) return take_up(*resume);
  if (resume != nullptr) scene_.start_at(*resume);
  timetable_.sides_after(scene_.here.t, scene_.mode.side);
  scene_.statics.set_mode(scene_.mode);
  if (!scene_.place()) {
    static_cast<void>(scene_.fail(Reason::not_finite, "a force is not finite at the start"));
    return;
  }
  start_statuses();
  scene_.work.in[scene_.layout.initial_energy()] = records_.energy_of(scene_.here.q);
}

void QuasiStaticEngine::Run::take_up(const Moment& moment) {
  const model::Layout& layout = scene_.layout;
  scene_.here.t = moment.time;
  std::copy_n(moment.y.begin(), scene_.n, scene_.here.q.begin());
  scene_.mode = moment.mode;
  std::copy(moment.dissipated.begin(), moment.dissipated.end(), records_.dissipated());
  std::copy(moment.supplied.begin(), moment.supplied.end(), records_.supplied());
  std::copy_n(moment.scales.begin(), scene_.n, scene_.largest.begin());
  watch_counts_ = moment.watch_counts;
  recorder_.take_up(moment.events);
  recorder_.samples.pass(scene_.here.t);
  path_.set_step(moment.step);
  result_.start_mode = moment.mode;
  scene_.work.in[layout.initial_energy()] = moment.initial_energy;
}

void QuasiStaticEngine::Run::start_statuses() {
  double size = 0;
  for (const double value : scene_.here.q) size = std::max(size, std::abs(value));
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    if (relation.kind == model::RelationKind::joint || !relation.has_normal) continue;
    scene_.mode.normal[r] = relation.kind == model::RelationKind::constraint ? NormalStatus::held
                            : scene_.statics.gap(r) > 1e-12 * size           ? NormalStatus::open
                                                                             : NormalStatus::closed;
  }
}

void QuasiStaticEngine::Run::follow() {
  if (scene_.ended()) return;
  scene_.statics.set_mode(scene_.mode);
  if (!scene_.place()) {
    static_cast<void>(scene_.fail(Reason::not_finite, "a force is not finite at the start"));
    return;
  }
  scene_.statics.stick_here(scene_.here.t, scene_.here.q);
  // Reactions are not part of a moment: where a run goes on they are found as at a start.
  if (!resumed_) result_.start_mode = scene_.mode;
  if (!settle(true)) return;
  if (!resumed_ && !records_.instant_open()) result_.start_mode = scene_.mode;
  records_.close_instant();
  constexpr int kMostInstants = 1000;
  double handled_at = scene_.here.t;
  int instants = 0;
  const EngineOptions& options = scene_.options;
  while (scene_.here.t < options.until && !watch_stops_) {
    if (scene_.cancelled()) return;
    path_.look_at_watches();
    const QuasiStaticPath::End end = path_.advance(timetable_.next(scene_.here.t, options.until));
    if (end == QuasiStaticPath::End::failed) return;
    ++result_.steps;
    if (end != QuasiStaticPath::End::fold) take_step();
    instants = scene_.here.t > handled_at ? 0 : instants + 1;
    handled_at = scene_.here.t;
    if (instants > kMostInstants) {
      static_cast<void>(scene_.fail(Reason::too_many_events, "one event follows the other at this time"));
      return;
    }
    if (end == QuasiStaticPath::End::event || end == QuasiStaticPath::End::fold) {
      if (!handle_fired(end == QuasiStaticPath::End::fold)) return;
    } else if (end == QuasiStaticPath::End::limit && scene_.here.t < options.until) {
      if (!take_time_switches()) return;
      records_.close_instant();
    }
    if (recorder_.samples.next() <= scene_.here.t) {
      records_.row(RowKind::sample, scene_.here);
      recorder_.samples.advance();
    }
    if (recorder_.events() > options.max_events) {
      static_cast<void>(scene_.fail(Reason::too_many_events,
                                    "more than " + std::to_string(options.max_events) + " events"));
      return;
    }
    if (recorder_.wants_state(scene_.here.t)) {
      EngineResult so_far = result_;
      save(so_far.end);
      so_far.status = {Reason::interrupted, scene_.here.t, {}, "interrupted"};
      recorder_.fill(so_far);
      recorder_.state(so_far);
    }
  }
}

/// The step that the path has made: its samples, works and loads, and then here is its end.
void QuasiStaticEngine::Run::take_step() {
  const QuasiStaticPoint& next = path_.end();
  double arc = 0;
  if (!path_.middle(middle_, arc)) middle_ = next;
  records_.measure_step(scene_.here, middle_, next, arc);
  for (; recorder_.samples.next() < next.t; recorder_.samples.advance()) {
    double share = 0;
    if (!path_.at_time(recorder_.samples.next(), sample_, share)) continue;
    records_.work_up_to(share);
    records_.row(RowKind::sample, sample_);
  }
  records_.take_step();
  const double length = next.t - scene_.here.t;
  for (std::size_t i = 0; i < scene_.n; ++i)
    scene_.largest[i] = std::max(scene_.largest[i], std::abs(next.q[i] - scene_.start[i]));
  if (recorder_.loads.follow(scene_.mode, scene_.here.t)) {
    Forces forces(*this);
    recorder_.loads.take_rest(length, forces);
  }
  scene_.here = next;
}

/// The status of a relation has ended: what it may not be next.
void QuasiStaticEngine::Run::end_status(const QuasiStaticFired& one) {
  using What = QuasiStaticFired::What;
  const model::Relation& relation = scene_.system.relations()[one.place];
  const int j = relation.tangents > 0 ? relation.first_tangent : -1;
  QuasiStaticPoint& here = scene_.here;
  QuasiStaticOption& out = scene_.excluded[one.place];
  switch (one.what) {
    case What::gap:
      scene_.mode.normal[one.place] = NormalStatus::closed;  // without reaction: any status may follow
      records_.note_closing(one.place);
      out = {NormalStatus::open, TangentStatus::free};
      break;
    case What::reaction:
      out = {scene_.mode.normal[one.place], j >= 0 ? scene_.mode.tangent[j] : TangentStatus::free};
      here.normal[one.place] = 0;
      if (j >= 0) here.tangent[j] = 0;
      break;
    case What::cone: {
      const double limit = scene_.statics.limit(one.place, j, here.normal);
      here.tangent[j] = here.tangent[j] > 0 ? limit : -limit;
      out = {scene_.mode.normal[one.place], TangentStatus::stick};
      break;
    }
    case What::slip:
      out = {scene_.mode.normal[one.place], scene_.mode.tangent[j]};
      break;
    case What::watch:
      break;
  }
}

/// What guards have ended: statuses at their limits, then what comes next.
bool QuasiStaticEngine::Run::handle_fired(bool fold) {
  records_.open_instant(scene_.mode);
  bool decide = fold;
  for (const QuasiStaticFired& one : scene_.fired) {
    if (one.what != QuasiStaticFired::What::watch) {
      decide = true;
      end_status(one);
      continue;
    }
    const model::WatchInfo& watch = scene_.system.watches()[static_cast<std::size_t>(one.place)];
    double value = 0;
    records_.publish(scene_.here);
    watch.value.evaluate(scene_.work.in.data(), &value, scene_.work.registers.data());
    if (watch.direction != 0 && watch.direction * value < 0) continue;
    records_.add_event(EventKind::watch, one.place, value > 0 ? Word::up : Word::down);
    ++watch_counts_[one.place];
    watch_stops_ = watch_stops_ || (watch.stop > 0 && watch_counts_[one.place] >= watch.stop);
  }
  scene_.fired.clear();
  if (decide) {
    path_.set_step(0);
    if (fold) {
      middle_ = scene_.here;
      if (jump_.along(middle_, scene_.mode) == QuasiStaticJump::Outcome::failed) return false;
    }
    if (!settle(false)) return false;
  }
  scene_.fired.clear();
  records_.close_instant();
  return true;
}

/// Switches of time that change here: the load may jump.
bool QuasiStaticEngine::Run::take_time_switches() {
  changed_.clear();
  side_ = scene_.mode.side;
  timetable_.pass(scene_.here.t, side_, changed_);
  path_.set_step(0);
  // A knot of a table: another piece of the load begins.
  if (changed_.empty()) return settle(false);
  records_.open_instant(scene_.mode);
  scene_.mode.side = side_;
  if (scene_.options.list_switches) {
    for (const int k : changed_) {
      if (!scene_.system.switches()[k].two_sided()) continue;
      records_.add_event(EventKind::switch_side, k, side_[k] > 0 ? Word::above : Word::below);
    }
  }
  scene_.statics.set_mode(scene_.mode);
  return settle(true);
}

bool QuasiStaticEngine::Run::settle(bool imbalanced) {
  using Outcome = QuasiStaticJump::Outcome;
  constexpr int kMostRounds = 100;
  bool look = imbalanced, jumps = true;
  for (int round = 0; round < kMostRounds; ++round) {
    const Mode before = scene_.mode;
    if (!scene_.place()) return scene_.fail(Reason::not_finite, "a force is not finite");
    if (look) {
      look = false;
      static_cast<void>(
          scene_.statics.differentiate(scene_.here.normal));  // the stiffness is a measure of forces
      bool moves = false;
      if (!decision_.decide_flow(moves)) return false;
      if (moves) {
        records_.open_instant(before);
        records_.list_changes(before);
        if (jump_.from_imbalance() == Outcome::failed) return false;
        scene_.forget_excluded();
        continue;
      }
      scene_.here.normal = decision_.flow().normal;
      scene_.here.tangent = decision_.flow().tangent;
    }
    const Mode undecided = scene_.mode;
    switch (decision_.decide_path(jumps)) {
      case QuasiStaticDecision::Verdict::failed:
        return false;
      case QuasiStaticDecision::Verdict::none: {
        if (scene_.statics.sees_velocity())
          return scene_.fail(Reason::unsupported,
                             "a force depends on velocities; quasi-static evolution has no dampers");
        // What may not end as it did may still be all there is.
        const bool any = std::any_of(scene_.excluded.begin(), scene_.excluded.end(), [](const auto& out) {
          return out.normal != NormalStatus::none || out.tangent != TangentStatus::free;
        });
        if (!any)
          return decision_.nothing_found(
              jumps
                  ? "the path cannot go on: no rates satisfy the laws of the contacts"
                  : "the path cannot go on: the equilibrium has lost its stiffness, and no force leads away "
                    "from it");
        scene_.forget_excluded();
        break;
      }
      case QuasiStaticDecision::Verdict::path:
        records_.list_changes(undecided);
        scene_.forget_excluded();
        scene_.statics.stick_here(scene_.here.t, scene_.here.q);
        return true;
      case QuasiStaticDecision::Verdict::jump: {
        const Outcome outcome = jump_.along(decision_.direction(), undecided);
        if (outcome == Outcome::failed) return false;
        if (outcome == Outcome::held) {
          // Forces point back: it is no jump, and the rates of a path decide.
          scene_.set_mode(undecided);
          jumps = false;
          break;
        }
        scene_.forget_excluded();
        break;
      }
    }
  }
  return scene_.fail(Reason::too_many_events, "one jump follows the other at this time");
}

void QuasiStaticEngine::Run::save(Moment& out) const {
  const model::Layout& layout = scene_.layout;
  const QuasiStaticPoint& here = scene_.here;
  out = {};
  out.time = here.t;
  out.y.assign(static_cast<std::size_t>(layout.integrated()), 0.0);
  std::copy(here.q.begin(), here.q.end(), out.y.begin());
  for (std::size_t i = 0; i < scene_.n; ++i)
    out.y[scene_.n + i] = here.t_rate > 0 ? here.q_rate[i] / here.t_rate : 0;
  out.dissipated.assign(records_.dissipated(), records_.dissipated() + layout.audits);
  out.supplied.assign(records_.supplied(), records_.supplied() + layout.audits);
  out.initial_energy = scene_.work.in[layout.initial_energy()];
  out.mode = scene_.mode;
  out.step = path_.step();
  out.scales.assign(static_cast<std::size_t>(layout.integrated()), 0.0);
  std::copy(scene_.largest.begin(), scene_.largest.end(), out.scales.begin());
  out.events = recorder_.events();
  out.watch_counts = watch_counts_;
  out.started = true;
}

void QuasiStaticEngine::Run::finish() {
  // What happened at an instant that was not got over is listed.
  records_.close_instant();
  save(result_.end);
  static_cast<void>(records_.energy_of(scene_.here.q));
  result_.energy_imbalance = records_.imbalance();
  result_.evaluations = scene_.statics.evaluations();
  recorder_.fill(result_);
  for (int r = 0; r < scene_.layout.relations && result_.status.reason != Reason::interrupted; ++r)
    recorder_.close(r, scene_.here.t);
  if (result_.status.reason == Reason::done) {
    result_.status.time = scene_.here.t;
    if (watch_stops_) result_.status.reason = Reason::watch;
  }
}

}  // namespace judder::engines
