// Event times of the exact engine against the same motions with 113 bits: within 100 ε κ t, κ the condition number of the time.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "count.hpp"
#include "quad_replay.hpp"
#include "run_model.hpp"

namespace judder {
namespace {

using engines::Event;
using engines::EventKind;
using engines::Word;

constexpr double kEpsilon = 2.220446049250313e-16;

/// Rows of A that say dq/dt = v for the first n states.
void kinematics(QuadVector& a, std::size_t size, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i * size + n + i] = 1;
}

void set_row(QuadVector& a, std::size_t size, std::size_t row, const QuadVector& value) {
  for (std::size_t j = 0; j < size; ++j) a[row * size + j] = value[j];
}

QuadVector sum(QuadVector a, const QuadVector& b, Quad factor) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

QuadVector scaled(const QuadVector& a, Quad factor) { return sum(QuadVector(a.size(), 0), a, factor); }

int sign_of(Word word) {
  return word == Word::plus || word == Word::slip_plus     ? 1
         : word == Word::minus || word == Word::slip_minus ? -1
                                                           : 0;
}

/// Bouncing ball: h, v, 1.
struct Ball : QuadModel {
  Quad g, e;
  explicit Ball(const QuadVector& p) : g(p[0]), e(p[1]) {
    x = {p[2], 0, 1};
    physical = 2;
  }
  [[nodiscard]] QuadVector matrix() const override { return {0, 1, 0, 0, 0, -g, 0, 0, 0}; }
  [[nodiscard]] QuadVector function(const Event&) const override { return unit(0); }
  [[nodiscard]] std::vector<QuadVector> guards() const override { return {unit(0)}; }
  void apply(const Event&) override {
    x[0] = 0;
    x[1] = -e * x[1];
  }
};

/// Impact oscillator: x, v, A cos ωt, A sin ωt.
struct ImpactOscillator : QuadModel {
  Quad c, k, w, d, e;
  explicit ImpactOscillator(const QuadVector& p) : c(p[0]), k(p[1]), w(p[3]), d(p[4]), e(p[5]) {
    x = {p[6], p[7], p[2], 0, 1};
    physical = 2;
  }
  [[nodiscard]] QuadVector matrix() const override {
    return {0, 1, 0, 0, 0, -k, -c, 1, 0, 0, 0, 0, 0, -w, 0, 0, 0, w, 0, 0, 0, 0, 0, 0, 0};
  }
  [[nodiscard]] QuadVector function(const Event&) const override { return {-1, 0, 0, 0, d}; }
  [[nodiscard]] std::vector<QuadVector> guards() const override { return {function({})}; }
  void apply(const Event&) override {
    x[0] = d;
    x[1] = -e * x[1];
  }
};

/// SDND106: x1, x2, v1, v2, 1.
struct FrictionPad : QuadModel {
  Quad m, k, force, end, normal, rest, moving;
  bool slips = false;
  Quad pull;
  explicit FrictionPad(const QuadVector& p)
      : m(p[0]), k(p[1]), force(p[2]), end(p[3]), normal(p[4]), rest(p[5]), moving(p[6]), pull(p[2]) {
    x = {0, 0, 0, 0, 1};
    physical = 4;
  }
  [[nodiscard]] QuadVector spring() const { return {-k, k, 0, 0, 0}; }
  [[nodiscard]] QuadVector matrix() const override {
    QuadVector a(25, 0);
    kinematics(a, 5, 2);
    if (slips) set_row(a, 5, 2, sum(scaled(spring(), 1 / m), unit(4), -moving * normal / m));
    set_row(a, 5, 3, sum(scaled(spring(), -1 / m), unit(4), pull / m));
    return a;
  }
  [[nodiscard]] QuadVector function(const Event& event) const override {
    switch (event.kind) {
      case EventKind::slip:
        return sum(spring(), unit(4), -rest * normal);
      case EventKind::stick:
        return unit(2);
      case EventKind::watch:
        return {0, 0, -1, 1, 0};
      default:
        return {};
    }
  }
  [[nodiscard]] Quad instant(const Event&) const override { return end; }
  [[nodiscard]] std::vector<QuadVector> guards() const override {
    if (slips) return {unit(2)};
    return {sum(scaled(spring(), -1), unit(4), rest * normal), sum(spring(), unit(4), rest * normal)};
  }
  void apply(const Event& event) override {
    if (event.kind == EventKind::switch_side) pull = 0;
    if (event.kind == EventKind::slip) slips = true;
    if (event.kind == EventKind::stick) {
      slips = false;
      x[2] = 0;
    }
  }
};

/// Zabuga 2017, 4.2: x, v, t − tF, 1.
struct Torn : QuadModel {
  Quad m, mu, k, h, start, rate, g;
  int direction = 1;
  bool pulled = false;
  explicit Torn(const QuadVector& p) : m(p[0]), mu(p[1]), k(p[2]), h(p[3]), start(p[4]), rate(p[5]), g(p[6]) {
    x = {p[7], p[8], -start, 1};
    physical = 2;
  }
  [[nodiscard]] QuadVector matrix() const override {
    QuadVector a(16, 0);
    kinematics(a, 4, 1);
    a[2 * 4 + 3] = 1;
    if (direction != 0) set_row(a, 4, 1, {-k / m, -2 * h / m, pulled ? rate / m : 0, -direction * mu * g});
    return a;
  }
  /// Force that friction has to hold, plus or minus its limit.
  [[nodiscard]] QuadVector margin(int sign) const {
    return {sign * k, 0, pulled ? -sign * rate : 0, mu * m * g};
  }
  [[nodiscard]] QuadVector function(const Event& event) const override {
    if (event.kind == EventKind::switch_side) return {};
    return event.kind == EventKind::slip ? margin(sign_of(event.words[0])) : unit(1);
  }
  [[nodiscard]] Quad instant(const Event&) const override { return start; }
  [[nodiscard]] std::vector<QuadVector> guards() const override {
    if (direction != 0) return {unit(1, direction)};
    return {margin(1), margin(-1)};
  }
  void apply(const Event& event) override {
    if (event.kind == EventKind::switch_side) {
      pulled = true;
      x[2] = 0;
      return;
    }
    x[1] = 0;
    direction = event.kind == EventKind::stick ? 0 : sign_of(event.words[0]);
  }
};

/// Press (Zabuga 2017, chapter 3): xi, eta, y, their velocities, 1.
struct Press : QuadModel {
  Quad mc, mp, l, c, damper, mu, q0, g;
  bool closed = false;
  int slide = 1;   ///< of the cylinder on the plane; 0: sticks
  int piston = 0;  ///< 0: sticks
  explicit Press(const QuadVector& p)
      : mc(p[0]), mp(p[1]), l(p[2]), c(p[3]), damper(p[4]), mu(p[5]), q0(p[6]), g(p[9]) {
    x = {0, p[7], p[10], p[8], 0, 0, 1};
    physical = 6;
    // the free length and the start are two numbers, each with its rounding
  }
  /// Spring and damper on the piston.
  [[nodiscard]] QuadVector smooth() const { return {0, 0, -c, 0, 0, -2 * damper, c * l}; }
  /// All of its internal force: what drives y.
  [[nodiscard]] QuadVector inner() const {
    if (piston != 0) return sum(smooth(), unit(6), -piston * q0);
    return closed ? unit(6, mp * g) : QuadVector(7, 0);
  }
  [[nodiscard]] QuadVector rings() const { return sum(inner(), smooth(), -1); }
  [[nodiscard]] QuadVector normal() const { return sum(inner(), unit(6), mc * g); }
  [[nodiscard]] QuadVector matrix() const override {
    QuadVector a(49, 0);
    kinematics(a, 7, 3);
    if (closed && slide != 0) set_row(a, 7, 3, scaled(normal(), -slide * mu / (mc + mp)));
    if (!closed) set_row(a, 7, 4, sum(scaled(inner(), -1 / mc), unit(6), -g));
    if (piston != 0)
      set_row(a, 7, 5, closed ? sum(scaled(inner(), 1 / mp), unit(6), -g) : scaled(inner(), 1 / mp + 1 / mc));
    return a;
  }
  [[nodiscard]] QuadVector ring_margin(int sign) const { return sum(unit(6, q0), rings(), -sign); }
  [[nodiscard]] QuadVector function(const Event& event) const override {
    const bool plane = event.place == plane_number;
    switch (event.kind) {
      case EventKind::impact:
        return unit(1);
      case EventKind::lift_off:
        return normal();
      case EventKind::slip:
        return plane ? QuadVector() : ring_margin(-sign_of(event.words[0]));
      default:
        return unit(plane ? 3 : 5);
    }
  }
  [[nodiscard]] std::vector<QuadVector> guards() const override {
    std::vector<QuadVector> out;
    if (closed) {
      out.push_back(normal());
      if (slide != 0) out.push_back(unit(3, slide));
    } else {
      out.push_back(unit(1));
    }
    if (piston != 0) {
      out.push_back(unit(5, piston));
    } else {
      out.push_back(ring_margin(1));
      out.push_back(ring_margin(-1));
    }
    return out;
  }
  void apply(const Event& event) override {
    const bool plane = event.place == plane_number;
    switch (event.kind) {
      case EventKind::impact: {
        const Quad impulse = -mc * x[4];  // the piston feels nothing of it
        x[5] += x[4];
        x[4] = 0;
        x[1] = 0;
        closed = true;
        const Quad friction = mu * impulse / (mc + mp);
        slide = sign_of(event.words[1]);
        x[3] = slide == 0 ? 0 : x[3] - slide * friction;
        if (piston == 0) piston = x[5] > 0 ? 1 : -1;  // released; listed as what follows
        break;
      }
      case EventKind::lift_off:
        closed = false;
        break;
      case EventKind::stick:
        (plane ? slide : piston) = 0;
        x[plane ? 3 : 5] = 0;
        break;
      default:
        (plane ? slide : piston) = sign_of(event.words[0]);
        break;
    }
  }
  int plane_number = 1;
};

/// Klarbring's particle (Basseville 2004, chapter IV): UN, UT, their velocities, 1.
struct Klarbring : QuadModel {
  Quad m, kn, w, kt, fn, ft, mu;
  bool closed = true;
  int slide = 1;
  explicit Klarbring(const QuadVector& p)
      : m(p[0]), kn(p[1]), w(p[2]), kt(p[3]), fn(p[4]), ft(p[5]), mu(p[6]) {
    x = {0, p[7], 0, p[8], 1};
    physical = 4;
  }
  [[nodiscard]] QuadVector press() const { return {-kn, -w, 0, 0, fn}; }
  [[nodiscard]] QuadVector pull() const { return {-w, -kt, 0, 0, ft}; }
  [[nodiscard]] QuadVector matrix() const override {
    QuadVector a(25, 0);
    kinematics(a, 5, 2);
    if (!closed) set_row(a, 5, 2, scaled(press(), 1 / m));
    if (!closed) set_row(a, 5, 3, scaled(pull(), 1 / m));
    if (closed && slide != 0) set_row(a, 5, 3, scaled(sum(pull(), press(), -slide * mu), 1 / m));
    return a;
  }
  [[nodiscard]] QuadVector cone(int sign) const { return sum(scaled(press(), mu), pull(), sign); }
  [[nodiscard]] QuadVector function(const Event& event) const override {
    switch (event.kind) {
      case EventKind::impact:
      case EventKind::contact:
        return unit(0);
      case EventKind::lift_off:
        return press();
      case EventKind::slip:
        return cone(-sign_of(event.words[0]));
      default:
        return unit(3);
    }
  }
  [[nodiscard]] std::vector<QuadVector> guards() const override {
    if (!closed) return {unit(0, -1)};
    if (slide != 0) return {press(), unit(3, slide)};
    return {press(), cone(1), cone(-1)};
  }
  void apply(const Event& event) override {
    switch (event.kind) {
      case EventKind::impact: {
        const Quad impulse = x[2] * m;
        x[0] = x[2] = 0;
        closed = true;
        slide = sign_of(event.words[1]);
        x[3] = slide == 0 ? 0 : x[3] - slide * mu * impulse / m;
        break;
      }
      case EventKind::lift_off:
        closed = false;
        break;
      case EventKind::stick:
        slide = 0;
        x[3] = 0;
        break;
      default:
        slide = sign_of(event.words[0]);
        break;
    }
  }
};

using Make = std::function<std::unique_ptr<QuadModel>(const QuadVector&)>;

template <class Model>
Make maker() {
  return [](const QuadVector& p) { return std::make_unique<Model>(p); };
}

/// Every event time within 100 ε κ t of the reference (`absolute` > 0: and within that).
void expect_times(const std::string& name, const TestModel& model, const QuadVector& parameters,
                  const Make& make, double absolute = 0, std::size_t most = 1000) {
  simulate::Result result = simulate::simulate(model.system, model.options, "exact");
  ASSERT_TRUE(result.end.status.ok()) << name << ": " << result.end.status.message;
  std::vector<Event> events;
  for (const Event& event : result.data.events) {
    if (event.kind == EventKind::accumulation || events.size() == most) break;
    events.push_back(event);
  }
  ASSERT_GT(events.size(), 0u) << name;
  const std::unique_ptr<QuadModel> base = make(parameters);
  const QuadTimes exact = quad_replay(*base, events, true);
  EXPECT_EQ(exact.overlooked, "") << name;
  std::vector<double> kappa(events.size(), 0);
  const Quad change = static_cast<Quad>(1e-9) * static_cast<Quad>(1e-9);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p] == 0) continue;
    QuadVector moved = parameters;
    moved[p] += moved[p] * change;
    const std::unique_ptr<QuadModel> other = make(moved);
    const QuadTimes times = quad_replay(*other, events, false);
    for (std::size_t k = 0; k < events.size(); ++k)
      kappa[k] += static_cast<double>(size_of(times.times[k] - exact.times[k]) / (change * exact.times[k]));
  }
  std::vector<double> kept(events.size(), 0);
  std::mt19937 random(3);
  for (int trial = 0; trial < 3; ++trial) {
    const std::unique_ptr<QuadModel> other = make(parameters);
    const QuadTimes times = quad_replay(*other, events, false, &random);
    for (std::size_t k = 0; k < events.size(); ++k)
      kept[k] = std::max(
          kept[k], static_cast<double>(size_of(times.times[k] - exact.times[k]) / (change * exact.times[k])));
  }
  for (std::size_t k = 0; k < events.size(); ++k) kappa[k] += kept[k];
  double worst = 0;
  double worst_kappa = 0;
  double largest = 0;
  for (std::size_t k = 0; k < events.size(); ++k) {
    const double condition = std::max(1.0, kappa[k]);
    const double error = static_cast<double>(size_of(static_cast<Quad>(events[k].time) - exact.times[k]));
    const double allowed = 100 * kEpsilon * condition * events[k].time;
    EXPECT_LE(error, allowed) << name << ", event " << k + 1 << " " << engines::name(events[k].kind) << " at "
                              << events[k].time << ", kappa " << condition;
    if (absolute > 0) {
      EXPECT_LE(error, absolute) << name << ", event " << k + 1;
    }
    worst = std::max(worst, error / (kEpsilon * condition * events[k].time));
    worst_kappa = std::max(worst_kappa, condition);
    largest = std::max(largest, error);
  }
  std::printf("  %-28s %3zu events, kappa up to %.3g, error up to %.2g = %.2g eps kappa t\n", name.c_str(),
              events.size(), worst_kappa, largest, worst);
}

