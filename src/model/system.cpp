#include "judder/model/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense/elimination.hpp"
#include "core/elementary.hpp"
#include "judder/model/columns.hpp"
#include "model/smooth_laws.hpp"
#include "model/system_data.hpp"

namespace judder::model {
namespace {

/// What steady sliding at this speed needs per unit of load, from the outputs of Relation::curve.
double steady_coefficient(FrictionType type, const double* curve, double speed) {
  const LawNumbers law = law_numbers(curve);
  const SmoothLaw* smooth = find_smooth_law(type);
  return smooth != nullptr ? smooth->of_slip(law.mu, law, speed) : law.mu;
}

/// A pivot this small against its diagonal entry is rounding: the coordinate has no inertia of its own.
double pivot_floor(std::size_t n, double diagonal) {
  return 4 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::abs(diagonal);
}

/// M = L D Lᵀ of the massive block; sums in the order written, without what is zero by its form. No square roots: a change of the mass unit by
/// a power of two keeps all bits. False: a pivot is not positive.
bool factorise(const System::Data& d, Workspace& work) {
  const std::size_t k = d.massive.size();
  const MassPattern& pattern = d.mass_pattern;
  for (std::size_t i = 0; i < k; ++i) {
    const auto row = static_cast<std::size_t>(d.massive[i]);
    const auto first = static_cast<std::size_t>(d.factor_first[i]);
    double* lower = work.factor.data() + d.factor_begin[i];
    double* scaled = work.factor_row.data() + d.factor_begin[i];
    // The row of M first, in the place of L D; massive coordinates are in the order of all.
    std::fill_n(scaled, i - first, 0.0);
    auto entry = static_cast<std::size_t>(pattern.begin[row]);
    const auto last = static_cast<std::size_t>(pattern.begin[row + 1]) - 1;
    for (std::size_t j = first; entry < last; ++entry) {
      while (j < i && d.massive[j] < pattern.at[entry]) ++j;
      if (j < i && d.massive[j] == pattern.at[entry]) scaled[j - first] = work.mass[entry];
    }
    for (std::size_t j = first; j < i; ++j) {
      const auto first_there = static_cast<std::size_t>(d.factor_first[j]);
      const double* above = work.factor_row.data() + d.factor_begin[j];
      double sum = scaled[j - first];
      for (std::size_t l = std::max(first, first_there); l < j; ++l)
        sum -= lower[l - first] * above[l - first_there];
      scaled[j - first] = sum;
      lower[j - first] = sum / work.pivots[j];
    }
    double sum = work.mass[last];
    for (std::size_t l = first; l < i; ++l) sum -= lower[l - first] * scaled[l - first];
    if (!(sum > pivot_floor(k, work.mass[last]))) return false;
    work.pivots[i] = sum;
  }
  return true;
}

bool all_finite(const double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

/// What unknown i moves by where the others (and it itself) move by up to `by`: the forces of these on it over its own stiffness or damping. Unknowns
/// have units of their own, and numbers of different units are never compared.
double moved_along(const double* slopes, std::size_t k, std::size_t i, const double* by) {
  const double own = std::abs(slopes[i * k + i]);
  double most = by[i];
  if (!(own > 0)) return most;
  for (std::size_t c = 0; c < k; ++c) {
    const double slope = std::abs(slopes[i * k + c]);
    if (c != i && slope > 0) most = std::max(most, slope / own * by[c]);
  }
  return most;
}

/// What the rest of the balance would move each unknown by alone.
double moved_alone(const double* slopes, std::size_t k, std::size_t i, double force) {
  const double own = std::abs(slopes[i * k + i]);
  return own > 0 ? std::abs(force) / own : 0;
}

/// Finds the massless unknowns and the friction of the joints that move them, and writes them into the inputs.
bool follow_with_friction(const MasslessSystem& massless, Workspace& work) {
  const std::size_t k = massless.unknown.size(), all = massless.sliders.size();
  double* in = work.in.data();
  double* out = work.output.data();
  // memory: matrix, right-hand side, sizes of rows, friction program, positions before
  double* matrix = work.scratch.data();
  double* side = matrix + (k + all) * (k + all);
  double* row_size = side + k + all;
  double* friction = row_size + k + all;
  double* before = friction + all * (2 * k + 2);
  double* free = before + k;  // how far forces without friction would move an unknown
  double* terms =
      free +
      k;  // the same with the friction of what slips: where they balance, its rounding is all that is left of a step
  double* extent = terms + k;  // what an unknown is, and moves by, and is moved by through the others
  double* alone_by = extent + k;
  const auto place = [&](std::size_t i) -> double& { return in[massless.unknown[i]]; };
  const auto drag = [&](std::size_t j) { return friction + j * (2 * k + 2); };
  const auto row = [&](std::size_t j) { return drag(j) + k; };
  const auto rests = [&](std::size_t j) { return in[massless.sliders[j].direction] == 0; };
  std::size_t held = 0, held_damped = 0;
  for (std::size_t j = 0; j < all; ++j) {
    held += rests(j) ? 1 : 0;
    held_damped += rests(j) && massless.sliders[j].damped ? 1 : 0;
  }
  const std::size_t size = k + held, slow = k - massless.velocity.size();
  // Unknowns in this order: damped velocities, friction on them, undamped positions, friction on those. The latter do not see the former, so that no
  // pivot is a choice between a damper and a spring.
  const auto at = [&](std::size_t i) { return i < slow ? i : i + held_damped; };
  const auto first_joint = [&](bool damped) { return damped ? slow : k + held_damped; };
  // F(x) + A δ + Σ drag λ = 0 and, for what rests, its row: of velocities, or of positions from where they were.
  const auto solve = [&](bool damped) {
    const double* slopes = out + k;
    std::fill_n(matrix, size * size, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t c = 0; c < k; ++c) matrix[at(i) * size + at(c)] = slopes[i * k + c];
      side[at(i)] = -out[i];
    }
    std::size_t next_of[2] = {first_joint(false), first_joint(true)};
    for (std::size_t j = 0; j < all; ++j) {
      if (!rests(j)) continue;
      const std::size_t next = next_of[massless.sliders[j].damped ? 1 : 0]++;
      double value = massless.sliders[j].damped && damped ? drag(j)[2 * k] : 0;
      for (std::size_t i = 0; i < k; ++i) {
        matrix[at(i) * size + next] = drag(j)[i];
        matrix[next * size + at(i)] = row(j)[i];
        if (!massless.sliders[j].damped) value += row(j)[i] * (place(i) - before[i]);
      }
      side[next] = -value;
    }
    return all_finite(matrix, size * size) && all_finite(side, size) &&
           dense::eliminate(matrix, side, row_size, size);
  };
  for (std::size_t i = 0; i < k; ++i) before[i] = place(i);
  constexpr double kCancelled = 1e-13;
  std::fill_n(extent, k, 0.0);
  double last = std::numeric_limits<double>::infinity();
  // The largest step, in shares of what its unknown extends to or of the terms that cancel in it.
  const auto largest_step = [&](double cancelled) {
    double largest = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double step = std::abs(side[at(i)]);
      if (step > 0) largest = std::max(largest, step / std::max(extent[i], cancelled * terms[i]));
    }
    return largest;
  };
  constexpr double kSmall = 1e-7, kConverged = 1e-9;
  constexpr int kMostSteps = 50;
  for (int round = 0; round < kMostSteps; ++round) {
    massless.balance.evaluate(in, out, work.registers.data());
    massless.friction.evaluate(in, friction, work.registers.data());
    const double* slopes = out + k;
    for (std::size_t i = 0; i < k; ++i) alone_by[i] = moved_alone(slopes, k, i, out[i]);
    for (std::size_t i = 0; i < k && round == 0; ++i) free[i] = moved_along(slopes, k, i, alone_by);
    for (std::size_t i = 0; i < k; ++i) alone_by[i] = std::max(alone_by[i], std::abs(place(i)));
    for (std::size_t i = 0; i < k; ++i) extent[i] = std::max(extent[i], moved_along(slopes, k, i, alone_by));
    for (std::size_t i = 0; i < k && round == 0; ++i) {
      alone_by[i] = moved_alone(slopes, k, i, out[i]);
      for (std::size_t j = 0; j < all; ++j) {
        if (!rests(j))
          alone_by[i] = std::max(alone_by[i], moved_alone(slopes, k, i, drag(j)[i] * drag(j)[2 * k + 1]));
      }
    }
    for (std::size_t i = 0; i < k && round == 0; ++i) terms[i] = moved_along(slopes, k, i, alone_by);
    if (!solve(true)) return false;
    for (std::size_t i = 0; i < k; ++i) {
      place(i) += side[at(i)];
      extent[i] = std::max(extent[i], std::abs(place(i)));
    }
    const double step = largest_step(kCancelled / kSmall);
    if (step == 0 || (round > 0 && massless.affine) || (step > 0.5 * last && step <= kSmall)) break;
    last = step;
  }
  if (!massless.affine && !(largest_step(kCancelled / kConverged) <= kConverged)) return false;
  // What one row alone holds stays exactly: rounding would be all of its motion.
  const auto alone = [&](std::size_t j) {
    std::size_t entry = k;
    for (std::size_t i = 0; i < k; ++i) {
      if (row(j)[i] == 0) continue;
      if (entry < k) return k;
      entry = i;
    }
    return entry;
  };
  for (std::size_t i = 0; i < k && held > 0; ++i) {
    const double start = i < slow ? 0 : before[i];
    if (std::abs(place(i) - start) <= kCancelled * free[i]) place(i) = start;
  }
  std::size_t next_of[2] = {first_joint(false), first_joint(true)};
  for (std::size_t j = 0; j < all; ++j) {
    if (rests(j)) in[massless.sliders[j].tangent] = side[next_of[massless.sliders[j].damped ? 1 : 0]++];
    const std::size_t i = rests(j) ? alone(j) : k;
    if (i < k) place(i) = massless.sliders[j].damped ? 0 : before[i];
  }
  massless.friction.evaluate(in, friction, work.registers.data());
  for (std::size_t j = 0; j < all; ++j) {
    if (!rests(j)) {
      in[massless.sliders[j].tangent] = drag(j)[2 * k + 1];
      // Where it leaves its limit the balance is nothing but rounding, which has no direction.
      const std::size_t i = massless.sliders[j].damped ? alone(j) : k;
      if (i == k) continue;
      const double slip = drag(j)[2 * k];
      const double moved =
          std::abs(drag(j)[i] * drag(j)[2 * k + 1] / out[k + i * k + i]);  // by friction alone
      if (slip * in[massless.sliders[j].direction] < 0 &&
          std::abs(slip) <= kCancelled * std::abs(row(j)[i]) * moved)
        place(i) -= slip / row(j)[i];
      continue;
    }
    const std::size_t i = massless.sliders[j].damped ? alone(j) : k;
    if (i < k) place(i) = -drag(j)[2 * k] / row(j)[i];
  }

