#include "sample_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace judder::engines {

void SampleTimes::start(const EngineOptions& options) {
  from_ = options.from;
  until_ = options.until;
  every_ = options.every > 0 ? options.every : 0;
  last_ = every_ > 0 ? static_cast<long>(std::ceil((until_ - from_) / every_ - 1e-9)) : options.samples - 1;
  instants_.assign(options.instants.begin(), options.instants.end());
  index_ = 0;
  instant_ = 0;
  find_next();
}

double SampleTimes::regular(long k) const {
  if (k > last_) return std::numeric_limits<double>::infinity();
  if (k == last_) return until_;
  const auto index = static_cast<double>(k);
  return from_ + (every_ > 0 ? index * every_ : (until_ - from_) * (index / static_cast<double>(last_)));
}

void SampleTimes::find_next() {
  next_ = regular(index_);
  if (instant_ < instants_.size()) next_ = std::min(next_, instants_[instant_]);
}

void SampleTimes::advance() {
  const double now = next_;
  if (regular(index_) <= now) ++index_;
  while (instant_ < instants_.size() && instants_[instant_] <= now) ++instant_;
  find_next();
}

std::size_t SampleTimes::count_before(double t) const {
  if (!(next_ < t)) return 0;
  const double spacing = every_ > 0 ? every_ : (until_ - from_) / static_cast<double>(last_);
  long end = index_ + static_cast<long>((t - next_) / spacing);  // right but for one, by rounding
  while (end > index_ && !(regular(end - 1) < t)) --end;
  while (regular(end) < t) ++end;
  return static_cast<std::size_t>(end - index_);
}

void SampleTimes::take(std::size_t count, double* out, std::size_t stride) {
  // As in regular(), without its questions.
  const double span = until_ - from_;
  const auto last = static_cast<double>(last_);
  auto index = static_cast<double>(index_);
  for (std::size_t i = 0; i < count; ++i, ++index)
    out[i * stride] = from_ + (every_ > 0 ? index * every_ : span * (index / last));
  index_ += static_cast<long>(count);
  if (count > 0 && index_ > last_) out[(count - 1) * stride] = until_;
  next_ = regular(index_);
}

}  // namespace judder::engines
