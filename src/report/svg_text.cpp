#include "svg_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/convert.hpp"
#include "judder/core/printable.hpp"

namespace judder::report {
namespace {

constexpr std::size_t kLongestLine = 200;  // characters; no picture is wide enough for more
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the UTF-8 sequence at the start of `text`, or 0 if there is none that XML 1.0 allows.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first > 0xF4 || text.size() < length) return 0;
  unsigned code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  // Allowed by XML but obeyed by viewers and terminals: C1 controls, ends of lines and marks of direction.
  const bool obeyed = (code >= 0x80 && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
                      (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F ||
                      code == 0x61C || code == 0xFEFF;
  const bool forbidden =
      obeyed || (code >= 0xD800 && code <= 0xDFFF) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
  return overlong || forbidden ? 0 : length;
}

// Advance of a character in units of the font size. Of the fonts that a reader may have (Helvetica, Arial, Liberation Sans, DejaVu Sans) DejaVu Sans is
// the widest: no letter is wider than its class here.
double advance(char c) {
  if (std::string_view("ijl'IJ").find(c) != std::string_view::npos) return 0.3;
  if (std::string_view(" .,:;|/\\-f").find(c) != std::string_view::npos) return 0.36;
  if (std::string_view("rt()[]!").find(c) != std::string_view::npos) return 0.42;
  if (std::string_view("mMwW%@").find(c) != std::string_view::npos) return 1;
  if (std::string_view("+=<>#&^~").find(c) != std::string_view::npos) return 0.84;
  if (c >= 'A' && c <= 'Z')
    return std::string_view("BEFLPSTY").find(c) != std::string_view::npos ? 0.69 : 0.79;
  return 0.64;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (text.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string pixels(double value) {
  const double cents = std::round(value * 100);
  if (cents == 0 || !std::isfinite(cents)) return "0";
  std::string text = fixed_text(cents / 100, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

double text_width(std::string_view text, double font_size) {
  double width = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(text));
    width += length == 1   ? advance(text.front())
             : length == 2 ? 0.92
                           : 1;  // accents, Greek, Cyrillic; signs and all others
    text.remove_prefix(length);
  }
  return width * font_size;
}

std::string fitted(std::string_view text, double font_size, double width) {
  // As it will be shown: control characters are written out, and are longer then.
  const std::string shown = printable_name(text, kLongestLine);
  if (text_width(shown, font_size) <= width) return shown;
  constexpr std::string_view kEllipsis = "…";
  std::string_view rest = shown;
  std::string out;
  double room = width - font_size;  // an ellipsis is as wide as high
  while (!rest.empty()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(rest));
    room -= text_width(rest.substr(0, length), font_size);
    if (room < 0) break;
    out += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + std::string(kEllipsis);
}

std::vector<std::string> wrapped(std::string_view text, double font_size, double width,
                                 std::size_t most_lines) {
  std::vector<std::string> out;
  while (!text.empty()) {
    if (out.size() + 1 >= most_lines || text_width(printable_name(text, kLongestLine), font_size) <= width) {
      out.push_back(fitted(text, font_size, width));
      break;
    }
    // Up to the last word that has room; a first one that has none is cut.
    std::size_t end = 0;
    for (std::size_t space = text.find(' '); space != std::string_view::npos;
         space = text.find(' ', space + 1)) {
      if (text_width(printable_name(text.substr(0, space), kLongestLine), font_size) > width) break;
      end = space;
    }
    if (end == 0) end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(fitted(text.substr(0, end), font_size, width));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void SvgWriter::begin(std::string_view element, Attributes attributes) {
  out_ += '<';
  out_ += element;
  for (const auto& [key, value] : attributes) {
    if (value.empty()) continue;
    out_ += ' ';
    out_ += key;
    out_ += "=\"";
    out_ += escaped(value);
    out_ += '"';
  }
}

void SvgWriter::open(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  out_ += ">\n";
}

void SvgWriter::close(std::string_view element) {
  out_ += "</";
  out_ += element;
  out_ += ">\n";
}

void SvgWriter::leaf(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  out_ += "/>\n";
}

void SvgWriter::text(double x, double y, std::string_view content, double font_size, std::string_view anchor,
                     std::string_view colour, bool bold) {
  begin("text", {{"x", pixels(x)},
                 {"y", pixels(y)},
                 {"font-size", pixels(font_size)},
                 {"text-anchor", anchor == "start" ? "" : std::string(anchor)},
                 {"font-weight", bold ? "600" : ""},
                 {"fill", std::string(colour)}});
  out_ += '>';
  out_ += escaped(printable_name(content, kLongestLine));
  out_ += "</text>\n";
}

void SvgWriter::power_of_ten(double x, double y, std::string_view before, std::string_view exponent,
                             double font_size, std::string_view anchor, std::string_view colour) {
  begin("text", {{"x", pixels(x)},
                 {"y", pixels(y)},
                 {"font-size", pixels(font_size)},
                 {"text-anchor", anchor == "start" ? "" : std::string(anchor)},
                 {"fill", std::string(colour)}});
  out_ += '>';
  out_ += escaped(before);
  out_ += "10<tspan dy=\"" + pixels(-0.38 * font_size) + "\" font-size=\"" + pixels(0.72 * font_size) + "\">";
  out_ += escaped(exponent);
  out_ += "</tspan></text>\n";
}

void SvgWriter::title(std::string_view content) {
  out_ += "<title>";
  out_ += escaped(printable(content));
  out_ += "</title>\n";
}

}  // namespace judder::report
