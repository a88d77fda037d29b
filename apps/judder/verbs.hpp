// All verbs of the program (docs/architecture.md says what a new one needs).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "judder/report/page.hpp"

namespace judder::app {

[[nodiscard]] const std::vector<Verb>& verbs();
[[nodiscard]] const Verb* find_verb(const std::string& name);
/// The usage error for a name that is none.
int no_such_verb(const std::string& name);

int run_basin(const Arguments& arguments);
int run_bifurcation(const Arguments& arguments);
int run_check(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_completion(const Arguments& arguments);
int run_dither(const Arguments& arguments);
int run_doctor(const Arguments& arguments);
int run_equilibria(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_gallery(const Arguments& arguments);
int run_help(const Arguments& arguments);
int run_impact(const Arguments& arguments);
int run_new(const Arguments& arguments);
int run_plot(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_run(const Arguments& arguments);
int run_schema(const Arguments& arguments);
int run_sweep(const Arguments& arguments);
int run_verify(const Arguments& arguments);
int run_version(const Arguments& arguments);
int run_web(const Arguments& arguments);

// --- shared by `report` and `run --report` ---

/// Writes the page and says where it is, unless `quiet`; returns the exit code.
int write_report(report::PageRequest request, bool quiet = false);

// --- shared by the verbs of the gallery ---

/// The folder of the bundled models; empty: not found.
[[nodiscard]] std::filesystem::path gallery_folder();
/// The messages for it; return the exit code.
int no_gallery();
int no_such_model(const std::string& name, const std::vector<std::string>& names);

}  // namespace judder::app
