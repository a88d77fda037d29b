// One run of the quasi-static engine: the path from event to event, decisions, jumps, and what is recorded of them.
#pragma once

#include <vector>

#include "judder/core/patience.hpp"
#include "judder/engines/quasi_static.hpp"
#include "quasi_statics.hpp"
#include "recorder.hpp"
#include "timetable.hpp"

namespace judder::engines {

struct QuasiStaticEngine::Run {
  explicit Run(const model::System& system);
  [[nodiscard]] EngineResult go(const EngineOptions& options, Sink& sink, const Moment* resume);

 private:
  class Forces;
  /// What one relation may do next; several of them make a mode.
  struct Option {
    NormalStatus normal = NormalStatus::none;
    TangentStatus tangent = TangentStatus::free;
  };
  /// What ended a phase: a guard of a relation, or of a watch.
  struct Fired {
    enum class What : std::uint8_t { gap, reaction, cone, slip, watch } what = What::gap;
    int place = 0;  ///< relation, or watch
  };
  enum class Verdict : std::uint8_t { none, path, jump, failed };

  // quasi_static_run.cpp: the loop and its records
  void begin(const Moment* resume);
  void follow();
  [[nodiscard]] bool handle_fired(bool fold);
  void finish();
  void save(Moment& out) const;
  [[nodiscard]] bool fail(Reason reason, const std::string& message, const std::string& where = {});
  [[nodiscard]] bool cancelled();
  void publish(const QuasiStaticPoint& point);
  void row(RowKind kind, const QuasiStaticPoint& point);
  void open_instant(const Mode& before);
  [[nodiscard]] bool close_instant();
  void list_changes(const Mode& before);
  void add_event(EventKind kind, int place, Word word);
  void add_work(const QuasiStaticPoint& from, const QuasiStaticPoint& middle, const QuasiStaticPoint& to);
  void powers_at(const QuasiStaticPoint& point, std::vector<double>& out);
  [[nodiscard]] double energy_of(const std::vector<double>& q);
  [[nodiscard]] bool take_time_switches();

  // quasi_static_path.cpp: the path in one mode
  enum class StepEnd : std::uint8_t { plain, limit, event, fold, failed };
  [[nodiscard]] StepEnd advance(double limit);
  [[nodiscard]] bool at_time(double t, const QuasiStaticPoint& from, const QuasiStaticPoint& to,
                             QuasiStaticPoint& out);
  [[nodiscard]] double worst_guard(const QuasiStaticPoint& point, std::vector<Fired>* fired);
  void between(const QuasiStaticPoint& a, const QuasiStaticPoint& b, double arc, double share,
               QuasiStaticPoint& out) const;
  [[nodiscard]] double curve_error(const QuasiStaticPoint& from, const QuasiStaticPoint& middle,
                                   const QuasiStaticPoint& to, double arc) const;
  [[nodiscard]] bool locate(const QuasiStaticPoint& from, const QuasiStaticPoint& to);
  void rows_before(const QuasiStaticPoint& from, const QuasiStaticPoint& to);

  // quasi_static_decide.cpp: what comes next at an instant
  [[nodiscard]] bool settle(bool imbalanced);
  [[nodiscard]] Verdict decide_path(QuasiStaticPoint& direction);
  [[nodiscard]] bool decide_flow(bool& moves);
  [[nodiscard]] std::vector<std::vector<Option>> path_options();
  [[nodiscard]] std::vector<std::vector<Option>> flow_options();
  [[nodiscard]] bool admissible(const QuasiStaticPoint& rate, bool homogeneous);
  template <class Action>
  [[nodiscard]] bool each_mode(const std::vector<std::vector<Option>>& options, const Action& action);
  [[nodiscard]] bool skip_redundant();
  [[nodiscard]] bool nothing_found(const char* message);
  void apply(int relation, const Option& option, Mode& mode) const;
  [[nodiscard]] bool excluded(int relation, const Option& option) const;

  // quasi_static_jump.cpp: motion at a frozen time
  [[nodiscard]] bool jump(const QuasiStaticPoint* direction);
  [[nodiscard]] bool kick(const QuasiStaticPoint& direction, double& arc);
  [[nodiscard]] bool flow_step(const std::vector<double>& q, double arc, std::vector<double>& to,
                               double& error);
  [[nodiscard]] bool flow_direction(const std::vector<double>& q, std::vector<double>& out, double& speed);
  [[nodiscard]] double flow_guards(std::vector<Fired>* fired);
  [[nodiscard]] bool land(double speed, double& arc);
  [[nodiscard]] bool next_leg(bool& moves);
  [[nodiscard]] bool flow_on(double size, double& step, double& arc);
  [[nodiscard]] bool lose_jump(const char* message);
  void rub(double length);
  void end_leg(double arc);
  [[nodiscard]] double reach() const;
  [[nodiscard]] double force_scale() const;

  const model::System& system_;
  const model::Layout& layout_;
  model::Workspace work_;
  Patience patience_;
  QuasiStatics statics_;
  Recorder recorder_;
  Timetable timetable_;
  EngineOptions options_;
  EngineResult result_;

  std::size_t n_ = 0;
  Mode mode_;
  Mode trial_;           ///< the combination that is looked at
  Mode before_instant_;  ///< statuses that the events of the present instant have told
  Mode undecided_;       ///< of the leg of a jump that is followed
  QuasiStaticPoint here_, next_, middle_, scratch_;
  std::vector<double> no_border_;
  std::vector<double> works_;    ///< y as Recorder::load_works reads it: state, dissipated, supplied
  std::vector<double> largest_;  ///< by coordinate: how far it has moved
  std::vector<double> start_;    ///< coordinates at the start of the run
  std::vector<Fired> fired_;
  std::vector<Option>
      excluded_;  ///< by relation: the status that has just ended; normal none and tangent free: none
  std::vector<double> watch_values_;
  std::vector<long> watch_counts_;
  std::vector<int> changed_;
  bool resumed_ = false;
  bool redundant_ = false;  ///< a combination was left out because its reactions are not determined
  bool watch_stops_ = false;
  bool instant_open_ = false;
  double arc_step_ = 0;           ///< next step of the path to try; 0: not known
  double leg_energy_ = 0;         ///< where the present leg of a jump began
  std::vector<double> leg_work_;  ///< friction work at the contacts in it, by relation
  std::vector<double> velocity_, flow_normal_, flow_tangent_;
  std::vector<std::vector<double>> stages_;
};

}  // namespace judder::engines
