// The exact engine handles events as the event-driven one does: same events, same motion, same statuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "count.hpp"
#include "judder/io/gallery.hpp"
#include "random_system.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::Event;
using engines::EventKind;

/// Touches are seen down to different depths; everything else is compared.
std::vector<Event> without_grazes(std::vector<Event> events) {
  std::erase_if(events, [](const Event& event) { return event.kind == EventKind::graze; });
  return events;
}

/// Details are compared too, except the numbers of an accumulation.
void expect_same_events(const std::string& name, const model::System& system, const simulate::Result& event,
                        const simulate::Result& exact, double slack) {
  const std::vector<Event> a = without_grazes(event.data.events);
  const std::vector<Event> b = without_grazes(exact.data.events);
  ASSERT_EQ(event.end.status.reason, exact.end.status.reason)
      << name << ": " << event.end.status.message << " | " << exact.end.status.message;
  ASSERT_EQ(a.size(), b.size()) << name << "\nevent:\n"
                                << event_list(system, a) << "exact:\n"
                                << event_list(system, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i].kind == b[i].kind && a[i].place == b[i].place && a[i].words == b[i].words &&
                      a[i].mode == b[i].mode;
    ASSERT_TRUE(same) << name << ", event " << i + 1 << "\nevent:\n"
                      << event_list(system, a) << "exact:\n"
                      << event_list(system, b);
    EXPECT_NEAR(a[i].time, b[i].time, slack * std::max(1.0, std::abs(b[i].time)))
        << name << ", event " << i + 1;
    EXPECT_NEAR(a[i].normal_impulse, b[i].normal_impulse, slack * (1 + std::abs(b[i].normal_impulse)))
        << name << ", event " << i + 1;
  }
}

