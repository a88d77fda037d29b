// Reader of `.dat` files of contact problems.
#include <algorithm>
#include <cmath>

#include "judder/contact/one_step.hpp"
#include "judder/core/number.hpp"

namespace judder::contact {

namespace {

constexpr int kMaxContacts = 100'000;
constexpr int kMaxDense = 8192;

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  double number(const char* what) {
    const std::size_t from = text_.find_first_not_of(" \t\r\n", at_);
    if (from == std::string_view::npos) return fail(std::string("the file ends before ") + what);
    const std::size_t to = std::min(text_.find_first_of(" \t\r\n", from), text_.size());
    at_ = to;
    const auto value = parse_number(text_.substr(from, to - from));
    if (!value || !std::isfinite(*value)) return fail(std::string("not a number: ") + what);
    return *value;
  }
  int whole(const char* what, int lowest, int highest) {
    const double value = number(what);
    if (!error.empty()) return lowest;
    if (!(value >= lowest && value <= highest) || value != std::floor(value)) {
      fail(std::string(what) + " must be a whole number from " + std::to_string(lowest) + " to " +
           std::to_string(highest));
      return lowest;
    }
    return static_cast<int>(value);
  }
  [[nodiscard]] bool ok() const { return error.empty(); }

  std::string error;

 private:
  double fail(std::string message) {
    if (error.empty()) error = std::move(message);
    return 0;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

void read_dense(Words& words, int n, OneStepData& data) {
  if (n > kMaxDense) {
    words.error = "a dense matrix may have at most " + std::to_string(kMaxDense) + " rows";
    return;
  }
  for (int twice = 0; twice < 2; ++twice) {
    (void)words.whole("the number of rows", n, n);
    (void)words.whole("the number of columns", n, n);
  }
  if (!words.ok()) return;
  const auto size = static_cast<std::size_t>(n);
  data.W.resize(size * size);
  for (std::size_t j = 0; j < size && words.ok(); ++j) {
    for (std::size_t i = 0; i < size && words.ok(); ++i)
      data.W[i * size + j] = words.number("the matrix is complete");
  }
}

void read_columns(Words& words, int n, OneStepData& data) {
  if (n > kMaxDense) {
    words.error = "a matrix by columns may have at most " + std::to_string(kMaxDense) + " rows";
    return;
  }
  const int most = n * n;
  const int nonzeros = words.whole("the number of entries", 0, most);
  (void)words.whole("the number of rows", n, n);
  (void)words.whole("the number of columns", n, n);
  if (!words.ok()) return;
  std::vector<int> start(static_cast<std::size_t>(n) + 1), row(static_cast<std::size_t>(nonzeros));
  for (int& value : start) value = words.whole("the start of a column", 0, nonzeros);
  for (int& value : row) value = words.whole("a row index", 0, n - 1);
  if (!words.ok()) return;
  data.W.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  for (int j = 0; j < n; ++j) {
    if (start[j] > start[j + 1]) words.error = "the starts of columns must rise";
    for (int e = start[j]; e < start[j + 1] && words.ok(); ++e)
      data.W[static_cast<std::size_t>(row[e]) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] +=
          words.number("the matrix is complete");
  }
}

// Cumulative sizes of block rows or columns; all blocks are contacts of the same size.
void read_sizes(Words& words, int contacts, int dimension) {
  for (int i = 1; i <= contacts && words.ok(); ++i)
    (void)words.whole("the end of a block row", i * dimension, i * dimension);
}

void read_blocks(Words& words, int contacts, int dimension, OneStepData& data) {
  const int n = contacts * dimension;
  (void)words.whole("the number of rows", n, n);
  (void)words.whole("the number of columns", n, n);
  const int stored = words.whole("the number of blocks", 0, 50'000'000);
  (void)words.whole("the number of block rows", contacts, contacts);
  (void)words.whole("the number of block columns", contacts, contacts);
  read_sizes(words, contacts, dimension);
  read_sizes(words, contacts, dimension);
  (void)words.whole("the number of row starts", contacts + 1, contacts + 1);
  (void)words.whole("the number of column indices", stored, stored);
  for (int i = 0; i <= contacts && words.ok(); ++i) {
    data.begin.push_back(words.whole("the start of a block row", 0, stored));
    if (i > 0 && data.begin[i] < data.begin[i - 1]) words.error = "the starts of block rows must rise";
  }
  if (words.ok() && (data.begin.front() != 0 || data.begin.back() != stored))
    words.error = "the starts of block rows must go from 0 to the number of blocks";
  for (int e = 0; e < stored && words.ok(); ++e)
    data.column.push_back(words.whole("a column index", 0, contacts - 1));
  const int size = dimension * dimension;
  for (int e = 0; e < stored && words.ok(); ++e) {
    (void)words.whole("the number of a block", e, e);
    data.value.push_back(e * size);
    data.values.resize(data.values.size() + static_cast<std::size_t>(size));
    double* block = data.values.data() + data.value.back();
    for (int j = 0; j < dimension && words.ok(); ++j) {
      for (int i = 0; i < dimension; ++i) block[i * dimension + j] = words.number("the matrix is complete");
    }
  }
  for (int i = 0; i < contacts && words.ok(); ++i) {
    bool own = false;
    for (int e = data.begin[i]; e < data.begin[i + 1]; ++e) own = own || data.column[e] == i;
    if (!own) words.error = "block row " + std::to_string(i) + " has no diagonal block";
  }
}

}  // namespace

OneStepProblem OneStepData::problem() const {
  OneStepProblem p;
  p.blocks = blocks;
  p.q = q.data();
  if (!W.empty()) {
    p.W = W.data();
  } else {
    p.begin = begin;
    p.column = column;
    p.value = value;
    p.values = values.data();
  }
  return p;
}

OneStepData read_one_step(std::string_view text) {
  OneStepData data;
  Words words(text);
  const int dimension = words.whole("the dimension", 2, 3);
  const int contacts = words.whole("the number of contacts", 1, kMaxContacts);
  const int storage = words.whole("the storage", 0, 2);
  if (words.ok()) {
    if (storage == 0) read_dense(words, contacts * dimension, data);
    if (storage == 1) read_blocks(words, contacts, dimension, data);
    if (storage == 2) read_columns(words, contacts * dimension, data);
  }
  for (int k = 0; k < contacts * dimension && words.ok(); ++k)
    data.q.push_back(words.number("q is complete"));
  for (int i = 0; i < contacts && words.ok(); ++i) {
    StepBlock block;
    block.slips = dimension - 1;
    block.mu = words.number("the friction coefficients are complete");
    if (words.ok() && !(block.mu >= 0)) words.error = "friction coefficients must not be negative";
    data.blocks.push_back(block);
  }
  data.error = words.error;
  return data;
}

}  // namespace judder::contact
