#include "row_assembly.hpp"

#include <algorithm>
#include <cmath>

#include "active_rows.hpp"

namespace judder::engines {

RowAssembly::RowAssembly(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), n_(system.layout().coordinates) {}

void RowAssembly::provide() {
  if (!free_.empty()) return;
  const std::size_t tangents = system_.layout().tangents;
  const std::size_t relations = system_.layout().relations;
  const std::size_t rows = relations + tangents;
  rows_.reserve(rows);
  part_.resize(relations);
  // What grows with the square of the rows is there for all of them where they are few, and otherwise for those that take part.
  constexpr std::size_t kFew = 512;
  if (rows <= kFew) {
    A.resize(rows * rows);
    coupling.resize(tangents * relations);
    response_.resize(rows * n_);
  }
  b.resize(rows);
  velocity.resize(rows);
  drive.resize(rows);
  force_scale.resize(rows);
  acceleration_scale.resize(rows);
  kind.resize(relations);
  mu_static.resize(tangents);
  mu_slip.resize(tangents);
  base.resize(tangents);
  contact_of.resize(tangents);
  free_.resize(n_);
}

// What never changes is found once, as long as the same relations take part.
void RowAssembly::assemble(std::span<const std::uint8_t> part, bool impulsive) {
  provide();
  if (!kept_ || impulsive != impulsive_ || !std::equal(part.begin(), part.end(), part_.begin())) {
    list_rows(part, impulsive);
    const bool keep = kept_;
    kept_ = false;  // should this be left half done
    find_responses();
    kept_ = keep;
  }
  const auto& relations = system_.relations();
  for (int k = 0; k < normals_; ++k) {
    kind[k] = relations[rows_[k].relation].kind == model::RelationKind::constraint
                  ? contact::NormalKind::bilateral
                  : contact::NormalKind::unilateral;
  }
  find_motion();
}

// The rows, with the numbers of their laws.
void RowAssembly::list_rows(std::span<const std::uint8_t> part, bool impulsive) {
  const auto& relations = system_.relations();
  const int count = static_cast<int>(relations.size());
  std::copy(part.begin(), part.end(), part_.begin());
  impulsive_ = impulsive;
  kept_ = system_.mass_constant();
  rows_.clear();
  for (int r = 0; r < count; ++r) {
    if (part[r] == 0) continue;
    kept_ = kept_ && relations[r].rows_constant && relations[r].law_constant;
    // A frictionless row that is constant has nothing to evaluate but its gap, which is not asked for here.
    if (!relations[r].rows_constant || !relations[r].law_constant || relations[r].tangents > 0)
      static_cast<void>(system_.rows(work_, r));
    if (relations[r].has_normal) rows_.push_back({r, -1, -1});
  }
  normals_ = static_cast<int>(rows_.size());
  const auto normal_row = [this](int relation) {
    for (int k = 0; k < normals_; ++k) {
      if (rows_[k].relation == relation) return k;
    }
    return -1;
  };
  std::size_t tangents = 0;
  for (int r = 0; r < count; ++r) tangents += part[r] != 0 ? relations[r].tangents : 0;
  if (coupling.size() < tangents * normals_) coupling.resize(tangents * normals_);
  std::fill(coupling.begin(), coupling.end(), 0.0);
  for (int r = 0; r < count; ++r) {
    if (part[r] == 0) continue;
    const model::Relation& relation = relations[r];
    const bool coupled =
        std::any_of(relation.feeds.begin(), relation.feeds.end(), [&](int k) { return normal_row(k) >= 0; });
    if (impulsive && !coupled) continue;
    for (int j = 0; j < relation.tangents; ++j) {
      const int t = static_cast<int>(rows_.size()) - normals_;
      const model::RelationRows& rows = work_.relation[r];
      rows_.push_back({r, j, relation.first_tangent + j});
      mu_slip[t] = rows.tangent[j].mu;
      mu_static[t] = rows.tangent[j].mu_static;
      base[t] = impulsive ? 0 : rows.base;
      contact_of[t] = relation.has_normal ? normal_row(r) : -1;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int k = normal_row(relation.feeds[f]);
        if (k >= 0) coupling[t * normals_ + k] += rows.factors[f];
      }
    }
  }
}