  // Velocities of the undamped: F stays zero, and so does the slip of what rests.
  const std::size_t u = massless.velocity.size();
  if (u == 0) return true;
  for (std::size_t i = 0; i < u; ++i) in[massless.velocity[i]] = 0;
  massless.velocity_balance.evaluate(in, out, work.registers.data());
  massless.friction.evaluate(in, friction, work.registers.data());
  std::size_t still = 0;
  for (std::size_t j = 0; j < all; ++j) still += rests(j) && !massless.sliders[j].damped ? 1 : 0;
  const std::size_t width = u + still, offset = slow;
  std::fill_n(matrix, width * width, 0.0);
  for (std::size_t i = 0; i < u; ++i) {
    for (std::size_t c = 0; c < u; ++c) matrix[i * width + c] = out[u + i * u + c];
    side[i] = out[i];
  }
  for (std::size_t i = 0; i < u; ++i) alone_by[i] = moved_alone(out + u, u, i, side[i]);
  for (std::size_t i = 0; i < u; ++i) free[i] = moved_along(out + u, u, i, alone_by);
  std::size_t next = u;
  for (std::size_t j = 0; j < all; ++j) {
    if (!rests(j) || massless.sliders[j].damped) continue;
    for (std::size_t i = 0; i < u; ++i) {
      matrix[i * width + next] = drag(j)[offset + i];
      matrix[next * width + i] = row(j)[offset + i];
    }
    side[next++] = -drag(j)[2 * k];
  }
  if (!all_finite(matrix, width * width) || !all_finite(side, width) ||
      !dense::eliminate(matrix, side, row_size, width))
    return false;
  for (std::size_t i = 0; i < u; ++i)
    in[massless.velocity[i]] = still > 0 && std::abs(side[i]) <= kCancelled * free[i] ? 0 : side[i];
  for (std::size_t j = 0; j < all; ++j) {
    const std::size_t i = rests(j) && !massless.sliders[j].damped ? alone(j) : k;
    if (i < k) in[massless.velocity[i - offset]] = -drag(j)[2 * k] / row(j)[i];
  }
  return true;
}

/// Finds the massless unknowns and writes them into the inputs.
bool follow(const MasslessSystem& massless, Workspace& work) {
  if (!massless.sliders.empty()) return follow_with_friction(massless, work);
  const std::size_t k = massless.unknown.size();
  double* in = work.in.data();
  double* out = work.output.data();
  double* step = work.scratch.data();
  const auto solve = [&] {
    for (std::size_t i = 0; i < k; ++i) step[i] = -out[i];
    return all_finite(out, k + k * k) && dense::eliminate(out + k, step, step + k, k);
  };
  const auto place = [&](std::size_t i) -> double& { return in[massless.unknown[i]]; };
  if (massless.affine) {
    for (std::size_t i = 0; i < k; ++i) place(i) = 0;
    massless.balance.evaluate(in, out, work.registers.data());
    if (!solve()) return false;
    for (std::size_t i = 0; i < k; ++i) place(i) = step[i];
  } else {
    // Newton down to rounding: until a small step no longer shrinks to half.
    double* extent = step + 2 * k;
    double* alone_by = extent + k;
    std::fill_n(extent, k, 0.0);
    double before = std::numeric_limits<double>::infinity(), size = 0;
    constexpr int kMostSteps = 50;
    for (int round = 0; round < kMostSteps; ++round) {
      massless.balance.evaluate(in, out, work.registers.data());
      for (std::size_t i = 0; i < k; ++i)
        alone_by[i] = std::max(moved_alone(out + k, k, i, out[i]), std::abs(place(i)));
      for (std::size_t i = 0; i < k; ++i)
        extent[i] = std::max(extent[i], moved_along(out + k, k, i, alone_by));
      if (!solve()) return false;
      size = 0;
      for (std::size_t i = 0; i < k; ++i) {
        place(i) += step[i];
        extent[i] = std::max(extent[i], std::abs(place(i)));
        if (step[i] != 0) size = std::max(size, std::abs(step[i]) / extent[i]);
      }
      if (size == 0 || (size > 0.5 * before && size <= 1e-7)) break;
      before = size;
    }
    if (!(size <= 1e-9)) return false;
  }
  const std::size_t u = massless.velocity.size();
  if (u == 0) return true;
  massless.velocity_balance.evaluate(in, out, work.registers.data());
  for (std::size_t i = 0; i < u; ++i) step[i] = out[i];
  if (!all_finite(out, u + u * u) || !dense::eliminate(out + u, step, step + u, u)) return false;
  for (std::size_t i = 0; i < u; ++i) in[massless.velocity[i]] = step[i];
  return true;
}

/// −v·C v of large matrices.
void add_damping_power(const LargeMatrices& large, const Layout& layout, const Workspace& work,
                       double* powers) {
  if (large.damping_power >= 0)
    powers[large.damping_power] -= large.damping.square(work.in.data() + layout.v());
}

/// ½ v·M v and ½ q·K q of large matrices, for the formulas that read them.
void find_large_energies(const System::Data& d, Workspace& work) {
  if (d.large == nullptr) return;
  work.in[d.large->kinetic] = 0.5 * d.large->mass.square(work.in.data() + d.layout.v());
  work.in[d.large->potential] = 0.5 * d.large->stiffness.square(work.in.data() + d.layout.q());
}

}  // namespace

