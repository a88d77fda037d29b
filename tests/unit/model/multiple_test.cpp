// Gaps that are products. Petcoviciu 2010, 1.5 and 1.6.
#include <gtest/gtest.h>

#include "model_support.hpp"

namespace judder::model {
namespace {

Spec particle(const std::string& gap, double start = 0) {
  Spec spec;
  spec.coordinates.push_back({.name = "q", .start = start, .velocity = 1});
  spec.energy.kinetic = "q'^2/2";
  spec.contacts.push_back({.name = "stop", .gap = Value(gap)});
  return spec;
}

/// "stop[1]: 1 - q; stop[2]: q + 1", or the messages.
std::string contacts(const Spec& spec) {
  const Compiled compiled = compile(spec);
  if (!compiled.system) return messages(compiled);
  std::string out;
  for (std::size_t r = 0; r < compiled.system->relations().size(); ++r) {
    const Relation& relation = compiled.system->relations()[r];
    if (relation.kind != RelationKind::contact) continue;
    out += (out.empty() ? "" : "; ") + relation.name + ": " +
           compiled.system->graph().text(compiled.system->symbols().normal[r].gap);
  }
  return out;
}

TEST(MultipleConstraints, AreSplitIntoSimpleOnes) {
  EXPECT_EQ(contacts(particle("(1 - q)*(1 + q)")), "stop[1]: 1 - q; stop[2]: q + 1");
  EXPECT_EQ(contacts(particle("1 - q^2")), "stop[1]: 1 - q; stop[2]: q + 1");
  EXPECT_EQ(contacts(particle("5*(1 - q^2)")), "stop[1]: 1 - q; stop[2]: q + 1");
  EXPECT_EQ(contacts(particle("(1 - q)*(2 + q)*(3 - q)")), "stop[1]: 1 - q; stop[2]: q + 2; stop[3]: 3 - q");
  Spec defined = particle("both");
  defined.definitions.push_back({"both", "w^2 - q^2"});
  defined.parameters.push_back({.name = "w", .value = 2});
  EXPECT_EQ(contacts(defined), "stop[1]: 2 - q; stop[2]: q + 2");
}

TEST(MultipleConstraints, MeanThePartOfSpaceWhereTheMotionStarts) {
  // (q − 1)(q − 2) ≥ 0 left of both, right of both, and with one of them touched.
  EXPECT_EQ(contacts(particle("(q - 1)*(q - 2)")), "stop[1]: 1 - q; stop[2]: 2 - q");
  EXPECT_EQ(contacts(particle("(q - 1)*(q - 2)", 3)), "stop[1]: q - 1; stop[2]: q - 2");
  EXPECT_EQ(contacts(particle("(q - 1)*(q - 2)", 1)), "stop[1]: 1 - q; stop[2]: 2 - q");
  EXPECT_EQ(contacts(particle("(q - 1)*(q - 2)", 2)), "stop[1]: q - 1; stop[2]: q - 2");
  EXPECT_NE(contacts(particle("(q - 1)*(q - 2)", 1.5)).find("the gap is negative at the start"),
            std::string::npos);
}

TEST(MultipleConstraints, LosePositiveFactorsAndOddPowers) {
  EXPECT_EQ(contacts(particle("exp(q)*(1 - q)")), "stop: 1 - q");
  EXPECT_EQ(contacts(particle("(1 - q)/(1 + q^2)")), "stop: 1 - q");
  EXPECT_EQ(contacts(particle("(1 - q)^3")), "stop: 1 - q");
  EXPECT_EQ(contacts(particle("(1 - q)^3*(1 + q)")), "stop[1]: 1 - q; stop[2]: q + 1");
}

TEST(MultipleConstraints, LeaveSimpleGapsAsTheyAre) {
  EXPECT_EQ(contacts(particle("5*(1 - q)")),
            "stop: -5*(q - 1)");  // the reaction belongs to the gap as written
  EXPECT_EQ(contacts(particle("1 - q")), "stop: 1 - q");
  EXPECT_EQ(contacts(particle("1 + q - q^3")), "stop: q - q^3 + 1");
  EXPECT_EQ(contacts(particle("(2 + sin(t))*(1 - q)")), "stop: 1 - q");
  EXPECT_EQ(contacts(particle("(1 - t)*(1 - q)")),
            "stop: (t - 1)*(q - 1)");  // time alone may change the sign
}

TEST(MultipleConstraints, RefuseEvenPowers) {
  for (const char* gap : {"(1 - q)^2", "(1 - q)^2*(1 + q)", "-(1 - q)^4"})
    EXPECT_NE(contacts(particle(gap)).find("which is no constraint"), std::string::npos)
        << gap << contacts(particle(gap));
}

TEST(MultipleConstraints, WithFrictionAreLeftToTheAuthor) {
  const auto rough = [](const std::string& gap) {
    Spec spec = particle(gap);
    spec.coordinates.push_back({.name = "s"});
    spec.energy.kinetic = "q'^2/2 + s'^2/2";
    spec.contacts[0].slip = {Value("s'")};
    spec.contacts[0].friction.given = true;
    spec.contacts[0].friction.mu = 0.3;
    return spec;
  };
  EXPECT_NE(
      contacts(rough("1 - q^2")).find("the gap of a contact with friction is a product: '1 - q', 'q + 1'"),
      std::string::npos)
      << contacts(rough("1 - q^2"));
  EXPECT_NE(contacts(rough("(1 - q)^3")).find("is a power"), std::string::npos);
  // A positive factor is kept, and named.
  const Compiled kept = compile(rough("(2 + q^2)*(1 - q)"));
  ASSERT_TRUE(kept.system.has_value()) << messages(kept);
  EXPECT_NE(messages(kept).find("the gap contains the factor 'q^2 + 2'"), std::string::npos)
      << messages(kept);
  EXPECT_EQ(kept.system->relations().size(), 1U);
}

TEST(MultipleConstraints, AreNamedInOtherExpressions) {
  Spec spec = particle("1 - q^2");
  spec.output.columns.push_back({"N", "normal(stop[1]) + gap(stop[2])"});
  EXPECT_EQ(contacts(spec), "stop[1]: 1 - q; stop[2]: q + 1");
  spec.output.columns[0] = {"N", "normal(stop)"};
  EXPECT_NE(contacts(spec).find("stop"), std::string::npos);
  EXPECT_FALSE(compile(spec).system.has_value());
  // Together with `each` the part is the last index.
  Spec several = particle("w*w - (q - i)^2", 1.5);
  several.parameters.push_back({.name = "w", .value = 3});
  several.contacts[0].each = "i = 1 to 2";
  EXPECT_EQ(contacts(several), "stop[1,1]: 4 - q; stop[1,2]: q + 2; stop[2,1]: 5 - q; stop[2,2]: q + 1");
}

// Petcoviciu 2010, theorem 1.6 and its corollary: 5 f and f³ give the impact of f. The rows are what the impact law sees.
TEST(MultipleConstraints, KeepTheDirectionOfTheImpact) {
  for (const char* gap : {"x + y", "5*(x + y)", "(x + y)^3", "exp(x)*(x + y)"}) {
    Spec spec;
    spec.coordinates.push_back({.name = "x", .velocity = -1});
    spec.coordinates.push_back({.name = "y", .velocity = -2});
    spec.energy.kinetic = "x'^2 + y'^2/2";
    spec.contacts.push_back({.name = "wall", .gap = Value(gap)});
    const System system = compiled_system(spec);
    Workspace work(system);
    work.in = system.start();
    ASSERT_TRUE(system.motion(work));
    const RelationRows& rows = system.rows(work, 0);
    // v⁺ = v⁻ − (1 + R) M⁻¹w (w·v)/(w·M⁻¹w) with R = 1/2.
    const double B = rows.w[0] * rows.w[0] / 2 + rows.w[1] * rows.w[1];
    const double impulse = -1.5 * rows.gap_rate / B;
    EXPECT_NEAR(-1 + impulse * rows.w[0] / 2, 0.5, 1e-14) << gap;
    EXPECT_NEAR(-2 + impulse * rows.w[1], 1.0, 1e-14) << gap;
  }
}

Spec corner(const std::string& gap) {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 1});
  spec.coordinates.push_back({.name = "y", .start = 3});
  spec.energy.kinetic = "x'^2/2 + y'^2/2";
  spec.contacts.push_back({.name = "vee", .gap = Value(gap)});
  return spec;
}

