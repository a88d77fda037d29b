#include "judder/tasks/doctor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/gallery.hpp"
#include "judder/io/ranges.hpp"
#include "judder/io/reader.hpp"
#include "judder/io/version.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using Kind = Checkup::Kind;

constexpr const char* kBall = R"toml(format = 1
[coordinates]
h = 1
[energy]
kinetic   = "h'^2/2"
potential = "9.81*h"
[[contact]]
name   = "floor"
gap    = "h"
impact = 0.5
[run]
until = 1
)toml";

/// The time of the first impact of a run of `kBall`; NaN: it did not run.
double first_impact() {
  const io::ModelFile file = io::read_model_text(kBall);
  const model::Compiled compiled = model::compile(file.spec);
  if (!compiled.system) return std::numeric_limits<double>::quiet_NaN();
  simulate::MemorySink memory(*compiled.system);
  const Status status =
      simulate::run(*compiled.system, "event", engines::options_of(compiled.run), memory).status;
  if (!status.ok() || memory.events.empty()) return std::numeric_limits<double>::quiet_NaN();
  return memory.events.front().time;
}

/// Results are promised to the last bit only where numbers are rounded to the nearest and small ones are kept.
Checkup arithmetic() {
  Checkup out{Kind::good,
              "arithmetic",
              "rounds to nearest, keeps small numbers; a falling ball lands when it should",
              {}};
  volatile double least = std::numeric_limits<double>::min();
  if (std::fegetround() != FE_TONEAREST || !(least / 2 > 0)) {
    out.kind = Kind::wrong;
    out.text = "numbers are not rounded to the nearest, or small ones are lost";
    out.help = "something has changed the processor's settings for this process; start it from a fresh shell";
    return out;
  }
  const double expected = std::sqrt(2 / 9.81), found = first_impact();
  if (std::abs(found - expected) <= 1e-14) return out;
  out.kind = Kind::wrong;
  out.text = "a ball that falls 1 m lands at t = " + to_text(found) + ", not at " + to_text(expected);
  out.help = "this build is broken: build it again, and run scripts/test";
  return out;
}

Checkup gallery(const DoctorRequest& request) {
  if (request.gallery.empty())
    return {Kind::missing, "gallery", "the bundled models were not found",
            "set JUDDER_GALLERY to their folder, or install: cmake --install build/release"};
  io::FileStatus status;
  const std::size_t count = io::list_gallery(request.gallery, &status).size();
  if (!status.ok()) return {Kind::wrong, "gallery", status.text(), "make it readable"};
  if (count == 0)
    return {Kind::missing, "gallery", "there is no model in " + request.gallery.string(),
            "set JUDDER_GALLERY to the folder of the bundled models"};
  return {Kind::good, "gallery", std::to_string(count) + " models in " + request.gallery.string(), {}};
}

Checkup here(const DoctorRequest& request) {
  std::error_code error;
  const fs::path folder = fs::absolute(request.here, error).lexically_normal();
  if (::access(request.here.c_str(), W_OK | X_OK) != 0)
    return {Kind::wrong, "this folder", folder.string() + " cannot be written: runs need another place",
            "go to a folder of your own, or name one: judder run FILE -o DIR"};
  const fs::space_info space = fs::space(request.here, error);
  constexpr double kMega = 1 << 20;
  const double free = error ? -1 : std::floor(static_cast<double>(space.available) / kMega);
  constexpr double kLittle = 100;
  if (free >= 0 && free < kLittle)
    return {Kind::wrong, "this folder", "only " + to_text(free) + " MiB are free in " + folder.string(),
            "make room: a run of 100,000 rows with ten columns takes 20 MiB"};
  return {Kind::good,
          "this folder",
          "can be written" + (free >= 0 ? ", " + to_text(free) + " MiB free" : std::string()),
          {}};
}

bool is_on_path(const DoctorRequest& request, const std::string& program) {
  const std::vector<std::string> folders = io::split(request.search_path, ':');
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return !folder.empty() && ::access((fs::path(folder) / program).c_str(), X_OK) == 0;
  });
}

/// A program that is of use beside this one.
Checkup beside(const DoctorRequest& request, const std::string& program, const std::string& purpose,
               const std::string& package) {
  if (is_on_path(request, program)) return {Kind::good, program, "is there: " + purpose, {}};
  return {Kind::missing, program, "is not there: " + purpose, "apt install " + package};
}

/// The first program of several that do the same.
Checkup browser(const DoctorRequest& request) {
  for (const char* program : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    if (is_on_path(request, program))
      return {Kind::good,
              "chromium",
              std::string("is there (") + program + "): figures as PDF and PNG, films",
              {}};
  }
  return beside(request, "chromium", "figures as PDF and PNG, films", "chromium");
}

