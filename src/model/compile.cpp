#include "judder/model/compile.hpp"

#include "model/builder.hpp"

namespace judder::model {

Builder::Builder(const Spec& spec_in, const CompileOptions& options_in) : spec(spec_in), options(options_in) {
  t = graph.declare("t");
  approach = graph.declare("speed");
  energy_start = graph.declare("energy(start)");
  stand_in_number.value = 1;
  stand_in_condition.kind = expr::Kind::less;
  stand_in_condition.children.resize(2);
}

Compiled Builder::build() {
  result.title = spec.title.text;
  declare_names();
  parse_all();
  apply_overrides();
  evaluate_parameters();
  read_run();
  expand_coordinates();
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
  warn_unused();
  if (!result.diagnostics.has_errors()) check_structure();
  if (!result.diagnostics.has_errors()) assemble();
  if (!result.diagnostics.has_errors()) check_start();
  if (!result.diagnostics.has_errors()) check_dissipation();
  if (!result.diagnostics.has_errors()) {
    system.data_->graph = std::move(graph);
    result.system.emplace(std::move(system));
  }
  return std::move(result);
}

Compiled compile(const Spec& spec, const CompileOptions& options) { return Builder(spec, options).build(); }

}  // namespace judder::model