void MassPattern::list_columns() {
  const std::size_t n = begin.size() - 1;
  below_begin.assign(n + 1, 0);
  const auto each = [this, n](const auto& use) {
    for (std::size_t i = 0; i < n; ++i) {
      for (int e = begin[i]; e + 1 < begin[i + 1]; ++e)
        use(static_cast<std::size_t>(at[static_cast<std::size_t>(e)]), static_cast<int>(i), e);
    }
  };
  each([this](std::size_t column, int, int) { ++below_begin[column + 1]; });
  for (std::size_t i = 0; i < n; ++i) below_begin[i + 1] += below_begin[i];
  std::vector<int> next(below_begin);
  below_row.resize(static_cast<std::size_t>(below_begin[n]));
  below_entry.resize(below_row.size());
  each([&](std::size_t column, int row, int entry) {
    const auto place = static_cast<std::size_t>(next[column]++);
    below_row[place] = row;
    below_entry[place] = entry;
  });
}

System::System() : data_(std::make_unique<Data>()) {}
System::~System() = default;
System::System(System&&) noexcept = default;
System& System::operator=(System&&) noexcept = default;

const Layout& System::layout() const { return data_->layout; }
const std::vector<std::string>& System::coordinate_names() const { return data_->coordinate_names; }
const std::vector<std::string>& System::state_names() const { return data_->state_names; }
const std::vector<Relation>& System::relations() const { return data_->relations; }
const std::vector<SwitchInfo>& System::switches() const { return data_->switches; }
const std::vector<WatchInfo>& System::watches() const { return data_->watches; }
const std::vector<SwitchInfo>& System::observed() const { return data_->observed; }
const std::vector<AuditInfo>& System::audits() const { return data_->audits; }
const std::vector<DrawingInfo>& System::drawings() const { return data_->drawings; }
const std::vector<ColumnInfo>& System::columns() const { return data_->columns; }
const std::vector<bool>& System::massless() const { return data_->massless; }
const std::vector<double>& System::scale_floor() const { return data_->scale_floor; }
bool System::mass_constant() const { return data_->mass_constant; }
const MassPattern& System::mass_pattern() const { return data_->mass_pattern; }
bool System::watches_read_works() const { return data_->watches_read_works; }
bool System::reads_massless_acceleration() const { return data_->reads_massless_acceleration; }
bool System::autonomous_forces() const { return data_->autonomous; }
bool System::autonomous() const { return data_->time_free; }
bool System::steady() const { return data_->steady; }
const std::vector<double>& System::periods() const { return data_->periods; }
const std::vector<bool>& System::cyclic() const { return data_->cyclic; }
const std::vector<double>& System::start() const { return data_->start; }
const std::vector<double>& System::instants() const { return data_->instants; }
const Symbols& System::symbols() const { return data_->symbols; }
const LinearStructure& System::linear() const { return data_->linear; }
const LinkedForces& System::linked() const { return data_->linked; }
const expr::Graph& System::graph() const { return data_->graph; }
const expr::Program& System::motion_program() const { return data_->motion; }
System::MasslessBalance System::massless_balance() const {
  const MasslessSystem& follow = data_->follow;
  return {&follow.balance, follow.unknown, follow.velocity, follow.joints, &follow.friction};
}

