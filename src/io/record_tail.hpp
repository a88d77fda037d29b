// What follows the saved bytes of a table: records that a killed run wrote after its last save, or something that somebody else has put there.
#pragma once

#include <cstdint>
#include <optional>

#include "io/disk.hpp"

namespace judder::io {

enum class TableKind { trajectory, events };

/// The number of the first line behind the first `bytes` bytes that no run writes; nothing: there are only records, the last one perhaps cut. After a
/// power cut there may be zeros in them. Returns 0, or the error with which the table could not be read.
[[nodiscard]] int foreign_line(const disk::Handle& table, std::uint64_t bytes, TableKind kind,
                               std::optional<std::uint64_t>& out);

}  // namespace judder::io
