// Differential test against muParser, which shares no line with us.
#include <muParser.h>

#include "expr_support.hpp"

namespace judder::expr::test {
namespace {

TEST(MuParser, GivesTheSameValuesOnRandomFormulas) {
  for (int seed = 0; seed < count(20'000); ++seed) {
    Formulas formulas(static_cast<unsigned>(seed), true);
    const std::string text = formulas.make(4);
    const std::vector<double> at = formulas.point();
    double in[4] = {at[0], at[1], at[2], at[3]};
    mu::Parser parser;
    const char* const names[] = {"t", "x", "y", "z"};
    for (int i = 0; i < 4; ++i) parser.DefineVar(names[i], &in[i]);
    parser.DefineFun("log", static_cast<double (*)(double)>(std::log));
    parser.SetExpr(text);
    const double oracle = parser.Eval();
    Room room;
    const Node node = room.read(text);
    const double tree = room.graph.evaluate(node, at);
    const double program = run(room.program({node}), at)[0];
    if (!std::isfinite(oracle) || std::abs(oracle) > 1e12) continue;  // overflow on the way
    EXPECT_TRUE(near_relative(tree, oracle, 1e-9)) << "seed " << seed << ": " << text << "\n"
                                                   << tree << " against " << oracle;
    EXPECT_TRUE(near_relative(program, oracle, 1e-9)) << "seed " << seed << ": " << text << "\n"
                                                      << program << " against " << oracle;
  }
}

}  // namespace
}  // namespace judder::expr::test
