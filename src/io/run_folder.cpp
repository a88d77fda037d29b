#include "judder/io/run_folder.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <istream>
#include <optional>
#include <streambuf>
#include <system_error>

#include "io/disk.hpp"
#include "io/event_table.hpp"
#include "io/folder_lock.hpp"
#include "io/manifest.hpp"
#include "judder/io/csv.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

FileStatus failure(const fs::path& file, int code) {
  if (code == ELOOP) return {file.string(), "is a symbolic link; the files of a run are none", 0};
  if (code == EFBIG) return {file.string(), "is longer than any that a run writes", 0};
  return {file.string(), disk::not_read(code), 0};
}

std::optional<std::uint64_t> parse_mode(std::string_view text) {
  std::uint64_t mode = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), mode, 16);
  if (text.size() != 16 || result.ec != std::errc{} || result.ptr != text.data() + text.size())
    return std::nullopt;
  return mode;
}

/// The first bytes of an open file as a stream.
class Source : public std::streambuf {
 public:
  Source(const disk::Handle& file, std::uint64_t bytes) : file_(file), left_(bytes) {}

 protected:
  int_type underflow() override {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(block_.size(), left_));
    ssize_t got = 0;
    do got = want > 0 ? ::read(file_.number(), block_.data(), want) : 0;
    while (got < 0 && errno == EINTR);
    // What a stream does with an exception is to be bad, which its reader tells from the end.
    if (got < 0) throw std::system_error(errno, std::generic_category());
    if (got == 0) return traits_type::eof();
    left_ -= static_cast<std::uint64_t>(got);
    setg(block_.data(), block_.data(), block_.data() + got);
    return traits_type::to_int_type(block_.front());
  }

 private:
  const disk::Handle& file_;
  std::uint64_t left_;
  std::array<char, std::size_t{1} << 16> block_{};
};

/// A file, or what of it belongs to a run, with its own handle.
class FileStream : public std::istream {
 public:
  FileStream(disk::Handle file, std::uint64_t bytes)
      : std::istream(nullptr), file_(std::move(file)), source_(file_, bytes) {
    rdbuf(&source_);
  }

 private:
  disk::Handle file_;
  Source source_;
};

FileStatus csv_failure(const fs::path& path, const CsvError& error) {
  return {path.string(), error.message, error.line};
}

FileStatus read_events(const disk::Handle& file, const fs::path& path, std::uint64_t bytes,
                       std::vector<Event>& out, std::vector<std::string>& columns) {
  Source source(file, bytes);
  std::istream in(&source);
  CsvReader csv(in);
  if (!csv.next())
    return csv.error() ? csv_failure(path, *csv.error()) : FileStatus{path.string(), "no header row", 1};
  if (csv.size() < kEventNumbers) {
    return {path.string(), "not a table of events: wrong number of columns", 1};
  }
  for (std::size_t i = 0; i < kEventNumbers; ++i) {
    if (csv.field(i) != kEventHeader[i]) {
      return {path.string(),
              "column '" + std::string(csv.field(i)) + "' should be '" + std::string(kEventHeader[i]) + "'",
              1};
    }
  }
  const std::size_t first_state = event_state_begin(csv);
  for (std::size_t i = first_state; i < csv.size(); ++i) columns.emplace_back(csv.field(i));
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
    for (std::size_t i = kEventNumbers; i < first_state; ++i)
      event.tangential_impulse[i - kEventNumbers + 1] = number(i);
    for (std::size_t i = first_state; i < csv.size(); ++i) event.state.push_back(number(i));
    if (!good || !mode) return {path.string(), "a cell that should be a number is none", csv.line()};
    out.push_back(std::move(event));
  }
  return csv.error() ? csv_failure(path, *csv.error()) : FileStatus{};
}

