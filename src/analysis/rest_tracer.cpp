#include "analysis/rest_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/dense/matrix.hpp"
#include "judder/contact/polyhedron.hpp"

namespace judder::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kSteps = 60;            ///< of Newton's method
constexpr int kMostSteps = 400;       ///< of it, as long as every step is shorter than the one before
constexpr double kLongest = 10;       ///< step, in scales
constexpr double kDependent = 1e-10;  ///< share of a row that others leave
constexpr double kShort = 1e-3;       ///< step that shows in which directions the set goes on
constexpr double kTaken = 0.05;       ///< share of it that must be left after correction
constexpr double kSlack = 1e-9;       ///< by which conditions may be missed
constexpr double kFar = 1e5;          ///< scales after which a set counts as endless
constexpr double kStraight = 0.98;    ///< cosine between tangents of one step
constexpr std::size_t kCorners = 8;   ///< of a set, from which its extremes are looked for again
constexpr int kMostPoints = 4000;     ///< of a curve, each way

}  // namespace

double RestTracer::distance(const Row& a, const Row& b) const {
  double out = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    out = std::max(out, std::abs(a[j] - b[j]) / equations_.scale()[j]);
  return out;
}

/// The shortest step with a·step = b, rows × unknowns; rows that others imply are left out. Rows are orthogonalised, largest remainder first.
void RestTracer::shortest(std::vector<double>& a, std::size_t rows, Row& b, Row& step) {
  const std::size_t width = equations_.unknowns();
  step.assign(width, 0);
  std::vector<std::uint8_t> done(rows, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    double size = 0;
    for (std::size_t j = 0; j < width; ++j) size = std::max(size, std::abs(a[i * width + j]));
    if (!(size > 1e-280)) {
      done[i] = 1;
      continue;
    }
    for (std::size_t j = 0; j < width; ++j) a[i * width + j] /= size;
    b[i] /= size;
  }
  for (std::size_t picked = 0; picked < rows; ++picked) {
    std::size_t pivot = rows;
    double most = kDependent;
    for (std::size_t i = 0; i < rows; ++i) {
      if (done[i] != 0) continue;
      double square = 0;
      for (std::size_t j = 0; j < width; ++j) square += a[i * width + j] * a[i * width + j];
      if (std::sqrt(square) <= most) continue;
      most = std::sqrt(square);
      pivot = i;
    }
    if (pivot == rows) break;
    done[pivot] = 1;
    double* unit = a.data() + pivot * width;
    for (std::size_t j = 0; j < width; ++j) unit[j] /= most;
    const double value = b[pivot] / most;
    for (std::size_t j = 0; j < width; ++j) step[j] += value * unit[j];
    for (std::size_t i = 0; i < rows; ++i) {
      if (done[i] != 0) continue;
      for (int twice = 0; twice < 2; ++twice) {
        double along = 0;
        for (std::size_t j = 0; j < width; ++j) along += a[i * width + j] * unit[j];
        for (std::size_t j = 0; j < width; ++j) a[i * width + j] -= along * unit[j];
        b[i] -= along * value;
      }
    }
  }
}

void RestTracer::condition_slopes(const Row& u, std::size_t count, std::vector<double>& out) {
  const std::size_t width = equations_.unknowns();
  out.assign(count * width, 0);
  std::vector<RestCondition> plus, minus;
  Row moved = u;
  for (std::size_t j = 0; j < width; ++j) {
    const double h = 1e-6 * equations_.scale()[j];
    moved[j] = u[j] + h;
    equations_.conditions(moved, plus);
    moved[j] = u[j] - h;
    equations_.conditions(moved, minus);
    moved[j] = u[j];
    for (std::size_t k = 0; k < count; ++k)
      out[k * width + j] = (plus[k].value - minus[k].value) / (2e-6 * plus[k].size);
  }
}

/// Whether what is left of these equations is rounding: no larger than what they change by under roundings of the unknowns.
bool RestTracer::noise_only(const Row& u, const Row& r, const std::vector<std::uint8_t>& open) {
  Row noise(r.size(), 0), other, terms, moved;
  for (int k = 1; k <= 8; ++k) {
    moved = u;
    for (std::size_t j = 0; j < u.size(); ++j) moved[j] *= 1 + ((k + static_cast<int>(j)) % 9 - 4) * kEpsilon;
    if (!equations_.residual(moved, other, terms)) return false;
    for (std::size_t i = 0; i < r.size(); ++i) noise[i] = std::max(noise[i], std::abs(other[i] - r[i]));
  }
  for (std::size_t i = 0; i < r.size(); ++i) {
    if (open[i] != 0 && !(std::abs(r[i]) <= 8 * noise[i])) return false;
  }
  return true;
}

