// Bodies at rest side by side, held by dry forces, joints and both together. What has nothing to do with a body changes nothing of its
// motion: what one of them has settled, such as the share of a load that friction bears beside a dry force, stands while another one is
// decided. The right values are closed forms, or small steps of the set-valued law, solved exactly in each step (mechanics:
// docs/theory.md, "An instant").
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

const std::vector<std::string> kBoth{"event", "exact"};
const std::vector<std::string> kEvent{"event"};

engines::EngineResult end_of(const TestModel& model, const std::string& engine, double tolerance = 1e-9) {
  engines::EngineOptions options = model.options;
  options.tolerance = tolerance;
  simulate::NullSink sink;
  return simulate::run(model.system, engine, options, sink);
}

/// The end, by the places of the components in the state.
void expect_end(const TestModel& model, const std::vector<std::pair<int, double>>& right,
                const std::string& name, const std::vector<std::string>& engines, double error = 0) {
  for (const std::string& engine : engines) {
    for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
      const engines::EngineResult end = end_of(model, engine, tolerance);
      ASSERT_TRUE(end.status.ok()) << name << " " << engine << " " << tolerance << ": " << end.status.where
                                   << ": " << end.status.message;
      for (const auto& [i, value] : right)
        EXPECT_NEAR(end.end.y[i], value, std::max(error, 100 * tolerance))
            << name << " " << engine << " " << tolerance;
    }
  }
}

/// Masses of 1, each under a force, joints between them and the ground, in the order of `parts`.
TestModel bodies(const std::string& parts, double until) {
  return text_model("[coordinates]\na = 0\nb = 0\n[energy]\nkinetic = \"a'^2/2 + b'^2/2\"\n" + parts +
                    "[run]\nuntil = " + std::to_string(until) + "\n[output]\nsamples = 2\n");
}

std::string force(const std::string& body, const std::string& value) {
  return "[[force]]\nname = \"p" + body + "\"\nalong = \"" + body + "'\"\nvalue = \"" + value + "\"\n";
}

std::string joint(const std::string& body, const std::string& law) {
  return "[[friction]]\nname = \"f" + body + "\"\nslip = \"" + body + "'\"\nnormal = 1\nlaw = " + law + "\n";
}

// The joint reaches its limit at t = 2 and the dry force holds the rest up to t = 3, where the joint falls to 1: b'' = t - 2 from there.
// The other mass changes nothing, in whatever order the forces are written.
TEST(Blocks, KeepTheShareThatFrictionBearsBesideADryForce) {
  const double right = 1.0 / 6 + 0.5;
  expect_end(trial("two-dry-forces-at-rest"), {{0, 0}, {1, right}}, "as found", kEvent);
  const std::string law = "{ static = 2, dynamic = 1 }";
  const std::string pa = force("a", "-sign(a')");
  const std::string pb = force("b", "t - sign(b')");
  for (const std::string& parts : {pa + pb + joint("b", law), pb + pa + joint("b", law),
                                   joint("b", law) + pb + pa, pb + joint("b", law)})
    expect_end(bodies(parts, 4), {{0, 0}, {1, right}}, parts, kEvent);
}

// One coefficient: joint and dry force hold up to t = 2, b'' = t - 2.
TEST(Blocks, HoldNothingLongerThanTheyBear) {
  for (const std::string& parts : {force("b", "t - sign(b')") + force("a", "-sign(a')") + joint("b", "1"),
                                   force("a", "-sign(a')") + force("b", "t - sign(b')") + joint("b", "1")})
    expect_end(bodies(parts, 4), {{0, 0}, {1, 8.0 / 6}}, parts, kEvent);
}

// Two masses that are held by both at the same time: each has a share of its own.
TEST(Blocks, HaveSharesOfTheirOwn) {
  for (const std::string& parts :
       {force("a", "1.5 - sign(a')") + joint("a", "1") + force("b", "t - sign(b')") + joint("b", "2"),
        force("b", "t - sign(b')") + joint("b", "2") + force("a", "1.5 - sign(a')") + joint("a", "1")})
    expect_end(bodies(parts, 4), {{0, 0}, {1, 1.0 / 6}}, parts, kEvent);
}

