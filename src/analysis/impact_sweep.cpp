// Sweeps of impacts over parameters, and the values at which a slipping contact changes its class.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "judder/analysis/impacts.hpp"

namespace judder::analysis {
namespace {

using contact::SlidingCase;

/// k and a of one contact at given values of the parameters.
struct Numbers {
  double k = 0, a = 0;
  SlidingCase sliding = SlidingCase::slides;
};

class Sweeper {
 public:
  Sweeper(const model::Spec& spec, const model::CompileOptions& options, ImpactSweep& out)
      : spec_(spec), options_(options), out_(out) {}

  SweepPoint at(const std::vector<double>& values) const {
    SweepPoint point;
    point.values = values;
    model::CompileOptions options = options_;
    for (std::size_t p = 0; p < values.size(); ++p) {
      model::Named named;
      named.name = out_.parameters[p].name;
      named.value = model::Value(values[p]);
      options.set.push_back(std::move(named));
    }
    const model::Compiled compiled = model::compile(spec_, options);
    if (!compiled.system) {
      for (const Diagnostic& message : compiled.diagnostics.all()) {
        if (message.severity != Severity::error) continue;
        point.problem = message.message;
        break;
      }
      return point;
    }
    point.impacts = impacts(*compiled.system, options.cancel);
    return point;
  }

  static std::optional<Numbers> numbers(const SweepPoint& point, const std::string& contact) {
    for (const SlidingClass& sliding : point.impacts.sliding) {
      if (sliding.name != contact || !sliding.opened.empty()) continue;
      return Numbers{sliding.contact.k, sliding.contact.b_N, sliding.contact.sliding};
    }
    return std::nullopt;
  }

  // Between two values of the last parameter k or a has a zero: halves until neighbours are left.
  void find_changes(const SweepPoint& left, const SweepPoint& right) {
    for (const SlidingClass& sliding : left.impacts.sliding) {
      if (!sliding.opened.empty()) continue;
      const auto low = numbers(left, sliding.name);
      const auto high = numbers(right, sliding.name);
      if (!low || !high || low->sliding == high->sliding) continue;
      // Of k, or of a where k keeps its sign.
      const bool of_k = (low->k > 0) != (high->k > 0);
      const auto side = [of_k](const Numbers& found) { return (of_k ? found.k : found.a) > 0; };
      if (side(*low) == side(*high)) continue;
      std::vector<double> a = left.values, b = right.values;
      while (true) {
        std::vector<double> middle = a;
        middle.back() = 0.5 * (a.back() + b.back());
        if (middle.back() == a.back() || middle.back() == b.back()) break;
        const auto found = numbers(at(middle), sliding.name);
        if (!found) break;
        (side(*found) == side(*low) ? a : b) = middle;
      }
      ClassChange change;
      change.contact = sliding.name;
      change.outer = a.size() > 1 ? a.front() : 0;
      change.value = 0.5 * (a.back() + b.back());
      change.below = low->sliding;
      change.above = high->sliding;
      out_.changes.push_back(std::move(change));
    }
  }

  // The least k over the last parameter, by golden section around the least value of the sweep.
  std::optional<std::pair<double, double>> least(double outer, const std::string& contact) const {
    const Sweep& inner = out_.parameters.back();
    const auto k = [&](double x) -> std::optional<double> {
      const auto found = numbers(at({outer, x}), contact);
      if (!found) return std::nullopt;
      return found->k;
    };
    int best = -1;
    double value = 0;
    for (int i = 0; i < inner.count; ++i) {
      const auto here = k(inner.value(i));
      if (!here || (best >= 0 && !(*here < value))) continue;
      best = i;
      value = *here;
    }
    if (best < 0) return std::nullopt;
    double low = inner.value(std::max(best - 1, 0)), high = inner.value(std::min(best + 1, inner.count - 1));
    constexpr double kGolden = 0.6180339887498949;
    double at_value = inner.value(best);
    double x1 = high - kGolden * (high - low), x2 = low + kGolden * (high - low);
    auto k1 = k(x1), k2 = k(x2);
    for (int step = 0;
         step < 60 && k1 && k2 && std::abs(high - low) > 1e-9 * (std::abs(high) + std::abs(low)); ++step) {
      for (const auto& [x, found] : {std::pair{x1, *k1}, std::pair{x2, *k2}}) {
        if (found < value) {
          value = found;
          at_value = x;
        }
      }
      if (*k1 < *k2) {
        high = x2;
        x2 = x1;
        k2 = k1;
        x1 = high - kGolden * (high - low);
        k1 = k(x1);
      } else {
        low = x1;
        x1 = x2;
        k1 = k2;
        x2 = low + kGolden * (high - low);
        k2 = k(x2);
      }
    }
    return std::pair{value, at_value};
  }

