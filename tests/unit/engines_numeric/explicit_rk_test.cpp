#include "engines/numeric/explicit_rk.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "allocations.hpp"
#include "rooted_trees.hpp"

namespace judder::engines::numeric {
namespace {

struct MethodCase {
  Method method;
  int order;
  int dense_order;
  int stages;      ///< of the step
  int all_stages;  ///< with those of the dense output
};

const MethodCase kFifth{Method::order5, 5, 4, 7, 7};
const MethodCase kEighth{Method::order8, 8, 7, 12, 16};

/// Stage s answers with the unit vector e_s: with h = 1 and y = 0 the arguments are the rows of the
/// coefficient matrix, y₁ the weights and the dense output the weights at θ. So the tests judge what the
/// stepper does, not what its tables say.
struct Probe {
  int stages;
  std::vector<std::vector<double>> a;
  std::vector<double> c;
  bool operator()(double t, const double* y, double* rate) {
    const auto stage = a.size();
    a.emplace_back(y, y + stages);
    c.push_back(t);
    for (int i = 0; i < stages; ++i) rate[i] = static_cast<std::size_t>(i) == stage ? 1 : 0;
    return true;
  }
};

struct Tableau {
  Probe probe;
  ExplicitStepper stepper;
  std::vector<double> y0;
  explicit Tableau(const MethodCase& which)
      : probe{which.all_stages, {}, {}}, y0(static_cast<std::size_t>(which.all_stages), 0.0) {
    stepper.resize(which.all_stages);
    std::vector<double> f0(static_cast<std::size_t>(which.all_stages));
    probe(0, y0.data(), f0.data());
    EXPECT_EQ(stepper.step(which.method, probe, 0, y0.data(), f0.data(), 1), StepOutcome::done);
    EXPECT_EQ(static_cast<int>(probe.a.size()), which.stages);
    EXPECT_TRUE(stepper.prepare_dense(probe));
    EXPECT_EQ(static_cast<int>(probe.a.size()), which.all_stages);
  }
  std::vector<double> weights(double theta) const {
    std::vector<double> b(y0.size());
    stepper.dense(theta, 0, static_cast<int>(b.size()), b.data());
    return b;
  }
};

void expect_order(const Tableau& tableau, const std::vector<double>& b, double theta, int order,
                  double tolerance) {
  const RootedTrees trees(order);
  const auto phi = trees.weights(tableau.probe.a);
  for (std::size_t t = 0; t < trees.all().size(); ++t) {
    long double sum = 0;
    for (std::size_t i = 0; i < b.size(); ++i) sum += b[i] * phi[t][i];
    const RootedTree& tree = trees.all()[t];
    EXPECT_NEAR(static_cast<double>(sum), std::pow(theta, tree.order) / tree.density, tolerance)
        << "tree " << t << " of order " << tree.order << ", theta " << theta;
  }
}

bool has_order(const Tableau& tableau, const std::vector<double>& b, int order) {
  const RootedTrees trees(order);
  const auto phi = trees.weights(tableau.probe.a);
  for (std::size_t t = 0; t < trees.all().size(); ++t) {
    long double sum = 0;
    for (std::size_t i = 0; i < b.size(); ++i) sum += b[i] * phi[t][i];
    if (std::abs(static_cast<double>(sum) - 1 / trees.all()[t].density) > 1e-9) return false;
  }
  return true;
}

TEST(RootedTrees, AreAsManyAsCayleyCounted) {
  const RootedTrees trees(8);
  std::array<int, 9> count{};
  for (const RootedTree& tree : trees.all()) ++count[static_cast<std::size_t>(tree.order)];
  EXPECT_EQ(count, (std::array<int, 9>{0, 1, 1, 2, 4, 9, 20, 48, 115}));
}

TEST(ExplicitStepper, MeetsAllOrderConditionsAndNoMore) {
  for (const MethodCase& which : {kFifth, kEighth}) {
    const Tableau tableau(which);
    const std::vector<double> b(tableau.stepper.y1(), tableau.stepper.y1() + which.all_stages);
    expect_order(tableau, b, 1, which.order, 4e-15);
    EXPECT_FALSE(has_order(tableau, b, which.order + 1));
    for (std::size_t i = 0; i < tableau.probe.a.size(); ++i) {
      double sum = 0;
      for (double entry : tableau.probe.a[i]) sum += entry;
      EXPECT_NEAR(sum, tableau.probe.c[i], 2e-14) << "row " << i;
    }
  }
}

TEST(ExplicitStepper, DenseOutputMeetsItsOrderConditionsAlongTheStep) {
  for (const MethodCase& which : {kFifth, kEighth}) {
    const Tableau tableau(which);
    for (double theta : {0.0, 0.03, 0.25, 0.5, 0.77, 0.999, 1.0}) {
      expect_order(tableau, tableau.weights(theta), theta, which.dense_order, 4e-13);
    }
  }
}

TEST(ExplicitStepper, DenseOutputGivesBothEndsToTheLastBit) {
  const auto pendulum = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -std::sin(y[0]);
    return true;
  };
  for (Method method : {Method::order5, Method::order8}) {
    ExplicitStepper stepper;
    stepper.resize(2);
    const double y[2] = {1.0 / 3, -0.7};
    double f[2];
    pendulum(0, y, f);
    stepper.step(method, pendulum, 0, y, f, 0.3);
    ASSERT_TRUE(stepper.prepare_dense(pendulum));
    double out[2];
    stepper.dense(0, 0, 2, out);
    EXPECT_EQ(out[0], y[0]);
    EXPECT_EQ(out[1], y[1]);
    stepper.dense(1, 0, 2, out);
    EXPECT_EQ(out[0], stepper.y1()[0]);
    EXPECT_EQ(out[1], stepper.y1()[1]);
    double second = 0;
    stepper.dense(0.4, 1, 2, &second);
    stepper.dense(0.4, 0, 2, out);
    EXPECT_EQ(out[1], second);
  }
}

// ẏ = p'(t): a method of order p integrates polynomials of degree p exactly, and its dense output those of
// its own order.
TEST(ExplicitStepper, IntegratesPolynomialsExactly) {
  for (const MethodCase& which : {kFifth, kEighth}) {
    for (int degree = 0; degree <= which.order; ++degree) {
      const auto rhs = [degree](double t, const double*, double* rate) {
        rate[0] = degree == 0 ? 0.0 : degree * std::pow(t, degree - 1);
        return true;
      };
      ExplicitStepper stepper;
      stepper.resize(1);
      const double t = 0.5;
      const double h = 1.5;
      const double y[1] = {std::pow(t, degree)};
      double f[1];
      rhs(t, y, f);
      ASSERT_EQ(stepper.step(which.method, rhs, t, y, f, h), StepOutcome::done);
      EXPECT_NEAR(stepper.y1()[0], std::pow(t + h, degree), 1e-14 * std::pow(t + h, degree));
      if (degree > which.dense_order) continue;
      ASSERT_TRUE(stepper.prepare_dense(rhs));
      for (double theta : {0.1, 0.6}) {
        double out = 0;
        stepper.dense(theta, 0, 1, &out);
        EXPECT_NEAR(out, std::pow(t + theta * h, degree), 1e-12 * std::pow(t + h, degree));
      }
    }
  }
}

/// y = e^{sin t}, with a nonlinear right-hand side: ẏ₀ = y₁·y₀, y₁ = cos t from its own oscillator.
struct Smooth {
  bool operator()(double, const double* y, double* rate) const {
    rate[0] = y[1] * y[0];
    rate[1] = -y[2];
    rate[2] = y[1];
    return true;
  }
  static std::array<double, 3> exact(double t) { return {std::exp(std::sin(t)), std::cos(t), std::sin(t)}; }
};

/// x(4) of the damped oscillator ẍ + 0.3 ẋ + x = 0, in `steps` equal steps, against the closed form.
double oscillator_error(Method method, int steps) {
  const auto rhs = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -y[0] - 0.3 * y[1];
    return true;
  };
  ExplicitStepper stepper;
  stepper.resize(2);
  double y[2] = {1, 0};
  double f[2];
  rhs(0, y, f);
  const double h = 6.0 / steps;
  for (int i = 0; i < steps; ++i) {
    stepper.step(method, rhs, i * h, y, f, h);
    stepper.prepare_end_rate(rhs);
    for (int k = 0; k < 2; ++k) {
      f[k] = stepper.f1()[k];
      y[k] = stepper.y1()[k];
    }
  }
  const double omega = std::sqrt(1 - 0.15 * 0.15);
  const double exact = std::exp(-0.15 * 6) * (std::cos(omega * 6) + 0.15 / omega * std::sin(omega * 6));
  return std::abs(y[0] - exact);
}

