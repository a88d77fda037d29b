#include "tails.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "phase_lists.hpp"

namespace judder::engines {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Tails::Tails(int relations) : tails_(relations) { clear(); }

void Tails::clear() {
  for (Tail& tail : tails_) tail.end = kNone;
  first_ = kNone;
}

void Tails::find_first() {
  first_ = kNone;
  for (const Tail& tail : tails_) {
    if (!(first_ <= tail.end) && !std::isnan(tail.end)) first_ = tail.end;
  }
}

void Tails::begin(int relation, double end, double count, double remaining) {
  tails_[relation] = {end, count, remaining, 0, {}};
  find_first();
}

void Tails::add_impulse(int relation, double normal, std::span<const double> tangential) {
  Tail& tail = tails_[relation];
  tail.impulse += std::max(0.0, normal);
  for (std::size_t j = 0; j < tail.tangential.size(); ++j) tail.tangential[j] += tangential[j];
}

void Tails::cut(int relation, double t) {
  tails_[relation].end = t;
  find_first();
}

std::optional<Tail> Tails::take(int relation, double t) {
  if (!(tails_[relation].end <= t)) return std::nullopt;
  const Tail ended = tails_[relation];
  tails_[relation].end = kNone;
  find_first();
  return ended;
}

void Tails::save(std::vector<double>& out) const {
  if (!any()) return;
  for (const Tail& tail : tails_)
    out.insert(out.end(), {tail.end, tail.count, tail.remaining, tail.impulse, tail.tangential[0],
                           tail.tangential[1], tail.tangential[2]});
}

void Tails::load(std::span<const double> saved) {
  clear();
  if (saved.size() != phase_lists::kTail * tails_.size()) return;
  for (std::size_t r = 0; r < tails_.size(); ++r) {
    const double* const own = saved.data() + phase_lists::kTail * r;
    tails_[r] = {own[0], own[1], own[2], own[3], {own[4], own[5], own[6]}};
  }
  find_first();
}

}  // namespace judder::engines
