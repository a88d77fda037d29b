// A run is told to the referee with one thing changed, and it must notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "bench_model.hpp"
#include "story.hpp"

namespace judder {
namespace {

using referee::Kind;
using referee::Normal;
using referee::Tangent;

struct Case {
  const TestModel& model;
  Story& story;

  [[nodiscard]] std::size_t coordinate(const std::string& name) const {
    const auto& names = model.system.coordinate_names();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  [[nodiscard]] std::size_t relation(const std::string& name) const {
    const auto& all = model.system.relations();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.name == name; }) - all.begin());
  }
  [[nodiscard]] std::size_t tangent(const std::string& name) const {
    return static_cast<std::size_t>(model.system.relations()[relation(name)].first_tangent);
  }
  [[nodiscard]] std::size_t switch_of(const std::string& place) const {
    const auto& all = model.system.switches();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.place == place; }) - all.begin());
  }
  /// The first record after time `from` that fits.
  [[nodiscard]] std::size_t first(double from, const std::function<bool(const Told&)>& fits) const {
    for (std::size_t i = 0; i < story.size(); ++i) {
      if (story[i].time > from && fits(story[i])) return i;
    }
    throw std::runtime_error("no such record");
  }
  [[nodiscard]] Told& inside(double from) const {
    return story[first(from, [](const Told& t) { return !t.impact && t.kind == Kind::inside; })];
  }
  [[nodiscard]] std::size_t impact(const std::string& contact) const {
    const std::size_t r = relation(contact);
    return first(0, [r](const Told& t) { return t.impact && t.normal_impulse[r] > 0; });
  }
  void from(std::size_t index, const std::function<void(Told&)>& change) const {
    for (std::size_t i = index; i < story.size(); ++i) change(story[i]);
  }
};

