#include "help.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "verbs.hpp"

namespace judder::app {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string entry(const std::string& left, const std::string& right) {
  return "  " + padded(left, 20) + " " + right + "\n";
}

std::string option_text(const Option& option) {
  const std::size_t comma = option.name.find(',');
  std::string out =
      comma == std::string::npos ? option.name : option.name.substr(comma + 1) + ", " + option.long_name();
  if (!option.value.empty()) out += " " + option.value;
  return out;
}

}  // namespace

std::string usage_line(const Verb& verb) {
  std::string out = "judder " + verb.name;
  for (const Positional& positional : verb.positionals) {
    const std::string name = positional.name + (positional.repeats ? "..." : "");
    out += positional.required ? " " + name : " [" + name + "]";
  }
  return out + (verb.options.empty() ? "" : " [options]");
}

namespace {

/// A help is read on one screen of 24 lines: where it is longer, the empty line below its head goes.
std::string on_one_screen(std::string text) {
  constexpr std::ptrdiff_t kLines = 24;
  if (std::count(text.begin(), text.end(), '\n') > kLines) text.erase(text.find("\n\n"), 1);
  return text;
}

}  // namespace

std::string general_help() {
  std::string out = "Judder: mechanical systems that hit, slip, stick and jam (judder VERB --help)\n\n";
  for (const Verb& verb : verbs()) {
    out += "  " + padded(verb.name, 12) + " " + verb.purpose + "\n";
  }
  return on_one_screen(out +
                       "exit: 0 done, 1 check failed, 2 usage, 3 model, 4 early end, 5 files, 130 signal\n");
}

std::string verb_help(const Verb& verb, bool all) {
  std::string out = "judder " + verb.name + ": " + verb.purpose + "\n";
  out += "usage: " + usage_line(verb) + "\n\n";
  std::string rest;
  for (const Positional& positional : verb.positionals) out += entry(positional.name, positional.doc);
  for (const Option& option : verb.options) {
    if (all || !option.rare)
      out += entry(option_text(option), option.doc);
    else
      rest += (rest.empty() ? "" : ", ") + option.long_name();
  }
  out += entry("-h, --help", "print this");
  if (!rest.empty()) out += "  rarely: " + rest + "\n  (judder help " + verb.name + " --all explains them)\n";
  out += "\nexamples:\n";
  for (const std::string& example : verb.examples) out += "  " + example + "\n";
  return on_one_screen(std::move(out));
}

namespace {

/// A text in a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

std::string command_reference() {
  std::string out =
      "# The command line\n\n"
      "<!-- Generated from apps/judder/verbs.cpp by `judder help --reference`; a test keeps it so. -->\n\n"
      "Every verb says the same with `judder help VERB`. Wherever an option takes a number, an expression of "
      "numbers, `pi` and functions may stand: "
      "`--until \"20*2*pi\"`, `--set \"a = 2*pi/3\"`, `om=0:2*pi:25`. `--set` and, but for `dither`, "
      "`--until` "
      "know the parameters of the model in it: `--until \"100*2*pi/om\"`. Cells of tables are plain numbers. "
      "With `--json` a verb prints one JSON "
      "document on standard output; messages go to "
      "standard error. Exit codes: [reading a run folder](run-folder.md#exit-codes).\n";
  for (const Verb& verb : verbs()) {
    out += "\n## " + verb.name + "\n\n" + capital(verb.purpose) + ".\n\n```console\n$ " + usage_line(verb) +
           "\n```\n\n";
    if (!verb.positionals.empty() || !verb.options.empty()) {
      out += "| | |\n|---|---|\n";
      for (const Positional& positional : verb.positionals)
        out += "| `" + cell(positional.name) + "` | " + cell(positional.doc) + " |\n";
      for (const Option& option : verb.options)
        out += "| `" + cell(option_text(option)) + "` | " + cell(option.doc) + " |\n";
      out += "\n";
    }
    out += "Examples:\n\n```text\n";
    for (const std::string& example : verb.examples) out += example + "\n";
    out += "```\n";
  }
  return out;
}

int run_help(const Arguments& arguments) {
  if (arguments.has("--reference")) {
    print(command_reference());
    return kDone;
  }
  if (arguments.positionals.empty()) {
    print(general_help());
    return kDone;
  }
  const Verb* const verb = find_verb(arguments.positionals.front());
  if (verb == nullptr) return no_such_verb(arguments.positionals.front());
  print(verb_help(*verb, arguments.has("--all")));
  return kDone;
}

}  // namespace judder::app
