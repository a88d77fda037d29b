#include "judder/io/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/outline.hpp"

namespace judder::io {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(std::string(JUDDER_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Schema, TheCommittedSchemaIsTheGeneratedOne) {
  EXPECT_TRUE(contents("schema/model.schema.json") == model_schema())
      << "judder schema > schema/model.schema.json";
}

TEST(Schema, TheCommittedReferencePageIsTheGeneratedOne) {
  EXPECT_TRUE(contents("docs/model-file.md") == model_reference())
      << "judder schema --reference > docs/model-file.md";
}

TEST(Schema, EveryKeyIsDocumentedOnceAndDefaultsAreAllowedWords) {
  for (const Section& section : outline()) {
    EXPECT_FALSE(section.field.doc.empty()) << section.field.name;
    std::vector<std::string> names;
    for (const Key& key : section.keys) {
      EXPECT_FALSE(key.field.doc.empty()) << section.field.name << "." << key.field.name;
      EXPECT_EQ(key.field.doc.back(), '.') << section.field.name << "." << key.field.name;
      EXPECT_EQ(std::count(names.begin(), names.end(), key.field.name), 0) << key.field.name;
      names.push_back(key.field.name);
      if (!key.field.words.empty() && !key.field.fallback.empty()) {
        EXPECT_NE(std::find(key.field.words.begin(), key.field.words.end(), key.field.fallback),
                  key.field.words.end())
            << key.field.name;
      }
    }
  }
}

TEST(Schema, IsJsonWithAllSections) {
  const auto schema = nlohmann::json::parse(model_schema());
  for (const Section& section : outline())
    EXPECT_TRUE(schema["properties"].contains(section.field.name)) << section.field.name;
}

}  // namespace
}  // namespace judder::io