const model::Row& RowAssembly::row_of(const Row& row) const {
  const model::RelationRows& rows = work_.relation[row.relation];
  return row.tangent < 0 ? rows.w : rows.tangent[row.tangent].w;
}

// M⁻¹ column_i, and A.
void RowAssembly::find_responses() {
  const int size = static_cast<int>(rows_.size());
  const auto wide = static_cast<std::size_t>(size);
  if (A.size() < wide * wide) A.resize(wide * wide);
  if (response_.size() < wide * n_) response_.resize(wide * n_);
  for (int i = 0; i < size; ++i) {
    const model::RelationRows& rows = work_.relation[rows_[i].relation];
    (rows_[i].tangent < 0 ? rows.push : rows.tangent[rows_[i].tangent].drag)
        .write(response_.data() + i * n_, n_);
    system_.solve_mass(work_, response_.data() + i * n_);
  }
  for (int i = 0; i < size; ++i) {
    if (patience_ != nullptr) patience_->look();
    const model::Row& row = row_of(rows_[i]);
    for (int j = 0; j < size; ++j) A[i * size + j] = dot(row, response(j));
  }
}

// What depends on the state: b, γ, and their scales.
void RowAssembly::find_motion() {
  const int size = static_cast<int>(rows_.size());
  std::copy_n(work_.force.begin(), n_, free_.begin());
  system_.solve_mass(work_, free_.data());
  const double* v = work_.in.data() + system_.layout().v();
  for (int i = 0; i < size; ++i) {
    const model::RelationRows& rows = work_.relation[rows_[i].relation];
    const model::Row& row = row_of(rows_[i]);
    drive[i] = rows_[i].tangent < 0 ? rows.gap_time : rows.tangent[rows_[i].tangent].drive;
    double acceleration = rows_[i].tangent < 0 ? rows.zeta_n : rows.tangent[rows_[i].tangent].zeta;
    double rate = drive[i];
    double terms = std::abs(acceleration);
    for (std::size_t e = 0; e < row.values().size(); ++e) {
      const double entry = row.values()[e];
      const int k = row.places()[e];
      acceleration += entry * free_[k];
      terms += std::abs(entry * free_[k]);
      rate += entry * v[k];
    }
    b[i] = acceleration;
    velocity[i] = rate;
    acceleration_scale[i] = terms;
    force_scale[i] = A[i * size + i] > 0 ? terms / A[i * size + i] : 0;
  }
}

void RowAssembly::statuses(const Mode& mode, std::vector<contact::RowStatus>& out) const {
  out.resize(rows_.size());
  for (int i = 0; i < size(); ++i) {
    contact::RowStatus status = contact::RowStatus::open;
    if (rows_[i].tangent < 0) {
      switch (mode.normal[rows_[i].relation]) {
        case NormalStatus::closed:
          status = contact::RowStatus::closed;
          break;
        case NormalStatus::held:
          status = mode.pressed[rows_[i].relation] > 0   ? contact::RowStatus::held_plus
                   : mode.pressed[rows_[i].relation] < 0 ? contact::RowStatus::held_minus
                                                         : contact::RowStatus::held;
          break;
        default:
          break;
      }
    } else {
      switch (mode.tangent[rows_[i].number]) {
        case TangentStatus::stick:
          status = contact::RowStatus::stick;
          break;
        case TangentStatus::slip_plus:
          status = contact::RowStatus::slip_plus;
          break;
        case TangentStatus::slip_minus:
          status = contact::RowStatus::slip_minus;
          break;
        case TangentStatus::smooth:
          status = contact::RowStatus::follows;
          break;
        case TangentStatus::free:
          status = contact::RowStatus::free;
          break;
      }
    }
    out[i] = status;
  }
}

}  // namespace judder::engines
