#include "judder/analysis/measure_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "judder/contact/coulomb_forms.hpp"

namespace judder::analysis {
namespace {

// Gauss-Legendre with ten points on [0, 1].
constexpr std::array<double, 5> kPlaces{0.14887433898163122, 0.43339539412924721, 0.67940956829902441,
                                        0.86506336668898451, 0.97390652851717172};
constexpr std::array<double, 5> kWeights{0.29552422471475287, 0.26926671930999636, 0.21908636251598204,
                                         0.14945134915058059, 0.06667134430868814};
constexpr double kContact = 1e-9;  ///< of a piece's way: U_N above minus this is contact

double length(const std::vector<double>& x, std::size_t from = 0) {
  double sum = 0;
  for (std::size_t i = from; i < x.size(); ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

/// What a piece is at one time.
struct Sample {
  explicit Sample(std::size_t n) : u(n), v(n), r(n), f(n) {}
  std::vector<double> u, v, r, f;
};

/// Sizes of a piece, for shares.
struct Sizes {
  double speed = 0, way = 0, force = 0, impulse = 0;
};

class Checker {
 public:
  Checker(const MeasureProblem& problem, const std::vector<CandidatePiece>& candidate, int points)
      : problem_(problem),
        candidate_(candidate),
        points_(std::clamp(points, 8, 1000)),
        n_(problem.dimension),
        at_(n_),
        spring_(n_) {}

  MeasureResiduals check() {
    std::vector<double> before(n_);
    bool known = false;
    for (piece_ = 0; piece_ < candidate_.size(); ++piece_) {
      const CandidatePiece& piece = candidate_[piece_];
      measure(piece);
      if (known) {
        const Sizes own = sizes_;
        sizes_.speed = std::max(sizes_.speed, last_.speed);
        sizes_.impulse = std::max(sizes_.impulse, last_.impulse);
        jump(piece, before);
        sizes_ = own;
      }
      inside(piece);
      sample(piece, piece.length, at_);
      before = at_.v;
      end_ = at_.u;
      last_ = sizes_;
      known = true;
    }
    return out_;
  }

 private:
  void note(MeasureResiduals::One& one, double value) const {
    if (value > one.value || !std::isfinite(value)) one = {value, piece_};
  }

  void sample(const CandidatePiece& piece, double tau, Sample& out) const {
    piece.position(tau, out.u.data());
    piece.velocity(tau, out.v.data());
    if (piece.load)
      piece.load(tau, out.f.data());
    else
      problem_.load(piece.begin + tau, out.f.data());
    std::fill(out.r.begin(), out.r.end(), 0.0);
    if (piece.density) piece.density(tau, out.r.data());
  }

  [[nodiscard]] std::vector<double> parts(const CandidatePiece& piece) const {
    std::vector<double> out{0};
    for (const double cut : piece.cuts) {
      if (cut > out.back() && cut < piece.length) out.push_back(cut);
    }
    out.push_back(piece.length);
    return out;
  }

  /// Calls action(τ) at points spread over every part of the piece, its ends among them.
  template <class Action>
  void each_point(const CandidatePiece& piece, const Action& action) {
    const std::vector<double> ends = parts(piece);
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
      for (int p = 0; p <= points_; ++p) action(ends[k] + (ends[k + 1] - ends[k]) * p / points_);
    }
  }

  void measure(const CandidatePiece& piece) {
    sizes_ = {};
    double stiffness = 0;
    for (const double k : problem_.stiffness) stiffness = std::max(stiffness, std::abs(k));
    each_point(piece, [&](double tau) {
      sample(piece, tau, at_);
      sizes_.speed = std::max(sizes_.speed, length(at_.v));
      sizes_.force = std::max({sizes_.force, length(at_.f), length(at_.r), stiffness * length(at_.u)});
    });
    // A load that is large for a short time is worth what it moves.
    double moved = 0;
    const std::vector<double> ends = parts(piece);
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
      double largest = 0;
      for (int p = 0; p <= points_; ++p) {
        sample(piece, ends[k] + (ends[k + 1] - ends[k]) * p / points_, at_);
        largest = std::max(largest, length(at_.f));
      }
      moved += largest * (ends[k + 1] - ends[k]);
    }
    sizes_.speed = std::max(sizes_.speed, moved / problem_.mass);
    sizes_.impulse = std::max(problem_.mass * sizes_.speed, length(piece.impulse));
    sizes_.way = sizes_.speed * piece.length;
  }

  /// Balance and kinematics from the beginning of the piece to each of its points; laws at the points.
  void inside(const CandidatePiece& piece) {
    Sample from(n_), to(n_);
    std::vector<double> force(n_), way(n_);  // integrals from the beginning
    double last = 0;
    bool first = true;
    each_point(piece, [&](double tau) {
      sample(piece, tau, to);
      laws(to);
      if (!first && tau > last) {
        integrate(piece, last, tau, force, way);
        double wrong_force = 0, wrong_way = 0;
        for (std::size_t i = 0; i < n_; ++i) {
          const double balance = problem_.mass * (to.v[i] - from.v[i]) - force[i];
          const double kinematics = to.u[i] - from.u[i] - way[i];
          wrong_force += balance * balance;
          wrong_way += kinematics * kinematics;
        }
        if (sizes_.impulse > 0) note(out_.motion, std::sqrt(wrong_force) / sizes_.impulse);
        if (sizes_.way > 0) note(out_.motion, std::sqrt(wrong_way) / sizes_.way);
      }
      if (first) from = to;
      first = false;
      last = tau;
    });
  }

  /// Adds what a stretch of the piece contributes.
  void integrate(const CandidatePiece& piece, double from, double to, std::vector<double>& force,
                 std::vector<double>& way) {
    const double half = 0.5 * (to - from), middle = 0.5 * (to + from);
    for (std::size_t k = 0; k < kPlaces.size(); ++k) {
      for (const int sign : {-1, 1}) {
        sample(piece, middle + sign * half * kPlaces[k], at_);
        pull(at_.u);
        for (std::size_t i = 0; i < n_; ++i) {
          force[i] += half * kWeights[k] * (at_.f[i] + at_.r[i] - spring_[i]);
          way[i] += half * kWeights[k] * at_.v[i];
        }
      }
    }
  }

  void pull(const std::vector<double>& u) {
    std::fill(spring_.begin(), spring_.end(), 0.0);
    if (problem_.stiffness.empty()) return;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) spring_[i] += problem_.stiffness[i * n_ + j] * u[j];
    }
  }

