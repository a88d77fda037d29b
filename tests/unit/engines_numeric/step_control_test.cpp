#include "engines/numeric/step_control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace judder::engines::numeric {
namespace {

TEST(StepController, FindsTheStepAtWhichTheErrorIsTheTolerance) {
  for (const StepControlOptions& options : {order5_control(), order8_control(), radau_control()}) {
    StepController controller(options);
    // err = (h/h*)^k: the controller must settle a safety margin below h* = 1, from far above and far below.
    for (double start : {1e-3, 1e3}) {
      controller.restart();
      double h = start;
      int steps = 0;
      double error = 0;
      for (; steps < 60; ++steps) {
        error = std::pow(h, options.power);
        h *= StepController::accepts(error) ? controller.after_accepted(error)
                                            : controller.after_rejected(error);
      }
      EXPECT_LE(error, 1) << "power " << options.power;
      EXPECT_GT(h, 0.6) << "power " << options.power;
    }
  }
}

TEST(StepController, ShrinksAfterARejectionAndDoesNotGrowInTheNextStep) {
  StepController controller(order5_control());
  EXPECT_LT(controller.after_rejected(1.0001), 1);
  EXPECT_LT(controller.after_rejected(30), controller.after_rejected(3));
  EXPECT_EQ(controller.after_rejected(std::numeric_limits<double>::infinity()), order5_control().shrink);
  EXPECT_EQ(controller.after_rejected(std::numeric_limits<double>::quiet_NaN()), order5_control().shrink);
  EXPECT_EQ(controller.after_accepted(1e-8), 1);
  EXPECT_GT(controller.after_accepted(1e-8), 1);
}

TEST(StepController, AnErrorOfZeroGrowsAsFarAsAllowed) {
  StepController controller(order8_control());
  EXPECT_EQ(controller.after_accepted(0), order8_control().grow);
}

TEST(StepController, KeepsTheStepWhereAFactorisationCanServeAgain) {
  StepController controller(radau_control());
  const double slightly_better = std::pow(0.9 / 1.1, 1 / (1 / 4.0 - 0.75 * 0.04));  // would allow 1.1 h
  EXPECT_EQ(controller.after_accepted(slightly_better), 1);
  EXPECT_GT(controller.after_accepted(slightly_better / 3), 1.2);
}

TEST(StiffnessMonitor, NeedsManyStiffStepsAndForgivesAfterCalmOnes) {
  StiffnessMonitor monitor;
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(monitor.explicit_step(1.5));
  EXPECT_TRUE(monitor.explicit_step(1.5));
  monitor.restart();
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 14; ++i) EXPECT_FALSE(monitor.explicit_step(1.5));
    for (int i = 0; i < 6; ++i) EXPECT_FALSE(monitor.explicit_step(0.3));
  }
  monitor.restart();
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(monitor.explicit_step(1.5));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(monitor.explicit_step(0.3));
  EXPECT_TRUE(monitor.explicit_step(1.5));
}

TEST(StiffnessMonitor, ReturnsToTheExplicitMethodAfterLongCalm) {
  StiffnessMonitor monitor;
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(monitor.implicit_step(0.1));
  EXPECT_FALSE(monitor.implicit_step(0.9));
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(monitor.implicit_step(0.1));
  EXPECT_TRUE(monitor.implicit_step(0.1));
}

}  // namespace
}  // namespace judder::engines::numeric
