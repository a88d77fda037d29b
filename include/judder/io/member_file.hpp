// What the members of an ensemble have given, on disk while it grows: records of a fixed size, each at its place, in any order.
//
//     "judder members 1\n"  key (16 hexadecimal digits)  members  of a record: bytes  of a chunk: members   a line each
//     length of the title, the title: whatever the owner wants to find again (names of columns, as JSON)
//     marks: eight bytes for each chunk, zero until all of its records are there, then a check of them
//     records: numbers, then kMessage bytes of text, ended by a zero
//
// A chunk counts if its mark is that of its records; what a kill has left half written is made again. Several processes write one file at the same
// time, each the chunks that it has been given. The key says of which members this is: model, values, questions. Numbers are as the machine has them
// (little-endian on all that Debian 12 runs on).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judder/io/run_folder.hpp"

namespace judder::io {

struct MemberFileHead {
  std::uint64_t key = 0;
  std::size_t members = 0;
  std::size_t numbers = 0;  ///< of a record
  std::size_t chunk = 1;    ///< members
  std::string title;

  [[nodiscard]] std::size_t chunks() const { return chunk == 0 ? 0 : (members + chunk - 1) / chunk; }
};

class MemberFile {
 public:
  static constexpr std::size_t kMessage = 96;

  MemberFile();
  ~MemberFile();
  MemberFile(MemberFile&&) noexcept;
  MemberFile& operator=(MemberFile&&) noexcept;

  /// A new one. What has the name and is none of these files is refused; one of these is refused unless `replace`.
  FileStatus create(const std::filesystem::path& file, const MemberFileHead& head, bool replace);
  /// One that is there. With `head` given it must be of the same members.
  FileStatus open(const std::filesystem::path& file, const MemberFileHead* head, bool write);

  [[nodiscard]] const MemberFileHead& head() const;
  [[nodiscard]] std::size_t record_bytes() const;
  /// By chunk: all of its records are there, as their check says.
  [[nodiscard]] std::vector<bool> done() const;
  /// The records of a chunk, one behind the other, and its mark. Threads may write different chunks at the same time.
  FileStatus write_chunk(std::size_t chunk, std::span<const char> records);
  /// Empty where it cannot be read.
  [[nodiscard]] std::vector<char> read_chunk(std::size_t chunk) const;
  FileStatus close();

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

/// A record in memory.
struct MemberRecord {
  std::span<const double> numbers;
  std::string_view message;
};
/// Record `i` of a chunk that was read.
[[nodiscard]] MemberRecord member_record(const std::vector<char>& chunk, std::size_t numbers, std::size_t i,
                                         std::vector<double>& memory);
void put_member_record(std::span<const double> numbers, std::string_view message, std::vector<char>& out);

/// 64 bits from a text, the same everywhere.
[[nodiscard]] std::uint64_t text_key(std::string_view text);

}  // namespace judder::io
