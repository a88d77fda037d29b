#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/rest_finder.hpp"

namespace judder::analysis {

using model::RelationKind;
using Row = std::vector<double>;
using Side = RestChoice::Side;
using Finder = RestFinder;

namespace {

constexpr int kLine = 61;          ///< places along a coordinate line
constexpr int kMostFailures = 20;  ///< of deflated starts in a row, until a choice counts as searched
constexpr double kFarthest = 1;    ///< times the reach of the starts: deflated roots beyond are not asked for
constexpr std::size_t kMostOthers = 40;    ///< rests of other choices that are tried as starts
constexpr std::size_t kManyChoices = 300;  ///< above it each is searched with fewer starts

/// A start near zero says little of where else rests may be. Angles go around within 2π.
double far_scale(double scale, double spread) {
  constexpr double kTurn = 6.3, kWide = 100;
  return std::max(spread * scale, std::min(kWide * scale, kTurn));
}

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-52 - 1; }

}  // namespace

void Finder::all_choices() {
  const model::System& system = equations_.system();
  RestChoice base;
  const std::size_t relations = system.relations().size(), switches = system.switches().size();
  base.closed.assign(relations, 1);
  base.stuck.assign(relations, 0);
  base.theta.assign(relations, 0);
  base.side.assign(switches, Side::by_value);
  base.share_free.assign(switches, 0);
  base.share.assign(switches, 0.5);
  choices_ = {base};
  const auto multiply = [&](const auto& change, int options) {
    const std::size_t before = choices_.size();
    if (before * static_cast<std::size_t>(options) > options_.most_choices) {
      ++out_.left_out;
      return;
    }
    std::vector<RestChoice> all;
    for (const RestChoice& each : choices_) {
      for (int i = 0; i < options; ++i) {
        RestChoice made = each;
        if (change(made, i)) all.push_back(std::move(made));
      }
    }
    choices_ = std::move(all);
  };
  for (std::size_t k = 0; k < relations; ++k) {
    const model::Relation& relation = system.relations()[k];
    if (relation.kind != RelationKind::contact || !relation.has_normal) continue;
    multiply(
        [k](RestChoice& c, int i) {
          c.closed[k] = static_cast<std::uint8_t>(i);
          return true;
        },
        2);
  }
  equations_.choose(base);
  for (std::size_t k = 0; k < relations; ++k) {
    if (!equations_.rubs(k)) continue;
    multiply(
        [&, k](RestChoice& c, int i) {
          const bool open = system.relations()[k].kind == RelationKind::contact &&
                            system.relations()[k].has_normal && c.closed[k] == 0;
          if (open) return i == 1;
          c.theta[k] = i - 1;
          c.stuck[k] = i == 1 ? 1 : 0;
          return true;
        },
        3);
  }
  for (std::size_t k = 0; k < switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (!info.two_sided()) continue;
    if (equations_.kind(k) == RestEquations::Switch::moves)
      multiply(
          [k](RestChoice& c, int i) {
            c.side[k] = i == 0 ? Side::below : i == 1 ? Side::above : Side::on;
            return true;
          },
          info.kind == expr::SwitchKind::jump ? 3 : 2);
    if (equations_.kind(k) == RestEquations::Switch::idle)
      multiply(
          [k](RestChoice& c, int i) {
            c.side[k] = Side::on;
            c.share[k] = i / 2.0;
            c.share_free[k] = i == 1 ? 1 : 0;
            return true;
          },
          3);
  }
}

/// Places from which every choice is searched.
std::vector<Row> Finder::starts() {
  std::vector<Row> out{equations_.start()};
  std::mt19937_64 random(1988);
  for (int start = 1; start < options_.starts; ++start) {
    Row x = equations_.start();
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += options_.spread * equations_.position_scale(i) * uniform(random);
    out.push_back(std::move(x));
  }
  for (int start = 0; start < options_.starts / 3; ++start) {
    Row x = equations_.start();
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += far_scale(equations_.position_scale(i), options_.spread) * uniform(random);
    out.push_back(std::move(x));
  }
  return out;
}

