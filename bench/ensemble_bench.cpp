// Members of an ensemble beside single runs of a compiled system: what is between them is the cost of being many.
//
// The ball of the gallery, 8.5 s and 44 impacts; of each run only the end is kept. A member that starts elsewhere is restarted, one with another
// restitution is bound; the single run has an engine of its own and a sink that keeps nothing.
#include <cstdio>
#include <cstdlib>

#include "gallery.hpp"
#include "judder/analysis/ensemble.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

int main() {
  using namespace judder;
  using namespace judder::bench;
  io::ModelRequest request;
  request.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/bouncing-ball/model.toml";
  const double begin = processor_seconds();
  const io::LoadedModel loaded = io::load_model(request);
  std::vector<analysis::Reduction> kept;
  std::string problem;
  if (!loaded.ok() || !analysis::parse_reductions("end(h)", kept, problem)) return EXIT_FAILURE;
  const model::Spec spec = analysis::with_reductions(loaded.file.spec, kept);
  constexpr std::size_t kMembers = 1'000'000;
  Diagnostics said;
  const auto options_of = [](const model::RunOptions& run) {
    engines::EngineOptions out = engines::options_of(run);
    out.until = 8.5;
    out.samples = 2;
    out.event_rows = false;
    return out;
  };
  const analysis::Ensemble starts(spec, io::compile_options(request),
                                  analysis::Plan::random({{"h", {0.999, 1.001}}}, kMembers, 1), said);
  const double compiling = processor_seconds() - begin;
  const analysis::Ensemble bound(spec, io::compile_options(request),
                                 analysis::Plan::random({{"e", {0.8999, 0.9001}}}, kMembers, 1), said);
  if (!starts.ok() || !bound.ok()) return EXIT_FAILURE;
  const model::System& system = starts.system();
  const auto members = [&](const analysis::Ensemble& ensemble) {
    return [&ensemble, &kept, options_of, runner = std::make_shared<analysis::Runner>(ensemble),
            reducer = std::shared_ptr<analysis::Reducer>(), next = std::size_t{0}](long n) mutable {
      double end = 0;
      for (long i = 0; i < n; ++i) {
        if (!runner->take(next++ % kMembers)) std::exit(EXIT_FAILURE);
        if (!reducer || runner->changed())
          reducer = std::make_shared<analysis::Reducer>(runner->system(), kept);
        reducer->restart(0);
        engines::EngineOptions options = options_of(runner->options());
        options.observer = reducer.get();
        keep(runner->engine().run(options, *reducer).events);
        reducer->values({&end, 1});
        keep(end);
      }
    };
  };
  const engines::EngineOptions options = options_of(starts.first().run);
  const Repeat single = [&](long n) {
    simulate::NullSink nobody;
    for (long i = 0; i < n; ++i) keep(simulate::run(system, "event", options, nobody).events);
  };
  heading();
  const Rounds rounds({single, members(starts), members(bound)}, 40, 5e-3);
  figure("one run of the ball, empty sink", rounds.seconds(0), "44 impacts");
  figure("member that starts elsewhere", rounds.seconds(1),
         "ratio " + std::to_string(rounds.ratio(1, 0)) + ", goal <= 1.25");
  figure("member with another restitution", rounds.seconds(2), "ratio " + std::to_string(rounds.ratio(2, 0)));
  figure("compiling", compiling,
         "of a million members: a share of " + std::to_string(compiling / (rounds.seconds(1) * kMembers)));
  return EXIT_SUCCESS;
}
