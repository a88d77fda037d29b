// A run as a curve for pictures: points between its rows where a straight line from row to row would miss the motion.
//
// Rows stand at the times that were asked for. Where the motion turns faster than that, a picture of the rows has corners, or shows another motion:
// a sine with one row for each period is a straight line. A Curve listens to a run and follows its dense output:
//
//     q, v, z and output columns along a step are halved until the middle of a piece lies on the straight line between its ends, within half of the
//     `miss` times the range that the quantity has had so far;
//     of these points a corridor keeps those at which a line through the others would leave its half of the miss; each line begins at the last point kept
//     and is as long as it can be;
//     at the end, with the ranges of the whole run, those are left out that rows at their distance do without.
//
// Memory does not grow with time: when it is full, the miss is made four times as large and the points are thought over. If it has to be larger than `most_miss`, nothing is
// kept: a picture of so many turns is a solid band.
//
// Columns of works of elements are not known inside of steps and those of `mode(…)` do not bend; both have no points. Engines with fixed steps have no
// motion between their steps (docs/stepping.md), and give no points at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/engines/observer.hpp"
#include "judder/model/system.hpp"

namespace judder::simulate {

/// Points of a run between its rows, ascending in time.
struct CurvePoints {
  std::vector<std::string> columns;  ///< names; without `t`
  std::vector<double> times;
  std::vector<double> values;  ///< by point
};

struct CurveOptions {
  double miss = 1.0 / 2000;            ///< of the range of a quantity
  double most_miss = 1.0 / 30;         ///< to which it may grow
  std::size_t most_numbers = 120'000;  ///< that are kept
};

class Curve final : public engines::Observer {
 public:
  /// `run`: how it is run; rows are where these options ask for them.
  Curve(const model::System& system, const engines::EngineOptions& run, const CurveOptions& options = {});

  void point(const engines::ToldPoint& told) override;
  void impulses(const engines::ToldImpulses&) override {}
  [[nodiscard]] bool asks_inside() const override { return false; }
  [[nodiscard]] bool asks_along() const override { return !given_up_; }
  void along(double from, double to, engines::Along& motion) override;

  /// After the run, once.
  [[nodiscard]] CurvePoints take();

 private:
  enum class Kind : unsigned char { inner, begin, end };  ///< of a phase: a row is there
  struct Track {
    std::vector<Kind> kinds;
    std::vector<double> times, values;
    void add(Kind kind, double time, const double* value, std::size_t width);
    void clear();
  };
  /// Points of a phase, one after the other, and of these the ones that are kept.
  struct Corridor {
    bool begun = false, holds = false;
    double start_time = 0, held_time = 0;
    std::vector<double> start, held, least, most;  ///< by quantity; the last two: slopes
  };

  bool read(double time, engines::Along& motion, double* out);
  [[nodiscard]] double allowed(std::size_t quantity) const;
  [[nodiscard]] bool bent(const double* first, const double* last, const double* between, double share) const;
  void piece(double from, double to, int depth, engines::Along& motion);
  void note(const double* values);
  void candidate(double time, const double* values);
  void narrow(Corridor& corridor, double time, const double* values, bool fresh) const;
  void feed(Corridor& corridor, Track& out, double time, const double* values) const;
  void close(Corridor& corridor, Track& out, double time, const double* values) const;
  void end_phase();
  void thin();
  void think_over();
  [[nodiscard]] bool rows_suffice(std::size_t i) const;
  [[nodiscard]] double* level(int depth) { return memory_.data() + static_cast<std::size_t>(depth) * width_; }

  static constexpr int kDeepest = 12;  ///< halvings of a step

  const model::System& system_;
  CurveOptions options_;
  model::Workspace work_;
  std::vector<int> places_;  ///< by quantity: in the inputs, or −1 − (place in the output)
  std::vector<std::string> names_;
  std::size_t width_ = 0;
  bool reads_columns_ = false;
  bool given_up_ = false;
  bool event_rows_ = true;
  double distance_ = 0;         ///< of rows
  std::vector<double> memory_;  ///< by depth: the end of the piece at hand
  std::vector<double> first_;   ///< of the piece at hand
  double read_time_ = 0;        ///< of `first_` at the beginning of a step
  bool read_ = false;
  std::vector<double> probe_;
  std::vector<double> least_, most_;  ///< so far
  Corridor corridor_;
  double last_time_ = 0;  ///< of the last candidate
  std::vector<double> last_;
  Track track_, other_;
};

}  // namespace judder::simulate
