#include "judder/model/friction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/elementary.hpp"
#include "judder/core/number.hpp"
#include "model/smooth_laws.hpp"

namespace judder::model {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowest = -12, kHighest = 12;  ///< decades of the speeds looked at
constexpr int kPerDecade = 32;

constexpr int kGrid = static_cast<int>((kHighest - kLowest) * kPerDecade) + 1;

/// Asked millions of times where there are thousands of laws.
double grid_speed(int i) {
  static const std::array<double, kGrid> speeds = [] {
    std::array<double, kGrid> out{};
    for (int k = 0; k < kGrid; ++k)
      out[static_cast<std::size_t>(k)] = elementary::pow(10.0, kLowest + static_cast<double>(k) / kPerDecade);
    return out;
  }();
  return speeds[static_cast<std::size_t>(i)];
}

/// Per unit of load: the least of μθ²/|γ| + σ1 (1 − θ) + c/L over 1 ≤ θ ≤ `most`, the power of a sliding bristle over γ².
double least_power(const LawNumbers& law, double speed, double most) {
  const double best = std::clamp(law.damping * speed / (2 * law.mu), 1.0, std::max(most, 1.0));
  const double viscous = law.load > 0 ? law.viscous / law.load : 0;
  return law.mu * best * best / speed + law.damping * (1 - best) + viscous;
}

/// Where `wrong` turns true between a and b (false at a), in the logarithm.
template <class Wrong>
double border(double a, double b, const Wrong& wrong) {
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(a * b);
    (wrong(middle) ? b : a) = middle;
  }
  return b;
}

}  // namespace

ChosenLaw choose_law(const System& system, const std::string& name) {
  ChosenLaw out;
  std::string known;
  int laws = 0;
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    const Relation& relation = system.relations()[k];
    if (relation.friction == FrictionType::none) continue;
    ++laws;
    known += (known.empty() ? "" : ", ") + relation.name;
    if (name.empty() || relation.name == name) out.relation = static_cast<int>(k);
  }
  if (laws == 0) {
    out.problem = "the model has no friction law";
    out.help = "a [[friction]] joint, or a contact with slip and friction, has one";
    out.none = true;
  } else if (name.empty() && laws > 1) {
    out.problem = "the model has several friction laws";
    out.help = "name one: " + known;
  } else if (out.relation < 0) {
    out.problem = "there is no friction law '" + name + "'";
    out.help = "there are: " + known;
  }
  if (!out.problem.empty()) out.relation = -1;
  return out;
}

bool has_bristle(FrictionType type) {
  const FrictionEntry* law = find_friction(judder::name(type));
  return law != nullptr && law->bristle;
}

FrictionCurve::FrictionCurve(const System& system, int relation)
    : system_(&system), layout_(&system.layout()), work_(std::make_unique<Workspace>(system)) {
  take(relation);
}

void FrictionCurve::take(int relation) {
  const std::vector<int>& slides = system_->relations()[static_cast<std::size_t>(relation)].slides;
  const auto v = static_cast<std::size_t>(layout_->v());
  const auto approach = static_cast<std::size_t>(layout_->approach_speed());
  for (std::size_t k = 0; k < moved_.size(); ++k) work_->in[v + moved_[k]] = velocity_[k];
  work_->in[approach] = system_->start()[approach];
  relation_ = &system_->relations()[static_cast<std::size_t>(relation)];
  type_ = relation_->friction;
  load_known_ = relation_->load_known;
  row_.resize(static_cast<std::size_t>(relation_->sliding.outputs()));
  out_.resize(static_cast<std::size_t>(relation_->curve.outputs()));
  relation_->sliding.evaluate(work_->in.data(), row_.data(), work_->registers.data());
  slip_ = row_[0];
  square_ = 0;
  moved_.clear();
  slope_.clear();
  velocity_.clear();
  for (std::size_t e = 0; e < slides.size(); ++e) {
    if (row_[2 + e] == 0) continue;
    const auto i = static_cast<std::size_t>(slides[e]);
    square_ += row_[2 + e] * row_[2 + e];
    moved_.push_back(i);
    slope_.push_back(row_[2 + e]);
    velocity_.push_back(work_->in[v + i]);
  }
}

bool FrictionCurve::constant() const { return relation_->curve_constant; }

