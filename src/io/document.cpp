#include "io/document.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "io/utf8.hpp"
#include "judder/core/number.hpp"

namespace judder::io {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// From the library's lines and columns (counted in characters) to bytes, in constant time.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {
    lines_.push_back(0);
    std::uint32_t character = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (continues_character(text[i])) continue;
      if (character % kStride == 0) marks_.push_back(static_cast<std::uint32_t>(i));
      ++character;
      if (text[i] == '\n') lines_.push_back(character);
    }
  }

  [[nodiscard]] std::uint32_t offset(toml::source_position at) const {
    if (at.line == 0) return 0;
    if (at.line > lines_.size()) return static_cast<std::uint32_t>(text_.size());
    const std::uint32_t character = lines_[at.line - 1] + (at.column > 0 ? at.column - 1 : 0);
    if (character / kStride >= marks_.size()) return static_cast<std::uint32_t>(text_.size());
    std::size_t i = marks_[character / kStride];
    for (std::uint32_t left = character % kStride; left > 0 && i < text_.size(); --left) {
      do ++i;
      while (i < text_.size() && continues_character(text_[i]));
    }
    return static_cast<std::uint32_t>(i);
  }

  [[nodiscard]] Span span(const toml::source_region& region) const {
    const Span span{offset(region.begin), offset(region.end)};
    return span.end > span.begin ? span : Span{span.begin, span.begin + 1};
  }

 private:
  static constexpr std::uint32_t kStride = 64;
  std::string_view text_;
  std::vector<std::uint32_t> lines_;  // number of the first character of each line
  std::vector<std::uint32_t> marks_;  // byte of every kStride-th character
};

void append_utf8(std::string& out, std::vector<std::uint32_t>& origin, std::uint32_t code, std::size_t at) {
  const std::size_t before = out.size();
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
  origin.insert(origin.end(), out.size() - before, static_cast<std::uint32_t>(at));
}

