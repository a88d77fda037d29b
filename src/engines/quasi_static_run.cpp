#include "quasi_static_run.hpp"
#include "judder/model/large_matrices.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

/// Normal forces along a step of the path.
class QuasiStaticEngine::Run::Forces final : public ForcesAlongStep {
 public:
  Forces(Run& run, const QuasiStaticPoint& from, const QuasiStaticPoint& to)
      : run_(run), from_(from), to_(to) {}
  std::span<const double> at(double theta) override {
    if (!run_.at_time(from_.t + theta * (to_.t - from_.t), from_, to_, run_.scratch_)) return {};
    return run_.scratch_.normal;
  }

 private:
  Run& run_;
  const QuasiStaticPoint& from_;
  const QuasiStaticPoint& to_;
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
    : system_(system),
      layout_(system.layout()),
      work_(system),
      statics_(system, work_),
      recorder_(system, &patience_),
      timetable_(system, work_),
      n_(static_cast<std::size_t>(layout_.coordinates)) {
  const auto relations = static_cast<std::size_t>(layout_.relations);
  const auto tangents = static_cast<std::size_t>(layout_.tangents);
  for (QuasiStaticPoint* point : {&here_, &next_, &middle_, &scratch_}) {
    for (std::vector<double>* values : {&point->q, &point->q_rate}) values->resize(n_);
    for (std::vector<double>* values : {&point->normal, &point->normal_rate}) values->resize(relations);
    for (std::vector<double>* values : {&point->tangent, &point->tangent_rate}) values->resize(tangents);
  }
  no_border_.assign(n_, 0.0);
  works_.assign(static_cast<std::size_t>(layout_.integrated() + 2 * layout_.audits), 0.0);
  largest_.resize(n_);
  excluded_.resize(relations);
  leg_work_.resize(relations);
  velocity_.resize(n_);
  flow_normal_.resize(relations);
  flow_tangent_.resize(tangents);
  stages_.assign(7, std::vector<double>(n_));
  timetable_.use(&patience_);
}

EngineResult QuasiStaticEngine::Run::go(const EngineOptions& options, Sink& sink, const Moment* resume) {
  options_ = options;
  options_.observer = nullptr;  // see run() of the engine
  result_ = {};
  recorder_.begin(options_, sink);
  patience_.start(options.abandon);
  bool told = false;
  try {
    begin(resume);
    follow();
    told = true;
  } catch (const Abandoned&) {
    static_cast<void>(fail(Reason::interrupted, "interrupted"));
    result_.whole = false;
  }
  if (told) finish();
  return std::move(result_);
}

bool QuasiStaticEngine::Run::fail(Reason reason, const std::string& message, const std::string& where) {
  if (result_.status.reason == Reason::done) result_.status = {reason, here_.t, where, message};
  return false;
}

bool QuasiStaticEngine::Run::cancelled() {
  if (options_.cancel == nullptr || !options_.cancel->load(std::memory_order_relaxed)) return false;
  static_cast<void>(fail(Reason::interrupted, "interrupted"));
  return true;
}

void QuasiStaticEngine::Run::begin(const Moment* resume) {
  std::copy(system_.start().begin(), system_.start().end(), work_.in.begin());
  timetable_.restart();
  resumed_ = resume != nullptr && resume->started;
  watch_values_.assign(system_.watches().size(), 0.0);
  arc_step_ = 0;
  watch_stops_ = instant_open_ = false;
  fired_.clear();
  std::fill(excluded_.begin(), excluded_.end(), Option{});
  std::fill(works_.begin(), works_.end(), 0.0);
  for (QuasiStaticPoint* point : {&here_, &next_, &middle_, &scratch_}) {
    for (std::vector<double>* values :
         {&point->q_rate, &point->normal, &point->normal_rate, &point->tangent, &point->tangent_rate})
      std::fill(values->begin(), values->end(), 0.0);
  }
  const std::vector<double>& start = system_.start();
  start_.assign(start.begin() + layout_.q(), start.begin() + layout_.q() + layout_.coordinates);
  std::fill(largest_.begin(), largest_.end(), 0.0);
  mode_ = {};
  mode_.normal.resize(static_cast<std::size_t>(layout_.relations), NormalStatus::none);
  mode_.pressed.resize(static_cast<std::size_t>(layout_.relations), 0);
  mode_.tangent.resize(static_cast<std::size_t>(layout_.tangents), TangentStatus::free);
  mode_.side.assign(start.begin() + layout_.side(), start.begin() + layout_.side() + layout_.switches);
  mode_.surface.resize(static_cast<std::size_t>(layout_.switches), AtSurface::away);
  watch_counts_.assign(system_.watches().size(), 0);
  here_.q = start_;
  here_.t = options_.from;
  here_.t_rate = 1;
  if (resumed_) {
    here_.t = resume->time;
    std::copy_n(resume->y.begin(), n_, here_.q.begin());
    mode_ = resume->mode;
    std::copy(resume->dissipated.begin(), resume->dissipated.end(), works_.begin() + layout_.integrated());
    std::copy(resume->supplied.begin(), resume->supplied.end(),
              works_.begin() + layout_.integrated() + layout_.audits);
    std::copy_n(resume->scales.begin(), n_, largest_.begin());
    watch_counts_ = resume->watch_counts;
    recorder_.take_up(resume->events);
    recorder_.samples.pass(here_.t);
    arc_step_ = resume->step;
    result_.start_mode = resume->mode;
    work_.in[layout_.initial_energy()] = resume->initial_energy;
    return;
  }
  timetable_.sides_after(here_.t, mode_.side);
  statics_.set_mode(mode_);
  if (!statics_.place(here_.t, here_.q)) {
    static_cast<void>(fail(Reason::not_finite, "a force is not finite at the start"));
    return;
  }
  double size = 0;
  for (const double value : here_.q) size = std::max(size, std::abs(value));
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.kind == model::RelationKind::joint || !relation.has_normal) continue;
    if (relation.kind == model::RelationKind::constraint) {
      mode_.normal[r] = NormalStatus::held;
      continue;
    }
    mode_.normal[r] = statics_.gap(r) > 1e-12 * size ? NormalStatus::open : NormalStatus::closed;
  }
  work_.in[layout_.initial_energy()] = energy_of(here_.q);
}

