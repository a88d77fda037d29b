// One run of an engine that goes from event to event: its state between two events, and the two things it does in turn: it advances to the
// next event, and it handles it.
//
// The event-driven engine advances by steps and looks for zeros on them (event_step.cpp). The exact engine replaces `advance` by closed
// forms (exact_run.hpp). Everything else, from the first decision to the last row, is one code for both.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accumulation.hpp"
#include "collider.hpp"
#include "coupling.hpp"
#include "decider.hpp"
#include "enclosure.hpp"
#include "engines/numeric/roots.hpp"
#include "engines/numeric/two_methods.hpp"
#include "guards.hpp"
#include "hidden_change.hpp"
#include "judder/engines/engine.hpp"
#include "mode_motion.hpp"
#include "nested_sides.hpp"
#include "rate_noise.hpp"
#include "recorder.hpp"
#include "running_scales.hpp"
#include "tails.hpp"
#include "timetable.hpp"
#include "watches.hpp"

namespace judder::engines {

struct EventEngine::Run {
  // Thresholds that more than one part of the run must agree on.
  static constexpr double kLateRoot =
      1.0 / 64;  ///< a zero nearer than this to the start of a step is looked for on a shorter one
  static constexpr double kWatchBand = 10;    ///< tolerances of its scale that a watch must pass its zero by
  static constexpr double kAheadAtRest = 33;  ///< steps that are looked ahead at rest
  static constexpr double kSmallRate =
      1e-9;  ///< a derivative of a surface below this share of its terms is a zero of some order
  static constexpr double kRoundingUnits =
      Watches::kRoundingUnits;  ///< a surface within this many rounding bounds is at zero
  // Of what the points of a step have seen of a formula: by so much a smooth one may lie outside between them, with eight points and with four.
  static constexpr double kShareOfPoints = 0.1;
  static constexpr double kShareOfFewPoints = 0.25;
  static constexpr std::uint16_t kSlips = static_cast<std::uint16_t>(
      contact::bit(contact::RowStatus::slip_plus) | contact::bit(contact::RowStatus::slip_minus));

  explicit Run(const model::System& system);
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  EngineResult go(const EngineOptions& options, Sink& sink, const Moment* resume);

 protected:
  enum class StepEnd { plain, limit, guard, failed };
  /// Moves t_ and y_ towards `limit`, rows on the way included. `guard`: ended on zeros of the guards in together_.
  virtual StepEnd advance(double limit);
  /// Relative error that the state at an event may have.
  [[nodiscard]] virtual double state_tolerance() const { return options_.tolerance; }
  /// Whether the motion can be followed while it rests on a surface that its rate does not see.
  [[nodiscard]] virtual bool can_rest() const { return true; }
  /// Whether a guard that vanishes to order `order` at the start of the coming phase certainly has a derivative of the next order. False: not
  /// known; the Taylor series tells.
  [[nodiscard]] virtual bool next_derivative_clear(const Guard& /*guard*/, int /*order*/) { return false; }

  // --- event_engine.cpp: the loop, rows, bookkeeping ---
  void begin(const Moment* resume);
  void start_from_model();
  [[nodiscard]] double start_side(int k);
  void hand_state();
  void finish();
  void emit_samples(double to);
  void emit_states(double to);
  void emit_row(RowKind kind);
  void complete_row();
  void row_here(RowKind kind);
  void report_graze(double time, int place, double depth, double bound);
  void rows_before_event();
  void rows_after_event();
  [[nodiscard]] bool fail(Status status);
  void follow(const Moment* resume);
  EngineResult give_up(const Moment* resume);

  // --- event_loads.cpp: what is recorded of a step ---
  /// The normal forces along the step of this length that begins at t_.
  class ForcesInside final : public ForcesAlongStep {
   public:
    ForcesInside(Run& run, double length) : run_(run), length_(length) {}
    [[nodiscard]] std::span<const double> at(double theta) override;

   private:
    Run& run_;
    double length_;
  };
  void note_reactions(double h);
  void note_step(double trial, double length);
  // event_compliant.cpp: loads of contacts that have no row
  void find_compliant();
  [[nodiscard]] double compliant_gap(int r);
  [[nodiscard]] double compliant_force(int r);
  void add_pressing(int r, double from, double to, double length, int halvings);
  void follow_pressing(int r, double from, double to, double length);
  /// Along the step of this length that begins at t_.
  void note_pressing(double length);
  void note_pressing_at_rest(double h);
  /// The state at this place of the step that begins at t_, into work_.in.
  virtual void load_inside(double theta, double length);
  void tell_inside(double t1);
  void tell_evaluated_end();  ///< behind finish_step
  void tell_impulses(bool tail);

