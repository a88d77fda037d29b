// Schemes that solve for one velocity-like vector ξ per step: Moreau-Jean, θ, Newmark, Paoli-Schatzman.
//
//     M (ξ − v_b) = s + κ₁ h(t_e, q_e, v_e, z₁) + p ,      q_e = q̂_e + c_q ξ ,   v_e = v̂_e + c_v ξ
//     z₁ = z₀ + h ((1 − θ) ż₀ + θ ż₁)                       (states: the θ rule)
//
// and take the new state from it. With Δt = h, f the forces and a the accelerations that a scheme remembers:
//
//     scheme            ξ          v_b              s              κ₁      q_e                               new state
//     moreau standard   v₁         v₀               h(1−θ) f₀      hθ      q₀ + h(1−θ)v₀ + hθ ξ              q₁ = q_e
//     moreau printed    v₁         v₀               h(1−θ) f₀      hθ      q₀ + h ξ                          q₁ = q_e
//     θ                 v₁         v₀ + h(1−θ)a₀    0              hθ      q₀ + h(1−θ)v₀ + hθ ξ              q₁ = q_e
//     Newmark           v₁         v₀ + h(1−γ)a₀    0              hγ      q₀ + h v₀ + h²(½−β)a₀ + hβ/γ (ξ − v_b)
//     Paoli-Schatzman   (q₁−q₋)/2h (q₀−q₋)/h        0              h/2     (q₁ + 2q₀ + q₋)/4, or q₀          q₁ = q₋ + 2h ξ
//
// Impulses act in the direction of the rows at the predicted end of the step. Moreau's impulses are mean impulses of the step, p = hλ, and its contacts obey
// laws of velocities; the others solve for a reaction, p = κ₁λ, and their gaps are not negative at the end of the step (docs/stepping.md).
//
// θ and Newmark as they are printed leave a velocity at the end of the step that the contact does not allow, and remember the reaction
// that made it: reactions ring, and energy grows. In their standard form the end of a step is made consistent: the impulses of the step
// are found again for the velocities (γ = 0 of constraints and of closed contacts, Coulomb), and the accelerations that the next step
// begins with are those of the true motion at its state (step_contacts.hpp). Without contacts both are the same.
//
// Linear models are solved by one round: the matrix A = M − κ₁(c_v ∂h/∂v + c_q ∂h/∂q) is factorised once. Otherwise Newton's rounds go on until ξ stands; sides of
// jumps are those of the predicted end throughout a step, sides of kinks follow.
//
// O. Petcoviciu, thesis, Timișoara 2010, 1.7 and chapter 3; A. Basseville, thesis, Marseille 2004, chapter 2; M. Jean, Comput. Methods Appl. Mech. Eng. 177 (1999).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/stepping/scheme.hpp"
#include "engines/stepping/step_contacts.hpp"
#include "engines/stepping/step_matrix.hpp"
#include "engines/stepping/step_monitors.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

enum class StepFormula : std::uint8_t { moreau, printed, theta, newmark, central, explicit_central };

/// What a scheme needs beside its formula.
struct StepNumbers {
  StepFormula formula = StepFormula::moreau;
  double theta = 0.5;  ///< moreau, θ, and the rule of states
  double beta = 0.25;
  double gamma = 0.5;
  bool mean_friction =
      false;  ///< Paoli-Schatzman: friction is about the mean of the velocities before and behind a step
  bool as_printed = false;  ///< θ and Newmark: nothing is made consistent at the end of a step
};

class ImplicitScheme final : public Scheme {
 public:
  using ReadNumbers = StepNumbers (*)(const EngineOptions&);
  ImplicitScheme(const model::System& system, ReadNumbers read);

  [[nodiscard]] std::string begin(const EngineOptions& options, double step) override;
  [[nodiscard]] Status start(StepState& state) override;
  [[nodiscard]] Status advance(StepState& state, double to, StepReport& report) override;
  void save(std::vector<double>& out) const override;
  [[nodiscard]] bool load(std::span<const double> saved, const StepState& state) override;
  void monitors(std::vector<Monitor>& out) const override;
  [[nodiscard]] bool spreads_impacts() const override { return central(); }
  void use(Patience* patience) override;