TEST(ExactEngine, ListsTheEventsOfTheEventEngineOnTheGallery) {
  // Knife edges, where rounding decides: the balls of the cradle move together after their impact with reactions of zero, and each engine's last
  // bits part them elsewhere.
  const std::vector<std::string> edges{"newton-cradle"};
  int compared = 0;
  const std::filesystem::path folder = std::string(JUDDER_SOURCE_DIR) + "/gallery";
  for (const io::GalleryModel& listed : io::list_gallery(folder)) {
    if (std::find(edges.begin(), edges.end(), listed.name) != edges.end()) continue;
    for (const std::string& file : listed.models) {
      io::ModelFile read = io::read_model(folder / listed.name / file);
      std::vector<std::string> variants{""};
      for (const model::Variant& variant : read.spec.variants) variants.push_back(variant.name.text);
      for (const std::string& variant : variants) {
        TestModel model =
            gallery_model(listed.name + "/" + file,
                          variant.empty() ? std::vector<std::string>() : std::vector<std::string>{variant});
        if (!engines::ExactEngine::unsupported(model.system).empty() || !std::isfinite(model.options.until))
          continue;
        model.options.samples = 101;
        const simulate::Result event = simulate::simulate(model.system, model.options, "event");
        const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
        expect_same_events(listed.name + "/" + file + " " + variant, model.system, event, exact, 3e-6);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

/// Rows at the same instants: largest difference relative to the column.
double largest_difference(const simulate::Result& a, const simulate::Result& b) {
  double worst = 0;
  for (std::size_t c = 1; c < a.data.width; ++c) {
    double size = 0;
    for (std::size_t i = 0; i < a.data.rows(); ++i) size = std::max(size, std::abs(a.data.cell(i, c)));
    for (std::size_t i = 0; i < std::min(a.data.rows(), b.data.rows()); ++i) {
      if (std::abs(a.data.cell(i, 0) - b.data.cell(i, 0)) > 1e-7) return INFINITY;
      worst = std::max(worst, std::abs(a.data.cell(i, c) - b.data.cell(i, c)) / (size > 0 ? size : 1));
    }
  }
  return worst;
}

TEST(ExactEngine, GivesTheRowsReactionsAndWorkOfTheEventEngine) {
  for (const char* name : {"press", "sdnd106", "stewart-blocks", "shaken-table", "klarbring", "relay",
                           "zabuga-oscillator", "sdnd101", "incline"}) {
    TestModel model = gallery_model(name);
    model.options.tolerance = 1e-12;
    model.options.samples = 201;
    const simulate::Result event = simulate::simulate(model.system, model.options, "event");
    const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
    ASSERT_EQ(event.data.rows(), exact.data.rows()) << name;
    EXPECT_LT(largest_difference(exact, event), 1e-7) << name;
    for (std::size_t e = 0; e < model.system.audits().size(); ++e) {
      const double scale = 1 + exact.end.largest_energy;
      EXPECT_NEAR(event.end.end.dissipated[e], exact.end.end.dissipated[e], 1e-8 * scale)
          << name << ", " << model.system.audits()[e].name;
      EXPECT_NEAR(event.end.end.supplied[e], exact.end.end.supplied[e], 1e-8 * scale)
          << name << ", " << model.system.audits()[e].name;
    }
    ASSERT_EQ(event.data.intervals.size(), exact.data.intervals.size()) << name;
    for (std::size_t i = 0; i < event.data.intervals.size(); ++i) {
      const engines::Interval& a = event.data.intervals[i];
      const engines::Interval& b = exact.data.intervals[i];
      EXPECT_EQ(a.relation, b.relation) << name;
      EXPECT_NEAR(a.impulse, b.impulse, 1e-6 * (1 + std::abs(b.impulse))) << name << ", interval " << i + 1;
      EXPECT_GE(b.peak, a.peak * (1 - 1e-7)) << name << ", interval " << i + 1;
    }
    // Work balances to rounding.
    const double energy = std::max(exact.end.largest_energy, std::abs(exact.end.end.initial_energy));
    EXPECT_LE(std::abs(exact.end.energy_imbalance),
              1e-12 * energy * std::max<double>(10, static_cast<double>(exact.end.events)))
        << name;
  }
}

// What is stuck is stuck to the last bit, also while other coordinates move (SDND106: x1 before and after its slip).
TEST(ExactEngine, StuckCoordinatesDoNotMove) {
  const TestModel model = gallery_model("sdnd106");
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  const auto slip = event_times(model.system, result.data.events, "slip pad");
  const auto stick = event_times(model.system, result.data.events, "stick pad");
  ASSERT_EQ(slip.size(), 1u);
  ASSERT_EQ(stick.size(), 1u);
  double held = NAN;
  for (std::size_t i = 0; i < result.data.rows(); ++i) {
    const double t = result.data.cell(i, 0);
    if (t < slip[0]) {
      EXPECT_EQ(result.data.cell(i, 1), 0) << t;
      EXPECT_EQ(result.data.cell(i, 3), 0) << t;
    }
    if (t <= stick[0]) continue;
    if (std::isnan(held)) held = result.data.cell(i, 1);
    EXPECT_EQ(result.data.cell(i, 1), held) << t;
    EXPECT_EQ(result.data.cell(i, 3), 0) << t;
  }
}

TEST(ExactEngine, TimesCarryTheirBound) {
  const TestModel model = gallery_model("press");
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  for (const Event& event : result.data.events) {
    EXPECT_GT(event.bound, 0);
    EXPECT_LT(event.bound, 1e-9 * (1 + event.time)) << event.time;
  }
  for (const Event& event : simulate::simulate(model.system, model.options, "event").data.events)
    EXPECT_EQ(event.bound, 0);
}

// A run cut anywhere and gone on with gives the same events and, to rounding, the same end.
TEST(ExactEngine, GoesOnFromASavedMoment) {
  const TestModel model = gallery_model("press");
  const simulate::Result whole = simulate::simulate(model.system, model.options, "exact");
  for (const double cut : {0.05, 0.3, 0.777, 1.53}) {
    engines::EngineOptions first = model.options;
    first.until = cut;
    engines::ExactEngine engine(model.system);
    simulate::MemorySink sink(model.system);
    const engines::EngineResult half = engine.run(first, sink);
    const engines::EngineResult rest = engine.run(model.options, sink, &half.end);
    ASSERT_EQ(sink.events.size(), whole.data.events.size()) << cut;
    for (std::size_t i = 0; i < sink.events.size(); ++i)
      EXPECT_NEAR(sink.events[i].time, whole.data.events[i].time, 1e-12) << cut;
    for (std::size_t i = 0; i < rest.end.y.size(); ++i)
      EXPECT_NEAR(rest.end.y[i], whole.end.end.y[i], 1e-10) << cut;
  }
}

// Two feet under one body: how they share its weight no law says, and it rests as long as some share is admissible. Equal feet: until
// t = mu m g/rate. Feet of different roughness: until all weight on the rougher one does not hold either; then the share decides the motion,
// which is not unique and said to be so.
TEST(ExactEngine, RedundantContactsSlipWhenNoShareHolds) {
  const std::string text = R"toml(
[parameters]
first  = 0.45
second = 0.45
[coordinates]
x = 0
y = 0
[energy]
kinetic   = "2/2*(x'^2 + y'^2)"
potential = "2*10*y"
[[force]]
along = "x'"
value = "3*t"
[[contact]]
name     = "left"
gap      = "y"
slip     = "x'"
friction = "first"
[[contact]]
name     = "right"
gap      = "y"
slip     = "x'"
friction = "second"
[run]
until = 4
)toml";
  const TestModel model = text_model(text);
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  ASSERT_TRUE(exact.end.status.ok()) << exact.end.status.message;
  EXPECT_TRUE(exact.end.reactions_not_unique);
  ASSERT_FALSE(exact.data.events.empty());
  EXPECT_EQ(exact.data.events.front().kind, EventKind::slip) << event_list(model.system, exact.data.events);
  EXPECT_NEAR(exact.data.events.front().time, 0.45 * 2 * 10 / 3, 1e-14);

  const TestModel unequal = text_model(text, {model::Named{"first", 0.2}});
  const simulate::Result ended = simulate::simulate(unequal.system, unequal.options, "exact");
  EXPECT_EQ(ended.end.status.reason, Reason::indeterminate) << ended.end.status.message;
  EXPECT_NEAR(ended.end.status.time, 0.45 * 2 * 10 / 3, 1e-14);
}

// u' = w − 3 s, w' = −u − s with s = sign(u + w) comes to the surface and slides on it, where the motion is known.
// Two coordinates, each wedged between two walls: two undetermined reactions, and no push that any choice of them could not hold.
TEST(ExactEngine, WedgedBodiesHoldWhateverPushesThem) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = 0
y = 0
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[force]]
along = "x' - 2*y'"
value = "2 + sin(t)"
[[contact]]
name = "left"
gap  = "x"
[[contact]]
name = "right"
gap  = "-x"
[[contact]]
name = "below"
gap  = "y"
[[contact]]
name = "above"
gap  = "-y"
[run]
until = 20
)toml");
  const simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  ASSERT_TRUE(result.end.status.ok()) << result.end.status.message;
  EXPECT_TRUE(result.end.reactions_not_unique);
  EXPECT_TRUE(result.data.events.empty()) << event_list(model.system, result.data.events);
  EXPECT_EQ(last(result, "x"), 0);
  EXPECT_EQ(last(result, "y"), 0);
}

