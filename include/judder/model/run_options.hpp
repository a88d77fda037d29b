// What [run] and [output] of a model file say.
#pragma once

#include <string>
#include <vector>

namespace judder::model {

/// [run] and [output] with their expressions evaluated and their words checked.
struct RunOptions {
  double from = 0;
  double until = 0;  ///< must be given (or by the command line): NaN if absent
  std::string engine = "event";
  double tolerance = 1e-9;
  double step = 0;              ///< 0: not given
  double max_step = 0;          ///< 0: unlimited
  std::string method = "auto";  ///< auto, explicit, stiff
  long max_events = 1000000;
  std::string on_accumulation = "finish";
  std::string on_painleve = "stop";
  std::string on_indeterminate = "stop";
  std::string solver;
  double solver_tolerance = 1e-10;
  struct EngineOption {
    std::string engine, key;
    double number = 0;
    std::string text;
  };
  std::vector<EngineOption> engine_options;

  long samples = 1001;
  double every = 0;  ///< 0: `samples` counts
  bool event_rows = true;
  bool list_switches = true;
  std::vector<std::vector<std::string>> plots;
};

}  // namespace judder::model
