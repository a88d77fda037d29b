#include "judder/analysis/ensemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "count.hpp"
#include "judder/io/load.hpp"
#include "simulate/witness.hpp"

namespace judder::analysis {
namespace {

struct Loaded {
  io::LoadedModel model;
  model::CompileOptions options;
};

Loaded load(const std::string& name) {
  io::ModelRequest request;
  request.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/" + name + "/model.toml";
  Loaded out{io::load_model(request), io::compile_options(request)};
  EXPECT_TRUE(out.model.ok()) << name;
  return out;
}

/// Ranges around the start of the model, for its coordinates and velocities, and parameters beside them.
Plan around(const model::System& system, std::vector<Plan::Axis> parameters, std::size_t members) {
  std::vector<Plan::Axis> axes = std::move(parameters);
  const model::Layout& layout = system.layout();
  for (int i = 0; i < layout.coordinates; ++i) {
    const std::string& name = system.coordinate_names()[static_cast<std::size_t>(i)];
    const double q = system.start()[static_cast<std::size_t>(layout.q() + i)];
    const double v = system.start()[static_cast<std::size_t>(layout.v() + i)];
    axes.push_back({name, {q, q + 0.3 * std::max(std::abs(q), 0.1)}});
    axes.push_back({name + "'", {v - 0.5, v + 0.5}});
  }
  return Plan::random(std::move(axes), members, 17);
}

engines::EngineOptions short_run(const model::RunOptions& run) {
  engines::EngineOptions options = engines::options_of(run);
  options.until = options.from + std::min(options.until - options.from, 3.0);
  options.samples = 2;
  options.every = 0;
  options.event_rows = false;
  return options;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
         });
}

constexpr const char* kModels[] = {"bouncing-ball",     "belt",  "press",           "two-stops",
                                   "impact-oscillator", "relay", "three-ball-chain"};

// One System, one engine and one referee for all members: each must come out as if all of these were new.
TEST(Ensemble, AMemberThatOnlyStartsElsewhereHasTheBitsOfARunOfItsOwn) {
  for (const char* name : kModels) {
    const Loaded loaded = load(name);
    const auto members = static_cast<std::size_t>(count(1000));
    const std::size_t few = std::min<std::size_t>(members, 40);
    Diagnostics said;
    const Ensemble ensemble(loaded.model.file.spec, loaded.options,
                            around(*loaded.model.compiled.system, {}, few), said);
    ASSERT_TRUE(ensemble.ok()) << name;
    Runner runner(ensemble);
    std::vector<double> values(ensemble.plan().names().size());
    int well = 0;
    for (std::size_t member = 0; member < few; ++member) {
      model::CompileOptions alone = loaded.options;
      ensemble.plan().values(member, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        model::Named named;
        named.name = ensemble.plan().names()[i];
        named.value = model::Value(values[i]);
        alone.set.push_back(std::move(named));
      }
      const model::Compiled compiled = model::compile(loaded.model.file.spec, alone);
      ASSERT_EQ(runner.take(member), compiled.system.has_value()) << name << " member " << member;
      if (!compiled.system) continue;
      simulate::NullSink nobody;
      const engines::EngineResult ours = runner.engine().run(short_run(runner.options()), nobody);
      const engines::EngineResult theirs =
          simulate::run(*compiled.system, compiled.run.engine, short_run(compiled.run), nobody);
      EXPECT_EQ(ours.status.reason, theirs.status.reason) << name << " member " << member;
      EXPECT_EQ(ours.events, theirs.events) << name << " member " << member;
      EXPECT_TRUE(same_bits(ours.end.y, theirs.end.y)) << name << " member " << member;
      EXPECT_EQ(ours.verdict.findings.size(), theirs.verdict.findings.size());
      well += theirs.status.ok() ? 1 : 0;
    }
    EXPECT_GT(well, static_cast<int>(few / 4)) << name << ": hardly any member runs";
    // Most of them needed nothing new.
    EXPECT_LE(runner.bound() + runner.compiled(), static_cast<long>(few)) << name;
  }
}

TEST(Ensemble, OnlyTheFirstOfManyStartsIsBound) {
  const Loaded loaded = load("bouncing-ball");
  Diagnostics said;
  const Ensemble ensemble(loaded.model.file.spec, loaded.options,
                          Plan::random({{"h", {0.5, 1.5}}, {"h'", {-1, 1}}}, 500, 3), said);
  ASSERT_TRUE(ensemble.ok());
  Runner runner(ensemble);
  for (std::size_t member = 0; member < 500; ++member) ASSERT_TRUE(runner.take(member));
  EXPECT_EQ(runner.bound(), 1);
  EXPECT_EQ(runner.compiled(), 0);
}

