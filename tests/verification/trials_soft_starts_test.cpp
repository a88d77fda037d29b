// Contacts and joints that are left softly: the first derivative that moves them is of an order which the polynomial of a step may not carry.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "run_model.hpp"

namespace judder {
namespace {

/// A body of one kilogram rests in a contact or moves with a joint's slip from zero under a force that begins like a power of the time.
std::string pushed(const std::string& force, double start) {
  const std::string at = std::to_string(start);
  return "[coordinates]\nx = " + at +
         "\ny = 0\n[energy]\nkinetic = \"x'^2/2 + 3*y'^2/2\"\npotential = \"y\"\n[[force]]\nalong = "
         "\"x'\"\n" +
         "value = \"" + force + "\"\n[[contact]]\nname = \"stop\"\ngap = \"x - " + at +
         "\"\n[run]\nuntil = 4\n";
}

// x'' = t^p: x = t^(p + 2)/((p + 1)(p + 2)).
TEST(SoftStarts, AContactUnderAPowerOfTimeOpensAtOnce) {
  for (const int power : {1, 2, 3, 4, 5, 6, 8}) {
    for (const double start : {0.0, 5.0}) {
      TestModel model = text_model(pushed("t^" + std::to_string(power), start));
      for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-11}) {
        model.options.tolerance = tolerance;
        const engines::EngineResult end = run_to_end(model);
        ASSERT_EQ(end.status.reason, Reason::done)
            << power << " at " << tolerance << ": " << end.status.message;
        const double x = std::pow(4.0, power + 2) / ((power + 1) * (power + 2));
        EXPECT_NEAR(end.end.y[0] - start, x, 100 * tolerance * x) << power << " at " << tolerance;
        EXPECT_LT(end.steps, 1000) << power << " at " << tolerance;
      }
    }
  }
}

// The same by what another body has moved: y = −t²/6, x'' = 3 |y|^p.
TEST(SoftStarts, AContactUnderAPowerOfAnotherPlaceOpensAtOnce) {
  for (const int power : {1, 2, 3, 4, 5}) {
    TestModel model = text_model(pushed("3*abs(y)^" + std::to_string(power), 0));
    for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10}) {
      model.options.tolerance = tolerance;
      const engines::EngineResult end = run_to_end(model);
      ASSERT_EQ(end.status.reason, Reason::done)
          << power << " at " << tolerance << ": " << end.status.message;
      const double x =
          3 * std::pow(1.0 / 6, power) * std::pow(4.0, 2 * power + 2) / ((2 * power + 1) * (2 * power + 2));
      EXPECT_NEAR(end.end.y[0], x, 100 * tolerance * x) << power << " at " << tolerance;
    }
  }
}

}  // namespace
}  // namespace judder
