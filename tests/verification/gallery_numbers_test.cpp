// Every number of every bundled model is pinned: parameters, start values, plain numbers in laws and numbers of variants are made one per cent larger
// and smaller, one at a time and in one file at a time, and a value of reference.toml must be off. Numbers that cannot matter are listed here with
// the reason; the list is tested too, so that nothing stays on it that is noticed meanwhile or does not exist any more.
//
// A closed form in a reference follows the parameters of the run, so it does not pin them: somewhere a plain number must stand. A changed number
// that the model refuses (a restitution of 1.01, a choice of 2.97) counts as noticed, for `verify` fails. Zeros stay out.
//
// Each file is two tests, and a run ends at the first value that is off: 70 s in all, 25 s for the longest (pilger-mill).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "judder/io/gallery.hpp"
#include "judder/io/reader.hpp"
#include "judder/io/reference_file.hpp"

namespace judder {
namespace {

const std::filesystem::path kGallery = JUDDER_SOURCE_DIR "/gallery";

/// By file and number, with the reason.
const std::map<std::string, std::string> kCannotMatter{
    {"klarbring/model-bilateral.toml: KN", "the particle is held at UN = 0, where this spring has no force"},
    {"klarbring/model-bilateral.toml: D: KN", "the same with the doubled stiffness"},
    {"nscd/model.toml: stick: mu", "the reaction lies inside the cone by a fifth"},
    {"nscd/model.toml: impact: mu", "the particle sticks from the impact on, inside the cone"},
    {"roller-table/model.toml: lagrange: lagrange", "a choice: all above 0 but 2 mean the same"},
};

/// One number of a model file: where it stands, and the value itself.
struct Number {
  std::string name;     ///< "mu", "a[2]", "x start", "x' start", "near: x0" for a variant
  std::string variant;  ///< that it belongs to; empty: to the model
  std::function<model::Value&(model::Spec&)> find;
};

/// All keys of the laws of contacts, joints and constraints.
std::vector<Number> laws_of(const model::Spec& spec) {
  std::vector<Number> out;
  using model::FrictionLaw;
  using model::Spec;
  using model::Value;
  const std::pair<const char*, Value FrictionLaw::*> friction[]{{"mu", &FrictionLaw::mu},
                                                                {"static", &FrictionLaw::static_coefficient},
                                                                {"dynamic", &FrictionLaw::dynamic},
                                                                {"velocity", &FrictionLaw::velocity},
                                                                {"exponent", &FrictionLaw::exponent},
                                                                {"viscous", &FrictionLaw::viscous},
                                                                {"stiffness", &FrictionLaw::stiffness},
                                                                {"damping", &FrictionLaw::damping},
                                                                {"breakaway", &FrictionLaw::breakaway},
                                                                {"beta", &FrictionLaw::beta}};
  const std::pair<const char*, Value model::ImpactLaw::*> impact[]{
      {"restitution", &model::ImpactLaw::restitution},
      {"tangential", &model::ImpactLaw::tangential},
      {"impact stiffness", &model::ImpactLaw::stiffness},
      {"impact exponent", &model::ImpactLaw::exponent}};
  const std::pair<const char*, Value model::Compliance::*> compliant[]{
      {"compliant stiffness", &model::Compliance::stiffness},
      {"compliant damping", &model::Compliance::damping},
      {"compliant exponent", &model::Compliance::exponent}};
  for (std::size_t i = 0; i < spec.contacts.size(); ++i) {
    const std::string name = spec.contacts[i].name.text + " ";
    for (const auto& [word, key] : friction)
      out.push_back(
          {name + word, "", [i, key = key](Spec& s) -> Value& { return s.contacts[i].friction.*key; }});
    for (const auto& [word, key] : impact)
      out.push_back(
          {name + word, "", [i, key = key](Spec& s) -> Value& { return s.contacts[i].impact.*key; }});
    for (const auto& [word, key] : compliant)
      out.push_back(
          {name + word, "", [i, key = key](Spec& s) -> Value& { return s.contacts[i].compliant.*key; }});
  }
  for (std::size_t i = 0; i < spec.joints.size(); ++i) {
    const std::string name = spec.joints[i].name.text + " ";
    out.push_back({name + "normal", "", [i](Spec& s) -> Value& { return s.joints[i].normal; }});
    for (const auto& [word, key] : friction)
      out.push_back({name + word, "", [i, key = key](Spec& s) -> Value& { return s.joints[i].law.*key; }});
  }
  for (std::size_t i = 0; i < spec.constraints.size(); ++i) {
    for (const auto& [word, key] : friction)
      out.push_back({spec.constraints[i].name.text + " " + word, "",
                     [i, key = key](Spec& s) -> Value& { return s.constraints[i].friction.*key; }});
  }
  return out;
}

std::vector<Number> numbers_of(const model::Spec& spec) {
  std::vector<Number> out;
  for (std::size_t i = 0; i < spec.parameters.size(); ++i) {
    const model::Parameter& parameter = spec.parameters[i];
    if (parameter.value.given)
      out.push_back(
          {parameter.name.text, "", [i](model::Spec& s) -> model::Value& { return s.parameters[i].value; }});
    for (std::size_t r = 0; r < parameter.rows.size(); ++r) {
      for (std::size_t c = 0; c < parameter.rows[r].size(); ++c) {
        const std::string row = parameter.is_matrix ? std::to_string(r + 1) + "," : "";
        out.push_back({parameter.name.text + "[" + row + std::to_string(c + 1) + "]", "",
                       [i, r, c](model::Spec& s) -> model::Value& { return s.parameters[i].rows[r][c]; }});
      }
    }
  }
  for (std::size_t i = 0; i < spec.coordinates.size(); ++i) {
    const std::string& name = spec.coordinates[i].name.text;
    out.push_back(
        {name + " start", "", [i](model::Spec& s) -> model::Value& { return s.coordinates[i].start; }});
    out.push_back(
        {name + "' start", "", [i](model::Spec& s) -> model::Value& { return s.coordinates[i].velocity; }});
  }
  for (std::size_t i = 0; i < spec.states.size(); ++i)
    out.push_back({spec.states[i].name.text + " start", "",
                   [i](model::Spec& s) -> model::Value& { return s.states[i].start; }});
  for (const Number& number : laws_of(spec)) {
    model::Spec copy = spec;
    if (number.find(copy).number) out.push_back(number);
  }
  for (std::size_t v = 0; v < spec.variants.size(); ++v) {
    const model::Variant& variant = spec.variants[v];
    for (std::size_t i = 0; i < variant.values.size(); ++i)
      out.push_back({variant.name.text + ": " + variant.values[i].name.text, variant.name.text,
                     [v, i](model::Spec& s) -> model::Value& { return s.variants[v].values[i].value; }});
  }
  return out;
}

model::Value times(const model::Value& value, const char* factor) {
  return value.number ? model::Value(std::stod(factor) * *value.number)
                      : model::Value(std::string(factor) + "*(" + value.text.text + ")");
}

/// What the reference says of this file alone, and of this variant alone if there is one.
analysis::Reference part_for(const analysis::Reference& whole, const std::string& file,
                             const std::string& variant) {
  analysis::Reference out = whole;
  std::erase_if(out.values, [&](const analysis::ReferenceValue& value) {
    const bool meant = value.model.empty() ? file == "model.toml" || !value.only : value.model == file;
    const bool uses =
        variant.empty() || std::count(value.variants.begin(), value.variants.end(), variant) > 0;
    return !meant || !uses;
  });
  for (analysis::ReferenceValue& value : out.values) value.model = file;
  return out;
}

struct Case {
  std::string file;  ///< "belt/model-sign.toml"
  const char* factor;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const io::GalleryModel& model : io::list_gallery(kGallery)) {
    for (const std::string& file : model.models) {
      out.push_back({model.name + "/" + file, "1.01"});
      out.push_back({model.name + "/" + file, "0.99"});
    }
  }
  return out;
}

class GalleryNumbers : public ::testing::TestWithParam<Case> {};

TEST_P(GalleryNumbers, AreNoticedWhenOnePerCentOff) {
#ifdef JUDDER_SLOW_BUILD
  GTEST_SKIP() << "Some hundred runs; the release build makes them.";
#endif
  const std::string& name = GetParam().file;
  const std::filesystem::path path = kGallery / name;
  const std::string file = path.filename().string();
  const io::ReferenceFile reference = io::read_reference(path.parent_path() / "reference.toml");
  const io::ModelFile model = io::read_model(path);
  ASSERT_FALSE(reference.diagnostics.has_errors() || model.diagnostics.has_errors());
  analysis::VerifyOptions options;
  options.first_failure = true;
  options.both_engines = false;
  std::ptrdiff_t exceptions = 0;
  for (const Number& number : numbers_of(model.spec)) {
    analysis::Writing writing{file, model.spec};
    model::Value& value = number.find(writing.spec);
    if (!value.given || value.number == 0.0) continue;
    value = times(value, GetParam().factor);
    const analysis::Reference part = part_for(reference.reference, file, number.variant);
    const bool noticed = analysis::verify(part, {writing}, options).failed() > 0;
    const auto listed = kCannotMatter.find(name + ": " + number.name);
    if (listed == kCannotMatter.end()) {
      EXPECT_TRUE(noticed) << name << ": " << number.name << " times " << GetParam().factor
                           << " changes no value beyond its tolerance";
    } else {
      ++exceptions;
      EXPECT_FALSE(noticed) << number.name << " is noticed, so it must not be listed: " << listed->second;
    }
  }
  const auto here = [&name](const auto& entry) { return entry.first.rfind(name + ": ", 0) == 0; };
  EXPECT_EQ(exceptions, std::count_if(kCannotMatter.begin(), kCannotMatter.end(), here))
      << "a listed number does not exist any more";
}

INSTANTIATE_TEST_SUITE_P(, GalleryNumbers, ::testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.file.substr(0, test.param.file.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + (test.param.factor[0] == '1' ? "_more" : "_less");
});

}  // namespace
}  // namespace judder
