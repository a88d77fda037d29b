// Where a run goes: names of folders that nobody has chosen, and whether a run goes on in the folder that it is taken from.
#pragma once

#include <filesystem>
#include <string>

#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/io/state_file.hpp"

namespace judder::io {

/// runs/NAME[-VARIANT…][-SETTING=VALUE…]; NAME is the file's, or its folder's if the file is called model.toml. With `resume`: the folder resumed
/// from, with "-resumed" added. Always one folder inside `runs`: what cannot stand in a name is replaced, and then a check of the whole is added.
[[nodiscard]] std::filesystem::path default_run_folder(const ModelRequest& request,
                                                       const std::filesystem::path& resume = {});

/// The same, or a name beside it where the run of another model has that one. Refused: a variant whose name cannot be part of it, and folders that are
/// reached through a link.
[[nodiscard]] FileStatus choose_run_folder(const ModelRequest& request, const std::filesystem::path& resume,
                                           const StateOwner& owner, std::filesystem::path& folder);

/// In words, the run in a folder if it is of another model file, or of other variants or settings; empty: it is not, or nobody can tell.
[[nodiscard]] std::string other_run(const std::filesystem::path& folder, const ModelRequest& request,
                                    const StateOwner& owner);

/// Whether a run that is taken from the folder `resume` goes on there. A guess would cost what is there.
[[nodiscard]] FileStatus find_place(const std::filesystem::path& resume, const std::filesystem::path& output,
                                    bool& in_place);

}  // namespace judder::io
