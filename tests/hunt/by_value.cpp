#include "by_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "evaluate.hpp"

namespace judder::hunt {
namespace {

constexpr double kNear =
    1e-4;  // share of its largest value below which the argument of a switch counts as zero
constexpr double kBalance = 1e-4;   // of forces: differences are good to about 1e-8
constexpr double kReaction = 1e-6;  // of reactions and gaps

/// A contact, joint or constraint, ready to be evaluated.
struct Part {
  const Element* element = nullptr;
  std::optional<Expr> gap, slip, push, drag, normal, mu, rest, viscous, stiffness, damping, exponent, dynamic;
  bool contact = false, joint = false, constraint = false, compliant = false;
  bool set_valued = false;  ///< Coulomb, with a coefficient that is known
  bool stribeck = false, jumps = false;
  double velocity = 1, power = 2;
  int normal_column = -1, tangent_column = -1;
};

struct Equations {
  const Draft* draft = nullptr;
  Slots slots;
  int n = 0, first_q = 0, first_v = 0, speed = 0;
  int surfaces = 0;
  bool known = true;
  std::optional<Expr> kinetic, potential, dissipation;
  std::vector<std::pair<Expr, Expr>> forces;  ///< along, value
  std::vector<std::pair<std::string, Expr>> rates;
  std::vector<Part> parts;

  Expr ready(const Expr& e) { return prepared(*draft, e, slots, surfaces, known); }
  std::optional<Expr> ready(const Element& e, std::string_view key) {
    const Field* f = e.find(key);
    if (f == nullptr || f->values.empty()) return std::nullopt;
    return ready(f->values[0]);
  }
};

std::string sentence(const char* format, const std::string& where, double a, double b) {
  char text[300];
  std::snprintf(text, sizeof text, format, where.c_str(), a, b);
  return text;
}

void read_law(Equations& eq, Part& part, const Field& f) {
  part.set_valued = true;
  if (f.kind == Field::Kind::value) {
    part.mu = eq.ready(f.values[0]);
    return;
  }
  for (const Field& key : f.fields) {
    if (key.key == "type" && key.word != "coulomb") part.set_valued = false;
    if (key.values.empty()) continue;
    const Expr value = eq.ready(key.values[0]);
    if (key.key == "mu") part.mu = value;
    if (key.key == "static") part.rest = value;
    if (key.key == "dynamic") part.dynamic = value;
    if (key.key == "viscous") part.viscous = value;
    if (key.key == "velocity") {
      part.stribeck = true;
      part.velocity = key.values[0].number;
    }
    if (key.key == "exponent") part.power = key.values[0].number;
  }
}

/// The matrices as what they stand for: an energy of the velocities, and a force along each of them.
void read_matrices(Equations& eq, const Element& e, const std::vector<std::string>& words) {
  const auto n = words.size();
  for (const Field& f : e.fields) {
    for (std::size_t i = 0; i < n; ++i) {
      const Expr along = name(words[i] + "'");
      if (f.key == "load") {
        eq.forces.emplace_back(eq.ready(along), eq.ready(f.values[i]));
        continue;
      }
      for (std::size_t j = 0; j < n; ++j) {
        const Expr entry = number(f.values[i * n + j].number);
        if (f.key == "mass") {
          const Expr energy = eq.ready(number(0.5) * entry * along * name(words[j] + "'"));
          eq.kinetic = eq.kinetic ? *eq.kinetic + energy : energy;
        } else {
          const std::string word = f.key == "damping" ? words[j] + "'" : words[j];
          eq.forces.emplace_back(eq.ready(along), eq.ready(-(entry * name(word))));
        }
      }
    }
  }
}

Equations equations(const Draft& draft, const simulate::MemorySink& data) {
  Equations eq;
  eq.draft = &draft;
  eq.slots.add("t", 0);
  std::vector<std::string> words;
  for (const Element& e : draft.elements) {
    if (e.section != "coordinates") continue;
    words.push_back(e.name);
  }
  eq.n = static_cast<int>(words.size());
  eq.first_q = 1;
  eq.first_v = 1 + eq.n;
  for (const std::string& word : words) eq.slots.add(word, 0);
  for (const std::string& word : words) eq.slots.add(word + "'", 0);
  for (const Element& e : draft.elements) {
    if (e.section == "state") eq.slots.add(e.name, 0);
  }
  eq.speed = eq.slots.add("speed", 0);
  for (const Element& e : draft.elements) {
    if (e.section == "contact" || e.section == "constraint") eq.slots.add("normal(" + e.name + ")", 0);
  }
  for (const Element& e : draft.elements) {
    if (e.section == "energy") {
      eq.kinetic = eq.ready(e, "kinetic");
      eq.potential = eq.ready(e, "potential");
      eq.dissipation = eq.ready(e, "dissipation");
    } else if (e.section == "matrices") {
      read_matrices(eq, e, words);
    } else if (e.section == "force") {
      eq.forces.emplace_back(eq.ready(e.find("along")->values[0]), eq.ready(e.find("value")->values[0]));
    } else if (e.section == "state") {
      eq.rates.emplace_back(e.name, eq.ready(e.find("rate")->values[0]));
    } else if (e.section == "contact" || e.section == "friction" || e.section == "constraint") {
      Part part;
      part.element = &e;
      part.contact = e.section == "contact";
      part.joint = e.section == "friction";
      part.constraint = e.section == "constraint";
      part.gap = eq.ready(e, part.contact ? "gap" : "zero");
      part.slip = eq.ready(e, "slip");
      part.push = eq.ready(e, part.constraint ? "velocity" : "push");
      part.drag = eq.ready(e, "drag");
      if (part.joint) part.normal = eq.ready(e, "normal");
      if (const Field* law = e.find(part.joint ? "law" : "friction")) read_law(eq, part, *law);
      if (const Field* c = e.find("compliant")) {
        part.compliant = true;
        for (const Field& key : c->fields) {
          if (key.key == "stiffness") part.stiffness = eq.ready(key.values[0]);
          if (key.key == "damping") part.damping = eq.ready(key.values[0]);
          if (key.key == "exponent") part.exponent = eq.ready(key.values[0]);
        }
      }
      part.normal_column = data.column("N " + e.name);
      part.tangent_column = data.column("T " + e.name);
      eq.parts.push_back(std::move(part));
    }
  }
  return eq;
}

/// Values at one row, and what follows from them by differences.
class Judge {
 public:
  Judge(Equations& eq, const simulate::MemorySink& data) : eq_(eq), data_(data), at_(eq.slots.values) {
    surfaces_.largest.assign(static_cast<std::size_t>(eq.surfaces), 0);
    surfaces_.begin();
    scale_.assign(static_cast<std::size_t>(eq.n), 0);
    slip_scale_.assign(eq.parts.size(), 0);
    gap_scale_.assign(eq.parts.size(), 0);
    for (const std::string& word : eq.slots.names) columns_.push_back(data.column(word));
    for (std::size_t k = 0; k < eq.slots.names.size(); ++k) {
      const std::string& word = eq.slots.names[k];
      if (word.rfind("normal(", 0) == 0) columns_[k] = data.column("N " + word.substr(7, word.size() - 8));
    }
    for (int i = 0; i < eq.n; ++i) accelerations_.push_back(data.column("a " + std::to_string(i)));
  }

