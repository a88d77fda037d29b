#include "judder/model/spec.hpp"

#include <algorithm>

#include "judder/core/number.hpp"

namespace judder::model {

Span Text::locate(std::size_t begin, std::size_t end) const {
  if (span.empty()) return {};
  const auto clip = [this](std::size_t offset) {
    return std::clamp(static_cast<std::uint32_t>(offset), span.begin, span.end);
  };
  if (end <= begin) end = begin + 1;  // a caret needs at least one byte to point at
  if (origin.empty()) return {clip(span.begin + quote + begin), clip(span.begin + quote + end)};
  const std::size_t last = origin.size() - 1;
  const Span found{origin[std::min(begin, last)], origin[std::min(end - 1, last)] + 1};
  return found.begin < found.end ? found : span;
}

Value::Value(double n) : given(true), number(n), text(to_text(n)) {}

}  // namespace judder::model
