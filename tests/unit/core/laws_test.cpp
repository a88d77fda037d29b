// The rows of the laws: every word once, every key with a law that needs it.
#include "judder/core/laws.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace judder {
namespace {

TEST(Laws, EveryWordStandsForOneLaw) {
  std::set<std::string> words;
  for (const FrictionEntry& law : friction_laws()) {
    EXPECT_TRUE(words.insert(law.word).second) << law.word;
    EXPECT_EQ(find_friction(law.word)->type, law.type);
    EXPECT_STREQ(name(law.type), law.word);
    EXPECT_TRUE(law.smooth || (law.own_keys.empty() && !law.bristle)) << law.word;
  }
  EXPECT_EQ(friction_words().size(), words.size());
  words.clear();
  for (const ImpactEntry& law : impact_laws()) {
    EXPECT_TRUE(words.insert(law.word).second) << law.word;
    EXPECT_EQ(find_impact(law.word)->type, law.type);
    EXPECT_STREQ(name(law.type), law.word);
  }
  EXPECT_EQ(impact_words().size(), words.size());
  EXPECT_EQ(find_friction("lugr"), nullptr);
  EXPECT_EQ(find_impact(""), nullptr);
  EXPECT_STREQ(name(FrictionType::none), "none");
}

TEST(Laws, DefaultsComeFirst) {
  EXPECT_EQ(friction_laws().front().type, FrictionType::coulomb);
  EXPECT_EQ(impact_laws().front().type, ImpactType::moreau);
}

TEST(Laws, EveryKeyHasALaw) {
  for (const FrictionKey key :
       {FrictionKey::stiffness, FrictionKey::damping, FrictionKey::breakaway, FrictionKey::beta})
    EXPECT_FALSE(friction_words(key).empty()) << name(key);
  EXPECT_EQ(friction_words(FrictionKey::beta), std::vector<std::string>{"arctan"});
}

}  // namespace
}  // namespace judder
