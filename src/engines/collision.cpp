#include "judder/engines/collision.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "row_assembly.hpp"

namespace judder::engines {
namespace {

constexpr double kRounding = 16 * 2.220446049250313e-16;

}  // namespace

bool observe(const model::System& system, model::Workspace& work, Mode& mode,
             std::vector<std::uint8_t>& touching) {
  const model::Layout& layout = system.layout();
  mode.normal.resize(layout.relations, NormalStatus::none);
  mode.pressed.resize(layout.relations, 0);
  mode.tangent.resize(layout.tangents, TangentStatus::free);
  touching.assign(layout.relations, std::uint8_t{0});
  bool closing = false;
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    const model::RelationRows& rows = system.rows(work, r);
    if (relation.has_normal) {
      double gap = 0;
      double rate = 0;
      system.gap(work, r, gap, rate);
      double terms = 0;
      for (const int i : relation.touches) terms += std::abs(rows.w[i] * work.in[layout.q() + i]);
      if (relation.kind == model::RelationKind::constraint) {
        mode.normal[r] = NormalStatus::held;
      } else if (gap > kRounding * terms) {
        mode.normal[r] = NormalStatus::open;
      } else {
        double speed = std::abs(rows.gap_time);
        for (const int i : relation.touches) speed += std::abs(rows.w[i] * work.in[layout.v() + i]);
        const bool still = std::abs(rate) <= kRounding * speed;
        mode.normal[r] = still ? NormalStatus::closed : NormalStatus::open;
        if (!still) touching[r] = rate < 0 ? strikes : separates;
        closing = closing || touching[r] == strikes;
      }
    }
    for (int j = 0; j < relation.tangents; ++j) {
      TangentStatus& status = mode.tangent[relation.first_tangent + j];
      if (mode.normal[r] == NormalStatus::open) {
        status = TangentStatus::free;
      } else if (relation.smooth_friction) {
        status = TangentStatus::smooth;
      } else {
        double slip = rows.tangent[j].drive;
        double terms = std::abs(slip);
        for (const int i : relation.touches) {
          slip += rows.tangent[j].w[i] * work.in[layout.v() + i];
          terms += std::abs(rows.tangent[j].w[i] * work.in[layout.v() + i]);
        }
        status = std::abs(slip) <= kRounding * terms ? TangentStatus::stick
                 : slip > 0                          ? TangentStatus::slip_plus
                                                     : TangentStatus::slip_minus;
      }
    }
  }
  return closing;
}

// The relations that couple, and the coefficients of their laws during an impact.
struct Collision::Rows : contact::VaryingFriction {
  Rows(const model::System& s, model::Workspace& w) : system(s), work(w), assembly(s, w) {
    const model::Layout& layout = s.layout();
    part.resize(layout.relations);
    taken.resize(layout.relations);
    laws.resize(layout.relations);
    slip_before.resize(layout.tangents);
  }

  double coefficient(int tangent, double speed, int direction, const double* impulse) override;
  void provide();
  int root(int i);
  void connect(int relation);
  void find_blocks();
  void read_laws(int i);
  void read_coefficients();

  const model::System& system;
  model::Workspace& work;
  RowAssembly assembly;
  std::vector<std::uint8_t> part;      // relations that take part
  std::vector<std::uint8_t> taken;     // those of the present block
  std::vector<std::uint8_t> touching;  // as given
  std::vector<contact::ImpactLaw> laws;
  std::vector<double> slip_before;
  bool inelastic = false;
  bool push_only = false;  // contacts of a tail are not brought to rest by pulling

  // what couples as it is written: coordinates of each relation, and which coordinates the masses connect
  bool provided = false;
  std::vector<int> first, coordinate;  // relation r: coordinate[first[r]] … coordinate[first[r + 1] − 1]
  std::vector<int> by_mass;            // by coordinate: the first that the masses connect it with
  std::vector<int> above;              // union-find over coordinates
  std::vector<int> block_of, block_root;  // by coordinate that is a root, −1: not struck; by block