namespace {

double side_of(const SwitchInfo& info, double s) {
  if (info.whole) return info.never_negative ? std::max(std::floor(s), 0.0) : std::floor(s);
  if (info.levels.empty()) return s >= 0 ? 1 : 0;
  const auto above = std::upper_bound(info.levels.begin(), info.levels.end(), s);
  return static_cast<double>(above - info.levels.begin()) - 1;
}

}  // namespace

double SwitchInfo::level_below(double side) const {
  if (whole) return never_negative && side <= 0 ? -std::numeric_limits<double>::infinity() : side;
  return side < 0 ? -std::numeric_limits<double>::infinity() : levels[static_cast<std::size_t>(side)];
}

double SwitchInfo::level_above(double side) const {
  if (whole) return side + 1;
  const auto next = static_cast<std::size_t>(side + 1);
  return next < levels.size() ? levels[next] : std::numeric_limits<double>::infinity();
}

bool System::live(Workspace& work, int k) const {
  const SwitchInfo& info = data_->switches[static_cast<std::size_t>(k)];
  if (info.live.outputs() == 0) return true;
  double live = 0;
  info.live.evaluate(work.in.data(), &live, work.registers.data());
  return live > 0;
}

double System::side_of_value(Workspace& work, int k) const {
  const SwitchInfo& info = data_->switches[static_cast<std::size_t>(k)];
  double s = 0;
  info.value.evaluate(work.in.data(), &s, work.registers.data());
  return side_of(info, s);
}

