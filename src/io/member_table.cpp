#include "judder/io/member_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "io/json_values.hpp"
#include "judder/core/status.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/files.hpp"

namespace judder::io {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::string_view kNpyStart("\x93NUMPY\x01\x00", 8);
/// In every NPZ of ours: the name of its first array.
constexpr std::string_view kNpzMark = "judder_member.npy";

/// What files of each kind are known by.
std::string_view mark_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".npy") return "[('status', '<U";
  return extension == ".npz" ? kNpzMark : "member,status,time,";
}

std::string header(const std::string& description) {
  std::string out(kNpyStart);
  std::string text = description;
  constexpr std::size_t kAligned = 64;
  const std::size_t bare = kNpyStart.size() + 2 + text.size() + 1;
  text.append((kAligned - bare % kAligned) % kAligned, ' ');
  text += '\n';
  out += static_cast<char>(text.size() & 0xFFU);
  out += static_cast<char>(text.size() >> 8U);
  return out + text;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string out = "(";
  for (const std::size_t n : shape) out += std::to_string(n) + ", ";
  if (shape.size() > 1) out.erase(out.size() - 2);
  return out + ")";
}

/// Inside quotes of Python.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}
void put(std::string& out, double value) {
  char bytes[8];
  std::memcpy(bytes, &value, 8);
  out.append(bytes, 8);
}

/// As NumPy keeps text: four bytes for each character. What is not ASCII is written as '?'.
void put_text(std::string& out, std::string_view text, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    put(out, c < 0x80U ? c : static_cast<unsigned>('?'), 4);
  }
}

class Crc {
 public:
  void add(std::string_view bytes) {
    static const std::array<std::uint32_t, 256> table = [] {
      std::array<std::uint32_t, 256> made{};
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
        made[i] = c;
      }
      return made;
    }();
    for (const char byte : bytes)
      state_ = table[(state_ ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (state_ >> 8U);
  }
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = ~0U;
};

/// The files of an archive, stored as they are (APPNOTE of PKWARE, 4.3); each is given twice, once for its check.
class Archive {
 public:
  using Content = std::function<void(const std::function<void(std::string_view)>&)>;
  explicit Archive(std::function<void(std::string_view)> out) : out_(std::move(out)) {}
  void add(const std::string& name, const Content& content) {
    Crc crc;
    std::uint64_t size = 0;
    content([&](std::string_view bytes) {
      crc.add(bytes);
      size += bytes.size();
    });
    std::string local = "PK\x03\x04", entry = "PK\x01\x02";
    std::string common;
    put(common, 20, 2);
    put(common, 0x800, 2);  // names are UTF-8
    put(common, 0, 2);
    put(common, 0, 2);
    put(common, 0x21, 2);  // 1980-01-01: equal tables are equal files
    put(common, crc.value(), 4);
    put(common, size, 4);
    put(common, size, 4);
    put(common, name.size(), 2);
    put(common, 0, 2);
    local += common + name;
    put(entry, 20, 2);
    entry += common;
    put(entry, 0, 2);
    put(entry, 0, 2);
    put(entry, 0, 2);
    put(entry, 0, 4);
    put(entry, length_, 4);
    directory_ += entry + name;
    ++entries_;
    write(local);
    content([&](std::string_view bytes) { write(bytes); });
  }
  void finish() {
    const std::uint64_t place = length_;
    write(directory_);
    std::string end = "PK\x05\x06";
    put(end, 0, 4);
    put(end, entries_, 2);
    put(end, entries_, 2);
    put(end, directory_.size(), 4);
    put(end, place, 4);
    put(end, 0, 2);
    write(end);
  }

