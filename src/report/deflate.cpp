#include "report/deflate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace judder::report {

void Packer::literal(unsigned value) {
  if (value < 144)
    code(0x30 + value, 8);
  else
    code(0x190 + value - 144, 9);
}

void Packer::repeat(unsigned length, unsigned distance) {
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

std::string Packer::end() {
  code(0, 7);
  if (count_ > 0) out_ += static_cast<char>(hold_ & 0xFFU);
  return std::move(out_);
}

void Packer::bits(unsigned value, unsigned count) {
  hold_ |= static_cast<std::uint64_t>(value) << count_;
  for (count_ += count; count_ >= 8; count_ -= 8, hold_ >>= 8U) out_ += static_cast<char>(hold_ & 0xFFU);
}

/// Codes begin with their highest bit.
void Packer::code(unsigned value, unsigned count) {
  for (unsigned i = count; i-- > 0;) bits((value >> i) & 1U, 1);
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t c = ~0U;
  for (const char byte : bytes) {
    c ^= static_cast<unsigned char>(byte);
    for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
  }
  return ~c;
}

namespace {

/// Where the last places are at which three bytes stood that have the same hash.
class Places {
 public:
  explicit Places(std::string_view bytes)
      : bytes_(bytes), last_(kSize, kNone), before_(bytes.size(), kNone) {}
  /// The longest repetition at `at` of what stands in front of it: its length and distance; under three: none.
  [[nodiscard]] std::pair<std::size_t, std::size_t> longest(std::size_t at) const {
    constexpr int kMostLooks = 256;
    std::pair<std::size_t, std::size_t> best{0, 0};
    if (at + 3 > bytes_.size()) return best;
    const std::size_t most = std::min<std::size_t>(258, bytes_.size() - at);
    std::size_t place = last_[hash(at)];
    for (int look = 0; look < kMostLooks && place != kNone && at - place <= 32768; ++look) {
      std::size_t length = 0;
      while (length < most && bytes_[place + length] == bytes_[at + length]) ++length;
      if (length > best.first) best = {length, at - place};
      place = before_[place];
    }
    return best;
  }
  void add(std::size_t at) {
    if (at + 3 > bytes_.size()) return;
    std::size_t& last = last_[hash(at)];
    before_[at] = last;
    last = at;
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 15U;
  static constexpr std::size_t kNone = ~std::size_t{0};
  [[nodiscard]] std::size_t hash(std::size_t at) const {
    const auto byte = [&](std::size_t k) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + k]));
    };
    return (byte(0) << 16U | byte(1) << 8U | byte(2)) * 2654435761U >> 17U;
  }

  std::string_view bytes_;
  std::vector<std::size_t> last_, before_;
};

void put_little(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}

}  // namespace

std::string gzip(std::string_view bytes) {
  Packer packer;
  packer.begin();
  Places places(bytes);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [length, distance] = places.longest(at);
    if (length < 4) {
      packer.literal(static_cast<unsigned char>(bytes[at]));
      places.add(at++);
      continue;
    }
    packer.repeat(static_cast<unsigned>(length), static_cast<unsigned>(distance));
    for (const std::size_t end = at + length; at < end; ++at) places.add(at);
  }
  std::string out("\x1f\x8b\x08\0\0\0\0\0\x02\xff", 10);
  out += packer.end();
  put_little(out, crc32(bytes));
  put_little(out, static_cast<std::uint32_t>(bytes.size()));
  return out;
}

}  // namespace judder::report
