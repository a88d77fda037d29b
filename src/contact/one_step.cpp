#include "judder/contact/one_step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "judder/core/renumber.hpp"
#include "one_step_memory.hpp"

namespace judder::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kListed = 32;     // rows of problems whose modes are tried before long iterations
constexpr int kProvided = 128;  // rows of problems whose Newton matrix is provided before it is needed
constexpr int kDecided = 400;   // rows of planar problems that are decided by pivoting in the end
constexpr double kFar = 16;     // contacts that are open by more of their size are out of reach

// The power of two below x; 1 where x is zero, subnormal or negative.
double power_of_two(double x) {
  if (!(x >= std::numeric_limits<double>::min())) return 1;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0'0000'0000'0000u);
}

template <class T>
void grow(std::vector<T>& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

// One way to look at W, dense or by blocks: calls f(block column, values, distance between their rows) for the blocks of a row.
template <class F>
void for_each_entry(const OneStepProblem& p, std::span<const ScaledBlock> blocks, int n, int i, F f) {
  if (p.W != nullptr) {
    const int stride = p.stride != 0 ? p.stride : n;
    const double* row = p.W + static_cast<std::ptrdiff_t>(blocks[i].first) * stride;
    for (int j = 0; j < static_cast<int>(blocks.size()); ++j) f(j, row + blocks[j].first, stride);
    return;
  }
  for (int e = p.begin[i]; e < p.begin[i + 1]; ++e)
    f(p.column[e], p.values + p.value[e], blocks[p.column[e]].rows);
}

bool all_zero(const double* values, int rows, int columns, int stride) {
  for (int a = 0; a < rows; ++a) {
    for (int b = 0; b < columns; ++b) {
      if (values[a * stride + b] != 0) return false;
    }
  }
  return true;
}

// Rows and sizes of the blocks; false where a coefficient cannot be one.
bool lay_out(const OneStepProblem& p, StepMemory& m) {
  m.count = static_cast<int>(p.blocks.size());
  m.n = 0;
  for (int i = 0; i < m.count; ++i) {
    const StepBlock& given = p.blocks[i];
    ScaledBlock& block = m.blocks[i];
    block = {};
    block.kind = given.kind;
    block.first = m.n;
    block.rows = given.rows();
    block.slips = given.slips;
    block.slip = m.n + block.rows - given.slips;
    for (int k = 0; k < block.rows; ++k) m.block_of[m.n + k] = i;
    m.n += block.rows;
    if (!(given.mu >= 0) || !(given.load >= 0) || std::isinf(given.load)) return false;
  }
  return true;
}

// Copies W without its zero blocks; false where it is not finite.
bool copy_matrix(const OneStepProblem& p, StepMemory& m) {
  int entries = 0;
  int used = 0;
  bool finite = true;
  const std::span<const ScaledBlock> blocks(m.blocks.data(), m.count);
  for (int i = 0; i < m.count; ++i) {
    m.begin[i] = entries;
    const int rows = blocks[i].rows;
    for_each_entry(p, blocks, m.n, i, [&](int j, const double* values, int stride) {
      const int columns = blocks[j].rows;
      if (i != j && all_zero(values, rows, columns, stride)) return;
      m.column[entries] = j;
      m.value[entries] = used;
      if (i == j) m.blocks[i].diagonal = used;
      ++entries;
      for (int a = 0; a < rows; ++a) {
        for (int b = 0; b < columns; ++b) {
          const double w = values[a * stride + b];
          if (!std::isfinite(w)) finite = false;
          m.values[used++] = w;
        }
      }
    });
  }
  m.begin[m.count] = entries;
  return finite;
}

// Mean of the diagonal over the slips of a block.
double slip_weight(const double* own, const ScaledBlock& block) {
  double sum = 0;
  const int lead = block.rows - block.slips;
  for (int c = 0; c < block.slips; ++c) sum += own[(lead + c) * (block.rows + 1)];
  return block.slips > 0 ? sum / block.slips : 0;
}

// The size of a row is what its velocity is made of, as far as that is known before the answer: its own q, and what comes from rows that
// couple to it, each at its own size. Contacts that are farther open than what couples to them can close count for themselves alone.
//
//     size_k = max(|q_k|, max_l |W_kl| size_l)      (rows scaled by their diagonals)
//
// Rows that have nothing to do with one another have sizes of their own, and a heavy or fast body beside a light one does not hide it.

// Lets sizes grow along couplings until they stand. Couplings above one count as one.
void spread_sizes(StepMemory& m) {
  constexpr int kRounds = 20;
  constexpr double kGrown = 1.5;
  bool grown = m.count > 0;
  for (int round = 0; grown && round < kRounds; ++round) {
    grown = false;
    // Forwards and backwards by turns: a chain is done in two rounds.
    for (int turn = 0; turn < m.count; ++turn) {
      const int i = round % 2 == 0 ? turn : m.count - 1 - turn;
      const ScaledBlock& block = m.blocks[i];
      for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
        const ScaledBlock& other = m.blocks[m.column[e]];
        const double* values = m.values.data() + m.value[e];
        for (int a = 0; a < block.rows; ++a) {
          const int k = block.first + a;
          double& size = m.size[k < block.slip ? k : block.slip];
          for (int b = 0; b < other.rows; ++b) {
            const int l = other.first + b < other.slip ? other.first : other.slip;
            if (m.size[l] <= size) continue;
            const double share =
                std::min(std::abs(values[a * other.rows + b]) * m.s[k] * m.s[other.first + b], 1.0);
            if (share * m.size[l] <= size) continue;
            grown = grown || share * m.size[l] > kGrown * size;
            size = share * m.size[l];
          }
        }
      }
    }
  }
}

