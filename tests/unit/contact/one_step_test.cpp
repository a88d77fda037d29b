// One-step problems: closed forms, planted solutions, enumeration by the test itself, Lemke's method, brute force in space.
#include "judder/contact/one_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>

#include "allocations.hpp"
#include "count.hpp"
#include "judder/contact/lcp.hpp"

namespace judder::contact {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

// A problem that owns its numbers, with the random draws of this file.
struct Case {
  std::vector<StepBlock> blocks;
  std::vector<StepFeed> feeds;
  Matrix W;
  Vector q;

  [[nodiscard]] OneStepProblem problem() const {
    OneStepProblem p;
    p.blocks = blocks;
    p.feeds = feeds;
    p.W = W.data();
    p.q = q.data();
    return p;
  }
  [[nodiscard]] int rows() const { return problem().rows(); }
  [[nodiscard]] std::vector<int> starts() const {
    std::vector<int> first;
    int n = 0;
    for (const StepBlock& block : blocks) {
      first.push_back(n);
      n += block.rows();
    }
    return first;
  }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * std::generate_canonical<double, 53>(generator_);
  }
  int below(int end) { return static_cast<int>(uniform(0, 1) * end); }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
    return sum;
  }
  // H Hᵀ with `freedoms` columns: singular where there are fewer than rows.
  Matrix gram(int rows, int freedoms) {
    Matrix H(rows, freedoms);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < freedoms; ++j) H(i, j) = normal();
    }
    return H * H.transpose();
  }

 private:
  std::mt19937_64 generator_;
};

StepBlock contact(int slips, double mu) {
  StepBlock block;
  block.slips = slips;
  block.mu = mu;
  return block;
}

StepBlock joint(int slips, double limit) {
  StepBlock block;
  block.kind = StepBlockKind::friction;
  block.slips = slips;
  block.mu = 1;
  block.load = limit;
  return block;
}

StepBlock bilateral() {
  StepBlock block;
  block.kind = StepBlockKind::bilateral;
  block.slips = 0;
  return block;
}

// The laws themselves, in the problem's own units: largest violation relative to the sizes of u and r.
double violation(const Case& c, std::span<const double> r) {
  const Vector x = Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(r.size()));
  const Vector u = c.W * x + c.q;
  const double u_size = std::max(c.q.cwiseAbs().maxCoeff(), 1e-300);
  const double r_size = std::max(x.cwiseAbs().maxCoeff(), 1e-300);
  double worst = 0;
  const std::vector<int> first = c.starts();
  for (std::size_t i = 0; i < c.blocks.size(); ++i) {
    const StepBlock& b = c.blocks[i];
    const int k = first[i];
    double load = b.load;
    if (b.kind == StepBlockKind::bilateral) worst = std::max(worst, std::abs(u[k]) / u_size);
    if (b.kind == StepBlockKind::contact) {
      worst = std::max({worst, -u[k] / u_size, -x[k] / r_size, std::min(u[k] / u_size, x[k] / r_size)});
      load += x[k];
    }
    for (int f = b.feed; f < b.feed + b.feed_size; ++f)
      load += c.feeds[f].weight * std::abs(x[c.feeds[f].row]);
    if (b.slips == 0) continue;
    const int t = k + b.rows() - b.slips;
    const Vector slip = u.segment(t, b.slips);
    const Vector force = x.segment(t, b.slips);
    const double limit = b.mu * load;
    worst = std::max(worst, (force.norm() - limit) / r_size);
    // −r_T = L u_T/|u_T| where u_T is not zero: r·u = −L |u| says it in one number.
    worst = std::max(worst, (force.dot(slip) + limit * slip.norm()) / (u_size * r_size));
  }
  return worst;
}

