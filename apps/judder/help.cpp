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
  std::string out =
      "Judder: mechanical systems that hit, slip, stick and jam.\nusage: judder VERB ... (judder VERB "
      "--help says more)\n\n";
  for (const Verb& verb : verbs()) {
    out += "  " + padded(verb.name, 12) + " " + verb.purpose + "\n";
  }
  return on_one_screen(out +
                       "\nexit codes: 0 done, 1 a check failed, 2 usage, 3 model, 4 run ended early,\n"
                       "            5 input/output, 70 internal error, 130 interrupted\n");
}

std::string verb_help(const Verb& verb) {
  std::string out = "judder " + verb.name + ": " + verb.purpose + "\n";
  out += "usage: " + usage_line(verb) + "\n\n";
  for (const Positional& positional : verb.positionals) out += entry(positional.name, positional.doc);
  for (const Option& option : verb.options) out += entry(option_text(option), option.doc);
  out += entry("-h, --help", "print this");
  out += "\nexamples:\n";
  for (const std::string& example : verb.examples) out += "  " + example + "\n";
  return on_one_screen(std::move(out));
}

int run_help(const Arguments& arguments) {
  if (arguments.positionals.empty()) {
    print(general_help());
    return kDone;
  }
  const Verb* const verb = find_verb(arguments.positionals.front());
  if (verb == nullptr) return no_such_verb(arguments.positionals.front());
  print(verb_help(*verb));
  return kDone;
}

}  // namespace judder::app
