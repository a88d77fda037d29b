// Impacts of whole models against values of another kind: closed forms, quadratures, energies.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "judder/analysis/impacts.hpp"
#include "judder/core/number.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using analysis::ContactImpulse;
using analysis::Impacts;
using analysis::LawImpact;

const LawImpact& law(const Impacts& impacts, const std::string& name) {
  for (const LawImpact& each : impacts.laws) {
    if (each.law == name) return each;
  }
  throw std::runtime_error("no law " + name);
}

engines::Event first_event(const simulate::Result& result, engines::EventKind kind) {
  for (const engines::Event& event : result.data.events) {
    if (event.kind == kind) return event;
  }
  throw std::runtime_error("no such event");
}

/// A contact with A = [a b; b c] for (normal, slip): y is the gap, x' the slip.
std::string contact(double b, const std::string& friction, const std::string& impact, double slip,
                    const std::string& more = {}) {
  return "[parameters]\nb = " + std::to_string(b) + "\nvt = " + std::to_string(slip) + R"model(
d = "1 - b^2"
[coordinates]
y = { velocity = -1 }
x = { velocity = "vt" }
)model" + (more.empty() ? "" : more.substr(0, more.find('|'))) +
         R"model([energy]
kinetic = "(y'^2 - 2*b*y'*x' + x'^2)/(2*d))model" +
         (more.empty() ? "" : " + u'^2/2") + R"model("
[[contact]]
name = "p"
gap = "y"
slip = "x'"
friction = )model" +
         friction + "\nimpact = " + impact + "\n" + (more.empty() ? "" : more.substr(more.find('|') + 1)) +
         "[run]\nuntil = 1e-3\n";
}

const char* const kRestingBlock =
    "u = { velocity = 0 }\n|[[contact]]\nname = \"q\"\ngap = \"u\"\nimpact = 0\n";

// One striking contact keeps its impulse path, whatever rests on the floor beside it.
TEST(Blocks, WhatNothingConnectsChangesNothing) {
  const double expected[] = {2.07317073170731707, 1.92682926829268293, 1.82439024390243902, 1.84013435};
  const char* const laws[] = {"moreau", "newton", "poisson", "stronge"};
  for (int l = 0; l < 4; ++l) {
    const std::string impact = std::string("{ type = \"") + laws[l] + "\", restitution = 0.7 }";
    const TestModel alone = text_model(contact(0.6, "0.3", impact, -0.3));
    const TestModel beside = text_model(contact(0.6, "0.3", impact, -0.3, kRestingBlock));
    const simulate::Result a = run(alone), b = run(beside);
    const engines::Event one = first_event(a, engines::EventKind::impact);
    const engines::Event other = first_event(b, engines::EventKind::impact);
    EXPECT_NEAR(one.normal_impulse, expected[l], l == 3 ? 1e-8 : 1e-12) << laws[l];
    EXPECT_EQ(one.normal_impulse, other.normal_impulse) << laws[l];
    EXPECT_EQ(one.tangential_impulse[0], other.tangential_impulse[0]) << laws[l];
    EXPECT_EQ(analysis::impacts(beside.system).contacts.size(), 1U);
    EXPECT_NEAR(law(analysis::impacts(beside.system), laws[l]).contacts[0].normal_impulse, one.normal_impulse,
                0);
  }
}

// Many blocks at one instant: each by its own path, and a chain of constraints makes one block of what it joins.
TEST(Blocks, AreSolvedEachByItself) {
  const int count = 70;
  std::string text = "[coordinates]\n", kinetic, contacts;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "y" + n + " = { velocity = " + std::to_string(-1 - 0.01 * i) + " }\nx" + n +
            " = { velocity = -0.3 }\n";
    kinetic += (i > 0 ? " + " : "") + ("(y" + n + "'^2 - 1.2*y" + n + "'*x" + n + "' + x" + n + "'^2)/1.28");
    contacts += "[[contact]]\nname = \"c" + n + "\"\ngap = \"y" + n + "\"\nslip = \"x" + n +
                "'\"\nfriction = 0.3\nimpact = { type = \"poisson\", restitution = 0.7 }\n";
  }
  text += "[energy]\nkinetic = \"" + kinetic + "\"\n" + contacts + "[run]\nuntil = 1e-3\n";
  const simulate::Result all = run(text_model(text));
  ASSERT_EQ(all.data.events.size(), static_cast<std::size_t>(count));
  for (const int i : {0, 1, 40, 63, 64, 69}) {
    // The path of one contact is homogeneous in the velocities.
    const double v = 1 + 0.01 * i;
    const TestModel one =
        text_model(contact(0.6, "0.3", "{ type = \"poisson\", restitution = 0.7 }", -0.3 / v));
    EXPECT_NEAR(all.data.events[i].normal_impulse,
                v * first_event(run(one), engines::EventKind::impact).normal_impulse, 1e-6)
        << i;
  }
}

