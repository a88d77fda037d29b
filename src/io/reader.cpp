#include "judder/io/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>

#include "io/data_files.hpp"
#include "io/disk.hpp"
#include "io/document.hpp"
#include "io/fields.hpp"
#include "judder/core/number.hpp"

namespace judder::io {
namespace {

constexpr int kMaxMessages = 100;

std::string cite(std::string_view text) { return "'" + std::string(text.substr(0, 60)) + "'"; }

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool holds(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The word that begins as `key` does and only ends otherwise: energies, energy. Empty: none.
std::string same_stem(std::string_view key, const Words& words) {
  constexpr std::size_t kShortest = 4;
  for (const std::string& word : words) {
    const auto [end, other] = std::mismatch(key.begin(), key.end(), word.begin(), word.end());
    const auto common = static_cast<std::size_t>(end - key.begin());
    if (common >= kShortest && 3 * common >= 2 * std::min(key.size(), word.size()) &&
        std::max(key.size(), word.size()) <= common + 3)
      return word;
  }
  return {};
}

/// A name of the expression language: a letter, then letters, digits, underscores.
bool is_name(std::string_view text) {
  const auto plain = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), plain);
}

/// What all tables share: where messages go and where data files are.
struct Context {
  ModelFile& file;
  DataFiles data;
  int messages = 0;

  void error(Span span, std::string where, std::string message, std::string help = {}) {
    if (++messages < kMaxMessages)
      file.diagnostics.error(span, std::move(where), std::move(message), std::move(help));
    if (messages == kMaxMessages)
      file.diagnostics.error(span, "", "there are more problems from here on; they are not shown");
  }
};

model::Value number_value(double number, Span span) {
  model::Value value;
  value.given = true;
  value.number = number;
  value.text.text = to_text(number);
  value.text.span = span;
  value.text.quote = 0;
  return value;
}

/// Reads the keys of one table. `where` names it in messages: "contact 'wall'".
class TableReader {
 public:
  TableReader(Context& context, const Item& table, std::string where)
      : context_(context), table_(table), where_(std::move(where)) {}

  template <class Member>
  void operator()(const Field& field, Member& member) {
    known_.push_back(field);
    const Item* item = table_.find(field.name);
    const bool fits = field.applies.empty() || holds(field.applies, selected_);
    if (item == nullptr) {
      if (field.required || holds(field.needed, selected_)) missing_.push_back(field.name);
      if (field.selects) selected_ = field.fallback;
      return;
    }
    if (!fits) {
      if (!selected_.empty()) {
        error(item->key.span, field.name, cite(field.name) + " does not belong to " + cite(selected_),
              "it belongs to " + joined(field.applies));
      }
      return;
    }
    read(field, *item, member);
    if (field.selects && item->kind == ItemKind::text && holds(field.words, item->text.text))
      selected_ = item->text.text;
  }

  /// Tables of engines: keys that are engines, each with its own options.
  void operator()(const Field& field, std::vector<model::EngineTable>& tables) {
    const std::vector<EngineFields> engines = engine_fields();
    for (const EngineFields& engine : engines) {
      if (engine.table) known_.push_back({.name = engine.name, .doc = field.doc});
    }
    for (const Item& item : table_.items) {
      const auto engine = std::find_if(engines.begin(), engines.end(),
                                       [&item](const EngineFields& e) { return e.name == item.key.text; });
      if (engine == engines.end() || !engine->table) continue;
      if (!expect(item.key.text, item, ItemKind::table, "a table of options")) continue;
      model::EngineTable out;
      out.name = item.key;
      TableReader reader(context_, item, "run, " + engine->name);
      for (const Field& option : engine->options) {
        model::Named named;
        if (const Item* given = item.find(option.name)) named.name = given->key;
        if (option.words.empty()) {
          reader(option, named.value);
        } else {
          model::Text word;
          reader(option, word);
          if (!word.empty()) named.value = text_value(std::move(word));
        }
        if (named.value.given) out.values.push_back(std::move(named));
      }
      reader.finish();
      tables.push_back(std::move(out));
    }
  }

