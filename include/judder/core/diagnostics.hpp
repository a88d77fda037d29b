// Messages about a model file, each tied to the place that caused it.
//
// A Span is a range of bytes of the file; line and column are computed only when a message is shown, from the text of the
// file. A Spec built in C++ has no file: its spans are empty and a message is known by `where` alone ("contact 'wall', gap").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace judder {

/// Bytes [begin, end) of the model file; begin == end == 0 means "no place in a file".
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] bool empty() const { return begin == end; }
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Span span;            ///< the offending bytes of `file`
  std::string where;    ///< the place in words: "contact 'wall', gap"; used when there is no span
  std::string message;  ///< what is wrong, one sentence without full stop
  std::string help;     ///< what to do; may be empty
  std::string file;     ///< empty: the model file itself; otherwise the data file that the span belongs to
};

class Diagnostics {
 public:
  void error(Span span, std::string where, std::string message, std::string help = {});
  void warning(Span span, std::string where, std::string message, std::string help = {});
  void add(Diagnostic diagnostic);

  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] int errors() const { return errors_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

/// One-based line and column (in characters, not bytes) of a byte offset.
struct Position {
  int line = 1;
  int column = 1;
};
[[nodiscard]] Position position(std::string_view text, std::size_t offset);

/// "file:line:column: error: message", the source line, a caret, and the help line. Sorted by place, errors before
/// warnings at one place. `text` is the text of the file called `file`. Colours are ANSI sequences.
[[nodiscard]] std::string render(const Diagnostics& diagnostics, std::string_view file, std::string_view text,
                                 bool colours = false);

/// The candidate nearest to `word` (edit distance without regard to case, at most a third of its length), or an empty string.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace judder