// Smooth laws are Coulomb's law with the steady coefficient, in both directions.
TEST(SmoothLaws, EnterImpactsWithTheirSteadyCoefficient) {
  const double mu = 0.3 * 2 / 3.141592653589793 * std::atan(2000.0);
  struct Law {
    const char* text;
    double mu;
  };
  const double g = 0.2 + 0.3 * std::exp(-4.0);  // Stribeck's curve at speed 2
  const Law laws[] = {
      {"{ type = \"arctan\", mu = 0.3, beta = 1000 }", mu},
      {"{ type = \"lugre\", mu = 0.3, stiffness = 1e4, damping = 10 }", 0.3},
      {"{ type = \"lugre\", static = 0.5, dynamic = 0.2, velocity = 1, stiffness = 1e4, damping = 10 }", g},
      {"{ type = \"elastoplastic\", mu = 0.3, stiffness = 1e4, damping = 10, breakaway = 1e-5 }", 0.3},
      {"\"0.1 + 0.1*speed\"", 0.3},
      {"\"if(speed > 1, 0.3, 0.1)\"", 0.3},
  };
  for (const Law& each : laws) {
    for (const double direction : {1.0, -1.0}) {
      for (const double b : {0.0, 0.2}) {
        const TestModel model = text_model(contact(b, each.text, "0.5", 2 * direction));
        const simulate::Result result = run(model);
        // γ_N: −1 + P + b Q = 0.5, Q = −s μ P while the slip goes on.
        const double P = 1.5 / (1 - direction * each.mu * b);
        const engines::Event event = first_event(result, engines::EventKind::impact);
        EXPECT_NEAR(event.normal_impulse, P, 1e-12) << each.text;
        EXPECT_NEAR(event.tangential_impulse[0], -direction * each.mu * P, 1e-12) << each.text;
        EXPECT_LT(event.energy_after, event.energy_before) << each.text;
        if (b == 0.2 && each.mu == mu) {
          EXPECT_NEAR(last(result, "x'"), direction > 0 ? 1.84058 : -1.29258, 5e-6);
        }
      }
    }
  }
}

// A coefficient that the direction of slip switches is the one of the slip before; of a path, the one of the slip there.
TEST(SmoothLaws, ReadTheDirectionOfTheSlip) {
  const char* const friction = "\"if(x' > 0, 0.2, 0.4)\"";
  for (const double slip : {2.0, -2.0}) {
    const double mu = slip > 0 ? 0.2 : 0.4, s = slip > 0 ? 1 : -1;
    const simulate::Result result = run(text_model(contact(0.2, friction, "0.5", slip)));
    const double P = 1.5 / (1 - s * mu * 0.2);
    EXPECT_NEAR(first_event(result, engines::EventKind::impact).normal_impulse, P, 1e-12);
  }
  // From −0.1 the pull 0.5 P turns the slip: A = [1 0.5; 0.5 1]; slip− with 0.4, then slip+ with 0.2.
  const simulate::Result turns =
      run(text_model(contact(0.5, friction, "{ type = \"newton\", restitution = 0.5 }", -0.1)));
  const double first = 0.1 / (0.5 + 0.4);
  const double normal = -1 + (1 + 0.5 * 0.4) * first;
  const double second = (0.5 - normal) / (1 - 0.5 * 0.2);
  const engines::Event event = first_event(turns, engines::EventKind::impact);
  EXPECT_NEAR(event.normal_impulse, first + second, 1e-10);
  EXPECT_NEAR(event.tangential_impulse[0], 0.4 * first - 0.2 * second, 1e-10);
}

TEST(Coefficients, StaticOnesHoldASlipAtRestUnderEveryLaw) {
  for (const char* type : {"moreau", "newton", "poisson", "stronge"}) {
    const simulate::Result result =
        run(text_model(contact(0.45, "{ static = 0.6, dynamic = 0.3 }",
                               std::string("{ type = \"") + type + "\", restitution = 0.5 }", 0)));
    EXPECT_NEAR(last(result, "x'"), 0, 1e-15) << type;
    const engines::Event event = first_event(result, engines::EventKind::impact);
    EXPECT_NEAR(event.tangential_impulse[0], -0.45 * event.normal_impulse, 1e-14) << type;
  }
}