 private:
  /// The formula of one step with its numbers.
  struct Coefficients {
    double h = 0, theta = 0.5;
    double kappa = 0;  ///< κ₁
    double force = 0;  ///< κ: time that a force acts
    double cq = 0, cv = 0;
    double t = 0;              ///< t_e
    double reach = 0;          ///< ∂q₁/∂ξ
    bool start_force = false;  ///< s = h(1−θ) f₀
    bool position = false;     ///< law of the normal direction
  };
  [[nodiscard]] bool remembers_accelerations() const {
    return numbers_.formula == StepFormula::theta || numbers_.formula == StepFormula::newmark;
  }
  [[nodiscard]] bool central() const {
    return numbers_.formula == StepFormula::central || numbers_.formula == StepFormula::explicit_central;
  }
  /// Impacts of two steps have one law of friction for both.
  [[nodiscard]] bool joins_impacts() const { return central() && !numbers_.mean_friction; }
  void apply_mass(const double* mass, const double* x, double* y) const;
  void apply_slopes(const double* q, double* y) const;
  void set_coefficients(const StepState& state, double h);
  [[nodiscard]] Status start_accelerations(StepState& state);
  [[nodiscard]] bool makes_consistent() const {
    return remembers_accelerations() && !numbers_.as_printed && !ends_.empty();
  }
  [[nodiscard]] Status take_end_mass(const StepState& state);
  [[nodiscard]] Status make_consistent(StepState& state, StepReport& report);
  [[nodiscard]] Status find_accelerations(const StepState& state);
  void note_end_works(const StepState& state, StepReport& report);
  void take_start_rows(const StepState& state);
  [[nodiscard]] bool evaluate_start(const StepState& state);
  [[nodiscard]] Status take_mass(const StepState& state);
  [[nodiscard]] Status solve_step(const StepState& state);
  [[nodiscard]] bool load_evaluation(const StepState& state, int round);
  [[nodiscard]] Status take_matrix();
  void find_affine_forces(const StepState& state);
  void find_residual(const StepState& state);
  [[nodiscard]] Status solve_contacts(const StepState& state);
  void find_gaps(const StepState& state);
  void find_gaps_before(const StepState& state);
  [[nodiscard]] Status one_step(StepState& state, double to, StepReport& report);
  [[nodiscard]] Status finish(StepState& state, double to, StepReport& report);
  void take_end(StepState& state, double to, StepReport& report);
  void note_contacts(StepReport& report);
  void note_impacts(StepReport& report);
  void note_contact_works(const StepState& state, StepReport& report);
  void note_powers(StepReport& report);
  void note_monitors(const StepState& state, const StepReport& report);
  void note_identity(const StepState& state);
  void note_velocity_bound(const StepState& state);
  void take_sides(Mode& mode, bool all);
  [[nodiscard]] Status failed(const StepState& state) const;
  void check_conservative();

  const model::System& system_;
  const model::Layout& layout_;
  const model::LargeMatrices* large_;  ///< matrices that are numbers, or null
  ReadNumbers read_;
  model::Workspace work_;
  StepContacts contacts_;
  StepContacts ends_;  ///< velocities and accelerations at the end of a step
  StepMatrix lu_;
  StepMatrix mass_lu_;  ///< of M at the end of a step
  bool have_mass_lu_ = false, has_rows_ = false;
  StepNumbers numbers_;
  Coefficients c_;
  OnIndeterminate on_indeterminate_ = OnIndeterminate::stop;
  OnPainleve on_painleve_ = OnPainleve::stop;
  int n_ = 0, m_ = 0, size_ = 0;
  bool linear_ =
      false;  ///< forces and rates affine in the state with constant slopes, rows constant, masses constant
  bool affine_ = false;  ///< forces differ by constant slopes alone, whatever the mode and the time
  bool has_powers_ = false;
  double step_ = 0;  ///< of the grid

  std::vector<double> start_, end_;              ///< q, v, z
  std::vector<double> force_, rate_;             ///< at the beginning
  std::vector<double> acceleration_;             ///< a₀ of θ and Newmark
  std::vector<double> reaction_;                 ///< M a₀ − f₀ with it
  std::vector<double> product_, product_after_;  ///< M or K times something
  std::vector<double> normal_before_,
      tangent_before_;  ///< λ₀ by relation and tangential row, where ends are made consistent
  std::vector<double> end_velocity_, end_mass_;
  std::vector<double> before_;  ///< q₋ of Paoli-Schatzman
  bool has_before_ = false, has_force_ = false;
  bool after_ = false;                        ///< Paoli-Schatzman: an impact happens in this step
  std::vector<double> mass_;                  ///< n×n of the step
  std::vector<double> base_, place_, speed_;  ///< v_b, q̂_e, v̂_e
  std::vector<double> given_;                 ///< s
  std::vector<double> xi_, free_;             ///< ξ and z₁; the same without impulses
  std::vector<double> residual_, jacobian_, known_jacobian_, weights_;
  std::vector<double> matrix_sides_, sides_, last_sides_;
  double matrix_kappa_ = 0, matrix_h_ = 0;
  bool have_matrix_ = false;
  std::vector<double> gap_, gap_before_, step_force_, powers_, start_powers_, mean_, loads_;
  Mode trial_, start_mode_, end_mode_;
  double energy_drive_ = 0;  ///< work of drives in the step
  bool kinks_ = false;
  bool conservative_ = false;  ///< forces are −K q + a constant with K symmetric: the identities hold

  StepMonitor energy_{"energy"}, bound_{"velocity_bound"}, identity_{"energy_identity"},
      complementarity_{"complementarity"}, cone_{"cone"}, unique_{"uniqueness"}, rounds_{"rounds"},
      iterations_{"contact_iterations"}, as_printed_{"printed_impacts"};
  [[nodiscard]] std::vector<StepMonitor*> all_monitors();
};

}  // namespace judder::engines
