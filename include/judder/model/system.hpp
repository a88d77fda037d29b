// The equations of a model, ready to be evaluated.
//
//     M(q,t) v̇ = h(q,v,z,t) + Σ push_r λ_N,r + Σ drag_j λ_T,j ,      q̇ = v ,      ż = rate(q,v,z,t)
//
// A *relation* r is a rigid contact (gap g ≥ 0), a bilateral constraint (g = 0, or a velocity constraint),
// or a friction joint. It has at most one normal row and up to three tangential rows:
//
//     γ_N = ġ = w_N·v + ∂g/∂t ,   γ̇_N = w_N·v̇ + ζ_N ;      γ_T = W_T·v + b ,   γ̇_T = W_T·v̇ + ζ_T
//     set-valued friction:  |λ_T| ≤ μ_s L at rest,  λ_T = −σ μ L while slipping (σ = ±1)
//     normal load:          L = base + Σ_k factor_k |λ_N,k|
//     smooth friction:      λ_T = −κ L   (bristles, arctan; no rest)
//
// Everything else (springs, dampers, forces, compliant contacts, viscous parts, smooth friction of joints
// whose normal force is known) is in h. Friction coefficients may depend on the slip speed; it enters as σ
// γ_T with the direction σ of the row as an input (0 at rest), so that frozen directions make the equations
// smooth, like frozen sides of switches.
//
// All inputs of all programs are one array `in` (Layout). A System is immutable and may be shared by
// threads; mutable numbers are in a Workspace. Nothing here allocates after the Workspace is made. In a
// Release build the cost is that of the programs.
//
// Massless coordinates (mechanics: docs/theory.md) are followed inside `motion`: it first finds their
// velocities (damped) or positions (undamped) and writes them into `in`; they have no row in M. Only friction joints with a known load
// may touch them: their friction is found with the balance, written to Layout::tangent() and added to h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judder/core/laws.hpp"
#include "judder/expr/graph.hpp"
#include "judder/expr/program.hpp"
#include "judder/model/linear.hpp"
#include "judder/model/linked.hpp"

namespace judder::model {

/// Places in the array of inputs. y = (q, v, z) is contiguous from `q`.
struct Layout {
  int coordinates = 0;  ///< n
  int states = 0;       ///< m, bristles included
  int switches = 0;
  int tangents = 0;  ///< tangential rows of all relations
  int relations = 0;
  int audits = 0;
  int free_parameters = 0;
  int observed = 0;  ///< switches that watches alone read

  [[nodiscard]] int time() const { return 0; }
  [[nodiscard]] int q() const { return 1; }
  [[nodiscard]] int v() const { return 1 + coordinates; }
  [[nodiscard]] int z() const { return 1 + 2 * coordinates; }
  [[nodiscard]] int integrated() const { return 2 * coordinates + states; }  ///< length of y
  [[nodiscard]] int side() const { return z() + states; }
  [[nodiscard]] int direction() const { return side() + switches; }
  /// By relation: 1 while it carries forces, 0 while a contact is open. Read by what acts in closed contacts
  /// only and is part of h or of a rate (viscous friction, bristles: Relation::reads_closed).
  [[nodiscard]] int closed() const { return direction() + tangents; }
  [[nodiscard]] int free_parameter() const { return closed() + relations; }
  // for output columns and watches only:
  [[nodiscard]] int acceleration() const { return free_parameter() + free_parameters; }
  [[nodiscard]] int normal() const { return acceleration() + coordinates; }  ///< λ_N by relation
  [[nodiscard]] int tangent() const { return normal() + relations; }         ///< λ_T by tangential row
  [[nodiscard]] int dissipated() const { return tangent() + tangents; }      ///< by audit element
  [[nodiscard]] int supplied() const { return dissipated() + audits; }
  [[nodiscard]] int initial_energy() const { return supplied() + audits; }
  [[nodiscard]] int observed_side() const { return initial_energy() + 1; }  ///< sides of System::observed
  [[nodiscard]] int size() const { return observed_side() + observed; }
  /// Read by restitution and by Relation::curve only; arrays of inputs have size() + 1 entries.
  [[nodiscard]] int approach_speed() const { return size(); }
};

enum class RelationKind : std::uint8_t { contact, constraint, joint };

struct Relation {
  RelationKind kind = RelationKind::contact;
  std::string name;              ///< "wall", "pair[1,2]"
  bool has_normal = false;       ///< a normal row: rigid contacts and constraints
  bool holonomic = true;         ///< false: velocity constraint (g is its velocity, no position)
  bool compliant = false;        ///< contact with a normal force in h; its friction acts like a joint's
  int tangents = 0;              ///< number of tangential rows
  int first_tangent = 0;         ///< number of the first
  bool smooth_friction = false;  ///< λ_T = −κ L
  bool rows_constant = false;  ///< w_N, push, W_T, drag constant and ζ_N, ζ_T, ∂g/∂t, b zero or constant
  bool law_constant = false;   ///< μ, μ_s, base, factors constant
  bool curve_constant = false;  ///< all numbers of the friction law constant
  bool own_push = false;        ///< force directions differ from w_N, W_T
  bool driven = false;       ///< ∂g/∂t or b is not zero by its form: the other side of the contact moves
  std::vector<int> touches;  ///< coordinates that its rows or force directions have entries for
  /// Relations k whose |λ_N,k| enter L: the own normal row, or what `normal` of a joint names; empty: L = base.
  std::vector<int> feeds;
  int audit = -1;  ///< audit element, or −1 when it never does work

