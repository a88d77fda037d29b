// Moments, checked against the system that is to take them up.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "accumulation.hpp"
#include "guards.hpp"
#include "judder/engines/engine.hpp"
#include "numeric/radau.hpp"
#include "phase_lists.hpp"
#include "timetable.hpp"

namespace judder::engines {

namespace {

/// Whether a side is one that its switch can have, or lies between two of them.
bool side_fits(const model::SwitchInfo& info, double side) {
  if (info.two_sided()) return side >= -1 && side <= 2;
  if (info.whole) return info.resolves(side);
  return side >= -1 && side <= static_cast<double>(info.levels.size()) - 1;
}

bool normal_fits(const model::Relation& relation, NormalStatus status) {
  switch (relation.kind) {
    case model::RelationKind::contact:
      return status == NormalStatus::open || status == NormalStatus::closed || status == NormalStatus::none;
    case model::RelationKind::constraint:
      return status == NormalStatus::held || status == NormalStatus::none;
    default:
      return status == NormalStatus::none;
  }
}

constexpr const char* kOtherSizes = "the state does not have the sizes of this model";

/// What a number of a moment may be.
struct Range {
  double least, most;
  bool whole = false;  ///< a count, a sign or a flag
  bool none = false;   ///< NaN stands for "there is none"

  [[nodiscard]] bool has(double value) const {
    if (std::isnan(value)) return none;
    return value >= least && value <= most && (!whole || value == std::floor(value));
  }
};

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostSteps = 0x1p53;
constexpr Range kFinite{-kLargest, kLargest};
constexpr Range kSize{0, kLargest};
constexpr Range kSizeOrMore{0, kInfinity};  ///< a quotient of two sizes
constexpr Range kTimeAhead{-kInfinity, kInfinity};
constexpr Range kFiniteOrNone{-kLargest, kLargest, false, true};
constexpr Range kCount{0, kMostSteps, true};
constexpr Range kFlag{0, 1, true};
constexpr Range kSign{-1, 1, true};
constexpr Range kOrder{-1, 64, true};

constexpr std::array<Range, 1> kNumbers{kFinite};
constexpr std::array<Range, 1> kSizes{kSize};
constexpr std::array<Range, 1> kNoises{kSizeOrMore};
constexpr std::array<Range, 1> kTimes{kTimeAhead};
constexpr std::array<Range, 1> kSigns{kSign};
constexpr std::array<Range, 1> kTimesOrNone{kFiniteOrNone};
/// Order of the zero, noise, its rate, band, what is flat, whether it stays.
constexpr std::array<Range, phase_lists::kGuard> kGuard{kOrder, kSize, kSize, kSize, kSize, kFlag};
/// Beyond, calm, steps since a trial, between trials, unstable; step out of rest, origin of the means, step of the noise, its age.
constexpr std::array<Range, phase_lists::kMethod> kMethod{kCount, kCount,  kCount, kCount, kFlag,
                                                          kSize,  kFinite, kSize,  kCount};
/// Three flags of what is at hand, and of the history; its two steps, contraction, eta.
constexpr std::array<Range, numeric::RadauStepper::kSavedHead> kImplicit{
    kFlag, kFlag, kFlag, kFlag, kFinite, kFinite, kSizeOrMore, kSizeOrMore};
/// End, impacts, length, impulse, its tangential components.
constexpr std::array<Range, phase_lists::kTail> kTail{kFiniteOrNone, kSize,   kSize,  kSize,
                                                      kFinite,       kFinite, kFinite};
/// From, peak, impulse, last reaction.
constexpr std::array<Range, phase_lists::kInterval> kInterval{kFiniteOrNone, kFinite, kFinite, kFinite};

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

/// A list of a moment: how long it is, and what its numbers may be, row by row.
struct Field {
  const char* name;
  std::span<const double> values;
  std::size_t size;
  std::span<const Range> row;
  bool may_be_empty = false;
};

std::string field_problem(const Field& field) {
  const std::size_t size = field.values.size();
  if (size == 0 && field.may_be_empty) return {};
  if (field.size == kAnySize ? size % field.row.size() != 0 : size != field.size) return kOtherSizes;
  for (std::size_t i = 0; i < size; ++i) {
    const Range& range = field.row[i % field.row.size()];
    if (range.has(field.values[i])) continue;
    const bool infinite = !std::isfinite(field.values[i]);
    return std::string("the state holds numbers that ") +
           (infinite ? "are not finite" : "are out of their range") + ": '" + field.name + "'";
  }
  return {};
}

/// The numbers of a list in turn, by parts.
class Parts {
 public:
  explicit Parts(std::span<const double> values) : rest_(values) {}
  /// The next ones; fewer where there are no more.
  std::span<const double> take(std::size_t count) {
    const std::span<const double> out = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(out.size());
    return out;
  }
  [[nodiscard]] std::span<const double> rest() const { return rest_; }

