// One call of Model::run, for the benchmark of the Python package (python_bench.py):  front_bench MODEL RUNS
//
// Prints the processor seconds of one run by round: two rows, the events, another open parameter each time.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "judder/judder.hpp"
#include "measure.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const judder::Model model = judder::Model::load(argv[1], {.open = {"e"}});
  if (!model.ok()) {
    std::fputs(model.problems().c_str(), stderr);
    return EXIT_FAILURE;
  }
  constexpr int kRounds = 9;
  const int runs = std::atoi(argv[2]);
  for (int round = 0; round < kRounds; ++round) {
    const double begin = judder::bench::processor_seconds();
    for (int i = 0; i < runs; ++i)
      judder::bench::keep(
          model.run({.until = 0.5, .samples = 2, .parameters = {{"e", 0.5 + 1e-6 * i}}}).ok());
    std::printf("%.9g\n", (judder::bench::processor_seconds() - begin) / runs);
  }
  return EXIT_SUCCESS;
}
