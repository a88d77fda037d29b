// What is kept of a run where its rows are not: one number for each question.
//
//     max(E) min(E) range(E)       extremes of an expression, also between rows: found on the dense output of the engine
//     mean(E) rms(E) integral(E)   over time, by quadrature on the dense output
//     start(E) end(E)              its value at the beginning and at the end
//     at_max(E) at_min(E)          the times of the extremes
//     count(KIND [PLACE])          events, as events.csv names them: count(impact wall), count(watch top)
//     first(KIND [PLACE])          the time of the first such event; last(…): of the last; NaN: there is none
//     impulse(CONTACT)             ∫ λ_N dt and the impulses of impacts
//     period                       of the motion at the end (analysis/periodic.hpp): 0 at rest or in an equilibrium, NaN: none was found
//
// An expression may use whatever an output column may. All numbers belong to t ≥ `after`.
//
// Along a step the quantity is evaluated at seven nodes of Gauss and at both ends. Where the polynomial through these misses it at two
// further places by more than a millionth of its range there, the step is halved: a formula may be faster than the motion, or have
// corners of its own. Every turn of the polynomial that comes near to the extreme so far is then searched with the quantity itself.
//
// A peak may be narrower than the distance of nodes. Formulas that can have one (expr::Program::has_peaks) are enclosed by interval
// arithmetic over the piece, with all that they read in the range that it has there: a piece whose enclosure holds more than the nodes
// have shown is halved, unless its formulas change by a small factor there (expr::Program::evaluate_gentle). The same finds what a formula
// has between two of its own corners or jumps (if, step, max, abs, tables): while the piece may hold one of them, it is enclosed.
// Halving ends at the jump itself. Every quantity has forty thousand halvings of its own in a step; one that changes faster is named
// (unfollowed_text()), and has fewer in later steps.
//
// Engines with fixed steps have nothing between their steps. Of their runs rows are taken, one per step: extremes are those of rows,
// integrals follow the trapezoidal rule, those of what reads reactions the mean reaction of each step.
//
// Quantities that read works of elements (`dissipated`, `balance`, …) are known at the ends of steps only.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/expr/program.hpp"
#include "judder/model/spec.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

struct Reduction {
  enum class Kind : unsigned char {
    max,
    min,
    range,
    mean,
    rms,
    integral,
    start,
    end,
    at_max,
    at_min,
    count,
    first,
    last,
    impulse,
    period
  };
  Kind kind = Kind::end;
  std::string text;        ///< as it was written: the name of its column in a table
  std::string expression;  ///< of the quantity; empty: an event, a contact or the period
  engines::EventKind event = engines::EventKind::impact;
  std::string where;   ///< place of the event; empty: any. The contact of `impulse`
  std::string column;  ///< of the row that holds the quantity (with_reductions)
};

/// "max(N), rms(x'), count(impact wall), period". False: `problem` says what cannot be read and what can.
[[nodiscard]] bool parse_reductions(const std::string& text, std::vector<Reduction>& out,
                                    std::string& problem);
/// The model with an output column for each expression that is not one already, and the columns noted in `reductions`.
[[nodiscard]] model::Spec with_reductions(const model::Spec& spec, std::vector<Reduction>& reductions);
/// Why they cannot be told of this system (no such contact, no such place); empty: they can.
[[nodiscard]] std::string reductions_problem(const model::System& system,
                                             const std::vector<Reduction>& reductions);

/// The extremes of a quantity on the dense output.
struct Extreme {
  double least = 0, least_time = 0;
  double most = 0, most_time = 0;
};

/// Listens to a run as its observer (for the motion) and as a sink (for its events; of a run by rows for these alone). After restart() it
/// is as new and keeps its memory.
class Reducer final : public simulate::NullSink, public engines::Observer {
 public:
  enum class From : unsigned char { steps, rows };
  Reducer(const model::System& system, const std::vector<Reduction>& reductions, double after = 0,
          From from = From::steps);
  /// All numbers of the columns of a row, without questions: for the table of extremes of a run.
  explicit Reducer(const model::System& system);

