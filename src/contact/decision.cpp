#include "judder/contact/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mode_enumerator.hpp"
#include "mode_solver.hpp"

namespace judder::contact {

const char* name(RowStatus status) {
  switch (status) {
    case RowStatus::open:
      return "open";
    case RowStatus::closed:
      return "closed";
    case RowStatus::held:
      return "held";
    case RowStatus::held_plus:
      return "held+";
    case RowStatus::held_minus:
      return "held-";
    case RowStatus::free:
      return "free";
    case RowStatus::stick:
      return "stick";
    case RowStatus::slip_plus:
      return "slip+";
    case RowStatus::slip_minus:
      return "slip-";
    case RowStatus::follows:
      return "follows";
  }
  return "";
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::unique:
      return "unique";
    case Verdict::inconsistent:
      return "inconsistent";
    case Verdict::indeterminate:
      return "indeterminate";
    case Verdict::found_unchecked:
      return "one solution found, uniqueness not checked";
    case Verdict::not_found:
      return "none found, absence not proved";
  }
  return "";
}

void ModeFactor::resize(int rows) {
  if (static_cast<int>(row_.size()) >= rows) return;
  row_.resize(rows);
  column_.resize(rows);
}

DecisionWorkspace::DecisionWorkspace() = default;
DecisionWorkspace::~DecisionWorkspace() = default;
DecisionWorkspace::DecisionWorkspace(DecisionWorkspace&&) noexcept = default;
DecisionWorkspace& DecisionWorkspace::operator=(DecisionWorkspace&&) noexcept = default;
void DecisionWorkspace::resize(int normals, int tangents) {
  expect(normals, tangents);
  memory().provide_all();
}

void DecisionWorkspace::use(Patience* patience) {
  patience_ = patience;
  if (memory_ == nullptr) return;
  memory_->patience = patience;
  memory_->lcp.use(patience);
}

void DecisionWorkspace::expect(int normals, int tangents) {
  normals_ = std::max(normals_, normals);
  tangents_ = std::max(tangents_, tangents);
}

DecisionWorkspace::Memory& DecisionWorkspace::memory() {
  if (memory_ == nullptr) {
    memory_ = std::make_unique<Memory>();
    use(patience_);
  }
  memory_->resize(normals_, tangents_);
  if (normals_ + tangents_ <= kProvided) memory_->provide_all();
  return *memory_;
}

namespace {

constexpr int kMaxModes = 4096;

// 2^normals · 3^tangents, or kMaxModes + 1 when that is more.
int mode_bound(int normals, int tangents) {
  int bound = 1;
  for (int i = 0; i < normals && bound <= kMaxModes; ++i) bound *= 2;
  for (int i = 0; i < tangents && bound <= kMaxModes; ++i) bound *= 3;
  return std::min(bound, kMaxModes + 1);
}

}  // namespace

void DecisionWorkspace::Memory::resize(int normal_rows, int tangent_rows) {
  if (normal_rows <= normals && tangent_rows <= tangents) return;
  normals = std::max(normals, normal_rows);
  tangents = std::max(tangents, tangent_rows);
  const int rows = normals + tangents;
  const auto n = static_cast<std::size_t>(rows);
  all_provided = false;
  max_candidates = std::min(mode_bound(normals, tangents), kMaxModes);
  for (auto* v : {&weight,
                  &force_scale,
                  &inverse_force_scale,
                  &pressed,
                  &acceleration_scale,
                  &right,
                  &force,
                  &acceleration,
                  &limit,
                  &slope,
                  &shift,
                  &best_shift,
                  &stick_mu,
                  &slip_mu,
                  &stick_mu_below,
                  &slip_mu_below,
                  &first_acceleration,
                  &answer_force,
                  &answer_acceleration,
                  &newton_step,
                  &newton_trial,
                  &newton_value,
                  &side,
                  &lower,
                  &upper}) {
    v->resize(n);
  }
  for (auto* v : {&active, &row, &column, &sliding, &choices, &digit, &released, &unknown_of_row})
    v->resize(n);
  for (auto* v : {&mode, &answer, &alternative}) v->resize(n);
  for (auto* v : {&matrix, &newton_matrix}) v->resize(n * n);
  ease.assign(n, 1.0);
  column_scale.assign(n, 1.0);
  eased = false;
  inequality_right.resize(2 * n + 1);
  inequality_weight.resize(2 * n + 1);
  inequality_row.resize(2 * n + 1);
  simplex_basis.resize(n + 1);
  lcp_vector.resize(2 * n);
  state.resize(n);
  choice.resize(3 * n);
  free_row.resize(2 * n);
  treatment.resize(n);
  failing.resize(n);
  candidates.resize(static_cast<std::size_t>(max_candidates) * n);
  factor.resize(rows);
}

