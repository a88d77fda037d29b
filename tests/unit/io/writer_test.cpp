#include "judder/io/writer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "count.hpp"
#include "flatten.hpp"
#include "judder/io/reader.hpp"
#include "models.hpp"

namespace judder::io {
namespace {

using testing::flatten;

TEST(Writer, EveryModelReadsBackAsTheSameSpec) {
  const auto models = testing::all_models();
  ASSERT_FALSE(models.empty());
  for (const auto& path : models) {
    const ModelFile first = read_model(path);
    const std::string text = write_model(first.spec);
    const ModelFile second = read_model_text(text, "written", path.parent_path());
    ASSERT_FALSE(second.diagnostics.has_errors()) << path << "\n"
                                                  << render(second.diagnostics, "written", text);
    ASSERT_EQ(flatten(first.spec), flatten(second.spec)) << path << "\n" << text;
    EXPECT_EQ(write_model(second.spec), text) << path;
  }
  if (!std::filesystem::exists(JUDDER_SOURCE_DIR "/../shared/models")) {
    std::cout << "first writings beside the repository are absent: only the gallery was read\n";
  }
}

/// Fills every member of a Spec by its fields, with random contents.
class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}

  template <class Member>
  void operator()(const Field& field, Member& member) {
    if (!field.applies.empty() &&
        std::find(field.applies.begin(), field.applies.end(), selected_) == field.applies.end())
      return;
    const bool needed = field.required ||
                        std::find(field.needed.begin(), field.needed.end(), selected_) != field.needed.end();
    if (needed || random_() % 2 == 0) fill(field, member);
    if constexpr (std::is_same_v<Member, model::Text>) {
      if (field.selects) selected_ = member.empty() ? field.fallback : member.text;
    }
  }
  template <class Member>
  void map(const Field&, std::vector<Member>& members) {
    members.resize(random_() % 4);
    for (std::size_t k = 0; k < members.size(); ++k) entry("n" + std::to_string(k), members[k]);
  }
  template <class Struct>
  void table(const Field&, Struct& object) {
    fields(*this, object);
  }
  template <class Element>
  void list(const Field&, std::vector<Element>& elements) {
    elements.resize(random_() % 3);
    for (Element& element : elements) {
      fields(*this, element);
      complete(element);
    }
  }

 private:
  std::string text() {
    static const std::vector<std::string> pieces{"x",  "'",    "\"",   "\\", "é", "𝛾",      " ", "\n",
                                                 "\t", "\x7F", "\x01", "#",  "=", "\"\"\"", "\r"};
    std::string out = "x";
    for (std::size_t k = random_() % 8; k > 0; --k) out += pieces[random_() % pieces.size()];
    return out;
  }
  double number() {
    return std::ldexp(std::uniform_real_distribution<>(-1, 1)(random_),
                      static_cast<int>(random_() % 200) - 100);
  }

