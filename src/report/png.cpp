#include "png.hpp"

#include <algorithm>

namespace judder::report {
namespace {

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t c = ~0U;
  for (const char byte : bytes) {
    c ^= static_cast<unsigned char>(byte);
    for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
  }
  return ~c;
}

void put(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void chunk(std::string& out, const std::string& name, const std::string& data) {
  put(out, static_cast<std::uint32_t>(data.size()));
  out += name + data;
  put(out, crc_of(name + data));
}

/// DEFLATE (RFC 1951) with its fixed codes.
class Packer {
 public:
  void literal(unsigned value) {
    if (value < 144)
      code(0x30 + value, 8);
    else
      code(0x190 + value - 144, 9);
  }
  /// `length` from 3 to 258, `distance` from 1 to 32768.
  void repeat(unsigned length, unsigned distance) {
    unsigned symbol = 257, extra = 0, base = 3;
    for (;; ++symbol) {
      extra = symbol < 261 || symbol == 285 ? 0 : (symbol - 261) / 4;
      if (symbol == 285 || length < base + (1U << extra)) break;
      base += 1U << extra;
      if (symbol == 284) base = 258;
    }
    if (length == 258) symbol = 285, extra = 0, base = 258;
    if (symbol < 280)
      code(symbol - 256, 7);
    else
      code(0xC0 + symbol - 280, 8);
    bits(length - base, extra);
    unsigned number = 0, first = 1, more = 0;
    for (;; ++number) {
      more = number < 2 ? 0 : (number - 2) / 2;
      if (distance < first + (1U << more)) break;
      first += 1U << more;
    }
    code(number, 5);
    bits(distance - first, more);
  }
  void begin() { bits(3, 3); }  // the last block, fixed codes
  std::string end() {
    code(0, 7);
    if (count_ > 0) out_ += static_cast<char>(hold_ & 0xFFU);
    return std::move(out_);
  }

 private:
  void bits(unsigned value, unsigned count) {
    hold_ |= static_cast<std::uint64_t>(value) << count_;
    for (count_ += count; count_ >= 8; count_ -= 8, hold_ >>= 8U) out_ += static_cast<char>(hold_ & 0xFFU);
  }
  /// Codes begin with their highest bit.
  void code(unsigned value, unsigned count) {
    for (unsigned i = count; i-- > 0;) bits((value >> i) & 1U, 1);
  }
  std::string out_;
  std::uint64_t hold_ = 0;
  unsigned count_ = 0;
};

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
