// Completion scripts, from the descriptions of the verbs.
#include <cstddef>

#include "verbs.hpp"

namespace judder::app {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string spaced(const std::vector<std::string>& words) { return joined(words, " "); }

std::vector<std::string> forms(const Option& option) {
  const std::size_t comma = option.name.find(',');
  if (comma == std::string::npos) return {option.name};
  return {option.long_name(), option.name.substr(comma + 1)};
}

std::string verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return spaced(names);
}

// --- bash ---

std::string bash_values(Completes completes, const std::vector<std::string>& words) {
  switch (completes) {
    case Completes::word:
      return "COMPREPLY=($(compgen -W '" + spaced(words) + "' -- \"$word\"))";
    case Completes::words:  // the last one of the list; what stands before it is kept
      return "local head=''; [[ $word == *,* ]] && head=${word%,*},; COMPREPLY=($(compgen -P \"$head\" -W '" +
             spaced(words) + "' -- \"${word##*,}\")); compopt -o nospace";
    case Completes::folder:
      return "COMPREPLY=($(compgen -d -- \"$word\"))";
    case Completes::run_or_model:
      return "COMPREPLY=($(compgen -d -- \"$word\")); [[ \" ${COMP_WORDS[*]} \" == *' --law '* ]] && "
             "COMPREPLY+=($(compgen -f -X '!*.toml' -- \"$word\"))";
    case Completes::file:
      return "COMPREPLY=($(compgen -f -- \"$word\"))";
    case Completes::model:
      return "COMPREPLY=($(compgen -f -X '!*.toml' -- \"$word\") $(compgen -d -- \"$word\"))";
    case Completes::gallery:
      return "_judder_lines < <(judder gallery 2>/dev/null | cut -d' ' -f1)";
    case Completes::gallery_or_folder:
      return "_judder_lines < <(judder gallery 2>/dev/null | cut -d' ' -f1); COMPREPLY+=($(compgen -d -- "
             "\"$word\"))";
    case Completes::variant:
      return "_judder_lines < <(judder check --names variants \"$(_judder_model)\" 2>/dev/null)";
    case Completes::setting:
      return "_judder_lines = < <(judder check --names parameters \"$(_judder_model)\" 2>/dev/null); compopt "
             "-o nospace";
    case Completes::nothing:
      break;
  }
  return "COMPREPLY=()";
}

std::string bash() {
  std::string out =
      "# bash completion for judder\n"
      // Names out of a file are words as they are: compgen -W would expand them, and run what stands in them.
      "_judder_lines() {\n"
      "  local line\n"
      "  COMPREPLY=()\n"
      "  while IFS= read -r line; do\n"
      "    [[ $line == \"$word\"* ]] && COMPREPLY+=(\"$line${1-}\")\n"
      "  done\n"
      "}\n"
      "_judder_model() {\n"
      "  local each\n"
      "  for each in \"${COMP_WORDS[@]:2}\"; do\n"
      "    if [[ $each == *.toml ]]; then\n"
      "      printf '%s\\n' \"${each/#\\~/$HOME}\"\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "}\n"
      "_judder() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '" +
      verb_names() +
      "' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n";
  for (const Verb& verb : verbs()) {
    std::vector<std::string> names;
    out += "    " + verb.name + ")\n      case $before in\n";
    for (const Option& option : verb.options) {
      for (const std::string& form : forms(option)) names.push_back(form);
      if (option.value.empty()) continue;
      out += "        " + joined(forms(option), "|") + ") " + bash_values(option.completes, option.words) +
             "; return ;;\n";
    }
    names.emplace_back("--help");
    out += "      esac\n      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '" + spaced(names) +
           "' -- \"$word\"))\n      else\n        " +
           (verb.positionals.empty()
                ? std::string("COMPREPLY=()")
                : bash_values(verb.positionals.front().completes, verb.positionals.front().words)) +
           "\n      fi ;;\n";
  }
  return out + "  esac\n}\ncomplete -o filenames -F _judder judder\n";
}

// --- zsh ---

