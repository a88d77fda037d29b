#include "judder/core/laws.hpp"

#include <algorithm>
#include <array>

namespace judder {
namespace {

constexpr std::array kBristleKeys{FrictionKey::stiffness, FrictionKey::damping};
constexpr std::array kElastoplasticKeys{FrictionKey::stiffness, FrictionKey::damping, FrictionKey::breakaway};
constexpr std::array kArctanKeys{FrictionKey::beta};

constexpr auto kFriction = std::to_array<FrictionEntry>({
    {FrictionType::coulomb, "coulomb", false, false, {}},
    {FrictionType::lugre, "lugre", true, true, kBristleKeys},
    {FrictionType::elastoplastic, "elastoplastic", true, true, kElastoplasticKeys},
    {FrictionType::arctan, "arctan", true, false, kArctanKeys},
    {FrictionType::penalty, "penalty", true, true, kBristleKeys},
});

constexpr auto kImpact = std::to_array<ImpactEntry>({
    {ImpactType::moreau, "moreau"},
    {ImpactType::newton, "newton"},
    {ImpactType::poisson, "poisson"},
    {ImpactType::stronge, "stronge"},
});

/// A law is known by its word and by its type: no two rows share one.
template <class Rows>
constexpr bool all_differ(const Rows& rows) {
  for (const auto& a : rows) {
    for (const auto& b : rows) {
      if (&a != &b && (a.type == b.type || std::string_view(a.word) == b.word)) return false;
    }
  }
  return true;
}
static_assert(all_differ(kFriction) && all_differ(kImpact));

template <class Rows>
auto find_word(const Rows& rows, std::string_view word) -> decltype(rows.data()) {
  for (const auto& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

}  // namespace

bool FrictionEntry::has(FrictionKey key) const {
  return std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end();
}

std::span<const FrictionEntry> friction_laws() { return kFriction; }
std::span<const ImpactEntry> impact_laws() { return kImpact; }

const char* name(FrictionType type) {
  for (const FrictionEntry& law : kFriction) {
    if (law.type == type) return law.word;
  }
  return "none";
}

const char* name(ImpactType type) {
  for (const ImpactEntry& law : kImpact) {
    if (law.type == type) return law.word;
  }
  return "";
}

const char* name(FrictionKey key) {
  switch (key) {
    case FrictionKey::stiffness:
      return "stiffness";
    case FrictionKey::damping:
      return "damping";
    case FrictionKey::breakaway:
      return "breakaway";
    case FrictionKey::beta:
      return "beta";
  }
  return "";
}

const FrictionEntry* find_friction(std::string_view word) { return find_word(kFriction, word); }
const ImpactEntry* find_impact(std::string_view word) { return find_word(kImpact, word); }

std::vector<std::string> friction_words() {
  std::vector<std::string> out;
  for (const FrictionEntry& law : kFriction) out.emplace_back(law.word);
  return out;
}

std::vector<std::string> friction_words(FrictionKey key) {
  std::vector<std::string> out;
  for (const FrictionEntry& law : kFriction) {
    if (law.has(key)) out.emplace_back(law.word);
  }
  return out;
}

std::vector<std::string> impact_words() {
  std::vector<std::string> out;
  for (const ImpactEntry& law : kImpact) out.emplace_back(law.word);
  return out;
}

}  // namespace judder
