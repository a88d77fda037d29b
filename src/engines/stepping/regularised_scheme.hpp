// The model's ideal laws replaced by regularised ones, moved by Runge and Kutta's method with fixed steps: what ideal laws are to be compared with.
//
//     rigid contact     λ_N = max(0, −k g − c ġ) while g < 0           k from the options, c so that a single impact rebounds with e
//     constraint        λ_N = −k g − c ġ                               critically damped
//     friction, penalty stick:  λ_T = −(k_T s + c_T γ) , ṡ = γ , up to |λ_T| = μ_s L; then slip with λ_T = −μ L γ/|γ| until γ turns
//     friction, arctan          λ_T = −(2/π) μ L atan(β |γ|) γ/|γ|     creeps under any load
//
// Without a number k and k_T are as stiff as the step allows: a mass on such a spring turns by 0.3 in a step; β likewise. Stick and slip change at the ends of
// steps. Nothing rests exactly, and a stiffer law needs a shorter step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/stepping/scheme.hpp"
#include "engines/stepping/step_monitors.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

struct RegularisedNumbers {
  bool arctan = false;
  double stiffness = 0;       ///< k, N/m; 0: by the step
  double normal_damping = 0;  ///< c_N, N s/m; 0: by the restitution
  double tangential = 0;      ///< k_T, N/m; 0: by the step
  double damping = 0;         ///< c_T, N s/m
  double beta = 0;            ///< s/m; 0: by the step
};

class RegularisedScheme final : public Scheme {
 public:
  using ReadNumbers = RegularisedNumbers (*)(const EngineOptions&);
  RegularisedScheme(const model::System& system, ReadNumbers read);

  [[nodiscard]] std::string begin(const EngineOptions& options, double step) override;
  [[nodiscard]] Status start(StepState& state) override;
  [[nodiscard]] Status advance(StepState& state, double to, StepReport& report) override;
  void save(std::vector<double>& out) const override;
  [[nodiscard]] bool load(std::span<const double> saved, const StepState& state) override;
  void monitors(std::vector<Monitor>& out) const override;
  [[nodiscard]] bool springs() const override { return true; }
  void use(Patience* /*patience*/) override {}

 private:
  [[nodiscard]] bool rate_at(double t, const double* y, double* rate);
  void add_normal(int relation, const double* v);
  void add_friction(int relation, const double* v, const double* stretch, double* stretch_rate);
  [[nodiscard]] double load_of(int relation) const;
  [[nodiscard]] double response_of(const model::Row& row, const model::Row& push);
  void push(const model::Row& direction, double force);
  void take_end(StepState& state);

  const model::System& system_;
  const model::Layout& layout_;
  ReadNumbers read_;
  RegularisedNumbers numbers_;
  model::Workspace work_;
  double h_ = 0;
  int stretches_ = 0;                     ///< place of the stretches of rows behind q, v, z; then works
  std::vector<double> y_, stage_, next_;  ///< q, v, z, stretches, dissipated, supplied
  std::vector<double> k_[4];
  std::vector<double> force_, solved_;
  std::vector<double> normal_, tangent_;  ///< λ of the last evaluation
  std::vector<double> stretch_;           ///< s by tangential row
  std::vector<std::uint8_t> slips_;       ///< by relation: its friction slips during the step
  std::vector<double> powers_;
  Mode stage_mode_;
  StepMonitor creep_{"creep"};
};

}  // namespace judder::engines