void DecisionWorkspace::Memory::provide_all() {
  if (all_provided) return;
  all_provided = true;
  const auto n = static_cast<std::size_t>(normals + tangents);
  provide(null_space, n * n);
  provide(reaction_of_unknowns, n * (n + static_cast<std::size_t>(tangents) + 1));
  provide(inequality, (2 * n + 1) * n);
  provide(simplex, (n + 2) * (3 * n + 3));
  provide(gram, n * (3 * n + 1));
  provide(lcp_matrix, 4 * n * n);
  lcp.resize(2 * (normals + tangents));
}

bool has_friction(const DecisionProblem& problem, const Rules& rules, int k) {
  if (problem.coupling == nullptr) return false;
  for (int j = 0; j < problem.tangents; ++j) {
    if (problem.coupling[j * problem.normals + k] > 0 && rules.state[j] != TangentState::tied &&
        (rules.slip_mu[j] != 0 || rules.stick_mu[j] != 0 || rules.slip_mu_below[j] != 0 ||
         rules.stick_mu_below[j] != 0)) {
      return true;
    }
  }
  return false;
}

bool can_carry(const DecisionProblem& problem, const Rules& rules, const RowStatus* mode, int j) {
  if (rules.state[j] == TangentState::rest && rules.stick_mu[j] == 0 && rules.slip_mu[j] == 0 &&
      rules.stick_mu_below[j] == 0 && rules.slip_mu_below[j] == 0)
    return false;
  if (problem.base != nullptr && problem.base[j] > 0) return true;
  if (problem.base_below != nullptr && problem.base_below[j] > 0) return true;
  if (problem.coupling == nullptr) return rules.state[j] == TangentState::tied;
  for (int k = 0; k < problem.normals; ++k) {
    if (problem.coupling[j * problem.normals + k] > 0 && mode[k] != RowStatus::open) return true;
  }
  return false;
}

namespace {

class Decider {
 public:
  Decider(const DecisionProblem& problem, const DecisionOptions& options, DecisionWorkspace::Memory& memory)
      : p_(problem), o_(options), m_(memory), n_(problem.rows()) {}

  Decision run() {
    const Rules rules = static_rules();
    find_scales(p_, m_);
    // Rows that are released have fewer statuses: whether a later round could be listed says nothing about all modes.
    listable_ = Enumerator(p_, rules, m_).count(most_modes()) <= most_modes();
    bounded_ = !listable_ && is_bounded(p_);
    Decision decision = rounds();
    // What the search finds may be another solution than Lemke's, and rule 1 may accept one and not the other.
    if (decision.verdict == Verdict::not_found && !bounded_) {
      searching_ = false;
      decision_ = {};
      decision = rounds();
    }
    return decision;
  }