/// Parameters and start values as the model file gives them.
QuadVector numbers(std::initializer_list<double> values) { return QuadVector(values.begin(), values.end()); }

TEST(ExactEventTimes, BouncingBall) {
  const TestModel model = gallery_model("bouncing-ball");
  expect_times("bouncing ball", model, numbers({9.81, 0.9, 1}), maker<Ball>());
}

TEST(ExactEventTimes, ImpactOscillator) {
  const TestModel model = gallery_model("impact-oscillator");
  expect_times("impact oscillator", model, numbers({0.1, 1, 0.5, 0.8, 1, 0.8, 0, 0}),
               maker<ImpactOscillator>());
  const TestModel once = gallery_model("impact-oscillator", {"once"});
  expect_times("impact oscillator, once", once, numbers({0.1, 1, 0.5, 2, 0, 0.8, -1, 0}),
               maker<ImpactOscillator>());
}

TEST(ExactEventTimes, FrictionPadOfSdnd106) {
  const TestModel model = gallery_model("sdnd106");
  expect_times("sdnd106", model, numbers({5, 1e4, 3000, 0.2, 1e4, 0.3, 0.2}), maker<FrictionPad>(), 1e-14);
}

TEST(ExactEventTimes, OscillatorOfZabuga) {
  const TestModel model = gallery_model("zabuga-oscillator");
  expect_times("zabuga-oscillator", model, numbers({2, 0.75, 3, 0.3, 16, 50, 9.81, 85, 225}), maker<Torn>());
}

