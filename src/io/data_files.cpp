#include "io/data_files.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "judder/core/number.hpp"
#include "judder/io/csv.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

NumberTable failure(const std::string& name, std::size_t line, const std::string& message) {
  NumberTable out;
  out.problem = name + (line > 0 ? ", line " + std::to_string(line) : std::string()) + ": " + message;
  return out;
}

/// The path of the file, or a problem.
std::string locate(const fs::path& folder, const std::string& name, fs::path& out) {
  if (folder.empty()) return name + ": a model that is not in a file has no data files";
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos)
    return "the name of the data file is empty or not a name";
  if (relative.is_absolute()) return name + ": a data file is named by a path relative to the model file";
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return name + ": a data file must lie in the folder of the model file or below";
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return name + ": cannot be opened";
  const fs::path file = fs::canonical(folder / relative, error);
  if (error) return name + ": no such file beside the model file";
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end()) return name + ": a data file must lie in the folder of the model file or below";
  if (!fs::is_regular_file(file, error)) return name + ": not a file";
  if (const auto size = fs::file_size(file, error); error || size > kMaxDataBytes)
    return name + ": larger than 16 MiB";
  out = file;
  return {};
}

/// What can stand in a row of names above the numbers: no number, and nothing that was meant to be one (nan, -inf, 1.2.3, 5e).
bool is_name(std::string_view field) {
  const auto sign = [](char c) { return c == '+' || c == '-'; };
  const std::string_view rest = !field.empty() && sign(field.front()) ? field.substr(1) : field;
  if (!rest.empty() && (std::isdigit(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == '.'))
    return false;
  std::string word(rest);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word != "nan" && word != "inf" && word != "infinity";
}

NumberTable read_csv(const std::string& name, std::istream& in) {
  NumberTable table;
  CsvReader csv(in, {.record_bytes = std::size_t{1} << 20, .fields = 10'000});
  std::size_t entries = 0;
  bool first = true;
  while (csv.next()) {
    std::vector<double> row;
    bool names = first, empty = true, out_of_range = false;
    std::string wrong;
    for (std::size_t k = 0; k < csv.size(); ++k) {
      std::string_view field = csv.field(k);
      while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
      while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
      const auto number = parse_number(field);
      names = names && !number && is_name(field);
      empty = empty && field.empty();
      out_of_range = out_of_range || (!number && number_problem(field) != number_problem(""));
      if (!number && wrong.empty())
        wrong = "'" + std::string(field.substr(0, 40)) + "' " + number_problem(field);
      row.push_back(number.value_or(0));
    }
    names = names && !empty;
    if (!names && !wrong.empty())
      return failure(
          name, csv.line(),
          wrong + (first && !out_of_range ? "; the first row is names, or numbers like the others" : ""));
    first = false;
    if (names) continue;
    entries += row.size();
    if (entries > kMaxEntries)
      return failure(name, csv.line(), "more than " + std::to_string(kMaxEntries) + " numbers");
    table.rows.push_back(std::move(row));
  }
  if (csv.error()) return failure(name, csv.error()->line, csv.error()->message);
  if (table.rows.empty()) return failure(name, 0, "there are no numbers in it");
  return table;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; out.size() < 6 && in >> word;) out.push_back(word);
  return out;
}

/// A count in 1 … limit.
std::optional<std::size_t> count(const std::string& word, std::size_t limit) {
  const auto number = parse_number(word);
  if (!number || *number < 0 || *number > static_cast<double>(limit) || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<std::size_t>(*number);
}

NumberTable read_matrix_market(const std::string& name, std::istream& in, bool keep_sparse) {
  std::string line;
  std::size_t number = 1;
  std::getline(in, line);
  const std::vector<std::string> banner = words(lower_case(line));
  const auto is = [&banner](std::size_t k, std::initializer_list<const char*> allowed) {
    return banner.size() > k && std::find(allowed.begin(), allowed.end(), banner[k]) != allowed.end();
  };
  if (!is(1, {"matrix"}) || !is(2, {"coordinate", "array"}) || !is(3, {"real", "integer", "double"}) ||
      !is(4, {"general", "symmetric", "skew-symmetric"})) {
    return failure(name, 1,
                   "the first line must be '%%MatrixMarket matrix coordinate|array real "
                   "general|symmetric|skew-symmetric'");
  }
  const bool sparse = banner[2] == "coordinate";
  const bool whole = banner[3] == "integer";
  const bool general = banner[4] == "general";
  const double mirror = banner[4] == "skew-symmetric" ? -1 : 1;
  const auto next = [&](std::vector<std::string>& out) {
    while (std::getline(in, line)) {
      ++number;
      if (line.rfind('%', 0) == 0) continue;
      out = words(line);
      if (!out.empty()) return true;
    }
    return false;
  };
  std::vector<std::string> fields;
  if (!next(fields) || fields.size() != (sparse ? 3U : 2U)) {
    return failure(name, number,
                   sparse ? "expected the numbers of rows, columns and entries"
                          : "expected the numbers of rows and columns");
  }
  const bool keeps = sparse && keep_sparse;
  const auto rows = count(fields[0], keeps ? kMaxSparseSize : kMaxEntries);
  const auto columns = count(fields[1], keeps ? kMaxSparseSize : kMaxEntries);
  const auto listed =
      sparse ? count(fields[2], keeps ? kMaxNonzeros : kMaxEntries) : std::optional<std::size_t>(0);
  if (keeps && (!rows || !columns || !listed || *rows == 0 || *columns == 0)) {
    return failure(name, number,
                   "the sizes must be whole numbers up to " + std::to_string(kMaxSparseSize) +
                       ", with at most " + std::to_string(kMaxNonzeros) + " entries");
  }
  if (!keeps &&
      (!rows || !columns || !listed || *rows == 0 || *columns == 0 || *rows * *columns > kMaxEntries)) {
    return failure(
        name, number,
        "the sizes must be whole numbers with at most " + std::to_string(kMaxEntries) + " elements in all");
  }
  if (!general && *rows != *columns) return failure(name, number, "a symmetric matrix must be square");
  // Why a word is no entry, in words that go behind it; null: it is one.
  const auto entry_problem = [whole](const std::string& word) -> const char* {
    const auto value = parse_number(word);
    if (!value) return number_problem(word);
    if (!whole) return nullptr;
    if (word.find_first_of(".eE") != std::string::npos)
      return "is no whole number, as the first line says 'integer'";
    constexpr double kMostExact = 9007199254740992.0;  // 2^53
    return std::abs(*value) > kMostExact ? "is too large for a whole number" : nullptr;
  };
  const auto quoted = [](const std::string& word) { return "'" + word.substr(0, 40) + "' "; };
  NumberTable table;
  if (keeps) {
    table.sparse = true;
    table.row_count = static_cast<int>(*rows);
    table.column_count = static_cast<int>(*columns);
  } else {
    table.rows.assign(*rows, std::vector<double>(*columns, 0.0));
  }
  const auto put = [&](std::size_t i, std::size_t j, double value) {
    if (keeps) {
      table.entries.push_back({static_cast<int>(i), static_cast<int>(j), value});
      if (!general && i != j)
        table.entries.push_back({static_cast<int>(j), static_cast<int>(i), mirror * value});
      return;
    }
    table.rows[i][j] = value;
    if (!general && i != j) table.rows[j][i] = mirror * value;
  };
  if (sparse) {
    std::unordered_set<std::size_t> given;
    for (std::size_t k = 0; k < *listed; ++k) {
      if (!next(fields))
        return failure(
            name, number,
            "the file ends after " + std::to_string(k) + " of " + std::to_string(*listed) + " entries");
      const auto i = count(fields[0], *rows);
      const auto j = fields.size() == 3 ? count(fields[1], *columns) : std::nullopt;
      if (!i || !j || *i == 0 || *j == 0)
        return failure(name, number, "expected row, column and a finite number, inside the sizes");
      if (const char* const problem = entry_problem(fields[2]))
        return failure(name, number, quoted(fields[2]) + problem);
      if (!general && *i < *j)
        return failure(name, number, "of a symmetric matrix only the lower triangle is listed");
      if (mirror < 0 && *i == *j)
        return failure(name, number, "the diagonal of a skew-symmetric matrix is zero and not listed");
      if (!given.insert((*i - 1) * *columns + *j - 1).second)
        return failure(name, number, "this entry was given before");
      put(*i - 1, *j - 1, *parse_number(fields[2]));
    }
  } else {
    for (std::size_t j = 0; j < *columns; ++j) {
      const std::size_t top = general ? 0 : j + (mirror < 0 ? 1 : 0);
      for (std::size_t i = top; i < *rows; ++i) {
        if (!next(fields)) return failure(name, number, "the file ends before the last entry");
        if (fields.size() != 1) return failure(name, number, "expected one finite number");
        if (const char* const problem = entry_problem(fields[0]))
          return failure(name, number, quoted(fields[0]) + problem);
        put(i, j, *parse_number(fields[0]));
      }
    }
  }
  if (next(fields)) return failure(name, number, "more entries than announced");
  if (table.entries.size() > kMaxNonzeros)
    return failure(name, 0, "more than " + std::to_string(kMaxNonzeros) + " entries in both triangles");
  std::sort(table.entries.begin(), table.entries.end(),
            [](const model::MatrixEntry& one, const model::MatrixEntry& other) {
              return one.row != other.row ? one.row < other.row : one.column < other.column;
            });
  return table;
}

}  // namespace

namespace {

NumberTable read_located(const fs::path& file, const std::string& name, bool keep_sparse) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return failure(name, 0, "cannot be opened");
  std::string start(14, '\0');
  in.read(start.data(), 14);
  start.resize(static_cast<std::size_t>(in.gcount()));
  in.clear();
  in.seekg(0);
  return lower_case(start) == "%%matrixmarket" ? read_matrix_market(name, in, keep_sparse)
                                               : read_csv(name, in);
}

NumberTable problem_only(std::string problem) {
  NumberTable out;
  out.problem = std::move(problem);
  return out;
}

}  // namespace

NumberTable read_number_file(const fs::path& folder, const std::string& name, bool keep_sparse) {
  fs::path file;
  if (std::string problem = locate(folder, name, file); !problem.empty())
    return problem_only(std::move(problem));
  return read_located(file, name, keep_sparse);
}

NumberTable DataFiles::read(const std::string& name, bool keep_sparse) {
  fs::path file;
  if (std::string problem = locate(folder_, name, file); !problem.empty())
    return problem_only(std::move(problem));
  const std::pair<fs::path, bool> key(file, keep_sparse);
  auto at = known_.find(key);
  if (at == known_.end()) at = known_.emplace(key, read_located(file, "", keep_sparse)).first;
  const NumberTable& table = at->second;
  if (!table.problem.empty()) return problem_only(name + table.problem);
  // Entries of sparse matrices have a limit of their own, and there are few matrices.
  if (!table.sparse) entries_ += table.rows.size() * table.rows.front().size();
  if (entries_ > kMaxEntriesOfModel)
    return problem_only(name + ": with it the data of this model are more than " +
                        std::to_string(kMaxEntriesOfModel) + " numbers, counted at each use");
  return table;
}

}  // namespace judder::io
