// Small tables for people: aligned text, or Markdown.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "judder/core/printable.hpp"

namespace judder::io {

/// Width on a terminal: characters, not bytes.
[[nodiscard]] inline std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// A name or a sentence inside a line: whole, but never two lines.
[[nodiscard]] inline std::string in_line(const std::string& text) {
  return printable_name(text, text.size() + 1);
}

/// Text inside Markdown: no table cells, no HTML, no links or pictures, no line of its own.
[[nodiscard]] inline std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable_name(text, 200)) {
    if (c == '|')
      out += "\\|";
    else if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '`' || (c == '(' && !out.empty() && out.back() == ']'))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

class TextTable {
 public:
  /// `right` are the numbers of the columns aligned to the right.
  TextTable(std::vector<std::string> titles, const std::vector<std::size_t>& right)
      : rows_{std::move(titles)}, right_(rows_.front().size(), false) {
    for (const std::size_t column : right) right_[column] = true;
  }

  /// Cells are names and numbers: what is longer than a line is cut, control characters are shown as text.
  void add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = printable_name(cell, 120);
    rows_.push_back(std::move(row));
  }
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }

  void drop_empty_columns() {
    for (std::size_t c = rows_.front().size(); c-- > 0;) {
      const bool used =
          std::any_of(rows_.begin() + 1, rows_.end(), [c](const auto& row) { return !row[c].empty(); });
      if (used || rows_.front().size() == 1) continue;
      for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
      right_.erase(right_.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }

  /// Empty without rows.
  [[nodiscard]] std::string text() const {
    if (empty()) return {};
    const std::vector<std::size_t> widths = column_widths();
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c)
        line += (c == 0 ? "" : "  ") + aligned(row[c], widths[c], right_[c]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

  [[nodiscard]] std::string markdown() const {
    const std::vector<std::size_t> widths = column_widths();
    std::string out;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::size_t c = 0; c < rows_[i].size(); ++c)
        out += "| " + aligned(escaped(rows_[i][c]), widths[c], right_[c]) + " ";
      out += "|\n";
      if (i > 0) continue;
      for (std::size_t c = 0; c < widths.size(); ++c)
        out += "|" + std::string(widths[c] + 1, '-') + (right_[c] ? ":" : "-");
      out += "|\n";
    }
    return out;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> column_widths() const {
    std::vector<std::size_t> widths(right_.size(), 0);
    for (const auto& row : rows_) {
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    return widths;
  }

  static std::string escaped(const std::string& text) { return markdown_text(text); }

  static std::string aligned(const std::string& text, std::size_t width, bool right) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return right ? space + text : text + space;
  }

  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

}  // namespace judder::io
