#include "judder/analysis/perturbation.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/dense/matrix.hpp"
#include "judder/core/number.hpp"
#include "judder/core/patience.hpp"
#include "judder/model/form.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::analysis {
namespace {

using Row = std::vector<double>;

/// Distances of the motion from the rest, and the motion if it is wanted.
class Distance final : public engines::Sink {
 public:
  Distance(const model::System& system, const RestProblem& rest, const RestState& state, bool keep)
      : layout_(system.layout()), rest_(rest), state_(state), keep_(keep) {}

  void row(engines::RowKind, const engines::Mode&, model::Workspace& work) override {
    double far = 0;
    for (std::size_t i = 0; i < rest_.n; ++i)
      far = std::max(far, std::abs(work.in[static_cast<std::size_t>(layout_.q()) + i] - state_.x[i]));
    largest = std::max(largest, far);
    last = far;
    if (!keep_) return;
    Row cells{work.in[0]};
    for (std::size_t i = 0; i < rest_.n; ++i)
      cells.push_back(work.in[static_cast<std::size_t>(layout_.q()) + i]);
    for (std::size_t k = 0; k < rest_.relations.size(); ++k) {
      cells.push_back(work.in[static_cast<std::size_t>(layout_.normal()) + k]);
      const bool rubs = !rest_.relations[k].tangents.empty();
      cells.push_back(
          rubs ? work.in[static_cast<std::size_t>(layout_.tangent() + rest_.relations[k].tangents[0].number)]
               : 0);
    }
    rows.push_back(std::move(cells));
  }
  void event(const engines::Event&, std::span<const double>) override {}

  double largest = 0, last = 0;
  std::vector<Row> rows;

 private:
  const model::Layout& layout_;
  const RestProblem& rest_;
  const RestState& state_;
  bool keep_;
};

/// Runs of a model from places around a rest, and under small further loads.
class Bench {
 public:
  Bench(const model::Spec& spec, const model::CompileOptions& options, const RestProblem& rest,
        const RestState& state, const ExperimentOptions& how)
      : spec_(spec), options_(options), rest_(rest), state_(state), how_(how) {
    patience_.start(how.cancel);
    options_.cancel = how.cancel;
    spec_.run.from = rest.time;
    spec_.run.until = rest.time + 1;
    spec_.watches.clear();
    spec_.drawings.clear();
    // Rows have reactions where some column reads them.
    for (const RestProblem::Relation& relation : rest.relations) {
      if (!how.curves || !relation.has_normal || !relation.unilateral) continue;
      spec_.output = {};
      spec_.output.columns.push_back({"reaction_of_rest", model::Value("normal(" + relation.name + ")")});
      break;
    }
    scales();
  }

  Experiment measure();

 private:
  void scales();
  [[nodiscard]] bool admissible(Row& direction) const;
  [[nodiscard]] Row placed(const Row& displacement) const;
  [[nodiscard]] std::vector<model::Form::Value> start_at(const Row& place, const Row& velocity) const;
  void start_from(const model::Form& form, const Row& velocity, const Row& displacement, Push push);
  void load_by(std::size_t coordinate, Push::Kind kind, double size);
  void finish(const model::System& system, Push push);
  void decide();