/// Places on the lines along the coordinates through `through` where an equation changes its sign.
void Finder::along_coordinates(const Row& through, std::vector<Row>& out) {
  Row r, terms, last;
  for (std::size_t i = 0; i < through.size(); ++i) {
    Row x = through;
    const double near = options_.spread * equations_.position_scale(i),
                 far = far_scale(equations_.position_scale(i), options_.spread);
    double before = 0;
    bool known = false;
    for (int k = 0; k < (far > near ? 2 : 1) * kLine; ++k) {
      const double share = 2.0 * (k % kLine) / (kLine - 1) - 1;
      known = known && k != kLine;
      x[i] = through[i] + (k < kLine ? near : far) * share;
      if (!equations_.residual(equations_.at(x), r, terms)) {
        known = false;
        continue;
      }
      for (std::size_t e = 0; known && e < r.size(); ++e) {
        if (!(r[e] * last[e] < 0)) continue;
        Row zero = x;
        zero[i] = before + (x[i] - before) * last[e] / (last[e] - r[e]);
        out.push_back(std::move(zero));
      }
      known = true;
      before = x[i];
      last = r;
    }
  }
}

bool Finder::reported(const FoundRest& made) const {
  for (const FoundRest& other : out_.rests) {
    double far = 0;
    for (std::size_t i = 0; i < made.state.x.size(); ++i)
      far = std::max(far, std::abs(other.state.x[i] - made.state.x[i]) / equations_.position_scale(i));
    double apart = 0, size = 0;
    for (std::size_t k = 0; k < made.state.tangent.size(); ++k) {
      apart = std::max(apart, std::abs(made.state.tangent[k] - other.state.tangent[k]));
      size = std::max(size, std::abs(made.state.tangent[k]));
    }
    if (far < 1e-6 && apart <= 1e-6 * size && made.dimension <= other.dimension) return true;
  }
  return false;
}

std::string Finder::meaning(const model::System& system, const RestCondition& condition) {
  using Meaning = RestCondition::Meaning;
  switch (condition.meaning) {
    case Meaning::apart:
      return "touch of " + system.relations()[condition.place].name;
    case Meaning::presses:
      return "lift-off of " + system.relations()[condition.place].name;
    case Meaning::load:
      return "no load on " + system.relations()[condition.place].name;
    case Meaning::slip_plus:
      return "imminent slip+ of " + system.relations()[condition.place].name;
    case Meaning::slip_minus:
      return "imminent slip- of " + system.relations()[condition.place].name;
    case Meaning::side:
      return "switch of " + system.switches()[condition.place].place;
    case Meaning::weight:
      break;
  }
  return "limit of " + system.switches()[condition.place].place;
}

void Finder::report(const Row& u, double error, const TracedRests* set) {
  FoundRest made;
  made.residual = error;
  equations_.describe(u, made);
  made.dimension = set != nullptr ? set->dimension : 0;
  if (reported(made)) return;
  judge_found(equations_, u, made);
  if (options_.near) made.near = equations_.linearised(u);
  if (made.dimension > 0) {
    made.whole = set->whole;
    for (std::size_t j = 0; j < u.size(); ++j)
      made.family.push_back({equations_.unknown_name(j), set->low[j], set->high[j]});
    for (const TracedRests::End& end : set->ends) {
      FoundRest there;
      equations_.describe(end.u, there);
      made.ends.push_back({meaning(equations_.system(), end.condition), std::move(there.state)});
    }
  }
  out_.rests.push_back(std::move(made));
}