FrictionCurve::~FrictionCurve() = default;
FrictionCurve::FrictionCurve(FrictionCurve&&) noexcept = default;

LawNumbers FrictionCurve::at(double slip) {
  if (patience_ != nullptr) patience_->look();
  const auto v = static_cast<std::size_t>(layout_->v());
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    work_->in[v + moved_[k]] =
        square_ > 0 ? velocity_[k] + slope_[k] * (slip - slip_) / square_ : velocity_[k];
  }
  work_->in[static_cast<std::size_t>(layout_->approach_speed())] = std::abs(slip);
  relation_->curve.evaluate(work_->in.data(), out_.data(), work_->registers.data());
  LawNumbers law = law_numbers(out_.data());
  if (!load_known_) law.load = 1;
  return law;
}

double sliding_share(FrictionType type, const LawNumbers& law, double slip, double z) {
  if (type != FrictionType::elastoplastic) return 1;
  if (slip * z <= 0) return 0;
  const double size = std::abs(z), steady = law.mu / law.stiffness;
  if (size <= law.breakaway) return 0;
  if (size >= steady) return 1;
  return 0.5 +
         0.5 * elementary::sin(kPi * (size - 0.5 * (steady + law.breakaway)) / (steady - law.breakaway));
}

double bristle_rate(FrictionType type, const LawNumbers& law, double slip, double z) {
  if (type == FrictionType::lugre || type == FrictionType::elastoplastic)
    return slip - sliding_share(type, law, slip, z) * law.stiffness * std::abs(slip) * z / law.mu;
  if (type != FrictionType::penalty) return 0;
  const double limit = law.load * law.mu, spring = law.stiffness * z;
  if (law.damping > 0) return (std::clamp(spring + law.damping * slip, -limit, limit) - spring) / law.damping;
  if ((spring >= limit && slip > 0) || (spring <= -limit && slip < 0)) return 0;
  return slip;
}

double resistance(FrictionType type, const LawNumbers& law, double slip, double z) {
  const double viscous = law.viscous * slip;
  if (const SmoothLaw* smooth = find_smooth_law(type))
    return smooth->of_slip(law.load * law.mu, law, slip) + viscous;
  switch (type) {
    case FrictionType::none:
      return 0;
    case FrictionType::coulomb:
      return (slip > 0 ? law.load * law.mu : slip < 0 ? -law.load * law.mu : 0) + viscous;
    case FrictionType::arctan:  // a smooth law, above
      break;
    case FrictionType::lugre:
    case FrictionType::elastoplastic:
      return law.load * (law.stiffness * z + law.damping * bristle_rate(type, law, slip, z)) + viscous;
    case FrictionType::penalty: {
      const double limit = law.load * law.mu;
      return std::clamp(law.stiffness * z + law.damping * slip, -limit, limit) + viscous;
    }
  }
  return 0;
}

double steady_bristle(FrictionType type, const LawNumbers& law, double slip) {
  const double sign = slip > 0 ? 1 : slip < 0 ? -1 : 0;
  if (type == FrictionType::lugre || type == FrictionType::elastoplastic)
    return sign * law.mu / law.stiffness;
  if (type == FrictionType::penalty) return sign * law.load * law.mu / law.stiffness;
  return 0;
}

double steady_resistance(FrictionType type, const LawNumbers& law, double slip) {
  return resistance(type, law, slip, steady_bristle(type, law, slip));
}

bool Dissipation::ok() const { return std::isinf(reachable_below) && std::isnan(negative_at); }