  ImpactType impact = ImpactType::moreau;
  bool impact_friction = true;
  bool has_tangential_restitution = false;
  bool direction_in_force = false;  ///< h reads the direction of its slip
  double impact_stiffness = 1;
  double impact_exponent = 1;

  std::vector<int> bristles;  ///< states of its law, set to zero when the contact opens
  bool reads_closed = false;  ///< h or a rate reads Layout::closed() of this contact
  std::string place;          ///< "contact 'wall'"

  // programs; outputs in the order written
  expr::Program gap;  ///< g, γ_N (constraints: zero and its rate; velocity constraints: velocity, velocity)
  /// With a normal row: ∂g/∂t, ζ_N, w_N, push (only with own_push); then per tangential row: γ_T, b, ζ_T, W_T, drag (only with own_push). Of a
  /// vector there are the entries at `touches`.
  expr::Program rows;
  /// Where the outputs of a row begin in `rows`: ∂g/∂t of the normal row (tangent −1), γ_T of a tangential one.
  [[nodiscard]] int row_begin(int tangent) const {
    const int vectors = static_cast<int>(touches.size()) * (own_push ? 2 : 1);
    return tangent < 0 ? 0 : (has_normal ? 2 + vectors : 0) + tangent * (3 + vectors);
  }
  expr::Program law;          ///< base, factor per feeds, then per tangential row: μ (or κ), μ_s
  expr::Program restitution;  ///< e, tangential restitution; reads Layout::approach_speed()

  // The friction law as it was written (model/friction.hpp), of the first slip component.
  FrictionType friction = FrictionType::none;
  bool load_known = false;  ///< the normal load is a formula: output 0 of `curve`
  std::vector<int>
      slides;  ///< coordinates that its slip and drag have entries for, also where the force is part of h
  expr::Program sliding;  ///< γ_T, b, W_T, drag, these at `slides`; sides by value
  /// Normal load, then the LawNumbers at the slip speed in Layout::approach_speed(); sides by value.
  expr::Program curve;
};

/// A row over all coordinates by index and value, in memory that stands elsewhere. What it does not list is zero.
class Row {
 public:
  Row() = default;
  Row(std::span<const int> places, const double* values) : places_(places), values_(values) {}
  /// Entry of coordinate i. Rows are short: those that list all coordinates are found at once, others by looking.
  [[nodiscard]] double operator[](int i) const {
    const std::size_t at = static_cast<std::size_t>(i);
    if (at < places_.size() && places_[at] == i) return values_[at];
    const auto found = std::lower_bound(places_.begin(), places_.end(), i);
    return found == places_.end() || *found != i ? 0 : values_[found - places_.begin()];
  }
  [[nodiscard]] bool empty() const { return values_ == nullptr; }
  [[nodiscard]] std::span<const int> places() const { return places_; }
  [[nodiscard]] std::span<const double> values() const {
    return {values_, values_ == nullptr ? 0 : places_.size()};
  }
  /// All n entries.
  void write(double* out, std::size_t n) const {
    std::fill_n(out, n, 0.0);
    for (std::size_t k = 0; k < values().size(); ++k) out[places_[k]] = values_[k];
  }
  [[nodiscard]] std::vector<double> dense(std::size_t n) const {
    std::vector<double> out(n);
    write(out.data(), n);
    return out;
  }
  /// Σ w_i x_i, in the order of the coordinates.
  [[nodiscard]] double dot(const double* x) const {
    double sum = 0;
    for (std::size_t k = 0; k < values().size(); ++k) sum += values_[k] * x[places_[k]];
    return sum;
  }
  [[nodiscard]] bool vanishes() const {
    return std::all_of(values().begin(), values().end(), [](double x) { return x == 0; });
  }

