#include "judder/simulate/told.hpp"

#include <algorithm>
#include <cmath>

namespace judder::simulate {

void load_told(const model::System& system, const engines::ToldPoint& told, model::Workspace& work) {
  const model::Layout& layout = system.layout();
  double* const in = work.in.data();
  std::copy_n(told.in.begin(), layout.acceleration(), in);
  std::copy(told.acceleration.begin(), told.acceleration.end(), in + layout.acceleration());
  std::copy(told.normal.begin(), told.normal.end(), in + layout.normal());
  std::copy(told.tangent.begin(), told.tangent.end(), in + layout.tangent());
  in[layout.initial_energy()] = told.in[static_cast<std::size_t>(layout.initial_energy())];
  if (told.dissipated.size() != system.audits().size()) return;
  std::copy(told.dissipated.begin(), told.dissipated.end(), in + layout.dissipated());
  std::copy(told.supplied.begin(), told.supplied.end(), in + layout.supplied());
}

std::vector<char> columns_of_works(const model::System& system, model::Workspace& work) {
  const model::Layout& layout = system.layout();
  std::vector<char> out(system.columns().size());
  if (layout.audits == 0) return out;
  std::vector<double> before(work.output.size()), after(work.output.size());
  const auto begin = work.in.begin() + layout.dissipated();
  std::fill(begin, begin + 2 * layout.audits, 1.0);
  system.column_values(work, before.data());
  for (int i = 0; i < 2 * layout.audits; ++i) begin[i] = 2.5 + i;
  system.column_values(work, after.data());
  std::fill(begin, begin + 2 * layout.audits, 0.0);
  for (std::size_t c = 0; c < out.size(); ++c) {
    if (system.columns()[c].mode_of >= 0 || system.columns()[c].value < 0) continue;
    const auto at = static_cast<std::size_t>(system.columns()[c].value);
    out[c] = before[at] != after[at] && !(std::isnan(before[at]) && std::isnan(after[at])) ? 1 : 0;
  }
  return out;
}

}  // namespace judder::simulate