  /// Call after the last field: keys that nobody asked for are errors.
  void finish() {
    Words names;
    for (const Field& field : known_) names.push_back(field.name);
    Words suggested;
    for (const Item& item : table_.items) {
      const std::string& key = item.key.text;
      if (holds(names, key)) continue;
      std::string suggestion;
      for (const Field& field : known_) {
        if (holds(field.also, key)) suggestion = field.name;
      }
      if (suggestion.empty()) suggestion = names.size() == 1 ? names.front() : nearest(key, names);
      if (suggestion.empty()) suggestion = same_stem(key, names);
      error(item.key.span, key, "there is no key " + cite(key) + " in " + where_,
            suggestion.empty() ? "keys here: " + joined(names) : "did you mean " + cite(suggestion) + "?");
      suggested.push_back(suggestion);
    }
    for (const std::string& key : missing_) {
      if (holds(suggested, key)) continue;  // it is there, misspelt
      context_.error(table_.span, where_, where_ + " has no " + cite(key), "add " + key + " = …");
    }
  }

 private:
  void error(Span span, const std::string& key, std::string message, std::string help = {}) {
    context_.error(span, where_ + ", " + key, std::move(message), std::move(help));
  }

  void mismatch(const std::string& key, const Item& item, const std::string& expected,
                std::string help = {}) {
    error(item.span, key, cite(key) + " must be " + expected + ", not " + kind_in_words(item.kind),
          std::move(help));
  }

  bool expect(const std::string& key, const Item& item, ItemKind kind, const std::string& expected) {
    if (item.kind == kind) return true;
    mismatch(key, item, expected);
    return false;
  }

  static model::Value text_value(model::Text text) {
    model::Value value;
    value.given = true;
    value.text = std::move(text);
    return value;
  }

  // --- one value; false if it is none ---

  bool read_value(const std::string& key, const Item& item, model::Value& out) {
    if (item.kind == ItemKind::number) {
      if (!std::isfinite(item.number)) {
        error(item.span, key, cite(key) + " must be finite");
        return false;
      }
      out = number_value(item.number, item.span);
      return true;
    }
    if (item.kind == ItemKind::text) {
      if (item.text.text.find_first_not_of(" \t\r\n") == std::string::npos) {
        error(item.span, key, cite(key) + " is empty", "write a number or an expression");
        return false;
      }
      out = text_value(item.text);
      return true;
    }
    mismatch(key, item, "a number or an expression in double quotes");
    return false;
  }

  bool read_values(const std::string& key, const Item& list, std::vector<model::Value>& out) {
    bool good = true;
    for (const Item& item : list.items) {
      model::Value value;
      good = read_value(key, item, value) && good;
      out.push_back(std::move(value));
    }
    return good;
  }

  /// Equal rows of values.
  bool read_rows(const std::string& key, const Item& list, std::vector<std::vector<model::Value>>& out) {
    std::vector<std::vector<model::Value>> rows;
    for (const Item& item : list.items) {
      if (!expect(key, item, ItemKind::list, "a list of rows, each a list")) return false;
      if (item.items.size() != list.items.front().items.size()) {
        error(item.span, key,
              "row " + std::to_string(rows.size() + 1) + " of " + cite(key) + " has " +
                  std::to_string(item.items.size()) + " values, the first row has " +
                  std::to_string(list.items.front().items.size()));
        return false;
      }
      rows.emplace_back();
      if (!read_values(key, item, rows.back())) return false;
    }
    if (rows.empty() || rows.front().empty()) {
      error(list.span, key, cite(key) + " is empty");
      return false;
    }
    out = std::move(rows);
    return true;
  }

  /// Numbers of a data file; `place` is where it is named.
  bool read_file(const std::string& key, const model::Text& name, NumberTable& out,
                 bool keep_sparse = false) {
    out = context_.data.read(name.text, keep_sparse);
    if (out.problem.empty()) return true;
    error(name.span, key, out.problem);
    return false;
  }