  // --- event_memory.cpp: what another run needs to go on ---
  void save(Moment& out) const;
  [[nodiscard]] bool take_up(const Moment& from);
  [[nodiscard]] bool recall(const PhaseMemory& phase);

  // --- event_step.cpp: one accepted step ---
  bool try_step(double h);
  [[nodiscard]] double step_error();
  bool prepare_dense();
  void dense(double theta, double* y);
  [[nodiscard]] bool mass_nearly_singular();
  [[nodiscard]] bool hides_change(double h);
  void fail_small(bool singular, bool finite);
  [[nodiscard]] std::string guard_name(const Guard& guard) const;
  [[nodiscard]] std::string worst_component() const;
  [[nodiscard]] bool hold(double limit);
  void pass_crumb(double limit);
  void note_parting();
  void keep_nodes_released();
  [[nodiscard]] bool reads_node_speed(int k);
  void commit_step(double t1);
  [[nodiscard]] bool contradicted();
  [[nodiscard]] static bool of_the_state(const Guard& guard);
  void finish_step();
  void list_graze(double h);
  void carry_watches();
  void arm_slips(double h);
  void note_gap(int relation, double gap, double seen);
  void note_open_gaps();
  void note_closed_gaps();
  void choose_method(double limit);
  [[nodiscard]] bool passes_trial(double length);
  void change_method();
  void watch_stability();

  // --- event_scales.cpp: what a step is measured by ---
  [[nodiscard]] TrialStep trial_step(double h) const;
  void set_weights(double h);
  void measure_noise(double h, bool lasting);
  [[nodiscard]] double characteristic_time();
  [[nodiscard]] double first_step();
  [[nodiscard]] bool rests() const;
  [[nodiscard]] double step_from_rest(double limit);
  [[nodiscard]] bool look_ahead(double length, bool guarded, bool& finite);

  // --- event_scan.cpp: zeros of event functions along a step, and landing on them ---
  [[nodiscard]] bool find_first_guard(double h, bool& accurate);
  [[nodiscard]] bool load_passes_zero() const;
  [[nodiscard]] bool approaches(int relation);
  [[nodiscard]] bool gives_way_at_once(double h);
  [[nodiscard]] bool meets_at_once();
  void find_at_once();
  [[nodiscard]] bool reaches_surface(double rounding);
  [[nodiscard]] double unmoved(int k, double h);
  void start_parabolas(double h);
  [[nodiscard]] bool note_residues();
  [[nodiscard]] bool passes_at_once(int i, double theta, double first);
  [[nodiscard]] bool watch_hides(const Guard& guard, double h, double from, double length,
                                 const numeric::SamplingGrid& grid);
  void scan_watch(int i, double h, double band, double time_noise);
  void take_zero(int i, const numeric::Root& root);
  void take_watch_zero(int i, const double* sample, int points, double noise, double band);
  [[nodiscard]] bool comes_back(int i, int r, int points, int side, double error) const;
  [[nodiscard]] bool try_to_land(double length);
  bool land(double h, bool may_miss);
  [[nodiscard]] int passed_first(double h, double length);
  [[nodiscard]] bool gather_events(double h, double length);
  [[nodiscard]] static bool reports_graze(const Guard& guard);
  [[nodiscard]] bool crossing_counts(const Guard& guard, bool rising);
  [[nodiscard]] int side_before(const Guard& guard) const;

  // --- event_handling.cpp: what happened ---
  void begin_instant();
  [[nodiscard]] Event event_here(EventKind kind, int place);
  [[nodiscard]] bool handle_guards();
  [[nodiscard]] bool handle_timetable(double t);
  [[nodiscard]] bool turns_a_row(int k) const;
  [[nodiscard]] bool lies_behind(int index);
  [[nodiscard]] bool handle_parting();
  void take_timetable();
  void reset_bristles();
  void list_changes();
  void end_phase();

