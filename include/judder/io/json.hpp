// Results as JSON text, for `--json` and for the run folder. Numbers that are not finite are null.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/analysis/periodic.hpp"
#include "judder/core/diagnostics.hpp"
#include "judder/core/status.hpp"
#include "judder/core/verdict.hpp"
#include "judder/engines/engine.hpp"
#include "judder/io/gallery.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/curve.hpp"

namespace judder::io {

/// { file, errors, warnings, problems: [ { severity, line, column, end_line, end_column, message, help, where } ] }.
/// Lines and columns count from 1; a problem without a place in the file has none.
[[nodiscard]] std::string diagnostics_json(const Diagnostics& diagnostics, std::string_view file,
                                           std::string_view text);

/// The derived equations as texts in the language of the model file: mass matrix, forces, rates, gaps, rows, laws, switches.
/// Rows of more than 100 coordinates are objects of the entries that are not zero, by coordinate; after 200 000 such entries rows are null, and
/// `rows_left_out` is true. `compiled` must hold a system.
[[nodiscard]] std::string explain_json(const model::Compiled& compiled,
                                       const std::atomic<bool>* cancel = nullptr);

[[nodiscard]] std::string gallery_json(const std::vector<GalleryModel>& models);
/// { name, folder, model }: what was copied where.
[[nodiscard]] std::string gallery_copy_json(const std::string& name, const std::string& folder,
                                            const std::string& model);

/// What run.json says of a run.
struct RunSummary {
  std::string model;  ///< file, as named
  std::string title;
  std::vector<std::string> variants;
  std::vector<std::pair<std::string, std::string>> set;    ///< --set
  std::vector<std::pair<std::string, double>> parameters;  ///< resolved
  std::string model_text;                                  ///< the model file as it was resolved
  model::RunOptions options;                               ///< as used
  std::string engine;                                      ///< as used
  std::vector<std::pair<std::string, std::string>> modes;  ///< element and its mode at the start
  Status status;
  std::vector<std::pair<std::string, double>> counts;  ///< steps, rejected, evaluations, events, impacts, …
  std::vector<std::pair<std::string, double>> residuals;  ///< worst gap, constraint, energy drift, …
  struct Energy {
    double initial = 0, final = 0, supplied = 0, dissipated = 0, balance = 0;
  } energy;
  struct Interval {
    std::string contact;
    double from = 0, to = 0;  ///< while it was closed
    double peak = 0;          ///< largest normal force
    double impulse = 0;       ///< of the normal force, impacts included
  };
  std::vector<Interval> intervals;
  std::optional<analysis::PeriodicMotion> periodic;  ///< of a run that was to end when periodic
  std::vector<std::string> notes;                    ///< what a reader of the numbers must know
  Verdict verdict;                                   ///< of the referee
  std::vector<engines::Monitor> monitors;            ///< of engines with fixed steps
  simulate::CurvePoints curve;                       ///< of pictures, between the rows; in the folder alone
  double wall_seconds = 0;
};
[[nodiscard]] std::string run_json(const RunSummary& summary);
/// The points of a curve in a run.json; none where there are none, or what stands there is no such list.
[[nodiscard]] simulate::CurvePoints read_curve(std::string_view run_json);

/// { which: [ names ] }
[[nodiscard]] std::string names_json(const std::string& which, const std::vector<std::string>& names);

/// For a command that failed: { "error": { "exit_code": 5, "message": "…" } }; of a model that is invalid also the members of diagnostics_json, which
/// `problems` holds.
[[nodiscard]] std::string error_json(int exit_code, std::string_view message, std::string_view problems = {});
/// A document, an object, with the same member `error` in front of its own; one that has it stays as it is.
[[nodiscard]] std::string with_error(const std::string& document, int exit_code, std::string_view message);

/// What the run.json of an earlier part says that a run which goes on in the same folder says again.
struct EarlierPart {
  std::vector<std::pair<std::string, double>> counts;
  std::vector<std::pair<std::string, std::string>> modes;
  std::vector<RunSummary::Interval> intervals;  ///< at most `most_intervals`
  std::vector<std::string> notes;
  Status status{Reason::interrupted, 0, {}, {}};  ///< how it ended; unknown: interrupted
  simulate::CurvePoints curve;
  double wall_seconds = 0;
};
/// What is missing or of another kind is left out.
[[nodiscard]] EarlierPart read_earlier_part(std::string_view run_json, std::size_t most_intervals);

/// The same for standard output, with the events: time, time_bound (of engines that know one), kind, where, detail, impulses, energies, mode.
[[nodiscard]] std::string run_json(const RunSummary& summary, const std::vector<Event>& events);

}  // namespace judder::io
