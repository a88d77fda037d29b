#include "judder/io/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>

#include "judder/core/number.hpp"
#include "judder/core/work.hpp"
#include "judder/expr/graph.hpp"
#include "judder/expr/syntax.hpp"

namespace judder::io {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out{""};
  int open = 0;
  for (const char c : text) {
    open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && open <= 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (std::string& part : out) {
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
  }
  return out;
}

namespace {

/// Numbers, pi and functions of them.
class NoNames final : public expr::Environment {
 public:
  expr::Meaning meaning(std::string_view) override { return {}; }
  std::vector<std::string> names() override { return {}; }
  std::variant<expr::Node, expr::Forbidden> prime(expr::Node) override {
    return expr::Forbidden{"nothing moves here", ""};
  }
};

}  // namespace

std::optional<double> read_value(const std::string& text, std::string* why) {
  if (const auto number = parse_number(text)) return number;
  std::vector<expr::Problem> problems;
  const auto refused = [&]() -> std::optional<double> {
    if (why != nullptr && !problems.empty()) *why = problems.front().message;
    return std::nullopt;
  };
  const auto tree = expr::parse(text, problems);
  if (!tree) return refused();
  expr::Graph graph;
  Work work;
  graph.limit(&work);
  NoNames none;
  try {
    const auto node = expr::lower(*tree, graph, none, {}, problems);
    if (!node || !graph.is_constant(*node) || !isfinite(graph.value(*node))) return refused();
    return graph.value(*node).raw();
  } catch (const WorkStopped&) {
    return std::nullopt;
  }
}

std::string range_problem(const std::string& text, int most, bool counted) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3 || parts.size() < (counted ? 3U : 2U))
    return "'" + text + "' is no range, which is FROM:TO" + (counted ? ":COUNT" : " or FROM:TO:COUNT");
  for (std::size_t i = 0; i < 2; ++i) {
    std::string why;
    if (!read_value(parts[i], &why))
      return "'" + parts[i] + "' " + number_problem(parts[i]) + (why.empty() ? "" : ": " + why);
  }
  return "'" + parts.back() + "' is no count, which is a whole number from 2 to " + std::to_string(most);
}

std::optional<Range> parse_range(const std::string& text, int most) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const auto from = read_value(parts[0]);
  const auto to = read_value(parts[1]);
  if (!from || !to) return std::nullopt;
  Range range{*from, *to};
  if (parts.size() == 3) {
    const auto count = read_value(parts[2]);
    if (!count || !(*count >= 2 && *count <= most) || *count != std::floor(*count)) return std::nullopt;
    range.count = static_cast<int>(*count);
  }
  return range;
}

}  // namespace judder::io
