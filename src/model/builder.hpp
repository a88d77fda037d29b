// The workshop behind `compile`: everything between a Spec and a System.
//
// One Builder lives for one call of `compile`. Its steps run in the order of this file, each in a source of
// its own; every step reports all problems it meets and goes on with a harmless stand-in, so that one call
// finds as many as possible. Programs are made, and numbers checked at the start state, only when nothing
// has failed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "judder/core/work.hpp"
#include "judder/expr/graph.hpp"
#include "judder/expr/syntax.hpp"
#include "judder/model/compile.hpp"
#include "model/form_data.hpp"
#include "model/system_data.hpp"

namespace judder::model {

using expr::Graph;
using expr::Index;
using expr::Node;
using expr::Tree;
using expr::Variable;

/// What an expression may use beside parameters, functions of them, pi and indices (docs/model-file.md, "Who
/// may use what").
struct Allowed {
  const char* may_use = "parameters only";  ///< for messages: "a gap may use …"
  bool coordinates = false;
  bool velocities = false;
  bool states = false;
  bool time = false;
  bool speed = false;          ///< the slip or approach speed; Scope::speed is its node
  bool rates = true;           ///< z' of a state
  bool reactions = false;      ///< normal(c), abs(normal(c)) in the normal force of a joint
  bool outputs = false;        ///< reactions and the functions of output columns
  bool accelerations = false;  ///< x'', in output columns
};

inline constexpr Allowed kParameters{.may_use = "parameters only"};
inline constexpr Allowed kStart{.may_use = "parameters, other start values and t",
                                .coordinates = true,
                                .velocities = true,
                                .states = true,
                                .time = true,
                                .rates = false};
inline constexpr Allowed kPosition{.may_use = "coordinates and t", .coordinates = true, .time = true};
inline constexpr Allowed kPotential{
    .may_use = "coordinates, states and t", .coordinates = true, .states = true, .time = true};
inline constexpr Allowed kKinetic{
    .may_use = "coordinates, velocities and t", .coordinates = true, .velocities = true, .time = true};
inline constexpr Allowed kVelocity{.may_use = "coordinates, velocities, states and t",
                                   .coordinates = true,
                                   .velocities = true,
                                   .states = true,
                                   .time = true};
inline constexpr Allowed kLaw{.may_use = "coordinates, velocities, states, t and speed",
                              .coordinates = true,
                              .velocities = true,
                              .states = true,
                              .time = true,
                              .speed = true};
inline constexpr Allowed kJointNormal{
    .may_use = "coordinates, velocities, states, t, normal(contact) and abs(normal(constraint))",
    .coordinates = true,
    .velocities = true,
    .states = true,
    .time = true,
    .reactions = true};
inline constexpr Allowed kRestitution{
    .may_use = "coordinates, t and speed", .coordinates = true, .time = true, .speed = true};
inline constexpr Allowed kLoad{.may_use = "t", .time = true};
inline constexpr Allowed kDrawing{
    .may_use = "coordinates, states and t", .coordinates = true, .states = true, .time = true};
inline constexpr Allowed kOutput{.may_use = "everything",
                                 .coordinates = true,
                                 .velocities = true,
                                 .states = true,
                                 .time = true,
                                 .outputs = true,
                                 .accelerations = true};
// An acceleration jumps where nothing else does, between two rows of a decision; its zeros are not looked for.
inline constexpr Allowed kWatch{.may_use = "everything but accelerations",
                                .coordinates = true,
                                .velocities = true,
                                .states = true,
                                .time = true,
                                .outputs = true};

/// An index tuple of `each` with the name it makes: "pair[1,2]".
struct Instance {
  std::string name;
  std::vector<Index> indices;
  std::vector<int> values;
};

/// One number of a parameter: the scalar itself or one entry of a list.
struct ParameterItem {
  const Value* value = nullptr;
  /// `later`: put off until something that it needs is known.
  enum class Progress : std::uint8_t { waiting, running, later, done } progress = Progress::waiting;
  Node node;
};

/// A parameter or state that lies too deep in a chain to be evaluated by recursion. Thrown and caught inside the Builder.
struct Later {
  int number = 0;
  std::size_t item = 0;
};

struct ParameterDraft {
  const Parameter* spec = nullptr;
  std::vector<ParameterItem> items;  ///< row-major
  int rows = 1, columns = 1;
  bool list = false, matrix = false;
  bool free = false;
  bool open = false;
  Variable variable = 0;
  std::string place() const { return "parameter '" + spec->name.text + "'"; }
};

struct DefinitionDraft {
  const Definition* spec = nullptr;
  expr::Signature signature;
  const Tree* tree = nullptr;
  bool broken = false;
  bool condition = false;
};

struct CoordinateDraft {
  const Coordinate* spec = nullptr;
  std::string name;
  std::vector<Index> indices;
  const Value* start = nullptr;
  const Value* velocity = nullptr;
  Variable q = 0, v = 0, a = 0;
  double start_value = 0, velocity_value = 0, scale = 0;
};

struct StateDraft {
  const StateVariable* spec = nullptr;  ///< null: a bristle
  std::string name;
  std::vector<Index> indices;
  const Value* start = nullptr;
  Variable z = 0;
  double start_value = 0;
  enum class Progress : std::uint8_t { waiting, running, later, done } progress = Progress::waiting;
  Node rate;
};

/// Coordinates or states that share a name through `each`; a plain one is a family without indices.
struct FamilyDraft {
  int arity = 0;
  std::map<std::vector<int>, int> members;
  bool broken = false;  ///< its `each` could not be read: with and without indices it is something
};

enum class EntityKind : std::uint8_t { parameter, definition, table, coordinate, state, function };
struct Entity {
  EntityKind kind = EntityKind::parameter;
  int index = 0;  ///< of the draft; of the family for coordinates and states
};

struct TangentDraft {
  Node slip, drive, zeta;
  std::vector<Node> w, drag;
  Variable direction = 0;  ///< σ
  Node mu, mu_static;      ///< or κ
  Node added;              ///< friction force that is part of h: viscous, and smooth with a known load
  Variable lambda = 0;     ///< λ_T, for outputs
};

struct RelationDraft {
  RelationKind kind = RelationKind::contact;
  const Contact* contact = nullptr;
  const Joint* joint = nullptr;
  const Constraint* constraint = nullptr;
  std::string name, where, place;  ///< "pair[1,2]", "contact 'pair[1,2]'", "contact.pair"
  std::vector<Index> indices;
  Span span;

