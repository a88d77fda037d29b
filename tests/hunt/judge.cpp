#include "judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "busy.hpp"
#include "by_value.hpp"
#include "draw.hpp"
#include "from_file.hpp"
#include "impact_modes.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"

namespace judder::hunt {
namespace {

constexpr double kLoose = 1e-8;
constexpr double kFine = 1e-10;
constexpr double kFinest = 1e-12;
constexpr double kAgree = 1e-6;  ///< up to here runs at two tolerances agree: the horizon of all comparisons
constexpr double kGross = 1e-4;  ///< from here they disagree
constexpr double kOther = 1e-5;  ///< allowed between runs that differ in writing or engine only
constexpr double kChanged = 1e-9;          ///< numbers are changed by so much where the tolerances disagree
constexpr double kNear = 1e-4;             ///< share of the run within which events are at the same time
constexpr double kNoTime = 1e-9;           ///< share of the time: two events of a slip are one
constexpr double kLeastNumber = 0x1p-960;  ///< what stays below it is not compared
constexpr int kRows = 81;
constexpr long kMostEvents = 20000;

struct Ready {
  std::optional<model::Compiled> compiled;
  std::string refused;
};

Ready compile_spec(const model::Spec& spec, const std::string& variant) {
  model::CompileOptions options;
  if (!variant.empty()) options.variants = {variant};
  Ready out;
  out.compiled = model::compile(spec, options);
  if (out.compiled->system) return out;
  for (const Diagnostic& d : out.compiled->diagnostics.all()) {
    if (d.severity == Severity::error) {
      out.refused = d.message;
      break;
    }
  }
  if (out.refused.empty()) out.refused = "no reason";
  return out;
}

std::optional<model::Spec> read(const std::string& text, std::string& refused) {
  io::ModelFile file = io::read_model_text(text);
  if (!file.diagnostics.has_errors()) return std::move(file.spec);
  refused = "reader: ";
  for (const Diagnostic& d : file.diagnostics.all()) {
    if (d.severity == Severity::error) {
      refused += d.message;
      break;
    }
  }
  return std::nullopt;
}

struct Ran {
  simulate::Result result;
  [[nodiscard]] const Status& status() const { return result.end.status; }
  [[nodiscard]] Reason reason() const { return result.end.status.reason; }
};

/// Stops after a number of steps.
class Stopper : public simulate::MemorySink {
 public:
  Stopper(const model::System& system, long steps) : MemorySink(system), left_(steps) {}
  void progress(double) override {
    if (--left_ == 0) stop = true;
  }
  std::atomic<bool> stop{false};

 private:
  long left_;
};

/// The function whose zero an event is, in the rows of a run: a watch, the surface of a switch, a slip, a gap.
class Probe : public engines::Sink {
 public:
  struct Sample {
    double time = 0, value = 0;
  };
  Probe(const model::System& system, const engines::Event& event) : system_(system), event_(event) {}
  void row(engines::RowKind, const engines::Mode&, model::Workspace& work) override {
    double value = 0;
    switch (event_.kind) {
      case engines::EventKind::watch:
        system_.watches()[at()].value.evaluate(work.in.data(), &value, work.registers.data());
        break;
      case engines::EventKind::switch_side:
      case engines::EventKind::slide_begin:
      case engines::EventKind::slide_end:
        system_.switches()[at()].value.evaluate(work.in.data(), &value, work.registers.data());
        break;
      case engines::EventKind::lift_off:
        value = system_.rows(work, event_.place).gap;
        break;
      default:
        value = system_.rows(work, event_.place).tangent[0].slip;
    }
    samples.push_back({work.in[0], value});
  }
  void event(const engines::Event&, std::span<const double> /*state*/) override {}
  std::vector<Sample> samples;

 private:
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(event_.place); }
  const model::System& system_;
  engines::Event event_;
};

/// How often switches change from one row to the next, by their values in the rows: so many surfaces at least lie between, and each is an event.
class Crossings : public engines::Sink {
 public:
  explicit Crossings(const model::System& system) : system_(system) {}
  void row(engines::RowKind, const engines::Mode&, model::Workspace& work) override {
    sides_.resize(system_.switches().size());
    for (std::size_t k = 0; k < sides_.size(); ++k) {
      const model::SwitchInfo& info = system_.switches()[k];
      if (info.kind != expr::SwitchKind::jump || info.time_only) continue;
      const double side = system_.side_of_value(work, static_cast<int>(k));
      if (rows_ > 0) count += std::abs(side - sides_[k]);
      sides_[k] = side;
    }
    ++rows_;
  }
  void event(const engines::Event&, std::span<const double> /*state*/) override {}
  double count = 0;

 private:
  const model::System& system_;
  std::vector<double> sides_;
  long rows_ = 0;
};

/// What ends a run without naming anything of mechanics.
bool faulty(Reason reason) {
  switch (reason) {
    case Reason::singular_mass:
    case Reason::not_finite:
    case Reason::step_too_small:
    case Reason::too_many_events:
    case Reason::discontinuous:
    case Reason::impact_failed:
    case Reason::interrupted:
      return true;
    default:
      return false;
  }
}

std::string end_word(const Status& status) {
  return status.reason == Reason::interrupted ? "too slow" : std::string(judder::name(status.reason));
}

class Case {
 public:
  Case(const Draft* draft, std::string text, std::string variant, const Checks& checks, std::uint64_t seed,
       Limit& limit)
      : draft_(draft),
        text_(std::move(text)),
        variant_(std::move(variant)),
        checks_(checks),
        dice_(seed, 77),
        limit_(limit) {}

  Outcome run() {
    std::string refused;
    std::optional<model::Spec> spec = read(text_, refused);
    if (!spec) {
      out_.refused = refused;
      return out_;
    }
    spec_ = std::move(*spec);
    Ready ready = compile_spec(spec_, variant_);
    if (!ready.refused.empty()) {
      out_.refused = ready.refused;
      return out_;
    }
    system_ = &*ready.compiled->system;
    options_ = engines::options_of(ready.compiled->run);
    const std::string problem = simulate::engine_problem(*system_, "event");
    if (!problem.empty()) {
      out_.refused = "engine: " + problem;
      return out_;
    }
    options_.max_events = std::min(options_.max_events, kMostEvents);
    options_.samples = 2;
    options_.event_rows = false;
    const double span = options_.until - options_.from;
    for (int k = 0; k < kRows; ++k)
      options_.instants.push_back(options_.from + span * (k + 0.3819660113) / kRows);
    judge();
    return out_;
  }

 private:
  const Draft* draft_;
  std::string text_, variant_;
  Checks checks_;
  Dice dice_;
  Limit& limit_;
  Outcome out_;
  model::Spec spec_;
  const model::System* system_ = nullptr;
  engines::EngineOptions options_;
  Ready endless_;            ///< the model without ends by watches, once it was asked for
  std::size_t horizon_ = 0;  ///< rows that are comparable
  double worst_ = 0;         ///< distance of the two tolerances up to there

  /// The referee listens to the three runs that are compared with each other; the others must only be like one of them.
  Ran go(const model::System& system, const engines::EngineOptions& options, const char* engine = "event",
         bool referee = false) {
    engines::EngineOptions limited = options;
    limited.referee = referee;
    limited.cancel = limit_.start(draft_ != nullptr && draft_->repeated ? 6 : 1);
    Ran out{simulate::simulate(system, limited, engine)};
    limit_.stop();
    return out;
  }
  [[nodiscard]] engines::EngineOptions at(double tolerance) const {
    engines::EngineOptions o = options_;
    o.tolerance = tolerance;
    return o;
  }