/// Decodes the inside of a basic string, raw[i, end), keeping the file byte of each decoded byte.
std::string decode(std::string_view raw, std::size_t i, std::size_t end, std::size_t base,
                   std::vector<std::uint32_t>& origin) {
  std::string out;
  while (i < end) {
    if (raw[i] == '\r' && i + 1 < end && raw[i + 1] == '\n') {
      ++i;
      continue;
    }
    if (raw[i] != '\\' || i + 1 >= end) {
      origin.push_back(static_cast<std::uint32_t>(base + i));
      out += raw[i++];
      continue;
    }
    const std::size_t at = base + i;
    const char escape = raw[i + 1];
    i += 2;
    constexpr std::string_view letters = "btnfr\"\\";
    constexpr std::string_view meanings = "\b\t\n\f\r\"\\";
    if (const std::size_t k = letters.find(escape); k != std::string_view::npos) {
      origin.push_back(static_cast<std::uint32_t>(at));
      out += meanings[k];
    } else if (escape == 'u' || escape == 'U') {
      std::uint32_t code = 0;
      for (int digits = escape == 'u' ? 4 : 8; digits > 0 && i < end; --digits, ++i) {
        const char c = raw[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        code = code * 16 + static_cast<std::uint32_t>(digit & 0xF);
      }
      append_utf8(out, origin, code, at);
    } else {  // a backslash at the end of a line swallows the white space after it
      while (i < end && std::string_view(" \t\r\n").find(raw[i]) != std::string_view::npos) ++i;
    }
  }
  return out;
}

/// The place of a string (or quoted key) whose value is `value` and whose token is text[span].
model::Text placed_text(std::string_view text, Span span, std::string value) {
  model::Text out;
  out.text = std::move(value);
  out.span = span;
  const std::string_view raw = text.substr(span.begin, span.end - span.begin);
  if (raw.empty() || (raw[0] != '"' && raw[0] != '\'')) {
    out.quote = 0;
    return out;
  }
  const bool lines = raw.size() >= 6 && raw[1] == raw[0] && raw[2] == raw[0];
  std::size_t begin = lines ? 3 : 1;
  const std::size_t end = raw.size() - begin;
  if (lines && raw.substr(begin, 2) == "\r\n")
    begin += 2;
  else if (lines && raw.substr(begin, 1) == "\n")
    begin += 1;
  out.quote = static_cast<std::uint32_t>(begin);
  if (end < begin || raw.substr(begin, end - begin) == out.text) return out;
  std::vector<std::uint32_t> origin;
  if (decode(raw, begin, end, span.begin, origin) == out.text) out.origin = std::move(origin);
  return out;
}

constexpr const char* kNumbersLie = "numbers lie between 2.3e-308 and 1.7e308; write 0 for nothing";

class Converter {
 public:
  Converter(std::string_view text, const Places& places, Diagnostics& diagnostics)
      : text_(text), places_(places), diagnostics_(diagnostics) {}

  [[nodiscard]] Item convert(const toml::node& node) const {
    Item item;
    item.span = places_.span(node.source());
    switch (node.type()) {
      case toml::node_type::table:
        members(*node.as_table(), item);
        break;
      case toml::node_type::array: {
        item.kind = ItemKind::list;
        const std::string_view start = text_.substr(item.span.begin, 2);
        item.header = node.is_array_of_tables() && start == "[[";
        for (const toml::node& element : *node.as_array()) item.items.push_back(convert(element));
        // The region of [[x]] reaches to its last header; the first one is its place.
        if (item.header && !item.items.empty()) item.span = item.items.front().span;
        break;
      }
      case toml::node_type::string:
        item.kind = ItemKind::text;
        item.text = placed_text(text_, item.span, node.as_string()->get());
        break;
      case toml::node_type::integer:
        item.kind = ItemKind::number;
        item.number = static_cast<double>(node.as_integer()->get());
        break;
      case toml::node_type::floating_point:
        item.kind = ItemKind::number;
        item.number = node.as_floating_point()->get();
        check_size(item);
        break;
      case toml::node_type::boolean:
        item.kind = ItemKind::boolean;
        item.boolean = node.as_boolean()->get();
        break;
      default:
        item.kind = ItemKind::date;
        break;
    }
    return item;
  }

 private:
  void members(const toml::table& table, Item& item) const {
    item.kind = ItemKind::table;
    for (const auto& [key, value] : table) {
      Item member = convert(value);
      member.key = placed_text(text_, places_.span(key.source()), std::string(key.str()));
      item.items.push_back(std::move(member));
    }
    std::stable_sort(item.items.begin(), item.items.end(),
                     [](const Item& a, const Item& b) { return a.key.span.begin < b.key.span.begin; });
  }

  /// A text of digits that reads as zero, or as a number of which the last bits are gone, is not what was meant.
  void check_size(const Item& item) const {
    if (!(std::abs(item.number) < std::numeric_limits<double>::min())) return;
    const std::string_view written = text_.substr(item.span.begin, item.span.end - item.span.begin);
    const std::string_view digits = written.substr(0, written.find_first_of("eE"));
    if (digits.find_first_of("123456789") == std::string_view::npos) return;
    diagnostics_.error(item.span, "", "the number " + std::string(written.substr(0, 60)) + " is too small",
                       kNumbersLie);
  }

  std::string_view text_;
  const Places& places_;
  Diagnostics& diagnostics_;
};

/// What the text holds outside strings and comments; finds what would exhaust a recursive parser.
struct Extent {
  std::size_t values = 0;
  std::optional<std::size_t> too_deep, too_many;  ///< byte
};

Extent measure(std::string_view text) {
  Extent extent;
  std::vector<int> open;  // keys dotted before each open bracket
  int dots = 0;           // of the present key
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      dots = 0;
      continue;
    }
    if (c == '"' || c == '\'') {
      const bool lines = text.substr(i, 3) == std::string(3, c);
      const std::size_t width = lines ? 3 : 1;
      for (i += width; i < text.size(); ++i) {
        if (c == '"' && text[i] == '\\')
          ++i;
        else if (!lines && text[i] == '\n')
          break;
        else if (text.substr(i, width) == std::string(width, c))
          break;
      }
      i += width - 1;
      continue;
    }
    switch (c) {
      case '.':
        ++dots;
        break;
      case '[':
      case '{':
        open.push_back(dots);
        depth += dots + 1;
        dots = 0;
        break;
      case ']':
      case '}':
        if (!open.empty()) {
          depth -= open.back() + 1;
          open.pop_back();
        }
        dots = 0;
        break;
      case ',':
        dots = 0;
        ++extent.values;
        break;
      case '=':
        ++extent.values;
        break;
      case '\n':
        dots = 0;
        break;
      default:
        break;
    }
    if (depth + dots > kMaxDepth && !extent.too_deep) extent.too_deep = i;
    if (extent.values > kMaxValues && !extent.too_many) extent.too_many = i;
  }
  return extent;
}

