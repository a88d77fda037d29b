#include "judder/tasks/doctor.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "judder/io/ranges.hpp"
#include "judder/report/live_page.hpp"
#include "machines.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Where Debian's python3 looks for packages: PYTHONPATH, then those of the user, of this machine, of Debian.
std::vector<std::filesystem::path> python_folders(const std::string& home) {
  namespace fs = std::filesystem;
  std::vector<fs::path> out;
  for (const std::string& folder : io::split(variable("PYTHONPATH"), ':')) {
    if (!folder.empty()) out.emplace_back(folder);
  }
  // A link to the version: python3.11.
  std::error_code error;
  const std::string version = fs::canonical("/usr/bin/python3", error).filename().string();
  if (error) return out;
  if (!home.empty()) out.push_back(fs::path(home) / ".local/lib" / version / "site-packages");
  out.push_back(fs::path("/usr/local/lib") / version / "dist-packages");
  out.emplace_back("/usr/lib/python3/dist-packages");
  return out;
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  tasks::DoctorRequest request;
  request.gallery = gallery_folder();
  request.search_path = variable("PATH");
  request.home = variable("HOME");
  request.python_folders = python_folders(request.home);
  std::error_code error;
  request.solver =
      report::find_solver(variable("JUDDER_SOLVER"), std::filesystem::read_symlink("/proc/self/exe", error));
  request.with_mpi = has_mpi();
  const std::vector<tasks::Checkup> findings = tasks::examine(request);
  print(arguments.has("--json") ? tasks::doctor_json(findings) : tasks::doctor_text(findings));
  const bool wrong = std::any_of(findings.begin(), findings.end(), [](const tasks::Checkup& finding) {
    return finding.kind == tasks::Checkup::Kind::wrong;
  });
  return wrong ? kCheckFailed : kDone;
}

}  // namespace judder::app
