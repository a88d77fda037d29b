// The motion of one mode in closed form, and everything that is watched along it.
//
//     x̂ = (q, v, z, load states) ,   dx̂/dt = Â x̂ ,   f_i = c_iᵀ x̂
//
// Built from the coefficients of model::LinearStructure with the sides, directions and statuses of the mode, by the same elimination of
// reactions as the event-driven engine uses (mode_motion.hpp). Guards become rows c_i, also the conditions that some admissible reaction exists where
// reactions are not unique (reaction_conditions.hpp).
//
// While switches k slide, f = f⁰ + Σ α_k (f^k − f⁰) with the fields on their sides. Where f^k − f⁰ = d_k φ_k(x̂) has a constant direction,
// ψ_k = α_k φ_k follows linearly from ds/dt = 0, and the sliding motion is linear although α_k is not:
//
//     f = f⁰ − D (S D)⁻¹ (S f⁰ + ∂s/∂t) ,   S = ∂s/∂y ,   D = (d_1 … d_m)
//
// Work is the integral of products of two rows. On windows within the natural time 1/ρ(|Â|) both are Taylor polynomials, exact to rounding,
// and Gauss-Legendre quadrature with 8 points is exact to rounding, too. Over a piece of length h = 2^p work is a quadratic form x̂ᵀ W x̂, over
// two of them W + EᵀWE with E = exp(Â h), and so on; the impulse of a reaction is a row r, then r + r E. A phase is cut into such pieces, from a
// sixteenth of the natural time up, and only what is left at its end needs the quadrature. Where a form is a small difference of large terms
// (the work of a stiff damper between bodies that move together), its digits are gone, and the quadrature takes over: there each row is a
// number before rows are multiplied.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engines/numeric/enclose.hpp"
#include "engines/numeric/exponential.hpp"
#include "engines/numeric/linear.hpp"
#include "guards.hpp"
#include "mode_motion.hpp"

namespace judder::engines {

class ClosedForm {
 public:
  /// For the mode that `motion` and `guards` are set to. Returns why it has no closed form, or an empty string. Allocates.
  [[nodiscard]] std::string build(const model::System& system, model::Workspace& work, ModeMotion& motion,
                                  const Guards& guards);

  /// Looked at while a form is built and used, which for hundreds of states takes seconds; null: never. To be set before build().
  void use(Patience* patience) {
    patience_ = patience;
    exponentials.use(patience);
  }

  /// Memory that a form of so many states takes with so many functions and integrated rows: 64 powers of e^{Âh} in 32 bytes an entry, their
  /// envelopes, and Taylor coefficients of every function and row by state.
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t states, std::size_t functions,
                                                   std::size_t rows) {
    return 2200 * states * states + (500 * (1 + functions) + 300 * rows) * states;
  }
  /// The same of polynomial motion, which has no powers: Â with its last bits, and functions as above.
  [[nodiscard]] static constexpr std::size_t polynomial_bytes(std::size_t states, std::size_t functions,
                                                              std::size_t rows) {
    return 16 * states * states + (500 * (1 + functions) + 300 * rows) * states;
  }
  /// The most that one form may take: 349 states without functions, some two thousand in polynomial motion.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
  [[nodiscard]] std::size_t bytes() const {
    return bytes_with(static_cast<std::size_t>(size()), functions_.size(), rows_.size());
  }

  /// Why the forms of this model would be too large, or too dear to look at before the run, as they are at the start; empty: they are not.
  [[nodiscard]] static std::string size_problem(const model::System& system);

  /// Why the motion could slide on a switch where it would not be linear, found before the run; empty: nowhere.
  [[nodiscard]] static std::string sliding_problem(const model::System& system);

  [[nodiscard]] int size() const { return linear_.size(); }
  /// x̂ at time t from y.
  void start(double t, const double* y, double* x) const { linear_.start(t, y, x); }

  /// A function of the search: falling zeros end the mode.
  struct Function {
    int guard = 0;        ///< in the list of guards
    bool rising = false;  ///< of a watch: the function is its negative
  };
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  numeric::DyadicExponentials exponentials;
  numeric::CrossingSearch search;

  /// Longest window for integrate(): the natural time; infinite for polynomial motion.
  [[nodiscard]] double window() const { return window_; }
  /// Some product does work, or some reaction is to be integrated.
  [[nodiscard]] bool has_integrals() const { return !rows_.empty(); }
  /// Work by products, false in modes whose power is no sum of products: while switches slide.
  [[nodiscard]] bool work_by_products() const { return work_by_products_; }