// Constant accelerations: the closed form, along the whole step, and the same motion as by the method of order 8.
TEST(ExplicitStepper, UniformStepsFollowTheParabola) {
  ExplicitStepper uniform, eighth;
  uniform.resize(4);
  eighth.resize(4);
  const double a[2] = {-9.81, 0.3};
  const double y[4] = {1.25, -0.5, 3, 0.7};
  const double f0[4] = {y[2], y[3], a[0], a[1]};
  auto rhs = [&a](double, const double* at, double* rate) {
    rate[0] = at[2], rate[1] = at[3], rate[2] = a[0], rate[3] = a[1];
    return true;
  };
  const double t = 2, h = 0.375;
  uniform.step_uniform(t, y, f0, h);
  ASSERT_EQ(eighth.step(Method::order8, rhs, t, y, f0, h), StepOutcome::done);
  ASSERT_TRUE(eighth.prepare_dense(rhs));
  ASSERT_TRUE(uniform.prepare_end_rate(rhs) && uniform.prepare_dense(rhs));
  const double weight[4] = {1, 1, 1, 1};
  EXPECT_EQ(uniform.error(weight, 4), 0);
  double rows[5 * 11];
  for (int k = 0; k <= 10; ++k) rows[5 * k] = t + 0.1 * k * h;
  uniform.dense_rows(rows, 11, 5, 4);
  for (int k = 0; k <= 10; ++k) {
    const double theta = (rows[5 * k] - t) / h;
    double here[4], there[4];
    uniform.dense(theta, 0, 4, here);
    eighth.dense(theta, 0, 4, there);
    for (int i = 0; i < 4; ++i) {
      const double tau = theta * h;
      const double exact = i < 2 ? y[i] + tau * (y[i + 2] + 0.5 * tau * a[i]) : y[i] + tau * a[i - 2];
      EXPECT_NEAR(here[i], exact, 4e-16 * 4) << "component " << i << " at " << theta;
      EXPECT_NEAR(there[i], here[i], 1e-14) << "component " << i << " at " << theta;
      EXPECT_EQ(rows[5 * k + 1 + i], here[i]);
    }
  }
  double end[4];
  uniform.dense(0, 0, 4, end);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(end[i], y[i]);
  uniform.dense(1, 0, 4, end);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(end[i], uniform.y1()[i]);
    EXPECT_EQ(uniform.f1()[i], i < 2 ? y[i + 2] + h * a[i] : a[i - 2]);
  }
}

