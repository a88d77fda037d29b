// The search for rest states of models that are not affine at rest (analysis/rest_search.hpp): one choice of statuses after another.
//
// For each choice Newton's method starts from the start of the model, places around it, zeros of single equations along the coordinate lines, and
// rests that other choices have. Where rests are isolated, those that are known are taken out of the equations (deflation), and
// the starts are tried again until nothing new comes. What is found is traced (analysis/rest_tracer.hpp): its dimension, extent and ends.
#pragma once

#include <optional>
#include <vector>

#include "analysis/rest_equations.hpp"
#include "analysis/rest_tracer.hpp"

namespace judder::analysis {

class RestFinder {
 public:
  RestFinder(const model::System& system, const RestSearchOptions& options)
      : options_(options),
        equations_(system, options, patience_),
        tracer_(equations_, options.tolerance, patience_) {
    patience_.start(options.cancel);
  }
  [[nodiscard]] std::string unsuited() const { return equations_.unsuited(); }
  RestSearch find();

 private:
  using Row = std::vector<double>;
  struct Known {
    std::size_t choice = 0;
    TracedRests set;
  };
  void all_choices();
  [[nodiscard]] std::vector<Row> starts();
  void along_coordinates(const Row& through, std::vector<Row>& out);
  void search(std::size_t choice, const std::vector<Row>& from, bool deflate);
  void search_stuck(std::size_t choice, const std::vector<Row>& from);
  /// A root of the chosen equations: kept if its conditions hold and it is new. True: it is new.
  bool take(std::size_t choice, const Row& u, double error);
  void search_behind_edges();
  void take_ends(const TracedRests& set);
  void report(const Row& u, double error, const TracedRests* set);
  [[nodiscard]] bool reported(const FoundRest& rest) const;
  [[nodiscard]] static std::string meaning(const model::System& system, const RestCondition& condition);

  const RestSearchOptions& options_;
  Patience patience_;
  RestEquations equations_;
  RestTracer tracer_;
  std::vector<RestChoice> choices_;
  std::vector<Known> known_;
  RestSearch out_;
};

/// Stability of a rest at which the chosen equations hold: fills in verdict, reason and eigenvalues.
void judge_found(RestEquations& equations, const std::vector<double>& u, FoundRest& rest);

}  // namespace judder::analysis