bool RestTracer::newton(Row& u, double& error, const Border* border, const std::vector<Row>& known) {
  const std::size_t width = equations_.unknowns(), count = equations_.equations();
  const Row& scale = equations_.scale();
  Row r, terms, step, right;
  std::vector<std::uint8_t> open(count, 0);
  double before = kInfinity;
  bool polished = false;
  error = kInfinity;
  for (int round = 0; round < kMostSteps; ++round) {
    if (!equations_.residual(u, r, terms) || !equations_.jacobian(u, a_)) return false;
    error = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double reach = 0;
      for (std::size_t j = 0; j < width; ++j)
        reach += std::abs(a_[i * width + j]) * std::max(1.0, std::abs(u[j]) / scale[j]);
      const double measure = std::max(terms[i], reach);
      const double miss = r[i] == 0 ? 0 : measure > 0 ? std::abs(r[i]) / measure : kInfinity;
      open[i] = miss > tolerance_ ? 1 : 0;
      error = std::max(error, miss);
    }
    std::size_t rows = count;
    right = r;
    if (border != nullptr) {
      if (!border->normal.empty()) {
        double along = 0;
        for (std::size_t j = 0; j < width; ++j)
          along += border->normal[j] * (u[j] - border->point[j]) / scale[j];
        a_.insert(a_.end(), border->normal.begin(), border->normal.end());
        right.push_back(along);
        ++rows;
      }
      if (!border->tight.empty()) {
        equations_.conditions(u, conditions_);
        std::vector<double> slopes;
        condition_slopes(u, conditions_.size(), slopes);
        for (const std::size_t k : border->tight) {
          const auto from = slopes.begin() + static_cast<std::ptrdiff_t>(k * width);
          a_.insert(a_.end(), from, from + static_cast<std::ptrdiff_t>(width));
          right.push_back(conditions_[k].relative());
          ++rows;
          if (std::abs(right.back()) > 1e-12) error = std::max(error, 1.0);
        }
      }
    }
    if (polished) return true;
    // One more step than is needed: the last one is exact to rounding.
    polished = error <= tolerance_ && round > 0;
    shortest(a_, rows, right, step);
    double size = 0;
    for (std::size_t j = 0; j < width; ++j) {
      if (!std::isfinite(step[j])) return false;
      size = std::max(size, std::abs(step[j]) / (1 + std::abs(u[j]) / (kLongest * scale[j])));
    }
    double factor = 1;
    if (!known.empty()) {
      // The step of the deflated equations M F = 0, M = Π (1/|u − r|² + 1), is that of F times 1/(1 − ∇M·d/M).
      double slope = 0;
      for (const Row& root : known) {
        double square = 0, along = 0;
        for (std::size_t j = 0; j < equations_.positions(); ++j) {
          const double apart = (u[j] - root[j]) / scale[j];
          square += apart * apart;
          along += apart * -step[j];
        }
        if (square == 0) return false;
        slope += -2 * along / (square * square) / (1 / square + 1);
      }
      factor = 1 / (1 - slope);
      if (!std::isfinite(factor)) return false;
    }
    if (size * std::abs(factor) > kLongest) factor *= kLongest / (size * std::abs(factor));
    if (size == 0) break;
    for (std::size_t j = 0; j < width; ++j) u[j] -= factor * step[j] * scale[j];
    if (size <= 1e-15) break;
    if (round >= kSteps && !(size < 0.95 * before)) break;
    before = size;
  }
  if (polished) return equations_.residual(u, r, terms);
  if (error <= 100 * tolerance_) return true;
  // Roots of higher order end in the rounding of their formula.
  return border == nullptr && before < 1e-3 && equations_.residual(u, r, terms) && noise_only(u, r, open);
}