// The load of one state jumps while the other one rests: z = 2 (t - 1).
TEST(Blocks, AJumpMovesWhatItActsOn) {
  const auto states = [](bool turned) {
    const std::string a = "za = { start = 0, rate = \"0.5 - 2*sign(za)\" }\n";
    const std::string b = "zb = { start = 0, rate = \"3*step(t - 1) - sign(zb)\" }\n";
    return text_model("[state]\n" + (turned ? b + a : a + b) + "[run]\nuntil = 3\n");
  };
  expect_end(trial("jump-beside-a-resting-sign"), {{0, 0}, {1, 4}}, "as found", kBoth);
  expect_end(states(false), {{0, 0}, {1, 4}}, "second", kBoth);
  expect_end(states(true), {{0, 4}, {1, 0}}, "first", kBoth);
}

// The load of a state comes to its limit and turns, at the very instant at which a force on a mass begins: the state rests on.
TEST(Blocks, ATouchOfALimitAtTheInstantOfAnotherBodyEndsNothing) {
  const TestModel model = text_model(
      "[coordinates]\na = 0\n[state]\nb = { start = 0, rate = \"-cos(2*t) - sign(b)\" }\n[energy]\nkinetic = "
      "\"a'^2/2\"\n"
      "[[force]]\nalong = \"a'\"\nvalue = \"step(t - pi/2)\"\n[run]\nuntil = 2\n[output]\nsamples = 2\n");
  const double rest = 2 - std::acos(-1.0) / 2;
  expect_end(model, {{0, rest * rest / 2}, {2, 0}}, "touch", kEvent);
}

// A belt turns while the mass rests on its dry force: the slip is zero there, and goes on to the other side.
TEST(Blocks, ABeltTurnsUnderAMassAtRest) {
  expect_end(trial("belt-beside-a-dry-force"), {{0, 0.2483914001}}, "belt", kBoth, 1e-8);
}

// With the belt it would need more than the joint bears, by the sign of that motion; without it the joint would bear the load at rest, by
// the sign of the other. So it slips on the belt and slides back: x'' = -1.5 + 1 + 0.2.
TEST(Blocks, ARowThatHoldsWithTheWrongSignIsLetGo) {
  expect_end(trial("starting-belt-and-dry-force"), {{0, -0.6}, {1, -0.6}}, "belt", kBoth);
}

// The joints hold together what the dry force acts on: whatever share of it keeps both within their limits will do. The values are those
// of a joint in place of the force.
TEST(Blocks, AShareKeepsAllRowsBesideItWithinTheirLimits) {
  expect_end(trial("slide-depends-on-joints"), {{0, -0.1090766}, {1, -0.0919981}, {2, -0.1041545}}, "joints",
             kBoth, 1e-6);
}

// What is held has no acceleration from what rounding leaves of the shares of its neighbours: x lets go at 1.19/0.91, in the direction
// that its forces have.
TEST(Blocks, RestBesideSharedInertiaIsKept) {
  const double free = 1.5 - 1.19 / 0.91;
  expect_end(trial("rest-beside-inertia"), {{0, 0.91 * free * free * free / 6}, {1, 0}}, "inertia", kBoth);
}

// A push of 1e-7 beside one of 2: what is left of them where they balance is rounding of the larger, and nothing is broken by that.
TEST(Blocks, ASlideBeginsBesideAnother) {
  const TestModel model = trial("slide-begins-beside-another");
  expect_end(model, {{0, 5.0 / 24}, {1, 0}}, "slides", kBoth);
  EXPECT_TRUE(end_of(model, "event").verdict.silent());
}

struct Placed {
  const char* kinetic;
  const char* x;
  const char* y;
  const char* joint;
  double right_x, right_y, error;
};