 private:
  void write(std::string_view bytes) {
    length_ += bytes.size();
    out_(bytes);
  }
  std::function<void(std::string_view)> out_;
  std::uint64_t length_ = 0;
  std::size_t entries_ = 0;
  std::string directory_;
};

/// Calls `use(member, numbers, message)` for each record. False: one cannot be read.
template <class Use>
bool each_record(const MemberFile& records, const Use& use) {
  const MemberFileHead& head = records.head();
  std::vector<double> memory;
  std::size_t member = 0;
  for (std::size_t c = 0; c < head.chunks(); ++c) {
    const std::vector<char> chunk = records.read_chunk(c);
    if (chunk.empty()) return false;
    for (std::size_t i = 0; i < head.chunk && member < head.members; ++i, ++member) {
      const MemberRecord record = member_record(chunk, head.numbers, i, memory);
      use(member, record.numbers, record.message);
    }
  }
  return true;
}

constexpr std::size_t kStatusWidth = 16, kMessageWidth = MemberFile::kMessage;

bool write_csv(const MemberFile& records, const MemberTable& table, TextFile& out) {
  std::string block;
  CsvWriter csv(block);
  csv.text("member").text("status").text("time");
  if (!table.variants.empty()) csv.text("variant");
  for (const auto* names : {&table.names, &table.collected}) {
    for (const std::string& name : *names) csv.text(name);
  }
  csv.text("message").end_record();
  const std::size_t first = table.variants.empty() ? 0 : 1;
  const bool good = each_record(
      records, [&](std::size_t member, std::span<const double> numbers, std::string_view message) {
        csv.number(static_cast<double>(member));
        csv.text(member_status(numbers[numbers.size() - 1])).number(numbers[numbers.size() - 2]);
        if (first > 0) {
          const auto variant = static_cast<std::size_t>(std::max(numbers[0], 0.0));
          csv.text(variant < table.variants.size() ? table.variants[variant] : "");
        }
        for (std::size_t i = first; i + 2 < numbers.size(); ++i) csv.number(numbers[i]);
        csv.text(message);
        csv.end_record();
        if (block.size() > kBlock) {
          out.add(block);
          block.clear();
        }
      });
  out.add(block);
  return good;
}

bool write_npy(const MemberFile& records, const MemberTable& table, TextFile& out) {
  std::string types = "[";
  const auto field = [&types](const std::string& name, const std::string& type) {
    types += "(" + quoted(name) + ", '" + type + "'), ";
  };
  field("status", "<U" + std::to_string(kStatusWidth));
  field("time", "<f8");
  if (!table.variants.empty()) field("variant", "<f8");
  for (const auto* names : {&table.names, &table.collected}) {
    for (const std::string& name : *names) field(name, "<f8");
  }
  field("message", "<U" + std::to_string(kMessageWidth));
  types.replace(types.size() - 2, 2, "]");
  out.add(header("{'descr': " + types +
                 ", 'fortran_order': False, 'shape': " + shape_text({records.head().members}) + ", }"));
  std::string block;
  const bool good =
      each_record(records, [&](std::size_t, std::span<const double> numbers, std::string_view message) {
        put_text(block, member_status(numbers[numbers.size() - 1]), kStatusWidth);
        put(block, numbers[numbers.size() - 2]);
        for (std::size_t i = 0; i + 2 < numbers.size(); ++i) put(block, numbers[i]);
        put_text(block, message, kMessageWidth);
        if (block.size() > kBlock) {
          out.add(block);
          block.clear();
        }
      });
  out.add(block);
  return good;
}

bool write_npz(const MemberFile& records, const MemberTable& table, TextFile& out) {
  bool good = true;
  Archive archive([&out](std::string_view bytes) { out.add(bytes); });
  const auto array = [&](const std::string& name, const std::string& type, const auto& cell) {
    archive.add(name + ".npy", [&](const std::function<void(std::string_view)>& give) {
      give(header("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape_text(table.shape) +
                  ", }"));
      std::string block;
      good = each_record(records,
                         [&](std::size_t member, std::span<const double> numbers, std::string_view message) {
                           cell(block, member, numbers, message);
                           if (block.size() > kBlock) {
                             give(block);
                             block.clear();
                           }
                         }) &&
             good;
      give(block);
    });
  };
  using Numbers = std::span<const double>;
  array("judder_member", "<f8", [](std::string& to, std::size_t member, Numbers, std::string_view) {
    put(to, static_cast<double>(member));
  });
  std::size_t i = 0;
  const auto column = [&](const std::string& name) {
    const std::size_t at = i++;
    array(name, "<f8",
          [at](std::string& to, std::size_t, Numbers numbers, std::string_view) { put(to, numbers[at]); });
  };
  if (!table.variants.empty()) column("variant");
  for (const auto* names : {&table.names, &table.collected}) {
    for (const std::string& name : *names) column(name);
  }
  column("time");
  array("status", "<U" + std::to_string(kStatusWidth),
        [](std::string& to, std::size_t, Numbers numbers, std::string_view) {
          put_text(to, member_status(numbers[numbers.size() - 1]), kStatusWidth);
        });
  array("message", "<U" + std::to_string(kMessageWidth),
        [](std::string& to, std::size_t, Numbers, std::string_view message) {
          put_text(to, message, kMessageWidth);
        });
  archive.finish();
  return good;
}

}  // namespace