bool RestTracer::solve(Row& u, double& error, const std::vector<Row>& known) {
  if (!newton(u, error, nullptr, known)) return false;
  // A zero that was approached from one side is a zero.
  Row rounded = u, r, terms, other;
  bool any = false;
  for (std::size_t j = 0; j < u.size(); ++j) {
    if (u[j] == 0 || std::abs(u[j]) > 1e-9 * equations_.scale()[j]) continue;
    rounded[j] = 0;
    any = true;
  }
  if (!any || !equations_.residual(u, r, terms) || !equations_.residual(rounded, other, terms)) return true;
  for (std::size_t i = 0; i < r.size(); ++i) {
    if (std::abs(other[i]) > std::abs(r[i]) && std::abs(other[i]) > tolerance_ * terms[i]) return true;
  }
  u = rounded;
  return true;
}

std::vector<std::vector<double>> RestTracer::null_space(const Row& u) {
  const std::size_t width = equations_.unknowns(), count = equations_.equations();
  Row r, terms;
  if (!equations_.residual(u, r, terms) || !equations_.jacobian(u, a_)) return {};
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    Row row(a_.begin() + static_cast<std::ptrdiff_t>(i * width),
            a_.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    const double size = dense::norm(row);
    // A row without slope says nothing of directions here.
    if (!(size > 1e-12 * terms[i]) || !(size > 0)) continue;
    for (double& each : row) each /= size;
    rows.push_back(std::move(row));
  }
  const std::vector<Row> held = dense::independent(std::move(rows), kDependent);
  return dense::orthogonal_to(held, width);
}

/// Orthonormal directions in which the set goes on.
std::vector<std::vector<double>> RestTracer::directions(const Row& u) {
  const std::vector<Row> null = null_space(u);
  if (null.empty()) return {};
  const Row& scale = equations_.scale();
  std::mt19937_64 random(5);
  std::vector<Row> moved;
  for (std::size_t trial = 0; trial < 2 * null.size() + 2; ++trial) {
    Row direction(u.size(), 0);
    for (std::size_t b = 0; b < null.size(); ++b) {
      const double part =
          trial < null.size() ? (trial == b ? 1 : 0) : static_cast<double>(random() >> 11U) * 0x1p-52 - 1;
      for (std::size_t j = 0; j < u.size(); ++j) direction[j] += part * null[b][j];
    }
    const double size = dense::norm(direction);
    if (size == 0) continue;
    for (const double sign : {1.0, -1.0}) {
      Row there = u;
      for (std::size_t j = 0; j < u.size(); ++j) there[j] += sign * kShort * scale[j] * direction[j] / size;
      double error = 0;
      if (!newton(there, error, nullptr, {})) continue;
      Row gone(u.size());
      for (std::size_t j = 0; j < u.size(); ++j) gone[j] = (there[j] - u[j]) / (kShort * scale[j]);
      if (dense::norm(gone) < 3) moved.push_back(std::move(gone));
    }
  }
  std::vector<Row> out = dense::independent(std::move(moved), kTaken);
  if (out.size() > null.size()) out.resize(null.size());
  return out;
}

void RestTracer::widen(TracedRests& out, const Row& u) const {
  for (std::size_t j = 0; j < u.size(); ++j) {
    out.low[j] = std::min(out.low[j], u[j]);
    out.high[j] = std::max(out.high[j], u[j]);
  }
}

/// A point of the curve at this length along its tangent, and the tangent there. False: not found, or the curve turns too much.
bool RestTracer::step_along(const Row& from, const Row& tangent, double length, Row& to, Row& turned) {
  const Row& scale = equations_.scale();
  to = from;
  for (std::size_t j = 0; j < from.size(); ++j) to[j] += length * tangent[j] * scale[j];
  const Row predicted = to;
  const Border border{tangent, predicted, {}};
  double error = 0;
  if (!newton(to, error, &border, {})) return false;
  Row miss(from.size());
  for (std::size_t j = 0; j < from.size(); ++j) miss[j] = (to[j] - predicted[j]) / scale[j];
  if (dense::norm(miss) > 0.2 * length) return false;
  // The tangent: the old one, as far as the equations leave it; where they have no slope, the way that was gone.
  turned.assign(from.size(), 0);
  for (const Row& unit : null_space(to)) {
    const double along = dense::dot(unit, tangent);
    for (std::size_t j = 0; j < from.size(); ++j) turned[j] += along * unit[j];
  }
  const double size = dense::norm(turned);
  if (!(size > kStraight)) return false;
  for (double& each : turned) each /= size;
  return true;
}

