#include "judder/io/reference_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "io/disk.hpp"
#include "io/document.hpp"
#include "judder/core/number.hpp"
#include "judder/engines/event.hpp"

namespace judder::io {
namespace {

using analysis::Quantity;
using analysis::ReferenceValue;
using analysis::Side;

const std::vector<std::pair<std::string, Quantity>>& quantities() {
  static const std::vector<std::pair<std::string, Quantity>> all{
      {"event", Quantity::event},     {"column", Quantity::column},     {"count", Quantity::count},
      {"minimum", Quantity::minimum}, {"maximum", Quantity::maximum},   {"mean", Quantity::mean},
      {"reason", Quantity::reason},   {"sequence", Quantity::sequence}, {"rest", Quantity::rest}};
  return all;
}

/// Words of events.csv.
std::vector<std::string> kinds_of_events() {
  std::vector<std::string> out;
  for (int kind = 0; kind <= static_cast<int>(engines::EventKind::watch); ++kind)
    out.emplace_back(engines::name(static_cast<engines::EventKind>(kind)));
  return out;
}

/// One table of the file, read key by key; what nobody asked for is an error at the end.
class TableReader {
 public:
  TableReader(const Item& table, std::string where, Diagnostics& out)
      : table_(table), where_(std::move(where)), out_(out) {}

  const Item* take(const std::string& key) {
    asked_.push_back(key);
    return table_.find(key);
  }

  const Item* take(const std::string& key, ItemKind kind) {
    const Item* item = take(key);
    if (item == nullptr || item->kind == kind) return item;
    wrong(*item, key, kind_in_words(kind));
    return nullptr;
  }

  void text(const std::string& key, std::string& target) {
    if (const Item* item = take(key, ItemKind::text)) target = item->text.text;
  }

  void number(const std::string& key, double& target) {
    const Item* const item = take(key, ItemKind::number);
    if (item != nullptr && finite(*item, key)) target = item->number;
  }

  /// A tolerance: what is negative would fail, and what is infinite pass, whatever is compared.
  void size(const std::string& key, double& target) {
    number(key, target);
    if (target < 0) error(key, "'" + key + "' must not be negative");
  }

  /// Where the value of a key stands; nowhere if it is not given.
  [[nodiscard]] Span place(const std::string& key) const {
    const Item* const item = table_.find(key);
    return item == nullptr ? Span{} : item->span;
  }

  void boolean(const std::string& key, bool& target) {
    if (const Item* item = take(key, ItemKind::boolean)) target = item->boolean;
  }

  void value(const std::string& key, model::Value& target) {
    const Item* item = take(key);
    if (item == nullptr) return;
    if (const auto found = value_of(*item)) {
      finite(*item, key);
      target = *found;
      target.text.span = item->span;
    } else {
      wrong(*item, key, "a number or an expression");
    }
  }

  /// A text or a list of texts.
  void texts(const std::string& key, std::vector<std::string>& target) {
    const Item* item = take(key);
    if (item == nullptr) return;
    if (item->kind == ItemKind::text) target.push_back(item->text.text);
    if (item->kind != ItemKind::list) {
      if (item->kind != ItemKind::text) wrong(*item, key, "a text or a list of texts");
      return;
    }
    for (const Item& member : item->items) {
      if (member.kind == ItemKind::text)
        target.push_back(member.text.text);
      else
        wrong(member, key, "a text or a list of texts");
    }
  }

  /// name = value, …
  void named(const std::string& key, std::vector<model::Named>& target) {
    const Item* item = take(key, ItemKind::table);
    if (item == nullptr) return;
    for (const Item& member : item->items) {
      const auto found = value_of(member);
      if (!found)
        wrong(member, member.key.text, "a number or an expression");
      else if (finite(member, member.key.text))
        target.push_back({member.key, *found});
    }
  }