Checkup solver(const DoctorRequest& request) {
  if (!request.solver.empty())
    return {Kind::good, "live solver", "in " + request.solver.string() + ": pages in which a model runs", {}};
  return {Kind::missing, "live solver", "has not been built: pages in which a model runs (judder web)",
          "scripts/live, in the folder of the sources"};
}

/// A package of Python is a folder with this file in it; nothing is started to find it.
Checkup package(const DoctorRequest& request, const std::string& name, const std::string& purpose,
                const std::string& help) {
  const std::string subject = "python " + name;
  std::error_code error;
  for (const fs::path& folder : request.python_folders) {
    if (!fs::exists(folder / name / "__init__.py", error)) continue;
    return {Kind::good, subject, "is there, in " + folder.string() + ": " + purpose, {}};
  }
  return {Kind::missing, subject, "is not where Debian's python3 looks: " + purpose, help};
}

Checkup machines(const DoctorRequest& request) {
  if (!request.with_mpi)
    return {Kind::missing, "mpirun", "this build has no MPI: ensembles use the threads of one machine",
            "apt install libopenmpi-dev openmpi-bin, then build again; or use --part and --join"};
  return beside(request, "mpirun", "ensembles on several machines", "openmpi-bin");
}

Checkup completion(const DoctorRequest& request) {
  const fs::path script = request.home / ".local/share/bash-completion/completions/judder";
  std::error_code error;
  if (fs::exists(script, error)) return {Kind::good, "completion", "of bash is installed", {}};
  return {Kind::missing, "completion", "of bash is not installed for you: words after Tab",
          "judder completion bash > " + (request.home.empty() ? fs::path("FILE") : script).string()};
}

}  // namespace

std::vector<Checkup> examine(const DoctorRequest& request) {
  std::vector<Checkup> out;
  out.push_back({Kind::good, "judder", "version " + std::string(io::version()), {}});
  out.push_back(arithmetic());
  out.push_back({Kind::good,
                 "threads",
                 std::to_string(std::max(1U, std::thread::hardware_concurrency())) +
                     " for sweep, bifurcation, basin and verify",
                 {}});
  out.push_back(gallery(request));
  out.push_back(here(request));
  out.push_back(machines(request));
  out.push_back(browser(request));
  out.push_back(beside(request, "ffmpeg", "films of motions", "ffmpeg"));
  out.push_back(solver(request));
  out.push_back(beside(request, "python3", "scripts of the gallery, notebooks", "python3"));
  out.push_back(package(request, "judder", "models and runs from Python",
                        "cmake --install build/release, or PYTHONPATH=build/release/python"));
  out.push_back(package(request, "numpy", "the package judder needs it", "apt install python3-numpy"));
  out.push_back(
      package(request, "matplotlib", "plot() of runs and figures", "apt install python3-matplotlib"));
  out.push_back(completion(request));
  return out;
}

const char* name(Checkup::Kind kind) {
  switch (kind) {
    case Kind::good:
      return "good";
    case Kind::missing:
      return "missing";
    case Kind::wrong:
      break;
  }
  return "wrong";
}

std::string doctor_text(const std::vector<Checkup>& findings) {
  std::size_t width = 0, missing = 0, wrong = 0;
  for (const Checkup& finding : findings) width = std::max(width, finding.subject.size());
  std::string out;
  for (const Checkup& finding : findings) {
    const std::string state = name(finding.kind);
    out += state + std::string(9 - state.size(), ' ') + finding.subject +
           std::string(width - finding.subject.size() + 2, ' ') + printable_name(finding.text, 400) + "\n";
    if (!finding.help.empty())
      out += std::string(width + 11, ' ') + "→ " + printable_name(finding.help, 400) + "\n";
    missing += finding.kind == Kind::missing ? 1 : 0;
    wrong += finding.kind == Kind::wrong ? 1 : 0;
  }
  return out + "\n" + std::to_string(wrong) + " wrong, " + std::to_string(missing) +
         " missing (nothing that is missing is needed for a run)\n";
}

std::string doctor_json(const std::vector<Checkup>& findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Checkup& finding : findings)
    out.push_back({{"state", name(finding.kind)},
                   {"subject", finding.subject},
                   {"text", printable_name(finding.text, 400)},
                   {"help", printable_name(finding.help, 400)}});
  return nlohmann::ordered_json{{"findings", out}}.dump(2) + "\n";
}

}  // namespace judder::tasks