 private:
  std::span<const int> places_;  ///< ascending
  const double* values_ = nullptr;
};

/// Values of the rows of one relation; memory of the Workspace.
struct RelationRows {
  double gap = 0, gap_rate = 0;  ///< from `gap`
  double gap_time = 0;           ///< ∂g/∂t
  double zeta_n = 0;
  Row w;     ///< w_N
  Row push;  ///< = w unless own_push
  struct Tangent {
    double slip = 0;   ///< γ_T
    double drive = 0;  ///< b: γ_T at v = 0
    double zeta = 0;
    Row w;
    Row drag;
    double mu = 0;  ///< μ at the present slip, or κ
    double mu_static = 0;
  } tangent[3];
  double base = 0;                  ///< known part of L
  const double* factors = nullptr;  ///< by Relation::feeds
};

struct SwitchInfo {
  expr::SwitchKind kind = expr::SwitchKind::jump;
  bool whole = false;
  std::vector<double> levels;
  bool never_negative = false;  ///< its argument, of whole numbers: the lowest side is 0
  /// Two-sided, by its form never negative (1) or never positive (−1): touched, perhaps stayed on, not crossed.
  int one_sided = 0;
  double top = std::numeric_limits<
      double>::infinity();    ///< the same of several levels: the one that is reached and not passed
  bool time_only = false;     ///< a timetable: met exactly
  bool in_motion = false;     ///< enters h, M or a rate (otherwise only relations, laws, energies)
  bool in_relations = false;  ///< enters a gap, a slip or a law
  bool watched = false;       ///< a watch may jump where its side changes
  std::string place;          ///< "force.limiter.value"
  std::string above, below;   ///< the sides in words
  expr::Program surface;  ///< s, ∂s/∂t, ∂s/∂q, ∂s/∂v, ∂s/∂z  (first output alone: `value`)
  expr::Program value;    ///< s
  /// The same five parts of ṡ, where s does not see velocities; otherwise without outputs. For surfaces that the motion rests on.
  expr::Program rate;
  /// Positive where a formula reads the side of this switch, for the sides of the others that stand in the inputs; zero where the switch stands only in
  /// branches of `if` that are not taken. A program without outputs: the side is always read.
  expr::Program live;
  double at_zero =
      1;  ///< side that the language gives at equality; 0.5: sign, whose value is 0 there, or uses that differ
  bool differ_at_zero = false;  ///< the side 0.5 stands for equality, and for no share of a slide
  std::vector<int> inner;       ///< switches whose sides stand in the surface, all of them before this one
  // What its side acts on directly, and what the rates of its surface see: coordinates (accelerations), states, relations.
  std::vector<int> moves, feeds, relations;
  std::vector<int> sees, sees_states;
  [[nodiscard]] bool two_sided() const { return !whole && levels.empty(); }
  /// The side of a level that the argument never leaves for the other: 1 above, −1 below, 0 where it crosses. `lower` is the side below.
  [[nodiscard]] int only_side(double lower) const {
    return two_sided() ? one_sided : std::isfinite(top) && level_above(lower) >= top ? -1 : 0;
  }
  /// The levels between which the argument lies on a side, for switches of several sides: −∞ and ∞ beyond the listed ones. A side is a double
  /// throughout; that of floor(1e20) is no integer of any type.
  [[nodiscard]] double level_below(double side) const;
  [[nodiscard]] double level_above(double side) const;
  /// Whether a double tells the argument on this side from the levels next to it, with room for the rounding of a sum.
  [[nodiscard]] bool resolves(double side) const { return !whole || (side <= 0x1p50 && side >= -0x1p50); }
};

struct WatchInfo {
  std::string name;
  int direction = 0;  ///< +1 up, −1 down, 0 both
  int stop = 0;
  int one_sided =
      0;  ///< by its form never negative (1) or never positive (−1): it touches zero and crosses nothing
  expr::Program value;  ///< reads sides of the motion's switches, and of System::observed
  bool needs_reactions = false;
};

/// Work that is integrated with the motion; reactions of relations are added by the engine.
struct AuditInfo {
  std::string name;          ///< element: "pad", "force1", "dissipation", "drive"
  int relation = -1;         ///< its relation, or −1
  int power = -1;            ///< output of System::power that gives dE/dt of this element, or −1
  bool dissipative = false;  ///< that power counts as −dissipated, otherwise as supplied
  bool of_jumps = false;  ///< what massless coordinates lose where they jump, beside the work of the others
};

struct ColumnInfo {
  std::string name;
  int mode_of = -1;  ///< relation whose status is shown (mode(c)), or −1
  int value = -1;    ///< output of System::columns
  bool needs_reactions = false;
};

/// The formulas behind the programs, for `explain`, for recognising linear systems and for tests.
struct Symbols {
  std::vector<expr::Variable> q, v, z;
  expr::Variable t = 0;
  std::vector<expr::Node> mass;                            ///< n×n, row-major
  std::vector<expr::Node> force;                           ///< h
  std::vector<expr::Node> rate;                            ///< of z
  expr::Node kinetic, potential, energy, lagrangian_time;  ///< T, V, E, ∂L/∂t
  struct Row {
    expr::Node gap, gap_rate, zeta;
    std::vector<expr::Node> w, push;
  };
  struct TangentRow {
    expr::Node slip, drive, zeta, mu, mu_static;
    std::vector<expr::Node> w, drag;
  };
  std::vector<Row> normal;                       ///< by relation (empty vectors where none)
  std::vector<TangentRow> tangent;               ///< by tangential row
  std::vector<expr::Node> base;                  ///< by relation
  std::vector<std::vector<expr::Node>> factors;  ///< by relation, then by Relation::feeds
  /// Friction that is part of h: viscous parts, and smooth laws whose normal load is a formula.
  struct KnownFriction {
    int relation = 0;
    expr::Node slip, tangent;
  };
  std::vector<KnownFriction> known_friction;
  std::vector<expr::Node> surface;  ///< by switch of the System
};

enum class Shape : std::uint8_t { circle, box, polygon, line, spring, ground, belt, arrow };

/// A shape of a drawing. Its numbers, in System::drawing_values from `first` on: circle x, y, radius, turn; box x, y, width, height, turn;
/// polygon x, y, turn, then two per corner; line, spring and ground x, y of both ends; belt the same and its shift; arrow x, y.
struct DrawingInfo {
  Shape shape = Shape::line;
  int first = 0;
  int numbers = 0;
  int relation = -1;  ///< whose status colours it, or −1
  /// Components of an arrow: a number of columns(), or −1 for a component that is zero, and its sign.
  int column[2] = {-1, -1};
  double sign[2] = {1, 1};
};

class Workspace;

/// Where M may have entries other than zero: of each row those up to the diagonal, which is the last.
struct MassPattern {
  std::vector<int> begin;  ///< by row, and one more: its first entry in `at`
  std::vector<int> at;     ///< columns, ascending
  /// By column, and one more: where the entries behind the diagonal begin in the lists of their rows and of their places in `at`.
  std::vector<int> below_begin, below_row, below_entry;
  void list_columns();  ///< makes these from `begin` and `at`
};

class System {
 public:
  System();
  ~System();
  System(System&&) noexcept;
  System& operator=(System&&) noexcept;

  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] const std::vector<std::string>& coordinate_names() const;
  [[nodiscard]] const std::vector<std::string>& state_names() const;
  [[nodiscard]] const std::vector<Relation>& relations() const;
  [[nodiscard]] const std::vector<SwitchInfo>& switches() const;
  [[nodiscard]] const std::vector<WatchInfo>& watches() const;
  /// Switches in watches that have no side among switches() at every moment: the motion does not contain them, or only in a branch of `if` that may not be taken.
  /// They do not act on the motion. They are numbered on from the last of switches(), also in `inner`; only the formulas of the surface are filled in.
  [[nodiscard]] const std::vector<SwitchInfo>& observed() const;
  [[nodiscard]] const std::vector<AuditInfo>& audits() const;
  [[nodiscard]] const std::vector<ColumnInfo>& columns() const;
  [[nodiscard]] const std::vector<DrawingInfo>& drawings() const;
  [[nodiscard]] const std::vector<bool>& massless() const;       ///< by coordinate
  [[nodiscard]] const std::vector<double>& scale_floor() const;  ///< by coordinate; 0: none
  [[nodiscard]] bool mass_constant() const;
  [[nodiscard]] const MassPattern& mass_pattern() const;
  [[nodiscard]] bool watches_read_works() const;  ///< dissipated(), supplied() or balance()
  /// Some column reads the acceleration of a massless coordinate, which no equation of motion gives.
  [[nodiscard]] bool reads_massless_acceleration() const;
  [[nodiscard]] bool autonomous_forces() const;  ///< h and rates do not depend on t
  /// Nothing that moves the system depends on t: h, M, rates, gaps, slips, laws, surfaces of switches.
  [[nodiscard]] bool autonomous() const;
  /// Nothing that is evaluated along the motion depends on t otherwise than through a timetable: what rests stays at rest until the next
  /// known instant.
  [[nodiscard]] bool steady() const;
  /// Periods that stand in its formulas (expr::Graph::periods), ascending; the forcing repeats with a common multiple of them
  /// unless t enters otherwise (analysis/periodic.hpp).
  [[nodiscard]] const std::vector<double>& periods() const;
  /// By coordinate, then by state: nothing that moves the system depends on it, only on its rate.
  [[nodiscard]] const std::vector<bool>& cyclic() const;
  /// The array of inputs at the start (sides by value, directions zero).
  [[nodiscard]] const std::vector<double>& start() const;
  /// Instants on a timetable that are known in closed form (knots of tables and of bump in t), ascending.
  [[nodiscard]] const std::vector<double>& instants() const;
  [[nodiscard]] const Symbols& symbols() const;
  /// Whether the model is linear in each mode, with the coefficients, or the reason why it is not.
  [[nodiscard]] const LinearStructure& linear() const;
  /// h and rates taken apart: what is constant in a mode, what is a difference of the state, what is neither.
  [[nodiscard]] const LinkedForces& linked() const;
  [[nodiscard]] const expr::Graph& graph() const;
  /// Loads the sides that depend on values (switches) from `in` into `in`; used at the start and by checks.
  void sides_by_value(std::span<double> in, Workspace& work) const;