void QuasiStaticEngine::Run::follow() {
  if (result_.status.reason != Reason::done) return;
  const bool at_start = !resumed_;
  statics_.set_mode(mode_);
  if (!statics_.place(here_.t, here_.q)) {
    static_cast<void>(fail(Reason::not_finite, "a force is not finite at the start"));
    return;
  }
  statics_.stick_here(here_.t, here_.q);
  // Reactions are not part of a moment: where a run goes on they are found as at a start.
  if (at_start) result_.start_mode = mode_;
  if (!settle(true)) return;
  if (at_start && !instant_open_) result_.start_mode = mode_;
  if (!close_instant()) return;
  constexpr int kMostInstants = 1000;
  double handled_at = here_.t;
  int instants = 0;
  while (here_.t < options_.until && !watch_stops_) {
    if (cancelled()) return;
    for (std::size_t k = 0; k < watch_values_.size(); ++k) {
      publish(here_);
      system_.watches()[k].value.evaluate(work_.in.data(), &watch_values_[k], work_.registers.data());
    }
    const double limit = timetable_.next(here_.t, options_.until);
    const StepEnd end = advance(limit);
    if (end == StepEnd::failed) return;
    ++result_.steps;
    if (end != StepEnd::fold) {
      rows_before(here_, next_);
      if (!at_time(0.5 * (here_.t + next_.t), here_, next_, middle_)) middle_ = next_;
      add_work(here_, middle_, next_);
      const double length = next_.t - here_.t;
      for (std::size_t i = 0; i < n_; ++i)
        largest_[i] = std::max(largest_[i], std::abs(next_.q[i] - start_[i]));
      if (recorder_.loads.follow(mode_, here_.t)) {
        Forces forces(*this, here_, next_);
        recorder_.loads.take_rest(length, forces);
      }
      here_ = next_;
    }
    instants = here_.t > handled_at ? 0 : instants + 1;
    handled_at = here_.t;
    if (instants > kMostInstants) {
      static_cast<void>(fail(Reason::too_many_events, "one event follows the other at this time"));
      return;
    }
    if (end == StepEnd::event || end == StepEnd::fold) {
      if (!handle_fired(end == StepEnd::fold)) return;
    } else if (end == StepEnd::limit && here_.t < options_.until) {
      if (!take_time_switches() || !close_instant()) return;
    }
    if (recorder_.samples.next() <= here_.t) {
      row(RowKind::sample, here_);
      recorder_.samples.advance();
    }
    if (recorder_.events() > options_.max_events) {
      static_cast<void>(
          fail(Reason::too_many_events, "more than " + std::to_string(options_.max_events) + " events"));
      return;
    }
    if (recorder_.wants_state(here_.t)) {
      EngineResult so_far = result_;
      save(so_far.end);
      so_far.status = {Reason::interrupted, here_.t, {}, "interrupted"};
      recorder_.fill(so_far);
      recorder_.state(so_far);
    }
  }
}