// Statuses and impulses are drawn, then q so that they are the solution.
Case planted(Draw& draw, int slips, int contacts, int freedoms, double mu, Vector& r, Vector& u) {
  Case c;
  for (int i = 0; i < contacts; ++i) c.blocks.push_back(contact(slips, draw.uniform(0, mu)));
  c.blocks.push_back(bilateral());
  c.blocks.push_back(joint(std::max(slips, 1), draw.uniform(0.1, 1)));
  c.blocks.back().feed_size = 1;
  const int n = c.rows();
  const std::vector<int> first = c.starts();
  c.feeds.push_back({first[contacts], draw.uniform(0, 0.2)});
  c.W = draw.gram(n, freedoms);
  r = Vector::Zero(n);
  u = Vector::Zero(n);
  r[first[contacts]] = draw.normal();
  for (int i = 0; i < static_cast<int>(c.blocks.size()); ++i) {
    const StepBlock& b = c.blocks[i];
    if (b.kind == StepBlockKind::bilateral) continue;
    double limit = b.load;
    if (b.kind == StepBlockKind::contact) {
      const bool closed = draw.below(3) > 0;
      r[first[i]] = closed ? draw.uniform(0.1, 2) : 0;
      u[first[i]] = closed ? 0 : draw.uniform(0.1, 2);
      limit = r[first[i]];
    }
    for (int f = b.feed; f < b.feed + b.feed_size; ++f)
      limit += c.feeds[f].weight * std::abs(r[c.feeds[f].row]);
    limit *= b.mu;
    if (b.slips == 0) continue;
    Vector way(b.slips);
    for (int k = 0; k < b.slips; ++k) way[k] = draw.normal();
    way.normalize();
    const int t = first[i] + b.rows() - b.slips;
    const bool slides = draw.below(2) == 0;
    r.segment(t, b.slips) = -way * limit * (slides ? 1.0 : draw.uniform(0, 0.95));
    if (slides) u.segment(t, b.slips) = way * draw.uniform(0.1, 2);
  }
  c.q = u - c.W * r;
  return c;
}

TEST(OneStep, APlanarContactOpensSticksAndSlides) {
  Case c;
  c.blocks = {contact(1, 0.5)};
  c.W = Matrix::Identity(2, 2) * 2;
  OneStepWorkspace workspace;
  const auto solve = [&](double normal, double tangential) {
    c.q = Vector(2);
    c.q << normal, tangential;
    return solve_one_step(c.problem(), {}, workspace);
  };
  OneStepResult result = solve(1, 3);
  EXPECT_EQ(result.contacts[0], StepContact::open);
  EXPECT_EQ(result.impulse[0], 0);
  EXPECT_EQ(result.velocity[1], 3);
  result = solve(-1, 0.3);
  EXPECT_EQ(result.contacts[0], StepContact::stick);
  EXPECT_NEAR(result.impulse[0], 0.5, 1e-15);
  EXPECT_NEAR(result.impulse[1], -0.15, 1e-15);
  result = solve(-1, 3);
  EXPECT_EQ(result.contacts[0], StepContact::slip);
  EXPECT_NEAR(result.impulse[1], -0.25, 1e-15);
  EXPECT_NEAR(result.velocity[1], 2.5, 1e-15);
}

TEST(OneStep, PlantedSolutionsAreFoundInAllDimensions) {
  OneStepWorkspace workspace;
  for (int slips = 0; slips <= 3; ++slips) {
    Draw draw(31 + slips);
    for (int i = 0; i < count(2000); ++i) {
      Vector r, u;
      const int contacts = 1 + draw.below(8);
      const int rows = contacts * (1 + slips) + 1 + std::max(slips, 1);
      const Case c = planted(draw, slips, contacts, rows + 4, 0.3, r, u);
      const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
      ASSERT_TRUE(result.ok()) << "slips " << slips << ", case " << i << ": " << result.residual_of_q;
      EXPECT_LT(violation(c, result.impulse), 1e-8) << "slips " << slips << ", case " << i;
      // W is regular and friction small: there is one solution.
      for (int k = 0; k < c.rows(); ++k) {
        EXPECT_NEAR(result.velocity[k], u[k], 1e-6 * c.q.cwiseAbs().maxCoeff())
            << "case " << i << " row " << k;
      }
    }
  }
}