FileStatus read_table(const disk::Handle& handle, const fs::path& file, std::uint64_t bytes, RunData& out) {
  Source source(handle, bytes);
  std::istream in(&source);
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

/// A file of the folder with the number of its bytes that belong to the run.
struct Found {
  disk::Handle file;
  fs::path path;
  std::uint64_t bytes = kAll;
};

/// The file under its name, or under that of a draft if a kill came between two renames.
FileStatus find_committed(const fs::path& path, const CommittedFile& committed, Found& out) {
  constexpr std::size_t kMostDrafts = 64;
  std::vector<fs::path> places{path};
  std::error_code ignored;
  for (fs::directory_iterator at(path.parent_path(), ignored), end; at != end && !ignored;
       at.increment(ignored)) {
    if (places.size() <= kMostDrafts &&
        FolderLock::is_draft(at->path().filename().string(), path.filename().string()))
      places.push_back(at->path());
  }
  FileStatus unreadable;
  for (const fs::path& place : places) {
    disk::Check check;
    int error = disk::open_to_read(place, out.file, disk::Links::refuse);
    if (error == 0) error = disk::check_of(out.file, committed.bytes, check);
    if (error == 0 && check.text() == committed.check) {
      out.path = place;
      out.bytes = committed.bytes;
      return {};
    }
    // Not there, too short or of another kind: it is not the file. Whatever cannot be read may be it.
    const bool other = error == 0 || error == ENOENT || error == ENODATA || error == ELOOP ||
                       error == ENOTSUP || error == EISDIR || error == ENXIO;
    if (!other && unreadable.ok()) unreadable = failure(place, error);
  }
  if (!unreadable.ok()) return unreadable;
  return {path.string(),
          "is not the file that state.json belongs to: it was changed, cut or taken away after the run", 0};
}

FileStatus read_all(const Found& found, std::string& out) {
  if (!found.file) return {};
  Source source(found.file, std::min<std::uint64_t>(found.bytes, kMostJson));
  try {
    out.assign(std::istreambuf_iterator<char>(&source), {});
  } catch (const std::system_error& error) {
    return failure(found.path, error.code().value());
  }
  return {};
}

/// Of a folder without a list of its files, as earlier versions and other programs write them.
FileStatus find_plain(const fs::path& path, bool required, Found& out) {
  out.path = path;
  const int error = disk::open_to_read(path, out.file, disk::Links::refuse);
  return error == 0 || (error == ENOENT && !required) ? FileStatus{} : failure(path, error);
}

FileStatus find_files(const fs::path& directory, RunData& out, std::array<Found, 3>& found) {
  out = {};
  const int error = disk::read_bounded(directory / kState, kMostJson, out.state_json, disk::Links::refuse);
  if (error != 0 && error != ENOENT && error != ENOTDIR) return failure(directory / kState, error);
  if (std::string damage = error == 0 ? damage_of(out.state_json) : std::string(); !damage.empty())
    return {(directory / kState).string(), damage + "; without the file the tables are read as they are", 0};
  const std::optional<Manifest> manifest = read_manifest(out.state_json);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const fs::path path = directory / kOwn[i];
    FileStatus status;
    if (manifest)
      status = find_committed(path, manifest->of(kOwn[i]), found[i]);
    else
      status = find_plain(path, i == 0, found[i]);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

std::size_t event_state_begin(const CsvReader& csv) {
  std::size_t i = kEventNumbers;
  while (i < csv.size() && i < kEventHeader.size() && csv.field(i) == kEventHeader[i]) ++i;
  return i;
}

std::string FileStatus::text() const {
  return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + message;
}

const Column* RunData::find(std::string_view column) const {
  for (const Column& candidate : columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

FileStatus read_columns(const fs::path& file, RunData& out) {
  out.columns.clear();
  out.name = file.stem().string();
  disk::Handle handle;
  if (const int error = disk::open_to_read(file, handle); error != 0) return failure(file, error);
  return read_table(handle, file, kAll, out);
}

FileStatus read_state_text(const fs::path& directory, std::string& out) {
  const fs::path file = directory / kState;
  const int error = disk::read_bounded(file, kMostJson, out, disk::Links::refuse);
  if (error == ENOTDIR)
    return {directory.string(), "is no folder of a run; name the folder, not a file in it"};
  const fs::path hidden = hidden_folder(directory);
  std::error_code ignored;
  if (error == ENOENT && !fs::exists(directory, ignored) && fs::exists(hidden / kState, ignored))
    return {directory.string(), "is not there, but " + hidden.string() +
                                    " is, a run that could not get its name: rename it, and then take it up"};
  if (error == ENOENT && !fs::exists(directory, ignored))
    return {directory.string(), "is not there; --resume names the folder of a run"};
  for (const std::string& own : kOwn) {
    if (error == ENOENT && fs::exists(fs::symlink_status(directory / own, ignored)))
      return {file.string(), "is missing, although " + own +
                                 " is there: take it from a copy of the folder, or run the model anew into "
                                 "another folder with -o"};
  }
  if (error == ENOENT)
    return {file.string(), "is not there: nothing of a run was saved; run the model without --resume"};
  return error == 0 ? FileStatus{} : failure(file, error);
}

FileStatus read_run_json(const fs::path& directory, std::string& out) {
  const fs::path file = directory / kRun;
  const int error = disk::read_bounded(file, kMostJson, out, disk::Links::refuse);
  return error == 0 ? FileStatus{} : failure(file, error);
}

namespace {

/// A run that is going on may replace the files between two looks at them.
FileStatus find_files_again(const fs::path& directory, RunData& out, std::array<Found, 3>& found) {
  constexpr int kTries = 4;
  FileStatus status;
  for (int i = 0; i < kTries; ++i) {
    found = {};
    status = find_files(directory, out, found);
    if (status.ok()) break;
  }
  return status;
}

}  // namespace

FileStatus open_run(const fs::path& directory, std::size_t most_json, OpenRun& out) {
  out = {};
  RunData texts;
  std::array<Found, 3> found;
  if (FileStatus status = find_files_again(directory, texts, found); !status.ok()) return status;
  auto& [trajectory, events, run] = found;
  struct stat about {};
  if (run.file && ::fstat(run.file.number(), &about) == 0 &&
      static_cast<std::uint64_t>(about.st_size) <= most_json) {
    if (FileStatus status = read_all(run, out.run_json); !status.ok()) return status;
  }
  out.trajectory = std::make_unique<FileStream>(std::move(trajectory.file), trajectory.bytes);
  out.trajectory_file = trajectory.path;
  if (events.file) out.events = std::make_unique<FileStream>(std::move(events.file), events.bytes);
  out.events_file = events.path;
  return {};
}

FileStatus open_table(const fs::path& file, std::unique_ptr<std::istream>& out) {
  disk::Handle handle;
  if (const int error = disk::open_to_read(file, handle); error != 0) return failure(file, error);
  out = std::make_unique<FileStream>(std::move(handle), kAll);
  return {};
}

FileStatus read_run(const fs::path& directory, RunData& out) {
  std::array<Found, 3> found;
  FileStatus status = find_files_again(directory, out, found);
  if (!status.ok()) return status;
  const auto& [trajectory, events, run] = found;
  if (status = read_table(trajectory.file, trajectory.path, trajectory.bytes, out); !status.ok())
    return status;
  if (events.file) {
    if (status = read_events(events.file, events.path, events.bytes, out.events, out.event_columns);
        !status.ok())
      return status;
  }
  if (status = read_all(run, out.run_json); !status.ok()) return status;
  out.name = (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  return {};
}

}  // namespace judder::io
