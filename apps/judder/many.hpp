// What the verbs with many runs share: values and ranges of members, threads and processes, progress, ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "judder/tasks/sweep.hpp"

namespace judder::app {

/// FILE NAME=VALUES…
[[nodiscard]] std::vector<Positional> many_positionals(const std::string& name, const std::string& doc);
/// Of a model, and those of all verbs with many runs.
[[nodiscard]] std::vector<Option> many_options(std::vector<Option> more);

/// "om=0.6:1.6:200", "mu=0.1,0.2,0.3", "mu=0.3"; with `range` "om=0.6:1.6". Nothing after a usage error, which has been printed.
[[nodiscard]] std::optional<analysis::Plan::Axis> read_axis(const std::string& text, bool range = false);
/// All of them, each name once.
[[nodiscard]] std::optional<std::vector<analysis::Plan::Axis>> read_axes(const Arguments& arguments,
                                                                         bool range = false);
/// A whole number of an option; false after a usage error.
[[nodiscard]] bool read_count(const Arguments& arguments, const std::string& option, long least, long most,
                              long& target);
/// Model, times, threads, parts. Nothing after a usage error.
[[nodiscard]] std::optional<tasks::ManyRequest> many_request(const Arguments& arguments);
/// The processes of mpirun, if there are several; null otherwise. False after an error, which has been printed.
[[nodiscard]] bool join_processes(std::unique_ptr<tasks::Machines>& machines);

/// The line of progress, where standard error is a terminal.
void show_progress_of(tasks::ManyRequest& request, std::size_t members);
void end_progress();
/// Exit code and words for a report that has not come to its end.
int many_failed(const tasks::RunsReport& report);
/// "1000 runs in 2.1 s on 2 threads, 476 a second"
[[nodiscard]] std::string pace_text(std::size_t made, double seconds);

}  // namespace judder::app
