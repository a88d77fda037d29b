#include "draw.hpp"

#include <algorithm>
#include <cmath>

#include "evaluate.hpp"
#include "judder/core/number.hpp"

namespace judder::hunt {

std::uint64_t Dice::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

const std::vector<std::string>& all_features() {
  static const std::vector<std::string> features{"mechanics",
                                                 "first-order only",
                                                 "chain or gas",
                                                 "matrices",
                                                 "matrix not symmetric",
                                                 "mass of q",
                                                 "mass coupled",
                                                 "moving frame",
                                                 "angle",
                                                 "spring",
                                                 "spring driven",
                                                 "spring hardening",
                                                 "spring one-sided",
                                                 "gravity",
                                                 "damper",
                                                 "damper of power",
                                                 "kink in energy",
                                                 "force",
                                                 "drive sine",
                                                 "drive ramp",
                                                 "drive table",
                                                 "drive steps",
                                                 "drive kinks",
                                                 "nested switch",
                                                 "if",
                                                 "min max",
                                                 "abs",
                                                 "sign",
                                                 "step",
                                                 "floor",
                                                 "mod",
                                                 "mod of t",
                                                 "root or power",
                                                 "smooth function",
                                                 "bump",
                                                 "table linear",
                                                 "table step",
                                                 "table cubic",
                                                 "table hold",
                                                 "table zero",
                                                 "watch",
                                                 "watch velocity",
                                                 "watch reaction",
                                                 "watch stop",
                                                 "state",
                                                 "state in force",
                                                 "joint",
                                                 "joint normal of time",
                                                 "joint normal abs max",
                                                 "joint normal fed",
                                                 "belt",
                                                 "massless node",
                                                 "massless damped",
                                                 "massless friction",
                                                 "law coulomb",
                                                 "law static",
                                                 "law stribeck",
                                                 "law of speed",
                                                 "law of time",
                                                 "law by direction",
                                                 "law viscous",
                                                 "law lugre",
                                                 "law elastoplastic",
                                                 "law arctan",
                                                 "law penalty",
                                                 "contact",
                                                 "contact friction",
                                                 "impact moreau",
                                                 "impact newton",
                                                 "impact poisson",
                                                 "impact stronge",
                                                 "impact tangential",
                                                 "impact frictionless",
                                                 "restitution by speed",
                                                 "restitution zero",
                                                 "moving gap",
                                                 "curved gap",
                                                 "kinked gap",
                                                 "compliant",
                                                 "compliant exponent",
                                                 "push and drag",
                                                 "constraint",
                                                 "constraint of time",
                                                 "constraint velocity",
                                                 "constraint friction",
                                                 "parameter",
                                                 "definition",
                                                 "function",
                                                 "variant",
                                                 "from",
                                                 "start at rest",
                                                 "start in contact",
                                                 "start sticking",
                                                 "start on surface",
                                                 "on_painleve",
                                                 "on_indeterminate"};
  return features;
}

namespace {

struct Variable {
  std::string word;
  Dimension dimension;
  double start = 0;
};

/// What an expression may read.
struct Allowed {
  bool positions = true, velocities = true, states = true, time = true, jumps = true;
};

class Drawer {
 public:
  Drawer(std::uint64_t seed, std::uint64_t index) : dice_(seed, index), own_dice_(~seed, index) {}

  Draft run() {
    const double kind = dice_.unit();
    if (dice_.chance(0.05)) {
      draft_.from = dice_.pick<double>({1, 0.5, 2, 10});
      feature("from");
    }
    if (kind < 0.035)
      repeated();
    else if (kind < 0.12)
      first_order();
    else
      mechanics();
    if (draft_.variant.empty() && dice_.chance(0.05)) variant();
    draft_.until = draft_.from + dice_.pick<double>({1, 2, 3, 4, 5, 6});
    return std::move(draft_);
  }

 private:
  Dice dice_, own_dice_;
  Draft draft_;
  std::vector<Variable> positions_, velocities_, states_;
  std::vector<bool> massless_;
  int tables_ = 0, parameters_ = 0, definitions_ = 0;
  std::vector<std::string> rigid_;  ///< contacts that have a normal reaction

  void feature(const std::string& word) { draft_.features.insert(word); }

  // --- numbers ---

  double round_number() {
    if (dice_.chance(0.12)) return std::round(1000 * (0.05 + 3 * dice_.unit())) / 1000;
    return dice_.pick<double>({0.1, 0.2, 0.25, 0.3, 0.5, 0.5, 0.8, 1, 1, 1, 1, 1.5, 2, 2, 3, 4, 5, 10});
  }
  /// About one.
  double mild() { return dice_.pick<double>({0.2, 0.3, 0.5, 0.5, 0.7, 1, 1, 1, 1.5, 2, 3}); }
  double sign() { return dice_.chance(0.5) ? 1 : -1; }
  Expr positive(Dimension d) { return held(round_number(), d); }
  Expr signed_number(Dimension d) { return held(sign() * round_number(), d); }
  /// A number, sometimes by the name of a parameter.
  Expr held(double value, Dimension d) {
    if (!dice_.chance(0.05)) return number(value, d);
    const std::string word = "p" + std::to_string(++parameters_);
    draft_.elements.push_back({"parameters", word, {field("value", number(value, d))}});
    feature("parameter");
    return name(word, d);
  }
  Expr t() { return name("t", kTime); }

  // --- functions of time ---

