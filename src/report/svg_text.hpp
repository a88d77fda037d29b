// The letters of an SVG file: escaping, numbers, widths of text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace judder::report {

/// Text for element content and attribute values. Bytes that XML 1.0 does not allow (control characters, broken UTF-8)
/// become U+FFFD, so that any column name gives a well-formed file.
[[nodiscard]] std::string escaped(std::string_view text);

/// A pixel coordinate with at most two decimals and no trailing zeros.
[[nodiscard]] std::string pixels(double value);

/// Width of a line of text in a common sans-serif font, in pixels; an estimate on the safe side.
[[nodiscard]] double text_width(std::string_view text, double font_size);

/// The text, or as much of it as `width` pixels hold with an ellipsis behind it.
[[nodiscard]] std::string fitted(std::string_view text, double font_size, double width);
/// The same on several lines, broken between words; what is too long for so many lines is cut in the last one. No text: no line.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double font_size, double width,
                                               std::size_t most_lines);

/// Appends elements to one string. Attribute values are escaped here, nowhere else.
class SvgWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

  void open(std::string_view element, Attributes attributes = {});
  void close(std::string_view element);
  void leaf(std::string_view element, Attributes attributes);
  /// <text> at (x, y); `anchor` is start, middle or end.
  void text(double x, double y, std::string_view content, double font_size, std::string_view anchor = "start",
            std::string_view colour = "#222", bool bold = false);
  /// The same with 10 and a raised exponent after the text.
  void power_of_ten(double x, double y, std::string_view before, std::string_view exponent, double font_size,
                    std::string_view anchor, std::string_view colour);
  /// <title>: the name of the picture, or the tip of a mark.
  void title(std::string_view content);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void begin(std::string_view element, Attributes attributes);
  std::string out_;
};

}  // namespace judder::report
