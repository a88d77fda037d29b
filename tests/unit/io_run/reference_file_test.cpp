#include "judder/io/reference_file.hpp"

#include <gtest/gtest.h>

namespace judder::io {
namespace {

std::string problems(const std::string& text) {
  const ReferenceFile file = read_reference_text(text, "r");
  return render(file.diagnostics, "r", file.text);
}

TEST(ReferenceFile, ReadsEveryKey) {
  const ReferenceFile file = read_reference_text(R"TOML(
source = "a book"
run = { tolerance = 1e-12, method = "stiff" }
perturb = { name = "x'", factor = 1.01 }
[[value]]
label = "one"
variant = ["a", "b"]
set = { mu = 0.3, "x'" = "2*v" }
until = "2*T"
event = "impact wall"
number = -1
field = "x"
side = "before"
exact = "sqrt(2)"
relative = 1e-9
published = 1.4
published_tolerance = 0.05
wrong = true
note = "n"
where = "p. 3"
check = "c"
[[value]]
label = "two"
model = "model-b.toml"
column = "y"
at = "end"
text = "stick"
[[value]]
label = "three"
only = true
sequence = "impact stick"
kinds = ["impact", "stick"]
)TOML");
  ASSERT_FALSE(file.diagnostics.has_errors()) << render(file.diagnostics, file.name, file.text);
  const analysis::Reference& reference = file.reference;
  EXPECT_EQ(reference.source, "a book");
  ASSERT_EQ(reference.run.size(), 2U);
  EXPECT_EQ(reference.perturb->name, "x'");
  ASSERT_EQ(reference.values.size(), 3U);
  const analysis::ReferenceValue& one = reference.values[0];
  EXPECT_EQ(one.variants, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(one.set.size(), 2U);
  EXPECT_EQ(one.set[1].name.text, "x'");
  EXPECT_EQ(one.set[1].value.text.text, "2*v");
  EXPECT_EQ(one.number, -1);
  EXPECT_EQ(one.side, analysis::Side::before);
  EXPECT_EQ(one.published, 1.4);
  EXPECT_TRUE(one.wrong);
  EXPECT_FALSE(reference.values[1].at.given) << "the end";
  EXPECT_EQ(reference.values[1].text, "stick");
  EXPECT_EQ(reference.values[2].text, "impact stick");
  EXPECT_TRUE(reference.values[2].only);
}

TEST(ReferenceFile, ComplainsWithAPlace) {
  const std::string good = "[[value]]\nlabel = \"a\"\ncolumn = \"x\"\nat = 1\nexact = 2\n";
  EXPECT_EQ(problems(good), "");
  EXPECT_NE(problems(good + "tolerence = 1\n").find("r:6:1: error: there is no key 'tolerence' here"),
            std::string::npos);
  EXPECT_NE(problems(good + "tolerence = 1\n").find("did you mean 'tolerance'?"), std::string::npos);
  EXPECT_NE(problems(good + "count = \"impact\"\n").find("exactly one of"), std::string::npos);
  EXPECT_NE(problems("[[value]]\nlabel = \"a\"\nexact = 1\n").find("exactly one of"), std::string::npos);
  EXPECT_NE(problems("[[value]]\nlabel = \"a\"\ncolumn = \"x\"\nexact = 1\n").find("needs 'at'"),
            std::string::npos);
  EXPECT_NE(problems("[[value]]\nlabel = \"a\"\ncount = \"x\"\n").find("needs 'exact'"), std::string::npos);
  EXPECT_NE(problems(good + "tolerance = \"small\"\n").find("'tolerance' must be a number"),
            std::string::npos);
  EXPECT_NE(problems(good + "side = \"left\"\n").find("\"before\" or \"after\""), std::string::npos);
  EXPECT_NE(problems(good + "number = 0\n").find("counts from 1"), std::string::npos);
  EXPECT_NE(problems("= 3").find("error"), std::string::npos);
}

// A kind that no event has would be counted as zero for ever.
TEST(ReferenceFile, KindsOfEventsAreThoseThatThereAre) {
  const std::string value = "[[value]]\nlabel = \"a\"\nexact = 0\n";
  for (const char* good : {"event = \"stick plane\"", "count = \"lift-off\"", "sequence = \"impact stick\"",
                           "sequence = \"\"", "sequence = \"stick\"\nkinds = [\"stick\", \"slip\"]"})
    EXPECT_EQ(problems(value + good + "\n"), "") << good;
  for (const char* bad : {"event = \"stik plane\"", "count = \"stik\"", "sequence = \"impact stik\"",
                          "sequence = \"stick\"\nkinds = [\"stik\", \"slip\"]"}) {
    const std::string said = problems(value + bad + "\n");
    EXPECT_NE(said.find("there is no kind of event 'stik'"), std::string::npos) << bad << said;
    EXPECT_NE(said.find("did you mean 'stick'?"), std::string::npos) << bad << said;
  }
}

TEST(ReferenceFile, StructuresNameModes) {
  const ReferenceFile file = read_reference_text(R"TOML(
[structures]
I  = { roller = "open" }
II = { roller = "slip", "definitions.edge" = "a > b" }
)TOML",
                                                 "r");
  ASSERT_FALSE(file.diagnostics.has_errors()) << render(file.diagnostics, file.name, file.text);
  ASSERT_EQ(file.reference.structures.size(), 2U);
  const analysis::Structure& second = file.reference.structures[1];
  EXPECT_EQ(second.name, "II");
  EXPECT_TRUE(second.fits({{"guide", "open"}, {"roller", "slip-"}, {"definitions.edge", "a > b"}}));
  EXPECT_FALSE(second.fits({{"roller", "slip-"}, {"definitions.edge", "a <= b"}}));
  EXPECT_FALSE(second.fits({{"roller", "stick"}, {"definitions.edge", "a > b"}}));
  EXPECT_FALSE(second.fits({{"roller", "slip-"}})) << "every place must be there";
}

// A comparison that could only fail, or only pass, is a mistake in the file.
TEST(ReferenceFile, TolerancesAreSizes) {
  const auto with = [](const std::string& line) {
    return problems("[[value]]\nlabel = \"a\"\ncolumn = \"x\"\nat = 1\nexact = 1\n" + line + "\n");
  };
  EXPECT_EQ(with("tolerance = 1e-3"), "");
  for (const char* key : {"tolerance", "relative", "published_tolerance"}) {
    EXPECT_NE(with(std::string(key) + " = -1").find("must not be negative"), std::string::npos) << key;
    EXPECT_NE(with(std::string(key) + " = nan").find("must be a finite number"), std::string::npos) << key;
    EXPECT_NE(with(std::string(key) + " = inf").find("must be a finite number"), std::string::npos) << key;
  }
  EXPECT_NE(with("published = inf").find("must be a finite number"), std::string::npos);
}

// nan passes every comparison that is written the wrong way round, and an infinite allowance passes whatever is compared.
TEST(ReferenceFile, NumbersAreFiniteAndNamedWhereTheyStand) {
  const std::string value = "[[value]]\nlabel = \"a\"\nmean = \"x\"\n";
  for (const char* key : {"exact", "at", "from", "to", "until", "number", "published"}) {
    for (const char* number : {"nan", "inf", "-inf", "-nan"}) {
      const std::string line = std::string(key) + " = " + number + "\n";
      const std::string said = problems(value + (key == std::string("exact") ? "" : "exact = 1\n") + line);
      const std::string row = key == std::string("exact") ? "r:4:" : "r:5:";
      EXPECT_NE(said.find(row), std::string::npos) << line << said;
      EXPECT_NE(said.find("'" + std::string(key) + "' must be a finite number"), std::string::npos)
          << line << said;
    }
  }
  EXPECT_NE(problems(value + "exact = 1\nset = { g = nan }\n").find("'g' must be a finite number"),
            std::string::npos);
  EXPECT_NE(
      problems(value + "exact = 1\nrun = { tolerance = nan }\n").find("'tolerance' must be a finite number"),
      std::string::npos);
  EXPECT_NE(
      problems(value + "exact = 1\ntolerance = -1\n").find("r:5:13: error: 'tolerance' must not be negative"),
      std::string::npos);
  EXPECT_NE(problems(value + "exact = 1\nnumber = 1e300\n").find("r:5:10: error: 'number' counts from 1"),
            std::string::npos);
  EXPECT_NE(problems(value + "exact = 1\nside = \"left\"\n").find("r:5:8: error: 'side' is"),
            std::string::npos);
}

// Each fault is a message with its line; a file of nothing but faults would be a long list, slowly made.
TEST(ReferenceFile, AfterAHundredErrorsTheRestIsNotRead) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "[[value]]\n";
  const ReferenceFile file = read_reference_text(text, "r");
  EXPECT_LT(file.diagnostics.errors(), 110);
  EXPECT_NE(problems(text).find("more than 100 errors"), std::string::npos);
}

TEST(ReferenceFile, AStructureIsATableOfWords) {
  EXPECT_TRUE(read_reference_text("[structures]\nI = \"open\"\n", "r").diagnostics.has_errors());
  EXPECT_TRUE(read_reference_text("[structures]\nI = { roller = 1 }\n", "r").diagnostics.has_errors());
}

}  // namespace
}  // namespace judder::io
