#include "engines/event/roundings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace judder::engines {
namespace {

constexpr double kEpsilon = 2.220446049250313e-16;

}  // namespace

Roundings::Roundings(Phase& now, InstantState& here) : now_(now), here_(here) {
  every_coordinate_.resize(now_.layout.coordinates);
  std::iota(every_coordinate_.begin(), every_coordinate_.end(), 0);
  node_y_.resize(now_.motion.all_components());
}

// Rounding of the surface of switch k: interval arithmetic with every number known to its last bit. What has moved is known to the last bit of
// its running scale only, and velocities to that of what they have been at this instant.
double Roundings::surface_rounding(int k) { return rounding_of(now_.system.switches()[k].value); }

// The same for the first output of any program, at the state and sides in work_.in.
double Roundings::rounding_of(const expr::Program& program) {
  enclose(program);
  return 0.5 * enclosure_.width(0);
}

// All outputs of a program as intervals, with the state known to the last bits of what it has been.
void Roundings::enclose(const expr::Program& program) {
  enclosure_.take(now_.work.in);
  for (int i = 0; i <= now_.layout.integrated(); ++i) {
    double size = std::abs(now_.work.in[i]);
    if (i > 0) size = std::max(size, now_.scales.sizes()[i - 1]);
    const int v = i - now_.layout.v();
    if (v >= 0 && v < now_.layout.coordinates) size = std::max(size, here_.speed_before[v]);
    enclosure_.widen(i, kEpsilon * size);
  }
  enclosure_.evaluate(program);
}

// Rounding of a slip at this instant, with the sides before it and after it: where a belt comes to rest at a kink, what is left of its speed is the
// last bit of the time.
double Roundings::slip_rounding(int r, int j) {
  const model::Relation& relation = now_.system.relations()[r];
  const int output = relation.row_begin(j);
  double most = 0;
  for (const std::vector<double>* sides : {&here_.reference.side, &now_.mode.side}) {
    std::copy(sides->begin(), sides->end(), now_.work.in.begin() + now_.layout.side());
    enclose(relation.rows);
    most = std::max(most, 0.5 * enclosure_.width(output));
  }
  return kRoundingUnits * most;
}

// Rounding of the drives of rows at rest along the surface of switch k: a body on a belt is as fast as the belt to the last bit, and no faster than that of its speed
// is known. Asked for where the surface is that near to its zero.
double Roundings::drive_rounding(int k, double distance) {
  const int n = now_.layout.coordinates;
  double most = 0;
  bool known = false;
  for (int r = 0; r < now_.layout.relations; ++r) {
    const model::Relation& relation = now_.system.relations()[r];
    if (relation.rows_constant || relation.smooth_friction || now_.mode.normal[r] == NormalStatus::open)
      continue;
    for (int j = 0; j < relation.tangents; ++j) {
      if (here_.reference.tangent[relation.first_tangent + j] != TangentStatus::stick) continue;
      if (!known) {
        const expr::Program& surface = now_.system.switches()[k].surface;
        surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), surface.outputs()));
        surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
        double size = 0;
        for (int i = 0; i < n; ++i)
          size += std::abs(surface_memory_[2 + n + i]) * now_.scales.sizes()[now_.layout.coordinates + i];
        if (!(distance <= kSmallRate * size)) return 0;
        known = true;
      }
      const double ratio =
          parallel_to(surface_memory_.data() + 2 + n, now_.system.rows(now_.work, r).tangent[j].w, n);
      if (ratio == 0) continue;
      drive_inputs_ = now_.work.in;
      most = std::max(most, std::abs(ratio) * slip_rounding(r, j));
      std::copy(drive_inputs_.begin(), drive_inputs_.end(), now_.work.in.begin());
    }
  }
  return most;
}

// What rounding of the state may do to ds/dt. A rate made of velocities and states alone is as exact as they are, whatever is left of them;
// otherwise the slopes are: those of y*abs(y) where y has just reached zero are nothing but rounding.
double Roundings::surface_rate_rounding(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  if (info.rate.outputs() > 0)
    return kRoundingUnits * largest_on_sides([&] { return rounding_of(info.rate); });
  enclose(info.surface);
  const auto uncertain = [this](int output, double factor) {
    return 0.5 * enclosure_.width(output) * std::abs(factor);
  };
  const int n = now_.layout.coordinates;
  double sum = uncertain(1, 1);
  for (int i = 0; i < n; ++i) {
    sum += uncertain(2 + i, now_.work.in[now_.layout.v() + i]);
    sum += uncertain(2 + n + i, now_.motion.acceleration()[i]);
  }
  for (int i = 0; i < now_.layout.states; ++i) sum += uncertain(2 + 2 * n + i, now_.work.rate[i]);
  return kRoundingUnits * sum;
}