// Four feet on the ground and more: W has less than full rank and impulses are shared.
TEST(OneStep, ContactsThatShareTheirImpulsesAreSolved) {
  OneStepWorkspace workspace;
  for (int slips = 0; slips <= 3; ++slips) {
    Draw draw(51 + slips);
    for (int i = 0; i < count(1000); ++i) {
      Vector r, u;
      const int contacts = 2 + draw.below(8);
      const int rows = contacts * (1 + slips) + 1 + std::max(slips, 1);
      const Case c = planted(draw, slips, contacts, std::max(2, rows / 2), 0.6, r, u);
      const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
      ASSERT_TRUE(result.ok()) << "slips " << slips << ", case " << i << ": " << result.residual_of_q;
      EXPECT_LT(violation(c, result.impulse), 1e-7) << "slips " << slips << ", case " << i;
    }
  }
}

// All modes of planar contacts, tried by the test with Eigen. Friction is large: there may be several solutions.
std::vector<Vector> all_solutions(const Case& c) {
  const int contacts = static_cast<int>(c.blocks.size());
  const int n = 2 * contacts;
  std::vector<Vector> found;
  int modes = 1;
  for (int i = 0; i < contacts; ++i) modes *= 4;
  for (int mode = 0; mode < modes; ++mode) {
    Matrix A = Matrix::Identity(n, n);
    Vector b = Vector::Zero(n);
    for (int i = 0, code = mode; i < contacts; ++i, code /= 4) {
      const int choice = code % 4;
      if (choice == 0) continue;  // open
      A.row(2 * i) = c.W.row(2 * i);
      b[2 * i] = -c.q[2 * i];
      if (choice == 1) {  // stick
        A.row(2 * i + 1) = c.W.row(2 * i + 1);
        b[2 * i + 1] = -c.q[2 * i + 1];
      } else {
        A(2 * i + 1, 2 * i) = choice == 2 ? c.blocks[i].mu : -c.blocks[i].mu;
      }
    }
    const Vector r = A.fullPivLu().solve(b);
    if (!r.allFinite() || (A * r - b).norm() > 1e-9 * (1 + b.norm())) continue;
    if (violation(c, {r.data(), static_cast<std::size_t>(n)}) < 1e-9) found.push_back(c.W * r + c.q);
  }
  return found;
}

TEST(OneStep, SmallPlanarProblemsGiveASolutionOfTheEnumeration) {
  OneStepWorkspace workspace;
  Draw draw(77);
  int without = 0, several = 0;
  for (int i = 0; i < count(20000); ++i) {
    Case c;
    const int contacts = 1 + draw.below(3);
    for (int k = 0; k < contacts; ++k) c.blocks.push_back(contact(1, draw.uniform(0, 2.5)));
    const int n = 2 * contacts;
    c.W = draw.gram(n, n + draw.below(3));
    if (draw.below(4) == 0) {  // push along another direction: not symmetric, possibly without a solution
      for (int k = 0; k < n; ++k) c.W(k, draw.below(n)) += draw.normal();
    }
    c.q = Vector(n);
    for (int k = 0; k < n; ++k) c.q[k] = draw.normal();
    const std::vector<Vector> listed = all_solutions(c);
    const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
    if (listed.empty()) {
      ++without;
      EXPECT_FALSE(result.ok()) << "case " << i;
      continue;
    }
    ASSERT_TRUE(result.ok()) << "case " << i << ": " << name(result.status) << ' ' << result.residual_of_q;
    double nearest = 1e300;
    double apart = 0;
    for (const Vector& u : listed) {
      const Vector mine = Eigen::Map<const Vector>(result.velocity.data(), n);
      nearest = std::min(nearest, (mine - u).norm());
      apart = std::max(apart, (u - listed.front()).norm());
    }
    if (apart > 1e-6) ++several;
    EXPECT_LT(nearest, 1e-6 * c.q.norm()) << "case " << i;
  }
  EXPECT_GT(without, 0);
  EXPECT_GT(several, 0);
}