  void restart(double after);
  /// Forgets everything; from then on only what lies between the two times counts.
  void restart(double after, double before);

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void point(const engines::ToldPoint& told) override;
  void impulses(const engines::ToldImpulses& told) override;
  void event(const engines::Event&) override {}
  [[nodiscard]] bool asks_inside() const override { return false; }
  [[nodiscard]] bool asks_along() const override { return along_; }
  void along(double from, double to, engines::Along& motion) override;

  /// By reduction, in their order. `period`: NaN.
  void values(std::span<double> out);
  /// By quantity of the second constructor: columns of a row without those of modes, time first.
  [[nodiscard]] const std::vector<Extreme>& extremes() const { return extremes_; }
  /// False: somewhere a quantity changed faster than it could be followed; extremes and integrals may be off.
  [[nodiscard]] bool followed() const;
  /// By quantity: whether that has happened to it.
  [[nodiscard]] bool followed(std::size_t quantity) const { return unfollowed_[quantity] == 0; }
  /// That in words, for a table, with the names of what may be off; empty: all were followed.
  [[nodiscard]] std::string unfollowed_text() const;

 private:
  static constexpr int kNodes = 9;  ///< both ends and seven of Gauss
  struct Quantity {
    int place = -1;     ///< in the array of inputs; −1: a column
    int column = -1;    ///< output column
    int relation = -1;  ///< reaction of a contact
    bool extreme = false, integral = false;
    bool of_works = false;  ///< known at the ends of steps only
    bool of_reactions = false;
  };
  struct Asked {
    Reduction::Kind kind;
    int quantity = -1;
    engines::EventKind event{};
    std::string where;
    int relation = -1;
    std::string text{};
  };
  /// The formula of a column that can have a peak narrower than the distance of nodes.
  struct Peaked {
    int quantity = -1;
    expr::Program formula;
  };
  int quantity_of(const model::System& system, const std::string& column);
  void find_works();
  void find_peaked();
  void read(const engines::ToldPoint& told, double* out);
  void evaluate_columns(const engines::Mode& mode);
  void note(int quantity, double time, double value);
  void note_ends(const engines::ToldPoint& told);
  bool piece(double from, double to, engines::Along& motion);
  [[nodiscard]] bool asks_halving(std::size_t quantity);
  [[nodiscard]] bool follows(double from, double to, engines::Along& motion);
  void note_inputs();
  [[nodiscard]] bool hides(double from, double to);
  void take_piece(double from, double to, engines::Along& motion);
  void find_turns(int quantity, int sign, double from, double to, engines::Along& motion);
  double refine(int quantity, int sign, double from, double to, double theta, engines::Along& motion);
  [[nodiscard]] double interpolate(int quantity, double theta) const;
  [[nodiscard]] double end_slope(int quantity, bool at_end) const;

  const model::System& system_;
  model::Workspace work_;
  std::vector<Quantity> quantities_;
  std::vector<Asked> asked_;
  double after_ = 0;
  From from_ = From::steps;
  double before_ = 0;  ///< end of the window; ∞: none
  bool along_ = false, reads_columns_ = false;
  bool reads_ends_ = false;  ///< values are needed at the ends of steps

  std::vector<double> memory_;  ///< quantity by node
  std::vector<double> now_, last_, first_;
  bool begun_ = false;
  double begin_ = 0, end_ = 0;
  double step_ = 0;                 ///< length of the present step
  std::vector<int> halvings_;       ///< by quantity: that it has asked for in the present step
  std::vector<int> most_halvings_;  ///< by quantity
  bool gives_up_ = false;           ///< some quantity, in the present step
  std::vector<char> unfollowed_;    ///< by quantity
  std::vector<Peaked> peaked_;
  std::vector<double> least_in_, most_in_;  ///< of what columns read, over the nodes of a piece
  std::vector<double> sizes_in_;            ///< its largest absolute value so far
  std::vector<expr::Interval> box_, interval_registers_;
  std::vector<Extreme> extremes_;
  std::vector<double> integrals_, squares_;
  std::vector<double> sizes_;  ///< largest absolute value so far
  std::vector<double> counts_, firsts_, lasts_, impulses_;
};

}  // namespace judder::analysis
