// The search for rest states of models that are not affine at rest (analysis/rest_search.hpp): one choice of statuses after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/dense.hpp"
#include "judder/analysis/rest_search.hpp"
#include "judder/core/patience.hpp"

namespace judder::analysis {

/// One choice of statuses: contacts, friction by θ = λ_T/(μ L) in [−1, 1], sides of switches.
struct RestChoice {
  std::vector<std::uint8_t> closed;  ///< by relation
  std::vector<double> theta;         ///< by relation
  enum class Side : std::uint8_t { below, above, on, by_value };
  std::vector<Side> side;          ///< by switch
  std::vector<double> free_share;  ///< by switch that is on whatever the position: its weight
};

class RestFinder {
 public:
  RestFinder(const model::System& system, const RestSearchOptions& options)
      : system_(system), layout_(system.layout()), options_(options), work_(system) {
    patience_.start(options.cancel);
    n_ = static_cast<std::size_t>(layout_.coordinates);
    m_ = static_cast<std::size_t>(layout_.states);
    work_.in[0] = options.at.value_or(system.start()[0]);
    for (std::size_t i = 0; i < n_ + m_; ++i) {
      const double start = work_.in[place(i)];
      start_.push_back(start);
      const double floor = i < n_ ? system.scale_floor()[i] : 0;
      scale_.push_back(std::max({std::abs(start), floor, 1e-300}));
      if (scale_.back() == 1e-300) scale_.back() = 1;
    }
    for (std::size_t i = 0; i < n_; ++i) work_.in[static_cast<std::size_t>(layout_.v()) + i] = 0;
    for (std::size_t k = 0; k < system.relations().size(); ++k)
      work_.in[static_cast<std::size_t>(layout_.closed()) + k] = 1;
  }

  bool suits(EquilibriaProblem& problem) const;
  RestSearch find();

 private:
  [[nodiscard]] std::size_t place(std::size_t i) const {
    return i < n_ ? static_cast<std::size_t>(layout_.q()) + i
                  : static_cast<std::size_t>(layout_.z()) + i - n_;
  }
  void load(const std::vector<double>& x) {
    for (std::size_t i = 0; i < n_ + m_; ++i) work_.in[place(i)] = x[i];
  }
  void classify_switches();
  [[nodiscard]] bool active(const RestChoice& choice, std::size_t k) const {
    return system_.relations()[k].kind != model::RelationKind::contact ||
           !system_.relations()[k].has_normal || choice.closed[k] != 0;
  }
  void set_sides(const RestChoice& choice, unsigned corner);
  void all_choices(std::vector<RestChoice>& out);
  void layout_of(const RestChoice& choice);
  bool residual(const RestChoice& choice, const std::vector<double>& u, std::vector<double>& r,
                std::vector<double>& terms);
  bool newton(const RestChoice& choice, std::vector<double>& u, double& error);
  bool step_of(const RealMatrix& a, const std::vector<double>& r, std::vector<double>& change) const;
  bool admissible(const RestChoice& choice, const std::vector<double>& u, FoundRest& out);
  void follow(const RestChoice& choice, const std::vector<double>& u, FoundRest& out);
  void add(const RestChoice& choice, const std::vector<double>& u, double error);
  void judge(const RestChoice& choice, const std::vector<double>& u, FoundRest& rest);
  bool field(const RestChoice& choice, const std::vector<double>& y, std::vector<double>& rate);
  void judge_smooth(const RestChoice& choice, const std::vector<double>& u, FoundRest& rest);
  void judge_sliding(const RestChoice& choice, const std::vector<double>& u, FoundRest& rest);
  double surface(std::size_t k);

  const model::System& system_;
  const model::Layout& layout_;
  const RestSearchOptions& options_;
  model::Workspace work_;
  Patience patience_;
  std::size_t n_ = 0, m_ = 0;
  std::vector<double> start_, scale_;
  enum class Kind : std::uint8_t { fixed, moves, idle };
  std::vector<Kind> kind_;  ///< idle: its surface is zero at every rest
  // of the present choice
  std::vector<std::size_t> normal_, slid_;  ///< relations with unknown λ_N; switches with unknown weight
  RestSearch out_;
};

}  // namespace judder::analysis