// μ falls with the slip: along the path the slip stops at P = ∫ dγ/μ = 1.14, before the impact ends at 1.5.
TEST(Coefficients, PathLawsFollowThem) {
  for (const char* type : {"newton", "poisson", "stronge"}) {
    const simulate::Result result =
        run(text_model(contact(0, "{ static = 0.9, dynamic = 0.3, velocity = 0.2 }",
                               std::string("{ type = \"") + type + "\", restitution = 0.5 }", 0.5)));
    EXPECT_EQ(last(result, "x'"), 0) << type;
    EXPECT_NEAR(first_event(result, engines::EventKind::impact).tangential_impulse[0], -0.5, 1e-14) << type;
  }
  const simulate::Result moreau =
      run(text_model(contact(0, "{ static = 0.9, dynamic = 0.3, velocity = 0.2 }", "0.5", 0.5)));
  EXPECT_NEAR(last(moreau, "x'"), 0.5 - 1.5 * (0.3 + 0.6 * std::exp(-6.25)), 1e-13);
}

TEST(TwoSlipComponents, HaveACircularCone) {
  const TestModel model = text_model(R"model(
[coordinates]
x = { velocity = 1 }
y = { velocity = 0.5 }
z = { velocity = -1 }
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "10*z"
[[contact]]
name = "p"
gap = "z"
slip = ["x'", "y'"]
friction = 0.3
impact = 0.5
)model");
  const Impacts found = analysis::impacts(model.system);
  const ContactImpulse& moreau = law(found, "moreau").contacts[0];
  EXPECT_NEAR(moreau.tangential_impulse[0], -0.45 / std::sqrt(1.25), 1e-14);
  EXPECT_NEAR(moreau.tangential_impulse[1], -0.225 / std::sqrt(1.25), 1e-14);
}

const char* const kSeparating = R"model(
[coordinates]
a = { velocity = -1 }
b = { velocity = 0.1 }
[energy]
kinetic = "a'^2/2 + b'^2/2 + 0.5*a'*b'"
[[contact]]
name = "c1"
gap = "a"
impact = 0.5
[[contact]]
name = "c2"
gap = "b"
impact = 0.5
[run]
until = 1e-3
)model";

TEST(SeparatingContacts, TakePartAndDoNotPenetrate) {
  const TestModel model = text_model(kSeparating);
  const simulate::Result result = run(model);
  EXPECT_NEAR(last(result, "a'"), 0.5, 1e-14);
  EXPECT_NEAR(last(result, "b'"), 0, 1e-14);
  const Impacts found = analysis::impacts(model.system);
  ASSERT_EQ(found.contacts.size(), 2U);
  EXPECT_TRUE(found.contacts[1].separates);
  for (const LawImpact& each : found.laws) {
    for (const ContactImpulse& impulse : each.contacts) EXPECT_GE(impulse.normal_after, -1e-12) << each.law;
  }
  EXPECT_NEAR(law(found, "moreau").contacts[1].normal_impulse, 0.65, 1e-14);
}

const char* const kRod = R"model(
[parameters]
theta0 = 0.6
w0 = 5
v0 = -30
[coordinates]
x = { velocity = "v0 - sin(theta)*theta'/2" }
y = { start = "sin(theta)/2", velocity = "cos(theta)*theta'/2" }
theta = { start = "theta0", velocity = "w0" }
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/24"
potential = "9.81*y"
[[contact]]
name = "end"
gap = "y - sin(theta)/2"
slip = "(x - cos(theta)/2)'"
friction = 2
[run]
until = 0.1
on_painleve = )model";

// The rod's reaction grows without bound where k = 1 + 3 cos² θ − 6 sin θ cos θ falls to zero.
TEST(DynamicJam, IsNamedForEveryStart) {
  // 2.5 + 1.5 cos 2θ = 3 sin 2θ
  const double jam = 0.5 * (std::atan2(1.5, 3.0) + std::asin(2.5 / std::hypot(3.0, 1.5)));
  EXPECT_NEAR(1 + 3 * std::pow(std::cos(jam), 2) - 3 * std::sin(2 * jam), 0, 1e-14);
  for (int i = 0; i <= 10; ++i) {
    const double w0 = 4.6 + 0.1 * i;
    SCOPED_TRACE(w0);
    for (const char* on : {"\"stop\"", "\"choose\""}) {
      const TestModel model = text_model(std::string(kRod) + on + "\n", {{"w0", w0}});
      const simulate::Result result = run(model);
      EXPECT_EQ(result.end.status.reason, Reason::inconsistent);
      EXPECT_NE(result.end.status.message.find("dynamic jam"), std::string::npos)
          << result.end.status.message;
      ASSERT_EQ(result.data.events.size(), 1U);
      EXPECT_EQ(engines::detail(model.system, result.data.events[0]), "dynamic-jam");
      EXPECT_NEAR(last(result, "theta"), jam, 1e-8);
    }
    const TestModel model = text_model(std::string(kRod) + "\"tangential-impact\"\n", {{"w0", w0}});
    const simulate::Result result = run(model);
    EXPECT_TRUE(result.end.status.ok()) << result.end.status.message;
    ASSERT_GT(result.data.events.size(), 1U);
    EXPECT_EQ(engines::detail(model.system, result.data.events[0]), "dynamic-jam");
    const engines::Event impact = first_event(result, engines::EventKind::tangential_impact);
    // The slip −30 + … stops: energy lost is half of slip times impulse, friction is on its cone.
    EXPECT_NEAR(impact.tangential_impulse[0], 2 * impact.normal_impulse, 1e-6 * impact.normal_impulse);
    EXPECT_GT(impact.energy_before - impact.energy_after, 0);
  }
}

