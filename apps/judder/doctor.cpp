#include "judder/tasks/doctor.hpp"

#include <algorithm>
#include <cstdlib>

#include "machines.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  tasks::DoctorRequest request;
  request.gallery = gallery_folder();
  request.search_path = variable("PATH");
  request.home = variable("HOME");
  request.with_mpi = has_mpi();
  const std::vector<tasks::Checkup> findings = tasks::examine(request);
  print(arguments.has("--json") ? tasks::doctor_json(findings) : tasks::doctor_text(findings));
  const bool wrong = std::any_of(findings.begin(), findings.end(), [](const tasks::Checkup& finding) {
    return finding.kind == tasks::Checkup::Kind::wrong;
  });
  return wrong ? kCheckFailed : kDone;
}

}  // namespace judder::app
