// The whole right-hand side of the press: from (t, q, v) to all accelerations and reactions in a mode, beside the same written by hand.
//
// By hand (Zabuga 2017, chapter 3; p mass of the piston, c of the cylinder, Q force of the spring, damper and rings on the piston):
//
//     flight      ẍ = 0,  η̈ = −g − Q/c,  ÿ = Q (1/p + 1/c)
//     on the plane, slipping with σ:   ÿ = −g + Q/p,  N = (c g + Q),  ẍ = −σ μ N/(c + p)
//
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engines/mode_motion.hpp"
#include "gallery.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;
using engines::NormalStatus;
using engines::TangentStatus;

constexpr int kRounds = 101;

struct Press {
  double mc = 0.1, mp = 1.0, l = 0.1, c = 2000, n = 1, mu = 0.4, q0 = 0.5, g = 9.81;
};

/// rate: velocities and accelerations; reaction: N, F of the plane, rings.
struct Outcome {
  double rate[6];
  double reaction[3];
};

[[gnu::noinline]] void by_hand(const Press& p, bool closed, double slip, double rings, const double* y,
                               Outcome& out) {
  const double* v = y + 3;
  const double ring = -rings * p.q0;
  const double force = -p.c * (y[2] - p.l) - 2 * p.n * v[2] + ring;
  for (int i = 0; i < 3; ++i) out.rate[i] = v[i];
  out.reaction[2] = ring;
  if (closed) {
    const double normal = p.mc * p.g + force;
    const double friction = -slip * p.mu * normal;
    out.rate[3] = friction / (p.mc + p.mp);
    out.rate[4] = 0;
    out.rate[5] = -p.g + force / p.mp;
    out.reaction[0] = normal;
    out.reaction[1] = friction;
  } else {
    out.rate[3] = 0;
    out.rate[4] = -p.g - force / p.mc;
    out.rate[5] = force * (1 / p.mp + 1 / p.mc);
    out.reaction[0] = out.reaction[1] = 0;
  }
}

int compare(const char* name, const model::System& system, bool closed) {
  const model::Layout& layout = system.layout();
  model::Workspace work(system);
  engines::ModeMotion motion(system, work);
  int plane = 0;
  int piston = 0;
  for (int r = 0; r < layout.relations; ++r)
    (system.relations()[static_cast<std::size_t>(r)].has_normal ? plane : piston) = r;
  const auto row_of = [&](int r) {
    return static_cast<std::size_t>(system.relations()[static_cast<std::size_t>(r)].first_tangent);
  };
  engines::Mode mode;
  mode.normal.assign(static_cast<std::size_t>(layout.relations), NormalStatus::none);
  mode.pressed.assign(static_cast<std::size_t>(layout.relations), 0);
  mode.tangent.assign(static_cast<std::size_t>(layout.tangents), TangentStatus::slip_plus);
  mode.side.assign(static_cast<std::size_t>(layout.switches), 0);
  mode.surface.assign(static_cast<std::size_t>(layout.switches), engines::AtSurface{});
  mode.normal[static_cast<std::size_t>(plane)] = closed ? NormalStatus::closed : NormalStatus::open;
  if (!closed) mode.tangent[row_of(plane)] = TangentStatus::free;
  std::array<double, 6> y{0.2, closed ? 0.0 : 0.03, 0.08, 5.0, closed ? 0.0 : -0.5, 0.4};
  motion.load(0, y.data());
  if (!motion.set_mode(mode)) return 1;

  const Press press;
  Outcome hand{};
  by_hand(press, closed, 1, 1, y.data(), hand);
  motion.load(0, y.data());
  if (!motion.evaluate()) return 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (std::abs(motion.acceleration()[i] - hand.rate[3 + i]) > 1e-12 * (1 + std::abs(hand.rate[3 + i]))) {
      std::fprintf(stderr, "press, %s: acceleration %zu is %.17g, by hand %.17g\n", name, i,
                   motion.acceleration()[i], hand.rate[3 + i]);
      return 1;
    }
  }
  if (std::abs(motion.normal()[static_cast<std::size_t>(plane)] - hand.reaction[0]) > 1e-10) return 1;

  const Repeat ours = [&](long n) {
    y[2] = 0.08;
    for (long i = 0; i < n; ++i, y[2] += 1e-9) {
      motion.load(0, y.data());
      static_cast<void>(motion.evaluate());
      keep(motion.acceleration()[0]);
    }
  };
  const Repeat peer = [&](long n) {
    y[2] = 0.08;
    for (long i = 0; i < n; ++i, y[2] += 1e-9) {
      by_hand(press, closed, 1, 1, y.data(), hand);
      keep(hand);
    }
  };
  const Rounds rounds({ours, peer}, kRounds);
  line(std::string("right-hand side of the press, ") + name, rounds.seconds(0), "C++", rounds.seconds(1),
       rounds.ratio(0, 1), 3, true);
  return 0;
}

}  // namespace

int main() {
  const Model press = gallery_model("press");
  heading();
  const int flight = compare("flight", press.system, false);
  const int slide = compare("sliding", press.system, true);
  return flight != 0 || slide != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
