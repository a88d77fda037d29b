// Matrices that stay numbers.
#include "judder/model/large_matrices.hpp"

#include <algorithm>

#include "model/builder.hpp"

namespace judder::model {

const LargeMatrices* large_matrices(const System& system) { return system.data().large.get(); }

std::string large_matrices_problem(const System& system) {
  const LargeMatrices* const large = large_matrices(system);
  if (large == nullptr) return {};
  return "the model has matrices with " + std::to_string(large->mass.size) +
         " rows, which stay numbers: the engines moreau, theta, newmark and paoli-schatzman move it";
}

bool Builder::matrices_are_large() const {
  const Matrices& m = spec.matrices;
  return coordinates.size() > static_cast<std::size_t>(kLargestFormula) && m.mass.given && m.mass.sparse &&
         (!m.stiffness.given || m.stiffness.sparse) && (!m.damping.given || m.damping.sparse);
}

// Entries by rows; nothing where the matrix has errors.
std::optional<MatrixRows> Builder::read_rows(const Matrix& matrix, const char* key) {
  MatrixRows out;
  if (!matrix.given) return out;
  const std::string where = std::string("matrices, ") + key;
  const auto n = static_cast<int>(coordinates.size());
  if (matrix.row_count != n || matrix.column_count != n) {
    report_error(matrix.span, where,
                 "the matrix has " + std::to_string(matrix.row_count) + " rows and " +
                     std::to_string(matrix.column_count) + " columns; the model has " + std::to_string(n) +
                     " coordinates");
    return std::nullopt;
  }
  budget.spend(matrix.entries.size());
  out.size = n;
  out.begin.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const MatrixEntry& entry : matrix.entries) {
    if (entry.value == 0) continue;
    ++out.begin[static_cast<std::size_t>(entry.row) + 1];
    out.column.push_back(entry.column);
    out.value.push_back(entry.value);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) out.begin[i + 1] += out.begin[i];
  for (int i = 0; i < n; ++i) {
    for (int e = out.begin[i]; e < out.begin[i + 1]; ++e) {
      const int j = out.column[e];
      const auto from = out.column.begin() + out.begin[j], to = out.column.begin() + out.begin[j + 1];
      const auto found = std::lower_bound(from, to, i);
      if (found != to && *found == i &&
          out.value[static_cast<std::size_t>(found - out.column.begin())] == out.value[e])
        continue;
      const std::string row = std::to_string(std::max(i, j) + 1), column = std::to_string(std::min(i, j) + 1);
      report_error(matrix.span, where,
                   "the matrix is not symmetric: entries (" + row + ", " + column + ") and (" + column +
                       ", " + row + ") differ",
                   "beyond " + std::to_string(kLargestFormula) +
                       " coordinates matrices are symmetric; write what is not as forces");
      return std::nullopt;
    }
  }
  return out;
}

void Builder::read_large_matrices() {
  const Matrices& m = spec.matrices;
  if (making_form) {
    report_error(m.mass.span, "matrices",
                 "a model with matrices of more than " + std::to_string(kLargestFormula) +
                     " rows has no parameters that are left open");
    return;
  }
  auto made = std::make_shared<LargeMatrices>();
  auto inertia = read_rows(m.mass, "mass"), damping = read_rows(m.damping, "damping"),
       stiffness = read_rows(m.stiffness, "stiffness");
  if (!inertia || !damping || !stiffness) return;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const auto from = inertia->column.begin() + inertia->begin[i],
               to = inertia->column.begin() + inertia->begin[i + 1];
    if (std::binary_search(from, to, static_cast<int>(i))) continue;
    error(coordinates[i].spec->name, "coordinate '" + coordinates[i].name + "'",
          "the coordinate " + quoted(coordinates[i].name) + " has no inertia",
          "give it an entry on the diagonal of the mass matrix");
    return;
  }
  if (!is_zero(kinetic)) {
    report_error(spec.energy.kinetic.text.span, "energy, kinetic",
                 "a model with matrices of more than " + std::to_string(kLargestFormula) +
                     " rows has its inertia in the mass matrix alone",
                 "add it to the matrix");
    return;
  }
  made->mass = std::move(*inertia);
  made->damping = std::move(*damping);
  made->stiffness = std::move(*stiffness);
  large = std::move(made);
  large_kinetic = graph.declare("kinetic(matrices)");
  large_potential = graph.declare("potential(matrices)");
}

// When the programs are made: where the power of dampers stands, and whether anything else depends on the state.
void Builder::finish_large_matrices() {
  System::Data& d = *system.data_;
  if (large->damping.size > 0) large->damping_power = d.audits[large_damping].power;
  large->only_matrices = d.jacobian_place.empty() && states.empty();
  for (const RelationDraft& r : relations)
    large->only_matrices = large->only_matrices && !r.compliant && !r.needs_direction;
  for (const WatchDraft& w : watches) {
    if (!graph.depends_on(w.value, large_kinetic) && !graph.depends_on(w.value, large_potential)) continue;
    report_error({}, "watch '" + w.info.name + "'", "a watch does not read energies of large matrices",
                 "read the energy in a column");
  }
  d.large = large;
}

}  // namespace judder::model
