#include "engines/glide.hpp"

#include <algorithm>
#include <cmath>

namespace judder::engines {

GlideEngine::GlideEngine(const model::System& system) : system_(system), work_(system), recorder_(system) {}

std::string GlideEngine::unsupported(const model::System& system) {
  const model::Layout& layout = system.layout();
  if (layout.relations > 0) return "needs a model without contacts, joints and constraints";
  if (layout.switches > 0) return "needs forces without jumps and kinks";
  return layout.states > 0 ? "needs a model without states" : "";
}

bool GlideEngine::step(const std::vector<double>& from, double h) {
  if (!system_.motion(work_)) return false;
  system_.solve_mass(work_, work_.force.data());
  const model::Layout& layout = system_.layout();
  const auto n = static_cast<std::size_t>(layout.coordinates);
  double* const in = work_.in.data();
  for (std::size_t i = 0; i < n; ++i) {
    in[layout.q() + i] = from[i] + h * in[layout.v() + i];
    in[layout.v() + i] = from[n + i] + h * work_.force[i];
  }
  return true;
}

EngineResult GlideEngine::run(const EngineOptions& options, Sink& sink, const Moment* resume) {
  EngineResult result;
  const model::Layout& layout = system_.layout();
  bool middle = true;
  for (const model::RunOptions::EngineOption& option : options.own) {
    if (option.engine == "glide" && option.key == "order") middle = option.text == "2";
  }
  if (resume != nullptr && resume->started) {
    result.status = {Reason::unsupported, options.from, "", "glide cannot go on from a state"};
    return result;
  }
  load_start(system_, resume, work_);
  recorder_.begin(options, sink);
  const double* const state = work_.in.data() + layout.q();
  std::vector<double> from(static_cast<std::size_t>(layout.integrated()));
  const double longest = options.step > 0 ? options.step : (options.until - options.from) / 1000;
  double t = options.from;
  while (result.status.ok()) {
    // Steps of equal length to the next row.
    const double to = std::min(recorder_.samples.next(), options.until);
    const double steps = std::ceil((to - t) / longest - 1e-9);
    const double h = (to - t) / steps;
    for (double k = 0; k < steps && result.status.ok(); ++k, ++result.steps) {
      std::copy_n(state, from.size(), from.begin());
      work_.in[0] = t + k * h;
      bool good = !middle || step(from, 0.5 * h);
      if (middle) work_.in[0] += 0.5 * h;
      good = good && step(from, h);
      if (!good)
        result.status = {Reason::singular_mass, work_.in[0], "", "the mass matrix cannot be factored"};
    }
    t = work_.in[0] = to;
    if (recorder_.samples.next() <= t) {
      recorder_.row(RowKind::sample, result.end.mode, work_);
      recorder_.samples.advance();
    }
    if (!(t < options.until)) break;
  }
  result.status.time = t;
  result.end.time = t;
  result.end.y.assign(state, state + layout.integrated());
  result.end.started = true;
  recorder_.fill(result);
  return result;
}

}  // namespace judder::engines
