#include "judder/io/run_folder.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "judder/io/csv.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr std::size_t kEventNumbers = 9;  // columns of events.csv before the further slip components
constexpr std::array<std::string_view, kEventNumbers + 2> kEventHeader = {"time",
                                                                          "kind",
                                                                          "where",
                                                                          "detail",
                                                                          "normal_impulse",
                                                                          "tangential_impulse",
                                                                          "energy_before",
                                                                          "energy_after",
                                                                          "mode",
                                                                          "tangential_impulse_2",
                                                                          "tangential_impulse_3"};

FileStatus failure(const fs::path& file, int code) {
  return {file.string(), std::generic_category().message(code != 0 ? code : EIO), 0};
}

FileStatus failure(const fs::path& file, const std::error_code& code) {
  return {file.string(), code.message(), 0};
}

fs::path temporary(const fs::path& file) {
  fs::path out = file;
  out += ".tmp";
  return out;
}

// Sixteen hexadecimal digits.
std::string_view mode_text(std::uint64_t mode, std::array<char, 16>& digits) {
  for (std::size_t i = digits.size(); i-- > 0; mode >>= 4U) digits[i] = "0123456789abcdef"[mode & 0xFU];
  return {digits.data(), digits.size()};
}

std::optional<std::uint64_t> parse_mode(std::string_view text) {
  std::uint64_t mode = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), mode, 16);
  if (text.size() != 16 || result.ec != std::errc{} || result.ptr != text.data() + text.size())
    return std::nullopt;
  return mode;
}

// One growing table: a buffer in front of an unbuffered file, so that a write always ends with a whole record.
class Table {
 public:
  Table() : csv(buffer_) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::error_code ignored;
    if (!published_ && !failed_) fs::remove(temporary(path_), ignored);
  }

  FileStatus open(const fs::path& path) {
    path_ = path;
    buffer_.reserve(kBuffer + kBuffer / 8);
    file_ = std::fopen(temporary(path_).string().c_str(), "wb");
    if (file_ == nullptr) return failure(temporary(path_), errno);
    std::setvbuf(file_, nullptr, _IONBF, 0);
    return {};
  }

  [[nodiscard]] bool full() const { return buffer_.size() >= kBuffer; }

  FileStatus flush() {
    errno = 0;
    const std::size_t written = std::fwrite(buffer_.data(), 1, buffer_.size(), file_);
    if (written != buffer_.size()) {
      const int code = errno;
      failed_ = true;
      std::error_code ignored;
      fs::resize_file(place(), length_, ignored);  // back to whole records
      return failure(place(), code);
    }
    length_ += written;
    buffer_.clear();
    return {};
  }

  // The file keeps growing under its new name.
  FileStatus publish() {
    if (published_) return {};
    std::error_code code;
    fs::rename(temporary(path_), path_, code);
    if (code) return failure(path_, code);
    published_ = true;
    return {};
  }

  FileStatus close() {
    errno = 0;
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    return closed ? FileStatus{} : failure(place(), errno);
  }

 private:
  [[nodiscard]] fs::path place() const { return published_ ? path_ : temporary(path_); }

  fs::path path_;
  std::FILE* file_ = nullptr;
  std::uintmax_t length_ = 0;  // of the whole records in the file
  bool published_ = false;
  bool failed_ = false;
  std::string buffer_;

 public:
  CsvWriter csv;
};

FileStatus replace(const fs::path& path, std::string_view text) {
  const fs::path draft = temporary(path);
  std::FILE* file = std::fopen(draft.string().c_str(), "wb");
  if (file == nullptr) return failure(draft, errno);
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  std::error_code code;
  if (!written || !closed) {
    const int error = written ? errno : write_error;
    fs::remove(draft, code);
    return failure(draft, error);
  }
  fs::rename(draft, path, code);
  if (code) return failure(path, code);
  return {};
}

// The whole of a small file; a missing one is empty.
FileStatus read_text(const fs::path& path, std::string& out) {
  out.clear();
  std::error_code code;
  if (!fs::exists(path, code)) return {};
  std::ifstream in(path, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) return failure(path, errno);
  return {};
}

