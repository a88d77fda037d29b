// Models in which a law of mechanics was once found broken: limits of friction that depend on the direction of slip while the row follows a belt, reactions that
// are not unique beside laws that need them, loads that begin at zero more softly than any power of time. The right values are closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {
namespace {

// A belt 0.5 sin(1.4 t) carries a mass against a spring: friction is 0.7 cos(1.4 t) + 4 x with x = 0.1 + (0.5/1.4)(1 - cos(1.4 t)), and 1.8 backwards is the limit. How exactly
// the mass follows the belt is a matter of the tolerance, and no reason for its law to change sides.
TEST(Laws, DependOnTheDirectionOfSlipWhileABeltIsFollowed) {
  TestModel model = text_model(R"toml(
[coordinates]
x = 0.1
[energy]
kinetic = "x'^2/2"
potential = "2*x^2"
[[friction]]
name = "belt"
slip = "x' - 0.5*sin(1.4*t)"
normal = 3
law = "if(0 < x' - 0.5*sin(1.4*t), 0.9, 0.6)"
[run]
until = 1.5
)toml");
  const double reach = 4 * 0.5 / 1.4;
  const double right = std::acos((0.4 + reach - 1.8) / (reach - 0.7)) / 1.4;
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-11}) {
    model.options.tolerance = tolerance;
    const Outcome out = outcome_of(model, "event");
    ASSERT_EQ(out.words, std::vector<std::string>{"slip belt"}) << tolerance;
    EXPECT_NEAR(out.times[0], right, 100 * tolerance);
  }
}

}  // namespace
}  // namespace judder
