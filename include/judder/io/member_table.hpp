// The table of an ensemble, from its file of records: CSV, or arrays for NumPy.
//
//     CSV   member, status, time, [variant], the names of the plan, what was collected, message; a line for each member, in their order
//     NPY   the same as a structured array: numpy.load("sweep.npy")["max(N)"]
//     NPZ   an array for each column, of the shape of the grid: numpy.load("sweep.npz")["max(N)"][3, 7]
//
// Records go through one chunk at a time: memory does not grow with their number.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judder/io/member_file.hpp"

namespace judder::io {

/// What the numbers of a record are: values, collected, then the time reached and the reason (core/status.hpp) as a number; −1: no equations.
struct MemberTable {
  std::vector<std::string> names;     ///< of the plan
  std::vector<std::string> variants;  ///< by number, which is then the first value; empty: none
  std::vector<std::string> collected;
  std::vector<std::size_t> shape;  ///< of the grid

  [[nodiscard]] std::size_t numbers() const {
    return (variants.empty() ? 0 : 1) + names.size() + collected.size() + 2;
  }
};

/// As the title of a file of records, and back. False: it is none.
[[nodiscard]] std::string member_title(const MemberTable& table);
[[nodiscard]] bool read_member_title(const std::string& title, MemberTable& table);

/// "done", "watch", …, or "no-equations".
[[nodiscard]] std::string member_status(double number);

/// Why no table can have that name; empty: it can.
[[nodiscard]] std::string table_name_problem(const std::filesystem::path& file);
/// Success if a table may be written there.
[[nodiscard]] FileStatus refuse_foreign_table(const std::filesystem::path& file);
/// By the extension: .csv, .npy, .npz.
/// Why a table of so many members cannot be written there, before any of them is made.
[[nodiscard]] FileStatus table_size_problem(const std::filesystem::path& file, std::size_t members,
                                            const MemberTable& table);
[[nodiscard]] FileStatus write_member_table(const MemberFile& records, const MemberTable& table,
                                            const std::filesystem::path& file);

/// A plain array of doubles as NPY, in C order.
[[nodiscard]] std::string npy(const std::vector<double>& values, const std::vector<std::size_t>& shape);
/// Several of them as NPZ, by name.
[[nodiscard]] std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays);

}  // namespace judder::io