  /// A function of time of dimension d that starts at any value; continuous and, if `smooth`, without corners.
  Expr drive(Dimension d, bool jumps, bool smooth = false) {
    switch (dice_.whole(0, smooth ? 3 : (jumps ? 11 : 8))) {
      case 0:
      case 1: {
        feature("drive sine");
        Expr wave = call("sin", {held(mild() * dice_.pick<double>({1, 2, 3, 5}), -1 * kTime) * t()}, kPure);
        return held(sign() * mild(), d) * wave;
      }
      case 2: {
        feature("drive sine");
        Expr wave = call("cos", {held(mild() * dice_.pick<double>({1, 2, 3}), -1 * kTime) * t()}, kPure);
        const Expr size = held(sign() * mild(), d);
        return dice_.chance(0.5) ? size * (number(1) - wave) : size * wave;
      }
      case 3:
        feature("drive ramp");
        return held(sign() * mild(), d - kTime) * t();
      case 4: {
        feature("drive ramp");
        feature("drive kinks");
        feature("min max");
        const Expr p = number(draft_.from + mild(), kTime);
        if (dice_.chance(0.5)) return held(sign() * mild(), d - kTime) * call("min", {t(), p}, kTime);
        return held(sign() * mild(), d - kTime) * call("max", {number(0, kTime), t() - p}, kTime);
      }
      case 5: {
        feature("drive table");
        return table(t(), d, false, draft_.from);
      }
      case 6: {
        feature("drive kinks");
        feature("abs");
        feature("mod");
        feature("mod of t");
        feature("nested switch");
        const double period = mild();
        return held(sign() * mild(), d - kTime) *
               call("abs", {call("mod", {t(), number(period, kTime)}, kTime) - number(period / 2, kTime)},
                    kTime);
      }
      case 7: {
        feature("drive kinks");
        feature("abs");
        Expr wave = call("sin", {held(mild() * 2, -1 * kTime) * t()}, kPure);
        return held(sign() * mild(), d) * call("abs", {wave}, kPure);
      }
      case 8: {
        feature("bump");
        return held(sign() * mild(), d) * call("bump", {held(mild(), -1 * kTime) * t()}, kPure);
      }
      case 9: {
        feature("drive steps");
        feature("if");
        return call(
            "if", {less(t(), number(draft_.from + mild(), kTime)), signed_or_zero(d), signed_or_zero(d)}, d);
      }
      case 10: {
        feature("drive steps");
        switch (dice_.whole(0, 3)) {
          case 0: {
            feature("mod");
            feature("mod of t");
            const double period = mild();
            return held(sign() * mild(), d - kTime) * call("mod", {t(), number(period, kTime)}, kTime);
          }
          case 1:
            feature("floor");
            return held(sign() * mild(), d) * call("floor", {held(mild(), -1 * kTime) * t()}, kPure);
          case 2: {
            feature("mod");
            feature("mod of t");
            feature("sign");
            feature("nested switch");
            const double period = dice_.pick<double>({0.5, 1, 2});
            return held(sign() * mild(), d) *
                   call("sign",
                        {call("mod", {t(), number(period, kTime)}, kTime) - number(period / 2, kTime)},
                        kPure);
          }
          default:
            feature("step");
            return held(sign() * mild(), d) *
                   call("step", {number(draft_.from + mild(), kTime) - t()}, kPure);
        }
      }
      default: {
        feature("drive table");
        feature("table step");
        return table(t(), d, true, draft_.from);
      }
    }
  }

  Expr signed_or_zero(Dimension d) { return dice_.chance(0.3) ? number(0, d) : signed_number(d); }

  /// A table called with `argument`; steps only where jumps are allowed.
  Expr table(Expr argument, Dimension d, bool steps, double first) {
    const std::string word = "f" + std::to_string(++tables_);
    std::vector<Expr> x;
    std::vector<Expr> y;
    const int knots = dice_.whole(2, 5);
    double at = first + dice_.pick<double>({0, 0, 0.5, -1, -2});
    for (int k = 0; k < knots; ++k) {
      x.push_back(number(at, argument.dimension));
      y.push_back(number(dice_.chance(0.3) ? 0 : sign() * mild(), d));
      at += dice_.pick<double>({0.5, 1, 1, 2});
    }
    std::string between = steps ? "step" : (dice_.chance(0.4) ? "cubic" : "linear");
    feature("table " + between);
    std::string outside = "hold";
    if (steps && dice_.chance(0.4)) outside = "zero";
    if (!steps && dice_.chance(0.3)) {
      outside = "zero";  // continuous only if it ends with zeros
      y.front().number = 0;
      y.back().number = 0;
    }
    feature("table " + outside);
    Element element{"tables", word, {field_list("x", std::move(x)), field_list("y", std::move(y))}};
    if (between != "linear" || dice_.chance(0.3)) element.fields.push_back(field_word("between", between));
    element.fields.push_back(field_word("outside", outside));
    draft_.elements.push_back(std::move(element));
    return call(word, {std::move(argument)}, d);
  }

  // --- general expressions ---

  Expr variable(const Allowed& allowed) {
    std::vector<const Variable*> all;
    if (allowed.positions)
      for (const Variable& v : positions_) all.push_back(&v);
    if (allowed.velocities)
      for (const Variable& v : velocities_) all.push_back(&v);
    if (allowed.states)
      for (const Variable& v : states_) all.push_back(&v);
    if (all.empty() || (allowed.time && dice_.chance(0.12))) return t();
    const Variable& v = *dice_.pick<const Variable*>(all);
    return name(v.word, v.dimension);
  }

  /// Affine in the variables, of dimension d.
  Expr linear(Dimension d, const Allowed& allowed) {
    Expr v = variable(allowed);
    const Dimension rest = d - v.dimension;
    Expr out = rest == kPure && dice_.chance(0.6) ? std::move(v) : held(sign() * mild(), rest) * std::move(v);
    if (dice_.chance(0.3)) {
      Expr w = variable(allowed);
      const Dimension other = d - w.dimension;
      out = std::move(out) + held(sign() * mild(), other) * std::move(w);
    }
    if (dice_.chance(0.45)) out = std::move(out) + number(sign() * mild(), d);
    return out;
  }

