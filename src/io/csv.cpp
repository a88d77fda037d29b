#include "judder/io/csv.hpp"

#include <cmath>
#include <istream>
#include <limits>
#include <utility>

#include "core/convert.hpp"
#include "judder/core/number.hpp"

namespace judder::io {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr int kEnd = -1;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvReader::CsvReader(std::istream& in, CsvLimits limits) : in_(in), limits_(limits), block_(kBlock) {}

std::string_view CsvReader::field(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(content_).substr(begin, ends_[index] - begin);
}

int CsvReader::peek() {
  if (position_ == filled_) {
    if (!in_) return kEnd;
    in_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
    filled_ = static_cast<std::size_t>(in_.gcount());
    position_ = 0;
    if (filled_ == 0) return kEnd;
  }
  return static_cast<unsigned char>(block_[position_]);
}

int CsvReader::get() {
  const int c = peek();
  if (c != kEnd) ++position_;
  if (c == '\n') ++line_;
  return c;
}

bool CsvReader::fail(std::size_t line, std::string message) {
  error_ = CsvError{line, std::move(message)};
  content_.clear();
  ends_.clear();
  return false;
}

// After the opening quote.
bool CsvReader::read_quoted() {
  const std::size_t opened = line_;
  for (;;) {
    const int c = get();
    if (c == kEnd) return fail(opened, "a quoted field begins here and does not end");
    if (c == '"') {
      if (peek() != '"') break;
      get();
    }
    if (content_.size() >= limits_.record_bytes) return fail(opened, "the record is too long");
    content_.push_back(static_cast<char>(c));
  }
  const int next = peek();
  if (next != ',' && next != '\r' && next != '\n' && next != kEnd) {
    return fail(line_, "text after the closing quote of a field; a quote inside a field is written twice");
  }
  return true;
}

// Up to the comma or line end that follows, which stays in the stream.
bool CsvReader::read_field() {
  quoted_ = peek() == '"';
  if (quoted_) {
    get();
    return read_quoted();
  }
  for (int c = peek(); c != ',' && c != '\n' && c != '\r' && c != kEnd; c = peek()) {
    if (c == '"') return fail(line_, "a quote inside a field that does not begin with one");
    if (content_.size() >= limits_.record_bytes) return fail(line_, "the record is too long");
    content_.push_back(static_cast<char>(get()));
  }
  return true;
}

bool CsvReader::next() {
  if (error_) return false;
  if (std::exchange(at_start_, false) && peek() != kEnd &&
      std::string_view(block_.data(), filled_).starts_with(kByteOrderMark)) {
    position_ = kByteOrderMark.size();
  }
  for (;;) {
    content_.clear();
    ends_.clear();
    if (peek() == kEnd) return in_.bad() ? fail(line_, "the file cannot be read") : false;
    record_line_ = line_;
    for (bool more = true; more;) {
      if (ends_.size() >= limits_.fields) return fail(record_line_, "the record has too many fields");
      if (!read_field()) return false;
      ends_.push_back(content_.size());
      int separator = get();
      if (separator == '\r') {
        separator = get();
        if (separator != '\n') return fail(record_line_, "a carriage return that ends no line");
      }
      more = separator == ',';
    }
    const bool blank = ends_.size() == 1 && content_.empty() && !quoted_;
    if (!blank) break;
  }
  if (in_.bad()) return fail(line_, "the file cannot be read");
  if (expected_ == 0) expected_ = ends_.size();
  if (ends_.size() != expected_) {
    return fail(record_line_, "the record has " + std::to_string(ends_.size()) + " fields, the first has " +
                                  std::to_string(expected_));
  }
  return true;
}

void CsvWriter::separate() {
  if (fields_++ > 0) out_->push_back(',');
}

CsvWriter& CsvWriter::text(std::string_view field) {
  separate();
  empty_ = fields_ == 1 && field.empty();
  if (field.find_first_of(",\"\r\n") == std::string_view::npos && !field.starts_with(kByteOrderMark)) {
    out_->append(field);
    return *this;
  }
  out_->push_back('"');
  for (const char c : field) {
    if (c == '"') out_->push_back('"');
    out_->push_back(c);
  }
  out_->push_back('"');
  return *this;
}

CsvWriter& CsvWriter::number(double value) {
  separate();
  empty_ = false;
  append_number(*out_, value);
  return *this;
}

void CsvWriter::end_record() {
  if (fields_ == 1 && empty_) out_->append("\"\"");
  out_->push_back('\n');
  fields_ = 0;
  empty_ = false;
}

std::optional<double> csv_number(std::string_view field) {
  // What a run has computed may be smaller than what somebody may write.
  double value = 0;
  const NumberEnd end = read_number(field, value);
  if (end.error == std::errc{} && end.length == field.size() && std::isfinite(value)) return value;
  if (field == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (field == "inf") return std::numeric_limits<double>::infinity();
  if (field == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace judder::io