// Rows of normals have a size each, the slips of a block one together, which stands at the first of them.
void find_sizes(const OneStepProblem& p, StepMemory& m, bool all) {
  m.any_far = false;
  const auto own = [&](int k) { return std::abs(p.q[k]) * m.s[k]; };
  const auto own_slips = [&](const ScaledBlock& block) {
    double size = 0;
    for (int c = 0; c < block.slips; ++c) size = std::max(size, own(block.slip + c));
    return size;
  };
  bool any_open = false;
  for (int i = 0; i < m.count; ++i) {
    ScaledBlock& block = m.blocks[i];
    const StepBlock& given = p.blocks[i];
    const bool leads = block.slip > block.first;
    const bool open = !all && block.kind == StepBlockKind::contact && p.q[block.first] > 0;
    block.far = open;
    any_open = any_open || open;
    if (leads) m.size[block.first] = open ? 0 : own(block.first);
    // Slips without a limit do nothing to others.
    const bool rubs = all || (given.mu > 0 && (given.load > 0 || given.feed_size > 0 ||
                                               (block.kind == StepBlockKind::contact && !open)));
    if (block.slips > 0) m.size[block.slip] = rubs ? own_slips(block) : 0;
  }
  spread_sizes(m);
  if (any_open) {
    bool near = false;
    for (int i = 0; i < m.count; ++i) {
      ScaledBlock& block = m.blocks[i];
      if (!block.far) continue;
      block.far = own(block.first) > kFar * m.size[block.first];
      if (block.far) continue;
      near = true;
      m.size[block.first] = std::max(m.size[block.first], own(block.first));
      if (block.slips > 0 && p.blocks[i].mu > 0)
        m.size[block.slip] = std::max(m.size[block.slip], own_slips(block));
    }
    if (near) spread_sizes(m);
  }
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    if (block.far) {
      m.any_far = m.any_far || m.size[block.first] > 0;
      if (m.size[block.first] == 0) m.size[block.first] = own(block.first);
    }
    if (block.slips > 0 && m.size[block.slip] == 0) m.size[block.slip] = own_slips(block);
    for (int c = 1; c < block.slips; ++c) m.size[block.slip + c] = m.size[block.slip];
  }
}