TEST(ExplicitStepper, ConvergesWithItsOrder) {
  const auto order = [](Method method, int steps) {
    return std::log2(oscillator_error(method, steps) / oscillator_error(method, 2 * steps));
  };
  EXPECT_NEAR(order(Method::order5, 64), 5, 0.1);
  EXPECT_NEAR(order(Method::order8, 16), 8, 0.1);
}

struct LocalErrors {
  double dense = 0;     ///< largest along the step
  double estimate = 0;  ///< what error() says
  double promised = 0;  ///< what dense_error() says
};

LocalErrors local_errors(Method method, double t, double h) {
  Smooth rhs;
  ExplicitStepper stepper;
  stepper.resize(3);
  const std::array<double, 3> y = Smooth::exact(t);
  std::array<double, 3> f{};
  rhs(t, y.data(), f.data());
  stepper.step(method, rhs, t, y.data(), f.data(), h);
  stepper.prepare_dense_error(rhs);
  LocalErrors errors;
  const double inverse_scale[3] = {1, 1, 1};
  errors.estimate = stepper.error(inverse_scale, 3);
  errors.promised = stepper.dense_error(inverse_scale, 3);
  for (int i = 0; i <= 50; ++i) {
    double out[3];
    stepper.dense(i / 50.0, 0, 3, out);
    const auto exact = Smooth::exact(t + i / 50.0 * h);
    for (std::size_t k = 0; k < 3; ++k) {
      errors.dense = std::max(errors.dense, std::abs(out[k] - exact[k]));
    }
  }
  return errors;
}