 private:
  Decision rounds() {
    bool found = release_in_turn(0);
    // Where several modes share the accelerations of the static coefficients, rows at their limits may be released either way in them: the first may leave several
    // motions that do not go as they were released, and another the one that does.
    const int modes = decision_.static_rule && found_ > 0 && several_ ? shared_ : 0;
    for (int c = 1; c < modes && !found; ++c) found = release_in_turn(c);
    if (modes > 1 && !found) found = release_in_turn(0);
    if (found)
      return answer(rules_of(m_), listable_ || bounded_ ? Verdict::unique : Verdict::found_unchecked);
    Rules rules = rules_of(m_);
    if (found_ > 0 && several_) return answer(rules, Verdict::indeterminate);
    const bool hysteresis = has_hysteresis();
    if (bounded_ && hysteresis && least_slipping())
      return answer(plain_rules(p_, m_), Verdict::found_unchecked);
    rules = plain_rules(p_, m_);
    if (!listable_) return failure(rules, Verdict::not_found);
    if (!hysteresis) return failure(rules, Verdict::inconsistent);
    return most_sticking(rules);
  }

  // The rounds of rule 1, with the first release by the mode of this number among those that the static coefficients leave. True: there is one motion, and it goes as
  // it was released.
  bool release_in_turn(int first) {
    Rules rules = static_rules();
    decision_.static_rule = false;
    decision_.row = -1;
    for (int round = 0; round <= p_.tangents; ++round) {
      solve_round(rules);
      if (round == 0) {
        shared_ = listed_ && !several_ ? found_ : 0;
        if (first > 0 && first < found_) std::swap_ranges(candidate(0), candidate(0) + n_, candidate(first));
      }
      if (found_ == 0 || several_) return false;
      if (!release(rules)) return released_as_judged();
      decision_.static_rule = true;
    }
    return false;
  }

  // Everything at rest is judged with its static coefficient, in stick and in slip.
  Rules static_rules() {
    const Rules rules = plain_rules(p_, m_);
    for (int j = 0; j < p_.tangents; ++j) {
      if (m_.state[j] == TangentState::rest) {
        m_.slip_mu[j] = m_.stick_mu[j];
        m_.slip_mu_below[j] = m_.stick_mu_below[j];
      }
      m_.released[j] = 0;
    }
    return rules;
  }

  [[nodiscard]] int most_modes() const { return std::min(o_.max_modes, m_.max_candidates); }

  [[nodiscard]] bool has_hysteresis() const {
    if (p_.mu_static == nullptr) return false;
    for (int j = 0; j < p_.tangents; ++j) {
      const bool rest = p_.state == nullptr || p_.state[j] == TangentState::rest;
      if (rest && (p_.mu_static[j] != p_.mu_slip[j] || stick_below(j) != slip_below(j))) return true;
    }
    return false;
  }

  // Coefficients of a row at rest, or that leaves it, forwards.
  [[nodiscard]] double stick_below(int j) const {
    return p_.mu_static_below != nullptr ? p_.mu_static_below[j] : p_.mu_static[j];
  }
  [[nodiscard]] double slip_below(int j) const {
    return p_.mu_slip_below != nullptr ? p_.mu_slip_below[j] : p_.mu_slip[j];
  }
  // Whether a row that leaves rest this way has another coefficient than the one that it was judged with.
  [[nodiscard]] bool other_in_slip(int j, RowStatus s) const {
    return s == RowStatus::slip_plus ? slip_below(j) != m_.stick_mu_below[j]
                                     : p_.mu_slip[j] != m_.stick_mu[j];
  }

  [[nodiscard]] int score(const RowStatus* mode) const {
    int sticking = 0, closed = 0;
    for (int i = 0; i < n_; ++i) {
      sticking += mode[i] == RowStatus::stick ? 1 : 0;
      closed += mode[i] == RowStatus::closed ? 1 : 0;
    }
    return sticking * (n_ + 1) + closed;
  }

  RowStatus* candidate(int i) {
    return m_.candidates.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(n_);
  }

