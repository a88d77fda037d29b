#include "png.hpp"

#include <algorithm>

#include "report/deflate.hpp"

namespace judder::report {
namespace {

void put(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void chunk(std::string& out, const std::string& name, const std::string& data) {
  put(out, static_cast<std::uint32_t>(data.size()));
  out += name + data;
  put(out, crc32(name + data));
}

std::string packed(const std::string& rows, std::size_t row) {
  Packer packer;
  packer.begin();
  const auto run = [&](std::size_t at, std::size_t distance) {
    if (at < distance || distance > 32768) return std::size_t{0};
    std::size_t length = 0;
    while (length < 258 && at + length < rows.size() && rows[at + length] == rows[at + length - distance])
      ++length;
    return length;
  };
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t left = run(at, 1), above = run(at, row);
    const std::size_t length = std::max(left, above);
    if (length < 3) {
      packer.literal(static_cast<unsigned char>(rows[at++]));
      continue;
    }
    packer.repeat(static_cast<unsigned>(length), static_cast<unsigned>(above >= left ? row : 1));
    at += length;
  }
  std::string out("\x78\x01", 2);
  out += packer.end();
  std::uint32_t a = 1, b = 0;
  for (const char byte : rows) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  put(out, b << 16U | a);
  return out;
}

}  // namespace

std::string png(std::size_t width, std::size_t height, const std::vector<std::uint8_t>& pixels,
                const std::vector<Colour>& palette) {
  std::string out("\x89PNG\r\n\x1a\n", 8), head, colours, opacities, rows;
  put(head, static_cast<std::uint32_t>(width));
  put(head, static_cast<std::uint32_t>(height));
  head += std::string("\x08\x03\x00\x00\x00", 5);
  for (const Colour& colour : palette) {
    for (std::size_t i = 0; i < 3; ++i) colours += static_cast<char>(colour[i]);
    opacities += static_cast<char>(colour[3]);
  }
  for (std::size_t r = 0; r < height; ++r) {
    rows += '\0';  // no filter
    for (std::size_t c = 0; c < width; ++c) rows += static_cast<char>(pixels[r * width + c]);
  }
  chunk(out, "IHDR", head);
  chunk(out, "PLTE", colours);
  chunk(out, "tRNS", opacities);
  chunk(out, "IDAT", packed(rows, width + 1));
  chunk(out, "IEND", "");
  return out;
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[(three >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

}  // namespace judder::report