/// The extreme of an unknown that has turned within a step.
void RestTracer::turn(const Row& from, const Row& tangent, double length, std::size_t i, TracedRests& out) {
  double low = 0, high = length;
  Row to, turned;
  for (int k = 0; k < 60 && high - low > 1e-12 * length; ++k) {
    const double middle = low + (high - low) / 2;
    if (!step_along(from, tangent, middle, to, turned)) return;
    (turned[i] * tangent[i] > 0 ? low : high) = middle;
    if (equations_.worst(to) >= -kSlack) widen(out, to);
  }
}

/// One way along a curve, to its end. True: it has come back to where it began.
bool RestTracer::follow(const Row& from, const Row& direction, TracedRests& out) {
  const Row& scale = equations_.scale();
  Row here = from, tangent = direction, to, turned, half, unused;
  double length = 0.02;
  for (int point = 0; point < kMostPoints; ++point) {
    patience_.look();
    const double most = 0.1 * (1 + distance(here, from));
    length = std::min(length, most);
    if (!step_along(here, tangent, length, to, turned)) {
      length /= 3;
      if (length < 1e-11) {
        out.whole = false;
        return false;
      }
      continue;
    }
    RestCondition failed;
    double inside = equations_.worst(to, &failed);
    if (inside >= -kSlack && step_along(here, tangent, length / 2, half, unused) &&
        equations_.worst(half, &failed) < -kSlack) {
      to = half;
      length /= 2;
      inside = -1;
    }
    if (inside < -kSlack || (std::abs(inside) <= kSlack && point == 0)) {
      // The end lies within this step; from a point on it the way may lead straight out.
      double low = 0, high = length;
      Row last = here;
      for (int k = 0; k < 100 && high - low > 1e-15 * length; ++k) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high) || !step_along(here, tangent, middle, to, unused)) break;
        RestCondition which;
        if (equations_.worst(to, &which) < 0) {
          high = middle;
          failed = which;
        } else {
          low = middle;
          last = to;
        }
      }
      // Unknowns that have turned before it.
      if (low > 0 && step_along(here, tangent, low, to, turned)) {
        for (std::size_t j = 0; j < here.size(); ++j) {
          if (turned[j] * tangent[j] < 0) turn(here, tangent, low, j, out);
        }
      }
      widen(out, last);
      out.points.push_back(last);
      out.ends.push_back({last, failed});
      return false;
    }
    for (std::size_t j = 0; j < here.size(); ++j) {
      if (turned[j] * tangent[j] < 0) turn(here, tangent, length, j, out);
    }
    widen(out, to);
    out.points.push_back(to);
    if (point > 5 && distance(to, from) < 0.7 * length && dense::dot(turned, direction) > 0.5) return true;
    if (distance(to, from) > kFar) {
      for (std::size_t j = 0; j < to.size(); ++j) {
        if (std::abs(to[j] - from[j]) < 0.01 * kFar * scale[j]) continue;
        (to[j] > from[j] ? out.high[j] : out.low[j]) = to[j] > from[j] ? kInfinity : -kInfinity;
      }
      return false;
    }
    here = to;
    tangent = turned;
    length *= 1.6;
  }
  out.whole = false;
  return false;
}

double RestTracer::value(const Goal& goal, const Row& u) {
  if (!goal.condition) return goal.sign * u[goal.number] / equations_.scale()[goal.number];
  equations_.conditions(u, conditions_);
  return goal.sign * conditions_[goal.number].relative();
}

/// Whether the set goes on between two near points of it.
bool RestTracer::connected(const Row& from, const Row& to) {
  if (distance(from, to) < 1e-3) return true;
  Row between(from.size());
  for (const double share : {0.25, 0.5, 0.75}) {
    for (std::size_t j = 0; j < from.size(); ++j) between[j] = from[j] + share * (to[j] - from[j]);
    double error = 0;
    if (!newton(between, error, nullptr, {}) || equations_.worst(between) < -1e-2) return false;
  }
  return true;
}

