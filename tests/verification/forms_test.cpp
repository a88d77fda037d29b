// Parameters of a run: a form that is bound to values is, to the bit, the model that is compiled with these values.
//
// Asked of every scalar parameter of every bundled model, at the value of the file and one per cent beside it: all formulas of both systems are
// evaluated at the start and at random inputs, and all numbers beside them are compared. Equal formulas make equal runs; for some models the
// runs themselves are compared, event by event and row by row.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>

#include "judder/engines/registry.hpp"
#include "judder/io/gallery.hpp"
#include "judder/io/load.hpp"
#include "judder/judder.hpp"
#include "judder/model/compile.hpp"

namespace judder {
namespace {

const std::filesystem::path kGallery = JUDDER_SOURCE_DIR "/gallery";

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same(x, y); });
}

/// All programs of a System, with a name for messages.
std::vector<std::pair<std::string, const expr::Program*>> programs(const model::System& system) {
  std::vector<std::pair<std::string, const expr::Program*>> out{
      {"motion", &system.motion_program()},
      {"linked", &system.linked().coefficients},
      {"varying", &system.linked().varying},
      {"varying and powers", &system.linked().varying_and_powers}};
  if (const auto balance = system.massless_balance(); balance.program != nullptr)
    out.emplace_back("balance", balance.program);
  for (const model::Relation& r : system.relations()) {
    out.emplace_back(r.name + " gap", &r.gap);
    out.emplace_back(r.name + " rows", &r.rows);
    out.emplace_back(r.name + " law", &r.law);
    out.emplace_back(r.name + " restitution", &r.restitution);
    out.emplace_back(r.name + " sliding", &r.sliding);
    out.emplace_back(r.name + " curve", &r.curve);
  }
  for (const auto* switches : {&system.switches(), &system.observed()}) {
    for (const model::SwitchInfo& s : *switches) {
      out.emplace_back(s.place + " surface", &s.surface);
      out.emplace_back(s.place + " value", &s.value);
      out.emplace_back(s.place + " rate", &s.rate);
      out.emplace_back(s.place + " live", &s.live);
    }
  }
  for (const model::WatchInfo& w : system.watches()) out.emplace_back(w.name, &w.value);
  return out;
}

std::vector<double> outputs(const expr::Program& program, const std::vector<double>& in) {
  std::vector<double> out(static_cast<std::size_t>(program.outputs()));
  std::vector<double> registers(static_cast<std::size_t>(program.registers()) + 1);
  program.evaluate(in.data(), out.data(), registers.data());
  return out;
}

/// The numbers of the linear structure, each where it stands: as outputs equal ones are one.
std::vector<double> linear_numbers(const model::LinearStructure& linear, const std::vector<double>& in) {
  if (!linear.linear()) return {};
  const std::vector<double> values = outputs(linear.coefficients, in);
  std::vector<double> out;
  const auto number = [&](int output) { out.push_back(values[static_cast<std::size_t>(output)]); };
  const auto numbers = [&](const std::vector<int>& all) {
    for (const int output : all) number(output);
  };
  const auto function = [&](const model::AffineFunction& f) {
    for (const auto& slope : f.slopes) {
      out.push_back(slope.variable);
      number(slope.output);
    }
    for (const auto& load : f.loads) {
      out.push_back(load.power);
      numbers({load.rate, load.frequency, load.cosine, load.sine});
    }
  };
  const auto functions = [&](const std::vector<model::AffineFunction>& all) {
    for (const model::AffineFunction& f : all) function(f);
  };
  functions(linear.force);
  functions(linear.rate);
  for (const auto& row : linear.normal) {
    for (const auto* f : {&row.gap, &row.gap_time, &row.zeta}) function(*f);
    numbers(row.w);
    numbers(row.push);
  }
  for (const auto& row : linear.tangent) {
    for (const auto* f : {&row.slip, &row.drive, &row.zeta, &row.known, &row.at_rest}) function(*f);
    for (const auto* all : {&row.w, &row.drag, &row.fed, &row.fed_rest}) numbers(*all);
  }
  functions(linear.base);
  for (const auto& all : linear.factors) numbers(all);
  functions(linear.surface);
  functions(linear.watch);
  for (const auto& power : linear.power) {
    for (const auto& product : power.products) {
      out.push_back(product.variable);
      function(product.other);
    }
  }
  return out;
}

