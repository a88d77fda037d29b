// A TOML text as a tree of values that know their bytes; the only place that sees the TOML library.
//
// Members of a table are in the order of the file. Every value and key has its span, and every string a map from its
// characters to the bytes of the file, also through escapes and over several lines, so that a message about the third
// symbol of an expression points at that symbol.
//
// Hostile input is refused before it is parsed: more than `kMaxBytes` of text, more than `kMaxValues` values, tables and
// lists nested deeper than `kMaxDepth` (brackets and dotted keys alike), bytes that are no UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/model/spec.hpp"

namespace judder::io {

inline constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxValues = 100'000;
inline constexpr int kMaxDepth = 64;

enum class ItemKind { table, list, text, number, boolean, date };

struct Item {
  ItemKind kind = ItemKind::table;
  model::Text key;          ///< of a member of a table
  Span span;                ///< the value; of a table with a header, the header
  model::Text text;         ///< of a text
  double number = 0;        ///< of a number
  bool boolean = false;     ///< of a boolean
  bool header = false;      ///< a list of tables written [[…]]
  std::vector<Item> items;  ///< of a table, a list

  [[nodiscard]] const Item* find(std::string_view name) const;
};

/// "a number", "a list", …
[[nodiscard]] const char* kind_in_words(ItemKind kind);

/// The root table, or nothing and one error.
[[nodiscard]] std::optional<Item> parse_document(std::string_view text, Diagnostics& diagnostics);

}  // namespace judder::io
