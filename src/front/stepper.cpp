#include <algorithm>
#include <stdexcept>

#include "front/parts.hpp"

namespace judder {

struct Stepper::Parts {
  Parts(const Model& asked, const RunOptions& given)
      : chosen(asked, asked.parts(), given),
        system(chosen.system != nullptr ? *chosen.system : asked.system()),
        columns(asked.columns()),
        options(given),
        keeper(system, options) {
    keeper.keep_rows = false;
    keeper.samples_only = true;
  }

  Chosen chosen;
  const model::System& system;
  const std::vector<std::string>& columns;
  RunOptions options;
  Keeper keeper;
  engines::EngineOptions how;  ///< of the whole run
  std::unique_ptr<simulate::Legs> legs;
  engines::EngineResult last;
  bool begun = false;
  bool over = false;
  bool moving = false;  ///< inside advance_to(), where observers are called
};

Stepper::Stepper(const Model& model, const RunOptions& options)
    : parts_(std::make_unique<Parts>(model, options)) {
  Parts& parts = *parts_;
  const model::RunOptions& own = parts.chosen.run;
  parts.how = engine_options(own, options);
  parts.how.samples = 2;
  parts.how.every = 0;
  parts.how.event_rows = true;  // a run that ends at an event has its row there
  parts.how.cancel = &parts.keeper.stop();
  parts.last.status.time = parts.how.from;
  if (parts.chosen.system == nullptr) {
    parts.last.status.reason = Reason::unsupported;
    parts.last.status.message = parts.chosen.problem;
    parts.over = true;
    return;
  }
  parts.legs = std::make_unique<simulate::Legs>(parts.system, engine_name(own, options), parts.how);
  advance_to(parts.how.from);  // the row at the start
}

Stepper::~Stepper() = default;
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;

const Stepper::Parts& Stepper::parts() const {
  if (!parts_) throw std::logic_error("this stepper was moved away: there is nothing left in it");
  return *parts_;
}

bool Stepper::advance_to(double time) {
  static_cast<void>(this->parts());
  Parts& parts = *parts_;
  if (parts.moving) throw std::logic_error("advance_to() was called by an observer of the same stepper");
  parts.keeper.events.clear();
  if (parts.over || (parts.begun && !(time > this->time()))) return false;
  engines::EngineOptions leg = parts.how;
  if (parts.begun) leg.from = parts.last.end.time;
  leg.until = std::min(time, parts.how.until);
  const engines::Moment from = parts.last.end;
  parts.moving = true;
  try {
    parts.last = parts.legs->run(leg, parts.keeper, parts.begun ? &from : nullptr);
  } catch (...) {  // of an observer: what has been told cannot be told again
    parts.moving = false;
    parts.over = true;
    parts.last.status.reason = Reason::interrupted;
    parts.last.status.message = "an observer has thrown";
    throw;
  }
  parts.moving = false;
  parts.begun = true;
  parts.over = parts.last.status.reason != Reason::done || parts.last.end.time >= parts.how.until;
  if (parts.over) parts.legs->judge(parts.last);
  return parts.last.status.ok();
}

double Stepper::time() const { return parts().begun ? parts().last.end.time : parts().how.from; }
bool Stepper::over() const { return parts().over; }
const Status& Stepper::status() const { return parts().last.status; }
const std::vector<RunEvent>& Stepper::events() const { return parts().keeper.events; }
Row Stepper::row() const { return Row(parts().keeper.cells); }

double Stepper::value(std::string_view column) const {
  const std::size_t number = column_number(parts().columns, column);
  if (parts().keeper.cells.empty())
    throw std::out_of_range("the run has no rows: " + parts().last.status.message);
  return parts().keeper.cells[number];
}

Verdict Stepper::verdict() const {
  engines::EngineResult so_far;
  if (parts().legs) parts().legs->judge(so_far);
  return so_far.verdict;
}

}  // namespace judder