std::string_view line_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// What beginners write in place of TOML, seen from where the library stopped reading: an expression or a unit behind a number, a key with an index or a
/// prime. Empty: something else.
std::string slip_of_the_pen(std::string_view text, std::string_view line, std::size_t place) {
  const auto begin = static_cast<std::size_t>(line.data() - text.data());
  const std::size_t at = std::min(place - std::min(begin, place), line.size());
  const auto trimmed = [](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    part.remove_suffix(part.size() - std::min(part.find_last_not_of(" \t") + 1, part.size()));
    return part;
  };
  // The key before the last `=`, and what stands behind that: a value, up to the next comma, bracket or comment.
  const std::size_t equals = line.substr(0, at).rfind('=');
  if (equals == std::string_view::npos) {
    const std::size_t sign = line.find('=', at);
    if (sign == std::string_view::npos) return {};
    const std::size_t start = line.find_last_of("{,", at);
    const std::size_t from = start == std::string_view::npos ? 0 : start + 1;
    const std::string key(trimmed(line.substr(from, sign - from)));
    if (key.empty() || !is_letter(key[0]) || key.find_first_of("['") == std::string::npos) return {};
    return "a name with an index or a prime stands in quotes: \"" + key + "\" = …";
  }
  // Inside a table in braces the `=` of the table stands before the key.
  const std::string_view behind = line.substr(equals + 1);
  const std::size_t start = behind.find_last_of("{,", at - equals - 1);
  if (start != std::string_view::npos && at - equals - 1 > start) {
    const std::size_t sign = behind.find('=', start);
    const std::string key(trimmed(behind.substr(start + 1, sign - std::min(sign, start + 1))));
    if (sign != std::string_view::npos && !key.empty() && is_letter(key[0]) &&
        key.find_first_of("['") != std::string::npos)
      return "a name with an index or a prime stands in quotes: \"" + key + "\" = …";
  }
  const std::string value(trimmed(behind.substr(0, behind.find_first_of(",]}#"))));
  std::size_t number = value.find_first_not_of("+-.0123456789_");
  if (number == 0 || number == std::string::npos || value.find_first_of("0123456789") > number) return {};
  // An exponent belongs to the number.
  if ((value[number] == 'e' || value[number] == 'E') && number + 1 < value.size() &&
      std::string_view("+-0123456789").find(value[number + 1]) != std::string_view::npos)
    number = std::min(value.find_first_not_of("+-0123456789", number + 1), value.size());
  const std::string_view rest = trimmed(std::string_view(value).substr(number));
  if (rest.empty()) return {};
  if (is_letter(rest[0]) || rest[0] == '%')
    return "numbers stand without units: write " + value.substr(0, number) +
           " and the unit in a comment, # " + std::string(rest) + "; expressions stand in double quotes";
  if (std::string_view("+-*/^(").find(rest[0]) != std::string_view::npos)
    return "expressions stand in double quotes: \"" + value + "\"";
  return {};
}