  model::Spec spec_;
  model::CompileOptions options_;
  const RestProblem& rest_;
  const RestState& state_;
  const ExperimentOptions& how_;
  Patience patience_;
  model::CompiledForm form_;
  double length_ = 1, frequency_ = 1, horizon_ = 1, stiffness_ = 1;
  bool wanted_ = false;  ///< the next motion is kept for a figure
  Experiment out_;
};

void Bench::scales() {
  const std::size_t n = rest_.n, width = n + rest_.m;
  length_ = 0;
  double force = 0;
  stiffness_ = 0;
  for (std::size_t i = 0; i < n; ++i) {
    length_ = std::max(length_, std::abs(state_.x[i]));
    force = std::max(force, std::abs(rest_.load[i]));
    stiffness_ = std::max(stiffness_, std::abs(rest_.stiffness[i * width + i]));
  }
  if (stiffness_ > 0) length_ = std::max(length_, force / stiffness_);
  if (length_ == 0) length_ = 1;
  // Frequencies of the structure without contacts.
  dense::ComplexMatrix mass(n);
  std::vector<dense::Complex> rows(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      mass(i, j) = rest_.mass[i * n + j];
      rows[i * n + j] = rest_.stiffness[i * width + j];
    }
  }
  double least = 0, most = 0;
  if (dense::solve(mass, rows, n)) {
    dense::ComplexMatrix a(n);
    a.a = rows;
    for (const dense::Complex& value : dense::eigenvalues(std::move(a)))
      most = std::max(most, std::sqrt(std::abs(value)));
    dense::ComplexMatrix again(n);
    again.a = rows;
    least = most;
    for (const dense::Complex& value : dense::eigenvalues(std::move(again))) {
      const double w = std::sqrt(std::abs(value));
      if (w > 1e-3 * most) least = std::min(least, w);
    }
  }
  frequency_ = most > 0 ? most : 1;
  horizon_ = how_.swings * 6.283185307179586 / (least > 0 ? least : frequency_);
}

/// Turned around where it would go into a closed contact, and cut to what constraints leave. False: nothing is left.
bool Bench::admissible(Row& direction) const {
  for (int round = 0; round < 40; ++round) {
    bool good = true;
    for (std::size_t k = 0; k < rest_.relations.size(); ++k) {
      const RestProblem::Relation& relation = rest_.relations[k];
      if (!relation.has_normal || (relation.unilateral && state_.status[k] == RestStatus::detached)) continue;
      double dot = 0, square = 0, size = 0;
      for (std::size_t i = 0; i < rest_.n; ++i) {
        dot += relation.w[i] * direction[i];
        square += relation.w[i] * relation.w[i];
        size += std::abs(relation.w[i] * direction[i]);
      }
      if (square == 0 || (relation.unilateral ? dot >= -1e-14 * size : std::abs(dot) <= 1e-12 * size))
        continue;
      good = false;
      for (std::size_t i = 0; i < rest_.n; ++i)
        direction[i] -= (relation.unilateral ? 2 : 1) * dot / square * relation.w[i];
    }
    if (good)
      return std::any_of(direction.begin(), direction.end(), [](double x) { return std::abs(x) > 1e-9; });
  }
  return false;
}

void Bench::finish(const model::System& system, Push push) {
  engines::EngineOptions engine;
  engine.from = rest_.time;
  engine.until = rest_.time + horizon_;
  engine.samples = 1201;
  engine.referee = false;
  engine.max_events = 200000;
  engine.cancel = engine.abandon = how_.cancel;
  if (how_.curves && wanted_) {
    // A figure needs the beginning, closely.
    engines::EngineOptions near = engine;
    near.until = rest_.time + horizon_ / 10;
    near.samples = 2001;
    Distance motion(system, rest_, state_, true);
    if (simulate::run(system, "auto", near, motion).status.ok())
      out_.curves.push_back({push.what, std::move(motion.rows)});
  }
  Distance sink(system, rest_, state_, false);
  const engines::EngineResult result = simulate::run(system, "auto", engine, sink);
  patience_.look();
  push.largest = sink.largest / push.size;
  push.last = sink.last / push.size;
  double speed = 0;
  for (std::size_t i = 0; i < rest_.n && rest_.n + i < result.end.y.size(); ++i)
    speed = std::max(speed, std::abs(result.end.y[rest_.n + i]));
  push.at_rest = speed <= 1e-9 * push.size * frequency_;
  // A motion that has become smaller than rounding has nothing left that could be decided.
  constexpr double kGone = 1e-6;
  if (!result.status.ok() && push.last > kGone) push.problem = result.status.message;
  if (push.problem.empty() && push.largest > how_.far) {
    // What goes so far is believed only if no law was broken on the way.
    engine.referee = true;
    engine.samples = 2;
    simulate::NullSink nobody;
    const engines::EngineResult judged = simulate::run(system, "auto", engine, nobody);
    if (!judged.verdict.silent()) push.problem = "the motion breaks a law";
  }
  out_.pushes.push_back(std::move(push));
}