// Powers of two near 1/sqrt(W) of each row, and sizes of rows in the unit that they make.
void find_units(const OneStepProblem& p, StepMemory& m, bool all) {
  for (int i = 0; i < m.count; ++i) {
    ScaledBlock& block = m.blocks[i];
    const double* own = m.values.data() + block.diagonal;
    const int lead = block.rows - block.slips;
    const auto factor = [&](double w) {
      if (!(w > 0)) block.massless = true;
      return w > 0 ? 1 / power_of_two(std::sqrt(w)) : 1.0;
    };
    if (lead == 1) m.s[block.first] = factor(own[0]);
    const double weight = slip_weight(own, block);
    const double s = block.slips > 0 ? factor(weight) : 1;
    for (int c = 0; c < block.slips; ++c) m.s[block.slip + c] = s;
    block.rho_normal = lead == 1 && own[0] > 0 ? 1 / (own[0] * m.s[block.first] * m.s[block.first]) : 0;
    block.rho_slip = weight > 0 ? 1 / (weight * s * s) : 0;
  }
  find_sizes(p, m, all);
}

void scale(const OneStepProblem& p, StepMemory& m, StepUnits units) {
  double largest = 0;
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    // The row of a contact out of reach has the size of its gap, which is nobody else's.
    for (int c = block.far ? 1 : 0; c < block.rows; ++c) largest = std::max(largest, m.size[block.first + c]);
  }
  for (int k = 0; k < m.n; ++k) {
    const double unit = power_of_two(units == StepUnits::one && largest > 0 ? largest : m.size[k]);
    m.impulse_unit[k] = m.s[k] * unit;
    m.velocity_unit[k] = unit / m.s[k];
    m.q[k] = p.q[k] * m.s[k] / unit;
  }
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      const ScaledBlock& other = m.blocks[m.column[e]];
      double* values = m.values.data() + m.value[e];
      for (int a = 0; a < block.rows; ++a) {
        const double row = 1 / m.velocity_unit[block.first + a];
        for (int b = 0; b < other.rows; ++b)
          values[a * other.rows + b] *= row * m.impulse_unit[other.first + b];
      }
    }
  }
}

void scale_limits(const OneStepProblem& p, StepMemory& m) {
  int used = 0;
  for (int i = 0; i < m.count; ++i) {
    const StepBlock& given = p.blocks[i];
    ScaledBlock& block = m.blocks[i];
    block.feed = used;
    block.tied = std::isinf(given.mu);
    const double mu = block.tied ? 1 : given.mu;
    const double unit = block.slips > 0 ? m.impulse_unit[block.slip] : 1;
    block.base = mu * given.load / unit;
    block.mu = block.kind == StepBlockKind::contact ? mu * m.impulse_unit[block.first] / unit : 0;
    if (block.slips > 0) {
      for (int f = given.feed; f < given.feed + given.feed_size; ++f) {
        const int row = p.feeds[f].row;
        m.feeds[used++] = {row, mu * p.feeds[f].weight * m.impulse_unit[row] / unit};
      }
    }
    block.feed_end = used;
  }
}

