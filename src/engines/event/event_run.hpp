// One run of an engine that goes from event to event. It does two things in turn: it advances to the next event (advance.hpp), and it handles it (instant.hpp).
//
// The event-driven engine advances by steps and looks for zeros on them; the exact engine by closed forms. Everything else, from the first decision to the
// last row, is one code for both. Memory is kept between runs of one system.
#pragma once

#include <memory>

#include "engines/event/advance.hpp"
#include "engines/event/event_parts.hpp"
#include "judder/engines/engine.hpp"

namespace judder::engines {

class EventRun {
 public:
  using Maker = std::unique_ptr<Advance> (*)(EventParts& parts);
  EventRun(const model::System& system, Maker make);

  [[nodiscard]] EngineResult go(const EngineOptions& options, Sink& sink, const Moment* resume);

 private:
  EngineResult give_up(const Moment* resume);
  void follow(const Moment* resume);
  void begin(const Moment* resume);
  void start_from_model();
  void hand_state();
  void finish();

  EventParts parts_;
  std::unique_ptr<Advance> way_;
  bool handed_ = false;  ///< the sink has a state of this run
};

}  // namespace judder::engines
