// The bouncing ball of `run_bench` as its peer computes it: Siconos, EventDriven with LsodarOSI, the same samples kept in memory.
//
//     siconos_ball RUNS      prints the median of the processor seconds of RUNS runs, the number of impacts and the largest error
//                            of an impact time
//
// Construction of the model is not timed; every run integrates a model of its own.
#include <SiconosKernel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr double kGravity = 9.81, kRestitution = 0.9, kHeight = 1, kUntil = 8.5, kEvery = 0.005;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Run {
  double seconds = 0;
  std::vector<double> rows;  ///< t, q, v, impulse
  std::vector<double> impacts;
};

Run run() {
  auto q = std::make_shared<SiconosVector>(1);
  auto v = std::make_shared<SiconosVector>(1);
  (*q)(0) = kHeight;
  auto mass = std::make_shared<SimpleMatrix>(1, 1);
  (*mass)(0, 0) = 1;
  auto ball = std::make_shared<LagrangianLinearTIDS>(q, v, mass);
  auto weight = std::make_shared<SiconosVector>(1);
  (*weight)(0) = -kGravity;
  ball->setFExtPtr(weight);
  auto gap = std::make_shared<SimpleMatrix>(1, 1);
  (*gap)(0, 0) = 1;
  auto contact = std::make_shared<Interaction>(std::make_shared<NewtonImpactNSL>(kRestitution),
                                               std::make_shared<LagrangianLinearTIR>(gap));
  auto model = std::make_shared<NonSmoothDynamicalSystem>(0., kUntil);
  model->insertDynamicalSystem(ball);
  model->link(contact, ball);
  auto simulation = std::make_shared<EventDriven>(model, std::make_shared<TimeDiscretisation>(0., kEvery));
  simulation->insertIntegrator(std::make_shared<LsodarOSI>());
  simulation->insertNonSmoothProblem(std::make_shared<LCP>(), SICONOS_OSNSP_ED_IMPACT);
  simulation->insertNonSmoothProblem(std::make_shared<LCP>(), SICONOS_OSNSP_ED_SMOOTH_ACC);

  Run out;
  out.rows.reserve(4 * 2000);
  const auto row = [&](double t, double position, double velocity, double impulse) {
    for (const double value : {t, position, velocity, impulse}) out.rows.push_back(value);
  };
  const double begin = processor_seconds();
  const auto events = simulation->eventsManager();
  const auto position = ball->q();
  const auto velocity = ball->velocity();
  row(0, (*position)(0), (*velocity)(0), 0);
  while (simulation->hasNextEvent()) {
    simulation->advanceToEvent();
    const bool impact = events->nextEvent()->getType() == NS_EVENT;
    if (impact) row(simulation->nextTime(), (*position)(0), (*velocity)(0), 0);
    simulation->processEvents();
    const double t = simulation->startingTime();
    if (impact) out.impacts.push_back(t);
    row(t, (*position)(0), (*velocity)(0), (*ball->p(1))(0));
  }
  out.seconds = processor_seconds() - begin;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  std::vector<double> seconds;
  Run last;
  for (int i = 0; i < runs; ++i) {
    last = run();
    seconds.push_back(last.seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  double error = 0;
  double exact = std::sqrt(2 * kHeight / kGravity);
  double flight = 2 * exact;
  for (const double t : last.impacts) {
    error = std::max(error, std::abs(t - exact));
    flight *= kRestitution;
    exact += flight;
  }
  std::printf("%.9g %zu %.2e\n", seconds[seconds.size() / 2], last.impacts.size(), error);
}
