// The exact engine in events per second: whole runs of a prepared system, repeated; closed forms are kept from the first run on.
//
// With recording: every event, and the two rows at each instant with events, into memory. Without: nothing is kept. Sample rows are left out
// (two per run, its ends), since their cost is that of the samples, not of the events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gallery.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

int measure(const std::string& title, Model model, int runs) {
  model.options.samples = 2;
  model.options.every = 0;
  engines::ExactEngine engine(model.system);
  for (const bool recording : {true, false}) {
    model.options.event_rows = recording;
    simulate::MemorySink memory(model.system);
    simulate::NullSink nothing;
    engines::Sink& sink = recording ? static_cast<engines::Sink&>(memory) : nothing;
    const engines::EngineResult first = engine.run(model.options, sink);
    if (!first.status.ok()) {
      std::fprintf(stderr, "%s: %s\n", title.c_str(), first.status.message.c_str());
      return EXIT_FAILURE;
    }
    const double begin = processor_seconds();
    for (int run = 0; run < runs; ++run) {
      memory.clear();
      keep(engine.run(model.options, sink).events);
    }
    const double seconds = (processor_seconds() - begin) / runs;
    const double events = static_cast<double>(first.events);
    const double goal = recording ? 1e6 : 2e6;
    char text[160];
    std::snprintf(text, sizeof text, "%.3g events/s, goal %.0e %s; per event %.1f windows, %.1f evaluations",
                  events / seconds, goal, events / seconds >= goal ? "met" : "not met",
                  static_cast<double>(first.windows) / events,
                  static_cast<double>(first.evaluations) / events);
    figure(title + (recording ? ", recorded" : ", not recorded"), seconds / events, text);
  }
  return EXIT_SUCCESS;
}

}  // namespace

/// Fewer runs serve a profile by counted instructions.
int main(int count, char** words) {
  const int runs = count > 1 ? std::max(1, std::atoi(words[1])) : 10000;
  const int press = measure("exact, press, per event", gallery_model("press"), runs);
  const int klarbring =
      measure("exact, klarbring T07a, per event", gallery_model("klarbring", {"T07a"}), runs);
  return press != EXIT_SUCCESS || klarbring != EXIT_SUCCESS ? EXIT_FAILURE : EXIT_SUCCESS;
}