// Sizes of rows are in units of s; those of the residual are in units of d.
OneStepResidual residual_of(const OneStepProblem& p, const StepMemory& m, std::span<const double> r) {
  OneStepResidual result;
  int first = 0;
  const int n = m.n;
  const int count = static_cast<int>(p.blocks.size());
  const int stride = p.stride != 0 ? p.stride : n;
  // Row k of W times r, what its terms come to, and the diagonal entry.
  const auto row_times_r = [&](int i, int k, int own_first, double& diagonal, double& terms) {
    double u = p.q[k];
    terms = std::abs(u);
    const auto add = [&](double w, double impulse) {
      u += w * impulse;
      terms = std::max(terms, std::abs(w * impulse));
    };
    if (p.W != nullptr) {
      for (int j = 0; j < n; ++j) add(p.W[static_cast<std::ptrdiff_t>(k) * stride + j], r[j]);
      diagonal = p.W[static_cast<std::ptrdiff_t>(k) * stride + k];
      return u;
    }
    for (int e = p.begin[i]; e < p.begin[i + 1]; ++e) {
      const int start = m.blocks[p.column[e]].first;
      const int columns = p.blocks[p.column[e]].rows();
      const double* line = p.values + p.value[e] + (k - own_first) * columns;
      for (int j = 0; j < columns; ++j) add(line[j], r[start + j]);
      if (p.column[e] == i) diagonal = line[k - own_first];
    }
    return u;
  };
  for (int i = 0; i < count; ++i) {
    const StepBlock& block = p.blocks[i];
    const int rows = block.rows();
    double u[4] = {}, weight[4] = {}, terms[4] = {};
    bool finite = true;
    for (int c = 0; c < rows; ++c) {
      u[c] = row_times_r(i, first + c, first, weight[c], terms[c]);
      finite = finite && std::isfinite(r[first + c]) && std::isfinite(u[c]);
    }
    // An error of rows that begin with c, their inertia d^2 and the largest of their terms.
    const auto note = [&](double error, int c, double d, double most) {
      if (!finite || std::isnan(error)) error = kInfinity;
      const double size = std::max(m.size[first + c] / (m.s[first + c] * d), std::abs(p.q[first + c]) / d);
      const double all = std::max(size, most);
      const double of_q = error == 0 ? 0 : size > 0 ? error / size : kInfinity;
      const double of_all = error == 0 ? 0 : all > 0 && error < kInfinity ? error / all : kInfinity;
      result.of_all = std::max(result.of_all, of_all);
      if (of_q <= result.of_q && result.block >= 0) return;
      result.of_q = of_q;
      result.block = i;
    };
    const int lead = rows - block.slips;
    double normal = 0;
    if (lead == 1) {
      const double d = weight[0] > 0 ? std::sqrt(weight[0]) : 1;
      double error = std::abs(u[0]) / d;
      if (block.kind != StepBlockKind::bilateral) {
        normal = std::max(0.0, r[first]);
        error = std::abs(d * r[first] - std::max(0.0, d * r[first] - u[0] / d));
      }
      note(error, 0, d, std::max({std::abs(r[first]) * d, std::abs(u[0]) / d, terms[0] / d}));
    }
    if (block.slips > 0) {
      double w = 0;
      for (int c = lead; c < rows; ++c) w += weight[c] / block.slips;
      const double d = w > 0 ? std::sqrt(w) : 1;
      double load = block.load + normal;
      for (int f = block.feed; f < block.feed + block.feed_size; ++f)
        load += p.feeds[f].weight * std::abs(r[p.feeds[f].row]);
      const double limit = load > 0 ? block.mu * load * d : 0;
      double square = 0, most = 0;
      for (int c = lead; c < rows; ++c) {
        most = std::max({most, std::abs(r[first + c]) * d, std::abs(u[c]) / d, terms[c] / d});
        const double y = d * r[first + c] - u[c] / d;
        square += y * y;
      }
      const double size = std::sqrt(square);
      double sum = 0;
      for (int c = lead; c < rows; ++c) {
        const double y = d * r[first + c] - u[c] / d;
        const double e = size > limit ? d * r[first + c] - y * (limit / size) : u[c] / d;
        sum += e * e;
      }
      note(std::sqrt(sum), lead, d, most);
    }
    first += rows;
  }
  return result;
}

// By the side on which the natural map falls, r − ρu: impulses are exact to the tolerance only, and a slip that is a rounding below its limit is no stick.
StepContact contact_of(const StepMemory& m, const ScaledBlock& block, const double* x, const double* u) {
  if (block.kind == StepBlockKind::bilateral) return StepContact::held;
  const double limit = scaled_limit(m, block, x);
  const int k = block.first;
  const bool pressed = block.kind == StepBlockKind::contact && x[k] > 0 && x[k] > block.rho_normal * u[k];
  if (!pressed && !(known_limit(m, block, x) > 0)) return StepContact::open;
  if (block.slips == 0) return StepContact::stick;
  double square = 0;
  for (int c = 0; c < block.slips; ++c) {
    const double y = x[block.slip + c] - block.rho_slip * u[block.slip + c];
    square += y * y;
  }
  return std::sqrt(square) <= limit ? StepContact::stick : StepContact::slip;
}

