// Formulas as straight-line programs of plain data.
//
// A Program computes several outputs from an array of inputs. It has no pointers and no branches: opcodes on numbered registers,
// constants included, common parts computed once. Inputs are variables and sides of switches at fixed places of one array, so a caller
// keeps the whole state of a model in one block of memory: in[0] = t, in[1…] = coordinates, and so on.
//
// Four evaluators run the same program: double; a batch of 4 or 8 doubles (lane-major: in[i*lanes + lane]); Taylor series in time up to
// order 8; intervals with outward rounding. None allocates; `registers` is memory for registers() numbers of the kind.
// Each evaluator gives the same bits for the same inputs at any optimisation level.
//
// Functions from outside (outside.hpp) are called by all of them. Along a series what needs derivatives that are not known is NaN; intervals enclose them only
// where the arguments are known to their last bits, and are the whole line elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judder/expr/graph.hpp"

namespace judder::expr {

inline constexpr int kTaylorOrder = 8;

/// Coefficients of a truncated power series: Σ c[k] τ^k. `order` terms beyond the constant are computed, the rest ignored.
struct Series {
  double c[kTaylorOrder + 1] = {};
};

struct Interval {
  double low = 0;
  double high = 0;
};

enum class Sides : std::uint8_t {
  given,        ///< sides are inputs: inside a run
  by_value,     ///< sides follow from the surfaces: watches, checks
  where_given,  ///< sides that are inputs are given, others follow from their surfaces: output columns
};

/// Where a variable or a side is found in the array of inputs; −1: not an input (using it is a programming error).
struct InputMap {
  std::vector<int> variable;  ///< by Variable
  std::vector<int> side;      ///< by SwitchId; ignored for Sides::by_value
};

struct Instruction {
  std::uint16_t operation = 0;
  std::uint16_t extra = 0;  ///< a whole exponent, or the number of a literal
  std::uint32_t target = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;
};

class Program {
 public:
  Program() = default;

  [[nodiscard]] int inputs() const { return inputs_; }
  [[nodiscard]] int outputs() const { return static_cast<int>(outputs_.size()); }
  [[nodiscard]] int registers() const { return registers_; }
  [[nodiscard]] bool constant() const {
    return length() == 0 && loads_.empty();
  }  ///< no output depends on an input
  /// Whether an output can change by much over a little of its inputs and be flat elsewhere, as exp(−x²/ε), 1/(x² + ε), x²⁰ on |x| < 1, or what
  /// has corners or jumps of its own: if(abs(x) < ε, 1, 0), a table. Sides that are given count for none.
  [[nodiscard]] bool has_peaks() const;
  [[nodiscard]] std::size_t length() const { return code_.empty() ? 0 : code_.size() - 1; }
  /// Time of one evaluation, roughly, in units of one addition: an arithmetic operation counts 1, a function such as sin 12.
  [[nodiscard]] std::size_t cost() const;

  /// What this one output needs, with the same inputs and registers.
  [[nodiscard]] Program only(int output) const;

  /// Puts values of the steps of a Tape (number.hpp) in the place of what was made from open parameters.
  void bind(std::span<const double> values);

  void evaluate(const double* in, double* out, double* registers) const;
  template <int Lanes>  // 4 or 8; instantiated in the library
  void evaluate_batch(const double* in, double* out, double* registers) const;
  /// Coefficients 0 … order of every output from those of the inputs (sides: constant term only).
  void evaluate_series(const Series* in, Series* out, Series* registers, int order) const;
  void evaluate_interval(const Interval* in, Interval* out, Interval* registers) const;
  /// The same, and whether all that can have a peak is gentle there: it changes by a small factor, or bends by little, and is on one side of
  /// each corner and jump, so that its values at a few points tell what it is between them.
  void evaluate_gentle(const Interval* in, Interval* out, Interval* registers, bool& gentle) const;

 private:
  void evaluate_from(const Instruction* i, double* out, double* registers) const;
  template <int Lanes>
  void evaluate_batch_narrow(const double* in, double* out, double* registers) const;
  template <int Lanes>
  void evaluate_batch_wide(const double* in, double* out, double* registers) const;
  template <int Lanes>
  void evaluate_batch_widest(const double* in, double* out, double* registers) const;
  friend Program compile(const Graph&, std::span<const Node>, const InputMap&, int, Sides);
  std::vector<Instruction> code_;  ///< ends with a stop
  std::vector<double> literals_;   ///< constants that instructions read in place
  std::vector<double> constants_;  ///< the others: registers 0 … constants−1
  std::vector<std::uint32_t>
      loads_;  ///< inputs copied to the registers that follow, before the first instruction
  std::vector<std::uint32_t> outputs_;  ///< register of each output, named as in instructions
  std::vector<double> tables_;          ///< levels, and coefficients looked up by level sides
  std::vector<OutsideCall>
      outside_;  ///< functions from outside, each with a block of registers behind the others
  struct Open {
    std::uint32_t place = 0, step = 0;
    bool literal = false;  ///< among literals_, not constants_
  };
  std::vector<Open> open_;  ///< constants that are made from open parameters
  int inputs_ = 0;
  int registers_ = 0;
};

/// `inputs` is the length of the input array.
[[nodiscard]] Program compile(const Graph& graph, std::span<const Node> outputs, const InputMap& map,
                              int inputs, Sides sides);

}  // namespace judder::expr
