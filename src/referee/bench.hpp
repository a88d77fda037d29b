// What the referee has before it: the points of the present piece, the scales seen so far, the book of findings.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judder/referee/referee.hpp"

namespace judder::referee {

enum class Law : std::uint8_t {
  story,         // the points follow each other without a hole in time
  side,          // a switch stands on the side of its argument
  sliding,       // a surface that is slid on stays at zero
  coefficient,   // of a sliding switch, in [0, 1]
  direction,     // of a slip
  gap,           // not negative; zero while closed
  constraint,    // zero
  normal_speed,  // zero while closed or held
  no_approach,   // nothing approaches through a gap of zero
  pressure,      // λ_N ≥ 0
  open_force,    // an open contact carries nothing
  stick,         // slip velocity zero
  cone,          // |λ_T| ≤ μ_s L at rest
  release,       // what lets go by itself was at its limit
  rest,          // what the values at equality can hold does not leave its rest
  friction,      // λ_T = −σ μ L
  load,          // the normal load of a joint is not negative
  motion,        // M v̇ = h + Σ push λ_N + Σ drag λ_T
  rate,          // of a state
  row,           // closed and sticking rows do not accelerate
  position,      // integral of the velocity
  velocity,      // integral of the acceleration
  state,         // integral of its rate
  continuity,    // positions and states do not jump
  momentum,      // velocities jump by impulses alone
  impulse,       // Λ_N ≥ 0
  impulse_cone,  // |Λ_T| ≤ μ Λ_N
  impulse_slip,  // friction does not drive a slip on
  rebound,       // what was struck does not approach
  energy,        // changes by the work of forces and reactions
  work,          // recorded as it is done
  count
};

[[nodiscard]] const char* name(Law law);

/// A point with what was read off it.
struct Reading {
  Kind kind = Kind::after;
  bool unique = true;
  bool resolved = true;
  bool judged = false;
  bool slides = false;
  bool works_told = false;
  bool power_sure =
      true;  ///< the powers are those of the motion (not where a switch is about to change inside the combination)
  double time = 0;
  std::vector<double> in;
  std::vector<Surface> surface;
  std::vector<Normal> normal;
  std::vector<Tangent> tangent;
  std::vector<double> acceleration, rate, normal_force, tangential_force;
  double dissipated = 0, supplied = 0;  ///< sums over the elements
  double energy = 0, energy_terms = 0;  ///< total; sum of absolute parts
  double power = 0, dissipation = 0;    ///< dE/dt; rate of dissipation
  double power_terms = 0;               ///< sum of absolute parts
  double exchange =
      0;  ///< the same with what drives give to friction and to contacts without moving anything
};

struct Referee::Bench {
  Bench(const model::System& system, const Options& options);
  /// Forgets the run that it has read; what follows from the system alone stays.
  void restart(const Options& asked);
  void begin_scales();

  void take(const Point& point, Reading& out) const;
  void point(const Point& point);
  void impulse(const Impulse& impulse);
  void finish();
  [[nodiscard]] Verdict verdict() const;
  /// Where a step costs little but the evaluation of long equations, reading all of its inside would cost a quarter of the run: then that of the
  /// first pieces after an instant is read, and of every fourth from there on.
  [[nodiscard]] bool asks_inside() const {
    constexpr int kFirst = 4;
    constexpr int kEvery = 4;
    return !long_equations || pieces < kFirst || pieces % kEvery == 0;
  }

  // --- bench.cpp: the book, scales, rounding ---
  void check(Law law, int place, double time, double amount, double allowance) {
    LawRecord& record = laws[static_cast<std::size_t>(law)];
    ++record.checks;
    if (amount <= kUnderflow) return;
    const double ratio = amount / allowance;
    if (ratio <= 1 && allowance > 0) {
      record.worst = std::max(record.worst, ratio);
    } else {
      note_finding(law, place, time, amount, allowance);
    }
  }
  void note_finding(Law law, int place, double time, double amount, double allowance);
  void note_scales(const Reading& reading, double h);
  void load(const Reading& reading);
  [[nodiscard]] std::string place_name(Law law, int place) const;
  /// 8 times what rounding of the inputs and of the operations can do to output `index` at the loaded state.
  [[nodiscard]] double rounding(const expr::Program& program, int index);
  [[nodiscard]] double row_scale(const model::Row& w, const std::vector<double>& scale) const;
  [[nodiscard]] double acceleration_rounding(const model::Row& w);
  [[nodiscard]] double state_rounding(const double* w);
  [[nodiscard]] double surface_slack(const Reading& after, int i);
  [[nodiscard]] double force_rounding(const model::Row& w);
  void find_blocks();
  [[nodiscard]] double solved_rounding(int i) const;
  bool evaluate_motion();
  void list_mass();
  void take_mass(const double* entries);
  /// Slopes by all coordinates as a row.
  [[nodiscard]] model::Row along_all(const double* slopes) const { return {every, slopes}; }
  void apply_mass(const double* x, double* y, double* terms) const;

