// Models written as text, or taken from the gallery, run by the event engine: what the tests of the engine share.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judder/core/diagnostics.hpp"
#include "judder/io/load.hpp"
#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder {

/// A compiled model and the options of its [run] table.
struct TestModel {
  model::System system;
  engines::EngineOptions options;
};

inline TestModel ready(model::Compiled compiled, const std::string& messages) {
  if (!compiled.system) throw std::runtime_error("the model does not compile:\n" + messages);
  return {std::move(*compiled.system), engines::options_of(compiled.run)};
}

/// From the text of a model file; "format = 1" is put in front.
inline TestModel text_model(const std::string& text, const std::vector<model::Named>& set = {}) {
  io::ModelFile file = io::read_model_text("format = 1\n" + text);
  if (file.diagnostics.has_errors()) throw std::runtime_error(render(file.diagnostics, file.name, file.text));
  model::CompileOptions options;
  options.set = set;
  model::Compiled compiled = model::compile(file.spec, options);
  const std::string messages = render(compiled.diagnostics, file.name, file.text);
  return ready(std::move(compiled), messages);
}

inline TestModel spec_model(const model::Spec& spec) {
  model::Compiled compiled = model::compile(spec);
  const std::string messages = render(compiled.diagnostics, "spec", "");
  return ready(std::move(compiled), messages);
}

/// "press" or "two-feet/model-four.toml".
inline TestModel gallery_model(const std::string& name, const std::vector<std::string>& variants = {},
                               const std::vector<model::Named>& set = {}) {
  const std::string file = name.find('/') == std::string::npos ? name + "/model.toml" : name;
  io::LoadedModel loaded = io::load_model(
      {.file = std::string(JUDDER_SOURCE_DIR) + "/gallery/" + file, .variants = variants, .set = set});
  const std::string messages = render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  return ready(std::move(loaded.compiled), messages);
}

/// A model of tests/trials by its name, which may lead into a folder: "contact-d1".
inline TestModel trial(const std::string& name, const std::vector<model::Named>& set = {}) {
  io::LoadedModel loaded =
      io::load_model({.file = std::string(JUDDER_SOURCE_DIR) + "/tests/trials/" + name + ".toml",
                      .variants = {},
                      .set = set});
  const std::string messages = render(loaded.diagnostics, loaded.file.name, loaded.file.text);
  return ready(std::move(loaded.compiled), messages);
}

/// A mass of 1 on a line, from rest, under a force.
inline TestModel mass_under(const std::string& force, const std::string& more = "") {
  return text_model(more + R"toml(
[coordinates]
x = 0
[energy]
kinetic = "x'^2/2"
[[force]]
along = "x'"
value = ")toml" + force +
                    R"toml("
[run]
until = 10
)toml");
}

inline simulate::Result run(const TestModel& model) {
  return simulate::simulate(model.system, model.options);
}

/// Runs without keeping rows.
inline engines::EngineResult run_to_end(const TestModel& model) {
  simulate::NullSink sink;
  return simulate::run(model.system, "event", model.options, sink);
}

/// The same where the run must end as asked.
inline engines::EngineResult finish(const TestModel& model) {
  engines::EngineResult result = run_to_end(model);
  if (!result.status.ok())
    throw std::runtime_error(result.status.where + ": " + result.status.message +
                             " at t = " + std::to_string(result.status.time));
  return result;
}

/// "impact plane", "slip pad", …: the events in the order they were listed.
inline std::vector<std::string> event_words(const model::System& system,
                                            const std::vector<engines::Event>& events) {
  std::vector<std::string> out;
  for (const engines::Event& event : events) {
    out.push_back(std::string(engines::name(event.kind)) + " " + engines::where(system, event));
  }
  return out;
}

/// What the tests of event lists ask of a run.
struct Outcome {
  std::vector<std::string> words;  ///< of the events
  std::vector<double> times;
  std::vector<double> y;  ///< coordinates, velocities and states at the end
};

/// Runs to the end, which must be reached without a finding.
inline Outcome outcome_of(const TestModel& model, const std::string& engine) {
  simulate::MemorySink sink(model.system);
  const engines::EngineResult result = simulate::run(model.system, engine, model.options, sink);
  if (!result.status.ok())
    throw std::runtime_error(engine + ": " + result.status.where + ": " + result.status.message);
  Outcome out;
  out.words = event_words(model.system, sink.events);
  for (const engines::Event& event : sink.events) out.times.push_back(event.time);
  out.y.assign(result.end.y.begin(), result.end.y.begin() + model.system.layout().integrated());
  return out;
}

/// Times of the events called `words` ("impact plane").
inline std::vector<double> event_times(const model::System& system, const std::vector<engines::Event>& events,
                                       std::string_view words) {
  std::vector<double> out;
  for (const engines::Event& event : events) {
    if (std::string(engines::name(event.kind)) + " " + engines::where(system, event) == words)
      out.push_back(event.time);
  }
  return out;
}

/// The value of a column in the last row.
inline double last(const simulate::Result& result, std::string_view column) {
  const int c = result.data.column(column);
  if (c < 0 || result.data.rows() == 0) throw std::runtime_error("no column " + std::string(column));
  return result.data.cell(result.data.rows() - 1, static_cast<std::size_t>(c));
}

/// One line per event, for failure messages.
inline std::string event_list(const model::System& system, const std::vector<engines::Event>& events) {
  std::string out;
  for (const engines::Event& event : events) {
    char time[40];
    std::snprintf(time, sizeof time, "%.17g ", event.time);
    out += time + std::string(engines::name(event.kind)) + " " + engines::where(system, event) + " " +
           engines::detail(system, event) + "\n";
  }
  return out;
}

}  // namespace judder