TEST(OneStep, WithoutFrictionTheAnswerIsLemkes) {
  OneStepWorkspace workspace;
  LcpWorkspace lcp;
  Draw draw(91);
  for (int i = 0; i < count(5000); ++i) {
    Case c;
    const int n = 2 + draw.below(10);
    c.blocks.assign(n, contact(0, 0));
    c.W = draw.gram(n, n + 2);
    c.q = Vector(n);
    for (int k = 0; k < n; ++k) c.q[k] = draw.normal();
    const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
    const LcpSolution lemke = solve_lemke({n, c.W.data(), c.q.data(), nullptr}, {}, lcp);
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(lemke.status, LcpStatus::solved);
    for (int k = 0; k < n; ++k)
      EXPECT_NEAR(result.velocity[k], lemke.w[k], 1e-8 * c.q.norm()) << "case " << i;
  }
}

// One sliding contact in space: the direction of slip is searched on a circle.
TEST(OneStep, TheDirectionOfSlipIsTheOneFoundByBruteForce) {
  OneStepWorkspace workspace;
  Draw draw(13);
  int sliding = 0;
  for (int i = 0; i < count(20000); ++i) {
    Case c;
    const double mu = draw.uniform(0.05, 0.9);
    c.blocks = {contact(2, mu)};
    c.W = draw.gram(3, 6);
    c.q = Vector(3);
    c.q << -draw.uniform(0.1, 1), draw.normal(), draw.normal();
    const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
    ASSERT_TRUE(result.ok());
    if (result.contacts[0] != StepContact::slip) continue;
    ++sliding;
    // r(φ) slides towards φ with u_N = 0; u_T must point there: the sine of the angle between them has a zero.
    const auto sine = [&](double phi, Vector& r, double& along) {
      const double x = std::cos(phi), y = std::sin(phi);
      const double divisor = c.W(0, 0) - mu * (c.W(0, 1) * x + c.W(0, 2) * y);
      const double normal = -c.q[0] / divisor;
      r = Vector(3);
      r << normal, -mu * normal * x, -mu * normal * y;
      const Vector u = c.W * r + c.q;
      along = u[1] * x + u[2] * y;
      return normal >= 0 ? u[1] * y - u[2] * x : std::nan("");
    };
    constexpr int kSteps = 720;
    double nearest = 1e300;
    for (int k = 0; k < kSteps; ++k) {
      double low = 2 * std::numbers::pi * k / kSteps, high = 2 * std::numbers::pi * (k + 1) / kSteps;
      Vector r;
      double along = 0;
      double at_low = sine(low, r, along);
      if (!(at_low * sine(high, r, along) <= 0)) continue;
      for (int halving = 0; halving < 60; ++halving) {
        const double middle = 0.5 * (low + high);
        const double at_middle = sine(middle, r, along);
        if (at_low * at_middle <= 0) {
          high = middle;
        } else {
          low = middle;
          at_low = at_middle;
        }
      }
      if (along > 0)
        nearest = std::min(nearest, (r - Eigen::Map<const Vector>(result.impulse.data(), 3)).norm());
    }
    EXPECT_LT(nearest, 1e-7 * Eigen::Map<const Vector>(result.impulse.data(), 3).norm()) << "case " << i;
  }
  EXPECT_GT(sliding, 10);
}

