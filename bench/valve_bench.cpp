// The relief valve of the gallery for 30,720 flows, 64 returns each: systems per second and core. The numbers are those with which MPGOS
// was measured (F. Hegedus et al., Program package MPGOS: challenges and solutions during the integration of a large number of
// independent ODE systems using GPUs, Communications in Nonlinear Science and Numerical Simulation 97 (2021) 105732). A return is a
// largest opening: x' falls through zero.
//
// Beside it the same written by hand for this model alone (Dormand and Prince's method, steps by their error, events by steps that end on
// them): what is left when nothing is asked but these numbers. And SciPy (scipy_valve.py), for a sample of 30 flows.
//
// Before anything is timed the last of the first 20 returns must agree; later ones belong to motions that forget their start.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gallery.hpp"
#include "judder/analysis/ensemble.hpp"
#include "judder/analysis/sections.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

constexpr std::size_t kSystems = 30'720, kReturns = 64, kCompared = 20;
constexpr double kLeastFlow = 0.2, kMostFlow = 10;

double flow_of(std::size_t k) {
  return kLeastFlow + (kMostFlow - kLeastFlow) * static_cast<double>(k) / static_cast<double>(kSystems - 1);
}

// --- by hand ---

struct State {
  double x, v, p;
};

class Valve {
 public:
  explicit Valve(double flow) : flow_(flow) {}

  /// The openings at the returns. False: it did not get there.
  bool run(std::vector<double>& tops) {
    tops.clear();
    State y{1, 0, 11};
    double h = 1e-3;
    State rate = field(y);
    constexpr long kMostSteps = 10'000'000;
    for (long step = 0; step < kMostSteps; ++step) {
      State end{}, end_rate{};
      const double error = advance(y, rate, h, end, end_rate);
      const double factor = std::min(5.0, std::max(0.2, 0.9 * std::pow(error, -0.2)));
      if (error > 1) {
        h *= factor;
        continue;
      }
      const double next = h * factor;
      const bool hits = end.x<0, turns = y.v> 0 && end.v <= 0;
      if (turns) {
        const double there = land(y, rate, h, &State::v, end, end_rate);
        if (there < h && !(hits && end.x < 0)) {
          tops.push_back(end.x);
          if (tops.size() == kReturns) return true;
          y = end;
          y.v = 0;
          rate = field(y);
          h = next;
          continue;
        }
      }
      if (hits) {
        static_cast<void>(land(y, rate, h, &State::x, end, end_rate));
        y = end;
        y.x = 0;
        y.v *= -kRestitution;
        // Impacts that come ever faster end here; the valve stays shut until the pressure opens it.
        if (y.v < kShut && y.p < kPreload) y = {0, 0, kPreload};
        rate = field(y);
        h = std::min(next, 0.1 * std::max(y.v, 1e-4));
        continue;
      }
      y = end;
      rate = end_rate;
      h = next;
    }
    return false;
  }

 private:
  static constexpr double kDamping = 1.25, kStiff = 20, kPreload = 10, kRestitution = 0.8, kShut = 1e-7;
  static constexpr double kTolerance = 1e-9;

