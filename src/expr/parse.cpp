// Text → syntax tree: a hand-written scanner and a precedence-climbing parser.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/convert.hpp"
#include "expr/units.hpp"
#include "judder/core/number.hpp"
#include "judder/expr/syntax.hpp"

namespace judder::expr {

namespace {

constexpr std::size_t kLongestText = 64 * 1024;
constexpr int kDeepestNesting = 200;
constexpr int kTallestTree = 1000;  ///< a + b + … leans to one side; trees are copied and freed recursively

enum class Token : std::uint8_t { end, number, word, symbol };

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_character(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Binding strengths, loose to tight.
enum Strength : int { kOr = 1, kAnd, kNot, kCompare, kAdd, kMultiply, kMinus, kPower, kPrime };

struct Infix {
  std::string_view text;
  Kind kind;
  int strength;
};
constexpr std::array<Infix, 13> kInfix{{{"or", Kind::logical_or, kOr},
                                        {"and", Kind::logical_and, kAnd},
                                        {"<", Kind::less, kCompare},
                                        {"<=", Kind::less_equal, kCompare},
                                        {">", Kind::greater, kCompare},
                                        {">=", Kind::greater_equal, kCompare},
                                        {"==", Kind::equal, kCompare},
                                        {"!=", Kind::unequal, kCompare},
                                        {"+", Kind::add, kAdd},
                                        {"-", Kind::subtract, kAdd},
                                        {"*", Kind::multiply, kMultiply},
                                        {"/", Kind::divide, kMultiply},
                                        {"^", Kind::power, kPower}}};

const Infix* find_infix(std::string_view text) {
  const auto it = std::find_if(kInfix.begin(), kInfix.end(), [&](const Infix& o) { return o.text == text; });
  return it == kInfix.end() ? nullptr : &*it;
}

const Infix* find_infix(Kind kind) {
  const auto it = std::find_if(kInfix.begin(), kInfix.end(), [&](const Infix& o) { return o.kind == kind; });
  return it == kInfix.end() ? nullptr : &*it;
}

bool is_reserved_operator(std::string_view word) {
  return word == "and" || word == "or" || word == "not" || word == "to";
}

/// Thrown and caught inside this file: the first syntax error ends the reading of a text.
struct Failure {};

class Parser {
 public:
  Parser(std::string_view text, std::vector<Problem>& problems) : text_(text), problems_(problems) {
    if (text.size() > kLongestText) {
      fail(0, 1, "the expression is longer than 64 KiB", "split it into definitions");
    }
    next();
  }

  Tree expression() { return expression(0).tree; }

  void expect_end() {
    if (token_ != Token::end) unexpected();
  }

  std::vector<Range> ranges() {
    std::vector<Range> result;
    do {
      result.push_back(range());
    } while (take(","));
    expect_end();
    return result;
  }

  Signature signature() {
    Signature result;
    result.name = word("a name");
    if (take("(")) {
      result.is_function = true;
      do {
        const std::uint32_t begin = begin_;
        std::string argument = word("the name of an argument");
        if (std::find(result.arguments.begin(), result.arguments.end(), argument) != result.arguments.end()) {
          fail(begin, begin + length(argument), "argument '" + argument + "' stands twice", "");
        }
        result.arguments.push_back(std::move(argument));
      } while (take(","));
      expect(")");
    }
    expect_end();
    return result;
  }

 private:
  struct Part {
    Tree tree;
    int height = 1;
  };

  static std::uint32_t length(std::string_view s) { return static_cast<std::uint32_t>(s.size()); }

  [[noreturn]] void fail(std::uint32_t begin, std::uint32_t end, std::string message, std::string help) {
    problems_.push_back({begin, end, std::move(message), std::move(help)});
    throw Failure{};
  }
  [[noreturn]] void fail_here(std::string message, std::string help) {
    fail(begin_, std::max(end_, begin_ + 1), std::move(message), std::move(help));
  }

  // --- scanner ---

  void next() {
    previous_end_ = end_;
    previous_word_ = token_ == Token::word ? std::optional(symbol_) : std::nullopt;
    while (place_ < text_.size() && is_space(text_[place_])) ++place_;
    begin_ = static_cast<std::uint32_t>(place_);
    if (place_ == text_.size()) {
      token_ = Token::end;
      symbol_ = {};
    } else if (is_letter(text_[place_])) {
      while (place_ < text_.size() && is_word_character(text_[place_])) ++place_;
      token_ = Token::word;
      symbol_ = text_.substr(begin_, place_ - begin_);
    } else if (is_digit(text_[place_]) ||
               (text_[place_] == '.' && place_ + 1 < text_.size() && is_digit(text_[place_ + 1]))) {
      scan_number();
    } else {
      scan_symbol();
    }
    end_ = static_cast<std::uint32_t>(place_);
  }

  void scan_number() {
    const auto digits = [&] {
      while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
    };
    digits();
    if (place_ < text_.size() && text_[place_] == '.') {
      ++place_;
      digits();
    }
    if (place_ < text_.size() && (text_[place_] == 'e' || text_[place_] == 'E')) {
      std::size_t after = place_ + 1;
      if (after < text_.size() && (text_[after] == '+' || text_[after] == '-')) ++after;
      if (after < text_.size() && is_digit(text_[after])) {
        place_ = after;
        digits();
      }
    }
    token_ = Token::number;
    symbol_ = text_.substr(begin_, place_ - begin_);
    const auto [length_read, error] = read_number(symbol_, number_);
    const bool few_digits =
        error == std::errc() && number_ != 0 && number_ < std::numeric_limits<double>::min();
    if (error == std::errc::result_out_of_range || few_digits) {
      // One error stands for what is too small and too large.
      const bool tiny = few_digits || symbol_.find("e-") != std::string_view::npos ||
                        symbol_.find("E-") != std::string_view::npos || symbol_.starts_with("0.") ||
                        symbol_.starts_with(".");
      fail(begin_, begin_ + length(symbol_),
           "the number " + std::string(symbol_.substr(0, 60)) + " is too " + (tiny ? "small" : "large"),
           "numbers lie between 2.3e-308 and 1.7e308");
    }
    if (error != std::errc() || length_read != symbol_.size()) {
      fail(begin_, begin_ + length(symbol_), "this is not a number", "");
    }
  }

  void scan_symbol() {
    static constexpr std::array<std::string_view, 8> kTwo{"<=", ">=", "==", "!=", "**", "&&", "||", "=>"};
    token_ = Token::symbol;
    for (const std::string_view two : kTwo) {
      if (text_.substr(place_, 2) == two) {
        symbol_ = text_.substr(place_, 2);
        place_ += 2;
        return;
      }
    }
    symbol_ = text_.substr(place_, 1);
    ++place_;
    const auto byte = static_cast<unsigned char>(symbol_[0]);
    if (byte >= 0x80) {
      // One character of UTF-8 as a whole.
      while (place_ < text_.size() && (static_cast<unsigned char>(text_[place_]) & 0xC0) == 0x80) ++place_;
      symbol_ = text_.substr(begin_, place_ - begin_);
    }
  }

  bool at(std::string_view symbol) const {
    return (token_ == Token::symbol || token_ == Token::word) && symbol_ == symbol;
  }
  bool take(std::string_view symbol) {
    if (!at(symbol)) return false;
    next();
    return true;
  }
  void expect(std::string_view symbol) {
    if (take(symbol)) return;
    if (token_ == Token::end) {
      fail(begin_, begin_ + 1, "'" + std::string(symbol) + "' is missing at the end", "");
    }
    unexpected();
  }
  std::string word(const char* what) {
    if (token_ != Token::word || is_reserved_operator(symbol_))
      fail_here(std::string("expected ") + what, "");
    std::string result(symbol_);
    next();
    return result;
  }

  /// Says what is wrong with the token that stands where an operator, a comma or the end should be.
  [[noreturn]] void unexpected() {
    const std::string shown(symbol_);
    const bool starts_operand =
        token_ == Token::number || at("(") || (token_ == Token::word && !is_reserved_operator(symbol_));
    if (token_ == Token::end) fail_here("the expression ends too early", "");
    if (starts_operand && previous_word_) {
      const std::string before(*previous_word_);
      fail_here(
          "an operator is missing before '" + shown + "'",
          "multiplication is written with *, and functions with brackets: " + before + "(" + shown + ")");
    }
    if (starts_operand) {
      fail_here("an operator is missing before '" + shown + "'",
                is_unit(shown) ? std::string(kNoUnits) : "multiplication is written with *: 2*x, not 2 x");
    }
    wrong_symbol(shown);
    fail_here("'" + shown + "' does not fit here", at(")") ? "there is no opening bracket for it" : "");
  }

  void wrong_symbol(const std::string& shown) {
    static constexpr std::array<std::array<std::string_view, 2>, 15> kHelp{
        {{"**", "powers are written x^2"},
         {"&&", "write and"},
         {"||", "write or"},
         {"&", "write and"},
         {"|", "write or, or abs(x)"},
         {"!", "write not"},
         {"%", "write mod(a, b)"},
         {"=", "equality is written =="},
         {"=>", "write >="},
         {"−", "use the ASCII minus sign -"},
         {"·", "multiplication is written *"},
         {"×", "multiplication is written *"},
         {"²", "powers are written x^2"},
         {"π", "write pi"},
         {"’", "the prime is the ASCII character '"}}};
    for (const auto& [symbol, help] : kHelp) {
      if (shown == symbol) fail_here("'" + shown + "' is not an operator of expressions", std::string(help));
    }
    if (!shown.empty() && static_cast<unsigned char>(shown[0]) >= 0x80) {
      fail_here("'" + shown + "' cannot stand in an expression", "names are ASCII letters, digits and _");
    }
  }

  // --- grammar ---

  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > kDeepestNesting) {
        parser.fail_here("the expression is nested deeper than 200 levels", "split it into definitions");
      }
    }
    ~Depth() { --parser.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Parser& parser;
  };