TEST(Ensemble, MembersDoNotDependOnTheirOrder) {
  for (const auto& [name, parameter, from, to] : {std::tuple{"belt", "mus", 0.3, 0.5},
                                                  {"bouncing-ball", "e", 0.5, 0.9},
                                                  {"impact-oscillator", "w", 0.7, 2.9}}) {
    const Loaded loaded = load(name);
    constexpr std::size_t kMembers = 60;
    std::vector<Reduction> reductions;
    std::string problem;
    const std::string x = loaded.model.compiled.system->coordinate_names().front();
    ASSERT_TRUE(parse_reductions("max(" + x + "), end(" + x + "'), rms(" + x + "), count(impact)", reductions,
                                 problem))
        << problem;
    const model::Spec spec = with_reductions(loaded.model.file.spec, reductions);
    Diagnostics said;
    const Ensemble ensemble(spec, loaded.options,
                            around(*loaded.model.compiled.system, {{parameter, {from, to}}}, kMembers), said);
    ASSERT_TRUE(ensemble.ok());
    const auto numbers = [&](Runner& runner, std::size_t member) {
      std::vector<double> out(reductions.size(), -1);
      if (!runner.take(member)) return out;
      Reducer reducer(runner.system(), reductions);
      engines::EngineOptions options = short_run(runner.options());
      options.observer = &reducer;
      const engines::EngineResult result = runner.engine().run(options, reducer);
      reducer.values(out);
      out.push_back(result.status.time);
      return out;
    };
    std::vector<std::vector<double>> forwards(kMembers);
    Runner first(ensemble);
    for (std::size_t i = 0; i < kMembers; ++i) forwards[i] = numbers(first, i);
    std::vector<std::size_t> order(kMembers);
    for (std::size_t i = 0; i < kMembers; ++i) order[i] = i;
    std::mt19937 random(11);
    std::shuffle(order.begin(), order.end(), random);
    Runner second(ensemble);
    for (const std::size_t i : order)
      EXPECT_TRUE(same_bits(numbers(second, i), forwards[i])) << name << " member " << i;
  }
}

TEST(Ensemble, ARefereeThatStartsAgainReadsAsANewOneDoes) {
  for (const char* name : kModels) {
    const Loaded loaded = load(name);
    const model::System& system = *loaded.model.compiled.system;
    engines::EngineOptions options = short_run(loaded.model.compiled.run);
    simulate::NullSink nobody;
    engines::EventEngine engine(system);
    simulate::Witness fresh(system, options, nullptr);
    options.observer = &fresh;
    static_cast<void>(engine.run(options, nobody));
    const Verdict once = fresh.verdict();
    options.observer = nullptr;
    fresh.restart(options);
    options.observer = &fresh;
    static_cast<void>(engine.run(options, nobody));
    const Verdict twice = fresh.verdict();
    ASSERT_EQ(once.laws.size(), twice.laws.size()) << name;
    for (std::size_t i = 0; i < once.laws.size(); ++i) {
      EXPECT_EQ(once.laws[i].checks, twice.laws[i].checks) << name << " " << once.laws[i].law;
      EXPECT_EQ(once.laws[i].worst, twice.laws[i].worst) << name << " " << once.laws[i].law;
    }
  }
}

TEST(Plan, NumbersMembersOfAGridWithTheLastAxisFastest) {
  const Plan plan = Plan::grid({{"a", {1, 2}}, {"b", {10, 20, 30}}}, {"soft", "hard"});
  ASSERT_EQ(plan.size(), 12U);
  std::vector<double> values(2);
  plan.values(7, values);
  EXPECT_EQ(plan.variant(7), 1U);
  EXPECT_EQ(values, (std::vector<double>{1, 20}));
  EXPECT_EQ(plan.shape(), (std::vector<std::size_t>{2, 2, 3}));
}

// Mean and variance of a uniform number, within five standard errors; and axes are not the same numbers.
TEST(Plan, DrawsUniformNumbersByIndex) {
  constexpr std::size_t kMembers = 20000;
  const Plan plan = Plan::random({{"a", {2, 4}}, {"b", {0, 1}}}, kMembers, 9);
  double mean = 0, square = 0, cross = 0;
  std::vector<double> values(2);
  for (std::size_t i = 0; i < kMembers; ++i) {
    plan.values(i, values);
    ASSERT_GE(values[0], 2);
    ASSERT_LT(values[0], 4);
    mean += values[0] - 3;
    square += (values[0] - 3) * (values[0] - 3);
    cross += (values[0] - 3) * (values[1] - 0.5);
  }
  const double n = kMembers;
  EXPECT_NEAR(mean / n, 0, 5 * std::sqrt(1.0 / 3 / n));
  EXPECT_NEAR(square / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
  EXPECT_NEAR(cross / n, 0, 5 * std::sqrt(1.0 / 36 / n));
}

}  // namespace
}  // namespace judder::analysis