void provide(const OneStepProblem& p, StepMemory& m) {
  const int n = p.rows();
  const auto rows = static_cast<std::size_t>(n);
  const std::size_t count = p.blocks.size();
  if (p.W != nullptr) {
    m.resize(n, static_cast<int>(count), count * count, rows * rows, p.feeds.size());
    return;
  }
  std::size_t nonzeros = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (int e = p.begin[i]; e < p.begin[i + 1]; ++e)
      nonzeros += static_cast<std::size_t>(p.blocks[i].rows()) *
                  static_cast<std::size_t>(p.blocks[static_cast<std::size_t>(p.column[e])].rows());
  }
  m.resize(n, static_cast<int>(count), p.column.size(), nonzeros, p.feeds.size());
}

void publish(const OneStepProblem& p, StepMemory& m, OneStepResult& result) {
  for (int k = 0; k < m.n; ++k) m.impulse[k] = m.best[k] * m.impulse_unit[k];
  scaled_velocity(m, m.best.data(), m.u.data());
  for (int k = 0; k < m.n; ++k) m.velocity[k] = m.u[k] * m.velocity_unit[k];
  for (int i = 0; m.any_far && i < m.count; ++i) {
    const int k = m.blocks[i].first;
    if (m.blocks[i].far) m.velocity[k] += p.q[k] - m.q[k] * m.velocity_unit[k];
  }
  for (int i = 0; i < m.count; ++i) m.contacts[i] = contact_of(m, m.blocks[i], m.best.data(), m.u.data());
  const auto n = static_cast<std::size_t>(m.n);
  result.impulse = {m.impulse.data(), n};
  result.velocity = {m.velocity.data(), n};
  result.contacts = {m.contacts.data(), static_cast<std::size_t>(m.count)};
  result.sizes = {m.velocity_size.data(), n};
  for (int k = 0; k < m.n; ++k) m.velocity_size[k] = m.size[k] / m.s[k];
  const OneStepResidual residual = residual_of(p, m, result.impulse);
  result.residual = residual.of_all;
  result.residual_of_q = residual.of_q;
}

}  // namespace

const char* name(OneStepMethod method) {
  switch (method) {
    case OneStepMethod::guess:
      return "start";
    case OneStepMethod::gauss_seidel:
      return "Gauss-Seidel";
    case OneStepMethod::newton:
      return "Newton";
    case OneStepMethod::proximal:
      return "proximal Newton";
    case OneStepMethod::enumeration:
      return "enumeration";
  }
  return "";
}

const char* name(OneStepStatus status) {
  switch (status) {
    case OneStepStatus::solved:
      return "solved";
    case OneStepStatus::not_converged:
      return "not converged";
    case OneStepStatus::no_solution:
      return "no solution";
    case OneStepStatus::bad_numbers:
      return "numbers that are not finite or negative coefficients";
  }
  return "";
}

const char* name(StepContact status) {
  switch (status) {
    case StepContact::open:
      return "open";
    case StepContact::stick:
      return "stick";
    case StepContact::slip:
      return "slip";
    case StepContact::held:
      return "held";
  }
  return "";
}

OneStepWorkspace::OneStepWorkspace() : memory_(std::make_unique<Memory>()) {}
OneStepWorkspace::~OneStepWorkspace() = default;
OneStepWorkspace::OneStepWorkspace(OneStepWorkspace&&) noexcept = default;
OneStepWorkspace& OneStepWorkspace::operator=(OneStepWorkspace&&) noexcept = default;

void OneStepWorkspace::use(Patience* patience) {
  memory_->patience = patience;
  memory_->decision.use(patience);
}