/// What guards have ended: statuses at their limits, then what comes next.
bool QuasiStaticEngine::Run::handle_fired(bool fold) {
  open_instant(mode_);
  bool decide = fold;
  for (const Fired& one : fired_) {
    if (one.what == Fired::What::watch) {
      const model::WatchInfo& watch = system_.watches()[static_cast<std::size_t>(one.place)];
      double value = 0;
      publish(here_);
      watch.value.evaluate(work_.in.data(), &value, work_.registers.data());
      watch_values_[one.place] = value;
      if (watch.direction != 0 && watch.direction * value < 0) continue;
      add_event(EventKind::watch, one.place, value > 0 ? Word::up : Word::down);
      ++watch_counts_[one.place];
      watch_stops_ = watch_stops_ || (watch.stop > 0 && watch_counts_[one.place] >= watch.stop);
      continue;
    }
    decide = true;
    const model::Relation& relation = system_.relations()[one.place];
    const int j = relation.tangents > 0 ? relation.first_tangent : -1;
    switch (one.what) {
      case Fired::What::gap:
        mode_.normal[one.place] = NormalStatus::closed;  // without reaction: any status may follow
        before_instant_.normal[one.place] = NormalStatus::open;
        excluded_[one.place] = {NormalStatus::open, TangentStatus::free};
        break;
      case Fired::What::reaction:
        excluded_[one.place] = {mode_.normal[one.place], j >= 0 ? mode_.tangent[j] : TangentStatus::free};
        here_.normal[one.place] = 0;
        if (j >= 0) here_.tangent[j] = 0;
        break;
      case Fired::What::cone: {
        const double limit = statics_.limit(one.place, j, here_.normal);
        here_.tangent[j] = here_.tangent[j] > 0 ? limit : -limit;
        excluded_[one.place] = {mode_.normal[one.place], TangentStatus::stick};
        break;
      }
      case Fired::What::slip:
        excluded_[one.place] = {mode_.normal[one.place], mode_.tangent[j]};
        break;
      case Fired::What::watch:
        break;
    }
  }
  if (decide) {
    arc_step_ = 0;
    const QuasiStaticPoint direction = here_;
    if (fold && !jump(&direction)) return false;
    if (!settle(false)) return false;
  }
  fired_.clear();
  return close_instant();
}

/// Switches of time that change here: the load may jump.
bool QuasiStaticEngine::Run::take_time_switches() {
  changed_.clear();
  std::vector<double> side = mode_.side;
  timetable_.pass(here_.t, side, changed_);
  if (changed_.empty()) {
    // A knot of a table: another piece of the load begins.
    arc_step_ = 0;
    return settle(false);
  }
  open_instant(mode_);
  mode_.side = side;
  if (options_.list_switches) {
    for (const int k : changed_) {
      if (!system_.switches()[k].two_sided()) continue;
      add_event(EventKind::switch_side, k, side[k] > 0 ? Word::above : Word::below);
    }
  }
  arc_step_ = 0;
  statics_.set_mode(mode_);
  return settle(true);
}