/// What differs first; empty: nothing.
std::string difference(const model::System& a, const model::System& b) {
  if (!same(a.start(), b.start())) return "start";
  if (!same(a.instants(), b.instants())) return "instants";
  if (!same(a.periods(), b.periods())) return "periods";
  if (!same(a.scale_floor(), b.scale_floor())) return "scales";
  if (a.linear().reason != b.linear().reason)
    return "reason: " + a.linear().reason + " | " + b.linear().reason;
  const auto ours = programs(a), theirs = programs(b);
  if (ours.size() != theirs.size()) return "number of formulas";
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any(-2, 2);
  for (int round = 0; round < 4; ++round) {
    std::vector<double> in = a.start();
    for (double& x : in) x = round == 0 ? x : any(random);
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const std::vector<double> x = outputs(*ours[k].second, in), y = outputs(*theirs[k].second, in);
      if (same(x, y)) continue;
      std::string words = ours[k].first + ", round " + std::to_string(round) + ":";
      char text[80];
      for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (same(x[i], y[i])) continue;
        std::snprintf(text, sizeof text, " [%zu] %.17g, %.17g", i, x[i], y[i]);
        words += text;
      }
      return words;
    }
    if (!same(linear_numbers(a.linear(), in), linear_numbers(b.linear(), in))) return "linear";
    model::Workspace one(a), two(b);
    one.in = in;
    two.in = in;
    const auto count = static_cast<std::size_t>(a.layout().integrated() + a.layout().free_parameters);
    const auto rows = static_cast<std::size_t>(a.layout().coordinates + a.layout().states);
    std::vector<double> first(rows * count), second(rows * count);
    a.jacobian(one, first.data());
    b.jacobian(two, second.data());
    if (!same(first, second)) return "jacobian";
    first.assign(a.columns().size() + a.audits().size() + 3, 0);
    second = first;
    a.column_values(one, first.data());
    b.column_values(two, second.data());
    if (!same(first, second)) return "columns";
    a.powers(one, first.data());
    b.powers(two, second.data());
    if (!same(first, second)) return "powers";
    a.energies(one, first[0], first[1], first[2]);
    b.energies(two, second[0], second[1], second[2]);
    if (!same(first, second)) return "energies";
  }
  for (std::size_t k = 0; k < a.relations().size(); ++k) {
    if (!same(a.relations()[k].impact_stiffness, b.relations()[k].impact_stiffness) ||
        !same(a.relations()[k].impact_exponent, b.relations()[k].impact_exponent))
      return "impact law";
  }
  for (std::size_t k = 0; k < a.switches().size(); ++k) {
    const model::SwitchInfo &x = a.switches()[k], &y = b.switches()[k];
    if (x.above != y.above || x.below != y.below || x.kind != y.kind || x.one_sided != y.one_sided ||
        x.levels != y.levels || !same(x.top, y.top))
      return "switch " + x.place;
  }
  return {};
}

struct Count {
  int parameters = 0, closed = 0, bound = 0, refused = 0;
};

class Forms : public testing::TestWithParam<std::string> {};

TEST_P(Forms, BoundToAValueIsTheModelCompiledForIt) {
  io::ModelRequest request;
  request.file = kGallery / GetParam();
  const io::LoadedModel loaded = io::load_model(request);
  ASSERT_TRUE(loaded.ok());
  model::CompileOptions options;
  options.engines = engines::engine_words();
  Count count;
  for (const auto& [name, value] : loaded.compiled.parameters) {
    ++count.parameters;
    const model::CompiledForm made = model::compile_form(loaded.file.spec, {name}, options);
    if (!made.form) {
      // A parameter that cannot be open is named, with the reason.
      ASSERT_TRUE(made.diagnostics.has_errors()) << name;
      std::printf("%s: %s: %s\n", GetParam().c_str(), name.c_str(),
                  made.diagnostics.all().front().message.c_str());
      ++count.closed;
      continue;
    }
    for (const double wanted : {value, value == 0 ? 0.01 : 1.01 * value}) {
      const std::vector<std::pair<std::string, double>> set{{name, wanted}};
      const model::Bound bound = made.form->bind(set);
      if (!bound.system) {
        ++count.refused;
        EXPECT_FALSE(bound.refused.empty());
        continue;
      }
      ++count.bound;
      model::CompileOptions folding = options;
      folding.set = {{name, wanted}};
      const model::Compiled folded = model::compile(loaded.file.spec, folding);
      ASSERT_TRUE(folded.system) << name << " = " << wanted << " is bound, but not compiled";
      EXPECT_EQ(difference(*folded.system, *bound.system), "") << name << " = " << wanted;
      EXPECT_TRUE(same(folded.run.from, bound.run.from) && same(folded.run.until, bound.run.until) &&
                  same(folded.run.max_step, bound.run.max_step))
          << name;
    }
  }
  std::printf("%s: %d parameters, %d cannot be open; %d values bound, %d need a compilation\n",
              GetParam().c_str(), count.parameters, count.closed, count.bound, count.refused);
}

