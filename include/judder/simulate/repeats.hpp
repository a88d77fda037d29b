// Many runs of one System, one after the other: the engine, its tables and the referee are kept from one to the next.
//
// A run has the bits of one that begins with everything new; what an engine remembers (closed forms, decisions, tables of modes) follows from the
// equations alone. Between two runs the start of the System may be another one (model::Restart).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "judder/engines/engine.hpp"

namespace judder::simulate {

class Repeats {
 public:
  /// The engine as in simulate::run. The system must live as long.
  Repeats(const model::System& system, std::string_view engine);
  ~Repeats();
  Repeats(Repeats&&) noexcept;
  Repeats& operator=(Repeats&&) noexcept;

  /// Why there is no run at all; empty: there is.
  [[nodiscard]] const std::string& problem() const;
  /// As simulate::run, from the start of the System. The verdict is filled in only where something was found.
  [[nodiscard]] engines::EngineResult run(const engines::EngineOptions& options, engines::Sink& sink);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace judder::simulate
