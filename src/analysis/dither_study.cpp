// The dither that a model file gives to a friction law.
#include <algorithm>
#include <cmath>

#include "core/dense/matrix.hpp"
#include "core/elementary.hpp"
#include "judder/analysis/dither.hpp"
#include "judder/core/number.hpp"

namespace judder::analysis {
namespace {

using model::System;
using model::Workspace;

constexpr double kPi = 3.141592653589793;
constexpr int kPoints = 4096;

/// Values over one period with mean and slow trend taken away; `trend` is the change over the period.
void remove_trend(std::vector<double>& f, double trend) {
  double sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i] -= trend * ((static_cast<double>(i) + 0.5) / static_cast<double>(f.size()) - 0.5);
    sum += f[i];
  }
  for (double& x : f) x -= sum / static_cast<double>(f.size());
}

double largest(const std::vector<double>& f) {
  double out = 0;
  for (const double x : f) out = std::max(out, std::abs(x));
  return out;
}

/// First harmonic a cos + b sin at the middles, and whether f is nothing else.
bool pure_sine(const std::vector<double>& f, double& a, double& b) {
  a = b = 0;
  const double n = static_cast<double>(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double phase = 2 * kPi * (static_cast<double>(i) + 0.5) / n;
    a += 2 * f[i] * elementary::cos(phase) / n;
    b += 2 * f[i] * elementary::sin(phase) / n;
  }
  double rest = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double phase = 2 * kPi * (static_cast<double>(i) + 0.5) / n;
    rest = std::max(rest, std::abs(f[i] - a * elementary::cos(phase) - b * elementary::sin(phase)));
  }
  return rest <= 1e-6 * elementary::hypot(a, b);
}

/// Two values, each for half of the period without interruption.
bool is_square(const std::vector<double>& f, double size) {
  std::size_t changes = 0, up = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (std::abs(std::abs(f[i]) - size) > 1e-9 * size) return false;
    up += f[i] > 0 ? 1 : 0;
    changes += (f[i] > 0) != (f[(i + 1) % f.size()] > 0) ? 1 : 0;
  }
  return changes == 2 && 2 * up == f.size();
}

/// The model without the law: its mass, forces and their derivatives. Outputs would only refer to what is no longer there.
model::Spec without_law(model::Spec spec, const std::string& name) {
  std::erase_if(spec.joints, [&](const model::Joint& joint) { return joint.name.text == name; });
  for (model::Contact& contact : spec.contacts) {
    if (contact.name.text == name) contact.friction = {};
  }
  for (model::Constraint& constraint : spec.constraints) {
    if (constraint.name.text == name) constraint.friction = {};
  }
  spec.watches.clear();
  spec.drawings.clear();
  spec.output = {};
  return spec;
}

/// The common period of the fast ones, which are those up to kFast times the shortest; 0: there is none.
double common_period(const std::vector<double>& periods) {
  constexpr double kFast = 8;
  double common = periods.front();
  for (const double other : periods) {
    if (other > kFast * periods.front()) break;
    double times = 1;
    const auto whole = [&] {
      const double ratio = times * common / other;
      return ratio > 0.5 && std::abs(ratio - std::round(ratio)) <= 1e-9 * ratio;
    };
    while (!whole() && times < 100) ++times;
    if (!whole()) return 0;
    common *= times;
  }
  return common;
}

/// The highest natural frequency of the structure.
double highest_frequency(const SlidingStructure& structure, std::size_t n, Patience& patience) {
  dense::ComplexMatrix mass(n);
  std::vector<dense::Complex> rows(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    mass(i / n, i % n) = structure.mass[i];
    rows[i] = structure.stiffness[i];
  }
  if (n == 0 || !dense::solve(mass, rows, n, &patience)) return 0;
  dense::ComplexMatrix a(n);
  for (std::size_t i = 0; i < n * n; ++i) a(i / n, i % n) = rows[i];
  double most = 0;
  for (const dense::Complex& value : dense::eigenvalues(std::move(a), &patience))
    most = std::max(most, std::abs(value));
  return std::sqrt(most);
}

/// Instants at the middles of equal parts of one period.
double instant(double from, double period, int i) { return from + period * (i + 0.5) / kPoints; }

