// Section points of a motion: its states at instants that come back, and with how many of them it repeats.
//
//     strobe         once in each period of the forces
//     impact:wall    behind every impact on the contact 'wall'; as well KIND:PLACE and KIND alone, for every kind of event
//
// How many points a period has is decided from the last points of a motion that may still converge, slowly where it is about to lose its
// stability. With e_k the distance of point k from point k + p, p is taken where e is rounding, or where it falls towards zero: near a
// loss of stability e follows e' = (1 − μ) e − c e³, for which w = 1/e² grows like A exp(2μk) − c/μ. Three equally spaced values tell
// whether their differences grow (e goes to zero) or shrink (e has another limit, and p is no period):
//
//     q = (w₃ − w₂)/(w₂ − w₁) > 1
//
// The smallest such p counts. Towards a focus the points go round while they come nearer, so that e falls steadily for some p only: of these
// the smallest p whose e falls as fast counts. Returns that get ever shorter (impacts that accumulate) have no period. Rounding is what the steps leave: distances below a bound that follows from their tolerance, unless they
// grow. A place is compared with the larger of itself and of what its velocity covers in 1/2π of the time from point to point, a velocity
// likewise: at resonance all places of a section are zero but for errors. Coordinates on which nothing depends but their rates (an angle
// of a wheel) are left out.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {

struct SectionKind {
  bool strobe = false;
  engines::EventKind event = engines::EventKind::impact;
  std::string where;  ///< empty: any place
};

/// "strobe", "impact:wall", "watch:top", "impact". False: it is none.
[[nodiscard]] bool parse_section(const std::string& text, SectionKind& out);

/// Takes the section points of one run, passes the first `skip` by and ends the run after `keep` more.
class SectionTaker final : public engines::Sink {
 public:
  SectionTaker(const model::System& system, SectionKind kind, std::size_t skip, std::size_t keep);

  /// Another run. `cancel`: somebody else's flag.
  void restart(const std::atomic<bool>* cancel);
  /// To be the cancel flag of the run.
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void progress(double time) override;

  /// t and the state of each point: width() numbers.
  [[nodiscard]] const std::vector<double>& points() const { return points_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t count() const { return points_.size() / width_; }
  /// The largest absolute value of each component at all points that were met.
  [[nodiscard]] const std::vector<double>& reach() const { return reach_; }
  /// All that were met.
  [[nodiscard]] std::size_t met() const { return met_; }
  /// Events behind point k up to the next one, in words: "2 impact wall, stick belt".
  [[nodiscard]] std::string word(std::size_t from, std::size_t to) const;
  /// The state at the last strobe (forced) or at the last point.
  [[nodiscard]] const std::vector<double>& carried() const { return carried_; }

 private:
  struct Happened {
    engines::EventKind kind;
    int place;
    bool on_switch;
    std::size_t before;  ///< points that had been kept
  };
  void take(double time, const double* y);

  const model::System& system_;
  SectionKind kind_;
  std::size_t skip_, keep_, width_, met_ = 0;
  std::vector<double> points_, carried_, reach_;
  std::vector<Happened> events_;
  std::atomic<bool> stop_{false};
  const std::atomic<bool>* cancel_ = nullptr;
};

/// The smallest number of points after which they repeat, at most a third of them; 0: there is none. `drifts`: by component of the state.
/// `coordinates`: so many components are places, and as many behind them their velocities. `same`: relative distances below it are
/// rounding. `reach`: how large components have been before, or
/// nothing: what is smaller than a tenth of that is compared with this tenth, because errors of steps are relative to all of a motion. `turns`: by coordinate, whole ones of
/// which say nothing (analysis/periodic.hpp), or nothing.
[[nodiscard]] std::size_t points_per_period(std::span<const double> points, std::size_t width,
                                            const std::vector<bool>& drifts, std::size_t coordinates = 0,
                                            double same = 1e-8, std::span<const double> reach = {},
                                            std::span<const double> turns = {});

}  // namespace judder::analysis
