// judder VERB …: finds the verb, reads its arguments by its description, runs it.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <set>

#include "help.hpp"
#include "judder/core/diagnostics.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

/// Options are looked at before the parser sees them: it takes an unknown one for the value of a positional, and its messages are its own. Returns
/// kDone, or what usage_error returns.
int check_options(const Verb& verb, const std::vector<std::string>& words) {
  const std::string see = "judder " + verb.name + " --help";
  std::set<std::string> given;
  std::vector<std::string> names{"--help", "-h"};
  for (const Option& option : verb.options) {
    names.push_back(option.long_name());
    if (option.name.size() > option.long_name().size())
      names.push_back(option.name.substr(option.name.find(',') + 1));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return kDone;
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    bool takes_value = false;
    bool known = name == "--help" || name == "-h";
    for (const Option& option : verb.options) {
      const bool short_form = option.name.size() > option.long_name().size() &&
                              word.compare(0, 2, option.name.substr(option.name.find(',') + 1)) == 0;
      if (name != option.long_name() && !short_form) continue;
      known = true;
      if (option.value.empty() && word.find('=') != std::string::npos)
        return usage_error(option.long_name() + " takes no value", see);
      takes_value =
          !option.value.empty() && word.find('=') == std::string::npos && (!short_form || word.size() == 2);
      if (takes_value && (i + 1 == words.size() || words[i + 1] == "--"))
        return usage_error(option.long_name() + " needs " + option.value + ", and nothing follows it", see);
      if (!option.value.empty() && !option.repeats && !given.insert(option.long_name()).second)
        return usage_error(option.long_name() + " is given twice", see);
    }
    if (!known) {
      const std::string suggestion = nearest(name, names);
      return usage_error("'" + verb.name + "' has no option " + name,
                         suggestion.empty() ? see : "did you mean " + suggestion + "?");
    }
    if (takes_value) ++i;
  }
  return kDone;
}

int run_verb(const Verb& verb, const std::vector<std::string>& words) {
  if (const int code = check_options(verb, words); code != kDone) return code;

  Arguments arguments;
  CLI::App parser;
  parser.set_help_flag();
  bool help = false;
  parser.add_flag("--help,-h", help);
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
  for (const Option& option : verb.options) {
    if (option.value.empty()) {
      parser.add_flag(option.name, flags[option.long_name()]);
    } else {
      CLI::Option* added =
          parser.add_option(option.name, values[option.long_name()])->allow_extra_args(false);
      if (!option.repeats) added->expected(1);
    }
  }
  parser.add_option("positionals", arguments.positionals);
  try {
    parser.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return usage_error("these arguments cannot be read", "judder " + verb.name + " --help");
  }
  if (help) {
    print(verb_help(verb));
    return kDone;
  }
  std::size_t required = 0;
  bool repeats = false;
  for (const Positional& positional : verb.positionals) {
    required += positional.required ? 1 : 0;
    repeats = repeats || positional.repeats;
  }
  if (arguments.positionals.size() < required) {
    return usage_error(verb.positionals[arguments.positionals.size()].name + " is missing",
                       "usage: " + usage_line(verb));
  }
  if (!repeats && arguments.positionals.size() > verb.positionals.size()) {
    return usage_error("one argument too many: '" + arguments.positionals[verb.positionals.size()] + "'",
                       "usage: " + usage_line(verb));
  }
  // An empty text is what a shell makes of a variable that is not set; it stands for nothing.
  for (std::size_t i = 0; i < arguments.positionals.size(); ++i) {
    if (arguments.positionals[i].empty())
      return usage_error(verb.positionals[std::min(i, verb.positionals.size() - 1)].name + " is empty",
                         "usage: " + usage_line(verb));
  }
  for (const Option& option : verb.options) {
    const std::vector<std::string>& given = values[option.long_name()];
    if (std::find(given.begin(), given.end(), "") != given.end())
      return usage_error(option.long_name() + " needs " + option.value + ", and what was given is empty",
                         "judder " + verb.name + " --help");
  }
  // A name with a line end in it is read as two by whoever reads the list of what was written.
  for (const std::string& output : values["--output"]) {
    if (std::any_of(output.begin(), output.end(),
                    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }))
      return usage_error("--output has a control character in its name", "choose another name");
  }
  for (auto& [name, given] : values) {
    if (!given.empty()) arguments.options[name] = std::move(given);
  }
  for (const auto& [name, given] : flags) {
    if (given) arguments.options[name] = {};
  }
  return verb.run(arguments);
}

int no_such_verb(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string suggestion = nearest(name, names);
  return usage_error("there is no verb '" + name + "'",
                     suggestion.empty() ? "judder --help lists them" : "did you mean '" + suggestion + "'?");
}

/// Whether the words ask for JSON from a verb that has it, however wrong the rest of them may be.
bool wants_json(const std::vector<std::string>& words) {
  const Verb* const verb = words.empty() ? nullptr : find_verb(words[0]);
  if (verb == nullptr || std::none_of(verb->options.begin(), verb->options.end(),
                                      [](const Option& option) { return option.name == "--json"; }))
    return false;
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_message(general_help());
    return kUsage;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    const Verb* verb = words.size() > 1 ? find_verb(words[1]) : nullptr;
    if (words.size() > 1 && verb == nullptr) return no_such_verb(words[1]);
    print(verb == nullptr ? general_help() : verb_help(*verb));
    return kDone;
  }
  const std::string name = words[0] == "--version" ? "version" : words[0];
  if (const Verb* verb = find_verb(name)) {
    const int code = run_verb(*verb, {words.begin() + 1, words.end()});
    if (code != kDone && wants_json(words)) print_json_error(code);
    return code;
  }
  return no_such_verb(name);
}

}  // namespace
}  // namespace judder::app

namespace {

/// Memory can run out where nothing may be thrown: the JSON library needs some to give some back, in a destructor. That end is the same as any other
/// without memory; a run folder is what a kill leaves.
[[noreturn]] void end_without_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    constexpr char kMessage[] = "judder: out of memory\n";
    static_cast<void>(!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1));
    ::_exit(judder::app::kInternal);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int count, char** words) {
  std::set_terminate(end_without_memory);
  // A file that may not grow further is a write that fails, and is reported as one.
  std::signal(SIGXFSZ, SIG_IGN);
  bool json = false;
  try {
    const std::vector<std::string> given(words + 1, words + count);
    json = judder::app::wants_json(given);
    const int code = judder::app::run(given);
    // Output that could not be written (a full disk, a closed pipe) must not look like success.
    const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (lost && code == judder::app::kDone) return judder::app::kInputOutput;
    return code;
  } catch (const std::bad_alloc&) {
    judder::app::print_own_message("judder: out of memory\n");
    if (json && !judder::app::printed())
      std::fputs("{ \"error\": { \"exit_code\": 70, \"message\": \"judder: out of memory\" } }\n", stdout);
    return judder::app::kInternal;
  } catch (const std::exception& error) {
    judder::app::print_message(std::string("judder: internal error: ") + error.what() + "\n");
    if (json) judder::app::print_json_error(judder::app::kInternal);
    return judder::app::kInternal;
  }
}
