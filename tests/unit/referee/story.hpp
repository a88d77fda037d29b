// A run as it is told to the referee, kept so that a test can change it before it is judged.
#pragma once

#include <string>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/referee/referee.hpp"
#include "judder/simulate/simulate.hpp"
#include "run_model.hpp"

namespace judder {

struct Told {
  bool impact = false;  ///< otherwise a point
  referee::Kind kind = referee::Kind::inside;
  bool resolved = true;
  bool tail = false;
  double time = 0;
  std::vector<double> q, v, z, side, acceleration, rate, normal_force, tangential_force, dissipated, supplied;
  std::vector<double> before, normal_impulse, tangential_impulse;
  std::vector<referee::Surface> surface;
  std::vector<referee::Normal> normal;
  std::vector<referee::Tangent> tangent;
};

using Story = std::vector<Told>;

class Recorder : public engines::Observer {
 public:
  explicit Recorder(const model::System& system) : layout_(system.layout()) {}
  Story story;

  void point(const engines::ToldPoint& told) override {
    Told out;
    out.kind = static_cast<referee::Kind>(told.kind);
    out.resolved = told.resolved;
    state(told.in, out);
    copy(told.acceleration, out.acceleration);
    copy(told.rate, out.rate);
    copy(told.normal, out.normal_force);
    copy(told.tangent, out.tangential_force);
    copy(told.dissipated, out.dissipated);
    copy(told.supplied, out.supplied);
    for (std::size_t k = 0; k < told.mode->surface.size(); ++k) {
      out.surface.push_back(told.mode->slides(k)                                ? referee::Surface::slides
                            : told.mode->surface[k] == engines::AtSurface::held ? referee::Surface::held
                                                                                : referee::Surface::away);
    }
    for (const engines::NormalStatus status : told.mode->normal)
      out.normal.push_back(static_cast<referee::Normal>(status));
    for (const engines::TangentStatus status : told.mode->tangent)
      out.tangent.push_back(static_cast<referee::Tangent>(status));
    story.push_back(std::move(out));
  }

  void impulses(const engines::ToldImpulses& told) override {
    Told out;
    out.impact = true;
    out.tail = told.tail;
    state(told.in, out);
    copy(told.before, out.before);
    copy(told.normal, out.normal_impulse);
    copy(told.tangent, out.tangential_impulse);
    story.push_back(std::move(out));
  }

 private:
  static void copy(std::span<const double> from, std::vector<double>& to) {
    to.assign(from.begin(), from.end());
  }
  void state(std::span<const double> in, Told& out) const {
    const std::size_t n = layout_.coordinates;
    out.time = in[0];
    copy(in.subspan(layout_.q(), n), out.q);
    copy(in.subspan(layout_.v(), n), out.v);
    copy(in.subspan(layout_.z(), layout_.states), out.z);
    copy(in.subspan(layout_.side(), layout_.switches), out.side);
  }
  const model::Layout& layout_;
};

inline Story record(const TestModel& model, const std::string& engine = "event") {
  Recorder recorder(model.system);
  engines::EngineOptions options = model.options;
  options.referee = false;
  options.observer = &recorder;
  simulate::NullSink sink;
  const engines::EngineResult result = simulate::run(model.system, engine, options, sink);
  if (!result.status.ok()) throw std::runtime_error(result.status.message);
  return std::move(recorder.story);
}

inline Verdict judge(const TestModel& model, const Story& story) {
  referee::Options options;
  options.tolerance = model.options.tolerance;
  referee::Referee referee(model.system, options);
  for (const Told& told : story) {
    if (told.impact) {
      referee.impulse({told.time, told.q, told.z, told.side, told.before, told.v, told.normal_impulse,
                       told.tangential_impulse, told.tail});
      continue;
    }
    referee.point({told.kind, told.time, told.q, told.v, told.z, told.side, told.surface, told.normal,
                   told.tangent, told.acceleration, told.rate, told.normal_force, told.tangential_force,
                   told.dissipated, told.supplied, told.resolved});
  }
  return referee.verdict();
}

/// "side at switch 1 (…), t = 0.3; …": for messages of tests.
inline std::string words(const Verdict& verdict) {
  std::string out;
  for (const Finding& finding : verdict.findings)
    out += finding.place + ": " + simulate::finding_text(finding) + "\n";
  return out;
}

}  // namespace judder