TEST(ExplicitStepper, DenseOutputAndErrorEstimateFallWithTheirPowers) {
  const auto rate = [](double coarse, double fine) { return std::log2(coarse / fine); };
  const LocalErrors a5 = local_errors(Method::order5, 0.6, 0.1);
  const LocalErrors b5 = local_errors(Method::order5, 0.6, 0.05);
  EXPECT_NEAR(rate(a5.dense, b5.dense), 5, 0.25);
  EXPECT_NEAR(rate(a5.estimate, b5.estimate), 5, 0.25);
  const LocalErrors a8 = local_errors(Method::order8, 0.6, 0.4);
  const LocalErrors b8 = local_errors(Method::order8, 0.6, 0.2);
  EXPECT_NEAR(rate(a8.dense, b8.dense), 8, 0.5);
  EXPECT_NEAR(rate(a8.estimate, b8.estimate), 8, 0.8);
}

// Events are located on the dense output; its error is larger than the step's and is measured by its defect.
TEST(ExplicitStepper, DenseOutputIsAsAccurateAsItsOwnEstimatePromises) {
  double worst_ratio = 0;
  for (Method method : {Method::order5, Method::order8}) {
    for (double t = 0; t < 6; t += 0.07) {
      for (double h : {0.05, 0.2, 0.5}) {
        const LocalErrors errors = local_errors(method, t, h);
        EXPECT_LT(errors.dense, 1.2 * errors.promised + 2e-15) << "t = " << t << ", h = " << h;
        if (errors.dense < 1e-13) continue;
        EXPECT_GT(errors.dense, 0.05 * errors.promised) << "t = " << t << ", h = " << h;
        worst_ratio = std::max(worst_ratio, errors.dense / errors.estimate);
      }
    }
  }
  EXPECT_GT(worst_ratio, 10) << "the estimate at the step's end would have been enough";
}

TEST(ExplicitStepper, DenseChangeIsTheDerivativeOfTheDenseOutput) {
  for (Method method : {Method::order5, Method::order8}) {
    Smooth rhs;
    ExplicitStepper stepper;
    stepper.resize(3);
    const std::array<double, 3> y = Smooth::exact(0.4);
    std::array<double, 3> f{};
    rhs(0.4, y.data(), f.data());
    stepper.step(method, rhs, 0.4, y.data(), f.data(), 0.8);
    stepper.prepare_dense(rhs);
    for (double theta : {0.05, 0.3, 0.49, 0.72, 0.94}) {
      double before[3], after[3], change[3];
      const double step = 1e-4;
      stepper.dense(theta - step, 0, 3, before);
      stepper.dense(theta + step, 0, 3, after);
      stepper.dense_change(theta, 0, 3, change);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(change[k], (after[k] - before[k]) / (2 * step), 1e-7);
    }
    double change[3];
    stepper.dense_change(0, 0, 3, change);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(change[k], 0.8 * f[k], 1e-14);
    stepper.dense_change(1, 0, 3, change);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(change[k], 0.8 * stepper.f1()[k], 1e-14);
  }
}

TEST(ExplicitStepper, QuadraturesDoNotTouchTheErrorOrTheMotion) {
  const auto rhs = [](double t, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -y[0];
    rate[2] = 1e6 * std::exp(t) * y[1];
    return true;
  };
  const auto plain = [](double, const double* y, double* rate) {
    rate[0] = y[1];
    rate[1] = -y[0];
    return true;
  };
  for (Method method : {Method::order5, Method::order8}) {
    ExplicitStepper with;
    ExplicitStepper without;
    with.resize(3);
    without.resize(2);
    const double y[3] = {1, 0.5, 0};
    double f[3];
    rhs(0, y, f);
    with.step(method, rhs, 0, y, f, 0.2);
    without.step(method, plain, 0, y, f, 0.2);
    const double inverse_scale[3] = {1e9, 1e9, 1e9};
    EXPECT_EQ(with.y1()[0], without.y1()[0]);
    EXPECT_EQ(with.error(inverse_scale, 2), without.error(inverse_scale, 2));
    EXPECT_GT(with.error(inverse_scale, 3), with.error(inverse_scale, 2));
  }
}

