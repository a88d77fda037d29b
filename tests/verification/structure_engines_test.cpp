// The engines theta, newmark and paoli-schatzman on the elastic block of the gallery, against linear structures moved by engines/structure.hpp: matrices from files against matrices
// assembled here, equations derived from a model against matrices, dense against sparse. Only the solver of contact problems is the same.
#include <gtest/gtest.h>

#include <cmath>

#include "elastic_block.hpp"
#include "judder/model/large_matrices.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

struct Pair {
  const char* engine;
  StructureScheme scheme;
  double step;
  const char* form;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.engine; }

class BlockEngines : public testing::TestWithParam<Pair> {};

TEST_P(BlockEngines, MoveTheBlockAsTheSparseRunDoes) {
  TestModel model = gallery_model("elastic-block");
  model.options.step = GetParam().step;
  model.options.until = 0.2;
  model.options.samples = 101;  // one at each step
  model.options.own.push_back({GetParam().engine, "form", 0, GetParam().form});
  if (std::string(GetParam().engine) == "paoli-schatzman")
    model.options.own.push_back({GetParam().engine, "friction", 0, "mean"});
  simulate::MemorySink sink(model.system);
  const EngineResult result = simulate::run(model.system, GetParam().engine, model.options, sink);
  // As printed, θ and Newmark make energy on the way; that is said, and they go on (Petcoviciu 1.7).
  const bool gains = std::string(GetParam().form) == "printed";
  EXPECT_EQ(result.status.reason, gains ? Reason::laws_violated : Reason::done) << result.status.message;
  EXPECT_EQ(result.end.time, model.options.until);

  test::BlockNumbers numbers;
  numbers.gap = 0.01;
  const Structure block = test::elastic_block(17, 8, numbers);
  StructureOptions options;
  options.scheme = GetParam().scheme;
  options.step = GetParam().step;
  const std::size_t n = block.load.size();
  const std::vector<double> zero(n, 0.0);
  // The engine's schemes of two steps begin with one of Moreau's: go on from there.
  std::size_t first = 0;
  while (sink.kinds[first] != RowKind::sample || sink.cells[first * sink.width] < 0.5 * options.step) ++first;
  const double* const row_one = sink.cells.data() + first * sink.width;
  const bool two_steps = options.scheme == StructureScheme::modified;
  const std::vector<double> u(row_one + 1, row_one + 1 + n);
  StructureRun run(block, options, two_steps ? u : zero, zero);
  if (two_steps) run.begin_from(zero);
  const double begin = two_steps ? options.step : 0;
  double worst = 0;
  int compared = 0;
  for (std::size_t row = first; row < sink.kinds.size(); ++row) {
    const double* const cells = sink.cells.data() + row * sink.width;
    if (sink.kinds[row] == RowKind::before) continue;
    while (begin + run.time() < cells[0] - 0.5 * options.step) ASSERT_TRUE(run.step());
    for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(cells[1 + i] - run.u()[i]));
    ++compared;
  }
  EXPECT_GE(compared, 90);
  EXPECT_LT(worst, 1e-7 * 0.05) << "displacements are 0.05";
}

// More coordinates than formulas are made for: the matrices stay numbers, and the block moves as the sparse run moves it.
class LargeBlock : public testing::TestWithParam<Pair> {};

