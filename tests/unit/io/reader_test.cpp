#include "judder/io/reader.hpp"
#include "judder/io/writer.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "count.hpp"
#include "flatten.hpp"
#include "models.hpp"

namespace judder::io {
namespace {

ModelFile read(const std::string& text) { return read_model_text("format = 1\n" + text); }

std::string messages(const ModelFile& file) { return render(file.diagnostics, file.name, file.text); }

/// The bytes of the file from which text[i] came.
std::size_t origin(const model::Text& text, std::size_t i) {
  return text.origin.empty() ? text.span.begin + text.quote + i : text.origin[i];
}

TEST(Reader, KeepsTheOrderOfTheFileAndNotOfTheAlphabet) {
  const ModelFile file = read(
      "[parameters]\nzeta = 1\nalpha = 2\nmid = 3\n[coordinates]\ny = 0\nx = 0\na = 0\n"
      "[output]\ncolumns = { q = 1, b = 2, c = 3 }\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  std::string order;
  for (const auto& parameter : file.spec.parameters) order += parameter.name.text + " ";
  for (const auto& coordinate : file.spec.coordinates) order += coordinate.name.text + " ";
  for (const auto& column : file.spec.output.columns) order += column.name.text + " ";
  EXPECT_EQ(order, "zeta alpha mid y x a q b c ");
}

TEST(Reader, TakesBareValuesForCoordinatesLawsAndImpacts) {
  const ModelFile file = read(
      "[coordinates]\nx = 2\ny = \"l\"\nz = { velocity = 3 }\n"
      "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = \"N\"\nlaw = 0.3\n"
      "[[contact]]\nname = \"wall\"\ngap = \"x\"\nfriction = \"mu\"\nimpact = 0.5\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  const model::Spec& spec = file.spec;
  EXPECT_EQ(spec.coordinates[0].start.number, 2.0);
  EXPECT_EQ(spec.coordinates[1].start.text.text, "l");
  EXPECT_FALSE(spec.coordinates[2].start.given);
  EXPECT_EQ(spec.coordinates[2].velocity.number, 3.0);
  EXPECT_TRUE(spec.joints[0].law.given);
  EXPECT_EQ(spec.joints[0].law.mu.number, 0.3);
  EXPECT_EQ(spec.contacts[0].friction.mu.text.text, "mu");
  EXPECT_EQ(spec.contacts[0].impact.restitution.number, 0.5);
}

TEST(Reader, TakesOneSlipOrAListOfThem) {
  const ModelFile file = read(
      "[[contact]]\nname = \"a\"\ngap = \"x\"\nslip = \"y'\"\n"
      "[[contact]]\nname = \"b\"\ngap = \"x\"\nslip = [\"y'\", \"z'\"]\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  ASSERT_EQ(file.spec.contacts[0].slip.size(), 1U);
  ASSERT_EQ(file.spec.contacts[1].slip.size(), 2U);
  EXPECT_EQ(file.spec.contacts[1].slip[1].text.text, "z'");
}

TEST(Reader, TakesALawAsATableOfItsOwn) {
  const ModelFile file = read(
      "[[friction]]\nname = \"a\"\nslip = \"x'\"\nnormal = 1\n[friction.law]\ntype = \"lugre\"\n"
      "static = 1.5\ndynamic = 1\nstiffness = 100\ndamping = 10\n"
      "[[friction]]\nname = \"b\"\nslip = \"x'\"\nnormal = 1\nlaw = 2\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  EXPECT_EQ(file.spec.joints[0].law.type.text, "lugre");
  EXPECT_EQ(file.spec.joints[0].law.static_coefficient.number, 1.5);
  EXPECT_EQ(file.spec.joints[1].law.mu.number, 2.0);
}

TEST(Reader, TakesParametersAndColumnsWithUnits) {
  const ModelFile file = read(
      "[parameters]\nmu = { value = 0.3, range = [0, 1], unit = \"1\", label = '\\mu' }\nk = { value = "
      "\"2*mu\" }\n"
      "[output.columns]\nN = { value = \"normal(a)\", unit = \"kN\" }\nF = \"x\"\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  ASSERT_EQ(file.spec.parameters.size(), 2U);
  EXPECT_EQ(file.spec.parameters[0].value.number, 0.3);
  EXPECT_EQ(file.spec.parameters[0].range, (std::vector<double>{0, 1}));
  EXPECT_EQ(file.spec.parameters[0].unit.text, "1");
  EXPECT_EQ(file.spec.parameters[0].label.text, "\\mu");
  EXPECT_EQ(file.spec.parameters[1].value.text.text, "2*mu");
  EXPECT_EQ(file.spec.output.columns[0].unit.text, "kN");
  EXPECT_EQ(file.spec.output.columns[1].value.text.text, "x");
  // Written and read again, it is the same.
  const ModelFile again = read_model_text(write_model(file.spec));
  ASSERT_FALSE(again.diagnostics.has_errors()) << messages(again);
  EXPECT_EQ(again.spec.parameters[0].range, file.spec.parameters[0].range);
  EXPECT_EQ(again.spec.parameters[0].label.text, "\\mu");
  EXPECT_EQ(again.spec.output.columns[0].unit.text, "kN");
}

TEST(Reader, MistakesInSuchTablesAreNamed) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"[parameters]\nmu = { range = [0, 1] }\n", "value"},
           {"[parameters]\nmu = { value = 1, range = [1, 0] }\n",
            "a range is two numbers, the first of them smaller"},
           {"[parameters]\nmu = { value = 1, range = [1] }\n", "range"},
           {"[parameters]\nmu = { value = 1, units = \"m\" }\n", "did you mean 'unit'?"},
           {"[output.columns]\nN = { unit = \"m\" }\n", "value"}}) {
    const ModelFile file = read(text);
    EXPECT_TRUE(file.diagnostics.has_errors()) << text;
    EXPECT_NE(messages(file).find(wanted), std::string::npos) << messages(file);
  }
}

TEST(Reader, ReadsRunAndOutput) {
  const ModelFile file = read(
      "[run]\nuntil = \"2*pi\"\nengine = \"exact\"\n"
      "[output]\nsamples = 11\nevent_rows = false\nplots = [[\"t\", \"x\"]]\n"
      "[[watch]]\nname = \"top\"\nzero = \"x\"\nstop = 3\n[[watch]]\nname = \"end\"\nzero = \"x\"\nstop = "
      "true\n");
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  EXPECT_EQ(file.spec.run.until.text.text, "2*pi");
  EXPECT_EQ(file.spec.run.engine.text, "exact");
  EXPECT_FALSE(file.spec.output.event_rows);
  EXPECT_TRUE(file.spec.output.switches);
  EXPECT_EQ(file.spec.watches[0].stop, 3);
  EXPECT_EQ(file.spec.watches[1].stop, 1);
}

TEST(Reader, MapsEscapesAndLinesBackToTheFile) {
  const std::string text =
      "format = 1\r\n[energy]\r\nkinetic = \"a\\u0062 \\\"c\\\" é d\"\r\n"
      "potential = \"\"\"\r\n  one\r\n  two \\\r\n    three\"\"\"\r\ndissipation = 'x*y'\r\n";
  const ModelFile file = read_model_text(text);
  ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
  const model::Text& kinetic = file.spec.energy.kinetic.text;
  EXPECT_EQ(kinetic.text, "ab \"c\" é d");
  EXPECT_EQ(text.substr(origin(kinetic, 1), 6), "\\u0062");
  EXPECT_EQ(text[origin(kinetic, kinetic.text.size() - 1)], 'd');
  const model::Text& potential = file.spec.energy.potential.text;
  for (const char* word : {"one", "two", "three"}) {
    const std::size_t at = potential.text.find(word);
    ASSERT_NE(at, std::string::npos) << potential.text;
    EXPECT_EQ(text.substr(origin(potential, at), 3), std::string(word).substr(0, 3));
  }
  const model::Text& dissipation = file.spec.energy.dissipation.text;
  EXPECT_EQ(text[origin(dissipation, 2)], 'y');
}

// Every text of every model: each of its bytes stands in the file where its place says.
TEST(Reader, PlacesOfAllModelsHoldTheirTexts) {
  const auto models = testing::all_models();
  ASSERT_FALSE(models.empty());
  std::size_t seen = 0;
  for (const auto& path : models) {
    ModelFile file = read_model(path);
    // First writings may name engines that are still to come.
    if (messages(file).find("there is no engine") != std::string::npos ||
        messages(file).find("' in run\n") != std::string::npos)
      continue;
    ASSERT_FALSE(file.diagnostics.has_errors()) << messages(file);
    testing::Flattener flattener;
    sections(flattener, file.spec);
    for (const model::Text* text : flattener.texts) {
      if (text->span.empty()) continue;
      ++seen;
      const std::string raw = file.text.substr(text->span.begin, text->span.end - text->span.begin);
      // Numbers of a data file stand where it is named.
      if (text->quote == 0 && !raw.empty() && raw.front() == '"') continue;
      const bool is_number =
          text->quote == 0 && raw.find_first_of("0123456789") != std::string::npos && raw != text->text;
      if (is_number || (!text->origin.empty() && raw.find('\\') != std::string::npos)) continue;
      for (std::size_t i = 0; i < text->text.size(); ++i) {
        ASSERT_EQ(file.text[origin(*text, i)], text->text[i]) << path << ": " << raw;
      }
    }
  }
  EXPECT_GT(seen, models.size() * 5);
}

// Strings of random characters, some escaped, after random characters on the same line.
TEST(Reader, PlacesSurviveAnyCharacters) {
  const unsigned seed = 20170418;
  std::mt19937 random(seed);
  const std::vector<std::string> alphabet{"a",    "é",       "√",           "𝛾", " ", "\\\\",
                                          "\\\"", "\\u00e9", "\\U0001D6FE", "'", "#", "\\t"};
  const std::vector<std::string> meaning{"a", "é", "√", "𝛾", " ", "\\", "\"", "é", "𝛾", "'", "#", "\t"};
  for (int round = 0; round < count(20000); ++round) {
    std::string text = "format = 1\nrun = { step = \"é\", until = \"x";
    std::string value = "x";
    std::vector<std::size_t> places{text.size() - 1};
    for (std::size_t k = random() % 20; k > 0; --k) {
      const std::size_t pick = random() % alphabet.size();
      places.insert(places.end(), meaning[pick].size(), text.size());
      text += alphabet[pick];
      value += meaning[pick];
    }
    text += "\" }\n";
    const ModelFile file = read_model_text(text);
    ASSERT_FALSE(file.diagnostics.has_errors()) << "seed " << seed << " round " << round << "\n"
                                                << text << messages(file);
    const model::Text& until = file.spec.run.until.text;
    ASSERT_EQ(until.text, value) << text;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bool escaped = text[places[i]] == '\\';
      // Bytes of one plain character follow each other; those of an escape are all at its backslash.
      const std::size_t first =
          i > 0 && places[i] == places[i - 1] && !escaped ? origin(until, i - 1) + 1 : places[i];
      ASSERT_EQ(origin(until, i), first) << "seed " << seed << " round " << round << " byte " << i << "\n"
                                         << text;
    }
  }
}

TEST(Reader, SaysEveryProblemOnce) {
  const ModelFile file = read("[run]\nuntl = 1\nengine = 3\nstep = [1]\n[[contact]]\ngapp = 1\n");
  EXPECT_EQ(file.diagnostics.errors(), 5) << messages(file);  // untl, engine, step, gapp, no name
}

TEST(Reader, ShowsAtMostAHundredProblems) {
  std::string text;
  for (int k = 0; k < 5000; ++k) text += "[[contact]]\n";
  const ModelFile file = read(text);
  EXPECT_EQ(file.diagnostics.errors(), 100);
  EXPECT_NE(file.diagnostics.all().back().message.find("more problems"), std::string::npos);
}

struct Hostile {
  const char* name;
  std::string text;
  const char* message;
};

// What would exhaust memory or the stack is refused, quickly.
TEST(Reader, RefusesHostileTextsQuickly) {
  const std::string million(1'000'000, '[');
  std::string dotted = "a";
  for (int k = 0; k < 500'000; ++k) dotted += ".a";
  std::string list = "a = [";
  for (int k = 0; k < 1'500'000; ++k) list += "1,";
  std::string mixed = "a = ";
  for (int k = 0; k < 5000; ++k) mixed += "{b.c = [";
  const std::vector<Hostile> hostile{
      {"10 MB", std::string(10'000'000, '#'), "larger than 4 MiB"},
      {"brackets", "a = " + million, "nested deeper than 64"},
      {"braces", "a = " + std::string(1'000'000, '{'), "nested deeper than 64"},
      {"header", million, "nested deeper than 64"},
      {"dotted key", dotted + " = 1", "nested deeper than 64"},
      {"dotted header", "[" + dotted + "]", "nested deeper than 64"},
      {"mixed", mixed, "nested deeper than 64"},
      {"values", list + "]", "more than 100000 values"},
      {"open string", "a = \"" + std::string(3'000'000, 'x'), "the file ends inside"},
      {"zero byte", std::string("a = 1\n\0b = 2", 12), ""},
      {"only quotes", std::string(1'000'001, '"'), ""},
      {"backslashes", "a = \"" + std::string(1'000'001, '\\'), ""},
  };
  for (const Hostile& one : hostile) {
    const std::clock_t start = std::clock();  // of the process: a busy machine is no fault of the reader
    const ModelFile file = read_model_text(one.text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_TRUE(file.diagnostics.has_errors()) << one.name;
    EXPECT_FALSE(file.parsed) << one.name;
    EXPECT_NE(file.diagnostics.all().front().message.find(one.message), std::string::npos)
        << one.name << ": " << file.diagnostics.all().front().message;
    EXPECT_LT(seconds, 5) << one.name;
  }
}

TEST(Reader, SixtyFourLevelsAreNotTooDeep) {
  // The list stands in a table of the file: two levels; the innermost list holds a number.
  const auto nested = [](int depth) {
    return "[parameters]\na = " + std::string(static_cast<std::size_t>(depth), '[') + "1" +
           std::string(static_cast<std::size_t>(depth), ']') + "\n";
  };
  EXPECT_TRUE(read(nested(64)).parsed);
  EXPECT_FALSE(read(nested(65)).parsed);
}

TEST(Reader, KnowsUtf8) {
  for (const char* good :
       {"\xC2\xA0", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(read("title = \"" + std::string(good) + "\"\n").parsed) << good;
  }
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    const ModelFile file = read("title = \"" + std::string(bad) + "\"\n");
    EXPECT_FALSE(file.parsed) << bad;
    EXPECT_EQ(file.diagnostics.all().front().span.begin, 20U);
  }
}

TEST(Reader, AFileThatCannotBeOpenedIsNotAModelProblem) {
  EXPECT_FALSE(read_model("no/such/file.toml").opened);
  EXPECT_FALSE(read_model(JUDDER_SOURCE_DIR).opened);
}

}  // namespace
}  // namespace judder::io