  struct Reaction {
    int relation = 0;
    double impulse = 0;  ///< ∫ λ_N dt over the window
    double peak = 0;
  };
  /// Adds the work over a window that starts at x to `work` (dissipated, then supplied, by audit element) and gives the reactions of that window.
  void integrate(const double* x, double width, double* work, std::vector<Reaction>& reactions);
  /// Pieces of length 2^p, first_piece() ≤ p ≤ last_piece(), for which there are forms; none if has_pieces() is false.
  [[nodiscard]] bool has_pieces() const { return levels_ > 0; }
  [[nodiscard]] int first_piece() const { return exponentials.natural_exponent() - kFiner; }
  [[nodiscard]] int last_piece() const { return first_piece() + levels_ - 1; }
  /// The same as integrate() over the piece of length 2^p from x to next. False, and nothing is added: the terms of some form cancel so far that
  /// little of its work is left, and that little is also little to `scale`, the largest energy so far.
  [[nodiscard]] bool integrate_piece(int p, const double* x, const double* next, double scale, double* work,
                                     std::vector<Reaction>& reactions);
  [[nodiscard]] bool has_reactions() const { return !reaction_rows_.empty(); }

 private:
  using Row = std::vector<double>;  ///< over the basis: y, then load functions t^k e^{σt} cos ωt or sin ωt

  struct LoadKind {
    int power = 0;
    double rate = 0, frequency = 0;
  };
  struct Context;  ///< of build()
  struct Stack;    ///< accelerations, rates and reactions as rows

  /// bytes() or polynomial_bytes().
  [[nodiscard]] std::size_t bytes_with(std::size_t states, std::size_t functions, std::size_t rows) const {
    return polynomial_ ? polynomial_bytes(states, functions, rows) : bytes(states, functions, rows);
  }
  /// Whether the motion is polynomial in every mode, by the form of the equations alone: nothing depends on the state, and no load on more than a
  /// power of t.
  [[nodiscard]] static bool only_powers(const model::System& system);

  /// False: there are too many.
  [[nodiscard]] bool collect_loads(const model::LinearStructure& structure);
  /// Size of x̂ with the loads collected so far.
  [[nodiscard]] std::size_t states_so_far() const { return static_cast<std::size_t>(y_) + load_states_; }
  void look() const {
    if (patience_ != nullptr) patience_->look();
  }
  int load_index(int power, double rate, double frequency);
  [[nodiscard]] Row row(const model::AffineFunction& function) const;
  void add(Row& to, const Row& from, double factor) const;
  void field(Context& context, Stack& out);
  void add_lost_stiffness(Context& context, const std::vector<Row>& force, Stack& out);
  [[nodiscard]] bool moves_own_surface(Context& context, int k);
  [[nodiscard]] std::string slide(Context& context, Stack& out);
  void assemble(const Stack& stack);
  [[nodiscard]] std::string list_functions(Context& context, const Stack& stack);
  [[nodiscard]] std::string list_work(Context& context, const Stack& stack);
  void list_forms();
  void list_impulses();
  void expand(int row, const double* x, double width, int most);
  [[nodiscard]] double peak(int row) const;
  [[nodiscard]] int terms_needed(double width) const;
  int integral_row(const Row& row);
  [[nodiscard]] Row augmented(const Row& row) const;

  Patience* patience_ = nullptr;
  bool polynomial_ = false;
  int n_ = 0, states_ = 0, y_ = 0;
  std::vector<double> values_;  ///< of the coefficient program
  std::vector<LoadKind> kinds_;
  std::size_t load_states_ = 0;  ///< that they make
  std::vector<int> place_;       ///< by load kind and part: index in x̂; −1: none
  numeric::LinearMotion linear_;
  std::vector<Function> functions_;

  // integrals
  static constexpr int kTerms = 18;
  struct Product {
    int component = 0;
    int first = 0, second = 0;  ///< rows
    double factor = 1;
  };
  struct ReactionRow {
    int relation = 0;
    int row = 0;
  };
  double window_ = 0;
  bool work_by_products_ = true;
  std::vector<Row> rows_;  ///< of products and reactions, over x̂
  // States that a row depends on: entries first_entry_[i] … first_entry_[i + 1] of the following.
  std::vector<int> first_entry_, entry_state_;
  std::vector<double> taylor_;  ///< entry × term: cᵀÂᵏ/k!
  std::vector<int> row_terms_;  ///< by row: terms that are not zero
  std::vector<Product> products_;
  std::vector<ReactionRow> reaction_rows_;
  std::vector<double> terms_, nodes_, chosen_, form_work_;
  std::vector<int> expanded_;          ///< by row: terms of its present expansion
  int terms_used_ = kTerms;            ///< in any row; fewer for polynomial motion
  static constexpr int kFiner = 4;     ///< powers of two between the natural time and the shortest piece
  static constexpr int kLevels = 10;   ///< lengths of pieces
  static constexpr int kLargest = 64;  ///< size of x̂ up to which forms are cheaper than rows
  struct Form {
    int component = 0;
    std::vector<int> states;     ///< that it depends on
    std::vector<double> matrix;  ///< level × packed matrix over these
  };
  int levels_ = 0;
  std::vector<Form> forms_;
  /// Of a reaction: level × state, ∫ cᵀ e^{Âs} ds; its slope cᵀÂ; and a bound of the slope's curvature on a piece, |cᵀÂ³| e^{|Â|h}.
  struct Impulse {
    std::vector<double> rows;
    std::vector<double> slope, bend;
  };
  std::vector<Impulse> impulses_;  ///< by reaction row
};

}  // namespace judder::engines
