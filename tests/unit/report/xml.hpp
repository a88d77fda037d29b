// A small strict reader of XML, enough to judge what the SVG writer writes: no comments, no declarations, no namespaces.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace judder::report {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // its own, entities decoded
  std::vector<Element> children;

  [[nodiscard]] std::string attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
  [[nodiscard]] double number(const std::string& key) const { return std::stod(attribute(key)); }

  /// All elements below (and this one) with the name, and with the class if one is given.
  [[nodiscard]] std::vector<const Element*> all(std::string_view wanted,
                                                std::string_view of_class = {}) const {
    std::vector<const Element*> out;
    collect(wanted, of_class, out);
    return out;
  }

 private:
  void collect(std::string_view wanted, std::string_view of_class, std::vector<const Element*>& out) const {
    if (name == wanted && (of_class.empty() || attribute("class") == of_class)) out.push_back(this);
    for (const Element& child : children) child.collect(wanted, of_class, out);
  }
};

class XmlReader {
 public:
  /// Nothing if the text is not well-formed.
  static std::optional<Element> read(std::string_view text) {
    XmlReader reader(text);
    Element root;
    if (!reader.element(root)) return std::nullopt;
    while (reader.at_ < text.size() && text[reader.at_] == '\n') ++reader.at_;
    if (reader.at_ != text.size()) return std::nullopt;
    return root;
  }

 private:
  explicit XmlReader(std::string_view text) : text_(text) {}

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  std::string word() {
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '-' || peek() == ':') ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  // Up to, not including, a character of `stops`.
  bool characters(std::string_view stops, std::string& out) {
    while (at_ < text_.size() && stops.find(peek()) == std::string_view::npos) {
      const char c = peek();
      if (c == '<' || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'))
        return false;
      if (c != '&') {
        out += c;
        ++at_;
        continue;
      }
      static const std::map<std::string, char> entities = {
          {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
      bool known = false;
      for (const auto& [entity, character] : entities) {
        if (!known && take(entity)) {
          out += character;
          known = true;
        }
      }
      if (!known) return false;
    }
    return at_ < text_.size();
  }
  bool element(Element& out) {
    if (!take("<")) return false;
    out.name = word();
    if (out.name.empty()) return false;
    while (take(" ")) {
      const std::string key = word();
      std::string value;
      if (key.empty() || out.attributes.contains(key) || !take("=\"") || !characters("\"", value) ||
          !take("\""))
        return false;
      out.attributes[key] = value;
    }
    if (take("/>")) return true;
    if (!take(">")) return false;
    for (;;) {
      if (!characters("<", out.text)) return false;
      if (take("</" + out.name + ">")) return true;
      out.children.emplace_back();
      if (!element(out.children.back())) return false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace judder::report
