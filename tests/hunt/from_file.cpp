#include "from_file.hpp"

#include "judder/expr/syntax.hpp"

namespace judder::hunt {
namespace {

class Converter {
 public:
  Converter(const model::Spec& spec, const std::string& variant) : spec_(spec) { draft_.variant = variant; }

  Draft run() {
    const model::Spec& s = spec_;
    const auto note = [&](bool something) { draft_.repeated = draft_.repeated || something; };
    note(s.matrices.mass.given || s.matrices.damping.given || s.matrices.stiffness.given ||
         s.matrices.load.given);
    note(!s.variants.empty());
    for (const model::Parameter& p : s.parameters) {
      if (!p.rows.empty()) note(true);
      element("parameters", p.name.text, {{"value", &p.value}});
    }
    for (const model::Definition& d : s.definitions) {
      element("definitions", d.signature.text, {{"value", &d.body}});
      const std::size_t bracket = d.signature.text.find('(');
      note(bracket != std::string::npos && d.signature.text.substr(bracket) != "(a)");
    }
    for (const model::Table& t : s.tables) {
      Element e{"tables", t.name.text, {}};
      std::vector<Expr> x;
      std::vector<Expr> y;
      for (const double v : t.x) x.push_back(number(v));
      for (const double v : t.y) y.push_back(number(v));
      e.fields.push_back(field_list("x", std::move(x)));
      e.fields.push_back(field_list("y", std::move(y)));
      word(e, "between", t.between);
      word(e, "outside", t.outside);
      draft_.elements.push_back(std::move(e));
    }
    for (const model::Coordinate& c : s.coordinates) {
      Element e = element("coordinates", c.name.text,
                          {{"start", &c.start}, {"velocity", &c.velocity}, {"scale", &c.scale}});
      if (c.massless) draft_.elements.back().fields.push_back(field_flag("massless"));
      note(!c.each.empty());
    }
    for (const model::StateVariable& z : s.states) {
      element("state", z.name.text, {{"start", &z.start}, {"rate", &z.rate}});
      note(!z.each.empty());
    }
    element("energy", "",
            {{"kinetic", &s.energy.kinetic},
             {"potential", &s.energy.potential},
             {"dissipation", &s.energy.dissipation}});
    if (draft_.elements.back().fields.empty()) draft_.elements.pop_back();
    int number_of_force = 0;
    for (const model::Force& f : s.forces) {
      ++number_of_force;
      element("force", f.name.empty() ? "force" + std::to_string(number_of_force) : f.name.text,
              {{"along", &f.along}, {"value", &f.value}});
      note(!f.each.empty() || f.when.given);
    }
    for (const model::Joint& j : s.joints) {
      note(!j.each.empty() || j.when.given || j.slip.size() != 1);
      if (j.slip.size() != 1) continue;
      element("friction", j.name.text, {{"slip", &j.slip[0]}, {"normal", &j.normal}});
      draft_.elements.back().fields.push_back(law("law", j.law));
    }
    for (const model::Contact& c : s.contacts) {
      note(!c.each.empty() || c.when.given || c.slip.size() > 1 || c.drag.size() > 1);
      element("contact", c.name.text, {{"gap", &c.gap}, {"push", &c.push}});
      Element& e = draft_.elements.back();
      if (c.slip.size() == 1) e.fields.push_back(field("slip", value(c.slip[0])));
      if (c.drag.size() == 1) e.fields.push_back(field("drag", value(c.drag[0])));
      if (c.friction.given) e.fields.push_back(law("friction", c.friction));
      if (c.compliant.given) {
        Field f = field_table("compliant", {});
        keys(f.fields, {{"stiffness", &c.compliant.stiffness},
                        {"damping", &c.compliant.damping},
                        {"exponent", &c.compliant.exponent}});
        e.fields.push_back(std::move(f));
      }
      Field impact = field_table("impact", {});
      if (!c.impact.type.empty()) impact.fields.push_back(field_word("type", c.impact.type.text));
      keys(impact.fields, {{"restitution", &c.impact.restitution},
                           {"tangential", &c.impact.tangential},
                           {"stiffness", &c.impact.stiffness},
                           {"exponent", &c.impact.exponent}});
      if (!c.impact.friction) {
        impact.fields.push_back(field_flag("friction"));
        impact.fields.back().word = "false";
      }
      if (!impact.fields.empty()) e.fields.push_back(std::move(impact));
    }
    for (const model::Constraint& c : s.constraints) {
      note(!c.each.empty() || c.when.given || c.slip.size() > 1);
      element("constraint", c.name.text, {{"zero", &c.zero}, {"velocity", &c.velocity}});
      if (c.slip.size() == 1) draft_.elements.back().fields.push_back(field("slip", value(c.slip[0])));
      if (c.friction.given) draft_.elements.back().fields.push_back(law("friction", c.friction));
    }
    for (const model::Watch& w : s.watches) {
      note(!w.each.empty() || w.when.given);
      element("watch", w.name.text, {{"zero", &w.zero}});
      word(draft_.elements.back(), "direction", w.direction);
      if (w.stop > 0) draft_.elements.back().fields.push_back(field("stop", number(w.stop)));
    }
    Element run{"run", "", {}};
    word(run, "on_accumulation", s.run.on_accumulation);
    word(run, "on_painleve", s.run.on_painleve);
    word(run, "on_indeterminate", s.run.on_indeterminate);
    word(run, "method", s.run.method);
    if (!run.fields.empty()) draft_.elements.push_back(std::move(run));
    draft_.from = s.run.from.number.value_or(0);
    draft_.until = s.run.until.number.value_or(1);
    note((s.run.from.given && !s.run.from.number) || !s.run.until.number);
    return std::move(draft_);
  }

