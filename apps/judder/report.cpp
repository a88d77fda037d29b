#include "verbs.hpp"

namespace judder::app {

int run_report(const Arguments& arguments) {
  report::PageRequest request;
  request.folders.assign(arguments.positionals.begin(), arguments.positionals.end());
  request.output = arguments.text("--output");
  std::error_code ignored;
  for (const std::filesystem::path& folder : request.folders) {
    if (folder.extension() == ".toml" && std::filesystem::is_regular_file(folder, ignored))
      return usage_error("report takes the folder of a run, not the model '" + folder.string() + "'",
                         "judder run " + folder.string() + " -o DIR && judder report DIR");
    if (!std::filesystem::is_directory(folder, ignored)) {
      print_message(folder.string() + ": there is no run folder of that name");
      return kInputOutput;
    }
  }
  return write_report(request);
}

int write_report(report::PageRequest request, bool quiet) {
  request.cancel = &interrupted();
  const report::WrittenPage page = report::write_page(request);
  if (interrupted()) return was_interrupted();
  for (const std::string& problem : page.problems) print_message(problem);
  if (!page.status.ok()) {
    print_message(page.status.text());
    return kInputOutput;
  }
  if (!quiet) print_line(page.file.string());
  return kDone;
}

}  // namespace judder::app
