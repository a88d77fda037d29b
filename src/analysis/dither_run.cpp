#include "judder/analysis/dither_run.hpp"

#include <algorithm>
#include <cmath>

#include "core/elementary.hpp"
#include "judder/core/number.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr double kSlides = 0.9;  ///< α above this counts as slip

/// The mean over the last `count` values; its running sum is renewed once per turn so that rounding does not gather.
class MovingMean {
 public:
  explicit MovingMean(std::size_t count) : values_(count, 0.0) {}
  double step(double x) {
    sum_ += x - values_[next_];
    values_[next_] = x;
    next_ = (next_ + 1) % values_.size();
    if (next_ == 0) {
      sum_ = 0;
      for (const double value : values_) sum_ += value;
    }
    return sum_ / static_cast<double>(values_.size());
  }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
  double sum_ = 0;
};

/// The middles of equal parts of the dither period: a wave that jumps at parts of its period jumps between them.
std::vector<double> sample_times(double from, double until, double spacing) {
  std::vector<double> out;
  const auto count = static_cast<std::size_t>(std::max(0.0, std::floor((until - from) / spacing)));
  out.reserve(count);
  for (std::size_t k = 0; k < count; ++k) out.push_back(from + (static_cast<double>(k) + 0.5) * spacing);
  return out;
}

class FilterSink : public engines::Sink {
 public:
  FilterSink(const model::System& system, DitherStudy& study, const FilteredRunOptions& options,
             const std::vector<double>& times, FilteredRun& out)
      : system_(system),
        curve_(study.system, study.relation),
        dither_(study.dither),
        options_(options),
        times_(times),
        out_(out),
        relation_(study.relation),
        cells_(simulate::column_names(system).size()),
        mean_slip_(static_cast<std::size_t>(options.rows_per_period)),
        mean_force_(static_cast<std::size_t>(options.rows_per_period)),
        low_slip_(dither_.frequency / 2, dither_.frequency * options.rows_per_period),
        low_force_(low_slip_) {}

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override {
    if (kind != engines::RowKind::sample) return;
    simulate::fill_row(system_, mode, work, cells_.data());
    const double* added = cells_.data() + cells_.size() - 3;
    const double time = cells_[0], slip = added[0], force = added[1];
    share(time, slip, added[2], mode);
    if (dither_.wave == Wave::none) {
      keep(time, slip, force);
      return;
    }
    if (next_ >= times_.size() || time != times_[next_]) return;  // the ends of the run
    ++next_;
    const bool mean = options_.filter == LowPass::mean;
    const double slow = mean ? mean_slip_.step(slip) : low_slip_.step(slip);
    const double felt = mean ? mean_force_.step(force) : low_force_.step(force);
    if (next_ % static_cast<std::size_t>(options_.rows_per_period) == 0) keep(time, slow, felt);
  }
  void event(const engines::Event&, std::span<const double>) override {}

  void finish() {
    const double total = total_ > 0 ? total_ : 1;
    for (double* share : {&out_.shares.stick, &out_.shares.presliding, &out_.shares.slip}) *share /= total;
    for (double& bin : out_.shares.alpha) bin /= total;
    out_.rms_deviation = compared_ > 0 ? std::sqrt(square_ / static_cast<double>(compared_)) : 0;
  }

 private:
  void keep(double time, double slip, double force) {
    out_.points.push_back({time, slip, force});
    if (time < out_.settled) return;
    const double off = force - averaged(curve_, dither_, slip).resistance;
    if (std::abs(off) > std::abs(out_.largest_deviation)) {
      out_.largest_deviation = std::abs(off);
      out_.deviation_slip = slip;
    }
    out_.least_slip = compared_ == 0 ? slip : std::min(out_.least_slip, slip);
    out_.most_slip = compared_ == 0 ? slip : std::max(out_.most_slip, slip);
    square_ += off * off;
    ++compared_;
  }

  void share(double time, double slip, double bristle, const engines::Mode& mode) {
    double alpha = 1;
    if (curve_.type() == FrictionType::coulomb) {
      const int row = system_.relations()[static_cast<std::size_t>(relation_)].first_tangent;
      alpha = mode.tangent[static_cast<std::size_t>(row)] == engines::TangentStatus::stick ? 0 : 1;
    } else if (curve_.type() == FrictionType::elastoplastic) {
      alpha = sliding_share(curve_.type(), curve_.at(slip), slip, bristle);
    } else if (curve_.type() == FrictionType::penalty) {
      const model::LawNumbers law = curve_.at(slip);
      const double limit = law.load * law.mu;
      alpha = std::abs(law.stiffness * bristle + law.damping * slip) < limit ? 0 : 1;
    }
    Shares& shares = out_.shares;
    // The time up to here belongs to what was before.
    if (shared_) {
      const double passed = time - share_time_;
      (alpha_ <= 0 ? shares.stick : alpha_ > kSlides ? shares.slip : shares.presliding) += passed;
      shares.alpha[std::min<std::size_t>(static_cast<std::size_t>(alpha_ * 10), 9)] += passed;
      total_ += passed;
    }
    shared_ = true;
    share_time_ = time;
    alpha_ = alpha;
    if (alpha <= 0) {
      if (!sticking_) {
        stick_began_ = time;
        ++shares.sticks;
      }
      shares.longest_stick = std::max(shares.longest_stick, time - stick_began_);
    }
    sticking_ = alpha <= 0;
  }

