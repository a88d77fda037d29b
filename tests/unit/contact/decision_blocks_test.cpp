// Blocks of a decision, and blocks with too many modes to try them all, against enumeration block by block and against coordinate descent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "count.hpp"
#include "decision_oracle.hpp"
#include "judder/contact/blocks.hpp"
#include "judder/contact/decision.hpp"

namespace judder::contact {
namespace {

using oracle::Case;
using oracle::Enumeration;

/// Several cases as one, rows in a random order (normal rows first); place[c][i] is row i of case c.
struct Joined {
  Case all;
  std::vector<std::vector<int>> place;
};

Joined join(const std::vector<Case>& parts, std::mt19937_64& random) {
  Joined out;
  Case& all = out.all;
  for (const Case& part : parts) {
    all.normals += part.normals;
    all.tangents += part.tangents;
  }
  std::vector<int> normal(all.normals);
  std::vector<int> tangent(all.tangents);
  std::iota(normal.begin(), normal.end(), 0);
  std::iota(tangent.begin(), tangent.end(), 0);
  std::shuffle(normal.begin(), normal.end(), random);
  std::shuffle(tangent.begin(), tangent.end(), random);
  const int n = all.rows();
  all.A.assign(n * n, 0.0);
  all.b.assign(n, 0.0);
  all.kind.resize(all.normals);
  all.state.resize(all.tangents);
  for (auto* v : {&all.mu_static, &all.mu_slip, &all.base}) v->resize(all.tangents);
  all.coupling.assign(all.tangents * all.normals, 0.0);
  int first_normal = 0;
  int first_tangent = 0;
  for (const Case& part : parts) {
    std::vector<int> place;
    for (int k = 0; k < part.normals; ++k) place.push_back(normal[first_normal + k]);
    for (int j = 0; j < part.tangents; ++j) place.push_back(all.normals + tangent[first_tangent + j]);
    for (int i = 0; i < part.rows(); ++i) {
      for (int k = 0; k < part.rows(); ++k) all.A[place[i] * n + place[k]] = part.A[i * part.rows() + k];
      all.b[place[i]] = part.b[i];
    }
    for (int k = 0; k < part.normals; ++k) all.kind[place[k]] = part.kind[k];
    for (int j = 0; j < part.tangents; ++j) {
      const int at = place[part.normals + j] - all.normals;
      all.state[at] = part.state[j];
      all.mu_static[at] = part.mu_static[j];
      all.mu_slip[at] = part.mu_slip[j];
      all.base[at] = part.base[j];
      for (int k = 0; k < part.normals; ++k)
        all.coupling[at * all.normals + place[k]] = part.coupling[j * part.normals + k];
    }
    first_normal += part.normals;
    first_tangent += part.tangents;
    out.place.push_back(std::move(place));
  }
  return out;
}

TEST(Blocks, AreNumberedByTheirFirstRowsWhateverTheOrderOfJoining) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < count(200); ++repeat) {
    const int n = std::uniform_int_distribution<int>(1, 200)(random);
    std::vector<std::pair<int, int>> pairs;
    std::uniform_int_distribution<int> row(0, n - 1);
    for (int p = 0; p < n / 2; ++p) pairs.emplace_back(row(random), row(random));
    // Labels that spread along the pairs until nothing changes.
    std::vector<int> label(n);
    std::iota(label.begin(), label.end(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [a, b] : pairs) {
        const int least = std::min(label[a], label[b]);
        changed = changed || label[a] != least || label[b] != least;
        label[a] = label[b] = least;
      }
    }
    std::shuffle(pairs.begin(), pairs.end(), random);
    Blocks blocks;
    blocks.resize(n);
    blocks.start(n);
    for (const auto& [a, b] : pairs) blocks.join(a, b);
    blocks.finish();
    int listed = 0;
    for (int b = 0; b < blocks.count(); ++b) {
      const auto rows = blocks.rows(b);
      ASSERT_FALSE(rows.empty());
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      if (b > 0) {
        EXPECT_GT(rows[0], blocks.rows(b - 1)[0]);
      }
      for (const int i : rows) {
        EXPECT_EQ(blocks.block_of(i), b);
        EXPECT_EQ(label[i], label[rows[0]]);
        ++listed;
      }
    }
    EXPECT_EQ(listed, n);
    EXPECT_EQ(blocks.count(), static_cast<int>(std::count_if(label.begin(), label.end(), [&](const int& l) {
                return l == static_cast<int>(&l - label.data());
              })));
  }
}

