#include "judder/model/compile.hpp"

#include "model/builder.hpp"

namespace judder::model {

namespace {

std::string whole(double number) { return std::to_string(static_cast<long>(number)); }

}  // namespace

Builder::Builder(const Spec& spec_in, const CompileOptions& options_in, Work& budget_in)
    : spec(spec_in), options(options_in), budget(budget_in) {
  t = graph.declare("t");
  approach = graph.declare("speed");
  energy_start = graph.declare("energy(start)");
  stand_in_number.value = 1;
  stand_in_condition.kind = expr::Kind::less;
  stand_in_condition.children.resize(2);
}

void Builder::read() {
  graph.limit(&budget);
  result.title = spec.title.text;
  declare_names();
  parse_all();
  apply_overrides();
  evaluate_parameters();
  read_run();
  expand_coordinates();
  names_settled = true;
  check_definitions();
  compute_start();
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::optional<expr::Forbidden> cycle;
    state_rate(static_cast<int>(i), cycle);
  }
  read_energy();
  read_matrices();
  read_forces();
  read_relations();
  derive_motion();
  derive_audit();
  for (const expr::Switch& each : graph.switches()) moving_kinds.push_back(each.kind);
  read_output();
  read_columns();
  read_watches();
  read_drawings();
}

bool Builder::report_outside(const expr::OutsideWatch& watch, int function) {
  if (function < 0) return false;
  report_error({}, "function " + quoted(graph.outside()[static_cast<std::size_t>(function)].name),
               watch.words(function) + " at the start");
  return true;
}

Compiled Builder::build() {
  read();
  const expr::OutsideWatch watch(graph.outside());
  const auto sound = [this] { return !options.damaged && !result.diagnostics.has_errors(); };
  if (sound()) warn_unused();  // a text that could not be read may use it
  if (sound()) check_structure();
  if (sound()) assemble();
  if (sound()) {
    check_start(*this);
    if (!report_outside(watch, watch.failed()) && !sound()) report_outside(watch, watch.not_a_number());
  }
  if (sound()) check_dissipation();
  graph.limit(nullptr);
  result.work = budget.spent();
  if (sound()) {
    system.data_->graph = std::move(graph);
    result.system.emplace(std::move(system));
  }
  return std::move(result);
}

std::optional<Form> Builder::build_form() {
  making_form = true;
  read();
  const auto sound = [this] { return !result.diagnostics.has_errors(); };
  if (sound()) check_structure();
  if (sound()) assemble();
  graph.limit(nullptr);
  if (!sound()) return std::nullopt;
  Form made;
  made.data_ = std::make_unique<Form::Data>();
  Form::Data& d = *made.data_;
  d.t = t;
  d.run = result.run;
  d.start_values = start_values;
  d.start_values.resize(graph.variable_count(), 0.0);
  std::vector<Node> compared;
  for (const RelationDraft& r : relations) {
    for (const TangentDraft& row : r.slip) {
      compared.push_back(row.mu);
      compared.push_back(row.mu_static);
    }
  }
  d.alike = graph.alike(compared);
  d.parts = std::move(for_form);
  system.data_->graph = std::move(graph);
  d.open = std::move(system);
  return made;
}

Compiled Builder::stopped(const WorkStopped& stop) {
  graph.limit(nullptr);
  result.work = budget.spent();
  if (stop.reason == WorkStopped::Reason::cancelled) {
    result.cancelled = true;
    result.diagnostics.error({}, "", "interrupted while the model was compiled");
    return std::move(result);
  }
  if (stop.reason == WorkStopped::Reason::errors) {
    result.diagnostics.add({Severity::note,
                            {},
                            "",
                            "there are more than " + std::to_string(budget.limits().errors) +
                                " errors; the rest of the model was not read",
                            "",
                            ""});
    return std::move(result);
  }
  Cost worst;
  if (const auto at = costs.find(reading); reading != nullptr && at != costs.end()) {
    worst = at->second;
  } else {
    for (const auto& [text, cost] : costs) {
      const bool first = cost.spent == worst.spent && cost.span.begin < worst.span.begin;
      if (cost.spent > worst.spent || first) worst = cost;
    }
  }
  if (worst.where.empty()) worst = widest();
  const std::string most = worst.where.empty() ? "" : ", most of them for this";
  if (stop.reason == WorkStopped::Reason::letters) {
    result.diagnostics.error(
        worst.span, worst.where,
        "the model is too large to compile: its names have more than " + whole(budget.limits().letters) +
            " letters" + most,
        "'each' writes the name for every element; choose a shorter one, or allow ten times as much "
        "with --work 10");
    return std::move(result);
  }
  const bool memory = stop.reason == WorkStopped::Reason::nodes;
  const double limit = memory ? budget.limits().nodes : budget.limits().operations;
  result.diagnostics.error(
      worst.span, worst.where,
      std::string("the model is too large to compile: it needs more than ") + whole(limit) +
          (memory ? " formulas" : " operations") + most,
      "primes, brackets that are multiplied, min, max and if inside one another multiply their parts; "
      "write it shorter, or allow ten times as much with --work 10");
  return std::move(result);
}

// No text was read when the work ran out: what is counted are the members of families, and the widest is the first that says how many.
Builder::Cost Builder::widest() const {
  Cost found;
  const auto look = [&](const auto& family, const char* word) {
    for (const auto& element : family) {
      if (!found.span.empty() && (found.spent > 0 || element.each.empty())) continue;
      const Span place = element.each.empty() ? element.name.span : element.each.span;
      found = {place, word + quoted(element.name.text), element.each.empty() ? 0.0 : 1.0};
    }
  };
  look(spec.coordinates, "coordinate ");
  look(spec.states, "state ");
  look(spec.contacts, "contact ");
  look(spec.joints, "friction joint ");
  look(spec.constraints, "constraint ");
  return found;
}

CompiledForm compile_form(const Spec& spec, const std::vector<std::string>& open,
                          const CompileOptions& options) {
  CompiledForm out;
  CompileOptions how = options;
  how.open = open;
  // Beside the values of the file a model may be none: a restitution of 1 must not grow, and two coefficients must not change places.
  constexpr int kAttempts = 4;
  for (how.attempt = 0; how.attempt < kAttempts; ++how.attempt) {
    Work budget(how.work, how.cancel);
    Builder builder(spec, how, budget);
    Diagnostics said;
    try {
      out.form = builder.build_form();
      said = std::move(builder.result.diagnostics);
    } catch (const WorkStopped& stop) {
      said = builder.stopped(stop).diagnostics;
    }
    // What must not be open first: errors may be nothing but its consequence.
    const expr::Tape* tape = out.form ? out.form->tape() : builder.graph.tape();
    if (tape != nullptr && !tape->fixed().empty()) {
      out.form.reset();
      out.diagnostics = {};
      for (const expr::Tape::Fixed& fixed : tape->fixed()) {
        out.diagnostics.error(fixed.span, fixed.where,
                              "the parameter " + quoted(tape->names()[fixed.parameter]) +
                                  " cannot be left open: its value decides " + fixed.why,
                              "set it by compiling the model for it");
      }
      return out;
    }
    out.diagnostics = {};
    if (out.form) return out;
    for (const Diagnostic& each : said.all()) {
      if (each.severity == Severity::error) out.diagnostics.add(each);
    }
  }
  return out;
}

Compiled compile(const Spec& spec, const CompileOptions& options) {
  Work budget(options.work, options.cancel);
  Builder builder(spec, options, budget);
  try {
    return builder.build();
  } catch (const WorkStopped& stop) {
    return builder.stopped(stop);
  }
}

}  // namespace judder::model
