// Whole runs of the event-driven engine on compiled systems, results in memory.
//
//     run_bench [--siconos COMMAND] [--scipy COMMAND]
//
// The ball: dropped from 1 m, restitution 0.9, 8.5 s: 44 impacts, 1701 samples and two rows per impact, every row with time, height,
// velocity; the work of every element audited. Each COMMAND is given a number of runs and prints its median seconds, the impacts
// and the largest error of an impact time. Ours and the peer's run in turn.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gallery.hpp"
#include "judder/io/reader.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

constexpr const char* kBall = R"(format = 1
[coordinates]
h = { start = 1 }
[energy]
kinetic = "h'^2/2"
potential = "9.81*h"
[[contact]]
name = "ground"
gap = "h"
impact = 0.9
[run]
until = 8.5
[output]
samples = 1701
)";
constexpr int kRuns = 50;  ///< in one round
constexpr int kRounds = 7;

struct Timed {
  double seconds = 0;  ///< median of kRuns
  simulate::Result last;
};

Timed time_runs(const Model& model, int runs) {
  std::vector<double> seconds;
  Timed out{0, simulate::simulate(model.system, model.options)};
  for (int i = 0; i < runs; ++i) {
    const double begin = processor_seconds();
    simulate::Result result = simulate::simulate(model.system, model.options);
    seconds.push_back(processor_seconds() - begin);
    keep(result.data.cells[0]);
  }
  out.seconds = median(seconds);
  return out;
}

double largest_time_error(const std::vector<engines::Event>& events) {
  double exact = std::sqrt(2 / 9.81);
  double flight = 2 * exact;
  double error = 0;
  for (const engines::Event& event : events) {
    if (event.kind != engines::EventKind::impact) continue;
    error = std::max(error, std::abs(event.time - exact));
    flight *= 0.9;
    exact += flight;
  }
  return error;
}

struct Peer {
  double seconds = 0;
  long impacts = 0;
  double error = 0;
};

bool ask(const std::string& command, int runs, Peer& peer) {
  std::FILE* pipe = popen((command + " " + std::to_string(runs)).c_str(), "r");
  if (pipe == nullptr) return false;
  const int read = std::fscanf(pipe, "%lf %ld %lf", &peer.seconds, &peer.impacts, &peer.error);
  return pclose(pipe) == 0 && read == 3;
}

int ball(const std::string& siconos, const std::string& scipy) {
  io::ModelFile file = io::read_model_text(kBall);
  model::Compiled compiled = model::compile(file.spec);
  if (!compiled.system) {
    std::fprintf(stderr, "%s", render(compiled.diagnostics, "ball", kBall).c_str());
    return 1;
  }
  const Model model{std::move(*compiled.system), engines::options_of(compiled.run)};
  const Timed first = time_runs(model, kRuns);
  if (!first.last.end.status.ok() || first.last.end.impacts != 44) {
    std::fprintf(stderr, "the ball: %ld impacts; %s\n", first.last.end.impacts,
                 first.last.end.status.message.c_str());
    return 1;
  }
  char text[120];
  std::snprintf(text, sizeof text, "%ld impacts, %zu rows; impact times within %.1e s",
                first.last.end.impacts, first.last.data.rows(), largest_time_error(first.last.data.events));
  figure("ball", first.seconds, text);
  const auto compare = [&](const char* name, const std::string& command, int peer_runs, double goal) {
    if (command.empty()) {
      std::printf("  %s is not installed: its line is left out\n", name);
      return 0;
    }
    std::vector<double> ours, theirs, ratio;
    Peer peer;
    for (int round = 0; round < kRounds; ++round) {
      ours.push_back(time_runs(model, kRuns).seconds);
      if (!ask(command, peer_runs, peer) || peer.impacts != 44) {
        std::fprintf(stderr, "%s gave no time: %s\n", name, command.c_str());
        return 1;
      }
      theirs.push_back(peer.seconds);
      ratio.push_back(peer.seconds / ours.back());
    }
    line("ball, times faster", median(ours), name, median(theirs), median(ratio), goal, false);
    return 0;
  };
  const int first_peer = compare("Siconos", siconos, 15, 100);
  const int second_peer = compare("SciPy", scipy, 5, 500);
  return first_peer + second_peer;
}

int events_per_second(const std::string& name, const std::vector<std::string>& variants) {
  const Model model = gallery_model(name, variants);
  const Timed timed = time_runs(model, kRuns);
  if (!timed.last.end.status.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), timed.last.end.status.message.c_str());
    return 1;
  }
  const auto events = static_cast<double>(timed.last.end.events);
  char text[120];
  std::snprintf(text, sizeof text, "%.0f events, %zu rows: %.3g events per second", events,
                timed.last.data.rows(), events / timed.seconds);
  std::string label = name;
  for (const std::string& variant : variants) label += " " + variant;
  figure(label, timed.seconds, text);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string siconos, scipy;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--siconos") == 0) siconos = argv[i + 1];
    if (std::strcmp(argv[i], "--scipy") == 0) scipy = argv[i + 1];
  }
  heading();
  int failures = ball(siconos, scipy);
  failures += events_per_second("press", {});
  failures += events_per_second("klarbring", {"T15c"});
  failures += events_per_second("klarbring", {"TC42f"});
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