 private:
  std::span<const double> rest_;
};

template <class Fields>
std::string first_problem(const Fields& fields) {
  for (const Field& field : fields) {
    if (std::string problem = field_problem(field); !problem.empty()) return problem;
  }
  return {};
}

std::string mode_problem(const model::System& system, const Mode& mode) {
  const model::Layout& layout = system.layout();
  const auto fits = [](std::size_t size, int wanted) { return size == static_cast<std::size_t>(wanted); };
  if (!fits(mode.normal.size(), layout.relations) || !fits(mode.pressed.size(), layout.relations) ||
      !fits(mode.tangent.size(), layout.tangents) || !fits(mode.side.size(), layout.switches) ||
      !fits(mode.surface.size(), layout.switches))
    return kOtherSizes;
  for (std::size_t r = 0; r < mode.normal.size(); ++r) {
    if (!normal_fits(system.relations()[r], mode.normal[r]))
      return "the state of '" + system.relations()[r].name + "' is none that it can have";
  }
  for (std::size_t k = 0; k < mode.side.size(); ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!side_fits(info, mode.side[k]) ||
        (mode.slides(k) && !info.two_sided() && !info.whole && info.levels.size() < 2))
      return "the side of the switch in " + info.place + " is none that it has";
  }
  return {};
}

std::string phase_problem(const model::System& system, const Moment& moment) {
  const model::Layout& layout = system.layout();
  const PhaseMemory& phase = moment.phase;
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  const std::size_t components = size(layout.integrated() + 2 * layout.audits), states = size(layout.states),
                    relations = size(layout.relations), watches = system.watches().size();
  Parts stepper(phase.stepper), watch_sides(phase.watch_sides);
  using numeric::RadauStepper;
  const std::size_t implicit_size =
      RadauStepper::saved_size(layout.integrated(), 2 * layout.audits) - RadauStepper::kSavedHead;
  const std::array times{phase.time, phase.start};
  const std::array sizes{phase.last_flight, phase.largest_energy};
  const std::array tail_end{phase.tail_end};
  const Field fields[] = {
      {"y", phase.y, size(layout.integrated()), kNumbers},
      {"time, start", times, times.size(), kNumbers},
      {"last_flight, largest_energy", sizes, sizes.size(), kSizes},
      {"side", phase.side, size(layout.switches), kNumbers},
      {"guards", phase.guards, kAnySize, kGuard},
      {"rate", phase.rate, components, kNumbers, true},
      {"noise", phase.noise, 2 * components, kNoises, true},
      {"watch_sides", watch_sides.take(watches), watches, kSigns},
      {"watch_sides", watch_sides.rest(), size(layout.observed), kNumbers},
      {"stepper", stepper.take(kMethod.size()), kMethod.size(), kMethod},
      {"stepper", stepper.take(states), states, kNumbers},
      {"stepper", stepper.take(states), states, kSizes},
      {"stepper", stepper.take(size(layout.coordinates)), size(layout.coordinates), kSizes},
      {"stepper", stepper.take(kImplicit.size()), phase.stiff ? kImplicit.size() : 0, kImplicit},
      {"stepper", stepper.rest(), phase.stiff ? implicit_size : 0, kNumbers},
      {"tail", phase.tail, std::isnan(phase.tail_end) ? 0 : kTail.size() * relations, kTail},
      {"tail_end", tail_end, tail_end.size(), kTimesOrNone},
      {"intervals", phase.intervals, kInterval.size() * relations, kInterval},
      {"timetable", phase.timetable, 2 * Timetable::count(system), kTimes}};
  if (std::string problem = first_problem(fields); !problem.empty()) return problem;
  if (std::string problem = mode_problem(system, phase.mode); !problem.empty()) return problem;
  Mode sides = phase.mode;
  sides.side = phase.side;
  if (std::string problem = mode_problem(system, sides); !problem.empty()) return problem;
  if (phase.listed_sides.size() != size(layout.switches)) return kOtherSizes;
  for (std::size_t k = 0; k < phase.listed_sides.size(); ++k) {
    if (!std::isnan(phase.listed_sides[k]) && !side_fits(system.switches()[k], phase.listed_sides[k]))
      return "the side of the switch in " + system.switches()[k].place + " is none that it has";
  }
  for (std::size_t k = 0; k < watch_sides.rest().size(); ++k) {
    if (!side_fits(system.observed()[k], watch_sides.rest()[k]))
      return "the side of the switch in " + system.observed()[k].place + " is none that it has";
  }
  if (!Accumulation::readable(phase.switchings, layout.switches))
    return "the state holds numbers that are out of their range: 'switchings'";
  if (phase.time > moment.time || phase.start > moment.time)
    return "the phase of the state begins after its time";
  return {};
}

/// Nothing is remembered.
bool is_empty(const PhaseMemory& phase) {
  return phase.y.empty() && phase.side.empty() && phase.listed_sides.empty() && phase.guards.empty() &&
         phase.watch_sides.empty() && phase.rate.empty() && phase.noise.empty() && phase.stepper.empty() &&
         phase.switchings.empty() && phase.tail.empty() && phase.intervals.empty() && phase.timetable.empty();
}

}  // namespace