  void collect(ModeSolver& solver, const RowStatus* mode) {
    ++decision_.modes_tried;
    if (!solver.admissible(mode, o_)) return;
    if (!solver.rigid() &&
        solver.spread(o_.tolerance * solver.size()) > o_.same_acceleration * solver.size()) {
      several_ = true;
      if (decision_.row < 0) decision_.row = n_ - 1;
    }
    solver.accelerations();
    if (found_ == 0) {
      std::copy_n(m_.acceleration.begin(), n_, m_.first_acceleration.begin());
      first_size_ = solver.size();
    } else if (differs(solver.size())) {
      several_ = true;
    }
    const int rank = score(mode);
    if (found_ == 0 || rank > best_score_) {
      best_score_ = rank;
      best_ = found_;
    }
    std::copy_n(mode, n_, candidate(found_));
    ++found_;
  }

  [[nodiscard]] bool differs(double size) {
    const double tolerance = o_.same_acceleration * std::max(size, first_size_);
    for (int i = 0; i < n_; ++i) {
      if (std::abs(m_.acceleration[i] - m_.first_acceleration[i]) > tolerance * m_.acceleration_scale[i]) {
        if (decision_.row < 0) decision_.row = i;
        return true;
      }
    }
    return false;
  }

  void solve_round(const Rules& rules) {
    found_ = 0;
    several_ = false;
    Enumerator enumerator(p_, rules, m_);
    listed_ = listable_ || (!bounded_ && enumerator.count(most_modes()) <= most_modes());
    if (listed_) {
      ModeSolver solver(p_, rules, m_);
      enumerator.visit([&](const RowStatus* mode) { collect(solver, mode); });
      if (found_ > 0 && best_ != 0) std::swap_ranges(candidate(0), candidate(0) + n_, candidate(best_));
      return;
    }
    if (bounded_ ? solve_bounded(p_, rules, o_, m_) : solve_iteratively(p_, rules, o_, searching_, m_)) {
      std::copy_n(m_.mode.begin(), n_, candidate(0));
      found_ = 1;
    }
  }

  // Too many modes, and what was released does not go the way it was released. Rows at rest have their static bounds until they slip, then the bounds of
  // slip, and may stick again within these: one convex problem after the other, and the last one is a solution with both coefficients.
  bool least_slipping() {
    const Rules rules = static_rules();
    for (int round = 0; round <= p_.tangents; ++round) {
      if (!solve_bounded(p_, rules, o_, m_)) return false;
      bool again = false;
      for (int j = 0; j < p_.tangents; ++j) {
        const RowStatus s = m_.mode[p_.normals + j];
        if (m_.state[j] != TangentState::rest || m_.released[j] != 0 ||
            (s != RowStatus::slip_plus && s != RowStatus::slip_minus) || p_.mu_slip[j] == m_.stick_mu[j])
          continue;
        m_.released[j] = 1;
        m_.slip_mu[j] = m_.stick_mu[j] = p_.mu_slip[j];
        m_.slip_mu_below[j] = m_.stick_mu_below[j] = p_.mu_slip[j];
        again = true;
      }
      if (again) continue;
      std::copy_n(m_.mode.begin(), n_, candidate(0));
      found_ = 1;
      listed_ = false;
      decision_.static_rule = true;
      return true;
    }
    return false;
  }

  // Rows at rest that slip in the mode just found get their direction and their slip coefficient, if that
  // changes anything.
  bool release(Rules& rules) {
    const RowStatus* mode = candidate(0);
    bool jump = false;
    for (int j = 0; j < p_.tangents; ++j) {
      const RowStatus s = mode[p_.normals + j];
      if (m_.state[j] != TangentState::rest || (s != RowStatus::slip_plus && s != RowStatus::slip_minus))
        continue;
      if (other_in_slip(j, s)) jump = true;
    }
    if (!jump) return false;
    for (int j = 0; j < p_.tangents; ++j) {
      const RowStatus s = mode[p_.normals + j];
      if (m_.state[j] != TangentState::rest || (s != RowStatus::slip_plus && s != RowStatus::slip_minus))
        continue;
      m_.state[j] = s == RowStatus::slip_plus ? TangentState::slip_plus : TangentState::slip_minus;
      m_.slip_mu[j] = p_.mu_slip[j];
      m_.slip_mu_below[j] = slip_below(j);
      m_.released[j] = 1;
    }
    rules = rules_of(m_);
    return true;
  }

