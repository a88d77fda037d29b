#include "coupling.hpp"

#include <algorithm>
#include <numeric>

namespace judder::engines {

// Items are coordinates, then states, then switches.
Coupling::Coupling(const model::System& system) : system_(system), coordinates_(system.layout().coordinates) {
  const model::Layout& layout = system.layout();
  const int first_switch = coordinates_ + layout.states;
  parent_.resize(first_switch + layout.switches);
  std::iota(parent_.begin(), parent_.end(), 0);
  const expr::Graph& graph = system.graph();
  const bool massless =
      std::find(system.massless().begin(), system.massless().end(), true) != system.massless().end();
  for (int i = 0; i < coordinates_; ++i) {
    for (int j = 0; j < i; ++j) {
      if (system.symbols().mass.empty()) {  // numbers that stand elsewhere (model/large_matrices.hpp)
        join(i, j);
        continue;
      }
      const expr::Node m = system.symbols().mass[i * coordinates_ + j];
      // The balance of massless coordinates may join any others.
      if (massless || !graph.is_constant(m) || graph.value(m) != 0) join(i, j);
    }
  }
  for (int k = 0; k < layout.switches; ++k) {
    for (const int inner : system.switches()[k].inner) join(first_switch + k, first_switch + inner);
  }
  inertia_ = parent_;
  numbers_.resize(parent_.size());
  reached_.resize(layout.switches);
  block_.reserve(layout.switches);
}

int Coupling::find(int item) {
  while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
  return item;
}

void Coupling::join(int a, int b) {
  a = find(a);
  b = find(b);
  if (a != b) parent_[std::max(a, b)] = std::min(a, b);
}

// Joins a switch with all that its side acts on directly.
void Coupling::join_reach(int k) {
  const model::SwitchInfo& info = system_.switches()[k];
  const int own = coordinates_ + system_.layout().states + k;
  for (const int i : info.moves) join(own, i);
  for (const int z : info.feeds) join(own, coordinates_ + z);
  for (const int r : info.relations) {
    const std::vector<int>& touches = system_.relations()[r].touches;
    if (!touches.empty()) join(own, touches.front());
  }
}

std::size_t Coupling::group(const Mode& mode, std::span<const int> switches) {
  const int first_switch = coordinates_ + system_.layout().states;
  std::copy(inertia_.begin(), inertia_.end(), parent_.begin());
  const auto& relations = system_.relations();
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const model::Relation& relation = relations[r];
    if (mode.normal[r] == NormalStatus::open || relation.touches.empty()) continue;
    for (const int i : relation.touches) join(relation.touches.front(), i);
    for (const int feed : relation.feeds) {
      if (!relations[feed].touches.empty()) join(relation.touches.front(), relations[feed].touches.front());
    }
  }
  std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
  for (const int k : switches) {
    const model::SwitchInfo& info = system_.switches()[k];
    const int own = first_switch + k;
    reached_[k] = 1;
    join_reach(k);
    for (const int i : info.sees) join(own, i);
    for (const int z : info.sees_states) join(own, coordinates_ + z);
  }
  // What stands in another surface acts through that one, too.
  for (int k = 0; k < system_.layout().switches; ++k) {
    const std::vector<int>& inner = system_.switches()[k].inner;
    if (reached_[k] != 0 ||
        std::none_of(inner.begin(), inner.end(), [this](int i) { return reached_[i] != 0; }))
      continue;
    reached_[k] = 1;
    join_reach(k);
  }
  std::fill(numbers_.begin(), numbers_.end(), -1);
  block_.clear();
  int count = 0;
  for (const int k : switches) {
    int& number = numbers_[find(first_switch + k)];
    if (number < 0) number = count++;
    block_.push_back(number);
  }
  return static_cast<std::size_t>(count);
}

}  // namespace judder::engines