// One to sixty systems of one to four rows, as one problem in a random order: each comes out as it does alone.
TEST(Blocks, EachIsDecidedAsIfItWereAlone) {
  std::mt19937_64 random(12);
  DecisionWorkspace workspace(4, 6);
  BlockProblem memory;
  Blocks blocks;
  int judged = 0;
  for (int repeat = 0; repeat < count(300); ++repeat) {
    std::vector<Case> parts;
    const int systems = repeat % 10 == 0 ? 60 : std::uniform_int_distribution<int>(1, 12)(random);
    for (int s = 0; s < systems; ++s) {
      Case one = oracle::random_case(random, {.max_contacts = 2});
      while (one.rows() > 4) one = oracle::random_case(random, {.max_contacts = 2});
      parts.push_back(std::move(one));
    }
    const Joined joined = join(parts, random);
    const DecisionProblem problem = joined.all.problem();
    memory.resize(problem.normals, problem.tangents);
    blocks.resize(problem.rows());
    blocks.start(problem.rows());
    join_coupled(problem, blocks);
    blocks.finish();
    EXPECT_GE(blocks.count(), systems);
    for (int s = 0; s < systems; ++s) {
      const auto expected = Enumeration(parts[s]).decide();
      // Its rows may fall apart further.
      std::vector<int> own;
      for (const int i : joined.place[s]) own.push_back(blocks.block_of(i));
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      Verdict verdict = Verdict::unique;
      std::vector<double> acceleration(joined.all.rows());
      for (const int b : own) {
        const auto rows = blocks.rows(b);
        const DecisionProblem block = memory.take(problem, rows);
        const Decision decision = decide(block, {}, workspace);
        if (decision.verdict == Verdict::inconsistent || verdict == Verdict::unique)
          verdict = decision.verdict;
        for (std::size_t k = 0; k < rows.size(); ++k) acceleration[rows[k]] = decision.acceleration[k];
      }
      ASSERT_EQ(verdict, expected.verdict) << parts[s].text();
      if (verdict != Verdict::unique) continue;
      ++judged;
      double scale = 0;
      for (const double b : parts[s].b) scale = std::max(scale, std::abs(b));
      for (int i = 0; i < parts[s].rows(); ++i) {
        EXPECT_NEAR(acceleration[joined.place[s][i]], expected.answers.front().acceleration[i], 1e-7 * scale)
            << parts[s].text();
      }
    }
  }
  EXPECT_GT(judged, 500);
}

/// Masses in a row with friction between neighbours, and where `grounded`, of each with the ground (twice: redundant). Loads and masses at random.
Case chain(std::mt19937_64& random, int joints, bool grounded, double hysteresis) {
  std::uniform_real_distribution<double> unit(-1, 1);
  const int masses = joints + 1;
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < joints; ++i) {
    std::vector<double> row(masses, 0.0);
    row[i] = -1;
    row[i + 1] = 1;
    rows.push_back(row);
  }
  for (int i = 0; i < masses && grounded; ++i) {
    std::vector<double> row(masses, 0.0);
    row[i] = 1;
    rows.push_back(row);
    if (i % 3 == 0) rows.push_back(row);
  }
  std::shuffle(rows.begin(), rows.end(), random);
  std::vector<double> mass(masses);
  std::vector<double> load(masses);
  for (int i = 0; i < masses; ++i) {
    mass[i] = std::exp(2 * unit(random));
    load[i] = 2 * unit(random);
  }
  Case c;
  c.tangents = static_cast<int>(rows.size());
  const int n = c.tangents;
  c.A.assign(n * n, 0.0);
  c.b.assign(n, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      for (int m = 0; m < masses; ++m) c.A[i * n + k] += rows[i][m] * rows[k][m] / mass[m];
    }
    for (int m = 0; m < masses; ++m) c.b[i] += rows[i][m] * load[m] / mass[m];
    c.base.push_back(1 + 0.5 * unit(random));
    c.mu_slip.push_back(0.5 + 0.4 * unit(random));
    c.mu_static.push_back(c.mu_slip.back() * (1 + hysteresis * (1 + unit(random)) / 2));
    c.state.push_back(TangentState::rest);
  }
  return c;
}

/// Coordinate descent to the last bits: accelerations of the convex problem with the given bounds.
std::vector<double> descend(const Case& c, const std::vector<double>& mu) {
  const int n = c.rows();
  std::vector<double> x(n, 0.0);
  std::vector<double> a(n);
  const auto acceleration = [&](int i) {
    double sum = c.b[i];
    for (int k = 0; k < n; ++k) sum += c.A[i * n + k] * x[k];
    return sum;
  };
  for (int sweep = 0; sweep < 200'000; ++sweep) {
    double moved = 0;
    for (int i = 0; i < n; ++i) {
      const double bound = mu[i] * c.base[i];
      const double next = std::clamp(x[i] - acceleration(i) / c.A[i * n + i], -bound, bound);
      moved = std::max(moved, std::abs(next - x[i]));
      x[i] = next;
    }
    if (moved < 1e-15) break;
  }
  for (int i = 0; i < n; ++i) a[i] = acceleration(i);
  return a;
}

