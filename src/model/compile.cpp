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

Compiled Builder::build() {
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
  const auto sound = [this] { return !options.damaged && !result.diagnostics.has_errors(); };
  if (sound()) warn_unused();  // a text that could not be read may use it
  if (sound()) check_structure();
  if (sound()) assemble();
  if (sound()) check_start();
  if (sound()) check_dissipation();
  graph.limit(nullptr);
  result.work = budget.spent();
  if (sound()) {
    system.data_->graph = std::move(graph);
    result.system.emplace(std::move(system));
  }
  return std::move(result);
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