std::string member_title(const MemberTable& table) {
  return Json{{"names", table.names},
              {"variants", table.variants},
              {"collected", table.collected},
              {"shape", table.shape}}
      .dump();
}

bool read_member_title(const std::string& title, MemberTable& table) {
  const Json read = Json::parse(title, nullptr, false);
  if (!read.is_object()) return false;
  const auto texts = [&](const char* key, std::vector<std::string>& out) {
    const auto found = read.find(key);
    if (found == read.end() || !found->is_array()) return false;
    for (const Json& each : *found) {
      if (!each.is_string()) return false;
      out.push_back(each.get<std::string>());
    }
    return true;
  };
  if (!texts("names", table.names) || !texts("variants", table.variants) ||
      !texts("collected", table.collected))
    return false;
  const auto shape = read.find("shape");
  if (shape == read.end() || !shape->is_array()) return false;
  for (const Json& each : *shape) {
    if (!each.is_number_unsigned()) return false;
    table.shape.push_back(each.get<std::size_t>());
  }
  return true;
}

std::string member_status(double number) {
  if (!(number >= 0 && number <= static_cast<double>(Reason::call_failed))) return "no-equations";
  return name(static_cast<Reason>(static_cast<int>(number)));
}

std::string table_name_problem(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".csv" || extension == ".npy" || extension == ".npz") return {};
  return "the table '" + file.string() + "' must end in .csv, .npy or .npz";
}

FileStatus refuse_foreign_table(const fs::path& file) { return refuse_foreign(file, mark_of(file)); }

FileStatus table_size_problem(const fs::path& file, std::size_t members, const MemberTable& table) {
  const double bytes = 8.0 * static_cast<double>(members) * static_cast<double>(table.numbers() + 9);
  constexpr double kLargestArchive = 4e9;
  if (file.extension() != ".npz" || bytes <= kLargestArchive) return {file.string(), {}, 0};
  return {file.string(), "would be larger than 4 GB, which an .npz cannot be; choose .npy or .csv", 0};
}

FileStatus write_member_table(const MemberFile& records, const MemberTable& table, const fs::path& file) {
  const std::string extension = file.extension().string();
  if (FileStatus status = table_size_problem(file, records.head().members, table); !status.ok())
    return status;
  TextFile out;
  if (FileStatus status = out.open(file, mark_of(file)); !status.ok()) return status;
  const bool good = extension == ".npy"   ? write_npy(records, table, out)
                    : extension == ".npz" ? write_npz(records, table, out)
                                          : write_csv(records, table, out);
  if (!good) return {file.string(), "cannot be written: the records of its members cannot be read", 0};
  return out.finish();
}

std::string npy(const std::vector<double>& values, const std::vector<std::size_t>& shape) {
  std::string out = header("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }");
  for (const double value : values) put(out, value);
  return out;
}

std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::string out;
  Archive archive([&out](std::string_view bytes) { out += bytes; });
  for (const auto& [name, bytes] : arrays)
    archive.add(name + ".npy",
                [&bytes = bytes](const std::function<void(std::string_view)>& give) { give(bytes); });
  archive.finish();
  return out;
}

}  // namespace judder::io
