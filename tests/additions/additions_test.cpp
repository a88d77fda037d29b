// The program with a friction law `tanh`, an impact law `square`, an engine `glide` and a verb `count` that it does not come with (CMakeLists.txt).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "program.hpp"

namespace judder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Additions : public ProgramTest {
 protected:
  /// The last value of a column of a run folder.
  [[nodiscard]] double last(const std::string& run, const std::string& column) const {
    const std::string table = contents(folder_ / run / "trajectory.csv");
    const auto cell = [](const std::string& line, std::size_t number) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < number; ++i) at = line.find(',', at) + 1;
      return line.substr(at, line.find_first_of(",\r\n", at) - at);
    };
    const std::string head = table.substr(0, table.find('\n'));
    std::size_t number = 0;
    while (cell(head, number) != column && number < 20) ++number;
    const std::size_t end = table.find_last_not_of("\r\n");
    return std::stod(cell(table.substr(table.rfind('\n', end) + 1), number));
  }
};

/// The paths in backticks that begin the points of the list behind "**… WHAT.**".
std::set<std::string> listed_files(const std::string& what, const std::string& name) {
  const std::string page = contents(JUDDER_SOURCE_DIR "/docs/architecture.md");
  const std::size_t begin = page.find("**… " + what + ".**");
  std::set<std::string> out;
  if (begin == std::string::npos) return out;
  std::size_t at = page.find("\n- `", begin);
  while (at != std::string::npos && page.compare(at, 4, "\n- `") == 0) {
    const std::size_t line_end = page.find('\n', at + 1);
    const std::string paths = page.substr(at, page.find(':', at) - at);
    for (std::size_t tick = paths.find('`'); tick != std::string::npos;) {
      const std::size_t close = paths.find('`', tick + 1);
      std::string path = paths.substr(tick + 1, close - tick - 1);
      if (const std::size_t hole = path.find("NAME"); hole != std::string::npos) path.replace(hole, 4, name);
      out.insert(path);
      tick = paths.find('`', close + 1);
    }
    at = line_end;
  }
  return out;
}

/// The files that an addition of this room brings or changes.
std::set<std::string> added_files(const std::string& folder) {
  std::set<std::string> out;
  for (const char* kind : {"files", "rows"}) {
    const fs::path root = fs::path(JUDDER_SOURCE_DIR "/tests/additions") / folder / kind;
    if (!fs::exists(root)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      std::string path = entry.path().lexically_relative(root).string();
      if (path.ends_with(".rows")) path.resize(path.size() - 5);
      out.insert(path);
    }
  }
  return out;
}

TEST_F(Additions, AreMadeByTheFilesThatTheArchitectureLists) {
  EXPECT_EQ(added_files("friction-law"), listed_files("a friction law", "tanh"));
  EXPECT_EQ(added_files("impact-law"), listed_files("an impact law", "square"));
  EXPECT_EQ(added_files("engine"), listed_files("an engine", "glide"));
  EXPECT_EQ(added_files("verb"), listed_files("a verb", "count"));
  EXPECT_EQ(added_files("friction-law").size(), 2U);
  EXPECT_EQ(added_files("verb").size(), 4U);
}

// m v' = −μ N tanh(β v) has sinh(β v) = sinh(β v₀) exp(−μ N β t/m).
TEST_F(Additions, AFrictionLawIsReadCheckedRunAndDrawn) {
  write("slide.toml", R"(format = 1
[coordinates]
x = { start = 0, velocity = 2 }
[energy]
kinetic = "0.5*x'^2"
[[friction]]
name = "pad"
slip = "x'"
normal = "1"
law = { type = "tanh", mu = 0.8, beta = 3 }
[run]
until = 2
)");
  EXPECT_EQ(run("check slide.toml").code, 0);
  const Outcome outcome = run("run slide.toml -o moved");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(last("moved", "x'"), std::asinh(std::sinh(6.0) * std::exp(-0.8 * 3 * 2)) / 3, 1e-8);
  ASSERT_EQ(run("plot --law slide.toml -o figures").code, 0);
  EXPECT_FALSE(fs::is_empty(folder_ / "figures"));
  EXPECT_NE(run("schema").out.find("\"tanh\""), std::string::npos);

  write("slide.toml",
        "format = 1\n[coordinates]\nx = 0\n[energy]\nkinetic = \"x'^2\"\n"
        "[[friction]]\nname = \"pad\"\nslip = \"x'\"\nnormal = 1\nlaw = { type = \"tanh\", mu = 0.8 }\n");
  const Outcome without = run("check slide.toml");
  EXPECT_EQ(without.code, 3);
  EXPECT_NE(without.err.find("law has no 'beta'"), std::string::npos) << without.err;
}

