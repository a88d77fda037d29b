#include "judder/io/verify.hpp"

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
  struct Place {
    std::filesystem::path gallery;
    std::string name;
  };
  std::vector<Place> places;
  for (const std::string& name : arguments.positionals) {
    const std::filesystem::path folder = std::filesystem::path(name).lexically_normal();
    const std::filesystem::path place = folder.has_filename() ? folder : folder.parent_path();
    if (std::find(known.begin(), known.end(), name) != known.end())
      places.push_back({gallery, name});
    else if (std::filesystem::is_directory(place, ignored)) {
      // What stands there and is no file is told by whoever reads it.
      if (std::filesystem::symlink_status(place / "reference.toml", ignored).type() ==
          std::filesystem::file_type::not_found) {
        print_message(place.string() + ": there is no reference.toml in this folder",
                      "it lists the values that the model must give (docs/reference-file.md)");
        return kInputOutput;
      }
      places.push_back({place.parent_path(), place.filename().string()});
    } else if (arguments.has("--gallery"))
      return usage_error(
          "there is no model '" + name + "' with a reference.toml in " + gallery.string(),
          nearest(name, known).empty() ? std::string() : "did you mean '" + nearest(name, known) + "'?");
    else
      return no_such_model(name, known);
  }
  if (arguments.positionals.empty()) {
    for (const std::string& name : known) places.push_back({gallery, name});
    if (places.empty()) {
      print_message(gallery.string() + ": there is no model with a reference.toml here");
      return kInputOutput;
    }
  }
  analysis::VerifyOptions options;
  options.engine = arguments.text("--engine");
  options.cancel = &interrupted();
  const bool json = arguments.has("--json");
  std::vector<io::ModelVerification> models;
  for (const Place& place : places) {
    models.push_back(io::verify_model(place.gallery, place.name, options));
    if (interrupted()) return was_interrupted();
    if (!json) print(io::verification_text(models.back(), arguments.has("--quiet")));
  }
  print(json ? io::verification_json(models) : io::verification_summary(models));
  int off = 0;
  bool unusable = false;
  for (const io::ModelVerification& model : models) {
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
