// Collisions of a model file over one or two parameters, from a request to the table.
//
// The table is that of io/impacts.hpp, point by point, so that a sweep may have any length. Nothing of it is handed over before it is known that
// something collides or slides at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "judder/analysis/impacts.hpp"
#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::tasks {

struct ImpactRequest {
  io::ModelRequest model;
  std::vector<analysis::Sweep> parameters{};  ///< one or two that are gone over; none: the start alone
  std::filesystem::path table{};              ///< CSV file; empty: none
  std::function<void(const std::string& text)>
      rows{};                ///< takes the table, in blocks, where there is no file
  bool keep_points = false;  ///< in the report
  std::function<void(double done, double total)> progress{};  ///< from time to time: points
};

/// How far `sweep_model` got.
enum class SweepStage {
  files_failed,      ///< the table could not be written: `files` says why
  interrupted,       ///< ModelRequest::cancel
  point_invalid,     ///< `problem`: why the model has no system at some point
  nothing_collides,  ///< at any point; `problem`: why not at the first
  ended
};

struct SweepReport {
  SweepStage stage = SweepStage::files_failed;
  io::FileStatus files;
  std::string problem;
  analysis::ImpactSweep sweep;
};

/// The model, at the first values of its parameters.
[[nodiscard]] io::LoadedModel load_impact_model(const ImpactRequest& request);
/// `first` is what load_impact_model gave, with a system.
[[nodiscard]] SweepReport sweep_model(const ImpactRequest& request, const io::LoadedModel& first);

/// A collision that a run has met, from its folder: the model as it was run, the state before the collision, what touched and what was closed.
struct MetImpact {
  std::string problem, help;        ///< why there is none, and what can be done; empty: there is one
  bool in_files = false;            ///< the problem is one of the folder and not of what was asked for
  io::LoadedModel model;            ///< as it was run; with errors `problem` is empty
  std::vector<io::Event> recorded;  ///< the rows of events.csv that belong to the collision
  analysis::MetCollision met;
};
/// `number`: of the event, from 1, as the rows of events.csv.
[[nodiscard]] MetImpact read_met_impact(const std::filesystem::path& folder, long number);

}  // namespace judder::tasks
