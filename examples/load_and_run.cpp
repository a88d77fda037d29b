// Loads a model file, runs it, lists its impacts and prints where it ends.
//
//     load_and_run gallery/press/model.toml
#include <cstdio>

#include "judder/judder.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: load_and_run MODEL\n");
    return 2;
  }
  const judder::Model model = judder::Model::load(argv[1]);
  if (!model.ok()) {
    std::fputs(model.problems().c_str(), stderr);  // as `judder check` prints them, with line and column
    return 3;
  }

  // What is not said here is as the model file says it.
  const judder::Run run = model.run({.engine = "auto"});
  std::printf("%s, by the engine '%s'\n", model.title().c_str(), run.engine().c_str());

  for (const judder::RunEvent& event : run.events()) {
    if (event.kind != "impact") continue;
    std::printf("%12.9f  impact on '%s', impulse %.9g, energy lost %.6g\n", event.time, event.where.c_str(),
                event.normal_impulse, event.energy_lost);
  }

  for (const std::string& column : run.columns())
    std::printf("%s = %.12g\n", column.c_str(), run.last(column));

  // A run that stopped early says why, and so does one in which the referee found a broken law.
  if (!run.ok()) std::fprintf(stderr, "%s: %s\n", name(run.status().reason), run.status().message.c_str());
  return run.ok() ? 0 : 4;
}
