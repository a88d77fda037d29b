// Impact laws that follow the impulse path of a contact: where restitution ends, and which form they have where several contacts are struck at once.
//
// Compression ends at γ_N = 0. What a law then gives back is a normal velocity, an impulse, or work. Each law is one row in path_laws.cpp; moreau has
// none, its impulses are found at once.
#pragma once

#include <cstdint>

#include "judder/contact/impact.hpp"

namespace judder::contact {

enum class PathGoal : std::uint8_t { normal_velocity, impulse, work };

/// The end of compression.
struct Compressed {
  double normal_before = 0;  ///< γ_N⁻, before the impact
  double impulse = 0;        ///< P so far
  double normal_work = 0;    ///< work of the normal impulse so far
};

/// Where restitution ends: by how much it changes what is counted, and what that is then. Both are given, because their bits differ.
struct PathEnd {
  PathGoal goal = PathGoal::normal_velocity;
  double change = 0;  ///< of P, or of the work, from the end of compression; not used for a velocity
  double total = 0;   ///< γ_N, P, or the work
};

struct PathLaw {
  ImpactType type;
  /// With e > 0.
  PathEnd (*end)(double e, const Compressed& compressed);
  /// Several contacts at once: moreau, two_phases or energetic. Where laws meet the last of these that one of them has is taken.
  ImpactForm several;
};

/// The row of a law, or null.
[[nodiscard]] const PathLaw* find_path_law(ImpactType type);
/// By the row of the law; one that has none ends as newton does.
[[nodiscard]] PathEnd end_of_path(ImpactType type, double e, const Compressed& compressed);

}  // namespace judder::contact