  /// Bounded by an affine function, with switches of all kinds down to a depth.
  Expr shape(Dimension d, const Allowed& allowed, int depth) {
    if (depth <= 0) return dice_.chance(0.3) ? signed_number(d) : linear(d, allowed);
    const auto nest = [&](const Expr& e) {
      if (has_switch(e)) feature("nested switch");
    };
    // What is compared: an own dimension, most often of the first variable.
    const auto inner = [&](int less_depth) {
      const Expr v = variable(allowed);
      Expr e = shape(v.dimension, allowed, less_depth);
      nest(e);
      return e;
    };
    switch (dice_.whole(0, allowed.jumps ? 15 : 7)) {
      case 0:
        return shape(d, allowed, depth - 1) + shape(d, allowed, depth - 1);
      case 1: {
        feature("abs");
        Expr e = shape(d, allowed, depth - 1);
        nest(e);
        return held(sign(), kPure) * call("abs", {std::move(e)}, d);
      }
      case 2:
      case 3: {
        feature("min max");
        Expr a = shape(d, allowed, depth - 1);
        Expr b = dice_.chance(0.5) ? (dice_.chance(0.5) ? number(0, d) : signed_number(d))
                                   : shape(d, allowed, depth - 2);
        nest(a);
        nest(b);
        std::vector<Expr> args;
        args.push_back(std::move(a));
        args.push_back(std::move(b));
        return call(dice_.chance(0.5) ? "min" : "max", std::move(args), d);
      }
      case 4: {
        feature("smooth function");
        const Expr v = variable(allowed);
        Expr u = number(mild(), -1 * v.dimension) * v;
        return held(sign() * mild(), d) *
               call(dice_.pick<std::string>({"tanh", "sin", "cos", "atan"}), {std::move(u)}, kPure);
      }
      case 5: {
        feature("root or power");
        const Expr v = variable(allowed);
        Expr u = number(mild(), -1 * v.dimension) * v;
        switch (dice_.whole(0, 2)) {
          case 0:
            feature("abs");
            return held(sign() * mild(), d) *
                   call("sqrt", {number(1) + call("abs", {std::move(u)}, kPure)}, kPure);
          case 1: {
            feature("abs");
            Expr a = call("abs", {u}, kPure);
            return held(sign() * mild(), d) *
                   call("min", {power(std::move(a), dice_.pick<double>({1.5, 2, 3})), number(2)}, kPure);
          }
          default:
            return held(sign() * mild(), d) / (number(1) + power(std::move(u), 2));
        }
      }
      case 6: {
        Expr e =
            shape(kPure, {allowed.positions, allowed.velocities, allowed.states, allowed.time, false}, 0);
        return table_of(std::move(e), d, false);
      }
      case 7: {
        if (!allowed.time) return linear(d, allowed);
        return drive(d, allowed.jumps);
      }
      case 8:
      case 9: {
        feature("sign");
        return held(sign() * mild(), d) * call("sign", {inner(depth - 1)}, kPure);
      }
      case 10: {
        feature("step");
        return held(sign() * mild(), d) * call("step", {inner(depth - 1)}, kPure);
      }
      case 11:
      case 12: {
        feature("if");
        Expr a = inner(depth - 1);
        const Dimension other = a.dimension;
        Expr limit = dice_.chance(0.5) ? number(0, other) : signed_number(other);
        Expr condition = dice_.chance(0.5) ? less(std::move(a), std::move(limit))
                                           : at_least(std::move(a), std::move(limit));
        Expr then = shape(d, allowed, depth - 1);
        Expr otherwise = dice_.chance(0.4) ? number(0, d) : shape(d, allowed, depth - 1);
        nest(then);
        nest(otherwise);
        std::vector<Expr> args;
        args.push_back(std::move(condition));
        args.push_back(std::move(then));
        args.push_back(std::move(otherwise));
        return call("if", std::move(args), d);
      }
      case 13: {
        feature("floor");
        const Expr v = variable(allowed);
        Expr u = number(mild() * 2, -1 * v.dimension) * v;
        if (dice_.chance(0.3)) {
          u = std::move(u) + shape(kPure, allowed, depth - 2);
          nest(u);
        }
        return held(sign() * mild() * 0.5, d) * call("floor", {std::move(u)}, kPure);
      }
      case 14: {
        feature("mod");
        Expr a = inner(depth - 2);
        const Dimension other = a.dimension;
        return held(sign() * mild(), d - other) * call("mod", {std::move(a), number(mild(), other)}, other);
      }
      default: {
        feature("table step");
        Expr e = shape(kPure, allowed, dice_.chance(0.3) ? 1 : 0);
        nest(e);
        return table_of(std::move(e), d, true);
      }
    }
  }
  Expr table_of(Expr argument, Dimension d, bool steps) { return table(std::move(argument), d, steps, -1); }

  static bool has_switch(const Expr& e) {
    if (e.op == Op::less || e.op == Op::at_least) return true;
    if (e.op == Op::call && (e.word == "abs" || e.word == "min" || e.word == "max" || e.word == "sign" ||
                             e.word == "step" || e.word == "floor" || e.word == "mod" || e.word[0] == 'f'))
      return true;
    return std::any_of(e.args.begin(), e.args.end(), has_switch);
  }

  /// Now and then a part gets a name.
  Expr defined(Expr e) {
    if (!dice_.chance(0.06)) return e;
    const std::string word = "d" + std::to_string(++definitions_);
    const Dimension d = e.dimension;
    if (dice_.chance(0.4)) {
      feature("function");
      Expr body = name("a", d);
      switch (dice_.whole(0, 2)) {
        case 0:
          body = call("max", {body, number(0, d)}, d);
          feature("min max");
          break;
        case 1:
          body = call("min", {call("max", {body, number(-1, d)}, d), number(1, d)}, d);
          feature("min max");
          break;
        default:
          body = number(0.5) * body + number(1, d) * call("tanh", {number(1, -1 * d) * body}, kPure);
          break;
      }
      draft_.elements.push_back({"definitions", word + "(a)", {field("value", std::move(body))}});
      return call(word, {std::move(e)}, d);
    }
    feature("definition");
    draft_.elements.push_back({"definitions", word, {field("value", std::move(e))}});
    return name(word, d);
  }

  // --- first-order systems ---

  void first_order() {
    feature("first-order only");
    const int n = dice_.whole(1, 3);
    for (int i = 0; i < n; ++i) {
      const std::string word(1, "uvw"[i]);
      states_.push_back({word, kPure, dice_.chance(0.5) ? 0 : sign() * mild()});
    }
    if (std::all_of(states_.begin(), states_.end(), [](const Variable& v) { return v.start == 0; }))
      feature("start on surface");
    for (int i = 0; i < n; ++i) {
      Expr rate = held(-mild(), -1 * kTime) * name(states_[static_cast<std::size_t>(i)].word);
      if (dice_.chance(0.5)) {
        const Variable& other = dice_.pick(states_);
        rate = std::move(rate) + held(sign() * mild(), -1 * kTime) * name(other.word);
      }
      const int terms = dice_.whole(1, 2);
      for (int k = 0; k < terms; ++k) {
        if (dice_.chance(0.4)) {
          feature("sign");
          const Variable& other = dice_.pick(states_);
          rate = std::move(rate) + held(-mild(), -1 * kTime) * call("sign", {name(other.word)}, kPure);
        } else {
          rate = std::move(rate) +
                 defined(shape(-1 * kTime, {false, false, true, true, true}, dice_.whole(1, 2)));
        }
      }
      const Variable& v = states_[static_cast<std::size_t>(i)];
      draft_.elements.push_back(
          {"state", v.word, {field("start", number(v.start)), field("rate", std::move(rate))}});
    }
    watches();
    run_keys();
  }

  // --- chains and gases ---

