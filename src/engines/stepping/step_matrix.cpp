#include "step_matrix.hpp"

#include <utility>
#include <vector>

namespace judder::engines {

bool StepMatrix::factor(const model::LargeMatrices& large, double k, double c) {
  std::vector<SparseEntry> entries;
  for (const auto& [matrix, share] :
       {std::pair(&large.mass, 1.0), std::pair(&large.stiffness, k), std::pair(&large.damping, c)}) {
    for (int i = 0; i < matrix->size && share != 0; ++i) {
      for (int e = matrix->begin[i]; e < matrix->begin[i + 1]; ++e)
        entries.push_back({i, matrix->column[e], share * matrix->value[e]});
    }
  }
  is_sparse_ = true;
  return sparse_.factor(make_sparse(large.mass.size, std::move(entries)));
}

}  // namespace judder::engines
