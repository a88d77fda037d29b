#include "judder/simulate/sinks.hpp"

#include <algorithm>

namespace judder::simulate {

void ManySinks::add(engines::Sink& sink, Steps steps) {
  sinks_.push_back(&sink);
  if (steps == Steps::tell) stepped_.push_back({&sink});
}

void ManySinks::row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) {
  for (engines::Sink* sink : sinks_) sink->row(kind, mode, work);
}

double* ManySinks::state_rows(std::size_t count) {
  return sinks_.size() == 1 ? sinks_.front()->state_rows(count) : nullptr;
}

void ManySinks::event(const engines::Event& event, std::span<const double> state) {
  for (engines::Sink* sink : sinks_) sink->event(event, state);
}

void ManySinks::interval(const engines::Interval& interval) {
  for (engines::Sink* sink : sinks_) sink->interval(interval);
}

void ManySinks::progress(double time) {
  for (const Stepped& stepped : stepped_) stepped.sink->progress(time);
}

bool ManySinks::wants_state() {
  bool any = false;
  for (Stepped& stepped : stepped_) {
    stepped.wants = stepped.sink->wants_state();
    any = any || stepped.wants;
  }
  return any;
}

void ManySinks::state(const engines::EngineResult& so_far) {
  for (Stepped& stepped : stepped_) {
    if (stepped.wants) stepped.sink->state(so_far);
    stepped.wants = false;
  }
}

void ManyObservers::point(const engines::ToldPoint& point) {
  for (engines::Observer* one : observers_) one->point(point);
}

void ManyObservers::impulses(const engines::ToldImpulses& impulses) {
  for (engines::Observer* one : observers_) one->impulses(impulses);
}

void ManyObservers::event(const engines::Event& event) {
  for (engines::Observer* one : observers_) one->event(event);
}

bool ManyObservers::asks_inside() const {
  return std::any_of(observers_.begin(), observers_.end(),
                     [](const auto* one) { return one->asks_inside(); });
}

bool ManyObservers::asks_along() const {
  return std::any_of(observers_.begin(), observers_.end(), [](const auto* one) { return one->asks_along(); });
}

void ManyObservers::along(double from, double to, engines::Along& motion) {
  for (engines::Observer* one : observers_) {
    if (one->asks_along()) one->along(from, to, motion);
  }
}

}  // namespace judder::simulate