// One undetermined reaction among 51 contacts: 25 of them lose by it what 26 gain, which makes 650 conditions. More than 512 are refused, not
// forgotten: the pull on the first body would lift nothing.
TEST(ExactEngine, TooManyConditionsAreRefused) {
  const auto model = [](int half) {
    std::string coordinates;
    std::string kinetic;
    std::string potential;
    std::string contacts;
    std::string sum = "0";
    for (int i = 0; i < 2 * half; ++i) {
      const std::string x = "x" + std::to_string(i);
      coordinates += x + " = 0\n";
      kinetic += (i == 0 ? "" : " + ") + x + "'^2/2";
      potential += (i == 0 ? "" : " + ") + x;
      sum += (i < half ? " + " : " - ") + x;
      contacts += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngap = \"" + x + "\"\n";
    }
    return text_model("[coordinates]\n" + coordinates + "[energy]\nkinetic = \"" + kinetic +
                      "\"\npotential = \"" + potential + "\"\n[[force]]\nalong = \"x0'\"\nvalue = \"2*t\"\n" +
                      contacts + "[[contact]]\nname = \"all\"\ngap = \"" + sum + "\"\n[run]\nuntil = 2\n");
  };
  const TestModel few = model(2);
  const simulate::Result lifted = simulate::simulate(few.system, few.options, "exact");
  ASSERT_TRUE(lifted.end.status.ok()) << lifted.end.status.message;
  EXPECT_FALSE(lifted.data.events.empty());
  const TestModel many = model(25);
  const simulate::Result refused = simulate::simulate(many.system, many.options, "exact");
  EXPECT_EQ(refused.end.status.reason, Reason::unsupported);
  EXPECT_NE(refused.end.status.message.find("too many contacts share their reactions"), std::string::npos)
      << refused.end.status.message;
}