  void repeated() {
    feature("chain or gas");
    draft_.repeated = true;
    const bool gas = dice_.chance(0.5);
    const int n = dice_.chance(0.3) ? dice_.whole(20, gas ? 200 : 40) : dice_.whole(3, 12);
    draft_.elements.push_back({"parameters", "n", {field("value", number(n))}});
    draft_.elements.push_back(
        {"parameters", "e", {field("value", number(dice_.pick<double>({0, 0, 0.5, 0.8})))}});
    const auto coordinate = [&](const std::string& word, const std::string& start,
                                const std::string& velocity) {
      draft_.elements.push_back(
          {"coordinates",
           word,
           {field("start", raw(start)), field("velocity", raw(velocity)), field_word("each", "i = 1 to n")}});
    };
    const auto contact = [&](const std::string& word, const std::string& each, const std::string& gap,
                             std::vector<Field> more) {
      Element c{"contact", word, {field_word("each", each), field("gap", raw(gap))}};
      for (Field& f : more) c.fields.push_back(std::move(f));
      draft_.elements.push_back(std::move(c));
    };
    if (gas) {
      // Bodies that know nothing of each other, or push each other in a row.
      coordinate("y", dice_.pick<std::string>({"0.1*i", "1", "0", "0.5 + 0.02*i"}),
                 dice_.pick<std::string>({"0", "1", "-1", "0.1*i"}));
      Element energy{"energy",
                     "",
                     {field("kinetic", raw("sum(i = 1 to n, y[i]'^2/2)")),
                      field("potential", raw("sum(i = 1 to n, 9.81*y[i])"))}};
      draft_.elements.push_back(std::move(energy));
      contact("floor", "i = 1 to n", "y[i]", {field("impact", name("e"))});
      feature("gravity");
    } else {
      coordinate("x", "i", dice_.pick<std::string>({"0", "if(i == 1, 2, 0)", "if(i == n, -2, 0)", "0.1*i"}));
      const bool springs = dice_.chance(0.6);
      Element energy{"energy", "", {field("kinetic", raw("sum(i = 1 to n, x[i]'^2/2)"))}};
      if (springs) {
        energy.fields.push_back(field("potential", raw("sum(i = 1 to n, 5*(x[i] - i)^2)")));
        feature("spring");
      }
      draft_.elements.push_back(std::move(energy));
      if (dice_.chance(0.5))
        contact("pair", "i = 1 to n - 1", "x[i + 1] - x[i] - 0.9", {field("impact", name("e"))});
      if (dice_.chance(0.6)) {
        draft_.elements.push_back(
            {"friction",
             "rub",
             {field_word("each", "i = 1 to n"),
              field("slip", raw(dice_.pick<std::string>({"x[i]'", "x[i]' - 0.5", "x[i]' - sin(t)"}))),
              field("normal", number(1)),
              field("law", raw(dice_.pick<std::string>({"0.3", "0.1*i", "0.2 + 0.2*exp(-speed)"})))}});
        feature("joint");
      }
      draft_.elements.push_back(
          {"force",
           "pull",
           {field("along", raw("x[n]'")),
            field("value", raw(dice_.pick<std::string>({"2*sin(3*t)", "t", "1", "3*step(t - 0.5)"})))}});
      feature("force");
    }
    feature("contact");
  }

  // --- mechanics ---

  void mechanics() {
    feature("mechanics");
    const double u = dice_.unit();
    const int n = u < 0.3 ? 1 : u < 0.65 ? 2 : u < 0.85 ? 3 : 4;
    const std::vector<std::string> words{"x", "y", "w", "u"};
    bool rest = true;
    for (int i = 0; i < n; ++i) {
      const bool angle = i > 0 && dice_.chance(0.12);
      if (angle) feature("angle");
      const std::string word = angle ? "th" + std::to_string(i) : words[static_cast<std::size_t>(i)];
      const Dimension d = angle ? kPure : kLength;
      Variable q{word, d, dice_.chance(0.5) ? 0 : sign() * mild()};
      Variable v{word + "'", d - kTime, dice_.chance(0.5) ? 0 : sign() * mild()};
      massless_.push_back(!angle && i > 0 && dice_.chance(0.08));
      if (massless_.back()) {
        feature("massless node");
        v.start = 0;
        q.start = 0;
      }
      rest = rest && v.start == 0;
      positions_.push_back(q);
      velocities_.push_back(v);
    }
    if (rest) feature("start at rest");
    if (dice_.chance(0.15)) {
      states_.push_back({"z", kLength, dice_.chance(0.5) ? 0 : sign() * mild()});
      feature("state");
    }
    energies();
    if (!states_.empty()) {
      Expr rate = held(-mild(), -1 * kTime) * name("z", kLength) +
                  defined(shape(kLength - kTime, {}, dice_.whole(0, 2)));
      draft_.elements.push_back(
          {"state",
           "z",
           {field("start", number(states_[0].start, kLength)), field("rate", std::move(rate))}});
    }
    forces();
    const int contacts = dice_.pick<int>({0, 0, 1, 1, 1, 1, 2, 2, 3});
    for (int i = 0; i < contacts; ++i) contact(i);
    if (draft_.features.count("impact stronge") > 0) say_stiffnesses();
    const int joints = dice_.pick<int>({0, 0, 0, 1, 1, 2});
    for (int i = 0; i < joints; ++i) joint(i);
    if (n > 1 && dice_.chance(0.17)) constraint();
    watches();
    run_keys();
    // At last, because contacts and joints may have put the start where it is special.
    std::size_t at = 0;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      Element e{"coordinates", positions_[i].word, {}};
      if (positions_[i].start != 0)
        e.fields.push_back(field("start", number(positions_[i].start, positions_[i].dimension)));
      if (velocities_[i].start != 0)
        e.fields.push_back(field("velocity", number(velocities_[i].start, velocities_[i].dimension)));
      if (massless_[i]) e.fields.push_back(field_flag("massless"));
      draft_.elements.insert(draft_.elements.begin() + static_cast<std::ptrdiff_t>(at++), std::move(e));
    }
  }

  Expr q(std::size_t i) { return name(positions_[i].word, positions_[i].dimension); }
  Expr v(std::size_t i) { return name(velocities_[i].word, velocities_[i].dimension); }
  /// Half of a coefficient times a square: an energy.
  Expr square(double coefficient, Dimension d, Expr of) {
    return number(coefficient / 2, d) * power(std::move(of), 2);
  }