  void fill(const Field& field, model::Text& out) {
    out = !field.words.empty() ? field.words[random_() % field.words.size()]
          : field.is_name      ? "n" + std::to_string(random_() % 9)
                               : text();
    if (field.name == "file") out = "";
  }
  void fill(const Field&, model::Value& out) {
    out = model::Value();
    out.given = true;
    if (random_() % 2 == 0)
      out.number = number();
    else
      out.text = text();
  }
  void fill(const Field&, bool& out) { out = random_() % 2 == 0; }
  void fill(const Field&, int& out) { out = static_cast<int>(random_() % 4); }
  void fill(const Field&, std::vector<double>& out) { out = {number(), number()}; }
  void fill(const Field& field, std::vector<model::Value>& out) {
    out.resize(static_cast<std::size_t>(field.least) +
               random_() % static_cast<std::size_t>(field.most - field.least + 1));
    for (model::Value& value : out) fill(field, value);
  }
  void fill(const Field& field, std::vector<std::vector<model::Value>>& out) {
    out.assign(3, std::vector<model::Value>(2));
    for (auto& row : out) {
      for (model::Value& value : row) fill(field, value);
    }
  }
  void fill(const Field& field, model::Matrix& out) {
    out.given = true;
    out.rows.assign(field.bare ? 1 : 2, std::vector<model::Value>(2));
    for (auto& row : out.rows) {
      for (model::Value& value : row) fill(field, value);
    }
  }
  void fill(const Field&, model::FrictionLaw& out) {
    const std::string outer = selected_;
    out.given = true;
    fields(*this, out);
    selected_ = outer;
  }
  void fill(const Field&, model::ImpactLaw& out) { fields(*this, out); }
  void fill(const Field&, model::Compliance& out) {
    out.given = true;
    fields(*this, out);
  }
  void fill(const Field& field, std::vector<model::Named>& out) {
    out.resize(2);
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k].name = "c'" + std::to_string(k);
      fill(field, out[k].value);
    }
  }
  void fill(const Field& field, std::vector<model::OutputColumn>& out) {
    out.resize(2);
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k].name = "c'" + std::to_string(k);
      fill(field, out[k].value);
      if (random_() % 2 == 0) fields(*this, out[k]);
    }
  }
  void fill(const Field&, std::vector<std::vector<model::Text>>& out) {
    out = {{"t", text()}, {"x", "y", text()}};
  }
  void fill(const Field& field, std::vector<model::EngineTable>& out) {
    static_cast<void>(field);
    out.clear();  // no engine has options of its own
  }

  void entry(const std::string& name, model::Parameter& out) {
    out.name = name;
    if (random_() % 3 == 0) {
      fields(*this, out);  // `value` is required
      std::sort(out.range.begin(), out.range.end());
    } else {
      out.is_matrix = random_() % 2 == 0;
      out.rows.assign(out.is_matrix ? 2 : 1, std::vector<model::Value>(3));
      for (auto& row : out.rows) {
        for (model::Value& value : row) fill({}, value);
      }
    }
  }
  void entry(const std::string& name, model::Definition& out) {
    out.signature = name + "(a, b)";
    fill({}, out.body);
  }
  void entry(const std::string& name, model::Table& out) {
    fields(*this, out);
    out.name = name;
    out.x = {0, 1};
    out.y = {number(), number()};
  }
  void entry(const std::string& name, model::Coordinate& out) {
    fields(*this, out);
    out.name = name;
  }
  void entry(const std::string& name, model::StateVariable& out) {
    fields(*this, out);
    out.name = name;
  }
  void entry(const std::string& name, model::Variant& out) {
    out.name = name;
    out.title = text();
    fill({}, out.values);
  }

  template <class Element>
  void complete(Element&) {}
  void complete(model::Constraint& out) {
    out.velocity = model::Value();
    fill({}, out.zero);
  }

  std::mt19937 random_;
  std::string selected_;
};

TEST(Writer, AnySpecReadsBackAsTheSameSpec) {
  for (int round = 0; round < count(10000); ++round) {
    const unsigned seed = 6000U + static_cast<unsigned>(round);
    model::Spec spec;
    Filler filler(seed);
    sections(filler, spec);
    const std::string text = write_model(spec);
    const ModelFile file = read_model_text(text);
    ASSERT_FALSE(file.diagnostics.has_errors()) << "seed " << seed << "\n"
                                                << text << render(file.diagnostics, "written", text);
    ASSERT_EQ(flatten(file.spec), flatten(spec)) << "seed " << seed << "\n" << text;
  }
}

TEST(Writer, ALostKeyWouldBeSeen) {
  model::Spec spec;
  model::Contact contact;
  contact.name = "wall";
  contact.gap = "x";
  spec.contacts.push_back(contact);
  model::Spec other = spec;
  other.contacts[0].push = "y'";
  EXPECT_NE(flatten(spec), flatten(other));
  EXPECT_EQ(flatten(read_model_text(write_model(other)).spec), flatten(other));
}

}  // namespace
}  // namespace judder::io
