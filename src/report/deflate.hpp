// Texts in fewer bytes: DEFLATE (RFC 1951) with its fixed codes, for pictures and for what a page carries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace judder::report {

/// Writes one block; who calls it finds what repeats.
class Packer {
 public:
  void begin() { bits(3, 3); }  // the last block, fixed codes
  void literal(unsigned value);
  /// `length` from 3 to 258, `distance` from 1 to 32768.
  void repeat(unsigned length, unsigned distance);
  std::string end();

 private:
  void bits(unsigned value, unsigned count);
  void code(unsigned value, unsigned count);

  std::string out_;
  std::uint64_t hold_ = 0;
  unsigned count_ = 0;
};

/// The check of RFC 1952, of PNG and gzip.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes);

/// A gzip file (RFC 1952) without a name and a time. A third larger than gzip -9 makes it.
[[nodiscard]] std::string gzip(std::string_view bytes);

}  // namespace judder::report
