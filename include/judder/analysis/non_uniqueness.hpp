// Smooth loads under which a particle against a wall has two motions.
//
// The particle has mass 1, the wall is U > 0. Each load is C∞, vanishes with all derivatives at t = 0, and is a sum of bumps ϱ(s) = exp(1/(s(s − 1)))/Z on
// (0, 1), Z such that ∫ϱ = 1, in intervals that accumulate at 0. From U(0) = U̇(0) = 0:
//
//     elastic (e = 1)      Ü = F + R ; on [a_{n+1}, a_n] nothing for d_n, then a push F_n/2 ϱ. One motion rests, the other bounces at every a_n.
//     inelastic (e = 0)    Ü = F + R ; on [1/(n+1), 1/n] a pull −F_{1,n} ϱ of length d_{1,n}, and before the end a push F_{2,n} ϱ of length d_{2,n}.
//                          At every 1/n one motion is at rest on the wall and the other at −U_n with speed V_n; in every interval they change parts.
//     spring (e = 0)       the same for Ü + U = F + R, with d_{1,n}, d_{2,n}, F_{2,n} from roots.
//
// Uniqueness returns with analytic loads (contact_germ.hpp). The family is cut: members first ≤ n < last are kept, and the motions begin at the beginning of member
// last − 1. Members exist from n = 0 (elastic) and from n = 4 (others: d_{2,n} < 0 before). S. Basseville, thesis, Aix-Marseille II 2004, III.2 and III.3;
// O. Petcoviciu, thesis, Timișoara 2010, 3.4.
#pragma once

#include <vector>

#include "judder/analysis/measure_problem.hpp"

namespace judder::analysis {

/// The bump ϱ, its integral from 0, and the integral of that.
[[nodiscard]] double bump(double s);
[[nodiscard]] double bump_integral(double s);
[[nodiscard]] double bump_second_integral(double s);

enum class CounterExampleKind { elastic, inelastic, spring };

struct CounterExample {
  CounterExampleKind kind = CounterExampleKind::elastic;
  struct Member {
    int n = 0;
    double begin = 0, end = 0;
    double first_begin = 0, first_length = 0, first_load = 0;     ///< bump −F_{1,n}; elastic: none
    double second_begin = 0, second_length = 0, second_load = 0;  ///< bump F_{2,n}; elastic: F_n/2
    double speed = 0;     ///< at the end: V_n; elastic: 1/(n+3)! before the impact
    double position = 0;  ///< at the end: U_n; elastic: 0
  };
  std::vector<Member> members;  ///< by time: the last number first
  MeasureProblem problem;
  std::vector<CandidatePiece> one, other;  ///< elastic: the one at rest, the one that bounces
};

/// `last` numbers beyond the members kept; `dimension` 1, or more: the particle of Klarbring with K = 1, which needs the spring, no tangential load, and
/// friction μ that never acts. A kind without such members gives none: first is raised to 4 where it must be.
[[nodiscard]] CounterExample counter_example(CounterExampleKind kind, int first, int last,
                                             std::size_t dimension = 1, double friction = 0);

}  // namespace judder::analysis
