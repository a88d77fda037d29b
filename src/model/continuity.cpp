#include "model/continuity.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::model {
namespace {

constexpr int kMostSteps = 30;     ///< of Newton's method
constexpr double kZero = 1e-13;    ///< share of the terms of a surface that is its rounding
constexpr double kVisible = 1e-9;  ///< share of the energies on both sides below which a step may be rounding

class Search {
 public:
  Search(const System& system, Workspace& work)
      : system_(system), layout_(system.layout()), work_(work), start_(work.in) {
    values_.resize(2 + layout_.integrated());
  }

  void look(int k, std::vector<PotentialStep>& out) {
    const SwitchInfo& info = system_.switches()[static_cast<std::size_t>(k)];
    work_.in = start_;
    double lower = 0;
    if (!reach(info, lower)) return;
    system_.sides_by_value(work_.in, work_);
    const auto potential = [&](double side) {
      double kinetic = 0, value = 0, total = 0;
      take_sides(side - lower);
      work_.in[static_cast<std::size_t>(layout_.side() + k)] = side;
      system_.energies(work_, kinetic, value, total);
      return value;
    };
    find_parallel(k);
    const double below = potential(lower);
    const double above = potential(lower + 1);
    const double size = std::max(std::abs(below), std::abs(above));
    if (!std::isfinite(below) || !std::isfinite(above) || std::abs(above - below) <= kVisible * size) return;
    std::string at;
    for (const int i : info.sees)
      at += (at.empty() ? "" : ", ") + system_.coordinate_names()[static_cast<std::size_t>(i)] + " = " +
            to_text(work_.in[static_cast<std::size_t>(layout_.q() + i)], 6);
    out.push_back({k, at, below, above});
  }

  void restore() { work_.in = start_; }

 private:
  /// s, and its slopes, with the level taken off that lies next to it.
  double distance(const SwitchInfo& info, double& lower) {
    info.surface.evaluate(work_.in.data(), values_.data(), work_.registers.data());
    const double s = values_[0];
    if (info.two_sided()) return s;
    double level = 0;
    if (info.whole) {
      level = std::round(s);
      lower = level - 1;
    } else {
      const auto nearest = std::min_element(info.levels.begin(), info.levels.end(), [s](double a, double b) {
        return std::abs(s - a) < std::abs(s - b);
      });
      level = *nearest;
      lower = static_cast<double>(nearest - info.levels.begin()) - 1;
    }
    return s - level;
  }

  /// Moves the coordinates to a zero of the surface near to where they are.
  bool reach(const SwitchInfo& info, double& lower) {
    for (int step = 0; step < kMostSteps; ++step) {
      system_.sides_by_value(work_.in, work_);
      const double s = distance(info, lower);
      double square = 0, terms = 0;
      for (const int i : info.sees) {
        const double slope = values_[static_cast<std::size_t>(2 + i)];
        square += slope * slope;
        terms += std::abs(slope * work_.in[static_cast<std::size_t>(layout_.q() + i)]);
      }
      if (!(square > 0) || !std::isfinite(s)) return false;
      if (std::abs(s) <= kZero * std::max(terms, std::sqrt(square))) return true;
      for (const int i : info.sees)
        work_.in[static_cast<std::size_t>(layout_.q() + i)] -=
            s * values_[static_cast<std::size_t>(2 + i)] / square;
    }
    return false;
  }

  /// Other switches that are at zero here as well go with it, or against it.
  void find_parallel(int k) {
    const auto& switches = system_.switches();
    double lower = 0;
    static_cast<void>(distance(switches[static_cast<std::size_t>(k)], lower));
    const std::vector<double> own = values_;
    beside_.clear();
    for (int j = 0; j < layout_.switches; ++j) {
      const SwitchInfo& info = switches[static_cast<std::size_t>(j)];
      if (j == k || info.time_only || info.kind == expr::SwitchKind::smooth) continue;
      lower = 0;
      const double s = distance(info, lower);
      double along = 0, terms = 0;
      for (int i = 0; i < layout_.coordinates; ++i) {
        const auto at = static_cast<std::size_t>(2 + i);
        along += own[at] * values_[at];
        terms += std::abs(values_[at]) * (1 + std::abs(work_.in[static_cast<std::size_t>(layout_.q() + i)]));
      }
      if (along != 0 && std::abs(s) <= 1e-9 * terms) beside_.push_back({j, lower, along > 0});
    }
  }

  void take_sides(double upper) {
    for (const Beside& other : beside_)
      work_.in[static_cast<std::size_t>(layout_.side() + other.number)] =
          other.lower + (other.along ? upper : 1 - upper);
  }

  struct Beside {
    int number;
    double lower;
    bool along;
  };
  const System& system_;
  const Layout& layout_;
  Workspace& work_;
  std::vector<double> start_, values_;
  std::vector<Beside> beside_;
};

}  // namespace

std::vector<PotentialStep> potential_steps(const System& system, Workspace& work) {
  constexpr int kMostSwitches = 256;  // each is looked at with all others
  std::vector<PotentialStep> out;
  if (system.layout().switches > kMostSwitches) return out;
  Search search(system, work);
  for (int k = 0; k < system.layout().switches; ++k) {
    const SwitchInfo& info = system.switches()[static_cast<std::size_t>(k)];
    if (info.kind != expr::SwitchKind::jump || info.time_only || info.sees.empty() ||
        info.rate.outputs() == 0)
      continue;
    search.look(k, out);
  }
  search.restore();
  return out;
}

}  // namespace judder::model
