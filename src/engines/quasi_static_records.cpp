#include "quasi_static_records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace judder::engines {

double hermite(double x, double a, double slope_a, double b, double slope_b) {
  const double y = 1 - x;
  return a * (1 + 2 * x) * y * y + slope_a * x * y * y + b * x * x * (3 - 2 * x) - slope_b * x * x * y;
}

QuasiStaticRecords::QuasiStaticRecords(QuasiStaticScene& scene, Recorder& recorder)
    : scene_(scene), recorder_(recorder), node_(scene.point()) {
  const auto audits = static_cast<std::size_t>(scene.layout.audits);
  works_.assign(static_cast<std::size_t>(scene.layout.integrated()) + 2 * audits, 0.0);
  begun_.assign(2 * audits, 0.0);
  for (std::vector<double>& powers : powers_) powers.assign(2 * audits, 0.0);
  element_powers_.assign(audits + 1, 0.0);
}

void QuasiStaticRecords::restart() {
  std::fill(works_.begin(), works_.end(), 0.0);
  std::fill(begun_.begin(), begun_.end(), 0.0);
  before_instant_ = scene_.mode;
  instant_open_ = false;
}

void QuasiStaticRecords::publish(const QuasiStaticPoint& point) {
  static_cast<void>(scene_.statics.place(point.t, point.q));
  const model::Layout& layout = scene_.layout;
  std::vector<double>& in = scene_.work.in;
  for (std::size_t i = 0; i < scene_.n; ++i) {
    in[layout.v() + i] = point.t_rate > 0 ? point.q_rate[i] / point.t_rate : 0;
    in[layout.acceleration() + i] = 0;
  }
  std::copy(point.normal.begin(), point.normal.end(), in.begin() + layout.normal());
  std::copy(point.tangent.begin(), point.tangent.end(), in.begin() + layout.tangent());
  recorder_.load_works(works_.data(), scene_.work);
}

void QuasiStaticRecords::row(RowKind kind, const QuasiStaticPoint& point) {
  publish(point);
  recorder_.loads.note_peaks(scene_.mode, point.normal);
  recorder_.row(kind, scene_.mode, scene_.work);
}

double QuasiStaticRecords::energy_of(const std::vector<double>& q) {
  static_cast<void>(scene_.statics.place(scene_.here.t, q));
  const double energy = recorder_.residuals.energy(scene_.work);
  recorder_.residuals.note_energy(scene_.work);
  return energy;
}

void QuasiStaticRecords::open_instant(const Mode& before) {
  if (instant_open_) return;
  instant_open_ = true;
  before_instant_ = before;
  if (!recorder_.event_rows()) return;
  publish(scene_.here);
  recorder_.loads.note_peaks(before, scene_.here.normal);
  recorder_.row(RowKind::before, before, scene_.work);
}

void QuasiStaticRecords::close_instant() {
  if (!instant_open_) return;
  instant_open_ = false;
  const double t = scene_.here.t;
  for (int r = 0; r < scene_.layout.relations; ++r) {
    if (scene_.mode.normal[r] != NormalStatus::closed) recorder_.close(r, t);
  }
  recorder_.loads.note(scene_.mode, t, 0, scene_.here.normal);
  publish(scene_.here);
  recorder_.report_pending(t, 0, scene_.mode);
  recorder_.tell(scene_.work);
  RowKind kind{};
  if (recorder_.row_after(t, kind)) row(kind, scene_.here);
  recorder_.samples.pass(t);
}

void QuasiStaticRecords::list_changes(const Mode& before) {
  if (!instant_open_) return;
  const Mode& mode = scene_.mode;
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    const bool was_open =
        before_instant_.normal[r] == NormalStatus::open && before.normal[r] != NormalStatus::open;
    const NormalStatus old = was_open ? NormalStatus::open : before.normal[r];
    before_instant_.normal[r] = mode.normal[r];
    const bool rubs = relation.tangents > 0;
    const TangentStatus now = rubs ? mode.tangent[relation.first_tangent] : TangentStatus::free;
    const TangentStatus then = rubs ? before.tangent[relation.first_tangent] : TangentStatus::free;
    const Word word = now == TangentStatus::slip_plus    ? Word::slip_plus
                      : now == TangentStatus::slip_minus ? Word::slip_minus
                      : now == TangentStatus::stick      ? Word::stick
                                                         : Word::none;
    if (old == NormalStatus::open && mode.normal[r] == NormalStatus::closed) {
      add_event(EventKind::contact, r, word);
    } else if (old == NormalStatus::closed && mode.normal[r] == NormalStatus::open) {
      add_event(EventKind::lift_off, r, Word::none);
    } else if (then != now && then != TangentStatus::free && now == TangentStatus::stick) {
      add_event(EventKind::stick, r, Word::none);
    } else if (then != now && direction(now) != 0) {
      add_event(direction(then) != 0 ? EventKind::reversal : EventKind::slip, r,
                now == TangentStatus::slip_plus ? Word::plus : Word::minus);
    }
  }
}