  void finish() {
    for (const Item& item : table_.items) {
      if (std::find(asked_.begin(), asked_.end(), item.key.text) != asked_.end()) continue;
      const std::string near = nearest(item.key.text, asked_);
      out_.error(item.key.span, where_, "there is no key '" + item.key.text + "' here",
                 near.empty() ? "" : "did you mean '" + near + "'?");
    }
  }

  void error(const std::string& message) { out_.error(table_.span, where_, message); }
  void error(const std::string& key, const std::string& message) {
    out_.error(place(key).empty() ? table_.span : place(key), where_, message);
  }

  /// A kind that no event has is counted as zero, and never found.
  void kind(const std::string& key, const std::string& word) {
    const std::vector<std::string> known = kinds_of_events();
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    const Item* item = table_.find(key);
    const std::string near = nearest(word, known);
    std::string help;
    for (const std::string& each : known) help += (help.empty() ? "there are: " : ", ") + each;
    out_.error(item == nullptr ? table_.span : item->span, where_, "there is no kind of event '" + word + "'",
               near.empty() ? help : "did you mean '" + near + "'?");
  }

 private:
  /// Nothing can be compared with what is no number, and at infinity nothing is.
  bool finite(const Item& item, const std::string& key) {
    if (item.kind != ItemKind::number || std::isfinite(item.number)) return true;
    out_.error(item.span, where_, "'" + key + "' must be a finite number");
    return false;
  }

  static std::optional<model::Value> value_of(const Item& item) {
    if (item.kind == ItemKind::number) return model::Value(item.number);
    if (item.kind == ItemKind::text) return model::Value(item.text.text);
    return std::nullopt;
  }

  void wrong(const Item& item, const std::string& key, const std::string& expected) {
    out_.error(item.span, where_, "'" + key + "' must be " + expected + ", not " + kind_in_words(item.kind));
  }

