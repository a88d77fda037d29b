#include "judder/io/member_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "io/disk.hpp"
#include "judder/io/files.hpp"

namespace judder::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark = "judder members 1\n";

int write_at(int file, std::uint64_t place, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    place += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return 0;
}

bool read_at(int file, std::uint64_t place, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    place += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

std::string head_text(const MemberFileHead& head) {
  char key[17];
  std::snprintf(key, sizeof key, "%016llx", static_cast<unsigned long long>(head.key));
  return std::string(kMark) + key + "\n" + std::to_string(head.members) + "\n" +
         std::to_string(head.numbers) + "\n" + std::to_string(head.chunk) + "\n" +
         std::to_string(head.title.size()) + "\n" + head.title;
}

/// The next line as a number; false: it is none.
bool take_number(std::string_view& text, std::uint64_t& out, int base = 10) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const auto [last, error] = std::from_chars(text.data(), text.data() + end, out, base);
  const bool good = error == std::errc() && last == text.data() + end;
  text.remove_prefix(end + 1);
  return good;
}

std::uint64_t mark_of(std::span<const char> records) {
  disk::Check check;
  check.add({records.data(), records.size()});
  return check.value() | 1U;  // never zero
}

}  // namespace

struct MemberFile::Open {
  fs::path path;
  disk::Handle file;
  MemberFileHead head;
  std::uint64_t marks = 0, records = 0;  ///< where they begin

  void lay_out(std::size_t head_bytes) {
    constexpr std::uint64_t kAligned = 8;
    marks = (head_bytes + kAligned - 1) / kAligned * kAligned;
    records = marks + kAligned * head.chunks();
  }
  [[nodiscard]] std::size_t record() const { return 8 * head.numbers + kMessage; }
  [[nodiscard]] std::size_t members_of(std::size_t chunk) const {
    return std::min(head.chunk, head.members - chunk * head.chunk);
  }
};

MemberFile::MemberFile() = default;
MemberFile::~MemberFile() = default;
MemberFile::MemberFile(MemberFile&&) noexcept = default;
MemberFile& MemberFile::operator=(MemberFile&&) noexcept = default;

FileStatus MemberFile::create(const fs::path& file, const MemberFileHead& head, bool replace) {
  const auto failed = [&](std::string why) { return FileStatus{file.string(), std::move(why), 0}; };
  if (const FileStatus status = refuse_foreign(file, kMark); !status.ok()) return status;
  std::error_code code;
  if (!replace && fs::exists(file, code))
    return failed("holds a sweep that has not ended: --resume goes on with it; or remove it");
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), code);
  open_ = std::make_unique<Open>();
  open_->path = file;
  open_->head = head;
  disk::Handle folder;
  int error = disk::open_folder(file.has_parent_path() ? file.parent_path() : fs::path("."), folder);
  // Written under another name until its head is whole, so that nobody finds half of one.
  const std::string name = file.filename().string();
  const std::string draft = "." + name + "." + std::to_string(::getpid()) + ".tmp";
  if (error == 0) error = disk::create(folder, draft, open_->file);
  const std::string text = head_text(head);
  open_->lay_out(text.size());
  if (error == 0) error = write_at(open_->file.number(), 0, text);
  const std::uint64_t size = open_->records + static_cast<std::uint64_t>(open_->record()) * head.members;
  if (error == 0 && ::ftruncate(open_->file.number(), static_cast<off_t>(size)) != 0) error = errno;
  if (error == 0) error = disk::sync({&open_->file});
  if (error == 0) error = disk::rename(folder, draft, name);
  if (error != 0) {
    static_cast<void>(disk::remove(folder, draft));
    open_.reset();
    return failed(disk::not_written(error));
  }
  // Reading is needed as well.
  return open(file, &head, true);
}