Moment Moment::at(const model::System& system, double time, std::span<const double> q,
                  std::span<const double> v, std::span<const double> z) {
  const model::Layout& layout = system.layout();
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  Moment out;
  out.time = time;
  // Lists of other sizes must not make up for each other.
  if (q.size() == size(layout.coordinates) && v.size() == q.size() && z.size() == size(layout.states)) {
    for (const std::span<const double> list : {q, v, z}) out.y.insert(out.y.end(), list.begin(), list.end());
  }
  out.dissipated.assign(size(layout.audits), 0.0);
  out.supplied.assign(size(layout.audits), 0.0);
  out.scales.assign(size(layout.integrated()), 0.0);
  out.watch_counts.assign(system.watches().size(), 0);
  out.mode.normal.assign(size(layout.relations), NormalStatus::none);
  out.mode.pressed.assign(size(layout.relations), 0);
  out.mode.tangent.assign(size(layout.tangents), TangentStatus::free);
  out.mode.side.assign(size(layout.switches), 0.0);
  out.mode.surface.assign(size(layout.switches), AtSurface::away);
  for (std::size_t k = 0; k < out.mode.side.size(); ++k) {
    if (!side_fits(system.switches()[k], 0)) out.mode.side[k] = 1;
  }
  return out;
}

void load_start(const model::System& system, const Moment* resume, model::Workspace& work) {
  std::copy(system.start().begin(), system.start().end(), work.in.begin());
  if (resume == nullptr || resume->started) return;
  work.in[0] = resume->time;
  std::copy(resume->y.begin(), resume->y.end(), work.in.begin() + system.layout().q());
}

std::string moment_problem(const model::System& system, const Moment& moment) {
  const model::Layout& layout = system.layout();
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  // Scales of guards come with a phase.
  const bool remembers = !is_empty(moment.phase);
  const std::size_t scales = size(layout.integrated()) + (remembers ? Guards::scale_count(system) : 0);
  const std::array numbers{moment.time, moment.initial_energy};
  const std::array step{moment.step};
  const Field fields[] = {{"y", moment.y, size(layout.integrated()), kNumbers},
                          {"dissipated", moment.dissipated, size(layout.audits), kNumbers},
                          {"supplied", moment.supplied, size(layout.audits), kNumbers},
                          {"scales", moment.scales, scales, kSizes},
                          {"time, initial_energy", numbers, numbers.size(), kNumbers},
                          {"step", step, step.size(), kSizes}};
  if (moment.watch_counts.size() != system.watches().size()) return kOtherSizes;
  if (std::string problem = first_problem(fields); !problem.empty()) return problem;
  const auto negative = [](long count) { return count < 0; };
  if (moment.events < 0 || std::any_of(moment.watch_counts.begin(), moment.watch_counts.end(), negative))
    return "the state has a negative count";
  if (std::string problem = mode_problem(system, moment.mode); !problem.empty()) return problem;
  const std::size_t moving = size(layout.integrated() + 2 * layout.audits - layout.coordinates);
  if (!Accumulations::readable(moment.history, layout.relations, moving, size(layout.coordinates)))
    return "the state holds numbers that are out of their range: 'history'";
  if (!moment.started) {
    model::Workspace work(system);
    load_start(system, &moment, work);
    if (const std::string problem = system.begin(work); !problem.empty())
      return "no run can begin at this state: " + problem;
  }
  return remembers ? phase_problem(system, moment) : std::string();
}

}  // namespace judder::engines
