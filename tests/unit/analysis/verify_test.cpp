// Every kind of quantity of a reference, each with a value that is right and one that is not.
#include "judder/analysis/verify.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace judder::analysis {
namespace {

// A ball falls from 1 m, g = 2, and rebounds with e = 1/2: impacts at 1, 2, 2.5, …, speeds 2, 1, 1/2, …, rest at 3.
model::Spec ball() {
  model::Spec spec;
  spec.parameters = {{.name = "g", .value = 2}, {.name = "e", .value = 0.5}, {.name = "H", .value = 1}};
  spec.coordinates.push_back({.name = "h", .start = "H"});
  spec.energy.kinetic = "h'^2/2";
  spec.energy.potential = "g*h";
  spec.contacts.push_back({.name = "ground", .gap = "h", .impact = {.restitution = "e"}});
  spec.variants.push_back({.name = "dead", .values = {{"e", 0}}});
  spec.run.until = 4;
  spec.output.columns = {{"N", "normal(ground)"}, {"status", "mode(ground)"}};
  return spec;
}

/// By one engine: one outcome.
Outcome judge(const ReferenceValue& value, VerifyOptions options = {}) {
  options.both_engines = false;
  const Reference reference{"", {{"tolerance", 1e-12}}, {}, {value}};
  const std::vector<Writing> writings{{"model.toml", ball()}};
  Verification result = verify(reference, writings, options);
  EXPECT_EQ(result.outcomes.size(), 1U);
  Outcome outcome = result.outcomes.front();
  outcome.value = nullptr;  // the reference is gone
  return outcome;
}

ReferenceValue number(Quantity quantity, const std::string& subject, const model::Value& exact,
                      double tolerance = 1e-9) {
  ReferenceValue value;
  value.label = "value";
  value.quantity = quantity;
  value.subject = subject;
  value.exact = exact;
  value.tolerance = tolerance;
  return value;
}

// The value passes; a little beside it, it does not, and the reason shows both numbers.
void expect_exactly(ReferenceValue value) {
  const Outcome right = judge(value);
  EXPECT_EQ(right.verdict, Verdict::ok) << right.why;
  ASSERT_TRUE(right.computed.has_value());
  value.exact = *right.computed + 3 * std::max(value.tolerance, 1e-9);
  const Outcome wrong = judge(value);
  EXPECT_EQ(wrong.verdict, Verdict::off);
  EXPECT_NE(wrong.why.find("instead of"), std::string::npos) << wrong.why;
}

TEST(Verify, TimesOfEventsFromTheStartAndFromTheEnd) {
  ReferenceValue value = number(Quantity::event, "impact ground", "sqrt(2*H/g)");
  expect_exactly(value);
  value.number = 3;
  value.exact = 2.5;
  expect_exactly(value);
  value.subject = "accumulation";
  value.number = -1;
  value.exact = 3;
  expect_exactly(value);
}

// A place that the model does not have is no count of zero.
TEST(Verify, PlacesOfEventsAreThoseOfTheModel) {
  for (const Quantity quantity : {Quantity::count, Quantity::event}) {
    const Outcome outcome = judge(number(quantity, "impact grond", 0));
    EXPECT_EQ(outcome.verdict, Verdict::off);
    EXPECT_NE(outcome.why.find("'grond'; did you mean 'ground'?"), std::string::npos) << outcome.why;
  }
  EXPECT_EQ(judge(number(Quantity::count, "slip ground", 0)).verdict, Verdict::ok);
}

TEST(Verify, FieldsOfEventsAndColumnsOnBothSides) {
  ReferenceValue value = number(Quantity::event, "impact ground", "(1 + e)*sqrt(2*g*H)");
  value.field = "normal_impulse";
  expect_exactly(value);
  value.field = "energy_before";
  value.exact = "g*H";
  expect_exactly(value);
  value.field = "energy_after";
  value.exact = "g*H*e^2";
  expect_exactly(value);
  value.field = "h'";
  value.exact = 1;
  expect_exactly(value);
  value.side = Side::before;
  value.exact = -2;
  expect_exactly(value);
}

TEST(Verify, ColumnsAtAnInstantAndAtTheEnd) {
  ReferenceValue value = number(Quantity::column, "h", "H - g/2*0.3^2");
  value.at = "0.1*3";
  expect_exactly(value);
  value.subject = "N";
  value.at = {};
  value.exact = "g";
  expect_exactly(value);
  value.at = 5;
  EXPECT_NE(judge(value).why.find("there is no row at t = 5"), std::string::npos);
}

TEST(Verify, CountsExtremesAndMeans) {
  ReferenceValue count = number(Quantity::count, "impact ground", 2, 0);
  count.until = 2.2;
  expect_exactly(count);

  ReferenceValue extreme = number(Quantity::maximum, "h", 0.25);
  extreme.from = 1;
  extreme.to = 2;
  expect_exactly(extreme);
  extreme.quantity = Quantity::minimum;
  extreme.subject = "h'";
  extreme.exact = -1;
  expect_exactly(extreme);
  // The row of the impact at `from` that lies before it (h' = -2) does not count.
  extreme.quantity = Quantity::maximum;
  extreme.exact = 1;
  expect_exactly(extreme);

  ReferenceValue mean = number(Quantity::mean, "h", "1/6", 1e-8);
  mean.from = 1;
  mean.to = 2;
  expect_exactly(mean);
}

TEST(Verify, WordsAndTheOrderOfEvents) {
  ReferenceValue value = number(Quantity::event, "impact ground", {});
  value.field = "detail";
  value.text = "rebound";
  EXPECT_EQ(judge(value).verdict, Verdict::ok);
  value.text = "rest";
  EXPECT_NE(judge(value).why.find("'rebound' instead of 'rest'"), std::string::npos);

  ReferenceValue mode = number(Quantity::column, "status", {});
  mode.text = "closed";
  EXPECT_EQ(judge(mode).verdict, Verdict::ok);
  mode.at = 0.5;
  EXPECT_EQ(judge(mode).verdict, Verdict::off);

  ReferenceValue reason = number(Quantity::reason, "done", {});
  reason.text = "done";
  EXPECT_EQ(judge(reason).verdict, Verdict::ok);
  reason.text = "watch";
  EXPECT_EQ(judge(reason).verdict, Verdict::off);

  ReferenceValue sequence = number(Quantity::sequence, "", {});
  sequence.until = 2.2;
  sequence.text = "impact impact";
  EXPECT_EQ(judge(sequence).verdict, Verdict::ok);
  sequence.until = 2.7;
  EXPECT_EQ(judge(sequence).verdict, Verdict::off);
  sequence.kinds = {"lift-off"};
  sequence.text = "";
  EXPECT_EQ(judge(sequence).verdict, Verdict::ok);
}

TEST(Verify, PublishedValuesCountUnlessKnownToBeWrong) {
  ReferenceValue value = number(Quantity::event, "impact ground", 1);
  value.published = 1.004;
  value.published_tolerance = 5e-3;
  EXPECT_EQ(judge(value).verdict, Verdict::ok);
  value.published_tolerance = 5e-4;
  EXPECT_EQ(judge(value).verdict, Verdict::off);
  value.wrong = true;
  EXPECT_EQ(judge(value).verdict, Verdict::published_wrong);
  value.exact = 1.1;
  EXPECT_EQ(judge(value).verdict, Verdict::off) << "ours must still be right";
}

TEST(Verify, VariantsAndSettingsChangeTheRun) {
  ReferenceValue value = number(Quantity::count, "impact ground", 1, 0);
  value.variants = {"dead"};
  expect_exactly(value);
  value.set = {{"e", 0.5}};
  EXPECT_EQ(judge(value).verdict, Verdict::off) << "--set wins over the variant";

  ReferenceValue start = number(Quantity::event, "impact ground", "sqrt(4/g)");
  start.set = {{"h", 2}};
  expect_exactly(start);
}

TEST(Verify, AValueMayHaveAnEngineOfItsOwn) {
  ReferenceValue early = number(Quantity::count, "impact ground", 1, 0);
  early.run = {{"until", 1.5}};
  expect_exactly(early);
  early.until = 2.25;  // said for the value itself: wins
  EXPECT_EQ(judge(early).computed, 2);
  early.run = {{"samples", 3}};
  EXPECT_NE(judge(early).why.find("[run] has no key 'samples'"), std::string::npos);

  ReferenceValue first = number(Quantity::event, "impact ground", 1);
  ReferenceValue loose = first;
  loose.run = {{"tolerance", 1e-4}};
  VerifyOptions one;
  one.both_engines = false;
  EXPECT_EQ(verify({"", {}, {}, {first, loose, loose}}, {{"model.toml", ball()}}, one).runs, 2);
}

TEST(Verify, SaysWhatIsMissing) {
  const auto why = [](const ReferenceValue& value) { return judge(value).why; };
  EXPECT_NE(why(number(Quantity::event, "lift-off ground", 1)).find("there are 0 events 'lift-off ground'"),
            std::string::npos);
  EXPECT_NE(why(number(Quantity::column, "x", 1)).find("there is no column 'x'"), std::string::npos);
  EXPECT_NE(why(number(Quantity::column, "h", "nonsense + 1")).find("nonsense"), std::string::npos);
  ReferenceValue other = number(Quantity::column, "h", 0);
  other.model = "model-other.toml";
  EXPECT_NE(why(other).find("there is no file 'model-other.toml'"), std::string::npos);
  ReferenceValue variant = number(Quantity::column, "h", 0);
  variant.variants = {"alive"};
  EXPECT_NE(why(variant).find("alive"), std::string::npos);
}

// What there is not in any run is a fault of the reference, with its place, and no value that is off.
TEST(Verify, NamesThatThereAreNotAreFaultsWithTheirPlace) {
  const auto fault = [](ReferenceValue value) {
    value.span = {10, 20};
    value.subject_span = {30, 40};
    value.field_span = {50, 60};
    value.model_span = {70, 80};
    VerifyOptions options;
    options.both_engines = false;
    const Reference reference{"", {}, {}, {value, value}};
    const Verification done =
        verify(reference, {{"model.toml", ball()}, {"model-same.toml", ball()}}, options);
    if (done.faults.all().empty()) return std::string("none");
    const Diagnostic& first = done.faults.all().front();
    return std::to_string(done.faults.errors()) + " " + std::to_string(first.span.begin) + " " +
           first.message + "; " + first.help;
  };
  EXPECT_EQ(fault(number(Quantity::column, "h", 0)), "none");
  EXPECT_EQ(fault(number(Quantity::event, "lift-off ground", 0)), "none") << "an event that does not happen";
  EXPECT_EQ(fault(number(Quantity::column, "statsu", 0)),
            "2 30 there is no column 'statsu'; did you mean 'status'?");
  for (const Quantity quantity : {Quantity::mean, Quantity::minimum, Quantity::maximum})
    EXPECT_EQ(fault(number(quantity, "statsu", 0)),
              "2 30 there is no column 'statsu'; did you mean 'status'?");
  EXPECT_EQ(fault(number(Quantity::count, "impact grond", 0)).substr(0, 5), "2 30 ");
  ReferenceValue value = number(Quantity::event, "impact ground", 1);
  value.field = "tmie";
  EXPECT_EQ(fault(value),
            "2 50 an event has no field 'tmie', and there is no column of that name; did you mean 'time'?");
  value.field = "time";
  value.model = "model-smae.toml";
  EXPECT_EQ(fault(value), "2 70 there is no file 'model-smae.toml'; did you mean 'model-same.toml'?");
  value.model.clear();
  value.run = {{"tolerence", 1e-6}};
  EXPECT_EQ(fault(value),
            "1 0 [run] has no key 'tolerence' that a reference may replace; did you mean 'tolerance'?");
  value.run = {{"engine", "evnet"}};
  value.run.front().name.span = {90, 96};
  EXPECT_NE(fault(value).find("1 90 "), std::string::npos) << fault(value);
  EXPECT_NE(fault(value).find("did you mean 'event'?"), std::string::npos) << fault(value);
  value.run.clear();
  value.exact = "sqrt(-H)";
  EXPECT_NE(fault(value).find("2 10 'sqrt(-H)'"), std::string::npos) << fault(value);
}

// Neither nan nor an allowance without an end is right.
TEST(Verify, NothingIsComparedWithWhatIsNotFinite) {
  for (const double none : {NAN, INFINITY, -INFINITY}) {
    EXPECT_EQ(judge(number(Quantity::column, "h", none)).verdict, Verdict::off);
    ReferenceValue value = number(Quantity::column, "h", 0, 10);
    value.at = none;
    EXPECT_EQ(judge(value).verdict, Verdict::off);
    value = number(Quantity::mean, "h", 0, 10);
    value.from = none;
    EXPECT_EQ(judge(value).verdict, Verdict::off);
    value = number(Quantity::maximum, "h", 0, 10);
    value.to = none;
    EXPECT_EQ(judge(value).verdict, Verdict::off);
  }
  ReferenceValue value = number(Quantity::column, "h", 1e308);
  value.relative = 1e308;
  EXPECT_EQ(judge(value).verdict, Verdict::off);
  EXPECT_NE(judge(value).why.find("too large for a number"), std::string::npos);
}

// Every expression, further row and compilation of a reference is spent from one budget, and an end that is asked for is heard.
TEST(Verify, AReferenceHasABudgetAndCanBeCancelled) {
  Reference reference{"", {}, {}, {}};
  for (int i = 0; i < 2000; ++i) {
    reference.values.push_back(
        number(Quantity::event, "impact ground", "sum(i = 1 to 40000, sin(i + " + std::to_string(i) + "))"));
    reference.values.back().span = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1)};
  }
  const Verification large = verify(reference, {{"model.toml", ball()}});
  ASSERT_EQ(large.faults.errors(), 1);
  EXPECT_NE(large.faults.all().front().message.find("the reference is too large"), std::string::npos);
  EXPECT_FALSE(large.faults.all().front().span.empty());
  EXPECT_EQ(large.failed(), 2000);

  reference.values.clear();
  for (int i = 0; i < 2000; ++i) {
    reference.values.push_back(number(Quantity::mean, "h", 0));
    reference.values.back().from = 1e-4 * (i + 1);
  }
  EXPECT_EQ(verify(reference, {{"model.toml", ball()}}).faults.errors(), 1) << "16 million rows";

  const std::atomic<bool> stop{true};
  VerifyOptions options;
  options.cancel = &stop;
  const Verification cancelled =
      verify({"", {}, {}, {number(Quantity::column, "h", 0)}}, {{"model.toml", ball()}}, options);
  EXPECT_TRUE(cancelled.cancelled);
  EXPECT_FALSE(cancelled.faults.has_errors());
}

