// Many runs of one model: which there are, and what runs them.
//
// A Plan says which values each member has: a grid, rows of a table, or random numbers. A member is known by its index alone, so that
// any thread or machine can make any of them. An Ensemble is the model compiled for a plan (model/form.hpp): once for each variant, with
// the parameters of the plan left open. A Runner makes members of it, one after the other, in one thread: where only start values differ
// from the member before, System, engine and referee are those of the member before.
//
// The numbers of a member do not depend on the members that the same Runner has made before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judder/analysis/reductions.hpp"
#include "judder/model/compile.hpp"
#include "judder/model/form.hpp"
#include "judder/simulate/repeats.hpp"

namespace judder::analysis {

class Plan {
 public:
  struct Axis {
    std::string name;            ///< of a parameter or start value
    std::vector<double> values;  ///< random: the two ends of its range
  };
  /// Every value of each with every value of the others; the last axis changes fastest.
  static Plan grid(std::vector<Axis> axes, std::vector<std::string> variants = {});
  /// By rows: names.size() numbers each.
  static Plan rows(std::vector<std::string> names, std::vector<double> values,
                   std::vector<std::string> variants = {});
  /// Uniform in the ranges; a member has its numbers from the seed, its index and the place of the axis.
  static Plan random(std::vector<Axis> ranges, std::size_t count, std::uint64_t seed,
                     std::vector<std::string> variants = {});

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Each with all values, outermost; empty: the model as it is.
  [[nodiscard]] const std::vector<std::string>& variants() const { return variants_; }
  [[nodiscard]] std::size_t variant(std::size_t member) const;
  void values(std::size_t member, std::span<double> out) const;
  /// Some members, by which is seen whether the model can be compiled at all: first and last, the middle, and ever finer parts between;
  /// of each variant its first. All different.
  [[nodiscard]] std::vector<std::size_t> probes() const;
  /// The same of one variant alone.
  [[nodiscard]] std::vector<std::size_t> probes(std::size_t variant) const;
  /// Lengths of a grid, variants first where there are any; otherwise the size alone.
  [[nodiscard]] std::vector<std::size_t> shape() const;

 private:
  enum class Kind : unsigned char { grid, rows, random };
  Kind kind_ = Kind::grid;
  std::vector<std::string> names_, variants_;
  std::vector<Axis> axes_;
  std::vector<double> rows_;
  std::uint64_t seed_ = 0;
  std::size_t each_ = 0, size_ = 0;  ///< of one variant, of all
};

/// A number in [0, 1) from three numbers, the same everywhere.
[[nodiscard]] double random_number(std::uint64_t seed, std::uint64_t index, std::uint64_t place);

class Ensemble {
 public:
  /// `options`: variants and settings of all members. Where values make no model, others of the same variant are tried (Plan::probes); a
  /// variant that has none is compiled member by member. If no variant has any, what is wrong with the first member is in `diagnostics`,
  /// and the ensemble is not ok().
  Ensemble(model::Spec spec, model::CompileOptions options, Plan plan, Diagnostics& diagnostics);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Of the first member that has one.
  [[nodiscard]] const model::System& system() const { return *first().system; }
  [[nodiscard]] const model::Compiled& first() const { return bases_[first_].compiled; }

 private:
  friend class Runner;
  struct Base {
    model::CompileOptions options;
    model::Compiled compiled;
    std::optional<model::Form> form;
  };
  [[nodiscard]] model::CompileOptions with(const Base& base, std::span<const double> values) const;

  model::Spec spec_;
  Plan plan_;
  std::vector<bool> is_start_;  ///< by name of the plan
  std::vector<Base> bases_;     ///< by variant
  std::size_t first_ = 0;       ///< of them that has a system
  bool ok_ = false;
};

class Runner {
 public:
  explicit Runner(const Ensemble& ensemble);
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner(const Runner&) = delete;

  /// Makes ready what a member needs. False: problem() says why it has no equations.
  bool take(std::size_t member);
  /// The same for values that are in no plan, by its names.
  bool take(std::size_t variant, std::span<const double> values);
  [[nodiscard]] const std::string& problem() const;
  [[nodiscard]] const model::System& system() const;
  /// Of the model, with its times at these values.
  [[nodiscard]] const model::RunOptions& options() const;
  /// It is another System than before the last take(): what was made for that one is of no use.
  [[nodiscard]] bool changed() const;
  /// The engine for system().
  [[nodiscard]] simulate::Repeats& engine();
  /// Members for which a System was bound, and for which one was compiled.
  [[nodiscard]] long bound() const;
  [[nodiscard]] long compiled() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace judder::analysis