  /// Looks at a row; with `judge` false only scales are gathered.
  std::string look(std::size_t row, bool judge) {
    for (std::size_t k = 0; k < at_.size(); ++k) {
      if (columns_[k] >= 0) at_[k] = data_.cell(row, static_cast<std::size_t>(columns_[k]));
    }
    surfaces_.begin();
    noise_ = 0;
    std::string found = balance(row, judge);
    if (found.empty()) found = laws(row, judge);
    if (found.empty()) found = rates(row, judge);
    if (!judge || surfaces_.near(kNear, 3 * kStep)) return {};
    return found;
  }

 private:
  Equations& eq_;
  const simulate::MemorySink& data_;
  std::vector<double> at_;
  Surfaces surfaces_;
  std::vector<int> columns_, accelerations_;
  std::vector<double> scale_, slip_scale_, gap_scale_;
  double force_scale_ = 0, rate_scale_ = 0;
  double noise_ = 0;  ///< rounding of the differences of the present row

  double value(const Expr& e) { return evaluate(e, at_.data(), &surfaces_); }
  double cell(std::size_t row, int column) { return data_.cell(row, static_cast<std::size_t>(column)); }
  /// ∂e/∂(slot) by a central difference; exact for quadratics.
  double slope(const Expr& e, int slot, double step) {
    const auto k = static_cast<std::size_t>(slot);
    const double kept = at_[k];
    (void)value(e);  // sides are seen at the row itself
    at_[k] = kept + step;
    const double above = evaluate(e, at_.data());
    at_[k] = kept - step;
    const double below = evaluate(e, at_.data());
    at_[k] = kept;
    noise_ += 1e-14 * (std::abs(above) + std::abs(below)) / step;
    return (above - below) / (2 * step);
  }
  static constexpr double kStep = 1e-5;