FileStatus csv_failure(const fs::path& path, const CsvError& error) {
  return {path.string(), error.message, error.line};
}

FileStatus read_events(const fs::path& path, std::vector<Event>& out) {
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return {};
  CsvReader csv(in);
  if (!csv.next())
    return csv.error() ? csv_failure(path, *csv.error()) : FileStatus{path.string(), "no header row", 1};
  if (csv.size() < kEventNumbers || csv.size() > kEventHeader.size()) {
    return {path.string(), "not a table of events: wrong number of columns", 1};
  }
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv.field(i) != kEventHeader[i]) {
      return {path.string(),
              "column '" + std::string(csv.field(i)) + "' should be '" + std::string(kEventHeader[i]) + "'",
              1};
    }
  }
  while (csv.next()) {
    Event event;
    bool good = true;
    const auto number = [&](std::size_t index) {
      const auto value = csv_number(csv.field(index));
      good = good && value.has_value();
      return value.value_or(0);
    };
    event.time = number(0);
    event.kind = csv.field(1);
    event.where = csv.field(2);
    event.detail = csv.field(3);
    event.normal_impulse = number(4);
    event.tangential_impulse[0] = number(5);
    event.energy_before = number(6);
    event.energy_after = number(7);
    const auto mode = parse_mode(csv.field(8));
    event.mode = mode.value_or(0);
    for (std::size_t i = kEventNumbers; i < csv.size(); ++i)
      event.tangential_impulse[i - kEventNumbers + 1] = number(i);
    if (!good || !mode) return {path.string(), "a cell that should be a number is none", csv.line()};
    out.push_back(std::move(event));
  }
  return csv.error() ? csv_failure(path, *csv.error()) : FileStatus{};
}

}  // namespace

std::string FileStatus::text() const {
  return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + message;
}

struct RunWriter::Files {
  fs::path directory;
  Table trajectory;
  Table events;
  std::vector<bool> words;  // which columns of the trajectory hold words
  int slip_components = 1;
  std::uint64_t row_count = 0;
  std::uint64_t event_count = 0;
  bool committed = false;
  bool open = false;
  FileStatus status;

  bool keep(FileStatus result) {
    if (!result.ok() && status.ok()) status = std::move(result);
    return status.ok();
  }
  [[nodiscard]] bool writable() const { return open && status.ok(); }
};

RunWriter::RunWriter() : files_(std::make_unique<Files>()) {}
RunWriter::~RunWriter() = default;
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;

FileStatus RunWriter::open(const fs::path& directory, std::span<const ColumnName> columns,
                           int slip_components) {
  files_ = std::make_unique<Files>();
  Files& f = *files_;
  f.directory = directory;
  f.slip_components = std::clamp(slip_components, 1, 3);
  std::error_code code;
  fs::create_directories(directory, code);
  if (code) {
    f.keep(failure(directory, code));
    return f.status;
  }
  if (!f.keep(f.trajectory.open(directory / "trajectory.csv")) ||
      !f.keep(f.events.open(directory / "events.csv"))) {
    return f.status;
  }
  for (const ColumnName& column : columns) {
    f.trajectory.csv.text(column.name);
    f.words.push_back(column.words);
  }
  f.trajectory.csv.end_record();
  const std::size_t event_columns = kEventNumbers + static_cast<std::size_t>(f.slip_components) - 1;
  for (std::size_t i = 0; i < event_columns; ++i) f.events.csv.text(kEventHeader[i]);
  f.events.csv.end_record();
  f.open = true;
  return f.status;
}

void RunWriter::row(std::span<const double> numbers, std::span<const std::string_view> words) {
  Files& f = *files_;
  if (!f.writable()) return;
  assert(numbers.size() + words.size() == f.words.size());
  std::size_t number = 0;
  std::size_t word = 0;
  for (const bool is_word : f.words) {
    if (is_word) {
      f.trajectory.csv.text(words[word++]);
    } else {
      f.trajectory.csv.number(numbers[number++]);
    }
  }
  f.trajectory.csv.end_record();
  ++f.row_count;
  if (f.trajectory.full()) f.keep(f.trajectory.flush());
}