  static std::vector<std::vector<model::Value>> values_of(const NumberTable& table, Span span) {
    std::vector<std::vector<model::Value>> rows;
    for (const std::vector<double>& row : table.rows) {
      rows.emplace_back();
      for (const double number : row) rows.back().push_back(number_value(number, span));
    }
    return rows;
  }

  /// A single column counts as a list, like a single row.
  static void lay_flat(std::vector<std::vector<model::Value>>& rows) {
    if (rows.size() < 2 || rows.front().size() != 1) return;
    std::vector<model::Value> row;
    for (std::vector<model::Value>& single : rows) row.push_back(std::move(single.front()));
    rows.clear();
    rows.push_back(std::move(row));
  }

  const Item* file_of(const Item& item) {
    TableReader reader(context_, item, where_);
    model::Text file;
    reader({.name = "file", .doc = "", .required = true}, file);
    reader.finish();
    const Item* name = item.find("file");
    return name != nullptr && name->kind == ItemKind::text ? name : nullptr;
  }

  // --- members by type ---

  void read(const Field& field, const Item& item, model::Text& out) {
    if (!expect(field.name, item, ItemKind::text,
                field.words.empty() ? "a text in quotes" : "one of " + joined(field.words)))
      return;
    if (!field.words.empty() && !holds(field.words, item.text.text)) {
      const std::string suggestion = nearest(item.text.text, field.words);
      error(item.span, field.name, "there is no " + field.name + " " + cite(item.text.text),
            suggestion.empty() ? "there are: " + joined(field.words)
                               : "did you mean " + cite(suggestion) + "?");
      return;
    }
    if (field.is_name && !is_name(item.text.text)) {
      error(item.span, field.name, cite(item.text.text) + " is not a name",
            "names are a letter, then letters, digits and underscores");
      return;
    }
    out = item.text;
  }

  void read(const Field& field, const Item& item, model::Value& out) { read_value(field.name, item, out); }

  void read(const Field& field, const Item& item, bool& out) {
    if (expect(field.name, item, ItemKind::boolean, "true or false")) out = item.boolean;
  }

  void read(const Field& field, const Item& item, int& out) {
    if (item.kind == ItemKind::boolean) {
      out = item.boolean ? 1 : 0;
    } else if (item.kind != ItemKind::number || !(item.number >= 1) || item.number > 1e9 ||
               item.number != std::floor(item.number)) {
      error(item.span, field.name, cite(field.name) + " must be true, false or a whole number from 1");
    } else {
      out = static_cast<int>(item.number);
    }
  }

  void read(const Field& field, const Item& item, std::vector<model::Value>& out) {
    if (field.bare && item.kind != ItemKind::list) {
      model::Value value;
      if (read_value(field.name, item, value)) out.push_back(std::move(value));
      return;
    }
    if (!expect(field.name, item, ItemKind::list, "a list")) return;
    const auto size = static_cast<int>(item.items.size());
    if (size < field.least || size > field.most) {
      const std::string wanted = field.least == field.most
                                     ? std::to_string(field.least)
                                     : std::to_string(field.least) + " to " + std::to_string(field.most);
      error(item.span, field.name,
            cite(field.name) + " must have " + wanted + " values, not " + std::to_string(size));
      return;
    }
    read_values(field.name, item, out);
  }

  void read(const Field& field, const Item& item, std::vector<std::vector<model::Value>>& out) {
    if (!expect(field.name, item, ItemKind::list, "a list of points")) return;
    const auto size = static_cast<int>(item.items.size());
    if (size < field.least || size > field.most) {
      error(item.span, field.name,
            cite(field.name) + " must have " + std::to_string(field.least) + " to " +
                std::to_string(field.most) + " points, not " + std::to_string(size));
      return;
    }
    std::vector<std::vector<model::Value>> points;
    if (!read_rows(field.name, item, points)) return;
    if (points.front().size() != 2) {
      error(item.items.front().span, field.name, "a point has two values");
      return;
    }
    out = std::move(points);
  }

