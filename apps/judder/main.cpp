// judder VERB …: finds the verb, reads its arguments by its description, runs it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

#include "help.hpp"
#include "judder/core/diagnostics.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/files.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

const Option* find_option(const Verb& verb, const std::string& word) {
  for (const Option& option : verb.options) {
    if (word.substr(0, word.find('=')) == option.long_name()) return &option;
    const bool has_short = option.name.size() > option.long_name().size();
    if (has_short && word.compare(0, 2, option.name.substr(option.name.find(',') + 1)) == 0) return &option;
  }
  return nullptr;
}

int no_such_option(const Verb& verb, const std::string& name) {
  std::vector<std::string> names{"--help", "-h"};
  for (const Option& option : verb.options) {
    names.push_back(option.long_name());
    if (option.name.size() > option.long_name().size())
      names.push_back(option.name.substr(option.name.find(',') + 1));
  }
  const std::string suggestion = nearest(name, names);
  return usage_error("'" + verb.name + "' has no option " + name, suggestion.empty()
                                                                      ? "judder " + verb.name + " --help"
                                                                      : "did you mean " + suggestion + "?");
}

/// Takes the words apart by the description of the verb: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags, and what stands alone or
/// behind `--`. Returns kDone, or what usage_error returns.
int scan(const Verb& verb, const std::vector<std::string>& words, Arguments& out) {
  const std::string see = "judder " + verb.name + " --help";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      out.positionals.insert(out.positionals.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             words.end());
      return kDone;
    }
    if (word.size() < 2 || word[0] != '-') {
      out.positionals.push_back(word);
      continue;
    }
    if (word == "--help" || word == "-h") {
      out.options["--help"] = {};
      continue;
    }
    const Option* const option = find_option(verb, word);
    const std::size_t equals = word.find('=');
    if (option == nullptr) return no_such_option(verb, word.substr(0, equals));
    const std::string name = option->long_name();
    const bool in_short = word[1] != '-' && word.size() > 2;
    if (option->value.empty()) {
      if (equals != std::string::npos) return usage_error(name + " takes no value", see);
      if (in_short) return no_such_option(verb, word);
      out.options[name] = {};
      continue;
    }
    if (!option->repeats && out.has(name)) return usage_error(name + " is given twice", see);
    std::vector<std::string>& values = out.options[name];
    if (in_short) {
      values.push_back(word.substr(word[2] == '=' ? 3 : 2));
    } else if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
    } else {
      if (i + 1 == words.size() || words[i + 1] == "--")
        return usage_error(name + " needs " + option->value + ", and nothing follows it", see);
      values.push_back(words[++i]);
    }
    // An empty text is what a shell makes of a variable that is not set; it stands for nothing.
    if (values.back().empty())
      return usage_error(name + " needs " + option->value + ", and what was given is empty", see);
  }
  return kDone;
}

int run_verb(const Verb& verb, const std::vector<std::string>& words) {
  Arguments arguments;
  if (const int code = scan(verb, words, arguments); code != kDone) return code;
  if (arguments.has("--help")) {
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
  for (std::size_t i = 0; i < arguments.positionals.size(); ++i) {
    if (arguments.positionals[i].empty())
      return usage_error(verb.positionals[std::min(i, verb.positionals.size() - 1)].name + " is empty",
                         "usage: " + usage_line(verb));
  }
  // A name with a line end in it is read as two by whoever reads the list of what was written, and one with marks of direction as another.
  for (const std::string& output : arguments.all("--output")) {
    if (printable_name(output, output.size() + 1) != output)
      return usage_error("--output has a control character in its name, or bytes that are no text: " +
                             printable_name(output, 400),
                         "choose another name");
    if (const io::FileStatus status = io::refuse_detour(output); !status.ok()) {
      print_message(status.text());
      return kInputOutput;
    }
  }
  catch_signals();
  return verb.run(arguments);
}

/// Whether the words ask for JSON, however wrong the rest of them may be: no such verb, or one that has no JSON to give.
bool wants_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_own_message(general_help());
    return kUsage;
  }
  const std::string name = words[0] == "--version"                    ? "version"
                           : words[0] == "--help" || words[0] == "-h" ? "help"
                                                                      : words[0];
  if (const Verb* verb = find_verb(name)) {
    return run_verb(*verb, {words.begin() + 1, words.end()});
  }
  return no_such_verb(name);
}

}  // namespace
}  // namespace judder::app

namespace {

/// A standard stream that was closed before the program began would be the number of the next file that is opened, and messages would go there. What
/// is put in its place cannot be read or written, so that an attempt is an error as before.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

[[noreturn]] void say_out_of_memory() {
  constexpr char kMessage[] = "judder: out of memory\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1));
  ::_exit(judder::app::kInternal);
}

/// Memory can run out where nothing may be thrown: the JSON library needs some to give some back, in a destructor. That end is the same as any other
/// without memory; a run folder is what a kill leaves.
[[noreturn]] void end_without_memory() {
  try {
    // None: there was no room for the exception itself.
    if (!std::current_exception()) say_out_of_memory();
    std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int count, char** words) {
  std::set_terminate(end_without_memory);
  keep_standard_streams();
  // A file that may not grow further is a write that fails, and is reported as one.
  std::signal(SIGXFSZ, SIG_IGN);
  bool json = false;
  try {
    const std::vector<std::string> given(words + 1, words + count);
    json = judder::app::wants_json(given);
    if (json) judder::app::hold_json();
    const int code = judder::app::run(given);
    if (json) judder::app::print_json(code);
    // Output that could not be written (a full disk, a closed pipe) must not look like success.
    if (const std::optional<int> error = judder::app::output_error()) {
      judder::app::print_own_message("judder: standard output cannot be written: " +
                                     std::generic_category().message(*error != 0 ? *error : EIO) +
                                     "; what it was to say is lost\n");
      if (code == judder::app::kDone) return judder::app::kInputOutput;
    }
    return code;
  } catch (const std::bad_alloc&) {
    judder::app::print_own_message("judder: out of memory\n");
    if (json && !judder::app::printed())
      std::fputs("{ \"error\": { \"exit_code\": 70, \"message\": \"judder: out of memory\" } }\n", stdout);
    return judder::app::kInternal;
  } catch (const std::exception& error) {
    judder::app::print_message(std::string("internal error: ") + error.what());
    if (json) judder::app::print_json(judder::app::kInternal);
    return judder::app::kInternal;
  }
}