  // coefficients of the rows of the block
  std::vector<double> mu, mu_static;
  std::vector<int> cone;
  bool varies = false;
  std::vector<double> velocity;  // before, while a path is followed
};

// Which entries of M, of the rows and of their columns can be anything but zero.
void Collision::Rows::provide() {
  if (provided) return;
  provided = true;
  const model::Layout& layout = system.layout();
  const model::Symbols& symbols = system.symbols();
  const expr::Graph& graph = system.graph();
  const int n = layout.coordinates;
  const auto is_zero = [&graph](expr::Node node) {
    return graph.is_constant(node) && graph.value(node) == 0;
  };
  above.resize(n);
  block_of.resize(n);
  block_root.reserve(n);
  by_mass.resize(n);
  for (int i = 0; i < n; ++i) above[i] = i;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      if (symbols.mass.empty() || !is_zero(symbols.mass[static_cast<std::size_t>(i) * n + k]))
        above[root(i)] = root(k);
    }
  }
  for (int i = 0; i < n; ++i) by_mass[i] = root(i);
  first.assign(1, 0);
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    const auto used = [&](const std::vector<expr::Node>& row, int i) {
      return i < static_cast<int>(row.size()) && !is_zero(row[i]);
    };
    for (int i = 0; i < n; ++i) {
      bool any = used(symbols.normal[r].w, i) || used(symbols.normal[r].push, i);
      for (int j = 0; j < relation.tangents; ++j) {
        const model::Symbols::TangentRow& row = symbols.tangent[relation.first_tangent + j];
        any = any || used(row.w, i) || used(row.drag, i);
      }
      if (any) coordinate.push_back(i);
    }
    first.push_back(static_cast<int>(coordinate.size()));
  }
  touching.resize(layout.relations);
  mu.resize(layout.tangents);
  mu_static.resize(layout.tangents);
  cone.resize(layout.tangents);
  velocity.resize(n);
}

int Collision::Rows::root(int i) {
  while (above[i] != i) i = above[i] = above[above[i]];
  return i;
}

// Everything that a relation touches moves together.
void Collision::Rows::connect(int relation) {
  for (int at = first[relation] + 1; at < first[relation + 1]; ++at)
    above[root(coordinate[at])] = root(coordinate[first[relation]]);
}

void Collision::Rows::find_blocks() {
  const model::Layout& layout = system.layout();
  std::copy(by_mass.begin(), by_mass.end(), above.begin());
  for (int r = 0; r < layout.relations; ++r) {
    if (part[r] == 0) continue;
    connect(r);
    if (first[r] == first[r + 1]) continue;
    for (const int fed : system.relations()[r].feeds) {
      if (part[fed] != 0 && first[fed] != first[fed + 1])
        above[root(coordinate[first[fed]])] = root(coordinate[first[r]]);
    }
  }
  std::fill(block_of.begin(), block_of.end(), -1);
  block_root.clear();
  for (int r = 0; r < layout.relations; ++r) {
    if (touching[r] != strikes || first[r] == first[r + 1]) continue;
    const int at = root(coordinate[first[r]]);
    if (block_of[at] >= 0) continue;
    block_of[at] = static_cast<int>(block_root.size());
    block_root.push_back(at);
  }
}

// A law that reads velocities sees those that the impulses have led to. A slip that is only starting is on the side it goes to: the
// velocities are moved by a little of its own impulse.
double Collision::Rows::coefficient(int tangent, double speed, int direction, const double* impulse) {
  const model::Layout& layout = system.layout();
  const int n = layout.coordinates;
  const int i = assembly.normals() + tangent;
  const RowAssembly::Row& row = assembly[i];
  const model::Row& w = work.relation[row.relation].tangent[row.tangent].w;
  double* v = work.in.data() + layout.v();
  std::copy(velocity.begin(), velocity.end(), v);
  for (int k = 0; k < assembly.size(); ++k) {
    if (impulse[k] == 0) continue;
    const double* response = assembly.response(k);
    for (int c = 0; c < n; ++c) v[c] += impulse[k] * response[c];
  }
  double terms = std::abs(assembly.drive[i]);
  for (std::size_t e = 0; e < w.values().size(); ++e) {
    const int c = w.places()[e];
    terms += std::abs(w.values()[e]) * std::max(std::abs(v[c]), std::abs(velocity[c]));
  }
  constexpr double kBeside = 1e-12;
  if (speed < kBeside * terms) {
    const double push = direction * (kBeside * terms - speed) / assembly.A[i * assembly.size() + i];
    for (int c = 0; c < n; ++c) v[c] += push * assembly.response(i)[c];
  }
  const double mu_now = system.impulse_coefficient(work, row.relation, speed);
  std::copy(velocity.begin(), velocity.end(), v);
  return mu_now;
}