  /// ∂T/∂v_i − exact, since T is quadratic in the velocities.
  double momentum(int i) { return slope(*eq_.kinetic, eq_.first_v + i, stride(i)); }
  /// A step of a velocity that is not lost in its rounding.
  double stride(int i) { return 1 + std::abs(at_[static_cast<std::size_t>(eq_.first_v + i)]); }

  std::string balance(std::size_t row, bool judge) {
    const int n = eq_.n;
    if (n == 0 || !eq_.kinetic) return {};
    std::vector<double> residual(static_cast<std::size_t>(n), 0);
    std::vector<double> size(static_cast<std::size_t>(n), 0);
    const auto add = [&](int i, double term) {
      residual[static_cast<std::size_t>(i)] += term;
      size[static_cast<std::size_t>(i)] += std::abs(term);
    };
    // In a time in which no coordinate goes farther than the steps of the other differences.
    double fastest = 1;
    for (int j = 0; j < n; ++j)
      fastest = std::max(fastest, std::abs(at_[static_cast<std::size_t>(eq_.first_v + j)]));
    const double by = kStep / fastest;
    for (int i = 0; i < n; ++i) {
      // M v̇
      for (int j = 0; j < n; ++j) {
        double a = cell(row, accelerations_[static_cast<std::size_t>(j)]);
        if (!std::isfinite(a)) a = 0;  // of a massless node, which has no inertia to show it
        const auto slot = static_cast<std::size_t>(eq_.first_v + j);
        const double kept = at_[slot];
        const double step = stride(j);
        at_[slot] = kept + step;
        const double above = momentum(i);
        at_[slot] = kept - step;
        const double below = momentum(i);
        at_[slot] = kept;
        add(i, (above - below) / (2 * step) * a);
      }
      // d/dt of the momentum at v̇ = 0
      const std::vector<double> kept = at_;
      const auto moved = [&](double after) {
        at_[0] = kept[0] + after;
        for (int j = 0; j < n; ++j)
          at_[static_cast<std::size_t>(eq_.first_q + j)] =
              kept[static_cast<std::size_t>(eq_.first_q + j)] +
              after * kept[static_cast<std::size_t>(eq_.first_v + j)];
        const double p = momentum(i);
        at_ = kept;
        return p;
      };
      add(i, (moved(by) - moved(-by)) / (2 * by));
      add(i, -slope(*eq_.kinetic, eq_.first_q + i, kStep));
      if (eq_.potential) add(i, slope(*eq_.potential, eq_.first_q + i, kStep));
      if (eq_.dissipation) add(i, slope(*eq_.dissipation, eq_.first_v + i, kStep));
      for (const auto& [along, force] : eq_.forces) {
        const double w = slope(along, eq_.first_v + i, 1);
        if (w != 0) add(i, -w * value(force));
      }
      for (const Part& part : eq_.parts) {
        if (part.normal_column >= 0 && !part.joint) {
          const double lambda = cell(row, part.normal_column);
          const double w =
              part.push ? slope(*part.push, eq_.first_v + i, 1) : slope(*part.gap, eq_.first_q + i, kStep);
          if (lambda != 0) add(i, -w * lambda);
        }
        if (part.tangent_column >= 0 && part.slip) {
          const double lambda = cell(row, part.tangent_column);
          const double w = slope(part.drag ? *part.drag : *part.slip, eq_.first_v + i, 1);
          if (lambda != 0) add(i, -w * lambda);
        }
      }
    }
    for (int i = 0; i < n; ++i) force_scale_ = std::max(force_scale_, size[static_cast<std::size_t>(i)]);
    if (!judge) return {};
    for (int i = 0; i < n; ++i) {
      if (!(std::abs(residual[static_cast<std::size_t>(i)]) <= kBalance * force_scale_ + noise_))
        return sentence("the forces on %s do not balance: %.6g left of %.6g",
                        eq_.slots.names[static_cast<std::size_t>(eq_.first_q + i)],
                        residual[static_cast<std::size_t>(i)], force_scale_);
    }
    return {};
  }

