#include "io/growing_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace judder::io {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;

}  // namespace

bool GrowingTable::full() const { return buffer_.size() >= kBuffer; }

int GrowingTable::create(const disk::Handle& folder, const std::string& name) {
  buffer_.reserve(kBuffer + kBuffer / 8);
  const int error = disk::create(folder, name, file_);
  return error == 0 ? disk::only_append(file_) : error;
}

std::string GrowingTable::take_up(const disk::Handle& folder, const std::string& name,
                                  const CommittedFile& committed) {
  if (const int error = disk::open_regular(folder, name, true, file_); error != 0)
    return disk::not_written(error);
  if (const int error = disk::only_append(file_); error != 0) return disk::not_written(error);
  struct stat about {};
  if (::fstat(file_.number(), &about) != 0) return disk::not_read(errno);
  if (about.st_nlink > 1)
    return "has a second name (a hard link), under which it would grow as well; put a copy in its place, "
           "or go on "
           "in another folder with -o";
  std::uint64_t lines = 0;
  if (const int error = disk::check_of(file_, committed.bytes, check_, &lines); error != 0)
    return disk::not_read(error);
  std::string first(std::min<std::uint64_t>(header_.size(), committed.bytes), '\0');
  const ssize_t got = ::pread(file_.number(), first.data(), first.size(), 0);
  if (got < 0) return disk::not_read(errno);
  if (got != static_cast<ssize_t>(first.size()) || first != header_)
    return "has other columns than this run, which cannot go on in it; ask for the same columns, or go on "
           "in another folder with -o";
  // A record is a line; the first names the columns.
  if (lines != committed.records + 1)
    return "holds " + std::to_string(lines - 1) + " records, and state.json lists " +
           std::to_string(committed.records) + ": take both from a copy, or go on in another folder with -o";
  length_ = committed_ = committed.bytes;
  buffer_.clear();
  return {};
}

int GrowingTable::is_ours(std::uint64_t least) {
  std::uint64_t there = 0;
  if (const int error = disk::size_of(file_, there); error != 0) return error;
  return there < least || there > length_ + rest_ ? ENODATA : 0;
}

int GrowingTable::go_on(std::uint64_t more) {
  std::uint64_t there = 0;
  if (const int error = disk::size_of(file_, there); error != 0) return error;
  return there == length_ + more ? disk::cut(file_, length_) : ENODATA;
}

int GrowingTable::flush() {
  if (buffer_.empty()) return 0;
  std::size_t written = 0;
  if (const int error = disk::write_all(file_, buffer_, &written); error != 0) {
    rest_ = written;
    // Back to whole records, unless somebody else has put something behind them.
    if (is_ours(length_) == 0 && disk::cut(file_, length_) == 0) rest_ = 0;
    return error;
  }
  length_ += buffer_.size();
  check_.add(buffer_);
  buffer_.clear();
  return 0;
}

int GrowingTable::back_to(const Place& place) {
  buffer_.clear();
  if (const int error = is_ours(place.length); error != 0) return error;
  length_ = place.length;
  check_ = place.check;
  rest_ = 0;
  return disk::cut(file_, length_);
}

bool GrowingTable::back_to_commit() {
  buffer_.clear();
  std::uint64_t there = 0;
  if (!file_) return true;
  if (disk::size_of(file_, there) != 0 || there > length_ + rest_) return false;
  return there <= committed_ || disk::cut(file_, committed_) == 0;
}

int GrowingTable::back_to_header() {
  if (const int error = is_ours(0); error != 0) return error;
  buffer_ = header_;
  check_ = {};
  length_ = rest_ = 0;
  return disk::cut(file_, 0);
}

}  // namespace judder::io
