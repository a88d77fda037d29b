// Pictures of friction laws.
//
// The first panel shows the resistance after long sliding against the slip velocity, with the limit at rest where the law has one. Laws with
// a memory (lugre, elastoplastic, penalty) have a second panel: the resistance over a slow back and forth of the sliding body, once smaller
// and once larger than the deflection at which it slides, from rest. A normal load that is a reaction is taken as 1: coefficients are drawn.
#pragma once

#include <string>

#include "judder/io/load.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

struct LawPlotOptions {
  std::string title{};  ///< the model's
  double to = 0;        ///< largest slip speed; 0: from the law
};

/// The relation must have a friction law.
[[nodiscard]] Figure law_figure(const model::System& system, int relation,
                                const LawPlotOptions& options = {});

struct LawPlotRequest {
  io::ModelRequest model;
  std::string law{};               ///< joint, contact or constraint; empty: the only one
  double to = 0;                   ///< as LawPlotOptions::to
  std::filesystem::path output{};  ///< folder; empty: the present one
};

struct PlottedLaw {
  io::LoadedModel model;
  std::string problem, help;   ///< not empty: there is no such law
  bool no_law = false;         ///< nor any other
  bool cancelled = false;      ///< stopped from outside (ModelRequest::cancel): nothing was written
  std::filesystem::path file;  ///< law-NAME.svg
  io::FileStatus status;
};

[[nodiscard]] PlottedLaw plot_law(const LawPlotRequest& request);

}  // namespace judder::report
