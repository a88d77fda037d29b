// Pictures of indexed colours as PNG (W3C, Portable Network Graphics, 2003), packed by repeats of the pixel to the left and of the row above.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace judder::report {

/// Red, green, blue, opacity.
using Colour = std::array<std::uint8_t, 4>;

/// Rows from the top; `pixels` are numbers of the palette, width · height of them.
[[nodiscard]] std::string png(std::size_t width, std::size_t height, const std::vector<std::uint8_t>& pixels,
                              const std::vector<Colour>& palette);
[[nodiscard]] std::string base64(const std::string& bytes);

}  // namespace judder::report
