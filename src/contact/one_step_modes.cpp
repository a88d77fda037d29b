// Planar one-step problems as decisions (decision.hpp): all modes of small ones, pivoting and Lemke's method for larger ones.
#include <algorithm>
#include <cmath>

#include "one_step_memory.hpp"

namespace judder::contact {

namespace {

void fill_decision(StepMemory& m, int normals, int tangents) {
  const int n = m.n;
  const auto square = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto rows = static_cast<std::size_t>(n);
  const auto nN = static_cast<std::size_t>(normals);
  const auto nT = static_cast<std::size_t>(tangents);
  m.mode_matrix.assign(square, 0.0);
  m.mode_b.resize(rows);
  m.mode_row.resize(rows);
  m.mode_kind.resize(nN);
  m.mode_mu.assign(nT, 1.0);
  m.mode_base.assign(nT, 0.0);
  m.mode_coupling.assign(nN * nT, 0.0);
  int normal = 0;
  int tangent = normals;
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    if (block.kind != StepBlockKind::friction) {
      m.mode_kind[normal] =
          block.kind == StepBlockKind::contact ? NormalKind::unilateral : NormalKind::bilateral;
      m.mode_row[block.first] = normal++;
    }
    if (block.slips == 1) m.mode_row[block.slip] = tangent++;
  }
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      const ScaledBlock& other = m.blocks[m.column[e]];
      const double* values = m.values.data() + m.value[e];
      for (int a = 0; a < block.rows; ++a) {
        for (int b = 0; b < other.rows; ++b)
          m.mode_matrix[m.mode_row[block.first + a] * n + m.mode_row[other.first + b]] =
              values[a * other.rows + b];
      }
    }
    for (int c = 0; c < block.rows; ++c) m.mode_b[m.mode_row[block.first + c]] = m.q[block.first + c];
    if (block.slips != 1) continue;
    const int j = m.mode_row[block.slip] - normals;
    m.mode_base[j] = block.base;
    double* coupling = m.mode_coupling.data() + j * normals;
    if (block.kind == StepBlockKind::contact) coupling[m.mode_row[block.first]] += block.mu;
    for (int f = block.feed; f < block.feed_end; ++f)
      coupling[m.mode_row[m.feeds[f].row]] += m.feeds[f].weight;
  }
}

}  // namespace

bool solve_by_modes(StepMemory& m, const OneStepOptions& options, bool& proved) {
  int normals = 0, tangents = 0;
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    if (block.slips > 1 || block.tied) return false;
    normals += block.kind != StepBlockKind::friction ? 1 : 0;
    tangents += block.slips;
  }
  fill_decision(m, normals, tangents);
  DecisionProblem problem;
  problem.normals = normals;
  problem.tangents = tangents;
  problem.A = m.mode_matrix.data();
  problem.b = m.mode_b.data();
  problem.kind = m.mode_kind.data();
  problem.mu_slip = m.mode_mu.data();
  problem.base = m.mode_base.data();
  problem.coupling = m.mode_coupling.data();
  m.decision.resize(normals, tangents);
  DecisionOptions decision_options;
  decision_options.max_modes = options.max_modes;
  const Decision decision = decide(problem, decision_options, m.decision);
  proved = decision.verdict == Verdict::inconsistent;
  if (proved || decision.verdict == Verdict::not_found) return false;
  for (int k = 0; k < m.n; ++k) m.x[k] = decision.force[m.mode_row[k]];
  return judge(m) <= 0.25 * options.tolerance;
}

}  // namespace judder::contact