TEST_P(LargeBlock, MovesAsTheSparseRunDoes) {
  constexpr int kColumns = 34, kRows = 16;
  test::BlockNumbers numbers;
  numbers.gap = 0.01;
  const Structure block = test::elastic_block(kColumns, kRows, numbers);
  const auto n = block.load.size();
  ASSERT_GT(n, static_cast<std::size_t>(model::kLargestFormula));
  model::Spec spec;
  model::Coordinate u;
  u.name = "u";
  u.each = "i = 1 to " + std::to_string(n);
  spec.coordinates.push_back(u);
  const auto fill = [&](model::Matrix& to, const SparseMatrix& from) {
    to.given = to.sparse = true;
    to.row_count = to.column_count = static_cast<int>(n);
    for (int i = 0; i < from.size; ++i) {
      for (int e = from.begin[i]; e < from.begin[i + 1]; ++e)
        to.entries.push_back({i, from.column[e], from.value[e]});
    }
  };
  fill(spec.matrices.mass, block.mass);
  fill(spec.matrices.stiffness, block.stiffness);
  spec.matrices.load.given = true;
  spec.matrices.load.rows.emplace_back();
  for (const double x : block.load) spec.matrices.load.rows.back().emplace_back(x);
  for (std::size_t k = 0; k < block.contacts.size(); ++k) {
    const StructureContact& each = block.contacts[k];
    model::Contact contact;
    contact.name = "floor" + std::to_string(k);
    contact.gap = "0.01 + u[" + std::to_string(each.normal + 1) + "]";
    contact.slip.emplace_back("u[" + std::to_string(each.slip + 1) + "]'");
    contact.friction.mu = each.mu;
    spec.contacts.push_back(contact);
  }
  spec.run.until = 0.1;
  spec.output.columns.push_back({"E", "energy()"});
  const TestModel model = spec_model(spec);
  ASSERT_NE(model::large_matrices(model.system), nullptr);
  EngineOptions run_options = model.options;
  run_options.step = GetParam().step;
  run_options.samples = 1 + std::lround(spec.run.until.number.value() / GetParam().step);
  run_options.event_rows = false;
  run_options.own.push_back({GetParam().engine, "form", 0, GetParam().form});
  if (std::string(GetParam().engine) == "paoli-schatzman")
    run_options.own.push_back({GetParam().engine, "friction", 0, "mean"});
  simulate::MemorySink sink(model.system);
  const EngineResult result = simulate::run(model.system, GetParam().engine, run_options, sink);
  ASSERT_TRUE(result.status.ok()) << result.status.message;

  StructureOptions options;
  options.scheme = GetParam().scheme;
  options.step = GetParam().step;
  const std::vector<double> zero(n, 0.0);
  const double* const row_one = sink.cells.data() + sink.width;
  const bool two_steps =
      options.scheme == StructureScheme::modified || options.scheme == StructureScheme::paoli_schatzman;
  StructureRun run(block, options, two_steps ? std::vector<double>(row_one + 1, row_one + 1 + n) : zero,
                   zero);
  if (two_steps) run.begin_from(zero);
  double worst = 0, stored = 0;
  for (std::size_t row = 2; row < sink.kinds.size(); ++row) {
    const double* const cells = sink.cells.data() + row * sink.width;
    if (!two_steps && row == 2) ASSERT_TRUE(run.step());
    ASSERT_TRUE(run.step());
    for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(cells[1 + i] - run.u()[i]));
    // The energy of a column is that of the matrices.
    std::vector<double> product(n);
    block.mass.apply(cells + 1 + n, product.data());
    double energy = 0;
    for (std::size_t i = 0; i < n; ++i) energy += 0.5 * cells[1 + n + i] * product[i];
    block.stiffness.apply(cells + 1, product.data());
    for (std::size_t i = 0; i < n; ++i) energy += 0.5 * cells[1 + i] * product[i];
    stored = std::max(stored, energy);
    EXPECT_NEAR(cells[sink.width - 1], energy, 1e-9 * stored);
  }
  EXPECT_GT(stored, 1);
  EXPECT_LT(worst, 1e-7 * 0.05) << "displacements are 0.05";
}

INSTANTIATE_TEST_SUITE_P(Schemes, LargeBlock,
                         testing::Values(Pair{"theta", StructureScheme::theta, 2e-3, "printed"},
                                         Pair{"newmark", StructureScheme::newmark, 2e-3, "printed"},
                                         Pair{"paoli-schatzman", StructureScheme::modified, 2e-3, "modified"},
                                         Pair{"paoli-schatzman", StructureScheme::paoli_schatzman, 2e-4,
                                              "explicit"}));

// Entries of a file and rows as they are written give the same equations, to the bit; K and C are not symmetric.
TEST(SparseMatrices, GiveTheEquationsOfTheirRows) {
  constexpr int kSize = 5;
  const auto value = [](int i, int j, double shift) {
    const bool zero = (i * 7 + j * 3) % 4 == 1 && i != j;
    return zero ? 0.0 : std::cos(1.0 + i + 2.5 * j + shift) + (i == j ? 4 : 0);
  };
  const auto mass = [&](int i, int j) { return value(std::min(i, j), std::max(i, j), 0); };
  model::Spec rows, entries;
  for (int i = 0; i < kSize; ++i) {
    model::Coordinate coordinate;
    coordinate.name = "q" + std::to_string(i);
    coordinate.start = 0.1 * (i + 1);
    rows.coordinates.push_back(coordinate);
  }
  entries.coordinates = rows.coordinates;
  const auto fill = [&](model::Matrix& dense, model::Matrix& sparse, auto at) {
    dense.given = sparse.given = sparse.sparse = true;
    sparse.row_count = sparse.column_count = kSize;
    for (int i = 0; i < kSize; ++i) {
      dense.rows.emplace_back();
      for (int j = 0; j < kSize; ++j) {
        dense.rows.back().emplace_back(at(i, j));
        if (at(i, j) != 0) sparse.entries.push_back({i, j, at(i, j)});
      }
    }
  };
  fill(rows.matrices.mass, entries.matrices.mass, mass);
  fill(rows.matrices.stiffness, entries.matrices.stiffness, [&](int i, int j) { return value(i, j, 0.4); });
  fill(rows.matrices.damping, entries.matrices.damping, [&](int i, int j) { return value(i, j, 0.9); });
  rows.run.until = entries.run.until = 2;
  const simulate::Result one = judder::run(spec_model(rows));
  const simulate::Result other = judder::run(spec_model(entries));
  ASSERT_TRUE(one.end.status.ok());
  ASSERT_GT(one.data.cells.size(), 1000u);
  EXPECT_EQ(one.data.cells, other.data.cells);
  entries.matrices.mass.entries.pop_back();
  entries.matrices.mass.row_count = 4;
  EXPECT_THROW(spec_model(entries), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Schemes, BlockEngines,
                         testing::Values(Pair{"theta", StructureScheme::theta, 2e-3, "printed"},
                                         Pair{"newmark", StructureScheme::newmark, 2e-3, "printed"},
                                         Pair{"paoli-schatzman", StructureScheme::modified, 2e-3,
                                              "modified"}));

}  // namespace
}  // namespace judder::engines