FileStatus MemberFile::open(const fs::path& file, const MemberFileHead* head, bool write) {
  const auto failed = [&](std::string why) {
    open_.reset();
    return FileStatus{file.string(), std::move(why), 0};
  };
  open_ = std::make_unique<Open>();
  open_->path = file;
  disk::Handle folder;
  int error = disk::open_folder(file.has_parent_path() ? file.parent_path() : fs::path("."), folder);
  if (error == 0) error = disk::open_regular(folder, file.filename().string(), write, open_->file);
  if (error == ENOENT) return failed("there is no such file: nothing has been begun");
  if (error != 0) return failed(disk::not_read(error));
  std::uint64_t size = 0;
  static_cast<void>(disk::size_of(open_->file, size));
  constexpr std::uint64_t kLongestHead = 1 << 20;
  std::string text(static_cast<std::size_t>(std::min(size, kLongestHead)), '\0');
  if (!read_at(open_->file.number(), 0, text) || text.rfind(kMark, 0) != 0)
    return failed("is no file of members");
  std::string_view rest = std::string_view(text).substr(kMark.size());
  MemberFileHead& found = open_->head;
  std::uint64_t key = 0, members = 0, numbers = 0, chunk = 0, title = 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U, kMostNumbers = 1 << 20;
  if (!take_number(rest, key, 16) || !take_number(rest, members) || !take_number(rest, numbers) ||
      !take_number(rest, chunk) || !take_number(rest, title) || members == 0 || members > kMost ||
      numbers > kMostNumbers || chunk == 0 || chunk > members || title > rest.size())
    return failed("is a damaged file of members");
  found = {key, static_cast<std::size_t>(members), static_cast<std::size_t>(numbers),
           static_cast<std::size_t>(chunk), std::string(rest.substr(0, static_cast<std::size_t>(title)))};
  open_->lay_out(head_text(found).size());
  if (size != open_->records + static_cast<std::uint64_t>(open_->record()) * members)
    return failed("is a damaged file of members: it is " + std::to_string(size) + " bytes long");
  if (head != nullptr && (head->key != found.key || head->members != found.members ||
                          head->numbers != found.numbers || head->chunk != found.chunk))
    return failed(
        "holds other members: the model, the values or the questions are not those with which it was begun");
  return {file.string(), {}, 0};
}

const MemberFileHead& MemberFile::head() const { return open_->head; }
std::size_t MemberFile::record_bytes() const { return open_->record(); }

std::vector<bool> MemberFile::done() const {
  const std::size_t chunks = open_->head.chunks();
  std::vector<std::uint64_t> marks(chunks);
  std::vector<bool> out(chunks);
  if (chunks == 0 ||
      !read_at(open_->file.number(), open_->marks, {reinterpret_cast<char*>(marks.data()), 8 * chunks}))
    return out;
  std::vector<char> records;
  for (std::size_t c = 0; c < chunks; ++c) {
    if (marks[c] == 0) continue;
    records = read_chunk(c);
    out[c] = !records.empty() && mark_of(records) == marks[c];
  }
  return out;
}

FileStatus MemberFile::write_chunk(std::size_t chunk, std::span<const char> records) {
  const std::uint64_t place =
      open_->records + static_cast<std::uint64_t>(open_->record()) * chunk * open_->head.chunk;
  int error = write_at(open_->file.number(), place, records);
  std::uint64_t mark = mark_of(records);
  if (error == 0)
    error =
        write_at(open_->file.number(), open_->marks + 8 * chunk, {reinterpret_cast<const char*>(&mark), 8});
  return {open_->path.string(), error == 0 ? std::string() : disk::not_written(error), 0};
}

std::vector<char> MemberFile::read_chunk(std::size_t chunk) const {
  std::vector<char> out(open_->members_of(chunk) * open_->record());
  const std::uint64_t place =
      open_->records + static_cast<std::uint64_t>(open_->record()) * chunk * open_->head.chunk;
  if (!read_at(open_->file.number(), place, out)) out.clear();
  return out;
}

FileStatus MemberFile::close() {
  const int error = disk::sync({&open_->file});
  FileStatus status{open_->path.string(), error == 0 ? std::string() : disk::not_written(error), 0};
  open_.reset();
  return status;
}

MemberRecord member_record(const std::vector<char>& chunk, std::size_t numbers, std::size_t i,
                           std::vector<double>& memory) {
  memory.resize(numbers);
  const char* const at = chunk.data() + i * (8 * numbers + MemberFile::kMessage);
  std::memcpy(memory.data(), at, 8 * numbers);
  const char* const text = at + 8 * numbers;
  return {memory, std::string_view(text, ::strnlen(text, MemberFile::kMessage))};
}

void put_member_record(std::span<const double> numbers, std::string_view message, std::vector<char>& out) {
  const std::size_t at = out.size();
  out.resize(at + 8 * numbers.size() + MemberFile::kMessage, '\0');
  std::memcpy(out.data() + at, numbers.data(), 8 * numbers.size());
  char* const text = out.data() + at + 8 * numbers.size();
  constexpr std::size_t kRoom = MemberFile::kMessage - 1;
  if (message.size() <= kRoom) {
    std::memcpy(text, message.data(), message.size());
    return;
  }
  // What is cut says so. No half of a character.
  constexpr std::string_view kCut = "…";
  std::size_t length = kRoom - kCut.size();
  while (length > 0 && (static_cast<unsigned char>(message[length]) & 0xC0U) == 0x80U) --length;
  std::memcpy(text, message.data(), length);
  std::memcpy(text + length, kCut.data(), kCut.size());
}

std::uint64_t text_key(std::string_view text) {
  disk::Check check;
  check.add(text);
  return check.value();
}

}  // namespace judder::io
