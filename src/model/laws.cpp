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

namespace {

/// A law of one element: its keys, its coefficients, and what it adds to the forces.
class LawReader {
 public:
  LawReader(Builder& builder, RelationDraft& draft, const FrictionLaw& law)
      : b_(builder),
        draft_(draft),
        law_(law),
        joint_(draft.kind == RelationKind::joint),
        rigid_(draft.kind == RelationKind::contact && !draft.compliant),
        where_(draft.where + (joint_ ? ", law" : ", friction")),
        span_(!law.span.empty() ? law.span : draft.span) {}
  void read();

 private:
  bool find_entry();
  void check_keys();
  void find_speed();
  void refuse(const Value& value, std::string message, std::string help = {});
  Node read_at(const Value& value, const char* key, Node at);
  Node read(const Value& value, const char* key) { return read_at(value, key, speed_); }
  void positive(const Value& value, const char* key, Node node);
  void read_coefficients();
  Node falling(Node fixed, Node moving);
  Node acting();
  void read_viscous();
  Node read_smooth();
  Node read_bristle();
  Node penalty_rate(Node stiffness, Node damping, Node z, const std::string& place);
  Node bristle_relaxation(Node stiffness, Node z);
  Node elastoplastic_relaxation(Node stiffness, Node z);
  void finish(Node kappa);

