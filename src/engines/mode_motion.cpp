#include "mode_motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace judder::engines {
namespace {

/// The only non-zero entry of a row, or −1.
int single_entry(const double* row, int n) {
  int found = -1;
  for (int i = 0; i < n; ++i) {
    if (row[i] == 0) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

}  // namespace

ModeMotion::ModeMotion(const model::System& system, model::Workspace& work)
    : system_(system),
      work_(work),
      layout_(system.layout()),
      at_(layout_),
      n_(layout_.coordinates),
      integrated_(layout_.integrated()),
      kept_(system, work),
      set_(&kept_.fresh()),
      coupling_(system),
      nested_sides_(system, work) {
  const auto n = n_;
  const auto switches = layout_.switches;
  components_ = layout_.integrated() + 2 * layout_.audits;
  massless_ = massless_joints(system);
  pins_.reserve(n);
  residual_.resize(layout_.relations + layout_.tangents);
  outcome_.resize(at_.size);
  powers_.resize(layout_.audits);
  sum_terms_.resize(n_);
  terms_.resize(n);
  rate_rounding_.resize(layout_.states);
  rest_.resize(n);
  drag_response_.resize(n);
  sliding_rates_.resize(2 * switches);
  parallel_.resize(switches);
  surface_.resize(2 + 2 * n + layout_.states);
}

bool ModeMotion::set_mode(const Mode& mode) {
  const std::uint64_t key = mode.key();
  set_ = kept_.find(key, mode, work_.in.data() + layout_.free_parameter());
  if (set_ == nullptr) {
    set_ = &kept_.fresh();
    set_->key = key;
    if (!prepare(mode)) return false;
    if (set_->constant) kept_.keep();
  }
  take_up();
  return true;
}

// The part of setting a mode that the state has: inputs, pins, results.
void ModeMotion::take_up() {
  const ModeSetting& s = *set_;
  std::copy_n(s.frozen.begin(), layout_.free_parameter() - layout_.side(), work_.in.begin() + layout_.side());
  pins_.clear();
  for (const ModeSetting::Pin& pin : s.pins)
    pins_.push_back({pin.coordinate, work_.in[layout_.q() + pin.coordinate], pin.velocity, work_.in[0]});
  std::fill(sliding_rates_.begin(), sliding_rates_.end(), 0.0);
  std::fill(parallel_.begin(), parallel_.end(), std::uint8_t{0});
  uniform_known_ = false;
  if (s.table.ready()) {
    s.table.begin(outcome_.data());
  } else {
    std::fill(outcome_.begin(), outcome_.end(), 0.0);
  }
}

// The part that the mode has, into a setting that is not kept yet.
bool ModeMotion::prepare(const Mode& mode) {
  ModeSetting& s = *set_;
  s.mode = mode;
  s.rows.clear();
  s.table.clear();
  s.touched.clear();
  s.sliding.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    work_.in[layout_.side() + k] = mode.side[k];
    if (mode.slides(k)) s.sliding.push_back(k);
  }
  for (int j = 0; j < layout_.tangents; ++j) {
    work_.in[layout_.direction() + j] = direction(mode.tangent[j]);
  }
  const auto& relations = system_.relations();
  s.constant = system_.mass_constant() && s.sliding.empty();
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = relations[r];
    const bool open = mode.normal[r] == NormalStatus::open;
    work_.in[layout_.closed() + r] = open ? 0 : 1;
    if (open) continue;
    bool used = false;
    if (relation.has_normal) {
      s.rows.add({r, -1});
      used = true;
    }
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus tangent = mode.tangent[relation.first_tangent + j];
      if (tangent == TangentStatus::free) continue;
      used = true;
      if (tangent == TangentStatus::stick && massless_[r] == 0) s.rows.add({r, j});
    }
    if (!used) continue;
    s.touched.push_back(r);
    s.constant = s.constant && relation.rows_constant && relation.law_constant;
  }
  s.frozen.assign(work_.in.begin() + layout_.side(), work_.in.begin() + layout_.acceleration());
  for (const int r : s.touched) static_cast<void>(system_.rows(work_, r));
  find_pins();
  find_work();
  // Constant forces and rows: constant accelerations, computed once.
  s.uniform = s.constant && system_.motion_program().constant() && layout_.states == 0 &&
              std::find(massless_.begin(), massless_.end(), 1) == massless_.end();
  if (!s.sliding.empty()) group_sliding();
  if (!system_.mass_constant() && !system_.motion(work_)) return false;
  s.rows.build_columns(mode, s.touched);
  if (!s.rows.factorise(true, ranking_)) return false;
  pin_if_immobile();
  if (!s.constant) return true;
  pinned_.clear();
  for (const ModeSetting::Pin& pin : s.pins) pinned_.push_back(pin.coordinate);
  static_cast<void>(s.table.build(system_, work_, mode, s.touched, pinned_, s.rows));
  return true;
}