  /// Of each row of the first parameter the least k, by contact.
  void note_least(std::size_t outer, const SweepPoint& point) {
    for (const SlidingClass& sliding : point.impacts.sliding) {
      if (!sliding.opened.empty()) continue;
      std::vector<std::optional<double>>& row = least_[sliding.name];
      if (row.size() <= outer) row.resize(outer + 1);
      if (!row[outer] || sliding.contact.k < *row[outer]) row[outer] = sliding.contact.k;
    }
  }

  void find_thresholds() {
    const Sweep& outer = out_.parameters.front();
    for (const auto& [name, row] : least_) {
      // Signs on the grid first; the root is refined only where they change.
      std::optional<double> before;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] && before && (*row[i] > 0) != (*before > 0))
          refine(outer.value(static_cast<int>(i) - 1), outer.value(static_cast<int>(i)), name);
        before = row[i];
      }
    }
  }

 private:
  // Root of the least k over the first parameter: Illinois' rule.
  void refine(double a, double b, const std::string& name) {
    auto at_a = least(a, name), at_b = least(b, name);
    if (!at_a || !at_b) return;
    double fa = at_a->first, fb = at_b->first;
    if (fa > 0 && fb > 0) return;
    PainleveThreshold threshold{name, b, at_b->second};
    int side = 0;
    for (int step = 0; step < 60 && std::abs(b - a) > 2e-16 * (std::abs(a) + std::abs(b)); ++step) {
      double x = b - fb * (b - a) / (fb - fa);
      if (!(x > std::min(a, b) && x < std::max(a, b))) x = 0.5 * (a + b);
      if (x == a || x == b) break;
      const auto found = least(x, name);
      if (!found) break;
      threshold.outer = x;
      threshold.inner = found->second;
      if (std::abs(found->first) <= 4e-16 * std::abs(at_a->first)) break;
      if ((found->first > 0) == (fb > 0)) {
        b = x;
        fb = found->first;
        if (side < 0) fa *= 0.5;
        side = -1;
      } else {
        a = x;
        fa = found->first;
        if (side > 0) fb *= 0.5;
        side = 1;
      }
    }
    out_.thresholds.push_back(std::move(threshold));
  }

  const model::Spec& spec_;
  const model::CompileOptions& options_;
  ImpactSweep& out_;
  std::map<std::string, std::vector<std::optional<double>>> least_;
};

}  // namespace

double Sweep::value(int i) const {
  if (i <= 0 || count < 2) return from;
  if (i >= count - 1) return to;
  return from + (to - from) * i / (count - 1);
}

ImpactSweep sweep_impacts(const model::Spec& spec, const model::CompileOptions& options,
                          const std::vector<Sweep>& parameters) {
  std::vector<SweepPoint> points;
  ImpactSweep out = sweep_impacts(spec, options, parameters, [&points](const SweepPoint& point) {
    points.push_back(point);
    return true;
  });
  out.points = std::move(points);
  return out;
}

ImpactSweep sweep_impacts(const model::Spec& spec, const model::CompileOptions& options,
                          const std::vector<Sweep>& parameters, const TakePoint& take) {
  ImpactSweep out;
  out.parameters = parameters;
  Sweeper sweeper(spec, options, out);
  const bool two = parameters.size() > 1;
  const int outer = two ? parameters.front().count : 1;
  const int inner = parameters.back().count;
  for (int i = 0; i < outer; ++i) {
    SweepPoint before;
    for (int j = 0; j < inner; ++j) {
      std::vector<double> values;
      if (two) values.push_back(parameters.front().value(i));
      values.push_back(parameters.back().value(j));
      SweepPoint point = sweeper.at(values);
      const bool valid = point.problem.empty();
      ++out.states;
      out.invalid += valid ? 0 : 1;
      out.collisions += valid && (point.impacts.outcome == ImpactsOutcome::collision ||
                                  point.impacts.outcome == ImpactsOutcome::tangential)
                            ? 1
                            : 0;
      out.sliding += point.impacts.sliding.empty() ? 0 : 1;
      out.gains += std::any_of(point.impacts.laws.begin(), point.impacts.laws.end(),
                               [](const LawImpact& law) { return law.energy_gain > 0; })
                       ? 1
                       : 0;
      if (j > 0) sweeper.find_changes(before, point);
      if (two) sweeper.note_least(static_cast<std::size_t>(i), point);
      if (!take(point)) return out;
      before = std::move(point);
    }
  }
  if (two) sweeper.find_thresholds();
  return out;
}

}  // namespace judder::analysis
