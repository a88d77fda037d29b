// From event to event by closed forms: the exact engine, for systems that are linear in each mode (closed_form.hpp).
#pragma once

#include <memory>

#include "engines/closed_forms.hpp"
#include "engines/event/advance.hpp"
#include "engines/event/phase.hpp"
#include "engines/event/step_findings.hpp"

namespace judder::engines {

class Pressing;
class Roundings;
class Rows;
class Scan;
class Sliding;
class StepRecord;
class Watching;
struct EventParts;

class ClosedFormAdvance final : public Advance {
 public:
  ClosedFormAdvance(Phase& now, StepFindings& found, Roundings& rounding, Rows& rows, Pressing& pressed,
                    StepRecord& record, Watching& watching, Sliding& sliding, Scan& scan);
  [[nodiscard]] StepEnd advance(double limit) override;
  [[nodiscard]] double state_tolerance() const override;
  [[nodiscard]] bool can_rest() const override { return false; }
  [[nodiscard]] bool next_derivative_clear(const Guard& guard, int order) override;
  void load_inside(double theta, double length) override;

 private:
  bool take_form();
  bool begin_phase();
  [[nodiscard]] static bool stays_positive(const Guard& guard, int zeros);
  [[nodiscard]] std::string beyond_resolution(double limit) const;
  [[nodiscard]] bool penetrates(const double* x, double time);
  void land_exactly(numeric::Crossing& crossing);
  [[nodiscard]] StepEnd interrupted();
  [[nodiscard]] bool finite(const std::vector<double>& x) const;
  void end_phase_at(double time, double tau);
  void gather(const numeric::Crossing& crossing);
  void load_at(double time);
  void emit_grazes(double until);
  void emit_rows(double until);
  void integrate_to(double time);
  void integrate_power(double from, double to);
  bool tell_phase(double time);
  void note_pressing_along(double length);
  [[nodiscard]] double middle_value(int function, double tau) const;
  void note_scales_along(double tau);

  Phase& now_;
  StepFindings& found_;
  Roundings& rounding_;
  Rows& rows_;
  Pressing& pressed_;
  StepRecord& record_;
  Watching& watching_;
  Sliding& sliding_;
  Scan& scan_;
  std::vector<double> node_y_;
  ClosedForms forms_;
  ClosedForm* form_ = nullptr;
  double phase_time_ = 0;  ///< time that start_ belongs to
  double phase_end_ = 0;
  std::vector<double> start_;
  std::vector<double> end_;
  std::vector<double> sample_;
  std::vector<double> window_start_;
  std::vector<double> window_next_;
  double integrated_ = 0;  ///< work is known up to this time
  std::vector<int> zeros_;
  std::vector<unsigned char> positive_;  ///< by function: what begins at zero must not become negative
  int standstills_ = 0;                  ///< events since time moved last
  std::vector<ClosedForm::Reaction> reactions_;
};

/// The way of the exact engine.
[[nodiscard]] std::unique_ptr<Advance> by_closed_forms(EventParts& parts);

}  // namespace judder::engines