 private:
  using Keys = std::vector<std::pair<const char*, const model::Value*>>;
  const model::Spec& spec_;
  Draft draft_;

  static void word(Element& e, const char* key, const model::Text& text) {
    if (!text.empty()) e.fields.push_back(field_word(key, text.text));
  }
  void keys(std::vector<Field>& fields, const Keys& list) {
    for (const auto& [key, given] : list) {
      if (given->given) fields.push_back(field(key, value(*given)));
    }
  }
  Element element(const char* section, const std::string& named, const Keys& list) {
    Element e{section, named, {}};
    keys(e.fields, list);
    draft_.elements.push_back(e);
    return e;
  }
  Field law(const char* key, const model::FrictionLaw& l) {
    Field f = field_table(key, {});
    if (!l.type.empty()) f.fields.push_back(field_word("type", l.type.text));
    keys(f.fields, {{"mu", &l.mu},
                    {"static", &l.static_coefficient},
                    {"dynamic", &l.dynamic},
                    {"velocity", &l.velocity},
                    {"exponent", &l.exponent},
                    {"viscous", &l.viscous},
                    {"stiffness", &l.stiffness},
                    {"damping", &l.damping},
                    {"breakaway", &l.breakaway},
                    {"beta", &l.beta}});
    return f;
  }

  Expr value(const model::Value& v) {
    if (v.number) return number(*v.number);
    std::vector<expr::Problem> problems;
    const std::optional<expr::Tree> tree = expr::parse(v.text.text, problems);
    if (!tree) return unknown(v.text.text);
    return convert(*tree, v.text.text);
  }
  Expr unknown(std::string text) {
    draft_.repeated = true;
    return raw(std::move(text));
  }
  Expr convert(const expr::Tree& t, const std::string& source) {
    const auto child = [&](std::size_t k) { return convert(t.children[k], source); };
    switch (t.kind) {
      case expr::Kind::number:
        return number(t.value);
      case expr::Kind::name:
        if (!t.children.empty()) break;
        return name(t.text);
      case expr::Kind::prime:
        if (t.children[0].kind == expr::Kind::name && t.children[0].children.empty()) {
          for (const model::Coordinate& c : spec_.coordinates) {
            if (c.name.text == t.children[0].text) return name(t.children[0].text + "'");
          }
        }
        return prime(child(0));
      case expr::Kind::call: {
        std::vector<Expr> args;
        for (std::size_t k = 0; k < t.children.size(); ++k) args.push_back(child(k));
        return call(t.text, std::move(args), kPure);
      }
      case expr::Kind::negate:
        return -child(0);
      case expr::Kind::add:
        return child(0) + child(1);
      case expr::Kind::subtract:
        return child(0) - child(1);
      case expr::Kind::multiply:
        return child(0) * child(1);
      case expr::Kind::divide:
        return child(0) / child(1);
      case expr::Kind::power: {
        Expr e = power(child(0), 1);
        e.args[1] = child(1);
        return e;
      }
      case expr::Kind::less:
        return less(child(0), child(1));
      case expr::Kind::greater:
        return less(child(1), child(0));
      case expr::Kind::greater_equal:
        return at_least(child(0), child(1));
      case expr::Kind::less_equal:
        return at_least(child(1), child(0));
      default:
        break;
    }
    return unknown(source.substr(t.begin, t.end - t.begin));
  }
};

}  // namespace

Draft from_spec(const model::Spec& spec, const std::string& variant) {
  return Converter(spec, variant).run();
}

}  // namespace judder::hunt
