// The machines of the gallery: what a run costs by each method of the event engine.
//
//     machines_bench
//
// The mill to 4 s, the roller table to 1 s, at tolerance 1e-8, rows in memory as the model asks for them. One line per variant and method:
// steps, rejected steps, right-hand sides, processor time; for the method that the engine chooses itself also the goal.
#include <cstdio>
#include <string>
#include <vector>

#include "gallery.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;
using engines::Integrator;

constexpr double kTolerance = 1e-8;
constexpr int kRuns = 5;

struct Method {
  const char* name;
  Integrator integrator;
};
constexpr Method kMethods[] = {
    {"explicit", Integrator::explicit_only}, {"stiff", Integrator::stiff}, {"auto", Integrator::automatic}};

void machine(const std::string& name, const std::vector<std::string>& variants, double goal) {
  Model model = gallery_model(name, variants);
  model.options.tolerance = kTolerance;
  std::string title = name;
  for (const std::string& variant : variants) title += " " + variant;
  for (const Method& method : kMethods) {
    model.options.integrator = method.integrator;
    std::vector<double> seconds;
    engines::EngineResult end;
    for (int i = 0; i < kRuns; ++i) {
      const double begin = processor_seconds();
      simulate::Result result = simulate::simulate(model.system, model.options);
      seconds.push_back(processor_seconds() - begin);
      end = std::move(result.end);
    }
    const double time = median(seconds);
    std::printf("  %-28s %-9s %7ld %9ld %12ld %12s", title.c_str(), method.name, end.steps, end.rejected,
                end.evaluations, time_text(time).c_str());
    if (!end.status.ok()) {
      std::printf("   ended early: %s", end.status.message.c_str());
    } else if (method.integrator == Integrator::automatic) {
      std::printf("   <= %s %s", time_text(goal).c_str(), time <= goal ? "met" : "not met");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main() {
  std::printf("  %-28s %-9s %7s %9s %12s %12s   %s\n", "machine, tolerance 1e-8", "method", "steps",
              "rejected", "right sides", "time", "goal");
  for (const char* variant : {"ordinary", "loose", "equalised", "both", "wide"})
    machine("pilger-mill", {variant}, 0.3);
  machine("pilger-mill", {"ordinary", "closureB"}, 0.3);
  machine("roller-table", {"thesis"}, 0.02);
  machine("roller-table", {"thesis", "low"}, 0.02);
  machine("roller-table", {"lagrange", "low"}, 0.02);
}
