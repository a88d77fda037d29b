// From what was asked for to the model and the options that are run.
#pragma once

#include <optional>
#include <string>

#include "judder/tasks/run.hpp"

namespace judder::tasks {

/// Takes the options of the command line into those of the model; complains as the compiler would.
void override_options(const RunRequest& request, io::LoadedModel& model);

/// The model as it was run: variants and settings taken into the values that they replace, so that the text alone repeats the run. What has
/// no place of its own (the start value of one member of a family) stays in a variant called `used`.
[[nodiscard]] std::string resolved_text(const model::Spec& spec, const RunRequest& request,
                                        const model::RunOptions& used);

/// The model with the sections at which its period is looked for, and the period of its forces. Nothing, with a message, where time enters
/// without a period.
[[nodiscard]] std::optional<model::System> with_sections(const RunRequest& request, io::LoadedModel& model,
                                                         double& forcing_period);

}  // namespace judder::tasks
