#include "engines/numeric/radau.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "allocations.hpp"
#include "engines/numeric/step_control.hpp"

namespace judder::engines::numeric {
namespace {

struct Outcome {
  std::vector<double> y;
  int accepted = 0;
  int rejected = 0;
  bool reached = false;
};

/// Error-controlled integration as an engine would do it; scale of component i: max(|y_i|, floor_i).
template <class Rhs>
Outcome integrate(Rhs& rhs, std::vector<double> y, double t, double end, double tolerance,
                  const std::vector<double>& floor) {
  const int n = static_cast<int>(y.size());
  RadauStepper stepper;
  stepper.resize(n, 0);
  StepController controller(radau_control());
  Outcome run;
  std::vector<double> f(y.size());
  std::vector<double> inverse(y.size());
  rhs(t, y.data(), f.data());
  double h = std::min(1e-6, end - t);
  for (int attempt = 0; attempt < 200'000 && t < end; ++attempt) {
    for (std::size_t i = 0; i < y.size(); ++i)
      inverse[i] = 1 / (tolerance * std::max(std::abs(y[i]), floor[i]));
    h = std::min(h, end - t);
    const bool last = h == end - t;
    double error = std::numeric_limits<double>::infinity();
    if (stepper.step(rhs, t, y.data(), f.data(), h, {inverse.data(), floor.data()}) == StepOutcome::done) {
      error = stepper.error(inverse.data(), n);
      if (error > 1 && stepper.filter_error(rhs)) error = stepper.error(inverse.data(), n);
    }
    if (!StepController::accepts(error) || !stepper.prepare_end_rate(rhs)) {
      ++run.rejected;
      h *= controller.after_rejected(error);
      continue;
    }
    ++run.accepted;
    t = last ? end : t + h;
    y.assign(stepper.y1(), stepper.y1() + n);
    f.assign(stepper.f1(), stepper.f1() + n);
    stepper.accept();
    h *= controller.after_accepted(error);
  }
  run.y = y;
  run.reached = t >= end;
  return run;
}

/// Fixed steps with Newton's iteration driven to rounding.
template <class Rhs>
std::vector<double> fixed_steps(Rhs& rhs, std::vector<double> y, double end, int steps) {
  const int n = static_cast<int>(y.size());
  RadauStepper stepper;
  stepper.resize(n, 0);
  std::vector<double> f(y.size());
  const std::vector<double> inverse(y.size(), 1e10);
  rhs(0, y.data(), f.data());
  const double h = end / steps;
  for (int i = 0; i < steps; ++i) {
    EXPECT_EQ(stepper.step(rhs, i * h, y.data(), f.data(), h, {inverse.data(), nullptr}), StepOutcome::done);
    stepper.prepare_end_rate(rhs);
    y.assign(stepper.y1(), stepper.y1() + n);
    f.assign(stepper.f1(), stepper.f1() + n);
    stepper.accept();
  }
  return y;
}

TEST(RadauStepper, ConvergesWithOrderFive) {
  const auto pendulum = [](double t, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -std::sin(y[0]) - 0.1 * y[1] + 0.3 * std::cos(t);
    return true;
  };
  const auto reference = fixed_steps(pendulum, {1, 0.2}, 4, 1600);
  const auto error = [&](int steps) {
    return std::abs(fixed_steps(pendulum, {1, 0.2}, 4, steps)[0] - reference[0]);
  };
  EXPECT_NEAR(std::log2(error(40) / error(80)), 5, 0.1);
}

TEST(RadauStepper, IntegratesPolynomialsOfDegreeFiveExactly) {
  for (int degree = 0; degree <= 6; ++degree) {
    const auto rhs = [degree](double t, const double*, double* rate) {
      rate[0] = degree == 0 ? 0.0 : degree * std::pow(t, degree - 1);
      return true;
    };
    RadauStepper stepper;
    stepper.resize(1, 0);
    const double y[1] = {std::pow(0.5, degree)};
    double f[1];
    rhs(0.5, y, f);
    const double inverse[1] = {1e14};
    ASSERT_EQ(stepper.step(rhs, 0.5, y, f, 1.5, {inverse, nullptr}), StepOutcome::done);
    const double exact = std::pow(2.0, degree);
    if (degree <= 5) {
      EXPECT_NEAR(stepper.y1()[0], exact, 1e-13 * exact) << degree;
    } else {
      EXPECT_GT(std::abs(stepper.y1()[0] - exact), 1e-5);
    }
    double out = 0;
    stepper.dense(0.4, 0, 1, &out);
    if (degree <= 3) {
      EXPECT_NEAR(out, std::pow(1.1, degree), 1e-13 * exact) << degree;
    }
  }
}

TEST(RadauStepper, ErrorEstimateAndDenseOutputFallWithTheFourthPower) {
  const auto rhs = [](double, const double* y, double* rate) {
    rate[0] = y[1] * y[0];
    rate[1] = -y[2];
    rate[2] = y[1];
    return true;
  };
  const auto exact = [](double t) {
    return std::array<double, 3>{std::exp(std::sin(t)), std::cos(t), std::sin(t)};
  };
  const auto errors = [&](double h) {
    RadauStepper stepper;
    stepper.resize(3, 0);
    const auto y = exact(0.3);
    std::array<double, 3> f{};
    rhs(0.3, y.data(), f.data());
    const double inverse[3] = {1e12, 1e12, 1e12};
    EXPECT_EQ(stepper.step(rhs, 0.3, y.data(), f.data(), h, {inverse, nullptr}), StepOutcome::done);
    const double unit[3] = {1, 1, 1};
    double dense = 0;
    for (int i = 0; i <= 20; ++i) {
      double out[3];
      stepper.dense(i / 20.0, 0, 3, out);
      const auto reference = exact(0.3 + i / 20.0 * h);
      for (std::size_t k = 0; k < 3; ++k) dense = std::max(dense, std::abs(out[k] - reference[k]));
      if (i == 0) {
        EXPECT_EQ(out[0], y[0]);
      }
      if (i == 20) {
        EXPECT_EQ(out[0], stepper.y1()[0]);
      }
    }
    return std::array<double, 2>{stepper.error(unit, 3), dense};
  };
  const auto coarse = errors(0.1);
  const auto fine = errors(0.05);
  EXPECT_NEAR(std::log2(coarse[0] / fine[0]), 4, 0.25);
  EXPECT_NEAR(std::log2(coarse[1] / fine[1]), 4, 0.25);
  EXPECT_LT(coarse[1], coarse[0]);
}

// Prothero and Robinson 1974: ẏ = λ(y − φ) + φ̇ has the solution φ however large −λ is.
TEST(RadauStepper, FollowsAStiffSolution) {
  for (double lambda : {-1e3, -1e6, -1e9, -1e12}) {
    auto rhs = [lambda](double t, const double* y, double* rate) {
      rate[0] = lambda * (y[0] - std::sin(t)) + std::cos(t);
      return true;
    };
    const auto y = fixed_steps(rhs, {0}, 5, 50);
    EXPECT_NEAR(y[0], std::sin(5.0), 1e-7) << lambda;
  }
}

TEST(RadauStepper, DampsWhatIsInfinitelyStiffInOneStep) {
  auto rhs = [](double, const double* y, double* rate) {
    rate[0] = -1e12 * y[0];
    return true;
  };
  EXPECT_LT(std::abs(fixed_steps(rhs, {1}, 1, 1)[0]), 1e-11);
}

// Mazzia and Magherini, Test Set for IVP Solvers 2.4, problem vdpol: ε = 1e-6, from (2, 0) to t = 2.
TEST(RadauStepper, SolvesVanDerPolWithEpsilonOfAMillionth) {
  auto rhs = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = ((1 - y[0] * y[0]) * y[1] - y[0]) / 1e-6;
    return true;
  };
  const Outcome coarse = integrate(rhs, {2, 0}, 0, 2, 1e-6, {1e-3, 1e-3});
  const Outcome fine = integrate(rhs, {2, 0}, 0, 2, 1e-9, {1e-3, 1e-3});
  ASSERT_TRUE(coarse.reached && fine.reached);
  EXPECT_NEAR(fine.y[0], 1.706167732170469, 1e-8);
  EXPECT_NEAR(fine.y[1], -0.8928097010248125, 1e-8);
  EXPECT_NEAR(coarse.y[0], fine.y[0], 1e-5);
  EXPECT_LT(coarse.accepted, 1500);
}

// Robertson 1966, to t = 1e11: mass is conserved, the values are those of Hairer and Wanner II, IV.10.
TEST(RadauStepper, SolvesRobertsonOverElevenDecades) {
  struct Robertson {
    int jacobians = 0;
    bool operator()(double, const double* y, double* rate) const {
      rate[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
      rate[2] = 3e7 * y[1] * y[1];
      rate[1] = -rate[0] - rate[2];
      return true;
    }
    bool jacobian(double, const double* y, double* j) {
      ++jacobians;
      const double values[9] = {-0.04,       1e4 * y[2], 1e4 * y[1], 0.04, -1e4 * y[2] - 6e7 * y[1],
                                -1e4 * y[1], 0,          6e7 * y[1], 0};
      std::copy(values, values + 9, j);
      return true;
    }
  };
  Robertson rhs;
  const Outcome run = integrate(rhs, {1, 0, 0}, 0, 1e11, 1e-8, {1e-10, 1e-14, 1e-10});
  ASSERT_TRUE(run.reached);
  EXPECT_NEAR(run.y[0] / 0.2083340149701255e-07, 1, 1e-6);
  EXPECT_NEAR(run.y[1] / 0.8333360770334713e-13, 1, 1e-6);
  EXPECT_NEAR(run.y[0] + run.y[1] + run.y[2], 1, 1e-12);
  EXPECT_LT(rhs.jacobians, run.accepted + run.rejected);
  EXPECT_LT(run.accepted, 2000);
}

// A mass of 1 kg runs at 1 m/s into a stop of 1e9 N/m with damping so strong that it creeps out again: x =
// e^{-δt} (v/σ) sinh σt.
TEST(RadauStepper, ResolvesAPenalisedStop) {
  const double stiffness = 1e9;
  const double damping = 1e6;
  auto rhs = [=](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -stiffness * y[0] - damping * y[1];
    return true;
  };
  const double delta = damping / 2;
  const double sigma = std::sqrt(delta * delta - stiffness);
  for (double end : {1e-6, 1e-4, 3e-3}) {
    const double slow = std::exp((-stiffness / (delta + sigma)) * end);
    const double fast = std::exp(-(delta + sigma) * end);
    const double exact = (slow - fast) / (2 * sigma);
    const Outcome run = integrate(rhs, {0, 1}, 0, end, 1e-10, {1e-7, 1e-2});
    ASSERT_TRUE(run.reached);
    EXPECT_NEAR(run.y[0], exact, 1e-15) << end;
    EXPECT_LT(run.accepted, 2000);
  }
}

TEST(RadauStepper, KeepsJacobianAndFactorsWhileTheStepStays) {
  struct Linear {
    int jacobians = 0;
    bool operator()(double, const double* y, double* rate) const {
      rate[0] = y[1];
      rate[1] = -1e4 * y[0] - 300 * y[1];
      return true;
    }
    bool jacobian(double, const double*, double* j) {
      ++jacobians;
      j[0] = 0;
      j[1] = 1;
      j[2] = -1e4;
      j[3] = -300;
      return true;
    }
  };
  Linear rhs;
  fixed_steps(rhs, {1, 0}, 1, 100);
  EXPECT_LE(rhs.jacobians, 2);
}

TEST(RadauStepper, DifferencesServeAsWellAsAGivenJacobian) {
  // Units mixed on purpose: micrometres against hours.
  auto rhs = [](double, const double* y, double* rate) {
    rate[0] = 1e9 * y[1];
    rate[1] = -1e-4 * y[0] - 1e-13 * y[0] * y[0] * y[0] - 3e4 * y[1];
    return true;
  };
  const Outcome run = integrate(rhs, {1e6, 0}, 0, 1, 1e-9, {1, 1e-6});
  ASSERT_TRUE(run.reached);
  EXPECT_LT(run.rejected, run.accepted / 3 + 5);
}

TEST(RadauStepper, QuadraturesFollowTheSameFormulaWithoutTakingPart) {
  // The quadrature of 2 y₀ ẏ₀ must end at y₀² although it is seen by neither Newton nor the error.
  const auto rhs = [](double, const double* y, double* rate) {
    rate[0] = -1e6 * (y[0] - std::cos(y[1]));
    rate[1] = 1;
    rate[2] = std::cos(y[1]);
    return true;
  };
  RadauStepper stepper;
  stepper.resize(2, 1);
  std::vector<double> y{1, 0, 0};
  std::vector<double> f(3);
  const double inverse[2] = {1e10, 1e10};
  for (int i = 0; i < 20; ++i) {
    rhs(0, y.data(), f.data());
    ASSERT_EQ(stepper.step(rhs, i * 0.05, y.data(), f.data(), 0.05, {inverse, nullptr}), StepOutcome::done);
    double middle = 0;
    stepper.dense(0.5, 2, 3, &middle);
    EXPECT_NEAR(middle, std::sin(i * 0.05 + 0.025), 1e-7);
    y.assign(stepper.y1(), stepper.y1() + 3);
    stepper.accept();
  }
  EXPECT_NEAR(y[2], std::sin(1.0), 1e-11);
}

TEST(RadauStepper, ReportsWhatIsNotANumber) {
  const auto rhs = [](double t, const double*, double* rate) {
    rate[0] = std::sqrt(1 - t);
    return t <= 1;
  };
  RadauStepper stepper;
  stepper.resize(1, 0);
  const double y[1] = {0};
  double f[1];
  rhs(0.5, y, f);
  const double inverse[1] = {1e6};
  EXPECT_EQ(stepper.step(rhs, 0.5, y, f, 2.0, {inverse, nullptr}), StepOutcome::not_finite);
  EXPECT_EQ(stepper.step(rhs, 0.5, y, f, 0.4, {inverse, nullptr}), StepOutcome::done);
}

TEST(RadauStepper, ContinuesAfterARestartAsIfNew) {
  const auto rhs = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -std::sin(y[0]);
    return true;
  };
  const double inverse[2] = {1e9, 1e9};
  const double y[2] = {0.3, 1};
  double f[2];
  rhs(0, y, f);
  RadauStepper fresh;
  fresh.resize(2, 0);
  fresh.step(rhs, 0, y, f, 0.1, {inverse, nullptr});
  RadauStepper used;
  used.resize(2, 0);
  const double other[2] = {-2, 5};
  double g[2];
  rhs(0, other, g);
  used.step(rhs, 0, other, g, 0.03, {inverse, nullptr});
  used.accept();
  used.restart();
  used.step(rhs, 0, y, f, 0.1, {inverse, nullptr});
  EXPECT_EQ(fresh.y1()[0], used.y1()[0]);
  EXPECT_EQ(fresh.y1()[1], used.y1()[1]);
}

// Length by 2^10 and time by 2^-6: pivots, increments and iterations must not notice.
TEST(RadauStepper, GivesTheSameBitsWhenUnitsChangeByPowersOfTwo) {
  const double length = 1024;
  const double time = 1.0 / 64;
  const auto with = [](double unit_length, double unit_time) {
    const double k = 5e6 / (unit_time * unit_time);
    const double c = 20 / unit_time;
    auto rhs = [=](double, const double* y, double* rate) {
      rate[0] = y[1];
      rate[1] = -k * (y[0] + y[0] * y[0] * y[0] / (unit_length * unit_length)) - c * y[1];
      return true;
    };
    RadauStepper stepper;
    stepper.resize(2, 0);
    const double speed = unit_length / unit_time;
    std::vector<double> y{0.3 * unit_length, 7 * speed};
    std::vector<double> f(2);
    rhs(0, y.data(), f.data());
    const double inverse[2] = {1e9 / unit_length, 1e9 / (2048 * speed)};
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(stepper.step(rhs, 0, y.data(), f.data(), 1e-4 * unit_time, {inverse, nullptr}),
                StepOutcome::done);
      stepper.prepare_end_rate(rhs);
      y.assign(stepper.y1(), stepper.y1() + 2);
      f.assign(stepper.f1(), stepper.f1() + 2);
      stepper.accept();
    }
    return std::array<double, 2>{y[0] / unit_length, y[1] / speed};
  };
  EXPECT_EQ(with(1, 1), with(length, time));
}

TEST(RadauStepper, AllocatesNothingInAStep) {
  const auto rhs = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -1e8 * y[0];
    return true;
  };
  RadauStepper stepper;
  stepper.resize(2, 0);
  const double y[2] = {1, 0};
  double f[2];
  rhs(0, y, f);
  const double inverse[2] = {1e6, 1e2};
  const long before = allocations();
  ASSERT_EQ(stepper.step(rhs, 0, y, f, 1e-5, {inverse, nullptr}), StepOutcome::done);
  stepper.filter_error(rhs);
  stepper.accept();
  stepper.step(rhs, 0, y, f, 1e-5, {inverse, nullptr});
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace judder::engines::numeric
