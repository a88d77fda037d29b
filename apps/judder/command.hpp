// What a verb is: its arguments described once, from which come parsing, help and completion; and the function that does it.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judder/io/load.hpp"

namespace judder::app {

/// Exit codes, the same for all verbs.
enum Exit {
  kDone = 0,
  kCheckFailed = 1,  ///< a requested check failed
  kUsage = 2,
  kModelInvalid = 3,
  kEndedEarly = 4,  ///< every other end of a run; partial results are written
  kInputOutput = 5,
  kInternal = 70,     ///< a fault of the program itself, or no memory left
  kInterrupted = 130  ///< partial results are written
};

enum class Completes {
  nothing,
  file,
  folder,
  model,
  run_or_model,  ///< folders; model files behind --law
  word,
  words,  ///< several with commas between them
  gallery,
  gallery_or_folder,
  variant,
  setting
};

struct Option {
  std::string name;   ///< "--variant"; a short form after a comma: "--output,-o"
  std::string value;  ///< "NAME"; empty: a flag
  std::string doc;
  bool repeats = false;
  Completes completes = Completes::nothing;
  std::vector<std::string> words{};  ///< for Completes::word and words
  bool rare = false;                 ///< explained by `help VERB --all` only, so that a help fits a screen

  [[nodiscard]] std::string long_name() const { return name.substr(0, name.find(',')); }
};

struct Positional {
  std::string name;  ///< "FILE"
  std::string doc;
  bool required = true;
  bool repeats = false;
  Completes completes = Completes::file;
  std::vector<std::string> words{};
};

/// What was given, by the long names.
struct Arguments {
  std::map<std::string, std::vector<std::string>> options;
  std::vector<std::string> positionals;

  [[nodiscard]] bool has(const std::string& name) const { return options.count(name) > 0; }
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = {}) const;
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
};

struct Verb {
  std::string name;
  std::string purpose;  ///< one line, at most 60 characters
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::vector<std::string> examples;  ///< two
  int (*run)(const Arguments&) = nullptr;
};

// --- for verbs ---

/// The arguments that stand for a model: FILE, --variant, --set; with them the file, the variants and the settings.
[[nodiscard]] Positional model_file();
[[nodiscard]] std::vector<Option> model_options(std::vector<Option> more = {});
/// Nothing after a usage error, which has been printed.
[[nodiscard]] std::optional<io::ModelRequest> model_request(const Arguments& arguments);

/// A usage error on standard error; returns kUsage.
int usage_error(const std::string& message, const std::string& help = {});

/// True if messages may be coloured: a terminal, and NO_COLOR not set.
[[nodiscard]] bool colours();

/// Prints the messages of a model on standard error; returns kDone, kUsage, kModelInvalid or kInputOutput. What is only to be known (notes) is said where it is
/// asked for, and beside errors.
int report(const io::LoadedModel& loaded, bool notes = false);

/// True if there is an engine of that name; after false a usage error has been printed.
[[nodiscard]] bool known_engine(const std::string& engine);
/// The number of an option (io::read_value: an expression will do), nothing if it is not given. False after a usage error, which has been printed.
[[nodiscard]] bool read_number(const Arguments& arguments, const std::string& option,
                               std::optional<double>& target);
/// The end of a run: a number, or an expression of parameters that the model is told. False after a usage error.
[[nodiscard]] bool read_until(const Arguments& arguments, std::optional<double>& number,
                              io::ModelRequest& model);
/// False after a usage error: one of `options` is given, and `needed`, without which it says nothing, is not.
[[nodiscard]] bool means_something(const Arguments& arguments, const std::vector<std::string>& options,
                                   const std::string& needed);
/// False after a usage error: both are given, and only one can have its way.
[[nodiscard]] bool not_both(const Arguments& arguments, const std::string& one, const std::string& other);

/// Set by SIGINT, SIGTERM or SIGHUP, from catch_signals on. The first signal asks to stop, a second one of its kind ends the program as usual.
[[nodiscard]] std::atomic<bool>& interrupted();
void catch_signals();
/// Says so; returns kInterrupted.
int was_interrupted();

// --- all that reaches the two streams goes through these; whatever stands in it, a terminal obeys none of it ---

/// Texts of several lines to standard output, in which every name of a stranger (a file, a title) stands in one line already: printable_name.
void print(const std::string& text);
/// One line to standard output, and one beside the output, on standard error: "\n" is put behind it, those inside it are shown as text.
void print_line(const std::string& line);
void print_beside(const std::string& line);
/// One message to standard error: "judder: message", and a line for `help` if there is any. Line ends inside them are shown as text.
void print_message(const std::string& message, const std::string& help = {});
/// For texts that are safe already: colours and lines of our own.
void print_own_message(const std::string& text);

/// For a verb that is asked for JSON: what is printed waits for print_json.
void hold_json();
/// Prints the document of the verb. If it has failed, with a member `error` that says why, in the words of print_message, report and note_error; without a
/// document, one that holds nothing else.
void print_json(int code);
/// Why a verb fails, for print_json alone: where the words stand in its document or its text.
void note_error(const std::string& message);
/// Whether something has gone to standard output.
[[nodiscard]] bool printed();
/// Hands everything to the system. Nothing, or the error (errno) with which standard output could not be written, now or before.
std::optional<int> output_error();

}  // namespace judder::app
