// Comma-separated values (RFC 4180), read as a stream and written into a buffer.
//
//     file   = record *( line-end record ) [ line-end ]        line-end = LF or CR LF
//     record = field *( "," field )
//     field  = text without , " CR LF   |   '"' any text, with "" for one quote, '"'
//
// Reading is strict where the standard is, because a silently shifted column is worse than a message: every record must
// have as many fields as the first, a quote may stand only at the ends of a field, a quoted field must end. Lenient
// where programs differ: LF and CR LF, a byte-order mark, blank lines (skipped), a missing line end after the last record.
// Text is bytes; UTF-8 passes through. Nothing is trimmed.
//
// Writing ends lines with LF and quotes a field only where it must be: if it holds a comma, a quote or a line end, or if
// it is the only field of its record and empty (it would be a blank line). What is written reads back as the same fields.
// Numbers are the shortest text that reads back as the same double, in every locale.
//
// RFC 4180, Common Format and MIME Type for CSV Files (2005).
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace judder::io {

/// What a reader accepts before it gives up, so that a wrong file cannot take all memory.
struct CsvLimits {
  std::size_t record_bytes = std::size_t{1} << 24;  ///< longest record, in bytes of content
  std::size_t fields = std::size_t{1} << 16;        ///< most fields of a record
};

/// What is wrong with the text, and where.
struct CsvError {
  std::size_t line = 0;  ///< from 1; for a quoted field that never ends, the line where it began
  std::string message;   ///< one sentence without full stop
};

/// Reads record by record; memory is one record and one block of the stream.
///
///     CsvReader csv(stream);
///     while (csv.next()) use(csv.field(0));
///     if (csv.error()) complain(*csv.error());
class CsvReader {
 public:
  /// The stream must outlive the reader.
  explicit CsvReader(std::istream& in, CsvLimits limits = {});

  /// Goes to the next record. False at the end of the stream and at the first error, for ever after.
  bool next();

  /// Fields of the present record; views are valid until the next call of `next`.
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view field(std::size_t index) const;

  /// The line on which the present record begins, from 1.
  [[nodiscard]] std::size_t line() const { return record_line_; }

  [[nodiscard]] const std::optional<CsvError>& error() const { return error_; }

 private:
  int peek();
  int get();
  bool read_field();
  bool read_quoted();
  bool fail(std::size_t line, std::string message);

  std::istream& in_;
  CsvLimits limits_;
  std::vector<char> block_;
  std::size_t position_ = 0;  // in block_
  std::size_t filled_ = 0;
  std::string content_;            // of the present record, fields one after another
  std::vector<std::size_t> ends_;  // end of each field in content_
  std::size_t line_ = 1;
  std::size_t record_line_ = 0;
  std::size_t expected_ = 0;  // fields of the first record; 0 before it
  bool quoted_ = false;       // the last field read was quoted
  bool at_start_ = true;
  std::optional<CsvError> error_;
};

/// Appends records to a string that the caller owns and may empty at any time between records.
class CsvWriter {
 public:
  explicit CsvWriter(std::string& out) : out_(&out) {}

  CsvWriter& text(std::string_view field);
  CsvWriter& number(double value);
  void end_record();

 private:
  void separate();

  std::string* out_;
  std::size_t fields_ = 0;
  bool empty_ = false;  // the record so far is one empty field
};

/// A number as a CsvWriter writes it: finite, or one of "nan", "inf", "-inf". Nothing for any other text.
[[nodiscard]] std::optional<double> csv_number(std::string_view field);

}  // namespace judder::io