TEST(ExplicitStepper, ReportsWhatIsNotANumber) {
  const auto root = [](double t, const double*, double* rate) {
    rate[0] = std::sqrt(1 - t);
    return t <= 1;
  };
  for (Method method : {Method::order5, Method::order8}) {
    ExplicitStepper stepper;
    stepper.resize(1);
    const double y[1] = {0};
    double f[1];
    root(0.5, y, f);
    EXPECT_EQ(stepper.step(method, root, 0.5, y, f, 0.4), StepOutcome::done);
    EXPECT_EQ(stepper.step(method, root, 0.5, y, f, 2.0), StepOutcome::not_finite);
    const auto silent = [](double, const double*, double* rate) {
      rate[0] = std::numeric_limits<double>::quiet_NaN();
      return true;
    };
    stepper.step(method, silent, 0, y, f, 0.1);
    const double inverse_scale[1] = {1};
    EXPECT_EQ(stepper.error(inverse_scale, 1), std::numeric_limits<double>::infinity());
  }
}

TEST(ExplicitStepper, GivesTheSameBitsWhenUnitsChangeByPowersOfTwo) {
  for (Method method : {Method::order5, Method::order8}) {
    const double unit = 1024;
    const auto metres = [](double, const double* y, double* rate) {
      rate[0] = y[1];
      rate[1] = -3 * y[0] - 0.1 * y[1];
      return true;
    };
    ExplicitStepper one;
    ExplicitStepper other;
    one.resize(2);
    other.resize(2);
    const double y[2] = {0.7, -0.2};
    const double scaled[2] = {0.7 * unit, -0.2 * unit};
    double f[2];
    double g[2];
    metres(0, y, f);
    metres(0, scaled, g);
    one.step(method, metres, 0, y, f, 0.3);
    other.step(method, metres, 0, scaled, g, 0.3);
    const double inverse[2] = {1e9, 1e9};
    const double scaled_inverse[2] = {1e9 / unit, 1e9 / unit};
    EXPECT_EQ(one.y1()[0] * unit, other.y1()[0]);
    EXPECT_EQ(one.error(inverse, 2), other.error(scaled_inverse, 2));
  }
}

TEST(ExplicitStepper, SeesStiffnessWhereStabilityLimitsTheStep) {
  for (Method method : {Method::order5, Method::order8}) {
    const double limit = method == Method::order5 ? Order5Table::kStiffLimit : Order8Table::kStiffLimit;
    for (double factor : {0.5, 2.0}) {
      const double lambda = -1e6;
      const auto rhs = [lambda](double, const double* y, double* rate) {
        rate[0] = lambda * y[0];
        return true;
      };
      ExplicitStepper stepper;
      stepper.resize(1);
      const double y[1] = {1};
      double f[1];
      rhs(0, y, f);
      stepper.step(method, rhs, 0, y, f, -limit * factor / lambda);
      ASSERT_TRUE(stepper.prepare_end_rate(rhs));
      const double inverse_scale[1] = {1};
      EXPECT_NEAR(stepper.stiffness(inverse_scale, 1), factor, 1e-9);
    }
  }
}

TEST(ExplicitStepper, AllocatesNothingInAStep) {
  Smooth rhs;
  ExplicitStepper stepper;
  stepper.resize(3);
  const std::array<double, 3> y = Smooth::exact(0);
  std::array<double, 3> f{};
  rhs(0, y.data(), f.data());
  const long before = allocations();
  for (Method method : {Method::order5, Method::order8}) {
    stepper.step(method, rhs, 0, y.data(), f.data(), 0.1);
    stepper.prepare_dense(rhs);
    double out[3];
    stepper.dense(0.3, 0, 3, out);
  }
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace judder::engines::numeric
