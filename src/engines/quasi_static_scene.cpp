#include "quasi_static_scene.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

QuasiStaticScene::QuasiStaticScene(const model::System& model)
    : system(model),
      layout(model.layout()),
      work(model),
      statics(model, work),
      n(static_cast<std::size_t>(layout.coordinates)) {
  here = point();
  no_border.assign(n, 0.0);
  largest.resize(n);
  excluded.resize(static_cast<std::size_t>(layout.relations));
  fired.reserve(static_cast<std::size_t>(2 * layout.relations) + model.watches().size());
}

QuasiStaticPoint QuasiStaticScene::point() const {
  QuasiStaticPoint out;
  for (std::vector<double>* values : {&out.q, &out.q_rate}) values->resize(n);
  for (std::vector<double>* values : {&out.normal, &out.normal_rate, &out.gap, &out.gap_rate})
    values->resize(static_cast<std::size_t>(layout.relations));
  for (std::vector<double>* values : {&out.tangent, &out.tangent_rate})
    values->resize(static_cast<std::size_t>(layout.tangents));
  return out;
}

void QuasiStaticScene::restart(const EngineOptions& how) {
  options = how;
  status = {};
  const std::vector<double>& first = system.start();
  std::copy(first.begin(), first.end(), work.in.begin());
  start.assign(first.begin() + layout.q(), first.begin() + layout.q() + layout.coordinates);
  std::fill(largest.begin(), largest.end(), 0.0);
  fired.clear();
  forget_excluded();
  mode = {};
  mode.normal.resize(static_cast<std::size_t>(layout.relations), NormalStatus::none);
  mode.pressed.resize(static_cast<std::size_t>(layout.relations), 0);
  mode.tangent.resize(static_cast<std::size_t>(layout.tangents), TangentStatus::free);
  mode.side.assign(first.begin() + layout.side(), first.begin() + layout.side() + layout.switches);
  mode.surface.resize(static_cast<std::size_t>(layout.switches), AtSurface::away);
  here = point();
  here.q = start;
  here.t = options.from;
  here.t_rate = 1;
}

void QuasiStaticScene::start_at(const Moment& moment) {
  load_start(system, &moment, work);
  static_cast<void>(system.begin(work));  // whether it can has been asked (moment_problem)
  std::copy_n(work.in.begin() + layout.q(), layout.coordinates, start.begin());
  std::copy_n(work.in.begin() + layout.side(), layout.switches, mode.side.begin());
  here.q = start;
}

double QuasiStaticScene::reach() const {
  double size = 0;
  for (std::size_t i = 0; i < n; ++i) size = std::max({size, largest[i], std::abs(here.q[i])});
  if (size > 0) return size;
  // Forces over stiffness tell only where nothing else does: near a fold there is no stiffness.
  size = statics.stiffness() > 0 ? statics.force_size() / statics.stiffness() : 0;
  return size > 0 ? size : 1;
}

double QuasiStaticScene::force_scale() const {
  double size = 0;
  for (std::size_t i = 0; i < n; ++i) size = std::max({size, largest[i], std::abs(here.q[i])});
  return std::max(statics.force_size(), statics.stiffness() * size);
}

double QuasiStaticScene::moved(const QuasiStaticPoint& point) const {
  double out = 0;
  for (std::size_t i = 0; i < n; ++i) out = std::max({out, largest[i], std::abs(point.q[i] - start[i])});
  return out;
}

bool QuasiStaticScene::fail(Reason reason, const std::string& message) {
  if (status.reason == Reason::done) status = {reason, here.t, {}, message};
  return false;
}

bool QuasiStaticScene::cancelled() {
  if (options.cancel == nullptr || !options.cancel->load(std::memory_order_relaxed)) return false;
  static_cast<void>(fail(Reason::interrupted, "interrupted"));
  return true;
}

void QuasiStaticScene::set_mode(const Mode& next) {
  mode = next;
  statics.set_mode(mode);
}

void QuasiStaticScene::forget_excluded() { std::fill(excluded.begin(), excluded.end(), QuasiStaticOption{}); }

bool QuasiStaticScene::excludes(int relation, const QuasiStaticOption& option) const {
  const QuasiStaticOption& out = excluded[relation];
  if (out.normal == NormalStatus::none && out.tangent == TangentStatus::free) return false;
  return out.normal == option.normal && out.tangent == option.tangent;
}

}  // namespace judder::engines