  Part join(Kind kind, std::uint32_t begin, Part left) {
    Part result;
    result.tree.kind = kind;
    result.tree.begin = begin;
    result.tree.end = previous_end_;
    result.height = left.height + 1;
    check_height(result.height);
    result.tree.children.push_back(std::move(left.tree));
    return result;
  }
  void append(Part& part, Part child) {
    part.height = std::max(part.height, child.height + 1);
    check_height(part.height);
    part.tree.children.push_back(std::move(child.tree));
    part.tree.end = previous_end_;
  }
  void check_height(int height) {
    if (height > kTallestTree) {
      fail_here("more than 1000 operations follow one another",
                "use sum(), or split the expression into definitions");
    }
  }

  Part expression(int least) {
    const Depth depth(*this);
    Part left = prefix();
    for (;;) {
      if (token_ == Token::end || token_ == Token::number) break;
      const Infix* infix = find_infix(symbol_);
      if (infix == nullptr || infix->strength < least) break;
      const bool to_the_right = infix->kind == Kind::power;
      next();
      const std::uint32_t begin = left.tree.begin;
      // The exponent may carry its own minus: 2^-x.
      Part right = to_the_right ? expression(kMinus) : expression(infix->strength + 1);
      left = join(infix->kind, begin, std::move(left));
      append(left, std::move(right));
      if (infix->strength == kCompare) {
        const Infix* again = token_ == Token::end || token_ == Token::number ? nullptr : find_infix(symbol_);
        if (again != nullptr && again->strength == kCompare) {
          fail_here("comparisons cannot be chained", "write a < b and b < c");
        }
      }
    }
    return left;
  }

