#include "judder/analysis/impacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "judder/core/number.hpp"
#include "judder/engines/collision.hpp"

namespace judder::analysis {
namespace {

double kinetic_energy(const model::System& system, model::Workspace& work) {
  double kinetic = 0, potential = 0, total = 0;
  system.energies(work, kinetic, potential, total);
  return kinetic;
}

/// Everything that is the same for all laws: who takes part, and the velocities before.
class Collector {
 public:
  Collector(const model::System& system, const MetCollision* met, Impacts& out, Patience& patience)
      : system_(system),
        work_(system),
        collision_(system, work_),
        out_(out),
        patience_(patience),
        met_(met),
        start_(system.start()) {
    if (met != nullptr) {
      start_[0] = met->time;
      std::copy(met->state.begin(), met->state.end(), start_.begin() + system.layout().q());
      work_.in = start_;
      system.sides_by_value(start_, work_);
    }
    work_.in = start_;
    const model::Layout& layout = system.layout();
    mode_.side.assign(work_.in.begin() + layout.side(), work_.in.begin() + layout.side() + layout.switches);
    mode_.surface.assign(layout.switches, engines::AtSurface::away);
    out_.time = work_.in[0];
    out_.coordinates = system.coordinate_names();
    out_.velocity_before.assign(work_.in.begin() + layout.v(),
                                work_.in.begin() + layout.v() + layout.coordinates);
  }

  void run() {
    if (!system_.motion(work_)) {
      out_.outcome = ImpactsOutcome::failed;
      out_.status.reason = work_.mass_failed ? Reason::singular_mass : Reason::not_finite;
      out_.status.message = "the equations cannot be evaluated at the start";
      return;
    }
    bool closing = engines::observe(system_, work_, mode_, touching_);
    if (met_ != nullptr) closing = take_what_was_met();
    if (too_many()) return;
    out_.energy_before = kinetic_energy(system_, work_);
    classify();
    if (closing) {
      collide();
    } else if (!tangential()) {
      out_.outcome = ImpactsOutcome::no_collision;
      out_.reason = why_not();
    }
  }

 private:
  // What the run says of its contacts, in place of what their gaps say. True if one is struck.
  bool take_what_was_met() {
    bool any = false;
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (int r = 0; r < system_.layout().relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      const bool struck = has(met_->struck, relation.name);
      any = any || struck;
      if (relation.kind != model::RelationKind::contact || !relation.has_normal) {
        if (struck) touching_[r] = engines::strikes;
        continue;
      }
      const bool closed = !struck && has(met_->closed, relation.name);
      mode_.normal[r] = closed ? engines::NormalStatus::closed : engines::NormalStatus::open;
      touching_[r] = struck ? engines::strikes : 0;
      const model::RelationRows& rows = system_.rows(work_, r);
      for (int j = 0; j < relation.tangents; ++j) {
        engines::TangentStatus& status = mode_.tangent[relation.first_tangent + j];
        if (!closed) status = engines::TangentStatus::free;
        if (!closed || relation.smooth_friction || status != engines::TangentStatus::free) continue;
        double slip = rows.tangent[j].drive;
        for (const int i : relation.touches) slip += rows.tangent[j].w[i] * start_[system_.layout().v() + i];
        status = slip > 0   ? engines::TangentStatus::slip_plus
                 : slip < 0 ? engines::TangentStatus::slip_minus
                            : engines::TangentStatus::stick;
      }
    }
    return any;
  }

  // Whether more rows are closed than their numbers have room for.
  bool too_many() {
    constexpr int kMostRows = 2500;
    int rows = 0, first = -1;
    for (int r = 0; r < system_.layout().relations; ++r) {
      const model::Relation& relation = system_.relations()[r];
      if (!relation.has_normal || (mode_.normal[r] == engines::NormalStatus::open && touching_[r] == 0))
        continue;
      if (first < 0) first = r;
      rows += 1 + relation.tangents;
    }
    if (rows <= kMostRows) return false;
    out_.outcome = ImpactsOutcome::failed;
    out_.status = {Reason::unsupported, out_.time, system_.relations()[first].place,
                   std::to_string(rows) + " contacts, constraints and slips are closed here; at most " +
                       std::to_string(kMostRows) + " can be"};
    return true;
  }

