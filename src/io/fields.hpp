// The model file, key by key: the one description from which the reader, the writer, the JSON schema and the reference
// page (docs/model-file.md) are made. A new key is added here, to the struct in model/spec.hpp, and nowhere else in io.
//
// `fields(visit, object)` calls visit(field, member) for every key of a table; the type of the member says what may stand
// there, the Field says the rest. `sections(visit, spec)` does the same for the tables of a file:
//
//     visit(field, member)        a key
//     visit.map(field, vector)    [name] with keys chosen by the author
//     visit.table(field, object)  [name] with fixed keys
//     visit.list(field, vector)   [[name]]
//
// The order is that of the reference page and of written files.
#pragma once

#include <string>
#include <vector>

#include "judder/core/laws.hpp"
#include "judder/engines/registry.hpp"
#include "judder/model/spec.hpp"

namespace judder::io {

using Words = std::vector<std::string>;

struct Field {
  std::string name;
  std::string doc{};  ///< one or two sentences
  bool required = false;
  std::string fallback{};   ///< what holds when the key is left out; empty: nothing
  Words words{};            ///< the texts allowed
  bool selects = false;     ///< the word of this key decides which other keys belong (`type`, `shape`)
  Words applies{};          ///< belongs only to these words of the selecting key; empty: to all
  Words needed{};           ///< required for these words of the selecting key
  int least = 1, most = 1;  ///< number of values of a list
  bool bare = false;        ///< a list of one may stand without brackets
  bool is_name = false;     ///< a name of the expression language
  Words also{};             ///< what others call it, for suggestions
};

// --- laws ---

template <class Visit>
void fields(Visit& visit, model::FrictionLaw& law) {
  const auto of = [](FrictionKey key) { return friction_words(key); };
  visit({.name = "type",
         .doc = "Which law.",
         .fallback = "coulomb",
         .words = friction_words(),
         .selects = true},
        law.type);
  visit({.name = "mu",
         .doc = "Coefficient of friction, per unit of normal force; may be an expression of `speed`."},
        law.mu);
  visit({.name = "static", .doc = "Coefficient at rest; with `dynamic`, instead of `mu`."},
        law.static_coefficient);
  visit({.name = "dynamic", .doc = "Coefficient of fast slip; with `static`, instead of `mu`."}, law.dynamic);
  visit({.name = "velocity",
         .doc = "Slip speed over which `static` falls to `dynamic`: "
                "mu = dynamic + (static - dynamic) exp(-(speed/velocity)^exponent). Without it the "
                "coefficient jumps."},
        law.velocity);
  visit({.name = "exponent", .doc = "Exponent of that fall.", .fallback = "2"}, law.exponent);
  visit({.name = "viscous",
         .doc = "Adds -viscous times the slip velocity; a force per velocity, not per normal force.",
         .fallback = "0"},
        law.viscous);
  visit({.name = "stiffness",
         .doc = "Of the bristle, per unit of normal force; for `penalty` of the sticking spring, in N/m.",
         .applies = of(FrictionKey::stiffness),
         .needed = of(FrictionKey::stiffness)},
        law.stiffness);
  visit({.name = "damping",
         .doc = "Of the bristle, per unit of normal force, may be an expression of `speed`; for `penalty` in "
                "N s/m.",
         .applies = of(FrictionKey::damping),
         .needed = of(FrictionKey::damping)},
        law.damping);
  visit({.name = "breakaway",
         .doc = "Bristle deflection below which nothing slips.",
         .applies = of(FrictionKey::breakaway),
         .needed = of(FrictionKey::breakaway)},
        law.breakaway);
  visit({.name = "beta",
         .doc = "Steepness: the force is -N mu (2/pi) atan(beta slip).",
         .applies = of(FrictionKey::beta),
         .needed = of(FrictionKey::beta)},
        law.beta);
}

template <class Visit>
void fields(Visit& visit, model::ImpactLaw& law) {
  visit({.name = "type",
         .doc = "Which law: `moreau` solves all closed contacts at once; the others follow the impulse of "
                "one contact.",
         .fallback = "moreau",
         .words = impact_words()},
        law.type);
  visit({.name = "restitution",
         .doc = "Coefficient of restitution in [0, 1]; may be an expression of the approach `speed`.",
         .fallback = "0"},
        law.restitution);
  visit({.name = "tangential",
         .doc = "λ: replaces Coulomb's law in the impulses by slip after = λ slip before."},
        law.tangential);
  visit({.name = "friction", .doc = "`false` leaves friction out of the impulses.", .fallback = "true"},
        law.friction);
  visit({.name = "stiffness",
         .doc = "Relative stiffness of this contact where several share one impact.",
         .fallback = "1"},
        law.stiffness);
  visit({.name = "exponent",
         .doc = "Exponent of its force law in a shared impact: 1 linear, 1.5 Hertz.",
         .fallback = "1"},
        law.exponent);
}

template <class Visit>
void fields(Visit& visit, model::Compliance& compliance) {
  visit({.name = "stiffness", .doc = "Force at penetration 1.", .required = true}, compliance.stiffness);
  visit({.name = "damping", .doc = "Force per velocity of penetration.", .fallback = "0"},
        compliance.damping);
  visit({.name = "exponent", .doc = "Of the penetration; 1.5 is Hertz.", .fallback = "1"},
        compliance.exponent);
}

// --- elements ---

template <class Visit, class Element>
void repetition(Visit& visit, Element& element) {
  visit({.name = "each",
         .doc = "Makes one element per index: `\"i = 1 to n\"`, `\"i = 1 to n, j = i + 1 to n\"`."},
        element.each);
  visit({.name = "when", .doc = "A condition on parameters and indices; false leaves the element out."},
        element.when);
}

template <class Visit>
void fields(Visit& visit, model::Force& force) {
  visit({.name = "name",
         .doc = "Its name in events and in `supplied(NAME)`.",
         .fallback = "force1, force2 and so on",
         .is_name = true},
        force.name);
  visit({.name = "along",
         .doc = "The velocity on which the force acts; affine in the velocities.",
         .required = true},
        force.along);
  visit({.name = "value", .doc = "The force; positive pushes `along` up.", .required = true}, force.value);
  repetition(visit, force);
}

template <class Visit>
void fields(Visit& visit, model::Joint& joint) {
  visit({.name = "name",
         .doc = "Its name in messages, events and `tangent(NAME)`.",
         .required = true,
         .is_name = true},
        joint.name);
  visit({.name = "slip",
         .doc = "Slip velocity, affine in the velocities; or a list of components along orthogonal "
                "directions, of which a spin may be the third, scaled by its lever; the engines with fixed "
                "steps and `judder impact` "
                "take these.",
         .required = true,
         .least = 1,
         .most = 3,
         .bare = true},
        joint.slip);
  visit({.name = "normal",
         .doc = "The known normal force, never negative; may use `normal(contact)` times factors that are "
                "not negative.",
         .required = true},
        joint.normal);
  visit({.name = "law",
         .doc = "Friction law, or a value: Coulomb's coefficient.",
         .required = true,
         .also = {"friction", "mu"}},
        joint.law);
  repetition(visit, joint);
}

template <class Visit>
void fields(Visit& visit, model::Contact& contact) {
  visit({.name = "name",
         .doc = "Its name in messages, events and `normal(NAME)`.",
         .required = true,
         .is_name = true},
        contact.name);
  visit({.name = "gap",
         .doc = "Distance as a function of coordinates and time; the contact keeps it ≥ 0. A product is "
                "split into its factors, the smallest of several into these.",
         .required = true},
        contact.gap);
  visit({.name = "slip",
         .doc = "Slip velocity, affine in the velocities; or a list of components along orthogonal "
                "directions, of which a spin may be the third, scaled by its lever; the engines with fixed "
                "steps and `judder impact` "
                "take these.",
         .least = 1,
         .most = 3,
         .bare = true},
        contact.slip);
  visit({.name = "friction",
         .doc = "Friction law, or a value: Coulomb's coefficient.",
         .fallback = "no friction",
         .also = {"mu", "law"}},
        contact.friction);
  visit({.name = "impact",
         .doc = "Impact law, or a value: the restitution.",
         .fallback = "0",
         .also = {"restitution", "e"}},
        contact.impact);
  visit({.name = "compliant",
         .doc = "A spring and damper instead of the rigid law: λ_N = max(0, stiffness d^exponent + damping "
                "ḋ), d = -gap > 0. "
                "The gap may start negative."},
        contact.compliant);
  visit({.name = "push",
         .doc = "Velocity along which the normal force acts, where it is not the rate of `gap` (small-angle "
                "models)."},
        contact.push);
  visit({.name = "drag",
         .doc = "Velocity along which friction acts, where it is not `slip`; as many as `slip` has.",
         .least = 1,
         .most = 3,
         .bare = true},
        contact.drag);
  repetition(visit, contact);
}

template <class Visit>
void fields(Visit& visit, model::Constraint& constraint) {
  visit({.name = "name",
         .doc = "Its name in messages, events and `normal(NAME)`.",
         .required = true,
         .is_name = true},
        constraint.name);
  visit({.name = "zero",
         .doc = "Function of coordinates and time that is kept at zero. Either this or `velocity`."},
        constraint.zero);
  visit({.name = "velocity", .doc = "Velocity, affine in the velocities, that is kept at zero."},
        constraint.velocity);
  visit({.name = "slip",
         .doc = "Slip velocity of its friction; or a list of components, which engines with fixed steps and "
                "`judder impact` take.",
         .least = 1,
         .most = 3,
         .bare = true},
        constraint.slip);
  visit({.name = "friction",
         .doc = "Friction law, or a value: the coefficient. Its limit is that times the magnitude of the "
                "multiplier.",
         .fallback = "no friction"},
        constraint.friction);
  repetition(visit, constraint);
}

template <class Visit>
void fields(Visit& visit, model::Watch& watch) {
  visit({.name = "name", .doc = "Its name in the event list.", .required = true, .is_name = true},
        watch.name);
  visit({.name = "zero", .doc = "Expression whose change of sign is listed as an event.", .required = true},
        watch.zero);
  visit({.name = "direction",
         .doc = "Which changes count.",
         .fallback = "both",
         .words = {"both", "up", "down"}},
        watch.direction);
  visit({.name = "stop", .doc = "`true`, or n: the run ends at the n-th.", .fallback = "false"}, watch.stop);
  repetition(visit, watch);
}

template <class Visit>
void fields(Visit& visit, model::Draw& draw) {
  visit({.name = "shape",
         .doc = "What is drawn.",
         .required = true,
         .words = {"circle", "box", "polygon", "line", "spring", "ground", "belt", "arrow"},
         .selects = true},
        draw.shape);
  visit({.name = "at",
         .doc = "Centre (of a polygon: origin of its points; of an arrow: where it begins).",
         .applies = {"circle", "box", "polygon", "arrow"},
         .needed = {"circle", "box", "arrow"},
         .least = 2,
         .most = 2},
        draw.at);
  visit({.name = "radius", .doc = "Radius.", .applies = {"circle"}, .needed = {"circle"}}, draw.radius);
  visit({.name = "size",
         .doc = "Width and height.",
         .applies = {"box"},
         .needed = {"box"},
         .least = 2,
         .most = 2},
        draw.size);
  visit({.name = "points",
         .doc = "Corners.",
         .applies = {"polygon"},
         .needed = {"polygon"},
         .least = 2,
         .most = 1000},
        draw.points);
  visit({.name = "turn",
         .doc = "Angle, counter-clockwise.",
         .fallback = "0",
         .applies = {"circle", "box", "polygon"}},
        draw.turn);
  visit({.name = "from",
         .doc = "One end. The ground is hatched on the right of the way from here to there, a belt runs on "
                "the left.",
         .applies = {"line", "spring", "ground", "belt"},
         .needed = {"line", "spring", "ground", "belt"},
         .least = 2,
         .most = 2},
        draw.from);
  visit({.name = "to",
         .doc = "Other end.",
         .applies = {"line", "spring", "ground", "belt"},
         .needed = {"line", "spring", "ground", "belt"},
         .least = 2,
         .most = 2},
        draw.to);
  visit({.name = "shift",
         .doc = "How far the marks on it have moved towards `to`.",
         .fallback = "0",
         .applies = {"belt"}},
        draw.shift);
  visit({.name = "force",
         .doc = "Its two components: names of output columns, `-` before a name turns it round, 0 for none. "
                "All arrows of a "
                "drawing have one scale.",
         .applies = {"arrow"},
         .needed = {"arrow"},
         .least = 2,
         .most = 2},
        draw.force);
  visit({.name = "of", .doc = "Contact, joint or constraint whose status (open, stick, slip) colours it."},
        draw.of);
  repetition(visit, draw);
}

// --- members of maps and fixed tables ---

template <class Visit>
void fields(Visit& visit, model::Table& table) {
  visit({.name = "x", .doc = "Places, ascending; with `y`, or both from `file`.", .least = 1, .most = 100000},
        table.x);
  visit({.name = "y", .doc = "Values, as many as `x`.", .least = 1, .most = 100000}, table.y);
  visit({.name = "file",
         .doc = "CSV file of two columns, beside the model file; a first row of names is passed over."},
        table.file);
  visit({.name = "between",
         .doc = "How values between two places are found. `cubic` is the spline with continuous second "
                "derivative (not-a-knot at the ends; a straight line through two points, a parabola through "
                "three); it may overshoot the points.",
         .fallback = "linear",
         .words = {"linear", "step", "cubic"}},
        table.between);
  visit({.name = "outside",
         .doc = "What holds beyond the ends.",
         .fallback = "error",
         .words = {"error", "hold", "zero"}},
        table.outside);
}

template <class Visit>
void fields(Visit& visit, model::Coordinate& coordinate) {
  visit({.name = "start", .doc = "Position at the start.", .fallback = "0", .also = {"initial", "position"}},
        coordinate.start);
  visit({.name = "velocity", .doc = "Velocity at the start.", .fallback = "0"}, coordinate.velocity);
  visit({.name = "massless",
         .doc = "`true`: obeys \"sum of forces = 0\" instead of an equation of motion.",
         .fallback = "false"},
        coordinate.massless);
  visit({.name = "scale", .doc = "Size below which errors of this coordinate do not matter."},
        coordinate.scale);
  visit({.name = "each", .doc = "Makes one coordinate per index, `x[1]`, `x[2]`, …: `\"i = 1 to n\"`."},
        coordinate.each);
  visit({.name = "unit", .doc = "For axes of pictures; nothing is converted."}, coordinate.unit);
  visit({.name = "label", .doc = "Its name in pictures, in LaTeX."}, coordinate.label);
}

/// Of a parameter that is written as a table.
template <class Visit>
void fields(Visit& visit, model::Parameter& parameter) {
  visit({.name = "value", .doc = "The value.", .required = true}, parameter.value);
  visit({.name = "range",
         .doc = "Smallest and largest value, for sliders and sweeps; two numbers, the first smaller.",
         .least = 2,
         .most = 2},
        parameter.range);
  visit({.name = "unit", .doc = "For tables and pictures; nothing is converted."}, parameter.unit);
  visit({.name = "label", .doc = "Its name in pictures, in LaTeX."}, parameter.label);
}

/// Of a column that is written as a table.
template <class Visit>
void fields(Visit& visit, model::OutputColumn& column) {
  visit({.name = "value", .doc = "The expression.", .required = true}, column.value);
  visit({.name = "unit", .doc = "For axes of pictures; nothing is converted."}, column.unit);
  visit({.name = "label", .doc = "Its name in pictures, in LaTeX."}, column.label);
}

template <class Visit>
void fields(Visit& visit, model::StateVariable& state) {
  visit({.name = "start", .doc = "Value at the start.", .required = true}, state.start);
  visit({.name = "rate", .doc = "Its time derivative.", .required = true}, state.rate);
  visit({.name = "each", .doc = "Makes one state per index: `\"i = 1 to n\"`."}, state.each);
}

template <class Visit>
void fields(Visit& visit, model::Energy& energy) {
  visit({.name = "kinetic", .doc = "At most quadratic in the velocities."}, energy.kinetic);
  visit({.name = "potential", .doc = "Function of coordinates, states and time."}, energy.potential);
  visit({.name = "dissipation", .doc = "D: adds the force -∂D/∂v. A damper of constant c is c/2*x'^2."},
        energy.dissipation);
}

template <class Visit>
void fields(Visit& visit, model::Matrices& matrices) {
  visit({.name = "mass", .doc = "Added to the inertia; rows in the order of the coordinates."},
        matrices.mass);
  visit({.name = "damping", .doc = "C: adds the force -C q'. Need not be symmetric."}, matrices.damping);
  visit({.name = "stiffness", .doc = "K: adds the force -K q. Need not be symmetric."}, matrices.stiffness);
  visit({.name = "load", .doc = "One force per coordinate, functions of t; a list.", .bare = true},
        matrices.load);
}

/// Engines by name, and the options that [run] holds for them.
struct EngineFields {
  std::string name;
  bool table = false;            ///< has a table in [run]
  std::vector<Field> options{};  ///< numbers, or one of `words`
};

inline std::vector<EngineFields> engine_fields() {
  std::vector<EngineFields> out;
  for (const model::EngineWords& engine : engines::engine_words()) {
    EngineFields fields{.name = engine.name, .table = !engine.options.empty()};
    for (const model::OptionField& option : engine.options) {
      Field field{.name = option.name, .doc = option.doc};
      field.fallback = option.fallback;
      field.words = option.words;
      fields.options.push_back(std::move(field));
    }
    out.push_back(std::move(fields));
  }
  return out;
}

inline Words engine_names() {
  Words names;
  for (const EngineFields& engine : engine_fields()) names.push_back(engine.name);
  return names;
}

template <class Visit>
void fields(Visit& visit, model::Run& run) {
  visit({.name = "from", .doc = "Time at the start.", .fallback = "0"}, run.from);
  visit({.name = "until", .doc = "Time at the end.", .also = {"end", "to", "duration"}}, run.until);
  visit({.name = "engine", .doc = "The method.", .fallback = "event", .words = engine_names()}, run.engine);
  visit({.name = "tolerance", .doc = "Error allowed per step.", .fallback = "1e-9"}, run.tolerance);
  visit({.name = "step", .doc = "Fixed step of `event`; it switches error control off."}, run.step);
  visit({.name = "max_step", .doc = "Longest step.", .fallback = "unlimited"}, run.max_step);
  visit({.name = "method",
         .doc = "Integrator of the event engine.",
         .fallback = "auto",
         .words = {"auto", "explicit", "stiff"}},
        run.method);
  visit({.name = "max_events", .doc = "More events end the run with that reason.", .fallback = "1e6"},
        run.max_events);
  visit({.name = "on_accumulation",
         .doc = "Infinitely many events: close the contact and go on, or stop.",
         .fallback = "finish",
         .words = {"finish", "stop"}},
        run.on_accumulation);
  visit({.name = "on_painleve",
         .doc = "No finite reaction, or several.",
         .fallback = "stop",
         .words = {"stop", "tangential-impact", "choose"}},
        run.on_painleve);
  visit({.name = "on_indeterminate",
         .doc = "A switch whose two sides push away: stop, or stay on its surface.",
         .fallback = "stop",
         .words = {"stop", "stay"}},
        run.on_indeterminate);
  visit({.name = "solver",
         .doc = "Solver of the contact problems; so far the engines choose it themselves.",
         .fallback = "auto",
         .words = {"auto"}},
        run.solver);
  visit({.name = "solver_tolerance",
         .doc = "Residual allowed in the contact problems; no engine uses it yet.",
         .fallback = "1e-10"},
        run.solver_tolerance);
  visit({.name = "", .doc = "Options of the engine of that name, read by it alone."}, run.engines);
}

template <class Visit>
void fields(Visit& visit, model::Output& output) {
  visit({.name = "columns",
         .doc = "name = expression, or { value, unit, label }: further columns of trajectory.csv. Names are "
                "free text "
                "without comma and quote."},
        output.columns);
  visit({.name = "samples", .doc = "Rows at equal times, both ends included.", .fallback = "1001"},
        output.samples);
  visit({.name = "every", .doc = "Time between rows, instead of `samples`."}, output.every);
  visit({.name = "event_rows", .doc = "The two rows at each event.", .fallback = "true"}, output.event_rows);
  visit({.name = "switches", .doc = "List `switch` events.", .fallback = "true"}, output.switches);
  visit({.name = "coordinates",
         .doc = "Coordinates and velocities in the rows of trajectory.csv and events.csv. `false` leaves "
                "them out, where there are thousands; "
                "the whole state is in state.json all the same.",
         .fallback = "true"},
        output.coordinates);
  visit({.name = "plots",
         .doc = "Column lists, first the abscissa: `[[\"x\", \"x'\"], [\"t\", \"N\"]]`. A name with `each` "
                "stands for all its members."},
        output.plots);
}

// --- the file ---

template <class Visit>
void sections(Visit& visit, model::Spec& spec) {
  visit({.name = "title", .doc = "One line."}, spec.title);
  visit({.name = "description", .doc = "As long as it needs to be."}, spec.description);
  visit({.name = "source", .doc = "Where the model comes from."}, spec.source);
  visit.map({.name = "parameters",
             .doc = "name = value, a list of values, a list of equal lists (used as `a[i]`, `B[i,j]`, "
                    "counted from 1), or "
                    "`{ file = \"data.csv\" }` (CSV or Matrix Market). Expressions of other parameters, in "
                    "any order. A scalar may be a table, with what pictures and sliders want to know."},
            spec.parameters);
  visit.map({.name = "definitions",
             .doc = "name = value or condition: a shorthand. `\"name(a, b)\"` = the same with arguments. No "
                    "recursion."},
            spec.definitions);
  visit.map({.name = "tables", .doc = "Functions given by points, called as `name(argument)`."}, spec.tables);
  visit.map({.name = "coordinates", .doc = "name = start value, or a table."}, spec.coordinates);
  visit.map({.name = "state", .doc = "First-order states: bristles, motors, filters.", .also = {"states"}},
            spec.states);
  visit.table({.name = "energy", .doc = "The equations of motion follow from these by differentiation."},
              spec.energy);
  visit.table({.name = "matrices",
               .doc = "Lists of lists of values, or the name of a Matrix Market file. They add to the "
                      "energies. Of a file in coordinate form "
                      "only the listed entries are stored; there may be a million of them. With more than "
                      "1000 coordinates such "
                      "matrices stay numbers: they must be symmetric, `kinetic` is left out, and the engines "
                      "`moreau`, `theta`, "
                      "`newmark` and `paoli-schatzman` run the model ([docs/stepping.md](stepping.md))."},
              spec.matrices);
  visit.list({.name = "force", .doc = "A force along a velocity."}, spec.forces);
  visit.list({.name = "friction", .doc = "A friction joint: a slip velocity with a known normal force."},
             spec.joints);
  visit.list({.name = "contact", .doc = "A unilateral contact: gap ≥ 0, with friction and impact."},
             spec.contacts);
  visit.list({.name = "constraint", .doc = "A bilateral constraint."}, spec.constraints);
  visit.list({.name = "watch", .doc = "A sign change to be listed; it has no influence on the motion."},
             spec.watches);
  visit.list({.name = "draw",
              .doc = "Shapes for the animation of the motion (`judder report`). Points are two values."},
             spec.drawings);
  visit.map({.name = "variants",
             .doc = "name = { parameter or start value = value, …, `title` }, for `--variant NAME`. Start "
                    "values are written "
                    "`x`, `\"x'\"`, `z`."},
            spec.variants);
  visit.table({.name = "run", .doc = "How long, and by which method."}, spec.run);
  visit.table({.name = "output", .doc = "What is written."}, spec.output);
}

}  // namespace judder::io