  std::string laws(std::size_t row, bool judge) {
    for (std::size_t k = 0; k < eq_.parts.size(); ++k) {
      const Part& part = eq_.parts[k];
      const std::string& word = part.element->name;
      double lambda = part.normal_column >= 0 ? cell(row, part.normal_column) : 0;
      if (part.contact && part.gap) {
        const double gap = value(*part.gap);
        gap_scale_[k] = std::max(gap_scale_[k], std::abs(gap));
        for (int i = 0; i < eq_.n; ++i) {
          // A gap that never opens is measured by what it is made of.
          const double w = slope(*part.gap, eq_.first_q + i, kStep);
          gap_scale_[k] =
              std::max(gap_scale_[k], std::abs(w * at_[static_cast<std::size_t>(eq_.first_q + i)]));
        }
        if (judge && !part.compliant) {
          if (gap < -kReaction * gap_scale_[k])
            return sentence("the gap of %s is %.6g, its scale %.6g", word, gap, gap_scale_[k]);
          if (lambda < -kReaction * force_scale_)
            return sentence("the reaction of %s is %.6g, forces are about %.6g", word, lambda, force_scale_);
          if (gap > kReaction * gap_scale_[k] && lambda > kReaction * force_scale_)
            return sentence("%s is open (%.6g) and has a reaction, %.6g", word, gap, lambda);
        }
      }
      if (part.constraint && part.gap) {
        const double gap = value(*part.gap);
        gap_scale_[k] = std::max(gap_scale_[k], std::abs(at_[1]));
        for (int i = 0; i < eq_.n; ++i)
          gap_scale_[k] = std::max(gap_scale_[k], std::abs(at_[static_cast<std::size_t>(eq_.first_q + i)]));
        if (judge && std::abs(gap) > 10 * kReaction * gap_scale_[k])
          return sentence("the constraint %s is off by %.6g, its scale is %.6g", word, gap, gap_scale_[k]);
      }
      if (!part.slip || part.tangent_column < 0) continue;
      const double slip = value(*part.slip);
      slip_scale_[k] = std::max(slip_scale_[k], std::abs(slip));
      for (int i = 0; i < eq_.n; ++i)
        slip_scale_[k] = std::max(slip_scale_[k], std::abs(at_[static_cast<std::size_t>(eq_.first_v + i)]));
      const double tangent = cell(row, part.tangent_column);
      if (part.joint && part.normal) lambda = value(*part.normal);
      if (part.constraint) lambda = std::abs(lambda);
      force_scale_ = std::max({force_scale_, std::abs(tangent), std::abs(lambda)});
      if (!judge || !part.set_valued) continue;
      at_[static_cast<std::size_t>(eq_.speed)] = std::abs(slip);
      // An open contact does not rub; in one that is about to open or close nothing is said.
      const bool unloaded = part.contact && !(lambda > kReaction * force_scale_);
      const bool open = unloaded && part.gap && value(*part.gap) > kReaction * gap_scale_[k];
      if (unloaded && !open && part.viscous) continue;
      const double viscous = part.viscous && !open ? value(*part.viscous) * slip : 0;
      const double tolerance = 10 * kBalance * force_scale_;
      if (std::abs(slip) > kNear * slip_scale_[k]) {
        double mu = 0;
        if (part.mu)
          mu = value(*part.mu);
        else if (part.rest && part.dynamic) {
          mu = value(*part.dynamic);
          if (part.stribeck)
            mu += (value(*part.rest) - mu) * std::exp(-std::pow(std::abs(slip) / part.velocity, part.power));
        }
        const double expected = -(slip > 0 ? 1 : -1) * mu * lambda - viscous;
        if (!(std::abs(tangent - expected) <= tolerance))
          return sentence("friction of %s is %.6g where its law says %.6g", word, tangent, expected);
      } else {
        // At rest a law by direction may have either coefficient.
        double mu = 0;
        if (part.rest)
          mu = value(*part.rest);
        else if (part.mu)
          mu = largest(*part.mu);
        if (std::abs(tangent + viscous) > mu * lambda + tolerance)
          return sentence("friction of %s is %.6g at rest, at most %.6g is allowed", word, tangent,
                          mu * lambda);
      }
    }
    return {};
  }

  /// The larger branch of a coefficient by direction.
  double largest(const Expr& mu) {
    if (mu.op == Op::call && mu.word == "if") return std::max(value(mu.args[1]), value(mu.args[2]));
    return value(mu);
  }