  const model::System& system_;
  model::FrictionCurve curve_;
  const Dither& dither_;
  const FilteredRunOptions& options_;
  const std::vector<double>& times_;
  FilteredRun& out_;
  int relation_;
  std::vector<double> cells_;
  MovingMean mean_slip_, mean_force_;
  Butterworth low_slip_, low_force_;
  std::size_t next_ = 0;
  long compared_ = 0;
  double share_time_ = 0, alpha_ = 1, total_ = 0;
  bool shared_ = false;
  double square_ = 0, stick_began_ = 0;
  bool sticking_ = false;
};

}  // namespace

Butterworth::Butterworth(double cutoff, double sampling) {
  // Prewarped bilinear transform of 1/(s² + s/Q + 1), Q = 1/(2 cos φ) for the four pole pairs.
  const double k = elementary::tan(std::min(kPi * cutoff / std::max(sampling, 1e-300), 1.5));
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const double angle = kPi * (2 * static_cast<double>(i) + 1) / 16;
    const double q = 1 / (2 * elementary::cos(angle));
    const double norm = 1 / (1 + k / q + k * k);
    sections_[i].b0 = k * k * norm;
    sections_[i].a1 = 2 * (k * k - 1) * norm;
    sections_[i].a2 = (1 - k / q + k * k) * norm;
  }
}

double Butterworth::step(double x) {
  for (Section& s : sections_) {
    const double y = s.b0 * x + s.s1;
    s.s1 = 2 * s.b0 * x - s.a1 * y + s.s2;
    s.s2 = s.b0 * x - s.a2 * y;
    x = y;
  }
  return x;
}

FilteredRun filtered_run(const model::Spec& spec, const model::CompileOptions& options, DitherStudy& study,
                         const FilteredRunOptions& run) {
  FilteredRun out;
  model::Spec asked = spec;
  const bool bristle = !study.system.relations()[static_cast<std::size_t>(study.relation)].bristles.empty();
  asked.output.columns = {{"slip", "slip(" + study.law + ")"},
                          {"resistance", "-tangent(" + study.law + ")"},
                          {"bristle", bristle ? "bristle(" + study.law + ")" : std::string("0")}};
  asked.output.plots.clear();
  asked.watches.clear();
  const model::Compiled compiled = model::compile(asked, options);
  if (!compiled.system) {
    out.status = {
        Reason::unsupported, 0, {}, "the model does not compile with the columns of its friction law"};
    return out;
  }
  engines::EngineOptions engine = engines::options_of(compiled.run);
  engine.event_rows = false;
  if (run.until) engine.until = *run.until;
  if (run.tolerance) engine.tolerance = *run.tolerance;
  if (!std::isfinite(engine.until)) {
    out.status = {Reason::unsupported, 0, {}, "the run has no end time"};
    return out;
  }
  engine.cancel = engine.abandon = options.cancel;
  if (study.dither.wave != Wave::none) {
    constexpr double kMostRows = 1e7;
    const double rows =
        (engine.until - engine.from) * study.dither.frequency / (2 * kPi) * run.rows_per_period;
    if (!(rows <= kMostRows)) {
      out.status = {Reason::unsupported,
                    engine.from,
                    {},
                    "the filter needs " + to_text(rows, 3) + " rows until " + to_text(engine.until, 9) +
                        ", more than " + to_text(kMostRows) + "; give an earlier end with --until"};
      return out;
    }
    out.settled = engine.from + run.settle * 2 * kPi / study.dither.frequency;
    engine.samples = 2;
    engine.every = 0;
    engine.instants =
        sample_times(engine.from, engine.until, 2 * kPi / study.dither.frequency / run.rows_per_period);
  }
  FilterSink sink(*compiled.system, study, run, engine.instants, out);
  out.status = simulate::run(*compiled.system, compiled.run.engine, engine, sink).status;
  sink.finish();
  return out;
}

}  // namespace judder::analysis
