// The engines theta, newmark and paoli-schatzman on the elastic block of the gallery, against linear structures moved by engines/structure.hpp: matrices from files against matrices
// assembled here, equations derived from a model against matrices, dense against sparse. Only the solver of contact problems is the same.
#include <gtest/gtest.h>

#include <cmath>

#include "elastic_block.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

struct Pair {
  const char* engine;
  StructureScheme scheme;
  double step;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.engine; }

class BlockEngines : public testing::TestWithParam<Pair> {};

TEST_P(BlockEngines, MoveTheBlockAsTheSparseRunDoes) {
  TestModel model = gallery_model("elastic-block");
  model.options.step = GetParam().step;
  model.options.until = 0.2;
  simulate::MemorySink sink(model.system);
  const EngineResult result = simulate::run(model.system, GetParam().engine, model.options, sink);
  ASSERT_TRUE(result.status.ok()) << result.status.message;

  test::BlockNumbers numbers;
  numbers.gap = 0.01;
  const Structure block = test::elastic_block(17, 8, numbers);
  StructureOptions options;
  options.scheme = GetParam().scheme;
  options.step = GetParam().step;
  const std::vector<double> zero(block.load.size(), 0.0);
  StructureRun run(block, options, zero, zero);
  const int corner = sink.column("corner");
  ASSERT_GE(corner, 0);
  const double size = 0.05;  // of the displacements
  double worst = 0;
  for (std::size_t row = 0; row < sink.kinds.size(); ++row) {
    const double t = sink.cells[row * sink.width];
    if (sink.kinds[row] != RowKind::sample) continue;
    while (run.time() < t - 0.5 * options.step) ASSERT_TRUE(run.step());
    if (std::abs(run.time() - t) > 1e-9) continue;
    worst = std::max(
        worst, std::abs(sink.cells[row * sink.width + static_cast<std::size_t>(corner)] - run.u().back()));
  }
  EXPECT_GT(run.time(), 0.19);
  EXPECT_LT(worst, 1e-7 * size);
}

INSTANTIATE_TEST_SUITE_P(Schemes, BlockEngines,
                         testing::Values(Pair{"theta", StructureScheme::theta, 2e-3},
                                         Pair{"newmark", StructureScheme::newmark, 2e-3},
                                         Pair{"paoli-schatzman", StructureScheme::modified, 2e-3}));

}  // namespace
}  // namespace judder::engines