  bool has_normal = false, holonomic = true, compliant = false, own_push = false;
  bool has_gap = false;
  bool gap_known = false;  ///< `gap` holds a factor of the gap that was written
  Node gap, gap_rate, gap_time, zeta;
  std::vector<Node> w, push;

  std::vector<TangentDraft> slip;  ///< every slip component written, with or without friction
  bool friction = false;           ///< the components are rows of the relation
  bool smooth = false;             ///< a smooth law
  FrictionType type = FrictionType::none;
  std::vector<Node> curve;  ///< LawNumbers as functions of `approach`, the slip speed
  bool known_load = false;  ///< the normal load is a formula: base
  Node base;
  std::vector<int> feeds;
  std::vector<Node> factors;
  std::vector<int> bristles;  ///< numbers of states

  Node touching;              ///< compliant: 1 where d > 0
  Node normal_force;          ///< compliant λ_N
  Node stored, stored_force;  ///< compliant: energy and its force k d^p
  Variable lambda = 0;        ///< λ_N: output, and placeholder in the normal forces of joints
  Variable closed = 0;

  ImpactType impact = ImpactType::moreau;
  bool impact_friction = true, has_tangential = false;
  bool needs_direction = false;  ///< the forces read the direction of its slip
  Node restitution, tangential;
  expr::Number impact_stiffness = 1, impact_exponent = 1;
};

struct ForceDraft {
  std::string name, where;
  Node value;
  std::vector<Node> w;
};

struct AuditDraft {
  std::string name;
  int relation = -1;
  bool builtin = false;  ///< "dissipation", "drive", …: an element of the same name goes first
  bool has_power = false, dissipative = false;
  bool of_jumps = false;
  Node power;
  Variable dissipated = 0, supplied = 0;
};

struct ElementName {
  std::string kind;   ///< "contact"
  int instances = 0;  ///< that remain
  int arity = 0;
  bool least = false;  ///< the last index counts the parts of a gap that is the smallest of several
  std::map<std::vector<int>, int> relations;  ///< instance → relation, for those that have one
  std::map<std::vector<int>, int> forces;
};

struct Builder;

/// Names of a model inside one expression.
class Scope final : public expr::Environment {
 public:
  Scope(Builder& builder, const Allowed& allowed, std::string what)
      : b_(builder), allowed_(allowed), what_(std::move(what)) {}