Dissipation dissipation(FrictionCurve& curve) {
  Dissipation out;
  const bool bristle = curve.type() == FrictionType::lugre || curve.type() == FrictionType::elastoplastic;
  const auto negative = [](const LawNumbers& law, double speed) {
    // A normal force that is negative somewhere is not the law's fault, and ends a run by itself.
    const double load = law.load > 0 ? law.load : 1;
    return load * law.mu + law.viscous * speed < 0;
  };
  // What grows in proportion to the speed is least at the ends.
  if (!bristle && curve.constant()) {
    const LawNumbers law = curve.at(1);
    if (!negative(law, grid_speed(0)) && !negative(law, grid_speed(kGrid - 1))) return out;
  }
  for (const double sign : {1.0, -1.0}) {
    double largest = 0;  // μ at any speed
    for (int i = 0; i < kGrid; ++i) {
      const LawNumbers law = curve.at(sign * grid_speed(i));
      if (law.mu > largest) largest = law.mu;
      if (std::isnan(out.negative_at) && negative(law, grid_speed(i))) out.negative_at = sign * grid_speed(i);
    }
    if (!bristle) continue;
    const auto ratio = [&](double speed) {
      const LawNumbers law = curve.at(sign * speed);
      return law.mu > 0 ? law.damping * speed / (4 * law.mu) : kInfinity;
    };
    const auto too_much = [&](double speed) { return !(ratio(speed) <= 1); };
    const auto creates = [&](double speed) {
      const LawNumbers law = curve.at(sign * speed);
      return !(law.mu > 0) || least_power(law, speed, largest / law.mu) < 0;
    };
    int best = 0;
    double most = -1;
    for (int i = 0; i < kGrid; ++i) {
      const double value = ratio(grid_speed(i));
      if (value > most) {
        most = value;
        best = i;
      }
      if (i == 0) continue;
      if (grid_speed(i) < out.any_bristle_below && value > 1)
        out.any_bristle_below = border(grid_speed(i - 1), grid_speed(i), too_much);
      if (grid_speed(i) < out.reachable_below && creates(grid_speed(i))) {
        out.reachable_below = border(grid_speed(i - 1), grid_speed(i), creates);
        const LawNumbers law = curve.at(sign * out.reachable_below);
        out.allowed_damping = law.damping;
      }
    }
    if (best == kGrid - 1) {
      most = kInfinity;
    } else if (best > 0) {
      // golden section in the logarithm
      double a = elementary::log(grid_speed(best - 1)), b = elementary::log(grid_speed(best + 1));
      constexpr double kGolden = 0.6180339887498949;
      for (int i = 0; i < 80; ++i) {
        const double c = b - kGolden * (b - a), d = a + kGolden * (b - a);
        (ratio(elementary::exp(c)) > ratio(elementary::exp(d)) ? b : a) =
            ratio(elementary::exp(c)) > ratio(elementary::exp(d)) ? d : c;
      }
      most = ratio(elementary::exp(0.5 * (a + b)));
      if (most > out.ratio) out.ratio_speed = elementary::exp(0.5 * (a + b));
    }
    if (most > out.ratio && std::isinf(most)) out.ratio_speed = kInfinity;
    out.ratio = std::max(out.ratio, most);
  }
  return out;
}

std::string in_words(const Dissipation& found, FrictionType type) {
  const auto number = [](double x) { return to_text(x, 4); };
  if (!std::isnan(found.negative_at))
    return "creates energy at the slip velocity " + number(found.negative_at);
  if (type != FrictionType::lugre && type != FrictionType::elastoplastic) return "dissipates at every speed";
  if (std::isinf(found.any_bristle_below)) {
    return "dissipates at every speed" + (found.ratio > 0 ? "; σ1 v/(4 μ) is at most " + number(found.ratio) +
                                                                ", at speed " + number(found.ratio_speed)
                                                          : std::string());
  }
  if (std::isinf(found.reachable_below)) {
    return "dissipates at every speed, as far as its bristle can be bent; beyond that only below " +
           number(found.any_bristle_below);
  }
  return "dissipates below the slip speed " + number(found.reachable_below) +
         "; above it a bent bristle can create energy";
}

double typical_speed(FrictionCurve& curve) {
  // Speeds weighted by how much the law changes there, per decade.
  double weight = 0, sum = 0;
  LawNumbers before = curve.at(grid_speed(0));
  for (int i = 1; i < kGrid; ++i) {
    const LawNumbers law = curve.at(grid_speed(i));
    const double change =
        std::abs(law.mu - before.mu) + 1e-3 * std::abs(law.damping - before.damping) /
                                           std::max(std::abs(law.damping) + std::abs(before.damping), 1e-300);
    if (std::isfinite(change)) {
      weight += change;
      sum += change * elementary::log(grid_speed(i));
    }
    before = law;
  }
  if (weight > 1e-12) return elementary::exp(sum / weight);
  const LawNumbers law = curve.at(1);
  if (law.beta > 0) return 1 / law.beta;
  if (law.viscous > 0 && law.mu > 0) return law.load * law.mu / law.viscous;
  return 1;
}

}  // namespace judder::model
