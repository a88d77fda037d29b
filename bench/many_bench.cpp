// Many bodies: what one event costs as their number grows, and what it takes to compile and to set up.
//
// The gas: n balls of three masses on a line between two walls, restitution 1, with places and velocities by a rule; one event is the impact of two
// of them. Nothing but those two is touched by it. The chain: n masses on springs, each with a stop of its own. The blocks: n of them, each held by a
// friction of its own, are pulled ever harder and let go one after the other.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gallery.hpp"
#include "judder/io/reader.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

std::string gas(int n) {
  return "format = 1\n[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n", start = "i - 0.5 + 0.3*sin(7*i)", velocity = "sin(i^2) + 0.5*cos(3*i)" }
[energy]
kinetic = "sum(i = 1 to n, (1 + 0.5*mod(i, 3))*x[i]'^2)/2"
[[contact]]
name = "left"
gap = "x[1]"
impact = 1
[[contact]]
name = "right"
gap = "n - x[n]"
impact = 1
[[contact]]
name = "pair"
each = "i = 1 to n - 1"
gap = "x[i+1] - x[i]"
impact = 1
[run]
until = 10
[output]
samples = 2
event_rows = false
)toml";
}

std::string chain(int n) {
  return "format = 1\n[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n", velocity = "sin(i)/10" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2)/2"
potential = "sum(i = 1 to n - 1, 50*(x[i+1] - x[i])^2) + x[1]^2/2"
[[contact]]
name = "stop"
each = "i = 1 to n"
gap = "x[i] + 1"
impact = 0.5
[run]
until = 1
)toml";
}

std::string blocks(int n) {
  return "format = 1\n[parameters]\nn = " + std::to_string(n) + R"toml(
[coordinates]
x = { each = "i = 1 to n" }
[energy]
kinetic = "sum(i = 1 to n, x[i]'^2)/2"
[[force]]
name = "pull"
each = "i = 1 to n"
along = "x[i]'"
value = "t*(1 + i/n)"
[[friction]]
name = "pad"
each = "i = 1 to n"
slip = "x[i]'"
normal = "1"
law = { static = 1.2, dynamic = 1 }
[run]
until = 2
[output]
samples = 2
event_rows = false
)toml";
}

/// Compiles, and says how long that took.
Model compiled_model(const std::string& text, double& seconds) {
  const double begin = processor_seconds();
  const io::ModelFile file = io::read_model_text(text);
  model::CompileOptions options;
  options.work.operations *= 100;  // large models ask for more than the guard against floods allows
  options.work.nodes *= 100;
  model::Compiled compiled = model::compile(file.spec, options);
  seconds = processor_seconds() - begin;
  if (!compiled.system) {
    std::fprintf(stderr, "%s", render(compiled.diagnostics, "many", text).c_str());
    std::exit(EXIT_FAILURE);
  }
  return {std::move(*compiled.system), engines::options_of(compiled.run)};
}

/// Seconds per event; the set-up is what a run of no length takes.
bool run_many(const std::string& text, const char* engine, double& setup, double& per_event, long& events) {
  double compiling = 0;
  Model model = compiled_model(text, compiling);
  engines::EngineOptions none = model.options;
  none.until = 1e-9;
  const double begin = processor_seconds();
  keep(simulate::simulate(model.system, none, engine).end.events);
  setup = processor_seconds() - begin;
  const double again = processor_seconds();
  const simulate::Result result = simulate::simulate(model.system, model.options, engine);
  const double all = processor_seconds() - again;
  if (!result.end.status.ok()) {
    std::fprintf(stderr, "%s: %s\n", engine, result.end.status.message.c_str());
    return false;
  }
  events = result.end.events;
  per_event = (all - setup) / static_cast<double>(events);
  return true;
}

}  // namespace

int main() {
  heading();
  bool good = true;
  double setup = 0;
  double per_event = 0;
  double before = 0;  // per event, with half as many balls
  long events = 0;
  int last = 0;
  double at_hundred = 0;
  for (const int n : {25, 50, 100, 200, 400, 1000}) {
    good = run_many(gas(n), "event", setup, per_event, events) && good;
    const std::string name = "gas of " + std::to_string(n) + " balls, event";
    char text[80];
    std::snprintf(text, sizeof text, "per event, of %ld", events);
    if (before > 0)
      std::snprintf(text, sizeof text, "per event, of %ld; like n^%.2f", events,
                    std::log(per_event / before) / std::log(static_cast<double>(n) / last));
    figure(name, per_event, text);
    if (n == 200) limit(name, per_event, 60e-6);
    if (n == 100) at_hundred = per_event;
    if (n == 1000) power("gas from 100 to 1000 balls", std::log10(per_event / at_hundred), 1.1);
    before = per_event;
    last = n;
  }
  for (const int n : {50, 200}) {
    good = run_many(gas(n), "exact", setup, per_event, events) && good;
    const std::string name = "gas of " + std::to_string(n) + " balls, exact";
    figure(name, per_event, "per event, of " + std::to_string(events));
    if (n == 200) limit(name + ", set-up", setup, 1.0);
  }
  before = 0;
  double at_fifty = 0;
  for (const int n : {50, 100, 200}) {
    good = run_many(blocks(n), "event", setup, per_event, events) && good;
    char text[80];
    std::snprintf(text, sizeof text, "per event, of %ld", events);
    if (before > 0)
      std::snprintf(text, sizeof text, "per event, of %ld; like n^%.2f", events,
                    std::log2(per_event / before));
    figure(std::to_string(n) + " blocks let go one by one, event", per_event, text);
    if (n == 50) at_fifty = per_event;
    // All blocks move on in every step, which is n; deciding which of them lets go, and preparing its slip, must not be more.
    if (n == 200) power("blocks from 50 to 200", std::log(per_event / at_fifty) / std::log(4.0), 1.1);
    before = per_event;
  }
  for (const int n : {200, 1000}) {
    double seconds = 0;
    static_cast<void>(compiled_model(chain(n), seconds));
    const std::string name = "chain of " + std::to_string(n) + ", compiling";
    if (n == 1000) {
      limit(name, seconds, 0.2);
    } else {
      figure(name, seconds, "masses, springs and stops");
    }
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
