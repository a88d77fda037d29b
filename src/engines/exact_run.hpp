// One run of the exact engine: from event to event by closed forms, with the handling of events shared (event_run.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "closed_form.hpp"
#include "event_run.hpp"

namespace judder::engines {

/// Closed forms of the modes met so far, by mode; the one not used for longest gives way when there are too many, or when they take too much memory.
class ClosedForms {
 public:
  /// The closed form of the mode that `motion` and `guards` are set to; `problem` says why there is none (then nullptr).
  ClosedForm* of(const model::System& system, model::Workspace& work, ModeMotion& motion,
                 const Guards& guards, Patience* patience, std::string& problem);

 private:
  struct Kept {
    Mode mode;
    std::uint64_t key = 0;
    std::vector<double> corners;  ///< ModeMotion::corner_sides()
    std::uint64_t used = 0;
    std::unique_ptr<ClosedForm> form;
  };
  void make_room(std::size_t bytes);
  [[nodiscard]] static bool same(const Mode& a, const Mode& b);

  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostBytes = 2 * ClosedForm::kMostBytes;  ///< two of the largest
  std::vector<Kept> kept_;
  std::uint64_t clock_ = 0;
};

struct ExactEngine::Run final : EventEngine::Run {
  using EventEngine::Run::Run;

 private:
  StepEnd advance(double limit) override;
  [[nodiscard]] double state_tolerance() const override;
  [[nodiscard]] bool can_rest() const override { return false; }
  [[nodiscard]] bool next_derivative_clear(const Guard& guard, int order) override;
  bool take_form();
  bool begin_phase();
  void emit_grazes(double until);
  void emit_rows(double until);
  void load_at(double time);
  void load_inside(double theta, double length) override;
  void integrate_to(double time);
  void integrate_power(double from, double to);
  void note_scales_along(double tau);
  [[nodiscard]] double middle_value(int function, double tau) const;
  void gather(const numeric::Crossing& crossing);
  void end_phase_at(double time, double tau);
  void land_exactly(numeric::Crossing& crossing);
  [[nodiscard]] StepEnd interrupted();
  [[nodiscard]] bool finite(const std::vector<double>& x) const;
  [[nodiscard]] static bool stays_positive(const Guard& guard, int zeros);
  [[nodiscard]] std::string beyond_resolution(double limit) const;
  [[nodiscard]] bool penetrates(const double* x, double time);
  bool tell_phase(double time);
  void note_pressing_along(double length);

  ClosedForms forms_;
  ClosedForm* form_ = nullptr;
  double phase_time_ = 0;  ///< time that start_ belongs to
  double phase_end_ = 0;
  std::vector<double> start_, end_, sample_;  ///< x̂ at the start of the phase, at its end, and between
  std::vector<double> window_start_, window_next_;  ///< x̂ at integrated_
  double integrated_ = 0;                           ///< work is known up to this time
  std::vector<int> zeros_;
  std::vector<unsigned char> positive_;  ///< by function: what begins at zero must not become negative
  int standstills_ = 0;                  ///< events since time moved last
  std::vector<ClosedForm::Reaction> reactions_;
};

}  // namespace judder::engines