void OneStepWorkspace::Memory::resize(int rows, int block_count, std::size_t entries, std::size_t nonzeros,
                                      std::size_t feed_count) {
  const auto r = static_cast<std::size_t>(rows);
  const auto b = static_cast<std::size_t>(block_count);
  grow(blocks, b);
  grow(contacts, b);
  grow(begin, b + 1);
  grow(block_of, r);
  grow(column, entries);
  grow(value, entries);
  grow(values, nonzeros);
  grow(feeds, feed_count);
  for (std::vector<double>* v : {&q, &s, &size, &kept, &impulse_unit, &velocity_unit, &velocity_size, &x,
                                 &best, &u, &trial, &trial_u, &error, &step, &center, &impulse, &velocity})
    grow(*v, r);
  for (std::vector<int>* v : {&pivot, &place, &last_row, &row_end}) grow(*v, r);
  if (rows > kProvided) return;
  grow(jacobian, r * r);
  if (rows > kListed) return;
  for (std::vector<double>* v : {&mode_matrix, &mode_coupling}) v->reserve(r * r);
  for (std::vector<double>* v : {&mode_b, &mode_mu, &mode_base}) v->reserve(r);
  mode_kind.reserve(r);
  mode_row.reserve(r);
}

void OneStepWorkspace::resize(int rows, int blocks) {
  const auto n = static_cast<std::size_t>(rows);
  const auto b = static_cast<std::size_t>(blocks);
  memory_->resize(rows, blocks, b * b, n * n, n * b);
  if (rows <= kListed) memory_->decision.resize(rows, rows);
}

void OneStepWorkspace::resize(const OneStepProblem& problem) {
  provide(problem, *memory_);
  const int n = problem.rows();
  if (n <= kListed) memory_->decision.resize(n, n);
}

// Large problems are numbered so that blocks which act on each other stand together.
void number_rows(StepMemory& m) {
  for (int k = 0; k < m.n; ++k) m.place[k] = k;
  if (m.n <= kProvided) return;
  const std::vector<int> number = renumber(m.count, m.begin, m.column);
  for (int i = 0; i < m.count; ++i) m.pivot[number[i]] = i;
  int row = 0;
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[m.pivot[i]];
    for (int c = 0; c < block.rows; ++c) m.place[block.first + c] = row++;
  }
}

// How far open a contact is does not matter where nothing reaches it: neither what is near, nor the impulses to start from, which at rest are far larger than q.
void bring_near(StepMemory& m) {
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    if (!block.far) continue;
    double reach = 1;
    for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      const ScaledBlock& other = m.blocks[m.column[e]];
      for (int j = 0; j < other.rows; ++j) reach += std::abs(m.values[m.value[e] + j] * m.x[other.first + j]);
    }
    m.q[block.first] = std::min(m.q[block.first], kFar * reach);
  }
}

bool prepare_one_step(const OneStepProblem& p, StepMemory& m, StepUnits units, FarContacts far) {
  if (!lay_out(p, m)) return false;
  if (!copy_matrix(p, m)) return false;
  for (int k = 0; k < m.n; ++k) {
    if (!std::isfinite(p.q[k])) return false;
  }
  find_units(p, m, far == FarContacts::counted);
  scale(p, m, units);
  scale_limits(p, m);
  number_rows(m);
  for (int k = 0; k < m.n; ++k) {
    const double r = p.guess != nullptr ? p.guess[k] : 0.0;
    m.x[k] = std::isfinite(r) ? r / m.impulse_unit[k] : 0.0;
  }
  if (far == FarContacts::near) bring_near(m);
  return true;
}

void scaled_velocity(const StepMemory& m, const double* x, double* u) {
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    for (int c = 0; c < block.rows; ++c) u[block.first + c] = m.q[block.first + c];
    for (int e = m.begin[i]; e < m.begin[i + 1]; ++e) {
      const ScaledBlock& other = m.blocks[m.column[e]];
      const double* values = m.values.data() + m.value[e];
      for (int c = 0; c < block.rows; ++c) {
        for (int j = 0; j < other.rows; ++j)
          u[block.first + c] += values[c * other.rows + j] * x[other.first + j];
      }
    }
  }
}