/// Uphill along the set from linear program to linear program.
std::vector<double> RestTracer::extreme(const Row& from, const Goal& goal, bool& endless) {
  const std::size_t width = equations_.unknowns(), count = equations_.equations();
  const Row& scale = equations_.scale();
  endless = false;
  Row here = from, terms, r;
  double box = 0.1;
  std::vector<double> slopes;
  std::vector<RestCondition> values;
  for (int round = 0; round < 200; ++round) {
    patience_.look();
    if (!equations_.residual(here, r, terms) || !equations_.jacobian(here, a_)) break;
    contact::Polyhedron program;
    program.variables = width;
    Row row(width);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(a_.begin() + static_cast<std::ptrdiff_t>(i * width), width, row.begin());
      const double size = dense::norm(row);
      if (!(size > 1e-12 * terms[i]) || !(size > 0)) continue;
      for (double& each : row) each /= size;
      program.add_equation(row, 0);
    }
    equations_.conditions(here, values);
    condition_slopes(here, values.size(), slopes);
    for (std::size_t k = 0; k < values.size(); ++k) {
      for (std::size_t j = 0; j < width; ++j) row[j] = -slopes[k * width + j];
      program.add_inequality(row, std::max(0.0, values[k].relative()));
    }
    for (std::size_t j = 0; j < width; ++j) {
      std::fill(row.begin(), row.end(), 0.0);
      row[j] = 1;
      program.add_inequality(row, box);
      row[j] = -1;
      program.add_inequality(row, box);
    }
    Row objective(width, 0);
    if (goal.condition) {
      for (std::size_t j = 0; j < width; ++j) objective[j] = goal.sign * slopes[goal.number * width + j];
    } else {
      objective[goal.number] = goal.sign;
    }
    const contact::LinearResult best = contact::PolyhedronSolver(program).maximise(objective);
    if (best.status != contact::LinearStatus::optimal || best.value <= 1e-13) break;
    Border border;
    for (std::size_t k = 0; k < values.size(); ++k) {
      double left = std::max(0.0, values[k].relative());
      for (std::size_t j = 0; j < width; ++j) left += slopes[k * width + j] * best.x[j];
      if (left <= 1e-10) border.tight.push_back(k);
    }
    Row there = here;
    for (std::size_t j = 0; j < width; ++j) there[j] += best.x[j] * scale[j];
    double error = 0;
    const bool found = newton(there, error, &border, {});
    const double now = value(goal, here);
    if (found && distance(there, here) <= 3 * box && equations_.worst(there) >= -kSlack &&
        value(goal, there) > now + 0.1 * best.value && connected(here, there)) {
      here = there;
      if (distance(here, from) > kFar) {
        endless = true;
        return here;
      }
      box = std::min(2 * box, 0.1 * (1 + distance(here, from)));
      continue;
    }
    box /= 4;
    if (box < 1e-9) break;
  }
  return here;
}

/// A set of more than one dimension, from extreme to extreme.
void RestTracer::extend(const Row& u, TracedRests& out) {
  equations_.conditions(u, conditions_);
  std::vector<Goal> goals;
  for (std::size_t j = 0; j < equations_.unknowns(); ++j) {
    goals.push_back({false, j, 1});
    goals.push_back({false, j, -1});
  }
  for (std::size_t k = 0; k < conditions_.size(); ++k) goals.push_back({true, k, -1});
  const auto reach = [&](const Goal& goal, const Row& from) {
    bool endless = false;
    const Row to = extreme(from, goal, endless);
    widen(out, to);
    if (endless && !goal.condition) (goal.sign > 0 ? out.high : out.low)[goal.number] = goal.sign * kInfinity;
    const bool seen = std::any_of(out.points.begin(), out.points.end(),
                                  [&](const Row& point) { return distance(point, to) < 1e-6; });
    if (!seen) out.points.push_back(to);
    if (!goal.condition || value(goal, to) < -1e-8) return;
    equations_.conditions(to, conditions_);
    const RestCondition met = conditions_[goal.number];
    const bool known = std::any_of(out.ends.begin(), out.ends.end(), [&](const TracedRests::End& end) {
      return end.condition.meaning == met.meaning && end.condition.place == met.place;
    });
    if (!known) out.ends.push_back({to, met});
  };
  for (const Goal& goal : goals) reach(goal, u);
  // From every corner that was met: an extreme may be one of its neighbourhood only.
  const std::size_t corners = std::min(out.points.size(), kCorners);
  for (std::size_t c = 1; c < corners; ++c) {
    for (const Goal& goal : goals) {
      if (!goal.condition) reach(goal, Row(out.points[c]));
    }
  }
}

