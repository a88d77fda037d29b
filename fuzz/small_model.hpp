// A small model with a contact, a joint, a state, switches of each kind and a watch, and a sink that ends its runs after some steps: what the fuzzers of states
// go on from.
#pragma once

#include <atomic>
#include <cstdlib>
#include <span>

#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::fuzz {

inline constexpr const char* kModel = R"toml(format = 1
[coordinates]
x = { start = 0.1, velocity = 1 }
y = 0.5
[state]
z = { start = 0, rate = "x - z" }
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "10*y + 20*x^2"
[[force]]
along = "x'"
value = "sign(sin(9*t)) - 0.5*sign(z - 0.02) + floor(3*x)"
[[friction]]
name = "pad"
slip = "x'"
normal = "1"
law = { static = 0.4, dynamic = 0.3 }
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.2
impact = 0.6
[[watch]]
name = "middle"
zero = "x"
[run]
until = 3
)toml";

inline void require(bool promise) {
  if (!promise) std::abort();
}

/// The model, compiled once.
inline const model::Compiled& compiled() {
  static const model::Compiled made = model::compile(io::read_model_text(kModel).spec);
  require(made.system.has_value());
  return made;
}

/// Sets `cancel` when there have been more steps and events than that.
class Short : public simulate::NullSink {
 public:
  explicit Short(long most) : most_(most) {}
  void progress(double) override { count(); }
  void event(const engines::Event&, std::span<const double> /*state*/) override { count(); }
  std::atomic<bool> cancel{false};

 private:
  void count() {
    if (++steps_ > most_) cancel = true;
  }
  long most_;
  long steps_ = 0;
};

}  // namespace judder::fuzz
