#include "io/record_tail.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string>
#include <string_view>

#include "io/event_table.hpp"
#include "judder/io/csv.hpp"

namespace judder::io {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 24;
constexpr std::size_t kMode = kEventNumbers - 1;

bool only(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// The end of the field that begins at `at`: the place of the comma behind it, or the end of the line.
std::size_t field_end(std::string_view line, std::size_t at) {
  if (at >= line.size() || line[at] != '"') return std::min(line.find(',', at), line.size());
  bool open = true;
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '"') open = !open;
    if (line[i] == ',' && !open) return i;
  }
  return line.size();
}

/// `cut`: the field may be the beginning of one only.
bool fits_column(std::string_view field, std::size_t column, TableKind kind, bool cut) {
  const bool events = kind == TableKind::events;
  if (events && column >= 1 && column <= 3) return true;  // kind, where, detail
  if (events && column == kMode) return only(field, "0123456789abcdef") && (cut || field.size() == 16);
  if (column == 0 && !cut) {
    const auto time = csv_number(field);
    return time && std::isfinite(*time);
  }
  if (cut && only(field, "0123456789+-.einaf")) return true;
  if (!cut && csv_number(field)) return true;
  // The word of a mode.
  return !events && column > 0 && only(field, "abcdefghijklmnopqrstuvwxyz+-");
}

bool is_record(std::string_view line, std::size_t columns, TableKind kind, bool cut) {
  std::size_t column = 0;
  for (std::size_t at = 0;; ++column) {
    const std::size_t end = field_end(line, at);
    const bool last = end == line.size();
    if (column >= columns || !fits_column(line.substr(at, end - at), column, kind, cut && last)) return false;
    if (last) return cut || column + 1 == columns;
    at = end + 1;
  }
}

/// Takes the bytes of a table one after the other.
class Lines {
 public:
  Lines(std::uint64_t bytes, TableKind kind) : saved_(bytes), kind_(kind) {}

  /// False: the line that ends here is no record.
  bool add(char c) {
    const bool behind = at_++ >= saved_;
    if (c != '\n') {
      // The first line, which names the columns, and those behind the saved ones are looked at.
      if (line_number_ == 1 || behind) line_ += c;
      return line_.size() < kLongestLine;
    }
    bool good = true;
    if (behind)
      good = good_line(false);
    else if (line_number_ == 1)
      count_columns();
    line_.clear();
    if (good) ++line_number_;
    return good;
  }
  /// What stands behind the last line end.
  [[nodiscard]] bool good_end() const { return line_.empty() || good_line(true); }
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }

 private:
  [[nodiscard]] bool good_line(bool cut) const {
    const std::size_t zero = line_.find('\0');
    if (zero == std::string::npos) return is_record(line_, columns_, kind_, cut);
    return zero == 0 || is_record(std::string_view(line_).substr(0, zero), columns_, kind_, true);
  }
  void count_columns() {
    columns_ = 1;
    for (std::size_t end = field_end(line_, 0); end < line_.size(); end = field_end(line_, end + 1))
      ++columns_;
  }

  std::uint64_t saved_;
  TableKind kind_;
  std::uint64_t at_ = 0, line_number_ = 1;
  std::size_t columns_ = 0;
  std::string line_;
};

}  // namespace

int foreign_line(const disk::Handle& table, std::uint64_t bytes, TableKind kind,
                 std::optional<std::uint64_t>& out) {
  out.reset();
  Lines lines(bytes, kind);
  std::array<char, std::size_t{1} << 16> block{};
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(table.number(), block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    at += got;
    for (ssize_t i = 0; i < got; ++i) {
      if (lines.add(block[static_cast<std::size_t>(i)])) continue;
      out = lines.line_number();
      return 0;
    }
  }
  if (!lines.good_end()) out = lines.line_number();
  return 0;
}

}  // namespace judder::io
