// What every JSON text of ours has in common.
//
// A tree of JSON that has members asks for memory when it is given back, in a destructor, where a refusal ends the process; and a list in braces,
// {{"a", 1}, {"b", 2}}, makes such a tree of every pair. What a run writes on its way is made by object() and list_of() and ends in json_text():
// they take trees apart from the leaves, which needs no memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace judder::io {

/// For reading what others wrote: finding a member takes as long in a large object as in a small one, and so does adding it while it is parsed.
using ReadJson = nlohmann::json;

/// A text in which no table has two members of one name: of such a pair one reader would believe the first and another the last. `twice` is the name of
/// such a member; the tree is discarded then, and where the text is no JSON.
inline ReadJson parse_unique(std::string_view text, std::string& twice) {
  std::vector<std::unordered_set<std::string>> names;
  const auto look = [&](int, ReadJson::parse_event_t event, ReadJson& parsed) {
    if (event == ReadJson::parse_event_t::object_start) names.emplace_back();
    if (event == ReadJson::parse_event_t::object_end && !names.empty()) names.pop_back();
    if (event == ReadJson::parse_event_t::key && !names.empty() && twice.empty()) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.back().insert(name).second) twice = name;
    }
    return true;
  };
  twice.clear();
  ReadJson out = ReadJson::parse(text, look, false);
  if (!twice.empty()) return ReadJson(ReadJson::value_t::discarded);
  return out;
}

/// Leaves an empty tree, without asking for memory.
inline void take_apart(nlohmann::ordered_json& json) noexcept {
  if (auto* const list = json.get_ptr<nlohmann::ordered_json::array_t*>()) {
    for (nlohmann::ordered_json& element : *list) take_apart(element);
    list->clear();
  } else if (auto* const table = json.get_ptr<nlohmann::ordered_json::object_t*>()) {
    for (auto& [key, value] : *table) take_apart(value);
    table->clear();
  }
}

namespace detail {

inline void put(nlohmann::ordered_json& /*object*/) {}
template <class Value, class... Rest>
void put(nlohmann::ordered_json& object, const char* key, Value&& value, Rest&&... rest) {
  object[key] = std::forward<Value>(value);
  put(object, std::forward<Rest>(rest)...);
}

}  // namespace detail

/// object("a", 1, "b", 2): keys and values in turn.
template <class... Pairs>
nlohmann::ordered_json object(Pairs&&... pairs) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  try {
    detail::put(out, std::forward<Pairs>(pairs)...);
  } catch (...) {
    take_apart(out);
    throw;
  }
  return out;
}

/// What `make` makes of every element, in their order.
template <class Range, class Make>
nlohmann::ordered_json list_of(const Range& range, const Make& make) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  try {
    for (const auto& element : range) out.push_back(make(element));
  } catch (...) {
    take_apart(out);
    throw;
  }
  return out;
}

/// An object of what `make` makes of every value, in the order of the names; of two with one name the later one counts. Assigning member by member
/// would look through all that are there each time.
template <class Pairs, class Make>
nlohmann::ordered_json object_of(const Pairs& pairs, const Make& make) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  auto& members = *out.get_ptr<nlohmann::ordered_json::object_t*>();
  std::unordered_map<std::string_view, std::size_t> places;
  try {
    for (const auto& [name, value] : pairs) {
      const auto [place, fresh] = places.emplace(name, members.size());
      if (fresh)
        members.push_back({name, make(value)});
      else
        members.begin()[static_cast<std::ptrdiff_t>(place->second)].second = make(value);
    }
  } catch (...) {
    take_apart(out);
    throw;
  }
  return out;
}

/// JSON has no infinity and no NaN: null.
inline nlohmann::ordered_json json_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// Indented, with an end of line. Invalid UTF-8 (a file name, say) must not be an exception.
inline std::string json_text(nlohmann::ordered_json json, int indent = 2) {
  try {
    std::string text = json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    take_apart(json);
    return text;
  } catch (...) {
    take_apart(json);
    throw;
  }
}

}  // namespace judder::io