  // Released rows must accelerate the way they were released.
  bool released_as_judged() {
    bool any = false;
    for (int j = 0; j < p_.tangents; ++j) any = any || m_.released[j] != 0;
    if (!any) return true;
    const Rules rules = rules_of(m_);
    ModeSolver solver(p_, rules, m_);
    solver.factor(candidate(0), o_.rank_tolerance);
    solver.solve();
    for (int j = 0; j < p_.tangents; ++j) {
      if (m_.released[j] == 0) continue;
      const int i = p_.normals + j;
      const double direction = m_.state[j] == TangentState::slip_plus ? 1 : -1;
      if (candidate(0)[i] == RowStatus::free) continue;
      const double tolerance = o_.tolerance * solver.size() * m_.acceleration_scale[i];
      if (!(direction * solver.acceleration(i) >= -tolerance)) return false;
    }
    return true;
  }

  // All modes with both coefficients at once; among the admissible ones those with most sticking rows count.
  Decision most_sticking(const Rules& rules) {
    found_ = 0;
    several_ = false;
    decision_.row = -1;
    {
      Enumerator enumerator(p_, rules, m_);
      ModeSolver solver(p_, rules, m_);
      enumerator.visit([&](const RowStatus* mode) { collect(solver, mode); });
    }
    if (found_ == 0) return failure(rules, Verdict::inconsistent);
    decision_.static_rule = true;
    int most = -1;
    for (int c = 0; c < found_; ++c) most = std::max(most, score(candidate(c)) / (n_ + 1));
    std::swap_ranges(candidate(0), candidate(0) + n_, candidate(best_));
    const int all = found_;
    found_ = 0;
    several_ = false;
    decision_.row = -1;
    ModeSolver solver(p_, rules, m_);
    for (int c = 0; c < all; ++c) {
      std::copy_n(candidate(c), n_, m_.mode.begin());
      solver.admissible(m_.mode.data(), o_);
      if (!solver.rigid()) solver.spread(o_.tolerance * solver.size());
      solver.accelerations();
      if (found_ == 0) {
        std::copy_n(m_.acceleration.begin(), n_, m_.first_acceleration.begin());
        first_size_ = solver.size();
      } else if (differs(solver.size())) {
        if (score(m_.mode.data()) / (n_ + 1) < most) continue;
        several_ = true;
      }
      std::copy_n(m_.mode.begin(), n_, candidate(found_));
      ++found_;
    }
    return answer(rules, several_ ? Verdict::indeterminate : Verdict::unique);
  }

  Decision answer(const Rules& rules, Verdict verdict) {
    decision_.verdict = verdict;
    ModeSolver solver(p_, rules, m_);
    std::copy_n(candidate(0), n_, m_.answer.begin());
    decision_.candidates = found_;
    if (verdict == Verdict::unique) {
      decision_.row = -1;
      // A mode whose inequalities all hold strictly lasts: there is no tie to break. Otherwise the mode of
      // largest margin goes first among equally sticking ones, so that the order of the rows does not
      // choose.
      int row = -1;
      if (found_ > 1) {
        double best = solver.relative_margin(m_.answer.data(), o_, row);
        if (best > o_.tolerance) {
          decision_.candidates = 1;
        } else {
          const int rank = score(candidate(0));
          for (int c = 1; c < found_; ++c) {
            if (score(candidate(c)) != rank) continue;
            const double margin = solver.relative_margin(candidate(c), o_, row);
            if (!(margin > best + 1e-12)) continue;
            best = margin;
            std::swap_ranges(candidate(0), candidate(0) + n_, candidate(c));
          }
          std::copy_n(candidate(0), n_, m_.answer.begin());
        }
      }
    }
    if (listed_) {
      solver.factor(m_.answer.data(), o_.rank_tolerance);
      solver.solve();
      solver.settle();
      decision_.reactions_unique = solver.rank() == solver.active();
    } else {
      solver.factor(m_.answer.data(), o_.rank_tolerance);
      decision_.reactions_unique = solver.rank() == solver.active();
      find_ties(rules);
    }
    return publish();
  }