  // Slipping closed contacts, with every combination of the other closed contacts open or closed.
  void classify() {
    const auto& relations = system_.relations();
    for (int r = 0; r < system_.layout().relations; ++r) {
      if (!relations[r].has_normal || relations[r].tangents != 1 ||
          mode_.normal[r] == engines::NormalStatus::open)
        continue;
      std::vector<int> others;
      for (int k = 0; k < system_.layout().relations; ++k) {
        if (k != r && mode_.normal[k] == engines::NormalStatus::closed) others.push_back(k);
      }
      int combinations = 1;
      for (std::size_t i = 0; i < others.size() && combinations < kMostCombinations; ++i) combinations *= 2;
      for (int c = 0; c < combinations; ++c) {
        patience_.look();
        // Among very many contacts each is seen with the others as they are.
        constexpr std::size_t kMostNumbers = 1000000;
        if (c > 0 && out_.sliding.size() * others.size() > kMostNumbers) break;
        engines::Mode mode = mode_;
        SlidingClass sliding;
        for (std::size_t i = 0; i < others.size() && (1 << i) < combinations; ++i) {
          if ((c >> i & 1) == 0) continue;
          mode.normal[others[i]] = engines::NormalStatus::open;
          for (int j = 0; j < relations[others[i]].tangents; ++j)
            mode.tangent[relations[others[i]].first_tangent + j] = engines::TangentStatus::free;
          sliding.opened.push_back(relations[others[i]].name);
        }
        const auto alone = collision_.sliding(mode, r, false);
        if (!alone) break;
        sliding.relation = r;
        sliding.name = relations[r].name;
        sliding.contact = *alone;
        out_.sliding.push_back(std::move(sliding));
      }
    }
    work_.in = start_;
  }

  // The rows in the order of `contacts`; normal and tangential rows of each.
  struct Rows {
    int normal = -1;
    std::vector<int> tangents;
  };

  std::vector<Rows> list_contacts(const contact::ImpactProblem& problem) {
    std::vector<Rows> rows;
    const std::size_t first = out_.contacts.size();
    for (int i = 0; i < collision_.size(); ++i) {
      const engines::Collision::Row row = collision_.row(i);
      const model::Relation& relation = system_.relations()[row.relation];
      if (row.tangent < 0) {
        CollidingContact contact;
        contact.relation = row.relation;
        contact.name = relation.name;
        contact.constraint = relation.kind == model::RelationKind::constraint;
        contact.approaches = touching_[row.relation] == engines::strikes;
        contact.separates = touching_[row.relation] == engines::separates;
        contact.normal_before = problem.before[i];
        contact.restitution = problem.law[i].restitution;
        out_.contacts.push_back(std::move(contact));
        rows.push_back({i, {}});
        continue;
      }
      // A joint fed by a normal force stands for itself.
      std::size_t at = first;
      while (at < out_.contacts.size() && out_.contacts[at].relation != row.relation) ++at;
      if (at == out_.contacts.size()) {
        CollidingContact joint;
        joint.relation = row.relation;
        joint.name = relation.name;
        out_.contacts.push_back(std::move(joint));
        rows.emplace_back();
      }
      CollidingContact& contact = out_.contacts[at];
      if (contact.slip_before.empty()) {
        contact.mu = problem.mu[i - problem.normals];
        contact.mu_static = problem.mu_static[i - problem.normals];
      }
      contact.slip_before.push_back(problem.before[i]);
      rows[at - first].tangents.push_back(i);
    }
    return rows;
  }

  void collide() {
    out_.outcome = ImpactsOutcome::collision;
    work_.in = start_;
    out_.status = collision_.begin(mode_, touching_);
    if (!out_.status.ok()) {
      out_.outcome = ImpactsOutcome::failed;
      return;
    }
    for (const ImpactEntry& entry : impact_laws()) {
      out_.laws.emplace_back();
      out_.laws.back().law = entry.word;
      out_.laws.back().velocity = out_.velocity_before;
    }
    for (int block = 0; block < collision_.blocks(); ++block) collide_block(block, collision_.blocks() == 1);
    const model::Layout& layout = system_.layout();
    for (LawImpact& law : out_.laws) {
      std::copy(law.velocity.begin(), law.velocity.end(), work_.in.begin() + layout.v());
      law.energy_after = kinetic_energy(system_, work_);
    }
    std::copy(out_.velocity_before.begin(), out_.velocity_before.end(), work_.in.begin() + layout.v());
  }