void QuasiStaticRecords::add_event(EventKind kind, int place, Word word) {
  Event event;
  event.kind = kind;
  event.place = place;
  event.words[0] = word;
  event.energy_before = event.energy_after = energy_of(scene_.here.q);
  recorder_.pending().push_back(event);
}

void QuasiStaticRecords::add_jump(double arc, double energy_before, double energy_after) {
  Event event;
  event.kind = EventKind::jump;
  event.place = -1;
  event.numbers = {arc, 0};
  event.energy_before = energy_before;
  event.energy_after = energy_after;
  recorder_.pending().push_back(event);
}

/// Works per unit of the share, by audit element: dissipated, then supplied. The rates of the point are those by the share.
void QuasiStaticRecords::powers_at(const QuasiStaticPoint& point, std::vector<double>& out) {
  const auto audits = static_cast<std::size_t>(scene_.layout.audits);
  std::fill(out.begin(), out.end(), 0.0);
  publish(point);
  std::fill(element_powers_.begin(), element_powers_.end(), 0.0);
  scene_.system.powers(scene_.work, element_powers_.data());
  for (std::size_t e = 0; e < audits; ++e) {
    const model::AuditInfo& info = scene_.system.audits()[e];
    if (info.power < 0) continue;
    out[info.dissipative ? e : audits + e] +=
        (info.dissipative ? -1 : 1) * element_powers_[info.power] * point.t_rate;
  }
  for (int r = 0; r < scene_.layout.relations; ++r) {
    const model::Relation& relation = scene_.system.relations()[r];
    if (relation.audit < 0) continue;
    const model::RelationRows& rows = scene_.statics.rows(r);
    out[audits + relation.audit] -= point.normal[r] * rows.gap_time * point.t_rate;
    for (int j = 0; j < relation.tangents; ++j) {
      const double force = point.tangent[relation.first_tangent + j];
      out[relation.audit] -=
          force * scene_.statics.slip(r, relation.first_tangent + j, point.q_rate, point.t_rate);
      out[audits + relation.audit] -= force * rows.tangent[j].drive * point.t_rate;
    }
  }
}

/// Powers are linear in the velocity, but for what changes with time alone: that stands still.
void QuasiStaticRecords::add_works_over(const std::vector<double>& way, double factor,
                                        std::vector<double>& works) {
  const auto audits = static_cast<std::size_t>(scene_.layout.audits);
  std::vector<double>& in = scene_.work.in;
  for (const double sign : {1.0, 0.0}) {
    for (std::size_t i = 0; i < scene_.n; ++i) in[scene_.layout.v() + i] = sign * way[i];
    std::fill(element_powers_.begin(), element_powers_.end(), 0.0);
    scene_.system.powers(scene_.work, element_powers_.data());
    for (std::size_t e = 0; e < audits; ++e) {
      const model::AuditInfo& info = scene_.system.audits()[e];
      if (info.power < 0) continue;
      const double work = factor * element_powers_[info.power] * (sign > 0 ? 1 : -1);
      works[info.dissipative ? e : audits + e] += info.dissipative ? -work : work;
    }
  }
}

void QuasiStaticRecords::measure_step(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                      const QuasiStaticPoint& to, double arc) {
  if (scene_.layout.audits == 0) return;
  std::copy_n(dissipated(), begun_.size(), begun_.begin());
  const std::pair<const QuasiStaticPoint*, double> nodes[] = {{&from, 0.0}, {&middle, 0.5}, {&to, 1.0}};
  // The slope of Hermite's cubic at its middle is 3/2 of the chord less a quarter of both slopes.
  const auto slope = [&](double share, double a, double rate_a, double b, double rate_b) {
    if (share == 0) return arc * rate_a;
    if (share == 1) return arc * rate_b;
    return 1.5 * (b - a) - 0.25 * arc * (rate_a + rate_b);
  };
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& [point, share] = nodes[k];
    node_ = *point;
    node_.t_rate = slope(share, from.t, from.t_rate, to.t, to.t_rate);
    for (std::size_t i = 0; i < scene_.n; ++i)
      node_.q_rate[i] = slope(share, from.q[i], from.q_rate[i], to.q[i], to.q_rate[i]);
    powers_at(node_, powers_[k]);
  }
}

void QuasiStaticRecords::work_up_to(double share) {
  const double x = share;
  const double first = x * (1 + x * (-1.5 + x * 2 / 3)), half = x * x * (2 - x * 4 / 3),
               last = x * x * (-0.5 + x * 2 / 3);
  for (std::size_t e = 0; e < begun_.size(); ++e)
    dissipated()[e] = begun_[e] + first * powers_[0][e] + half * powers_[1][e] + last * powers_[2][e];
}

void QuasiStaticRecords::take_step() {
  if (scene_.layout.audits > 0) work_up_to(1);
}

}  // namespace judder::engines
