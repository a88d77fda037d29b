// The woodpecker of the gallery as its peer computes it: Siconos, TimeStepping with MoreauJeanOSI (theta 0.5), planar friction by NSGS.
//
//     siconos_woodpecker RUNS [STEP [PHIM]]     prints the median of the processor seconds per step of RUNS runs of 0.3 s, and y, phiM, phiS, y' at the end of
//                                               the last step before 0.3 s; PHIM: the start of phiM
//
// Construction of the model is not timed, nothing is written while it runs.
#include <SiconosKernel.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr double r0 = 0.0025, rM = 0.0031, hM = 0.0058, lM = 0.010, lG = 0.015, hS = 0.02, lS = 0.0201,
                 mM = 3e-4, mS = 4.5e-3, JM = 5e-9, JS = 7e-7, c = 0.0056, g = 9.81, mu = 0.3, kUntil = 0.3;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::shared_ptr<SimpleMatrix> matrix(int rows, const std::vector<double>& values) {
  auto out = std::make_shared<SimpleMatrix>(rows, 3);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 3; ++j) (*out)(i, j) = values[static_cast<std::size_t>(3 * i + j)];
  }
  return out;
}

struct Run {
  double seconds = 0, per_step = 0;
  double y = 0, phiM = 0, phiS = 0, vy = 0, t = 0;
};

Run run(double step, double start) {
  auto q = std::make_shared<SiconosVector>(3);
  auto v = std::make_shared<SiconosVector>(3);
  (*q)(0) = 0;
  (*q)(1) = start;
  (*q)(2) = -0.2788;
  (*v)(0) = -0.3411;
  (*v)(1) = 0;
  (*v)(2) = -7.4583;
  auto bird = std::make_shared<LagrangianLinearTIDS>(
      q, v,
      matrix(3, {mM + mS, mS * lM, mS * lG, mS * lM, JM + mS * lM * lM, mS * lM * lG, mS * lG, mS * lM * lG,
                 JS + mS * lG * lG}));
  bird->setKPtr(matrix(3, {0, 0, 0, 0, c, -c, 0, -c, c}));
  auto force = std::make_shared<SiconosVector>(3);
  (*force)(0) = -g * (mM + mS);
  (*force)(1) = -g * mS * lM;
  (*force)(2) = -g * mS * lG;
  bird->setFExtPtr(force);
  auto model = std::make_shared<NonSmoothDynamicalSystem>(0., kUntil);
  model->insertDynamicalSystem(bird);
  const auto contact = [&](const std::vector<double>& rows, double clearance, double e) {
    auto offset = std::make_shared<SiconosVector>(2);
    (*offset)(0) = clearance;
    (*offset)(1) = 0;
    model->link(std::make_shared<Interaction>(std::make_shared<NewtonImpactFrictionNSL>(e, 0., mu, 2),
                                              std::make_shared<LagrangianLinearTIR>(matrix(2, rows), offset)),
                bird);
  };
  contact({0, 0, -hS, 1, lM, lG - lS}, lM + lG - lS - r0, 0.5);
  contact({0, hM, 0, 1, rM, 0}, rM - r0, 0);
  contact({0, -hM, 0, 1, rM, 0}, rM - r0, 0);
  auto simulation = std::make_shared<TimeStepping>(model, std::make_shared<TimeDiscretisation>(0., step),
                                                   std::make_shared<MoreauJeanOSI>(0.5),
                                                   std::make_shared<FrictionContact>(2));
  simulation->setNewtonOptions(SICONOS_TS_LINEAR);
  const long steps = static_cast<long>(kUntil / step) - 1;
  Run out;
  const double begin = processor_seconds();
  for (long k = 0; k < steps && simulation->hasNextEvent(); ++k) {
    simulation->computeOneStep();
    simulation->nextStep();
  }
  out.seconds = processor_seconds() - begin;
  out.per_step = out.seconds / static_cast<double>(steps);
  out.t = simulation->startingTime();
  out.y = (*bird->q())(0);
  out.phiM = (*bird->q())(1);
  out.phiS = (*bird->q())(2);
  out.vy = (*bird->velocity())(0);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
  const double step = argc > 2 ? std::atof(argv[2]) : 2e-5;
  const double start = argc > 3 ? std::atof(argv[3]) : -(rM - r0) / hM;
  std::vector<double> seconds;
  Run last;
  for (int i = 0; i < runs; ++i) {
    last = run(step, start);
    seconds.push_back(last.per_step);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  std::printf("%.9g %.9g %.12g %.12g %.12g %.12g\n", seconds[seconds.size() / 2], last.t, last.y, last.phiM,
              last.phiS, last.vy);
  return 0;
}
