#include "testimony.hpp"

#include <algorithm>

#include "event_run.hpp"

namespace judder::engines {

Testimony::Testimony(const model::System& system, Patience* patience)
    : system_(system), work_(system), motion_(system, work_), sharing_(system, work_) {
  y_.resize(motion_.all_components());
  motion_.always_audit(false);
  motion_.use(patience);
  sharing_.use(patience);
}

void Testimony::after(const Mode& mode, double t, const double* y, Observer& observer) {
  motion_.release_pins();
  motion_.load(t, y);
  ready_ = motion_.set_mode(mode);
  if (!ready_) return;
  if (motion_.slides()) motion_.recall(motion_.acceleration_terms(), mode.side);
  if (motion_.redundant()) sharing_.set_mode(mode);
  tell(Telling::after, t, y, true, true, observer);
}

void Testimony::inside(double t, const double* y, Observer& observer) {
  std::copy_n(y, system_.layout().integrated(), y_.begin());
  if (ready_ && motion_.active() > 0) static_cast<void>(motion_.project(t, y_.data(), true));
  tell(Telling::inside, t, y_.data(), false, true, observer);
}

void Testimony::end(double t, const double* y, bool works, bool resolved, Observer& observer) {
  tell(Telling::end, t, y, works, resolved, observer);
}

void Testimony::tell(Telling kind, double t, const double* y, bool works, bool resolved, Observer& observer) {
  if (!ready_) return;
  motion_.load(t, y);
  if (!motion_.evaluate()) return;
  if (motion_.redundant()) sharing_.share(motion_);
  hand_over(kind, motion_, work_, system_.layout(), works ? y : nullptr, resolved, observer);
}

void Testimony::end(const ModeMotion& motion, const model::Workspace& work, const model::Layout& layout,
                    const double* y, Observer& observer) {
  hand_over(Telling::end, motion, work, layout, y, true, observer);
}

void Testimony::hand_over(Telling kind, const ModeMotion& motion, const model::Workspace& work,
                          const model::Layout& layout, const double* y, bool resolved, Observer& observer) {
  ToldPoint point;
  point.kind = kind;
  point.in = work.in;
  point.mode = &motion.mode();
  point.acceleration = motion.acceleration();
  point.rate = work.rate;
  point.normal = motion.normal();
  point.tangent = motion.tangent();
  point.resolved = resolved;
  point.unique = !motion.redundant();
  if (y != nullptr) {
    point.dissipated = {y + layout.integrated(), static_cast<std::size_t>(layout.audits)};
    point.supplied = {y + layout.integrated() + layout.audits, static_cast<std::size_t>(layout.audits)};
  }
  observer.point(point);
}

// --- what a run tells ---

void EventEngine::Run::tell_start() {
  if (options_.observer == nullptr) return;
  if (!testimony_) testimony_ = std::make_unique<Testimony>(system_, &patience_);
  tell_after();
}

void EventEngine::Run::tell_after() {
  if (options_.observer != nullptr) testimony_->after(mode_, t_, y_.data(), *options_.observer);
}

void EventEngine::Run::tell_inside(double t1) {
  if (options_.observer == nullptr || !options_.observer->asks_inside()) return;
  if (!stiff_ && !explicit_.prepare_dense(testimony_->motion())) return;
  const double h = t1 - t_;
  for (const double theta : stiff_ ? Testimony::kStiff : Testimony::kSmooth) {
    if (stiff_) {
      radau_.dense(theta, 0, layout_.integrated(), node_y_.data());
    } else {
      explicit_.dense(theta, 0, layout_.integrated(), node_y_.data());
    }
    testimony_->inside(t_ + theta * h, node_y_.data(), *options_.observer);
  }
}

void EventEngine::Run::tell_end(bool resolved) {
  if (options_.observer != nullptr) testimony_->end(t_, y_.data(), true, resolved, *options_.observer);
}

void EventEngine::Run::tell_evaluated_end() {
  const bool evaluated = (guards_.needs_motion() || needs_reactions_) && !motion_.redundant();
  if (!evaluated) {
    tell_end();
  } else if (options_.observer != nullptr) {
    Testimony::end(motion_, work_, layout_, y_.data(), *options_.observer);
  }
}

void EventEngine::Run::tell_rest(double limit) {
  if (options_.observer == nullptr) return;
  for (const double theta : Testimony::kSmooth)
    testimony_->inside(t_ + theta * (limit - t_), y_.data(), *options_.observer);
  testimony_->end(limit, y_.data(), true, true, *options_.observer);
}

void EventEngine::Run::tell_impulses(bool tail) {
  if (options_.observer == nullptr) return;
  options_.observer->impulses(
      {collider_.before(), work_.in, collider_.normal_impulse(), collider_.tangential_impulse(), tail});
}

}  // namespace judder::engines
