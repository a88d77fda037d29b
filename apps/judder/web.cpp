#include <cstdlib>

#include "judder/io/gallery.hpp"
#include "judder/report/live_page.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

int no_solver(const std::string& chosen) {
  print_message(chosen.empty()
                    ? "the solver of live pages has not been built"
                    : "there is no solver in '" + chosen + "', the folder that JUDDER_SOLVER names",
                "scripts/live in the sources builds it once, in two minutes (Debian's package emscripten)");
  return kInputOutput;
}

int failed(const io::FileStatus& status) {
  print_message(status.text());
  return kInputOutput;
}

int write(const report::LivePageRequest& request) {
  if (const io::FileStatus status = report::write_live_page(request); !status.ok()) return failed(status);
  print_line(request.output.string());
  return kDone;
}

/// Every model file of the gallery, and the further writings of a model beside it.
int write_gallery(report::LivePageRequest request) {
  const std::filesystem::path folder = gallery_folder();
  if (folder.empty()) return no_gallery();
  io::FileStatus readable;
  const std::vector<io::GalleryModel> models = io::list_gallery(folder, &readable);
  if (!readable.ok()) return failed(readable);
  request.gallery = true;
  request.title = "Judder: the gallery, live";
  for (const io::GalleryModel& model : models) {
    const std::filesystem::path place = folder / model.name;
    report::LivePageModel one;
    if (const io::FileStatus status =
            report::live_page_model(io::read_model(place / "model.toml"), model.name, place, one);
        !status.ok())
      return failed(status);
    request.models.push_back(std::move(one));
  }
  return write(request);
}

}  // namespace

int run_web(const Arguments& arguments) {
  const bool gallery = arguments.has("--gallery");
  if (gallery && !arguments.positionals.empty())
    return usage_error("--gallery takes no FILE", "judder web --gallery -o DIR");
  if (!gallery && arguments.positionals.empty())
    return usage_error("web needs a model, or --gallery", "judder web FILE -o page.html");
  const char* chosen = std::getenv("JUDDER_SOLVER");
  std::error_code error;
  report::LivePageRequest request;
  request.solver = report::find_solver(chosen == nullptr ? "" : chosen,
                                       std::filesystem::read_symlink("/proc/self/exe", error));
  if (gallery) {
    if (!arguments.has("--output"))
      return usage_error("--gallery needs a folder", "judder web --gallery -o DIR");
    if (request.solver.empty()) return no_solver(chosen == nullptr ? "" : chosen);
    request.output = std::filesystem::path(arguments.text("--output")) / "index.html";
    return write_gallery(std::move(request));
  }
  // What is wrong with a model is said before it is packed; on the page it could be mended, but nothing would be seen.
  const std::filesystem::path file = arguments.positionals.front();
  io::ModelRequest model;
  model.file = file;
  model.cancel = &interrupted();
  const io::LoadedModel loaded = io::load_model(model);
  if (interrupted()) return was_interrupted();
  if (const int code = report(loaded); code != kDone) return code;
  if (request.solver.empty()) return no_solver(chosen == nullptr ? "" : chosen);
  report::LivePageModel one;
  const std::string name = file.stem() == "model" && file.has_parent_path()
                               ? file.parent_path().filename().string()
                               : file.stem().string();
  if (const io::FileStatus status = report::live_page_model(loaded.file, name, file.parent_path(), one);
      !status.ok())
    return failed(status);
  request.title = one.title.empty() ? name : one.title;
  request.models.push_back(std::move(one));
  request.output = arguments.text("--output", name + ".html");
  return write(request);
}

}  // namespace judder::app