  Part prefix() {
    const std::uint32_t begin = begin_;
    if (take("-")) return join(Kind::negate, begin, expression(kMinus));
    if (take("not")) return join(Kind::logical_not, begin, expression(kNot));
    if (at("+")) fail_here("'+' needs something on its left", "leave the sign out");
    Part part = primary();
    while (at("'")) {
      next();
      part = join(Kind::prime, begin, std::move(part));
    }
    return part;
  }

  Part primary() {
    const std::uint32_t begin = begin_;
    if (token_ == Token::number) {
      Part part;
      part.tree.value = number_;
      part.tree.begin = begin;
      next();
      part.tree.end = previous_end_;
      return part;
    }
    if (take("(")) {
      Part inside = expression(0);
      expect(")");
      inside.tree.begin = begin;
      inside.tree.end = previous_end_;
      return inside;
    }
    if (token_ == Token::word && !is_reserved_operator(symbol_)) return named();
    if (token_ == Token::end) {
      if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
        fail(0, 1, "the expression is empty", "");
      fail(begin_, begin_ + 1, "the expression ends too early", "a value is missing");
    }
    const std::string shown(symbol_);
    if (token_ == Token::symbol) wrong_symbol(shown);
    fail_here("'" + shown + "' stands where a value is needed", "");
  }

  Part named() {
    Part part;
    part.tree.begin = begin_;
    part.tree.kind = Kind::name;
    part.tree.text = std::string(symbol_);
    next();
    part.tree.end = previous_end_;
    if (at("(")) {
      next();
      if (part.tree.text == "sum") {
        sum(part);
      } else {
        part.tree.kind = Kind::call;
        if (!at(")")) {
          do {
            append(part, expression(0));
          } while (take(","));
        }
      }
      expect(")");
      part.tree.end = previous_end_;
    } else if (take("[")) {
      do {
        append(part, expression(0));
      } while (take(","));
      expect("]");
      part.tree.end = previous_end_;
    }
    return part;
  }

  void sum(Part& part) {
    part.tree.kind = Kind::sum;
    if (token_ != Token::word) fail_here("sum needs an index", "write sum(i = 1 to n, expression)");
    part.tree.text = word("the index of the sum");
    if (!take("=")) fail_here("sum needs a range", "write sum(i = 1 to n, expression)");
    append(part, expression(kAdd));
    if (!take("to"))
      fail_here("'to' is missing in the range of the sum", "write sum(i = 1 to n, expression)");
    append(part, expression(kAdd));
    if (!take(",")) fail_here("the expression to add up is missing", "write sum(i = 1 to n, expression)");
    append(part, expression(0));
  }