  std::optional<Node> speed;    ///< meaning of `speed` where it is allowed
  std::vector<Index> indices;   ///< of `each`, for the arguments of output functions
  bool used_reactions = false;  ///< an acceleration or a reaction was used

  expr::Meaning meaning(std::string_view name) override;
  std::vector<std::string> names() override;
  std::optional<expr::Macro> definition(std::string_view name) override;
  std::variant<Node, expr::Forbidden> prime(Node node) override;
  std::optional<std::variant<Node, expr::Forbidden>> function(std::string_view name,
                                                              std::span<const Tree> arguments) override;
  /// Definitions that are known where the same things may be used; null where what is used must be noticed each time.
  expr::KnownDefinitions* known_definitions();
  /// The relation of `mode(c)`.
  std::variant<int, expr::Forbidden> mode_of(const Tree& call);

 private:
  expr::Forbidden forbidden(const std::string& subject) const;
  using Answer = std::variant<Node, expr::Forbidden>;
  /// The relation named by a tree such as `pair[1,2]`, or the reason why there is none.
  std::variant<int, expr::Forbidden> relation(const Tree& tree);
  /// The same; all parts of a contact whose gap is the smallest of several.
  std::variant<std::vector<int>, expr::Forbidden> parts(const Tree& tree);
  std::variant<std::pair<std::string, std::vector<int>>, expr::Forbidden> element(const Tree& tree);
  Answer load_of_joint(std::string_view name, std::span<const Tree> arguments);
  Answer output_function(std::string_view name, std::span<const Tree> arguments);
  Answer audited(std::string_view name, const Tree& tree);
  Node normal_output(int relation);
  Answer component(std::string_view name, std::span<const Tree> arguments);