  // --- laws.cpp: one point ---
  void judge(Reading& reading);
  void judge_sides(const Reading& reading);
  void judge_switch(const Reading& reading, int k);
  [[nodiscard]] double outside(int k, double side, double value) const;
  /// The lower of the two sides between which a switch at its surface stands, and how far its value is from that surface.
  [[nodiscard]] double lower_side(int k, double value, double& distance) const;
  [[nodiscard]] double side_by_value(int k, double value) const;
  /// Puts the sliding switches on their sides by the bits of `corner`, and those around them where their values then are.
  /// `turned`: those of them that are about to change there take their upper side by its bits, in the order in which they are met.
  double take_corner(const Reading& reading, int corner, unsigned turned);
  [[nodiscard]] double side_beside(int k, int corner, unsigned turned);
  [[nodiscard]] double size_of(int i) const;
  [[nodiscard]] bool never_moves(int k);
  void judge_equality(const Reading& reading, int k, double value);
  void find_sliding(const Reading& reading);
  [[nodiscard]] bool right_by_neighbours(const Reading& reading, int k, double allowance);
  [[nodiscard]] bool matters(int k);
  void all_outputs(std::vector<double>& out);
  void judge_relation(Reading& reading, int r);
  [[nodiscard]] double limit_of_rest(const Reading& reading, int r, int j);
  [[nodiscard]] double load_in_doubt(const Reading& reading, int r);
  [[nodiscard]] bool passes(const Reading& reading, int k);
  [[nodiscard]] double limit_at_rest(const Reading& reading, int r, int j, int direction, double told);
  void judge_motion(Reading& reading);
  [[nodiscard]] double motion_residuals(const Reading& reading, bool record);
  void combine_corners(const Reading& reading);
  void read_energy(Reading& reading);

  // --- pieces.cpp: from point to point ---
  void judge_piece();
  struct Integral {
    double residual = 0, allowance = 0;
  };
  /// The step out of rest is taken without error control, because what has never moved has no size that an error could be compared with: all of
  /// that movement is allowed. From the next step on there is a size.
  [[nodiscard]] static double first_movement(double moved, double before) { return before > 0 ? 0 : moved; }
  /// What the errors that the states at the points may have do to the integral of component i (velocities, then states).
  [[nodiscard]] double carried_error(const Reading& reading, int i, double length);
  [[nodiscard]] double balance_error(int i);
  [[nodiscard]] double driven_rounding(int i);
  [[nodiscard]] double tied_rounding(const Reading& reading, int i);
  [[nodiscard]] double massless_rounding(const Reading& reading, int i, double length);
  [[nodiscard]] double massless_speed(const model::Row& w);
  [[nodiscard]] double energy_error(const Reading& reading, double length, double flows);
  [[nodiscard]] Integral integrate(const double* f, const double* y, double change, double length,
                                   bool stiff) const;

  // --- instants.cpp ---
  void judge_instant(const Reading& before, Reading& after);
  void judge_release(const Reading& before, const Reading& after);
  void load_before_jump(const Reading& before, const Reading& after);
  void judge_jumps(const Reading& before, const Reading& after);
  double judge_momentum(const double* v0, const Reading* before, const Reading& after);
  /// A slip on its way to rest.
  struct Stop {
    model::Row w;   ///< its row
    double slip;    ///< where it is
    double beside;  ///< this far from zero it has a direction
  };
  [[nodiscard]] double largest_coefficient(int relation, double speed, const double* v0, const double* v1,
                                           const Stop& stop);
  [[nodiscard]] bool held_load(const model::Relation& relation) const;
  [[nodiscard]] bool impulses_at_once(const model::Relation& relation, const Impulse& given);

  // --- rests.cpp ---
  void judge_rests(const Reading& after);
  [[nodiscard]] bool could_rest(const Reading& after);
  [[nodiscard]] bool sets_rest(int k, int& sign);
  [[nodiscard]] bool friction_at_rest(const Reading& after, int r);
  [[nodiscard]] bool forces_at_rest();
  [[nodiscard]] bool attracts(int k);
  static constexpr double kRestRoom =
      1e-6;  ///< share of an interval of forces in whose ends rest is not asked for
  /// A switch of a velocity at zero: a force along one coordinate.
  struct Dry {
    int number, along;
    double lower;
    bool rises;  ///< its argument does so with the velocity
  };