TEST(OneStep, UnitsOfPowersOfTwoChangeNoBit) {
  OneStepWorkspace workspace, other;
  Draw draw(5);
  for (int i = 0; i < count(1000); ++i) {
    Vector r, u;
    Case c = planted(draw, 2, 1 + draw.below(6), 20, 0.8, r, u);
    const OneStepResult first = solve_one_step(c.problem(), {}, workspace);
    Case scaled = c;
    std::vector<double> factor(static_cast<std::size_t>(c.rows()), 1);
    const std::vector<int> starts = c.starts();
    for (std::size_t b = 0; b < c.blocks.size(); ++b) {
      const int normals = c.blocks[b].rows() - c.blocks[b].slips;
      const double f = std::ldexp(1.0, draw.below(20) - 10);
      for (int k = 0; k < c.blocks[b].rows(); ++k) factor[starts[b] + k] = f;
      (void)normals;
    }
    // A spin and a length: rows of other units than the joint's limit need that limit in the new unit.
    for (std::size_t b = 0; b < c.blocks.size(); ++b) {
      if (c.blocks[b].kind != StepBlockKind::friction) continue;
      scaled.blocks[b].load /= factor[starts[b]];
      scaled.feeds[0].weight *= factor[scaled.feeds[0].row] / factor[starts[b]];
    }
    for (int k = 0; k < c.rows(); ++k) {
      scaled.q[k] *= factor[k];
      for (int j = 0; j < c.rows(); ++j) scaled.W(k, j) *= factor[k] * factor[j];
    }
    const OneStepResult second = solve_one_step(scaled.problem(), {}, other);
    EXPECT_EQ(first.iterations, second.iterations);
    EXPECT_EQ(first.residual, second.residual);
    for (int k = 0; k < c.rows(); ++k)
      EXPECT_EQ(first.impulse[k], second.impulse[k] * factor[k]) << "case " << i;
  }
}

TEST(OneStep, BlocksAndDenseMatricesGiveTheSameBits) {
  OneStepWorkspace workspace, other;
  Draw draw(6);
  for (int i = 0; i < count(1000); ++i) {
    Vector r, u;
    const Case c = planted(draw, 2, 2 + draw.below(6), 20, 0.8, r, u);
    const OneStepResult dense = solve_one_step(c.problem(), {}, workspace);
    OneStepData data;
    data.blocks = c.blocks;
    const std::vector<int> first = c.starts();
    data.begin.push_back(0);
    for (std::size_t a = 0; a < c.blocks.size(); ++a) {
      for (std::size_t b = 0; b < c.blocks.size(); ++b) {
        data.column.push_back(static_cast<int>(b));
        data.value.push_back(static_cast<int>(data.values.size()));
        for (int k = 0; k < c.blocks[a].rows(); ++k) {
          for (int j = 0; j < c.blocks[b].rows(); ++j) data.values.push_back(c.W(first[a] + k, first[b] + j));
        }
      }
      data.begin.push_back(static_cast<int>(data.column.size()));
    }
    data.q.assign(c.q.data(), c.q.data() + c.rows());
    OneStepProblem problem = data.problem();
    problem.feeds = c.feeds;
    const OneStepResult blocks = solve_one_step(problem, {}, other);
    EXPECT_EQ(dense.residual_of_q, blocks.residual_of_q);
    for (int k = 0; k < c.rows(); ++k) EXPECT_EQ(dense.impulse[k], blocks.impulse[k]);
  }
}

TEST(OneStep, AnAnswerUsedAsStartCostsNothing) {
  OneStepWorkspace workspace;
  Draw draw(8);
  for (int i = 0; i < count(500); ++i) {
    Vector r, u;
    const Case c = planted(draw, 2, 5, 9, 0.5, r, u);
    const OneStepResult first = solve_one_step(c.problem(), {}, workspace);
    const std::vector<double> last(first.impulse.begin(), first.impulse.end());
    OneStepProblem again = c.problem();
    again.guess = last.data();
    const OneStepResult second = solve_one_step(again, {}, workspace);
    EXPECT_EQ(second.iterations, 0);
    EXPECT_EQ(second.method, OneStepMethod::guess);
  }
}

TEST(OneStep, NothingIsAllocatedInASolve) {
  Draw draw(9);
  for (int i = 0; i < count(1000); ++i) {
    Vector r, u;
    const int slips = draw.below(4);
    const Case c = planted(draw, slips, 1 + draw.below(6), 6, 1.5, r, u);
    OneStepWorkspace workspace;
    workspace.resize(c.problem());
    const OneStepProblem problem = c.problem();
    const long before = allocations();
    const OneStepResult result = solve_one_step(problem, {}, workspace);
    EXPECT_EQ(allocations(), before) << "slips " << slips << ", " << name(result.method);
  }
}

