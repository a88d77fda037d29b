#include "judder/analysis/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace judder::analysis {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr std::size_t kMostEvents = 100'000;  // that words are made of

}  // namespace

bool parse_section(const std::string& text, SectionKind& out) {
  out = {};
  out.strobe = text == "strobe";
  if (out.strobe) return true;
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  if (colon != std::string::npos) out.where = text.substr(colon + 1);
  for (int k = 0; k <= static_cast<int>(engines::EventKind::watch); ++k) {
    if (word != engines::name(static_cast<engines::EventKind>(k))) continue;
    out.event = static_cast<engines::EventKind>(k);
    return true;
  }
  return false;
}

SectionTaker::SectionTaker(const model::System& system, SectionKind kind, std::size_t skip, std::size_t keep)
    : system_(system),
      kind_(std::move(kind)),
      skip_(skip),
      keep_(keep),
      width_(1 + static_cast<std::size_t>(system.layout().integrated())) {
  points_.reserve(keep_ * width_);
  restart(nullptr);
}

void SectionTaker::restart(const std::atomic<bool>* cancel) {
  cancel_ = cancel;
  met_ = 0;
  points_.clear();
  carried_.clear();
  reach_.assign(width_ - 1, 0.0);
  events_.clear();
  stop_ = false;
}

void SectionTaker::row(engines::RowKind kind, const engines::Mode&, model::Workspace& work) {
  if (kind != engines::RowKind::sample) return;
  const double* const y = work.in.data() + system_.layout().q();
  if (!stop_) carried_.assign(y, y + (width_ - 1));
  if (kind_.strobe) take(work.in[0], y);
}

void SectionTaker::event(const engines::Event& event, std::span<const double> state) {
  if (stop_) return;
  if (met_ >= skip_ && events_.size() < kMostEvents)
    events_.push_back({event.kind, event.place, event.on_switch, count()});
  if (kind_.strobe || event.kind != kind_.event) return;
  if (!kind_.where.empty() && engines::where(system_, event) != kind_.where) return;
  take(event.time, state.data());
}

void SectionTaker::take(double time, const double* y) {
  if (stop_) return;
  for (std::size_t i = 0; i < reach_.size(); ++i) reach_[i] = std::max(reach_[i], std::abs(y[i]));
  if (met_++ < skip_) return;
  points_.push_back(time);
  points_.insert(points_.end(), y, y + (width_ - 1));
  if (count() >= keep_) stop_ = true;
}

void SectionTaker::progress(double) {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) stop_ = true;
}

std::string SectionTaker::word(std::size_t from, std::size_t to) const {
  std::string out, last;
  std::size_t times = 0;
  const auto close = [&] {
    if (times == 0) return;
    out += (out.empty() ? "" : ", ") + (times > 1 ? std::to_string(times) + " " : std::string()) + last;
  };
  for (const Happened& happened : events_) {
    // The event of a point itself comes before it is kept, and ends its return.
    if (happened.before <= from || happened.before > to) continue;
    engines::Event event;
    event.kind = happened.kind;
    event.place = happened.place;
    event.on_switch = happened.on_switch;
    const std::string name = std::string(engines::name(event.kind)) + " " + engines::where(system_, event);
    if (name != last) {
      close();
      times = 0;
      last = name;
    }
    ++times;
  }
  close();
  return out;
}