  void laws(const Sample& s) {
    const double way = sizes_.way > 0 ? sizes_.way : 1;
    note(out_.admissible, s.u[0] / way);
    const double reaction = length(s.r);
    if (!(sizes_.force > 0) || reaction == 0) return;
    note(out_.reaction, s.r[0] / sizes_.force);
    if (s.u[0] < -kContact * way) note(out_.reaction, reaction / sizes_.force);
    rub(s.r, s.v, sizes_.force);
  }

  void rub(const std::vector<double>& reaction, const std::vector<double>& after, double size) {
    if (n_ == 1) return;
    const std::vector<double> force(reaction.begin() + 1, reaction.end()),
        slip(after.begin() + 1, after.end());
    const contact::FrictionState state{-reaction[0], force, slip, problem_.friction, size, sizes_.speed};
    for (const contact::CoulombForm form : contact::kCoulombForms)
      note(out_.friction, contact::residual(form, state));
  }

  /// What happens at the beginning of a piece: positions go on, velocities jump by the impulse, and only at the wall.
  void jump(const CandidatePiece& piece, const std::vector<double>& before) {
    const double way = std::max(sizes_.way, last_.way) > 0 ? std::max(sizes_.way, last_.way) : 1;
    sample(piece, 0, at_);
    double wrong = 0, moved = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double impulse = piece.impulse.empty() ? 0 : piece.impulse[i];
      const double balance = problem_.mass * (at_.v[i] - before[i]) - impulse;
      wrong += balance * balance;
      moved += (at_.u[i] - end_[i]) * (at_.u[i] - end_[i]);
    }
    if (sizes_.impulse > 0) note(out_.motion, std::sqrt(wrong) / sizes_.impulse);
    note(out_.motion, std::sqrt(moved) / way);
    const bool touches = at_.u[0] >= -kContact * way;
    if (touches && sizes_.speed > 0)
      note(out_.impact, std::abs(at_.v[0] + problem_.restitution * before[0]) / sizes_.speed);
    if (piece.impulse.empty() || length(piece.impulse) == 0 || !(sizes_.impulse > 0)) return;
    note(out_.reaction, piece.impulse[0] / sizes_.impulse);
    if (!touches) note(out_.reaction, length(piece.impulse) / sizes_.impulse);
    rub(piece.impulse, at_.v, sizes_.impulse);
  }

  const MeasureProblem& problem_;
  const std::vector<CandidatePiece>& candidate_;
  int points_;
  std::size_t n_;
  std::size_t piece_ = 0;
  Sample at_;
  std::vector<double> spring_, end_;
  Sizes sizes_, last_;
  MeasureResiduals out_;
};

}  // namespace

double MeasureResiduals::largest() const {
  return std::max({motion.value, admissible.value, reaction.value, impact.value, friction.value});
}

MeasureResiduals check_measure_problem(const MeasureProblem& problem,
                                       const std::vector<CandidatePiece>& candidate, int points) {
  return Checker(problem, candidate, points).check();
}

}  // namespace judder::analysis