TEST(BoundedDecision, ChainsOfJointsAreTheMinimumOfTheEnergy) {
  std::mt19937_64 random(13);
  for (int repeat = 0; repeat < count(60); ++repeat) {
    for (const int joints : {2, 3, 7, 8, 12, 20, 40}) {
      const Case c = chain(random, joints, repeat % 3 == 0, 0);
      DecisionWorkspace workspace(0, c.tangents);
      const Decision decision = decide(c.problem(), {}, workspace);
      ASSERT_EQ(decision.verdict, Verdict::unique) << c.text();
      const std::vector<double> expected = descend(c, c.mu_slip);
      for (int i = 0; i < c.rows(); ++i)
        ASSERT_NEAR(decision.acceleration[i], expected[i], 1e-9) << joints << " joints\n" << c.text();
    }
  }
}

// Rest is kept with the static coefficient, slip has its own, and all laws hold at once; the order of the rows means nothing.
TEST(BoundedDecision, StaticCoefficientsKeepTheirMeaningInLargeBlocks) {
  std::mt19937_64 random(14);
  int sticking = 0;
  int slipping = 0;
  for (int repeat = 0; repeat < count(100); ++repeat) {
    for (const int joints : {8, 15, 30}) {
      const Case c = chain(random, joints, false, 0.8);
      DecisionWorkspace workspace(0, c.tangents);
      const Decision decision = decide(c.problem(), {}, workspace);
      ASSERT_TRUE(decision.found()) << c.text();
      for (int i = 0; i < c.rows(); ++i) {
        const double limit = c.base[i];
        if (decision.mode[i] == RowStatus::stick) {
          ++sticking;
          EXPECT_EQ(decision.acceleration[i], 0);
          EXPECT_LE(std::abs(decision.force[i]), c.mu_static[i] * limit + 1e-8);
        } else {
          ++slipping;
          const double s = decision.mode[i] == RowStatus::slip_plus ? 1 : -1;
          EXPECT_NEAR(decision.force[i], -s * c.mu_slip[i] * limit, 1e-9);
          EXPECT_GE(s * decision.acceleration[i], -1e-8);
        }
      }
      // The same in another order.
      std::vector<int> order(c.rows());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      Case other = c;
      for (int i = 0; i < c.rows(); ++i) {
        for (int k = 0; k < c.rows(); ++k) other.A[i * c.rows() + k] = c.A[order[i] * c.rows() + order[k]];
        other.b[i] = c.b[order[i]];
        other.base[i] = c.base[order[i]];
        other.mu_slip[i] = c.mu_slip[order[i]];
        other.mu_static[i] = c.mu_static[order[i]];
      }
      std::vector<double> first(decision.acceleration.begin(), decision.acceleration.end());
      const Decision again = decide(other.problem(), {}, workspace);
      ASSERT_TRUE(again.found());
      for (int i = 0; i < c.rows(); ++i)
        EXPECT_NEAR(again.acceleration[i], first[order[i]], 1e-9) << c.text();
    }
  }
  EXPECT_GT(sticking, 1000);
  EXPECT_GT(slipping, 1000);
}

// Small enough for a list, and forced to do without: the same verdicts and accelerations.
TEST(BoundedDecision, AgreesWithEnumeration) {
  std::mt19937_64 random(15);
  for (int repeat = 0; repeat < count(400); ++repeat) {
    const int joints = 2 + repeat % 4;
    const Case c = chain(random, joints, false, repeat % 2 == 0 ? 0.0 : 0.6);
    DecisionWorkspace workspace(0, c.tangents);
    const Decision listed = decide(c.problem(), {}, workspace);
    ASSERT_EQ(listed.verdict, Verdict::unique);
    const std::vector<double> expected(listed.acceleration.begin(), listed.acceleration.end());
    const Decision decision = decide(c.problem(), {.max_modes = 1}, workspace);
    ASSERT_TRUE(decision.found());
    // Where rule 1 has to go through all modes, the one with most sticking rows needs the list.
    if (decision.verdict == Verdict::found_unchecked) continue;
    for (int i = 0; i < c.rows(); ++i) EXPECT_NEAR(decision.acceleration[i], expected[i], 1e-8) << c.text();
  }
}