// Switches of places beside shared inertia. First: y lets go at 0.19/0.43 and is pushed back at once, so it rests on its place, and x
// slips at 0.5/0.91. Second and third: what leaves at once takes the other one along, or does not; by steps of 2e-6.
TEST(Blocks, PlacesAreLeftByAsFewAsLetTheOthersStay) {
  const double slipping = 1.5 - 0.5 / 0.91;
  for (const Placed& c : std::vector<Placed>{
           {"0.3", "-0.91*t - 0.77*step(x)", "-0.31 - 0.43*t + if(y < 0, 1.23, 0) - 0.5*sign(y')", "0.5",
            -0.91 * slipping * slipping * slipping / 6, 0, 0},
           {"-0.3", "0.53 + 0.91*t + 1.23*sign(x) - 1.5*sign(x')",
            "0.31 + 0.91*t + if(y > 0, 1.23, 0) - 1.5*sign(y')", nullptr, 0.17642, 0.16048, 2e-4},
           {"-0.3", "0.53 + 0.91*t - 0.41*sign(x) - 0.5*sign(x')",
            "0.91*t + if(y > 0, 0.41, 0) - 0.5*sign(y')", nullptr, 0.31874, 0.42132, 2e-4},
       }) {
    const TestModel model = text_model(
        std::string("[coordinates]\nx = 0\ny = 0\n[energy]\nkinetic = \"x'^2/2 + y'^2/2 + (") + c.kinetic +
        ")*x'*y'\"\n[[force]]\nalong = \"x'\"\nvalue = \"" + c.x +
        "\"\n[[force]]\nalong = \"y'\"\nvalue = \"" + c.y + "\"\n" +
        (c.joint != nullptr
             ? std::string("[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = ") + c.joint + "\n"
             : std::string()) +
        "[run]\nuntil = 1.5\n[output]\nsamples = 2\n");
    expect_end(model, {{0, c.right_x}, {1, c.right_y}}, c.x, kEvent, c.error);
  }
}

// --- drawn bodies against small steps ---

struct Body {
  bool state = false;
  double mass = 1, start = 0, speed = 0, spring = 0, load = 0, growth = 0, jump = 0, at = 1, dry = 0;
  bool joint = false;
  double at_rest = 0, in_slip = 0, belt = 0, rate = 0;  ///< the belt: belt·sin(rate·t)
  [[nodiscard]] double push(double t) const { return load + growth * t + (t >= at ? jump : 0); }
  [[nodiscard]] double under(double t) const { return belt * std::sin(rate * t); }
};

/// The velocity v with m v + a S(v) + b S(v - u) = r, S the set-valued sign.
double velocity(double m, double r, double a, double b, double u) {
  const double first = std::min(0.0, u);
  const double last = std::max(0.0, u);
  const auto value = [&](double v, double at_zero, double at_u) {
    return m * v + a * (v == 0 ? at_zero : v > 0 ? 1 : -1) + b * (v == u ? at_u : v > u ? 1 : -1);
  };
  for (const double v : {first, last}) {
    if (value(v, -1, -1) <= r && r <= value(v, 1, 1)) return v;
  }
  if (r < value(first, -1, -1)) return (r + a + b) / m;
  if (r > value(last, 1, 1)) return (r - a - b) / m;
  const double middle = (first + last) / 2;
  return (r - a * (middle > 0 ? 1 : -1) - b * (middle > u ? 1 : -1)) / m;
}

/// Where a body is at the end, alone.
double stepped(const Body& body, double until, double h) {
  double x = body.start;
  double v = body.speed;
  int slips = v - body.under(0) > 0 ? 1 : v - body.under(0) < 0 ? -1 : 0;
  for (long step = 0; step < std::lround(until / h); ++step) {
    const double t = static_cast<double>(step) * h;
    const double push = h * (body.push(t + h / 2) - body.spring * x);
    if (body.state) {
      x = velocity(1, x + push, h * body.dry, 0, 0);
      continue;
    }
    const double r = body.mass * v + push;
    const double dry = h * body.dry;
    const double u = body.under(t + h);
    double next = 0;
    if (!body.joint) {
      next = velocity(body.mass, r, dry, 0, 0);
    } else {
      const auto slipping = [&](int to) { return velocity(body.mass, r - to * h * body.in_slip, dry, 0, 0); };
      const auto resting = [&] {
        const double needs = body.mass * u - r;
        const double slack = 1e-9 * h;
        slips = 0;
        if (needs + (u > 0 ? dry : -dry) <= h * body.at_rest + slack &&
            needs + (u < 0 ? -dry : dry) >= -h * body.at_rest - slack)
          return u;
        for (const int to : {1, -1}) {
          const double w = slipping(to);
          if ((w - u) * to <= 0) continue;
          slips = to;
          return w;
        }
        return u;
      };
      next = slips == 0 ? resting() : slipping(slips);
      if (slips != 0 && (next - u) * slips <= 0) next = resting();
    }
    x += h * (v + next) / 2;
    v = next;
  }
  return x;
}

