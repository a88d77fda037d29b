// Where families of rest states change over a parameter: types at values, bisection between them, and a search for what comes and goes.
#include "judder/analysis/family_changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/rest_layout.hpp"
#include "judder/analysis/rest_survey.hpp"
#include "judder/core/patience.hpp"

namespace judder::analysis {
namespace {

/// What there is at one value. Signs of `numbers` are what the words depend on; each has a name, so that values can be compared.
struct Type {
  std::vector<std::string> words;
  std::map<std::string, double> numbers;
};

constexpr int kInside = 4;              ///< values looked at between two given ones
constexpr int kHalvings = 60;           ///< of an interval with a change
constexpr int kNarrowings = 40;         ///< of an interval with a dip
constexpr std::size_t kMost = 4000;     ///< values in all
constexpr std::size_t kMostChosen = 6;  ///< relations; the margins of 2⁶ choices are followed
constexpr double kTogether = 1e-7;      ///< changes nearer than this share of value and step are told as one
constexpr double kKnifeEdge = 1e-2;     ///< of the step: types that last so long may be a matter of tolerance
constexpr double kStrict = 1e-3;        ///< of the tolerance, where that is asked

/// By how much all inequalities of a choice can be kept at once, in the units of their rows; negative: none of its states exists. Infinite where
/// equations alone decide.
double margin(const RestProblem& rest, const std::vector<std::uint8_t>& closed) {
  const contact::Polyhedron from = rest_polyhedron(rest, closed);
  contact::Polyhedron lifted;
  lifted.variables = from.variables + 1;
  std::vector<double> row(lifted.variables, 0);
  const auto lift = [&](const std::vector<double>& rows, std::size_t i) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i * from.variables), from.variables, row.begin());
    double size = 0;
    for (std::size_t j = 0; j < from.variables; ++j) size = std::max(size, std::abs(row[j]));
    return size;
  };
  for (std::size_t i = 0; i < from.equation_count(); ++i) {
    static_cast<void>(lift(from.equations, i));
    row.back() = 0;
    lifted.add_equation(row, from.equation_values[i]);
  }
  for (std::size_t i = 0; i < from.inequality_count(); ++i) {
    const double size = lift(from.inequalities, i);
    row.back() = size;
    lifted.add_inequality(row, from.bounds[i]);
  }
  std::fill(row.begin(), row.end(), 0.0);
  row.back() = 1;
  const contact::LinearResult found = contact::PolyhedronSolver(lifted).maximise(row);
  return found.status == contact::LinearStatus::optimal ? found.value
                                                        : std::numeric_limits<double>::infinity();
}

std::string family_words(const RestProblem& rest, const RestFamily& family, const RestJudgement& judgement) {
  std::string out =
      status_words(rest, family.inside) + ", dimension " + std::to_string(family.dimension) + ", ";
  const bool endless = std::any_of(family.ranges.begin(), family.ranges.end(), [](const RestRange& range) {
    return std::isinf(range.low) || std::isinf(range.high);
  });
  if (endless && family.dimension > 0) out += "unbounded, ";
  out += judgement.ambiguous ? "ambiguous" : name(judgement.stability);
  if (family.dimension == 0 || family.faces.empty()) return out;
  std::vector<std::string> sides;
  for (const RestFace& face : family.faces) sides.push_back(face.meaning);
  std::sort(sides.begin(), sides.end());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  for (std::size_t i = 0; i < sides.size(); ++i) out += (i == 0 ? ", to " : ", ") + sides[i];
  return out;
}

class Sweeper {
 public:
  Sweeper(const model::Spec& spec, const model::CompileOptions& compile, const std::string& parameter,
          const EquilibriaOptions& options)
      : spec_(spec), compile_(compile), parameter_(parameter), options_(options) {
    patience_.start(options.cancel);
  }

  FamilyChanges find(double from, double to, int points) {
    step_ = std::abs(to - from) / (points - 1);
    std::vector<double> values;
    for (int i = 0; i + 1 < points; ++i) {
      for (int j = 0; j <= kInside; ++j)
        values.push_back(from + (to - from) * (i * (kInside + 1) + j) / ((points - 1) * (kInside + 1)));
    }
    values.push_back(to);
    for (std::size_t i = 0; i + 1 < values.size(); ++i) look_between(values[i], values[i + 1], 0);
    for (std::size_t i = 0; i + 2 < values.size(); ++i) look_at_dips(values[i], values[i + 1], values[i + 2]);
    FamilyChanges out;
    out.values = types_.size();
    out.cut = cut_;
    merge(out, to < from);
    return out;
  }

 private:
  const Type& at(double value) {
    const auto known = types_.find(value);
    if (known != types_.end()) return known->second;
    return types_.emplace(value, look(value, options_.tolerance)).first->second;
  }
  [[nodiscard]] bool enough() {
    cut_ = cut_ || types_.size() >= kMost;
    return cut_;
  }