void QuasiStaticEngine::Run::open_instant(const Mode& before) {
  if (instant_open_) return;
  instant_open_ = true;
  before_instant_ = before;
  if (!recorder_.event_rows()) return;
  const Mode now = mode_;
  mode_ = before;
  row(RowKind::before, here_);
  mode_ = now;
}

bool QuasiStaticEngine::Run::close_instant() {
  if (!instant_open_) return true;
  instant_open_ = false;
  for (int r = 0; r < layout_.relations; ++r) {
    if (mode_.normal[r] != NormalStatus::closed) recorder_.close(r, here_.t);
  }
  recorder_.loads.note(mode_, here_.t, 0, here_.normal);
  publish(here_);
  recorder_.report_pending(here_.t, 0, mode_);
  recorder_.tell(work_);
  RowKind kind{};
  if (recorder_.row_after(here_.t, kind)) row(kind, here_);
  recorder_.samples.pass(here_.t);
  return true;
}

/// Events for statuses that differ from those of `before`.
void QuasiStaticEngine::Run::list_changes(const Mode& before) {
  if (!instant_open_) return;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    const bool was_open =
        before_instant_.normal[r] == NormalStatus::open && before.normal[r] != NormalStatus::open;
    const NormalStatus old = was_open ? NormalStatus::open : before.normal[r];
    before_instant_.normal[r] = mode_.normal[r];
    const TangentStatus now =
        relation.tangents > 0 ? mode_.tangent[relation.first_tangent] : TangentStatus::free;
    const TangentStatus then =
        relation.tangents > 0 ? before.tangent[relation.first_tangent] : TangentStatus::free;
    const Word word = now == TangentStatus::slip_plus    ? Word::slip_plus
                      : now == TangentStatus::slip_minus ? Word::slip_minus
                      : now == TangentStatus::stick      ? Word::stick
                                                         : Word::none;
    if (old == NormalStatus::open && mode_.normal[r] == NormalStatus::closed) {
      add_event(EventKind::contact, r, word);
    } else if (old == NormalStatus::closed && mode_.normal[r] == NormalStatus::open) {
      add_event(EventKind::lift_off, r, Word::none);
    } else if (then != now && then != TangentStatus::free && now == TangentStatus::stick) {
      add_event(EventKind::stick, r, Word::none);
    } else if (then != now && direction(now) != 0) {
      add_event(direction(then) != 0 ? EventKind::reversal : EventKind::slip, r,
                now == TangentStatus::slip_plus ? Word::plus : Word::minus);
    }
  }
}

void QuasiStaticEngine::Run::add_event(EventKind kind, int place, Word word) {
  Event event;
  event.kind = kind;
  event.place = place;
  event.words[0] = word;
  event.energy_before = event.energy_after = energy_of(here_.q);
  recorder_.pending().push_back(event);
}

double QuasiStaticEngine::Run::energy_of(const std::vector<double>& q) {
  static_cast<void>(statics_.place(here_.t, q));
  const double energy = recorder_.residuals.energy(work_);
  recorder_.residuals.note_energy(work_);
  return energy;
}

/// The point into the inputs, with the rates of the path as velocities.
void QuasiStaticEngine::Run::publish(const QuasiStaticPoint& point) {
  static_cast<void>(statics_.place(point.t, point.q));
  std::vector<double>& in = work_.in;
  for (std::size_t i = 0; i < n_; ++i) {
    in[layout_.v() + i] = point.t_rate > 0 ? point.q_rate[i] / point.t_rate : 0;
    in[layout_.acceleration() + i] = 0;
  }
  std::copy(point.normal.begin(), point.normal.end(), in.begin() + layout_.normal());
  std::copy(point.tangent.begin(), point.tangent.end(), in.begin() + layout_.tangent());
  recorder_.load_works(works_.data(), work_);
}