  void find(const std::string& kind, const std::string& detail, double time) {
    if (!out_.kind.empty()) return;
    out_.kind = kind;
    out_.detail = detail;
    out_.time = time;
  }
  [[nodiscard]] bool found() const { return !out_.kind.empty(); }

  /// An impact problem without a solution: no mode of it has one. Where that is not known, a body between two walls that meet.
  [[nodiscard]] bool crushed(const Ran& ran, const model::System& system) const {
    if (ran.reason() != Reason::impact_failed) return false;
    const ImpactModes modes = impact_modes(system, ran.result.end.end);
    if (modes != ImpactModes::unknown) return modes == ImpactModes::none;
    const auto& relations = system_->relations();
    const auto moves = [](auto&& self, const Expr& e) -> bool {
      if (e.op == Op::text || (e.op == Op::name && e.word == "t")) return true;
      return std::any_of(e.args.begin(), e.args.end(), [&](const Expr& a) { return self(self, a); });
    };
    bool with_time = std::any_of(relations.begin(), relations.end(),
                                 [](const model::Relation& r) { return r.has_normal && !r.rows_constant; });
    for (const Element& e : draft_ != nullptr ? draft_->elements : std::vector<Element>{}) {
      const Field* gap = e.section == "contact"      ? e.find("gap")
                         : e.section == "constraint" ? e.find("zero")
                                                     : nullptr;
      with_time = with_time || (gap != nullptr && moves(moves, gap->values[0]));
    }
    // Or a tangential restitution along a slip that the normal decides already.
    return with_time || std::any_of(relations.begin(), relations.end(),
                                    [](const model::Relation& r) { return r.has_tangential_restitution; });
  }

  /// Whether a run that had too many events, or took too long, had to: rows at small steps of time show, by the values of the switches alone, as many
  /// surfaces between them as explain half of its events and of its steps. A switch that goes back and forth shows none.
  [[nodiscard]] bool crosses_levels(const Ran& ran) {
    constexpr double kMany = 1000;
    constexpr int kSmallSteps = 5000;
    if (ran.reason() != Reason::too_many_events && ran.reason() != Reason::interrupted) return false;
    engines::EngineOptions o = at(kFine);
    o.until = ran.status().time;
    o.instants.clear();
    o.samples = kSmallSteps;
    if (!(o.until > o.from)) return false;
    if (is_busy(ran)) return true;
    Crossings crossings(*system_);
    o.cancel = limit_.start(2);
    const engines::EngineResult again = simulate::run(*system_, "event", o, crossings);
    limit_.stop();
    return crossings.count >=
           std::max({kMany, 0.5 * static_cast<double>(again.events), 0.5 * static_cast<double>(again.steps)});
  }

  /// Or its events are real ones, or the formulas oscillate as often on the way that it has gone (busy.hpp).
  [[nodiscard]] bool is_busy(const Ran& ran) {
    constexpr double kStepsPerPeriod = 100;
    if (draft_ != nullptr && periods_of_formulas(*draft_, ran.result.data) >=
                                 static_cast<double>(ran.result.end.steps) / kStepsPerPeriod)
      return true;
    engines::EngineOptions o = at(kLoose);
    o.cancel = limit_.start(3);
    const bool real = events_are_real(*system_, o, ran.status().time, ran.result.data.events);
    limit_.stop();
    return real;
  }

  /// Such runs are compared as far as they have come.
  void judge_part(const Ran& loose, const Ran& fine, std::size_t width) {
    if (broken_law(fine, "") || broken_law(loose, "")) return;
    const Rows loose_rows = rows_of(loose, width);
    const Rows fine_rows = rows_of(fine, width);
    std::string words;
    const std::size_t apart = first_apart(loose_rows, fine_rows, kGross, kRows, &words);
    if (apart >= std::min({loose_rows.values.size(), fine_rows.values.size(), std::size_t{kRows}})) return;
    const double d =
        distance(loose_rows.values[apart], fine_rows.values[apart], scales(loose_rows, fine_rows));
    out_.sensitive = sensitive(fine, fine_rows, apart, explained(loose, d));
    if (!out_.sensitive) find("tolerance", "1e-8 and 1e-10: " + words, loose_rows.times[apart]);
  }

  /// A faulty end is a finding of its own.
  bool bad_end(const Ran& ran, const std::string& who) {
    if (!faulty(ran.reason()) || crushed(ran, *system_)) return false;
    find(who + " " + end_word(ran.status()), ran.status().where + ": " + ran.status().message,
         ran.status().time);
    return true;
  }

  /// What the referee says is a finding, whatever else agrees.
  bool broken_law(const Ran& ran, const std::string& who) {
    if (ran.result.end.verdict.silent()) return false;
    const Finding& first = ran.result.end.verdict.findings.front();
    find(who + "referee " + first.law, simulate::finding_text(first) + " (" + first.place + ")", first.time);
    return true;
  }

  // --- distances ---

  struct Rows {
    std::vector<std::string> names;
    std::vector<double> times;
    std::vector<std::vector<double>> values;
  };
  [[nodiscard]] static Rows rows_of(const Ran& ran, std::size_t integrated,
                                    const std::vector<std::string>* order = nullptr,
                                    const std::vector<double>* units = nullptr, double time_unit = 1) {
    Rows out;
    const simulate::MemorySink& data = ran.result.data;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < integrated; ++c) {
      columns.push_back(order == nullptr ? c + 1
                                         : static_cast<std::size_t>(std::max(0, data.column((*order)[c]))));
      out.names.push_back(data.names[columns.back()]);
    }
    for (std::size_t r = 1; r < data.rows(); ++r) {  // the start says nothing, the end may be at an event
      out.times.push_back(data.cell(r, 0) / time_unit);
      std::vector<double> row;
      for (std::size_t c = 0; c < columns.size(); ++c)
        row.push_back(data.cell(r, columns[c]) / (units == nullptr ? 1 : (*units)[c]));
      out.values.push_back(std::move(row));
    }
    if (out.values.size() > static_cast<std::size_t>(kRows)) {
      out.values.resize(kRows);
      out.times.resize(kRows);
    }
    return out;
  }