TEST(ExactEngine, SlidesInClosedForm) {
  const TestModel model = text_model(R"toml(
[state]
u = { start = 1, rate = "w - 3*sign(u + w)" }
w = { start = 0.5, rate = "-u - sign(u + w)" }
[run]
until = 2
)toml");
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  ASSERT_TRUE(exact.end.status.ok()) << exact.end.status.message;
  const auto begin = event_times(model.system, exact.data.events, "slide-begin state.u.rate");
  ASSERT_EQ(begin.size(), 1u) << event_list(model.system, exact.data.events);
  // On u + w = 0: u' = −u − 3 a, w' = −u − a with −2 u − 4 a = 0, so a = −u/2 and u' = u/2.
  double start = NAN;
  for (std::size_t i = 0; i < exact.data.rows(); ++i) {
    const double t = exact.data.cell(i, 0);
    if (t < begin[0] || (t == begin[0] && exact.data.kinds[i] != engines::RowKind::after)) continue;
    if (std::isnan(start)) start = exact.data.cell(i, 1);
    EXPECT_NEAR(exact.data.cell(i, 1), start * std::exp(0.5 * (t - begin[0])), 1e-13) << t;
    EXPECT_NEAR(exact.data.cell(i, 1) + exact.data.cell(i, 2), 0, 1e-14) << t;
  }
  EXPECT_FALSE(std::isnan(start));
}

// A force written with sign(x') in its work too, which is no contact and no law: x' = 0 from t = 1/2 until the pull t exceeds 2 + 1/4. Then
// x'' = t − 9/4, and friction has taken 2 ∫|x'| dt.
TEST(ExactEngine, SlidesOnAForceOfAMechanicalSystem) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { start = 0, velocity = 1 }
[energy]
kinetic   = "x'^2/2"
potential = "x/4"
[[force]]
name  = "pull"
along = "x'"
value = "t"
[[force]]
name  = "drag"
along = "x'"
value = "-2*sign(x')"
[run]
until = 5
[output]
columns = { taken = "-supplied(drag)" }
)toml");
  ASSERT_EQ(engines::ExactEngine::unsupported(model.system), "");
  const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
  ASSERT_TRUE(exact.end.status.ok()) << exact.end.status.message;
  ASSERT_EQ(exact.data.events.size(), 2u) << event_list(model.system, exact.data.events);
  // x' = 1 − 9/4 t + t²/2 vanishes at t = 1/2.
  EXPECT_NEAR(exact.data.events[0].time, 0.5, 1e-15);
  EXPECT_NEAR(exact.data.events[1].time, 2.25, 1e-15);
  const auto first = [](double t) { return t - 9 * t * t / 8 + t * t * t / 6; };
  const double way = std::pow(2.75, 3) / 6;
  EXPECT_NEAR(last(exact, "x"), first(0.5) + way, 1e-13);
  EXPECT_NEAR(last(exact, "x'"), 2.75 * 2.75 / 2, 1e-13);
  EXPECT_NEAR(last(exact, "taken"), 2 * (first(0.5) + way), 1e-12);
}

// Random systems with contacts, impacts, friction and harmonic loads. Events agree up to the horizon on which the event-driven engine agrees with
// itself at a tenth of the tolerance.
TEST(ExactEngine, AgreesOnRandomSystems) {
  int events = 0;
  for (int trial = 0; trial < count(2000); ++trial) {
    const unsigned seed = 40'000U + static_cast<unsigned>(trial);
    const RandomSystem drawn = random_system(seed);
    TestModel model = spec_model(drawn.spec());
    ASSERT_EQ(model.system.linear().reason, "") << "seed " << seed;
    model.options.samples = 2;
    model.options.max_events = 2000;
    model.options.tolerance = 1e-10;
    const simulate::Result coarse = simulate::simulate(model.system, model.options, "event");
    engines::EngineOptions finer = model.options;
    finer.tolerance = 1e-12;
    const simulate::Result fine = simulate::simulate(model.system, finer, "event");
    const simulate::Result exact = simulate::simulate(model.system, model.options, "exact");
    const std::vector<Event> a = without_grazes(coarse.data.events);
    const std::vector<Event> b = without_grazes(fine.data.events);
    const std::vector<Event> c = without_grazes(exact.data.events);
    for (std::size_t i = 0; i < std::min({a.size(), b.size()}); ++i) {
      const bool settled =
          a[i].kind == b[i].kind && a[i].place == b[i].place && std::abs(a[i].time - b[i].time) < 1e-7;
      if (!settled || a[i].kind == EventKind::accumulation) break;
      ASSERT_LT(i, c.size()) << "seed " << seed << "\nevent:\n"
                             << event_list(model.system, b) << "exact:\n"
                             << event_list(model.system, c) << exact.end.status.message;
      ASSERT_TRUE(b[i].kind == c[i].kind && b[i].place == c[i].place &&
                  std::abs(b[i].time - c[i].time) < 1e-6)
          << "seed " << seed << ", event " << i + 1 << "\nevent:\n"
          << event_list(model.system, b) << "exact:\n"
          << event_list(model.system, c);
      ++events;
    }
  }
  EXPECT_GT(events, 500);
}

}  // namespace
}  // namespace judder