// At rest q is zero: beside impulses to start from that balance each other to rounding, zero is the answer.
TEST(OneStep, NothingMovesWithoutAFreeVelocity) {
  for (const int slips : {1, 2}) {
    Case c;
    c.blocks = {{StepBlockKind::friction, slips, 0.5, 0.3}, {StepBlockKind::friction, slips, 0.7, 0.2}};
    const int n = 2 * slips;
    c.W = Matrix::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) c.W(i, j) = (i - j) % slips == 0 ? 0.7 : 0;
    }
    c.q = Vector::Zero(n);
    const Vector guess = Vector::LinSpaced(n, 0.1, -0.1 * (1 + 1e-15));
    OneStepProblem p = c.problem();
    p.guess = guess.data();
    OneStepWorkspace workspace;
    workspace.resize(p);
    const OneStepResult result = solve_one_step(p, {}, workspace);
    EXPECT_TRUE(result.ok()) << slips << ' ' << result.residual_of_q;
    for (int i = 0; i < n; ++i) EXPECT_EQ(result.velocity[i], 0) << slips;
  }
}

TEST(OneStep, ContradictoryRowsAreNoSolutionAndBadNumbersAreSaid) {
  OneStepWorkspace workspace;
  Case c;
  c.blocks = {bilateral(), bilateral()};
  c.W = Matrix::Ones(2, 2);
  c.q = Vector(2);
  c.q << 0, 1;
  OneStepResult result = solve_one_step(c.problem(), {}, workspace);
  EXPECT_EQ(result.status, OneStepStatus::no_solution);
  EXPECT_GT(result.residual_of_q, 0.1);
  c.q << 1, 1;
  EXPECT_TRUE(solve_one_step(c.problem(), {}, workspace).ok());
  // A normal row without inertia that approaches cannot be stopped.
  c.blocks = {contact(0, 0)};
  c.W = Matrix::Zero(1, 1);
  c.q = -Vector::Ones(1);
  EXPECT_FALSE(solve_one_step(c.problem(), {}, workspace).ok());
  c.q[0] = std::nan("");
  result = solve_one_step(c.problem(), {}, workspace);
  EXPECT_EQ(result.status, OneStepStatus::bad_numbers);
  EXPECT_EQ(result.impulse[0], 0);
  c.q[0] = 1;
  c.blocks[0].mu = -1;
  EXPECT_EQ(solve_one_step(c.problem(), {}, workspace).status, OneStepStatus::bad_numbers);
}

TEST(OneStep, ATiedSlipHoldsWhileItIsPressed) {
  OneStepWorkspace workspace;
  Case c;
  c.blocks = {contact(2, std::numeric_limits<double>::infinity())};
  c.W = Matrix::Identity(3, 3);
  c.q = Vector(3);
  c.q << -1e-3, 5, -7;
  OneStepResult result = solve_one_step(c.problem(), {}, workspace);
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result.impulse[1], -5, 1e-12);
  EXPECT_NEAR(result.impulse[2], 7, 1e-12);
  c.q[0] = 1e-3;
  result = solve_one_step(c.problem(), {}, workspace);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.impulse[1], 0);
}

// −r = L u/|u| for a ball in three components: closed form for W = w 1, r = −L q/|q|.
TEST(OneStep, AFrictionBallPointsAgainstItsSlip) {
  OneStepWorkspace workspace;
  Case c;
  c.blocks = {joint(3, 0.7)};
  c.W = Matrix::Identity(3, 3) * 3;
  c.q = Vector(3);
  c.q << 4, -5, 6;
  const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
  ASSERT_TRUE(result.ok());
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.impulse[k], -0.7 * c.q[k] / c.q.norm(), 1e-13);
  EXPECT_EQ(result.contacts[0], StepContact::slip);
}