std::string text_of(double value) { return "(" + std::to_string(value) + ")"; }

TEST(Blocks, DrawnBodiesMoveAsEachDoesAlone) {
  std::mt19937 draw(20);
  const auto one_of = [&](std::initializer_list<double> values) {
    return values.begin()[draw() % values.size()];
  };
  const std::vector<std::string> names{"a", "b", "c", "d"};
  int compared = 0;
  for (int number = 0; number < 120; ++number) {
    const auto count = 2 + draw() % 3;
    std::vector<Body> all;
    std::string coordinates = "[coordinates]\n";
    std::string states;
    std::string kinetic = "0";
    std::string potential = "0";
    std::vector<std::string> parts;
    for (unsigned i = 0; i < count; ++i) {
      Body body;
      const std::string& x = names[i];
      body.state = i > 0 && draw() % 6 == 0;
      body.mass = one_of({0.7, 1, 1, 2});
      body.start = one_of({0, 0, 0.5});
      body.speed = body.state ? 0 : one_of({0, 0, 0.5, -0.8});
      body.spring = body.state ? 0 : one_of({0, 0, 1, 4.3});
      body.load = one_of({0, 0.5, -1, 1.3});
      body.growth = one_of({0, 0.5, -1, 0.83});
      body.jump = one_of({0, 0, 1.5, -2});
      body.at = one_of({0.5, 1, 1.3});
      body.dry = body.state ? 1.1 : one_of({0, 0.6, 1.1});
      body.joint = !body.state && draw() % 3 != 0;
      body.at_rest = one_of({0.45, 0.9, 1.9});
      body.in_slip = body.at_rest * one_of({0.5, 1});
      body.belt = one_of({0, 0, 0.3});
      body.rate = one_of({1.7, 3.1});
      const std::string push = text_of(body.load) + " + " + text_of(body.growth) + "*t + " +
                               text_of(body.jump) + "*step(t - " + text_of(body.at) + ")";
      const std::string sign = " - " + text_of(body.dry) + "*sign(" + x + (body.state ? ")" : "')");
      if (body.state) {
        states += x + " = { start = " + std::to_string(body.start) + ", rate = \"" + push + sign + "\" }\n";
      } else {
        coordinates += x + " = { start = " + std::to_string(body.start) +
                       ", velocity = " + std::to_string(body.speed) + " }\n";
        kinetic += " + " + text_of(body.mass) + "*" + x + "'^2/2";
        potential += " + " + text_of(body.spring) + "*" + x + "^2/2";
        parts.push_back("[[force]]\nalong = \"" + x + "'\"\nvalue = \"" + push + sign + "\"\n");
      }
      if (body.joint)
        parts.push_back("[[friction]]\nname = \"j" + x + "\"\nslip = \"" + x + "' - " + text_of(body.belt) +
                        "*sin(" + text_of(body.rate) +
                        "*t)\"\nnormal = 1\nlaw = { static = " + std::to_string(body.at_rest) +
                        ", dynamic = " + std::to_string(body.in_slip) + " }\n");
      all.push_back(body);
    }
    std::shuffle(parts.begin(), parts.end(), draw);
    std::string text = coordinates + (states.empty() ? "" : "[state]\n" + states) + "[energy]\nkinetic = \"" +
                       kinetic + "\"\npotential = \"" + potential + "\"\n";
    for (const std::string& part : parts) text += part;
    const TestModel model = text_model(text + "[run]\nuntil = 3\n[output]\nsamples = 2\n");
    const engines::EngineResult end = end_of(model, "event");
    ASSERT_TRUE(end.status.ok()) << number << " " << end.status.where << ": " << end.status.message << "\n"
                                 << text;
    for (const Finding& finding : end.verdict.findings)
      ADD_FAILURE() << number << " " << finding.law << "\n" << text;
    const int n = model.system.layout().coordinates;
    int coordinate = 0;
    int state = 0;
    for (const Body& body : all) {
      const double found = end.end.y[body.state ? 2 * n + state++ : coordinate++];
      double right = stepped(body, 3, 2e-4);
      if (std::abs(found - right) > 2e-3) right = stepped(body, 3, 1e-5);
      EXPECT_NEAR(found, right, 2e-3) << number << "\n" << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace judder
