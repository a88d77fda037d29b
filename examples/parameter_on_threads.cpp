// One parameter over a range, the runs spread over threads: how long a ball bounces, by its restitution.
//
// A Model never changes, so threads share it. The restitution is left open: it belongs to each run, and the model is compiled once. Every run is the
// same whatever thread it is on, so the table does not depend on their number.
//
// The ball falls from 1 m, hits after T = √(2/g), and bounces for 2 T e/(1 − e) more: the last column is what is left of that.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "judder/judder.hpp"

constexpr const char* kBall = R"toml(
format = 1
[parameters]
g = 9.81
e = 0.5
[coordinates]
y = 1
[energy]
kinetic   = "y'^2/2"
potential = "g*y"
[[contact]]
name   = "floor"
gap    = "y"
impact = "e"
[run]
until = 20
)toml";

int main() {
  const judder::Model ball = judder::Model::from_text(kBall, {.open = {"e"}});
  if (!ball.ok()) {
    std::fputs(ball.problems().c_str(), stderr);
    return 3;
  }
  constexpr int kValues = 9;
  std::vector<double> rests(kValues, -1);  // one place per value: threads do not meet
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i = next++; i < kValues; i = next++) {
      const judder::Run run = ball.run({.parameters = {{"e", 0.1 * (i + 1)}}, .keep_rows = false});
      const std::vector<double> ends = run.times("accumulation", "floor");
      if (run.ok() && !ends.empty()) rests[static_cast<std::size_t>(i)] = ends.front();
    }
  };
  std::vector<std::thread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();

  const double fall = std::sqrt(2 / ball.parameter("g"));
  int wrong = 0;
  for (int i = 0; i < kValues; ++i) {
    const double e = 0.1 * (i + 1);
    const double rest = rests[static_cast<std::size_t>(i)];
    const double difference = rest - fall * (1 + 2 * e / (1 - e));
    std::printf("e = %.1f  comes to rest at %.9f s  (%.1e)\n", e, rest, difference);
    wrong += std::abs(difference) > 1e-6 ? 1 : 0;
  }
  return wrong == 0 ? 0 : 1;
}