  std::string rates(std::size_t row, bool judge) {
    for (const auto& [word, rate] : eq_.rates) {
      const int column = data_.column("rate " + word);
      if (column < 0) continue;
      const double by_law = value(rate);
      const double by_run = cell(row, column);
      rate_scale_ = std::max({rate_scale_, std::abs(by_law), std::abs(by_run)});
      if (judge && !(std::abs(by_law - by_run) <= kBalance * rate_scale_))
        return sentence("the rate of %s is %.6g where its expression gives %.6g", word, by_run, by_law);
    }
    return {};
  }
};

/// Velocities that jump, or positions that are not their integral, between two sample rows without an event. Coarse: samples see neither the peaks
/// of accelerations nor what happens within a step, so short compliant contacts are left out.
Contradiction undeclared_jump(const Draft& draft, const simulate::MemorySink& data) {
  std::vector<std::string> words;
  for (const Element& e : draft.elements) {
    if (e.section == "coordinates") words.push_back(e.name);
    if (e.find("compliant") != nullptr || e.find("massless") != nullptr) return {};
  }
  // What is coupled with others is known to their rounding only, also where it has not moved at all.
  constexpr double kRounding = 1e-13;
  double farthest = 0, fastest_of_all = 0;
  for (const std::string& word : words) {
    const int q = data.column(word);
    const int v = data.column(word + "'");
    for (std::size_t r = 0; r < data.rows() && q >= 0 && v >= 0; ++r) {
      farthest = std::max(farthest, std::abs(data.cell(r, static_cast<std::size_t>(q))));
      fastest_of_all = std::max(fastest_of_all, std::abs(data.cell(r, static_cast<std::size_t>(v))));
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int q = data.column(words[i]);
    const int v = data.column(words[i] + "'");
    const int a = data.column("a " + std::to_string(i));
    if (q < 0 || v < 0 || a < 0) continue;
    const auto cell = [&](std::size_t row, int column) {
      return data.cell(row, static_cast<std::size_t>(column));
    };
    double fastest = 0;
    double hardest = 0;
    for (std::size_t r = 0; r < data.rows(); ++r) {
      fastest = std::max(fastest, std::abs(cell(r, v)));
      hardest = std::max(hardest, std::abs(cell(r, a)));
    }
    for (std::size_t r = 0; r + 1 < data.rows(); ++r) {
      if (data.kinds[r] != engines::RowKind::sample || data.kinds[r + 1] != engines::RowKind::sample)
        continue;
      const double h = data.cell(r + 1, 0) - data.cell(r, 0);
      const double gained = cell(r + 1, v) - cell(r, v);
      const double moved = cell(r + 1, q) - cell(r, q);
      constexpr double kPeak = 5;  // accelerations between samples may be that much larger
      if (std::abs(gained) > kPeak * h * hardest + 1e-3 * fastest + kRounding * fastest_of_all)
        return {sentence("the velocity of %s jumps by %.6g without an event, accelerations are at most %.6g",
                         words[i], gained, hardest),
                data.cell(r, 0)};
      if (std::abs(moved) > kPeak * h * fastest + 1e-9 * std::abs(cell(r, q)) + kRounding * farthest)
        return {sentence("%s jumps by %.6g, velocities are at most %.6g", words[i], moved, fastest),
                data.cell(r, 0)};
    }
  }
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> columns_to_check(const Draft& draft) {
  std::vector<std::pair<std::string, std::string>> out;
  int i = 0;
  for (const Element& e : draft.elements) {
    if (e.section == "coordinates") out.emplace_back("a " + std::to_string(i++), e.name + "''");
    if (e.section == "state") out.emplace_back("rate " + e.name, e.name + "'");
    if (e.section == "contact" || e.section == "constraint")
      out.emplace_back("N " + e.name, "normal(" + e.name + ")");
    if ((e.section == "contact" || e.section == "constraint" || e.section == "friction") &&
        e.find("slip") != nullptr && (e.section == "friction" || e.find("friction") != nullptr))
      out.emplace_back("T " + e.name, "tangent(" + e.name + ")");
  }
  return out;
}

Contradiction contradiction(const Draft& draft, const simulate::MemorySink& data, long& rows) {
  rows = 0;
  if (draft.repeated) return {};
  Equations eq = equations(draft, data);
  if (!eq.known) return {};
  Judge judge(eq, data);
  std::vector<std::size_t> samples;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    if (data.kinds[r] == engines::RowKind::sample) samples.push_back(r);
  }
  for (const std::size_t r : samples) (void)judge.look(r, false);
  const Contradiction jump = undeclared_jump(draft, data);
  if (!jump.what.empty()) return jump;
  for (const std::size_t r : samples) {
    ++rows;
    const std::string found = judge.look(r, true);
    if (!found.empty()) return {found, data.cell(r, 0)};
  }
  return {};
}

}  // namespace judder::hunt