// A ball with a horizontal velocity bounces to rest: over all impacts the tangential impulse is −μ times the normal one while it slides.
TEST(Accumulation, ListsItsTangentialImpulse) {
  const TestModel model = text_model(R"model(
[coordinates]
x = { velocity = 5 }
y = 1
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = 0.1
impact = 0.5
[run]
until = 2
)model");
  const simulate::Result result = run(model);
  const engines::Event end = first_event(result, engines::EventKind::accumulation);
  EXPECT_GT(end.normal_impulse, 0);
  EXPECT_NEAR(end.tangential_impulse[0], -0.1 * end.normal_impulse, 1e-12 * end.normal_impulse);
  // Momentum along x up to the end of the tail.
  double sum = 0;
  for (const engines::Event& event : result.data.events) {
    if (event.time <= end.time) sum += event.tangential_impulse[0];
  }
  const double at_end = 5 + sum;
  EXPECT_NEAR(last(result, "x'"), at_end - 0.1 * 9.81 * (2 - end.time), 1e-9);
}

// Newton's law can create energy; the event says how much.
TEST(EnergyGain, IsListedWithTheImpact) {
  const TestModel model = gallery_model("rod-impact", {"T22"}, {{"e", 1}});
  const Impacts found = analysis::impacts(model.system);
  EXPECT_NEAR(law(found, "newton").energy_gain, 0.10769226, 1e-8);
  EXPECT_NEAR(law(found, "newton").energy_gain, law(found, "newton").energy_after - found.energy_before,
              1e-14);
  EXPECT_EQ(law(found, "stronge").energy_gain, 0);
}

// A ball that slips over the floor: each impact leaves λ of the slip, and infinitely many leave nothing of it, or all. The way in flights is a geometric series; behind the
// accumulation Coulomb's law takes over, 3 m/s² against what is left.
TEST(Impacts, ThatAccumulateLeaveNothingOfATiedSlip) {
  for (const double share : {0.9, 0.5, -0.6, 0.0, 1.0}) {
    for (const char* type : {"moreau", "newton", "poisson"}) {
      const TestModel model = text_model(
          "[coordinates]\nx = { start = 0, velocity = 2 }\ny = 0.5\n[energy]\nkinetic = \"x'^2/2 + "
          "y'^2/2\"\npotential = \"10*y\"\n[[contact]]\nname = \"c\"\ngap = \"y\"\nslip = \"x'\"\nfriction = "
          "0.3\nimpact = { type = \"" +
          std::string(type) + "\", restitution = 0.5, tangential = " + to_text(share) +
          " }\n[run]\nuntil = 4\n");
      const double fall = std::sqrt(0.1);
      // The first flight, then 2 share^k over 2 fall 0.5^k.
      double way = 2 * fall + 4 * fall * (0.5 * share) / (1 - 0.5 * share);
      if (share == 1) way += 2 * 2 / (2 * 3.0);  // it slides on, and stops
      EXPECT_NEAR(outcome_of(model, "event").y[0], way, 1e-7) << type << " " << share;
    }
  }
}

// The force is 0.8 while the ball rises and 0.2 while it falls, friction 0.5: x' gains 0.3 · 0.8 in the first rise, loses it in the fall, and comes to zero in the
// instant of the next impact, which pushes it on.
TEST(Impacts, InTheInstantInWhichASlipEndsPushItOn) {
  const Outcome out = outcome_of(trial("impact-at-slip-end"), "event");
  EXPECT_NEAR(out.y[0], 2 * 0.15 * 0.64 + 0.15 * 0.16, 1e-9);
  EXPECT_NEAR(out.y[2], 0.3 * 0.4, 1e-9);
  EXPECT_NEAR(out.y[1], 0.64 * 0.4 - 0.5 * 0.16, 1e-9);
}

}  // namespace
}  // namespace judder
