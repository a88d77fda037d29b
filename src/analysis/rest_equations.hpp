// The equations and inequalities of a rest of a model that is not affine there, for one choice of statuses (analysis/rest_search.hpp).
//
// Unknowns u, in this order, and equations F(u) = 0:
//
//     q, z            h + Σ push λ_N + Σ drag λ_T = 0 ,  rates of z = 0
//     λ_N             gaps of what is closed, of constraints: g = 0
//     weights         surfaces of switches that are slid on: s = 0; the fields of both sides are mixed
//     λ_T             none: friction of what sticks is free within its cone
//     shares          none: a switch whose surface is zero at every rest (the sign of a velocity) may have any share of both sides
//
// The last two are why rests make families. The set of rests of a choice is F(u) = 0 with all conditions() ≥ 0. Friction on the edge of
// its cone is no unknown but θ μ_s L with θ = ±1, and so is friction for which a search prescribes θ in between.
//
// Everything is scaled: unknowns by scale(), so that one is a change worth noticing, and equations by the terms they have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/rest_search.hpp"
#include "judder/core/patience.hpp"

namespace judder::analysis {

/// One choice of statuses.
struct RestChoice {
  std::vector<std::uint8_t> closed;  ///< by relation
  std::vector<std::uint8_t> stuck;   ///< by relation: λ_T is an unknown
  std::vector<double> theta;         ///< by relation: λ_T/(μ L) where it is none
  enum class Side : std::uint8_t { below, above, on, by_value };
  std::vector<Side> side;                ///< by switch
  std::vector<std::uint8_t> share_free;  ///< by idle switch: its share is an unknown
  std::vector<double> share;             ///< otherwise this
  [[nodiscard]] bool operator==(const RestChoice&) const = default;
};

/// An inequality value ≥ 0; one unit of `size` is worth noticing.
struct RestCondition {
  enum class Meaning : std::uint8_t { apart, presses, load, slip_plus, slip_minus, side, weight } meaning{};
  std::size_t place = 0;  ///< relation or switch
  double value = 0, size = 1;
  [[nodiscard]] double relative() const { return value / size; }
};

class RestEquations {
 public:
  RestEquations(const model::System& system, const RestSearchOptions& options, Patience& patience);

  /// Why the search does not take a model; empty: it does.
  [[nodiscard]] std::string unsuited() const;
  /// fixed: no position moves its surface; moves; idle: its surface is zero at every rest.
  enum class Switch : std::uint8_t { fixed, moves, idle };
  [[nodiscard]] Switch kind(std::size_t k) const { return kind_[k]; }
  [[nodiscard]] bool rubs(std::size_t relation);  ///< friction that may hold, in the present choice

  void choose(const RestChoice& choice);
  [[nodiscard]] const RestChoice& choice() const { return choice_; }
  [[nodiscard]] std::size_t unknowns() const { return scale_of_.size(); }
  [[nodiscard]] std::size_t equations() const { return equations_; }
  [[nodiscard]] std::size_t positions() const { return n_ + m_; }
  [[nodiscard]] const std::vector<double>& scale() const { return scale_of_; }
  [[nodiscard]] const std::vector<double>& start() const { return start_; }  ///< (q, z)
  [[nodiscard]] std::string unknown_name(std::size_t i) const;
  /// A starting vector at this place: reactions in proportion to the forces, weights in the middle.
  [[nodiscard]] std::vector<double> at(const std::vector<double>& x) const;

  /// F(u) and the sizes of its terms. False: not finite.
  bool residual(const std::vector<double>& u, std::vector<double>& r, std::vector<double>& terms);
  /// ∂F/∂(u/scale), equations × unknowns, at the place of the last residual(). Forces are differentiated exactly.
  bool jacobian(const std::vector<double>& u, std::vector<double>& a);
  /// All inequalities of the choice.
  void conditions(const std::vector<double>& u, std::vector<RestCondition>& out);
  /// The least relative condition; 1 without any.
  double worst(const std::vector<double>& u, RestCondition* which = nullptr);
  /// Whether nothing but weights of surfaces differs between these vectors.
  [[nodiscard]] bool only_shares(const std::vector<double>& low, const std::vector<double>& high) const;
  /// Statuses, reactions and words; u must satisfy all conditions.
  void describe(const std::vector<double>& u, FoundRest& out);
  /// The vector of another choice, in which more sticks, from a vector of this one: the same reactions.
  [[nodiscard]] std::vector<double> with_friction(const std::vector<double>& u, const RestChoice& other);

  /// Forces, rows and mass around u as a linear problem; laws of friction are left out.
  [[nodiscard]] RestProblem linearised(const std::vector<double>& u);

  // What verdicts need.
  void load(const std::vector<double>& x);
  void set_sides(unsigned corner);
  [[nodiscard]] bool active(std::size_t relation) const;
  [[nodiscard]] const std::vector<std::size_t>& slid() const { return slid_; }
  [[nodiscard]] const std::vector<std::size_t>& pressed() const { return normal_; }
  [[nodiscard]] const model::System& system() const { return system_; }
  [[nodiscard]] model::Workspace& work() { return work_; }
  [[nodiscard]] double position_scale(std::size_t i) const { return scale_[i]; }

 private:
  [[nodiscard]] std::size_t place(std::size_t i) const;
  void classify_switches();
  void measure_forces();
  [[nodiscard]] double surface(std::size_t k);
  [[nodiscard]] double load_of(std::size_t relation, const model::RelationRows& rows,
                               const std::vector<double>& u) const;
  void mixed_shares(const std::vector<double>& u, std::vector<double>& share) const;
  /// Σ push λ_N + Σ drag λ_T at the place that is loaded, added to r and terms.
  void add_reactions(const std::vector<double>& u, std::vector<double>& r, std::vector<double>& terms);
  [[nodiscard]] std::size_t first_weight() const { return n_ + m_ + normal_.size(); }
  [[nodiscard]] std::size_t first_tangent() const { return first_weight() + weights_; }
  [[nodiscard]] std::size_t first_share() const { return first_tangent() + stuck_.size(); }

  const model::System& system_;
  const model::Layout& layout_;
  model::Workspace work_;
  Patience& patience_;
  std::size_t n_ = 0, m_ = 0;
  std::vector<double> start_, scale_;  ///< by position
  std::vector<Switch> kind_;
  double force_ = 1;  ///< a typical force
  RestChoice choice_;
  std::vector<std::size_t> normal_, slid_, stuck_,
      idle_;  ///< relations with λ_N; switches; relations; free shares
  std::size_t weights_ = 0, equations_ = 0;
  std::vector<double> scale_of_;  ///< by unknown
  std::vector<double> part_, slope_, ones_;
};

}  // namespace judder::analysis
