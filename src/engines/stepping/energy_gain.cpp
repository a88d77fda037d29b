#include "energy_gain.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

constexpr double kTooMuch = 0.2;    ///< of the energies of the run
constexpr double kListed = 0.01;    ///< counted by the monitor as more than the error of a step
constexpr long kPatience = 2;       ///< looks that follow each other
constexpr long kFirstLooks = 1;     ///< until then a run has no energy to compare with
constexpr double kRounding = 1e-9;  ///< of the energies that are subtracted

/// Its impact law is not a dead stop.
bool may_restore(const model::Relation& relation) {
  if (relation.restitution.outputs() != 2) return false;
  if (!relation.restitution.constant() || relation.has_tangential_restitution) return true;
  double out[2] = {0, 0};
  std::vector<double> registers(static_cast<std::size_t>(relation.restitution.registers()) + 1);
  const std::vector<double> in(static_cast<std::size_t>(relation.restitution.inputs()) + 1);
  relation.restitution.evaluate(in.data(), out, registers.data());
  return out[0] != 0 || relation.impact != ImpactType::moreau;
}

}  // namespace

EnergyGain::EnergyGain(const model::System& system) : system_(system) {
  const auto audits = static_cast<std::size_t>(system.layout().audits);
  total_.resize(audits);
  most_.resize(audits);
  rate_.resize(static_cast<std::size_t>(system.layout().coordinates));
  for (const model::AuditInfo& audit : system.audits())
    bristles_.push_back(audit.relation >= 0 && !system.relations()[audit.relation].bristles.empty() ? 1 : 0);
  spring_ = bristles_;
  for (int e = 0; e < system.layout().audits; ++e) {
    if (system.audits()[e].relation >= 0) of_relations_.push_back(e);
  }
  for (const model::Relation& relation : system.relations())
    restores_.push_back(may_restore(relation) ? 1 : 0);
}

void EnergyGain::start(bool springs, bool spread, double step) {
  for (std::size_t e = 0; e < spring_.size(); ++e) {
    const int r = system_.audits()[e].relation;
    spring_[e] = springs || bristles_[e] != 0 || (spread && r >= 0 && restores_[r] != 0) ? 1 : 0;
  }
  step_ = step;
  lowest_ = rise_ = scale_ = impacts_ = begun_ = 0;
  looks_ = high_ = 0;
  too_much_ = false;
  since_ = made_ = 0;
  std::fill(total_.begin(), total_.end(), 0.0);
  std::fill(most_.begin(), most_.end(), 0.0);
  monitor_.start();
}

void EnergyGain::add(const StepReport& report) {
  const bool struck = !report.smooth;
  double sum = 0;
  for (const int e : of_relations_) {
    const double lost = report.dissipated[e];
    if (lost == 0) continue;
    sum += lost;
    total_[e] += lost;
    // What an impact does is judged in its sum.
    if (struck) most_[e] += lost;
    most_[e] = std::max(most_[e], spring_[e] != 0 ? 0.0 : total_[e]);
  }
  if (!struck) return;
  begun_ = report.finishes || report.unfinished ? begun_ + sum : sum;
  if (report.unfinished) return;
  sum = begun_;
  begun_ = 0;
  if (!(sum < 0)) return;
  for (std::size_t r = 0; r < report.struck.size(); ++r) {
    if (report.struck[r] != 0 && restores_[r] != 0) return;
  }
  impacts_ -= sum;
}

double EnergyGain::gained() const {
  double sum = rise_ + impacts_;
  for (std::size_t e = 0; e < total_.size(); ++e)
    sum += spring_[e] != 0 ? std::max(0.0, -total_[e]) : most_[e] - total_[e];
  return sum;
}

// What the present forces can do in one step: no comparison is finer than that.
double EnergyGain::one_step_energy(model::Workspace& work) {
  if (!system_.motion(work)) return 0;
  std::copy_n(work.force.begin(), rate_.size(), rate_.begin());
  system_.solve_mass(work, rate_.data());
  double sum = 0;
  for (std::size_t i = 0; i < rate_.size(); ++i) sum += rate_[i] * work.force[i];
  return sum * step_ * step_;
}

void EnergyGain::look(model::Workspace& work, double kinetic, double energy, double initial,
                      std::span<const double> works, bool end) {
  const std::size_t audits = total_.size();
  double balance = energy - initial, terms = std::abs(energy) + std::abs(initial) + 2 * std::abs(kinetic);
  for (std::size_t e = 0; e < audits; ++e) {
    balance += works[e] - works[audits + e];
    terms += std::abs(works[e]) + std::abs(works[audits + e]);
  }
  ++looks_;
  lowest_ = looks_ == 1 ? std::min(balance, 0.0) : std::min(lowest_, balance);
  rise_ = balance - lowest_;
  scale_ = std::max({scale_, std::abs(kinetic), std::abs(energy - initial)});
  const double gain = gained(), time = work.in[0];
  const double allowed = kRounding * terms;
  if (!(gain > kListed * scale_ + allowed) || looks_ <= kFirstLooks) {
    monitor_.note(scale_ > 0 && looks_ > kFirstLooks && gain > allowed ? gain / scale_ : 0, kListed, time);
    high_ = 0;
    return;
  }
  const double floor = one_step_energy(work);
  const double share = gain / (scale_ + floor);
  monitor_.note(share, kListed, time);
  if (!(share > kTooMuch)) {
    high_ = 0;
    return;
  }
  ++high_;
  if (too_much_) made_ = std::max(made_, gain);
  if (too_much_ || (high_ < kPatience && !end)) return;
  too_much_ = true;
  since_ = time;
  made_ = gain;
}

Status EnergyGain::verdict(double time) const {
  // The first steps of a motion from rest have next to no energy to be compared with; what they made is nothing where the motion got some.
  if (!too_much_ || !(made_ > kTooMuch * scale_)) return {};
  return {Reason::laws_violated,
          time,
          {},
          "the steps have made " + to_text(made_, 3) +
              " of energy out of nothing, more than a fifth of what the motion has since t = " +
              to_text(since_, 6) + "; take a shorter step, a scheme that dissipates, or the engine 'event'"};
}

void EnergyGain::save(std::vector<double>& out) const {
  out.insert(out.end(), {lowest_, rise_, scale_, impacts_, static_cast<double>(looks_),
                         static_cast<double>(high_), too_much_ ? 1.0 : 0.0, since_, made_, begun_});
  out.insert(out.end(), total_.begin(), total_.end());
  out.insert(out.end(), most_.begin(), most_.end());
  monitor_.save(out);
}

void EnergyGain::load(std::span<const double> saved) {
  lowest_ = saved[0];
  rise_ = saved[1];
  scale_ = saved[2];
  impacts_ = saved[3];
  looks_ = std::lround(saved[4]);
  high_ = std::lround(saved[5]);
  too_much_ = saved[6] != 0;
  since_ = saved[7];
  made_ = saved[8];
  begun_ = saved[9];
  std::copy_n(saved.begin() + kNumbers, total_.size(), total_.begin());
  std::copy_n(saved.begin() + static_cast<std::ptrdiff_t>(kNumbers + total_.size()), most_.size(),
              most_.begin());
  monitor_.load(saved.subspan(kNumbers + 2 * total_.size(), StepMonitor::kSaved));
}

}  // namespace judder::engines
