// What a program can be while its inputs are known to an interval.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engines/enclosure.hpp"
#include "run_model.hpp"

namespace judder::engines {
namespace {

TEST(Enclosure, HoldsEveryValueBetweenTheEnds) {
  const TestModel model = mass_under("sin(t)*x - exp(-x')/(1 + t^2)");
  const expr::Program& program = model.system.motion_program();
  Enclosure enclosure;
  std::vector<double> in(model.system.layout().size() + 1, 0.0);
  enclosure.take(in);
  enclosure.set(0, 0.2, 1.4);
  enclosure.set(1, -0.5, 0.25);
  enclosure.set(2, -1, 2);
  enclosure.evaluate(program);
  ASSERT_LT(enclosure.low(0), enclosure.high(0));
  std::vector<double> out(program.outputs());
  std::vector<double> registers(program.registers());
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int trial = 0; trial < 1000; ++trial) {
    in[0] = between(0.2, 1.4);
    in[1] = between(-0.5, 0.25);
    in[2] = between(-1, 2);
    program.evaluate(in.data(), out.data(), registers.data());
    EXPECT_GE(out[0], enclosure.low(0));
    EXPECT_LE(out[0], enclosure.high(0));
  }
}

TEST(Enclosure, OfBlurredInputsBoundsTheRounding) {
  const TestModel model = mass_under("(x - 1e6)*exp(-t)");
  Enclosure enclosure;
  std::vector<double> in(model.system.layout().size() + 1, 0.0);
  in[1] = 1e6;
  enclosure.take(in);
  enclosure.evaluate(model.system.motion_program());
  const double exact = enclosure.width(0);
  enclosure.blur(0, 3);
  enclosure.evaluate(model.system.motion_program());
  EXPECT_GE(enclosure.width(0), 1e6 * 0x1p-52);
  EXPECT_GT(enclosure.width(0), exact);
}

TEST(Enclosure, IsNoWiderForASideThatIsExact) {
  const TestModel model = mass_under("if(x > 0, 1e9, -1e9)");
  Enclosure enclosure;
  std::vector<double> in(model.system.layout().size() + 1, 0.0);
  in[1] = 0.5;
  in[model.system.layout().side()] = 1;
  enclosure.take(in);
  enclosure.blur(0, model.system.layout().side());
  enclosure.evaluate(model.system.motion_program());
  EXPECT_EQ(enclosure.width(0), 0);
  EXPECT_EQ(enclosure.low(0), 1e9);
}

TEST(Enclosure, OfWhatIsNotFiniteHasNoWidth) {
  const TestModel model = mass_under("1/(x + 1)");
  Enclosure enclosure;
  enclosure.take(std::vector<double>(model.system.layout().size() + 1, 0.0));
  enclosure.set(1, -2, 1);
  enclosure.evaluate(model.system.motion_program());
  EXPECT_EQ(enclosure.width(0), 0);
  EXPECT_FALSE(std::isfinite(enclosure.high(0) - enclosure.low(0)));
}

}  // namespace
}  // namespace judder::engines