  /// Tolerances. Dense output is up to 35 times less exact than the step (engines/numeric/explicit_rk.hpp), and errors of several components meet.
  static constexpr double kMargin = 100;
  /// Rounding of a rate enters a step by each stage, with the size of its weight: Σ|b| is 12.9 for the method of order 8, the largest of all.
  static constexpr double kStages = 13;
  static constexpr double kEpsilon = 2.220446049250313e-16;
  /// Engines do not control errors below 2^-1000, where numbers lose their digits; 2^40 is left for what stands between a state and a law.
  static constexpr double kUnderflow = 0x1p-960;
  static constexpr std::size_t kMostFindings = 256;
  static constexpr int kMostCorners = 10;        ///< sliding switches whose fields are all combined
  static constexpr std::size_t kFewCorners = 3;  ///< the same where nothing asks for it
  static constexpr unsigned kMostDoubts = 4;

  const model::System& system;
  const model::Layout& layout;
  const std::vector<model::Relation>& relations;
  Options options;
  double allowed;  ///< kMargin · tolerance
  model::Workspace work;
  int n;
  bool any_massless = false;
  std::vector<std::uint8_t> massless, follows;  ///< by coordinate; a massless one that may jump
  std::vector<int>
      block;  ///< by coordinate: its accelerations are solved together with those of the same number
  std::vector<std::uint8_t> rubs;  ///< by relation: it has a tangential row
  std::vector<int> every;          ///< the numbers of the coordinates
  /// M by rows: where each begins, the columns, and the places of the entries in `mass`.
  std::vector<int> mass_begin, mass_column, mass_entry;
  bool mass_diagonal = true;  ///< one entry in each row

  std::array<Reading, 5> readings;
  std::array<int, 5> order{0, 1, 2, 3, 4};  ///< the last point first
  int held = 0;                             ///< readings in use
  double phase = 0;                         ///< time of the last instant
  double phase_before = 0;                  ///< time of the one before it
  int pieces = 0;                           ///< since then
  bool long_equations = false;              ///< evaluating them is most of the cost of a step
  bool started = false;

  // scales
  std::vector<double> start;                      ///< q, v, z of the first point
  std::vector<double> position, velocity, state;  ///< running, as in the engines
  std::vector<double>
      slow;  ///< by coordinate: the speed that the kinetic energy `slow_energy` gives what has hardly moved
  double slow_energy = -1;
  std::vector<double> position_before, velocity_before, state_before;  ///< at the beginning of the piece
  std::vector<double> row_rounding;               ///< of the forces, where it was asked for
  std::vector<double> acceleration, force, rate;  ///< largest seen
  std::vector<double> slid_from, slid_to;         ///< by switch: when it was slid on last
  std::vector<double> surface, gap, normal_force, tangential_force, load_scale;
  bool energy_known = false;
  double energy_before = 0;  ///< energy_scale at the beginning of the piece
  double largest_energy = 0;
  double energy_scale = 0, flow = 0, kinetic = 0, first_energy = 0;

  // works told last
  void note_works(const Reading& reading);
  bool works_known = false;
  double works_net = 0, works_dissipated = 0, works_energy = 0;
  bool jacobian_ready = false;  ///< of the present piece
  double own_net = 0, own_dissipated = 0, own_slack = 0;
  bool own_sure = true, own_unique = true;

  // the present instant
  int impacts = 0;
  std::vector<double> impulse_normal, impulse_push, impulse_terms, speed_before, first_speed;
  std::vector<double> normal_impulse_scale;
  bool tail = false;

  bool gaps_known = false;  ///< those in `work` are of the present point

  // memory
  std::vector<double> h, rates, mass, inertia, mass_row, mass_terms, push, push_terms, push_rounding, other,
      outputs, outputs_other, powers, jacobian, jacobian_here, kept_sides;
  std::vector<int> sliding;         ///< switches that slide at the present point
  std::vector<double> lower_sides;  ///< their lower sides
  std::vector<int> around;          ///< switches that contain one of them
  unsigned doubts = 0;              ///< of these, met at corners where they are about to change
  bool powers_combined = false;     ///< corner_powers are those of the motion
  std::vector<double> corner_powers, displaced, directions, set_off;
  std::vector<int> resting;  ///< coordinates of the block that is asked for its rest
  std::vector<Dry> dry;
  std::vector<double> rest_low, rest_high, rest_force, rest_sum;
  std::vector<double> share_rounding;  ///< by coordinate and state: of fields that are combined
  std::vector<double> combined;        ///< forces and rates
  std::vector<expr::Interval> interval_in, interval_out, interval_registers;
  std::array<double, 5> stiff_weights{};
  std::array<std::array<double, 5>, 2>
      inner_weights{};  ///< from the first to the second, and on to the third point inside

  std::array<LawRecord, static_cast<std::size_t>(Law::count)> laws;
  std::vector<Finding> findings;
  std::map<std::pair<int, int>, std::size_t> index;  ///< of a law at a place in `findings`
  std::uint64_t not_kept = 0;
};

}  // namespace judder::referee