// A joint that has just reached its cone slips, in the direction of its pull, in a block of any size.
TEST(BoundedDecision, ARowThatMustNotStickSlipsTheWayItIsPulled) {
  for (const int joints : {4, 9, 40, 200}) {
    Case c;
    c.tangents = joints;
    c.A.assign(joints * joints, 0.0);
    c.b.assign(joints, 0.0);
    for (int i = 0; i < joints; ++i) {
      c.A[i * joints + i] = 2;
      if (i > 0) c.A[i * joints + i - 1] = c.A[(i - 1) * joints + i] = -1;
      c.base.push_back(1);
      c.mu_slip.push_back(1);
      c.mu_static.push_back(1);
      c.state.push_back(TangentState::rest);
    }
    // Reactions −1 at row 1 and 0.5 at all others hold everything.
    std::vector<double> force(joints, 0.5);
    force[1] = -1;
    for (int i = 0; i < joints; ++i) {
      for (int k = 0; k < joints; ++k) c.b[i] -= c.A[i * joints + k] * force[k];
    }
    std::vector<std::uint16_t> excluded(joints, 0);
    excluded[1] = bit(RowStatus::stick);
    DecisionProblem problem = c.problem();
    problem.excluded = excluded.data();
    DecisionWorkspace workspace(0, joints);
    const Decision decision = decide(problem, {}, workspace);
    ASSERT_TRUE(decision.found()) << joints;
    for (int i = 0; i < joints; ++i)
      EXPECT_EQ(decision.mode[i], i == 1 ? RowStatus::slip_plus : RowStatus::stick)
          << joints << ", row " << i;
    // Without the exclusion both statuses are offered.
    const Decision open = decide(c.problem(), {}, workspace);
    ASSERT_TRUE(open.found());
    if (joints > 8) {
      ASSERT_EQ(open.alternative.size(), static_cast<std::size_t>(joints));
      for (int i = 0; i < joints; ++i) {
        if (i == 1) {
          EXPECT_NE(open.alternative[i], open.mode[i]);
        } else {
          EXPECT_EQ(open.alternative[i], open.mode[i]);
        }
      }
    } else {
      EXPECT_EQ(open.candidates, 2);
    }
    const long before = allocations();
    static_cast<void>(decide(problem, {}, workspace));
    EXPECT_EQ(allocations(), before);
  }
}

// Contacts with friction that share one body: too many modes for a list, found by a search from the modes of the event.
TEST(IterativeDecision, ARowOnItsConeSlipsInABlockOfManyContacts) {
  std::mt19937_64 random(16);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int repeat = 0; repeat < count(40); ++repeat) {
    const int contacts = 7 + repeat % 6;
    const int freedom = 2 * contacts;
    // Rows nearly orthogonal: weak coupling through a random mass matrix.
    Eigen::MatrixXd L(freedom, freedom);
    for (int i = 0; i < freedom; ++i) {
      for (int k = 0; k < freedom; ++k) L(i, k) = 0.1 * unit(random) + (i == k ? 1 : 0);
    }
    const Eigen::MatrixXd A = L * L.transpose();
    Case c;
    c.normals = c.tangents = contacts;
    Eigen::VectorXd force(freedom);
    std::vector<std::uint16_t> excluded(freedom, 0);
    const int edge = repeat % contacts;
    for (int k = 0; k < contacts; ++k) {
      force(k) = 1 + 0.5 * unit(random);
      c.kind.push_back(NormalKind::unilateral);
      c.mu_slip.push_back(0.5);
      c.mu_static.push_back(0.5);
      c.base.push_back(0);
      c.state.push_back(TangentState::rest);
      for (int m = 0; m < contacts; ++m) c.coupling.push_back(m == k ? 1 : 0);
    }
    for (int k = 0; k < contacts; ++k) force(contacts + k) = 0.4 * unit(random) * force(k);
    force(contacts + edge) = (repeat % 2 == 0 ? 0.5 : -0.5) * force(edge);
    excluded[contacts + edge] = bit(RowStatus::stick);
    const Eigen::VectorXd b = -A * force;
    for (int i = 0; i < freedom; ++i) {
      for (int k = 0; k < freedom; ++k) c.A.push_back(A(i, k));
      c.b.push_back(b(i));
    }
    DecisionProblem problem = c.problem();
    problem.excluded = excluded.data();
    DecisionWorkspace workspace(contacts, contacts);
    const Decision decision = decide(problem, {}, workspace);
    ASSERT_EQ(decision.verdict, Verdict::found_unchecked) << c.text();
    for (int k = 0; k < contacts; ++k) {
      EXPECT_EQ(decision.mode[k], RowStatus::closed);
      EXPECT_EQ(decision.mode[contacts + k], k != edge         ? RowStatus::stick
                                             : repeat % 2 == 0 ? RowStatus::slip_minus
                                                               : RowStatus::slip_plus);
    }
  }
}

}  // namespace
}  // namespace judder::contact
