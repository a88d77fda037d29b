// Runge and Kutta's method with fixed steps: Zabuga's scheme for Coulomb friction and impacts, and the ordinary one that it is compared with.
//
// Zabuga's: directions of slip and sides of switches stay during a step what they were at its beginning, so that no stage sees another structure. Where a slip
// velocity changes its sign in a step, or a gap becomes negative, the step is repeated up to the zero of the chord,
//
//     t_r = t_j + Δt v_T(t_j)/(v_T(t_j) − v_T(t_{j+1})) ,
//
// the slip is set to zero there (an impact is solved), what follows is decided (rest, or slip by the sign of the force beyond the friction), and the next step
// leads to the grid time behind the one that was missed. Rest ends at the first grid time at which it cannot go on.
//
// Contacts that close at the same time collide together. A drive that jumps leaves what rested on it behind.
//
// The ordinary one evaluates signs in every stage and cuts nothing; a body whose slip has changed its sign is stopped if friction can hold it.
//
// Reactions, friction of several contacts and the decision at rest are those of the event-driven engine (mode_motion.hpp, decider.hpp, collider.hpp).
//
// A. H. Zabuga, thesis, Kyiv 2017, 4.3 and 4.4.
#pragma once

#include <string>
#include <vector>

#include "engines/collider.hpp"
#include "engines/decider.hpp"
#include "engines/mode_motion.hpp"
#include "engines/rest_laws.hpp"
#include "engines/stepping/scheme.hpp"
#include "engines/stepping/step_monitors.hpp"

namespace judder::engines {

struct RungeKuttaNumbers {
  bool stage_signs = false;   ///< signs and sides are those of each stage
  bool cut = true;            ///< steps end at the zeros of chords
  bool stop_test = true;      ///< without cuts: a slip that has turned is stopped if friction can hold it
  bool stage_test = true;     ///< the same where it has turned in a stage and come back
  int chords = 1;             ///< by how many chords a zero is sought
  bool zero_slip = true;      ///< the slip at a cut is set to zero even if it goes on
  bool locate_start = false;  ///< the step is cut where rest ends, too
};

class RungeKuttaScheme final : public Scheme {
 public:
  using ReadNumbers = RungeKuttaNumbers (*)(const EngineOptions&);
  RungeKuttaScheme(const model::System& system, ReadNumbers read);

  [[nodiscard]] std::string begin(const EngineOptions& options, double step) override;
  [[nodiscard]] Status start(StepState& state) override;
  [[nodiscard]] Status advance(StepState& state, double to, StepReport& report) override;
  void save(std::vector<double>& out) const override;
  [[nodiscard]] bool load(std::span<const double> saved, const StepState& state) override;
  void monitors(std::vector<Monitor>& out) const override;
  void use(Patience* patience) override;

 private:
  enum class Cut : std::uint8_t { none, slip, gap, rest };
  struct Found {
    Cut kind = Cut::none;
    int place = -1;    ///< tangential row, or relation
    double share = 1;  ///< of the step
  };
  [[nodiscard]] bool run_step(const StepState& state, double h);
  [[nodiscard]] bool rate_at(double t, const double* y, double* rate);
  [[nodiscard]] Found first_zero(const StepState& state, double h);
  [[nodiscard]] double value_of(const Found& what, double t, const double* y);
  [[nodiscard]] double value_at_start(const Found& what) const;
  void load(const StepState& state);
  void load(double t, const double* y, const Mode& mode);
  void take_sides(Mode& mode);
  void turn_by_slip(Mode& mode);
  void stop_turned(Mode& mode);
  void stop_together(StepState& state);
  void take_slips_behind(StepState& state);
  void take_sides_ahead(StepState& state);
  [[nodiscard]] double slip_of(int relation, int tangent);
  [[nodiscard]] Status settle(StepState& state, const Found& found, StepReport& report);
  [[nodiscard]] double jump_of(int relation, int tangent, const Mode& mode, double t, const double* y);
  [[nodiscard]] bool follow_jumps(Mode& mode, double t, const double* y);
  void note_jumps(const StepState& state);
  [[nodiscard]] bool mark_touching(const StepState& state, const Found& found);
  [[nodiscard]] Status collide(StepState& state, StepReport& report);
  void put_on_gaps(StepState& state);
  [[nodiscard]] bool end_hops(StepState& state, const StepReport& report);
  [[nodiscard]] Status decide(StepState& state);
  [[nodiscard]] bool rests(const Mode& mode) const;
  [[nodiscard]] bool finite(const std::vector<double>& y) const;
  [[nodiscard]] Status failed(const StepState& state) const;

  const model::System& system_;
  const model::Layout& layout_;
  ReadNumbers read_;
  RungeKuttaNumbers numbers_;
  model::Workspace work_;
  ModeMotion motion_;
  Decider decider_;
  Collider collider_;
  RestLaws rest_laws_;
  Mode rested_;  ///< what was decided
  Decider::Exclusions exclusions_;
  std::vector<double> y_, next_, stage_;  ///< with works behind
  std::vector<double> k_[4];
  std::vector<double> slip_before_, gap_before_, margin_before_;
  std::vector<std::uint8_t>
      fresh_;  ///< by tangential row: its slip stood at zero at the beginning of the step
  std::vector<std::uint8_t> passed_zero_;  ///< by tangential row: a stage of the step saw its slip turned
  std::vector<std::uint8_t> jumped_;       ///< by tangential row: its drive has jumped in the step
  std::vector<std::uint8_t> touching_;
  std::vector<std::uint8_t> placed_;  ///< by coordinate: a closed gap has it
  std::vector<Event> struck_;
  std::vector<double> kept_;      ///< the state at a cut
  std::vector<double> between_;   ///< a state within the step
  Mode stage_mode_, start_mode_;  ///< of a stage; of the beginning of the step
  double start_time_ = 0;
  long cuts_in_step_ = 0;  ///< one after the other before the next time of the grid
  StepMonitor cuts_{"cuts"};
};

}  // namespace judder::engines