void ModeMotion::find_pins() {
  ModeSetting& s = *set_;
  s.pins.clear();
  for (int k = 0; k < s.rows.count(); ++k) {
    const model::Relation& relation = system_.relations()[s.rows[k].relation];
    if (!relation.rows_constant || (s.rows[k].tangent < 0 && !relation.holonomic)) continue;
    const double* w = s.rows.row(k);
    const int i = single_entry(w, n_);
    if (i < 0 || s.rows.zeta(k) != 0) continue;
    if (std::any_of(s.pins.begin(), s.pins.end(), [i](const auto& pin) { return pin.coordinate == i; }))
      continue;
    const double drive = s.rows.drive(k);
    s.pins.push_back({i, drive == 0 ? 0 : -drive / w[i]});
  }
  s.everything_pinned = static_cast<int>(s.pins.size()) == n_ && layout_.states == 0;
}

void ModeMotion::find_work() {
  ModeSetting& s = *set_;
  s.works = false;
  for (const model::AuditInfo& element : system_.audits()) {
    if (element.power >= 0) s.works = true;
    if (element.relation < 0 ||
        std::find(s.touched.begin(), s.touched.end(), element.relation) == s.touched.end())
      continue;
    const model::Relation& relation = system_.relations()[element.relation];
    const bool idle = relation.rows_constant && !relation.own_push && relation.tangents == 0 &&
                      work_.relation[element.relation].gap_time == 0;
    if (!idle) s.works = true;
  }
}

// As many independent rows as coordinates, none of them driven: nothing can move, and nothing shall move by rounding.
void ModeMotion::pin_if_immobile() {
  ModeSetting& s = *set_;
  const bool massless =
      std::find(system_.massless().begin(), system_.massless().end(), true) != system_.massless().end();
  if (s.rows.rank() < n_ || massless || s.everything_pinned || n_ == 0) return;
  for (int k = 0; k < s.rows.count(); ++k) {
    const model::Relation& relation = system_.relations()[s.rows[k].relation];
    if (relation.driven || s.rows.drive(k) != 0) return;
    if (s.rows[k].tangent < 0 && !relation.holonomic) return;
  }
  s.pins.clear();
  for (int i = 0; i < n_; ++i) s.pins.push_back({i, 0});
  s.everything_pinned = layout_.states == 0;
}

int ModeMotion::place(const ActiveRows::Row& row) const {
  return row.tangent < 0 ? at_.normal + row.relation
                         : at_.tangent + system_.relations()[row.relation].first_tangent + row.tangent;
}

void ModeMotion::note_terms() {
  std::copy_n(outcome_.begin(), n_, rest_.begin());
  std::fill(terms_.begin(), terms_.end(), 0.0);
  const auto take = [this](double lambda, const double* response) {
    for (int i = 0; i < n_; ++i) {
      rest_[i] -= lambda * response[i];
      terms_[i] += std::abs(lambda * response[i]);
    }
  };
  for (int k = 0; k < active(); ++k) take(outcome_[place(set_->rows[k])], set_->rows.response(k));
  for (const int r : set_->touched) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = set_->mode.tangent[relation.first_tangent + j];
      if (rows.base == 0 || status == TangentStatus::free) continue;
      if (status == TangentStatus::stick && massless_[r] == 0) continue;
      std::copy_n(rows.tangent[j].drag, n_, drag_response_.begin());
      system_.solve_mass(work_, drag_response_.data());
      take(outcome_[at_.tangent + relation.first_tangent + j], drag_response_.data());
    }
  }
  for (int i = 0; i < n_; ++i) terms_[i] += std::abs(rest_[i]);
}

// Of an active row, at the state that the enclosure has taken.
double ModeMotion::zeta_rounding(int k) {
  const model::Relation& relation = system_.relations()[set_->rows[k].relation];
  const int tangent = set_->rows[k].tangent;
  enclosure_.evaluate(relation.rows);
  return enclosure_.width(relation.row_begin(tangent, n_) + (tangent < 0 ? 1 : 2));
}

void ModeMotion::note_all_terms() {
  note_terms();
  enclosure_.take(work_.in);
  enclosure_.blur(0, 1 + layout_.integrated());
  enclosure_.evaluate(system_.motion_program());
  for (int i = 0; i < n_; ++i) rest_[i] = enclosure_.width(i);
  for (int i = 0; i < layout_.states; ++i) rate_rounding_[i] = enclosure_.width(n_ + i);
  system_.solve_mass(work_, rest_.data());
  // Each term adds its own rounding and that of the state, on both sides.
  for (int i = 0; i < n_; ++i) terms_[i] += std::abs(rest_[i]) / (4 * std::numeric_limits<double>::epsilon());
}

// What drives a row is rounded too: a belt whose speed is a small difference moves in steps of its last bit.
void ModeMotion::add_drive_rounding(double* accelerations) {
  bool taken = false;
  for (int k = 0; k < active(); ++k) {
    const model::Relation& relation = system_.relations()[set_->rows[k].relation];
    if (relation.rows_constant) continue;
    if (!taken) {
      enclosure_.take(work_.in);
      enclosure_.blur(0, 1 + layout_.integrated());
      taken = true;
    }
    reactions_.assign(active(), 0.0);
    reactions_[k] = zeta_rounding(k);
    set_->rows.solve(reactions_.data());
    for (int i = 0; i < n_; ++i) {
      double moved = 0;
      for (int m = 0; m < active(); ++m) moved += reactions_[m] * set_->rows.response(m)[i];
      accelerations[i] += std::abs(moved);
    }
  }
}