  /// Whether the side of switch k is read at all, with the sides in work.in: a switch in a branch that is not taken has no say.
  [[nodiscard]] bool live(Workspace& work, int k) const;
  /// The side that the value of its surface gives switch k, with the sides of inner switches as they are in work.in.
  [[nodiscard]] double side_of_value(Workspace& work, int k) const;

  // --- evaluation; `work.in` is the array of inputs ---

  /// h, rates and, if it varies, M with its factors L D Lᵀ; massless coordinates first. False: a value is
  /// not finite, or M is not positive definite (work.mass_failed tells which).
  [[nodiscard]] bool motion(Workspace& work) const;
  /// The same, and with it powers() at the same inputs where has_powers_with_motion(): both share most of their formulas.
  [[nodiscard]] bool motion(Workspace& work, double* powers) const;
  [[nodiscard]] bool has_powers_with_motion() const;
  /// x = M⁻¹ x, n entries (massless rows give 0).
  void solve_mass(const Workspace& work, double* x) const;
  /// All n×n entries of M.
  [[nodiscard]] std::vector<double> full_mass(const Workspace& work) const;
  void full_mass(const Workspace& work, double* out) const;  ///< the same into n×n numbers
  /// y = M x.
  void apply_mass(const Workspace& work, const double* x, double* y) const;