// What rounding inside the forces and the rates of states may do to ds/dt: where they cancel, nothing else is left of it.
double Roundings::force_rounding(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  const int n = now_.layout.coordinates;
  surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), info.surface.outputs()));
  info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  return 0.5 * kRoundingUnits * largest_on_sides([&] {
           now_.motion.find_rounding();
           double sum = 0;
           for (int i = 0; i < n; ++i)
             sum += std::abs(surface_memory_[2 + n + i]) * now_.motion.acceleration_rounding()[i];
           for (int i = 0; i < now_.layout.states; ++i)
             sum += std::abs(surface_memory_[2 + 2 * n + i]) * now_.motion.rate_rounding()[i];
           return sum;
         });
}

// The largest that a rounding has with the sides that are blended now. A combination of two sides is no interval between them: each has its own.
template <class Rounding>
double Roundings::largest_on_sides(const Rounding& rounding) {
  double* const side = now_.work.in.data() + now_.layout.side();
  blended_.assign(side, side + now_.layout.switches);
  double most = 0;
  bool blends = true;
  for (int upper = 0; upper < 2 && blends; ++upper) {
    blends = false;
    for (int j = 0; j < now_.layout.switches; ++j) {
      const double lower = std::floor(blended_[j]);
      if (blended_[j] == lower) continue;
      blends = true;
      side[j] = lower + upper;
    }
    most = std::max(most, rounding());
  }
  std::copy(blended_.begin(), blended_.end(), side);
  return most;
}

// What reactions that end at this instant have been, as accelerations along a row of slopes by velocities. One that has come down to zero leaves the
// rounding of the forces that it balanced, and these may have no other size.
double Roundings::faded(const model::Row& slope) {
  double sum = 0;
  for (int r = 0; r < now_.layout.relations; ++r) {
    if (here_.reference.normal[r] != NormalStatus::closed ||
        now_.motion.mode().normal[r] != NormalStatus::open)
      continue;
    now_.system.rows(now_.work, r).w.write(node_y_.data(), now_.layout.coordinates);
    now_.system.solve_mass(now_.work, node_y_.data());
    for (std::size_t e = 0; e < slope.values().size(); ++e)
      sum += std::abs(slope.values()[e] * node_y_[slope.places()[e]]) * now_.guards.normal_scale(r);
  }
  return sum;
}

// Sum of the absolute terms of ds/dt: what "zero" means for it.
double Roundings::surface_rate_scale(int k) {
  const model::SwitchInfo& info = now_.system.switches()[k];
  const int n = now_.layout.coordinates;
  surface_memory_.resize(info.surface.outputs());
  info.surface.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
  double sum = std::abs(surface_memory_[1]);
  now_.motion.note_terms();
  for (int i = 0; i < n; ++i) {
    sum += std::abs(surface_memory_[2 + i] * now_.work.in[now_.layout.v() + i]);
    sum += std::abs(surface_memory_[2 + n + i]) * now_.motion.acceleration_terms()[i];
  }
  // Where sliding has made a rate zero, what it was at the start of the last step counts too.
  for (int i = 0; i < now_.layout.states; ++i) {
    const double rate = std::max(std::abs(now_.work.rate[i]), std::abs(now_.f0[2 * n + i]));
    sum += std::abs(surface_memory_[2 + 2 * n + i]) * rate;
  }
  return sum + faded({every_coordinate_, surface_memory_.data() + 2 + n});
}

// The same where sliding may end: then a rate is zero because its terms cancel, be they one force, and what the rate has been counts. So it does for
// another surface along the one that was slid on.
double Roundings::faded_rate_scale(int k) {
  const double size = std::max(surface_rate_scale(k), now_.guards.sliding_rate_scale(k));
  double ratio = 0;
  const int other = slide_along(k, here_.reference, ratio);
  return other < 0 ? size : std::max(size, std::abs(ratio) * now_.guards.sliding_rate_scale(other));
}

// Another surface that the mode slides on, of which that of k is a multiple as far as velocities and states go (x' with a factor), or that it rests on, of which
// it is one with the positions; -1: there is none.
int Roundings::slide_along(int k, const Mode& mode, double& ratio) {
  const int n = now_.layout.coordinates;
  const int width = now_.layout.integrated();
  const auto slopes = [&](int of) {
    const expr::Program& program = now_.system.switches()[of].surface;
    surface_memory_.resize(std::max<std::size_t>(surface_memory_.size(), program.outputs()));
    program.evaluate(now_.work.in.data(), surface_memory_.data(), now_.work.registers.data());
    return surface_memory_.data() + 2;
  };
  bool known = false;
  for (int j = 0; j < now_.layout.switches; ++j) {
    const bool rests = mode.surface[j] == AtSurface::rests;
    if (j == k || !mode.slides(j) || (rests && !now_.way->can_rest())) continue;  // nothing holds it then
    if (!known) {
      const double* own = slopes(k);
      projection_.assign(own, own + width);
      known = true;
    }
    const int first = rests ? 0 : n;
    ratio = parallel_to(projection_.data() + first, slopes(j) + first, width - first);
    if (ratio != 0) return j;
  }
  ratio = 0;
  return -1;
}

}  // namespace judder::engines