// An impact has Coulomb's law with the coefficient μ tanh(β |γ|): the body lands with speed 1 and slips on.
TEST_F(Additions, AFrictionLawHoldsInAnImpact) {
  write("land.toml", R"(format = 1
[coordinates]
x = { start = 0, velocity = 2 }
y = { start = 1, velocity = -1 }
[energy]
kinetic = "0.5*x'^2 + 0.5*y'^2"
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
friction = { type = "tanh", mu = 0.8, beta = 0.3 }
impact = 0
[run]
until = 2
)");
  const Outcome outcome = run("run land.toml -o moved");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(last("moved", "x'"), 2 - 0.8 * std::tanh(0.6), 1e-9);
}

// Without friction the velocity after is that of the impulse: e² of the velocity before.
TEST_F(Additions, AnImpactLawIsReadRunAndCompared) {
  write("ball.toml", R"(format = 1
[coordinates]
y = { start = 1, velocity = -3 }
[energy]
kinetic = "0.5*y'^2"
[[contact]]
name = "floor"
gap = "y"
impact = { type = "square", restitution = 0.6 }
[run]
until = 1
)");
  EXPECT_EQ(run("check ball.toml").code, 0);
  const Outcome outcome = run("run ball.toml -o moved");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NEAR(last("moved", "y'"), 3 * 0.36, 1e-12);
  ASSERT_EQ(run("run ball.toml --law poisson -o other").code, 0);
  EXPECT_NEAR(last("other", "y'"), 3 * 0.6, 1e-12);
  std::string struck = contents(folder_ / "ball.toml");
  struck.replace(struck.find("start = 1"), 9, "start = 0");
  write("struck.toml", struck);
  const Outcome laws = run("impact struck.toml --json");
  ASSERT_EQ(laws.code, 0) << laws.err;
  EXPECT_NE(laws.out.find("\"square\""), std::string::npos) << laws.out;
  EXPECT_NE(run("schema").out.find("\"square\""), std::string::npos);
}

// x'' = −x from x = 1: the error at 1 falls with the order of the method.
TEST_F(Additions, AnEngineIsNamedCheckedRunAndHasItsOptions) {
  write("swing.toml", R"(format = 1
[coordinates]
x = 1
[energy]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[run]
until = 1
[output]
samples = 2
[run.glide]
order = "2"
)");
  EXPECT_EQ(run("check swing.toml --engine glide").code, 0);
  const auto error = [&](const std::string& step) {
    const Outcome outcome = run("run swing.toml --engine glide --step " + step + " -o moved");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(json::parse(contents(folder_ / "moved/run.json"))["engine"], "glide");
    return std::abs(last("moved", "x") - std::cos(1.0));
  };
  EXPECT_NEAR(error("0.01") / error("0.005"), 4, 0.1);
  const std::string model = contents(folder_ / "swing.toml");
  write("swing.toml", model.substr(0, model.find("\"2\"")) + "\"1\"\n");
  EXPECT_NEAR(error("0.01") / error("0.005"), 2, 0.1);
  write("swing.toml", model.substr(0, model.find("\"2\"")) + "\"3\"\n");
  EXPECT_EQ(run("check swing.toml").code, 3);
  EXPECT_NE(
      run("run " + gallery_ + "press/model.toml --engine glide --no-output").err.find("without contacts"),
      std::string::npos);
  EXPECT_NE(run("schema --reference").out.find("glide"), std::string::npos);
}

TEST_F(Additions, AVerbIsListedExplainedCompletedAndRun) {
  EXPECT_NE(run("--help").out.find("counts the coordinates of a model"), std::string::npos);
  EXPECT_NE(run("help count").out.find("judder count press.toml"), std::string::npos);
  EXPECT_NE(run("completion bash").out.find("count"), std::string::npos);
  EXPECT_EQ(run("count " + gallery_ + "press/model.toml").out, "3 coordinates\n");
  EXPECT_EQ(run("count").code, 2);
  EXPECT_EQ(run("count none.toml").code, 5);
}

}  // namespace
}  // namespace judder