struct Fault {
  const char* name;
  const char* law;  ///< one that must be named
  std::function<void(const Case&)> inject;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      {"side_flipped", "side",
       [](const Case& c) { c.inside(0.5).side[c.switch_of("force.branch.value")] = 0; }},
      {"switch_late", "side",
       [](const Case& c) {
         const std::size_t k = c.switch_of("force.branch.value");
         for (Told& told : c.story) {
           if (told.time > 0.342 && told.time < 0.5 && !told.impact) told.side[k] = 0;
         }
       }},
      {"slip_sign", "direction",
       [](const Case& c) { c.inside(0.5).tangent[c.tangent("floor")] = Tangent::minus; }},
      {"friction_one_per_cent_off", "friction",
       [](const Case& c) { c.inside(0.5).tangential_force[c.tangent("floor")] *= 1.01; }},
      {"friction_and_motion_one_per_cent_off", "friction",
       [](const Case& c) {
         Told& told = c.inside(0.5);
         double& force = told.tangential_force[c.tangent("floor")];
         told.acceleration[c.coordinate("u")] += 0.01 * force;
         force *= 1.01;
       }},
      {"impulse_lost", "momentum",
       [](const Case& c) {
         c.story.erase(c.story.begin() + static_cast<std::ptrdiff_t>(c.impact("ground")));
       }},
      {"impulse_scaled", "momentum",
       [](const Case& c) { c.story[c.impact("ground")].normal_impulse[c.relation("ground")] *= 1.001; }},
      {"impulse_negative", "impulse",
       [](const Case& c) { c.story[c.impact("ground")].normal_impulse[c.relation("ground")] *= -1; }},
      {"impulse_outside_the_cone", "impulse-cone",
       [](const Case& c) { c.story[c.impact("floor")].tangential_impulse[c.tangent("floor")] *= 2; }},
      {"impulse_drives_the_slip", "impulse-slip",
       [](const Case& c) { c.story[c.impact("floor")].tangential_impulse[c.tangent("floor")] *= -1; }},
      {"struck_and_still_approaching", "rebound",
       [](const Case& c) {
         Told& told = c.story[c.impact("ground")];
         told.v = told.before;
       }},
      {"impact_without_effect", "no-approach",
       [](const Case& c) {
         const std::size_t i = c.impact("ground");
         c.story[i + 1].v[c.coordinate("b")] = c.story[i].before[c.coordinate("b")];
       }},
      {"event_shifted_in_time", "story",
       [](const Case& c) {
         const std::size_t i = c.impact("ground");
         for (std::size_t j = i - 1; j <= i + 1; ++j) c.story[j].time += 1e-4;
       }},
      {"limits_at_different_times", "story",
       [](const Case& c) { c.story[c.impact("ground") + 1].time += 1e-9; }},
      {"position_shifted", "position",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::end; });
         const std::size_t x = c.coordinate("x");
         c.from(i, [x](Told& t) { t.q[x] += 1e-4; });
       }},
      {"velocity_drifts", "velocity",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::end; });
         const std::size_t x = c.coordinate("px");
         c.from(i, [x](Told& t) { t.v[x] += 1e-4; });
       }},
      {"reaction_pulls", "pressure",
       [](const Case& c) { c.inside(0.9).normal_force[c.relation("ground")] *= -1; }},
      {"stuck_row_moves", "stick", [](const Case& c) { c.inside(1.1).v[c.coordinate("u")] += 1e-4; }},
      {"stuck_row_accelerates", "row",
       [](const Case& c) { c.inside(1.1).acceleration[c.coordinate("u")] += 1e-3; }},
      {"stuck_beyond_the_cone", "cone",
       [](const Case& c) { c.inside(1.1).tangential_force[c.tangent("floor")] = 0.31 * 9.81; }},
      {"closed_gap_drifts", "gap", [](const Case& c) { c.inside(0.9).q[c.coordinate("b")] -= 1e-5; }},
      {"closed_gap_moves", "normal-speed", [](const Case& c) { c.inside(0.9).v[c.coordinate("b")] = 1e-4; }},
      {"open_contact_pushes", "open-force",
       [](const Case& c) { c.inside(0.3).normal_force[c.relation("ground")] = 1; }},
      {"open_gap_negative", "gap", [](const Case& c) { c.inside(0.3).q[c.coordinate("b")] = -1e-3; }},
      {"force_missing", "motion", [](const Case& c) { c.inside(0.3).acceleration[c.coordinate("b")] = 0; }},
      {"force_one_per_mille_off", "motion",
       [](const Case& c) { c.inside(0.3).acceleration[c.coordinate("x")] *= 1.001; }},
      {"wrong_rate_of_a_state", "rate", [](const Case& c) { c.inside(0.3).rate[0] *= 1.001; }},
      {"state_drifts", "state",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::end; });
         c.from(i, [](Told& t) { t.z[0] += 1e-4; });
       }},
      {"state_jumps", "continuity",
       [](const Case& c) { c.from(c.impact("ground") + 1, [](Told& t) { t.z[0] += 1e-4; }); }},
      {"position_jumps_at_an_event", "continuity",
       [](const Case& c) {
         const std::size_t x = c.coordinate("k");
         c.from(c.impact("ground") + 1, [x](Told& t) { t.q[x] += 1e-4; });
       }},
      {"wrong_sliding_coefficient", "motion",
       [](const Case& c) { c.inside(0.3).side[c.switch_of("force.relay.value")] += 1e-3; }},
      {"sliding_coefficient_beyond_one", "coefficient",
       [](const Case& c) { c.inside(0.3).side[c.switch_of("force.relay.value")] = 1.01; }},
      {"off_the_sliding_surface", "sliding",
       [](const Case& c) { c.inside(0.3).q[c.coordinate("r")] += 1e-4; }},
      {"dissipation_not_recorded", "work",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::end; });
         c.from(i, [](Told& t) {
           if (!t.dissipated.empty()) t.dissipated[0] -= 1e-3;
         });
       }},
      {"energy_lost_at_an_impact", "energy",
       [](const Case& c) {
         c.from(c.impact("ground") + 1, [](Told& t) {
           if (!t.dissipated.empty()) t.dissipated[0] += 1e-2;
         });
       }},
      {"constraint_violated", "constraint",
       [](const Case& c) { c.inside(0.5).q[c.coordinate("px")] += 1e-5; }},
      {"open_called_closed", "gap",
       [](const Case& c) { c.inside(0.3).normal[c.relation("ground")] = Normal::closed; }},
      {"closed_called_open", "open-force",
       [](const Case& c) { c.inside(0.9).normal[c.relation("ground")] = Normal::open; }},
      {"mode_changes_inside_a_step", "story",
       [](const Case& c) { c.inside(0.5).tangent[c.tangent("pad")] = Tangent::stick; }},
      {"step_left_out", "story",
       [](const Case& c) {
         const std::size_t i = c.first(1.1, [](const Told& t) { return t.kind == Kind::end; });
         c.story.erase(c.story.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                       c.story.begin() + static_cast<std::ptrdiff_t>(i) + 5);
       }},
      {"points_left_out", "story",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::inside; });
         c.story[i].time += 1e-3 * (c.story[i + 1].time - c.story[i].time);
       }},
      {"time_runs_backwards", "story",
       [](const Case& c) {
         const std::size_t i = c.first(0.5, [](const Told& t) { return t.kind == Kind::end; });
         c.story[i].time = 0.1;
       }},
      {"not_a_number", "motion",
       [](const Case& c) { c.inside(0.5).acceleration[c.coordinate("x")] = std::nan(""); }},
  };
  return all;
}