void RunWriter::event(const EventRow& row) {
  Files& f = *files_;
  if (!f.writable()) return;
  CsvWriter& csv = f.events.csv;
  std::array<char, 16> digits;
  csv.number(row.time).text(row.kind).text(row.where).text(row.detail);
  csv.number(row.normal_impulse).number(row.tangential_impulse[0]);
  csv.number(row.energy_before).number(row.energy_after).text(mode_text(row.mode, digits));
  for (int i = 1; i < f.slip_components; ++i) csv.number(row.tangential_impulse[static_cast<std::size_t>(i)]);
  csv.end_record();
  ++f.event_count;
  if (f.events.full()) f.keep(f.events.flush());
}

FileStatus RunWriter::commit(std::string_view run_json, std::string_view state_json) {
  Files& f = *files_;
  if (!f.writable())
    return f.status.ok() ? FileStatus{f.directory.string(), "the run folder is not open", 0} : f.status;
  if (!f.keep(f.trajectory.flush()) || !f.keep(f.events.flush())) return f.status;
  if (!f.committed) {
    // An old run.json must not stand beside new tables, not even between two renames.
    std::error_code code;
    fs::remove(f.directory / "run.json", code);
    if (code && !f.keep(failure(f.directory / "run.json", code))) return f.status;
    if (!f.keep(f.trajectory.publish()) || !f.keep(f.events.publish())) return f.status;
    f.committed = true;
  }
  if (f.keep(replace(f.directory / "state.json", state_json)))
    f.keep(replace(f.directory / "run.json", run_json));
  return f.status;
}

FileStatus RunWriter::finish(std::string_view run_json, std::string_view state_json) {
  Files& f = *files_;
  if (!commit(run_json, state_json).ok()) return f.status;
  f.keep(f.trajectory.close());
  f.keep(f.events.close());
  f.open = false;
  return f.status;
}

const FileStatus& RunWriter::status() const { return files_->status; }
std::uint64_t RunWriter::rows() const { return files_->row_count; }
std::uint64_t RunWriter::events() const { return files_->event_count; }

const Column* RunData::find(std::string_view column) const {
  for (const Column& candidate : columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

FileStatus read_columns(const fs::path& file, RunData& out) {
  out.columns.clear();
  out.name = file.stem().string();
  std::ifstream in(file, std::ios::binary);
  if (!in.is_open()) return failure(file, errno);
  CsvReader csv(in);
  if (!csv.next())
    return csv.error() ? csv_failure(file, *csv.error()) : FileStatus{file.string(), "no header row", 1};
  for (std::size_t i = 0; i < csv.size(); ++i) out.columns.push_back({std::string(csv.field(i)), {}, {}});
  while (csv.next()) {
    for (std::size_t i = 0; i < csv.size(); ++i) {
      Column& column = out.columns[i];
      const std::string_view field = csv.field(i);
      const auto value = csv_number(field);
      if (column.size() > 0 && value.has_value() != column.words.empty()) {
        return {file.string(),
                "column '" + column.name + "': '" + std::string(field.substr(0, 40)) +
                    (value ? "' is a number, the cells above are words" : "' is not a number"),
                csv.line()};
      }
      if (value) {
        column.numbers.push_back(*value);
      } else {
        column.words.emplace_back(field);
      }
    }
  }
  return csv.error() ? csv_failure(file, *csv.error()) : FileStatus{};
}

FileStatus read_run(const fs::path& directory, RunData& out) {
  out = {};
  if (FileStatus status = read_columns(directory / "trajectory.csv", out); !status.ok()) return status;
  if (FileStatus status = read_events(directory / "events.csv", out.events); !status.ok()) return status;
  if (FileStatus status = read_text(directory / "run.json", out.run_json); !status.ok()) return status;
  if (FileStatus status = read_text(directory / "state.json", out.state_json); !status.ok()) return status;
  out.name = (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  return {};
}

}  // namespace judder::io
