#include "testimony.hpp"

#include <algorithm>

namespace judder::engines {

Testimony::Memory::Memory(const model::System& system)
    : work(system),
      motion(system, work),
      sharing(system, work),
      y(motion.all_components()),
      still(motion.all_components()) {
  motion.always_audit(false);
}

Testimony::Testimony(const model::System& system, Patience* patience)
    : system_(system), patience_(patience) {}

void Testimony::listen(Observer* observer) {
  observer_ = observer;
  ready_ = false;
  if (observer == nullptr || memory_) return;
  memory_ = std::make_unique<Memory>(system_);
  memory_->motion.use(patience_);
  memory_->sharing.use(patience_);
}

void Testimony::after(const Mode& mode, double t, const double* y) {
  if (observer_ == nullptr) return;
  ModeMotion& motion = memory_->motion;
  motion.release_pins();
  motion.load(t, y);
  ready_ = motion.set_mode(mode);
  if (!ready_) return;
  if (motion.slides()) motion.recall(motion.acceleration_terms(), mode.side);
  if (motion.redundant()) memory_->sharing.set_mode(mode);
  tell(Telling::after, t, y, true, true);
}

const double* Testimony::projected(double t, const double* y) {
  std::vector<double>& out = memory_->y;
  std::copy_n(y, system_.layout().integrated(), out.begin());
  if (ready_ && memory_->motion.active() > 0) static_cast<void>(memory_->motion.project(t, out.data(), true));
  return out.data();
}

void Testimony::inside(double t, const double* y) {
  if (observer_ == nullptr) return;
  tell(Telling::inside, t, projected(t, y), false, true);
}

const ToldPoint* Testimony::point_at(double t, const double* y) {
  if (!ready_) return nullptr;
  ModeMotion& motion = memory_->motion;
  motion.load(t, projected(t, y));
  if (!motion.evaluate()) return nullptr;
  if (motion.redundant()) memory_->sharing.share(motion);
  fill(along_, Telling::inside, motion, memory_->work);
  return &along_;
}

void Testimony::end(double t, const double* y, bool works, bool resolved) {
  if (observer_ != nullptr) tell(Telling::end, t, y, works, resolved);
}

void Testimony::end(const ModeMotion& motion, const model::Workspace& work, const double* y) {
  if (observer_ != nullptr) hand_over(Telling::end, motion, work, y, true);
}

void Testimony::rest(double from, double to, const double* y) {
  if (observer_ == nullptr) return;
  for (const double theta : kSmooth) inside(from + theta * (to - from), y);
  if (asked_along()) {
    const int width = system_.layout().integrated();
    along(from, to, memory_->still.data(), [&](double, double* out) { std::copy_n(y, width, out); });
  }
  end(to, y);
}

void Testimony::impulses(const ToldImpulses& impulses) {
  if (observer_ != nullptr) observer_->impulses(impulses);
}

void Testimony::event(const Event& event) {
  if (observer_ != nullptr) observer_->event(event);
}

void Testimony::tell(Telling kind, double t, const double* y, bool works, bool resolved) {
  if (!ready_) return;
  ModeMotion& motion = memory_->motion;
  motion.load(t, y);
  if (!motion.evaluate()) return;
  if (motion.redundant()) memory_->sharing.share(motion);
  hand_over(kind, motion, memory_->work, works ? y : nullptr, resolved);
}

void Testimony::fill(ToldPoint& point, Telling kind, const ModeMotion& motion,
                     const model::Workspace& work) const {
  point.kind = kind;
  point.in = work.in;
  point.mode = &motion.mode();
  point.acceleration = motion.acceleration();
  point.rate = work.rate;
  point.normal = motion.normal();
  point.tangent = motion.tangent();
  point.unique = !motion.redundant();
}

void Testimony::hand_over(Telling kind, const ModeMotion& motion, const model::Workspace& work,
                          const double* y, bool resolved) {
  const model::Layout& layout = system_.layout();
  ToldPoint point;
  fill(point, kind, motion, work);
  point.resolved = resolved;
  if (y != nullptr) {
    point.dissipated = {y + layout.integrated(), static_cast<std::size_t>(layout.audits)};
    point.supplied = {y + layout.integrated() + layout.audits, static_cast<std::size_t>(layout.audits)};
  }
  observer_->point(point);
}

}  // namespace judder::engines