  void read(const Field& field, const Item& item, std::vector<double>& out) {
    if (!expect(field.name, item, ItemKind::list, "a list of numbers")) return;
    for (const Item& entry : item.items) {
      if (entry.kind != ItemKind::number || !std::isfinite(entry.number)) {
        error(entry.span, field.name, cite(field.name) + " must be a list of finite numbers");
        out.clear();
        return;
      }
      out.push_back(entry.number);
    }
  }

  void read(const Field& field, const Item& item, model::Matrix& out) {
    out.span = item.span;
    const Item* name = item.kind == ItemKind::text ? &item : nullptr;
    if (item.kind == ItemKind::table) {
      name = file_of(item);
      if (name == nullptr) return;
    }
    if (name != nullptr) {
      NumberTable numbers;
      if (!read_file(field.name, name->text, numbers, !field.bare)) return;
      out.file = name->text;
      out.sparse = numbers.sparse;
      out.row_count = numbers.row_count;
      out.column_count = numbers.column_count;
      out.entries = std::move(numbers.entries);
      out.rows = values_of(numbers, name->span);
      if (field.bare) lay_flat(out.rows);
      out.given = true;
      return;
    }
    if (!expect(field.name, item, ItemKind::list,
                field.bare ? "a list, or the name of a file" : "a list of rows, or the name of a file"))
      return;
    const bool flat = !item.items.empty() && item.items.front().kind != ItemKind::list;
    if (field.bare && flat) {
      out.rows.emplace_back();
      out.given = read_values(field.name, item, out.rows.back());
    } else {
      out.given = read_rows(field.name, item, out.rows);
      if (field.bare) lay_flat(out.rows);
    }
  }

  void read(const Field& field, const Item& item, model::FrictionLaw& out) {
    out.span = item.span;
    if (item.kind == ItemKind::table) {
      out.given = true;
      nested(field, item, out);
    } else if (item.kind == ItemKind::number || item.kind == ItemKind::text) {
      out.given = read_value(field.name, item, out.mu);
    } else {
      mismatch(field.name, item, "a coefficient or a table");
    }
  }

  void read(const Field& field, const Item& item, model::ImpactLaw& out) {
    out.span = item.span;
    if (item.kind == ItemKind::table) {
      nested(field, item, out);
    } else if (item.kind == ItemKind::number || item.kind == ItemKind::text) {
      read_value(field.name, item, out.restitution);
    } else {
      mismatch(field.name, item, "a restitution or a table");
    }
  }

  void read(const Field& field, const Item& item, model::Compliance& out) {
    if (!expect(field.name, item, ItemKind::table, "a table: { stiffness = … }")) return;
    out.given = true;
    nested(field, item, out);
  }

  void read(const Field& field, const Item& item, std::vector<model::OutputColumn>& out) {
    if (!expect(field.name, item, ItemKind::table, "a table: { name = expression }")) return;
    for (const Item& entry : item.items) {
      if (entry.key.text.empty() || entry.key.text.find_first_of(",\"\r\n") != std::string::npos) {
        error(entry.key.span, field.name, "the name of a column is a text without comma, quote and line end");
        continue;
      }
      model::OutputColumn column;
      column.name = entry.key;
      if (entry.kind == ItemKind::table) {
        TableReader reader(context_, entry, "column " + cite(entry.key.text));
        fields(reader, column);
        reader.finish();
        if (column.value.given) out.push_back(std::move(column));
      } else if (read_value(entry.key.text, entry, column.value)) {
        out.push_back(std::move(column));
      }
    }
  }

  void read(const Field& field, const Item& item, std::vector<std::vector<model::Text>>& out) {
    if (!expect(field.name, item, ItemKind::list, "a list of column lists")) return;
    for (const Item& plot : item.items) {
      if (!expect(field.name, plot, ItemKind::list, "a list of column lists: [[\"t\", \"x\"]]")) return;
      std::vector<model::Text> columns;
      for (const Item& column : plot.items) {
        if (!expect(field.name, column, ItemKind::text, "a list of column names")) return;
        columns.push_back(column.text);
      }
      if (columns.size() < 2) {
        error(plot.span, field.name, "a plot needs an abscissa and at least one more column");
        continue;
      }
      out.push_back(std::move(columns));
    }
  }