  void energies() {
    const std::size_t n = positions_.size();
    Expr kinetic = number(0, kEnergy);
    Expr potential = number(0, kEnergy);
    Expr dissipation = number(0, kEnergy - kTime);
    kinetic.op = potential.op = dissipation.op = Op::add;
    const Dimension rate = -1 * kTime;
    for (std::size_t i = 0; i < n; ++i) {
      const Dimension d = positions_[i].dimension;
      const Dimension inertia = kEnergy - 2 * (d + rate);
      if (!massless_[i]) {
        const double m = dice_.pick<double>({0.5, 1, 1, 1, 2, 3, 5});
        const double form = dice_.unit();
        if (form < 0.06) {
          feature("mass of q");
          feature("smooth function");
          Expr u = number(mild(), -1 * d) * q(i);
          kinetic = kinetic + number(m / 2, inertia) *
                                  (number(1) + number(0.5) * call("sin", {std::move(u)}, kPure)) *
                                  power(v(i), 2);
        } else if (form < 0.1 && n > 1) {
          feature("mass of q");
          const std::size_t j = (i + 1) % n;
          Expr u = number(mild(), -1 * positions_[j].dimension) * q(j);
          kinetic = kinetic + number(m / 2, inertia) * (number(1) + power(std::move(u), 2)) * power(v(i), 2);
        } else if (form < 0.14) {
          feature("moving frame");
          const double w = mild();
          kinetic =
              kinetic + square(m, inertia,
                               v(i) + number(mild(), d + rate) * call("cos", {number(w, rate) * t()}, kPure));
        } else {
          kinetic = kinetic + square(m, inertia, v(i));
        }
        if (i > 0 && dice_.chance(0.12) && !massless_[i - 1] && positions_[i - 1].dimension == d) {
          feature("mass coupled");
          kinetic = kinetic + square(mild(), inertia, dice_.chance(0.5) ? v(i) - v(i - 1) : v(i) + v(i - 1));
        }
        if (d == kPure && i > 0 && !massless_[0] && dice_.chance(0.5)) {  // a pendulum on what moves
          feature("mass of q");
          feature("mass coupled");
          const double l = mild();
          kinetic = kinetic + number(0.5, kMass) *
                                  (power(v(0) + number(l, kLength) * v(i) * call("cos", {q(i)}, kPure), 2) +
                                   power(number(l, kLength) * v(i) * call("sin", {q(i)}, kPure), 2));
          potential = potential + number(-5 * l, kEnergy) * call("cos", {q(i)}, kPure);
        }
      }
      const Dimension stiffness = kEnergy - 2 * d;
      if (massless_[i]) {
        // The node hangs on springs, or on a damper and a spring.
        const std::size_t j = (i + 1) % n;
        if (positions_[j].dimension == d)
          potential = potential + square(mild() * 10, stiffness, q(i) - q(j));
        else
          potential = potential + square(mild() * 10, stiffness, q(i));
        if (dice_.chance(0.4)) {
          feature("massless damped");
          dissipation = dissipation + square(mild(), stiffness + kTime, v(i));
        }
        if (dice_.chance(0.4)) {
          feature("massless friction");
          joint_on(i);
        } else if (dice_.chance(0.5)) {
          potential = potential + square(mild(), stiffness, q(i));
        }
        continue;
      }
      if (dice_.chance(0.55)) {
        const double k = dice_.pick<double>({1, 2, 4, 10, 20, 100});
        const double form = dice_.unit();
        if (form < 0.55 || n == 1) {
          feature("spring");
          potential =
              potential + square(k, stiffness, dice_.chance(0.7) ? q(i) : q(i) - number(sign() * mild(), d));
        } else if (form < 0.85 && positions_[(i + 1) % n].dimension == d) {
          feature("spring");
          potential = potential + square(k, stiffness, q(i) - q((i + 1) % n));
        } else {
          feature("spring driven");
          potential = potential + square(k, stiffness, q(i) - drive(d, false));
        }
      }
      if (dice_.chance(0.05)) {
        feature("spring hardening");
        potential = potential + number(mild(), stiffness - 2 * d) * power(q(i), 4);
      }
      if (dice_.chance(0.06)) {
        feature("spring one-sided");
        feature("kink in energy");
        feature("min max");
        potential = potential + square(20 * mild(), stiffness,
                                       call("max",
                                            {number(0, d), number(sign(), kPure) * q(i) -
                                                               number(dice_.chance(0.5) ? 0 : mild(), d)},
                                            d));
      }
      if (dice_.chance(0.04)) {
        feature("kink in energy");
        feature("abs");
        potential = potential + number(mild(), kEnergy - d) * call("abs", {q(i)}, d);
      }
      if (dice_.chance(0.3)) {
        feature("gravity");
        potential = potential + number(dice_.pick<double>({1, 5, 9.81, 10}), kEnergy - d) * q(i);
      }
      if (dice_.chance(0.35)) {
        feature("damper");
        const Dimension c = stiffness + kTime;
        if (n > 1 && positions_[(i + 1) % n].dimension == d && dice_.chance(0.3))
          dissipation = dissipation + square(mild(), c, v(i) - v((i + 1) % n));
        else
          dissipation = dissipation + square(dice_.pick<double>({0.1, 0.2, 0.5, 1, 2}), c, v(i));
      }
      if (dice_.chance(0.04)) {
        feature("damper of power");
        feature("abs");
        const Dimension s = d + rate;
        if (dice_.chance(0.5)) {
          feature("kink in energy");
          dissipation = dissipation + number(mild(), kEnergy + rate - s) * call("abs", {v(i)}, s);
        } else {
          dissipation = dissipation + number(0.3, kEnergy + rate - 3 * s) * power(call("abs", {v(i)}, s), 3);
        }
      }
    }
    Element e{"energy", "", {field("kinetic", std::move(kinetic))}};
    if (!potential.args.empty()) e.fields.push_back(field("potential", std::move(potential)));
    if (!dissipation.args.empty()) e.fields.push_back(field("dissipation", std::move(dissipation)));
    draft_.elements.push_back(std::move(e));
    // By dice of their own: models without matrices are what they were before there were any.
    std::swap(dice_, own_dice_);
    if (dice_.chance(0.09) && std::none_of(massless_.begin(), massless_.end(), [](bool m) { return m; }))
      matrices();
    std::swap(dice_, own_dice_);
  }