TEST(LeastGaps, AreContactsOfTheirOwn) {
  EXPECT_EQ(contacts(corner("min(x, y)")), "vee[1]: x; vee[2]: y");
  EXPECT_EQ(contacts(corner("y - max(x, -2*x)")), "vee[1]: 2*x + y; vee[2]: y - x");
  EXPECT_EQ(contacts(corner("y - 3*max(0, x - 2)")), "vee[1]: y; vee[2]: y - 3*(x - 2)");
  EXPECT_EQ(contacts(corner("(y - abs(x))/2")), "vee[1]: 0.5*(x + y); vee[2]: 0.5*(y - x)");
  EXPECT_EQ(contacts(corner("min(min(x, y), 7 - x)")), "vee[1]: x; vee[2]: y; vee[3]: 7 - x");
  EXPECT_EQ(contacts(corner("if(x < y, x, y)")), "vee[1]: y; vee[2]: x");
  EXPECT_EQ(contacts(corner("y - abs(abs(x) - 2)")),
            "vee[1]: y + abs(x) - 2; vee[2]: x + y + 2; vee[3]: y - x + 2");
}

TEST(LeastGaps, AreNoCornersWhereTheGapIsTheLarger) {
  EXPECT_EQ(contacts(corner("y + abs(x)")), "vee: y + abs(x)");
  EXPECT_EQ(contacts(corner("max(x, y)")), "vee: max(x, y)");
  EXPECT_EQ(contacts(corner("min(x, y) + abs(x - y)")).find("vee[1]"), std::string::npos);
  // It is the larger one for x < 0.
  EXPECT_EQ(contacts(corner("y - x*abs(x - 2)")), "vee: y - x*(x - 2)*sign(x - 2)");
  // Time alone is no corner to rest in.
  EXPECT_EQ(contacts(corner("y - abs(sin(t))")), "vee: y - abs(sin(t))");
  Spec soft = corner("min(x, y)");
  soft.contacts[0].compliant.stiffness = 100;
  EXPECT_EQ(contacts(soft), "vee: min(x, y)");  // its force is that of one spring
}

TEST(LeastGaps, AreOneInOtherExpressions) {
  Spec spec = corner("min(x, y)");
  spec.output.columns = {
      {"N", "normal(vee)"}, {"g", "gap(vee)"}, {"D", "dissipated(vee)"}, {"M", "normal(vee[2])"}};
  EXPECT_EQ(contacts(spec), "vee[1]: x; vee[2]: y");
  spec.output.columns = {{"m", "mode(vee)"}};
  EXPECT_NE(contacts(spec).find("write vee[1] for the first"), std::string::npos) << contacts(spec);
}

}  // namespace
}  // namespace judder::model
