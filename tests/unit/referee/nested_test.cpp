// Stories that read a nested switch on one side only, or at rest as if a law had one limit for both directions: the equations of motion hold in the mode
// that they tell, and the referee must still notice.
#include <gtest/gtest.h>

#include <string>

#include "story.hpp"

namespace judder {
namespace {

bool found(const Verdict& verdict, const std::string& law) {
  for (const Finding& finding : verdict.findings) {
    if (finding.law == law) return true;
  }
  return false;
}

// x slides at 0.3 from t = 0.8 on, one third of the time above.
constexpr const char* kSlide = "[state]\nx = { start = -0.1, rate = \"if(x > 0.3, -1, 0.5)\" }\n";

TEST(NestedStories, ARateOfOneSideOnlyIsNoticed) {
  const TestModel model = text_model(
      std::string(kSlide) + "y = { start = 0, rate = \"sign(sign(x - 0.3) + 0.2)\" }\n[run]\nuntil = 2\n");
  Story story = record(model);
  ASSERT_TRUE(judge(model, story).silent()) << words(judge(model, story));
  for (Told& told : story) {
    if (told.time < 0.9) continue;
    told.rate[1] = -1;
    told.z[1] = -told.time;
  }
  EXPECT_TRUE(found(judge(model, story), "rate")) << words(judge(model, story));
}

TEST(NestedStories, ACoefficientOfOneSideOnlyIsNoticed) {
  const TestModel model = text_model(
      std::string(kSlide) +
      "[coordinates]\nq = { start = 0, velocity = 2 }\n[energy]\nkinetic = \"q'^2/2\"\n[[friction]]\nname = "
      "\"j\"\nslip = \"q'\"\nnormal = 1\nlaw = \"if(step(x - 0.3) > 0.5, 0.9, 0.3)\"\n[run]\nuntil = 2\n");
  Story story = record(model);
  ASSERT_TRUE(judge(model, story).silent()) << words(judge(model, story));
  for (Told& told : story) {
    if (told.time > 0.9) told.tangential_force[0] = told.acceleration[0] = -0.3;
  }
  EXPECT_TRUE(found(judge(model, story), "friction")) << words(judge(model, story));
}

// sign(floor(w)) is sign(0) = 0 for 0 ≤ w < 1, and sign(max(x, 0)) for x < 0: no side of theirs is right.
TEST(NestedStories, ASideOfWhatIsZeroEverywhereIsNoticed) {
  for (const char* rate : {"sign(floor(w))", "sign(max(w - 2, 0))"}) {
    const TestModel model =
        text_model(std::string("[state]\nw = { start = 0.2, rate = 1 }\ny = { start = 0, rate = \"") + rate +
                   "\" }\n[run]\nuntil = 0.7\n");
    Story story = record(model);
    ASSERT_TRUE(judge(model, story).silent()) << rate << '\n' << words(judge(model, story));
    for (Told& told : story) {
      told.side.back() = 0;
      told.surface.back() = referee::Surface::away;
      told.rate[1] = -1;
      told.z[1] = -told.time;
    }
    EXPECT_TRUE(found(judge(model, story), "side")) << rate << '\n' << words(judge(model, story));
  }
}

// A body that rests under −0.3 sin t with the limit 0.5 of a slip backwards must let go where the load turns: forwards the limit is 0.1.
TEST(NestedStories, TheLimitOfTheOtherDirectionIsNoticed) {
  const auto with = [](const std::string& law) {
    return text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
        "\"-0.3*sin(t)\"\n[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = \"" +
        law + "\"\n[run]\nuntil = 6\n");
  };
  Story story = record(with("0.5"));
  for (const char* law : {"if(x' >= 0, 0.1, 0.5)", "abs(0.2 - 0.3*sign(x'))"}) {
    const TestModel model = with(law);
    const std::size_t switches = model.system.switches().size();
    for (Told& told : story) {
      told.side.assign(switches, 0);
      told.surface.assign(switches, referee::Surface::away);
      told.surface[0] = referee::Surface::held;
      if (switches > 1) told.side[1] = 1;  // 0.2 + 0.3
    }
    const Verdict verdict = judge(model, story);
    EXPECT_TRUE(found(verdict, "cone")) << law << '\n' << words(verdict);
    for (const Finding& finding : verdict.findings) EXPECT_GT(finding.time, 3.48) << finding.law;
  }
}

// A body that lets go at 0.5 where its law holds 0.8: every force before and after is right, only the moment is not.
TEST(Stories, ASlipThatBeginsTooEarlyIsNoticed) {
  const auto with = [](const std::string& law) {
    return text_model(
        "[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\nalong = \"x'\"\nvalue = "
        "\"t\"\n[[friction]]\nname = \"j\"\nslip = \"x'\"\nnormal = 1\nlaw = " +
        law + "\n[run]\nuntil = 2\n");
  };
  const Story story = record(with("{ static = 0.5, dynamic = 0.2 }"));
  EXPECT_TRUE(judge(with("{ static = 0.5, dynamic = 0.2 }"), story).silent());
  const Verdict verdict = judge(with("{ static = 0.8, dynamic = 0.2 }"), story);
  ASSERT_TRUE(found(verdict, "release")) << words(verdict);
  EXPECT_NEAR(verdict.findings.front().time, 0.5, 1e-6);
}

}  // namespace
}  // namespace judder