  [[nodiscard]] std::vector<double> scales(const Rows& a, const Rows& b) const {
    const auto n = static_cast<std::size_t>(system_->layout().coordinates);
    std::vector<double> out(a.names.size(), 0);
    for (const Rows* rows : {&a, &b}) {
      for (const std::vector<double>& row : rows->values) {
        for (std::size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], std::abs(row[i]));
      }
    }
    const auto floor_part = [&](std::size_t begin, std::size_t end) {
      double most = 0;
      for (std::size_t i = begin; i < end; ++i) most = std::max(most, out[i]);
      for (std::size_t i = begin; i < end; ++i) out[i] = std::max(out[i], 1e-2 * most);
    };
    // What hardly moves is measured by how it could: by the velocities, over the whole run.
    const double span = options_.until - options_.from;
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = std::max(out[i], 1e-2 * span * out[n + i]);
      out[n + i] = std::max(out[n + i], 1e-2 * out[i] / span);
    }
    floor_part(0, n);
    floor_part(n, 2 * n);
    floor_part(2 * n, out.size());
    // Engines control no errors near the end of the range of numbers (docs/referee.md).
    for (double& scale : out) {
      if (scale < kLeastNumber) scale = 0;
    }
    // States that are nothing but rounding.
    const double most = out.empty() ? 0 : *std::max_element(out.begin(), out.end());
    for (double& scale : out) scale = std::max(scale, 1e-9 * most);
    return out;
  }

  static double distance(const std::vector<double>& a, const std::vector<double>& b,
                         const std::vector<double>& scale, std::size_t* which = nullptr) {
    double out = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (scale[i] <= 0) continue;
      const double d = std::abs(a[i] - b[i]) / scale[i];
      if (d > out || !(d == d)) {
        out = d == d ? d : 1e9;
        if (which != nullptr) *which = i;
      }
    }
    return out;
  }

  /// The first row before `rows` where the two are farther apart than `bound`; `rows` if there is none.
  std::size_t first_apart(const Rows& a, const Rows& b, double bound, std::size_t rows,
                          std::string* words = nullptr, double* most = nullptr) const {
    const std::vector<double> scale = scales(a, b);
    rows = std::min({rows, a.values.size(), b.values.size()});
    for (std::size_t k = 0; k < rows; ++k) {
      std::size_t which = 0;
      const double d = distance(a.values[k], b.values[k], scale, &which);
      if (d > bound) {
        if (words != nullptr) {
          char text[200];
          std::snprintf(text, sizeof text, "at t = %.8g %s is %.10g and %.10g", a.times[k],
                        a.names[which].c_str(), a.values[k][which], b.values[k][which]);
          *words = text;
        }
        return k;
      }
      if (most != nullptr) *most = std::max(*most, d);
    }
    return rows;
  }

  // --- events ---

  struct Listed {
    double time = 0;
    std::string words;
    engines::Event event;
  };
  struct List {
    std::vector<Listed> events;
    std::vector<std::pair<double, double>>
        tails;  ///< of accumulations: how many of them are listed is a matter of tolerance
  };
  static List events_of(const model::System& system, const std::vector<engines::Event>& events, double until,
                        double time_unit = 1) {
    List out;
    // By contact: impulses on an angle and on a way have no common measure.
    std::map<int, double> most;
    for (const engines::Event& e : events) {
      if (e.kind == engines::EventKind::impact) most[e.place] = std::max(most[e.place], e.normal_impulse);
    }
    double touch = -1;  // the last contact that closed without a blow
    for (const engines::Event& e : events) {
      if (e.kind == engines::EventKind::graze || e.time / time_unit > until) continue;
      if (e.kind == engines::EventKind::accumulation) {
        // Listed where it ends, with the time that was left when the blows were no longer followed. That is an estimate: pattern factors are not
        // quite steady.
        out.tails.emplace_back((e.time - e.numbers[1]) / time_unit,
                               (e.time + 0.5 * e.numbers[1]) / time_unit);
        continue;
      }
      // A contact that closes with next to no velocity, and opens again at once, is a matter of the last digits.
      const bool blow = e.kind == engines::EventKind::impact && e.normal_impulse > 1e-6 * most[e.place];
      if (e.kind == engines::EventKind::contact || (e.kind == engines::EventKind::impact && !blow)) {
        touch = e.time;
        continue;
      }
      if (e.kind == engines::EventKind::lift_off && touch >= 0 && (e.time - touch) / time_unit < 1e-3 * until)
        continue;
      // A switch that stands in several places is called by the first of them, which the order of writing decides.
      const bool of_switch = e.kind == engines::EventKind::switch_side ||
                             e.kind == engines::EventKind::slide_begin ||
                             e.kind == engines::EventKind::slide_end;
      // A slip that turns and stops at one instant, or within what the errors of the steps make of one, has stopped: what lasted no time may stand in one list and
      // not in the other.
      const auto of_slip = [](engines::EventKind kind) {
        return kind == engines::EventKind::stick || kind == engines::EventKind::slip ||
               kind == engines::EventKind::reversal;
      };
      engines::Event slip = e;
      if (of_slip(e.kind)) {
        std::erase_if(out.events, [&](const Listed& listed) {
          const bool same = of_slip(listed.event.kind) && listed.event.place == e.place &&
                            e.time - listed.event.time <= kNoTime * e.time;
          // What leaves rest and turns has left it.
          if (same && listed.event.kind == engines::EventKind::slip && e.kind == engines::EventKind::reversal)
            slip.kind = engines::EventKind::slip;
          return same;
        });
      }
      out.events.push_back(
          {e.time / time_unit,
           std::string(engines::name(slip.kind)) + (of_switch ? "" : " " + engines::where(system, e)), slip});
    }
    return out;
  }

  /// The same model with watches that do not end it.
  const model::System& without_stops() {
    if (!endless_.compiled) {
      model::Spec spec = spec_;
      for (model::Watch& watch : spec.watches) watch.stop = {};
      endless_ = compile_spec(spec, variant_);
    }
    return endless_.refused.empty() ? *endless_.compiled->system : *system_;
  }

  /// Whether a run was ended by a watch that does not tell.
  [[nodiscard]] bool ended_by_touch(const Ran& ran) {
    if (ran.reason() != Reason::watch) return false;
    for (auto e = ran.result.data.events.rbegin(); e != ran.result.data.events.rend(); ++e) {
      if (e->kind == engines::EventKind::watch) return unresolved({e->time, {}, *e}, kLoose);
    }
    return false;
  }

  /// Whether the event is one of a function that does not tell, on the scale of what steps resolve: near its time the function touches zero and
  /// comes back, or is zero throughout. Such an event may stand in one list and not in the other. One that passes from one side to the other, or
  /// a slip that comes to rest or leaves it, must stand in both. `other`: the system that numbers what the event is about, if it is not the first; its
  /// times have the unit `time_unit`.
  [[nodiscard]] bool unresolved(const Listed& listed, double tolerance, const model::System* other = nullptr,
                                double time_unit = 1) {
    const model::System& system = other != nullptr ? *other : *system_;
    constexpr double kUnits =
        10;  // tolerances of its size that a function must pass its zero by (docs/engines.md)
    constexpr int kSamples = 40;  // on each side
    engines::Event event = listed.event;
    using engines::EventKind;
    const bool crosses = event.kind == EventKind::watch || event.kind == EventKind::switch_side;
    const bool rests = event.kind == EventKind::stick || event.kind == EventKind::slip ||
                       event.kind == EventKind::reversal || event.kind == EventKind::slide_begin ||
                       event.kind == EventKind::slide_end || event.kind == EventKind::lift_off;
    // A body that comes back to the wall that it has left touches it, or strikes it as fast as the errors of the steps let it: no energy tells. (A blow that is
    // thrown back whole loses none either; that it is missing is seen in the rows.)
    if (event.kind == EventKind::impact)
      return std::abs(event.energy_before - event.energy_after) <=
             kUnits * tolerance * std::max(std::abs(event.energy_before), std::abs(event.energy_after));
    if (!crosses && !rests) return false;
    if (event.kind == EventKind::watch &&
        system.watches()[static_cast<std::size_t>(event.place)].needs_reactions)
      return false;
    const double span = options_.until - options_.from;
    const double near = kNear * span;
    engines::EngineOptions o = at(kFine);
    for (int k = -kSamples; k <= kSamples; ++k) {
      const double time = listed.time + near * k / kSamples;
      if (time > o.from && time < o.until) o.instants.push_back(time);
    }
    std::sort(o.instants.begin(), o.instants.end());
    o.instants.erase(std::unique(o.instants.begin(), o.instants.end()), o.instants.end());
    o.referee = false;
    o.cancel = limit_.start(1);
    o.from *= time_unit;
    o.until *= time_unit;
    for (double& time : o.instants) time *= time_unit;
    Probe probe(system, event);
    const model::System& whole = other != nullptr ? system : without_stops();
    const Reason reason = simulate::run(whole, "event", o, probe).status.reason;
    limit_.stop();
    for (Probe::Sample& s : probe.samples) s.time /= time_unit;
    if (reason == Reason::interrupted || probe.samples.empty()) return false;
    // Of a switch with several levels: the one that is met.
    double level = 0;
    if (event.kind != EventKind::watch && crosses) {
      const model::SwitchInfo& info = system.switches()[static_cast<std::size_t>(event.place)];
      const auto nearest =
          std::min_element(probe.samples.begin(), probe.samples.end(), [&](const auto& a, const auto& b) {
            return std::abs(a.time - listed.time) < std::abs(b.time - listed.time);
          });
      if (info.whole) level = std::round(nearest->value);
      double best = 1e300;
      for (const double l : info.levels) {
        if (std::abs(nearest->value - l) >= best) continue;
        best = std::abs(nearest->value - l);
        level = l;
      }
    }
    double scale = 0;
    for (const Probe::Sample& s : probe.samples) scale = std::max(scale, std::abs(s.value));
    const double bound = kUnits * tolerance * scale;
    bool before[2] = {false, false};  // seen below, above
    bool after[2] = {false, false};
    for (const Probe::Sample& s : probe.samples) {
      if (std::abs(s.time - listed.time) > near || std::abs(s.value - level) <= bound) continue;
      (s.time < listed.time ? before : after)[s.value > level ? 1 : 0] = true;
    }
    const bool passes = (before[0] && after[1]) || (before[1] && after[0]) || (before[0] && before[1]) ||
                        (after[0] && after[1]);
    if (passes) return false;
    return crosses || (before[0] || before[1]) == (after[0] || after[1]);
  }

  /// What one list has and the other has not, or an empty string. Events at nearly the same time may stand in any order; the tails of
  /// accumulations are left out.
  /// `other`: the system by which the second list numbers what it is about, if it is not the first.
  [[nodiscard]] std::string events_apart(const List& a, const List& b, double reached, double* time,
                                         double tolerance, const model::System* other = nullptr,
                                         double time_unit = 1) {
    const double near = kNear * (options_.until - options_.from);
    const double end = reached - near;
    const auto in_tail = [&](double t) {
      for (const List* list : {&a, &b}) {
        for (const auto& [first, last] : list->tails) {
          if (t > first - near && t < last + near) return true;
        }
      }
      return false;
    };
    const auto missing = [&](const std::vector<Listed>& from, const std::vector<Listed>& in,
                             const char* who) -> std::string {
      std::vector<bool> used(in.size(), false);
      std::size_t first = 0;
      for (const Listed& e : from) {
        if (e.time > end) break;
        if (in_tail(e.time)) continue;
        while (first < in.size() && in[first].time < e.time - near) ++first;
        bool ok = false;
        for (std::size_t k = first; k < in.size() && in[k].time <= e.time + near; ++k) {
          if (used[k] || in[k].words != e.words) continue;
          used[k] = true;
          ok = true;
          break;
        }
        if (!ok &&
            (&from == &a.events ? unresolved(e, tolerance) : unresolved(e, tolerance, other, time_unit)))
          continue;
        if (!ok) {
          *time = e.time;
          char text[200];
          std::snprintf(text, sizeof text, "%s at t = %.10g is only in the list %s", e.words.c_str(), e.time,
                        who);
          return text;
        }
      }
      return {};
    };
    std::string out = missing(a.events, b.events, "of the first");
    if (out.empty()) out = missing(b.events, a.events, "of the second");
    return out;
  }

  // --- sensitivity ---

  /// The same with numbers of forces and start values changed a little; zeros stay.
  std::optional<Draft> nudged(double by, bool starts) {
    if (draft_ == nullptr) return std::nullopt;
    Draft d = *draft_;
    const auto change = [&](auto&& self, Expr& e) -> void {
      if (e.op == Op::number) e.number *= 1 + by * (2 * dice_.unit() - 1);
      if (e.op == Op::power) return self(self, e.args[0]);
      for (Expr& a : e.args) self(self, a);
    };
    for (Element& e : d.elements) {
      for (const char* key : {"value", "potential", "rate"}) {
        if (Field* f =
                e.section == "force" || e.section == "energy" || e.section == "state" ? e.find(key) : nullptr)
          change(change, f->values[0]);
      }
    }
    for (Element& e : d.elements) {
      if (e.section != "matrices") continue;
      for (const char* key : {"stiffness", "damping"}) {  // a mass must stay symmetric
        if (Field* f = e.find(key)) {
          for (Expr& value : f->values) change(change, value);
        }
      }
    }
    if (d.repeated) {  // expressions are text there; a restitution is a number
      for (Element& e : d.elements) {
        if (e.section == "parameters" &&
            e.fields[0].values[0].number != std::round(e.fields[0].values[0].number))
          change(change, e.fields[0].values[0]);
      }
    }
    if (!starts) return d;
    for (Element& e : d.elements) {
      const bool variant = e.section == "variants" && e.name == d.variant;
      if (e.section != "coordinates" && e.section != "state" && !variant) continue;
      for (Field& f : e.fields) {
        const bool start = f.key == "start" || f.key == "velocity" || variant;
        if (start && f.kind == Field::Kind::value && f.values[0].op == Op::number)
          f.values[0].number *= 1 + by * (2 * dice_.unit() - 1);
      }
    }
    return d;
  }

  /// What must be moved by numbers that are changed by 1e-9, for `loose` to be apart by so much: each of its steps makes an error of ten such changes, and each
  /// error may go on to grow as the change has grown.
  [[nodiscard]] static double explained(const Ran& loose, double apart) {
    constexpr double kFewSteps = 10;
    constexpr double kLeast = 100;  // sensitive() asks for a hundredth of what it is given
    const double steps = std::max(kFewSteps, static_cast<double>(loose.result.end.steps));
    return kLeast * apart / (kLoose / kChanged * steps);
  }

  /// True if runs from slightly other numbers are apart as well at row k, or end otherwise.
  bool sensitive(const Ran& fine, const Rows& fine_rows, std::size_t k, double apart, double by = kChanged) {
    if (draft_ == nullptr) return false;
    const std::optional<Draft> first = nudged(by, true);
    if (text(*first) == text_) return true;  // nothing to nudge: nothing is said
    const std::size_t width = fine_rows.names.size();
    constexpr int kRounds = 8;  // mod(5, 1) jumps for half of the changes
    for (int round = 0; round < kRounds; ++round) {
      Ready ready;
      for (const bool starts : {true, false}) {
        const std::optional<Draft> d = nudged(by, starts);
        std::string refused;
        const std::optional<model::Spec> spec = read(text(*d), refused);
        if (!spec) continue;
        ready = compile_spec(*spec, variant_);
        if (ready.refused.empty()) break;
      }
      if (!ready.compiled || !ready.compiled->system) return false;
      const Ran other = go(*ready.compiled->system, at(kFine));
      if (other.reason() != fine.reason()) return true;
      const Rows rows = rows_of(other, width);
      const std::vector<double> scale = scales(fine_rows, rows);
      if (rows.values.size() <= k) return true;
      if (k < fine_rows.values.size() && distance(rows.values[k], fine_rows.values[k], scale) > 1e-2 * apart)
        return true;
    }
    return false;
  }

  // --- the checks ---

  /// Another run of the same motion: rows up to the horizon, the end, the events.
  void same_motion(const std::string& kind, const Ran& base, const Rows& base_rows, const Ran& other,
                   const Rows& rows, const model::System& other_system, double time_unit = 1) {
    if (found() || other.reason() == Reason::unsupported) return;  // an honest refusal
    // What the exact engine prepares for every level takes longer than a step: such runs are compared as far as they have come.
    const bool in_part = kind == "exact" && crosses_levels(other);
    if (!in_part && faulty(other.reason()) && !crushed(other, other_system)) {
      find(kind + " " + end_word(other.status()), other.status().where + ": " + other.status().message,
           other.status().time / time_unit);
      return;
    }
    std::string words;
    const double bound = std::max(kOther, 30 * worst_);
    const std::size_t k = first_apart(base_rows, rows, bound, horizon_, &words);
    if (k < std::min({horizon_, base_rows.values.size(), rows.values.size()})) {
      // Other units round other numbers, and a jump at a round one may go either way.
      if (kind == "units" && sensitive(base, base_rows, k, 1)) return;
      // mod(3, 0.2) is 0.2 or nothing, and what that does begins with nothing. Numbers that are a thousand roundings away move the motion by half as much as the
      // units did only where it jumps with them: what is continuous would be moved by 1e-13 of its slope.
      constexpr double kThousandRoundings = 1e-13;
      constexpr double kHalf = 50;  // sensitive() asks for a hundredth of what it is given
      if (kind == "units" && k < std::min(base_rows.values.size(), rows.values.size()) &&
          sensitive(base, base_rows, k,
                    kHalf * distance(rows.values[k], base_rows.values[k], scales(base_rows, rows)),
                    kThousandRoundings))
        return;
      find(kind, words, base_rows.times[k]);
      return;
    }
    if (in_part || horizon_ < base_rows.values.size()) return;
    if (other.reason() != base.reason() || std::abs(other.status().time / time_unit - base.status().time) >
                                               1e-3 * (options_.until - options_.from)) {
      find(kind + " ends differ",
           "ends: " + end_word(base.status()) + " at " + to_text(base.status().time, 8) + " and " +
               end_word(other.status()) + " at " + to_text(other.status().time / time_unit, 8) + " (" +
               other.status().message + ")",
           std::min(base.status().time, other.status().time / time_unit));
      return;
    }
    const bool same_places =
        kind != "permuted" && other_system.switches().size() == system_->switches().size();
    double time = 0;
    const std::string apart =
        events_apart(events_of(*system_, base.result.data.events, options_.until),
                     events_of(other_system, other.result.data.events, options_.until, time_unit),
                     std::min(base.status().time, other.status().time / time_unit), &time, kFine,
                     same_places ? nullptr : &other_system, same_places ? 1 : time_unit);
    if (!apart.empty()) find(kind + " events", apart, time);
  }

  void judge() {
    const auto width = static_cast<std::size_t>(system_->layout().integrated());
    const Ran loose = go(*system_, at(kLoose), "event", true);
    const Ran fine = go(*system_, at(kFine), "event", true);
    out_.ended = end_word(fine.status());
    for (std::size_t c = 1; c <= width && fine.result.data.rows() > 0; ++c)
      out_.last.emplace_back(fine.result.data.names[c],
                             fine.result.data.cell(fine.result.data.rows() - 1, c));
    const bool fine_crosses = crosses_levels(fine);
    const bool loose_crosses = crosses_levels(loose);
    if ((!fine_crosses && bad_end(fine, "event")) || (!loose_crosses && bad_end(loose, "event"))) return;
    if (fine_crosses || loose_crosses) {
      judge_part(loose, fine, width);
      return;
    }
    if (broken_law(fine, "") || broken_law(loose, "")) return;
    if (fine.reason() == Reason::negative_normal) {
      find("negative normal", fine.status().where + ": " + fine.status().message, fine.status().time);
      return;
    }
    if (fine.reason() == Reason::inconsistent && !may_be_inconsistent()) {
      find("inconsistent without a cause", fine.status().where + ": " + fine.status().message,
           fine.status().time);
      return;
    }
    const Rows loose_rows = rows_of(loose, width);
    const Rows fine_rows = rows_of(fine, width);
    std::string words;
    horizon_ = first_apart(loose_rows, fine_rows, kAgree, kRows, nullptr, &worst_);
    const std::size_t apart = first_apart(loose_rows, fine_rows, kGross, kRows, &words);
    const std::size_t common = std::min(loose_rows.values.size(), fine_rows.values.size());
    const std::size_t all = std::min<std::size_t>(common, kRows);
    if (apart < all) {
      const double d =
          distance(loose_rows.values[apart], fine_rows.values[apart], scales(loose_rows, fine_rows));
      if (sensitive(fine, fine_rows, apart, explained(loose, d))) {
        out_.sensitive = true;
      } else {
        const Ran finest = go(*system_, at(kFinest));
        if (bad_end(finest, "event at 1e-12")) return;
        const Rows finest_rows = rows_of(finest, width);
        const bool agrees = first_apart(fine_rows, finest_rows, std::max(kAgree, d / 100), apart + 1) > apart;
        find(agrees ? "tolerance 1e-8" : "tolerance",
             "1e-8 and 1e-10: " + words +
                 (apart < finest_rows.values.size()
                      ? "; " + value_at(fine_rows, finest_rows, loose_rows, apart)
                      : ""),
             loose_rows.times[apart]);
        return;
      }
    } else if (loose.reason() != fine.reason() ||
               std::abs(loose.status().time - fine.status().time) > 1e-3 * (options_.until - options_.from)) {
      if (ended_by_touch(loose) || ended_by_touch(fine) ||
          sensitive(fine, fine_rows, fine_rows.values.empty() ? 0 : fine_rows.values.size() - 1, 1e9)) {
        out_.sensitive = true;
      } else {
        find("tolerance ends differ",
             "ends: " + end_word(loose.status()) + " at " + to_text(loose.status().time, 8) + " and " +
                 end_word(fine.status()) + " at " + to_text(fine.status().time, 8),
             std::min(loose.status().time, fine.status().time));
        return;
      }
      horizon_ = 0;
    } else if (horizon_ == all) {
      double time = 0;
      const std::string list = events_apart(events_of(*system_, loose.result.data.events, options_.until),
                                            events_of(*system_, fine.result.data.events, options_.until),
                                            std::min(loose.status().time, fine.status().time), &time, kLoose);
      if (!list.empty()) find("tolerance events", list, time);
    }
    if (found()) return;

    // Chains and gases are for the event engine: what the exact one prepares grows with the cube of their size.
    const bool small = draft_ == nullptr || !draft_->repeated;
    if (checks_.exact && small && simulate::engine_problem(*system_, "exact").empty()) {
      out_.exact = true;
      const Ran exact = go(*system_, at(kFine), "exact", true);
      if (!faulty(exact.reason()) && broken_law(exact, "exact ")) return;
      same_motion("exact", fine, fine_rows, exact, rows_of(exact, width), *system_);
      if (found()) return;
    }
    if (checks_.stepping) stepping(loose, fine, fine_rows, width);
    if (found()) return;
    if (checks_.by_value) by_value(fine);
    if (found()) return;
    if (checks_.permuted) permuted(fine, fine_rows, width);
    if (found()) return;
    if (checks_.until) {
      for (const double share : {0.47, 1.6}) {
        engines::EngineOptions o = at(kFine);
        o.until = o.from + share * (o.until - o.from);
        while (!o.instants.empty() && o.instants.back() > o.until) o.instants.pop_back();
        const Ran other = go(*system_, o);
        if (faulty(other.reason()) && other.status().time > options_.until) continue;
        if (bad_end(other, "until")) return;
        Rows rows = rows_of(other, width);
        if (share < 1 && !rows.values.empty() && rows.times.back() == o.until) rows.values.pop_back();
        std::string apart_words;
        const std::size_t k =
            first_apart(fine_rows, rows, std::max(kOther, 30 * worst_), horizon_, &apart_words);
        if (k < std::min({horizon_, rows.values.size(), fine_rows.values.size()})) {
          find("until", "until " + to_text(o.until) + ": " + apart_words, fine_rows.times[k]);
          return;
        }
      }
    }
    if (checks_.samples) {
      engines::EngineOptions o = at(kLoose);
      o.instants.clear();
      o.samples = 7;
      const Ran other = go(*system_, o);
      if (other.result.end.end.y != loose.result.end.end.y) {
        find("samples", "the end has other bits with 7 samples: " + other_bits(loose, other),
             other.status().time);
        return;
      }
    }
    if (checks_.rows) {
      engines::EngineOptions o = at(kLoose);
      o.event_rows = true;
      const Ran other = go(*system_, o);
      if (other.result.end.end.y != loose.result.end.end.y) {
        find("event rows", "the end has other bits with rows at events: " + other_bits(loose, other),
             other.status().time);
        return;
      }
    }
    if (checks_.resume) resume(loose);
    if (found()) return;
    if (draft_ != nullptr && !draft_->repeated) {
      if (checks_.bits) bits(width);
      if (found()) return;
      if (checks_.units) units(fine, fine_rows, width);
    }
  }

  /// The first of the numbers at the end that differs.
  static std::string other_bits(const Ran& a, const Ran& b) {
    const std::vector<double>& first = a.result.end.end.y;
    const std::vector<double>& second = b.result.end.end.y;
    for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      if (first[i] != second[i])
        return "number " + std::to_string(i) + " is " + to_text(first[i]) + " and " + to_text(second[i]) +
               "; " + end_word(a.status()) + ", " + end_word(b.status());
    }
    return end_word(a.status()) + ", " + end_word(b.status());
  }

  static std::string value_at(const Rows& fine, const Rows& finest, const Rows& loose, std::size_t k) {
    std::string out = "1e-8, 1e-10, 1e-12:";
    for (std::size_t i = 0; i < fine.names.size() && i < 4; ++i) {
      char text[160];
      std::snprintf(text, sizeof text, " %s = %.8g, %.8g, %.8g;", fine.names[i].c_str(), loose.values[k][i],
                    fine.values[k][i], finest.values[k][i]);
      out += text;
    }
    return out;
  }

  /// Without friction of rigid contacts and constraints, and without walls that could meet, a solution always exists.
  [[nodiscard]] bool may_be_inconsistent() const {
    const auto& relations = system_->relations();
    return std::any_of(relations.begin(), relations.end(), [](const model::Relation& r) {
      if (r.kind == model::RelationKind::joint) return !r.feeds.empty();
      return r.has_normal &&
             (r.tangents > 0 || r.own_push || r.kind == model::RelationKind::constraint || !r.rows_constant);
    });
  }

  void by_value(const Ran& fine) {
    model::Spec spec = spec_;
    if (draft_ != nullptr && !draft_->repeated) {
      for (const auto& [word, value] : columns_to_check(*draft_))
        spec.output.columns.push_back({word, value});
    }
    const Ready ready = compile_spec(spec, variant_);
    if (!ready.refused.empty()) {
      find("columns refused", ready.refused, 0);
      return;
    }
    engines::EngineOptions o = at(kFine);
    o.event_rows = true;
    const Ran ran = go(*ready.compiled->system, o);
    if (ran.reason() != fine.reason() || ran.result.end.end.y != fine.result.end.end.y) {
      find("columns", "the end has other bits with output columns: " + end_word(ran.status()),
           ran.status().time);
      return;
    }
    if (draft_ == nullptr) return;
    const Contradiction c = contradiction(*draft_, ran.result.data, out_.rows_by_value);
    if (!c.what.empty()) find("by value", c.what, c.time);
  }

  /// Moreau-Jean's scheme with three steps: places come to those of the event engine, at least like the third root of the step (theory: the step; contacts that close with e = 1 from a flat start come slower), as far as the
  /// motion is comparable. Where they do not there must be a reason: errors of the size of the step grow beyond the horizon, a touch is too light to be told, or the
  /// motion is not unique.
  void stepping(const Ran& loose, const Ran& fine, const Rows& fine_rows, std::size_t width) {
    constexpr std::array<int, 3> kSteps{1000, 4000, 16000};
    constexpr double kClose = 2e-3, kFall = 2.5, kLeastSize = 1e-3;
    out_.stepping = "refused";
    if (!simulate::engine_problem(*system_, "moreau").empty()) return;
    const double span = options_.until - options_.from;
    const std::size_t rows = std::min(horizon_, fine_rows.values.size());
    std::array<double, 3> error{};
    std::size_t where = rows;
    std::string words;
    // False: the verdict is there already.
    const auto try_steps = [&](int steps, double& error_of) {
      engines::EngineOptions o = options_;
      o.step = span / steps;
      o.on_indeterminate = engines::OnIndeterminate::stop;
      o.max_events = 50 * kMostEvents;
      const Ran ran = go(*system_, o, "moreau");
      if (ran.reason() == Reason::interrupted) {
        out_.stepping = "slow";
        return false;
      }
      if (ran.reason() == Reason::indeterminate || ran.reason() == Reason::inconsistent) {
        out_.stepping = "not unique";
        return false;
      }
      const Rows mine = rows_of(ran, width);
      std::vector<double> scale = scales(fine_rows, mine);
      // What rests exactly is approached by chatter of the size of the step: numbers of the models are of size one.
      for (double& size : scale) size = std::max(size, kLeastSize * span * span);
      const auto places = static_cast<std::size_t>(system_->layout().coordinates);
      where = rows;
      for (std::size_t k = 0; k < std::min(rows, mine.values.size()); ++k) {
        double d = 0;
        for (std::size_t c = 0; c < places; ++c)
          d = std::max(d, scale[c] > 0 ? std::abs(mine.values[k][c] - fine_rows.values[k][c]) / scale[c] : 0);
        if (d > kClose && where == rows) where = k;
        if (!(d <= error_of)) error_of = d;
      }
      const bool ended = mine.values.size() < rows && !ran.status().ok();
      if (ended) {
        error_of = INFINITY;
        where = std::min(where, mine.values.size());
        words = " (ended: " + end_word(ran.status()) + ": " + ran.status().message + ")";
      }
      return true;
    };
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      if (!try_steps(kSteps[i], error[i])) return;
    }
    out_.stepping = "agrees";
    if (error[2] <= kClose || error[2] <= error[0] / kFall) return;
    const double time = where < fine_rows.times.size() ? fine_rows.times[where] : options_.until;
    out_.stepping = unexplained(loose, fine, fine_rows, where, error[2], time);
    if (out_.stepping != "defect") return;
    // Impacts that follow each other within some steps fall into place later than others.
    for (const int steps : {64000, 512000}) {
      const std::size_t before = where;
      double finer = 0;
      if (!try_steps(steps, finer)) return;
      where = before;
      if (finer > kClose && finer > error[0] / kFall) continue;
      out_.stepping = "agrees late";
      return;
    }
    find("stepping",
         "errors of places with 1000, 4000, 16000 steps: " + to_text(error[0], 3) + ", " +
             to_text(error[1], 3) + ", " + to_text(error[2], 3) + words,
         time);
  }

  /// Some switch that jumps is at one of its levels, to rounding, at rows before this time: a step is beside it.
  [[nodiscard]] bool stands_at_a_level(double time) {
    class Levels : public engines::Sink {
     public:
      Levels(const model::System& system, double until) : system_(system), until_(until) {}
      void row(engines::RowKind, const engines::Mode&, model::Workspace& work) override {
        if (work.in[0] > until_) return;
        for (const model::SwitchInfo& info : system_.switches()) {
          if (info.kind != expr::SwitchKind::jump || info.time_only) continue;
          double s = 0;
          info.value.evaluate(work.in.data(), &s, work.registers.data());
          double level = 0;
          if (info.whole) level = std::round(s);
          for (const double each : info.levels) {
            if (std::abs(each - s) < std::abs(level - s)) level = each;
          }
          if (std::abs(s - level) <= 1e-9) ++found;
        }
      }
      void event(const engines::Event&, std::span<const double> /*state*/) override {}
      long found = 0;

     private:
      const model::System& system_;
      double until_;
    };
    Levels levels(*system_, time);
    engines::EngineOptions o = at(kFine);
    o.cancel = limit_.start(2);
    static_cast<void>(simulate::run(*system_, "event", o, levels));
    limit_.stop();
    return levels.found > 0;
  }

  /// Some open contact comes within this many of a step's way of its zero at a time before this one, and neither closes nor opens about then: whether a
  /// scheme that lands half a step's way beside a contact meets it is for the phase to say.
  [[nodiscard]] bool touches_lightly(const Ran& fine, double time, double steps) {
    class Touches : public engines::Sink {
     public:
      Touches(const model::System& system, const Ran& fine, double until, double reach)
          : system_(system), fine_(fine), until_(until), reach_(reach) {}
      void row(engines::RowKind, const engines::Mode& mode, model::Workspace& work) override {
        const double t = work.in[0];
        if (found || t > until_) return;
        for (int r = 0; r < system_.layout().relations; ++r) {
          const model::Relation& relation = system_.relations()[r];
          if (!relation.has_normal || relation.kind != model::RelationKind::contact) continue;
          if (mode.normal[r] != engines::NormalStatus::open) continue;
          double gap = 0, rate = 0;
          system_.gap(work, r, gap, rate);
          if (gap > reach_ * std::max(1.0, std::abs(rate))) continue;
          constexpr double kAbout = 10;
          found =
              found || std::none_of(fine_.result.data.events.begin(), fine_.result.data.events.end(),
                                    [&](const engines::Event& event) {
                                      return event.place == r && std::abs(event.time - t) <= kAbout * reach_;
                                    });
        }
      }
      void event(const engines::Event&, std::span<const double> /*state*/) override {}
      bool found = false;

     private:
      const model::System& system_;
      const Ran& fine_;
      double until_, reach_;
    };
    const double span = options_.until - options_.from;
    Touches touches(*system_, fine, time, steps * span);
    engines::EngineOptions o = at(kFine);
    o.samples = 20000;
    o.cancel = limit_.start(2);
    static_cast<void>(simulate::run(*system_, "event", o, touches));
    limit_.stop();
    return touches.found;
  }

  [[nodiscard]] std::string unexplained(const Ran& loose, const Ran& fine, const Rows& fine_rows,
                                        std::size_t k, double apart, double time) {
    constexpr double kSteps = 16000, kTimes = 10, kLight = 1e-6;
    if (out_.sensitive || loose.reason() != fine.reason()) return "horizon";
    const engines::EngineResult& end = fine.result.end;
    if (end.reactions_not_unique || end.undecided_ties > 0 || end.uniqueness_unchecked) return "not unique";
    const double most = std::max(end.largest_energy, 1e-300);
    for (const engines::Event& event : fine.result.data.events) {
      if (event.time > time) break;
      const bool light = event.kind == engines::EventKind::impact &&
                         std::abs(event.energy_before - event.energy_after) <= kLight * most &&
                         event.normal_impulse != 0;
      if (event.kind == engines::EventKind::graze || light) return "grazing";
    }
    if (stands_at_a_level(time) || touches_lightly(fine, time, kTimes / kSteps)) return "grazing";
    // A change of the numbers by as much as ten steps are worth moves the motion as far.
    const double share = kTimes / kSteps / kChanged;
    if (k >= fine_rows.values.size() || sensitive(fine, fine_rows, k, 100 * std::min(apart, 1.0) / share))
      return "horizon";
    return "defect";
  }

  void permuted(const Ran& fine, const Rows& fine_rows, std::size_t width) {
    model::Spec spec = spec_;
    const auto shuffle = [&](auto& list) {
      for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[static_cast<std::size_t>(dice_.whole(0, static_cast<int>(i) - 1))]);
    };
    if (!spec.matrices.mass.given && !spec.matrices.damping.given && !spec.matrices.stiffness.given &&
        !spec.matrices.load.given)
      shuffle(spec.coordinates);
    shuffle(spec.states);
    shuffle(spec.joints);
    shuffle(spec.contacts);
    shuffle(spec.constraints);
    shuffle(spec.watches);
    // Forces without a name are called by their place.
    if (std::all_of(spec.forces.begin(), spec.forces.end(),
                    [](const model::Force& f) { return !f.name.empty(); }))
      shuffle(spec.forces);
    const Ready ready = compile_spec(spec, variant_);
    if (!ready.refused.empty()) {
      find("permuted refused", ready.refused, 0);
      return;
    }
    const Ran other = go(*ready.compiled->system, at(kFine));
    const std::vector<std::string> order(fine_rows.names);
    same_motion("permuted", fine, fine_rows, other, rows_of(other, width, &order), *ready.compiled->system);
  }

  /// The factor of each column in other units.
  [[nodiscard]] std::vector<double> column_units(const std::vector<std::string>& names,
                                                 const Units& u) const {
    std::vector<double> out;
    for (const std::string& word : names) {
      Dimension d = kPure;
      for (const Element& e : draft_->elements) {
        if (e.section == "coordinates" && (word == e.name || word == e.name + "'")) {
          d = e.name.rfind("th", 0) == 0 ? kPure : kLength;
          if (word.back() == '\'') d = d - kTime;
        }
        if (e.section == "state" && word == e.name)
          d = e.find("start") != nullptr ? e.find("start")->values[0].dimension : kPure;
      }
      // Bristles are lengths or angles: not known here, their names are the engine's.
      out.push_back(u.factor(d));
    }
    return out;
  }
  [[nodiscard]] bool has_bristles(const std::vector<std::string>& names) const {
    std::size_t own = 0;
    for (const Element& e : draft_->elements)
      own += e.section == "coordinates" ? 2U : e.section == "state" ? 1U : 0U;
    return names.size() != own;
  }

  std::optional<Ran> in_units(const Units& u, double tolerance, Ready& ready) {
    std::string refused;
    const std::optional<model::Spec> spec = read(text(*draft_, u), refused);
    if (spec) ready = compile_spec(*spec, variant_);
    if (!spec || !ready.refused.empty()) {
      find("units refused", refused + ready.refused, 0);
      return std::nullopt;
    }
    engines::EngineOptions o = at(tolerance);
    o.from *= u.time;
    o.until *= u.time;
    for (double& t : o.instants) t *= u.time;
    return go(*ready.compiled->system, o);
  }

  /// Contacts, slips and constraints along an angle, beside others along a length.
  [[nodiscard]] bool angles_beside_lengths() const {
    bool angle = false, length = false;
    for (const Element& e : draft_->elements) {
      if (e.section == "coordinates") (e.name.rfind("th", 0) == 0 ? angle : length) = true;
    }
    return angle && length;
  }

  /// In both units every dimension that is drawn, and every one of a derivative by a coordinate or a velocity, has a factor of 2^6 at least (or
  /// 2^-6 at most): no coefficient is one in one of them only. A factor that is one disappears, and sums are then taken in another order.
  void bits(std::size_t width) {
    const Units first{0x1p18, 0x1p-30, 0x1p24};
    Units second{0x1p36, 0x1p24, 0x1p6};
    if (draft_->features.count("compliant exponent") > 0 || draft_->features.count("root or power") > 0)
      second = {first.length, 0x1p-24, 0x1p30};
    Ready ready;
    Ready other_ready;
    const std::optional<Ran> one = in_units(first, kLoose, ready);
    if (!one) return;
    const std::optional<Ran> two = in_units(second, kLoose, other_ready);
    if (!two) return;
    const std::vector<std::string> names(
        one->result.data.names.begin() + 1,
        one->result.data.names.begin() + 1 + static_cast<std::ptrdiff_t>(width));
    const std::vector<double> factors = column_units(names, first);
    const std::vector<double> other_factors = column_units(names, second);
    const Rows rows = rows_of(*one, width, nullptr, &factors, first.time);
    const Rows scaled = rows_of(*two, width, nullptr, &other_factors, second.time);
    std::size_t compared = width;
    if (has_bristles(rows.names)) compared = static_cast<std::size_t>(2 * system_->layout().coordinates);
    const auto find_in = [&](const std::string& detail, double time) {
      find("bits", detail, time);
      out_.in_other_units = {text(*draft_, first), text(*draft_, second)};
    };
    if (rows.values.size() != scaled.values.size()) {
      find_in("another number of rows: " + std::to_string(rows.values.size()) + " and " +
                  std::to_string(scaled.values.size()) + "; " + end_word(one->status()) + ", " +
                  end_word(two->status()),
              0);
      return;
    }
    // Where forces and moments share a load that is not unique, "the largest margin" compares numbers of both: the shares go with the units, the motion does not,
    // beyond their rounding.
    constexpr double kShares = 1e-12;
    const bool shares = one->result.end.reactions_not_unique && angles_beside_lengths();
    const std::vector<double> scale = scales(rows, scaled);
    for (std::size_t k = 0; k < rows.values.size(); ++k) {
      for (std::size_t i = 0; i < compared; ++i) {
        if (shares && std::abs(rows.values[k][i] - scaled.values[k][i]) <= kShares * scale[i]) continue;
        if (rows.values[k][i] == scaled.values[k][i] ||
            (std::abs(rows.values[k][i]) < 1e-270 && std::abs(scaled.values[k][i]) < 1e-270))
          continue;
        char words[300];
        std::snprintf(words, sizeof words,
                      "units of (%g, %g, %g) and (%g, %g, %g): at t = %.8g %s is %.17g and %.17g",
                      first.length, first.mass, first.time, second.length, second.mass, second.time,
                      rows.times[k], rows.names[i].c_str(), rows.values[k][i], scaled.values[k][i]);
        find_in(words, rows.times[k]);
        return;
      }
    }
  }

  void units(const Ran& fine, const Rows& fine_rows, std::size_t width) {
    if (has_bristles(fine_rows.names)) return;
    const Units u = dice_.chance(0.5) ? Units{1e3, 1, 1} : Units{1e-3, 1e3, 1e3};
    Ready ready;
    const std::optional<Ran> other = in_units(u, kFine, ready);
    if (!other) return;
    const std::vector<double> factors = column_units(fine_rows.names, u);
    same_motion("units", fine, fine_rows, *other, rows_of(*other, width, nullptr, &factors, u.time),
                *ready.compiled->system, u.time);
    if (found()) out_.in_other_units = {text(*draft_, u)};
  }

  void resume(const Ran& loose) {
    if (loose.result.end.steps < 2) return;
    const long steps = 1 + static_cast<long>(dice_.unit() * static_cast<double>(loose.result.end.steps - 1));
    Stopper first(*system_, steps);
    engines::EngineOptions o = at(kLoose);
    o.cancel = &first.stop;
    o.referee = false;
    const engines::EngineResult half = simulate::run(*system_, "event", o, first);
    if (half.status.reason != Reason::interrupted) return;
    simulate::MemorySink second(*system_);
    o.cancel = limit_.start(draft_ != nullptr && draft_->repeated ? 6 : 1);
    const engines::EngineResult rest = simulate::run(*system_, "event", o, second, &half.end);
    limit_.stop();
    if (rest.status.reason == Reason::interrupted)
      return;  // the whole run was within the limit, this one nearly
    std::vector<double> cells = first.cells;
    cells.insert(cells.end(), second.cells.begin(), second.cells.end());
    if (rest.end.y != loose.result.end.end.y)
      find("resume",
           "cut after " + std::to_string(steps) + " steps: the end has other bits; " + end_word(rest.status),
           half.end.time);
    else if (cells != loose.result.data.cells)
      find("resume rows", "cut after " + std::to_string(steps) + " steps: the rows have other bits",
           half.end.time);
    else if (first.events.size() + second.events.size() != loose.result.data.events.size())
      find("resume events", "cut after " + std::to_string(steps) + " steps: another number of events",
           half.end.time);
  }
};

}  // namespace

Outcome judge(const Draft& draft, const Checks& checks, std::uint64_t seed, Limit& limit) {
  return Case(&draft, text(draft), draft.variant, checks, seed, limit).run();
}

Outcome judge_text(const std::string& text, const std::string& variant, Checks checks, std::uint64_t seed,
                   Limit& limit) {
  std::string refused;
  const std::optional<model::Spec> spec = read(text, refused);
  if (!spec) {
    Outcome out;
    out.refused = refused;
    return out;
  }
  checks.units = checks.bits = false;  // numbers of a file have no dimensions
  const Draft draft = from_spec(*spec, variant);
  return Case(&draft, text, variant, checks, seed, limit).run();
}

}  // namespace judder::hunt