void QuasiStaticEngine::Run::row(RowKind kind, const QuasiStaticPoint& point) {
  publish(point);
  recorder_.loads.note_peaks(mode_, point.normal);
  recorder_.row(kind, mode_, work_);
}

/// Powers at a point of the path, by audit element: dissipated, then supplied.
void QuasiStaticEngine::Run::powers_at(const QuasiStaticPoint& point, std::vector<double>& out) {
  const auto audits = static_cast<std::size_t>(layout_.audits);
  out.assign(2 * audits, 0.0);
  publish(point);
  std::vector<double> powers(audits + 1, 0.0);
  system_.powers(work_, powers.data());
  for (std::size_t e = 0; e < audits; ++e) {
    const model::AuditInfo& info = system_.audits()[e];
    if (info.power < 0) continue;
    out[info.dissipative ? e : audits + e] += (info.dissipative ? -1 : 1) * powers[info.power];
  }
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.audit < 0) continue;
    const model::RelationRows& rows = statics_.rows(r);
    out[audits + relation.audit] -= point.normal[r] * rows.gap_time;
    for (int j = 0; j < relation.tangents; ++j) {
      const double force = point.tangent[relation.first_tangent + j];
      const double slip =
          statics_.slip(r, relation.first_tangent + j, point.q_rate, point.t_rate) / point.t_rate;
      out[relation.audit] -= force * slip;
      out[audits + relation.audit] -= force * rows.tangent[j].drive;
    }
  }
}

/// Works along a step, by Simpson's rule.
void QuasiStaticEngine::Run::add_work(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                      const QuasiStaticPoint& to) {
  const double length = to.t - from.t;
  if (!(length > 0) || layout_.audits == 0) return;
  std::vector<double> powers;
  const std::pair<const QuasiStaticPoint*, double> nodes[] = {
      {&from, 1.0 / 6}, {&middle, 4.0 / 6}, {&to, 1.0 / 6}};
  for (const auto& [point, weight] : nodes) {
    powers_at(*point, powers);
    for (std::size_t e = 0; e < powers.size(); ++e)
      works_[static_cast<std::size_t>(layout_.integrated()) + e] += weight * length * powers[e];
  }
}

void QuasiStaticEngine::Run::save(Moment& out) const {
  out = {};
  out.time = here_.t;
  out.y.assign(static_cast<std::size_t>(layout_.integrated()), 0.0);
  std::copy(here_.q.begin(), here_.q.end(), out.y.begin());
  for (std::size_t i = 0; i < n_; ++i) out.y[n_ + i] = here_.t_rate > 0 ? here_.q_rate[i] / here_.t_rate : 0;
  const auto works = works_.begin() + layout_.integrated();
  out.dissipated.assign(works, works + layout_.audits);
  out.supplied.assign(works + layout_.audits, works_.end());
  out.initial_energy = work_.in[layout_.initial_energy()];
  out.mode = mode_;
  out.step = arc_step_;
  out.scales.assign(static_cast<std::size_t>(layout_.integrated()), 0.0);
  std::copy(largest_.begin(), largest_.end(), out.scales.begin());
  out.events = recorder_.events();
  out.watch_counts = watch_counts_;
  out.started = true;
}

void QuasiStaticEngine::Run::finish() {
  // What happened at an instant that was not got over is listed.
  if (instant_open_) static_cast<void>(close_instant());
  save(result_.end);
  static_cast<void>(energy_of(here_.q));
  result_.energy_imbalance = recorder_.residuals.imbalance(work_, works_.data());
  result_.evaluations = statics_.evaluations();
  recorder_.fill(result_);
  for (int r = 0; r < layout_.relations && result_.status.reason != Reason::interrupted; ++r)
    recorder_.close(r, here_.t);
  if (result_.status.reason == Reason::done) {
    result_.status.time = here_.t;
    if (watch_stops_) result_.status.reason = Reason::watch;
  }
}

}  // namespace judder::engines