double ModeMotion::natural_force(int relation) const {
  if (massless_[relation] != 0) {
    double most = 0;
    for (int j = 0; j < system_.relations()[relation].tangents; ++j)
      most = std::max(
          most, std::abs(work_.relation[relation].tangent[j].mu_static * work_.relation[relation].base));
    return most;
  }
  return natural_force(relation, -1);
}

double ModeMotion::natural_force(int relation, int tangent) const {
  double limit = 0;
  if (tangent >= 0) {
    const model::RelationRows& rows = work_.relation[relation];
    limit = std::abs(rows.tangent[tangent].mu_static * rows.base);
  }
  for (int k = 0; k < active(); ++k) {
    if (set_->rows[k].relation != relation || set_->rows[k].tangent != tangent) continue;
    const double* w = set_->rows.row(k);
    double sum = std::abs(set_->rows.zeta(k));
    double inverse = 0;
    for (int i = 0; i < n_; ++i) {
      sum += std::abs(w[i]) * terms_[i];
      inverse += w[i] * set_->rows.response(k)[i];
    }
    return std::max(limit, inverse != 0 ? sum / std::abs(inverse) : 0);
  }
  return limit;
}

void ModeMotion::recall(std::span<const double> terms, std::span<const double> side) {
  std::copy(terms.begin(), terms.end(), terms_.begin());
  for (std::size_t k = 0; k < set_->sliding.size(); ++k) {
    alpha_[k] = side[set_->sliding[k]] - lower_[k];
    set_->mode.side[set_->sliding[k]] = side[set_->sliding[k]];
  }
}

void ModeMotion::refresh_rows() {
  for (const int r : set_->touched) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.rows_constant && relation.law_constant) continue;
    static_cast<void>(system_.rows(work_, r));
  }
}

// The equations one after the other.
bool ModeMotion::evaluate_plain() {
  if (!system_.motion(work_, powers_asked_ ? powers_.data() : nullptr)) return false;
  powers_known_ = powers_asked_ && system_.has_powers_with_motion();
  ModeSetting& s = *set_;
  double* a = outcome_.data();
  std::memcpy(a, work_.force.data(), sizeof(double) * n_);
  if (s.touched.empty()) {
    system_.solve_mass(work_, a);
    return true;
  }
  if (!s.constant) {
    refresh_rows();
    s.rows.build_columns(s.mode, s.touched);
    if (!s.rows.factorise(false, ranking_)) return false;
  }
  double* normal = a + at_.normal;
  double* tangent = a + at_.tangent;
  std::fill(normal, a + at_.rate, 0.0);
  const auto each_slipping = [&](const auto& visit) {
    for (const int r : s.touched) {
      const model::Relation& relation = system_.relations()[r];
      const model::RelationRows& rows = work_.relation[r];
      for (int j = 0; j < relation.tangents; ++j) {
        const TangentStatus status = s.mode.tangent[relation.first_tangent + j];
        if (status == TangentStatus::stick || status == TangentStatus::free || massless_[r] != 0) continue;
        const double mu =
            status == TangentStatus::smooth ? rows.tangent[j].mu : direction(status) * rows.tangent[j].mu;
        visit(relation, rows, j, mu);
      }
    }
  };
  // Rows stand on few coordinates, and what they leave out is zero.
  each_slipping([&](const model::Relation& relation, const model::RelationRows& rows, int j, double mu) {
    if (rows.base == 0) return;
    for (const int i : relation.touches) a[i] += -mu * rows.base * rows.tangent[j].drag[i];
  });
  system_.solve_mass(work_, a);

  const int count = active();
  if (count > 0) {
    for (int k = 0; k < count; ++k) {
      const double* row = s.rows.row(k);
      double sum = 0;
      for (const int i : system_.relations()[s.rows[k].relation].touches) sum += row[i] * a[i];
      residual_[k] = -(sum + s.rows.zeta(k));
    }
    s.rows.solve(residual_.data());
    double* terms = sum_terms_.data();
    for (int i = 0; i < n_; ++i) terms[i] = std::abs(a[i]);
    for (int k = 0; k < count; ++k) {
      const double* response = s.rows.response(k);
      const auto [first, end] = s.rows.response_range(k);
      for (int i = first; i < end; ++i) {
        const double term = residual_[k] * response[i];
        a[i] += term;
        terms[i] += std::abs(term);
      }
    }
    for (int i = 0; i < n_; ++i) {
      if (std::abs(a[i]) <= kCancelled * terms[i]) a[i] = 0;
    }
    s.rows.hold_accelerations(a);
    for (int k = 0; k < count; ++k) outcome_[place(s.rows[k])] = residual_[k];
  }
  each_slipping([&](const model::Relation& relation, const model::RelationRows& rows, int j, double mu) {
    double limit = rows.base;
    // Of reactions that are not unique one may come out negative here, and what they do together counts: as in the columns.
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const int fed = relation.feeds[f];
      const double sign = s.mode.pressed[fed] < 0 ? -1 : 1;
      limit += rows.factors[f] * (redundant() ? sign * normal[fed] : std::abs(normal[fed]));
    }
    tangent[relation.first_tangent + j] = -mu * limit;
  });
  for (const int r : s.touched) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents && massless_[r] != 0; ++j)
      tangent[relation.first_tangent + j] = work_.in[layout_.tangent() + relation.first_tangent + j];
  }
  for (const Pin& pin : pins_) a[pin.coordinate] = 0;
  return true;
}