void System::sides_by_value(std::span<double> in, Workspace& work) const {
  // A surface may use sides of switches before it in the list, never of later ones.
  for (std::size_t k = 0; k < data_->switches.size(); ++k) {
    const SwitchInfo& info = data_->switches[k];
    double s = 0;
    info.value.evaluate(in.data(), &s, work.registers.data());
    in[static_cast<std::size_t>(data_->layout.side()) + k] = side_of(info, s);
  }
}

bool System::has_powers_with_motion() const { return data_->motion_and_powers.outputs() > 0; }

bool System::motion(Workspace& work) const { return motion(work, nullptr); }

bool System::motion(Workspace& work, double* powers) const {
  const Data& d = *data_;
  const auto n = static_cast<std::size_t>(d.layout.coordinates);
  const auto m = static_cast<std::size_t>(d.layout.states);
  work.mass_failed = false;
  if (!d.follow.unknown.empty() && !follow(d.follow, work)) return false;
  double* out = work.output.data();
  if (powers != nullptr && has_powers_with_motion()) {
    d.motion_and_powers.evaluate(work.in.data(), out, work.registers.data());
    const int count = d.power.outputs();
    std::copy_n(out + d.motion_and_powers.outputs() - count, count, powers);
  } else {
    (d.mass_constant ? d.force : d.motion).evaluate(work.in.data(), out, work.registers.data());
  }
  for (std::size_t i = 0; i < n; ++i) work.force[i] = out[i];
  for (std::size_t i = 0; i < m; ++i) work.rate[i] = out[n + i];
  if (d.large != nullptr) {
    d.large->stiffness.add(-1, work.in.data() + d.layout.q(), work.force.data());
    d.large->damping.add(-1, work.in.data() + d.layout.v(), work.force.data());
    if (powers != nullptr && has_powers_with_motion()) add_damping_power(*d.large, d.layout, work, powers);
    if (!all_finite(work.force.data(), n)) return false;
  }
  if (!all_finite(out, n + m)) return false;
  // The friction of joints on massless coordinates is known: a force on the others.
  for (const MasslessSystem::Slider& slider : d.follow.sliders) {
    const RelationRows& of = rows(work, slider.relation);
    const double lambda = work.in[static_cast<std::size_t>(slider.tangent)];
    for (std::size_t i = 0; i < n; ++i) {
      if (!d.massless[i]) work.force[i] += lambda * of.tangent[slider.row].drag[static_cast<int>(i)];
    }
  }
  if (d.mass_constant) return true;
  const double* entries = out + n + m;
  work.read_mass(*this, entries);
  if (!all_finite(entries, work.mass.size())) return false;
  work.mass_failed = !factorise(d, work);
  return !work.mass_failed;
}