  Builder& b_;
  Allowed allowed_;
  std::string what_;
};

inline void append(std::vector<Node>& to, const std::vector<Node>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

struct Builder {
  Builder(const Spec& spec_in, const CompileOptions& options_in, Work& budget_in);
  Compiled build();
  /// The same up to the checks at the start, with the parameters that `options.open` names left open. Nothing after an error.
  std::optional<Form> build_form();
  void read();  ///< everything that build() and build_form() share
  /// What is returned when the work was stopped: the messages so far, and why, at the place that costs most.
  Compiled stopped(const WorkStopped& reason);

  const Spec& spec;
  const CompileOptions& options;
  Work& budget;
  Compiled result;
  struct Cost {
    Span span;
    std::string where;
    double spent = 0;
  };
  [[nodiscard]] Cost widest() const;
  std::unordered_map<const void*, Cost> costs;  ///< by text: what it took to give it a meaning
  const void* reading = nullptr;                ///< the text at hand
  Graph graph;

  // --- sources (sources.cpp) ---
  const Tree* tree(const Value& value, const std::string& where);
  /// Every text once, also of elements that `when` leaves out: a slip of the pen is one in every variant.
  void parse_all();
  std::optional<Node> lower(const Value& value, Scope& scope, const std::string& where,
                            const std::string& place, const std::vector<Index>& indices,
                            bool condition = false);
  /// The same with a stand-in of 1 after an error, so that the work can go on.
  Node lower_or_one(const Value& value, const Allowed& allowed, const std::string& where,
                    const std::string& place, const std::vector<Index>& indices);
  void report(const Text& text, const std::string& where, const std::vector<expr::Problem>& problems);
  void report_error(Span span, std::string where, std::string message, std::string help = {});
  void error(const Value& value, const std::string& where, std::string message, std::string help = {});
  void error(const Text& text, const std::string& where, std::string message, std::string help = {});
  void note(Span span, const std::string& where, std::string message);
  void warning(Span span, const std::string& where, std::string message, std::string help = {});
  bool is_name(const Text& text, const std::string& where);
  /// Repeats an element: evaluates `each` and `when`. `parent` is its name.
  std::vector<Instance> instances(const std::string& name, const Text& each, const Value* when,
                                  const std::string& where);
  void note_names(const Tree& tree);
  void refuse_primed_parameters(const Tree& tree, const Value& value, const std::string& where);
  std::unordered_map<const Value*, std::unique_ptr<Tree>> trees;
  std::unordered_map<const Value*, bool> broken_trees;
  std::map<std::string, bool, std::less<>> mentioned;  ///< names that occur in some expression

  // --- names (names.cpp) ---
  void declare_functions();
  void declare_names();
  void apply_overrides();
  void evaluate_parameters();
  void expand_coordinates();
  void check_definitions();
  Node parameter_node(int parameter, std::size_t item);
  Node nested_parameter(int parameter, std::size_t item);
  bool add_name(const Text& name, EntityKind kind, int index, const std::string& where);
  void apply_override(const Named& named, const std::string& where);
  bool is_condition(const Tree& tree, int depth = 0) const;
  Tree stand_in_number, stand_in_condition;  ///< bodies of definitions that were reported as broken
  std::map<std::string, Entity, std::less<>> names;
  std::vector<ParameterDraft> parameters;
  std::vector<DefinitionDraft> definitions;
  std::vector<expr::TableId> tables;
  std::vector<CoordinateDraft> coordinates;
  std::vector<StateDraft> states;
  std::vector<FamilyDraft> families;
  struct StartOverride {
    std::string name;
    bool velocity = false;
    std::optional<std::vector<int>> indices;
    const Value* value = nullptr;
    Span span;
    std::string where;
  };
  std::vector<StartOverride> start_overrides;
  std::map<std::pair<std::string, std::uint32_t>, expr::KnownDefinitions> known_definitions;
  bool names_settled = false;                ///< parameters and coordinates are known
  std::vector<std::string> parameter_chain;  ///< names being evaluated, for the message about a cycle

  // --- run, output, start values (options.cpp, start.cpp) ---
  void read_run();
  void read_output();
  std::optional<expr::Number> number(const Value& value, const std::string& where,
                                     const Allowed& allowed = kParameters,
                                     const std::vector<Index>& indices = {});
  void compute_start();
  std::vector<Variable> all_variables(Node node) const;  ///< through the surfaces of switches
  std::vector<double> start_values;                      ///< by Variable
  void set_start(Variable variable, double value);
  bool making_form = false;
  FormParts for_form;  ///< what is found again for other values of open parameters

  // --- equations (energy.cpp, relations.cpp, laws.cpp, derive.cpp) ---
  Node state_rate(int state, std::optional<expr::Forbidden>& cycle);
  Node nested_rate(int state, std::optional<expr::Forbidden>& cycle);
  std::size_t rates_running = 0;
  void read_energy();
  /// An entry of a matrix that is not zero.
  struct Entry {
    std::size_t row = 0, column = 0;
    Node value;
  };
  void read_matrices();
  std::vector<Entry> read_matrix(const Matrix& matrix, const char* key);
  [[nodiscard]] bool matrices_are_large() const;
  void read_large_matrices();
  [[nodiscard]] std::optional<MatrixRows> read_rows(const Matrix& matrix, const char* key);
  void finish_large_matrices();
  void read_load();
  void check_given_mass();
  void read_forces();
  void read_relations();
  void derive_motion();
  void derive_audit();
  Node total_derivative(Node node, bool accelerations);
  /// The coordinate or state that a variable stands for; nothing if it stands for none.
  [[nodiscard]] std::optional<std::size_t> coordinate_at(expr::Variable position) const;
  [[nodiscard]] std::optional<std::size_t> coordinate_moving(expr::Variable velocity) const;
  [[nodiscard]] std::optional<std::size_t> state_of(expr::Variable value) const;
  Node partial_time_and_position(Node node);  ///< ∂/∂t + Σ v ∂/∂q + Σ ż ∂/∂z: the rate at v̇ = 0
  std::vector<Node> velocity_gradient(Node node);
  Node at_rest(Node node);  ///< v = 0
  bool is_zero(Node node) const;
  bool all_zero(const std::vector<Node>& nodes) const;
  bool affine_in_velocities(Node node, const Value& value, const std::string& where, const char* key);
  /// ∂/∂q̇ of the velocity along which a force, a normal force or friction acts; nothing after an error.
  std::optional<std::vector<Node>> acting_direction(const Value& value, const std::string& where,
                                                    const std::string& place, const char* key,
                                                    const std::vector<Index>& indices);
  std::optional<ElementName*> add_element(const std::string& kind, const Text& name, std::size_t count,
                                          int arity);
  void read_contact(RelationDraft& draft);
  /// The gap of one instance as simple gaps (multiple.cpp); one entry for a gap that is simple. Empty after an error.
  std::vector<Node> simple_gaps(const Contact& contact, const std::string& name,
                                const std::vector<Index>& indices);
  /// The gaps of which this one is the smallest; itself where it has no such corner.
  /// `zeros`: of all variables.
  [[nodiscard]] std::optional<PlainGap> plain_gap(const RelationDraft& r, const Relation& made,
                                                  std::span<const double> zeros) const;
  std::vector<Node> least_gaps(const Contact& contact, Node gap);
  bool take_corners_apart(const Contact& contact, std::vector<std::vector<Node>>& gaps, std::size_t& parts);
  void read_constraint(RelationDraft& draft);
  void read_slip(RelationDraft& draft, const std::vector<Value>& slip, const std::vector<Value>& drag,
                 int most);
  void read_impact(RelationDraft& draft);
  void read_compliance(RelationDraft& draft);
  using Reaction = std::pair<Variable, std::size_t>;  ///< λ_N and its relation
  void read_joint_normal(RelationDraft& draft, const std::vector<Reaction>& reactions);
  void read_law(RelationDraft& draft, const FrictionLaw& law);
  template <class Read>
  std::vector<Node> curve_nodes(const FrictionLaw& law, const Read& read);
  int add_bristle(RelationDraft& draft, Node rate, const std::string& suffix);

  std::optional<Variable> any_side;  ///< for Graph::extreme, where it was asked
  Variable t = 0;
  Variable approach = 0, energy_start = 0;
  Node kinetic, potential, dissipation, energy, lagrangian_time;
  std::vector<Node> mass;  ///< n×n; empty where the matrices are large
  std::shared_ptr<LargeMatrices> large;
  Variable large_kinetic = 0, large_potential = 0;
  std::size_t large_damping = 0;   ///< audit element of its damping
  std::vector<Node> force;         ///< h
  std::vector<Node> matrix_force;  ///< −C v − K q + load, by coordinate
  std::vector<Entry> given_mass;   ///< of [matrices], by rows
  Node matrix_potential, damping_power, skew_power, load_power;
  std::vector<ForceDraft> forces;
  std::vector<RelationDraft> relations;
  std::vector<AuditDraft> audits;
  std::map<std::string, ElementName, std::less<>> elements;
  std::map<std::string, std::string, std::less<>> left_out;  ///< elements removed by `when`: kind

  // --- outputs (outputs.cpp) ---
  void read_columns();
  void read_watches();
  void read_drawings();  // drawings.cpp
  void read_drawing(const Draw& drawing, const std::string& where);
  /// Which column a component of an arrow shows; false: a message has been given.
  bool read_arrow_component(const Value& value, const std::string& where, int& column, double& sign);
  std::vector<Node> drawing_nodes;
  std::vector<DrawingInfo> drawing_infos;
  std::vector<Node> column_nodes;
  std::vector<ColumnInfo> column_infos;
  struct WatchDraft {
    WatchInfo info;
    Node value;
  };
  std::vector<WatchDraft> watches;

  // --- the System (assemble.cpp, checks.cpp; relation_assembly.cpp and start_check.cpp below) ---
  void check_structure();
  void assemble();
  void count_places();
  void place_variables();
  void place_audits();
  void build_motion(const std::vector<Node>& rates, const std::vector<Variable>& directions);
  void build_jacobian(const std::vector<Node>& rates, const std::vector<Variable>& directions);
  void build_outputs(const std::vector<Variable>& directions);
  void measure_memory();
  [[nodiscard]] System::Data& data() { return *system.data_; }
  [[nodiscard]] std::vector<Node> find_mass_pattern();
  /// What went wrong in a function from outside, as an error; false: nothing did.
  bool report_outside(const expr::OutsideWatch& watch, int function);
  void check_dissipation();
  void warn_unused();
  void collect_switches();
  void collect_observed();
  void build_watches(const std::vector<Variable>& directions);
  [[nodiscard]] bool reads_works(Node node) const;
  [[nodiscard]] bool damped_massless(const std::vector<Node>& balance, std::size_t i) const;
  void find_time_and_cyclic(const std::vector<Node>& moving);
  void link_switches();
  void find_live_switches();
  void build_surface_rates(const std::vector<Variable>& directions);
  void find_instants();
  [[nodiscard]] bool on_massless(const RelationDraft& relation) const;
  void build_massless();
  void recognise_linear();  ///< linear.cpp
  void link_forces();       ///< linked.cpp
  void start_inputs();
  expr::Program program(std::span<const Node> outputs, expr::Sides sides = expr::Sides::given) const;
  bool quasi_static() const;
  std::vector<expr::SwitchId> used_switches;
  std::vector<expr::SwitchId> observed_switches;  ///< of watches alone
  std::vector<expr::SwitchKind> moving_kinds;     ///< by switch, before outputs are read: they change no run
  std::vector<Node> evaluated_nodes;              ///< all that a run evaluates, but for outputs
  std::vector<Node> power_nodes;
  bool powers_with_motion = false;  ///< they see what forces see: time, state and sides
  std::vector<int> tangent_count;
  expr::InputMap map;
  System system;
};

void check_start(Builder& builder);  ///< start_check.cpp
/// `reads`: by variable, whether the rates read it. relation_assembly.cpp
void assemble_relations(Builder& builder, const std::vector<bool>& reads);

/// " (did you mean 'x'?)" or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);
/// The same, or all of them where none is near.
std::string suggestion_or_list(std::string_view word, const std::vector<std::string>& candidates);
std::string quoted(std::string_view word);
/// sin, normal, …: what formulas can call without a definition.
[[nodiscard]] bool is_function_of_language(std::string_view name);
/// Whether a number has no fraction.
[[nodiscard]] bool is_whole(const expr::Number& number);

}  // namespace judder::model
