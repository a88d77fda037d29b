#include "witness.hpp"

namespace judder::simulate {
namespace {

referee::Normal in_words(engines::NormalStatus status) {
  switch (status) {
    case engines::NormalStatus::none:
      return referee::Normal::none;
    case engines::NormalStatus::open:
      return referee::Normal::open;
    case engines::NormalStatus::closed:
      return referee::Normal::closed;
    case engines::NormalStatus::held:
      return referee::Normal::held;
  }
  return referee::Normal::none;
}

referee::Tangent in_words(engines::TangentStatus status) {
  switch (status) {
    case engines::TangentStatus::free:
      return referee::Tangent::free;
    case engines::TangentStatus::stick:
      return referee::Tangent::stick;
    case engines::TangentStatus::slip_plus:
      return referee::Tangent::plus;
    case engines::TangentStatus::slip_minus:
      return referee::Tangent::minus;
    case engines::TangentStatus::smooth:
      return referee::Tangent::smooth;
  }
  return referee::Tangent::free;
}

referee::Surface in_words(engines::AtSurface surface) {
  switch (surface) {
    case engines::AtSurface::away:
      return referee::Surface::away;
    case engines::AtSurface::slides:
    case engines::AtSurface::rests:
      return referee::Surface::slides;
    case engines::AtSurface::held:
      return referee::Surface::held;
  }
  return referee::Surface::away;
}

referee::Options options_for(const engines::EngineOptions& options, const engines::Moment* resume) {
  referee::Options out;
  out.tolerance = options.tolerance;
  out.integrals = options.step == 0;
  if (resume != nullptr && resume->started) out.scales = resume->scales;
  return out;
}

}  // namespace

Witness::Witness(const model::System& system, const engines::EngineOptions& options,
                 const engines::Moment* resume)
    : layout_(system.layout()),
      next_(options.observer),
      referee_(system, options_for(options, resume)),
      normal_(layout_.relations),
      tangent_(layout_.tangents),
      surface_(layout_.switches) {}

void Witness::restart(const engines::EngineOptions& options) {
  next_ = options.observer;
  referee_.restart(options_for(options, nullptr));
}

void Witness::point(const engines::ToldPoint& told) {
  const std::size_t n = layout_.coordinates;
  referee::Point point;
  point.kind = told.kind == engines::Telling::inside ? referee::Kind::inside
               : told.kind == engines::Telling::end  ? referee::Kind::end
                                                     : referee::Kind::after;
  point.time = told.in[0];
  point.q = told.in.subspan(layout_.q(), n);
  point.v = told.in.subspan(layout_.v(), n);
  point.z = told.in.subspan(layout_.z(), layout_.states);
  point.side = told.in.subspan(layout_.side(), layout_.switches);
  for (std::size_t k = 0; k < surface_.size(); ++k) surface_[k] = in_words(told.mode->surface[k]);
  point.surface = surface_;
  for (std::size_t r = 0; r < normal_.size(); ++r) normal_[r] = in_words(told.mode->normal[r]);
  for (std::size_t j = 0; j < tangent_.size(); ++j) tangent_[j] = in_words(told.mode->tangent[j]);
  point.normal = normal_;
  point.tangent = tangent_;
  point.acceleration = told.acceleration;
  point.rate = told.rate;
  point.normal_force = told.normal;
  point.tangential_force = told.tangent;
  point.dissipated = told.dissipated;
  point.supplied = told.supplied;
  point.resolved = told.resolved;
  point.unique = told.unique;
  referee_.point(point);
  if (next_ != nullptr) next_->point(told);
}

void Witness::impulses(const engines::ToldImpulses& told) {
  const std::size_t n = layout_.coordinates;
  referee::Impulse impulse;
  impulse.time = told.in[0];
  impulse.q = told.in.subspan(layout_.q(), n);
  impulse.before = told.before;
  impulse.v = told.in.subspan(layout_.v(), n);
  impulse.z = told.in.subspan(layout_.z(), layout_.states);
  impulse.side = told.in.subspan(layout_.side(), layout_.switches);
  impulse.normal = told.normal;
  impulse.tangential = told.tangent;
  impulse.tail = told.tail;
  referee_.impulse(impulse);
  if (next_ != nullptr) next_->impulses(told);
}

bool Witness::asks_inside() const {
  return referee_.asks_inside() || (next_ != nullptr && next_->asks_inside());
}

void Witness::event(const engines::Event& event) {
  if (next_ != nullptr) next_->event(event);
}

}  // namespace judder::simulate