double known_limit(const StepMemory& m, const ScaledBlock& block, const double* x) {
  double load = block.base;
  for (int f = block.feed; f < block.feed_end; ++f) load += m.feeds[f].weight * std::abs(x[m.feeds[f].row]);
  return load;
}

double scaled_limit(const StepMemory& m, const ScaledBlock& block, const double* x) {
  double load = known_limit(m, block, x);
  if (block.kind == StepBlockKind::contact) load += block.mu * std::max(x[block.first], 0.0);
  return block.tied && load > 0 ? kInfinity : load;
}

double scaled_error(const StepMemory& m, const double* x, const double* u, double* error) {
  double worst = 0;
  for (int i = 0; i < m.count; ++i) {
    const ScaledBlock& block = m.blocks[i];
    if (block.kind != StepBlockKind::friction) {
      const int k = block.first;
      const double step = block.rho_normal > 0 ? block.rho_normal * u[k] : u[k];
      double e = step;
      if (block.kind == StepBlockKind::contact) e = x[k] - std::max(0.0, x[k] - step);
      if (error != nullptr) error[k] = e;
      worst = std::max(worst, std::abs(e));
      if (std::isnan(e)) return kInfinity;
    }
    if (block.slips == 0) continue;
    const double limit = scaled_limit(m, block, x);
    const double rho = block.rho_slip > 0 ? block.rho_slip : 1;
    double y[3];
    double square = 0;
    for (int c = 0; c < block.slips; ++c) {
      y[c] = x[block.slip + c] - rho * u[block.slip + c];
      square += y[c] * y[c];
    }
    const double size = std::sqrt(square);
    const double share = size > limit ? limit / size : 1;
    double sum = 0;
    for (int c = 0; c < block.slips; ++c) {
      const double e = share == 1 ? rho * u[block.slip + c] : x[block.slip + c] - share * y[c];
      if (error != nullptr) error[block.slip + c] = e;
      sum += e * e;
    }
    if (std::isnan(sum)) return kInfinity;
    worst = std::max(worst, std::sqrt(sum));
  }
  return worst;
}

double judge(StepMemory& m) {
  scaled_velocity(m, m.x.data(), m.u.data());
  const double residual = scaled_error(m, m.x.data(), m.u.data(), nullptr);
  if (residual < m.best_residual) {
    m.best_residual = residual;
    std::copy_n(m.x.begin(), m.n, m.best.begin());
  }
  return residual;
}