  template <class Struct>
  void nested(const Field& field, const Item& item, Struct& out) {
    TableReader reader(context_, item, where_ + ", " + field.name);
    fields(reader, out);
    reader.finish();
  }

  friend class FileReader;

  Context& context_;
  const Item& table_;
  std::string where_;
  std::vector<Field> known_;
  Words missing_;  // required keys that were not found
  std::string selected_;
};

/// Reads the whole file: keys at the top by a TableReader, tables here.
class FileReader {
 public:
  FileReader(Context& context, const Item& root)
      : context_(context), root_(root), top_(context, root, "the model file") {}

  void run(model::Spec& spec) {
    check_format();
    sections(*this, spec);
    top_.finish();
    note_lost();
  }

  void operator()(const Field& field, model::Text& member) { top_(field, member); }

  template <class Member>
  void map(const Field& field, std::vector<Member>& out) {
    const Item* table = section(field, ItemKind::table);
    if (table == nullptr) return;
    for (const Item& item : table->items) {
      Member member;
      const int before = context_.messages;
      const bool good = entry(field, item, member);
      if (good) out.push_back(std::move(member));
      // It may be something else than what could be read of it: with a misspelt `each` no list.
      if (!good || context_.messages > before)
        context_.file.refused.push_back(item.key.text.substr(0, item.key.text.find('(')));
    }
  }

  template <class Struct>
  void table(const Field& field, Struct& out) {
    const Item* table = section(field, ItemKind::table);
    if (table == nullptr) return;
    TableReader reader(context_, *table, field.name);
    fields(reader, out);
    reader.finish();
  }

  template <class Element>
  void list(const Field& field, std::vector<Element>& out) {
    const Item* list = section(field, ItemKind::list);
    if (list == nullptr) return;
    for (const Item& item : list->items) {
      if (item.kind != ItemKind::table) {
        context_.error(item.span, field.name,
                       "each " + cite(field.name) + " must be a table, written [[" + field.name + "]]");
        continue;
      }
      const Item* name = item.find("name");
      std::string where = field.name + " " + std::to_string(out.size() + 1);
      if (name != nullptr && name->kind == ItemKind::text) where = field.name + " " + cite(name->text.text);
      Element element;
      element.span = item.span;
      const int before = context_.messages;
      TableReader reader(context_, item, where);
      fields(reader, element);
      reader.finish();
      demand(item, where, element);
      if (context_.messages > before) context_.file.damaged.push_back(item.span);
      out.push_back(std::move(element));
    }
  }

 private:
  void check_format() {
    top_.known_.push_back({.name = "format", .doc = ""});
    const Item* format = root_.find("format");
    if (format == nullptr) {
      context_.error({0, 1}, "the model file", "the key 'format' is missing",
                     "write format = 1 in the first line");
    } else if (format->kind != ItemKind::number || format->number != 1) {
      context_.error(format->span, "format", "this program reads format 1");
    }
  }

  /// What a table that nobody knows has declared is missing, and its use is no second error.
  void note_lost() {
    for (const Item& item : root_.items) {
      const auto known = [&item](const Field& field) { return field.name == item.key.text; };
      if (std::any_of(top_.known_.begin(), top_.known_.end(), known)) continue;
      context_.file.lost_table = true;
      for (const Item& entry : item.items) {
        if (item.kind == ItemKind::table)
          context_.file.refused.push_back(entry.key.text.substr(0, entry.key.text.find('(')));
        if (const Item* name = entry.find("name"); name != nullptr && name->kind == ItemKind::text)
          context_.file.refused.push_back(name->text.text);
      }
    }
  }

