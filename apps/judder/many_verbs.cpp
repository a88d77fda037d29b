#include "many_verbs.hpp"

#include "many.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

std::vector<Option> with_table(std::vector<Option> more) {
  std::vector<Option> out = many_options(
      {{.name = "--until", .value = "T", .doc = "end time of each run, also by parameters: 20*pi/om"},
       {.name = "--resume", .value = "", .doc = "go on with what was interrupted or killed"}});
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

Verb sweep_verb() {
  return {.name = "sweep",
          .purpose = "runs a model over many values, into one table",
          .positionals = many_positionals("NAME=VALUES", "om=0.6:1.6:200, mu=0.1,0.2; with --random mu=0:1"),
          .options = with_table(
              {{.name = "--collect",
                .value = "LIST",
                .doc = "what to keep: \"max(N), rms(x'), count(impact wall), period\""},
               {.name = "--after", .value = "T", .doc = "collect from this time on"},
               {.name = "--variants", .value = "LIST", .doc = "variants to go over, or all"},
               {.name = "--table",
                .value = "FILE",
                .doc = "CSV with one row for each run",
                .completes = Completes::file},
               {.name = "--random", .value = "N", .doc = "so many random values in the ranges"},
               {.name = "--seed", .value = "S", .doc = "of --random (default: 1)"},
               {.name = "--folders",
                .value = "DIR",
                .doc = "a run folder for each run as well",
                .completes = Completes::folder},
               {.name = "--part", .value = "I/N", .doc = "only this part of N, for --join"},
               {.name = "--join", .value = "", .doc = "put parts together: sweep --join PART… -o FILE"},
               {.name = "--output,-o",
                .value = "FILE",
                .doc = "the table: .csv, .npy or .npz",
                .completes = Completes::file}}),
          .examples = {"judder sweep ball.toml e=0.5:0.9:5 --collect \"count(impact), end(h)\" -o ball.csv",
                       "judder sweep press.toml --variants all --collect \"max(N)\" -o press.npz"},
          .run = run_sweep};
}

Verb bifurcation_verb() {
  return {.name = "bifurcation",
          .purpose = "draws section points of the motion over a parameter",
          .positionals = many_positionals("NAME=VALUES", "the parameter: om=0.6:1.6:400"),
          .options = with_table(
              {{.name = "--section", .value = "WHERE", .doc = "strobe (default), impact:NAME, watch:NAME"},
               {.name = "--skip", .value = "N", .doc = "section points to pass by (default: 200)"},
               {.name = "--keep", .value = "N", .doc = "section points to keep (default: 100)"},
               {.name = "--carry",
                .value = "WAY",
                .doc = "start each value where the one before ended",
                .completes = Completes::word,
                .words = {"up", "down", "both"}},
               {.name = "--show", .value = "NAME", .doc = "coordinate, velocity or phase in the figure"},
               {.name = "--output,-o",
                .value = "FILE",
                .doc = "the table, .csv; the figure stands beside it",
                .completes = Completes::file}}),
          .examples = {"judder bifurcation oscillator.toml w=0.6:1.6:5 -o oscillator.csv",
                       "judder bifurcation table.toml Gamma=0.5:1:5 --section impact -o table.csv"},
          .run = run_bifurcation};
}

Verb basin_verb() {
  return {.name = "basin",
          .purpose = "finds attractors, and from which starts they are reached",
          .positionals = many_positionals("NAME=VALUES", "starts: x=-2:2:400 \"x'=-2:2:400\""),
          .options = with_table(
              {{.name = "--random", .value = "N", .doc = "so many random starts in ranges, x=-2:2"},
               {.name = "--seed", .value = "S", .doc = "of --random (default: 1)"},
               {.name = "--refine", .value = "", .doc = "a coarse grid first, then only boundaries"},
               {.name = "--bound", .value = "R", .doc = "beyond is unbounded (else 1e6 times the starts)"},
               {.name = "--output,-o",
                .value = "FILE",
                .doc = "the array, .npz; the picture stands beside it",
                .completes = Completes::file}}),
          .examples = {"judder basin block.toml y=0:1:9 \"y'=-2:2:9\" -o block.npz",
                       "judder basin block.toml y=0:1 \"y'=-2:2\" --random 100 -o share.npz"},
          .run = run_basin};
}

}  // namespace judder::app
