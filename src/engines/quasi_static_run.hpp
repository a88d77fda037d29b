// One run of the quasi-static engine, from event to event. Its parts own what they need: the path in one mode, what comes next at an
// instant, motion at a frozen
// time, and what is told of all this.
#pragma once

#include <vector>

#include "judder/engines/quasi_static.hpp"
#include "quasi_static_decide.hpp"
#include "quasi_static_jump.hpp"
#include "quasi_static_path.hpp"
#include "quasi_static_records.hpp"
#include "quasi_static_scene.hpp"
#include "recorder.hpp"
#include "timetable.hpp"

namespace judder::engines {

struct QuasiStaticEngine::Run {
  explicit Run(const model::System& system);
  [[nodiscard]] EngineResult go(const EngineOptions& options, Sink& sink, const Moment* resume);

 private:
  class Forces;

  void begin(const Moment* resume);
  void take_up(const Moment& moment);
  void start_statuses();
  void follow();
  void take_step();
  [[nodiscard]] bool handle_fired(bool fold);
  void end_status(const QuasiStaticFired& one);
  [[nodiscard]] bool take_time_switches();
  /// Everything that happens at the present time until a path goes on: balance, decisions, jumps.
  [[nodiscard]] bool settle(bool imbalanced);
  void save(Moment& out) const;
  void finish();

  QuasiStaticScene scene_;
  Recorder recorder_;
  Timetable timetable_;
  QuasiStaticRecords records_;
  QuasiStaticDecision decision_;
  QuasiStaticPath path_;
  QuasiStaticJump jump_;
  EngineResult result_;
  QuasiStaticPoint sample_, middle_;
  std::vector<long> watch_counts_;
  std::vector<double> side_;
  std::vector<int> changed_;
  bool resumed_ = false;
  bool watch_stops_ = false;
};

}  // namespace judder::engines