// Blocks of the sliding switches, and what is needed to evaluate them.
void ModeMotion::group_sliding() {
  constexpr double kLevelMargin = 0x1p-30;
  const std::vector<int>& sliding = set_->sliding;
  const auto count = sliding.size();
  for (Block& block : blocks_) block.members.clear();
  block_count_ = coupling_.group(set_->mode, sliding);
  blocks_.resize(std::max(blocks_.size(), block_count_));
  for (std::size_t k = 0; k < count; ++k)
    blocks_[coupling_.block()[k]].members.push_back(static_cast<int>(k));
  block_of_.assign(at_.size, -1);
  for (int i = 0; i < n_; ++i) block_of_[i] = coupling_.block_of_coordinate(i);
  for (int i = 0; i < layout_.states; ++i) block_of_[at_.rate + i] = coupling_.block_of_state(i);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.touches.empty()) continue;
    block_of_[at_.normal + r] = block_of_[relation.touches.front()];
    for (int j = 0; j < relation.tangents; ++j)
      block_of_[at_.tangent + relation.first_tangent + j] = block_of_[relation.touches.front()];
  }
  lower_.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const bool two_sided = system_.switches()[sliding[k]].two_sided();
    lower_[k] = two_sided ? 0 : std::floor(set_->mode.side[sliding[k]] - kLevelMargin);
  }
  outer_.clear();
  outer_block_.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (set_->mode.slides(k)) continue;
    const bool contains = std::any_of(info.inner.begin(), info.inner.end(), [this](int inner) {
      return set_->mode.slides(inner) || std::find(outer_.begin(), outer_.end(), inner) != outer_.end();
    });
    if (!contains) continue;
    outer_.push_back(k);
    outer_block_.push_back(coupling_.block_of_switch(k));
  }
  std::size_t corners = 0;
  for (const Block& block : blocks()) corners = std::max<std::size_t>(corners, block.corners());
  corner_.resize(std::max(corner_.size(), corners * at_.size));
  corner_force_.resize(std::max(corner_force_.size(), corners * n_));
  corner_rate_.resize(std::max(corner_rate_.size(), corners * count));
  alpha_.assign(count, 0.5);
  newton_.resize(std::max(newton_.size(), count * (count + 1)));
  lock_outer();
}

void ModeMotion::judge_outer_here() {
  for (std::size_t b = 0; b < block_count_; ++b) {
    const std::vector<int>& members = blocks_[b].members;
    int corner = 0;
    for (std::size_t bit = 0; bit < members.size(); ++bit) {
      if (work_.in[layout_.side() + set_->sliding[members[bit]]] > lower_[members[bit]] + 0.5)
        corner |= 1 << bit;
    }
    judge_outer(corner, static_cast<int>(b));
  }
}

std::vector<double> ModeMotion::corner_sides() const {
  std::vector<double> out;
  if (set_->sliding.empty()) return out;
  out.assign(lower_.begin(), lower_.end());
  out.insert(out.end(), locked_.begin(), locked_.end());
  return out;
}

// Puts the sliding switches of every block on their sides by the bits of `corner`.
void ModeMotion::take_corner(int corner) {
  for (std::size_t b = 0; b < block_count_; ++b) take_corner(static_cast<int>(b), corner);
}

// Outer switches have one side at each corner until one of these corner sides changes, which is an event: the field is smooth between.
void ModeMotion::lock_outer() {
  locked_.clear();
  fixed_.clear();
  open_corners_.clear();
  if (outer_.empty()) return;
  int corners = 0;
  for (const Block& block : blocks()) corners = std::max(corners, block.corners());
  for (int c = 0; c < corners; ++c) {
    take_corner(c);
    for (const int k : outer_) {
      const NestedSides::Verdict verdict = nested_sides_.judge(k, set_->sliding);
      if (verdict.place == NestedSides::Place::unknown)
        open_corners_.push_back(static_cast<int>(locked_.size()));
      fixed_.push_back(verdict.place == NestedSides::Place::along ||
                       verdict.place == NestedSides::Place::constant);
      locked_.push_back(verdict.side);
      work_.in[layout_.side() + k] = verdict.side;
    }
  }
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = set_->mode.side[k];
}

