#include "judder/tasks/verify.hpp"

#include <algorithm>

#include "judder/core/diagnostics.hpp"
#include "judder/io/gallery.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_verify(const Arguments& arguments) {
  if (!not_both(arguments, "--quiet", "--json")) return kUsage;
  if (arguments.has("--engine") && !known_engine(arguments.text("--engine"))) return kUsage;
  const std::filesystem::path gallery =
      arguments.has("--gallery") ? std::filesystem::path(arguments.text("--gallery")) : gallery_folder();
  if (gallery.empty()) return no_gallery();
  std::error_code ignored;
  if (!std::filesystem::is_directory(gallery, ignored)) {
    print_message(gallery.string() + (std::filesystem::exists(gallery, ignored)
                                          ? ": is not a folder"
                                          : ": there is no such folder"));
    return kInputOutput;
  }
  std::vector<std::string> known;
  io::FileStatus readable;
  for (const io::GalleryModel& model : io::list_gallery(gallery, &readable)) known.push_back(model.name);
  if (!readable.ok()) {
    print_message(readable.text());
    return kInputOutput;
  }
  // A model is named as in the list, or is a folder with its own reference.toml.
  std::vector<std::filesystem::path> folders;
  for (const std::string& name : arguments.positionals) {
    const std::filesystem::path folder = std::filesystem::path(name).lexically_normal();
    const std::filesystem::path place = folder.has_filename() ? folder : folder.parent_path();
    if (std::find(known.begin(), known.end(), name) != known.end())
      folders.push_back(gallery / name);
    else if (std::filesystem::is_directory(place, ignored)) {
      // What stands there and is no file is told by whoever reads it.
      if (std::filesystem::symlink_status(io::reference_beside(place / "model.toml"), ignored).type() ==
          std::filesystem::file_type::not_found) {
        print_message(place.string() + ": there is no reference.toml in this folder",
                      "it lists the values that the model must give (docs/reference-file.md)");
        return kInputOutput;
      }
      folders.push_back(place);
    } else if (arguments.has("--gallery"))
      return usage_error(
          "there is no model '" + name + "' with a reference.toml in " + gallery.string(),
          nearest(name, known).empty() ? std::string() : "did you mean '" + nearest(name, known) + "'?");
    else
      return no_such_model(name, known);
  }
  if (arguments.positionals.empty()) {
    for (const std::string& name : known) folders.push_back(gallery / name);
    if (folders.empty()) {
      print_message(gallery.string() + ": there is no model with a reference.toml here");
      return kInputOutput;
    }
  }
  tasks::VerifyRequest request;
  request.options.engine = arguments.text("--engine");
  request.options.cancel = &interrupted();
  const bool json = arguments.has("--json");
  std::vector<tasks::ModelVerification> models;
  for (const std::filesystem::path& folder : folders) {
    request.folder = folder;
    request.reference = io::reference_beside(folder / "model.toml");
    models.push_back(tasks::verify_model(request));
    if (interrupted()) return was_interrupted();
    if (!json) print(tasks::verification_text(models.back(), arguments.has("--quiet")));
  }
  print(json ? tasks::verification_json(models) : tasks::verification_summary(models));
  int off = 0;
  bool unusable = false;
  for (const tasks::ModelVerification& model : models) {
    off += model.verification.failed();
    unusable = unusable || !model.problem.empty();
    if (!model.problem.empty()) note_error(model.problem);
  }
  if (off > 0) {
    note_error(std::to_string(off) + (off == 1 ? " value is off" : " values are off"));
    return kCheckFailed;
  }
  return unusable ? kInputOutput : kDone;  // with a file that is of no use nothing has been checked
}

}  // namespace judder::app