/// The rest, displaced. No start may lie inside a wall by rounding.
Row Bench::placed(const Row& displacement) const {
  Row place(rest_.n);
  for (std::size_t i = 0; i < rest_.n; ++i) {
    place[i] = state_.x[i] + displacement[i];
    if (std::abs(place[i]) < 1e-14 * length_) place[i] = 0;
  }
  for (const RestProblem::Relation& relation : rest_.relations) {
    if (!relation.unilateral) continue;
    double gap = relation.gap, terms = std::abs(gap), square = 0;
    for (std::size_t i = 0; i < rest_.n; ++i) {
      gap += relation.w[i] * place[i];
      terms += std::abs(relation.w[i] * place[i]);
      square += relation.w[i] * relation.w[i];
    }
    if (gap >= 0 || gap < -1e-13 * terms) continue;
    for (std::size_t i = 0; i < rest_.n; ++i) place[i] += relation.w[i] / square * 2 * -gap;
  }
  return place;
}

std::vector<model::Form::Value> Bench::start_at(const Row& place, const Row& velocity) const {
  std::vector<model::Form::Value> start;
  for (std::size_t i = 0; i < rest_.n; ++i) {
    start.emplace_back(rest_.coordinates[i], place[i]);
    start.emplace_back(rest_.coordinates[i] + "'", velocity[i]);
  }
  for (std::size_t i = 0; i < rest_.m; ++i) start.emplace_back(rest_.states[i], state_.x[rest_.n + i]);
  return start;
}

void Bench::start_from(const model::Form& form, const Row& velocity, const Row& displacement, Push push) {
  const model::Bound bound = form.bind({}, start_at(placed(displacement), velocity));
  if (!bound.system) {
    push.problem = bound.refused;
    out_.pushes.push_back(std::move(push));
    return;
  }
  finish(*bound.system, std::move(push));
}

void Bench::load_by(std::size_t coordinate, Push::Kind kind, double size) {
  const std::string force = to_text(size * stiffness_), w = to_text(0.37 * frequency_),
                    t = rest_.time == 0 ? std::string("t") : "(t - " + to_text(rest_.time) + ")";
  std::string shape = force;
  if (kind == Push::Kind::square) shape = force + "*sign(sin(" + w + "*" + t + "))";
  if (kind == Push::Kind::sine) shape = force + "*sin(" + w + "*" + t + ")";
  if (kind == Push::Kind::exponential) shape = force + "*exp(-" + w + "*" + t + ")";
  Push push;
  push.kind = kind;
  push.size = size;
  push.what = "force on " + rest_.coordinates[coordinate] + ": " + shape;
  model::Spec loaded = spec_;
  loaded.forces.push_back({.name = "disturbance_of_rest",
                           .along = model::Value(rest_.coordinates[coordinate] + "'"),
                           .value = model::Value(shape)});
  // The start is bound and not compiled in: by the same road, and with the same care for walls, as other pushes.
  const model::CompiledForm form = model::compile_form(loaded, {}, options_);
  if (!form.form) {
    push.problem = "it does not compile with this force";
    out_.pushes.push_back(std::move(push));
    return;
  }
  const Row still(rest_.n, 0);
  start_from(*form.form, still, still, std::move(push));
}

void Bench::decide() {
  const double smallest = how_.sizes.back() * length_;
  double largest = 0, last = 0, before = 0;
  const Push* farthest = nullptr;
  std::size_t lost = 0;
  for (const Push& push : out_.pushes) {
    if (push.kind > Push::Kind::displacement) continue;
    const bool small = push.size <= 1.01 * smallest;
    if (!push.problem.empty()) {
      lost += small ? 1 : 0;
      continue;
    }
    if (!small) {
      before = std::max(before, push.largest);
      continue;
    }
    if (push.largest >= largest) {
      largest = push.largest;
      farthest = &push;
    }
    last = std::max(last, push.last);
  }
  if (farthest == nullptr) {
    out_.why = "no push could be followed to its end";
    return;
  }
  const std::string size = to_text(largest, 3) + " times the push (" + farthest->what + ")";
  // A stable rest may be soft: then the distance is many times the push, but the same times for every size, and the motion ends.
  const bool grows = how_.sizes.size() > 1 && largest > 2 * before;
  if (largest > how_.far && (grows || !farthest->at_rest)) {
    out_.stability = Stability::unstable;
    out_.why = "goes " + size;
  } else if (lost > 0) {
    out_.why = "goes at most " + size + ", but " + std::to_string(lost) +
               " of the smallest pushes could not be followed";
  } else if (last < 0.01) {
    out_.stability = Stability::asymptotic;
    out_.why = "goes at most " + size + " and comes back to within " + to_text(last, 2) + " of it";
  } else {
    out_.stability = Stability::lyapunov;
    out_.why = "goes at most " + size;
  }
}