// Corner sides whose argument is zero at the start: the motion that slides tells to which side it goes. True: another side than was assumed.
bool ModeMotion::decide_open_corners() {
  bool changed = false;
  for (const int at : open_corners_) {
    const int width = static_cast<int>(outer_.size());
    const model::SwitchInfo& info = system_.switches()[outer_[at % width]];
    const double rate = corner_rate(at % width, at / width);
    double lower = 0;
    static_cast<void>(distance_from_level(info, surface_[0], lower));
    const double side = rate > 0 ? lower + 1 : rate < 0 ? lower : lower + info.at_zero;
    changed = changed || side != locked_[at];
    locked_[at] = side;
  }
  open_corners_.clear();
  return changed;
}

// Argument of an outer switch at a corner, and its rate along the present motion.
double ModeMotion::corner_value(int outer, int corner) {
  double value = 0;
  at_corner(outer, corner, [&] {
    system_.switches()[outer_[outer]].value.evaluate(work_.in.data(), &value, work_.registers.data());
  });
  return value;
}

double ModeMotion::corner_rate(int outer, int corner) {
  double rate = 0;
  at_corner(outer, corner, [&] { rate = surface_rate(outer_[outer]); });
  return rate;
}

// Does something with the sides of a corner of the block that an outer switch belongs to.
template <class Action>
void ModeMotion::at_corner(int outer, int corner, const Action& action) {
  double* side = work_.in.data() + layout_.side();
  kept_sides_.assign(side, side + layout_.switches);
  take_corner(outer_block_[outer], corner);
  judge_outer(corner, outer_block_[outer]);
  action();
  std::copy(kept_sides_.begin(), kept_sides_.end(), side);
}

void ModeMotion::take_corner(int block, int corner) {
  const std::vector<int>& members = blocks_[block].members;
  for (std::size_t bit = 0; bit < members.size(); ++bit)
    work_.in[layout_.side() + set_->sliding[members[bit]]] = lower_[members[bit]] + ((corner >> bit) & 1);
}

// Outer switches of a block at a corner.
void ModeMotion::judge_outer(int corner, int block) {
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    if (outer_block_[i] == block)
      work_.in[layout_.side() + outer_[i]] = locked_[static_cast<std::size_t>(corner) * outer_.size() + i];
  }
}

// The vector field for every combination of sides within a block, for all blocks at once.
bool ModeMotion::evaluate_corners() {
  const std::vector<int>& sliding = set_->sliding;
  const int count = static_cast<int>(sliding.size());
  int corners = 0;
  for (const Block& block : blocks()) corners = std::max(corners, block.corners());
  for (int c = 0; c < corners; ++c) {
    take_corner(c);
    for (std::size_t b = 0; b < block_count_; ++b) {
      if (c < blocks_[b].corners()) judge_outer(c, static_cast<int>(b));
    }
    if (!evaluate_plain()) return false;
    for (int k = 0; k < count; ++k) {
      corner_rate_[c * count + k] = set_->mode.surface[sliding[k]] == AtSurface::rests
                                        ? surface_acceleration(sliding[k])
                                        : surface_rate(sliding[k]);
    }
    double* out = corner_.data() + static_cast<std::size_t>(c) * at_.size;
    std::copy_n(outcome_.data(), at_.rate, out);
    std::copy_n(work_.rate.data(), layout_.states, out + at_.rate);
    std::copy_n(work_.force.data(), n_, corner_force_.data() + static_cast<std::size_t>(c) * n_);
  }
  return true;
}

// Share of a corner in the motion of a block; `without`: a member that is left out, −1: none.
double ModeMotion::weight(int block, int corner, int without) const {
  double w = 1;
  const std::vector<int>& members = blocks_[block].members;
  for (std::size_t bit = 0; bit < members.size(); ++bit) {
    if (static_cast<int>(bit) == without) continue;
    w *= ((corner >> bit) & 1) != 0 ? alpha_[members[bit]] : 1 - alpha_[members[bit]];
  }
  return w;
}

double ModeMotion::block_rate(int corner, int k) const {
  return corner_rate_[corner * static_cast<int>(set_->sliding.size()) + k];
}