std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_action(Completes completes, const std::vector<std::string>& words) {
  switch (completes) {
    case Completes::word:
      return "(" + spaced(words) + ")";
    case Completes::words:
      return "_values -s , word " + spaced(words);
    case Completes::folder:
      return "_files -/";
    case Completes::run_or_model:
      return "{if (( ${words[(I)--law]} )); then _files -g \"*.toml\"; else _files -/; fi}";
    case Completes::file:
      return "_files";
    case Completes::model:
      return "_files -g \"*.toml\"";
    case Completes::gallery:
      return "($(judder gallery 2>/dev/null | cut -d\" \" -f1))";
    case Completes::gallery_or_folder:
      return "{_files -/; compadd -- $(judder gallery 2>/dev/null | cut -d\" \" -f1)}";
    case Completes::variant:
      return "($(judder check --names variants ${words[(r)*.toml]} 2>/dev/null))";
    case Completes::setting:
      return "($(judder check --names parameters ${words[(r)*.toml]} 2>/dev/null))";
    case Completes::nothing:
      break;
  }
  return " ";
}

std::string zsh() {
  std::string out = "#compdef judder\n_judder() {\n  local -a verbs\n  verbs=(\n";
  for (const Verb& verb : verbs()) out += "    '" + verb.name + ":" + zsh_text(verb.purpose) + "'\n";
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n  local "
      "verb=$words[2]\n  shift words\n"
      "  (( CURRENT-- ))\n  case $verb in\n";
  for (const Verb& verb : verbs()) {
    out += "    " + verb.name + ")\n      _arguments";
    for (const Option& option : verb.options) {
      for (const std::string& form : forms(option)) {
        out += " \\\n        '" + std::string(option.repeats ? "*" : "") + form + "[" + zsh_text(option.doc) +
               "]";
        if (!option.value.empty())
          out += ":" + zsh_text(option.value) + ":" + zsh_action(option.completes, option.words);
        out += "'";
      }
    }
    out += " \\\n        '--help[print the help of this verb]'";
    for (const Positional& positional : verb.positionals) {
      out += " \\\n        '" + std::string(positional.repeats ? "*" : "") + ":" + positional.name + ":" +
             zsh_action(positional.completes, positional.words) + "'";
    }
    out += " ;;\n";
  }
  return out + "  esac\n}\n_judder \"$@\"\n";
}

// --- fish ---

std::string fish_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "\\'" : std::string(1, c);
  return out + "'";
}

std::string fish_names(const std::string& which) {
  return "(judder check --names " + which + " (commandline -opc | string match \"*.toml\")[1] 2>/dev/null)";
}

std::string fish() {
  std::string out = "# fish completion for judder\ncomplete -c judder -f\n";
  for (const Verb& verb : verbs()) {
    out += "complete -c judder -n __fish_use_subcommand -a " + verb.name + " -d " + fish_text(verb.purpose) +
           "\n";
  }
  for (const Verb& verb : verbs()) {
    const std::string start = "complete -c judder -n '__fish_seen_subcommand_from " + verb.name + "'";
    for (const Option& option : verb.options) {
      out += start;
      for (const std::string& form : forms(option)) {
        out += form.compare(0, 2, "--") == 0 ? " -l " + form.substr(2) : " -s " + form.substr(1);
      }
      if (!option.value.empty())
        out +=
            option.completes == Completes::file || option.completes == Completes::folder ? " -r -F" : " -x";
      if (option.completes == Completes::word) out += " -a " + fish_text(spaced(option.words));
      if (option.completes == Completes::words) out += " -a '(__fish_append , " + spaced(option.words) + ")'";
      if (option.completes == Completes::variant) out += " -a '" + fish_names("variants") + "'";
      if (option.completes == Completes::setting) out += " -a '" + fish_names("parameters") + "'";
      out += " -d " + fish_text(option.doc) + "\n";
    }
    for (const Positional& positional : verb.positionals) {
      if (positional.completes == Completes::word)
        out += start + " -a " + fish_text(spaced(positional.words)) + "\n";
      else if (positional.completes == Completes::gallery ||
               positional.completes == Completes::gallery_or_folder)
        out += start + (positional.completes == Completes::gallery ? "" : " -F") +
               " -a '(judder gallery 2>/dev/null | string split -f1 \" \")'\n";
      else if (positional.completes != Completes::nothing)
        out += start + " -F\n";
    }
  }
  return out;
}

}  // namespace

int run_completion(const Arguments& arguments) {
  const std::string& shell = arguments.positionals.front();
  if (shell == "bash")
    print(bash());
  else if (shell == "zsh")
    print(zsh());
  else if (shell == "fish")
    print(fish());
  else
    return usage_error("there is no completion for '" + shell + "'", "there are: bash, zsh, fish");
  return kDone;
}

}  // namespace judder::app
