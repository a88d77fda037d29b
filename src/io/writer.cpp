#include "judder/io/writer.hpp"

#include <algorithm>
#include <cctype>

#include "io/fields.hpp"
#include "judder/core/number.hpp"

namespace judder::io {
namespace {

std::string toml_key(const std::string& key) {
  const auto plain = [](char c) {
    return c == '_' || c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), plain) ? key : toml_string(key);
}

/// A whole number above 2^63 would be an integer that TOML cannot hold.
std::string toml_number(double number) {
  std::string text = to_text(number);
  if (text.size() > 15 && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_value(const model::Value& value) {
  return value.number ? toml_number(*value.number) : toml_string(value.text.text);
}

template <class Element, class Write>
std::string toml_list(const std::vector<Element>& elements, Write write) {
  std::string out = "[";
  for (const Element& element : elements) out += (out.size() > 1 ? ", " : "") + write(element);
  return out + "]";
}

std::string toml_values(const std::vector<model::Value>& values) { return toml_list(values, toml_value); }
std::string toml_rows(const std::vector<std::vector<model::Value>>& rows) {
  return toml_list(rows, toml_values);
}

/// Collects the keys of one table that are given.
class TableWriter {
 public:
  template <class Member>
  void operator()(const Field& field, Member& member) {
    if (const std::string text = write(field, member); !text.empty()) put(field.name, text);
  }

  void operator()(const Field&, std::vector<model::EngineTable>& tables) {
    for (const model::EngineTable& table : tables) {
      TableWriter inner;
      for (const model::Named& named : table.values) inner.put(named.name.text, toml_value(named.value));
      put(table.name.text, inner.braces());
    }
  }

  void put(const std::string& key, const std::string& value) {
    pairs_.push_back(toml_key(key) + " = " + value);
  }

  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  [[nodiscard]] std::string lines() const {
    std::string out;
    for (const std::string& pair : pairs_) out += pair + '\n';
    return out;
  }
  [[nodiscard]] std::string braces() const {
    if (pairs_.empty()) return "{}";
    std::string out = "{ ";
    for (const std::string& pair : pairs_) out += (out.size() > 2 ? ", " : "") + pair;
    return out + " }";
  }

  /// A value alone, or a table where more is given.
  template <class Law>
  static std::string brief(Law& law, const model::Value& value) {
    TableWriter inner;
    fields(inner, law);
    return value.given && inner.pairs_.size() == 1 ? toml_value(value) : inner.braces();
  }

 private:
  // An empty text means that the key is left out.
  static std::string write(const Field&, model::Text& text) {
    return text.empty() ? "" : toml_string(text.text);
  }
  static std::string write(const Field&, model::Value& value) { return value.given ? toml_value(value) : ""; }
  static std::string write(const Field& field, bool& value) {
    return value == (field.fallback == "true") ? "" : value ? "true" : "false";
  }
  static std::string write(const Field&, int& value) {
    return value == 0 ? "" : value == 1 ? "true" : std::to_string(value);
  }
  static std::string write(const Field& field, std::vector<model::Value>& values) {
    if (values.empty()) return "";
    return field.bare && values.size() == 1 ? toml_value(values.front()) : toml_values(values);
  }
  static std::string write(const Field&, std::vector<std::vector<model::Value>>& rows) {
    return rows.empty() ? "" : toml_rows(rows);
  }
  static std::string write(const Field&, std::vector<double>& numbers) {
    return numbers.empty() ? "" : toml_list(numbers, toml_number);
  }
  static std::vector<std::vector<model::Value>> filled(const model::Matrix& matrix) {
    std::vector<std::vector<model::Value>> rows(
        static_cast<std::size_t>(matrix.row_count),
        std::vector<model::Value>(static_cast<std::size_t>(matrix.column_count), model::Value(0)));
    for (const model::MatrixEntry& entry : matrix.entries) rows[entry.row][entry.column] = entry.value;
    return rows;
  }
  static std::string write(const Field& field, model::Matrix& matrix) {
    if (!matrix.given) return "";
    if (!matrix.file.empty()) return toml_string(matrix.file.text);
    if (matrix.sparse) return toml_rows(filled(matrix));
    return field.bare && matrix.rows.size() == 1 ? toml_values(matrix.rows.front()) : toml_rows(matrix.rows);
  }
  static std::string write(const Field&, model::FrictionLaw& law) {
    if (!law.stated()) return "";
    return brief(law, law.mu);
  }
  static std::string write(const Field&, model::ImpactLaw& law) {
    const std::string text = brief(law, law.restitution);
    return text == "{}" ? "" : text;
  }
  static std::string write(const Field&, model::Compliance& compliance) {
    return compliance.stated() ? inline_table(compliance) : "";
  }
  static std::string write(const Field&, std::vector<model::OutputColumn>& columns) {
    if (columns.empty()) return "";
    TableWriter inner;
    for (model::OutputColumn& column : columns) inner.put(column.name.text, brief(column, column.value));
    return inner.braces();
  }
  static std::string write(const Field&, std::vector<std::vector<model::Text>>& lists) {
    if (lists.empty()) return "";
    const auto text = [](const model::Text& name) { return toml_string(name.text); };
    return toml_list(lists, [&text](const std::vector<model::Text>& list) { return toml_list(list, text); });
  }

  template <class Struct>
  static std::string inline_table(Struct& object) {
    TableWriter inner;
    fields(inner, object);
    return inner.braces();
  }

  /// The bare value where the law is nothing but this value.
  std::vector<std::string> pairs_;
};

class FileWriter {
 public:
  FileWriter() { top_.put("format", "1"); }

  void operator()(const Field& field, model::Text& text) { top_(field, text); }

  template <class Member>
  void map(const Field& field, std::vector<Member>& members) {
    if (members.empty()) return;
    TableWriter table;
    for (Member& member : members) entry(table, member);
    body_ += "\n[" + field.name + "]\n" + table.lines();
  }

  template <class Struct>
  void table(const Field& field, Struct& object) {
    TableWriter table;
    fields(table, object);
    if (!table.empty()) body_ += "\n[" + field.name + "]\n" + table.lines();
  }

  /// Columns get a table of their own: an inline table is one line.
  void table(const Field& field, model::Output& output) {
    TableWriter columns;
    for (model::OutputColumn& column : output.columns)
      columns.put(column.name.text, TableWriter::brief(column, column.value));
    model::Output rest = output;
    rest.columns.clear();
    TableWriter table;
    fields(table, rest);
    if (!table.empty()) body_ += "\n[" + field.name + "]\n" + table.lines();
    if (!columns.empty()) body_ += "\n[" + field.name + ".columns]\n" + columns.lines();
  }

  template <class Element>
  void list(const Field& field, std::vector<Element>& elements) {
    for (Element& element : elements) {
      TableWriter table;
      fields(table, element);
      body_ += "\n[[" + field.name + "]]\n" + table.lines();
    }
  }

  [[nodiscard]] std::string text() const { return top_.lines() + body_; }

 private:
  static void entry(TableWriter& out, model::Parameter& parameter) {
    if (!parameter.file.empty()) {
      out.put(parameter.name.text, "{ file = " + toml_string(parameter.file.text) + " }");
    } else if (parameter.rows.empty()) {
      out.put(parameter.name.text, TableWriter::brief(parameter, parameter.value));
    } else {
      out.put(parameter.name.text,
              parameter.is_matrix ? toml_rows(parameter.rows) : toml_values(parameter.rows.front()));
    }
  }
  static void entry(TableWriter& out, model::Definition& definition) {
    out.put(definition.signature.text, toml_value(definition.body));
  }
  static void entry(TableWriter& out, model::Table& table) {
    if (table.file.empty()) return inline_entry(out, table.name, table);
    model::Table named = table;  // the numbers stay in their file
    named.x.clear();
    named.y.clear();
    inline_entry(out, named.name, named);
  }
  static void entry(TableWriter& out, model::Coordinate& coordinate) {
    TableWriter inner;
    fields(inner, coordinate);
    const bool brief =
        coordinate.start.number && inner.braces() == "{ start = " + toml_value(coordinate.start) + " }";
    out.put(coordinate.name.text, brief ? toml_value(coordinate.start) : inner.braces());
  }
  static void entry(TableWriter& out, model::StateVariable& state) { inline_entry(out, state.name, state); }
  static void entry(TableWriter& out, model::Variant& variant) {
    TableWriter inner;
    for (const model::Named& named : variant.values) inner.put(named.name.text, toml_value(named.value));
    if (!variant.title.empty()) inner.put("title", toml_string(variant.title.text));
    out.put(variant.name.text, inner.braces());
  }

  template <class Struct>
  static void inline_entry(TableWriter& out, const model::Text& name, Struct& object) {
    TableWriter inner;
    fields(inner, object);
    out.put(name.text, inner.braces());
  }

  TableWriter top_;
  std::string body_;
};

}  // namespace

std::string toml_string(const std::string& text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool lines =
      text.find('\n') != std::string::npos && text.find("\"\"\"") == std::string::npos &&
      text.find('\\') == std::string::npos && text.back() != '"' &&
      std::none_of(text.begin(), text.end(), [&](char c) { return control(c) && c != '\n' && c != '\t'; });
  if (lines) return "\"\"\"\n" + text + "\"\"\"";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (control(c)) {
      constexpr const char* digits = "0123456789ABCDEF";
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4U];
      out += digits[static_cast<unsigned char>(c) & 0xFU];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string write_model(const model::Spec& spec) {
  model::Spec copy = spec;  // visitors take what they describe by reference
  FileWriter writer;
  sections(writer, copy);
  return writer.text();
}

}  // namespace judder::io