  [[nodiscard]] State field(const State& y) const {
    return {y.v, y.p - kPreload - y.x - kDamping * y.v, kStiff * (flow_ - y.x * std::sqrt(y.p))};
  }
  static State sum(const State& y, double h, std::initializer_list<std::pair<double, const State*>> parts) {
    State out = y;
    for (const auto& [weight, k] : parts) {
      out.x += h * weight * k->x;
      out.v += h * weight * k->v;
      out.p += h * weight * k->p;
    }
    return out;
  }
  /// One step; the error in units of the tolerance.
  double advance(const State& y, const State& k1, double h, State& end, State& k7) const {
    const State k2 = field(sum(y, h, {{1.0 / 5, &k1}}));
    const State k3 = field(sum(y, h, {{3.0 / 40, &k1}, {9.0 / 40, &k2}}));
    const State k4 = field(sum(y, h, {{44.0 / 45, &k1}, {-56.0 / 15, &k2}, {32.0 / 9, &k3}}));
    const State k5 = field(sum(
        y, h, {{19372.0 / 6561, &k1}, {-25360.0 / 2187, &k2}, {64448.0 / 6561, &k3}, {-212.0 / 729, &k4}}));
    const State k6 = field(sum(y, h,
                               {{9017.0 / 3168, &k1},
                                {-355.0 / 33, &k2},
                                {46732.0 / 5247, &k3},
                                {49.0 / 176, &k4},
                                {-5103.0 / 18656, &k5}}));
    end = sum(y, h,
              {{35.0 / 384, &k1},
               {500.0 / 1113, &k3},
               {125.0 / 192, &k4},
               {-2187.0 / 6784, &k5},
               {11.0 / 84, &k6}});
    k7 = field(end);
    const auto part = [&](double State::*c, double size) {
      const double off = h * (71.0 / 57600 * k1.*c - 71.0 / 16695 * k3.*c + 71.0 / 1920 * k4.*c -
                              17253.0 / 339200 * k5.*c + 22.0 / 525 * k6.*c - 1.0 / 40 * k7.*c);
      return std::abs(off) / (kTolerance * std::max(std::abs(y.*c), size));
    };
    return std::max({part(&State::x, 1), part(&State::v, 1), part(&State::p, 10), 1e-10});
  }
  /// The length at which a component is zero, by steps of that length from the same state.
  double land(const State& y, const State& rate, double h, double State::*c, State& end,
              State& end_rate) const {
    double low = 0, high = h, at_low = y.*c, at_high = end.*c;
    if (at_low == 0) {  // it leaves zero first: the last crossing is meant
      low = 0.5 * h;
      static_cast<void>(advance(y, rate, low, end, end_rate));
      at_low = end.*c;
      static_cast<void>(advance(y, rate, high, end, end_rate));
      if (!(at_low > 0)) return h;
    }
    double at = h;
    for (int i = 0; i < 60; ++i) {
      at = i % 8 == 7 ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
      static_cast<void>(advance(y, rate, at, end, end_rate));
      const double value = end.*c;
      if (std::abs(value) <= 1e-13) break;
      if (value > 0)
        low = at, at_low = value, at_high *= 0.5;  // Illinois
      else
        high = at, at_high = value, at_low *= 0.5;
    }
    return at;
  }

  double flow_;
};

// --- ours ---

class Ours {
 public:
  Ours() {
    io::ModelRequest request;
    request.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/relief-valve/model.toml";
    io::LoadedModel loaded = io::load_model(request);
    if (!loaded.ok()) std::exit(EXIT_FAILURE);
    model::Watch top;
    top.name = "top";
    top.zero = "x'";
    top.direction = "down";
    loaded.file.spec.watches.push_back(top);
    std::vector<double> flows;
    for (std::size_t k = 0; k < kSystems; ++k) flows.push_back(flow_of(k));
    Diagnostics said;
    ensemble_ = std::make_unique<analysis::Ensemble>(loaded.file.spec, io::compile_options(request),
                                                     analysis::Plan::grid({{"q", flows}}), said);
    if (!ensemble_->ok()) std::exit(EXIT_FAILURE);
    runner_ = std::make_unique<analysis::Runner>(*ensemble_);
  }

  bool run(std::size_t k, bool referee, std::vector<double>& tops) {
    if (!runner_->take(k)) return false;
    if (!taker_ || runner_->changed()) {
      analysis::SectionKind kind;
      static_cast<void>(analysis::parse_section("watch:top", kind));
      taker_ = std::make_unique<analysis::SectionTaker>(runner_->system(), kind, 0, kReturns);
    }
    taker_->restart(nullptr);
    engines::EngineOptions options = engines::options_of(runner_->options());
    options.until = 1e5;
    options.samples = 2;
    options.event_rows = false;
    options.referee = referee;
    options.cancel = &taker_->stop();
    static_cast<void>(runner_->engine().run(options, *taker_));
    tops.clear();
    for (std::size_t i = 0; i < taker_->count(); ++i)
      tops.push_back(taker_->points()[i * taker_->width() + 1]);
    return taker_->count() == kReturns;
  }