class Faults : public testing::TestWithParam<Fault> {
 protected:
  static const TestModel& model() {
    static const TestModel made = text_model(kOfEverything);
    return made;
  }
  static const Story& told() {
    static const Story story = record(model());
    return story;
  }
};

TEST_P(Faults, AreFound) {
  Story story = told();
  GetParam().inject({model(), story});
  const Verdict verdict = judge(model(), story);
  const bool found = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.law == GetParam().law; });
  EXPECT_TRUE(found) << "expected " << GetParam().law << ", found:\n" << words(verdict);
}

INSTANTIATE_TEST_SUITE_P(Referee, Faults, testing::ValuesIn(faults()),
                         [](const auto& fault) { return std::string(fault.param.name); });

// A limit that doubles holds a massless node that slips; going back by what the balance with the slip asks for is against its friction.
TEST(Referee, FindsAMasslessNodeThatJumpsAgainstItsSlip) {
  const TestModel model = text_model(R"toml(
[coordinates]
x = { velocity = -0.5 }
y = { massless = true }
[energy]
kinetic = "x'^2/2"
potential = "2*(x - y)^2"
[[friction]]
name = "f"
slip = "y'"
normal = "if(t < 0.8, 1, 2)"
law = 0.2
[run]
until = 0.9
)toml");
  Story story = record(model);
  EXPECT_TRUE(judge(model, story).silent());
  const Case c{model, story};
  const std::size_t at =
      c.first(0.79, [](const Told& told) { return !told.impact && told.kind == Kind::after; });
  ASSERT_EQ(story[at].tangent[c.tangent("f")], Tangent::stick);
  const auto told_of = [&](double way) {
    Story other = story;
    for (std::size_t i = at; i < other.size(); ++i) {
      other[i].q[c.coordinate("y")] += way;
      other[i].tangent[c.tangent("f")] = Tangent::minus;
    }
    const Verdict verdict = judge(model, other);
    return std::any_of(verdict.findings.begin(), verdict.findings.end(), [](const Finding& finding) {
      return finding.law == "direction" && std::abs(finding.time - 0.8) < 1e-12;
    });
  };
  EXPECT_TRUE(told_of(0.05));
  EXPECT_FALSE(told_of(-0.05));
}

/// A story of a mass at rest, told as if it had left with x'' = a from the start, with these sides of its dry force and of its place: every
/// law of that motion holds.
Story left_with(const TestModel& model, double a, double dry, double place) {
  Story story = record(model);
  for (Told& told : story) {
    told.q[0] = 0.5 * a * told.time * told.time;
    told.v[0] = a * told.time;
    told.acceleration[0] = a;
    for (std::size_t k = 0; k < model.system.switches().size(); ++k) {
      told.side[k] = model.system.switches()[k].rate.outputs() > 0 ? place : dry;
      told.surface[k] = referee::Surface::away;
    }
  }
  return story;
}

std::vector<std::string> laws_of(const Verdict& verdict) {
  std::vector<std::string> out;
  for (const Finding& finding : verdict.findings) out.push_back(finding.law);
  return out;
}