  const Item& table_;
  std::string where_;
  Diagnostics& out_;
  std::vector<std::string> asked_;
};

ReferenceValue read_value(const Item& item, std::size_t number, Diagnostics& out) {
  TableReader table(item, "value " + std::to_string(number), out);
  ReferenceValue value;
  table.text("label", value.label);
  if (value.label.empty()) table.error("a value needs a 'label'");
  table.text("model", value.model);
  table.boolean("only", value.only);
  table.texts("variant", value.variants);
  table.named("set", value.set);
  table.named("run", value.run);
  table.value("until", value.until);

  int given = 0;
  for (const auto& [key, quantity] : quantities()) {
    const Item* subject = table.take(key, ItemKind::text);
    if (subject == nullptr) continue;
    ++given;
    value.quantity = quantity;
    value.subject = subject->text.text;
    value.subject_span = subject->span;
  }
  if (given != 1)
    table.error(
        "a value needs exactly one of: event, column, count, minimum, maximum, mean, reason, sequence, rest");
  if (value.quantity == Quantity::reason || value.quantity == Quantity::sequence) value.text = value.subject;
  if (given == 1 && value.quantity == Quantity::event)
    table.kind("event", value.subject.substr(0, value.subject.find(' ')));
  if (given == 1 && value.quantity == Quantity::count)
    table.kind("count", value.subject.substr(0, value.subject.find(' ')));
  if (given == 1 && value.quantity == Quantity::sequence) {
    std::istringstream words(value.subject);
    for (std::string word; words >> word;) table.kind("sequence", word);
  }

  double occurrence = value.number;
  table.number("number", occurrence);
  constexpr long kMost = std::numeric_limits<int>::max();
  value.number = static_cast<int>(whole_number(occurrence, -kMost, kMost).value_or(0));
  if (value.number == 0 || value.number != occurrence)
    table.error("number", "'number' counts from 1, or from the end: -1");
  table.text("field", value.field);
  std::string side = "after";
  table.text("side", side);
  if (side != "before" && side != "after") table.error("side", "'side' is \"before\" or \"after\"");
  value.side = side == "before" ? Side::before : Side::after;
  table.value("at", value.at);
  if (value.quantity == Quantity::column && !value.at.given) table.error("a column needs 'at'");
  if (value.at.given && value.at.text.text == "end") value.at = {};
  table.value("from", value.from);
  table.value("to", value.to);
  table.texts("kinds", value.kinds);
  for (const std::string& kind : value.kinds) table.kind("kinds", kind);

  table.value("exact", value.exact);
  if (const Item* text = table.take("text", ItemKind::text)) value.text = text->text.text;
  table.size("tolerance", value.tolerance);
  table.size("relative", value.relative);
  double published = 0;
  table.number("published", published);
  if (!table.place("published").empty()) value.published = published;
  table.size("published_tolerance", value.published_tolerance);
  table.boolean("wrong", value.wrong);
  table.text("note", value.note);
  table.text("where", value.where);
  table.text("check", value.check);
  if (!value.exact.given && !value.text && !value.published)
    table.error("a value needs 'exact', 'text' or 'published'");
  value.span = item.span;
  value.field_span = table.place("field");
  value.model_span = table.place("model");
  value.relative_span = table.place("relative");
  table.finish();
  return value;
}

}  // namespace

std::filesystem::path reference_beside(const std::filesystem::path& model) {
  return model.parent_path() / "reference.toml";
}

ReferenceFile read_reference_text(std::string text, std::string name) {
  ReferenceFile file;
  file.name = std::move(name);
  file.text = std::move(text);
  const auto root = parse_document(file.text, file.diagnostics);
  if (!root) return file;
  TableReader table(*root, "reference", file.diagnostics);
  analysis::Reference& reference = file.reference;
  table.text("source", reference.source);
  std::string model;
  table.text("model", model);
  table.named("run", reference.run);
  if (const Item* perturb = table.take("perturb", ItemKind::table)) {
    analysis::Perturbation change;
    TableReader inner(*perturb, "perturb", file.diagnostics);
    inner.text("name", change.name);
    inner.number("factor", change.factor);
    inner.finish();
    reference.perturb = change;
  }
  if (const Item* structures = table.take("structures", ItemKind::table)) {
    for (const Item& item : structures->items) {
      analysis::Structure structure;
      structure.name = item.key.text;
      if (item.kind != ItemKind::table) {
        file.diagnostics.error(item.span, "structures",
                               "'" + structure.name + "' must be a table: place = \"word\", …");
        continue;
      }
      for (const Item& member : item.items) {
        if (member.kind == ItemKind::text)
          structure.words.emplace_back(member.key.text, member.text.text);
        else
          file.diagnostics.error(member.span, "structures",
                                 "'" + member.key.text + "' must be a word of its place, like \"open\"");
      }
      reference.structures.push_back(std::move(structure));
    }
  }
  if (const Item* values = table.take("value", ItemKind::list)) {
    constexpr int kMostErrors = 100;
    for (const Item& item : values->items) {
      if (file.diagnostics.errors() >= kMostErrors) {
        file.diagnostics.add({Severity::note,
                              {},
                              "",
                              "there are more than " + std::to_string(kMostErrors) +
                                  " errors; the rest of the reference was not read",
                              "",
                              ""});
        break;
      }
      if (item.kind != ItemKind::table) continue;
      reference.values.push_back(read_value(item, reference.values.size() + 1, file.diagnostics));
      if (reference.values.back().model.empty()) reference.values.back().model = model;
    }
  }
  table.finish();
  return file;
}

ReferenceFile read_reference(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 24U;
  std::string text;
  if (const int error = disk::read_bounded(path, kMost, text); error != 0) {
    ReferenceFile file;
    file.name = path.string();
    file.diagnostics.error({}, file.name, disk::not_read(error));
    return file;
  }
  return read_reference_text(text, path.string());
}

}  // namespace judder::io