  /// Added to the energies: inertia and springs stay positive definite, a part that turns is small.
  void matrices() {
    feature("matrices");
    const std::size_t n = positions_.size();
    const auto matrix = [&](double size, double times, bool turns) {
      std::vector<Expr> out;
      std::vector<double> beside(n * n, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j)
          beside[i * n + j] = beside[j * n + i] = dice_.chance(0.5) ? 0 : sign() * 0.25 * size * mild() / 3;
      }
      if (turns && n > 1) {
        feature("matrix not symmetric");
        beside[1] += 0.1 * size;
        beside[n] -= 0.1 * size;
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const Dimension d = kEnergy - positions_[i].dimension - positions_[j].dimension + times * kTime;
          out.push_back(number(i == j ? size * mild() + size : beside[i * n + j], d));
        }
      }
      return out;
    };
    Element e{"matrices", "", {}};
    if (dice_.chance(0.4)) e.fields.push_back(field_rows("mass", matrix(1, 2, false)));
    if (dice_.chance(0.5)) e.fields.push_back(field_rows("damping", matrix(0.2, 1, dice_.chance(0.6))));
    if (e.fields.empty() || dice_.chance(0.7))
      e.fields.push_back(field_rows("stiffness", matrix(4, 0, dice_.chance(0.6))));
    if (dice_.chance(0.3)) {
      std::vector<Expr> load;
      for (const Variable& q : positions_) {
        const Dimension d = kEnergy - q.dimension;
        load.push_back(dice_.chance(0.4) ? number(0, d) : drive(d, true));
      }
      e.fields.push_back(field_list("load", std::move(load)));
    }
    draft_.elements.push_back(std::move(e));
  }

  void forces() {
    const int number_of = dice_.pick<int>({0, 1, 1, 1, 2, 2, 3});
    for (int k = 0; k < number_of; ++k) {
      feature("force");
      const std::size_t i = static_cast<std::size_t>(dice_.whole(0, static_cast<int>(positions_.size()) - 1));
      Expr along = v(i);
      const std::size_t j = (i + 1) % positions_.size();
      if (j != i && velocities_[j].dimension == velocities_[i].dimension && dice_.chance(0.15))
        along = std::move(along) - v(j);
      const Dimension d = kEnergy - positions_[i].dimension;
      Allowed allowed;
      if (massless_[i]) allowed = {false, false, true, true, true};
      Expr value = dice_.chance(0.3) ? drive(d, true) : shape(d, allowed, dice_.whole(1, 3));
      if (!states_.empty() && dice_.chance(0.5)) {
        feature("state in force");
        value = std::move(value) + held(-mild(), d - kLength) * name("z", kLength);
      }
      draft_.elements.push_back(
          {"force",
           "force" + std::to_string(k + 1),
           {field("along", std::move(along)), field("value", defined(std::move(value)))}});
    }
  }

  /// A velocity of length per time, affine in the velocities, for a slip; `special` may change the start so that it sticks there.
  Expr slip_of(std::size_t i, double* start) {
    Expr slip = v(i);
    double value = velocities_[i].start;
    const Dimension d = velocities_[i].dimension;
    if (positions_.size() > 1 && dice_.chance(0.2)) {
      const std::size_t j = (i + 1) % positions_.size();
      if (velocities_[j].dimension == d && !massless_[j]) {
        slip = std::move(slip) - v(j);
        value -= velocities_[j].start;
      }
    }
    if (dice_.chance(0.3)) {
      feature("belt");
      if (dice_.chance(0.5)) {
        const double speed = sign() * mild();
        slip = std::move(slip) - number(speed, d);
        value -= speed;
      } else {
        slip = std::move(slip) - drive(d, dice_.chance(0.3));
        value = 1;
      }
    }
    *start = value;
    if (value == 0) feature("start sticking");
    return slip;
  }

  /// `of_speed`: laws that know the slip speed; `compliant`: penalty allowed.
  Field law(const std::string& key, const Expr& slip, bool penalty) {
    const Dimension s = slip.dimension;
    const double mu = dice_.pick<double>({0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 1});
    // A joint on an angle has coefficients of length per force; the numbers are then torques per normal force.
    const Dimension c = s == kLength - kTime ? kPure : kLength;
    const Dimension viscous = kEnergy - kTime - 2 * s;
    std::vector<Field> keys;
    const auto base = [&](bool only_simple) {
      // Smooth laws need one coefficient at each speed, so none that jumps.
      switch (only_simple ? dice_.pick<int>({0, 0, 2}) : dice_.whole(0, 5)) {
        case 0:
          feature("law coulomb");
          keys.push_back(field("mu", number(mu, c)));
          break;
        case 1:
          feature("law static");
          keys.push_back(field("static", number(mu, c)));
          keys.push_back(field("dynamic", number(mu * dice_.pick<double>({0.5, 0.8, 1}), c)));
          break;
        case 2:
          feature("law stribeck");
          keys.push_back(field("static", number(mu, c)));
          keys.push_back(field("dynamic", number(mu * 0.5, c)));
          keys.push_back(field("velocity", number(dice_.pick<double>({0.1, 0.5, 1}), s)));
          if (dice_.chance(0.3)) keys.push_back(field("exponent", number(dice_.pick<double>({1, 2, 0.5}))));
          break;
        case 3: {
          feature("law of speed");
          const Expr speed = name("speed", s);
          Expr e =
              dice_.chance(0.5)
                  ? number(mu, c) / (number(1) + number(mild(), -1 * s) * speed)
                  : number(mu, c) * (number(1) + call("exp", {-(number(mild(), -1 * s) * speed)}, kPure));
          keys.push_back(field("mu", std::move(e)));
          break;
        }
        case 4: {
          feature("law of time");
          const double w = mild();
          Expr e =
              number(mu, c) * (number(1) + number(0.5) * call("sin", {number(w, -1 * kTime) * t()}, kPure));
          if (dice_.chance(0.4))
            e = call("max", {number(0, c), number(mu, c) - number(0.1, c - kTime) * t()}, c);
          keys.push_back(field("mu", std::move(e)));
          break;
        }
        default: {
          feature("law by direction");
          feature("if");
          keys.push_back(field("mu", call("if",
                                          {less(number(0, s), slip), number(mu, c),
                                           number(mu * dice_.pick<double>({0.5, 2}), c)},
                                          c)));
          break;
        }
      }
    };
    const double type = dice_.unit();
    if (type < 0.72) {
      base(false);
      if (dice_.chance(0.15)) {
        feature("law viscous");
        keys.push_back(field("viscous", number(mild() * 0.3, viscous)));
      }
      if (keys.size() == 1 && keys[0].key == "mu" && dice_.chance(0.8)) {
        Field f = std::move(keys[0]);
        f.key = key;
        return f;
      }
      return field_table(key, std::move(keys));
    }
    base(true);
    const Dimension slope = -1 * (s + kTime);  // bristles are measured like the slip's integral
    if (type < 0.79) {
      feature("law lugre");
      keys.insert(keys.begin(), field_word("type", "lugre"));
      keys.push_back(field("stiffness", number(dice_.pick<double>({10, 100}), c + slope)));
      keys.push_back(field("damping", number(dice_.pick<double>({0.1, 0.5, 1}), c + slope + kTime)));
    } else if (type < 0.84) {
      feature("law elastoplastic");
      keys.insert(keys.begin(), field_word("type", "elastoplastic"));
      keys.push_back(field("stiffness", number(100, c + slope)));
      keys.push_back(field("damping", number(dice_.pick<double>({0.1, 0.5, 1}), c + slope + kTime)));
      keys.push_back(field("breakaway", number(mu * 0.5 / 100 * 0.5, -1 * slope)));
    } else if (type < 0.92 || !penalty) {
      feature("law arctan");
      keys.insert(keys.begin(), field_word("type", "arctan"));
      keys.push_back(field("beta", number(dice_.pick<double>({1, 10, 100}), -1 * s)));
    } else {
      feature("law penalty");
      keys.insert(keys.begin(), field_word("type", "penalty"));
      const Dimension k = kEnergy - 2 * (s + kTime);
      keys.push_back(field("stiffness", number(dice_.pick<double>({50, 100, 500}), k)));
      keys.push_back(field("damping", number(dice_.pick<double>({0.5, 1, 5}), k + kTime)));
    }
    return field_table(key, std::move(keys));
  }

  std::size_t massive() {
    for (int tries = 0; tries < 20; ++tries) {
      const auto i = static_cast<std::size_t>(dice_.whole(0, static_cast<int>(positions_.size()) - 1));
      if (!massless_[i]) return i;
    }
    return 0;
  }

  void joint(int k) {
    feature("joint");
    const std::size_t i = massive();
    double start = 0;
    Expr slip = slip_of(i, &start);
    const Dimension force{1, 1, -2};
    Expr normal = number(round_number(), force);
    const double form = dice_.unit();
    if (form < 0.12) {
      feature("joint normal of time");
      normal = std::move(normal) * (number(1.5) + call("sin", {number(mild(), -1 * kTime) * t()}, kPure));
    } else if (form < 0.26) {
      feature("joint normal abs max");
      Expr e = dice_.chance(0.5) ? drive(force, true) : shape(force, {true, false, true, true, true}, 1);
      normal = dice_.chance(0.5) ? call("abs", {std::move(e)}, force)
                                 : call("max", {number(0, force), std::move(e)}, force);
      feature(normal.word == "abs" ? "abs" : "min max");
    } else if (form < 0.42 && !rigid_.empty()) {
      feature("joint normal fed");
      Expr fed = call("normal", {name(dice_.pick(rigid_))}, force);
      if (dice_.chance(0.5)) fed = number(dice_.pick<double>({0.2, 0.5, 1})) * fed;
      normal = dice_.chance(0.5) ? std::move(fed) : std::move(normal) + std::move(fed);
    }
    Field l = law("law", slip, true);
    draft_.elements.push_back(
        {"friction",
         "j" + std::to_string(k + 1),
         {field("slip", std::move(slip)), field("normal", std::move(normal)), std::move(l)}});
  }
  void joint_on(std::size_t i) {
    feature("joint");
    Expr slip = v(i);
    draft_.elements.push_back({"friction",
                               "node" + std::to_string(i),
                               {field("slip", slip), field("normal", number(round_number(), {1, 1, -2})),
                                field("law", number(dice_.pick<double>({0.3, 0.5, 1})))}});
  }

  double at_start(const Expr& e) {
    Slots slots;
    slots.add("t", draft_.from);
    for (const Variable& x : positions_) slots.add(x.word, x.start);
    for (const Variable& x : velocities_) slots.add(x.word, x.start);
    for (const Variable& x : states_) slots.add(x.word, x.start);
    return evaluate_once(draft_, e, slots);
  }

  void contact(int k) {
    feature("contact");
    const std::size_t i = massive();
    const Dimension d = positions_[i].dimension;
    const double side = dice_.chance(0.7) ? 1 : -1;
    Expr gap = side > 0 ? q(i) : -q(i);
    const std::size_t j = (i + 1) % positions_.size();
    const bool pair = j != i && positions_[j].dimension == d && !massless_[j];
    const double form = dice_.unit();
    bool compliant = false;
    if (pair && form < 0.25)
      gap = side > 0 ? q(i) - q(j) : q(j) - q(i);
    else if (form < 0.3) {
      feature("curved gap");
      gap = std::move(gap) + number(0.3, d) * call("sin", {number(mild(), -1 * d) * q(i)}, kPure);
    } else if (form < 0.34 && j != i && !massless_[j]) {
      feature("curved gap");
      gap = std::move(gap) + number(0.2, d - 2 * positions_[j].dimension) * power(q(j), 2);
    } else if (form < 0.38 && j != i && !massless_[j]) {
      feature("kinked gap");
      feature("abs");
      gap = std::move(gap) +
            number(0.3, d - positions_[j].dimension) * call("abs", {q(j)}, positions_[j].dimension);
    }
    if (dice_.chance(0.2)) {
      feature("moving gap");
      gap = std::move(gap) - drive(d, false);
    }
    // The gap at the start: closed with good probability.
    const double now = at_start(gap);
    double wanted = dice_.chance(0.45) ? 0 : mild();
    if (now > 0 && dice_.chance(0.5)) wanted = now;
    if (wanted == 0) feature("start in contact");
    const double offset = wanted - now;
    if (offset != 0) gap = std::move(gap) + number(offset, d);
    std::vector<Field> fields{field("gap", gap)};
    const std::string word = "c" + std::to_string(k + 1);
    if (dice_.chance(0.12)) {
      feature("compliant");
      compliant = true;
      std::vector<Field> keys;
      const double exponent = dice_.pick<double>({1, 1, 1.5, 2});
      keys.push_back(
          field("stiffness", number(dice_.pick<double>({100, 500, 1000}), kEnergy - d - exponent * d)));
      if (dice_.chance(0.5)) keys.push_back(field("damping", number(mild(), kEnergy - 2 * d + kTime)));
      if (exponent != 1) {
        feature("compliant exponent");
        keys.push_back(field("exponent", number(exponent)));
      }
      fields.push_back(field_table("compliant", std::move(keys)));
    } else {
      if (d == kLength) rigid_.push_back(word);  // others have a torque for a reaction
    }
    bool friction = false;
    if (positions_.size() > 1 && d == kLength && dice_.chance(0.55)) {
      const std::size_t s = j;
      if (velocities_[s].dimension == kLength - kTime && !massless_[s]) {
        friction = true;
        feature("contact friction");
        double start = 0;
        Expr slip = slip_of(s, &start);
        if (dice_.chance(0.15))
          slip = std::move(slip) + number(dice_.pick<double>({0.2, -0.3}), kPure) * v(i);
        Field l = law("friction", slip, compliant);
        fields.push_back(field("slip", std::move(slip)));
        fields.push_back(std::move(l));
        if (!compliant && dice_.chance(0.12)) {
          feature("push and drag");
          fields.push_back(field("push", side > 0 ? v(i) : -v(i)));
          fields.push_back(field("drag", v(s)));
        }
      }
    }
    if (!compliant) {
      Expr e = number(dice_.pick<double>({0, 0.3, 0.5, 0.8, 1}));
      if (e.number == 0) feature("restitution zero");
      if (dice_.chance(0.1)) {
        feature("restitution by speed");
        const Dimension s = d - kTime;
        e = number(dice_.pick<double>({0.5, 0.8})) / (number(1) + number(mild(), -1 * s) * name("speed", s));
      }
      const double type = dice_.unit();
      std::vector<Field> keys;
      if (type < 0.45) {
        feature("impact moreau");
        if (!(e.op == Op::number && e.number == 0)) fields.push_back(field("impact", std::move(e)));
      } else {
        const std::string law_type = type < 0.57   ? "newton"
                                     : type < 0.69 ? "poisson"
                                     : type < 0.8  ? "stronge"
                                                   : "moreau";
        feature("impact " + law_type);
        keys.push_back(field_word("type", law_type));
        keys.push_back(field("restitution", std::move(e)));
        if (friction && type >= 0.8) {
          if (dice_.chance(0.5)) {
            feature("impact tangential");
            keys.push_back(field("tangential", number(dice_.pick<double>({0, 0.5, 1}))));
          } else {
            feature("impact frictionless");
            Field no = field_flag("friction");
            no.word = "false";
            keys.push_back(std::move(no));
          }
        }
        fields.push_back(field_table("impact", std::move(keys)));
      }
    }
    draft_.elements.push_back({"contact", word, std::move(fields)});
  }

  /// The stiffness that the language takes in impacts that contacts share, said with its dimension: a length and an angle are as stiff beside each
  /// other in all units.
  void say_stiffnesses() {
    for (Element& e : draft_.elements) {
      if (e.section != "contact" || e.find("compliant") != nullptr) continue;
      Field* impact = e.find("impact");
      if (impact == nullptr) {
        e.fields.push_back(field_table("impact", {}));
        impact = &e.fields.back();
      } else if (impact->kind != Field::Kind::table) {
        *impact = field_table("impact", {field("restitution", impact->values.front())});
      }
      const Dimension d = e.find("gap")->values.front().dimension;
      impact->fields.push_back(field("stiffness", number(1, kEnergy - 2 * d)));
    }
  }

  void constraint() {
    feature("constraint");
    const std::size_t i = massive();
    const std::size_t j = (i + 1) % positions_.size();
    std::vector<Field> fields;
    const double form = dice_.unit();
    const auto stop = [&](std::size_t k) { velocities_[k].start = 0; };
    if (form < 0.35 && !massless_[j]) {
      Expr zero = q(i) - number(dice_.pick<double>({1, 2, -1, 0.5}),
                                positions_[i].dimension - positions_[j].dimension) *
                             q(j);
      const double now = at_start(zero);
      if (now != 0) zero = std::move(zero) - number(now, zero.dimension);
      stop(i);
      stop(j);
      fields.push_back(field("zero", std::move(zero)));
    } else if (form < 0.65) {
      feature("constraint of time");
      Expr wave = number(1) - call("cos", {number(mild(), -1 * kTime) * t()}, kPure);
      Expr zero = q(i) - number(sign() * mild(), positions_[i].dimension) * std::move(wave);
      if (draft_.from != 0) zero = q(i);
      const double now = at_start(zero);
      if (now != 0) zero = std::move(zero) - number(now, zero.dimension);
      stop(i);
      fields.push_back(field("zero", std::move(zero)));
    } else {
      feature("constraint velocity");
      Expr velocity = v(i);
      if (dice_.chance(0.5) && !massless_[j]) {
        velocity = std::move(velocity) - number(dice_.pick<double>({1, 2, -1}),
                                                velocities_[i].dimension - velocities_[j].dimension) *
                                             v(j);
        stop(j);
      } else if (draft_.from == 0) {
        feature("constraint of time");
        velocity = std::move(velocity) - number(mild(), velocities_[i].dimension) *
                                             call("sin", {number(mild(), -1 * kTime) * t()}, kPure);
      }
      stop(i);
      fields.push_back(field("velocity", std::move(velocity)));
    }
    if (dice_.chance(0.7) && positions_[i].dimension == kLength) {
      // Friction by a slip that is another coordinate's.
      for (std::size_t k = 0; k < positions_.size(); ++k) {
        if (k == i || k == j || massless_[k] || positions_[k].dimension != kLength) continue;
        feature("constraint friction");
        fields.push_back(field("slip", v(k)));
        fields.push_back(field("friction", number(dice_.pick<double>({0.1, 0.3}))));
        break;
      }
    }
    draft_.elements.push_back({"constraint", "k1", std::move(fields)});
  }

  void watches() {
    const int number_of = dice_.pick<int>({0, 0, 0, 0, 1, 2});
    for (int k = 0; k < number_of; ++k) {
      feature("watch");
      Expr zero;
      const double form = dice_.unit();
      if (form < 0.35 && !velocities_.empty()) {
        feature("watch velocity");
        const std::size_t i = massive();
        zero = v(i);
      } else if (form < 0.6 && !rigid_.empty()) {
        feature("watch reaction");
        const Dimension force{1, 1, -2};
        zero = call("normal", {name(dice_.pick(rigid_))}, force) - number(mild(), force);
      } else {
        Allowed allowed;
        allowed.jumps = dice_.chance(0.3);
        const Expr any = variable(allowed);
        zero = shape(any.dimension, allowed, dice_.whole(0, 1));
      }
      Element e{"watch", "look" + std::to_string(k + 1), {field("zero", std::move(zero))}};
      if (dice_.chance(0.4)) e.fields.push_back(field_word("direction", dice_.chance(0.5) ? "up" : "down"));
      if (dice_.chance(0.15)) {
        feature("watch stop");
        e.fields.push_back(field_flag("stop"));
      }
      draft_.elements.push_back(std::move(e));
    }
  }

  void run_keys() {
    Element e{"run", "", {}};
    if (dice_.chance(0.06)) {
      feature("on_painleve");
      e.fields.push_back(field_word("on_painleve", dice_.chance(0.5) ? "tangential-impact" : "choose"));
    }
    if (dice_.chance(0.06)) {
      feature("on_indeterminate");
      e.fields.push_back(field_word("on_indeterminate", "stay"));
    }
    if (!e.fields.empty()) draft_.elements.push_back(std::move(e));
  }

  void variant() {
    // A start value or a parameter is another one.
    std::vector<Field> fields;
    for (const Element& e : draft_.elements) {
      if (e.section == "parameters" && !draft_.repeated) {
        Expr value = e.fields[0].values[0];
        value.number *= dice_.pick<double>({0.5, 2, 0.9});
        fields.push_back(field(e.name, std::move(value)));
      }
    }
    if (fields.empty() && !velocities_.empty()) {
      for (std::size_t i = 0; i < velocities_.size(); ++i) {
        if (velocities_[i].start != 0)
          fields.push_back(
              field(velocities_[i].word, number(velocities_[i].start / 2, velocities_[i].dimension)));
      }
    }
    if (fields.empty()) return;
    draft_.elements.push_back({"variants", "other", std::move(fields)});
    draft_.variant = "other";
    feature("variant");
  }
};

}  // namespace

Draft draw(std::uint64_t seed, std::uint64_t index) { return Drawer(seed, index).run(); }

}  // namespace judder::hunt