  Builder& b_;
  RelationDraft& draft_;
  const FrictionLaw& law_;
  const bool joint_, rigid_;
  const std::string where_;
  const Span span_;
  const FrictionEntry* entry_ = &friction_laws().front();
  bool good_ = true;
  Node gamma_{}, speed_{}, mu_{}, mu_static_{};
};

void LawReader::refuse(const Value& value, std::string message, std::string help) {
  b_.error(value, where_, std::move(message), std::move(help));
  good_ = false;
}

bool LawReader::find_entry() {
  if (law_.type.empty()) return true;
  entry_ = find_friction(law_.type.text);
  if (entry_ != nullptr) return true;
  b_.error(law_.type, where_, "there is no friction law " + quoted(law_.type.text),
           suggestion(law_.type.text, friction_words()));
  return false;
}

void LawReader::check_keys() {
  const FrictionType type = entry_->type;
  const bool smooth = entry_->smooth;
  const std::string name = entry_->word;
  for (const auto& [key, value] :
       {std::pair(FrictionKey::stiffness, &law_.stiffness), std::pair(FrictionKey::damping, &law_.damping),
        std::pair(FrictionKey::breakaway, &law_.breakaway), std::pair(FrictionKey::beta, &law_.beta)}) {
    if (value->given && !entry_->has(key))
      refuse(*value, "the law '" + name + "' has no key '" + judder::name(key) + "'");
    if (value->given || !entry_->has(key)) continue;
    b_.report_error(span_, where_, "the law '" + name + "' needs the key '" + judder::name(key) + "'");
    good_ = false;
  }
  if (law_.mu.given && (law_.static_coefficient.given || law_.dynamic.given)) {
    refuse(law_.mu, "a friction law has 'mu', or 'static' and 'dynamic', not both");
  } else if (!law_.mu.given && !(law_.static_coefficient.given && law_.dynamic.given)) {
    b_.report_error(span_, where_, "the friction law has no coefficient",
                    "give 'mu', or 'static' and 'dynamic'");
    good_ = false;
  }
  if (law_.velocity.given && law_.mu.given)
    refuse(law_.velocity, "'velocity' belongs to 'static' and 'dynamic'");
  if (law_.exponent.given && !law_.velocity.given) refuse(law_.exponent, "'exponent' needs 'velocity'");
  if (smooth && !law_.mu.given && !law_.velocity.given) {
    b_.report_error(span_, where_, "the law '" + name + "' needs one coefficient at each speed",
                    "give 'mu', or 'velocity' beside 'static' and 'dynamic'");
    good_ = false;
  }
  if (smooth && draft_.slip.size() > 1) {
    b_.report_error(span_, where_, "the law '" + name + "' takes one slip component",
                    "several components need the law 'coulomb'");
    good_ = false;
  }
  if (type == FrictionType::penalty && !draft_.known_load) {
    b_.report_error(span_, where_, "the law 'penalty' needs a normal force that is known",
                    "use it in a friction joint or a compliant contact, or run with the engine 'penalty'");
    good_ = false;
  }
}

/// The slip speed: of one set-valued row σγ with the frozen direction σ; of several their length; of a
/// smooth law |γ|.
void LawReader::find_speed() {
  gamma_ = draft_.slip[0].slip;
  if (entry_->smooth) {
    speed_ = b_.graph.absolute(gamma_, draft_.place + ".speed");
  } else if (draft_.slip.size() == 1) {
    speed_ = b_.graph.multiply(b_.graph.variable(draft_.slip[0].direction), gamma_);
    b_.graph.assume_size(speed_);
  } else {
    std::vector<Node> parts;
    for (const TangentDraft& row : draft_.slip) parts.push_back(row.slip);
    speed_ = b_.graph.call(expr::Function::hypot, parts);
  }
}

Node LawReader::read_at(const Value& value, const char* key, Node at) {
  Scope scope(b_, kLaw, where_);
  scope.speed = at;
  const auto node =
      b_.lower(value, scope, where_, draft_.place + "." + (joint_ ? "law" : "friction"), draft_.indices);
  if (!node) {
    good_ = false;
    return b_.graph.constant(1);
  }
  if (b_.graph.is_constant(*node) && b_.graph.value(*node) < 0) {
    refuse(value, "'" + std::string(key) + "' is negative: " + to_text(b_.graph.value(*node).raw()));
  }
  return *node;
}

void LawReader::positive(const Value& value, const char* key, Node node) {
  if (b_.graph.is_constant(node) && !(b_.graph.value(node) > 0) && good_)
    refuse(value, "'" + std::string(key) + "' must be positive");
}

void LawReader::read_coefficients() {
  if (law_.mu.given) {
    mu_ = read(law_.mu, "mu");
    mu_static_ = good_ ? read_at(law_.mu, "mu", b_.graph.constant(0)) : mu_;
  } else {
    const Node fixed = read(law_.static_coefficient, "static");
    const Node moving = read(law_.dynamic, "dynamic");
    mu_static_ = good_ ? read_at(law_.static_coefficient, "static", b_.graph.constant(0)) : fixed;
    if (b_.graph.is_constant(fixed) && b_.graph.is_constant(moving)) {
      const expr::Number least = b_.graph.value(moving);
      if (b_.graph.value(fixed) < least * (1 - 8 * std::numeric_limits<double>::epsilon())) {
        refuse(law_.static_coefficient, "'static' (" + to_text(b_.graph.value(fixed).raw(), 6) +
                                            ") is smaller than 'dynamic' (" + to_text(least.raw(), 6) +
                                            "): nothing would hold, and nothing would slide, between them");
      } else if (b_.graph.value(fixed) < least) {
        mu_static_ = moving;  // 0.3 beside 3*0.1
      }
    }
    mu_ = law_.velocity.given ? falling(fixed, moving) : moving;
  }
}

/// From the coefficient at rest down to the one at speed.
Node LawReader::falling(Node fixed, Node moving) {
  const Node velocity = read(law_.velocity, "velocity");
  const Node exponent = law_.exponent.given ? read(law_.exponent, "exponent") : b_.graph.constant(2);
  positive(law_.velocity, "velocity", velocity);
  positive(law_.exponent, "exponent", exponent);
  const Node relative = b_.graph.divide(speed_, velocity);
  // Trial steps go beyond the end of a slip, where a fractional power of a speed along the slip is no number: there it goes on as behind a mirror.
  const bool whole = b_.graph.is_constant(exponent) && is_whole(b_.graph.value(exponent));
  const Node ratio = whole ? b_.graph.power(relative, exponent)
                           : b_.graph.power(b_.graph.power(relative, b_.graph.constant(2)),
                                            b_.graph.multiply(b_.graph.constant(0.5), exponent));
  const Node decay[] = {b_.graph.negate(ratio)};
  return b_.graph.add(
      moving, b_.graph.multiply(b_.graph.subtract(fixed, moving), b_.graph.call(expr::Function::exp, decay)));
}

/// Open contacts carry no friction: what is part of h is switched by the status of a rigid contact, or by the depth of a compliant one.
Node LawReader::acting() {
  if (rigid_) return b_.graph.variable(draft_.closed);
  if (!draft_.compliant) return b_.graph.constant(1);
  if (b_.graph.is_constant(draft_.touching))
    draft_.touching = b_.graph.step(b_.graph.negate(draft_.gap), draft_.place + ".compliant");
  return draft_.touching;
}

void LawReader::read_viscous() {
  if (!law_.viscous.given) return;
  const Node viscous = read(law_.viscous, "viscous");
  if (!b_.is_zero(viscous)) {
    const Node on = acting();
    for (TangentDraft& row : draft_.slip) {
      row.added = b_.graph.negate(b_.graph.multiply(b_.graph.multiply(on, viscous), row.slip));
    }
  }
}

/// κ of a law without set-valued rows.
Node LawReader::read_smooth() {
  const SmoothLaw* smooth_law = find_smooth_law(entry_->type);
  if (smooth_law == nullptr) return read_bristle();
  Node beta = b_.graph.constant(0);
  if (entry_->has(FrictionKey::beta)) {
    beta = read(law_.beta, "beta");
    positive(law_.beta, "beta", beta);
  }
  return smooth_law->in_equations(b_.graph, mu_, beta, gamma_);
}

Node LawReader::read_bristle() {
  const Node stiffness = read(law_.stiffness, "stiffness");
  const Node damping = read(law_.damping, "damping");
  positive(law_.stiffness, "stiffness", stiffness);
  if (!good_) return mu_;
  const Variable state = b_.graph.declare(draft_.name + ".bristle");
  const Node z = b_.graph.variable(state);
  const std::string place = draft_.place + (joint_ ? ".law" : ".friction");
  Node rate{}, kappa = mu_;
  if (entry_->type == FrictionType::penalty) {
    rate = penalty_rate(stiffness, damping, z, place);
  } else {
    rate = b_.graph.subtract(gamma_, bristle_relaxation(stiffness, z));
    if (rigid_ || draft_.compliant) rate = b_.graph.multiply(acting(), rate);
    kappa = b_.graph.add(b_.graph.multiply(stiffness, z), b_.graph.multiply(damping, rate));
  }
  const int number = b_.add_bristle(draft_, rate, ".bristle");
  b_.states[static_cast<std::size_t>(number)].z = state;
  return kappa;
}

/// A slider of limit μL in series with a spring and damper: its force f is also k s + c ṡ.
Node LawReader::penalty_rate(Node stiffness, Node damping, Node z, const std::string& place) {
  const Node zero = b_.graph.constant(0);
  Node rate = zero;
  const Node limit = b_.graph.multiply(mu_, draft_.base);
  const Node spring = b_.graph.multiply(stiffness, z);
  const Node trial = b_.graph.add(spring, b_.graph.multiply(damping, gamma_));
  const Node f =
      b_.graph.add(b_.graph.negate(limit),
                   b_.graph.subtract(b_.graph.maximum(b_.graph.add(trial, limit), zero, place),
                                     b_.graph.maximum(b_.graph.subtract(trial, limit), zero, place)));
  if (b_.is_zero(damping)) {
    // Without a damper the spring is held at the limit by sliding on it: beyond the limit it relaxes as
    // fast as the slip.
    const Node above = b_.graph.step(b_.graph.subtract(spring, limit), place);
    const Node below = b_.graph.step(b_.graph.negate(b_.graph.add(spring, limit)), place);
    const Node inside = b_.graph.subtract(b_.graph.constant(1), b_.graph.add(above, below));
    rate = b_.graph.subtract(b_.graph.multiply(inside, gamma_),
                             b_.graph.multiply(b_.graph.subtract(above, below), speed_));
  } else {
    rate = b_.graph.divide(b_.graph.subtract(f, spring), damping);
  }
  draft_.slip[0].added = b_.graph.subtract(draft_.slip[0].added, f);
  return rate;
}

Node LawReader::bristle_relaxation(Node stiffness, Node z) {
  if (entry_->type == FrictionType::elastoplastic) return elastoplastic_relaxation(stiffness, z);
  return b_.graph.divide(b_.graph.multiply(stiffness, b_.graph.multiply(speed_, z)), mu_);
}

/// α(z, γ) of Dupont et al. 2002: 0 below breakaway or against the slip, 1 from the steady bristle
/// μ/σ0 on, a sine between. Where the sine begins and ends its slope is zero: nothing to be located,
/// and a bristle that slides hugs its end within the tolerance. So the cuts are not switches but
/// |u| ≈ √(u² + ε²), with an ε of 1e-9 that changes α by 1e-18. Only the reversal of γ is a kink.
Node LawReader::elastoplastic_relaxation(Node stiffness, Node z) {
  const Node breakaway = read(law_.breakaway, "breakaway");
  if (b_.graph.is_constant(breakaway) && b_.graph.is_constant(stiffness)) {
    const Node least = law_.mu.given ? mu_ : read(law_.dynamic, "dynamic");
    if (b_.graph.is_constant(least) &&
        b_.graph.value(breakaway) >= b_.graph.value(least) / b_.graph.value(stiffness)) {
      refuse(law_.breakaway,
             "'breakaway' must be less than the steady deflection " +
                 to_text((b_.graph.value(least) / b_.graph.value(stiffness)).raw(), 6),
             "that is the coefficient divided by 'stiffness'");
    }
  }
  const Node steady = b_.graph.divide(mu_, stiffness);
  const auto rounded = [&](Node u, Node epsilon) {
    const Node sides[] = {u, b_.graph.multiply(b_.graph.constant(1e-9), epsilon)};
    return b_.graph.call(expr::Function::hypot, sides);
  };
  const Node one = b_.graph.constant(1), half = b_.graph.constant(0.5);
  const Node size = rounded(z, steady);
  const Node share =
      b_.graph.divide(b_.graph.subtract(size, breakaway), b_.graph.subtract(steady, breakaway));
  // 2 min(max(share, 0), 1) − 1
  const Node cut = b_.graph.subtract(rounded(share, one), rounded(b_.graph.subtract(share, one), one));
  const Node angle[] = {b_.graph.multiply(b_.graph.constant(kPi / 2), cut)};
  const Node alpha = b_.graph.add(half, b_.graph.multiply(half, b_.graph.call(expr::Function::sin, angle)));
  const Node along =
      b_.graph.multiply(half, b_.graph.add(b_.graph.multiply(speed_, z), b_.graph.multiply(gamma_, size)));
  return b_.graph.multiply(alpha, b_.graph.divide(b_.graph.multiply(stiffness, along), mu_));
}

void LawReader::finish(Node kappa) {
  const FrictionType type = entry_->type;
  const bool smooth = entry_->smooth;
  draft_.type = type;
  draft_.curve = b_.curve_nodes(law_, [&](const Value& value, double otherwise) {
    return value.given ? read_at(value, "", b_.graph.variable(b_.approach)) : b_.graph.constant(otherwise);
  });
  draft_.smooth = smooth;
  draft_.friction = true;
  if (smooth && draft_.known_load) {
    if (type != FrictionType::penalty) {
      draft_.slip[0].added = b_.graph.subtract(draft_.slip[0].added, b_.graph.multiply(kappa, draft_.base));
    }
    return;
  }
  for (TangentDraft& row : draft_.slip) {
    row.mu = kappa;
    row.mu_static = smooth ? kappa : mu_static_;
  }
  draft_.needs_direction = b_.graph.depends_on(draft_.slip[0].added, draft_.slip[0].direction);
  if (b_.is_zero(kappa) && b_.is_zero(mu_static_) && !draft_.has_tangential && !draft_.needs_direction)
    draft_.friction = false;  // no rows to decide
}

void LawReader::read() {
  if (!find_entry()) return;
  check_keys();
  if (!good_) return;
  find_speed();
  read_coefficients();
  read_viscous();
  const Node kappa = entry_->smooth ? read_smooth() : mu_;
  if (good_) finish(kappa);
}

}  // namespace

void Builder::read_law(RelationDraft& draft, const FrictionLaw& law) {
  const bool joint = draft.kind == RelationKind::joint;
  if (!law.stated()) {
    if (joint)
      report_error(draft.span, draft.where, "the joint has no 'law'",
                   "a bare value is Coulomb's coefficient");
    draft.friction = draft.has_tangential && !draft.slip.empty();
    return;
  }
  if (draft.slip.empty()) {
    if (!joint)
      report_error(!law.span.empty() ? law.span : draft.span, draft.where + ", friction",
                   "friction needs a slip velocity", "add the key 'slip'");
    return;
  }
  LawReader(*this, draft, law).read();
}

}  // namespace judder::model
