// Friction laws: from their numbers to coefficients μ, μ_s, to smooth forces κ L, and to states of bristles
// (docs/theory.md).
#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/core/number.hpp"
#include "model/builder.hpp"
#include "model/smooth_laws.hpp"

namespace judder::model {
namespace {

constexpr double kPi = 3.141592653589793;

}  // namespace

int Builder::add_bristle(RelationDraft& draft, Node rate, const std::string& suffix) {
  StateDraft state;
  state.name = draft.name + suffix;
  state.progress = StateDraft::Progress::done;
  state.rate = rate;
  states.push_back(std::move(state));
  draft.bristles.push_back(static_cast<int>(states.size()) - 1);
  return static_cast<int>(states.size()) - 1;
}

// The numbers of a law as functions of the slip speed alone, for pictures and averages: the order of LawNumbers.
template <class Read>
std::vector<Node> Builder::curve_nodes(const FrictionLaw& law, const Read& read) {
  const Node speed = graph.variable(approach);
  Node mu = graph.constant(0), mu_static = mu;
  if (law.mu.given) {
    mu = read(law.mu, 0);
    mu_static = mu;
  } else {
    mu_static = read(law.static_coefficient, 0);
    mu = read(law.dynamic, 0);
    if (law.velocity.given) {
      const Node ratio = graph.power(graph.divide(speed, read(law.velocity, 1)), read(law.exponent, 2));
      const Node decay[] = {graph.negate(ratio)};
      mu = graph.add(mu,
                     graph.multiply(graph.subtract(mu_static, mu), graph.call(expr::Function::exp, decay)));
    }
  }
  const Node viscous = read(law.viscous, 0), damping = read(law.damping, 0);
  return {mu,
          mu_static,
          viscous,
          read(law.stiffness, 0),
          damping,
          read(law.breakaway, 0),
          read(law.beta, 0),
          graph.derivative(mu, approach),
          graph.derivative(viscous, approach),
          graph.derivative(damping, approach)};
}

void Builder::read_law(RelationDraft& draft, const FrictionLaw& law) {
  const bool joint = draft.kind == RelationKind::joint;
  const std::string where = draft.where + (joint ? ", law" : ", friction");
  if (!law.stated()) {
    if (joint)
      report_error(draft.span, draft.where, "the joint has no 'law'",
                   "a bare value is Coulomb's coefficient");
    draft.friction = draft.has_tangential && !draft.slip.empty();
    return;
  }
  const Span span = !law.span.empty() ? law.span : draft.span;
  if (draft.slip.empty()) {
    if (!joint) report_error(span, where, "friction needs a slip velocity", "add the key 'slip'");
    return;
  }

  const FrictionEntry* entry = &friction_laws().front();
  if (!law.type.empty()) {
    entry = find_friction(law.type.text);
    if (entry == nullptr) {
      error(law.type, where, "there is no friction law " + quoted(law.type.text),
            suggestion(law.type.text, friction_words()));
      return;
    }
  }
  const FrictionType type = entry->type;
  const bool smooth = entry->smooth;
  const std::string name = entry->word;

  bool good = true;
  const auto refuse = [&](const Value& value, std::string message, std::string help = {}) {
    error(value, where, std::move(message), std::move(help));
    good = false;
  };
  for (const auto& [key, value] :
       {std::pair(FrictionKey::stiffness, &law.stiffness), std::pair(FrictionKey::damping, &law.damping),
        std::pair(FrictionKey::breakaway, &law.breakaway), std::pair(FrictionKey::beta, &law.beta)}) {
    if (value->given && !entry->has(key))
      refuse(*value, "the law '" + name + "' has no key '" + judder::name(key) + "'");
    if (value->given || !entry->has(key)) continue;
    report_error(span, where, "the law '" + name + "' needs the key '" + judder::name(key) + "'");
    good = false;
  }
  if (law.mu.given && (law.static_coefficient.given || law.dynamic.given)) {
    refuse(law.mu, "a friction law has 'mu', or 'static' and 'dynamic', not both");
  } else if (!law.mu.given && !(law.static_coefficient.given && law.dynamic.given)) {
    report_error(span, where, "the friction law has no coefficient", "give 'mu', or 'static' and 'dynamic'");
    good = false;
  }
  if (law.velocity.given && law.mu.given)
    refuse(law.velocity, "'velocity' belongs to 'static' and 'dynamic'");
  if (law.exponent.given && !law.velocity.given) refuse(law.exponent, "'exponent' needs 'velocity'");
  if (smooth && !law.mu.given && !law.velocity.given) {
    report_error(span, where, "the law '" + name + "' needs one coefficient at each speed",
                 "give 'mu', or 'velocity' beside 'static' and 'dynamic'");
    good = false;
  }
  if (smooth && draft.slip.size() > 1) {
    report_error(span, where, "the law '" + name + "' takes one slip component",
                 "several components need the law 'coulomb'");
    good = false;
  }
  if (type == FrictionType::penalty && !draft.known_load) {
    report_error(span, where, "the law 'penalty' needs a normal force that is known",
                 "use it in a friction joint or a compliant contact, or run with the engine 'penalty'");
    good = false;
  }
  if (!good) return;

  // The slip speed: of one set-valued row σγ with the frozen direction σ; of several their length; of a
  // smooth law |γ|.
  const Node gamma = draft.slip[0].slip;
  Node speed = graph.constant(0);
  if (smooth) {
    speed = graph.absolute(gamma, draft.place + ".speed");
  } else if (draft.slip.size() == 1) {
    speed = graph.multiply(graph.variable(draft.slip[0].direction), gamma);
    graph.assume_size(speed);
  } else {
    std::vector<Node> parts;
    for (const TangentDraft& row : draft.slip) parts.push_back(row.slip);
    speed = graph.call(expr::Function::hypot, parts);
  }
  const auto read_at = [&](const Value& value, const char* key, Node at) {
    Scope scope(*this, kLaw, where);
    scope.speed = at;
    const auto node =
        lower(value, scope, where, draft.place + "." + (joint ? "law" : "friction"), draft.indices);
    if (!node) {
      good = false;
      return graph.constant(1);
    }
    if (graph.is_constant(*node) && graph.value(*node) < 0) {
      refuse(value, "'" + std::string(key) + "' is negative: " + to_text(graph.value(*node).raw()));
    }
    return *node;
  };
  const auto read = [&](const Value& value, const char* key) { return read_at(value, key, speed); };
  const auto positive = [&](const Value& value, const char* key, Node node) {
    if (graph.is_constant(node) && !(graph.value(node) > 0) && good)
      refuse(value, "'" + std::string(key) + "' must be positive");
  };

  Node mu = graph.constant(0), mu_static = mu;
  if (law.mu.given) {
    mu = read(law.mu, "mu");
    mu_static = good ? read_at(law.mu, "mu", graph.constant(0)) : mu;
  } else {
    const Node fixed = read(law.static_coefficient, "static");
    const Node moving = read(law.dynamic, "dynamic");
    mu_static = good ? read_at(law.static_coefficient, "static", graph.constant(0)) : fixed;
    if (graph.is_constant(fixed) && graph.is_constant(moving)) {
      const expr::Number least = graph.value(moving);
      if (graph.value(fixed) < least * (1 - 8 * std::numeric_limits<double>::epsilon())) {
        refuse(law.static_coefficient, "'static' (" + to_text(graph.value(fixed).raw(), 6) +
                                           ") is smaller than 'dynamic' (" + to_text(least.raw(), 6) +
                                           "): nothing would hold, and nothing would slide, between them");
      } else if (graph.value(fixed) < least) {
        mu_static = moving;  // 0.3 beside 3*0.1
      }
    }
    if (law.velocity.given) {
      const Node velocity = read(law.velocity, "velocity");
      const Node exponent = law.exponent.given ? read(law.exponent, "exponent") : graph.constant(2);
      positive(law.velocity, "velocity", velocity);
      positive(law.exponent, "exponent", exponent);
      const Node relative = graph.divide(speed, velocity);
      // Trial steps go beyond the end of a slip, where a fractional power of a speed along the slip is no number: there it goes on as behind a mirror.
      const bool whole = graph.is_constant(exponent) && is_whole(graph.value(exponent));
      const Node ratio = whole ? graph.power(relative, exponent)
                               : graph.power(graph.power(relative, graph.constant(2)),
                                             graph.multiply(graph.constant(0.5), exponent));
      const Node decay[] = {graph.negate(ratio)};
      mu = graph.add(moving,
                     graph.multiply(graph.subtract(fixed, moving), graph.call(expr::Function::exp, decay)));
    } else {
      mu = moving;
    }
  }
  // Open contacts carry no friction: what is part of h is switched by the status of a rigid contact, or by
  // the depth of a compliant one.
  const bool rigid = draft.kind == RelationKind::contact && !draft.compliant;
  Node acting = graph.constant(1);
  const auto switch_off = [&] {
    if (rigid) return graph.variable(draft.closed);
    if (!draft.compliant) return graph.constant(1);
    if (graph.is_constant(draft.touching))
      draft.touching = graph.step(graph.negate(draft.gap), draft.place + ".compliant");
    return draft.touching;
  };
  if (law.viscous.given) {
    const Node viscous = read(law.viscous, "viscous");
    if (!is_zero(viscous)) {
      acting = switch_off();
      for (TangentDraft& row : draft.slip) {
        row.added = graph.negate(graph.multiply(graph.multiply(acting, viscous), row.slip));
      }
    }
  }

  Node kappa = mu;
  if (const SmoothLaw* smooth_law = find_smooth_law(type)) {
    Node beta = graph.constant(0);
    if (entry->has(FrictionKey::beta)) {
      beta = read(law.beta, "beta");
      positive(law.beta, "beta", beta);
    }
    kappa = smooth_law->in_equations(graph, mu, beta, gamma);
  } else if (smooth) {
    const Node stiffness = read(law.stiffness, "stiffness");
    const Node damping = read(law.damping, "damping");
    positive(law.stiffness, "stiffness", stiffness);
    if (!good) return;
    const Variable state = graph.declare(draft.name + ".bristle");
    const Node z = graph.variable(state);
    const std::string place = draft.place + (joint ? ".law" : ".friction");
    const Node zero = graph.constant(0);
    Node rate = zero;
    if (type == FrictionType::penalty) {
      // A slider of limit μL in series with a spring and damper: its force f is also k s + c ṡ.
      const Node limit = graph.multiply(mu, draft.base);
      const Node spring = graph.multiply(stiffness, z);
      const Node trial = graph.add(spring, graph.multiply(damping, gamma));
      const Node f = graph.add(graph.negate(limit),
                               graph.subtract(graph.maximum(graph.add(trial, limit), zero, place),
                                              graph.maximum(graph.subtract(trial, limit), zero, place)));
      if (is_zero(damping)) {
        // Without a damper the spring is held at the limit by sliding on it: beyond the limit it relaxes as
        // fast as the slip.
        const Node above = graph.step(graph.subtract(spring, limit), place);
        const Node below = graph.step(graph.negate(graph.add(spring, limit)), place);
        const Node inside = graph.subtract(graph.constant(1), graph.add(above, below));
        rate = graph.subtract(graph.multiply(inside, gamma),
                              graph.multiply(graph.subtract(above, below), speed));
      } else {
        rate = graph.divide(graph.subtract(f, spring), damping);
      }
      draft.slip[0].added = graph.subtract(draft.slip[0].added, f);
    } else {
      Node relaxation = graph.divide(graph.multiply(stiffness, graph.multiply(speed, z)), mu);
      if (type == FrictionType::elastoplastic) {
        // α(z, γ) of Dupont et al. 2002: 0 below breakaway or against the slip, 1 from the steady bristle
        // μ/σ0 on, a sine between. Where the sine begins and ends its slope is zero: nothing to be located,
        // and a bristle that slides hugs its end within the tolerance. So the cuts are not switches but
        // |u| ≈ √(u² + ε²), with an ε of 1e-9 that changes α by 1e-18. Only the reversal of γ is a kink.
        const Node breakaway = read(law.breakaway, "breakaway");
        if (graph.is_constant(breakaway) && graph.is_constant(stiffness)) {
          const Node least = law.mu.given ? mu : read(law.dynamic, "dynamic");
          if (graph.is_constant(least) &&
              graph.value(breakaway) >= graph.value(least) / graph.value(stiffness)) {
            refuse(law.breakaway,
                   "'breakaway' must be less than the steady deflection " +
                       to_text((graph.value(least) / graph.value(stiffness)).raw(), 6),
                   "that is the coefficient divided by 'stiffness'");
          }
        }
        const Node steady = graph.divide(mu, stiffness);
        const auto rounded = [&](Node u, Node epsilon) {
          const Node sides[] = {u, graph.multiply(graph.constant(1e-9), epsilon)};
          return graph.call(expr::Function::hypot, sides);
        };
        const Node one = graph.constant(1), half = graph.constant(0.5);
        const Node size = rounded(z, steady);
        const Node share = graph.divide(graph.subtract(size, breakaway), graph.subtract(steady, breakaway));
        // 2 min(max(share, 0), 1) − 1
        const Node cut = graph.subtract(rounded(share, one), rounded(graph.subtract(share, one), one));
        const Node angle[] = {graph.multiply(graph.constant(kPi / 2), cut)};
        const Node alpha = graph.add(half, graph.multiply(half, graph.call(expr::Function::sin, angle)));
        const Node along =
            graph.multiply(half, graph.add(graph.multiply(speed, z), graph.multiply(gamma, size)));
        relaxation = graph.multiply(alpha, graph.divide(graph.multiply(stiffness, along), mu));
      }
      rate = graph.subtract(gamma, relaxation);
      if (rigid || draft.compliant) rate = graph.multiply(switch_off(), rate);
      kappa = graph.add(graph.multiply(stiffness, z), graph.multiply(damping, rate));
    }
    const int number = add_bristle(draft, rate, ".bristle");
    states[static_cast<std::size_t>(number)].z = state;
  }
  if (!good) return;

  draft.type = type;
  draft.curve = curve_nodes(law, [&](const Value& value, double otherwise) {
    return value.given ? read_at(value, "", graph.variable(approach)) : graph.constant(otherwise);
  });
  draft.smooth = smooth;
  draft.friction = true;
  if (smooth && draft.known_load) {
    if (type != FrictionType::penalty) {
      draft.slip[0].added = graph.subtract(draft.slip[0].added, graph.multiply(kappa, draft.base));
    }
    return;
  }
  for (TangentDraft& row : draft.slip) {
    row.mu = kappa;
    row.mu_static = smooth ? kappa : mu_static;
  }
  draft.needs_direction = graph.depends_on(draft.slip[0].added, draft.slip[0].direction);
  if (is_zero(kappa) && is_zero(mu_static) && !draft.has_tangential && !draft.needs_direction)
    draft.friction = false;  // no rows to decide
}

}  // namespace judder::model
