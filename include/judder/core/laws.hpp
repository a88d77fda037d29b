// The laws of friction and of impact: one row each, with its word in the model file and the keys that belong to it alone.
//
// Reader, checks, schema, pages and messages take words and keys from here. What a law does stands in a table of its layer (model/smooth_laws.cpp,
// contact/path_laws.cpp), or in model/laws.cpp. A type that nothing asks for by name may be a number: FrictionType{100}.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace judder {

enum class FrictionType : std::uint8_t { none, coulomb, lugre, elastoplastic, arctan, penalty };

/// Keys of a friction law that not every law has.
enum class FrictionKey : std::uint8_t { stiffness, damping, breakaway, beta };

struct FrictionEntry {
  FrictionType type;
  const char* word;
  bool smooth;                            ///< a function of slip and bristle: nothing rests exactly
  bool bristle;                           ///< has a state of its own
  std::span<const FrictionKey> own_keys;  ///< it needs each of them, and no law without them takes them

  [[nodiscard]] bool has(FrictionKey key) const;
};

enum class ImpactType : std::uint8_t {
  moreau,   ///< Coulomb with the slip velocity after the impact, all contacts at once
  newton,   ///< ends at γ_N = −e γ_N⁻ (Kane, Levinson, Whittaker)
  poisson,  ///< ends at (1 + e) times the impulse of compression (Routh)
  stronge,  ///< ends when restitution has returned e² of the work of compression
};

struct ImpactEntry {
  ImpactType type;
  const char* word;
};

/// All friction laws but `none`, the default first.
[[nodiscard]] std::span<const FrictionEntry> friction_laws();
/// All impact laws, the default first.
[[nodiscard]] std::span<const ImpactEntry> impact_laws();

/// "none", or the word of the law.
[[nodiscard]] const char* name(FrictionType type);
[[nodiscard]] const char* name(ImpactType type);
[[nodiscard]] const char* name(FrictionKey key);

/// The row of a word, or null.
[[nodiscard]] const FrictionEntry* find_friction(std::string_view word);
[[nodiscard]] const ImpactEntry* find_impact(std::string_view word);

[[nodiscard]] std::vector<std::string> friction_words();
/// Of the laws that have the key.
[[nodiscard]] std::vector<std::string> friction_words(FrictionKey key);
[[nodiscard]] std::vector<std::string> impact_words();

}  // namespace judder