/// A message of the TOML library in our words; `span` may move to the key that is meant.
Diagnostic syntax_error(std::string_view text, Span span, std::string_view description) {
  Diagnostic out;
  out.span = span;
  const std::string_view line = line_of(text, span.begin);
  if (const std::size_t colon = description.find(": "); colon != std::string_view::npos) {
    description.remove_prefix(colon + 2);
  }
  const auto contains = [](std::string_view where, std::string_view what) {
    return where.find(what) != std::string_view::npos;
  };
  if (contains(description, "cannot redefine")) {
    const std::size_t quote = description.find('\'');
    const std::size_t closing = quote == std::string_view::npos ? quote : description.find('\'', quote + 1);
    const std::string_view name = closing == std::string_view::npos
                                      ? std::string_view("of this name")
                                      : description.substr(quote, closing + 1 - quote);
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    const bool header = line.substr(indent, 1) == "[";
    out.message = header ? "the table " + std::string(name) + " is given twice"
                         : "the key " + std::string(name) + " is given twice";
    out.help = header ? "join the two tables; several elements of one kind are written [[name]]"
                      : "remove one of them";
    const auto begin = static_cast<std::uint32_t>(line.data() - text.data() + indent);
    const std::size_t end = header ? line.find_last_of(']') : line.find_first_of("= \t", indent);
    if (end != std::string_view::npos && begin < span.begin + 1) {
      out.span = {begin, static_cast<std::uint32_t>(line.data() - text.data() + end + (header ? 1 : 0))};
    }
    return out;
  }
  if (contains(description, "could not determine value type")) {
    out.message = "this is neither a number nor true, false, a list, a table or a text in quotes";
    out.help = "expressions stand in double quotes: \"x + 1\"";
    return out;
  }
  if (contains(description, "unescaped control characters")) {
    const bool line_ends = span.begin >= text.size() || text[span.begin] == '\n' || text[span.begin] == '\r';
    out.message =
        line_ends ? "the closing quote of this text is missing" : "a control character stands in this text";
    out.help = line_ends ? "a text over several lines stands in three pairs of quotes: \"\"\"…\"\"\""
                         : "write it as an escape: \\u0007";
    return out;
  }
  if (contains(description, "encountered end-of-file")) {
    out.message = "the file ends inside a text, a list or a table";
    return out;
  }
  if (contains(description, "could not be interpreted as a value")) {
    // The place is behind the number.
    const std::size_t quote = description.find('\'');
    const std::size_t closing = quote == std::string_view::npos ? quote : description.find('\'', quote + 1);
    if (closing != std::string_view::npos) {
      const std::string_view number = description.substr(quote + 1, closing - quote - 1);
      out.message = "the number " + std::string(number.substr(0, 60)) + " is too large";
      out.help = kNumbersLie;
      if (const std::size_t at = line.find(number); at != std::string_view::npos) {
        const auto begin = static_cast<std::uint32_t>(line.data() - text.data() + at);
        out.span = {begin, begin + static_cast<std::uint32_t>(number.size())};
      }
      return out;
    }
  }
  const std::size_t place = std::min<std::size_t>(span.begin, text.size());
  if (place < text.size() && (static_cast<unsigned char>(text[place]) & 0x80U) != 0 &&
      contains(description, "saw")) {
    out.message = "a letter outside ASCII stands in a key without quotes, or where a value should end";
    out.help = "names are a letter, then letters, digits and underscores; other keys stand in quotes";
    return out;
  }
  out.message = "not valid TOML: " + std::string(description);
  if (const std::size_t at = out.message.find("saw '\\n'"); at != std::string::npos) {
    out.message.replace(at, 8, "saw the end of the line");
  }
  if (contains(line, "= '") && contains(description, "saw")) {
    out.help = "a text in single quotes ends at the first prime; write expressions in double quotes";
  } else if (contains(description, "saw ','")) {
    out.help = "the decimal sign is a point; a list stands in brackets: [1, 5]";
  } else if (contains(description, "leading zeroes")) {
    out.help = "write the number without zeros in front";
  } else if (contains(description, "not representable")) {
    out.help = "write a large number with an exponent: 1e20";
  } else if (contains(description, "closing '}'")) {
    out.help = "a table in braces is one line; a longer one stands under its own header: [output.columns]";
  } else if (contains(line, "//")) {
    out.help = "comments begin with #";
  } else {
    out.help = slip_of_the_pen(text, line, span.begin);
  }
  return out;
}

}  // namespace

const Item* Item::find(std::string_view name) const {
  for (const Item& item : items) {
    if (item.key.text == name) return &item;
  }
  return nullptr;
}

const char* kind_in_words(ItemKind kind) {
  constexpr std::array<const char*, 6> words{"a table",  "a list",        "a text",
                                             "a number", "a truth value", "a date or time"};
  return words.at(static_cast<std::size_t>(kind));
}

std::optional<Item> parse_document(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kMaxBytes) {
    const auto at = static_cast<std::uint32_t>(kMaxBytes);
    diagnostics.error({at, at + 1}, "", "the file is larger than 4 MiB",
                      "put long lists and matrices into data files: { file = \"data.csv\" }");
    return std::nullopt;
  }
  if (const auto bad = first_invalid_utf8(text)) {
    const auto at = static_cast<std::uint32_t>(*bad);
    diagnostics.error({at, at + 1}, "", "this byte is not part of a UTF-8 text",
                      "save the file with the encoding UTF-8");
    return std::nullopt;
  }
  const Extent extent = measure(text);
  if (extent.too_deep) {
    const auto at = static_cast<std::uint32_t>(*extent.too_deep);
    diagnostics.error({at, at + 1}, "",
                      "tables and lists are nested deeper than " + std::to_string(kMaxDepth) + " levels");
    return std::nullopt;
  }
  if (extent.too_many) {
    const auto at = static_cast<std::uint32_t>(*extent.too_many);
    diagnostics.error({at, at + 1}, "", "the file holds more than " + std::to_string(kMaxValues) + " values",
                      "put long lists and matrices into data files: { file = \"data.csv\" }");
    return std::nullopt;
  }
  const std::size_t mark = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  // Blanks in place of a byte-order mark keep every offset.
  std::string clean(text);
  std::fill_n(clean.begin(), mark, ' ');
  const Places places(clean);
  try {
    const toml::table root = toml::parse(std::string_view(clean));
    return Converter(clean, places, diagnostics).convert(root);
  } catch (const toml::parse_error& error) {
    diagnostics.add(syntax_error(clean, places.span(error.source()), error.description()));
    return std::nullopt;
  }
}

}  // namespace judder::io