TEST(ExactEventTimes, PressOfZabuga) {
  const auto make = [](const TestModel& model) {
    int plane = 0;
    while (!model.system.relations()[static_cast<std::size_t>(plane)].has_normal) ++plane;
    return Make([plane](const QuadVector& p) {
      auto press = std::make_unique<Press>(p);
      press->plane_number = plane;
      return press;
    });
  };
  const TestModel first = gallery_model("press");
  expect_times("press", first, numbers({0.1, 1, 0.1, 2000, 1, 0.4, 0.5, 0.04, 6, 9.81, 0.1}), make(first),
               1e-14);
  const std::size_t most = count(1000) == 1000 ? 1000 : 24;
  const TestModel low = gallery_model("press", {"low"});
  expect_times("press, low", low, numbers({0.1, 1, 0.1, 20000, 1, 0.4, 0.5, 0.005, 6, 9.81, 0.1}), make(low),
               0, most);
  const TestModel high = gallery_model("press", {"high"});
  expect_times("press, high", high, numbers({0.1, 1, 0.1, 20000, 1, 0.4, 0.5, 0.09, 6, 9.81, 0.1}),
               make(high), 0, most);
}

TEST(ExactEventTimes, ParticleOfKlarbring) {
  const TestModel model = gallery_model("klarbring");
  const auto start = [](const TestModel& m, int place) {
    return m.system.start()[static_cast<std::size_t>(place)];
  };
  expect_times("klarbring", model, numbers({1, 2, 1, 1, 1, 2, 1.25, start(model, 2), start(model, 4)}),
               maker<Klarbring>());
  // Basseville 2004, Fig. IV.7b: it starts at the tip of the cone and slips to the left; A = KT FN − W FT = 0 is what keeps it there, so the two stay tied.
  const TestModel tip = gallery_model("klarbring", {"T07a"});
  expect_times("klarbring T07a", tip, numbers({1, 0.25, -0.1}), [](const QuadVector& p) {
    auto particle = std::make_unique<Klarbring>(QuadVector{p[0], 2, 1, 1, 1, 1, p[1], 1, p[2]});
    particle->slide = -1;
    return particle;
  });
}

}  // namespace
}  // namespace judder
