#include "closed_forms.hpp"

#include <algorithm>
#include <utility>

namespace judder::engines {

bool ClosedForms::same(const Mode& a, const Mode& b) {
  if (a.normal != b.normal || a.pressed != b.pressed || a.tangent != b.tangent || a.surface != b.surface)
    return false;
  for (std::size_t k = 0; k < a.side.size(); ++k) {
    if (!a.slides(k) && a.side[k] != b.side[k]) return false;
  }
  return true;
}

/// Lets forms go until another one of this size may be kept.
void ClosedForms::make_room(std::size_t bytes) {
  const auto all = [this] {
    std::size_t sum = 0;
    for (const Kept& kept : kept_) sum += kept.form->bytes();
    return sum;
  };
  while (!kept_.empty() && (kept_.size() >= kMost || all() + bytes > kMostBytes)) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                 [](const Kept& a, const Kept& b) { return a.used < b.used; }));
  }
}

ClosedForm* ClosedForms::of(const model::System& system, model::Workspace& work, ModeMotion& motion,
                            const Guards& guards, Patience* patience, std::string& problem) {
  const Mode& mode = motion.mode();
  const std::uint64_t key = mode.key();
  const std::vector<double> corners = motion.corner_sides();
  ++clock_;
  for (Kept& kept : kept_) {
    if (kept.key != key || !same(kept.mode, mode) || kept.corners != corners) continue;
    kept.used = clock_;
    return kept.form.get();
  }
  // Before it is built, so that there are never more: it will be about as large as the largest so far.
  std::size_t largest = 0;
  for (const Kept& kept : kept_) largest = std::max(largest, kept.form->bytes());
  make_room(largest);
  auto form = std::make_unique<ClosedForm>();
  form->use(patience);
  problem = form->build(system, work, motion, guards);
  if (!problem.empty()) return nullptr;
  make_room(form->bytes());
  kept_.push_back({mode, key, corners, clock_, std::move(form)});
  return kept_.back().form.get();
}

}  // namespace judder::engines
