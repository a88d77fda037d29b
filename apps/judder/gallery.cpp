#include "judder/io/gallery.hpp"

#include <algorithm>
#include <cstdlib>

#include "judder/io/json.hpp"
#include "verbs.hpp"

namespace judder::app {

std::filesystem::path gallery_folder() {
  const char* chosen = std::getenv("JUDDER_GALLERY");
  std::error_code error;
  return io::find_gallery(chosen == nullptr ? "" : chosen,
                          std::filesystem::read_symlink("/proc/self/exe", error));
}

int no_gallery() {
  print_message("the bundled models were not found", "set JUDDER_GALLERY to their folder");
  return kInputOutput;
}

int no_such_model(const std::string& name, const std::vector<std::string>& names) {
  const std::string suggestion = nearest(name, names);
  return usage_error("there is no bundled model '" + name + "'",
                     suggestion.empty() ? "judder gallery lists them" : "did you mean '" + suggestion + "'?");
}

int run_gallery(const Arguments& arguments) {
  const std::filesystem::path folder = gallery_folder();
  if (folder.empty()) return no_gallery();
  io::FileStatus readable;
  const std::vector<io::GalleryModel> models = io::list_gallery(folder, &readable);
  if (!readable.ok()) {
    print_message(readable.text());
    return kInputOutput;
  }
  if (arguments.positionals.empty()) {
    if (arguments.has("--output")) return usage_error("--output says nothing without NAME");
    if (arguments.has("--json")) {
      print(io::gallery_json(models));
      return kDone;
    }
    std::size_t width = 0;
    for (const io::GalleryModel& model : models) width = std::max(width, model.name.size());
    for (const io::GalleryModel& model : models) {
      print_line(model.name + std::string(width - model.name.size() + 2, ' ') + model.title);
    }
    return kDone;
  }
  const std::string& name = arguments.positionals.front();
  std::vector<std::string> names;
  for (const io::GalleryModel& model : models) names.push_back(model.name);
  if (std::find(names.begin(), names.end(), name) == names.end()) return no_such_model(name, names);
  const std::string target = arguments.text("--output", name);
  const io::FileStatus status = io::copy_gallery_model(folder, name, target);
  if (!status.ok()) {
    print_message(status.text());
    return kInputOutput;
  }
  const std::string model = (std::filesystem::path(target) / "model.toml").string();
  if (arguments.has("--json"))
    print(io::gallery_copy_json(name, target, model));
  else
    print_line(model);
  return kDone;
}

}  // namespace judder::app
