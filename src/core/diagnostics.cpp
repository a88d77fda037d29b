#include "judder/core/diagnostics.hpp"

#include <algorithm>
#include <numeric>

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

std::string render(const Diagnostics& diagnostics, std::string_view file, std::string_view text,
                   bool colours) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& d : diagnostics.all()) order.push_back(&d);
  std::stable_sort(order.begin(), order.end(), [](const Diagnostic* a, const Diagnostic* b) {
    if (a->span.begin != b->span.begin) return a->span.begin < b->span.begin;
    return a->severity < b->severity;
  });
  const auto paint = [colours](const char* code) { return colours ? code : ""; };

  std::string out;
  for (const Diagnostic* d : order) {
    const bool placed = !d->span.empty() && d->file.empty();
    out += paint("\033[1m");
    out += d->file.empty() ? std::string(file) : d->file;
    if (placed) {
      const Position at = position(text, d->span.begin);
      out += ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
    }
    out += ": ";
    out += paint(d->severity == Severity::error ? "\033[31m" : "\033[35m");
    out += word(d->severity);
    out += paint("\033[0m");
    out += ": ";
    if (!placed && !d->where.empty()) out += d->where + ": ";
    out += d->message + '\n';
    if (placed) {
      std::size_t begin = 0;
      constexpr std::size_t kWidest = 160;  // a longer line would bury the caret
      const std::string_view line = line_at(text, d->span.begin, begin);
      const std::size_t from = d->span.begin - begin;
      if (line.size() <= kWidest) {
        out += "  " + std::string(line) + "\n  ";
        for (std::size_t i = 0; i < std::min(from, line.size()); ++i) {
          if (!continues_character(line[i])) out += line[i] == '\t' ? '\t' : ' ';
        }
        const std::size_t to = std::min<std::size_t>(d->span.end - begin, line.size());
        std::size_t width = 0;
        for (std::size_t i = from; i < to; ++i) width += continues_character(line[i]) ? 0 : 1;
        out += paint("\033[32m");
        out += '^' + std::string(width > 1 ? width - 1 : 0, '~');
        out += paint("\033[0m");
        out += '\n';
      }
    }
    if (!d->help.empty()) out += "  help: " + d->help + '\n';
  }
  return out;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  int least = static_cast<int>(word.size() / 3) + 1;  // of one or two letters only the case may differ
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + 8 || word.size() > candidate.size() + 8) continue;
    const int distance = edit_distance(lower_case(word), lower_case(candidate));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace judder
