// What is installed, what is missing, and how to get it.
//
// Three kinds of findings. `good`: it is there and works. `missing`: something optional is not there; what it is for and the command that brings it are
// told. `wrong`: runs would not be right or could not be written. Nothing is changed, nothing is started, and nothing is asked of a network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace judder::tasks {

struct DoctorRequest {
  std::filesystem::path gallery{};  ///< folder of the bundled models; empty: not found
  std::string search_path{};        ///< folders of programs, with colons between them
  std::filesystem::path solver{};   ///< folder of the solver of live pages; empty: not found
  /// Folders in which Debian's Python looks for packages, the first first.
  std::vector<std::filesystem::path> python_folders{};
  std::filesystem::path home{};      ///< of the user; empty: not known
  std::filesystem::path here = ".";  ///< where runs would be written
  bool with_mpi = false;             ///< the program was built with MPI
};

struct Checkup {
  enum class Kind { good, missing, wrong };
  Kind kind = Kind::good;
  std::string subject;  ///< "gallery"
  std::string text;     ///< "47 models in /usr/share/judder/gallery"
  std::string help;     ///< what can be done; empty: nothing has to be
};

[[nodiscard]] std::vector<Checkup> examine(const DoctorRequest& request);

/// A line for each, and the count of what is wrong or missing.
[[nodiscard]] std::string doctor_text(const std::vector<Checkup>& findings);
[[nodiscard]] std::string doctor_json(const std::vector<Checkup>& findings);
/// "good", "missing", "wrong"
[[nodiscard]] const char* name(Checkup::Kind kind);

}  // namespace judder::tasks
