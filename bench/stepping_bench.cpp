// Moreau-Jean's scheme on the woodpecker: processor time per step, beside its peer.
//
//     stepping_bench [--siconos COMMAND]
//
// 0.3 s in steps of 20 us, three frictional contacts, restitution, impacts at each of them; two rows are asked for. COMMAND is given a number of runs and prints its
// median seconds per step first. Ours and the peer's run in turn.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gallery.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

constexpr int kRuns = 20, kRounds = 5;

double per_step(const Model& model, const engines::EngineOptions& options) {
  std::vector<double> seconds;
  for (int i = 0; i < kRuns; ++i) {
    simulate::NullSink nobody;
    const double begin = processor_seconds();
    const engines::EngineResult result = simulate::run(model.system, "moreau", options, nobody);
    seconds.push_back((processor_seconds() - begin) / static_cast<double>(result.steps));
  }
  return median(seconds);
}

double peer_seconds(const std::string& command) {
  FILE* const pipe = popen((command + " 3").c_str(), "r");
  double seconds = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &seconds) != 1) seconds = 0;
  if (pipe != nullptr) pclose(pipe);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  std::string siconos;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--siconos") == 0) siconos = argv[i + 1];
  }
  const Model model = gallery_model("woodpecker");
  engines::EngineOptions options = model.options;
  options.step = 2e-5;
  options.samples = 2;
  options.event_rows = false;
  std::vector<double> ours, peers, ratios;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(per_step(model, options));
    if (siconos.empty()) continue;
    peers.push_back(peer_seconds(siconos));
    ratios.push_back(peers.back() / ours.back());
  }
  heading();
  if (siconos.empty())
    figure("woodpecker, one step", median(ours), "no peer: siconos_woodpecker was not built");
  else
    line("woodpecker, one step", median(ours), "Siconos", median(peers), median(ratios), 15, false);
  return 0;
}
