// Friction under fast vibration, from a model file to a survey of it. The dither is what the model file says (analysis/dither.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/dither_survey.hpp"
#include "judder/io/load.hpp"

namespace judder::tasks {

struct DitherRequest {
  io::ModelRequest model;
  std::string law{};  ///< name of the joint or contact; empty: the only one
  std::optional<analysis::DitherAxis>
      speeds{};  ///< of the curve; not given: up to twice the dither, or five times the speed scale of the law
  std::optional<double> speed{};            ///< for eigenvalues and harmonics, and for maps without speed
  std::vector<analysis::DitherAxis> map{};  ///< two axes, or none
  int harmonics = 0;                        ///< H; 0: none
  bool simulate = false;
  analysis::LowPass filter = analysis::LowPass::mean;
  std::optional<double> until{};  ///< of the simulation, instead of that of [run]
};

struct DitherReport {
  io::LoadedModel model;
  analysis::DitherProblem problem;  ///< message not empty: nothing was computed
  bool cancelled = false;           ///< stopped from outside; what follows is a part
  analysis::DitherSurvey survey;

  [[nodiscard]] bool ok() const { return model.ok() && problem.message.empty(); }
};

[[nodiscard]] DitherReport dither_model(const DitherRequest& request);

}  // namespace judder::tasks