  // Of a mode that was found without trying all: rows that could as well have another status.
  void find_ties(const Rules& rules) {
    double size = 1;
    for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(m_.force[i]) * m_.inverse_force_scale[i]);
    for (int i = 0; i < n_; ++i) {
      RowStatus other = m_.answer[i];
      const bool force_ends = [&] {
        const double slack = o_.tolerance * size * m_.force_scale[i];
        if (i < p_.normals) return m_.force[i] <= slack;
        const int j = i - p_.normals;
        double limit = p_.base != nullptr ? p_.base[j] : 0;
        for (int k = 0; k < p_.normals && p_.coupling != nullptr; ++k)
          limit += p_.coupling[j * p_.normals + k] * std::abs(m_.force[k]);
        return rules.stick_mu[j] * limit - std::abs(m_.force[i]) <= slack;
      }();
      const bool stands = std::abs(m_.acceleration[i]) <= o_.tolerance * size * m_.acceleration_scale[i];
      if (i < p_.normals) {
        const bool alone = !has_friction(p_, rules, i);
        if (alone && other == RowStatus::closed && force_ends) {
          other = RowStatus::open;
        } else if (alone && other == RowStatus::open && stands) {
          other = RowStatus::closed;
        }
      } else if (rules.state[i - p_.normals] == TangentState::rest) {
        const bool slips = other == RowStatus::slip_plus || other == RowStatus::slip_minus;
        if (other == RowStatus::stick && force_ends) {
          other = m_.force[i] < 0 ? RowStatus::slip_plus : RowStatus::slip_minus;
        } else if (slips && stands) {
          other = RowStatus::stick;
        }
      }
      continue_with(i, other);
    }
    decision_.alternative = {m_.alternative.data(), static_cast<std::size_t>(n_)};
  }

  void continue_with(int i, RowStatus other) {
    const bool allowed = p_.excluded == nullptr || (p_.excluded[i] & bit(other)) == 0;
    m_.alternative[i] = allowed ? other : m_.answer[i];
  }

  // The least bad mode, for the message.
  Decision failure(const Rules& rules, Verdict verdict) {
    decision_.verdict = verdict;
    if (verdict == Verdict::inconsistent) {
      Enumerator enumerator(p_, rules, m_);
      ModeSolver solver(p_, rules, m_);
      double best = -std::numeric_limits<double>::infinity();
      bool first = true;
      enumerator.visit([&](const RowStatus* mode) {
        int row = -1;
        const double margin = solver.relative_margin(mode, o_, row);
        if (first || margin > best) {
          first = false;
          best = margin;
          decision_.row = row;
          std::copy_n(mode, n_, m_.answer.begin());
        }
      });
      if (first) return publish_nothing();  // every choice of some row is excluded
      solver.factor(m_.answer.data(), o_.rank_tolerance);
      solver.solve();
      solver.accelerations();
      return publish();
    }
    return publish_nothing();
  }

  Decision publish() {
    const auto n = static_cast<std::size_t>(n_);
    std::copy_n(m_.force.begin(), n_, m_.answer_force.begin());
    std::copy_n(m_.acceleration.begin(), n_, m_.answer_acceleration.begin());
    decision_.mode = {m_.answer.data(), n};
    decision_.force = {m_.answer_force.data(), n};
    decision_.acceleration = {m_.answer_acceleration.data(), n};
    decision_.force_scale = {m_.force_scale.data(), n};
    decision_.acceleration_scale = {m_.acceleration_scale.data(), n};
    decision_.candidate_modes = {m_.candidates.data(), static_cast<std::size_t>(decision_.candidates) * n};
    return decision_;
  }