// At x = 0 the place gives nothing, and the friction holds what does. Told is the motion that the value below would take: it breaks
// nothing else.
TEST(Referee, FindsRestThatIsLeftWhereTheValueAtEqualityKeepsIt) {
  for (const auto& [value, a, dry, place] : std::vector<std::tuple<std::string, double, double, double>>{
           {"-sign(x') + if(x < 0, -1.25, 0)", -0.25, 0, 1},
           {"-sign(x') + if(x > 0, 1.25, 0)", 0.25, 1, 1},
           {"-sign(x') + 0.75*sign(x) - 0.5", -0.25, 0, 0},
       }) {
    const TestModel model = text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
        value + "\"\n[run]\nuntil = 1\n");
    EXPECT_TRUE(judge(model, record(model)).silent()) << value;
    const Verdict verdict = judge(model, left_with(model, a, dry, place));
    const std::vector<std::string> laws = laws_of(verdict);
    EXPECT_NE(std::find(laws.begin(), laws.end(), "rest"), laws.end()) << value << "\n" << words(verdict);
    for (const std::string& law : laws)
      EXPECT_TRUE(law == "rest" || law == "work" || law == "energy") << value << law;
  }
}

// What the friction does not hold, or only just, and what is no rest at equality, leaves in peace.
TEST(Referee, LeavesInPeaceWhatCannotRest) {
  for (const std::string value :
       {"-sign(x') + if(x >= 0, 1.25, 0)", "-sign(x') + if(x <= 0, -1.25, 0)",
        "-sign(x') + 1.5*step(x) - 0.2", "if(x <= 0, -1, 0)", "-sign(x') + t + 0.999", "1 - sign(x' - 2)",
        "-sign(x) - 0.3*sign(x') + t"}) {
    const TestModel model = text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = \"" +
        value + "\"\n[run]\nuntil = 1\n");
    const Verdict verdict = judge(model, record(model));
    EXPECT_TRUE(verdict.silent()) << value << "\n" << words(verdict);
  }
}

TEST(Referee, IsSilentWhereNothingWasChanged) {
  const TestModel model = text_model(kOfEverything);
  const Verdict verdict = judge(model, record(model));
  EXPECT_TRUE(verdict.judged);
  EXPECT_TRUE(verdict.silent()) << words(verdict);
  // Every law that this motion can break was looked at.
  std::set<std::string> laws;
  for (const LawRecord& record : verdict.laws) {
    laws.insert(record.law);
    EXPECT_GT(record.checks, 0U) << record.law;
    EXPECT_LE(record.worst, 1) << record.law;
  }
  for (const Fault& fault : faults()) {
    if (std::string_view(fault.law) != "no-approach") {
      EXPECT_EQ(laws.count(fault.law), 1U) << fault.law;
    }
  }
}

TEST(Referee, KeepsTheFirstAndTheWorst) {
  const TestModel model = text_model(kOfEverything);
  Story story = record(model);
  const Case c{model, story};
  const std::size_t x = c.coordinate("x");
  c.inside(0.5).acceleration[x] += 1;
  c.inside(1.2).acceleration[x] += 10;
  c.inside(2.0).acceleration[x] += 5;
  const Verdict verdict = judge(model, story);
  ASSERT_FALSE(verdict.findings.empty());
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.law, "motion");
  EXPECT_EQ(finding.place, "coordinate x");
  EXPECT_EQ(finding.count, 3U);
  EXPECT_GT(finding.time, 0.5);
  EXPECT_LT(finding.time, 1.2);
  EXPECT_GT(finding.worst_time, 1.2);
  EXPECT_LT(finding.worst_time, 2.0);
  EXPECT_NEAR(finding.worst_amount, 10, 1e-6);
}

TEST(Referee, HasABoundedBook) {
  // 300 masses that all break their equation: the first 256 are named, the others counted.
  const TestModel model = text_model(R"toml(
[coordinates]
x = { each = "i = 1 to 300", start = 1 }
[energy]
kinetic = "sum(i = 1 to 300, x[i]'^2)/2"
potential = "sum(i = 1 to 300, x[i]^2)/2"
[run]
until = 0.1
)toml");
  Story story = record(model);
  for (Told& told : story) {
    for (double& a : told.acceleration) a *= 2;
  }
  const Verdict verdict = judge(model, story);
  EXPECT_EQ(verdict.findings.size(), 256U);
  EXPECT_GT(verdict.not_kept, 0U);
}

}  // namespace
}  // namespace judder
