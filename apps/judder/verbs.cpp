#include "verbs.hpp"

#include "judder/core/diagnostics.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::app {
namespace {

Option json() { return {.name = "--json", .value = "", .doc = "print one JSON document on standard output"}; }

Option engine() {
  return {.name = "--engine",
          .value = "E",
          .doc = "method instead of the one of the file",
          .completes = Completes::word,
          .words = simulate::engine_names()};
}

std::vector<Verb> make_verbs() {
  std::vector<Verb> all{
      {.name = "run",
       .purpose = "simulates a model and writes a run folder",
       .positionals = {model_file()},
       .options = model_options(
           {engine(),
            {.name = "--tolerance", .value = "e", .doc = "error allowed per step"},
            {.name = "--step", .value = "h", .doc = "fixed step, without error control"},
            {.name = "--until", .value = "T", .doc = "end time; may be an expression: 2*pi"},
            {.name = "--until-periodic", .value = "", .doc = "end when the motion has become periodic"},
            {.name = "--summary", .value = "", .doc = "print loads and peaks as Markdown"},
            {.name = "--estimate", .value = "", .doc = "second run at a tenth of the tolerance"},
            {.name = "--report", .value = "", .doc = "write report.html into the run folder"},
            {.name = "--resume",
             .value = "DIR",
             .doc = "go on from a run folder (default -o: DIR-resumed)",
             .completes = Completes::folder},
            {.name = "--accept-changes",
             .value = "",
             .doc = "resume under other parameters, variants or another engine"},
            {.name = "--output,-o",
             .value = "DIR",
             .doc = "run folder (default: runs/NAME)",
             .completes = Completes::folder},
            json()}),
       .examples = {"judder run press.toml -o press", "judder run press.toml --variant high --until 1"},
       .run = run_run},
      {.name = "check",
       .purpose = "reports the problems of a model file, with their places",
       .positionals = {model_file()},
       .options = model_options({engine(),
                                 {.name = "--names",
                                  .value = "WHICH",
                                  .doc = "only list the names: variants or parameters",
                                  .completes = Completes::word,
                                  .words = {"variants", "parameters"}},
                                 json()}),
       .examples = {"judder check press.toml", "judder check press.toml --variant high --set mu=0.3"},
       .run = run_check},
      {.name = "explain",
       .purpose = "prints the equations derived from a model",
       .positionals = {model_file()},
       .options = model_options(
           {{.name = "--latex", .value = "", .doc = "equations of motion and laws in LaTeX"},
            {.name = "--symbolic", .value = "", .doc = "with --latex: keep the names of parameters"},
            json()}),
       .examples = {"judder explain press.toml", "judder explain press.toml --latex --symbolic"},
       .run = run_explain},
      {.name = "compare",
       .purpose = "runs several engines on one model: errors, orders, cost",
       .positionals = {model_file()},
       .options = model_options(
           {{.name = "--engines",
             .value = "a,b",
             .doc = "engines (default: event,exact)",
             .completes = Completes::words,
             .words = simulate::engine_names()},
            {.name = "--tolerances",
             .value = "e1,e2",
             .doc = "tolerances of engines that control their error"},
            {.name = "--steps", .value = "h1,h2", .doc = "fixed steps, with the observed order"},
            {.name = "--until", .value = "T", .doc = "end time"},
            {.name = "--output,-o",
             .value = "FILE",
             .doc = "write the table as CSV",
             .completes = Completes::file},
            json()}),
       .examples = {"judder compare ball.toml --engines event,exact --tolerances 1e-6,1e-9",
                    "judder compare ball.toml --engines event --steps 1e-3,5e-4"},
       .run = run_compare},
      {.name = "impact",
       .purpose = "solves the collision of the start state by every law",
       .positionals = {model_file()},
       .options = model_options({{.name = "--sweep",
                                  .value = "name=a:b:n",
                                  .doc = "n values from a to b, as CSV; at most twice",
                                  .repeats = true},
                                 {.name = "--output,-o",
                                  .value = "PATH",
                                  .doc = "impulse path as .svg, sweep as .csv; or a folder",
                                  .completes = Completes::file},
                                 json()}),
       .examples = {"judder impact rod.toml -o rod.svg",
                    "judder impact rod.toml --sweep mu=0:1:11 -o rod.csv"},
       .run = run_impact},
      {.name = "gallery",
       .purpose = "lists the bundled models, or copies one out",
       .positionals =
           {{.name = "NAME", .doc = "model to copy", .required = false, .completes = Completes::gallery}},
       .options = {{.name = "--output,-o",
                    .value = "DIR",
                    .doc = "folder to copy to (default: NAME)",
                    .completes = Completes::folder},
                   json()},
       .examples = {"judder gallery", "judder gallery press -o my-press"},
       .run = run_gallery},
      {.name = "verify",
       .purpose = "runs models against the values of their reference.toml",
       .positionals = {{.name = "NAME",
                        .doc = "models, by name or folder (default: all)",
                        .required = false,
                        .repeats = true,
                        .completes = Completes::gallery_or_folder}},
       .options = {engine(),
                   {.name = "--gallery",
                    .value = "DIR",
                    .doc = "folder of models with reference.toml instead",
                    .completes = Completes::folder},
                   {.name = "--quiet,-q", .value = "", .doc = "print only what is off"},
                   json()},
       .examples = {"judder verify press klarbring --quiet", "judder verify --gallery my-models"},
       .run = run_verify},
      {.name = "plot",
       .purpose = "draws runs as SVG figures",
       .positionals =
           {{.name = "DIR", .doc = "run folders", .repeats = true, .completes = Completes::run_or_model}},
       .options = {{.name = "--law", .value = "", .doc = "draw a friction law: plot --law FILE [NAME]"},
                   {.name = "--variant",
                    .value = "NAME",
                    .doc = "of the model of --law; may be repeated",
                    .repeats = true,
                    .completes = Completes::variant},
                   {.name = "--set",
                    .value = "NAME=VALUE",
                    .doc = "parameter of --law; may be repeated",
                    .repeats = true,
                    .completes = Completes::setting},
                   {.name = "--xy",
                    .value = "x,y",
                    .doc = "these columns, the abscissa first; may be repeated",
                    .repeats = true},
                   {.name = "--from", .value = "t", .doc = "draw from this time on"},
                   {.name = "--to",
                    .value = "t",
                    .doc = "draw up to this time; with --law: largest slip speed"},
                   {.name = "--width", .value = "w", .doc = "of the figures: 84mm, or pixels"},
                   {.name = "--overlay",
                    .value = "FILE",
                    .doc = "data.csv drawn in the same picture",
                    .completes = Completes::file},
                   {.name = "--output,-o",
                    .value = "DIR",
                    .doc = "where figures go (default: the first DIR; here for --law)",
                    .completes = Completes::folder}},
       .examples = {"judder plot runs/press --xy \"xi,xi'\" --from 0 --to 1",
                    "judder plot --law press.toml plane -o figures"},
       .run = run_plot},
      {.name = "report",
       .purpose = "makes one page of HTML of runs: plots, animation, events",
       .positionals =
           {{.name = "DIR", .doc = "run folders", .repeats = true, .completes = Completes::folder}},
       .options = {{.name = "--output,-o",
                    .value = "FILE",
                    .doc = "the page (default: report.html in the first DIR)",
                    .completes = Completes::file}},
       .examples = {"judder report runs/press", "judder report runs/high runs/low -o both.html"},
       .run = run_report},
      {.name = "dither",
       .purpose = "averages friction under fast vibration",
       .positionals = {model_file()},
       .options = model_options(
           {{.name = "--law", .value = "NAME", .doc = "joint or contact (default: the only one)"},
            {.name = "--speeds", .value = "a:b:n", .doc = "slip velocities of the curve"},
            {.name = "--speed", .value = "v", .doc = "mean slip for eigenvalues and harmonics"},
            {.name = "--map", .value = "a,b", .doc = "stability over speed and a parameter, or two of these"},
            {.name = "--harmonics", .value = "H", .doc = "harmonics of the bristle (law lugre)"},
            {.name = "--simulate", .value = "", .doc = "run the model, seen through a low-pass filter"},
            {.name = "--until", .value = "T", .doc = "end time of the simulation"},
            {.name = "--filter",
             .value = "F",
             .doc = "mean (over one period, default) or butterworth",
             .completes = Completes::word,
             .words = {"mean", "butterworth"}},
            {.name = "--output,-o",
             .value = "DIR",
             .doc = "folder for tables and figures",
             .completes = Completes::folder},
            json()}),
       .examples = {"judder dither lugre.toml -o dither",
                    "judder dither lugre.toml --map speed=0.1:0.8:71,W=0:1:101 -o map"},
       .run = run_dither},
      {.name = "schema",
       .purpose = "prints the JSON schema of model files",
       .positionals = {},
       .options = {{.name = "--reference",
                    .value = "",
                    .doc = "print the reference page (Markdown) instead"}},
       .examples = {"judder schema > model.schema.json", "judder schema --reference | less"},
       .run = run_schema},
      {.name = "completion",
       .purpose = "prints a completion script for a shell",
       .positionals = {{.name = "SHELL",
                        .doc = "bash, zsh or fish",
                        .completes = Completes::word,
                        .words = {"bash", "zsh", "fish"}}},
       .options = {},
       .examples = {"judder completion bash > ~/.local/share/bash-completion/completions/judder",
                    "judder completion fish > ~/.config/fish/completions/judder.fish"},
       .run = run_completion},
      {.name = "version",
       .purpose = "prints the version",
       .positionals = {},
       .options = {json()},
       .examples = {"judder version", "judder version --json"},
       .run = run_version},
      {.name = "help",
       .purpose = "prints this, or the help of a verb",
       .positionals =
           {{.name = "VERB", .doc = "verb to explain", .required = false, .completes = Completes::word}},
       .options = {},
       .examples = {"judder help run", "judder run --help"},
       .run = run_help},
  };
  std::vector<std::string> names;
  for (const Verb& verb : all) names.push_back(verb.name);
  all.back().positionals.front().words = std::move(names);
  return all;
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = make_verbs();
  return all;
}

int no_such_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string suggestion = nearest(name, names);
  return usage_error("there is no verb '" + name + "'",
                     suggestion.empty() ? "judder --help lists them" : "did you mean '" + suggestion + "'?");
}

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

}  // namespace judder::app