  const Item* section(const Field& field, ItemKind kind) {
    top_.known_.push_back(field);
    const Item* item = root_.find(field.name);
    if (item == nullptr || item->kind == kind) return item;
    if (kind == ItemKind::list) {
      context_.error(item->span, field.name,
                     cite(field.name) + " must be written [[" + field.name + "]]: there may be several");
    } else {
      context_.error(item->span, field.name,
                     cite(field.name) + " must be a table, written [" + field.name + "]");
    }
    return nullptr;
  }

  bool name_good(const Field& field, const model::Text& name) {
    if (is_name(name.text)) return true;
    context_.error(name.span, field.name, cite(name.text) + " is not a name",
                   "names are a letter, then letters, digits and underscores");
    return false;
  }

  // --- members of maps ---

  bool entry(const Field& field, const Item& item, model::Parameter& out) {
    if (!name_good(field, item.key)) return false;
    out.name = item.key;
    TableReader reader(context_, item, "parameter " + cite(item.key.text));
    if (item.kind == ItemKind::table && item.find("file") == nullptr) {
      reader.known_.push_back({.name = "file", .doc = ""});
      fields(reader, out);
      // Whoever misspells one of these keys may have meant `value`.
      for (const Item& member : item.items) {
        const auto is_it = [&member](const Field& known) { return known.name == member.key.text; };
        if (std::none_of(reader.known_.begin(), reader.known_.end(), is_it)) reader.missing_.clear();
      }
      reader.finish();
      const Item* range = item.find("range");
      if (range != nullptr && (out.range.size() != 2 || !(out.range[0] < out.range[1])))
        context_.error(range->span, "parameter " + cite(item.key.text),
                       "a range is two numbers, the first of them smaller");
      return out.value.given;
    }
    if (item.kind == ItemKind::table) {
      const Item* name = reader.file_of(item);
      NumberTable numbers;
      if (name == nullptr || !reader.read_file("file", name->text, numbers)) return false;
      out.file = name->text;
      out.rows = TableReader::values_of(numbers, name->span);
      TableReader::lay_flat(out.rows);
      out.is_matrix = out.rows.size() > 1;
      return true;
    }
    if (item.kind != ItemKind::list) return reader.read_value(item.key.text, item, out.value);
    out.is_matrix = !item.items.empty() && item.items.front().kind == ItemKind::list;
    if (out.is_matrix) return reader.read_rows(item.key.text, item, out.rows);
    if (item.items.empty()) {
      context_.error(item.span, field.name, cite(item.key.text) + " is empty");
      return false;
    }
    out.rows.emplace_back();
    return reader.read_values(item.key.text, item, out.rows.back());
  }

  bool entry(const Field&, const Item& item, model::Definition& out) {
    out.signature = item.key;
    TableReader reader(context_, item, "definition " + cite(item.key.text));
    return reader.read_value(item.key.text, item, out.body);
  }

  bool entry(const Field& field, const Item& item, model::Table& out) {
    if (!name_good(field, item.key)) return false;
    out.name = item.key;
    const std::string where = "table " + cite(item.key.text);
    TableReader reader(context_, item, where);
    if (!reader.expect(item.key.text, item, ItemKind::table, "a table: { x = […], y = […] }")) return false;
    fields(reader, out);
    reader.finish();
    const bool has_x = item.find("x") != nullptr;
    const bool has_y = item.find("y") != nullptr;
    const Item* file = item.find("file");
    if (file != nullptr && (has_x || has_y)) {
      context_.error(file->key.span, where, where + " has both lists and a file", "keep one of them");
    } else if (file == nullptr && (!has_x || !has_y)) {
      context_.error(item.key.span, where,
                     where + " has no " +
                         (has_x   ? "'y'"
                          : has_y ? "'x'"
                                  : "points"),
                     "give x = […] and y = […], or file = \"data.csv\"");
    } else if (file != nullptr && !out.file.empty()) {
      NumberTable numbers;
      if (!reader.read_file("file", out.file, numbers)) return false;
      if (numbers.rows.front().size() != 2) {
        context_.error(file->span, where, out.file.text + ": a table needs two columns, x and y");
        return false;
      }
      if (numbers.rows.size() < 2) {
        context_.error(file->span, where, out.file.text + ": a table needs two rows or more");
        return false;
      }
      for (std::size_t i = 1; i < numbers.rows.size(); ++i) {
        if (numbers.rows[i][0] > numbers.rows[i - 1][0]) continue;
        context_.error(file->span, where,
                       out.file.text + ": the first column must increase; " + to_text(numbers.rows[i][0]) +
                           ", number " + std::to_string(i + 1) + ", does not");
        return false;
      }
      for (const std::vector<double>& row : numbers.rows) {
        out.x.push_back(row[0]);
        out.y.push_back(row[1]);
      }
    }
    return true;
  }

