#include "judder/simulate/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "judder/simulate/simulate.hpp"
#include "judder/simulate/told.hpp"

namespace judder::simulate {
namespace {

/// Where a step is looked at besides its middle: a curve with a turn on both sides may pass through that.
constexpr std::array<double, 2> kProbes{0.21, 0.84};
constexpr double kRounding = 1e-9;  ///< of the size of a quantity: what reactions may be off by
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What is no number makes no corner.
double off(double first, double last, double between, double share) {
  const double miss = std::abs(between - (first + share * (last - first)));
  return std::isfinite(miss) ? miss : 0;
}

double distance_of(const engines::EngineOptions& run) {
  if (run.every > 0) return run.every;
  return run.samples > 1 ? (run.until - run.from) / static_cast<double>(run.samples - 1) : kInfinity;
}

}  // namespace

void Curve::Track::add(Kind kind, double time, const double* value, std::size_t width) {
  kinds.push_back(kind);
  times.push_back(time);
  values.insert(values.end(), value, value + width);
}

void Curve::Track::clear() {
  kinds.clear();
  times.clear();
  values.clear();
}

Curve::Curve(const model::System& system, const engines::EngineOptions& run, const CurveOptions& options)
    : system_(system),
      options_(options),
      work_(system),
      event_rows_(run.event_rows),
      distance_(distance_of(run)) {
  const model::Layout& layout = system.layout();
  const std::vector<std::string> names = column_names(system);
  for (int i = 1; i <= layout.integrated(); ++i) {
    places_.push_back(i);
    names_.push_back(names[static_cast<std::size_t>(i)]);
  }
  const std::vector<char> of_works = columns_of_works(system, work_);
  for (std::size_t c = 0; c < system.columns().size(); ++c) {
    const model::ColumnInfo& column = system.columns()[c];
    if (column.mode_of >= 0 || column.value < 0 || of_works[c] != 0) continue;
    places_.push_back(-1 - column.value);
    names_.push_back(column.name);
    reads_columns_ = true;
  }
  width_ = places_.size();
  memory_.resize((kDeepest + 2) * width_);
  for (std::vector<double>* one :
       {&first_, &probe_, &last_, &corridor_.start, &corridor_.held, &corridor_.least, &corridor_.most})
    one->resize(width_);
  least_.assign(width_, kInfinity);
  most_.assign(width_, -kInfinity);
  // A point is worth nothing if a picture has hardly any.
  constexpr std::size_t kFewest = 64;
  given_up_ = width_ == 0 || options_.most_numbers < kFewest * width_;
}

/// A phase begins.
void Curve::point(const engines::ToldPoint& told) {
  if (told.kind != engines::Telling::after || given_up_) return;
  end_phase();
  read_ = false;
}

bool Curve::read(double time, engines::Along& motion, double* out) {
  const engines::ToldPoint* told = motion.at(time);
  if (told == nullptr) return false;
  if (reads_columns_) {
    load_told(system_, *told, work_);
    system_.column_values(work_, work_.output.data());
  }
  for (std::size_t q = 0; q < width_; ++q) {
    out[q] = places_[q] >= 0 ? told->in[static_cast<std::size_t>(places_[q])]
                             : work_.output[static_cast<std::size_t>(-1 - places_[q])];
  }
  note(out);
  return true;
}

void Curve::note(const double* values) {
  for (std::size_t q = 0; q < width_; ++q) {
    if (!std::isfinite(values[q])) continue;
    least_[q] = std::min(least_[q], values[q]);
    most_[q] = std::max(most_[q], values[q]);
  }
}

/// Half of what a picture may be off by: pieces have the one half, the corridor the other.
double Curve::allowed(std::size_t quantity) const {
  const double range = most_[quantity] - least_[quantity];
  const double size = std::max(std::abs(most_[quantity]), std::abs(least_[quantity]));
  return std::max(0.5 * options_.miss * range, kRounding * size);
}

bool Curve::bent(const double* first, const double* last, const double* between, double share) const {
  for (std::size_t q = 0; q < width_; ++q) {
    if (off(first[q], last[q], between[q], share) > allowed(q)) return true;
  }
  return false;
}

void Curve::along(double from, double to, engines::Along& motion) {
  if (given_up_ || !(to > from)) return;
  if (!read_ || read_time_ != from) {
    if (!read(from, motion, first_.data())) return;
    candidate(from, first_.data());
  }
  read_ = read(to, motion, level(0));
  if (!read_) return;
  piece(from, to, 0, motion);
  read_time_ = to;
}

/// From `first_` at `from` to level(depth) at `to`. Afterwards first_ is the end.
void Curve::piece(double from, double to, int depth, engines::Along& motion) {
  const double middle = from + 0.5 * (to - from);
  double* const end = level(depth);
  double* const between = level(depth + 1);
  if (middle > from && middle < to && read(middle, motion, between)) {
    bool halve = bent(first_.data(), end, between, 0.5);
    for (std::size_t k = 0; depth == 0 && !halve && k < kProbes.size(); ++k) {
      halve = read(from + kProbes[k] * (to - from), motion, probe_.data()) &&
              bent(first_.data(), end, probe_.data(), kProbes[k]);
    }
    if (halve && depth < kDeepest) {
      piece(from, middle, depth + 1, motion);
      std::copy_n(end, width_, between);
      if (!given_up_) piece(middle, to, depth + 1, motion);
      return;
    }
    candidate(middle, between);
  }
  candidate(to, end);
  std::copy_n(end, width_, first_.begin());
}

/// A point of the phase, behind all before it.
void Curve::candidate(double time, const double* values) {
  if (given_up_ || (corridor_.begun && !(time > last_time_))) return;
  if (!corridor_.begun) track_.add(Kind::begin, time, values, width_);
  feed(corridor_, track_, time, values);
  last_time_ = time;
  std::copy_n(values, width_, last_.begin());
  if (track_.values.size() + width_ > options_.most_numbers) thin();
}

/// Slopes of lines from the start of the corridor that pass by a point near enough.
void Curve::narrow(Corridor& corridor, double time, const double* values, bool fresh) const {
  const double length = time - corridor.start_time;
  for (std::size_t q = 0; q < width_; ++q) {
    const double slope = (values[q] - corridor.start[q]) / length;
    const double slack = allowed(q) / length;
    if (fresh) {
      corridor.least[q] = -kInfinity;
      corridor.most[q] = kInfinity;
    }
    if (!std::isfinite(slope) || !std::isfinite(slack)) continue;
    corridor.least[q] = std::max(corridor.least[q], slope - slack);
    corridor.most[q] = std::min(corridor.most[q], slope + slack);
  }
}

void Curve::feed(Corridor& corridor, Track& out, double time, const double* values) const {
  if (!corridor.begun) {
    corridor.begun = true;
    corridor.holds = false;
    corridor.start_time = time;
    std::copy_n(values, width_, corridor.start.begin());
    return;
  }
  bool inside = corridor.holds;
  for (std::size_t q = 0; inside && q < width_; ++q) {
    const double slope = (values[q] - corridor.start[q]) / (time - corridor.start_time);
    inside = !std::isfinite(slope) || (slope >= corridor.least[q] && slope <= corridor.most[q]);
  }
  if (corridor.holds && !inside) {
    out.add(Kind::inner, corridor.held_time, corridor.held.data(), width_);
    corridor.start_time = corridor.held_time;
    std::swap(corridor.start, corridor.held);
  }
  narrow(corridor, time, values, !inside);
  corridor.holds = true;
  corridor.held_time = time;
  std::copy_n(values, width_, corridor.held.begin());
}

void Curve::close(Corridor& corridor, Track& out, double time, const double* values) const {
  if (corridor.begun && corridor.holds) out.add(Kind::end, time, values, width_);
  corridor.begun = corridor.holds = false;
}

void Curve::end_phase() {
  if (corridor_.begun) close(corridor_, track_, last_time_, last_.data());
}

/// The points that are kept go through a corridor with the present ranges and miss.
void Curve::think_over() {
  other_.clear();
  Corridor corridor;
  for (std::vector<double>* one : {&corridor.start, &corridor.held, &corridor.least, &corridor.most})
    one->resize(width_);
  for (std::size_t i = 0; i < track_.times.size(); ++i) {
    const double* values = track_.values.data() + i * width_;
    if (track_.kinds[i] == Kind::begin) {
      corridor.begun = false;
      other_.add(Kind::begin, track_.times[i], values, width_);
    }
    feed(corridor, other_, track_.times[i], values);
    if (track_.kinds[i] == Kind::end) close(corridor, other_, track_.times[i], values);
  }
  // Of a phase that goes on the last point kept is where its corridor begins.
  if (corridor.begun && corridor.holds)
    other_.add(Kind::inner, corridor.held_time, corridor.held.data(), width_);
  std::swap(track_, other_);
}

/// Memory is full.
void Curve::thin() {
  while (4 * track_.values.size() > 3 * options_.most_numbers) {
    options_.miss *= 4;  // corners at their distance for one miss lie at half of that for four times the miss
    if (options_.miss > options_.most_miss) {
      given_up_ = true;
      track_ = other_ = {};
      return;
    }
    think_over();
  }
}

/// Whether straight lines between rows pass by a point of the track, between two neighbours, near enough.
bool Curve::rows_suffice(std::size_t i) const {
  const double before = track_.times[i] - track_.times[i - 1], after = track_.times[i + 1] - track_.times[i];
  const auto has_row = [this](std::size_t k) { return event_rows_ && track_.kinds[k] != Kind::inner; };
  // A line from row to row may span more than this corner where the next one is nearer than the next row.
  if ((before < distance_ && !has_row(i - 1)) || (after < distance_ && !has_row(i + 1))) return false;
  const double left = std::min(before, distance_), right = std::min(after, distance_);
  const double* here = track_.values.data() + i * width_;
  for (std::size_t q = 0; q < width_; ++q) {
    const double bend =
        std::abs((here[width_ + q] - here[q]) / after - (here[q] - here[q - width_]) / before);
    // The line from `left` before the corner to `right` behind it passes it at this distance.
    if (bend * left * right / (left + right) > allowed(q)) return false;
  }
  return true;
}

CurvePoints Curve::take() {
  CurvePoints out;
  end_phase();
  if (given_up_) return out;
  think_over();
  out.columns = names_;
  const std::size_t count = track_.times.size();
  for (std::size_t i = 1; i + 1 < count; ++i) {
    if (track_.kinds[i] != Kind::inner || rows_suffice(i)) continue;
    out.times.push_back(track_.times[i]);
    const auto begin = track_.values.begin() + static_cast<std::ptrdiff_t>(i * width_);
    out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(width_));
  }
  track_ = other_ = {};
  return out;
}

}  // namespace judder::simulate
