#include "mode_motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace judder::engines {
namespace {

/// The only non-zero entry of a row, or −1.
int single_entry(const model::Row& row) {
  int found = -1;
  for (std::size_t e = 0; e < row.values().size(); ++e) {
    if (row.values()[e] == 0) continue;
    if (found >= 0) return -1;
    found = row.places()[e];
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
  if (std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end())
    series_ = std::make_unique<MotionSeries>(system, work);
  for (const int place : system.massless_balance().unknown) {
    if (place >= layout_.v()) damped_nodes_.push_back(place - layout_.v());
  }
  pins_.reserve(n);
  residual_.resize(layout_.relations + layout_.tangents);
  outcome_.resize(at_.size);
  powers_.resize(layout_.audits);
  sum_terms_.resize(n_);
  terms_.resize(n);
  present_terms_.resize(n);
  rate_rounding_.resize(layout_.states);
  rest_.resize(n);
  drag_response_.resize(n);
  sliding_rates_.resize(2 * switches);
  parallel_.resize(switches);
  surface_.resize(2 + 2 * n + layout_.states);
}

void ModeMotion::use(Patience* patience) {
  patience_ = patience;
  ranking_.use(patience);
  if (series_ != nullptr) series_->use(patience);
}

bool ModeMotion::set_mode(const Mode& mode) {
  const std::uint64_t key = mode.key();
  set_ = kept_.find(key, mode, work_.in.data() + layout_.free_parameter());
  if (set_ == nullptr) {
    set_ = &kept_.fresh();
    set_->key = key;
    set_->rows.use(patience_);
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
    const model::Row& w = s.rows.row(k);
    const int i = single_entry(w);
    if (i < 0 || s.rows.zeta(k) != 0) continue;
    if (std::any_of(s.pins.begin(), s.pins.end(), [i](const auto& pin) { return pin.coordinate == i; }))
      continue;
    const double drive = s.rows.drive(k);
    s.pins.push_back({i, drive == 0 ? 0 : -drive / w[i], s.rows[k].tangent < 0});
  }
  s.everything_pinned = static_cast<int>(s.pins.size()) == n_ && layout_.states == 0;
}

void ModeMotion::find_work() {
  ModeSetting& s = *set_;
  s.works = false;
  for (const model::AuditInfo& element : system_.audits()) s.works = s.works || element.power >= 0;
  for (const int r : s.touched) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.audit < 0) continue;
    const bool idle = relation.rows_constant && !relation.own_push && relation.tangents == 0 &&
                      work_.relation[r].gap_time == 0;
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

void ModeMotion::note_terms() { add_terms(terms_); }

void ModeMotion::add_terms(std::vector<double>& terms) {
  std::copy_n(outcome_.begin(), n_, rest_.begin());
  std::fill(terms.begin(), terms.end(), 0.0);
  const auto take = [&](double lambda, const double* response, int first, int end) {
    for (int i = first; i < end; ++i) {
      rest_[i] -= lambda * response[i];
      terms[i] += std::abs(lambda * response[i]);
    }
  };
  for (int k = 0; k < active(); ++k) {
    const auto [first, end] = set_->rows.response_range(k);
    take(outcome_[place(set_->rows[k])], set_->rows.response(k), first, end);
  }
  for (const int r : set_->touched) {
    const model::Relation& relation = system_.relations()[r];
    const model::RelationRows& rows = work_.relation[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const TangentStatus status = set_->mode.tangent[relation.first_tangent + j];
      if (rows.base == 0 || status == TangentStatus::free) continue;
      if (status == TangentStatus::stick && massless_[r] == 0) continue;
      rows.tangent[j].drag.write(drag_response_.data(), n_);
      system_.solve_mass(work_, drag_response_.data());
      take(outcome_[at_.tangent + relation.first_tangent + j], drag_response_.data(), 0, n_);
    }
  }
  for (int i = 0; i < n_; ++i) terms[i] += std::abs(rest_[i]);
}

double ModeMotion::parting(std::vector<double>& accelerations) {
  constexpr double kBits = 64 * std::numeric_limits<double>::epsilon();
  add_terms(present_terms_);
  accelerations.assign(active(), 0.0);
  double ratio = 0;
  for (int k = 0; k < active(); ++k) {
    const model::Row& w = set_->rows.row(k);
    double moves = set_->rows.zeta(k);
    double rounding = kBits * std::abs(moves);
    for (std::size_t e = 0; e < w.values().size(); ++e) {
      const int i = w.places()[e];
      moves += w.values()[e] * outcome_[i];
      rounding += kBits * std::abs(w.values()[e]) * present_terms_[i];
    }
    if (!(std::abs(moves) > rounding)) continue;
    enclosure_.take(work_.in);
    enclosure_.blur(0, 1 + layout_.integrated());
    rounding += 8 * zeta_rounding(k);
    if (!(std::abs(moves) > rounding)) continue;
    accelerations[k] = moves;
    ratio = std::max(ratio, std::abs(moves) / rounding);
  }
  return ratio;
}

// Of an active row, at the state that the enclosure has taken.
double ModeMotion::zeta_rounding(int k) {
  const model::Relation& relation = system_.relations()[set_->rows[k].relation];
  const int tangent = set_->rows[k].tangent;
  enclosure_.evaluate(relation.rows);
  return enclosure_.width(relation.row_begin(tangent) + (tangent < 0 ? 1 : 2));
}

void ModeMotion::note_all_terms(std::span<const double> size) {
  note_terms();
  if (slides())
    return;  // a combination of two sides is no interval between them: its width would be the jump
  find_rounding(size);
  // Each term adds its own rounding and that of the state, on both sides.
  for (int i = 0; i < n_; ++i) terms_[i] += rest_[i] / (4 * std::numeric_limits<double>::epsilon());
}

void ModeMotion::find_rounding(std::span<const double> size) {
  enclosure_.take(work_.in);
  enclosure_.blur(0, 1 + layout_.integrated());
  for (std::size_t i = 0; i < size.size(); ++i)
    enclosure_.widen(static_cast<int>(1 + i), std::numeric_limits<double>::epsilon() * size[i]);
  enclosure_.evaluate(system_.motion_program());
  for (int i = 0; i < n_; ++i) rest_[i] = enclosure_.width(i);
  for (int i = 0; i < layout_.states; ++i) rate_rounding_[i] = enclosure_.width(n_ + i);
  system_.solve_mass(work_, rest_.data());
  for (int i = 0; i < n_; ++i) rest_[i] = std::abs(rest_[i]);
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
  const int k = set_->rows.find({relation, tangent});
  if (k < 0) return limit;
  const model::Row& w = set_->rows.row(k);
  double sum = std::abs(set_->rows.zeta(k));
  for (std::size_t e = 0; e < w.values().size(); ++e) sum += std::abs(w.values()[e]) * terms_[w.places()[e]];
  const double inverse = dot(w, set_->rows.response(k));
  return std::max(limit, inverse != 0 ? sum / std::abs(inverse) : 0);
}

void ModeMotion::recall(std::span<const double> terms, std::span<const double> side) {
  std::copy(terms.begin(), terms.end(), terms_.begin());
  for (std::size_t k = 0; k < set_->sliding.size(); ++k) {
    alpha_[k] = side[set_->sliding[k]] - lower_[k];
    beta_[k] = 1 - alpha_[k];
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
  each_slipping([&](const model::Relation&, const model::RelationRows& rows, int j, double mu) {
    if (rows.base == 0) return;
    const model::Row& drag = rows.tangent[j].drag;
    for (std::size_t e = 0; e < drag.values().size(); ++e)
      a[drag.places()[e]] += -mu * rows.base * drag.values()[e];
  });
  system_.solve_mass(work_, a);

  const int count = active();
  if (count > 0) {
    for (int k = 0; k < count; ++k) {
      residual_[k] = -(dot(s.rows.row(k), a) + s.rows.zeta(k));
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
    // As in the columns, whatever the sign of a reaction: of those that are not unique one may come out negative here, and on one side of a surface
    // that is slid on a constraint may be pressed from the other side. What they do together counts.
    for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
      const int fed = relation.feeds[f];
      limit += rows.factors[f] * (s.mode.pressed[fed] < 0 ? -normal[fed] : normal[fed]);
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
  return series_ == nullptr ? rate : rate + massless_part(gradient + n_);
}

// Speeds of massless coordinates change as the balance of forces does, with the sides as they are in the inputs.
double ModeMotion::massless_part(const double* slopes) {
  double sum = 0;
  bool known = false;
  for (int i = 0; i < n_; ++i) {
    if (!system_.massless()[i] || slopes[i] == 0) continue;
    if (!known) {
      beside_ = set_->mode;
      for (int k = 0; k < layout_.switches; ++k) {
        beside_.surface[k] = AtSurface::away;
        beside_.side[k] = work_.in[layout_.side() + k];
      }
      if (!series_->compute(beside_, 1)) return 0;
      known = true;
    }
    sum += slopes[i] * series_->velocity(i).c[1];
  }
  return sum;
}

void ModeMotion::pin(double t, double* y) const {
  for (const Pin& pin : pins_) {
    y[pin.coordinate] = pin.at(t);
    y[n_ + pin.coordinate] = pin.velocity;
  }
}

bool ModeMotion::operator()(double t, const double* y, double* rate) {
  if (patience_ != nullptr) patience_->look();
  load_state(t, y);
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
    const auto along = [v](const model::Row& row) { return dot(row, v); };
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
  if (!system_.reads_massless_acceleration()) return;
  // Without inertia there is no equation for it: it is how the speed that the balance gives changes.
  // Before the first decision there is no mode to follow.
  const Mode& mode = set_->mode;
  const bool decided = mode.normal.size() == static_cast<std::size_t>(layout_.relations) &&
                       mode.tangent.size() == static_cast<std::size_t>(layout_.tangents) &&
                       mode.side.size() == static_cast<std::size_t>(layout_.switches) &&
                       mode.surface.size() == static_cast<std::size_t>(layout_.switches);
  // The series solves the balance once more: what the rows read must not move the nodes.
  node_places_.assign(work_.in.begin() + layout_.q(), work_.in.begin() + layout_.q() + layout_.integrated());
  const bool known = decided && series_->compute(mode, 1);
  std::copy(node_places_.begin(), node_places_.end(), work_.in.begin() + layout_.q());
  for (int i = 0; i < n_; ++i) {
    if (system_.massless()[i])
      work_.in[layout_.acceleration() + i] =
          known ? series_->velocity(i).c[1] : std::numeric_limits<double>::quiet_NaN();
  }
}

bool ModeMotion::holds() const {
  for (int k = 0; k < active(); ++k) {
    const bool pins = set_->mode.normal[set_->rows[k].relation] != NormalStatus::held &&
                      single_entry(set_->rows.row(k)) >= 0;
    if (set_->rows[k].tangent < 0 && !pins) return true;
  }
  return false;
}

void ModeMotion::keep_rows(double* direction) {
  const int count = active();
  if (count == 0) return;
  if (!set_->constant) {
    for (const int r : set_->touched) static_cast<void>(system_.rows(work_, r));
    set_->rows.build_columns(set_->mode, {});
    if (!set_->rows.factorise(false, ranking_)) return;
  }
  for (int k = 0; k < count; ++k) {
    const model::Row& g = set_->rows.row(k);
    residual_[k] = 0;
    for (std::size_t e = 0; e < g.values().size(); ++e)
      residual_[k] -= g.values()[e] * direction[g.places()[e]];
  }
  set_->rows.solve(residual_.data());
  for (int k = 0; k < count; ++k) {
    const double* response = set_->rows.response(k);
    for (int i = 0; i < n_; ++i) direction[i] += residual_[k] * response[i];
  }
}

bool ModeMotion::project(double t, double* y, bool positions) {
  pin(t, y);
  const int count = active();
  if (count == 0 || all_pinned()) return true;
  // Corrections act along the rows alone: with their friction they would be magnified without bound where a contact is about to jam.
  const auto rows_of = [this](int r) { static_cast<void>(system_.rows(work_, r)); };
  // Where the shares of the rows cancel, rounding is no correction: what one row holds stays when another one is corrected.
  const auto correct = [this, count](double* target) {
    for (int i = 0; i < n_; ++i) {
      double sum = 0;
      double terms = 0;
      for (int k = 0; k < count; ++k) {
        const double term = residual_[k] * set_->rows.response(k)[i];
        sum += term;
        terms += std::abs(term);
      }
      if (std::abs(sum) <= kCancelled * terms) continue;
      for (int k = 0; k < count; ++k) target[i] += residual_[k] * set_->rows.response(k)[i];
    }
  };
  if (positions) {
    double largest = 0;  // of all rounds: where the place itself is zero, what is left has no other measure
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
      for (int k = 0; k < count; ++k) {
        const ActiveRows::Row& a = set_->rows[k];
        const model::Relation& relation = system_.relations()[a.relation];
        double value = 0;
        if (a.tangent < 0 && relation.holonomic) {
          double rate = 0;
          system_.gap(work_, a.relation, value, rate);
          const model::Row& g = set_->rows.row(k);
          double terms = 0;
          for (std::size_t e = 0; e < g.values().size(); ++e)
            terms += std::abs(g.values()[e] * y[g.places()[e]]);
          if (std::abs(value) > 4e-16 * terms) worst = std::max(worst, std::abs(value));
          largest = std::max(largest, terms);
        }
        residual_[k] = -value;
      }
      if (worst == 0) break;
      if (iteration == 7) return worst <= 1e-12 * largest;
      set_->rows.solve(residual_.data());
      correct(y);
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
      const model::Row& g = set_->rows.row(k);
      double value = set_->rows.drive(k);
      double terms = std::abs(value);
      for (std::size_t e = 0; e < g.values().size(); ++e) {
        const double term = g.values()[e] * y[n_ + g.places()[e]];
        value += term;
        terms += std::abs(term);
      }
      if (std::abs(value) > 4e-16 * terms) done = false;
      residual_[k] = -value;
    }
    if (done) break;
    set_->rows.solve(residual_.data());
    correct(y + n_);
    set_->rows.hold_velocities(y + n_);
    pin(t, y);
  }
  return true;
}

}  // namespace judder::engines