void System::solve_mass(const Workspace& work, double* x) const {
  const Data& d = *data_;
  const std::size_t k = d.massive.size();
  const double* factor = work.factor.data();
  const auto at = [&](std::size_t i) -> double& { return x[d.massive[i]]; };
  if (work.mass_diagonal) {
    for (std::size_t i = 0; i < k; ++i) at(i) /= work.pivots[i];
  } else {
    for (std::size_t i = 0; i < k; ++i) {
      const double* row = factor + d.factor_begin[i];
      double sum = at(i);
      for (auto l = static_cast<std::size_t>(d.factor_first[i]); l < i; ++l) sum -= *row++ * at(l);
      at(i) = sum;
    }
    for (std::size_t i = k; i-- > 0;) {
      double sum = at(i) / work.pivots[i];
      const auto last = static_cast<std::size_t>(d.factor_last[i]);
      for (std::size_t l = i + 1; l <= last; ++l) {
        const auto first = static_cast<std::size_t>(d.factor_first[l]);
        if (first <= i) sum -= factor[d.factor_begin[l] + i - first] * at(l);
      }
      at(i) = sum;
    }
  }
  if (k == d.massless.size()) return;
  for (std::size_t i = 0; i < d.massless.size(); ++i) {
    if (d.massless[i]) x[i] = 0;
  }
}

std::vector<double> System::full_mass(const Workspace& work) const {
  const auto n = static_cast<std::size_t>(data_->layout.coordinates);
  std::vector<double> out(n * n);
  full_mass(work, out.data());
  return out;
}

void System::full_mass(const Workspace& work, double* out) const {
  const MassPattern& pattern = data_->mass_pattern;
  const auto n = static_cast<std::size_t>(data_->layout.coordinates);
  std::fill_n(out, n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (int e = pattern.begin[i]; e < pattern.begin[i + 1]; ++e) {
      const auto j = static_cast<std::size_t>(pattern.at[static_cast<std::size_t>(e)]);
      out[i * n + j] = out[j * n + i] = work.mass[static_cast<std::size_t>(e)];
    }
  }
}

void System::apply_mass(const Workspace& work, const double* x, double* y) const {
  const MassPattern& pattern = data_->mass_pattern;
  const auto n = static_cast<std::size_t>(data_->layout.coordinates);
  std::fill_n(y, n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (int e = pattern.begin[i]; e < pattern.begin[i + 1]; ++e) {
      const double entry = work.mass[static_cast<std::size_t>(e)];
      const auto j = static_cast<std::size_t>(pattern.at[static_cast<std::size_t>(e)]);
      y[i] += entry * x[j];
      if (j != i) y[j] += entry * x[i];
    }
  }
}

void System::gap(Workspace& work, int relation, double& gap_value, double& rate) const {
  const Relation& r = data_->relations[static_cast<std::size_t>(relation)];
  double out[2] = {0, 0};
  if (r.gap.outputs() == 2) r.gap.evaluate(work.in.data(), out, work.registers.data());
  gap_value = out[0];
  rate = out[1];
}

void System::gaps(Workspace& work) const {
  const Data& d = *data_;
  double* out = work.output.data();
  d.gaps.evaluate(work.in.data(), out, work.registers.data());
  for (const int r : d.with_gap) {
    work.gap_value[static_cast<std::size_t>(r)] = *out++;
    work.gap_rate[static_cast<std::size_t>(r)] = *out++;
  }
  const double* q = work.in.data() + d.layout.q();
  const double* v = work.in.data() + d.layout.v();
  for (const PlainGap& gap : d.plain_gaps) {
    double value = gap.first_sign * q[gap.first];
    double rate = gap.first_sign * v[gap.first];
    if (gap.second >= 0) {
      value += gap.second_sign * q[gap.second];
      rate += gap.second_sign * v[gap.second];
    } else if (gap.offset != 0) {
      value += gap.offset;
    }
    work.gap_value[static_cast<std::size_t>(gap.relation)] = value;
    work.gap_rate[static_cast<std::size_t>(gap.relation)] = rate;
  }
}