TracedRests RestTracer::trace(const Row& u) {
  TracedRests out;
  out.inside = out.low = out.high = u;
  out.points.push_back(u);
  std::vector<Row> ways = directions(u);
  // At a crossing of branches there are more directions than the set has dimensions beside it.
  if (ways.size() > 1) {
    Row beside = u, turned;
    double error = 0;
    for (std::size_t j = 0; j < u.size(); ++j) {
      for (std::size_t w = 0; w < ways.size(); ++w)
        beside[j] += (w % 2 == 0 ? 0.01 : -0.007) * ways[w][j] * equations_.scale()[j];
    }
    if (newton(beside, error, nullptr, {}) && distance(beside, u) < 0.1) {
      const std::vector<Row> there = directions(beside);
      if (!there.empty() && there.size() < ways.size()) ways.resize(there.size());
    }
  }
  out.dimension = ways.size();
  if (ways.empty()) return out;
  if (out.dimension > 1) {
    extend(u, out);
    return out;
  }
  Row back = ways[0];
  for (double& each : back) each = -each;
  const bool closed = follow(u, ways[0], out);
  const std::vector<Row> one = std::move(out.points);
  out.points.clear();
  if (!closed) static_cast<void>(follow(u, back, out));
  // In order along the curve, and the point in its middle.
  std::reverse(out.points.begin(), out.points.end());
  out.points.insert(out.points.end(), one.begin(), one.end());
  Row lengths{0};
  for (std::size_t i = 1; i < out.points.size(); ++i)
    lengths.push_back(lengths.back() + distance(out.points[i], out.points[i - 1]));
  const auto middle = std::lower_bound(lengths.begin(), lengths.end(), lengths.back() / 2) - lengths.begin();
  const Row& inner = out.points[static_cast<std::size_t>(middle)];
  if (lengths.back() < kFar && middle > 0 && static_cast<std::size_t>(middle) + 1 < out.points.size() &&
      equations_.worst(inner) > equations_.worst(u))
    out.inside = inner;
  return out;
}

/// From one point of the set to another along it.
bool RestTracer::walk(const Row& from, const Row& to) {
  Row here = from;
  for (int step = 0; step < 60; ++step) {
    const double left = distance(here, to);
    if (left < 1e-5) return true;
    Row there = here;
    const double share = std::min(1.0, 0.1 / left);
    for (std::size_t j = 0; j < here.size(); ++j) there[j] += share * (to[j] - here[j]);
    double error = 0;
    if (!newton(there, error, nullptr, {}) || equations_.worst(there) < -1e-7) return false;
    if (distance(there, to) > left - 0.3 * std::min(left, 0.1)) return false;
    here = there;
  }
  return distance(here, to) < 1e-5;
}

/// Roots of higher order are found to the rounding of their formula only: between two of them there is nothing else.
bool RestTracer::same_root(const Row& a, const Row& b) {
  const double apart = distance(a, b);
  if (apart < 1e-6) return true;
  if (apart > 1e-3) return false;
  Row middle = a, r, terms;
  for (std::size_t j = 0; j < a.size(); ++j) middle[j] += (b[j] - a[j]) / 2;
  return equations_.residual(middle, r, terms) &&
         noise_only(middle, r, std::vector<std::uint8_t>(r.size(), 1));
}

bool RestTracer::contains(const TracedRests& set, const Row& u) {
  if (set.dimension == 0) return same_root(set.inside, u);
  for (std::size_t j = 0; j < u.size(); ++j) {
    const double slack = 1e-6 * equations_.scale()[j];
    if (u[j] < set.low[j] - slack || u[j] > set.high[j] + slack) return false;
  }
  if (set.dimension > 1)
    return std::any_of(set.points.begin(), set.points.end(),
                       [&](const Row& point) { return walk(point, u); });
  // On a curve that bends little from point to point.
  const Row& scale = equations_.scale();
  for (std::size_t i = 0; i + 1 < set.points.size(); ++i) {
    const Row &a = set.points[i], &b = set.points[i + 1];
    Row along(u.size()), to(u.size());
    for (std::size_t j = 0; j < u.size(); ++j) {
      along[j] = (b[j] - a[j]) / scale[j];
      to[j] = (u[j] - a[j]) / scale[j];
    }
    const double length = dense::norm(along);
    const double share = length > 0 ? std::clamp(dense::dot(to, along) / (length * length), 0.0, 1.0) : 0;
    for (std::size_t j = 0; j < u.size(); ++j) to[j] -= share * along[j];
    if (dense::norm(to) < 0.06 * length + 1e-6) return true;
  }
  return false;
}

}  // namespace judder::analysis