// The coefficients that keep all surfaces of a block at zero. The rates are multilinear in them: solved by Newton from the last ones.
bool ModeMotion::find_coefficients(int block) {
  const std::vector<int>& members = blocks_[block].members;
  const int count = static_cast<int>(members.size());
  const int corners = blocks_[block].corners();
  int free = 0;  // coefficients that the surfaces determine
  for (const int k : members) {
    const int id = set_->sliding[k];
    bool still = set_->mode.surface[id] == AtSurface::slides;
    for (int c = 0; c < corners; ++c) still = still && block_rate(c, k) == block_rate(0, k);
    parallel_[id] = still ? 1 : 0;
    if (still) {
      alpha_[k] = parallel_coefficient(k);
    } else {
      ++free;
    }
  }
  if (free == 0) return true;
  if (count == 1) {
    const int k = members.front();
    const double difference = block_rate(0, k) - block_rate(1, k);
    if (difference == 0) return false;
    alpha_[k] = block_rate(0, k) / difference;
    return true;
  }
  const int stride = count + 1;
  for (int iteration = 0; iteration < 50; ++iteration) {
    double worst = 0;
    double scale = 0;
    for (int a = 0; a < count; ++a) {
      double value = 0;
      for (int c = 0; c < corners; ++c) {
        value += weight(block, c, -1) * block_rate(c, members[a]);
        scale = std::max(scale, std::abs(block_rate(c, members[a])));
      }
      const bool fixed = parallel_[set_->sliding[members[a]]] != 0;
      newton_[a * stride + count] = fixed ? 0 : -value;
      if (!fixed) worst = std::max(worst, std::abs(value));
      for (int b = 0; b < count; ++b) {
        double slope = 0;
        for (int c = 0; c < corners; ++c)
          slope += ((c >> b) & 1 ? 1.0 : -1.0) * weight(block, c, b) * block_rate(c, members[a]);
        newton_[a * stride + b] = fixed ? (a == b ? 1 : 0) : slope;
      }
    }
    if (worst <= 4e-16 * scale) return true;
    // Gauss-Jordan with row pivoting on the small system.
    for (int p = 0; p < count; ++p) {
      int best = p;
      for (int r = p + 1; r < count; ++r) {
        if (std::abs(newton_[r * stride + p]) > std::abs(newton_[best * stride + p])) best = r;
      }
      for (int c = 0; c <= count; ++c) {
        std::swap(newton_[p * stride + c], newton_[best * stride + c]);
      }
      const double pivot = newton_[p * stride + p];
      if (pivot == 0 || !std::isfinite(pivot)) return false;
      for (int r = 0; r < count; ++r) {
        if (r == p) continue;
        const double ratio = newton_[r * stride + p] / pivot;
        for (int c = p; c <= count; ++c) {
          newton_[r * stride + c] -= ratio * newton_[p * stride + c];
        }
      }
    }
    for (int a = 0; a < count; ++a)
      alpha_[members[a]] += newton_[a * stride + count] / newton_[a * stride + a];
  }
  return false;
}

bool ModeMotion::evaluate_sliding() {
  constexpr std::size_t kMostCoupled = 10;
  constexpr double kLevelMargin =
      0x1p-30;  // the stored side of a level tells its lower side, whatever the coefficient
  const std::vector<int>& sliding = set_->sliding;
  for (const Block& block : blocks()) {
    if (block.members.size() > kMostCoupled) return false;
  }
  if (!evaluate_corners()) return false;
  for (std::size_t b = 0; b < block_count_; ++b) {
    if (!find_coefficients(static_cast<int>(b))) return false;
  }
  for (int i = 0; i < at_.size; ++i) {
    const int block = block_of_[i];
    if (block < 0) {
      outcome_[i] = corner_[i];
      continue;
    }
    double sum = 0;
    double terms = 0;
    for (int c = 0; c < blocks_[block].corners(); ++c) {
      const double term = weight(block, c, -1) * corner_[static_cast<std::size_t>(c) * at_.size + i];
      sum += term;
      terms += std::abs(term);
    }
    // What the surfaces hold at zero has no motion of rounding either.
    outcome_[i] = std::abs(sum) <= kCancelled * terms ? 0 : sum;
  }
  std::copy_n(outcome_.begin() + at_.rate, layout_.states, work_.rate.begin());
  // The forces that go with it: reactions that are not unique are shared out by them.
  for (int i = 0; i < n_; ++i) {
    const int block = block_of_[i];
    double sum = block < 0 ? corner_force_[i] : 0;
    for (int c = 0; block >= 0 && c < blocks_[block].corners(); ++c)
      sum += weight(block, c, -1) * corner_force_[static_cast<std::size_t>(c) * n_ + i];
    work_.force[i] = sum;
  }
  // The rate towards the surface from each side, with the other sliding switches at their coefficients.
  for (std::size_t b = 0; b < block_count_; ++b) {
    const std::vector<int>& members = blocks_[b].members;
    for (std::size_t bit = 0; bit < members.size(); ++bit) {
      const int k = members[bit];
      const int id = sliding[k];
      double side_rate[2] = {0, 0};
      for (int c = 0; c < blocks_[b].corners(); ++c)
        side_rate[(c >> bit) & 1] += weight(static_cast<int>(b), c, static_cast<int>(bit)) * block_rate(c, k);
      sliding_rates_[2 * id] = side_rate[0];
      sliding_rates_[2 * id + 1] = side_rate[1];
      work_.in[layout_.side() + id] = lower_[k] + alpha_[k];
      set_->mode.side[id] = system_.switches()[id].two_sided()
                                ? alpha_[k]
                                : lower_[k] + std::clamp(alpha_[k], 2 * kLevelMargin, 1 - 2 * kLevelMargin);
    }
  }
  for (const int k : outer_) work_.in[layout_.side() + k] = system_.side_of_value(work_, k);
  powers_known_ = false;  // those were of one corner
  return open_corners_.empty() || !decide_open_corners() || evaluate_sliding();
}