std::optional<DitherStudy> study_of(const model::Spec& spec, const model::CompileOptions& options,
                                    const std::string& law, DitherProblem& problem) {
  Patience patience;
  patience.start(options.cancel);
  model::Compiled compiled = model::compile(spec, options);
  if (!compiled.system) {
    problem = {"the model has errors", "judder check lists them"};
    return std::nullopt;
  }
  DitherStudy study;
  study.system = std::move(*compiled.system);
  const model::ChosenLaw chosen = model::choose_law(study.system, law);
  if (chosen.relation < 0) {
    problem = {chosen.problem, chosen.help, chosen.none};
    return std::nullopt;
  }
  study.relation = chosen.relation;
  const model::Relation& relation = study.system.relations()[static_cast<std::size_t>(chosen.relation)];
  study.law = relation.name;

  model::CompileOptions bare_options = options;
  model::Compiled bare =
      model::compile(without_law(spec, study.law.substr(0, study.law.find('['))), bare_options);
  if (!bare.system) {
    problem = {"without the friction of '" + study.law + "' the model does not stand",
               bare.diagnostics.all().empty() ? "" : bare.diagnostics.all().front().message};
    return std::nullopt;
  }
  const System& structure = *bare.system;
  const std::size_t n = structure.coordinate_names().size();

  // --- slip row and structure at the start ---
  Workspace work(study.system), free(structure);
  std::vector<double> row(static_cast<std::size_t>(relation.sliding.outputs()));
  relation.sliding.evaluate(work.in.data(), row.data(), work.registers.data());
  study.structure.slip = model::Row(relation.slides, row.data() + 2).dense(n);
  study.structure.drag = model::Row(relation.slides, row.data() + 2 + relation.slides.size()).dense(n);
  if (!structure.motion(free)) {
    problem = {"the equations of motion give no finite numbers at the start", ""};
    return std::nullopt;
  }
  study.structure.mass = structure.full_mass(free);
  const model::Layout& layout = structure.layout();
  const auto columns = static_cast<std::size_t>(layout.integrated() + layout.free_parameters);
  std::vector<double> jacobian(static_cast<std::size_t>(layout.coordinates + layout.states) * columns);
  structure.jacobian(free, jacobian.data());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      study.structure.stiffness.push_back(-jacobian[i * columns + j]);
      study.structure.damping.push_back(-jacobian[i * columns + n + j]);
    }
  }

  // --- the fast part of the slip velocity ---
  if (study.system.periods().empty()) return study;  // no dither
  const double period = common_period(study.system.periods());
  if (period == 0) {
    problem = {"the dither has no period: its frequencies have no common one", ""};
    return std::nullopt;
  }
  const double from = study.system.start()[0];
  std::vector<double> belt(kPoints), push(kPoints), acceleration(n);
  const auto belt_at = [&](double t) {
    work.in[0] = t;
    relation.sliding.evaluate(work.in.data(), row.data(), work.registers.data());
    return row[1];
  };
  bool finite = true;
  const auto push_at = [&](double t) {
    free.in[0] = t;
    structure.sides_by_value(free.in, free);
    finite = structure.motion(free) && finite;
    acceleration = free.force;
    structure.solve_mass(free, acceleration.data());
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += study.structure.slip[i] * acceleration[i];
    return sum;
  };
  for (int i = 0; i < kPoints; ++i) {
    patience.look();
    belt[static_cast<std::size_t>(i)] = belt_at(instant(from, period, i));
    push[static_cast<std::size_t>(i)] = push_at(instant(from, period, i));
  }
  const double belt_trend = belt_at(instant(from, period, kPoints)) - belt.front();
  const double push_trend = push_at(instant(from, period, kPoints)) - push.front();
  if (!finite) {
    problem = {"the forces are not finite over one period of the dither", ""};
    return std::nullopt;
  }
  remove_trend(belt, belt_trend);
  remove_trend(push, push_trend);

  Dither& dither = study.dither;
  dither.frequency = 2 * kPi / period;
  const double belt_size = largest(belt), push_size = largest(push) / dither.frequency;
  // What is left of slow parts after the trend is of second order in the ratio of the periods.
  if (belt_size < 1e-9 * push_size) std::fill(belt.begin(), belt.end(), 0.0);
  if (push_size < 1e-6 * belt_size) std::fill(push.begin(), push.end(), 0.0);
  // Where nothing shakes faster than the structure swings, the forces are part of the slow motion.
  if (belt_size == 0 && dither.frequency <= 2 * highest_frequency(study.structure, n, patience))
    std::fill(push.begin(), push.end(), 0.0);
  if (largest(belt) == 0 && largest(push) == 0) {
    dither.frequency = 0;
    return study;
  }
  double a = 0, b = 0, c = 0, d = 0;
  const bool belt_pure = largest(belt) == 0 || pure_sine(belt, a, b);
  const bool push_pure = largest(push) == 0 || pure_sine(push, c, d);
  if (belt_pure && push_pure) {
    // ∫ (c cos + d sin) dt = (c sin − d cos)/Ω
    dither.wave = Wave::sine;
    dither.amplitude = elementary::hypot(a - d / dither.frequency, b + c / dither.frequency);
    return study;
  }
  if (largest(push) > 0) {
    std::vector<double> driven(kPoints);
    double sum = 0;
    for (std::size_t i = 0; i < driven.size(); ++i) {
      driven[i] = sum + 0.5 * push[i] * period / kPoints;
      sum += push[i] * period / kPoints;
    }
    remove_trend(driven, 0);
    for (std::size_t i = 0; i < driven.size(); ++i) belt[i] += driven[i];
  }
  dither.amplitude = largest(belt);
  dither.wave = is_square(belt, dither.amplitude) ? Wave::square : Wave::other;
  if (dither.wave == Wave::other) {
    for (double& x : belt) x /= dither.amplitude;
    dither.samples = std::move(belt);
  }
  return study;
}

}  // namespace

std::optional<DitherStudy> dither_study(const model::Spec& spec, const model::CompileOptions& options,
                                        const std::string& law, DitherProblem& problem) {
  try {
    return study_of(spec, options, law, problem);
  } catch (const Abandoned&) {
    problem = {"cancelled", ""};
    return std::nullopt;
  }
}

}  // namespace judder::analysis
