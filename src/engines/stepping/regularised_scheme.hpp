// The model's ideal laws replaced by regularised ones, moved by Runge and Kutta's method with fixed steps: what ideal laws are to be compared with.
//
//     rigid contact     λ_N = max(0, k (g₀ − g) − c ġ) from where the gap closes until it opens
//     constraint        λ_N = k (g₀ − g) − c ġ                         critically damped
//     friction, penalty stick:  λ_T = −(k_T s + c_T γ) , ṡ = γ , up to |λ_T| = μ_s L; then slip with λ_T = −μ L γ/|γ| until γ turns
//     friction, arctan          λ_T = −(2/π) μ L atan(β |γ|) γ/|γ|     creeps under any load
//
// Without a number k and k_T are as stiff as the step allows: a mass on such a spring turns by 0.3 in a step; β likewise. Nothing rests exactly, and a
// stiffer law needs a shorter step.
//
// A rebound. The damper beside a contact is that of its restitution (rebound.hpp), for the mass 1/W with W the response of its row alone: one contact at a time
// rebounds as its law says. Its force begins with a jump, c V; so a step in which a gap closes is made in two parts, up to the zero and from there. Damping that
// leaves next to nothing would need more than a step allows: with e < 0.01 the spring is critically damped and keeps a dent. Where it has been
// pressed farthest, its length g₀ is set so that it gives what the other forces ask for, and nothing throws the mass back. A dent is gone when the gap opens.
//
// The start. Springs without a number begin with the reactions of the true motion, g₀ = g + λ/k and s = −λ_T/k_T.
//
// What comes of an impact is compared with what its law says (several contacts at once share masses, and friction goes by its path): the monitor `impacts` has the
// largest difference of velocities, relative to the approach. Where it is beyond a tenth the run does not end as done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/collider.hpp"
#include "engines/decider.hpp"
#include "engines/mode_motion.hpp"
#include "engines/stepping/scheme.hpp"
#include "engines/stepping/step_contacts.hpp"
#include "engines/stepping/step_matrix.hpp"
#include "engines/stepping/step_monitors.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

struct RegularisedNumbers {
  bool arctan = false;
  double stiffness = 0;       ///< k, N/m; 0: by the step
  double normal_damping = 0;  ///< c_N, N s/m; 0: by the restitution
  double tangential = 0;      ///< k_T, N/m; 0: by the step
  double damping = 0;         ///< c_T, N s/m; 0 without k_T: by the step
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
  [[nodiscard]] Status verdict(double time) const override;
  void use(Patience* patience) override;

 private:
  /// The spring of a contact or constraint.
  struct Spring {
    bool presses = false;  ///< it acts: the contact has closed and not opened again
    bool dents = false;    ///< no restitution to speak of
    double rest = 0;       ///< g₀
    double ratio = 1;      ///< ζ
    double turn = 0.3;     ///< of a mass on it in a step, without a given stiffness
    // its impact, as long as that is watched
    bool watched = false;
    double approach = 0;  ///< speed at which it closed
    double since = 0;
    double due = 0;           ///< γ_N behind the impact by its law
    double free_rate = 0;     ///< largest of its rates without it
    double due_slip[3] = {};  ///< γ_T
    static constexpr std::size_t kSaved = 13;
  };
  struct HeldRow {
    int relation = 0, tangent = 0;
  };
  enum class Change : std::uint8_t { none, closes, turns, leaves };
  struct Found {
    Change kind = Change::none;
    int relation = -1;
    double share = 1, before = 0, after = 0;
  };

  [[nodiscard]] bool rate_at(double t, const double* y, double* rate);
  [[nodiscard]] bool run_part(double t, double h);
  void gaps_at(double t, const double* y, std::vector<double>& gap, std::vector<double>& rate);
  [[nodiscard]] double pressed_by(int relation);
  [[nodiscard]] double pull_of(int relation, double gap, double rate);
  [[nodiscard]] Found first_change(double t, double h);
  [[nodiscard]] bool locate(const Found& found, double t, double h, double& length);
  void meet(int relation, double t);
  void close(int relation, double t);
  void dent(int relation);
  void open_springs(double t);
  void ask_law(int relation, double t);
  [[nodiscard]] bool take_law();
  [[nodiscard]] double fed_by(int joint, int contact);
  void compare_with_law(int relation, double t);
  void start_springs(const StepState& state);
  [[nodiscard]] double stiffness_of(int relation, double inverse_mass) const;
  [[nodiscard]] double damping_of(int relation, double stiffness, double inverse_mass) const;
  [[nodiscard]] double tangent_stiffness(double inverse_mass) const;
  [[nodiscard]] double tangent_damping(double inverse_mass) const;
  [[nodiscard]] bool own_tangents() const { return numbers_.tangential > 0 || numbers_.damping > 0; }
  void add_normal(int relation, const double* v);
  void add_friction(int relation, const double* v, const double* stretch, double* stretch_rate);
  [[nodiscard]] double load_of(int relation) const;
  [[nodiscard]] double response_of(const model::Row& row, const model::Row& push);
  void push(const model::Row& direction, double force);
  void take_end(StepState& state);
  [[nodiscard]] bool held_by_others(int relation);
  void hold_at_limit(int relation, double limit);
  void begin_slip(int relation);

  const model::System& system_;
  const model::Layout& layout_;
  ReadNumbers read_;
  RegularisedNumbers numbers_;
  model::Workspace work_;
  std::unique_ptr<Decider> decider_;  ///< of models that the event-driven engine moves
  std::unique_ptr<ModeMotion> motion_;
  std::unique_ptr<Collider> collider_;
  std::unique_ptr<StepContacts> law_;  ///< of the others
  StepMatrix mass_;
  std::vector<double> after_;
  double h_ = 0;
  int stretches_ = 0;                     ///< place of the stretches of rows behind q, v, z
  int works_ = 0, impulses_ = 0;          ///< of works behind them, and of impulses of normal rows
  std::vector<double> y_, stage_, next_;  ///< q, v, z, stretches, dissipated, supplied, impulses
  std::vector<double> k_[4];
  std::vector<double> force_, solved_;
  std::vector<double> normal_, tangent_;  ///< λ of the last evaluation
  std::vector<double> stretch_;           ///< s by tangential row
  std::vector<std::uint8_t> slips_;       ///< by relation: its friction slips during the step
  std::vector<std::uint8_t> turned_;      ///< by relation: a slip that turned in a stage of the step
  std::vector<std::uint8_t> holding_;  ///< by relation: its friction holds, and whether that is at its limit
  std::vector<double> due_joint_;      ///< by tangential row: its slip behind the last impact by the law
  std::vector<HeldRow> held_rows_;     ///< of what holds below its limit, and one more
  std::vector<double> held_, own_response_;
  std::vector<Spring> spring_;  ///< by relation
  std::vector<double> gap_before_, rate_before_, gap_after_, rate_after_;
  std::vector<std::uint8_t> touching_;
  std::vector<Event> struck_;
  std::vector<double> powers_;
  Mode stage_mode_, impact_mode_;
  double too_far_since_ = 0, too_far_ = 0;  ///< an impact that differs from its law
  StepMonitor creep_{"creep"}, impacts_{"impacts"}, overlaps_{"overlaps"};
};

}  // namespace judder::engines
