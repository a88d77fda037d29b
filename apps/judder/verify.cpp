#include "judder/io/verify.hpp"

#include <algorithm>

#include "judder/io/gallery.hpp"
#include "verbs.hpp"

namespace judder::app {

int run_verify(const Arguments& arguments) {
  const std::filesystem::path gallery = gallery_folder();
  if (gallery.empty()) return no_gallery();
  std::vector<std::string> known;
  for (const io::GalleryModel& model : io::list_gallery(gallery)) known.push_back(model.name);
  const std::vector<std::string>& names = arguments.positionals.empty() ? known : arguments.positionals;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) return no_such_model(name, known);
  }
  analysis::VerifyOptions options;
  options.engine = arguments.text("--engine");
  const bool json = arguments.has("--json");
  std::vector<io::ModelVerification> models;
  for (const std::string& name : names) {
    models.push_back(io::verify_model(gallery, name, options));
    if (!json) print(io::verification_text(models.back(), arguments.has("--quiet")));
  }
  print(json ? io::verification_json(models) : io::verification_summary(models));
  const bool ok = std::all_of(models.begin(), models.end(),
                              [](const io::ModelVerification& model) { return model.ok(); });
  return ok ? kDone : kCheckFailed;
}

}  // namespace judder::app
