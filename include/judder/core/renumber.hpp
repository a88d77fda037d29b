// Numbers that bring what is connected together, so that the factors of a sparse matrix stay near its diagonal.
//
// Reverse Cuthill-McKee: breadth first from a place at the rim, neighbours of few neighbours first, then turned round. Every connected part is numbered by itself.
//
// E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proc. 24th ACM National Conference (1969).
#pragma once

#include <span>
#include <vector>

namespace judder {

/// The new number of each of `size` places; neighbours of place i are column[begin[i]] to column[begin[i + 1] − 1], in both directions.
[[nodiscard]] std::vector<int> renumber(int size, std::span<const int> begin, std::span<const int> column);

}  // namespace judder