  Range range() {
    Range result;
    result.index = word("the name of an index");
    if (!take("=")) fail_here("'=' is missing after the index", "write i = 1 to n");
    result.from = expression(kAdd).tree;
    if (!take("to")) fail_here("'to' is missing in the range", "write i = 1 to n");
    result.to = expression(kAdd).tree;
    return result;
  }

  std::string_view text_;
  std::vector<Problem>& problems_;
  std::size_t place_ = 0;
  Token token_ = Token::end;
  std::string_view symbol_;
  std::optional<std::string_view> previous_word_;
  double number_ = 0;
  std::uint32_t begin_ = 0, end_ = 0, previous_end_ = 0;
  int depth_ = 0;
};

}  // namespace

Tree::~Tree() {
  std::vector<Tree> open = std::move(children);
  while (!open.empty()) {
    std::vector<Tree> below = std::move(open.back().children);
    open.pop_back();
    std::move(below.begin(), below.end(), std::back_inserter(open));
  }
}

std::optional<Tree> parse(std::string_view text, std::vector<Problem>& problems) {
  try {
    Parser parser(text, problems);
    Tree tree = parser.expression();
    parser.expect_end();
    return tree;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::optional<std::vector<Range>> parse_ranges(std::string_view text, std::vector<Problem>& problems) {
  try {
    return Parser(text, problems).ranges();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::optional<Signature> parse_signature(std::string_view text, std::vector<Problem>& problems) {
  try {
    return Parser(text, problems).signature();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

// --- trees as text ---

namespace {

int strength_of(const Tree& tree) {
  if (const Infix* infix = find_infix(tree.kind)) return infix->strength;
  switch (tree.kind) {
    case Kind::negate:
      return kMinus;
    case Kind::logical_not:
      return kNot;
    default:
      return kPrime;
  }
}

void write(const Tree& tree, int least, std::string& out);

void write_list(std::span<const Tree> trees, std::string& out) {
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (i > 0) out += ", ";
    write(trees[i], 0, out);
  }
}

void write(const Tree& tree, int least, std::string& out) {
  const int strength = strength_of(tree);
  const bool brackets = strength < least;
  if (brackets) out += '(';
  switch (tree.kind) {
    case Kind::number:
      append_number(out, tree.value);
      break;
    case Kind::name:
      out += tree.text;
      if (!tree.children.empty()) {
        out += '[';
        write_list(tree.children, out);
        out += ']';
      }
      break;
    case Kind::call:
      out += tree.text + '(';
      write_list(tree.children, out);
      out += ')';
      break;
    case Kind::sum:
      out += "sum(" + tree.text + " = ";
      write(tree.children[0], kAdd, out);
      out += " to ";
      write(tree.children[1], kAdd, out);
      out += ", ";
      write(tree.children[2], 0, out);
      out += ')';
      break;
    case Kind::prime: {
      const Tree* inside = &tree;
      std::size_t primes = 0;
      for (; inside->kind == Kind::prime; inside = &inside->children[0]) ++primes;
      write(*inside, kPrime, out);
      out.append(primes, '\'');
      break;
    }
    case Kind::negate:
      out += '-';
      write(tree.children[0], kMinus, out);
      break;
    case Kind::logical_not:
      out += "not ";
      write(tree.children[0], kNot, out);
      break;
    default: {
      // What leans to the left is written by a loop, from its first operand on.
      std::vector<const Tree*> links{&tree};
      const auto left_least = [](const Tree& t) {
        const int own = find_infix(t.kind)->strength;
        return t.kind == Kind::power ? static_cast<int>(kPrime) : own + (own == kCompare ? 1 : 0);
      };
      for (;;) {
        const Tree& left = links.back()->children[0];
        if (find_infix(left.kind) == nullptr || strength_of(left) < left_least(*links.back())) break;
        links.push_back(&left);
      }
      write(links.back()->children[0], left_least(*links.back()), out);
      while (!links.empty()) {
        const Tree& link = *links.back();
        links.pop_back();
        const Infix* infix = find_infix(link.kind);
        const bool tight = infix->strength >= kMultiply;
        if (!tight) out += ' ';
        out += infix->text;
        if (!tight) out += ' ';
        write(link.children[1], link.kind == Kind::power ? kMinus : infix->strength + 1, out);
      }
      break;
    }
  }
  if (brackets) out += ')';
}

}  // namespace

std::string to_text(const Tree& tree) {
  std::string out;
  write(tree, 0, out);
  return out;
}

}  // namespace judder::expr