  /// g and γ_N of one relation.
  void gap(Workspace& work, int relation, double& gap, double& rate) const;
  /// The same of all relations that have a gap, into work.gap_value and work.gap_rate: to the bit, and in a part of the time.
  void gaps(Workspace& work) const;
  /// Rows, slips and law numbers of one relation; constant parts are not computed again.
  const RelationRows& rows(Workspace& work, int relation) const;
  /// e and tangential restitution of a contact at an approach speed.
  void restitution(Workspace& work, int relation, double approach_speed, double& e, double& tangential) const;

  /// What a friction law is to an impulse: Coulomb's law with the coefficient that steady sliding at this speed has, ≥ 0 and the same for
  /// both directions (arctan: μ (2/π) atan(β |γ|); bristles: μ), and with the coefficient that holds at rest (smooth laws: their value at
  /// speed zero). Other velocities are those in work.in, switches stand by value.
  struct ImpulseFriction {
    double slipping = 0;
    double resting = 0;
  };
  [[nodiscard]] double impulse_coefficient(Workspace& work, int relation, double speed) const;
  [[nodiscard]] ImpulseFriction impulse_friction(Workspace& work, int relation, double speed) const;

  void energies(Workspace& work, double& kinetic, double& potential, double& total) const;
  /// dE/dt by audit element with a power program, written to out[AuditInfo::power].
  void powers(Workspace& work, double* out) const;
  /// By ColumnInfo::value. Switches of the motion stand on the sides in work.in, those of columns alone where their surfaces put them.
  void column_values(Workspace& work, double* out) const;
  /// By DrawingInfo::first, from t, coordinates and states; switches stand by value.
  void drawing_values(Workspace& work, double* out) const;
  [[nodiscard]] int drawing_numbers() const;  ///< that drawing_values writes