  bool entry(const Field& field, const Item& item, model::Coordinate& out) {
    if (!name_good(field, item.key)) return false;
    out.name = item.key;
    TableReader reader(context_, item, "coordinate " + cite(item.key.text));
    if (item.kind != ItemKind::table) {
      reader.read_value(item.key.text, item, out.start);
      return true;
    }
    fields(reader, out);
    reader.finish();
    return true;
  }

  bool entry(const Field& field, const Item& item, model::StateVariable& out) {
    if (!name_good(field, item.key)) return false;
    out.name = item.key;
    TableReader reader(context_, item, "state " + cite(item.key.text));
    if (!reader.expect(item.key.text, item, ItemKind::table, "a table: { start = …, rate = … }")) return true;
    fields(reader, out);
    reader.finish();
    return true;
  }

  bool entry(const Field&, const Item& item, model::Variant& out) {
    out.name = item.key;
    TableReader reader(context_, item, "variant " + cite(item.key.text));
    if (!reader.expect(item.key.text, item, ItemKind::table, "a table: { name = value, … }")) return false;
    for (const Item& member : item.items) {
      if (member.key.text == "title") {
        reader.read({.name = "title", .doc = ""}, member, out.title);
        continue;
      }
      model::Named named;
      named.name = member.key;
      if (reader.read_value(member.key.text, member, named.value)) out.values.push_back(std::move(named));
    }
    return true;
  }

  // --- rules between keys ---

  template <class Element>
  void demand(const Item&, const std::string&, const Element&) {}

  void demand(const Item& item, const std::string& where, const model::Constraint&) {
    const Item* zero = item.find("zero");
    const Item* velocity = item.find("velocity");
    if (zero == nullptr && velocity == nullptr) {
      context_.error(item.span, where, where + " has neither 'zero' nor 'velocity'");
    } else if (zero != nullptr && velocity != nullptr) {
      context_.error(velocity->key.span, where, where + " has both 'zero' and 'velocity'",
                     "keep one of them");
    }
  }

  Context& context_;
  const Item& root_;
  TableReader top_;
};

}  // namespace

ModelFile read_model_text(std::string text, std::string name, const std::filesystem::path& folder) {
  ModelFile file;
  file.name = std::move(name);
  file.text = std::move(text);
  const std::optional<Item> root = parse_document(file.text, file.diagnostics);
  file.parsed = root.has_value();
  if (!root) return file;
  Context context{file, DataFiles(folder)};
  FileReader(context, *root).run(file.spec);
  return file;
}

ModelFile read_model(const std::filesystem::path& path) {
  const auto failed = [&path](const std::string& reason) {
    ModelFile file;
    file.name = path.string();
    file.opened = file.parsed = false;
    file.diagnostics.error({}, "", reason);
    return file;
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return failed("this is a folder, not a model file");
  // A pipe without a writer would be waited for, deaf to every signal.
  disk::Handle in;
  if (const int number = disk::open_to_read(path, in); number == ENOTSUP)
    return failed("this is not a regular file");
  else if (number == ELOOP)
    return failed("the link leads to itself, or to links in a circle");
  else if (number != 0)
    return failed(std::filesystem::exists(path, error) ? "the file cannot be read" : "there is no such file");
  std::string text(kMaxBytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(in.number(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("the file cannot be read");
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return read_model_text(std::move(text), path.string(), folder);
}

}  // namespace judder::io