  // Contacts that nothing connects are struck at the same instant: each block is an impact of its own.
  void collide_block(int block, bool alone) {
    collision_.take(block);
    contact::ImpactProblem problem = collision_.problem();
    const std::size_t first = out_.contacts.size();
    const std::vector<Rows> rows = list_contacts(problem);
    std::vector<contact::ImpactLaw> laws(problem.law, problem.law + problem.normals);
    problem.law = laws.data();
    contact::ImpactWorkspace workspace(problem.normals, problem.tangents);
    workspace.use(&patience_);
    const auto single = contact::single_contact(problem, workspace);
    if (single && alone) {
      out_.path = single->path;
      for (std::size_t c = 0; c < rows.size(); ++c) {
        if (rows[c].normal == single->contact) out_.path_contact = static_cast<int>(first + c);
      }
    }
    for (std::size_t l = 0; l < impact_laws().size(); ++l) {
      for (contact::ImpactLaw& law : laws) law.type = impact_laws()[l].type;
      const contact::ImpactResult result = contact::impact(problem, {}, workspace);
      LawImpact& law = out_.laws[l];
      const LawImpact before = block == 0 ? LawImpact{} : law;
      if (block == 0 || !result.ok()) law.status = result.status;
      if (before.status == contact::ImpactStatus::solved_unchecked && result.ok()) law.status = before.status;
      law.form = result.form;
      law.several_velocities = law.several_velocities || result.several_velocities;
      law.impulses_unique = law.impulses_unique && result.impulses_unique;
      law.energy_change += result.energy_change;
      law.energy_gain += result.energy_gain;
      for (const Rows& own : rows) {
        ContactImpulse impulse;
        impulse.form = result.form;
        if (own.normal >= 0) {
          impulse.normal_impulse = result.impulse[own.normal];
          impulse.normal_after = result.after[own.normal];
          impulse.normal_work = result.work[own.normal];
        }
        for (const int t : own.tangents) {
          impulse.tangential_impulse.push_back(result.impulse[t]);
          impulse.slip_after.push_back(result.after[t]);
          impulse.tangential_work += result.work[t];
        }
        law.contacts.push_back(std::move(impulse));
      }
      if (result.path != nullptr && alone) {
        law.path.assign(result.path->piece.begin(), result.path->piece.begin() + result.path->pieces);
        law.compression_impulse = result.path->compression_impulse;
      }
      add_velocities(result.impulse, law);
    }
  }

  void add_velocities(std::span<const double> impulses, LawImpact& law) {
    for (int i = 0; i < collision_.size(); ++i) {
      if (impulses[i] == 0) continue;
      const double* response = collision_.response(i);
      for (int k = 0; k < system_.layout().coordinates; ++k) law.velocity[k] += impulses[i] * response[k];
    }
  }

  void set_velocities(const std::vector<double>& impulses, LawImpact& law) {
    const model::Layout& layout = system_.layout();
    law.velocity = out_.velocity_before;
    add_velocities(impulses, law);
    std::copy(law.velocity.begin(), law.velocity.end(), work_.in.begin() + layout.v());
    law.energy_after = kinetic_energy(system_, work_);
    std::copy(out_.velocity_before.begin(), out_.velocity_before.end(), work_.in.begin() + layout.v());
  }