std::vector<std::string> models() {
  std::vector<std::string> out;
  for (const io::GalleryModel& model : io::list_gallery(kGallery)) {
    for (const std::string& file : model.models) out.push_back(model.name + "/" + file);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Gallery, Forms, testing::ValuesIn(models()), [](const auto& each) {
  std::string name = each.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

void expect_same(const Run& a, const Run& b, const std::string& what) {
  ASSERT_EQ(a.status().reason, b.status().reason) << what << ": " << a.status().message << b.status().message;
  ASSERT_EQ(a.rows(), b.rows()) << what;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    ASSERT_TRUE(std::equal(a.row(i).begin(), a.row(i).end(), b.row(i).begin(),
                           [](double x, double y) { return same(x, y); }))
        << what << ", row " << i;
  }
  ASSERT_EQ(a.events().size(), b.events().size()) << what;
  for (std::size_t i = 0; i < a.events().size(); ++i) {
    EXPECT_EQ(a.events()[i].time, b.events()[i].time) << what;
    EXPECT_EQ(a.events()[i].kind, b.events()[i].kind) << what;
    EXPECT_EQ(a.events()[i].where, b.events()[i].where) << what;
    EXPECT_EQ(a.events()[i].detail, b.events()[i].detail) << what;
  }
}

TEST(FormRuns, OfThePressAreThoseOfTheFoldedModelByBothEngines) {
  const Model press = Model::load(kGallery / "press/model.toml", {.open = {"mp"}});
  ASSERT_TRUE(press.ok()) << press.problems();
  const double mp = press.parameter("mp");
  for (const char* engine : {"event", "exact"}) {
    for (const double value : {mp, 1.01 * mp, 1.3 * mp}) {
      const judder::Run bound = press.run({.engine = engine, .parameters = {{"mp", value}}});
      const judder::Run folded = press.with({{"mp", value}}).run({.engine = engine});
      expect_same(bound, folded, std::string(engine) + " " + std::to_string(value));
      if (value != 1) {
        EXPECT_FALSE(bound.compiled()) << value;
      }
    }
  }
}

TEST(FormRuns, StartValuesAreSetWithoutCompiling) {
  const Model press = Model::load(kGallery / "press/model.toml");
  ASSERT_TRUE(press.ok()) << press.problems();
  const std::string velocity = press.system().coordinate_names().front() + "'";
  const judder::Run bound = press.run({.start = {{velocity, 0.2}}});
  EXPECT_FALSE(bound.compiled());
  expect_same(bound, press.with({{velocity, 0.2}}).run(), velocity);
}

// Eight threads with values of their own share one form and give the bits that each gives alone.
TEST(FormRuns, OnThreadsAreThoseAlone) {
  const Model press = Model::load(kGallery / "press/model.toml", {.open = {"mp"}});
  ASSERT_TRUE(press.ok()) << press.problems();
  constexpr std::size_t kThreads = 8;
  const auto options = [&](std::size_t i) {
    RunOptions out;
    out.parameters = {{"mp", press.parameter("mp") * (1.03 + 0.01 * static_cast<double>(i))}};
    return out;
  };
  std::vector<std::optional<judder::Run>> together(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { together[i] = press.run(options(i)); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads; ++i)
    expect_same(*together[i], press.run(options(i)), "thread " + std::to_string(i));
}

constexpr const char* kBall = R"toml(
format = 1
[parameters]
g = 9.81
e = 0.5
h = 1
n = 2
[coordinates]
y = "h"
z = "y + 1"
[coordinates.x]
each  = "i = 1 to n"
start = 0
[energy]
kinetic   = "y'^2/2 + z'^2/2 + sum(i = 1 to n, x[i]'^2)/2"
potential = "g*y + g*z"
[[contact]]
name   = "floor"
gap    = "y"
impact = "e"
[run]
until = "2*h"
)toml";

TEST(FormRuns, StartExpressionsAndTimesFollowParameters) {
  const Model ball = Model::from_text(kBall, {.open = {"h", "e"}});
  ASSERT_TRUE(ball.ok()) << ball.problems();
  const judder::Run run = ball.run({.parameters = {{"h", 2.5}, {"e", 0.3}}});
  EXPECT_FALSE(run.compiled());
  EXPECT_EQ(run.row(0)[1], 2.5);
  EXPECT_EQ(run.row(0)[2], 3.5);
  EXPECT_EQ(run.last("t"), 5);
  expect_same(run, ball.with({{"h", 2.5}, {"e", 0.3}}).run(), "h, e");
  // A start value that others hang on.
  const judder::Run moved = ball.run({.start = {{"y", 0.7}}});
  EXPECT_EQ(moved.row(0)[2], 1.7);
  // Values with another form are compiled, and so right.
  const judder::Run dead = ball.run({.parameters = {{"e", 0.0}}});
  expect_same(dead, ball.with({{"e", 0.0}}).run(), "e = 0");
  // What no run can begin with is a status with the words of `check`.
  const judder::Run below = ball.run({.start = {{"y", -1}}});
  EXPECT_EQ(below.status().reason, Reason::unsupported);
  EXPECT_NE(below.status().message.find("gap is negative"), std::string::npos) << below.status().message;
}

TEST(FormRuns, WhatShapesTheModelCannotBeOpen) {
  const Model ball = Model::from_text(kBall, {.open = {"n"}});
  EXPECT_FALSE(ball.ok());
  EXPECT_NE(ball.problems().find("'n' cannot be left open"), std::string::npos) << ball.problems();
  EXPECT_FALSE(Model::from_text(kBall, {.open = {"nothing"}}).ok());
}

}  // namespace
}  // namespace judder
