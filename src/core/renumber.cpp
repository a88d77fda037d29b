#include "judder/core/renumber.hpp"

#include <algorithm>
#include <cstddef>

namespace judder {

std::vector<int> renumber(int n, std::span<const int> begin, std::span<const int> column) {
  const auto degree = [&](int i) { return begin[i + 1] - begin[i]; };
  std::vector<int> order, distance(static_cast<std::size_t>(n), -1);
  std::vector<bool> placed(static_cast<std::size_t>(n), false);
  std::vector<int> wave;
  // The last of a breadth-first walk lies at the rim of its part.
  const auto farthest = [&](int from) {
    for (const int i : wave) distance[i] = -1;
    wave.assign(1, from);
    distance[from] = 0;
    for (std::size_t k = 0; k < wave.size(); ++k) {
      for (int e = begin[wave[k]]; e < begin[wave[k] + 1]; ++e) {
        const int j = column[e];
        if (distance[j] >= 0 || placed[j]) continue;
        distance[j] = distance[wave[k]] + 1;
        wave.push_back(j);
      }
    }
    return wave.back();
  };
  for (int seed = 0; seed < n; ++seed) {
    if (placed[seed]) continue;
    // Where a connection is listed in one direction only, the walk back may miss the seed: then it is a start itself.
    int start = farthest(farthest(seed));
    if (distance[seed] < 0) start = seed;
    std::size_t k = order.size();
    order.push_back(start);
    placed[start] = true;
    for (; k < order.size(); ++k) {
      const std::size_t from = order.size();
      for (int e = begin[order[k]]; e < begin[order[k] + 1]; ++e) {
        const int j = column[e];
        if (placed[j]) continue;
        placed[j] = true;
        order.push_back(j);
      }
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(from), order.end(),
                       [&](int i, int j) { return degree(i) < degree(j); });
    }
  }
  std::vector<int> place(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) place[order[k]] = n - 1 - k;
  return place;
}

}  // namespace judder