  // The inelastic impulse path of the first slipping contact that no finite reaction holds.
  bool tangential() {
    for (const SlidingClass& sliding : out_.sliding) {
      if (!sliding.opened.empty() || sliding.contact.kind != contact::NormalKind::unilateral) continue;
      if (sliding.contact.sliding != contact::SlidingCase::inconsistent &&
          sliding.contact.sliding != contact::SlidingCase::jam)
        continue;
      work_.in = start_;
      const auto alone = collision_.sliding(mode_, sliding.relation, true);
      if (!alone) continue;
      const contact::ImpactProblem problem = collision_.problem();
      out_.contacts.clear();
      const std::vector<Rows> rows = list_contacts(problem);
      std::size_t at = 0;
      while (out_.contacts[at].relation != sliding.relation) ++at;
      const int normal = rows[at].normal;
      const int tangent = rows[at].tangents.front();
      for (CollidingContact& contact : out_.contacts) contact.normal_before = 0;
      const contact::PathProblem path = alone->path(0, problem.before[tangent]);
      const contact::PathResult result = collision_.tangential_impact(
          *alone, normal, tangent, sliding.contact.sliding == contact::SlidingCase::jam);
      if (result.status != contact::ImpactStatus::solved || !(result.normal_impulse > 0)) continue;
      std::vector<double> impulses(static_cast<std::size_t>(collision_.size()));
      for (int i = 0; i < collision_.size(); ++i) {
        impulses[i] = i == normal    ? result.normal_impulse
                      : i == tangent ? result.tangential_impulse
                                     : alone->share[2 * i] * result.normal_impulse +
                                           alone->share[2 * i + 1] * result.tangential_impulse;
      }
      LawImpact law;
      law.law = "tangential impact";
      law.form = contact::ImpactForm::path;
      law.energy_change = result.energy_change;
      for (std::size_t c = 0; c < rows.size(); ++c) {
        ContactImpulse impulse;
        impulse.form = contact::ImpactForm::path;
        const auto after = [&](int i) {
          double velocity = problem.before[i];
          for (int k = 0; k < collision_.size(); ++k)
            velocity += problem.A[i * collision_.size() + k] * impulses[k];
          return velocity;
        };
        if (rows[c].normal >= 0) impulse.normal_impulse = impulses[rows[c].normal];
        for (const int t : rows[c].tangents) {
          impulse.tangential_impulse.push_back(impulses[t]);
          impulse.slip_after.push_back(t == tangent ? result.tangent_after : after(t));
        }
        if (c == at) {
          impulse.normal_after = result.normal_after;
          impulse.normal_work = result.normal_work;
          impulse.tangential_work = result.tangential_work;
        }
        law.contacts.push_back(std::move(impulse));
      }
      law.path.assign(result.piece.begin(), result.piece.begin() + result.pieces);
      law.compression_impulse = result.compression_impulse;
      set_velocities(impulses, law);
      law.energy_change = law.energy_after - out_.energy_before;
      out_.laws.push_back(std::move(law));
      out_.path = path;
      out_.path_contact = static_cast<int>(at);
      out_.outcome = ImpactsOutcome::tangential;
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string why_not() {
    const model::System& system = system_;
    bool contacts = false, closed = false;
    double nearest = std::numeric_limits<double>::infinity();
    std::string words;
    for (int r = 0; r < system.layout().relations; ++r) {
      const model::Relation& relation = system.relations()[r];
      if (relation.kind != model::RelationKind::contact || !relation.has_normal) continue;
      contacts = true;
      double gap = 0, rate = 0;
      system.gap(work_, r, gap, rate);
      if (!(gap < nearest)) continue;
      nearest = gap;
      closed = mode_.normal[r] == engines::NormalStatus::closed;
      words = "'" + relation.name + "' has gap " + to_text(gap, 6) + " and rate " + to_text(rate, 6);
    }
    if (!contacts) return "the model has no rigid contact";
    return std::string(closed ? "no contact approaches: " : "no contact touches and approaches: ") + words;
  }

  const model::System& system_;
  model::Workspace work_;
  engines::Collision collision_;
  Impacts& out_;
  Patience& patience_;
  const MetCollision* met_;    // null: the start of the system
  std::vector<double> start_;  // the state at which it is looked, as an array of inputs
  engines::Mode mode_;
  std::vector<std::uint8_t> touching_;
};

}  // namespace

namespace {

Impacts collect(const model::System& system, const MetCollision* met, const std::atomic<bool>* cancel) {
  Impacts out;
  Patience patience;
  patience.start(cancel);
  const expr::OutsideWatch watch(system.graph().outside());
  try {
    Collector(system, met, out, patience).run();
  } catch (const Abandoned&) {
    out = {};
    out.outcome = ImpactsOutcome::failed;
    out.status.reason = Reason::interrupted;
    out.status.message = "interrupted";
  }
  if (watch.failed() >= 0) {
    out = {};
    out.outcome = ImpactsOutcome::failed;
    out.status.reason = Reason::call_failed;
    out.status.message = watch.words(watch.failed());
  }
  return out;
}

}  // namespace

Impacts impacts(const model::System& system, const std::atomic<bool>* cancel) {
  return collect(system, nullptr, cancel);
}

Impacts impacts(const model::System& system, const MetCollision& met, const std::atomic<bool>* cancel) {
  return collect(system, &met, cancel);
}

}  // namespace judder::analysis
