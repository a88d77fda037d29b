// Models run by engines with fixed steps: what their tests share.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "run_model.hpp"

namespace judder {

struct StepOption {
  std::string key;
  double number = 0;
  std::string text{};
};

/// Runs from 0 over `steps` steps of length h, with a row at each grid time.
inline simulate::Result step_run(const TestModel& model, const std::string& engine, double h, long steps,
                                 const std::vector<StepOption>& own = {}) {
  engines::EngineOptions options = model.options;
  options.step = h;
  options.until = options.from + h * static_cast<double>(steps);
  options.samples = steps + 1;
  options.event_rows = false;
  for (const StepOption& option : own)
    options.own.push_back({engine, option.key, option.number, option.text});
  return simulate::simulate(model.system, options, engine);
}

/// The same to a time that is a multiple of the step.
inline simulate::Result step_to(const TestModel& model, const std::string& engine, double h, double until,
                                const std::vector<StepOption>& own = {}) {
  return step_run(model, engine, h, std::lround(until / h), own);
}

inline double cell(const simulate::Result& result, long row, const std::string& column) {
  const int c = result.data.column(column);
  if (c < 0) throw std::runtime_error("no column " + column);
  return result.data.cell(static_cast<std::size_t>(row), static_cast<std::size_t>(c));
}

inline const engines::Monitor& monitor(const simulate::Result& result, const std::string& name) {
  for (const engines::Monitor& each : result.end.monitors) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no monitor " + name);
}

inline const std::vector<StepOption> kPrinted{{"form", 0, "printed"}};

}  // namespace judder