  // --- event_limits.cpp: statuses at their limits ---
  [[nodiscard]] bool only_touches(const Guard& guard);
  [[nodiscard]] bool margin_touches(const Guard& guard, double time);
  [[nodiscard]] bool stays_at_limit(const Guard& guard, double time);
  [[nodiscard]] bool slip_returns(const Guard& guard);
  void exclude_exhausted_rows(const Guard& margin, bool touched, bool switches);
  void exclude_condition(const Guard& guard, bool touched, bool switches);
  void exclude_touched(const Guard& guard);
  void keep_touched_rest(int relation);
  void rest_unmoved_slips();
  void stop_slips();
  [[nodiscard]] bool rows_part();
  [[nodiscard]] bool may_part() const;
  [[nodiscard]] double rates_parted();
  [[nodiscard]] double accelerations_parted();
  [[nodiscard]] bool parts_within(double h, double& shorter);
  void free_unloaded(Mode& mode);
  [[nodiscard]] bool never_loaded(const Mode& mode, int relation);
  void wake_unloaded();

  // --- event_settle.cpp: the next mode ---
  [[nodiscard]] bool settle();
  [[nodiscard]] bool decide_with(Mode& mode, Status& status);
  [[nodiscard]] bool decided_by_rounding(const Mode& before, const Mode& mode);
  [[nodiscard]] bool let_one_go(Mode& mode);
  [[nodiscard]] bool paradox(Status status);
  [[nodiscard]] bool gaps_continue();
  [[nodiscard]] bool follow_massless();
  [[nodiscard]] bool take_open_surfaces();
  [[nodiscard]] int take_back_rests();
  [[nodiscard]] bool restart();

  // --- event_jumps.cpp: massless coordinates that jump
  void note_before_jump();
  [[nodiscard]] bool add_jump_work();
  void sides_along_jump();
  double add_jump_powers(const double* way, double weight, double* dissipated, double* supplied);
  double add_jump_friction(const double* way, double weight, double* dissipated, double* supplied);

  // --- event_watches.cpp: watches, and the switches that they alone read ---
  /// Where functions go from the state at t_ in the mode that was set.
  class AheadOfHere final : public MotionAhead {
   public:
    explicit AheadOfHere(Run& run) : run_(run) {}
    [[nodiscard]] int direction(const expr::Program& value, double level, double bound) override {
      return run_.direction_ahead(run_.mode_, value, level, bound);
    }
    [[nodiscard]] double rounding(const expr::Program& value) override { return run_.rounding_of(value); }

   private:
    Run& run_;
  };
  void publish_reactions();
  [[nodiscard]] double watch_error(const Guard& guard, double band, double noise);
  [[nodiscard]] bool note_watches();
  void list_watch_jumps();
  [[nodiscard]] int direction_ahead(const Mode& mode, const expr::Program& value, double level, double bound);
  bool take_observed();
  void set_watch_zeros();
  void turn_observed();

