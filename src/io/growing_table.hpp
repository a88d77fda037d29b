// A table of a run folder that grows record by record: a buffer in front of the file, so that a write always ends with a whole record, and the check of
// what has been written, so that a commit costs what came since the last one.
#pragma once

#include <cstdint>
#include <string>

#include "io/disk.hpp"
#include "io/manifest.hpp"
#include "judder/io/csv.hpp"

namespace judder::io {

class GrowingTable {
 public:
  GrowingTable() : csv(buffer_) {}
  GrowingTable(const GrowingTable&) = delete;
  GrowingTable& operator=(const GrowingTable&) = delete;

  int create(const disk::Handle& folder, const std::string& name);
  /// What the buffer holds now is the header.
  void end_header() { header_ = buffer_; }
  /// Looks at a table that is to go on behind its committed records, under the header in the buffer. An empty text, or what is wrong.
  std::string take_up(const disk::Handle& folder, const std::string& name, const CommittedFile& committed);
  /// What stands behind the committed records goes, `more` bytes. ENODATA: there are others now.
  int go_on(std::uint64_t more);

  /// Whether the buffer holds as much as is written at once.
  [[nodiscard]] bool full() const;
  [[nodiscard]] const disk::Handle& file() const { return file_; }
  int flush();

  /// Of the whole records in the file, of those of the last commit, and with what is in the buffer.
  [[nodiscard]] std::uint64_t length() const { return length_; }
  [[nodiscard]] std::uint64_t saved() const { return committed_; }
  [[nodiscard]] std::uint64_t bytes() const { return length_ + buffer_.size(); }
  [[nodiscard]] CommittedFile committed(std::uint64_t records) const {
    return {length_, check_.text(), records};
  }
  void note_commit() { committed_ = length_; }

  /// Where whole records end, with their check.
  struct Place {
    std::uint64_t length = 0;
    disk::Check check;
  };
  [[nodiscard]] Place place() const { return {length_, check_}; }
  /// ENODATA: somebody else has cut the table, or written to it.
  int back_to(const Place& place);
  /// What came after the last commit is given up. False: it is still in the file, or something that this run has not written.
  bool back_to_commit();
  /// Nothing but the header.
  int back_to_header();
  int close() { return file_.close(); }

 private:
  disk::Handle file_;
  /// Whether nobody else has made the file longer, and it is not shorter than `least`.
  int is_ours(std::uint64_t least);

  std::uint64_t length_ = 0;     // of the whole records in the file
  std::uint64_t rest_ = 0;       // of a write that failed, where it could not be cut off
  std::uint64_t committed_ = 0;  // of those that belong to the last commit
  disk::Check check_;            // of the records in the file
  std::string header_;
  std::string buffer_;

 public:
  CsvWriter csv;
};

}  // namespace judder::io