// The coefficient of a switch that acts in parallel with sticking friction: the friction force that changes most with it is brought as
// near to zero as the coefficient allows.
double ModeMotion::parallel_coefficient(int k) const {
  const Block& block = blocks_[coupling_.block()[k]];
  const auto bit = std::find(block.members.begin(), block.members.end(), k) - block.members.begin();
  const int corners = block.corners();
  double best = 0.5;
  double largest = 0;
  for (int j = 0; j < layout_.tangents; ++j) {
    if (set_->mode.tangent[j] != TangentStatus::stick) continue;
    double force[2] = {0, 0};
    for (int c = 0; c < corners; ++c) {
      force[(c >> bit) & 1] +=
          corner_[static_cast<std::size_t>(c) * at_.size + at_.tangent + j] * 2 / corners;
    }
    const double change = force[1] - force[0];
    if (std::abs(change) <= largest) continue;
    largest = std::abs(change);
    best = std::clamp(-force[0] / change, 0.0, 1.0);
  }
  if (largest > 0) return best;
  // Where nothing sticks and its surface is met without a slope (x + x'*abs(x')/2 at the origin), the motion rests there by the combination that
  // leaves its coordinates without acceleration.
  for (const int i : system_.switches()[set_->sliding[k]].sees) {
    double acceleration[2] = {0, 0};
    for (int c = 0; c < corners; ++c)
      acceleration[(c >> bit) & 1] += corner_[static_cast<std::size_t>(c) * at_.size + i] * 2 / corners;
    const double change = acceleration[1] - acceleration[0];
    if (std::abs(change) <= largest) continue;
    largest = std::abs(change);
    best = std::clamp(-acceleration[0] / change, 0.0, 1.0);
  }
  return best;
}

bool ModeMotion::evaluate_equations() {
  if (uniform_known_) return true;
  if (set_->sliding.empty() ? !evaluate_plain() : !evaluate_sliding()) return false;
  for (int i = 0; i < n_; ++i) {
    if (!std::isfinite(outcome_[i])) return false;
  }
  uniform_known_ = set_->uniform;
  return true;
}

void ModeMotion::respond(const double* force, const double* zeta, double* acceleration, double* lambda,
                         double* acceleration_low) {
  set_->rows.respond(force, zeta, acceleration, lambda, acceleration_low);
  for (const Pin& pin : pins_) {
    acceleration[pin.coordinate] = 0;
    if (acceleration_low != nullptr) acceleration_low[pin.coordinate] = 0;
  }
}

double ModeMotion::surface_rate(int k) { return rate_of(system_.switches()[k].surface); }

double ModeMotion::surface_acceleration(int k) { return rate_of(system_.switches()[k].rate); }

// d/dt along the present motion of a function of the state that is given with its derivatives.
double ModeMotion::rate_of(const expr::Program& program) {
  program.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
  const double* gradient = surface_.data() + 2;
  double rate = surface_[1];
  rate += dot(gradient, work_.in.data() + layout_.v(), n_);
  rate += dot(gradient + n_, outcome_.data(), n_);
  rate += dot(gradient + 2 * n_, work_.rate.data(), layout_.states);
  return rate;
}

void ModeMotion::pin(double t, double* y) const {
  for (const Pin& pin : pins_) {
    y[pin.coordinate] = pin.at(t);
    y[n_ + pin.coordinate] = pin.velocity;
  }
}

bool ModeMotion::operator()(double t, const double* y, double* rate) {
  load(t, y);
  powers_asked_ = components() > layout_.integrated();
  powers_known_ = false;
  const bool evaluated = evaluate();
  powers_asked_ = false;
  if (!evaluated) return false;
  std::memcpy(rate, work_.in.data() + layout_.v(), sizeof(double) * n_);
  std::memcpy(rate + n_, outcome_.data(), sizeof(double) * n_);
  for (int i = 0; i < layout_.states; ++i) {
    rate[2 * n_ + i] = work_.rate[i];
    if (!std::isfinite(rate[2 * n_ + i])) return false;
  }
  if (components() > layout_.integrated()) audit(rate + layout_.integrated());
  return true;
}

// Powers are combined as the forces are whose powers they are; powers_ holds those with the coefficients for sides, which are theirs only where these
// enter linearly. Blocks act on different forces, so what each of them changes adds up.
void ModeMotion::combine_powers() {
  const int count = layout_.audits;
  double* side = work_.in.data() + layout_.side();
  kept_sides_.assign(side, side + layout_.switches);
  blended_powers_.assign(powers_.begin(), powers_.end());
  corner_powers_.resize(count);
  for (std::size_t b = 0; b < block_count_; ++b) {
    for (int e = 0; e < count; ++e) powers_[e] -= blended_powers_[e];
    for (int c = 0; c < blocks_[b].corners(); ++c) {
      take_corner(static_cast<int>(b), c);
      judge_outer(c, static_cast<int>(b));
      system_.powers(work_, corner_powers_.data());
      const double share = weight(static_cast<int>(b), c, -1);
      for (int e = 0; e < count; ++e) powers_[e] += share * corner_powers_[e];
      std::copy(kept_sides_.begin(), kept_sides_.end(), side);
    }
  }
}