bool Finder::take(std::size_t choice, const Row& u, double error) {
  RestCondition least;
  const double worst = equations_.worst(u, &least);
  if (!(worst >= -1e-9)) return false;
  // At zero a gap is told as closed, and a jump as its surface.
  if (worst <= 1e-9 && least.meaning == RestCondition::Meaning::apart) return false;
  for (const Known& other : known_) {
    if (other.choice == choice && tracer_.contains(other.set, u)) return false;
  }
  Known made{choice, tracer_.trace(u)};
  // On a surface at which both sides have the same forces their shares mean nothing. Families of the sides have that place for an end.
  if (made.set.dimension > 0 && equations_.only_shares(made.set.low, made.set.high)) {
    const RestChoice& chosen = choices_[choice];
    if (std::any_of(chosen.stuck.begin(), chosen.stuck.end(), [](std::uint8_t flag) { return flag != 0; }))
      return false;
    made.set = {};
    made.set.inside = made.set.low = made.set.high = u;
  }
  // From an edge there may be no way in.
  if (made.set.dimension > 0 && worst <= 1e-9 && tracer_.extent(made.set) < 1e-7) return false;
  if (made.set.dimension == 0) {
    std::vector<RestCondition> all;
    equations_.conditions(u, all);
    for (const RestCondition& each : all) {
      if (each.meaning == RestCondition::Meaning::side && each.value == 0 &&
          equations_.system().switches()[each.place].kind == expr::SwitchKind::jump)
        return false;
    }
  }
  report(made.set.inside, error, &made.set);
  known_.push_back(std::move(made));
  return true;
}

/// Rests that are isolated, or families that no friction makes.
void Finder::search(std::size_t number, const std::vector<Row>& from, bool deflate) {
  equations_.choose(choices_[number]);
  std::vector<Row> roots;
  for (const Known& known : known_) {
    if (known.choice == number) roots.push_back(known.set.inside);
  }
  for (const Row& x : from) {
    Row u = equations_.at(x);
    double error = 0;
    if (!tracer_.solve(u, error)) continue;
    const bool seen =
        std::any_of(roots.begin(), roots.end(), [&](const Row& root) { return tracer_.same_root(root, u); });
    if (seen) continue;
    roots.push_back(u);
    take(number, u, error);
  }
  int failures = 0;
  for (std::size_t s = 0; deflate && s < from.size() && failures < kMostFailures; ++s) {
    Row u = equations_.at(from[s]);
    double error = 0;
    ++failures;
    if (!tracer_.solve(u, error, roots)) continue;
    bool far = false;
    for (std::size_t i = 0; i < equations_.positions(); ++i)
      far = far || std::abs(u[i] - equations_.start()[i]) >
                       kFarthest * far_scale(equations_.position_scale(i), options_.spread);
    const bool seen =
        std::any_of(roots.begin(), roots.end(), [&](const Row& root) { return tracer_.same_root(root, u); });
    if (far || seen) continue;
    roots.push_back(u);
    take(number, u, error);
    failures = 0;
  }
}

/// Families of what sticks: one friction force is prescribed for each, so that there are as many equations as unknowns.
void Finder::search_stuck(std::size_t number, const std::vector<Row>& from) {
  std::mt19937_64 random(77);
  RestChoice fixed = choices_[number];
  for (std::size_t s = 0; s < from.size(); ++s) {
    for (std::size_t k = 0; k < fixed.stuck.size(); ++k) {
      if (choices_[number].stuck[k] == 0) continue;
      fixed.stuck[k] = 0;
      fixed.theta[k] = s == 0 || s % 4 == 3 ? 0 : 0.95 * uniform(random);
    }
    for (std::size_t k = 0; k < fixed.share_free.size(); ++k) {
      if (choices_[number].share_free[k] == 0) continue;
      fixed.share_free[k] = 0;
      fixed.share[k] = s == 0 || s % 4 == 3 ? 0.5 : 0.5 + 0.45 * uniform(random);
    }
    // The nearest place at which some friction holds it: forces may be the same along a whole family.
    equations_.choose(choices_[number]);
    Row near = equations_.at(from[s]);
    double error = 0;
    if (tracer_.solve(near, error)) take(number, near, error);
    equations_.choose(fixed);
    Row u = equations_.at(from[s]);
    if (!tracer_.solve(u, error)) continue;
    u = equations_.with_friction(u, choices_[number]);
    equations_.choose(choices_[number]);
    take(number, u, error);
  }
}

