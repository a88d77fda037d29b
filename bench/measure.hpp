// Times and the table that every benchmark prints.
//
// Times are processor time of the thread: what others do on the same machine counts little. Works that are compared run in turn, a
// short while each, many rounds; the figure is the median of the rounds, and a ratio is the median of the ratios of single rounds, so
// that a slow spell of the machine falls on both sides.
//
// One line per comparison:   work, ours, peer, ratio, goal, met or not.
#pragma once

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace judder::bench {

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Keeps the compiler from leaving out what computes `value`.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// `call(n)` does the work n times.
using Repeat = std::function<void(long)>;

/// Seconds per call of each work, by round.
class Rounds {
 public:
  Rounds(const std::vector<Repeat>& works, int rounds, double seconds_per_round = 2e-3)
      : seconds_(works.size()) {
    std::vector<long> calls;
    for (const Repeat& work : works) {
      long n = 1;
      for (double spent = 0; spent < seconds_per_round; n *= 2) {
        const double begin = processor_seconds();
        work(n);
        spent = processor_seconds() - begin;
        if (spent >= seconds_per_round) break;
      }
      calls.push_back(n);
    }
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t w = 0; w < works.size(); ++w) {
        const double begin = processor_seconds();
        works[w](calls[w]);
        seconds_[w].push_back((processor_seconds() - begin) / static_cast<double>(calls[w]));
      }
    }
  }
  [[nodiscard]] double seconds(std::size_t work) const { return median(seconds_[work]); }
  /// Of two works in the same round.
  [[nodiscard]] double ratio(std::size_t a, std::size_t b) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < seconds_[a].size(); ++i) out.push_back(seconds_[a][i] / seconds_[b][i]);
    return median(out);
  }

 private:
  std::vector<std::vector<double>> seconds_;
};

/// "31.2 ns", "98 us", "5.1 ms".
inline std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-6) {
    std::snprintf(text, sizeof text, "%.1f ns", seconds * 1e9);
  } else if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  }
  return text;
}

inline void heading() {
  std::printf("  %-44s %12s   %-22s %9s  %-10s\n", "work", "ours", "peer", "ratio", "goal");
}

/// `at_most`: the ratio is to be at most the goal, otherwise at least.
inline void line(const std::string& work, double ours, const std::string& peer, double peer_seconds,
                 double ratio, double goal, bool at_most) {
  const bool met = at_most ? ratio <= goal : ratio >= goal;
  std::printf("  %-44s %12s   %-10s %11s %9.3g  %s %-7g %s\n", work.c_str(), time_text(ours).c_str(),
              peer.c_str(), time_text(peer_seconds).c_str(), ratio, at_most ? "<=" : ">=", goal,
              met ? "met" : "not met");
  std::fflush(stdout);
}

/// A figure without a peer.
inline void figure(const std::string& work, double ours, const std::string& text) {
  std::printf("  %-44s %12s   %s\n", work.c_str(), time_text(ours).c_str(), text.c_str());
  std::fflush(stdout);
}

/// A figure with a goal of its own.
inline void limit(const std::string& work, double ours, double goal) {
  std::printf("  %-44s %12s   <= %-10s %s\n", work.c_str(), time_text(ours).c_str(), time_text(goal).c_str(),
              ours <= goal ? "met" : "not met");
  std::fflush(stdout);
}

/// How a time grows with a number n, and the most that it may.
inline void power(const std::string& work, double ours, double goal) {
  char text[2][16];
  std::snprintf(text[0], sizeof text[0], "n^%.2f", ours);
  std::snprintf(text[1], sizeof text[1], "n^%.2f", goal);
  std::printf("  %-44s %12s   <= %-10s %s\n", work.c_str(), text[0], text[1],
              ours <= goal ? "met" : "not met");
  std::fflush(stdout);
}

}  // namespace judder::bench