// An impulse from the step before is accepted within the tolerance. If it is a rounding shorter than the limit, the block slides all the same.
TEST(OneStep, ASlipWhoseImpulseIsARoundingTooShortIsNoStick) {
  OneStepWorkspace workspace;
  for (const double shorter : {1e-16, 1e-13, 1e-11}) {
    Case c;
    c.blocks = {contact(2, 0.5)};
    c.W = Matrix::Identity(3, 3);
    c.q = Vector(3);
    c.q << -1, 3, 4;
    const std::vector<double> guess{1, -0.3 * (1 - shorter), -0.4 * (1 - shorter)};
    OneStepProblem problem = c.problem();
    problem.guess = guess.data();
    const OneStepResult result = solve_one_step(problem, {}, workspace);
    EXPECT_EQ(result.method, OneStepMethod::guess);
    EXPECT_EQ(result.contacts[0], StepContact::slip);
  }
}

// The rows of `a`, then those of `b`, which have nothing to do with them.
Case beside(const Case& a, const Case& b) {
  Case c = a;
  const int n = a.rows(), m = b.rows();
  for (StepBlock block : b.blocks) {
    block.feed += static_cast<int>(a.feeds.size());
    c.blocks.push_back(block);
  }
  for (const StepFeed& feed : b.feeds) c.feeds.push_back({n + feed.row, feed.weight});
  c.W = Matrix::Zero(n + m, n + m);
  c.W.topLeftCorner(n, n) = a.W;
  c.W.bottomRightCorner(m, m) = b.W;
  c.q.resize(n + m);
  c.q << a.q, b.q;
  return c;
}

// What a problem has for an answer does not depend on what else is solved with it, however large that is.
TEST(OneStep, RowsAreSolvedAsIfTheyWereAlone) {
  OneStepWorkspace workspace, other;
  Draw draw(11);
  for (int i = 0; i < count(600); ++i) {
    const int slips = 1 + i % 3;
    Vector r, u;
    const int contacts = 1 + draw.below(3);
    const Case own = planted(draw, slips, contacts, 3 * (slips + 1) * contacts, 0.3, r, u);
    const OneStepResult alone = solve_one_step(own.problem(), {}, workspace);
    ASSERT_TRUE(alone.ok()) << i;
    const Vector right = Eigen::Map<const Vector>(alone.impulse.data(), own.rows());
    Case large = planted(draw, slips, 2, 20, 0.3, r, u);
    large.q *= std::pow(10.0, draw.uniform(4, 14));
    std::vector<Case> cases{beside(own, large), beside(own, large), beside(own, large)};
    // Springs between the bodies: next to nothing goes from one to the other in a step.
    for (int k = 0; k < own.rows(); ++k) {
      for (int l = own.rows(); l < cases[1].rows(); ++l)
        cases[1].W(k, l) = cases[1].W(l, k) =
            1e-12 * own.q.cwiseAbs().minCoeff() / large.q.cwiseAbs().maxCoeff() * draw.normal();
    }
    // A contact of the same body that is far open.
    cases[2] = own;
    cases[2].blocks.push_back(contact(0, 0));
    const int n = own.rows();
    cases[2].W.conservativeResize(n + 1, n + 1);
    for (int k = 0; k < n; ++k) cases[2].W(k, n) = cases[2].W(n, k) = 0.1 * own.W(k, 0);
    cases[2].W(n, n) = own.W(0, 0);
    cases[2].q.conservativeResize(n + 1);
    cases[2].q[n] = std::pow(10.0, draw.uniform(4, 14));
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const OneStepResult result = solve_one_step(cases[k].problem(), {}, other);
      ASSERT_TRUE(result.ok()) << i << ' ' << k << ' ' << result.residual_of_q;
      const Vector found = Eigen::Map<const Vector>(result.impulse.data(), n);
      EXPECT_LT((found - right).norm(), 1e-8 * right.norm() + 1e-300) << i << ' ' << k;
      if (k == 2) {
        EXPECT_EQ(result.contacts.back(), StepContact::open);
        EXPECT_NEAR(result.velocity[n], cases[2].q[n], 1e-3 * cases[2].q[n]);
      }
    }
  }
}

