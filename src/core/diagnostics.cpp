#include "judder/core/diagnostics.hpp"

#include <algorithm>
#include <numeric>

#include "judder/core/printable.hpp"

namespace judder {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::string_view line_at(std::string_view text, std::size_t offset, std::size_t& begin) {
  offset = std::min(offset, text.size());
  begin = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  begin = (begin == std::string_view::npos || begin >= offset)
              ? (begin == 0 && offset > 0 && text[0] == '\n' ? 1 : 0)
              : begin + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  std::string_view line = text.substr(begin, end - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

const char* word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "";
}

// Insertions, deletions, replacements and swaps of neighbours.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

constexpr std::size_t kMostMessages = 200;   ///< shown; nobody reads more
constexpr std::size_t kMostCompared = 2000;  ///< candidates for a suggestion
constexpr std::size_t kLongestWord = 64;     ///< that a suggestion is looked for

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

void Diagnostics::error(Span span, std::string where, std::string message, std::string help) {
  add({Severity::error, span, std::move(where), std::move(message), std::move(help), {}});
}

void Diagnostics::warning(Span span, std::string where, std::string message, std::string help) {
  add({Severity::warning, span, std::move(where), std::move(message), std::move(help), {}});
}

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::error) ++errors_;
  all_.push_back(std::move(diagnostic));
}

Position position(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  Position at;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if (!continues_character(text[i])) {
      ++at.column;
    }
  }
  return at;
}

namespace {

/// Places of a text in constant time, for many messages about a long file.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') begins_.push_back(i + 1);
    }
  }
  [[nodiscard]] Position position(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), offset);
    const std::size_t begin = *(after - 1);
    Position at;
    at.line = static_cast<int>(after - begins_.begin());
    for (std::size_t i = begin; i < offset; ++i) at.column += continues_character(text_[i]) ? 0 : 1;
    return at;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_{0};
};

/// Names of any length stand in messages; what is longer than a few lines is cut in its middle.
std::string short_message(const std::string& text) { return printable_name(text, 400); }

}  // namespace

std::string render(const Diagnostics& diagnostics, std::string_view file, std::string_view text,
                   bool colours) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& d : diagnostics.all()) order.push_back(&d);
  std::stable_sort(order.begin(), order.end(), [](const Diagnostic* a, const Diagnostic* b) {
    const bool last_a = a->severity == Severity::note && a->span.empty();
    const bool last_b = b->severity == Severity::note && b->span.empty();
    if (last_a != last_b) return last_b;
    if (a->span.begin != b->span.begin) return a->span.begin < b->span.begin;
    return a->severity < b->severity;
  });
  const auto paint = [colours](const char* code) { return colours ? code : ""; };
  const Lines lines(text);
  const std::string name = printable_name(file, 400);

  std::string out;
  std::size_t shown = 0;
  for (const Diagnostic* d : order) {
    if (++shown > kMostMessages && d->severity != Severity::note) continue;
    const bool placed = !d->span.empty() && d->file.empty();
    out += paint("\033[1m");
    out += d->file.empty() ? name : printable_name(d->file, 400);
    if (placed) {
      const Position at = lines.position(d->span.begin);
      out += ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
    }
    out += ": ";
    out += paint(d->severity == Severity::error ? "\033[31m" : "\033[35m");
    out += word(d->severity);
    out += paint("\033[0m");
    out += ": ";
    if (!placed && !d->where.empty()) out += printable_name(d->where, 200) + ": ";
    out += short_message(d->message) + '\n';
    if (placed) {
      std::size_t begin = 0;
      constexpr std::size_t kWidest = 160;  // a longer line would bury the caret
      const std::string_view line = line_at(text, d->span.begin, begin);
      const std::size_t from = std::min<std::size_t>(d->span.begin - begin, line.size());
      if (line.size() <= kWidest) {
        // Control characters are written out, so the caret stands below what is shown, not below the bytes.
        std::size_t to = std::clamp<std::size_t>(d->span.end - begin, from, line.size());
        while (to < line.size() && continues_character(line[to])) ++to;  // whole characters
        const std::string before = printable(line.substr(0, from));
        const std::string marked = printable(line.substr(from, to - from));
        out += "  " + before + marked + printable(line.substr(to)) + "\n  ";
        for (const char c : before) {
          if (!continues_character(c)) out += c == '\t' ? '\t' : ' ';
        }
        const auto width =
            std::count_if(marked.begin(), marked.end(), [](char c) { return !continues_character(c); });
        out += paint("\033[32m");
        out += '^' + std::string(width > 1 ? static_cast<std::size_t>(width) - 1 : 0, '~');
        out += paint("\033[0m");
        out += '\n';
      }
    }
    if (!d->help.empty()) out += "  help: " + short_message(d->help) + '\n';
  }
  if (order.size() > kMostMessages)
    out += name + ": " + std::to_string(order.size() - kMostMessages) + " more messages are not shown\n";
  return out;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  if (word.size() > kLongestWord) return best;
  int least = static_cast<int>(word.size() / 3) + 1;  // of one or two letters only the case may differ
  const std::string wanted = lower_case(word);
  std::size_t compared = 0;
  for (const std::string& candidate : candidates) {
    // Words whose lengths differ by more than the best distance cannot be nearer.
    const std::size_t longer = std::max(candidate.size(), word.size()),
                      shorter = std::min(candidate.size(), word.size());
    if (static_cast<int>(std::min<std::size_t>(longer - shorter, 1000)) >= least) continue;
    if (++compared > kMostCompared) break;
    const int distance = edit_distance(wanted, lower_case(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace judder