std::size_t points_per_period(std::span<const double> points, std::size_t width,
                              const std::vector<bool>& drifts, std::size_t coordinates, double same,
                              std::span<const double> reach, std::span<const double> turns) {
  const std::size_t count = points.size() / width;
  constexpr std::size_t kParts = 6;
  if (count < 2 * kParts) return 0;
  const std::size_t components = width - 1;
  // With what a distance is compared: the largest value, or all velocities would be compared with their rounding.
  std::vector<double> size(components, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < components; ++i)
      size[i] = std::max(size[i], std::abs(points[k * width + 1 + i]));
  }
  constexpr double kSmallPart = 0.1;
  for (std::size_t i = 0; i < std::min(components, reach.size()); ++i)
    size[i] = std::max(size[i], kSmallPart * reach[i]);
  for (std::size_t i = 0; i < std::min(components, turns.size()); ++i) {
    if (turns[i] > 0) size[i] = std::min(size[i], turns[i]);
  }
  const double largest = *std::max_element(size.begin(), size.end());
  const double time = (points[(count - 1) * width] - points[0]) / (2 * kPi * static_cast<double>(count - 1));
  for (std::size_t i = 0; i < coordinates && time > 0; ++i) {
    const double place = size[i], velocity = size[coordinates + i];
    size[i] = std::max(place, velocity * time);
    size[coordinates + i] = std::max(velocity, place / time);
  }
  const auto distance = [&](std::size_t k, std::size_t p) {
    double out = 0;
    for (std::size_t i = 0; i < components; ++i) {
      if (i < drifts.size() && drifts[i]) continue;
      const double scale = std::max(size[i], 1e-6 * largest);
      if (scale == 0) continue;
      double apart = points[(k + p) * width + 1 + i] - points[k * width + 1 + i];
      if (i < turns.size() && turns[i] > 0) apart -= turns[i] * std::round(apart / turns[i]);
      out = std::max(out, std::abs(apart) / scale);
    }
    return out;
  };
  // The largest distance of each part, from the last backwards so that they are equally long.
  using Parts = std::array<double, kParts>;
  const auto parts = [&](std::size_t p) {
    Parts e{};
    const std::size_t length = count - p, part = length / kParts, begin = length - kParts * part;
    for (std::size_t j = 0; j < kParts; ++j) {
      for (std::size_t k = 0; k < part; ++k) e[j] = std::max(e[j], distance(begin + j * part + k, p));
    }
    return e;
  };
  // By how much, as a logarithm, returns get shorter: impacts that accumulate come ever sooner, and have no period that they tend to.
  const auto shortening = [&](std::size_t p) {
    const double first = points[p * width] - points[0],
                 last = points[(count - 1) * width] - points[(count - 1 - p) * width];
    return last > 0 ? std::log(first / last) : std::numeric_limits<double>::infinity();
  };
  constexpr double kFar = 0.2, kLeast = 1e-8;
  constexpr double kGrowth = 4;      // what is larger than it was at the beginning by more is no rounding
  constexpr double kShorter = 1e-2;  // of returns whose points are the same
  constexpr double kSameRate = 0.5;  // of logarithms
  for (std::size_t p = 1; 3 * p <= count; ++p) {
    if ((count - p) / kParts < 1) break;
    const Parts e = parts(p);
    const double now = std::max(e[kParts - 1], e[kParts - 2]);
    if (now <= same && (now <= kLeast || now <= kGrowth * std::max({e[0], e[1], e[2]})))
      return std::abs(shortening(p)) > kShorter ? 0 : p;
    bool falls = e[0] < kFar && e[kParts - 1] > 0;
    for (std::size_t j = 1; j < kParts; ++j) falls = falls && e[j] < e[j - 1];
    if (!falls) continue;
    const auto w = [&](std::size_t j) { return 0.5 / (e[j] * e[j]) + 0.5 / (e[j + 1] * e[j + 1]); };
    const double first = w(2) - w(0), second = w(4) - w(2);
    constexpr double kGrows = 1 + 1e-6;
    if (!(second > kGrows * first)) continue;
    const double rate = std::log(e[0] / e[kParts - 1]);
    if (shortening(p) > kSameRate * rate) return 0;
    // Towards a focus points go round, and only returns of about whole turns fall in every part. Others fall as fast, seen in parts of twice the length.
    for (std::size_t q = 1; q < p; ++q) {
      const Parts other = parts(q);
      const std::array<double, 3> twice{std::max(other[0], other[1]), std::max(other[2], other[3]),
                                        std::max(other[4], other[5])};
      const std::array<double, 3> own{std::max(e[0], e[1]), std::max(e[2], e[3]), std::max(e[4], e[5])};
      const double fall = std::log(twice[0] / twice[2]), wanted = std::log(own[0] / own[2]);
      const auto inverse = [&](std::size_t j) { return 1 / (twice[j] * twice[j]); };
      if (fall > kSameRate * wanted && inverse(2) - inverse(1) > inverse(1) - inverse(0)) return q;
    }
    return p;
  }
  return 0;
}

}  // namespace judder::analysis