OneStepResult solve_one_step(const OneStepProblem& problem, const OneStepOptions& options,
                             OneStepWorkspace& workspace) {
  StepMemory& m = workspace.memory();
  provide(problem, m);
  OneStepResult result;
  if (!prepare_one_step(problem, m, StepUnits::own, FarContacts::near)) {
    const auto n = static_cast<std::size_t>(problem.rows());
    std::fill_n(m.impulse.begin(), n, 0.0);
    std::copy_n(problem.q, n, m.velocity.begin());
    std::fill_n(m.contacts.begin(), problem.blocks.size(), StepContact::open);
    result.status = OneStepStatus::bad_numbers;
    result.residual = result.residual_of_q = kInfinity;
    result.impulse = {m.impulse.data(), n};
    result.velocity = {m.velocity.data(), n};
    result.contacts = {m.contacts.data(), problem.blocks.size()};
    return result;
  }
  m.best_residual = kInfinity;
  std::fill_n(m.best.begin(), m.n, 0.0);
  // The scaled residual is at most twice that of one_step_residual, whose unit is d and not a power of two near it.
  const double tolerance = 0.25 * options.tolerance;
  double residual = judge(m);
  bool proved = false;
  const auto done = [&](OneStepMethod method) {
    result.method = method;
    return m.best_residual <= tolerance;
  };
  const auto search = [&] {
    if (done(OneStepMethod::guess)) return;
    result.iterations +=
        gauss_seidel(m, std::min(options.sweeps, m.n <= kListed ? 4 : 20), tolerance, residual);
    if (done(OneStepMethod::gauss_seidel)) return;
    result.iterations += newton_steps(m, options.newton_steps, tolerance, 0, residual);
    if (done(OneStepMethod::newton)) return;
    // Small ones are decided by listing their modes, large ones only when all else has failed.
    if (m.n <= kListed && (solve_by_modes(m, options, proved) || proved)) {
      (void)done(OneStepMethod::enumeration);
      return;
    }
    std::copy_n(m.best.begin(), m.n, m.x.begin());
    result.iterations += gauss_seidel(m, options.sweeps, tolerance, residual);
    if (done(OneStepMethod::gauss_seidel)) return;
    result.iterations += newton_steps(m, options.newton_steps, tolerance, 0, residual);
    if (done(OneStepMethod::newton)) return;
    std::copy_n(m.best.begin(), m.n, m.x.begin());
    result.iterations += proximal_rounds(m, options, residual);
    if (done(OneStepMethod::proximal) || m.n <= kListed || m.n > kDecided) return;
    if (solve_by_modes(m, options, proved)) (void)done(OneStepMethod::enumeration);
  };
  search();
  publish(problem, m, result);
  // A contact that was thought to be out of reach is not, or the answer is not sure without it: first where it stands, with the sizes of what is near, and where
  // it bears something and is not solved, with the sizes that it makes.
  FarContacts far = FarContacts::near;
  const auto bears = [&] {
    for (int i = 0; i < m.count; ++i) {
      if (m.blocks[i].far && m.best[m.blocks[i].first] > 0) return true;
    }
    return false;
  };
  const auto look_at = [&](FarContacts as) {
    far = as;
    (void)prepare_one_step(problem, m, StepUnits::own, far);
    m.best_residual = kInfinity;
    residual = judge(m);
    proved = false;
    search();
    publish(problem, m, result);
  };
  if (m.any_far && (bears() || result.residual_of_q > options.tolerance)) {
    look_at(FarContacts::there);
    if (bears() && result.residual_of_q > options.tolerance) look_at(FarContacts::counted);
  }
  // Impulses to start from may be so much larger than those that are needed that nothing is seen beside their rounding: at rest q is zero or next to it.
  const bool started = problem.guess != nullptr &&
                       std::any_of(problem.guess, problem.guess + m.n, [](double r) { return r != 0; });
  const auto search_from = [&](const double* guess) {
    for (int k = 0; k < m.n; ++k) m.x[k] = guess != nullptr ? guess[k] / m.impulse_unit[k] : 0.0;
    m.best_residual = kInfinity;
    residual = judge(m);
    search();
    publish(problem, m, result);
  };
  if (result.residual_of_q > options.tolerance && !proved && started) {
    const double before = result.residual_of_q;
    search_from(nullptr);
    if (result.residual_of_q > before) search_from(problem.guess);
  }
  // Where W is singular the loop around Newton's method may get on better in one unit for all; sizes, and with them what is judged, stay.
  if (result.residual_of_q > options.tolerance && !proved) {
    const double before = result.residual_of_q;
    const OneStepMethod method = result.method;
    std::copy_n(m.impulse.begin(), m.n, m.kept.begin());
    (void)prepare_one_step(problem, m, StepUnits::one, far == FarContacts::near ? FarContacts::there : far);
    search_from(problem.guess);
    if (result.residual_of_q > before) {
      for (int k = 0; k < m.n; ++k) m.best[k] = m.kept[k] / m.impulse_unit[k];
      publish(problem, m, result);
      result.method = method;
      proved = false;
    }
  }
  if (result.residual_of_q <= options.tolerance)
    result.status = OneStepStatus::solved;
  else if (proved)
    result.status = OneStepStatus::no_solution;
  return result;
}

OneStepResidual one_step_residual(const OneStepProblem& p, std::span<const double> r) {
  StepMemory m;
  provide(p, m);
  if (!lay_out(p, m) || !copy_matrix(p, m)) return {kInfinity, kInfinity, 0};
  find_units(p, m, false);
  return residual_of(p, m, r);
}
}  // namespace judder::contact