Experiment Bench::measure() {
  form_ = model::compile_form(spec_, {}, options_);
  if (!form_.form) {
    out_.why = "the model cannot be started anew";
    return std::move(out_);
  }
  const std::size_t n = rest_.n;
  std::vector<Row> directions;
  for (std::size_t i = 0; i < n; ++i) {
    for (const double sign : {1.0, -1.0}) {
      Row direction(n, 0);
      direction[i] = sign;
      directions.push_back(std::move(direction));
    }
  }
  std::mt19937_64 random(2004);
  for (int i = 0; i < how_.mixed; ++i) {
    Row direction(n);
    double most = 0;
    for (double& each : direction) {
      each = static_cast<double>(random() >> 11U) * 0x1p-52 - 1;
      most = std::max(most, std::abs(each));
    }
    for (double& each : direction) each /= most;
    directions.push_back(std::move(direction));
  }
  std::vector<Row> used;
  for (Row direction : directions) {
    if (!admissible(direction)) continue;
    const auto same = [&](const Row& other) {
      double far = 0;
      for (std::size_t i = 0; i < n; ++i) far = std::max(far, std::abs(other[i] - direction[i]));
      return far < 1e-9;
    };
    if (std::any_of(used.begin(), used.end(), same)) continue;
    used.push_back(direction);
    std::string what;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::abs(direction[i]) > 1e-12)
        what += (what.empty() ? "" : ", ") + rest_.coordinates[i] + " " + to_text(direction[i], 3);
    }
    for (const double relative : how_.sizes) {
      const double size = relative * length_;
      Row moved(n), still(n, 0);
      for (const bool displaced : {false, true}) {
        if (displaced && !how_.displacements) continue;
        for (std::size_t i = 0; i < n; ++i) moved[i] = direction[i] * size * (displaced ? 1 : frequency_);
        Push push;
        push.kind = displaced ? Push::Kind::displacement : Push::Kind::velocity;
        push.size = size;
        push.what = (displaced ? "displaced by " : "velocity ") + what + ", times " +
                    to_text(displaced ? size : size * frequency_, 3);
        wanted_ = !displaced && relative == how_.sizes.front() && used.size() <= 2 * n &&
                  what.find(',') == std::string::npos;
        start_from(*form_.form, displaced ? still : moved, displaced ? moved : still, std::move(push));
        wanted_ = false;
      }
    }
  }
  for (std::size_t i = 0; i < n && how_.forces; ++i) {
    for (const Push::Kind kind :
         {Push::Kind::constant, Push::Kind::square, Push::Kind::sine, Push::Kind::exponential})
      load_by(i, kind, how_.sizes.front() * length_);
  }
  decide();
  return std::move(out_);
}

}  // namespace

const char* name(Push::Kind kind) {
  switch (kind) {
    case Push::Kind::velocity:
      return "velocity";
    case Push::Kind::displacement:
      return "displacement";
    case Push::Kind::constant:
      return "constant force";
    case Push::Kind::square:
      return "square force";
    case Push::Kind::sine:
      return "sine force";
    case Push::Kind::exponential:
      break;
  }
  return "exponential force";
}

Experiment experiment(const model::Spec& spec, const model::CompileOptions& options, const RestProblem& rest,
                      const RestState& state, const ExperimentOptions& how) {
  return Bench(spec, options, rest, state, how).measure();
}

}  // namespace judder::analysis