  Type look(double value, double tolerance) {
    patience_.look();
    EquilibriaOptions options = options_;
    options.tolerance = tolerance;
    model::CompileOptions how = compile_;
    std::erase_if(how.set, [&](const model::Named& named) { return named.name.text == parameter_; });
    how.set.push_back({parameter_, value});
    const model::Compiled compiled = model::compile(spec_, how);
    Type out;
    EquilibriaProblem problem;
    if (!compiled.system) return {{"the model does not compile"}, {}};
    const auto rest = rest_problem(*compiled.system, options, problem);
    if (!rest)
      return {{problem.not_affine ? std::string("the model is not affine at rest") : problem.message}, {}};
    const double restitution = largest_restitution(*compiled.system);
    for (const RestFamily& family : equilibria(*rest, options).families) {
      const RestJudgement judgement = judge(*rest, family.inside, {}, restitution);
      out.words.push_back(family_words(*rest, family, judgement));
      if (family.dimension > 0 || judgement.eigenvalues.empty()) continue;
      // What a verdict by eigenvalues depends on: whether one grows, and whether two of them meet.
      const std::string who = status_words(*rest, family.inside);
      out.numbers["growth " + who] = judgement.eigenvalues.front().real();
      double apart = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < judgement.eigenvalues.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j)
          apart = std::min(apart, std::abs(judgement.eigenvalues[i] - judgement.eigenvalues[j]));
      }
      out.numbers["apart " + who] = apart;
    }
    const std::size_t bits = chosen_relations(*rest).size();
    if (bits > kMostChosen) return out;
    for (std::size_t mask = 0; mask < std::size_t{1} << bits; ++mask) {
      std::vector<std::uint8_t> choice(bits);
      for (std::size_t i = 0; i < bits; ++i) choice[i] = static_cast<std::uint8_t>(mask >> i & 1U);
      const double found = margin(*rest, choice);
      if (std::isfinite(found)) out.numbers["choice " + std::to_string(mask)] = found;
    }
    return out;
  }

  /// All changes between two values that lie next to each other on the list.
  void look_between(double a, double b, int depth) {
    if (enough()) return;
    if (at(a).words == at(b).words) {
      if (depth == 0 || std::abs(b - a) < 1e-3 * step_) return;
      // A half that a change has left over: what comes and goes there.
      const double middle = a + (b - a) / 2;
      if (at(middle).words == at(a).words) return;
      look_between(a, middle, depth + 1);
      look_between(middle, b, depth + 1);
      return;
    }
    double low = a, high = b;
    for (int n = 0; n < kHalvings; ++n) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (at(middle).words == at(a).words ? low : high) = middle;
    }
    breaks_.emplace_back(low, high);
    if (low != a) look_between(a, low, depth + 1);
    if (high != b) look_between(high, b, depth + 1);
  }

  /// Where a number comes nearer to zero between two values of the same type, it may cross zero and come back.
  void look_at_dips(double l, double m, double r) {
    if (at(l).words != at(m).words || at(m).words != at(r).words) return;
    for (const auto& [key, middle] : std::map<std::string, double>(at(m).numbers)) {
      const auto left = at(l).numbers.find(key), right = at(r).numbers.find(key);
      if (left == at(l).numbers.end() || right == at(r).numbers.end()) continue;
      const double size = std::abs(middle);
      if (size > std::abs(left->second) || size > std::abs(right->second)) continue;
      if (size == std::abs(left->second) && size == std::abs(right->second)) continue;
      if (const auto found = narrow(key, l, r, at(m).words)) {
        look_between(l, *found, 1);
        look_between(*found, r, 1);
        return;
      }
    }
  }

  /// Golden section for the least size of a number; the first value of another type.
  std::optional<double> narrow(const std::string& key, double l, double r,
                               const std::vector<std::string>& words) {
    const double golden = 0.5 * (std::sqrt(5.0) - 1);
    const auto size = [&](double value) {
      const auto found = at(value).numbers.find(key);
      return found == at(value).numbers.end() ? std::numeric_limits<double>::infinity()
                                              : std::abs(found->second);
    };
    double x = r - golden * (r - l), y = l + golden * (r - l);
    for (int n = 0; n < kNarrowings && !enough(); ++n) {
      for (const double value : {x, y}) {
        if (at(value).words != words) return value;
      }
      if (size(x) < size(y)) {
        r = y;
        y = x;
        x = r - golden * (r - l);
      } else {
        l = x;
        x = y;
        y = l + golden * (r - l);
      }
    }
    return std::nullopt;
  }

  /// Whether the type between two changes, at these values and between them, cannot be told from a change: it hardly lasts, or only as long as
  /// inequalities may be missed by the tolerance.
  bool together(double last, double low) {
    if (std::abs(low - last) <= kTogether * std::max(std::abs(low), step_)) return true;
    if (std::abs(low - last) > kKnifeEdge * step_ || at(last).words != at(low).words) return false;
    const double beside = last + 0.1 * (low - last);
    return look(beside, kStrict * options_.tolerance).words != at(low).words;
  }

  void merge(FamilyChanges& out, bool falling) {
    std::sort(breaks_.begin(), breaks_.end(), [falling](const auto& p, const auto& q) {
      return falling ? p.first > q.first : p.first < q.first;
    });
    breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
    for (const auto& [low, high] : breaks_) {
      const double value = low + (high - low) / 2;
      if (!out.changes.empty() && together(out.changes.back().last, low)) {
        FamilyChange& last = out.changes.back();
        last.together.push_back(at(low).words);
        last.above = at(high).words;
        last.last = high;
        last.value = last.first + (high - last.first) / 2;
        continue;
      }
      out.changes.push_back({value, low, high, at(low).words, {}, at(high).words});
    }
    for (FamilyChange& change : out.changes) {
      if (std::min(change.first, change.last) <= 0 && std::max(change.first, change.last) >= 0)
        change.value = 0;
    }
  }

  const model::Spec& spec_;
  const model::CompileOptions& compile_;
  const std::string& parameter_;
  const EquilibriaOptions& options_;
  Patience patience_;
  std::map<double, Type> types_;
  std::vector<std::pair<double, double>> breaks_;  ///< neighbours of different type
  double step_ = 0;
  bool cut_ = false;
};

}  // namespace

FamilyChanges family_changes(const model::Spec& spec, const model::CompileOptions& compile,
                             const std::string& parameter, double from, double to, int points,
                             const EquilibriaOptions& options) {
  return Sweeper(spec, compile, parameter, options).find(from, to, points);
}

}  // namespace judder::analysis