Collision::Collision(const model::System& system, model::Workspace& work)
    : rows_(std::make_unique<Rows>(system, work)) {}
Collision::~Collision() = default;
Collision::Collision(Collision&&) noexcept = default;

int Collision::size() const { return rows_->assembly.size(); }
int Collision::normals() const { return rows_->assembly.normals(); }
const double* Collision::response(int i) const { return rows_->assembly.response(i); }
std::span<const double> Collision::slip_before() const { return rows_->slip_before; }

Collision::Row Collision::row(int i) const {
  const RowAssembly::Row& row = rows_->assembly[i];
  return {row.relation, row.tangent, row.number};
}

int Collision::blocks() const { return static_cast<int>(rows_->block_root.size()); }

Status Collision::begin(const Mode& mode, std::span<const std::uint8_t> touching, bool inelastic) {
  const model::System& system = rows_->system;
  model::Workspace& work = rows_->work;
  const model::Layout& layout = system.layout();
  double* in = work.in.data();
  const double* v = in + layout.v();
  Status status;
  status.time = in[0];
  rows_->provide();
  rows_->inelastic = inelastic;
  std::copy(touching.begin(), touching.end(), rows_->touching.begin());
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    rows_->part[r] =
        relation.has_normal && (mode.normal[r] != NormalStatus::open || touching[r] != 0) ? 1 : 0;
  }
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.has_normal) continue;
    rows_->part[r] = std::any_of(relation.feeds.begin(), relation.feeds.end(),
                                 [this](int k) { return rows_->part[k] != 0; })
                         ? 1
                         : 0;
  }
  if (!system.motion(work)) {
    status.reason = work.mass_failed ? Reason::singular_mass : Reason::not_finite;
    status.message = "the equations cannot be evaluated at the impact";
    return status;
  }
  // The direction of every slip, also of opening contacts, before a law is read.
  for (int r = 0; r < layout.relations; ++r) {
    const model::Relation& relation = system.relations()[r];
    if (relation.tangents == 0) continue;
    const model::RelationRows& rows = system.rows(work, r);
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      double slip = rows.tangent[j].drive;
      double terms = std::abs(slip);
      for (const int i : relation.touches) {
        slip += rows.tangent[j].w[i] * v[i];
        terms += std::abs(rows.tangent[j].w[i] * v[i]);
      }
      if (mode.tangent[number] == TangentStatus::stick || std::abs(slip) <= kRounding * terms) slip = 0;
      rows_->slip_before[number] = slip;
      in[layout.direction() + number] = slip > 0 ? 1 : slip < 0 ? -1 : 0;
    }
  }
  rows_->find_blocks();
  for (const int root : rows_->block_root) {
    int normals = 0, tangents = 0, first = -1;
    for (int r = 0; r < layout.relations; ++r) {
      const int at = rows_->first[r];
      if (rows_->part[r] == 0 || at == rows_->first[r + 1] || rows_->root(rows_->coordinate[at]) != root)
        continue;
      if (first < 0) first = r;
      normals += system.relations()[r].has_normal ? 1 : 0;
      tangents += system.relations()[r].tangents;
    }
    const int limit = tangents > 0 ? kMostWithFriction : kMostRows;
    if (normals + tangents <= limit) continue;
    status.reason = Reason::unsupported;
    status.where = system.relations()[first].place;
    status.message = std::to_string(normals + tangents) +
                     " contacts, constraints and slips take part in one collision; at most " +
                     std::to_string(limit) + " can";
    return status;
  }
  return status;
}