  Decision publish_nothing() {
    std::fill_n(m_.force.begin(), n_, 0.0);
    for (int i = 0; i < n_; ++i) {
      m_.acceleration[i] = p_.b[i];
      m_.answer[i] = i < p_.normals ? RowStatus::open : RowStatus::free;
    }
    return publish();
  }

  const DecisionProblem& p_;
  const DecisionOptions& o_;
  DecisionWorkspace::Memory& m_;
  const int n_;
  Decision decision_;
  int found_ = 0;
  int best_ = 0;
  int best_score_ = 0;
  int shared_ = 0;  // modes that the static coefficients leave
  bool several_ = false;
  bool listable_ = true;   // all modes can be tried
  bool listed_ = true;     // those of the present round are
  bool searching_ = true;  // before Lemke's method
  bool bounded_ = false;   // convex: solved without a list, and unique all the same
  double first_size_ = 1;
};

// Whether all modes of the first round can be tried.
bool is_listable(const DecisionProblem& problem, const DecisionOptions& options,
                 DecisionWorkspace::Memory& memory) {
  const int most = std::min(options.max_modes, memory.max_candidates);
  const Rules rules = plain_rules(problem, memory);
  return Enumerator(problem, rules, memory).count(most) <= most;
}

}  // namespace

Decision decide(const DecisionProblem& problem, const DecisionOptions& options,
                DecisionWorkspace& workspace) {
  DecisionWorkspace::Memory& memory = workspace.memory();
  if (problem.mu_static_below == nullptr || is_listable(problem, options, memory))
    return Decider(problem, options, memory).run();
  // The methods for many modes know one limit for both directions.
  DecisionProblem alike = problem;
  alike.mu_static_below = alike.mu_slip_below = alike.base_below = nullptr;
  return Decider(alike, options, memory).run();
}

void factor_mode(const DecisionProblem& problem, std::span<const RowStatus> mode, double rank_tolerance,
                 ModeFactor& factor, DecisionWorkspace& workspace) {
  DecisionWorkspace::Memory& memory = workspace.memory();
  const Rules rules = plain_rules(problem, memory);
  find_scales(problem, memory);
  ModeSolver solver(problem, rules, memory);
  solver.factor(mode.data(), rank_tolerance);
  solver.store(factor);
}

ModeResult evaluate_mode(const DecisionProblem& problem, std::span<const RowStatus> mode,
                         const ModeFactor& factor, DecisionWorkspace& workspace, ModeValues values) {
  DecisionWorkspace::Memory& memory = workspace.memory();
  const Rules rules = plain_rules(problem, memory);
  find_scales(problem, memory);
  ModeSolver solver(problem, rules, memory);
  solver.factor(mode.data(), factor);
  solver.solve();
  solver.accelerations();
  const int n = problem.rows();
  ModeResult result;
  result.inconsistency = solver.inconsistency();
  if (!factor.reactions_unique()) result.accelerations_unique = solver.find_null_space();
  result.worst_margin = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) {
    const double margin = solver.margin(i);
    values.margin[i] = margin;
    const double scale = is_active(mode[i]) ? solver.force_size(i) : memory.acceleration_scale[i];
    const double relative = scale > 0 ? margin / scale : margin;
    if (margin < std::numeric_limits<double>::infinity() && relative < result.worst_margin) {
      result.worst_margin = relative;
      result.worst_row = i;
    }
  }
  std::copy_n(memory.force.begin(), n, values.force.begin());
  std::copy_n(memory.acceleration.begin(), n, values.acceleration.begin());
  std::copy_n(memory.limit.begin(), problem.tangents, values.limit.begin());
  return result;
}

}  // namespace judder::contact