// Two contacts that clamp a body hold it with ten thousand times what presses it, and that closes a third one, which seemed out of reach.
TEST(OneStep, AContactThatSeemedOutOfReachIsReached) {
  OneStepWorkspace workspace;
  Case c;
  c.blocks = {contact(0, 0), contact(0, 0), contact(0, 0)};
  c.W.resize(3, 3);
  c.W << 1, -0.9999, -0.01, -0.9999, 1, 0, -0.01, 0, 1;
  c.q = Vector(3);
  c.q << -1, -1, 50;
  const OneStepResult result = solve_one_step(c.problem(), {}, workspace);
  ASSERT_TRUE(result.ok());
  // All three are closed: W r = -q.
  const double first = (1 + 0.9999 - 0.01 * 50) / (1 - 0.9999 * 0.9999 - 1e-4);
  EXPECT_NEAR(result.impulse[0], first, 1e-6 * first);
  EXPECT_NEAR(result.impulse[1], 1 + 0.9999 * first, 1e-6 * first);
  EXPECT_NEAR(result.impulse[2], 0.01 * first - 50, 1e-6 * first);
  EXPECT_LT(violation(c, result.impulse), 1e-9);
}

TEST(OneStep, TheResidualSeesAWrongImpulse) {
  Draw draw(10);
  Vector r, u;
  const Case c = planted(draw, 2, 4, 30, 0.4, r, u);
  std::vector<double> x(r.data(), r.data() + c.rows());
  EXPECT_LT(one_step_residual(c.problem(), x).of_q, 1e-13);
  for (int k = 0; k < c.rows(); ++k) {
    std::vector<double> wrong = x;
    wrong[k] += 1e-3 * r.cwiseAbs().maxCoeff();
    EXPECT_GT(one_step_residual(c.problem(), wrong).of_q, 1e-6) << "row " << k;
    wrong[k] = std::nan("");
    EXPECT_TRUE(std::isinf(one_step_residual(c.problem(), wrong).of_all));
  }
}

TEST(OneStep, FilesAreReadByColumnsAndMistakesAreNamed) {
  const OneStepData data = read_one_step("2 1 0\n2 2 2 2\n1 3\n2 4\n-1 0.5\n0.25\n");
  ASSERT_EQ(data.error, "");
  EXPECT_EQ(data.W, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(data.blocks[0].mu, 0.25);
  EXPECT_EQ(data.q[1], 0.5);
  const OneStepData sparse = read_one_step("2 1 2\n3 2 2\n0 2 3\n0 1 1\n1 3 4\n-1 0.5\n0.25\n");
  ASSERT_EQ(sparse.error, "");
  EXPECT_EQ(sparse.W, (std::vector<double>{1, 0, 3, 4}));
  const OneStepData blocks =
      read_one_step("2 2 1\n4 4 2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 1\n0 1 3 2 4\n1 5 7 6 8\n1 2 3 4\n0.1 0.2\n");
  ASSERT_EQ(blocks.error, "");
  EXPECT_EQ(blocks.values, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
  for (const char* bad : {"", "4 1 0", "2 0 0", "2 1 3", "2 1 0 2 3", "2 1 0 2 2 2 2 1 2 3",
                          "2 1 0 2 2 2 2 1 2 3 4 0 0 -1", "2 1 0 2 2 2 2 1 2 nan 4 0 0 1",
                          "2 2 1 4 4 2 2 2 2 4 2 4 3 2 0 1 2 1 1 0 1 3 2 4 1 5 7 6 8 1 2 3 4 .1 .2"})
    EXPECT_NE(read_one_step(bad).error, "") << bad;
}

}  // namespace
}  // namespace judder::contact