 private:
  std::unique_ptr<analysis::Ensemble> ensemble_;
  std::unique_ptr<analysis::Runner> runner_;
  std::unique_ptr<analysis::SectionTaker> taker_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string scipy;
  std::size_t systems = 960;  // evenly spread over all; --systems 30720 takes every one
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--scipy") == 0) scipy = argv[i + 1];
    if (std::strcmp(argv[i], "--systems") == 0) systems = static_cast<std::size_t>(std::atol(argv[i + 1]));
  }
  if (systems < 1 || systems > kSystems) return EXIT_FAILURE;
  const std::size_t stride = kSystems / systems;
  Ours ours;
  std::vector<double> here, there;
  double worst = 0;
  for (std::size_t k = kSystems / 4; k < kSystems; k += kSystems / 8) {
    if (!ours.run(k, true, here) || !Valve(flow_of(k)).run(there)) {
      std::fprintf(stderr, "the valve with q = %g does not come back %zu times\n", flow_of(k), kReturns);
      return EXIT_FAILURE;
    }
    for (std::size_t i = 0; i < kCompared; ++i)
      worst = std::max(worst, std::abs(here[i] - there[i]) / std::abs(there[i]));
  }
  heading();
  std::printf("  the first %zu returns by both: apart by at most %.1e of the opening\n", kCompared, worst);
  if (!(worst < 1e-5)) return EXIT_FAILURE;

  const auto timed = [&](const auto& one) {
    const double begin = processor_seconds();
    std::size_t made = 0, missing = 0;
    for (std::size_t k = 0; k < kSystems && made < systems; k += stride, ++made) {
      if (!one(k)) ++missing;
    }
    const double seconds = (processor_seconds() - begin) / static_cast<double>(made);
    if (missing > 0)
      std::printf("  %zu of %zu systems did not come back %zu times\n", missing, made, kReturns);
    return seconds;
  };
  const double by_hand = timed([&](std::size_t k) { return Valve(flow_of(k)).run(there); });
  const double judged = timed([&](std::size_t k) { return ours.run(k, true, here); });
  const double alone = timed([&](std::size_t k) { return ours.run(k, false, here); });
  char text[120];
  std::snprintf(text, sizeof text, "%.0f systems per second and core, of %zu", 1 / by_hand, systems);
  figure("relief valve, 64 returns, by hand", by_hand, text);
  std::snprintf(text, sizeof text, "%.0f systems per second and core; %.2f times by hand", 1 / alone,
                alone / by_hand);
  figure("relief valve, without the referee", alone, text);
  std::snprintf(text, sizeof text, "%.0f systems per second and core; %.2f times by hand", 1 / judged,
                judged / by_hand);
  figure("relief valve", judged, text);
  if (scipy.empty()) {
    std::printf("  SciPy is not installed: its line is left out\n");
    return EXIT_SUCCESS;
  }
  FILE* const pipe = popen((scipy + " 30").c_str(), "r");
  double seconds = 0, opening = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lf %lf", &seconds, &opening) == 2;
  if (pipe != nullptr) pclose(pipe);
  // The program says the twentieth opening of the last system of the sample.
  if (!read || !ours.run(kSystems - 1, true, here) ||
      std::abs(opening - here[kCompared - 1]) > 1e-5 * std::abs(opening)) {
    std::fprintf(stderr, "SciPy gave no time, or another motion: %s\n", scipy.c_str());
    return EXIT_FAILURE;
  }
  line("relief valve, times faster", judged, "SciPy", seconds, seconds / judged, 1, false);
  return EXIT_SUCCESS;
}