// Power of every audited element: dissipated, then supplied.
void ModeMotion::audit(double* rate) {
  const auto& audits = system_.audits();
  double* dissipated = rate;
  double* supplied = rate + layout_.audits;
  std::fill_n(rate, 2 * layout_.audits, 0.0);
  if (!powers_known_) system_.powers(work_, powers_.data());
  if (!set_->sliding.empty()) combine_powers();
  for (std::size_t e = 0; e < audits.size(); ++e) {
    const model::AuditInfo& element = audits[e];
    if (element.power >= 0) {
      const double power = powers_[element.power];
      (element.dissipative ? dissipated[e] : supplied[e]) = element.dissipative ? -power : power;
    }
    if (element.relation < 0) continue;
    const auto r = (element.relation);
    if (!std::binary_search(set_->touched.begin(), set_->touched.end(), element.relation)) continue;
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    const double* v = work_.in.data() + layout_.v();
    const auto along = [&](const double* row) {
      double sum = 0;
      for (const int i : relation.touches) sum += row[i] * v[i];
      return sum;
    };
    const double normal = outcome_[at_.normal + r];
    if (relation.has_normal)
      supplied[e] += relation.own_push ? normal * along(rows.push) : -normal * rows.gap_time;
    for (int j = 0; j < relation.tangents; ++j) {
      const double force = outcome_[at_.tangent + relation.first_tangent + j];
      const TangentStatus status = set_->mode.tangent[relation.first_tangent + j];
      const double slip =
          status == TangentStatus::stick ? 0 : along(rows.tangent[j].w) + rows.tangent[j].drive;
      dissipated[e] -= force * slip;
      supplied[e] +=
          relation.own_push ? force * (along(rows.tangent[j].drag) - slip) : -force * rows.tangent[j].drive;
    }
  }
}

void ModeMotion::take_massless(double* y) const {
  for (int i = 0; i < n_; ++i) {
    if (!system_.massless()[i]) continue;
    y[i] = work_.in[layout_.q() + i];
    y[n_ + i] = work_.in[layout_.v() + i];
  }
}

void ModeMotion::publish() {
  // The places of the inputs are in the same order.
  std::copy_n(outcome_.begin(), at_.rate, work_.in.begin() + layout_.acceleration());
}

bool ModeMotion::project(double t, double* y, bool positions) {
  pin(t, y);
  const int count = active();
  if (count == 0 || all_pinned()) return true;
  // Corrections act along the rows alone: with their friction they would be magnified without bound where a contact is about to jam.
  const auto rows_of = [this](int r) { static_cast<void>(system_.rows(work_, r)); };
  if (positions) {
    for (int iteration = 0; iteration < 8; ++iteration) {
      load(t, y);
      if (!set_->constant && !system_.motion(work_)) return false;
      for (const int r : set_->touched) rows_of(r);
      if (!set_->constant) {
        set_->rows.build_columns(set_->mode, {});
        if (!set_->rows.factorise(false, ranking_)) return false;
      }
      // Correct with the impulses of closed and held rows only; sticking rows keep their slip position.
      double worst = 0;
      double largest = 0;
      for (int k = 0; k < count; ++k) {
        const ActiveRows::Row& a = set_->rows[k];
        const model::Relation& relation = system_.relations()[a.relation];
        double value = 0;
        if (a.tangent < 0 && relation.holonomic) {
          double rate = 0;
          system_.gap(work_, a.relation, value, rate);
          const double* g = set_->rows.row(k);
          double terms = 0;
          for (int i = 0; i < n_; ++i) terms += std::abs(g[i] * y[i]);
          if (std::abs(value) > 4e-16 * terms) worst = std::max(worst, std::abs(value));
          largest = std::max(largest, terms);
        }
        residual_[k] = -value;
      }
      if (worst == 0) break;
      if (iteration == 7) return worst <= 1e-12 * largest;
      set_->rows.solve(residual_.data());
      for (int k = 0; k < count; ++k) {
        const double* response = set_->rows.response(k);
        for (int i = 0; i < n_; ++i) y[i] += residual_[k] * response[i];
      }
      pin(t, y);
    }
  }
  for (int iteration = 0; iteration < 3; ++iteration) {
    load(t, y);
    if (!set_->constant && !system_.motion(work_)) return false;
    for (const int r : set_->touched) rows_of(r);
    set_->rows.hold_velocities(y + n_);
    pin(t, y);
    if (!set_->constant) {
      set_->rows.build_columns(set_->mode, {});
      if (!set_->rows.factorise(false, ranking_)) return false;
    }
    bool done = true;
    for (int k = 0; k < count; ++k) {
      const double* g = set_->rows.row(k);
      double value = set_->rows.drive(k);
      double terms = std::abs(value);
      for (int i = 0; i < n_; ++i) {
        value += g[i] * y[n_ + i];
        terms += std::abs(g[i] * y[n_ + i]);
      }
      if (std::abs(value) > 4e-16 * terms) done = false;
      residual_[k] = -value;
    }
    if (done) break;
    set_->rows.solve(residual_.data());
    for (int k = 0; k < count; ++k) {
      const double* response = set_->rows.response(k);
      for (int i = 0; i < n_; ++i) y[n_ + i] += residual_[k] * response[i];
    }
    set_->rows.hold_velocities(y + n_);
    pin(t, y);
  }
  return true;
}

}  // namespace judder::engines