const RelationRows& System::rows(Workspace& work, int relation) const {
  const auto at = static_cast<std::size_t>(relation);
  const Relation& r = data_->relations[at];
  RelationRows& rows = work.relation[at];
  gap(work, relation, rows.gap, rows.gap_rate);
  double* memory = work.row_memory[at].data();
  if (!r.rows_constant) {
    r.rows.evaluate(work.in.data(), memory, work.registers.data());
    work.read_rows(r, rows, memory);
  } else {
    const double* v = work.in.data() + data_->layout.v();
    for (int j = 0; j < r.tangents; ++j) {
      RelationRows::Tangent& row = rows.tangent[j];
      double sum = row.drive;
      const std::span<const double> w = row.w.values();
      for (std::size_t k = 0; k < w.size(); ++k) sum += w[k] * v[r.touches[k]];
      row.slip = sum;
    }
  }
  if (!r.law_constant) {
    double* law = memory + r.rows.outputs();
    r.law.evaluate(work.in.data(), law, work.registers.data());
    work.read_law(r, rows, law);
  }
  return rows;
}

void System::restitution(Workspace& work, int relation, double approach_speed, double& e,
                         double& tangential) const {
  const Relation& r = data_->relations[static_cast<std::size_t>(relation)];
  double out[2] = {0, 0};
  work.in[static_cast<std::size_t>(data_->layout.approach_speed())] = approach_speed;
  if (r.restitution.outputs() == 2) r.restitution.evaluate(work.in.data(), out, work.registers.data());
  e = out[0];
  tangential = out[1];
}

double System::impulse_coefficient(Workspace& work, int relation, double speed) const {
  const Relation& r = data_->relations[static_cast<std::size_t>(relation)];
  if (r.friction == FrictionType::none) return 0;
  double out[kCurveOutputs];
  work.in[static_cast<std::size_t>(data_->layout.approach_speed())] = speed;
  r.curve.evaluate(work.in.data(), out, work.registers.data());
  return std::max(0.0, steady_coefficient(r.friction, out, speed));
}

System::ImpulseFriction System::impulse_friction(Workspace& work, int relation, double speed) const {
  const Relation& r = data_->relations[static_cast<std::size_t>(relation)];
  if (r.friction == FrictionType::none) return {};
  ImpulseFriction found;
  found.slipping = impulse_coefficient(work, relation, speed);
  double out[kCurveOutputs];
  work.in[static_cast<std::size_t>(data_->layout.approach_speed())] = 0;
  r.curve.evaluate(work.in.data(), out, work.registers.data());
  found.resting = std::max(0.0, r.smooth_friction ? steady_coefficient(r.friction, out, 0) : out[2]);
  return found;
}

void System::energies(Workspace& work, double& kinetic, double& potential, double& total) const {
  find_large_energies(*data_, work);
  double out[3];
  data_->energies.evaluate(work.in.data(), out, work.registers.data());
  kinetic = out[0];
  potential = out[1];
  total = out[2];
}

void System::powers(Workspace& work, double* out) const {
  data_->power.evaluate(work.in.data(), out, work.registers.data());
  if (data_->large != nullptr) add_damping_power(*data_->large, data_->layout, work, out);
}

const expr::Program& column_program(const System& system) { return system.data().column_program; }

void System::column_values(Workspace& work, double* out) const {
  find_large_energies(*data_, work);
  data_->column_program.evaluate(work.in.data(), out, work.registers.data());
}

void System::drawing_values(Workspace& work, double* out) const {
  data_->drawing_program.evaluate(work.in.data(), out, work.registers.data());
}

int System::drawing_numbers() const { return data_->drawing_program.outputs(); }

