#include "judder/engines/mode.hpp"

#include <bit>

namespace judder::engines {

std::uint64_t Mode::key() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint64_t value) {
    hash ^= value;
    hash *= 0x100000001b3ULL;
  };
  for (const NormalStatus status : normal) mix(static_cast<std::uint64_t>(status) + 1);
  for (const std::int8_t side_pressed : pressed) mix(static_cast<std::uint64_t>(side_pressed + 2));
  for (const TangentStatus status : tangent) mix(static_cast<std::uint64_t>(status) + 1);
  for (std::size_t k = 0; k < side.size(); ++k)
    mix(surface[k] == AtSurface::slides  ? 0x51
        : surface[k] == AtSurface::rests ? 0x52
                                         : std::bit_cast<std::uint64_t>(side[k]));
  return hash;
}

}  // namespace judder::engines