  // --- event_impacts.cpp: contacts that close ---
  void join_touching();
  [[nodiscard]] bool touch();
  [[nodiscard]] bool turn_drives(bool& driven);
  bool mark_touching();
  [[nodiscard]] double rounding_of_places(int relation) const;
  void close_gap(int relation);
  [[nodiscard]] bool meets_at_end();
  [[nodiscard]] bool impact(bool inelastic);
  void rest_by_rounding();
  void add_impact_work();
  void settle_reference();
  void strike_in_turn();
  [[nodiscard]] bool handed(const Accumulation::Pattern& pattern) const;
  [[nodiscard]] bool begin_tail();
  [[nodiscard]] bool hops_move_as_rest(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool closes_for_trial(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool same_change(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool hop_counts_as_closed(const Accumulation::Pattern& pattern, int r);
  [[nodiscard]] bool next_hop_is_seen(const Accumulation::Pattern& pattern);
  [[nodiscard]] bool end_is_known(Accumulation::Pattern& pattern);
  void take_sides_of_rest(Mode& mode);
  [[nodiscard]] bool finish_accumulation();
  [[nodiscard]] bool end_tail();
  [[nodiscard]] bool strike_tails();
  [[nodiscard]] double time_to_jam(int& jammed);
  [[nodiscard]] bool jam(int relation);

  // --- event_sides.cpp: sides and directions by value ---
  void note_instant();
  void load_statuses();
  [[nodiscard]] int direction_by_speed(int k);
  [[nodiscard]] bool sides_by_value();
  [[nodiscard]] double side_along_inner(int k, double rounding, double by_value);
  [[nodiscard]] bool side_by_value(int k);
  [[nodiscard]] bool rates_by_value(bool all = false);
  [[nodiscard]] double slip_rounding(int r, int j);
  [[nodiscard]] double drive_rounding(int k, double distance);
  [[nodiscard]] bool contains_sliding(int k);
  [[nodiscard]] double surface_rounding(int k);
  void enclose(const expr::Program& program);
  [[nodiscard]] double rounding_of(const expr::Program& program);
  void list_switch_changes();
  [[nodiscard]] bool evaluate_coefficients();
  [[nodiscard]] double faded(const model::Row& slope);
  [[nodiscard]] double surface_rate_scale(int k);
  [[nodiscard]] double faded_rate_scale(int k);
  [[nodiscard]] int slide_along(int k, const Mode& mode, double& ratio);
  [[nodiscard]] double surface_rate_rounding(int k);
  template <class Rounding>
  [[nodiscard]] double largest_on_sides(const Rounding& rounding);
  [[nodiscard]] double force_rounding(int k);

  // --- event_switches.cpp: surfaces that the motion decides ---
  struct Leaving {
    int sign = 0;   ///< 0: stays
    int order = 0;  ///< of the derivative that tells
  };
  [[nodiscard]] bool try_sides(Mode& trial, Status& status);
  [[nodiscard]] bool nodes_alike(const std::vector<double>& side) const;
  void keep_node_exclusions(const std::vector<double>& side, Decider::Exclusions& out) const;
  void follow_sides(Mode& trial);
  [[nodiscard]] bool held_by_motion(int k, double rounding);
  [[nodiscard]] bool try_sliding(Mode& trial, Status& status);
  [[nodiscard]] bool nothing_moves();
  [[nodiscard]] bool try_resting(Mode& trial, Status& status);
  [[nodiscard]] Leaving leaving_direction(int k, const Mode& trial);
  [[nodiscard]] int slips_across(int k, const Mode& trial) const;
  [[nodiscard]] bool others_changed(int k) const;
  [[nodiscard]] Leaving leaving_past_rounding(const expr::Series& surface, double rounding) const;
  [[nodiscard]] Leaving small_push(int k, const Mode& trial);
  [[nodiscard]] Leaving leaving_ahead(int k, const Mode& trial);
  [[nodiscard]] Leaving leaving_by_acceleration(int k);
  [[nodiscard]] bool slides_apart();
  [[nodiscard]] bool acts_on(int k, int j) const;
  [[nodiscard]] bool at_zero(int k);
  void take_side(Mode& trial, int k, int upper);
  [[nodiscard]] bool kink_inside(int k) const;
  [[nodiscard]] bool decide_surfaces();
  [[nodiscard]] bool moves_against_sides(const Mode& mode);
  [[nodiscard]] bool decide_open_surfaces();
  [[nodiscard]] bool decide_members(const std::vector<int>& members);
  [[nodiscard]] bool decide_surface(int k);
  [[nodiscard]] bool decide_several(const std::vector<int>& members);
  [[nodiscard]] bool decide_many(const std::vector<int>& members);
  [[nodiscard]] bool not_unique(const std::vector<int>& members);

  // --- event_rests.cpp: surfaces that stay with the value of equality ---
  [[nodiscard]] bool go_on_held(const std::vector<int>& members, const Mode& before);
  [[nodiscard]] bool shares_unique();
  [[nodiscard]] bool shares_load(int k, const Mode& before);
  [[nodiscard]] bool decide_or_rest(const std::vector<int>& members);
  [[nodiscard]] bool may_rest() const { return rests_asked_ || can_rest(); }
  [[nodiscard]] bool is_place(int k) const;
  [[nodiscard]] bool keeps_side(int k) const;
  [[nodiscard]] bool may_stay_at_equality(int k) const;
  void hold_at_equality(Mode& mode, int k) const;
  [[nodiscard]] bool try_beside(const std::vector<int>& rest);
  [[nodiscard]] bool is_no_rest(int k, const std::vector<int>& members, const std::vector<int>& held,
                                const Mode& start);
  [[nodiscard]] bool stay_at_equality(const std::vector<int>& members);
  [[nodiscard]] bool stays_by_value(int k, const Mode& before, const Mode& held, Mode& equal);
  [[nodiscard]] bool rests_alike(int k, const Mode& one, const Mode& other, bool& by_own_law);
  [[nodiscard]] bool hold_unmoved(const std::vector<int>& members, bool ambiguous);

  // --- event_sliding.cpp: the state on the surfaces that it slides on ---
  void finish_switching();
  void project_sliding();
  void note_pushes();
  void meet_surface(int k);
  void meet_kinks(int k);
  void project_onto(std::vector<int>& sliding);

  // --- event_zeros.cpp: guards that start at zero ---
  [[nodiscard]] bool negative_ahead(const Guard& guard, double time);
  void set_guard_zeros();
  [[nodiscard]] double reaction_scale(int relation);

  const model::System& system_;
  const model::Layout& layout_;
  model::Workspace work_;
  ModeMotion motion_;
  RunningScales scales_;
  RateNoise noise_;
  Guards guards_;
  Decider decider_;
  Collider collider_;
  Timetable timetable_;
  HiddenChange hidden_change_;
  MotionSeries series_;
  Coupling coupling_;
  NestedSides nested_sides_;
  Accumulations accumulation_;  ///< of impacts
  Accumulation switching_;      ///< of switchings
  Tails tails_;
  Watches watches_;
  ObservedSwitches observed_;
  Recorder recorder_;
  Accumulation::Entry switched_now_;
  Accumulation::Pattern switching_pattern_;
  numeric::TwoMethods methods_;
  numeric::MethodChoice method_choice_;
  std::array<const numeric::SamplingGrid*, 3> grids_{&numeric::SamplingGrid::of_degree(4),
                                                     &numeric::SamplingGrid::of_degree(8),
                                                     &numeric::SamplingGrid::of_degree(16)};

  EngineOptions options_;
  Patience patience_;
  bool handed_ = false;  ///< the sink has a state of this run
  EngineResult result_;

  double t_ = 0;
  double limit_ = 0;            ///< the known instant that the present phase leads to
  double time_bound_ = 0;       ///< of the error of the present event's time; 0: not known
  double h_ = 0;                ///< next step to try
  std::vector<double> y_, f0_;  ///< components of ModeMotion
  bool have_f0_ = false;
  Mode mode_;
  Mode reference_;  ///< what changes of the present instant are compared with
  Mode before_impact_;
  Mode drive_mode_;             ///< statuses while constraints turn without the contacts
  int tangential_impacts_ = 0;  ///< at the present instant
  bool grow_allowed_ = true;

  bool leaving_rest_ = false;              ///< the last step began at rest
  double rest_step_ = 0;                   ///< first step of that rest
  int blamed_guard_ = -1;                  ///< guard that shortened the last trial; −1: the error did
  std::vector<double> jacobian_;           ///< of forces and rates, for characteristic_time()
  std::vector<double> row_accelerations_;  ///< of dependent rows that part
  std::vector<double> node_y_, samples_, slopes_, bernstein_, landing_y_;
  std::vector<int> compliant_;        ///< contacts without a row
  std::vector<double> pressing_;      ///< what their programs give
  std::vector<double> start_values_;  ///< of the guards, where the step begins a phase
  std::vector<double> residues_;      ///< of the guards at the start of a step that begins with a zero
  std::array<double, numeric::kMaxRootDegree + 1> clean_{};  ///< samples without it
  int first_guard_ = -1;                                     ///< guard whose zero ends the step
  int late_kink_ = -1;  ///< a kink that has been on the other side since before the step
  double first_theta_ = 0;
  double share_of_error_ = 0;       ///< error of the trial step, as a share of what is allowed
  bool dips_beyond_ = false;        ///< that zero may be one of a touch whose lowest point is behind the step
  double first_slope_ = 0;          ///< per unit of θ
  std::vector<double> root_theta_;  ///< by guard: its first zero in the trial step
  std::vector<double> root_slope_;  ///< per unit of θ, there
  std::vector<double> landing_values_;  ///< of the guards at an event
  std::vector<double> ahead_;           ///< inputs a little later
  int degree_ = 8;                      ///< of the polynomials of the last trial step
  int graze_guard_ = -1;
  double graze_theta_ = 0;
  double graze_depth_ = 0;
  double landing_h_ = 0;
  bool missed_ = false;        ///< the zero that was to be landed on is none
  std::vector<int> together_;  ///< guards with a zero at the same instant
  numeric::RootList roots_;

  std::vector<std::uint8_t> touching_;        ///< by relation, at the present event
  std::vector<std::uint8_t> fresh_relation_;  ///< status changed at the last event
  std::vector<std::uint8_t> fresh_tangent_, fresh_switch_;
  std::vector<std::uint8_t>
      slip_returned_;        ///< by tangential row: it touches zero at this instant, and goes on
  Mode entering_;            ///< statuses as the present instant knows them before anything is decided
  Mode deciding_, decided_;  ///< the mode as it was given to the decision, and as that gives it back
  Decider::Exclusions exclusions_;
  Decider::Exclusions no_exclusions_;
  Decider::Exclusions kept_exclusions_;  ///< with other sides: those of massless nodes
  std::vector<double> drive_inputs_;
  std::vector<double> combined_force_;  ///< of the fields that a slide is a combination of
  std::vector<int> changed_;
  std::vector<int> at_surface_;       ///< switches whose own zero brought us here
  std::vector<std::uint8_t> landed_;  ///< the same by switch
  std::vector<std::uint8_t> dead_;    ///< by switch: it stands in a branch that is not taken
  std::vector<std::uint8_t>
      inside_;  ///< by switch, for contains_sliding(): its side stands in the one looked at
  std::vector<std::uint8_t>
      carried_;  ///< by switch: in E at this instant, until a jump moves the surface away
  std::vector<std::int8_t>
      exit_side_;  ///< by switch: where it has just ceased to slide, the side that it leaves to; ±2 where it was held
  std::vector<std::int8_t>
      push_zeros_;  ///< by switch that slides, lower and upper side: order of the zero that its push grows from
  std::vector<double> sides_before_;    ///< by switch, before the last decision
  std::vector<double> surface_before_;  ///< by switch: its surface when the present instant began
  std::vector<double> blended_;         ///< sides while both sides of some are looked at
  std::vector<double> slip_before_;     ///< by row: its slip then, where it may jump
  std::vector<double> speed_before_;    ///< |v| by coordinate, then
  std::vector<double> lower_;           ///< by switch: the side below the level that it is nearest to
  std::vector<double> listed_side_;     ///< by switch: listed last; NaN while it slides
  std::vector<int> open_;               ///< E: surfaces that this instant decides
  std::vector<int> seen_open_;          ///< surfaces at zero that this instant has decided
  std::vector<int> later_;              ///< surfaces at zero that contain some of E: decided after these
  int negative_joint_ = -1;             ///< a joint whose normal force starts the phase at zero and falls
  bool nested_ = false;                 ///< some surface contains the side of a switch
  bool strikes_ = false;                ///< contacts of touching_ approach, or a constraint has got a rate
  bool probing_ = false;                ///< a decision is tried: it lists nothing and ends nothing
  bool rests_asked_ = false;            ///< also where the engine cannot follow the motion there
  bool quiet_ = false;                  ///< the modes at the start are no events
  bool quiet_rows_ = false;             ///< nothing listed happens at this instant: no rows for it
  std::vector<double> surface_memory_, projection_;
  std::vector<int> every_coordinate_;  ///< their numbers: a row that has all of them
  Enclosure enclosure_;
  struct SideSearch {  ///< memory of the decisions about surfaces
    std::vector<int> members, block, zero, rows, leaves, chosen_leaves, moved, waiting, decided, beside,
        blended, told;
    std::vector<long> not_unique_at;
    Mode before, followed, trial, chosen, guess, known, kept, at_first;
    std::array<Mode, 2> on_side;
  } search_;

  bool has_massless_ = false;
  bool may_jump_ = false;          ///< some massless coordinate has no damper
  std::vector<double> jump_from_;  ///< positions before the present instant
  std::vector<double> jump_powers_;
  double energy_before_jump_ = 0;
  double last_flight_ = 0;  ///< length of the last phase, a good first step for the next
  double phase_start_ = 0;
  double resumed_at_ = 0;           ///< time at which the run was taken up; NaN: it was not
  PhaseMemory phase_;               ///< state and mode where the present mode was set
  std::vector<double> fit_errors_;  ///< by guard: of its polynomial in the last trial step

  Accumulation::Pattern pattern_;  ///< that the last impacts form
  struct TailTrial {               ///< contacts that are closed instead of the hops that remain
    Mode mode;
    std::vector<std::uint8_t> touching;
    std::vector<double> inputs;   ///< before the present impact
    std::vector<double> jump;     ///< of the velocities where all contacts come to rest
    std::vector<double> y, rest;  ///< behind it, and its rates
    std::vector<double> missing;  ///< what the hops change beyond that
  } tail_trial_;
};

}  // namespace judder::engines