  /// h (n), rates (m), then the entries of M by its pattern. The programs of relations and this one are
  /// complete even where parts are constant, so that `evaluate_series` along a motion gives the Taylor
  /// coefficients of everything (ties between modes).
  [[nodiscard]] const expr::Program& motion_program() const;

  /// The balance of forces on massless coordinates: F, k numbers, then ∂F/∂x (k×k, row-major), zero for the right x.
  struct MasslessBalance {
    const expr::Program* program =
        nullptr;  ///< of the inputs; F holds the friction of joints that slip, not of those at rest
    std::span<const int>
        unknown;  ///< places of x: velocities of damped coordinates, then positions of undamped ones
    std::span<const int> velocity;  ///< places of the velocities of the undamped ones
    /// A friction joint that moves massless coordinates. At rest its force is one more unknown, and its slip is zero.
    struct Joint {
      int direction = 0;      ///< place of σ in the inputs; 0: at rest
      int tangent = 0;        ///< place of λ_T
      bool damped = false;    ///< it moves damped coordinates
      bool constant = false;  ///< so are its drag and its slip row on the unknowns
    };
    std::span<const Joint> joints;
    const expr::Program* friction =
        nullptr;  ///< per joint: drag and slip row on the unknowns (k each), γ_T, −σ μ L
  };
  [[nodiscard]] MasslessBalance massless_balance() const;

  /// ∂(h, rates)/∂(q, v, z, free parameters) at fixed sides: (n + m) × (2n + m + p), row-major.
  void jacobian(Workspace& work, double* out) const;

  /// Takes the time, coordinates, velocities and states in `work.in` for a start: what follows from them (sides by value, massless coordinates,
  /// which contacts are closed, the energy) is completed there. Returns why no run can begin so; empty: one can.
  [[nodiscard]] std::string begin(Workspace& work) const;

  struct Data;
  [[nodiscard]] const Data& data() const { return *data_; }

 private:
  friend struct Builder;
  friend class Form;
  friend class Restart;
  std::unique_ptr<Data> data_;
};

/// Mutable memory for one thread.
class Workspace {
 public:
  explicit Workspace(const System& system);
  Workspace(const Workspace&) = delete;  // rows point into its own memory
  Workspace& operator=(const Workspace&) = delete;
  Workspace(Workspace&&) = default;
  Workspace& operator=(Workspace&&) = default;

  std::vector<double> in;                   ///< Layout
  std::vector<double> force;                ///< h, n
  std::vector<double> rate;                 ///< m
  std::vector<double> mass;                 ///< M by System::mass_pattern
  std::vector<double> inertia;              ///< its diagonal
  std::vector<double> pivots;               ///< D of the massive block, M = L D Lᵀ
  std::vector<double> gap_value, gap_rate;  ///< by relation, from System::gaps
  bool mass_diagonal = false;               ///< M is constant and diagonal: solve_mass divides, nothing more
  bool mass_failed = false;

  // private to the evaluation
  std::vector<double> registers;
  std::vector<double> output;
  std::vector<RelationRows> relation;
  std::vector<std::vector<double>> row_memory;
  std::vector<double> scratch;
  /// L, by rows from the first entry that may not be zero to the last before the diagonal; and L D, while it is made.
  std::vector<double> factor, factor_row;
  void read_mass(const System& system, const double* entries);
  void read_rows(const Relation& relation, RelationRows& rows, const double* memory);
  void read_law(const Relation& relation, RelationRows& rows, const double* memory);
};

}  // namespace judder::model