void System::jacobian(Workspace& work, double* out) const {
  const Data& d = *data_;
  const Layout& layout = d.layout;
  const auto rows = static_cast<std::size_t>(layout.coordinates + layout.states);
  std::fill_n(out, rows * static_cast<std::size_t>(layout.integrated() + layout.free_parameters), 0.0);
  d.jacobian.evaluate(work.in.data(), work.output.data(), work.registers.data());
  for (std::size_t e = 0; e < d.jacobian_place.size(); ++e) out[d.jacobian_place[e]] = work.output[e];
  if (d.large == nullptr) return;
  const auto width = static_cast<std::size_t>(layout.integrated() + layout.free_parameters);
  for (const auto& [matrix, shift] :
       {std::pair(&d.large->stiffness, 0), std::pair(&d.large->damping, layout.coordinates)}) {
    for (int i = 0; i < matrix->size; ++i) {
      for (int e = matrix->begin[i]; e < matrix->begin[i + 1]; ++e)
        out[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(shift + matrix->column[e])] -=
            matrix->value[e];
    }
  }
}

Workspace::Workspace(const System& system) {
  const System::Data& d = system.data();
  const auto n = static_cast<std::size_t>(d.layout.coordinates);
  in = d.start;
  force.assign(n, 0);
  rate.assign(static_cast<std::size_t>(d.layout.states), 0);
  mass.assign(d.mass_pattern.at.size(), 0);
  inertia.assign(n, 0);
  pivots.assign(d.massive.size(), 0);
  factor.assign(d.factor_begin.back(), 0);
  factor_row.assign(d.factor_begin.back(), 0);
  gap_value.assign(d.relations.size(), 0);
  gap_rate.assign(d.relations.size(), 0);
  registers.assign(static_cast<std::size_t>(d.registers), 0);
  output.assign(static_cast<std::size_t>(d.outputs), 0);
  const std::size_t unknown = d.follow.unknown.size(), sliders = d.follow.sliders.size();
  scratch.assign(
      std::max<std::size_t>(
          (unknown + sliders) * (unknown + sliders + 2) + sliders * (2 * unknown + 2) + 5 * unknown, 1),
      0);
  if (d.mass_constant) {
    d.motion.evaluate(in.data(), output.data(), registers.data());
    if (d.large != nullptr) {
      // Its entries stand in no program.
      std::size_t at = 0;
      const MatrixRows& m = d.large->mass;
      for (int i = 0; i < m.size; ++i) {
        for (int e = m.begin[i]; e < m.begin[i + 1] && m.column[e] <= i; ++e) mass[at++] = m.value[e];
        inertia[i] = mass[at - 1];
      }
    } else {
      read_mass(system, output.data() + n + rate.size());
    }
    mass_failed = !factorise(d, *this);
    mass_diagonal = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (int e = d.mass_pattern.begin[i]; e + 1 < d.mass_pattern.begin[i + 1]; ++e)
        mass_diagonal = mass_diagonal && mass[static_cast<std::size_t>(e)] == 0;
    }
  }
  relation.resize(d.relations.size());
  row_memory.resize(d.relations.size());
  for (std::size_t k = 0; k < d.relations.size(); ++k) {
    const Relation& r = d.relations[k];
    row_memory[k].assign(static_cast<std::size_t>(r.rows.outputs() + r.law.outputs()), 0);
    double* memory = row_memory[k].data();
    r.rows.evaluate(in.data(), memory, registers.data());
    r.law.evaluate(in.data(), memory + r.rows.outputs(), registers.data());
    read_rows(r, relation[k], memory);
    read_law(r, relation[k], memory + r.rows.outputs());
  }
}

void Workspace::read_mass(const System& system, const double* entries) {
  const std::vector<int>& begin = system.mass_pattern().begin;
  std::copy_n(entries, mass.size(), mass.begin());
  for (std::size_t i = 0; i < inertia.size(); ++i)
    inertia[i] = mass[static_cast<std::size_t>(begin[i + 1]) - 1];
}

void Workspace::read_rows(const Relation& r, RelationRows& rows, const double* memory) {
  const auto take = [&] {
    const Row row(r.touches, memory);
    memory += r.touches.size();
    return row;
  };
  if (r.has_normal) {
    rows.gap_time = *memory++;
    rows.zeta_n = *memory++;
    rows.w = rows.push = take();
    if (r.own_push) rows.push = take();
  }
  for (int j = 0; j < r.tangents; ++j) {
    RelationRows::Tangent& row = rows.tangent[j];
    row.slip = *memory++;
    row.drive = *memory++;
    row.zeta = *memory++;
    row.w = row.drag = take();
    if (r.own_push) row.drag = take();
  }
}

void Workspace::read_law(const Relation& r, RelationRows& rows, const double* memory) {
  rows.base = *memory++;
  rows.factors = memory;
  memory += r.feeds.size();
  for (int j = 0; j < r.tangents; ++j) {
    rows.tangent[j].mu = *memory++;
    rows.tangent[j].mu_static = *memory++;
  }
}

}  // namespace judder::model