/// Families that end at a rest on the edge of a cone: friction that is prescribed may pass them by.
void Finder::search_behind_edges() {
  struct Edge {
    std::size_t choice;
    Row u;
  };
  std::vector<Edge> edges;
  for (const Known& known : known_) {
    const RestChoice& choice = choices_[known.choice];
    for (std::size_t k = 0; k < choice.theta.size(); ++k) {
      if (std::abs(choice.theta[k]) != 1) continue;
      RestChoice other = choice;
      other.theta[k] = 0;
      other.stuck[k] = 1;
      const auto found = std::find(choices_.begin(), choices_.end(), other);
      if (found == choices_.end()) continue;
      equations_.choose(choice);
      edges.push_back({static_cast<std::size_t>(found - choices_.begin()),
                       equations_.with_friction(known.set.inside, other)});
    }
  }
  for (const Edge& edge : edges) {
    equations_.choose(choices_[edge.choice]);
    take(edge.choice, edge.u, 0);
  }
}

/// Rests at the ends of families, where friction is at its limit: they are states of other choices.
void Finder::take_ends(const TracedRests& set) {
  using Meaning = RestCondition::Meaning;
  const RestChoice choice = equations_.choice();
  for (const TracedRests::End& end : set.ends) {
    const bool forwards = end.condition.meaning == Meaning::slip_plus;
    if (!forwards && end.condition.meaning != Meaning::slip_minus) continue;
    RestChoice other = choice;
    other.stuck[end.condition.place] = 0;
    other.theta[end.condition.place] = forwards ? -1 : 1;
    const auto found = std::find(choices_.begin(), choices_.end(), other);
    if (found == choices_.end()) continue;
    equations_.choose(other);
    Row u = equations_.at(
        Row(end.u.begin(), end.u.begin() + static_cast<std::ptrdiff_t>(equations_.positions())));
    double error = 0;
    if (tracer_.solve(u, error)) take(static_cast<std::size_t>(found - choices_.begin()), u, error);
  }
}

RestSearch Finder::find() {
  all_choices();
  out_.choices = choices_.size();
  const model::System& system = equations_.system();
  out_.names = system.coordinate_names();
  out_.names.insert(out_.names.end(), system.state_names().begin(), system.state_names().end());
  const std::vector<Row> first = starts();
  out_.starts = static_cast<int>(first.size());
  const bool many = choices_.size() > kManyChoices;
  const auto free = [&](std::size_t number) {
    const RestChoice& c = choices_[number];
    const auto any = [](const std::vector<std::uint8_t>& flags) {
      return std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
    };
    return any(c.stuck) || any(c.share_free);
  };
  for (std::size_t number = 0; number < choices_.size(); ++number) {
    std::vector<Row> from = first;
    equations_.choose(choices_[number]);
    if (!many) along_coordinates(equations_.start(), from);
    if (free(number))
      search_stuck(number, from);
    else
      search(number, from, !many);
  }
  // What is a rest of one choice is near one of its neighbours.
  std::vector<Row> others;
  for (const FoundRest& rest : out_.rests) {
    if (others.size() >= kMostOthers) break;
    others.push_back(rest.state.x);
    for (const FoundRest::End& end : rest.ends) others.push_back(end.state.x);
  }
  for (std::size_t number = 0; number < choices_.size(); ++number) {
    if (free(number))
      search_stuck(number, others);
    else
      search(number, others, false);
  }
  search_behind_edges();
  for (std::size_t k = 0; k < known_.size(); ++k) {
    equations_.choose(choices_[known_[k].choice]);
    const TracedRests set = known_[k].set;
    take_ends(set);
  }
  return std::move(out_);
}

std::optional<RestSearch> search_rests(const model::System& system, const RestSearchOptions& options,
                                       EquilibriaProblem& problem) {
  Finder finder(system, options);
  if (const std::string why = finder.unsuited(); !why.empty()) {
    problem = {why, {}, false};
    return std::nullopt;
  }
  return finder.find();
}

}  // namespace judder::analysis