void Collision::take(int block, bool push_only) {
  RowAssembly& assembly = rows_->assembly;
  rows_->push_only = push_only;
  const int relations = rows_->system.layout().relations;
  const int root = rows_->block_root[block];
  for (int r = 0; r < relations; ++r) {
    const int at = rows_->first[r];
    rows_->taken[r] =
        rows_->part[r] != 0 && at != rows_->first[r + 1] && rows_->root(rows_->coordinate[at]) == root ? 1
                                                                                                       : 0;
  }
  assembly.assemble(rows_->taken, true);
  for (int i = 0; i < assembly.size(); ++i) {
    if (assembly[i].tangent >= 0)
      assembly.velocity[i] = rows_->slip_before[assembly[i].number];
    else
      rows_->read_laws(i);
  }
  rows_->read_coefficients();
}

// Of normal row i.
void Collision::Rows::read_laws(int i) {
  const int r = assembly[i].relation;
  if (touching[r] == 0) assembly.velocity[i] = 0;  // closed and held rows: exactly zero by status
  if (touching[r] == separates) assembly.velocity[i] = std::max(assembly.velocity[i], 0.0);
  const model::Relation& relation = system.relations()[r];
  contact::ImpactLaw& law = laws[i];
  law = {};
  law.type = relation.impact;
  law.friction = relation.impact_friction;
  law.stiffness = relation.impact_stiffness;
  law.exponent = relation.impact_exponent;
  if (relation.kind != model::RelationKind::contact) return;
  double tangential = 0;
  system.restitution(work, r, std::max(0.0, -assembly.velocity[i]), law.restitution, tangential);
  if (relation.has_tangential_restitution) law.tangential = tangential;
  if (inelastic) {
    // Infinitely many impacts, each of which leaves λ of the slip: nothing of it, or all.
    law = {};
    law.friction = relation.impact_friction;
    if (relation.has_tangential_restitution) law.tangential = std::abs(tangential) < 1 ? 0 : tangential;
    if (touching[r] != separates && !push_only) assembly.kind[i] = contact::NormalKind::bilateral;
  }
}

// Of the tangential rows collected last.
void Collision::Rows::read_coefficients() {
  const model::Layout& layout = system.layout();
  const double* v = work.in.data() + layout.v();
  std::copy_n(v, layout.coordinates, velocity.begin());
  varies = false;
  for (int t = 0; t < assembly.tangents(); ++t) {
    const int i = assembly.normals() + t;
    const RowAssembly::Row& row = assembly[i];
    cone[t] = t - row.tangent;
    if (row.tangent > 0) {
      mu[t] = mu[t - 1];
      mu_static[t] = mu_static[t - 1];
      continue;
    }
    const model::Relation& relation = system.relations()[row.relation];
    double square = 0;
    for (int j = 0; j < relation.tangents; ++j) {
      const double slip = slip_before[relation.first_tangent + j];
      square += slip * slip;
    }
    const double speed = relation.tangents == 1 ? std::abs(slip_before[row.number]) : std::sqrt(square);
    const model::System::ImpulseFriction found = system.impulse_friction(work, row.relation, speed);
    mu[t] = found.slipping;
    mu_static[t] = found.resting;
    varies = varies || !relation.law_constant;
  }
}

contact::ImpactProblem Collision::problem() {
  const RowAssembly& assembly = rows_->assembly;
  contact::ImpactProblem problem;
  problem.normals = assembly.normals();
  problem.tangents = assembly.tangents();
  problem.A = assembly.A.data();
  problem.before = assembly.velocity.data();
  problem.kind = assembly.kind.data();
  problem.law = rows_->laws.data();
  problem.mu = rows_->mu.data();
  problem.mu_static = rows_->mu_static.data();
  problem.friction = rows_->varies ? rows_.get() : nullptr;
  problem.cone = rows_->cone.data();
  problem.coupling = assembly.coupling.data();
  problem.contact = assembly.contact_of.data();
  problem.drive = assembly.drive.data();
  return problem;
}

