#include "mode_setting.hpp"

#include <algorithm>

namespace judder::engines {
namespace {

constexpr std::size_t kMost = 64;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

}  // namespace

KeptModes::KeptModes(const model::System& system, model::Workspace& work)
    : system_(system), work_(work), fresh_(std::make_unique<ModeSetting>(system, work)) {
  const model::Layout& layout = system.layout();
  const std::size_t rows = layout.relations + layout.tangents;
  const std::size_t bytes = 8 * (rows * (2 * layout.coordinates + rows) + layout.size()) + 4096;
  most_ = std::clamp<std::size_t>(kMostBytes / bytes, 4, kMost);
}

ModeSetting* KeptModes::find(std::uint64_t key, const Mode& mode, const double* parameters) {
  ++clock_;
  const int count = system_.layout().free_parameters;
  for (const auto& kept : kept_) {
    if (kept->key != key || !(kept->mode == mode)) continue;
    if (!std::equal(parameters, parameters + count, kept->frozen.end() - count)) continue;
    kept->used = clock_;
    return kept.get();
  }
  return nullptr;
}

void KeptModes::keep() {
  fresh_->used = clock_;
  if (kept_.size() < most_) {
    kept_.push_back(std::move(fresh_));
    fresh_ = std::make_unique<ModeSetting>(system_, work_);
    return;
  }
  const auto oldest = std::min_element(kept_.begin(), kept_.end(),
                                       [](const auto& a, const auto& b) { return a->used < b->used; });
  std::swap(*oldest, fresh_);
}

}  // namespace judder::engines