TEST(Verify, EachDistinctRunIsMadeOnce) {
  ReferenceValue first = number(Quantity::event, "impact ground", 1);
  ReferenceValue second = number(Quantity::column, "h", 0);
  ReferenceValue shorter = second;
  shorter.until = 3.5;
  const Reference reference{"", {}, {}, {first, second, shorter, first}};
  const std::vector<Writing> writings{{"model.toml", ball()}, {"model-same.toml", ball()}};
  VerifyOptions one;
  one.both_engines = false;
  const Verification result = verify(reference, writings, one);
  EXPECT_EQ(result.runs, 4) << "two until, two writings";
  EXPECT_EQ(result.outcomes.size(), 8U);
  EXPECT_EQ(result.failed(), 0);

  // What the model says itself makes no other run.
  ReferenceValue again = first;
  again.set = {{"g", 2}};
  ReferenceValue lower = first;
  lower.set = {{"g", 1}};
  lower.exact = "sqrt(2*H/g)";
  const Verification set = verify({"", {}, {}, {first, again, lower}}, {writings.front()}, one);
  EXPECT_EQ(set.runs, 2);
  EXPECT_EQ(set.failed(), 0);

  Reference alone = reference;
  for (ReferenceValue& value : alone.values) value.only = true;
  EXPECT_EQ(verify(alone, writings, one).outcomes.size(), 4U);
}