std::optional<contact::SlidingContact> Collision::sliding(const Mode& mode, int relation, bool impulses) {
  const model::System& system = rows_->system;
  model::Workspace& work = rows_->work;
  RowAssembly& assembly = rows_->assembly;
  const model::Layout& layout = system.layout();
  const model::Relation& own = system.relations()[relation];
  if (own.tangents != 1 || !own.has_normal || mode.normal[relation] == NormalStatus::open)
    return std::nullopt;
  if (direction(mode.tangent[own.first_tangent]) == 0) return std::nullopt;
  for (int j = 0; j < layout.tangents; ++j) work.in[layout.direction() + j] = direction(mode.tangent[j]);
  for (int r = 0; r < layout.relations; ++r) {
    const bool closed = mode.normal[r] != NormalStatus::open;
    work.in[layout.closed() + r] = closed ? 1 : 0;
    rows_->part[r] = closed ? 1 : 0;
  }
  if (!system.motion(work)) return std::nullopt;
  assembly.assemble(rows_->part, impulses);
  int normal = -1;
  int tangent = -1;
  for (int i = 0; i < assembly.size(); ++i) {
    if (assembly[i].relation == relation) (assembly[i].tangent < 0 ? normal : tangent) = i;
  }
  if (normal < 0 || tangent < 0) return std::nullopt;
  std::vector<contact::RowStatus> statuses;
  assembly.statuses(mode, statuses);
  contact::DecisionProblem problem;
  problem.normals = assembly.normals();
  problem.tangents = assembly.tangents();
  problem.A = assembly.A.data();
  problem.b = assembly.b.data();
  problem.kind = assembly.kind.data();
  problem.mu_slip = assembly.mu_slip.data();
  problem.base = assembly.base.data();
  problem.coupling = assembly.coupling.data();
  rows_->provide();
  std::copy_n(work.in.begin() + layout.v(), layout.coordinates, rows_->velocity.begin());
  rows_->varies = !own.law_constant;
  return contact::sliding_contact(problem, statuses, normal, tangent - assembly.normals());
}

namespace {

// The coefficient of a contact that jams; the other rows follow its impulses.
class JammedFriction : public contact::PathFriction {
 public:
  JammedFriction(contact::VaryingFriction& friction, const contact::SlidingContact& alone, int normal,
                 int tangent, int normals)
      : friction_(friction), alone_(alone), normal_(normal), tangent_(tangent), normals_(normals) {
    impulse_.resize(alone.share.size() / 2);
  }
  double coefficient(double speed, int direction, double P, double Q) override {
    for (int i = 0; i < static_cast<int>(impulse_.size()); ++i)
      impulse_[i] = i == normal_    ? P
                    : i == tangent_ ? Q
                                    : alone_.share[2 * i] * P + alone_.share[2 * i + 1] * Q;
    return friction_.coefficient(tangent_ - normals_, speed, direction, impulse_.data());
  }

 private:
  contact::VaryingFriction& friction_;
  const contact::SlidingContact& alone_;
  int normal_, tangent_, normals_;
  std::vector<double> impulse_;
};

}  // namespace

contact::PathResult Collision::tangential_impact(const contact::SlidingContact& alone, int normal,
                                                 int tangent, bool at_jam) {
  contact::PathProblem path = alone.path(0, rows_->assembly.velocity[tangent]);
  const int relation = rows_->assembly[tangent].relation;
  path.mu_static = rows_->system.impulse_friction(rows_->work, relation, 0).resting;
  if (at_jam) return contact::jam_impact(path);
  if (!rows_->varies) return contact::tangential_impact(path);
  JammedFriction friction(*rows_, alone, normal, tangent, normals());
  path.friction = &friction;
  return contact::tangential_impact(path);
}

}  // namespace judder::engines