TEST(Verify, APerturbationIsNoticedByNumbersButFollowedByClosedForms) {
  VerifyOptions options;
  options.perturb = Perturbation{"H", 1.01};
  EXPECT_EQ(judge(number(Quantity::event, "impact ground", 1), options).verdict, Verdict::off);
  EXPECT_EQ(judge(number(Quantity::event, "impact ground", "sqrt(2*H/g)"), options).verdict, Verdict::ok);
  options.perturb = Perturbation{"h", 1.01};
  EXPECT_EQ(judge(number(Quantity::event, "impact ground", "sqrt(2*H/g)"), options).verdict, Verdict::off);
}

TEST(Verify, AnUnknownEngineIsAReasonNotACrash) {
  VerifyOptions options;
  options.engine = "magic";
  const Outcome outcome = judge(number(Quantity::column, "h", 0), options);
  EXPECT_EQ(outcome.verdict, Verdict::off);
  EXPECT_NE(outcome.why.find("magic"), std::string::npos);
}

// A model that is linear between events is held against its values by both engines, and either may be off.
TEST(Verify, LinearModelsRunWithBothEngines) {
  ReferenceValue value;
  value.label = "first impact";
  value.quantity = Quantity::event;
  value.subject = "impact ground";
  value.exact = "sqrt(2*H/g)";
  value.tolerance = 1e-11;
  const Reference reference{"", {}, {}, {value}};
  const std::vector<Writing> writings{{"model.toml", ball()}};
  const Verification both = verify(reference, writings);
  ASSERT_EQ(both.outcomes.size(), 2U);
  EXPECT_EQ(both.outcomes[0].engine, "event");
  EXPECT_EQ(both.outcomes[1].engine, "exact");
  EXPECT_EQ(both.failed(), 0) << both.outcomes[0].why << both.outcomes[1].why;
  EXPECT_EQ(both.runs, 2);
  VerifyOptions one;
  one.engine = "exact";
  const Verification exact = verify(reference, writings, one);
  ASSERT_EQ(exact.outcomes.size(), 1U);
  EXPECT_EQ(exact.outcomes[0].engine, "exact");
  // Nonlinear: the event-driven engine only.
  model::Spec bent = ball();
  bent.energy.potential = "g*h + h^4";
  EXPECT_EQ(verify(reference, {{"model.toml", bent}}).outcomes.size(), 1U);
}

}  // namespace
}  // namespace judder::analysis
